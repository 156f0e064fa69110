// The saddle-point system: solutions against dense ones, also where constraints are redundant; least-norm multipliers;
// right sides that no motion satisfies; fill; held columns; saved factors.
#include "trammel/equations/saddle.h"
#include "trammel/elements/build.h"

#include <gtest/gtest.h>
#include <klu.h>

#include <Eigen/LU>
#include <Eigen/SVD>
#include <limits>

#include "tests/problems/mechanisms.h"
#include "tests/problems/stepping.h"

namespace trammel::saddle_test {
namespace {

using problems::Build;
using problems::random_vector;

// A mechanism, its matrix at a state, and the blocks in dense form.
struct Sample {
  explicit Sample(Model model, double h = 1e-3) : ready(std::move(model)), saddle(*ready.equations) {
    const Equations& e = *ready.equations;
    nv = e.sizes().nv;
    ng = e.sizes().multipliers();
    Partials p = e.make_partials(Detail::newton);
    e.linearise(ready.state, ready.rates, Detail::newton, p, ready.work);
    std::vector<Mat3> T;
    e.retract_derivative(h * ready.state.v, T);
    saddle.combine(p, {1.1, 0.3 * h * h, 0.3 * h * h, 0.6 * h}, &T);
    K = saddle.pattern().dense(saddle.values());
    for (int i = 0; i < ng; ++i) K(nv + i, nv + i) = 0;
  }
  problems::Ready ready;
  SaddleSystem saddle;
  int nv = 0, ng = 0;
  Mat K;  // without E
};

TEST(Saddle, SolvesTheSystemWithoutE) {
  Sample s(problems::spatial_slider_crank());
  std::mt19937 random(1);
  ASSERT_TRUE(s.saddle.factor());
  for (int i = 0; i < 5; ++i) {
    const Vec b = random_vector(s.nv + s.ng, random), exact = s.K.fullPivLu().solve(b);
    Vec z;
    s.saddle.solve_refined(b, z, 3);
    EXPECT_LT((z - exact).norm(), 1e-9 * exact.norm());
    Vec r(b.size());
    s.saddle.residual(b, z, r);
    EXPECT_LT((r - (b - s.K * z)).norm(), 1e-12);
  }
}

TEST(Saddle, OneSweepDiffersByTheSizeOfE) {
  Sample s(problems::spatial_slider_crank());
  std::mt19937 random(2);
  ASSERT_TRUE(s.saddle.factor());
  const Vec b = random_vector(s.nv + s.ng, random);
  Mat regular = s.K;
  regular.bottomRightCorner(s.ng, s.ng) -= s.saddle.E().asDiagonal();
  Vec z = b;
  s.saddle.solve(z);
  const Vec exact = regular.fullPivLu().solve(b);
  EXPECT_LT((z - exact).norm(), 1e-9 * exact.norm());
}

TEST(Saddle, EIsTheNormOfTheModel) {
  Model model = problems::spatial_slider_crank();
  model.simulation.length = 0.5;
  const Equations e(model);
  const SaddleSystem saddle(e, 1e-7);
  EXPECT_EQ(e.greatest_mass(), 2);
  for (int row = 0; row < e.sizes().multipliers(); ++row) {
    const double expected = e.row_unit(row) == RowUnit::force ? 1e-7 / 2 : 1e-7 / 2 / 0.25;
    EXPECT_NEAR(saddle.E()[row], expected, 1e-20) << e.name_of_row(row);
  }
}

class Redundant : public testing::TestWithParam<int> {
 protected:
  static Model model() {
    switch (GetParam()) {
      case 0: return problems::four_bar(Build::redundant, true);
      case 1: return problems::ladder(2, Build::redundant);
      default: return problems::bricard(Build::redundant);
    }
  }
};

// Any right side whose constraint part can be satisfied: the motion is that of a dense minimum-norm solution, and the
// recovered multipliers are the least ones in the norm of E.
TEST_P(Redundant, SolutionsAreThoseOfTheDensePseudoInverse) {
  Sample s(model());
  std::mt19937 random(3);
  ASSERT_TRUE(s.saddle.factor());
  const Mat Mh = s.K.topLeftCorner(s.nv, s.nv), Gt = s.K.topRightCorner(s.nv, s.ng),
            G = s.K.bottomLeftCorner(s.ng, s.nv);
  Eigen::JacobiSVD<Mat> trial(G, Eigen::ComputeFullV), test(Gt.transpose(), Eigen::ComputeFullV);
  trial.setThreshold(1e-9);
  test.setThreshold(1e-9);
  ASSERT_LT(trial.rank(), s.ng);
  const Mat N = trial.matrixV().rightCols(s.nv - trial.rank()), N_test = test.matrixV().rightCols(s.nv - test.rank());
  for (int i = 0; i < 3; ++i) {
    const Vec wanted = random_vector(s.nv, random);  // b2 = G wanted can be satisfied
    Vec b(s.nv + s.ng);
    b << random_vector(s.nv, random), G * wanted;
    // a = wanted + N y with N_test^T (Mh a - b1) = 0
    const Vec a =
        wanted + N * (N_test.transpose() * Mh * N).fullPivLu().solve(N_test.transpose() * (b.head(s.nv) - Mh * wanted));
    const Vec root = s.saddle.E().cwiseSqrt();
    Eigen::JacobiSVD<Mat> least(Gt * root.cwiseInverse().asDiagonal(), Eigen::ComputeThinU | Eigen::ComputeThinV);
    least.setThreshold(1e-9);
    const Vec lambda = least.solve(b.head(s.nv) - Mh * a).cwiseQuotient(root);
    Vec z;
    s.saddle.solve_refined(b, z);
    EXPECT_LT((z.head(s.nv) - a).norm(), 1e-7 * a.norm());
    // The multipliers of this motion alone: constraint right side zero, as reactions at output times are solved.
    Vec c = Vec::Zero(s.nv + s.ng), l;
    c.head(s.nv) = b.head(s.nv) - Mh * z.head(s.nv);
    s.saddle.solve_refined(c, l);
    EXPECT_LT((l.tail(s.ng) - lambda).norm(), 1e-7 * lambda.norm());
  }
}

// b2 = G y + r with G^T E^-1 r = 0 keeps G y.
TEST_P(Redundant, RightSidesAreProjectedToWhatMotionsCanDo) {
  Sample s(model());
  std::mt19937 random(4);
  ASSERT_TRUE(s.saddle.factor());
  const Mat G = s.K.bottomLeftCorner(s.ng, s.nv);
  const Vec scale = s.saddle.E().cwiseSqrt().cwiseInverse();
  Eigen::JacobiSVD<Mat> svd(scale.asDiagonal() * G, Eigen::ComputeFullU | Eigen::ComputeThinV);
  svd.setThreshold(1e-9);
  const Mat U = svd.matrixU().leftCols(svd.rank());
  const Vec b = random_vector(s.ng, random);
  const Vec expected = (U * (U.transpose() * scale.cwiseProduct(b))).cwiseQuotient(scale);
  Vec given = b;
  s.saddle.project_right_side(given);
  EXPECT_LT((given - expected).norm(), 1e-6 * b.norm());
  EXPECT_GT((given - b).norm(), 1e-3 * b.norm());
}

INSTANTIATE_TEST_SUITE_P(All, Redundant, testing::Values(0, 1, 2), [](const auto& which) {
  return std::string(which.param == 0 ? "four_bar" : which.param == 1 ? "ladder" : "bricard");
});

// ---- fill -----------------------------------------------------------------------------------------------------------

// Entries of L + U for the matrix without E, by KLU with all its defaults.
long plain_fill(const SaddleSystem& saddle) {
  const Pattern& with = saddle.pattern();
  std::vector<Pattern::Entry> entries;
  const int nv = saddle.velocities(), n = saddle.size();
  for (int j = 0; j < n; ++j) {
    for (int p = with.start()[static_cast<std::size_t>(j)]; p < with.start()[static_cast<std::size_t>(j) + 1]; ++p) {
      const int i = with.row()[static_cast<std::size_t>(p)];
      if (i < nv || j < nv) entries.push_back({i, j});
    }
  }
  const Pattern plain(n, n, entries);
  Vec values(plain.size());
  for (int j = 0; j < n; ++j) {
    for (int p = plain.start()[static_cast<std::size_t>(j)]; p < plain.start()[static_cast<std::size_t>(j) + 1]; ++p) {
      values[p] = saddle.values()[with.slot(plain.row()[static_cast<std::size_t>(p)], j)];
    }
  }
  klu_common common;
  klu_defaults(&common);
  auto start = plain.start(), row = plain.row();
  klu_symbolic* symbolic = klu_analyze(n, start.data(), row.data(), &common);
  klu_numeric* numeric = klu_factor(start.data(), row.data(), values.data(), symbolic, &common);
  EXPECT_EQ(common.status, KLU_OK);
  const long fill = numeric->lnz + numeric->unz + numeric->nzoff;
  klu_free_numeric(&numeric, &common);
  klu_free_symbolic(&symbolic, &common);
  return fill;
}

// A tree whose bodies carry two others each, joints of all kinds.
Model branching(int bodies) {
  Model m;
  m.gravity = Vec3(0, 0, -9.81);
  const char* const kinds[] = {"revolute", "spherical", "universal", "translational", "cylindrical"};
  std::vector<Vec3> tip;
  for (int i = 0; i < bodies; ++i) {
    const int parent = i == 0 ? ground : (i - 1) / 2;
    const Vec3 from = i == 0 ? Vec3(0, 0, 0) : tip[static_cast<std::size_t>(parent)];
    const Vec3 to = from + Vec3(0.3, i % 2 == 0 ? 0.2 : -0.2, 0.1 * (i % 3));
    tip.push_back(to);
    m.add_body(problems::rod("body", from, to, 1 + 0.1 * (i % 4), Vec3::UnitZ()));
    const char* kind = kinds[i % 5];
    if (std::string(kind) == "universal") {
      add_joint(m, kind, "joint",
                {m.add_frame_at(parent, from, Vec3(0, 1, 0)), m.add_frame_at(i, from, Vec3(0, 0, 1))});
    } else {
      add_joint(m, kind, "joint", parent, i, from, Vec3(0.2, 1, 0.3));
    }
  }
  return m;
}

void expect_lean(Model model, const char* name) {
  Sample s(std::move(model));
  ASSERT_TRUE(s.saddle.factor());
  const long plain = plain_fill(s.saddle), ours = s.saddle.solver().fill();
  EXPECT_LE(ours, plain) << name;
}

TEST(Fill, OfATreeIsNotAboveThatWithoutE) {
  expect_lean(problems::chain(10), "chain of 10");
  expect_lean(problems::chain(300), "chain of 300");
  expect_lean(branching(127), "branching tree");
}

// The block -E must not be traded for pivots elsewhere, whatever the masses.
TEST(Fill, DoesNotDependOnTheMasses) {
  long fill = 0;
  for (const double mass : {1.0, 1e6, 1e-6}) {
    Model model = problems::ladder(10, Build::redundant);
    for (Body& body : model.bodies) {
      body.mass *= mass;
      body.inertia *= mass;
    }
    Sample s(std::move(model));
    ASSERT_TRUE(s.saddle.factor());
    if (fill == 0) fill = s.saddle.solver().fill();
    EXPECT_LE(s.saddle.solver().fill(), fill + fill / 50) << mass;
  }
}

// Nor on the unit of length: links of micrometres or of kilometres, of any mass.
TEST(Fill, DoesNotDependOnTheUnits) {
  long fill = 0;
  for (const double size : {1.0, 1e-6, 1e-3, 1e3, 1e6}) {
    for (const double mass : {1.0, 1e-6, 1e6}) {
      Model model = problems::chain(150);
      for (Body& body : model.bodies) {
        body.mass *= mass;
        body.inertia *= mass * size * size;
        body.pose.position *= size;
        body.center_of_mass *= size;
      }
      for (Frame& frame : model.frames) frame.local.position *= size;
      const Equations e(std::move(model));
      SaddleSystem saddle(e);
      Workspace work = e.make_workspace();
      Partials p = e.make_partials(Detail::projection);
      e.jacobian(e.initial_state(), p, work);
      e.mass(e.initial_state().q, p);
      saddle.combine_mass(p);
      ASSERT_TRUE(saddle.factor());
      if (fill == 0) fill = saddle.solver().fill();
      EXPECT_EQ(saddle.solver().fill(), fill) << size << " m, " << mass << " kg";
    }
  }
}

// A sweep contracts slowly in a long chain: two leave 1e-6 of the accelerations of 300 links.
TEST(Saddle, SweepsUntilLongChainsAreExact) {
  for (const int links : {3, 30, 100, 300, 1000}) {
    const problems::Ready ready(problems::chain(links));
    const Equations& e = *ready.equations;
    SaddleSystem saddle(e);
    Workspace work = e.make_workspace();
    Partials p = e.make_partials(Detail::projection);
    e.jacobian(ready.state, p, work);
    e.mass(ready.state.q, p);
    saddle.combine_mass(p);
    ASSERT_TRUE(saddle.factor());
    const int nv = e.sizes().nv;
    // the right side of the true accelerations and multipliers
    Vec truth(saddle.size()), b(saddle.size()), z;
    truth << ready.rates.a, ready.rates.lambda;
    saddle.residual(Vec::Zero(saddle.size()), truth, b);
    b = -b;
    const int sweeps = saddle.solve_refined(b, z);
    EXPECT_LT((z - truth).head(nv).lpNorm<Eigen::Infinity>(), 1e-10 * truth.head(nv).lpNorm<Eigen::Infinity>())
        << links;
    RecordProperty(std::to_string(links) + " links", sweeps);
    EXPECT_LE(sweeps, links < 10 ? 2 : 8);
    EXPECT_EQ(saddle.unrefined(), 0);
  }
}

// ---- factors --------------------------------------------------------------------------------------------------------

TEST(Saddle, RefactorsAfterTheFirstTime) {
  Sample s(problems::four_bar(Build::redundant));
  ASSERT_TRUE(s.saddle.factor());
  ASSERT_TRUE(s.saddle.factor());
  ASSERT_TRUE(s.saddle.factor());
  EXPECT_EQ(s.saddle.solver().factors(), 1);
  EXPECT_EQ(s.saddle.solver().refactors(), 2);
}

TEST(Saddle, SavedFactorsGiveTheSameBits) {
  Sample s(problems::four_bar(Build::redundant));
  ASSERT_TRUE(s.saddle.factor());
  std::mt19937 random(5);
  const Vec b = random_vector(s.nv + s.ng, random);
  for (int round = 0; round < 2; ++round) {  // after a factorisation, then after a refactorisation at other values
    Bytes saved;
    write_state(s.saddle, saved);
    SaddleSystem other(*s.ready.equations);
    std::span<const std::byte> in(saved);
    read_state(other, in);
    EXPECT_TRUE(in.empty());
    Vec x = b, y = b;
    s.saddle.solve(x);
    other.solve(y);
    for (int i = 0; i < x.size(); ++i) ASSERT_EQ(x[i], y[i]);
    const Equations& e = *s.ready.equations;
    Partials p = e.make_partials(Detail::newton);
    const problems::End end = problems::run_fixed(s.ready, problems::fixed(AlphaParameters::hht(-0.3)), 1e-3, 50);
    e.linearise(end.state, end.rates, Detail::newton, p, s.ready.work);
    s.saddle.combine(p, {}, nullptr);
    ASSERT_TRUE(s.saddle.factor());
  }
}

TEST(Saddle, SaysWhenADirectionHasNoMassAndNothingHoldsIt) {
  Model model;
  Body body;
  body.name = "loose";
  body.mass = 1;  // no inertia, and only its middle is held
  model.add_body(body);
  add_joint(model, "spherical", "ball", ground, 0, Vec3::Zero());
  const Equations e(model);
  SaddleSystem saddle(e);
  Workspace work = e.make_workspace();
  Partials p = e.make_partials(Detail::newton);
  State state = e.initial_state();
  e.linearise(state, e.make_rates(), Detail::newton, p, work);
  saddle.combine(p, {}, nullptr);
  EXPECT_FALSE(saddle.factor());
}

TEST(Saddle, WorksWithoutConstraintsAndWithoutBodies) {
  Model model;
  Body body;
  body.name = "free";
  body.mass = 2;
  body.inertia = Vec3(1, 2, 3).asDiagonal();
  const Equations nothing(model);
  SaddleSystem empty(nothing);
  EXPECT_TRUE(empty.factor());
  model.add_body(body);
  const Equations e(model);
  SaddleSystem saddle(e);
  Workspace work = e.make_workspace();
  Partials p = e.make_partials(Detail::newton);
  e.linearise(e.initial_state(), e.make_rates(), Detail::newton, p, work);
  saddle.combine(p, {}, nullptr);
  ASSERT_TRUE(saddle.factor());
  Vec z;
  saddle.solve_refined(Vec::Ones(6), z);
  EXPECT_LT((z - (Vec(6) << 0.5, 0.5, 0.5, 1, 0.5, 1.0 / 3).finished()).norm(), 1e-14);
}

// A projection leaves held columns where they are and moves the others least in the given weights.
TEST(Saddle, ProjectionsHoldWhatIsHeld) {
  const problems::Ready ready(problems::spatial_slider_crank());
  const Equations& e = *ready.equations;
  const int nv = e.sizes().nv, ng = e.sizes().multipliers();
  Workspace work = e.make_workspace();
  Partials p = e.make_partials(Detail::newton);
  e.jacobian(ready.state, p, work);
  Vec weights = Vec::Constant(nv, 2.0);
  for (int i = 3; i < 6; ++i) weights[i] = 0.1;
  for (const int i : {12, 13, 14}) weights[i] = std::numeric_limits<double>::infinity();  // the slider stays
  SaddleSystem saddle(e);
  saddle.combine_projection(weights, p.G, Level::velocity);
  ASSERT_TRUE(saddle.factor());
  // the change that turns the crank by 0.1 rad/s as far as a held slider permits: none, so the right side is projected
  Mat G = e.gv().dense(p.G);
  for (const int i : {12, 13, 14}) G.col(i).setZero();
  std::mt19937 random(6);
  Vec b = Vec::Zero(nv + ng);
  b.tail(ng) = G * random_vector(nv, random);
  Vec z;
  saddle.solve_refined(b, z, 3);
  for (const int i : {12, 13, 14}) EXPECT_NEAR(z[i], 0, 1e-12);
  EXPECT_LT((G * z.head(nv) - b.tail(ng)).norm(), 1e-8);
  // least change: weights x z is a combination of rows of G
  Vec wz = weights.cwiseProduct(z.head(nv));
  for (const int i : {12, 13, 14}) wz[i] = 0;
  Eigen::JacobiSVD<Mat> svd(G, Eigen::ComputeFullV);
  svd.setThreshold(1e-9);
  EXPECT_LT((svd.matrixV().rightCols(nv - svd.rank()).transpose() * wz).norm(), 1e-7 * wz.norm());
}

}  // namespace
}  // namespace trammel::saddle_test
