// Running mechanisms by hand, and what tests do with the numbers: fits, dense references, differences.
#pragma once
#include <functional>
#include <memory>
#include <random>
#include <span>

#include "trammel/initial/consistent.h"
#include "trammel/integrate/alpha/alpha.h"

namespace trammel::problems {

// A compiled model on its constraints, with accelerations and multipliers.
struct Ready {
  explicit Ready(Model model, const InitialOptions& options = {.analyse_rank = false});

  std::unique_ptr<Equations> equations;
  std::unique_ptr<AccelerationSolver> accelerations;
  Workspace work;
  State state;
  Rates rates;
  InitialReport initial;
};

// Fixed steps with Newton converged to round-off, so that two runs differ by what is tested and not by stopping rules.
AlphaOptions converged(const AlphaParameters& parameters);
// Fixed steps as a user gets them.
AlphaOptions fixed(const AlphaParameters& parameters);

// `count` steps of size h from the start of `ready`; `each` sees the integrator after every step. A step that fails
// throws.
void run_fixed(const Ready& ready, const AlphaOptions& options, double h, int count,
               const std::function<void(const AlphaMethod&)>& each);
// The same to the end only.
struct End {
  State state;
  Rates rates;
  Counts counts;
};
End run_fixed(const Ready& ready, const AlphaOptions& options, double h, int count);

// Slope of log(y) over log(x) by least squares.
double fitted_slope(std::span<const double> x, std::span<const double> y);

// f'(0) by central differences with steps h, h/2, h/4, extrapolated to order 6.
Vec derivative(const std::function<Vec(double)>& f, double h = 2e-3);

// Anywhere: rotations by up to `turn` radians about each axis, shifts of half the mechanism's size, velocities of its
// size per second.
State random_state(const Equations& equations, std::mt19937& random, double turn = 2);
Vec random_vector(Eigen::Index size, std::mt19937& random);

// Dense references for one state, whatever the rank of G: accelerations of the index-1 system, and among its
// multipliers those of least lambda^T E lambda.
struct DenseSolution {
  Vec a, lambda;
  int rank = 0;
};
DenseSolution dense_solution(const Equations& equations, const State& state, const Vec& E, Workspace& work);

// |local(a, b)| by the scales of the equations: positions by the length, rotations by 1 rad; largest entry.
double distance(const Equations& equations, const Vec& q_a, const Vec& q_b);

}  // namespace trammel::problems
