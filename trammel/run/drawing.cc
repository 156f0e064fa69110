#include "trammel/run/drawing.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "trammel/base/input_file.h"
#include "trammel/elements/registry.h"
#include "trammel/model/modal_data.h"
#include "trammel/read/mesh.h"
#include "trammel/run/output_table.h"

namespace trammel {
namespace {

using Json = nlohmann::ordered_json;
using Entries = std::vector<std::pair<std::string, std::string>>;

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// Collects objects and cuts their array into attributes.
class Pieces {
 public:
  Pieces(Entries& entries, std::string key, std::size_t most_bytes)
      : entries_(entries), key_(std::move(key)), most_bytes_(most_bytes) {}

  void add(const Json& object) {
    const std::string text = text_of(object);
    if (count_ == 0 || entries_.back().second.size() + text.size() > most_bytes_) {
      entries_.emplace_back(key_ + "." + std::to_string(++count_), "[" + text + "]");
      return;
    }
    std::string& piece = entries_.back().second;
    piece.pop_back();
    piece += "," + text + "]";
  }

 private:
  Entries& entries_;
  std::string key_;
  std::size_t most_bytes_, count_ = 0;
};

Json vector_json(const Vec3& v) { return {v.x(), v.y(), v.z()}; }

std::string body_name(const Model& model, int body) {
  return body == ground ? "ground" : model.bodies[static_cast<std::size_t>(body)].name;
}

const char* attachment_name(Attachment attachment) {
  switch (attachment) {
    case Attachment::joint: return "joint";
    case Attachment::two_points: return "two_points";
    case Attachment::on_joint: return "on_joint";
    case Attachment::joints: return "joints";
    case Attachment::several: return "several";
  }
  return "";
}

constexpr std::size_t most_in_list = 8;  // numbers of teeth, but no matrices

// "hunt_crossley", but no name of a file.
bool is_word(const std::string& text) {
  return text.size() <= 32 &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
}

Json element_json(const Model& model, Category category, const Item& item) {
  Json frames = Json::array();
  for (const int index : item.frames) {
    const Frame& frame = model.frames[static_cast<std::size_t>(index)];
    const Quat& q = frame.local.rotation;
    frames.push_back({{"body", body_name(model, frame.body)},
                      {"position", vector_json(frame.local.position)},
                      {"quaternion", {q.w(), q.x(), q.y(), q.z()}}});
  }
  Json numbers = Json::object(), words = Json::object();
  for (const auto& [field, value] : item.fields.all()) {
    if (const auto* text = std::get_if<std::string>(&value); text != nullptr && is_word(*text)) words[field] = *text;
    if (const Vec3* v = std::get_if<Vec3>(&value)) numbers[field] = vector_json(*v);
    if (const double* x = std::get_if<double>(&value)) numbers[field] = *x;
    if (const bool* yes = std::get_if<bool>(&value)) numbers[field] = *yes;
    const auto* list = std::get_if<std::vector<double>>(&value);
    if (list != nullptr && list->size() <= most_in_list) numbers[field] = *list;
  }
  const ElementDescription* description = find_element(category, item.type);
  return {{"name", item.name}, {"of", to_text(category)},
          {"type", item.type}, {"attachment", description == nullptr ? "" : attachment_name(description->attachment)},
          {"frames", frames},  {"numbers", numbers},
          {"words", words}};
}

Json columns_json(const OutputGroup& group) {
  Json has = Json::array();
  for (const OutputColumn& column : group.columns) {
    const std::string axes = column.shape == OutputShape::scalar   ? column.axis
                             : column.shape == OutputShape::vector ? "xyz"
                                                                   : "wxyz";
    Json entry{column.quantity, axes};
    if (!column.on.empty()) entry.push_back(column.on);
    has.push_back(std::move(entry));
  }
  return {{"of", to_text(group.of)}, {"name", group.name}, {"has", has}};
}

// ---- meshes

constexpr std::uint64_t largest_mesh_file = std::uint64_t{20} << 20;
constexpr double steps_of_extent = 65535;  // 16 bits a coordinate: a millionth of a metre on 65 mm

// A model that came from elsewhere must not put other files of this machine into a result that is passed on.
bool is_below_model(const std::string& file, const std::string& model_file) {
  std::error_code trouble;
  const auto folder = std::filesystem::canonical(std::filesystem::absolute(model_file).parent_path(), trouble);
  if (trouble || model_file.empty()) return false;
  const auto path = std::filesystem::canonical(file, trouble);
  if (trouble) return false;
  const auto [in_folder, in_path] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return in_folder == folder.end() && in_path != path.end();
}

Json switch_json(const Equations& equations, int which) {
  Json json{{"name", equations.name_of_switch(which)}, {"strikes", equations.switch_info(which).strikes}};
  if (equations.switch_info(which).ends_mode) json["modes"] = equations.force(equations.force_of_switch(which)).modes();
  return json;
}

// Numbers of a mesh in objects that fit into a piece each.
void add_numbers(Pieces& meshes, const Json& about, const std::vector<long>& values, std::size_t most_bytes) {
  const std::size_t most = std::max<std::size_t>(most_bytes / 12, 3) / 3 * 3;  // whole points and triangles
  for (std::size_t first = 0; first < values.size(); first += most) {
    const auto rest = std::span(values).subspan(first);
    const auto part = rest.first(std::min(most, rest.size()));
    Json piece = about;
    piece["values"] = std::vector<long>(part.begin(), part.end());
    meshes.add(piece);
  }
}

void add_mesh(Pieces& meshes, const std::string& file, const Mesh& mesh, std::size_t most_bytes) {
  Vec3 least = mesh.points[0], greatest = mesh.points[0];
  for (const Vec3& p : mesh.points) {
    least = least.cwiseMin(p);
    greatest = greatest.cwiseMax(p);
  }
  const double extent = (greatest - least).maxCoeff(), step = extent > 0 ? extent / steps_of_extent : 1;
  std::vector<long> points, corners;
  for (const Vec3& p : mesh.points) {
    for (Eigen::Index i = 0; i < 3; ++i) points.push_back(std::lround((p[i] - least[i]) / step));
  }
  for (const auto& triangle : mesh.triangles) corners.insert(corners.end(), triangle.begin(), triangle.end());
  add_numbers(meshes, {{"file", file}, {"of", "points"}, {"origin", vector_json(least)}, {"step", step}}, points,
              most_bytes);
  add_numbers(meshes, {{"file", file}, {"of", "triangles"}}, corners, most_bytes);
}

// ---- bodies that bend

constexpr std::size_t most_bending_numbers = 200'000;  // 1 MB of text; of more, only the frames are drawn
constexpr double steps_of_shape = 32767;

// Integers in units of a step, which is put into `about`.
std::vector<long> in_steps(const std::vector<double>& values, double steps, Json& about) {
  double greatest = 0;
  for (const double x : values) greatest = std::max(greatest, std::abs(x));
  const double step = greatest > 0 ? greatest / steps : 1;
  about["step"] = step;
  std::vector<long> out;
  for (const double x : values) out.push_back(std::lround(x / step));
  return out;
}

constexpr std::size_t stresses_of_piece = 10;  // five at each of its ends

// What a unit of a mode makes of the stresses from which von Mises' is found (section_stress.h): of tension, of torsion
// at the middles of both pairs of sides, of bending about y and about z; at one end of each piece, then at the other.
std::vector<double> stresses_of_mode(const ModalData& data, Eigen::Index mode) {
  std::vector<double> out;
  for (std::size_t i = 0; i < data.stress_points.size(); ++i) {
    const StressSection& section = data.stress_points[i].section;
    const Vec6 r = data.stress_resultants.col(mode).segment<6>(6 * static_cast<Eigen::Index>(i));
    out.insert(out.end(), {r[0] * section.tension, r[3] * section.torsion_y, r[3] * section.torsion_z,
                           r[4] * section.bending_y, r[5] * section.bending_z});
  }
  return out;
}

bool stress_is_drawn(const ModalData& data) {
  const std::size_t pieces = data.drawing.segments.size();
  return pieces > 0 && data.stress_points.size() == 2 * pieces &&
         stresses_of_piece * pieces * static_cast<std::size_t>(data.modes()) <= most_bending_numbers;
}

void add_flexible(const Body& body, Pieces& flexible, std::size_t most_bytes) {
  const ModalDrawing& drawing = body.modal->drawing;
  const std::size_t points = drawing.points.size();
  const auto modes = static_cast<std::size_t>(drawing.shapes.cols());
  if (points == 0 || 3 * points * (modes + 1) > most_bending_numbers) return;
  const auto add = [&](const char* of, const std::vector<double>& values, double steps) {
    Json about{{"body", body.name}, {"of", of}};
    const std::vector<long> numbers = in_steps(values, steps, about);
    add_numbers(flexible, about, numbers, most_bytes);
  };
  std::vector<double> places, radii;
  std::vector<long> ends;
  for (const Vec3& p : drawing.points)
    for (Eigen::Index i = 0; i < 3; ++i) places.push_back(body.center_of_mass[i] + p[i]);
  for (const ModalDrawing::Segment& segment : drawing.segments) {
    ends.insert(ends.end(), {segment.first, segment.second});
    radii.push_back(segment.radius);
  }
  add("points", places, steps_of_extent);
  add_numbers(flexible, {{"body", body.name}, {"of", "segments"}, {"step", 1}}, ends, most_bytes);
  add("radii", radii, steps_of_shape);
  for (Eigen::Index j = 0; j < drawing.shapes.cols(); ++j) {
    const Vec shape = drawing.shapes.col(j);
    add("mode", {shape.begin(), shape.end()}, steps_of_shape);
  }
  if (!stress_is_drawn(*body.modal)) return;
  std::vector<long> round;
  for (std::size_t i = 0; i < drawing.segments.size(); ++i)
    round.push_back(body.modal->stress_points[2 * i].section.round ? 1 : 0);
  add_numbers(flexible, {{"body", body.name}, {"of", "round"}, {"step", 1}}, round, most_bytes);
  for (Eigen::Index j = 0; j < drawing.shapes.cols(); ++j)
    add("stress", stresses_of_mode(*body.modal, j), steps_of_shape);
}

// A mesh that cannot be read any more is only not drawn.
void add_meshes(const Model& model, Pieces& meshes, std::size_t most_bytes) {
  std::set<std::string> done;
  for (const Shape& shape : model.shapes) {
    if (shape.file.empty() || !done.insert(shape.file).second || !is_below_model(shape.file, model.file)) continue;
    try {
      add_mesh(meshes, shape.file, read_mesh(read_whole_file(shape.file, largest_mesh_file), shape.file), most_bytes);
    } catch (const Failure&) {
      continue;
    }
  }
}

}  // namespace

std::vector<std::pair<std::string, std::string>> drawing_as_json(const Equations& equations, std::size_t most_bytes) {
  const Model& model = equations.model();
  Entries entries{{"gravity", text_of(vector_json(model.gravity))}};
  Pieces bodies(entries, "bodies", most_bytes);
  for (const Body& body : model.bodies) {
    Json entry{{"name", body.name},
               {"kind", body.kind},
               {"mass", body.mass},
               {"center_of_mass", vector_json(body.center_of_mass)}};
    if (body.modal != nullptr) entry["modes"] = body.modal->modes();
    bodies.add(entry);
  }
  Pieces elements(entries, "elements", most_bytes);
  for (const Item& item : model.joints)
    if (item.of_force < 0) elements.add(element_json(model, Category::joint, item));
  for (const Item& item : model.motions) elements.add(element_json(model, Category::motion, item));
  for (const Item& item : model.forces) elements.add(element_json(model, Category::force, item));
  Pieces signals(entries, "signals", most_bytes);
  for (const OutputGroup& group : output_groups(equations)) signals.add(columns_json(group));
  Pieces switches(entries, "switches", most_bytes);
  for (int i = 0; i < equations.switch_count(); ++i) switches.add(switch_json(equations, i));
  Pieces flexible(entries, "flexible", most_bytes);
  for (const Body& body : model.bodies)
    if (body.modal != nullptr) add_flexible(body, flexible, most_bytes);
  Pieces meshes(entries, "meshes", most_bytes);
  add_meshes(model, meshes, most_bytes);
  return entries;
}

}  // namespace trammel
