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

void refuse_other_states(const Equations& equations, const State& state, const Rates& rates) {
  const Vec scales = equations.scales();
  if (state.v.size() > 0 && state.v.cwiseQuotient(scales).lpNorm<Eigen::Infinity>() > 1e-9)
    refuse_modes("moving-state", "the sparse solver finds modes about states at rest", "take --solver dense");
  if (!equations.velocity_rows().empty())
    refuse_modes("nonholonomic", "the sparse solver does not treat conditions on velocities", "take --solver dense");
  if (!(rates.a.cwiseQuotient(scales).lpNorm<Eigen::Infinity>() <= 1e-6))
    refuse_modes("no-equilibrium", "the sparse solver finds modes about an equilibrium, and this state accelerates",
                 "take --around equilibrium, or --solver dense");
}

void sort_by_frequency(std::vector<Mode>& modes) {
  std::stable_sort(modes.begin(), modes.end(), [](const Mode& a, const Mode& b) { return a.frequency < b.frequency; });
}

// The modes about an equilibrium: the undamped ones first, the damped ones with the same factors and their start
// vector.
class SparseModes {
 public:
  SparseModes(const Equations& equations, const State& state, const Rates& rates, int count);
  void find_undamped();
  bool has_damping() const { return p_.force_v.size() > 0 && p_.force_v.lpNorm<Eigen::Infinity>() > 0; }
  void find_damped();  // after find_undamped()
  const Modes& modes() const { return out_; }

 private:
  void make_symmetric();
  double greatest_quotient() const;
  double estimate_lowest(StiffnessInverse& inverse, MassOperator& mass);
  double rigid_below() const { return std::sqrt(1e-12 * top_); }

  const Equations& equations_;
  const Vec& q_;
  const Eigen::Index nv_;
  const int count_;  // of modes wanted
  Workspace work_;
  Partials p_;
  TangentSolver solver_;
  Vec K_;             // the symmetric part of the stiffness
  double top_ = 0;    // about the largest w^2
  double sigma_ = 0;  // the shift, below the lowest w^2
  Vec x_;             // about the lowest mode
  Mat vectors_;       // of the undamped modes
  Modes out_;
};

SparseModes::SparseModes(const Equations& equations, const State& state, const Rates& rates, int count)
    : equations_(equations),
      q_(state.q),
      nv_(equations.sizes().nv),
      count_(static_cast<int>(std::min<Eigen::Index>(count, nv_ - 2))),
      work_(equations.make_workspace()),
      p_(equations.make_partials(Detail::newton)),
      solver_(equations) {
  equations.refuse_seen_rates("the sparse solver for modes",
                              "its matrices are mass and stiffness alone; take the "
                              "dense one (`--solver dense`)");
  Rates still = rates;
  still.a.setZero();
  equations.linearise(state, still, Detail::newton, p_, work_);
  equations.update(state, work_);
  out_.sparse = true;
  out_.equilibrium = true;
  make_symmetric();
}

// Symmetric part of K on its pattern.
void SparseModes::make_symmetric() {
  const Pattern& vv = equations_.vv();
  const Vec scales = equations_.scales();
  K_ = p_.force_q;
  double skewness = 0, size = 0;
  for (int j = 0; j < nv_; ++j) {
    for (int s = vv.start()[j]; s < vv.start()[j + 1]; ++s) {
      const int i = vv.row()[s], other = vv.slot(j, i);
      const double mirrored = other < 0 ? 0 : p_.force_q[other];
      skewness = std::max(skewness, std::abs(p_.force_q[s] - mirrored) * scales[i] * scales[j]);
      size = std::max(size, std::abs(p_.force_q[s]) * scales[i] * scales[j]);
      K_[s] = other < 0 ? p_.force_q[s] : 0.5 * (p_.force_q[s] + mirrored);
    }
  }
  out_.symmetric = skewness <= 1e-6 * size;
}

// Of stiffness and mass on their diagonals; 1 if there is no stiffness.
double SparseModes::greatest_quotient() const {
  const Pattern& vv = equations_.vv();
  double top = 0;
  for (int i = 0; i < nv_; ++i) {
    const int slot = vv.slot(i, i);
    if (p_.M[slot] > 0) top = std::max(top, std::abs(K_[slot]) / p_.M[slot]);
  }
  return top == 0 ? 1 : top;
}

// The lowest w^2, by inverse iteration from a shift that is surely small; x_ gets its mode.
double SparseModes::estimate_lowest(StiffnessInverse& inverse, MassOperator& mass) {
  const Vec scales = equations_.scales();
  x_.resize(nv_);
  Vec y(nv_);
  for (Eigen::Index i = 0; i < nv_; ++i) x_[i] = std::sin(1.0 + 2.3 * static_cast<double>(i)) * scales[i];  // any
  inverse.set_shift(-1e-7 * top_);
  double lowest = 0;
  for (int k = 0; k < 8 && inverse.good(); ++k) {
    mass.perform_op(x_.data(), y.data());
    inverse.perform_op(y.data(), x_.data());
    mass.perform_op(x_.data(), y.data());
    const double norm = x_.dot(y);
    if (!(norm > 0)) break;
    x_ /= std::sqrt(norm);
    Vec Kx = Vec::Zero(nv_);
    equations_.vv().multiply_add(K_, 1, x_.data(), Kx.data());
    lowest = x_.dot(Kx);
  }
  if (!inverse.good())
    refuse_modes("singular", "the stiffness matrix cannot be factored at this state", "take --solver dense");
  return lowest;
}

void SparseModes::find_undamped() {
  StiffnessInverse inverse(equations_, solver_, K_, p_);
  MassOperator mass(equations_, q_);
  top_ = greatest_quotient();
  sigma_ = -std::max(0.5 * std::abs(estimate_lowest(inverse, mass)), 1e-12 * top_);
  const auto space = static_cast<int>(std::min<Eigen::Index>(std::max(2 * count_ + 1, 20), nv_));
  Spectra::SymGEigsShiftSolver<StiffnessInverse, MassOperator, Spectra::GEigsMode::ShiftInvert> lanczos(
      inverse, mass, count_, space, sigma_);
  lanczos.init(x_.data());
  lanczos.compute(Spectra::SortRule::LargestMagn, 500, 1e-11, Spectra::SortRule::SmallestAlge);
  if (lanczos.info() != Spectra::CompInfo::Successful && lanczos.eigenvalues().size() == 0)
    refuse_modes("not-converged", "the eigenvalue iteration did not converge",
                 "ask for fewer modes, or --solver dense");
  const Vec w2 = lanczos.eigenvalues();
  vectors_ = lanczos.eigenvectors();
  for (Eigen::Index k = 0; k < w2.size(); ++k) {
    const Vec shape = to_world(equations_, work_, vectors_.col(k));
    out_.undamped.push_back(
        make_mode(equations_, undamped_eigenvalue(w2[k]), shape.cast<std::complex<double>>(), rigid_below()));
  }
  sort_by_frequency(out_.undamped);
  for (const Mode& mode : out_.undamped) out_.rigid += mode.rigid ? 1 : 0;
  if (static_cast<int>(out_.undamped.size()) < count_)
    out_.notes.push_back("only " + std::to_string(out_.undamped.size()) + " of " + std::to_string(count_) +
                         " modes converged");
}

void SparseModes::find_damped() {
  StateInverse inverse(equations_, q_, solver_, p_);
  const double shift = std::sqrt(std::abs(sigma_));
  const auto pairs = static_cast<int>(std::min<Eigen::Index>(2 * count_, 2 * nv_ - 4));
  const auto wide = static_cast<int>(std::min<Eigen::Index>(std::max(2 * pairs + 1, 40), 2 * nv_));
  Spectra::GenEigsRealShiftSolver<StateInverse> arnoldi(inverse, pairs, wide, shift);
  Vec start(2 * nv_);
  start << x_, Vec::Zero(nv_);
  for (Eigen::Index k = 0; k < std::min<Eigen::Index>(vectors_.cols(), 10); ++k) start.head(nv_) += vectors_.col(k);
  arnoldi.init(start.data());
  arnoldi.compute(Spectra::SortRule::LargestMagn, 1000, 1e-10);
  const Eigen::VectorXcd s = arnoldi.eigenvalues();
  const Eigen::MatrixXcd shapes = arnoldi.eigenvectors();
  for (Eigen::Index k = 0; k < s.size(); ++k) {
    if (s[k].imag() < -1e-12 * std::abs(s[k])) continue;
    const Vec re = to_world(equations_, work_, shapes.col(k).head(nv_).real()),
              im = to_world(equations_, work_, shapes.col(k).head(nv_).imag());
    Eigen::VectorXcd shape(nv_);
    shape.real() = re;
    shape.imag() = im;
    out_.damped.push_back(make_mode(equations_, s[k], std::move(shape), rigid_below()));
  }
  sort_by_frequency(out_.damped);
  if (out_.damped.size() > static_cast<std::size_t>(count_)) out_.damped.resize(count_);
  if (out_.damped.empty()) out_.notes.push_back("the damped eigenvalues did not converge: take --solver dense");
}

}  // namespace

Modes find_modes_sparse(const Equations& equations, const State& state, const Rates& rates,
                        const ModeOptions& options) {
  refuse_other_states(equations, state, rates);
  SparseModes search(equations, state, rates, options.count > 0 ? options.count : 10);
  search.find_undamped();
  if (options.damped && search.has_damping()) search.find_damped();
  return search.modes();
}

}  // namespace trammel
