#include <cmath>
#include <cstdio>

#include "trammel/ode/solve.h"

// A pendulum: y = (angle, angular velocity).
class Pendulum : public trammel::FirstOrderProblem {
 public:
  int size() const override { return 2; }
  trammel::Eval f(double /*t*/, const trammel::Vec& y, trammel::Vec& dydt) override {
    dydt.resize(2);
    dydt[0] = y[1];
    dydt[1] = -std::sin(y[0]);
    return trammel::Eval::ok;
  }
};

int main() {
  Pendulum pendulum;
  trammel::Vec start(2);
  start << 1, 0;

  trammel::SolveOptions options;
  options.tolerance = 1e-8;
  options.output_times = {2.5, 5, 7.5, 10};
  const trammel::SolveResult result = trammel::solve(pendulum, "adams", 0, start, 10, options);

  for (std::size_t i = 0; i < result.times.size(); ++i) {
    std::printf("%5.2f  %9.6f  %9.6f\n", result.times[i], result.outputs[i][0], result.outputs[i][1]);
  }
  std::printf("%ld steps, %ld evaluations\n", result.steps, result.counts.evaluations);
  if (!result.message.empty()) std::printf("%s\n", result.message.c_str());
  return result.status == trammel::SolveStatus::finished ? 0 : 1;
}
