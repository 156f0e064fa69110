#include "trammel/analyse/mechanism.h"

namespace trammel {

ConstraintGraph constraint_graph(const Equations& equations, const State& state, Workspace& work) {
  equations.update(state, work);
  const Model& model = equations.model();
  ConstraintGraph graph;
  graph.bodies = static_cast<int>(model.bodies.size());
  graph.length = equations.length();
  for (int b = 0; b < graph.bodies; ++b) {
    const BodyState& s = work.bodies[static_cast<std::size_t>(b)];
    const BodyKind kind = model.bodies[static_cast<std::size_t>(b)].kind;
    if (kind == BodyKind::point) graph.reduced.push_back(point_body(b, s.r));
    if (kind == BodyKind::scalar) graph.reduced.push_back({b, s.r, Vec6::Unit(0)});
    if (kind == BodyKind::planar) graph.reduced.push_back(planar_body(b, s.r));
  }
  RowMatrix C;
  graph.edges.reserve(static_cast<std::size_t>(equations.constraint_count()));
  for (int c = 0; c < equations.constraint_count(); ++c) {
    const std::vector<int>& frames = equations.constraint_frames(c);
    equations.frame_jacobian(c, state, work, C);
    const FrameState last = equations.frame(frames.back(), work);
    // Coefficients on twists about the joint point: v_F = v + w x (p_F - p)
    Mat jacobian = C;
    std::vector<int> bodies;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      bodies.push_back(model.frames[static_cast<std::size_t>(frames[i])].body);
      const Vec3 arm = equations.frame(frames[i], work).p - last.p;
      const auto at = static_cast<Eigen::Index>(6 * i);
      for (Eigen::Index k = 0; k < jacobian.rows(); ++k) {
        const Vec3 v = jacobian.row(k).segment<3>(at).transpose();
        jacobian.row(k).segment<3>(at + 3) += arm.cross(v).transpose();
      }
    }
    ConstraintEdge edge = edge_on_absolute_twists(bodies, last.p, jacobian);
    edge.axes = equations.frame(frames.front(), work).R;
    graph.edges.push_back(std::move(edge));
  }
  return graph;
}

std::vector<std::string> constraint_names(const Equations& equations) {
  std::vector<std::string> names;
  for (int c = 0; c < equations.constraint_count(); ++c) {
    const Equations::ConstraintInfo info = equations.constraint_info(c);
    names.push_back((info.is_motion ? "motion '" : "joint '") + info.item->name + "'");
  }
  return names;
}

}  // namespace trammel
