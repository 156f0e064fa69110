// The key `type` of blocks and lines: which description of their registry it names.
#pragma once
#include "trammel/base/literal.h"
#include "trammel/read/model_reader.h"

namespace trammel {

// Names the item, and finds the description of its type; nullptr: there is none, which has been reported.
template <class Description>
const Description* ModelReader::find_type(Entries& entries, const Entry& entry, const Place& place,
                                          const std::vector<Description>& registry, Item& item) {
  item.name = entry.name;
  item.where = values_->where(entry.key);
  if (!entries.good()) return nullptr;
  const auto hint = [&registry](std::string_view near) {
    std::vector<std::string> keys;
    std::string list = "types:";
    for (const Description& each : registry) {
      keys.push_back(each.key);
      list += ' ' + each.key;
    }
    const std::string found = did_you_mean(near, keys);
    return found.empty() ? list : found;
  };
  const Node* type = entries.find("type");
  if (type == nullptr) {
    values_->error(entry.node, "missing-key", place.text() + ": 'type' is missing", hint(""));
    return nullptr;
  }
  const std::optional<std::string> text = values_->text(*type, place.at("type"));
  if (!text) return nullptr;
  item.type = *text;
  for (const Description& each : registry)
    if (each.key == item.type) return &each;
  values_->error(*type, "unknown-type", place.text() + ": there is no type " + quote(item.type), hint(item.type));
  return nullptr;
}

}  // namespace trammel
