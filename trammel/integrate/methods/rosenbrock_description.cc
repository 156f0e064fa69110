#include "trammel/integrate/methods/rosenbrock_description.h"

#include "trammel/integrate/control/step_controller.h"

#include <algorithm>

namespace trammel::methods {
namespace {

// Does the text fit a pattern in which * stands for any characters?
bool fits(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] != '*') return !text.empty() && text[0] == pattern[0] && fits(pattern.substr(1), text.substr(1));
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (fits(pattern.substr(1), text.substr(i))) return true;
  }
  return false;
}

}  // namespace

std::vector<bool> forces_named(const Equations& equations, const std::string& names) {
  const std::vector<Item>& forces = equations.model().forces;
  std::vector<bool> chosen(forces.size(), false);
  for (std::size_t at = 0; at < names.size();) {
    const std::size_t comma = std::min(names.find(',', at), names.size());
    std::string name = names.substr(at, comma - at);
    name.erase(std::remove(name.begin(), name.end(), ' '), name.end());
    at = comma + 1;
    if (name.empty()) continue;
    bool any = false;
    for (std::size_t i = 0; i < forces.size(); ++i) {
      if (!fits(name, forces[i].name)) continue;
      chosen[i] = any = true;
    }
    if (any) continue;
    std::vector<std::string> known;
    for (const Item& force : forces) known.push_back(force.name);
    const std::string near = nearest_name(name, known);
    throw Failure(
        {Severity::error, "unknown-name", "option 'forces_without_derivatives': no force is called '" + name + "'",
         near.empty() ? "name forces of the model, or patterns such as *.spring" : "did you mean '" + near + "'?",
         equations.model().simulation.where});
  }
  return chosen;
}

std::vector<Field> with_control_options(std::vector<Field> own) {
  const StepController::Options defaults;
  own.push_back({"safety", FieldKind::number, Quantity::none, defaults.safety,
                 "Part of the step that the error estimate would allow: smaller rejects fewer steps, and takes more.",
                 0.1, 1});
  own.push_back({"least_factor", FieldKind::number, Quantity::none, defaults.least_shrink,
                 "Least ratio of a step to the one before.", 0.01, 0.9});
  own.push_back({"greatest_factor", FieldKind::number, Quantity::none, defaults.greatest_growth,
                 "Greatest ratio of a step to the one before.", 1.1, 100});
  return own;
}

std::unique_ptr<Integrator> make_rosenbrock(const Equations& equations, const MethodSettings& settings,
                                            RosenbrockNystromOptions options) {
  options.tolerance = settings.tolerance;
  options.fixed_step = settings.fixed_step;
  options.misfit = settings.misfit;
  options.scaled_estimate = settings.options.get<bool>("scaled_estimate");
  if (settings.options.has("forces_without_derivatives"))
    options.forces_without_derivatives =
        forces_named(equations, settings.options.get<std::string>("forces_without_derivatives"));
  return std::make_unique<RosenbrockNystrom>(equations, options);
}

std::unique_ptr<OdeMethod> make_rosenbrock(SecondOrderProblem& problem, const MethodSettings& settings,
                                           RosenbrockNystromDenseOptions options) {
  options.tolerance = settings.tolerance;
  options.fixed_step = settings.fixed_step;
  options.scaled_estimate = settings.options.get<bool>("scaled_estimate");
  return std::make_unique<RosenbrockNystromDense>(problem, options);
}

std::unique_ptr<OdeMethod> make_rosenbrock(FirstOrderProblem& problem, const MethodSettings& settings,
                                           RosenbrockOptions options) {
  options.common.tolerance = settings.tolerance;
  options.common.fixed_step = settings.fixed_step;
  options.scaled_estimate = settings.options.get<bool>("scaled_estimate");
  return std::make_unique<RosenbrockMethod>(problem, options);
}

const Field& scaled_estimate_option() {
  static const Field field{"scaled_estimate", FieldKind::boolean, Quantity::none, false,
                           "Damp stiff parts in the error estimate; saves steps, but velocities of stiff parts may "
                           "then exceed the tolerance."};
  return field;
}

std::vector<std::string> rosenbrock_formulations() {
  return {"state-space", "all-coordinates",     "index-1", "index-1-projected", "index-1-baumgarte",
          "penalty",     "augmented-lagrangian"};
}

std::string choose_rosenbrock_formulation(const Equations& equations, const MethodSettings& settings) {
  const bool few = settings.freedoms >= 0 && settings.freedoms <= 10 && equations.sizes().nv <= 100;
  return few && equations.velocity_rows().empty() && equations.sizes().nx == 0 ? "state-space" : "all-coordinates";
}

}  // namespace trammel::methods
