#include "trammel/integrate/registry.h"

#include <algorithm>
#include <numbers>

#include "trammel/formulate/formulations.h"
#include "trammel/formulate/ode_integrator.h"
#include "trammel/integrate/methods/methods.h"
#include "trammel/integrate/methods/rosenbrock_description.h"

namespace trammel {
namespace {

std::string nothing(const MethodSettings&) { return ""; }
bool never(const MethodSettings&) { return false; }

// A method for ordinary differential equations on the mechanism's own.
std::unique_ptr<Integrator> make_on_mechanism(const MethodInfo& m, const Equations& equations,
                                              const MethodSettings& settings) {
  const std::string& key = settings.formulation;
  const auto option = [&](const char* name, double otherwise) {
    return settings.options.has(name) ? settings.options.number(name) : otherwise;
  };
  OdeIntegrator::Options options;
  options.fixed_step = settings.fixed_step;
  options.project = key == "index-1-projected";
  // With fixed steps nothing else limits what the recovery of dependent coordinates may leave.
  options.form.tolerance = settings.fixed_step ? std::min(1e-10, settings.tolerance) : settings.tolerance;
  options.form.misfit = settings.misfit;
  options.form.named = settings.independent;
  options.form.greater_counts = settings.options.has("ode45") && settings.options.get<bool>("ode45");
  if (settings.options.has("forces_without_derivatives"))
    options.form.forces_without_derivatives =
        methods::forces_named(equations, settings.options.get<std::string>("forces_without_derivatives"));
  options.form.all_coordinates = key != "state-space";
  if (key == "index-1-baumgarte" || key == "penalty" || key == "augmented-lagrangian") {
    options.form.frequency = option("frequency", 20);
    options.form.damping = option("damping", 1);
  }
  if (key == "penalty" || key == "augmented-lagrangian") {
    options.form.penalty = option("penalty", 1e7);
    options.form.sweeps = key == "penalty" ? 1 : static_cast<int>(option("iterations", 4));
  }
  if (key == "penalty-joints") {
    const double frequency = option("penalty_frequency", 0), time = option("penalty_time", 0);
    options.form.joint_frequency = frequency > 0 ? frequency : 1e3;
    options.form.joint_time = time > 0 ? time : 1 / (std::numbers::pi * options.form.joint_frequency);
  }
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
        methods::rosenbrock_nystrom_4(),
        methods::w_method_2(),
        methods::split(),
        methods::theta(),
        methods::adams(),
        methods::euler(),
        methods::taylor_2(),
        methods::heun(),
        methods::rk4(),
        methods::runge_kutta_from_file(),
        methods::fehlberg_45(),
        methods::dormand_prince_54(),
        methods::dormand_prince_853(),
        methods::adams_bashforth(),
        methods::adams_moulton(),
        methods::bdf_fixed(),
        methods::bdf(),
        methods::cvode_bdf(),
        methods::cvode_adams(),
        methods::trapezoidal(),
        methods::implicit_midpoint(),
        methods::norsett_sdirk(),
        methods::sdirk_4(),
        methods::gauss(),
        methods::radau_iia_1(),
        methods::radau_iia_2(),
        methods::radau_iia_3(),
        methods::lobatto_iiic(),
        methods::newmark(),
        methods::hht(),
        methods::wilson_theta(),
        methods::collocation(),
        methods::generalized_alpha(),
        methods::midpoint(),
    };
    for (MethodInfo& m : all) {
      const bool for_odes = m.make_first_order || m.make_second_order;
      if (m.formulations.empty() && for_odes)
        m.formulations = {"state-space",       "index-1", "index-1-projected",
                          "index-1-baumgarte", "penalty", "augmented-lagrangian"};
      if (for_odes) {
        const MethodInfo ode = m;
        m.make = [ode](const Equations& e, const MethodSettings& s) {
          MethodSettings settings = s;
          settings.formulation = chosen_formulation(ode, e, s);
          // constraints beside the differential equations are the method's own affair
          const bool own = settings.formulation == "all-coordinates" || settings.formulation == "index-3" ||
                           settings.formulation == "stabilised-index-2";
          return own ? ode.make(e, settings) : make_on_mechanism(ode, e, settings);
        };
      }
      if (!m.refuses) m.refuses = nothing;
      const bool counts = std::any_of(m.options.begin(), m.options.end(),
                                      [](const Field& option) { return option.name == "iterations"; });
      if (counts) {
        m.refuses = [own = m.refuses](const MethodSettings& s) -> std::string {
          if (!s.fixed_step && s.options.number("iterations") > 0)
            return "with a fixed number of corrections what they leave is not bounded, and the error test would take "
                   "it for the method's error; `iterations` needs a fixed step";
          return own(s);
        };
      }
      if (!m.caveat) m.caveat = nothing;
      if (!m.reactions_doubtful) m.reactions_doubtful = never;
    }
    return all;
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

std::string chosen_formulation(const MethodInfo& method, const Equations& equations, const MethodSettings& settings) {
  if (!settings.formulation.empty()) return settings.formulation;
  if (method.choose_formulation) return method.choose_formulation(equations, settings);
  return method.formulations.empty() ? "" : method.formulations.front();
}

namespace {

// Why a method for differential equations cannot have constraints at position or velocity level beside them.
std::string why_no_constraints(const MethodInfo& m) {
  if (m.stability.starts_with("explicit"))
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
  const bool takes_constraints = !method.make_first_order && !method.make_second_order;
  if (formulation == "all-coordinates")
    return "returning to the constraints through the stage matrix needs a method with one";
  if (formulation == "index-3" || formulation == "stabilised-index-2") {
    if (!takes_constraints) return why_no_constraints(method);
    return formulation == "index-3" ? "its corrector solves for constraints at velocity level and a second set of "
                                      "multipliers; the form with positions only has a method of its own, '-i3'"
                                    : "its corrector solves for constraints at position level; the stabilised form has "
                                      "a method of its own, '-si2'";
  }
  return "its corrector solves for accelerations and multipliers of constraints; this form leaves it none, the method "
         "for y'' = f or y' = f of the same name takes it";
}

MethodSettings resolve_settings(const MethodInfo& method, MethodSettings settings, const Location& where) {
  // What was wrong on the command line is wrong usage, not a wrong model.
  const ExitCode code =
      where.file != nullptr && *where.file == "command line" ? ExitCode::bad_usage : ExitCode::bad_model;
  std::vector<std::string> names;
  std::vector<Field> fields = method.options;
  const bool its_own = settings.formulation.empty() && !method.choose_formulation && !method.formulations.empty();
  if (const FormulationInfo* formulation =
          find_formulation(its_own ? method.formulations.front() : settings.formulation))
    fields.insert(fields.end(), formulation->options.begin(), formulation->options.end());
  for (const Field& field : fields) names.push_back(field.name);
  for (const auto& entry : settings.options.all()) {
    const auto known = std::find(names.begin(), names.end(), entry.first);
    if (known == names.end()) {
      const std::string near = nearest_name(entry.first, names);
      throw Failure(
          {Severity::error, "unknown-option", "method '" + method.key + "' has no option '" + entry.first + "'",
           near.empty() ? "see `trammel methods " + method.key + "`" : "did you mean '" + near + "'?", where});
    }
    const Field& field = fields[static_cast<std::size_t>(known - names.begin())];
    const double* value = std::get_if<double>(&entry.second);
    const bool right_kind = field.kind == FieldKind::number ? value != nullptr
                            : field.kind == FieldKind::text ? std::holds_alternative<std::string>(entry.second)
                                                            : std::holds_alternative<bool>(entry.second);
    if (!right_kind) {
      throw Failure({Severity::error, "wrong-type",
                     "option '" + field.name + "' of method '" + method.key + "' must be " +
                         (field.kind == FieldKind::number ? "a number"
                          : field.kind == FieldKind::text ? "a text"
                                                          : "true or false"),
                     field.text, where},
                    code);
    }
    if (value != nullptr && !(*value >= field.least && *value <= field.most)) {
      throw Failure({Severity::error, "out-of-range",
                     "option '" + field.name + "' of method '" + method.key + "' is " + std::to_string(*value) +
                         ", valid are " + std::to_string(field.least) + " to " + std::to_string(field.most),
                     field.text, where},
                    code);
    }
  }
  if (!settings.formulation.empty()) {
    std::vector<std::string> keys;
    std::string list;
    for (const std::string& key : method.formulations) list += (list.empty() ? "" : ", ") + key;
    for (const FormulationInfo& f : formulation_registry()) keys.push_back(f.key);
    if (find_formulation(settings.formulation) == nullptr) {
      const std::string near = nearest_name(settings.formulation, keys);
      throw Failure(
          {Severity::error, "unknown-formulation", "there is no formulation '" + settings.formulation + "'",
           (near.empty() ? "" : "did you mean '" + near + "'? ") + "method '" + method.key + "' takes " + list, where});
    }
    const std::string reason = why_not(method, settings.formulation);
    if (!reason.empty()) {
      throw Failure({Severity::error, "method-refuses",
                     "method '" + method.key + "' refuses formulation '" + settings.formulation + "': " + reason,
                     "it takes " + list, where});
    }
  }
  for (const Field& field : fields) {
    if (!settings.options.has(field.name)) settings.options.set(field.name, *field.fallback);
  }
  const std::string reason = method.refuses(settings);
  if (!reason.empty()) {
    throw Failure({Severity::error, "method-refuses", "method '" + method.key + "' refuses these settings: " + reason,
                   settings.fixed_step ? "choose another value, or let the method choose its steps"
                                       : "choose another value, or give a fixed step (`--step`)",
                   where});
  }
  return settings;
}

}  // namespace trammel
