// Parts of the language that stand for many things: include, parameters in any order, lists, repetition, conditions,
// subsystems, inputs, coordinates. Each is compared with the model written out by hand, or built in C++.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "trammel/check/check_model.h"
#include "trammel/read/read_model.h"

namespace trammel::language_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A few files in memory.
struct Files {
  std::map<std::string, std::string> texts;
  ReadOptions options() const {
    ReadOptions result;
    result.open = [this](const std::string& path) -> std::string {
      const auto found = texts.find(path);
      if (found == texts.end())
        throw Failure({Severity::error, "cannot-read", "there is no such file", "check it", {}});
      return found->second;
    };
    return result;
  }
  Model read(const std::string& name = "main.yaml") const { return read_model_text(texts.at(name), name, options()); }
};

Model read_text(const std::string& text) { return read_model_text("trammel: 1\n" + text, "test.yaml"); }

std::vector<Problem> problems_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Failure& failure) {
    return failure.problems();
  }
  return {};
}

std::vector<std::string> names_of(const std::vector<Body>& bodies) {
  std::vector<std::string> names;
  for (const Body& body : bodies) names.push_back(body.name);
  return names;
}

void expect_same(const Model& a, const Model& b) {
  ASSERT_EQ(names_of(a.bodies), names_of(b.bodies));
  for (std::size_t i = 0; i < a.bodies.size(); ++i) {
    EXPECT_EQ(a.bodies[i].mass, b.bodies[i].mass);
    EXPECT_TRUE(a.bodies[i].inertia.isApprox(b.bodies[i].inertia, 1e-14)) << a.bodies[i].name;
    EXPECT_TRUE(a.bodies[i].pose.position.isApprox(b.bodies[i].pose.position, 1e-14)) << a.bodies[i].name;
    EXPECT_LT(a.bodies[i].pose.rotation.angularDistance(b.bodies[i].pose.rotation), 1e-7);
  }
  ASSERT_EQ(a.joints.size(), b.joints.size());
  for (std::size_t i = 0; i < a.joints.size(); ++i) {
    EXPECT_EQ(a.joints[i].name, b.joints[i].name);
    EXPECT_EQ(a.joints[i].type, b.joints[i].type);
    ASSERT_EQ(a.joints[i].frames.size(), b.joints[i].frames.size());
    for (std::size_t k = 0; k < a.joints[i].frames.size(); ++k) {
      const Frame& x = a.frames[static_cast<std::size_t>(a.joints[i].frames[k])];
      const Frame& y = b.frames[static_cast<std::size_t>(b.joints[i].frames[k])];
      EXPECT_EQ(x.body, y.body);
      EXPECT_TRUE((x.local.position - y.local.position).norm() < 1e-14) << a.joints[i].name;
    }
  }
}

TEST(Language, RepetitionEqualsWritingOut) {
  const Model made = read_text(R"yaml(
parameters: {n: 3, L: 0.5}
repeat:
  index: i
  to: n
  bodies:
    link$(i): {mass: i, inertia: [i, i, i], position: [(i - 1/2)*L, 0, 0]}
  joints:
    pin$(i): {type: revolute, between: ["$(i > 1 ? 'link$(i-1)' : 'ground')", link$(i)], at: [(i - 1)*L, 0, 0]}
)yaml");
  const Model written = read_text(R"yaml(
bodies:
  link1: {mass: 1, inertia: [1, 1, 1], position: [0.25, 0, 0]}
  link2: {mass: 2, inertia: [2, 2, 2], position: [0.75, 0, 0]}
  link3: {mass: 3, inertia: [3, 3, 3], position: [1.25, 0, 0]}
joints:
  pin1: {type: revolute, between: [ground, link1], at: [0, 0, 0]}
  pin2: {type: revolute, between: [link1, link2], at: [0.5, 0, 0]}
  pin3: {type: revolute, between: [link2, link3], at: [1, 0, 0]}
)yaml");
  expect_same(made, written);
  EXPECT_EQ(made.joints[2].where.line, 10);
  EXPECT_TRUE(check_model(made).empty());
}

TEST(Language, RepetitionsNestAndBind) {
  const Model model = read_text(R"yaml(
parameters: {w: [2, 3]}
repeat:
  - index: i
    to: 2
    parameters: {m: 10*i, twice: 2*m}
    repeat:
      - index: side
        values: [left, right]
        bodies:
          b$(i)$(side): {when: "i > 1 or w(i) > 1", kind: point, mass: twice + w(i)}
      - index: k
        from: 3
        to: 1
        step: -2
        bodies:
          c$(i)_$(k): {when: i == 2, kind: point, mass: k*w(i)}
  - {index: n, to: 0, bodies: {never$(n): {kind: point, mass: 1}}}
)yaml");
  EXPECT_THAT(names_of(model.bodies), ElementsAre("b1left", "b1right", "b2left", "b2right", "c2_3", "c2_1"));
  EXPECT_EQ(model.bodies[0].mass, 22);
  EXPECT_EQ(model.bodies[3].mass, 43);
  EXPECT_EQ(model.bodies[4].mass, 9);
}

TEST(Language, ExpressionsOfTheRunGetTheirIndex) {
  const Model model = read_text(R"yaml(
parameters: {a: [5, 7], b: 2}
repeat:
  index: i
  from: -1
  to: 1
  step: 2
  bodies:
    p$(i + 1): {kind: point, mass: 1}
  forces:
    f$(i + 1): {type: force, frames: [ground, p$(i + 1)], fx: "i^2*b*time - a(1.5 + i/2)*dx(p$(i + 1), ground)"}
)yaml");
  ASSERT_EQ(model.forces.size(), 2u);
  EXPECT_EQ(model.forces[0].fields.get<ExpressionText>("fx").text, "(-1)^2*b*time - 5*dx(p0, ground)");
  EXPECT_EQ(model.forces[1].fields.get<ExpressionText>("fx").text, "1^2*b*time - 7*dx(p2, ground)");
}

TEST(Language, ParametersInAnyOrder) {
  const Model model =
      read_text("parameters: {m: rho*V, V: L^3, rho: 1000, L: 2}\nbodies: {b: {kind: point, mass: m}}\n");
  EXPECT_EQ(model.bodies[0].mass, 8000);
  ReadOptions options;
  options.set("L=rho/1000");
  EXPECT_EQ(read_model_text("trammel: 1\nparameters: {m: rho*L, L: m, rho: 1000}\n", "t", options).parameters[0].value,
            1000);
  // A chain in reverse order is no deep recursion.
  std::string text = "parameters:\n";
  for (int i = 20000; i > 0; --i) text += "  p" + std::to_string(i) + ": p" + std::to_string(i - 1) + " + 1\n";
  EXPECT_EQ(read_text(text + "  p0: 0\n").parameters[0].value, 20000);
}

TEST(Language, MistakesNameTheIndex) {
  const auto problems = problems_of([] {
    read_text("repeat:\n  - index: i\n    to: 3\n    bodies:\n      b$(i): {kind: point, mass: 1/(2 - i)}\n");
  });
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_THAT(problems[0].message, HasSubstr("(i = 2)"));
  EXPECT_EQ(problems[0].where.line, 6);
}

TEST(Language, IncludedFilesShareNames) {
  Files files;
  files.texts["main.yaml"] =
      "trammel: 1\ninclude: [sub/b.yaml, sub/c.yaml]\nbodies: {a: {kind: point, mass: m}}\nparameters: {k: 2*m}\n";
  files.texts["sub/b.yaml"] = "trammel: 1\ninclude: c.yaml\nbodies: {b: {kind: point, mass: k}}\n";
  files.texts["sub/c.yaml"] = "trammel: 1\nparameters: {m: 3}\n";
  const Model model = files.read();
  EXPECT_THAT(names_of(model.bodies), ElementsAre("a", "b"));
  EXPECT_EQ(model.bodies[1].mass, 6);
  EXPECT_EQ(*model.bodies[1].where.file, "sub/b.yaml");
  EXPECT_EQ(model.bodies[1].where.line, 3);
  for (const auto& file : files.texts) EXPECT_THAT(model.text, HasSubstr(file.second));  // provenance
}

TEST(Language, IncludesThatGoWrong) {
  Files files;
  files.texts["main.yaml"] = "trammel: 1\ninclude: a.yaml\n";
  files.texts["a.yaml"] = "trammel: 1\ninclude: b.yaml\n";
  files.texts["b.yaml"] = "trammel: 1\n\ninclude: main.yaml\n";
  auto problems = problems_of([&] { files.read(); });
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].id, "include-cycle");
  EXPECT_EQ(*problems[0].where.file, "b.yaml");
  EXPECT_EQ(problems[0].where.line, 3);
  EXPECT_THAT(problems[0].message, HasSubstr("main.yaml -> a.yaml -> b.yaml -> main.yaml"));

  files.texts["a.yaml"] = "trammel: 1\nbodies: {x: {kind: point, mass: [1}}\n";
  problems = problems_of([&] { files.read(); });
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].id, "not-yaml");
  EXPECT_EQ(*problems[0].where.file, "a.yaml");

  files.texts["main.yaml"] = "trammel: 1\ninclude: a.yaml\ngravity: [0, 0, -1]\nbodies: {x: {kind: point, mass: 1}}\n";
  files.texts["a.yaml"] = "trammel: 1\ngravity: [0, 0, -2]\nbodies: {x: {kind: point, mass: 2}}\n";
  problems = problems_of([&] { files.read(); });
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_EQ(problems[0].id, "duplicate-key");
  EXPECT_EQ(problems[1].id, "duplicate-name");
  EXPECT_EQ(*problems[1].where.file, "a.yaml");
}

const char* const cart = R"yaml(trammel: 1
units: {length: cm}
parameters: {m: 2, l: 50 cm, plain: 1}
inputs: {push: {value: 4, unit: N}}
interface: [hook]
gravity: [0, 0, -981]
bodies:
  box: {mass: m, inertia: [10000, 10000, 10000], position: [0, 0, 10]}
  bob: {kind: point, mass: plain, position: [0, 0, 10 - l]}
frames:
  hook: {body: box, at: [15, 0, 10]}
  wall: {body: ground, position: [0, 0, 10]}
joints:
  rail: {type: translational, frames: [wall, box]}
forces:
  drive: {type: force, frames: [ground, box], fx: "push + 0*dx(box, hook)"
}
outputs:
  swing: "dx(bob, box)"
)yaml";

TEST(Language, SubsystemsAreCopiesWithTheirOwnNames) {
  Files files;
  files.texts["main.yaml"] = R"yaml(trammel: 1
parameters: {d: 2 m}
subsystems: {cart: {file: parts/cart.yaml}}
use:
  left: {subsystem: cart}
  right:
    file: parts/cart.yaml
    parameters: {m: 3, l: d/5, plain: 7}
    inputs: {push: "2*sin(time)"
}
    position: [d, 1, 0]
    orientation: {axis: [0, 0, 1], angle: 90 deg}
forces:
  spring: {type: translational_spring_damper, frames: [left.hook, right.hook], stiffness: 3}
outputs:
  gap: "distance(left.hook, right.hook)"
)yaml";
  files.texts["parts/cart.yaml"] = cart;
  const Model model = files.read();
  EXPECT_THAT(names_of(model.bodies), ElementsAre("left.box", "left.bob", "right.box", "right.bob"));
  EXPECT_EQ(model.gravity, Vec3::Zero());  // the model's own
  EXPECT_EQ(model.bodies[0].mass, 2);
  EXPECT_EQ(model.bodies[2].mass, 3);
  EXPECT_NEAR(model.bodies[0].inertia(0, 0), 1, 1e-14);
  EXPECT_LT((model.bodies[1].pose.position - Vec3(0, 0, -0.4)).norm(), 1e-14);
  EXPECT_LT((model.bodies[3].pose.position - Vec3(2, 1, -0.3)).norm(), 1e-14);
  EXPECT_EQ(model.bodies[3].mass, 7);
  const int hook = model.find_frame("right.hook");
  ASSERT_GE(hook, 0);
  EXPECT_LT((model.frame_pose(hook).position - Vec3(2, 1.15, 0.1)).norm(), 1e-14);
  EXPECT_LT((model.frames[static_cast<std::size_t>(hook)].local.position - Vec3(0.15, 0, 0)).norm(), 1e-14);
  const int wall = model.find_frame("right.wall");
  EXPECT_LT((model.frame_pose(wall).position - Vec3(2, 1, 0.1)).norm(), 1e-14);
  EXPECT_LT((model.frame_pose(model.forces[2].frames[0]).position - Vec3(2, 1, 0)).norm(), 1e-14);  // its ground
  EXPECT_EQ(model.forces[1].fields.get<ExpressionText>("fx").text, "(4) + 0*dx(left.box, left.hook)");
  EXPECT_EQ(model.forces[2].fields.get<ExpressionText>("fx").text, "(2*sin(time)) + 0*dx(right.box, right.hook)");
  EXPECT_EQ(model.outputs[1].name, "left.swing");
  EXPECT_EQ(model.outputs[1].expression.text, "dx(left.bob, left.box)");
  EXPECT_TRUE(model.inputs.empty());
  EXPECT_THAT(model.text, HasSubstr(cart));
}

TEST(Language, SubsystemsNestAndConnect) {
  const Model model = read_text(R"yaml(
subsystems:
  link:
    needs: [before]
    parameters: {m: 1}
    inputs: {pull: 0}
    bodies: {rod: {mass: m, inertia: [1, 1, 1]}}
    joints: {pin: {type: spherical, frames: [before, rod]}}
    forces: {f: {type: force, frames: [ground, rod], fz: pull*time}}
  pair:
    needs: [top]
    inputs: {load: 1}
    use:
      a: {subsystem: link, connect: {before: top}, inputs: {pull: 2*load}}
      b: {subsystem: link, connect: {before: a.rod}, parameters: {m: 2}}
inputs: {u: 3}
frames: {nail: {body: ground, position: [0, 0, 1]}}
use:
  chain: {subsystem: pair, connect: {top: nail}, inputs: {load: u + 1}}
)yaml");
  EXPECT_THAT(names_of(model.bodies), ElementsAre("chain.a.rod", "chain.b.rod"));
  EXPECT_EQ(model.bodies[1].mass, 2);
  ASSERT_EQ(model.joints.size(), 2u);
  EXPECT_EQ(model.joints[0].frames[0], model.find_frame("nail"));
  EXPECT_EQ(model.frames[static_cast<std::size_t>(model.joints[1].frames[0])].body, 0);
  EXPECT_EQ(model.forces[0].fields.get<ExpressionText>("fz").text, "(2*(u + 1))*time");
  ASSERT_EQ(model.inputs.size(), 1u);
  EXPECT_EQ(model.inputs[0].name, "u");
  EXPECT_EQ(model.inputs[0].value, 3);
}

TEST(Language, CoordinatesAreScalarBodies) {
  const Model model = read_text(R"yaml(
units: {angle: deg}
coordinates:
  phi: {quantity: angle, value: 180, speed: 90, keep: [value]}
  s: {mass: 2, value: 3}
initial:
  coordinates:
    s: {speed: 4, keep: [speed]}
)yaml");
  ASSERT_EQ(model.bodies.size(), 2u);
  EXPECT_EQ(model.bodies[0].kind, "scalar");
  EXPECT_NEAR(model.bodies[0].pose.position.x(), 3.14159265358979, 1e-14);
  EXPECT_NEAR(model.bodies[0].velocity.x(), 1.5707963267949, 1e-13);
  EXPECT_TRUE(model.bodies[0].keep_position);
  EXPECT_EQ(model.bodies[1].mass, 2);
  EXPECT_EQ(model.bodies[1].velocity.x(), 4);
  EXPECT_TRUE(model.bodies[1].keep_velocity);
}

TEST(Language, KeepTakesComponents) {
  const Model model = read_text(R"yaml(
bodies:
  b: {mass: 1, inertia: [1, 1, 1]}
  p: {kind: planar, mass: 1, inertia: 1}
initial:
  bodies:
    b: {keep: [position.x, orientation.z, velocity, angular_velocity.y]}
    p: {keep: [position.y, orientation.z]}
)yaml");
  const Body &b = model.bodies[0], &p = model.bodies[1];
  EXPECT_TRUE(b.keep_position.x && !b.keep_position.y && !b.keep_position.z);
  EXPECT_TRUE(b.keep_orientation.z && b.keep_orientation.any() && !b.keep_orientation);
  EXPECT_TRUE(static_cast<bool>(b.keep_velocity));
  EXPECT_TRUE(b.keep_angular_velocity.y && !b.keep_angular_velocity.x);
  EXPECT_TRUE(p.keep_position.y && !p.keep_position.x && p.keep_orientation);
  for (const char* wrong : {"position.w", "position.", "angle.z", "spin.x", "position.xy"}) {
    const auto problems = problems_of([&] {
      read_text("bodies: {b: {mass: 1, inertia: [1, 1, 1]}}\ninitial: {bodies: {b: {keep: [" + std::string(wrong) +
                "]}}}\n");
    });
    ASSERT_EQ(problems.size(), 1u) << wrong;
    EXPECT_EQ(problems[0].id, "unknown-key") << wrong;
  }
}

}  // namespace
}  // namespace trammel::language_test
