// Modal bodies: their equations against Lagrange's, from kinetic energies of mass points; against rigid bodies; against
// closed forms of beams; what a free body keeps; and what is refused. Derivatives: derivatives_test.cc.
#include <gtest/gtest.h>

#include <Eigen/QR>
#include <cmath>
#include <numbers>

#include "tests/problems/modal_bodies.h"
#include "tests/problems/stepping.h"
#include "trammel/analyse/modes.h"
#include "trammel/analyse/statics.h"
#include "trammel/math/rotation.h"
#include "trammel/read/read_model.h"
#include "trammel/run/simulation.h"

namespace trammel::modal_test {
namespace {

using problems::derivative;
using problems::random_vector;

// A strip of steel of 1 m, 20 mm by 10 mm, from the origin along x.
std::string strip(const std::string& interfaces, int normal_modes, const std::string& more = "") {
  return "trammel: 1\nbodies:\n  strip:\n    kind: modal\n    flexible:\n"
         "      materials: {steel: {youngs_modulus: 210e9, poisson_ratio: 0.3, density: 7850}}\n"
         "      sections: {flat: {type: rectangle, width: 0.02, height: 0.01}}\n"
         "      nodes: {root: [0, 0, 0], tip: [1, 0, 0]}\n"
         "      beams: [{nodes: [root, tip]}]\n      element_length: 0.0625\n      interfaces: [" +
         interfaces + "]\n      normal_modes: " + std::to_string(normal_modes) + "\n" + more;
}

const char* const clamp = "joints: {clamp: {type: fixed, between: [ground, strip], at: [0, 0, 0]}}\n";

// ---- the equations --------------------------------------------------------------------------------------------------

class Lagrange : public testing::Test {
 protected:
  static constexpr int modes = 4, n = 6 + modes;
  const problems::RandomModalBody made = problems::random_modal_body(modes, 5);
  std::unique_ptr<Equations> e;
  State state;
  Rates rates;

  void SetUp() override {
    Model model;
    model.gravity = Vec3(1, -2, 9);
    Body body;
    body.name = "b";
    body.kind = "modal";
    body.mass = made.data.mass;
    body.modal = std::make_shared<const ModalData>(made.data);
    model.add_body(body);
    model.simulation.length = 1;
    e = std::make_unique<Equations>(std::move(model));
    std::mt19937 random(3);
    state = problems::random_state(*e, random);
    rates = e->make_rates();
    rates.a = random_vector(n, random);
  }
  Energy energy(const State& s) const {
    Workspace work = e->make_workspace();
    return e->energy(s, rates, work);
  }
  State moved(const Vec& delta) const {
    State s = state;
    e->retract(state.q, delta, s.q);
    return s;
  }
};

TEST_F(Lagrange, KineticEnergyIsThatOfTheMassPoints) {
  const Mat3 R = Quat(state.q[3], state.q[4], state.q[5], state.q[6]).toRotationMatrix();
  const Vec3 v = R.transpose() * state.v.head<3>(), w = state.v.segment<3>(3);
  const Vec q = state.q.tail(modes), q_dot = state.v.tail(modes);
  double kinetic = 0, potential = 0.5 * q.dot(made.data.stiffness * q);
  for (const MassPoint& p : made.elements.points) {
    Mat shape = p.shape.leftCols<6>() * made.shapes.middleRows<6>(6 * p.first);
    if (p.second != p.first) shape += p.shape.rightCols<6>() * made.shapes.middleRows<6>(6 * p.second);
    const Vec6 u = shape * q, u_dot = shape * q_dot;
    const Vec3 x = p.position - made.reference + u.head<3>(), rate = v + w.cross(x) + u_dot.head<3>(),
               spin = w + u_dot.tail<3>() + w.cross(Vec3(u.tail<3>()));
    kinetic += 0.5 * p.mass * rate.squaredNorm() + 0.5 * spin.dot(p.inertia * spin);
    potential -= p.mass * e->model().gravity.dot(state.q.head<3>() + R * x);
  }
  const Energy found = energy(state);
  EXPECT_NEAR(found.kinetic, kinetic, 1e-12 * kinetic);
  EXPECT_NEAR(found.potential, potential, 1e-12 * std::abs(potential));
  EXPECT_NEAR(found.dissipated_power, q_dot.dot(made.data.damping * q_dot), 1e-12);
}

// With P = M v:  P_v' = m g,  P_w' + w x P_w + (R^T v) x (R^T P_v) = torque of weight,  P_q' = dT/dq - dV/dq - D q'.
TEST_F(Lagrange, EquationsFollowFromTheEnergies) {
  Workspace work = e->make_workspace();
  Residual residual = e->make_residual();
  ASSERT_EQ(e->residual(state, rates, everything, residual, work), Eval::ok);
  const auto momentum = [&](double s) {
    State at = moved(s * state.v);
    at.v = state.v + s * rates.a;
    Vec p(n);
    e->multiply_mass(at.q, at.v, p);
    return p;
  };
  const Vec p = momentum(0), p_rate = derivative(momentum);
  EXPECT_NEAR(0.5 * state.v.dot(p), energy(state).kinetic, 1e-12 * energy(state).kinetic);
  Vec kinetic_q(n), potential_q(n);
  for (int i = 0; i < n; ++i) {
    const Vec both = derivative([&](double s) {
      const Energy at = energy(moved(s * Vec::Unit(n, i)));
      return Vec(Eigen::Vector2d(at.kinetic, at.potential));
    });
    kinetic_q[i] = both[0];
    potential_q[i] = both[1];
  }
  const Mat3 R = Quat(state.q[3], state.q[4], state.q[5], state.q[6]).toRotationMatrix();
  const Vec3 w = state.v.segment<3>(3), v = R.transpose() * state.v.head<3>(), p_v = R.transpose() * p.head<3>();
  Vec expected = p_rate + potential_q;
  expected.segment<3>(3) += w.cross(Vec3(p.segment<3>(3))) + v.cross(p_v);
  expected.tail(modes) += made.data.damping * state.v.tail(modes) - kinetic_q.tail(modes);
  EXPECT_LT((residual.inertia + residual.force - expected).cwiseAbs().maxCoeff(), 1e-9 * expected.norm());
}

// Any basis of the same modes is the same body. That of a reduction makes Mqq, K and D diagonal, which is used; with
// another one they are full.
TEST(Modal, TheBasisOfTheModesIsOfNoConsequence) {
  const Model diagonal = read_model_text(
      "gravity: [1, -2, 9]\n" + strip("root, tip", 3, "      damping_ratios: [0.01, 0.2]\n"), "strip.yaml");
  const ModalData& of = *diagonal.bodies[0].modal;
  const int m = of.modes();
  ASSERT_TRUE(of.stiffness.isDiagonal(0) && of.damping.isDiagonal(0) && of.modal_mass.isIdentity(0));
  std::mt19937 random(11);
  const Mat mixed = Mat::NullaryExpr(m, m, [&] { return std::uniform_real_distribution<double>(-1, 1)(random); });
  const Mat Q = Eigen::HouseholderQR<Mat>(mixed).householderQ();
  ModalData turned = of;
  const auto congruent = [&Q](Mat& of_modes) { of_modes = (Q.transpose() * of_modes * Q).eval(); };
  congruent(turned.modal_mass);
  congruent(turned.stiffness);
  congruent(turned.damping);
  for (Mat& each : turned.gyration) congruent(each);
  for (Mat& each : turned.inertia_curvature) congruent(each);
  for (auto& row : turned.inertia_rate) row = (row * Q).eval();
  turned.S0 = (turned.S0 * Q).eval();
  turned.S1 = (turned.S1 * Q).eval();
  for (ModalNode& node : turned.nodes) {
    node.translation = (node.translation * Q).eval();
    node.rotation = (node.rotation * Q).eval();
  }
  ASSERT_FALSE(turned.stiffness.isDiagonal(0));
  Model full = diagonal;
  full.bodies[0].modal = std::make_shared<const ModalData>(turned);
  const Equations a(diagonal), b(full);
  State one = problems::random_state(a, random);
  one.q.tail(m) *= 1e-4;
  Rates rates = a.make_rates();
  rates.a = random_vector(6 + m, random);
  State other = one;
  Rates rates_of_other = rates;
  other.q.tail(m) = Q.transpose() * one.q.tail(m);
  other.v.tail(m) = Q.transpose() * one.v.tail(m);
  rates_of_other.a.tail(m) = Q.transpose() * rates.a.tail(m);
  Workspace of_a = a.make_workspace(), of_b = b.make_workspace();
  Residual in_a = a.make_residual(), in_b = b.make_residual();
  Partials p_a = a.make_partials(Detail::all), p_b = b.make_partials(Detail::all);
  ASSERT_EQ(a.residual(one, rates, everything, in_a, of_a), Eval::ok);
  ASSERT_EQ(b.residual(other, rates_of_other, everything, in_b, of_b), Eval::ok);
  ASSERT_EQ(a.linearise(one, rates, Detail::all, p_a, of_a), Eval::ok);
  ASSERT_EQ(b.linearise(other, rates_of_other, Detail::all, p_b, of_b), Eval::ok);
  Mat T = Mat::Identity(6 + m, 6 + m);
  T.bottomRightCorner(m, m) = Q;
  const auto same = [](const Mat& found, const Mat& expected) {
    EXPECT_LT((found - expected).norm(), 1e-12 * (expected.norm() + 1e-300));
  };
  same(in_b.inertia, T.transpose() * in_a.inertia);
  same(in_b.force, T.transpose() * in_a.force);
  const auto congruent_to = [&](const Vec& in_one, const Vec& in_other) {
    same(b.vv().dense(in_other), T.transpose() * a.vv().dense(in_one) * T);
  };
  congruent_to(p_a.M, p_b.M);
  congruent_to(p_a.Ma_q, p_b.Ma_q);
  congruent_to(p_a.force_q, p_b.force_q);
  congruent_to(p_a.force_v, p_b.force_v);
}

// ---- against rigid bodies -------------------------------------------------------------------------------------------

// With one interface and no normal modes nothing bends.
TEST(Modal, WithoutModesItIsARigidBody) {
  const Model bent = read_model_text(strip("root", 0), "strip.yaml");
  ASSERT_EQ(bent.bodies[0].modal->modes(), 0);
  Model rigid = bent;
  rigid.bodies[0].kind = "spatial";
  ASSERT_NEAR(bent.bodies[0].mass, 7850 * 0.02 * 0.01, 1e-12);
  const Equations a(bent), b(rigid);
  std::mt19937 random(4);
  const State state = problems::random_state(b, random);
  Rates rates = b.make_rates();
  rates.a = random_vector(6, random);
  Workspace of_a = a.make_workspace(), of_b = b.make_workspace();
  Residual in_a = a.make_residual(), in_b = b.make_residual();
  a.residual(state, rates, everything, in_a, of_a);
  b.residual(state, rates, everything, in_b, of_b);
  EXPECT_LT((in_a.inertia + in_a.force - in_b.inertia - in_b.force).norm(), 1e-12);
  EXPECT_NEAR(a.energy(state, rates, of_a).kinetic, b.energy(state, rates, of_b).kinetic, 1e-12);
}

// A body with a large spin, undeformed: its lumped inertia at the tip, or a rigid body fixed there.
TEST(Modal, LumpedInertiaIsARigidBodyAtTheNode) {
  const std::string spin = "    angular_velocity: [3, 5, -7]\n";
  const Model lumped = read_model_text(
      strip("root, tip", 90, "      lumped_masses: [{node: tip, mass: 0.6, inertia: [0.01, 0.02, 0.005]}]\n" + spin),
      "lumped.yaml");
  Model joined = read_model_text(strip("root, tip", 90, spin) +
                                     "  lump: {mass: 0.6, inertia: [0.01, 0.02, 0.005], position: [1, 0, 0], "
                                     "velocity: [0, -7, -5], angular_velocity: [3, 5, -7]}\n"
                                     "joints: {weld: {type: fixed, between: [strip, lump], at: [1, 0, 0]}}\n",
                                 "joined.yaml");
  const auto tip_acceleration = [](Model model) {
    const int tip = model.add_frame_at(0, Vec3::UnitX());
    const problems::Ready ready(std::move(model));
    Workspace work = ready.equations->make_workspace();
    ready.equations->update(ready.state, work);
    Vec3 angular;
    const Vec3 linear = ready.equations->frame_acceleration(tip, ready.rates, work, &angular);
    Vec6 out;
    out << linear, angular;
    return out;
  };
  const Vec6 one = tip_acceleration(lumped), two = tip_acceleration(joined);
  EXPECT_GT(two.tail<3>().norm(), 10);
  // With all modes both span the same motions.
  EXPECT_LT((one - two).norm(), 1e-9 * two.norm()) << one.transpose() << "\n" << two.transpose();
}

// ---- beams ----------------------------------------------------------------------------------------------------------

TEST(Modal, FrequenciesOfACantilever) {
  const problems::Ready ready(read_model_text(strip("root, tip", 48, clamp), "cantilever.yaml"));
  const Modes found = find_modes(*ready.equations, ready.state, ready.rates);
  std::vector<double> frequencies;
  for (const Mode& mode : found.undamped) frequencies.push_back(mode.frequency);
  const auto has = [&](double expected, double tolerance) {
    const auto near = std::min_element(frequencies.begin(), frequencies.end(), [&](double a, double b) {
      return std::abs(a - expected) < std::abs(b - expected);
    });
    EXPECT_NEAR(*near / expected, 1, tolerance);
  };
  // Roots of Timoshenko's frequency equation, 30 digits; the errors are those of 16 elements.
  has(8.35449940694432, 1e-6);
  has(16.7050018665621, 1e-6);
  has(52.3318183034696, 2e-5);
  has(104.489578398837, 2e-5);
  has(146.418019350508, 2e-4);
  has(594.086192549264, 1e-3);
}

// In two halves on a fixed joint: the frequencies of the whole.
TEST(Modal, TwoHalvesOnOneJointAreACantilever) {
  const auto half = [](const char* name, double from) {
    const std::string a = std::to_string(from), b = std::to_string(from + 0.5);
    return std::string("  ") + name +
           ":\n    kind: modal\n    flexible:\n"
           "      materials: {steel: {youngs_modulus: 210e9, poisson_ratio: 0.3, density: 7850}}\n"
           "      sections: {flat: {type: rectangle, width: 0.02, height: 0.01}}\n"
           "      nodes: {left: [" +
           a + ", 0, 0], right: [" + b +
           ", 0, 0]}\n      beams: [{nodes: [left, right]}]\n      element_length: 0.0625\n"
           "      interfaces: [left, right]\n      normal_modes: 12\n";
  };
  const problems::Ready ready(
      read_model_text("trammel: 1\nbodies:\n" + half("inner", 0) + half("outer", 0.5) +
                          "joints:\n  clamp: {type: fixed, between: [ground, inner], at: [0, 0, 0]}\n"
                          "  seam: {type: fixed, between: [inner, outer], at: [0.5, 0, 0]}\n",
                      "halves.yaml"),
      {.analyse_rank = true});
  EXPECT_EQ(ready.initial.rank.redundant, 0);
  EXPECT_EQ(ready.initial.rank.freedoms_by_rank, 2 * (6 + 12));
  const Modes found = find_modes(*ready.equations, ready.state, ready.rates);
  for (const double expected : {8.35449940694432, 16.7050018665621, 52.3318183034696, 104.489578398837}) {
    double nearest = 1;
    for (const Mode& mode : found.undamped) nearest = std::min(nearest, std::abs(mode.frequency / expected - 1));
    EXPECT_LT(nearest, 5e-5) << expected;
  }
}

TEST(Modal, StaticDeflectionOfACantilever) {
  Model model =
      read_model_text(strip("root, tip", 0,
                            std::string(clamp) + "forces: {load: {type: force, frames: [ground, end], fz: -10}}\n"
                                                 "frames: {end: {body: strip, node: tip}}\n"),
                      "cantilever.yaml");
  problems::Ready ready(std::move(model));
  StaticSolver solver(*ready.equations);
  const StaticReport report = solver.solve(ready.state, ready.rates, ready.work, {});
  ASSERT_TRUE(report.found) << to_text(report);
  ready.equations->update(ready.state, ready.work);
  const int tip = ready.equations->model().find_frame("end");
  // F L^3 / (3 E I) + k F L / (G A); the root turns with the body, and the rest is of second order in the slope
  const double expected = 10 / (3 * 210e9 * 0.02 * 1e-6 / 12) + 1.2 * 10 / (210e9 / 2.6 * 2e-4);
  EXPECT_NEAR(-ready.equations->frame(tip, ready.work).p.z() / expected, 1, 3e-4);
}

// Held at both ends a rigid body has six rows too many; this one bends between them.
TEST(Modal, ModesAreFreedoms) {
  const std::string clamps =
      "joints:\n  left: {type: fixed, between: [ground, strip], at: [0, 0, 0]}\n"
      "  right: {type: fixed, between: [ground, strip], at: [1, 0, 0]}\n";
  for (const int normal_modes : {0, 3}) {
    const problems::Ready ready(read_model_text(strip("root, tip", normal_modes, clamps), "clamped.yaml"),
                                {.analyse_rank = true});
    const LoopAnalysis& rank = ready.initial.rank;
    EXPECT_EQ(rank.rows, 12);
    EXPECT_EQ(rank.rank, 12);
    EXPECT_EQ(rank.body_freedoms, 6 + 6 + normal_modes);
    EXPECT_EQ(rank.freedoms_by_rank, normal_modes);
  }
}

// ---- what a free body keeps -----------------------------------------------------------------------------------------

struct Kept {
  double energy = 0;
  Vec3 momentum, about_origin;
  Mat3 R;
  Vec q;
  double bent = 0;  // m, at most
};

// Two thin bars at a right angle with a lumped body at one end, which spin fast enough to bend by centimetres.
Model tumbling() {
  return read_model_text(
      "trammel: 1\nbodies:\n  angle:\n    kind: modal\n    position: [0.1, 0.2, 0]\n"
      "    angular_velocity: [6, 8, -5]\n    flexible:\n"
      "      materials: {aluminium: {youngs_modulus: 70e9, poisson_ratio: 0.33, density: 2700}}\n"
      "      sections: {bar: {type: round, diameter: 0.01}}\n"
      "      nodes: {end: [0, 0, 0], corner: [0.8, 0, 0], tip: [0.8, 0.3, 0.5]}\n"
      "      beams: [{nodes: [end, corner, tip]}]\n      element_length: 0.3\n"
      "      lumped_masses: [{node: tip, mass: 0.3, inertia: [1e-3, 2e-3, 2.5e-3]}]\n"
      "      interfaces: [corner]\n      normal_modes: 8\n",
      "tumbling.yaml");
}

Kept tumble(const Vec3& boost) {
  Model model = tumbling();
  model.bodies[0].velocity += boost;
  model.simulation.method = "dormand-prince-853";
  model.simulation.tolerance = 1e-13;
  model.simulation.length = 1;
  model.simulation.time_scale = 1;
  model.simulation.end = 0.5;
  Simulation simulation(std::move(model));
  MemoryTrajectory sink;
  EXPECT_EQ(simulation.run(sink).status, RunStatus::finished);
  const Equations& e = simulation.equations();
  const State& s = simulation.integrator().state();
  Workspace work = e.make_workspace();
  const Energy energy = e.energy(s, simulation.integrator().rates(), work);
  Vec p(e.sizes().nv);
  e.multiply_mass(s.q, s.v, p);
  const BodyState& body = work.bodies[0];
  return {energy.kinetic + energy.potential,
          p.head<3>(),
          body.R * p.segment<3>(3) + body.r.cross(Vec3(p.head<3>())),
          body.R,
          s.q.tail(e.sizes().nv - 6),
          s.q.tail(e.sizes().nv - 6).cwiseAbs().dot(e.model().bodies[0].modal->displacement)};
}

TEST(Modal, TumblingKeepsEnergyAndMomenta) {
  const Kept end = tumble(Vec3::Zero());
  const Model model = tumbling();
  const Body& b = model.bodies[0];
  const Vec3 w(6, 8, -5), arm = b.center_of_mass, v = w.cross(arm), r = b.pose.position + arm, p = b.mass * v;
  const double energy = 0.5 * b.mass * v.squaredNorm() + 0.5 * w.dot(b.inertia * w);
  EXPECT_NEAR(end.energy, energy, 1e-10 * energy);
  EXPECT_LT((end.momentum - p).norm(), 1e-10 * p.norm());
  const Vec3 L = b.inertia * w + r.cross(p);
  EXPECT_LT((end.about_origin - L).norm(), 1e-10 * L.norm());
  EXPECT_GT(end.bent, 5e-3);
}

// A mass matrix of nodes in the place of mass points would change R by 5e-3 here.
TEST(Modal, TheSpeedOfTheWholeChangesNothing) {
  const Kept still = tumble(Vec3::Zero()), fast = tumble(Vec3(30, -20, 10));
  EXPECT_LT((still.R - fast.R).norm(), 1e-9);
  EXPECT_LT((still.q - fast.q).norm(), 1e-9 * (1 + still.q.norm()));
}

// ---- runs -----------------------------------------------------------------------------------------------------------

// A weight is hung on a cantilever at once. When it has come to rest, half of its work is strain and half is heat, that
// of the dampers of the modes: the run must book all of it.
TEST(Modal, TheHeatOfDampedModesIsBooked) {
  Model model = read_model_text(strip("root, tip", 2,
                                      "      damping_ratios: [0.2]\n" + std::string(clamp) +
                                          "forces: {load: {type: force, frames: [ground, end], fz: -10}}\n"
                                          "frames: {end: {body: strip, node: tip}}\n"),
                                "hung.yaml");
  model.simulation.method = "radau-iia-3";
  model.simulation.tolerance = 1e-8;
  model.simulation.end = 16;  // clamped it is damped less than its free modes are
  Simulation simulation(std::move(model));
  MemoryTrajectory sink;
  const RunResult result = simulation.run(sink);
  ASSERT_EQ(result.status, RunStatus::finished);
  const EnergyBook& energy = result.summary.energy;
  const double deflection = 10 / (3 * 210e9 * 0.02 * 1e-6 / 12) + 1.2 * 10 / (210e9 / 2.6 * 2e-4);
  EXPECT_NEAR(energy.external, 10 * deflection, 2e-3 * 10 * deflection);
  EXPECT_NEAR(energy.potential, 5 * deflection, 2e-3 * 5 * deflection);
  EXPECT_NEAR(energy.dissipated, 5 * deflection, 2e-3 * 5 * deflection);
  EXPECT_LT(std::abs(energy.imbalance()), 1e-3 * energy.dissipated);
}

// A slider-crank whose rod bends: with hinges in space a rigid rod has three rows too many, this one has none, and the
// slider is where the angle of the crank puts it but for the stretch of the rod.
TEST(Modal, ARodInAClosedLoop) {
  Model model = read_model_text(R"yaml(trammel: 1
bodies:
  crank: {mass: 0.5, inertia: [1e-3, 1e-3, 1e-3]}
  rod:
    kind: modal
    position: [0.1, 0, 0]
    flexible:
      materials: {steel: {youngs_modulus: 210e9, poisson_ratio: 0.3, density: 7850}}
      sections: {square: {type: rectangle, width: 0.01, height: 0.01}}
      nodes: {big: [0, 0, 0], small: [0.3, 0, 0]}
      beams: [{nodes: [big, small]}]
      element_length: 0.05
      interfaces: [big, small]
      damping_ratios: [0.05]
  slider: {mass: 0.2, inertia: [1e-4, 1e-4, 1e-4], position: [0.4, 0, 0]}
joints:
  shaft: {type: revolute, between: [ground, crank], at: [0, 0, 0], axis: [0, 0, 1]}
  pin: {type: revolute, between: [crank, rod], at: [0.1, 0, 0], axis: [0, 0, 1]}
  wrist: {type: revolute, between: [rod, slider], at: [0.4, 0, 0], axis: [0, 0, 1]}
  guide: {type: translational, between: [ground, slider], at: [0.4, 0, 0], axis: [1, 0, 0]}
initial:
  joints: {shaft: {angle: 40 deg, angular_speed: 20}}
)yaml",
                                "slider_crank.yaml");
  model.simulation.method = "radau-iia-3";
  model.simulation.tolerance = 1e-7;
  model.simulation.end = 0.1;
  Simulation simulation(std::move(model));
  simulation.start();
  const int m = simulation.equations().model().bodies[1].modal->modes();
  const LoopAnalysis& rank = simulation.initial().rank;
  EXPECT_EQ(rank.rows, 20);
  EXPECT_EQ(rank.redundant, 0);
  EXPECT_EQ(simulation.start_state().q.segment(14, m).cwiseAbs().maxCoeff(), 0);
  EXPECT_EQ(simulation.start_state().v.segment(12, m).cwiseAbs().maxCoeff(), 0);
  const auto expect_closed = [m](const State& s) {
    const double angle = 2 * std::atan2(s.q[6], s.q[3]), sine = 0.1 * std::sin(angle);
    const Vec3 slider = s.q.segment<3>(14 + m);
    EXPECT_NEAR(slider.x(), 0.1 * std::cos(angle) + std::sqrt(0.09 - sine * sine), 1e-6);
    EXPECT_LT(slider.tail<2>().norm(), 1e-9);
    return angle;
  };
  EXPECT_NEAR(expect_closed(simulation.start_state()), 40 * std::numbers::pi / 180, 1e-12);
  EXPECT_NEAR(simulation.start_state().v[5], 20, 1e-10);
  MemoryTrajectory sink;
  const RunResult result = simulation.run(sink);
  ASSERT_EQ(result.status, RunStatus::finished);
  expect_closed(simulation.integrator().state());
  const EnergyBook& energy = result.summary.energy;
  EXPECT_LT(std::abs(energy.imbalance()), 1e-4 * energy.greatest_kinetic);
  // The rod was thrown from side to side.
  EXPECT_GT(simulation.integrator().state().q.segment(14, m).cwiseAbs().maxCoeff(), 1e-9);
}

// ---- methods --------------------------------------------------------------------------------------------------------

State swing(const std::string& method, double tolerance, std::optional<double> step) {
  Model model = read_model_text(
      "gravity: [0, 0, -9.81]\n" +
          strip("root", 2,
                "joints: {pin: {type: revolute, between: [ground, strip], at: [0, 0, 0], axis: [0, 1, 0]}}\n"),
      "swing.yaml");
  model.simulation.method = method;
  model.simulation.tolerance = tolerance;
  model.simulation.step = step;
  model.simulation.end = 0.1;
  Simulation simulation(std::move(model));
  MemoryTrajectory sink;
  EXPECT_EQ(simulation.run(sink).status, RunStatus::finished);
  return simulation.integrator().state();
}

class ModalMethods : public testing::TestWithParam<const char*> {};

TEST_P(ModalMethods, Agree) {
  const State exact = swing("radau-iia-3", 1e-11, {}), found = swing(GetParam(), 1e-10, {});
  EXPECT_LT((found.q - exact.q).lpNorm<Eigen::Infinity>(), 1e-6);
  EXPECT_LT((found.v - exact.v).lpNorm<Eigen::Infinity>(), 1e-3);
}
INSTANTIATE_TEST_SUITE_P(Modal, ModalMethods,
                         testing::Values("rosenbrock-nystrom-4", "bdf-si2", "dormand-prince-853", "adams"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

TEST(Modal, HhtIsOfOrderTwo) {
  const State exact = swing("radau-iia-3", 1e-11, {});
  const double coarse = (swing("hht-i3", 1e-10, 2e-4).q - exact.q).norm(),
               fine = (swing("hht-i3", 1e-10, 1e-4).q - exact.q).norm();
  EXPECT_NEAR(std::log2(coarse / fine), 2, 0.3) << coarse << " " << fine;
}

// ---- what is refused ------------------------------------------------------------------------------------------------

std::string failure_of(const std::string& text) {
  try {
    const Equations equations(read_model_text(text, "strip.yaml"));
  } catch (const Failure& failure) {
    return failure.problems().front().message;
  }
  return "";
}

TEST(Modal, RefusesPlacesWithoutANode) {
  EXPECT_EQ(failure_of(strip("root, tip", 2,
                             "joints: {pin: {type: spherical, between: [ground, strip], at: [0.75, 0, 0]}}\n")),
            "'pin' on body 'strip': it stands at none of the interface nodes; the nearest, 'tip', is 0.25 m away");
  EXPECT_EQ(failure_of(strip("root, tip", 2, clamp)), "");
  EXPECT_NE(failure_of(strip("root", 2, "frames: {f: {body: strip, node: tip}}\n")), "");
}

// For this reason and no other: a file that is wrong fails as well.
TEST(Modal, SplitMethodsRefuseIt) {
  Model model = read_model_text(strip("root", 2), "strip.yaml");
  model.simulation.method = "split";
  model.simulation.end = 0.1;
  std::string id, message;
  try {
    Simulation simulation(std::move(model));
    MemoryTrajectory sink;
    simulation.run(sink);
  } catch (const Failure& failure) {
    ASSERT_EQ(failure.problems().size(), 1u);
    id = failure.problems()[0].id;
    message = failure.problems()[0].message;
  }
  EXPECT_EQ(id, "method-refuses");
  EXPECT_NE(message.find("'strip' bends"), std::string::npos) << message;
}

}  // namespace
}  // namespace trammel::modal_test
