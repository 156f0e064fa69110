// Splitting: a step on linear problems is the one of SPLIT (5), its special cases are the methods that the source says,
// Lemma 5 holds, Newton's matrix is the derivative of the equations it solves, A is evaluated once a step, joints as
// springs tend to true ones, threads change no bit, and steps are scaled as asked for, by a rule that runs back too.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

#include "tests/problems/mechanisms.h"
#include "tests/problems/stepping.h"
#include "trammel/elements/build.h"
#include "trammel/integrate/split/split.h"
#include "trammel/run/load_model.h"
#include "trammel/run/simulation.h"

namespace trammel::split_test {
namespace {

using problems::random_vector;
using problems::Ready;

std::string model_file(const std::string& name) { return std::string(TRAMMEL_SOURCE_DIR) + "/models/" + name; }

// Two masses, h = 1: q1, q2, v1, v2 of independent computations at t = 1 and t = 20.
TEST(Split, TwoMassesOfTheSource) {
  struct Case {
    double beta;
    bool theta;
    Eigen::Vector4d first, last;
  };
  const Case cases[] = {{0.8, false, {0.80177, 0.79823, -0.39646, -0.60354}, {-0.31110, -0.31111, -0.75986, -0.76017}},
                        {0.5, true, {0.85139, 0.78577, -0.29723, -0.62847}, {0.54913, 0.54564, -0.99744, -0.26900}},
                        {0.8, true, {0.73886, 0.72827, -0.32642, -0.46467}, {0.06857, 0.06861, -0.02872, -0.02873}}};
  const Ready ready(load_model(model_file("split_oscillators.yaml")));
  for (const Case& c : cases) {
    SplitOptions options;
    options.beta = c.beta;
    options.fixed_step = true;
    if (c.theta) {
      options.all_implicit = true;
      options.bend = c.beta;
    }
    SplitMethod method(*ready.equations, options);
    method.start(ready.state, ready.rates);
    const auto expect = [&](const Eigen::Vector4d& target) {
      const State& s = method.state();
      EXPECT_LT((Eigen::Vector4d(s.q[0], s.q[3], s.v[0], s.v[3]) - target).lpNorm<Eigen::Infinity>(), 6e-6);
    };
    for (int i = 0; i < 20; ++i) {
      ASSERT_EQ(method.attempt(1).verdict, Verdict::ok);
      method.accept();
      if (i == 0) expect(c.first);
    }
    expect(c.last);
    EXPECT_EQ(method.counts().explicit_evaluations, c.theta ? 0 : 20);
  }
}

// combine_step against differences of the equations it belongs to, at states with large rotations.
TEST(Split, NewtonMatrixIsTheDerivativeOfItsEquations) {
  Model model = problems::slider_crank_with_forces();
  for (std::size_t i = 0; i < model.forces.size(); i += 2) model.forces[i].implicit = true;
  const Equations equations(std::move(model));
  const int nv = equations.sizes().nv, ng = equations.sizes().multipliers();
  Workspace work = equations.make_workspace();
  work.without_gyroscopic = true;
  work.without_derivatives.resize(static_cast<std::size_t>(equations.force_count()));
  for (int i = 0; i < equations.force_count(); ++i)
    work.without_derivatives[static_cast<std::size_t>(i)] = !equations.is_implicit(i);
  SaddleSystem saddle(equations, equations.implicit_slots());
  Partials partials = equations.make_partials(Detail::all);
  Residual residual = equations.make_residual();
  std::mt19937 random(5);
  const double h = 0.3, beta = 0.7, tau = 0.2, position = 0.5 * beta * h * h, velocity = beta * h;
  for (int round = 0; round < 3; ++round) {
    const State base = problems::random_state(equations, random);
    const Vec start = random_vector(nv + ng, random), soft = Vec::Constant(ng, 0.3);
    State at = base;
    Vec delta, gdot = Vec::Zero(ng);
    const auto equation = [&](const Vec& z) {
      Rates rates = equations.make_rates();
      rates.a = z.head(nv);
      rates.lambda = z.tail(ng);
      delta = beta * (h * base.v) + position * rates.a;
      equations.retract(base.q, delta, at.q);
      at.v = base.v + velocity * rates.a;
      EXPECT_EQ(equations.residual(at, rates, joints | forces_implicit, residual, work), Eval::ok);
      equations.multiply_mass(at.q, rates.a, residual.inertia);
      equations.velocity_residual(at, gdot, work);
      Vec r(nv + ng);
      r << residual.inertia + residual.force, residual.g + tau * gdot - soft.cwiseProduct(rates.lambda);
      return r;
    };
    equation(start);
    Rates rates = equations.make_rates();
    rates.a = start.head(nv);
    rates.lambda = start.tail(ng);
    std::vector<Mat3> T;
    equations.retract_derivative(delta, T);
    ASSERT_EQ(equations.linearise(at, rates, Detail::all, partials, work), Eval::ok);
    saddle.combine_step(partials, {position, velocity, position, tau * velocity, tau * position}, T, soft);
    const Mat matrix = saddle.pattern().dense(saddle.values());
    for (int k = 0; k < nv + ng; ++k) {
      const Vec e = Vec::Unit(nv + ng, k);
      const Vec differences = problems::derivative([&](double s) { return equation(start + s * e); });
      EXPECT_LT((differences - matrix.col(k)).norm(), 1e-7 * (1 + matrix.col(k).norm())) << "column " << k;
    }
  }
}

// Bodies that no part of B touches cost nothing in its matrix: blocks of three by three and single numbers.
TEST(Split, MatrixHasThePatternOfB) {
  const Equations equations(load_model(model_file("ball_bearing.yaml")));
  const SaddleSystem all(equations), part(equations, equations.implicit_slots());
  EXPECT_LT(part.pattern().size(), all.pattern().size() / 5);
}

TEST(Split, ThreadsChangeNoBit) {
  Ready ready(load_model(model_file("ball_bearing.yaml")));
  std::vector<Vec> ends;
  for (const int threads : {1, 2, 3}) {
    SplitOptions options;
    options.fixed_step = true;
    options.frequency = 1e7;
    options.threads = threads;
    SplitMethod method(*ready.equations, options);
    method.start(ready.state, ready.rates);
    for (int i = 0; i < 100; ++i) {
      ASSERT_EQ(method.attempt(1e-6).verdict, Verdict::ok);
      method.accept();
    }
    ends.push_back(method.state().q);
    ends.push_back(method.state().v);
    EXPECT_EQ(method.counts().explicit_evaluations, 100);
  }
  for (std::size_t i = 2; i < ends.size(); ++i) EXPECT_EQ(ends[i], ends[i % 2]);
}

// Springs of rising frequency tend to true joints like 1/k.
TEST(Split, StiffSpringsTendToTrueJoints) {
  const Ready ready(problems::spatial_slider_crank());
  const auto end_of = [&](bool penalty, double frequency) {
    SplitOptions options;
    options.fixed_step = true;
    options.penalty = penalty;
    options.frequency = frequency;
    SplitMethod method(*ready.equations, options);
    method.start(ready.state, ready.rates);
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(method.attempt(1e-3).verdict, Verdict::ok);
      method.accept();
    }
    return Vec(method.state().q);
  };
  const Vec truth = end_of(false, 0);
  const double soft = problems::distance(*ready.equations, end_of(true, 1e3), truth),
               stiff = problems::distance(*ready.equations, end_of(true, 1e4), truth);
  EXPECT_LT(soft, 1e-3);
  EXPECT_NEAR(soft / stiff, 100, 20);
}

// A disturbance across a joint is forgotten with c = (h/2) k and stays for ever without damping.
TEST(Split, DampingOfStiffJoints) {
  const Ready ready(problems::spherical_pendulum());
  const auto left = [&](double time) {
    SplitOptions options;
    options.fixed_step = true;
    options.beta = 1;
    options.frequency = 1e6;
    options.time = time;
    SplitMethod method(*ready.equations, options);
    State state = ready.state;
    state.v += state.q / state.q.norm();  // 1 m/s along the rod
    method.start(state, ready.rates);
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(method.attempt(1e-3).verdict, Verdict::ok);
      method.accept();
    }
    return std::abs(method.state().q.dot(method.state().v));
  };
  EXPECT_LT(left(0), 1e-3);
  EXPECT_GT(left(1e-9), 0.9);
}

// ---- special cases and Lemma 5

// A point of mass 1 at x = 0.7 with x' = -0.4, pushed along x by A and by B.
Model pushed(const std::string& A, const std::string& B) {
  Model model;
  Body body;
  body.name = "p";
  body.kind = "point";
  body.mass = 1;
  body.pose.position = Vec3(0.7, 0, 0);
  body.velocity = Vec3(-0.4, 0, 0);
  const int base = model.add_frame(ground, {}), frame = model.add_frame(model.add_body(body), {});
  const auto push = [&](const char* name, const std::string& force) {
    Fields fields;
    fields.set("fx", ExpressionText{force, {}});
    return static_cast<std::size_t>(add_force(model, "force", name, {base, frame}, std::move(fields)));
  };
  if (!A.empty()) push("a", A);
  if (!B.empty()) model.forces[push("b", B)].implicit = true;
  model.simulation.length = 1;
  return model;
}

SplitOptions exact_steps(double alpha, double beta) {
  SplitOptions options;
  options.fixed_step = true;
  options.alpha = alpha;
  options.beta = beta;
  options.corrector = 1e-15;
  return options;
}

struct Point {
  double t = 0, q = 0.7, v = -0.4;
};

// Steps of the method beside steps of a formula, from the same start: the largest difference.
template <class Step>
double apart(const std::string& A, const std::string& B, double alpha, double beta, double h, Step&& step) {
  const Ready ready(pushed(A, B));
  SplitMethod method(*ready.equations, exact_steps(alpha, beta));
  method.start(ready.state, ready.rates);
  Point p;
  double worst = 0;
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(method.attempt(h).verdict, Verdict::ok);
    method.accept();
    step(p);
    p.t += h;
    worst = std::max({worst, std::abs(method.state().q[0] - p.q), std::abs(method.state().v[0] - p.v)});
  }
  return worst;
}

// The table of section 3: half a drift, a kick, half a drift.
TEST(Split, IsStoermerVerletForBZeroAndAlphaOneHalf) {
  const double h = 0.1;
  EXPECT_LT(apart("-sin(dx(p)) + 0.2*cos(time)", "", 0.5, 0.8, h,
                  [&](Point& p) {
                    p.q += 0.5 * h * p.v;
                    p.v += h * (-std::sin(p.q) + 0.2 * std::cos(p.t + 0.5 * h));
                    p.q += 0.5 * h * p.v;
                  }),
            1e-13);
}

TEST(Split, IsExplicitEulerInVelocitiesForBZeroAndAWithoutPositions) {
  const double h = 0.1;
  for (const double alpha : {-0.5, 0.0, 0.5, 1.0})
    EXPECT_LT(apart("1 - vx(p)^3", "", alpha, 0.8, h,
                    [&](Point& p) {
                      const double before = p.v;
                      p.v += h * (1 - before * before * before);
                      p.q += 0.5 * h * (before + p.v);
                    }),
              1e-13);
}

// y1 = y0 + h f((y0 + y1)/2) in (q, v), by fixed points.
TEST(Split, IsTheImplicitMidpointRuleForAZeroAndBetaOneHalf) {
  const double h = 0.1;
  EXPECT_LT(apart("", "-2*dx(p)^3 - 0.5*vx(p) + 0.4*sin(2*time)", 0.5, 0.5, h,
                  [&](Point& p) {
                    Point end = p;
                    for (int i = 0; i < 100; ++i) {
                      const double q = 0.5 * (p.q + end.q), v = 0.5 * (p.v + end.v);
                      end.q = p.q + h * v;
                      end.v = p.v + h * (-2 * q * q * q - 0.5 * v + 0.4 * std::sin(2 * (p.t + 0.5 * h)));
                    }
                    p = end;
                  }),
            1e-12);
}

// beta = 0: B at the start of the step, as A with alpha = 0.
TEST(Split, TakesBExplicitlyForBetaZero) {
  const char* const force = "-2*dx(p)^3 - 0.5*vx(p) + 0.4*sin(2*time)";
  const double h = 0.1;
  const auto step = [&](Point& p) {
    const double a = -2 * p.q * p.q * p.q - 0.5 * p.v + 0.4 * std::sin(2 * p.t);
    p.q += h * p.v + 0.5 * h * h * a;
    p.v += h * a;
  };
  EXPECT_LT(apart("", force, 0.5, 0, h, step), 1e-13);
  EXPECT_LT(apart(force, "", 0, 0.8, h, step), 1e-13);
}

// The matrix (q, v) -> (q, v) of a step of 1 on q'' = -(k_A + k_B) q - (c_A + c_B) q'.
Eigen::Matrix2d step_matrix(double k_A, double c_A, double k_B, double c_B, double alpha, double beta) {
  const auto text = [](double k, double c) {
    char out[96];
    std::snprintf(out, sizeof out, "-(%.17g)*dx(p) - (%.17g)*vx(p)", k, c);
    return std::string(out);
  };
  const Ready ready(pushed(text(k_A, c_A), text(k_B, c_B)));
  Eigen::Matrix2d matrix;
  for (int column = 0; column < 2; ++column) {
    SplitMethod method(*ready.equations, exact_steps(alpha, beta));
    State start = ready.state;
    start.q.setZero();
    start.v.setZero();
    (column == 0 ? start.q : start.v)[0] = 1;
    method.start(start, ready.rates);
    EXPECT_EQ(method.attempt(1).verdict, Verdict::ok);
    method.accept();
    matrix.col(column) << method.state().q[0], method.state().v[0];
  }
  return matrix;
}

// (13) turns the characteristic equation (9) of A alone into that of A and B, for any parameters.
TEST(Split, Lemma5IsAnIdentity) {
  std::mt19937 random(20071207);
  const auto between = [&](double a, double b) { return std::uniform_real_distribution<double>(a, b)(random); };
  for (int i = 0; i < 100; ++i) {
    const double k_A = between(0.1, 4), c_A = between(-1, 2), k_B = std::pow(10, between(-2, 3)),
                 c_B = std::pow(10, between(-2, 3)), alpha = between(-0.5, 1), beta = between(0, 1);
    const Eigen::Matrix2d S = step_matrix(k_A, c_A, k_B, c_B, alpha, beta);
    const double below = 2 + 2 * beta * c_B + beta * k_B, c = 2 * (c_A + c_B) / below, k = 2 * (k_A + k_B) / below,
                 a = (alpha * k_A + beta * k_B) / (k_A + k_B), size = 1 + std::abs(c) + std::abs(k);
    EXPECT_NEAR(S.trace(), 2 - c - 0.5 * k * (1 + 2 * a), 1e-10 * size);
    EXPECT_NEAR(S.determinant(), 1 - c + 0.5 * k * (1 - 2 * a), 1e-10 * size * size);
  }
}

// The remark of section 4.2: with alpha = -1/2 eigenvalues meet where those of the exact motion do, c = 2 sqrt(k).
TEST(Split, AlphaOfMinusOneHalfHasTheCriticalDampingOfTheMotion) {
  for (const double k : {0.04, 0.25, 0.64}) {
    const Eigen::Matrix2d S = step_matrix(k, 2 * std::sqrt(k), 0, 0, -0.5, 0.8);
    EXPECT_NEAR(0.25 * S.trace() * S.trace() - S.determinant(), 0, 1e-13);
  }
}

// ---- control of the step

// An orbit of eccentricity 1/2; s is its free-fall time.
Model orbit() {
  Model model;
  Body body;
  body.name = "p";
  body.kind = "point";
  body.mass = 1;
  body.pose.position = Vec3(0.5, 0, 0);
  body.velocity = Vec3(0, std::sqrt(3.0), 0);
  const int base = model.add_frame(ground, {}), frame = model.add_frame(model.add_body(body), {});
  Fields fields;
  fields.set("fx", ExpressionText{"-dx(p)*(dx(p)^2 + dy(p)^2)^(-1.5)", {}});
  fields.set("fy", ExpressionText{"-dy(p)*(dx(p)^2 + dy(p)^2)^(-1.5)", {}});
  add_force(model, "force", "sun", {base, frame}, std::move(fields));
  Variable s;
  s.name = "s";
  s.expression = ExpressionText{"(dx(p)^2 + dy(p)^2)^0.75", {}};
  model.variables.push_back(s);
  model.simulation.length = 1;
  return model;
}

struct ThereAndBack {
  double error = 0, least = 1e300, greatest = 0;  // where it came back to; of the steps
};

// 300 steps, and as many with the velocities turned round, begun with the last step of the run there.
ThereAndBack there_and_back(SplitControl control, double epsilon) {
  const Ready ready(orbit());
  SplitOptions options;
  options.beta = 0.5;
  options.control = control;
  options.epsilon = epsilon;
  options.scaling = 0;
  ThereAndBack out;
  const auto run = [&](const State& start, double first) {
    SplitMethod method(*ready.equations, options);
    method.start(start, ready.rates);
    double h = first;
    for (int i = 0; i < 300; ++i) {
      const Attempt attempt = method.attempt(h);
      EXPECT_EQ(attempt.verdict, Verdict::ok);
      EXPECT_LE(attempt.error, 1);
      method.accept();
      out.least = std::min(out.least, h);
      out.greatest = std::max(out.greatest, h);
      h = attempt.suggested_h;
    }
    return std::pair{method.state(), method.last_step()};
  };
  auto [end, last] = run(ready.state, epsilon * std::pow(0.5, 1.5));
  end.v = -end.v;
  const State back = run(end, last).first;
  out.error =
      std::max((back.q - ready.state.q).lpNorm<Eigen::Infinity>(), (back.v + ready.state.v).lpNorm<Eigen::Infinity>());
  return out;
}

TEST(Split, AReversibleRuleOfTheStepRunsBack) {
  const ThereAndBack reversible = there_and_back(SplitControl::reversible, 0.05);
  EXPECT_LT(reversible.error, 1e-10);
  EXPECT_GT(reversible.greatest, 4 * reversible.least);  // (1.5/0.5)^1.5 = 5.2
  EXPECT_GT(there_and_back(SplitControl::scaling, 0.05).error, 1e-6);
}

// h = epsilon s(z_n), from the first step on; a step that is longer is refused.
TEST(Split, StepsFollowAVariableOfTheModel) {
  const Ready ready(orbit());
  SplitOptions options;
  options.control = SplitControl::scaling;
  options.scaling = 0;
  options.epsilon = 0.1;
  SplitMethod method(*ready.equations, options);
  method.start(ready.state, ready.rates);
  const double first = 0.1 * std::pow(0.5, 1.5);
  const Attempt refused = method.attempt(1);
  EXPECT_GT(refused.error, 1);
  EXPECT_NEAR(refused.suggested_h, first, 1e-15);
  double h = first;
  for (int i = 0; i < 50; ++i) {
    const double r = method.state().q.head(2).norm();
    EXPECT_NEAR(h, 0.1 * std::pow(r, 1.5), 1e-12);
    const Attempt attempt = method.attempt(h);
    ASSERT_EQ(attempt.verdict, Verdict::ok);
    ASSERT_LE(attempt.error, 1);
    method.accept();
    h = attempt.suggested_h;
  }
}

// (15) on A = -k q is k itself, at the price of a second evaluation of A.
TEST(Split, EstimatorAsPrinted) {
  const Ready ready(pushed("-400*dx(p)", ""));
  SplitOptions options;
  options.control = SplitControl::printed;
  options.epsilon = 0.2;
  options.greatest_step = 1;
  SplitMethod method(*ready.equations, options);
  method.start(ready.state, ready.rates);
  for (int i = 0; i < 10; ++i) {
    const Attempt attempt = method.attempt(0.003);
    ASSERT_EQ(attempt.verdict, Verdict::ok);
    EXPECT_NEAR(attempt.suggested_h, 0.2 / 20, 1e-12);
    method.accept();
  }
  EXPECT_EQ(method.counts().explicit_evaluations, 20);
}

// What cannot be is refused by name.
TEST(Split, WrongControlsAreRefused) {
  const auto refusal = [](const std::vector<std::string>& options) -> std::string {
    try {
      Simulation simulation(load_model(model_file("spherical_pendulum.yaml"),
                                       {.method = "split", .tolerance = 1e-5, .options = options}));
      simulation.start();
    } catch (const Failure& failure) {
      return failure.what();
    }
    return "";
  };
  EXPECT_NE(refusal({"control=scaling"}).find("needs the name of a variable"), std::string::npos);
  EXPECT_NE(refusal({"control=scaling", "scaling=s"}).find("does not have"), std::string::npos);
  EXPECT_NE(refusal({"scaling=s"}).find("scaling and reversible only"), std::string::npos);
  EXPECT_NE(refusal({"control=printed"}).find("'bound'"), std::string::npos);
  EXPECT_NE(refusal({"control=printed", "bound=1", "alpha=0"}).find("alpha = 0"), std::string::npos);
}

}  // namespace
}  // namespace trammel::split_test
