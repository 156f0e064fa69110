// The table:
//
//   # trammel-sweep 1 KEY                     KEY: of the model, its changes, the plan and the measures
//   run,status,NAME...,MEASURE...,message     in the order in which runs end; sorted when all are done
//
// Every row is written in one piece; a last line without its end belongs to a run that was cut off.
#include "trammel/run/sweep.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <mutex>
#include <numeric>
#include <random>
#include <sstream>
#include <system_error>
#include <thread>

#include "trammel/base/input_file.h"
#include "trammel/base/literal.h"
#include "trammel/run/checkpoint.h"
#include "trammel/run/simulation.h"
#include "trammel/write/output_path.h"
#include "trammel/write/sha256.h"

namespace trammel {
namespace {

[[noreturn]] void refuse_sweep(const std::string& message, const std::string& hint) {
  throw Failure({Severity::error, "bad-sweep", message, hint, {}}, ExitCode::bad_usage);
}

std::vector<std::string> split_at(const std::string& text, char separator) {
  std::vector<std::string> out;
  std::stringstream in(text);
  std::string piece;
  while (std::getline(in, piece, separator)) out.push_back(std::string(trim(piece)));
  return out;
}

double sweep_number(const std::string& text, const std::string& in) {
  const Literal number = read_literal(text);
  if (!number.is_number || !number.rest.empty())
    refuse_sweep("'" + text + "' in '" + in + "' is no number", "ranges are plain numbers: L=0.5:1.5:5");
  return number.value;
}

// A row a run is kept; a study of more is better made in parts.
constexpr std::size_t most_runs = 1000000, most_values = 10000000;
[[noreturn]] void refuse_size() {
  refuse_sweep("the sweep has more than " + std::to_string(most_runs) + " runs or " + std::to_string(most_values) +
                   " values of parameters",
               "make it in parts");
}

struct AxisText {
  std::string name, values;
};
AxisText axis_text(const std::string& axis) {
  const std::size_t equals = axis.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == axis.size())
    refuse_sweep("'" + axis + "' is no range of a parameter", "write L=0.5:1.5:5 or m=1,2,4");
  return {axis.substr(0, equals), axis.substr(equals + 1)};
}

std::string csv_field(const std::string& text) {
  std::string out = "\"";
  for (const char c : text)
    out += c == '"' ? std::string("\"\"") : c == '\n' || c == '\r' ? std::string(" ") : std::string(1, c);
  return out + "\"";
}

// A parameter: in quotes where a comma, as in max(1, 2), would begin another column.
std::string csv_value(const std::string& text) {
  return text.find_first_of(",\"\n\r") == std::string::npos ? text : csv_field(text);
}

std::string sweep_header(const SweepPlan& plan, const std::vector<SweepMeasure>& measures) {
  std::string line = "run,status";
  for (const std::string& name : plan.names) line += "," + name;
  for (const SweepMeasure& m : measures) line += "," + m.signal + "." + m.how;
  return line + ",message";
}

std::string sweep_line(const SweepPlan& plan, const SweepRow& row) {
  std::string line = std::to_string(row.run) + "," + row.status;
  for (const std::string& value : plan.runs[row.run]) line += "," + csv_value(value);
  for (const double value : row.values) line += "," + (std::isfinite(value) ? shortest(value) : std::string());
  return line + "," + csv_field(row.message);
}

}  // namespace

std::vector<SweepMeasure> measures_of(const SweepOptions& options) {
  if (!options.measures.empty()) return options.measures;
  std::vector<SweepMeasure> all;
  for (const Output& output : load_model(options.model, options.changes).outputs) all.push_back({output.name, "last"});
  if (all.empty())
    refuse_sweep("the model has no outputs to put into the table",
                 "name signals with --measure, body.bar.position.z.max");
  return all;
}

SweepMeasure sweep_measure(const std::string& text) {
  const std::size_t dot = text.rfind('.');
  const std::string how = dot == std::string::npos ? "" : text.substr(dot + 1);
  if (how == "last" || how == "max" || how == "min" || how == "mean") return {text.substr(0, dot), how};
  return {text, "last"};
}

SweepPlan grid_plan(const std::vector<std::string>& axes) {
  SweepPlan plan;
  plan.runs.emplace_back();
  for (const std::string& axis : axes) {
    const AxisText a = axis_text(axis);
    std::vector<std::string> values;
    const std::vector<std::string> range = split_at(a.values, ':');
    if (range.size() == 3) {
      const double from = sweep_number(range[0], axis), to = sweep_number(range[1], axis),
                   count = sweep_number(range[2], axis);
      if (!(count >= 1 && count <= 1e6 && count == std::floor(count)))
        refuse_sweep("'" + axis + "' asks for " + range[2] + " values", "a whole number from 1");
      for (int i = 0; i < static_cast<int>(count); ++i)
        values.push_back(shortest(count == 1 ? from : from + (to - from) * i / (count - 1)));
    } else if (range.size() == 1) {
      values = split_at(a.values, ',');
    } else {
      refuse_sweep("'" + axis + "' is no range", "FROM:TO:COUNT or VALUE,VALUE,...");
    }
    plan.names.push_back(a.name);
    std::vector<std::vector<std::string>> longer;
    if (values.empty() || std::count(values.begin(), values.end(), "") > 0)
      refuse_sweep("'" + axis + "' has no values", "write L=0.5:1.5:5 or m=1,2,4");
    if (plan.runs.size() > most_runs / values.size() ||
        plan.runs.size() * values.size() * plan.names.size() > most_values)
      refuse_size();
    for (const auto& run : plan.runs) {
      for (const std::string& value : values) {
        longer.push_back(run);
        longer.back().push_back(value);
      }
    }
    plan.runs = std::move(longer);
  }
  return plan;
}

SweepPlan latin_plan(const std::vector<std::string>& ranges, int count, unsigned seed) {
  if (count < 1) refuse_sweep("a Latin hypercube needs at least one run", "give --count");
  if (static_cast<std::size_t>(count) > std::min(most_runs, most_values / std::max<std::size_t>(1, ranges.size())))
    refuse_size();
  SweepPlan plan;
  plan.runs.resize(count);
  std::mt19937_64 random(seed);
  for (const std::string& range : ranges) {
    const AxisText a = axis_text(range);
    const std::vector<std::string> ends = split_at(a.values, ':');
    if (ends.size() != 2) refuse_sweep("'" + range + "' is no range", "FROM:TO");
    const double from = sweep_number(ends[0], range), to = sweep_number(ends[1], range);
    plan.names.push_back(a.name);
    std::vector<int> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    // Drawn by hand: distributions of the library differ between its versions.
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const double part = static_cast<double>(random() >> 11) * 0x1p-53;
      plan.runs[i].push_back(shortest(from + (to - from) * (order[i] + part) / count));
    }
  }
  return plan;
}

SweepPlan csv_plan(const std::string& path) {
  SweepPlan plan;
  std::stringstream in(read_whole_file(path, largest_input_file, ExitCode::bad_usage));
  note_input(path);
  std::string line;
  int number = 0;
  while (std::getline(in, line)) {
    ++number;
    if (trim(line).empty() || line[0] == '#') continue;
    const std::vector<std::string> fields = split_at(line, ',');
    if (plan.names.empty()) {
      plan.names = fields;
    } else if (fields.size() != plan.names.size()) {
      throw Failure({Severity::error,
                     "bad-sweep",
                     "the line has " + std::to_string(fields.size()) + " values for " +
                         std::to_string(plan.names.size()) + " parameters",
                     "one value for each name of the first line",
                     {intern(path), number, 1}},
                    ExitCode::bad_usage);
    } else {
      plan.runs.push_back(fields);
      if (plan.runs.size() > most_runs) refuse_size();
    }
  }
  if (plan.runs.empty()) refuse_sweep("'" + path + "' has no runs", "names in the first line, values in the others");
  return plan;
}

SweepRow sweep_run(const SweepOptions& options, const SweepPlan& plan, long run) {
  SweepRow row;
  row.run = run;
  row.values.assign(options.measures.size(), std::nan(""));
  try {
    ModelChanges changes = options.changes;
    for (std::size_t i = 0; i < plan.names.size(); ++i) changes.set.push_back(plan.names[i] + "=" + plan.runs[run][i]);
    Simulation simulation(load_model(options.model, changes));
    MemoryTrajectory trajectory;
    RunOptions run_options;
    run_options.interrupted = options.interrupted;
    const RunResult result = simulation.run(trajectory, run_options);
    row.status = std::string(to_text(result.status));
    if (result.failure) row.message = to_text(*result.failure);
    for (std::size_t i = 0; i < options.measures.size(); ++i) {
      const std::vector<double> x = trajectory.column(options.measures[i].signal);
      const std::string& how = options.measures[i].how;
      if (x.empty()) continue;
      row.values[i] = how == "max"    ? *std::max_element(x.begin(), x.end())
                      : how == "min"  ? *std::min_element(x.begin(), x.end())
                      : how == "mean" ? std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size())
                                      : x.back();
    }
  } catch (const Failure& failure) {
    // Before the run had begun: it is made when the sweep goes on.
    const bool interrupted = options.interrupted != nullptr && *options.interrupted;
    row.status = interrupted ? std::string(to_text(RunStatus::interrupted)) : "failed";
    row.message = to_text(failure.problems().front());
  } catch (const std::exception& e) {
    row.status = "failed";
    row.message = e.what();
  }
  return row;
}

namespace {

// A measure that no run can have is told before the first one. Whether a run can start at all is told by its row.
void check_measures(const SweepOptions& options, const SweepPlan& plan) {
  MemoryTrajectory trajectory;
  try {
    ModelChanges changes = options.changes;
    for (std::size_t i = 0; i < plan.names.size(); ++i)
      changes.set.push_back(plan.names[i] + "=" + plan.runs.front()[i]);
    Simulation simulation(load_model(options.model, changes));
    simulation.start();
    trajectory.begin(Recorder(simulation.equations(), simulation.initial(), false).tables(), {});
  } catch (const Failure&) {
    return;
  }
  for (const SweepMeasure& measure : options.measures) (void)trajectory.at(measure.signal);
}

// The table of a sweep and the runs that it still lacks; its functions may be called from several threads once the
// table is open.
class SweepTable {
 public:
  SweepTable(const SweepOptions& options, const SweepPlan& plan);
  void take_over_runs();
  void open();
  void work(const std::function<SweepRow(long)>& make);
  void work_side_by_side();
  SweepSummary close();

 private:
  void replace();
  bool next_run(long& run);
  void add(long run, const SweepRow& row);

  const SweepOptions& options_;
  const SweepPlan& plan_;
  std::string header_, first_;
  SweepSummary summary_;
  std::map<long, std::string> lines_;
  std::ofstream file_;
  std::mutex mutex_;
  std::vector<long> waiting_;  // the next one last
};

SweepTable::SweepTable(const SweepOptions& options, const SweepPlan& plan)
    : options_(options), plan_(plan), header_(sweep_header(plan, options.measures)) {
  std::string described = model_digest(load_model(options.model, options.changes)) + header_;
  for (const auto& run : plan.runs) {
    for (const std::string& value : run) described += value + ";";
  }
  first_ = std::string(sweep_magic) + "1 " + sha256_hex(described).substr(0, 16);
  summary_.runs = static_cast<long>(plan.runs.size());
}

// Those that the table on the disk has.
void SweepTable::take_over_runs() {
  const std::string text = read_whole_file(options_.table, std::uint64_t{1} << 32, ExitCode::bad_usage);
  std::stringstream in(text.substr(0, text.rfind('\n') + 1));
  std::string line;
  std::getline(in, line);
  if (line != first_)
    refuse_sweep("the table '" + options_.table + "' belongs to another sweep",
                 "the same model, parameters and measures go on; without --resume it is made anew");
  std::getline(in, line);
  while (std::getline(in, line)) {
    const long run = std::strtol(line.c_str(), nullptr, 10);
    const std::string status = line.substr(line.find(',') + 1, line.find(',', line.find(',') + 1) - line.find(',') - 1);
    if (run < 0 || run >= summary_.runs || (status != "finished" && status != "failed")) continue;
    lines_[run] = line;
    ++summary_.taken_over;
    ++(status == "finished" ? summary_.finished : summary_.failed);
  }
}

void SweepTable::replace() {
  std::string text = first_ + "\n" + header_ + "\n";
  for (const auto& line : lines_) text += line.second + "\n";
  write_whole_file(options_.table, text, OutputKind::sweep);
}

void SweepTable::open() {
  replace();
  file_.open(options_.table, std::ios::app);
  for (long run = summary_.runs - 1; run >= 0; --run) {
    if (lines_.count(run) == 0) waiting_.push_back(run);
  }
}

bool SweepTable::next_run(long& run) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (waiting_.empty() || (options_.interrupted != nullptr && *options_.interrupted)) return false;
  run = waiting_.back();
  waiting_.pop_back();
  return true;
}

void SweepTable::add(long run, const SweepRow& row) {
  const std::string line = sweep_line(plan_, row);
  const std::lock_guard<std::mutex> lock(mutex_);
  file_ << line + "\n";
  file_.flush();
  lines_[run] = line;
  ++(row.status == "finished" ? summary_.finished : summary_.failed);
  if (options_.progress) options_.progress(row, summary_.finished + summary_.failed, summary_.runs);
}

// Makes runs until none waits, or the maker is lost: another one then gets its run.
void SweepTable::work(const std::function<SweepRow(long)>& make) {
  for (long run = 0; next_run(run);) {
    SweepRow row;
    try {
      row = make(run);
    } catch (const Failure& failure) {
      const std::lock_guard<std::mutex> lock(mutex_);
      waiting_.push_back(run);
      if (options_.lost) options_.lost(failure);
      return;
    }
    if (row.status == to_text(RunStatus::interrupted)) return;  // it is made when the sweep goes on
    add(run, row);
  }
}

void SweepTable::work_side_by_side() {
  const auto here = [this](long run) { return sweep_run(options_, plan_, run); };
  std::vector<std::thread> threads;
  for (const auto& helper : options_.helpers) threads.emplace_back([&] { work(helper); });
  try {
    const long useful = std::min<long>(options_.threads, static_cast<long>(waiting_.size()));
    for (long i = 1; i < useful; ++i) threads.emplace_back([&] { work(here); });
  } catch (const std::system_error&) {  // the system gives no more: those there are make the runs
  }
  work(here);
  for (std::thread& thread : threads) thread.join();
  work(here);  // what a lost helper left behind
}

// In the order of the plan, if all runs are there.
SweepSummary SweepTable::close() {
  file_.close();
  if (!file_)
    throw Failure({Severity::error, "cannot-write", "the table '" + options_.table + "' cannot be written", "", {}},
                  ExitCode::cannot_write);
  summary_.complete = static_cast<long>(lines_.size()) == summary_.runs;
  if (summary_.complete) replace();
  return summary_;
}

}  // namespace

SweepSummary run_sweep(const SweepOptions& asked, const SweepPlan& plan) {
  const auto begin = std::chrono::steady_clock::now();
  check_output_path(asked.table, OutputKind::sweep);
  SweepOptions options = asked;
  options.measures = measures_of(asked);
  if (!plan.runs.empty()) check_measures(options, plan);
  SweepTable table(options, plan);
  if (options.resume) table.take_over_runs();
  table.open();
  table.work_side_by_side();
  SweepSummary summary = table.close();
  summary.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return summary;
}

}  // namespace trammel
