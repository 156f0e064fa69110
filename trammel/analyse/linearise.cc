// Perturbations in world axes: for a spatial body dq = (dr, R^T phi), and with W = R w, W' = R w'
//
//   dw = R^T dW + w x R^T phi,     dW' = R (dw' + R^T phi x w'),     phi' = dW + W x phi          (7.9)
//
// dq = Z p spans the null space of G; dv = Y s + V p, the second part because G turns with the position.
#include "trammel/analyse/linearise.h"

#include <Eigen/LU>
#include <cmath>

#include "trammel/elements/measure.h"
#include "trammel/equations/saddle.h"
#include "trammel/initial/consistent.h"
#include "trammel/model/signal_names.h"
#include "trammel/rank/reduction.h"

namespace trammel {
namespace {

constexpr int most_velocities = 1500;  // dense factorisations beyond take minutes

// d/d(q) and d/d(v) of one output, in the engine's coordinates.
struct OutputRow {
  Vec q, v;
};

struct OutputTable {
  std::vector<OutputRow> rows;
  std::vector<LinearName> names;
  std::vector<double> values;
  std::vector<Vec> by_input;
};

void add_model_outputs(const Equations& equations, const State& state, const Workspace& work, OutputTable& table) {
  const Model& model = equations.model();
  PlaceNames names(model);
  names.index();
  for (const Output& output : model.outputs) {
    std::vector<int> frames;
    const MeasuredExpression expression = MeasuredExpression::parse(output, names, frames);
    std::vector<double> memory(static_cast<std::size_t>(expression.memory()) + 1, 0);
    FrameState states[max_frames];
    for (std::size_t k = 0; k < frames.size(); ++k) states[k] = equations.frame(frames[k], work);
    ElementInput in{state.t, states, memory.data(), state.u.data()};
    expression.accept(in, memory.data());
    ExpressionPartials p;
    OutputRow row{Vec::Zero(equations.sizes().nv), Vec::Zero(equations.sizes().nv)};
    Vec by_input = Vec::Zero(state.u.size());
    for (int u = 0; u < by_input.size(); ++u) {
      in.by_input = u;
      expression.linearise(in, static_cast<int>(frames.size()), p);
      by_input[u] = p.time;
    }
    in.by_input = -1;
    expression.linearise(in, static_cast<int>(frames.size()), p);
    for (std::size_t k = 0; k < frames.size(); ++k) {
      const auto at = static_cast<Eigen::Index>(6 * k);
      equations.add_frame_row(equations.rigid_frame(frames[k]), p.pose.segment<6>(at), p.twist.segment<6>(at), work,
                              row.q, row.v);
    }
    table.rows.push_back(std::move(row));
    table.names.push_back({output.name, output.unit});
    table.values.push_back(p.value);
    table.by_input.push_back(std::move(by_input));
  }
}

void add_body_outputs(const Equations& equations, const State& state, const Workspace& work, OutputTable& table) {
  const Model& model = equations.model();
  const int nv = equations.sizes().nv;
  const auto add = [&](const std::string& name, const std::string& unit, double value, OutputRow row) {
    table.rows.push_back(std::move(row));
    table.names.push_back({name, unit});
    table.values.push_back(value);
    table.by_input.push_back(Vec::Zero(state.u.size()));
  };
  for (int b = 0; b < static_cast<int>(model.bodies.size()); ++b) {
    const Body& body = model.bodies[b];
    const int v0 = equations.first_velocity(b);
    if (body.kind == BodyKind::scalar) {
      OutputRow value{Vec::Zero(nv), Vec::Zero(nv)}, rate = value;
      value.q[v0] = rate.v[v0] = 1;
      const std::string unit = si_unit(body.quantity);
      add(CoordinateSignals(body.name).value(), unit, state.q[equations.first_coordinate(b)], value);
      add(CoordinateSignals(body.name).rate(), (unit.empty() ? "1" : unit) + "/s", state.v[v0], rate);
      continue;
    }
    RigidFrame origin;
    origin.body = b;
    origin.arm = -body.center_of_mass;
    const FrameState at = frame_state(origin, work.bodies[b]);
    const BodySignals names(body.name);
    struct Signal4 {
      std::string name;
      const char* unit;
      bool of_twist, angular;
      Vec3 value;
    };
    const Signal4 signals[] = {{names.position(), "m", false, false, at.p},
                               {names.rotation(), "rad", false, true, Vec3::Zero()},
                               {names.velocity(), "m/s", true, false, at.v},
                               {names.angular_velocity(), "rad/s", true, true, at.w}};
    for (const Signal4& signal : signals) {
      if (signal.angular && body.kind == BodyKind::point) continue;
      for (int i = 0; i < 3; ++i) {
        if (body.kind == BodyKind::planar && signal.angular != (i == 2)) continue;
        Eigen::Matrix<double, 1, 6> pose = Eigen::Matrix<double, 1, 6>::Zero(), twist = pose;
        (signal.of_twist ? twist : pose)[i + (signal.angular ? 3 : 0)] = 1;
        OutputRow row{Vec::Zero(nv), Vec::Zero(nv)};
        equations.add_frame_row(origin, pose, twist, work, row.q, row.v);
        add(component(signal.name, all_axes[i]), signal.unit, signal.value[i], std::move(row));
      }
    }
  }
}

const char* velocity_unit(const Equations& equations, int i, bool rate) {
  switch (equations.quantity_of_velocity(i)) {
    case Quantity::angle: return rate ? "rad/s" : "rad";
    case Quantity::length: return rate ? "m/s" : "m";
    default: return rate ? "1/s" : "";
  }
}

Mat keep_rows(const Mat& m, const std::vector<int>& rows) {
  Mat out(static_cast<Eigen::Index>(rows.size()), m.cols());
  for (std::size_t i = 0; i < rows.size(); ++i) out.row(static_cast<Eigen::Index>(i)) = m.row(rows[i]);
  return out;
}

}  // namespace

LinearSystem linearise_system(const Equations& equations, const State& state, const Rates& rates,
                              LinearOutputs outputs) {
  const int nv = equations.sizes().nv, rows = equations.sizes().multipliers(), nu = equations.sizes().nu;
  const Model& model = equations.model();
  if (nv > most_velocities) {
    throw Failure(
        {Severity::error,
         "too-large",
         "the model has " + std::to_string(nv) + " velocities, too many for dense matrices of a linear system",
         "`trammel modes` finds the lowest modes of large models",
         {}},
        ExitCode::bad_model);
  }
  Workspace work = equations.make_workspace();
  Partials p = equations.make_partials(Detail::all);
  equations.linearise(state, rates, Detail::all, p, work);
  equations.update(state, work);
  const Vec scales = equations.scales();
  LinearSystem out;
  out.speed = nv > 0 ? state.v.cwiseQuotient(scales).lpNorm<Eigen::Infinity>() : 0;
  out.acceleration = nv > 0 ? rates.a.cwiseQuotient(scales).lpNorm<Eigen::Infinity>() : 0;

  // ---- independent coordinates
  const Mat G = equations.gv().dense(p.G);
  Mat G_world = G;
  columns_to_world(equations, work, G_world);
  Reduction positions, velocities;
  velocities = reduce_rows(G_world, scales);
  positions = velocities;
  if (!equations.velocity_rows().empty()) {
    std::vector<int> holonomic;
    for (int i = 0; i < rows; ++i) {
      if (equations.level(i) == Level::position) holonomic.push_back(i);
    }
    positions = reduce_rows(keep_rows(G_world, holonomic), scales);
  }
  out.worst_pivot = std::min(positions.worst_pivot, velocities.worst_pivot);
  const Mat &Z = positions.basis, &Y = velocities.basis;
  const Eigen::Index np = Z.cols(), ns = Y.cols(), n = np + ns, nx = equations.sizes().nx, total = n + nx;
  if (total == 0) {
    throw Failure({Severity::error,
                   "no-freedom",
                   "the mechanism has no degrees of freedom: there is nothing to linearise",
                   "motions hold it; leave out the one whose place an input or a force shall take",
                   {}},
                  ExitCode::bad_model);
  }
  out.positions = static_cast<int>(np);
  out.position_states = positions.chosen;
  out.velocity_states = velocities.chosen;

  // ---- motions of all bodies for each state: displacement dq, velocity dv (world)
  const Vec a_world = to_world(equations, work, rates.a), v_world = to_world(equations, work, state.v);
  out.displacement.setZero(nv, total);
  out.velocity.setZero(nv, total);
  out.displacement.leftCols(np) = Z;
  out.velocity.middleCols(np, ns) = Y;
  const auto engine_velocity = [&](const Vec& dV, const Vec& dQ) {  // dw = R^T dW + w x theta
    Vec dv = from_world(equations, work, dV);
    for (const int column : equations.rotation_columns()) {
      const auto body = static_cast<std::size_t>(equations.body_of_velocity(column));
      const Vec3 theta = work.bodies[body].R.transpose() * dQ.segment<3>(column);
      dv.segment<3>(column) += Vec3(state.v.segment<3>(column)).cross(theta);
    }
    return dv;
  };
  SaddleSystem saddle(equations, 1e-8, SaddleSystem::Keep::factors_only);
  Vec b(nv + rows), z(nv + rows);
  const auto fail_singular = [&]() -> Failure {
    Workspace scratch = equations.make_workspace();
    return Failure(no_accelerations(equations, state, scratch, "at this state, so there is no linear system"),
                   ExitCode::bad_model);
  };
  if (out.speed > 0 && rows > 0) {
    Vec weights = scales;
    for (double& w : weights) w = equations.greatest_mass() * std::pow(equations.length() / w, 2);
    saddle.combine_projection(weights, p.G, Level::velocity);
    if (!saddle.factor()) throw fail_singular();
    for (Eigen::Index k = 0; k < np; ++k) {
      const Vec dQ = Z.col(k), dq = from_world(equations, work, dQ), held = engine_velocity(Vec::Zero(nv), dQ);
      b.setZero();
      Vec right = Vec::Zero(rows);
      equations.gv().multiply_add(p.G, -1, held.data(), right.data());
      equations.gv().multiply_add(p.Gv_q, -1, dq.data(), right.data());
      b.tail(rows) = right;
      saddle.solve_refined(b, z);
      Vec dV = to_world(equations, work, z.head(nv));
      for (Eigen::Index l = 0; l < ns; ++l)
        dV -= Y.col(l) * Vec(to_world(equations, work, z.head(nv)))[velocities.chosen[l]];
      out.velocity.col(k) = dV;
    }
  }

  // ---- accelerations
  saddle.combine_mass(p);
  if (!saddle.factor()) throw fail_singular();
  out.A.setZero(total, total);
  out.B.setZero(total, nu);
  StatePartials states;
  if (nx > 0) {
    equations.linearise_states(state, states, work);
    equations.update(state, work);
  }
  for (Eigen::Index k = 0; k < n; ++k) {
    const Vec dQ = out.displacement.col(k), dV = out.velocity.col(k);
    const Vec dq = from_world(equations, work, dQ), dv = engine_velocity(dV, dQ);
    Vec top = Vec::Zero(nv), bottom = Vec::Zero(rows);
    equations.vv().multiply_add(p.Ma_q, -1, dq.data(), top.data());
    equations.vv().multiply_add(p.force_q, -1, dq.data(), top.data());
    equations.vv().multiply_add(p.force_v, -1, dv.data(), top.data());
    equations.gv().multiply_add(p.Ga_q, -1, dq.data(), bottom.data());
    equations.gv().multiply_add(p.gamma_q, 1, dq.data(), bottom.data());
    equations.gv().multiply_add(p.gamma_v, 1, dv.data(), bottom.data());
    b << top, bottom;
    if (nx > 0) out.A.col(k).tail(nx) = states.rate_q * dq + states.rate_v * dv;
    saddle.solve_refined(b, z);
    if (!std::isfinite(z.sum())) throw fail_singular();
    Vec rate = dV, da = to_world(equations, work, z.head(nv));  // of dQ and dV
    for (const int column : equations.rotation_columns()) {
      const Vec3 phi = dQ.segment<3>(column);
      rate.segment<3>(column) += Vec3(v_world.segment<3>(column)).cross(phi);
      da.segment<3>(column) += phi.cross(Vec3(a_world.segment<3>(column)));
    }
    for (Eigen::Index l = 0; l < np; ++l) out.A(l, k) = rate[positions.chosen[l]];
    for (Eigen::Index l = 0; l < ns; ++l) out.A(np + l, k) = da[velocities.chosen[l]];
  }
  for (Eigen::Index x = 0; x < nx; ++x) {
    b.setZero();
    b.head(nv) = -states.force_x.col(x);
    saddle.solve_refined(b, z);
    const Vec da = to_world(equations, work, z.head(nv));
    for (Eigen::Index l = 0; l < ns; ++l) out.A(np + l, n + x) = da[velocities.chosen[l]];
    out.A.col(n + x).tail(nx) = states.rate_x.col(x);
  }
  if (nx > 0) out.B.bottomRows(nx) = states.rate_u;
  Vec force_u;
  for (int u = 0; u < nu; ++u) {
    equations.force_by_input(state, u, force_u, work);
    b.setZero();
    b.head(nv) = -force_u;
    saddle.solve_refined(b, z);
    const Vec da = to_world(equations, work, z.head(nv));
    for (Eigen::Index l = 0; l < ns; ++l) out.B(np + l, u) = da[velocities.chosen[l]];
  }
  out.x_dot.setZero(total);
  if (nx > 0) {
    Vec rate;
    if (equations.state_rates(state, rate, work) == Eval::ok) out.x_dot.tail(nx) = rate;
    equations.update(state, work);
  }
  for (Eigen::Index l = 0; l < np; ++l) out.x_dot[l] = v_world[positions.chosen[l]];
  for (Eigen::Index l = 0; l < ns; ++l) out.x_dot[np + l] = a_world[velocities.chosen[l]];
  Mat moved(nv, ns);
  for (Eigen::Index k = 0; k < ns; ++k) {
    const Vec dv = from_world(equations, work, Y.col(k));
    Vec m(nv);
    equations.multiply_mass(dv, m);
    moved.col(k) = to_world(equations, work, m);
  }
  out.mass = Y.transpose() * moved;
  out.mass = (0.5 * (out.mass + out.mass.transpose())).eval();

  // ---- outputs
  OutputTable table;
  const bool own = outputs == LinearOutputs::model || outputs == LinearOutputs::all ||
                   (outputs == LinearOutputs::automatic && !model.outputs.empty());
  const bool bodies = outputs == LinearOutputs::bodies || outputs == LinearOutputs::all ||
                      (outputs == LinearOutputs::automatic && model.outputs.empty());
  if (own) add_model_outputs(equations, state, work, table);
  if (bodies) add_body_outputs(equations, state, work, table);
  const auto ny = static_cast<Eigen::Index>(table.rows.size());
  out.C.setZero(ny, total);
  out.D.setZero(ny, nu);
  out.y = Eigen::Map<const Vec>(table.values.data(), ny);
  for (Eigen::Index k = 0; k < n; ++k) {
    const Vec dQ = out.displacement.col(k);
    const Vec dq = from_world(equations, work, dQ), dv = engine_velocity(out.velocity.col(k), dQ);
    for (Eigen::Index i = 0; i < ny; ++i) {
      const OutputRow& row = table.rows[i];
      out.C(i, k) = row.q.dot(dq) + row.v.dot(dv);
    }
  }
  for (Eigen::Index i = 0; i < ny; ++i) {
    out.D.row(i) = table.by_input[i].head(nu).transpose();
    out.C.row(i).tail(nx) = table.by_input[i].tail(nx).transpose();
  }
  out.outputs = std::move(table.names);
  for (const int i : positions.chosen)
    out.states.push_back({equations.name_of_velocity(i), velocity_unit(equations, i, false)});
  for (const int i : velocities.chosen)
    out.states.push_back({"rate of " + equations.name_of_velocity(i), velocity_unit(equations, i, true)});
  for (const StateVariable& x : model.states) out.states.push_back({"state '" + x.name + "'", x.unit});
  for (const Input& input : model.inputs) out.inputs.push_back({input.name, input.unit});
  return out;
}

}  // namespace trammel
