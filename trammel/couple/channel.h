// The line to a participant in another process: a request goes out, an answer comes back, both as one line of JSON.
// What requests and answers hold is described in docs/guide/coupling.md. Numbers are written with all their digits, so
// that a participant gives the same bits in this process and in another.
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace trammel {

class Channel {
 public:
  virtual ~Channel() = default;
  virtual void send(const std::string& line) = 0;
  // Throws Failure: the other side is gone or does not answer.
  virtual std::string receive() = 0;
};

// A program started here; requests go to its standard input, answers come from its standard output. `patience`: seconds
// it may take for an answer; `stop`: set by a signal, ends the waiting at once.
std::unique_ptr<Channel> start_process(const std::vector<std::string>& command, const std::string& participant,
                                       double patience, const std::atomic<bool>* stop = nullptr);
// The other end: standard input and output of this process.
std::unique_ptr<Channel> standard_channel();

}  // namespace trammel
