// One step of a Rosenbrock-Nystrom method on z'' = f(t, z, z'), formulas in rosenbrock_tableau.h. Whoever owns the
// equations evaluates f and solves with the matrix of the step: dense for ordinary equations, sparse with constraints.
#pragma once
#include <array>
#include <cmath>

#include "trammel/base/types.h"
#include "trammel/ode/attempt.h"
#include "trammel/ode/rosenbrock/rosenbrock_tableau.h"

namespace trammel {

class NystromEquations {
 public:
  virtual ~NystromEquations() = default;

 protected:
  friend class NystromStep;
  static constexpr int estimate = -1;  // in the place of a stage
  // f at the part alpha of the step, for a stage.
  virtual Verdict accelerate(int stage, double alpha, const Vec& z, const Vec& z_dot, Vec& f) = 0;
  // (I - h g J2 - h^2 g^2 J1) x = rho + scale J1 p + time f_t
  virtual void solve(int stage, const Vec& rho, const Vec& p, double scale, double time, Vec& x) = 0;
};

class NystromStep {
 public:
  NystromStep(const RosenbrockTableau& method, int size) : table_(method) {
    for (Vec* v : {&z, &z_dot, &e_z, &e_rate, &f_, &rho_, &p_}) v->setZero(size);
    for (Vec& x : x_) x.setZero(size);
  }
  const NystromTableau& tableau() const { return table_; }

  // From z0, v0 with f0 = f there. `scaled`: the estimate goes through the matrix, which keeps stiff parts out of it.
  Verdict take(double h, const Vec& z0, const Vec& v0, const Vec& f0, bool scaled, NystromEquations& equations) {
    const NystromTableau& c = table_;
    const double g = c.gamma;
    f_ = f0;
    for (int i = 0; i < c.stages; ++i) {
      if (i > 0 && !c.same_point[i]) {
        z = z0 + (c.alpha[i] * h) * v0;
        z_dot = v0;
        for (int j = 0; j < i; ++j) {
          z += (h * c.theta[i][j]) * x_[j];
          z_dot += c.a[i][j] * x_[j];
        }
        const Verdict verdict = equations.accelerate(i, c.alpha[i], z, z_dot, f_);
        if (verdict != Verdict::ok) return verdict;
      }
      rho_ = (g * h) * f_;
      p_ = c.gamma_sum[i] * v0;
      for (int j = 0; j < i; ++j) {
        rho_ += (g * c.c[i][j]) * x_[j];
        p_ += c.delta[i][j] * x_[j];
      }
      equations.solve(i, rho_, p_, g * h * h, g * h * h * c.gamma_sum[i], x_[i]);
    }
    z = z0 + h * v0;
    z_dot = v0;
    e_z.setZero();
    e_rate.setZero();
    for (int i = 0; i < c.stages; ++i) {
      z += (h * c.mu[i]) * x_[i];
      z_dot += c.m[i] * x_[i];
      e_z += (h * (c.mu[i] - c.mu_hat[i])) * x_[i];
      e_rate += (c.m[i] - c.m_hat[i]) * x_[i];
    }
    if (!std::isfinite(z.sum() + z_dot.sum())) return Verdict::not_finite;
    if (scaled) {
      rho_ = e_rate;
      equations.solve(NystromEquations::estimate, rho_, e_z, h * g, 0, e_rate);
      e_z += (h * g) * e_rate;
    }
    return Verdict::ok;
  }

  Vec z, z_dot;     // of the end, or of the stage where the step failed
  Vec e_z, e_rate;  // their estimated errors

 private:
  NystromTableau table_;
  std::array<Vec, max_rosenbrock_stages> x_;
  Vec f_, rho_, p_;
};

}  // namespace trammel
