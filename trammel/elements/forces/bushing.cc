// Bushing: linear stiffness and damping between two frames in all six directions, for large motions of both. With the
// relative motion y = (r, theta) of relative_motion.h the stress is
//
//   s = (f, m) = K y + D y' - P
//
// So K derives exactly from the energy y^T K y / 2 - P^T y and D dissipates exactly y'^T D y', wherever the frames are.
#include <cmath>

#include "trammel/elements/forces/force_fields.h"
#include "trammel/elements/forces/forces.h"
#include "trammel/elements/forces/relative_motion.h"
#include "trammel/linalg/eigenvalues.h"

namespace trammel {
namespace {

class Bushing final : public Force {
 public:
  Bushing(const Mat6& stiffness, const Mat6& damping, const Vec6& preload) : K_(stiffness), D_(damping), P_(preload) {}

  int frames() const override { return 2; }
  bool uses_velocity() const override { return !D_.isZero(0); }

  bool evaluate(const ElementInput& in, double* wrench) const override {
    const RelativeMotion now(in.frames[0], in.frames[1]);
    if (!now.usable()) return false;
    Eigen::Map<RelativeMotion::Wrench> out(wrench);
    out = now.wrench(stress(now));
    return true;
  }

  void linearise(const ElementInput& in, ForcePartials& out) const override {
    const RelativeMotion now(in.frames[0], in.frames[1]);
    const RelativeMotion::Rows s_pose = now.jacobian_times(K_) + D_.lazyProduct(now.rate_pose());
    out.pose = now.wrench_pose(stress(now)) + now.wrenches(s_pose);
    out.twist = now.wrenches(now.jacobian_times(D_));
    out.time.setZero(12);
  }

  double potential_energy(const ElementInput& in) const override {
    const Vec6 y = RelativeMotion(in.frames[0], in.frames[1]).y();
    return 0.5 * y.dot(K_ * y) - P_.dot(y);
  }
  double dissipated_power(const ElementInput& in) const override {
    const Vec6 rate = RelativeMotion(in.frames[0], in.frames[1]).rate();
    return rate.dot(D_ * rate);
  }
  bool energy_is_complete() const override { return true; }

  std::vector<Observable> observables() const override {
    return {{"dx", "m"}, {"dy", "m"}, {"dz", "m"}, {"rx", "rad"}, {"ry", "rad"}, {"rz", "rad"},
            {"fx", "N"}, {"fy", "N"}, {"fz", "N"}, {"tx", "N m"}, {"ty", "N m"}, {"tz", "N m"}};
  }
  void observe(const ElementInput& in, double* values) const override {
    const RelativeMotion now(in.frames[0], in.frames[1]);
    Eigen::Map<Eigen::Matrix<double, 12, 1>>(values, 12) << now.y(), now.wrench_on_b(stress(now));
  }

 private:
  Vec6 stress(const RelativeMotion& now) const { return K_ * now.y() + D_ * now.rate() - P_; }

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
  const Mat scaled = size.asDiagonal() * out * size.asDiagonal();
  const double least = symmetric_eigenvalues(scaled)[0];
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
