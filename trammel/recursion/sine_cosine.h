// Sine and cosine without a branch, so that a loop over many angles is vectorised and costs a few nanoseconds each.
//
// Reduced by pi/2 in three parts (Cody and Waite), then the minimax polynomials of fdlibm on [-pi/4, pi/4]: good to 1
// unit in the last place up to 1e5 rad, which the caller sees to.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

namespace trammel::recursion {

constexpr double most_angle_reduced = 1e5;

inline void sine_cosine(double x, double& sine, double& cosine) {
  constexpr double two_over_pi = 0.63661977236758134308;
  constexpr double to_integer = 6755399441055744.0;  // 1.5 * 2^52: the sum's last bits are the integer
  // the first two have 33 bits, so that their products with k are exact
  constexpr double first = 1.57079632673412561417e+00, second = 6.07710050630396597660e-11,
                   third = 2.02226624879595063154e-21;
  const double shifted = x * two_over_pi + to_integer, k = shifted - to_integer;
  const auto quadrant = std::bit_cast<std::int64_t>(shifted);
  const double y = ((x - k * first) - k * second) - k * third, z = y * y;
  const double s = y + y * z *
                           (-1.66666666666666324348e-01 +
                            z * (8.33333333332248946124e-03 +
                                 z * (-1.98412698298579493134e-04 +
                                      z * (2.75573137070700676789e-06 +
                                           z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)))));
  const double c = 1 - 0.5 * z +
                   z * z *
                       (4.16666666666666019037e-02 +
                        z * (-1.38888888888741095749e-03 +
                             z * (2.48015872894767294178e-05 +
                                  z * (-2.75573143513906633035e-07 +
                                       z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11)))));
  const double of_sine = (quadrant & 1) != 0 ? c : s, of_cosine = (quadrant & 1) != 0 ? s : c;
  sine = (quadrant & 2) != 0 ? -of_sine : of_sine;
  cosine = ((quadrant + 1) & 2) != 0 ? -of_cosine : of_cosine;
}

inline void sine_cosine(long double x, long double& sine, long double& cosine) {
  sine = std::sin(x);
  cosine = std::cos(x);
}

}  // namespace trammel::recursion
