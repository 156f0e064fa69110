// A friction clutch or brake between two shafts: dry friction (dry_friction.h) in the angle about z, whose torque is a
// function of time.
//
//   open               no capacity
//   slips              torque = -sign(phi') capacity
//   locked             phi held while the torque is at most static_ratio capacity
#include "trammel/elements/forces/dry_friction.h"
#include "trammel/elements/forces/force_fields.h"
#include "trammel/elements/forces/forces.h"

namespace trammel {
namespace {

std::unique_ptr<DryFriction> make_clutch(const Item& item, const MakeContext& context) {
  DryFrictionLaw law;
  law.mu_static = item.fields.number("static_ratio");
  law.mu_kinetic = 1;
  law.opens = true;
  return std::make_unique<DryFriction>(
      AxialKind::rotation, law, measured_field(item, "capacity", context, AxialForce::own_memory(AxialKind::rotation)),
      static_cast<int>(item.frames.size()),
      std::vector<std::string>{"undecided", "locked", "slips forward", "slips backward", "open"});
}

}  // namespace

ElementDescription describe_clutch() {
  ElementDescription d;
  d.category = Category::force;
  d.key = "clutch";
  d.summary =
      "Friction clutch or brake about the z axis of two shafts: open, slipping with the torque it is pressed to, or "
      "locked by a constraint until the torque exceeds what it can hold.";
  d.attachment = Attachment::on_joint;
  d.fields = {
      expression_field("capacity", Quantity::torque,
                       "Torque with which it slips, an expression of time and measures; at zero and below it is open."),
      {"static_ratio", FieldKind::number, Quantity::none, 1.0, "Torque that it holds when locked, by its capacity.", 1,
       100},
  };
  d.make_force = [](const Item& item, const MakeContext& context) -> std::unique_ptr<Force> {
    return make_clutch(item, context);
  };
  d.make_held = [](const Item& item, const MakeContext& context) { return make_clutch(item, context)->make_row(); };
  d.random_fields = [](std::mt19937& random) {
    Fields fields;
    fields.set("capacity", ExpressionText{"30 + 2*sin(time) + dx + 0.5*vy + 0.3*angle", {}});
    fields.set("static_ratio", random_between(1, 2, random));
    return fields;
  };
  return d;
}

}  // namespace trammel
