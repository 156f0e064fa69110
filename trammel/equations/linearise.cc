// Exact partial derivatives, element by element in frame terms, mapped to body velocities and added into fixed
// patterns. With tau = B v, alpha = B a, b = B' v and C the element's Jacobian in frame terms:
//
//   G        = C B
//   (G u)_q  = (C u_F)_pose B + C (B u)_q                               u = v or a, u_F = B u
//   (G^T l)_q = B^T (C^T l)_pose B + (B^T w)_q,  w = C^T l held
//   gamma    = -(C b + c)
//   gamma_q  = -((C b)_pose B + C b_q + c_pose B + c_twist (B v)_q)
//   gamma_v  = -(C b_v + c_twist B)
//   k_q      = k_pose B + C (B v)_q                                    rows at velocity level
#include "trammel/equations/equations.h"
#include "trammel/equations/local.h"

namespace trammel {

Equations::ConstraintValues Equations::localise(const ConstraintRecord& c, const State& state, const Rates& rates,
                                                Detail detail, Workspace& work, Local& local) const {
  if (c.wide < 0) {
    localise_rigid(c, state, rates, detail, work, local);
    return {local.G.data(),       (detail == Detail::all ? local.Gv_q : local.K_q).data(),
            local.Gv_q.data(),    local.Ga_q.data(),
            local.gamma_q.data(), local.gamma_v.data(),
            local.force_q.data(), local.force_t.data(),
            &local.g_t,           &local.gamma,
            &local.gamma_t,       &local.Ga_t};
  }
  WideMatrices& wide = work.wide[c.wide];
  localise_wide(c, state, rates, work, wide);
  return {wide.G.data(),       wide.Gv_q.data(),    wide.Gv_q.data(),    wide.Ga_q.data(),
          wide.gamma_q.data(), wide.gamma_v.data(), wide.force_q.data(), wide.force_t.data(),
          &wide.g_t,           &wide.gamma,         &wide.gamma_t,       &wide.Ga_t};
}

// What Newton's method needs: G, K_q and the derivative of G^T lambda.
void Equations::localise_newton(const ConstraintRecord& c, const ElementInput& in, const double* lambda,
                                const BodyMotions& motions, Local& out) const {
  const std::vector<BodyState>& bodies = motions.bodies;
  const auto nf = c.frames.size();
  const int rows = c.element->rows();
  c.element->linearise(in, lambda, out.G, out.force_q);
  if (c.has_velocity_rows) {
    c.element->linearise_velocity(in, out.K_q);
    const RowMatrix C = out.G;
    for (std::size_t i = 0; i < nf; ++i) {
      const int at = static_cast<int>(6 * i);
      const BodyFrame& f = frames_[c.frames[i]];
      if (f.body == ground) continue;
      const BodyState& b = bodies[f.body];
      multiply_map(frame_map(f, b), out.K_q.middleCols<6>(at));
      out.K_q.middleCols<3>(at + 3) += C.middleCols<6>(at) * map_times_derivative(f, b, b.w);
    }
  }
  double wrench[6 * max_frames];
  Eigen::Map<Vec>(wrench, static_cast<int>(6 * nf)).noalias() = out.G.transpose() * Eigen::Map<const Vec>(lambda, rows);
  const bool bent = !out.force_q.isZero(0);  // rows of points are not
  for (std::size_t i = 0; i < nf; ++i) {
    const int at = static_cast<int>(6 * i);
    const BodyFrame& f = frames_[c.frames[i]];
    if (f.body == ground) continue;
    const BodyState& b = bodies[f.body];
    const FrameMap map = frame_map(f, b);
    multiply_map(map, out.G.middleCols<6>(at));
    if (bent) {
      multiply_map(map, out.force_q.middleCols<6>(at));
      multiply_map_transposed(map, out.force_q.middleRows<6>(at));
    }
    out.force_q.block<3, 3>(at + 3, at + 3) +=
        map_derivative(f, b, Eigen::Map<const Vec3>(wrench + at), Eigen::Map<const Vec3>(wrench + at + 3));
  }
}

void Equations::localise_rigid(const ConstraintRecord& c, const State& state, const Rates& rates, Detail detail,
                               const BodyMotions& motions, Local& out) const {
  const std::vector<BodyState>& bodies = motions.bodies;
  const auto nf = c.frames.size();
  const int rows = c.element->rows();
  FrameState frames[max_frames];
  frame_states(c, motions, frames);
  const ElementInput in = element_input(c, state, frames, motions);
  double lambda[max_rows] = {};
  for (int k = 0; k < c.rows; ++k) lambda[c.kept[k]] = rates.lambda[c.first_row + k];

  if (detail == Detail::newton) return localise_newton(c, in, lambda, motions, out);

  FrameVector rate = FrameVector::Zero(static_cast<int>(6 * nf)), bias = rate;
  std::array<Vec3, max_frames> spin_rate;  // angular part of a, world
  std::array<Bias, max_frames> biases;
  for (std::size_t i = 0; i < nf; ++i) {
    const int at = static_cast<int>(6 * i);
    const BodyFrame& f = frames_[c.frames[i]];
    spin_rate[i].setZero();
    if (f.body == ground) continue;
    const BodyState& b = bodies[f.body];
    Vec6 a = Vec6::Zero();
    const RigidColumns& columns = *rigid_[f.body];
    const int v0 = bodies_[f.body]->at().v;
    for (int k = 0; k < columns.count; ++k) a[columns.column[k]] = rates.a[v0 + k];
    spin_rate[i] = b.R * a.tail<3>();
    rate.segment<3>(at) = a.head<3>() + spin_rate[i].cross(b.R * f.arm);
    rate.segment<3>(at + 3) = spin_rate[i];
    biases[i] = frame_bias(f, b);
    bias.segment<3>(at) = biases[i].value;
  }
  ConstraintPartials p;
  c.element->linearise_all(in, lambda, rate.data(), bias.data(), p);
  const FrameVector wrench = p.C.transpose() * Eigen::Map<const Vec>(lambda, rows);

  out.G = p.C;
  out.Gv_q = p.Ctwist_pose;
  out.Ga_q = p.Crate_pose;
  out.gamma_q = -(p.Cbias_pose + p.curvature_pose);
  out.gamma_v = -p.curvature_twist;
  out.force_q = p.wrench_pose;
  out.force_t = p.wrench_t;
  out.g_t = p.g_t;
  out.gamma = -(p.C * bias + p.curvature);
  out.gamma_t = -p.curvature_t;
  out.Ga_t = p.Crate_t;
  for (std::size_t i = 0; i < nf; ++i) {
    const int at = static_cast<int>(6 * i);
    const BodyFrame& f = frames_[c.frames[i]];
    if (f.body == ground) continue;
    const BodyState& b = bodies[f.body];
    const FrameMap map = frame_map(f, b);
    for (RowMatrix* m : {&out.G, &out.Gv_q, &out.Ga_q, &out.gamma_q, &out.gamma_v})
      multiply_map(map, m->middleCols<6>(at));
    const auto C = p.C.middleCols<6>(at);
    const Eigen::Matrix<double, 6, 3> Bv_q = map_times_derivative(f, b, b.w);
    out.Gv_q.middleCols<3>(at + 3) += C * Bv_q;
    out.Ga_q.middleCols<3>(at + 3) += C * map_times_derivative(f, b, spin_rate[i]);
    out.gamma_q.middleCols<3>(at + 3) -=
        C.leftCols(3) * biases[i].by_rotation + p.curvature_twist.middleCols<6>(at) * Bv_q;
    out.gamma_v.middleCols<3>(at + 3) -= C.leftCols(3) * biases[i].by_spin;
    multiply_map(map, out.force_q.middleCols<6>(at));
    multiply_map_transposed(map, out.force_q.middleRows<6>(at));
    multiply_map_transposed(map, out.force_t.segment<6>(at));
    out.force_q.block<3, 3>(at + 3, at + 3) += map_derivative(f, b, wrench.segment<3>(at), wrench.segment<3>(at + 3));
  }
}

// Of Q = B^T W, in place:  pose <- B^T (W_pose B + W_twist (B v)_q) + (B^T w)_q,  twist <- B^T W_twist B
void Equations::localise_rigid(const ForceRecord& record, const State& state, const BodyMotions& motions,
                               ForcePartials& p) const {
  const std::vector<BodyState>& bodies = motions.bodies;
  FrameState frames[max_frames];
  double wrench[6 * max_frames];
  frame_states(record, motions, frames);
  const ElementInput in = element_input(record, state, frames, motions);
  record.element->evaluate(in, wrench);
  p.nothing = false;
  record.element->linearise(in, p);
  if (p.nothing) return;
  const bool by_velocity = record.element->uses_velocity();
  FrameMap maps[max_frames];
  for (std::size_t i = 0; i < record.frames.size(); ++i) {
    const int at = static_cast<int>(6 * i);
    const BodyFrame& f = frames_[record.frames[i]];
    if (f.body == ground) continue;
    const BodyState& b = bodies[f.body];
    maps[i] = frame_map(f, b);
    multiply_map(maps[i], p.pose.middleCols<6>(at));
    if (!by_velocity) continue;
    p.pose.middleCols<3>(at + 3) += p.twist.middleCols<6>(at).lazyProduct(map_times_derivative(f, b, b.w));
    multiply_map(maps[i], p.twist.middleCols<6>(at));
  }
  for (std::size_t i = 0; i < record.frames.size(); ++i) {
    const int at = static_cast<int>(6 * i);
    const BodyFrame& f = frames_[record.frames[i]];
    if (f.body == ground) continue;
    multiply_map_transposed(maps[i], p.pose.middleRows<6>(at));
    if (by_velocity) multiply_map_transposed(maps[i], p.twist.middleRows<6>(at));
    multiply_map_transposed(maps[i], p.time.segment<6>(at));
    p.pose.block<3, 3>(at + 3, at + 3) +=
        map_derivative(f, bodies[f.body], Eigen::Map<const Vec3>(wrench + at), Eigen::Map<const Vec3>(wrench + at + 3));
  }
}

// On the present pattern.
void Equations::seat(Partials& p) const {
  p.vv = vv_;
  for (Vec* values : {&p.M, &p.Ma_q, &p.force_q, &p.force_v})
    if (values->size() > 0 && values->size() != vv_->size()) values->setZero(vv_->size());
}

void Equations::mass(const Vec& q, Partials& out) const {
  seat(out);
  out.M.setZero();
  for (const auto& group : groups_) group->mass(q, body_slots_, out.M);
}

void Equations::constraint_jacobians(const State& state, Partials& out, Vec* gamma, Workspace& work) const {
  body_states(state.q, state.v, work);
  out.G.setZero();
  FrameState frames[max_frames];
  RowMatrix C;
  double curvature[max_rows];
  for (const ConstraintRecord& c : constraints_) {
    frame_states(c, work, frames);
    const ElementInput in = element_input(c, state, frames, work);
    c.element->jacobian(in, C);
    if (gamma != nullptr) c.element->curvature(in, curvature);
    const double* G = C.data();
    if (c.wide >= 0) {
      WideMatrices& wide = work.wide[c.wide];
      wide_jacobian(c, C, work, gamma != nullptr ? curvature : nullptr, wide);
      G = wide.G.data();
    }
    for (std::size_t i = 0; i < c.frames.size() && c.wide < 0; ++i) {
      const BodyFrame& f = frames_[c.frames[i]];
      if (f.body == ground) continue;
      const BodyState& body = work.bodies[f.body];
      const int at = static_cast<int>(6 * i);
      if (gamma != nullptr)
        Eigen::Map<Vec>(curvature, C.rows()) += C.middleCols<3>(at).lazyProduct(frame_bias(f, body).value);
      multiply_map(frame_map(f, body), C.middleCols<6>(at));
    }
    if (gamma != nullptr)
      for (int k = 0; k < c.rows; ++k) (*gamma)[c.first_row + k] = -curvature[c.kept[k]];
    for (int p = c.gv_begin; p < c.gv_end; ++p) out.G[gv_slot_[p]] += G[gv_local_[p]];
  }
}

void Equations::jacobian(const State& state, Partials& out, Workspace& work) const {
  constraint_jacobians(state, out, nullptr, work);
}

void Equations::jacobian_and_gamma(const State& state, Partials& out, Vec& gamma, Workspace& work) const {
  constraint_jacobians(state, out, &gamma, work);
}

// Adds a vector in the columns of the element's bodies.
void Equations::add_local(const ElementRecord& record, const double* local, double sign, Vec& out) const {
  for (std::size_t i = 0; i < record.frames.size(); ++i) {
    const BodyFrame& f = frames_[record.frames[i]];
    if (f.body == ground) continue;
    const int v0 = bodies_[f.body]->at().v;
    const double* own = local + record.columns[i];
    if (f.rigid) {
      const RigidColumns& columns = *rigid_[f.body];
      for (int k = 0; k < columns.count; ++k) out[v0 + k] += sign * own[columns.column[k]];
    } else {
      for (int k = 0; k < record.columns[i + 1] - record.columns[i]; ++k) out[v0 + k] += sign * own[k];
    }
  }
}

Eval Equations::linearise(const State& state, const Rates& rates, Detail detail, Partials& out, Workspace& work) const {
  update(state, work, &rates);
  mass(state.q, out);  // seats it
  for (Vec* v : {&out.Ma_q, &out.force_q, &out.force_v, &out.G, &out.K_q, &out.force_a, &out.force_lambda})
    v->setZero();
  if (detail == Detail::all) {
    for (Vec* v : {&out.Gv_q, &out.Ga_q, &out.gamma_q, &out.gamma_v, &out.force_t, &out.g_t, &out.gamma, &out.gamma_t,
                   &out.Ga_t})
      v->setZero();
  }
  for (const auto& group : groups_) {
    group->linearise_inertia(state.q, state.v, rates.a, model_.gravity, !work.without_gyroscopic, body_slots_, out.Ma_q,
                             out.force_q, out.force_v);
  }
  Local local;
  for (const ConstraintRecord& c : constraints_) {
    const ConstraintValues values = localise(c, state, rates, detail, work, local);
    const int n = c.columns.back();
    for (int p = c.vv_begin; p < c.vv_end; ++p) out.force_q[vv_slot_[p]] += values.force_q[vv_local_[p]];
    for (int p = c.gv_begin; p < c.gv_end; ++p) {
      const int at = gv_local_[p], slot = gv_slot_[p];
      out.G[slot] += values.G[at];
      if (c.has_velocity_rows && c.element->level(at / n) == Level::velocity) out.K_q[slot] += values.K_q[at];
      if (detail != Detail::all) continue;
      out.Gv_q[slot] += values.Gv_q[at];
      out.Ga_q[slot] += values.Ga_q[at];
      out.gamma_q[slot] += values.gamma_q[at];
      out.gamma_v[slot] += values.gamma_v[at];
    }
    if (detail != Detail::all) continue;
    for (int k = 0; k < c.rows; ++k) {
      const int row = c.first_row + k, from = c.kept[k];
      out.g_t[row] = (*values.g_t)[from];
      out.gamma[row] = (*values.gamma)[from];
      out.gamma_t[row] = (*values.gamma_t)[from];
      out.Ga_t[row] = (*values.Ga_t)[from];
    }
    add_local(c, values.force_t, 1, out.force_t);
  }
  ForcePartials of_force;
  for (const int i : in_play_) {
    if (!work.without_derivatives.empty() && work.without_derivatives[i]) continue;
    const ForceRecord& f = forces_[i];
    const double *by_q = of_force.pose.data(), *by_v = of_force.twist.data(), *by_t = of_force.time.data();
    if (f.wide < 0) {
      localise_rigid(f, state, work, of_force);
      if (of_force.nothing) continue;
    } else {
      WideMatrices& wide = work.wide[f.wide];
      localise_wide(f, state, work, wide);
      by_q = wide.force_q.data();
      by_v = wide.force_v.data();
      by_t = wide.force_t.data();
    }
    for (int p = f.vv_begin; p < f.vv_end; ++p) {  // out holds -Q
      const int at = vv_local_[p], slot = vv_slot_[p];
      out.force_q[slot] -= by_q[at];
      out.force_v[slot] -= by_v[at];
    }
    if (detail == Detail::all) add_local(f, by_t, -1, out.force_t);
  }
  if (!chains_.empty())
    add_chains(state, rates, detail, out, work);
  else if (detail == Detail::all && !variables_.empty())
    linearise_variables(state, work, &rates);  // for outputs that read them
  return Eval::ok;
}

}  // namespace trammel
