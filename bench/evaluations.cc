#include "bench/evaluations.h"

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "bench/mechanisms.h"
#include "trammel/formulate/joint_space.h"
#include "trammel/formulate/state_space.h"
#include "trammel/initial/consistent.h"

namespace trammel::bench {
namespace {

double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Seconds for one evaluation, the least of several runs of about 20 ms; -1: it fails.
template <class Evaluate>
double least_seconds(Evaluate&& evaluate) {
  double least = 1;
  for (int run = 0; run < 9; ++run) {
    int count = 0;
    const double begin = cpu_seconds();
    double taken = 0;
    do {
      for (int k = 0; k < 4; ++k)
        if (!evaluate(++count)) return -1;
      taken = cpu_seconds() - begin;
    } while (taken < 0.02);
    least = std::min(least, taken / count);
  }
  return least;
}

// The place differs a little from evaluation to evaluation, as the stages of a step do.
double seconds_of(FirstOrderProblem& problem, double t, const Vec& y, const Vec& dydt) {
  Vec at = y, out(y.size());
  return least_seconds([&](int k) {
    at = y + (1e-6 * (1 + k % 7)) * dydt;
    return problem.f(t, at, out) == Eval::ok;
  });
}

void measure(const char* name, int size, Model model) {
  const Equations equations(std::move(model));
  State state = equations.initial_state();
  Workspace work = equations.make_workspace();
  equations.start(state, work);
  AccelerationSolver solver(equations);
  Rates rates = equations.make_rates();
  if (!solver.project(state, work) || !solver.solve(state, rates, work)) {
    std::printf("%-10s %6d  no accelerations\n", name, size);
    return;
  }
  const auto bodies = static_cast<double>(equations.model().bodies.size());
  std::printf("%-10s %6d %7.0f", name, size, bodies);
  Vec y, dydt;
  {
    JointSpace space(equations, {});
    space.start(state, rates, y);
    dydt.resize(y.size());
    if (space.f(state.t, y, dydt) == Eval::ok) {
      std::printf(" %9.3f", 1e6 * seconds_of(space, state.t, y, dydt) / bodies);
      const double projection = least_seconds([&](int k) {
        Vec at = y + (1e-7 * (1 + k % 7)) * dydt;
        return space.project(state.t, at);
      });
      std::printf(" %9.3f", space.has_rows() ? 1e6 * projection / bodies : 0.0);
    } else {
      std::printf(" %9s %9s", "fails", "");
    }
  }
  for (const bool all : {true, false}) {
    StateSpaceOptions options;
    options.all_coordinates = all;
    StateSpace space(equations, options);
    space.set_base(state, rates);
    space.set_step(1e-3);
    space.project(state, rates, y, dydt);
    const double seconds = seconds_of(space, state.t, y, dydt);
    if (seconds < 0)
      std::printf(" %9s", "fails");
    else
      std::printf(" %9.3f", 1e6 * seconds / bodies);
  }
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

void measure_evaluations() {
  std::printf(
      "one evaluation of y' = f, us per body: joint coordinates and a return to the rows, index 1, state space\n");
  std::printf("%-10s %6s %7s %9s %9s %9s %9s\n", "model", "size", "bodies", "joint", "return", "index-1", "state-sp.");
  for (const int n : {1, 10, 100, 1000}) measure("chain", n, chain(n));
  for (const int n : {1, 10, 40}) measure("four-bar", n, four_bars(n));
  for (const int n : {1, 10}) measure("convoy", n, convoy(n));
}

}  // namespace trammel::bench
