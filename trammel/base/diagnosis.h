// What went wrong, where, and what to do about it. Everything a user is told travels in these types:
// readers and compilers collect Problems and throw one Failure; the command prints it as text or JSON.
#pragma once
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace trammel {

// A place in a model file. The file name is interned, so that ten thousand items do not keep ten thousand copies.
struct Location {
  const std::string* file = nullptr;  // nullptr: built in C++, no file
  int line = 0;                       // from 1
  int column = 0;                     // from 1
};

// The same pointer for the same text, valid until the program ends; thread-safe.
const std::string* intern(std::string_view text);

enum class Severity { note, warning, error };

struct Problem {
  Severity severity = Severity::error;
  std::string id;       // stable, kebab-case: "unknown-key", "negative-mass", "loop-does-not-close"
  std::string message;  // one sentence that names the part of the model: "body 'crank': mass is -2 kg"
  std::string hint;     // what to do; may be empty
  Location where;
};

// "model.yaml:12:5: error: body 'crank': mass is -2 kg [negative-mass]\n  hint: ..."
std::string to_text(const Problem&);

// Exit codes of the command, documented in `trammel --help`.
enum class ExitCode {
  ok = 0,
  failed_run = 1,
  bad_usage = 2,
  bad_model = 3,
  cannot_write = 4,
  interrupted = 5,
  study_missed = 6,
  internal = 70
};

// Thrown before a run starts or when it cannot go on; never inside a step.
class Failure : public std::runtime_error {
 public:
  explicit Failure(Problem problem, ExitCode code = ExitCode::bad_model);
  explicit Failure(std::vector<Problem> problems, ExitCode code = ExitCode::bad_model);
  const std::vector<Problem>& problems() const { return problems_; }
  ExitCode exit_code() const { return code_; }

 private:
  std::vector<Problem> problems_;
  ExitCode code_;
};

// The candidate nearest to `name` in edit distance, empty if none is near: for "did you mean" hints.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace trammel
