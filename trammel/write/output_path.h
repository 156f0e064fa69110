// Everything that is written goes through here: refuses, before a run starts, what cannot be written or must not be
// overwritten.
#pragma once
#include <string>
#include <string_view>

#include "trammel/base/diagnosis.h"

namespace trammel {

// A Failure about a file that is written (cannot_write) or read (bad_usage).
Failure write_failure(std::string_view id, const std::string& message, const std::string& hint = {});
Failure read_failure(std::string_view id, const std::string& message, const std::string& hint = {});

// What a verb writes to a file. A file that is there already is replaced only by its own kind, known by its content: a
// mistyped name must not destroy a model or a measurement.
enum class OutputKind {
  result,      // of a run or an analysis: HDF5 or CSV
  matrices,    // linear systems and modes: HDF5 or CSV
  checkpoint,  // of a run or a coupling
  sweep,       // table of a sweep
  drives,      // CSV of inverse dynamics
  picture,     // PNG or SVG, any
  drawing,     // a picture made of letters
  graph,       // DOT
  schema,      // JSON Schema of model files
  fresh,       // what people write and change, models and coupling files: never replaced
  itself,      // the very file that was read, laid out anew
};
// How each kind begins, where a line of text is its mark.
inline constexpr std::string_view csv_magic = "# trammel-result ", matrices_magic = "# trammel-result matrices",
                                  checkpoint_magic = "trammel-checkpoint ", sweep_magic = "# trammel-sweep ",
                                  drives_magic = "# trammel-drives ", graph_magic = "// trammel-graph ";
inline constexpr std::string_view drawing_mark = "(drawn by trammel)\n";  // its last line

// Throws write_failure if `path` is there and is not of this kind, or is read by this run. Links of both sorts are
// followed; changes nothing.
void refuse_other_kinds(const std::string& path, OutputKind kind);
// The same, and unless a file can be written there: the folder exists, permissions suffice.
void check_output_path(const std::string& path, OutputKind kind = OutputKind::result);

// A result file in the making. It is created under a temporary name beside its place and takes the place only when
// publish() is called: until then an earlier result stays as it is, and a reader or another run that has that one open
// keeps it afterwards. Symbolic links are followed; devices, pipes, and files in folders that take no new ones are
// opened as they are.
class PendingFile {
 public:
  // Checks the path; throws write_failure.
  explicit PendingFile(const std::string& path, OutputKind kind = OutputKind::result);
  ~PendingFile();  // removes what was not published
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  const std::string& path() const { return temporary_; }  // where to write, before and after publish()
  const std::string& place() const { return place_; }     // where it will be, links followed
  static std::string resolve(const std::string& path);    // that place, for any path
  void publish();

 private:
  std::string shown_, place_, temporary_;
};

bool begins_with(const std::string& path, std::string_view mark);  // the file; false if it cannot be read
bool is_hdf5_file(const std::string& path);                        // by its first bytes

// A whole file at once, in the place of an earlier one of its kind. Throws write_failure.
void write_whole_file(const std::string& path, std::string_view content, OutputKind kind);

// Is the folder still there that a file was opened in?
bool output_folder_exists(const std::string& path);

}  // namespace trammel
