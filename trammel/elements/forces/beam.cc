// Beam between two frames: straight, linear elastic, with shear (Timoshenko); its ends may move and turn anyhow as long
// as the beam itself is little deformed. Deformation is measured in the middle frame, which stands half-way between the
// axes of both ends: with the relative motion y = (rho, theta) of relative_motion.h in the axes of end A
//
//   x = (E(-theta/2) rho, theta),   E(v) = exp(v~),   x_0 = (L, 0, 0, 0, 0, 0)
//
// The six numbers x - x_0 are stretch, two displacements across the mean direction of the ends, twist and two bendings.
// In them the 12 x 12 matrix of the textbook (Przemieniecki, Theory of Matrix Structural Analysis, 5.6) is diagonal,
//
//   K = diag(E A/L, 12 E Iz/((1 + Py) L^3), 12 E Iy/((1 + Pz) L^3), G J/L, E Iy/L, E Iz/L)
//   Py = 12 E Iz k_y / (G A L^2),   Pz = 12 E Iy k_z / (G A L^2),
//
// and V = (x - x_0)^T K (x - x_0) / 2 is objective, the same with the ends exchanged, and exact for rigid motions. The
// stress is s = K (x - x_0 + b x'), b the time of structural damping; against y it is S = X^T s with X = dx/dy. With
// zeta = theta/2, p = E(zeta) s_r (s_r the first half of s), b = rho' + rho x (T(-zeta) theta') / 2:
//
//   X = [E(-zeta), E(-zeta) rho~ T(-zeta) / 2; 0, I]
//   d(X y')/dy   = [-E(-zeta) (T(-zeta) theta')~ / 2,  E(-zeta) (b~ T(-zeta)/2 - rho~ T'(-zeta; theta')/4); 0, 0]
//   d(X^T s)/dy at fixed s  = [0, -p~ T(-zeta)/2; T(zeta) p~ / 2, (T(zeta) rho~ p~ T(-zeta) + T'(zeta; p x rho)) / 4]
#include <cmath>

#include "trammel/elements/forces/force_fields.h"
#include "trammel/elements/forces/forces.h"
#include "trammel/elements/forces/relative_motion.h"
#include "trammel/math/rotation.h"

namespace trammel {
namespace {

class Beam final : public Force {
 public:
  Beam(const Vec6& stiffness, double damping_time, double length, const Mat3& axes_a, const Mat3& axes_b)
      : K_(stiffness), b_(damping_time), length_(length), axes_a_(axes_a), axes_b_(axes_b) {}

  int frames() const override { return 2; }
  bool uses_velocity() const override { return b_ != 0; }

  bool evaluate(const ElementInput& in, double* wrench) const override {
    const RelativeMotion ends(in.frames[0], in.frames[1], axes_a_, axes_b_);
    if (!ends.usable()) return false;
    const Deformation now(ends, length_);
    Eigen::Map<RelativeMotion::Wrench> out(wrench);
    out = ends.wrench(now.X.transpose() * stress(now));
    return true;
  }

  void linearise(const ElementInput& in, ForcePartials& out) const override {
    const RelativeMotion ends(in.frames[0], in.frames[1], axes_a_, axes_b_);
    const Deformation now(ends, length_);
    const Vec6 s = stress(now);
    const Mat6 XtK = now.X.transpose() * K_.asDiagonal();
    const Mat6 by_y = XtK * (now.X + b_ * now.rate_slope()) + now.stress_slope(s), by_rate = b_ * XtK * now.X;
    const RelativeMotion::Rows s_pose = ends.jacobian_times(by_y) + by_rate.lazyProduct(ends.rate_pose());
    out.pose = ends.wrench_pose(now.X.transpose() * s) + ends.wrenches(s_pose);
    out.twist = ends.wrenches(ends.jacobian_times(by_rate));
    out.time.setZero(12);
  }

  double potential_energy(const ElementInput& in) const override {
    const Deformation now({in.frames[0], in.frames[1], axes_a_, axes_b_}, length_);
    return 0.5 * now.strain.dot(K_.cwiseProduct(now.strain));
  }
  double dissipated_power(const ElementInput& in) const override {
    const Deformation now({in.frames[0], in.frames[1], axes_a_, axes_b_}, length_);
    return b_ * now.rate.dot(K_.cwiseProduct(now.rate));
  }
  bool energy_is_complete() const override { return true; }

  std::vector<Observable> observables() const override {
    return {{"stretch", "m"}, {"twist", "rad"}, {"bend_y", "rad"}, {"bend_z", "rad"},   {"axial_force", "N"},
            {"shear_y", "N"}, {"shear_z", "N"}, {"torque", "N m"}, {"moment_y", "N m"}, {"moment_z", "N m"}};
  }
  void observe(const ElementInput& in, double* values) const override {
    const Deformation now({in.frames[0], in.frames[1], axes_a_, axes_b_}, length_);
    Eigen::Map<Eigen::Matrix<double, 10, 1>>(values) << now.strain[0], now.strain.tail<3>(), stress(now);
  }

 private:
  struct Deformation {
    Vec3 rho, theta, rho_rate, theta_rate;
    Mat3 back, tangent, tangent_back;  // E(-zeta), T(zeta), T(-zeta)
    Mat6 X;
    Vec6 strain, rate;

    Deformation(const RelativeMotion& ends, double length) {
      rho = ends.y().head<3>();
      theta = ends.y().tail<3>();
      rho_rate = ends.rate().head<3>();
      theta_rate = ends.rate().tail<3>();
      back = rotation_exp(-0.5 * theta).toRotationMatrix();
      tangent = rotation_tangent(0.5 * theta);
      tangent_back = tangent.transpose();  // T(-v) = T(v)^T
      X.setIdentity();
      X.topLeftCorner<3, 3>() = back;
      X.topRightCorner<3, 3>() = 0.5 * back * skew(rho) * tangent_back;
      strain << back * rho - Vec3(length, 0, 0), theta;
      rate = X * ends.rate();
    }
    Mat6 rate_slope() const {
      const Vec3 spin = tangent_back * theta_rate;
      const Vec3 b = rho_rate + 0.5 * rho.cross(spin);
      Mat6 out = Mat6::Zero();
      out.topLeftCorner<3, 3>() = -0.5 * back * skew(spin);
      out.topRightCorner<3, 3>() = back * (0.5 * skew(b) * tangent_back -
                                           0.25 * skew(rho) * rotation_tangent_derivative(-0.5 * theta, theta_rate));
      return out;
    }
    Mat6 stress_slope(const Vec6& s) const {
      const Vec3 p = back.transpose() * s.head<3>();
      Mat6 out = Mat6::Zero();
      out.topRightCorner<3, 3>() = -0.5 * skew(p) * tangent_back;
      out.bottomLeftCorner<3, 3>() = 0.5 * tangent * skew(p);
      out.bottomRightCorner<3, 3>() = 0.25 * (tangent * skew(rho) * skew(p) * tangent_back +
                                              rotation_tangent_derivative(0.5 * theta, p.cross(rho)));
      return out;
    }
  };
  Vec6 stress(const Deformation& now) const { return K_.cwiseProduct(now.strain + b_ * now.rate); }

  Vec6 K_;
  double b_, length_;
  Mat3 axes_a_, axes_b_;
};

}  // namespace

ElementDescription describe_beam() {
  ElementDescription d;
  d.category = Category::force;
  d.key = "beam";
  d.summary =
      "Elastic beam between two frames: stretch, bending, shear and twist, for large motions of its ends; without "
      "mass.";
  d.attachment = Attachment::two_points;
  d.fields = {
      {"youngs_modulus", FieldKind::number, Quantity::pressure, std::nullopt, "E.", 0},
      {"shear_modulus", FieldKind::number, Quantity::pressure, std::nullopt, "G.", 1e-300},
      {"area", FieldKind::number, Quantity::area, std::nullopt, "A, of the cross section.", 1e-300},
      {"second_moment_y", FieldKind::number, Quantity::second_moment, std::nullopt,
       "Iy, of the area for bending about the section's y axis.", 0},
      {"second_moment_z", FieldKind::number, Quantity::second_moment, std::nullopt,
       "Iz, of the area for bending about the section's z axis.", 0},
      {"torsion_constant", FieldKind::number, Quantity::second_moment, std::nullopt,
       "J, of the section; Iy + Iz for round ones only.", 0},
      {"shear_coefficient_y", FieldKind::number, Quantity::none, 0.0,
       "k_y, area over shear area along y: 1.2 for rectangles, 1.11 for round bars, 0 without shear.", 0},
      {"shear_coefficient_z", FieldKind::number, Quantity::none, 0.0, "k_z, the same along z.", 0},
      optional_field("length", FieldKind::number, Quantity::length,
                     "Without load; left out, the distance in the given pose."),
      {"damping_ratio", FieldKind::number, Quantity::time, 0.0,
       "Damping over stiffness: the time b of structural damping; at the frequency w it gives the fraction b w/2 of "
       "critical.",
       0},
  };
  d.make_force = [](const Item& item, const MakeContext& context) -> std::unique_ptr<Force> {
    const Pose a = context.model.frame_pose(item.frames[0]), b = context.model.frame_pose(item.frames[1]);
    const Vec3 line = b.position - a.position;
    const std::string owner = "force '" + item.name + "'";
    if (!(line.norm() > least_length)) {
      throw Failure({Severity::error, "no-direction", owner + ": both ends of the beam are at the same place",
                     "its direction is taken from the given pose: draw the ends apart", item.where});
    }
    const double length = item.fields.has("length") ? item.fields.number("length") : line.norm();
    if (!(length > 0)) {
      throw Failure({Severity::error, "negative-length", owner + ": length is not positive",
                     "leave it out to take the distance in the given pose", item.where});
    }
    // The section: x along the beam, z as near as possible to that of the first frame, else to its x axis.
    const Mat3 R_a = a.rotation.toRotationMatrix(), R_b = b.rotation.toRotationMatrix();
    Mat3 axes;
    axes.col(0) = line.normalized();
    Vec3 z = R_a.col(2) - axes.col(0) * axes.col(0).dot(R_a.col(2));
    if (z.norm() < 1e-6) z = R_a.col(0) - axes.col(0) * axes.col(0).dot(R_a.col(0));
    axes.col(2) = z.normalized();
    axes.col(1) = axes.col(2).cross(axes.col(0));

    const double E = item.fields.number("youngs_modulus"), G = item.fields.number("shear_modulus"),
                 A = item.fields.number("area"), Iy = item.fields.number("second_moment_y"),
                 Iz = item.fields.number("second_moment_z"), J = item.fields.number("torsion_constant");
    const double L2 = length * length, L3 = L2 * length;
    const double shear_y = 12 * E * Iz * item.fields.number("shear_coefficient_y") / (G * A * L2),
                 shear_z = 12 * E * Iy * item.fields.number("shear_coefficient_z") / (G * A * L2);
    Vec6 stiffness;
    stiffness << E * A / length, 12 * E * Iz / ((1 + shear_y) * L3), 12 * E * Iy / ((1 + shear_z) * L3), G * J / length,
        E * Iy / length, E * Iz / length;
    return std::make_unique<Beam>(stiffness, item.fields.number("damping_ratio"), length, R_a.transpose() * axes,
                                  R_b.transpose() * axes);
  };
  d.random_fields = [](std::mt19937& random) {
    Fields fields;
    fields.set("youngs_modulus", random_between(1, 3, random));
    fields.set("shear_modulus", random_between(0.5, 1, random));
    fields.set("area", random_between(0.5, 1, random));
    for (const char* name : {"second_moment_y", "second_moment_z", "torsion_constant"}) {
      fields.set(name, random_between(0.1, 0.5, random));
    }
    fields.set("shear_coefficient_y", random_between(0, 1.2, random));
    fields.set("shear_coefficient_z", random_between(0, 1.2, random));
    fields.set("length", random_between(0.6, 1.5, random));
    fields.set("damping_ratio", random_between(0.05, 0.3, random));
    return fields;
  };
  return d;
}

}  // namespace trammel
