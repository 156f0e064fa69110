// What the descriptions of Rosenbrock-Nystrom methods share.
#pragma once
#include "trammel/integrate/methods/methods.h"
#include "trammel/integrate/methods/rosenbrock.h"
#include "trammel/integrate/methods/rosenbrock_nystrom.h"
#include "trammel/integrate/methods/rosenbrock_nystrom_dense.h"

namespace trammel::methods {

std::unique_ptr<Integrator> make_rosenbrock(const Equations& equations, const MethodSettings& settings,
                                            RosenbrockNystromOptions options);
// On y'' = f(t, y, y').
std::unique_ptr<OdeMethod> make_rosenbrock(SecondOrderProblem& problem, const MethodSettings& settings,
                                           RosenbrockNystromDenseOptions options);
// On y' = f(t, y).
std::unique_ptr<OdeMethod> make_rosenbrock(FirstOrderProblem& problem, const MethodSettings& settings,
                                           RosenbrockOptions options);
const Field& scaled_estimate_option();
// The options of the step control, after a method's own.
std::vector<Field> with_control_options(std::vector<Field> own);
// The forces that names, or patterns with *, separated by commas, stand for. Throws Failure for one that fits none.
std::vector<bool> forces_named(const Equations& equations, const std::string& names);
std::vector<std::string> rosenbrock_formulations();
// Dense derivatives in independent coordinates cost less up to about ten of them; above, or with many bodies in loops
// whose singular positions no choice of coordinates survives, all coordinates with sparse ones.
std::string choose_rosenbrock_formulation(const Equations& equations, const MethodSettings& settings);

}  // namespace trammel::methods
