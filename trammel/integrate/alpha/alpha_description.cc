#include "trammel/integrate/alpha/alpha_description.h"
#include "trammel/formulate/formulation_keys.h"

namespace trammel::methods {

std::unique_ptr<Integrator> make_alpha(const Equations& equations, const MethodSettings& settings,
                                       const AlphaParameters& parameters) {
  AlphaOptions options;
  options.parameters = parameters;
  options.tolerance = settings.tolerance;
  options.fixed_step = settings.fixed_step;
  options.misfit = settings.misfit;
  options.stabilised = settings.formulation == formulation::stabilised_index_2;
  if (!options.stabilised) {
    const auto& projection = settings.options.get<std::string>("projection");
    options.projection = projection == "exact"      ? AlphaOptions::Projection::exact
                         : projection == "iterated" ? AlphaOptions::Projection::iterated
                                                    : AlphaOptions::Projection::none;
    options.penalty = settings.options.number("projection_penalty");
    options.sweeps = static_cast<int>(settings.options.number("projection_iterations"));
    options.energy = settings.options.get<bool>("energy");
  }
  const auto& states = settings.options.get<std::string>("states");
  options.states = states == "published"  ? AlphaOptions::States::published
                   : states == "integral" ? AlphaOptions::States::integral
                                          : AlphaOptions::States::recursion;
  options.rho = states == "integral" ? parameters.gamma : settings.options.number("rho");
  options.predictor_degree = static_cast<int>(settings.options.number("predictor_degree"));
  // At fixed steps no error test catches what accumulates: on the ladder of four-bars through its singular positions
  // c = 0.001 moved the result by a third of the method's error, a tenth of it by one percent.
  const double corrector = settings.options.number("corrector");
  // The two systems of index 2 contract more slowly: the four-bar of the conformance suite showed 3e-6 with 1e-4.
  const double at_fixed_steps = options.stabilised ? 1e-6 : 1e-4;
  options.newton.c = corrector > 0 ? corrector : settings.fixed_step ? at_fixed_steps : 1e-3;
  options.newton.most_iterations = static_cast<int>(settings.options.number("most_iterations"));
  options.newton.keep_rate = settings.options.number("keep_rate");
  options.newton.exactly = static_cast<int>(settings.options.number("iterations"));
  return std::make_unique<AlphaMethod>(equations, options);
}

MethodInfo stabilised(MethodInfo m, std::string key, std::string title, std::string source) {
  m.key = std::move(key);
  m.title = std::move(title);
  m.source = std::move(source);
  m.formulations = {formulation::stabilised_index_2};
  std::erase_if(m.options,
                [](const Field& option) { return option.name.starts_with("projection") || option.name == "energy"; });
  m.make = [make = m.make](const Equations& e, const MethodSettings& s) {
    MethodSettings settings = s;
    settings.formulation = formulation::stabilised_index_2;
    return make(e, settings);
  };
  return m;
}

std::string wrong_option(const OdeSettings& settings) {
  const std::string states = settings.options.has("states") ? settings.options.get<std::string>("states") : "recursion";
  if (states != "recursion" && states != "published" && states != "integral")
    return "states is '" + states + "', not recursion, published or integral";
  if (states == "published" && settings.options.number("rho") == 0.5 && !settings.fixed_step)
    return "with rho = 1/2 the estimate of the error of states, (rho - 1/2) h (x'_{n+1} - x'_n), vanishes, and the "
           "step "
           "size would not see them; take a rho above 1/2, or a fixed step";
  if (!settings.options.has("projection")) return "";
  const auto& projection = settings.options.get<std::string>("projection");
  if (projection == "none" || projection == "exact" || projection == "iterated") return "";
  return "projection is '" + projection + "', not none, exact or iterated";
}

bool has_projection(const OdeSettings& settings) {
  const Fields& options = settings.options;
  return options.has("projection") && (options.get<std::string>("projection") != "none" || options.get<bool>("energy"));
}

std::vector<Field> with_alpha_options(std::vector<Field> own) {
  own.push_back({"predictor_degree", FieldKind::number, Quantity::none, 3.0,
                 "Highest degree of the start values' extrapolation; 0 starts from the last accelerations. Lower it if "
                 "forces jump often.",
                 0, 3});
  own.push_back(
      {"corrector", FieldKind::number, Quantity::none, 0.0,
       "Part of the allowed error that Newton may leave, c of (47b); 0 is 1e-3 with step control, and at fixed "
       "steps 1e-4, or 1e-6 at stabilised index 2. Smaller if results change with it.",
       0, 0.1});
  own.push_back({"most_iterations", FieldKind::number, Quantity::none, 10.0,
                 "Newton corrections before a step is given up.", 2, 100});
  own.push_back({"keep_rate", FieldKind::number, Quantity::none, 0.3,
                 "Derivatives are kept from step to step while corrections contract by this factor or better; 0 "
                 "evaluates them every step.",
                 0, 0.9});
  own.push_back({"step_gain", FieldKind::number, Quantity::none, 0.4,
                 "How much of the step size change that the error asks for is made at once; 1 is (47d) as published. "
                 "Smaller if many steps are rejected.",
                 0.1, 1});
  own.push_back(
      {"states", FieldKind::text, Quantity::none, std::string("recursion"),
       "How states of first order are integrated. recursion: as v' is, of second order; published: x + h x' + "
       "rho h (x'_{n+1} - x'_n), formula (9), of first order; integral: as rates of Z by Newmark's formulas."});
  own.push_back(
      {"rho", FieldKind::number, Quantity::none, 0.6,
       "Of `states: published`: nearer to 1/2 is more accurate, nearer to 1 damps fast states more. 1/2 needs a "
       "fixed step.",
       0.5, 1});
  own.push_back({"projection", FieldKind::text, Quantity::none, std::string("none"),
                 "Velocities and accelerations are brought onto the derivatives of the constraints after each step: no "
                 "spikes of reactions when the step size changes. none; exact, for three factorisations a step; "
                 "iterated, by penalty and augmented Lagrangian, for one."});
  own.push_back({"projection_penalty", FieldKind::number, Quantity::none, 1e7,
                 "Of the iterated projection: stiffness against violations of velocities and accelerations, relative "
                 "to the largest mass. Smaller if masses differ by more than 1e6 and round-off shows.",
                 1, 1e12});
  own.push_back({"projection_iterations", FieldKind::number, Quantity::none, 4.0,
                 "Of the iterated projection: each shrinks what is left by about the penalty. 1 is a projection by "
                 "penalty alone.",
                 1, 100});
  own.push_back({"energy", FieldKind::boolean, Quantity::none, false,
                 "Velocities, projected as `projection` says or exactly, are also scaled so that the balance of energy "
                 "holds: long "
                 "runs of models that lose little energy."});
  own.push_back(iterations_option());
  return own;
}

}  // namespace trammel::methods
