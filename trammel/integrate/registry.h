// The only list of methods: keys, options and how to make them. Command line, docs and conformance tests read it.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "trammel/integrate/ode_method.h"
#include "trammel/model/fields.h"

namespace trammel {

struct MethodSettings {
  bool fixed_step = false;
  double tolerance = 1e-5;         // epsilon; with a fixed step it only bounds the corrector
  std::string formulation;         // a key of formulation_registry(); empty: the method's own choice
  double misfit = 0;               // of loops that do not close, m
  int freedoms = -1;               // of the mechanism; -1: not known
  std::vector<int> independent{};  // velocity columns named as coordinates of the state-space form
  Fields options{};                // completed with defaults
};

struct MethodInfo {
  std::string key;  // "hht-i3"
  std::string title, source;
  int order = 2;        // of positions and velocities
  int error_order = 3;  // the error estimate is proportional to h^error_order
  std::string stability;
  // For the conformance suites of methods without mechanics:
  int dense_order = 0;          // to which values between steps converge; 0: not said
  double evaluations = 0;       // of f for an accepted step of fixed size; 0: it varies
  bool variable_order = false;  // then `order` is the highest
  bool stiff = false;           // steps may be far larger than the fastest decay of the problem
  // Recorded between its steps is the end of a step of its own to the output time (run/output_step.h): of stiff
  // methods, and of others whose interpolation is not as good as their steps.
  bool steps_to_outputs = false;
  std::vector<std::string> formulations;  // those it takes; the first is the default
  // Its choice among them for a mechanism, where that is not simply the first.
  std::function<std::string(const Equations&, const MethodSettings&)> choose_formulation;
  std::vector<Field> options;
  // The reason why these settings cannot be honoured; empty if they can.
  std::function<std::string(const MethodSettings&)> refuses;
  // What the user must know of results with these settings; empty if nothing.
  std::function<std::string(const MethodSettings&)> caveat;
  // Are reported reactions of use? A caveat about them marks the signals.
  std::function<bool(const MethodSettings&)> reactions_doubtful;
  std::function<std::unique_ptr<Integrator>(const Equations&, const MethodSettings&)> make;
  // For problems without mechanics in them, where the method integrates such; empty otherwise. With one of the first
  // two a mechanism's state-space form can be integrated.
  std::function<std::unique_ptr<OdeMethod>(FirstOrderProblem&, const MethodSettings&)> make_first_order;
  std::function<std::unique_ptr<OdeMethod>(SecondOrderProblem&, const MethodSettings&)> make_second_order;
  std::function<std::unique_ptr<OdeMethod>(ImplicitProblem&, const MethodSettings&)> make_implicit;
  int stages = 0;  // of a Runge-Kutta or Rosenbrock method at its defaults; 0: no such method
};

const std::vector<MethodInfo>& method_registry();
// A Failure that names the nearest key if there is none.
const MethodInfo& find_method(std::string_view key, const Location& where);
// The formulation a method takes for a mechanism with these settings.
std::string chosen_formulation(const MethodInfo& method, const Equations& equations, const MethodSettings& settings);
// Why a method cannot be used with a formulation; empty if it can.
std::string why_not(const MethodInfo& method, std::string_view formulation);

// Checks names, kinds and ranges of the options, fills in defaults, and asks the method whether it refuses.
MethodSettings resolve_settings(const MethodInfo& method, MethodSettings settings, const Location& where);

}  // namespace trammel
