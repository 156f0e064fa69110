#include "trammel/elements/contacts/hertz.h"

#include <cmath>
#include <numbers>

namespace trammel {
namespace {

// F as a function of the axis ratio; rises from 0 at k = 1 to 1.
double curvature_difference(double k) {
  const double modulus = std::sqrt(1 - 1 / (k * k));
  const double K = std::comp_ellint_1(modulus), E = std::comp_ellint_2(modulus);
  return ((k * k + 1) * E - 2 * K) / ((k * k - 1) * E);
}

}  // namespace

HertzContact hertz_contact(double sum, double difference, double compliance) {
  const double F = std::abs(difference) / sum;
  // Below, F and the ratio of its small differences are lost in round-off: F = 3/4 (k - 1) there.
  constexpr double nearly_round = 1e-4;
  HertzContact out;
  if (F > 0.75 * nearly_round) {
    double low = 1 + nearly_round / 2, high = 2;
    while (curvature_difference(high) < F && high < 1e12) high *= 2;
    for (int i = 0; i < 200 && high - low > 1e-15 * high; ++i) {
      const double middle = 0.5 * (low + high);
      (curvature_difference(middle) < F ? low : high) = middle;
    }
    out.axis_ratio = 0.5 * (low + high);
  }
  const double k = out.axis_ratio, modulus = std::sqrt(1 - 1 / (k * k));
  const double K = std::comp_ellint_1(modulus), E = std::comp_ellint_2(modulus);
  out.deflection = 2 * K / std::numbers::pi * std::cbrt(std::numbers::pi / (2 * k * k * E));
  out.stiffness = std::pow(0.5 * out.deflection * sum, -1.5) * sum / (1.5 * compliance);
  return out;
}

}  // namespace trammel
