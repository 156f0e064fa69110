// A run that is shown in the browser while it goes on (`trammel run --view`): rows go to the pages that are open, and
// what people do there comes back before the next step. The run waits for nobody, unless somebody holds it.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>

#include "app/live_commands.h"
#include "app/live_history.h"
#include "app/live_push.h"
#include "app/live_server.h"
#include "app/view_events.h"
#include "app/view_format.h"
#include "trammel/run/simulation.h"

namespace trammel {

class LiveView {
 public:
  struct Options {
    std::optional<double> speed;  // times the clock; 0: held until a page says go, then 1; nothing: as fast as it can
    bool real_time = false;       // the run follows the clock by itself
    const std::atomic<bool>* interrupted = nullptr;
    // The model with these parameters, ready to run; throws Failure. Called when a page asks for a new start.
    std::function<Model(const std::vector<std::string>& set)> reload;
  };
  explicit LiveView(Options options);
  ~LiveView();

  const std::string& address() const { return server_->address(); }

  // Before each run: adds forces that push bodies, and outputs that record the inputs.
  Model prepare(Model model);
  void attach(const Simulation& simulation);
  Orders steer(const State& state);
  // The mechanism has no accelerations with the inputs of the last orders, and the run goes on without them.
  void refused(double t);
  // Hands everything on to `inner`, with what was done to the run; both must outlive it.
  std::unique_ptr<TrajectorySink> sink(TrajectorySink& inner);
  // Behind a run: the model to start anew with; nothing: the user has ended the program. Waits.
  std::optional<Model> next();
  bool stopped_for_next() const { return next_.has_value(); }

  // From the thread of the server, and of tests.
  LiveServer::Message header();
  LiveServer::Message frame();
  LiveServer::Message status();
  void receive(std::string_view text);

 private:
  class Sink;
  struct Input {
    std::string name, unit;
    double value = 0;
  };
  // What orders have changed, to be taken back if they are refused.
  struct Before {
    std::vector<std::pair<std::size_t, double>> inputs;
    std::optional<std::size_t> pushing, push_deed;
    double pushed_at = 0;
    std::size_t left_out = 0, deeds = 0;
  };
  using Lock = std::unique_lock<std::mutex>;

  LiveServer::Source source();
  void obey(const PauseRun&);
  void obey(const StepRun&);
  void obey(const PaceRun&);
  void obey(const SetInput&);
  void obey(const PushBody&);
  void obey(const ReleaseBody&);
  void obey(const RestartRun&);

  // From that of the run.
  bool must_wait(double t, double now);
  void try_restart(Lock& lock);
  void apply_inputs(double t);
  void apply_push(const State& state, double now, Orders& orders);
  std::optional<std::size_t> note_deed(Json deed);
  void end_push(double t);
  void begin(std::shared_ptr<const std::vector<Table>> tables, std::shared_ptr<const Provenance> provenance);
  void add(std::span<const double> row);
  void add_event(std::span<const double> row);
  void finish(RunStatus status, const std::string& failure);
  std::string with_deeds(std::string_view summary) const;
  LiveServer::Message packed_rows(unsigned& version);
  void cannot_show(unsigned version, const std::string& why);
  std::string message() const;
  bool interrupted() const { return options_.interrupted != nullptr && *options_.interrupted; }

  Options options_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable wake_;
  LiveServer::Source::Versions versions_;
  unsigned run_ = 0;
  // the run as it stands
  std::shared_ptr<const std::vector<Table>> tables_;  // that of rows, and of events; shared, for it is long to copy
  std::shared_ptr<const Provenance> provenance_;
  RowHistory history_, events_;
  std::optional<EventTexts> event_texts_;
  std::deque<std::vector<double>> recent_events_;  // for pages that have their header
  RunStatus run_status_ = RunStatus::running;
  std::string failure_, refused_command_, refused_start_, refused_input_, cannot_show_;
  std::optional<unsigned> not_packed_;  // the version of the header that no page can take
  double end_ = 0, time_ = 0;
  // what is wanted of it
  LiveNames names_;
  std::string push_prefix_;
  std::vector<Input> inputs_;
  std::vector<Parameter> parameters_;
  std::vector<std::size_t> changed_inputs_;
  std::vector<double> acting_;  // values of the inputs in the run
  bool held_ = false;
  std::size_t rows_ = 0, until_row_ = 0;
  double speed_ = 0, pace_t_ = 0, pace_clock_ = -1;
  std::optional<PushBody> push_;
  double push_heard_ = 0;
  std::optional<RestartRun> restart_;
  std::vector<std::string> set_;  // parameters of all starts so far
  std::optional<Model> next_;
  // what was done, for the result
  Json deeds_ = Json::array();
  std::size_t left_out_ = 0;              // that found no room there
  std::optional<std::size_t> push_deed_;  // of the push that goes on

  // of the thread of the run alone
  std::optional<Pushes> pushes_;
  const Equations* equations_ = nullptr;
  std::optional<Workspace> work_;
  Pushes::Inputs orders_;
  Before before_;
  std::optional<std::size_t> pushing_;
  double pushed_at_ = 0;

  std::unique_ptr<LiveServer> server_;  // last: its thread uses all of the above
};

}  // namespace trammel
