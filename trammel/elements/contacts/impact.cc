// Impact of a ball, or of a point, on a plane by Newton's law of restitution: where the gap closes, the velocities
// jump.
//
//   gap   g = a_z . (p_B - p_A) - r          after the impact  g' = -e g'
//
// Between impacts it does nothing; the impulse acts along the row of g and is solved with the joints (run/events.h).
#include "trammel/elements/contacts/contacts.h"
#include "trammel/elements/scalars/pair_scalar.h"

namespace trammel {
namespace {

class Impact final : public Force {
 public:
  Impact(double radius, double restitution) : radius_(radius), restitution_(restitution) {}

  int frames() const override { return 2; }
  bool uses_velocity() const override { return false; }
  FrameNeed needs(int frame) const override { return frame == 0 ? FrameNeed::z_axis : FrameNeed::point; }
  bool energy_is_complete() const override { return true; }
  bool evaluate(const ElementInput& /*in*/, double* wrench) const override {
    std::fill_n(wrench, 12, 0.0);
    return true;
  }
  void linearise(const ElementInput& /*in*/, ForcePartials& out) const override { out.set_zero(2); }

  std::vector<SwitchInfo> switches() const override { return {{"impact", false, true}}; }
  void switch_values(const ElementInput& in, double* values) const override { values[0] = gap(in); }
  Strike strike(const ElementInput& in, int /*which*/) const override {
    return {height(in, 1).gradient().row().transpose(), restitution_};
  }

  std::vector<Observable> observables() const override { return {{"gap", "m"}}; }
  void observe(const ElementInput& in, double* values) const override { values[0] = gap(in); }

 private:
  static PairScalar height(const ElementInput& in, int order) {
    return {{Primitive::in_plane, 2}, in.frames[0], in.frames[1], order};
  }
  double gap(const ElementInput& in) const { return height(in, 0).value() - radius_; }

  double radius_, restitution_;
};

}  // namespace

ElementDescription describe_impact() {
  ElementDescription d;
  d.category = Category::force;
  d.key = "impact";
  d.summary =
      "A ball about the origin of the second frame strikes the xy plane of the first and rebounds by Newton's law of "
      "restitution: an event, without a force in time.";
  d.attachment = Attachment::two_points;
  d.fields = {
      {"restitution", FieldKind::number, Quantity::none, 1.0, "Speed after the impact by speed before it.", 0, 1},
      {"radius", FieldKind::number, Quantity::length, 0.0, "Of the ball; 0 is a point.", 0},
  };
  d.make_force = [](const Item& item, const MakeContext&) -> std::unique_ptr<Force> {
    return std::make_unique<Impact>(item.fields.number("radius"), item.fields.number("restitution"));
  };
  d.random_fields = [](std::mt19937& random) {
    Fields fields;
    fields.set("restitution", std::uniform_real_distribution<double>(0, 1)(random));
    fields.set("radius", std::uniform_real_distribution<double>(0, 0.1)(random));
    return fields;
  };
  return d;
}

}  // namespace trammel
