#include "trammel/base/team.h"

namespace trammel {
namespace {

constexpr int patience = 2000;  // looks before a thread goes to sleep

}  // namespace

Team::Team(int threads) {
  for (int i = 1; i < threads; ++i)
    others_.emplace_back([this, member = static_cast<std::size_t>(i)] { wait_for_work(member); });
}

Team::~Team() {
  stop_ = true;
  loop_.fetch_add(1);
  loop_.notify_all();
  for (std::thread& other : others_) other.join();
}

// Member m takes a run of neighbouring items.
void Team::share(std::size_t member) const {
  const std::size_t members = others_.size() + 1;
  for (std::size_t i = count_ * member / members; i < count_ * (member + 1) / members; ++i) function_(context_, i);
}

void Team::wait_for_work(std::size_t member) {
  unsigned seen = 0;
  for (;;) {
    for (int i = 0; i < patience && loop_.load(std::memory_order_acquire) == seen; ++i) std::this_thread::yield();
    loop_.wait(seen, std::memory_order_acquire);
    ++seen;
    if (stop_) return;
    share(member);
    done_.fetch_add(1, std::memory_order_release);
  }
}

void Team::run_all(std::size_t count, Function function, const void* context) {
  count_ = count;
  function_ = function;
  context_ = context;
  done_.store(0, std::memory_order_relaxed);
  loop_.fetch_add(1, std::memory_order_release);
  loop_.notify_all();
  share(0);
  while (done_.load(std::memory_order_acquire) != others_.size()) std::this_thread::yield();
}

}  // namespace trammel
