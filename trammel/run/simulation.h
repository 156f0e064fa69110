// The time loop: consistent start, steps under control, outputs, statistics, and a report that explains a failure.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <optional>

#include "trammel/equations/equations.h"
#include "trammel/initial/consistent.h"
#include "trammel/integrate/control/step_controller.h"
#include "trammel/integrate/registry.h"
#include "trammel/run/recorder.h"
#include "trammel/write/trajectory.h"

namespace trammel {

// Seconds of wall-clock time by part of the program.
struct PartTimes {
  double start = 0, steps = 0, output = 0;
};

struct RunSummary {
  std::string method, title;
  double end = 0, reached = 0;
  long steps = 0, outputs = 0;
  long rejected_error = 0, rejected_newton = 0, rejected_evaluation = 0, rejected_angle = 0;
  double least_step = 0, greatest_step = 0;
  Counts counts;
  EnergyBook energy;
  double position_residual = 0, velocity_residual = 0;  // largest at outputs
  std::string limiting;                                 // the element that limited the step most often
  long limiting_steps = 0;
  PartTimes times;
  Sizes sizes;
  int freedoms = 0, redundant = 0;
  double length = 1;
};
std::string to_text(const RunSummary&);
std::string to_json(const RunSummary&);

// Why a run could not go on, with evidence: parts of the model, likely causes ranked, what to try.
struct FailureReport {
  double t = 0, h = 0;
  std::string what;
  std::string body, constraint;     // parts of the model the last attempts point to
  std::vector<std::string> causes;  // most likely first
  std::vector<std::string> try_next;
  std::string state_file;  // where the last good state was saved; empty if nowhere
};
std::string to_text(const FailureReport&);
std::string to_json(const FailureReport&);

struct RunOptions {
  std::function<void(double t, double end, long steps)> progress;  // called now and then
  const std::atomic<bool>* interrupted = nullptr;                  // set by a signal handler
  std::function<void(const std::string&)> note;                    // what the start did; warnings
  std::string state_file;                                          // where to save the last good state if the run fails
  bool analyse_rank = true;
  bool from_equilibrium = false;  // start from the static equilibrium instead of the drawn position
};

struct RunResult {
  RunStatus status = RunStatus::finished;
  RunSummary summary;
  std::optional<FailureReport> failure;
};

class Simulation {
 public:
  // Compiles the model and resolves its method; throws Failure.
  explicit Simulation(Model model);
  ~Simulation();

  const Equations& equations() const { return *equations_; }
  const MethodInfo& method() const { return *method_; }
  const InitialReport& initial() const { return initial_; }
  Provenance provenance() const;

  // Consistent start, once; `run` does it if it was not done.
  void start(const RunOptions& options = {});
  RunResult run(TrajectorySink& sink, const RunOptions& options = {});

  // For stepping by hand: after start().
  Integrator& integrator() { return *integrator_; }
  // Complete state between steps: a run continued from it gives the same bits. Only for the same model and settings.
  Bytes save() const;
  void restore(std::span<const std::byte> bytes);

 private:
  double first_step() const;
  void start_from_equilibrium(const RunOptions& options);
  std::string fingerprint() const;
  void make_recorder();
  FailureReport explain(const Attempt& attempt, double h, long error_rejections, long newton_rejections) const;
  void write_output(double t, TrajectorySink& sink, RunSummary& summary);

  std::unique_ptr<Equations> equations_;
  const MethodInfo* method_ = nullptr;
  MethodSettings settings_;
  InitialReport initial_;
  Workspace work_;
  std::unique_ptr<AccelerationSolver> accelerations_;
  std::unique_ptr<Integrator> integrator_;
  std::unique_ptr<Recorder> recorder_;
  StepController controller_;
  State output_state_;
  Rates output_rates_;
  double h_ = 0;
  bool started_ = false;
};

}  // namespace trammel
