// The comparator IDA on spatial mechanisms: the derivative of its residual, and where it ends.
#include <gtest/gtest.h>

#include <random>

#include "studies/ida.h"
#include "studies/stepping.h"
#include "tests/problems/mechanisms.h"
#include "tests/problems/stepping.h"
#include "trammel/run/load_model.h"

namespace trammel {
namespace {

class IdaForms : public ::testing::TestWithParam<IdaForm> {};

// At large rotations, with quaternions that have lost their unit length.
TEST_P(IdaForms, DerivativeOfTheResidual) {
  for (const Model& model : {problems::slider_crank_with_forces(), problems::driven_loop()}) {
    const problems::Ready ready(model);
    const Equations& equations = *ready.equations;
    std::mt19937 random(4);
    State state = problems::random_state(equations, random);
    state.memory = ready.state.memory;
    state.t = 0.3;
    Rates rates = ready.rates;
    rates.a = problems::random_vector(rates.a.size(), random);
    rates.lambda = problems::random_vector(rates.lambda.size(), random);
    IdaProblem problem(equations, state, rates, GetParam(), 1e-6);
    Vec y(problem.size()), ydot(problem.size());
    problem.start(y, ydot);
    y.head(equations.sizes().nq) *= 0.9;
    ydot += 0.1 * problems::random_vector(ydot.size(), random);
    Vec values(problem.pattern().size());
    const double c = 30;
    ASSERT_TRUE(problem.jacobian(state.t, y, ydot, c, values.data()));
    const Mat J = problem.pattern().dense(values);
    for (int k = 0; k < problem.size(); ++k) {
      const Vec by = problems::derivative([&](double s) {
        Vec at = y, rate = ydot, F(problem.size());
        at[k] += s;
        rate[k] += c * s;
        EXPECT_TRUE(problem.residual(state.t, at, rate, F));
        return F;
      });
      const double size = 1 + J.col(k).lpNorm<Eigen::Infinity>();
      EXPECT_LT((by - J.col(k)).lpNorm<Eigen::Infinity>(), 1e-8 * size) << model.title << ", column " << k;
    }
  }
}

// The crank of the spatial loop makes a turn in 1 s.
TEST_P(IdaForms, EndsWhereOursDo) {
  const Model model = load_model(std::string(TRAMMEL_SOURCE_DIR) + "/models/spatial_slider_crank.yaml",
                                 {.method = "bdf-si2", .tolerance = 1e-11, .end = 1});
  const State ours = step_model(model).last;
  Simulation simulation(model);
  simulation.start();
  const IdaRun theirs = run_ida(simulation.equations(), simulation.integrator().state(),
                                simulation.integrator().rates(), GetParam(), 1e-11, 1);
  ASSERT_TRUE(theirs.good) << theirs.why;
  EXPECT_LT(problems::distance(simulation.equations(), ours.q, theirs.last.q), 1e-7);
}

INSTANTIATE_TEST_SUITE_P(Forms, IdaForms, ::testing::Values(IdaForm::index_1, IdaForm::index_2, IdaForm::stabilised));

}  // namespace
}  // namespace trammel
