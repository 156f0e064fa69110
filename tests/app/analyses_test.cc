// static, quasi-static, kinematic, inverse, linearise, modes and run --from-static as a user calls them.
#include <gmock/gmock.h>

#include <cmath>
#include <complex>
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
  // Outputs of variables that nothing else uses have derivatives too.
  command.write("outputs.yaml",
                "trammel: 1\nbodies: {bar: {mass: 1, inertia: [0.1, 0.1, 0.1], center_of_mass: [0.5, 0, 0]}}\n"
                "joints: {hinge: {type: revolute, between: [ground, bar], at: [0, 0, 0], axis: [0, 1, 0]}}\n"
                "variables: {v: 3*angle(hinge) + 2*rate(hinge)}\n"
                "outputs: {named: v, written: 3*angle(hinge) + 2*rate(hinge)}\nsimulation: {end: 1}\n");
  const nlohmann::json linear = command.run({"linearise", "outputs.yaml", "--json"}).json();
  EXPECT_EQ(linear["C"][0], linear["C"][1]);
  EXPECT_NE(linear["C"][0][0].get<double>(), 0.0);
  EXPECT_EQ(command.run({"linearise", model_file("cart_pole.yaml"), "-o", "cart.csv"}).code, 0);
  EXPECT_THAT(command.read("cart.csv"), AllOf(HasSubstr("# matrix A"), HasSubstr("push [N]")));
  EXPECT_EQ(command.run({"linearise", model_file("cart_pole.yaml"), "--around", "0.2"}).code, 0);
  EXPECT_EQ(command.run({"linearise", model_file("cart_pole.yaml"), "--around", "soon"}).code, 2);
}

TEST(Analyses, ModesOfThePendulumAndTheRotor) {
  const Command command;
  const Outcome outcome = command.run({"modes", model_file("pendulum.yaml"), "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NEAR(outcome.json()["undamped"][0]["frequency"].get<double>(), std::sqrt(1.5 * 9.81) / 6.283185307179586,
              1e-9);
  EXPECT_TRUE(command.has("pendulum.modes.h5"));
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

TEST(Analyses, StaticPrintsTheForces) {
  const Command command;
  command.write("spring.yaml",
                "trammel: 1\ngravity: [0, 0, -10]\nbodies: {b: {mass: 3, inertia: [1, 1, 1]}}\n"
                "joints: {g: {type: translational, between: [ground, b], at: [0, 0, 0]}}\n"
                "forces:\n"
                "  s: {type: translational_spring_damper, between: [ground, b], at: [[0, 0, 1], [0, 0, 0]], stiffness: "
                "1000, free_length: 1}\n"
                "  f: {type: force, frames: [ground, b], fz: \"5\"}\n");
  const Outcome outcome = command.run({"static", "spring.yaml"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("s  (0, 0, 25) N"), HasSubstr("f  (0, 0, 5) N"),
                                 HasSubstr("moved           0.025 m at most")));
}

// Statics needs no masses; what it cannot do without is said of the run.
TEST(Analyses, StaticOfBodiesWithoutMass) {
  const Command command;
  command.write("web.yaml",
                "trammel: 1\nbodies: {knot: {mass: 0, inertia: [0, 0, 0]}}\n"
                "forces:\n"
                "  a: {type: bushing, between: [ground, knot], at: [0, 0, 0], stiffness: [100, 100, 100], "
                "angular_stiffness: [1, 1, 1]}\n"
                "  f: {type: force, frames: [ground, knot], fz: \"-5\"}\n");
  const Outcome outcome = command.run({"static", "web.yaml", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NEAR(outcome.json()["values"]["body.knot.position.z"].get<double>(), -0.05, 1e-12);
  EXPECT_EQ(outcome.json()["static"]["moved_unit"], "m");
  const Outcome run = command.run({"run", "web.yaml"});
  EXPECT_NE(run.code, 0);
  EXPECT_THAT(run.err, AllOf(HasSubstr("[no-accelerations]"), HasSubstr("body 'knot'")));
}

// What a failure advises helps.
TEST(Analyses, TheAdviceOfAFailedStaticHelps) {
  const Command command;
  const std::string model = "trammel: 1\ngravity: [0, 0, -9.81]\nbodies:\n  stone: {mass: 2, inertia: [1, 1, 1]}\n";
  command.write("falling.yaml", model);
  const Outcome failed = command.run({"static", "falling.yaml"});
  EXPECT_EQ(failed.code, 1);
  EXPECT_THAT(failed.err, AllOf(HasSubstr("hint"), HasSubstr("keep: [position.z]")));
  command.write("kept.yaml", model + "initial: {bodies: {stone: {keep: [position.z]}}}\n");
  const Outcome kept = command.run({"static", "kept.yaml"});
  EXPECT_EQ(kept.code, 0) << kept.err;
  EXPECT_THAT(kept.out, HasSubstr("by a hold on body 'stone': 19.62 N"));
}

TEST(Analyses, UnitsOfStatesDoNotComeFromNames) {
  const Command command;
  command.write("disc.yaml",
                "trammel: 1\ngravity: [0, 0, -10]\n"
                "bodies: {rotation_disc: {mass: 2, inertia: [1, 1, 1], position: [0, 0, -1]}}\n"
                "coordinates: {rotation: {mass: 1, quantity: length}, position: {mass: 1, quantity: angle}}\n"
                "joints: {slide: {type: translational, between: [ground, rotation_disc], at: [0, 0, 0]}}\n");
  const Outcome outcome = command.run({"linearise", "disc.yaml", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto json = outcome.json();
  ASSERT_EQ(json["states"].size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) {
    const bool turns = json["states"][i]["name"].get<std::string>().find("'position'") != std::string::npos;
    EXPECT_EQ(json["states"][i]["unit"], std::string(turns ? "rad" : "m") + (i < 3 ? "" : "/s")) << i;
  }
}

// A platform led along a path, and a model in mm with a motion between frames: what is printed runs, and returns the
// motion.
TEST(Analyses, InverseOfATrajectoryInMillimetres) {
  const Command command;
  const std::string head =
      "trammel: 1\nunits: {length: mm, angle: deg}\ngravity: [0, 0, -9810]\n"
      "bodies:\n  plate: {mass: 2, inertia: [2e4, 3e4, 4e4], position: [0, 0, 100]}\n"
      "  slider: {mass: 1, inertia: [1e3, 1e3, 1e3], position: [0, 500, 0]}\n"
      "frames: {rail: {body: ground, position: [0, 500, 0], orientation: {axis: [0, 1, 0], angle: 90}}}\n"
      "joints: {guide: {type: translational, between: [ground, slider], at: [0, 500, 0], axis: [1, 0, 0]}}\n";
  const std::string motions =
      "motions:\n"
      "  pose:\n    type: trajectory\n    frames: [ground, plate]\n"
      "    x: {value: \"0.1*(1 - cos(3*time))\", unit: m}\n    y: {value: \"0.05*(1 - cos(2*time))\", unit: m}\n"
      "    z: {value: \"0.1 + 0.03*(1 - cos(4*time))\", unit: m}\n"
      "    about_x: {value: \"0.3*(1 - cos(2*time))\", unit: rad}\n    about_y: 0\n"
      "    about_z: {value: \"0.2*(1 - cos(3*time))\", unit: rad}\n"
      "  push: {type: translation, frames: [rail, slider], displacement: {value: \"0.1*(1 - cos(5*time))\", unit: "
      "m}}\n";
  const std::string tail = "simulation: {end: 1, output_step: 0.005}\n";
  command.write("led.yaml", head + motions + tail);
  const Outcome inverse = command.run({"inverse", "led.yaml"});
  ASSERT_EQ(inverse.code, 0) << inverse.err;
  const std::size_t printed = inverse.out.find("splines:");
  ASSERT_NE(printed, std::string::npos);
  EXPECT_THAT(inverse.out, AllOf(HasSubstr("type: general_force, frames: [ground, plate], fx:"),
                                 HasSubstr("type: force, frames: [rail, slider], fz:")));
  command.write("forward.yaml", head + inverse.out.substr(printed) + tail);
  const Outcome forward = command.run(
      {"run", "forward.yaml", "--method", "rosenbrock-nystrom-4", "--tolerance", "1e-8", "-o", "f.csv", "--quiet"});
  ASSERT_EQ(forward.code, 0) << forward.err;
  const Outcome driven = command.run({"kinematic", "led.yaml", "-o", "k.csv", "--quiet"});
  ASSERT_EQ(driven.code, 0) << driven.err;
  const MemoryTrajectory got = read_trajectory(command.path("f.csv")), wanted = read_trajectory(command.path("k.csv"));
  for (const char* name : {"body.plate.position.x", "body.plate.position.y", "body.plate.position.z",
                           "body.plate.orientation.x", "body.plate.orientation.z", "body.slider.position.x"}) {
    EXPECT_NEAR(got.column(name).back(), wanted.column(name).back(), 2e-5) << name;
  }
}

// Published eigenvalues of the benchmark bicycle at 5 m/s: J. P. Meijaard et al., Proc. R. Soc. A 463 (2007), table 2.
TEST(Analyses, ARollingVehicleHasItsPublishedEigenvalues) {
  const Command command;
  const Outcome outcome = command.run({"modes", model_file("bicycle.yaml"), "--around", "initial", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto json = outcome.json();
  EXPECT_EQ(json["summary"]["rigid"], 5);
  std::vector<std::complex<double>> found;
  for (const auto& mode : json["damped"])
    found.emplace_back(mode["eigenvalue"][0].get<double>(), mode["eigenvalue"][1].get<double>());
  for (const std::complex<double> wanted :
       {std::complex<double>(-0.775341882195845, 4.464867713788230), std::complex<double>(-0.322866429004087, 0),
        std::complex<double>(-14.078389692798220, 0)}) {
    double nearest = 1;
    for (const std::complex<double>& s : found) nearest = std::min(nearest, std::abs(s - wanted));
    EXPECT_LT(nearest, 1e-9) << wanted;
  }
  const Outcome text = command.run({"modes", model_file("bicycle.yaml"), "--around", "initial"});
  EXPECT_THAT(text.out, HasSubstr("3 of velocities, 7 of displacements, of which 5 without stiffness"));
  const Outcome linear = command.run({"linearise", model_file("bicycle.yaml"), "--json"});
  ASSERT_EQ(linear.code, 0) << linear.err;
  EXPECT_EQ(linear.json()["states"].size(), 10u);
}

// Choices are listed in the help by their words, and nothing else is taken.
TEST(Analyses, HelpListsTheWordsOfAChoice) {
  const Command command;
  EXPECT_THAT(command.run({"static", "--help"}).out, HasSubstr("{automatic,newton,load-steps,relaxation}"));
  EXPECT_THAT(command.run({"modes", "--help"}).out, HasSubstr("{automatic,dense,sparse}"));
  EXPECT_THAT(command.run({"linearise", "--help"}).out, HasSubstr("{automatic,model,bodies,all}"));
  EXPECT_EQ(command.run({"static", model_file("pendulum.yaml"), "--way", "2"}).code, 2);
  EXPECT_EQ(command.run({"static", model_file("pendulum.yaml"), "--way", "load-steps"}).code, 0);
}

// Named as the signals are: in world axes.
TEST(Analyses, ReactionsThatAreNotUniqueAreNamedInWorldAxes) {
  const Command command;
  command.write("door.yaml",
                "trammel: 1\nbodies: {door: {mass: 1, inertia: [1, 1, 1], position: [1, 0, 0]}}\n"
                "joints:\n  low: {type: revolute, between: [ground, door], at: [0, 0, 0], axis: [0, 1, 0]}\n"
                "  high: {type: revolute, between: [ground, door], at: [0, 1, 0], axis: [0, 1, 0]}\n");
  const Outcome outcome = command.run({"run", "door.yaml", "--end", "0.01", "-o", "door.csv", "--quiet"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(command.read("door.csv"),
              HasSubstr("forces along x, y and z, torques about x and z not unique, world axes"));
}

// One warning for the eight arms whose published inertias are doubtful.
TEST(Analyses, OneWarningForAllDoubtfulInertias) {
  const Command command;
  const Outcome outcome = command.run({"check", model_file("hmmwv_bump.yaml"), "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  int warnings = 0;
  const std::string text = outcome.out;
  for (std::size_t at = text.find("impossible-inertia"); at != std::string::npos;
       at = text.find("impossible-inertia", at + 1))
    ++warnings;
  EXPECT_EQ(warnings, 1);
  EXPECT_THAT(text, AllOf(HasSubstr("front_right.lower"), HasSubstr("rear_left.upper")));
}

}  // namespace
}  // namespace trammel::testing::analyses_test
