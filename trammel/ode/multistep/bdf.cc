#include "trammel/ode/multistep/bdf.h"

#include <algorithm>

#include "trammel/ode/methods.h"

namespace trammel {
namespace {

std::size_t entry(int i) { return static_cast<std::size_t>(i); }

class ExplicitEquations final : public BdfEquations {
 public:
  explicit ExplicitEquations(FirstOrderProblem& problem)
      : problem_(problem),
        source_(problem),
        solver_(problem.size(), problem.sparsity()),
        f_(Vec::Zero(problem.size())) {}
  int size() const override { return problem_.size(); }
  Verdict residual(double t, const Vec& y, const Vec& dydt, Vec& F, Counts& counts) override {
    const Verdict verdict = evaluate(problem_, t, y, f_, counts);
    F = dydt - f_;
    return verdict;
  }
  Verdict factor(double t, const Vec& y, const Vec&, double c, bool fresh, Counts& counts) override {
    if (fresh) {
      ++counts.linearisations;
      if (!problem_.has_jacobian()) {
        const Verdict verdict = evaluate(problem_, t, y, f_, counts);
        if (verdict != Verdict::ok) return verdict;
      }
      const long before = source_.evaluations();
      const Eval done = source_.evaluate(t, y, f_, 0, false);
      counts.evaluations += source_.evaluations() - before;
      if (done == Eval::rejected) return Verdict::evaluation_rejected;
    }
    ++counts.factorisations;
    return solver_.factor(c, source_.J()) ? Verdict::ok : Verdict::singular_matrix;
  }
  void solve(const Vec& b, Vec& x) override { solver_.solve(b, x); }
  void error_scales(const Vec& before, const Vec& after, Vec& scales) const override {
    problem_.error_scales(before, after, scales);
  }
  Verdict start_slope(double t, const Vec& y, Vec& dydt, Counts& counts) override {
    return evaluate(problem_, t, y, dydt, counts);
  }
  void visit(Archive& archive) override {
    bool factored = solver_.factored();
    archive(source_.J(), factored);
    if (factored) archive(solver_);
  }

 private:
  FirstOrderProblem& problem_;
  JacobianSource source_;
  ShiftedSolver<double> solver_;
  Vec f_;
};

class ImplicitEquations final : public BdfEquations {
 public:
  explicit ImplicitEquations(ImplicitProblem& problem)
      : problem_(problem), solver_(problem.size(), problem.sparsity()) {}
  int size() const override { return problem_.size(); }
  Verdict residual(double t, const Vec& y, const Vec& dydt, Vec& F, Counts& counts) override {
    if (!y.allFinite() || !dydt.allFinite()) return Verdict::not_finite;
    ++counts.evaluations;
    if (problem_.residual(t, y, dydt, F) == Eval::rejected) return Verdict::evaluation_rejected;
    return F.allFinite() ? Verdict::ok : Verdict::not_finite;
  }
  Verdict factor(double t, const Vec& y, const Vec& dydt, double c, bool, Counts& counts) override {
    ++counts.linearisations;
    if (problem_.jacobian(t, y, dydt, c, J_) == Eval::rejected) return Verdict::evaluation_rejected;
    ++counts.factorisations;
    return solver_.factor_matrix(J_) ? Verdict::ok : Verdict::singular_matrix;
  }
  void solve(const Vec& b, Vec& x) override { solver_.solve(b, x); }
  void error_scales(const Vec& before, const Vec& after, Vec& scales) const override {
    problem_.error_scales(before, after, scales);
    for (int i = 0; i < size(); ++i) {
      if (!problem_.in_error_test(i)) scales[i] = 1e300;
    }
  }
  Verdict start_slope(double, const Vec& y, Vec& dydt, Counts&) override {
    dydt.setZero(y.size());
    return Verdict::ok;
  }
  void visit(Archive& archive) override {
    bool factored = solver_.factored();
    archive(factored);
    if (factored) archive(solver_);
  }

 private:
  ImplicitProblem& problem_;
  ShiftedSolver<double> solver_;
  Jacobian J_;
};

}  // namespace

std::unique_ptr<BdfEquations> bdf_equations(FirstOrderProblem& problem) {
  return std::make_unique<ExplicitEquations>(problem);
}
std::unique_ptr<BdfEquations> bdf_equations(ImplicitProblem& problem) {
  return std::make_unique<ImplicitEquations>(problem);
}

constexpr BdfMemory::ByOrder kappas = {0, -0.1850, -1.0 / 9, -0.0823, -0.0415};

BdfMethod::BdfMethod(std::unique_ptr<BdfEquations> equations, const BdfOptions& options)
    : equations_(std::move(equations)),
      options_(options),
      n_(equations_->size()),
      memory_(n_, top, options.plain ? BdfMemory::ByOrder{} : kappas),
      // the error test bounds how far the first correction reaches
      monitor_({.kappa = 0.03, .most_iterations = 4, .keep_rate = 0.3, .patient = false, .reach = 1e300}) {
  for (int k = 0; k <= top + 1; ++k)
    error_constant_[k] = (options_.plain ? 0 : kappas[k]) * memory_.gamma(k) + 1.0 / (k + 1);
  for (Vec* v : {&y_, &dydt_, &new_y_, &new_dydt_, &F_, &work_}) v->setZero(n_);
  scales_.setOnes(n_);
  newton_.setZero(n_, memory_.columns());
}

void BdfMethod::start(double t, const Vec& y) {
  t_ = t;
  y_ = y;
  restart();
}

void BdfMethod::restart() {
  if (equations_->start_slope(t_, y_, dydt_, counts_) != Verdict::ok) dydt_.setConstant(std::nan(""));
  memory_.clear(1);
  last_step_ = 0;
  have_matrix_ = false;
  derivatives_stale_ = true;
  monitor_.forget();
}

Attempt BdfMethod::attempt(double h) {
  Attempt result;
  trial_h_ = h;
  Mat& differences = memory_.begin(h);
  if (memory_.empty()) {
    differences.setZero();
    differences.col(0) = y_;
    differences.col(1) = h * dydt_;
  }
  memory_.predict();
  const int k = memory_.order();
  equations_->error_scales(y_, memory_.predicted, scales_);
  result.verdict = correct(memory_.alpha() / h, result);
  if (result.verdict == Verdict::ok) {
    equations_->error_scales(y_, new_y_, scales_);
    result.error = error_constant_[k] * size_of(memory_.d, result.worst_velocity);
    if (!std::isfinite(result.error)) result.verdict = Verdict::not_finite;
  }
  if (result.verdict != Verdict::ok) {
    if (!options_.fixed_step) result.suggested_h = 0.5 * h;
    return result;
  }
  const int M = monitor_.options().most_iterations;
  const double safety = 0.9 * (2 * M + 1) / (2 * M + result.newton_iterations);
  memory_.choose_next(result, safety, 10, options_.most_order, options_.fixed_step, [this](int order, const Vec& v) {
    int unused = 0;
    return error_constant_[order] * size_of(v, unused);
  });
  if (options_.fixed_step) result.suggested_h = 0;
  return result;
}

// Newton for d from 0; derivatives are renewed once if they are old.
Verdict BdfMethod::correct(double c, Attempt& result) {
  Vec &d = memory_.d, &predicted = memory_.predicted, &psi = memory_.psi;
  for (;;) {
    const bool fresh = derivatives_stale_ || !have_matrix_;
    if (fresh || c != matrix_c_) {
      work_ = c * psi;
      const Verdict verdict = equations_->factor(t_ + trial_h_, predicted, work_, c, fresh, counts_);
      have_matrix_ = verdict == Verdict::ok;
      if (verdict != Verdict::ok) return verdict;
      matrix_c_ = c;
      if (fresh) monitor_.forget();
      derivatives_stale_ = false;
    }
    d.setZero();
    new_y_ = predicted;
    monitor_.begin();
    SimplifiedNewton::Decision decision = SimplifiedNewton::Decision::go_on;
    Verdict verdict = Verdict::ok;
    while (decision == SimplifiedNewton::Decision::go_on) {
      new_dydt_ = c * (psi + d);
      verdict = equations_->residual(t_ + trial_h_, new_y_, new_dydt_, F_, counts_);
      if (verdict != Verdict::ok) break;
      F_ = -F_;
      equations_->solve(F_, work_);
      ++counts_.solves;
      ++counts_.newton_iterations;
      d += work_;
      new_y_ = predicted + d;
      int unused = 0;
      decision = monitor_.next(size_of(work_, unused), 1e-14 / options_.tolerance);
    }
    result.newton_iterations = monitor_.iterations();
    result.newton_rate = monitor_.rate();
    if (verdict == Verdict::ok && decision == SimplifiedNewton::Decision::converged) {
      new_dydt_ = c * (psi + d);
      return Verdict::ok;
    }
    if (fresh) {
      derivatives_stale_ = true;
      return verdict == Verdict::ok ? Verdict::newton_diverged : verdict;
    }
    derivatives_stale_ = true;  // and again with new ones
  }
}

void BdfMethod::accept() {
  memory_.accept();
  t_ += trial_h_;
  last_step_ = trial_h_;
  ++counts_.steps;
  y_ = memory_.D.col(0);
  dydt_.swap(new_dydt_);
  if (!monitor_.good_rate()) derivatives_stale_ = true;
}

void BdfMethod::interpolate(double t, Vec& y) const {
  if (memory_.empty() || t == t_)
    y = y_ + (t - t_) * dydt_;
  else
    memory_.evaluate(t - t_, y);
}

void BdfMethod::rebase(std::span<const Point> past) {
  moved(past);
  have_matrix_ = false;
  derivatives_stale_ = true;
}

void BdfMethod::moved(std::span<const Point> past) {
  t_ = past[0].t;
  y_ = past[0].y;
  dydt_ = past[0].dydt;
  const int known = std::min(static_cast<int>(past.size()), memory_.columns());
  if (known < 2 || memory_.empty()) {
    memory_.clear(1);
    last_step_ = 0;
    return;
  }
  // Newton's polynomial through the past points, read at multiples of h; then its backward differences.
  for (int i = 0; i < known; ++i) newton_.col(i) = past[entry(i)].y;
  for (int level = 1; level < known; ++level) {
    for (int i = known - 1; i >= level; --i)
      newton_.col(i) = (newton_.col(i - 1) - newton_.col(i)) / (past[entry(i - level)].t - past[entry(i)].t);
  }
  Mat& D = memory_.D;
  D.setZero();
  for (int p = 0; p < known; ++p) {
    work_ = newton_.col(known - 1);
    for (int i = known - 2; i >= 0; --i) work_ = newton_.col(i) + (t_ - p * memory_.step() - past[entry(i)].t) * work_;
    D.col(p) = work_;
  }
  difference_points(D, known);
  D.col(0) = y_;
  memory_.limit_order(known - 1);
}

void BdfMethod::visit(Archive& archive) {
  archive(t_, last_step_, y_, dydt_, memory_, have_matrix_, derivatives_stale_, matrix_c_, monitor_, *equations_,
          counts_);
  archive.expect(y_.size() == n_);
}

namespace methods {
namespace {

BdfOptions bdf_options(const OdeSettings& s) {
  BdfOptions options;
  options.fixed_step = s.fixed_step;
  options.tolerance = s.tolerance;
  options.most_order = static_cast<int>(s.options.number("most_order"));
  options.plain = s.options.get<bool>("plain");
  return options;
}

}  // namespace

OdeMethodInfo bdf() {
  OdeMethodInfo m;
  m.key = "bdf";
  m.title = "BDF with variable order and step";
  m.source = "Shampine, Reichelt: The MATLAB ODE Suite, SIAM J. Sci. Comput. 18, 1997";
  m.order = BdfMethod::top;
  m.error_order = BdfMethod::top + 1;
  m.variable_order = true;
  m.stiff = m.steps_to_outputs = true;
  m.stability = "A-stable for orders 1 and 2; A(alpha) with 80, 66, 51 degrees for 3 to 5";
  m.options = {{"most_order", FieldKind::number, Quantity::none, static_cast<double>(BdfMethod::top),
                "Highest order. 2 where stiff oscillations must not grow.", 1, BdfMethod::top},
               {"plain", FieldKind::boolean, Quantity::none, false,
                "The classical formulas instead of the numerical differentiation formulas, whose errors are smaller."}};
  m.make_first_order = [](FirstOrderProblem& problem, const OdeSettings& s) {
    return std::make_unique<BdfMethod>(bdf_equations(problem), bdf_options(s));
  };
  m.make_implicit = [](ImplicitProblem& problem, const OdeSettings& s) {
    return std::make_unique<BdfMethod>(bdf_equations(problem), bdf_options(s));
  };
  return m;
}

}  // namespace methods
}  // namespace trammel
