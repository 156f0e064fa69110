#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "trammel/base/diagnosis.h"
#include "trammel/couple/channel.h"

namespace trammel {
namespace {

[[noreturn]] void lost(const std::string& participant, const std::string& what) {
  throw Failure({Severity::error,
                 "participant-lost",
                 "participant '" + participant + "' " + what,
                 "look at what it printed; the state of the last macro steps is saved",
                 {}},
                ExitCode::failed_run);
}

// A coupling may be the participant of another one; one whose command is itself would never end.
constexpr int deepest_coupling = 3;
constexpr const char* depth_variable = "TRAMMEL_COUPLING_DEPTH";
constexpr std::size_t longest_line = std::size_t{256} << 20;  // a saved state of 100 MB in hexadecimal digits

class ProcessChannel final : public Channel {
 public:
  ProcessChannel(const std::vector<std::string>& command, std::string participant, double patience,
                 const std::atomic<bool>* stop)
      : participant_(std::move(participant)), patience_(patience), stop_(stop) {
    const char* outer = std::getenv(depth_variable);
    const int depth = outer == nullptr ? 0 : std::atoi(outer);
    if (depth >= deepest_coupling || depth < 0)
      throw Failure({Severity::error,
                     "too-deep",
                     "participant '" + participant_ + "': couplings start couplings " +
                         std::to_string(deepest_coupling) + " deep",
                     "does the command of a participant start this coupling again?",
                     {}});
    const std::string inner = std::to_string(depth + 1);
    int to[2], from[2];
    if (pipe(to) != 0 || pipe(from) != 0) lost(participant_, "cannot be started: no pipes are left");
    child_ = fork();
    if (child_ == 0) {
      setpgid(0, 0);  // Ctrl-C is for the coupling, which then ends its participants
      dup2(to[0], STDIN_FILENO);
      dup2(from[1], STDOUT_FILENO);
      for (const int end : {to[0], to[1], from[0], from[1]}) ::close(end);
      setenv(depth_variable, inner.c_str(), 1);
      std::vector<char*> words;
      words.reserve(command.size() + 1);
      for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
      words.push_back(nullptr);
      execvp(words[0], words.data());
      std::fprintf(stderr, "%s: %s\n", words[0], std::strerror(errno));
      _exit(127);
    }
    ::close(to[0]);
    ::close(from[1]);
    out_ = to[1];
    in_ = from[0];
    // Other participants' programs must not hold our ends open, and a write must not wait.
    for (const int end : {in_, out_}) fcntl(end, F_SETFD, FD_CLOEXEC);
    fcntl(out_, F_SETFL, O_NONBLOCK);
    if (child_ < 0) lost(participant_, "cannot be started");
    signal(SIGPIPE, SIG_IGN);
  }
  ~ProcessChannel() override {
    ::close(out_);
    ::close(in_);
    // It ends when its input does; one that does not is ended.
    for (int i = 0; i < 100; ++i) {
      if (ended_ || child_ <= 0 || waitpid(child_, nullptr, WNOHANG) != 0) return;
      usleep(10000);
    }
    end_child();
  }
  // A program that does not read would stop us for ever once the pipe is full.
  void send(const std::string& line) override {
    const std::string text = line + "\n";
    const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(patience_);
    std::size_t done = 0;
    while (done < text.size()) {
      pollfd wait{out_, POLLOUT, 0};
      const int ready = poll(&wait, 1, 200);
      if (ready > 0) {
        const ssize_t n = write(out_, text.data() + done, text.size() - done);
        if (n < 0 && errno != EINTR && errno != EAGAIN) gone();
        if (n > 0) done += static_cast<std::size_t>(n);
      }
      if (done < text.size()) give_up_after(until, " does not take what is sent");
    }
  }
  std::string receive() override {
    const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(patience_);
    std::size_t searched = 0;
    for (;;) {
      const std::size_t end = buffer_.find('\n', searched);
      searched = buffer_.size();
      if (end != std::string::npos) {
        std::string line = buffer_.substr(0, end);
        buffer_.erase(0, end + 1);
        return line;
      }
      pollfd wait{in_, POLLIN, 0};
      const int ready = poll(&wait, 1, 200);
      if (ready > 0) {
        char piece[65536];
        const ssize_t n = read(in_, piece, sizeof piece);
        if (n == 0 || (n < 0 && errno != EINTR)) gone();
        if (n > 0) buffer_.append(piece, static_cast<std::size_t>(n));
        if (buffer_.size() > longest_line) {
          end_child();
          lost(participant_, process() + " sends a line of more than " + std::to_string(longest_line >> 20) + " MB");
        }
      }
      give_up_after(until, buffer_.size() > searched ? " does not end its answer" : " does not answer");
    }
  }

 private:
  void give_up_after(const auto& until, const char* why) {
    // A run that is asked to stop gives the answer a little time: it ends in good order with it.
    if (stop_ != nullptr && *stop_ && !stopping_)
      stopping_ = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    if (stopping_ && std::chrono::steady_clock::now() > *stopping_) {
      end_child();
      lost(participant_, process() + " was left waiting when the run was ended");
    }
    if (std::chrono::steady_clock::now() < until) return;
    end_child();
    lost(participant_, process() + why);
  }
  std::string process() const { return "(process " + std::to_string(child_) + ")"; }
  void end_child() {
    if (ended_) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    ended_ = true;
  }
  // How it ended, if it has.
  [[noreturn]] void gone() {
    int status = 0;
    for (int i = 0; i < 20; ++i) {
      if (waitpid(child_, &status, WNOHANG) == child_) {
        const std::string who = process();
        child_ = -1;
        lost(participant_,
             who + (WIFSIGNALED(status) ? " was ended by signal " + std::to_string(WTERMSIG(status))
                                        : " ended with exit code " + std::to_string(WEXITSTATUS(status))));
      }
      usleep(10000);
    }
    lost(participant_, process() + " closed its line");
  }

  std::string participant_, buffer_;
  double patience_;
  const std::atomic<bool>* stop_;
  std::optional<std::chrono::steady_clock::time_point> stopping_;
  pid_t child_ = -1;
  bool ended_ = false;
  int in_ = -1, out_ = -1;
};

class StandardChannel final : public Channel {
 public:
  void send(const std::string& line) override {
    std::fwrite(line.data(), 1, line.size(), stdout);
    std::fputc('\n', stdout);
    std::fflush(stdout);
  }
  std::string receive() override {
    std::string line;
    for (int c = std::getc(stdin); c != EOF && line.size() < longest_line; c = std::getc(stdin)) {
      if (c == '\n') return line;
      line += static_cast<char>(c);
    }
    if (line.size() >= longest_line)
      throw Failure({Severity::error, "bad-message", "a request is longer than any", "", {}}, ExitCode::failed_run);
    throw Failure({Severity::error, "participant-lost", "the coupling has gone away", "", {}}, ExitCode::failed_run);
  }
};

}  // namespace

std::unique_ptr<Channel> start_process(const std::vector<std::string>& command, const std::string& participant,
                                       double patience, const std::atomic<bool>* stop) {
  return std::make_unique<ProcessChannel>(command, participant, patience, stop);
}

std::unique_ptr<Channel> standard_channel() { return std::make_unique<StandardChannel>(); }

}  // namespace trammel
