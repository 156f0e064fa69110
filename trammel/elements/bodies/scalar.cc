// A coordinate that stands for no place, such as an angle made a coordinate by the joint that defines it. To elements
// it looks like a point that moves along x; gravity does not see it.
#include "trammel/elements/bodies/bodies.h"
#include "trammel/elements/bodies/group.h"
#include "trammel/elements/bodies/rigid.h"

namespace trammel {
namespace {

class ScalarCoordinate final : public RigidBody {
 public:
  explicit ScalarCoordinate(const Body& body)
      : RigidBody(body.mass, 0, Mat3::Zero()), velocities_{{"value", "", body.quantity, 0}} {}

  int coordinates() const override { return 1; }
  const std::vector<BodyVelocity>& velocities() const override { return velocities_; }
  const RigidColumns* rigid() const override {
    static constexpr RigidColumns along_x{1, {0, -1, -1, -1, -1, -1}};
    return &along_x;
  }
  std::vector<std::pair<int, int>> entries() const override { return {{0, 0}}; }
  void start(const Body& body, double* q, double* v) const override {
    q[0] = body.pose.position.x();
    v[0] = body.velocity.x();
  }

  void motion(const double* q, const double* v, BodyState& out, double* /*extra*/) const override {
    out = {Mat3::Identity(), Vec3(q[0], 0, 0), Vec3(v[0], 0, 0), Vec3::Zero()};
  }
  Quat orientation(const double* /*q*/, const BodyState& /*motion*/) const override { return Quat::Identity(); }
  void acceleration(const BodyState& /*motion*/, const double* /*extra*/, const double* a, Vec3& linear,
                    Vec3& angular) const override {
    linear = Vec3(a[0], 0, 0);
    angular.setZero();
  }
  Mat twists(const BodyState& /*motion*/) const override { return Vec6::Unit(0); }

  void multiply_mass(const double* /*q*/, const double* a, double* Ma) const override { Ma[0] = mass_ * a[0]; }
  void mass(const double* /*q*/, const int* slots, double* M) const override { M[slots[0]] = mass_; }
  void inertial_force(const double* /*q*/, const double* /*v*/, const Vec3& /*gravity*/, double* force) const override {
    force[0] = 0;
  }

 private:
  std::vector<BodyVelocity> velocities_;
};

}  // namespace

BodyDescription describe_scalar_coordinate() {
  BodyDescription d;
  d.key = "scalar";
  d.summary = "A coordinate that stands for no place: a number with a mass of its own, or none.";
  d.inertia = InertiaForm::follows;
  d.is_place = false;
  d.turns = false;
  d.make = make_body<ScalarCoordinate>;
  d.make_group = make_group<ScalarCoordinate>;
  return d;
}

}  // namespace trammel
