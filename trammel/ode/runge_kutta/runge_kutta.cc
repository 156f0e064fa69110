#include "trammel/ode/runge_kutta/runge_kutta.h"

#include <algorithm>

namespace trammel {
namespace {

// Estimates of two orders are combined as e^2 / sqrt(e^2 + 0.01 other^2).
int error_order_of(const ButcherTableau& t) {
  if (t.b_hat.size() == 0) return t.order + 1;
  const int own = std::min(t.order, t.embedded_order) + 1;
  return t.b_other.size() == 0 ? own : 2 * own - std::min(t.order, t.other_order) - 1;
}

constexpr double same_node = 1e-9;  // nodes are sums of rounded coefficients

}  // namespace

RungeKutta::RungeKutta(FirstOrderProblem& problem, const ButcherTableau& tableau, const RungeKuttaOptions& options)
    : OneStepMethod(problem, options.tolerance, options.fixed_step, tableau.b_hat.size() == 0),
      tableau_(tableau),
      options_(options) {
  if (!tableau.is_explicit()) {
    throw Failure({Severity::error,
                   "bad-tableau",
                   "tableau '" + tableau.key + "' is implicit: A has entries on or above its diagonal",
                   "explicit Runge-Kutta methods have none",
                   {}});
  }
  order_ = tableau_.order;
  end_ = tableau_.last_stage();
  // An end slope outside of the step's own stages is still one evaluation at the end.
  if (end_ >= tableau_.step_stages) end_ = -1;
  error_order_ = error_order_of(tableau_);
  K_.setZero(problem.size(), tableau_.stages());
  last_K_ = K_;
  for (Vec* v : {&stage_y_, &stage_f_}) v->setZero(problem.size());
  if (tableau_.b_hat.size() > 0) difference_ = tableau_.b - tableau_.b_hat;
  if (tableau_.b_other.size() > 0) difference_other_ = tableau_.b - tableau_.b_other;
  for (int i = 1; i < tableau_.step_stages; ++i) {
    if (i != end_ && tableau_.c[i] > tableau_.c[last_] - same_node) last_ = i;
  }
  last_y_.setZero(problem.size());
  beyond_.setZero(tableau_.step_stages);
  // Lagrange's polynomial through the last stage of each node.
  std::vector<int> nodes;
  for (int i = tableau_.step_stages - 1; i >= 0; --i) {
    const auto is_here = [&](int j) { return std::abs(tableau_.c[j] - tableau_.c[i]) < same_node; };
    if (std::none_of(nodes.begin(), nodes.end(), is_here)) nodes.push_back(i);
  }
  for (const int i : nodes) {
    beyond_[i] = 1;
    for (const int j : nodes) {
      if (j != i) beyond_[i] *= (1 - tableau_.c[j]) / (tableau_.c[i] - tableau_.c[j]);
    }
  }
  if (order_ > 3 && !options_.ode45)
    refine_interpolation(tableau_.dense.size() > 0 && tableau_.dense_order > 4 ? 7 : 4);
}

Verdict RungeKutta::stage(int i, double t, const Vec& y, double h, Mat& K) const {
  stage_y_ = y;
  for (int j = 0; j < i; ++j) {
    const double a = tableau_.A(i, j);
    if (a != 0) stage_y_ += (h * a) * K.col(j);
  }
  const Verdict verdict = evaluate(problem_, t + tableau_.c[i] * h, stage_y_, stage_f_, counts_);
  K.col(i) = stage_f_;
  return verdict;
}

Verdict RungeKutta::advance(double t, const Vec& y, const Vec& f, double h, Vec& y_new) {
  K_.col(0) = f;
  for (int i = 1; i < tableau_.step_stages; ++i) {
    const Verdict verdict = stage(i, t, y, h, K_);
    if (verdict != Verdict::ok) return verdict;
    if (i == last_) last_y_ = stage_y_;
  }
  y_new = y;
  for (int i = 0; i < tableau_.step_stages; ++i) {
    if (tableau_.b[i] != 0) y_new += (h * tableau_.b[i]) * K_.col(i);
  }
  return y_new.allFinite() ? Verdict::ok : Verdict::not_finite;
}

double RungeKutta::estimate(double h, int& worst) {
  if (difference_.size() == 0) return 0;
  if (options_.ode45) scales_ = y_.cwiseAbs().cwiseMax(new_y_.cwiseAbs()).cwiseMax(1.0);  // AbsTol = RelTol, SI units
  const auto size_of = [&](const Vec& weights) {
    work_.setZero();
    for (int i = 0; i < tableau_.step_stages; ++i) {
      if (weights[i] != 0) work_ += (h * weights[i]) * K_.col(i);
    }
    return error_norm(work_, scales_, tolerance_, worst, options_.norm);
  };
  if (difference_other_.size() == 0) return size_of(difference_);
  const double other = size_of(difference_other_), own = size_of(difference_);
  return own == 0 ? 0 : own * own / std::sqrt(own * own + 0.01 * other * other);
}

// Behind a last node before the end a force may have acted for the rest of the step. If the last stage is at the end
// but has other values, the force has acted since the motion passed from the ones to the others; of a smooth f that is
// a quantity of second order in their distance. A twentieth of it counts: in fehlberg-45, whose last stage is far from
// the end, all of it nearly doubles the evaluations on smooth models (slider-crank, 1e-6: 1211 to 2219). A stage that
// is the end itself has its share in the estimate.
double RungeKutta::unseen(double h, const Vec& f_end, int& worst) {
  if (end_ >= 0) return 0;
  double time = 0;
  if (tableau_.c[last_] > 1 - same_node) {
    work_ = new_y_ - (doubling_ ? new_middle_y_ : y_);
    const double moved = error_norm(work_, scales_, tolerance_, worst);
    work_ = new_y_ - last_y_;
    const double apart = error_norm(work_, scales_, tolerance_, worst);
    time = moved > 0 ? 0.05 * std::min(1.0, apart / moved) * h : 0;
    work_ = f_end - K_.col(last_);
  } else {
    time = 0.5 * (1 - tableau_.c[last_]) * h;
    work_ = f_end;
    for (int i = 0; i < tableau_.step_stages; ++i) {
      if (beyond_[i] != 0) work_ -= beyond_[i] * K_.col(i);
    }
  }
  work_ *= time;
  return error_norm(work_, scales_, tolerance_, worst, options_.norm);
}

double RungeKutta::next_step(double h, double error) {
  if (!options_.ode45) return 0;
  const double power = std::pow(error, 1.0 / error_order_);
  if (error > 1) return failures_++ == 0 ? h * std::max(0.1, 0.8 / power) : 0.5 * h;
  if (failures_ > 0) return h;
  return 1.25 * power > 0.2 ? h / (1.25 * power) : 5 * h;
}

// Where stability limits the step, h |lambda| of stiff parts is several, and no polynomial follows them. It is seen in
// two evaluations at the end of the step, at different values (Hairer, Wanner II, IV.2).
void RungeKutta::accepted() {
  last_K_.swap(K_);
  extended_ = false;
  failures_ = 0;
  interpolation_holds_ = false;
  if (tableau_.dense.size() == 0 || tableau_.c[last_] < 1 - same_node) return;
  constexpr double resolved = 1.5;
  const double h = doubling_ ? 0.5 * last_step_ : last_step_;
  int unused = 0;
  work_ = y_ - last_y_;
  const double apart = error_norm(work_, scales_, tolerance_, unused);
  work_ = h * (dydt_ - last_K_.col(last_));
  interpolation_holds_ = error_norm(work_, scales_, tolerance_, unused) <= resolved * apart;
}

bool RungeKutta::interpolate_own(double theta, Vec& y) const {
  if (tableau_.dense.size() == 0) return false;
  if (!extended_) {
    const double from = t_ - last_step_;
    for (int i = tableau_.step_stages; i < tableau_.stages(); ++i) {
      if (i == tableau_.last_stage())
        last_K_.col(i) = dydt_;
      else if (stage(i, from, previous_y_, last_step_, last_K_) != Verdict::ok)
        return false;
    }
    extended_ = true;
  }
  y = previous_y_;
  for (int i = 0; i < tableau_.stages(); ++i) {
    double weight = 0;
    for (Eigen::Index j = tableau_.dense.cols(); j-- > 0;) weight = (weight + tableau_.dense(i, j)) * theta;
    if (weight != 0) y += (last_step_ * weight) * last_K_.col(i);
  }
  return true;
}

void RungeKutta::visit(Archive& archive) {
  OneStepMethod::visit(archive);
  const Eigen::Index rows = last_K_.rows(), columns = last_K_.cols();
  archive(last_K_, extended_, failures_, interpolation_holds_);
  archive.expect(last_K_.rows() == rows && last_K_.cols() == columns);
}

OdeMethodInfo runge_kutta_info(const ButcherTableau& tableau) {
  OdeMethodInfo m;
  m.key = tableau.key;
  m.order = tableau.order;
  m.error_order = error_order_of(tableau);
  m.dense_order = std::min(m.order, tableau.dense.size() > 0 ? tableau.dense_order + 1 : 4);
  m.evaluations =
      tableau.step_stages - (tableau.last_stage() >= 0 && tableau.last_stage() < tableau.step_stages ? 1 : 0);
  m.make_first_order = [&tableau](FirstOrderProblem& problem, const OdeSettings& s) {
    RungeKuttaOptions options;
    options.fixed_step = s.fixed_step;
    options.tolerance = s.tolerance;
    return std::make_unique<RungeKutta>(problem, tableau, options);
  };
  return m;
}

}  // namespace trammel
