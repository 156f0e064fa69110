// Rank analysis by loops of the joint graph: the order of work; loops.h has the theory.
#include "trammel/rank/loops.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <stdexcept>

#include "trammel/rank/algebra.h"
#include "trammel/rank/closure.h"
#include "trammel/rank/graph.h"
#include "trammel/rank/joint.h"

namespace trammel {
namespace rank {
namespace {

constexpr double unique_tolerance = 1e-7;             // entries of unit self-stresses below this are zero
constexpr std::size_t most_cycle_parts = 20'000'000;  // of one block, 160 MB
constexpr double most_null_entries = 2e7;             // of one block's self-stresses, 160 MB

[[noreturn]] void malformed(const std::string& what) { throw std::invalid_argument("constraint graph: " + what); }

void include(LoopGroup& group, const Spectrum& s) {
  group.smallest_nonzero = std::min(group.smallest_nonzero, s.smallest_nonzero);
  group.largest_zero = std::max(group.largest_zero, s.largest_zero);
  group.nearly_redundant = group.nearly_redundant || s.nearly;
}

class Analyser {
 public:
  Analyser(const ConstraintGraph& graph, const LoopOptions& options) : graph_(graph), options_(options) {}

  LoopAnalysis run() {
    check();
    prepare_result();
    find_ambients();
    add_virtual_rows();
    make_legs();
    for_each_block();
    finish();
    return std::move(result_);
  }

 private:
  void check() const;
  void prepare_result();
  void find_ambients();
  void add_virtual_rows();
  void make_legs();
  void for_each_block();
  void finish();

  const ConstraintEdge& source(int edge) const {
    return edge < edge_count() ? graph_.edges[at(edge)] : virtual_edges_[at(edge - edge_count())];
  }
  int edge_count() const { return static_cast<int>(graph_.edges.size()); }
  const Ambient& ambient_of(const ConstraintEdge& edge) {
    const int body = *std::max_element(edge.bodies.begin(), edge.bodies.end());
    return ambient_of_body(body);
  }
  const Ambient& ambient_of_body(int body) {
    if (ambients_.empty()) return full_;
    const auto found = ambients_.find(components_.find(body));
    return found == ambients_.end() ? full_ : found->second;
  }
  void analyse_block(const std::vector<int>& legs);
  Mat loop_self_stress(std::vector<Joint>& joints, const std::vector<GraphLeg>& legs, int nodes,
                       LoopGroup& group) const;
  void report_reactions(const std::vector<Joint>& joints, const LoopGroup& group, double l, const Mat& self_stress);
  void choose_removable(const std::vector<Joint>& joints, const Mat& self_stress);

  const ConstraintGraph& graph_;
  const LoopOptions& options_;
  LoopAnalysis result_;
  const Ambient full_;
  Sets components_{0};               // bodies connected without the ground
  std::map<int, Ambient> ambients_;  // of components with reduced bodies only
  std::vector<ConstraintEdge> virtual_edges_;
  std::vector<GraphLeg> legs_;  // nodes: 0 the ground, i + 1 body i
  std::vector<int> edge_of_leg_;
  std::vector<int> local_node_;
};

void Analyser::check() const {
  if (graph_.bodies < 0) malformed("negative number of bodies");
  if (!(graph_.length > 0) || !std::isfinite(graph_.length)) malformed("length must be positive");
  for (std::size_t e = 0; e < graph_.edges.size(); ++e) {
    const ConstraintEdge& edge = graph_.edges[e];
    const auto refuse = [e](const char* what) { malformed("edge " + std::to_string(e) + what); };
    const std::size_t m = edge.bodies.size();
    if (m < 2) refuse(" needs two bodies");
    for (std::size_t i = 0; i < m; ++i) {
      if (edge.bodies[i] < -1 || edge.bodies[i] >= graph_.bodies) refuse(" names a body that does not exist");
      for (std::size_t j = 0; j < i; ++j) {
        if (edge.bodies[i] == edge.bodies[j]) refuse(" names a body twice");
      }
    }
    if (edge.jacobian.rows() > 0 && edge.jacobian.cols() != static_cast<Index>(6 * (m - 1))) {
      refuse(" has a Jacobian of wrong width");
    }
    if (!edge.jacobian.allFinite() || !edge.point.allFinite()) refuse(" is not finite");
  }
  std::vector<char> seen(at(graph_.bodies), 0);
  for (const ReducedBody& body : graph_.reduced) {
    if (body.body < 0 || body.body >= graph_.bodies) malformed("reduced body does not exist");
    if (seen[at(body.body)]++) malformed("body reduced twice");
    if (body.basis.rows() != 6 || body.basis.cols() > 6) malformed("basis of a reduced body is not 6 x n");
  }
}

void Analyser::prepare_result() {
  result_.length = graph_.length;
  result_.body_freedoms = 6 * graph_.bodies + graph_.more_freedoms;
  for (const ReducedBody& body : graph_.reduced) result_.body_freedoms -= 6 - static_cast<int>(body.basis.cols());
  result_.edges.resize(graph_.edges.size());
  Sets sets(graph_.bodies + 1);
  for (std::size_t e = 0; e < graph_.edges.size(); ++e) {
    const ConstraintEdge& edge = graph_.edges[e];
    result_.edges[e].rows = static_cast<int>(edge.jacobian.rows());
    result_.rows += result_.edges[e].rows;
    if (edge.jacobian.rows() == 0) continue;
    for (std::size_t i = 1; i < edge.bodies.size(); ++i) {
      if (!sets.unite(edge.bodies[0] + 1, edge.bodies[i] + 1)) ++result_.loops;
    }
  }
}

void Analyser::find_ambients() {
  if (graph_.reduced.empty()) return;
  components_ = Sets(graph_.bodies);
  for (const ConstraintEdge& edge : graph_.edges) {
    const int last = *std::max_element(edge.bodies.begin(), edge.bodies.end());
    for (const int b : edge.bodies) {
      if (b >= 0 && edge.jacobian.rows() > 0) components_.unite(last, b);
    }
  }
  std::vector<int> full_bodies(at(graph_.bodies), 1);
  for (const ReducedBody& body : graph_.reduced) full_bodies[at(body.body)] = body.basis.cols() == 6 ? 1 : 0;
  for (const ReducedBody& body : graph_.reduced) {
    Ambient& ambient = ambients_[components_.find(body.body)];
    if (ambient.basis.rows() == 0) {
      ambient.full = false;
      ambient.point = body.point;
      ambient.basis = Mat::Zero(6, 0);
    }
  }
  for (int b = 0; b < graph_.bodies; ++b) {
    if (!full_bodies[at(b)]) continue;
    const auto found = ambients_.find(components_.find(b));
    if (found != ambients_.end()) found->second.full = true;
  }
  for (const ReducedBody& body : graph_.reduced) {
    Ambient& ambient = ambients_[components_.find(body.body)];
    if (!ambient.full) ambient.widen(body, graph_.length);
  }
}

// Rows to ground for what a body lacks of its part's motions, where one of its joints would notice. A joint that does
// not (a spherical joint at a point mass) leaves these rows without load.
void Analyser::add_virtual_rows() {
  if (graph_.reduced.empty()) return;
  const double length = graph_.length;
  std::vector<std::vector<int>> edges_at(at(graph_.bodies));
  for (int e = 0; e < edge_count(); ++e) {
    if (graph_.edges[at(e)].jacobian.rows() == 0) continue;
    for (const int b : graph_.edges[at(e)].bodies) {
      if (b >= 0) edges_at[at(b)].push_back(e);
    }
  }
  for (const ReducedBody& body : graph_.reduced) {
    const Mat lacking = lacking_motions(body, ambient_of_body(body.body), length);
    if (lacking.cols() == 0) continue;
    bool noticed = false;
    for (const int e : edges_at[at(body.body)]) {
      const ConstraintEdge& edge = graph_.edges[at(e)];
      const Mat rows = unit_rows(edge, length);
      Mat on_body = Mat::Zero(rows.rows(), 6);
      for (std::size_t i = 1; i < edge.bodies.size(); ++i) {
        const Mat block = rows.middleCols(static_cast<Index>(6 * (i - 1)), 6);
        if (edge.bodies[0] == body.body) on_body -= block;
        if (edge.bodies[i] == body.body) on_body += block;
      }
      noticed = noticed || (on_body * moved(body.point, edge.point, length) * lacking).cwiseAbs().maxCoeff() > 1e-10;
    }
    if (!noticed) continue;
    ConstraintEdge held;
    held.bodies = {-1, body.body};
    held.point = body.point;
    held.jacobian = lacking.transpose();
    held.jacobian.rightCols(3) *= length;
    virtual_edges_.push_back(std::move(held));
  }
}

void Analyser::make_legs() {
  const int all = edge_count() + static_cast<int>(virtual_edges_.size());
  for (int e = 0; e < all; ++e) {
    const ConstraintEdge& edge = source(e);
    if (edge.jacobian.rows() == 0) continue;
    for (std::size_t i = 1; i < edge.bodies.size(); ++i) {
      legs_.push_back({edge.bodies[0] + 1, edge.bodies[i] + 1});
      edge_of_leg_.push_back(e);
    }
  }
}

void Analyser::for_each_block() {
  const GraphBlocks blocks = biconnected_blocks(graph_.bodies + 1, legs_);
  // A coupler ties all its bodies: the blocks of its legs, which share its first body, count as one.
  Sets merged(blocks.count);
  for (std::size_t l = 1; l < legs_.size(); ++l) {
    if (edge_of_leg_[l] == edge_of_leg_[l - 1]) merged.unite(blocks.of_leg[l], blocks.of_leg[l - 1]);
  }
  std::vector<std::size_t> start(at(blocks.count) + 1, 0);
  for (std::size_t l = 0; l < legs_.size(); ++l) ++start[at(merged.find(blocks.of_leg[l])) + 1];
  std::partial_sum(start.begin(), start.end(), start.begin());
  std::vector<int> sorted(legs_.size());
  std::vector<std::size_t> next(start.begin(), start.end() - 1);
  for (std::size_t l = 0; l < legs_.size(); ++l)
    sorted[next[at(merged.find(blocks.of_leg[l]))]++] = static_cast<int>(l);

  local_node_.assign(at(graph_.bodies) + 1, -1);
  std::vector<std::pair<int, std::size_t>> order;  // by first leg, so that groups come in the order of the edges
  for (std::size_t b = 0; b + 1 < start.size(); ++b) {
    if (start[b] < start[b + 1]) order.emplace_back(sorted[start[b]], b);
  }
  std::sort(order.begin(), order.end());
  std::vector<int> legs;
  for (const auto& [first, b] : order) {
    const int edge = edge_of_leg_[at(first)];
    if (start[b + 1] - start[b] == 1) {  // a bridge, with nothing to find unless its own rows depend on each other
      if (edge >= edge_count()) continue;
      if (ambient_of(source(edge)).full && clearly_independent(source(edge), graph_.length)) {
        result_.edges[at(edge)].own_rank = result_.edges[at(edge)].rows;
        continue;
      }
    }
    legs.assign(sorted.begin() + static_cast<std::ptrdiff_t>(start[b]),
                sorted.begin() + static_cast<std::ptrdiff_t>(start[b + 1]));
    analyse_block(legs);
  }
}

void Analyser::analyse_block(const std::vector<int>& legs) {
  // The block's centre and size.
  Vec3 centre = Vec3::Zero();
  for (const int l : legs) centre += source(edge_of_leg_[at(l)]).point;
  centre /= static_cast<double>(legs.size());
  double size = 0;
  for (const int l : legs) size += (source(edge_of_leg_[at(l)]).point - centre).squaredNorm();
  size = std::sqrt(size / static_cast<double>(legs.size()));
  if (size < 1e-6 * graph_.length) size = graph_.length;  // all joints in one point

  // Joints, and the block's own numbers for nodes and legs.
  std::vector<Joint> joints;
  std::vector<GraphLeg> local_legs;
  std::vector<int> nodes;
  const auto local = [&](int node) {
    int& i = local_node_[at(node)];
    if (i < 0) {
      i = static_cast<int>(nodes.size());
      nodes.push_back(node);
    }
    return i;
  };
  const Ambient& ambient = ambient_of(source(edge_of_leg_[at(legs.front())]));
  int previous = -1;
  for (const int l : legs) {  // the legs of one edge follow each other
    const int edge = edge_of_leg_[at(l)];
    if (edge != previous) {
      joints.emplace_back(source(edge), edge < edge_count() ? edge : -1, ambient, centre, size, graph_.length,
                          options_);
    }
    previous = edge;
    joints.back().leg_ids.push_back(static_cast<int>(local_legs.size()));
    const int tail = local(legs_[at(l)].tail), head = local(legs_[at(l)].head);
    local_legs.push_back({tail, head});
  }
  for (const int n : nodes) local_node_[at(n)] = -1;

  LoopGroup group;
  Sets connected(static_cast<int>(nodes.size()));
  for (const Joint& joint : joints) {
    include(group, joint.split.spectrum);
    if (joint.edge < 0) continue;
    group.edges.push_back(joint.edge);
    group.redundant += static_cast<int>(joint.deficiency());
    result_.edges[at(joint.edge)].own_rank = joint.split.spectrum.rank;
    for (const int l : joint.leg_ids) {
      if (!connected.unite(local_legs[at(l)].tail, local_legs[at(l)].head)) ++group.loops;
    }
  }
  const Mat self_stress = loop_self_stress(joints, local_legs, static_cast<int>(nodes.size()), group);
  report_reactions(joints, group, size, self_stress);
  choose_removable(joints, self_stress);
  if (group.loops == 0 && group.redundant == 0 && !group.nearly_redundant && group.analysed) return;
  for (const int e : group.edges) result_.edges[at(e)].group = static_cast<int>(result_.groups.size());
  result_.groups.push_back(std::move(group));
}

// Counts what the loops add to the group's redundant rows. Returns the multipliers of the user's rows (scaled as
// Joint::rows) in an orthonormal basis of the loops' self-stresses; no columns if there are none or none were computed.
Mat Analyser::loop_self_stress(std::vector<Joint>& joints, const std::vector<GraphLeg>& legs, int nodes,
                               LoopGroup& group) const {
  Index user_rows = 0;
  for (Joint& joint : joints) {
    joint.first_row = user_rows;
    if (joint.edge >= 0) user_rows += joint.row_count();
  }
  const Mat none = Mat::Zero(user_rows, 0);
  const int loops = static_cast<int>(legs.size()) - nodes + 1;
  if (loops == 0) return none;
  CycleBasis cycles;
  cycles.complete = loops <= std::max(options_.most_loops_for_qr, options_.most_loops_for_svd);
  if (cycles.complete) cycles = short_cycle_basis(nodes, legs, most_cycle_parts);
  if (!cycles.complete) {
    group.analysed = group.directions_known = false;
    return none;
  }
  const Closure closure(joints, cycles, legs.size());
  if (loops > options_.most_loops_for_svd) {
    const Spectrum spectrum =
        sparse_rank(static_cast<int>(closure.rows()), static_cast<int>(closure.columns()), closure.entries(), options_);
    include(group, spectrum);
    const int redundant = static_cast<int>(closure.rows()) - spectrum.rank;
    group.redundant += redundant;
    group.directions_known = redundant == 0;
    return none;
  }
  const LeftNull null = left_null_space(closure.dense(), options_);
  include(group, null.spectrum);
  const Index d = null.basis.cols();
  group.redundant += static_cast<int>(d);
  group.directions_known = static_cast<double>(user_rows) * static_cast<double>(d) < most_null_entries;
  if (d == 0 || !group.directions_known) return none;
  Mat multipliers(user_rows, d);
  for (const Joint& joint : joints) {
    if (joint.edge < 0) continue;
    multipliers.middleRows(joint.first_row, joint.row_count()) = joint.split.forces * closure.wrench(joint, null.basis);
  }
  return orthonormal(multipliers);
}

void Analyser::report_reactions(const std::vector<Joint>& joints, const LoopGroup& group, double l,
                                const Mat& self_stress) {
  const Index d = self_stress.cols();
  const double largest = d > 0 ? self_stress.rowwise().norm().maxCoeff() : 1.0;
  for (const Joint& joint : joints) {
    if (joint.edge < 0) continue;
    EdgeRank& edge = result_.edges[at(joint.edge)];
    const Index k = joint.row_count();
    Mat multipliers(k, d + joint.deficiency());
    multipliers.leftCols(d) = self_stress.middleRows(joint.first_row, k) / largest;
    multipliers.rightCols(joint.deficiency()) = joint.split.null;
    for (Index i = 0; i < k; ++i) {
      if (multipliers.row(i).norm() > unique_tolerance) edge.rows_not_unique.push_back(static_cast<int>(i));
    }
    edge.undetermined = Mat::Zero(6 * joint.legs, 0);
    if (!edge.rows_not_unique.empty()) {
      Mat wrench = joint.rows.transpose() * multipliers;  // [F; T / l] -> [F; T / L]
      for (Index i = 3; i < wrench.rows(); i += 6) wrench.middleRows(i, 3) *= l / graph_.length;
      edge.undetermined = column_space(wrench, unique_tolerance);
    }
    edge.directions_known = group.directions_known;
    if (!edge.directions_known) {
      edge.text = "perhaps not unique: in a group of loops too large for directions";
    } else if (edge.undetermined.cols() == 0) {
      if (!edge.rows_not_unique.empty()) edge.text = "rows depend on each other; their sum, the reaction, is unique";
    } else if (joint.legs == 1) {
      const Mat3 axes = joint.source->axes.value_or(Mat3::Identity());
      edge.text = describe_directions(edge.undetermined, axes) + " not unique";
    } else {
      edge.text = std::to_string(edge.undetermined.cols()) + " of " + std::to_string(k) + " coupling forces not unique";
    }
  }
}

// Rows whose removal leaves the rest independent: first within joints, then from the loops' self-stresses written in
// the rows that are left.
void Analyser::choose_removable(const std::vector<Joint>& joints, const Mat& self_stress) {
  Mat left = self_stress;
  std::vector<RowOfEdge> row_of;
  bool changed = false;
  for (const Joint& joint : joints) {
    if (joint.edge < 0) continue;
    for (int i = 0; i < joint.row_count(); ++i) row_of.push_back({joint.edge, i});
    if (joint.deficiency() == 0) continue;
    const std::vector<Index> gone = pivot_rows(joint.split.null);
    for (const Index i : gone) result_.removable.push_back({joint.edge, static_cast<int>(i)});
    const Mat before = left.middleRows(joint.first_row, joint.row_count());
    left.middleRows(joint.first_row, joint.row_count()) = without_rows(before, joint.split.null, gone);
    changed = true;
  }
  if (left.cols() == 0) return;
  if (changed) left = orthonormal(left);
  for (const Index i : pivot_rows(left)) result_.removable.push_back(row_of[i]);
}

void Analyser::finish() {
  for (const LoopGroup& group : result_.groups) {
    result_.redundant += group.redundant;
    result_.smallest_nonzero = std::min(result_.smallest_nonzero, group.smallest_nonzero);
    result_.largest_zero = std::max(result_.largest_zero, group.largest_zero);
    result_.nearly_redundant = result_.nearly_redundant || group.nearly_redundant;
    result_.analysed = result_.analysed && group.analysed;
    result_.directions_known = result_.directions_known && group.directions_known;
  }
  result_.rank = result_.rows - result_.redundant;
  result_.freedoms_by_count = result_.body_freedoms - result_.rows;
  result_.freedoms_by_rank = result_.body_freedoms - result_.rank;
  for (EdgeRank& edge : result_.edges) {
    if (edge.undetermined.rows() == 0) edge.undetermined.resize(6, 0);
  }
  std::sort(result_.removable.begin(), result_.removable.end(),
            [](const RowOfEdge& a, const RowOfEdge& b) { return a.edge != b.edge ? a.edge < b.edge : a.row < b.row; });
}

}  // namespace
}  // namespace rank

ConstraintEdge edge_on_absolute_twists(const std::vector<int>& bodies, const Vec3& point, const Mat& jacobian) {
  using Eigen::Index;
  const Index m = static_cast<Index>(bodies.size());
  if (jacobian.cols() != 6 * m || m == 0) rank::malformed("absolute Jacobian of wrong width");
  Mat sum = Mat::Zero(jacobian.rows(), 6);
  for (Index i = 0; i < m; ++i) sum += jacobian.middleCols(6 * i, 6);
  ConstraintEdge edge;
  edge.point = point;
  const bool relative =
      m > 1 && (sum.size() == 0 || sum.cwiseAbs().maxCoeff() <= 1e-12 * jacobian.cwiseAbs().maxCoeff());
  // The coefficients on the ground, or on the first body where only differences count, drop out.
  const auto grounded = std::find(bodies.begin(), bodies.end(), -1);
  const Index first = grounded != bodies.end() ? grounded - bodies.begin() : (relative ? 0 : -1);
  edge.bodies.push_back(first >= 0 ? bodies[first] : -1);
  edge.jacobian.resize(jacobian.rows(), 6 * (first >= 0 ? m - 1 : m));
  Index column = 0;
  for (Index i = 0; i < m; ++i) {
    if (i == first) continue;
    edge.bodies.push_back(bodies[i]);
    edge.jacobian.middleCols(column, 6) = jacobian.middleCols(6 * i, 6);
    column += 6;
  }
  return edge;
}

ReducedBody point_body(int body, const Vec3& point) {
  Mat basis = Mat::Zero(6, 3);
  basis.topRows(3).setIdentity();
  return {body, point, basis};
}

ReducedBody planar_body(int body, const Vec3& point, const Mat3& axes) {
  Mat basis = Mat::Zero(6, 3);
  basis.block(0, 0, 3, 2) = axes.leftCols(2);
  basis.block(3, 2, 3, 1) = axes.col(2);
  return {body, point, basis};
}

LoopAnalysis analyse_loops(const ConstraintGraph& graph, const LoopOptions& options) {
  return rank::Analyser(graph, options).run();
}

}  // namespace trammel
