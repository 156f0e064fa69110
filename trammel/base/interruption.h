// Whether the run of this thread was asked to stop, for loops that are deep inside one step of it.
#pragma once
#include <atomic>

namespace trammel {

// While it lives, interruption_asked() of this thread looks at `flag`, which a signal handler may set; null: at none.
class InterruptionScope {
 public:
  explicit InterruptionScope(const std::atomic<bool>* flag);
  ~InterruptionScope();
  InterruptionScope(const InterruptionScope&) = delete;
  InterruptionScope& operator=(const InterruptionScope&) = delete;

 private:
  const std::atomic<bool>* before_;
};

bool interruption_asked();

}  // namespace trammel
