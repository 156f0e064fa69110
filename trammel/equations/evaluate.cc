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

void Equations::body_states(const Vec& q, const Vec& v, BodyMotions& out) const {
  for (const auto& group : groups_) group->motions(q, v, out);
}

FrameState Equations::frame(const BodyFrame& f, const BodyMotions& motions) const {
  if (f.rigid) return frame_state(f, f.body == ground ? ground_state : motions.bodies[f.body]);
  const BodyElement& body = *bodies_[f.body];
  return body.frame(f, motions.bodies[f.body], motions.extra.data() + body.at().extra);
}

template <class Record>
void Equations::frame_states(const Record& record, const BodyMotions& motions, FrameState* out) const {
  for (std::size_t i = 0; i < record.frames.size(); ++i) out[i] = frame(frames_[record.frames[i]], motions);
}
template void Equations::frame_states(const ConstraintRecord&, const BodyMotions&, FrameState*) const;
template void Equations::frame_states(const ForceRecord&, const BodyMotions&, FrameState*) const;
template void Equations::frame_states(const ExpressionRecord&, const BodyMotions&, FrameState*) const;
template void Equations::frame_states(const VariableRecord&, const BodyMotions&, FrameState*) const;

void Equations::add_wrench(const BodyFrame& f, const BodyMotions& motions, const double* wrench, double sign,
                           Vec& out) const {
  if (f.body == ground) return;
  const BodyElement& body = *bodies_[f.body];
  double* target = out.data() + body.at().v;
  const BodyState& motion = motions.bodies[f.body];
  if (!f.rigid) {
    body.add_wrench(f, motion, motions.extra.data() + body.at().extra, wrench, sign, target);
    return;
  }
  const Vec6 w =
      sign * to_body(f, motion, Vec3(wrench[0], wrench[1], wrench[2]), Vec3(wrench[3], wrench[4], wrench[5]));
  const RigidColumns& columns = *rigid_[f.body];
  if (columns.count == 6) {
    for (int i = 0; i < 6; ++i) target[i] += w[i];
  } else {
    for (int i = 0; i < columns.count; ++i) target[i] += w[columns.column[i]];
  }
}

void Equations::multiply_mass(const Vec& q, const Vec& a, Vec& Ma) const {
  for (const auto& group : groups_) group->multiply_mass(q, a, Ma);
}

Eval Equations::residual(const State& state, const Rates& rates, unsigned parts, Residual& out, Workspace& work) const {
  update(state, work, &rates);
  bool good = true;
  if ((parts & inertia) != 0) {
    multiply_mass(state.q, rates.a, out.inertia);
    for (const auto& group : groups_) group->inertial_force(state.q, state.v, model_.gravity, out.force);
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
      frame_states(c, work, frames);
      const ElementInput in = element_input(c, state, frames, work);
      if (without_forces) {
        good = c.element->evaluate(in, nullptr, g, nullptr) && good;
        for (int k = 0; k < c.rows; ++k) out.g[c.first_row + k] = g[c.kept[k]];
        continue;
      }
      const double* row_lambda = rates.lambda.data() + c.first_row;
      if (c.rows == c.element->rows()) {
        good = c.element->evaluate(in, row_lambda, out.g.data() + c.first_row, wrench) && good;
      } else {  // some rows left out: planar bodies
        for (double& l : lambda) l = 0;
        for (int k = 0; k < c.rows; ++k) lambda[c.kept[k]] = row_lambda[k];
        good = c.element->evaluate(in, lambda, g, wrench) && good;
        for (int k = 0; k < c.rows; ++k) out.g[c.first_row + k] = g[c.kept[k]];
      }
      for (std::size_t i = 0; i < c.frames.size(); ++i)
        add_wrench(frames_[c.frames[i]], work, wrench + 6 * i, 1, out.force);
    }
  }
  if ((parts & Part::forces) != 0) {
    good = evaluate_forces(state, parts, out, work) && good;
  }
  return good ? Eval::ok : Eval::rejected;
}

bool Equations::evaluate_forces(const State& state, unsigned parts, Residual& out, Workspace& work) const {
  const auto wanted = [&](const ForceRecord& f) {
    return (parts & (f.item->implicit ? forces_implicit : forces_explicit)) != 0;
  };
  const auto evaluate = [&](const ForceRecord& f, double* wrench) {
    FrameState frames[max_frames];
    frame_states(f, work, frames);
    return f.element->evaluate(element_input(f, state, frames, work), wrench);
  };
  bool good = true;
  if (work.team == nullptr) {
    double wrench[6 * max_frames];
    for (const int k : in_play_) {
      const ForceRecord& f = forces_[k];
      if (!wanted(f)) continue;
      good = evaluate(f, wrench) && good;
      for (std::size_t i = 0; i < f.frames.size(); ++i)
        add_wrench(frames_[f.frames[i]], work, wrench + 6 * i, -1, out.force);
    }
    return good;
  }
  constexpr std::size_t place = 6 * max_frames;
  work.wrenches.resize(place * in_play_.size());
  work.evaluated.resize(in_play_.size());
  work.team->run(in_play_.size(), [&](std::size_t i) {
    const ForceRecord& f = forces_[in_play_[i]];
    work.evaluated[i] = !wanted(f) || evaluate(f, work.wrenches.data() + place * i);
  });
  for (std::size_t k = 0; k < in_play_.size(); ++k) {
    const ForceRecord& f = forces_[in_play_[k]];
    if (!wanted(f)) continue;
    good = work.evaluated[k] != 0 && good;
    for (std::size_t i = 0; i < f.frames.size(); ++i)
      add_wrench(frames_[f.frames[i]], work, work.wrenches.data() + place * k + 6 * i, -1, out.force);
  }
  return good;
}

bool Equations::next_contact(const State& state, Force::Approach& next, Workspace& work) const {
  update(state, work);
  bool any = false;
  next = {};
  for (int i = 0; i < force_count(); ++i) {  // far ones too: a method that looks ahead looks as far as it likes
    Force::Approach own;
    if (!approach(i, state, nullptr, own, work)) continue;
    any = true;
    if (own.time < next.time) next = own;
  }
  return any;
}

bool Equations::approach(int i, const State& state, const Rates* rates, Force::Approach& out, Workspace& work) const {
  const ForceRecord& f = forces_[i];
  FrameState frames[max_frames], rising[max_frames];
  frame_states(f, work, frames);
  const ElementInput in = element_input(f, state, frames, work);
  if (rates == nullptr || rates->a.size() == 0) return f.element->approach(in, nullptr, out);
  for (std::size_t k = 0; k < f.frames.size(); ++k) {
    const BodyFrame& at = frames_[f.frames[k]];
    rising[k] = frames[k];
    if (at.rigid) {
      rising[k].v = frame_acceleration(at, *rates, work, &rising[k].w);
      continue;
    }
    FramePartials& partials = work.wide[f.wide].frames[k];
    frame_partials(at, work, rates->a.data() + bodies_[at.body]->at().v, partials);
    const Vec6 rate = times_own(partials.B, at.body, rates->a) + partials.bias;
    rising[k].v = rate.head<3>();
    rising[k].w = rate.tail<3>();
  }
  return f.element->approach(in, rising, out);
}

double Equations::mass_between(int i, bool rotation) const {
  const ForceRecord& f = forces_[i];
  double inverse = 0;
  int last = ground;
  for (const int frame : f.frames) {
    const int body = frames_[frame].body;
    if (body == ground || body == last) continue;
    last = body;
    double mass = rotation ? 0 : bodies_[body]->weight();
    if (rotation) {
      for (const double moment : bodies_[body]->moments())
        if (moment > 0 && (mass == 0 || moment < mass)) mass = moment;
    }
    if (mass > 0) inverse += 1 / mass;
  }
  if (inverse > 0) return 1 / inverse;
  return rotation ? least_nonzero_inertia_ : least_nonzero_mass_;
}

std::string Equations::force_that_sets_in_unseen() const {
  const auto sets_in = [this](int signal) {
    return signal >= first_variable() && variables_[signal - first_variable()].sets_in;
  };
  for (const ForceRecord& f : forces_) {
    const std::vector<int>& used = f.item->signals;
    if ((f.element->sets_in_unseen() || std::any_of(used.begin(), used.end(), sets_in)) && !f.item->implicit)
      return f.item->name;
  }
  return "";
}

std::vector<bool> Equations::mass_slots() const {
  std::vector<bool> kept(static_cast<std::size_t>(vv_->size()), false);
  for (const int slot : body_slots_) kept[slot] = true;
  for (const Chain& chain : chains_) {
    if (!variables_[chain.variable].sees_rates) continue;
    for (int p = chain.slots_begin; p < chain.slots_end; ++p) kept[chain_slots_[p]] = true;
  }
  return kept;
}

std::vector<bool> Equations::implicit_slots() const {
  std::vector<bool> kept = mass_slots();
  const auto keep = [&](const ElementRecord& record) {
    for (int p = record.vv_begin; p < record.vv_end; ++p) kept[vv_slot_[p]] = true;
  };
  for (const ConstraintRecord& c : constraints_) keep(c);
  for (const ForceRecord& f : forces_)
    if (f.item->implicit) keep(f);
  for (const Chain& chain : chains_) {
    if (!forces_[chain.force].item->implicit) continue;
    for (int p = chain.slots_begin; p < chain.slots_end; ++p) kept[chain_slots_[p]] = true;
  }
  return kept;
}

void Equations::velocity_residual(const State& state, Vec& gdot, Workspace& work) const {
  body_states(state.q, state.v, work);
  FrameState frames[max_frames];
  double rate[max_rows];
  for (const ConstraintRecord& c : constraints_) {
    frame_states(c, work, frames);
    c.element->rate(element_input(c, state, frames, work), rate);
    for (int k = 0; k < c.rows; ++k) gdot[c.first_row + k] = rate[c.kept[k]];
  }
}

Energy Equations::energy(const State& state, const Rates& rates, Workspace& work) const {
  update(state, work, &rates);
  Energy e;
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const BodyElement& body = *bodies_[i];
    const double* extra = work.extra.data() + body.at().extra;
    e.kinetic += body.kinetic_energy(work.bodies[i], extra);
    e.potential += body.potential_energy(work.bodies[i], extra, model_.gravity);
    e.dissipated_power += body.dissipated_power(extra);
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
  for (const int k : in_play_) {
    const ForceRecord& f = forces_[k];
    frame_states(f, work, frames);
    const Force::EnergyTerms own = f.element->energy_terms(element_input(f, state, frames, work));
    e.potential += own.stored;
    e.dissipated_power += own.heat;
    e.external_power += own.external;
  }
  double g[max_rows], lambda[max_rows];
  for (const ConstraintRecord& c : constraints_) {
    if (!c.is_motion && !c.element->does_work()) continue;
    frame_states(c, work, frames);
    for (double& l : lambda) l = 0;
    for (int k = 0; k < c.rows; ++k) lambda[c.kept[k]] = rates.lambda[c.first_row + k];
    if (c.element->evaluate(element_input(c, state, frames, work), lambda, g, wrench))
      e.external_power -= power(c.frames.size());
  }
  return e;
}

std::optional<double> Equations::potential_at_rest(const State& state, Workspace& work) const {
  update(state, work);
  double sum = 0;
  for (std::size_t i = 0; i < bodies_.size(); ++i)
    sum += bodies_[i]->potential_energy(work.bodies[i], work.extra.data() + bodies_[i]->at().extra, model_.gravity);
  FrameState frames[max_frames];
  for (const int k : in_play_) {
    const ForceRecord& f = forces_[k];
    frame_states(f, work, frames);
    const std::optional<double> potential = f.element->potential_at_rest(element_input(f, state, frames, work));
    if (!potential) return std::nullopt;
    sum += *potential;
  }
  return sum;
}

void Equations::update(const State& state, Workspace& work, const Rates* seen) const {
  body_states(state.q, state.v, work);
  if (!variables_.empty()) evaluate_variables(state, work, seen);
}

Vec3 Equations::frame_acceleration(const BodyFrame& f, const Rates& rates, const Workspace& work, Vec3* angular) const {
  if (angular != nullptr) angular->setZero();
  if (f.body == ground) return Vec3::Zero();
  const BodyElement& body = *bodies_[f.body];
  const BodyState& s = work.bodies[f.body];
  const double* a = rates.a.data() + body.at().v;
  if (!f.rigid) {
    FramePartials partials;
    frame_partials(f, work, a, partials);
    const Vec6 rate = partials.B * own_part(f.body, rates.a) + partials.bias;
    if (angular != nullptr) *angular = rate.tail<3>();
    return rate.head<3>();
  }
  Vec3 linear, spin;
  body.acceleration(s, nullptr, a, linear, spin);
  if (angular != nullptr) *angular = spin;
  return linear + spin.cross(s.R * f.arm) + frame_bias(f, s).value;
}

Eigen::Matrix<double, 12, 1> Equations::frame_variation(const BodyFrame& f, const Vec& dq, const Vec& dv,
                                                        const Workspace& work) const {
  Eigen::Matrix<double, 12, 1> out = Eigen::Matrix<double, 12, 1>::Zero();
  if (f.body == ground) return out;
  FramePartials partials;
  frame_partials(f, work, nullptr, partials);
  const Vec own_q = own_part(f.body, dq), own_v = own_part(f.body, dv);
  out.head<6>() = partials.B * own_q;
  out.tail<6>() = partials.Bv_q * own_q + partials.B * own_v;
  return out;
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
  const ConstraintRecord& c = constraints_[constraint];
  FrameState frames[max_frames];
  double g[max_rows], lambda[max_rows] = {};
  frame_states(c, work, frames);
  for (int k = 0; k < c.rows; ++k) lambda[c.kept[k]] = rates.lambda[c.first_row + k];
  c.element->evaluate(element_input(c, state, frames, work), lambda, g, wrenches);
  for (std::size_t i = 0; i < 6 * c.frames.size(); ++i) wrenches[i] = -wrenches[i];
}

void Equations::frame_jacobian(int constraint, const State& state, const Workspace& work, RowMatrix& C) const {
  const ConstraintRecord& c = constraints_[constraint];
  FrameState frames[max_frames];
  frame_states(c, work, frames);
  RowMatrix all;
  c.element->jacobian(element_input(c, state, frames, work), all);
  C.resize(c.rows, all.cols());
  for (int k = 0; k < c.rows; ++k) C.row(k) = all.row(c.kept[k]);
}

bool Equations::observe_force(int i, const State& state, const Workspace& work, double* wrench, double* observables,
                              const Rates* rates) const {
  const ForceRecord& f = forces_[i];
  FrameState frames[max_frames];
  frame_states(f, work, frames);
  const ElementInput in = held_input(f, state, frames, work, rates);
  const bool good = f.element->evaluate(in, wrench);
  f.element->observe(in, observables);
  if (rates == nullptr || rows_held(i, state) == 0) return good;
  double held[6 * max_frames];
  reactions(f.held, state, *rates, work, held);
  for (int k = 0; k < 12; ++k) wrench[k] += held[k];
  return good;
}

// After update() with the same state.
Force::Overlap Equations::overlap(int i, const State& state, Workspace& work) const {
  FrameState frames[max_frames];
  frame_states(forces_[i], work, frames);
  return forces_[i].element->overlap(element_input(forces_[i], state, frames, work));
}

bool Equations::observe_constraint(int i, const State& state, const Workspace& work, double* g) const {
  const ConstraintRecord& c = constraints_[i];
  FrameState frames[max_frames];
  frame_states(c, work, frames);
  return c.element->evaluate(element_input(c, state, frames, work), nullptr, g, nullptr);
}

std::vector<Equations::DroppedRow> Equations::dropped_rows(const State& state, Workspace& work) const {
  std::vector<DroppedRow> out;
  body_states(state.q, state.v, work);
  FrameState frames[max_frames];
  double g[max_rows];
  for (std::size_t i = 0; i < constraints_.size(); ++i) {
    const ConstraintRecord& c = constraints_[i];
    if (c.rows == c.element->rows()) continue;
    frame_states(c, work, frames);
    c.element->evaluate(element_input(c, state, frames, work), nullptr, g, nullptr);
    for (int row = 0, k = 0; row < c.element->rows(); ++row) {
      if (k < c.rows && c.kept[k] == row) {
        ++k;
      } else {
        out.push_back({static_cast<int>(i), row, g[row]});
      }
    }
  }
  return out;
}

}  // namespace trammel
