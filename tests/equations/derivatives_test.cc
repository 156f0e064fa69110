// The assembled matrices against differences, at random states with large rotations and with random multipliers and
// accelerations: every model file, and mechanisms with every element between all kinds of bodies. Matrices are compared
// densely, so an entry that the pattern lacks shows as well as a wrong one.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/problems/mechanisms.h"
#include "tests/problems/modal_bodies.h"
#include "tests/problems/stepping.h"
#include "trammel/elements/build.h"
#include "trammel/elements/registry.h"
#include "trammel/read/read_model.h"

namespace trammel::derivatives_test {
namespace {

using problems::derivative;
using problems::random_vector;

constexpr double tolerance = 1e-7;  // relative to the largest entry of the row; the differences reach about 1e-10

// Rows are compared by their own size: forces of 1e6 N must not hide a wrong torque. `noise` is the size of the numbers
// that were differenced.
void expect_same(const Equations& e, const char* what, const Mat& given, const Mat& expected,
                 const std::vector<int>& columns, double noise, bool constraint_rows) {
  const Vec scales = e.scales()(columns);
  ASSERT_EQ(given.rows(), expected.rows());
  ASSERT_EQ(given.cols(), expected.cols());
  for (Eigen::Index i = 0; i < given.rows(); ++i) {
    const Vec a = given.row(i).transpose().cwiseProduct(scales), b = expected.row(i).transpose().cwiseProduct(scales);
    if (a.size() == 0) continue;
    Eigen::Index at = 0;
    const double error = (a - b).cwiseAbs().maxCoeff(&at),
                 allowed = tolerance * b.cwiseAbs().maxCoeff() + 1e-11 * noise;
    if (error <= allowed) continue;
    const auto row = static_cast<int>(i);
    ADD_FAILURE() << what << ", " << (constraint_rows ? e.name_of_row(row) : e.name_of_velocity(row)) << " by "
                  << e.name_of_velocity(columns[static_cast<std::size_t>(at)]) << ": " << a[at] << " instead of "
                  << b[at] << ", allowed " << allowed;
    return;  // one report for each matrix
  }
}

void expect_same(const char* what, const Vec& given, const Vec& expected, double noise) {
  if (given.size() == 0) return;
  Eigen::Index at = 0;
  const double error = (given - expected).cwiseAbs().maxCoeff(&at);
  EXPECT_LE(error, tolerance * expected.cwiseAbs().maxCoeff() + 1e-11 * noise)
      << what << ", entry " << at << ": " << given[at] << " instead of " << expected[at];
}

// Evaluations at a state moved from the given one.
class Probe {
 public:
  Probe(const Equations& e, State state, Rates rates)
      : e_(e),
        state_(std::move(state)),
        rates_(std::move(rates)),
        work_(e.make_workspace()),
        residual_(e.make_residual()),
        partials_(e.make_partials(Detail::all)) {}

  State moved(const Vec& delta, double dt = 0) const {
    State s = state_;
    e_.retract(state_.q, delta, s.q);
    s.t += dt;
    return s;
  }
  State sped_up(const Vec& dv) const {
    State s = state_;
    s.v += dv;
    return s;
  }
  // M a, G^T lambda - Q, g, G v, G a and gamma, one below the other
  Vec all(const State& s) {
    EXPECT_EQ(e_.residual(s, rates_, everything, residual_, work_), Eval::ok);
    EXPECT_EQ(e_.linearise(s, rates_, Detail::all, partials_, work_), Eval::ok);
    const int nv = e_.sizes().nv, ng = e_.sizes().multipliers();
    Vec out = Vec::Zero(2 * nv + 4 * ng);
    out.head(nv) = residual_.inertia;
    out.segment(nv, nv) = residual_.force;
    out.segment(2 * nv, ng) = residual_.g;
    e_.gv().multiply_add(partials_.G, 1, state_.v.data(), out.data() + 2 * nv + ng);
    e_.gv().multiply_add(partials_.G, 1, rates_.a.data(), out.data() + 2 * nv + 2 * ng);
    out.tail(ng) = partials_.gamma;
    return out;
  }
  Vec velocity_residual(const State& s) {
    Vec gdot(e_.sizes().multipliers());
    e_.velocity_residual(s, gdot, work_);
    return gdot;
  }

 private:
  const Equations& e_;
  State state_;
  Rates rates_;
  Workspace work_;
  Residual residual_;
  Partials partials_;
};

// The columns that are compared: all of a small mechanism, a sample of a large one.
std::vector<int> some_of(int count) {
  std::vector<int> out;
  const int stride = 1 + count / 90;
  for (int j = 0; j < count; j += stride) out.push_back(j);
  return out;
}

void check_derivatives(const Equations& e, const State& state, const Rates& rates) {
  const int nv = e.sizes().nv, ng = e.sizes().multipliers();
  const std::vector<int> columns = some_of(nv);
  Workspace work = e.make_workspace();
  Partials p = e.make_partials(Detail::all);
  ASSERT_EQ(e.linearise(state, rates, Detail::all, p, work), Eval::ok);
  Probe probe(e, state, rates);
  const Vec scales = e.scales(), at = probe.all(state);
  const double force_noise = at.head(2 * nv).lpNorm<Eigen::Infinity>() + 1,
               g_noise = at.tail(4 * ng).lpNorm<Eigen::Infinity>() + 1;

  Mat by_q(at.size(), columns.size()), by_v(at.size(), columns.size());
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const int j = columns[k];
    const Vec unit = scales[j] * Vec::Unit(nv, j);
    by_q.col(static_cast<Eigen::Index>(k)) =
        derivative([&](double s) { return probe.all(probe.moved(s * unit)); }) / scales[j];
    by_v.col(static_cast<Eigen::Index>(k)) =
        derivative([&](double s) { return probe.all(probe.sped_up(s * unit)); }) / scales[j];
  }
  const Vec by_t = derivative([&](double s) { return probe.all(probe.moved(Vec::Zero(nv), s)); });

  const auto vv = [&](const char* what, const Vec& values, const Mat& expected) {
    expect_same(e, what, e.vv().dense(values)(Eigen::all, columns), expected, columns, force_noise, false);
  };
  const auto gv = [&](const char* what, const Vec& values, const Mat& expected) {
    expect_same(e, what, e.gv().dense(values)(Eigen::all, columns), expected, columns, g_noise, true);
  };
  vv("Ma_q", p.Ma_q, by_q.topRows(nv));
  vv("force_q", p.force_q, by_q.middleRows(nv, nv));
  vv("force_v", p.force_v, by_v.middleRows(nv, nv));
  // Rows at velocity level: G is dk/dv, Gv_q and K_q are dk/dq, g_t is k - G v.
  Mat expected_G = by_q.middleRows(2 * nv, ng), expected_Gv_q = by_q.middleRows(2 * nv + ng, ng),
      expected_K_q = Mat::Zero(ng, static_cast<Eigen::Index>(columns.size()));
  Vec expected_g_t = by_t.segment(2 * nv, ng);
  for (const int row : e.velocity_rows()) {
    expected_G.row(row) = by_v.row(2 * nv + row);
    expected_Gv_q.row(row) = expected_K_q.row(row) = by_q.row(2 * nv + row);
    expected_g_t[row] = at[2 * nv + row] - at[2 * nv + ng + row];
  }
  gv("G", p.G, expected_G);
  gv("Gv_q", p.Gv_q, expected_Gv_q);
  if (!e.velocity_rows().empty()) gv("K_q", p.K_q, expected_K_q);
  gv("Ga_q", p.Ga_q, by_q.middleRows(2 * nv + 2 * ng, ng));
  gv("gamma_q", p.gamma_q, by_q.bottomRows(ng));
  gv("gamma_v", p.gamma_v, by_v.bottomRows(ng));
  expect_same("force_t", p.force_t, by_t.segment(nv, nv), force_noise);
  expect_same("g_t", p.g_t, expected_g_t, g_noise);
  expect_same("Ga_t", p.Ga_t, by_t.segment(2 * nv + 2 * ng, ng), g_noise);
  expect_same("gamma_t", p.gamma_t, by_t.tail(ng), g_noise);

  // M, from M a; and the product on its own
  Mat M(nv, columns.size());
  Residual residual = e.make_residual();
  Vec product(nv);
  for (std::size_t k = 0; k < columns.size(); ++k) {
    Rates unit = rates;
    unit.a = Vec::Unit(nv, columns[k]);
    e.residual(state, unit, inertia, residual, work);
    e.multiply_mass(state.q, unit.a, product);
    M.col(static_cast<Eigen::Index>(k)) = residual.inertia;
    EXPECT_EQ(product, residual.inertia);
  }
  vv("M", p.M, M);

  // G v + g_t, and g'' = G a - gamma along the motion itself: q moves with v, v stays (a = 0)
  Vec Gv = p.g_t;
  e.gv().multiply_add(p.G, 1, state.v.data(), Gv.data());
  expect_same("G v + g_t", Gv, probe.velocity_residual(state), g_noise);
  Vec along = derivative([&](double s) { return Vec(probe.all(probe.moved(s * state.v, s)).segment(2 * nv, ng)); });
  for (const int row : e.velocity_rows()) along[row] = at[2 * nv + row];  // k itself
  expect_same("G v + g_t", Gv, along, g_noise);
  const Vec bias = derivative([&](double s) { return probe.velocity_residual(probe.moved(s * state.v, s)); });
  expect_same("gamma", p.gamma, -bias, g_noise);
  Vec gamma(ng);
  Partials cheap = e.make_partials(Detail::projection);
  e.jacobian_and_gamma(state, cheap, gamma, work);
  expect_same("gamma", gamma, p.gamma, 1e-2);
}

// The cheap evaluations give what the complete one gives.
void check_details(const Equations& e, const State& state, const Rates& rates) {
  Workspace work = e.make_workspace();
  Partials all = e.make_partials(Detail::all), newton = e.make_partials(Detail::newton),
           parts = e.make_partials(Detail::newton);
  e.linearise(state, rates, Detail::all, all, work);
  e.linearise(state, rates, Detail::newton, newton, work);
  e.jacobian(state, parts, work);
  e.mass(state.q, parts);
  const auto same = [](const Vec& a, const Vec& b) {
    return a.size() == b.size() &&
           (a.size() == 0 || (a - b).lpNorm<Eigen::Infinity>() <= 1e-13 * (1 + a.lpNorm<Eigen::Infinity>()));
  };
  EXPECT_TRUE(same(all.M, newton.M));
  EXPECT_TRUE(same(all.Ma_q, newton.Ma_q));
  EXPECT_TRUE(same(all.force_q, newton.force_q));
  EXPECT_TRUE(same(all.force_v, newton.force_v));
  EXPECT_TRUE(same(all.G, newton.G));
  EXPECT_TRUE(same(all.K_q, newton.K_q));
  EXPECT_TRUE(same(all.G, parts.G));
  EXPECT_TRUE(same(all.M, parts.M));
  // Parts of the residual add up to the whole.
  Residual whole = e.make_residual(), part = e.make_residual();
  e.residual(state, rates, everything, whole, work);
  Vec force = Vec::Zero(e.sizes().nv);
  for (const unsigned which : {unsigned{inertia}, unsigned{joints}, unsigned{Part::forces}}) {
    e.residual(state, rates, which, part, work);
    force += part.force;
  }
  EXPECT_TRUE(same(whole.force, force));
}

// True if the surfaces of a contact are about to part or to meet: its force is not smooth there.
bool contact_begins(const Equations& e, const State& state, Workspace& work) {
  Vec values(e.switch_count());
  e.switch_values(state, values, work);
  for (int i = 0; i < e.switch_count(); ++i)
    if (e.switch_info(i).name.starts_with("contact") && std::abs(values[i]) < 0.1) return true;
  return false;
}

// The matrix for any blend of weights is the derivative of the residual that a method with these weights solves:
//   r(x, lambda) = M a + (G^T lambda - Q),  s(x) = g / w_q or k / w_v,   q = retract(q_0, delta + w_q x), v = v_0 + w_v
//   x, a = a_0
//   + w_M x
void check_blends(const Equations& e, const State& state, const Rates& rates, std::mt19937& random) {
  const int nv = e.sizes().nv, ng = e.sizes().multipliers();
  const Vec scales = e.scales();
  SaddleSystem saddle(e);
  Workspace work = e.make_workspace();
  Partials p = e.make_partials(Detail::newton);
  Residual residual = e.make_residual();
  std::vector<Mat3> T;
  std::uniform_real_distribution<double> uniform(0.1, 2);
  for (int i = 0; i < (nv > 100 ? 1 : 3); ++i) {
    const double wM = uniform(random), wq = uniform(random), wv = uniform(random);
    const Vec delta = scales.cwiseProduct(random_vector(nv, random));  // a step that turns bodies by a radian
    const auto at = [&](const Vec& x) {
      State s = state;
      e.retract(state.q, delta + wq * x, s.q);
      s.v += wv * x;
      return s;
    };
    State moved = at(Vec::Zero(nv));
    e.start(moved, work);
    if (e.residual(moved, rates, everything, residual, work) != Eval::ok || contact_begins(e, moved, work)) continue;
    const auto value = [&](const Vec& x, const Vec& lambda) {
      State s = at(x);
      s.memory = moved.memory;
      Rates r = rates;
      r.a += wM * x;
      r.lambda = lambda;
      EXPECT_EQ(e.residual(s, r, everything, residual, work), Eval::ok);
      Vec out(nv + ng);
      out << residual.inertia + residual.force, residual.g / wq;
      for (const int row : e.velocity_rows()) out[nv + row] = residual.g[row] / wv;
      return out;
    };
    e.linearise(moved, rates, Detail::newton, p, work);
    e.retract_derivative(delta, T);
    saddle.combine(p, {wM, wq, wq, wv, wq / wv}, &T);
    Mat K = saddle.pattern().dense(saddle.values());
    for (int k = 0; k < ng; ++k) {
      const double s = saddle.scale()[nv + k];
      const bool in_force = !e.has_modes() || !K.col(nv + k).head(nv).isZero(0);
      EXPECT_EQ(K(nv + k, nv + k), in_force ? -saddle.E()[k] : -1 / (s * s));
      K(nv + k, nv + k) = 0;
    }
    // columns of x, then of lambda, which it is linear in unless forces see reactions
    std::vector<int> columns = some_of(nv);
    const std::size_t of_x = columns.size();
    for (const int k : some_of(ng)) columns.push_back(nv + k);
    const Vec zero = Vec::Zero(nv), r = value(zero, rates.lambda);
    Mat expected(nv + ng, columns.size());
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const auto at_column = static_cast<Eigen::Index>(c);
      if (c < of_x) {
        const Vec unit = scales[columns[c]] * Vec::Unit(nv, columns[c]);
        expected.col(at_column) = derivative([&](double s) { return value(s * unit, rates.lambda); });
        K.col(columns[c]) *= scales[columns[c]];
      } else {
        const Vec unit = Vec::Unit(ng, columns[c] - nv);
        expected.col(at_column) = e.sees_rates()
                                      ? derivative([&](double s) { return value(zero, Vec(rates.lambda + s * unit)); })
                                      : Vec(value(zero, Vec(rates.lambda + unit)) - r);
      }
    }
    const Mat given = K(Eigen::all, columns);
    for (Eigen::Index row = 0; row < K.rows(); ++row) {
      const double noise = 1e-11 * (1 + (row < nv ? r.head(nv) : r.tail(ng)).lpNorm<Eigen::Infinity>());
      Eigen::Index worst = 0;
      EXPECT_LE((given.row(row) - expected.row(row)).cwiseAbs().maxCoeff(&worst),
                tolerance * expected.row(row).cwiseAbs().maxCoeff() + noise)
          << "row " << row << ", column " << columns[static_cast<std::size_t>(worst)];
    }
    // Without T the same matrix as for a step of length zero.
    saddle.combine(p, {wM, wq, wq, wv, wq / wv}, nullptr);
    const Vec plain = saddle.values();
    e.retract_derivative(Vec::Zero(nv), T);
    saddle.combine(p, {wM, wq, wq, wv, wq / wv}, &T);
    EXPECT_LE((plain - saddle.values()).lpNorm<Eigen::Infinity>(), 1e-14 * (1 + plain.lpNorm<Eigen::Infinity>()));
  }
}

// Checks at up to `wanted` of `tries` random states, those at which all elements can be evaluated; how many there were.
int check_model(Model model, unsigned seed, int wanted, int tries) {
  const Equations e(std::move(model));
  std::mt19937 random(seed);
  Workspace work = e.make_workspace();
  Residual residual = e.make_residual();
  int used = 0;
  for (int i = 0; i < tries && used < wanted; ++i) {
    State state = problems::random_state(e, random);
    // Elements with modes slide, and every other time they hold.
    const double rest = used % 2 == 1 ? 1e300 : 0;
    for (const int force : e.forces_with_modes()) e.begin_mode(force, state, {rest, rest}, work);
    Rates rates = e.make_rates();
    rates.a = e.scales().cwiseProduct(random_vector(e.sizes().nv, random));
    rates.lambda = random_vector(e.sizes().multipliers(), random);
    if (e.residual(state, rates, everything, residual, work) != Eval::ok || !residual.force.allFinite()) continue;
    if (contact_begins(e, state, work)) continue;
    ++used;
    check_derivatives(e, state, rates);
    check_details(e, state, rates);
    check_blends(e, state, rates, random);
    if (testing::Test::HasFailure()) break;
  }
  return used;
}
void check_model(Model model, unsigned seed, int wanted) {
  EXPECT_EQ(check_model(std::move(model), seed, wanted, 5 * wanted), wanted)
      << "too few states at which all elements can be evaluated";
}

// ---- model files ----------------------------------------------------------------------------------------------------

std::vector<std::string> model_files() {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(TRAMMEL_SOURCE_DIR) + "/models")) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".yaml" || extension == ".yml" || extension == ".json")
      out.push_back(entry.path().filename().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

class ModelFiles : public testing::TestWithParam<std::string> {};

TEST_P(ModelFiles, HaveExactDerivatives) {
  Model model = read_model(std::string(TRAMMEL_SOURCE_DIR) + "/models/" + GetParam());
  // Steps of differences are larger than what these contacts are deep; deep_contacts() has them at their scale.
  if (std::any_of(model.forces.begin(), model.forces.end(),
                  [](const Item& f) { return f.type.starts_with("ball_in_") || f.type == "contact"; }))
    GTEST_SKIP() << "contacts";
  const bool large = model.bodies.size() > 10;
  check_model(std::move(model), 5, large ? 1 : 3);
}

// Every contact of it touches, which those of files rarely do at random states.
TEST(DeepContacts, HaveExactDerivativesBetweenAllKindsOfBodies) {
  const Equations e(problems::deep_contacts());
  Workspace work = e.make_workspace();
  const State state = e.initial_state();
  e.update(state, work);
  for (int i = 0; i < e.force_count(); ++i)
    EXPECT_GT(e.overlap(i, state, work).depth, 0.2) << e.model().forces[static_cast<std::size_t>(i)].name;
  check_model(problems::deep_contacts(), 5, 3);
}

INSTANTIATE_TEST_SUITE_P(All, ModelFiles, testing::ValuesIn(model_files()), [](const auto& file) {
  std::string name = file.param.substr(0, file.param.find('.'));
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
});

// ---- mechanisms built here ------------------------------------------------------------------------------------------

class EveryElement : public testing::TestWithParam<std::string> {};

// Bushings cannot be turned by half a turn: some of the random mechanisms have one that is.
TEST_P(EveryElement, BetweenAllKindsOfBodies) {
  int used = 0;
  for (unsigned seed = 1; seed <= 60 && used < 3; ++seed) {
    used += check_model(problems::every_element(seed, GetParam()), seed, 1, 3);
    if (HasFailure()) return;
  }
  EXPECT_EQ(used, 3);
}

// One of the bodies bends, as far as its nodes turn by a radian.
TEST_P(EveryElement, OnABodyThatBends) {
  int used = 0;
  for (unsigned seed = 1; seed <= 60 && used < 2; ++seed) {
    Model model = problems::every_element(seed, GetParam());
    problems::make_modal(model, 1, 4, seed);
    used += check_model(std::move(model), seed, 1, 3);
    if (HasFailure()) return;
  }
  EXPECT_EQ(used, 2);
}

std::vector<std::string> element_keys() {
  std::vector<std::string> keys;
  for (const ElementDescription& d : element_registry()) keys.push_back(d.key);
  return keys;
}
INSTANTIATE_TEST_SUITE_P(All, EveryElement, testing::ValuesIn(element_keys()),
                         [](const auto& key) { return key.param; });

// A joint and a spring between two bodies that bend: their own columns on both sides.
TEST(Derivatives, TwoBodiesThatBendOnOneJoint) {
  for (const unsigned seed : {1u, 2u}) {
    Model model = problems::chain(2);
    Fields spring;
    spring.set("stiffness", Vec3(3, 4, 5));
    spring.set("damping", Vec3(0.3, 0.2, 0.1));
    const int a = model.add_frame(0, {Vec3(0.1, 0.2, 0.3), Quat::Identity()}),
              b = model.add_frame(1, {Vec3(-0.2, 0.1, 0), Quat::Identity()});
    add_force(model, "bushing", "between", {a, b}, spring);
    problems::make_modal(model, 0, 3, seed);
    problems::make_modal(model, 1, 5, seed + 10);
    check_model(std::move(model), seed, 3);
  }
}

TEST(Derivatives, SliderCrankWithForces) { check_model(problems::slider_crank_with_forces(), 3, 3); }
TEST(Derivatives, PlanarFourBar) { check_model(problems::four_bar(problems::Build::planar), 4, 3); }
TEST(Derivatives, PointBody) { check_model(problems::spherical_pendulum(), 4, 3); }

// Near states on the constraints too, where some terms vanish that random states show, and others stand out.
TEST(Derivatives, OnTheConstraints) {
  problems::Ready ready(problems::slider_crank_with_forces());
  const problems::End end = problems::run_fixed(ready, problems::fixed(AlphaParameters::hht(-0.3)), 1e-3, 100);
  check_derivatives(*ready.equations, end.state, end.rates);
}

// A missing entry is found: a mechanism whose pattern is poorer than its derivatives must fail. The comparison is
// dense, so it is enough that a matrix with one entry removed no longer agrees.
TEST(Derivatives, DenseComparisonFindsAMissingEntry) {
  const Equations e(problems::spatial_slider_crank());
  std::mt19937 random(8);
  const State state = problems::random_state(e, random);
  Workspace work = e.make_workspace();
  Partials p = e.make_partials(Detail::newton);
  e.jacobian(state, p, work);
  const Mat G = e.gv().dense(p.G);
  Residual residual = e.make_residual();
  const Vec column = derivative([&](double s) {
    State moved = state;
    e.retract(state.q, s * Vec::Unit(e.sizes().nv, 4), moved.q);
    e.residual(moved, e.make_rates(), joints, residual, work);
    return residual.g;
  });
  EXPECT_LT((G.col(4) - column).lpNorm<Eigen::Infinity>(), 1e-9);
  int structural = 0;
  for (Eigen::Index i = 0; i < column.size(); ++i) {
    if (std::abs(column[i]) > 1e-9) {
      ++structural;
      EXPECT_GE(e.gv().slot(static_cast<int>(i), 4), 0);
    }
  }
  EXPECT_GT(structural, 3);
}

}  // namespace
}  // namespace trammel::derivatives_test
