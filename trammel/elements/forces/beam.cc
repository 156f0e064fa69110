// Beam between two frames: linear elastic, with shear (Timoshenko); its ends may move and turn anyhow as long as each
// beam itself is little strained. Its deformation is the helix between the section's axes at both ends (helix.h): with
// their relative motion y = (d, theta) of relative_motion.h
//
//   x = log_SE(3) (d, theta) = (T(-theta)^-1 d, theta),   x_0 = (L, 0, 0, 0, 0, 0) if it is straight without load
//
// The six numbers x - x_0 are stretch, two displacements across the axis, twist and two bendings. In them the 12 x 12
// matrix of the textbook (Przemieniecki, Theory of Matrix Structural Analysis, 5.6) is diagonal,
//
//   K = diag(E A/L, 12 E Iz/((1 + Py) L^3), 12 E Iy/((1 + Pz) L^3), G J/L, E Iy/L, E Iz/L)
//   Py = 12 E Iz k_y / (G A L^2),   Pz = 12 E Iy k_z / (G A L^2),
//
// and V = (x - x_0)^T K (x - x_0) / 2 is objective, the same with the ends exchanged, and exact for rigid motions; a
// pure moment bends the beam to its arc, however far. The stress is s = K (x - x_0 + b x'), b the time of structural
// damping; against y it is X^T s with X = dx/dy.
#include <cmath>

#include "trammel/elements/forces/force_fields.h"
#include "trammel/elements/forces/forces.h"
#include "trammel/elements/forces/helix.h"
#include "trammel/elements/forces/relative_motion.h"

namespace trammel {
namespace {

class Beam final : public Force {
 public:
  Beam(const Vec6& stiffness, double damping_time, const Vec6& relaxed, const Mat3& axes_a, const Mat3& axes_b)
      : K_(stiffness), b_(damping_time), relaxed_(relaxed), axes_a_(axes_a), axes_b_(axes_b) {}

  int frames() const override { return 2; }
  bool uses_velocity() const override { return b_ != 0; }

  bool evaluate(const ElementInput& in, double* wrench) const override {
    const RelativeMotion ends(in.frames[0], in.frames[1], axes_a_, axes_b_);
    if (!ends.usable()) return false;
    const Helix helix(ends.y());
    Eigen::Map<RelativeMotion::Wrench> out(wrench);
    out = ends.wrench(helix.slope().transpose() * stress(helix, ends));
    return true;
  }

  void linearise(const ElementInput& in, ForcePartials& out) const override {
    const RelativeMotion ends(in.frames[0], in.frames[1], axes_a_, axes_b_);
    const Helix helix(ends.y());
    const Mat6& X = helix.slope();
    const Vec6 s = stress(helix, ends);
    const Mat6 XtK = X.transpose() * K_.asDiagonal();
    const Mat6 by_y = XtK * (X + b_ * helix.rate_slope(ends.rate())) + helix.stress_slope(s), by_rate = b_ * XtK * X;
    const RelativeMotion::Rows s_pose = ends.jacobian_times(by_y) + by_rate.lazyProduct(ends.rate_pose());
    out.pose = ends.wrench_pose(X.transpose() * s) + ends.wrenches(s_pose);
    out.twist = ends.wrenches(ends.jacobian_times(by_rate));
    out.time.setZero(12);
  }

  double potential_energy(const ElementInput& in) const override {
    const Vec6 e = strain(Helix(RelativeMotion(in.frames[0], in.frames[1], axes_a_, axes_b_).y()));
    return 0.5 * e.dot(K_.cwiseProduct(e));
  }
  double dissipated_power(const ElementInput& in) const override {
    const RelativeMotion ends(in.frames[0], in.frames[1], axes_a_, axes_b_);
    const Vec6 rate = Helix(ends.y()).slope() * ends.rate();
    return b_ * rate.dot(K_.cwiseProduct(rate));
  }
  bool energy_is_complete() const override { return true; }

  std::vector<Observable> observables() const override {
    return {{"stretch", "m"}, {"twist", "rad"}, {"bend_y", "rad"}, {"bend_z", "rad"},   {"axial_force", "N"},
            {"shear_y", "N"}, {"shear_z", "N"}, {"torque", "N m"}, {"moment_y", "N m"}, {"moment_z", "N m"}};
  }
  void observe(const ElementInput& in, double* values) const override {
    const RelativeMotion ends(in.frames[0], in.frames[1], axes_a_, axes_b_);
    const Helix helix(ends.y());
    const Vec6 e = strain(helix);
    Eigen::Map<Eigen::Matrix<double, 10, 1>>(values) << e[0], e.tail<3>(), stress(helix, ends);
  }

 private:
  Vec6 strain(const Helix& helix) const { return helix.strain() - relaxed_; }
  Vec6 stress(const Helix& helix, const RelativeMotion& ends) const {
    Vec6 e = strain(helix);
    if (b_ != 0) e += b_ * (helix.slope() * ends.rate());
    return K_.cwiseProduct(e);
  }

  Vec6 K_;
  double b_;
  Vec6 relaxed_;  // x_0
  Mat3 axes_a_, axes_b_;
};

// x of the section along the line between the ends as drawn, z as near as possible to that of the first frame, else to
// its x axis.
Mat3 axes_along(const Vec3& line, const Mat3& R_a) {
  Mat3 axes;
  axes.col(0) = line.normalized();
  Vec3 z = R_a.col(2) - axes.col(0) * axes.col(0).dot(R_a.col(2));
  if (z.norm() < 1e-6) z = R_a.col(0) - axes.col(0) * axes.col(0).dot(R_a.col(0));
  axes.col(2) = z.normalized();
  axes.col(1) = axes.col(2).cross(axes.col(0));
  return axes;
}

[[noreturn]] void refuse(const Item& item, const char* id, const std::string& what, const std::string& hint) {
  throw Failure({Severity::error, id, "force '" + item.name + "': " + what, hint, item.where});
}

std::unique_ptr<Force> make_beam(const Item& item, const MakeContext& context) {
  const Fields& fields = item.fields;
  const Pose a = context.model.frame_pose(item.frames[0]), b = context.model.frame_pose(item.frames[1]);
  const Vec3 line = b.position - a.position;
  if (!(line.norm() > least_length))
    refuse(item, "no-direction", "both ends of the beam are at the same place",
           "its direction is taken from the given pose: draw the ends apart");
  const Mat3 R_a = a.rotation.toRotationMatrix(), R_b = b.rotation.toRotationMatrix();
  const auto& kind = fields.get<std::string>("section_axes");
  if (kind != "drawn" && kind != "frames")
    refuse(item, "unknown-value", "section_axes is '" + kind + "'",
           "write drawn (x along the line between the ends) or frames (x of both frames)");
  const bool own = kind == "frames";
  const Mat3 axes = own ? R_a : axes_along(line, R_a);
  const Mat3 axes_a = R_a.transpose() * axes, axes_b = own ? Mat3::Identity() : Mat3(R_b.transpose() * axes);
  const RelativeMotion drawn({a.position, R_a, Vec3::Zero(), Vec3::Zero()},
                             {b.position, R_b, Vec3::Zero(), Vec3::Zero()}, axes_a, axes_b);
  if (!drawn.usable())
    refuse(item, "turned-too-far", "its ends as drawn are turned against each other by nearly half a turn or more",
           "one beam bends by less than 174 degrees: put bodies between");
  // Without load it is as drawn, unless its length or curvature is given.
  Vec6 relaxed = Helix(drawn.y()).strain();
  if (fields.has("length")) relaxed.head<3>() = Vec3(fields.number("length"), 0, 0);
  if (!(relaxed[0] > 0)) {
    if (fields.has("length"))
      refuse(item, "negative-length", "length is not positive", "leave it out to take the distance in the given pose");
    refuse(item, "no-direction", "the x axes of its frames do not lead to the other end",
           "with section_axes: frames, the frames' x axes are along the beam, from the first to the second");
  }
  const double L = relaxed.head<3>().norm();
  if (fields.has("curvature")) relaxed.tail<3>() = L * fields.get<Vec3>("curvature");
  // The same as for the ends as drawn: no turn of the ends that the beam can be evaluated at is further.
  if (!(relaxed.tail<3>().norm() < RelativeMotion::greatest_angle))
    refuse(item, "turned-too-far",
           "without load its curvature turns its ends against each other by nearly half a turn or more",
           "one beam bends by less than 174 degrees: put bodies between, or check the unit of the curvature, 1/m");

  const double E = fields.number("youngs_modulus"), G = fields.number("shear_modulus"), A = fields.number("area"),
               Iy = fields.number("second_moment_y"), Iz = fields.number("second_moment_z"),
               J = fields.number("torsion_constant");
  const double shear_y = 12 * E * Iz * fields.number("shear_coefficient_y") / (G * A * L * L),
               shear_z = 12 * E * Iy * fields.number("shear_coefficient_z") / (G * A * L * L);
  Vec6 stiffness;
  stiffness << E * A / L, 12 * E * Iz / ((1 + shear_y) * L * L * L), 12 * E * Iy / ((1 + shear_z) * L * L * L),
      G * J / L, E * Iy / L, E * Iz / L;
  return std::make_unique<Beam>(stiffness, fields.number("damping_ratio"), relaxed, axes_a, axes_b);
}

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
      optional_field("length", FieldKind::number, Quantity::length, "Without load; left out, as drawn."),
      {"section_axes", FieldKind::text, Quantity::none, std::string("drawn"),
       "drawn: x of the section is along the line between the ends as drawn; frames: its axes are those of the frames, "
       "x along the beam."},
      optional_field("curvature", FieldKind::vector3, Quantity::curvature,
                     "Without load: how fast the section turns along the beam about its x, y and z axes; left "
                     "out, as drawn."),
      {"damping_ratio", FieldKind::number, Quantity::time, 0.0,
       "Damping over stiffness: the time b of structural damping; at the frequency w it gives the fraction b w/2 of "
       "critical.",
       0},
  };
  d.make_force = make_beam;
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
    fields.set("curvature", Vec3(random_between(-0.5, 0.5, random), random_between(-0.5, 0.5, random),
                                 random_between(-0.5, 0.5, random)));
    fields.set("damping_ratio", random_between(0.05, 0.3, random));
    return fields;
  };
  return d;
}

}  // namespace trammel
