// A ball about the origin of B in a pocket of a cage: the inside of a cylinder about the z axis of A (contact.h), with
// w the part of p_B - p_A across the axis.
#include "trammel/elements/contacts/contact.h"
#include "trammel/elements/contacts/contacts.h"
#include "trammel/elements/forces/force_fields.h"
#include "trammel/math/rotation.h"

namespace trammel {
namespace {

class BallInPocket final : public Contact {
 public:
  BallInPocket(const ContactLaw& law, double pocket, double ball) : Contact(law), pocket_(pocket), ball_(ball) {}

 protected:
  int locate(const FrameState& a, const FrameState& b, ContactPoint* points,
             ContactPointPartials* partials) const override {
    const Vec3 z = a.R.col(2), d = b.p - a.p;
    const double height = z.dot(d);
    const Vec3 u = d - height * z;
    if (!locate_in_hollow(b.p, u, ball_, pocket_, points[0])) return 0;
    if (partials == nullptr) return 1;
    using Rows = Eigen::Matrix<double, 3, 12>;
    const Mat3 I = Mat3::Identity();
    Rows dd, dz = Rows::Zero();
    dd << -I, Mat3::Zero(), I, Mat3::Zero();
    dz.middleCols<3>(3) = -skew(z);
    const Eigen::Matrix<double, 1, 12> dheight = d.transpose() * dz + z.transpose() * dd;
    const Rows du = dd - z * dheight - height * dz;
    linearise_in_hollow(points[0], u.norm(), du, ball_, partials[0]);
    return 1;
  }

 private:
  double pocket_, ball_;
};

}  // namespace

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
  for (Field& field : contact_fields()) d.fields.push_back(std::move(field));
  d.make_force = [](const Item& item, const MakeContext&) -> std::unique_ptr<Force> {
    const double pocket = item.fields.number("pocket_radius"), ball = item.fields.number("ball_radius");
    return std::make_unique<BallInPocket>(contact_law(item, 2 / ball - 1 / pocket, 1 / pocket), pocket, ball);
  };
  d.random_fields = [](std::mt19937& random) {
    Fields fields = random_contact_fields(random);
    fields.set("pocket_radius", random_between(0.1, 0.3, random));
    fields.set("ball_radius", random_between(0.05, 0.1, random));
    return fields;
  };
  return d;
}

}  // namespace trammel
