// The lowest solutions of K x = lambda M x, symmetric and positive definite, by subspace iteration (K. J. Bathe):
// blocks of vectors find equal eigenvalues, as those of round tubes, as surely as others.
#pragma once
#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>

#include "trammel/base/types.h"

namespace trammel {

struct LowestModes {
  Vec values;      // ascending, at least `wanted` and all that were found
  Mat vectors;     // x^T M x = 1
  int rounds = 0;  // of the iteration; 0: a dense solution
};

using SparseFactors = Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>>;

// `factors` are those of K. Throws ReductionError where they cannot be found.
LowestModes lowest_modes(const Eigen::SparseMatrix<double>& K, const Eigen::SparseMatrix<double>& M,
                         const SparseFactors& factors, int wanted);

}  // namespace trammel
