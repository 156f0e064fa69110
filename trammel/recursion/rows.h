// Rows of constraints on a tree: whatever is no joint of it. A row's wrench -C^T lambda on its links is carried to the
// root with the factors of the articulated bodies,
//
//   e_i = S^T F,  y_i = D^-1 e_i,  F of the parent += F - U y_i, moved
//
// and the rows' own mass matrix, the Delassus matrix, is a sum over links that paths share; neither J nor M appears:
//
//   W_kl = sum of e_k . y_l = J M^-1 J^T,      (J u')_k = sum of e_k . D^-1 (-S^T p)
//   J u' = -b:   (W + E) lambda = b + J u',    E = (eps / mass) diag(1 / arm^2)
//
// W + E is the Schur complement of the saddle matrix, so redundant rows and singular positions need no care.
#pragma once
#include "trammel/linalg/block_cholesky.h"
#include "trammel/recursion/forward_dynamics.h"

namespace trammel::recursion {

// The rows of one constraint and the links that its frames are on; 0: the ground.
struct RowGroup {
  int rows = 0;
  std::vector<int> links;
};

class DelassusRows {
 public:
  // `arms`: of each row 1, or a length if it is an angle. `regularisation`: eps / mass.
  DelassusRows(const Tree& tree, const std::vector<RowGroup>& groups, const Vec& arms, double regularisation);

  // Pairs of constraints on every link that paths share, which is what memory and a factorisation grow with; infinite
  // above `most`, without having counted them all.
  static double pairs(const Tree& tree, const std::vector<RowGroup>& groups, double most);

  int rows() const { return static_cast<int>(E_.size()); }
  int first_row(int group) const { return groups_[static_cast<std::size_t>(group)].first; }
  // Wrenches of the rows, frame by frame, about the links' points.
  void clear();
  void add(int group, int frame, int row, const Spatial<double>& wrench);
  // W + E of the tree as articulated, factored. False: it is not positive definite.
  bool factor(const ForwardDynamics<double>& tree);
  // After `factor`: no row follows from others, nor nearly so, so that lambda is the only one.
  bool independent() const;
  // b += J u' of the tree alone.
  void add_free(const ForwardDynamics<double>& tree, Vec& b) const;
  // lambda, refined until W lambda = b as far as the mechanism can satisfy b. What it cannot, because rows contradict
  // each other, is left out: it would only be a growing self-stress.
  void solve(const Vec& b, Vec& lambda);
  // The tree with the forces of the rows: reduces its D^-1 (-S^T p).
  void apply(const Vec& lambda, ForwardDynamics<double>& tree) const;
  // Of an evaluation, in microseconds of the machine that decision 0041 names: to compare trees.
  double cost() const;
  long memory_bytes() const;

 private:
  struct Step {        // a link of a path, from the leaves on
    int link, parent;  // parent: its step; -1: the ground
    int freedoms, at;  // at: of e and y, rows x freedoms
  };
  struct Group {
    int first = 0, rows = 0;
    int carried = 0;         // its first wrench in carried_: steps x rows
    std::vector<int> slots;  // the step of each frame; -1: the ground
    std::vector<Step> path;
  };
  struct Pair {  // of groups that share a link: W += e of one times y of the other
    int block, rows, columns, freedoms, e, y;
  };
  void find_paths(const Tree& tree, const std::vector<RowGroup>& groups);
  void find_pairs(const Tree& tree);
  int sweep(const Vec& b, Vec& lambda);
  void carry(const ForwardDynamics<double>& tree, const Group& group);

  std::vector<Group> groups_;
  std::vector<Pair> pairs_;
  std::vector<Spatial<double>> carried_;
  std::vector<double> e_, y_;
  Vec E_, arms_, z_, next_, satisfiable_;
  BlockCholesky W_;
};

}  // namespace trammel::recursion
