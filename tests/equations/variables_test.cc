// Variables: the same equations and derivatives as with their expressions written out, and states that use them.
#include <gtest/gtest.h>

#include <random>

#include "tests/problems/mechanisms.h"
#include "trammel/equations/equations.h"
#include "trammel/read/read_model.h"

namespace trammel::variables_test {
namespace {

const char* const mechanism =
    "trammel: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "parameters: {k: 30, c: 2}\n"
    "inputs: {push: 0.7}\n"
    "bodies:\n"
    "  cart: {mass: 2, inertia: [0.1, 0.2, 0.3]}\n"
    "  pole: {mass: 0.7, inertia: [0.04, 0.05, 0.02], position: [0.1, 0.2, 0.4]}\n"
    "  ball: {kind: point, mass: 0.3, position: [0.5, 0.1, 0.9]}\n"
    "  stick: {kind: rod, mass: 0.4, ends: [[0, 0, 1], [0.3, 0.2, 1.4]]}\n"
    "joints: {hinge: {type: revolute, between: [cart, pole], at: [0, 0, 0], axis: [0, 1, 0]}}\n";

// The deepest variable sees a rod, a point, an angle over several turns, an input and a state.
const char* const with_variables =
    "states: {lag: {rate: '4*(reach - lag) + slow', value: 0.2}}\n"
    "variables:\n"
    "  effort: 'c*sin(error) + slow*reach'\n"
    "  error: 'angle(hinge) - push*reach + lag'\n"
    "  reach: 'distance(ball, pole) + 0.3*dx(stick, cart)'\n"
    "  slow: '0.2*vx(pole, ball)*rate(hinge) + cos(3*time)'\n"
    "forces:\n"
    "  motor: {type: torque, frames: [cart, pole], tz: '-k*error + effort', tx: 'reach*time'}\n"
    "  wind: {type: force, frames: [ground, ball], fy: 'effort*dz(cart, ground)'}\n";
const char* const written_out =
    "states: {lag: {rate: '4*(REACH - lag) + SLOW', value: 0.2}}\n"
    "forces:\n"
    "  motor: {type: torque, frames: [cart, pole], tz: '-k*ERROR + EFFORT', tx: 'REACH*time'}\n"
    "  wind: {type: force, frames: [ground, ball], fy: 'EFFORT*dz(cart, ground)'}\n";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

Equations variables() { return Equations(read_model_text(std::string(mechanism) + with_variables, "v.yaml")); }

Equations expressions() {
  std::string text = written_out;
  text = replaced(text, "EFFORT", "(c*sin(ERROR) + SLOW*REACH)");
  text = replaced(text, "ERROR", "(angle(hinge) - push*REACH + lag)");
  text = replaced(text, "REACH", "(distance(ball, pole) + 0.3*dx(stick, cart))");
  text = replaced(text, "SLOW", "(0.2*vx(pole, ball)*rate(hinge) + cos(3*time))");
  return Equations(read_model_text(std::string(mechanism) + text, "w.yaml"));
}

struct Point {
  State state;
  Rates rates;
};

Point random_point(const Equations& equations, std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  Point point{problems::random_state(equations, random), equations.make_rates()};
  point.state.t = 0.37;
  for (double& u : point.state.u) u = uniform(random);
  for (double& a : point.rates.a) a = uniform(random);
  for (double& l : point.rates.lambda) l = uniform(random);
  return point;
}

TEST(Variables, GiveTheEquationsOfTheirExpressions) {
  const Equations named = variables(), plain = expressions();
  ASSERT_EQ(named.sizes().nV, 4);
  Workspace work = named.make_workspace(), plain_work = plain.make_workspace();
  std::mt19937 random(5);
  for (int k = 0; k < 5; ++k) {
    const Point point = random_point(plain, random);
    State state = point.state;
    state.memory.assign(named.initial_state().memory.size(), 0.0);
    named.start(state, work);
    State plain_state = point.state;
    plain.start(plain_state, plain_work);
    Residual r = named.make_residual(), s = plain.make_residual();
    ASSERT_EQ(named.residual(state, point.rates, everything, r, work), Eval::ok);
    ASSERT_EQ(plain.residual(plain_state, point.rates, everything, s, plain_work), Eval::ok);
    EXPECT_LT((r.force - s.force).norm(), 1e-12 * (1 + s.force.norm()));
    Partials p = named.make_partials(Detail::all), q = plain.make_partials(Detail::all);
    named.linearise(state, point.rates, Detail::all, p, work);
    plain.linearise(plain_state, point.rates, Detail::all, q, plain_work);
    const Mat by_q = plain.vv().dense(q.force_q), by_v = plain.vv().dense(q.force_v);
    EXPECT_LT((named.vv().dense(p.force_q) - by_q).norm(), 1e-11 * (1 + by_q.norm()));
    EXPECT_LT((named.vv().dense(p.force_v) - by_v).norm(), 1e-11 * (1 + by_v.norm()));
    EXPECT_LT((p.force_t - q.force_t).norm(), 1e-11 * (1 + q.force_t.norm()));
    StatePartials x, y;
    named.linearise_states(state, x, work);
    plain.linearise_states(plain_state, y, plain_work);
    for (const auto& [a, b] : {std::pair(x.rate_q, y.rate_q),
                               {x.rate_v, y.rate_v},
                               {x.rate_x, y.rate_x},
                               {x.rate_u, y.rate_u},
                               {x.force_x, y.force_x}})
      EXPECT_LT((a - b).norm(), 1e-11 * (1 + b.norm()));
    EXPECT_LT((x.rate_t - y.rate_t).norm(), 1e-12);
    Vec u, w;
    named.force_by_input(state, 0, u, work);
    plain.force_by_input(plain_state, 0, w, plain_work);
    EXPECT_LT((u - w).norm(), 1e-12 * (1 + w.norm()));
  }
}

// Against differences, for the two might share a mistake.
TEST(Variables, RatesOfStatesAgreeWithDifferences) {
  const Equations equations = variables();
  const Sizes n = equations.sizes();
  Workspace work = equations.make_workspace();
  std::mt19937 random(11);
  for (int k = 0; k < 3; ++k) {
    Point point = random_point(equations, random);
    equations.start(point.state, work);
    StatePartials p;
    equations.linearise_states(point.state, p, work);
    const auto rate = [&](auto move) {
      const auto at = [&](double s) {
        State moved = point.state;
        move(moved, s);
        Vec rates;
        equations.state_rates(moved, rates, work);
        return rates[0];
      };
      constexpr double h = 1e-3;  // extrapolated twice
      const auto central = [&](double s) { return (at(s) - at(-s)) / (2 * s); };
      return (64 * central(h / 4) - 20 * central(h / 2) + central(h)) / 45;
    };
    for (int i = 0; i < n.nv; ++i) {
      EXPECT_NEAR(p.rate_q(0, i),
                  rate([&](State& s, double e) { equations.retract(point.state.q, e * Vec::Unit(n.nv, i), s.q); }),
                  1e-8)
          << i;
      EXPECT_NEAR(p.rate_v(0, i), rate([&](State& s, double e) { s.v[i] += e; }), 1e-8) << i;
    }
    EXPECT_NEAR(p.rate_x(0, 0), rate([&](State& s, double e) { s.u[1] += e; }), 1e-8);
    EXPECT_NEAR(p.rate_u(0, 0), rate([&](State& s, double e) { s.u[0] += e; }), 1e-8);
    EXPECT_NEAR(p.rate_t[0], rate([&](State& s, double e) { s.t += e; }), 1e-8);
  }
}

// Thousands of variables in a row neither overflow the stack nor cost more than they touch.
TEST(Variables, LongChains) {
  std::string text = std::string(mechanism) + "variables:\n  v0: 'dx(cart, ground)'\n";
  for (int i = 1; i < 3000; ++i) text += "  v" + std::to_string(i) + ": 'v" + std::to_string(i - 1) + " + 1'\n";
  text += "forces: {f: {type: force, frames: [ground, cart], fx: 'v2999'}}\n";
  const Equations equations(read_model_text(text, "v.yaml"));
  Workspace work = equations.make_workspace();
  const State state = equations.initial_state();
  equations.update(state, work);
  EXPECT_EQ(equations.variables_of(work).back(), 2999);
}

}  // namespace
}  // namespace trammel::variables_test
