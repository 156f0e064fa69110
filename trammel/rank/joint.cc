// One joint within the rank analysis: see rank_joint.h.
#include "trammel/rank/joint.h"

#include <array>

namespace trammel::rank {

// v_to = v_from + w x (to - from)
Mat6 moved(const Vec3& from, const Vec3& to, double l) {
  const Vec3 r = (to - from) / l;
  Mat6 x = Mat6::Identity();
  x.topRightCorner<3, 3>() << 0, r.z(), -r.y(), -r.z(), 0, r.x(), r.y(), -r.x(), 0;
  return x;
}

Mat unit_rows(const ConstraintEdge& edge, double l) {
  Mat rows = edge.jacobian;
  for (Index c = 3; c < rows.cols(); c += 6) rows.middleCols(c, 3) /= l;
  for (Index i = 0; i < rows.rows(); ++i) {
    const double norm = rows.row(i).norm();
    if (norm > 0) rows.row(i) /= norm;
  }
  return rows;
}

bool clearly_independent(const ConstraintEdge& edge, double l) {
  const Index k = edge.jacobian.rows();
  if (k > 6 || edge.jacobian.cols() != 6) return false;
  std::array<Vec6, 6> q;
  for (Index i = 0; i < k; ++i) {
    Vec6 row = edge.jacobian.row(i).transpose();
    row.tail<3>() /= l;
    const double norm = row.norm();
    if (!(norm > 0)) return false;
    row /= norm;
    for (Index p = 0; p < i; ++p) row -= q[p].dot(row) * q[p];
    const double rest = row.norm();
    if (rest < 1e-3) return false;
    q[i] = row / rest;
  }
  return true;
}

Mat Ambient::at_point(const Vec3& p, double l, double length) const {
  if (full) return Mat::Identity(6, 6);
  Mat b = moved(point, p, length) * basis;
  b.bottomRows(3) *= l / length;
  return orthonormal(b);
}

void Ambient::widen(const ReducedBody& body, double length) {
  const Mat b = moved(body.point, point, length) * scaled_basis(body, length);
  for (Index c = 0; c < b.cols() && basis.cols() < 6; ++c) {
    Vec6 v = b.col(c).normalized();
    for (int twice = 0; twice < 2; ++twice) v -= basis * (basis.transpose() * v).eval();
    if (v.norm() < 1e-9) continue;
    basis.conservativeResize(6, basis.cols() + 1);
    basis.rightCols(1) = v.normalized();
  }
  full = basis.cols() == 6;
}

Mat scaled_basis(const ReducedBody& body, double length) {
  Mat b = body.basis;
  b.bottomRows(3) *= length;
  return b;
}

Mat lacking_motions(const ReducedBody& body, const Ambient& ambient, double length) {
  const Mat basis = ambient.at_point(body.point, length, length);
  return basis * complement(basis.transpose() * scaled_basis(body, length));
}

Joint::Joint(const ConstraintEdge& given, int number, const Ambient& ambient_motions, const Vec3& centre, double l,
             double length, const LoopOptions& options)
    : edge(number), source(&given), legs(static_cast<Index>(given.bodies.size()) - 1), rows(unit_rows(given, l)) {
  const Mat6 move = moved(given.point, centre, l);
  if (ambient_motions.full) {
    to_centre = move;
    split = split_rows(rows, options);
    return;
  }
  const Mat here = ambient_motions.at_point(given.point, l, length);
  to_centre = ambient_motions.at_point(centre, l, length).transpose() * move * here;
  const Index a = here.cols();
  Mat restricted(rows.rows(), a * legs);
  for (Index i = 0; i < legs; ++i) restricted.middleCols(a * i, a) = rows.middleCols(6 * i, 6) * here;
  split = split_rows(restricted, options);
}

Mat Joint::centre_freedoms() const {
  const Index a = ambient();
  Mat s(split.freedoms.rows(), split.freedoms.cols());
  for (Index i = 0; i < legs; ++i) s.middleRows(a * i, a) = to_centre * split.freedoms.middleRows(a * i, a);
  return orthonormal(s);
}

}  // namespace trammel::rank
