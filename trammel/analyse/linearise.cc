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

// d/d(q) and d/d(v) of one output, in the engine's coordinates; where it sees them, d/d(a) and d/d(lambda).
struct OutputRow {
  Vec q, v;
  Vec a{}, lambda{};
};

struct OutputTable {
  std::vector<OutputRow> rows;
  std::vector<LinearName> names;
  std::vector<double> values;
  std::vector<Vec> by_input;
};

void add_model_outputs(const Equations& equations, const State& state, Workspace& work, OutputTable& table) {
  const Model& model = equations.model();
  PlaceNames names(model);
  names.index();
  for (const Output& output : model.outputs) {
    std::vector<int> frames;
    const MeasuredExpression expression = MeasuredExpression::parse(output, names, frames);
    std::vector<double> memory(static_cast<std::size_t>(expression.memory()) + 1, 0);
    FrameState states[max_frames];
    for (std::size_t k = 0; k < frames.size(); ++k) states[k] = equations.frame(frames[k], work);
    expression.accept(equations.expression_input(state, states, memory.data(), work), memory.data());
    ExpressionRow row;
    equations.linearise_expression(expression, frames, memory.data(), state, work, row);
    table.rows.push_back({std::move(row.q), std::move(row.v), std::move(row.a), std::move(row.lambda)});
    table.names.push_back({output.name, output.unit});
    table.values.push_back(row.value);
    table.by_input.push_back(std::move(row.u));
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
    if (!kind_of(body).is_place) {
      OutputRow value{Vec::Zero(nv), Vec::Zero(nv)}, rate = value;
      value.q[v0] = rate.v[v0] = 1;
      const std::string unit = si_unit(body.quantity);
      add(CoordinateSignals(body.name).value(), unit, state.q[equations.first_coordinate(b)], value);
      add(CoordinateSignals(body.name).rate(), (unit.empty() ? "1" : unit) + "/s", state.v[v0], rate);
      continue;
    }
    const BodyFrame& origin = equations.origin(b);
    const FrameState at = equations.frame(origin, work);
    const BodyDescription& kind = kind_of(body);
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
      if (signal.angular && !kind.has_axes()) continue;
      for (int i = 0; i < 3; ++i) {
        if (kind.is_planar && signal.angular != (i == 2)) continue;
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

[[noreturn]] void refuse_linear(const char* id, const std::string& message, const char* hint) {
  throw Failure({Severity::error, id, message, hint, {}}, ExitCode::bad_model);
}

// Builds the system piece by piece, in the order of `make`.
class Lineariser {
 public:
  Lineariser(const Equations& equations, const State& state, const Rates& rates)
      : equations_(equations),
        state_(state),
        rates_(rates),
        nv_(equations.sizes().nv),
        rows_(equations.sizes().multipliers()),
        nu_(equations.sizes().nu),
        nx_(equations.sizes().nx),
        work_(equations.make_workspace()),
        p_(equations.make_partials(Detail::all)),
        scales_(equations.scales()),
        saddle_(equations, 1e-8, SaddleSystem::Keep::factors_only),
        b_(nv_ + rows_),
        z_(nv_ + rows_) {
    equations_.linearise(state_, rates_, Detail::all, p_, work_);
    equations_.update(state_, work_, &rates_);
    a_world_ = to_world(equations_, work_, rates_.a);
    v_world_ = to_world(equations_, work_, state_.v);
  }

  LinearSystem make(LinearOutputs outputs) {
    out_.speed = nv_ > 0 ? state_.v.cwiseQuotient(scales_).lpNorm<Eigen::Infinity>() : 0;
    out_.acceleration = nv_ > 0 ? rates_.a.cwiseQuotient(scales_).lpNorm<Eigen::Infinity>() : 0;
    choose_coordinates();
    move_bodies();
    if (out_.speed > 0 && rows_ > 0) turn_velocities();
    saddle_.combine_mass(p_, Level::velocity, equations_.sees_rates());
    if (!saddle_.factor()) refuse_singular();
    answers_.setZero(nv_ + rows_, total() + nu_);
    accelerate();
    act_on_states();
    act_on_inputs();
    find_rates();
    reduce_mass();
    add_outputs(outputs);
    add_names();
    return std::move(out_);
  }

 private:
  void choose_coordinates() {
    Mat G_world = equations_.gv().dense(p_.G);
    columns_to_world(equations_, work_, G_world);
    velocities_ = reduce_rows(G_world, scales_);
    positions_ = velocities_;
    if (!equations_.velocity_rows().empty()) {
      std::vector<int> holonomic;
      for (int i = 0; i < rows_; ++i) {
        if (equations_.level(i) == Level::position) holonomic.push_back(i);
      }
      positions_ = reduce_rows(keep_rows(G_world, holonomic), scales_);
    }
    out_.worst_pivot = std::min(positions_.worst_pivot, velocities_.worst_pivot);
    np_ = positions_.basis.cols();
    ns_ = velocities_.basis.cols();
    if (total() == 0)
      refuse_linear("no-freedom", "the mechanism has no degrees of freedom: there is nothing to linearise",
                    "motions hold it; leave out the one whose place an input or a force shall take");
    out_.positions = static_cast<int>(np_);
    out_.position_states = positions_.chosen;
    out_.velocity_states = velocities_.chosen;
  }

  // Displacement dq and velocity dv of all bodies for each state, world axes.
  void move_bodies() {
    out_.displacement.setZero(nv_, total());
    out_.velocity.setZero(nv_, total());
    out_.displacement.leftCols(np_) = positions_.basis;
    out_.velocity.middleCols(np_, ns_) = velocities_.basis;
  }

  // dw = R^T dW + w x theta
  Vec engine_velocity(const Vec& dV, const Vec& dQ) const {
    Vec dv = from_world(equations_, work_, dV);
    for (const int column : equations_.rotation_columns()) {
      const int body = equations_.body_of_velocity(column);
      const Vec3 theta = work_.bodies[body].R.transpose() * dQ.segment<3>(column);
      dv.segment<3>(column) += Vec3(state_.v.segment<3>(column)).cross(theta);
    }
    return dv;
  }

  // V: what displacements do to velocities, because G turns with the position.
  void turn_velocities() {
    Vec weights = scales_;
    for (double& w : weights) w = equations_.greatest_mass() * std::pow(equations_.length() / w, 2);
    saddle_.combine_projection(weights, p_.G, Level::velocity);
    if (!saddle_.factor()) refuse_singular();
    const Mat &Z = positions_.basis, &Y = velocities_.basis;
    for (Eigen::Index k = 0; k < np_; ++k) {
      const Vec dQ = Z.col(k), dq = from_world(equations_, work_, dQ), held = engine_velocity(Vec::Zero(nv_), dQ);
      b_.setZero();
      Vec right = Vec::Zero(rows_);
      equations_.gv().multiply_add(p_.G, -1, held.data(), right.data());
      equations_.gv().multiply_add(p_.Gv_q, -1, dq.data(), right.data());
      b_.tail(rows_) = right;
      saddle_.solve_refined(b_, z_);
      Vec dV = to_world(equations_, work_, z_.head(nv_));
      for (Eigen::Index l = 0; l < ns_; ++l)
        dV -= Y.col(l) * Vec(to_world(equations_, work_, z_.head(nv_)))[velocities_.chosen[l]];
      out_.velocity.col(k) = dV;
    }
  }

  // The columns of displacements and velocities.
  void accelerate() {
    out_.A.setZero(total(), total());
    out_.B.setZero(total(), nu_);
    if (nx_ > 0) {
      equations_.linearise_states(state_, states_, work_, &rates_);
      equations_.update(state_, work_, &rates_);
    }
    for (Eigen::Index k = 0; k < np_ + ns_; ++k) {
      const Vec dQ = out_.displacement.col(k), dV = out_.velocity.col(k);
      const Vec dq = from_world(equations_, work_, dQ), dv = engine_velocity(dV, dQ);
      if (nx_ > 0) out_.A.col(k).tail(nx_) = states_.rate_q * dq + states_.rate_v * dv;
      solve_for_acceleration(dq, dv);
      answers_.col(k) = z_;
      add_seen(out_.A.col(k));
      Vec rate = dV, da = to_world(equations_, work_, z_.head(nv_));  // of dQ and dV
      for (const int column : equations_.rotation_columns()) {
        const Vec3 phi = dQ.segment<3>(column);
        rate.segment<3>(column) += Vec3(v_world_.segment<3>(column)).cross(phi);
        da.segment<3>(column) += phi.cross(Vec3(a_world_.segment<3>(column)));
      }
      for (Eigen::Index l = 0; l < np_; ++l) out_.A(l, k) = rate[positions_.chosen[l]];
      for (Eigen::Index l = 0; l < ns_; ++l) out_.A(np_ + l, k) = da[velocities_.chosen[l]];
    }
  }

  void solve_for_acceleration(const Vec& dq, const Vec& dv) {
    Vec top = Vec::Zero(nv_), bottom = Vec::Zero(rows_);
    equations_.vv().multiply_add(p_.Ma_q, -1, dq.data(), top.data());
    equations_.vv().multiply_add(p_.force_q, -1, dq.data(), top.data());
    equations_.vv().multiply_add(p_.force_v, -1, dv.data(), top.data());
    equations_.gv().multiply_add(p_.Ga_q, -1, dq.data(), bottom.data());
    equations_.gv().multiply_add(p_.gamma_q, 1, dq.data(), bottom.data());
    equations_.gv().multiply_add(p_.gamma_v, 1, dv.data(), bottom.data());
    b_ << top, bottom;
    saddle_.solve_refined(b_, z_);
    if (!std::isfinite(z_.sum())) refuse_singular();
  }

  // What the accelerations and reactions z_ do to the rates of states that see them.
  template <class Column>
  void add_seen(Column&& column) const {
    if (nx_ > 0 && equations_.sees_rates())
      column.tail(nx_) += states_.rate_a * z_.head(nv_) + states_.rate_lambda * z_.tail(rows_);
  }

  // Accelerations of the chosen velocities under a force; what answers it goes to column `at` of the answers.
  template <class Column>
  void answer_force(const Vec& force, Column&& column, Eigen::Index at) {
    b_.setZero();
    b_.head(nv_) = force;
    saddle_.solve_refined(b_, z_);
    answers_.col(at) = z_;
    const Vec da = to_world(equations_, work_, z_.head(nv_));
    for (Eigen::Index l = 0; l < ns_; ++l) column[np_ + l] = da[velocities_.chosen[l]];
  }

  void act_on_states() {
    for (Eigen::Index x = 0; x < nx_; ++x) {
      answer_force(-states_.force_x.col(x), out_.A.col(np_ + ns_ + x), np_ + ns_ + x);
      out_.A.col(np_ + ns_ + x).tail(nx_) = states_.rate_x.col(x);
      add_seen(out_.A.col(np_ + ns_ + x));
    }
  }

  void act_on_inputs() {
    if (nx_ > 0) out_.B.bottomRows(nx_) = states_.rate_u;
    Vec force_u;
    for (int u = 0; u < nu_; ++u) {
      equations_.force_by_input(state_, u, force_u, work_, &rates_);
      answer_force(-force_u, out_.B.col(u), total() + u);
      add_seen(out_.B.col(u));
    }
  }

  void find_rates() {
    out_.x_dot.setZero(total());
    if (nx_ > 0) {
      Vec rate;
      if (equations_.state_rates(state_, rate, work_, &rates_) == Eval::ok) out_.x_dot.tail(nx_) = rate;
      equations_.update(state_, work_, &rates_);
    }
    for (Eigen::Index l = 0; l < np_; ++l) out_.x_dot[l] = v_world_[positions_.chosen[l]];
    for (Eigen::Index l = 0; l < ns_; ++l) out_.x_dot[np_ + l] = a_world_[velocities_.chosen[l]];
  }

  void reduce_mass() {
    const Mat& Y = velocities_.basis;
    Mat moved(nv_, ns_);
    for (Eigen::Index k = 0; k < ns_; ++k) {
      const Vec dv = from_world(equations_, work_, Y.col(k));
      Vec m(nv_);
      equations_.multiply_mass(state_.q, dv, m);
      moved.col(k) = to_world(equations_, work_, m);
    }
    out_.mass = Y.transpose() * moved;
    out_.mass = (0.5 * (out_.mass + out_.mass.transpose())).eval();
  }

  void add_outputs(LinearOutputs outputs) {
    const bool has_own = !equations_.model().outputs.empty();
    const bool own = outputs == LinearOutputs::model || outputs == LinearOutputs::all ||
                     (outputs == LinearOutputs::automatic && has_own);
    const bool bodies = outputs == LinearOutputs::bodies || outputs == LinearOutputs::all ||
                        (outputs == LinearOutputs::automatic && !has_own);
    OutputTable table;
    if (own) add_model_outputs(equations_, state_, work_, table);
    if (bodies) add_body_outputs(equations_, state_, work_, table);
    const auto ny = static_cast<Eigen::Index>(table.rows.size());
    out_.C.setZero(ny, total());
    out_.D.setZero(ny, nu_);
    out_.y = Eigen::Map<const Vec>(table.values.data(), ny);
    for (Eigen::Index k = 0; k < np_ + ns_; ++k) {
      const Vec dQ = out_.displacement.col(k);
      const Vec dq = from_world(equations_, work_, dQ), dv = engine_velocity(out_.velocity.col(k), dQ);
      for (Eigen::Index i = 0; i < ny; ++i) out_.C(i, k) = table.rows[i].q.dot(dq) + table.rows[i].v.dot(dv);
    }
    for (Eigen::Index i = 0; i < ny; ++i) {
      out_.D.row(i) = table.by_input[i].head(nu_).transpose();
      out_.C.row(i).tail(nx_) = table.by_input[i].tail(nx_).transpose();
      const OutputRow& row = table.rows[static_cast<std::size_t>(i)];
      if (row.a.size() == 0) continue;
      out_.C.row(i) += row.a.transpose() * answers_.topLeftCorner(nv_, total()) +
                       row.lambda.transpose() * answers_.bottomLeftCorner(rows_, total());
      out_.D.row(i) += row.a.transpose() * answers_.topRightCorner(nv_, nu_) +
                       row.lambda.transpose() * answers_.bottomRightCorner(rows_, nu_);
    }
    out_.outputs = std::move(table.names);
  }

  void add_names() {
    for (const int i : positions_.chosen)
      out_.states.push_back({equations_.name_of_velocity(i), velocity_unit(equations_, i, false)});
    for (const int i : velocities_.chosen)
      out_.states.push_back({"rate of " + equations_.name_of_velocity(i), velocity_unit(equations_, i, true)});
    for (const StateVariable& x : equations_.model().states) out_.states.push_back({"state '" + x.name + "'", x.unit});
    for (const Input& input : equations_.model().inputs) out_.inputs.push_back({input.name, input.unit});
  }

  [[noreturn]] void refuse_singular() const {
    Workspace scratch = equations_.make_workspace();
    throw Failure(no_accelerations(equations_, state_, scratch, "at this state, so there is no linear system"),
                  ExitCode::bad_model);
  }
  Eigen::Index total() const { return np_ + ns_ + nx_; }

  const Equations& equations_;
  const State& state_;
  const Rates& rates_;
  int nv_, rows_, nu_, nx_;
  Workspace work_;
  Partials p_;
  StatePartials states_;
  Vec scales_;
  Reduction positions_, velocities_;  // Z and Y
  Eigen::Index np_ = 0, ns_ = 0;
  Vec a_world_, v_world_;
  SaddleSystem saddle_;
  Vec b_, z_;
  Mat answers_;  // da and dlambda of each state and input
  LinearSystem out_;
};

}  // namespace

LinearSystem linearise_system(const Equations& equations, const State& state, const Rates& rates,
                              LinearOutputs outputs) {
  const int nv = equations.sizes().nv;
  if (nv > most_velocities)
    refuse_linear("too-large",
                  "the model has " + std::to_string(nv) + " velocities, too many for dense matrices of a linear system",
                  "`trammel modes` finds the lowest modes of large models");
  return Lineariser(equations, state, rates).make(outputs);
}

}  // namespace trammel
