// The state an analysis is made about: initial, equilibrium, or at a time of a run.
#pragma once
#include <optional>

#include "app/analysis.h"
#include "trammel/analyse/statics.h"

namespace trammel {

struct Around {
  std::string text;  // "static equilibrium (stable)"
  std::optional<StaticReport> equilibrium;
};

// Takes `prepared` there, by a run with these options if it is a time. Throws Failure (failed_run) if there is no
// equilibrium or the run does not reach the time.
Around go_to(Prepared& prepared, const std::string& where, const RunOptions& options = {});

}  // namespace trammel
