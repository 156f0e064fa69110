#include "app/live_view.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <new>

#include "app/view_data.h"
#include "app/view_page.h"
#include "trammel/base/numbers.h"

namespace trammel {
namespace {

constexpr std::size_t history_bytes = std::size_t{24} << 20, event_bytes = std::size_t{128} << 10;
constexpr std::size_t most_recent_events = 20;
constexpr double push_lasts = 0.2;    // s behind the last message
constexpr double greatest_lag = 0.1;  // s that a run which is too slow for its pace may make good
constexpr auto nap = std::chrono::milliseconds(20);
constexpr std::size_t most_deeds = 10'000;

double clock_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Messages begin with what they are and the number of the run; numbers are little-endian, as all machines have them
// that this runs on.
template <class Number>
void append(std::string& bytes, Number number) {
  char raw[sizeof number];
  std::memcpy(raw, &number, sizeof number);
  bytes.append(raw, sizeof number);
}

std::string message_of(char kind, unsigned run) {
  std::string bytes;
  append(bytes, static_cast<std::uint32_t>(kind));
  append(bytes, static_cast<std::uint32_t>(run));
  return bytes;
}

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

// Between the run and the files: takes a copy of each row of the first table, and of each event.
class LiveView::Sink final : public TrajectorySink {
 public:
  Sink(LiveView& view, TrajectorySink& inner) : view_(view), inner_(inner) {}

  void begin(const std::vector<Table>& tables, const Provenance& provenance) override {
    Provenance watched = provenance;
    watched.set("watched", "with --view: the summary lists what was done to the run");
    inner_.begin(tables, watched);
    std::vector<Table> shown{tables[0]};
    events_ = events_table(tables);
    if (events_) shown.push_back(tables[*events_]);
    view_.begin(std::make_shared<const std::vector<Table>>(std::move(shown)),
                std::make_shared<const Provenance>(watched));
  }
  bool append(std::size_t table, std::span<const double> row) override {
    if (table == 0) view_.add(row);
    if (events_ == table) view_.add_event(row);
    return inner_.append(table, row);
  }
  void flush() override { inner_.flush(); }
  void finish(RunStatus status, std::string_view summary_json, std::string_view failure_json) override {
    view_.finish(status, std::string(failure_json));
    inner_.finish(status, view_.with_deeds(summary_json), failure_json);
  }

 private:
  LiveView& view_;
  TrajectorySink& inner_;
  std::optional<std::size_t> events_;  // the table of them
};

LiveView::LiveView(Options options)
    : options_(std::move(options)), held_(options_.speed == 0.0), speed_(held_ ? 1 : options_.speed.value_or(0)) {
  server_ = std::make_unique<LiveServer>([](const std::string& host) { return live_page(host); }, source());
}

LiveView::~LiveView() = default;

std::unique_ptr<TrajectorySink> LiveView::sink(TrajectorySink& inner) { return std::make_unique<Sink>(*this, inner); }

Model LiveView::prepare(Model model) {
  const Lock lock(mutex_);
  names_ = {};
  inputs_.clear();
  parameters_ = model.parameters;
  end_ = model.simulation.end;
  for (const Parameter& parameter : parameters_) names_.parameters.push_back(parameter.name);
  for (const trammel::Input& input : model.inputs) {
    names_.inputs.push_back(input.name);
    inputs_.push_back({input.name, input.unit, input.value});
    model.outputs.push_back({"input." + input.name, input.unit, ExpressionText{input.name, input.where}});
  }
  pushes_.emplace(model);
  names_.bodies = pushes_->bodies();
  push_prefix_ = pushes_->prefix();
  changed_inputs_.clear();
  push_.reset();
  pushing_.reset();
  next_.reset();
  restart_.reset();
  deeds_ = Json::array();
  left_out_ = 0;
  push_deed_.reset();
  acting_.clear();
  for (const Input& input : inputs_) acting_.push_back(input.value);
  return model;
}

void LiveView::attach(const Simulation& simulation) {
  equations_ = &simulation.equations();
  work_ = equations_->make_workspace();
}

// ---- the thread of the run

bool LiveView::must_wait(double t, double now) {
  if (interrupted() || next_) return false;
  if (held_ && rows_ >= until_row_) {
    pace_clock_ = -1;
    return true;
  }
  if (held_ || speed_ <= 0 || options_.real_time) return false;
  const double late = pace_clock_ < 0 ? 2 * greatest_lag : now - pace_clock_ - (t - pace_t_) / speed_;
  if (late > greatest_lag) {
    pace_clock_ = now;
    pace_t_ = t;
  }
  return late < 0;
}

Orders LiveView::steer(const State& state) {
  Orders orders;
  orders_.clear();
  Lock lock(mutex_);
  const double arrived = clock_now();
  double now = arrived;
  time_ = state.t;
  for (;;) {
    if (restart_) {
      try_restart(lock);
      now = clock_now();
    }
    if (!must_wait(state.t, now)) break;
    wake_.wait_for(lock, nap);
    now = clock_now();
  }
  orders.stop = next_.has_value() || interrupted();
  orders.waited = now - arrived;
  before_ = {{}, pushing_, push_deed_, pushed_at_, left_out_, deeds_.size()};
  apply_inputs(state.t);
  apply_push(state, now, orders);
  orders.inputs = orders_;
  return orders;
}

// A model that cannot run must not end the run that can.
void LiveView::try_restart(Lock& lock) {
  std::vector<std::string> set = set_;
  set.insert(set.end(), restart_->set.begin(), restart_->set.end());
  restart_.reset();
  lock.unlock();
  std::optional<Model> model;
  std::string why;
  try {
    model = options_.reload(set);
  } catch (const Failure& failure) {
    why = failure.problems().front().message;
  } catch (const std::bad_alloc&) {
    why = "there is not enough memory for it";
  } catch (const std::exception& trouble) {
    why = trouble.what();
  }
  lock.lock();
  refused_start_ = model ? "" : "no new start: " + why;
  ++versions_.status;
  if (!model) return;
  set_ = std::move(set);
  next_ = std::move(model);
}

// Where it stands in the list of what was done; nothing: the list is full, which the summary says.
std::optional<std::size_t> LiveView::note_deed(Json deed) {
  if (deeds_.size() >= most_deeds) {
    ++left_out_;
    return {};
  }
  deeds_.push_back(std::move(deed));
  return deeds_.size() - 1;
}

void LiveView::end_push(double t) {
  if (push_deed_) deeds_[*push_deed_]["until"] = t;
  push_deed_.reset();
  pushing_.reset();
}

void LiveView::apply_inputs(double t) {
  for (const std::size_t i : changed_inputs_) {
    before_.inputs.emplace_back(i, acting_[i]);
    acting_[i] = inputs_[i].value;
    orders_.emplace_back(static_cast<int>(i), acting_[i]);
    note_deed({{"t", t}, {"input", inputs_[i].name}, {"value", acting_[i]}});
  }
  changed_inputs_.clear();
}

void LiveView::apply_push(const State& state, double now, Orders& orders) {
  if (push_ && now - push_heard_ > push_lasts) push_.reset();
  if (pushing_ && (!push_ || push_->body != *pushing_)) {
    pushes_->release(*pushing_, orders_);
    end_push(state.t);
  }
  if (!push_) return;
  orders.longest_step = Pushes::longest_step;
  if (pushing_ && state.t < pushed_at_ + Pushes::interval) return;
  if (!pushing_) push_deed_ = note_deed({{"t", state.t}, {"pushed", names_.bodies[push_->body]}, {"until", state.t}});
  pushing_ = push_->body;
  pushed_at_ = state.t;
  pushes_->draw(*push_, *equations_, state, *work_, orders_);
}

void LiveView::refused(double t) {
  const Lock lock(mutex_);
  for (const auto& [i, value] : before_.inputs) {
    acting_[i] = value;
    const bool changed_again = std::find(changed_inputs_.begin(), changed_inputs_.end(), i) != changed_inputs_.end();
    if (!changed_again) inputs_[i].value = value;
  }
  while (deeds_.size() > before_.deeds) deeds_.erase(deeds_.size() - 1);
  left_out_ = before_.left_out;
  push_deed_ = before_.push_deed;
  pushing_ = before_.pushing;
  pushed_at_ = before_.pushed_at;
  push_.reset();
  refused_input_ = "not changed at t = " + digits(t) + " s: the mechanism would have no accelerations";
  ++versions_.status;
}

void LiveView::begin(std::shared_ptr<const std::vector<Table>> tables, std::shared_ptr<const Provenance> provenance) {
  const Lock lock(mutex_);
  ++run_;
  tables_ = std::move(tables);
  provenance_ = std::move(provenance);
  history_ = RowHistory(tables_->front().signals.size(), history_bytes);
  events_ = {};
  event_texts_.reset();
  recent_events_.clear();
  if (tables_->size() > 1) {
    events_ = RowHistory(tables_->back().signals.size(), event_bytes);
    event_texts_.emplace(*provenance_, tables_->back());
  }
  rows_ = until_row_ = 0;
  time_ = 0;
  pace_clock_ = -1;
  run_status_ = RunStatus::running;
  failure_.clear();
  refused_input_.clear();
  cannot_show_.clear();
  not_packed_.reset();
  ++versions_.status;
}

void LiveView::add(std::span<const double> row) {
  const Lock lock(mutex_);
  history_.add(row);
  if (rows_++ == 0) ++versions_.header;  // before it there is nothing to show
  ++versions_.frame;
}

void LiveView::add_event(std::span<const double> row) {
  const Lock lock(mutex_);
  events_.add(row);
  recent_events_.emplace_back(row.begin(), row.end());
  if (recent_events_.size() > most_recent_events) recent_events_.pop_front();
  ++versions_.status;
}

void LiveView::finish(RunStatus status, const std::string& failure) {
  const Lock lock(mutex_);
  run_status_ = status;
  failure_ = failure;
  end_push(time_);
  // All rows, for pages that could not follow.
  if (!next_) ++versions_.header;
  ++versions_.status;
}

std::string LiveView::with_deeds(std::string_view summary) const {
  const Lock lock(mutex_);
  Json json = Json::parse(summary, nullptr, false);
  if (deeds_.empty() || !json.is_object()) return std::string(summary);
  json["live"] = deeds_;
  if (left_out_ > 0) json["live_left_out"] = left_out_;
  return text_of(json);
}

std::optional<Model> LiveView::next() {
  Lock lock(mutex_);
  while (!next_ && !interrupted()) {
    if (restart_) {
      try_restart(lock);
      continue;
    }
    wake_.wait_for(lock, nap);
  }
  std::optional<Model> model;
  if (!interrupted()) model.swap(next_);
  return model;
}

// ---- the thread of the server

LiveServer::Source LiveView::source() {
  return {[this] {
            const Lock lock(mutex_);
            return versions_;
          },
          [this] { return header(); }, [this] { return status(); }, [this] { return frame(); },
          [this](std::string_view text) { receive(text); }};
}

// What no page can take, or no memory holds, is said instead; the run goes on.
LiveServer::Message LiveView::header() {
  unsigned version = 0;
  try {
    return packed_rows(version);
  } catch (const Failure& problem) {
    cannot_show(version, problem.problems().front().message);
  } catch (const std::exception&) {
    cannot_show(version, "there is no memory left to pack the rows of the run");
  }
  return {};
}

void LiveView::cannot_show(unsigned version, const std::string& why) {
  const Lock lock(mutex_);
  not_packed_ = version;
  cannot_show_ = why;
  ++versions_.status;
}

// The rows are copied in blocks and packed without the lock, for the run wants it before each step.
LiveServer::Message LiveView::packed_rows(unsigned& version) {
  {
    const Lock lock(mutex_);
    version = versions_.header;  // of what there may be no memory for
    if (history_.rows() == 0 || not_packed_ == version) return {};
  }
  HistoryCopy copy, events;
  copy.reserve(history_bytes);
  events.reserve(event_bytes);
  std::shared_ptr<const std::vector<Table>> tables;
  std::shared_ptr<const Provenance> provenance;
  unsigned run = 0;
  RunStatus run_status = RunStatus::running;
  std::string failure;
  for (bool all_rows = false, all = false; !all;) {
    const Lock lock(mutex_);
    version = versions_.header;
    if (history_.rows() == 0) return {};  // a new start has begun meanwhile
    if (run != run_) {
      copy.clear();
      events.clear();
      all_rows = false;
    }
    run = run_;
    all_rows = all_rows || copy.take(history_);
    all = all_rows && events.take(events_);
    tables = tables_;
    provenance = provenance_;
    run_status = run_status_;
    failure = failure_;
  }
  MemoryTrajectory result;
  result.begin(*tables, *provenance);
  const auto add = [&](std::size_t table, const std::vector<double>& values) {
    const std::size_t columns = (*tables)[table].signals.size(), rows = values.size() / columns;
    result.reserve(table, rows);
    for (std::size_t i = 0; i < rows; ++i) (void)result.append(table, std::span(values).subspan(i * columns, columns));
  };
  add(0, copy.values());
  if (tables->size() > 1) add(1, events.values());
  if (run_status != RunStatus::running) result.finish(run_status, "", failure);
  ViewOptions options;
  options.only_first_table = true;  // rows that come one by one are of it
  auto message = std::make_shared<const std::string>(message_of('H', run) + view_data(result, options));
  const Lock lock(mutex_);
  if (!cannot_show_.empty()) ++versions_.status;
  cannot_show_.clear();
  return message;
}

LiveServer::Message LiveView::frame() {
  const Lock lock(mutex_);
  const std::span<const double> row = history_.last();
  if (row.empty()) return {};
  std::string bytes = message_of('F', run_);
  bytes.reserve(bytes.size() + sizeof(double) + sizeof(float) * row.size());
  append(bytes, row[0]);
  for (const double value : row.subspan(1)) append(bytes, static_cast<float>(value));
  return std::make_shared<const std::string>(std::move(bytes));
}

LiveServer::Message LiveView::status() {
  const Lock lock(mutex_);
  Json inputs = Json::array(), parameters = Json::array(), pushes = Json::array(), events = Json::array();
  for (const std::vector<double>& row : recent_events_) {
    Json event = event_texts_->entry(row);
    if (!event.is_null()) events.push_back(std::move(event));
  }
  for (const std::string& body : names_.bodies) pushes.push_back({{"body", body}, {"force", push_prefix_ + body}});
  for (const Input& input : inputs_)
    inputs.push_back({{"name", input.name}, {"unit", input.unit}, {"value", input.value}});
  for (const Parameter& parameter : parameters_)
    parameters.push_back({{"name", parameter.name}, {"value", parameter.value}, {"unit", parameter.unit}});
  const Json json = {{"run", run_},
                     {"status", to_text(run_status_)},
                     {"held", held_},
                     {"speed", speed_ > 0 ? Json(speed_) : Json()},
                     {"real_time", options_.real_time},
                     {"end", end_},
                     {"inputs", inputs},
                     {"parameters", parameters},
                     {"pushes", pushes},
                     {"events", events},
                     {"message", message()},
                     {"cannot_show", cannot_show_}};
  return std::make_shared<const std::string>(text_of(json));
}

// What was refused and has not been asked for again since.
std::string LiveView::message() const {
  std::string all;
  for (const std::string* part : {&refused_command_, &refused_start_, &refused_input_})
    if (!part->empty()) all += (all.empty() ? "" : "; ") + *part;
  return all;
}

void LiveView::receive(std::string_view text) {
  const Lock lock(mutex_);
  const std::string before = message();
  refused_command_.clear();
  const std::optional<LiveCommand> command = parse_command(text, names_, refused_command_);
  if (command) std::visit([this](const auto& known) { obey(known); }, *command);
  if (message() != before) ++versions_.status;
  wake_.notify_all();
}

void LiveView::obey(const PauseRun& pause) {
  held_ = pause.held;
  until_row_ = 0;
  ++versions_.status;
}

void LiveView::obey(const StepRun&) {
  until_row_ = std::max(until_row_, rows_) + 1;
  if (!held_) ++versions_.status;
  held_ = true;
}

void LiveView::obey(const PaceRun& pace) {
  speed_ = pace.speed;
  pace_clock_ = -1;
  ++versions_.status;
}

void LiveView::obey(const SetInput& set) {
  refused_input_.clear();
  inputs_[set.input].value = set.value;
  if (std::find(changed_inputs_.begin(), changed_inputs_.end(), set.input) == changed_inputs_.end())
    changed_inputs_.push_back(set.input);
  ++versions_.status;
}

void LiveView::obey(const PushBody& push) {
  push_ = push;
  push_heard_ = clock_now();
}

void LiveView::obey(const ReleaseBody&) { push_.reset(); }

void LiveView::obey(const RestartRun& restart) {
  refused_start_.clear();
  restart_ = restart;
}

}  // namespace trammel
