// States of first order beside a mechanism: a cart whose force is filtered and driven by two states, against an
// integration of its four equations by hand; every method, with its order.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>

#include "tests/problems/stepping.h"
#include "trammel/integrate/registry.h"
#include "trammel/read/read_model.h"
#include "trammel/run/simulation.h"

namespace trammel::states_test {
namespace {

using problems::fitted_slope;
using problems::Ready;

const char* const cart = R"yaml(
trammel: 1
bodies:
  cart: {mass: 2, inertia: [1, 1, 1], position: [0.3, 0, 0]}
joints:
  rail: {type: translational, between: [ground, cart], at: [0, 0, 0], axis: [1, 0, 0]}
states:
  filtered: {rate: "(sin(dx(cart, ground)) - filtered)/0.1 + 0.2*vx(cart, ground)*driven", value: 0.1}
  driven: "-2*driven + cos(3*time) - 0.5*filtered"
forces:
  pull: {type: force, frames: [ground, cart], fx: "-50*dx(cart, ground) - 20*filtered + driven - 0.4*vx(cart, ground)"
}
simulation: {end: 2}
)yaml";

// (x, v, filtered, driven) at t by classical Runge-Kutta with small steps.
std::array<double, 4> truth(double end) {
  using Y = std::array<double, 4>;
  const auto f = [](double t, const Y& y) -> Y {
    return {y[1], (-50 * y[0] - 20 * y[2] + y[3] - 0.4 * y[1]) / 2, (std::sin(y[0]) - y[2]) / 0.1 + 0.2 * y[1] * y[3],
            -2 * y[3] + std::cos(3 * t) - 0.5 * y[2]};
  };
  const auto plus = [](const Y& y, double h, const Y& k) {
    Y out;
    for (std::size_t i = 0; i < 4; ++i) out[i] = y[i] + h * k[i];
    return out;
  };
  Y y{0.3, 0, 0.1, 0};
  const int n = 20000;
  const double h = end / n;
  for (int i = 0; i < n; ++i) {
    const double t = i * h;
    const Y a = f(t, y), b = f(t + h / 2, plus(y, h / 2, a)), c = f(t + h / 2, plus(y, h / 2, b)),
            d = f(t + h, plus(y, h, c));
    for (std::size_t k = 0; k < 4; ++k) y[k] += h / 6 * (a[k] + 2 * b[k] + 2 * c[k] + d[k]);
  }
  return y;
}

std::array<double, 4> values(const Equations& equations, const State& s) {
  return {s.q[0], s.v[0], equations.states_of(s)[0], equations.states_of(s)[1]};
}

std::unique_ptr<Integrator> make(const Ready& ready, const char* method, const char* formulation, bool fixed = true,
                                 double tolerance = 1e-3) {
  MethodSettings settings;
  settings.fixed_step = fixed;
  settings.tolerance = tolerance;
  settings.formulation = formulation;
  const MethodInfo& info = find_method(method, {});
  std::unique_ptr<Integrator> out = info.make(*ready.equations, resolve_settings(info, settings, {}));
  out->start(ready.state, ready.rates);
  return out;
}

void step(Integrator& integrator, double h) {
  ASSERT_EQ(integrator.attempt(h).verdict, Verdict::ok);
  integrator.accept();
}

struct Case {
  const char *method, *formulation;
  double order;
  int coarsest;
};

TEST(States, AreIntegratedWithTheOrderOfTheMethod) {
  const Ready ready(read_model_text(cart, "cart.yaml"));
  const std::array<double, 4> exact = truth(2);
  for (const Case& c :
       {Case{"hht-i3", "index-3", 2, 400}, Case{"generalized-alpha-i3", "index-3", 2, 400},
        Case{"radau-iia-3", "index-3", 5, 40}, Case{"radau-iia-3", "stabilised-index-2", 5, 40},
        Case{"rosenbrock-nystrom-4", "all-coordinates", 4, 320}, Case{"w-method-2", "all-coordinates", 2, 3200}}) {
    SCOPED_TRACE(c.method);
    std::vector<double> h, error[4];
    for (const int n : {c.coarsest, 2 * c.coarsest, 4 * c.coarsest}) {
      const std::unique_ptr<Integrator> integrator = make(ready, c.method, c.formulation);
      for (int i = 0; i < n; ++i) step(*integrator, 2.0 / n);
      const std::array<double, 4> y = values(*ready.equations, integrator->state());
      h.push_back(2.0 / n);
      for (std::size_t k = 0; k < 4; ++k) error[k].push_back(std::abs(y[k] - exact[k]));
    }
    for (std::size_t k = 0; k < 4; ++k) EXPECT_GT(fitted_slope(h, error[k]), c.order - 0.2) << k << " " << error[k][0];
  }
}

TEST(States, AreControlled) {
  const std::array<double, 4> exact = truth(2);
  for (const char* method : {"hht-i3", "rosenbrock-nystrom-4", "w-method-2", "adams"}) {
    double errors[2];
    int i = 0;
    for (const double tolerance : {1e-5, 1e-8}) {
      Model model = read_model_text(cart, "cart.yaml");
      model.simulation.method = method;
      model.simulation.tolerance = tolerance;
      Simulation simulation(model);
      MemoryTrajectory trajectory;
      ASSERT_EQ(simulation.run(trajectory).status, RunStatus::finished) << method;
      const std::array<double, 4> y = values(simulation.equations(), simulation.integrator().state());
      errors[i] = 0;
      for (std::size_t k = 0; k < 4; ++k) errors[i] = std::max(errors[i], std::abs(y[k] - exact[k]));
      EXPECT_LT(std::abs(trajectory.column("state.driven").back() - y[3]), 1e-12);
      ++i;
    }
    EXPECT_LT(errors[0], 2e-2) << method;
    EXPECT_LT(errors[1], errors[0] / 20) << method;
  }
}

// The alpha methods keep the rate of a state at a time that lies a part of a step away: it has to follow the step size.
// A linear rate is then integrated exactly, whatever the steps do; it was 3 % off.
TEST(States, AreExactWhereTheirRatesAreLinear) {
  for (const char* method : {"hht-i3", "generalized-alpha-i3", "hht-si2"}) {
    Model model = read_model_text(
        "trammel: 1\n"
        "bodies: {ball: {kind: point, mass: 1, velocity: [1, 0, 0]}}\n"
        "states: {ramp: {rate: 1 - time}}\n"
        "simulation: {end: 3, length: 1}\n",
        "ramp.yaml");
    model.simulation.method = method;
    model.simulation.tolerance = 1e-6;
    Simulation simulation(std::move(model));
    MemoryTrajectory trajectory;
    ASSERT_EQ(simulation.run(trajectory).status, RunStatus::finished) << method;
    EXPECT_NEAR(trajectory.column("state.ramp").back(), 3 - 4.5, 1e-12) << method;
  }
}

// The paper's (9): of first order, of second with rho = 1/2 and a fixed step; as rates of Z with rho = gamma.
TEST(States, OfTheAlphaMethodsAsPublished) {
  const Ready ready(read_model_text(cart, "cart.yaml"));
  const std::array<double, 4> exact = truth(2);
  struct Choice {
    const char* states;
    double rho, order;
  };
  // Nearer to 1/2 what is left of second order hides the first: 1.7 at 0.6 with these steps.
  for (const Choice& c : {Choice{"published", 0.5, 2}, Choice{"published", 0.8, 1}, Choice{"published", 1, 1},
                          Choice{"integral", 0.6, 1}}) {
    std::vector<double> h, error;
    for (const int n : {800, 1600, 3200}) {
      MethodSettings settings;
      settings.fixed_step = true;
      settings.options.set("states", std::string(c.states));
      settings.options.set("rho", c.rho);
      const MethodInfo& info = find_method("hht-i3", {});
      const std::unique_ptr<Integrator> run = info.make(*ready.equations, resolve_settings(info, settings, {}));
      run->start(ready.state, ready.rates);
      for (int i = 0; i < n; ++i) step(*run, 2.0 / n);
      const std::array<double, 4> y = values(*ready.equations, run->state());
      h.push_back(2.0 / n);
      error.push_back(std::hypot(y[2] - exact[2], y[3] - exact[3]));
    }
    EXPECT_NEAR(fitted_slope(h, error), c.order, 0.15) << c.states << " " << c.rho << ": " << error.back();
  }
}

// Error over tolerance; the step follows the smaller of two rules.
TEST(States, AsPublishedAreControlled) {
  const std::array<double, 4> exact = truth(2);
  for (const char* states : {"published", "integral"}) {
    std::vector<double> tolerances, errors;
    for (const double tolerance : {1e-4, 1e-5, 1e-6, 1e-7}) {
      Model model = read_model_text(cart, "cart.yaml");
      model.simulation.method = "hht-i3";
      model.simulation.tolerance = tolerance;
      model.simulation.options.set("states", std::string(states));
      Simulation simulation(model);
      MemoryTrajectory trajectory;
      ASSERT_EQ(simulation.run(trajectory).status, RunStatus::finished) << states;
      const std::array<double, 4> y = values(simulation.equations(), simulation.integrator().state());
      tolerances.push_back(tolerance);
      errors.push_back(std::hypot(y[2] - exact[2], y[3] - exact[3]));
    }
    // A local error h^2 at the tolerance leaves a global one of its square root, or less where positions ask for
    // smaller steps; Z asks for a cubic one.
    const double least = std::string_view(states) == "published" ? 1.0 / 2 : 1.0 / 3;
    EXPECT_GT(fitted_slope(tolerances, errors), least - 0.1)
        << states << ": " << errors.front() << " to " << errors.back();
  }
}

TEST(States, TheTrapezoidalRuleIsRefusedWithAControlledStep) {
  const MethodInfo& info = find_method("hht-i3", {});
  MethodSettings settings;
  settings.options.set("states", std::string("published"));
  settings.options.set("rho", 0.5);
  try {
    resolve_settings(info, settings, {});
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_NE(failure.problems()[0].message.find("vanishes"), std::string::npos) << failure.problems()[0].message;
  }
  settings.fixed_step = true;
  EXPECT_NO_THROW(resolve_settings(info, settings, {}));
  settings.options.set("states", std::string("trapezoidal"));
  EXPECT_THROW(resolve_settings(info, settings, {}), Failure);
}

TEST(States, InterpolateAndContinueBitForBit) {
  const Ready ready(read_model_text(cart, "cart.yaml"));
  for (const Case& c : {Case{"hht-i3", "index-3", 2, 0}, Case{"rosenbrock-nystrom-4", "all-coordinates", 4, 0},
                        Case{"adams", "state-space", 0, 0}, Case{"radau-iia-3", "stabilised-index-2", 5, 0}}) {
    SCOPED_TRACE(c.method);
    const std::unique_ptr<Integrator> whole = make(ready, c.method, c.formulation, false, 1e-2),
                                      other = make(ready, c.method, c.formulation, false, 1e-2);
    for (int i = 0; i < 30; ++i) step(*whole, i % 2 == 0 ? 1e-3 : 1.3e-3);
    State middle = whole->state();
    whole->interpolate(whole->state().t - 0.5e-3, middle);
    const std::array<double, 4> y = values(*ready.equations, middle), exact = truth(middle.t);
    for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(y[k], exact[k], 1e-4);
    Bytes bytes;
    whole->save(bytes);
    std::span<const std::byte> in(bytes);
    other->restore(in);
    EXPECT_TRUE(in.empty());
    for (int i = 0; i < 30; ++i) {
      step(*whole, i % 3 == 0 ? 1e-3 : 1.1e-3);
      step(*other, i % 3 == 0 ? 1e-3 : 1.1e-3);
    }
    for (const auto& [a, b] : {std::pair{&whole->state().u, &other->state().u}, {&whole->state().v, &other->state().v}})
      EXPECT_EQ(std::memcmp(a->data(), b->data(), static_cast<std::size_t>(a->size()) * sizeof(double)), 0);
  }
}

}  // namespace
}  // namespace trammel::states_test
