// Contact of two shapes, each on a frame: which shapes there are is in contact_shape.h, what they do to each other in
// normal_law.h and friction_law.h.
#include <cmath>

#include "trammel/base/numbers.h"
#include "trammel/elements/contacts/contact.h"
#include "trammel/elements/contacts/contact_shape.h"
#include "trammel/elements/contacts/contacts.h"
#include "trammel/elements/forces/force_fields.h"

namespace trammel {
namespace {

constexpr double smooth_clip = 0.1;
constexpr double usual_slip_speed = 0.01;
// Of steel.
constexpr std::pair<const char*, double> usual_moduli[] = {
    {"modulus_a", 206e9}, {"poisson_a", 0.3}, {"modulus_b", 206e9}, {"poisson_b", 0.3}};
// A load of 1 MN presses real bodies in by more than an atom.
constexpr double great_load = 1e6, atom = 1e-10;

class GeneralContact final : public Contact {
 public:
  GeneralContact(MatchedShapes shapes, const ContactLaw& law)
      : Contact(std::move(shapes.pair), law, shapes.size, shapes.points) {
    for (int i = 0; i < 2; ++i) {
      needs_[i] = law.friction.any() ? FrameNeed::orientation : shapes.needs[i];
      extents_[i] = shapes.extents[i];
    }
  }
  FrameNeed needs(int frame) const override { return needs_[frame]; }
  ShapeExtent extent(int frame) const override { return extents_[frame]; }

 private:
  FrameNeed needs_[2];
  ShapeExtent extents_[2];
};

class LawReader {
 public:
  explicit LawReader(const Item& item) : item_(item) {}

  ContactLaw read(const MatchedShapes& shapes) const {
    ContactLaw law;
    law.normal.exponent = number("exponent");
    law.normal.stiffness = stiffness(shapes);
    if (law.normal.depth_at(great_load) < atom) {
      fail("out-of-range",
           "its stiffness is absurd: a load of 1 MN would press it in by " +
               digits(law.normal.depth_at(great_load), 2) + " m",
           "check the unit, N/m^" + digits(law.normal.exponent) +
               "; a ball of steel of radius 10 mm has 1.5e10 N/m^1.5");
    }
    read_damping(law.normal);
    read_friction(law.friction);
    if (shapes.line) {  // given for the whole line, without regard to how many places stand for it
      law.normal.stiffness /= shapes.points;
      if (law.normal.kind == NormalLaw::Damping::impact) law.normal.damping /= shapes.points;
    }
    return law;
  }

 private:
  double number(const char* name) const { return item_.fields.number(name); }
  double number(const char* name, double otherwise) const { return given(name) ? number(name) : otherwise; }
  bool given(const char* name) const { return item_.fields.has(name); }
  [[noreturn]] void fail(const char* id, const std::string& what, const std::string& hint) const {
    throw Failure({Severity::error, id, "force '" + item_.name + "': " + what, hint, item_.where});
  }

  // Given, or by a load and its depth, or Hertz's.
  double stiffness(const MatchedShapes& shapes) const {
    if (given("load") != given("depth")) {
      fail("missing-field", given("load") ? "'load' needs 'depth'" : "'depth' needs 'load'",
           "the two say together how stiff the contact is: so deep under this load");
    }
    if (given("stiffness") || given("load")) {
      for (const auto& [name, unused] : usual_moduli)
        if (given(name))
          fail("conflict", std::string("'") + name + "' is for Hertz's stiffness, but the stiffness is given",
               given("stiffness") ? "leave it out, or leave out 'stiffness'"
                                  : "leave it out, or leave out 'load' and 'depth'");
    }
    if (given("stiffness")) {
      if (given("load")) fail("conflict", "both 'stiffness' and 'load' with 'depth' are given", "keep one of them");
      return number("stiffness");
    }
    if (given("load")) return number("load") / std::pow(number("depth"), number("exponent"));
    if (shapes.line) {
      fail("missing-field", "a roller bears along a line and needs 'stiffness', or 'load' and 'depth'",
           "the moduli give Hertz's law of a contact in a point");
    }
    if (number("exponent") != 1.5) {
      fail("missing-field",
           "with 'exponent' " + digits(number("exponent")) + " it needs 'stiffness', or 'load' and 'depth'",
           "the moduli give Hertz's law, whose exponent is 1.5");
    }
    Item whole = item_;
    for (const auto& [name, usual] : usual_moduli)
      if (!given(name)) whole.fields.set(name, usual);
    return hertz_stiffness(whole, shapes.curvature_sum, shapes.curvature_difference);
  }

  void read_friction(FrictionLaw& law) const {
    law.kinetic = number("friction", 0);
    law.at_rest = number("static_friction", law.kinetic);
    law.slip_speed = number("slip_speed", usual_slip_speed);
    if (law.at_rest < law.kinetic)
      fail("out-of-range", "'static_friction' is below 'friction'", "friction at rest is at least that of sliding");
    if (given("slip_speed") && !given("friction") && !given("static_friction"))
      fail("conflict", "'slip_speed' is given, but no friction", "give 'friction' too, or leave it out");
  }

  void read_damping(NormalLaw& law) const {
    const auto& kind = item_.fields.get<std::string>("law");
    if (kind != "hunt_crossley" && kind != "impact") {
      fail("unknown-value", "law is '" + kind + "'", "law is hunt_crossley or impact");
    }
    law.damping = number("damping", 0);
    if (given("impact_speed") != given("restitution")) {
      fail("missing-field",
           given("restitution") ? "'restitution' needs 'impact_speed'" : "'impact_speed' needs 'restitution'",
           "damping that depends on the depth gives a restitution that depends on the speed");
    }
    if (kind == "impact") {
      law.kind = NormalLaw::Damping::impact;
      if (given("restitution")) {
        fail("conflict", "'restitution' is that of law hunt_crossley", "take that law, or give 'damping'");
      }
      if (law.damping > 0 && !given("ramp")) {
        fail("missing-field", "law impact with 'damping' needs 'ramp'",
             "the depth at which damping is complete: about a third of the depth of an impact");
      }
      if (given("ramp") && !given("damping"))
        fail("conflict", "'ramp' is given, but no 'damping'", "give the damping that it leads to, or leave it out");
      law.ramp = number("ramp", 0);
      return;
    }
    law.clip = smooth_clip;
    if (given("ramp")) fail("conflict", "'ramp' is that of law impact", "leave it out");
    if (!given("restitution")) return;
    if (law.damping > 0) fail("conflict", "both 'damping' and 'restitution' are given", "keep one of them");
    law.damping = damping_for_restitution(number("restitution"), law.clip) / number("impact_speed");
  }

  const Item& item_;
};

Field limited(Field field, double least, double most = 1e300) {
  field.least = least;
  field.most = most;
  return field;
}

}  // namespace

ElementDescription describe_contact() {
  ElementDescription d;
  d.category = Category::force;
  d.key = "contact";
  d.summary =
      "Contact of two shapes, one on each frame (plane, sphere, cylinder, disc, capsule, box, rail and sprocket "
      "for rollers): elastic and damped, with friction.";
  d.attachment = Attachment::two_points;
  d.meets_in_flight = true;
  d.fields = contact_shape_fields();
  const auto number = [](const char* name, Quantity quantity, std::string text) {
    return optional_field(name, FieldKind::number, quantity, std::move(text));
  };
  for (Field& field : std::vector<Field>{
           {"law", FieldKind::text, Quantity::none, std::string("hunt_crossley"),
            "How the normal force is damped: hunt_crossley (in proportion to the elastic force) or impact (by a "
            "constant, beyond a ramp of depth)."},
           limited(
               number(
                   "stiffness", Quantity::none,
                   "k of the elastic force k depth^exponent, N/m^exponent; left out, by load and depth, or Hertz's."),
               1e-12),
           {"exponent", FieldKind::number, Quantity::none, 1.5, "Of that force: 1.5 is Hertz's, 1 a linear spring.", 1,
            10},
           limited(number("load", Quantity::force, "Instead of the stiffness: a load, and with it"), 1e-12),
           limited(number("depth", Quantity::length, "the depth at which the contact bears it."), 1e-12),
           limited(number("modulus_a", Quantity::pressure,
                          "Young's modulus on the first frame's side; left out, 206e9, that of steel."),
                   1),
           limited(number("poisson_a", Quantity::none, "Poisson's ratio there; left out, 0.3."), 0, 0.5),
           limited(number("modulus_b", Quantity::pressure,
                          "Young's modulus on the second frame's side; left out, 206e9, that of steel."),
                   1),
           limited(number("poisson_b", Quantity::none, "Poisson's ratio there; left out, 0.3."), 0, 0.5),
           limited(number("damping", Quantity::none,
                          "Of law hunt_crossley in s/m: the force is 1 + damping times approach speed of the elastic "
                          "one; of law impact in N s/m. Left out, none."),
                   0),
           limited(number("restitution", Quantity::none,
                          "Instead of the damping of hunt_crossley: speed after an impact by speed before it, at"),
                   0.02, 1),
           limited(number("impact_speed", Quantity::speed, "the speed of this impact."), 1e-12),
           limited(number("ramp", Quantity::length, "Of law impact: the depth from which on damping is complete."),
                   1e-12),
           limited(number("friction", Quantity::none, "Coefficient of friction of sliding; left out, none."), 0),
           limited(number("static_friction", Quantity::none,
                          "Greatest coefficient, at the slip speed; left out, that of sliding."),
                   0),
           limited(
               number("slip_speed", Quantity::speed,
                      "Sliding speed below which sticking is replaced by creep; smaller is stiffer. About 1/1000 of "
                      "typical speeds; left out, 0.01 m/s."),
               1e-12),
       })
    d.fields.push_back(std::move(field));
  d.make_force = [](const Item& item, const MakeContext&) -> std::unique_ptr<Force> {
    MatchedShapes shapes = match_shapes(item);
    const ContactLaw law = LawReader(item).read(shapes);
    return std::make_unique<GeneralContact>(std::move(shapes), law);
  };
  d.random_fields = [](std::mt19937& random) {
    Fields fields = random_contact_shapes(random);
    fields.set("stiffness", random_between(1, 3, random));
    if (random_between(0, 1, random) < 0.3) {
      fields.set("law", std::string("impact"));
      fields.set("exponent", random_between(1.3, 2.2, random));
      fields.set("damping", random_between(0.005, 0.01, random));
      fields.set("ramp", random_between(4, 5, random));  // deeper than it gets
    } else {
      fields.set("damping", random_between(0.01, 0.03, random));
    }
    const double friction = random_between(0.1, 0.5, random);
    fields.set("friction", friction);
    if (random_between(0, 1, random) < 0.3) fields.set("static_friction", friction + 0.2);
    fields.set("slip_speed", random_between(1, 3, random));
    return fields;
  };
  return d;
}

}  // namespace trammel
