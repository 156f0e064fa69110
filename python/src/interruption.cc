#include "python/src/interruption.h"

#include <pybind11/pybind11.h>

#include <csignal>

#include <array>
#include <mutex>

namespace trammel::python {
namespace {

// A handler may touch nothing but atomics: so many calls at once can be ended, in as many threads.
constexpr int places = 256;
std::array<std::atomic<bool>, places> flags{}, taken{};
std::mutex mutex;
int living = 0;
struct sigaction before {};

std::atomic<bool> passing_on{false};

void on_signal(int signal) {
  for (int i = 0; i < places; ++i) {
    if (taken[i].load(std::memory_order_relaxed)) flags[i] = true;
  }
  // One that was installed meanwhile may call this one in its turn.
  if (passing_on.exchange(true)) return;
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) before.sa_handler(signal);
  passing_on = false;
}

bool is_ours(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == on_signal;
}

// Whether signals arrive here, now or already.
bool listen() {
  struct sigaction now {};
  sigaction(SIGINT, nullptr, &now);
  if (is_ours(now)) return true;
  // A program that does not listen (a job in the background, another one that holds the interpreter) is left alone.
  if ((now.sa_flags & SA_SIGINFO) != 0 || now.sa_handler == SIG_IGN || now.sa_handler == SIG_DFL) return false;
  before = now;
  struct sigaction ours = now;
  ours.sa_handler = on_signal;
  sigaction(SIGINT, &ours, nullptr);
  return true;
}

// A handler that the program has installed meanwhile stays.
void stop_listening() {
  struct sigaction now {};
  sigaction(SIGINT, nullptr, &now);
  if (is_ours(now)) sigaction(SIGINT, &before, nullptr);
}

}  // namespace

CtrlC::CtrlC() : flag_(&own_), slot_(-1) {
  const std::lock_guard lock(mutex);
  if (!listen()) return;
  for (int i = 0; i < places && slot_ < 0; ++i) {
    if (taken[i]) continue;
    slot_ = i;
    flags[i] = false;
    taken[i] = true;
    flag_ = &flags[i];
    ++living;
  }
}

void settle_signals() {
  if (PyErr_CheckSignals() == 0) return;
  if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) == 0) throw pybind11::error_already_set();
  PyErr_Clear();
}

CtrlC::~CtrlC() {
  const std::lock_guard lock(mutex);
  if (slot_ < 0) return;
  taken[slot_] = false;
  if (--living == 0) stop_listening();
}

}  // namespace trammel::python
