// How claims are checked: a study runs model files through the same code as `trammel run`, computes numbers and sets
// them beside what a source prints or a theory demands. `trammel study NAME` prints its rows; pictures go to a folder.
//
// A study is a function in a file of its own here and one line in registry.cc:
//
//   std::vector<Row> my_study(const StudyContext& context) {
//     std::vector<Row> rows;
//     const ModelRun run = run_model("pendulum.yaml", {.tolerance = 1e-7, .output_step = 0.1});
//     const Reference reference = read_reference("cases/pendulum.csv");
//     rows.push_back(Row::error("hht-i3", "pendulum", "theta", max_error(run, "swing", reference, "theta"), 1e-4));
//     return rows;
//   }
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trammel/run/load_model.h"
#include "trammel/run/simulation.h"
#include "trammel/write/trajectory.h"

namespace trammel {

// ---- Rows
// ------------------------------------------------------------------------------------------------------------

enum class Relation {
  within,    // |ours - target| <= tolerance
  at_most,   // ours <= target
  at_least,  // ours >= target
  measured,  // nothing is demanded
};

// One number of ours beside its target. A value that is not finite is never ok.
struct Row {
  std::string study;              // filled in by run_study
  std::string table;              // table or figure of the source, or a group of our own
  std::string row;                // what it is about: a model, a method, a step size
  std::string quantity;           // with its unit: "largest error of theta, rad"
  std::optional<double> printed;  // as the source prints it
  std::optional<double> target;
  double ours = 0;
  std::optional<double> tolerance;
  bool ok = true;
  Relation relation = Relation::measured;
  std::string note;  // why it is not ok, if the numbers do not say it

  static Row near(std::string table, std::string row, std::string quantity, double target, double ours,
                  double tolerance);
  // An error: its target is 0.
  static Row error(std::string table, std::string row, std::string quantity, double ours, double tolerance);
  static Row at_most(std::string table, std::string row, std::string quantity, double target, double ours);
  static Row at_least(std::string table, std::string row, std::string quantity, double target, double ours);
  static Row measure(std::string table, std::string row, std::string quantity, double ours);
  // Something that could not be computed; never ok.
  static Row failed(std::string table, std::string row, std::string why);

  Row&& with_printed(double value) &&;  // Row::near(...).with_printed(0.5)
};

// ---- Studies
// ---------------------------------------------------------------------------------------------------------

struct StudyContext {
  std::filesystem::path output;                  // folder for pictures, present; empty: draw none
  std::function<void(const std::string&)> note;  // one line about what is being computed; always callable
  bool tight = false;                            // the sharpest tolerances a study has, by several methods
  // Where to draw `file`, or nothing if no pictures are wanted.
  std::optional<std::string> picture(const std::string& file) const;
};

struct Study {
  std::string name;     // kebab-case
  std::string summary;  // one line: what it shows
  std::function<std::vector<Row>(const StudyContext&)> run;
};

// The only list of studies (registry.cc).
const std::vector<Study>& study_registry();
// A Failure (bad_usage) that names the nearest one if there is none.
const Study& find_study(std::string_view name);

// Runs it with rows named after it; what it throws becomes a row that is not ok.
std::vector<Row> run_study(const Study& study, const StudyContext& context);
// Runs one piece of a study: what it throws becomes a row that is not ok, and the study goes on.
void guard(std::vector<Row>& rows, const std::string& table, const std::string& row,
           const std::function<void()>& piece);

std::string to_text(const std::vector<Row>& rows);  // aligned tables
std::string to_json(
    const std::vector<Row>& rows);  // an array of objects; numbers that are absent or not finite are null

// ---- Running models
// --------------------------------------------------------------------------------------------------

struct ModelRun {
  MemoryTrajectory trajectory;
  RunResult result;

  std::vector<double> column(std::string_view signal) const { return trajectory.column(signal); }
  std::vector<double> time() const { return trajectory.time(0); }
  double last(std::string_view signal) const;  // value in the last output row
};

// Runs a file of models/ (or an absolute path), as `trammel run` does. Throws Failure unless the run finishes.
ModelRun run_model(const std::string& file, const ModelChanges& changes = {});
// The same, also for runs that fail: look at result.status.
ModelRun try_model(const std::string& file, const ModelChanges& changes = {});
// A model built in C++.
ModelRun run_model(Model model);

// ---- References
// ------------------------------------------------------------------------------------------------------

// Columns of a CSV file: a header line with names, then numbers; lines that begin with # are comments.
struct Reference {
  std::string file;
  std::vector<std::string> names;
  std::vector<std::vector<double>> columns;

  std::size_t rows() const { return columns.empty() ? 0 : columns[0].size(); }
  const std::vector<double>& column(std::string_view name) const;  // throws Failure with the nearest name
  const std::vector<double>& time() const { return columns.at(0); }
};

// A file of studies/ (or an absolute path). Throws Failure.
std::filesystem::path study_file(const std::string& file);
Reference read_reference(const std::string& file);

// Values of a signal at given times. Output times that meet them to round-off are taken as they are; in between,
// `cubic` puts a polynomial through four neighbours, and `refuse` throws: then ask for the right output_step.
enum class Between { refuse, cubic };
std::vector<double> sample(const ModelRun& run, std::string_view signal, const std::vector<double>& times,
                           Between between = Between::refuse);

struct ErrorOptions {
  double from = -1e300, to = 1e300;  // of the time
  bool modulo_turns = false;         // angles: differences by whole turns do not count
  Between between = Between::refuse;
  double scale = 1;   // ours is multiplied by it first: -1 for the opposite sign
  double offset = 0;  // and this is added
};
// max |ours - reference| over the reference's times that the run has reached (all, up to its end).
double max_error(const ModelRun& run, std::string_view signal, const Reference& reference, std::string_view column,
                 const ErrorOptions& options = {});
double max_error(const std::vector<double>& ours, const std::vector<double>& reference);
double max_abs(const std::vector<double>& values);

// The slope of log(y) over log(x) by least squares: an order from step sizes and errors.
double fitted_order(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace trammel
