#include "trammel/formulate/formulation_keys.h"
#include "trammel/integrate/forces_named.h"
#include "trammel/integrate/methods.h"
#include "trammel/integrate/rosenbrock/rosenbrock_nystrom.h"

namespace trammel::methods {
namespace {

// Dense derivatives in independent coordinates cost less up to about ten of them; above, or with many bodies in loops
// whose singular positions no choice of coordinates survives, all coordinates with sparse ones.
std::string choose_formulation(const Equations& equations, const MethodSettings& settings) {
  const bool few = settings.freedoms >= 0 && settings.freedoms <= 10 && equations.sizes().nv <= 100;
  return few && equations.velocity_rows().empty() && equations.sizes().nx == 0 ? formulation::state_space
                                                                               : formulation::all_coordinates;
}

}  // namespace

void add_all_coordinates(MethodInfo& method, ReadRosenbrockOptions read) {
  method.formulations.insert(method.formulations.begin() + 1, formulation::all_coordinates);
  method.choose_formulation = choose_formulation;
  method.make = [read](const Equations& equations, const MethodSettings& settings) {
    RosenbrockNystromOptions options;
    static_cast<RosenbrockOptions&>(options) = read(settings);
    options.misfit = settings.misfit;
    if (settings.options.has("forces_without_derivatives"))
      options.forces_without_derivatives =
          forces_named(equations.model(), settings.options.get<std::string>("forces_without_derivatives"));
    return std::make_unique<RosenbrockNystrom>(equations, options);
  };
}

}  // namespace trammel::methods
