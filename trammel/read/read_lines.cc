// Lines: their nodes become bodies before frames, joints and forces name them; their elements and clamps follow when
// all bodies are known, since a line may end at another one.
#include "trammel/elements/lines/line.h"
#include "trammel/read/read_types.h"

namespace trammel {
namespace {

constexpr std::size_t most_line_nodes = 200'000;  // of all lines of a model

}  // namespace

void ModelReader::name_line(const Entry& entry) {
  const Place place{"line", entry.name, ""};
  const std::size_t before = problems_.all().size();
  Line& line = lines_.emplace_back();
  Entries entries = values_->mapping(entry.node, place);
  const LineDescription* kind = find_type(entries, entry, place, line_registry(), line.item);
  if (kind != nullptr) {
    read_fields(entries, place, entry.key, kind->fields, false, line.item);
    entries.finish();
  }
  if (scope_of_prefix_.count(std::string(entry.name) + ".") != 0)
    values_->error(entry.key, "duplicate-name", place.text() + ": a use of a subsystem has this name",
                   "the nodes of the line are called " + std::string(entry.name) + ".1, ...; rename one of them");
  if (problems_.all().size() == before) {
    try {
      line_nodes_ += static_cast<std::size_t>(elements_of_line(line.item)) + 1;
      if (line_nodes_ > most_line_nodes)
        values_->error(entry.key, "too-large", place.text() + ": the lines of the model have too many nodes",
                       "at most " + std::to_string(most_line_nodes) + " are possible in all");
      else
        line.first_node = write_line_nodes(model_, line.item, current_->pose);
    } catch (const Failure& failure) {
      for (const Problem& problem : failure.problems()) values_->add(problem);
    }
  }
  if (problems_.all().size() > before) {
    stop_ = true;  // what attaches to its nodes would say the same again
    return;
  }
  for (int i = line.first_node; i < static_cast<int>(model_.bodies.size()); ++i)
    body_index_.emplace(document_.keep(model_.bodies[i].name), i);
}

void ModelReader::read_line(const Entry& entry, const Line& line) {
  const Place place{"line", entry.name, ""};
  const auto end = [&](const char* which) -> std::optional<int> {
    const Node* node = entry.node.find(which);
    return node == nullptr ? std::nullopt : std::optional(find_body(*node, place.at(which)));
  };
  const std::optional<int> first = end("start"), last = end("end");
  if (first == missing_body || last == missing_body) return;
  const std::size_t joints = model_.joints.size();
  try {
    write_line_elements(model_, line.item, line.first_node, first, last);
  } catch (const Failure& failure) {
    for (const Problem& problem : failure.problems()) values_->add(problem);
  }
  for (std::size_t i = joints; i < model_.joints.size(); ++i)
    joint_index_.emplace(document_.keep(model_.joints[i].name), static_cast<int>(i));
}

void ModelReader::read_lines() {
  std::size_t next = 0;
  each("lines", "line", [&](const Entry& entry) { read_line(entry, lines_[next++]); });
}

}  // namespace trammel
