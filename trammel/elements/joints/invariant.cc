#include "trammel/elements/joints/invariant.h"

#include "trammel/math/rotation.h"

namespace trammel {
namespace {

// Adds to `row` the variation dx . partner: phi . (x x partner) for a vector that turns, (dp_B - dp_A) . partner for d.
void add_variation(PairRow& row, const OwnedVector& v, const Vec3& partner) {
  if (v.owner == Owner::line) {
    row.segment<3>(0) -= partner.transpose();
    row.segment<3>(6) += partner.transpose();
  } else {
    row.segment<3>(v.owner == Owner::a ? 3 : 9) += v.x.cross(partner).transpose();
  }
}

// x'' at zero acceleration.
Vec3 second_rate(const OwnedVector& v, const PairTwist& u) {
  if (v.owner == Owner::line) return Vec3::Zero();
  const Vec3& w = u.w(v.owner);
  return w.cross(w.cross(v.x));
}

// The two ends of a block index: rotation of A or B, or both positions for d (with their signs).
template <class F>
void for_columns(Owner owner, F&& f) {
  if (owner == Owner::line) {
    f(0, -1.0);
    f(6, 1.0);
  } else {
    f(owner == Owner::a ? 3 : 9, 1.0);
  }
}

}  // namespace

double Invariant::rate(const PairTwist& u) const { return u.rate(x).dot(y.x) + x.x.dot(u.rate(y)); }

PairRow Invariant::gradient() const {
  PairRow row = PairRow::Zero();
  add_variation(row, x, y.x);
  add_variation(row, y, x.x);
  return row;
}

// C u = u_x-part . y + x . u_y-part. Each of x, y contributes the variation of its own rate and of its partner:
//   turning x: u_w . (x x y):  varies by  (phi x x) x y  [own]  and  x x dy  [partner]
//   d:         u_v . y:        varies by  dy             [partner]
PairMatrix Invariant::hessian() const {
  PairMatrix h = PairMatrix::Zero();
  const auto add = [&h](const OwnedVector& self, const OwnedVector& other) {
    for_columns(self.owner, [&](int row, double row_sign) {
      const bool turns = self.owner != Owner::line;
      // own: (phi x x) x y = y~ x~ phi
      if (turns) h.block<3, 3>(row, row) += skew(other.x) * skew(self.x);
      // partner: dy = -y~ phi or dd
      for_columns(other.owner, [&](int column, double column_sign) {
        Mat3 d_other = column_sign * Mat3::Identity();
        if (other.owner != Owner::line) d_other = -skew(other.x);
        if (turns) {
          h.block<3, 3>(row, column) += skew(self.x) * d_other;
        } else {
          h.block<3, 3>(row, column) += row_sign * d_other;
        }
      });
    });
  };
  add(x, y);
  add(y, x);
  return h;
}

PairRow Invariant::contracted(const PairTwist& u) const {
  PairRow row = PairRow::Zero();
  Vec3 partner_x = u.rate(y), partner_y = u.rate(x);
  if (x.owner != Owner::line) partner_x += y.x.cross(u.w(x.owner));
  if (y.owner != Owner::line) partner_y += x.x.cross(u.w(y.owner));
  add_variation(row, x, partner_x);
  add_variation(row, y, partner_y);
  return row;
}

double Invariant::curvature(const PairTwist& u) const {
  return second_rate(x, u).dot(y.x) + 2 * u.rate(x).dot(u.rate(y)) + x.x.dot(second_rate(y, u));
}

PairRow Invariant::curvature_pose(const PairTwist& u) const {
  PairRow row = PairRow::Zero();
  const auto add = [&](const OwnedVector& self, const OwnedVector& other) {
    Vec3 partner = second_rate(other, u);
    if (self.owner != Owner::line) {
      const Vec3& w = u.w(self.owner);
      partner += w.cross(w.cross(other.x)) + 2 * u.rate(other).cross(w);
    }
    add_variation(row, self, partner);
  };
  add(x, y);
  add(y, x);
  return row;
}

PairRow Invariant::curvature_twist(const PairTwist& u) const {
  PairRow row = PairRow::Zero();
  const auto add = [&](const OwnedVector& self, const OwnedVector& other) {
    const Vec3 other_rate = u.rate(other);
    if (self.owner == Owner::line) {
      row.segment<3>(0) -= 2 * other_rate.transpose();
      row.segment<3>(6) += 2 * other_rate.transpose();
    } else {
      const Vec3& w = u.w(self.owner);
      const Vec3 column =
          w.cross(self.x).cross(other.x) + self.x.cross(other.x.cross(w)) + 2 * self.x.cross(other_rate);
      row.segment<3>(self.owner == Owner::a ? 3 : 9) += column.transpose();
    }
  };
  add(x, y);
  add(y, x);
  return row;
}

}  // namespace trammel
