// A sphere that rolls on a plane without slipping. A: the plane, z its normal; B: a frame at the sphere's centre.
//
//   position   a_z . d - r = 0                              d = p_B - p_A
//   velocity   a_x . v_rel = 0,  a_y . v_rel = 0            v_rel = v_B - r w_B x a_z - v_A - w_A x (d - r a_z)
#include "trammel/elements/joints/jet_constraint.h"
#include "trammel/elements/joints/rolling.h"

namespace trammel {
namespace {

struct RollingSphere {
  static constexpr int count = 3;
  double radius = 1;

  Level level(int row) const { return row == 0 ? Level::position : Level::velocity; }
  RowUnit unit(int /*row*/) const { return RowUnit::force; }
  std::string name(int row) const {
    return row == 0 ? "sphere touches the plane" : row == 1 ? "no slip along x" : "no slip along y";
  }
  template <class T>
  void rows(const JetFrame<T>& a, const JetFrame<T>& b, T* value) const {
    const Triple<T> d = b.p - a.p, rho = T(-radius) * a.axis[2];
    const Triple<T> slip = b.v + cross(b.w, rho) - a.v - cross(a.w, d + rho);
    value[0] = dot(a.axis[2], d) - T(radius);
    value[1] = dot(a.axis[0], slip);
    value[2] = dot(a.axis[1], slip);
  }
};

}  // namespace

ElementDescription describe_rolling_sphere() {
  ElementDescription d = describe_rolling(
      "rolling_sphere",
      "A sphere about the second frame's origin rolls without slipping on the xy plane of the first frame.",
      "Radius of the sphere.");
  d.make_constraint = [](const Item& item, const MakeContext&) -> std::unique_ptr<Constraint> {
    return std::make_unique<JetConstraint<RollingSphere>>(RollingSphere{item.fields.number("radius")});
  };
  return d;
}

}  // namespace trammel
