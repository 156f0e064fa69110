// Model -> Equations: numbering, wiring of elements, and the fixed patterns.
//
// Patterns of constraints are found by probing: every derivative is evaluated at two random large-rotation states, and
// an entry that vanishes at both is not in the pattern. Constraints are analytic in the poses, so an entry that is not
// identically zero vanishes at a random state with probability zero; the tests difference the assembled matrices of
// every model and would show a missing entry. Forces may have branches: they get full blocks.
#include <algorithm>
#include <cmath>
#include <random>

#include "trammel/elements/measure.h"
#include "trammel/elements/registry.h"
#include "trammel/elements/sensor.h"
#include "trammel/equations/equations.h"
#include "trammel/equations/local.h"
#include "trammel/math/rotation.h"

namespace trammel {

Equations::Equations(Model model, Pairs pairs) : model_(std::move(model)) {
  add_own_rows(model_);
  add_held_rows(model_);
  wire_measures(model_);
  sizes_.nu = static_cast<int>(model_.inputs.size());
  sizes_.nx = static_cast<int>(model_.states.size());
  sizes_.nV = static_cast<int>(model_.variables.size());
  add_bodies();
  add_frames();
  find_length();
  add_constraints();
  add_forces();
  add_states();
  add_variables();
  find_sets();
  if (pairs == Pairs::near && pairs_in_sets() > 0) choose_pairs(initial_state().q, first_margin * length_);
  make_patterns();
  find_seers();
  add_switches();
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
  int entries = 0;
  for (const Body& body : model_.bodies) {
    std::unique_ptr<BodyElement> element = kind_of(body).make(body);
    element->place({static_cast<int>(bodies_.size()), sizes_.nq, sizes_.nv, extra_size_, entries});
    if (const auto rotation = element->rotation()) rotation_columns_.push_back(sizes_.nv + *rotation);
    const auto& velocities = element->velocities();
    for (int i = 0; i < std::ssize(velocities); ++i) {
      if (velocities[i].quantity == Quantity::length) lengths_.push_back({sizes_.nv + i, sizes_.nq + i});
      if (velocities[i].displacement > 0 || velocities[i].turn > 0) modal_.push_back(sizes_.nv + i);
    }
    if (!element->constant_mass()) varying_mass_ = static_cast<int>(bodies_.size());
    sizes_.nq += element->coordinates();
    sizes_.nv += static_cast<int>(velocities.size());
    extra_size_ += element->extra();
    entries += static_cast<int>(element->entries().size());
    greatest_mass_ = std::max(greatest_mass_, element->weight());
    lower(least_nonzero_mass_, element->weight());
    const Vec3 moments = element->moments();
    for (int i = 0; i < 3; ++i) lower(least_nonzero_inertia_, moments[i]);
    rigid_.push_back(element->rigid());
    bodies_.push_back(std::move(element));
  }
  if (greatest_mass_ == 0) greatest_mass_ = least_nonzero_mass_ = 1;
  if (least_nonzero_inertia_ == 0) least_nonzero_inertia_ = 1;
  for (const BodyDescription& kind : body_registry()) {
    std::vector<const BodyElement*> alike;
    for (std::size_t b = 0; b < bodies_.size(); ++b)
      if (model_.bodies[b].kind == kind.key) alike.push_back(bodies_[b].get());
    if (!alike.empty()) groups_.push_back(kind.make_group(alike));
  }
}

void Equations::add_frames() {
  frames_.reserve(model_.frames.size());
  for (const Frame& frame : model_.frames) {
    BodyFrame f;
    f.body = frame.body;
    f.arm = frame.local.position;
    if (f.body != ground) f.arm -= model_.bodies[f.body].center_of_mass;
    f.R = frame.local.rotation.toRotationMatrix();
    f.aligned = f.R == Mat3::Identity();
    f.rigid = f.body == ground || rigid_[f.body] != nullptr;
    if (!f.rigid && !frame.floating) f.node = bodies_[f.body]->node_at(f.arm);
    frames_.push_back(f);
  }
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    BodyFrame origin;
    origin.body = static_cast<int>(b);
    origin.arm = -model_.bodies[b].center_of_mass;
    origin.rigid = rigid_[b] != nullptr;
    origins_.push_back(origin);
  }
  refuse_frames();
}

void Equations::refuse_frames() const {
  for (std::size_t i = 0; i < frames_.size(); ++i) {
    const BodyFrame& f = frames_[i];
    const Frame& frame = model_.frames[i];
    const bool goes_anywhere = f.body == ground || (frame.floating && kind_of(model_.bodies[f.body]).is_flexible);
    const std::string why = goes_anywhere ? "" : bodies_[f.body]->refuse(f);
    if (why.empty()) continue;
    std::string who = "frame '" + frame.name + "'";
    Location where = frame.where;
    for (const std::vector<Item>* items : {&model_.joints, &model_.motions, &model_.forces}) {
      for (const Item& item : *items) {
        if (!frame.name.empty() ||
            std::find(item.frames.begin(), item.frames.end(), static_cast<int>(i)) == item.frames.end())
          continue;
        who = "'" + item.name + "'";
        where = item.where;
      }
    }
    throw Failure({Severity::error, "no-such-place", who + " on body '" + model_.bodies[f.body].name + "': " + why,
                   kind_of(model_.bodies[f.body]).is_flexible
                       ? "attach it to that node, or name the node that stands there under `interfaces`"
                       : "attach it to a point of the body, or use a spatial or planar body",
                   where});
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
        if (body == ground || kind_of(model_.bodies[body]).is_place)
          points.push_back(model_.frame_pose(item.frames[i]).position);
      }
    }
  }
  for (const Body& body : model_.bodies) {
    if (kind_of(body).is_place) points.push_back(body.pose.position + body.pose.rotation * body.center_of_mass);
  }
  Vec3 mean = Vec3::Zero();
  for (const Vec3& p : points) mean += p / static_cast<double>(points.size());
  double sum = 0;
  for (const Vec3& p : points) sum += (p - mean).squaredNorm() / static_cast<double>(points.size());
  // All in one place: the size of the bodies themselves.
  if (sum == 0) {
    for (const Body& body : model_.bodies)
      if (kind_of(body).is_place && body.mass > 0) sum = std::max(sum, body.inertia.trace() / body.mass);
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
      record.element =
          item.of_force >= 0
              ? find_element(Category::force, item.type, item.where).make_held(model_.forces[item.of_force], context)
              : find_element(is_motion ? Category::motion : Category::joint, item.type, item.where)
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
    if (!record.element->modes().empty()) with_modes_.push_back(static_cast<int>(forces_.size()));
    forces_.push_back(std::move(record));
  }
  for (std::size_t c = 0; c < constraints_.size(); ++c) {
    const int force = constraints_[c].item->of_force;
    if (force < 0) continue;
    forces_[force].held = static_cast<int>(c);
    constraints_[c].memory = forces_[force].memory;
  }
}

namespace {

Vec random_vector(int n, std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  return Vec::NullaryExpr(n, [&] { return uniform(random); });
}

constexpr double nothing = 1e-12;  // by units: round-off of unit vectors; true entries at random states are far larger

}  // namespace

// The patterns while they are made.
struct Equations::Wiring {
  std::vector<Workspace> probes;  // at random states
  State state;
  Rates rates;
  std::vector<Pattern::Entry> vv, gv, vl;
  std::vector<Wire> vv_wires, gv_wires;  // of all elements, in order
};

std::vector<Equations::Column> Equations::columns_of(const ElementRecord& record) const {
  std::vector<Column> out(record.columns.back());
  const std::vector<int> velocities = velocities_of(record);
  const Vec units = scales();
  for (std::size_t i = 0; i < record.frames.size(); ++i) {
    const int body = frames_[record.frames[i]].body;
    const bool six = body == ground || rigid_[body] != nullptr;
    for (int k = record.columns[i]; k < record.columns[i + 1]; ++k) {
      out[k].velocity = velocities[k];
      if (!six) out[k].arm = length_ / units[velocities[k]];
      if (six && k - record.columns[i] >= 3) out[k].arm = length_;
    }
  }
  return out;
}

// Of each column; -1: the body does not have it.
std::vector<int> Equations::velocities_of(const ElementRecord& record) const {
  std::vector<int> out(record.columns.back(), -1);
  for (std::size_t i = 0; i < record.frames.size(); ++i) {
    const int body = frames_[record.frames[i]].body;
    if (body == ground) continue;
    const BodyElement& b = *bodies_[body];
    int* own = out.data() + record.columns[i];
    for (int k = 0; k < std::ssize(b.velocities()); ++k)
      own[rigid_[body] != nullptr ? rigid_[body]->column[k] : k] = b.at().v + k;
  }
  return out;
}

// Newton matrices multiply rotation columns by 3 x 3 matrices, so a body's three rotation columns are kept alike.
void Equations::close_rotations(const ElementRecord& record, Mask& mask) const {
  for (std::size_t i = 0; i < record.frames.size(); ++i) {
    const int body = frames_[record.frames[i]].body;
    if (body == ground || !bodies_[body]->rotation()) continue;
    const int at = record.columns[i] + (rigid_[body] != nullptr ? 3 : *bodies_[body]->rotation());
    for (Eigen::Index row = 0; row < mask.rows(); ++row)
      if (mask.row(row).segment(at, 3).any()) mask.row(row).segment(at, 3).setConstant(true);
  }
}

// Which places of a constraint's matrices are not zero at random states.
void Equations::probe(ConstraintRecord& c, Wiring& wiring, const std::vector<Column>& columns, Mask& g_mask,
                      Mask& v_mask) const {
  const int n = c.columns.back(), rows = c.element->rows();
  g_mask.setConstant(rows, n, false);
  v_mask.setConstant(n, n, false);
  Local local;
  std::unique_ptr<Constraint> generic = c.element->generic();
  if (generic) std::swap(c.element, generic);
  for (Workspace& work : wiring.probes) {
    const ConstraintValues values = localise(c, wiring.state, wiring.rates, Detail::all, work, local);
    for (int j = 0; j < n; ++j) {
      const double arm = columns[j].arm;
      for (int k = 0; k < rows; ++k) {
        const double least = nothing * (c.element->row_unit(k) == RowUnit::torque ? arm / length_ : arm);
        for (const double* m : {values.G, values.Gv_q, values.Ga_q, values.gamma_q, values.gamma_v})
          g_mask(k, j) = g_mask(k, j) || std::abs(m[k * n + j]) > least;
      }
      for (int i = 0; i < n; ++i)
        v_mask(i, j) = v_mask(i, j) || std::abs(values.force_q[i + n * j]) > nothing * arm * columns[i].arm / length_;
    }
  }
  if (generic) std::swap(c.element, generic);
  for (int j = 0; j < n; ++j) {
    if (columns[j].velocity >= 0) continue;
    g_mask.col(j).setConstant(false);
    v_mask.col(j).setConstant(false);
    v_mask.row(j).setConstant(false);
  }
  close_rotations(c, g_mask);
  close_rotations(c, v_mask);
}

void Equations::wire(ConstraintRecord& c, Wiring& wiring) {
  const std::vector<Column> columns = columns_of(c);
  const int n = c.columns.back(), rows = c.element->rows();
  c.rows = rows;
  for (int k = 0; k < rows; ++k) c.kept[k] = k;
  Mask g_mask, v_mask;
  probe(c, wiring, columns, g_mask, v_mask);
  c.rows = 0;
  for (int k = 0; k < rows; ++k)
    if (g_mask.row(k).any()) c.kept[c.rows++] = k;
  c.first_row = sizes_.multipliers();
  for (int k = 0; k < c.rows; ++k) {
    if (c.element->level(c.kept[k]) == Level::velocity) {
      velocity_rows_.push_back(c.first_row + k);
      ++sizes_.nk;
    } else {
      ++sizes_.ng;
    }
  }
  c.vv_begin = static_cast<int>(wiring.vv_wires.size());
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i)
      if (v_mask(i, j)) wiring.vv_wires.push_back({i + n * j, columns[i].velocity, columns[j].velocity});
  c.vv_end = static_cast<int>(wiring.vv_wires.size());
  c.gv_begin = static_cast<int>(wiring.gv_wires.size());
  for (int j = 0; j < n; ++j) {
    for (int k = 0; k < c.rows; ++k) {
      const int row = c.kept[k];
      if (g_mask(row, j)) wiring.gv_wires.push_back({row * n + j, c.first_row + k, columns[j].velocity});
    }
  }
  c.gv_end = static_cast<int>(wiring.gv_wires.size());
}

// Forces may have branches: they get full blocks.
void Equations::wire(ForceRecord& f, std::vector<Wire>& wires) const {
  const std::vector<int> velocities = velocities_of(f);
  const int n = f.columns.back();
  f.vv_begin = static_cast<int>(wires.size());
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i)
      if (velocities[j] >= 0 && velocities[i] >= 0) wires.push_back({i + n * j, velocities[i], velocities[j]});
  }
  f.vv_end = static_cast<int>(wires.size());
}

Equations::Wiring Equations::start_wiring() const {
  std::mt19937 random(20031);  // any seed: the pattern does not depend on it
  Wiring wiring;
  State& state = wiring.state;
  state = initial_state();
  state.memory.assign(memory_size_, 0.1);
  const Vec drawn = state.q;
  for (int probe = 0; probe < 2; ++probe) {
    const Vec y = scales();
    Vec delta = y.cwiseProduct(random_vector(sizes_.nv, random));
    for (int i = 0; i < sizes_.nv; ++i)
      if (is_angle(i)) delta[i] *= 2;
    retract(drawn, delta, state.q);
    state.v = y.cwiseProduct(random_vector(sizes_.nv, random));
    Workspace& work = wiring.probes.emplace_back(make_workspace());
    body_states(state.q, state.v, work);
  }
  state.u = random_vector(static_cast<int>(model_.inputs.size() + model_.states.size()), random);
  wiring.rates.lambda = random_vector(max_rows, random);
  wiring.rates.a = random_vector(sizes_.nv, random);
  return wiring;
}

void Equations::make_patterns() {
  for (ConstraintRecord& c : constraints_) set_columns(c);
  for (ForceRecord& f : forces_) set_columns(f);
  for (ExpressionRecord& x : states_) set_columns(x);
  for (VariableRecord& variable : variables_) set_columns(variable);
  Wiring wiring = start_wiring();
  refuse_spin(wiring);
  for (const auto& body : bodies_)
    for (const auto& [i, j] : body->entries()) wiring.vv.push_back({body->at().v + i, body->at().v + j});
  for (ConstraintRecord& c : constraints_) wire(c, wiring);
  std::size_t next = 0;
  for (int f = 0; f < force_count(); ++f) {
    if (next < of_sets_.size() && of_sets_[next] == f)
      ++next;
    else
      wire(forces_[f], wiring.vv_wires);
  }
  find_multipliers();
  wire_chains(wiring.vv, wiring.vl);
  for (const Wire& w : wiring.gv_wires) wiring.gv.push_back({w.row, w.column});
  row_arms_.setOnes(sizes_.multipliers());
  for (int row = 0; row < sizes_.multipliers(); ++row)
    if (row_unit(row) == RowUnit::torque) row_arms_[row] = length_;
  gv_ = Pattern(sizes_.multipliers(), sizes_.nv, wiring.gv);
  vl_ = Pattern(sizes_.nv, sizes_.multipliers(), wiring.vl);
  resolve(wiring.gv_wires, gv_, gv_local_, gv_slot_);
  standing_wires_ = std::move(wiring.vv_wires);
  standing_entries_ = std::move(wiring.vv);
  make_vv();
  if (pairs_in_sets() > 0) return;
  standing_wires_ = {};
  standing_entries_ = {};
}

void Equations::resolve(const std::vector<Wire>& wires, const Pattern& pattern, std::vector<int>& locals,
                        std::vector<int>& slots) {
  locals.clear();
  slots.clear();
  locals.reserve(wires.size());
  slots.reserve(wires.size());
  for (const Wire& w : wires) {
    locals.push_back(w.local);
    slots.push_back(pattern.slot(w.row, w.column));
  }
}

// The pattern of what stands and of the pairs in play.
void Equations::make_vv() {
  std::vector<Wire> wires = standing_wires_;
  for (const int f : of_sets_) forces_[f].vv_begin = forces_[f].vv_end = 0;
  std::size_t next = 0;
  for (const int f : in_play_) {
    while (next < of_sets_.size() && of_sets_[next] < f) ++next;
    if (next < of_sets_.size() && of_sets_[next] == f) wire(forces_[f], wires);
  }
  std::vector<Pattern::Entry> entries = standing_entries_;
  entries.reserve(entries.size() + wires.size());
  for (const Wire& w : wires) entries.push_back({w.row, w.column});
  vv_ = std::make_shared<const Pattern>(sizes_.nv, sizes_.nv, entries);
  resolve(wires, *vv_, vv_local_, vv_slot_);
  find_chain_slots();
  body_slots_.clear();
  for (const auto& body : bodies_)
    for (const auto& [i, j] : body->entries()) body_slots_.push_back(vv_->slot(body->at().v + i, body->at().v + j));
}

void Equations::set_columns(ElementRecord& record) {
  record.columns = {0};
  bool rigid = true;
  for (const int frame : record.frames) {
    const int body = frames_[frame].body;
    const bool six = body == ground || rigid_[body] != nullptr;
    rigid = rigid && six;
    record.columns.push_back(record.columns.back() + (six ? 6 : static_cast<int>(bodies_[body]->velocities().size())));
  }
  if (!rigid) record.wide = wide_count_++;
}

void Equations::require(const std::string& who, int model_frame, FrameNeed need, const Location& where) const {
  const BodyFrame& frame = frames_[model_frame];
  const auto axis = frame.body == ground ? std::nullopt : bodies_[frame.body]->spin_axis();
  if (!axis || need == FrameNeed::point) return;
  if (need == FrameNeed::z_axis && std::abs(frame.R.col(2).dot(*axis)) > 1 - 1e-12) return;
  const Body& body = model_.bodies[frame.body];
  throw Failure({Severity::error, "no-orientation",
                 who + " needs the full orientation of body '" + body.name + "', but a " + body.kind +
                     " has points and a direction only",
                 "join its points (spherical, distance, a spring), or use a spatial body", where});
}

// Elements that see the orientation of a body about an axis where it has none.
void Equations::refuse_spin(const Wiring& wiring) const {
  for (const ConstraintRecord& c : constraints_) {
    const std::string who = (c.is_motion ? "motion '" : "joint '") + c.item->name + "'";
    for (std::size_t i = 0; i < c.frames.size(); ++i)
      if (sees_spin(c, i, wiring)) require(who, c.frames[i], FrameNeed::orientation, c.item->where);
  }
  for (const ForceRecord& f : forces_)
    for (std::size_t i = 0; i < f.frames.size(); ++i)
      require("force '" + f.item->name + "'", f.frames[i], f.element->needs(static_cast<int>(i)), f.item->where);
  for (std::size_t x = 0; x < states_.size(); ++x)
    for (std::size_t i = 0; i < states_[x].frames.size(); ++i)
      require("state '" + model_.states[x].name + "'", states_[x].frames[i],
              states_[x].element->needs(static_cast<int>(i)), model_.states[x].where);
  for (std::size_t x = 0; x < model_.variables.size(); ++x)
    for (std::size_t i = 0; i < variables_[x].frames.size(); ++i)
      require("variable '" + model_.variables[x].name + "'", variables_[x].frames[i],
              variables_[x].element->needs(static_cast<int>(i)), model_.variables[x].where);
  for (const Sensor& sensor : model_.sensors) {
    const SensorDescription& what = sensor_registry()[sensor.what];
    if (what.kind != SensorDescription::Kind::acceleration) continue;
    for (const int side : {0, 1})
      require(sensor.name, side == 0 ? sensor.a : sensor.b,
              what.of == MeasureOf::spin ? FrameNeed::orientation : what.scalar.needs(side), sensor.where);
  }
}

// A constraint is turned about the axis at a random state: neither its values nor its Jacobian may change, and it may
// not hold the body's spin.
bool Equations::sees_spin(const ConstraintRecord& c, std::size_t i, const Wiring& wiring) const {
  const BodyFrame& frame = frames_[c.frames[i]];
  const auto axis = frame.body == ground ? std::nullopt : bodies_[frame.body]->spin_axis();
  if (!axis) return false;
  FrameState frames[max_frames];
  double g[max_rows], turned_g[max_rows];
  RowMatrix C, turned_C;
  frame_states(c, wiring.probes[0], frames);
  const ElementInput in = element_input(c, wiring.state, frames, wiring.probes[0]);
  c.element->evaluate(in, nullptr, g, nullptr);
  c.element->jacobian(in, C);
  const Vec3 u = wiring.probes[0].bodies[frame.body].R * *axis;
  frames[i].R = rotation_exp(Vec3(1.1 * u)).toRotationMatrix() * frames[i].R;
  c.element->evaluate(in, nullptr, turned_g, nullptr);
  c.element->jacobian(in, turned_C);
  constexpr double much = 1e-9;
  const auto at = static_cast<Eigen::Index>(6 * i + 3);
  const int rows = c.element->rows();
  const double most = much * (1 + C.cwiseAbs().maxCoeff());
  for (int k = 0; k < rows; ++k) {
    if (std::abs(g[k] - turned_g[k]) > much * (1 + std::abs(g[k]))) return true;
    const Vec3 about = C.row(k).segment<3>(at);
    if (std::abs(about.dot(u)) > most) return true;
  }
  return (C - turned_C).cwiseAbs().maxCoeff() > most;
}

Workspace Equations::make_workspace() const {
  Workspace work;
  work.bodies.resize(bodies_.size());
  work.extra.resize(extra_size_);
  work.wide.resize(wide_count_);
  if (!variables_.empty()) size_variables(work);
  return work;
}

Residual Equations::make_residual() const {
  return {Vec::Zero(sizes_.nv), Vec::Zero(sizes_.nv), Vec::Zero(sizes_.multipliers())};
}

Partials Equations::make_partials(Detail detail) const {
  Partials p;
  p.vv = vv_;
  p.M.setZero(vv_->size());
  p.G.setZero(gv_.size());
  if (detail == Detail::projection) return p;
  for (Vec* v : {&p.Ma_q, &p.force_q, &p.force_v}) v->setZero(vv_->size());
  if (sizes_.nk > 0) p.K_q.setZero(gv_.size());
  if (sees_rates()) {
    p.force_a.setZero(vv_->size());
    p.force_lambda.setZero(vl_.size());
  }
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
    const BodyPlace& at = bodies_[i]->at();
    bodies_[i]->start(model_.bodies[i], s.q.data() + at.q, s.v.data() + at.v);
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

std::string Equations::name_of_constraint(int i) const {
  const ConstraintRecord& c = constraints_[i];
  return (c.item->of_force >= 0 ? "force '" : c.is_motion ? "motion '" : "joint '") + c.item->name + "'";
}

std::string Equations::name_of_row(int row) const {
  const int i = constraint_of_row(row);
  const ConstraintRecord& c = constraints_[i];
  return name_of_constraint(i) + ": " + c.element->row_name(c.kept[row - c.first_row]);
}

int Equations::body_of_velocity(int i) const {
  const auto after = std::upper_bound(bodies_.begin(), bodies_.end(), i,
                                      [](int v, const std::unique_ptr<BodyElement>& b) { return v < b->at().v; });
  return static_cast<int>(after - bodies_.begin()) - 1;
}

const BodyVelocity& Equations::velocity(int i) const {
  const BodyElement& body = *bodies_[body_of_velocity(i)];
  return body.velocities()[i - body.at().v];
}

std::string Equations::name_of_velocity(int i) const {
  const Body& body = model_.bodies[body_of_velocity(i)];
  if (!kind_of(body).is_place) return "coordinate '" + body.name + "'";
  return "body '" + body.name + "': " + velocity(i).name;
}

Quantity Equations::quantity_of_velocity(int i) const { return velocity(i).quantity; }

const std::vector<int>& Equations::constraint_frames(int i) const { return constraints_[i].frames; }

long Equations::memory_bytes() const {
  const auto bytes = [](const auto& v) { return static_cast<long>(v.capacity() * sizeof(v[0])); };
  long sum = bytes(bodies_) + bytes(body_slots_) + bytes(frames_) + bytes(constraints_) + bytes(forces_) +
             bytes(rotation_columns_) + bytes(vv_local_) + bytes(gv_local_) + bytes(vv_slot_) + bytes(gv_slot_) +
             bytes(vv_->row()) + bytes(vv_->start()) + bytes(gv_.row()) + bytes(gv_.start());
  for (const ConstraintRecord& c : constraints_) sum += bytes(c.frames) + 160;  // the element and its rows, about
  return sum;
}

}  // namespace trammel
