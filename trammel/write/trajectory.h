// The result of a run: tables of numbers with names, units and provenance, and the sinks that receive them.
// The engine describes its tables once, then appends rows; memory, HDF5 and CSV sinks copy each row into buffers
// made beforehand, so that recording allocates nothing per row. Column 0 of every table is the time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trammel/base/diagnosis.h"

namespace trammel {

struct Signal {
  std::string name;       // a path with dots: "body.crank.position.x", "joint.pin.force.z", "energy.total"
  std::string unit;       // "m/s"; empty for a pure number
  std::string frame;      // the axes it is expressed in: "world"; empty for scalars
  std::string text;       // one line for people
  bool flagged = false;   // the values carry a caveat
  std::string flag_text;  // which: "least-norm reaction, L = 0.5 m"
};

// Signals that share a time axis. Usual tables: "output" (at output times) and "steps" (one row per accepted step).
struct Table {
  std::string name;
  std::string text;
  std::vector<Signal> signals;  // signals[0] is "time"
};

// Where a result comes from, as ordered key and value strings. Usual keys: program, version, title, model_file,
// model_sha256, method, formulation, tolerance, step, command, date. Nothing about the machine.
struct Provenance {
  std::vector<std::pair<std::string, std::string>> entries;

  void set(std::string_view key, std::string_view value);  // replaces, or appends at the end
  std::string get(std::string_view key) const;             // empty if absent
};

// The current UTC date and time, "2024-05-17T12:30:00Z", for the provenance key "date".
std::string utc_date();

// A result says "running" from its first byte, so that a killed run is told from a finished one.
enum class RunStatus { running, finished, failed, interrupted };
std::string_view to_text(RunStatus status);
std::optional<RunStatus> run_status(std::string_view text);

// Receives a run. Calls come in the order begin, append and flush as often as needed, finish.
class TrajectorySink {
 public:
  virtual ~TrajectorySink() = default;

  // Creates files and buffers. Throws Failure(cannot_write) where a result cannot be written, before the run starts.
  virtual void begin(const std::vector<Table>& tables, const Provenance& provenance) = 0;

  // Instead of begin: takes up an unfinished result at its place, with the first `rows` of each table; what follows
  // them is forgotten. The provenance stays as it is. Throws Failure(cannot_write) if the result is not there or not
  // whole.
  virtual void resume(const std::vector<Table>& tables, const std::vector<std::uint64_t>& rows);

  // Copies one row; it may be kept in a buffer. False after a row could not be written: call flush() for the reason.
  [[nodiscard]] virtual bool append(std::size_t table, std::span<const double> row) = 0;

  // Makes every appended row visible to other readers and safe from a killed process. Throws Failure(cannot_write)
  // after a disk error, also one that happened in append; rows of earlier successful flushes stay readable.
  virtual void flush() = 0;

  // Flushes, records how the run ended (JSON texts may be empty), closes. Throws Failure for an error not yet reported.
  virtual void finish(RunStatus status, std::string_view summary_json, std::string_view failure_json) = 0;
};

// Refuses tables that no reader could use (no time column, duplicate or unprintable names): a mistake of the program.
void check_tables(const std::vector<Table>& tables);

// One column of one table.
struct SignalRef {
  std::size_t table = 0;
  std::size_t column = 0;
  bool operator==(const SignalRef&) const = default;
};

// '*' is any text, also with dots, '?' one character, "[xyz]" one of those listed; all else stands for itself.
bool matches_pattern(std::string_view pattern, std::string_view name);

// The column of exactly this name; the first table that has it wins. "steps/time" asks for a table by name.
std::optional<SignalRef> find_signal(const std::vector<Table>& tables, std::string_view name);

// What a user means by `pattern`: an exact name; a name with wildcards (time columns are left out); or the path of a
// group, "joint.pin.force" for its x, y and z. In the order of the tables, empty if nothing fits.
std::vector<SignalRef> match_signals(const std::vector<Table>& tables, std::string_view pattern);

// The Failure for a name or pattern that fits nothing, with the nearest name or the groups there are as hint.
Failure unknown_signal(const std::vector<Table>& tables, std::string_view pattern);

// Keeps everything in memory: for programs, tests, plots, and results read back from files. A copy costs little: copies
// share their rows, and what is appended to one of them, or cut off it, no other one sees.
class MemoryTrajectory final : public TrajectorySink {
 public:
  // Room for so many rows, so that append allocates nothing at all until they are used up.
  void reserve(std::size_t table, std::size_t rows);

  void begin(const std::vector<Table>& tables, const Provenance& provenance) override;
  void resume(const std::vector<Table>& tables, const std::vector<std::uint64_t>& rows) override;
  bool append(std::size_t table, std::span<const double> row) override;
  void flush() override {}
  void finish(RunStatus status, std::string_view summary_json, std::string_view failure_json) override;

  const std::vector<Table>& tables() const;
  const Provenance& provenance() const { return provenance_; }
  RunStatus status() const { return status_; }
  const std::string& summary_json() const { return summary_json_; }
  const std::string& failure_json() const { return failure_json_; }

  std::optional<std::size_t> find_table(std::string_view name) const;
  std::size_t rows(std::size_t table) const { return data_[table].size / width(table); }
  std::span<const double> row(std::size_t table, std::size_t index) const;

  std::optional<SignalRef> find(std::string_view name) const { return find_signal(tables(), name); }
  SignalRef at(std::string_view name) const;                     // throws unknown_signal
  std::vector<SignalRef> match(std::string_view pattern) const;  // throws unknown_signal if empty
  const Signal& signal(SignalRef ref) const { return (*tables_)[ref.table].signals[ref.column]; }
  double value(SignalRef ref, std::size_t row) const {
    return (*data_[ref.table].numbers)[row * width(ref.table) + ref.column];
  }
  std::vector<double> column(SignalRef ref) const;
  std::vector<double> column(std::string_view name) const { return column(at(name)); }
  std::vector<double> time(std::size_t table) const { return column(SignalRef{table, 0}); }

 private:
  // Row after row. Only the one whose rows are the last in memory appends there, where it moves nobody's numbers.
  struct Rows {
    std::shared_ptr<std::vector<double>> numbers = std::make_shared<std::vector<double>>();
    std::size_t size = 0;  // how many of them are ours
    void make_room(std::size_t more);
  };
  std::size_t width(std::size_t table) const { return (*tables_)[table].signals.size(); }

  std::shared_ptr<const std::vector<Table>> tables_;
  Provenance provenance_;
  std::vector<Rows> data_;  // per table
  RunStatus status_ = RunStatus::running;
  std::string summary_json_, failure_json_;
};

// Hands everything to several sinks, which must outlive it. Each gets every call even if another one fails.
class TeeSink final : public TrajectorySink {
 public:
  explicit TeeSink(std::vector<TrajectorySink*> sinks) : sinks_(std::move(sinks)) {}

  void begin(const std::vector<Table>& tables, const Provenance& provenance) override;
  void resume(const std::vector<Table>& tables, const std::vector<std::uint64_t>& rows) override;
  bool append(std::size_t table, std::span<const double> row) override;
  void flush() override;
  void finish(RunStatus status, std::string_view summary_json, std::string_view failure_json) override;

 private:
  std::vector<TrajectorySink*> sinks_;
};

}  // namespace trammel
