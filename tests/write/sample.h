// A small result with awkward numbers and names, and a folder that cleans up after itself, for the tests of results.
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "trammel/write/trajectory.h"

namespace trammel::sample {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "trammel-write-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::vector<Table> tables() {
  Table output{"output", "all signals at the output times", {}};
  output.signals.push_back({"time", "s", "", "time", false, ""});
  output.signals.push_back({"body.crank.position.x", "m", "world", "centre of mass", false, ""});
  output.signals.push_back({"body.crank.position.y", "m", "world", "centre of mass", false, ""});
  output.signals.push_back({"joint.pin.force.z", "N", "world", "reaction", true, "least-norm reaction, L = 0.5 m"});
  output.signals.push_back({"body.it's \"odd\", named_\\.x", "kg*m^2", "", "two\nlines, \\ and \xc3\xa9", true, ""});
  Table steps{"steps", "one row per accepted step", {}};
  steps.signals.push_back({"time", "s", "", "", false, ""});
  steps.signals.push_back({"solver.step_size", "s", "", "", false, ""});
  steps.signals.push_back({"solver.newton_iterations", "", "", "", false, ""});
  return {output, steps};
}

inline Provenance provenance() {
  Provenance p;
  p.set("program", "trammel");
  p.set("title", "Four-bar \xe2\x80\x94 \"test\": a, b");
  p.set("model_file", "four_bar.yaml");
  p.set("command", "trammel run four_bar.yaml\n--step 1e-3 \\ x");
  p.set("method", "hht-i3");
  p.set("empty", "");
  return p;
}

// Reproducible numbers of all sizes, with the extremes among them.
inline std::vector<double> row(std::size_t columns, std::size_t index) {
  static const std::vector<double> extremes{0.0,
                                            -0.0,
                                            1.0 / 3.0,
                                            std::numeric_limits<double>::denorm_min(),
                                            -std::numeric_limits<double>::min(),
                                            std::numeric_limits<double>::max(),
                                            std::numeric_limits<double>::infinity(),
                                            -std::numeric_limits<double>::infinity(),
                                            std::numeric_limits<double>::quiet_NaN()};
  std::vector<double> values(columns);
  values[0] = 0.1 * static_cast<double>(index);
  for (std::size_t i = 1; i < columns; ++i) {
    const std::uint64_t k = index * columns + i;
    if (k % 7 == 0) {
      values[i] = extremes[(k / 7) % extremes.size()];
    } else {
      const auto exponent = static_cast<int>(k * 37 % 400) - 200;
      values[i] = std::ldexp(std::sin(static_cast<double>(k)), exponent);
    }
  }
  return values;
}

inline void append_rows(TrajectorySink& sink, std::size_t table, std::size_t columns, std::size_t first,
                        std::size_t end) {
  for (std::size_t i = first; i < end; ++i) ASSERT_TRUE(sink.append(table, row(columns, i)));
}

inline void write_run(TrajectorySink& sink, std::size_t rows, RunStatus status = RunStatus::finished) {
  const auto all = tables();
  sink.begin(all, provenance());
  append_rows(sink, 0, all[0].signals.size(), 0, rows);
  append_rows(sink, 1, all[1].signals.size(), 0, 3 * rows);
  sink.finish(status, R"({"steps": 12, "text": "a\nb"})",
              status == RunStatus::failed ? R"({"id": "step-failed"})" : "");
}

// The same bits, or both not a number.
inline bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

inline void expect_rows(const MemoryTrajectory& result, std::size_t table, std::size_t rows) {
  ASSERT_EQ(result.rows(table), rows);
  const std::size_t columns = result.tables()[table].signals.size();
  for (std::size_t i = 0; i < rows; ++i) {
    const auto expected = row(columns, i);
    const auto found = result.row(table, i);
    for (std::size_t c = 0; c < columns; ++c) {
      ASSERT_TRUE(same(found[c], expected[c])) << "row " << i << ", column " << c << ": " << found[c];
    }
  }
}

inline void expect_description(const MemoryTrajectory& result) {
  const auto all = tables();
  ASSERT_EQ(result.tables().size(), all.size());
  for (std::size_t t = 0; t < all.size(); ++t) {
    EXPECT_EQ(result.tables()[t].name, all[t].name);
    EXPECT_EQ(result.tables()[t].text, all[t].text);
    ASSERT_EQ(result.tables()[t].signals.size(), all[t].signals.size());
    for (std::size_t c = 0; c < all[t].signals.size(); ++c) {
      const Signal& found = result.tables()[t].signals[c];
      const Signal& expected = all[t].signals[c];
      EXPECT_EQ(found.name, expected.name);
      EXPECT_EQ(found.unit, expected.unit);
      EXPECT_EQ(found.frame, expected.frame);
      EXPECT_EQ(found.text, expected.text);
      EXPECT_EQ(found.flagged, expected.flagged);
      EXPECT_EQ(found.flag_text, expected.flag_text);
    }
  }
  EXPECT_EQ(result.provenance().entries, provenance().entries);
}

// The Failure that `action` throws must have this id; returns its text.
template <typename Action>
std::string expect_failure(Action&& action, const std::string& id, ExitCode code) {
  try {
    action();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.problems().front().id, id) << failure.what();
    EXPECT_EQ(failure.exit_code(), code) << failure.what();
    return failure.what();
  }
  ADD_FAILURE() << "nothing thrown, expected '" << id << "'";
  return {};
}

}  // namespace trammel::sample
