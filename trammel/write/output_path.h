// Opening result files: refuses, before a run starts, what cannot be written or should not be overwritten.
#pragma once
#include <string>
#include <string_view>

#include "trammel/base/diagnosis.h"

namespace trammel {

// A Failure about a file that is written (cannot_write) or read (bad_usage).
Failure write_failure(std::string_view id, const std::string& message, const std::string& hint = {});
Failure read_failure(std::string_view id, const std::string& message, const std::string& hint = {});

// Throws write_failure unless a result can be written to `path`: the folder exists, permissions suffice, and a file
// already there is empty or an earlier result (a mistyped output name must not destroy a model). Changes nothing.
void check_output_path(const std::string& path);

// A result file in the making. It is created under a temporary name beside its place and takes the place only when
// publish() is called: until then an earlier result stays as it is, and a reader or another run that has that one open
// keeps it afterwards. Symbolic links are followed; devices, pipes, and files in folders that take no new ones are
// opened as they are.
class PendingFile {
 public:
  explicit PendingFile(const std::string& path);  // checks the path; throws write_failure
  ~PendingFile();                                 // removes what was not published
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  const std::string& path() const { return temporary_; }  // where to write, before and after publish()
  const std::string& place() const { return place_; }     // where it will be, links followed
  static std::string resolve(const std::string& path);    // that place, for any path
  void publish();

 private:
  std::string shown_, place_, temporary_;
};

// The file is an HDF5 file, by its first bytes.
bool is_hdf5_file(const std::string& path);

// How every CSV result begins.
inline constexpr std::string_view csv_magic = "# trammel-result ";

// Is the folder still there that a file was opened in?
bool output_folder_exists(const std::string& path);

}  // namespace trammel
