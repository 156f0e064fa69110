#include "trammel/ode/multistep/multistep.h"

#include <algorithm>

#include "trammel/math/hermite.h"

namespace trammel {
namespace {

std::size_t of(int i) { return static_cast<std::size_t>(i); }

}  // namespace

MultistepMethod::MultistepMethod(FirstOrderProblem& problem, const MultistepOptions& options)
    : problem_(problem),
      options_(options),
      n_(problem.size()),
      stiff_(options.mode == MultistepOptions::Corrector::newton),
      milne_(milne_factor(options.predictor, options.corrector)),
      source_(problem),
      solver_(problem.size(), problem.sparsity()),
      // the error test bounds how far the first correction reaches
      monitor_({.kappa = 0.01, .most_iterations = 10, .keep_rate = 0.1, .patient = false, .reach = 1e300}) {
  const bool explicit_only = options_.mode == MultistepOptions::Corrector::none;
  order_ = explicit_only ? options_.predictor.order() : options_.corrector.order();
  needed_ = std::max(options_.predictor.steps(), options_.corrector.steps());
  for (Vec* v : {&y_, &dydt_, &last_y_, &last_dydt_, &new_y_, &new_dydt_, &predicted_, &sum_, &f_, &work_})
    v->setZero(n_);
  scales_.setOnes(n_);
  past_y_.setZero(n_, needed_);
  past_f_.setZero(n_, needed_);
  K_.setZero(n_, ButcherTableau::dormand_prince_54().stages());
  if (stiff_) {
    table_.setZero(n_, order_ + 1);
    slopes_ = table_;
    slope_.setZero(n_);
  }
  if (!stiff_ && order_ > 3) refined_.emplace(4);
}

void MultistepMethod::start(double t, const Vec& y) {
  t_ = t;
  y_ = y;
  last_step_ = 0;
  restart();
}

void MultistepMethod::restart() {
  if (evaluate(problem_, t_, y_, dydt_, counts_) != Verdict::ok) dydt_.setConstant(std::nan(""));
  past_y_.col(0) = y_;
  past_f_.col(0) = dydt_;
  points_ = 1;
  regular_ = 0;
  have_matrix_ = false;
  monitor_.forget();
}

void MultistepMethod::past_sum(const MultistepFormula& formula, double h, Vec& y) const {
  y.setZero();
  for (int i = 1; i <= formula.steps(); ++i) {
    const double a = formula.alpha[of(i)], b = formula.beta[of(i)];
    if (a != 0) y -= (a / formula.alpha[0]) * past_y_.col(i - 1);
    if (b != 0) y -= (h * b / formula.alpha[0]) * past_f_.col(i - 1);
  }
}

Attempt MultistepMethod::attempt(double h) {
  Attempt result;
  h_ = h;
  const bool same = points_ > 1 && std::abs(h - last_step_) <= 1e-12 * std::abs(h);
  led_in_ = (same ? points_ : 1) < needed_;
  if (led_in_) {
    result.verdict = lead_in(h, result);
  } else {
    past_sum(options_.predictor, h, predicted_);
    problem_.error_scales(y_, predicted_, scales_);
    switch (options_.mode) {
      case MultistepOptions::Corrector::none: result.verdict = explicit_step(h); break;
      case MultistepOptions::Corrector::once:
      case MultistepOptions::Corrector::iterated: result.verdict = iterate(h, result); break;
      case MultistepOptions::Corrector::newton: result.verdict = newton(h, result); break;
    }
    if (result.verdict != Verdict::ok) return result;
    work_ = milne_ * (new_y_ - predicted_);
    // the corrected value stands in predicted_ there, and its share of the difference is the other one
    if (options_.mode == MultistepOptions::Corrector::none) work_ = (1 + milne_) * (predicted_ - new_y_);
    result.error = error_norm(work_, scales_, options_.tolerance, result.worst_velocity);
    if (!std::isfinite(result.error)) result.verdict = Verdict::not_finite;
  }
  if (options_.fixed_step || result.verdict != Verdict::ok) return result;
  // Changing the step costs a lead-in: halves, doubles, or stays.
  const double power = std::pow(std::max(result.error, 1e-300), 1.0 / (order_ + 1));
  if (result.error > 1)
    result.suggested_h = h * std::clamp(0.8 / power, 0.1, 0.5);
  else
    result.suggested_h = 2.5 * power < 1 && (regular_ > needed_ || led_in_) ? 2 * h : h;
  if (led_in_ && result.error <= 1 && points_ > 1 && same) result.suggested_h = h;  // finish the lead-in
  return result;
}

// The predictor is the solution; the corrector with f at its end only measures it.
Verdict MultistepMethod::explicit_step(double h) {
  new_y_ = predicted_;
  const Verdict verdict = evaluate(problem_, t_ + h, new_y_, new_dydt_, counts_);
  if (verdict != Verdict::ok) return verdict;
  past_sum(options_.corrector, h, predicted_);
  predicted_ -= (h * options_.corrector.beta[0] / options_.corrector.alpha[0]) * new_dydt_;
  return verdict;
}

Verdict MultistepMethod::iterate(double h, Attempt& result) {
  past_sum(options_.corrector, h, sum_);
  const double weight = h * options_.corrector.beta[0] / options_.corrector.alpha[0];
  new_y_ = predicted_;
  const bool once = options_.mode == MultistepOptions::Corrector::once;
  double before = 0;
  for (int k = 1; k <= 60; ++k) {
    Verdict verdict = evaluate(problem_, t_ + h, new_y_, new_dydt_, counts_);
    if (verdict != Verdict::ok) return verdict;
    work_ = sum_ - weight * new_dydt_;
    work_.swap(new_y_);
    work_ = new_y_ - work_;
    const double change = size_of(work_);
    result.newton_iterations = k;
    ++counts_.newton_iterations;
    result.newton_rate = k > 1 && before > 0 ? change / before : 0;
    if (once || change <= std::max(0.01, noise())) return evaluate(problem_, t_ + h, new_y_, new_dydt_, counts_);
    if (!std::isfinite(change) || (k > 3 && change > 2 * before)) return Verdict::newton_diverged;
    before = change;
  }
  return Verdict::newton_diverged;
}

double MultistepMethod::noise() const { return 1e-15 / options_.tolerance; }

double MultistepMethod::size_of(const Vec& v) const {
  int unused = 0;
  return error_norm(v, scales_, options_.tolerance, unused);
}

bool MultistepMethod::factor(double c) {
  ++counts_.factorisations;
  matrix_c_ = c;
  monitor_.forget();
  return have_matrix_ = solver_.factor(c, source_.J());
}

Verdict MultistepMethod::newton(double h, Attempt& result) {
  const MultistepFormula& formula = options_.corrector;
  past_sum(formula, h, sum_);
  const double c = -formula.alpha[0] / (h * formula.beta[0]);
  for (int tries = 0; tries < 2; ++tries) {
    const bool fresh = !have_matrix_ || tries > 0;
    if (fresh) {
      ++counts_.linearisations;
      Verdict verdict = evaluate(problem_, t_ + h, predicted_, f_, counts_);
      if (verdict != Verdict::ok) return verdict;
      const long before = source_.evaluations();
      const Eval done = source_.evaluate(t_ + h, predicted_, f_, h, false);
      counts_.evaluations += source_.evaluations() - before;
      if (done == Eval::rejected) return Verdict::evaluation_rejected;
    }
    if ((fresh || c != matrix_c_) && !factor(c)) return Verdict::singular_matrix;
    new_y_ = predicted_;
    monitor_.begin();
    SimplifiedNewton::Decision decision = SimplifiedNewton::Decision::go_on;
    while (decision == SimplifiedNewton::Decision::go_on) {
      const Verdict verdict = evaluate(problem_, t_ + h, new_y_, f_, counts_);
      if (verdict != Verdict::ok) return verdict;
      // -(c y - f - c sum): sum_ already is -r/alpha_0
      f_ += c * (sum_ - new_y_);
      solver_.solve(f_, work_);
      ++counts_.solves;
      ++counts_.newton_iterations;
      new_y_ += work_;
      decision = monitor_.next(size_of(work_), 10 * noise());
    }
    result.newton_iterations = monitor_.iterations();
    result.newton_rate = monitor_.rate();
    if (decision == SimplifiedNewton::Decision::converged) {
      new_dydt_ = c * (new_y_ - sum_);  // f there, without the amplification of what Newton leaves
      if (!monitor_.good_rate()) have_matrix_ = false;
      return Verdict::ok;
    }
    if (fresh) break;
  }
  have_matrix_ = false;
  return Verdict::newton_diverged;
}

// One step of Dormand-Prince with its own estimate.
Verdict MultistepMethod::lead_in(double h, Attempt& result) {
  if (stiff_) {
    const Verdict verdict = lead_in_stiff(h);
    if (verdict == Verdict::ok) {
      work_ = table_.col(order_ - 1) - table_.col(order_);
      problem_.error_scales(y_, new_y_, scales_);
      result.error = error_norm(work_, scales_, options_.tolerance, result.worst_velocity);
      if (!options_.fixed_step && result.error <= 1) check_end(result);
    }
    return verdict;
  }
  const ButcherTableau& t = ButcherTableau::dormand_prince_54();
  K_.col(0) = dydt_;
  for (int i = 1; i < t.step_stages; ++i) {
    new_y_ = y_;
    for (int j = 0; j < i; ++j) {
      if (t.A(i, j) != 0) new_y_ += (h * t.A(i, j)) * K_.col(j);
    }
    const Verdict verdict = evaluate(problem_, t_ + t.c[i] * h, new_y_, f_, counts_);
    if (verdict != Verdict::ok) return verdict;
    K_.col(i) = f_;
  }
  new_dydt_ = f_;  // the last stage is the end
  work_.setZero();
  for (int i = 0; i < t.step_stages; ++i) work_ += (h * (t.b[i] - t.b_hat[i])) * K_.col(i);
  problem_.error_scales(y_, new_y_, scales_);
  result.error = error_norm(work_, scales_, options_.tolerance, result.worst_velocity);
  return Verdict::ok;
}

// (I - h/j J) d = h/j f(t_i, y_i), j = 1, 2, ..., extrapolated by Aitken and Neville; column 0 of the table last.
Verdict MultistepMethod::lead_in_stiff(double h) {
  ++counts_.linearisations;
  const long before = source_.evaluations();
  const Eval done = source_.evaluate(t_, y_, dydt_, h, false);
  counts_.evaluations += source_.evaluations() - before;
  if (done == Eval::rejected) return Verdict::evaluation_rejected;
  have_matrix_ = false;  // the derivatives are of another point than the formula's
  for (int j = 1; j <= order_ + 1; ++j) {
    if (!factor(j / h)) return Verdict::singular_matrix;
    have_matrix_ = false;
    new_y_ = y_;
    for (int i = 1; i <= j; ++i) {
      const Verdict verdict = evaluate(problem_, t_ + i * h / j, new_y_, f_, counts_);
      if (verdict != Verdict::ok) return verdict;
      solver_.solve(f_, work_);
      new_y_ += work_;
    }
    // row j of the table, in place: column k holds T_{j,k+1}
    const auto extrapolate = [&](Mat& table) {
      for (int k = 1; k < j; ++k) {
        work_ = table.col(k - 1);
        table.col(k - 1) = sum_;
        sum_ += (sum_ - work_) / (static_cast<double>(j) / (j - k) - 1);
      }
      table.col(j - 1) = sum_;
    };
    sum_ = (j / h) * work_;
    extrapolate(slopes_);
    slope_ = sum_;
    sum_ = new_y_;
    extrapolate(table_);
  }
  new_y_ = sum_;
  return evaluate(problem_, t_ + h, new_y_, new_dydt_, counts_);
}

// The steps that are extrapolated have looked no further than the start of the last of them. f at the end and the slope
// of that step, extrapolated too, differ by what sets in behind it.
void MultistepMethod::check_end(Attempt& result) {
  work_ = new_dydt_ - slope_;
  solver_.solve(work_, sum_);
  ++counts_.solves;
  int worst = -1;
  const double unseen_error = error_norm(sum_, scales_, options_.tolerance, worst);
  if (unseen_error <= 1) return;
  result.error = unseen_error;
  result.worst_velocity = worst;
}

void MultistepMethod::accept() {
  const bool same = points_ > 1 && std::abs(h_ - last_step_) <= 1e-12 * std::abs(h_);
  if (!same) points_ = 1;
  for (int i = std::min(points_, needed_ - 1); i > 0; --i) {
    past_y_.col(i) = past_y_.col(i - 1);
    past_f_.col(i) = past_f_.col(i - 1);
  }
  points_ = std::min(points_ + 1, needed_);
  if (needed_ == 1) points_ = 1;
  ++counts_.steps;
  regular_ = led_in_ ? 0 : regular_ + 1;
  t_ += h_;
  last_step_ = h_;
  last_y_.swap(y_);
  last_dydt_.swap(dydt_);
  y_.swap(new_y_);
  dydt_.swap(new_dydt_);
  if (refined_) refined_->forget();
  past_y_.col(0) = y_;
  past_f_.col(0) = dydt_;
}

void MultistepMethod::interpolate(double t, Vec& y) const {
  const double start = t_ - last_step_;
  const auto slope = [&](double theta, Vec& f) {
    interpolate_cheaply(start + theta * last_step_, inside_);
    return evaluate(problem_, start + theta * last_step_, inside_, f, counts_) == Verdict::ok;
  };
  if (refined_ && last_step_ != 0 && t != t_ && refined_->find(last_dydt_, dydt_, slope))
    refined_->evaluate((t - start) / last_step_, last_step_, last_y_, y_, y);
  else
    interpolate_cheaply(t, y);
}

void MultistepMethod::interpolate_cheaply(double t, Vec& y) const {
  if (last_step_ == 0 || t == t_) {
    y = y_ + (t - t_) * dydt_;
    return;
  }
  hermite(1 + (t - t_) / last_step_, last_step_, last_y_, last_dydt_, y_, dydt_, y);
}

void MultistepMethod::rebase(std::span<const Point> past) {
  moved(past);
  have_matrix_ = false;
}

void MultistepMethod::moved(std::span<const Point> past) {
  t_ = past[0].t;
  y_ = past[0].y;
  dydt_ = past[0].dydt;
  // as many as are one step apart
  int known = 0;
  while (known < static_cast<int>(past.size()) && known < points_ &&
         std::abs(t_ - known * last_step_ - past[of(known)].t) <= 1e-9 * std::abs(last_step_)) {
    past_y_.col(known) = past[of(known)].y;
    past_f_.col(known) = past[of(known)].dydt;
    ++known;
  }
  points_ = std::max(known, 1);
  past_y_.col(0) = y_;
  past_f_.col(0) = dydt_;
  if (past.size() > 1) {
    last_y_ = past[1].y;
    last_dydt_ = past[1].dydt;
    if (refined_) refined_->forget();
  } else {
    last_step_ = 0;
    points_ = 1;
  }
}

void MultistepMethod::visit(Archive& archive) {
  const Eigen::Index columns = past_y_.cols();
  archive(t_, last_step_, y_, dydt_, last_y_, last_dydt_, past_y_, past_f_, points_, regular_, have_matrix_, matrix_c_);
  archive.expect(y_.size() == n_ && past_y_.cols() == columns && past_f_.cols() == columns);
  if (have_matrix_) archive(source_.J(), solver_);
  archive(monitor_);
  if (refined_) archive(*refined_);
  archive(counts_);
}

std::unique_ptr<OdeMethod> make_multistep(FirstOrderProblem& problem, const OdeSettings& settings,
                                          MultistepOptions options) {
  options.fixed_step = settings.fixed_step;
  options.tolerance = settings.tolerance;
  return std::make_unique<MultistepMethod>(problem, options);
}

}  // namespace trammel
