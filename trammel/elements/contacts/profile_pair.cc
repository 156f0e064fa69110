// An outline on A, drawn along z, against a roller: discs about places o of the z axis of B. With X a disc's centre in
// the axes of A, d its distance from the outline, g and kappa t t^T gradient and Hessian of d, and N = R_A g, T = R_A
// t:
//
//   depth = roller - d,   n = -N,   dX = R_A^T D,   D = dc - dp_A + (c - p_A) x dphi_A
//   d depth = -N . D,     dn = N x dphi_A - kappa T (T . D)
#include "trammel/elements/contacts/profile.h"
#include "trammel/elements/contacts/shape_pair.h"
#include "trammel/math/rotation.h"

namespace trammel {
namespace {

class ProfilePair final : public ShapePair {
 public:
  ProfilePair(std::unique_ptr<const Profile> profile, double roller, double length)
      : profile_(std::move(profile)), roller_(roller), half_length_(0.5 * length) {}

  int locate(const FrameState& a, const FrameState& b, ContactPoint* points,
             ContactPointPartials* partials) const override {
    const int count = half_length_ > 0 ? 2 : 1;
    for (int i = 0; i < count; ++i) {
      const Vec3 arm = (i == 0 ? half_length_ : -half_length_) * b.R.col(2), from_a = b.p + arm - a.p,
                 X = a.R.transpose() * from_a;
      Eigen::Vector2d gradient;
      double curvature = 0;
      const double distance = profile_->distance(X.head<2>(), gradient, curvature);
      const Vec3 N = a.R.leftCols<2>() * gradient;
      ContactPoint& point = points[i];
      point.depth = roller_ - distance;
      point.normal = -N;
      point.place = b.p + arm - (roller_ - 0.5 * point.depth) * N;
      if (partials == nullptr || !(point.depth > 0)) continue;

      const Vec3 T = a.R.leftCols<2>() * Eigen::Vector2d(-gradient.y(), gradient.x());
      Eigen::Matrix<double, 3, 12> center = Eigen::Matrix<double, 3, 12>::Zero(), D;
      center.middleCols<3>(6).setIdentity();
      center.rightCols<3>() = -skew(arm);
      D = center;
      D.leftCols<3>() -= Mat3::Identity();
      D.middleCols<3>(3) += skew(from_a);
      ContactPointPartials& out = partials[i];
      out.depth = -N.transpose() * D;
      out.normal = -curvature * T * (T.transpose() * D);
      out.normal.middleCols<3>(3) += skew(N);
      out.place = center + (roller_ - 0.5 * point.depth) * out.normal + 0.5 * N * out.depth;
    }
    return count;
  }

 private:
  std::unique_ptr<const Profile> profile_;
  double roller_, half_length_;
};

}  // namespace

std::unique_ptr<const ShapePair> profile_against(std::unique_ptr<const Profile> profile, double roller, double length) {
  return std::make_unique<ProfilePair>(std::move(profile), roller, length);
}

}  // namespace trammel
