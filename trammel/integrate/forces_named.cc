#include "trammel/integrate/forces_named.h"

#include <algorithm>

namespace trammel {
namespace {

// Does the text fit a pattern in which * stands for any characters?
bool fits(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] != '*') return !text.empty() && text[0] == pattern[0] && fits(pattern.substr(1), text.substr(1));
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (fits(pattern.substr(1), text.substr(i))) return true;
  }
  return false;
}

}  // namespace

std::vector<bool> forces_named(const Model& model, const std::string& names) {
  const std::vector<Item>& forces = model.forces;
  std::vector<bool> chosen(forces.size(), false);
  for (std::size_t at = 0; at < names.size();) {
    const std::size_t comma = std::min(names.find(',', at), names.size());
    std::string name = names.substr(at, comma - at);
    name.erase(std::remove(name.begin(), name.end(), ' '), name.end());
    at = comma + 1;
    if (name.empty()) continue;
    bool any = false;
    for (std::size_t i = 0; i < forces.size(); ++i) {
      if (!fits(name, forces[i].name)) continue;
      chosen[i] = any = true;
    }
    if (any) continue;
    std::vector<std::string> known;
    for (const Item& force : forces) known.push_back(force.name);
    const std::string near = nearest_name(name, known);
    throw Failure(
        {Severity::error, "unknown-name", "option 'forces_without_derivatives': no force is called '" + name + "'",
         near.empty() ? "name forces of the model, or patterns such as *.spring" : "did you mean '" + near + "'?",
         model.simulation.where});
  }
  return chosen;
}

}  // namespace trammel
