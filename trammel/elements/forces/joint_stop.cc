#include "trammel/elements/forces/joint_stop.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "trammel/elements/forces/axial_force.h"
#include "trammel/elements/forces/force_fields.h"

namespace trammel {
namespace {

constexpr double no_stop = std::numeric_limits<double>::infinity();  // a limit left out

struct StopFields {
  double lower = -no_stop, upper = no_stop, stiffness = 0, exponent = 1, damping = 0, depth = 1;
};

class JointStop final : public AxialForce {
 public:
  JointStop(AxialKind kind, const StopFields& fields, int frames) : AxialForce(kind, frames), p_(fields) {}

  bool uses_velocity() const override { return p_.damping != 0; }

  double potential_energy(const ElementInput& in) const override {
    double s = 0, rate = 0;
    if (!motion(in, s, rate)) return 0;
    return stored(s - p_.upper) + stored(p_.lower - s);
  }
  double dissipated_power(const ElementInput& in) const override {
    double s = 0, rate = 0;
    if (!motion(in, s, rate)) return 0;
    return (push(s - p_.upper, rate).force - spring(s - p_.upper)) * rate -
           (push(p_.lower - s, -rate).force - spring(p_.lower - s)) * rate;
  }
  bool energy_is_complete() const override { return true; }
  std::vector<SwitchInfo> switches() const override { return {{"lower stop"}, {"upper stop"}}; }
  void switch_values(const ElementInput& in, double* values) const override {
    double s = 0, rate = 0;
    if (!motion(in, s, rate)) s = 0;
    values[0] = std::isfinite(p_.lower) ? s - p_.lower : 1;
    values[1] = std::isfinite(p_.upper) ? p_.upper - s : 1;
  }
  bool approach(const ElementInput& in, const FrameState* rising, Approach& out) const override {
    out = {};
    out.stiffness = p_.stiffness * std::pow(p_.depth, 1 - p_.exponent);
    out.exponent = p_.exponent;
    out.rotation = kind() == AxialKind::rotation;
    double s = 0, rate = 0, rise = 0;
    if (!motion(in, s, rate)) return true;
    if (rising != nullptr) {
      ElementInput faster = in;
      faster.frames = rising;
      if (double same = 0; !motion(faster, same, rise)) rise = 0;
    }
    if (std::isfinite(p_.upper)) out.take(p_.upper - s, rate, rise);
    if (std::isfinite(p_.lower)) out.take(s - p_.lower, -rate, -rise);
    return true;
  }

 protected:
  bool force(const ElementInput&, double s, double rate, double& f) const override {
    f = push(p_.lower - s, -rate).force - push(s - p_.upper, rate).force;
    return true;
  }
  void force_partials(const ElementInput&, double s, double rate, Law& law) const override {
    const Push low = push(p_.lower - s, -rate), high = push(s - p_.upper, rate);
    law.force = low.force - high.force;
    law.by_value = -low.by_depth - high.by_depth;
    law.by_rate = -low.by_rate - high.by_rate;
  }

 private:
  struct Push {
    double force = 0, by_depth = 0, by_rate = 0;
  };
  double spring(double depth) const {
    return depth > 0 ? p_.stiffness * depth * std::pow(depth / p_.depth, p_.exponent - 1) : 0;
  }
  double stored(double depth) const { return depth > 0 ? spring(depth) * depth / (p_.exponent + 1) : 0; }
  Push push(double depth, double rate) const {
    if (!(depth > 0)) return {};
    const double x = std::min(depth / p_.depth, 1.0), ramp = x * x * (3 - 2 * x);
    const double elastic = spring(depth), total = elastic + p_.damping * ramp * rate;
    if (!(total > 0)) return {};
    const double slope = x < 1 ? 6 * x * (1 - x) / p_.depth : 0;
    return {total, p_.exponent * elastic / depth + p_.damping * slope * rate, p_.damping * ramp};
  }

  StopFields p_;
};

}  // namespace

ElementDescription describe_joint_stop(bool rotation) {
  ElementDescription d;
  d.category = Category::force;
  d.key = rotation ? "rotational_stop" : "translational_stop";
  d.summary = rotation ? "Elastic stops that limit the angle of the second frame about the z axis of the first, "
                         "over any number of turns."
                       : "Elastic stops that limit the displacement of the second frame along the z axis of the first.";
  d.attachment = Attachment::on_joint;
  const Quantity s = rotation ? Quantity::angle : Quantity::length;
  d.fields = {
      optional_field("lower", FieldKind::number, s, "Where the lower stop begins; left out, there is none."),
      optional_field("upper", FieldKind::number, s, "Where the upper stop begins; left out, there is none."),
      {"stiffness", FieldKind::number, rotation ? Quantity::angular_stiffness : Quantity::stiffness, std::nullopt,
       "Force per depth, at the full depth.", 0},
      {"exponent", FieldKind::number, Quantity::none, 1.0,
       "Of the depth in the force: 1 linear, 1.5 as between spheres; above 1 the stiffness sets in smoothly.", 1, 10},
      {"damping", FieldKind::number, rotation ? Quantity::angular_damping : Quantity::damping, 0.0,
       "Force per speed from the full depth on.", 0},
      {"depth", FieldKind::number, s, rotation ? 0.01 : 1e-3,
       "Full depth: where the damping is fully on; about the depth that is expected.", 1e-12},
  };
  d.make_force = [rotation](const Item& item, const MakeContext&) -> std::unique_ptr<Force> {
    StopFields fields;
    if (item.fields.has("lower")) fields.lower = item.fields.number("lower");
    if (item.fields.has("upper")) fields.upper = item.fields.number("upper");
    fields.stiffness = item.fields.number("stiffness");
    fields.exponent = item.fields.number("exponent");
    fields.damping = item.fields.number("damping");
    fields.depth = item.fields.number("depth");
    const std::string owner = "force '" + item.name + "'";
    if (!item.fields.has("lower") && !item.fields.has("upper")) {
      throw Failure({Severity::error, "missing-field", owner + ": neither 'lower' nor 'upper' is given",
                     "give one limit or both", item.where});
    }
    if (!(fields.lower <= fields.upper)) {
      throw Failure({Severity::error, "conflict", owner + ": 'lower' is above 'upper'", "exchange them", item.where});
    }
    return std::make_unique<JointStop>(rotation ? AxialKind::rotation : AxialKind::translation, fields,
                                       static_cast<int>(item.frames.size()));
  };
  // Frames are deep in one of the stops, wherever they are: the suite differences forces without kinks.
  d.random_fields = [rotation](std::mt19937& random) {
    Fields fields;
    const double far = rotation ? 30 : 6;
    if (random_between(0, 1, random) < 0.5) {
      fields.set("upper", -far);
    } else {
      fields.set("lower", far);
    }
    fields.set("stiffness", random_between(1, 3, random));
    fields.set("exponent", random_between(1, 2.5, random));
    fields.set("damping", random_between(0.02, 0.2, random));
    fields.set("depth", 4 * far);
    return fields;
  };
  return d;
}

}  // namespace trammel
