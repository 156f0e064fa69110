#include "trammel/elements/sensor.h"

namespace trammel {

const std::vector<SensorDescription>& sensor_registry() {
  using S = SensorDescription;
  using K = S::Kind;
  using Q = Quantity;
  static const std::vector<S> table = [] {
    std::vector<S> all;
    const auto rate = [&](std::string name, Q quantity, MeasureOf of, Scalar scalar, std::string text) {
      all.push_back({K::acceleration, std::move(name), quantity, of, scalar, false, 0, std::move(text)});
    };
    const std::string axes = "xyz";
    for (int i = 0; i < 3; ++i)
      rate(std::string("acc") + axes[i], Q::acceleration, MeasureOf::rate, {Primitive::in_plane, i},
           std::string("Rate of v") + axes[i] + ", as seen from a.");
    rate("acceleration", Q::acceleration, MeasureOf::rate, {Primitive::distance}, "Rate of the speed l'.");
    rate("angular_acceleration", Q::angular_acceleration, MeasureOf::rate, {Primitive::angle},
         "Rate of the rate of the angle.");
    for (int i = 0; i < 3; ++i)
      rate(std::string("wdt") + axes[i], Q::angular_acceleration, MeasureOf::spin, {Primitive::in_plane, i},
           std::string("Rate of w") + axes[i] + ", as seen from a.");
    for (const bool torque : {false, true})
      for (int i = 0; i < 3; ++i)
        all.push_back({K::reaction,
                       std::string(torque ? "torque_" : "force_") + axes[i],
                       torque ? Q::torque : Q::force,
                       MeasureOf::value,
                       {},
                       torque,
                       i,
                       std::string("Reaction of a joint or motion on its second body: ") +
                           (torque ? "torque about" : "force along") + " the " + axes[i] +
                           " axis of its second frame."});
    all.push_back({K::state_rate, "der", Q::none, MeasureOf::value, {}, false, 0, "Rate x' of a state."});
    return all;
  }();
  return table;
}

const SensorDescription* find_sensor(std::string_view name) {
  for (const SensorDescription& d : sensor_registry())
    if (d.name == name) return &d;
  return nullptr;
}

bool evaluate_acceleration(const SensorDescription& sensor, const FrameState& a, const FrameState& b,
                           const double* rates, double& value) {
  if (sensor.of == MeasureOf::spin) {
    const Vec3 axis = a.R.col(sensor.scalar.i), w = b.w - a.w;
    value = axis.dot(Vec3(rates[9] - rates[3], rates[10] - rates[4], rates[11] - rates[5])) + a.w.cross(axis).dot(w);
    return true;
  }
  const PairScalar s(sensor.scalar, a, b, 2);
  if (!s.good()) return false;
  value = s.rate(PairTwist(rates)) + s.curvature(PairTwist(a, b));
  return true;
}

bool linearise_acceleration(const SensorDescription& sensor, const FrameState& a, const FrameState& b,
                            const double* rates, SensorPartials& out) {
  out = {};
  if (sensor.of == MeasureOf::spin) {
    const Vec3 axis = a.R.col(sensor.scalar.i), w = b.w - a.w, arm = a.w.cross(axis),
               rate(rates[9] - rates[3], rates[10] - rates[4], rates[11] - rates[5]);
    out.value = axis.dot(rate) + arm.dot(w);
    out.pose.a = axis.cross(rate) + axis.cross(w.cross(a.w));
    out.twist.a = axis.cross(w) - arm;
    out.twist.b = arm;
    out.rate.a = -axis;
    out.rate.b = axis;
    return true;
  }
  const PairScalar s(sensor.scalar, a, b, 3);
  if (!s.good()) return false;
  const PairTwist u(a, b), alpha(rates);
  out.value = s.rate(alpha) + s.curvature(u);
  out.pose = s.contracted(alpha);
  out.pose.add(1, s.curvature_pose(u));
  out.twist = s.curvature_twist(u);
  out.rate = s.gradient();
  return true;
}

}  // namespace trammel
