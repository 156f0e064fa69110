#include "trammel/integrate/registry.h"
#include "trammel/formulate/formulation_keys.h"

#include <algorithm>

#include "trammel/base/printable.h"
#include "trammel/formulate/formulations.h"
#include "trammel/integrate/forces_named.h"
#include "trammel/integrate/joint_integrator.h"
#include "trammel/integrate/methods.h"
#include "trammel/integrate/ode_integrator.h"

namespace trammel {
namespace {

// A method for ordinary differential equations on the mechanism's own.
std::unique_ptr<Integrator> make_on_mechanism(const OdeMethodInfo& m, const Equations& equations,
                                              const MethodSettings& settings) {
  OdeIntegrator::Options options;
  options.fixed_step = settings.fixed_step;
  // With fixed steps nothing else limits what the recovery of dependent coordinates may leave.
  options.form.tolerance = settings.fixed_step ? std::min(1e-10, settings.tolerance) : settings.tolerance;
  options.form.misfit = settings.misfit;
  options.form.named = settings.independent;
  options.form.greater_counts = settings.options.has("ode45") && settings.options.get<bool>("ode45");
  if (settings.options.has("forces_without_derivatives"))
    options.form.forces_without_derivatives =
        forces_named(equations.model(), settings.options.get<std::string>("forces_without_derivatives"));
  find_formulation(settings.formulation)->configure(settings.options, options.form);
  const auto first = m.make_first_order;
  const auto second = m.make_second_order;
  return std::make_unique<OdeIntegrator>(
      equations, options, [first, second, settings](StateSpace& space) -> std::unique_ptr<OdeMethod> {
        SecondOrderProblem* as_second = space.second_order();
        if (second && as_second != nullptr) return second(*as_second, settings);
        if (first) return first(space, settings);
        throw Failure({Severity::error,
                       "method-refuses",
                       "the method needs y'' = f(t, y, y'): states are of first order, and with nonholonomic "
                       "constraints there are fewer velocities than positions",
                       "choose another method or formulation",
                       {}});
      });
}

std::unique_ptr<OdeMethod> make_on_joints(const OdeMethodInfo& m, const MethodSettings& settings, JointSpace& space,
                                          const Location& where) {
  if (!m.make_second_order) return m.make_first_order(space, settings);
  if (SecondOrderProblem* second = space.second_order()) return m.make_second_order(*second, settings);
  throw Failure({Severity::error, "method-refuses",
                 "method '" + m.key + "' takes y'' = f, with coordinates whose rates are the speeds, and " +
                     space.why_not_second_order(),
                 "choose formulation 'state-space', or a method for y' = f, such as 'radau-iia-3'", where});
}

// In joint coordinates: y' = f or y'' = f, whose derivatives implicit methods difference.
std::unique_ptr<Integrator> make_in_joint_coordinates(const OdeMethodInfo& m, const Equations& equations,
                                                      const MethodSettings& settings) {
  if (!settings.independent.empty()) {
    throw Failure({Severity::error, "method-refuses",
                   "formulation 'joint-coordinates' refuses named independent coordinates: its own are those of the "
                   "joints that hold its tree together",
                   "leave `independent` out, or choose formulation 'state-space'", equations.model().simulation.where});
  }
  JointSpaceOptions options;
  options.tolerance = settings.fixed_step ? std::min(1e-10, settings.tolerance) : settings.tolerance;
  options.misfit = settings.misfit;
  options.depth = settings.options.has("depth") ? static_cast<int>(settings.options.number("depth")) : 0;
  options.greater_counts = settings.options.has("ode45") && settings.options.get<bool>("ode45");
  return std::make_unique<JointIntegrator>(equations, options, settings.fixed_step, [&](JointSpace& space) {
    return make_on_joints(m, settings, space, equations.model().simulation.where);
  });
}

// Rosenbrock methods, which take both y' = f and y'' = f, need exact derivatives. One that evaluates f at the end of a
// step where it has not moved yet would take angles that elements remember for a turn less: no chart turns with the
// bodies here.
bool runs_in_joint_coordinates(const OdeMethodInfo& m) {
  return (m.make_first_order != nullptr) != (m.make_second_order != nullptr) && !m.starts_ahead;
}

// A method for differential equations, with what it can do with constraints as well.
MethodInfo for_mechanisms(const OdeMethodInfo& ode) {
  MethodInfo m{ode, {}, {}, {}, {}};
  m.formulations = {formulation::state_space,       formulation::index_1, formulation::index_1_projected,
                    formulation::index_1_baumgarte, formulation::penalty, formulation::augmented_lagrangian};
  if (runs_in_joint_coordinates(ode)) m.formulations.insert(m.formulations.begin() + 1, formulation::joint_coordinates);
  if (m.key == "cvode-bdf") m.formulations.emplace_back(formulation::penalty_joints);
  if (m.key == "radau-iia-1") methods::add_constrained_runge_kutta(m, ImplicitTableau::radau_iia(1));
  if (m.key == "radau-iia-2") methods::add_constrained_runge_kutta(m, ImplicitTableau::radau_iia(2));
  if (m.key == "radau-iia-3") methods::add_constrained_runge_kutta(m, ImplicitTableau::radau_iia(3));
  if (m.key == "rosenbrock-nystrom-4") methods::add_all_coordinates(m, methods::rosenbrock_nystrom_4_options);
  if (m.key == "w-method-2") methods::add_all_coordinates(m, methods::w_method_2_options);
  m.make = [ode, with_constraints = m](const Equations& e, const MethodSettings& s) {
    MethodSettings settings = s;
    settings.formulation = chosen_formulation(with_constraints, e, s);
    const FormulationInfo& form = *find_formulation(settings.formulation);
    if (form.in_joint_coordinates) return make_in_joint_coordinates(ode, e, settings);
    return form.configure ? make_on_mechanism(ode, e, settings) : with_constraints.make(e, settings);
  };
  return m;
}

void refuse_fixed_iterations_with_control(MethodInfo& m) {
  const bool has_option =
      std::any_of(m.options.begin(), m.options.end(), [](const Field& option) { return option.name == "iterations"; });
  if (!has_option) return;
  m.refuses = [own = m.refuses](const OdeSettings& s) -> std::string {
    if (!s.fixed_step && s.options.number("iterations") > 0)
      return "with a fixed number of corrections what they leave is not bounded, and the error test would take it for "
             "the method's error; `iterations` needs a fixed step";
    return own ? own(s) : "";
  };
}

// Forces and states that see accelerations and reactions are solved for by methods that iterate on both.
std::string why_no_seen_rates(const std::string& formulation, const Fields& options) {
  if (formulation == "index-3" || formulation == "stabilised-index-2") {
    const bool iterated = options.has("projection") && options.get<std::string>("projection") == "iterated";
    return iterated ? "the iterated projection has no multipliers that they could see" : "";
  }
  if (formulation == "joint-coordinates")
    return "its recursion solves for accelerations one after the other, with forces that are known before";
  if (formulation.starts_with("penalty") || formulation == "augmented-lagrangian")
    return "constraints that hold nearly have reactions that vibrate with their penalty";
  return "it solves for accelerations and reactions by one linear system, with forces that are known before";
}

void refuse_seen_rates(MethodInfo& m) {
  if (!m.make) return;
  m.make = [own = m.make, key = m.key, formulations = m.formulations, choose = m.choose_formulation](
               const Equations& e, const MethodSettings& s) {
    if (!e.sees_rates()) return own(e, s);
    const std::string form = !s.formulation.empty() ? s.formulation
                             : choose               ? choose(e, s)
                             : formulations.empty() ? ""
                                                    : formulations.front();
    const std::string reason = why_no_seen_rates(form, s.options);
    if (reason.empty()) return own(e, s);
    throw Failure({Severity::error, "method-refuses",
                   "method '" + key + "' with formulation '" + form +
                       "' refuses forces and states that see "
                       "accelerations or reactions, " +
                       e.seers().front() + ": " + reason,
                   "choose a method at index 3 or stabilised index 2: hht-i3, bdf-i3, bdf-si2, or radau-iia-3 with "
                   "`formulation: stabilised-index-2`",
                   e.model().simulation.where});
  };
}

}  // namespace

const std::vector<MethodInfo>& method_registry() {
  static const std::vector<MethodInfo> table = [] {
    std::vector<MethodInfo> all{
        methods::hht_i3(),
        methods::generalized_alpha_i3(),
        methods::newmark_i3(),
        methods::hht_si2(),
        methods::generalized_alpha_si2(),
        methods::newmark_si2(),
        methods::bdf_i3(),
        methods::bdf_si2(),
        methods::split(),
        methods::theta(),
    };
    for (MethodInfo& m : all) refuse_fixed_iterations_with_control(m);
    for (const OdeMethodInfo& ode : ode_method_registry()) all.push_back(for_mechanisms(ode));
    for (MethodInfo& m : all) refuse_seen_rates(m);
    return all;
  }();
  return table;
}

std::string methods_as_markdown() {
  std::string text = "| key | method | formulations, the default first | order | stability |\n|---|---|---|---|---|\n";
  for (const MethodInfo& m : method_registry()) {
    std::string formulations;
    for (const std::string& each : m.formulations) formulations += (formulations.empty() ? "" : ", ") + each;
    text += "| [`" + m.key + "`](" + m.key + ".md) | " + table_cell(m.title) + " | " +
            (formulations.empty() ? "own equations only" : formulations) + " | " + (m.variable_order ? "1 to " : "") +
            std::to_string(m.order) + " | " + table_cell(m.stability) + " |\n";
  }
  return text;
}

const MethodInfo& find_method(std::string_view key, const Location& where) {
  std::vector<std::string> keys;
  for (const MethodInfo& m : method_registry()) {
    if (m.key == key) return m;
    keys.push_back(m.key);
  }
  refuse_unknown_method(key, "", keys, where);
}

std::string chosen_formulation(const MethodInfo& method, const Equations& equations, const MethodSettings& settings) {
  if (!settings.formulation.empty()) return settings.formulation;
  if (method.choose_formulation) return method.choose_formulation(equations, settings);
  return method.formulations.empty() ? "" : method.formulations.front();
}

namespace {

// Why a method for differential equations cannot have constraints at position or velocity level beside them.
std::string why_no_constraints(const OdeMethodInfo& m) {
  if (m.is_explicit)
    return "it is explicit: it evaluates derivatives only, and at index 2 or 3 no derivative gives the multipliers";
  if (m.key == "adams-moulton")
    return "constraints are infinitely stiff, and there its formula is a recursion in the multipliers with roots on or "
           "outside the unit circle";
  if (m.key == "gauss" || m.key == "implicit-midpoint" || m.key == "norsett-sdirk" || m.key == "trapezoidal")
    return "it is not stiffly accurate: the constraints hold at its stages and not at the end of its steps, and "
           "|R(inf)| does not damp what is left; 'index-1-projected' returns to them";
  if (m.make_second_order)
    return "it takes y'' = f; with constraints beside it the same recursion is '" +
           std::string(m.key == "hht"                 ? "hht"
                       : m.key == "generalized-alpha" ? "generalized-alpha"
                                                      : "newmark") +
           "-i3' and '-si2'";
  if (m.key == "rosenbrock-nystrom-4" || m.key == "w-method-2")
    return "its stages solve linear systems: constraints at position level would hold only as far as they are linear; "
           "'all-coordinates' returns to them";
  return "it is written for y' = f; stiffly accurate methods that take constraints are 'bdf-i3', 'bdf-si2' and "
         "'radau-iia-3'";
}

}  // namespace

std::string why_not(const MethodInfo& method, std::string_view formulation) {
  if (std::find(method.formulations.begin(), method.formulations.end(), formulation) != method.formulations.end())
    return "";
  const bool takes_constraints = !method.for_differential_equations();
  if (formulation == formulation::joint_coordinates && method.starts_ahead)
    return "the first steps evaluate f at their end with the coordinates of their start, where angles that elements "
           "remember would be miscounted by a turn; bdf takes it";
  if (formulation == formulation::joint_coordinates && !takes_constraints)
    return "its order rests on exact derivatives of f in its stage matrix, and the recursion offers none";
  if (formulation == formulation::all_coordinates)
    return "returning to the constraints through the stage matrix needs a method with one";
  if (formulation == formulation::index_3 || formulation == formulation::stabilised_index_2) {
    if (!takes_constraints) return why_no_constraints(method);
    return formulation == formulation::index_3
               ? "its corrector solves for constraints at velocity level and a second set of "
                 "multipliers; the form with positions only has a method of its own, '-i3'"
               : "its corrector solves for constraints at position level; the stabilised form has "
                 "a method of its own, '-si2'";
  }
  return "its corrector solves for accelerations and multipliers of constraints; this form leaves it none, the method "
         "for y'' = f or y' = f of the same name takes it";
}

namespace {

void check_formulation(const MethodInfo& method, const std::string& key, const Location& where) {
  std::string list;
  for (const std::string& taken : method.formulations) list += (list.empty() ? "" : ", ") + taken;
  if (find_formulation(key) == nullptr) {
    std::vector<std::string> keys;
    for (const FormulationInfo& f : formulation_registry()) keys.push_back(f.key);
    const std::string near = nearest_name(key, keys);
    throw Failure({Severity::error, "unknown-formulation", "there is no formulation '" + key + "'",
                   (near.empty() ? "" : "did you mean '" + near + "'? ") + "method '" + method.key + "' takes " + list,
                   where});
  }
  const std::string reason = why_not(method, key);
  if (reason.empty()) return;
  throw Failure({Severity::error, "method-refuses",
                 "method '" + method.key + "' refuses formulation '" + key + "': " + reason, "it takes " + list,
                 where});
}

}  // namespace

MethodSettings resolve_settings(const MethodInfo& method, MethodSettings settings, const Location& where) {
  const bool its_own = settings.formulation.empty() && !method.choose_formulation && !method.formulations.empty();
  std::vector<Field> fields = method.options;
  if (const FormulationInfo* formulation =
          find_formulation(its_own ? method.formulations.front() : settings.formulation))
    fields.insert(fields.end(), formulation->options.begin(), formulation->options.end());
  resolve_options(method, fields, settings.options, where);
  if (!settings.formulation.empty()) check_formulation(method, settings.formulation, where);
  ask_method(method, settings, where);
  return settings;
}

namespace methods {

Field iterations_option() {
  return {"iterations",
          FieldKind::number,
          Quantity::none,
          0.0,
          "Exactly so many Newton corrections in every step, with derivatives of the step itself: each step costs the "
          "same, as real time asks. 0: as many as it takes.",
          0,
          20};
}

}  // namespace methods
}  // namespace trammel
