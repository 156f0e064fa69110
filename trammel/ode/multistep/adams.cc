#include "trammel/ode/multistep/adams.h"

#include <algorithm>

#include "trammel/base/archive.h"
#include "trammel/ode/methods.h"

namespace trammel {
namespace {

// |gamma*_i| of the Adams-Moulton formulas in backward differences: 1, 1/2, 1/12, 1/24, 19/720, ...
const std::array<double, AdamsMethod::columns + 1>& moulton_constants() {
  static const auto table = [] {
    std::array<double, AdamsMethod::columns + 1> signed_ones{}, out{};
    for (std::size_t m = 0; m < signed_ones.size(); ++m) {
      signed_ones[m] = m == 0 ? 1 : 0;
      for (std::size_t j = 0; j < m; ++j) signed_ones[m] -= signed_ones[j] / static_cast<double>(m + 1 - j);
      out[m] = std::abs(signed_ones[m]);
    }
    return out;
  }();
  return table;
}

std::size_t nth(int i) { return static_cast<std::size_t>(i); }

}  // namespace

AdamsMethod::AdamsMethod(FirstOrderProblem& problem, const AdamsOptions& options)
    : problem_(problem), options_(options), n_(problem.size()) {
  options_.most_order = std::clamp(options_.most_order, 1, top);
  for (Vec* v : {&y_, &dydt_, &previous_y_, &predicted_, &new_y_, &new_dydt_, &f_predicted_, &e_, &work_, &jump_})
    v->setZero(n_);
  scales_.setOnes(n_);
  differences_.setZero(n_, columns);
  new_differences_.setZero(n_, columns);
}

void AdamsMethod::start(double t, const Vec& y) {
  t_ = t;
  y_ = y;
  last_step_ = 0;
  restart();
}

void AdamsMethod::restart() {
  if (evaluate(problem_, t_, y_, dydt_, counts_) != Verdict::ok) dydt_.setConstant(std::nan(""));
  forget();
}

// Only f_n is known.
void AdamsMethod::forget() {
  differences_.setZero();
  differences_.col(0) = dydt_;
  psi_.fill(0);
  points_ = k_ = last_k_ = tried_ = 1;
  same_steps_ = failures_ = 0;
  ramp_ = true;
  stiff_ = calm_ = 0;
  previous_y_ = y_;
  jump_known_ = false;
}

void AdamsMethod::coefficients(double h) {
  const int k = tried_;
  new_psi_[1] = h;
  for (int i = 2; i <= columns; ++i) new_psi_[nth(i)] = h + psi_[nth(i - 1)];
  beta_[1] = sigma_[1] = 1;
  for (int i = 2; i <= k + 1; ++i) {
    beta_[nth(i)] = i <= points_ ? beta_[nth(i - 1)] * new_psi_[nth(i - 1)] / psi_[nth(i - 1)] : 0;
    sigma_[nth(i)] = (i - 1) * h / new_psi_[nth(i - 1)] * sigma_[nth(i - 1)];
  }
  std::array<double, columns + 2> c{};
  for (int q = 1; q <= k + 1; ++q) c[nth(q)] = 1.0 / (q * (q + 1.0));
  g_[1] = 1;
  g_[2] = c[1];
  for (int i = 3; i <= k + 1; ++i) {
    const double alpha = h / new_psi_[nth(i - 1)];
    for (int q = 1; q <= k + 2 - i; ++q) c[nth(q)] -= alpha * c[nth(q + 1)];
    g_[nth(i)] = c[1];
  }
}

Attempt AdamsMethod::attempt(double h) {
  Attempt result;
  h_ = h;
  tried_ = k_;
  completed_ = false;
  const int k = tried_;
  coefficients(h);

  // new_differences_ holds sums of phi* until the step is completed; its column k the predicted phi_{k+1}.
  predicted_.setZero();
  work_.setZero();
  for (int i = k; i >= 1; --i) {
    const double beta = beta_[nth(i)];
    const auto phi = differences_.col(i - 1);
    predicted_ += g_[nth(i)] * beta * phi;
    work_ += beta * phi;
    new_differences_.col(i - 1) = work_;
  }
  new_differences_.col(k) = beta_[nth(k + 1)] * differences_.col(k);
  predicted_ = y_ + h * predicted_;
  result.verdict = evaluate(problem_, t_ + h, predicted_, f_predicted_, counts_);
  if (result.verdict != Verdict::ok) {
    new_y_ = predicted_;
    result.suggested_h = after_failure(false);
    return result;
  }
  e_ = f_predicted_ - new_differences_.col(0);
  new_y_ = predicted_ + h * g_[nth(k + 1)] * e_;
  problem_.error_scales(y_, new_y_, scales_);

  const double size = std::abs(h), e = error_norm(e_, scales_, options_.tolerance, result.worst_velocity);
  const auto& constants = moulton_constants();
  int unused = 0;
  result.error = size * (g_[nth(k)] - g_[nth(k + 1)]) * e;
  error_k_ = size * sigma_[nth(k + 1)] * constants[nth(k)] * e;
  error_km1_ = error_km2_ = 0;
  if (k > 1) {
    work_ = new_differences_.col(k - 1) + e_;
    error_km1_ = size * sigma_[nth(k)] * constants[nth(k - 1)] * error_norm(work_, scales_, options_.tolerance, unused);
  }
  if (k > 2) {
    work_ = new_differences_.col(k - 2) + e_;
    error_km2_ =
        size * sigma_[nth(k - 1)] * constants[nth(k - 2)] * error_norm(work_, scales_, options_.tolerance, unused);
  }
  if (!std::isfinite(result.error)) {
    result.verdict = Verdict::not_finite;
    result.suggested_h = after_failure(false);
    return result;
  }
  if (result.error > 1 && !options_.fixed_step) {
    result.suggested_h = after_failure(true);
    return result;
  }
  result.verdict = complete();
  if (result.verdict != Verdict::ok) {
    result.suggested_h = after_failure(false);
    return result;
  }
  const double next = choose_next();
  if (!options_.fixed_step) result.suggested_h = next;
  return result;
}

// The last evaluation of PECE and the differences at the end of the step.
Verdict AdamsMethod::complete() {
  const int k = tried_;
  const Verdict verdict = evaluate(problem_, t_ + h_, new_y_, new_dydt_, counts_);
  if (verdict != Verdict::ok) return verdict;
  work_ = new_dydt_ - new_differences_.col(0);  // phi_{k+1}
  new_differences_.col(k + 1) = work_ - new_differences_.col(k);
  new_differences_.col(k) = work_;
  for (int i = 0; i < k; ++i) new_differences_.col(i) += work_;
  completed_ = true;

  // h |f_y| as this step saw it
  int unused = 0;
  work_ = new_dydt_ - f_predicted_;
  const double change = error_norm(work_, scales_, 1, unused);
  work_ = new_y_ - predicted_;
  const double moved = error_norm(work_, scales_, 1, unused);
  stretch_ = moved > 1e-13 ? std::abs(h_) * change / moved : 0;
  next_k_ = k;
  next_ramp_ = false;
  return verdict;
}

// Order and step after a good one, by Shampine and Gordon: a lower order if its error is not larger, a higher one only
// after k+1 steps of one size.
double AdamsMethod::choose_next() {
  const int k = tried_;
  const bool lower_is_better =
      k > 2 ? std::max(error_km1_, error_km2_) <= error_k_ : (k == 2 && error_km1_ <= 0.5 * error_k_);
  next_ramp_ = ramp_ && !lower_is_better && k < options_.most_order;
  double error = error_k_;
  if (next_ramp_) {
    next_k_ = k + 1;
    return 2 * h_;
  }
  next_k_ = k;
  if (lower_is_better) {
    next_k_ = k - 1;
    error = error_km1_;
  } else if ((h_ == last_step_ ? same_steps_ + 1 : 1) >= k + 1 && k < columns - 1) {
    int unused = 0;
    work_ = new_differences_.col(k + 1);
    const double error_kp1 =
        std::abs(h_) * moulton_constants()[nth(k + 1)] * error_norm(work_, scales_, options_.tolerance, unused);
    if (k > 1 && error_km1_ <= std::min(error_k_, error_kp1)) {
      next_k_ = k - 1;
      error = error_km1_;
    } else if (k < options_.most_order && error_kp1 < (k > 1 ? 1.0 : 0.5) * error_k_) {
      next_k_ = k + 1;
      error = error_kp1;
    }
  }
  if (error * std::ldexp(1.0, next_k_ + 1) <= 0.5) return 2 * h_;
  if (error <= 0.5) return h_;
  return h_ * std::clamp(std::pow(0.5 / error, 1.0 / (next_k_ + 1)), 0.5, 0.9);
}

// Half the step; order 1 from the third time on, and then what the error asks for.
double AdamsMethod::after_failure(bool by_error) {
  const int k = tried_;
  ramp_ = false;
  ++failures_;
  if (by_error && (k > 2 ? std::max(error_km1_, error_km2_) <= error_k_ : (k == 2 && error_km1_ <= 0.5 * error_k_)))
    k_ = k - 1;
  if (failures_ >= 3) k_ = 1;
  const bool far = by_error && failures_ > 3 && error_k_ > 2;
  return h_ * (far ? std::clamp(std::sqrt(0.5 / error_k_), 0.01, 0.5) : 0.5);
}

// PECE of orders 2 to 5 leaves its region of stability on the negative real axis at h |lambda| = 2.4 to 1.0. Steps
// that accuracy limits have h |f_y| well below; those that stability limits hover at it, with low orders.
void AdamsMethod::watch_stiffness() {
  if (tried_ <= 5 && stretch_ > 0.6) {
    ++stiff_;
    calm_ = 0;
    if (stiff_ >= stiff_after) stiff_total_ += stiff_ == stiff_after ? stiff_after : 1;
  } else if (++calm_ >= 10) {
    stiff_ = 0;
  }
}

void AdamsMethod::accept() {
  if (!completed_ && complete() != Verdict::ok) {
    new_dydt_ = f_predicted_;  // a step that was refused is taken all the same: start afresh from it
    new_differences_.setZero();
    new_differences_.col(0) = new_dydt_;
    points_ = 0;
    next_k_ = 1;
    next_ramp_ = true;
  }
  ++counts_.steps;
  ++by_order_[nth(tried_)];
  watch_stiffness();
  same_steps_ = h_ == last_step_ ? same_steps_ + 1 : 1;
  points_ = std::min(points_ + 1, columns);
  psi_ = new_psi_;
  t_ += h_;
  last_step_ = h_;
  previous_y_.swap(y_);
  y_.swap(new_y_);
  dydt_.swap(new_dydt_);
  differences_.swap(new_differences_);
  last_k_ = tried_;
  k_ = next_k_;
  ramp_ = next_ramp_;
  failures_ = 0;
  jump_known_ = false;
}

// The polynomial of degree k+1 through f_n, ..., f_{n-k}, integrated from y_n.
void AdamsMethod::polynomial(double t, Vec& y) const {
  const int terms = last_k_ + 1;
  const double h = t - t_;
  std::array<double, columns + 2> w{};
  for (int i = 1; i <= terms; ++i) w[nth(i)] = 1.0 / i;
  y = y_ + h * differences_.col(0);
  double before = 0;
  for (int j = 2; j <= terms; ++j) {
    const double psi = psi_[nth(j - 1)], gamma = (h + before) / psi, eta = h / psi;
    for (int i = 1; i <= terms + 1 - j; ++i) w[nth(i)] = gamma * w[nth(i)] - eta * w[nth(i + 1)];
    y += h * w[1] * differences_.col(j - 1);
    before = psi;
  }
}

// It ends at y_n exactly and misses y_{n-1} by a part of the local error, which a parabola makes good.
void AdamsMethod::interpolate(double t, Vec& y) const {
  if (last_step_ == 0 || t == t_) {
    y = y_ + (t - t_) * dydt_;
    return;
  }
  if (!jump_known_) {
    polynomial(t_ - last_step_, jump_);
    jump_ = previous_y_ - jump_;
    jump_known_ = true;
  }
  polynomial(t, y);
  const double s = (t_ - t) / last_step_;
  y += s * s * jump_;
}

void AdamsMethod::rebase(std::span<const Point> past) {
  t_ = past[0].t;
  y_ = past[0].y;
  dydt_ = past[0].dydt;
  points_ = std::min(static_cast<int>(past.size()), columns);
  psi_.fill(0);
  for (int i = 1; i < points_; ++i) psi_[nth(i)] = t_ - past[nth(i)].t;
  // phi_i from differences of neighbours: divided differences in place, the newest in the first column
  differences_.setZero();
  for (int i = 0; i < points_; ++i) differences_.col(i) = past[nth(i)].dydt;
  for (int level = 1; level < points_; ++level) {
    for (int i = points_ - 1; i >= level; --i) {
      const double span = past[nth(i - level)].t - past[nth(i)].t;
      differences_.col(i) = (differences_.col(i - 1) - differences_.col(i)) / span;
    }
  }
  double product = 1;
  for (int i = 1; i < points_; ++i) {
    product *= psi_[nth(i)];
    differences_.col(i) *= product;
  }
  k_ = std::min(k_, points_);
  last_k_ = std::min(last_k_, points_ - 1);
  previous_y_ = points_ > 1 ? past[1].y : y_;
  if (points_ == 1) last_step_ = 0;
  same_steps_ = std::min(same_steps_, points_ - 1);
  jump_known_ = false;
}

void AdamsMethod::visit(Archive& archive) {
  archive(t_, last_step_, y_, dydt_, previous_y_, differences_, psi_, points_, k_, last_k_, tried_, same_steps_,
          failures_, calm_, ramp_, stiff_, stiff_total_, by_order_, counts_);
  archive.expect(y_.size() == n_ && differences_.rows() == n_ && differences_.cols() == columns);
  if (archive.reading()) jump_known_ = false;
}

namespace methods {

OdeMethodInfo adams() {
  OdeMethodInfo m;
  m.key = "adams";
  m.title = "Adams-Bashforth-Moulton, variable order and step";
  m.source = "Shampine, Gordon: Computer Solution of Ordinary Differential Equations, 1975";
  m.order = AdamsMethod::top;
  m.error_order = AdamsMethod::top + 1;
  m.variable_order = m.steps_to_outputs = true;
  m.evaluations = 2;
  m.stability = "explicit; says so when stability limits its steps";
  m.is_explicit = true;
  m.options = {{"most_order", FieldKind::number, Quantity::none, static_cast<double>(AdamsMethod::top),
                "Highest order of the predictor. Lower it where the right side is not smooth.", 1, AdamsMethod::top}};
  m.make_first_order = [](FirstOrderProblem& problem, const OdeSettings& s) {
    AdamsOptions options;
    options.fixed_step = s.fixed_step;
    options.tolerance = s.tolerance;
    options.most_order = static_cast<int>(s.options.number("most_order"));
    return std::make_unique<AdamsMethod>(problem, options);
  };
  return m;
}

}  // namespace methods
}  // namespace trammel
