#include "trammel/analyse/tangent_solver.h"

#include <Eigen/SparseCholesky>
#include <Eigen/SparseLU>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace trammel {
namespace {

// eps of E, the scaled A being of size 1. A sweep contracts the constraint error by eps / (eps + s^2), s a singular
// value of the scaled G, which falls like 1/N along a chain of N bodies; round-off of the first sweep is 1e-16 / eps
// beside a soft direction's stiffness. The first that converges is kept: 1e-8 for most, smaller for long chains, larger
// for very soft parts in stiff surroundings.
constexpr std::array<double, 4> penalty_eps{1e-8, 1e-10, 1e-6, 1e-12};

// b - A x - G^T l and the like in twice the digits, by exact products and sums (Ogita, Rump, Oishi 2005). With the
// stiffness of a slender strip, refinement with residuals in double precision ends above 1e-9.
class ExactResidual {
 public:
  void start(const Vec& b) {
    high_ = b;
    low_.setZero(b.size());
  }
  void subtract(const Pattern& pattern, const Vec& values, const Vec& x) {
    for (int j = 0; j < pattern.columns(); ++j) {
      for (int p = pattern.start()[j]; p < pattern.start()[j + 1]; ++p)
        subtract_product(pattern.row()[p], values[p], x[j]);
    }
  }
  void subtract_transposed(const Pattern& pattern, const Vec& values, const Vec& x) {
    for (int j = 0; j < pattern.columns(); ++j) {
      for (int p = pattern.start()[j]; p < pattern.start()[j + 1]; ++p)
        subtract_product(j, values[p], x[pattern.row()[p]]);
    }
  }
  void round(Vec& out) const { out = high_ + low_; }

 private:
  void subtract_product(int i, double a, double x) {
    const double product = -a * x, sum = high_[i] + product, back = sum - high_[i];
    low_[i] += ((high_[i] - (sum - back)) + (product - back)) + std::fma(-a, x, -product);
    high_[i] = sum;
  }
  Vec high_, low_;
};

}  // namespace

struct TangentSolver::Impl {
  const Equations& equations;
  int nv = 0, rows = 0;
  Vec scales, row_scale;
  Vec A, G;  // scaled
  double size = 1;
  std::size_t level = 0;  // of penalty_eps
  Eigen::SparseMatrix<double> matrix;
  std::vector<int> a_slot;                 // of vv in matrix
  std::vector<std::array<int, 3>> g_slot;  // (slot in matrix, slot of G, slot of G): products of G^T G
  Eigen::SparseLU<Eigen::SparseMatrix<double>, Eigen::COLAMDOrdering<int>> lu;
  Vec right, work, x, l;
  ExactResidual exact;

  explicit Impl(const Equations& e) : equations(e), nv(e.gv().columns()), rows(e.gv().rows()), scales(e.scales()) {
    const Pattern &vv = e.vv(), &gv = e.gv();
    std::vector<std::vector<std::pair<int, int>>> of_row(static_cast<std::size_t>(rows));  // (column, slot)
    for (int j = 0; j < nv; ++j) {
      for (int p = gv.start()[j]; p < gv.start()[j + 1]; ++p) of_row[gv.row()[p]].emplace_back(j, p);
    }
    std::vector<Eigen::Triplet<double>> entries;
    for (int j = 0; j < nv; ++j) {
      for (int p = vv.start()[j]; p < vv.start()[j + 1]; ++p) entries.emplace_back(vv.row()[p], j, 1.0);
    }
    for (const auto& row : of_row) {
      for (const auto& a : row) {
        for (const auto& b : row) entries.emplace_back(a.first, b.first, 1.0);
      }
    }
    matrix.resize(nv, nv);
    matrix.setFromTriplets(entries.begin(), entries.end());
    matrix.makeCompressed();
    const auto slot = [&](int i, int j) {
      const int *begin = matrix.innerIndexPtr() + matrix.outerIndexPtr()[j],
                *end = matrix.innerIndexPtr() + matrix.outerIndexPtr()[j + 1];
      return static_cast<int>(std::lower_bound(begin, end, i) - matrix.innerIndexPtr());
    };
    for (int j = 0; j < nv; ++j) {
      for (int p = vv.start()[j]; p < vv.start()[j + 1]; ++p) a_slot.push_back(slot(vv.row()[p], j));
    }
    for (const auto& row : of_row) {
      for (const auto& a : row) {
        for (const auto& b : row) g_slot.push_back({slot(a.first, b.first), a.second, b.second});
      }
    }
    if (nv > 0) lu.analyzePattern(matrix);
    row_scale.setOnes(rows);
  }

  bool factor_level() {
    double* values = matrix.valuePtr();
    std::fill(values, values + matrix.nonZeros(), 0.0);
    for (std::size_t p = 0; p < a_slot.size(); ++p) values[a_slot[p]] += A[static_cast<Eigen::Index>(p)];
    for (const auto& g : g_slot) values[g[0]] += G[g[1]] * G[g[2]] / penalty_eps[level];
    lu.factorize(matrix);
    return lu.info() == Eigen::Success;
  }
  bool refine(const Vec& b1, const Vec& b2, int sweeps);
};

TangentSolver::TangentSolver(const Equations& equations) : impl_(std::make_unique<Impl>(equations)) {}
TangentSolver::~TangentSolver() = default;
double TangentSolver::size() const { return impl_->size; }

int TangentSolver::negative_directions() const {
  if (impl_->nv == 0) return 0;
  const Eigen::SparseMatrix<double> transposed = impl_->matrix.transpose(),
                                    symmetric = 0.5 * (impl_->matrix + transposed);
  const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> factors(symmetric);
  return factors.info() == Eigen::Success ? static_cast<int>((factors.vectorD().array() < 0).count()) : -1;
}

bool TangentSolver::factor(const Vec& A, const Vec& G) {
  Impl& s = *impl_;
  if (s.nv == 0) return true;
  if (!std::isfinite(A.sum()) || !std::isfinite(G.sum())) return false;
  const Pattern &vv = s.equations.vv(), &gv = s.equations.gv();
  s.A.resize(A.size());
  s.G.resize(G.size());
  s.row_scale.setZero();
  for (int j = 0; j < s.nv; ++j) {
    const auto u = static_cast<std::size_t>(j);
    for (int p = vv.start()[u]; p < vv.start()[u + 1]; ++p) s.A[p] = A[p] * s.scales[j] * s.scales[vv.row()[p]];
    for (int p = gv.start()[u]; p < gv.start()[u + 1]; ++p) {
      s.G[p] = G[p] * s.scales[j];
      s.row_scale[gv.row()[p]] += s.G[p] * s.G[p];
    }
  }
  for (double& r : s.row_scale) r = r > 0 ? 1 / std::sqrt(r) : 1;
  for (int j = 0; j < s.nv; ++j) {
    for (int p = gv.start()[j]; p < gv.start()[j + 1]; ++p) s.G[p] *= s.row_scale[gv.row()[p]];
  }
  s.size = s.A.lpNorm<Eigen::Infinity>();
  if (s.size == 0) s.size = 1;
  s.A /= s.size;
  return s.factor_level();
}

// x and l of the scaled system.
bool TangentSolver::Impl::refine(const Vec& b1, const Vec& b2, int sweeps) {
  const Pattern &vv = equations.vv(), &gv = equations.gv();
  const double eps = penalty_eps[level];
  x.setZero(nv);
  l.setZero(rows);
  Vec r1 = b1, r2 = b2, m(rows);
  double last = std::numeric_limits<double>::infinity();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    right = r1;
    m = r2 / eps;
    gv.transpose_multiply_add(G, 1, m.data(), right.data());
    work = lu.solve(right);
    const double change = work.lpNorm<Eigen::Infinity>(), size_x = x.lpNorm<Eigen::Infinity>();
    if (!std::isfinite(change)) return false;
    if (sweep > 0 && change > 0.3 * last) return change <= 1e-9 * size_x;
    last = change;
    m = -r2;
    gv.multiply_add(G, 1, work.data(), m.data());
    x += work;
    l += m / eps;
    exact.start(b1);
    exact.subtract(vv, A, x);
    exact.subtract_transposed(gv, G, l);
    exact.round(r1);
    exact.start(b2);
    exact.subtract(gv, G, x);
    exact.round(r2);
    if (sweep > 0 && change <= 1e-15 * size_x) break;
  }
  return last <= 1e-6 * x.lpNorm<Eigen::Infinity>() || last == 0;
}

bool TangentSolver::solve(const Vec& b, Vec& z, int sweeps) {
  Impl& s = *impl_;
  z.setZero(s.nv + s.rows);
  if (s.nv == 0) return true;
  // Scaled: x = S y, A_s y + G_s^T m = S b1 / size, G_s y = R b2; l = size R m.
  const Vec b1 = b.head(s.nv).cwiseProduct(s.scales) / s.size, b2 = b.tail(s.rows).cwiseProduct(s.row_scale);
  const std::size_t first = s.level;
  bool good = s.refine(b1, b2, sweeps);
  for (std::size_t k = 1; k < penalty_eps.size() && !good; ++k) {
    s.level = (first + k) % penalty_eps.size();
    good = s.factor_level() && s.refine(b1, b2, sweeps);
  }
  z.head(s.nv) = s.x.cwiseProduct(s.scales);
  z.tail(s.rows) = s.size * s.l.cwiseProduct(s.row_scale);
  return good;
}

}  // namespace trammel
