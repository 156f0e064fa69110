// Bushing: linear stiffness and damping between two frames in all six directions, for large motions of both. The
// displacement of B against A, in the axes of A, with the rotation vector of B against A,
//
//   x = (r, theta),   r = R_A^T (p_B - p_A),   theta = log(R_A^T R_B)
//   r'     = R_A^T (v_B - v_A + d x w_A),      theta' = T(theta)^-T R_A^T (w_B - w_A)      written x' = J tau
//
// gives the wrenches  -J^T s,  s = (f, m) = K x + D x' - P,  that is
//
//   force on B  F = -R_A f,   torque on B  M = -R_A T^-1 m,   on A: -F at B's origin and -M.
//
// So K derives exactly from the energy x^T K x / 2 - P^T x and D dissipates exactly x'^T D x', wherever the frames are.
// log has its jump at half a turn; the bushing refuses to be evaluated near it.
#include <Eigen/Eigenvalues>
#include <cmath>
#include <numbers>

#include "trammel/elements/forces/force_fields.h"
#include "trammel/elements/forces/forces.h"
#include "trammel/math/rotation.h"

namespace trammel {
namespace {

class Bushing final : public Force {
 public:
  static constexpr double greatest_angle = 0.97 * std::numbers::pi;

  Bushing(const Mat6& stiffness, const Mat6& damping, const Vec6& preload) : K_(stiffness), D_(damping), P_(preload) {}

  int frames() const override { return 2; }
  bool uses_velocity() const override { return !D_.isZero(0); }

  bool evaluate(const ElementInput& in, double* wrench) const override {
    const State now(in);
    if (!(now.angle() < greatest_angle)) return false;
    const Vec6 s = stress(now);
    const Vec3 force = now.R * s.head<3>(), torque = now.R * (now.tangent_inverse * s.tail<3>());
    Eigen::Map<Eigen::Matrix<double, 12, 1>> out(wrench);
    out << force, now.d.cross(force) + torque, -force, -torque;
    return true;
  }

  // Work in the axes of A: ds = K dx + D dx', d(R_A f) = phi_A x (R_A f) + R_A df.
  void linearise(const ElementInput& in, ForcePartials& out) const override {
    out.set_zero(2);
    const State now(in);
    using Rows = Eigen::Matrix<double, 6, 12>;
    using Half = Eigen::Matrix<double, 3, 12>;
    const Mat3 Rt = now.R.transpose();

    Rows J = Rows::Zero();
    J.block<3, 3>(0, 0) = -Rt;
    J.block<3, 3>(0, 3) = Rt * skew(now.d);
    J.block<3, 3>(0, 6) = Rt;
    J.block<3, 3>(3, 9) = now.tangent_inverse.transpose() * Rt;
    J.block<3, 3>(3, 3) = -J.block<3, 3>(3, 9);

    // d(x')/dpose: r' = R_A^T y, y = v + d x w_A; theta' = T(-theta)^-1 R_A^T w
    Rows rate_pose = Rows::Zero();
    rate_pose.block<3, 3>(0, 0) = Rt * skew(now.w_a);
    rate_pose.block<3, 3>(0, 3) = Rt * skew(now.y);
    rate_pose.block<3, 3>(0, 6) = -rate_pose.block<3, 3>(0, 0);
    rate_pose.block<3, 12>(3, 0) = now.tangent_inverse.transpose() *
                                   rotation_tangent_derivative(-now.theta, now.rate.tail<3>()) * J.bottomRows<3>();
    rate_pose.block<3, 3>(3, 3) += now.tangent_inverse.transpose() * Rt * skew(now.w);

    const Rows s_pose = K_ * J + D_ * rate_pose, s_twist = D_ * J;
    const Vec6 s = stress(now);
    const Vec3 m = now.tangent_inverse * s.tail<3>();
    const Vec3 force = now.R * s.head<3>(), torque = now.R * m;

    const Mat3 slope = -now.tangent_inverse * rotation_tangent_derivative(now.theta, m);  // d(T^-1 s)/dtheta
    Half force_pose = now.R * s_pose.topRows<3>();
    force_pose.block<3, 3>(0, 3) -= skew(force);
    Half torque_pose = now.R * (now.tangent_inverse * s_pose.bottomRows<3>() + slope * J.bottomRows<3>());
    torque_pose.block<3, 3>(0, 3) -= skew(torque);
    const Half force_twist = now.R * s_twist.topRows<3>();
    const Half torque_twist = now.R * now.tangent_inverse * s_twist.bottomRows<3>();

    out.pose.topRows<3>() = force_pose;
    out.pose.middleRows<3>(3) = skew(now.d) * force_pose + torque_pose;
    out.pose.block<3, 3>(3, 0) += skew(force);  // dd x F = -F~ (dp_B - dp_A)
    out.pose.block<3, 3>(3, 6) -= skew(force);
    out.pose.middleRows<3>(6) = -force_pose;
    out.pose.bottomRows<3>() = -torque_pose;
    out.twist.topRows<3>() = force_twist;
    out.twist.middleRows<3>(3) = skew(now.d) * force_twist + torque_twist;
    out.twist.middleRows<3>(6) = -force_twist;
    out.twist.bottomRows<3>() = -torque_twist;
  }

  double potential_energy(const ElementInput& in) const override {
    const State now(in);
    return 0.5 * now.x.dot(K_ * now.x) - P_.dot(now.x);
  }
  double dissipated_power(const ElementInput& in) const override {
    const State now(in);
    return now.rate.dot(D_ * now.rate);
  }
  bool energy_is_complete() const override { return true; }

  std::vector<Observable> observables() const override {
    return {{"dx", "m"}, {"dy", "m"}, {"dz", "m"}, {"rx", "rad"}, {"ry", "rad"}, {"rz", "rad"},
            {"fx", "N"}, {"fy", "N"}, {"fz", "N"}, {"tx", "N m"}, {"ty", "N m"}, {"tz", "N m"}};
  }
  void observe(const ElementInput& in, double* values) const override {
    const State now(in);
    const Vec6 s = stress(now);
    Eigen::Map<Eigen::Matrix<double, 12, 1>>(values, 12) << now.x, -s.head<3>(), -now.tangent_inverse * s.tail<3>();
  }

 private:
  struct State {
    Mat3 R, tangent_inverse;  // R_A, T(theta)^-1
    Vec3 d, theta, y, w, w_a;
    Vec6 x, rate;
    explicit State(const ElementInput& in) {
      const FrameState &a = in.frames[0], &b = in.frames[1];
      R = a.R;
      d = b.p - a.p;
      theta = rotation_log(Quat(Mat3(a.R.transpose() * b.R)));
      tangent_inverse = rotation_tangent_inverse(theta);
      w_a = a.w;
      w = b.w - a.w;
      y = b.v - a.v + d.cross(a.w);
      x << R.transpose() * d, theta;
      rate << R.transpose() * y, tangent_inverse.transpose() * (R.transpose() * w);
    }
    double angle() const { return theta.norm(); }
  };
  Vec6 stress(const State& now) const { return K_ * now.x + D_ * now.rate - P_; }

  Mat6 K_, D_;
  Vec6 P_;
};

// Diagonal plus matrix, refused unless symmetric and without negative eigenvalue: such a bushing would make energy.
Mat6 bushing_matrix(const Item& item, const char* diagonal, const char* angular, const char* matrix) {
  Mat6 out = item.fields.get<Mat6>(matrix);
  for (int i = 0; i < 3; ++i) {
    out(i, i) += item.fields.get<Vec3>(diagonal)[i];
    out(3 + i, 3 + i) += item.fields.get<Vec3>(angular)[i];
  }
  const std::string owner = "force '" + item.name + "': " + matrix;
  const double scale = out.cwiseAbs().maxCoeff();
  if (!out.allFinite())
    throw Failure({Severity::error, "not-finite", owner + " holds a number that is not finite", "", item.where});
  if ((out - out.transpose()).cwiseAbs().maxCoeff() > 1e-12 * scale) {
    throw Failure({Severity::error, "not-symmetric", owner + " is not symmetric",
                   "give both halves of the matrix alike", item.where});
  }
  // Lengths and angles scaled to one size first, so that the smallest eigenvalue is judged fairly.
  Vec6 size;
  for (int i = 0; i < 6; ++i) size[i] = out(i, i) > 0 ? 1 / std::sqrt(out(i, i)) : 1;
  const Mat6 scaled = size.asDiagonal() * out * size.asDiagonal();
  const double least = Eigen::SelfAdjointEigenSolver<Mat6>(scaled, Eigen::EigenvaluesOnly).eigenvalues()[0];
  if (least < -1e-10) {
    throw Failure(
        {Severity::error, "not-positive",
         owner + " has a negative direction, in which the bushing would push itself along",
         "check the signs of the coupling terms; each squared must not exceed the product of its two diagonal terms",
         item.where});
  }
  return out;
}

Mat6 random_positive_matrix(std::mt19937& random) {
  Mat6 a;
  for (int i = 0; i < 36; ++i) a.data()[i] = random_between(-0.5, 0.5, random);
  return a * a.transpose();
}

}  // namespace

ElementDescription describe_bushing() {
  ElementDescription d;
  d.category = Category::force;
  d.key = "bushing";
  d.summary =
      "Elastic mount: stiffness and damping between two frames in all six directions, in the axes of the first.";
  d.attachment = Attachment::joint;
  const Vec3 zero = Vec3::Zero();
  const Mat6 none = Mat6::Zero();
  d.fields = {
      {"stiffness", FieldKind::vector3, Quantity::stiffness, zero, "Along x, y, z.", 0},
      {"angular_stiffness", FieldKind::vector3, Quantity::angular_stiffness, zero, "About x, y, z.", 0},
      {"damping", FieldKind::vector3, Quantity::damping, zero, "Along x, y, z.", 0},
      {"angular_damping", FieldKind::vector3, Quantity::angular_damping, zero, "About x, y, z.", 0},
      {"stiffness_matrix", FieldKind::matrix6, Quantity::stiffness, none,
       "Full matrix, added to the diagonal ones; rows and columns (x, y, z, about x, about y, about z)."},
      {"damping_matrix", FieldKind::matrix6, Quantity::damping, none, "The same for damping."},
      {"preload_force", FieldKind::vector3, Quantity::force, zero,
       "Force on the second frame when nothing is displaced."},
      {"preload_torque", FieldKind::vector3, Quantity::torque, zero,
       "Torque on the second frame when nothing is displaced."},
  };
  d.make_force = [](const Item& item, const MakeContext&) -> std::unique_ptr<Force> {
    Vec6 preload;
    preload << item.fields.get<Vec3>("preload_force"), item.fields.get<Vec3>("preload_torque");
    return std::make_unique<Bushing>(bushing_matrix(item, "stiffness", "angular_stiffness", "stiffness_matrix"),
                                     bushing_matrix(item, "damping", "angular_damping", "damping_matrix"), preload);
  };
  d.random_fields = [](std::mt19937& random) {
    Fields fields;
    for (const char* name : {"stiffness", "angular_stiffness", "damping", "angular_damping"}) {
      fields.set(name, random_vector(0.2, 2, random));
    }
    fields.set("stiffness_matrix", random_positive_matrix(random));
    fields.set("damping_matrix", random_positive_matrix(random));
    fields.set("preload_force", random_vector(-1, 1, random));
    fields.set("preload_torque", random_vector(-1, 1, random));
    return fields;
  };
  return d;
}

}  // namespace trammel
