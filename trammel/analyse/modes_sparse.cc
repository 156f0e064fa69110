// Undamped: the pencil (K, M) on the null space of G, operator (K - sigma M)^-1 M, sigma a little below the lowest w^2.
// Damped: with x = (dq, dv), (A - sigma)^-1 (y, z) needs one solve as well:
//
//   (K + sigma C + sigma^2 M) dq + G^T l = -M (sigma y + z) - C y,   G dq = 0,   dv = y + sigma dq (7.14)
#include "trammel/analyse/modes_sparse.h"

#include <Spectra/GenEigsRealShiftSolver.h>
#include <Spectra/SymGEigsShiftSolver.h>

#include <algorithm>
#include <cmath>

#include "trammel/analyse/tangent_solver.h"
#include "trammel/rank/reduction.h"

namespace trammel {
namespace {

// y = M x
class MassOperator {
 public:
  using Scalar = double;
  MassOperator(const Equations& equations, const Vec& q)
      : equations_(equations), q_(q), x_(equations.sizes().nv), y_(x_) {}
  Eigen::Index rows() const { return equations_.sizes().nv; }
  Eigen::Index cols() const { return rows(); }
  void perform_op(const double* x, double* y) const {
    x_ = Eigen::Map<const Vec>(x, rows());
    equations_.multiply_mass(q_, x_, y_);
    Eigen::Map<Vec>(y, rows()) = y_;
  }

 private:
  const Equations& equations_;
  const Vec& q_;
  mutable Vec x_, y_;
};

// y = (K - sigma M)^-1 x on the null space of G
class StiffnessInverse {
 public:
  using Scalar = double;
  StiffnessInverse(const Equations& equations, TangentSolver& solver, const Vec& K, const Partials& partials)
      : equations_(equations), solver_(solver), K_(K), partials_(partials) {}
  Eigen::Index rows() const { return equations_.sizes().nv; }
  Eigen::Index cols() const { return rows(); }
  void set_shift(double sigma) { good_ = solver_.factor(K_ - sigma * partials_.M, partials_.G); }
  void perform_op(const double* x, double* y) const {
    b_.setZero(rows() + equations_.sizes().multipliers());
    b_.head(rows()) = Eigen::Map<const Vec>(x, rows());
    good_ = solver_.solve(b_, z_) && good_;
    Eigen::Map<Vec>(y, rows()) = z_.head(rows());
  }
  bool good() const { return good_; }

 private:
  const Equations& equations_;
  TangentSolver& solver_;
  const Vec& K_;
  const Partials& partials_;
  mutable Vec b_, z_;
  mutable bool good_ = true;
};

class StateInverse {  // (A - sigma)^-1, (7.14)
 public:
  using Scalar = double;
  StateInverse(const Equations& equations, const Vec& q, TangentSolver& solver, const Partials& partials)
      : equations_(equations), q_(q), solver_(solver), partials_(partials) {}
  Eigen::Index rows() const { return 2 * equations_.sizes().nv; }
  Eigen::Index cols() const { return rows(); }
  void set_shift(double sigma) {
    sigma_ = sigma;
    good_ = solver_.factor(partials_.force_q + sigma * partials_.force_v + sigma * sigma * partials_.M, partials_.G);
  }
  void perform_op(const double* in, double* out) const {
    const Eigen::Index nv = equations_.sizes().nv;
    const Eigen::Map<const Vec> y(in, nv), z(in + nv, nv);
    Vec sum = sigma_ * y + z, product(nv);
    equations_.multiply_mass(q_, sum, product);
    b_.setZero(nv + equations_.sizes().multipliers());
    b_.head(nv) = -product;
    equations_.vv().multiply_add(partials_.force_v, -1, in, b_.data());
    good_ = solver_.solve(b_, z_) && good_;
    Eigen::Map<Vec>(out, nv) = z_.head(nv);
    Eigen::Map<Vec>(out + nv, nv) = y + sigma_ * z_.head(nv);
  }
  bool good() const { return good_; }

 private:
  const Equations& equations_;
  const Vec& q_;
  TangentSolver& solver_;
  const Partials& partials_;
  double sigma_ = 0;
  mutable Vec b_, z_;
  mutable bool good_ = true;
};

[[noreturn]] void refuse_modes(const char* id, const std::string& message, const std::string& hint) {
  throw Failure({Severity::error, id, message, hint, {}}, ExitCode::failed_run);
}

}  // namespace

Modes find_modes_sparse(const Equations& equations, const State& state, const Rates& rates,
                        const ModeOptions& options) {
  const Eigen::Index nv = equations.sizes().nv;
  const Vec scales = equations.scales();
  if (state.v.size() > 0 && state.v.cwiseQuotient(scales).lpNorm<Eigen::Infinity>() > 1e-9)
    refuse_modes("moving-state", "the sparse solver finds modes about states at rest", "take --solver dense");
  if (!equations.velocity_rows().empty())
    refuse_modes("nonholonomic", "the sparse solver does not treat conditions on velocities", "take --solver dense");
  Workspace work = equations.make_workspace();
  Partials p = equations.make_partials(Detail::newton);
  Rates still = rates;
  still.a.setZero();
  equations.linearise(state, still, Detail::newton, p, work);
  equations.update(state, work);
  Modes out;
  out.sparse = true;
  out.equilibrium = rates.a.cwiseQuotient(scales).lpNorm<Eigen::Infinity>() <= 1e-6;
  if (!out.equilibrium)
    refuse_modes("no-equilibrium", "the sparse solver finds modes about an equilibrium, and this state accelerates",
                 "take --around equilibrium, or --solver dense");

  // Symmetric part of K on its pattern.
  const Pattern& vv = equations.vv();
  Vec K = p.force_q;
  double skewness = 0, size = 0;
  for (int j = 0; j < nv; ++j) {
    for (int s = vv.start()[j]; s < vv.start()[j + 1]; ++s) {
      const int i = vv.row()[s], other = vv.slot(j, i);
      const double mirrored = other < 0 ? 0 : p.force_q[other];
      skewness = std::max(skewness, std::abs(p.force_q[s] - mirrored) * scales[i] * scales[j]);
      size = std::max(size, std::abs(p.force_q[s]) * scales[i] * scales[j]);
      K[s] = other < 0 ? p.force_q[s] : 0.5 * (p.force_q[s] + mirrored);
    }
  }
  out.symmetric = skewness <= 1e-6 * size;

  // A shift below the lowest mode: estimated by inverse iteration from a shift that is surely small.
  TangentSolver solver(equations);
  StiffnessInverse inverse(equations, solver, K, p);
  const MassOperator mass(equations, state.q);
  double top = 0;
  for (int i = 0; i < nv; ++i) {
    const int slot = vv.slot(i, i);
    if (p.M[slot] > 0) top = std::max(top, std::abs(K[slot]) / p.M[slot]);
  }
  if (top == 0) top = 1;
  double sigma = -1e-7 * top;
  Vec x(nv), y(nv);
  for (Eigen::Index i = 0; i < nv; ++i) x[i] = std::sin(1.0 + 2.3 * static_cast<double>(i)) * scales[i];  // any
  inverse.set_shift(sigma);
  double lowest = 0;
  for (int k = 0; k < 8 && inverse.good(); ++k) {
    mass.perform_op(x.data(), y.data());
    inverse.perform_op(y.data(), x.data());
    mass.perform_op(x.data(), y.data());
    const double norm = x.dot(y);
    if (!(norm > 0)) break;
    x /= std::sqrt(norm);
    Vec Kx = Vec::Zero(nv);
    vv.multiply_add(K, 1, x.data(), Kx.data());
    lowest = x.dot(Kx);
  }
  if (!inverse.good())
    refuse_modes("singular", "the stiffness matrix cannot be factored at this state", "take --solver dense");
  sigma = -std::max(0.5 * std::abs(lowest), 1e-12 * top);
  const int wanted = options.count > 0 ? options.count : 10;
  const auto count = static_cast<int>(std::min<Eigen::Index>(wanted, nv - 2));
  const auto space = static_cast<int>(std::min<Eigen::Index>(std::max(2 * count + 1, 20), nv));
  Spectra::SymGEigsShiftSolver<StiffnessInverse, MassOperator, Spectra::GEigsMode::ShiftInvert> lanczos(
      inverse, const_cast<MassOperator&>(mass), count, space, sigma);
  lanczos.init(x.data());
  lanczos.compute(Spectra::SortRule::LargestMagn, 500, 1e-11, Spectra::SortRule::SmallestAlge);
  if (lanczos.info() != Spectra::CompInfo::Successful && lanczos.eigenvalues().size() == 0)
    refuse_modes("not-converged", "the eigenvalue iteration did not converge",
                 "ask for fewer modes, or --solver dense");
  const Vec w2 = lanczos.eigenvalues();
  const Mat vectors = lanczos.eigenvectors();
  const double below = std::sqrt(1e-12 * top);
  for (Eigen::Index k = 0; k < w2.size(); ++k) {
    const Vec shape = to_world(equations, work, vectors.col(k));
    out.undamped.push_back(make_mode(equations, undamped_eigenvalue(w2[k]), shape.cast<std::complex<double>>(), below));
  }
  std::stable_sort(out.undamped.begin(), out.undamped.end(),
                   [](const Mode& a, const Mode& b) { return a.frequency < b.frequency; });
  for (const Mode& mode : out.undamped) out.rigid += mode.rigid ? 1 : 0;
  if (static_cast<int>(out.undamped.size()) < count)
    out.notes.push_back("only " + std::to_string(out.undamped.size()) + " of " + std::to_string(count) +
                        " modes converged");

  const bool damps = p.force_v.size() > 0 && p.force_v.lpNorm<Eigen::Infinity>() > 0;
  if (!options.damped || !damps) return out;
  StateInverse state_inverse(equations, state.q, solver, p);
  const double shift = std::sqrt(std::abs(sigma));
  const auto pairs = static_cast<int>(std::min<Eigen::Index>(2 * count, 2 * nv - 4));
  const auto wide = static_cast<int>(std::min<Eigen::Index>(std::max(2 * pairs + 1, 40), 2 * nv));
  Spectra::GenEigsRealShiftSolver<StateInverse> arnoldi(state_inverse, pairs, wide, shift);
  Vec start(2 * nv);
  start << x, Vec::Zero(nv);
  for (Eigen::Index k = 0; k < std::min<Eigen::Index>(vectors.cols(), 10); ++k) start.head(nv) += vectors.col(k);
  arnoldi.init(start.data());
  arnoldi.compute(Spectra::SortRule::LargestMagn, 1000, 1e-10);
  const Eigen::VectorXcd s = arnoldi.eigenvalues();
  const Eigen::MatrixXcd shapes = arnoldi.eigenvectors();
  for (Eigen::Index k = 0; k < s.size(); ++k) {
    if (s[k].imag() < -1e-12 * std::abs(s[k])) continue;
    const Vec re = to_world(equations, work, shapes.col(k).head(nv).real()),
              im = to_world(equations, work, shapes.col(k).head(nv).imag());
    Eigen::VectorXcd shape(nv);
    shape.real() = re;
    shape.imag() = im;
    out.damped.push_back(make_mode(equations, s[k], std::move(shape), below));
  }
  std::stable_sort(out.damped.begin(), out.damped.end(),
                   [](const Mode& a, const Mode& b) { return a.frequency < b.frequency; });
  if (out.damped.size() > static_cast<std::size_t>(count)) out.damped.resize(count);
  if (out.damped.empty()) out.notes.push_back("the damped eigenvalues did not converge: take --solver dense");
  return out;
}

}  // namespace trammel
