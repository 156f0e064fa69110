#include "trammel/initial/consistent.h"

#include <cmath>
#include <functional>
#include <limits>

#include "trammel/base/numbers.h"
#include "trammel/elements/build.h"
#include "trammel/elements/scalars/pair_scalar.h"
#include "trammel/linalg/eigenvalues.h"
#include "trammel/rank/mechanism.h"
#include "trammel/rank/reduction.h"

namespace trammel {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

double round_off_at(const Equations& equations, const State& state) {
  return std::numeric_limits<double>::epsilon() * equations.reach(state.q);
}

// Weights of the least change: a displacement counts like a rotation by displacement / L.
Vec change_weights(const Equations& equations, const std::vector<bool>& held) {
  Vec w = equations.scales();
  const double length = equations.length();
  for (Eigen::Index i = 0; i < w.size(); ++i) {
    w[i] = held[i] ? infinite : equations.greatest_mass() * (length / w[i]) * (length / w[i]);
  }
  return w;
}

// What stays in a first try: a body moves and turns before it bends. By weights alone a metre of bending would cost as
// much as a metre of rigid motion, and the modes it takes are far stiffer than anything else in the model.
std::vector<bool> with_modes_held(const Equations& equations, const std::vector<bool>& held) {
  std::vector<bool> rigid = held;
  for (int i = 0; i < equations.sizes().nv; ++i) {
    const BodyVelocity& of = equations.velocity(i);
    if (of.displacement > 0 || of.turn > 0) rigid[static_cast<std::size_t>(i)] = true;
  }
  return rigid;
}

void note_moves(const Equations& equations, const Vec& change, StageReport& report) {
  if (change.size() == 0) return;
  int at = 0;
  report.moved = change.cwiseAbs().maxCoeff(&at);
  report.moved_most = equations.name_of_velocity(at);
}

// What is kept of the velocities of a body, or of its pose.
struct KeptOfBody {
  Kept place, turn;
  // By motions: an origin that stays while the body may turn about it, since held columns are those of the centre of
  // mass, and single components of a rotation, since its columns are along the axes of the body.
  bool place_by_motion = false, turn_by_motion = false;
};

KeptOfBody kept_of(const Body& body, bool velocities) {
  KeptOfBody kept{velocities ? body.keep_velocity : body.keep_position,
                  velocities ? body.keep_angular_velocity : body.keep_orientation};
  const bool turns = kind_of(body).has_axes();
  kept.place_by_motion = kept.place.any() && !kept.turn && turns && body.center_of_mass.norm() > 0;
  kept.turn_by_motion = kept.turn.any() && !kept.turn && turns;
  return kept;
}

bool needs_initial_motions(const Model& model) {
  return !model.initial_joints.empty() || std::any_of(model.bodies.begin(), model.bodies.end(), [](const Body& b) {
    const KeptOfBody place = kept_of(b, false), speed = kept_of(b, true);
    return place.place_by_motion || place.turn_by_motion || speed.place_by_motion || speed.turn_by_motion;
  });
}

std::vector<bool> held_columns(const Equations& equations, bool velocities) {
  std::vector<bool> held(static_cast<std::size_t>(equations.sizes().nv), false);
  for (std::size_t b = 0; b < equations.model().bodies.size(); ++b) {
    const Body& body = equations.model().bodies[b];
    const KeptOfBody kept = kept_of(body, velocities);
    int column = equations.first_velocity(static_cast<int>(b));
    for (const BodyVelocity& velocity : equations.body(static_cast<int>(b)).velocities()) {
      held[column++] = velocity.part >= 3   ? static_cast<bool>(kept.turn)
                       : velocity.part >= 0 ? kept.place[velocity.part] && !kept.place_by_motion
                                            : false;
    }
  }
  return held;
}

std::string linear_in_time(double value, double rate) { return shortest(value) + " + (" + shortest(rate) + ")*time"; }

// Motions that hold components of a body's origin and axes where they are, or move them at given speeds.
void add_kept_motions(Model& driven, std::size_t index, const Pose& at, const Kept& place, const Kept& turn,
                      const Vec3& velocity, const Vec3& spin) {
  const Body body = driven.bodies[index];
  const auto add = [&](const char* type, const char* field, double value, double rate, int from, int to) {
    Fields fields;
    fields.set(field, ExpressionText{linear_in_time(value, rate), body.where});
    add_motion(driven, type, "kept " + body.name, {from, to}, fields);
    driven.motions.back().where = body.where;
  };
  const bool planar = kind_of(body).is_planar;
  const int origin = driven.add_floating_frame(static_cast<int>(index), {});
  for (int i = 0; i < 3; ++i) {
    if (place[i] && !(planar && i == 2)) {
      add("translation", "displacement", at.position[i], velocity[i],
          driven.add_frame_at(ground, Vec3::Zero(), Vec3::Unit(i)), origin);
    }
  }
  for (int i = 0; i < 3; ++i) {
    if (!turn[i] || (planar && i < 2)) continue;
    const int from = driven.add_frame_at(ground, Vec3::Zero(), Vec3::Unit(i));
    const Quat axes = driven.frames[from].local.rotation;
    add("rotation", "angle", 0, spin[i], from,
        driven.add_floating_frame(static_cast<int>(index), {Vec3::Zero(), at.rotation.conjugate() * axes}));
  }
}

Pose origin_pose(const Body& body, const BodyState& s) { return {s.r - s.R * body.center_of_mass, Quat(s.R)}; }

// The model with the wanted joint values as motions, so that the usual assembly brings the joints there.
Model with_initial_motions(const Model& model, const Equations& equations, const State* assembled, Workspace& work) {
  Model driven = model;
  if (assembled != nullptr) equations.update(*assembled, work);
  for (const InitialJoint& initial : model.initial_joints) {
    const Item& joint = model.joints[initial.joint];
    const auto add = [&](const char* type, const char* field, const Scalar& coordinate,
                         const std::optional<double>& value, const std::optional<double>& speed) {
      if (assembled == nullptr ? !value : !speed && !value) return;
      double now = value.value_or(0);
      if (assembled != nullptr) {
        const FrameState a = equations.frame(joint.frames[0], work), b = equations.frame(joint.frames[1], work);
        now = PairScalar(coordinate, a, b, 0).value();
      }
      Fields fields;
      fields.set(field,
                 ExpressionText{linear_in_time(now, assembled == nullptr ? 0.0 : speed.value_or(0)), initial.where});
      add_motion(driven, type, joint.name, {joint.frames[0], joint.frames[1]}, fields);
      driven.motions.back().where = initial.where;
    };
    // A speed alone leaves the position free: it is only prescribed once positions are known.
    if (assembled == nullptr || initial.angular_speed)
      add("rotation", "angle", {Primitive::angle}, initial.angle, initial.angular_speed);
    if (assembled == nullptr || initial.speed)
      add("translation", "displacement", {Primitive::in_plane, 2}, initial.displacement, initial.speed);
  }
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    const KeptOfBody kept = kept_of(body, assembled != nullptr);
    const Kept none;
    const bool moves = assembled != nullptr;
    add_kept_motions(driven, b, moves ? origin_pose(body, work.bodies[b]) : body.pose,
                     kept.place_by_motion ? kept.place : none, kept.turn_by_motion ? kept.turn : none,
                     moves ? body.velocity : Vec3::Zero(), moves ? body.angular_velocity : Vec3::Zero());
  }
  return driven;
}

}  // namespace

Problem no_accelerations(const Equations& equations, const State& state, Workspace& work, const std::string& when) {
  Problem problem{Severity::error,
                  "no-accelerations",
                  "accelerations and reactions cannot be solved for " + when,
                  "a body may have neither mass nor inertia in a direction that no joint holds, or a force cannot be "
                  "evaluated (a spring of zero length)",
                  {}};
  if (equations.sees_rates()) {
    std::string who;
    for (const std::string& each : equations.seers()) who += (who.empty() ? "" : ", ") + each;
    problem.message += ", with what sees accelerations or reactions: " + who;
    problem.hint =
        "such equations may have no solution, or several (friction beyond the angle of jamming): try a "
        "smaller coefficient; or " +
        problem.hint;
  }
  constexpr int most_velocities = 1200;  // of a dense search
  if (equations.sizes().nv > most_velocities) return problem;
  Partials partials = equations.make_partials(Detail::projection);
  equations.jacobian(state, partials, work);
  const Vec scales = equations.scales();
  const Mat free = scales.asDiagonal() * scaled_null_space(equations.gv().dense(partials.G), scales);
  if (free.cols() == 0) return problem;
  Mat moved(free.rows(), free.cols());
  Vec Mv(free.rows());
  for (Eigen::Index k = 0; k < free.cols(); ++k) {
    equations.multiply_mass(state.q, free.col(k), Mv);
    moved.col(k) = Mv;
  }
  const SymmetricEigen<Mat> eigen = symmetric_eigen(Mat(free.transpose() * moved));
  if (eigen.values[0] > 1e-12 * eigen.values.cwiseAbs().maxCoeff()) return problem;
  Vec lightest = free * eigen.vectors.col(0);
  Eigen::Index most = 0;
  lightest.cwiseQuotient(scales).cwiseAbs().maxCoeff(&most);
  const int body = equations.body_of_velocity(static_cast<int>(most));
  problem.message +=
      ": " + equations.name_of_velocity(static_cast<int>(most)) + " can move without moving any mass or inertia";
  problem.hint = "give the body mass and inertia, or hold it by a joint; `trammel static` needs neither";
  problem.where = equations.model().bodies[body].where;
  return problem;
}

bool keeps_positions(const Model& model) {
  return std::any_of(model.bodies.begin(), model.bodies.end(),
                     [](const Body& b) { return b.keep_position.any() || b.keep_orientation.any(); });
}

Model with_kept_positions(const Equations& equations, const State& state, Workspace& work) {
  Model held = equations.model();
  equations.update(state, work);
  for (std::size_t b = 0; b < equations.model().bodies.size(); ++b) {
    const Body& body = equations.model().bodies[b];
    Kept turn = body.keep_orientation;
    if (turn && !kind_of(body).is_planar) {  // one motion for all three: their order does not matter
      const Quat axes(work.bodies[b].R);
      Fields fields;
      for (const char* angle : {"about_x", "about_y", "about_z"}) fields.set(angle, ExpressionText{"0", body.where});
      add_motion(held, "trajectory", "kept " + body.name,
                 {held.add_frame(ground, {Vec3::Zero(), axes}), held.add_floating_frame(static_cast<int>(b), {})},
                 fields);
      turn = false;
    }
    add_kept_motions(held, b, origin_pose(body, work.bodies[b]), body.keep_position, turn, Vec3::Zero(), Vec3::Zero());
  }
  return held;
}

std::string StageReport::text() const {
  std::string line = name + ": ";
  if (before == 0 && moved == 0) return line + "consistent as given";
  line += "residual " + digits(before, 3) + " -> " + digits(after, 3);
  line += moved > 0 ? ", largest change " + digits(moved, 3) + " (" + moved_most + ")" : ", nothing moved";
  return line;
}

namespace {

// Moves `state` by least change; `report` takes what was left before and after. Called again it goes on from there.
void move_positions(const Equations& equations, State& state, SaddleSystem& saddle, Workspace& work,
                    const std::vector<bool>& held, StageReport& report) {
  const int nv = equations.sizes().nv, ng = equations.sizes().multipliers();
  Residual residual = equations.make_residual();
  Partials partials = equations.make_partials(Detail::projection);
  const Rates rates = equations.make_rates();
  const Vec weights = change_weights(equations, held), scales = equations.scales();
  const Vec start = state.q;
  Vec change = Vec::Zero(nv), step(nv), b(nv + ng), z(nv + ng), q(state.q.size());
  const auto largest = [&] {
    if (equations.residual(state, rates, joints, residual, work) != Eval::ok || !std::isfinite(residual.g.sum()))
      return infinite;
    for (const int row : equations.velocity_rows()) residual.g[row] = 0;
    return equations.size_of_rows(residual.g);
  };
  double size = largest();
  report.before = report.after = size;
  int worst = 0;
  equations.size_of_rows(residual.g, &worst);
  report.worst_before = equations.name_of_row(worst);
  const double small = std::max(1e-14 * equations.length(), 2 * round_off_at(equations, state));
  int iteration = 0;
  for (; iteration < 60 && size > small; ++iteration) {
    equations.jacobian(state, partials, work);
    saddle.combine_projection(weights, partials.G, Level::position);
    if (!saddle.factor()) break;
    // The change so far is pulled back as far as the constraints allow: least change in all, not step by step. Without
    // the curvature of the constraints this converges linearly, at a rate that grows with the change (0.8 seen after
    // turns by 0.8 rad); what is still open after 40 iterations is closed by plain Newton, whose rate is quadratic.
    const bool pull_back = iteration < 40;
    equations.local(start, state.q, change);
    for (int i = 0; i < nv; ++i) b[i] = std::isinf(weights[i]) || !pull_back ? 0.0 : -weights[i] * change[i];
    b.tail(ng) = -residual.g;
    saddle.solve_refined(b, z, 2);
    if (!std::isfinite(z.sum())) break;
    // Large steps are cut: a rotation by more than half a radian leaves the reach of the linearisation.
    const double largest_step = z.head(nv).cwiseQuotient(scales).lpNorm<Eigen::Infinity>();
    double fraction = std::min(1.0, 0.5 / largest_step);
    const Vec from = state.q;
    double reached = size;
    for (int halving = 0; halving < 10; ++halving, fraction /= 2) {
      step = fraction * z.head(nv);
      equations.retract(from, step, q);
      state.q = q;
      reached = largest();
      if (reached < size || size < 1e-6 * equations.length()) break;
    }
    const double moved = fraction * largest_step;
    size = reached;
    if (moved < 1e-15) break;
    if (moved < 1e-12 && iteration > 2) break;  // the rest of g is a misfit that no motion removes
  }
  report.after = largest();
  report.iterations += iteration;
}

void move_velocities(const Equations& equations, State& state, SaddleSystem& saddle, Workspace& work,
                     const std::vector<bool>& held, StageReport& report) {
  const int nv = equations.sizes().nv, ng = equations.sizes().multipliers();
  Partials partials = equations.make_partials(Detail::projection);
  Vec gdot(ng), b(nv + ng), z(nv + ng);
  equations.velocity_residual(state, gdot, work);
  int worst = 0;
  report.before = report.after = equations.size_of_rows(gdot, &worst);
  report.worst_before = equations.name_of_row(worst);
  equations.jacobian(state, partials, work);
  saddle.combine_projection(change_weights(equations, held), partials.G, Level::velocity);
  if (!saddle.factor()) return;
  for (int iteration = 0; iteration < 2; ++iteration, ++report.iterations) {
    b.head(nv).setZero();
    b.tail(ng) = -gdot;
    saddle.solve_refined(b, z);
    if (!std::isfinite(z.sum())) break;
    state.v += z.head(nv);
    equations.velocity_residual(state, gdot, work);
  }
  report.after = equations.size_of_rows(gdot);
}

// First without bending; where rows stay open, bending from there on; and where that does not close them either,
// all at once from the start, if it comes nearer.
template <class Move>
StageReport move_before_bending(const std::vector<bool>& rigid, const std::vector<bool>& held, Vec& moved, Move&& move,
                                const std::function<double(const StageReport&)>& closed) {
  StageReport report;
  const Vec start = moved;
  move(rigid, report);
  if (rigid == held || report.after <= closed(report)) return report;
  StageReport bent, free;
  if (moved.allFinite()) move(held, bent);
  report.iterations += bent.iterations;
  const bool better = moved.allFinite() && bent.iterations > 0 && std::isfinite(bent.after);
  report.after = better ? bent.after : infinite;
  if (report.after <= closed(report)) return report;
  const Vec reached = moved;
  moved = start;
  move(held, free);
  report.iterations += free.iterations;
  if (better && !(free.after < 0.5 * report.after))
    moved = reached;
  else
    report.after = free.after;
  return report;
}

}  // namespace

StageReport assemble_positions(const Equations& equations, State& state, SaddleSystem& saddle, Workspace& work,
                               const std::vector<bool>& held) {
  StageReport report;
  if (equations.sizes().ng > 0) {
    const Vec start = state.q;
    const double closes = std::max(1e-10 * equations.length(), 32 * round_off_at(equations, state));
    report = move_before_bending(
        with_modes_held(equations, held), held, state.q,
        [&](const std::vector<bool>& stays, StageReport& of) {
          move_positions(equations, state, saddle, work, stays, of);
        },
        [closes](const StageReport&) { return closes; });
    Vec change = Vec::Zero(equations.sizes().nv);
    equations.local(start, state.q, change);
    note_moves(equations, change, report);
  }
  report.name = "positions";
  return report;
}

StageReport assemble_velocities(const Equations& equations, State& state, SaddleSystem& saddle, Workspace& work,
                                const std::vector<bool>& held) {
  StageReport report;
  if (equations.sizes().multipliers() > 0) {
    const Vec start = state.v, scales = equations.scales();
    report = move_before_bending(
        with_modes_held(equations, held), held, state.v,
        [&](const std::vector<bool>& stays, StageReport& of) {
          move_velocities(equations, state, saddle, work, stays, of);
        },
        [&](const StageReport& of) {
          const double speed = equations.length() * state.v.cwiseQuotient(scales).lpNorm<Eigen::Infinity>();
          return 1e-10 * std::max(of.before, speed);
        });
    note_moves(equations, state.v - start, report);
  }
  report.name = "velocities";
  return report;
}

StageReport assemble_kept_velocities(const Equations& equations, State& state, SaddleSystem& saddle, Workspace& work) {
  const std::vector<bool> held = held_columns(equations, true);
  const Model& model = equations.model();
  if (!needs_initial_motions(model)) return assemble_velocities(equations, state, saddle, work, held);
  const Equations driven(with_initial_motions(model, equations, &state, work));
  SaddleSystem driven_saddle(driven);
  Workspace driven_work = driven.make_workspace();
  State driven_state = driven.initial_state();
  driven_state.q = state.q;
  driven_state.v = state.v;
  driven.start(driven_state, driven_work);
  const StageReport report = assemble_velocities(driven, driven_state, driven_saddle, driven_work, held);
  state.v = driven_state.v;
  return report;
}

namespace {

// Names of the constraints with the largest entries of `rows`, worst first.
std::string worst_constraints(const Equations& equations, const Vec& rows, int most) {
  std::vector<std::pair<double, int>> sizes;
  for (int c = 0; c < equations.constraint_count(); ++c) {
    const Equations::ConstraintInfo info = equations.constraint_info(c);
    if (info.rows > 0) sizes.emplace_back(rows.segment(info.first_row, info.rows).lpNorm<Eigen::Infinity>(), c);
  }
  std::sort(sizes.begin(), sizes.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (int i = 0; i < most && i < static_cast<int>(sizes.size()); ++i) {
    const auto& [size, c] = sizes[i];
    if (size < 1e-3 * sizes[0].first) break;
    text += (text.empty() ? "" : ", ") + equations.name_of_constraint(c) + " (" + digits(size, 3) + ")";
  }
  return text;
}

[[noreturn]] void refuse_positions(const Equations& equations, const State& state, const StageReport& report,
                                   const LoopAnalysis& rank, Workspace& work) {
  Residual residual = equations.make_residual();
  equations.residual(state, equations.make_rates(), joints, residual, work);
  for (const int row : equations.velocity_rows()) residual.g[row] = 0;
  std::string hint;
  if (rank.redundant > 0) {
    const std::vector<std::string> names = constraint_names(equations);
    hint =
        "the loop has " + std::to_string(rank.redundant) + " redundant constraint rows, so its data must fit exactly; ";
    if (!rank.removable.empty()) {
      hint += "removable here:";
      for (std::size_t i = 0; i < rank.removable.size() && i < 6; ++i) {
        const RowOfEdge& row = rank.removable[i];
        hint += (i == 0 ? " " : ", ") + names[row.edge] + " row " + std::to_string(row.row + 1);
      }
      hint += "; or ";
    }
    hint += "place the second frame of one of these joints where the assembled pose puts it";
  } else {
    hint =
        "check the joint points and lengths, and start values that are kept; a pose nearer to an assembled one may "
        "help";
  }
  throw Failure({Severity::error, "loop-does-not-close",
                 "the mechanism cannot be assembled: the constraints are violated by " + digits(report.after, 3) +
                     " at best, most by " + worst_constraints(equations, residual.g, 5),
                 hint, equations.constraint_info(0).item->where});
}

// Redundancy at a second pose, a little way along an admissible velocity: what is left there is permanent.
PoseComparison compare_with_moved_pose(const Equations& equations, const State& state, SaddleSystem& saddle,
                                       Workspace& work, const LoopAnalysis& here) {
  const int nv = equations.sizes().nv;
  State moved = state;
  const std::vector<bool> none(static_cast<std::size_t>(nv), false);
  if (moved.v.lpNorm<Eigen::Infinity>() < 1e-9) {
    for (int i = 0; i < nv; ++i) moved.v[i] = std::sin(1.0 + 2.3 * i);  // any direction
    assemble_velocities(equations, moved, saddle, work, none);
  }
  const double size = moved.v.cwiseQuotient(equations.scales()).lpNorm<Eigen::Infinity>();
  if (size > 0) {
    Vec q(moved.q.size());
    equations.retract(moved.q, (0.07 / size) * moved.v, q);
    moved.q = q;
    assemble_positions(equations, moved, saddle, work, none);
  }
  return compare_poses(here, analyse_loops(constraint_graph(equations, moved, work)));
}

// Rows that planar and point bodies cannot satisfy by moving must hold as drawn.
void refuse_out_of_plane(const Equations& equations, const State& state, Workspace& work) {
  const double length = equations.length();
  for (const Equations::DroppedRow& row : equations.dropped_rows(state, work)) {
    const bool angle = equations.constraint(row.constraint).row_unit(row.row) == RowUnit::torque;
    if (std::abs(row.value) < (angle ? 1e-9 : std::max(1e-9 * length, 32 * round_off_at(equations, state)))) continue;
    const Equations::ConstraintInfo info = equations.constraint_info(row.constraint);
    throw Failure({Severity::error, "out-of-plane",
                   "joint '" + info.item->name + "': " + equations.constraint(row.constraint).row_name(row.row) +
                       " is violated by " + digits(row.value, 3) +
                       ", and its planar or point bodies cannot move that way",
                   "place the joint in the plane of its bodies, axis along world z, or make the bodies spatial",
                   info.item->where});
  }
}

// With all that the model keeps of positions, and with the angles and displacements it wants of joints.
StageReport assemble_kept_positions(const Equations& equations, State& state, SaddleSystem& saddle, Workspace& work) {
  const std::vector<bool> held = held_columns(equations, false);
  const Model& model = equations.model();
  if (!needs_initial_motions(model)) return assemble_positions(equations, state, saddle, work, held);
  const Equations driven(with_initial_motions(model, equations, nullptr, work));
  SaddleSystem driven_saddle(driven);
  Workspace driven_work = driven.make_workspace();
  State driven_state = driven.initial_state();
  driven.start(driven_state, driven_work);
  const StageReport report = assemble_positions(driven, driven_state, driven_saddle, driven_work, held);
  if (report.after > 1e-6 * equations.length()) {
    refuse_positions(driven, driven_state, report, analyse_loops(constraint_graph(driven, driven_state, driven_work)),
                     driven_work);
  }
  state.q = driven_state.q;
  return report;
}

// What forces depend on must be unique: of redundant joints the least-norm reactions would be taken for true.
void refuse_doubtful_reactions(const Equations& equations, const State& state, const LoopAnalysis& rank,
                               Workspace& work) {
  if (equations.reactions_seen().empty()) return;
  equations.update(state, work);
  for (const int sensor : equations.reactions_seen()) {
    const Equations::SeenReaction seen = equations.seen_reaction(sensor, work);
    if (seen.constraint >= static_cast<int>(rank.edges.size())) continue;
    const EdgeRank& edge = rank.edges[static_cast<std::size_t>(seen.constraint)];
    double doubt = edge.directions_known ? 0 : 1;
    if (edge.undetermined.cols() > 0)
      doubt = (edge.undetermined.middleRows<3>(seen.torque ? 3 : 0).transpose() * seen.axis).norm();
    if (doubt < 1e-9) continue;
    const Sensor& what = equations.model().sensors[static_cast<std::size_t>(sensor)];
    throw Failure({Severity::error, "reaction-not-unique",
                   what.name + " is not unique, and forces or states depend on it: " +
                       equations.name_of_constraint(seen.constraint) + " belongs to a loop with redundant rows" +
                       (edge.text.empty() ? "" : " (" + edge.text + ")"),
                   "free the loop where the mechanism does, by joints with play or a bushing, or give the load as an "
                   "expression that does not see reactions",
                   what.where});
  }
}

void refuse_loops(const Equations& equations, const State& state, const Rates& rates, Workspace& work,
                  bool before_accelerations) {
  equations.update(state, work, &rates);
  if (std::optional<Problem> problem = equations.loop_without_solution(work, before_accelerations))
    throw Failure(std::move(*problem));
}

void judge_values(const InitialReport& report, const std::string& how) {
  if (std::isfinite(report.stages.back().after)) return;
  throw Failure({Severity::error,
                 "cannot-evaluate",
                 "the constraints have no value where the bodies are " + how,
                 "look for joints whose frames must not coincide: rods, curves about an axis, discs that lie flat",
                 {}});
}

// What is left of the positions' residual: round-off, a warning, or too much.
void judge_misfit(const Equations& equations, const State& state, Workspace& work, InitialReport& report) {
  const double length = equations.length();
  report.misfit = report.stages.back().after;
  const double closed = std::max(1e-10 * length, 32 * round_off_at(equations, state));
  if (report.misfit <= closed) report.misfit = 0;
  if (report.misfit > 1e-6 * length) refuse_positions(equations, state, report.stages.back(), report.rank, work);
  if (report.misfit > 0) {
    report.warnings.push_back({Severity::warning,
                               "loop-misfit",
                               "loops do not close exactly: " + digits(report.misfit, 3) + " is left (length scale " +
                                   digits(length, 3) + " m); worst: " + report.stages.back().worst_before,
                               "give the joint data with more digits; right sides are projected meanwhile",
                               {}});
  }
}

void judge_velocities(const Equations& equations, const State& state, Workspace& work, const InitialReport& report) {
  const StageReport& stage = report.stages.back();
  const double length = equations.length();
  // Loops that do not quite close leave as much of the velocities unsatisfied.
  const double speed =
      state.v.size() > 0 ? length * state.v.cwiseQuotient(equations.scales()).lpNorm<Eigen::Infinity>() : 0;
  if (!(stage.after > std::max(1e-8, 100 * report.misfit / length) * std::max(stage.before, speed))) return;
  Vec gdot(equations.sizes().multipliers());
  equations.velocity_residual(state, gdot, work);
  throw Failure({Severity::error,
                 "velocities-conflict",
                 "the start velocities cannot be made consistent: the constraints are violated by " +
                     digits(stage.after, 3) + ", most by " + worst_constraints(equations, gdot, 5),
                 "release kept velocities, or check motions that prescribe different speeds for the same joint",
                 {}});
}

}  // namespace

InitialReport bring_onto_constraints(const Equations& equations, State& state, SaddleSystem& saddle, Workspace& work) {
  const std::vector<bool> none(static_cast<std::size_t>(equations.sizes().nv), false);
  InitialReport report;
  report.stages.push_back(assemble_positions(equations, state, saddle, work, none));
  judge_values(report, "set");
  equations.start(state, work);
  judge_misfit(equations, state, work, report);
  report.stages.push_back(assemble_velocities(equations, state, saddle, work, none));
  judge_velocities(equations, state, work, report);
  return report;
}

InitialReport make_consistent(const Equations& equations, State& state, Rates& rates, AccelerationSolver& accelerations,
                              Workspace& work, const InitialOptions& options) {
  InitialReport report;
  refuse_out_of_plane(equations, state, work);

  SaddleSystem& saddle = accelerations.saddle();
  report.stages.push_back(assemble_kept_positions(equations, state, saddle, work));
  judge_values(report, "drawn");
  equations.start(state, work);
  if (options.analyse_rank) {
    report.rank = analyse_loops(constraint_graph(equations, state, work));
    if (report.rank.redundant > 0)
      report.permanence = compare_with_moved_pose(equations, state, saddle, work, report.rank);
    refuse_doubtful_reactions(equations, state, report.rank, work);
  }
  judge_misfit(equations, state, work, report);

  report.stages.push_back(assemble_kept_velocities(equations, state, saddle, work));
  judge_velocities(equations, state, work, report);
  equations.accept(state, work);  // angles remember their rates too

  if (!options.accelerations) return report;
  refuse_loops(equations, state, rates, work, true);
  StageReport last;
  last.name = "accelerations";
  if (!accelerations.solve(state, rates, work)) throw Failure(no_accelerations(equations, state, work, "at the start"));
  refuse_loops(equations, state, rates, work, false);
  last.after = accelerations.force_residual();
  note_moves(equations, rates.a, last);
  report.stages.push_back(last);
  return report;
}

}  // namespace trammel
