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

void on_signal(int signal) {
  for (int i = 0; i < places; ++i) {
    if (taken[i].load(std::memory_order_relaxed)) flags[i] = true;
  }
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) before.sa_handler(signal);
}

}  // namespace

CtrlC::CtrlC() : flag_(&own_), slot_(-1) {
  const std::lock_guard lock(mutex);
  if (living == 0) {
    sigaction(SIGINT, nullptr, &before);
    // A program that does not listen (a job in the background, another one that holds the interpreter) is left alone.
    if ((before.sa_flags & SA_SIGINFO) != 0 || before.sa_handler == SIG_IGN || before.sa_handler == SIG_DFL) return;
    struct sigaction ours = before;
    ours.sa_handler = on_signal;
    sigaction(SIGINT, &ours, nullptr);
  }
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
  if (--living == 0) sigaction(SIGINT, &before, nullptr);
}

}  // namespace trammel::python
