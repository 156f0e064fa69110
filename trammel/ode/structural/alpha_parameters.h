// Newmark's finite differences and the weights of the balance of generalized-alpha methods,
//
//   (1 - alpha_m) a_{n+1} + alpha_m a_n = (1 - alpha_f) v'_{n+1} + alpha_f v'_n
//
// for ordinary equations (structural.h) and for those with constraints (integrate/alpha).
#pragma once

namespace trammel {

struct AlphaParameters {
  double alpha_m = 0, alpha_f = 0, beta = 0.25, gamma = 0.5;

  static AlphaParameters newmark(double gamma, double beta) { return {0, 0, beta, gamma}; }
  // HHT (6): alpha in [-1/3, 0].
  static AlphaParameters hht(double alpha) { return {0, -alpha, (1 - alpha) * (1 - alpha) / 4, (1 - 2 * alpha) / 2}; }
  // Chung and Hulbert 1993; rho_inf in [0, 1).
  static AlphaParameters generalized(double rho_inf) {
    const double m = (2 * rho_inf - 1) / (rho_inf + 1), f = rho_inf / (rho_inf + 1), gamma = 0.5 - m + f;
    return {m, f, (gamma + 0.5) * (gamma + 0.5) / 4, gamma};
  }
  // HHT (25): local position error = factor * h^2 (a_{n+1} - a_n)
  double error_factor() const { return beta - (1 - alpha_m) / (6 * (1 - alpha_f)); }
};

}  // namespace trammel
