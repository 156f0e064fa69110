// Sensors among the variables: values against what the motion makes of them, derivatives against differences at states
// with large rotations, on rigid bodies of all kinds and one that bends; groups of variables and implicit states.
#include <gtest/gtest.h>

#include <random>

#include "tests/problems/mechanisms.h"
#include "tests/problems/modal_bodies.h"
#include "tests/problems/stepping.h"
#include "trammel/elements/sensor.h"
#include "trammel/equations/equations.h"
#include "trammel/read/read_model.h"

namespace trammel::sensors_test {
namespace {

using problems::random_vector;

const char* const mechanism =
    "trammel: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "inputs: {push: 0.7}\n"
    "bodies:\n"
    "  cart: {mass: 2, inertia: [0.1, 0.2, 0.3], center_of_mass: [0.1, 0, 0.05]}\n"
    "  pole: {mass: 0.7, inertia: [0.04, 0.05, 0.02], position: [0.1, 0.2, 0.4]}\n"
    "  ball: {kind: point, mass: 0.3, position: [0.5, 0.1, 0.9]}\n"
    "  slab: {kind: planar, mass: 1, inertia: 0.1, position: [0.3, -0.4]}\n"
    "  stick: {kind: rod, mass: 0.4, ends: [[0, 0, 1], [0.3, 0.2, 1.4]]}\n"
    "frames:\n"
    "  tip: {body: pole, position: [0.1, 0.3, -0.2], orientation: {axis: [1, 2, 3], angle: 50 deg}}\n"
    "  nose: {body: cart, position: [0.4, -0.1, 0.2], orientation: {axis: [3, -1, 1], angle: 70 deg}}\n"
    "joints:\n"
    "  hinge: {type: revolute, between: [cart, pole], at: [0, 0, 0], axis: [0, 1, 0.2]}\n"
    "  slide: {type: point_on_line, between: [slab, ball], at: [0.5, 0.1, 0.9], axis: [1, 0, 1]}\n"
    "motions:\n"
    "  drive: {joint: hinge, type: rotation, angle: 0.3*sin(2*time)}\n";

std::string all_sensors() {
  std::string text = "variables:\n";
  for (const SensorDescription& sensor : sensor_registry()) {
    using Kind = SensorDescription::Kind;
    if (sensor.kind == Kind::acceleration)
      text += "  v_" + sensor.name + ": '" + sensor.name + "(tip, nose)'\n  w_" + sensor.name + ": '" + sensor.name +
              "(nose)'\n";
    if (sensor.kind == Kind::reaction)
      text += "  v_" + sensor.name + ": '" + sensor.name + "(hinge)'\n  w_" + sensor.name + ": '" + sensor.name +
              "(drive)'\n";
  }
  return text +
         "  u: 'accy(ball, nose) + accx(stick) + accz(slab) + force_x(slide)'\n"
         "  s: 'der(lag)'\n"
         "  both: 'v_accx*w_force_z + sin(u) + lag*v_wdty + push*accx(ball)'\n"
         "states: {lag: {rate: '4*(v_acceleration - lag) + u*dx(ball) + push', value: 0.2}}\n"
         "forces:\n"
         "  motor: {type: torque, frames: [cart, pole], tz: 'both + time*u + s', tx: 'v_torque_x*push'}\n"
         "  wind: {type: force, frames: [ground, ball], fy: 'force_y(hinge)*dz(cart, ground)', fx: 'w_wdtz'}\n";
}

struct Point {
  State state;
  Rates rates;
};

Point random_point(const Equations& e, std::mt19937& random) {
  Point point{problems::random_state(e, random), e.make_rates()};
  point.state.t = 0.37;
  point.state.u = random_vector(point.state.u.size(), random);
  point.rates.a = random_vector(e.sizes().nv, random);
  point.rates.lambda = random_vector(e.sizes().multipliers(), random);
  return point;
}

void expect_close(const Mat& given, const Mat& expected, const std::string& what) {
  ASSERT_EQ(given.rows(), expected.rows()) << what;
  ASSERT_EQ(given.cols(), expected.cols()) << what;
  for (Eigen::Index row = 0; row < given.rows(); ++row) {
    EXPECT_LT((given.row(row) - expected.row(row)).cwiseAbs().maxCoeff(),
              1e-7 * expected.row(row).cwiseAbs().maxCoeff() + 1e-8)
        << what << ", row " << row;
  }
}

// All derivatives of forces and states against those of the residual.
void check_derivatives(const Equations& e, const Point& at) {
  const Sizes n = e.sizes();
  const int ng = n.multipliers();
  Workspace work = e.make_workspace();
  Residual residual = e.make_residual();
  const auto value = [&](auto&& move) {
    return [&, move](double s) {
      Point p = at;
      move(p, s);
      Vec out(n.nv + n.nx), rates;
      EXPECT_EQ(e.residual(p.state, p.rates, everything, residual, work), Eval::ok);
      EXPECT_EQ(e.state_rates(p.state, rates, work, &p.rates), Eval::ok);
      out << residual.force, rates;
      return out;
    };
  };
  const auto columns = [&](int count, const auto& move) {
    Mat out(n.nv + n.nx, count);
    for (int i = 0; i < count; ++i)
      out.col(i) = problems::derivative(value([&, i](Point& p, double s) { move(p, i, s); }), 1e-3);
    return out;
  };
  Partials p = e.make_partials(Detail::all);
  StatePartials x;
  ASSERT_EQ(e.linearise(at.state, at.rates, Detail::all, p, work), Eval::ok);
  e.linearise_states(at.state, x, work, &at.rates);
  const Mat by_q =
      columns(n.nv, [&](Point& m, int i, double s) { e.retract(at.state.q, s * Vec::Unit(n.nv, i), m.state.q); });
  const Mat by_v = columns(n.nv, [](Point& m, int i, double s) { m.state.v[i] += s; });
  const Mat by_a = columns(n.nv, [](Point& m, int i, double s) { m.rates.a[i] += s; });
  const Mat by_lambda = columns(ng, [](Point& m, int i, double s) { m.rates.lambda[i] += s; });
  const Mat by_x = columns(n.nx, [&](Point& m, int i, double s) { m.state.u[n.nu + i] += s; });
  const Mat by_u = columns(n.nu, [](Point& m, int i, double s) { m.state.u[i] += s; });
  const Mat by_t = columns(1, [](Point& m, int, double s) { m.state.t += s; });
  expect_close(e.vv().dense(p.force_q), by_q.topRows(n.nv), "force_q");
  expect_close(e.vv().dense(p.force_v), by_v.topRows(n.nv), "force_v");
  expect_close(e.vv().dense(p.force_a), by_a.topRows(n.nv), "force_a");
  Mat G_T = e.gv().dense(p.G).transpose();
  expect_close(G_T + e.vl().dense(p.force_lambda), by_lambda.topRows(n.nv), "force_lambda");
  expect_close(p.force_t, by_t.topRows(n.nv), "force_t");
  expect_close(x.force_x, by_x.topRows(n.nv), "force_x");
  expect_close(x.rate_q, by_q.bottomRows(n.nx), "rate_q");
  expect_close(x.rate_v, by_v.bottomRows(n.nx), "rate_v");
  expect_close(x.rate_a, by_a.bottomRows(n.nx), "rate_a");
  expect_close(x.rate_lambda, by_lambda.bottomRows(n.nx), "rate_lambda");
  expect_close(x.rate_x, by_x.bottomRows(n.nx), "rate_x");
  expect_close(x.rate_u, by_u.bottomRows(n.nx), "rate_u");
  expect_close(x.rate_t, by_t.bottomRows(n.nx), "rate_t");
  Vec force_u;
  for (int i = 0; i < n.nu; ++i) {
    e.force_by_input(at.state, i, force_u, work, &at.rates);
    expect_close(force_u, by_u.col(i).head(n.nv), "force_u");
  }
}

TEST(Sensors, HaveExactDerivatives) {
  const Equations e(read_model_text(std::string(mechanism) + all_sensors(), "s.yaml"));
  ASSERT_TRUE(e.sees_rates());
  std::mt19937 random(5);
  Workspace work = e.make_workspace();
  for (int k = 0; k < 3; ++k) {
    Point at = random_point(e, random);
    e.start(at.state, work);
    check_derivatives(e, at);
  }
}

TEST(Sensors, HaveExactDerivativesOnABodyThatBends) {
  Model model = read_model_text(std::string(mechanism) + all_sensors(), "s.yaml");
  problems::make_modal(model, 1, 4, 3);
  const Equations e(std::move(model));
  std::mt19937 random(6);
  Workspace work = e.make_workspace();
  Point at = random_point(e, random);
  e.start(at.state, work);
  check_derivatives(e, at);
}

// Along a motion with q' = N v and v' = a held, the rates of the measures of velocity are what the sensors give.
TEST(Sensors, AreTheRatesOfTheirMeasures) {
  const std::vector<std::pair<std::string, std::string>> pairs{
      {"vx", "accx"}, {"vy", "accy"}, {"vz", "accz"}, {"speed", "acceleration"}, {"rate", "angular_acceleration"},
      {"wx", "wdtx"}, {"wy", "wdty"}, {"wz", "wdtz"}};
  std::string text = "variables:\n";
  for (const auto& [rate, sensor] : pairs)
    text += "  v_" + rate + ": '" + rate + "(tip, nose)'\n  a_" + rate + ": '" + sensor + "(tip, nose)'\n";
  const Equations e(read_model_text(std::string(mechanism) + text, "s.yaml"));
  std::mt19937 random(9);
  Workspace work = e.make_workspace();
  for (int k = 0; k < 3; ++k) {
    const Point at = random_point(e, random);
    const auto values = [&](double s) {
      State moved = at.state;
      // Second order in s serves differences extrapolated to order 6 only with a small one.
      e.retract(at.state.q, s * at.state.v + 0.5 * s * s * at.rates.a, moved.q);
      moved.v = at.state.v + s * at.rates.a;
      e.update(moved, work, &at.rates);
      const auto all = e.variables_of(work);
      return Vec(Eigen::Map<const Vec>(all.data(), std::ssize(all)));
    };
    const Vec rates = problems::derivative(values, 1e-3), now = values(0);
    for (Eigen::Index i = 0; i < std::ssize(pairs); ++i)
      EXPECT_NEAR(now[2 * i + 1], rates[2 * i], 1e-6 * (1 + std::abs(rates[2 * i]))) << pairs[i].second;
  }
}

TEST(Sensors, OfReactionsAreWhatIsRecorded) {
  const Equations e(read_model_text(std::string(mechanism) + all_sensors(), "s.yaml"));
  std::mt19937 random(3);
  Workspace work = e.make_workspace();
  const Point at = random_point(e, random);
  e.update(at.state, work, &at.rates);
  Vec3 force, torque;
  e.reaction(0, at.state, at.rates, work, force, torque);
  const Mat3 R = e.frame(e.constraint_frames(0)[1], work).R;
  const auto values = e.variables_of(work);
  const Model& model = e.model();
  for (int i = 0; i < 3; ++i) {
    const std::string axis(1, "xyz"[i]);
    EXPECT_NEAR(values[static_cast<std::size_t>(model.find_variable("v_force_" + axis))], R.col(i).dot(force), 1e-12);
    EXPECT_NEAR(values[static_cast<std::size_t>(model.find_variable("v_torque_" + axis))], R.col(i).dot(torque), 1e-12);
  }
}

// A force that resists acceleration is a mass; one in proportion to a reaction changes what there is to carry.
TEST(Sensors, AccelerationsAreSolvedForWithThem) {
  const problems::Ready ready(read_model_text(
      "trammel: 1\ngravity: [0, 0, -9.81]\n"
      "bodies: {block: {mass: 2, inertia: [1, 1, 1]}}\n"
      "joints: {rail: {type: translational, between: [ground, block], at: [0, 0, 0], axis: [1, 0, 0]}}\n"
      "forces:\n"
      "  water: {type: force, frames: [ground, block], axes: world, fx: '7 - 3*accx(block) - 0.25*hypot(force_x(rail), "
      "force_y(rail))'}\n",
      "a.yaml"));
  EXPECT_NEAR(ready.rates.a[0], (7 - 0.25 * 2 * 9.81) / 5, 1e-12);
}

// ---- groups ---------------------------------------------------------------------------------------------------------

TEST(Groups, VariablesThatDependOnEachOtherAreSolved) {
  const Equations e(
      read_model_text(std::string(mechanism) +
                          "variables: {a: 'b + 1', b: '2*c', c: 'a - time', f: 'cos(f)', m: 'dx(ball)', w: 'vx(cart)', "
                          "g: 'm*exp(-h/9)', "
                          "h: '0.3*sin(g)*w + push'}\n"
                          "forces: {pull: {type: force, frames: [ground, pole], fx: 'a*g + h^2', fy: f*dz(ball)}}\n"
                          "states: {lag: {rate: 'h - lag'}}\n",
                      "g.yaml"));
  Workspace work = e.make_workspace();
  std::mt19937 random(4);
  Point at = random_point(e, random);
  e.start(at.state, work);
  e.update(at.state, work, &at.rates);
  const auto value = [&](const char* name) {
    return e.variables_of(work)[static_cast<std::size_t>(e.model().find_variable(name))];
  };
  EXPECT_NEAR(value("a"), 2 * 0.37 - 1, 1e-14);
  EXPECT_NEAR(value("f"), 0.73908513321516064, 1e-15);
  EXPECT_NEAR(value("g"), value("m") * std::exp(-value("h") / 9), 1e-14);
  EXPECT_NEAR(value("h"), 0.3 * std::sin(value("g")) * value("w") + at.state.u[0], 1e-14);
  EXPECT_FALSE(e.loop_without_solution(work));
}

TEST(Groups, HaveExactDerivatives) {
  const Equations e(read_model_text(
      std::string(mechanism) +
          "variables: {g: 'dx(ball)*exp(-h/9) + 0.1*accx(tip)', h: '0.3*sin(g)*vx(cart) + push + 0.2*der(lag) + k', "
          "k: '0.1*force_x(hinge) + lag'}\n"
          "forces: {pull: {type: force, frames: [ground, pole], fx: 'g + h^2 + time*g', fy: k*dz(ball)}}\n"
          "states: {lag: {equation: '2*der(lag) + 0.3*sin(der(lag)) + h*lag - push'}}\n",
      "g.yaml"));
  Workspace work = e.make_workspace();
  std::mt19937 random(4);
  for (int k = 0; k < 2; ++k) {
    Point at = random_point(e, random);
    e.start(at.state, work);
    check_derivatives(e, at);
  }
}

std::string refusal(const std::string& text) {
  try {
    problems::Ready(
        read_model_text(std::string("trammel: 1\nbodies: {ball: {kind: point, mass: 1}}\n") + text, "r.yaml"));
  } catch (const Failure& failure) {
    return failure.problems()[0].id + ": " + failure.problems()[0].message;
  }
  return "";
}

TEST(Sensors, WrongNamesAreReported) {
  const auto says = [](const std::string& text, const std::string& what) {
    const std::string got = refusal(text);
    EXPECT_TRUE(got.starts_with("bad-measure") && got.find(what) != std::string::npos) << got;
  };
  says("variables: {a: 'force_x(rail)'}\n", "there is no joint or motion 'rail'");
  says("variables: {a: 'torque_x(ball, ground)'}\n", "torque_x is of one joint or motion");
  says("variables: {a: 'der(speed)'}\n", "there is no state 'speed'");
  says("variables: {a: 'accx(bal)'}\n", "there is no frame, body or joint 'bal'");
  says("variables: {a: 'wdtx(ball, ball)'}\n", "wdtx is of two different frames");
}

TEST(Groups, WithoutASolutionAreNamed) {
  EXPECT_EQ(
      refusal("variables: {a: 'b + 1', b: 'a - time'}\n"),
      "algebraic-loop: 'a', 'b' depend on each other, and these equations do not determine them: their derivative "
      "is singular");
  EXPECT_EQ(refusal("variables: {a: 'a^2 + 1'}\n"), "algebraic-loop: 'a' depends on itself, and no solution was found");
  EXPECT_EQ(
      refusal("states: {x: {equation: '0*der(x) + x - 1'}}\n"),
      "algebraic-loop: 'der(x)' is given by an equation, and these equations do not determine it: their derivative "
      "is singular");
  EXPECT_EQ(refusal("states: {x: {equation: 'x - 1'}}\n"),
            "no-rate-in-equation: state 'x': its equation does not contain der(x)");
}

}  // namespace
}  // namespace trammel::sensors_test
