// Drag of a body in a medium that moves with frame A, apart from the wind W in its axes. With the velocity u of the
// origin of B through the medium, in the axes of B,
//
//   u = R_B^T (v_B - v_A + d x w_A - R_A W),   d = p_B - p_A
//   f = -rho/2 |u| (c_x A_x u_x, c_y A_y u_y, c_z A_z u_z),   F = R_B f at the origin of B
//
// With three equal coefficients this is -rho/2 c A |u| u. F dissipates -F . (R_B u); the wind does the rest of its
// work.
#include <array>
#include <cmath>

#include "trammel/elements/forces/force_fields.h"
#include "trammel/elements/forces/forces.h"
#include "trammel/math/rotation.h"

namespace trammel {
namespace {

class Drag final : public Force {
 public:
  Drag(double density, const Vec3& coefficient_area, std::array<MeasuredExpression, 3> wind, int frames)
      : half_(0.5 * density * coefficient_area), wind_(std::move(wind)), frames_(frames) {
    for (const MeasuredExpression& each : wind_) memory_ += each.memory();
  }

  int frames() const override { return frames_; }
  int memory() const override { return memory_; }

  bool evaluate(const ElementInput& in, double* wrench) const override {
    Flow flow(in);
    if (!blow(in, flow)) return false;
    const Vec3 force = in.frames[1].R * law(flow.u);
    Eigen::Map<FrameVector> out(wrench, 6 * frames_);
    out.setZero();
    out.head<12>() << -force, -flow.d.cross(force), force, Vec3::Zero();
    return true;
  }

  // du = R_B^T (dv + (v - R_A W) x phi_B ... ): with V = v_B - v_A + d x w_A - R_A W in the world,
  //   dV = (dp_B - dp_A) x w_A + d x dw_A + dv_B - dv_A - phi_A x (R_A W) - R_A dW,   du = R_B^T (dV - phi_B x V)
  void linearise(const ElementInput& in, ForcePartials& out) const override {
    out.set_zero(frames_);
    Flow flow(in);
    const FrameState &a = in.frames[0], &b = in.frames[1];
    Eigen::Matrix<double, 3, Eigen::Dynamic, Eigen::ColMajor, 3, 6 * max_frames> pose, twist;
    pose.setZero(3, 6 * frames_);
    twist.setZero(3, 6 * frames_);
    Vec3 time = Vec3::Zero(), W;
    ExpressionPartials each;
    for (int i = 0; i < 3; ++i) {
      wind_[i].linearise(in, frames_, each);
      W[i] = each.value;
      if (wind_[i].expression().is_constant()) continue;
      pose -= a.R.col(i) * each.pose;
      twist -= a.R.col(i) * each.twist;
      time -= each.time * a.R.col(i);
    }
    const Vec3 wind = a.R * W;
    flow.set(wind, b.R);
    pose.block<3, 3>(0, 0) += skew(a.w);
    pose.block<3, 3>(0, 6) -= skew(a.w);
    pose.block<3, 3>(0, 3) += skew(wind);
    pose.block<3, 3>(0, 9) += skew(flow.V);
    twist.block<3, 3>(0, 0) -= Mat3::Identity();
    twist.block<3, 3>(0, 3) += skew(flow.d);
    twist.block<3, 3>(0, 6) += Mat3::Identity();

    const Vec3 force = b.R * law(flow.u);
    const Mat3 slope = b.R * law_slope(flow.u) * b.R.transpose();
    out.pose.middleRows<3>(6) = slope * pose;
    out.pose.block<3, 3>(6, 9) -= skew(force);
    out.twist.middleRows<3>(6) = slope * twist;
    out.time.segment<3>(6) = slope * time;
    const auto react = [&flow](auto& m) {
      m.template topRows<3>() = -m.template middleRows<3>(6);
      m.template middleRows<3>(3) = -skew(flow.d) * m.template middleRows<3>(6);
    };
    react(out.pose);
    react(out.twist);
    react(out.time);
    out.pose.block<3, 3>(3, 6) += skew(force);
    out.pose.block<3, 3>(3, 0) -= skew(force);
  }

  double dissipated_power(const ElementInput& in) const override {
    Flow flow(in);
    return blow(in, flow) ? -law(flow.u).dot(flow.u) : 0.0;
  }
  // Of the wind: F . R_A W
  double external_power(const ElementInput& in) const override {
    Flow flow(in);
    return blow(in, flow) ? (in.frames[1].R * law(flow.u)).dot(flow.wind) : 0.0;
  }
  bool energy_is_complete() const override { return wind_[0].is_zero() && wind_[1].is_zero() && wind_[2].is_zero(); }

  std::vector<Observable> observables() const override {
    return {{"speed", "m/s"}, {"fx", "N"}, {"fy", "N"}, {"fz", "N"}};
  }
  void observe(const ElementInput& in, double* values) const override {
    Flow flow(in);
    blow(in, flow);
    const Vec3 f = law(flow.u);
    values[0] = flow.u.norm();
    for (int i = 0; i < 3; ++i) values[1 + i] = f[i];
  }

  std::vector<SwitchInfo> switches() const override {
    std::vector<SwitchInfo> all;
    for (const MeasuredExpression& each : wind_) each.list_switches(all);
    return all;
  }
  void switch_values(const ElementInput& in, double* values) const override {
    for (const MeasuredExpression& each : wind_) values = each.switch_values(in, values);
  }

  void accept(const ElementInput& in, double* memory) const override {
    for (const MeasuredExpression& each : wind_) each.accept(in, memory);
  }
  double turned(const ElementInput& in) const override {
    double most = 0;
    for (const MeasuredExpression& each : wind_) most = std::max(most, each.turned(in));
    return most;
  }

 private:
  struct Flow {
    Vec3 d, calm, wind, V, u;  // world, but u in the axes of B; calm: V without wind
    explicit Flow(const ElementInput& in) {
      const FrameState &a = in.frames[0], &b = in.frames[1];
      d = b.p - a.p;
      calm = b.v - a.v + d.cross(a.w);
      set(Vec3::Zero(), b.R);
    }
    void set(const Vec3& with_wind, const Mat3& R_b) {
      wind = with_wind;
      V = calm - wind;
      u = R_b.transpose() * V;
    }
  };

  bool blow(const ElementInput& in, Flow& flow) const {
    Vec3 W;
    for (int i = 0; i < 3; ++i) {
      if (!wind_[i].evaluate(in, W[i])) return false;
    }
    flow.set(in.frames[0].R * W, in.frames[1].R);
    return true;
  }
  Vec3 law(const Vec3& u) const { return -u.norm() * half_.cwiseProduct(u); }
  // d(|u| u_i) = |u| du_i + u_i u . du / |u|
  Mat3 law_slope(const Vec3& u) const {
    const double speed = u.norm();
    if (speed == 0) return Mat3::Zero();
    const Mat3 slope = speed * Mat3::Identity() + u * (u.transpose() / speed);
    return -(half_.asDiagonal() * slope);
  }

  Vec3 half_;
  std::array<MeasuredExpression, 3> wind_;
  int frames_, memory_ = 0;
};

constexpr std::array<const char*, 3> wind_names{"wind_x", "wind_y", "wind_z"};

}  // namespace

ElementDescription describe_drag() {
  ElementDescription d;
  d.category = Category::force;
  d.key = "drag";
  d.summary = "Drag rho/2 c A |u| u on the second frame, moving through a medium at rest in the first, with wind.";
  d.attachment = Attachment::two_points;
  const Vec3 ones = Vec3::Ones();
  d.fields = {
      {"density", FieldKind::number, Quantity::density, 1.225, "Of the medium; air at sea level if left out.", 0},
      {"area", FieldKind::number, Quantity::area, std::nullopt, "Reference area A.", 0},
      {"coefficient", FieldKind::vector3, Quantity::none, ones,
       "Drag coefficients c along x, y, z of the second frame; equal ones for a sphere.", 0},
      expression_field(wind_names[0], Quantity::speed, "Velocity of the medium along x of the first frame."),
      expression_field(wind_names[1], Quantity::speed, "Along y."),
      expression_field(wind_names[2], Quantity::speed, "Along z."),
  };
  d.make_force = [](const Item& item, const MakeContext& context) -> std::unique_ptr<Force> {
    std::array<MeasuredExpression, 3> wind;
    int memory = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      wind[i] = measured_field(item, wind_names[i], context, memory);
      memory += wind[i].memory();
    }
    return std::make_unique<Drag>(item.fields.number("density"),
                                  item.fields.number("area") * item.fields.get<Vec3>("coefficient"), std::move(wind),
                                  static_cast<int>(item.frames.size()));
  };
  d.random_fields = [](std::mt19937& random) {
    Fields fields;
    fields.set("density", random_between(0.5, 2, random));
    fields.set("area", random_between(0.2, 1, random));
    fields.set("coefficient", random_vector(0.3, 1.5, random));
    if (random_between(0, 1, random) < 0.5) {
      fields.set("wind_x", ExpressionText{"0.5*sin(2*time) + 0.2*dz", {}});
      fields.set("wind_z", ExpressionText{"0.3*angle - 0.1*vx*time", {}});
    }
    return fields;
  };
  return d;
}

}  // namespace trammel
