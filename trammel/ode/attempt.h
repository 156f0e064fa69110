// What came of one step that was tried, and the work counted so far.
#pragma once
#include <array>

namespace trammel {

enum class Verdict {
  ok,
  newton_diverged,  // the corrector did not converge, with derivatives of this very step
  singular_matrix,
  evaluation_rejected,  // an element cannot be evaluated at the trial state
  not_finite,           // a residual is infinite or not a number
  angle_too_large,      // a rotation so fast and unsteady that its turns could be miscounted
};
const char* to_text(Verdict);

struct Attempt {
  Verdict verdict = Verdict::ok;
  double error = 0;        // weighted local error by tolerance: accepted if <= 1
  double suggested_h = 0;  // of a method that chooses its order and step together; 0: the controller decides
  int newton_iterations = 0;
  double newton_rate = 0;   // contraction observed
  int worst_velocity = -1;  // velocity index with the largest share of the error, or of the last correction
  int worst_row = -1;       // constraint row with the largest residual, if the step failed
};

// Work counted since the start of the run.
struct Counts {
  long steps = 0, evaluations = 0, linearisations = 0, combinations = 0, factorisations = 0, refactorisations = 0,
       solves = 0;
  long newton_iterations = 0;
  long unrefined = 0;                      // solves for accelerations that the bound of sweeps ended
  long explicit_evaluations = 0;           // of part A, by methods that split
  std::array<long, 4> predictor_degree{};  // steps started with each degree
};

}  // namespace trammel
