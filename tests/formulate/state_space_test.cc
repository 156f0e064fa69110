// The state-space form: its derivatives against differences on every model file, at states far from the drawn one and
// at points far from the chart's origin.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "tests/problems/mechanisms.h"
#include "tests/problems/stepping.h"
#include "trammel/formulate/state_space.h"
#include "trammel/math/rotation.h"
#include "trammel/read/read_model.h"
#include "trammel/run/load_model.h"
#include "trammel/run/simulation.h"

namespace trammel::state_space_test {
namespace {

using problems::derivative;
using problems::random_vector;
using problems::Ready;

TEST(Chart, AccelerationDerivativesMatchDifferences) {
  std::mt19937 random(1);
  for (const double size : {0.0, 0.01, 0.3, 0.9}) {
    const Vec3 theta = size * random_vector(3, random).normalized(), rate = 3 * random_vector(3, random),
               second = random_vector(3, random);
    const auto w_dot = [&](const Vec3& th, const Vec3& u) -> Vec {
      return rotation_tangent(th) * second + rotation_tangent_derivative(th, u) * u;
    };
    const RotationAcceleration exact = rotation_acceleration(theta, rate, second);
    for (int i = 0; i < 3; ++i) {
      const Vec3 e = Vec3::Unit(i);
      EXPECT_LT((derivative([&](double s) { return w_dot(theta + s * e, rate); }) - exact.by_theta.col(i)).norm(),
                1e-8);
      EXPECT_LT((derivative([&](double s) { return w_dot(theta, rate + s * e); }) - exact.by_rate.col(i)).norm(), 1e-8);
    }
  }
}

std::vector<std::string> model_files() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(TRAMMEL_SOURCE_DIR) + "/models"))
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

// Points of a problem around the state, a part of a radian away.
Vec moved(StateSpace& space, const Equations& equations, const State& state, const Rates& rates, double by,
          std::mt19937& random) {
  Vec y, dydt;
  space.project(state, rates, y, dydt);
  const Vec delta = random_vector(y.size(), random), scales = equations.scales();
  Eigen::Index k = 0;
  for (const int i : space.positions()) y[k] += by * scales[i] * delta[k], ++k;
  // stiff dampers turn speeds of this size into accelerations that no chart can follow
  const double speed = equations.model().bodies.size() > 10 && equations.force_count() > 0 ? 1e-3 : 1;
  for (const int i : space.velocities()) y[k] += speed * scales[i] * delta[k], ++k;
  return y;
}

// A unit of a component, but at most what moves the mechanism by its own length or a radian: modal coordinates are in
// m sqrt(kg).
Vec units(const StateSpace& space, const Equations& equations) {
  Vec out = Vec::Ones(space.size());
  Eigen::Index k = 0;
  for (const int i : space.positions()) out[k++] = std::min(1.0, equations.scales()[i]);
  for (const int i : space.velocities()) out[k++] = std::min(1.0, equations.scales()[i]);
  return out;
}

void expect_exact_derivatives(StateSpace& space, const Equations& equations, double t, const Vec& y,
                              double limit = 1e-6, double step = 4e-3) {
  const Vec unit = units(space, equations);
  Vec f, f_t;
  Jacobian J;
  ASSERT_EQ(space.jacobian(t, y, J, f_t), Eval::ok);
  const double size = std::max(1.0, J.dense.cwiseAbs().maxCoeff());
  const auto at = [&](double time, const Vec& point) {
    Vec out;
    EXPECT_EQ(space.f(time, point, out), Eval::ok);
    return out;
  };
  for (int k = 0; k < space.size(); ++k) {
    const Vec e = unit[k] * Vec::Unit(space.size(), k);
    const Vec differences = derivative([&](double s) { return at(t, y + s * e); }, step) / unit[k];
    EXPECT_LT((differences - J.dense.col(k)).lpNorm<Eigen::Infinity>(), limit * size) << "column " << k;
  }
  const Vec by_time = derivative([&](double s) { return at(t + s, y); }, step);
  EXPECT_LT((by_time - f_t).lpNorm<Eigen::Infinity>(), limit * std::max(size, f_t.cwiseAbs().maxCoeff()));
}

// The loop whose constraints depend on time, with springs: positions, velocities and time to nine digits, in a chart at
// rest and in one that turns with the bodies.
TEST(StateSpace, DerivativesOfADrivenLoopMatchDifferencesToNineDigits) {
  for (const double window : {0.0, 1e3}) {
    Ready ready(problems::driven_loop());
    StateSpaceOptions options;
    options.tolerance = 1e-14;
    StateSpace space(*ready.equations, options);
    space.set_base(ready.state, ready.rates);
    space.move_chart(window);
    EXPECT_EQ(space.chart().rate().isZero(0), window == 0);
    std::mt19937 random(5);
    const double t = 0.02;
    const Vec y = moved(space, *ready.equations, ready.state, ready.rates, 0.1, random);
    expect_exact_derivatives(space, *ready.equations, t, y, 1e-9, 1e-2);
  }
}

// Points of a chart that turns are found again, and its rates are those of its places.
TEST(Chart, TurnsWithTheBody) {
  Model m;
  Body body;
  body.name = "top";
  body.mass = 1;
  body.inertia = Vec3(0.1, 0.2, 0.3).asDiagonal();
  m.add_body(body);
  const Ready ready(std::move(m));
  const Equations& equations = *ready.equations;
  Chart chart(equations);
  std::mt19937 random(2);
  Vec v = random_vector(6, random);
  v.tail<3>() *= 50;
  chart.move_to(ready.state.q, 0.5, v, 1);
  const Vec z = 0.4 * random_vector(6, random), z_dot = random_vector(6, random), z_second = random_vector(6, random);
  const double t = 2.7;
  Vec q, u, z_back, dot_back, back;
  chart.place(t, z, z_dot, q, u);
  chart.locate(t, q, u, z_back, dot_back);
  EXPECT_LT((z_back - z).norm(), 1e-12);
  EXPECT_LT((dot_back - z_dot).norm(), 1e-11);
  const auto along = [&](double s, Vec& q_s, Vec& v_s) {
    chart.place(t + s, z + s * z_dot + 0.5 * s * s * z_second, z_dot + s * z_second, q_s, v_s);
  };
  const Vec rate = derivative(
      [&](double s) {
        Vec q_s, v_s, delta(6);
        along(s, q_s, v_s);
        equations.local(q, q_s, delta);
        return delta;
      },
      1e-4);
  EXPECT_LT((rate - u).norm(), 1e-7);
  const Vec a = derivative(
      [&](double s) {
        Vec q_s, v_s;
        along(s, q_s, v_s);
        return v_s;
      },
      1e-4);
  chart.second(z, z_dot, a, back);
  EXPECT_LT((back - z_second).norm(), 1e-6);
}

// Joints as springs need the inverse of all masses; the direction without one is named.
TEST(StateSpace, JointsAsSpringsNameTheDirectionWithoutMass) {
  Simulation simulation(read_model_text(R"yaml(trammel: 1
bodies: {rod: {mass: 1, inertia: [0.1, 0.1, 0], position: [1, 0, 0]}}
joints: {pin: {type: spherical, between: [ground, rod], at: [0, 0, 0]}}
simulation: {end: 1, method: cvode-bdf, formulation: penalty-joints}
)yaml",
                                        "test.yaml"));
  try {
    simulation.start({});
    FAIL() << "not refused";
  } catch (const Failure& failure) {
    EXPECT_NE(failure.problems()[0].message.find("body 'rod': rotation about z"), std::string::npos)
        << failure.problems()[0].message;
  }
}

// Linear algebra behind the stages of Rosenbrock-Nystrom, twice: with J1, J2 and f_t of the independent coordinates,
// and with all coordinates of all three levels of the constraints in one system, where they never appear.
TEST(StateSpace, StagesAgreeWithOneSystemOfAllLevels) {
  for (const bool driven : {true, false}) {
    const Ready ready(driven ? problems::driven_loop() : problems::slider_crank_with_forces());
    const Equations& equations = *ready.equations;
    StateSpaceOptions options;
    options.tolerance = 1e-14;
    StateSpace space(equations, options);
    space.set_base(ready.state, ready.rates);
    const int nv = equations.sizes().nv, m = equations.sizes().multipliers(), n = nv - m;
    ASSERT_EQ(static_cast<int>(space.positions().size()), n);
    std::vector<int> order = space.positions();  // independent, then dependent
    for (int i = 0; i < nv; ++i)
      if (!std::binary_search(order.begin(), order.begin() + n, i)) order.push_back(i);
    const auto dependent = [&](const Mat& A) {
      Mat out(A.rows(), m);
      for (int k = 0; k < m; ++k) out.col(k) = A.col(order[static_cast<std::size_t>(n + k)]);
      return out;
    };
    const auto independent = [&](const Mat& A) {
      Mat out(A.rows(), n);
      for (int k = 0; k < n; ++k) out.col(k) = A.col(order[static_cast<std::size_t>(k)]);
      return out;
    };

    Partials p = equations.make_partials(Detail::all);
    Workspace work = equations.make_workspace();
    ASSERT_EQ(equations.linearise(ready.state, ready.rates, Detail::all, p, work), Eval::ok);
    const Pattern &vv = equations.vv(), &gv = equations.gv();
    const Mat M = vv.dense(p.M), G = gv.dense(p.G), r_v = vv.dense(p.force_v), s_v = -gv.dense(p.gamma_v);
    Mat C = Mat::Zero(nv, nv), D = C;
    for (const int j : equations.rotation_columns()) {
      const Mat3 w = skew(Vec3(ready.state.v.segment<3>(j))), w_dot = skew(Vec3(ready.rates.a.segment<3>(j)));
      C.block<3, 3>(j, j) = 0.5 * w;
      D.block<3, 3>(j, j) = -0.5 * w_dot + w * w / 6;
    }
    const Mat V = 0.5 * s_v - G * C;  // at fixed angular velocity; in the chart the last term goes away again
    const Mat r_q = vv.dense(p.Ma_q) + vv.dense(p.force_q) + r_v * C - M * D;
    const Mat s_q = gv.dense(p.Ga_q) - gv.dense(p.gamma_q) + s_v * C - G * D;
    const Mat V_chart = V + G * C;
    const Vec V_t = -p.gamma - V * ready.state.v, s_t = p.Ga_t - p.gamma_t;

    Vec y, dydt, f_t;
    Jacobian J;
    space.project(ready.state, ready.rates, y, dydt);
    ASSERT_EQ(space.jacobian(ready.state.t, y, J, f_t), Eval::ok);
    const Mat J1 = J.dense.bottomLeftCorner(n, n), J2 = J.dense.bottomRightCorner(n, n);

    std::mt19937 random(2);
    const double g = 0.57, gamma_i = -0.3;
    for (const double h : {1e-2, 1e-3, 1e-4}) {
      // a stage in the middle of a step: some acceleration, some earlier stages
      const Vec rho = g * h * random_vector(n, random) * 10, earlier = h * random_vector(n, random);
      const Vec v = ready.state.v;
      Vec p0_independent(n);
      for (int k = 0; k < n; ++k) p0_independent[k] = earlier[k] + gamma_i * v[order[static_cast<std::size_t>(k)]];
      Mat A = -h * g * J2 - h * h * g * g * J1;
      A.diagonal().array() += 1;
      const Vec l = A.partialPivLu().solve(rho + g * h * h * (J1 * p0_independent + gamma_i * f_t.tail(n)));

      // dependent part of the earlier stages: R l
      const Eigen::PartialPivLU<Mat> G_D(dependent(G));
      Vec full_earlier(nv), right = Vec::Zero(nv + 3 * m);
      const Vec follows = -G_D.solve(independent(G) * earlier);
      for (int k = 0; k < n; ++k) full_earlier[order[static_cast<std::size_t>(k)]] = earlier[k];
      for (int k = 0; k < m; ++k) full_earlier[order[static_cast<std::size_t>(n + k)]] = follows[k];
      const Vec p0 = full_earlier + gamma_i * v, P0 = g * h * h * p0;
      const double tau = g * h * h * gamma_i;
      Mat S = Mat::Zero(nv + 3 * m, nv + 3 * m);
      S.topLeftCorner(nv, nv) = M + h * g * r_v + h * h * g * g * r_q;
      S.block(0, nv, nv, m) = h * g * dependent(r_v);
      S.block(0, nv + m, nv, m) = -dependent(M);
      S.block(0, nv + 2 * m, nv, m) = G.transpose();
      S.block(nv, 0, m, nv) = G;
      S.block(nv + m, 0, m, nv) = h * g * V_chart;
      S.block(nv + m, nv, m, m) = dependent(G);
      S.block(nv + 2 * m, 0, m, nv) = -(h * g * s_v + h * h * g * g * s_q);
      S.block(nv + 2 * m, nv, m, m) = -h * g * dependent(s_v);
      S.block(nv + 2 * m, nv + m, m, m) = dependent(G);
      right.head(nv) = independent(M) * rho - r_q * P0 - tau * p.force_t;
      right.segment(nv + m, m) = -h * (V_chart * p0 + gamma_i * V_t);
      right.tail(m) = -independent(G) * rho + s_q * P0 + tau * s_t;
      const Eigen::PartialPivLU<Mat> lu(S);
      Vec x = lu.solve(right);
      x += lu.solve(right - S * x);
      double off = 0;
      for (int k = 0; k < n; ++k) off = std::max(off, std::abs(x[order[static_cast<std::size_t>(k)]] - l[k]));
      EXPECT_LT(off, 1e-12 * l.lpNorm<Eigen::Infinity>()) << "h " << h << (driven ? " driven" : "");
    }
  }
}

// In independent coordinates and in all of them.
TEST(StateSpace, DerivativesOfDeepContactsMatchDifferences) {
  for (const bool all : {false, true}) {
    Ready ready(problems::deep_contacts(), {.analyse_rank = true});
    StateSpaceOptions options;
    options.tolerance = 1e-13;
    options.all_coordinates = all;
    StateSpace space(*ready.equations, options);
    space.set_base(ready.state, ready.rates);
    std::mt19937 random(5);
    const Vec y = moved(space, *ready.equations, ready.state, ready.rates, 0.05, random);
    SCOPED_TRACE(all);
    expect_exact_derivatives(space, *ready.equations, 0.02, y);
  }
}

// Their steps of differences are larger than what contacts are deep: deep_contacts() has them at its own scale.
bool has_contacts(const Equations& equations) {
  const std::vector<Item>& forces = equations.model().forces;
  return std::any_of(forces.begin(), forces.end(),
                     [](const Item& f) { return f.type.starts_with("ball_in_") || f.type == "contact"; });
}

class StateSpaceOfModel : public testing::TestWithParam<std::string> {};

TEST_P(StateSpaceOfModel, DerivativesMatchDifferences) {
  Ready ready(load_model(std::string(TRAMMEL_SOURCE_DIR) + "/models/" + GetParam()));
  const Equations& equations = *ready.equations;
  if (has_contacts(equations)) GTEST_SKIP() << "contacts";
  if (equations.sees_rates()) GTEST_SKIP() << "the form refuses forces that see accelerations or reactions";
  StateSpaceOptions options;
  options.tolerance = 1e-13;
  options.misfit = ready.initial.misfit;
  StateSpace space(equations, options);
  space.set_base(ready.state, ready.rates);
  if (space.size() == 0) GTEST_SKIP() << "no degree of freedom";
  if (space.size() > 200) GTEST_SKIP() << "many columns: the same elements are tested in small models";
  // Away from the drawn position, a third of a radian at a time, each with a chart of its own.
  std::mt19937 random(7);
  double t = 0;
  for (int i = 0; i < 4; ++i) {
    State next = ready.state;
    Rates rates = ready.rates;
    double by = 0.3;
    while (by > 1e-4 &&
           space.evaluate(t, moved(space, equations, ready.state, ready.rates, by, random), next, rates) != Eval::ok)
      by *= 0.5;  // a limb may not reach
    ASSERT_GT(by, 1e-4);
    ready.state = next;
    ready.rates = rates;
    equations.accept(ready.state, ready.work);
    space.set_base(ready.state, ready.rates);
    space.move_chart();
    space.repartition();
    t += 1e-3;
  }
  const auto near = [&](double by) { return moved(space, equations, ready.state, ready.rates, by, random); };
  Vec y = near(0.15), f;
  while (space.f(t, y, f) != Eval::ok) y = near(0.05);
  expect_exact_derivatives(space, equations, t, y);
}

bool has_massless_coordinates(const Equations& equations) {
  Partials partials = equations.make_partials(Detail::projection);
  equations.mass(equations.initial_state().q, partials);
  return equations.vv().dense(partials.M).diagonal().minCoeff() <= 0;
}

// All coordinates, off the constraints: at index 1 plain, with Baumgarte's terms, by penalty; joints as springs.
TEST_P(StateSpaceOfModel, AllCoordinatesHaveExactDerivatives) {
  Ready ready(load_model(std::string(TRAMMEL_SOURCE_DIR) + "/models/" + GetParam()), {.analyse_rank = true});
  if (has_contacts(*ready.equations)) GTEST_SKIP() << "contacts";
  if (ready.equations->sees_rates()) GTEST_SKIP() << "the form refuses forces that see accelerations or reactions";
  if (ready.equations->sizes().nv > 30) GTEST_SKIP() << "many columns: the same elements are tested in small models";
  for (const int form : {0, 1, 2, 3}) {
    // Off the constraints redundant rows contradict each other: only a penalty gives them smooth forces.
    if (form < 2 && ready.initial.rank.redundant > 0) continue;
    // With springs for joints nothing but its own mass holds a coordinate.
    if (form == 3 && has_massless_coordinates(*ready.equations)) continue;
    StateSpaceOptions options;
    options.all_coordinates = true;
    options.frequency = form == 0 || form == 3 ? 0 : 7;
    if (form == 3) {
      options.joint_frequency = 2;
      options.joint_time = 0.1;
    }
    options.damping = 0.6;
    options.penalty = form == 2 ? 1e3 : 0;
    options.sweeps = form == 2 ? 1 : 6;
    StateSpace space(*ready.equations, options);
    space.set_base(ready.state, ready.rates);
    std::mt19937 random(3);
    const Vec y = moved(space, *ready.equations, ready.state, ready.rates, 0.1, random);
    SCOPED_TRACE(form);
    expect_exact_derivatives(space, *ready.equations, 0.01, y);
  }
}

INSTANTIATE_TEST_SUITE_P(All, StateSpaceOfModel, testing::ValuesIn(model_files()), [](const auto& file) {
  std::string name = file.param.substr(0, file.param.find('.'));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace trammel::state_space_test
