// Tells the formats of results apart; see read_trajectory.h.
#include "trammel/write/read_trajectory.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <numeric>

#include "trammel/write/output_path.h"

namespace trammel {

MemoryTrajectory read_trajectory(const std::string& path, const TrajectoryReadOptions& options,
                                 std::vector<Problem>* notes) {
  struct stat info {};
  const bool exists = stat(path.c_str(), &info) == 0;
  if (exists && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) {  // opening a pipe would wait
    throw read_failure("not-a-file", "cannot read the result '" + path + "': it is a device or a pipe", "name a file");
  }
  std::ifstream file(path, std::ios::binary);
  if (!exists || !file) {
    throw read_failure("cannot-read", "cannot read the result '" + path + "': " + std::strerror(errno),
                       errno == ENOENT ? "run the model first: trammel run MODEL --output " + path : "");
  }
  if (S_ISDIR(info.st_mode)) {
    throw read_failure("cannot-read", "cannot read the result '" + path + "': it is a folder", "");
  }
  std::string head(csv_magic.size(), '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  if (file.gcount() == 0) {
    throw read_failure("not-a-result", "'" + path + "' is empty", "the run that made it stopped before it began");
  }
  if (is_hdf5_file(path)) return read_hdf5_trajectory(path, options, notes);
  if (head == csv_magic) return read_csv_trajectory(path, options, notes);
  throw read_failure("not-a-result", "'" + path + "' is not a result of Trammel",
                     "results are the .h5 or .csv files that 'trammel run' writes");
}

std::vector<std::vector<std::size_t>> wanted_columns(const std::vector<Table>& tables,
                                                     const TrajectoryReadOptions& options) {
  std::vector<std::vector<std::size_t>> columns(tables.size());
  if (options.signals.empty()) {
    for (std::size_t t = 0; t < tables.size(); ++t) {
      columns[t].resize(tables[t].signals.size());
      std::iota(columns[t].begin(), columns[t].end(), std::size_t{0});
    }
    return columns;
  }
  for (const std::string& pattern : options.signals) {
    const auto found = match_signals(tables, pattern);
    if (found.empty()) throw unknown_signal(tables, pattern);
    for (const SignalRef ref : found) {
      columns[ref.table].push_back(0);
      columns[ref.table].push_back(ref.column);
    }
  }
  for (auto& list : columns) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return columns;
}

}  // namespace trammel
