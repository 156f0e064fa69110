// Feeds a script to gnuplot and collects what it draws; see gnuplot.h.
#include "trammel/write/gnuplot.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "trammel/write/output_path.h"

extern char** environ;

namespace trammel {

namespace {

struct Descriptor {
  int fd = -1;
  ~Descriptor() { reset(); }
  Descriptor() = default;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  void reset() {
    if (fd >= 0) close(fd);
    fd = -1;
  }
};

[[noreturn]] void gnuplot_failed(const std::string& why, const std::string& hint = {}) {
  throw write_failure("cannot-plot", "cannot draw the plot: " + why, hint);
}

// What gnuplot prints about an error: without the echoed script lines, the caret and the blank lines.
std::string essence_of(const std::string& messages) {
  std::string lines;
  for (std::size_t begin = 0; begin < messages.size();) {
    const std::size_t end = std::min(messages.find('\n', begin), messages.size());
    const std::string line = messages.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t mark = line.find(": ");
    if (line.find("line ") == std::string::npos || mark == std::string::npos) continue;
    lines += (lines.empty() ? "" : "; ") + line.substr(mark + 2);
  }
  return lines.empty() ? messages : lines;
}

}  // namespace

std::string gnuplot_string(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "''";
    } else {
      out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    }
  }
  return out + "'";
}

std::string run_gnuplot(std::string_view script) {
  // A socket instead of a pipe for the script: writing to a gnuplot that has stopped must not raise SIGPIPE.
  std::array<int, 2> input{}, output{}, messages{};
  Descriptor script_out, script_in, picture_in, picture_out, message_in, message_out;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, input.data()) != 0) gnuplot_failed(std::strerror(errno));
  script_out.fd = input[0];
  script_in.fd = input[1];
  if (pipe2(output.data(), O_CLOEXEC) != 0) gnuplot_failed(std::strerror(errno));
  picture_in.fd = output[0];
  picture_out.fd = output[1];
  if (pipe2(messages.data(), O_CLOEXEC) != 0) gnuplot_failed(std::strerror(errno));
  message_in.fd = messages[0];
  message_out.fd = messages[1];

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, script_in.fd, 0);
  posix_spawn_file_actions_adddup2(&actions, picture_out.fd, 1);
  posix_spawn_file_actions_adddup2(&actions, message_out.fd, 2);
  std::string program = "gnuplot", no_start_up = "-d", standard_input = "-";
  std::array<char*, 4> arguments{program.data(), no_start_up.data(), standard_input.data(), nullptr};
  pid_t child = 0;
  const int spawned = posix_spawnp(&child, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (spawned == ENOENT) {
    gnuplot_failed("the program 'gnuplot' is not installed", "install it: apt install gnuplot-nox");
  }
  if (spawned != 0) gnuplot_failed(std::string("gnuplot does not start: ") + std::strerror(spawned));
  script_in.reset();
  picture_out.reset();
  message_out.reset();
  fcntl(script_out.fd, F_SETFL, O_NONBLOCK);

  // Both ways at once: gnuplot may fill its output before it has read the whole script.
  std::string picture, text;
  std::array<char, 65536> block{};
  const auto take = [&](Descriptor& from, std::string& into) {
    const ssize_t count = read(from.fd, block.data(), block.size());
    if (count > 0) {
      into.append(block.data(), static_cast<std::size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      from.reset();
    }
  };
  while (picture_in.fd >= 0 || message_in.fd >= 0) {
    std::array<pollfd, 3> waiting{
        {{picture_in.fd, POLLIN, 0}, {message_in.fd, POLLIN, 0}, {script_out.fd, POLLOUT, 0}}};
    if (poll(waiting.data(), waiting.size(), -1) < 0) continue;  // a signal
    if (waiting[0].revents != 0) take(picture_in, picture);
    if (waiting[1].revents != 0) take(message_in, text);
    if (waiting[2].revents == 0 || script_out.fd < 0) continue;
    const ssize_t sent = send(script_out.fd, script.data(), script.size(), MSG_NOSIGNAL);
    if (sent > 0) script.remove_prefix(static_cast<std::size_t>(sent));
    if (script.empty() || (sent < 0 && errno != EAGAIN && errno != EINTR)) script_out.reset();
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) gnuplot_failed("gnuplot says: " + essence_of(text));
  if (picture.empty()) gnuplot_failed("gnuplot drew nothing" + (text.empty() ? "" : ": " + essence_of(text)));
  return picture;
}

}  // namespace trammel
