// What happened at an instant of a run, in words: its table of events with the names of its switches.
#pragma once
#include <optional>
#include <span>

#include "app/view_format.h"
#include "trammel/write/trajectory.h"

namespace trammel {

// The table with a row for each event; nothing: the model has no switches, or the result is older than they are.
std::optional<std::size_t> events_table(const std::vector<Table>& tables);

class EventTexts {
 public:
  EventTexts(const Provenance& provenance, const Table& events);

  // {"time", "text"} of a row; null where it names no switch of the model.
  Json entry(std::span<const double> row) const;

 private:
  Json switches_;
  std::optional<std::size_t> which_, direction_, impulse_, mode_;  // columns
};

// The entries of all of them.
Json events_of(const MemoryTrajectory& result);

}  // namespace trammel
