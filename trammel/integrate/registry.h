// The only list of methods for mechanisms: those for differential equations (ode/registry.h) on the forms of a
// mechanism that are such, and those that take its constraints themselves. Command line, docs and conformance tests
// read it.
#pragma once
#include "trammel/integrate/integrator.h"
#include "trammel/ode/registry.h"

namespace trammel {

struct MethodSettings : OdeSettings {
  std::string formulation;         // a key of formulation_registry(); empty: the method's own choice
  double misfit = 0;               // of loops that do not close, m
  int freedoms = -1;               // of the mechanism; -1: not known
  std::vector<int> independent{};  // velocity columns named as coordinates of the state-space form
};

struct MethodInfo : OdeMethodInfo {
  std::vector<std::string> formulations;  // those it takes; the first is the default
  // Its choice among them for a mechanism, where that is not simply the first.
  std::function<std::string(const Equations&, const MethodSettings&)> choose_formulation;
  // Whether reported reactions are doubtful with these settings; a caveat then marks the signals.
  std::function<bool(const OdeSettings&)> reactions_doubtful;
  std::function<std::unique_ptr<Integrator>(const Equations&, const MethodSettings&)> make;

  bool for_differential_equations() const { return make_first_order || make_second_order; }
  bool doubts_reactions(const OdeSettings& settings) const {
    return reactions_doubtful && reactions_doubtful(settings);
  }
};

const std::vector<MethodInfo>& method_registry();
// The table of docs/methods/README.md, a row for each method.
std::string methods_as_markdown();
// A Failure that names the nearest key if there is none.
const MethodInfo& find_method(std::string_view key, const Location& where);
// The formulation a method takes for a mechanism with these settings.
std::string chosen_formulation(const MethodInfo& method, const Equations& equations, const MethodSettings& settings);
// Why a method cannot be used with a formulation; empty if it can.
std::string why_not(const MethodInfo& method, std::string_view formulation);

// Checks names, kinds and ranges of the options, fills in defaults, and asks the method whether it refuses.
MethodSettings resolve_settings(const MethodInfo& method, MethodSettings settings, const Location& where);

}  // namespace trammel
