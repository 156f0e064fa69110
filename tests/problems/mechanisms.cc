#include "tests/problems/mechanisms.h"

#include <cmath>
#include <numbers>

#include "trammel/elements/build.h"
#include "trammel/elements/registry.h"
#include "trammel/math/rotation.h"
#include "trammel/read/read_model.h"

namespace trammel::problems {
namespace {

const Vec3 down(0, 0, -9.81);

Fields expression(const char* field, const char* text) {
  Fields fields;
  fields.set(field, ExpressionText{text, {}});
  return fields;
}

// "link3"; in two steps, because gcc 12 warns without reason of "link" + std::to_string(3).
std::string numbered(std::string name, auto i) {
  name += std::to_string(i);
  return name;
}

}  // namespace

Body rod(std::string name, const Vec3& from, const Vec3& to, double mass, const Vec3& normal, double thickness) {
  Body body;
  body.name = std::move(name);
  body.mass = mass;
  const double length = (to - from).norm();
  const double across = mass * length * length / 12;
  body.inertia = Vec3(mass * thickness * thickness / 6, across, across).asDiagonal();
  // axes_with_z puts x along the rod as far as perpendicular to the normal
  body.pose = {0.5 * (from + to), axes_with_z(normal, to - from)};
  return body;
}

Model pendulum() {
  Model m;
  m.title = "pendulum";
  m.gravity = down;
  m.add_body(rod("bar", Vec3::Zero(), Vec3::UnitX(), 2, Vec3::UnitZ(), 0));
  add_joint(m, "revolute", "hinge", ground, 0, Vec3::Zero(), Vec3::UnitY());
  return m;
}

Model spherical_pendulum() {
  Model m;
  m.title = "spherical pendulum";
  m.gravity = down;
  Body p;
  p.name = "bob";
  p.kind = "point";
  p.mass = 1;
  p.pose.position = Vec3(std::sin(std::numbers::pi / 3), 0, -std::cos(std::numbers::pi / 3));
  p.velocity = Vec3(0, 1.5, 0);
  m.add_body(p);
  Fields fields;
  fields.set("length", 1.0);
  add_joint(m, "distance", "rod", {m.add_frame(ground, {}), m.add_frame(0, {})}, fields);
  return m;
}

Model heavy_top() {
  Model m;
  m.title = "heavy top";
  m.gravity = down;
  Body top;
  top.name = "top";
  top.mass = 15;
  top.inertia = Vec3(0.234375, 0.46875, 0.234375).asDiagonal();
  top.pose.position = Vec3(0, 1, 0);
  top.velocity = Vec3(4.61538, 0, 0);
  top.angular_velocity = Vec3(0, 150, -4.61538);
  m.add_body(top);
  add_joint(m, "spherical", "tip", ground, 0, Vec3::Zero());
  return m;
}

const std::array<HeavyTopSample, 3>& heavy_top_reference() {
  static const std::array<HeavyTopSample, 3> samples{{
      {0.1,
       {0.4212966589253636, 0.894571974345606, -0.14916470056193037},
       {0.33182291260830066, 0.17733805666691269, 0.9149751591387315, -0.145826014430896},
       {4.808941331728288, 150.0, 1.02830075671744}},
      {0.2,
       {0.605550561376985, 0.5989576817949835, -0.5239830274300854},
       {-0.7082791529743303, 0.43878108812656297, 0.5457283961454243, 0.08939975282391821},
       {-2.691590912141775, 150.0, 4.917260989894917}},
      {1.0,
       {0.17334396409820904, 0.6400885920702337, -0.7484907911339088},
       {0.7329439806798307, -0.27828571933799046, 0.5318246113337751, -0.3201761427361826},
       {-0.8220781016923165, 150.0, -5.923291348115992}},
  }};
  return samples;
}

Model spatial_slider_crank() {
  Model m;
  m.title = "spatial slider-crank";
  m.gravity = down;
  Body crank;
  crank.name = "crank";
  crank.mass = 0.12;
  crank.inertia = Vec3(1e-4, 1e-4, 1e-5).asDiagonal();
  crank.pose.position = Vec3(0, 0.1, 0.16);
  crank.velocity = Vec3(0, -0.24, 0);
  crank.angular_velocity = Vec3(6, 0, 0);
  Body rod;
  rod.name = "rod";
  rod.mass = 0.5;
  rod.inertia = Vec3(4e-4, 4e-3, 4e-3).asDiagonal();
  rod.pose = {Vec3(0.1, 0.05, 0.1),
              Quat(0.888450709334306, -0.20973476206080316, 0.3973272361458831, -0.09379623704253996)};
  rod.velocity = Vec3(0.12, -0.24, 0);
  rod.angular_velocity = Vec3(1.92, -0.96, 0.48);
  Body slider;
  slider.name = "slider";
  slider.mass = 2;
  slider.inertia = Vec3(1e-4, 1e-4, 1e-4).asDiagonal();
  slider.pose.position = Vec3(0.2, 0, 0);
  slider.velocity = Vec3(0.24, 0, 0);
  const int c = m.add_body(crank), r = m.add_body(rod), s = m.add_body(slider);
  add_joint(m, "revolute", "A", ground, c, Vec3(0, 0.1, 0.12), Vec3::UnitX());
  add_joint(m, "spherical", "B", c, r, Vec3(0, 0.1, 0.2));
  const Vec3 at(0.2, 0, 0);
  add_joint(m, "universal", "C", {m.add_frame_at(s, at, Vec3::UnitX()), m.add_frame_at(r, at, Vec3(0, 2, -1))});
  add_joint(m, "translational", "slide", ground, s, at, Vec3::UnitX());
  return m;
}

const std::array<SliderCrankSample, 2>& slider_crank_reference() {
  static const std::array<SliderCrankSample, 2> samples{{
      {1.0, 10.913590729863676, 10.427593000410578, 0.21172166139349166},
      {2.5, 26.276849042885743, 8.63984700419008, 0.25655287278383593},
  }};
  return samples;
}

Model slider_crank_with_forces() {
  Model m = spatial_slider_crank();
  m.title = "spatial slider-crank with forces";
  const int rod = 1, slider = 2;
  Fields spring;
  spring.set("stiffness", 200.0);
  spring.set("damping", 2.0);
  spring.set("free_length", 0.15);
  add_force(m, "translational_spring_damper", "spring",
            {m.add_frame_at(ground, Vec3(0.5, 0.1, 0)), m.add_frame_at(slider, Vec3(0.2, 0, 0))}, spring);
  Fields torsion;
  torsion.set("stiffness", 0.02);
  torsion.set("damping", 1e-3);
  add_force(m, "rotational_spring_damper", "torsion", m.joints[0].frames, torsion);
  const Vec3 middle(0.1, 0.05, 0.1);
  Fields bushing;
  bushing.set("stiffness", Vec3(5, 5, 5));
  bushing.set("damping", Vec3(0.1, 0.1, 0.1));
  bushing.set("angular_stiffness", Vec3(0.01, 0.01, 0.01));
  bushing.set("angular_damping", Vec3(1e-3, 1e-3, 1e-3));
  add_force(m, "bushing", "bushing", {m.add_frame_at(slider, middle), m.add_frame_at(rod, middle)}, bushing);
  m.frames[static_cast<std::size_t>(m.joints[3].frames[1])].name = "on_slider";
  add_force(m, "force", "push", {m.add_frame_at(ground, Vec3::Zero()), m.add_frame_at(slider, Vec3(0.2, 0, 0))},
            expression("fx", "0.4*sin(7*time) - 3*dx(on_slider)*abs(vx(on_slider))"));
  add_force(m, "torque", "drag", m.joints[0].frames, expression("tz", "-2e-3*rate*exp(-0.01*angle^2)"));
  return m;
}

Model weighted_ball(double mass, double r, double e, double J, double lean) {
  Model m;
  m.gravity = Vec3(0, 0, -9.81);
  Body ball;
  ball.name = "ball";
  ball.mass = mass;
  ball.inertia = J * Mat3::Identity();
  ball.center_of_mass = Vec3(0, 0, -e);
  ball.pose = {Vec3(0, 0, r), Quat(Eigen::AngleAxisd(lean, Vec3::UnitY()))};
  m.add_body(ball);
  Fields fields;
  fields.set("radius", r);
  add_joint(m, "rolling_sphere", "floor", {m.add_frame(ground, {}), m.add_frame(0, {})}, fields);
  return m;
}

Model four_bar(Build build, bool tilted, double misfit) {
  // Links of 0.6, 1.897, 1.237 and 1.5 m: shortest + longest < sum of the others, so the crank turns round.
  const Mat3 turn = tilted ? rotation_exp(Vec3(0.7, -0.4, 0.9)).toRotationMatrix() : Mat3::Identity();
  const auto at = [&](double x, double y) { return Vec3(turn * Vec3(x, y, 0)); };
  const Vec3 O = at(0, 0), A = at(0, 0.6), B = at(1.8, 1.2), D = at(1.5, 0), n = turn * Vec3::UnitZ();
  Model m;
  m.title = "four-bar linkage";
  m.gravity = turn * Vec3(0, -9.81, 0);
  const int crank = m.add_body(rod("crank", O, A, 1, n)), coupler = m.add_body(rod("coupler", A, B, 2, n)),
            rocker = m.add_body(rod("rocker", D, B, 1.5, n));
  if (build == Build::planar) {
    for (Body& body : m.bodies) body.kind = "planar";
  }
  add_joint(m, "revolute", "O", ground, crank, O, n);
  add_joint(m, "revolute", "A", crank, coupler, A, n);
  const int on_rocker = m.add_frame_at(rocker, B, n);
  const int on_coupler = m.add_frame_at(coupler, B + misfit * n, n + misfit * (turn * Vec3::UnitX()));
  add_joint(m, build == Build::independent ? "point_on_line" : "revolute", "B", {on_rocker, on_coupler});
  add_joint(m, "revolute", "D", ground, rocker, D, n);
  InitialJoint start;
  start.joint = 0;
  start.angular_speed = 8;
  m.initial_joints.push_back(start);
  return m;
}

Model ladder(int windows, Build build) {
  Model m;
  m.title = "N-four-bar";
  m.gravity = Vec3(0, -9.81, 0);
  const Vec3 n = Vec3::UnitZ();
  for (int i = 0; i <= windows; ++i) {
    Body crank = rod(numbered("crank", i), Vec3(i, 0, 0), Vec3(i, 1, 0), 1, n, 0);  // no inertia about its axis
    crank.velocity = Vec3(0.5, 0, 0);
    crank.angular_velocity = Vec3(0, 0, -1);
    m.add_body(crank);
  }
  for (int i = 0; i < windows; ++i) {
    Body coupler = rod(numbered("coupler", i), Vec3(i, 1, 0), Vec3(i + 1, 1, 0), 1, n, 0);
    coupler.velocity = Vec3(1, 0, 0);
    m.add_body(coupler);
  }
  if (build == Build::planar) {
    for (Body& body : m.bodies) body.kind = "planar";
  }
  for (int i = 0; i <= windows; ++i) add_joint(m, "revolute", numbered("A", i), ground, i, Vec3(i, 0, 0), n);
  for (int i = 0; i < windows; ++i) {
    const int coupler = windows + 1 + i;
    add_joint(m, "revolute", numbered("BL", i), i, coupler, Vec3(i, 1, 0), n);
    add_joint(m, build == Build::independent ? "point_on_line" : "revolute", numbered("BR", i), i + 1, coupler,
              Vec3(i + 1, 1, 0), n);
  }
  return m;
}

double ladder_angle(int windows, double t) {
  const double I = (windows + 1) / 3.0 + windows, V = ((windows + 1) / 2.0 + windows) * 9.81;
  const auto f = [&](double angle) { return V / I * std::sin(angle); };
  const int steps = 1 + static_cast<int>(4000 * t);
  const double h = t / steps;
  double x = 0, v = 1;
  for (int i = 0; i < steps; ++i) {  // Nystrom's method of order 4 for x'' = f(x)
    const double k1 = f(x), k2 = f(x + h / 2 * v + h * h / 8 * k1), k3 = f(x + h * v + h * h / 2 * k2);
    x += h * v + h * h / 6 * (k1 + 2 * k2);
    v += h / 6 * (k1 + 4 * k2 + k3);
  }
  return x;
}

Model bricard(Build build) {
  Model m;
  m.title = "Bricard loop";
  m.gravity = down;
  const std::array<Vec3, 6> corner{Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(1, 1, 0),
                                   Vec3(1, 1, 1), Vec3(0, 1, 1), Vec3(0, 0, 1)};
  const auto edge = [&](std::size_t i) { return Vec3(corner[(i + 1) % 6] - corner[i % 6]); };  // link i
  const auto hinge = [&](std::size_t i) { return Vec3(edge(i + 5).cross(edge(i))); };          // joint i
  for (std::size_t i = 0; i < 5; ++i) m.add_body(rod(numbered("link", i), corner[i], corner[i + 1], 1, hinge(i)));
  for (int i = 0; i < 6; ++i) {
    const auto u = static_cast<std::size_t>(i);
    const bool slides = build == Build::independent && i == 5;  // this row stays redundant all the way
    add_joint(m, slides ? "cylindrical" : "revolute", numbered("J", i), i == 0 ? ground : i - 1, i == 5 ? ground : i,
              corner[u], hinge(u));
  }
  return m;
}

Model chain(int links) {
  Model m;
  m.title = "chain";
  m.gravity = down;
  for (int i = 0; i < links; ++i) {
    m.add_body(rod(numbered("link", i), Vec3(0.5 * i, 0, 0), Vec3(0.5 * (i + 1), 0, 0), 1, Vec3::UnitZ()));
    add_joint(m, "revolute", numbered("hinge", i), i == 0 ? ground : i - 1, i, Vec3(0.5 * i, 0, 0),
              i % 2 == 0 ? Vec3(Vec3::UnitY()) : Vec3(0, 1, 1));
  }
  return m;
}

Model every_element(unsigned seed, std::string_view only) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto vector = [&](double size) {
    const double x = uniform(random), y = uniform(random), z = uniform(random);
    return Vec3(size * Vec3(x, y, z));
  };
  Model m;
  m.title = "every element";
  m.gravity = vector(10);
  for (const std::string kind : {"spatial", "spatial", "planar", "planar", "point", "point"}) {
    Body body;
    body.kind = kind;
    body.name = numbered("body", m.bodies.size());
    body.mass = 1.5 + uniform(random);
    body.pose.position = vector(1);
    if (kind != "point") {
      const Vec3 turn = vector(2);
      body.pose.rotation = rotation_exp(kind == "planar" ? Vec3(0, 0, turn.z()) : turn);
      body.center_of_mass = vector(0.3);
      const Mat3 axes = rotation_exp(vector(2)).toRotationMatrix();
      body.inertia = axes * Vec3(0.5 + 0.1 * uniform(random), 0.6, 0.7).asDiagonal() * axes.transpose();
    }
    m.add_body(body);
  }
  const int count = static_cast<int>(m.bodies.size());
  for (const ElementDescription& d : element_registry()) {
    if (!only.empty() && d.key != only) continue;
    for (int a = -1; a < count; ++a) {
      for (int b = -1; b < count; ++b) {
        if (a == b || (a + 2 * b + 9) % 3 != 1) continue;  // a third of the pairs: all pairs of kinds are among them
        std::vector<int> frames;
        for (const int body : {a, b}) {
          const Vec3 p = vector(1);
          frames.push_back(m.add_frame(body, {p, rotation_exp(vector(2))}));
        }
        for (int i = 2; i < d.random_frames; ++i) {
          const Vec3 p = vector(1);
          frames.push_back(m.add_frame((a + b + i + 2) % count, {p, rotation_exp(vector(2))}));
        }
        Fields fields;
        if (d.random_fields) fields = d.random_fields(random);
        const std::string name = d.key + numbered("_", a) + numbered("_", b);
        switch (d.category) {
          case Category::joint: add_joint(m, d.key, name, frames, fields); break;
          case Category::motion: add_motion(m, d.key, name, frames, fields); break;
          case Category::force: add_force(m, d.key, name, frames, fields); break;
        }
      }
    }
  }
  return m;
}

Model deep_contacts() {
  return read_model_text(R"yaml(
trammel: 1
gravity: [0, 0, -9.81]
bodies:
  plate: {kind: planar, mass: 1, inertia: 0.1, position: [0.2, 0]}
  strut: {kind: rod, mass: 2, ends: [[0, 0.2, 0], [0.6, 0.2, 0.8]]}
  block: {mass: 1.5, inertia: [0.1, 0.2, 0.3], position: [0, 0.3, 0.5]}
frames:
  roof: {body: ground, position: [0, 0, 5], axis: [0.2, 0.1, 1]}
  along: {body: strut, position: [0.5, 0, 0], axis: [1, 0, 0]}
forces:
  box: {type: contact, frames: [roof, block], shape_a: plane, shape_b: box, size_b: [0.4, 0.3, 0.5], rounding_b: 0.05,
        stiffness: 3, damping: 0.1, friction: 0.3, slip_speed: 1}
  disc: {type: contact, frames: [plate, roof], shape_a: disc, radius_a: 0.3, rounding_a: 0.05, crown_a: 0.05,
         shape_b: plane, stiffness: 3, friction: 0.2, static_friction: 0.3, slip_speed: 1}
  rod: {type: contact, frames: [along, block], shape_a: cylinder, radius_a: 2, shape_b: sphere, radius_b: 1,
        stiffness: 3, damping: 0.1}
  drum: {type: contact, frames: [plate, block], shape_a: hollow_cylinder, radius_a: 0.11, shape_b: sphere,
         radius_b: 0.1, stiffness: 3, friction: 0.3, slip_speed: 1}
  bowl: {type: contact, frames: [strut, plate], shape_a: hollow_sphere, radius_a: 0.11, shape_b: sphere, radius_b: 0.1,
         stiffness: 3}
simulation: {end: 1, length: 1}
)yaml",
                         "deep_contacts.yaml");
}

Model driven_loop() {
  Model m = spatial_slider_crank();
  Fields drive;
  drive.set("angle", ExpressionText{"6*time + 0.3*sin(5*time)", {}});
  add_motion(m, "rotation", "drive", m.joints[0].frames, drive);
  Body hung;
  hung.name = "hung";
  hung.mass = 0.4;
  hung.inertia = Vec3(0.003, 0.002, 0.004).asDiagonal();
  const Vec3 at = m.bodies[2].pose.position;
  hung.pose.position = at + Vec3(0.05, 0.02, -0.12);
  const int index = m.add_body(hung);
  add_joint(m, "spherical", "hanger", 2, index, at);
  Fields spring;
  spring.set("stiffness", 30.0);
  spring.set("damping", 0.3);
  spring.set("free_length", 0.1);
  add_force(m, "translational_spring_damper", "spring",
            {m.add_frame_at(1, m.bodies[1].pose.position), m.add_frame_at(index, hung.pose.position)}, spring);
  Fields push;
  push.set("fy", ExpressionText{"3*sin(8*time)", {}});
  add_force(m, "force", "push", {m.add_frame(ground, {}), m.add_frame_at(index, hung.pose.position)}, push);
  return m;
}

}  // namespace trammel::problems
