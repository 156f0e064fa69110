#include "trammel/base/diagnosis.h"

#include <algorithm>
#include <mutex>
#include <set>

#include "trammel/base/printable.h"

namespace trammel {

const std::string* intern(std::string_view text) {
  static std::mutex mutex;
  static std::set<std::string, std::less<>> names;
  const std::lock_guard lock(mutex);
  auto found = names.find(text);
  if (found == names.end()) found = names.emplace(text).first;
  return &*found;
}

std::string to_text(const Problem& problem) {
  std::string text;
  if (problem.where.file != nullptr) {
    text += printable(*problem.where.file);
    if (problem.where.line > 0) {
      text += ":" + std::to_string(problem.where.line) + ":" + std::to_string(problem.where.column);
    }
    text += ": ";
  }
  switch (problem.severity) {
    case Severity::note: text += "note: "; break;
    case Severity::warning: text += "warning: "; break;
    case Severity::error: text += "error: "; break;
  }
  text += printable(problem.message, true);
  if (!problem.id.empty()) text += " [" + problem.id + "]";
  if (!problem.hint.empty()) text += "\n  hint: " + printable(problem.hint, true);
  return text;
}

namespace {
std::string join(const std::vector<Problem>& problems) {
  std::string text;
  for (const Problem& problem : problems) {
    if (!text.empty()) text += "\n";
    text += to_text(problem);
  }
  return text;
}
}  // namespace

Failure::Failure(Problem problem, ExitCode code) : Failure(std::vector<Problem>{std::move(problem)}, code) {}

Failure::Failure(std::vector<Problem> problems, ExitCode code)
    : std::runtime_error(join(problems)), problems_(std::move(problems)), code_(code) {}

namespace {
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}
}  // namespace

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  std::string best;
  // Two slips in a name of four letters or more (two letters exchanged count as two), one in a shorter one; farther is
  // another word.
  std::size_t best_distance = (name.size() < 4 ? 1 : std::max<std::size_t>(2, name.size() / 3)) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace trammel
