// Sets of contacts: every frame of one side with every frame of the other, as forces of type `contact` that are named
// SET.FRAME_A.FRAME_B.
#include <algorithm>
#include <set>
#include <string_view>

#include "trammel/base/literal.h"
#include "trammel/elements/registry.h"
#include "trammel/read/model_reader.h"

namespace trammel {
namespace {

constexpr std::size_t most_pairs = 200'000;

// `*` stands for any letters but a dot: a pattern does not reach into subsystems by itself. Only the last star is tried
// again, so that no pattern takes long.
bool fits(std::string_view pattern, std::string_view name) {
  constexpr std::size_t nowhere = std::string_view::npos;
  std::size_t p = 0, n = 0, star = nowhere, taken = 0;  // what the last star took ends there
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != nowhere && name[taken] != '.') {
      p = star + 1;
      n = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == nowhere;
}

using Pair = std::pair<int, int>;

// Bodies that a joint of two frames holds together; the ground counts as one.
std::set<Pair> joined_bodies(const Model& model) {
  std::set<Pair> joined;
  for (const Item& joint : model.joints) {
    if (joint.frames.size() != 2) continue;
    const int a = model.frames[joint.frames[0]].body, b = model.frames[joint.frames[1]].body;
    joined.insert(std::minmax(a, b));
  }
  return joined;
}

}  // namespace

void ModelReader::read_contact_set(const Entry& entry) {
  const Place place{"contacts", entry.name, ""};
  Item item;
  item.type = "contact";
  item.where = values_->where(entry.key);
  Entries entries = values_->mapping(entry.node, place);
  if (!entries.good()) return;
  const std::size_t before = problems_.all().size();
  read_fields(entries, place, entry.key, find_element(Category::force, item.type)->fields, false, item);
  read_part(entries, place, item);
  const std::vector<Member> a = read_members(entries, "frames_a", entry.key, place),
                            b = read_members(entries, "frames_b", entry.key, place);
  const Node* all = entries.find("joined");
  const bool with_joined = all != nullptr && values_->condition(*all, place.at("joined")).value_or(false);
  entries.finish();
  if (problems_.all().size() > before) return;
  if (a.size() * b.size() > most_pairs) {
    values_->error(entry.key, "out-of-range",
                   place.text() + ": it has more than " + std::to_string(most_pairs) + " pairs",
                   "make sets of what can meet");
    return;
  }
  if (std::any_of(model_.forces.begin(), model_.forces.end(),
                  [&](const Item& force) { return force.name == entry.name || force.set == entry.name; })) {
    values_->error(entry.key, "duplicate-name", place.text() + ": a force has this name", "rename one of them");
    return;
  }
  // The same shape on both sides: each pair once.
  const bool alike = item.fields.get<std::string>("shape_a") == item.fields.get<std::string>("shape_b");
  std::set<std::pair<std::string_view, std::string_view>> taken;
  const std::set<Pair> joined = with_joined ? std::set<Pair>() : joined_bodies(model_);
  ContactSet set{std::string(entry.name), 0, 0, item.where};
  for (const Member& first : a) {
    for (const Member& second : b) {
      const int body_a = model_.frames[first.frame].body, body_b = model_.frames[second.frame].body;
      if (body_a == body_b) continue;
      if (alike && !taken.insert(std::minmax<std::string_view>(first.name, second.name)).second) continue;
      if (joined.count(std::minmax(body_a, body_b)) != 0) {
        ++set.joined;
        continue;
      }
      Item& pair = model_.forces.emplace_back(item);
      pair.name = set.name + "." + first.name + "." + second.name;
      pair.frames = {first.frame, second.frame};
      pair.set = set.name;
      ++set.pairs;
    }
  }
  if (set.pairs == 0) {
    values_->error(entry.key, "no-contact-pair", place.text() + ": there is no pair that could touch",
                   set.joined > 0 ? "joints hold all of them together; `joined: true` takes them too"
                                  : "its sides are on the same body");
  }
  model_.contact_sets.push_back(std::move(set));
}

std::vector<ModelReader::Member> ModelReader::read_members(Entries& entries, const char* side, const Node& key,
                                                           const Place& place) {
  std::vector<Member> members;
  const Node* node = entries.find(side);
  if (node == nullptr) {
    values_->error(key, "missing-key", place.text() + ": " + quote(side) + " is missing",
                   "name the frames or bodies on this side: a list, or a pattern such as link_*");
    return members;
  }
  if (node->is_sequence()) {
    for (std::size_t i = 0; i < node->count; ++i) add_members(node->item(i), place, members);
  } else {
    add_members(*node, place, members);
  }
  std::set<std::string_view> seen;
  for (const Member& member : members) {
    if (seen.insert(member.name).second) continue;
    values_->error(*node, "duplicate-name", place.text() + ": " + quote(member.name) + " is named twice",
                   "name it once");
    break;
  }
  return members;
}

void ModelReader::add_members(const Node& node, const Place& place, std::vector<Member>& members) {
  if (!node.is_scalar() || node.text.find('*') == std::string_view::npos) {
    const int frame = find_frame(node, place);
    if (frame >= 0) members.push_back({std::string(node.text), frame});
    return;
  }
  check_visible(node, place);
  const std::string pattern = full_name(node.text);
  const std::size_t prefix = pattern.size() - node.text.size(), before = members.size();
  const std::size_t frames = model_.frames.size();  // bodies get new ones
  for (std::size_t i = 0; i < frames; ++i) {
    const std::string& name = model_.frames[i].name;
    if (!name.empty() && fits(pattern, name)) members.push_back({name.substr(prefix), static_cast<int>(i)});
  }
  for (std::size_t i = 0; i < model_.bodies.size(); ++i) {
    const std::string& name = model_.bodies[i].name;
    if (fits(pattern, name))
      members.push_back({name.substr(prefix), add_frame(static_cast<int>(i), {}, values_->where(node))});
  }
  if (members.size() == before) {
    values_->error(node, "unknown-frame", place.text() + ": no frame or body is called " + quote(node.text),
                   "define them under `frames` or `bodies`");
  }
}

}  // namespace trammel
