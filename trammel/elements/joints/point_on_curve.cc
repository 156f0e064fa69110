// Point on a curve that is fixed in frame A. With d_i = a_i . (p_B - p_A):
//
//   function    d_y = y(d_x),                d_z = 0
//   polar       r = r(angle) of d about a_z, d_z = 0
//   parametric  d_x = x(s), d_y = y(s), d_z = z(s), with s the value of a scalar coordinate
//   points      the same, cubic splines through points, with s the length of the chords from the first one
#include "trammel/elements/drives/drives.h"
#include "trammel/elements/joints/joints.h"
#include "trammel/elements/joints/relation_constraint.h"
#include "trammel/elements/measure.h"
#include "trammel/math/spline.h"

namespace trammel {
namespace {

bool curve_field_given(const Item& item, const char* field) {
  return !item.fields.get<ExpressionText>(field).text.empty();
}

// Gives the term the function in a field.
void follow(RelationTerm& term, const Item& item, const char* field, const char* argument, const MakeContext& context) {
  const Expression f = function_of(argument, item, "joint '" + item.name + "'", field, context);
  const std::vector<Expression::Corner> corners = f.corners();
  term.function = [f](double x) { return f.time_derivatives(x, {}); };
  term.corners.count = static_cast<int>(corners.size());
  term.corners.values = [f, corners](double x, double* values) { f.corner_values(x, {}, corners, values); };
}

[[noreturn]] void refuse_curve(const Item& item, const std::string& what) {
  throw Failure({Severity::error, "wrong-curve", "joint '" + item.name + "': " + what,
                 "give `y` as an expression of x, or `r` as one of angle, or `parameter` with `x`, `y` and `z` as "
                 "expressions of s or with `points`",
                 item.where});
}

// Cubic splines of x, y and z over the chord length, natural ones, or periodic ones if the last point is the first.
std::array<ScalarFunction, 3> curve_through(const Item& item, const std::vector<double>& points) {
  if (points.size() % 3 != 0 || points.size() < 9) {
    refuse_curve(item, "`points` has " + std::to_string(points.size()) +
                           " numbers, but three for each point and at least three points are needed");
  }
  const std::size_t count = points.size() / 3;
  const auto point = [&](std::size_t i) { return Vec3(points[3 * i], points[3 * i + 1], points[3 * i + 2]); };
  const bool closed = point(0) == point(count - 1);
  if (closed && count < 4) refuse_curve(item, "a closed curve needs three points and the first one again");
  std::array<SplineData, 3> data;
  for (SplineData& d : data) d.kind = closed ? SplineKind::periodic : SplineKind::natural;
  double length = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double chord = i > 0 ? (point(i) - point(i - 1)).norm() : 0;
    if (i > 0 && !(chord > 0)) refuse_curve(item, "point " + std::to_string(i + 1) + " is where the one before is");
    length += chord;
    for (int k = 0; k < 3; ++k) {
      data[k].x.push_back(length);
      data[k].y.push_back(point(i)[k]);
    }
  }
  std::array<ScalarFunction, 3> functions;
  for (std::size_t k = 0; k < 3; ++k) {
    functions[k] = [spline = Spline(std::move(data[k])), turn = closed ? length : 0.0](double s) {
      return spline.derivatives(turn > 0 ? s - turn * std::floor(s / turn) : s);
    };
  }
  return functions;
}

// Frames {A, B} become {A, B, world, parameter}: s is the x coordinate of the last in the one before.
void attach_parameter(Model& model, Item& item) {
  const auto& name = item.fields.get<std::string>("parameter");
  if (name.empty() || item.frames.size() != 2) return;
  PlaceNames names(model);
  const PlaceNames::Place place = names.find(name);
  using Kind = PlaceNames::Place::Kind;
  if (place.kind != Kind::frame && place.kind != Kind::body) {
    const std::string near = names.nearest(name);
    throw Failure({Severity::error, "unknown-body",
                   "joint '" + item.name + "': there is no scalar coordinate '" + name + "'",
                   near.empty() ? "define it under `coordinates`" : "did you mean '" + near + "'?", item.where});
  }
  const int world = names.origin_frame(ground);
  item.frames.push_back(world);
  item.frames.push_back(place.kind == Kind::frame ? place.index : names.origin_frame(place.index));
}

bool leaves_z_free(const Item& item) { return item.fields.get<bool>("free_z"); }

std::unique_ptr<Constraint> on_curve_through_points(const Item& item) {
  if (item.frames.size() != 4) refuse_curve(item, "the parameter is no coordinate of the model");
  std::array<ScalarFunction, 3> curve = curve_through(item, item.fields.get<std::vector<double>>("points"));
  std::vector<RelationRow> rows;
  for (int i = 0; i < (leaves_z_free(item) ? 2 : 3); ++i) {
    RelationTerm term{2, 3, Primitive::in_plane, 0, 0, -1.0};
    term.function = std::move(curve[i]);
    rows.push_back(
        {{{0, 1, Primitive::in_plane, i}, std::move(term)}, std::string("point on the curve along ") + "xyz"[i]});
  }
  return std::make_unique<RelationConstraint>(4, std::move(rows));
}

std::unique_ptr<Constraint> on_parametric_curve(const Item& item, const MakeContext& context) {
  const bool z = curve_field_given(item, "z"), free_z = leaves_z_free(item);
  if (!curve_field_given(item, "x") || !curve_field_given(item, "y") || curve_field_given(item, "r"))
    refuse_curve(item, "a curve with a parameter needs `x` and `y`");
  if (z && free_z) refuse_curve(item, "`z` is given, and free as well");
  if (item.frames.size() != 4) refuse_curve(item, "the parameter is no coordinate of the model");
  const std::array<const char*, 3> names{"x", "y", "z"};
  std::vector<RelationRow> rows;
  for (int i = 0; i < (free_z ? 2 : 3); ++i) {
    const char* name = names[i];
    RelationRow row{{{0, 1, Primitive::in_plane, i}}, std::string("point on the curve along ") + name};
    if (i < 2 || z) {
      RelationTerm term{2, 3, Primitive::in_plane, 0, 0, -1.0};
      follow(term, item, name, "s", context);
      row.terms.push_back(std::move(term));
    }
    rows.push_back(std::move(row));
  }
  return std::make_unique<RelationConstraint>(4, std::move(rows));
}

// y(x) or r(angle).
std::unique_ptr<Constraint> on_planar_curve(const Item& item, const MakeContext& context) {
  const bool y = curve_field_given(item, "y");
  RelationRow row{{{0, 1, y ? Primitive::in_plane : Primitive::radius, 1}}, "point on the curve"};
  RelationTerm term{0, 1, y ? Primitive::in_plane : Primitive::polar, 0, 0, -1.0};
  follow(term, item, y ? "y" : "r", y ? "x" : "angle", context);
  row.terms.push_back(std::move(term));
  std::vector<RelationRow> rows;
  rows.push_back(std::move(row));
  if (!leaves_z_free(item)) rows.push_back({{{0, 1, Primitive::in_plane, 2}}, "point in the plane of the curve"});
  return std::make_unique<RelationConstraint>(2, std::move(rows));
}

std::unique_ptr<Constraint> make_point_on_curve(const Item& item, const MakeContext& context) {
  const bool x = curve_field_given(item, "x"), y = curve_field_given(item, "y"), z = curve_field_given(item, "z"),
             r = curve_field_given(item, "r"), parametric = !item.fields.get<std::string>("parameter").empty();
  if (!item.fields.get<std::vector<double>>("points").empty()) {
    if (x || y || z || r || !parametric) refuse_curve(item, "`points` stand for `x`, `y` and `z`, with a `parameter`");
    return on_curve_through_points(item);
  }
  if (parametric) return on_parametric_curve(item, context);
  if (x || z || y == r) {
    refuse_curve(item, x || z ? "`x` and `z` belong to a curve with a parameter"
                       : y    ? "both `y` and `r` are given"
                              : "no curve is given");
  }
  return on_planar_curve(item, context);
}

}  // namespace

ElementDescription describe_point_on_curve() {
  ElementDescription d;
  d.category = Category::joint;
  d.key = "point_on_curve";
  d.summary =
      "The second frame's origin stays on a curve fixed in the first frame: a function y(x), a cam r(angle), or a "
      "parametric curve in space.";
  const ExpressionText none{};
  d.fields = {
      {"y", FieldKind::expression, Quantity::length, none,
       "The curve as a function of x; of s if there is a parameter. In m, as all lengths in expressions."},
      {"r", FieldKind::expression, Quantity::length, none,
       "The distance from the z axis as a function of angle, in rad, over any number of turns."},
      {"parameter", FieldKind::name, Quantity::none, std::string(),
       "The scalar coordinate s that a parametric curve is a function of."},
      {"x", FieldKind::expression, Quantity::length, none, "Of a parametric curve: x as a function of s."},
      {"z", FieldKind::expression, Quantity::length, none,
       "Of a parametric curve: z as a function of s; left out, it is 0."},
      {"points", FieldKind::numbers, Quantity::length, std::vector<double>{},
       "Of a parametric curve, instead of x, y and z: points it goes through, three numbers each; s is then the length "
       "of "
       "the chords from the first one. If the last is the first again, the curve is closed."},
      {"free_z", FieldKind::boolean, Quantity::none, false,
       "Leaves the displacement along z free: where other joints hold the point in the plane of the curve."},
  };
  d.attach = attach_parameter;
  d.make_constraint = make_point_on_curve;
  d.random_fields = [](std::mt19937& random) {
    Fields fields;
    if (random() % 2 == 0) {
      fields.set("y", ExpressionText{"0.3*sin(2*x) + 0.2*x^3", {}});
    } else {
      fields.set("r", ExpressionText{"0.8 + 0.2*cos(angle) + 0.1*sin(3*angle)", {}});
      fields.set("free_z", true);
    }
    return fields;
  };
  return d;
}

}  // namespace trammel
