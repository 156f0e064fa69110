#include "app/view_events.h"

#include <algorithm>
#include <cmath>

#include "app/result_json.h"
#include "trammel/base/numbers.h"

namespace trammel {
namespace {

// A number that a result holds as a double; nothing: it is none below `count`, or not there.
std::optional<std::size_t> number_below(std::size_t count, std::span<const double> row,
                                        std::optional<std::size_t> column) {
  if (!column || *column >= row.size()) return {};
  const double x = row[*column];
  if (!(x >= 0 && x < static_cast<double>(count))) return {};
  return static_cast<std::size_t>(x);
}

}  // namespace

std::optional<std::size_t> events_table(const std::vector<Table>& tables) {
  const auto table = std::find_if(tables.begin(), tables.end(), [](const Table& t) { return t.name == "events"; });
  if (table == tables.end()) return {};
  return static_cast<std::size_t>(table - tables.begin());
}

EventTexts::EventTexts(const Provenance& provenance, const Table& events)
    : switches_(joined_pieces(provenance, "switches")) {
  const auto column = [&](const char* name) -> std::optional<std::size_t> {
    for (std::size_t c = 0; c < events.signals.size(); ++c)
      if (events.signals[c].name == name) return c;
    return {};
  };
  which_ = column("event.switch");
  direction_ = column("event.direction");
  impulse_ = column("event.impulse");
  mode_ = column("event.mode");
}

Json EventTexts::entry(std::span<const double> row) const {
  const std::optional<std::size_t> which = number_below(switches_.size(), row, which_);
  if (!which || !switches_[*which].is_object() || !std::isfinite(row[0])) return {};
  const Json& about = switches_[*which];
  const auto modes = about.find("modes");
  const std::optional<std::size_t> mode =
      modes == about.end() || !modes->is_array() ? std::nullopt : number_below(modes->size(), row, mode_);
  const std::string into = mode ? text_at(*modes, *mode) : "";
  std::string text = text_in(about, "name");
  if (!into.empty())
    text += ", now: " + into;
  else if (impulse_ && row[*impulse_] != 0)
    text += ", impulse " + digits(row[*impulse_], 4) + " N s";
  else if (direction_)
    text += row[*direction_] > 0 ? ", rising" : ", falling";
  return {{"time", row[0]}, {"text", text}};
}

Json events_of(const MemoryTrajectory& result) {
  Json events = Json::array();
  const std::optional<std::size_t> table = events_table(result.tables());
  if (!table) return events;
  const EventTexts texts(result.provenance(), result.tables()[*table]);
  for (std::size_t i = 0; i < result.rows(*table); ++i) {
    Json entry = texts.entry(result.row(*table, i));
    if (!entry.is_null()) events.push_back(std::move(entry));
  }
  return events;
}

}  // namespace trammel
