// Hands rows to another sink in a thread of its own, so that a step never waits for a disk: for runs in real time.
// append copies the row and returns; what fails is told by a later call. flush waits for the disk.
#pragma once
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "trammel/write/trajectory.h"

namespace trammel {

class QueuedSink final : public TrajectorySink {
 public:
  explicit QueuedSink(TrajectorySink& sink) : sink_(sink) {}
  ~QueuedSink() override;
  QueuedSink(const QueuedSink&) = delete;
  QueuedSink& operator=(const QueuedSink&) = delete;

  void begin(const std::vector<Table>& tables, const Provenance& provenance) override;
  void resume(const std::vector<Table>& tables, const std::vector<std::uint64_t>& rows) override;
  bool append(std::size_t table, std::span<const double> row) override;
  void flush() override;
  void finish(RunStatus status, std::string_view summary_json, std::string_view failure_json) override;

 private:
  struct Batch {
    std::vector<std::size_t> tables;  // of each row
    std::vector<double> values;       // the rows one behind the other
  };

  void start(const std::vector<Table>& tables);
  void write_until_stopped();
  void write(const Batch& batch, bool flush);
  void stop();

  TrajectorySink& sink_;
  std::vector<std::size_t> widths_;  // of the tables
  std::thread writer_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable wake_, flushed_;
  Batch filling_;
  bool stop_ = false, flush_ = false;
  bool failed_ = false;       // a row could not be written
  std::exception_ptr error_;  // not told yet
};

}  // namespace trammel
