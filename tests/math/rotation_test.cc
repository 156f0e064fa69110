// Rotations and their derivatives: against each other, against differences, and against the closed forms in long double
// where the library switches to series.
#include "trammel/math/rotation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <random>

namespace trammel::rotation_test {
namespace {

constexpr double pi = std::numbers::pi;
using LMat3 = Eigen::Matrix<long double, 3, 3>;
using LVec3 = Eigen::Matrix<long double, 3, 1>;

Vec3 random_direction(std::mt19937& random) {
  std::normal_distribution<double> normal;
  const double x = normal(random), y = normal(random), z = normal(random);
  return Vec3(x, y, z).normalized();
}

double difference(const Mat3& a, const Mat3& b) { return (a - b).cwiseAbs().maxCoeff(); }
double difference(const Vec3& a, const Vec3& b) { return (a - b).cwiseAbs().maxCoeff(); }

// f'(0), extrapolated to order 6
Vec3 derivative(const std::function<Vec3(double)>& f, double h = 2e-3) {
  const auto central = [&](double step) { return Vec3((f(step) - f(-step)) / (2 * step)); };
  const Vec3 d1 = central(h), d2 = central(h / 2), d3 = central(h / 4);
  return (16 * (4 * d3 - d2) / 3 - (4 * d2 - d1) / 3) / 15;
}

const double angles[] = {0.0,      1e-12,    1e-9, 1e-6, 1e-4, 1e-2, 0.03,   0.049999, 0.050001, 0.07,
                         0.099999, 0.100001, 0.3,  1.0,  2.0,  3.0,  3.1415, 4.0,      5.0};

// Calls f with rotation vectors of all these sizes in several directions.
void everywhere(const std::function<void(const Vec3&, std::mt19937&)>& f) {
  std::mt19937 random(11);
  for (const double angle : angles) {
    for (int i = 0; i < 5; ++i) f(angle * random_direction(random), random);
  }
}

TEST(Rotation, ExpIsThatOfAxisAndAngle) {
  everywhere([](const Vec3& theta, std::mt19937&) {
    const Quat q = rotation_exp(theta);
    EXPECT_NEAR(q.norm(), 1, 4e-16);
    const double angle = theta.norm();
    const Mat3 expected =
        angle > 0 ? Eigen::AngleAxisd(angle, theta / angle).toRotationMatrix() : Mat3(Mat3::Identity());
    EXPECT_LT(difference(q.toRotationMatrix(), expected), 2e-15) << angle;
  });
}

TEST(Rotation, ExpTurnsTheWayOfTheCrossProduct) {
  EXPECT_LT(difference(rotation_exp(Vec3(0, 0, pi / 2)) * Vec3(Vec3::UnitX()), Vec3::UnitY()), 1e-15);
  EXPECT_LT(difference(Vec3(skew(Vec3(1, 2, 3)) * Vec3(-2, 5, 7)), Vec3(1, 2, 3).cross(Vec3(-2, 5, 7))), 1e-15);
}

TEST(Rotation, LogUndoesExpUpToHalfATurn) {
  everywhere([](const Vec3& theta, std::mt19937&) {
    if (theta.norm() > pi) return;
    const Vec3 back = rotation_log(rotation_exp(theta));
    EXPECT_LT(difference(back, theta), 1e-15 * (1 + theta.norm())) << theta.norm();
    EXPECT_LE((back - theta).norm(), 1e-14 * theta.norm());  // relative, for the smallest too
  });
}

TEST(Rotation, LogTakesTheShortWay) {
  std::mt19937 random(12);
  for (int i = 0; i < 50; ++i) {
    const Vec3 n = random_direction(random);
    EXPECT_LT(difference(rotation_log(rotation_exp(5 * n)), Vec3((5 - 2 * pi) * n)), 1e-14);
    const Quat q = rotation_exp(2 * n);
    EXPECT_LT(difference(rotation_log(Quat(-q.w(), -q.x(), -q.y(), -q.z())), Vec3(2 * n)), 1e-14);
    EXPECT_NEAR(rotation_log(Quat(0, n.x(), n.y(), n.z())).norm(), pi, 1e-15);
  }
  EXPECT_EQ(rotation_log(Quat::Identity()), Vec3::Zero());
  EXPECT_EQ(rotation_log(Quat(-1, 0, 0, 0)).norm(), 0);
}

TEST(Rotation, TangentIsTheDerivativeOfExp) {
  everywhere([](const Vec3& theta, std::mt19937& random) {
    const Vec3 u = random_direction(random);
    const Quat at = rotation_exp(theta);
    const Vec3 seen = derivative([&](double s) { return rotation_log(at.conjugate() * rotation_exp(theta + s * u)); });
    EXPECT_LT(difference(seen, Vec3(rotation_tangent(theta) * u)), 1e-11) << theta.norm();
  });
}

TEST(Rotation, TangentLeavesItsOwnAxisAlone) {
  everywhere([](const Vec3& theta, std::mt19937&) {
    EXPECT_LT(difference(Vec3(rotation_tangent(theta) * theta), theta), 1e-15 * (1 + theta.norm()));
    EXPECT_LT(difference(Vec3(rotation_tangent(theta).transpose() * theta), theta), 1e-15 * (1 + theta.norm()));
  });
}

// T(-theta) = exp(theta~) T(theta): the same motion seen from the other side.
TEST(Rotation, TangentsOfBothSidesDifferByTheRotation) {
  everywhere([](const Vec3& theta, std::mt19937&) {
    EXPECT_LT(
        difference(rotation_tangent(-theta), Mat3(rotation_exp(theta).toRotationMatrix() * rotation_tangent(theta))),
        3e-15)
        << theta.norm();
  });
}

TEST(Rotation, TangentInverse) {
  everywhere([](const Vec3& theta, std::mt19937&) {
    EXPECT_LT(difference(Mat3(rotation_tangent(theta) * rotation_tangent_inverse(theta)), Mat3::Identity()), 2e-14)
        << theta.norm();
    EXPECT_LT(difference(Mat3(rotation_tangent_inverse(theta) * rotation_tangent(theta)), Mat3::Identity()), 2e-14)
        << theta.norm();
  });
}

TEST(Rotation, TangentDerivative) {
  everywhere([](const Vec3& theta, std::mt19937& random) {
    const Vec3 u = random_direction(random), d = random_direction(random);
    const Vec3 seen = derivative([&](double s) { return Vec3(rotation_tangent(theta + s * d) * u); });
    EXPECT_LT(difference(seen, Vec3(rotation_tangent_derivative(theta, u) * d)), 1e-11) << theta.norm();
  });
}

// Second derivatives of exp commute: d(T u)/dtheta v - d(T v)/dtheta u = (T u) x (T v)  (Maurer and Cartan).
TEST(Rotation, TangentDerivativeClosesLikeTheGroup) {
  everywhere([](const Vec3& theta, std::mt19937& random) {
    const Vec3 u = random_direction(random), v = random_direction(random);
    const Vec3 Tu = rotation_tangent(theta) * u, Tv = rotation_tangent(theta) * v;
    const Vec3 left = rotation_tangent_derivative(theta, u) * v - rotation_tangent_derivative(theta, v) * u;
    EXPECT_LT(difference(left, Vec3(Tu.cross(Tv))), 1e-12) << theta.norm();
  });
}

LMat3 long_skew(const LVec3& v) {
  LMat3 m;
  m << 0, -v.z(), v.y(), v.z(), 0, -v.x(), -v.y(), v.x(), 0;
  return m;
}

LMat3 long_tangent(const LVec3& theta) {
  const long double x = theta.norm(), s = std::sin(x / 2);
  const LMat3 k = long_skew(theta);
  return LMat3::Identity() - 2 * s * s / (x * x) * k + (x - std::sin(x)) / (x * x * x) * (k * k);
}

// On both sides of any place where series take over, both agree with the closed form of 64-bit mantissas.
TEST(Rotation, SeriesMeetTheClosedForms) {
  std::mt19937 random(13);
  for (double x = 0.002; x < 0.3; x *= 1.07) {
    const Vec3 n = random_direction(random), u = random_direction(random), d = random_direction(random);
    const Vec3 theta_d = x * n;
    const LMat3 T = long_tangent(theta_d.cast<long double>());
    EXPECT_LT((rotation_tangent(theta_d).cast<long double>() - T).cwiseAbs().maxCoeff(), 1e-15L) << x;
    EXPECT_LT((rotation_tangent_inverse(theta_d).cast<long double>() - T.inverse()).cwiseAbs().maxCoeff(), 2e-15L) << x;
    const long double h = 1e-4L;
    const auto Tu = [&](long double s) {
      return LVec3(long_tangent(theta_d.cast<long double>() + s * d.cast<long double>()) * u.cast<long double>());
    };
    const LVec3 d1 = (Tu(h) - Tu(-h)) / (2 * h), d2 = (Tu(h / 2) - Tu(-h / 2)) / h;
    const LVec3 seen = (4 * d2 - d1) / 3;
    EXPECT_LT((LVec3((rotation_tangent_derivative(theta_d, u) * d).cast<long double>()) - seen).cwiseAbs().maxCoeff(),
              2e-13L)
        << x;
  }
}

TEST(Rotation, SwitchBetweenSeriesAndClosedFormsIsSmooth) {
  std::mt19937 random(14);
  for (int i = 0; i < 20; ++i) {
    const Vec3 n = random_direction(random), u = random_direction(random);
    for (const double at : {0.05, 0.1}) {  // rotation_exp works with half the angle
      const Vec3 below = at * (1 - 1e-12) * n, above = at * (1 + 1e-12) * n;
      EXPECT_LT(difference(rotation_exp(below).toRotationMatrix(), rotation_exp(above).toRotationMatrix()), 1e-12);
      EXPECT_LT(difference(rotation_tangent(below), rotation_tangent(above)), 1e-12);
      EXPECT_LT(difference(rotation_tangent_inverse(below), rotation_tangent_inverse(above)), 1e-12);
      EXPECT_LT(difference(rotation_tangent_derivative(below, u), rotation_tangent_derivative(above, u)), 1e-12);
    }
  }
}

TEST(AxesWithZ, PutsZAlongTheAxisAndXAsAsked) {
  std::mt19937 random(15);
  for (int i = 0; i < 100; ++i) {
    const Vec3 axis = 3 * random_direction(random), x_axis = 0.2 * random_direction(random);
    const Mat3 R = axes_with_z(axis, x_axis).toRotationMatrix();
    EXPECT_LT(difference(Vec3(R.col(2)), axis.normalized()), 1e-14);
    EXPECT_LT(difference(Mat3(R.transpose() * R), Mat3::Identity()), 1e-14);
    EXPECT_NEAR(R.determinant(), 1, 1e-14);
    EXPECT_GT(R.col(0).dot(x_axis), 0);
    EXPECT_NEAR(R.col(1).dot(x_axis), 0, 1e-14);  // x_axis lies in the xz plane
  }
}

TEST(AxesWithZ, FindsAnXAxisWhereNoneIsGiven) {
  std::mt19937 random(16);
  for (int i = 0; i < 100; ++i) {
    const Vec3 axis = random_direction(random);
    for (const Vec3& x_axis : {Vec3(Vec3::Zero()), axis, Vec3(-2 * axis)}) {
      const Quat q = axes_with_z(axis, x_axis);
      EXPECT_LT(difference(Vec3(q * Vec3(Vec3::UnitZ())), axis), 1e-14);
      EXPECT_LT(q.angularDistance(axes_with_z(axis)), 1e-7);  // the same rule for all three
    }
  }
  EXPECT_LT(difference(axes_with_z(Vec3::UnitZ()).toRotationMatrix(), Mat3::Identity()), 1e-15);
  // The rule does not jump for axes that are almost alike.
  EXPECT_LT(axes_with_z(Vec3(1, 1, 0)).angularDistance(axes_with_z(Vec3(1, 1 + 1e-14, 1e-14))), 1e-7);
}

TEST(UnwrapAngle, IsNearestAndEqualUpToTurns) {
  std::mt19937 random(17);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int i = 0; i < 1000; ++i) {
    const double angle = pi * uniform(random), near = 200 * uniform(random);
    const double out = unwrap_angle(angle, near);
    EXPECT_LE(std::abs(out - near), pi * (1 + 1e-12));
    EXPECT_NEAR(std::remainder(out - angle, 2 * pi), 0, 1e-12);
  }
  EXPECT_EQ(unwrap_angle(0.3, 0.1), 0.3);
  EXPECT_NEAR(unwrap_angle(-3.0, 3.0), 2 * pi - 3, 1e-15);
}

// An angle followed in steps of less than half a turn is never miscounted.
TEST(UnwrapAngle, FollowsManyTurns) {
  double followed = 0;
  for (int i = 1; i <= 1000; ++i) {
    const double truth = 2.9 * i;
    followed = unwrap_angle(std::remainder(truth, 2 * pi), followed);
    ASSERT_NEAR(followed, truth, 1e-9);
  }
}

}  // namespace
}  // namespace trammel::rotation_test
