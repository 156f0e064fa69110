// One linear condition on the velocity of B against A, and the knife edge as its best known case:
//
//   k = sum_i l_i b_i . v_rel + sum_i m_i b_i . (w_B - w_A) - f(t) = 0,      v_rel = v_B - v_A - w_A x (p_B - p_A)
//
// with constant coefficients l, m in the axes of B.
#include "trammel/elements/drives/drives.h"
#include "trammel/elements/joints/jet_constraint.h"
#include "trammel/elements/joints/joints.h"

namespace trammel {
namespace {

struct VelocityCondition {
  static constexpr int count = 1;
  Vec3 linear = Vec3::UnitY(), angular = Vec3::Zero();
  const char* text = "velocity condition";

  Level level(int /*row*/) const { return Level::velocity; }
  RowUnit unit(int /*row*/) const { return linear.isZero(0) ? RowUnit::torque : RowUnit::force; }
  std::string name(int /*row*/) const { return text; }
  template <class T>
  void rows(const JetFrame<T>& a, const JetFrame<T>& b, T* value) const {
    const Triple<T> v = b.v - a.v - cross(a.w, b.p - a.p), w = b.w - a.w;
    value[0] = T(0);
    for (int i = 0; i < 3; ++i) {
      const Triple<T>& axis = b.axis[i];
      value[0] = value[0] + T(linear[i]) * dot(axis, v) + T(angular[i]) * dot(axis, w);
    }
  }
};

}  // namespace

ElementDescription describe_velocity_condition() {
  ElementDescription d;
  d.category = Category::joint;
  d.key = "velocity_condition";
  d.summary = "A linear combination of the second frame's velocities against the first is a given function of time.";
  d.attachment = Attachment::two_points;
  d.fields = {
      {"linear", FieldKind::vector3, Quantity::none, Value(Vec3(0, 0, 0)),
       "Coefficients of the velocity of the second frame's origin against the first frame, in the second frame's "
       "axes."},
      {"angular", FieldKind::vector3, Quantity::none, Value(Vec3(0, 0, 0)),
       "Coefficients of the relative angular velocity, in the second frame's axes; in m if `linear` is given too."},
      {"value", FieldKind::expression, Quantity::none, ExpressionText{"0", {}}, "Function of time, SI units."}};
  d.make_constraint = [](const Item& item, const MakeContext& context) -> std::unique_ptr<Constraint> {
    VelocityCondition formula;
    formula.linear = item.fields.get<Vec3>("linear");
    formula.angular = item.fields.get<Vec3>("angular");
    if (formula.linear.isZero(0) && formula.angular.isZero(0)) {
      throw Failure({Severity::error, "empty-condition",
                     "joint '" + item.name + "': all coefficients are zero, so there is no condition",
                     "give linear: [x, y, z] or angular: [x, y, z]", item.where});
    }
    return std::make_unique<JetConstraint<VelocityCondition>>(
        formula, std::vector<Expression>{time_function(item, "value", context)});
  };
  d.random_fields = [](std::mt19937& random) {
    std::uniform_real_distribution<double> uniform(-1, 1);
    Fields fields;
    fields.set("linear", Vec3(uniform(random), uniform(random), uniform(random)));
    fields.set("angular", Vec3(uniform(random), uniform(random), uniform(random)));
    fields.set("value", ExpressionText{"0.4 + 0.3*sin(2*time)", {}});
    return fields;
  };
  return d;
}

ElementDescription describe_knife_edge() {
  ElementDescription d;
  d.category = Category::joint;
  d.key = "knife_edge";
  d.summary =
      "A blade or skate: the second frame's origin moves against the first only along its own x axis and along its own "
      "z axis, never across (along y).";
  d.attachment = Attachment::two_points;
  d.make_constraint = [](const Item&, const MakeContext&) -> std::unique_ptr<Constraint> {
    VelocityCondition formula;
    formula.text = "no slip across the blade";
    return std::make_unique<JetConstraint<VelocityCondition>>(formula);
  };
  return d;
}

}  // namespace trammel
