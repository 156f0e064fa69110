// The table of a sweep as a result with one row for each finished run: parameters and measures are its signals. Column
// 0, which every table calls time, holds the number of the run.
#pragma once
#include <string>

#include "trammel/write/trajectory.h"

namespace trammel {

bool is_sweep_table(const std::string& path);
// Throws Failure (bad_usage). Values that are no plain numbers become not-a-number.
MemoryTrajectory read_sweep_table(const std::string& path);

}  // namespace trammel
