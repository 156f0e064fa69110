#include "studies/ida.h"

#include <ida/ida.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunmatrix/sunmatrix_sparse.h>

#include <algorithm>

#include "studies/stepping.h"

namespace trammel {

namespace {

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
               double end, double greatest_step) {
  IdaProblem problem(equations, state, rates, form, tolerance);
  IdaHandles s;
  s.problem = &problem;
  const int size = problem.size();
  bool good = SUNContext_Create(nullptr, &s.context) == 0;
  s.y = N_VNew_Serial(size, s.context);
  s.ydot = N_VNew_Serial(size, s.context);
  s.id = N_VNew_Serial(size, s.context);
  problem.start(s.view(s.y), s.view(s.ydot));
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
         IDASetStopTime(s.memory, end) == IDA_SUCCESS && IDASetMaxStep(s.memory, greatest_step) == IDA_SUCCESS;
  IdaRun out;
  if (!good) {
    out.why = s.message.empty() ? "IDA could not be set up" : s.message;
    return out;
  }
  const double begin = cpu_seconds();
  int flag = IDA_SUCCESS;
  out.reached = state.t;
  while (flag >= 0 && flag != IDA_TSTOP_RETURN) {
    flag = IDASolve(s.memory, end, &out.reached, s.y, s.ydot, IDA_ONE_STEP);
    s.y_work = s.view(s.y);
    if (flag >= 0) problem.accept(out.reached, s.y_work);
  }
  out.seconds = cpu_seconds() - begin;
  out.good = flag >= 0;
  out.last = problem.state();
  out.why = s.message;
  IDAGetNumSteps(s.memory, &out.steps);
  IDAGetNumResEvals(s.memory, &out.evaluations);
  IDAGetNumJacEvals(s.memory, &out.jacobians);
  IDAGetNumErrTestFails(s.memory, &out.error_failures);
  IDAGetNumNonlinSolvConvFails(s.memory, &out.newton_failures);
  return out;
}

}  // namespace trammel
