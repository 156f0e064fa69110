// A Trammel model as participant. Each interface frame gets a wrench whose components are expressions of external
// inputs: the coefficients of the input shape, the start and the size of the macro step. Method, step and tolerance are
// those of the model; at the start of each macro step, where the inputs may jump, the method starts anew. Steps end at
// corners over time, and at all others if the model asks for it (run/events.h); a corner at the end of a macro step is
// passed at the start of the next one.
#pragma once
#include "trammel/couple/participant.h"
#include "trammel/run/simulation.h"

namespace trammel {

class ModelParticipant final : public Participant {
 public:
  struct Options {
    std::string name;
    std::vector<std::string> frames;  // of the model, by name
    InputShape shape = InputShape::constant;
    std::unique_ptr<TrajectorySink> sink;  // what the model records; null: nothing
  };
  // Throws Failure: a frame is unknown, or the model cannot be run.
  ModelParticipant(Model model, Options options);
  ~ModelParticipant() override;

  const ParticipantInfo& info() const override { return info_; }
  std::vector<FrameState> start() override;
  void begin(const MacroStep& step) override;
  void finish(MacroResult& result) override;
  void accept() override;
  Mat compliance() override;
  Mat sensitivity(std::span<const int> samples) override;
  Bytes save() override;
  void restore(std::span<const std::byte> bytes) override;
  void visit(Archive& archive);  // for both
  void close(bool good) override;

  const Equations& equations() const { return simulation_.equations(); }
  const State& state() const { return accepted_; }  // at the last accepted point
  const Counts& counts() { return simulation_.integrator().counts(); }

 private:
  static Model with_interface(Model model, const Options& options, std::vector<int>& frames, int& first_input);
  void set_inputs(const MacroStep& step, State& state) const;
  // From where `trial_` stands to `to`; the inputs stay. False: result_ says why.
  bool integrate(double to);
  bool fail(std::string message);
  bool fail_to_step();
  // How the steps to `to` are chosen, from where `trial_` stands.
  void set_step_rule(double to);
  // Goes behind the event that the last step ended at, if it did; false: result_ says why not.
  bool pass_event(double& t);
  bool chatters();  // then fails
  void save_method();
  bool shift(const MacroStep& step);
  bool factor_mass(const State& state);
  double ode45_first_step(double span) const;
  // Until t, where the last step ended; `anew`: the method started there, and has no step to look into.
  void take_samples(double t, bool at_end, bool anew = false);
  void frame_states(const State& state, FrameState* out);
  void wrench_map(const State& state, Mat& B);  // velocities' forces by unit wrenches on the frames
  void frame_variations(const Vec& dq, const Vec& dv, double* out) const;  // at work_, 12 a frame
  class Variation;  // the motion beside the last try, for sensitivity()

  std::vector<int> frames_;
  int first_input_ = 0;
  InputShape shape_;
  std::unique_ptr<TrajectorySink> sink_;
  Simulation simulation_;
  ParticipantInfo info_;
  bool ode45_ = false, fixed_ = false;
  Workspace work_;
  SaddleSystem saddle_;
  std::unique_ptr<Recorder> recorder_;
  // the accepted point, and the last try from it
  State accepted_, trial_;
  Bytes method_;  // integrator and stepper at the accepted point: coordinates may have been chosen on the way
  Rates rates_;
  MacroStep step_;
  MacroResult result_;
  Vec true_inputs_;
  std::vector<double> times_;             // of samples and path, in order
  std::vector<int> sample_of_, path_of_;  // by place in times_; -1: none
  std::vector<State> states_;             // at the samples
  std::vector<State> path_;               // at the nodes of the sensitivity's integration
  std::size_t next_time_ = 0;
  std::vector<double> start_row_;  // recorded with the first step
};

}  // namespace trammel
