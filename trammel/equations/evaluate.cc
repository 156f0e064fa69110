// Residuals of (2), (3) and (4): inertia and gravity of the bodies, wrenches of constraints and forces mapped to the
// bodies.
#include <algorithm>
#include <cmath>

#include "trammel/base/team.h"
#include "trammel/equations/equations.h"

namespace trammel {
namespace {

const BodyState ground_state{Mat3::Identity(), Vec3::Zero(), Vec3::Zero(), Vec3::Zero()};

}  // namespace

const BodyState& Equations::body_state(int body, const std::vector<BodyState>& states) const {
  return body == ground ? ground_state : states[static_cast<std::size_t>(body)];
}

void Equations::body_states(const Vec& q, const Vec& v, std::vector<BodyState>& out) const {
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const BodyRecord& b = bodies_[i];
    BodyState& s = out[i];
    const double* qb = q.data() + b.q0;
    const double* vb = v.data() + b.v0;
    switch (b.kind) {
      case BodyKind::spatial:
        s.r = Vec3(qb[0], qb[1], qb[2]);
        s.R = Quat(qb[3], qb[4], qb[5], qb[6]).toRotationMatrix();
        s.v = Vec3(vb[0], vb[1], vb[2]);
        s.w = s.R * Vec3(vb[3], vb[4], vb[5]);
        break;
      case BodyKind::planar: {
        const double c = std::cos(qb[2]), sn = std::sin(qb[2]);
        s.r = Vec3(qb[0], qb[1], b.height);
        s.R << c, -sn, 0, sn, c, 0, 0, 0, 1;
        s.v = Vec3(vb[0], vb[1], 0);
        s.w = Vec3(0, 0, vb[2]);
        break;
      }
      case BodyKind::point:
        s.r = Vec3(qb[0], qb[1], qb[2]);
        s.R = Mat3::Identity();
        s.v = Vec3(vb[0], vb[1], vb[2]);
        s.w = Vec3::Zero();
        break;
      case BodyKind::scalar: s = {Mat3::Identity(), Vec3(qb[0], 0, 0), Vec3(vb[0], 0, 0), Vec3::Zero()}; break;
    }
  }
}

template <class Record>
void Equations::frame_states(const Record& record, const std::vector<BodyState>& states, FrameState* out) const {
  for (std::size_t i = 0; i < record.frames.size(); ++i) {
    const RigidFrame& f = frames_[static_cast<std::size_t>(record.frames[i])];
    out[i] = frame_state(f, body_state(f.body, states));
  }
}
template void Equations::frame_states(const ConstraintRecord&, const std::vector<BodyState>&, FrameState*) const;
template void Equations::frame_states(const ForceRecord&, const std::vector<BodyState>&, FrameState*) const;
template void Equations::frame_states(const StateRecord&, const std::vector<BodyState>&, FrameState*) const;

void Equations::add_wrench(int frame, const std::vector<BodyState>& states, const double* wrench, double sign,
                           Vec& out) const {
  const RigidFrame& f = frames_[static_cast<std::size_t>(frame)];
  if (f.body == ground) return;
  const BodyRecord& b = bodies_[static_cast<std::size_t>(f.body)];
  const Vec6 w = sign * to_body(f, states[static_cast<std::size_t>(f.body)], Vec3(wrench[0], wrench[1], wrench[2]),
                                Vec3(wrench[3], wrench[4], wrench[5]));
  double* target = out.data() + b.v0;
  switch (b.kind) {
    case BodyKind::spatial:
      for (int i = 0; i < 6; ++i) target[i] += w[i];
      break;
    case BodyKind::planar:
      target[0] += w[0];
      target[1] += w[1];
      target[2] += w[5];
      break;
    case BodyKind::point:
      for (int i = 0; i < 3; ++i) target[i] += w[i];
      break;
    case BodyKind::scalar: target[0] += w[0]; break;
  }
}

void Equations::multiply_mass(const Vec& a, Vec& Ma) const {
  for (const BodyRecord& b : bodies_) {
    const double* x = a.data() + b.v0;
    double* y = Ma.data() + b.v0;
    for (int i = 0; i < translations_of(b.kind); ++i) y[i] = b.mass * x[i];
    if (b.kind == BodyKind::planar) y[2] = b.inertia(2, 2) * x[2];
    if (b.kind == BodyKind::spatial) Eigen::Map<Vec3>(y + 3) = b.inertia * Eigen::Map<const Vec3>(x + 3);
  }
}

Eval Equations::residual(const State& state, const Rates& rates, unsigned parts, Residual& out, Workspace& work) const {
  body_states(state.q, state.v, work.bodies);
  const std::vector<BodyState>& bodies = work.bodies;
  bool good = true;
  if ((parts & inertia) != 0) {
    multiply_mass(rates.a, out.inertia);
    // force = -Q: weight and gyroscopic torque w x J w, body axes
    for (const BodyRecord& b : bodies_) {
      double* f = out.force.data() + b.v0;
      for (int i = 0; i < translations_of(b.kind); ++i)
        f[i] = b.kind == BodyKind::scalar ? 0 : -b.mass * model_.gravity[i];
      if (b.kind == BodyKind::planar) f[2] = 0;
      if (b.kind == BodyKind::spatial) {
        const Eigen::Map<const Vec3> w(state.v.data() + b.v0 + 3);
        Eigen::Map<Vec3>(f + 3) = w.cross(b.inertia * w);
      }
    }
  } else {
    out.inertia.setZero();
    out.force.setZero();
  }
  FrameState frames[max_frames];
  double wrench[6 * max_frames];
  if ((parts & joints) != 0) {
    double g[max_rows], lambda[max_rows];
    const bool without_forces = rates.lambda.size() == 0;  // no multipliers: g alone
    for (const ConstraintRecord& c : constraints_) {
      frame_states(c, bodies, frames);
      const ElementInput in = element_input(c, state, frames);
      if (without_forces) {
        good = c.element->evaluate(in, nullptr, g, nullptr) && good;
        for (int k = 0; k < c.rows; ++k) out.g[c.first_row + k] = g[c.kept[static_cast<std::size_t>(k)]];
        continue;
      }
      const double* row_lambda = rates.lambda.data() + c.first_row;
      if (c.rows == c.element->rows()) {
        good = c.element->evaluate(in, row_lambda, out.g.data() + c.first_row, wrench) && good;
      } else {  // some rows left out: planar bodies
        for (double& l : lambda) l = 0;
        for (int k = 0; k < c.rows; ++k) lambda[c.kept[static_cast<std::size_t>(k)]] = row_lambda[k];
        good = c.element->evaluate(in, lambda, g, wrench) && good;
        for (int k = 0; k < c.rows; ++k) out.g[c.first_row + k] = g[c.kept[static_cast<std::size_t>(k)]];
      }
      for (std::size_t i = 0; i < c.frames.size(); ++i) add_wrench(c.frames[i], bodies, wrench + 6 * i, 1, out.force);
    }
  }
  if ((parts & Part::forces) != 0) {
    good = evaluate_forces(state, parts, out, work) && good;
  }
  return good ? Eval::ok : Eval::rejected;
}

bool Equations::evaluate_forces(const State& state, unsigned parts, Residual& out, Workspace& work) const {
  const std::vector<BodyState>& bodies = work.bodies;
  const auto wanted = [&](const ForceRecord& f) {
    return (parts & (f.item->implicit ? forces_implicit : forces_explicit)) != 0;
  };
  const auto evaluate = [&](const ForceRecord& f, double* wrench) {
    FrameState frames[max_frames];
    frame_states(f, bodies, frames);
    return f.element->evaluate(element_input(f, state, frames), wrench);
  };
  bool good = true;
  if (work.team == nullptr) {
    double wrench[6 * max_frames];
    for (const ForceRecord& f : forces_) {
      if (!wanted(f)) continue;
      good = evaluate(f, wrench) && good;
      for (std::size_t i = 0; i < f.frames.size(); ++i) add_wrench(f.frames[i], bodies, wrench + 6 * i, -1, out.force);
    }
    return good;
  }
  constexpr std::size_t place = 6 * max_frames;
  work.wrenches.resize(place * forces_.size());
  work.evaluated.resize(forces_.size());
  work.team->run(forces_.size(), [&](std::size_t i) {
    work.evaluated[i] = !wanted(forces_[i]) || evaluate(forces_[i], work.wrenches.data() + place * i);
  });
  for (std::size_t k = 0; k < forces_.size(); ++k) {
    const ForceRecord& f = forces_[k];
    if (!wanted(f)) continue;
    good = work.evaluated[k] != 0 && good;
    for (std::size_t i = 0; i < f.frames.size(); ++i)
      add_wrench(f.frames[i], bodies, work.wrenches.data() + place * k + 6 * i, -1, out.force);
  }
  return good;
}

bool Equations::next_contact(const State& state, Force::Approach& next, Workspace& work) const {
  body_states(state.q, state.v, work.bodies);
  FrameState frames[max_frames];
  bool any = false;
  next = {};
  for (const ForceRecord& f : forces_) {
    Force::Approach own;
    frame_states(f, work.bodies, frames);
    if (!f.element->approach(element_input(f, state, frames), own)) continue;
    any = true;
    if (own.time < next.time) next = own;
  }
  return any;
}

std::string Equations::force_that_sets_in_unseen() const {
  for (const ForceRecord& f : forces_)
    if (f.element->sets_in_unseen() && !f.item->implicit) return f.item->name;
  return "";
}

std::vector<bool> Equations::mass_slots() const {
  std::vector<bool> kept(static_cast<std::size_t>(vv_.size()), false);
  for (const BodyRecord& b : bodies_) {
    for (int i = 0; i < std::min(3, columns_of(b.kind).count); ++i)
      kept[static_cast<std::size_t>(b.slot[static_cast<std::size_t>(i)])] = true;
    if (b.kind != BodyKind::spatial) continue;
    for (int j = 3; j < 6; ++j)
      for (int i = 0; i < 3; ++i) kept[static_cast<std::size_t>(b.slot[static_cast<std::size_t>(j)] + i)] = true;
  }
  return kept;
}

std::vector<bool> Equations::implicit_slots() const {
  std::vector<bool> kept = mass_slots();
  const auto keep = [&](const ElementRecord& record) {
    for (int p = record.vv_begin; p < record.vv_end; ++p)
      kept[static_cast<std::size_t>(vv_slot_[static_cast<std::size_t>(p)])] = true;
  };
  for (const ConstraintRecord& c : constraints_) keep(c);
  for (const ForceRecord& f : forces_)
    if (f.item->implicit) keep(f);
  return kept;
}

void Equations::velocity_residual(const State& state, Vec& gdot, Workspace& work) const {
  body_states(state.q, state.v, work.bodies);
  FrameState frames[max_frames];
  double rate[max_rows];
  for (const ConstraintRecord& c : constraints_) {
    frame_states(c, work.bodies, frames);
    c.element->rate(element_input(c, state, frames), rate);
    for (int k = 0; k < c.rows; ++k) gdot[c.first_row + k] = rate[c.kept[static_cast<std::size_t>(k)]];
  }
}

Energy Equations::energy(const State& state, const Rates& rates, Workspace& work) const {
  body_states(state.q, state.v, work.bodies);
  Energy e;
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const BodyRecord& b = bodies_[i];
    const BodyState& s = work.bodies[i];
    const Vec3 w = s.R.transpose() * s.w;
    e.kinetic += 0.5 * b.mass * s.v.squaredNorm() + 0.5 * w.dot(b.inertia * w);
    if (b.kind != BodyKind::scalar) e.potential -= b.mass * model_.gravity.dot(s.r);
  }
  FrameState frames[max_frames];
  double wrench[6 * max_frames];
  const auto power = [&](std::size_t count) {
    double p = 0;
    for (std::size_t i = 0; i < count; ++i) {
      p += frames[i].v.dot(Vec3(wrench[6 * i], wrench[6 * i + 1], wrench[6 * i + 2])) +
           frames[i].w.dot(Vec3(wrench[6 * i + 3], wrench[6 * i + 4], wrench[6 * i + 5]));
    }
    return p;
  };
  for (const ForceRecord& f : forces_) {
    frame_states(f, work.bodies, frames);
    const ElementInput in = element_input(f, state, frames);
    e.potential += f.element->potential_energy(in);
    e.dissipated_power += f.element->dissipated_power(in);
    e.external_power += f.element->external_power(in);
  }
  double g[max_rows], lambda[max_rows];
  for (const ConstraintRecord& c : constraints_) {
    if (!c.is_motion && !c.element->does_work()) continue;
    frame_states(c, work.bodies, frames);
    for (double& l : lambda) l = 0;
    for (int k = 0; k < c.rows; ++k) lambda[c.kept[static_cast<std::size_t>(k)]] = rates.lambda[c.first_row + k];
    if (c.element->evaluate(element_input(c, state, frames), lambda, g, wrench))
      e.external_power -= power(c.frames.size());
  }
  return e;
}

std::optional<double> Equations::potential_at_rest(const State& state, Workspace& work) const {
  body_states(state.q, state.v, work.bodies);
  double sum = 0;
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    if (bodies_[i].kind != BodyKind::scalar) sum -= bodies_[i].mass * model_.gravity.dot(work.bodies[i].r);
  }
  FrameState frames[max_frames];
  for (const ForceRecord& f : forces_) {
    frame_states(f, work.bodies, frames);
    const std::optional<double> potential = f.element->potential_at_rest(element_input(f, state, frames));
    if (!potential) return std::nullopt;
    sum += *potential;
  }
  return sum;
}

void Equations::update(const State& state, Workspace& work) const { body_states(state.q, state.v, work.bodies); }

FrameState Equations::frame(int model_frame, const Workspace& work) const {
  const RigidFrame& f = frames_[static_cast<std::size_t>(model_frame)];
  return frame_state(f, body_state(f.body, work.bodies));
}

Vec3 Equations::frame_acceleration(int model_frame, const Rates& rates, const Workspace& work, Vec3* angular) const {
  const RigidFrame& f = frames_[static_cast<std::size_t>(model_frame)];
  if (angular != nullptr) angular->setZero();
  if (f.body == ground) return Vec3::Zero();
  const BodyRecord& b = bodies_[static_cast<std::size_t>(f.body)];
  const BodyState& s = work.bodies[static_cast<std::size_t>(f.body)];
  const double* a = rates.a.data() + b.v0;
  Vec3 linear = Vec3::Zero(), spin = Vec3::Zero();
  linear.head(translations_of(b.kind)) = Eigen::Map<const Vec>(a, translations_of(b.kind));
  if (b.kind == BodyKind::planar) spin.z() = a[2];
  if (b.kind == BodyKind::spatial) spin = s.R * Eigen::Map<const Vec3>(a + 3);
  if (angular != nullptr) *angular = spin;
  return linear + spin.cross(s.R * f.arm) + frame_bias(f, s).value;
}

void Equations::reaction(int constraint, const State& state, const Rates& rates, const Workspace& work, Vec3& force,
                         Vec3& torque) const {
  double wrenches[6 * max_frames];
  reactions(constraint, state, rates, work, wrenches);
  force = Vec3(wrenches[6], wrenches[7], wrenches[8]);
  torque = Vec3(wrenches[9], wrenches[10], wrenches[11]);
}

void Equations::reactions(int constraint, const State& state, const Rates& rates, const Workspace& work,
                          double* wrenches) const {
  const ConstraintRecord& c = constraints_[static_cast<std::size_t>(constraint)];
  FrameState frames[max_frames];
  double g[max_rows], lambda[max_rows] = {};
  frame_states(c, work.bodies, frames);
  for (int k = 0; k < c.rows; ++k) lambda[c.kept[static_cast<std::size_t>(k)]] = rates.lambda[c.first_row + k];
  c.element->evaluate(element_input(c, state, frames), lambda, g, wrenches);
  for (std::size_t i = 0; i < 6 * c.frames.size(); ++i) wrenches[i] = -wrenches[i];
}

void Equations::frame_jacobian(int constraint, const State& state, const Workspace& work, RowMatrix& C) const {
  const ConstraintRecord& c = constraints_[static_cast<std::size_t>(constraint)];
  FrameState frames[max_frames];
  frame_states(c, work.bodies, frames);
  RowMatrix all;
  c.element->jacobian(element_input(c, state, frames), all);
  C.resize(c.rows, all.cols());
  for (int k = 0; k < c.rows; ++k) C.row(k) = all.row(c.kept[static_cast<std::size_t>(k)]);
}

bool Equations::observe_force(int i, const State& state, const Workspace& work, double* wrench,
                              double* observables) const {
  const ForceRecord& f = forces_[static_cast<std::size_t>(i)];
  FrameState frames[max_frames];
  frame_states(f, work.bodies, frames);
  const ElementInput in = element_input(f, state, frames);
  const bool good = f.element->evaluate(in, wrench);
  f.element->observe(in, observables);
  return good;
}

bool Equations::observe_constraint(int i, const State& state, const Workspace& work, double* g) const {
  const ConstraintRecord& c = constraints_[static_cast<std::size_t>(i)];
  FrameState frames[max_frames];
  frame_states(c, work.bodies, frames);
  return c.element->evaluate(element_input(c, state, frames), nullptr, g, nullptr);
}

std::vector<Equations::DroppedRow> Equations::dropped_rows(const State& state, Workspace& work) const {
  std::vector<DroppedRow> out;
  body_states(state.q, state.v, work.bodies);
  FrameState frames[max_frames];
  double g[max_rows];
  for (std::size_t i = 0; i < constraints_.size(); ++i) {
    const ConstraintRecord& c = constraints_[i];
    if (c.rows == c.element->rows()) continue;
    frame_states(c, work.bodies, frames);
    c.element->evaluate(element_input(c, state, frames), nullptr, g, nullptr);
    for (int row = 0, k = 0; row < c.element->rows(); ++row) {
      if (k < c.rows && c.kept[static_cast<std::size_t>(k)] == row) {
        ++k;
      } else {
        out.push_back({static_cast<int>(i), row, g[row]});
      }
    }
  }
  return out;
}

}  // namespace trammel
