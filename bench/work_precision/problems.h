// Problems of the work-precision diagrams, each with a reference that no method under test has computed.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "trammel/ode/problem.h"

namespace trammel::bench {

struct Problem {
  std::string key, title;
  bool stiff = false;
  std::function<std::unique_ptr<FirstOrderProblem>()> make;
  Vec start;
  double end = 1;
  Vec reference;  // at the end
};

std::vector<Problem> work_precision_problems();

}  // namespace trammel::bench
