// A result as the data of a page: header and chunks of the format in view_format.h.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "app/view_modes.h"
#include "app/view_sweep.h"
#include "trammel/write/trajectory.h"

namespace trammel {

struct ViewOptions {
  std::vector<std::string> signals;  // names or patterns; empty: all
  std::size_t every = 1;             // rows
  bool exact = false;                // signals as 32-bit floats instead of a millionth of their greatest value
  bool only_first_table = false;     // no signals of others; events are marks all the same
};

// How a mechanism without a run can move: along its freedoms, or in its modes.
struct ViewMotions {
  std::vector<Sweep> sweeps;
  std::optional<ModesOfPage> modes;
};

// Packed and ready for base64. Throws Failure for a result without bodies, or one that is too large for a page.
std::string view_data(const MemoryTrajectory& result, const ViewOptions& options, const ViewMotions& motions = {});

}  // namespace trammel
