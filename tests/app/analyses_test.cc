// static, quasi-static, kinematic, inverse, linearise, modes and run --from-static as a user calls them.
#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <iterator>

#include "tests/app/command.h"
#include "trammel/write/read_trajectory.h"

namespace trammel::testing::analyses_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Analyses, StaticOfThePendulum) {
  const Command command;
  const Outcome outcome = command.run({"static", model_file("pendulum.yaml"), "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto json = outcome.json();
  EXPECT_EQ(json["static"]["stability"], "stable");
  EXPECT_NEAR(json["values"]["tip_z"].get<double>(), -1, 1e-9);
  EXPECT_NEAR(json["values"]["joint.hinge.force.z"].get<double>(), 2 * 9.81, 1e-7);
  EXPECT_TRUE(command.has("pendulum.static.h5"));
  const Outcome text = command.run({"static", model_file("hanging_chain.yaml"), "-o", "chain.csv"});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("equilibrium"), HasSubstr("stable"), HasSubstr("link16")));
  EXPECT_TRUE(command.has("chain.csv"));
}

TEST(Analyses, NoEquilibriumIsAFailureWithNames) {
  const Command command;
  command.write("falling.yaml",
                "trammel: 1\ngravity: [0, 0, -9.81]\nbodies:\n  stone: {mass: 2, inertia: [1, 1, 1]}\n");
  const Outcome outcome = command.run({"static", "falling.yaml"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("no static equilibrium"), HasSubstr("body 'stone': position z"), HasSubstr("19.62 N")));
  EXPECT_EQ(command.run({"modes", "falling.yaml"}).code, 1);
  EXPECT_EQ(command.run({"run", "falling.yaml", "--from-static"}).code, 1);
}

TEST(Analyses, RunFromStaticStaysThere) {
  const Command command;
  const Outcome outcome =
      command.run({"run", model_file("pendulum.yaml"), "--from-static", "--end", "0.5", "-o", "p.csv", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NEAR(outcome.json()["summary"]["energy"]["kinetic"].get<double>(), 0, 1e-12);
}

TEST(Analyses, KinematicAndInverse) {
  const Command command;
  const Outcome outcome = command.run({"kinematic", model_file("driven_four_bar.yaml"), "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.json()["kinematic"]["outputs"], 401);
  const Outcome free = command.run({"kinematic", model_file("pendulum.yaml")});
  EXPECT_EQ(free.code, 3);
  EXPECT_THAT(free.err, AllOf(HasSubstr("[not-driven]"), HasSubstr("body 'bar'")));
  const Outcome inverse = command.run({"inverse", model_file("driven_four_bar.yaml"), "-o", "d.csv"});
  EXPECT_EQ(inverse.code, 0) << inverse.err;
  EXPECT_THAT(inverse.out, AllOf(HasSubstr("type: torque"), HasSubstr("joint: O")));
  EXPECT_THAT(command.read("d.csv"), HasSubstr("time,drive\n0,"));
  EXPECT_EQ(command.run({"inverse", model_file("pendulum.yaml")}).code, 3);
}

// The drive that inverse dynamics finds, put into a forward model as it is printed, gives the motion back.
TEST(Analyses, InverseThenForwardReturnsTheMotion) {
  const Command command;
  std::ifstream source(model_file("driven_four_bar.yaml"));
  std::string model(std::istreambuf_iterator<char>(source), {});
  const Outcome inverse = command.run({"inverse", model_file("driven_four_bar.yaml"), "-o", "d.csv"});
  ASSERT_EQ(inverse.code, 0) << inverse.err;
  const std::size_t motions = model.find("motions:"), simulation = model.find("simulation:");
  const std::size_t printed = inverse.out.find("splines:");
  ASSERT_NE(printed, std::string::npos);
  model.replace(motions, simulation - motions,
                inverse.out.substr(printed) + "\ninitial:\n  joints: {O: {angular_speed: 3.8}}\n\n");
  command.write("forward.yaml", model);
  const Outcome forward = command.run({"run", "forward.yaml", "--end", "1", "--method", "rosenbrock-nystrom-4",
                                       "--tolerance", "1e-8", "-o", "forward.csv"});
  ASSERT_EQ(forward.code, 0) << forward.err;
  ASSERT_EQ(
      command.run({"run", model_file("driven_four_bar.yaml"), "--end", "1", "--tolerance", "1e-8", "-o", "driven.csv"})
          .code,
      0);
  const auto last_angle = [&](const char* file) {
    const MemoryTrajectory result = read_trajectory(command.path(file));
    return result.column("rocker_angle").back();
  };
  EXPECT_NEAR(last_angle("forward.csv"), last_angle("driven.csv"), 1e-4);
}

TEST(Analyses, LineariseTheCart) {
  const Command command;
  const Outcome outcome = command.run({"linearise", model_file("cart_pole.yaml"), "--json", "-o", "cart.h5"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto json = outcome.json();
  EXPECT_EQ(json["A"].size(), 4);
  EXPECT_EQ(json["inputs"][0]["name"], "push");
  EXPECT_TRUE(command.has("cart.h5"));
  // A second time over the same file, and as CSV.
  EXPECT_EQ(command.run({"linearise", model_file("cart_pole.yaml"), "-o", "cart.h5"}).code, 0);
  EXPECT_EQ(command.run({"linearise", model_file("cart_pole.yaml"), "-o", "cart.csv"}).code, 0);
  EXPECT_THAT(command.read("cart.csv"), AllOf(HasSubstr("# matrix A"), HasSubstr("push [N]")));
  EXPECT_EQ(command.run({"linearise", model_file("cart_pole.yaml"), "--around", "0.2"}).code, 0);
  EXPECT_EQ(command.run({"linearise", model_file("cart_pole.yaml"), "--around", "soon"}).code, 2);
}

TEST(Analyses, ModesOfThePendulumAndTheRotor) {
  const Command command;
  const Outcome outcome = command.run({"modes", model_file("pendulum.yaml"), "--json", "--animate", "1"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NEAR(outcome.json()["undamped"][0]["frequency"].get<double>(), std::sqrt(1.5 * 9.81) / 6.283185307179586,
              1e-9);
  EXPECT_TRUE(command.has("pendulum.modes.h5"));
  EXPECT_TRUE(command.has("pendulum.mode1.h5"));
  const Outcome rotor = command.run({"modes", model_file("rotor.yaml"), "--around", "initial", "--plot", "rotor.png"});
  EXPECT_EQ(rotor.code, 0) << rotor.err;
  EXPECT_THAT(rotor.out, HasSubstr("disc"));
  EXPECT_TRUE(command.has("rotor.png"));
}

TEST(Analyses, QuasiStatic) {
  const Command command;
  command.write("press.yaml",
                "trammel: 1\ngravity: [0, 0, -9.81]\n"
                "bodies:\n  mass: {kind: point, mass: 2, position: [0, 0, -1]}\n"
                "frames:\n  top: {body: ground, position: [0, 0, 0]}\n"
                "forces:\n"
                "  spring: {type: translational_spring_damper, frames: [top, mass], stiffness: 100, free_length: 1}\n"
                "  load: {type: force, frames: [ground, mass], fz: \"-10*time\", axes: world}\n"
                "outputs:\n  z: \"dz(mass, ground)\"\n"
                "simulation: {end: 1}\n");
  const Outcome outcome = command.run({"quasi-static", "press.yaml", "--steps", "20", "-o", "press.csv", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err << outcome.out;
  EXPECT_EQ(outcome.json()["quasi_static"]["outputs"], 21);
  EXPECT_EQ(outcome.json()["quasi_static"]["last"]["stability"], "stable");
}

}  // namespace
}  // namespace trammel::testing::analyses_test
