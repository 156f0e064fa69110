// A slender uniform bar in natural coordinates: those of its two ends r1, r2, in space or in a plane. Points of its
// axis move with them linearly, so its mass matrix is constant; one row of its own keeps its length. It has a direction
// u = d/l, d = r2 - r1, l = |d|, and no spin about it:
//
//   p = (1 - s) r1 + s r2          w = d x d' / l^2          M = m/6 [2 1; 1 2]
//
// Formulas: J. Garcia de Jalon, E. Bayo, Kinematic and Dynamic Simulation of Multibody Systems, 1994, chapters 2 and 4.
#include <cmath>

#include "trammel/base/literal.h"
#include "trammel/elements/bodies/bodies.h"
#include "trammel/elements/bodies/group.h"
#include "trammel/elements/build.h"
#include "trammel/math/rotation.h"

namespace trammel {
namespace {

// `axes`: of the coordinates of an end, 3 or 2.
template <int axes>
class Rod final : public BodyElement {
 public:
  explicit Rod(const Body& body)
      : mass_(body.mass), length_(2 * body.center_of_mass.x()), height_(body.pose.position.z()) {}

  int coordinates() const override { return 2 * axes; }
  const std::vector<BodyVelocity>& velocities() const override {
    static const std::vector<BodyVelocity> list = [] {
      std::vector<BodyVelocity> all;
      for (int end = 0; end < 2; ++end) {
        for (int i = 0; i < axes; ++i) {
          const std::string axis(1, "xyz"[i]), number = std::to_string(end + 1);
          all.push_back({"end " + number + " " + axis, axis + number, Quantity::length, end == 0 ? i : -1});
        }
      }
      return all;
    }();
    return list;
  }
  int extra() const override { return 6; }  // d and d'
  std::vector<std::pair<int, int>> entries() const override {
    std::vector<std::pair<int, int>> list;
    for (int j = 0; j < 2 * axes; ++j)
      for (int i = j % axes; i < 2 * axes; i += axes) list.emplace_back(i, j);
    return list;
  }
  void start(const Body& body, double* q, double* v) const override {
    const Vec3 d = body.pose.rotation * Vec3(length_, 0, 0);
    const Vec3 r2 = body.pose.position + d, v2 = body.velocity + body.angular_velocity.cross(d);
    for (int i = 0; i < axes; ++i) {
      q[i] = body.pose.position[i];
      q[axes + i] = r2[i];
      v[i] = body.velocity[i];
      v[axes + i] = v2[i];
    }
  }

  void motion(const double* q, const double* v, BodyState& out, double* extra) const override {
    const Vec3 r1 = in_space(q, height_), r2 = in_space(q + axes, height_);
    const Vec3 v1 = in_space(v, 0), v2 = in_space(v + axes, 0);
    Eigen::Map<Vec3> d(extra), d_dot(extra + 3);
    d = r2 - r1;
    d_dot = v2 - v1;
    out.r = 0.5 * (r1 + r2);
    out.v = 0.5 * (v1 + v2);
    out.w = d.cross(d_dot) / d.squaredNorm();
    const Vec3 u = d.normalized();
    if (axes == 2)
      out.R << u.x(), -u.y(), 0, u.y(), u.x(), 0, 0, 0, 1;
    else
      out.R = Quat::FromTwoVectors(Vec3::UnitX(), u).toRotationMatrix();
  }
  Quat orientation(const double* /*q*/, const BodyState& motion) const override { return Quat(motion.R); }
  void acceleration(const BodyState& /*motion*/, const double* extra, const double* a, Vec3& linear,
                    Vec3& angular) const override {
    const Vec3 a1 = in_space(a, 0), a2 = in_space(a + axes, 0);
    const Eigen::Map<const Vec3> d(extra), d_dot(extra + 3);
    linear = 0.5 * (a1 + a2);
    angular = (d.cross(a2 - a1) - 2 * d.dot(d_dot) / d.squaredNorm() * d.cross(d_dot)) / d.squaredNorm();
  }
  Mat twists(const BodyState& motion) const override {
    if (axes == 2) {
      Mat basis = Mat::Zero(6, 3);
      basis(0, 0) = basis(1, 1) = basis(5, 2) = 1;
      return basis;
    }
    Mat basis = Mat::Zero(6, 5);
    basis.topLeftCorner(3, 3).setIdentity();
    basis.bottomRightCorner(3, 2) = motion.R.rightCols<2>();
    return basis;
  }

  FrameState frame(const BodyFrame& f, const BodyState& motion, const double* extra) const override {
    const Eigen::Map<const Vec3> d(extra), d_dot(extra + 3);
    const double s = f.arm.x() / length_;  // from the middle
    return {motion.r + s * d, motion.R * f.R, motion.v + s * d_dot, motion.w};
  }
  void frame_partials(const BodyFrame& f, const BodyState& /*motion*/, const double* extra, const double* a,
                      FramePartials& out) const override {
    const Vec3 d = Eigen::Map<const Vec3>(extra), d_dot = Eigen::Map<const Vec3>(extra + 3);
    const double s = 0.5 + f.arm.x() / length_, l2 = d.squaredNorm();
    const Vec3 moment = d.cross(d_dot);
    const double stretch = d.dot(d_dot);
    // (d x e)/l^2 by d, for a held e.
    const auto turn_by_d = [&](const Vec3& e) { return Mat3((-skew(e) - 2 / l2 * d.cross(e) * d.transpose()) / l2); };
    out.set_zero(2 * axes);
    out.B.template topLeftCorner<axes, axes>().diagonal().setConstant(1 - s);
    out.B.template topRightCorner<3, axes>().template topRows<axes>().diagonal().setConstant(s);
    put(out.B, skew(d) / l2);
    put(out.Bv_q, turn_by_d(d_dot));
    if (a != nullptr) put(out.Ba_q, turn_by_d(in_space(a + axes, 0) - in_space(a, 0)));
    out.bias.template tail<3>() = -2 * stretch / (l2 * l2) * moment;
    put(out.bias_q,
        (-2 * (moment * d_dot.transpose() - stretch * skew(d_dot)) + 8 * stretch / l2 * moment * d.transpose()) /
            (l2 * l2));
    put(out.bias_v, -2 / (l2 * l2) * (moment * d.transpose() + stretch * skew(d)));
  }
  // B^T gives the ends -/+ (torque x d)/l^2.
  void add_wrench_derivative(const BodyFrame& /*f*/, const BodyState& /*motion*/, const double* extra,
                             const Vec6& wrench, Eigen::Ref<Mat> out) const override {
    const Vec3 d = Eigen::Map<const Vec3>(extra), torque = wrench.tail<3>();
    const double l2 = d.squaredNorm();
    const Mat3 by_d = (skew(torque) - 2 / l2 * torque.cross(d) * d.transpose()) / l2;
    const auto own = by_d.topLeftCorner<axes, axes>();
    out.template topLeftCorner<axes, axes>() += own;
    out.template bottomRightCorner<axes, axes>() += own;
    out.template topRightCorner<axes, axes>() -= own;
    out.template bottomLeftCorner<axes, axes>() -= own;
  }
  void add_wrench(const BodyFrame& f, const BodyState& /*motion*/, const double* extra, const double* wrench,
                  double sign, double* out) const override {
    const Eigen::Map<const Vec3> d(extra), force(wrench), torque(wrench + 3);
    const double s = 0.5 + f.arm.x() / length_;
    const Vec3 couple = torque.cross(d) / d.squaredNorm();
    for (int i = 0; i < axes; ++i) {
      out[i] += sign * ((1 - s) * force[i] - couple[i]);
      out[axes + i] += sign * (s * force[i] + couple[i]);
    }
  }
  std::optional<Vec3> spin_axis() const override {
    if (axes == 2) return std::nullopt;
    return Vec3::UnitX();
  }
  std::string refuse(const BodyFrame& f) const override {
    const double off = axes == 2 ? std::abs(f.arm.y()) : std::hypot(f.arm.y(), f.arm.z());
    if (off <= 1e-9 * length_) return "";
    return "it stands " + digits(off) + " m off the axis of the rod, which has points of its axis only";
  }

  void multiply_mass(const double* /*q*/, const double* a, double* Ma) const override {
    for (int i = 0; i < axes; ++i) {
      Ma[i] = mass_ / 6 * (2 * a[i] + a[axes + i]);
      Ma[axes + i] = mass_ / 6 * (a[i] + 2 * a[axes + i]);
    }
  }
  void mass(const double* /*q*/, const int* slots, double* M) const override {
    for (int j = 0, at = 0; j < 2 * axes; ++j)
      for (int i = j % axes; i < 2 * axes; i += axes) M[slots[at++]] = i == j ? mass_ / 3 : mass_ / 6;
  }
  void inertial_force(const double* /*q*/, const double* /*v*/, const Vec3& gravity, double* force) const override {
    for (int i = 0; i < axes; ++i) force[i] = force[axes + i] = -0.5 * mass_ * gravity[i];
  }
  // m/2 of the middle and of the turn, m/24 of d'
  double kinetic_energy(const BodyState& motion, const double* extra) const override {
    return 0.5 * mass_ * motion.v.squaredNorm() + mass_ / 24 * Eigen::Map<const Vec3>(extra + 3).squaredNorm();
  }
  double potential_energy(const BodyState& motion, const double* /*extra*/, const Vec3& gravity) const override {
    return -mass_ * gravity.dot(motion.r);
  }
  double weight() const override { return mass_; }
  Vec3 moments() const override {
    const double moment = mass_ / 12 * length_ * length_;
    return {0, axes == 2 ? 0 : moment, moment};
  }

 private:
  static Vec3 in_space(const double* x, double height) {
    if constexpr (axes == 2) return {x[0], x[1], height};
    return {x[0], x[1], x[2]};
  }
  // A derivative of the angular part by d, written as one by both ends.
  static void put(FramePartials::Matrix& to, const Mat3& by_d) {
    to.template bottomRightCorner<3, axes>() = by_d.template leftCols<axes>();
    to.template bottomLeftCorner<3, axes>() = -by_d.template leftCols<axes>();
  }

  double mass_, length_, height_;
};

void keep_length(Model& model, int body) {
  const Body& rod = model.bodies[body];
  const double length = 2 * rod.center_of_mass.x();
  Fields fields;
  fields.set("length", length);
  const int first = model.add_frame(body, {}), second = model.add_frame(body, {Vec3(length, 0, 0), Quat::Identity()});
  const int row = add_joint(model, "distance", rod.name + ".length", {first, second}, fields);
  model.joints[row].where = rod.where;
}

template <int axes>
BodyDescription describe(std::string key, std::string summary) {
  BodyDescription d;
  d.key = std::move(key);
  d.summary = std::move(summary);
  d.inertia = InertiaForm::follows;
  d.is_planar = axes == 2;
  d.turns = false;
  d.has_ends = true;
  d.make = make_body<Rod<axes>>;
  d.make_group = make_group<Rod<axes>>;
  d.add_rows = keep_length;
  return d;
}

}  // namespace

BodyDescription describe_rod() {
  return describe<3>("rod", "A slender uniform bar in space, given by its two ends; it has no spin about its axis.");
}

BodyDescription describe_planar_rod() {
  return describe<2>("planar_rod", "A slender uniform bar in a plane parallel to xy, given by its two ends.");
}

}  // namespace trammel
