#include "trammel/elements/scalars/invariant.h"

namespace trammel {
namespace {

// x'' at zero acceleration.
Vec3 second_rate(const OwnedVector& v, const PairTwist& u) {
  if (v.owner == Owner::line || v.owner == Owner::world) return Vec3::Zero();
  const Vec3& w = u.w(v.owner);
  return w.cross(w.cross(v.x));
}

}  // namespace

PairSlope Invariant::contracted(const PairTwist& u) const {
  PairSlope out;
  Vec3 partner_x = u.rate(y), partner_y = u.rate(x);
  if (turns(x)) partner_x += y.x.cross(u.w(x.owner));
  if (turns(y)) partner_y += x.x.cross(u.w(y.owner));
  add_variation(x, partner_x, out);
  add_variation(y, partner_y, out);
  return out;
}

double Invariant::curvature(const PairTwist& u) const {
  return second_rate(x, u).dot(y.x) + 2 * u.rate(x).dot(u.rate(y)) + x.x.dot(second_rate(y, u));
}

PairSlope Invariant::curvature_pose(const PairTwist& u) const {
  PairSlope out;
  const auto add = [&](const OwnedVector& self, const OwnedVector& other) {
    Vec3 partner = second_rate(other, u);
    if (turns(self)) {
      const Vec3& w = u.w(self.owner);
      partner += w.cross(w.cross(other.x)) + 2 * u.rate(other).cross(w);
    }
    add_variation(self, partner, out);
  };
  add(x, y);
  add(y, x);
  return out;
}

PairSlope Invariant::curvature_twist(const PairTwist& u) const {
  PairSlope out;
  const auto add = [&](const OwnedVector& self, const OwnedVector& other) {
    const Vec3 other_rate = u.rate(other);
    if (self.owner == Owner::line) out.line += 2 * other_rate;
    if (!turns(self)) return;
    const Vec3& w = u.w(self.owner);
    (self.owner == Owner::a ? out.a : out.b) +=
        w.cross(self.x).cross(other.x) + self.x.cross(other.x.cross(w)) + 2 * self.x.cross(other_rate);
  };
  add(x, y);
  add(y, x);
  return out;
}

}  // namespace trammel
