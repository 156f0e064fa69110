#include "trammel/ode/shifted_solver.h"

#include <klu.h>

#include <Eigen/LU>
#include <cmath>
#include <type_traits>

namespace trammel {
namespace {

// KLU under one name for real and complex numbers.
template <class Scalar>
struct Klu;
template <>
struct Klu<double> {
  static klu_numeric* factor(int* start, int* row, double* x, klu_symbolic* s, klu_common* c) {
    return klu_factor(start, row, x, s, c);
  }
  static int refactor(int* start, int* row, double* x, klu_symbolic* s, klu_numeric* n, klu_common* c) {
    return klu_refactor(start, row, x, s, n, c);
  }
  static int growth(int* start, int* row, double* x, klu_symbolic* s, klu_numeric* n, klu_common* c) {
    return klu_rgrowth(start, row, x, s, n, c);
  }
  static int solve(klu_symbolic* s, klu_numeric* n, int size, double* b, klu_common* c) {
    return klu_solve(s, n, size, 1, b, c);
  }
  static void release(klu_numeric** n, klu_common* c) { klu_free_numeric(n, c); }
};
template <>
struct Klu<Complex> {
  static double* raw(Complex* x) { return reinterpret_cast<double*>(x); }
  static klu_numeric* factor(int* start, int* row, Complex* x, klu_symbolic* s, klu_common* c) {
    return klu_z_factor(start, row, raw(x), s, c);
  }
  static int refactor(int* start, int* row, Complex* x, klu_symbolic* s, klu_numeric* n, klu_common* c) {
    return klu_z_refactor(start, row, raw(x), s, n, c);
  }
  static int growth(int* start, int* row, Complex* x, klu_symbolic* s, klu_numeric* n, klu_common* c) {
    return klu_z_rgrowth(start, row, raw(x), s, n, c);
  }
  static int solve(klu_symbolic* s, klu_numeric* n, int size, Complex* b, klu_common* c) {
    return klu_z_solve(s, n, size, 1, raw(b), c);
  }
  static void release(klu_numeric** n, klu_common* c) { klu_z_free_numeric(n, c); }
};

// Below this size a dense factorisation is the faster one whatever the pattern.
constexpr int least_sparse = 16;

}  // namespace

template <class Scalar>
struct ShiftedSolver<Scalar>::Impl {
  using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;

  int n = 0;
  const Pattern* given = nullptr;
  bool sparse = false, factored = false, repivoted = false;
  int factors = 0, refactors = 0;
  // dense
  Matrix matrix;
  Eigen::PartialPivLU<Matrix> lu;
  // sparse: the given pattern with the whole diagonal
  Pattern pattern;
  std::vector<int> slot, diagonal;  // of the given entries and of the diagonal
  Vector values, pivot_values;      // of the last matrix, and of the one whose pivots are in use
  Vec scales;                       // S of its pivots; empty: not scaled
  Vector right;
  klu_common common{};
  klu_symbolic* symbolic = nullptr;
  klu_numeric* numeric = nullptr;

  ~Impl() {
    if (numeric != nullptr) Klu<Scalar>::release(&numeric, &common);
    if (symbolic != nullptr) klu_free_symbolic(&symbolic, &common);
  }
  int* start() { return const_cast<int*>(pattern.start().data()); }
  int* row() { return const_cast<int*>(pattern.row().data()); }

  void analyse() {
    std::vector<Pattern::Entry> entries;
    for (int j = 0; j < n; ++j) {
      entries.push_back({j, j});
      for (int p = given->start()[j]; p < given->start()[j + 1]; ++p) entries.push_back({given->row()[p], j});
    }
    pattern = Pattern(n, n, entries);
    for (int j = 0; j < n; ++j) {
      diagonal.push_back(pattern.slot(j, j));
      for (int p = given->start()[j]; p < given->start()[j + 1]; ++p) slot.push_back(pattern.slot(given->row()[p], j));
    }
    values.setZero(pattern.size());
    pivot_values = values;
    klu_defaults(&common);
    symbolic = klu_analyze(n, start(), row(), &common);
  }

  bool choose_pivots() {
    if (numeric != nullptr) Klu<Scalar>::release(&numeric, &common);
    numeric = Klu<Scalar>::factor(start(), row(), values.data(), symbolic, &common);
    ++factors;
    pivot_values = values;
    return numeric != nullptr && common.status == KLU_OK;
  }
  bool keep_pivots() {
    ++refactors;
    return Klu<Scalar>::refactor(start(), row(), values.data(), symbolic, numeric, &common) != 0 &&
           common.status == KLU_OK;
  }
  bool factor_sparse() {
    if (!values.allFinite()) return false;  // KLU loops without end on NaN in the pivot search
    repivoted = !(numeric != nullptr && keep_pivots() && pivots_good());
    factored = !repivoted || choose_pivots();
    return factored;
  }
  // Kept pivots may become bad as J and c change: the reciprocal growth of the factors tells.
  bool pivots_good() {
    return Klu<Scalar>::growth(start(), row(), values.data(), symbolic, numeric, &common) != 0 && common.rgrowth > 1e-6;
  }
};

template <class Scalar>
ShiftedSolver<Scalar>::ShiftedSolver(int n, const Pattern* pattern) : impl_(std::make_unique<Impl>()) {
  impl_->n = n;
  impl_->given = pattern;
  impl_->sparse = pattern != nullptr && n >= least_sparse;
  if (impl_->sparse) {
    impl_->analyse();
  } else {
    impl_->matrix.setIdentity(n, n);
    impl_->lu.compute(impl_->matrix);
  }
}
template <class Scalar>
ShiftedSolver<Scalar>::~ShiftedSolver() = default;
template <class Scalar>
ShiftedSolver<Scalar>::ShiftedSolver(ShiftedSolver&&) noexcept = default;
template <class Scalar>
ShiftedSolver<Scalar>& ShiftedSolver<Scalar>::operator=(ShiftedSolver&&) noexcept = default;

template <class Scalar>
bool ShiftedSolver<Scalar>::factor_sum(Scalar shift, double sign, const Jacobian& J) {
  Impl& s = *impl_;
  s.factored = false;
  if (!s.sparse) {
    if (s.given != nullptr) {
      s.matrix.setZero();
      for (int j = 0; j < s.n; ++j) {
        for (int p = s.given->start()[j]; p < s.given->start()[j + 1]; ++p)
          s.matrix(s.given->row()[p], j) = sign * J.values[p];
      }
    } else {
      s.matrix = (sign * J.dense).template cast<Scalar>();
    }
    s.matrix.diagonal().array() += shift;
    if (!s.matrix.allFinite()) return false;
    s.lu.compute(s.matrix);
    ++s.factors;
    s.factored = s.n == 0 || s.lu.matrixLU().diagonal().cwiseAbs().minCoeff() > 0;
    return s.factored;
  }
  s.values.setZero();
  for (std::size_t p = 0; p < s.slot.size(); ++p) s.values[s.slot[p]] = sign * J.values[static_cast<Eigen::Index>(p)];
  for (const int d : s.diagonal) s.values[d] += shift;
  return s.factor_sparse();
}

template <class Scalar>
bool ShiftedSolver<Scalar>::factor_values(const Vector& values) {
  Impl& s = *impl_;
  s.factored = false;
  if (s.sparse) {
    s.values.setZero();
    for (std::size_t p = 0; p < s.slot.size(); ++p) s.values[s.slot[p]] = values[static_cast<Eigen::Index>(p)];
    for (int j = 0; j < s.scales.size(); ++j)
      for (int p = s.start()[j]; p < s.start()[j + 1]; ++p) s.values[p] *= s.scales[s.row()[p]] * s.scales[j];
    return s.factor_sparse();
  }
  s.matrix.setZero();
  for (int j = 0; j < s.n; ++j) {
    for (int p = s.given->start()[j]; p < s.given->start()[j + 1]; ++p) s.matrix(s.given->row()[p], j) = values[p];
  }
  if (s.scales.size() > 0) s.matrix = (s.scales.asDiagonal() * s.matrix * s.scales.asDiagonal()).eval();
  if (!s.matrix.allFinite()) return false;
  s.lu.compute(s.matrix);
  ++s.factors;
  s.factored = s.n == 0 || s.lu.matrixLU().diagonal().cwiseAbs().minCoeff() > 0;
  return s.factored;
}

template <class Scalar>
void ShiftedSolver<Scalar>::set_pivoting(const Vec& scales, double tolerance) {
  impl_->common.tol = tolerance;
  impl_->scales = scales;
}

template <class Scalar>
void ShiftedSolver<Scalar>::solve(const Vector& b, Vector& x) const {
  const bool scaled = impl_->scales.size() > 0;
  x = b;
  if (scaled) x.array() *= impl_->scales.array();
  if (impl_->sparse) {
    Klu<Scalar>::solve(impl_->symbolic, impl_->numeric, impl_->n, x.data(), &impl_->common);
  } else {
    impl_->right = x;
    x = impl_->lu.solve(impl_->right);
  }
  if (scaled) x.array() *= impl_->scales.array();
}

template <class Scalar>
bool ShiftedSolver<Scalar>::factored() const {
  return impl_->factored;
}
template <class Scalar>
bool ShiftedSolver<Scalar>::sparse() const {
  return impl_->sparse;
}
template <class Scalar>
int ShiftedSolver<Scalar>::factors() const {
  return impl_->factors;
}
template <class Scalar>
int ShiftedSolver<Scalar>::refactors() const {
  return impl_->refactors;
}

template <class Scalar>
void ShiftedSolver<Scalar>::visit(Archive& archive) {
  Impl& own = *impl_;
  archive(own.factored, own.repivoted);
  if (!own.sparse) {
    const Eigen::Index size = own.matrix.rows();
    archive(own.matrix);
    archive.expect(own.matrix.rows() == size && own.matrix.cols() == size);
    if (archive.reading()) own.lu.compute(own.matrix);
    return;
  }
  bool pivots = own.numeric != nullptr;
  const Eigen::Index size = own.values.size();
  archive(pivots, own.values);
  if (pivots) archive(own.pivot_values);
  archive.expect(own.values.size() == size && (!pivots || own.pivot_values.size() == size));
  if (!archive.reading() || !pivots) return;
  const bool factored = own.factored, repivoted = own.repivoted;
  const Vector last = own.values;
  own.values = own.pivot_values;
  own.choose_pivots();
  own.values = last;
  if (!repivoted) own.keep_pivots();
  own.values = last;
  own.factored = factored;
  own.repivoted = repivoted;
}

template class ShiftedSolver<double>;
template class ShiftedSolver<Complex>;

}  // namespace trammel
