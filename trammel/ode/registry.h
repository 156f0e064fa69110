// The list of methods for ordinary differential equations and F(t, y, y') = 0, with no mechanics in them: keys, options
// and how to make them. integrate/registry.h is the list for mechanisms, which takes these in.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "trammel/model/fields.h"
#include "trammel/ode/ode_method.h"

namespace trammel {

struct StructuralParameters;
struct MultistepFormula;

struct OdeSettings {
  bool fixed_step = false;
  double tolerance = 1e-5;  // epsilon; with a fixed step it only bounds the corrector
  Fields options{};         // completed with defaults
};

struct OdeMethodInfo {
  std::string key;  // "radau-iia-3"
  std::string title, source;
  int order = 2;        // of positions and velocities
  int error_order = 3;  // the error estimate is proportional to h^error_order
  std::string stability;
  bool is_explicit = false;  // only evaluates derivatives, solves nothing
  // For the conformance suites of methods without mechanics:
  int dense_order = 0;          // to which values between steps converge; 0: not said
  double evaluations = 0;       // of f for an accepted step of fixed size; 0: it varies
  bool variable_order = false;  // then `order` is the highest
  bool stiff = false;           // steps may be far larger than the fastest decay of the problem
  // Recorded between its steps is the end of a step of its own to the output time (run/output_step.h): of stiff
  // methods, and of others whose interpolation is not as good as their steps.
  bool steps_to_outputs = false;
  std::vector<Field> options;
  // The reason why these settings cannot be honoured; empty if they can.
  std::function<std::string(const OdeSettings&)> refuses;
  // What the user must know of results with these settings; empty if nothing.
  std::function<std::string(const OdeSettings&)> caveat;
  // For each kind of problem that the method integrates; empty otherwise. With one of the first two a mechanism's
  // state-space form can be integrated.
  std::function<std::unique_ptr<OdeMethod>(FirstOrderProblem&, const OdeSettings&)> make_first_order;
  std::function<std::unique_ptr<OdeMethod>(SecondOrderProblem&, const OdeSettings&)> make_second_order;
  std::function<std::unique_ptr<OdeMethod>(ImplicitProblem&, const OdeSettings&)> make_implicit;
  // What its stability follows from with these settings: of a method of structural dynamics, of a fixed multistep
  // formula.
  StructuralParameters (*structural)(const OdeSettings&) = nullptr;
  MultistepFormula (*formula)(const OdeSettings&) = nullptr;
  // The first steps evaluate f at their end with the state of their start.
  bool starts_ahead = false;
  int stages = 0;  // of a Runge-Kutta or Rosenbrock method at its defaults; 0: no such method

  std::string why_refused(const OdeSettings& settings) const { return refuses ? refuses(settings) : ""; }
  std::string warning(const OdeSettings& settings) const { return caveat ? caveat(settings) : ""; }
};

const std::vector<OdeMethodInfo>& ode_method_registry();
// A Failure that names the nearest key if there is none.
const OdeMethodInfo& find_ode_method(std::string_view key, const Location& where);
// Checks names, kinds and ranges of the options, fills in defaults, and asks the method whether it refuses.
OdeSettings resolve_settings(const OdeMethodInfo& method, OdeSettings settings, const Location& where);

// The parts of that, for lists of methods made from this one.
// `kind` follows the key in the sentence.
[[noreturn]] void refuse_unknown_method(std::string_view key, const char* kind, const std::vector<std::string>& keys,
                                        const Location& where);
void resolve_options(const OdeMethodInfo& method, const std::vector<Field>& fields, Fields& options,
                     const Location& where);
void ask_method(const OdeMethodInfo& method, const OdeSettings& settings, const Location& where);

}  // namespace trammel
