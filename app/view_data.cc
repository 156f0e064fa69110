#include "app/view_data.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>

#include "app/result_json.h"
#include "app/view_events.h"
#include "app/view_flexible.h"
#include "app/view_format.h"
#include "trammel/write/output_path.h"

namespace trammel {
namespace {

constexpr std::size_t most_packed_bytes = std::size_t{200} << 20;      // a text of a page must stay below 512 MB
constexpr std::size_t most_unpacked_bytes = std::size_t{1} << 30;      // what the page can hold
constexpr double pose_quantum = 1e-6, signal_quantum = 1.0 / 1048576;  // of the greatest magnitude

// What a column is, as the run says.
struct Meaning {
  std::string of, name, quantity, axis, on;
};

// One for each column of the output table; empty for results of earlier versions, which do not say.
std::vector<Meaning> meanings(const Provenance& provenance, const Table& table) {
  std::vector<Meaning> all;
  for (const Json& entry : joined_pieces(provenance, "signals")) {
    if (!entry.is_object() || !entry.contains("has") || !entry["has"].is_array()) continue;
    for (const Json& column : entry["has"]) {
      const Meaning meaning{text_in(entry, "of"), text_in(entry, "name"), text_at(column, 0), "", text_at(column, 2)};
      const std::string axes = text_at(column, 1);
      const bool is_number = axes.find_first_not_of("0123456789") == std::string::npos;  // or there is none
      if (is_number) {
        all.push_back(meaning);
        all.back().axis = axes;
        continue;
      }
      for (const char axis : axes) {
        all.push_back(meaning);
        all.back().axis = axis;
      }
    }
  }
  if (all.size() != table.signals.size()) all.clear();
  return all;
}

using PoseColumns = std::array<std::size_t, 7>;  // x y z, then w x y z

// Results of earlier versions have shapes only: the bodies they name.
void find_old_poses(const std::vector<Table>& tables, const Json& shapes, Json& bodies,
                    std::vector<PoseColumns>& poses) {
  for (const Json& shape : shapes) {
    const std::string name = text_in(shape, "body");
    const auto known = [&](const Json& body) { return body["name"] == name; };
    if (name == "ground" || std::any_of(bodies.begin(), bodies.end(), known)) continue;
    PoseColumns columns{};
    std::size_t found = 0;
    for (const char* part : {"position.x", "position.y", "position.z", "orientation.w", "orientation.x",
                             "orientation.y", "orientation.z"}) {
      const auto ref = find_signal(tables, "body." + name + "." + part);
      if (ref && ref->table == 0) columns[found++] = ref->column;
    }
    if (found < columns.size()) continue;
    bodies.push_back({{"name", name}});
    poses.push_back(columns);
  }
}

// The bodies that have a place, and the columns that say where.
void find_poses(const std::vector<Meaning>& columns, const Json& described, Json& bodies,
                std::vector<PoseColumns>& poses) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> parts{{{"position", "x"},
                                                                                {"position", "y"},
                                                                                {"position", "z"},
                                                                                {"orientation", "w"},
                                                                                {"orientation", "x"},
                                                                                {"orientation", "y"},
                                                                                {"orientation", "z"}}};
  std::map<std::string, PoseColumns> by_name;  // column 0 is the time: such a part was not recorded
  for (std::size_t c = 0; c < columns.size(); ++c) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const bool is_part = columns[c].quantity == parts[i].first && columns[c].axis == parts[i].second;
      if (columns[c].of == "body" && is_part) by_name[columns[c].name][i] = c;
    }
  }
  for (const Json& body : described) {
    const auto found = by_name.find(text_in(body, "name"));
    if (found == by_name.end() || std::count(found->second.begin(), found->second.end(), 0u) > 0) continue;
    bodies.push_back(body);
    poses.push_back(found->second);
  }
}

double greatest_magnitude(const std::vector<double>& column) {
  double greatest = 0;
  for (const double x : column) {
    if (std::isfinite(x)) greatest = std::max(greatest, std::abs(x));
  }
  return greatest;
}

// Reads columns of one table, every so many rows, without the rows that a killed run left unfilled.
class ColumnReader {
 public:
  ColumnReader(const MemoryTrajectory& result, std::size_t table, std::size_t every) : result_(result), table_(table) {
    for (std::size_t row = 0; row < result.rows(table); row += every) {
      if (std::isfinite(result.value({table, 0}, row))) rows_.push_back(row);
    }
    const std::size_t last = result.rows(table);
    if (last > 0 && !rows_.empty() && rows_.back() + 1 != last && std::isfinite(result.value({table, 0}, last - 1)))
      rows_.push_back(last - 1);  // the end is shown whatever the spacing
  }
  std::size_t rows() const { return rows_.size(); }
  std::vector<double> operator()(std::size_t column) const {
    std::vector<double> values;
    values.reserve(rows_.size());
    for (const std::size_t row : rows_) values.push_back(result_.value({table_, column}, row));
    return values;
  }

 private:
  const MemoryTrajectory& result_;
  std::size_t table_;
  std::vector<std::size_t> rows_;
};

Json time_chunk(ViewFile& file, const ColumnReader& read) {
  const std::vector<double> time = read(0);
  const double end = greatest_magnitude(time);
  return file.add_quantised({time}, {end > 0 ? end / (1 << 28) : 1.0});
}

// Seven columns for each body.
Json quantised_poses(ViewFile& file, const ViewColumns& columns) {
  double reach = 0;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (c % 7 < 3) reach = std::max(reach, greatest_magnitude(columns[c]));
  }
  std::vector<double> steps;
  for (std::size_t c = 0; c < columns.size(); ++c) steps.push_back(pose_quantum * (c % 7 < 3 && reach > 0 ? reach : 1));
  return file.add_quantised(columns, steps);
}

Json pose_chunk(ViewFile& file, const ColumnReader& read, const std::vector<PoseColumns>& poses) {
  ViewColumns columns;
  for (const PoseColumns& pose : poses) {
    for (const std::size_t column : pose) columns.push_back(read(column));
  }
  return quantised_poses(file, columns);
}

// What is read on a logarithmic axis keeps its small values.
bool spans_decades(const Meaning& m) { return m.of == "residual" || m.quantity == "imbalance" || m.of == "solver"; }

// The signals of one table in two chunks, quantised and floats, each with the numbers of its signals. Those that the
// poses hold already are left out.
Json value_chunks(ViewFile& file, const ColumnReader& read, const std::vector<std::size_t>& columns,
                  const std::vector<Meaning>& what, const Json& signals, bool exact) {
  const std::size_t first_signal = signals.size() - columns.size();
  ViewColumns quantised, floats;
  std::vector<double> steps;
  Json quantised_signals = Json::array(), float_signals = Json::array();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (signals[first_signal + i].contains("pose")) continue;
    std::vector<double> values = read(columns[i]);
    const double greatest = greatest_magnitude(values), step = greatest > 0 ? greatest * signal_quantum : 1;
    if (exact || spans_decades(what[i]) || !ViewFile::fits(values, step)) {
      floats.push_back(std::move(values));
      float_signals.push_back(first_signal + i);
    } else {
      quantised.push_back(std::move(values));
      steps.push_back(step);
      quantised_signals.push_back(first_signal + i);
    }
  }
  Json chunks = Json::array();
  const auto add = [&](Json chunk, const Json& numbers) {
    chunk["signals"] = numbers;
    chunks.push_back(std::move(chunk));
  };
  if (!quantised.empty()) add(file.add_quantised(quantised, steps), quantised_signals);
  if (!floats.empty()) add(file.add_floats(floats), float_signals);
  return chunks;
}

// Keys without a text are left out: nine of ten signals carry no caveat.
Json signal_json(const Signal& s, const Meaning& m, std::size_t table) {
  Json j = {{"name", s.name}, {"unit", s.unit}, {"table", table}};
  const auto add = [&](const char* key, const std::string& text) {
    if (!text.empty()) j[key] = text;
  };
  add("text", s.text);
  add("flag", !s.flagged ? "" : s.flag_text.empty() ? "see the report of the run" : s.flag_text);
  add("of", m.of);
  add("element", m.name);
  add("quantity", m.quantity);
  add("axis", m.axis);
  add("on", m.on);
  return j;
}

// The model's own outputs, those of one unit and about one size together, then the energies; of a result that does not
// say what is what, its first columns. `greatest` holds the largest magnitude of each signal.
Json first_plots(const Json& signals, const std::vector<double>& greatest) {
  constexpr std::size_t most_curves = 6;
  constexpr double same_size = 3;  // a curve a third as high as another can still be read
  Json plots = Json::array(), energies = Json::array();
  const auto fits = [&](std::size_t i, const Json& plot) {
    const std::size_t first = plot[0];
    const double a = greatest[i], b = greatest[first];
    return plot.size() < most_curves && signals[i]["unit"] == signals[first]["unit"] && a <= same_size * b &&
           b <= same_size * a;
  };
  for (std::size_t i = 0; i < signals.size(); ++i) {
    const std::string of = text_in(signals[i], "of"), quantity = text_in(signals[i], "quantity");
    if (of == "output") {
      const auto place = std::find_if(plots.begin(), plots.end(), [&](const Json& plot) { return fits(i, plot); });
      if (place == plots.end())
        plots.push_back(Json::array({i}));
      else
        place->push_back(i);
    }
    if (of == "energy" && (quantity == "kinetic" || quantity == "potential" || quantity == "total"))
      energies.push_back(i);
  }
  if (!energies.empty()) plots.push_back(energies);
  if (plots.empty()) {
    for (std::size_t i = 0; i < std::min<std::size_t>(signals.size(), 3); ++i) plots.push_back(Json::array({i}));
  }
  return plots;
}

std::vector<std::size_t> wanted_of_table(const MemoryTrajectory& result, std::size_t table,
                                         const std::vector<std::string>& patterns) {
  std::vector<std::size_t> columns;
  for (std::size_t c = 1; c < result.tables()[table].signals.size(); ++c) columns.push_back(c);
  if (patterns.empty()) return columns;
  std::vector<std::size_t> wanted;
  for (const std::string& pattern : patterns) {
    for (const SignalRef ref : result.match(pattern)) {
      if (ref.table == table) wanted.push_back(ref.column);
    }
  }
  std::erase_if(columns, [&](std::size_t c) { return std::find(wanted.begin(), wanted.end(), c) == wanted.end(); });
  return columns;
}

// Without these a page could not draw a body that bends.
void add_modal_coordinates(const std::vector<Meaning>& what, std::vector<std::size_t>& columns) {
  for (std::size_t c = 0; c < what.size(); ++c)
    if (what[c].of == "body" && what[c].quantity == "mode") columns.push_back(c);
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
}

void refuse_size(std::size_t bytes, std::size_t most) {
  if (bytes <= most) return;
  throw read_failure("too-large",
                     "the page would hold " + std::to_string(bytes >> 20) + " MB, more than a browser takes",
                     "take some signals with --signals PATTERN, or fewer rows with --every N");
}

struct MeshNumbers {
  std::vector<double> points, corners;  // x y z of each point, three numbers of points of each triangle
  std::array<double, 3> origin{};
  double step = 0;
};

// The meshes of a result by file; throws Json::exception where they are damaged.
std::map<std::string, MeshNumbers> joined_meshes(const Json& pieces) {
  std::map<std::string, MeshNumbers> meshes;
  for (const Json& piece : pieces) {
    MeshNumbers& mesh = meshes[piece.at("file").get<std::string>()];
    const bool is_points = piece.at("of") == "points";
    if (is_points) {
      mesh.origin = piece.at("origin").get<std::array<double, 3>>();
      mesh.step = piece.at("step").get<double>();
    }
    std::vector<double>& numbers = is_points ? mesh.points : mesh.corners;
    for (const Json& value : piece.at("values")) numbers.push_back(value.get<double>());
  }
  return meshes;
}

Json mesh_chunks(ViewFile& file, const MeshNumbers& mesh) {
  ViewColumns points(3), corners(3);
  for (std::size_t i = 0; i < mesh.points.size(); ++i)
    points[i % 3].push_back(mesh.origin[i % 3] + mesh.step * mesh.points[i]);
  for (std::size_t i = 0; i < mesh.corners.size(); ++i) corners[i % 3].push_back(mesh.corners[i]);
  std::vector<double> steps;
  for (const std::vector<double>& column : points)
    steps.push_back(ViewFile::fits(column, mesh.step) ? mesh.step : greatest_magnitude(column) / (1 << 28));
  return {{"points", file.add_quantised(points, steps)}, {"triangles", file.add_quantised(corners, {1, 1, 1})}};
}

// Gives each shape the number of its mesh in place of the name of a file, which is nobody's business.
Json add_meshes(ViewFile& file, const Json& pieces, Json& shapes) try {
  Json meshes = Json::array();
  std::map<std::string, std::size_t> numbers;
  for (const auto& [name, mesh] : joined_meshes(pieces)) {
    numbers[name] = meshes.size();
    meshes.push_back(mesh_chunks(file, mesh));
  }
  for (Json& shape : shapes) {
    const auto found = numbers.find(text_in(shape, "file"));
    if (found != numbers.end()) shape["mesh"] = found->second;
    if (shape.is_object()) shape.erase("file");
  }
  return meshes;
} catch (const Json::exception&) {
  throw read_failure("not-a-result", "the result's entry 'meshes' is damaged", "run the model again");
}

// How each freedom moves the mechanism: its values, and the poses at each of them as in "poses".
Json freedoms_json(ViewFile& file, const std::vector<Sweep>& sweeps, std::size_t pose_columns) {
  Json freedoms = Json::array();
  for (const Sweep& sweep : sweeps) {
    if (sweep.poses.size() != pose_columns || pose_columns == 0) continue;  // a body whose place was not recorded
    const double greatest = greatest_magnitude(sweep.values);
    freedoms.push_back({{"of", sweep.of},
                        {"element", sweep.element},
                        {"quantity", sweep.quantity},
                        {"unit", sweep.unit},
                        {"drawn", sweep.drawn},
                        {"ends", {sweep.ends_low, sweep.ends_high}},
                        {"values", file.add_quantised({sweep.values}, {greatest > 0 ? greatest / (1 << 28) : 1.0})},
                        {"poses", quantised_poses(file, sweep.poses)},
                        {"modal", file.add_floats(sweep.modal)}});
  }
  return freedoms;
}

// Which pose column a column of the output table is, by its number.
std::map<std::size_t, std::size_t> columns_of_poses(const std::vector<PoseColumns>& poses) {
  std::map<std::size_t, std::size_t> numbers;
  for (std::size_t b = 0; b < poses.size(); ++b) {
    for (std::size_t i = 0; i < poses[b].size(); ++i) numbers[poses[b][i]] = 7 * b + i;
  }
  return numbers;
}

// When and why a run stopped; its report names files of this machine and stays here.
Json failure_of(const MemoryTrajectory& result) {
  const Json report = parsed_or_null(result.failure_json());
  if (!report.is_object()) return {};
  return {{"t", report.value("t", Json())}, {"what", text_in(report, "what")}};
}

Json header_of(const MemoryTrajectory& result, const Json& bodies, const Json& shapes) {
  const Provenance& provenance = result.provenance();
  return {{"title", provenance.get("title")},
          {"program", provenance.get("program") + " " + provenance.get("version")},
          {"status", to_text(result.status())},
          {"method", provenance.get("method")},
          {"date", provenance.get("date")},
          {"model_file", provenance.get("model_file")},
          {"model_sha256", provenance.get("model_sha256")},
          {"failure", failure_of(result)},
          {"events", events_of(result)},
          {"gravity", parsed_or_null(provenance.get("gravity"))},
          {"bodies", bodies},
          {"shapes", shapes},
          {"elements", joined_pieces(provenance, "elements")}};
}

// Packs one result: its tables one after the other, their signals in one list.
class Packer {
 public:
  Packer(const MemoryTrajectory& result, const ViewOptions& options)
      : result_(result), options_(options), known_(meanings(result.provenance(), result.tables()[0])) {}

  std::string pack(const ViewMotions& motions) {
    const Provenance& provenance = result_.provenance();
    Json shapes = joined_pieces(provenance, "shapes");
    const Json meshes = add_meshes(file_, joined_pieces(provenance, "meshes"), shapes);
    Json bodies = Json::array();
    if (known_.empty())
      find_old_poses(result_.tables(), shapes, bodies, poses_);
    else
      find_poses(known_, joined_pieces(provenance, "bodies"), bodies, poses_);
    Json header = header_of(result_, bodies, shapes);
    header["meshes"] = meshes;
    const ColumnReader output(result_, 0, options_.every);
    refuse_size(4 * 7 * poses_.size() * output.rows(), most_unpacked_bytes);
    header["poses"] = pose_chunk(file_, output, poses_);
    header["flexible"] = flexible_json(file_, joined_pieces(provenance, "flexible"));
    if (!motions.sweeps.empty()) header["freedoms"] = freedoms_json(file_, motions.sweeps, 7 * poses_.size());
    if (motions.modes) header["modes"] = modes_json(file_, *motions.modes, poses_.size());
    const std::size_t tables = options_.only_first_table ? 1 : result_.tables().size();
    for (std::size_t t = 0; t < tables; ++t) add_table(t);
    header["signals"] = signals_;
    header["plots"] = first_plots(signals_, greatest_);
    header["tables"] = tables_;
    std::string packed = file_.packed(header);
    refuse_size(packed.size(), most_packed_bytes);
    return packed;
  }

 private:
  void add_table(std::size_t t) {
    const Table& table = result_.tables()[t];
    const ColumnReader read(result_, t, options_.every);
    std::vector<std::size_t> columns = wanted_of_table(result_, t, options_.signals);
    if (t == 0) add_modal_coordinates(known_, columns);
    refuse_size(file_.bytes() + 4 * read.rows() * columns.size(), most_unpacked_bytes);
    const std::map<std::size_t, std::size_t> pose_of_column = columns_of_poses(poses_);
    std::vector<Meaning> what;
    for (const std::size_t c : columns) {
      what.push_back(t > 0 ? Meaning{"solver", "", "", "", ""} : known_.empty() ? Meaning{} : known_[c]);
      signals_.push_back(signal_json(table.signals[c], what.back(), t));
      greatest_.push_back(what.back().of == "output" ? greatest_magnitude(read(c)) : 0);
      const auto pose = pose_of_column.find(c);
      if (t == 0 && !options_.exact && pose != pose_of_column.end()) signals_.back()["pose"] = pose->second;
    }
    tables_.push_back({{"name", table.name}, {"text", table.text}, {"time", time_chunk(file_, read)}});
    tables_.back()["values"] = value_chunks(file_, read, columns, what, signals_, options_.exact);
  }

  const MemoryTrajectory& result_;
  const ViewOptions& options_;
  std::vector<Meaning> known_;
  std::vector<PoseColumns> poses_;
  ViewFile file_;
  Json signals_ = Json::array(), tables_ = Json::array();
  std::vector<double> greatest_;  // magnitude of each signal that is an output of the model
};

}  // namespace

std::string view_data(const MemoryTrajectory& result, const ViewOptions& options, const ViewMotions& motions) {
  return Packer(result, options).pack(motions);
}

}  // namespace trammel
