// Splines and tables against functions they must hold exactly, orders of their errors, continuity at the points, what
// they do beyond the last ones, and the points they refuse.
#include "trammel/math/spline.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "trammel/base/diagnosis.h"

namespace trammel::spline_test {
namespace {

constexpr double spline_pi = std::numbers::pi;

SplineData sample_of(SplineKind kind, const std::vector<double>& x, const std::function<double(double)>& f) {
  SplineData data;
  data.kind = kind;
  data.x = x;
  for (const double each : x) data.y.push_back(f(each));
  return data;
}

std::vector<double> uneven(double from, double to, int intervals) {
  std::vector<double> x;
  for (int i = 0; i <= intervals; ++i) {
    const double s = static_cast<double>(i) / intervals;
    x.push_back(from + (to - from) * (s + 0.1 * std::sin(2 * spline_pi * s) / 2));
  }
  return x;
}

TEST(Spline, PassesThroughItsPointsAndIsSmoothThere) {
  for (const SplineKind kind :
       {SplineKind::akima, SplineKind::natural, SplineKind::clamped, SplineKind::periodic, SplineKind::not_a_knot}) {
    const Spline spline(sample_of(kind, uneven(0, 2 * spline_pi, 12), [](double x) { return std::sin(x) + 2; }));
    const std::vector<double>&x = spline.data().x, &y = spline.data().y;
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_NEAR(spline.value(x[i]), y[i], 1e-14);
      const auto before = spline.derivatives(x[i] - 1e-9), after = spline.derivatives(x[i] + 1e-9);
      EXPECT_NEAR(before[1], after[1], 1e-7) << to_text(kind);
      const bool inside = i > 0 && i + 1 < x.size();
      if (kind != SplineKind::akima && (inside || kind == SplineKind::periodic)) {
        EXPECT_NEAR(before[2], after[2], 1e-7) << to_text(kind);
      }
    }
  }
}

// Every kind holds straight lines; clamped ones and those without a knot next to their ends hold any cubic; Akima's any
// parabola inside.
TEST(Spline, HoldsWhatItMust) {
  const std::vector<double> x = uneven(-1, 2, 7);
  for (const SplineKind kind : {SplineKind::akima, SplineKind::natural, SplineKind::linear}) {
    const Spline spline(sample_of(kind, x, [](double s) { return 3 - 2 * s; }));
    for (double at = -3; at < 4; at += 0.137) {
      EXPECT_NEAR(spline.value(at), 3 - 2 * at, 1e-13);
      EXPECT_NEAR(spline.derivatives(at)[1], -2, 1e-13);
    }
  }
  SplineData data = sample_of(SplineKind::clamped, x, [](double s) { return s * s * s - s; });
  data.first_slope = 2;
  data.last_slope = 11;
  const Spline clamped(data), free(sample_of(SplineKind::not_a_knot, x, [](double s) { return s * s * s - s; }));
  for (double at = -0.99; at < 2; at += 0.0685) {
    const auto d = (std::lround(at / 0.0685) % 2 == 0 ? clamped : free).derivatives(at);
    EXPECT_NEAR(d[0], at * at * at - at, 1e-13);
    EXPECT_NEAR(d[1], 3 * at * at - 1, 1e-12);
    EXPECT_NEAR(d[2], 6 * at, 1e-11);
    EXPECT_NEAR(d[3], 6, 1e-9);
  }
  const Spline parabola(sample_of(SplineKind::akima, {0, 1, 2, 3, 4, 5}, [](double s) { return s * s; }));
  for (double at = 0.05; at < 5; at += 0.1) EXPECT_NEAR(parabola.value(at), at * at, 1e-13);
}

// Akima's own example (J. ACM 17, 1970, figure 1): flat up to the corner, without overshoot.
TEST(Spline, AkimaDoesNotSwingBeforeAStep) {
  const Spline spline(
      {SplineKind::akima, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {10, 10, 10, 10, 10, 10, 10.5, 15, 50, 60, 85}});
  for (double x = 0; x <= 5; x += 0.05) EXPECT_NEAR(spline.value(x), 10, 1e-13) << x;
  // A natural spline swings there.
  const Spline natural({SplineKind::natural, spline.data().x, spline.data().y});
  EXPECT_GT(std::abs(natural.value(4.5) - 10), 0.1);
}

double greatest_error(SplineKind kind, int intervals) {
  const Spline spline(sample_of(kind, uneven(0, 2 * spline_pi, intervals), [](double x) { return std::cos(x); }));
  double most = 0;
  for (double x = 0; x < 2 * spline_pi; x += 0.01) most = std::max(most, std::abs(spline.value(x) - std::cos(x)));
  return most;
}

TEST(Spline, ErrorsFallWithTheirOrders) {
  // cos'(0) = cos'(2 pi) = 0: the default slopes of a clamped spline.
  for (const SplineKind kind : {SplineKind::clamped, SplineKind::periodic}) {
    EXPECT_NEAR(std::log2(greatest_error(kind, 40) / greatest_error(kind, 80)), 4, 0.2) << to_text(kind);
  }
  EXPECT_GT(std::log2(greatest_error(SplineKind::akima, 80) / greatest_error(SplineKind::akima, 160)), 1.8);
  EXPECT_NEAR(std::log2(greatest_error(SplineKind::natural, 80) / greatest_error(SplineKind::natural, 160)), 2, 0.2);
  EXPECT_NEAR(std::log2(greatest_error(SplineKind::linear, 80) / greatest_error(SplineKind::linear, 160)), 2, 0.2);
}

TEST(Spline, PeriodicRepeats) {
  const Spline spline(
      sample_of(SplineKind::periodic, uneven(0, 2 * spline_pi, 24), [](double x) { return std::sin(x); }));
  for (const double x : {0.3, 2.0, 6.0}) {
    for (const int turns : {-3, -1, 1, 50}) {
      const auto here = spline.derivatives(x), there = spline.derivatives(x + turns * 2 * spline_pi);
      for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(here[k], there[k], 1e-10);
    }
  }
  const Spline two({SplineKind::periodic, {0, 1, 3}, {0, 1, 0}});  // the least that can be
  const auto left = two.derivatives(3 - 1e-9), right = two.derivatives(1e-9);
  EXPECT_NEAR(left[1], right[1], 1e-7);
  EXPECT_NEAR(left[2], right[2], 1e-7);
}

TEST(Spline, GoesOnAsItIsTold) {
  SplineData data{SplineKind::akima, {0, 1, 2, 3}, {0, 1, 4, 9}};
  const Spline linear(data);
  EXPECT_NEAR(linear.derivatives(3)[1], 6, 1e-13);
  EXPECT_NEAR(linear.value(5), 9 + 2 * 6, 1e-13);
  EXPECT_NEAR(linear.derivatives(5)[1], 6, 1e-13);
  EXPECT_EQ(linear.derivatives(5)[2], 0);
  EXPECT_NEAR(linear.value(-2), 0, 1e-13);
  data.extrapolation = Extrapolation::constant;
  EXPECT_EQ(Spline(data).value(50), 9);
  EXPECT_EQ(Spline(data).derivatives(50)[1], 0);
  data.extrapolation = Extrapolation::none;
  EXPECT_TRUE(std::isnan(Spline(data).value(3.01)));
  EXPECT_EQ(Spline(data).value(3), 9);
  EXPECT_TRUE(std::isnan(Spline(data).value(std::nan(""))));
}

TEST(Spline, RefusesBadPoints) {
  const auto refused = [](const SplineData& data) {
    try {
      const Spline spline(data);
    } catch (const Failure& failure) {
      return failure.problems()[0].message;
    }
    return std::string();
  };
  EXPECT_NE(refused({SplineKind::akima, {0, 1}, {0, 1}}).find("at least 3 points, not 2"), std::string::npos);
  EXPECT_NE(refused({SplineKind::natural, {0, 1, 1}, {0, 1, 2}}).find("x does not rise"), std::string::npos);
  EXPECT_NE(refused({SplineKind::natural, {0, 1, 2}, {0, std::nan(""), 2}}).find("y number 2 is not finite"),
            std::string::npos);
  EXPECT_NE(refused({SplineKind::natural, {0, 1, 2}, {0, 1}}).find("3 values of x and 2 of y"), std::string::npos);
  EXPECT_NE(refused({SplineKind::periodic, {0, 1, 2}, {0, 1, 2}}).find("the first one again"), std::string::npos);
  EXPECT_EQ(refused({SplineKind::natural, {0, 1}, {0, 1}}), "");
}

// ---- two variables -------------------------------------------------------------------------------------------------

SurfaceTable surface(SplineKind kind, int nx, int ny, const std::function<double(double, double)>& f,
                     Extrapolation extrapolation = Extrapolation::linear) {
  SurfaceData data;
  data.kind = kind;
  data.extrapolation = extrapolation;
  data.x = uneven(-1, 1, nx);
  data.y = uneven(0, 2, ny);
  for (const double x : data.x) {
    for (const double y : data.y) data.z.push_back(f(x, y));
  }
  return SurfaceTable(data);
}

double wave(double x, double y) { return std::sin(2 * x) * std::cos(y) + x; }

TEST(SurfaceTable, HasItsValuesAndExactDerivatives) {
  for (const SplineKind kind : {SplineKind::natural, SplineKind::akima}) {
    const SurfaceTable table = surface(kind, 6, 5, wave);
    for (const double x : table.data().x) {
      for (const double y : table.data().y) EXPECT_NEAR(table.value(x, y), wave(x, y), 1e-13);
    }
    for (const auto& [x, y] : {std::pair{0.21, 0.77}, {-0.9, 1.9}, {1.4, 0.3}, {-1.3, 2.6}, {0.3, -0.5}}) {
      const double at_x = x, at_y = y, h = 1e-4;
      const auto g = table.gradient(at_x, at_y);
      EXPECT_EQ(g[0], table.value(at_x, at_y));
      EXPECT_NEAR(g[1], (table.value(at_x + h, at_y) - table.value(at_x - h, at_y)) / (2 * h), 1e-6);
      EXPECT_NEAR(g[2], (table.value(at_x, at_y + h) - table.value(at_x, at_y - h)) / (2 * h), 1e-6);
    }
  }
}

TEST(SurfaceTable, IsSmoothAcrossItsLines) {
  for (const SplineKind kind : {SplineKind::natural, SplineKind::akima}) {
    const SurfaceTable table = surface(kind, 6, 5, wave);
    for (std::size_t i = 0; i < table.data().x.size(); ++i) {
      for (double y = -0.5; y < 2.5; y += 0.23) {
        const double x = table.data().x[i], e = 1e-9;
        const auto before = table.gradient(x - e, y), after = table.gradient(x + e, y);
        for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(before[k], after[k], 1e-6);
      }
    }
  }
}

// A natural table is the product of natural splines: along a line of the grid it is that spline.
TEST(SurfaceTable, IsASplineAlongItsLines) {
  for (const SplineKind kind : {SplineKind::natural, SplineKind::akima}) {
    const SurfaceTable table = surface(kind, 6, 5, wave);
    const double y = table.data().y[2];
    const Spline line(sample_of(kind, table.data().x, [y](double x) { return wave(x, y); }));
    for (double x = -1.4; x < 1.4; x += 0.09) EXPECT_NEAR(table.value(x, y), line.value(x), 1e-13);
  }
}

TEST(SurfaceTable, SeriesAlongAPathFollowTheSurface) {
  const SurfaceTable table = surface(SplineKind::natural, 6, 5, wave);
  // x = 0.2 + 0.3 t - 0.1 t^2 + 0.05 t^3, y = 0.8 - 0.2 t + 0.04 t^3; also beyond the table.
  for (const double shift : {0.0, 5.0}) {
    const Taylor3 x{{0.2 + shift, 0.3, -0.1, 0.05}}, y{{0.8 + shift, -0.2, 0, 0.04}};
    const Taylor3 z = table.along(x, y);
    const auto at = [&](double t) {
      return table.value(x.c[0] + t * (x.c[1] + t * (x.c[2] + t * x.c[3])),
                         y.c[0] + t * (y.c[1] + t * (y.c[2] + t * y.c[3])));
    };
    const double h = 0.02;
    EXPECT_NEAR(z.c[0], at(0), 1e-14);
    EXPECT_NEAR(z.c[1], (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h), 1e-6);
    EXPECT_NEAR(2 * z.c[2], (at(h) - 2 * at(0) + at(-h)) / (h * h), 1e-3);
    EXPECT_NEAR(6 * z.c[3], (at(2 * h) - 2 * at(h) + 2 * at(-h) - at(-2 * h)) / (2 * h * h * h), 2e-2);
  }
}

TEST(SurfaceTable, GoesOnAsItIsTold) {
  const auto plane = [](double x, double y) { return 1 + 2 * x - 3 * y + x * y; };
  const SurfaceTable linear = surface(SplineKind::natural, 3, 4, plane);
  EXPECT_NEAR(linear.value(4, 7), plane(4, 7), 1e-11);
  const SurfaceTable constant = surface(SplineKind::natural, 3, 4, plane, Extrapolation::constant);
  EXPECT_NEAR(constant.value(4, 7), plane(1, 2), 1e-12);
  EXPECT_NEAR(constant.gradient(4, 1)[2], -3 + 1, 1e-12);
  EXPECT_EQ(constant.gradient(4, 1)[1], 0);
  const SurfaceTable none = surface(SplineKind::natural, 3, 4, plane, Extrapolation::none);
  EXPECT_TRUE(std::isnan(none.value(1.1, 1)));
  EXPECT_FALSE(std::isnan(none.value(1, 2)));
}

TEST(SurfaceTable, RefusesBadPoints) {
  EXPECT_THROW(SurfaceTable({SplineKind::natural, {0, 1}, {0, 1}, {1, 2, 3}}), Failure);
  EXPECT_THROW(SurfaceTable({SplineKind::natural, {0, 0}, {0, 1}, {1, 2, 3, 4}}), Failure);
  EXPECT_THROW(SurfaceTable({SplineKind::akima, {0, 1}, {0, 1}, {1, 2, 3, 4}}), Failure);
  EXPECT_THROW(SurfaceTable({SplineKind::clamped, {0, 1}, {0, 1}, {1, 2, 3, 4}}), Failure);
  EXPECT_THROW(SurfaceTable({SplineKind::natural, {0, 1}, {0, 1}, {1, 2, 3, std::nan("")}}), Failure);
  EXPECT_NO_THROW(SurfaceTable({SplineKind::natural, {0, 1}, {0, 1}, {1, 2, 3, 4}}));
}

}  // namespace
}  // namespace trammel::spline_test
