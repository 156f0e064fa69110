// Checks and creates result files; see output_path.h.
#include "trammel/write/output_path.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "trammel/write/hdf5_handles.h"

namespace trammel {

Failure write_failure(std::string_view id, const std::string& message, const std::string& hint) {
  return Failure(Problem{Severity::error, std::string(id), message, hint, {}}, ExitCode::cannot_write);
}

Failure read_failure(std::string_view id, const std::string& message, const std::string& hint) {
  return Failure(Problem{Severity::error, std::string(id), message, hint, {}}, ExitCode::bad_usage);
}

namespace {

std::string first_bytes(const std::string& path, std::size_t count) {
  std::string bytes(count, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), static_cast<std::streamsize>(count));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

constexpr std::string_view hdf5_signature("\x89HDF\r\n\x1a\n", 8);

std::string resolved(const std::string& path) {
  std::error_code ignored;
  const auto real = std::filesystem::weakly_canonical(path, ignored);
  return real.empty() ? path : real.string();
}

}  // namespace

bool is_hdf5_file(const std::string& path) { return first_bytes(path, hdf5_signature.size()) == hdf5_signature; }

void check_output_path(const std::string& path) {
  const auto refuse = [&](const std::string& why, const std::string& hint) {
    return write_failure("cannot-write", "cannot write the result '" + path + "': " + why, hint);
  };
  if (path.empty()) throw refuse("the name is empty", "");
  const std::string file = resolved(path);
  const auto parent = std::filesystem::path(file).parent_path();
  const std::string folder = parent.empty() ? std::string(1, '.') : parent.string();
  struct stat info {};
  if (stat(file.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) throw refuse("it is a folder", "give the name of a file in it");
    if (access(file.c_str(), W_OK) != 0) throw refuse(std::strerror(errno), "choose another name, or make it writable");
    if (!S_ISREG(info.st_mode) || info.st_size == 0) return;
    const bool ours =
        is_hdf5_file(file) ? hdf5_is_result_or_damaged(file) : first_bytes(file, csv_magic.size()) == csv_magic;
    if (!ours) {
      throw write_failure("not-a-result", "'" + path + "' exists and is not a result of Trammel: it is left as it is",
                          "choose another output name, or remove the file first");
    }
    return;
  }
  if (errno != ENOENT && errno != ENOTDIR) throw refuse(std::strerror(errno), "choose another name");
  if (stat(folder.c_str(), &info) != 0) {
    throw refuse("folder '" + folder + "': " + std::strerror(errno), "create the folder first");
  }
  if (!S_ISDIR(info.st_mode)) throw refuse("'" + folder + "' is not a folder", "choose another name");
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    throw refuse("folder '" + folder + "': " + std::strerror(errno), "choose a folder you may write to");
  }
}

std::string PendingFile::resolve(const std::string& path) { return resolved(path); }

PendingFile::PendingFile(const std::string& path) : shown_(path), place_(resolved(path)), temporary_(place_) {
  check_output_path(path);
  struct stat info {};
  const bool exists = stat(place_.c_str(), &info) == 0;
  if (exists && !S_ISREG(info.st_mode)) return;
  const std::string beside = place_ + "." + std::to_string(getpid()) + ".new";
  int fd = open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd >= 0) {
    temporary_ = beside;
  } else {
    fd = open(place_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  }
  if (fd < 0) {
    throw write_failure("cannot-write", "cannot write the result '" + path + "': " + std::strerror(errno),
                        "choose another name");
  }
  close(fd);
}

PendingFile::~PendingFile() {
  if (temporary_ != place_) unlink(temporary_.c_str());
}

void PendingFile::publish() {
  if (temporary_ == place_) return;
  if (rename(temporary_.c_str(), place_.c_str()) != 0) {
    throw write_failure("cannot-write", "cannot write the result '" + shown_ + "': " + std::strerror(errno),
                        "choose another name");
  }
  temporary_ = place_;
}

bool output_folder_exists(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return folder.empty() || std::filesystem::is_directory(folder, ignored);
}

}  // namespace trammel
