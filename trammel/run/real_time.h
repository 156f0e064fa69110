// Real time: steps of fixed size and cost, held back until the clock on the wall shows the time they compute, and a
// report of what they took (TEXT section 7.3).
#pragma once
#include <sched.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace trammel {

class Equations;

struct RealTimeReport {
  double budget = 0;                           // the step size, s
  double worst = 0, percentile = 0, mean = 0;  // of a step's computation, s; 99.9 % take at most `percentile`
  double worst_computing = 0;                  // by the processor's clock: what a step takes once it has a core, s
  bool locked = false;                         // memory stays in place: no step waits for a page
  bool first = false;                          // other programs give way
  double away = 0;                             // longest time the processor was taken away while it only waited, s
  double with_output = 0;                      // mean with what is recorded, s
  long steps = 0, overruns = 0;                // steps that, with what was recorded, ended behind their time
  double latest = 0;                           // by at most so much, s
  std::optional<double> given_up;              // largest distance from the converged run, by length and by 1 rad
  double given_up_at = 0;                      // s
};

// Measures steps and waits for the clock. From `begin` on, where the system allows it, memory stays in place and other
// programs give way; both end with the clock.
class StepClock {
 public:
  StepClock() = default;
  ~StepClock();
  StepClock(const StepClock&) = delete;
  StepClock& operator=(const StepClock&) = delete;

  void begin(double t, double h, std::size_t steps);  // steps: as many as are expected
  void step_starts();
  void step_ends();                                      // computed, not yet recorded
  void wait_until(double t);                             // recorded; waits until the clock is at t
  void postpone(double seconds) { origin_ += seconds; }  // the run was held on purpose
  RealTimeReport report() const;

 private:
  double origin_ = 0, first_t_ = 0, h_ = 0, started_ = 0, output_ = 0;
  std::vector<double> steps_;
  long overruns_ = 0;
  double latest_ = 0, processor_ = 0, computing_ = 0, away_ = 0;
  bool locked_ = false, first_ = false;
  sched_param usual_{};
  int usual_policy_ = 0;
};

// Positions after each step of a run, to be compared with those of another.
struct Path {
  std::vector<double> t, q;
  void reserve(std::size_t steps, std::size_t coordinates) {
    t.reserve(steps);
    q.reserve(steps * coordinates);
  }
};
// The largest distance, as RealTimeReport::given_up.
void compare_paths(const Equations& equations, const Path& fast, const Path& converged, RealTimeReport& report);

}  // namespace trammel
