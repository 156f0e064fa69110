// Dry friction with true sticking in a joint's angle or displacement: see dry_friction.h.
#include "trammel/elements/forces/dry_friction.h"
#include "trammel/elements/forces/force_fields.h"
#include "trammel/elements/forces/forces.h"

namespace trammel {
namespace {

std::unique_ptr<DryFriction> make_friction(const Item& item, const MakeContext& context) {
  const std::string owner = "force '" + item.name + "'";
  const auto& motion = item.fields.get<std::string>("motion");
  const bool turns = motion == "rotation";
  if (!turns && motion != "translation") {
    throw Failure({Severity::error, "unknown-value", owner + ": motion is '" + motion + "'",
                   "motion is rotation or translation", item.where});
  }
  DryFrictionLaw law;
  law.mu_static = item.fields.number("static_coefficient");
  law.mu_kinetic = item.fields.has("kinetic_coefficient") ? item.fields.number("kinetic_coefficient") : law.mu_static;
  law.constant = item.fields.number("force");
  const double radius = item.fields.number("radius");
  if (turns != (radius > 0)) {
    throw Failure({Severity::error, turns ? "missing-field" : "conflict",
                   owner + (turns ? ": a rotation needs the 'radius' at which its surfaces slide"
                                  : ": a translation has no 'radius'"),
                   turns ? "the friction torque is radius times force; give 1 m to state torques" : "leave it out",
                   item.where});
  }
  if (turns) law.radius = radius;
  if (law.mu_kinetic < 0 || law.mu_kinetic > law.mu_static) {
    throw Failure({Severity::error, "out-of-range",
                   owner + ": 'kinetic_coefficient' must lie between 0 and 'static_coefficient'",
                   "friction at rest is at least that of sliding", item.where});
  }
  const AxialKind kind = turns ? AxialKind::rotation : AxialKind::translation;
  return std::make_unique<DryFriction>(
      kind, law, measured_field(item, "load", context, AxialForce::own_memory(kind)),
      static_cast<int>(item.frames.size()),
      std::vector<std::string>{"undecided", "sticks", "slides forward", "slides backward"});
}

}  // namespace

ElementDescription describe_stick_slip_friction() {
  ElementDescription d;
  d.category = Category::force;
  d.key = "stick_slip_friction";
  d.summary =
      "Coulomb friction about or along the z axis of a joint that truly sticks: at rest the coordinate is held by a "
      "constraint until the holding force exceeds the static limit.";
  d.attachment = Attachment::on_joint;
  d.fields = {
      {"motion", FieldKind::text, Quantity::none, std::string("rotation"),
       "Which freedom of the joint: rotation about z or translation along z."},
      {"radius", FieldKind::number, Quantity::length, 0.0,
       "Of the sliding surface, for a rotation, which needs it; a translation has none.", 0},
      expression_field("load", Quantity::force, "Normal load N, not negative; below zero it counts as zero."),
      {"static_coefficient", FieldKind::number, Quantity::none, 0.0, "Friction coefficient of sticking.", 0},
      optional_field("kinetic_coefficient", FieldKind::number, Quantity::none,
                     "Friction coefficient of sliding; left out, the same as of sticking."),
      {"force", FieldKind::number, Quantity::force, 0.0, "Dry friction that does not depend on the load: seals.", 0},
  };
  d.make_force = [](const Item& item, const MakeContext& context) -> std::unique_ptr<Force> {
    return make_friction(item, context);
  };
  d.make_held = [](const Item& item, const MakeContext& context) { return make_friction(item, context)->make_row(); };
  d.random_fields = [](std::mt19937& random) {
    Fields fields;
    if (random_between(0, 1, random) < 0.5) {
      fields.set("radius", random_between(0.3, 1.5, random));
    } else {
      fields.set("motion", std::string("translation"));
    }
    fields.set("load", ExpressionText{"30 + 2*sin(time) + dx + 0.5*vy + 0.3*angle", {}});
    fields.set("static_coefficient", random_between(0.3, 0.5, random));
    fields.set("kinetic_coefficient", random_between(0.1, 0.3, random));
    fields.set("force", random_between(0.1, 0.5, random));
    return fields;
  };
  return d;
}

}  // namespace trammel
