// Rank analysis by the loops of the joint graph: how many constraint rows are redundant, how many degrees of freedom
// are left, which joints' reactions are not unique and in which directions, which rows could go.
//
// Nodes are the bodies and the ground, edges the joints. A self-stress (multipliers lambda with G^T lambda = 0)
// decomposes over the biconnected blocks of this graph: the bodies beyond a cut body are in equilibrium, so their net
// wrench on it is zero. Bridges therefore never carry one. In a block with c loops and joint freedoms S_j (null space
// of joint j's Jacobian, a twist about the block's centre) the closure of the loops is
//     C x = 0,    C = [ +-S_j on each cycle that passes joint j ]            (6 c x sum of f_j),
// its left null vectors y are the self-stresses (joint j carries the signed sum of its cycles' parts), hence
//     redundant rows = 6 c - rank C  (+ rows dependent within one joint),     mobility = sum of f_j - rank C.
// C is five to ten times smaller than G, and masses play no part.
//
// Bodies with fewer than six freedoms (point, planar): all twists of a connected part lie in the span of its bodies'
// own freedoms, and 6 becomes the dimension of that span: 3 for planar or for point mechanisms, which then lose
// nothing. In mixed parts a body that cannot follow the whole span, and whose joints notice, gets virtual rows to
// ground holding what it lacks. A self-stress of all rows is fixed by its part in the user's rows (the virtual ones are
// independent and determined by the rest), so counts are those of the user's rows and virtual rows are never reported.
//
// Rotations are scaled by lengths: the rank by the block's own size, what is reported by `length` (the L of the
// minimum-norm multipliers). All of it holds at the given pose only; compare_poses tells permanent from momentary.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "trammel/base/types.h"

namespace trammel {

// The rows of one joint or motion between two bodies, or of a coupler over several.
struct ConstraintEdge {
  std::vector<int> bodies;    // two or more, all different; -1 is the ground
  Vec3 point = Vec3::Zero();  // the joint point in the world
  Mat jacobian;  // k x 6 (m - 1): on the twists [v; w] of bodies[1], ..., bodies[m-1] relative to bodies[0], about
                 // `point`, world axes. A row on absolute twists: put the ground first.
  std::optional<Mat3> axes;  // columns: the joint's x, y, z in the world, for the text; world axes if absent
};

// The same from coefficients on the absolute twists of all m bodies (k x 6 m): relative to the first body where that is
// exact, that is where the blocks of each row add up to zero; otherwise the row also holds against the ground.
ConstraintEdge edge_on_absolute_twists(const std::vector<int>& bodies, const Vec3& point, const Mat& jacobian);

// A body with fewer than six freedoms: its twist about `point` is `basis` times its velocities. Of a body that
// bends mechanism.cc says what stands in the graph.
struct ReducedBody {
  int body = 0;
  Vec3 point = Vec3::Zero();
  Mat basis;  // 6 x n with independent columns, [v; w] in world axes
};
ReducedBody point_body(int body, const Vec3& point);  // three translations
ReducedBody planar_body(int body, const Vec3& point,
                        const Mat3& axes = Mat3::Identity());  // along x, y; about z of axes

struct ConstraintGraph {
  int bodies = 0;
  int more_freedoms = 0;  // beyond those of the bodies: of modes
  std::vector<ConstraintEdge> edges;
  double length = 1;                 // L
  std::vector<ReducedBody> reduced;  // all other bodies have six freedoms
};

struct LoopOptions {
  double tolerance = 1e-8;        // singular values below this, relative to the block's largest, are zero
  double nearly_from = 1e-10;     // between these two: "nearly redundant", a misfit or the neighbourhood of a singular
  double nearly_to = 1e-5;        // position. Measured gaps: 0.5 for a four-bar, 1e-4 for a ladder of 100, zeros 1e-16.
  int most_loops_for_svd = 200;   // in one block; above, sparse QR counts but gives no directions
  int most_loops_for_qr = 20000;  // above, a block's loops are not analysed at all, and that is said
};

// A joint within the analysis.
struct EdgeRank {
  int rows = 0;
  int own_rank = 0;              // of its rows alone, on the motions its bodies can make
  int group = -1;                // index into LoopAnalysis::groups; -1: bridge with independent rows, reaction unique
  bool directions_known = true;  // false: in a block too large for directions, with redundant rows
  Mat undetermined;  // 6 (m-1) x d: orthonormal directions of the wrench [force; torque / L] at the joint point,
                     // world axes, that are not unique; no columns: reaction unique
  std::vector<int> rows_not_unique;  // rows whose multiplier is not unique (doubled rows: without changing the wrench)
  std::string text;                  // "force along z, torques about x and y not unique"; empty if all unique
};

// The joints of a biconnected block, or a bridge joint with dependent rows (loops = 0).
struct LoopGroup {
  std::vector<int> edges;  // ascending
  int loops = 0;           // of the user's joints and couplers
  int redundant = 0;
  bool analysed = true;  // false: too large; redundant counts dependent rows within joints only
  bool directions_known = true;
  double smallest_nonzero = 1;  // singular values relative to the largest (pivots where counted by QR)
  double largest_zero = 0;
  bool nearly_redundant = false;
};

struct RowOfEdge {
  int edge = 0;
  int row = 0;
};

struct LoopAnalysis {
  double length = 1;
  int rows = 0;
  int rank = 0;
  int redundant = 0;  // rows - rank
  int body_freedoms = 0;
  int freedoms_by_count = 0;  // body freedoms - rows
  int freedoms_by_rank = 0;   // body freedoms - rank
  int loops = 0;              // of the user's joints and couplers, virtual rows not counted
  bool analysed = true;       // false: some block was too large, counts are then bounds
  bool directions_known = true;
  double smallest_nonzero = 1;  // the worst over all groups
  double largest_zero = 0;
  bool nearly_redundant = false;
  std::vector<EdgeRank> edges;       // one for each edge of the graph
  std::vector<LoopGroup> groups;     // every block with loops, every bridge with dependent rows
  std::vector<RowOfEdge> removable;  // removing them all leaves independent rows of the same rank, at this pose;
                                     // where directions are not known, rows dependent within joints only
};

// Throws std::invalid_argument on a malformed graph (indices, sizes, a body twice in one edge, length not positive).
LoopAnalysis analyse_loops(const ConstraintGraph&, const LoopOptions& = {});

// The same mechanism at two poses: what both have is permanent, what only one has is momentary (a singular position).
struct GroupComparison {
  std::vector<int> edges;
  int permanent = 0;
  int momentary_first = 0;   // more in the first pose than is permanent
  int momentary_second = 0;  // more in the second
};
struct PoseComparison {
  int permanent = 0;
  int momentary_first = 0;
  int momentary_second = 0;
  std::vector<GroupComparison> groups;  // those with any redundancy
};
PoseComparison compare_poses(const LoopAnalysis& first, const LoopAnalysis& second);

// In words, relative to axes (columns in the world): 6 x d orthonormal wrench directions as "force along z, torques
// about x and y"; empty for d = 0.
std::string describe_directions(const Mat& directions, const Mat3& axes);

// The findings as lines for a summary, joints by name: counts, groups, reactions that are not unique, removable rows.
std::vector<std::string> describe(const LoopAnalysis&, const std::vector<std::string>& edge_names);

}  // namespace trammel
