#include "trammel/base/input_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <set>
#include <tuple>
#include <vector>

namespace trammel {
namespace {

constexpr int pipe_patience = 10;  // seconds without a byte

// Device, number and time of the last change: names may be links.
using FileIdentity = std::tuple<dev_t, ino_t, time_t, long>;

bool identity_of(const std::string& path, FileIdentity& identity) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  identity = {info.st_dev, info.st_ino, info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
  return true;
}

struct NotedInputs {
  std::mutex mutex;
  std::set<FileIdentity> files;
};
NotedInputs& noted_inputs() {
  static NotedInputs inputs;
  return inputs;
}

struct OpenFile {
  int fd = -1;
  explicit OpenFile(int descriptor) : fd(descriptor) {}
  ~OpenFile() {
    if (fd >= 0) close(fd);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
};

}  // namespace

std::string read_whole_file(const std::string& path, std::uint64_t most_bytes, ExitCode code) {
  const auto refuse = [&](const char* id, const std::string& message, const std::string& hint) {
    return Failure({Severity::error, id, message, hint, {intern(path), 0, 0}}, code);
  };
  // A pipe that nobody writes to would keep an ordinary open() waiting for ever.
  const OpenFile file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (file.fd < 0) {
    const int why = errno;
    throw refuse("cannot-read", std::string("the file cannot be read: ") + std::strerror(why),
                 why == ENOENT ? "check the name and the current directory" : "check its permissions");
  }
  struct stat info {};
  if (fstat(file.fd, &info) != 0) throw refuse("cannot-read", "the file cannot be read", "is the disk in order?");
  if (S_ISDIR(info.st_mode)) throw refuse("not-a-file", "this is a directory, not a file", "name a file inside it");
  if (S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode))
    throw refuse("not-a-file", "this is a device, not a file: it may never end", "name a file");
  const auto too_large = [&] {
    return refuse("too-large", "the file is larger than " + std::to_string(most_bytes >> 20) + " MB",
                  "is this the right file?");
  };
  std::string text;
  if (S_ISREG(info.st_mode)) {
    if (static_cast<std::uint64_t>(info.st_size) > most_bytes) throw too_large();
    text.reserve(info.st_size);
  }
  std::vector<char> block(std::size_t{1} << 18);
  for (;;) {
    if (!S_ISREG(info.st_mode)) {
      pollfd wait{file.fd, POLLIN, 0};
      const int ready = poll(&wait, 1, 1000 * pipe_patience);
      if (ready < 0 && errno == EINTR) continue;
      if (ready == 0)
        throw refuse("cannot-read", "nothing came out of the pipe for " + std::to_string(pipe_patience) + " seconds",
                     "write to it, or name a file");
    }
    const ssize_t count = read(file.fd, block.data(), block.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count < 0) throw refuse("cannot-read", "the file cannot be read to its end", "is the disk in order?");
    if (count == 0) return text;
    text.append(block.data(), static_cast<std::size_t>(count));
    if (text.size() > most_bytes) throw too_large();
  }
}

void note_input(const std::string& path) {
  FileIdentity identity;
  if (!identity_of(path, identity)) return;
  const std::lock_guard lock(noted_inputs().mutex);
  noted_inputs().files.insert(identity);
}

bool is_noted_input(const std::string& path) {
  FileIdentity identity;
  if (!identity_of(path, identity)) return false;
  const std::lock_guard lock(noted_inputs().mutex);
  return noted_inputs().files.count(identity) > 0;
}

}  // namespace trammel
