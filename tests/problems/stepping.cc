#include "tests/problems/stepping.h"

#include <Eigen/SVD>
#include <cmath>
#include <stdexcept>

namespace trammel::problems {

Ready::Ready(Model model, const InitialOptions& options)
    : equations(std::make_unique<Equations>(std::move(model))),
      accelerations(std::make_unique<AccelerationSolver>(*equations)),
      work(equations->make_workspace()),
      state(equations->initial_state()),
      rates(equations->make_rates()) {
  equations->start(state, work);
  initial = make_consistent(*equations, state, rates, *accelerations, work, options);
}

AlphaOptions fixed(const AlphaParameters& parameters) {
  AlphaOptions options;
  options.parameters = parameters;
  options.fixed_step = true;
  options.tolerance = 1e-3;
  return options;
}

AlphaOptions converged(const AlphaParameters& parameters) {
  AlphaOptions options = fixed(parameters);
  options.newton.c = 1e-9;
  options.newton.most_iterations = 20;
  return options;
}

void run_fixed(const Ready& ready, const AlphaOptions& options, double h, int count,
               const std::function<void(const AlphaMethod&)>& each) {
  AlphaOptions with_misfit = options;
  with_misfit.misfit = ready.initial.misfit;
  AlphaMethod method(*ready.equations, with_misfit);
  method.start(ready.state, ready.rates);
  for (int i = 0; i < count; ++i) {
    const Attempt attempt = method.attempt(h);
    if (attempt.verdict != Verdict::ok) {
      throw std::runtime_error(std::string(to_text(attempt.verdict)) + " in step " + std::to_string(i + 1) + " of " +
                               std::to_string(h) + " s");
    }
    method.accept();
    each(method);
  }
}

End run_fixed(const Ready& ready, const AlphaOptions& options, double h, int count) {
  End end;
  int left = count;
  run_fixed(ready, options, h, count, [&](const AlphaMethod& method) {
    if (--left == 0) end = {method.state(), method.rates(), method.counts()};
  });
  return end;
}

double fitted_slope(std::span<const double> x, std::span<const double> y) {
  const auto n = static_cast<double>(x.size());
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double u = std::log(x[i]), v = std::log(y[i]);
    sx += u;
    sy += v;
    sxx += u * u;
    sxy += u * v;
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

Vec derivative(const std::function<Vec(double)>& f, double h) {
  const auto central = [&](double step) { return Vec((f(step) - f(-step)) / (2 * step)); };
  const Vec d1 = central(h), d2 = central(h / 2), d3 = central(h / 4);
  const Vec e1 = (4 * d2 - d1) / 3, e2 = (4 * d3 - d2) / 3;
  return (16 * e2 - e1) / 15;
}

Vec random_vector(Eigen::Index size, std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  Vec v(size);
  for (Eigen::Index i = 0; i < size; ++i) v[i] = uniform(random);
  return v;
}

State random_state(const Equations& equations, std::mt19937& random, double turn) {
  State state = equations.initial_state();
  const Vec scales = equations.scales();
  Vec delta = random_vector(equations.sizes().nv, random);
  for (int i = 0; i < delta.size(); ++i) {
    const BodyVelocity& velocity = equations.velocity(i);
    const bool bends = velocity.displacement > 0 || velocity.turn > 0;
    delta[i] *= bends ? 0.3 * scales[i] : velocity.part < 3 ? 0.5 * equations.length() : turn;
  }
  Vec q(state.q.size());
  equations.retract(state.q, delta, q);
  state.q = q;
  state.v = scales.cwiseProduct(random_vector(equations.sizes().nv, random));
  state.t = 0.3;
  Workspace work = equations.make_workspace();
  equations.start(state, work);
  return state;
}

DenseSolution dense_solution(const Equations& equations, const State& state, const Vec& E, Workspace& work) {
  using LongMat = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
  using LongVec = Eigen::Matrix<long double, Eigen::Dynamic, 1>;
  const int nv = equations.sizes().nv;
  Partials partials = equations.make_partials(Detail::all);
  Residual residual = equations.make_residual();
  const Rates zero = equations.make_rates();
  equations.residual(state, zero, everything, residual, work);
  equations.linearise(state, zero, Detail::all, partials, work);
  const LongMat M = equations.vv().dense(partials.M).cast<long double>(),
                G = equations.gv().dense(partials.G).cast<long double>();
  const LongVec scales = equations.scales().cast<long double>(), gamma = partials.gamma.cast<long double>(),
                Q = -residual.force.cast<long double>();
  DenseSolution out;
  // G a = gamma by least squares, the rest of a in the null space of G: N^T M N y = N^T (Q - M a_p)
  Eigen::JacobiSVD<LongMat> svd(G * scales.asDiagonal(), Eigen::ComputeFullU | Eigen::ComputeFullV);
  svd.setThreshold(1e-9L);
  out.rank = static_cast<int>(svd.rank());
  const LongVec particular = scales.asDiagonal() * svd.solve(gamma);
  const LongMat N = scales.asDiagonal() * svd.matrixV().rightCols(nv - out.rank);
  LongVec a = particular;
  if (N.cols() > 0) a += N * (N.transpose() * M * N).ldlt().solve(N.transpose() * (Q - M * particular));
  // G^T lambda = Q - M a with least lambda^T E lambda
  const LongVec root = E.cast<long double>().cwiseSqrt();
  Eigen::JacobiSVD<LongMat> least(scales.asDiagonal() * G.transpose() * root.cwiseInverse().asDiagonal(),
                                  Eigen::ComputeThinU | Eigen::ComputeThinV);
  least.setThreshold(1e-9L);
  out.lambda = (root.cwiseInverse().asDiagonal() * least.solve(scales.asDiagonal() * (Q - M * a))).cast<double>();
  out.a = a.cast<double>();
  return out;
}

double distance(const Equations& equations, const Vec& q_a, const Vec& q_b) {
  Vec delta(equations.sizes().nv);
  equations.local(q_a, q_b, delta);
  return delta.cwiseQuotient(equations.scales()).lpNorm<Eigen::Infinity>();
}

}  // namespace trammel::problems
