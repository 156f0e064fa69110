#include "trammel/elements/drives/motion_levels.h"

#include "trammel/elements/drives/drives.h"

namespace trammel {

std::vector<Field> motion_fields(const MotionFields& names) {
  const ExpressionText none{};
  return {
      {names.position, FieldKind::expression, names.of_position, none, "Function of time, at position level."},
      {names.speed, FieldKind::expression, names.of_speed, none,
       "Instead: its rate as a function of time, at velocity level; where it starts is then free."},
      {names.acceleration, FieldKind::expression, names.of_acceleration, none,
       "Instead: its second derivative as a function of time, integrated from the two initial values."},
      {names.initial, FieldKind::number, names.of_position, 0.0, "With an acceleration: the value at the start."},
      {names.initial_speed, FieldKind::number, names.of_speed, 0.0, "With an acceleration: the rate at the start."},
  };
}

std::unique_ptr<Constraint> make_motion(const Item& item, const MakeContext& context, const MotionFields& names,
                                        Primitive kind, int i) {
  const auto given = [&](const char* field) { return !item.fields.get<ExpressionText>(field).text.empty(); };
  const auto refuse = [&](const std::string& what, const std::string& hint) {
    throw Failure({Severity::error, "wrong-motion", "motion '" + item.name + "': " + what, hint, item.where});
  };
  const bool position = given(names.position), speed = given(names.speed), acceleration = given(names.acceleration);
  const std::string all =
      std::string("give one of ") + names.position + ", " + names.speed + " and " + names.acceleration;
  if (position + speed + acceleration != 1) {
    refuse(position + speed + acceleration == 0 ? "nothing is prescribed" : "it is prescribed more than once", all);
  }
  const double start = item.fields.number(names.initial), start_speed = item.fields.number(names.initial_speed);
  if (!acceleration && (start != 0 || start_speed != 0)) {
    refuse("initial values belong to an acceleration",
           std::string("leave ") + names.initial + " and " + names.initial_speed + " out");
  }
  PairRowSpec row{kind, i, 0, 0};
  if (speed) row.level = Level::velocity;
  const char* field = position ? names.position : speed ? names.speed : names.acceleration;
  TimeFunction f = time_function(item, field, context);
  if (acceleration) f = TimeFunction::accelerated(time_function(item, field, context), start, start_speed);
  return std::make_unique<PairConstraint>(std::vector<PairRowSpec>{row}, std::vector<TimeFunction>{std::move(f)});
}

}  // namespace trammel
