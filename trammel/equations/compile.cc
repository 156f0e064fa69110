// Model -> Equations: numbering, wiring of elements, and the fixed patterns.
//
// Patterns of constraints are found by probing: every derivative is evaluated at two random large-rotation states, and
// an entry that vanishes at both is not in the pattern. Constraints are analytic in the poses, so an entry that is not
// identically zero vanishes at a random state with probability zero; the tests difference the assembled matrices of
// every model and would show a missing entry. Forces may have branches: they get full blocks.
#include <algorithm>
#include <cmath>
#include <random>

#include "trammel/elements/registry.h"
#include "trammel/equations/equations.h"
#include "trammel/equations/local.h"
#include "trammel/equations/state_rate.h"

namespace trammel {

Equations::Equations(Model model) : model_(std::move(model)) {
  wire_measures(model_);
  sizes_.nu = static_cast<int>(model_.inputs.size());
  sizes_.nx = static_cast<int>(model_.states.size());
  add_bodies();
  add_frames();
  find_length();
  add_constraints();
  add_forces();
  add_states();
  make_patterns();
}

// Here, where all members are complete.
Equations::Equations(Equations&&) noexcept = default;
Equations::~Equations() = default;

void Equations::add_bodies() {
  bodies_.reserve(model_.bodies.size());
  greatest_mass_ = least_nonzero_mass_ = least_nonzero_inertia_ = 0;
  const auto lower = [](double& least, double value) {
    if (value > 0) least = least == 0 ? value : std::min(least, value);
  };
  for (const Body& body : model_.bodies) {
    BodyRecord record;
    record.kind = body.kind;
    record.q0 = sizes_.nq;
    record.v0 = sizes_.nv;
    record.mass = body.mass;
    record.is_length = body.quantity == Quantity::length;
    if (body.kind == BodyKind::planar || body.kind == BodyKind::spatial) record.inertia = body.inertia;
    if (body.kind == BodyKind::planar) {
      record.inertia.setZero();
      record.inertia(2, 2) = body.inertia(2, 2);
      record.height = (body.pose.position + body.pose.rotation * body.center_of_mass).z();
    }
    if (body.kind == BodyKind::spatial) rotation_columns_.push_back(record.v0 + 3);
    sizes_.nq += columns_of(body.kind).count + (body.kind == BodyKind::spatial ? 1 : 0);
    sizes_.nv += columns_of(body.kind).count;
    if (body.kind == BodyKind::scalar) {
      bodies_.push_back(record);
      continue;  // its inertia may be of any unit
    }
    greatest_mass_ = std::max(greatest_mass_, body.mass);
    lower(least_nonzero_mass_, body.mass);
    for (int i = 0; i < 3; ++i) lower(least_nonzero_inertia_, record.inertia(i, i));
    bodies_.push_back(record);
  }
  if (greatest_mass_ == 0) greatest_mass_ = least_nonzero_mass_ = 1;
  if (least_nonzero_inertia_ == 0) least_nonzero_inertia_ = 1;
}

void Equations::add_frames() {
  frames_.reserve(model_.frames.size());
  for (const Frame& frame : model_.frames) {
    RigidFrame f;
    f.body = frame.body;
    f.arm = frame.local.position;
    if (f.body != ground) f.arm -= model_.bodies[f.body].center_of_mass;
    f.R = frame.local.rotation.toRotationMatrix();
    f.aligned = f.R == Mat3::Identity();
    frames_.push_back(f);
  }
}

// Root mean square distance of joint points and centres of mass from their mean: the size of the mechanism.
void Equations::find_length() {
  if (model_.simulation.length) {
    length_ = *model_.simulation.length;
    return;
  }
  std::vector<Vec3> points;
  for (const std::vector<Item>* items : {&model_.joints, &model_.forces}) {
    for (const Item& item : *items) {
      // The first two frames: a force's further ones are only looked at.
      for (std::size_t i = 0; i < item.frames.size() && i < 2; ++i) {
        const int body = model_.frames[item.frames[i]].body;
        if (body == ground || model_.bodies[body].kind != BodyKind::scalar)
          points.push_back(model_.frame_pose(item.frames[i]).position);
      }
    }
  }
  for (const Body& body : model_.bodies) {
    if (body.kind != BodyKind::scalar) points.push_back(body.pose.position + body.pose.rotation * body.center_of_mass);
  }
  Vec3 mean = Vec3::Zero();
  for (const Vec3& p : points) mean += p / static_cast<double>(points.size());
  double sum = 0;
  for (const Vec3& p : points) sum += (p - mean).squaredNorm() / static_cast<double>(points.size());
  // All in one place: the size of the bodies themselves.
  if (sum == 0) {
    for (const Body& body : model_.bodies)
      if (body.kind != BodyKind::scalar && body.mass > 0) sum = std::max(sum, body.inertia.trace() / body.mass);
  }
  length_ = sum > 0 ? std::sqrt(sum) : 1;
}

void Equations::add_constraints() {
  const MakeContext context{model_};
  constraints_.reserve(model_.joints.size() + model_.motions.size());
  for (const std::vector<Item>* items : {&model_.joints, &model_.motions}) {
    const bool is_motion = items == &model_.motions;
    for (const Item& item : *items) {
      ConstraintRecord record;
      record.item = &item;
      record.is_motion = is_motion;
      record.frames = item.frames;
      record.element = find_element(is_motion ? Category::motion : Category::joint, item.type, item.where)
                           .make_constraint(item, context);
      if (record.element->frames() != static_cast<int>(record.frames.size())) {
        throw Failure({Severity::error, "wrong-frames",
                       std::string(is_motion ? "motion '" : "joint '") + item.name + "' acts between " +
                           std::to_string(record.element->frames()) + " frames, " +
                           std::to_string(record.frames.size()) + " are given",
                       "see its page in docs/elements for how it is attached", item.where});
      }
      record.memory = memory_size_;
      memory_size_ += record.element->memory();
      for (int k = 0; k < record.element->rows(); ++k)
        record.has_velocity_rows = record.has_velocity_rows || record.element->level(k) == Level::velocity;
      if (record.element->memory() > 0) with_memory_constraints_.push_back(static_cast<int>(constraints_.size()));
      constraints_.push_back(std::move(record));
    }
  }
}

void Equations::add_forces() {
  const MakeContext context{model_};
  forces_.reserve(model_.forces.size());
  for (const Item& item : model_.forces) {
    ForceRecord record;
    record.item = &item;
    record.frames = item.frames;
    record.element = find_element(Category::force, item.type, item.where).make_force(item, context);
    record.memory = memory_size_;
    memory_size_ += record.element->memory();
    if (record.element->memory() > 0) with_memory_forces_.push_back(static_cast<int>(forces_.size()));
    forces_.push_back(std::move(record));
  }
}

namespace {

Vec random_vector(int n, std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  return Vec::NullaryExpr(n, [&] { return uniform(random); });
}

BodyState random_body(BodyKind kind, double height, double length, std::mt19937& random) {
  BodyState s{Mat3::Identity(), length * random_vector(3, random), length * random_vector(3, random),
              random_vector(3, random)};
  const Vec3 turn = 2 * random_vector(3, random);
  switch (kind) {
    case BodyKind::spatial: s.R = rotation_exp(turn).toRotationMatrix(); break;
    case BodyKind::planar:
      s.R = rotation_exp(Vec3(0, 0, turn.z())).toRotationMatrix();
      s.r.z() = height;
      s.v.z() = 0;
      s.w = Vec3(0, 0, s.w.z());
      break;
    case BodyKind::point: s.w.setZero(); break;
    case BodyKind::scalar:
      s.r = Vec3(s.r.x(), 0, 0);
      s.v = Vec3(s.v.x(), 0, 0);
      s.w.setZero();
      break;
  }
  return s;
}

constexpr double nothing = 1e-12;  // by units: round-off of unit vectors; true entries at random states are far larger

}  // namespace

void Equations::make_patterns() {
  std::mt19937 random(20031);  // any seed: the pattern does not depend on it
  constexpr int probes = 2;
  std::vector<std::vector<BodyState>> states(probes);
  for (auto& bodies : states) {
    for (const BodyRecord& b : bodies_) bodies.push_back(random_body(b.kind, b.height, length_, random));
  }
  State state;
  state.memory.assign(memory_size_, 0.1);
  state.u = random_vector(static_cast<int>(model_.inputs.size() + model_.states.size()), random);
  Rates rates;
  rates.lambda = random_vector(max_rows, random);
  rates.a = random_vector(sizes_.nv, random);

  std::vector<Pattern::Entry> vv, gv;
  struct Wire {
    int local, row, column;
  };
  std::vector<Wire> vv_wires, gv_wires;  // of all elements, in order

  for (const BodyRecord& b : bodies_) {
    for (int i = 0; i < columns_of(b.kind).count; ++i) vv.push_back({b.v0 + i, b.v0 + i});
    if (b.kind != BodyKind::spatial) continue;
    for (int i = 3; i < 6; ++i) {
      for (int j = 3; j < 6; ++j) vv.push_back({b.v0 + i, b.v0 + j});
    }
  }
  // Velocity number of column c (0..5) of a frame's body, -1 if the body does not have it.
  const auto velocity = [&](int frame, int c) {
    const RigidFrame& f = frames_[frame];
    if (f.body == ground) return -1;
    const BodyRecord& b = bodies_[f.body];
    const KindColumns& columns = columns_of(b.kind);
    for (int k = 0; k < columns.count; ++k) {
      if (columns.column[k] == c) return b.v0 + k;
    }
    return -1;
  };
  const auto is_spatial = [&](int frame) {
    const RigidFrame& f = frames_[frame];
    return f.body != ground && bodies_[f.body].kind == BodyKind::spatial;
  };
  // Newton matrices multiply rotation columns by 3 x 3 matrices, so a body's three rotation columns are kept alike.
  const auto close_rotations = [&](auto& mask, const std::vector<int>& frames) {
    for (Eigen::Index row = 0; row < mask.rows(); ++row) {
      for (std::size_t i = 0; i < frames.size(); ++i) {
        const auto at = static_cast<Eigen::Index>(6 * i + 3);
        if (is_spatial(frames[i]) && mask.row(row).segment(at, 3).any()) mask.row(row).segment(at, 3).setConstant(true);
      }
    }
  };

  Local local;
  for (ConstraintRecord& c : constraints_) {
    const int n = static_cast<int>(6 * c.frames.size()), rows = c.element->rows();
    Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic> g_mask(rows, n), v_mask(n, n);
    g_mask.setConstant(false);
    v_mask.setConstant(false);
    c.rows = rows;
    for (int k = 0; k < rows; ++k) c.kept[k] = k;
    std::unique_ptr<Constraint> generic = c.element->generic();
    if (generic) std::swap(c.element, generic);
    for (const auto& bodies : states) {
      localise_constraint(c, state, rates, Detail::all, bodies, local);
      for (int j = 0; j < n; ++j) {
        const double arm = j % 6 < 3 ? 1 : length_;  // an angle moves points by so much
        for (int k = 0; k < rows; ++k) {
          const double least = nothing * (c.element->row_unit(k) == RowUnit::torque ? arm / length_ : arm);
          for (const RowMatrix* m : {&local.G, &local.Gv_q, &local.Ga_q, &local.gamma_q, &local.gamma_v})
            g_mask(k, j) = g_mask(k, j) || std::abs((*m)(k, j)) > least;
        }
        for (int i = 0; i < n; ++i)
          v_mask(i, j) = v_mask(i, j) || std::abs(local.force_q(i, j)) > nothing * arm * (i % 6 < 3 ? 1 / length_ : 1);
      }
    }
    if (generic) std::swap(c.element, generic);
    for (int j = 0; j < n; ++j) {
      if (velocity(c.frames[j / 6], j % 6) >= 0) continue;
      g_mask.col(j).setConstant(false);
      v_mask.col(j).setConstant(false);
      v_mask.row(j).setConstant(false);
    }
    close_rotations(g_mask, c.frames);
    close_rotations(v_mask, c.frames);
    c.rows = 0;
    for (int k = 0; k < rows; ++k) {
      if (g_mask.row(k).any()) c.kept[c.rows++] = k;
    }
    c.first_row = sizes_.multipliers();
    for (int k = 0; k < c.rows; ++k) {
      if (c.element->level(c.kept[k]) == Level::velocity) {
        velocity_rows_.push_back(c.first_row + k);
        ++sizes_.nk;
      } else {
        ++sizes_.ng;
      }
    }
    c.vv_begin = static_cast<int>(vv_wires.size());
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        if (!v_mask(i, j)) continue;
        vv_wires.push_back({i + n * j, velocity(c.frames[i / 6], i % 6), velocity(c.frames[j / 6], j % 6)});
      }
    }
    c.vv_end = static_cast<int>(vv_wires.size());
    c.gv_begin = static_cast<int>(gv_wires.size());
    for (int j = 0; j < n; ++j) {
      for (int k = 0; k < c.rows; ++k) {
        const int row = c.kept[k];
        if (g_mask(row, j)) gv_wires.push_back({row * n + j, c.first_row + k, velocity(c.frames[j / 6], j % 6)});
      }
    }
    c.gv_end = static_cast<int>(gv_wires.size());
  }
  for (ForceRecord& f : forces_) {
    const int n = static_cast<int>(6 * f.frames.size());
    f.vv_begin = static_cast<int>(vv_wires.size());
    for (int j = 0; j < n; ++j) {
      const int column = velocity(f.frames[j / 6], j % 6);
      for (int i = 0; i < n && column >= 0; ++i) {
        const int row = velocity(f.frames[i / 6], i % 6);
        if (row >= 0) vv_wires.push_back({i + n * j, row, column});
      }
    }
    f.vv_end = static_cast<int>(vv_wires.size());
  }

  for (const Wire& w : vv_wires) vv.push_back({w.row, w.column});
  for (const Wire& w : gv_wires) gv.push_back({w.row, w.column});
  row_arms_.setOnes(sizes_.multipliers());
  for (int row = 0; row < sizes_.multipliers(); ++row)
    if (row_unit(row) == RowUnit::torque) row_arms_[row] = length_;
  vv_ = Pattern(sizes_.nv, sizes_.nv, vv);
  gv_ = Pattern(sizes_.multipliers(), sizes_.nv, gv);
  const auto resolve = [](const std::vector<Wire>& wires, const Pattern& pattern, std::vector<std::uint16_t>& locals,
                          std::vector<int>& slots) {
    locals.reserve(wires.size());
    slots.reserve(wires.size());
    for (const Wire& w : wires) {
      locals.push_back(static_cast<std::uint16_t>(w.local));
      slots.push_back(pattern.slot(w.row, w.column));
    }
  };
  resolve(vv_wires, vv_, vv_local_, vv_slot_);
  resolve(gv_wires, gv_, gv_local_, gv_slot_);
  for (BodyRecord& b : bodies_) {
    for (int i = 0; i < std::min(3, columns_of(b.kind).count); ++i) b.slot[i] = vv_.slot(b.v0 + i, b.v0 + i);
    if (b.kind != BodyKind::spatial) continue;
    for (int j = 0; j < 3; ++j) b.slot[3 + j] = vv_.slot(b.v0 + 3, b.v0 + 3 + j);
  }
}

Workspace Equations::make_workspace() const {
  Workspace work;
  work.bodies.resize(bodies_.size());
  return work;
}

Residual Equations::make_residual() const {
  return {Vec::Zero(sizes_.nv), Vec::Zero(sizes_.nv), Vec::Zero(sizes_.multipliers())};
}

Partials Equations::make_partials(Detail detail) const {
  Partials p;
  p.M.setZero(vv_.size());
  p.G.setZero(gv_.size());
  if (detail == Detail::projection) return p;
  for (Vec* v : {&p.Ma_q, &p.force_q, &p.force_v}) v->setZero(vv_.size());
  if (sizes_.nk > 0) p.K_q.setZero(gv_.size());
  if (detail == Detail::all) {
    for (Vec* v : {&p.Gv_q, &p.Ga_q, &p.gamma_q, &p.gamma_v}) v->setZero(gv_.size());
    p.force_t.setZero(sizes_.nv);
    for (Vec* v : {&p.g_t, &p.gamma, &p.gamma_t, &p.Ga_t}) v->setZero(sizes_.multipliers());
  }
  return p;
}

Rates Equations::make_rates() const {
  Rates r;
  r.a.setZero(sizes_.nv);
  r.lambda.setZero(sizes_.multipliers());
  r.xdot.setZero(sizes_.nx);
  return r;
}

State Equations::initial_state() const {
  State s;
  s.q.resize(sizes_.nq);
  s.v.resize(sizes_.nv);
  s.memory.assign(memory_size_, 0);
  s.u.resize(sizes_.nu + sizes_.nx);
  for (int i = 0; i < sizes_.nx; ++i) s.u[sizes_.nu + i] = model_.states[i].value;
  for (int i = 0; i < sizes_.nu; ++i) s.u[i] = model_.inputs[i].value;
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const BodyRecord& b = bodies_[i];
    const Body& body = model_.bodies[i];
    if (b.kind == BodyKind::scalar) {
      s.q[b.q0] = body.pose.position.x();
      s.v[b.v0] = body.velocity.x();
      continue;
    }
    const Vec3 arm = body.pose.rotation * body.center_of_mass;
    const Vec3 r = body.pose.position + arm, v = body.velocity + body.angular_velocity.cross(arm);
    s.q.segment<3>(b.q0) = r;
    s.v.segment<3>(b.v0) = v;
    if (b.kind == BodyKind::planar) {
      s.q[b.q0 + 2] = 2 * std::atan2(body.pose.rotation.z(), body.pose.rotation.w());
      s.v[b.v0 + 2] = body.angular_velocity.z();
    }
    if (b.kind == BodyKind::spatial) {
      const Quat q = body.pose.rotation.normalized();
      s.q.segment<4>(b.q0 + 3) << q.w(), q.x(), q.y(), q.z();
      s.v.segment<3>(b.v0 + 3) = q.conjugate() * body.angular_velocity;
    }
  }
  return s;
}

Equations::ConstraintInfo Equations::constraint_info(int i) const {
  const ConstraintRecord& c = constraints_[i];
  return {c.item, c.is_motion, c.first_row, c.rows};
}

int Equations::constraint_of_row(int row) const {
  // Rows ascend with the constraints.
  auto after = std::upper_bound(constraints_.begin(), constraints_.end(), row,
                                [](int r, const ConstraintRecord& c) { return r < c.first_row; });
  while (after != constraints_.begin()) {
    --after;
    if (after->rows > 0) break;
  }
  return static_cast<int>(after - constraints_.begin());
}

RowUnit Equations::row_unit(int row) const {
  const ConstraintRecord& c = constraints_[constraint_of_row(row)];
  return c.element->row_unit(c.kept[row - c.first_row]);
}

Level Equations::level(int row) const {
  const ConstraintRecord& c = constraints_[constraint_of_row(row)];
  return c.element->level(c.kept[row - c.first_row]);
}

std::string Equations::name_of_row(int row) const {
  const ConstraintRecord& c = constraints_[constraint_of_row(row)];
  return std::string(c.is_motion ? "motion '" : "joint '") + c.item->name +
         "': " + c.element->row_name(c.kept[row - c.first_row]);
}

int Equations::body_of_velocity(int i) const {
  const auto after =
      std::upper_bound(bodies_.begin(), bodies_.end(), i, [](int v, const BodyRecord& b) { return v < b.v0; });
  return static_cast<int>(after - bodies_.begin()) - 1;
}

std::string Equations::name_of_velocity(int i) const {
  static const char* const names[] = {"position x",       "position y",       "position z",
                                      "rotation about x", "rotation about y", "rotation about z"};
  const int body = body_of_velocity(i);
  const BodyRecord& b = bodies_[body];
  if (b.kind == BodyKind::scalar) return "coordinate '" + model_.bodies[body].name + "'";
  return "body '" + model_.bodies[body].name + "': " + names[columns_of(b.kind).column[i - b.v0]];
}

Quantity Equations::quantity_of_velocity(int i) const {
  const auto body = static_cast<std::size_t>(body_of_velocity(i));
  if (bodies_[body].kind == BodyKind::scalar) return model_.bodies[body].quantity;
  return is_angle(i) ? Quantity::angle : Quantity::length;
}

const std::vector<int>& Equations::constraint_frames(int i) const { return constraints_[i].frames; }

long Equations::memory_bytes() const {
  const auto bytes = [](const auto& v) { return static_cast<long>(v.capacity() * sizeof(v[0])); };
  long sum = bytes(bodies_) + bytes(frames_) + bytes(constraints_) + bytes(forces_) + bytes(rotation_columns_) +
             bytes(vv_local_) + bytes(gv_local_) + bytes(vv_slot_) + bytes(gv_slot_) + bytes(vv_.row()) +
             bytes(vv_.start()) + bytes(gv_.row()) + bytes(gv_.start());
  for (const ConstraintRecord& c : constraints_) sum += bytes(c.frames) + 160;  // the element and its rows, about
  return sum;
}

}  // namespace trammel
