#include "trammel/elements/forces/joint_actuator.h"

#include <cmath>

#include "trammel/elements/forces/axial_force.h"
#include "trammel/elements/forces/force_fields.h"

namespace trammel {
namespace {

// f and its derivatives by the command and both limits.
struct Saturated {
  double f, by_command, by_lower, by_upper;
};

Saturated saturate(double u, double a, double b, bool smooth) {
  if (!smooth || !(b > a)) {
    if (u < a) return {a, 0, 1, 0};
    if (u > b) return {b, 0, 0, 1};
    return {u, 1, 0, 0};
  }
  const double m = 0.5 * (a + b), w = 0.5 * (b - a), x = (u - m) / w;
  const double x4 = x * x * x * x, root = std::sqrt(std::sqrt(1 + x4));
  const double g = x / root, slope = 1 / (root * (1 + x4));  // g' = (1 + x^4)^(-5/4)
  // f = m + w g:  by m: 1 - g',  by w: g - x g'
  const double by_m = 1 - slope, by_w = g - x * slope;
  return {m + w * g, slope, 0.5 * (by_m - by_w), 0.5 * (by_m + by_w)};
}

class JointActuator final : public AxialForce {
 public:
  struct Expressions {
    MeasuredExpression command, upper, lower;
    bool limited = false, symmetric = true;
  };

  JointActuator(AxialKind kind, Expressions expressions, bool smooth, int frames)
      : AxialForce(kind, frames), e_(std::move(expressions)), smooth_(smooth) {
    for (const MeasuredExpression* each : {&e_.command, &e_.upper, &e_.lower}) use(*each);
  }
  JointActuator(const JointActuator&) = delete;  // the base class points at members
  JointActuator& operator=(const JointActuator&) = delete;

  // With hard limits, where the command meets them.
  std::vector<SwitchInfo> switches() const override {
    std::vector<SwitchInfo> all;
    if (is_hard()) {
      all.push_back(
          MeasuredExpression::switch_between("lower limit", {&e_.command, e_.symmetric ? &e_.upper : &e_.lower}));
      all.push_back(MeasuredExpression::switch_between("upper limit", {&e_.command, &e_.upper}));
    }
    const std::vector<SwitchInfo> corners = AxialForce::switches();
    all.insert(all.end(), corners.begin(), corners.end());
    return all;
  }
  void switch_values(const ElementInput& in, double* values) const override {
    if (is_hard()) {
      double u = 0, a = 0, b = 0;
      e_.command.evaluate(in, u);
      e_.upper.evaluate(in, b);
      a = -b;
      if (!e_.symmetric) e_.lower.evaluate(in, a);
      *values++ = u - a;
      *values++ = b - u;
    }
    AxialForce::switch_values(in, values);
  }

  bool uses_velocity() const override {
    return e_.command.uses_velocity() || e_.upper.uses_velocity() || e_.lower.uses_velocity();
  }

 protected:
  bool force(const ElementInput& in, double, double, double& f) const override {
    double u = 0, a = 0, b = 0;
    if (!e_.command.evaluate(in, u)) return false;
    f = u;
    if (!e_.limited) return true;
    if (!e_.upper.evaluate(in, b)) return false;
    a = -b;
    if (!e_.symmetric && !e_.lower.evaluate(in, a)) return false;
    if (a > b) return false;
    f = saturate(u, a, b, smooth_).f;
    return true;
  }

  void force_partials(const ElementInput& in, double, double, Law& law) const override {
    ExpressionPartials u, a, b;
    e_.command.linearise(in, frames(), u);
    law.force = u.value;
    law.rest = u;
    if (!e_.limited) return;
    e_.upper.linearise(in, frames(), b);
    if (!e_.symmetric) e_.lower.linearise(in, frames(), a);
    const Saturated s = saturate(u.value, e_.symmetric ? -b.value : a.value, b.value, smooth_);
    const double by_upper = s.by_upper - (e_.symmetric ? s.by_lower : 0);
    law.force = s.f;
    law.rest.pose = s.by_command * u.pose + by_upper * b.pose;
    law.rest.twist = s.by_command * u.twist + by_upper * b.twist;
    law.rest.time = s.by_command * u.time + by_upper * b.time;
    if (e_.symmetric) return;
    law.rest.pose += s.by_lower * a.pose;
    law.rest.twist += s.by_lower * a.twist;
    law.rest.time += s.by_lower * a.time;
  }

 private:
  bool is_hard() const { return e_.limited && !smooth_; }

  Expressions e_;
  bool smooth_;
};

}  // namespace

ElementDescription describe_joint_actuator(bool rotation) {
  const char* const what = rotation ? "torque" : "force";
  const Quantity quantity = rotation ? Quantity::torque : Quantity::force;
  ElementDescription d;
  d.category = Category::force;
  d.key = rotation ? "rotational_actuator" : "translational_actuator";
  d.summary = rotation ? "Torque on the second frame about the z axis of the first, from a command between limits."
                       : "Force on the second frame along the z axis of the first, from a command between limits.";
  d.attachment = Attachment::on_joint;
  d.fields = {
      {what, FieldKind::expression, quantity, std::nullopt, "The command; positive drives the second frame forward."},
      optional_field("limit", FieldKind::expression, quantity,
                     "Greatest value, also a function of speed; left out, there is none."),
      optional_field("lower_limit", FieldKind::expression, quantity, "Least value; left out, minus the limit."),
      {"saturation", FieldKind::text, Quantity::none, std::string("smooth"),
       "How the command meets the limits: smooth, or hard with a kink."},
  };
  d.make_force = [rotation, what](const Item& item, const MakeContext& context) -> std::unique_ptr<Force> {
    const AxialKind kind = rotation ? AxialKind::rotation : AxialKind::translation;
    const std::string owner = "force '" + item.name + "'";
    const auto& saturation = item.fields.get<std::string>("saturation");
    if (saturation != "smooth" && saturation != "hard") {
      throw Failure({Severity::error, "unknown-value", owner + ": saturation is '" + saturation + "'",
                     "saturation is smooth or hard", item.where});
    }
    JointActuator::Expressions e;
    int memory = AxialForce::own_memory(kind);
    e.command = measured_field(item, what, context, memory);
    memory += e.command.memory();
    e.limited = item.fields.has("limit");
    e.symmetric = !item.fields.has("lower_limit");
    if (!e.limited && !e.symmetric) {
      throw Failure({Severity::error, "missing-field", owner + ": 'lower_limit' is given without 'limit'",
                     "give both, or the limit alone", item.where});
    }
    if (e.limited) e.upper = measured_field(item, "limit", context, memory);
    memory += e.upper.memory();
    if (!e.symmetric) e.lower = measured_field(item, "lower_limit", context, memory);
    return std::make_unique<JointActuator>(kind, std::move(e), saturation == "smooth",
                                           static_cast<int>(item.frames.size()));
  };
  d.random_fields = [what](std::mt19937& random) {
    Fields fields;
    const double kind = random_between(0, 4, random);
    fields.set(what, ExpressionText{"2*sin(3*time) + 0.4*distance - 0.3*vx", {}});
    if (kind < 1) return fields;
    fields.set("limit", ExpressionText{"1.5 + 0.2*tanh(vz) + 0.1*dx + 0.1*sin(angle)", {}});
    if (kind < 2) {  // always beyond the limit
      fields.set(what, ExpressionText{kind < 1.5 ? "20 + time" : "-20 - time", {}});
      fields.set("saturation", std::string("hard"));
    }
    if (kind > 3) fields.set("lower_limit", ExpressionText{"-2.5 - 0.1*cos(time) + 0.1*wz", {}});
    return fields;
  };
  return d;
}

}  // namespace trammel
