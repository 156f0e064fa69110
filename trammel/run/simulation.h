// The time loop: consistent start, steps under control, outputs, statistics, and a report that explains a failure.
#pragma once
#include <atomic>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "trammel/equations/equations.h"
#include "trammel/initial/consistent.h"
#include "trammel/integrate/registry.h"
#include "trammel/ode/control/step_controller.h"
#include "trammel/run/constraint_watch.h"
#include "trammel/run/contact_watch.h"
#include "trammel/run/diagnose.h"
#include "trammel/run/energy_guard.h"
#include "trammel/run/events.h"
#include "trammel/run/real_time.h"
#include "trammel/run/recorder.h"
#include "trammel/run/stress_watch.h"
#include "trammel/write/trajectory.h"

namespace trammel {

class OutputStep;

// Seconds of wall-clock time by part of the program.
struct PartTimes {
  double start = 0, steps = 0, output = 0;
};

struct RunSummary {
  std::string method, title;
  std::string formulation, remark;
  double end = 0, reached = 0;
  long steps = 0, outputs = 0;
  long rejected_error = 0, rejected_newton = 0, rejected_evaluation = 0, rejected_angle = 0, rejected_energy = 0;
  double least_step = 0, greatest_step = 0;
  Counts counts;
  Counts output_work;  // of steps to output times, not in `counts`
  EnergyBook energy;
  double position_residual = 0, velocity_residual = 0;  // largest at outputs
  long values_missing = 0;      // of the user's outputs: could not be evaluated, recorded as not-a-number
  long outputs_as_stepped = 0;  // accelerations and reactions could not be solved for: those of the method are recorded
  long outputs_interpolated = 0;  // no step led to them
  long events = 0;
  std::string limiting;  // the element that limited the step most often
  long limiting_steps = 0;
  PartTimes times;
  Sizes sizes;
  int freedoms = 0, redundant = 0;
  double length = 1;
  std::optional<RealTimeReport> real_time;
  std::vector<HotSpot> hot_spots;  // of stress, where it is watched
  // Contacts of sets: how many pairs there are, how often a list of those that are near was made, and how many it had.
  int pairs = 0, most_pairs_near = 0;
  long pair_lists = 0;
  double mean_pairs_near = 0;
};
std::string to_text(const RunSummary&);
std::string to_json(const RunSummary&);

// When a running simulation saves itself; `write` is called between steps, after everything recorded was flushed.
struct CheckpointPlan {
  std::function<void()> write;
  double every_seconds = 0;  // of simulated time
  long every_steps = 0;
  double every_wall_seconds = 0;
};

// What someone who watches a run wants of it before its next step.
struct Orders {
  bool stop = false;                                         // ends as if interrupted
  double waited = 0;                                         // s by the clock; real time does not count them
  double longest_step = std::numeric_limits<double>::max();  // s, of a controlled step
  std::span<const std::pair<int, double>> inputs{};          // number of an input, and its value from now on
};

// A part of a run, for programs that step it by hand: the next one goes on where it stopped. Where the last step was
// cut at its end, the step size is not.
struct RunLeg {
  std::optional<double> until;  // a time, at most the end of the run
  long most_steps = 0;          // accepted ones; 0: any number
  std::optional<double> step;   // of a run with a fixed step: another size, in this part only
  bool no_outputs = false;      // nobody keeps them: they are not computed
};

struct RunOptions {
  std::function<void(double t, double end, long steps)> progress;  // called now and then
  const std::atomic<bool>* interrupted = nullptr;                  // set by a signal handler
  std::function<void(const std::string&)> note;                    // what the start did; warnings
  // If the run fails: gets the last good state and returns the name of the file it saved it in, empty if it did not.
  std::function<std::string(const Bytes&)> save_failed;
  bool analyse_rank = true;
  CheckpointPlan checkpoint;
  bool continue_result = false;   // after restore(): takes up the sink's unfinished result instead of beginning one
  bool for_statics = false;       // start() alone, and positions only: no accelerations, no method
  bool from_equilibrium = false;  // start in the static equilibrium, as with Model::start_in_equilibrium
  bool real_time = false;         // wait for the clock after each step, and report; needs a fixed step
  Path* path = nullptr;           // gets the positions after each step
  std::function<Orders(const State&)> steer;  // asked before each step, may wait; the state is that of the last one
  std::function<void(double t)>
      inputs_refused;         // those of the last orders: the mechanism has no accelerations with them
  std::optional<RunLeg> leg;  // only so far
};

struct RunResult {
  RunStatus status = RunStatus::finished;
  RunSummary summary;
  std::optional<FailureReport> failure;
  std::vector<Problem> warnings;  // about what was computed
};

class Simulation {
 public:
  // Compiles the model and resolves its method; throws Failure.
  // Of contacts in sets those that are near are followed by `run` alone: who steps by hand takes all pairs.
  explicit Simulation(Model model, Pairs pairs = Pairs::near);
  ~Simulation();

  const Equations& equations() const { return *equations_; }
  const MethodInfo& method() const { return *method_; }
  const InitialReport& initial() const { return initial_; }
  Provenance provenance() const;

  // Consistent start, once; `run` does it if it was not done.
  void start(const RunOptions& options = {});
  RunResult run(TrajectorySink& sink, const RunOptions& options = {});

  const State& start_state() const { return output_state_; }  // after start()
  const Rates& start_rates() const { return output_rates_; }

  // For stepping by hand: after start().
  Integrator& integrator() { return *integrator_; }
  const StepController& controller() const { return controller_; }
  double next_step() const { return h_; }
  // What would be recorded of the present state, in the order of output_signals(); after start().
  const std::vector<double>& output_row();
  const std::vector<Signal>& output_signals();
  // Complete state between steps: a run continued from it gives the same bits. Only for the same model and settings;
  // the end may be another one.
  Bytes save() const;
  void restore(std::span<const std::byte> bytes);
  void visit(Archive& archive);  // for both
  // Goes on from another state between two parts of a run: inputs, positions or velocities were set from outside, and
  // the method starts anew. `consistent`: positions and velocities are first brought onto the constraints, by the least
  // change; the stages say what moved. Throws Failure, and stays where it was, if the state is none (numbers that are
  // not finite, quaternions not of length 1), cannot be brought there, or has no accelerations.
  std::vector<StageReport> change_state(State state, bool consistent);
  // What a saved state belongs to: everything in the model that is computed with, the method and its settings.
  std::string fingerprint() const;

 private:
  double first_step() const;
  double careful_step(const State& state, const Rates& rates) const;
  void start_from_equilibrium(const RunOptions& options);
  void warn_of_overlaps();
  void make_recorder();
  void record_start();
  void describe_run(RunSummary& summary) const;
  bool energy_in_doubt(double t) const;
  Problem energy_warning() const;
  void list_pairs(const State& state, double margin);
  Problem constraint_warning() const;
  void doubt_coordinates(RunResult& result) const;
  class Loop;  // run_loop.h: the steps of one run
  void write_row(TrajectorySink& sink, std::size_t table, const std::vector<double>& row);
  void write_output(double t, TrajectorySink& sink);
  bool find_output_state(double t);
  const Rates& rates_to_book();
  void write_outputs_of_step(double t, double h, TrajectorySink& sink);
  // Those that a corner over time is jumped over with, as of the state before it.
  void write_outputs_until(double t, TrajectorySink& sink);
  bool checkpoint_due(const CheckpointPlan& plan, double now) const;
  void write_checkpoint(const CheckpointPlan& plan, TrajectorySink& sink);

  // What is counted along a run, and goes on when it is continued.
  struct Progress {
    long steps = 0, outputs = 0, next_output = 0;
    long rejected_error = 0, rejected_newton = 0, rejected_evaluation = 0, rejected_angle = 0, rejected_energy = 0;
    // Energies that did not add up, with few steps between; the step before the last of them.
    long unexplained = 0, last_unexplained = 0;
    double energy_doubted = -1;  // when its imbalance first was a tenth of what was exchanged, s; negative: never
    long values_missing = 0, outputs_as_stepped = 0, outputs_interpolated = 0;
    Counts output_work;
    double least_step = 0, greatest_step = 0, position_residual = 0, velocity_residual = 0;
    double reach = 0;                     // greatest coordinate
    long pair_lists = 0, pair_steps = 0;  // pairs in play, summed up over accepted steps
    int most_pairs = 0;
    PartTimes times;
  };
  struct LastCheckpoint {
    double t = 0, wall = 0;
    long steps = 0;
  };

  std::unique_ptr<Equations> equations_;
  const MethodInfo* method_ = nullptr;
  MethodSettings settings_;
  InitialReport initial_;
  Workspace work_;
  std::unique_ptr<AccelerationSolver> accelerations_;
  std::unique_ptr<Integrator> integrator_;
  std::unique_ptr<OutputStep> output_step_;  // null: outputs between steps are interpolated
  std::unique_ptr<Events> events_;
  std::unique_ptr<Recorder> recorder_;
  std::unique_ptr<ConstraintWatch> constraints_;
  std::unique_ptr<ContactWatch> contacts_;
  std::unique_ptr<StressWatch> stress_;
  std::unique_ptr<EnergyGuard> energy_guard_;
  StepController controller_;
  State output_state_;
  Rates output_rates_;
  Progress progress_;
  std::vector<double> limited_;  // steps limited by each velocity
  LastCheckpoint last_checkpoint_;
  AttemptLog log_;
  double h_ = 0;
  bool started_ = false;
};

}  // namespace trammel
