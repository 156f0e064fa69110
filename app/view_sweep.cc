#include "app/view_sweep.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "trammel/elements/build.h"
#include "trammel/elements/registry.h"
#include "trammel/equations/saddle.h"
#include "trammel/formulate/partition.h"
#include "trammel/initial/consistent.h"
#include "trammel/model/modal_data.h"

namespace trammel {
namespace {

constexpr int most_velocities = 1200;  // of a model that is tried
constexpr int rows_each_way = 45;      // 4 degrees of a full turn
constexpr double least_part = 1e-3;    // of a row: a smaller step that still fails is the end of the range
constexpr double greatest_bend = 0.1, greatest_twist = 0.3;  // of a mode, L and rad: modes describe small deformations
constexpr double greatest_move = 0.3;  // L or rad within a step; more may be a jump to another way of assembling

struct Freedom {
  int column = 0;  // of the velocities
  bool of_joint = false;
  Sweep about;  // without its rows
};

// Angles and displacements of joints become coordinates of the model, so that every freedom is one column.
struct Tried {
  Model model;
  std::vector<Freedom> of_joints;  // columns are set when the model is compiled
};

void add_coordinate(Tried& tried, const Item& joint, Quantity quantity) {
  Model& model = tried.model;
  const bool turns = quantity == Quantity::angle;
  Body coordinate;
  coordinate.name = (turns ? "angle of " : "displacement of ") + joint.name;
  coordinate.kind = "scalar";
  coordinate.quantity = quantity;
  const int body = model.add_body(coordinate);
  Fields fields;
  fields.set("scales", std::vector<double>{1, -1});
  fields.set("of", std::string(turns ? "angle displacement" : "displacement displacement"));
  // The frame of a scalar coordinate moves along x.
  add_joint(model, "coupler", coordinate.name,
            {joint.frames[0], joint.frames[1], model.add_frame_at(ground, Vec3::Zero(), Vec3::UnitX()),
             model.add_floating_frame(body, {})},
            fields);
  Freedom freedom;
  freedom.of_joint = true;
  freedom.about.of = "joint";
  freedom.about.element = joint.name;
  freedom.about.quantity = turns ? "angle" : "displacement";
  freedom.about.unit = si_unit(quantity);
  tried.of_joints.push_back(freedom);
}

Tried with_joint_coordinates(Model model) {
  model.motions.clear();
  Tried tried{std::move(model), {}};
  const std::vector<Item> joints = tried.model.joints;
  for (const Item& joint : joints) {
    const AxisFreedoms axis = axis_freedoms(joint.type);
    if (axis.turns) add_coordinate(tried, joint, Quantity::angle);
    if (axis.slides) add_coordinate(tried, joint, Quantity::length);
  }
  return tried;
}

Freedom freedom_of_body(const Equations& equations, int body, int k) {
  static constexpr std::array<const char*, 6> parts{"x", "y", "z", "turn about x", "turn about y", "turn about z"};
  const Body& b = equations.model().bodies[static_cast<std::size_t>(body)];
  const bool scalar = !kind_of(b).is_place;
  Freedom freedom;
  freedom.column = equations.first_velocity(body) + k;
  freedom.about.of = scalar ? "coordinate" : "body";
  freedom.about.element = b.name;
  const BodyVelocity& velocity = equations.velocity(freedom.column);
  if (!scalar)
    freedom.about.quantity = velocity.part >= 0 ? parts[static_cast<std::size_t>(velocity.part)] : velocity.name;
  freedom.about.unit = si_unit(equations.quantity_of_velocity(freedom.column));
  return freedom;
}

// Moves one freedom of a compiled model at a time.
class Sweeper {
 public:
  Sweeper(Tried tried, const State& drawn, double length)
      : length_(length),
        own_bodies_(tried.model.bodies.size() - tried.of_joints.size()),
        freedoms_(std::move(tried.of_joints)),
        equations_(std::move(tried.model)),
        work_(equations_.make_workspace()),
        saddle_(equations_),
        start_(equations_.initial_state()) {
    start_.t = drawn.t;
    start_.q.head(drawn.q.size()) = drawn.q;
    start_.u = drawn.u;
    for (std::size_t i = 0; i < freedoms_.size(); ++i)
      freedoms_[i].column = equations_.first_velocity(static_cast<int>(own_bodies_ + i));
    for (std::size_t b = 0; b < own_bodies_; ++b) {
      for (int k = 0; k < std::ssize(equations_.body(static_cast<int>(b)).velocities()); ++k)
        freedoms_.push_back(freedom_of_body(equations_, static_cast<int>(b), k));
    }
    held_.assign(static_cast<std::size_t>(equations_.sizes().nv), false);
  }

  // False: the coordinates of the joints do not fit to the positions as drawn.
  bool prepare() {
    equations_.start(start_, work_);
    std::vector<bool> bodies(held_.size(), false);
    std::fill_n(bodies.begin(), own_bodies_ == 0 ? 0 : end_of_own_columns(), true);
    const StageReport report = assemble_positions(equations_, start_, saddle_, work_, bodies);
    misfit_ = std::max(1e-9 * equations_.length(), 2 * report.after);
    equations_.accept(start_, work_);
    return report.after < 1e-4 * equations_.length();
  }

  // Joints before bodies, in the model's order.
  std::vector<Freedom> independent() {
    Partials partials = equations_.make_partials(Detail::projection);
    equations_.jacobian(start_, partials, work_);
    std::vector<bool> counts(static_cast<std::size_t>(equations_.sizes().multipliers()), true);
    for (const int row : equations_.velocity_rows()) counts[static_cast<std::size_t>(row)] = false;
    // Small weights make a column independent: first joints, then turns, then early bodies, which carry the others.
    Vec weights(equations_.sizes().nv);
    std::vector<int> joints;
    for (std::size_t i = 0; i < freedoms_.size(); ++i) {
      const int column = freedoms_[i].column;
      const bool joint = freedoms_[i].of_joint, turns = equations_.quantity_of_velocity(column) == Quantity::angle;
      const double place = joint ? static_cast<double>(i) : equations_.body_of_velocity(column);
      const double first = joint ? 0.1 : turns ? 0.3 : 0.5;
      weights[column] = first + 0.5 * place / static_cast<double>(freedoms_.size());
      if (joint) joints.push_back(column);
    }
    const std::vector<int> chosen =
        choose_independent(equations_.gv(), partials.G, equations_.scales(), weights, counts, joints).independent;
    std::vector<Freedom> found;
    for (const Freedom& freedom : freedoms_) {
      if (std::find(chosen.begin(), chosen.end(), freedom.column) == chosen.end()) continue;
      held_[static_cast<std::size_t>(freedom.column)] = true;
      found.push_back(freedom);
    }
    return found;
  }

  Sweep sweep(const Freedom& freedom) {
    Sweep sweep = freedom.about;
    std::vector<Row> below, above;
    sweep.ends_low = !walk(freedom.column, -1, below);
    sweep.ends_high = !walk(freedom.column, 1, above);
    const double drawn = value_at_start(freedom);
    sweep.poses.resize(7 * placed_bodies());
    sweep.modal.resize(modal_coordinates());
    const auto add = [&](double moved, const State& state) {
      sweep.values.push_back(drawn + moved);
      add_poses(state, sweep.poses);
      add_modal(state, sweep.modal);
    };
    for (auto row = below.rbegin(); row != below.rend(); ++row) add(row->moved, row->state);
    sweep.drawn = below.size();
    add(0, start_);
    for (const Row& row : above) add(row.moved, row.state);
    return sweep;
  }

 private:
  std::ptrdiff_t end_of_own_columns() const {
    return own_bodies_ < equations_.model().bodies.size() ? equations_.first_velocity(static_cast<int>(own_bodies_))
                                                          : static_cast<std::ptrdiff_t>(equations_.sizes().nv);
  }

  std::size_t placed_bodies() const {
    const auto begin = equations_.model().bodies.begin();
    return static_cast<std::size_t>(std::count_if(begin, begin + static_cast<std::ptrdiff_t>(own_bodies_),
                                                  [](const Body& b) { return kind_of(b).is_place; }));
  }

  std::size_t modal_coordinates() const {
    std::size_t count = 0;
    for (const Body& body : equations_.model().bodies)
      if (body.modal != nullptr) count += static_cast<std::size_t>(body.modal->modes());
    return count;
  }

  // Of a coordinate its value, of a column of a body how far it has moved.
  double value_at_start(const Freedom& freedom) const {
    const int body = equations_.body_of_velocity(freedom.column);
    if (kind_of(equations_.model().bodies[static_cast<std::size_t>(body)]).is_place) return 0;
    return start_.q[equations_.first_coordinate(body)];
  }

  double reach(int column) const {
    switch (equations_.quantity_of_velocity(column)) {
      case Quantity::angle: return std::numbers::pi;
      case Quantity::length: return length_;
      default: return reach_of_mode(equations_.velocity(column));
    }
  }

  // A unit of a modal coordinate may bend its body by metres or by nothing that is seen. 1 for what is no mode.
  double reach_of_mode(const BodyVelocity& mode) const {
    double reach = std::numeric_limits<double>::infinity();
    if (mode.displacement > 0) reach = greatest_bend * length_ / mode.displacement;
    if (mode.turn > 0) reach = std::min(reach, greatest_twist / mode.turn);
    return std::isfinite(reach) ? reach : 1;
  }

  struct Row {
    double moved = 0;
    State state;
  };

  // From the mechanism as drawn to the end of the reach. False: it cannot be assembled so far; the last row is as far
  // as it goes.
  bool walk(int column, double sign, std::vector<Row>& rows) {
    const double spacing = reach(column) / rows_each_way;
    Vec trend = Vec::Zero(equations_.sizes().nv);  // change for each unit of the freedom
    trend[column] = sign;
    State now = start_;
    double moved = 0, h = spacing;
    for (int k = 1; k <= rows_each_way; ++k) {
      for (double left = k * spacing - moved; left > 1e-9 * spacing; left = k * spacing - moved) {
        const double step = std::min(h, left);
        State next = now;
        if (advance(column, sign, step, trend, next)) {
          now = next;
          moved += step;
          h = std::min(spacing, 2 * h);
        } else if (h = step / 2; h < least_part * spacing) {
          if (moved > (k - 1) * spacing) rows.push_back({sign * moved, now});
          return false;
        }
      }
      rows.push_back({sign * moved, now});
    }
    return true;
  }

  // One step along the freedom, its end brought onto the joints with all freedoms held.
  bool advance(int column, double sign, double step, Vec& trend, State& state) {
    const Vec from = state.q;
    Vec change = step * trend;
    for (Eigen::Index i = 0; i < change.size(); ++i) {
      if (held_[static_cast<std::size_t>(i)]) change[i] = i == column ? sign * step : 0;
    }
    equations_.retract(from, change, state.q);
    const StageReport report = assemble_positions(equations_, state, saddle_, work_, held_);
    equations_.local(from, state.q, change);
    const double move = change.cwiseQuotient(equations_.scales()).lpNorm<Eigen::Infinity>();
    if (!(report.after <= misfit_) || !(move < greatest_move)) return false;
    trend = change / step;
    equations_.accept(state, work_);
    return true;
  }

  void add_poses(const State& state, ViewColumns& poses) {
    equations_.update(state, work_);
    std::size_t column = 0;
    for (std::size_t b = 0; b < own_bodies_; ++b) {
      const Body& body = equations_.model().bodies[b];
      if (!kind_of(body).is_place) continue;
      const FrameState at = equations_.frame(equations_.origin(static_cast<int>(b)), work_);
      const Vec3 origin = at.p;
      Quat q(at.R);
      // Of the two quaternions of an orientation the one near the row before: smooth columns pack well.
      const auto last = [&](std::size_t i) { return poses[column + i].empty() ? 0 : poses[column + i].back(); };
      if (q.w() * last(3) + q.x() * last(4) + q.y() * last(5) + q.z() * last(6) < 0) q.coeffs() *= -1;
      for (const double x : {origin.x(), origin.y(), origin.z(), q.w(), q.x(), q.y(), q.z()})
        poses[column++].push_back(x);
    }
  }

  void add_modal(const State& state, ViewColumns& modal) const {
    std::size_t column = 0;
    for (std::size_t b = 0; b < own_bodies_; ++b) {
      if (equations_.model().bodies[b].modal == nullptr) continue;
      const BodyElement& body = equations_.body(static_cast<int>(b));
      const int behind = body.at().q + body.coordinates(), modes = equations_.model().bodies[b].modal->modes();
      for (int i = behind - modes; i < behind; ++i) modal[column++].push_back(state.q[i]);
    }
  }

  double length_;  // of the model itself: coordinates of joints that are tried count as bodies
  std::size_t own_bodies_;
  std::vector<Freedom> freedoms_;  // all that may be one
  Equations equations_;
  Workspace work_;
  SaddleSystem saddle_;
  State start_;
  std::vector<bool> held_;
  double misfit_ = 0;
};

}  // namespace

std::vector<Sweep> sweep_freedoms(const Equations& equations, const State& state, std::size_t most) {
  if (equations.sizes().nv > most_velocities) return {};
  Sweeper sweeper(with_joint_coordinates(equations.model()), state, equations.length());
  if (!sweeper.prepare()) return {};
  std::vector<Sweep> sweeps;
  for (const Freedom& freedom : sweeper.independent()) {
    if (sweeps.size() == most) break;
    sweeps.push_back(sweeper.sweep(freedom));
  }
  return sweeps;
}

}  // namespace trammel
