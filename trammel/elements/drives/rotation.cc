// Prescribed rotation: angle of b_x about a_z = f(t)
#include "trammel/elements/drives/drives.h"
#include "trammel/elements/joints/pair_constraint.h"

namespace trammel {

ElementDescription describe_rotation() {
  ElementDescription d;
  d.category = Category::motion;
  d.key = "rotation";
  d.summary =
      "Prescribes the angle of the second frame about the z axis of the first as a function of time, over any number "
      "of turns.";
  d.attachment = Attachment::on_joint;
  d.fields = {{"angle", FieldKind::expression, Quantity::angle, std::nullopt, "Function of time."}};
  d.make_constraint = [](const Item& item, const MakeContext& context) {
    return std::make_unique<PairConstraint>(std::vector<PairRowSpec>{{Primitive::angle, 0, 0, 0}},
                                            std::vector<Expression>{time_function(item, "angle", context)});
  };
  d.random_fields = [](std::mt19937&) {
    Fields fields;
    fields.set("angle", ExpressionText{"0.3 + 1.7*time + 0.2*sin(5*time)", {}});
    return fields;
  };
  return d;
}

}  // namespace trammel
