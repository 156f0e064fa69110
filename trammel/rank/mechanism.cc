#include "trammel/rank/mechanism.h"

#include <Eigen/QR>
#include <algorithm>
#include <map>

namespace trammel {

namespace {

// A body that bends stands in the graph as one body for each node that constraints attach to, where its modes let these
// nodes move independently, as those of a reduction to the nodes do. It has then as many freedoms besides as are left.
// Where they do not, or where its floating frame is held, it counts as rigid, and its modes as free.
class NodeBodies {
 public:
  NodeBodies(const Equations& equations, const Workspace& work, ConstraintGraph& graph) {
    const Model& model = equations.model();
    std::map<int, std::vector<int>> nodes;  // a frame at each, by body
    std::map<int, bool> floating;
    for (int c = 0; c < equations.constraint_count(); ++c) {
      for (const int frame : equations.constraint_frames(c)) {
        const BodyFrame& f = equations.body_frame(frame);
        if (f.body == ground || model.bodies[f.body].modal == nullptr) continue;
        if (f.node < 0) floating[f.body] = true;
        std::vector<int>& known = nodes[f.body];
        if (std::none_of(known.begin(), known.end(), [&](int k) { return equations.body_frame(k).node == f.node; }))
          known.push_back(frame);
      }
    }
    for (int b = 0; b < std::ssize(model.bodies); ++b) {
      if (model.bodies[b].modal == nullptr) continue;
      const std::vector<int>& own = nodes[b];
      graph.more_freedoms += model.bodies[b].modal->modes();
      if (floating[b] || own.size() < 2 || !independent(equations, work, b, own)) continue;
      graph.more_freedoms -= 6 * static_cast<int>(own.size());
      for (const int frame : own) index_[{b, equations.body_frame(frame).node}] = graph.bodies++;
    }
  }
  int of(const BodyFrame& f) const {
    const auto found = index_.find({f.body, f.node});
    return found == index_.end() ? f.body : found->second;
  }

 private:
  static bool independent(const Equations& equations, const Workspace& work, int body, const std::vector<int>& frames) {
    const int nv = equations.sizes().nv, at = equations.first_velocity(body),
              n = static_cast<int>(equations.body(body).velocities().size());
    const Vec scales = equations.scales();
    Mat rows(static_cast<Eigen::Index>(6 * frames.size()), n);
    for (Eigen::Index i = 0; i < rows.rows(); ++i) {
      Eigen::Matrix<double, 1, 6> twist = Eigen::Matrix<double, 1, 6>::Unit(i % 6);
      if (i % 6 >= 3) twist *= equations.length();
      Vec by_q = Vec::Zero(nv), by_v = Vec::Zero(nv);
      equations.add_frame_row(equations.body_frame(frames[i / 6]), Eigen::Matrix<double, 1, 6>::Zero(), twist, work,
                              by_q, by_v);
      rows.row(i) = by_v.segment(at, n).cwiseProduct(scales.segment(at, n)).transpose();
    }
    Eigen::ColPivHouseholderQR<Mat> qr(rows);
    qr.setThreshold(1e-9);
    return qr.rank() == rows.rows();
  }

  std::map<std::pair<int, int>, int> index_;  // by body and node
};

}  // namespace

ConstraintGraph constraint_graph(const Equations& equations, const State& state, Workspace& work) {
  equations.update(state, work);
  const Model& model = equations.model();
  ConstraintGraph graph;
  graph.bodies = static_cast<int>(model.bodies.size());
  graph.length = equations.length();
  for (int b = 0; b < static_cast<int>(model.bodies.size()); ++b) {
    const BodyState& s = work.bodies[b];
    Mat twists = equations.body(b).twists(s);
    if (twists.cols() < 6) graph.reduced.push_back({b, s.r, std::move(twists)});
  }
  const NodeBodies nodes(equations, work, graph);
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
      const int body = nodes.of(equations.body_frame(frames[i]));
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
