// Joint coordinates against the saddle matrix: places, velocities, accelerations and balance of all bodies on every
// model file that the form takes, with trees of several depths; returns to the rows; what is refused.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "tests/problems/mechanisms.h"
#include "tests/problems/own_malloc.h"
#include "tests/problems/stepping.h"
#include "trammel/elements/build.h"
#include "trammel/formulate/joint_space.h"
#include "trammel/math/rotation.h"
#include "trammel/run/load_model.h"

namespace trammel::joint_space_test {
namespace {

using problems::Build;
using problems::random_vector;
using problems::Ready;

std::vector<std::string> model_files() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(TRAMMEL_SOURCE_DIR) + "/models"))
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}
Model model_of(const std::string& file) { return load_model(std::string(TRAMMEL_SOURCE_DIR) + "/models/" + file); }

// The start with random velocities that joints and motions allow.
void stir(Ready& ready, unsigned seed) {
  std::mt19937 random(seed);
  const Vec speeds = ready.equations->scales() * 2;
  ready.state.v += random_vector(ready.state.v.size(), random).cwiseProduct(speeds);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(ready.accelerations->project(ready.state, ready.work));
  ASSERT_TRUE(ready.accelerations->solve(ready.state, ready.rates, ready.work));
}

double size_of(const Equations& equations, const Vec& v) {
  return v.cwiseQuotient(equations.scales()).lpNorm<Eigen::Infinity>();
}

void expect_same_accelerations(Ready& ready, int depth, double limit) {
  JointSpaceOptions options;
  options.depth = depth;
  JointSpace space(*ready.equations, options);
  Vec y, dydt;
  space.start(ready.state, ready.rates, y);
  State state = ready.state;
  Rates rates = ready.equations->make_rates();
  state.q.setConstant(0.5), state.v.setZero();
  ASSERT_EQ(space.evaluate(ready.state.t, y, state, rates, dydt), Eval::ok);
  EXPECT_LT(problems::distance(*ready.equations, ready.state.q, state.q), 1e-9) << space.description();
  const double speed = 1 + size_of(*ready.equations, ready.state.v);
  EXPECT_LT(size_of(*ready.equations, state.v - ready.state.v), 1e-8 * speed) << space.description();
  const double largest = 1 + size_of(*ready.equations, ready.rates.a);
  EXPECT_LT(size_of(*ready.equations, rates.a - ready.rates.a), limit * largest) << space.description();
  Vec xdot;
  ASSERT_EQ(ready.equations->state_rates(ready.state, xdot, ready.work), Eval::ok);
  EXPECT_LE((rates.xdot - xdot).norm(), 1e-9 * (1 + xdot.norm())) << space.description();
  EXPECT_TRUE(dydt.tail(xdot.size()) == rates.xdot);
  // the reported forces balance every body, whichever of several they are
  Residual residual = ready.equations->make_residual();
  ready.equations->residual(ready.state, rates, everything, residual, ready.work);
  const double force = 1 + residual.inertia.lpNorm<Eigen::Infinity>() + residual.force.lpNorm<Eigen::Infinity>();
  EXPECT_LT((residual.inertia + residual.force).lpNorm<Eigen::Infinity>(), 1e-7 * force) << space.description();
}

class JointSpaceModels : public testing::TestWithParam<std::string> {};

TEST_P(JointSpaceModels, HaveTheAccelerationsOfTheSaddleMatrix) {
  Ready ready(model_of(GetParam()));
  if (const std::string why = SpanningTree::why_not(*ready.equations); !why.empty()) GTEST_SKIP() << why;
  stir(ready, 7);
  for (const int depth : {0, 1, 3}) expect_same_accelerations(ready, depth, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(All, JointSpaceModels, testing::ValuesIn(model_files()),
                         [](const auto& file) { return file.param.substr(0, file.param.find('.')); });

TEST(SpanningTree, TakesTheJointsWithMostRowsAndStaysShallow) {
  const Ready ready(problems::ladder(5, Build::redundant));
  const SpanningTree tree(*ready.equations, 0);
  EXPECT_EQ(tree.tree().size() - 1, static_cast<int>(ready.equations->model().bodies.size()));
  EXPECT_EQ(tree.tree().depth(), 2);  // cranks on the ground, couplers on cranks
  EXPECT_EQ(tree.cut().size(), 5u);
}

// A chain of joints is a chain of links, one after the other.
TEST(SpanningTree, NumbersAChainFromTheGround) {
  const Ready ready(problems::chain(6));
  const SpanningTree tree(*ready.equations, 0);
  ASSERT_EQ(tree.tree().size(), 7);
  EXPECT_TRUE(tree.cut().empty());
  for (int i = 1; i <= 6; ++i) EXPECT_EQ(tree.tree().links[static_cast<std::size_t>(i)].parent, i - 1);
  const SpanningTree cut(*ready.equations, 2);
  EXPECT_EQ(cut.tree().depth(), 2);
  EXPECT_EQ(cut.cut().size(), 2u);
}

// What nothing binds moves freely: bodies that can, the heaviest first, then the first of the file; last those that
// cannot.
TEST(SpanningTree, BeginsPartsWithTheirHeaviestBody) {
  Model model;
  const auto add = [&](const char* name, double mass, double inertia) {
    Body body;
    body.name = name;
    body.mass = mass;
    body.inertia = Vec3(1, 1, inertia).asDiagonal();
    body.pose.position = Vec3(static_cast<double>(model.bodies.size()), 0, 0);
    return model.add_body(body);
  };
  const int light = add("light", 1, 1), heavy = add("heavy", 3, 1), same = add("same", 3, 1), thin = add("thin", 9, 0),
            held = add("held", 2, 1);
  add_joint(model, "revolute", "hinge", light, held, Vec3(0.5, 0, 0));
  const Equations equations(std::move(model));
  const SpanningTree tree(equations, 0);
  std::vector<int> order;
  for (int i = 1; i < tree.tree().size(); ++i) order.push_back(tree.body_of(i));
  EXPECT_EQ(order, (std::vector<int>{heavy, same, held, light, thin}));
}

// Both trees have six links, so that the axes of one could be read as those of the other.
TEST(SpanningTree, KnowsThatASavedOneIsAnother) {
  const Ready ready(problems::chain(6));
  const SpanningTree whole(*ready.equations, 0), cut(*ready.equations, 2);
  Bytes bytes;
  write_state(whole, bytes);
  SpanningTree same(*ready.equations, 0), other(*ready.equations, 2), longer(*ready.equations, 3);
  std::span<const std::byte> in(bytes);
  EXPECT_NO_THROW(read_state(same, in));
  EXPECT_TRUE(in.empty());
  for (SpanningTree* wrong : {&other, &longer}) {
    in = bytes;
    EXPECT_THROW(read_state(*wrong, in), Failure);
  }
  Bytes of_cut;
  write_state(cut, of_cut);
  in = of_cut;
  EXPECT_NO_THROW(read_state(other, in));
}

// Frames that face each other the wrong way round fit a hinge too, and a slide or a weld turned by half a turn.
TEST(SpanningTree, TakesJointsAsTheyStand) {
  for (const char* type : {"revolute", "cylindrical", "translational", "fixed"}) {
    for (const Vec3& turn : {Vec3(0, 0, 0), Vec3(3.14159265358979323846, 0, 0), Vec3(0, 3.14159265358979323846, 0)}) {
      Model model;
      model.gravity = Vec3(1, 2, -9.81);
      Body body;
      body.name = "body";
      body.mass = 2;
      body.inertia = Vec3(0.1, 0.2, 0.3).asDiagonal();
      body.pose.position = Vec3(0.2, 0.1, 0.3);
      body.angular_velocity = Vec3(0, 0, std::string(type) == "revolute" || std::string(type) == "cylindrical" ? 2 : 0);
      const int b = model.add_body(body);
      const int a = model.add_frame(ground, {Vec3::Zero(), Quat::Identity()});
      Pose on_body;
      on_body.position = -body.pose.position;
      on_body.rotation = Quat(Eigen::AngleAxisd(turn.norm(), turn.norm() > 0 ? turn.normalized() : Vec3::UnitX()));
      add_joint(model, type, "joint", {a, model.add_frame(b, on_body)});
      Ready ready(model);
      expect_same_accelerations(ready, 0, 1e-9);
    }
  }
}

// Off the rows, brought back: round-off is left of positions and velocities.
TEST(JointSpace, ReturnsToTheRows) {
  for (const Build build : {Build::redundant, Build::independent}) {
    const Ready ready(problems::four_bar(build, true));
    JointSpace space(*ready.equations, {});
    Vec y;
    space.start(ready.state, ready.rates, y);
    std::mt19937 random(3);
    y += 1e-4 * random_vector(y.size(), random);
    ASSERT_TRUE(space.project(0, y));
    State state = ready.state;
    space.place(0, y, state);
    Workspace work = ready.equations->make_workspace();
    Residual residual = ready.equations->make_residual();
    ready.equations->residual(state, ready.equations->make_rates(), joints, residual, work);
    Vec rate = residual.g;
    ready.equations->velocity_residual(state, rate, work);
    EXPECT_LT(ready.equations->size_of_rows(residual.g), 1e-11);
    EXPECT_LT(ready.equations->size_of_rows(rate), 1e-10);
  }
}

// The mass matrix is the metric of a return: M dv has no part along motions that the rows allow. Here there is one.
TEST(JointSpace, ReturnsByTheLeastKineticEnergy) {
  for (const Build build : {Build::redundant, Build::independent, Build::planar}) {
    const Ready ready(problems::four_bar(build, build != Build::planar));
    const Equations& equations = *ready.equations;
    JointSpace space(equations, {});
    Vec y;
    space.start(ready.state, ready.rates, y);
    ASSERT_TRUE(space.project(0, y));
    State allowed = ready.state, before = ready.state, after = ready.state;
    space.place(0, y, allowed);
    std::mt19937 random(5);
    y.tail(space.tree().tree().nu) += random_vector(space.tree().tree().nu, random);
    space.place(0, y, before);
    ASSERT_TRUE(space.project(0, y));
    space.place(0, y, after);
    Vec momentum = after.v;
    equations.multiply_mass(after.q, after.v - before.v, momentum);
    const double size = allowed.v.norm() * momentum.norm();
    EXPECT_GT(momentum.norm(), 0.01);
    EXPECT_LT(std::abs(allowed.v.dot(momentum)), 1e-9 * size) << space.description();
  }
}

// Planar bodies leave some rows of a joint out. Those that are kept have their own values and columns, off the
// constraints as well.
TEST(RowsAt, AreThoseThatTheEquationsKeep) {
  for (const Build build : {Build::planar, Build::redundant}) {
    const Ready ready(problems::four_bar(build));
    const Equations& equations = *ready.equations;
    State state = ready.state;
    std::mt19937 random(11);
    equations.retract(ready.state.q, 0.1 * random_vector(state.v.size(), random), state.q);
    state.v = random_vector(state.v.size(), random);
    Workspace work = equations.make_workspace();
    equations.update(state, work);
    Residual residual = equations.make_residual();
    equations.residual(state, equations.make_rates(), joints, residual, work);
    Vec rate = residual.g;
    equations.velocity_residual(state, rate, work);
    Equations::RowsAt at;
    for (int c = 0; c < equations.constraint_count(); ++c) {
      const Equations::ConstraintInfo info = equations.constraint_info(c);
      EXPECT_EQ(info.rows, build == Build::planar ? 2 : 5);
      ASSERT_TRUE(equations.rows_at(c, state, Equations::RowValues::position, at, work));
      for (int k = 0; k < info.rows; ++k) {
        const double g = at.values[static_cast<std::size_t>(k)];
        EXPECT_NEAR(g, residual.g[info.first_row + k], 1e-14);
        if (build == Build::planar) {
          EXPECT_GT(std::abs(g), 1e-6);
        }
      }
      ASSERT_TRUE(equations.rows_at(c, state, Equations::RowValues::velocity, at, work));
      for (int k = 0; k < info.rows; ++k) {
        double sum = 0;  // C twist
        for (int f = 0; f < 2; ++f) {
          Vec6 twist;
          twist << at.frames[static_cast<std::size_t>(f)].v, at.frames[static_cast<std::size_t>(f)].w;
          sum += at.C.row(k).segment<6>(6 * f).dot(twist);
        }
        EXPECT_NEAR(at.values[static_cast<std::size_t>(k)], rate[info.first_row + k], 1e-13);
        EXPECT_NEAR(sum, rate[info.first_row + k], 1e-13);
      }
    }
  }
}

// Without gravity the rate scale is that of the start, 8 rad/s or so. A start behind an event, nearly at rest, must not
// make errors of speeds count a thousand times as much: they did.
TEST(JointSpace, KeepsTheRateScaleOfTheFirstStart) {
  Model model = problems::four_bar(Build::redundant);
  model.gravity.setZero();
  const Ready ready(std::move(model));
  JointSpace space(*ready.equations, {});
  Vec y, first, second;
  space.start(ready.state, ready.rates, y);
  const Vec none = Vec::Zero(y.size());
  space.error_scales(none, none, first);
  State slow = ready.state;
  slow.v *= 1e-3;
  Rates rates = ready.rates;
  rates.a *= 1e-6;
  space.start(slow, rates, y);
  space.error_scales(none, none, second);
  EXPECT_GT(first.tail(space.tree().tree().nu).minCoeff(), 1);
  EXPECT_TRUE(first == second);
  // and a start anew of a saved run neither
  Bytes bytes;
  write_state(space, bytes);
  JointSpace restored(*ready.equations, {});
  std::span<const std::byte> in(bytes);
  read_state(restored, in);
  restored.start(slow, rates, y);
  restored.error_scales(none, none, second);
  EXPECT_TRUE(first == second);
}

TEST(JointSpace, CountsTheTurnsOfPlanarBodies) {
  const Ready ready(problems::four_bar(Build::planar));
  JointSpace space(*ready.equations, {});
  Vec y;
  space.start(ready.state, ready.rates, y);
  State state = ready.state;
  space.place(0, y, state);
  EXPECT_LT((state.q - ready.state.q).lpNorm<Eigen::Infinity>(), 1e-12);
  // all cranks on the ground turned by seven turns: the angles say so
  const int crank = ready.equations->first_coordinate(0) + 2;
  const SpanningTree& tree = space.tree();
  const recursion::Link& link = tree.tree().links[static_cast<std::size_t>(tree.link_of(0))];
  ASSERT_EQ(link.kind, recursion::Kind::revolute);
  const double turns = 14 * 3.14159265358979323846;
  y[link.q] += turns;
  space.place(0, y, state);
  EXPECT_NEAR(std::abs(state.q[crank] - ready.state.q[crank]), turns, 1e-12);
}

TEST(JointSpace, RefusesByName) {
  const auto refusal = [](Model model) -> std::string {
    const Equations equations(std::move(model));
    try {
      const JointSpace space(equations, {});
    } catch (const Failure& failure) {
      return failure.problems().front().message;
    }
    return "";
  };
  EXPECT_NE(refusal(model_of("rod_double_pendulum.yaml")).find("is of kind 'planar_rod'"), std::string::npos);
  EXPECT_NE(refusal(model_of("clutch.yaml")).find("in some of its modes"), std::string::npos);
  // a point slides along three axes, and its rod is a row
  EXPECT_EQ(refusal(problems::spherical_pendulum()), "");
  // a rod without thickness on a ball joint: nothing resists a spin about it
  Model spinning;
  const int rod = spinning.add_body(problems::rod("rod", Vec3::Zero(), Vec3(1, 2, 3), 2, Vec3(2, -1, 0), 0));
  add_joint(spinning, "spherical", "ball", ground, rod, Vec3::Zero());
  EXPECT_NE(refusal(spinning).find("body 'rod' and what it carries have no inertia where joint 'ball'"),
            std::string::npos)
      << refusal(spinning);
  Model bare = problems::pendulum();
  bare.bodies[0].mass = 0;
  bare.bodies[0].inertia.setZero();
  EXPECT_NE(refusal(bare).find("have no inertia where joint"), std::string::npos) << refusal(bare);
}

// A chain with a motion in each joint: one deep tree would couple all with all, 300^3 / 6 pairs of them. A shallow one
// is chosen; who asks for the deep one hears why not.
TEST(JointSpace, SaysThatADeepTreeCouplesTooMuch) {
  Model model = problems::chain(300);
  Fields still;
  still.set("angle", ExpressionText{"0", {}});
  for (std::size_t i = 0; i < 300; ++i)
    add_motion(model, "rotation", "motor" + std::to_string(i), model.joints[i].frames, still);
  const Equations equations(std::move(model));
  const JointSpace space(equations, {});
  EXPECT_LE(space.tree().tree().depth(), 16);
  EXPECT_LT(space.memory_bytes(), 50'000'000);
  JointSpaceOptions options;
  options.depth = 300;
  try {
    const JointSpace deep(equations, options);
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.problems().front().message,
              "with `depth` 300 the tree is 300 joints deep, and its loops and motions couple each other more than 3 "
              "million times");
  }
}

// A pendulum of a tenth of a gram beside a hull of a thousand tonnes: m g l / (J + m l^2) = 9.81e-7 / 1.1e-10. Measured
// by the hull, 1e-14 of whose mass times the square of the model's length is more than 1e-8, it had no inertia.
TEST(JointSpace, TakesAWatchInAShip) {
  Model model;
  model.gravity = Vec3(0, -9.81, 0);
  Body hull, watch;
  hull.name = "hull";
  hull.mass = 1e6;
  hull.inertia = 1e8 * Mat3::Identity();
  watch.name = "watch";
  watch.mass = 1e-4;
  watch.inertia = 1e-11 * Mat3::Identity();
  watch.pose.position = Vec3(100 + 1e-3, 0, 0);
  add_joint(model, "revolute", "keel", ground, model.add_body(hull), Vec3::Zero());
  add_joint(model, "revolute", "stem", ground, model.add_body(watch), Vec3(100, 0, 0));
  const Equations equations(std::move(model));
  Workspace work = equations.make_workspace();
  State state = equations.initial_state();
  equations.start(state, work);
  JointSpace space(equations, {});
  Vec y, dydt;
  space.start(state, equations.make_rates(), y);
  ASSERT_EQ(space.f(0, y, dydt), Eval::ok);
  const recursion::Tree& tree = space.tree().tree();
  const recursion::Link& link = tree.links[static_cast<std::size_t>(space.tree().link_of(1))];
  EXPECT_NEAR(std::abs(dydt[tree.nq + link.u]), 9.81e-7 / 1.1e-10, 1e-5);
}

// A rod without thickness whose axes do not lie along it: no moment of inertia is zero, the least eigenvalue is. Beyond
// the depth it was set free, and refused because nothing resists a spin about it.
TEST(JointSpace, KeepsAThinRodOnItsJointWhateverItsAxes) {
  Model model;
  model.gravity = Vec3(0, -9.81, 0);
  const int arm = model.add_body(problems::rod("arm", Vec3::Zero(), Vec3::UnitX(), 1, Vec3::UnitZ()));
  Body thin = problems::rod("thin", Vec3::UnitX(), Vec3(1, 1, 0), 2, Vec3::UnitZ(), 0);
  const Mat3 turn = rotation_exp(Vec3(0.3, 0.5, -0.4)).toRotationMatrix();
  thin.inertia = turn.transpose() * thin.inertia * turn;
  thin.pose.rotation = thin.pose.rotation * Quat(turn);
  add_joint(model, "revolute", "shoulder", ground, arm, Vec3::Zero());
  add_joint(model, "revolute", "elbow", arm, model.add_body(thin), Vec3::UnitX());
  Ready ready(std::move(model));
  for (const int depth : {0, 1}) expect_same_accelerations(ready, depth, 1e-9);
  EXPECT_EQ(SpanningTree(*ready.equations, 1).tree().depth(), 2);
}

// A coupler without mass. By rows and depth it comes last and would end the tree with nothing behind it; inside, it
// carries the rocker.
TEST(JointSpace, TakesACouplerWithoutMassInside) {
  for (const Build build : {Build::planar, Build::redundant}) {
    Model model = problems::four_bar(build);
    model.bodies[1].mass = 0;
    model.bodies[1].inertia.setZero();
    Ready ready(std::move(model));
    for (const int depth : {0, 1, 2}) expect_same_accelerations(ready, depth, 1e-9);
    const JointSpace space(*ready.equations, {});
    const SpanningTree& tree = space.tree();
    EXPECT_EQ(tree.tree().links[static_cast<std::size_t>(tree.link_of(2))].parent, tree.link_of(1));
    ASSERT_EQ(tree.cut().size(), 1u);
    EXPECT_EQ(ready.equations->name_of_constraint(tree.cut().front()), "joint 'D'");
  }
}

TEST(JointSpace, EvaluatesWithoutAllocating) {
  if (TRAMMEL_OWN_MALLOC == 0) GTEST_SKIP() << "the sanitizer owns malloc";
  for (Model model : {problems::chain(8), problems::slider_crank_with_forces(),
                      problems::four_bar(Build::redundant, true), problems::driven_loop()}) {
    const Ready ready(std::move(model));
    JointSpace space(*ready.equations, {});
    Vec y, dydt;
    space.start(ready.state, ready.rates, y);
    State state = ready.state;
    Rates rates = ready.rates;
    ASSERT_EQ(space.evaluate(0, y, state, rates, dydt), Eval::ok);
    bool good = true;
    calls = 0;
    counting = true;
    for (int i = 0; i < 5; ++i) {
      y[0] += 1e-3;
      good = space.f(1e-3 * i, y, dydt) == Eval::ok && good;
      good = space.project(1e-3 * i, y) && good;
      good = space.evaluate(1e-3 * i, y, state, rates, dydt) == Eval::ok && good;
    }
    counting = false;
    EXPECT_TRUE(good) << ready.equations->model().title;
    EXPECT_EQ(calls, 0);
  }
}

}  // namespace
}  // namespace trammel::joint_space_test
