// Checks and creates result files; see output_path.h.
#include "trammel/write/output_path.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "trammel/base/input_file.h"
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
  bytes.resize(file.gcount());
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

bool begins_with(const std::string& file, std::string_view mark) { return first_bytes(file, mark.size()) == mark; }

namespace {

bool ends_with(const std::string& path, std::string_view mark) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(mark.size(), '\0');
  file.seekg(-static_cast<std::streamoff>(mark.size()), std::ios::end);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return file && bytes == mark;
}

bool is_picture(const std::string& file) {
  const std::string head = first_bytes(file, 1024);
  const bool markup = head.starts_with("<?xml") || head.starts_with("<svg");
  return head.starts_with("\x89PNG\r\n\x1a\n") || (markup && head.find("<svg") != std::string::npos);
}

bool is_of_kind(const std::string& file, OutputKind kind) {
  switch (kind) {
    case OutputKind::result:
      if (is_hdf5_file(file)) return hdf5_is_written_by_us(file, hdf5_format_name);
      return begins_with(file, csv_magic) && !begins_with(file, matrices_magic);
    case OutputKind::matrices:
      if (is_hdf5_file(file)) return hdf5_is_written_by_us(file, hdf5_matrices_name);
      return begins_with(file, matrices_magic);
    case OutputKind::checkpoint: return begins_with(file, checkpoint_magic);
    case OutputKind::sweep: return begins_with(file, sweep_magic);
    case OutputKind::drives: return begins_with(file, drives_magic);
    case OutputKind::picture: return is_picture(file);
    case OutputKind::drawing: return ends_with(file, drawing_mark);
    case OutputKind::graph: return begins_with(file, graph_magic);
    case OutputKind::schema: return first_bytes(file, 1024).find("Trammel model file") != std::string::npos;
    case OutputKind::fresh: return false;
    case OutputKind::itself: return true;
  }
  return false;
}

const char* kind_text(OutputKind kind) {
  switch (kind) {
    case OutputKind::result: return "a result of Trammel";
    case OutputKind::matrices: return "a file of matrices or modes";
    case OutputKind::checkpoint: return "a checkpoint";
    case OutputKind::sweep: return "the table of a sweep";
    case OutputKind::drives: return "a table of drive forces";
    case OutputKind::picture: return "a picture";
    case OutputKind::drawing: return "a drawing of `trammel plot`";
    case OutputKind::graph: return "a graph of `trammel info`";
    case OutputKind::schema: return "a schema of Trammel";
    case OutputKind::fresh:
    case OutputKind::itself: break;
  }
  return "";
}

}  // namespace

void refuse_other_kinds(const std::string& path, OutputKind kind) {
  const std::string file = resolved(path);
  struct stat info {};
  if (kind == OutputKind::itself || stat(file.c_str(), &info) != 0) return;
  if (kind == OutputKind::fresh)
    throw write_failure("file-exists", "'" + path + "' exists: it is left as it is",
                        "choose another name, or remove the file first");
  if (!S_ISREG(info.st_mode)) return;
  if (is_noted_input(file))
    throw write_failure("output-is-input", "'" + path + "' is read by this very run: it is left as it is",
                        "choose another output name");
  if (info.st_size == 0 || is_of_kind(file, kind)) return;
  throw write_failure(kind == OutputKind::result ? "not-a-result" : "will-not-overwrite",
                      "'" + path + "' exists and is not " + kind_text(kind) + ": it is left as it is",
                      "choose another output name, or remove the file first");
}

void check_output_path(const std::string& path, OutputKind kind) {
  const auto refuse = [&](const std::string& why, const std::string& hint) {
    return write_failure("cannot-write", "cannot write '" + path + "': " + why, hint);
  };
  if (path.empty()) throw write_failure("cannot-write", "the name of a file to write is empty", "");
  const std::string file = resolved(path);
  const auto parent = std::filesystem::path(file).parent_path();
  const std::string folder = parent.empty() ? std::string(1, '.') : parent.string();
  struct stat info {};
  if (stat(file.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) throw refuse("it is a folder", "give the name of a file in it");
    refuse_other_kinds(path, kind);
    if (access(file.c_str(), W_OK) != 0) throw refuse(std::strerror(errno), "choose another name, or make it writable");
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

PendingFile::PendingFile(const std::string& path, OutputKind kind)
    : shown_(path), place_(resolved(path)), temporary_(place_) {
  check_output_path(path, kind);
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
    throw write_failure("cannot-write", "cannot write '" + path + "': " + std::strerror(errno), "choose another name");
  }
  if (exists && temporary_ != place_ && fchmod(fd, info.st_mode & 07777) != 0) {
    // the new file has the usual permissions instead of those of the old one
  }
  close(fd);
}

PendingFile::~PendingFile() {
  if (temporary_ != place_) unlink(temporary_.c_str());
}

void PendingFile::publish() {
  if (temporary_ == place_) return;
  if (rename(temporary_.c_str(), place_.c_str()) != 0) {
    throw write_failure("cannot-write", "cannot write '" + shown_ + "': " + std::strerror(errno),
                        "choose another name");
  }
  temporary_ = place_;
}

void write_whole_file(const std::string& path, std::string_view content, OutputKind kind) {
  PendingFile pending(path, kind);
  errno = 0;
  std::ofstream file(pending.path(), std::ios::binary);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  if (!file) {
    throw write_failure("cannot-write",
                        "cannot write '" + path + "': " + (errno != 0 ? std::strerror(errno) : "it does not take all"),
                        "choose another place, or make room on the disk");
  }
  pending.publish();
}

bool output_folder_exists(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return folder.empty() || std::filesystem::is_directory(folder, ignored);
}

}  // namespace trammel
