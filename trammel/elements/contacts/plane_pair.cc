// A plane under bodies made of spheres and discs. With N the z axis of A, z that of B, zeta = N . z, the lowest point
// of a spheroid with half axes s across and c along z lies from its centre by
//
//   y = -(s^2 (N - zeta z) + c^2 zeta z)/D,   D = sqrt(s^2 |N x z|^2 + c^2 zeta^2) = -N . y
//
// and bears as a sphere there: with X its place from the origin of A, depth = radius - N . X. That y is lowest makes
// depth' = -N . (velocity of the material there).
#include <cmath>

#include "trammel/elements/contacts/shape_pair.h"
#include "trammel/math/rotation.h"

namespace trammel {
namespace {

using Row = Eigen::Matrix<double, 1, 12>;
using Rows = Eigen::Matrix<double, 3, 12>;

class PlanePair final : public ShapePair {
 public:
  explicit PlanePair(const SupportingParts& parts) : parts_(parts) {}

  int locate(const FrameState& a, const FrameState& b, ContactPoint* points,
             ContactPointPartials* partials) const override {
    const Vec3 N = a.R.col(2), z = b.R.col(2);
    const double s2 = parts_.rim * parts_.rim, c2 = parts_.crown * parts_.crown, flat = c2 - s2, zeta = N.dot(z),
                 D = std::sqrt(s2 * N.cross(z).squaredNorm() + c2 * zeta * zeta);
    const Vec3 across = z.cross(N.cross(z));  // N - zeta z without its round-off
    const Vec3 y = D > 0 ? Vec3(-(s2 * across + (c2 * zeta) * z) / D) : Vec3(Vec3::Zero());
    Rows dN = Rows::Zero(), dz = Rows::Zero(), dy = Rows::Zero();
    bool differentiated = false;
    const int count = static_cast<int>(parts_.centers.size());
    for (int i = 0; i < count; ++i) {
      const Vec3 arm = b.R * parts_.centers[i], X = b.p - a.p + arm + y;
      ContactPoint& point = points[i];
      point.depth = parts_.radius - N.dot(X);
      point.normal = -N;
      point.place = a.p + X - (parts_.radius - 0.5 * point.depth) * N;
      if (partials == nullptr || !(point.depth > 0)) continue;
      if (!differentiated) {
        differentiated = true;
        dN.middleCols<3>(3) = -skew(N);
        dz.middleCols<3>(9) = -skew(z);
        if (D > 0) {
          const Row dzeta = N.transpose() * dz + z.transpose() * dN, dD = flat * zeta / D * dzeta;
          dy = -(s2 * dN + flat * (z * dzeta + zeta * dz) + y * dD) / D;
        }
      }
      ContactPointPartials& out = partials[i];
      Rows dX = dy;
      dX.leftCols<3>() -= Mat3::Identity();
      dX.middleCols<3>(6) += Mat3::Identity();
      dX.rightCols<3>() -= skew(arm);
      out.depth = -(X.transpose() * dN + N.transpose() * dX);
      out.normal = -dN;
      out.place = dX - (parts_.radius - 0.5 * point.depth) * dN + 0.5 * N * out.depth;
      out.place.leftCols<3>() += Mat3::Identity();
    }
    return count;
  }

 private:
  SupportingParts parts_;
};

}  // namespace

std::unique_ptr<const ShapePair> plane_against(const SupportingParts& parts) {
  return std::make_unique<PlanePair>(parts);
}

}  // namespace trammel
