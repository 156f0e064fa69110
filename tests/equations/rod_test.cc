// Rods, bodies in natural coordinates, against the same mechanisms of rigid bodies.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/problems/stepping.h"
#include "trammel/read/read_model.h"
#include "trammel/run/simulation.h"

namespace trammel::rod_test {
namespace {

// A chain of two bars from the origin: as rods, or as bodies with the same inertia.
std::string chain(const std::string& kind, bool third_axis) {
  const bool rod = kind == "rod" || kind == "planar_rod", planar = kind == "planar" || kind == "planar_rod";
  const std::string z = planar ? "" : ", 0", joint = planar ? "revolute" : "spherical";
  std::string text =
      "trammel: 1\ngravity: [" + std::string(third_axis ? "0, 0, -9.81" : "0, -9.81, 0") + "]\nbodies:\n";
  const auto bar = [&](const char* name, double mass, double from, double length) {
    char line[400];
    if (rod) {
      std::snprintf(line, sizeof line, "  %s: {kind: %s, mass: %g, ends: [[%g, 0%s], [%g, 0%s]]}\n", name, kind.c_str(),
                    mass, from, z.c_str(), from + length, z.c_str());
    } else {
      const double moment = mass * length * length / 12;
      char inertia[80];
      // In space the bar gets a little inertia about its axis, which nothing turns.
      std::snprintf(inertia, sizeof inertia, planar ? "%.17g" : "[%.17g, %.17g, %.17g]",
                    planar ? moment : 1e-3 * moment, moment, moment);
      std::snprintf(line, sizeof line,
                    "  %s: {kind: %s, mass: %g, inertia: %s, center_of_mass: [%g, 0%s], position: [%g, 0%s]}\n", name,
                    kind.c_str(), mass, inertia, length / 2, z.c_str(), from, z.c_str());
    }
    text += line;
  };
  bar("upper", 1, 0, 1);
  bar("lower", 0.5, 1, 0.8);
  text += "joints:\n  shoulder: {type: " + joint +
          ", between: [ground, upper], at: [0, 0, 0]}\n  elbow: {type: " + joint +
          ", between: [upper, lower], at: [1, 0, 0]}\n";
  text +=
      "forces:\n  spring: {type: translational_spring_damper, between: [ground, lower], at: [[1, 1, 0.5], [1.6, 0, "
      "0]], "
      "stiffness: 20, damping: 1, free_length: 0.5}\n";
  return text + "simulation: {end: 0.7, length: 1}\n";
}

// The end of the last bar, the origin of which is its middle.
Vec3 tip(const Equations& equations, const State& state) {
  Workspace work = equations.make_workspace();
  equations.update(state, work);
  const bool single = equations.model().bodies.size() == 1;
  BodyFrame end = equations.origin(single ? 0 : 1);
  end.arm = Vec3(single ? 0.5 : 0.4, 0, 0);
  return equations.frame(end, work).p;
}

struct Outcome {
  Vec3 tip;
  double energy = 0;
};

Outcome run(const std::string& text, const std::string& method, double tolerance, std::optional<double> step) {
  Model model = read_model_text(text, "chain.yaml");
  model.simulation.method = method;
  model.simulation.tolerance = tolerance;
  model.simulation.step = step;
  Simulation simulation(std::move(model));
  MemoryTrajectory sink;
  EXPECT_EQ(simulation.run(sink).status, RunStatus::finished);
  const Equations& equations = simulation.equations();
  Workspace work = equations.make_workspace();
  const State& state = simulation.integrator().state();
  const Energy e = equations.energy(state, simulation.integrator().rates(), work);
  return {tip(equations, state), e.kinetic + e.potential};
}

struct Pair {
  const char *rod, *body;
  bool third_axis;
};
const Pair pairs[] = {{"planar_rod", "planar", false}, {"rod", "spatial", false}, {"rod", "spatial", true}};

// The equations are the same: accelerations of the tip, reactions and energies at the start.
TEST(Rod, MovesAsARigidBarWithItsInertia) {
  for (const Pair& pair : pairs) {
    SCOPED_TRACE(std::string(pair.rod) + (pair.third_axis ? ", gravity along z" : ""));
    const problems::Ready rods(read_model_text(chain(pair.rod, pair.third_axis), "rods.yaml"));
    const problems::Ready bodies(read_model_text(chain(pair.body, pair.third_axis), "bodies.yaml"));
    Workspace work = rods.equations->make_workspace(), other = bodies.equations->make_workspace();
    rods.equations->update(rods.state, work);
    bodies.equations->update(bodies.state, other);
    for (int b = 0; b < 2; ++b) {
      Vec3 angular, of_body;
      const Vec3 linear = rods.equations->frame_acceleration(rods.equations->origin(b), rods.rates, work, &angular);
      const Vec3 expected =
          bodies.equations->frame_acceleration(bodies.equations->origin(b), bodies.rates, other, &of_body);
      EXPECT_LT((linear - expected).norm(), 1e-9 * 9.81);
      EXPECT_LT((angular - of_body).norm(), 1e-9 * 9.81);
    }
    for (int c = 0; c < 2; ++c) {
      Vec3 force, torque, of_bodies, torque_of_bodies;
      rods.equations->reaction(c, rods.state, rods.rates, work, force, torque);
      bodies.equations->reaction(c, bodies.state, bodies.rates, other, of_bodies, torque_of_bodies);
      EXPECT_LT((force - of_bodies).norm(), 1e-9 * (1 + of_bodies.norm()));
    }
    EXPECT_NEAR(rods.equations->energy(rods.state, rods.rates, work).potential,
                bodies.equations->energy(bodies.state, bodies.rates, other).potential, 1e-12);
  }
}

class RodMethods : public testing::TestWithParam<const char*> {};

TEST_P(RodMethods, FollowTheRigidBar) {
  for (const Pair& pair : pairs) {
    SCOPED_TRACE(std::string(pair.rod) + (pair.third_axis ? ", gravity along z" : ""));
    const Outcome rods = run(chain(pair.rod, pair.third_axis), GetParam(), 1e-12, {});
    const Outcome bodies = run(chain(pair.body, pair.third_axis), "radau-iia-3", 1e-12, {});
    EXPECT_LT((rods.tip - bodies.tip).norm(), 1e-9);
    EXPECT_NEAR(rods.energy, bodies.energy, 1e-8);
  }
}
// One bar of 2 kg and 1 m that is let go level, in space with a push to the side: it swings on a cone-like path.
TEST_P(RodMethods, APendulumFollowsTheRigidBar) {
  const std::string
      end = "\nsimulation: {end: 1, length: 1}\n",
      rods[] = {"{kind: planar_rod, mass: 2, ends: [[0, 0], [1, 0]]}",
                "{kind: rod, mass: 2, ends: [[0, 0, 0], [1, 0, 0]], end_velocities: [[0, 0, 0], [0, 0, "
                "2]]}"},
      bodies[] = {"{kind: planar, mass: 2, inertia: 0.16666666666666666, center_of_mass: [0.5, 0], position: [0, 0]}",
                  "{mass: 2, inertia: [1e-3, 0.16666666666666666, 0.16666666666666666], center_of_mass: [0.5, 0, 0], "
                  "position: [0, 0, "
                  "0], angular_velocity: [0, -2, 0]}"},
      joints[] = {"revolute", "spherical"};
  for (int space = 0; space < 2; ++space) {
    SCOPED_TRACE(space == 0 ? "in a plane" : "in space");
    const auto swing = [&](const std::string& bar, const char* method) {
      return run("trammel: 1\ngravity: [0, -9.81, 0]\nbodies: {bar: " + bar +
                     "}\njoints: {pin: {type: " + joints[space] + ", between: [ground, bar], at: [0, 0, 0]}}" + end,
                 method, 1e-12, {});
    };
    const Outcome rod = swing(rods[space], GetParam()), body = swing(bodies[space], "radau-iia-3");
    EXPECT_LT((rod.tip - body.tip).norm(), 1e-9);
    EXPECT_NEAR(rod.energy, body.energy, 1e-8);
    EXPECT_NEAR(rod.tip.norm(), 1, 1e-9);
    EXPECT_GT((rod.tip - Vec3(1, 0, 0)).norm(), 0.5);  // it has moved
  }
}
INSTANTIATE_TEST_SUITE_P(Rod, RodMethods,
                         testing::Values("radau-iia-3", "rosenbrock-nystrom-4", "bdf-si2", "dormand-prince-853",
                                         "adams"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

// The tetrahedron of models/rod_truss.yaml, let go: a rigid body with three equal moments of inertia, so that its
// corner turns at the speed w about the vertical axis through the falling top.
double error_of_falling_truss(const std::string& method, double tolerance, std::optional<double> step) {
  Model model = read_model(std::string(TRAMMEL_SOURCE_DIR) + "/models/rod_truss.yaml");
  model.joints.erase(model.joints.begin());  // the hook
  model.forces.clear();
  model.outputs.clear();
  model.simulation.end = 0.7;
  model.simulation.method = method;
  model.simulation.tolerance = tolerance;
  model.simulation.step = step;
  Simulation simulation(std::move(model));
  MemoryTrajectory sink;
  EXPECT_EQ(simulation.run(sink).status, RunStatus::finished);
  Workspace work = simulation.equations().make_workspace();
  simulation.equations().update(simulation.integrator().state(), work);
  BodyFrame corner = simulation.equations().origin(0);
  corner.arm = Vec3(0.5, 0, 0);
  const double t = 0.7, w = 4, r = std::sqrt(1.0 / 3), h = std::sqrt(2.0 / 3);
  const Vec3 exact(r * std::cos(w * t), r * std::sin(w * t), -h - 9.81 * t * t / 2);
  return (simulation.equations().frame(corner, work).p - exact).norm();
}

TEST_P(RodMethods, ATrussFallsAsARigidBody) { EXPECT_LT(error_of_falling_truss(GetParam(), 1e-12, {}), 1e-9); }

TEST(Rod, HhtOfAFallingTrussIsOfOrder2) {
  const double coarse = error_of_falling_truss("hht-i3", 1e-10, 2e-3),
               fine = error_of_falling_truss("hht-i3", 1e-10, 1e-3);
  EXPECT_LT(fine, 1e-4);
  EXPECT_NEAR(coarse / fine, 4, 0.4);
}

// HHT is of order 2: its distance from the rigid bars' motion falls with the square of the step.
TEST(Rod, HhtConvergesToTheRigidBar) {
  const Outcome exact = run(chain("spatial", true), "radau-iia-3", 1e-12, {});
  const double coarse = (run(chain("rod", true), "hht-i3", 1e-10, 2e-3).tip - exact.tip).norm(),
               fine = (run(chain("rod", true), "hht-i3", 1e-10, 1e-3).tip - exact.tip).norm();
  EXPECT_LT(fine, 1e-4);
  EXPECT_NEAR(std::log2(coarse / fine), 2, 0.2);
}

std::string failure_of(const std::string& text) {
  try {
    const Equations equations(read_model_text(text, "rods.yaml"));
  } catch (const Failure& failure) {
    return failure.problems().front().message;
  }
  return "";
}

TEST(Rod, RefusesWhatNeedsAFullOrientation) {
  const std::string start =
      "trammel: 1\nbodies: {arm: {kind: rod, mass: 1, ends: [[0, 0, 0], [1, 0, 0]]}, "
      "block: {mass: 1, inertia: [1, 1, 1]}}\n";
  const auto joint = [&](const std::string& fields) {
    return failure_of(start + "joints:\n  pin: {" + fields + "}\n");
  };
  const auto force = [&](const std::string& fields) { return failure_of(start + "forces:\n  f: {" + fields + "}\n"); };
  for (const char* type : {"revolute", "fixed", "cylindrical", "translational", "orientation"}) {
    EXPECT_EQ(joint("type: " + std::string(type) + ", between: [block, arm], at: [0.5, 0, 0], axis: [0, 1, 0]"),
              "joint 'pin' needs the full orientation of body 'arm', but a rod has points and a direction only")
        << type;
  }
  EXPECT_EQ(joint("type: spherical, between: [block, arm], at: [0.5, 0, 0]"), "");
  EXPECT_EQ(joint("type: distance, between: [block, arm], at: [[0, 1, 0], [0.5, 0, 0]]"), "");
  EXPECT_EQ(joint("type: point_in_plane, between: [arm, block], at: [0, 0, 0], axis: [1, 0, 0]"), "");
  EXPECT_NE(joint("type: point_in_plane, between: [arm, block], at: [0, 0, 0], axis: [0, 1, 0]"), "");
  EXPECT_NE(force("type: bushing, between: [block, arm], at: [0, 0, 0], stiffness: [1, 1, 1, 1, 1, 1]"), "");
  EXPECT_NE(force("type: force, frames: [ground, arm], axes: b, fy: 1"), "");
  EXPECT_EQ(force("type: force, frames: [ground, arm], axes: world, fy: 1"), "");
  EXPECT_EQ(force("type: force, frames: [ground, block], fy: \"distance(arm, block)\""), "");
  EXPECT_NE(force("type: force, frames: [ground, block], fy: \"dy(block, arm)\""), "");
}

TEST(Rod, RefusesPointsBesideItsAxis) {
  EXPECT_EQ(failure_of("trammel: 1\nbodies: {arm: {kind: rod, mass: 1, ends: [[0, 0, 0], [1, 0, 0]]}}\n"
                       "joints: {pin: {type: spherical, between: [ground, arm], at: [0.5, 0.25, 0]}}\n"),
            "'pin' on body 'arm': it stands 0.25 m off the axis of the rod, which has points of its axis only");
}

TEST(Rod, KeepsItsLengthAndRecordsItsForce) {
  const problems::Ready ready(read_model_text(
      "trammel: 1\ngravity: [0, 0, -9.81]\nbodies: {arm: {kind: rod, mass: 2, ends: [[0, 0, 0], [0, 0, -1]]}}\n"
      "joints: {hook: {type: spherical, between: [ground, arm], at: [0, 0, 0]}}\n",
      "rods.yaml"));
  const Equations& e = *ready.equations;
  ASSERT_EQ(e.constraint_count(), 2);
  EXPECT_EQ(e.constraint_info(1).item->name, "arm.length");
  Workspace work = e.make_workspace();
  e.update(ready.state, work);
  Vec3 force, torque;
  e.reaction(1, ready.state, ready.rates, work, force, torque);
  EXPECT_NEAR(force.z(), 0.5 * 2 * 9.81, 1e-9);  // half of the weight acts in each end
}

}  // namespace
}  // namespace trammel::rod_test
