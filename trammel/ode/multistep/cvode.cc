#include "trammel/ode/multistep/cvode.h"

#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <utility>

#include "trammel/base/archive.h"
#include "trammel/base/interruption.h"
#include "trammel/ode/methods.h"

namespace trammel {
namespace {

// Steps of its own in one of ours: enough to start, and a mechanism that locks stops soon.
constexpr std::size_t most_pieces = 300;

}  // namespace

struct Cvode::Handles {
  FirstOrderProblem& problem;
  Counts& counts;
  double tolerance;
  SUNContext context = nullptr;
  void* memory = nullptr;
  N_Vector y = nullptr, errors = nullptr, weights = nullptr;
  SUNMatrix matrix = nullptr;
  SUNLinearSolver linear = nullptr;
  SUNNonlinearSolver nonlinear = nullptr;
  Vec state, rate, scales, f_t;
  Jacobian J;
  std::exception_ptr thrown;  // nothing may be thrown through C

  Handles(FirstOrderProblem& p, Counts& c, double tol) : problem(p), counts(c), tolerance(tol) {}
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;
  ~Handles() {
    if (memory != nullptr) CVodeFree(&memory);
    if (nonlinear != nullptr) SUNNonlinSolFree(nonlinear);
    if (linear != nullptr) SUNLinSolFree(linear);
    if (matrix != nullptr) SUNMatDestroy(matrix);
    for (N_Vector v : {y, errors, weights}) {
      if (v != nullptr) N_VDestroy(v);
    }
    if (context != nullptr) SUNContext_Free(&context);
  }

  Eigen::Map<Vec> view(N_Vector v) const { return {N_VGetArrayPointer(v), problem.size()}; }

  // 0: done, 1: a smaller step may help, -1: give up.
  template <class Work>
  int guarded(Work&& work) {
    try {
      return work() == Eval::ok ? 0 : 1;
    } catch (...) {
      thrown = std::current_exception();
      return -1;
    }
  }

  static int f(realtype t, N_Vector y, N_Vector dydt, void* user) {
    auto& self = *static_cast<Handles*>(user);
    // One of our steps may hold hundreds of CVODE's; who is asked to stop finds a failed attempt, and stops before the
    // next.
    if (interruption_asked()) return -1;
    return self.guarded([&] {
      ++self.counts.evaluations;
      self.state = self.view(y);
      const Eval result = self.problem.f(t, self.state, self.rate);
      if (result == Eval::ok && !self.rate.allFinite()) return Eval::rejected;
      if (result == Eval::ok) self.view(dydt) = self.rate;
      return result;
    });
  }
  static int jacobian(realtype t, N_Vector y, N_Vector, SUNMatrix out, void* user, N_Vector, N_Vector, N_Vector) {
    auto& self = *static_cast<Handles*>(user);
    return self.guarded([&] {
      ++self.counts.linearisations;
      self.state = self.view(y);
      const Eval result = self.problem.jacobian(t, self.state, self.J, self.f_t);
      if (result != Eval::ok) return result;
      const int n = self.problem.size();
      Eigen::Map<Mat> values(SUNDenseMatrix_Data(out), n, n);
      const Pattern* pattern = self.problem.sparsity();
      if (pattern == nullptr)
        values = self.J.dense;
      else
        values = pattern->dense(self.J.values);
      return result;
    });
  }
  // The weights of the error test: an error of one tolerance in each component counts 1.
  static int weigh(N_Vector y, N_Vector weights, void* user) {
    auto& self = *static_cast<Handles*>(user);
    return self.guarded([&] {
      self.state = self.view(y);
      self.problem.error_scales(self.state, self.state, self.scales);
      self.view(weights) = (self.tolerance * self.scales).cwiseInverse();
      return Eval::ok;
    });
  }
  static void be_silent(int, const char*, const char*, char*, void*) {}  // failures are told by the verdict
};

Cvode::Cvode(FirstOrderProblem& problem, const CvodeOptions& options) : problem_(problem), options_(options) {}
Cvode::~Cvode() = default;

void Cvode::make() {
  handles_ = std::make_unique<Handles>(problem_, counts_, options_.tolerance);
  Handles& s = *handles_;
  const int n = problem_.size();
  bool good = SUNContext_Create(nullptr, &s.context) == 0;
  s.y = N_VNew_Serial(n, s.context);
  s.errors = N_VNew_Serial(n, s.context);
  s.weights = N_VNew_Serial(n, s.context);
  s.memory = CVodeCreate(options_.family == CvodeOptions::Family::bdf ? CV_BDF : CV_ADAMS, s.context);
  good = good && s.y != nullptr && s.errors != nullptr && s.weights != nullptr && s.memory != nullptr;
  s.view(s.y) = y_;
  good = good && CVodeInit(s.memory, Handles::f, t_, s.y) == CV_SUCCESS &&
         CVodeSetUserData(s.memory, &s) == CV_SUCCESS &&
         CVodeSetErrHandlerFn(s.memory, Handles::be_silent, nullptr) == CV_SUCCESS &&
         CVodeWFtolerances(s.memory, Handles::weigh) == CV_SUCCESS && CVodeSetMaxNumSteps(s.memory, 1) == CV_SUCCESS &&
         CVodeSetMaxOrd(s.memory, options_.greatest_order) == CV_SUCCESS;
  if (good && options_.newton) {
    s.matrix = SUNDenseMatrix(n, n, s.context);
    s.linear = s.matrix == nullptr ? nullptr : SUNLinSol_Dense(s.y, s.matrix, s.context);
    good =
        s.linear != nullptr && CVodeSetLinearSolver(s.memory, s.linear, s.matrix) == CV_SUCCESS &&
        (!problem_.has_jacobian() || options_.differences || CVodeSetJacFn(s.memory, Handles::jacobian) == CV_SUCCESS);
  } else if (good) {
    s.nonlinear = SUNNonlinSol_FixedPoint(s.y, 0, s.context);
    good = s.nonlinear != nullptr && CVodeSetNonlinearSolver(s.memory, s.nonlinear) == CV_SUCCESS;
  }
  if (!good)
    throw Failure({Severity::error, "out-of-memory", "CVODE could not be set up", "is there enough memory?", {}},
                  ExitCode::failed_run);
}

int Cvode::order() const {
  int order = 1;
  if (handles_ != nullptr && counts_.steps > 0) CVodeGetLastOrder(handles_->memory, &order);
  return std::max(1, order);
}

void Cvode::start(double t, const Vec& y) {
  t_ = trial_t_ = t;
  y_ = trial_ = y;
  make();
  ++counts_.evaluations;
  if (problem_.f(t, y, dydt_) != Eval::ok) dydt_.setZero(y.size());
  restart_ = true;
  pending_ = false;
}

void Cvode::keep_polynomial(double from, double to) {
  Handles& s = *handles_;
  int order = 0;
  CVodeGetLastOrder(s.memory, &order);
  trial_pieces_.push_back({from, to, Mat(problem_.size(), order + 1)});
  double factorial = 1;
  for (int k = 0; k <= order; ++k) {
    factorial *= std::max(k, 1);
    CVodeGetDky(s.memory, to, k, s.errors);
    trial_pieces_.back().powers.col(k) = s.view(s.errors) / factorial;
  }
}

Attempt Cvode::attempt(double h) {
  Attempt result;
  Handles& s = *handles_;
  if (restart_ || pending_) {
    s.view(s.y) = y_;
    CVodeReInit(s.memory, t_, s.y);
    CVodeSetInitStep(s.memory, pending_ ? h : 0.0);  // 0: it finds one itself
    restart_ = false;
    internal_ = setups_ = 0;
  }
  pending_ = true;  // until it is accepted
  trial_t_ = t_ + h;
  CVodeSetStopTime(s.memory, trial_t_);
  long iterations_before = 0, iterations = 0;
  CVodeGetNumNonlinSolvIters(s.memory, &iterations_before);
  trial_pieces_.clear();
  // One step of its own at a time, by the bound on their number: asked for single steps (CV_ONE_STEP) it would not tell
  // the step it wants after the stop time. The output time lies before the stop time by round-off, for the same reason.
  const double output = trial_t_ - 8 * std::numeric_limits<double>::epsilon() * (std::copysign(t_, h) + h);
  double reached = t_;
  int flag = CV_TOO_MUCH_WORK;
  while (flag == CV_TOO_MUCH_WORK && trial_pieces_.size() < most_pieces) {
    const double from = reached;
    flag = CVode(s.memory, output, s.y, &reached, CV_NORMAL);
    if (flag >= 0) reached = trial_t_;
    if (flag >= 0 || flag == CV_TOO_MUCH_WORK) keep_polynomial(from, reached);
  }
  if (flag >= 0) CVodeGetDky(s.memory, trial_t_, 0, s.y);
  if (s.thrown) std::rethrow_exception(std::exchange(s.thrown, nullptr));
  trial_ = s.view(s.y);
  CVodeGetNumNonlinSolvIters(s.memory, &iterations);
  result.newton_iterations = static_cast<int>(iterations - iterations_before);
  counts_.newton_iterations += result.newton_iterations;
  if (flag < 0) {
    const bool evaluation = flag == CV_RHSFUNC_FAIL || flag == CV_FIRST_RHSFUNC_ERR || flag == CV_REPTD_RHSFUNC_ERR ||
                            flag == CV_UNREC_RHSFUNC_ERR;
    result.verdict = evaluation ? Verdict::evaluation_rejected : Verdict::newton_diverged;
    return result;
  }
  CVodeGetEstLocalErrors(s.memory, s.errors);
  CVodeGetErrWeights(s.memory, s.weights);
  const auto shares = s.view(s.errors).cwiseProduct(s.view(s.weights));
  Eigen::Index worst = 0;
  shares.cwiseAbs().maxCoeff(&worst);
  result.worst_velocity = static_cast<int>(worst);
  // CVODE has accepted its step; after a change of order the estimate it keeps may exceed what it tested.
  result.error = std::min(1.0, shares.norm() / std::sqrt(static_cast<double>(shares.size())));
  CVodeGetCurrentStep(s.memory, &result.suggested_h);
  return result;
}

void Cvode::accept() {
  last_step_ = trial_t_ - t_;
  t_ = trial_t_;
  y_ = trial_;
  pieces_.swap(trial_pieces_);
  pending_ = false;
  Handles& s = *handles_;
  CVodeGetDky(s.memory, t_, 1, s.errors);
  dydt_ = s.view(s.errors);
  long steps = 0, setups = 0;
  CVodeGetNumSteps(s.memory, &steps);
  if (options_.newton) CVodeGetNumLinSolvSetups(s.memory, &setups);
  counts_.steps += steps - std::exchange(internal_, steps);
  counts_.factorisations += setups - std::exchange(setups_, setups);
}

void Cvode::interpolate(double t, Vec& y) const {
  if (t == t_ || last_step_ == 0 || pieces_.empty()) {
    y = y_;
    return;
  }
  const double sign = last_step_ < 0 ? -1 : 1;
  const auto piece = std::find_if(pieces_.begin(), pieces_.end() - 1,
                                  [&](const Piece& candidate) { return sign * t <= sign * candidate.to; });
  y.setZero(problem_.size());
  for (Eigen::Index k = piece->powers.cols(); k-- > 0;) y = (t - piece->to) * y + piece->powers.col(k);
}

void Cvode::rebase(std::span<const Point> past) {
  y_ = trial_ = past[0].y;
  dydt_ = past[0].dydt;
  restart_ = true;
  last_step_ = 0;
}

void Cvode::visit(Archive& archive) {
  if (!archive.reading() && counts_.steps > 0) {
    throw Failure({Severity::error,
                   "cannot-save",
                   "a run with CVODE cannot be saved in the middle: the library gives no access to its history",
                   "leave out checkpoints, or choose a method of our own",
                   {}},
                  ExitCode::failed_run);
  }
  double t = t_;
  Vec y = y_;
  archive(t, y);
  if (archive.reading()) start(t, y);
}

// ---- descriptions
// ------------------------------------------------------------------------------------------------------

namespace methods {
namespace {

OdeMethodInfo cvode(CvodeOptions::Family family) {
  const bool bdf = family == CvodeOptions::Family::bdf;
  OdeMethodInfo m;
  m.key = bdf ? "cvode-bdf" : "cvode-adams";
  m.title = bdf ? "CVODE of SUNDIALS, BDF with Newton's method; chooses its own steps and orders"
                : "CVODE of SUNDIALS, Adams-Moulton; chooses its own steps and orders";
  m.source = "Hindmarsh et al.: SUNDIALS, ACM Trans. Math. Software 31 (2005)";
  m.order = bdf ? 5 : 12;
  m.error_order = m.order + 1;
  m.stiff = bdf;
  m.stability =
      bdf ? "A-stable up to order 2, stiffly stable up to 5" : "explicit in effect: for models that are not stiff";
  m.options = {{"greatest_order", FieldKind::number, Quantity::none, static_cast<double>(m.order),
                "Bound of the order.", 1, static_cast<double>(m.order)}};
  if (bdf) {
    m.options.push_back({"differences", FieldKind::boolean, Quantity::none, false,
                         "Jacobians by differences, each for as many evaluations as there are unknowns, instead of "
                         "exact ones; to compare with programs that have no others."});
  } else {
    m.options.push_back({"newton", FieldKind::boolean, Quantity::none, false,
                         "Newton's method instead of functional iteration: steps are then limited by accuracy and the "
                         "region of stability of the formula alone."});
  }
  m.refuses = [](const OdeSettings& s) { return s.fixed_step ? "CVODE chooses its own steps" : ""; };
  m.make_first_order = [family](FirstOrderProblem& problem, const OdeSettings& s) {
    CvodeOptions options;
    options.family = family;
    options.tolerance = s.tolerance;
    const bool is_bdf = family == CvodeOptions::Family::bdf;
    options.newton = is_bdf || s.options.get<bool>("newton");
    options.differences = is_bdf && s.options.get<bool>("differences");
    options.greatest_order = static_cast<int>(s.options.number("greatest_order"));
    return std::make_unique<Cvode>(problem, options);
  };
  return m;
}

}  // namespace

OdeMethodInfo cvode_bdf() { return cvode(CvodeOptions::Family::bdf); }
OdeMethodInfo cvode_adams() { return cvode(CvodeOptions::Family::adams); }

}  // namespace methods
}  // namespace trammel
