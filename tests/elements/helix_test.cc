// The logarithm of a screw motion against the exponential of its 4 x 4 matrix, and its slopes against differences.
#include "trammel/elements/forces/helix.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/problems/stepping.h"
#include "trammel/math/rotation.h"

namespace trammel::helix_test {
namespace {

using Mat4 = Eigen::Matrix4d;

// exp by its series, of a 1024th part, squared ten times.
Mat4 matrix_exponential(const Mat4& given) {
  const Mat4 part = given / 1024;
  Mat4 term = Mat4::Identity(), sum = term;
  for (int k = 1; k < 12; ++k) {
    term = term * part / k;
    sum += term;
  }
  for (int k = 0; k < 10; ++k) sum = sum * sum;
  return sum;
}

Vec6 random_motion(std::mt19937& random, double angle) {
  Vec6 y = problems::random_vector(6, random);
  y.tail<3>() *= angle / y.tail<3>().norm();
  return y;
}

constexpr double angles[] = {1e-9, 1e-3, 0.1, 0.2999, 0.3001, 1, 2, 3};

TEST(Helix, IsTheLogarithmOfTheMotion) {
  std::mt19937 random(1);
  for (const double angle : angles) {
    const Vec6 y = random_motion(random, angle), x = Helix(y).strain();
    Mat4 screw = Mat4::Zero();
    screw.topLeftCorner<3, 3>() = skew(Vec3(x.tail<3>()));
    screw.topRightCorner<3, 1>() = x.head<3>();
    const Mat4 motion = matrix_exponential(screw);
    EXPECT_LT((motion.topRightCorner<3, 1>() - y.head<3>()).norm(), 1e-12) << angle;
    EXPECT_LT((motion.topLeftCorner<3, 3>() - rotation_exp(y.tail<3>()).toRotationMatrix()).norm(), 1e-12) << angle;
  }
}

// Seen from the other end the motion is the inverse one: -theta, and -R^T d.
TEST(Helix, ChangesItsSignWithTheEnds) {
  std::mt19937 random(2);
  for (const double angle : angles) {
    const Vec6 y = random_motion(random, angle);
    Vec6 back;
    back << -(rotation_exp(y.tail<3>()).conjugate() * Vec3(y.head<3>())), -y.tail<3>();
    EXPECT_LT((Helix(y).strain() + Helix(back).strain()).norm(), 1e-14) << angle;
  }
}

TEST(Helix, HasExactSlopes) {
  std::mt19937 random(3);
  for (const double angle : angles) {
    const Vec6 y = random_motion(random, angle), rate = problems::random_vector(6, random),
               s = problems::random_vector(6, random);
    const Helix helix(y);
    const Mat6 rate_slope = helix.rate_slope(rate), stress_slope = helix.stress_slope(s);
    EXPECT_LT((stress_slope - stress_slope.transpose()).norm(), 1e-15) << angle;
    for (int i = 0; i < 6; ++i) {
      const auto moved = [&](double step) { return Helix(Vec6(y + step * Vec6::Unit(i))); };
      const Vec strain = problems::derivative([&](double step) { return Vec(moved(step).strain()); });
      EXPECT_LT((strain - helix.slope().col(i)).norm(), 1e-10) << angle << " " << i;
      const Vec by_rate = problems::derivative([&](double step) { return Vec(moved(step).slope() * rate); });
      EXPECT_LT((by_rate - rate_slope.col(i)).norm(), 1e-10) << angle << " " << i;
      const Vec by_stress = problems::derivative([&](double step) { return Vec(moved(step).slope().transpose() * s); });
      EXPECT_LT((by_stress - stress_slope.col(i)).norm(), 1e-10) << angle << " " << i;
    }
  }
}

// The series and the closed form are the same function where one takes over from the other.
TEST(Helix, DoesNotJumpWhereTheSeriesEnds) {
  std::mt19937 random(4);
  const Vec6 y = random_motion(random, 0.3), s = problems::random_vector(6, random);
  const auto at = [&](double angle) {
    Vec6 scaled = y;
    scaled.tail<3>() *= angle / 0.3;
    return Helix(scaled);
  };
  const Helix below = at(0.3 - 1e-13), above = at(0.3 + 1e-13);
  EXPECT_LT((below.strain() - above.strain()).norm(), 1e-12);
  EXPECT_LT((below.slope() - above.slope()).norm(), 1e-12);
  EXPECT_LT((below.stress_slope(s) - above.stress_slope(s)).norm(), 1e-12);
  EXPECT_LT((below.rate_slope(s) - above.rate_slope(s)).norm(), 1e-12);
}

}  // namespace
}  // namespace trammel::helix_test
