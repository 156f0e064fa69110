#include "trammel/linalg/klu_solver.h"

#include <klu.h>

#include <cmath>

namespace trammel {

struct KluSolver::Impl {
  const Pattern* pattern = nullptr;
  klu_common common{};
  klu_symbolic* symbolic = nullptr;
  klu_numeric* numeric = nullptr;
  int factors = 0, refactors = 0;
  Vec scales, factors_of_entries, scaled;  // empty: not scaled

  ~Impl() { clear(); }
  void clear() {
    if (numeric != nullptr) klu_free_numeric(&numeric, &common);
    if (symbolic != nullptr) klu_free_symbolic(&symbolic, &common);
  }
  // KLU takes the pattern by pointers to non-const, but does not change it.
  int* start() const { return const_cast<int*>(pattern->start().data()); }
  int* row() const { return const_cast<int*>(pattern->row().data()); }
  // The values that are factored.
  double* data(const Vec& values) {
    if (scales.size() == 0) return const_cast<double*>(values.data());
    scaled = values.cwiseProduct(factors_of_entries);
    return scaled.data();
  }
  void scale(Vec& x) const {
    if (scales.size() > 0) x.array() *= scales.array();
  }
};

KluSolver::KluSolver() : impl_(std::make_unique<Impl>()) {}
KluSolver::~KluSolver() = default;
KluSolver::KluSolver(KluSolver&&) noexcept = default;
KluSolver& KluSolver::operator=(KluSolver&&) noexcept = default;

void KluSolver::analyse(const Pattern& pattern, double pivot_tolerance, const Vec& scales) {
  impl_->clear();
  impl_->factors = impl_->refactors = 0;
  impl_->pattern = &pattern;
  impl_->scales = scales;
  impl_->factors_of_entries.resize(scales.size() > 0 ? pattern.size() : 0);
  for (int j = 0; j < scales.size(); ++j) {
    for (int p = pattern.start()[j]; p < pattern.start()[j + 1]; ++p)
      impl_->factors_of_entries[p] = scales[pattern.row()[p]] * scales[j];
  }
  klu_defaults(&impl_->common);
  impl_->common.tol = pivot_tolerance;
  impl_->common.btf = 0;       // a block triangular form would move entries off the diagonal
  impl_->common.ordering = 0;  // AMD
  impl_->symbolic = klu_analyze(pattern.columns(), impl_->start(), impl_->row(), &impl_->common);
}

bool KluSolver::factor(const Vec& values) {
  if (impl_->numeric != nullptr) klu_free_numeric(&impl_->numeric, &impl_->common);
  if (!std::isfinite(values.sum())) return false;  // KLU loops without end on NaN in the pivot search
  impl_->numeric = klu_factor(impl_->start(), impl_->row(), impl_->data(values), impl_->symbolic, &impl_->common);
  ++impl_->factors;
  return impl_->numeric != nullptr && impl_->common.status == KLU_OK;
}

bool KluSolver::refactor(const Vec& values) {
  if (impl_->numeric == nullptr) return factor(values);
  ++impl_->refactors;
  return klu_refactor(impl_->start(), impl_->row(), impl_->data(values), impl_->symbolic, impl_->numeric,
                      &impl_->common) != 0 &&
         impl_->common.status == KLU_OK;
}

void KluSolver::solve(Vec& right_side) const {
  impl_->scale(right_side);
  klu_solve(impl_->symbolic, impl_->numeric, impl_->pattern->columns(), 1, right_side.data(), &impl_->common);
  impl_->scale(right_side);
}

void KluSolver::solve_transposed(Vec& right_side) const {
  impl_->scale(right_side);
  klu_tsolve(impl_->symbolic, impl_->numeric, impl_->pattern->columns(), 1, right_side.data(), &impl_->common);
  impl_->scale(right_side);
}

double KluSolver::greatest() const { return impl_->scaled.lpNorm<Eigen::Infinity>(); }
bool KluSolver::factored() const { return impl_->numeric != nullptr; }
long KluSolver::fill() const { return impl_->numeric == nullptr ? 0 : impl_->numeric->lnz + impl_->numeric->unz; }
long KluSolver::memory() const {
  return static_cast<long>(impl_->common.memusage) +
         8L * static_cast<long>(impl_->scales.size() + impl_->factors_of_entries.size() + impl_->scaled.size());
}
int KluSolver::factors() const { return impl_->factors; }
int KluSolver::refactors() const { return impl_->refactors; }

}  // namespace trammel
