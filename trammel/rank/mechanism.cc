#include "trammel/rank/mechanism.h"

#include <algorithm>

namespace trammel {

ConstraintGraph constraint_graph(const Equations& equations, const State& state, Workspace& work) {
  equations.update(state, work);
  const Model& model = equations.model();
  ConstraintGraph graph;
  graph.bodies = static_cast<int>(model.bodies.size());
  graph.length = equations.length();
  for (int b = 0; b < graph.bodies; ++b) {
    const BodyState& s = work.bodies[b];
    Mat twists = equations.body(b).twists(s);
    if (twists.cols() < 6) graph.reduced.push_back({b, s.r, std::move(twists)});
  }
  RowMatrix C;
  graph.edges.reserve(equations.constraint_count());
  for (int c = 0; c < equations.constraint_count(); ++c) {
    const std::vector<int>& frames = equations.constraint_frames(c);
    equations.frame_jacobian(c, state, work, C);
    const Vec3 point = equations.frame(frames[1], work).p;
    // Coefficients on twists about the joint point: v_F = v + w x (p_F - p). Several frames may be on one body.
    Mat jacobian = Mat::Zero(C.rows(), C.cols());
    std::vector<int> bodies;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const int body = model.frames[frames[i]].body;
      const auto known = std::find(bodies.begin(), bodies.end(), body);
      const auto at = static_cast<Eigen::Index>(6 * (known - bodies.begin())), from = static_cast<Eigen::Index>(6 * i);
      if (known == bodies.end()) bodies.push_back(body);
      const Vec3 arm = equations.frame(frames[i], work).p - point;
      for (Eigen::Index k = 0; k < jacobian.rows(); ++k) {
        const Vec3 v = C.row(k).segment<3>(from).transpose();
        jacobian.row(k).segment<3>(at) += v.transpose();
        jacobian.row(k).segment<3>(at + 3) += C.row(k).segment<3>(from + 3) + arm.cross(v).transpose();
      }
    }
    jacobian.conservativeResize(Eigen::NoChange, static_cast<Eigen::Index>(6 * bodies.size()));
    // A row of a body's own holds nothing of its motion as a rigid body; one that is not in force holds nothing.
    if (equations.constraint_info(c).item->of_body || !equations.holds(c, state)) jacobian.resize(0, jacobian.cols());
    ConstraintEdge edge = edge_on_absolute_twists(bodies, point, jacobian);
    graph.edges.push_back(std::move(edge));
  }
  return graph;
}

std::vector<std::string> constraint_names(const Equations& equations) {
  std::vector<std::string> names;
  for (int c = 0; c < equations.constraint_count(); ++c) {
    names.push_back(equations.name_of_constraint(c));
  }
  return names;
}

}  // namespace trammel
