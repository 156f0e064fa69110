#include "app/track.h"

#include <cmath>
#include <numbers>
#include <vector>

#include "app/laid_path.h"
#include "app/model_text.h"
#include "trammel/base/diagnosis.h"
#include "trammel/read/format.h"

namespace trammel {
namespace track_making {
namespace {

using Eigen::Vector2d;

// ---- all lengths in m, in the axes of a link: x from pin to pin, y into the loop
constexpr double pitch = 0.25, pin_radius = 0.05;
constexpr double rail_height = 0.08, rail_radius = 0.03, rail_length = 0.26;  // its ends overlap at the pins
constexpr double shoe_depth = 0.1, shoe_x = 0.11, shoe_z = 0.25, corner = 0.01;
constexpr double wheel_width = 0.3;
constexpr double pocket = 0.055, idler_radius = 0.36, roller_radius = 0.12, upper_radius = 0.08;
constexpr double preload = 6e4, tension_stiffness = 2e6, tension_length = 0.8;

struct Layout {
  double sprocket_radius = 0;
  Vector2d sprocket, idler;
  std::vector<Vector2d> rollers, upper;
  std::vector<Vector2d> pins;  // one more than links: the last is the first
};

// On a wheel of radius R the pins run on this circle.
double pin_circle(double wheel) { return std::hypot(wheel + rail_height, 0.5 * pitch); }

// The idler stands where the links go round just so; the first pin lies in a pocket.
Layout lay_track(const Track& t) {
  Layout out;
  out.sprocket_radius = pitch / (2 * std::sin(std::numbers::pi / t.teeth));
  out.sprocket = {0, shoe_depth + out.sprocket_radius + 0.05};
  const double idler_y = shoe_depth + pin_circle(idler_radius) + 0.03,
               axle_y = shoe_depth + rail_height + roller_radius, from_ends = 0.55;
  const auto chords_to = [&](double x) {
    out.idler = {x, idler_y};
    out.rollers.clear();
    for (int i = 0; i < t.rollers; ++i)
      out.rollers.emplace_back(from_ends + (x - 2 * from_ends) * i / (t.rollers - 1), axle_y);
    const double bend = pin_circle(roller_radius), low = shoe_depth + bend;
    const LaidPath path({{out.sprocket, out.sprocket_radius},
                         {{out.rollers.front().x(), low}, bend},
                         {{out.rollers.back().x(), low}, bend},
                         {out.idler, pin_circle(idler_radius)}});
    return lay_chords(path, path.on_first(std::numbers::pi), pitch, t.links);
  };
  const double least = 2 * from_ends + 2 * roller_radius, most = 0.5 * pitch * t.links;
  const double x = bisect(least, most, [&](double at) { return chords_to(at).excess; });
  const Chords chords = chords_to(x);
  if (std::abs(chords.excess) > 1e-9)
    throw Failure({Severity::error,
                   "out-of-range",
                   "the links do not go round the wheels",
                   "take more links, or fewer teeth",
                   {}});
  out.pins = chords.nodes;
  const double left = out.sprocket.y() + out.sprocket_radius, right = idler_y + pin_circle(idler_radius);
  for (int i = 1; i <= t.upper_rollers; ++i) {
    const double at = x * i / (t.upper_rollers + 1);
    out.upper.emplace_back(at, left + (right - left) * at / x - rail_height - upper_radius - 0.005);
  }
  return out;
}

class TrackWriter {
 public:
  explicit TrackWriter(const Track& track) : t_(track), l_(lay_track(track)) {}

  std::string write() {
    head();
    bodies();
    frames();
    joints();
    forces();
    contacts();
    drawing();
    return out_.text();
  }

 private:
  static std::string number(double x) { return ModelText::number(x); }
  static std::string point(const Vector2d& p) { return ModelText::point(p); }

  void head() {
    out_.line("# Track of an excavator, made by `trammel make track`. x: forward, y: up; {} links of 60 kg.", t_.links);
    out_.line("trammel: 1");
    out_.line("title: Excavator track of {} links", t_.links);
    out_.line("gravity: [0, -9.81, 0]");
    out_.line("parameters: {{sprocket_speed: {} rad/s}}", number(t_.speed));
    out_.line("simulation: {{end: {}, tolerance: 1e-5, output_step: 0.02, greatest_step: 0.05}}", number(t_.end));
    out_.line("outputs:");
    out_.line("  travelled: {{expression: dx(frame), unit: m}}");
    out_.line("  speed: {{expression: vx(frame), unit: m/s}}");
  }

  void body(const std::string& name, double mass, const std::string& inertia, const Vector2d& at, double angle = 0) {
    const std::string turned =
        angle == 0 ? "" : fmt::format(", orientation: {{axis: [0, 0, 1], angle: {}}}", number(angle));
    out_.line("  {}: {{mass: {}, inertia: {}, position: {}{}}}", name, number(mass), inertia, point(at), turned);
  }
  void wheel(const std::string& name, double mass, double radius, const Vector2d& at) {
    const double across = mass * (0.3 * radius * radius + 0.01);
    body(name, mass, fmt::format("[{0}, {0}, {1}]", number(across), number(0.5 * mass * radius * radius)), at);
  }

  void bodies() {
    out_.line("bodies:");
    for (int i = 0; i < t_.links; ++i) {
      const Vector2d along = l_.pins[i + 1] - l_.pins[i];
      body(fmt::format("link_{}", i + 1), 60, "[1.4, 1.6, 0.5]", 0.5 * (l_.pins[i] + l_.pins[i + 1]),
           std::atan2(along.y(), along.x()));
    }
    body("frame", t_.frame_mass, "[8e3, 3e4, 3e4]", middle());
    wheel("sprocket", 400, l_.sprocket_radius, l_.sprocket);
    body("carrier", 200, "[5, 5, 5]", carrier());
    wheel("idler", 350, idler_radius, l_.idler);
    for (std::size_t i = 0; i < l_.rollers.size(); ++i)
      wheel(fmt::format("roller_{}", i + 1), 60, roller_radius, l_.rollers[i]);
    for (std::size_t i = 0; i < l_.upper.size(); ++i)
      wheel(fmt::format("upper_{}", i + 1), 30, upper_radius, l_.upper[i]);
    for (int i = 0; i < t_.parts; ++i) body(fmt::format("part_{}", i + 1), 50, "[2, 2, 2]", part(i));
  }
  Vector2d middle() const { return {0.5 * l_.idler.x(), 0.9}; }
  Vector2d carrier() const { return l_.idler - Vector2d(0.3, 0); }
  Vector2d part(int i) const { return {l_.idler.x() * (i + 1) / (t_.parts + 1), 0.7}; }

  // Shapes of contacts stand on frames of their own.
  void frames() {
    out_.line("frames:");
    out_.line("  soil: {{body: ground, orientation: {{x_axis: [1, 0, 0], z_axis: [0, 1, 0]}}}}");
    out_.line("  teeth: {{body: sprocket, orientation: {{axis: [0, 0, 1], angle: {}}}}}", number(std::numbers::pi));
    const auto frame = [this](const std::string& name, int link, double x, double y, double z, const char* more = "") {
      out_.line("  {}_{}: {{body: link_{}, position: [{}, {}, {}]{}}}", name, link, link, number(x), number(y),
                number(z), more);
    };
    for (int i = 1; i <= t_.links; ++i) {
      frame("rail", i, 0, rail_height - rail_radius, 0);
      frame("bush", i, -0.5 * pitch, 0, 0);
      int k = 0;
      for (const double x : {-shoe_x, shoe_x})
        for (const double z : {-shoe_z, shoe_z}) frame(fmt::format("shoe_{}", ++k), i, x, corner - shoe_depth, z);
      frame("front", i, 0.5 * pitch, 2 * corner - shoe_depth, 0,
            ", orientation: {x_axis: [0, 1, 0], z_axis: [1, 0, 0]}");
      frame("back", i, -shoe_x, 2 * corner - shoe_depth, 0);
    }
  }

  void revolute(const std::string& name, const std::string& a, const std::string& b, const Vector2d& at) {
    out_.line("  {}: {{type: revolute, between: [{}, {}], at: {}}}", name, a, b, point(at));
  }
  void joints() {
    out_.line("joints:");
    out_.line("  travel: {{type: planar, between: [ground, frame], at: {}}}", point(middle()));
    revolute("sprocket_axle", "frame", "sprocket", l_.sprocket);
    revolute("idler_axle", "carrier", "idler", l_.idler);
    out_.line("  slide: {{type: translational, between: [frame, carrier], at: {}, axis: [1, 0, 0]}}", point(carrier()));
    for (std::size_t i = 0; i < l_.rollers.size(); ++i)
      revolute(fmt::format("roller_axle_{}", i + 1), "frame", fmt::format("roller_{}", i + 1), l_.rollers[i]);
    for (std::size_t i = 0; i < l_.upper.size(); ++i)
      revolute(fmt::format("upper_axle_{}", i + 1), "frame", fmt::format("upper_{}", i + 1), l_.upper[i]);
    for (int i = 0; i < t_.parts; ++i)
      out_.line("  mount_{0}: {{type: fixed, between: [frame, part_{0}], at: {1}}}", i + 1, point(part(i)));
    for (int i = 1; i < t_.links; ++i)
      revolute(fmt::format("pin_{}", i), fmt::format("link_{}", i), fmt::format("link_{}", i + 1), l_.pins[i]);
    out_.line("  closing: {{type: point_on_line, between: [link_{}, link_1], at: {}}}", t_.links, point(l_.pins[0]));
    out_.line("motions:");
    out_.line(
        "  drive: {{type: rotation, joint: sprocket_axle, angular_speed: \"-step5(time, 0.5, 0, 1.5, "
        "sprocket_speed)\"}}");
  }

  void forces() {
    out_.line("forces:");
    out_.line("  tension: {{type: translational_spring_damper, between: [frame, carrier], at: [{}, {}],",
              point(carrier() - Vector2d(tension_length, 0)), point(carrier()));
    out_.line("            stiffness: {}, damping: 4e4, free_length: {}}}", number(tension_stiffness),
              number(tension_length + preload / tension_stiffness));
    for (int i = 1; i <= t_.links; ++i) {
      const int next = i % t_.links + 1;
      out_.line("  grease_{0}: {{type: rotational_spring_damper, between: [link_{0}, link_{1}], at: {2}, damping: 50}}",
                i, next, point(l_.pins[i]));
      out_.line(
          "  stop_{0}: {{type: contact, frames: [front_{0}, back_{1}], shape_a: plane, shape_b: capsule, "
          "radius_b: {2}, length_b: {3}, stiffness: 1e10, damping: 0.5}}",
          i, next, number(corner), number(2 * shoe_z));
    }
    // What holds the loop sideways: 1e8 N/m^1.5 beyond 5 mm.
    for (int i = 1; i <= t_.links; i += 3)
      out_.line(
          "  guide_{0}: {{type: translational_stop, frames: [ground, link_{0}], lower: -5 mm, upper: 5 mm, "
          "stiffness: 3162e3, exponent: 1.5, damping: 3e3}}",
          i);
  }

  // Both places of a roller together have the stiffness given.
  void contacts() {
    const std::string roll = "friction: 0.2, slip_speed: 0.02, stiffness: 2e10, damping: 0.5";
    out_.line("contacts:");
    out_.line(
        "  sprocket: {{frames_a: teeth, frames_b: bush_*, shape_a: sprocket, teeth_a: {}, pitch_a: {}, "
        "pocket_a: {}, tip_a: {},",
        t_.teeth, number(pitch), number(pocket), number(t_.tip));
    out_.line(
        "             shape_b: roller, radius_b: {}, length_b: {}, friction: 0.1, slip_speed: 0.02, "
        "stiffness: 1e10, damping: 0.5}}",
        number(pin_radius), number(wheel_width));
    const auto wheels = [&](const char* name, const char* members, double radius) {
      out_.line("  {}: {{frames_a: rail_*, frames_b: {}, shape_a: rail, radius_a: {}, length_a: {},", name, members,
                number(rail_radius), number(rail_length));
      out_.line("    shape_b: roller, radius_b: {}, length_b: {}, {}}}", number(radius), number(wheel_width), roll);
    };
    wheels("idlers", "idler", idler_radius);
    wheels("rollers", "roller_*", roller_radius);
    if (t_.upper_rollers > 0) wheels("uppers", "upper_*", upper_radius);
    out_.line("  ground_contact: {{frames_a: soil, frames_b: shoe_*, shape_a: plane, shape_b: sphere, radius_b: {},",
              number(corner));
    out_.line("    friction: 0.6, slip_speed: 0.02, stiffness: 4.5e7, damping: 1}}");
  }

  void drawing() {
    out_.line("shapes:");
    for (int i = 1; i <= t_.links; ++i) {
      out_.line("  plate_{0}: {{body: link_{0}, type: box, size: [0.23, 0.03, 0.5], position: [0, -0.085, 0]}}", i);
      out_.line("  bar_{0}: {{body: link_{0}, type: box, size: [{1}, 0.14, 0.06], position: [0, 0.01, 0]}}", i,
                number(pitch));
    }
    const auto disc = [this](const std::string& body, double radius) {
      out_.line("  {0}_disc: {{body: {0}, type: cylinder, size: [{1}, {2}]}}", body, number(radius),
                number(0.8 * wheel_width));
    };
    disc("sprocket", l_.sprocket_radius - pocket);
    disc("idler", idler_radius);
    for (std::size_t i = 1; i <= l_.rollers.size(); ++i) disc(fmt::format("roller_{}", i), roller_radius);
    for (std::size_t i = 1; i <= l_.upper.size(); ++i) disc(fmt::format("upper_{}", i), upper_radius);
  }

  Track t_;
  Layout l_;
  ModelText out_;
};

}  // namespace
}  // namespace track_making

Track small_track() {
  return {
      .links = 25, .teeth = 9, .rollers = 2, .upper_rollers = 0, .parts = 0, .tip = 0.074, .frame_mass = 5e3, .end = 3};
}

std::string track_model(const Track& track) {
  return format_model_text(track_making::TrackWriter(track).write(), "track.yaml");
}

}  // namespace trammel
