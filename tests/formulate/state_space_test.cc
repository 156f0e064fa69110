// The state-space form: its derivatives against differences on every model file, at states far from the drawn one and
// at points far from the chart's origin.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "tests/problems/stepping.h"
#include "trammel/formulate/state_space.h"
#include "trammel/math/rotation.h"
#include "trammel/run/load_model.h"

namespace trammel {
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

void expect_exact_derivatives(StateSpace& space, double t, const Vec& y) {
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
    const Vec e = Vec::Unit(space.size(), k);
    const Vec differences = derivative([&](double s) { return at(t, y + s * e); }, 4e-3);
    EXPECT_LT((differences - J.dense.col(k)).lpNorm<Eigen::Infinity>(), 1e-6 * size) << "column " << k;
  }
  const Vec by_time = derivative([&](double s) { return at(t + s, y); }, 4e-3);
  EXPECT_LT((by_time - f_t).lpNorm<Eigen::Infinity>(), 1e-6 * std::max(size, f_t.cwiseAbs().maxCoeff()));
}

class StateSpaceOfModel : public testing::TestWithParam<std::string> {};

TEST_P(StateSpaceOfModel, DerivativesMatchDifferences) {
  Ready ready(load_model(std::string(TRAMMEL_SOURCE_DIR) + "/models/" + GetParam()));
  const Equations& equations = *ready.equations;
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
  expect_exact_derivatives(space, t, y);
}

// All coordinates at index 1, off the constraints: plain, with Baumgarte's terms, by penalty.
TEST_P(StateSpaceOfModel, AllCoordinatesHaveExactDerivatives) {
  Ready ready(load_model(std::string(TRAMMEL_SOURCE_DIR) + "/models/" + GetParam()), {.analyse_rank = true});
  if (ready.equations->sizes().nv > 30) GTEST_SKIP() << "many columns: the same elements are tested in small models";
  for (const int form : {0, 1, 2}) {
    // Off the constraints redundant rows contradict each other: only a penalty gives them smooth forces.
    if (form < 2 && ready.initial.rank.redundant > 0) continue;
    StateSpaceOptions options;
    options.all_coordinates = true;
    options.frequency = form == 0 ? 0 : 7;
    options.damping = 0.6;
    options.penalty = form == 2 ? 1e3 : 0;
    options.sweeps = form == 2 ? 1 : 6;
    StateSpace space(*ready.equations, options);
    space.set_base(ready.state, ready.rates);
    std::mt19937 random(3);
    const Vec y = moved(space, *ready.equations, ready.state, ready.rates, 0.1, random);
    SCOPED_TRACE(form);
    expect_exact_derivatives(space, 0.01, y);
  }
}

INSTANTIATE_TEST_SUITE_P(All, StateSpaceOfModel, testing::ValuesIn(model_files()), [](const auto& file) {
  std::string name = file.param.substr(0, file.param.find('.'));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace trammel
