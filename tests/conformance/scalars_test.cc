// The scalars of two frames: every derivative against extrapolated differences, at large rotations, and that a lower
// order gives the same numbers.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/conformance/element_checks.h"
#include "trammel/elements/scalars/pair_scalar.h"
#include "trammel/math/rotation.h"

namespace trammel::conformance::scalars_test {
namespace {

constexpr int situations = 12;

std::vector<Scalar> all_scalars() {
  std::vector<Scalar> all{
      {Primitive::distance}, {Primitive::angle}, {Primitive::twist}, {Primitive::radius}, {Primitive::polar}};
  for (int i = 0; i < 3; ++i) {
    for (const Primitive kind : {Primitive::point, Primitive::in_plane, Primitive::cardan}) all.push_back({kind, i});
    for (int j = 0; j < 3; ++j) all.push_back({Primitive::dot, i, j});
  }
  return all;
}

// What is tested of a scalar: itself, or a function of it as couplings take it.
PairScalar scalar_at(const Scalar& which, const Situation& s, int order, bool composed) {
  PairScalar out(which, s.frames[0], s.frames[1], order);
  if (which.is_multi_turn()) out.unwrap(s.memory[0]);
  if (composed) {
    const double x = out.value();
    out.compose({std::sin(2 * x), 2 * std::cos(2 * x), -4 * std::sin(2 * x), -8 * std::cos(2 * x)});
    out.scale(-0.7);
  }
  return out;
}

PairTwist twist_of(const Situation& s) { return {s.frames[0], s.frames[1]}; }

Situation random_frames(const Scalar& which, std::mt19937& random) {
  std::normal_distribution<double> normal;
  const auto any = [&] { return Vec3(normal(random), normal(random), normal(random)); };
  Situation s;
  for (int i = 0; i < 2; ++i) s.frames.push_back({any(), rotation_exp(2 * any()).toRotationMatrix(), any(), any()});
  s.memory = {which.is_multi_turn() ? 12 + PairScalar(which, s.frames[0], s.frames[1], 0).value() : 0};
  return s;
}

// A small motion of the frames, or more of their twists, in the direction `column` of (p_A, phi_A, p_B, phi_B).
Situation changed(Situation s, int column, double e, bool twist) {
  FrameState& f = s.frames[static_cast<std::size_t>(column / 6)];
  const int i = column % 6;
  if (twist)
    (i < 3 ? f.v[i] : f.w[i - 3]) += e;
  else if (i < 3)
    f.p[i] += e;
  else
    f.R = rotation_exp(e * Vec3::Unit(i - 3)) * f.R;
  return s;
}

template <class Number>
PairRow differences(const Situation& s, bool twist, const Number& number) {
  PairRow row;
  for (int k = 0; k < 12; ++k) {
    const auto slope = derivative(
        [&](double e) -> std::optional<Vec> { return Vec(Vec::Constant(1, number(changed(s, k, e, twist)))); });
    row[k] = (*slope)[0];
  }
  return row;
}

void expect_row(const char* what, const PairRow& expected, const PairRow& given) {
  const double scale = std::max(1.0, expected.cwiseAbs().maxCoeff());
  EXPECT_LE((expected - given).cwiseAbs().maxCoeff(), tolerance * scale) << what << "\n" << expected << "\n" << given;
}

void check(const Scalar& which, const Situation& s, bool composed) {
  const PairScalar now = scalar_at(which, s, 3, composed);
  const PairTwist u = twist_of(s);
  const auto at = [&](const Situation& there, int order) { return scalar_at(which, there, order, composed); };
  expect_row("gradient", differences(s, false, [&](const Situation& x) { return at(x, 0).value(); }),
             now.gradient().row());
  expect_row("rate by twist", differences(s, true, [&](const Situation& x) { return at(x, 1).rate(twist_of(x)); }),
             now.gradient().row());
  expect_row("contracted", differences(s, false, [&](const Situation& x) { return at(x, 1).rate(u); }),
             now.contracted(u).row());
  expect_row("curvature by pose", differences(s, false, [&](const Situation& x) { return at(x, 2).curvature(u); }),
             now.curvature_pose(u).row());
  expect_row("curvature by twist",
             differences(s, true, [&](const Situation& x) { return at(x, 2).curvature(twist_of(x)); }),
             now.curvature_twist(u).row());
  PairRow tau;
  tau << s.frames[0].v.transpose(), s.frames[0].w.transpose(), s.frames[1].v.transpose(), s.frames[1].w.transpose();
  PairMatrix H = PairMatrix::Zero();
  now.add_hessian(1, H);
  expect_row("Hessian", now.contracted(u).row(), tau * H);
  const auto along = derivative([&](double e) -> std::optional<Vec> {
    const Situation later = moved_on(s, e);
    return Vec(Eigen::Vector2d(at(later, 0).value(), at(later, 1).rate(twist_of(later))));
  });
  EXPECT_NEAR((*along)[0], now.rate(u), tolerance * std::max(1.0, std::abs((*along)[0])));
  EXPECT_NEAR((*along)[1], now.curvature(u), tolerance * std::max(1.0, std::abs((*along)[1])));
}

TEST(Scalars, HaveExactDerivatives) {
  for (const Scalar& which : all_scalars()) {
    std::mt19937 random(21);
    for (int k = 0; k < situations; ++k) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(which.kind) << " " << which.i << " " << which.j);
      const Situation s = random_frames(which, random);
      if (!(std::abs(PairScalar(which, s.frames[0], s.frames[1], 1).gradient().row().cwiseAbs().maxCoeff()) < 5))
        continue;  // too near to where it has none for differences
      check(which, s, k % 2 == 1);
    }
  }
}

TEST(Scalars, LowerOrdersGiveTheSameNumbers) {
  for (const Scalar& which : all_scalars()) {
    std::mt19937 random(22);
    for (const bool composed : {false, true}) {
      const Situation s = random_frames(which, random);
      const PairTwist u = twist_of(s);
      const PairScalar third = scalar_at(which, s, 3, composed);
      PairMatrix H2 = PairMatrix::Zero(), H3 = H2;
      const PairScalar second = scalar_at(which, s, 2, composed), first = scalar_at(which, s, 1, composed);
      second.add_hessian(1.5, H2);
      third.add_hessian(1.5, H3);
      EXPECT_EQ(H2, H3);
      EXPECT_EQ(second.contracted(u).row(), third.contracted(u).row());
      EXPECT_EQ(second.curvature(u), third.curvature(u));
      EXPECT_EQ(first.gradient().row(), third.gradient().row());
      EXPECT_EQ(first.rate(u), third.rate(u));
      EXPECT_EQ(scalar_at(which, s, 0, composed).value(), third.value());
    }
  }
}

// Frames of which it sees a point may turn anyhow, those of which it sees the z axis about it.
TEST(Scalars, NeedWhatTheySay) {
  std::mt19937 random(23);
  for (const Scalar& which : all_scalars()) {
    for (int frame = 0; frame < 2; ++frame) {
      const Situation s = random_frames(which, random);
      Situation turned = s;
      Mat3& R = turned.frames[static_cast<std::size_t>(frame)].R;
      if (which.needs(frame) == FrameNeed::point) R = rotation_exp(Vec3(0.3, -0.4, 0.5)) * R;
      if (which.needs(frame) == FrameNeed::z_axis) R = R * rotation_exp(Vec3(0, 0, 0.5));
      const PairRow before = scalar_at(which, s, 1, false).gradient().row(),
                    after = scalar_at(which, turned, 1, false).gradient().row();
      EXPECT_LE((before - after).cwiseAbs().maxCoeff(), 1e-14);
      EXPECT_NEAR(scalar_at(which, s, 0, false).value(), scalar_at(which, turned, 0, false).value(), 1e-14);
    }
  }
}

TEST(Scalars, SayWhereTheyHaveNoDerivatives) {
  const FrameState a{Vec3(1, 2, 3), rotation_exp(Vec3(0.3, 0.2, 0.1)).toRotationMatrix(), Vec3::Zero(), Vec3::Zero()};
  FrameState b = a;
  const auto good = [&](const Scalar& which) { return PairScalar(which, a, b, 0).good(); };
  for (const Primitive kind : {Primitive::distance, Primitive::radius, Primitive::polar}) EXPECT_FALSE(good({kind}));
  for (const Primitive kind : {Primitive::angle, Primitive::cardan, Primitive::point, Primitive::dot})
    EXPECT_TRUE(good({kind}));
  b.R = a.R * rotation_exp(Vec3(0, std::acos(0.0), 0));  // b_x along a_z
  EXPECT_FALSE(good({Primitive::angle}));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(good({Primitive::cardan, i}));
  b.p = a.p + Vec3(1e-3, 0, 0);
  EXPECT_TRUE(good({Primitive::distance}));
  EXPECT_TRUE(good({Primitive::radius}));
}

}  // namespace
}  // namespace trammel::conformance::scalars_test
