#include "trammel/write/queued_sink.h"

#include <chrono>
#include <utility>

namespace trammel {

using namespace std::chrono_literals;

QueuedSink::~QueuedSink() { stop(); }

void QueuedSink::begin(const std::vector<Table>& tables, const Provenance& provenance) {
  sink_.begin(tables, provenance);
  start(tables);
}

void QueuedSink::resume(const std::vector<Table>& tables, const std::vector<std::uint64_t>& rows) {
  sink_.resume(tables, rows);
  start(tables);
}

void QueuedSink::start(const std::vector<Table>& tables) {
  std::size_t width = 0;
  widths_.clear();
  for (const Table& table : tables) {
    widths_.push_back(table.signals.size());
    width += table.signals.size();
  }
  // More than a writer that works can fall behind, so that append does not allocate.
  constexpr std::size_t rows = 4096;
  filling_.tables.reserve(rows * tables.size());
  filling_.values.reserve(rows * width);
  writer_ = std::thread([this] { write_until_stopped(); });
}

bool QueuedSink::append(std::size_t table, std::span<const double> row) {
  const std::lock_guard lock(mutex_);
  filling_.tables.push_back(table);
  filling_.values.insert(filling_.values.end(), row.begin(), row.end());
  return !failed_;
}

void QueuedSink::flush() {
  std::unique_lock lock(mutex_);
  flush_ = true;
  wake_.notify_one();
  flushed_.wait(lock, [this] { return !flush_; });
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void QueuedSink::finish(RunStatus status, std::string_view summary_json, std::string_view failure_json) {
  stop();
  sink_.finish(status, summary_json, failure_json);
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void QueuedSink::stop() {
  if (!writer_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  writer_.join();
}

// Looks for rows every few milliseconds instead of being woken by each: that would cost the step a call to the system.
void QueuedSink::write_until_stopped() {
  Batch batch;
  {
    const std::lock_guard lock(mutex_);
    batch.tables.reserve(filling_.tables.capacity());
    batch.values.reserve(filling_.values.capacity());
  }
  for (bool last = false; !last;) {
    bool flush = false;
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, 5ms, [this] { return stop_ || flush_; });
      last = stop_;
      flush = flush_;
      std::swap(batch, filling_);
    }
    write(batch, flush);
    batch.tables.clear();
    batch.values.clear();
  }
}

void QueuedSink::write(const Batch& batch, bool flush) {
  bool good = true;
  std::exception_ptr error;
  try {
    std::size_t at = 0;
    for (const std::size_t table : batch.tables) {
      good = sink_.append(table, {batch.values.data() + at, widths_[table]}) && good;
      at += widths_[table];
    }
    if (flush || !good) sink_.flush();  // after a row was refused it says why
  } catch (...) {
    error = std::current_exception();
    good = false;
  }
  const std::lock_guard lock(mutex_);
  failed_ = failed_ || !good;
  if (error) error_ = error;
  if (!flush) return;
  flush_ = false;
  flushed_.notify_one();
}

}  // namespace trammel
