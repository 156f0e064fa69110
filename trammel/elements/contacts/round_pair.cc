// A ball against a surface at a fixed distance from a core. With d from the origin of A to the ball's centre, h its
// height along the axis z of A, u = d - h z and e = u/|u|:
//
//   point     w = d
//   axis      w = u
//   segment   w = u, beyond the ends d -+ size z
//   circle    w = d - size e
//
// On the core itself w is 0 and many directions are as near: one of the axes of A across the core is taken, so that
// concentric bodies are thrown apart, not ignored. Depth is not differentiable there; the normal is held.
#include <cmath>

#include "trammel/elements/contacts/shape_pair.h"
#include "trammel/math/rotation.h"

namespace trammel {
namespace {

using Row = Eigen::Matrix<double, 1, 12>;
using Rows = Eigen::Matrix<double, 3, 12>;

class RoundPair final : public ShapePair {
 public:
  RoundPair(const RoundSurface& surface, double ball) : surface_(surface), ball_(ball) {}

  int locate(const FrameState& a, const FrameState& b, ContactPoint* points,
             ContactPointPartials* partials) const override {
    ContactPoint& point = points[0];
    const Vec3 z = a.R.col(2), d = b.p - a.p;
    const double height = z.dot(d);
    const Vec3 u = d - height * z;
    const double across = u.norm();
    const Vec3 e = across > 0 ? Vec3(u / across) : Vec3(a.R.col(0));
    const double end = std::copysign(surface_.size, height);
    const bool beyond = std::abs(height) > surface_.size;  // of a segment
    Vec3 w = d;
    switch (surface_.core) {
      case Core::point: break;
      case Core::axis: w = u; break;
      case Core::segment: w = beyond ? Vec3(d - end * z) : u; break;
      case Core::circle: w = (across - surface_.size) * e + height * z; break;
    }
    const double length = w.norm(), side = surface_.hollow ? 1 : -1;
    const bool on_core = !(length > 0);
    point.normal = on_core ? Vec3(side * a.R.col(surface_.core == Core::circle ? 2 : 0)) : Vec3(side * w / length);
    point.depth = side * length + ball_ - side * surface_.radius;
    point.place = b.p + (ball_ - 0.5 * point.depth) * point.normal;
    if (partials == nullptr || !(point.depth > 0)) return 1;

    const Mat3 I = Mat3::Identity();
    Rows dd, dz = Rows::Zero();
    dd << -I, Mat3::Zero(), I, Mat3::Zero();
    dz.middleCols<3>(3) = -skew(z);
    Rows dw = dd;
    if (surface_.core == Core::segment && beyond) {
      dw -= end * dz;
    } else if (surface_.core != Core::point) {
      const Row dheight = d.transpose() * dz + z.transpose() * dd;
      const Rows du = dd - z * dheight - height * dz;
      if (surface_.core == Core::circle) {
        dw = dd - (across > 0 ? surface_.size / across : 0.0) * (du - e * (e.transpose() * du));
      } else {
        dw = du;
      }
    }
    ContactPointPartials& out = partials[0];
    out.depth = point.normal.transpose() * dw;
    if (on_core)
      out.normal.setZero();
    else
      out.normal = side * (dw - point.normal * out.depth) / length;
    out.place = (ball_ - 0.5 * point.depth) * out.normal - 0.5 * point.normal * out.depth;
    out.place.middleCols<3>(6) += I;
    return 1;
  }

 private:
  RoundSurface surface_;
  double ball_;
};

class Exchanged final : public ShapePair {
 public:
  explicit Exchanged(std::unique_ptr<const ShapePair> pair) : pair_(std::move(pair)) {}

  int locate(const FrameState& a, const FrameState& b, ContactPoint* points,
             ContactPointPartials* partials) const override {
    const int count = pair_->locate(b, a, points, partials);
    for (int i = 0; i < count; ++i) {
      points[i].normal = -points[i].normal;
      if (partials == nullptr || !(points[i].depth > 0)) continue;
      ContactPointPartials& out = partials[i];
      out.normal = -out.normal;
      out.depth.leftCols<6>().swap(out.depth.rightCols<6>());
      out.normal.leftCols<6>().swap(out.normal.rightCols<6>());
      out.place.leftCols<6>().swap(out.place.rightCols<6>());
    }
    return count;
  }

 private:
  std::unique_ptr<const ShapePair> pair_;
};

}  // namespace

std::unique_ptr<const ShapePair> ball_against(const RoundSurface& surface, double ball) {
  return std::make_unique<RoundPair>(surface, ball);
}

std::unique_ptr<const ShapePair> exchanged(std::unique_ptr<const ShapePair> pair) {
  return std::make_unique<Exchanged>(std::move(pair));
}

}  // namespace trammel
