// Methods for ordinary differential equations on mechanisms in their state-space form: orders, dead points, redundant
// loops, and every model file against HHT.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>

#include "tests/problems/mechanisms.h"
#include "tests/problems/stepping.h"
#include "trammel/integrate/ode_integrator.h"
#include "trammel/integrate/registry.h"
#include "trammel/model/modal_data.h"
#include "trammel/ode/solve.h"
#include "trammel/run/load_model.h"
#include "trammel/run/simulation.h"

namespace trammel::ode_on_mechanism_test {
namespace {

using problems::fitted_slope;
using problems::Ready;

std::unique_ptr<Integrator> make(const Ready& ready, const char* method, std::vector<int> named = {},
                                 const char* formulation = "state-space") {
  MethodSettings settings;
  settings.fixed_step = true;
  settings.tolerance = 1;
  settings.formulation = formulation;
  settings.independent = std::move(named);
  const MethodInfo& info = find_method(method, {});
  std::unique_ptr<Integrator> out = info.make(*ready.equations, resolve_settings(info, settings, {}));
  out->start(ready.state, ready.rates);
  return out;
}

State run_to(Integrator& integrator, double end, int count, double* estimate = nullptr) {
  double sum = 0;
  for (int i = 0; i < count; ++i) {
    const Attempt attempt = integrator.attempt(end / count);
    if (attempt.verdict != Verdict::ok) throw std::runtime_error(to_text(attempt.verdict));
    sum += attempt.error * attempt.error;
    integrator.accept();
  }
  if (estimate != nullptr) *estimate = std::sqrt(sum / count);
  return integrator.state();
}

struct Slopes {
  double q, v, estimate;
  std::vector<double> errors;
};

Slopes slopes(const Ready& ready, const char* method, double end, const std::vector<int>& counts, const State& truth,
              const std::vector<int>& named = {}) {
  std::vector<double> h, q, v, estimates;
  for (const int count : counts) {
    double estimate = 0;
    const State state = run_to(*make(ready, method, named), end, count, &estimate);
    h.push_back(end / count);
    q.push_back(problems::distance(*ready.equations, truth.q, state.q));
    v.push_back((state.v - truth.v).cwiseQuotient(ready.equations->scales()).norm());
    estimates.push_back(estimate);
  }
  return {fitted_slope(h, q), fitted_slope(h, v), fitted_slope(h, estimates), q};
}

TEST(StateSpaceRosenbrock, IsOfOrderFourOnTheHeavyTop) {
  const Ready ready(problems::heavy_top());
  const problems::HeavyTopSample& sample = problems::heavy_top_reference()[1];
  State truth = ready.state;
  truth.q << sample.position, sample.rotation.w(), sample.rotation.vec();
  truth.v << (sample.rotation * sample.spin).cross(sample.position), sample.spin;
  const Slopes s = slopes(ready, "rosenbrock-nystrom-4", 0.2, {200, 400, 800, 1600}, truth);
  EXPECT_NEAR(s.q, 4, 0.2);
  EXPECT_NEAR(s.v, 4, 0.2);
  EXPECT_NEAR(s.estimate, 4, 0.2);
  // positions and entries of the rotation matrix at h = 1e-3
  const State coarse = run_to(*make(ready, "rosenbrock-nystrom-4"), 0.2, 200);
  const Quat turned(coarse.q[3], coarse.q[4], coarse.q[5], coarse.q[6]);
  EXPECT_LT((coarse.q.head(3) - sample.position).lpNorm<Eigen::Infinity>(), 4e-6);
  EXPECT_LT((turned.toRotationMatrix() - sample.rotation.toRotationMatrix()).cwiseAbs().maxCoeff(), 4e-6);
}

TEST(StateSpaceRosenbrock, IsOfOrderFourOnADrivenLoop) {
  const Ready ready(problems::driven_loop());
  const State truth = run_to(*make(ready, "rosenbrock-nystrom-4", {}, "all-coordinates"), 0.5, 3200);
  const Slopes s = slopes(ready, "rosenbrock-nystrom-4", 0.5, {50, 100, 200, 400}, truth);
  EXPECT_NEAR(s.q, 4, 0.2);
  EXPECT_NEAR(s.v, 4, 0.2);
  EXPECT_NEAR(s.estimate, 4, 0.3);
  const Slopes w = slopes(ready, "w-method-2", 0.5, {400, 800, 1600}, truth);
  EXPECT_NEAR(w.q, 2, 0.15);
  EXPECT_NEAR(w.v, 2, 0.15);
}

// A mechanism's equations with parts of their derivatives left out.
class WithoutDerivatives final : public SecondOrderProblem {
 public:
  WithoutDerivatives(SecondOrderProblem& whole, bool keep_jacobians) : whole_(whole), keep_jacobians_(keep_jacobians) {}
  int freedoms() const override { return whole_.freedoms(); }
  Eval acceleration(double t, const Vec& y, const Vec& v, Vec& a) override { return whole_.acceleration(t, y, v, a); }
  bool has_jacobian() const override { return true; }
  Eval acceleration_jacobian(double t, const Vec& y, const Vec& v, Mat& J1, Mat& J2, Vec& f_t) override {
    const Eval result = whole_.acceleration_jacobian(t, y, v, J1, J2, f_t);
    f_t.setZero();
    if (!keep_jacobians_) J1.setZero(), J2.setZero();
    return result;
  }

 private:
  SecondOrderProblem& whole_;
  bool keep_jacobians_;
};

TEST(StateSpaceRosenbrock, LosesItsOrderWithoutTimeTermsAndTheWMethodNeedsNone) {
  const Ready ready(problems::driven_loop());
  StateSpaceOptions options;
  options.tolerance = 1e-13;
  const auto slope = [&](const char* method, bool exact, bool keep_jacobians, const std::vector<int>& counts) {
    StateSpace space(*ready.equations, options);
    space.set_base(ready.state, ready.rates);
    WithoutDerivatives problem(*space.second_order(), keep_jacobians);
    Vec y, dydt;
    space.project(ready.state, ready.rates, y, dydt);
    const double end = 0.12;  // within the first chart
    const auto at_end = [&](SecondOrderProblem& of, const char* by, int count) {
      const SolveResult result = solve(of, by, 0, y, end, {.tolerance = 0.1, .step = end / count});
      EXPECT_EQ(result.status, SolveStatus::finished) << result.message;
      return result.y;
    };
    const Vec truth = at_end(*space.second_order(), "rosenbrock-nystrom-4", 800);
    std::vector<double> h, error;
    for (const int count : counts) {
      h.push_back(end / count);
      error.push_back((at_end(exact ? *space.second_order() : problem, method, count) - truth).norm());
    }
    return fitted_slope(h, error);
  };
  EXPECT_NEAR(slope("rosenbrock-nystrom-4", true, true, {12, 25, 50, 100}), 4, 0.2);
  EXPECT_NEAR(slope("rosenbrock-nystrom-4", false, true, {100, 200, 400}), 1, 0.1);
  EXPECT_NEAR(slope("w-method-2", false, false, {50, 100, 200, 400}), 2, 0.1);
}

// The stiff double pendulum, eigenvalues to -1e5, at steps of 0.04 s once its transient is over.
TEST(StateSpaceRosenbrock, TakesLargeStepsOnAStiffPendulum) {
  const Ready ready(load_model(std::string(TRAMMEL_SOURCE_DIR) + "/models/rn_double_pendulum.yaml"));
  for (const char* formulation : {"state-space", "all-coordinates"}) {
    const auto later = [&] {
      std::unique_ptr<Integrator> out = make(ready, "rosenbrock-nystrom-4", {}, formulation);
      run_to(*out, 0.2, 800);
      return out;
    };
    const State truth = run_to(*later(), 0.4, 1600), coarse = run_to(*later(), 0.4, 10);
    EXPECT_LT(problems::distance(*ready.equations, truth.q, coarse.q), 3e-3) << formulation;
  }
}

// Steered by its slider, a crank has dead points twice a turn: coordinates change there and come back, and the order
// stays.
TEST(StateSpace, PassesDeadPointsInCoordinatesThatHaveThem) {
  const Ready ready(problems::spatial_slider_crank());
  const int slider = ready.equations->first_velocity(2);
  const double end = 1.5;
  const State truth = run_to(*make(ready, "rosenbrock-nystrom-4", {}, "all-coordinates"), end, 9600);
  std::vector<double> h, q;
  int changes = 0;
  for (const int count : {300, 600, 1200}) {
    const std::unique_ptr<Integrator> integrator = make(ready, "rosenbrock-nystrom-4", {slider});
    const State state = run_to(*integrator, end, count);
    changes = dynamic_cast<const OdeIntegrator&>(*integrator).repartitions();
    h.push_back(end / count);
    q.push_back(problems::distance(*ready.equations, truth.q, state.q));
  }
  EXPECT_GE(changes, 2);
  EXPECT_GT(fitted_slope(h, q), 3.7) << q[0] << " " << q[1] << " " << q[2];
}

TEST(StateSpace, TurnsACrankAHundredTimes) {
  for (const char* method : {"rosenbrock-nystrom-4", "adams"}) {
    Model model = load_model(std::string(TRAMMEL_SOURCE_DIR) + "/models/slider_crank.yaml");
    model.simulation.method = method;
    model.simulation.formulation = "state-space";
    model.simulation.tolerance = 5.5e-6;  // of 20 rad/s
    model.simulation.step.reset();
    model.gravity.setZero();
    model.forces.clear();
    model.outputs.clear();
    model.simulation.end = 66;
    model.simulation.output_step = 1;
    Simulation simulation(model);
    MemoryTrajectory trajectory;
    const RunResult result = simulation.run(trajectory);
    ASSERT_EQ(result.status, RunStatus::finished) << method;
    const SignalRef angle = trajectory.at("joint.bearing.angle");
    EXPECT_GT(std::abs(trajectory.value(angle, trajectory.rows(angle.table) - 1)), 200 * std::numbers::pi);
    EXPECT_LT(result.summary.energy.largest_imbalance, 1e-2 * result.summary.energy.first) << method;
  }
}

// Six links in a ring of revolute joints with parallel axes in two halves: overconstrained, one or more freedoms.
TEST(StateSpace, CarriesRedundantLoops) {
  using problems::Build;
  const Ready bricard(problems::bricard(Build::redundant)), twin(problems::bricard(Build::independent));
  const State a = run_to(*make(bricard, "rosenbrock-nystrom-4"), 1, 800),
              b = run_to(*make(twin, "rosenbrock-nystrom-4"), 1, 800);
  EXPECT_LT(problems::distance(*bricard.equations, a.q, b.q), 1e-7);
  const State c = run_to(*make(bricard, "rosenbrock-nystrom-4", {}, "all-coordinates"), 1, 3200);
  EXPECT_LT(problems::distance(*bricard.equations, a.q, c.q), 1e-7);
}

std::vector<std::string> model_files() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(TRAMMEL_SOURCE_DIR) + "/models"))
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

class StateSpaceRun : public testing::TestWithParam<std::string> {};

TEST_P(StateSpaceRun, AgreesWithHht) {
  const auto end_of = [&](const char* method, double tolerance) {
    ModelChanges changes;
    changes.method = method;
    changes.tolerance = tolerance;
    changes.output_step = 0;
    Model model = load_model(std::string(TRAMMEL_SOURCE_DIR) + "/models/" + GetParam(), changes);
    model.simulation.formulation = std::string(method) == "hht-i3" ? "index-3" : "state-space";
    model.simulation.end *= model.bodies.size() > 30 ? 0.02 : 0.1;
    auto simulation = std::make_unique<Simulation>(model);
    MemoryTrajectory trajectory;
    EXPECT_EQ(simulation->run(trajectory).status, RunStatus::finished) << method;
    return simulation;
  };
  const double tolerance = 1e-6;
  // Rosenbrock-Nystrom where the form is y'' = f; else Adams.
  const Ready ready(load_model(std::string(TRAMMEL_SOURCE_DIR) + "/models/" + GetParam()));
  if (ready.equations->sees_rates()) GTEST_SKIP() << "the form refuses forces that see accelerations or reactions";
  for (const Body& body : ready.equations->model().bodies)
    if (body.modal && body.modal->modes() > 50)
      GTEST_SKIP() << "dense derivatives of so many modes at kilohertz take minutes; flexible_pendulum is tested";
  const bool second = ready.equations->velocity_rows().empty();
  const auto ours = end_of(second ? "rosenbrock-nystrom-4" : "adams", tolerance), hht = end_of("hht-i3", 1e-8);
  const double off = problems::distance(hht->equations(), hht->integrator().state().q, ours->integrator().state().q);
  // a phase error of HHT grows with the way: the links of text_pendulum turn by hundreds of radians
  const State& last = hht->integrator().state();
  const double way = last.t * last.v.cwiseQuotient(hht->equations().scales()).lpNorm<Eigen::Infinity>();
  EXPECT_LT(off, 1e-4 + 1e-5 * way);
}

INSTANTIATE_TEST_SUITE_P(All, StateSpaceRun, testing::ValuesIn(model_files()),
                         [](const auto& file) { return file.param.substr(0, file.param.find('.')); });

}  // namespace
}  // namespace trammel::ode_on_mechanism_test
