// Streams a run into one self-describing HDF5 file, made to be read with h5py:
//
//   /                   attributes format "trammel-result", format_version, status ("running", "finished", "failed",
//                       "interrupted"); tables (names, separated by commas)
//   /provenance         attributes: program, version, title, model_file, model_sha256, method, ...
//   /output/data        doubles, rows x signals, one row per output time; column 0 is the time. While the run goes
//                       on, or if it was killed, unfilled rows follow: their time is not a number
//   /output/names       one string per column; likewise units, frames, text, flags (empty: no caveat)
//   /steps/...          the same for the accepted steps, and so for every further table
//   /summary, /failure  JSON texts, written at the end of the run (failure only if there is one)
//
//   f = h5py.File("run.h5"); names = list(f["output/names"].asstr()); x = f["output/data"][:, names.index("...")]
//   f.attrs["status"].decode(); json.loads(f["summary"][()])
//
// Texts have fixed length, so h5py gives attributes as bytes. Strings of variable length would come as str, but sit in
// a heap without checksum, and HDF5 crashes on a damaged one.
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

struct Hdf5Options {
  double flush_seconds = 1.0;           // a killed run loses at most this much; 0 flushes every row
  std::size_t chunk_bytes = 64 * 1024;  // piece of a table that is stored, and buffered, as one
};

class Hdf5Writer final : public TrajectorySink {
 public:
  // Throws Failure(cannot_write) at once where `path` cannot be written, before any work is done.
  explicit Hdf5Writer(std::string path, Hdf5Options options = {});
  ~Hdf5Writer() override;  // without finish: writes what it has, with status "failed"
  Hdf5Writer(const Hdf5Writer&) = delete;
  Hdf5Writer& operator=(const Hdf5Writer&) = delete;

  void begin(const std::vector<Table>& tables, const Provenance& provenance) override;
  void resume(const std::vector<Table>& tables, const std::vector<std::uint64_t>& rows) override;
  bool append(std::size_t table, std::span<const double> row) override;
  void flush() override;
  void finish(RunStatus status, std::string_view summary_json, std::string_view failure_json) override;

 private:
  struct File;
  std::string path_;
  Hdf5Options options_;
  std::unique_ptr<File> file_;
};

}  // namespace trammel
