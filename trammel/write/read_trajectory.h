// Reads results back: the HDF5 file of Hdf5Writer or the CSV files of CsvWriter, told apart by content.
#pragma once
#include <string>
#include <vector>

#include "trammel/write/trajectory.h"

namespace trammel {

struct TrajectoryReadOptions {
  // Names or patterns as in match_signals; each must fit something. Only these columns, and the time of their tables,
  // are read. Empty: everything.
  std::vector<std::string> signals;
};

// A result of a run that is still going or was killed is read up to its last flush. Throws Failure (bad_usage) for a
// missing file, one that is no result, and a damaged one. `notes` receives what was left out, if anything.
MemoryTrajectory read_trajectory(const std::string& path, const TrajectoryReadOptions& options = {},
                                 std::vector<Problem>* notes = nullptr);

// What a result in HDF5 says of itself, without its rows: tables, provenance, status, summary.
MemoryTrajectory read_hdf5_head(const std::string& path);

// The two formats, called by read_trajectory.
MemoryTrajectory read_hdf5_trajectory(const std::string& path, const TrajectoryReadOptions& options,
                                      std::vector<Problem>* notes);
MemoryTrajectory read_csv_trajectory(const std::string& path, const TrajectoryReadOptions& options,
                                     std::vector<Problem>* notes);

// The columns to keep of each table: all, or what `options` asks for. Tables without a wanted column come out empty.
std::vector<std::vector<std::size_t>> wanted_columns(const std::vector<Table>& tables,
                                                     const TrajectoryReadOptions& options);

}  // namespace trammel
