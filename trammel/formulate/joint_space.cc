#include "trammel/formulate/joint_space.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "trammel/base/numbers.h"
#include "trammel/linalg/eigenvalues.h"
#include "trammel/math/rotation.h"

namespace trammel {
namespace {

using recursion::Kind;
using recursion::Link;
using recursion::Spatial;
using recursion::Triple;

constexpr double eps = 1e-8;        // of E, as in the saddle matrix
constexpr double most_pairs = 3e6;  // of constraints on links that they share: some hundred megabytes

Triple<double> triple(const double* a) { return {a[0], a[1], a[2]}; }

// Articulated inertias of a link and of those that it carries, before they were reduced by what their joints leave
// free: the scale of the round-off in what is left.
struct InertiaScale {
  double turning = 0, moving = 0;
};

// Does a link whose joint has the inverse inertia D^-1 resist, or is D zero but for round-off?
bool resists(double inverse, double scale) { return inverse > 0 && inverse * scale < 1e13; }
bool resists_turning(const recursion::Symmetric<double>& inverse, double scale) {
  const Mat3 m = (Mat3() << inverse.xx, inverse.xy, inverse.xz, inverse.xy, inverse.yy, inverse.yz, inverse.xz,
                  inverse.yz, inverse.zz)
                     .finished();
  const Vec3 values = symmetric_eigenvalues(m);
  return values[0] > 0 && resists(values[2], scale);
}

bool resists(Kind kind, const recursion::Articulated<double>& a, const InertiaScale& scale) {
  switch (kind) {
    case Kind::fixed: return true;
    case Kind::revolute: return resists(a.D.xx, scale.turning);
    case Kind::prismatic: return resists(a.D.xx, scale.moving);
    case Kind::cylindrical: return resists(a.D.xx, scale.turning) && resists(a.D.yy, scale.moving);
    case Kind::universal: return resists(a.D.xx, scale.turning) && resists(a.D.yy, scale.turning);
    case Kind::spherical: return resists_turning(a.I.A, scale.turning);
    case Kind::free:
      return resists_turning(a.I.A, scale.turning) && resists(a.I.M.xx, scale.moving) &&
             resists(a.I.M.yy, scale.moving) && resists(a.I.M.zz, scale.moving);
  }
  return true;
}

// Links whose joints move nothing, from the ends of the tree inwards; what lies behind one of them is not judged. Each
// is measured by what it carries itself: a watch has its place in a ship.
std::vector<int> links_without_inertia(const Equations& equations, const SpanningTree& spanning) {
  const recursion::Tree& tree = spanning.tree();
  Workspace work = equations.make_workspace();
  equations.update(equations.initial_state(), work);
  Vec q, u;
  spanning.coordinates(work, q, u);
  u.setZero();
  recursion::ForwardDynamics<double> dynamics(tree);
  dynamics.outward(q.data(), u.data());
  dynamics.inward(true);
  std::vector<InertiaScale> scales(tree.links.size());
  std::vector<bool> behind(tree.links.size(), false);
  std::vector<int> bad;
  for (int i = tree.size() - 1; i > 0; --i) {
    const Link& link = tree.links[i];
    if (behind[i]) {
      behind[link.parent] = true;
      continue;
    }
    scales[i].turning += trace(link.J);
    scales[i].moving += 3 * link.mass;
    const recursion::Articulated<double>& a = dynamics.articulated(i);
    if (!resists(link.kind, a, scales[i])) {
      bad.push_back(i);
      behind[link.parent] = true;
      continue;
    }
    const Triple<double>& d = dynamics.motion(i).d;
    const double turning = trace(link.kind == Kind::spherical ? inverse(a.I.A) : a.I.A), moving = trace(a.I.M);
    scales[link.parent].turning += 2 * (turning + dot(d, d) * moving);
    scales[link.parent].moving += moving;
  }
  return bad;
}

[[noreturn]] void refuse_link_without_inertia(const Equations& equations, const SpanningTree& tree, int link) {
  std::string joint = "it moves freely";
  for (const SpanningTree::Branch& branch : tree.branches())
    if (branch.link == link) joint = equations.name_of_constraint(branch.constraint) + " lets it move";
  throw Failure({Severity::error, "method-refuses",
                 "formulation 'joint-coordinates' cannot take this mechanism: body '" +
                     equations.model().bodies[tree.body_moved_by(link)].name +
                     "' and what it carries have no inertia where " + joint,
                 "give it mass and inertia, or choose another formulation, such as 'index-1-projected'",
                 equations.model().simulation.where});
}

}  // namespace

class JointSpace::SecondOrder final : public SecondOrderProblem {
 public:
  explicit SecondOrder(JointSpace& space) : space_(space), state_(Vec::Zero(space.size())) {}
  int freedoms() const override { return space_.tree_.tree().nu; }
  Eval acceleration(double t, const Vec& y, const Vec& v, Vec& a) override {
    state_ << y, v;
    const Eval result = space_.compute(t, state_);
    if (result == Eval::ok) a = space_.u_dot_;
    return result;
  }
  void error_scales(const Vec& before, const Vec& after, Vec& scales) const override {
    space_.error_scales(before, after, scales);
  }

 private:
  JointSpace& space_;
  Vec state_;
};

JointSpace::~JointSpace() = default;

SecondOrderProblem* JointSpace::second_order() {
  if (!why_not_second_order().empty()) return nullptr;
  if (!second_) second_ = std::make_unique<SecondOrder>(*this);
  return second_.get();
}

std::string JointSpace::why_not_second_order() const {
  if (nx_ > 0) return "state '" + equations_.model().states.front().name + "' is of first order";
  const recursion::Tree& tree = tree_.tree();
  for (int i = 1; i < tree.size(); ++i) {
    if (recursion::quaternion_at(tree.links[i].kind) < 0) continue;
    for (const SpanningTree::Branch& branch : tree_.branches())
      if (branch.link == i) return equations_.name_of_constraint(branch.constraint) + " turns in space";
    return "body '" + equations_.model().bodies[tree_.body_moved_by(i)].name + "' moves freely and turns in space";
  }
  return "";
}

JointSpace::Layout JointSpace::lay_out(const Equations& equations, const SpanningTree& tree) {
  Layout out;
  for (const int c : tree.cut()) {
    const Equations::ConstraintInfo info = equations.constraint_info(c);
    Row row{c, static_cast<int>(out.arms.size()), info.rows, {}};
    for (const int frame : equations.constraint_frames(c)) {
      const int body = equations.body_frame(frame).body;
      row.links.push_back(body == ground ? 0 : tree.link_of(body));
    }
    for (int k = 0; k < info.rows; ++k)
      out.arms.push_back(equations.row_unit(info.first_row + k) == RowUnit::torque ? equations.length() : 1.0);
    out.groups.push_back({info.rows, row.links});
    out.list.push_back(std::move(row));
  }
  return out;
}

std::unique_ptr<recursion::DelassusRows> JointSpace::make_rows(const Equations& equations, const SpanningTree& tree,
                                                               const Layout& layout) {
  return std::make_unique<recursion::DelassusRows>(
      tree.tree(), layout.groups,
      Eigen::Map<const Vec>(layout.arms.data(), static_cast<Eigen::Index>(layout.arms.size())),
      eps / equations.greatest_mass());
}

// Of an evaluation, in microseconds; infinite where the rows would fill more than some hundred megabytes.
double JointSpace::cost(const Equations& equations, const SpanningTree& tree) {
  const Layout layout = lay_out(equations, tree);
  const double pairs = recursion::DelassusRows::pairs(tree.tree(), layout.groups, most_pairs);
  return std::isinf(pairs) ? pairs : 0.1 * tree.tree().size() + make_rows(equations, tree, layout)->cost();
}

// Of the deepest tree and some that are cut, the one whose evaluation costs least: long paths with many loops on them
// couple all rows. Where all cost too much to be told, the shallowest.
int JointSpace::chosen_depth(const Equations& equations) {
  const SpanningTree whole(equations, 0);
  if (whole.cut().empty()) return 0;
  const int deepest = whole.tree().depth();
  double least = cost(equations, whole);
  int best = std::isinf(least) && deepest > 2 ? 2 : 0;
  for (const int depth : {16, 8, 4, 2}) {
    if (depth >= deepest) continue;
    const double own = cost(equations, SpanningTree(equations, depth));
    if (own < least) least = own, best = depth;
  }
  return best;
}

// A depth that was asked for is not questioned, unless nobody has the memory for it.
void JointSpace::refuse_too_many_pairs(const Layout& layout) const {
  const bool asked = options_.depth > 0;
  const double most = asked ? most_pairs : 10 * most_pairs;
  if (!std::isinf(recursion::DelassusRows::pairs(tree_.tree(), layout.groups, most))) return;
  const std::string tree = std::to_string(tree_.tree().depth()) + " joints deep";
  throw Failure(
      {Severity::error, "method-refuses",
       asked ? "with `depth` " + std::to_string(options_.depth) + " the tree is " + tree +
                   ", and its loops and motions couple each other more than " + digits(most / 1e6) + " million times"
             : "formulation 'joint-coordinates' cannot take this mechanism: in a tree " + tree +
                   " its loops and motions couple each other more than " + digits(most / 1e6) + " million times",
       asked ? "take a smaller depth, or leave it out: it is then chosen by what an evaluation costs"
             : "choose another formulation, such as 'index-1-projected'",
       equations_.model().simulation.where});
}

JointSpace::JointSpace(const Equations& equations, const JointSpaceOptions& options)
    : equations_(equations),
      options_(options),
      nx_(equations.sizes().nx),
      tree_(fitting_tree(equations, options.depth > 0 ? options.depth : chosen_depth(equations))),
      dynamics_(tree_.tree()),
      length_(equations.length()),
      turn_(tree_.tree().links.size(), 0.0),
      turned_(turn_),
      state_(equations.initial_state()),
      work_(equations.make_workspace()),
      wrenches_(equations.model().bodies.size(), Vec6::Zero()),
      transmitted_(tree_.tree().links.size()) {
  Layout layout = lay_out(equations, tree_);
  refuse_too_many_pairs(layout);
  rows_ = make_rows(equations, tree_, layout);
  row_list_ = std::move(layout.list);
  y_.setZero(size());
  dydt_.setZero(size());
  u_dot_.setZero(tree_.tree().nu);
  xdot_.setZero(nx_);
  right_.setZero(rows_->rows());
  lambda_ = right_;
  g_.setZero(equations.sizes().multipliers());
}

// A body without inertia can be inside a tree, where it carries others that have it, but not at its end.
SpanningTree JointSpace::fitting_tree(const Equations& equations, int depth) {
  std::vector<int> inside;
  for (;;) {
    SpanningTree tree(equations, depth, inside);
    const std::vector<int> bad = links_without_inertia(equations, tree);
    if (bad.empty()) return tree;
    const std::size_t tried = inside.size();
    for (const int link : bad) {
      const int body = tree.body_moved_by(link);
      if (std::find(inside.begin(), inside.end(), body) == inside.end()) inside.push_back(body);
    }
    if (inside.size() == tried) refuse_link_without_inertia(equations, tree, bad.back());
  }
}

bool JointSpace::is_planar(int body) const {
  if (body < 0) return true;  // a massless link carries a planar body, or nothing that turns
  const BodyElement& element = equations_.body(body);
  return !element.rotation() && element.rigid()->column[element.rigid()->count - 1] == 5;
}

void JointSpace::start(const State& state, const Rates& rates, Vec& y) {
  if (rate_ == 0) rate_ = equations_.rate(state, rates);  // of the run, not of what came after an event
  set_base(state);
  equations_.update(state, work_);
  tree_.place(work_);
  Vec q, u;
  tree_.coordinates(work_, q, u);
  y.resize(size());
  y << q, u, equations_.states_of(state);
  current_ = false;
  move(state.t, y);
  std::fill(turn_.begin(), turn_.end(), 0.0);
  find_turns();
  for (int i = 1; i < tree_.tree().size(); ++i) {
    const int body = tree_.body_of(i);
    if (body < 0 || !is_planar(body)) continue;
    const BodyElement& element = equations_.body(body);
    turn_[i] = state.q[element.at().q + element.rigid()->count - 1] - turned_[i];
  }
}

void JointSpace::set_base(const State& state) {
  state_.u = state.u;
  state_.memory = state.memory;
  length_ = std::max(equations_.length(),
                     100 * std::numeric_limits<double>::epsilon() * equations_.reach(state.q) / options_.tolerance);
  current_ = false;
}

bool JointSpace::stretched(const Vec& y) const {
  const std::vector<Link>& links = tree_.tree().links;
  return std::any_of(links.begin(), links.end(), [&y](const Link& link) {
    const int at = recursion::quaternion_at(link.kind);
    return at >= 0 && !(std::abs(y.segment<4>(link.q + at).norm() - 1) < 0.1);
  });
}

void JointSpace::shrink(const Vec& of, Vec& y) const {
  for (const Link& link : tree_.tree().links) {
    const int at = recursion::quaternion_at(link.kind);
    if (at >= 0) y.segment<4>(link.q + at) /= of.segment<4>(link.q + at).norm();
  }
}

bool JointSpace::is_current(double t, const Vec& y) const { return current_ && t == state_.t && y == y_; }

// The motions of links and bodies, and the variables.
void JointSpace::move(double t, const Vec& y) {
  current_ = false;
  stuck_link_ = 0;
  state_.t = t;
  y_ = y;
  state_.u.tail(nx_) = y.tail(nx_);
  dynamics_.outward(y.data(), y.data() + tree_.tree().nq);
  for (int i = 1; i < tree_.tree().size(); ++i) {
    const int body = tree_.body_of(i);
    if (body < 0) continue;
    const recursion::LinkMotion<double>& m = dynamics_.motion(i);
    BodyState& b = work_.bodies[body];
    b.R.noalias() = to_mat3(m.R).lazyProduct(tree_.axes(i).transpose());
    const Vec3 rho = b.R * -tree_.arm(i);
    b.r = to_vec3(m.o) + rho;
    b.w = to_vec3(m.w);
    b.v = to_vec3(m.v) + b.w.cross(rho);
  }
  equations_.update_variables(state_, work_);
}

void JointSpace::apply_forces(Eval& result) {
  if (equations_.force_count() > 0) result = equations_.forces_at(state_, wrenches_, work_);
  const std::span<Spatial<double>> applied = dynamics_.applied();
  const Vec3& gravity = equations_.model().gravity;
  for (std::size_t body = 0; body < wrenches_.size(); ++body) {
    const int link = tree_.link_of(static_cast<int>(body));
    const Vec3 force = wrenches_[body].head<3>(), arm = work_.bodies[body].r - to_vec3(dynamics_.motion(link).o);
    applied[link] = {to_triple(wrenches_[body].tail<3>() + arm.cross(force)), to_triple(force)};
    // The recursion weighs all mass; that of a scalar coordinate has no weight.
    if (equations_.body(static_cast<int>(body)).weight() == 0)
      applied[link].v -= to_triple(gravity) * tree_.tree().links[link].mass;
  }
}

// The wrench C^T of a row at one of its frames; the acceleration C alpha that the speeds alone make there.
void JointSpace::add_row(std::size_t group, int row, std::size_t frame, int link, bool with_accelerations) {
  const recursion::LinkMotion<double>& m = dynamics_.motion(link);
  const double* C = &at_.C(row, static_cast<Eigen::Index>(6 * frame));
  const Triple<double> arm = to_triple(at_.frames[frame].p) - m.o, force = triple(C), torque = triple(C + 3);
  rows_->add(static_cast<int>(group), static_cast<int>(frame), row, {torque + cross(arm, force), force});
  if (!with_accelerations) return;
  const Triple<double> a = m.av + tree_.tree().gravity + cross(m.aw, arm) + cross(m.w, cross(m.w, arm));
  right_[row_list_[group].first + row] += dot(force, a) + dot(torque, m.aw);
}

bool JointSpace::fill_rows(Equations::RowValues which) {
  const bool accelerations = which == Equations::RowValues::curvature,
             positions = which == Equations::RowValues::position;
  bool good = true;
  rows_->clear();
  for (std::size_t group = 0; group < row_list_.size(); ++group) {
    const Row& row = row_list_[group];
    const int first = equations_.constraint_info(row.constraint).first_row;
    good = equations_.rows_at(row.constraint, state_, which, at_, work_) && good;
    for (int k = 0; k < row.count; ++k) {
      // nothing to be mended in positions
      const bool left_out = positions && equations_.level(first + k) == Level::velocity;
      right_[row.first + k] = left_out ? 0 : at_.values[static_cast<std::size_t>(k)];
      g_[first + k] = right_[row.first + k];
      if (left_out) continue;
      for (std::size_t f = 0; f < row.links.size(); ++f)
        if (row.links[f] > 0) add_row(group, k, f, row.links[f], accelerations);
    }
  }
  return good;
}

Eval JointSpace::compute(double t, const Vec& y) {
  if (is_current(t, y)) return Eval::ok;
  if (!y.allFinite()) return Eval::rejected;
  move(t, y);
  ++counts_.evaluations;
  Eval result = Eval::ok;
  apply_forces(result);
  if (result != Eval::ok) return result;
  dynamics_.inward();
  stuck_link_ = dynamics_.stuck();
  if (stuck_link_ > 0) return Eval::rejected;
  if (has_rows()) {
    if (!fill_rows(Equations::RowValues::curvature) || !rows_->factor(dynamics_)) return Eval::rejected;
    ++counts_.factorisations;
    rows_->add_free(dynamics_, right_);
    rows_->solve(right_, lambda_);
    rows_->apply(lambda_, dynamics_);
  }
  dynamics_.accelerate(u_dot_.data());
  if (nx_ > 0 && equations_.state_rates_at(state_, xdot_, work_) != Eval::ok) return Eval::rejected;
  find_coordinate_rates(y, dydt_);
  dydt_.segment(tree_.tree().nq, tree_.tree().nu) = u_dot_;
  dydt_.tail(nx_) = xdot_;
  if (!std::isfinite(dydt_.sum())) return Eval::rejected;
  current_ = true;
  return Eval::ok;
}

// e' = e o (0, w) / 2 for quaternions, w in own axes; q' = u for all others.
void JointSpace::find_coordinate_rates(const Vec& y, Vec& dydt) const {
  const double* speeds = y.data() + tree_.tree().nq;
  for (const Link& link : tree_.tree().links) {
    const double* u = speeds + link.u;
    double* out = dydt.data() + link.q;
    const int at = recursion::quaternion_at(link.kind), plain = at < 0 ? recursion::freedoms(link.kind) : at;
    for (int k = 0; k < plain; ++k) out[k] = u[k];
    if (at < 0) continue;
    const double *e = y.data() + link.q + at, *w = u + at;
    out[at] = 0.5 * (-e[1] * w[0] - e[2] * w[1] - e[3] * w[2]);
    out[at + 1] = 0.5 * (e[0] * w[0] + e[2] * w[2] - e[3] * w[1]);
    out[at + 2] = 0.5 * (e[0] * w[1] + e[3] * w[0] - e[1] * w[2]);
    out[at + 3] = 0.5 * (e[0] * w[2] + e[1] * w[1] - e[2] * w[0]);
  }
}

Eval JointSpace::f(double t, const Vec& y, Vec& dydt) {
  const Eval result = compute(t, y);
  if (result == Eval::ok) dydt = dydt_;
  return result;
}

void JointSpace::increment(const double* u, double* q) const {
  for (const Link& link : tree_.tree().links) {
    double* own = q + link.q;
    const double* d = u + link.u;
    const int at = recursion::quaternion_at(link.kind), plain = at < 0 ? recursion::freedoms(link.kind) : at;
    for (int k = 0; k < plain; ++k) own[k] += d[k];
    if (at < 0) continue;
    double* e = own + at;
    const Quat turned = Quat(e[0], e[1], e[2], e[3]) * rotation_exp(Vec3(d[at], d[at + 1], d[at + 2]));
    e[0] = turned.w(), e[1] = turned.x(), e[2] = turned.y(), e[3] = turned.z();
  }
}

// The least change of speeds, or of positions alike, that the values of the rows in right_ ask for:
//   M du + J^T lambda = 0,  J du = -right
bool JointSpace::correct(double* u) {
  dynamics_.inward(true);
  stuck_link_ = dynamics_.stuck();
  if (stuck_link_ > 0) return false;
  if (!rows_->factor(dynamics_)) return false;
  ++counts_.factorisations;
  rows_->solve(right_, lambda_);
  rows_->apply(lambda_, dynamics_);
  dynamics_.accelerate(u);
  return std::isfinite(Eigen::Map<const Vec>(u, tree_.tree().nu).sum());
}

bool JointSpace::project(double t, Vec& y) {
  if (!has_rows()) return true;
  const double length = equations_.length(), round_off = 8 * std::numeric_limits<double>::epsilon() * length_ / length,
               small = std::max(1e-12, round_off) * length;
  double before = std::numeric_limits<double>::infinity();
  worst_row_ = -1;
  for (int pass = 0;; ++pass) {
    if (!y.allFinite()) return false;
    move(t, y);
    if (!fill_rows(Equations::RowValues::position)) return false;
    const double size = equations_.size_of_rows(g_, &worst_row_);
    if (!std::isfinite(size)) return false;
    if (size <= small || size > 0.5 * before || pass == 8) {
      // as far as it goes: round-off, or a loop that does not close
      if (size > std::max(1e-6 * length, 2 * options_.misfit)) return false;
      break;
    }
    before = size;
    if (!correct(u_dot_.data())) return false;
    increment(u_dot_.data(), y.data());
  }
  worst_row_ = -1;
  if (!fill_rows(Equations::RowValues::velocity) || !correct(u_dot_.data())) return false;
  y.segment(tree_.tree().nq, tree_.tree().nu) += u_dot_;
  return true;
}

void JointSpace::find_turns() {
  for (int i = 1; i < tree_.tree().size(); ++i) {
    const Link& link = tree_.tree().links[i];
    turned_[i] = turned_[link.parent] - turn_[link.parent] + turn_[i];
    if (link.kind == Kind::revolute)
      turned_[i] += recursion::column(dynamics_.motion(i).R, 2).z > 0 ? y_[link.q] : -y_[link.q];
  }
}

// Coordinates and velocities of the bodies, as far as their kinds have them.
void JointSpace::absolute(State& state) const {
  state.t = state_.t;
  state.u = state_.u;
  for (std::size_t b = 0; b < work_.bodies.size(); ++b) {
    const BodyElement& body = equations_.body(static_cast<int>(b));
    const BodyState& motion = work_.bodies[b];
    const RigidColumns& columns = *body.rigid();
    const Vec3 own_w = motion.R.transpose() * motion.w;
    double *q = state.q.data() + body.at().q, *v = state.v.data() + body.at().v;
    for (int k = 0; k < columns.count; ++k) {
      const int column = columns.column[k];
      v[k] = column < 3 ? motion.v[column] : own_w[column - 3];
      if (column < 3) q[k] = motion.r[column];
    }
    if (const std::optional<int> at = body.rotation()) {
      Quat turned(motion.R);
      if (turned.w() * q[*at] + turned.x() * q[*at + 1] + turned.y() * q[*at + 2] + turned.z() * q[*at + 3] < 0)
        turned.coeffs() *= -1;  // the one of two that the state has had
      q[*at] = turned.w(), q[*at + 1] = turned.x(), q[*at + 2] = turned.y(), q[*at + 3] = turned.z();
    } else if (columns.column[columns.count - 1] >= 3) {
      q[columns.count - 1] = turned_[tree_.link_of(static_cast<int>(b))];
    }
  }
}

void JointSpace::absolute_acceleration(Vec& a) const {
  for (std::size_t b = 0; b < work_.bodies.size(); ++b) {
    const BodyElement& body = equations_.body(static_cast<int>(b));
    const RigidColumns& columns = *body.rigid();
    const int link = tree_.link_of(static_cast<int>(b));
    const BodyState& motion = work_.bodies[b];
    const Spatial<double> rate = dynamics_.acceleration(link, to_triple(motion.r) - dynamics_.motion(link).o);
    const Vec3 linear = to_vec3(rate.v), own = motion.R.transpose() * to_vec3(rate.w);
    for (int k = 0; k < columns.count; ++k)
      a[body.at().v + k] = columns.column[k] < 3 ? linear[columns.column[k]] : own[columns.column[k] - 3];
  }
}

// Of rows as solved; of the tree's joints from the wrench f that each hands on: -C^T lambda = f, of least norm where
// the rows are not independent.
void JointSpace::multipliers(Vec& lambda) {
  std::fill(transmitted_.begin(), transmitted_.end(), Spatial<double>{});
  for (const Row& row : row_list_) {
    equations_.rows_at(row.constraint, state_, Equations::RowValues::none, at_, work_);
    lambda.segment(equations_.constraint_info(row.constraint).first_row, row.count) =
        lambda_.segment(row.first, row.count);
    for (std::size_t f = 0; f < row.links.size(); ++f) {
      const Triple<double> arm = to_triple(at_.frames[f].p) - dynamics_.motion(row.links[f]).o;
      for (int k = 0; k < row.count; ++k) {
        const double* C = &at_.C(k, static_cast<Eigen::Index>(6 * f));
        const Triple<double> force = triple(C) * lambda_[row.first + k];
        transmitted_[row.links[f]] += {triple(C + 3) * lambda_[row.first + k] + cross(arm, force), force};
      }
    }
  }
  dynamics_.transmitted(transmitted_);
  for (const SpanningTree::Branch& branch : tree_.branches()) {
    const Equations::ConstraintInfo info = equations_.constraint_info(branch.constraint);
    equations_.rows_at(branch.constraint, state_, Equations::RowValues::none, at_, work_);
    const Spatial<double>& f = transmitted_[branch.link];
    const Triple<double> arm = to_triple(at_.frames[branch.frame].p) - dynamics_.motion(branch.link).o,
                         torque = f.w - cross(arm, f.v);
    Vec6 wrench;
    wrench << f.v.x, f.v.y, f.v.z, torque.x, torque.y, torque.z;
    using Small = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, max_rows, 6>;
    const Small C = at_.C.block(0, 6 * branch.frame, info.rows, 6);
    const Small CC = C * C.transpose();
    const RowVector right = -(C * wrench);
    lambda.segment(info.first_row, info.rows) = CC.ldlt().solve(right);
  }
}

Eval JointSpace::evaluate(double t, const Vec& y, State& state, Rates& rates, Vec& dydt) {
  const Eval result = compute(t, y);
  if (result != Eval::ok) return result;
  find_turns();
  absolute(state);
  absolute_acceleration(rates.a);
  multipliers(rates.lambda);
  rates.xdot = xdot_;
  dydt = dydt_;
  return result;
}

void JointSpace::place(double t, const Vec& y, State& state) {
  if (!is_current(t, y)) move(t, y);
  find_turns();
  absolute(state);
}

void JointSpace::error_scales(const Vec& before, const Vec& after, Vec& scales) const {
  const recursion::Tree& tree = tree_.tree();
  scales.resize(size());
  const auto widen = [&](Eigen::Index at, double scale) {
    const double value = std::max(std::abs(before[at]), std::abs(after[at]));
    scales[at] = options_.greater_counts ? std::max(scale, value) : scale + value;
  };
  for (const Link& link : tree.links) {
    const int at = recursion::quaternion_at(link.kind), count = recursion::freedoms(link.kind);
    const auto slides = [&](int freedom) {
      return link.kind == Kind::prismatic || (link.kind == Kind::cylindrical && freedom == 1) ||
             (link.kind == Kind::free && freedom < 3);
    };
    for (int k = 0; k < count; ++k) {
      const double unit = slides(k) ? length_ : 1;
      if (at < 0 || k < at) scales[link.q + k] = unit;
      widen(tree.nq + link.u + k, rate_ * unit);
    }
    if (at >= 0) scales.segment<4>(link.q + at).setConstant(0.5);  // a radian changes them by half as much
  }
  for (Eigen::Index k = size() - nx_; k < size(); ++k) widen(k, 1);
}

int JointSpace::velocity_of(int component) const {
  const recursion::Tree& tree = tree_.tree();
  if (component < 0 || component >= tree.nq + tree.nu) return -1;
  for (int i = 1; i < tree.size(); ++i) {
    const Link& link = tree.links[i];
    const int from = component < tree.nq ? link.q : tree.nq + link.u,
              count = component < tree.nq ? recursion::coordinates(link.kind) : recursion::freedoms(link.kind);
    if (component >= from && component < from + count) return equations_.first_velocity(tree_.body_moved_by(i));
  }
  return -1;
}

int JointSpace::stuck_velocity() const {
  return stuck_link_ > 0 ? equations_.first_velocity(tree_.body_moved_by(stuck_link_)) : -1;
}

std::string JointSpace::description() const {
  const recursion::Tree& tree = tree_.tree();
  const auto some = [](int count, const char* one, const char* many) {
    return std::to_string(count) + " " + (count == 1 ? one : many);
  };
  std::string text = some(tree.nu, "speed", "speeds") + " of a tree " + some(tree.depth(), "joint", "joints") + " deep";
  if (has_rows())
    text += ", " + some(rows_->rows(), "row", "rows") + " of " +
            some(static_cast<int>(row_list_.size()), "constraint", "constraints") + " beside it";
  return text;
}

void JointSpace::visit(Archive& archive) {
  const std::size_t links = turn_.size(), memory = state_.memory.size();
  const Eigen::Index inputs = state_.u.size();
  archive(tree_, turn_, rate_, length_, state_.u, state_.memory, counts_);
  archive.expect(turn_.size() == links && state_.memory.size() == memory && state_.u.size() == inputs);
  if (archive.reading()) current_ = false;
}

long JointSpace::memory_bytes() const {
  return static_cast<long>(tree_.tree().links.size() *
                           (sizeof(Link) + sizeof(recursion::LinkMotion<double>) +
                            sizeof(recursion::Articulated<double>) + 2 * sizeof(Spatial<double>))) +
         rows_->memory_bytes() + 8L * (8 * size());
}

}  // namespace trammel
