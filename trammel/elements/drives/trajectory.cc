// Prescribed path: any of the six coordinates of frame B against frame A as functions of time,
//
//   a_i . (p_B - p_A) = f_i(t),      R_A^T R_B = R_x(about_x) R_y(about_y) R_z(about_z)
#include "trammel/elements/drives/drives.h"
#include "trammel/elements/joints/pair_constraint.h"

namespace trammel {

ElementDescription describe_trajectory() {
  ElementDescription d;
  d.category = Category::motion;
  d.key = "trajectory";
  d.summary =
      "Prescribes position and orientation of the second frame against the first as functions of time, as many of the "
      "six coordinates as are given.";
  d.attachment = Attachment::on_joint;
  d.moves_frame = true;
  const ExpressionText free{};
  d.fields = {
      {"x", FieldKind::expression, Quantity::length, free,
       "Displacement along x of the first frame; free if left out."},
      {"y", FieldKind::expression, Quantity::length, free, "Displacement along y."},
      {"z", FieldKind::expression, Quantity::length, free, "Displacement along z."},
      {"about_x", FieldKind::expression, Quantity::angle, free, "First Cardan angle, over any number of turns."},
      {"about_y", FieldKind::expression, Quantity::angle, free,
       "Second Cardan angle, about the y axis turned by the first; less than a quarter turn either way."},
      {"about_z", FieldKind::expression, Quantity::angle, free,
       "Third Cardan angle, about the z axis turned by both, over any number of turns."},
  };
  d.make_constraint = [](const Item& item, const MakeContext& context) {
    static constexpr std::array<const char*, 6> names{"x", "y", "z", "about_x", "about_y", "about_z"};
    std::vector<PairRowSpec> rows;
    std::vector<TimeFunction> functions;
    for (int i = 0; i < 6; ++i) {
      const char* name = names[i];
      if (item.fields.get<ExpressionText>(name).text.empty()) continue;
      rows.push_back({i < 3 ? Primitive::in_plane : Primitive::cardan, i % 3, 0, static_cast<int>(functions.size())});
      functions.emplace_back(time_function(item, name, context));
    }
    if (rows.empty()) {
      throw Failure({Severity::error, "missing-field", "motion '" + item.name + "': nothing is prescribed",
                     "give some of x, y, z, about_x, about_y, about_z", item.where});
    }
    return std::make_unique<PairConstraint>(std::move(rows), std::move(functions));
  };
  d.random_fields = [](std::mt19937&) {
    Fields fields;
    fields.set("x", ExpressionText{"0.1 + 0.4*sin(3*time)", {}});
    fields.set("z", ExpressionText{"0.3*time^2", {}});
    fields.set("about_x", ExpressionText{"0.3 + 1.7*time", {}});
    fields.set("about_y", ExpressionText{"0.4*sin(2*time)", {}});
    fields.set("about_z", ExpressionText{"2*time + 0.1*cos(4*time)", {}});
    return fields;
  };
  return d;
}

}  // namespace trammel
