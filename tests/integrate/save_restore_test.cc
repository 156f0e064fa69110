// A run that is saved, restored in a new object or a new process, and continued, gives the same bits as one that was
// not interrupted.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>

#include "tests/problems/mechanisms.h"
#include "tests/problems/stepping.h"
#include "trammel/elements/build.h"
#include "trammel/read/read_model.h"
#include "trammel/run/simulation.h"

namespace trammel::save_restore_test {
namespace {

using problems::Build;

bool same_bits(const Vec& a, const Vec& b) {
  return a.size() == b.size() &&
         (a.size() == 0 || std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(double)) == 0);
}

// Keeps what a run writes, and raises the flag after so many accepted steps.
class Stopping final : public TrajectorySink {
 public:
  explicit Stopping(long steps = -1) : left_(steps) {}
  void begin(const std::vector<Table>& tables, const Provenance& provenance) override {
    kept.begin(tables, provenance);
  }
  bool append(std::size_t table, std::span<const double> row) override {
    if (table == 1 && --left_ == 0) stop = true;
    return kept.append(table, row);
  }
  void flush() override {}
  void finish(RunStatus status, std::string_view summary, std::string_view failure) override {
    kept.finish(status, summary, failure);
  }

  MemoryTrajectory kept;
  std::atomic<bool> stop{false};

 private:
  long left_;
};

// A spring wound up over several turns drives a rotor on a hinge, next to a four-bar of redundant hinges.
Model wound_up() {
  Model m = problems::four_bar(Build::redundant, true);
  Body rotor;
  rotor.name = "rotor";
  rotor.mass = 1;
  rotor.inertia = Vec3(0.2, 0.2, 0.3).asDiagonal();
  rotor.pose.position = Vec3(0, 0, 2);
  rotor.angular_velocity = Vec3(0, 0, 25);
  const int body = m.add_body(rotor);
  const int hinge = add_joint(m, "revolute", "shaft", ground, body, Vec3(0, 0, 2));
  Fields spring;
  spring.set("stiffness", 1.0);
  spring.set("damping", 0.02);
  add_force(m, "rotational_spring_damper", "spring", m.joints[static_cast<std::size_t>(hinge)].frames, spring);
  m.outputs.push_back({"wound", "rad", {"angle(shaft)", {}}});
  return m;
}

struct Case {
  std::string name;
  Model (*make)();
  double end;
  bool fixed, grid;
};
void PrintTo(const Case& which, std::ostream* out) { *out << which.name; }

Model prepared(const Case& c) {
  Model m = c.make();
  m.simulation.end = c.end;
  if (c.fixed)
    m.simulation.step = 2e-3;
  else
    m.simulation.tolerance = 1e-5;
  if (c.grid) m.simulation.output_step = 0.013;
  return m;
}

std::vector<Case> cases() {
  return {
      {"variable_step", problems::slider_crank_with_forces, 1.0, false, false},
      {"fixed_step", problems::slider_crank_with_forces, 1.0, true, false},
      {"redundant_and_turns", wound_up, 2.0, false, false},
      {"output_grid", wound_up, 2.0, false, true},
      {"singular_positions", [] { return problems::ladder(2, Build::redundant); }, 1.2, false, false},
      {"planar_bodies", [] { return problems::four_bar(Build::planar); }, 1.0, false, true},
      {"point_body", problems::spherical_pendulum, 1.0, false, false},
      {"body_that_bends", [] { return read_model(std::string(TRAMMEL_SOURCE_DIR) + "/models/flexible_pendulum.yaml"); },
       0.1, false, true},
      {"misfit", [] { return problems::four_bar(Build::redundant, true, 1e-8); }, 0.5, false, false},
  };
}

class SaveRestore : public testing::TestWithParam<Case> {};

TEST_P(SaveRestore, ContinuesToTheSameBits) {
  Simulation whole(prepared(GetParam()));
  Stopping reference;
  ASSERT_EQ(whole.run(reference, {}).status, RunStatus::finished);
  const auto steps = static_cast<long>(reference.kept.rows(1));

  for (const long first : {1L, steps / 3, steps - 1}) {
    Simulation early(prepared(GetParam()));
    Stopping half(first);
    RunOptions options;
    options.interrupted = &half.stop;
    ASSERT_EQ(early.run(half, options).status, RunStatus::interrupted);
    const Bytes bytes = early.save();

    Simulation late(prepared(GetParam()));
    late.restore(bytes);
    EXPECT_EQ(late.save(), bytes);  // nothing is lost on the way
    Stopping rest;
    const RunResult result = late.run(rest, {});
    ASSERT_EQ(result.status, RunStatus::finished);

    EXPECT_TRUE(same_bits(late.integrator().state().q, whole.integrator().state().q));
    EXPECT_TRUE(same_bits(late.integrator().state().v, whole.integrator().state().v));
    EXPECT_TRUE(same_bits(late.integrator().rates().a, whole.integrator().rates().a));
    EXPECT_TRUE(same_bits(late.integrator().rates().lambda, whole.integrator().rates().lambda));
    EXPECT_EQ(late.integrator().state().memory, whole.integrator().state().memory);
    // the same steps, one by one
    ASSERT_EQ(static_cast<long>(half.kept.rows(1) + rest.kept.rows(1)), steps);
    for (std::size_t i = 0; i < rest.kept.rows(1); ++i) {
      const auto a = rest.kept.row(1, i), b = reference.kept.row(1, static_cast<std::size_t>(first) + i);
      ASSERT_EQ(std::vector<double>(a.begin(), a.end()), std::vector<double>(b.begin(), b.end())) << "step " << i;
    }
    // counts go on
    const Counts &counted = late.integrator().counts(), &expected = whole.integrator().counts();
    EXPECT_EQ(counted.steps, expected.steps);
    EXPECT_EQ(counted.evaluations, expected.evaluations);
    EXPECT_EQ(counted.newton_iterations, expected.newton_iterations);
    EXPECT_EQ(counted.linearisations, expected.linearisations);
    EXPECT_EQ(counted.refactorisations, expected.refactorisations);
  }
}

// Output rows of the two halves together are those of the whole run; the instant between them may be written twice.
TEST_P(SaveRestore, WritesTheSameOutput) {
  Simulation whole(prepared(GetParam()));
  Stopping reference;
  ASSERT_EQ(whole.run(reference, {}).status, RunStatus::finished);
  const long first = static_cast<long>(reference.kept.rows(1)) / 2;
  Simulation early(prepared(GetParam()));
  Stopping half(first);
  RunOptions options;
  options.interrupted = &half.stop;
  early.run(half, options);
  Simulation late(prepared(GetParam()));
  late.restore(early.save());
  Stopping rest;
  late.run(rest, {});
  std::size_t next = half.kept.rows(0);
  for (std::size_t i = 0; i < rest.kept.rows(0); ++i) {
    const auto a = rest.kept.row(0, i);
    if (i == 0 && a[0] <= half.kept.row(0, next - 1)[0]) continue;
    ASSERT_LT(next, reference.kept.rows(0));
    const auto b = reference.kept.row(0, next++);
    for (std::size_t k = 0; k < a.size(); ++k) {
      ASSERT_EQ(a[k], b[k]) << rest.kept.tables()[0].signals[k].name << " at " << b[0];
    }
  }
  EXPECT_EQ(next, reference.kept.rows(0));
}

INSTANTIATE_TEST_SUITE_P(All, SaveRestore, testing::ValuesIn(cases()),
                         [](const auto& which) { return which.param.name; });

// ---- a new process --------------------------------------------------------------------------------------------------

std::filesystem::path scratch(const char* name) {
  return std::filesystem::temp_directory_path() / ("trammel-save-" + std::to_string(getpid()) + "-" + name);
}

Bytes read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  Bytes out(text.size());
  std::transform(text.begin(), text.end(), out.begin(), [](char c) { return static_cast<std::byte>(c); });
  return out;
}
void write_bytes(const std::filesystem::path& path, const Bytes& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

Bytes final_bytes(Simulation& simulation) {
  Bytes out;
  write_state(simulation.integrator().state().t, out);
  write_state(simulation.integrator().state().q, out);
  write_state(simulation.integrator().state().v, out);
  write_state(simulation.integrator().rates().lambda, out);
  write_state(simulation.integrator().state().memory, out);
  return out;
}

const char* const saved_variable = "TRAMMEL_TEST_SAVED_STATE";
const char* const result_variable = "TRAMMEL_TEST_RESULT";
const Case process_case{"", wound_up, 1.5, false, false};

// The other process: this program again, asked to run only this.
TEST(SaveRestoreProcess, Continues) {
  const char *saved = std::getenv(saved_variable), *result = std::getenv(result_variable);
  if (saved == nullptr || result == nullptr) GTEST_SKIP() << "run by the next test";
  Simulation simulation(prepared(process_case));
  simulation.restore(read_bytes(saved));
  Stopping sink;
  ASSERT_EQ(simulation.run(sink, {}).status, RunStatus::finished);
  write_bytes(result, final_bytes(simulation));
}

TEST(SaveRestoreProcess, GivesTheSameBitsInANewOne) {
  Simulation whole(prepared(process_case));
  Stopping reference;
  ASSERT_EQ(whole.run(reference, {}).status, RunStatus::finished);
  Simulation early(prepared(process_case));
  Stopping half(static_cast<long>(reference.kept.rows(1)) / 2);
  RunOptions options;
  options.interrupted = &half.stop;
  ASSERT_EQ(early.run(half, options).status, RunStatus::interrupted);
  const std::filesystem::path saved = scratch("state"), result = scratch("result");
  write_bytes(saved, early.save());

  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    setenv(saved_variable, saved.c_str(), 1);
    setenv(result_variable, result.c_str(), 1);
    unsetenv("GTEST_OUTPUT");
    const int quiet = open("/dev/null", O_WRONLY);
    dup2(quiet, STDOUT_FILENO);
    execl("/proc/self/exe", "child", "--gtest_filter=SaveRestoreProcess.Continues", static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(read_bytes(result), final_bytes(whole));
  std::filesystem::remove(saved);
  std::filesystem::remove(result);
}

// ---- what is not a saved state --------------------------------------------------------------------------------------

TEST(SaveRestoreRefuses, WhatWasCutOff) {
  Simulation simulation(prepared(cases()[0]));
  simulation.start();
  const Bytes bytes = simulation.save();
  Simulation other(prepared(cases()[0]));
  for (const std::size_t size : {std::size_t{0}, std::size_t{5}, bytes.size() / 2, bytes.size() - 1}) {
    EXPECT_THROW(other.restore(std::span(bytes).first(size)), Failure) << size;
  }
}

TEST(SaveRestoreRefuses, AnotherModel) {
  Simulation simulation(prepared(cases()[0]));
  simulation.start();
  const Bytes bytes = simulation.save();
  Simulation other(prepared(cases()[2]));
  EXPECT_THROW(other.restore(bytes), Failure);
}

}  // namespace
}  // namespace trammel::save_restore_test
