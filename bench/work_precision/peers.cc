#include "bench/work_precision/peers.h"

#include <arkode/arkode_arkstep.h>
#include <arkode/arkode_erkstep.h>
#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include <cmath>

namespace trammel::bench {
namespace {

struct PeerProblem {
  FirstOrderProblem& problem;
  double tolerance;
  long evaluations = 0, jacobians = 0;
  Vec y, dydt, scales, f_t;
  Jacobian J;
};

Eigen::Map<Vec> view(N_Vector v) { return {N_VGetArrayPointer(v), N_VGetLength(v)}; }

int rate(realtype t, N_Vector y, N_Vector dydt, void* user) {
  PeerProblem& p = *static_cast<PeerProblem*>(user);
  ++p.evaluations;
  p.y = view(y);
  if (p.problem.f(t, p.y, p.dydt) != Eval::ok || !std::isfinite(p.dydt.sum())) return 1;
  view(dydt) = p.dydt;
  return 0;
}

int jacobian(realtype t, N_Vector y, N_Vector /*f*/, SUNMatrix J, void* user, N_Vector, N_Vector, N_Vector) {
  PeerProblem& p = *static_cast<PeerProblem*>(user);
  ++p.jacobians;
  p.y = view(y);
  if (p.problem.jacobian(t, p.y, p.J, p.f_t) != Eval::ok) return 1;
  Eigen::Map<Mat>(SUNDenseMatrix_Data(J), p.J.dense.rows(), p.J.dense.cols()) = p.J.dense;
  return 0;
}

int weights(N_Vector y, N_Vector w, void* user) {
  PeerProblem& p = *static_cast<PeerProblem*>(user);
  p.y = view(y);
  p.problem.error_scales(p.y, p.y, p.scales);
  view(w) = (p.tolerance * p.scales).cwiseInverse();
  return 0;
}

void silent(int, const char*, const char*, char*, void*) {}

constexpr long most_steps = 2000000;

}  // namespace

const char* to_text(Peer peer) {
  switch (peer) {
    case Peer::cvode_adams: return "CVODE, Adams";
    case Peer::cvode_bdf: return "CVODE, BDF";
    case Peer::arkode_explicit_5: return "ARKODE, Dormand-Prince 5(4)";
    case Peer::arkode_explicit_8: return "ARKODE, Fehlberg 8(7)";
    case Peer::arkode_implicit_3: return "ARKODE, DIRK 3(2)";
    case Peer::arkode_implicit_4: return "ARKODE, SDIRK 4(3)";
    case Peer::arkode_explicit_first_4: return "ARKODE, ESDIRK 4(3)";
  }
  return "";
}

PeerRun run_peer(Peer peer, FirstOrderProblem& problem, double t0, const Vec& y0, double end, double tolerance,
                 bool tuned) {
  PeerRun out;
  PeerProblem user{problem, tolerance, 0, 0, {}, {}, {}, {}, {}};
  const auto n = static_cast<sunindextype>(y0.size());
  SUNContext context = nullptr;
  SUNContext_Create(nullptr, &context);
  N_Vector y = N_VNew_Serial(n, context);
  view(y) = y0;
  SUNMatrix matrix = SUNDenseMatrix(n, n, context);
  SUNLinearSolver linear = SUNLinSol_Dense(y, matrix, context);
  SUNNonlinearSolver fixed_point = nullptr;
  void* memory = nullptr;
  realtype t = t0;
  int status = -1;
  if (peer == Peer::cvode_adams || peer == Peer::cvode_bdf) {
    memory = CVodeCreate(peer == Peer::cvode_adams ? CV_ADAMS : CV_BDF, context);
    CVodeInit(memory, rate, t0, y);
    CVodeSetErrHandlerFn(memory, silent, nullptr);
    CVodeSetUserData(memory, &user);
    CVodeWFtolerances(memory, weights);
    CVodeSetMaxNumSteps(memory, most_steps);
    CVodeSetStopTime(memory, end);
    if (peer == Peer::cvode_adams) {
      fixed_point = SUNNonlinSol_FixedPoint(y, 0, context);
      CVodeSetNonlinearSolver(memory, fixed_point);
    } else {
      CVodeSetLinearSolver(memory, linear, matrix);
      CVodeSetJacFn(memory, jacobian);
    }
    status = CVode(memory, end, y, &t, CV_NORMAL);
    CVodeGetNumSteps(memory, &out.steps);
    CVodeFree(&memory);
  } else if (peer == Peer::arkode_explicit_5 || peer == Peer::arkode_explicit_8) {
    memory = ERKStepCreate(rate, t0, y, context);
    ERKStepSetErrHandlerFn(memory, silent, nullptr);
    ERKStepSetUserData(memory, &user);
    ERKStepWFtolerances(memory, weights);
    ERKStepSetMaxNumSteps(memory, most_steps);
    ERKStepSetTableNum(memory, peer == Peer::arkode_explicit_5 ? ARKODE_DORMAND_PRINCE_7_4_5 : ARKODE_FEHLBERG_13_7_8);
    ERKStepSetStopTime(memory, end);
    status = ERKStepEvolve(memory, end, y, &t, ARK_NORMAL);
    ERKStepGetNumSteps(memory, &out.steps);
    ERKStepFree(&memory);
  } else {
    memory = ARKStepCreate(nullptr, rate, t0, y, context);
    ARKStepSetErrHandlerFn(memory, silent, nullptr);
    ARKStepSetUserData(memory, &user);
    ARKStepWFtolerances(memory, weights);
    ARKStepSetMaxNumSteps(memory, most_steps);
    ARKStepSetTableNum(memory,
                       peer == Peer::arkode_implicit_3   ? ARKODE_ARK324L2SA_DIRK_4_2_3
                       : peer == Peer::arkode_implicit_4 ? ARKODE_SDIRK_5_3_4
                                                         : ARKODE_ARK436L2SA_DIRK_6_3_4,
                       ARKODE_ERK_NONE);
    ARKStepSetLinearSolver(memory, linear, matrix);
    ARKStepSetJacFn(memory, jacobian);
    if (tuned) ARKStepSetOptimalParams(memory);
    ARKStepSetStopTime(memory, end);
    status = ARKStepEvolve(memory, end, y, &t, ARK_NORMAL);
    ARKStepGetNumSteps(memory, &out.steps);
    ARKStepFree(&memory);
  }
  out.good = status >= 0 && std::abs(t - end) <= 1e-12 * std::abs(end);
  out.y = view(y);
  out.evaluations = user.evaluations;
  out.jacobians = user.jacobians;
  if (fixed_point != nullptr) SUNNonlinSolFree(fixed_point);
  SUNLinSolFree(linear);
  SUNMatDestroy(matrix);
  N_VDestroy(y);
  SUNContext_Free(&context);
  return out;
}

}  // namespace trammel::bench
