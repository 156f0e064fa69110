// A point with mass: it moves and does not turn.
#include "trammel/elements/bodies/bodies.h"
#include "trammel/elements/bodies/group.h"
#include "trammel/elements/bodies/rigid.h"

namespace trammel {
namespace {

class PointBody final : public RigidBody {
 public:
  explicit PointBody(const Body& body) : RigidBody(body.mass, body.mass, Mat3::Zero()) {}

  int coordinates() const override { return 3; }
  const std::vector<BodyVelocity>& velocities() const override {
    static const std::vector<BodyVelocity> list = {{"position x", "x", Quantity::length, 0},
                                                   {"position y", "y", Quantity::length, 1},
                                                   {"position z", "z", Quantity::length, 2}};
    return list;
  }
  const RigidColumns* rigid() const override {
    static constexpr RigidColumns translations{3, {0, 1, 2, -1, -1, -1}};
    return &translations;
  }
  std::vector<std::pair<int, int>> entries() const override { return {{0, 0}, {1, 1}, {2, 2}}; }
  void start(const Body& body, double* q, double* v) const override {
    const Vec3 arm = body.pose.rotation * body.center_of_mass;
    Eigen::Map<Vec3>{q} = body.pose.position + arm;
    Eigen::Map<Vec3>{v} = body.velocity + body.angular_velocity.cross(arm);
  }

  void motion(const double* q, const double* v, BodyState& out, double* /*extra*/) const override {
    out.r = Vec3(q[0], q[1], q[2]);
    out.R = Mat3::Identity();
    out.v = Vec3(v[0], v[1], v[2]);
    out.w = Vec3::Zero();
  }
  Quat orientation(const double* /*q*/, const BodyState& /*motion*/) const override { return Quat::Identity(); }
  void acceleration(const BodyState& /*motion*/, const double* /*extra*/, const double* a, Vec3& linear,
                    Vec3& angular) const override {
    linear = Vec3(a[0], a[1], a[2]);
    angular.setZero();
  }
  Mat twists(const BodyState& /*motion*/) const override { return Mat::Identity(6, 3); }

  void multiply_mass(const double* /*q*/, const double* a, double* Ma) const override {
    for (int i = 0; i < 3; ++i) Ma[i] = mass_ * a[i];
  }
  void mass(const double* /*q*/, const int* slots, double* M) const override {
    for (int i = 0; i < 3; ++i) M[slots[i]] = mass_;
  }
  void inertial_force(const double* /*q*/, const double* /*v*/, const Vec3& gravity, double* force) const override {
    for (int i = 0; i < 3; ++i) force[i] = -mass_ * gravity[i];
  }
};

}  // namespace

BodyDescription describe_point_body() {
  BodyDescription d;
  d.key = "point";
  d.summary = "A point with mass: it moves and does not turn.";
  d.inertia = InertiaForm::none;
  d.turns = false;
  d.make = make_body<PointBody>;
  d.make_group = make_group<PointBody>;
  return d;
}

}  // namespace trammel
