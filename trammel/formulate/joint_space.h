// A mechanism in the coordinates of its joints: a tree solved by recursion, and every other constraint as rows on it.
//
//   state  (q, u, x)    coordinates and speeds of the tree's joints, states of first order
//   f      (q', u', x') u' by articulated bodies; with rows (W + E) lambda = b + J u' first (recursion/rows.h)
//
// Elements see frames as always: the recursion fills in the motions of the bodies, forces and rows are evaluated there
// and come back as wrenches. Rows hold at the level of accelerations; a method returns to them after each step by
// `project`, without which redundant loops contradict themselves and lock.
#pragma once
#include <memory>

#include "trammel/formulate/spanning_tree.h"
#include "trammel/ode/attempt.h"
#include "trammel/ode/problem.h"
#include "trammel/recursion/rows.h"

namespace trammel {

struct JointSpaceOptions {
  double tolerance = 1e-5;      // of the integration
  double misfit = 0;            // of loops that do not close, m
  int depth = 0;                // most joints between a body and the ground; 0: chosen by what an evaluation costs
  bool greater_counts = false;  // errors by the greater of scale and value, not by their sum: the norm of ode45
};

class JointSpace final : public FirstOrderProblem {
 public:
  // Throws a Failure that names what cannot be written in joint coordinates.
  JointSpace(const Equations& equations, const JointSpaceOptions& options);
  ~JointSpace() override;

  // The same as q'' = f(t, q, q'), where every rate of a coordinate is a speed and there are no states; null: it is not
  // so, and `why_not_second_order` names the joint, body or state.
  SecondOrderProblem* second_order();
  std::string why_not_second_order() const;

  // ---- where a step starts
  // The joints' coordinates are read off this state; a new start.
  void start(const State& state, const Rates& rates, Vec& y);
  // What else the state holds: inputs, remembered angles.
  void set_base(const State& state);
  // Has the length of a quaternion left 1 by a tenth? It means nothing, and `shrink` takes it out of a state, or of its
  // rate, by what it is in `of`.
  bool stretched(const Vec& y) const;
  void shrink(const Vec& of, Vec& y) const;

  // ---- the problem
  int size() const override { return tree_.tree().nq + tree_.tree().nu + nx_; }
  Eval f(double t, const Vec& y, Vec& dydt) override;
  void error_scales(const Vec& before, const Vec& after, Vec& scales) const override;

  // ---- a point of the mechanism
  // Full state, accelerations and multipliers at a point of the problem; y' of it as well.
  Eval evaluate(double t, const Vec& y, State& state, Rates& rates, Vec& dydt);
  // After `evaluate`: its multipliers are the only ones, as no row follows from others.
  bool rows_independent() const { return !has_rows() || rows_->independent(); }
  // Positions and velocities only.
  void place(double t, const Vec& y, State& state);
  bool has_rows() const { return rows_->rows() > 0; }
  // Back onto the rows, with the mass matrix as metric. False: they cannot be reached.
  bool project(double t, Vec& y);
  // The row that was farthest off when `project` failed; -1: it was none.
  int worst_row() const { return worst_row_; }
  // Of the body that had no inertia left where its joint lets it move, if that is why the last point could not be
  // evaluated; -1: it is not.
  int stuck_velocity() const;
  int velocity_of(int component) const;  // of the body that a component of y moves; -1: of none
  // "7 joints of 6 bodies ..." for the summary.
  std::string description() const;

  const SpanningTree& tree() const { return tree_; }
  const Counts& counts() const { return counts_; }
  void visit(Archive& archive);
  long memory_bytes() const;

 private:
  class SecondOrder;
  struct Row {  // of one constraint
    int constraint = 0, first = 0, count = 0;
    std::vector<int> links;
  };
  struct Layout {  // of the rows beside a tree
    std::vector<Row> list;
    std::vector<recursion::RowGroup> groups;
    std::vector<double> arms;
  };
  static Layout lay_out(const Equations& equations, const SpanningTree& tree);
  static std::unique_ptr<recursion::DelassusRows> make_rows(const Equations& equations, const SpanningTree& tree,
                                                            const Layout& layout);
  static double cost(const Equations& equations, const SpanningTree& tree);
  static int chosen_depth(const Equations& equations);
  void refuse_too_many_pairs(const Layout& layout) const;
  static SpanningTree fitting_tree(const Equations& equations, int depth);
  bool is_current(double t, const Vec& y) const;
  bool is_planar(int body) const;
  void move(double t, const Vec& y);
  Eval compute(double t, const Vec& y);
  void apply_forces(Eval& result);
  // Wrenches of the rows; values of the rows to right_, at the level of accelerations with C alpha.
  bool fill_rows(Equations::RowValues which);
  void add_row(std::size_t group, int row, std::size_t frame, int link, bool with_accelerations);
  bool correct(double* u);
  void find_turns();
  void increment(const double* u, double* q) const;
  void find_coordinate_rates(const Vec& y, Vec& dydt) const;
  void absolute(State& state) const;
  void absolute_acceleration(Vec& a) const;
  void multipliers(Vec& lambda);

  const Equations& equations_;
  JointSpaceOptions options_;
  int nx_;
  SpanningTree tree_;
  recursion::ForwardDynamics<double> dynamics_;
  std::vector<Row> row_list_;
  std::unique_ptr<recursion::DelassusRows> rows_;
  double rate_ = 0, length_ = 1;       // scales of the model; the rate of the first start
  std::vector<double> turn_, turned_;  // of links of planar bodies: their angle beyond those of joints, and the whole

  // the last point
  State state_;
  Vec y_, dydt_, u_dot_, xdot_;
  bool current_ = false;
  Workspace work_;
  std::vector<Vec6> wrenches_;
  std::vector<recursion::Spatial<double>> transmitted_;
  Equations::RowsAt at_;
  Vec right_, lambda_, g_;
  int worst_row_ = -1, stuck_link_ = 0;
  std::unique_ptr<SecondOrder> second_;
  Counts counts_;
};

}  // namespace trammel
