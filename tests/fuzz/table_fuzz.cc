// Any bytes are a result in text or the table of a sweep, or a Failure; nothing else. The first byte chooses which.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include "trammel/write/csv_writer.h"
#include "trammel/write/read_trajectory.h"
#include "trammel/write/sweep_table.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trammel;
  if (size == 0) return 0;
  static const std::string path = "/dev/shm/trammel-fuzz-" + std::to_string(getpid()) + ".csv";
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(data) + 1, static_cast<long>(size) - 1);
  try {
    const MemoryTrajectory read = data[0] % 2 == 0 ? read_csv_trajectory(path, {}, nullptr) : read_sweep_table(path);
    for (std::size_t table = 0; table < read.tables().size(); ++table) {
      for (std::size_t row = 0; row < read.rows(table); ++row) {
        if (read.row(table, row).size() != read.tables()[table].signals.size()) std::abort();
      }
    }
  } catch (const Failure&) {
  }
  return 0;
}
