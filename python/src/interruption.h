// Ctrl-C during a long call: the interpreter is not running then, so its own handler only takes a note. While one of
// these lives, the signal also raises a flag that the library looks at between and within steps; Python's handler is
// called as always, and speaks up when the call is back.
#pragma once
#include <atomic>

namespace trammel::python {

class CtrlC {
 public:
  CtrlC();
  ~CtrlC();
  CtrlC(const CtrlC&) = delete;
  CtrlC& operator=(const CtrlC&) = delete;
  std::atomic<bool>& flag() const { return *flag_; }

 private:
  std::atomic<bool>* flag_;
  int slot_;
  std::atomic<bool> own_{false};  // if all places are taken: then only Python's handler hears the signal
};

// After a call that ended in good order because of Ctrl-C, with the interpreter: Python's handler runs now, and its
// KeyboardInterrupt is dropped, because the call itself says what happened. Other exceptions of a handler are thrown.
void settle_signals();

// Thrown where Ctrl-C leaves no result: Python sees KeyboardInterrupt.
struct Interruption {};

}  // namespace trammel::python
