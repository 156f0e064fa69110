#include "app/analysis_json.h"

namespace trammel {

Json to_json(const StaticReport& r) {
  Json weak = Json::array();
  for (const FreeDirection& way : r.weak) {
    weak.push_back({{"parts", way.parts},
                    {"stiffness", way.stiffness},
                    {"unbalanced", way.unbalanced},
                    {"unit", way.force_unit()}});
  }
  return {{"found", r.found},
          {"way", to_text(r.way)},
          {"iterations", r.iterations},
          {"load_steps", r.load_steps},
          {"residual", r.residual},
          {"force_scale", r.scale},
          {"position_residual", r.position_residual},
          {"moved", r.moved},
          {"moved_most", r.moved_most},
          {"moved_unit", r.moved_unit},
          {"stability", to_text(r.stability)},
          {"degrees_of_freedom", r.freedoms >= 0 ? Json(r.freedoms) : Json()},
          {"unstable_directions", r.unstable_directions},
          {"neutral_directions", r.neutral_directions},
          {"symmetric", r.symmetric},
          {"weak_directions", weak},
          {"kept", r.kept},
          {"why", r.why},
          {"advice", r.advice},
          {"attempts", r.attempts}};
}

Json to_json(const QuasiStaticReport& r) {
  Json jumps = Json::array();
  for (const auto& jump : r.jumps) jumps.push_back({{"time", jump.first}, {"size", jump.second}});
  return {{"finished", r.finished}, {"reached", r.reached},       {"outputs", r.outputs},           {"steps", r.steps},
          {"rejected", r.rejected}, {"iterations", r.iterations}, {"residual", r.largest_residual}, {"jumps", jumps},
          {"why", r.why},           {"first", to_json(r.first)},  {"last", to_json(r.last)}};
}

Json to_json(const KinematicReport& r) {
  Json singular = Json::array();
  for (const SingularPosition& s : r.singular)
    singular.push_back({{"time", s.t}, {"pivot", s.pivot}, {"parts", s.parts}});
  return {{"finished", r.finished},
          {"reached", r.reached},
          {"outputs", r.outputs},
          {"steps", r.steps},
          {"iterations", r.iterations},
          {"largest_correction", r.largest_correction},
          {"smallest_pivot", r.worst_pivot},
          {"smallest_pivot_time", r.worst_time},
          {"singular_positions", singular},
          {"why", r.why},
          {"constraint", r.constraint},
          {"body", r.body}};
}

Json to_json(const Mode& mode) {
  return {{"eigenvalue", {mode.eigenvalue.real(), mode.eigenvalue.imag()}},
          {"frequency", mode.frequency},
          {"damping", mode.damping},
          {"rigid", mode.rigid},
          {"stable", mode.stable},
          {"bodies", mode.bodies}};
}

Json to_json(const Mat& matrix) {
  Json rows = Json::array();
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    Json row = Json::array();
    for (Eigen::Index j = 0; j < matrix.cols(); ++j) row.push_back(matrix(i, j));
    rows.push_back(std::move(row));
  }
  return rows;
}

Json to_json(const std::vector<LinearName>& names) {
  Json list = Json::array();
  for (const LinearName& name : names) list.push_back({{"name", name.name}, {"unit", name.unit}});
  return list;
}

}  // namespace trammel
