// Sensors: accelerations of frames, reactions of joints and rates of states among the variables. With tau = B v and
// alpha = B a + b the twists and rates of two frames, s a scalar of them and w = C^T lambda of a joint,
//
//   s'' = s_pose alpha + c    by a  s_pose B       by v  c_twist B + s_pose b_v
//                             by q  ((s_pose alpha)_pose + c_pose) B + c_twist (B v)_q + s_pose ((B a)_q + b_q)
//   F = -e . w                by lambda  -e C^T    by q  -(e w_pose + (e x w) of the frame that e turns with) B
//
// The rate of a state is its expression once more, or for an implicit state what makes its equation vanish (groups.cc).
// Forces and states that use any of the first two are solved for
// together with a and lambda: force_a stands beside M in the matrices, force_lambda beside G^T.
#include <algorithm>

#include "trammel/elements/sensor.h"
#include "trammel/equations/equations.h"

namespace trammel {

void Equations::add_sensors() {
  PlaceNames names(model_);
  names.index();
  for (const Sensor& sensor : model_.sensors) {
    VariableRecord record;
    switch (sensor_registry()[sensor.what].kind) {
      case SensorDescription::Kind::acceleration: record.frames = {sensor.a, sensor.b}; break;
      case SensorDescription::Kind::reaction: record.frames = constraints_[constraint_sensed(sensor)].frames; break;
      case SensorDescription::Kind::state_rate: {
        const StateVariable& x = model_.states[sensor.of];
        record.element = std::make_unique<MeasuredExpression>(MeasuredExpression::parse(x, names, record.frames));
        record.implicit = x.implicit;
        remember(record, variables_.size(), with_memory_variables_);
        break;
      }
    }
    variables_.push_back(std::move(record));
  }
}

int Equations::constraint_sensed(const Sensor& sensor) const {
  return sensor.of_motion ? static_cast<int>(model_.joints.size()) + sensor.of : sensor.of;
}

// Which rows each variable depends on; after these are numbered.
void Equations::find_multipliers() {
  if (!has_sensors()) return;
  int count = 0;
  for (std::size_t next = 0; next < variable_order_.size();) {
    const std::span<const int> unit = unit_of(variable_order_[next]);
    next += unit.size();
    std::vector<int> all;
    for (const int i : unit) {
      if (i >= sizes_.nV) {
        const Sensor& sensor = model_.sensors[i - sizes_.nV];
        if (sensor_registry()[sensor.what].kind == SensorDescription::Kind::reaction) {
          const ConstraintRecord& c = constraints_[constraint_sensed(sensor)];
          for (int k = 0; k < c.rows; ++k) all.push_back(c.first_row + k);
        }
      }
      for (const int signal : signals_of_variable(i)) {
        if (signal < first_variable()) continue;
        const std::vector<int>& more = variables_[signal - first_variable()].multipliers;
        all.insert(all.end(), more.begin(), more.end());
      }
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    for (const int i : unit) variables_[i].multipliers = all;
  }
  for (VariableRecord& variable : variables_) {
    variable.first_multiplier = count;
    count += static_cast<int>(variable.multipliers.size());
  }
}

// The forces and states that depend on a or lambda, and the reactions that they see.
void Equations::find_seers() {
  if (!has_sensors()) return;
  std::vector<bool> reached(variables_.size(), false);
  const auto look = [&](const std::string& who, const std::vector<int>& signals) {
    for (const int signal : signals) {
      if (signal < first_variable() || !variables_[signal - first_variable()].sees_rates) continue;
      seers_.push_back(who + " (" + model_.name_of_signal(signal) + ")");
      reached[signal - first_variable()] = true;
    }
  };
  for (const ForceRecord& f : forces_) {
    look("force '" + f.item->name + "'", f.item->signals);
    if (f.element->modes().empty() || seers_.empty() || !seers_.back().starts_with("force '" + f.item->name + "'"))
      continue;
    throw Failure({Severity::error, "modes-see-rates",
                   seers_.back() + " has modes, and its limits would depend on accelerations or reactions that change "
                                   "with the mode",
                   "use an element without modes, such as joint_friction, or a load that does not see them",
                   f.item->where});
  }
  for (std::size_t x = 0; x < states_.size(); ++x)
    look("state '" + model_.states[x].name + "'", states_[x].element->signals());
  for (auto i = variable_order_.rbegin(); i != variable_order_.rend(); ++i) {
    if (!reached[*i]) continue;
    for (const int signal : signals_of_variable(*i))
      if (signal >= first_variable()) reached[signal - first_variable()] = true;
    if (*i < sizes_.nV) continue;
    const Sensor& sensor = model_.sensors[*i - sizes_.nV];
    if (sensor_registry()[sensor.what].kind == SensorDescription::Kind::reaction)
      reactions_seen_.push_back(*i - sizes_.nV);
  }
}

void Equations::refuse_seen_rates(const std::string& who, const std::string& because) const {
  if (!sees_rates()) return;
  throw Failure({Severity::error, "seen-rates",
                 who + " cannot have forces or states that see accelerations or reactions, here " + seers_.front() +
                     ": " + because,
                 "run the model in time (hht-i3, bdf-i3, bdf-si2), or give the load without them",
                 model_.simulation.where});
}

Equations::SeenReaction Equations::seen_reaction(int number, const Workspace& work) const {
  const Sensor& sensor = model_.sensors[number];
  const SensorDescription& what = sensor_registry()[sensor.what];
  const int constraint = constraint_sensed(sensor);
  return {constraint, what.torque, frame(frames_[constraints_[constraint].frames[1]], work).R.col(what.component)};
}

bool Equations::evaluate_sensor(int number, const State& state, const Rates& rates, const Workspace& work,
                                double& value) const {
  const Sensor& sensor = model_.sensors[number];
  const SensorDescription& what = sensor_registry()[sensor.what];
  if (what.kind == SensorDescription::Kind::acceleration) {
    if (rates.a.size() != sizes_.nv) return false;
    double of_twists[12];
    const int frames[] = {sensor.a, sensor.b};
    for (int k = 0; k < 2; ++k) {
      Vec3 angular;
      Eigen::Map<Vec3>(of_twists + 6 * k) = frame_acceleration(frames_[frames[k]], rates, work, &angular);
      Eigen::Map<Vec3>(of_twists + 6 * k + 3) = angular;
    }
    return evaluate_acceleration(what, frame(frames_[sensor.a], work), frame(frames_[sensor.b], work), of_twists,
                                 value);
  }
  if (rates.lambda.size() != sizes_.multipliers()) return false;
  const int constraint = constraint_sensed(sensor);
  Vec3 force, torque;
  reaction(constraint, state, rates, work, force, torque);
  const Vec3 axis = frame(frames_[constraints_[constraint].frames[1]], work).R.col(what.component);
  value = axis.dot(what.torque ? torque : force);
  return true;
}

void Equations::add_sensor_slopes(int number, const State& state, const Rates& rates, Workspace& work,
                                  double& t) const {
  if (sensor_registry()[model_.sensors[number].what].kind == SensorDescription::Kind::acceleration)
    add_acceleration_slopes(number, rates, work);
  else
    add_reaction_slopes(number, state, rates, work, t);
}

void Equations::add_acceleration_slopes(int number, const Rates& rates, Workspace& work) const {
  const Sensor& sensor = model_.sensors[number];
  const BodyFrame* frames[] = {&frames_[sensor.a], &frames_[sensor.b]};
  VariableDerivatives& d = work.variables;
  double of_twists[12] = {};
  for (int k = 0; k < 2; ++k) {
    const BodyFrame& f = *frames[k];
    if (f.body == ground) continue;
    FramePartials& partials = d.frames[number][k];
    frame_partials(f, work, rates.a.data() + bodies_[f.body]->at().v, partials);
    Eigen::Map<Vec6>(of_twists + 6 * k) = times_own(partials.B, f.body, rates.a) + partials.bias;
  }
  SensorPartials p;
  linearise_acceleration(sensor_registry()[sensor.what], frame(*frames[0], work), frame(*frames[1], work), of_twists,
                         p);
  const PairRow pose = p.pose.row(), twist = p.twist.row(), rate = p.rate.row();
  for (int k = 0; k < 2; ++k) {
    const BodyFrame& f = *frames[k];
    if (f.body == ground) continue;
    const FramePartials& by = d.frames[number][k];
    const auto on_pose = pose.segment<6>(6 * k), on_twist = twist.segment<6>(6 * k), on_rate = rate.segment<6>(6 * k);
    const int v0 = bodies_[f.body]->at().v;
    const RigidColumns* columns = rigid_[f.body];
    const int count = columns != nullptr ? columns->count : static_cast<int>(by.B.cols());
    for (int c = 0; c < count; ++c) {
      const int own = columns != nullptr ? columns->column[c] : c;
      d.row_q[v0 + c] += on_pose.dot(by.B.col(own)) + on_twist.dot(by.Bv_q.col(own)) + on_rate.dot(by.Ba_q.col(own)) +
                         on_rate.dot(by.bias_q.col(own));
      d.row_v[v0 + c] += on_twist.dot(by.B.col(own)) + on_rate.dot(by.bias_v.col(own));
      d.row_a[v0 + c] += on_rate.dot(by.B.col(own));
    }
  }
}

void Equations::add_reaction_slopes(int number, const State& state, const Rates& rates, Workspace& work,
                                    double& t) const {
  const Sensor& sensor = model_.sensors[number];
  const SensorDescription& what = sensor_registry()[sensor.what];
  const ConstraintRecord& c = constraints_[constraint_sensed(sensor)];
  VariableDerivatives& d = work.variables;
  FrameState frames[max_frames];
  frame_states(c, work, frames);
  double lambda[max_rows] = {};
  for (int k = 0; k < c.rows; ++k) lambda[c.kept[k]] = rates.lambda[c.first_row + k];
  const FrameVector still = FrameVector::Zero(static_cast<Eigen::Index>(6 * c.frames.size()));
  ConstraintPartials p;
  c.element->linearise_all(element_input(c, state, frames, work), lambda, still.data(), still.data(), p);
  const int at = what.torque ? 9 : 6;  // of the second frame
  const Vec3 axis = frames[1].R.col(what.component);
  Vec3 wrench = Vec3::Zero();
  for (int k = 0; k < p.C.rows(); ++k) wrench += lambda[k] * p.C.row(k).segment<3>(at).transpose();
  for (int k = 0; k < c.rows; ++k)
    d.row_lambda[c.first_row + k] -= p.C.row(c.kept[k]).segment<3>(at).dot(axis.transpose());
  Eigen::Matrix<double, 1, 6> pose;
  for (std::size_t i = 0; i < c.frames.size(); ++i) {
    pose.noalias() = -axis.transpose() * p.wrench_pose.block<3, 6>(at, static_cast<Eigen::Index>(6 * i));
    if (i == 1) pose.tail<3>() -= axis.cross(wrench).transpose();
    add_frame_row(frames_[c.frames[i]], pose, Eigen::Matrix<double, 1, 6>::Zero(), work, d.row_q, d.row_v);
  }
  t -= axis.dot(p.wrench_t.segment<3>(at));
}

}  // namespace trammel
