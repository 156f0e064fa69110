// Tables in memory: names, patterns, hints; the tee; refusals.
#include "trammel/write/trajectory.h"

#include <gmock/gmock.h>
#include <malloc.h>

#include <set>

#include "tests/write/sample.h"
#include "trammel/write/csv_writer.h"
#include "trammel/write/hdf5_writer.h"
#include "trammel/write/sha256.h"

namespace trammel::trajectory_test {
namespace {

using ::testing::HasSubstr;

TEST(MemoryTrajectory, KeepsRowsAndDescription) {
  MemoryTrajectory memory;
  sample::write_run(memory, 20);
  sample::expect_description(memory);
  sample::expect_rows(memory, 0, 20);
  sample::expect_rows(memory, 1, 60);
  EXPECT_EQ(memory.status(), RunStatus::finished);
  EXPECT_EQ(memory.find_table("steps"), std::size_t{1});
  EXPECT_EQ(memory.find_table("none"), std::nullopt);
  EXPECT_TRUE(sample::same(memory.column("joint.pin.force.z")[7], sample::row(5, 7)[3]));
  EXPECT_EQ(memory.time(1).size(), 60u);
}

TEST(MemoryTrajectory, RefusesRowsThatDoNotFit) {
  MemoryTrajectory memory;
  memory.begin(sample::tables(), {});
  EXPECT_FALSE(memory.append(0, std::vector<double>(4)));
  EXPECT_FALSE(memory.append(2, std::vector<double>(4)));
}

// Looks at a simulation that goes on: a copy of all rows for each look would make many looks slow.
TEST(MemoryTrajectory, CopiesShareTheirRowsAndGoTheirOwnWays) {
  MemoryTrajectory memory;
  memory.begin(sample::tables(), sample::provenance());
  std::vector<MemoryTrajectory> looks;
  std::set<const double*> places;
  for (std::size_t i = 0; i < 200; ++i) {
    ASSERT_TRUE(memory.append(0, sample::row(5, i)));
    looks.push_back(memory);
    places.insert(looks.back().row(0, 0).data());
  }
  EXPECT_LT(places.size(), 12u) << "rows were copied for each look";
  for (std::size_t i = 0; i < looks.size(); ++i) sample::expect_rows(looks[i], 0, i + 1);

  // Cut off and appended to, and appended to a copy: nobody else sees it.
  memory.resume(memory.tables(), {100, 0});
  ASSERT_TRUE(memory.append(0, sample::row(5, 7)));
  ASSERT_TRUE(looks[99].append(0, sample::row(5, 3)));
  memory.finish(RunStatus::failed, "{}", "");
  sample::expect_rows(looks[199], 0, 200);
  EXPECT_EQ(memory.rows(0), 101u);
  EXPECT_TRUE(sample::same(memory.row(0, 100)[3], sample::row(5, 7)[3]));
  EXPECT_TRUE(sample::same(looks[99].row(0, 100)[3], sample::row(5, 3)[3]));
  EXPECT_EQ(looks[199].status(), RunStatus::running);
}

TEST(MemoryTrajectory, UnknownNamesGetHints) {
  MemoryTrajectory memory;
  sample::write_run(memory, 1);
  const auto near =
      sample::expect_failure([&] { memory.at("body.crank.positon.x"); }, "unknown-signal", ExitCode::bad_usage);
  EXPECT_THAT(near, HasSubstr("did you mean 'body.crank.position.x'?"));
  const auto far = sample::expect_failure([&] { memory.match("whatever*"); }, "unknown-signal", ExitCode::bad_usage);
  EXPECT_THAT(far, HasSubstr("names begin with 'time', 'body', 'joint' or 'solver'"));
}

TEST(MemoryTrajectory, NamesMayCarryTheirTable) {
  MemoryTrajectory memory;
  sample::write_run(memory, 2);
  EXPECT_EQ(memory.at("time"), (SignalRef{0, 0}));
  EXPECT_EQ(memory.at("steps/time"), (SignalRef{1, 0}));
  EXPECT_EQ(memory.at("solver.step_size"), (SignalRef{1, 1}));
  EXPECT_EQ(memory.match("steps/solver.*").size(), 2u);
  EXPECT_THROW(memory.match("output/solver.*"), Failure);
}

TEST(Patterns, Wildcards) {
  EXPECT_TRUE(matches_pattern("body.*.position.x", "body.crank.position.x"));
  EXPECT_TRUE(matches_pattern("body.*.position.x", "body.a.b.position.x"));
  EXPECT_FALSE(matches_pattern("body.*.position.x", "body.crank.position.y"));
  EXPECT_FALSE(matches_pattern("body.*.position.x", "body.position.x"));
  EXPECT_TRUE(matches_pattern("*", ""));
  EXPECT_TRUE(matches_pattern("*", "a.b"));
  EXPECT_TRUE(matches_pattern("**a*", "bca"));
  EXPECT_TRUE(matches_pattern("joint.pin.force.[xz]", "joint.pin.force.z"));
  EXPECT_FALSE(matches_pattern("joint.pin.force.[xz]", "joint.pin.force.y"));
  EXPECT_TRUE(matches_pattern("a?c", "abc"));
  EXPECT_FALSE(matches_pattern("a?c", "ac"));
  EXPECT_TRUE(matches_pattern("a[b", "a[b"));
  EXPECT_FALSE(matches_pattern("", "a"));
  EXPECT_FALSE(matches_pattern("a*b", "acbc"));
  // must not take exponential time
  EXPECT_FALSE(matches_pattern("*a*a*a*a*a*a*a*a*b", std::string(2000, 'a')));
}

TEST(Patterns, MeanNamesGroupsOrWildcards) {
  const auto all = sample::tables();
  EXPECT_EQ(match_signals(all, "body.crank.position.x"), (std::vector<SignalRef>{{0, 1}}));
  EXPECT_EQ(match_signals(all, "body.crank.position"), (std::vector<SignalRef>{{0, 1}, {0, 2}}));
  EXPECT_EQ(match_signals(all, "body.crank"), (std::vector<SignalRef>{{0, 1}, {0, 2}}));
  EXPECT_TRUE(match_signals(all, "body.cran").empty());
  EXPECT_EQ(match_signals(all, "*").size(), 6u);  // all but the two times
  EXPECT_EQ(match_signals(all, "time"), (std::vector<SignalRef>{{0, 0}}));
}

TEST(Tables, UselessOnesAreRefused) {
  auto duplicate = sample::tables();
  duplicate[0].signals[2].name = duplicate[0].signals[1].name;
  auto no_time = sample::tables();
  no_time[1].signals.erase(no_time[1].signals.begin());
  auto twice = sample::tables();
  twice[1].name = twice[0].name;
  auto control = sample::tables();
  control[0].signals[1].name = "a\nb";
  auto path = sample::tables();
  path[0].name = "../x";
  for (const auto& bad : {duplicate, no_time, twice, control, path}) {
    sample::expect_failure([&] { check_tables(bad); }, "bad-result-table", ExitCode::internal);
  }
}

// A sink whose disk is full.
class BrokenSink final : public TrajectorySink {
 public:
  void begin(const std::vector<Table>&, const Provenance&) override {}
  bool append(std::size_t, std::span<const double>) override { return false; }
  void flush() override {
    throw Failure(Problem{Severity::error, "write-failed", "full", "", {}}, ExitCode::cannot_write);
  }
  void finish(RunStatus, std::string_view, std::string_view) override {}
};

TEST(TeeSink, OneBrokenSinkLeavesTheOthersWhole) {
  BrokenSink broken;
  MemoryTrajectory first, last;
  TeeSink tee({&first, &broken, &last});
  tee.begin(sample::tables(), sample::provenance());
  for (std::size_t i = 0; i < 5; ++i) EXPECT_FALSE(tee.append(0, sample::row(5, i)));
  sample::expect_failure([&] { tee.flush(); }, "write-failed", ExitCode::cannot_write);
  tee.finish(RunStatus::failed, "{}", "");
  sample::expect_rows(first, 0, 5);
  sample::expect_rows(last, 0, 5);
  EXPECT_EQ(last.status(), RunStatus::failed);
}

// What the engine calls in its time loop: rows go into buffers that are there already.
TEST(TeeSink, AppendAllocatesNothing) {
  const sample::TemporaryFolder folder;
  MemoryTrajectory memory;
  Hdf5Writer hdf5(folder / "run.h5", {.flush_seconds = 1e9});
  CsvWriter csv(folder / "run.csv", 1e9);
  TeeSink tee({&memory, &hdf5, &csv});
  tee.begin(sample::tables(), sample::provenance());
  memory.reserve(0, 300);
  const std::vector<double> row = sample::row(5, 1);
  bool fine = true;
  const std::size_t before = mallinfo2().uordblks;
  for (int i = 0; i < 300; ++i) fine = tee.append(0, row) && fine;
  const std::size_t after = mallinfo2().uordblks;
  EXPECT_TRUE(fine);
  EXPECT_EQ(before, after);
}

TEST(Provenance, SetReplacesAndKeepsOrder) {
  Provenance p;
  p.set("b", "1");
  p.set("a", "2");
  p.set("b", "3");
  EXPECT_EQ(p.get("b"), "3");
  EXPECT_EQ(p.get("c"), "");
  EXPECT_EQ(p.entries.front().first, "b");
  EXPECT_EQ(utc_date().size(), 20u);
}

// Vectors of FIPS 180-4 (examples published by NIST) and lengths around the edge of a block.
TEST(Sha256, KnownDigests) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  EXPECT_EQ(sha256_hex(std::string(64, 'a')), "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}

}  // namespace
}  // namespace trammel::trajectory_test
