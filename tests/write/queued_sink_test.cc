// Rows that go to a sink through a thread: all arrive, in order, and what fails is told.
#include "trammel/write/queued_sink.h"

#include "tests/write/sample.h"

namespace trammel::queued_sink_test {
namespace {

// Takes rows until the disk is full.
class FullDisk final : public TrajectorySink {
 public:
  void begin(const std::vector<Table>&, const Provenance&) override {}
  bool append(std::size_t, std::span<const double>) override { return ++rows_ < 10; }
  void flush() override {
    if (rows_ >= 10) throw Failure({Severity::error, "write-failed", "no space left", "", {}}, ExitCode::cannot_write);
  }
  void finish(RunStatus, std::string_view, std::string_view) override { finished = true; }
  bool finished = false;

 private:
  int rows_ = 0;
};

TEST(QueuedSink, HandsOnEveryRowInOrder) {
  MemoryTrajectory memory;
  QueuedSink queue(memory);
  sample::write_run(queue, 2000);
  sample::expect_description(memory);
  sample::expect_rows(memory, 0, 2000);
  sample::expect_rows(memory, 1, 6000);
  EXPECT_EQ(memory.status(), RunStatus::finished);
}

TEST(QueuedSink, FlushWaitsUntilRowsAreThere) {
  MemoryTrajectory memory;
  QueuedSink queue(memory);
  queue.begin(sample::tables(), {});
  for (int i = 1; i <= 3; ++i) {
    ASSERT_TRUE(queue.append(0, sample::row(5, 0)));
    queue.flush();
    EXPECT_EQ(memory.rows(0), static_cast<std::size_t>(i));
  }
}

TEST(QueuedSink, TellsWhatFails) {
  FullDisk disk;
  QueuedSink queue(disk);
  queue.begin(sample::tables(), {});
  for (int i = 0; i < 20; ++i) static_cast<void>(queue.append(0, sample::row(5, 0)));
  sample::expect_failure([&] { queue.flush(); }, "write-failed", ExitCode::cannot_write);
  EXPECT_FALSE(queue.append(0, sample::row(5, 0)));
  EXPECT_THROW(queue.finish(RunStatus::failed, "", ""), Failure);  // of the row that came after
  EXPECT_TRUE(disk.finished);
}

TEST(QueuedSink, AnErrorNobodyAskedForIsToldAtTheEnd) {
  FullDisk disk;
  QueuedSink queue(disk);
  queue.begin(sample::tables(), {});
  for (int i = 0; i < 20; ++i) static_cast<void>(queue.append(0, sample::row(5, 0)));
  sample::expect_failure([&] { queue.finish(RunStatus::finished, "", ""); }, "write-failed", ExitCode::cannot_write);
}

}  // namespace
}  // namespace trammel::queued_sink_test
