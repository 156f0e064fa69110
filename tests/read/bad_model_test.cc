// Bad model files: each names what is wrong, at its line and column, with a hint. All are read by one function, so
// every row of the tables below is one sentence a user may see.
#include <gtest/gtest.h>

#include "trammel/read/read_model.h"

namespace trammel::bad_model_test {
namespace {

std::vector<Problem> problems_of(const std::string& text, const ReadOptions& options = {}) {
  try {
    read_model_text(text, "bad.yaml", options);
  } catch (const Failure& failure) {
    return failure.problems();
  }
  return {};
}

struct Bad {
  const char* text;  // after the line "trammel: 1"
  const char* id;
  int line, column;
  const char* message;  // a part of it
  const char* hint;     // a part of it
};

void PrintTo(const Bad& bad, std::ostream* out) { *out << bad.text; }

class BadModel : public testing::TestWithParam<Bad> {};

TEST_P(BadModel, IsRefusedWithItsPlace) {
  const Bad& bad = GetParam();
  const std::vector<Problem> problems = problems_of(std::string("trammel: 1\n") + bad.text);
  ASSERT_FALSE(problems.empty()) << "was read";
  const Problem& problem = problems.front();
  const std::string shown = to_text(problem);
  EXPECT_EQ(problem.id, bad.id) << shown;
  EXPECT_EQ(problem.severity, Severity::error);
  ASSERT_NE(problem.where.file, nullptr) << shown;
  EXPECT_EQ(*problem.where.file, "bad.yaml");
  EXPECT_EQ(problem.where.line, bad.line) << shown;
  EXPECT_EQ(problem.where.column, bad.column) << shown;
  EXPECT_NE(problem.message.find(bad.message), std::string::npos) << shown;
  EXPECT_NE(problem.hint.find(bad.hint), std::string::npos) << shown;
  EXPECT_EQ(problems.size(), 1u) << Failure(problems).what();  // no problem causes another
}

INSTANTIATE_TEST_SUITE_P(
    Keys, BadModel,
    testing::Values(Bad{"bodie: {}\n", "unknown-key", 2, 1, "'bodie'", "did you mean 'bodies'?"},
                    Bad{"colour: red\n", "unknown-key", 2, 1, "'colour'", "allowed here: trammel"},
                    Bad{"bodies:\n  b:\n    mas: 1\n    mass: 1\n    inertia: [1, 1, 1]\n", "unknown-key", 4, 5,
                        "body 'b'", "'mass'"},
                    Bad{"bodies:\n  b: {kind: point, mass: 1, orientation: {axis: [0, 0, 1], angle: 1}}\n",
                        "unknown-key", 3, 29, "'orientation'", "allowed here: kind, "},
                    Bad{"bodies:\n  b: {inertia: [1, 1, 1]}\n", "missing-key", 3, 6, "body 'b': 'mass' is missing", ""},
                    Bad{"bodies:\n  b: {mass: 1}\n", "missing-key", 3, 6, "'inertia'", ""},
                    Bad{"bodies: [1, 2]\n", "wrong-type", 2, 9, "mapping of names", "name: {...}"},
                    Bad{"bodies: {b: 3}\n", "wrong-type", 2, 13, "body 'b' must be a mapping", "{key: value"},
                    Bad{"bodies: {b: }\n", "wrong-type", 2, 13, "but is empty", ""},
                    Bad{"bodies: {b: {kind: solid, mass: 1, inertia: [1, 1, 1]}}\n", "unknown-kind", 2, 20, "'solid'",
                        "planar"},
                    Bad{"bodies: {ground: {kind: point, mass: 1}}\n", "reserved-name", 2, 10, "ground", "another"},
                    Bad{"bodies: {7b: {kind: point, mass: 1}}\n", "bad-name", 2, 10, "7b", "letter first"},
                    Bad{"bodies: {a b: {kind: point, mass: 1}}\n", "bad-name", 2, 10, "a b", "letters"},
                    Bad{"bodies: {a.b: {kind: point, mass: 1}}\n", "bad-name", 2, 10, "a.b", "letters"},
                    Bad{"bodies: {\"\": {kind: point, mass: 1}}\n", "bad-name", 2, 10, "''", "letters"},
                    Bad{"title: [1]\n", "wrong-type", 2, 8, "title must be a text", ""},
                    Bad{"simulation: {ende: 3}\n", "unknown-key", 2, 14, "simulation", "'end'"},
                    Bad{"simulation: {options: {alpha: [1]}}\n", "wrong-type", 2, 31, "alpha", ""},
                    Bad{"simulation: {options: {alpha: .nan}}\n", "not-finite", 2, 31, "alpha", ""},
                    Bad{"initial: {joint: {}}\n", "unknown-key", 2, 11, "'joint'", "'joints'"}));

INSTANTIATE_TEST_SUITE_P(
    Numbers, BadModel,
    testing::Values(
        Bad{"gravity: -9.81\n", "wrong-type", 2, 10, "gravity must be a list of three numbers", "[1, 2, 3]"},
        Bad{"gravity: [0, -9.81]\n", "wrong-length", 2, 10, "but has 2", ""},
        Bad{"gravity: [0, 0, [1]]\n", "wrong-type", 2, 17, "gravity", ""},
        Bad{"gravity: [0, 0, ]\n", "wrong-length", 2, 10, "but has 2", ""},
        Bad{"bodies: {b: {kind: point, mass: [1]}}\n", "wrong-type", 2, 33, "mass must be a number, but is a list", ""},
        Bad{"bodies: {b: {kind: point, mass: .nan}}\n", "not-finite", 2, 33, "body 'b': mass is '.nan'", "ordinary"},
        Bad{"bodies: {b: {kind: point, mass: -.Inf}}\n", "not-finite", 2, 33, "'-.Inf'", ""},
        Bad{"bodies: {b: {kind: point, mass: NaN}}\n", "not-finite", 2, 33, "'NaN'", ""},
        Bad{"bodies: {b: {kind: point, mass: inf}}\n", "not-finite", 2, 33, "'inf'", ""},
        Bad{"bodies: {b: {kind: point, mass: 1e999}}\n", "not-finite", 2, 33, "'1e999'", ""},
        Bad{"bodies: {b: {kind: point, mass: }}\n", "no-value", 2, 33, "has no value", ""},
        Bad{"bodies: {b: {kind: point, mass: ''}}\n", "no-value", 2, 33, "has no value", ""},
        Bad{"bodies: {b: {kind: point, mass: M/2}}\n", "unknown-name", 2, 33, "body 'b': mass", ""},
        Bad{"bodies: {b: {kind: point, mass: \"1 + \"}}\n", "bad-expression", 2, 37, "body 'b': mass", ""},
        Bad{"bodies: {b: {kind: point, mass: 2*time}}\n", "no-time-here", 2, 35, "body 'b': mass", ""},
        Bad{"bodies: {b: {kind: point, mass: 1/0}}\n", "not-finite", 2, 34, "body 'b': mass", ""},
        Bad{"bodies: {b: {kind: point, mass: 0x10}}\n", "unknown-unit", 2, 33, "'x10'", ""},
        Bad{"bodies: {b: {kind: point, mass: 1_000}}\n", "bad-number", 2, 33, "body 'b': mass", ""},
        Bad{"bodies: {b: {kind: point, mass: 1, position: 1 2 3}}\n", "wrong-type", 2, 46, "position", "[1, 2, 3]"},
        Bad{"bodies: {b: {mass: 1, inertia: 0.1}}\n", "wrong-type", 2, 32, "ixx, iyy, izz", ""},
        Bad{"bodies: {b: {mass: 1, inertia: [1, 2]}}\n", "wrong-length", 2, 32, "but has 2", ""},
        Bad{"bodies: {b: {mass: 1, inertia: [[1, 2], [2, 1]]}}\n", "wrong-type", 2, 32, "3 rows of 3 numbers", ""},
        Bad{"bodies: {b: {mass: 1, inertia: [[1, 0, 0], [0, 1], [0, 0, 1]]}}\n", "wrong-type", 2, 44,
            "3 rows of 3 numbers", "row"},
        Bad{"bodies: {b: {kind: planar, mass: 1, inertia: [1, 1, 1]}}\n", "wrong-type", 2, 46, "must be a number",
            ""}));

INSTANTIATE_TEST_SUITE_P(
    UnitsOfValues, BadModel,
    testing::Values(
        Bad{"units: {length: furlong}\n", "unknown-unit", 2, 17, "'furlong'", "mm"},
        Bad{"units: {length: deg}\n", "wrong-unit", 2, 17, "'deg' does not fit", "'m'"},
        Bad{"units: {lenght: mm}\n", "unknown-key", 2, 9, "units", "'length'"},
        Bad{"units: mm\n", "wrong-type", 2, 8, "units must be a mapping", ""},
        Bad{"bodies: {b: {kind: point, mass: 3 mm}}\n", "wrong-unit", 2, 33, "body 'b': mass: the unit 'mm'", "'kg'"},
        Bad{"bodies: {b: {kind: point, mass: 3 kgs}}\n", "unknown-unit", 2, 33, "'kgs'", "did you mean 'kg'?"},
        Bad{"bodies: {b: {kind: point, mass: 2 pi}}\n", "unknown-unit", 2, 33, "'pi'", "*"},
        Bad{"bodies: {b: {kind: point, mass: {value: 3}}}\n", "missing-key", 2, 33, "'unit' is missing", ""},
        Bad{"bodies: {b: {kind: point, mass: {value: 3, unit: kg, more: 1}}}\n", "unknown-key", 2, 54, "'more'",
            "value, unit"},
        Bad{"bodies: {b: {kind: point, mass: 1, position: '[1, 2, 3] kg'}}\n", "wrong-unit", 2, 46, "'kg'", "'m'"},
        Bad{"simulation: {tolerance: 1 mm}\n", "wrong-unit", 2, 25, "plain number", "leave the unit out"},
        Bad{"parameters: {L: 5 mm}\nbodies: {b: {kind: point, mass: 1, position: {value: [L, 0, 0], unit: mm}}}\n",
            "wrong-unit", 3, 55, "parameters that have one", "leave the unit out"},
        Bad{"bodies: {b: {mass: 1, inertia: [1, 1, 1], angular_velocity: [0, 0, 2 Hz]}}\n", "wrong-unit", 2, 68, "'Hz'",
            "rad/s"},
        Bad{"units: {length: mm}\nparameters: {p: 3 m^3}\n", "wrong-unit", 3, 14, "not clear", "plain number"},
        Bad{"units: {angle: deg}\nbodies: {b: {mass: 1, inertia: [1, 1, 1]}}\n"
            "joints: {j: {type: revolute, between: [ground, b], at: [0, 0, 0]}}\n"
            "motions: {m: {type: rotation, joint: j, angle: 360*time}}\n",
            "unit-needed", 5, 48, "motion 'm': angle", "unit: deg"},
        Bad{"units: {length: mm}\nparameters: {L: 5}\nbodies: {b: {kind: point, mass: 1}}\n"
            "forces: {f: {type: force, between: [ground, b], at: [0, 0, 0], fx: L*time}}\n",
            "unit-needed", 5, 68, "parameter 'L'", "L: {value: ..., unit: ...}"},
        Bad{"units: {angle: deg}\nbodies: {b: {kind: point, mass: 1, position: [cos(180), 0, 0]}}\n", "unit-needed", 3,
            47, "plain number", "phi: 30 deg"},
        Bad{"units: {angle: deg}\nparameters: {b: 30, c: cos(b)}\n", "unit-needed", 3, 24, "plain number", "DTOR"},
        Bad{"units: {angle: deg}\nparameters: {a: 30 deg, r: 2 m}\n"
            "bodies: {b: {kind: point, mass: 1, position: [r*a, 0, 0]}}\n",
            "wrong-unit", 4, 47, "keeps an angle as a factor", "units: {angle: rad}"},
        Bad{"units: {angle: deg}\nparameters: {a: {value: \"atan2(1, 1)\", unit: deg}}\n", "wrong-unit", 3, 26,
            "gives an angle", "RTOD"}));

INSTANTIATE_TEST_SUITE_P(
    Parameters, BadModel,
    testing::Values(
        Bad{"parameters: [1]\n", "wrong-type", 2, 13, "parameters must be a mapping", "{L: 0.5"},
        Bad{"parameters: {a: b, b: 1, c: d*a, d: 2*c}\n", "parameter-cycle", 2, 26, "c -> d -> c", "a number"},
        Bad{"parameters: {a: a}\n", "parameter-cycle", 2, 14, "parameter 'a'", ""},
        Bad{"parameters: {width: 1, b: widht2}\n", "unknown-name", 2, 27, "parameter 'b'", "did you mean 'width'?"},
        Bad{"parameters: {a: [1, [2]]}\n", "wrong-type", 2, 21, "parameter 'a' must be", ""},
        Bad{"parameters: {a: .inf}\n", "not-finite", 2, 17, "parameter 'a'", ""},
        Bad{"parameters: {a: }\n", "wrong-type", 2, 17, "but is empty", ""},
        Bad{"parameters: {pi: 3}\n", "reserved-name", 2, 14, "'pi'", "another name"},
        Bad{"parameters: {sin: 3}\n", "reserved-name", 2, 14, "'sin'", "another name"},
        Bad{"parameters: {angle: 3}\n", "reserved-name", 2, 14, "'angle'", "another name"},
        Bad{"parameters: {a-b: 3}\n", "bad-name", 2, 14, "'a-b'", "letters"}));

const char* const two_bodies =
    "bodies: {b: {mass: 1, inertia: [1, 1, 1]}, crank: {mass: 1, inertia: [1, 1, 1]}}\n"
    "frames: {tip: {body: b}}\n";

class BadItem : public testing::TestWithParam<Bad> {};

// The same with two bodies and a frame before it, so that the text starts in line 4.
TEST_P(BadItem, IsRefusedWithItsPlace) {
  const Bad& bad = GetParam();
  const std::vector<Problem> problems = problems_of(std::string("trammel: 1\n") + two_bodies + bad.text);
  ASSERT_FALSE(problems.empty()) << "was read";
  const std::string shown = to_text(problems.front());
  EXPECT_EQ(problems.front().id, bad.id) << shown;
  EXPECT_EQ(problems.front().where.line, bad.line) << shown;
  EXPECT_EQ(problems.front().where.column, bad.column) << shown;
  EXPECT_NE(problems.front().message.find(bad.message), std::string::npos) << shown;
  EXPECT_NE(problems.front().hint.find(bad.hint), std::string::npos) << shown;
  EXPECT_EQ(problems.size(), 1u) << Failure(problems).what();
}

INSTANTIATE_TEST_SUITE_P(
    Joints, BadItem,
    testing::Values(
        Bad{"joints: {j: {type: revolut, between: [ground, b], at: [0, 0, 0]}}\n", "unknown-type", 4, 20, "joint 'j'",
            "'revolute'"},
        Bad{"joints: {j: {type: gluon, between: [ground, b], at: [0, 0, 0]}}\n", "unknown-type", 4, 20, "'gluon'",
            "types: fixed"},
        Bad{"joints: {j: {between: [ground, b], at: [0, 0, 0]}}\n", "missing-key", 4, 13, "'type' is missing",
            "types: fixed revolute"},
        Bad{"joints: {j: {type: fixed, between: [ground, crnk], at: [0, 0, 0]}}\n", "unknown-body", 4, 45,
            "no body 'crnk'", "'crank'"},
        Bad{"joints: {j: {type: fixed, between: [ground, tip], at: [0, 0, 0]}}\n", "unknown-body", 4, 45, "'tip'",
            "frames: [..]"},
        Bad{"joints: {j: {type: fixed, between: [ground, []], at: [0, 0, 0]}}\n", "wrong-type", 4, 45, "name of a body",
            ""},
        Bad{"joints: {j: {type: fixed, between: ground, at: [0, 0, 0]}}\n", "wrong-type", 4, 36, "must name two",
            "[ground, body]"},
        Bad{"joints: {j: {type: fixed, between: [b, crank, ground], at: [0, 0, 0]}}\n", "wrong-type", 4, 36,
            "must name two", ""},
        Bad{"joints: {j: {type: fixed, between: [ground, b]}}\n", "missing-key", 4, 10, "'at' is missing",
            "at: [x, y, z]"},
        Bad{"joints: {j: {type: fixed}}\n", "missing-key", 4, 10, "what it acts between", "between"},
        Bad{"joints: {j: {type: fixed, frames: [tip, ground], between: [ground, b], at: [0, 0, 0]}}\n", "conflict", 4,
            10, "twice", ""},
        Bad{"joints: {j: {type: fixed, frames: [tip, ground], at: [0, 0, 0]}}\n", "conflict", 4, 54, "`between` only",
            "as they are"},
        Bad{"joints: {j: {type: fixed, frames: [tip, top]}}\n", "unknown-frame", 4, 41, "'top'", "'tip'"},
        Bad{"joints: {j: {type: fixed, frames: [tip]}}\n", "wrong-type", 4, 35, "must name two",
            "frames: [frame, frame]"},
        Bad{"joints: {j: {type: revolute, between: [ground, b], at: [0, 0, 0], axis: [0, 0, 0]}}\n", "zero-axis", 4, 73,
            "joint 'j': axis", "[0, 0, 1]"},
        Bad{"joints: {j: {type: revolute, between: [ground, b], at: [0, 0, 0], axis: [0, 1, 0], x_axis: [0, 2, 0]}}\n",
            "parallel-axes", 4, 92, "x_axis", ""},
        Bad{"joints: {j: {type: revolute, between: [ground, b], at: [0, 0], axis: [0, 1, 0]}}\n", "wrong-length", 4, 56,
            "three numbers", ""},
        Bad{"joints: {j: {type: revolute, between: [ground, b], at: [0, 0, 0], axes: [0, 1, 0]}}\n", "unknown-key", 4,
            67, "'axes'", "'axis'"},
        Bad{"joints: {j: {type: universal, between: [ground, b], at: [0, 0, 0], axis: [0, 1, 0]}}\n", "missing-key", 4,
            10, "'axis_b'", "cross"},
        Bad{"joints: {j: {type: universal, between: [ground, b], at: [0, 0, 0], axis: [0, 1, 0], axis_b: [0, 1, 1]}}\n",
            "not-perpendicular", 4, 93, "'axis_b'", "right angles"},
        Bad{"joints: {j: {type: distance, between: [ground, b], at: [[0, 0, 0], [1, 0, 0]], length: -2}}\n",
            "out-of-range", 4, 88, "joint 'j': length is -2 m, but must be at least 0 m", ""}));

INSTANTIATE_TEST_SUITE_P(
    MotionsAndForces, BadItem,
    testing::Values(
        Bad{"motions: {m: {type: rotation, joint: pn, angle: 1}}\njoints: {pin: {type: revolute, between: [ground, b], "
            "at: [0, 0, 0]}}\n",
            "unknown-joint", 4, 38, "'pn'", "'pin'"},
        Bad{"motions: {m: {type: rotation, frames: [ground, b], angel: 1}}\n", "unknown-key", 4, 52, "'angel'",
            "'angle'"},
        Bad{"motions: {m: {type: rotation, frames: [ground, b], angle: [1]}}\n", "wrong-type", 4, 59,
            "motion 'm': angle", "quotes"},
        Bad{"motions: {m: {type: rotation, frames: [ground, b], angle: .inf}}\n", "not-finite", 4, 59, "angle", ""},
        Bad{"forces: {f: {type: force, between: [ground, b], at: [0, 0, 0], fx: dx(ground, b)}}\n", "unknown-key", 4,
            79, "'b)'", "quotes"},
        Bad{"forces: {f: {type: translational_spring_damper, between: [ground, b], at: [[0, 0, 0], [1, 0, 0]], "
            "damping: -3 N*s/mm}}\n",
            "out-of-range", 4, 108, "force 'f': damping is -3000 N s/m, but must be at least 0 N s/m", ""},
        Bad{"forces: {f: {type: translational_spring_damper, between: [ground, b], stiffness: 1}}\n", "missing-key", 4,
            10, "'at'", "[[x, y, z], [x, y, z]]"},
        Bad{"forces: {f: {type: bushing, between: [ground, b], at: [0, 0, 0], stiffness: 3}}\n", "wrong-type", 4, 77,
            "list of three", ""},
        Bad{"forces: {f: {type: bushing, between: [ground, b], at: [0, 0, 0], stiffness_matrix: [1, 2]}}\n",
            "wrong-type", 4, 84, "6 rows of 6", ""},
        Bad{"forces: {f: {type: bushing, between: [ground, b], at: [0, 0, 0], stiffness_matrix: {value: 3, unit: "
            "N/m}}}\n",
            "wrong-type", 4, 84, "several units", ""}));

INSTANTIATE_TEST_SUITE_P(
    FramesStartAndShapes, BadItem,
    testing::Values(
        Bad{"initial: {joints: {pin: {angle: 1}}}\n", "unknown-joint", 4, 20, "'pin'", "joints"},
        Bad{"initial: {bodies: {crunk: {velocity: [0, 0, 1]}}}\n", "unknown-body", 4, 20, "'crunk'", "'crank'"},
        Bad{"initial: {bodies: {ground: {velocity: [0, 0, 1]}}}\n", "reserved-name", 4, 20, "ground does not move", ""},
        Bad{"initial: {bodies: {b: {mass: 3}}}\n", "unknown-key", 4, 24, "'mass'", "position"},
        Bad{"initial: {bodies: {b: {keep: [mass]}}}\n", "unknown-key", 4, 31, "'mass'", "keep: [position"},
        Bad{"initial: {bodies: {b: {keep: position}}}\n", "wrong-type", 4, 30, "must be a list", "keep: [position"},
        Bad{"shapes: {s: {body: b, type: bx, size: [1, 1, 1]}}\n", "unknown-type", 4, 29, "'bx'", "'box'"},
        Bad{"shapes: {s: {body: b, type: box, size: [1, 1]}}\n", "wrong-length", 4, 40, "edges", "3 numbers"},
        Bad{"shapes: {s: {body: c, type: sphere, size: [1]}}\n", "unknown-body", 4, 20, "shape 's'", ""},
        Bad{"outputs: {o: {expresion: time}}\n", "unknown-key", 4, 15, "'expresion'", "'expression'"},
        Bad{"outputs: {o: {unit: m}}\n", "missing-key", 4, 14, "'expression' is missing", "keys: expression, unit"},
        Bad{"outputs: {o: [1]}\n", "wrong-type", 4, 14, "output 'o'", ""},
        Bad{"outputs: {o: }\n", "no-value", 4, 14, "output 'o'", ""}));

INSTANTIATE_TEST_SUITE_P(
    Orientations, BadModel,
    testing::Values(
        Bad{"frames: {f: {body: ground, orientation: 30}}\n", "wrong-type", 2, 41, "orientation must be a mapping",
            "axis: [0, 0, 1]"},
        Bad{"frames: {f: {body: ground, orientation: {axis: [0, 0, 1]}}}\n", "wrong-orientation", 2, 41,
            "exactly one way", ""},
        Bad{"frames: {f: {body: ground, orientation: {axis: [0, 0, 1], angle: 1, quaternion: [1, 0, 0, 0]}}}\n",
            "wrong-orientation", 2, 41, "exactly one way", ""},
        Bad{"frames: {f: {body: ground, orientation: {axis: [0, 0, 0], angle: 1}}}\n", "zero-axis", 2, 48, "frame 'f'",
            ""},
        Bad{"frames: {f: {body: ground, orientation: {quaternion: [1, 1, 0, 0]}}}\n", "quaternion-norm", 2, 54,
            "length 1.41", "w first"},
        Bad{"frames: {f: {body: ground, orientation: {quaternion: [1, 0, 0]}}}\n", "wrong-length", 2, 54,
            "[w, x, y, z]", ""},
        Bad{"frames: {f: {body: ground, orientation: {matrix: [[1, 0, 0], [0, 1, 0], [0, 0, -1]]}}}\n",
            "wrong-orientation", 2, 50, "not a rotation", "right-handed"},
        Bad{"frames: {f: {body: ground, orientation: {euler: [1, 2, 3], sequence: zz}}}\n", "wrong-orientation", 2, 70,
            "'zz'", "zxz"},
        Bad{"frames: {f: {body: ground, orientation: {euler: [1, 2, 3], sequence: abc}}}\n", "wrong-orientation", 2, 70,
            "'abc'", "zxz"},
        Bad{"frames: {f: {body: ground, orientation: {x_axis: [1, 0, 0], z_axis: [-2, 0, 0]}}}\n", "parallel-axes", 2,
            50, "parallel", ""},
        Bad{"frames: {f: {body: ground, position: [0, 0, 0], at: [0, 0, 0]}}\n", "conflict", 2, 53,
            "both 'position' and 'at'", "world"},
        Bad{"frames: {f: {body: ground, axis: [0, 0, 1], orientation: {axis: [0, 0, 1], angle: 1}}}\n", "conflict", 2,
            58, "both 'orientation'", ""},
        Bad{"frames: {f: {position: [0, 0, 0]}}\n", "missing-key", 2, 13, "'body' is missing", ""},
        Bad{"bodies: {b: {kind: point, mass: 1}}\nframes: {b: {body: b}}\n", "duplicate-name", 3, 10,
            "a body has this name", "share"}));

TEST(BadFile, VersionIsNeeded) {
  std::vector<Problem> problems = problems_of("bodies: {}\n");
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].id, "missing-key");
  EXPECT_EQ(problems[0].where.line, 1);
  EXPECT_EQ(problems[0].where.column, 1);
  EXPECT_NE(problems[0].hint.find("trammel: 1"), std::string::npos);
  problems = problems_of("trammel: 2\n");
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].id, "wrong-version");
  EXPECT_EQ(problems[0].where.column, 10);
  EXPECT_EQ(problems_of("[1, 2]")[0].id, "wrong-type");
  EXPECT_EQ(problems_of("hello")[0].id, "wrong-type");
}

TEST(BadFile, UnknownOverride) {
  ReadOptions options;
  options.set("lenght=3");
  std::vector<Problem> problems = problems_of("trammel: 1\nparameters: {length: 1, m: 2}\n", options);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].id, "unknown-parameter");
  EXPECT_EQ(problems[0].hint, "did you mean 'length'?");
  problems = problems_of("trammel: 1\n", options);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_NE(problems[0].hint.find("no parameters"), std::string::npos);
}

TEST(BadFile, BadOverrideValue) {
  for (const char* setting : {"L=3 deg", "L=abc", "L=1 +", "L=nan", "L=1e999", "L=3 furlong", "L= ", "L=time"}) {
    ReadOptions options;
    options.set(setting);
    const std::vector<Problem> problems = problems_of("trammel: 1\nparameters: {L: 1 m}\n", options);
    ASSERT_EQ(problems.size(), 1u) << setting;
    EXPECT_NE(problems[0].message.find("--set"), std::string::npos) << to_text(problems[0]);
  }
}

TEST(BadFile, AllProblemsAtOnceInFileOrder) {
  const std::vector<Problem> problems = problems_of(
      "trammel: 1\noutputs: {o: [1]}\njoints:\n  j: {type: revolute, between: [ground, a], at: [0, 0]}\n"
      "bodies:\n  a: {mass: x, inertia: [1, 1, 1], colour: 2}\n  a: {}\n");
  std::vector<int> lines;
  for (const Problem& problem : problems) lines.push_back(problem.where.line);
  EXPECT_EQ(lines, (std::vector<int>{2, 4, 6, 6, 7, 7, 7})) << Failure(problems).what();
}

TEST(BadFile, ABadParameterIsNotReportedForItsUsers) {
  const std::vector<Problem> problems = problems_of(
      "trammel: 1\nparameters: {a: x, b: 1/a, c: b}\nbodies: {p: {kind: point, mass: 1/c, position: [a, b, c]}}\n");
  EXPECT_EQ(problems.size(), 1u) << Failure(problems).what();
}

TEST(BadFile, AMissingBodyIsNotReportedForItsFramesAgain) {
  // A body that was read badly is still there for others to name.
  const std::vector<Problem> problems = problems_of(
      "trammel: 1\nbodies: {a: {mass: bad, inertia: [1, 1, 1]}}\nframes: {f: {body: a}}\n"
      "joints: {j: {type: fixed, frames: [f, ground]}, k: {type: nonsense, between: [a, ground]}}\n"
      "motions: {m: {type: rotation, joint: k, angle: 1}}\n");
  EXPECT_EQ(problems.size(), 2u) << Failure(problems).what();
}

}  // namespace
}  // namespace trammel::bad_model_test
