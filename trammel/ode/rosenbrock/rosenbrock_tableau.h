// Rosenbrock methods as data, and their Nystrom form for y'' = f(t, y, y').
#pragma once
#include <array>
#include <string>

namespace trammel {

constexpr int max_rosenbrock_stages = 4;
using StageVector = std::array<double, max_rosenbrock_stages>;
using StageMatrix = std::array<StageVector, max_rosenbrock_stages>;

// k_i = h f(y + sum alpha_ij k_j) + h J sum gamma_ij k_j,  y_new = y + sum b_i k_i; G has gamma on its diagonal.
struct RosenbrockTableau {
  std::string key;
  int stages = 0, order = 0, embedded_order = 0;
  double gamma = 0;
  StageMatrix A{}, G{};
  StageVector b{}, b_hat{};

  static const RosenbrockTableau& rn43();        // L-stable to the last digit: gamma is the root itself
  static const RosenbrockTableau& rn43_print();  // gamma rounded to 8 digits as in the paper, its Table 1 corrected
  static const RosenbrockTableau& w2();          // order 2 with any Jacobian (Table 3)
};

// The same method on (y, y') with the position stages eliminated; l = Gamma k of the velocities:
//   (I - h g J2 - h^2 g^2 J1) l_i = g (h f_i + sum c_ij l_j + h^2 gamma_i (f_t + J1 v) + h^2 J1 sum delta_ij l_j)
//   f_i = f(t + alpha_i h, y + alpha_i h v + h sum theta_ij l_j, v + sum a_ij l_j)
//   y_new = y + h v + h sum mu_i l_i,   v_new = v + sum m_i l_i;   the embedded solution with mu_hat, m_hat
struct NystromTableau {
  int stages = 0, order = 0, embedded_order = 0;
  double gamma = 0;
  StageVector alpha{}, gamma_sum{};
  StageMatrix theta{}, a{}, c{}, delta{};
  StageVector m{}, m_hat{}, mu{}, mu_hat{};
  std::array<bool, max_rosenbrock_stages> same_point{};  // stage evaluated where the one before was

  explicit NystromTableau(const RosenbrockTableau& method);
};

}  // namespace trammel
