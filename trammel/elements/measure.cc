#include "trammel/elements/measure.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "trammel/elements/body.h"
#include "trammel/elements/model_scope.h"
#include "trammel/elements/sensor.h"

namespace trammel {

const std::vector<MeasureDescription>& measure_registry() {
  using K = MeasureKind;
  using Q = Quantity;
  const auto along = [](int i) { return Scalar{Primitive::in_plane, i}; };
  const Scalar distance{Primitive::distance}, angle{Primitive::angle};
  static const std::vector<MeasureDescription> table = {
      {K::distance, "distance", Q::length, MeasureOf::value, distance, "Distance of the origins."},
      {K::speed, "speed", Q::speed, MeasureOf::rate, distance, "Rate of the distance: positive when moving apart."},
      {K::dx, "dx", Q::length, MeasureOf::value, along(0), "Position of b from a along the x axis of a."},
      {K::dy, "dy", Q::length, MeasureOf::value, along(1), "Position of b from a along the y axis of a."},
      {K::dz, "dz", Q::length, MeasureOf::value, along(2), "Position of b from a along the z axis of a."},
      {K::vx, "vx", Q::speed, MeasureOf::rate, along(0), "Rate of dx, as seen from a."},
      {K::vy, "vy", Q::speed, MeasureOf::rate, along(1), "Rate of dy, as seen from a."},
      {K::vz, "vz", Q::speed, MeasureOf::rate, along(2), "Rate of dz, as seen from a."},
      {K::angle, "angle", Q::angle, MeasureOf::value, angle,
       "Angle of b about the z axis of a, over any number of turns."},
      {K::rate, "rate", Q::angular_speed, MeasureOf::rate, angle, "Rate of the angle."},
      {K::wx, "wx", Q::angular_speed, MeasureOf::spin, along(0),
       "Angular velocity of b against a along the x axis of a."},
      {K::wy, "wy", Q::angular_speed, MeasureOf::spin, along(1),
       "Angular velocity of b against a along the y axis of a."},
      {K::wz, "wz", Q::angular_speed, MeasureOf::spin, along(2),
       "Angular velocity of b against a along the z axis of a."},
  };
  return table;
}

namespace {
const MeasureDescription& describe(MeasureKind kind) { return measure_registry()[static_cast<std::size_t>(kind)]; }
}  // namespace

const MeasureDescription* find_measure(std::string_view name) {
  for (const MeasureDescription& d : measure_registry()) {
    if (d.name == name) return &d;
  }
  return nullptr;
}

// ---- values and derivatives ----------------------------------------------------------------------------------------

bool evaluate_measure(MeasureKind kind, const FrameState& a, const FrameState& b, double near, double& value) {
  const MeasureDescription& m = describe(kind);
  if (m.of == MeasureOf::spin) {
    value = a.R.col(m.scalar.i).dot(b.w - a.w);
    return true;
  }
  PairScalar s(m.scalar, a, b, m.of == MeasureOf::rate ? 1 : 0);
  if (m.scalar.is_multi_turn()) s.unwrap(near);
  if (m.of == MeasureOf::value)
    value = s.value();
  else if (s.good())
    value = s.rate(PairTwist(a, b));
  return s.good();
}

bool linearise_measure(MeasureKind kind, const FrameState& a, const FrameState& b, double near, MeasurePartials& out) {
  out = {};
  const MeasureDescription& m = describe(kind);
  if (m.of == MeasureOf::spin) {
    const Vec3 axis = a.R.col(m.scalar.i), w = b.w - a.w;
    out.value = axis.dot(w);
    out.pose.a = axis.cross(w);
    out.twist.a = -axis;
    out.twist.b = axis;
    return true;
  }
  PairScalar s(m.scalar, a, b, m.of == MeasureOf::rate ? 2 : 1);
  if (!s.good()) return false;
  if (m.of == MeasureOf::value) {
    if (m.scalar.is_multi_turn()) s.unwrap(near);
    out.value = s.value();
    out.pose = s.gradient();
  } else {
    const PairTwist u(a, b);
    out.value = s.rate(u);
    out.pose = s.contracted(u);
    out.twist = s.gradient();
  }
  return true;
}

// ---- names ---------------------------------------------------------------------------------------------------------

namespace {

// A frame with the axes of its body. A node of a body that bends may stand at the origin, but does not stay there.
bool is_origin(const Model& model, const Frame& frame) {
  return frame.local.position.isZero(0) && frame.local.rotation.coeffs() == Quat::Identity().coeffs() &&
         (frame.floating || frame.body == ground || !kind_of(model.bodies[frame.body]).is_flexible);
}

}  // namespace

void PlaceNames::index() {
  using Kind = Place::Kind;
  places_.clear();
  origins_.clear();
  signals_.clear();
  const auto add = [this](const std::string& name, Kind kind, std::size_t i) {
    if (!name.empty()) places_.try_emplace(name, Place{kind, static_cast<int>(i)});  // the first of a name counts
  };
  for (std::size_t i = 0; i < model_->frames.size(); ++i) {
    const Frame& frame = model_->frames[i];
    add(frame.name, Kind::frame, i);
    if (is_origin(*model_, frame)) {
      origins_.try_emplace(frame.body, static_cast<int>(i));
    }
  }
  places_.try_emplace("ground", Place{Kind::body, ground});
  for (std::size_t i = 0; i < model_->bodies.size(); ++i) add(model_->bodies[i].name, Kind::body, i);
  for (std::size_t i = 0; i < model_->joints.size(); ++i) add(model_->joints[i].name, Kind::joint, i);
  int signal = 0;
  for (const Input& input : model_->inputs) signals_.try_emplace(input.name, signal++);
  for (const StateVariable& x : model_->states) signals_.try_emplace(x.name, signal++);
  for (const Variable& variable : model_->variables) signals_.try_emplace(variable.name, signal++);
  indexed_ = true;
}

int PlaceNames::find_signal(std::string_view name) const {
  if (!indexed_) return model_->find_signal(name);
  const auto found = signals_.find(std::string(name));
  return found == signals_.end() ? -1 : found->second;
}

PlaceNames::Place PlaceNames::find(std::string_view name) const {
  using Kind = Place::Kind;
  if (indexed_) {
    const auto found = places_.find(std::string(name));
    return found == places_.end() ? Place{} : found->second;
  }
  if (const int frame = model_->find_frame(name); frame >= 0) return {Kind::frame, frame};
  if (const int body = model_->find_body(name); body >= ground) return {Kind::body, body};
  if (const int joint = model_->find_joint(name); joint >= 0) return {Kind::joint, joint};
  return {};
}

std::string PlaceNames::nearest(std::string_view name) const {
  std::vector<std::string> names{"ground"};
  for (const Frame& frame : model_->frames) {
    if (!frame.name.empty()) names.push_back(frame.name);
  }
  for (const Body& body : model_->bodies) names.push_back(body.name);
  for (const Item& joint : model_->joints) names.push_back(joint.name);
  return nearest_name(name, names);
}

int PlaceNames::origin_frame(int body) {
  if (indexed_) {
    if (const auto found = origins_.find(body); found != origins_.end()) return found->second;
  } else {
    for (std::size_t i = 0; i < model_->frames.size(); ++i) {
      const Frame& frame = model_->frames[i];
      if (frame.body == body && is_origin(*model_, frame)) return static_cast<int>(i);
    }
  }
  if (growing_ == nullptr) return -1;
  const int frame = growing_->add_floating_frame(body, Pose{});
  origins_.emplace(body, frame);
  return frame;
}

int PlaceNames::signal_of(const Sensor& sensor) {
  const std::vector<Sensor>& known = model_->sensors;
  const auto found = std::find_if(known.begin(), known.end(), [&](const Sensor& s) { return s.same(sensor); });
  const auto place = found - known.begin();
  if (found == known.end()) {
    if (growing_ == nullptr) return -1;
    growing_->sensors.push_back(sensor);
  }
  return static_cast<int>(model_->inputs.size() + model_->states.size() + model_->variables.size()) +
         static_cast<int>(place);
}

// ---- expressions of measures ---------------------------------------------------------------------------------------

namespace {

struct FramePair {
  int a = -1, b = -1;  // frames of the model
};

// The two frames a measure's arguments name, or nothing and the reason.
std::optional<FramePair> find_pair(const std::string& function, const std::vector<std::string>& arguments,
                                   const std::vector<int>& frames, bool own_frames, PlaceNames& names,
                                   std::string& error) {
  using Kind = PlaceNames::Place::Kind;
  if (arguments.empty()) {
    if (own_frames && frames.size() > 1) return FramePair{frames[0], frames[1]};
    error = function + " needs to know of what: write " + function + "(b, a), " + function +
            "(b) for b against the ground, or " + function + "(joint)";
    return std::nullopt;
  }
  if (arguments.size() > 2) {
    error = function + " is of two frames at most: " + function + "(b, a)";
    return std::nullopt;
  }
  std::array<int, 2> found{-1, -1};  // b, a
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const PlaceNames::Place place = names.find(arguments[i]);
    switch (place.kind) {
      case Kind::nothing: {
        const std::string near = names.nearest(arguments[i]);
        error = "there is no frame, body or joint '" + arguments[i] + "'";
        if (!near.empty()) error += "; did you mean '" + near + "'?";
        return std::nullopt;
      }
      case Kind::frame: found[i] = place.index; break;
      case Kind::body: found[i] = names.origin_frame(place.index); break;
      case Kind::joint: {
        if (arguments.size() > 1) {
          error = "'" + arguments[i] + "' is a joint, which has two frames of its own: write " + function + "(" +
                  arguments[i] + ")";
          return std::nullopt;
        }
        const std::vector<int>& of_joint = names.model().joints[place.index].frames;
        return FramePair{of_joint[0], of_joint[1]};
      }
    }
  }
  if (arguments.size() == 1) found[1] = names.origin_frame(ground);
  for (const int frame : found) {
    if (frame < 0) {
      error = "the model has no frame at the origin of a body that is measured: wire_measures() adds it";
      return std::nullopt;
    }
  }
  return FramePair{found[1], found[0]};
}

// What a sensor's arguments name, or nothing and the reason.
std::optional<Sensor> find_sensed(const SensorDescription& what, const std::vector<std::string>& arguments,
                                  const std::vector<int>& frames, bool own_frames, PlaceNames& names,
                                  std::string& error) {
  using Kind = SensorDescription::Kind;
  Sensor sensor;
  sensor.what = static_cast<int>(&what - sensor_registry().data());
  sensor.name = what.name + "(";
  for (const std::string& argument : arguments) sensor.name += (&argument == arguments.data() ? "" : ", ") + argument;
  sensor.name += ")";
  if (what.kind == Kind::acceleration) {
    const auto pair = find_pair(what.name, arguments, frames, own_frames, names, error);
    if (!pair) return std::nullopt;
    if (pair->a == pair->b) {
      error = what.name + " is of two different frames";
      return std::nullopt;
    }
    sensor.a = pair->a;
    sensor.b = pair->b;
    return sensor;
  }
  const Model& model = names.model();
  const bool reaction = what.kind == Kind::reaction;
  if (arguments.size() != 1) {
    error = what.name + " is of one " + (reaction ? "joint or motion: " + what.name + "(joint)" : "state: der(x)");
    return std::nullopt;
  }
  std::vector<std::string> candidates;
  const auto look = [&](const auto& items, bool motions) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      candidates.push_back(items[i].name);
      if (sensor.of >= 0 || items[i].name != arguments[0]) continue;
      sensor.of = static_cast<int>(i);
      sensor.of_motion = motions;
    }
  };
  if (reaction) {
    look(model.joints, false);
    look(model.motions, true);
  } else {
    look(model.states, false);
  }
  if (sensor.of >= 0) return sensor;
  const std::string near = nearest_name(arguments[0], candidates);
  error = std::string("there is no ") + (reaction ? "joint or motion '" : "state '") + arguments[0] + "'";
  if (!near.empty()) error += "; did you mean '" + near + "'?";
  return std::nullopt;
}

Problem too_many_frames(const std::string& owner, std::size_t count, const std::string& remedy, const Location& where) {
  return {Severity::error, "too-many-frames",
          owner + ": with its measures it looks at " + std::to_string(count) + " frames; at most " +
              std::to_string(max_frames) + " are possible",
          "measure fewer frames, or " + remedy, where};
}

int place_of(int frame, std::vector<int>& frames) {
  const auto found = std::find(frames.begin(), frames.end(), frame);
  if (found != frames.end()) return static_cast<int>(found - frames.begin());
  frames.push_back(frame);
  return static_cast<int>(frames.size()) - 1;
}

}  // namespace

MeasuredExpression MeasuredExpression::constant(double value) {
  MeasuredExpression out;
  out.expression_ = Expression::constant(value);
  return out;
}

MeasuredExpression MeasuredExpression::parse(const ExpressionText& text, const std::string& owner, PlaceNames& names,
                                             std::vector<int>& frames, bool own_frames, int first_memory) {
  MeasuredExpression out;
  const Model& model = names.model();
  ExpressionScope scope;
  scope.owner = owner;
  add_curves(model, scope);
  scope.constant = [&model](std::string_view name) -> std::optional<double> {
    for (const Parameter& parameter : model.parameters) {
      if (parameter.name == name) return parameter.value;
    }
    return std::nullopt;
  };
  for (const Parameter& parameter : model.parameters) scope.known_names.push_back(parameter.name);
  for (const MeasureDescription& measure : measure_registry()) scope.known_names.push_back(measure.name);
  for (const SensorDescription& sensor : sensor_registry()) scope.known_names.push_back(sensor.name);
  for (const Input& input : model.inputs) scope.known_names.push_back(input.name);
  for (const StateVariable& x : model.states) scope.known_names.push_back(x.name);
  for (const Variable& variable : model.variables) scope.known_names.push_back(variable.name);

  scope.variable = [&](std::string_view function, const std::vector<std::string>& arguments,
                       std::string& error) -> std::optional<int> {
    const auto place = [&](const Measure& measure, std::string& full) -> std::optional<int> {
      for (std::size_t i = 0; i < out.measures_.size(); ++i) {
        const Measure& known = out.measures_[i];
        if (known.kind == measure.kind && known.a == measure.a && known.b == measure.b) return static_cast<int>(i);
      }
      if (out.measures_.size() == max_measures) {
        full = "an expression holds at most " + std::to_string(max_measures) + " different measures";
        return std::nullopt;
      }
      out.measures_.push_back(measure);
      if (measure.kind == MeasureKind::signal) out.signals_.push_back(measure.a);
      return static_cast<int>(out.measures_.size()) - 1;
    };
    const MeasureDescription* description = find_measure(function);
    if (description == nullptr) {
      if (const SensorDescription* what = arguments.empty() ? nullptr : find_sensor(function)) {
        std::optional<Sensor> sensor = find_sensed(*what, arguments, frames, own_frames, names, error);
        if (!sensor) return std::nullopt;
        sensor->where = text.where;
        const int signal = names.signal_of(*sensor);
        if (signal >= 0) return place({MeasureKind::signal, signal, -1, -1}, error);
        error = "the model does not know that " + sensor->name + " is seen: wire_measures() adds it";
        return std::nullopt;
      }
      if (!arguments.empty()) return std::nullopt;
      if (const int signal = names.find_signal(function); signal >= 0)
        return place({MeasureKind::signal, signal, -1, -1}, error);
      const int body = model.find_body(function);
      if (body < 0 || kind_of(model.bodies[body]).is_place) return std::nullopt;
      const int own = names.origin_frame(body), world = names.origin_frame(ground);
      return place({MeasureKind::dx, place_of(world, frames), place_of(own, frames), -1}, error);
    }
    const auto pair = find_pair(description->name, arguments, frames, own_frames, names, error);
    if (!pair) return std::nullopt;
    if (pair->a == pair->b) {
      error = description->name + " is of two different frames";
      return std::nullopt;
    }
    const int a = place_of(pair->a, frames), b = place_of(pair->b, frames);
    const auto known = out.measures_.size();
    const std::optional<int> slot = place({description->kind, a, b, -1}, error);
    if (out.measures_.size() > known) {
      if (description->kind == MeasureKind::angle) {
        out.measures_.back().memory = first_memory + out.memory_;
        out.memory_ += RememberedAngle::size;
      }
      out.uses_velocity_ = out.uses_velocity_ || description->uses_velocity();
    }
    return slot;
  };
  out.expression_ = Expression::parse(text.text, text.where, scope);
  out.corners_ = out.expression_.corners();
  return out;
}

MeasuredExpression MeasuredExpression::parse(const Output& output, PlaceNames& names, std::vector<int>& frames) {
  const std::string owner = "output '" + output.name + "'";
  MeasuredExpression out = parse(output.expression, owner, names, frames, false);
  if (frames.size() > static_cast<std::size_t>(max_frames)) {
    throw Failure(too_many_frames(owner, frames.size(), "give parts of it as variables", output.expression.where));
  }
  return out;
}

MeasuredExpression MeasuredExpression::parse(const StateVariable& x, PlaceNames& names, std::vector<int>& frames) {
  const std::string owner = "state '" + x.name + "'";
  MeasuredExpression out = parse(x.rate, owner, names, frames, false);
  if (frames.size() > static_cast<std::size_t>(max_frames)) {
    throw Failure(too_many_frames(owner, frames.size(), "give parts of it as variables", x.rate.where));
  }
  return out;
}

MeasuredExpression MeasuredExpression::parse(const Variable& variable, PlaceNames& names, std::vector<int>& frames) {
  const std::string owner = "variable '" + variable.name + "'";
  MeasuredExpression out = parse(variable.expression, owner, names, frames, false);
  if (frames.size() > static_cast<std::size_t>(max_frames)) {
    throw Failure(too_many_frames(owner, frames.size(), "give parts of it as variables", variable.expression.where));
  }
  return out;
}

bool MeasuredExpression::is_zero() const { return expression_.is_constant() && expression_.value(0, {}) == 0; }

FrameNeed MeasuredExpression::needs(int frame) const {
  FrameNeed most = FrameNeed::point;
  for (const Measure& m : measures_) {
    if (m.kind == MeasureKind::signal) continue;
    const MeasureDescription& of = describe(m.kind);
    for (const int side : {0, 1}) {
      if ((side == 0 ? m.a : m.b) != frame) continue;
      most = std::max(most, of.of == MeasureOf::spin ? FrameNeed::orientation : of.scalar.needs(side));
    }
  }
  return most;
}

bool MeasuredExpression::measure(const ElementInput& in, double* measured) const {
  bool good = true;
  for (std::size_t i = 0; i < measures_.size(); ++i) {
    const Measure& m = measures_[i];
    measured[i] = 0;
    if (m.kind == MeasureKind::signal) {
      measured[i] = in.signals[m.a];
      good = good && !std::isnan(measured[i]);  // a variable without a value
    } else if (!evaluate_measure(m.kind, in.frames[m.a], in.frames[m.b], near(m, in), measured[i])) {
      good = false;
    }
  }
  return good;
}

bool MeasuredExpression::evaluate(const ElementInput& in, double& value) const {
  if (expression_.is_constant()) {
    value = expression_.value(in.t, {});
    return true;
  }
  std::array<double, max_measures> measured;
  const bool good = measure(in, measured.data());
  value = expression_.value(in.t, {measured.data(), measures_.size()});
  return good && std::isfinite(value);
}

bool MeasuredExpression::looks_at_signals_only(const std::vector<int>& slots) const {
  return std::all_of(slots.begin(), slots.end(),
                     [this](int slot) { return measures_[slot].kind == MeasureKind::signal; });
}

void MeasuredExpression::list_switches(std::vector<SwitchInfo>& out) const {
  for (const Expression::Corner& corner : corners_) {
    SwitchInfo info;
    info.name = "corner of its expression";
    const Expression::Sources sources = expression_.sources_of(corner);
    if (looks_at_signals_only(sources.slots)) {
      info.timed = sources.time;
      for (const int slot : sources.slots) info.signals.push_back(measures_[slot].a);
    }
    out.push_back(std::move(info));
  }
}

SwitchInfo MeasuredExpression::switch_between(std::string name,
                                              std::initializer_list<const MeasuredExpression*> expressions) {
  SwitchInfo info;
  info.name = std::move(name);
  for (const MeasuredExpression* each : expressions)
    if (!each->looks_at_signals_only(each->expression_.slots())) return info;
  for (const MeasuredExpression* each : expressions) {
    info.timed = info.timed || each->expression_.depends_on_time();
    info.signals.insert(info.signals.end(), each->signals_.begin(), each->signals_.end());
  }
  return info;
}

double* MeasuredExpression::switch_values(const ElementInput& in, double* out) const {
  if (corners_.empty()) return out;
  std::array<double, max_measures> measured;
  measure(in, measured.data());
  expression_.corner_values(in.t, {measured.data(), measures_.size()}, corners_, out);
  return out + corners_.size();
}

void MeasuredExpression::linearise(const ElementInput& in, int frames, ExpressionPartials& out) const {
  out.pose.setZero(6 * frames);
  out.twist.setZero(6 * frames);
  out.signals.setZero(static_cast<Eigen::Index>(signals_.size()));
  out.time = 0;
  if (expression_.is_constant()) {
    out.value = expression_.value(in.t, {});
    return;
  }
  std::array<double, max_measures> values, slopes;
  for (std::size_t i = 0; i < measures_.size(); ++i) {
    const Measure& m = measures_[i];
    values[i] = 0;
    if (m.kind == MeasureKind::signal)
      values[i] = in.signals[m.a];
    else
      evaluate_measure(m.kind, in.frames[m.a], in.frames[m.b], near(m, in), values[i]);
  }
  out.value =
      expression_.gradient(in.t, {values.data(), measures_.size()}, {slopes.data(), measures_.size()}, out.time);
  if (in.by_signal >= 0) out.time = 0;
  MeasurePartials measured;
  Eigen::Index signal = 0;
  for (std::size_t i = 0; i < measures_.size(); ++i) {
    const Measure& m = measures_[i];
    if (m.kind == MeasureKind::signal) {
      if (m.a == in.by_signal) out.time = slopes[i];
      out.signals[signal++] = slopes[i];
      continue;
    }
    linearise_measure(m.kind, in.frames[m.a], in.frames[m.b], near(m, in), measured);
    measured.pose.scatter(slopes[i], m.a, m.b, out.pose);
    measured.twist.scatter(slopes[i], m.a, m.b, out.twist);
  }
}

double MeasuredExpression::near(const Measure& m, const ElementInput& in) const {
  return m.memory < 0 ? 0.0 : RememberedAngle(in.memory + m.memory).near(in.t);
}

bool MeasuredExpression::angle(const Measure& m, const ElementInput& in, double& total, double& rate) const {
  return m.memory >= 0 && evaluate_measure(m.kind, in.frames[m.a], in.frames[m.b], near(m, in), total) &&
         evaluate_measure(MeasureKind::rate, in.frames[m.a], in.frames[m.b], 0, rate);
}

void MeasuredExpression::angle_rates(const ElementInput& in, double* rates) const {
  for (const Measure& m : measures_) {
    if (m.memory < 0) continue;
    rates[m.memory] = 0;
    evaluate_measure(MeasureKind::rate, in.frames[m.a], in.frames[m.b], 0, rates[m.memory]);
  }
}

void MeasuredExpression::accept(const ElementInput& in, double* memory) const {
  for (const Measure& m : measures_) {
    double total = 0, rate = 0;
    if (angle(m, in, total, rate)) RememberedAngle::keep(total, rate, in.t, memory + m.memory);
  }
}

double MeasuredExpression::turned(const ElementInput& in) const {
  double most = 0, total = 0, rate = 0;
  for (const Measure& m : measures_) {
    if (angle(m, in, total, rate))
      most = std::max(most, RememberedAngle(in.memory + m.memory).doubt(total, rate, in.t));
  }
  return most;
}

// ---- wiring --------------------------------------------------------------------------------------------------------

void wire_measures(Model& model) {
  model.sensors.clear();
  PlaceNames names(model);
  names.index();
  std::vector<Problem> problems;
  const auto collect = [&problems](const auto& parse) {
    try {
      parse();
    } catch (const Failure& failure) {
      problems.insert(problems.end(), failure.problems().begin(), failure.problems().end());
    }
  };
  for (Item& item : model.forces) {
    const std::string owner = "force '" + item.name + "'";
    item.signals.clear();
    for (const auto& entry : item.fields.all()) {
      const auto* text = std::get_if<ExpressionText>(&entry.second);
      if (text == nullptr) continue;
      collect([&] {
        const MeasuredExpression parsed = MeasuredExpression::parse(*text, owner, names, item.frames, true);
        item.signals.insert(item.signals.end(), parsed.signals().begin(), parsed.signals().end());
      });
    }
    std::sort(item.signals.begin(), item.signals.end());
    item.signals.erase(std::unique(item.signals.begin(), item.signals.end()), item.signals.end());
    if (item.frames.size() > static_cast<std::size_t>(max_frames)) {
      problems.push_back(
          too_many_frames(owner, item.frames.size(), "give parts of its expressions as variables", item.where));
    }
  }
  for (const StateVariable& x : model.states) {
    std::vector<int> frames;
    collect([&] {
      const MeasuredExpression parsed = MeasuredExpression::parse(x, names, frames);
      if (!x.implicit) return;
      Sensor own;
      own.what = static_cast<int>(find_sensor("der") - sensor_registry().data());
      own.of = static_cast<int>(&x - model.states.data());
      const std::vector<int>& seen = parsed.signals();
      if (std::find(seen.begin(), seen.end(), names.signal_of(own)) != seen.end()) return;
      throw Failure({Severity::error, "no-rate-in-equation",
                     "state '" + x.name + "': its equation does not contain der(" + x.name + ")",
                     "an equation for a state determines its rate; write a variable for what has none", x.rate.where});
    });
  }
  for (const Variable& variable : model.variables) {
    std::vector<int> frames;
    collect([&] { MeasuredExpression::parse(variable, names, frames); });
  }
  for (const Output& output : model.outputs) {
    std::vector<int> frames;
    collect([&] { MeasuredExpression::parse(output, names, frames); });
  }
  if (!problems.empty()) throw Failure(std::move(problems));
}

}  // namespace trammel
