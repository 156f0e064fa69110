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

enum class RowVerdict {
  met,
  measured,           // demands nothing, and says why
  missed_for_reason,  // not met, and the row knows why
  missed,             // not met; or it demands nothing and does not say why
  reason_gone,        // met, though the row has a reason why it is not
};

// One number of ours beside what it is compared with. Printed numbers come from the printed list (printed.h) only.
// A value that is not finite is never ok.
struct Row {
  std::string study;     // filled in by run_study
  std::string table;     // table or figure of the source, or a group of our own
  std::string row;       // what it is about: a model, a method, a step size
  std::string quantity;  // with its unit: "largest error of theta, rad"

  std::vector<std::string> ids;       // printed numbers that this row is about
  std::vector<std::string> settings;  // printed numbers that the run behind this row was given
  std::optional<double> printed;      // as the source prints it, of the first id
  std::optional<double> corrected;    // what it should have printed
  std::string correction;             // and why
  std::optional<double> own;          // a prototype's or another code's number
  std::string origin;                 // and whose
  double ours = 0;

  Relation relation = Relation::measured;  // what is demanded
  std::optional<double> target, tolerance;
  std::string reason;  // why this bound; if nothing is demanded, why not
  bool ok = true;
  std::string missed;  // why the demand is known not to be met
  std::string tuned;   // which constants behind it were chosen on the very numbers that it is compared with
  std::string note;    // why it is not ok, if the numbers do not say it

  RowVerdict verdict() const;
  bool demands() const { return relation != Relation::measured; }

  static Row near(std::string table, std::string row, std::string quantity, double target, double ours,
                  double tolerance);
  // An error: its target is 0.
  static Row error(std::string table, std::string row, std::string quantity, double ours, double tolerance);
  static Row at_most(std::string table, std::string row, std::string quantity, double target, double ours);
  static Row at_least(std::string table, std::string row, std::string quantity, double target, double ours);
  static Row measure(std::string table, std::string row, std::string quantity, double ours);
  // Something that could not be computed; never ok.
  static Row failed(std::string table, std::string row, std::string why);
  // A printed number, or its correction, to `digits` significant digits: half a unit of the last one, and a hair.
  static Row reproduce(std::string table, std::string row, std::string quantity, const std::string& id, double ours,
                       int digits);
  // A printed number, or its correction, within a part of it; say why that part.
  static Row reproduce_within(std::string table, std::string row, std::string quantity, const std::string& id,
                              double ours, double part, std::string why);

  // Row::near(...).because("the digits known").beside(0.5, "a prototype")
  Row&& because(std::string why) &&;                   // of the bound, or why there is none
  Row&& printed_as(const std::string& id) &&;          // shows the printed number
  Row&& with(const std::vector<std::string>& ids) &&;  // settings
  Row&& beside(double value, std::string whose) &&;
  Row&& missed_for(std::string cause) &&;  // empty: no cause
  Row&& cause_open(
      const std::string& tried) &&;     // a miss that nobody understands yet, and what was ruled out; empty: none
  Row&& tuned_on(std::string what) &&;  // empty: nothing was tuned
};

// Why a demand may be what it is, or why there is none: sentences that many rows share. `work` is for counts whose
// error stands beside them with a bound of its own; where it does not, the row says where the bound is.
namespace why {
inline constexpr const char* machine_time = "a time depends on the machine";
inline constexpr const char* work = "no source or theory says how much work it is; the error beside it has a bound";
inline constexpr const char* comparator = "a number of another code, for comparison";
inline constexpr const char* exact = "counted, so exact";
}  // namespace why

struct RowCounts {
  int rows = 0, demanded = 0, met = 0, missed_for_reason = 0, missed = 0, reason_gone = 0, measured = 0;
  RowCounts& operator+=(const RowCounts& other);
  bool good() const { return missed == 0 && reason_gone == 0; }
};
RowCounts count_rows(const std::vector<Row>& rows);

// ---- Studies
// ---------------------------------------------------------------------------------------------------------

struct StudyContext {
  std::filesystem::path output;                  // folder for pictures, present; empty: draw none
  std::function<void(const std::string&)> note;  // one line about what is being computed; always callable
  bool tight = false;                            // the sharpest tolerances a study has, by several methods
  bool full = false;                             // the long columns too
  // Where to draw `file`, or nothing if no pictures are wanted.
  std::optional<std::string> picture(const std::string& file) const;
};

struct Study {
  std::string name;     // kebab-case
  std::string summary;  // one line: what it shows
  std::function<std::vector<Row>(const StudyContext&)> run;
  double minutes = 1;  // about what it takes: the longest start first when all are run
};

// The only list of studies (registry.cc).
const std::vector<Study>& study_registry();
// A Failure (bad_usage) that names the nearest one if there is none.
const Study& find_study(std::string_view name);

// Runs it with rows named after it; what it throws becomes a row that is not ok. Printed numbers that the list gives to
// this study, and that no row of it is about, become rows that are not ok.
std::vector<Row> run_study(const Study& study, const StudyContext& context);
// Runs one piece of a study: what it throws becomes a row that is not ok, and the study goes on.
void guard(std::vector<Row>& rows, const std::string& table, const std::string& row,
           const std::function<void()>& piece);
// Gives their reason to times, by the first words of their quantity; run_study does it at the end.
void explain_times(std::vector<Row>& rows);

std::string demand_text(const Row& row);            // "2.46e-07 +- 5.1e-10", "<= 1e-08", ""
std::string to_text(const std::vector<Row>& rows);  // aligned tables
std::string to_text(const RowCounts& counts);
// An array of objects; numbers that are absent or not finite are null.
std::string to_json(const std::vector<Row>& rows);
std::vector<Row> rows_from_json(const std::string& text);

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
