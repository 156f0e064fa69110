// Streams a run into CSV files, one per table: the first table under the given name, a table "steps" beside it as
// NAME.steps.csv. Comment lines carry what HDF5 keeps in attributes, so that a CSV result reads back complete:
//
//   # trammel-result 1
//   # table: output
//   # tables: output,steps                (first file only)
//   # provenance.title: Four-bar linkage
//   # unit: s,m,...                       (likewise # frame:, # text:, # flag:)
//   time,body.crank.position.x,...        the header; names with commas or quotes are quoted as in RFC 4180
//   0,0.25,...                            shortest decimals that read back to the same bits
//   # status: finished                    at the end, with # summary: and # failure: (JSON, line breaks as \n)
//
// Read with pandas: pandas.read_csv("run.csv", comment="#").
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trammel/write/trajectory.h"

namespace trammel {

class CsvWriter final : public TrajectorySink {
 public:
  // Throws Failure(cannot_write) at once where `path` cannot be written. A path that is no regular file (a pipe,
  // /dev/stdout) gets the first table only. Buffered rows reach the file after `flush_seconds`.
  explicit CsvWriter(std::string path, double flush_seconds = 1.0);
  ~CsvWriter() override;  // without finish: writes what it has, with status "failed"
  CsvWriter(const CsvWriter&) = delete;
  CsvWriter& operator=(const CsvWriter&) = delete;

  void begin(const std::vector<Table>& tables, const Provenance& provenance) override;
  void resume(const std::vector<Table>& tables, const std::vector<std::uint64_t>& rows) override;
  bool append(std::size_t table, std::span<const double> row) override;
  void flush() override;
  void finish(RunStatus status, std::string_view summary_json, std::string_view failure_json) override;

  // Where the further table `table` of the result `path` goes: "run.csv", "steps" -> "run.steps.csv".
  static std::string path_of_table(const std::string& path, const std::string& table);

 private:
  struct Files;
  std::string path_;
  double flush_seconds_;
  std::unique_ptr<Files> files_;
};

// Text on one line: backslash and line breaks are written as \\, \n and \r. And back.
std::string csv_escape(std::string_view text);
std::string csv_unescape(std::string_view text);

// One field, quoted if it must be.
std::string csv_field(std::string_view text);

// Splits a record at its commas, undoing quotes. False if a quote is left open.
bool csv_split(std::string_view record, std::vector<std::string>& fields);

}  // namespace trammel
