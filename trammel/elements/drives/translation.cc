// Prescribed translation: a_z . (p_B - p_A) = f(t)
#include "trammel/elements/drives/drives.h"
#include "trammel/elements/joints/pair_constraint.h"

namespace trammel {

ElementDescription describe_translation() {
  ElementDescription d;
  d.category = Category::motion;
  d.key = "translation";
  d.summary = "Prescribes the displacement of the second frame along the z axis of the first as a function of time.";
  d.attachment = Attachment::on_joint;
  d.fields = {{"displacement", FieldKind::expression, Quantity::length, std::nullopt, "Function of time."}};
  d.make_constraint = [](const Item& item, const MakeContext& context) {
    return std::make_unique<PairConstraint>(std::vector<PairRowSpec>{{Primitive::in_plane, 2, 0, 0}},
                                            std::vector<Expression>{time_function(item, "displacement", context)});
  };
  d.random_fields = [](std::mt19937&) {
    Fields fields;
    fields.set("displacement", ExpressionText{"0.1 + 0.4*sin(3*time)", {}});
    return fields;
  };
  return d;
}

}  // namespace trammel
