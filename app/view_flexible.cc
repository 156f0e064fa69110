#include "app/view_flexible.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "trammel/write/output_path.h"

namespace trammel {
namespace {

struct Bent {
  std::vector<double> points, segments, radii;
  std::vector<std::vector<double>> modes;
};

[[noreturn]] void refuse_flexible() {
  throw read_failure("not-a-result", "the result's entry 'flexible' is damaged", "run the model again");
}

// Where the numbers of a piece go: a mode that does not fit into one piece goes on in the next.
std::vector<double>& part_of(Bent& body, const std::string& of) {
  if (of == "points") return body.points;
  if (of == "segments") return body.segments;
  if (of == "radii") return body.radii;
  if (of != "mode") refuse_flexible();
  if (body.modes.empty() || body.modes.back().size() >= body.points.size()) body.modes.emplace_back();
  return body.modes.back();
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

bool fits_together(const Bent& body) {
  const std::size_t points = body.points.size() / 3;
  return points > 0 && body.points.size() == 3 * points && body.segments.size() == 2 * body.radii.size() &&
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
    all.push_back({{"body", name},
                   {"points", file.add_floats(points)},
                   {"segments", file.add_floats(segments)},
                   {"radii", file.add_floats({body.radii})},
                   {"shapes", file.add_floats(shapes)}});
  }
  return all;
} catch (const Json::exception&) {
  refuse_flexible();
}

}  // namespace trammel
