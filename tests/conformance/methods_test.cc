// Every method of the registry: what its entry claims (orders, options, refusals) is what it does, and it keeps to the
// rules of the Integrator interface: attempts change nothing, saved runs continue bit for bit, dense output meets the
// steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>

#include "tests/problems/mechanisms.h"
#include "tests/problems/stepping.h"
#include "trammel/formulate/formulations.h"
#include "trammel/integrate/registry.h"
#include "trammel/run/simulation.h"

namespace trammel::methods_test {
namespace {

using problems::fitted_slope;
using problems::Ready;

bool same_bits(const Vec& a, const Vec& b) {
  return a.size() == b.size() &&
         (a.size() == 0 || std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(double)) == 0);
}

class Methods : public testing::TestWithParam<std::string> {
 protected:
  const MethodInfo& info() const { return find_method(GetParam(), {}); }
  std::unique_ptr<Integrator> make(const Ready& ready, bool fixed = true, double tolerance = 1e-3) const {
    MethodSettings settings;
    settings.fixed_step = fixed;
    settings.tolerance = tolerance;
    settings.formulation = formulation_;
    std::unique_ptr<Integrator> out = info().make(*ready.equations, resolve_settings(info(), settings, {}));
    out->start(ready.state, ready.rates);
    return out;
  }
  // The body of a test once for every formulation the method takes.
  template <class Body>
  void for_each_formulation(Body&& body) {
    for (const std::string& key : info().formulations) {
      formulation_ = key;
      SCOPED_TRACE(key);
      body();
    }
    formulation_.clear();
  }
  // Constraints hold to round-off, in positions too.
  bool on_constraints() const {
    return formulation_ == "index-3" || formulation_ == "state-space" || formulation_ == "joint-coordinates" ||
           formulation_ == "all-coordinates" || formulation_ == "index-1-projected" ||
           formulation_ == "stabilised-index-2";
  }
  bool is_penalty() const {
    return formulation_ == "penalty" || formulation_ == "augmented-lagrangian" || formulation_ == "penalty-joints";
  }
  std::string formulation_;

  static void step(Integrator& integrator, double h) {
    ASSERT_EQ(integrator.attempt(h).verdict, Verdict::ok);
    integrator.accept();
  }
};

TEST_P(Methods, AreDescribed) {
  const MethodInfo& m = info();
  for (const char c : m.key)
    EXPECT_TRUE(std::islower(static_cast<unsigned char>(c)) != 0 || std::isdigit(static_cast<unsigned char>(c)) != 0 ||
                c == '-')
        << m.key;
  for (const std::string* text : {&m.title, &m.source, &m.stability}) EXPECT_FALSE(text->empty());
  for (const Field& option : m.options) {
    EXPECT_FALSE(option.text.empty()) << option.name;
    ASSERT_TRUE(option.fallback.has_value()) << option.name;
    if (const double* value = std::get_if<double>(&*option.fallback)) {
      EXPECT_GE(*value, option.least) << option.name;
      EXPECT_LE(*value, option.most) << option.name;
    }
  }
}

TEST_P(Methods, AcceptTheirOwnDefaults) {
  for (const bool fixed : {true, false}) {
    MethodSettings settings;
    settings.fixed_step = fixed;
    const MethodSettings resolved = resolve_settings(info(), settings, {});
    for (const Field& option : info().options) EXPECT_TRUE(resolved.options.has(option.name));
  }
}

TEST_P(Methods, RefuseOptionsTheyDoNotKnow) {
  MethodSettings settings;
  const std::string known = info().options[0].name;
  settings.options.set(known.substr(0, known.size() - 1), 2.0);
  try {
    resolve_settings(info(), settings, {});
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.problems()[0].id, "unknown-option");
    EXPECT_NE(failure.problems()[0].hint.find(known), std::string::npos);
  }
  for (const Field& option : info().options) {
    MethodSettings wrong;
    wrong.fixed_step = true;
    wrong.options.set(option.name, std::string("text"));
    if (option.kind == FieldKind::text) wrong.options.set(option.name, true);
    EXPECT_THROW(resolve_settings(info(), wrong, {}), Failure) << option.name;
    if (option.kind != FieldKind::number) continue;
    for (const double value : {option.least - 0.1, option.most + 0.1, std::nan("")}) {
      MethodSettings out;
      out.fixed_step = true;
      out.options.set(option.name, value);
      EXPECT_THROW(resolve_settings(info(), out, {}), Failure) << option.name << " = " << value;
    }
  }
}

TEST_P(Methods, HaveTheOrderTheyClaim) {
  for_each_formulation([&] {
    if (is_penalty()) return;           // its own error is that of the constraints
    if (info().variable_order) return;  // ode_methods_test.cc
    const Ready ready(problems::spherical_pendulum());
    // closed form: position at t = 1 s
    const Vec3 truth(-0.7670905966190552, -0.376783722018906, -0.5192360189742251),
        speed(0.40772171534639473, -1.4931941615096236, 0.48119111706556605);
    std::vector<double> h, q, v, estimate;
    int coarsest = info().order > 4 ? 12 : info().order > 2 ? 50 : 400;  // high orders reach round-off soon
    // Errors of each choice of coordinates are their own. It changes at 0.3625 s, and all of 33, 66, 132 and 264 steps
    // have their first point behind it at 12/33 s.
    if (formulation_ == "state-space") coarsest = info().order > 4 ? 33 : 3 * coarsest;
    if (formulation_ == "index-1-baumgarte") coarsest *= info().order > 4 ? 2 : 6;  // its frequency must be resolved
    for (const int count : {coarsest, 2 * coarsest, 4 * coarsest, 8 * coarsest}) {
      const std::unique_ptr<Integrator> integrator = make(ready);
      Attempt attempt;
      for (int i = 0; i < count; ++i) {
        attempt = integrator->attempt(1.0 / count);
        ASSERT_EQ(attempt.verdict, Verdict::ok);
        integrator->accept();
      }
      h.push_back(1.0 / count);
      q.push_back((integrator->state().q - truth).norm());
      v.push_back((integrator->state().v - speed).norm());
      estimate.push_back(attempt.error);
    }
    EXPECT_NEAR(fitted_slope(h, q), info().order, 0.1);
    // at index 3 the stages of Radau give velocities of order 3
    EXPECT_NEAR(fitted_slope(h, v), info().make_first_order && formulation_ == "index-3" ? 3 : info().order, 0.1);
    // some have an estimate with controlled steps only
    if (estimate.back() > 0) {
      EXPECT_NEAR(fitted_slope(h, estimate), info().error_order, 0.1);
    }
    EXPECT_EQ(make(ready)->error_order(), info().error_order);
  });
}

// A step is an affair of the bodies: one that is turned as a whole is the same step.
TEST_P(Methods, DoNotKnowWhereTheWorldIs) {
  const Ready level(problems::four_bar(problems::Build::redundant)),
      tilted(problems::four_bar(problems::Build::redundant, true));
  // What Newton leaves is not the same in both: little is left.
  MethodSettings settings;
  settings.fixed_step = true;
  for (const Field& option : info().options)
    if (option.name == "corrector")
      settings.options.set("corrector", std::get<double>(*option.fallback) > 0
                                            ? std::max(option.least, 1e-3 * std::get<double>(*option.fallback))
                                            : 1e-9);
  const auto tight = [&](const Ready& ready) {
    std::unique_ptr<Integrator> out = info().make(*ready.equations, resolve_settings(info(), settings, {}));
    out->start(ready.state, ready.rates);
    return out;
  };
  const std::unique_ptr<Integrator> a = tight(level), b = tight(tilted);
  for (int i = 0; i < 300; ++i) {
    step(*a, 1e-3);
    step(*b, 1e-3);
  }
  // Springs in place of joints turn what the start leaves of the constraints, 1e-8 m, into speeds.
  // BDF at index 2: 2.4e-6 seen, whatever the corrector, up and down from step to step.
  const double limit = info().formulations.front() == "penalty-joints" || info().key == "bdf-si2" ? 1e-5 : 1e-6;
  for (int body = 0; body < 3; ++body) {
    // angular velocities are in body axes, which are alike
    EXPECT_LT((a->state().v.segment(6 * body + 3, 3) - b->state().v.segment(6 * body + 3, 3)).norm(), limit);
  }
}

TEST_P(Methods, AttemptsLeaveTheStateAlone) {
  for_each_formulation([&] {
    const Ready ready(problems::slider_crank_with_forces());
    const std::unique_ptr<Integrator> integrator = make(ready, false, 1e-2);
    for (int i = 0; i < 5; ++i) step(*integrator, 1e-3);
    const State state = integrator->state();
    const Rates rates = integrator->rates();
    for (const double h : {1e-3, 5e-3, 0.3, 1e-5}) {
      (void)integrator->attempt(h);
      EXPECT_EQ(integrator->state().t, state.t);
      EXPECT_TRUE(same_bits(integrator->state().q, state.q));
      EXPECT_TRUE(same_bits(integrator->state().v, state.v));
      EXPECT_EQ(integrator->state().memory, state.memory);
      EXPECT_TRUE(same_bits(integrator->rates().a, rates.a));
      EXPECT_TRUE(same_bits(integrator->rates().lambda, rates.lambda));
    }
    // and the step taken afterwards is right
    step(*integrator, 1e-3);
    const std::unique_ptr<Integrator> straight = make(ready, false, 1e-2);
    for (int i = 0; i < 6; ++i) step(*straight, 1e-3);
    EXPECT_LT((integrator->state().q - straight->state().q).norm(), 1e-7);
  });
}

TEST_P(Methods, RatesSatisfyTheEquationsOfMotion) {
  for_each_formulation([&] {
    if (!on_constraints()) return;
    Ready ready(problems::slider_crank_with_forces());
    const std::unique_ptr<Integrator> integrator = make(ready, true, 1e-12);
    for (int i = 0; i < 200; ++i) step(*integrator, 1e-3);
    Residual residual = ready.equations->make_residual();
    ready.equations->residual(integrator->state(), integrator->rates(), everything, residual, ready.work);
    EXPECT_LT((residual.inertia + residual.force).norm(), 1e-6 * (1 + residual.inertia.norm()));
    EXPECT_LT(residual.g.lpNorm<Eigen::Infinity>(), 1e-10);
  });
}

TEST_P(Methods, DenseOutputMeetsTheSteps) {
  for_each_formulation([&] {
    const Ready ready(problems::spatial_slider_crank());
    const std::unique_ptr<Integrator> integrator = make(ready);
    for (int i = 0; i < 50; ++i) step(*integrator, 2e-3);
    const State start = integrator->state();
    step(*integrator, 2e-3);
    State out = start;
    integrator->interpolate(start.t, out);
    EXPECT_LT((out.q - start.q).norm(), 1e-13);
    EXPECT_LT((out.v - start.v).norm(), 1e-10);
    integrator->interpolate(integrator->state().t, out);
    EXPECT_TRUE(same_bits(out.q, integrator->state().q));
    EXPECT_TRUE(same_bits(out.v, integrator->state().v));
    EXPECT_EQ(integrator->last_step(), 2e-3);
    // in between as good as a cubic can be: against a run with steps a hundred times finer from the same start
    MethodSettings settings;
    settings.fixed_step = true;
    settings.tolerance = 1e-9;
    settings.formulation = formulation_;
    const std::unique_ptr<Integrator> fine = info().make(*ready.equations, resolve_settings(info(), settings, {}));
    Rates rates = ready.equations->make_rates();
    Workspace work = ready.equations->make_workspace();
    AccelerationSolver solver(*ready.equations);
    ASSERT_TRUE(solver.solve(start, rates, work));
    fine->start(start, rates);
    for (int i = 0; i < 50; ++i) step(*fine, 2e-5);
    integrator->interpolate(start.t + 1e-3, out);
    EXPECT_EQ(out.t, start.t + 1e-3);
    const double inside_q = problems::distance(*ready.equations, fine->state().q, out.q);
    const double inside = (fine->state().v - out.v).norm();
    for (int i = 0; i < 50; ++i) step(*fine, 2e-5);
    // the step's own errors of velocities and, as slopes of the interpolation, of positions (quaternions: half angles)
    const double at_end =
        (fine->state().v - integrator->state().v).norm() + 2 * (fine->state().q - integrator->state().q).norm() / 2e-3;
    // a projection mends the end of the step, not its inside
    const double factor = formulation_ == "index-1-projected" ? 5 : formulation_ == "index-2-relaxed" ? 1.5 : 1;
    const double end_q = problems::distance(*ready.equations, fine->state().q, integrator->state().q);
    EXPECT_LT(inside_q, std::max(1e-6, factor * end_q));
    EXPECT_LT(inside, std::max(1e-3, 2 * factor * at_end));
  });
}

TEST_P(Methods, ContinueBitForBitWhenRestored) {
  for_each_formulation([&] {
    const Ready ready(problems::slider_crank_with_forces());
    const std::unique_ptr<Integrator> whole = make(ready, false, 1e-2);
    const double sizes[] = {1e-3, 1.2e-3, 2e-3, 8e-4};
    for (int i = 0; i < 40; ++i) step(*whole, sizes[i % 4]);
    Bytes bytes;
    whole->save(bytes);
    const std::unique_ptr<Integrator> other = make(ready, false, 1e-2);
    std::span<const std::byte> in(bytes);
    other->restore(in);
    EXPECT_TRUE(in.empty());
    for (int i = 0; i < 40; ++i) {
      const Attempt a = whole->attempt(sizes[i % 3]), b = other->attempt(sizes[i % 3]);
      ASSERT_EQ(a.error, b.error);
      ASSERT_EQ(a.newton_iterations, b.newton_iterations);
      whole->accept();
      other->accept();
    }
    EXPECT_TRUE(same_bits(whole->state().q, other->state().q));
    EXPECT_TRUE(same_bits(whole->state().v, other->state().v));
    EXPECT_TRUE(same_bits(whole->rates().lambda, other->rates().lambda));
  });
}

TEST_P(Methods, GiveTheSameBitsTwice) {
  for_each_formulation([&] {
    const Ready ready(problems::slider_crank_with_forces());
    const std::unique_ptr<Integrator> a = make(ready, false, 1e-2), b = make(ready, false, 1e-2);
    for (int i = 0; i < 50; ++i) {
      step(*a, 1e-3);
      step(*b, 1e-3);
    }
    EXPECT_TRUE(same_bits(a->state().q, b->state().q));
    EXPECT_EQ(a->counts().newton_iterations, b->counts().newton_iterations);
  });
}

TEST_P(Methods, RestartsGoOnWithTheSameMotion) {
  for_each_formulation([&] {
    const Ready ready(problems::spatial_slider_crank());
    const std::unique_ptr<Integrator> a = make(ready), b = make(ready);
    for (int i = 0; i < 400; ++i) {
      step(*a, 1e-3);
      step(*b, 1e-3);
      if (i == 200) b->restart("nothing in particular");
    }
    EXPECT_LT(problems::distance(*ready.equations, a->state().q, b->state().q), info().order == 1 ? 1e-2 : 1e-4);
  });
}

// From a model to the end of a controlled run; halving the tolerance a thousandfold shows in the error.
TEST_P(Methods, ControlledRunsGetBetterWithTheTolerance) {
  for_each_formulation([&] {
    if (is_penalty()) return;
    double errors[2];
    int i = 0;
    for (const double tolerance : {1e-4, 1e-7}) {
      Model m = problems::spherical_pendulum();
      m.simulation.method = GetParam();
      m.simulation.formulation = formulation_;
      m.simulation.end = 1;
      m.simulation.tolerance = tolerance;
      Simulation simulation(m);
      MemoryTrajectory trajectory;
      const RunResult result = simulation.run(trajectory);
      ASSERT_EQ(result.status, RunStatus::finished);
      EXPECT_EQ(simulation.integrator().state().t, 1);
      errors[i++] =
          (simulation.integrator().state().q - Vec3(-0.7670905966190552, -0.376783722018906, -0.5192360189742251))
              .norm();
    }
    EXPECT_LT(errors[1], errors[0] / (info().order == 1 ? 5 : 30));
  });
}

// A mechanism of nothing but free bodies, of one body, and of none.
TEST_P(Methods, RunWithoutConstraints) {
  for_each_formulation([&] {
    Model m;
    m.gravity = Vec3(0, 0, -10);
    Body stone;
    stone.name = "stone";
    stone.kind = "point";
    stone.mass = 3;
    stone.velocity = Vec3(1, 0, 2);
    m.add_body(stone);
    const Ready ready(m);
    const std::unique_ptr<Integrator> integrator = make(ready);
    for (int i = 0; i < 100; ++i) step(*integrator, 1e-2);
    // a parabola is exact for all of order 2; theta = 0.6 sees the end's fall too much
    EXPECT_LT((integrator->state().q - Vec3(1, 0, -3)).norm(), info().order >= 2 ? 1e-12 : 0.02);
  });
}

std::vector<std::string> method_keys() {
  std::vector<std::string> keys;
  for (const MethodInfo& m : method_registry()) {
    if (m.key.starts_with("cvode-")) continue;  // takes no fixed steps and cannot be saved: cvode_test.cc
    // of the many methods for y' = f, which formulations make alike, some stand for all: ode_methods_test.cc
    const bool for_odes = m.make_first_order && m.key != "adams" && m.key != "rosenbrock-nystrom-4" &&
                          m.key != "w-method-2" && m.key != "radau-iia-3";
    if (m.make && !for_odes) keys.push_back(m.key);
  }
  return keys;
}
INSTANTIATE_TEST_SUITE_P(All, Methods, testing::ValuesIn(method_keys()), [](const auto& key) {
  std::string name = key.param;
  for (char& c : name) {
    if (c == '-') c = '_';
  }
  return name;
});

// ---- the matrix of methods and formulations
// ---------------------------------------------------------------------------

// Every cell that must be there is; every cell that is not has its reason.
TEST(Matrix, HoldsTheRequiredCells) {
  using Keys = std::vector<std::string>;
  const Keys index_1{"index-1", "index-1-projected", "index-1-baumgarte"};
  const auto with = [](Keys a, const Keys& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  };
  // a family: the keys that stand for it together, and the forms they must cover
  const std::pair<Keys, Keys> required[] = {
      {{"euler"}, with(index_1, {"penalty", "state-space"})},
      {{"taylor-2"}, with(index_1, {"penalty", "state-space"})},
      {{"heun"}, with(index_1, {"penalty", "state-space"})},
      {{"rk4"}, with(index_1, {"penalty", "state-space"})},
      {{"bogacki-shampine-32"}, with(index_1, {"penalty", "state-space"})},
      {{"fehlberg-45"}, with(index_1, {"penalty", "state-space"})},
      {{"dormand-prince-54"}, with(index_1, {"penalty", "state-space"})},
      {{"dormand-prince-853"}, with(index_1, {"penalty", "state-space"})},
      {{"adams"}, with(index_1, {"penalty", "state-space"})},
      {{"adams-bashforth"}, with(index_1, {"penalty", "state-space"})},
      {{"adams-moulton"}, with(index_1, {"penalty", "state-space"})},
      {{"newmark", "newmark-i3", "newmark-si2"},
       {"index-3", "stabilised-index-2", "penalty", "augmented-lagrangian", "state-space"}},
      {{"hht", "hht-i3", "hht-si2"},
       {"index-3", "stabilised-index-2", "penalty", "augmented-lagrangian", "state-space"}},
      {{"generalized-alpha", "generalized-alpha-i3", "generalized-alpha-si2"},
       {"index-3", "stabilised-index-2", "penalty", "augmented-lagrangian", "state-space"}},
      {{"bdf", "bdf-i3", "bdf-si2"}, with(index_1, {"index-3", "stabilised-index-2", "penalty", "state-space"})},
      {{"radau-iia-3"}, with(index_1, {"index-3", "stabilised-index-2", "penalty", "state-space"})},
      {{"rosenbrock-nystrom-4"}, {"state-space", "penalty"}},
      {{"w-method-2"}, {"state-space", "penalty"}},
  };
  for (const auto& [methods, forms] : required) {
    for (const std::string& form : forms) {
      int takers = 0;
      for (const std::string& key : methods) takers += why_not(find_method(key, {}), form).empty() ? 1 : 0;
      EXPECT_EQ(takers, 1) << methods.front() << " on " << form;
    }
  }
  for (const MethodInfo& m : method_registry()) {
    for (const FormulationInfo& form : formulation_registry()) {
      const bool takes = std::find(m.formulations.begin(), m.formulations.end(), form.key) != m.formulations.end();
      EXPECT_EQ(why_not(m, form.key).empty(), takes) << m.key << " on " << form.key;
    }
    // what a method for y' = f alone cannot have is refused because of a property of the method
    if (!m.make_first_order && !m.make_second_order) continue;
    if (std::find(m.formulations.begin(), m.formulations.end(), "index-3") != m.formulations.end()) continue;
    EXPECT_GT(why_not(m, "index-3").size(), 50u) << m.key;
  }
}

// ---- refusals -------------------------------------------------------------------------------------------------------

std::string refusal(const char* key, const char* option, double value, bool fixed) {
  MethodSettings settings;
  settings.fixed_step = fixed;
  settings.options.set(option, value);
  try {
    resolve_settings(find_method(key, {}), settings, {});
  } catch (const Failure& failure) {
    return failure.problems()[0].id + ": " + failure.problems()[0].message;
  }
  return "";
}

TEST(MethodRefusals, UndampedMultipliersNeedAFixedStep) {
  const std::pair<const char*, std::pair<const char*, double>> undamped[] = {
      {"hht-i3", {"alpha", 0}}, {"generalized-alpha-i3", {"rho_inf", 1}}, {"newmark-i3", {"gamma", 0.5}}};
  for (const auto& [key, option] : undamped) {
    const std::string reason = refusal(key, option.first, option.second, false);
    EXPECT_NE(reason.find("method-refuses"), std::string::npos) << key;
    EXPECT_NE(reason.find("oscillation"), std::string::npos) << reason;
    EXPECT_EQ(refusal(key, option.first, option.second, true), "") << key;
    MethodSettings settings;
    settings.fixed_step = true;
    settings.options.set(option.first, option.second);
    const MethodInfo& m = find_method(key, {});
    settings = resolve_settings(m, settings, {});
    EXPECT_TRUE(m.doubts_reactions(settings)) << key;
    EXPECT_FALSE(m.warning(settings).empty()) << key;
  }
}

TEST(MethodRefusals, DampedNewmarkSaysItsOrder) {
  MethodSettings settings;
  settings.options.set("gamma", 0.7);
  const MethodInfo& m = find_method("newmark-i3", {});
  settings = resolve_settings(m, settings, {});
  EXPECT_NE(m.warning(settings).find("first order"), std::string::npos);
  EXPECT_FALSE(m.doubts_reactions(settings));
}

TEST(MethodRefusals, AlphaHasBounds) {
  EXPECT_EQ(refusal("hht-i3", "alpha", -1.0 / 3, false), "");
  EXPECT_NE(refusal("hht-i3", "alpha", -0.4, false), "");
  EXPECT_NE(refusal("hht-i3", "alpha", 0.1, true), "");
  EXPECT_NE(refusal("newmark-i3", "beta", 0.2, true), "");  // not A-stable with the default gamma
}

TEST(MethodRefusals, UnknownMethodsGetTheNearestName) {
  try {
    find_method("hht-3", {});
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.problems()[0].id, "unknown-method");
    EXPECT_NE(failure.problems()[0].hint.find("hht-i3"), std::string::npos);
  }
}

}  // namespace
}  // namespace trammel::methods_test
