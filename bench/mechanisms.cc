#include "bench/mechanisms.h"
#include "trammel/elements/build.h"

namespace trammel::bench {
namespace {

Body rod(const std::string& name, const Vec3& centre, const Vec3& axis, double mass = 1, double length = 1) {
  Body body;
  body.name = name;
  body.mass = mass;
  const double across = mass * length * length / 12;
  body.inertia = across * (Mat3::Identity() - axis * axis.transpose()) + 1e-3 * across * axis * axis.transpose();
  body.pose.position = centre;
  return body;
}

Body block(const std::string& name, const Vec3& centre, double mass, const Vec3& inertia) {
  Body body;
  body.name = name;
  body.mass = mass;
  body.inertia = inertia.asDiagonal();
  body.pose.position = centre;
  return body;
}

void add_spring(Model& model, const std::string& name, int a, int b, const Vec3& at_a, const Vec3& at_b,
                double stiffness, double damping) {
  Fields fields;
  fields.set("stiffness", stiffness);
  fields.set("damping", damping);
  fields.set("free_length", (at_b - at_a).norm());
  add_force(model, "translational_spring_damper", name, {model.add_frame_at(a, at_a), model.add_frame_at(b, at_b)},
            fields);
}

}  // namespace

Model chain(int links) {
  Model model;
  model.title = "chain of " + std::to_string(links);
  model.gravity = Vec3(0, 0, -9.81);
  for (int i = 0; i < links; ++i) {
    const int body = model.add_body(rod("link" + std::to_string(i), Vec3(i + 0.5, 0, 0), Vec3::UnitX()));
    add_joint(model, "revolute", "pin" + std::to_string(i), body - 1, body, Vec3(i, 0, 0), Vec3::UnitY());
  }
  return model;
}

Model four_bars(int windows) {
  Model model;
  model.title = std::to_string(windows) + " four-bar windows";
  model.gravity = Vec3(0, -9.81, 0);
  for (int i = 0; i <= windows; ++i) {
    Body crank = rod("crank" + std::to_string(i), Vec3(i, 0.5, 0), Vec3::UnitY());
    crank.velocity = Vec3(0.5, 0, 0);
    crank.angular_velocity = Vec3(0, 0, -1);
    model.add_body(crank);
    add_joint(model, "revolute", "A" + std::to_string(i), ground, i, Vec3(i, 0, 0));
  }
  for (int i = 0; i < windows; ++i) {
    Body coupler = rod("coupler" + std::to_string(i), Vec3(i + 0.5, 1, 0), Vec3::UnitX());
    coupler.velocity = Vec3(1, 0, 0);
    const int body = model.add_body(coupler);
    add_joint(model, "revolute", "BL" + std::to_string(i), i, body, Vec3(i, 1, 0));
    add_joint(model, "revolute", "BR" + std::to_string(i), i + 1, body, Vec3(i + 1, 1, 0));
  }
  return model;
}

Model convoy(int vehicles) {
  Model model;
  model.title = "convoy of " + std::to_string(vehicles);
  model.gravity = Vec3(0, 0, -9.81);
  int previous = ground;
  for (int v = 0; v < vehicles; ++v) {
    const Vec3 origin(-6.0 * v, 0, 0);
    const std::string prefix = "v" + std::to_string(v) + ".";
    const int chassis =
        model.add_body(block(prefix + "chassis", origin + Vec3(0, 0, 0.7), 1200, Vec3(400, 1600, 1800)));
    for (int corner = 0; corner < 4; ++corner) {
      const double x = corner < 2 ? 1.4 : -1.4, s = corner % 2 == 0 ? 1 : -1;  // front or rear, left or right
      const std::string name = prefix + "c" + std::to_string(corner) + ".";
      const auto place = [&](double dx, double y, double z) { return Vec3(origin + Vec3(x + dx, s * y, z)); };
      const int lower = model.add_body(rod(name + "lower", place(0, 0.55, 0.3), Vec3::UnitY(), 8, 0.4));
      const int upper = model.add_body(rod(name + "upper", place(0, 0.55, 0.6), Vec3::UnitY(), 5, 0.3));
      const int upright = model.add_body(block(name + "upright", place(0, 0.75, 0.45), 12, Vec3(0.3, 0.3, 0.2)));
      const int wheel = model.add_body(block(name + "wheel", place(0, 0.85, 0.45), 20, Vec3(0.8, 1.4, 0.8)));
      add_joint(model, "revolute", name + "lower_pivot", chassis, lower, place(0, 0.35, 0.3), Vec3::UnitX());
      add_joint(model, "revolute", name + "upper_pivot", chassis, upper, place(0, 0.4, 0.6), Vec3::UnitX());
      add_joint(model, "spherical", name + "lower_ball", lower, upright, place(0, 0.75, 0.3));
      add_joint(model, "spherical", name + "upper_ball", upper, upright, place(0, 0.7, 0.6));
      add_joint(
          model, "distance", name + "tie_rod",
          {model.add_frame_at(chassis, place(0.15, 0.4, 0.4)), model.add_frame_at(upright, place(0.15, 0.75, 0.4))});
      add_joint(model, "revolute", name + "hub", upright, wheel, place(0, 0.85, 0.45), Vec3::UnitY());
      add_spring(model, name + "spring", chassis, lower, place(0, 0.5, 0.8), place(0, 0.6, 0.3), 40000, 3000);
      add_spring(model, name + "tyre", ground, wheel, place(0, 0.85, -5), place(0, 0.85, 0.45), 200000, 500);
    }
    if (previous != ground) {
      add_joint(model, "distance", prefix + "tow",
                {model.add_frame_at(previous, origin + Vec3(4, 0, 0.6)),
                 model.add_frame_at(chassis, origin + Vec3(2, 0, 0.6))});
    }
    previous = chassis;
  }
  return model;
}

}  // namespace trammel::bench
