#include "app/view_flexible.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "trammel/write/output_path.h"

namespace trammel {
namespace {

struct Bent {
  std::vector<double> points, segments, radii, round;
  std::vector<std::vector<double>> modes, stresses;
};

constexpr std::size_t stresses_of_piece = 10;

[[noreturn]] void refuse_flexible() {
  throw read_failure("not-a-result", "the result's entry 'flexible' is damaged", "run the model again");
}

// Where the numbers of a piece go: a mode that does not fit into one piece goes on in the next.
std::vector<double>& part_of(Bent& body, const std::string& of) {
  const auto last_of = [](std::vector<std::vector<double>>& modes, std::size_t whole) -> std::vector<double>& {
    if (modes.empty() || modes.back().size() >= whole) modes.emplace_back();
    return modes.back();
  };
  if (of == "points") return body.points;
  if (of == "segments") return body.segments;
  if (of == "radii") return body.radii;
  if (of == "round") return body.round;
  if (of == "mode") return last_of(body.modes, body.points.size());
  if (of == "stress") return last_of(body.stresses, stresses_of_piece * body.radii.size());
  refuse_flexible();
}

// Throws Json::exception where they are damaged.
std::map<std::string, Bent> joined_bodies(const Json& pieces) {
  std::map<std::string, Bent> bodies;
  for (const Json& piece : pieces) {
    std::vector<double>& numbers =
        part_of(bodies[piece.at("body").get<std::string>()], piece.at("of").get<std::string>());
    const double step = piece.at("step").get<double>();
    for (const Json& value : piece.at("values")) numbers.push_back(step * value.get<double>());
  }
  return bodies;
}

bool stress_fits(const Bent& body) {
  if (body.round.empty() && body.stresses.empty()) return true;
  const std::size_t whole = stresses_of_piece * body.radii.size();
  return body.round.size() == body.radii.size() && body.stresses.size() == body.modes.size() &&
         std::all_of(body.stresses.begin(), body.stresses.end(),
                     [whole](const std::vector<double>& mode) { return mode.size() == whole; });
}

bool fits_together(const Bent& body) {
  const std::size_t points = body.points.size() / 3;
  return stress_fits(body) && points > 0 && body.points.size() == 3 * points &&
         body.segments.size() == 2 * body.radii.size() &&
         std::all_of(body.segments.begin(), body.segments.end(),
                     [&](double i) { return i >= 0 && i < static_cast<double>(points) && i == std::floor(i); }) &&
         std::all_of(body.modes.begin(), body.modes.end(),
                     [&](const std::vector<double>& mode) { return mode.size() == body.points.size(); });
}

// x, y, z, x, ... as columns
void add_columns(const std::vector<double>& numbers, std::size_t count, ViewColumns& columns) {
  const std::size_t first = columns.size();
  columns.resize(first + count);
  for (std::size_t i = 0; i < numbers.size(); ++i) columns[first + i % count].push_back(numbers[i]);
}

}  // namespace

Json flexible_json(ViewFile& file, const Json& pieces) try {
  Json all = Json::array();
  for (const auto& [name, body] : joined_bodies(pieces)) {
    if (!fits_together(body)) refuse_flexible();
    ViewColumns points, segments, shapes;
    add_columns(body.points, 3, points);
    add_columns(body.segments, 2, segments);
    for (const std::vector<double>& mode : body.modes) add_columns(mode, 3, shapes);
    Json entry{{"body", name},
               {"points", file.add_floats(points)},
               {"segments", file.add_floats(segments)},
               {"radii", file.add_floats({body.radii})},
               {"shapes", file.add_floats(shapes)}};
    if (!body.stresses.empty()) {
      ViewColumns stresses;
      for (const std::vector<double>& mode : body.stresses) add_columns(mode, stresses_of_piece, stresses);
      entry["round"] = file.add_floats({body.round});
      entry["stresses"] = file.add_floats(stresses);
    }
    all.push_back(std::move(entry));
  }
  return all;
} catch (const Json::exception&) {
  refuse_flexible();
}

}  // namespace trammel
