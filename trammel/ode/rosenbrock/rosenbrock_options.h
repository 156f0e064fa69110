// What the Rosenbrock methods have in common: on y' = f, on y'' = f, and in all coordinates of a mechanism.
#pragma once
#include "trammel/ode/registry.h"
#include "trammel/ode/rosenbrock/rosenbrock_tableau.h"

namespace trammel {

struct RosenbrockOptions {
  const RosenbrockTableau* tableau = &RosenbrockTableau::rn43();
  double tolerance = 1e-5;
  bool fixed_step = false;
  bool scaled_estimate = false;  // (I - h g J)^-1 times the difference of the two solutions
  int keep_derivatives = 1;      // steps that share derivatives; above 1 only for W-methods
  bool no_derivatives = false;   // J = 0, f_t = 0: only for W-methods
};

namespace methods {

RosenbrockOptions rosenbrock_nystrom_4_options(const OdeSettings& settings);
RosenbrockOptions w_method_2_options(const OdeSettings& settings);

// Both makers, on y' = f and y'' = f, and what the step control offers after a method's own options.
using ReadRosenbrockOptions = RosenbrockOptions (*)(const OdeSettings& settings);
void describe_rosenbrock(OdeMethodInfo& method, std::vector<Field> own, ReadRosenbrockOptions read);

}  // namespace methods
}  // namespace trammel
