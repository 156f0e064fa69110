// A ball about the origin of B in a pocket of a cage: the inside of a cylinder about the z axis of A.
#include "trammel/elements/contacts/contact.h"
#include "trammel/elements/contacts/contacts.h"
#include "trammel/elements/forces/force_fields.h"

namespace trammel {

ElementDescription describe_ball_in_pocket() {
  ElementDescription d;
  d.category = Category::force;
  d.key = "ball_in_pocket";
  d.summary = "Contact of a ball with the cylindrical pocket of a cage about the z axis of the first frame.";
  d.attachment = Attachment::two_points;
  d.fields = {
      {"pocket_radius", FieldKind::number, Quantity::length, std::nullopt, "Radius of the pocket.", 1e-12},
      {"ball_radius", FieldKind::number, Quantity::length, std::nullopt, "Radius of the ball.", 1e-12},
  };
  for (Field& field : bearing_fields()) d.fields.push_back(std::move(field));
  d.make_force = [](const Item& item, const MakeContext&) -> std::unique_ptr<Force> {
    const double pocket = item.fields.number("pocket_radius"), ball = item.fields.number("ball_radius");
    return std::make_unique<Contact>(ball_against({Core::axis, 0, pocket, true}, ball),
                                     bearing_law(item, 2 / ball - 1 / pocket, 1 / pocket), ball);
  };
  d.random_fields = [](std::mt19937& random) {
    Fields fields = random_bearing_fields(random);
    fields.set("pocket_radius", random_between(0.1, 0.3, random));
    fields.set("ball_radius", random_between(0.05, 0.1, random));
    return fields;
  };
  return d;
}

}  // namespace trammel
