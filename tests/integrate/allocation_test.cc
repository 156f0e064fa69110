// A step allocates nothing: malloc and its kin are interposed and counted between calls. Operator new would not do, it
// sees neither Eigen nor KLU.
#include <gtest/gtest.h>

#include "tests/problems/mechanisms.h"
#include "tests/problems/own_malloc.h"
#include "tests/problems/stepping.h"
#include "trammel/integrate/registry.h"
#include "trammel/integrate/split/split.h"
#include "trammel/read/read_model.h"

namespace trammel::allocation_test {
namespace {

using problems::Ready;

class Allocations : public testing::Test {
 protected:
  void SetUp() override {
    if (TRAMMEL_OWN_MALLOC == 0) GTEST_SKIP() << "the sanitizer owns malloc";
  }
  template <class F>
  static long count(F&& f) {
    calls = 0;
    counting = true;
    f();
    counting = false;
    return calls;
  }
};

TEST_F(Allocations, AreSeen) {
  Vec v;
  EXPECT_GE(count([&] { v = Vec::Zero(100); }), 1);
  EXPECT_GE(count([&] { v.resize(0); }), 1);
  EXPECT_EQ(count([&] { v = Vec(); }), 0);
}

// Steps of several sizes, a rejected one, new derivatives: all that a controlled run does between outputs.
void expect_none(Model model, double h, AlphaOptions::Projection projection = AlphaOptions::Projection::none) {
  const Ready ready(std::move(model));
  AlphaOptions options;
  options.parameters = AlphaParameters::hht(-0.3);
  options.tolerance = 1e-6;
  options.projection = projection;
  AlphaMethod method(*ready.equations, options);
  method.start(ready.state, ready.rates);
  const auto step = [&](double size) {
    const Attempt attempt = method.attempt(size);
    if (attempt.verdict == Verdict::ok) method.accept();
    return attempt;
  };
  for (int i = 0; i < 5; ++i) EXPECT_EQ(step(h).verdict, Verdict::ok);
  EXPECT_EQ(step(1.5 * h).verdict, Verdict::ok);

  const Counts before = method.counts();
  calls = 0;
  counting = true;
  bool good = true;
  for (int i = 0; i < 50; ++i) {
    good = step(i % 10 == 4 ? 2 * h : h).verdict == Verdict::ok && good;
    if (i % 7 == 3) {
      // tried, not accepted, and tried again with a smaller step
      (void)method.attempt(1.8 * h);
      good = step(0.5 * h).verdict == Verdict::ok && good;
    }
  }
  State state = method.state();  // the copy is counted: taken out again below
  counting = false;
  const long copies = 3;  // q, v and memory; x and u are empty
  const Counts& after = method.counts();
  EXPECT_TRUE(good);
  EXPECT_LE(calls, copies);
  EXPECT_GT(after.refactorisations, before.refactorisations + 10);
  EXPECT_GT(after.linearisations, before.linearisations);
  EXPECT_EQ(after.factorisations, before.factorisations);
}

TEST_F(Allocations, NoneInStepsOfAChain) { expect_none(problems::chain(8), 2e-3); }
TEST_F(Allocations, NoneInStepsOfTheSliderCrankWithForces) { expect_none(problems::slider_crank_with_forces(), 2e-3); }
TEST_F(Allocations, NoneInStepsWithRedundantConstraints) {
  expect_none(problems::four_bar(problems::Build::redundant, true), 2e-3);
}
TEST_F(Allocations, NoneInIteratedProjections) {
  expect_none(problems::slider_crank_with_forces(), 2e-3, AlphaOptions::Projection::iterated);
}
TEST_F(Allocations, NoneInStepsOfPlanarBodies) { expect_none(problems::four_bar(problems::Build::planar), 2e-3); }

TEST_F(Allocations, NoneInStepsOfABodyThatBends) {
  expect_none(read_model(std::string(TRAMMEL_SOURCE_DIR) + "/models/flexible_pendulum.yaml"), 6e-3);
}

// Joints and forces between bodies of different numbers of columns: the pendulum hangs on a block that slides.
TEST_F(Allocations, NoneInStepsOfABodyThatBendsOnARigidOne) {
  expect_none(read_model_text(R"yaml(
trammel: 1
gravity: [0, 0, -9.81]
bodies:
  strip:
    kind: modal
    flexible:
      materials: {aluminium: {youngs_modulus: 70e9, poisson_ratio: 0.33, density: 2700}}
      sections: {flat: {type: rectangle, width: 20 mm, height: 3 mm}}
      nodes: {root: [0, 0, 0], middle: [0.5, 0, 0], tip: [1, 0, 0]}
      beams: [{nodes: [root, middle, tip]}]
      element_length: 0.1
      interfaces: [root, middle, tip]
      normal_modes: 4
      damping_ratios: [0.01, 0.1, 1]
      damping_bands: [100 Hz, 1000 Hz]
  block: {mass: 5, inertia: [0.01, 0.01, 0.01]}
joints:
  slide: {type: translational, between: [ground, block], at: [0, 0, 0], axis: [1, 0, 0]}
  hinge: {type: revolute, between: [strip, block], at: [0, 0, 0], axis: [0, 1, 0]}
forces:
  tie:
    type: translational_spring_damper
    between: [strip, block]
    at: [[1, 0, 0], [0, 0, -0.3]]
    stiffness: 1
    damping: 0.01
)yaml",
                              "hanging.yaml"),
              6e-3);
}

TEST_F(Allocations, NoneInStepsWithAMisfit) {
  expect_none(problems::four_bar(problems::Build::redundant, true, 1e-8), 2e-3);
}

TEST_F(Allocations, NoneInStepsThatSplit) {
  const Ready ready(problems::slider_crank_with_forces());
  for (const SplitControl control : {SplitControl::error, SplitControl::stability}) {
    SplitOptions options;
    options.control = control;
    options.greatest_step = 1;
    SplitMethod method(*ready.equations, options);
    method.start(ready.state, ready.rates);
    const auto steps = [&](int count) {
      bool good = true;
      for (int i = 0; i < count; ++i) {
        good = method.attempt(i % 3 == 0 ? 2e-4 : 1e-4).verdict == Verdict::ok && good;
        method.accept();
      }
      return good;
    };
    EXPECT_TRUE(steps(5));
    calls = 0;
    counting = true;
    const bool good = steps(20);
    counting = false;
    EXPECT_TRUE(good);
    EXPECT_EQ(calls, 0);
  }
}

// BDF made a matrix in each step that returned to the constraints.
TEST_F(Allocations, NoneInStepsInJointCoordinates) {
  for (const char* method : {"rk4", "dormand-prince-853", "adams", "bdf", "radau-iia-3"}) {
    for (const Model& model : {problems::chain(6), problems::four_bar(problems::Build::redundant, true)}) {
      const Ready ready(model);
      MethodSettings settings;
      settings.tolerance = 1e-2;
      settings.formulation = "joint-coordinates";
      const MethodInfo& info = find_method(method, {});
      const std::unique_ptr<Integrator> integrator = info.make(*ready.equations, resolve_settings(info, settings, {}));
      integrator->start(ready.state, ready.rates);
      const auto steps = [&](int count) {
        bool good = true;
        for (int i = 0; i < count; ++i) {
          const Attempt attempt = integrator->attempt(i % 10 < 7 ? 1e-3 : 1.5e-3);
          good = attempt.verdict == Verdict::ok && attempt.error <= 1 && good;
          integrator->accept();
        }
        return good;
      };
      EXPECT_TRUE(steps(30)) << method;
      calls = 0;
      counting = true;
      const bool good = steps(30);
      counting = false;
      EXPECT_TRUE(good) << method;
      EXPECT_EQ(calls, 0) << method << ", " << model.title;
    }
  }
}

TEST_F(Allocations, NoneInSavingTheSameStateTwice) {
  const Ready ready(problems::chain(4));
  AlphaMethod method(*ready.equations, {});
  method.start(ready.state, ready.rates);
  Workspace work = ready.equations->make_workspace();
  State out = ready.state;
  ASSERT_EQ(method.attempt(1e-3).verdict, Verdict::ok);
  method.accept();
  // evaluation of residuals and derivatives into places made beforehand
  Residual residual = ready.equations->make_residual();
  Partials partials = ready.equations->make_partials(Detail::all);
  Vec gdot = residual.g;
  EXPECT_EQ(count([&] {
              ready.equations->residual(method.state(), method.rates(), everything, residual, work);
              ready.equations->linearise(method.state(), method.rates(), Detail::all, partials, work);
              ready.equations->jacobian(method.state(), partials, work);
              ready.equations->velocity_residual(method.state(), gdot, work);
            }),
            0);
}

}  // namespace
}  // namespace trammel::allocation_test
