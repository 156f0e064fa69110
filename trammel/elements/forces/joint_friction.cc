// Friction in a joint's angle or displacement. At the sliding speed u (s' of a displacement, r s' of an angle at the
// radius r) the friction force is
//
//   F = -A(u) tanh(u / u_t) - c u,    A(u) = F_k + (F_s - F_k) exp(-(u / u_s)^2),   F_k = F_0 + mu_k N,  F_s = F_0 +
//   mu_s N
//
// and acts on the coordinate as f = F, or as the torque r F. tanh makes Coulomb's law smooth: sticking is creep at
// speeds below u_t (Stribeck's curve as in Armstrong-Helouvry, Dupont and Canudas de Wit, Automatica 30, 1994). All of
// it is dissipated.
#include <cmath>

#include "trammel/elements/forces/axial_force.h"
#include "trammel/elements/forces/force_fields.h"
#include "trammel/elements/forces/forces.h"

namespace trammel {
namespace {

struct FrictionFields {
  double mu_static = 0, mu_kinetic = 0, constant = 0, viscous = 0, stribeck_speed = 1, slip_speed = 1;
  double radius = 1;  // 1 for a displacement
};

class JointFriction final : public AxialForce {
 public:
  JointFriction(AxialKind kind, const FrictionFields& fields, MeasuredExpression load, int frames)
      : AxialForce(kind, frames), p_(fields), load_(std::move(load)) {
    use(load_);
  }
  JointFriction(const JointFriction&) = delete;  // the base class points at load_
  JointFriction& operator=(const JointFriction&) = delete;

  double dissipated_power(const ElementInput& in) const override {
    double s = 0, rate = 0, f = 0;
    return motion(in, s, rate) && force(in, s, rate, f) ? -f * rate : 0;
  }
  bool energy_is_complete() const override { return true; }

  // Where the load lifts off.
  std::vector<SwitchInfo> switches() const override {
    std::vector<SwitchInfo> all = AxialForce::switches();
    if (load_varies()) all.insert(all.begin(), MeasuredExpression::switch_between("load", {&load_}));
    return all;
  }
  void switch_values(const ElementInput& in, double* values) const override {
    if (load_varies()) {
      *values = 0;
      load_.evaluate(in, *values++);
    }
    AxialForce::switch_values(in, values);
  }

 protected:
  bool force(const ElementInput& in, double, double rate, double& f) const override {
    double load = 0;
    if (!load_.evaluate(in, load)) return false;
    f = p_.radius * slide(p_.radius * rate, load).force;
    return true;
  }
  void force_partials(const ElementInput& in, double, double rate, Law& law) const override {
    load_.linearise(in, frames(), law.rest);
    const Slide now = slide(p_.radius * rate, law.rest.value);
    law.force = p_.radius * now.force;
    law.by_rate = p_.radius * p_.radius * now.by_speed;
    law.rest.pose *= p_.radius * now.by_load;
    law.rest.twist *= p_.radius * now.by_load;
    law.rest.time *= p_.radius * now.by_load;
  }

 private:
  bool load_varies() const { return !load_.expression().is_constant(); }

  struct Slide {
    double force, by_speed, by_load;
  };
  // A load that lifts off holds nothing: it counts as zero.
  Slide slide(double u, double load) const {
    const double N = load > 0 ? load : 0;
    const double x = u / p_.stribeck_speed, bell = std::exp(-x * x);
    const double smooth = std::tanh(u / p_.slip_speed), slope = (1 - smooth) * (1 + smooth) / p_.slip_speed;
    const double drop = (p_.mu_static - p_.mu_kinetic) * N;
    const double level = p_.constant + p_.mu_kinetic * N + drop * bell;
    const double level_slope = -2 * x / p_.stribeck_speed * drop * bell;
    const double by_load = load > 0 ? p_.mu_kinetic + (p_.mu_static - p_.mu_kinetic) * bell : 0;
    return {-level * smooth - p_.viscous * u, -level_slope * smooth - level * slope - p_.viscous, -by_load * smooth};
  }

  FrictionFields p_;
  MeasuredExpression load_;
};

}  // namespace

ElementDescription describe_joint_friction() {
  ElementDescription d;
  d.category = Category::force;
  d.key = "joint_friction";
  d.summary = "Dry (Coulomb, Stribeck) and viscous friction about or along the z axis of a joint, made smooth at rest.";
  d.attachment = Attachment::on_joint;
  d.fields = {
      {"motion", FieldKind::text, Quantity::none, std::string("rotation"),
       "Which freedom of the joint: rotation about z or translation along z."},
      {"radius", FieldKind::number, Quantity::length, 0.0,
       "Of the sliding surface, for a rotation, which needs it; a translation has none.", 0},
      expression_field("load", Quantity::force, "Normal load N, not negative; below zero it counts as zero."),
      {"static_coefficient", FieldKind::number, Quantity::none, 0.0, "Friction coefficient near rest.", 0},
      optional_field("kinetic_coefficient", FieldKind::number, Quantity::none,
                     "Friction coefficient far above the Stribeck speed; left out, the same as near rest."),
      {"force", FieldKind::number, Quantity::force, 0.0, "Dry friction that does not depend on the load: seals.", 0},
      {"viscous", FieldKind::number, Quantity::damping, 0.0, "Force per sliding speed.", 0},
      {"stribeck_speed", FieldKind::number, Quantity::speed, 0.01,
       "Sliding speed over which static friction falls to kinetic.", 1e-12},
      {"slip_speed", FieldKind::number, Quantity::speed, 1e-3,
       "Sliding speed below which sticking is replaced by creep; smaller is stiffer.", 1e-12},
  };
  d.make_force = [](const Item& item, const MakeContext& context) -> std::unique_ptr<Force> {
    const std::string owner = "force '" + item.name + "'";
    const auto& motion = item.fields.get<std::string>("motion");
    const bool turns = motion == "rotation";
    if (!turns && motion != "translation") {
      throw Failure({Severity::error, "unknown-value", owner + ": motion is '" + motion + "'",
                     "motion is rotation or translation", item.where});
    }
    FrictionFields p;
    p.mu_static = item.fields.number("static_coefficient");
    p.mu_kinetic = item.fields.has("kinetic_coefficient") ? item.fields.number("kinetic_coefficient") : p.mu_static;
    p.constant = item.fields.number("force");
    p.viscous = item.fields.number("viscous");
    p.stribeck_speed = item.fields.number("stribeck_speed");
    p.slip_speed = item.fields.number("slip_speed");
    const double radius = item.fields.number("radius");
    if (turns != (radius > 0)) {
      throw Failure({Severity::error, turns ? "missing-field" : "conflict",
                     owner + (turns ? ": a rotation needs the 'radius' at which its surfaces slide"
                                    : ": a translation has no 'radius'"),
                     turns ? "the friction torque is radius times force; give 1 m to state torques" : "leave it out",
                     item.where});
    }
    if (turns) p.radius = radius;
    if (p.mu_kinetic < 0 || p.mu_kinetic > p.mu_static) {
      throw Failure({Severity::error, "out-of-range",
                     owner + ": 'kinetic_coefficient' must lie between 0 and 'static_coefficient'",
                     "friction near rest is at least that of sliding", item.where});
    }
    const AxialKind kind = turns ? AxialKind::rotation : AxialKind::translation;
    return std::make_unique<JointFriction>(kind, p, measured_field(item, "load", context, AxialForce::own_memory(kind)),
                                           static_cast<int>(item.frames.size()));
  };
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
    fields.set("viscous", random_between(0.1, 0.5, random));
    fields.set("stribeck_speed", random_between(0.5, 2, random));
    fields.set("slip_speed", random_between(0.5, 1, random));
    return fields;
  };
  return d;
}

}  // namespace trammel
