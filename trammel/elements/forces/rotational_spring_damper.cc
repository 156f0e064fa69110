// Spring, damper and actuator in the angle of frame B about the z axis of frame A, over any number of turns:
//
//   phi = atan2(b_x . a_y, b_x . a_x) + 2 pi m,   the value nearest to where it was on its way from the last accepted
//   state T = -k (phi - phi0) - c phi' + T_act,         phi' = n . (w_B - w_A) torque on B: T n,  on A: -T n
//
// n is the gradient of phi (AxialAngle): the z axis of A while the z axes are parallel, as in a revolute joint. Because
// the torque acts along the gradient, the stored energy k (phi - phi0)^2 / 2 and the dissipated power c phi'^2 are
// exact for any position of the frames.
#include <cmath>

#include "trammel/elements/forces/force_fields.h"
#include "trammel/elements/forces/forces.h"
#include "trammel/elements/remembered_angle.h"
#include "trammel/math/rotation.h"

namespace trammel {
namespace {

class RotationalSpringDamper final : public Force {
 public:
  RotationalSpringDamper(double stiffness, double damping, double free_angle, MeasuredExpression actuator, int frames)
      : k_(stiffness), c_(damping), phi0_(free_angle), actuator_(std::move(actuator)), frames_(frames) {}

  static constexpr int own_memory = RememberedAngle::size;  // phi; the actuator's angles follow

  int frames() const override { return frames_; }
  int memory() const override { return own_memory + actuator_.memory(); }
  bool uses_velocity() const override { return c_ != 0 || actuator_.uses_velocity(); }
  bool sets_in_unseen() const override { return actuator_.expression().sets_in(); }
  std::vector<SwitchInfo> switches() const override {
    std::vector<SwitchInfo> all;
    actuator_.list_switches(all);
    return all;
  }
  void switch_values(const ElementInput& in, double* values) const override { actuator_.switch_values(in, values); }

  bool evaluate(const ElementInput& in, double* wrench) const override {
    const Turn turn(in);
    double torque = 0;
    if (!turn.good || !actuator_.evaluate(in, torque)) return false;
    torque += passive(turn);
    Eigen::Map<FrameVector> out(wrench, 6 * frames_);
    out.setZero();
    out.segment<3>(3) = -torque * turn.axis.n;
    out.segment<3>(9) = torque * turn.axis.n;
    return true;
  }

  // d(T n) = n dT + T (phi_A x n + N (phi_B - phi_A))
  void linearise(const ElementInput& in, ForcePartials& out) const override {
    out.set_zero(frames_);
    const Turn turn(in);
    const Vec3 n = turn.axis.n;
    ExpressionPartials torque;
    actuator_.linearise(in, frames_, torque);
    torque.value += passive(turn);
    const Vec3 rate_slope = turn.axis.N.transpose() * turn.w;
    const Vec3 by_b = -k_ * n - c_ * rate_slope;
    torque.pose.segment<3>(9) += by_b.transpose();
    torque.pose.segment<3>(3) -= (by_b + c_ * n.cross(turn.w)).transpose();
    torque.twist.segment<3>(9) -= c_ * n.transpose();
    torque.twist.segment<3>(3) += c_ * n.transpose();

    out.pose.middleRows<3>(9) = n * torque.pose;
    out.pose.block<3, 3>(9, 9) += torque.value * turn.axis.N;
    out.pose.block<3, 3>(9, 3) -= torque.value * (turn.axis.N + skew(n));
    out.twist.middleRows<3>(9) = n * torque.twist;
    out.time.segment<3>(9) = torque.time * n;
    out.pose.middleRows<3>(3) = -out.pose.middleRows<3>(9);
    out.twist.middleRows<3>(3) = -out.twist.middleRows<3>(9);
    out.time.segment<3>(3) = -out.time.segment<3>(9);
  }

  double potential_energy(const ElementInput& in) const override {
    const double twist = Turn(in).angle - phi0_;
    return 0.5 * k_ * twist * twist;
  }
  double dissipated_power(const ElementInput& in) const override {
    const double rate = Turn(in).rate;
    return c_ * rate * rate;
  }
  double external_power(const ElementInput& in) const override {
    double torque = 0;
    return actuator_.evaluate(in, torque) ? torque * Turn(in).rate : 0.0;
  }
  bool energy_is_complete() const override { return actuator_.is_zero(); }

  std::vector<Observable> observables() const override {
    return {{"angle", "rad"}, {"rate", "rad/s"}, {"torque", "N m"}};
  }
  void observe(const ElementInput& in, double* values) const override {
    const Turn turn(in);
    double torque = 0;
    actuator_.evaluate(in, torque);
    values[0] = turn.angle;
    values[1] = turn.rate;
    values[2] = torque + passive(turn);
  }

  void accept(const ElementInput& in, double* memory) const override {
    const Turn turn(in);
    RememberedAngle::keep(turn.angle, turn.rate, in.t, memory);
    actuator_.accept(in, memory);
  }
  double turned(const ElementInput& in) const override {
    const Turn turn(in);
    return std::max(RememberedAngle(in.memory).doubt(turn.angle, turn.rate, in.t), actuator_.turned(in));
  }

 private:
  struct Turn {
    AxialAngle axis;
    double angle, rate;
    Vec3 w;
    bool good;
    explicit Turn(const ElementInput& in) {
      good = axial_angle(in.frames[0].R, in.frames[1].R, axis);
      const RememberedAngle before(in.memory);
      angle = good ? before.total(axis.value, in.t) : before.value;
      w = in.frames[1].w - in.frames[0].w;
      rate = axis.n.dot(w);
    }
  };
  double passive(const Turn& turn) const { return -k_ * (turn.angle - phi0_) - c_ * turn.rate; }

  double k_, c_, phi0_;
  MeasuredExpression actuator_;
  int frames_;
};

}  // namespace

ElementDescription describe_rotational_spring_damper() {
  ElementDescription d;
  d.category = Category::force;
  d.key = "rotational_spring_damper";
  d.summary =
      "Spring, damper and actuator in the angle of the second frame about the z axis of the first, over any number of "
      "turns.";
  d.attachment = Attachment::on_joint;
  d.fields = {
      {"stiffness", FieldKind::number, Quantity::angular_stiffness, 0.0, "Torque per angle.", 0},
      {"damping", FieldKind::number, Quantity::angular_damping, 0.0, "Torque per angular speed.", 0},
      {"free_angle", FieldKind::number, Quantity::angle, 0.0, "Angle without spring torque; may be several turns."},
      expression_field("torque", Quantity::torque,
                       "Actuator torque, added; positive turns the second frame forward about z."),
  };
  d.make_force = [](const Item& item, const MakeContext& context) -> std::unique_ptr<Force> {
    return std::make_unique<RotationalSpringDamper>(
        item.fields.number("stiffness"), item.fields.number("damping"), item.fields.number("free_angle"),
        measured_field(item, "torque", context, RotationalSpringDamper::own_memory),
        static_cast<int>(item.frames.size()));
  };
  d.random_fields = [](std::mt19937& random) {
    Fields fields;
    fields.set("stiffness", random_between(0.5, 2, random));
    fields.set("damping", random_between(0.2, 1, random));
    fields.set("free_angle", random_between(-8, 8, random));
    if (random_between(0, 1, random) < 0.5) {
      fields.set("torque", ExpressionText{"0.7*sin(3*time)*angle - 0.2*rate*distance + 0.3*wx", {}});
    }
    return fields;
  };
  return d;
}

}  // namespace trammel
