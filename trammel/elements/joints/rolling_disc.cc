// A thin disc that rolls on a plane without slipping. A: the plane, z its normal; B: the disc, z its axis. With
// n = a_z, b = b_z, s = n . b, c = sqrt(1 - s^2), the contact is at rho = -(r/c) (n - s b) from the centre:
//
//   position   n . d - r c = 0                               d = p_B - p_A
//   velocity   t . v_rel = 0,  l . v_rel = 0                 t = n x b / c (rolling), l = (b - s n) / c (lateral)
//   v_rel = v_B + w_B x rho - v_A - w_A x (d + rho)          of the disc's material at the contact against the plane
#include "trammel/elements/joints/jet_constraint.h"
#include "trammel/elements/joints/rolling.h"

namespace trammel {
namespace {

struct RollingDisc {
  static constexpr int count = 3;
  double radius = 1;

  Level level(int row) const { return row == 0 ? Level::position : Level::velocity; }
  RowUnit unit(int /*row*/) const { return RowUnit::force; }
  std::string name(int row) const {
    return row == 0 ? "rim touches the plane" : row == 1 ? "no slip along the track" : "no slip across the track";
  }
  template <class T>
  void rows(const JetFrame<T>& a, const JetFrame<T>& b, T* value) const {
    const Triple<T>&n = a.axis[2], &axis = b.axis[2];
    const Triple<T> d = b.p - a.p;
    const T s = dot(n, axis), c = sqrt(T(1) - s * s);
    const Triple<T> rho = (T(-radius) / c) * (n - s * axis);
    const Triple<T> slip = b.v + cross(b.w, rho) - a.v - cross(a.w, d + rho);
    value[0] = dot(n, d) - T(radius) * c;
    value[1] = dot(cross(n, axis), slip) / c;
    value[2] = dot(axis - s * n, slip) / c;
  }
};

}  // namespace

ElementDescription describe_rolling_disc() {
  ElementDescription d = describe_rolling(
      "rolling_disc",
      "A thin disc or wheel rolls without slipping on the xy plane of the first frame; the z axis of the second is its "
      "axis.",
      "Radius of the disc.");
  d.make_constraint = [](const Item& item, const MakeContext& context) -> std::unique_ptr<Constraint> {
    const Vec3 normal = context.model.frame_pose(item.frames[0]).rotation * Vec3::UnitZ(),
               axis = context.model.frame_pose(item.frames[1]).rotation * Vec3::UnitZ();
    if (std::abs(normal.dot(axis)) > 1 - 1e-9) {
      throw Failure({Severity::error, "disc-lies-flat",
                     "joint '" + item.name + "': the disc lies flat on the plane, so it has no single point of contact",
                     "axis is the normal of the plane, axis_b the axis of the disc: they must differ", item.where});
    }
    return std::make_unique<JetConstraint<RollingDisc>>(RollingDisc{item.fields.number("radius")});
  };
  return d;
}

}  // namespace trammel
