#include "trammel/analyse/modes.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "trammel/analyse/modes_sparse.h"
#include "trammel/linalg/eigenvalues.h"
#include "trammel/rank/algebra.h"
#include "trammel/rank/reduction.h"

namespace trammel {
namespace {

constexpr int most_dense_velocities = 700;
constexpr double rigid_part = 1e-11;  // of the largest w^2: round-off of the dense solver

void name_bodies(const Equations& equations, Mode& mode) {
  const Vec sizes = mode.shape.cwiseAbs().cwiseQuotient(equations.scales());
  std::vector<std::pair<double, int>> bodies;
  for (int b = 0; b < static_cast<int>(equations.model().bodies.size()); ++b) {
    const auto count = static_cast<Eigen::Index>(equations.body(b).velocities().size());
    bodies.emplace_back(sizes.segment(equations.first_velocity(b), count).maxCoeff(), b);
  }
  std::stable_sort(bodies.begin(), bodies.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [size, body] : bodies) {
    if (mode.bodies.size() >= 4 || size < 0.3 * bodies[0].first || size == 0) break;
    mode.bodies.push_back(equations.model().bodies[body].name);
  }
}

// Largest entry 1, its phase zero.
void normalise(const Equations& equations, Mode& mode) {
  Eigen::Index at = 0;
  const Vec scales = equations.scales();
  const double size = mode.shape.cwiseAbs().cwiseQuotient(scales).maxCoeff(&at);
  if (size > 0) mode.shape *= scales[at] / mode.shape[at];
}

}  // namespace

Mode make_mode(const Equations& equations, std::complex<double> s, Eigen::VectorXcd shape, double rigid_below) {
  Mode mode;
  mode.rigid = std::abs(s) <= rigid_below;
  mode.eigenvalue = mode.rigid ? 0.0 : s;
  mode.frequency = std::abs(mode.eigenvalue) / (2 * std::numbers::pi);
  mode.oscillates = std::abs(s.imag()) > 1e-9 * std::abs(s) && !mode.rigid;
  mode.damping = mode.rigid ? 0 : -s.real() / std::abs(s);
  if (std::abs(mode.damping) < 1e-12) mode.damping = 0;
  mode.stable = mode.damping >= -1e-9;
  mode.shape = std::move(shape);
  normalise(equations, mode);
  name_bodies(equations, mode);
  return mode;
}

std::complex<double> undamped_eigenvalue(double w2) {
  return w2 >= 0 ? std::complex<double>(0, std::sqrt(w2)) : std::complex<double>(std::sqrt(-w2), 0);
}

Modes find_modes(const Equations& equations, const State& state, const Rates& rates, const ModeOptions& options) {
  const Vec scales = equations.scales();
  const double speed = state.v.size() > 0 ? state.v.cwiseQuotient(scales).lpNorm<Eigen::Infinity>() : 0;
  const double acceleration = rates.a.size() > 0 ? rates.a.cwiseQuotient(scales).lpNorm<Eigen::Infinity>() : 0;
  const bool at_rest = speed < 1e-9;
  const bool large = equations.sizes().nv > most_dense_velocities;
  if (options.solver == ModeSolver::sparse ||
      (options.solver == ModeSolver::automatic && large && at_rest && equations.sizes().nx == 0)) {
    return find_modes_sparse(equations, state, rates, options);
  }
  Modes out;
  out.at_rest = at_rest;
  const LinearSystem s = linearise_system(equations, state, rates, LinearOutputs::model);
  const Eigen::Index np = s.positions, ns = static_cast<Eigen::Index>(s.velocity_states.size());
  out.freedoms = static_cast<int>(ns);
  out.displacements = static_cast<int>(np);
  const double largest = s.A.cwiseAbs().maxCoeff();
  out.equilibrium = acceleration <= 1e-6 * std::max(1.0, largest);
  Workspace work = equations.make_workspace();

  if (at_rest && np == ns) {
    const Mat A21 = s.A.block(np, 0, ns, np);
    Mat K = -s.mass * A21;
    out.symmetric = (K - K.transpose()).norm() <= 1e-7 * K.norm();
    Vec w2(ns);
    Mat shapes(np, ns);
    if (out.symmetric) {
      const SymmetricEigen<Mat> eigen = symmetric_eigen(0.5 * (K + K.transpose()), s.mass);
      w2 = eigen.values;
      shapes = eigen.vectors;
      const double top = w2.cwiseAbs().maxCoeff();
      for (Eigen::Index k = 0; k < ns; ++k) {
        const double below = std::sqrt(rigid_part * top);
        out.undamped.push_back(make_mode(equations, undamped_eigenvalue(w2[k]),
                                         (s.displacement.leftCols(np) * shapes.col(k)).cast<std::complex<double>>(),
                                         below));
      }
      std::stable_sort(out.undamped.begin(), out.undamped.end(),
                       [](const Mode& a, const Mode& b) { return a.frequency < b.frequency; });
      for (const Mode& mode : out.undamped) out.rigid += mode.rigid ? 1 : 0;
    } else {
      out.notes.push_back(
          "the stiffness is not symmetric (follower forces or a state out of balance): only the complex "
          "eigenvalues are given");
    }
  }
  const bool nothing_damps = at_rest && np == ns && equations.sizes().nx == 0 && out.symmetric &&
                             s.A.block(np, np, ns, ns).norm() <= 1e-13 * std::sqrt(largest);
  if (out.undamped.empty()) {
    // Displacements that cause no acceleration. Of the eigenvalues a rigid motion takes two zeros, or one if it is
    // damped, so that they cannot be counted.
    const Vec size = s.displacement.leftCols(np).cwiseAbs().colwise().maxCoeff().transpose().cwiseMax(1e-300);
    const Mat accelerations = s.A.block(np, 0, ns, np) * size.cwiseInverse().asDiagonal();
    LoopOptions values;
    values.tolerance = 1e-9;
    out.rigid = static_cast<int>(np) - rank::left_null_space(accelerations, values).spectrum.rank;
  }
  if (options.damped && !nothing_damps) {
    const GeneralEigen eigen = general_eigen(s.A);
    const Eigen::VectorXcd& values = eigen.values;
    const double top = values.cwiseAbs().maxCoeff();
    for (Eigen::Index k = 0; k < s.A.rows(); ++k) {
      if (values[k].imag() < -1e-14 * top) continue;
      out.damped.push_back(make_mode(equations, values[k], s.displacement * eigen.vectors.col(k), 1e-7 * top));
    }
    std::stable_sort(out.damped.begin(), out.damped.end(),
                     [](const Mode& a, const Mode& b) { return a.frequency < b.frequency; });
  }
  if (!out.equilibrium && at_rest)
    out.notes.push_back("the state is no equilibrium: it accelerates, and the modes describe motions beside that one");
  if (!at_rest) out.notes.push_back("the state moves: eigenvalues hold for steady motions, such as a turning rotor");
  if (options.count > 0) {
    const auto cut = [&](std::vector<Mode>& modes) {
      if (modes.size() > static_cast<std::size_t>(options.count)) modes.resize(options.count);
    };
    cut(out.undamped);
    cut(out.damped);
  }
  return out;
}

Eigen::MatrixXcd shape_of_bodies(const Equations& equations, const State& state, const Mode& mode) {
  Workspace work = equations.make_workspace();
  equations.update(state, work);
  const auto count = static_cast<int>(equations.model().bodies.size());
  const Vec still = Vec::Zero(equations.sizes().nv), real = from_world(equations, work, mode.shape.real()),
            imaginary = from_world(equations, work, mode.shape.imag());
  Eigen::MatrixXcd out(count, 6);
  for (int b = 0; b < count; ++b) {
    const BodyFrame& origin = equations.origin(b);
    out.row(b).real() = equations.frame_variation(origin, real, still, work).head<6>().transpose();
    out.row(b).imag() = equations.frame_variation(origin, imaginary, still, work).head<6>().transpose();
  }
  return out;
}

}  // namespace trammel
