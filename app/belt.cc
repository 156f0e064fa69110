#include "app/belt.h"

#include <cmath>
#include <vector>

#include "app/laid_path.h"
#include "app/model_text.h"
#include "trammel/base/diagnosis.h"
#include "trammel/read/format.h"

namespace trammel {
namespace belt_making {
namespace {

using Eigen::Vector2d;

struct Pulley {
  const char* name;
  Vector2d center;
  double radius, inertia;
  bool outside;  // it touches the back of the belt
};
// In the order in which the belt, driven clockwise, goes round them: the tensioner stands behind the crank, where the
// belt is slack.
const Pulley pulleys[] = {{"crank", {0, 0}, 0.08, 1e-2, false},
                          {"tensioner", {-0.115, 0.07}, 0.035, 1e-4, true},
                          {"alternator", {-0.19, 0.165}, 0.03, 1e-3, false},
                          {"pump", {0.025, 0.22}, 0.06, 5e-4, false}};
const Vector2d arm_pivot(-0.175, 0.095);

constexpr double thickness = 4e-3, width = 20e-3;
constexpr double axial = 1.2e5, bending = 0.02, mass_per_length = 0.14;  // EA, EI
constexpr double damping_time = 1e-5;                                    // damping by stiffness, s
constexpr double tension = 350, arm_stiffness = 30;
constexpr double corner_z = 8e-3, bead = 1e-3, bead_z = 7e-3;

// Nodes on circles on which the middles of the segments touch at the belt's own radius.
LaidPath node_path(double segment) {
  std::vector<PathCircle> circles;
  for (const Pulley& pulley : pulleys)
    circles.push_back(
        {pulley.center, (pulley.outside ? 1 : -1) * std::hypot(pulley.radius + 0.5 * thickness, 0.5 * segment)});
  return LaidPath(circles);
}

class BeltWriter {
 public:
  explicit BeltWriter(const Belt& belt) : b_(belt) {
    const auto chords = [&](double l) { return lay_chords(node_path(l), 0, l, b_.segments); };
    const double about = 1.2 / b_.segments;
    length_ = bisect(0.5 * about, 1.5 * about, [&](double l) { return -chords(l).excess; });
    const Chords laid = chords(length_);
    if (std::abs(laid.excess) > 1e-9)
      throw Failure({Severity::error, "out-of-range", "the segments do not go round the pulleys", "take more", {}});
    nodes_ = laid.nodes;
  }

  std::string write() {
    out_.line("# Belt of an engine, made by `trammel make belt`; x: right, y: up, {} segments of {} mm.", b_.segments,
              ModelText::number(1e3 * length_));
    out_.line("trammel: 1");
    out_.line("title: Belt of {} segments", b_.segments);
    out_.line("simulation: {{end: {}, tolerance: 1e-5, output_step: 5e-4}}", ModelText::number(b_.end));
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

  void bodies() {
    out_.line("bodies:");
    const Vector2d arm = 0.5 * (pulleys[1].center - arm_pivot);
    out_.line("  arm: {{mass: 0.3, inertia: [1e-4, 3e-4, 3e-4], position: {}, center_of_mass: {}}}", point(arm_pivot),
              point(arm));
    for (const Pulley& p : pulleys)
      out_.line("  {0}: {{mass: 1, inertia: [{1}, {1}, {2}], position: {3}}}", p.name, number(0.6 * p.inertia),
                number(p.inertia), point(p.center));
    const double m = mass_per_length * length_, l = length_ * length_, t = thickness * thickness, w = width * width;
    for (int i = 0; i < b_.segments; ++i) {
      const Vector2d along = nodes_[i + 1] - nodes_[i];
      out_.line(
          "  s_{}: {{mass: {}, inertia: [{}, {}, {}], position: {}, orientation: {{axis: [0, 0, 1], angle: {}}}}}",
          i + 1, number(m), number(m * (w + t) / 12), number(m * (l + w) / 12), number(m * (l + t) / 12),
          point(0.5 * (nodes_[i] + nodes_[i + 1])), number(std::atan2(along.y(), along.x())));
    }
  }

  // Segments shorter than their pitch: as drawn the elements between them carry the tension.
  void frames() {
    out_.line("frames:");
    const double end = 0.5 * length_ * (1 - tension / axial), corner_y = std::sqrt(bending / axial);
    for (int i = 1; i <= b_.segments; ++i) {
      const auto frame = [&](const std::string& name, double x, double y, double z) {
        out_.line("  {}_{}: {{body: s_{}, position: [{}, {}, {}]}}", name, i, i, number(x), number(y), number(z));
      };
      for (int corner = 0; corner < 4; ++corner) {
        const double y = corner % 2 == 0 ? -corner_y : corner_y, z = corner < 2 ? -corner_z : corner_z;
        frame(fmt::format("head_{}", corner + 1), end, y, z);
        frame(fmt::format("tail_{}", corner + 1), -end, y, z);
      }
      for (const double side : {-1.0, 1.0}) {
        const char* const at = side < 0 ? "left" : "right";
        frame(fmt::format("rib_{}", at), 0, bead - 0.5 * thickness, side * bead_z);
        frame(fmt::format("back_{}", at), 0, 0.5 * thickness - bead, side * bead_z);
      }
    }
  }

  void joints() {
    out_.line("joints:");
    for (const Pulley& p : pulleys)
      out_.line("  {0}_axle: {{type: revolute, between: [{1}, {0}], at: {2}}}", p.name, p.outside ? "arm" : "ground",
                point(p.center));
    out_.line("  pivot: {{type: revolute, between: [ground, arm], at: {}}}", point(arm_pivot));
  }

  // Of the belt on the arm about its pivot; the spring balances it at the angle 0.
  double arm_moment() const {
    const LaidPath path = node_path(length_);
    const Vector2d in = path.heading(0), out = path.heading(1);
    const Vector2d force = tension * (out - in), r = pulleys[1].center - arm_pivot;
    return r.x() * force.y() - r.y() * force.x();
  }

  void forces() {
    out_.line("forces:");
    out_.line(
        "  arm_spring: {{type: rotational_spring_damper, joint: pivot, stiffness: {}, damping: 1, free_angle: {}}}",
        number(arm_stiffness), number(-arm_moment() / arm_stiffness));
    out_.line(
        "  drive: {{type: rotational_spring_damper, joint: crank_axle, "
        "torque: \"-5*(rate + step5(time, 0, 0, 0.1, 209.4395))\"}}");
    out_.line(
        "  alternator_load: {{type: rotational_spring_damper, joint: alternator_axle, torque: \"-8*tanh(rate/20)\"}}");
    out_.line("  pump_load: {{type: rotational_spring_damper, joint: pump_axle, torque: \"-4*tanh(rate/20)\"}}");
    const double along = 0.25 * axial / length_, across = along / 3;
    const auto vector = [](double x, double y) { return fmt::format("[{0}, {1}, {1}]", number(x), number(y)); };
    for (int i = 1; i <= b_.segments; ++i)
      for (int corner = 1; corner <= 4; ++corner)
        out_.line(
            "  tie_{0}_{1}: {{type: bushing, frames: [head_{1}_{0}, tail_{1}_{2}], stiffness: {3}, damping: {4}}}", i,
            corner, i % b_.segments + 1, vector(along, across), vector(damping_time * along, damping_time * across));
  }

  void contacts() {
    out_.line("contacts:");
    for (const Pulley& p : pulleys) {
      out_.line(
          "  on_{0}: {{frames_a: {0}, frames_b: {1}_*, shape_a: cylinder, radius_a: {2}, shape_b: sphere, "
          "radius_b: {3},",
          p.name, p.outside ? "back" : "rib", number(p.radius), number(bead));
      out_.line("    friction: 0.8, slip_speed: 0.05, stiffness: 2e8, damping: 0.2}}");
    }
  }

  void drawing() {
    out_.line("shapes:");
    for (int i = 1; i <= b_.segments; ++i)
      out_.line("  strip_{0}: {{body: s_{0}, type: box, size: [{1}, {2}, {3}]}}", i, number(length_), number(thickness),
                number(width));
    for (const Pulley& p : pulleys)
      out_.line("  {0}_disc: {{body: {0}, type: cylinder, size: [{1}, {2}]}}", p.name, number(p.radius), number(width));
  }

  Belt b_;
  double length_ = 0;
  std::vector<Vector2d> nodes_;
  ModelText out_;
};

}  // namespace
}  // namespace belt_making

std::string belt_model(const Belt& belt) {
  return format_model_text(belt_making::BeltWriter(belt).write(), "belt.yaml");
}

}  // namespace trammel
