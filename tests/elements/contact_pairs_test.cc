// Pairs of shapes: depth, normal and place against differences and against the surfaces themselves, at random poses.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>

#include "trammel/elements/contacts/profile.h"
#include "trammel/elements/contacts/shape_pair.h"
#include "trammel/math/rotation.h"

namespace trammel::contact_pairs_test {
namespace {

using Row = Eigen::Matrix<double, 1, 12>;
using Rows = Eigen::Matrix<double, 3, 12>;

FrameState random_frame(std::mt19937& random, double spread) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(-spread, spread);
  FrameState f;
  const Quat q(normal(random), normal(random), normal(random), normal(random));
  f.p = Vec3(uniform(random), uniform(random), uniform(random));
  f.R = q.normalized().toRotationMatrix();
  f.v = f.w = Vec3::Zero();
  return f;
}

void nudge(FrameState* frames, int column, double amount) {
  FrameState& f = frames[column / 6];
  const int k = column % 6;
  if (k < 3)
    f.p[k] += amount;
  else
    f.R = rotation_exp(amount * Vec3::Unit(k - 3)) * f.R;
}

struct Named {
  const char* name;
  std::function<std::unique_ptr<const ShapePair>()> make;
  double spread;  // of the frames' places
  // Deeper in, other parts of the surface are nearer and the normal turns over; nothing is promised there.
  double deepest = 1e300;
  bool joined = false;  // of parts: the slopes jump where the nearest place goes from one to another
};

const Named pairs[] = {
    {"sphere_sphere",
     [] {
       return ball_against({Core::point, 0, 0.7, false}, 0.5);
     },
     0.6},
    {"sphere_in_hollow_sphere",
     [] {
       return ball_against({Core::point, 0, 0.9, true}, 0.5);
     },
     0.6},
    {"sphere_cylinder",
     [] {
       return ball_against({Core::axis, 0, 0.5, false}, 0.6);
     },
     0.6},
    {"sphere_in_hollow_cylinder",
     [] {
       return ball_against({Core::axis, 0, 0.9, true}, 0.6);
     },
     0.6},
    {"sphere_capsule",
     [] {
       return ball_against({Core::segment, 0.4, 0.5, false}, 0.6);
     },
     0.6},
    {"sphere_groove",
     [] {
       return ball_against({Core::circle, 0.8, 0.6, true}, 0.2);
     },
     0.6},
    {"plane_sphere",
     [] {
       return plane_against({{Vec3::Zero()}, 0.5, 0, 0});
     },
     0.5},
    {"plane_capsule",
     [] {
       return plane_against({{Vec3(0, 0, 0.6), Vec3(0, 0, -0.6)}, 0.3, 0, 0});
     },
     0.5},
    {"plane_disc",
     [] {
       return plane_against({{Vec3::Zero()}, 0.1, 0.6, 0.05});
     },
     0.5},
    {"plane_cylinder",
     [] {
       return plane_against({{Vec3(0, 0, 0.6), Vec3(0, 0, -0.6)}, 0.1, 0.4, 0.03});
     },
     0.5},
    {"plane_box",
     [] {
       SupportingParts corners;
       corners.radius = 0.05;
       for (int i = 0; i < 8; ++i) corners.centers.emplace_back(i & 1 ? .3 : -.3, i & 2 ? .4 : -.4, i & 4 ? .5 : -.5);
       return plane_against(corners);
     },
     0.5},
    {"capsule_capsule",
     [] {
       return bar_against({0.8, 0.4, 0.02}, {0.6, 0.5, 0.03});
     },
     0.6},
    {"exchanged_capsule_sphere",
     [] {
       return exchanged(ball_against({Core::segment, 0.4, 0.5, false}, 0.6));
     },
     0.6},
    {"rail_roller", [] { return profile_against(bar_profile(0.6, 0.2), 0.5, 0.4); }, 0.6, 0.69, true},
    {"sprocket_roller",
     [] {
       return profile_against(sprocket_profile({5, 1.4, 0.5, 0.3}), 0.4, 0.4);
     },
     0.8, 0.69, true},
    {"exchanged_sprocket_pin",
     [] {
       return exchanged(profile_against(sprocket_profile({5, 1.4, 0.5, 0.3}), 0.4, 0));
     },
     0.8, 0.69, true},
    {"exchanged_plane_disc",
     [] {
       return exchanged(plane_against({{Vec3::Zero()}, 0.1, 0.6, 0.05}));
     },
     0.5},
};

class Pairs : public testing::TestWithParam<Named> {
 protected:
  std::unique_ptr<const ShapePair> pair = GetParam().make();
  std::mt19937 random{17};

  struct Seen {
    ContactPoint points[ShapePair::most_points];
    ContactPointPartials partials[ShapePair::most_points];
    int count = 0;
  };
  Seen look(const FrameState* frames) const {
    Seen out;
    out.count = pair->locate(frames[0], frames[1], out.points, out.partials);
    return out;
  }
  // Random poses with a point in contact.
  void everywhere(const std::function<void(const FrameState*, const Seen&, int)>& check) {
    int touching = 0, apart = 0;
    for (int i = 0; i < 400; ++i) {
      const FrameState frames[2] = {random_frame(random, GetParam().spread), random_frame(random, GetParam().spread)};
      const Seen seen = look(frames);
      for (int k = 0; k < seen.count; ++k) {
        (seen.points[k].depth > 0 ? touching : apart) += 1;
        if (seen.points[k].depth > 0 && seen.points[k].depth < GetParam().deepest) check(frames, seen, k);
        if (HasFailure()) return;
      }
    }
    EXPECT_GT(touching, 50);
    EXPECT_GT(apart, 20);
  }
};

// Fourth-order differences over 1e-3; where a nearest point leaves the end of a bar, within this distance, the slopes
// jump: such poses must be rare.
TEST_P(Pairs, HaveExactDerivatives) {
  int checked = 0, at_ends = 0;
  everywhere([&](const FrameState* frames, const Seen& seen, int k) {
    constexpr double h = 5e-4;
    double worst = 0;
    Rows normal, place;
    Row depth;
    for (int c = 0; c < 12; ++c) {
      const auto at = [&](double e) {
        FrameState moved[2] = {frames[0], frames[1]};
        nudge(moved, c, e);
        return look(moved).points[k];
      };
      const ContactPoint p1 = at(h), m1 = at(-h), p2 = at(2 * h), m2 = at(-2 * h);
      depth[c] = (8 * (p1.depth - m1.depth) - (p2.depth - m2.depth)) / (12 * h);
      normal.col(c) = (8 * (p1.normal - m1.normal) - (p2.normal - m2.normal)) / (12 * h);
      place.col(c) = (8 * (p1.place - m1.place) - (p2.place - m2.place)) / (12 * h);
    }
    const ContactPointPartials& d = seen.partials[k];
    // Continuously differentiable everywhere: where the second derivative jumps, differences miss by that times h.
    const double depth_error = (depth - d.depth).cwiseAbs().maxCoeff();
    EXPECT_LT(depth_error, (GetParam().joined ? 20 : 2) * h);  // curvatures of small arcs jump by more
    worst = std::max({depth_error, (normal - d.normal).cwiseAbs().maxCoeff(), (place - d.place).cwiseAbs().maxCoeff()});
    const double scale = std::max({1.0, d.normal.cwiseAbs().maxCoeff(), d.place.cwiseAbs().maxCoeff()});
    ++checked;
    if (worst > 1e-6 * scale) ++at_ends;
  });
  EXPECT_LE(at_ends, checked / 50) << checked;
  const std::string name = GetParam().name;
  if (!GetParam().joined && (name.find("capsule") == std::string::npos || name == "plane_capsule")) {
    EXPECT_EQ(at_ends, 0);
  }
}

// depth' = n . (velocity of B's material at the place against A's), the normal is a unit vector.
TEST_P(Pairs, KeepWhatMakesAPotential) {
  everywhere([&](const FrameState* frames, const Seen& seen, int k) {
    const ContactPoint& point = seen.points[k];
    const Vec3& n = point.normal;
    Row expected;
    expected << -n.transpose(), -(point.place - frames[0].p).cross(n).transpose(), n.transpose(),
        (point.place - frames[1].p).cross(n).transpose();
    EXPECT_NEAR(n.norm(), 1, 1e-14);
    EXPECT_LT((expected - seen.partials[k].depth).cwiseAbs().maxCoeff(), 1e-8);
  });
}

INSTANTIATE_TEST_SUITE_P(All, Pairs, testing::ValuesIn(pairs), [](const auto& pair) { return pair.param.name; });

// ---- on top of each other ------------------------------------------------------------------------------------------

// Where the distance of two cores is 0 no direction is nearest, and bodies deep inside each other were taken to be
// apart. All radii together are the depth, in some direction across the cores.
TEST(Solids, TouchAtNoDistanceToo) {
  const FrameState here{Vec3::Zero(), Mat3::Identity(), Vec3::Zero(), Vec3::Zero()};
  const auto expect_touch = [&](const ShapePair& pair, const FrameState& other, double depth, const Vec3& core) {
    ContactPoint point;
    ContactPointPartials partials;
    ASSERT_EQ(pair.locate(here, other, &point, &partials), 1);
    EXPECT_NEAR(point.depth, depth, 1e-15);
    EXPECT_NEAR(point.normal.norm(), 1, 1e-15);
    EXPECT_NEAR(point.normal.dot(core), 0, 1e-15);
    EXPECT_TRUE(point.place.allFinite());
    EXPECT_TRUE(partials.depth.allFinite() && partials.normal.allFinite() && partials.place.allFinite());
    Row expected;
    expected << -point.normal.transpose(), -(point.place - here.p).cross(point.normal).transpose(),
        point.normal.transpose(), (point.place - other.p).cross(point.normal).transpose();
    EXPECT_LT((expected - partials.depth).cwiseAbs().maxCoeff(), 1e-15);
  };
  FrameState above = here;
  above.p.z() = 0.25;
  expect_touch(*ball_against({Core::point, 0, 0.7, false}, 0.5), here, 1.2, Vec3::Zero());
  expect_touch(*ball_against({Core::axis, 0, 0.7, false}, 0.5), above, 1.2, Vec3::UnitZ());
  expect_touch(*ball_against({Core::segment, 0.4, 0.7, false}, 0.5), above, 1.2, Vec3::UnitZ());
  expect_touch(*bar_against({0.8, 0.4, 0.02}, {0.6, 0.5, 0.03}), here, 0.9, Vec3::UnitZ());
  FrameState crossing = here;
  crossing.R = rotation_exp(Vec3(0.3, 0, 0)).toRotationMatrix();
  expect_touch(*bar_against({0.8, 0.4, 0.02}, {0.6, 0.5, 0.03}), crossing, 0.9, Vec3::UnitZ());
  expect_touch(*bar_against({0.8, 0.4, 0.02}, {0.6, 0.5, 0.03}), crossing, 0.9, crossing.R.col(2));
  // in the middle of a hollow: apart, by the play
  ContactPoint point;
  ASSERT_EQ(ball_against({Core::axis, 0, 0.9, true}, 0.6)->locate(here, above, &point, nullptr), 1);
  EXPECT_NEAR(point.depth, -0.3, 1e-15);
}

// ---- the surfaces themselves ----------------------------------------------------------------------------------------

// The lowest point of a disc, found among many on its surface: the rim's torus, seen along the normal.
TEST(Disc, TouchesWithItsLowestPoint) {
  std::mt19937 random(3);
  const double R = 0.6, rounding = 0.1, crown = 0.02;
  const auto pair = plane_against({{Vec3::Zero()}, rounding, R, crown});
  for (int i = 0; i < 50; ++i) {
    const FrameState plane = random_frame(random, 0.5), disc = random_frame(random, 0.5);
    ContactPoint point;
    ASSERT_EQ(pair->locate(plane, disc, &point, nullptr), 1);
    double lowest = 1e9;
    constexpr int many = 400;
    for (int a = 0; a < many; ++a) {
      for (int b = 0; b <= many / 2; ++b) {
        const double u = 2 * std::numbers::pi * a / many, w = std::numbers::pi * (2.0 * b / many - 0.5);
        const Vec3 local(R * std::cos(w) * std::cos(u), R * std::cos(w) * std::sin(u), crown * std::sin(w));
        lowest = std::min(lowest, plane.R.col(2).dot(disc.p + disc.R * local - plane.p));
      }
    }
    EXPECT_NEAR(point.depth, rounding - lowest, 2e-4);
    EXPECT_LE(rounding - lowest, point.depth + 1e-14);
  }
}

TEST(Disc, StandsAtItsRadiusAndLiesOnItsCrown) {
  const auto pair = plane_against({{Vec3::Zero()}, 0.1, 0.5, 0.01});
  const FrameState plane{Vec3::Zero(), Mat3::Identity(), Vec3::Zero(), Vec3::Zero()};
  FrameState disc = plane;
  disc.p.z() = 0.3;
  ContactPoint point;
  pair->locate(plane, disc, &point, nullptr);
  EXPECT_NEAR(point.depth, 0.11 - 0.3, 1e-15);
  EXPECT_LT(point.place.head<2>().norm(), 1e-15);
  disc.R = rotation_exp(Vec3(0, std::numbers::pi / 2, 0)) * disc.R;
  pair->locate(plane, disc, &point, nullptr);
  EXPECT_NEAR(point.depth, 0.6 - 0.3, 1e-15);
}

// A face domed by 0.6 nm, tilted by as little: the lowest point is on the way to the rim, at 1/sqrt(2) of it. The
// crown was lost in the difference of squares, and the place stayed in the middle.
TEST(Disc, OfANearlyFlatFaceTouchesWhereItIsLowest) {
  const auto pair = plane_against({{Vec3::Zero()}, 0.1, 0.6, 6e-10});
  const FrameState plane{Vec3::Zero(), Mat3::Identity(), Vec3::Zero(), Vec3::Zero()};
  FrameState disc = plane;
  disc.R = rotation_exp(Vec3(0, 1e-9, 0)).toRotationMatrix();
  ContactPoint point;
  pair->locate(plane, disc, &point, nullptr);
  EXPECT_NEAR(point.place.head<2>().norm(), 0.6 * std::numbers::sqrt2 / 2, 1e-6);
  EXPECT_NEAR(point.depth, 0.1 + 6e-10 * std::numbers::sqrt2, 1e-15);
}

// ---- outlines -------------------------------------------------------------------------------------------------------

// The surface of half a pocket and half a tooth, point by point: from the bottom of the pocket to where the arcs touch,
// and on to the top of the tooth.
std::vector<Eigen::Vector2d> outline(const Sprocket& s) {
  const double half = std::numbers::pi / s.teeth;
  const Eigen::Vector2d pocket(s.pitch_radius(), 0),
      tip = s.tip_center() * Eigen::Vector2d(std::cos(half), std::sin(half));
  EXPECT_NEAR((tip - pocket).norm(), s.pocket + s.tip, 1e-14);  // they touch
  const Eigen::Vector2d across = (tip - pocket).normalized();
  std::vector<Eigen::Vector2d> out;
  constexpr int many = 4000;
  const double touching = std::atan2(across.y(), across.x()), back = std::atan2(-across.y(), -across.x());
  for (int i = 0; i <= many; ++i) {
    const double u = static_cast<double>(i) / many, a = std::numbers::pi + u * (touching - std::numbers::pi),
                 b = back + u * (half - back);
    out.emplace_back(pocket + s.pocket * Eigen::Vector2d(std::cos(a), std::sin(a)));
    out.emplace_back(tip + s.tip * Eigen::Vector2d(std::cos(b), std::sin(b)));
  }
  return out;
}

TEST(Sprocket, IsAsFarAwayAsItsNearestPoint) {
  const Sprocket s{11, 0.25, 0.055, 0.073};  // of an excavator's track
  EXPECT_NEAR(s.pitch_radius(), 0.443683, 1e-6);
  EXPECT_NEAR(s.tip_center(), 0.39816, 1e-5);
  const std::vector<Eigen::Vector2d> surface = outline(s);
  const auto profile = sprocket_profile(s);
  std::mt19937 random(9);
  std::uniform_real_distribution<double> radii(0.36, 0.55), angles(-3, 3);
  for (int i = 0; i < 400; ++i) {
    const double r = radii(random), angle = angles(random);
    Eigen::Vector2d gradient;
    double curvature = 0;
    const double d = profile->distance(r * Eigen::Vector2d(std::cos(angle), std::sin(angle)), gradient, curvature);
    const double step = 2 * std::numbers::pi / s.teeth, folded = angle - step * std::round(angle / step);
    const Eigen::Vector2d here = r * Eigen::Vector2d(std::cos(folded), std::abs(std::sin(folded)));
    double nearest = 1e9;
    for (const Eigen::Vector2d& point : surface) nearest = std::min(nearest, (point - here).norm());
    if (d > 0.05 || d < -0.07) continue;  // beyond the middle of a pocket or a tooth
    EXPECT_NEAR(std::abs(d), nearest, 1e-4) << r << " " << angle;
    EXPECT_NEAR(gradient.norm(), 1, 1e-14);
  }
  // a pin of 50 mm lies in a pocket of 55 mm, or stands on a tooth
  Eigen::Vector2d gradient;
  double curvature = 0;
  EXPECT_NEAR(profile->distance({s.pitch_radius() - 0.006, 0}, gradient, curvature), 0.049, 1e-14);
  EXPECT_NEAR(gradient.x(), 1, 1e-14);
  EXPECT_NEAR(curvature, -1 / 0.006, 1e-9);
  const double half = std::numbers::pi / s.teeth, top = s.tip_center() + s.tip + 0.05;
  EXPECT_NEAR(profile->distance(top * Eigen::Vector2d(std::cos(half), std::sin(half)), gradient, curvature), 0.05,
              1e-14);
  EXPECT_NEAR(curvature, 1 / 0.123, 1e-9);
}

// Around over pockets and teeth, 43 mm above their bottom: distance and gradient without jumps.
TEST(Sprocket, IsContinuouslyDifferentiableAllAround) {
  const Sprocket s{11, 0.25, 0.055, 0.073};
  const auto profile = sprocket_profile(s);
  constexpr int many = 100000;
  const double r = s.pitch_radius() - 0.012, step = 2 * std::numbers::pi * r / many;
  Eigen::Vector2d last;
  double before = 0;
  for (int i = 0; i <= many; ++i) {
    const double angle = 2 * std::numbers::pi * i / many;
    Eigen::Vector2d gradient;
    double curvature = 0;
    const double d = profile->distance(r * Eigen::Vector2d(std::cos(angle), std::sin(angle)), gradient, curvature);
    if (i > 0) {
      EXPECT_LT(std::abs(d - before), 1.001 * step) << angle;
      EXPECT_LT((gradient - last).norm(), step / 0.011) << angle;  // 12 mm from the centre of the pocket at least
    }
    before = d;
    last = gradient;
  }
}

// A bar of the track: flat on top, round at its ends.
TEST(Rail, IsFlatAndRound) {
  const auto rail = bar_profile(0.13, 0.03);
  Eigen::Vector2d gradient;
  double curvature = 1;
  EXPECT_NEAR(rail->distance({0.1, -0.05}, gradient, curvature), 0.02, 1e-15);
  EXPECT_EQ(gradient, Eigen::Vector2d(0, -1));
  EXPECT_EQ(curvature, 0);
  EXPECT_NEAR(rail->distance({0.16, 0.04}, gradient, curvature), 0.02, 1e-15);
  EXPECT_NEAR(gradient.x(), 0.6, 1e-14);
  EXPECT_NEAR(curvature, 20, 1e-12);
}

// Nearest points of two bars against a search over all pairs of spheres.
TEST(Capsules, AreNearestWhereASearchSaysSo) {
  std::mt19937 random(5);
  const Bar a{0.8, 0.2, 0.03}, b{0.5, 0.3, 0.02};
  const auto pair = bar_against(a, b);
  for (int i = 0; i < 100; ++i) {
    const FrameState one = random_frame(random, 1), two = random_frame(random, 1);
    ContactPoint point;
    ASSERT_EQ(pair->locate(one, two, &point, nullptr), 1);
    double deepest = -1e9;
    constexpr int many = 400;
    for (int j = 0; j <= many; ++j) {
      for (int k = 0; k <= many; ++k) {
        const double s = 2.0 * j / many - 1, t = 2.0 * k / many - 1;
        const Vec3 w = two.p + t * b.half_length * two.R.col(2) - one.p - s * a.half_length * one.R.col(2);
        deepest = std::max(deepest, a.radius - a.crown * s * s + b.radius - b.crown * t * t - w.norm());
      }
    }
    EXPECT_LE(deepest, point.depth + 1e-13);
    EXPECT_NEAR(deepest, point.depth, 1e-4);
  }
}

// The distance of two segments, end points and interiors apart.
double distance_of_segments(const FrameState& one, double a, const FrameState& two, double b) {
  const Vec3 u = one.R.col(2), v = two.R.col(2), d = two.p - one.p;
  double least = 1e300;
  const auto try_at = [&](double s, double t) { least = std::min(least, (d + t * v - s * u).norm()); };
  for (const double s : {-a, a}) try_at(s, std::clamp(v.dot(s * u - d), -b, b));
  for (const double t : {-b, b}) try_at(std::clamp(u.dot(d + t * v), -a, a), t);
  const double c = u.dot(v), apart = 1 - c * c;
  if (apart > 1e-14) {
    const double s = (u.dot(d) - c * v.dot(d)) / apart, t = (c * u.dot(d) - v.dot(d)) / apart;
    if (std::abs(s) <= a && std::abs(t) <= b) try_at(s, t);
  }
  return least;
}

// Newton's method once went to and fro between the ends of slender bars, and missed that they touch.
TEST(Capsules, SlenderOnesAreNearestWhereTheirAxesAre) {
  std::mt19937 random(7);
  for (const double slender : {50.0, 500.0, 5000.0}) {
    const Bar a{1, 1 / slender, 1e-6 / slender}, b{0.7, 1 / slender, 1e-6 / slender};
    const auto pair = bar_against(a, b);
    for (int i = 0; i < 1000; ++i) {
      const FrameState one = random_frame(random, 0.5), two = random_frame(random, 0.5);
      ContactPoint point;
      ASSERT_EQ(pair->locate(one, two, &point, nullptr), 1);
      const double depth = a.radius + b.radius - distance_of_segments(one, a.half_length, two, b.half_length);
      EXPECT_NEAR(point.depth, depth, 3e-6 / slender) << slender;
    }
  }
}

// Turned through parallel, the place goes from one end to the other without a jump.
TEST(Capsules, PassThroughParallel) {
  const auto pair = bar_against({1, 0.1, 0.001}, {1, 0.1, 0.001});
  const FrameState one{Vec3::Zero(), Mat3::Identity(), Vec3::Zero(), Vec3::Zero()};
  FrameState two = one;
  two.p.x() = 0.19;
  ContactPoint point;
  double last = 0, step = 0;
  constexpr int many = 2000;
  for (int i = 0; i <= many; ++i) {
    two.R = rotation_exp(Vec3(0, 0.01 * (2.0 * i / many - 1), 0)).toRotationMatrix();
    ASSERT_EQ(pair->locate(one, two, &point, nullptr), 1);
    if (i > 0) step = std::max(step, std::abs(point.place.z() - last));
    if (2 * i == many) {
      EXPECT_NEAR(point.place.z(), 0, 1e-12);
    }
    last = point.place.z();
  }
  EXPECT_GT(std::abs(last), 0.9);
  EXPECT_LT(step, 0.01);  // of 2
}

}  // namespace
}  // namespace trammel::contact_pairs_test
