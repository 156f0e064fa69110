#include "trammel/elements/contacts/contact_shape.h"

#include <algorithm>
#include <cmath>

#include "trammel/base/numbers.h"
#include "trammel/elements/contacts/profile.h"
#include "trammel/elements/forces/force_fields.h"

namespace trammel {
namespace {

constexpr double least_dimension = 1e-12;
// Of the radius: a disc that lies flat, or two bars side by side, bear at one place, which goes from one end to the
// other within a tilt of about 2/100.
constexpr double usual_crown = 0.01;

enum class Kind {
  plane,
  sphere,
  hollow_sphere,
  cylinder,
  hollow_cylinder,
  disc,
  capsule,
  box,
  rail,
  sprocket,
  roller,
};
constexpr const char* shape_names[] = {"plane",   "sphere", "hollow_sphere", "cylinder", "hollow_cylinder", "disc",
                                       "capsule", "box",    "rail",          "sprocket", "roller"};
const char* name_of(Kind kind) { return shape_names[static_cast<int>(kind)]; }

struct Side {
  Kind kind = Kind::plane;
  double radius = 0, length = 0, rounding = 0, crown = 0;
  double teeth = 0, pitch = 0, pocket = 0, tip = 0;
  Vec3 size = Vec3::Zero();
};

// Which pairs exist, the more general shape first.
constexpr std::pair<Kind, Kind> shape_pairs[] = {
    {Kind::plane, Kind::sphere},         {Kind::plane, Kind::disc},      {Kind::plane, Kind::cylinder},
    {Kind::plane, Kind::capsule},        {Kind::plane, Kind::box},       {Kind::sphere, Kind::sphere},
    {Kind::hollow_sphere, Kind::sphere}, {Kind::cylinder, Kind::sphere}, {Kind::hollow_cylinder, Kind::sphere},
    {Kind::capsule, Kind::sphere},       {Kind::capsule, Kind::capsule}, {Kind::rail, Kind::roller},
    {Kind::sprocket, Kind::roller},
};
// Those with smooth derivatives wherever their shapes are; inside a rail and where arcs of a sprocket meet they jump.
constexpr std::size_t smooth_pairs = 11;

struct Dimension {
  const char* name;
  bool needed;
};
// What a shape must or may have against another.
std::vector<Dimension> dimensions(Kind kind, Kind against) {
  switch (kind) {
    case Kind::plane: return {};
    case Kind::sphere:
    case Kind::hollow_sphere:
    case Kind::hollow_cylinder: return {{"radius", true}};
    case Kind::cylinder:
      if (against != Kind::plane) return {{"radius", true}};
      return {{"radius", true}, {"length", true}, {"rounding", true}, {"crown", false}};
    case Kind::disc: return {{"radius", true}, {"rounding", true}, {"crown", false}};
    case Kind::capsule:
      if (against != Kind::capsule) return {{"radius", true}, {"length", true}};
      return {{"radius", true}, {"length", true}, {"crown", false}};
    case Kind::box: return {{"size", true}, {"rounding", true}};
    case Kind::rail: return {{"radius", true}, {"length", true}};
    case Kind::sprocket: return {{"teeth", true}, {"pitch", true}, {"pocket", true}, {"tip", true}};
    case Kind::roller: return {{"radius", true}, {"length", false}};
  }
  return {};
}

Sprocket sprocket_of(const Side& s) { return {static_cast<int>(s.teeth), s.pitch, s.pocket, s.tip}; }

class Reader {
 public:
  explicit Reader(const Item& item) : item_(item) {}

  [[noreturn]] void fail(const char* id, const std::string& what, const std::string& hint) const {
    throw Failure({Severity::error, id, "force '" + item_.name + "': " + what, hint, item_.where});
  }

  Kind kind(const char* side) const {
    const std::string field = std::string("shape_") + side;
    const auto& text = item_.fields.get<std::string>(field);
    std::vector<std::string> known(std::begin(shape_names), std::end(shape_names));
    const auto found = std::find(known.begin(), known.end(), text);
    if (found == known.end()) {
      std::string list;
      for (const std::string& name : known) list += (list.empty() ? "" : ", ") + name;
      const std::string near = nearest_name(text, known);
      fail("unknown-value", field + " is '" + text + "'",
           (near.empty() ? "" : "did you mean '" + near + "'? ") + "shapes: " + list);
    }
    return static_cast<Kind>(found - known.begin());
  }

  void require_pair(Kind a, Kind b) const {
    std::string partners;
    for (const auto& [first, second] : shape_pairs) {
      if ((first == a && second == b) || (first == b && second == a)) return;
      if (first == a || second == a)
        partners += (partners.empty() ? "" : ", ") + std::string(name_of(first == a ? second : first));
    }
    fail("no-contact-pair", "there is no contact of a " + std::string(name_of(a)) + " with a " + name_of(b),
         "a " + std::string(name_of(a)) + " has contact with: " + partners +
             "; put several simple shapes on a body for what they do not cover");
  }

  Side read(const char* side, Kind kind, Kind against) const {
    Side out;
    out.kind = kind;
    const std::string who = "a " + std::string(name_of(kind)) + " against a " + name_of(against);
    const std::vector<Dimension> own = dimensions(kind, against);
    const auto asked = [&](const std::string& name) {
      const std::string field = name + "_" + side;
      const auto found = std::find_if(own.begin(), own.end(), [&](const Dimension& d) { return name == d.name; });
      const bool given = item_.fields.has(field);
      if (given && found == own.end()) {
        fail("conflict", who + " has no '" + field + "'",
             kind == Kind::cylinder ? "leave it out; against a sphere a cylinder has no ends" : "leave it out");
      }
      if (!given && found != own.end() && found->needed)
        fail("missing-field", who + " needs '" + field + "'", "see `trammel elements contact`");
      return given;
    };
    constexpr std::pair<const char*, double Side::*> lengths[] = {
        {"radius", &Side::radius}, {"length", &Side::length}, {"rounding", &Side::rounding}, {"crown", &Side::crown},
        {"teeth", &Side::teeth},   {"pitch", &Side::pitch},   {"pocket", &Side::pocket},     {"tip", &Side::tip}};
    for (const auto& [name, member] : lengths)
      if (asked(name)) out.*member = item_.fields.number(std::string(name) + "_" + side);
    if (asked("size")) out.size = item_.fields.get<Vec3>(std::string("size_") + side);
    check(side, out);
    return out;
  }

  // Shapes with a part left out, or turned inside out.
  void check(const char* side, Side& s) const {
    const auto beyond = [&](const char* name, double value, double most, const std::string& what) {
      if (value < most) return;
      fail("out-of-range",
           std::string("'") + name + "_" + side + "' is " + digits(value) + " m, not below " + what + ", " +
               digits(most) + " m",
           "make it smaller");
    };
    if (s.kind == Kind::box) beyond("rounding", s.rounding, 0.5 * s.size.minCoeff(), "half of the shortest edge");
    if (s.rounding > 0 && s.kind != Kind::box) beyond("rounding", s.rounding, s.radius, "the radius");
    const double rim = s.radius - s.rounding;
    if (!(s.crown > 0)) s.crown = usual_crown * (s.kind == Kind::capsule ? std::min(s.radius, s.length) : rim);
    if (s.kind == Kind::disc || s.kind == Kind::cylinder)
      beyond("crown", s.crown, rim, "the radius without its rounding");
    if (s.kind == Kind::cylinder && s.length > 0)
      beyond("rounding", s.rounding + s.crown, 0.5 * s.length, "half of the length, with the crown");
    if (s.kind == Kind::capsule)
      beyond("crown", s.crown, std::min(0.5 * s.radius, 0.125 * s.length),
             "half of the radius or an eighth of the length");
  }

  void check_sprocket(const Side& s, const Side& roller) const {
    if (s.teeth != std::round(s.teeth) || s.teeth < 3 || s.teeth > 1e4)
      fail("out-of-range", "a sprocket cannot have " + digits(s.teeth) + " teeth", "take a whole number from 3 on");
    if (!(s.pocket + s.tip > 0.5 * s.pitch)) {
      fail("out-of-range",
           "its teeth do not reach from pocket to pocket: 'pocket' and 'tip' are together " + digits(s.pocket + s.tip) +
               " m, half of the pitch is " + digits(0.5 * s.pitch) + " m",
           "make one of the radii greater, or the pitch smaller");
    }
    if (!(sprocket_of(s).tip_center() > 0))
      fail("out-of-range", "the tips of its teeth meet in the middle", "make 'tip' or 'pocket' smaller");
    if (!(roller.radius < s.pocket))
      fail("out-of-range", "the roller does not fit into the pockets of the sprocket", "its radius must be smaller");
  }

 private:
  const Item& item_;
};

SupportingParts supporting_parts(const Side& s) {
  SupportingParts out;
  switch (s.kind) {
    case Kind::disc: out = {{Vec3::Zero()}, s.rounding, s.radius - s.rounding, s.crown}; break;
    case Kind::cylinder: {
      const Vec3 end(0, 0, 0.5 * s.length - s.rounding - s.crown);
      out = {{end, -end}, s.rounding, s.radius - s.rounding, s.crown};
      break;
    }
    case Kind::capsule: out = {{Vec3(0, 0, 0.5 * s.length), Vec3(0, 0, -0.5 * s.length)}, s.radius}; break;
    case Kind::box: {
      const Vec3 corner = 0.5 * s.size.array() - s.rounding;
      for (int i = 0; i < 8; ++i)
        out.centers.emplace_back((i & 1 ? 1 : -1) * corner.x(), (i & 2 ? 1 : -1) * corner.y(),
                                 (i & 4 ? 1 : -1) * corner.z());
      out.radius = s.rounding;
      break;
    }
    default: out = {{Vec3::Zero()}, s.radius}; break;
  }
  return out;
}

RoundSurface round_surface(const Side& s) {
  switch (s.kind) {
    case Kind::cylinder: return {Core::axis, 0, s.radius, false};
    case Kind::hollow_cylinder: return {Core::axis, 0, s.radius, true};
    case Kind::capsule: return {Core::segment, 0.5 * s.length, s.radius, false};
    default: return {Core::point, 0, s.radius, s.kind == Kind::hollow_sphere};
  }
}

bool is_hollow(Kind kind) { return kind == Kind::hollow_sphere || kind == Kind::hollow_cylinder; }

// Of the outermost circle across it: that of the ellipse with half axes rim and crown, thickened by the rounding.
double rim_curvature(const Side& s) { return 1 / (s.rounding + s.crown * s.crown / (s.radius - s.rounding)); }

// The two principal curvatures of a shape where it touches, the one along its axis second.
std::pair<double, double> curvatures(const Side& s) {
  switch (s.kind) {
    case Kind::plane: return {0, 0};
    case Kind::sphere: return {1 / s.radius, 1 / s.radius};
    case Kind::hollow_sphere: return {-1 / s.radius, -1 / s.radius};
    case Kind::cylinder:
      if (s.rounding > 0) return {1 / s.radius, rim_curvature(s)};  // its rim, lying
      return {1 / s.radius, 0};
    case Kind::hollow_cylinder: return {-1 / s.radius, 0};
    case Kind::disc: return {1 / s.radius, rim_curvature(s)};
    case Kind::capsule: return {1 / s.radius, 0};
    case Kind::box: return {1 / s.rounding, 1 / s.rounding};
    case Kind::rail:
    case Kind::sprocket:
    case Kind::roller: break;  // along a line
  }
  return {0, 0};
}

double half_width(const Side& s) {
  switch (s.kind) {
    case Kind::box: return 0.5 * s.size.minCoeff();
    case Kind::disc: return std::min(s.radius, s.rounding + s.crown);
    case Kind::cylinder: return s.length > 0 ? std::min(s.radius, 0.5 * s.length) : s.radius;
    case Kind::sprocket: return s.tip;
    default: return s.radius;
  }
}

// What a side shows of its frame while only normal forces act.
FrameNeed need(Kind kind) {
  if (kind == Kind::sphere || kind == Kind::hollow_sphere) return FrameNeed::point;
  const bool turns = kind == Kind::box || kind == Kind::rail || kind == Kind::sprocket;
  return turns ? FrameNeed::orientation : FrameNeed::z_axis;
}

// Outlines are drawn along z, and against a sphere a cylinder has no ends.
ShapeExtent extent(const Side& s, Kind against) {
  switch (s.kind) {
    case Kind::plane: return {ShapeExtent::none, 0};
    case Kind::sphere: return {ShapeExtent::ball, s.radius};
    case Kind::cylinder:
      if (against != Kind::plane) return {ShapeExtent::tube, s.radius};
      return {ShapeExtent::ball, std::hypot(s.radius, 0.5 * s.length)};
    case Kind::disc: return {ShapeExtent::ball, s.radius + s.rounding + s.crown};
    case Kind::capsule: return {ShapeExtent::ball, s.radius + 0.5 * s.length};
    case Kind::box: return {ShapeExtent::ball, 0.5 * s.size.norm()};
    case Kind::roller: return {ShapeExtent::ball, std::hypot(s.radius, 0.5 * s.length)};
    case Kind::rail: return {ShapeExtent::tube, s.radius + 0.5 * s.length};
    case Kind::sprocket: return {ShapeExtent::tube, sprocket_of(s).tip_center() + s.tip};
    case Kind::hollow_sphere:
    case Kind::hollow_cylinder: break;
  }
  return {ShapeExtent::tube, s.radius};
}

}  // namespace

std::vector<Field> contact_shape_fields() {
  std::vector<Field> fields;
  for (const std::string side : {"a", "b"}) {
    const std::string where = side == "a" ? "the first frame" : "the second frame";
    const auto dimension = [&](const char* name, FieldKind kind, const std::string& text) {
      fields.push_back(optional_field(std::string(name) + "_" + side, kind, Quantity::length, text));
      fields.back().least = least_dimension;
    };
    fields.push_back({"shape_" + side, FieldKind::text, Quantity::none, std::nullopt,
                      "On " + where +
                          ": plane (its xy plane, z outwards), sphere, hollow_sphere, cylinder, hollow_cylinder, disc, "
                          "capsule (about its z axis), box, rail (along its x axis), sprocket or roller."});
    dimension("radius", FieldKind::number,
              "Of that sphere, cylinder, disc, capsule or roller; of a rail its half height.");
    dimension(
        "length", FieldKind::number,
        "Of that capsule or rail without its rounded ends, of a whole cylinder that lies or stands on a plane, or "
        "of a roller, which bears at its two ends; a roller without one bears at its middle.");
    dimension("rounding", FieldKind::number, "Radius of the rim of that disc or cylinder, or of the corners of a box.");
    dimension(
        "crown", FieldKind::number,
        "By how much the faces of that disc or cylinder are domed, or a capsule against another is thinner at its "
        "ends; left out, 1/100 of the radius less its rounding, of a capsule 1/100 of radius or length, whichever is "
        "shorter.");
    dimension("size", FieldKind::vector3, "Edges of that box along the axes of its frame.");
    dimension("teeth", FieldKind::number, "Number of teeth of that sprocket; a pocket lies on its x axis.");
    fields.back().quantity = Quantity::none;
    dimension("pitch", FieldKind::number, "Distance of the middles of two of its pockets.");
    dimension("pocket", FieldKind::number, "Radius of its pockets.");
    dimension("tip", FieldKind::number, "Radius of the tips of its teeth.");
  }
  return fields;
}

MatchedShapes match_shapes(const Item& item) {
  const Reader reader(item);
  const Kind kind_a = reader.kind("a"), kind_b = reader.kind("b");
  reader.require_pair(kind_a, kind_b);
  const Side a = reader.read("a", kind_a, kind_b), b = reader.read("b", kind_b, kind_a);
  const bool in_order = std::any_of(std::begin(shape_pairs), std::end(shape_pairs),
                                    [&](const auto& pair) { return pair.first == kind_a && pair.second == kind_b; });
  const Side &first = in_order ? a : b, &second = in_order ? b : a;
  if (is_hollow(first.kind) && !(second.radius < first.radius)) {
    reader.fail("out-of-range", "the sphere does not fit into the " + std::string(name_of(first.kind)),
                "its radius must be smaller");
  }
  if (first.kind == Kind::sprocket) reader.check_sprocket(first, second);
  MatchedShapes out;
  out.line = second.kind == Kind::roller;
  if (out.line) {
    out.points = second.length > 0 ? 2 : 1;
    out.pair = profile_against(first.kind == Kind::sprocket ? sprocket_profile(sprocket_of(first))
                                                            : bar_profile(0.5 * first.length, first.radius),
                               second.radius, second.length);
  } else if (first.kind == Kind::plane) {
    const SupportingParts parts = supporting_parts(second);
    out.points = static_cast<int>(parts.centers.size());
    out.pair = plane_against(parts);
  } else if (second.kind == Kind::capsule) {
    out.pair = bar_against({0.5 * first.length, first.radius, first.crown},
                           {0.5 * second.length, second.radius, second.crown});
  } else {
    out.pair = ball_against(round_surface(first), second.radius);
  }
  if (!in_order) out.pair = exchanged(std::move(out.pair));
  // Two capsules as if crossed at a right angle; on a plane a capsule bears by its ends.
  std::pair<double, double> one = curvatures(first), two = curvatures(second);
  if (first.kind == Kind::capsule && second.kind == Kind::capsule) std::swap(two.first, two.second);
  if (first.kind == Kind::plane && second.kind == Kind::capsule) two.second = two.first;
  out.curvature_sum = one.first + one.second + two.first + two.second;
  out.curvature_difference = one.first - one.second + two.first - two.second;
  out.needs[0] = need(kind_a);
  out.needs[1] = need(kind_b);
  out.extents[0] = extent(a, kind_b);
  out.extents[1] = extent(b, kind_a);
  // The second is never a plane or a hollow.
  out.size = half_width(second);
  if (!is_hollow(first.kind) && first.kind != Kind::plane) out.size = std::min(out.size, half_width(first));
  return out;
}

// Frames of the conformance suite are up to 3 m apart: nearly half of these touch.
Fields random_contact_shapes(std::mt19937& random) {
  const auto& [first, second] = shape_pairs[std::uniform_int_distribution<std::size_t>(0, smooth_pairs - 1)(random)];
  const bool in_order = random_between(0, 1, random) < 0.5;
  Fields fields;
  const auto give = [&](const char* side, Kind kind, Kind against) {
    const auto set = [&](const char* name, const Value& value) { fields.set(std::string(name) + "_" + side, value); };
    set("shape", std::string(name_of(kind)));
    for (const Dimension& dimension : dimensions(kind, against)) {
      const std::string name = dimension.name;
      const bool bar = kind == Kind::capsule;
      double low = 0.3, high = 0.8;  // radius
      if (is_hollow(kind)) low = 0.9, high = 1.2;
      if (name == "length")
        low = bar && against != Kind::plane ? 12 : 1.5, high = low + 1;  // its ends are out of reach
      if (name == "rounding") low = 0.05, high = 0.1;
      if (name == "crown") low = 0.1, high = 0.14;
      if (name == "size") {
        set("size", random_vector(0.4, 1, random));
      } else {
        set(dimension.name, random_between(low, high, random));
      }
    }
  };
  give("a", in_order ? first : second, in_order ? second : first);
  give("b", in_order ? second : first, in_order ? first : second);
  return fields;
}

}  // namespace trammel
