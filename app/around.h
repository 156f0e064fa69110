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

// Takes `prepared` there. Throws Failure (failed_run) if there is no equilibrium or the run fails.
Around go_to(Prepared& prepared, const std::string& where);

}  // namespace trammel
