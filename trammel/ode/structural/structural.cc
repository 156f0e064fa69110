#include "trammel/ode/structural/structural.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "trammel/math/hermite.h"

namespace trammel {

StructuralParameters StructuralParameters::newmark(double beta, double gamma) {
  StructuralParameters p{AlphaParameters::newmark(gamma, beta)};
  p.order = gamma == 0.5 ? 2 : 1;
  return p;
}
StructuralParameters StructuralParameters::hht(double alpha) { return {AlphaParameters::hht(alpha)}; }
StructuralParameters StructuralParameters::generalized_alpha(double rho_infinity) {
  return {AlphaParameters::generalized(rho_infinity)};
}
StructuralParameters StructuralParameters::collocation(double theta, double beta, double gamma) {
  StructuralParameters p = newmark(beta, gamma);
  p.balance = Balance::collocation;
  p.theta = theta;
  return p;
}
// The mean acceleration alone enters: Y = y + H v + H^2 x, V = v + H x with H = h/2.
StructuralParameters StructuralParameters::midpoint() {
  StructuralParameters p;
  p.balance = Balance::midpoint;
  p.theta = 0.5;
  p.beta = p.gamma = 1;
  return p;
}

void make_structural(OdeMethodInfo& m, StructuralParameters (*parameters)(const OdeSettings&)) {
  m.structural = parameters;
  m.make_second_order = [parameters](SecondOrderProblem& p, const OdeSettings& s) {
    return std::make_unique<StructuralMethod>(p, StructuralOptions::from(parameters(s), s));
  };
}

StructuralOptions StructuralOptions::from(const StructuralParameters& parameters, const OdeSettings& settings) {
  StructuralOptions o;
  o.parameters = parameters;
  o.common = ImplicitOptions::from(settings);
  o.positions_as_unknowns = settings.options.get<bool>("positions_as_unknowns");
  o.full_newton = settings.options.get<bool>("full_newton");
  o.predict_with_acceleration = settings.options.get<bool>("predict_with_acceleration");
  return o;
}

std::vector<Field> with_structural_options(std::vector<Field> own) {
  own.push_back({"positions_as_unknowns", FieldKind::boolean, Quantity::none, false,
                 "Newton solves for positions and judges their corrections alone, as the textbook does; else for "
                 "accelerations, judging positions and velocities."});
  own.push_back({"full_newton", FieldKind::boolean, Quantity::none, false,
                 "Derivatives at every correction instead of kept ones. Dearer; for comparison."});
  own.push_back({"predict_with_acceleration", FieldKind::boolean, Quantity::none, true,
                 "Newton starts from the old acceleration; else from the old positions, as the textbook does."});
  return with_newton_options(std::move(own));
}

std::string refuse_structural(const OdeSettings& settings, double beta) {
  if (beta == 0 &&
      (settings.options.get<bool>("positions_as_unknowns") || !settings.options.get<bool>("predict_with_acceleration")))
    return "with beta = 0 the new positions are known: they cannot be the unknowns";
  return "";
}

StructuralMethod::StructuralMethod(SecondOrderProblem& problem, const StructuralOptions& options)
    : problem_(problem), options_(options), n_(problem.freedoms()), derivatives_(problem), newton_([&] {
        SimplifiedNewton::Options newton = options.common.newton;
        newton.patient = options.full_newton;
        newton.reach = 1e300;  // the estimate evaluates the forces at the end, wherever the corrections were made
        return newton;
      }()) {
  for (Vec* v :
       {&q_, &v_, &f_, &a_, &start_a_, &trial_a_, &Y_, &V_, &F_, &x_, &base_y_, &base_v_, &right_, &correction_, &e_v_})
    v->setZero(n_);
  for (Vec* v :
       {&y_, &dydt_, &trial_, &trial_rates_, &previous_, &previous_rates_, &scales_, &error_, &middle_, &slope_})
    v->setZero(2 * n_);
  matrix_.setIdentity(n_, n_);
  filter_ = matrix_;
  lu_.compute(matrix_);
  filter_lu_.compute(filter_);
}

Verdict StructuralMethod::accelerate(double t, const Vec& y, const Vec& v, Vec& a) {
  if (!std::isfinite(y.sum() + v.sum())) return Verdict::not_finite;
  ++counts_.evaluations;
  if (problem_.acceleration(t, y, v, a) != Eval::ok) return Verdict::evaluation_rejected;
  return std::isfinite(a.sum()) ? Verdict::ok : Verdict::not_finite;
}

void StructuralMethod::start(double t, const Vec& state) {
  t_ = t;
  y_ = trial_ = previous_ = state;
  last_step_ = 0;
  restart();
  previous_rates_ = dydt_;
}

void StructuralMethod::restart() {
  q_ = y_.head(n_);
  v_ = y_.tail(n_);
  if (accelerate(t_, q_, v_, f_) != Verdict::ok) f_.setConstant(std::numeric_limits<double>::quiet_NaN());
  a_ = f_;
  a_h_ = 0;
  dydt_ << v_, f_;
  J_valid_ = J_current_ = false;
  newton_.forget();
}

Verdict StructuralMethod::linearise(double t, const Vec& y, const Vec& v, const Vec& a, double h) {
  const long before = derivatives_.evaluations();
  const Eval result = derivatives_.evaluate(t, y, v, a, h);
  counts_.evaluations += derivatives_.evaluations() - before;
  ++counts_.linearisations;
  factored_h_ = 0;
  return result == Eval::ok ? Verdict::ok : Verdict::evaluation_rejected;
}

Verdict StructuralMethod::factor(double h, double cy, double cv) {
  const double weight = 1 - options_.parameters.alpha_f;
  matrix_ = (-weight * cv) * derivatives_.J2 - (weight * cy) * derivatives_.J1;
  matrix_.diagonal().array() += 1 - options_.parameters.alpha_m;
  if (options_.positions_as_unknowns) matrix_ /= cy;
  if (!std::isfinite(matrix_.sum())) return Verdict::not_finite;
  lu_.compute(matrix_);
  ++counts_.factorisations;
  factored_h_ = h;
  if (n_ > 0 && !(lu_.matrixLU().diagonal().cwiseAbs().minCoeff() > 0)) return Verdict::singular_matrix;
  if (!options_.common.fixed_step) {
    filter_ = (-0.5 * h) * derivatives_.J2 - (0.25 * h * h) * derivatives_.J1;
    filter_.diagonal().array() += 1;
    filter_lu_.compute(filter_);
    ++counts_.factorisations;
    if (n_ > 0 && !(filter_lu_.matrixLU().diagonal().cwiseAbs().minCoeff() > 0)) return Verdict::singular_matrix;
  }
  return Verdict::ok;
}

Verdict StructuralMethod::solve(double h) {
  using Balance = StructuralParameters::Balance;
  const StructuralParameters& p = options_.parameters;
  const double H = p.theta * h, cy = p.beta * H * H, cv = p.gamma * H, tolerance = options_.common.tolerance;
  base_y_ = q_ + H * v_;
  base_v_ = v_;
  if (p.balance != Balance::midpoint) {
    base_y_ += (H * H * (0.5 - p.beta)) * start_a_;
    base_v_ += (H * (1 - p.gamma)) * start_a_;
  }
  if (options_.predict_with_acceleration) {
    x_ = start_a_;
  } else {
    x_ = (q_ - base_y_) / cy;
  }
  newton_.begin();
  secant_.begin();
  for (SimplifiedNewton::Decision next = SimplifiedNewton::Decision::go_on;
       next == SimplifiedNewton::Decision::go_on;) {
    Y_ = base_y_ + cy * x_;
    V_ = base_v_ + cv * x_;
    Verdict verdict = accelerate(t_ + H, Y_, V_, F_);
    if (verdict == Verdict::ok && options_.full_newton) {
      verdict = linearise(t_ + H, Y_, V_, F_, h);
      J_current_ = true;
    }
    if (verdict == Verdict::ok && factored_h_ != h) verdict = factor(h, cy, cv);
    if (verdict != Verdict::ok) return verdict;
    right_ = (1 - p.alpha_f) * F_ + p.alpha_f * f_ - (1 - p.alpha_m) * x_ - p.alpha_m * start_a_;
    correction_ = lu_.solve(right_);
    ++counts_.solves;
    if (options_.common.secant && !options_.full_newton) secant_.improve(correction_);
    // Corrections as positions (and velocities), by tolerance.
    double sum = 0;
    if (options_.positions_as_unknowns) {
      x_ += correction_ / cy;
      for (int i = 0; i < n_; ++i) sum += std::pow(correction_[i] / scales_[i], 2);
      sum /= n_;
    } else {
      x_ += correction_;
      for (int i = 0; i < n_; ++i)
        sum += std::pow(cy * correction_[i] / scales_[i], 2) + std::pow(cv * correction_[i] / scales_[n_ + i], 2);
      sum /= 2 * n_;
    }
    next = newton_.next(std::sqrt(sum) / tolerance, noise_);
    if (next == SimplifiedNewton::Decision::diverged) return Verdict::newton_diverged;
  }
  switch (p.balance) {
    case Balance::weighted:
      Y_ = base_y_ + cy * x_;
      V_ = base_v_ + cv * x_;
      trial_a_ = x_;
      break;
    case Balance::collocation:
      trial_a_ = start_a_ + (x_ - start_a_) / p.theta;
      Y_ = q_ + h * v_ + (h * h) * ((0.5 - p.beta) * start_a_ + p.beta * trial_a_);
      V_ = v_ + h * ((1 - p.gamma) * start_a_ + p.gamma * trial_a_);
      break;
    case Balance::midpoint:
      Y_ = q_ + h * v_ + (0.5 * h * h) * x_;
      V_ = v_ + h * x_;
      trial_a_ = x_;
      break;
  }
  trial_ << Y_, V_;
  return Verdict::ok;
}

Attempt StructuralMethod::attempt(double h) {
  Attempt result;
  trial_h_ = h;
  end_known_ = false;
  // a is f of another time, a fixed part of a step away from t: after a change of the step size that distance belongs
  // to the new one. Left as it was, it would disturb velocities by (1 - gamma) (a - f) times the change, of the size of
  // the error allowed (Jay, Negrut 2007).
  const bool shifted = options_.parameters.balance == StructuralParameters::Balance::weighted && a_h_ > 0;
  start_a_ = f_ + (shifted ? h / a_h_ : 1) * (a_ - f_);
  problem_.error_scales(y_, y_, scales_);
  int worst = 0;
  noise_ = 10 * std::numeric_limits<double>::epsilon() * error_norm(y_, scales_, options_.common.tolerance, worst);
  for (int pass = 0;; ++pass) {
    if (!J_valid_ && !options_.full_newton) {
      result.verdict = linearise(t_, q_, v_, f_, h);
      J_valid_ = J_current_ = result.verdict == Verdict::ok;
      newton_.forget();
      if (!J_valid_) return result;
    }
    result.verdict = solve(h);
    result.newton_iterations += newton_.iterations();
    result.newton_rate = newton_.rate();
    counts_.newton_iterations += newton_.iterations();
    if (result.verdict == Verdict::ok) break;
    if (options_.full_newton || J_current_ || pass > 0) return result;
    J_valid_ = false;
  }
  result.verdict = accelerate(t_ + h, Y_, V_, F_);
  if (result.verdict != Verdict::ok) return result;
  trial_rates_ << V_, F_;
  end_known_ = true;
  if (!options_.common.fixed_step) {
    problem_.error_scales(y_, trial_, scales_);
    result.error = estimate(h, result);
    if (result.verdict == Verdict::ok && !std::isfinite(result.error)) result.verdict = Verdict::not_finite;
  }
  return result;
}

double StructuralMethod::estimate(double h, Attempt& result) {
  hermite(0.5, h, y_, dydt_, trial_, trial_rates_, middle_);
  base_y_ = middle_.head(n_);
  base_v_ = middle_.tail(n_);
  result.verdict = accelerate(t_ + 0.5 * h, base_y_, base_v_, right_);
  if (result.verdict != Verdict::ok) return 0;
  slope_ << base_v_, right_;
  error_ = y_ - trial_ + (h / 6) * (dydt_ + 4 * slope_ + trial_rates_);
  // (I - h/2 J)^-1 on (y, v): E_v solves (...) E_v = e_v + h/2 J1 e_y, E_y = e_y + h/2 E_v.
  base_y_ = error_.head(n_);
  right_ = error_.tail(n_);
  right_.noalias() += (0.5 * h) * (derivatives_.J1 * base_y_);
  e_v_ = filter_lu_.solve(right_);
  ++counts_.solves;
  error_.head(n_) += (0.5 * h) * e_v_;
  error_.tail(n_) = e_v_;
  return error_norm(error_, scales_, options_.common.tolerance, result.worst_velocity);
}

void StructuralMethod::accept() {
  previous_.swap(y_);
  previous_rates_.swap(dydt_);
  y_ = trial_;
  dydt_ = trial_rates_;
  q_ = y_.head(n_);
  v_ = y_.tail(n_);
  f_ = dydt_.tail(n_);
  a_ = options_.parameters.balance == StructuralParameters::Balance::midpoint ? f_ : trial_a_;
  t_ += trial_h_;
  last_step_ = a_h_ = trial_h_;
  J_current_ = false;
  J_valid_ = J_valid_ && newton_.good_rate();
  ++counts_.steps;
}

// Cubic in (y, v) each; a quintic in y alone would divide the errors of y by h in its velocities.
void StructuralMethod::interpolate(double t, Vec& state) const {
  const double theta = last_step_ != 0 ? 1 + (t - t_) / last_step_ : 1;
  state.resize(2 * n_);
  if (theta == 1) {
    state = y_;
  } else {
    hermite(theta, last_step_, previous_, previous_rates_, y_, dydt_, state);
  }
}

// The method's own acceleration keeps its distance from f: setting it to f would cost the second order.
void StructuralMethod::rebase(std::span<const Point> past) {
  a_ -= f_;
  y_ = trial_ = previous_ = past.front().y;
  dydt_ = previous_rates_ = past.front().dydt;
  q_ = y_.head(n_);
  v_ = y_.tail(n_);
  f_ = dydt_.tail(n_);
  a_ += f_;
  last_step_ = 0;
  J_current_ = false;
}

void StructuralMethod::visit(Archive& archive) {
  archive(t_, last_step_, a_h_, factored_h_, y_, dydt_, previous_, previous_rates_, a_, derivatives_.J1,
          derivatives_.J2, matrix_, filter_, J_valid_, J_current_, newton_, counts_);
  archive.expect(y_.size() == 2 * n_ && a_.size() == n_ && matrix_.rows() == n_ && filter_.rows() == n_);
  if (!archive.reading()) return;
  lu_.compute(matrix_);
  filter_lu_.compute(filter_);
  trial_ = y_;
  q_ = y_.head(n_);
  v_ = y_.tail(n_);
  f_ = dydt_.tail(n_);
}

}  // namespace trammel
