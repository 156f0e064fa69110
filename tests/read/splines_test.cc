// Splines and tables of model files: inline and from CSV files, in units, and what is said about wrong ones.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "trammel/read/read_model.h"

namespace trammel::splines_test {
namespace {

class SplineFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("trammel-splines-" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  Model read(const std::string& text) const {
    return read_model_text("trammel: 1\n" + text, (folder_ / "model.yaml").string());
  }
  Problem problem(const std::string& text) const {
    try {
      read(text);
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.problems().size(), 1u) << failure.what();
      return failure.problems()[0];
    }
    ADD_FAILURE() << "was read";
    return {};
  }

  std::filesystem::path folder_;
};

TEST_F(SplineFiles, AreReadInline) {
  const Model model = read(R"(parameters: {top: 9}
splines:
  a: {points: [[0, 0], [1, 1], [2, 4], [3, top]]}
  b: {type: cubic, ends: clamped, slopes: [0, 6], x: [0, 1, 2, 3], y: [0, 1, 4, 9], extrapolation: none}
  c: {type: cubic, ends: periodic, x: [0, 90, 180, 270, 360], y: [0, 1, 0, -1, 0], units: [deg, mm]}
  d: {type: linear, x: [0, 1], y: [2, 3], extrapolation: constant}
)");
  ASSERT_EQ(model.splines.size(), 4u);
  EXPECT_EQ(model.splines[0].name, "a");
  EXPECT_EQ(model.splines[0].where.line, 4);
  EXPECT_EQ(model.splines[0].spline->data().kind, SplineKind::akima);
  EXPECT_NEAR(model.splines[0].spline->value(2.5), 6.25, 1e-13);
  EXPECT_NEAR(model.splines[1].spline->value(2.5), 6.25, 1e-13);
  EXPECT_TRUE(std::isnan(model.splines[1].spline->value(3.5)));
  EXPECT_NEAR(model.splines[2].spline->value(std::acos(0.0) * 5), 1e-3, 1e-15);
  EXPECT_EQ(model.splines[3].spline->value(7), 3);
}

TEST_F(SplineFiles, ScaleSlopesWithTheUnits) {
  const Model model =
      read("splines: {s: {type: cubic, ends: clamped, slopes: [2, 2], x: [0, 10], y: [0, 20], units: [mm, kN]}}\n");
  EXPECT_NEAR(model.splines[0].spline->derivatives(0.005)[1], 2e3 / 1e-3, 1e-6);
  EXPECT_NEAR(model.splines[0].spline->value(0.005), 10e3, 1e-9);
}

TEST_F(SplineFiles, ComeFromCsvFiles) {
  write("motor.csv",
        "\xEF\xBB\xBF# measured\r\nspeed, current, torque\r\n\r\n0, 1, 20\r\n1000, 2, 15\r\n2000, 3, 0\r\n");
  write("plain.txt", "0 0\n1\t1\n 2   4 \n3 9\n");
  write("german.csv", "0;1\n1;2\n2;3\n");
  const Model model = read(R"(splines:
  by_name: {type: cubic, file: motor.csv, columns: [speed, torque], units: [rpm, N*m]}
  by_number: {type: cubic, file: motor.csv, columns: [1, 2]}
  plain: {file: plain.txt}
  german: {file: german.csv}
)");
  EXPECT_NEAR(model.splines[0].spline->data().x[1], 1000 * 2 * std::acos(-1.0) / 60, 1e-9);
  EXPECT_EQ(model.splines[0].spline->data().y[1], 15);
  EXPECT_EQ(model.splines[1].spline->data().y[2], 3);
  EXPECT_EQ(model.splines[2].spline->data().x.size(), 4u);
  EXPECT_EQ(model.splines[3].spline->data().y[2], 3);
}

TEST_F(SplineFiles, TablesAreRead) {
  write("map.csv", "0, 0, 1, 2\n-1, 1, 2, 3\n1, 3, 4, 5\n");
  const Model model = read(R"(tables:
  inside: {x: [-1, 1], y: [0, 1, 2], values: [[1, 2, 3], [3, 4, 5]]}
  outside: {file: map.csv, units: [1, mm, kN]}
)");
  EXPECT_NEAR(model.tables[0].table->value(0, 0.5), 2.5, 1e-14);
  EXPECT_NEAR(model.tables[1].table->value(0, 0.5e-3), 2500, 1e-9);
}

// Each use of a subsystem has its own splines; those it does not have are the model's.
TEST_F(SplineFiles, BelongToTheirSubsystem) {
  const Model model = read(R"yaml(splines:
  shared: {points: [[0, 0], [1, 1], [2, 4]]}
subsystems:
  leg:
    parameters: {k: 1}
    splines:
      spring: {points: [[0, 0], [1, k], [2, 2*k]]}
    bodies: {foot: {mass: 1, inertia: [1, 1, 1]}}
    forces: {push: {type: force, frames: [ground, foot], fz: "spline(spring, dz) + spline(shared, dx)"}}
use:
  left: {subsystem: leg}
  right: {subsystem: leg, parameters: {k: 3}}
)yaml");
  ASSERT_EQ(model.splines.size(), 3u);
  EXPECT_EQ(model.splines[1].name, "left.spring");
  EXPECT_EQ(model.splines[2].name, "right.spring");
  EXPECT_EQ(model.splines[2].spline->value(1), 3);
  const auto text_of = [&model](std::size_t i) { return model.forces[i].fields.get<ExpressionText>("fz").text; };
  EXPECT_EQ(text_of(0), "spline(left.spring, dz) + spline(shared, dx)");
  EXPECT_EQ(text_of(1), "spline(right.spring, dz) + spline(shared, dx)");
}

// Also where a name holds a hyphen, and under ADAMS' names of functions and measures.
TEST_F(SplineFiles, NamesInASubsystemAreItsOwn) {
  const Model model = read(R"yaml(splines:
  shared: {points: [[0, 0], [1, 1], [2, 4]]}
subsystems:
  leg:
    splines:
      cam-2: {points: [[0, 0], [1, 1], [2, 2]]}
    bodies:
      foot: {mass: 1, inertia: [1, 1, 1]}
      knee-1: {mass: 1, inertia: [1, 1, 1]}
    forces:
      a: {type: force, frames: [ground, foot], fz: "spline('cam-2', dz) - spline_slope(cam-2, spline(cam-2, dx))"}
      b: {type: force, frames: [ground, foot], fz: "AKISPL(DX(foot, 'knee-1', ground), 0, cam-2) + VR(foot, knee-1)"}
      c: {type: force, frames: [ground, foot], fz: "AKISPL(dz(foot), 0, 'shared', 1) + 2*DM(foot)"}
use:
  left: {subsystem: leg}
)yaml");
  const auto text_of = [&model](std::size_t i) { return model.forces[i].fields.get<ExpressionText>("fz").text; };
  EXPECT_EQ(text_of(0), "spline('left.cam-2', dz) - spline_slope(left.cam-2, spline(left.cam-2, dx))");
  EXPECT_EQ(text_of(1), "AKISPL(DX(left.foot, 'left.knee-1', ground), 0, left.cam-2) + VR(left.foot, left.knee-1)");
  EXPECT_EQ(text_of(2), "AKISPL(dz(left.foot), 0, 'shared', 1) + 2*DM(left.foot)");
}

TEST_F(SplineFiles, MistakesAreNamedWithTheirPlace) {
  write("nan.csv", "x, y\n0, 0\n1, nan\n2, 3\n");
  write("short.csv", "0, 1\n1\n");
  write("falling.csv", "0, 1\n2, 2\n1, 3\n");
  write("wide.csv", "0, 1, 2\n1, 2, 3\n2, 3, 4\n");
  write("empty.csv", "# nothing\n");
  struct Row {
    const char *text, *id;
    int line, column;
    const char *message, *hint;
  };
  const std::vector<Row> rows = {
      {"splines: {s: {points: [[0, 0], [1, 1]]}}\n", "bad-points", 2, 11, "spline 's'", "add points"},
      {"splines:\n  s: {points: [[0, 0], [1, 1], [1, 2]]}\n", "bad-points", 3, 33, "x does not rise", "sort"},
      {"splines:\n  s: {points: [[0, 0], [1, 1, 1], [1, 2]]}\n", "wrong-type", 3, 24, "pairs", "[[x, y]"},
      {"splines: {s: {points: 3}}\n", "wrong-type", 2, 23, "a list of pairs", ""},
      {"splines: {s: {x: [0, 1, 2], y: [0, 1]}}\n", "bad-points", 2, 11, "3 values of x and 2 of y", ""},
      {"splines: {s: {x: [0, 1, 2]}}\n", "conflict", 2, 11, "in one way", "points:"},
      {"splines: {s: {}}\n", "missing-key", 2, 11, "in one way", "file:"},
      {"splines: {s: {x: [0, .inf, 2], y: [0, 1, 2]}}\n", "not-finite", 2, 22, "'.inf'", ""},
      {"splines: {s: {tipe: akima, points: [[0, 0], [1, 1], [2, 2]]}}\n", "unknown-key", 2, 15, "'tipe'", "'type'"},
      {"splines: {s: {type: akimma, points: [[0, 0], [1, 1], [2, 2]]}}\n", "unknown-value", 2, 21, "'akimma'",
       "'akima'"},
      {"splines: {s: {ends: natural, points: [[0, 0], [1, 1], [2, 2]]}}\n", "conflict", 2, 21, "'ends'", "cubic"},
      {"splines: {s: {type: cubic, ends: clamped, points: [[0, 0], [1, 1]]}}\n", "conflict", 2, 11, "'slopes'",
       "[0, 0]"},
      {"splines: {s: {type: cubic, ends: periodic, points: [[0, 0], [1, 1], [2, 2]]}}\n", "bad-points", 2, 73,
       "the first one again", "repeats"},
      {"splines: {s: {points: [[0, 0], [1, 1], [2, 2]], units: [mm, furlong]}}\n", "unknown-unit", 2, 61, "'furlong'",
       ""},
      {"splines: {s: {points: [[0, 0], [1, 1], [2, 2]], units: [mm]}}\n", "wrong-type", 2, 56, "2 units", "[mm, N]"},
      {"units: {length: mm}\nsplines: {s: {points: [[0, 0], [1, 1], [2, 2]]}}\n", "unit-needed", 3, 11, "not SI",
       "units: [mm, N]"},
      {"parameters: {L: 3 mm}\nsplines: {s: {points: [[0, 0], [1, 1], [L, 2]], units: [mm, N]}}\n", "wrong-unit", 3, 41,
       "states a unit", ""},
      {"splines: {s: {file: none.csv}}\n", "cannot-read", 2, 21, "none.csv", "check the name"},
      {"splines: {s: {file: wide.csv}}\n", "missing-key", 2, 21, "3 columns", "columns: [1, 2]"},
      {"splines: {s: {file: wide.csv, columns: [1, 4]}}\n", "unknown-column", 2, 44, "'4'", "from 1 to 3"},
      {"splines: {s: {file: nan.csv, columns: [x, z]}}\n", "bad-number", 3, 4, "'nan'", "decimal point"},
      {"splines: {s: {file: short.csv}}\n", "wrong-length", 2, 1, "1 numbers", ""},
      {"splines: {s: {file: falling.csv}}\n", "bad-points", 3, 1, "x does not rise", "sort"},
      {"splines: {s: {file: empty.csv}}\n", "no-value", 2, 21, "no rows", ""},
      {"splines: [1]\n", "wrong-type", 2, 10, "mapping of names", ""},
      {"tables: {t: {x: [0, 1], y: [0, 1], values: [[1, 2], [3]]}}\n", "wrong-length", 2, 44, "2 rows of 2", ""},
      {"tables: {t: {x: [1, 0], y: [0, 1], values: [[1, 2], [3, 4]]}}\n", "bad-points", 2, 10, "x does not rise", ""},
      {"tables: {t: {x: [1, 0], y: [0, 1]}}\n", "conflict", 2, 10, "in one way", "values"},
      {"tables: {t: {file: empty.csv}}\n", "no-value", 2, 20, "no rows", ""},
      {"bodies: {b: {mass: \"spline(s, 1)\", inertia: [1, 1, 1]}}\nsplines: {s: {points: [[0, 0], [1, 1], [2, 2]]}}\n",
       "no-spline-here", 2, 28, "splines have no meaning here", "forces"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    const Problem found = problem(row.text);
    EXPECT_EQ(found.id, row.id) << found.message;
    EXPECT_EQ(found.where.line, row.line);
    EXPECT_EQ(found.where.column, row.column);
    EXPECT_NE(found.message.find(row.message), std::string::npos) << found.message;
    EXPECT_NE(found.hint.find(row.hint), std::string::npos) << found.hint;
  }
}

}  // namespace
}  // namespace trammel::splines_test
