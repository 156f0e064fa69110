// The weighted error of a step without mechanics, and the failure of a start that cannot be evaluated.
#pragma once
#include <cmath>
#include <string>

#include "trammel/base/diagnosis.h"
#include "trammel/base/types.h"

namespace trammel {

// Root mean square of error/scale; `worst` is the component with the largest share.
inline double weighted_rms(const Vec& error, const Vec& scales, int& worst) {
  double sum = 0, most = -1;
  for (Eigen::Index i = 0; i < error.size(); ++i) {
    const double part = error[i] / scales[i];
    sum += part * part;
    if (part * part > most) {
      most = part * part;
      worst = static_cast<int>(i);
    }
  }
  return error.size() > 0 ? std::sqrt(sum / static_cast<double>(error.size())) : 0;
}
inline double weighted_rms(const Vec& error, const Vec& scales) {
  int worst = 0;
  return weighted_rms(error, scales, worst);
}

[[noreturn]] inline void fail_at_start(double t) {
  throw Failure({Severity::error,
                 "start-rejected",
                 "the right side cannot be evaluated at the start, t = " + std::to_string(t),
                 "the initial values are outside of what the equations allow",
                 {}},
                ExitCode::failed_run);
}

}  // namespace trammel
