#include "app/view_modes.h"

#include <algorithm>
#include <cmath>

#include "trammel/model/modal_data.h"

namespace trammel {
namespace {

constexpr std::size_t most_modes = 400, most_bytes = std::size_t{24} << 20;
constexpr double shape_quantum = 1e-6;  // of the greatest displacement, or rotation

// How the bodies that bend do it in a mode: their modal coordinates are the last velocities of each.
void add_modal(const Equations& equations, const Mode& mode, bool damped, ViewColumns& modal) {
  std::size_t column = 0;
  const auto add = [&](double x) {
    if (column == modal.size()) modal.emplace_back();
    modal[column++].push_back(x);
  };
  for (std::size_t b = 0; b < equations.model().bodies.size(); ++b) {
    const Body& body = equations.model().bodies[b];
    if (body.modal == nullptr) continue;
    const auto count = static_cast<int>(equations.body(static_cast<int>(b)).velocities().size());
    const int behind = equations.first_velocity(static_cast<int>(b)) + count;
    for (int i = behind - body.modal->modes(); i < behind; ++i) add(mode.shape[i].real());
    for (int i = behind - body.modal->modes(); damped && i < behind; ++i) add(mode.shape[i].imag());
  }
}

ModeSet mode_set(const Equations& equations, const State& state, const std::vector<Mode>& modes, bool damped) {
  const std::vector<Body>& bodies = equations.model().bodies;
  const auto placed = static_cast<std::size_t>(
      std::count_if(bodies.begin(), bodies.end(), [](const Body& b) { return kind_of(b).is_place; }));
  ModeSet set;
  set.damped = damped;
  set.found = modes.size();
  set.shapes.resize((damped ? 12 : 6) * placed);
  const std::size_t of_bytes = set.shapes.empty() ? most_modes : most_bytes / (4 * set.shapes.size());
  const std::size_t kept = std::min({modes.size(), most_modes, std::max<std::size_t>(of_bytes, 1)});
  set.modes.assign(modes.begin(), modes.begin() + static_cast<std::ptrdiff_t>(kept));
  for (const Mode& mode : set.modes) {
    const Eigen::MatrixXcd shape = shape_of_bodies(equations, state, mode);
    std::size_t column = 0;
    for (Eigen::Index b = 0; b < shape.rows(); ++b) {
      if (!kind_of(bodies[static_cast<std::size_t>(b)]).is_place) continue;
      for (Eigen::Index i = 0; i < 6; ++i) set.shapes[column++].push_back(shape(b, i).real());
      for (Eigen::Index i = 0; damped && i < 6; ++i) set.shapes[column++].push_back(shape(b, i).imag());
    }
    add_modal(equations, mode, damped, set.modal);
  }
  return set;
}

// One quantum for all displacements and one for all rotations.
Json shapes_chunk(ViewFile& file, const ViewColumns& columns) {
  double greatest[2] = {0, 0};
  const auto turns = [](std::size_t column) { return column % 6 >= 3; };
  for (std::size_t c = 0; c < columns.size(); ++c) {
    for (const double x : columns[c]) greatest[turns(c)] = std::max(greatest[turns(c)], std::abs(x));
  }
  std::vector<double> steps;
  for (std::size_t c = 0; c < columns.size(); ++c)
    steps.push_back(greatest[turns(c)] > 0 ? shape_quantum * greatest[turns(c)] : 1);
  return file.add_quantised(columns, steps);
}

}  // namespace

std::string kind_of_mode(const Mode& mode, bool damped) {
  if (mode.rigid) return "rigid";
  return !mode.stable || (!damped && !mode.oscillates) ? "unstable" : "";
}

std::string bodies_of_mode(const Mode& mode) {
  std::string text;
  for (const std::string& name : mode.bodies) text += (text.empty() ? "" : ", ") + name;
  return text;
}

ModesOfPage modes_of_page(const Equations& equations, const State& state, const Modes& modes,
                          const std::string& around) {
  ModesOfPage page{around, modes.notes, {}};
  if (!modes.undamped.empty()) page.sets.push_back(mode_set(equations, state, modes.undamped, false));
  if (!modes.damped.empty()) page.sets.push_back(mode_set(equations, state, modes.damped, true));
  return page;
}

Json modes_json(ViewFile& file, const ModesOfPage& modes, std::size_t bodies) {
  Json sets = Json::array();
  for (const ModeSet& set : modes.sets) {
    if (set.shapes.size() != (set.damped ? 12 : 6) * bodies) continue;  // a body whose place was not recorded
    Json list = Json::array();
    for (const Mode& mode : set.modes) {
      list.push_back({{"frequency", mode.frequency},
                      {"damping", mode.damping},
                      {"eigenvalue", {mode.eigenvalue.real(), mode.eigenvalue.imag()}},
                      {"oscillates", mode.oscillates},
                      {"kind", kind_of_mode(mode, set.damped)},
                      {"bodies", mode.bodies}});
    }
    sets.push_back({{"damped", set.damped},
                    {"found", set.found},
                    {"modes", std::move(list)},
                    {"shapes", shapes_chunk(file, set.shapes)},
                    {"modal", file.add_floats(set.modal)}});
  }
  return {{"around", modes.around}, {"notes", modes.notes}, {"sets", std::move(sets)}};
}

}  // namespace trammel
