#include "trammel/integrate/registry.h"

#include <algorithm>

#include "trammel/integrate/methods/alpha.h"
#include "trammel/integrate/methods/rosenbrock_nystrom.h"

namespace trammel {
namespace {

std::unique_ptr<Integrator> make_alpha(const Equations& equations, const MethodSettings& settings,
                                       const AlphaParameters& parameters) {
  AlphaOptions options;
  options.parameters = parameters;
  options.tolerance = settings.tolerance;
  options.fixed_step = settings.fixed_step;
  options.misfit = settings.misfit;
  options.predictor_degree = static_cast<int>(settings.options.number("predictor_degree"));
  // At fixed steps no error test catches what accumulates: on the ladder of four-bars through its singular positions
  // c = 0.001 moved the result by a third of the method's error, a tenth of it by one percent.
  const double corrector = settings.options.number("corrector");
  options.newton.c = corrector > 0 ? corrector : settings.fixed_step ? 1e-4 : 1e-3;
  options.newton.most_iterations = static_cast<int>(settings.options.number("most_iterations"));
  options.newton.keep_rate = settings.options.number("keep_rate");
  return std::make_unique<AlphaMethod>(equations, options);
}

std::vector<Field> with_common_options(std::vector<Field> own) {
  own.push_back({"predictor_degree", FieldKind::number, Quantity::none, 3.0,
                 "Highest degree of the start values' extrapolation; 0 starts from the last accelerations. Lower it if "
                 "forces jump often.",
                 0, 3});
  own.push_back({"corrector", FieldKind::number, Quantity::none, 0.0,
                 "Part of the allowed error that Newton may leave, c of (47b); 0 is 1e-3 with step control and 1e-4 at "
                 "fixed steps. Smaller if results change with it.",
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
  return own;
}

std::string nothing(const MethodSettings&) { return ""; }
bool never(const MethodSettings&) { return false; }

MethodInfo hht() {
  MethodInfo m;
  m.key = "hht-i3";
  m.title = "Hilber-Hughes-Taylor, index 3";
  m.formulation = "index 3";
  m.source =
      "Negrut, Rampalli, Ottarsson, Sajdak: On the use of the HHT method in the context of index 3 DAE of multibody "
      "dynamics";
  m.stability = "A-stable; damping at high frequency by alpha";
  m.options = with_common_options({{"alpha", FieldKind::number, Quantity::none, -0.3,
                                    "Damping of high frequencies, -1/3 (most) to 0 (none). With a fixed step, nearer "
                                    "to 0 keeps more energy; under step control the tolerance decides that, and "
                                    "nearer to 0 only makes reactions noisy.",
                                    -1.0 / 3 - 1e-12, 0}});
  m.refuses = [](const MethodSettings& s) -> std::string {
    if (!s.fixed_step && s.options.number("alpha") == 0) {
      return "alpha = 0 leaves the oscillation of multipliers undamped; it enters the error estimate and drives a "
             "controlled step size to zero";
    }
    return "";
  };
  m.caveat = [](const MethodSettings& s) -> std::string {
    return s.options.number("alpha") == 0
               ? "alpha = 0: the multipliers' oscillation is undamped, reactions of the method are not convergent"
               : "";
  };
  m.reactions_doubtful = [](const MethodSettings& s) { return s.options.number("alpha") == 0; };
  m.make = [](const Equations& e, const MethodSettings& s) {
    return make_alpha(e, s, AlphaParameters::hht(s.options.number("alpha")));
  };
  return m;
}

MethodInfo generalized_alpha() {
  MethodInfo m;
  m.key = "generalized-alpha-i3";
  m.title = "Generalized-alpha, index 3";
  m.formulation = "index 3";
  m.source = "Chung, Hulbert 1993; on the rotation group: Bruels, Cardona, Arnold 2012";
  m.stability = "A-stable; spectral radius rho_inf at infinite frequency";
  m.options = with_common_options(
      {{"rho_inf", FieldKind::number, Quantity::none, 0.6,
        "Spectral radius at infinite frequency: 0 kills high frequencies in one step, 1 keeps them.", 0, 1}});
  m.refuses = [](const MethodSettings& s) -> std::string {
    if (!s.fixed_step && s.options.number("rho_inf") == 1) {
      return "rho_inf = 1 leaves the oscillation of multipliers undamped; it enters the error estimate and drives a "
             "controlled step size to zero";
    }
    return "";
  };
  m.caveat = [](const MethodSettings& s) -> std::string {
    return s.options.number("rho_inf") == 1
               ? "rho_inf = 1: the multipliers' oscillation is undamped, reactions of the method are not convergent"
               : "";
  };
  m.reactions_doubtful = [](const MethodSettings& s) { return s.options.number("rho_inf") == 1; };
  m.make = [](const Equations& e, const MethodSettings& s) {
    return make_alpha(e, s, AlphaParameters::generalized(s.options.number("rho_inf")));
  };
  return m;
}

MethodInfo newmark() {
  MethodInfo m;
  m.key = "newmark-i3";
  m.order = 1;  // 2 for gamma = 1/2 only
  m.title = "Newmark, index 3";
  m.formulation = "index 3";
  m.source = "Newmark 1959; Negrut et al., equations (2a)-(2c)";
  m.stability = "A-stable for 2 beta >= gamma >= 1/2";
  m.options = with_common_options({{"gamma", FieldKind::number, Quantity::none, 0.6,
                                    "1/2 is of order 2, fixed step only; above, order 1 with damping.", 0.5, 1.5},
                                   {"beta", FieldKind::number, Quantity::none, 0.0,
                                    "0 takes (gamma + 1/2)^2 / 4, the most damping for this gamma.", 0, 2}});
  const auto beta = [](const MethodSettings& s) {
    const double gamma = s.options.number("gamma"), b = s.options.number("beta");
    return b == 0 ? (gamma + 0.5) * (gamma + 0.5) / 4 : b;
  };
  m.refuses = [beta](const MethodSettings& s) -> std::string {
    const double gamma = s.options.number("gamma");
    if (2 * beta(s) < gamma)
      return "2 beta < gamma is not A-stable, and constraints at index 3 act like infinite stiffness";
    if (!s.fixed_step && gamma == 0.5) {
      return "gamma = 1/2 leaves the oscillation of multipliers undamped; it enters the error estimate and drives a "
             "controlled step size to zero";
    }
    return "";
  };
  m.caveat = [](const MethodSettings& s) -> std::string {
    return s.options.number("gamma") > 0.5
               ? "gamma > 1/2: the method is of first order only"
               : "gamma = 1/2: the multipliers' oscillation is undamped, reactions of the method are not convergent";
  };
  m.reactions_doubtful = [](const MethodSettings& s) { return s.options.number("gamma") == 0.5; };
  m.make = [beta](const Equations& e, const MethodSettings& s) {
    return make_alpha(e, s, AlphaParameters::newmark(s.options.number("gamma"), beta(s)));
  };
  return m;
}

std::unique_ptr<Integrator> make_rosenbrock(const Equations& equations, const MethodSettings& settings,
                                            RosenbrockNystromOptions options) {
  options.tolerance = settings.tolerance;
  options.fixed_step = settings.fixed_step;
  options.misfit = settings.misfit;
  options.scaled_estimate = settings.options.get<bool>("scaled_estimate");
  return std::make_unique<RosenbrockNystrom>(equations, options);
}

const Field scaled_estimate{"scaled_estimate", FieldKind::boolean, Quantity::none, false,
                            "Damp stiff parts in the error estimate; saves steps, but velocities of stiff parts may "
                            "then exceed the tolerance."};

MethodInfo rosenbrock_nystrom() {
  MethodInfo m;
  m.key = "rosenbrock-nystrom-4";
  m.title = "Rosenbrock-Nystrom 4(3), all coordinates at index 1";
  m.formulation = "index 1, returned to the constraints";
  m.source =
      "Sandu, Negrut, Haug, Potra, Sandu: A Rosenbrock-Nystrom state space implicit approach for the dynamic analysis "
      "of mechanical systems";
  m.order = 4;
  m.error_order = 4;
  m.stability = "L-stable; no Newton iterations, exact derivatives in every step";
  m.options = {
      scaled_estimate,
      {"printed_gamma", FieldKind::boolean, Quantity::none, false,
       "The coefficients of the paper, whose gamma is rounded to 8 digits, instead of those of the exact root."}};
  m.make = [](const Equations& e, const MethodSettings& s) {
    RosenbrockNystromOptions options;
    if (s.options.get<bool>("printed_gamma")) options.tableau = &RosenbrockTableau::rn43_print();
    return make_rosenbrock(e, s, options);
  };
  return m;
}

MethodInfo w_method() {
  MethodInfo m;
  m.key = "w-method-2";
  m.title = "W-method of order 2, all coordinates at index 1";
  m.formulation = "index 1, returned to the constraints";
  m.source = "as rosenbrock-nystrom-4, Table 3";
  m.order = 2;
  m.error_order = 2;
  m.stability = "L-stable with exact derivatives; order 2 with any";
  m.options = {scaled_estimate,
               {"keep_derivatives", FieldKind::number, Quantity::none, 1.0,
                "Steps that share their derivatives. More is cheaper, and less stable for stiff models.", 1, 1000},
               {"no_derivatives", FieldKind::boolean, Quantity::none, false,
                "Take all derivatives of forces and constraints as zero: explicit, for models that are not stiff."}};
  m.make = [](const Equations& e, const MethodSettings& s) {
    RosenbrockNystromOptions options;
    options.tableau = &RosenbrockTableau::w2();
    options.keep_derivatives = static_cast<int>(s.options.number("keep_derivatives"));
    options.no_derivatives = s.options.get<bool>("no_derivatives");
    return make_rosenbrock(e, s, options);
  };
  return m;
}

}  // namespace

const std::vector<MethodInfo>& method_registry() {
  static const std::vector<MethodInfo> table = [] {
    std::vector<MethodInfo> methods{hht(), generalized_alpha(), newmark(), rosenbrock_nystrom(), w_method()};
    for (MethodInfo& m : methods) {
      if (!m.refuses) m.refuses = nothing;
      if (!m.caveat) m.caveat = nothing;
      if (!m.reactions_doubtful) m.reactions_doubtful = never;
    }
    return methods;
  }();
  return table;
}

const MethodInfo& find_method(std::string_view key, const Location& where) {
  std::vector<std::string> keys;
  std::string list;
  for (const MethodInfo& m : method_registry()) {
    if (m.key == key) return m;
    keys.push_back(m.key);
    list += (list.empty() ? "" : ", ") + m.key;
  }
  const std::string near = nearest_name(key, keys);
  throw Failure({Severity::error, "unknown-method", "there is no method '" + std::string(key) + "'",
                 (near.empty() ? "" : "did you mean '" + near + "'? ") + "methods: " + list, where});
}

MethodSettings resolve_settings(const MethodInfo& method, MethodSettings settings, const Location& where) {
  std::vector<std::string> names;
  for (const Field& field : method.options) names.push_back(field.name);
  for (const auto& entry : settings.options.all()) {
    const auto known = std::find(names.begin(), names.end(), entry.first);
    if (known == names.end()) {
      const std::string near = nearest_name(entry.first, names);
      throw Failure(
          {Severity::error, "unknown-option", "method '" + method.key + "' has no option '" + entry.first + "'",
           near.empty() ? "see `trammel methods " + method.key + "`" : "did you mean '" + near + "'?", where});
    }
    const Field& field = method.options[static_cast<std::size_t>(known - names.begin())];
    const double* value = std::get_if<double>(&entry.second);
    const bool right_kind =
        field.kind == FieldKind::number ? value != nullptr : std::holds_alternative<bool>(entry.second);
    if (!right_kind) {
      throw Failure({Severity::error, "wrong-type",
                     "option '" + field.name + "' of method '" + method.key + "' must be " +
                         (field.kind == FieldKind::number ? "a number" : "true or false"),
                     field.text, where});
    }
    if (value != nullptr && !(*value >= field.least && *value <= field.most)) {
      throw Failure({Severity::error, "out-of-range",
                     "option '" + field.name + "' of method '" + method.key + "' is " + std::to_string(*value) +
                         ", valid are " + std::to_string(field.least) + " to " + std::to_string(field.most),
                     field.text, where});
    }
  }
  for (const Field& field : method.options) {
    if (!settings.options.has(field.name)) settings.options.set(field.name, *field.fallback);
  }
  const std::string reason = method.refuses(settings);
  if (!reason.empty()) {
    throw Failure({Severity::error, "method-refuses", "method '" + method.key + "' refuses these settings: " + reason,
                   "give a fixed step (`--step`), or choose another value", where});
  }
  return settings;
}

}  // namespace trammel
