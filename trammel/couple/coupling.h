// The gluing of participants: over each macro step inputs are searched, by Newton's method or one of its relatives,
// with which the participants' motions meet the conditions of the scheme at the gluing joints.
#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "trammel/couple/gluing.h"
#include "trammel/couple/one_pass.h"
#include "trammel/couple/participant.h"
#include "trammel/couple/predictor.h"
#include "trammel/couple/scheme.h"
#include "trammel/write/trajectory.h"

namespace trammel {

enum class InterfaceSolver {
  differences,  // full Newton, derivatives by finite differences of the participants at each iteration
  compliance,   // chord Newton: the derivatives of free frames, W times moments of the input shape
  sensitivity,  // full Newton, derivatives from the participants
  broyden,      // compliance at the start of a step, then improved by what the iterations show
  chord,        // derivatives by finite differences, kept over steps until the iteration slows down
};

struct CouplingSettings {
  double step = 0.01, end = 1;
  CouplingScheme scheme;
  InterfaceSolver solver = InterfaceSolver::compliance;
  double tolerance = 1e-10;  // on each condition: m and m/s, rad and rad/s
  double increment = 1e-3;   // of differences, relative to max(1, |input|)
  int most_iterations = 30;
  Prediction prediction = Prediction::automatic;
  int degree = 3;  // of the predictor
  bool restart_at_jumps = true;
  std::optional<double> output_step;     // record inside of macro steps on this grid; none: at their ends
  bool output_steps = false;             // record at the union of the participants' own steps
  std::optional<double> coupling_error;  // macro steps are chosen for it: largest |g| inside a step
  double least_step = 0, greatest_step = 0;
  bool threads = false;                     // participants side by side
  double patience = 60;                     // s by the clock that a participant elsewhere may take for an answer
  const std::atomic<bool>* stop = nullptr;  // set by a signal: nobody is waited for any longer
  double save_every = 1;                    // s by the clock between states kept for the loss of a participant
  double fit = 1e-6;                        // how far joints may be open at the start, m and m/s
};

struct CouplingSummary {
  RunStatus status = RunStatus::finished;
  long steps = 0, rejected = 0, iterations = 0, co_simulations = 0;
  double reached = 0;
  double mean_error = 0, greatest_error = 0, mean_rate_error = 0, greatest_rate_error = 0;  // at recorded points
  long recorded = 0;
  double seconds = 0, jacobian_seconds = 0;
  std::optional<double> least_gain, greatest_gain;  // of schemes that make each step once: see one_pass.h
  std::string failure;                              // who stopped the run, and why
};
std::string to_text(const CouplingSummary& summary);

class Coupling {
 public:
  // `joints` name frames by their index in `frames`. Throws Failure.
  Coupling(std::vector<std::unique_ptr<Participant>> participants, std::vector<InterfaceFrame> frames,
           std::vector<Item> joints, CouplingSettings settings);
  ~Coupling();

  // Starts the participants. Throws Failure if a joint does not fit where they stand.
  void start(const std::function<void(const std::string&)>& note = {});
  CouplingSummary run(TrajectorySink& sink, const Provenance& provenance = {},
                      const std::atomic<bool>* interrupted = nullptr);
  // One macro step by hand, of the size of the settings unless it is controlled; false: it failed. What it found stands
  // until accept_step.
  bool advance(double H);
  void accept_step();

  double t() const { return t_; }
  const Gluing& gluing() const { return *gluing_; }
  const Vec& inputs() const { return U_; }  // of the last step: multipliers, coefficient after coefficient
  const std::vector<FrameState>& frames() const { return frames_now_; }
  const CouplingSummary& summary() const { return summary_; }
  Participant& participant(int i) { return *participants_[i]; }
  // The last state that is known of everybody: of the end of the run, or of a moment before it if one was lost.
  const Bytes& saved() const { return saved_; }
  Bytes save();
  void restore(std::span<const std::byte> bytes);
  void visit(Archive& archive);  // for both

 private:
  void plan_samples(double H);
  void begin_step();
  bool try_step();
  bool pass_once();
  bool pass_through(std::size_t participant, const Vec& extrapolated, const Mat& B);
  void require_one_pass(const std::function<void(const std::string&)>& note);
  bool finish_participant(std::size_t participant);
  bool co_simulate(const Vec& U);
  bool run_participants();
  void conditions(Vec& out);
  void set_wrenches(const Vec& U, int only = -1);  // of one participant, or of all
  double stale_wrenches(const Vec& U);             // what newer poses would change of the conditions
  bool jacobian(const Vec& U, const Vec& value, Mat& J);
  void frames_at(int sample, std::vector<FrameState>& out) const;
  void update_compliance();
  void record(TrajectorySink& sink);
  void record_row(TrajectorySink& sink, double t, double s, const std::vector<FrameState>& frames);
  std::vector<Table> tables() const;
  void fail(std::string why);
  static double clock_now();  // s

  std::vector<std::unique_ptr<Participant>> participants_;
  std::vector<InterfaceFrame> frames_;
  std::vector<Item> joints_;
  CouplingSettings settings_;
  std::unique_ptr<Gluing> gluing_;
  InputPredictor predictor_;
  OnePass one_pass_;
  double t_ = 0, H_ = 0;
  double grid_start_ = 0;  // fixed macro steps end at its multiples from there
  long k_ = 0;             // steps since
  std::vector<FrameState> frames_now_, scratch_;
  // Where the wrenches of each coefficient are directed, and what the last co-simulation says of it.
  std::vector<std::vector<FrameState>> node_frames_, next_nodes_;
  std::vector<MacroStep> steps_;
  std::vector<MacroResult> results_;
  std::vector<double> parts_;  // s of the samples
  std::vector<int> node_sample_, condition_sample_;
  int error_sample_ = 0;  // where the coupling error is estimated
  std::vector<char> recorded_;
  Vec U_, guess_, value_;
  Mat A_, W_, J_, last_W_;  // W of this step and the one before
  bool has_compliance_ = true, rolls_back_ = true, W_is_current_ = false;
  double next_H_ = 0, last_H_ = 0, J_step_ = 0;
  CouplingSummary summary_;
  Bytes saved_;
  int last_iterations_ = 0;
  long last_co_simulations_ = 0;
};

}  // namespace trammel
