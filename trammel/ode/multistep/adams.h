// Adams-Bashforth-Moulton predictor-corrector with variable order 1 to 12 and variable steps, PECE with local
// extrapolation, in the form of modified divided differences (Shampine and Gordon, Computer Solution of Ordinary
// Differential Equations, 1975). With psi_i = t_{n+1} - t_{n+1-i} of the step to be taken and psi'_i of the one before:
//
//   alpha_i = h / psi_i,   beta_1 = 1,  beta_i = beta_{i-1} psi_{i-1} / psi'_{i-1}
//   phi_1 = f_n,  phi_i = psi'_1 ... psi'_{i-1} f[t_n, ..., t_{n-i+1}],   phi*_i = beta_i phi_i
//   predict   p = y_n + h sum_{i<=k} g_i phi*_i
//   evaluate  f^p = f(t_{n+1}, p),   e = f^p - sum_{i<=k} phi*_i
//   correct   y_{n+1} = p + h g_{k+1} e          error estimate  h (g_k - g_{k+1}) e
//   evaluate  f_{n+1}
//
// g_i integrates the Newton polynomials over the step: c_{1q} = 1/q, c_{2q} = 1/(q (q+1)),
// c_{iq} = c_{i-1,q} - alpha_{i-1} c_{i-1,q+1}, g_i = c_{i1}.
//
// The solution is of order k+1, the estimate proportional to h^(k+1). The order follows estimates for k-2 ... k+1;
// steps stay or are doubled, so that most are of constant size.
#pragma once
#include <array>

#include "trammel/ode/control/error_norm.h"
#include "trammel/ode/ode_method.h"

namespace trammel {

struct AdamsOptions {
  bool fixed_step = false;
  double tolerance = 1e-5;
  int most_order = 12;
};

class AdamsMethod final : public OdeMethod {
 public:
  static constexpr int top = 12;           // order of the predictor
  static constexpr int columns = top + 2;  // differences phi_1 ... phi_{k+2}
  static constexpr long stiff_after = 50;  // steps in a row that stability limits

  AdamsMethod(FirstOrderProblem& problem, const AdamsOptions& options);

  int order() const override { return k_; }  // of the predictor, the name under which it is listed
  int error_order() const override { return tried_ + 1; }
  void start(double t, const Vec& y) override;
  Attempt attempt(double h) override;
  void accept() override;
  const Vec& trial() const override { return new_y_; }
  void interpolate(double t, Vec& y) const override;
  void restart() override;
  int memory() const override { return columns; }
  void rebase(std::span<const Point> past) override;
  long stiff_steps() const override { return stiff_total_; }
  std::span<const long> steps_by_order() const override { return by_order_; }
  void visit(Archive& archive) override;

 private:
  using Table = std::array<double, columns + 1>;  // index from 1 as in the formulas

  void forget();
  void coefficients(double h);
  Verdict complete();
  double choose_next();
  double after_failure(bool by_error);
  void watch_stiffness();
  void polynomial(double t, Vec& y) const;

  FirstOrderProblem& problem_;
  AdamsOptions options_;
  int n_;
  std::array<long, top + 1> by_order_{};

  // accepted: phi_i in the columns of differences_, psi'_i with psi_[i] = t_n - t_{n-i}
  Vec previous_y_;
  Mat differences_;
  Table psi_{};
  int points_ = 1;                    // known: f_n ... f_{n-points+1}
  int k_ = 1;                         // order of the next attempt
  int last_k_ = 1;                    // of the last accepted step
  int same_steps_ = 0;                // accepted with last_step_ in a row
  bool ramp_ = true;                  // at the start order and step grow with every step
  int failures_ = 0;                  // of the step under way
  long stiff_ = 0, stiff_total_ = 0;  // in a row; of rows that were long enough
  int calm_ = 0;                      // steps in a row that show no stiffness

  // tried
  double h_ = 0, error_k_ = 0, error_km1_ = 0, error_km2_ = 0, stretch_ = 0;
  int tried_ = 1, next_k_ = 1;
  bool completed_ = false, next_ramp_ = true;
  Table new_psi_{}, beta_{}, g_{}, sigma_{};
  Mat new_differences_;
  Vec predicted_, new_y_, new_dydt_, f_predicted_, e_, scales_, work_;
  mutable Vec jump_;  // y_{n-1} less the polynomial there
  mutable bool jump_known_ = false;
};

}  // namespace trammel
