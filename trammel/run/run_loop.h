// The steps of one run, from where the simulation stands to its end: try a step, keep or refuse it, record, watch
// energy, constraints and events, and stop with a reason.
#pragma once
#include "trammel/run/real_time.h"
#include "trammel/run/simulation.h"

namespace trammel {

double clock_seconds();

class Simulation::Loop {
 public:
  Loop(Simulation& simulation, TrajectorySink& sink, const RunOptions& options);
  RunResult run();

 private:
  void begin();
  void step();
  void take_orders();
  void change_inputs(std::span<const std::pair<int, double>> inputs);
  void keep(double h);
  void count(double h);
  bool book(double before_step, double noise);
  void record(double h);
  void pass_outputs();
  void judge(double h, double before_step, bool explained, double noise_of_sum);
  bool handle_events();
  void report_progress(double output_began);
  void refuse(double h);
  void accuse(const State& from, const State& to);
  void give_up(StopReason reason, double h);
  void finish();

  Simulation& s_;
  Stepper* stepper_ = nullptr;
  TrajectorySink& sink_;
  const RunOptions& options_;
  RunResult result_;
  const SimulationSettings* settings_ = nullptr;  // the model's
  double stop_ = 0;                               // where this part of the run ends; end_, if it is the last one
  double own_step_ = 0;
  long steps_before_ = 0;
  double end_ = 0, least_ = 0, greatest_ = 0, t_ = 0;
  double longest_ = std::numeric_limits<double>::max();  // as ordered
  bool fixed_ = false, over_ = false, no_outputs_ = false;
  bool passed_ = false;  // the attempt in hand
  long attempts_ = 0, watched_from_ = 0, rejected_here_ = 0;
  double watched_t_ = 0;
  std::optional<Culprit> culprit_;
  std::optional<ConstraintViolation> violation_;
  std::optional<UnexplainedEnergy> energy_;
  std::string suspect_;  // a force named among unexplained energies: behind the place it may be silent
  const Rates without_multipliers_;
  Bytes last_good_;
  StepClock clock_;
  double clock_start_ = 0, clock_first_ = 0, output_seconds_ = 0, last_progress_ = 0;
};

}  // namespace trammel
