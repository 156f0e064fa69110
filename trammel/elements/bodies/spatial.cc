// A rigid body in space. Coordinates: centre of mass and quaternion (w, x, y, z); velocities: of the centre of mass in
// the world, angular velocity in body axes. Its equations of rotation are J w' + w x J w = torque, in body axes.
#include "trammel/elements/bodies/bodies.h"
#include "trammel/elements/bodies/group.h"
#include "trammel/elements/bodies/rigid.h"

namespace trammel {
namespace {

class SpatialBody final : public RigidBody {
 public:
  explicit SpatialBody(const Body& body) : RigidBody(body.mass, body.mass, body.inertia) {}

  int coordinates() const override { return 7; }
  const std::vector<BodyVelocity>& velocities() const override {
    static const std::vector<BodyVelocity> list = {
        {"position x", "x", Quantity::length, 0},     {"position y", "y", Quantity::length, 1},
        {"position z", "z", Quantity::length, 2},     {"rotation about x", "", Quantity::angle, 3},
        {"rotation about y", "", Quantity::angle, 4}, {"rotation about z", "", Quantity::angle, 5}};
    return list;
  }
  std::optional<int> rotation() const override { return 3; }
  const RigidColumns* rigid() const override {
    static constexpr RigidColumns all{6, {0, 1, 2, 3, 4, 5}};
    return &all;
  }
  std::vector<std::pair<int, int>> entries() const override {
    std::vector<std::pair<int, int>> list = {{0, 0}, {1, 1}, {2, 2}};
    for (int j = 3; j < 6; ++j)
      for (int i = 3; i < 6; ++i) list.emplace_back(i, j);
    return list;
  }
  void start(const Body& body, double* q, double* v) const override {
    const Vec3 arm = body.pose.rotation * body.center_of_mass;
    const Quat turn = body.pose.rotation.normalized();
    Eigen::Map<Vec3>{q} = body.pose.position + arm;
    Eigen::Map<Vec3>{v} = body.velocity + body.angular_velocity.cross(arm);
    Eigen::Map<Eigen::Vector4d>(q + 3) << turn.w(), turn.x(), turn.y(), turn.z();
    Eigen::Map<Vec3>(v + 3) = turn.conjugate() * body.angular_velocity;
  }

  void retract(const double* q, const double* delta, double* out) const override {
    for (int i = 0; i < 3; ++i) out[i] = q[i] + delta[i];
    // exp(theta/2) as in rotation_exp; normalised so that ten million steps do not stretch the quaternion
    Quat turned = Quat(q[3], q[4], q[5], q[6]) * rotation_exp(Vec3(delta[3], delta[4], delta[5]));
    turned.coeffs() *= 1.5 - 0.5 * turned.squaredNorm();  // Newton step for 1/|q|: the deviation is of round-off size
    out[3] = turned.w();
    out[4] = turned.x();
    out[5] = turned.y();
    out[6] = turned.z();
  }
  void local(const double* p, const double* q, double* delta) const override {
    for (int i = 0; i < 3; ++i) delta[i] = q[i] - p[i];
    Eigen::Map<Vec3>(delta + 3) = rotation_log(Quat(p[3], p[4], p[5], p[6]).conjugate() * Quat(q[3], q[4], q[5], q[6]));
  }

  void motion(const double* q, const double* v, BodyState& out, double* /*extra*/) const override {
    out.r = Vec3(q[0], q[1], q[2]);
    out.R = Quat(q[3], q[4], q[5], q[6]).toRotationMatrix();
    out.v = Vec3(v[0], v[1], v[2]);
    out.w = out.R * Vec3(v[3], v[4], v[5]);
  }
  Quat orientation(const double* q, const BodyState& /*motion*/) const override { return {q[3], q[4], q[5], q[6]}; }
  void acceleration(const BodyState& motion, const double* /*extra*/, const double* a, Vec3& linear,
                    Vec3& angular) const override {
    linear = Vec3(a[0], a[1], a[2]);
    angular = motion.R * Vec3(a[3], a[4], a[5]);
  }
  Mat twists(const BodyState& /*motion*/) const override { return Mat6::Identity(); }

  void multiply_mass(const double* /*q*/, const double* a, double* Ma) const override {
    for (int i = 0; i < 3; ++i) Ma[i] = mass_ * a[i];
    Eigen::Map<Vec3>(Ma + 3) = inertia_ * Eigen::Map<const Vec3>(a + 3);
  }
  void mass(const double* /*q*/, const int* slots, double* M) const override {
    for (int i = 0; i < 3; ++i) M[slots[i]] = mass_;
    for (int i = 0; i < 9; ++i) M[slots[3 + i]] = inertia_.data()[i];
  }
  void inertial_force(const double* /*q*/, const double* v, const Vec3& gravity, double* force) const override {
    for (int i = 0; i < 3; ++i) force[i] = -mass_ * gravity[i];
    const Eigen::Map<const Vec3> w(v + 3);
    Eigen::Map<Vec3>(force + 3) = w.cross(inertia_ * w);
  }
  // d(w x J w)/dw = w~ J - (J w)~
  void linearise_inertia(const double* /*q*/, const double* v, const double* /*a*/, const Vec3& /*gravity*/,
                         bool gyroscopic, const int* slots, double* /*Ma_q*/, double* /*force_q*/,
                         double* force_v) const override {
    if (!gyroscopic) return;
    const Vec3 w(v[3], v[4], v[5]);
    const Mat3 by_w = skew(w) * inertia_ - skew(inertia_ * w);
    for (int i = 0; i < 9; ++i) force_v[slots[3 + i]] += by_w.data()[i];
  }
};

}  // namespace

BodyDescription describe_spatial_body() {
  BodyDescription d;
  d.key = "spatial";
  d.summary = "A rigid body that moves and turns in space.";
  d.make = make_body<SpatialBody>;
  d.make_group = make_group<SpatialBody>;
  return d;
}

}  // namespace trammel
