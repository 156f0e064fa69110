// Methods in joint coordinates: orders, closed solutions, redundant loops through singular positions, every model file
// against HHT, and runs that are saved and continued.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "tests/problems/mechanisms.h"
#include "tests/problems/stepping.h"
#include "trammel/elements/build.h"
#include "trammel/formulate/formulations.h"
#include "trammel/formulate/spanning_tree.h"
#include "trammel/integrate/registry.h"
#include "trammel/run/load_model.h"
#include "trammel/run/simulation.h"

namespace trammel::joint_coordinates_test {
namespace {

using problems::Build;
using problems::fitted_slope;
using problems::Ready;

std::unique_ptr<Integrator> make(const Ready& ready, const char* method, const char* formulation = "joint-coordinates",
                                 double depth = 0) {
  MethodSettings settings;
  settings.fixed_step = true;
  settings.tolerance = 1e-10;
  settings.formulation = formulation;
  if (depth > 0) settings.options.set("depth", depth);
  const MethodInfo& info = find_method(method, {});
  std::unique_ptr<Integrator> out = info.make(*ready.equations, resolve_settings(info, settings, {}));
  out->start(ready.state, ready.rates);
  return out;
}

std::string text_of(const RunResult& result) { return result.failure ? to_text(*result.failure) : ""; }

State run_to(Integrator& integrator, double end, int count) {
  for (int i = 0; i < count; ++i) {
    const Attempt attempt = integrator.attempt(end / count);
    if (attempt.verdict != Verdict::ok) throw std::runtime_error(to_text(attempt.verdict));
    integrator.accept();
  }
  return integrator.state();
}

void expect_order(const Ready& ready, const char* method, double order, double end, const std::vector<int>& counts,
                  const State& truth) {
  std::vector<double> h, q, v;
  for (const int count : counts) {
    const State state = run_to(*make(ready, method), end, count);
    h.push_back(end / count);
    q.push_back(problems::distance(*ready.equations, truth.q, state.q));
    v.push_back((state.v - truth.v).cwiseQuotient(ready.equations->scales()).norm());
  }
  EXPECT_NEAR(fitted_slope(h, q), order, 0.3) << method << " " << q.front() << " " << q.back();
  EXPECT_NEAR(fitted_slope(h, v), order, 0.3) << method;
}

TEST(JointCoordinates, KeepTheOrdersOnTheHeavyTop) {
  const Ready ready(problems::heavy_top());
  const problems::HeavyTopSample& sample = problems::heavy_top_reference()[1];
  State truth = ready.state;
  truth.q << sample.position, sample.rotation.w(), sample.rotation.vec();
  truth.v << (sample.rotation * sample.spin).cross(sample.position), sample.spin;
  expect_order(ready, "rk4", 4, 0.2, {200, 400, 800}, truth);
  expect_order(ready, "heun", 2, 0.2, {1600, 3200, 6400}, truth);
  expect_order(ready, "radau-iia-2", 3, 0.2, {400, 800, 1600}, truth);
}

// Constraints that depend on time, a closed loop: returns to the rows must not cost the order.
TEST(JointCoordinates, KeepTheOrdersOnADrivenLoop) {
  const Ready ready(problems::driven_loop());
  const State truth = run_to(*make(ready, "dormand-prince-853"), 0.5, 800);
  const State other = run_to(*make(ready, "dormand-prince-853", "index-1-projected"), 0.5, 800);
  EXPECT_LT(problems::distance(*ready.equations, truth.q, other.q), 1e-9);
  expect_order(ready, "rk4", 4, 0.5, {50, 100, 200}, truth);
  expect_order(ready, "bogacki-shampine-32", 3, 0.5, {100, 200, 400}, truth);
  expect_order(ready, "trapezoidal", 2, 0.5, {100, 200, 400}, truth);
}

TEST(JointCoordinates, TurnTheSpatialSliderCrankAsItsReducedEquation) {
  const Ready ready(problems::spatial_slider_crank());
  const problems::SliderCrankSample& sample = problems::slider_crank_reference().back();
  const int slider = ready.equations->first_coordinate(2);
  for (const double depth : {0.0, 1.0}) {
    const State state = run_to(*make(ready, "dormand-prince-853", "joint-coordinates", depth), sample.t,
                               static_cast<int>(sample.t * 400));
    EXPECT_NEAR(state.q[slider], sample.slider, 1e-7) << depth;
  }
}

Model controlled(Model model, const char* method, double tolerance, double end) {
  model.simulation.method = method;
  model.simulation.formulation = "joint-coordinates";
  model.simulation.tolerance = tolerance;
  model.simulation.end = end;
  return model;
}

// Through positions in which all rods are in line and the constraints lose rank further, 15 rows redundant anyway.
TEST(JointCoordinates, PassSingularPositionsOfRedundantLoops) {
  for (const char* method : {"dormand-prince-853", "adams"}) {
    Simulation simulation(controlled(problems::ladder(5, Build::redundant), method, 1e-6, 3));
    MemoryTrajectory trajectory;
    const RunResult result = simulation.run(trajectory);
    ASSERT_EQ(result.status, RunStatus::finished) << method << text_of(result);
    const State& state = simulation.integrator().state();
    const double angle = problems::ladder_angle(5, 3);
    // the first crank's middle is half a metre from its joint
    EXPECT_NEAR(state.q[0], 0.5 * std::sin(angle), 1e-3) << method;
    EXPECT_NEAR(state.q[1], 0.5 * std::cos(angle), 1e-3) << method;
  }
}

// An overconstrained loop: as true to its energy, in about as few steps, as all coordinates with the same returns.
TEST(JointCoordinates, KeepTheEnergyOfBricardsLoop) {
  for (const Build build : {Build::redundant, Build::independent}) {
    const auto run = [&](const char* formulation) {
      Model model = controlled(problems::bricard(build), "dormand-prince-853", 1e-7, 2);
      model.simulation.formulation = formulation;
      Simulation simulation(std::move(model));
      MemoryTrajectory trajectory;
      const RunResult result = simulation.run(trajectory);
      EXPECT_EQ(result.status, RunStatus::finished) << text_of(result);
      return std::pair(result.summary, simulation.integrator().state());
    };
    const auto [ours, end] = run("joint-coordinates");
    const auto [theirs, other_end] = run("index-1-projected");
    EXPECT_LT(ours.energy.largest_imbalance, 3 * theirs.energy.largest_imbalance);
    EXPECT_LT(ours.steps, 3 * theirs.steps);
    const Equations equations(problems::bricard(build));
    EXPECT_LT(problems::distance(equations, end.q, other_end.q), 1e-4);
  }
}

std::vector<std::string> model_files() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(TRAMMEL_SOURCE_DIR) + "/models"))
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

class JointCoordinatesRun : public testing::TestWithParam<std::string> {};

TEST_P(JointCoordinatesRun, AgreesWithHht) {
  const std::string path = std::string(TRAMMEL_SOURCE_DIR) + "/models/" + GetParam();
  const Equations equations(load_model(path));
  if (const std::string why = SpanningTree::why_not(equations); !why.empty()) GTEST_SKIP() << why;
  const auto end_of = [&](const char* method, const char* formulation, double tolerance) {
    ModelChanges changes;
    changes.method = method;
    changes.tolerance = tolerance;
    changes.output_step = 0;
    Model model = load_model(path, changes);
    model.simulation.formulation = formulation;
    model.simulation.independent.clear();
    model.simulation.end *= model.bodies.size() > 30 ? 0.02 : 0.1;
    auto simulation = std::make_unique<Simulation>(model);
    MemoryTrajectory trajectory;
    const RunResult result = simulation->run(trajectory);
    EXPECT_EQ(result.status, RunStatus::finished) << method << ": " << text_of(result);
    return simulation;
  };
  // the stiff beams by a method that differences the derivatives
  const char* method = GetParam() == "cantilever_beams.yaml" ? "radau-iia-3" : "adams";
  const auto ours = end_of(method, "joint-coordinates", 1e-6), hht = end_of("hht-i3", "index-3", 1e-8);
  const State& last = hht->integrator().state();
  const double off = problems::distance(equations, last.q, ours->integrator().state().q);
  // a phase error of HHT grows with the way
  const double way = last.t * last.v.cwiseQuotient(equations.scales()).lpNorm<Eigen::Infinity>();
  EXPECT_LT(off, 1e-4 + 1e-5 * way);
}

INSTANTIATE_TEST_SUITE_P(All, JointCoordinatesRun, testing::ValuesIn(model_files()),
                         [](const auto& file) { return file.param.substr(0, file.param.find('.')); });

TEST(JointCoordinates, GoOnBitForBit) {
  for (const char* method : {"dormand-prince-853", "adams", "dormand-prince-54"}) {
    for (const bool loop : {false, true}) {
      const Ready ready(loop ? problems::four_bar(Build::redundant, true) : problems::heavy_top());
      const auto step = [](Integrator& integrator, int count) {
        for (int i = 0; i < count; ++i) {
          ASSERT_EQ(integrator.attempt(1e-3).verdict, Verdict::ok);
          integrator.accept();
        }
      };
      const std::unique_ptr<Integrator> whole = make(ready, method);
      step(*whole, 20);
      Bytes saved;
      whole->save(saved);
      step(*whole, 20);
      const std::unique_ptr<Integrator> resumed = make(ready, method);
      std::span<const std::byte> in(saved);
      resumed->restore(in);
      step(*resumed, 20);
      const State &a = whole->state(), &b = resumed->state();
      EXPECT_EQ(std::memcmp(a.q.data(), b.q.data(), static_cast<std::size_t>(a.q.size()) * sizeof(double)), 0)
          << method;
      EXPECT_EQ(std::memcmp(a.v.data(), b.v.data(), static_cast<std::size_t>(a.v.size()) * sizeof(double)), 0)
          << method;
      EXPECT_TRUE(whole->rates().lambda == resumed->rates().lambda) << method;
    }
  }
}

// Each step of a loop ends with a return to its rows. That costs no new derivatives: there were as many as steps.
TEST(JointCoordinates, KeepDerivativesOverReturns) {
  for (const char* formulation : {"joint-coordinates", "index-1-projected"}) {
    const Ready ready(problems::four_bar(Build::redundant, true));
    const std::unique_ptr<Integrator> integrator = make(ready, "bdf", formulation);
    run_to(*integrator, 0.1, 100);
    EXPECT_LT(integrator->counts().linearisations, 35) << formulation;
  }
}

// A slider that is driven away from a bar of 1 m, on a link of 1.1 m to the bar's tip. After 1 s it is 3.5 m off: the
// motion can hold, the link cannot.
TEST(JointCoordinates, NameTheRowToWhichAStepCannotReturn) {
  Model model;
  const int bar = model.add_body(problems::rod("bar", Vec3::Zero(), Vec3::UnitY(), 1, Vec3::UnitZ()));
  Body slider;
  slider.name = "slider";
  slider.mass = 2;
  slider.inertia = Vec3(0.1, 0.1, 0.1).asDiagonal();
  slider.pose.position = Vec3(0.5, 0, 0);
  const int driven = model.add_body(slider);
  add_joint(model, "revolute", "hinge", ground, bar, Vec3::Zero());
  const int slide = add_joint(model, "translational", "slide", ground, driven, slider.pose.position, Vec3::UnitX());
  Fields length, displacement;
  length.set("length", std::sqrt(1.25));
  const int tip = model.add_frame_at(bar, Vec3::UnitY(), Vec3::UnitZ());
  add_joint(model, "distance", "link", {tip, model.add_frame(driven, {})}, length);
  displacement.set("displacement", ExpressionText{"3*time", {}});
  add_motion(model, "translation", "pull", model.joints[static_cast<std::size_t>(slide)].frames, displacement);
  const Ready ready(std::move(model));
  const Attempt attempt = make(ready, "euler")->attempt(1);
  EXPECT_EQ(attempt.verdict, Verdict::newton_diverged);
  ASSERT_GE(attempt.worst_row, 0);
  EXPECT_NE(ready.equations->name_of_row(attempt.worst_row).find("joint 'link'"), std::string::npos)
      << ready.equations->name_of_row(attempt.worst_row);
}

// A saved run goes on in the tree that it was saved in, whatever its depth, and in no other.
TEST(JointCoordinates, GoOnInTheSameTreeOnly) {
  const Ready ready(problems::chain(6));
  for (const char* method : {"rk4", "adams"}) {
    const std::unique_ptr<Integrator> whole = make(ready, method, "joint-coordinates", 2),
                                      resumed = make(ready, method, "joint-coordinates", 2),
                                      deep = make(ready, method, "joint-coordinates", 6);
    run_to(*whole, 0.02, 20);
    Bytes saved;
    whole->save(saved);
    std::span<const std::byte> in(saved);
    resumed->restore(in);
    EXPECT_TRUE(in.empty());
    const State a = run_to(*whole, 0.02, 20), b = run_to(*resumed, 0.02, 20);
    EXPECT_TRUE(a.q == b.q && a.v == b.v) << method;
    in = saved;
    EXPECT_THROW(deep->restore(in), Failure) << method;
    in = std::span<const std::byte>(saved).first(saved.size() / 2);
    EXPECT_THROW(make(ready, method, "joint-coordinates", 2)->restore(in), Failure) << method;
  }
}

// A body so fast that it turns by 1.5 rad in a step. Measured against the state of three steps before, half of 4.5 rad
// on, its quaternion took the other sign than against the one that a saved run has.
TEST(JointCoordinates, KeepTheSignsOfQuaternionsInASavedRun) {
  Model model;
  model.gravity = Vec3(0, 0, -9.81);
  Body stone;
  stone.name = "stone";
  stone.mass = 2;
  stone.inertia = Vec3(0.2, 0.3, 0.4).asDiagonal();
  stone.angular_velocity = Vec3(0, 150, 0);
  model.add_body(stone);
  const Ready ready(std::move(model));
  const std::unique_ptr<Integrator> whole = make(ready, "rk4"), resumed = make(ready, "rk4");
  for (int i = 0; i < 9; ++i) {
    Bytes saved;
    whole->save(saved);
    std::span<const std::byte> in(saved);
    resumed->restore(in);
    const Vec before = whole->state().q;
    for (Integrator* each : {whole.get(), resumed.get()}) {
      ASSERT_EQ(each->attempt(1e-2).verdict, Verdict::ok);
      each->accept();
    }
    const Vec &a = whole->state().q, &b = resumed->state().q;
    EXPECT_EQ(std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(double)), 0) << i;
    EXPECT_NEAR(a.tail<4>().dot(before.tail<4>()), std::cos(0.75), 1e-2) << i;
  }
  // an attempt that came to nothing leaves no trace either
  (void)whole->attempt(3e-2);
  for (Integrator* each : {whole.get(), resumed.get()}) {
    ASSERT_EQ(each->attempt(1e-2).verdict, Verdict::ok);
    each->accept();
  }
  EXPECT_TRUE(whole->state().q == resumed->state().q);
}

// The angle of a planar body is a sum of joint angles and of turns that only the state knows. It goes on counting over
// a save, and over the new start that follows an event.
TEST(JointCoordinates, CountTurnsOfPlanarBodiesOverSavesAndEvents) {
  Model model = problems::four_bar(Build::planar);
  model.gravity.setZero();
  const Ready ready(std::move(model));
  const Eigen::Index angle = ready.equations->first_coordinate(0) + 2;
  const std::unique_ptr<Integrator> whole = make(ready, "dormand-prince-853"),
                                    resumed = make(ready, "dormand-prince-853"),
                                    again = make(ready, "dormand-prince-853");
  run_to(*whole, 1.2, 400);
  run_to(*again, 1.2, 400);
  EXPECT_GT(std::abs(whole->state().q[angle] - ready.state.q[angle]), 3.5);  // a new reading of the angle would lose it
  Bytes saved;
  whole->save(saved);
  std::span<const std::byte> in(saved);
  resumed->restore(in);
  const State state = again->state();
  const Rates rates = again->rates();
  again->start(state, rates);
  EXPECT_TRUE(again->state().q == whole->state().q);
  const State a = run_to(*whole, 1.2, 400), b = run_to(*resumed, 1.2, 400), c = run_to(*again, 1.2, 400);
  EXPECT_GT(std::abs(a.q[angle] - ready.state.q[angle]), 7);
  EXPECT_TRUE(a.q == b.q && a.v == b.v);
  EXPECT_LT((a.q - c.q).lpNorm<Eigen::Infinity>(), 1e-8);
}

// Both wheels of the bicycle roll: four rows at velocity level inside loops through the ground, two of positions.
TEST(JointCoordinates, RollOnTwoWheels) {
  const Ready ready(load_model(std::string(TRAMMEL_SOURCE_DIR) + "/models/bicycle.yaml"));
  const Equations& equations = *ready.equations;
  ASSERT_GE(equations.velocity_rows().size(), 4u);
  const std::unique_ptr<Integrator> ours = make(ready, "dormand-prince-853"),
                                    theirs = make(ready, "dormand-prince-853", "index-1-projected");
  const State a = run_to(*ours, 0.4, 200), b = run_to(*theirs, 0.4, 200);
  EXPECT_LT(problems::distance(equations, a.q, b.q), 1e-7);
  EXPECT_LT((a.v - b.v).cwiseQuotient(equations.scales()).lpNorm<Eigen::Infinity>(), 1e-6);
  Workspace work = equations.make_workspace();
  Residual residual = equations.make_residual();
  equations.residual(a, ours->rates(), everything, residual, work);
  Vec rate = residual.g;
  equations.velocity_residual(a, rate, work);
  EXPECT_LT(equations.size_of_rows(residual.g), 1e-9);
  EXPECT_LT(equations.size_of_rows(rate), 1e-9);
  const double force = 1 + residual.inertia.lpNorm<Eigen::Infinity>();
  EXPECT_LT((residual.inertia + residual.force).lpNorm<Eigen::Infinity>(), 1e-7 * force);
}

// States of a motor and its controller beside a gear, which is a row.
TEST(JointCoordinates, CarryStatesBesideRows) {
  const Ready ready(load_model(std::string(TRAMMEL_SOURCE_DIR) + "/models/servo_axis.yaml"));
  const Equations& equations = *ready.equations;
  ASSERT_GE(equations.sizes().nx, 2);
  const std::unique_ptr<Integrator> ours = make(ready, "dormand-prince-853"),
                                    resumed = make(ready, "dormand-prince-853"),
                                    theirs = make(ready, "dormand-prince-853", "index-1-projected");
  run_to(*ours, 0.05, 100);  // the controller is within its limits
  run_to(*theirs, 0.05, 100);
  Bytes saved;
  ours->save(saved);
  std::span<const std::byte> in(saved);
  resumed->restore(in);
  const State a = run_to(*ours, 0.05, 100), b = run_to(*theirs, 0.05, 100), c = run_to(*resumed, 0.05, 100);
  EXPECT_TRUE(a.u == c.u && a.q == c.q && a.v == c.v);
  const Vec x = equations.states_of(a), other = equations.states_of(b);
  EXPECT_GT(x.norm(), 1e-3);
  EXPECT_LT((x - other).norm(), 1e-6 * (1 + other.norm()));
  EXPECT_LT(problems::distance(equations, a.q, b.q), 1e-7);
}

// States between steps come with accelerations and multipliers, those of the saddle matrix there; asking for them
// changes nothing. Where rows are redundant, multipliers are not unique, and the saddle matrix must say which.
TEST(JointCoordinates, KnowAccelerationsAndForcesBetweenSteps) {
  for (Model model : {problems::chain(5), problems::driven_loop(), problems::four_bar(Build::planar),
                      problems::four_bar(Build::independent, true), problems::slider_crank_with_forces()}) {
    Ready ready(std::move(model));
    const Equations& equations = *ready.equations;
    const std::unique_ptr<Integrator> asked = make(ready, "dormand-prince-853"),
                                      alone = make(ready, "dormand-prince-853");
    State state = ready.state;
    Rates rates = ready.rates, exact = ready.rates;
    EXPECT_FALSE(asked->complete_at(0, state, rates)) << "the rates of the start are somebody else's";
    for (int i = 0; i < 20; ++i) {
      run_to(*asked, 5e-3, 1);
      run_to(*alone, 5e-3, 1);
      const double now = asked->state().t;
      ASSERT_TRUE(asked->rates_complete());
      for (const double t : {now - 3e-3, now}) {
        ASSERT_TRUE(asked->complete_at(t, state, rates));
        EXPECT_EQ(state.t, t);
        State plain = state;
        asked->interpolate(t, plain);
        EXPECT_LT(problems::distance(equations, plain.q, state.q), 1e-7);
        EXPECT_LT((plain.v - state.v).cwiseQuotient(equations.scales()).lpNorm<Eigen::Infinity>(), 1e-5);
        ASSERT_TRUE(ready.accelerations->solve(state, exact, ready.work));
        EXPECT_LT((rates.a - exact.a).norm(), 1e-7 * (1 + exact.a.norm())) << equations.model().title;
        EXPECT_LT((rates.lambda - exact.lambda).norm(), 1e-6 * (1 + exact.lambda.norm())) << equations.model().title;
        Residual residual = equations.make_residual();
        equations.residual(state, rates, joints, residual, ready.work);
        EXPECT_LT(equations.size_of_rows(residual.g), 1e-10);
      }
    }
    EXPECT_TRUE(asked->state().q == alone->state().q && asked->state().v == alone->state().v);
  }
  const Ready redundant(problems::four_bar(Build::redundant));
  const std::unique_ptr<Integrator> integrator = make(redundant, "dormand-prince-853");
  run_to(*integrator, 0.01, 2);
  State state = redundant.state;
  Rates rates = redundant.rates;
  EXPECT_FALSE(integrator->rates_complete());
  EXPECT_FALSE(integrator->complete_at(0.008, state, rates));
}

// Outputs between steps as the saddle matrix gives them: reactions and accelerations of a run whose output times are no
// ends of steps.
TEST(JointCoordinates, RecordTheReactionsOfTheMotion) {
  const auto run = [](const char* formulation) {
    Model model = controlled(problems::slider_crank_with_forces(), "dormand-prince-853", 1e-9, 0.5);
    model.simulation.formulation = formulation;
    model.simulation.output_step = 0.01;
    Simulation simulation(std::move(model));
    MemoryTrajectory trajectory;
    const RunResult result = simulation.run(trajectory);
    EXPECT_EQ(result.status, RunStatus::finished) << text_of(result);
    EXPECT_EQ(result.summary.outputs_as_stepped, 0);
    EXPECT_LT(result.summary.position_residual, 1e-9);
    return trajectory;
  };
  const MemoryTrajectory ours = run("joint-coordinates"), theirs = run("index-1-projected");
  ASSERT_EQ(ours.rows(0), theirs.rows(0));
  for (std::size_t row = 0; row < ours.rows(0); ++row) {
    const auto a = ours.row(0, row), b = theirs.row(0, row);
    ASSERT_EQ(a.size(), b.size());
    double most = 0, off = 0;
    for (std::size_t k = 0; k < a.size(); ++k) {
      most = std::max(most, std::abs(b[k]));
      off = std::max(off, std::abs(a[k] - b[k]));
    }
    EXPECT_LT(off, 1e-5 * (1 + most)) << "row " << row;
  }
}

// A hundred turns of a crank: angles are counted, and no coordinate is ever changed.
TEST(JointCoordinates, TurnACrankAHundredTimes) {
  Model model = load_model(std::string(TRAMMEL_SOURCE_DIR) + "/models/slider_crank.yaml");
  model = controlled(std::move(model), "adams", 5.5e-6, 66);
  model.simulation.step.reset();
  model.gravity.setZero();
  model.forces.clear();
  model.outputs.clear();
  model.simulation.output_step = 1;
  Simulation simulation(model);
  MemoryTrajectory trajectory;
  const RunResult result = simulation.run(trajectory);
  ASSERT_EQ(result.status, RunStatus::finished) << text_of(result);
  const SignalRef angle = trajectory.at("joint.bearing.angle");
  EXPECT_GT(std::abs(trajectory.value(angle, trajectory.rows(angle.table) - 1)), 200 * 3.14159265358979323846);
  EXPECT_LT(result.summary.energy.largest_imbalance, 1e-2 * result.summary.energy.first);
}

// y'' = f where all coordinates have their speeds as rates: on a tree, and on a loop with returns to its rows.
TEST(JointCoordinates, ServeMethodsForSecondOrder) {
  for (const bool loop : {false, true}) {
    const Ready ready(loop ? problems::spatial_slider_crank() : problems::chain(3));
    const State truth = run_to(*make(ready, "dormand-prince-853"), 0.3, 600);
    for (const char* method : {"hht", "generalized-alpha", "midpoint"})
      expect_order(ready, method, 2, 0.3, {150, 300, 600}, truth);
  }
  // controlled, against the same method in independent coordinates
  const auto end_of = [](const char* formulation) {
    Model model = controlled(problems::four_bar(Build::redundant), "hht", 1e-6, 0.5);
    model.simulation.formulation = formulation;
    Simulation simulation(std::move(model));
    MemoryTrajectory trajectory;
    const RunResult result = simulation.run(trajectory);
    EXPECT_EQ(result.status, RunStatus::finished) << formulation << text_of(result);
    return simulation.integrator().state();
  };
  const Equations equations(problems::four_bar(Build::redundant));
  EXPECT_LT(problems::distance(equations, end_of("joint-coordinates").q, end_of("state-space").q), 3e-3);
}

TEST(JointCoordinates, NameWhatHasNoSecondOrder) {
  const auto refusal = [](Model model) -> std::string {
    const Ready ready(std::move(model));
    try {
      make(ready, "hht");
    } catch (const Failure& failure) {
      return failure.problems().front().message;
    }
    return "";
  };
  EXPECT_EQ(refusal(problems::heavy_top()),
            "method 'hht' takes y'' = f, with coordinates whose rates are the speeds, and joint 'tip' turns in space");
  Model stone;
  Body body;
  body.name = "stone";
  body.mass = 2;
  body.inertia = Vec3(0.2, 0.3, 0.4).asDiagonal();
  stone.add_body(body);
  EXPECT_NE(refusal(stone).find("body 'stone' moves freely and turns in space"), std::string::npos) << refusal(stone);
  const std::string states = refusal(load_model(std::string(TRAMMEL_SOURCE_DIR) + "/models/servo_axis.yaml"));
  EXPECT_NE(states.find("' is of first order"), std::string::npos) << states;
  EXPECT_EQ(refusal(problems::four_bar(Build::redundant)), "");
}

TEST(JointCoordinates, AreRefusedByRosenbrockMethodsAndByBdfFixed) {
  for (const MethodInfo& method : method_registry()) {
    if (!method.make) continue;
    const std::string why = why_not(method, "joint-coordinates");
    const bool one_kind = (method.make_first_order != nullptr) != (method.make_second_order != nullptr);
    EXPECT_EQ(why.empty(), one_kind && method.key != "bdf-fixed") << method.key;
  }
  for (const char* key : {"rosenbrock-nystrom-4", "w-method-2"})
    EXPECT_NE(why_not(find_method(key, {}), "joint-coordinates").find("exact derivatives"), std::string::npos) << key;
  EXPECT_NE(why_not(find_method("bdf-fixed", {}), "joint-coordinates").find("miscounted by a turn"), std::string::npos);
  ASSERT_NE(find_formulation("joint-coordinates"), nullptr);
}

}  // namespace
}  // namespace trammel::joint_coordinates_test
