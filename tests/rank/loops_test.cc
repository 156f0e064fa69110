// The rank analysis by loops against mechanisms whose redundancy is known and, for random mechanisms, against singular
// values of the whole constraint matrix G over all body velocities, assembled here independently of any graph.
#include "trammel/rank/loops.h"

#include <gtest/gtest.h>

#include <Eigen/SVD>
#include <cmath>
#include <random>
#include <stdexcept>

#include "trammel/rank/algebra.h"
#include "trammel/rank/graph.h"
#include "trammel/rank/sparse.h"

namespace trammel::loops_test {
namespace {

const double pi = std::acos(-1.0);

// --- joints as rows on the relative twist about the joint point -----------------------------------------------------

// Columns: two directions perpendicular to the unit vector, then the vector.
Mat3 frame_with_z(const Vec3& z) {
  Mat3 axes;
  axes.col(2) = z.normalized();
  axes.col(0) = axes.col(2).unitOrthogonal();
  axes.col(1) = axes.col(2).cross(axes.col(0));
  return axes;
}

Mat translation_rows(const std::vector<Vec3>& directions) {
  Mat rows = Mat::Zero(static_cast<Eigen::Index>(directions.size()), 6);
  for (std::size_t i = 0; i < directions.size(); ++i) {
    rows.row(static_cast<Eigen::Index>(i)).head(3) = directions[i].transpose();
  }
  return rows;
}

Mat rotation_rows(const std::vector<Vec3>& directions) {
  Mat rows = Mat::Zero(static_cast<Eigen::Index>(directions.size()), 6);
  for (std::size_t i = 0; i < directions.size(); ++i) {
    rows.row(static_cast<Eigen::Index>(i)).tail(3) = directions[i].transpose();
  }
  return rows;
}

Mat stacked(const Mat& a, const Mat& b) {
  Mat both(a.rows() + b.rows(), a.cols());
  both << a, b;
  return both;
}

const Vec3 X = Vec3::UnitX(), Y = Vec3::UnitY(), Z = Vec3::UnitZ();

Mat spherical_rows() { return translation_rows({X, Y, Z}); }
Mat revolute_rows(const Vec3& axis) {
  const Mat3 f = frame_with_z(axis);
  return stacked(spherical_rows(), rotation_rows({f.col(0), f.col(1)}));
}
Mat translational_rows(const Vec3& axis) {
  const Mat3 f = frame_with_z(axis);
  return stacked(translation_rows({f.col(0), f.col(1)}), rotation_rows({X, Y, Z}));
}
Mat cylindrical_rows(const Vec3& axis) {
  const Mat3 f = frame_with_z(axis);
  return stacked(translation_rows({f.col(0), f.col(1)}), rotation_rows({f.col(0), f.col(1)}));
}
Mat universal_rows(const Vec3& normal) { return stacked(spherical_rows(), rotation_rows({normal})); }
Mat planar_joint_rows(const Vec3& normal) {
  const Mat3 f = frame_with_z(normal);
  return stacked(translation_rows({normal}), rotation_rows({f.col(0), f.col(1)}));
}
Mat fixed_rows() { return Mat::Identity(6, 6); }

ConstraintEdge edge(int a, int b, const Vec3& point, const Mat& rows) {
  ConstraintEdge e;
  e.bodies = {a, b};
  e.point = point;
  e.jacobian = rows;
  return e;
}

// --- the reference: G over all body velocities, dense ----------------------------------------------------------------

struct Reference {
  Eigen::Index rank = 0;
  double smallest = 1;  // singular values next to the gap, relative
  double largest_zero = 0;
  Mat null;  // rows x d, rows of G scaled to unit length at their joint
  std::vector<Eigen::Index> first_row;
  std::vector<Mat> wrench;  // per edge: 6 legs x rows of the edge, [F; T / L]
};

Mat cross(const Vec3& r) {
  Mat3 c;
  c << 0, -r.z(), r.y(), r.z(), 0, -r.x(), -r.y(), r.x(), 0;
  return c;
}

// The rows of one edge with rotations scaled by L and unit length.
Mat scaled_rows(const ConstraintEdge& e, double L) {
  Mat rows = e.jacobian;
  for (Eigen::Index c = 0; c < rows.cols(); ++c) {
    if (c % 6 > 2) rows.col(c) /= L;
  }
  for (Eigen::Index i = 0; i < rows.rows(); ++i) rows.row(i) /= std::max(rows.row(i).norm(), 1e-300);
  return rows;
}

Mat dense_g(const ConstraintGraph& graph, std::vector<Eigen::Index>* first_row = nullptr) {
  const double L = graph.length;
  std::vector<Mat> basis(static_cast<std::size_t>(graph.bodies), Mat::Identity(6, 6));
  std::vector<Vec3> point(static_cast<std::size_t>(graph.bodies), Vec3::Zero());
  for (const ReducedBody& r : graph.reduced) {
    basis[static_cast<std::size_t>(r.body)] = r.basis;
    point[static_cast<std::size_t>(r.body)] = r.point;
  }
  std::vector<Eigen::Index> column(1, 0);
  for (const Mat& b : basis) column.push_back(column.back() + b.cols());
  Eigen::Index rows = 0;
  for (const ConstraintEdge& e : graph.edges) rows += e.jacobian.rows();
  Mat g = Mat::Zero(rows, column.back());
  rows = 0;
  for (const ConstraintEdge& e : graph.edges) {
    if (first_row != nullptr) first_row->push_back(rows);
    const Mat unit = scaled_rows(e, L);
    const auto add = [&](int body, const Mat& coefficients) {
      if (body < 0) return;
      const std::size_t b = static_cast<std::size_t>(body);
      // [v; w L] at the joint from the body's velocities, scaled by L like the rest.
      Mat twist(6, basis[b].cols());
      const Mat v = basis[b].topRows(3), w = basis[b].bottomRows(3);
      twist.topRows(3) = v - cross(e.point - point[b]) * w / L;
      twist.bottomRows(3) = w;
      g.block(rows, column[b], unit.rows(), twist.cols()) += coefficients * twist;
    };
    for (std::size_t i = 1; i < e.bodies.size(); ++i) {
      const Mat block = unit.middleCols(static_cast<Eigen::Index>(6 * (i - 1)), 6);
      add(e.bodies[i], block);
      add(e.bodies[0], -block);
    }
    rows += unit.rows();
  }
  return g;
}

Reference reference(const ConstraintGraph& graph) {
  Reference ref;
  const Mat g = dense_g(graph, &ref.first_row);
  const Eigen::Index m = g.rows();
  ref.null = Mat::Identity(m, m);
  if (m > 0 && g.cols() > 0) {
    const Eigen::JacobiSVD<Mat> svd(g, Eigen::ComputeFullU);
    for (const double s : svd.singularValues()) {
      const double relative = s / std::max(svd.singularValues()(0), 1e-3);
      if (relative > 1e-8) {
        ++ref.rank;
        ref.smallest = relative;
      } else {
        ref.largest_zero = std::max(ref.largest_zero, relative);
      }
    }
    ref.null = svd.matrixU().rightCols(m - ref.rank);
  }
  for (const ConstraintEdge& e : graph.edges) ref.wrench.push_back(scaled_rows(e, graph.length).transpose());
  return ref;
}

Mat span_of(const Mat& vectors, double tolerance) {
  if (vectors.size() == 0) return Mat::Zero(vectors.rows(), 0);
  const Eigen::JacobiSVD<Mat> svd(vectors, Eigen::ComputeThinU);
  Eigen::Index r = 0;
  while (r < svd.singularValues().size() && svd.singularValues()(r) > tolerance) ++r;
  return svd.matrixU().leftCols(r);
}

Eigen::Index rank_of(const Mat& g) { return span_of(g, 1e-8).cols(); }

// Everything the analysis says that G can confirm.
void expect_as_dense(const ConstraintGraph& graph, const LoopAnalysis& found) {
  const Reference ref = reference(graph);
  ASSERT_EQ(found.rank, ref.rank) << "smallest " << ref.smallest << " largest zero " << ref.largest_zero;
  EXPECT_EQ(found.redundant, ref.null.cols());
  EXPECT_EQ(found.rows, ref.null.rows());
  const Mat g = dense_g(graph);
  EXPECT_EQ(found.freedoms_by_rank, g.cols() - ref.rank);
  EXPECT_EQ(found.freedoms_by_count, g.cols() - g.rows());
  int in_groups = 0;
  for (const LoopGroup& group : found.groups) in_groups += group.redundant;
  EXPECT_EQ(in_groups, found.redundant);
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    SCOPED_TRACE("edge " + std::to_string(e));
    const Eigen::Index k = graph.edges[e].jacobian.rows();
    const Mat own = ref.null.middleRows(ref.first_row[e], k);
    const Mat expected = span_of(ref.wrench[e] * own, 1e-7);
    const Mat& directions = found.edges[e].undetermined;
    ASSERT_EQ(directions.cols(), expected.cols());
    EXPECT_LT((directions.transpose() * directions - Mat::Identity(directions.cols(), directions.cols())).norm(),
              1e-12);
    EXPECT_LT((directions * directions.transpose() - expected * expected.transpose()).norm(), 1e-7);
    std::vector<int> not_unique;
    for (Eigen::Index i = 0; i < k; ++i) {
      if (own.cols() > 0 && own.row(i).norm() > 1e-7) not_unique.push_back(static_cast<int>(i));
    }
    EXPECT_EQ(found.edges[e].rows_not_unique, not_unique);
    EXPECT_EQ(found.edges[e].text.empty(), not_unique.empty());
  }
  // Without the removable rows: the same rank and nothing redundant.
  ASSERT_EQ(found.removable.size(), static_cast<std::size_t>(found.redundant));
  std::vector<char> gone(static_cast<std::size_t>(g.rows()), 0);
  for (const RowOfEdge& r : found.removable)
    gone[static_cast<std::size_t>(ref.first_row[static_cast<std::size_t>(r.edge)] + r.row)] = 1;
  Mat left(g.rows() - found.redundant, g.cols());
  Eigen::Index next = 0;
  for (Eigen::Index i = 0; i < g.rows(); ++i) {
    if (!gone[static_cast<std::size_t>(i)] && next < left.rows()) left.row(next++) = g.row(i);
  }
  EXPECT_EQ(next, left.rows());
  EXPECT_EQ(rank_of(left), ref.rank);
}

// --- mechanisms ------------------------------------------------------------------------------------------------------

// A ladder of N four-bars on the ground: cranks at x = 0, 1, ..., N, theta from the vertical, neighbours joined by
// couplers. Bodies 0..N cranks, N+1..2N couplers. Everything is turned by `turn`.
ConstraintGraph n_four_bar(int windows, double theta, const Mat3& turn = Mat3::Identity()) {
  ConstraintGraph graph;
  graph.bodies = 2 * windows + 1;
  const Vec3 axis = turn * Z, arm(std::sin(theta), std::cos(theta), 0);
  const auto joint = [&](int a, int b, const Vec3& p) {
    ConstraintEdge e = edge(a, b, turn * p, revolute_rows(axis));
    e.axes = frame_with_z(axis);
    graph.edges.push_back(e);
  };
  for (int i = 0; i <= windows; ++i) joint(-1, i, Vec3(i, 0, 0));
  for (int i = 0; i < windows; ++i) {
    joint(i, windows + 1 + i, Vec3(i, 0, 0) + arm);
    joint(i + 1, windows + 1 + i, Vec3(i + 1, 0, 0) + arm);
  }
  return graph;
}

ConstraintGraph four_bar() {
  const Mat3 tilt = Eigen::AngleAxisd(0.7, Vec3(1, 2, 3).normalized()).toRotationMatrix();
  ConstraintGraph graph;
  graph.bodies = 3;
  const Vec3 a(0, 0, 0), b(0.3, 0.9, 0), c(1.8, 1.1, 0), d(2, 0, 0), axis = tilt * Z;
  graph.edges = {edge(-1, 0, tilt * a, revolute_rows(axis)), edge(0, 1, tilt * b, revolute_rows(axis)),
                 edge(1, 2, tilt * c, revolute_rows(axis)), edge(2, -1, tilt * d, revolute_rows(axis))};
  for (ConstraintEdge& e : graph.edges) e.axes = tilt;
  return graph;
}

TEST(Loops, FourBarOfSpatialRevolutes) {
  const ConstraintGraph graph = four_bar();
  const LoopAnalysis found = analyse_loops(graph);
  EXPECT_EQ(found.rows, 20);
  EXPECT_EQ(found.rank, 17);
  EXPECT_EQ(found.redundant, 3);
  EXPECT_EQ(found.freedoms_by_rank, 1);
  EXPECT_EQ(found.freedoms_by_count, -2);
  EXPECT_EQ(found.loops, 1);
  ASSERT_EQ(found.groups.size(), 1u);
  EXPECT_EQ(found.groups[0].edges, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_FALSE(found.nearly_redundant);
  EXPECT_GT(found.smallest_nonzero, 0.1);
  EXPECT_LT(found.largest_zero, 1e-14);
  for (const EdgeRank& e : found.edges) {
    EXPECT_EQ(e.own_rank, 5);
    EXPECT_EQ(e.text, "force along z, torques about x and y not unique");
  }
  expect_as_dense(graph, found);
}

TEST(Loops, NFourBarGenericAndSingular) {
  const Mat3 turn = Eigen::AngleAxisd(1.1, Vec3(2, -1, 1).normalized()).toRotationMatrix();
  const LoopAnalysis generic = analyse_loops(n_four_bar(2, 0.6, turn));
  EXPECT_EQ(generic.rows, 35);
  EXPECT_EQ(generic.redundant, 6);
  EXPECT_EQ(generic.freedoms_by_rank, 1);
  expect_as_dense(n_four_bar(2, 0.6, turn), generic);
  const LoopAnalysis singular = analyse_loops(n_four_bar(2, pi / 2, turn));
  EXPECT_EQ(singular.redundant, 8);
  EXPECT_EQ(singular.freedoms_by_rank, 3);
  expect_as_dense(n_four_bar(2, pi / 2, turn), singular);

  const PoseComparison both = compare_poses(singular, generic);
  EXPECT_EQ(both.permanent, 6);
  EXPECT_EQ(both.momentary_first, 2);
  EXPECT_EQ(both.momentary_second, 0);
  ASSERT_EQ(both.groups.size(), 1u);
  EXPECT_EQ(both.groups[0].edges.size(), 7u);
  EXPECT_EQ(compare_poses(generic, singular).momentary_second, 2);
}

TEST(Loops, NearASingularPositionIsFlagged) {
  for (const double angle : {1e-6, 1e-9}) {
    const LoopAnalysis found = analyse_loops(n_four_bar(2, pi / 2 + angle));
    EXPECT_TRUE(found.nearly_redundant) << angle;
    EXPECT_EQ(found.redundant, angle > 1e-8 ? 6 : 8);
  }
  EXPECT_FALSE(analyse_loops(n_four_bar(2, pi / 2)).nearly_redundant);
}

TEST(Loops, NFourBar40) {
  const LoopAnalysis found = analyse_loops(n_four_bar(40, 0.6));
  EXPECT_EQ(found.loops, 40);
  EXPECT_EQ(found.redundant, 120);
  EXPECT_EQ(found.freedoms_by_rank, 1);
  EXPECT_FALSE(found.nearly_redundant);
  EXPECT_LT(found.largest_zero, 1e-12);
  EXPECT_EQ(found.removable.size(), 120u);
  for (const EdgeRank& e : found.edges) EXPECT_EQ(e.text, "force along z, torques about x and y not unique");
}

TEST(Loops, ManyLoopsAreCountedBySparseQr) {
  LoopOptions sparse;
  sparse.most_loops_for_svd = 10;
  for (const int windows : {11, 40, 300}) {
    const LoopAnalysis found = analyse_loops(n_four_bar(windows, 0.6), sparse);
    EXPECT_EQ(found.redundant, 3 * windows);
    EXPECT_EQ(found.freedoms_by_rank, 1);
    EXPECT_TRUE(found.analysed);
    EXPECT_FALSE(found.directions_known);
    EXPECT_TRUE(found.removable.empty());
    EXPECT_FALSE(found.edges[0].directions_known);
    EXPECT_FALSE(found.edges[0].text.empty());
  }
  sparse.most_loops_for_qr = 20;
  const LoopAnalysis left_out = analyse_loops(n_four_bar(40, 0.6), sparse);
  EXPECT_FALSE(left_out.analysed);
  EXPECT_EQ(left_out.redundant, 0);
}

TEST(Loops, Bricard) {
  const std::vector<Vec3> p{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {1, 1, 1}, {0, 1, 1}, {0, 0, 1}};
  ConstraintGraph graph;
  graph.bodies = 5;
  for (int i = 0; i < 6; ++i) {
    const Vec3 before = p[static_cast<std::size_t>(i)] - p[static_cast<std::size_t>((i + 5) % 6)];
    const Vec3 after = p[static_cast<std::size_t>((i + 1) % 6)] - p[static_cast<std::size_t>(i)];
    // Joint i lies between the links (i-1, i) and (i, i+1); link 5 is the ground.
    graph.edges.push_back(
        edge(i == 0 ? -1 : i - 1, i == 5 ? -1 : i, p[static_cast<std::size_t>(i)], revolute_rows(before.cross(after))));
  }
  const LoopAnalysis found = analyse_loops(graph);
  EXPECT_EQ(found.rows, 30);
  EXPECT_EQ(found.redundant, 1);
  EXPECT_EQ(found.freedoms_by_rank, 1);
  for (const EdgeRank& e : found.edges) EXPECT_EQ(e.undetermined.cols(), 1);
  expect_as_dense(graph, found);
}

TEST(Loops, LoopsHangingInATree) {
  // A chain of 10,000 bodies in random directions; every 500th is one corner of a four-bar of its own.
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  const auto direction = [&] { return Vec3(normal(random), normal(random), normal(random)).normalized(); };
  ConstraintGraph graph;
  Vec3 p = Vec3::Zero();
  for (int i = 0; i < 10000; ++i) {
    const int before = i < 3 ? i - 1 : i - 1 - static_cast<int>(random() % 3);
    graph.edges.push_back(edge(before, i, p, revolute_rows(direction())));
    p += 0.1 * direction();
  }
  graph.bodies = 10000;
  for (int loop = 0; loop < 20; ++loop) {
    const Mat3 axes = frame_with_z(direction());
    const Vec3 o(loop, 1, 2);
    const int base = 500 * loop, first = graph.bodies;
    graph.bodies += 3;
    const std::vector<Vec3> corners{{0, 0, 0}, {0.3, 0.9, 0}, {1.8, 1.1, 0}, {2, 0, 0}};
    for (int k = 0; k < 4; ++k) {
      graph.edges.push_back(edge(k == 0 ? base : first + k - 1, k == 3 ? base : first + k,
                                 o + axes * corners[static_cast<std::size_t>(k)], revolute_rows(axes.col(2))));
      graph.edges.back().axes = axes;
    }
  }
  graph.length = 10;
  const LoopAnalysis found = analyse_loops(graph);
  EXPECT_EQ(found.loops, 20);
  EXPECT_EQ(found.redundant, 60);
  EXPECT_EQ(found.freedoms_by_rank, 10000 + 20);
  EXPECT_EQ(found.groups.size(), 20u);
  EXPECT_EQ(found.edges[1234].undetermined.cols(), 0);
  EXPECT_EQ(found.edges[1234].group, -1);
  EXPECT_EQ(found.edges[10002].text, "force along z, torques about x and y not unique");
}

TEST(Loops, LongChainsAndRings) {
  const Mat rows = revolute_rows(Z);
  const auto chain = [&](int n) {
    ConstraintGraph graph;
    graph.bodies = n;
    graph.length = n;
    for (int i = 0; i < n; ++i) graph.edges.push_back(edge(i - 1, i, Vec3(i, i % 2, 0), rows));
    return graph;
  };
  const LoopAnalysis open = analyse_loops(chain(100000));
  EXPECT_EQ(open.redundant, 0);
  EXPECT_EQ(open.freedoms_by_rank, 100000);
  EXPECT_TRUE(open.groups.empty());
  const int n = 3000;
  ConstraintGraph closed = chain(n);
  closed.edges.push_back(edge(n - 1, -1, Vec3(n, 0, 0), revolute_rows(Z)));
  const LoopAnalysis ring = analyse_loops(closed);
  EXPECT_EQ(ring.redundant, 3);
  EXPECT_EQ(ring.freedoms_by_rank, n - 2);
  EXPECT_EQ(ring.groups.at(0).edges.size(), static_cast<std::size_t>(n) + 1);
}

TEST(Loops, DoubledRowsWithinAJoint) {
  ConstraintGraph graph;
  graph.bodies = 1;
  graph.edges = {edge(-1, 0, Vec3(1, 2, 3), stacked(revolute_rows(Z), 2.5 * translation_rows({X})))};
  const LoopAnalysis found = analyse_loops(graph);
  EXPECT_EQ(found.redundant, 1);
  EXPECT_EQ(found.edges[0].own_rank, 5);
  EXPECT_EQ(found.edges[0].undetermined.cols(), 0);  // the sum of the two rows is unique
  EXPECT_EQ(found.edges[0].rows_not_unique, (std::vector<int>{0, 5}));
  EXPECT_EQ(found.edges[0].group, 0);
  EXPECT_EQ(found.groups.at(0).loops, 0);
  expect_as_dense(graph, found);
}

TEST(Loops, DoubledJointsAndHinges) {
  // A door with the same hinge twice at one place, then with two hinges on one line.
  for (const double distance : {0.0, 0.8}) {
    ConstraintGraph graph;
    graph.bodies = 1;
    graph.edges = {edge(-1, 0, Vec3(1, 0, 0), revolute_rows(Z)), edge(-1, 0, Vec3(1, 0, distance), revolute_rows(Z))};
    const LoopAnalysis found = analyse_loops(graph);
    EXPECT_EQ(found.redundant, 5);
    EXPECT_EQ(found.freedoms_by_rank, 1);
    EXPECT_EQ(found.edges[0].text, "forces along x, y and z, torques about x and y not unique");
    expect_as_dense(graph, found);
  }
}

TEST(Loops, FreeFloatingParts) {
  // Two four-bars floating apart, a lone body and an empty edge.
  ConstraintGraph graph;
  graph.bodies = 9;
  const ConstraintGraph one = four_bar();
  for (int copy = 0; copy < 2; ++copy) {
    for (ConstraintEdge e : one.edges) {
      for (int& b : e.bodies) b = (b < 0 ? 3 : b) + 4 * copy;
      e.point += Vec3(0, 0, 5 * copy);
      graph.edges.push_back(e);
    }
  }
  graph.edges.push_back(edge(-1, 0, Vec3::Zero(), Mat::Zero(0, 6)));
  const LoopAnalysis found = analyse_loops(graph);
  EXPECT_EQ(found.redundant, 6);
  EXPECT_EQ(found.freedoms_by_rank, 7 + 7 + 6);
  EXPECT_EQ(found.groups.size(), 2u);
  expect_as_dense(graph, found);
}

TEST(Loops, AllFixedLoop) {
  ConstraintGraph graph;
  graph.bodies = 2;
  graph.edges = {edge(-1, 0, X, fixed_rows()), edge(0, 1, Y, fixed_rows()), edge(1, -1, Z, fixed_rows())};
  const LoopAnalysis found = analyse_loops(graph);
  EXPECT_EQ(found.redundant, 6);
  EXPECT_EQ(found.freedoms_by_rank, 0);
  EXPECT_EQ(found.edges[1].text, "forces along x, y and z, torques about x, y and z not unique");
  expect_as_dense(graph, found);
}

TEST(Loops, CouplerOverThreeBodies) {
  // Two gears on a turning carrier: their angles against the carrier are coupled; then coupled twice.
  ConstraintGraph graph;
  graph.bodies = 3;
  graph.edges = {edge(-1, 0, Vec3::Zero(), revolute_rows(Z)), edge(0, 1, X, revolute_rows(Z)),
                 edge(0, 2, 3 * X, revolute_rows(Z))};
  ConstraintEdge gears;
  gears.bodies = {0, 1, 2};
  gears.point = 2 * X;
  gears.jacobian = Mat::Zero(1, 12);
  gears.jacobian(0, 5) = 1;
  gears.jacobian(0, 11) = 0.5;
  graph.edges.push_back(gears);
  LoopAnalysis found = analyse_loops(graph);
  EXPECT_EQ(found.redundant, 0);
  EXPECT_EQ(found.freedoms_by_rank, 2);
  expect_as_dense(graph, found);
  gears.jacobian *= 3;
  graph.edges.push_back(gears);
  found = analyse_loops(graph);
  EXPECT_EQ(found.redundant, 1);
  EXPECT_EQ(found.edges[3].text, "1 of 1 coupling forces not unique");
  EXPECT_TRUE(found.edges[1].text.empty());
  expect_as_dense(graph, found);
}

TEST(Loops, AbsoluteTwists) {
  const Mat rows = revolute_rows(Vec3(1, 1, 0));
  Mat absolute(rows.rows(), 12);
  absolute << -rows, rows;
  const ConstraintEdge relative = edge_on_absolute_twists({3, 5}, X, absolute);
  EXPECT_EQ(relative.bodies, (std::vector<int>{3, 5}));
  EXPECT_EQ(relative.jacobian, rows);
  absolute.leftCols(6) *= 0.5;
  const ConstraintEdge held = edge_on_absolute_twists({3, 5}, X, absolute);
  EXPECT_EQ(held.bodies, (std::vector<int>{-1, 3, 5}));
  EXPECT_EQ(held.jacobian, absolute);
  const ConstraintEdge grounded = edge_on_absolute_twists({3, -1}, X, absolute);
  EXPECT_EQ(grounded.bodies, (std::vector<int>{-1, 3}));
  EXPECT_EQ(grounded.jacobian, Mat(absolute.leftCols(6)));
}

TEST(Loops, PlanarBodiesLoseNothing) {
  // The four-bar with planar bodies: two rows per pin are enough, five make three redundant in every joint.
  for (const bool spatial_joints : {false, true}) {
    ConstraintGraph graph;
    graph.bodies = 3;
    const std::vector<Vec3> p{{0, 0, 1}, {0.3, 0.9, 1}, {1.8, 1.1, 2}, {2, 0, 2}};
    for (int i = 0; i < 4; ++i) {
      graph.edges.push_back(
          edge(i - 1, i == 3 ? -1 : i, p[static_cast<std::size_t>(i)],
               spatial_joints ? stacked(spherical_rows(), rotation_rows({X, Y})) : translation_rows({X, Y})));
    }
    for (int b = 0; b < 3; ++b) graph.reduced.push_back(planar_body(b, Vec3(b, 0.5, 0.1 * b)));
    const LoopAnalysis found = analyse_loops(graph);
    EXPECT_EQ(found.body_freedoms, 9);
    EXPECT_EQ(found.freedoms_by_rank, 1);
    EXPECT_EQ(found.redundant, spatial_joints ? 12 : 0);
    if (spatial_joints) {
      EXPECT_EQ(found.edges[2].own_rank, 2);
      EXPECT_EQ(found.edges[2].text, "force along z, torques about x and y not unique");
    }
    expect_as_dense(graph, found);
  }
}

TEST(Loops, PointBodies) {
  // A triangle of point masses joined by rods, hung on the ground by more rods than needed, and a rigid body on it
  // by a spherical joint, then by a revolute: a point mass does not turn, so that only one rotation is left.
  const std::vector<Vec3> p{{0, 0, 0}, {1, 0, 0.2}, {0.3, 1, 0}};
  const auto rod = [&](int a, int b, const Vec3& from, const Vec3& to) {
    return edge(a, b, to, translation_rows({(to - from).normalized()}));
  };
  ConstraintGraph graph;
  graph.bodies = 4;
  for (int b = 0; b < 3; ++b) graph.reduced.push_back(point_body(b, p[static_cast<std::size_t>(b)]));
  // A rod's row on relative twists of points: both ends are points, so the rotation part is immaterial.
  graph.edges = {rod(0, 1, p[0], p[1]), rod(1, 2, p[1], p[2]), rod(2, 0, p[2], p[0])};
  graph.edges.push_back(edge(-1, 0, p[0], spherical_rows()));
  graph.edges.push_back(edge(1, 3, p[1], spherical_rows()));
  LoopAnalysis found = analyse_loops(graph);
  EXPECT_EQ(found.body_freedoms, 15);
  EXPECT_EQ(found.redundant, 0);
  EXPECT_EQ(found.freedoms_by_rank, 15 - 3 - 3 - 3);
  expect_as_dense(graph, found);
  graph.edges.back().jacobian = revolute_rows(Vec3(1, 2, 2));
  found = analyse_loops(graph);
  EXPECT_EQ(found.redundant, 0);
  EXPECT_EQ(found.freedoms_by_rank, 4);
  expect_as_dense(graph, found);
  // A revolute to the ground on a point mass: its two direction rows hold against nothing.
  graph.edges[3].jacobian = revolute_rows(Z);
  found = analyse_loops(graph);
  EXPECT_EQ(found.redundant, 2);
  expect_as_dense(graph, found);
}

// Every joint type, axes often parallel, points often shared, all body kinds, couplers, several parts, doubled rows.
ConstraintGraph random_mechanism(std::mt19937& random) {
  const auto upto = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::normal_distribution<double> normal;
  const auto any = [&] { return Vec3(normal(random), normal(random), normal(random)); };
  const std::vector<Vec3> favourites{Z, Z, Z, X, Vec3(1, 1, 0).normalized()};
  const int redundancy = upto(3);  // 0: generic, else axes from the favourites, points in the plane
  const auto direction = [&] {
    return redundancy > 0 && upto(4) > 0 ? favourites[random() % favourites.size()] : Vec3(any().normalized());
  };
  const auto point = [&] {
    Vec3 p = any();
    if (redundancy > 0) p.z() = 0;
    if (redundancy > 1 && upto(2) == 0) p = Vec3(upto(3), upto(3), 0);
    return p;
  };
  ConstraintGraph graph;
  graph.bodies = 1 + upto(7);
  graph.length = std::pow(10.0, normal(random) / 2);
  // 0: all spatial, 1: all planar, 2: all points, 3: mixed. Spatial joints on the others are always redundant.
  const int kinds = redundancy > 0 || upto(4) == 0 ? upto(4) : 0;
  for (int b = 0; b < graph.bodies; ++b) {
    const int kind = kinds < 3 ? kinds : upto(3);
    if (kind == 1) graph.reduced.push_back(planar_body(b, point()));
    if (kind == 2) graph.reduced.push_back(point_body(b, point()));
  }
  const auto point_between = [&](int a, int b) {
    // Joints at a point mass mostly sit on it.
    for (const ReducedBody& r : graph.reduced) {
      if ((r.body == a || r.body == b) && r.basis.bottomRows(3).norm() == 0 && upto(4) > 0) return r.point;
    }
    return point();
  };
  const int edges = 1 + upto(graph.bodies + (redundancy > 0 ? 4 : 1));
  for (int i = 0; i < edges; ++i) {
    const int a = upto(graph.bodies + 1) - 1;
    int b = upto(graph.bodies + 1) - 1;
    if (a == b) b = a < 0 ? 0 : -1;
    const Vec3 p = point_between(a, b), u = direction();
    const auto rows = [&]() -> Mat {
      switch (upto(10)) {
        case 0: return revolute_rows(u);
        case 1: return spherical_rows();
        case 2: return translational_rows(u);
        case 3: return cylindrical_rows(u);
        case 4: return universal_rows(u);
        case 5: return planar_joint_rows(u);
        case 6: return fixed_rows();
        case 7: return translation_rows({u});
        case 8: return translation_rows({X, Y});
        default: return Mat::NullaryExpr(1 + upto(3), 6, [&] { return normal(random); });
      }
    };
    ConstraintEdge e = edge(a, b, p, rows());
    if (redundancy > 0 && upto(8) == 0) e.jacobian = stacked(e.jacobian, -2 * e.jacobian.topRows(1)).eval();
    if (upto(10) == 0) e.jacobian *= 30;
    graph.edges.push_back(e);
    if (redundancy > 0 && upto(6) == 0) graph.edges.push_back(e);
  }
  if (graph.bodies >= 3 && upto(2) == 0) {
    ConstraintEdge coupler;
    for (int b = upto(2) - 1; b < graph.bodies && coupler.bodies.size() < 4; b += 1 + upto(2))
      coupler.bodies.push_back(b);
    if (coupler.bodies.size() >= 2) {
      coupler.point = point();
      const Eigen::Index columns = 6 * (static_cast<Eigen::Index>(coupler.bodies.size()) - 1);
      coupler.jacobian = Mat::Zero(1 + upto(2), columns);
      for (Eigen::Index r = 0; r < coupler.jacobian.rows(); ++r) {
        for (Eigen::Index c = 0; c < columns; c += 6)
          coupler.jacobian.row(r).segment(c + 3, 3) = normal(random) * direction().transpose();
      }
      graph.edges.push_back(coupler);
      if (redundancy > 0 && upto(3) == 0) graph.edges.push_back(coupler);
    }
  }
  return graph;
}

TEST(Loops, RandomMechanismsAgreeWithTheWholeMatrix) {
  int redundant = 0, nearly = 0;
  for (unsigned seed = 1; seed <= 600; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const ConstraintGraph graph = random_mechanism(random);
    const LoopAnalysis found = analyse_loops(graph);
    expect_as_dense(graph, found);
    if (HasFatalFailure()) return;
    redundant += found.redundant > 0 ? 1 : 0;
    nearly += found.nearly_redundant ? 1 : 0;
    LoopOptions sparse;
    sparse.most_loops_for_svd = 0;
    EXPECT_EQ(analyse_loops(graph, sparse).rank, found.rank);
  }
  // The sample is worth something only if it holds both kinds.
  EXPECT_GT(redundant, 100);
  EXPECT_LT(redundant, 500);
  EXPECT_LT(nearly, 6);
}

TEST(Loops, UnitsDoNotMatter) {
  for (const double scale : {1e-4, 1e4}) {
    ConstraintGraph graph = n_four_bar(3, 0.4);
    for (ConstraintEdge& e : graph.edges) e.point *= scale;
    graph.length = 1;  // wrong on purpose
    EXPECT_EQ(analyse_loops(graph).redundant, 9);
    EXPECT_FALSE(analyse_loops(graph).nearly_redundant);
  }
}

TEST(Loops, WordsForDirections) {
  Mat d = Mat::Zero(6, 1);
  d(0) = d(1) = -std::sqrt(0.5);
  EXPECT_EQ(describe_directions(d, Mat3::Identity()), "force along (0.707, 0.707, 0)");
  EXPECT_EQ(describe_directions(d, Eigen::AngleAxisd(pi / 4, Z).toRotationMatrix()), "force along x");
  d.setZero();
  d(2) = d(3) = std::sqrt(0.5);
  EXPECT_EQ(describe_directions(d, Mat3::Identity()), "force along (0, 0, 1) coupled with torque about (1, 0, 0)");
  Mat two = Mat::Zero(6, 2);
  two.col(0).tail(3) = Vec3(1, 1, 0).normalized();
  two.col(1).tail(3) = Vec3(1, -1, 1).normalized();
  EXPECT_EQ(describe_directions(two, Mat3::Identity()), "torques in the plane normal to (-0.408, 0.408, 0.816)");
  EXPECT_EQ(describe_directions(Mat::Zero(6, 0), Mat3::Identity()), "");
}

TEST(Loops, SummaryNamesTheJoints) {
  const std::vector<std::string> lines =
      describe(analyse_loops(four_bar()), {"crank_pin", "rod_pin", "rocker_pin", "base_pin"});
  ASSERT_GE(lines.size(), 4u);
  EXPECT_EQ(lines[0], "degrees of freedom: 1 by rank, -2 by count (18 of bodies - 20 constraint rows)");
  EXPECT_NE(lines[2].find("'crank_pin', 'rod_pin', 'rocker_pin' and 'base_pin': 1 loop, 3 redundant rows"),
            std::string::npos)
      << lines[2];
  EXPECT_EQ(lines[3], "'crank_pin': force along z, torques about x and y not unique");
  EXPECT_EQ(lines.back().rfind("removable at this pose: ", 0), 0u) << lines.back();
}

TEST(Loops, MalformedGraphsAreRefused) {
  ConstraintGraph graph;
  graph.bodies = 2;
  graph.edges = {edge(0, 0, X, spherical_rows())};
  EXPECT_THROW(analyse_loops(graph), std::invalid_argument);
  graph.edges = {edge(0, 2, X, spherical_rows())};
  EXPECT_THROW(analyse_loops(graph), std::invalid_argument);
  graph.edges = {edge(0, 1, X, Mat::Zero(2, 5))};
  EXPECT_THROW(analyse_loops(graph), std::invalid_argument);
  graph.edges = {edge(0, 1, X, Mat::Constant(1, 6, std::nan("")))};
  EXPECT_THROW(analyse_loops(graph), std::invalid_argument);
  graph.edges.clear();
  graph.length = 0;
  EXPECT_THROW(analyse_loops(graph), std::invalid_argument);
  graph.length = 1;
  EXPECT_EQ(analyse_loops(graph).freedoms_by_rank, 12);
}

using rank::CyclePart, rank::GraphLeg;

// Singular values from 1 down to `last`, then zeros; square, wide and tall, small and large.
TEST(RankAlgebra, NullSpacesOfGradedMatrices) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  const auto rotation = [&](Eigen::Index n) {
    return rank::orthonormal(Mat::NullaryExpr(n, n, [&] { return normal(random); }));
  };
  for (const Eigen::Index rows : {10, 70}) {
    for (const Eigen::Index columns : {15, 70, 120}) {
      for (const double last : {0.5, 1e-3, 1e-7}) {
        const Eigen::Index r = std::min(rows, columns) - 4;
        Mat sigma = Mat::Zero(rows, columns);
        for (Eigen::Index i = 0; i < r; ++i)
          sigma(i, i) = std::pow(last, static_cast<double>(i) / static_cast<double>(r - 1));
        const Mat u = rotation(rows), v = rotation(columns);
        const rank::LeftNull found = rank::left_null_space(u * sigma * v.transpose(), {});
        ASSERT_EQ(found.spectrum.rank, r);
        EXPECT_NEAR(found.spectrum.smallest_nonzero, last, 1e-13);
        EXPECT_LT(found.spectrum.largest_zero, 1e-13);
        EXPECT_EQ(found.spectrum.nearly, last < 1e-5);
        ASSERT_EQ(found.basis.cols(), rows - r);
        EXPECT_LT((found.basis.transpose() * found.basis - Mat::Identity(rows - r, rows - r)).norm(), 1e-12);
        EXPECT_LT((u.leftCols(r).transpose() * found.basis).norm(), 1e-14 / last * 10);
      }
    }
  }
}

TEST(RankAlgebra, SparseRankOfDependentRowsAndColumns) {
  // A band matrix with every fifth row the sum of its neighbours and every seventh column twice the one before.
  std::mt19937 random(4);
  std::normal_distribution<double> normal;
  for (const int columns : {60, 90}) {
    const int rows = 75;
    Mat m = Mat::Zero(rows, columns);
    for (int i = 0; i < rows; ++i) {
      for (int j = std::max(0, i - 3); j < std::min(columns, i + 5); ++j) m(i, j) = normal(random);
    }
    for (int j = 7; j < columns; j += 7) m.col(j) = 2 * m.col(j - 1);
    for (int i = 5; i + 1 < rows; i += 5) m.row(i) = m.row(i - 1) + m.row(i + 1);
    std::vector<rank::Entry> entries;
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) {
        if (m(i, j) != 0) entries.push_back({i, j, m(i, j)});
      }
    }
    EXPECT_EQ(rank::sparse_rank(rows, columns, entries, {}).rank, rank_of(m)) << columns;
  }
  EXPECT_EQ(rank::sparse_rank(5, 3, {}, {}).rank, 0);
}

TEST(RankGraph, BlocksOfTwoTrianglesAndABridge) {
  // 0-1-2-0, bridge 2-3, 3-4 twice.
  const std::vector<GraphLeg> legs{{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 4}, {4, 3}};
  const rank::GraphBlocks blocks = rank::biconnected_blocks(5, legs);
  EXPECT_EQ(blocks.count, 3);
  EXPECT_EQ(blocks.of_leg[0], blocks.of_leg[1]);
  EXPECT_EQ(blocks.of_leg[0], blocks.of_leg[2]);
  EXPECT_NE(blocks.of_leg[3], blocks.of_leg[0]);
  EXPECT_NE(blocks.of_leg[3], blocks.of_leg[4]);
  EXPECT_EQ(blocks.of_leg[4], blocks.of_leg[5]);
}

TEST(RankGraph, CyclesOfALadderAreItsWindows) {
  const int rungs = 200;
  std::vector<GraphLeg> legs;
  for (int i = 0; i < rungs; ++i) {
    legs.push_back({2 * i, 2 * i + 1});
    if (i > 0) {
      legs.push_back({2 * i - 2, 2 * i});
      legs.push_back({2 * i + 1, 2 * i - 1});
    }
  }
  const rank::CycleBasis basis = rank::short_cycle_basis(2 * rungs, legs, 1000000);
  ASSERT_EQ(basis.cycles.size(), static_cast<std::size_t>(rungs - 1));
  for (const auto& cycle : basis.cycles) {
    EXPECT_EQ(cycle.size(), 4u);
    // Closed: every node is entered as often as it is left.
    std::vector<int> balance(static_cast<std::size_t>(2 * rungs), 0);
    for (const CyclePart& part : cycle) {
      balance[static_cast<std::size_t>(legs[static_cast<std::size_t>(part.leg)].head)] += part.sign;
      balance[static_cast<std::size_t>(legs[static_cast<std::size_t>(part.leg)].tail)] -= part.sign;
    }
    for (const int b : balance) EXPECT_EQ(b, 0);
  }
  EXPECT_FALSE(rank::short_cycle_basis(2 * rungs, legs, 100).complete);
}

}  // namespace
}  // namespace trammel::loops_test
