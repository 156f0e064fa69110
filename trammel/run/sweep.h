// Parameter studies: many runs of one model, each with its own parameters, and one row of results for each. A run that
// fails gives a row that says so; the table is kept on the disk row by row, so that a sweep that was killed goes on
// where it was.
#pragma once
#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "trammel/run/load_model.h"

namespace trammel {

// Parameters, and their values in each run, as texts that --set takes.
struct SweepPlan {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> runs;
};

// "L=0.5:1.5:5" (five values from 0.5 to 1.5) or "m=1,2,4"; every value with every one of the others, the last one
// fastest. Throws Failure (bad_usage).
SweepPlan grid_plan(const std::vector<std::string>& axes);
// "L=0.5:1.5": `count` runs, in each interval of a count-th of every range one value (Latin hypercube).
SweepPlan latin_plan(const std::vector<std::string>& ranges, int count, unsigned seed);
// A CSV file: names in the first line, a run in each further one.
SweepPlan csv_plan(const std::string& path);

// A number of a run: "swing.max" and so on, of an output or any other signal: last, max, min, mean.
struct SweepMeasure {
  std::string signal, how;
};
SweepMeasure sweep_measure(const std::string& text);

struct SweepRow {
  long run = 0;  // from 0, in the order of the plan
  std::string status, message;
  std::vector<double> values;
};

struct SweepOptions {
  std::string model;
  ModelChanges changes;
  std::vector<SweepMeasure> measures;  // empty: the last value of every output of the model
  std::string table;                   // CSV, written as runs end
  bool resume = false;                 // runs that the table has are not made again
  int threads = 1;                     // runs side by side in this process
  // Others who make runs, each one at a time; one that throws is left out from then on, and its run made by another.
  std::vector<std::function<SweepRow(long run)>> helpers;
  const std::atomic<bool>* interrupted = nullptr;
  std::function<void(const SweepRow&, long done, long all)> progress;
  std::function<void(const Failure&)> lost;  // a helper
};

struct SweepSummary {
  long runs = 0, finished = 0, failed = 0, taken_over = 0;
  bool complete = false;
  double seconds = 0;
};

// The measures that are asked for, or those of the model's outputs.
std::vector<SweepMeasure> measures_of(const SweepOptions& options);
// One run, with all measures named.
SweepRow sweep_run(const SweepOptions& options, const SweepPlan& plan, long run);
SweepSummary run_sweep(const SweepOptions& options, const SweepPlan& plan);

}  // namespace trammel
