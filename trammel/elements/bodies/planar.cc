// A rigid body that moves in a plane z = constant. Coordinates: x and y of the centre of mass, angle about z, over any
// number of turns.
#include <cmath>

#include "trammel/elements/bodies/bodies.h"
#include "trammel/elements/bodies/group.h"
#include "trammel/elements/bodies/rigid.h"

namespace trammel {
namespace {

class PlanarBody final : public RigidBody {
 public:
  explicit PlanarBody(const Body& body)
      : RigidBody(body.mass, body.mass, Vec3(0, 0, body.inertia(2, 2)).asDiagonal()),
        height_((body.pose.position + body.pose.rotation * body.center_of_mass).z()) {}

  int coordinates() const override { return 3; }
  const std::vector<BodyVelocity>& velocities() const override {
    static const std::vector<BodyVelocity> list = {{"position x", "x", Quantity::length, 0},
                                                   {"position y", "y", Quantity::length, 1},
                                                   {"rotation about z", "angle", Quantity::angle, 5}};
    return list;
  }
  const RigidColumns* rigid() const override {
    static constexpr RigidColumns in_plane{3, {0, 1, 5, -1, -1, -1}};
    return &in_plane;
  }
  std::vector<std::pair<int, int>> entries() const override { return {{0, 0}, {1, 1}, {2, 2}}; }
  void start(const Body& body, double* q, double* v) const override {
    const Vec3 arm = body.pose.rotation * body.center_of_mass;
    const Vec3 r = body.pose.position + arm, speed = body.velocity + body.angular_velocity.cross(arm);
    q[0] = r.x();
    q[1] = r.y();
    q[2] = 2 * std::atan2(body.pose.rotation.z(), body.pose.rotation.w());
    v[0] = speed.x();
    v[1] = speed.y();
    v[2] = body.angular_velocity.z();
  }

  void motion(const double* q, const double* v, BodyState& out, double* /*extra*/) const override {
    const double c = std::cos(q[2]), s = std::sin(q[2]);
    out.r = Vec3(q[0], q[1], height_);
    out.R << c, -s, 0, s, c, 0, 0, 0, 1;
    out.v = Vec3(v[0], v[1], 0);
    out.w = Vec3(0, 0, v[2]);
  }
  Quat orientation(const double* q, const BodyState& /*motion*/) const override {
    return {std::cos(0.5 * q[2]), 0, 0, std::sin(0.5 * q[2])};
  }
  void acceleration(const BodyState& /*motion*/, const double* /*extra*/, const double* a, Vec3& linear,
                    Vec3& angular) const override {
    linear = Vec3(a[0], a[1], 0);
    angular = Vec3(0, 0, a[2]);
  }
  Mat twists(const BodyState& /*motion*/) const override {
    Mat basis = Mat::Zero(6, 3);
    basis(0, 0) = basis(1, 1) = basis(5, 2) = 1;
    return basis;
  }

  void multiply_mass(const double* /*q*/, const double* a, double* Ma) const override {
    Ma[0] = mass_ * a[0];
    Ma[1] = mass_ * a[1];
    Ma[2] = inertia_(2, 2) * a[2];
  }
  void mass(const double* /*q*/, const int* slots, double* M) const override {
    M[slots[0]] = M[slots[1]] = mass_;
    M[slots[2]] = inertia_(2, 2);
  }
  void inertial_force(const double* /*q*/, const double* /*v*/, const Vec3& gravity, double* force) const override {
    force[0] = -mass_ * gravity[0];
    force[1] = -mass_ * gravity[1];
    force[2] = 0;
  }

 private:
  double height_;
};

}  // namespace

BodyDescription describe_planar_body() {
  BodyDescription d;
  d.key = "planar";
  d.summary = "A rigid body that moves in a plane parallel to xy.";
  d.inertia = InertiaForm::about_z;
  d.is_planar = true;
  d.make = make_body<PlanarBody>;
  d.make_group = make_group<PlanarBody>;
  return d;
}

}  // namespace trammel
