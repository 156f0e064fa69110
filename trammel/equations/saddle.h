// The saddle-point matrix that index-3 Newton iterations, projections and acceleration solves share, on one fixed
// pattern:
//
//        a            lambda
//   [ Mh             G^T ]    Mh = w_M M + (w_Ma Ma_q + w_q force_q) T + w_v force_v
//   [ G T            -E  ]    T: derivative of retract, on the rotation columns;
//                             a row at velocity level: k_v + w_K k_q T
//
// Where forces see accelerations and reactions, M + force_a stands for M and G^T + force_lambda for G^T.
//
// -E is a small block on all multiplier rows; with it redundant constraints and singular positions need no special
// case.
//   E = (eps / m_max) diag(1 for force rows, 1/L^2 for torque rows)
// It fixes which multipliers are meant when they are not unique: least sum of |F|^2 + |T|^2 / L^2 over the joints.
// Sweeps of iterative refinement against the matrix without E remove its effect on the motion.
#pragma once
#include "trammel/equations/equations.h"
#include "trammel/linalg/klu_solver.h"

namespace trammel {

struct Blend {
  double M = 1, Ma_q = 0, force_q = 0, force_v = 0;
  double K_q = 0;  // weight of k_q against k_v
  // Each row at its own level, all at velocity level (G + K_q (G v + g_t)_q T; needs Detail::all), or only those of
  // (3), at position level.
  enum class Rows { own, velocity, position } rows = Rows::own;
  bool seen = true;  // with force_a and force_lambda
};

// Weights of the matrix of a step in which only part B is implicit.
struct StepBlend {
  double force_q = 0, force_v = 0;  // beside M, as in Blend
  double G_T = 0, G = 0, Gv_q = 0;  // of G T, G and (G v)_q T in the rows; rows at velocity level have no G T
};

class SaddleSystem {
 public:
  // `eps` 1e-8: smaller loses digits of the multipliers, larger blurs singular positions; both measured.
  // `factors_only` leaves out what save() needs to choose the same pivots again.
  enum class Keep { factors_only, resumable };
  explicit SaddleSystem(const Equations& equations, double eps = 1e-8, Keep keep = Keep::resumable);
  // Only the given places of Equations::vv(), those of M at least: for combine_step, combine_mass and
  // combine_projection; the other ways of filling it need all places. M alone has far fewer than forces and joints.
  SaddleSystem(const Equations& equations, const std::vector<bool>& slots, double eps = 1e-8,
               Keep keep = Keep::resumable);
  SaddleSystem(const SaddleSystem&) = delete;
  SaddleSystem& operator=(const SaddleSystem&) = delete;

  int velocities() const { return nv_; }
  int multipliers() const { return ng_; }
  int size() const { return nv_ + ng_; }
  const Pattern& pattern() const { return pattern_; }
  const Vec& values() const { return values_; }
  const Vec& E() const { return E_; }
  // S and the pivot tolerance that belongs to it, for other solvers of matrices like this one.
  const Vec& scale() const { return scale_; }
  double pivot_tolerance() const;

  // Fills the matrix; T may be null for the identity.
  void combine(const Partials& partials, const Blend& blend, const std::vector<Mat3>* T);
  // The stage matrix of Rosenbrock methods at index 1, hg = h gamma:
  //   [ M + hg r_v + hg^2 (r_q + r_v C - M D)    G^T ]    r_v = force_v, s_v = -gamma_v,
  //   [ G + hg s_v + hg^2 (s_q + s_v C - G D)    -E  ]    C, D on the rotation columns of each body
  void combine_stage(const Partials& partials, const Vec& r_q, const Vec& s_q, double hg, const std::vector<Mat3>& C,
                     const std::vector<Mat3>& D);
  // Mh = M: accelerations and mass-weighted projections; needs M and G only. At position level, rows of (4) are left
  // out. `seen`: with force_a and force_lambda, which the partials must hold.
  void combine_mass(const Partials& partials, Level level = Level::velocity, bool seen = false);
  // The matrix of a projection: Mh = diag(weights); columns whose weight is infinite are held (their G is taken as
  // zero). At position level, rows of (4) are left out.
  void combine_projection(const Vec& weights, const Vec& G, Level level);

  // The matrix of a step in which only part B is implicit, with `diagonal` in the place of E:
  //   [ M + w_q force_q T + w_v force_v        G^T       ]
  //   [ w_GT G T + w_G G + w_Gv (G v)_q T     -diagonal  ]
  void combine_step(const Partials& partials, const StepBlend& blend, const std::vector<Mat3>& T, const Vec& diagonal);

  // Factors the values, with the pivots of the first time; pivots anew when that loses accuracy. False: singular.
  bool factor();
  // One solve with the regularised matrix, in place. z = (a, lambda).
  void solve(Vec& z);
  // Refined against the matrix without E: sweeps z <- z + K_E^-1 (b - K_0 z), from 0, until the next one would change
  // the motion by less than 1e-12 of its size, while they shrink, at most `most`. Returns their number.
  static constexpr int most_sweeps = 20;
  int solve_refined(const Vec& b, Vec& z, int most = most_sweeps);
  // How often the bound ended them.
  long unrefined() const { return unrefined_; }
  // One sweep of it: z goes on towards K_0 z = b.
  void refine(const Vec& b, Vec& z);
  // The part of a constraint right side that the mechanism can satisfy: b2 := G T y.
  void project_right_side(Eigen::Ref<Vec> b2);
  // r = b - K_0 z
  void residual(const Vec& b, const Vec& z, Vec& r) const;

  const KluSolver& solver() const { return solver_; }
  // Complete state for a bit-for-bit continuation: the values that chose the pivots and the present ones.
  void visit(Archive& archive);
  long memory_bytes() const;

 private:
  SaddleSystem(const Equations& equations, const std::vector<bool>* slots, double eps, Keep keep);
  void find_scales();
  bool accurate();
  void set_diagonal();
  void add_seen(const Vec* force_lambda);      // in the columns of the multipliers; null: only clears their places
  bool left_out(int slot, Level level) const;  // of G
  // Entries of vv in a column, and where the i-th of them is in vv.
  int count_of(std::size_t column) const;
  int slot_of(std::size_t column, int i) const;
  void adopt(const std::shared_ptr<const Pattern>& vv);
  void make_pattern(const std::vector<bool>* slots);
  const Equations& equations_;
  Keep keep_;
  int nv_, ng_;
  std::shared_ptr<const Pattern> vv_;  // that its upper left block is of, or of a part of
  Pattern pattern_;
  std::vector<int> transposed_;          // slot of G^T for each slot of G
  std::vector<int> diagonal_;            // slot of -E
  std::vector<int> seen_, seen_alone_;   // slot of each entry of force_lambda; those where G^T has none
  std::vector<int> slots_, slot_start_;  // of vv, by column; empty: all
  std::vector<bool> is_velocity_row_;    // empty: there are none
  std::vector<bool> in_force_;           // rows that are not zero, if elements have modes
  Vec values_, pivot_values_, E_;
  Vec scale_;                // S of the pivots, (3.8)
  bool refactored_ = false;  // present factors come from refactor with pivot_values_' pivots
  Vec work_, sum_, right_;
  long unrefined_ = 0;
  KluSolver solver_;
};

}  // namespace trammel
