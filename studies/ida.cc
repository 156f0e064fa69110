#include "studies/ida.h"

#include <ida/ida.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunmatrix/sunmatrix_sparse.h>
#include <time.h>

#include <algorithm>

#include "trammel/base/diagnosis.h"

namespace trammel {

const char* to_text(IdaForm form) {
  switch (form) {
    case IdaForm::index_1: return "index 1";
    case IdaForm::index_2: return "index 2";
    case IdaForm::stabilised: return "stabilised index 2";
  }
  return "";
}

namespace {

double ida_cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// y = (q, v, lambda[, mu]). Rows in the same order.
class IdaProblem {
 public:
  IdaProblem(const Equations& equations, const State& state, const Rates& rates, IdaForm form, double tolerance)
      : equations_(equations),
        form_(form),
        tolerance_(tolerance),
        n_(equations.sizes().nv),
        m_(equations.sizes().multipliers()),
        state_(state),
        rates_(rates),
        work_(equations.make_workspace()),
        residual_(equations.make_residual()),
        partials_(equations.make_partials(Detail::all)),
        gamma_(Vec::Zero(m_)),
        scales_(equations.scales()) {
    if (equations.sizes().nq != n_) {
      throw Failure(
          {Severity::error, "not-planar", "the comparison with IDA takes planar bodies and points only", "", {}});
    }
    make_pattern();
  }

  int size() const { return 2 * n_ + m_ + (form_ == IdaForm::stabilised ? m_ : 0); }
  int velocities() const { return n_; }
  bool is_algebraic(int i) const { return i >= 2 * n_; }
  const Pattern& pattern() const { return pattern_; }

  bool residual(double t, const Vec& y, const Vec& ydot, Eigen::Ref<Vec> F) {
    place(t, y, ydot);
    if (equations_.residual(state_, rates_, everything, residual_, work_) != Eval::ok) return false;
    F.head(n_) = ydot.head(n_) - state_.v;
    F.segment(n_, n_) = residual_.inertia + residual_.force;
    if (form_ == IdaForm::index_1) {
      equations_.jacobian_and_gamma(state_, partials_, gamma_, work_);
      F.tail(m_) = -gamma_;
      equations_.gv().multiply_add(partials_.G, 1, rates_.a.data(), F.data() + 2 * n_);
    } else {
      equations_.velocity_residual(state_, gamma_, work_);
      F.tail(m_) = gamma_;
    }
    if (form_ == IdaForm::stabilised) {
      F.segment(2 * n_, m_) = residual_.g;
      equations_.jacobian(state_, partials_, work_);
      const Vec mu = -y.tail(m_);
      equations_.gv().transpose_multiply_add(partials_.G, 1, mu.data(), F.data());
    }
    return F.allFinite();
  }

  // F_y + c F_y'; mu is zero on the solution, so that the derivative of G^T mu is left out.
  //
  //              q                v               lambda   mu
  //   q' row     c I              -I                       -G^T
  //   M v'       Ma_q + force_q   c M + force_v   G^T
  //   g          G                                                  (stabilised)
  //   last       Gv_q             G                                 (index 2, stabilised)
  //              Ga_q - gamma_q   c G - gamma_v                     (index 1)
  bool jacobian(double t, const Vec& y, const Vec& ydot, double c, double* values) {
    place(t, y, ydot);
    if (equations_.linearise(state_, rates_, Detail::all, partials_, work_) != Eval::ok) return false;
    std::fill(values, values + pattern_.size(), 0.0);
    const auto put = [&](const std::vector<int>& slots, const Vec& from, double weight) {
      for (std::size_t i = 0; i < slots.size(); ++i) values[slots[i]] += weight * from[static_cast<Eigen::Index>(i)];
    };
    for (const int slot : identity_q_) values[slot] = c;
    for (const int slot : identity_v_) values[slot] = -1;
    put(vv_q_, partials_.Ma_q, 1);
    put(vv_q_, partials_.force_q, 1);
    put(vv_v_, partials_.M, c);
    put(vv_v_, partials_.force_v, 1);
    put(lambda_, partials_.G, 1);
    if (form_ == IdaForm::index_1) {
      put(last_q_, partials_.Ga_q, 1);
      put(last_q_, partials_.gamma_q, -1);
      put(last_v_, partials_.G, c);
      put(last_v_, partials_.gamma_v, -1);
    } else {
      put(last_q_, partials_.Gv_q, 1);
      put(last_v_, partials_.G, 1);
    }
    if (form_ == IdaForm::stabilised) {
      put(position_, partials_.G, 1);
      put(mu_, partials_.G, -1);
    }
    return true;
  }

  void weigh(const Vec& y, Eigen::Ref<Vec> weights) const {
    weights.setOnes();
    for (int i = 0; i < n_; ++i) {
      weights[i] = 1 / (tolerance_ * scales_[i]);
      weights[n_ + i] = 1 / (tolerance_ * std::max(scales_[i], std::abs(y[n_ + i])));
    }
  }

 private:
  void place(double t, const Vec& y, const Vec& ydot) {
    state_.t = t;
    state_.q = y.head(n_);
    state_.v = y.segment(n_, n_);
    rates_.a = ydot.segment(n_, n_);
    rates_.lambda = y.segment(2 * n_, m_);
  }

  void make_pattern() {
    std::vector<Pattern::Entry> entries;
    const auto add = [&](const Pattern& block, int row, int column, bool transposed) {
      for (int j = 0; j < block.columns(); ++j) {
        for (int p = block.start()[static_cast<std::size_t>(j)]; p < block.start()[static_cast<std::size_t>(j) + 1];
             ++p) {
          const int i = block.row()[static_cast<std::size_t>(p)];
          entries.push_back({row + (transposed ? j : i), column + (transposed ? i : j)});
        }
      }
    };
    const Pattern &vv = equations_.vv(), &gv = equations_.gv();
    const int last = size() - m_;
    for (int i = 0; i < n_; ++i) {
      entries.push_back({i, i});
      entries.push_back({i, n_ + i});
    }
    add(vv, n_, 0, false);
    add(vv, n_, n_, false);
    add(gv, n_, 2 * n_, true);
    add(gv, last, 0, false);
    add(gv, last, n_, false);
    if (form_ == IdaForm::stabilised) {
      add(gv, 2 * n_, 0, false);
      add(gv, 0, last, true);
    }
    pattern_ = Pattern(size(), size(), entries);
    const auto find = [&](const Pattern& block, int row, int column, bool transposed, std::vector<int>& slots) {
      for (int j = 0; j < block.columns(); ++j) {
        for (int p = block.start()[static_cast<std::size_t>(j)]; p < block.start()[static_cast<std::size_t>(j) + 1];
             ++p) {
          const int i = block.row()[static_cast<std::size_t>(p)];
          slots.push_back(pattern_.slot(row + (transposed ? j : i), column + (transposed ? i : j)));
        }
      }
    };
    for (int i = 0; i < n_; ++i) {
      identity_q_.push_back(pattern_.slot(i, i));
      identity_v_.push_back(pattern_.slot(i, n_ + i));
    }
    find(vv, n_, 0, false, vv_q_);
    find(vv, n_, n_, false, vv_v_);
    find(gv, n_, 2 * n_, true, lambda_);
    find(gv, last, 0, false, last_q_);
    find(gv, last, n_, false, last_v_);
    if (form_ == IdaForm::stabilised) {
      find(gv, 2 * n_, 0, false, position_);
      find(gv, 0, last, true, mu_);
    }
  }

  const Equations& equations_;
  IdaForm form_;
  double tolerance_;
  int n_, m_;
  State state_;
  Rates rates_;
  Workspace work_;
  Residual residual_;
  Partials partials_;
  Vec gamma_, scales_;
  Pattern pattern_;
  std::vector<int> identity_q_, identity_v_, vv_q_, vv_v_, lambda_, last_q_, last_v_, position_, mu_;
};

struct IdaHandles {
  IdaProblem* problem = nullptr;
  SUNContext context = nullptr;
  void* memory = nullptr;
  N_Vector y = nullptr, ydot = nullptr, id = nullptr;
  SUNMatrix matrix = nullptr;
  SUNLinearSolver linear = nullptr;
  std::string message;
  Vec y_work, ydot_work;

  IdaHandles() = default;
  IdaHandles(const IdaHandles&) = delete;
  IdaHandles& operator=(const IdaHandles&) = delete;
  ~IdaHandles() {
    if (memory != nullptr) IDAFree(&memory);
    if (linear != nullptr) SUNLinSolFree(linear);
    if (matrix != nullptr) SUNMatDestroy(matrix);
    for (N_Vector v : {y, ydot, id}) {
      if (v != nullptr) N_VDestroy(v);
    }
    if (context != nullptr) SUNContext_Free(&context);
  }
  Eigen::Map<Vec> view(N_Vector v) const { return {N_VGetArrayPointer(v), problem->size()}; }

  static int residual(realtype t, N_Vector y, N_Vector ydot, N_Vector F, void* user) {
    auto& self = *static_cast<IdaHandles*>(user);
    self.y_work = self.view(y);
    self.ydot_work = self.view(ydot);
    return self.problem->residual(t, self.y_work, self.ydot_work, self.view(F)) ? 0 : 1;
  }
  static int jacobian(realtype t, realtype c, N_Vector y, N_Vector ydot, N_Vector, SUNMatrix J, void* user, N_Vector,
                      N_Vector, N_Vector) {
    auto& self = *static_cast<IdaHandles*>(user);
    self.y_work = self.view(y);
    self.ydot_work = self.view(ydot);
    const Pattern& pattern = self.problem->pattern();
    std::copy(pattern.start().begin(), pattern.start().end(), SUNSparseMatrix_IndexPointers(J));
    std::copy(pattern.row().begin(), pattern.row().end(), SUNSparseMatrix_IndexValues(J));
    return self.problem->jacobian(t, self.y_work, self.ydot_work, c, SUNSparseMatrix_Data(J)) ? 0 : 1;
  }
  static int weigh(N_Vector y, N_Vector weights, void* user) {
    auto& self = *static_cast<IdaHandles*>(user);
    self.y_work = self.view(y);
    self.problem->weigh(self.y_work, self.view(weights));
    return 0;
  }
  static void keep_message(int code, const char*, const char* function, char* text, void* user) {
    if (code < 0) static_cast<IdaHandles*>(user)->message = std::string(function) + ": " + text;
  }
};

}  // namespace

IdaRun run_ida(const Equations& equations, const State& state, const Rates& rates, IdaForm form, double tolerance,
               double end) {
  IdaProblem problem(equations, state, rates, form, tolerance);
  IdaHandles s;
  s.problem = &problem;
  const int size = problem.size(), n = problem.velocities();
  bool good = SUNContext_Create(nullptr, &s.context) == 0;
  s.y = N_VNew_Serial(size, s.context);
  s.ydot = N_VNew_Serial(size, s.context);
  s.id = N_VNew_Serial(size, s.context);
  s.view(s.y).setZero();
  s.view(s.ydot).setZero();
  s.view(s.y).head(n) = state.q;
  s.view(s.y).segment(n, n) = state.v;
  s.view(s.y).segment(2 * n, rates.lambda.size()) = rates.lambda;
  s.view(s.ydot).head(n) = state.v;
  s.view(s.ydot).segment(n, n) = rates.a;
  for (int i = 0; i < size; ++i) s.view(s.id)[i] = problem.is_algebraic(i) ? 0 : 1;
  s.memory = IDACreate(s.context);
  s.matrix = SUNSparseMatrix(size, size, problem.pattern().size(), CSC_MAT, s.context);
  good = good && s.memory != nullptr && s.matrix != nullptr &&
         IDAInit(s.memory, IdaHandles::residual, state.t, s.y, s.ydot) == IDA_SUCCESS &&
         IDASetUserData(s.memory, &s) == IDA_SUCCESS &&
         IDASetErrHandlerFn(s.memory, IdaHandles::keep_message, &s) == IDA_SUCCESS &&
         IDAWFtolerances(s.memory, IdaHandles::weigh) == IDA_SUCCESS;
  if (good) s.linear = SUNLinSol_KLU(s.y, s.matrix, s.context);
  good = good && s.linear != nullptr && IDASetLinearSolver(s.memory, s.linear, s.matrix) == IDA_SUCCESS &&
         IDASetJacFn(s.memory, IdaHandles::jacobian) == IDA_SUCCESS && IDASetId(s.memory, s.id) == IDA_SUCCESS &&
         IDASetSuppressAlg(s.memory, SUNTRUE) == IDA_SUCCESS && IDASetMaxNumSteps(s.memory, -1) == IDA_SUCCESS &&
         IDASetStopTime(s.memory, end) == IDA_SUCCESS;
  IdaRun out;
  if (!good) {
    out.why = s.message.empty() ? "IDA could not be set up" : s.message;
    return out;
  }
  const double begin = ida_cpu_seconds();
  const int flag = IDASolve(s.memory, end, &out.reached, s.y, s.ydot, IDA_NORMAL);
  out.seconds = ida_cpu_seconds() - begin;
  out.good = flag >= 0;
  out.why = s.message;
  out.q = s.view(s.y).head(n);
  out.v = s.view(s.y).segment(n, n);
  IDAGetNumSteps(s.memory, &out.steps);
  IDAGetNumResEvals(s.memory, &out.evaluations);
  IDAGetNumJacEvals(s.memory, &out.jacobians);
  IDAGetNumErrTestFails(s.memory, &out.error_failures);
  IDAGetNumNonlinSolvConvFails(s.memory, &out.newton_failures);
  return out;
}

}  // namespace trammel
