// Spring, damper and actuator along the line between the origins of two frames. With d = p_B - p_A, l = |d|, u = d / l:
//
//   f = k (l - l0) + c l' + f_act,    l' = u . (v_B - v_A)       tension is positive
//   force on A: f u,  on B: -f u
//   d(f u) = u df + f/l (I - u u^T) (dp_B - dp_A)
//
// Stored energy k (l - l0)^2 / 2, dissipated power c l'^2.
#include "trammel/elements/forces/force_fields.h"
#include "trammel/elements/forces/forces.h"

namespace trammel {
namespace {

class TranslationalSpringDamper final : public Force {
 public:
  TranslationalSpringDamper(double stiffness, double damping, double free_length, MeasuredExpression actuator,
                            int frames)
      : k_(stiffness), c_(damping), l0_(free_length), actuator_(std::move(actuator)), frames_(frames) {}

  int frames() const override { return frames_; }
  int memory() const override { return actuator_.memory(); }
  bool uses_velocity() const override { return c_ != 0 || actuator_.uses_velocity(); }
  FrameNeed needs(int frame) const override { return actuator_.needs(frame); }
  bool sets_in_unseen() const override { return actuator_.expression().sets_in(); }
  std::vector<SwitchInfo> switches() const override {
    std::vector<SwitchInfo> all;
    actuator_.list_switches(all);
    return all;
  }
  void switch_values(const ElementInput& in, double* values) const override { actuator_.switch_values(in, values); }

  bool evaluate(const ElementInput& in, double* wrench) const override {
    const Line line(in);
    double f = 0;
    if (!line.has_direction() || !actuator_.evaluate(in, f)) return false;
    f += k_ * (line.length - l0_) + c_ * line.speed;
    Eigen::Map<FrameVector> out(wrench, 6 * frames_);
    out.setZero();
    out.segment<3>(0) = f * line.u;
    out.segment<3>(6) = -f * line.u;
    return true;
  }

  void linearise(const ElementInput& in, ForcePartials& out) const override {
    out.set_zero(frames_);
    const Line line(in);
    ExpressionPartials f;
    actuator_.linearise(in, frames_, f);
    f.value += k_ * (line.length - l0_) + c_ * line.speed;
    const Vec3 speed_slope = (line.v - line.speed * line.u) / line.length;  // d(l')/dp_B
    const Vec3 f_p = k_ * line.u + c_ * speed_slope, f_v = c_ * line.u;
    f.pose.segment<3>(0) -= f_p.transpose();
    f.pose.segment<3>(6) += f_p.transpose();
    f.twist.segment<3>(0) -= f_v.transpose();
    f.twist.segment<3>(6) += f_v.transpose();

    const Mat3 turn = (f.value / line.length) * (Mat3::Identity() - line.u * line.u.transpose());
    out.pose.topRows<3>() = line.u * f.pose;
    out.pose.block<3, 3>(0, 0) -= turn;
    out.pose.block<3, 3>(0, 6) += turn;
    out.twist.topRows<3>() = line.u * f.twist;
    out.time.head<3>() = f.time * line.u;
    out.pose.middleRows<3>(6) = -out.pose.topRows<3>();
    out.twist.middleRows<3>(6) = -out.twist.topRows<3>();
    out.time.segment<3>(6) = -out.time.head<3>();
  }

  double potential_energy(const ElementInput& in) const override {
    const double stretch = Line(in).length - l0_;
    return 0.5 * k_ * stretch * stretch;
  }
  double dissipated_power(const ElementInput& in) const override {
    const double speed = Line(in).speed;
    return c_ * speed * speed;
  }
  double external_power(const ElementInput& in) const override {
    double f = 0;
    return actuator_.evaluate(in, f) ? -f * Line(in).speed : 0.0;
  }
  bool energy_is_complete() const override { return actuator_.is_zero(); }

  std::vector<Observable> observables() const override { return {{"length", "m"}, {"speed", "m/s"}, {"force", "N"}}; }
  void observe(const ElementInput& in, double* values) const override {
    const Line line(in);
    double f = 0;
    actuator_.evaluate(in, f);
    values[0] = line.length;
    values[1] = line.speed;
    values[2] = f + k_ * (line.length - l0_) + c_ * line.speed;
  }

  void accept(const ElementInput& in, double* memory) const override { actuator_.accept(in, memory); }
  double turned(const ElementInput& in) const override { return actuator_.turned(in); }

 private:
  struct Line {
    double length, speed;
    Vec3 u, v;
    explicit Line(const ElementInput& in) {
      const Vec3 d = in.frames[1].p - in.frames[0].p;
      length = d.norm();
      u = has_direction() ? Vec3(d / length) : Vec3::Zero();
      v = in.frames[1].v - in.frames[0].v;
      speed = u.dot(v);
    }
    bool has_direction() const { return length > least_length; }
  };

  double k_, c_, l0_;
  MeasuredExpression actuator_;
  int frames_;
};

}  // namespace

ElementDescription describe_translational_spring_damper() {
  ElementDescription d;
  d.category = Category::force;
  d.key = "translational_spring_damper";
  d.summary = "Spring, damper and actuator along the line between the origins of two frames; tension is positive.";
  d.attachment = Attachment::two_points;
  d.fields = {
      {"stiffness", FieldKind::number, Quantity::stiffness, 0.0, "Force per stretch.", 0},
      {"damping", FieldKind::number, Quantity::damping, 0.0, "Force per rate of stretch.", 0},
      optional_field("free_length", FieldKind::number, Quantity::length,
                     "Length without spring force; left out, the distance in the given pose."),
      expression_field("force", Quantity::force, "Actuator force, added; positive pulls the ends together."),
  };
  d.make_force = [](const Item& item, const MakeContext& context) -> std::unique_ptr<Force> {
    double free_length = 0;
    if (!item.fields.has("free_length")) {
      const Pose a = context.model.frame_pose(item.frames[0]), b = context.model.frame_pose(item.frames[1]);
      free_length = (b.position - a.position).norm();
    } else if (free_length = item.fields.number("free_length"); free_length < 0) {
      throw Failure({Severity::error, "negative-length", "force '" + item.name + "': free_length is negative",
                     "leave it out to take the distance in the given pose", item.where});
    }
    return std::make_unique<TranslationalSpringDamper>(item.fields.number("stiffness"), item.fields.number("damping"),
                                                       free_length, measured_field(item, "force", context),
                                                       static_cast<int>(item.frames.size()));
  };
  d.random_fields = [](std::mt19937& random) {
    Fields fields;
    fields.set("stiffness", random_between(1, 3, random));
    fields.set("damping", random_between(0.2, 1, random));
    fields.set("free_length", random_between(0.3, 1, random));
    if (random_between(0, 1, random) < 0.5) {
      fields.set("force", ExpressionText{"0.7*sin(3*time)*distance^2 - 0.2*speed*angle + 0.3*vy", {}});
    }
    return fields;
  };
  return d;
}

}  // namespace trammel
