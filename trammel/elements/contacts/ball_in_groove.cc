// A ball about the origin of B in a groove of a ring: the inner side of a torus about the z axis of A, of which a ring
// has a part; the whole of it acts, so that forces stay continuous. The principal curvatures for Hertz's constant are
// those at the given contact angle.
#include <cmath>

#include "trammel/elements/contacts/contact.h"
#include "trammel/elements/contacts/contacts.h"
#include "trammel/elements/forces/force_fields.h"

namespace trammel {
namespace {

class BallInGroove final : public Contact {
 public:
  BallInGroove(const ContactLaw& law, double side, double center, double groove, double ball)
      : Contact(ball_against({Core::circle, center, groove, true}, ball), law, ball), side_(side), center_(center) {}

  std::vector<Observable> observables() const override {
    std::vector<Observable> all = Contact::observables();
    all.push_back({"contact_angle", "rad"});
    return all;
  }
  void observe(const ElementInput& in, double* values) const override {
    Contact::observe(in, values);
    const FrameState &a = in.frames[0], &b = in.frames[1];
    const double height = a.R.col(2).dot(b.p - a.p);
    const double radius = (b.p - a.p - height * a.R.col(2)).norm();
    values[9] = std::atan2(side_ * height, side_ * (radius - center_));
  }

 private:
  double side_, center_;  // side: 1 outer ring, -1 inner ring
};

}  // namespace

ElementDescription describe_ball_in_groove() {
  ElementDescription d;
  d.category = Category::force;
  d.key = "ball_in_groove";
  d.summary =
      "Contact of a ball with the groove of a bearing ring about the z axis of the first frame: Hertz, friction.";
  d.attachment = Attachment::two_points;
  d.fields = {
      {"ring", FieldKind::text, Quantity::none, std::string("outer"),
       "Where the groove is: outer (it looks to the axis) or inner (away from it)."},
      {"center_radius", FieldKind::number, Quantity::length, std::nullopt,
       "Radius of the circle on which the groove's profile has its centre.", 1e-12},
      {"groove_radius", FieldKind::number, Quantity::length, std::nullopt, "Radius of the groove's profile.", 1e-12},
      {"ball_radius", FieldKind::number, Quantity::length, std::nullopt, "Radius of the ball.", 1e-12},
      {"contact_angle", FieldKind::number, Quantity::angle, 0.0,
       "Angle from the radial plane at which the curvatures for Hertz's constant are taken.", -1.5, 1.5},
  };
  for (Field& field : bearing_fields()) d.fields.push_back(std::move(field));
  d.make_force = [](const Item& item, const MakeContext&) -> std::unique_ptr<Force> {
    const auto& ring = item.fields.get<std::string>("ring");
    if (ring != "outer" && ring != "inner") {
      throw Failure({Severity::error, "unknown-value", "force '" + item.name + "': ring is '" + ring + "'",
                     "ring is outer or inner", item.where});
    }
    const double side = ring == "outer" ? 1 : -1, center = item.fields.number("center_radius"),
                 groove = item.fields.number("groove_radius"), ball = item.fields.number("ball_radius"),
                 cosine = std::cos(item.fields.number("contact_angle"));
    const double reach = center + side * groove * cosine;  // of the contact from the axis
    if (!(reach > 0)) {
      throw Failure({Severity::error, "out-of-range",
                     "force '" + item.name + "': the groove reaches over the axis of its ring",
                     "make 'groove_radius' smaller than 'center_radius'", item.where});
    }
    // Of the ball 1/r twice; of the groove -1/r_groove across, and along the ring -side cos/reach.
    const double across = 1 / ball - 1 / groove, along = 1 / ball - side * cosine / reach;
    return std::make_unique<BallInGroove>(bearing_law(item, across + along, along - across), side, center, groove,
                                          ball);
  };
  d.random_fields = [](std::mt19937& random) {
    Fields fields = random_bearing_fields(random);
    const bool inner = random_between(0, 1, random) < 0.3;
    fields.set("ring", std::string(inner ? "inner" : "outer"));
    // Deep in contact nearly wherever the ball is.
    fields.set("center_radius", random_between(inner ? 3 : 0.2, inner ? 4 : 0.5, random));
    fields.set("groove_radius", random_between(0.1, 0.15, random));
    fields.set("ball_radius", random_between(0.05, 0.1, random));
    return fields;
  };
  return d;
}

}  // namespace trammel
