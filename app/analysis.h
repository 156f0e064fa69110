// What the analyses share: their arguments, the consistent start, the result file.
#pragma once
#include <memory>

#include "app/common.h"
#include "trammel/run/recorder.h"
#include "trammel/run/simulation.h"

namespace trammel {

struct AnalysisArguments : ModelArguments {
  std::string output;
  bool json = false, quiet = false, all = false;
  bool talks() const { return !json && !quiet; }
};
// Adds MODEL, --set, --output (`what` says which file), --json and --quiet.
void add_analysis_arguments(CLI::App& verb, AnalysisArguments& arguments, const std::string& what);

// A model read, checked and brought onto its constraints.
struct Prepared {
  std::vector<Problem> warnings;
  std::unique_ptr<Simulation> simulation;
  Workspace work;
  State state;
  Rates rates;
  std::unique_ptr<AccelerationSolver> accelerations;
  const Equations& equations() const { return simulation->equations(); }
};
enum class Needs { masses, positions };  // positions: a model without masses will do
Prepared prepare(const AnalysisArguments& arguments, Needs needs = Needs::masses);
void print_title(const AnalysisArguments& arguments, const Equations& equations);

// Records states that an analysis finds as a run would: HDF5, or CSV if the name ends in .csv; and the last row in
// memory.
class AnalysisResult {
 public:
  AnalysisResult(const Prepared& prepared, const std::string& path, const std::string& analysis);
  void add(const State& state, const Rates& rates);
  void finish(RunStatus status, const std::string& summary_json, const std::string& failure_json = "");
  const Table& table() const { return recorder_.tables()[0]; }
  const std::vector<double>& last() const { return last_; }

 private:
  Recorder recorder_;
  std::unique_ptr<TrajectorySink> sink_;
  std::vector<double> last_;
};
// "model.modes.h5" for "path/model.yaml" and ".modes.h5".
std::string default_output(const std::string& model_file, const std::string& ending);

// Bodies, joints, motions and forces of a recorded row as aligned tables.
std::string row_text(const Equations& equations, const Table& table, const std::vector<double>& row, bool all);
Json row_json(const Table& table, const std::vector<double>& row);

}  // namespace trammel
