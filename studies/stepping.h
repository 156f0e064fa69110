// The time loop of a run with a clock on it: what the steps alone cost, without recording, and what the controller did.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "trammel/run/simulation.h"

namespace trammel {

struct SteppedRun {
  bool finished = false;
  std::string why;                 // if not
  long steps = 0, rejected = 0;    // rejected for any reason
  std::vector<double> t, h;        // end and size of each step, if asked for
  std::vector<double> grid;        // what `look` says at the grid's times
  std::vector<double> marked;      // seconds spent until each mark was passed
  std::vector<long> marked_steps;  // and steps
  double seconds = 0;              // of one core
  Counts counts;
  State last;  // where it ended
};

struct SteppedRunOptions {
  double grid = 0;                                               // times at which to look; 0: never
  std::function<double(const State&, const Equations&)> look{};  // a value of the state
  std::vector<double> marks{};                                   // times at which to read the clock
  bool keep_steps = false;
  double patience = 1e300;  // seconds after which it is given up
};

double cpu_seconds();  // spent by this program

// Steps a model from its start to its end, with its own settings.
SteppedRun step_model(Model model, const SteppedRunOptions& options = {});

}  // namespace trammel
