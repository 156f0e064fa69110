// Gears, shafts, screws, racks, ropes and cams against closed forms, over many turns; what the rank analysis finds in
// them.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <numbers>

#include "tests/problems/mechanisms.h"
#include "tests/problems/stepping.h"
#include "trammel/elements/build.h"
#include "trammel/math/rotation.h"
#include "trammel/rank/mechanism.h"
#include "trammel/read/read_model.h"

namespace trammel::transmissions_test {
namespace {

using problems::converged;
using problems::Ready;
constexpr double turn = 2 * std::numbers::pi;

Model model_of(const char* file) { return read_model(std::string(TRAMMEL_SOURCE_DIR) + "/models/" + file); }

Quat orientation_of(const Ready& ready, const State& s, const char* body) {
  const int q0 = ready.equations->first_coordinate(ready.equations->model().find_body(body));
  return {s.q[q0 + 3], s.q[q0 + 4], s.q[q0 + 5], s.q[q0 + 6]};
}

Vec3 position_of(const Ready& ready, const State& s, const char* body) {
  return s.q.segment<3>(ready.equations->first_coordinate(ready.equations->model().find_body(body)));
}

// Total angles of bodies about fixed axes, read off their orientations and counted on from step to step.
class Turns {
 public:
  Turns(const Ready& ready, std::map<std::string, Vec3> axes) : ready_(ready), axes_(std::move(axes)) {
    for (const auto& [body, axis] : axes_) start_[body] = orientation_of(ready, ready.state, body.c_str());
  }
  void follow(const State& s) {
    for (const auto& [body, axis] : axes_) {
      const Quat since = orientation_of(ready_, s, body.c_str()) * start_[body].conjugate();
      total_[body] = unwrap_angle(2 * std::atan2(since.vec().dot(axis), since.w()), total_[body]);
    }
  }
  double operator[](const char* body) { return total_[body]; }

 private:
  const Ready& ready_;
  std::map<std::string, Vec3> axes_;
  std::map<std::string, Quat> start_;
  std::map<std::string, double> total_;
};

LoopAnalysis rank_of(const Ready& ready) {
  Workspace work = ready.equations->make_workspace();
  return analyse_loops(constraint_graph(*ready.equations, ready.state, work));
}

AlphaOptions steps() { return converged(AlphaParameters::hht(-0.1)); }

Fields fields_of(std::initializer_list<std::pair<const char*, Value>> values) {
  Fields fields;
  for (const auto& [name, value] : values) fields.set(name, value);
  return fields;
}
ExpressionText text(const char* t) { return {t, {}}; }
using Names = std::vector<std::string>;
using Numbers = std::vector<double>;

Body body_of(const char* name, double mass, double inertia, const Vec3& at = Vec3::Zero()) {
  Body body;
  body.name = name;
  body.mass = mass;
  body.inertia = Vec3::Constant(inertia).asDiagonal();
  body.pose.position = at;
  return body;
}

// ---- shafts ---------------------------------------------------------------------------------------------------------

constexpr double bend = std::numbers::pi / 6;

// Speeds are exact where the start makes them consistent: all round a turn.
TEST(CardanShaft, RipplesByTheClosedForm) {
  double least = 100, most = 0;
  for (int i = 0; i < 24; ++i) {
    const double angle = turn * i / 24 + 0.01;
    Model m = model_of("cardan_shaft.yaml");
    for (Item& motion : m.motions)
      motion.fields.set("angle", ExpressionText{std::to_string(angle) + " + omega*time", {}});
    Ready ready(std::move(m));
    const double exact_angle = std::stod(std::to_string(angle));
    ready.equations->update(ready.state, ready.work);
    const auto speed_of = [&](const char* joint) {
      const Model& model = ready.equations->model();
      const Item& item = model.joints[static_cast<std::size_t>(model.find_joint(joint))];
      const FrameState a = ready.equations->frame(item.frames[0], ready.work),
                       b = ready.equations->frame(item.frames[1], ready.work);
      return a.R.col(2).dot(b.w - a.w);
    };
    const double s = std::sin(bend) * std::sin(exact_angle);
    EXPECT_NEAR(speed_of("bearing_out"), 10 * std::cos(bend) / (1 - s * s), 1e-9) << angle;
    EXPECT_NEAR(speed_of("bearing_out_cv"), 10, 1e-9) << angle;
    least = std::min(least, speed_of("bearing_out"));
    most = std::max(most, speed_of("bearing_out"));
  }
  EXPECT_LT(least, 10 * std::cos(bend) + 0.1);
  EXPECT_GT(most, 10 / std::cos(bend) - 0.1);
}

TEST(CardanShaft, TurnsByTheClosedFormOverManyTurns) {
  const Ready ready(model_of("cardan_shaft.yaml"), {});
  const LoopAnalysis rank = rank_of(ready);
  EXPECT_EQ(rank.freedoms_by_rank, 0);  // both driven
  EXPECT_EQ(rank.redundant, 0);
  const Vec3 out(std::cos(bend), std::sin(bend), 0);
  Turns turns(ready, {{"input", Vec3::UnitX()}, {"output", out}, {"output_cv", out}});
  double error = 0, error_cv = 0;
  problems::run_fixed(ready, steps(), 5e-3, 1000, [&](const AlphaMethod& m) {
    turns.follow(m.state());
    const double angle = 10 * m.state().t;
    const double closed = unwrap_angle(std::atan2(std::cos(bend) * std::sin(angle), std::cos(angle)), angle);
    error = std::max({error, std::abs(turns["output"] - closed), std::abs(turns["input"] - angle)});
    error_cv = std::max(error_cv, std::abs(turns["output_cv"] - angle));
  });
  EXPECT_GT(turns["output"], 7 * turn);
  EXPECT_LT(error, 1e-9);
  EXPECT_LT(error_cv, 1e-9);
}

// ---- gears ----------------------------------------------------------------------------------------------------------

TEST(Gears, APlanetaryGearKeepsWillisRatio) {
  const Ready ready(model_of("planetary_gear.yaml"), {});
  const LoopAnalysis rank = rank_of(ready);
  EXPECT_EQ(rank.freedoms_by_rank, 1);
  EXPECT_EQ(rank.redundant, 2);  // two planets more than needed
  const Vec3 z = Vec3::UnitZ();
  Turns turns(ready, {{"sun", z}, {"carrier", z}, {"planet_1", z}, {"planet_3", z}});
  double error = 0;
  problems::run_fixed(ready, steps(), 2e-3, 750, [&](const AlphaMethod& m) {
    turns.follow(m.state());
    const double carrier = turns["carrier"];
    error = std::max({error, std::abs(turns["sun"] - 4 * carrier), std::abs(turns["planet_1"] + 2 * carrier),
                      std::abs(turns["planet_3"] + 2 * carrier)});
  });
  EXPECT_GT(turns["sun"], 15 * turn);
  EXPECT_LT(error, 1e-9);
}

TEST(Gears, ADifferentialSharesSpeedAndTorque) {
  const Ready ready(model_of("differential.yaml"), {});
  const LoopAnalysis rank = rank_of(ready);
  EXPECT_EQ(rank.freedoms_by_rank, 2);
  EXPECT_EQ(rank.redundant, 0);
  const Vec3 x = Vec3::UnitX();
  Turns turns(ready, {{"pinion", Vec3::UnitY()}, {"case", x}, {"left", x}, {"right", x}});
  double error = 0;
  State last;
  problems::run_fixed(ready, steps(), 4e-3, 1250, [&](const AlphaMethod& m) {
    turns.follow(m.state());
    error = std::max({error, std::abs(turns["left"] + turns["right"] - 2 * turns["case"]),
                      std::abs(11 * turns["pinion"] + 43 * turns["case"])});
    last = m.state();
  });
  EXPECT_GT(std::abs(turns["pinion"]), 20 * turn);
  EXPECT_LT(error, 1e-8);
  // In the end both wheels take the same torque: 0.5 left = 2 right.
  const int left = ready.equations->first_velocity(ready.equations->model().find_body("left")),
            right = ready.equations->first_velocity(ready.equations->model().find_body("right"));
  EXPECT_NEAR(0.5 * last.v[left + 3], 2 * last.v[right + 3], 0.02 * std::abs(last.v[left + 3]));
}

// One coupler over three joints instead of spider and bevel wheels; the spider's inertia is put to zero in the other.
TEST(Gears, ACouplerOfThreeJointsIsADifferential) {
  Model bevel = model_of("differential.yaml");
  bevel.bodies[static_cast<std::size_t>(bevel.find_body("spider"))].inertia.setZero();
  Model coupled = bevel;
  const auto drop = [&](const char* name) { coupled.joints.erase(coupled.joints.begin() + coupled.find_joint(name)); };
  drop("left_mesh");
  drop("right_mesh");
  add_joint(coupled, "fixed", "locked",
            std::vector<int>(coupled.joints[static_cast<std::size_t>(coupled.find_joint("spider_pin"))].frames));
  const Vec3 x = Vec3::UnitX();
  const int world = coupled.add_frame_at(ground, Vec3::Zero(), x), of_case = coupled.add_frame_at(1, Vec3::Zero(), x);
  const int left = coupled.add_frame_at(3, Vec3::Zero(), x), right = coupled.add_frame_at(4, Vec3::Zero(), x);
  add_joint(coupled, "coupler", "differential", {world, left, world, right, world, of_case},
            fields_of({{"scales", Numbers{1, 1, -2}}}));
  const Ready one(std::move(bevel)), two(std::move(coupled));
  const problems::End end_one = problems::run_fixed(one, steps(), 4e-3, 500),
                      end_two = problems::run_fixed(two, steps(), 4e-3, 500);
  for (const char* name : {"pinion", "case", "left", "right"}) {
    EXPECT_NEAR(orientation_of(one, end_one.state, name).angularDistance(orientation_of(two, end_two.state, name)), 0,
                1e-7)
        << name;
  }
}

// J1 + J2 (z1/z2)^2 accelerates; torques on wheels and housing balance.
TEST(Gears, AReducerAcceleratesByItsReducedInertia) {
  Model m;
  m.add_body(body_of("small", 1, 1e-3));
  m.add_body(body_of("large", 6, 0.04, Vec3(0.1, 0, 0)));
  add_joint(m, "revolute", "shaft_1", ground, 0, Vec3::Zero());
  add_joint(m, "revolute", "shaft_2", ground, 1, Vec3(0.1, 0, 0));
  add_joint(m, "gear", "mesh", std::vector<int>{},
            fields_of({{"joints", Names{"shaft_1", "shaft_2"}}, {"teeth", Numbers{20, 60}}}));
  add_force(m, "torque", "motor", {m.add_frame(ground, {}), m.add_frame(0, {})}, fields_of({{"tz", text("2")}}));
  Ready ready(std::move(m));
  const double alpha = 2 / (1e-3 + 0.04 / 9);
  EXPECT_NEAR(ready.rates.a[5], alpha, 1e-9 * alpha);
  EXPECT_NEAR(ready.rates.a[11], -alpha / 3, 1e-9 * alpha);
  double wrenches[6 * max_frames];
  ready.equations->update(ready.state, ready.work);
  ready.equations->reactions(2, ready.state, ready.rates, ready.work, wrenches);
  EXPECT_NEAR(wrenches[11], 1e-3 * alpha - 2, 1e-9);   // on the small wheel
  EXPECT_NEAR(wrenches[23], -0.04 * alpha / 3, 1e-9);  // on the large one
  EXPECT_NEAR(wrenches[5] + wrenches[11] + wrenches[17] + wrenches[23], 0, 1e-9);
}

// ---- screw, rack ----------------------------------------------------------------------------------------------------

TEST(Screw, FallsAndAdvancesOverManyTurns) {
  constexpr double pitch = 0.02, mass = 0.5, J = 3e-5;
  Model m;
  m.gravity = Vec3(0, 0, -9.81);
  m.add_body(body_of("nut", mass, J));
  add_joint(m, "screw", "thread", ground, 0, Vec3::Zero(), Vec3::UnitZ(), fields_of({{"pitch", pitch}}));
  const Ready ready(std::move(m));
  EXPECT_EQ(rank_of(ready).freedoms_by_rank, 1);
  const double a = -mass * 9.81 / (mass + J * std::pow(turn / pitch, 2));
  Turns turns(ready, {{"nut", Vec3::UnitZ()}});
  double advance = 0, fall = 0;
  problems::run_fixed(ready, steps(), 2e-3, 600, [&](const AlphaMethod& method) {
    turns.follow(method.state());
    const double z = method.state().q[2], t = method.state().t;
    advance = std::max(advance, std::abs(z - pitch * turns["nut"] / turn));
    fall = std::max(fall, std::abs(z - 0.5 * a * t * t));
  });
  EXPECT_LT(turns["nut"], -35 * turn);
  EXPECT_LT(advance, 1e-11);
  EXPECT_LT(fall, 1e-9);
}

TEST(Screw, StartsAtTheTurnThatFits) {
  Model m;
  Body nut = body_of("nut", 1, 1e-3, Vec3(0, 0, 0.1));
  nut.pose.rotation = rotation_exp(Vec3(0, 0, 0.5));
  m.add_body(nut);
  const int a = m.add_frame(ground, {}), b = m.add_frame(0, {});
  const double pitch = 0.1 / (7 + 0.5 / turn);
  add_joint(m, "screw", "thread", {a, b}, fields_of({{"pitch", pitch}}));
  const Ready ready(std::move(m));
  EXPECT_NEAR(ready.state.memory[0], 7 * turn + 0.5, 1e-9);
  EXPECT_NEAR(ready.state.q[2], 0.1, 1e-12);  // nothing moved
}

TEST(RackAndPinion, RunsOverManyTurnsAndFallsByItsReducedMass) {
  constexpr double radius = 0.02, mass = 0.7, J = 2e-4;
  Model m;
  m.gravity = Vec3(0, -9.81, 0);
  m.add_body(body_of("pinion", 1, J));
  m.add_body(body_of("rack", mass, 1e-3, Vec3(radius, 0, 0)));
  add_joint(m, "revolute", "shaft", ground, 0, Vec3::Zero());
  add_joint(m, "translational", "guide", ground, 1, Vec3(radius, 0, 0), Vec3::UnitY());
  add_joint(m, "rack_and_pinion", "mesh", std::vector<int>{},
            fields_of({{"joints", Names{"shaft", "guide"}}, {"radius", radius}}));
  const Ready ready(std::move(m));
  EXPECT_EQ(rank_of(ready).freedoms_by_rank, 1);
  const double a = -mass * 9.81 / (mass + J / (radius * radius));
  Turns turns(ready, {{"pinion", Vec3::UnitZ()}});
  double mesh = 0, fall = 0;
  problems::run_fixed(ready, steps(), 2e-3, 500, [&](const AlphaMethod& method) {
    turns.follow(method.state());
    const double y = position_of(ready, method.state(), "rack").y(), t = method.state().t;
    mesh = std::max(mesh, std::abs(y - radius * turns["pinion"]));
    fall = std::max(fall, std::abs(y - 0.5 * a * t * t));
  });
  EXPECT_LT(turns["pinion"], -15 * turn);
  EXPECT_LT(mesh, 1e-11);
  EXPECT_LT(fall, 1e-9);
  // The same as a coupler.
  Model coupled = ready.equations->model();
  coupled.joints.pop_back();
  add_joint(coupled, "coupler", "mesh", std::vector<int>{},
            fields_of({{"joints", Names{"shaft", "guide"}}, {"scales", Numbers{-radius, 1}}}));
  const Ready other(std::move(coupled));
  EXPECT_NEAR(other.rates.a[7], a, 1e-12);
}

// ---- curves ---------------------------------------------------------------------------------------------------------

TEST(Cam, LiftsItsFollowerAsPrescribed) {
  const Ready ready(model_of("cam_follower.yaml"), {});
  const LoopAnalysis rank = rank_of(ready);
  EXPECT_EQ(rank.freedoms_by_rank, 0);
  EXPECT_EQ(rank.redundant, 0);
  double error = 0, most = 0, least = 1;
  problems::run_fixed(ready, steps(), 2e-3, 1000, [&](const AlphaMethod& m) {
    const double y = position_of(ready, m.state(), "follower").y();
    error = std::max(error, std::abs(y - (0.04 + 0.006 * (1 - std::cos(std::numbers::pi - 40 * m.state().t)))));
    most = std::max(most, y);
    least = std::min(least, y);
  });
  EXPECT_LT(error, 1e-11);
  EXPECT_NEAR(most - least, 0.012, 1e-5);
}

Body bead(const Vec3& at, const Vec3& velocity = Vec3::Zero()) {
  Body b;
  b.name = "bead";
  b.kind = "point";
  b.mass = 0.1;
  b.pose.position = at;
  b.velocity = velocity;
  return b;
}

Model bead_on(const Body& b, Fields fields, bool with_parameter, double s = 0) {
  Model m;
  m.gravity = Vec3(0, 0, -9.81);
  m.add_body(b);
  if (with_parameter) {
    Body parameter;
    parameter.name = "s";
    parameter.kind = "scalar";
    parameter.pose.position.x() = s;
    m.add_body(parameter);
    fields.set("parameter", std::string("s"));
  }
  const int a = m.add_frame(ground, {}), on = m.add_frame(0, {});
  add_joint(m, "point_on_curve", "wire", {a, on}, std::move(fields));
  return m;
}

// s'' = -g c / (r^2 + c^2)
TEST(Curve, ABeadSlidesDownAHelixAtConstantAcceleration) {
  constexpr double r = 0.2, c = 0.05;
  const Ready ready(bead_on(bead(Vec3(r, 0, 0)),
                            fields_of({{"x", text("0.2*cos(s)")}, {"y", text("0.2*sin(s)")}, {"z", text("0.05*s")}}),
                            true));
  EXPECT_EQ(rank_of(ready).freedoms_by_rank, 1);
  const double a = -9.81 * c / (r * r + c * c);
  EXPECT_NEAR(ready.rates.a[3], a, 1e-10);
  double off = 0, error = 0;
  problems::run_fixed(ready, steps(), 1e-3, 2000, [&](const AlphaMethod& m) {
    const double s = m.state().q[3], t = m.state().t;
    off = std::max(off, (m.state().q.head<3>() - Vec3(r * std::cos(s), r * std::sin(s), c * s)).norm());
    error = std::max(error, std::abs(s / (0.5 * a * t * t) - 1));
  });
  EXPECT_LT(off, 1e-11);
  EXPECT_LT(error, 3e-4);  // second order in the step
}

// 48 points of a circle in a plane that leans: the closed spline is off it by 7 (2 pi/48)^4 / 1920 of its radius or
// less, and the bead goes round at its constant speed, over several rounds.
TEST(Curve, ABeadGoesRoundThroughPoints) {
  constexpr double r = 0.2;
  std::vector<double> points;
  for (int i = 0; i <= 48; ++i) {
    const double a = 2 * std::numbers::pi * (i % 48) / 48;
    points.insert(points.end(), {r * std::cos(a), 0.8 * r * std::sin(a), 0.6 * r * std::sin(a)});
  }
  Model m = bead_on(bead(Vec3(r, 0, 0), Vec3(0, 1.2, 0.9)), fields_of({{"points", points}}), true);
  m.gravity.setZero();
  const Ready ready(std::move(m));
  EXPECT_EQ(rank_of(ready).freedoms_by_rank, 1);
  const double speed = ready.state.v.head<3>().norm();  // a little less: the coordinate s starts at rest
  double off = 0, error = 0;
  problems::run_fixed(ready, steps(), 1e-3, 2000, [&](const AlphaMethod& method) {
    off = std::max(off, std::abs(method.state().q.head<3>().norm() / r - 1));
    error = std::max(error, std::abs(method.state().v.head<3>().norm() / speed - 1));
  });
  EXPECT_LT(off, 2e-6);
  EXPECT_LT(error, 1e-4);

  for (const std::vector<double>& wrong :
       {std::vector<double>{0, 0, 0, 1, 0, 0}, std::vector<double>{0, 0, 0, 1, 0, 0, 1, 0, 0, 2, 0, 0},
        std::vector<double>{0, 0, 0, 1, 0, 0, 1}}) {
    EXPECT_THROW(Equations(bead_on(bead(Vec3::Zero()), fields_of({{"points", wrong}}), true)), Failure);
  }
}

TEST(Curve, FunctionAndParametricFormsMoveTheSame) {
  const Body b = bead(Vec3(0.5, 0, 0.5), Vec3(0, 0, 0));
  Model function = bead_on(b, fields_of({{"y", text("2*x^2")}}), false);
  Model parametric = bead_on(b, fields_of({{"x", text("s")}, {"y", text("2*s^2")}}), true, 0.5);
  for (Model* m : {&function, &parametric})  // the plane of the curve upright: y along world z
    m->frames[0].local.rotation = Quat(Eigen::AngleAxisd(std::numbers::pi / 2, Vec3::UnitX()));
  const Ready one(std::move(function)), two(std::move(parametric));
  std::vector<Vec3> path;
  double difference = 0, least = 1, energy = 0;
  problems::run_fixed(one, steps(), 1e-3, 1500, [&](const AlphaMethod& m) {
    path.push_back(m.state().q.head<3>());
    least = std::min(least, path.back().x());
    energy = std::max(energy, std::abs(0.5 * m.state().v.squaredNorm() + 9.81 * (path.back().z() - 0.5)));
  });
  std::size_t i = 0;
  problems::run_fixed(two, steps(), 1e-3, 1500, [&](const AlphaMethod& m) {
    difference = std::max(difference, (m.state().q.head<3>() - path[i++]).norm());
  });
  EXPECT_LT(least, -0.45);  // it went to the other side
  EXPECT_LT(difference, 1e-9);
  EXPECT_LT(energy, 0.02);
}

TEST(Curve, ACircleInPolarFormIsARod) {
  const auto pendulum = [](bool polar) {
    Model m;
    m.gravity = Vec3(0, -9.81, 0);
    Body b;
    b.name = "bob";
    b.kind = "planar";
    b.mass = 1;
    b.inertia(2, 2) = 0.01;
    b.pose.position = Vec3(0.5, 0, 0);
    b.angular_velocity = Vec3(0, 0, 3);
    m.add_body(b);
    const int a = m.add_frame(ground, {}), on = m.add_frame(0, {Vec3(0.1, 0.2, 0), Quat::Identity()});
    if (polar)
      add_joint(m, "point_on_curve", "circle", {a, on}, fields_of({{"r", text("sqrt(0.4)")}}));
    else
      add_joint(m, "distance", "rod", {a, on});
    return m;
  };
  const Ready one(pendulum(true)), two(pendulum(false));
  const problems::End end_one = problems::run_fixed(one, steps(), 1e-3, 1500),
                      end_two = problems::run_fixed(two, steps(), 1e-3, 1500);
  EXPECT_GT((end_one.state.q - one.state.q).norm(), 0.1);
  EXPECT_LT((end_one.state.q - end_two.state.q).norm(), 1e-9);
}

// A step far away is flat where patterns are probed; the bead must climb it all the same.
TEST(Curve, FunctionsThatAreFlatWhereTheyAreProbedWork) {
  Model m = bead_on(bead(Vec3(0, 0, 0), Vec3(6, 0, 0)), fields_of({{"y", text("step5(x, 5, 0, 6, 0.3)")}}), false);
  m.gravity.setZero();
  const Ready ready(std::move(m));
  const problems::End end = problems::run_fixed(ready, steps(), 1e-3, 1500);
  EXPECT_GT(end.state.q[0], 7);
  EXPECT_NEAR(end.state.q[1], 0.3, 1e-9);
  EXPECT_NEAR(end.state.v.norm(), 6, 0.02);  // no energy is lost but to the method
}

TEST(Curve, WrongDescriptionsAreRefused) {
  const auto make = [](Fields fields, bool parameter) {
    Model m = bead_on(bead(Vec3::Zero()), std::move(fields), parameter);
    const Equations equations(std::move(m));
  };
  EXPECT_THROW(make(fields_of({}), false), Failure);
  EXPECT_THROW(make(fields_of({{"y", text("x")}, {"r", text("1")}}), false), Failure);
  EXPECT_THROW(make(fields_of({{"x", text("s")}}), true), Failure);
  EXPECT_THROW(make(fields_of({{"y", text("time")}}), false), Failure);
  EXPECT_THROW(make(fields_of({{"parameter", std::string("nobody")}, {"x", text("s")}, {"y", text("s")}}), false),
               Failure);
}

// ---- ropes ----------------------------------------------------------------------------------------------------------

Body load(const char* name, double mass, const Vec3& at, const Vec3& velocity = Vec3::Zero()) {
  Body body;
  body.name = name;
  body.kind = "point";
  body.mass = mass;
  body.pose.position = at;
  body.velocity = velocity;
  return body;
}

// Points of a rope, as the joint's frames.
std::vector<int> rope_frames(Model& m, const Vec3& pulley_1, int load_1, const Vec3& pulley_2, int load_2) {
  const int a_1 = m.add_frame_at(ground, pulley_1), p_1 = m.add_frame(load_1, {});
  const int a_2 = m.add_frame_at(ground, pulley_2), p_2 = m.add_frame(load_2, {});
  return {a_1, p_1, a_2, p_2};
}

// l_1'' = g - T/m_1,  l_2'' = g - ratio T/m_2,  l_1'' + ratio l_2'' = 0
TEST(Pulley, AtwoodsMachineAcceleratesByItsClosedForm) {
  constexpr double g = 9.81, m_1 = 3, m_2 = 4;
  for (const double ratio : {1.0, 2.0, 0.4}) {
    Model m;
    m.gravity = Vec3(0, 0, -g);
    m.add_body(load("first", m_1, Vec3(0, 0, -5)));
    m.add_body(load("second", m_2, Vec3(0.5, 0, -6)));
    add_joint(m, "pulley", "rope", rope_frames(m, Vec3::Zero(), 0, Vec3(0.5, 0, 0), 1), fields_of({{"ratio", ratio}}));
    Ready ready(std::move(m));
    EXPECT_EQ(rank_of(ready).freedoms_by_rank, 5);
    const double tension = (1 + ratio) * g / (1 / m_1 + ratio * ratio / m_2), a = g - tension / m_1;
    EXPECT_NEAR(ready.rates.a[2], -a, 1e-11) << ratio;
    EXPECT_NEAR(ready.rates.a[5], a / ratio, 1e-11) << ratio;
    double wrenches[6 * max_frames];
    ready.equations->update(ready.state, ready.work);
    ready.equations->reactions(0, ready.state, ready.rates, ready.work, wrenches);
    const std::array<double, 4> up{-tension, tension, -ratio * tension, ratio * tension};  // pulley, load; pulley, load
    for (std::size_t i = 0; i < up.size(); ++i) EXPECT_NEAR(wrenches[6 * i + 2], up[i], 1e-10) << ratio;
    double fall = 0;
    problems::run_fixed(ready, steps(), 2e-3, 500, [&](const AlphaMethod& method) {
      const double t = method.state().t, down = 0.5 * a * t * t;
      fall =
          std::max({fall, std::abs(method.state().q[2] + 5 + down), std::abs(method.state().q[5] + 6 - down / ratio)});
    });
    EXPECT_LT(fall, 1e-9) << ratio;
  }
}

// Foci at -c and c, half axes 0.5 and 0.4: the load hangs in the rope and runs along it.
TEST(Pulley, ALoadOnARopeBetweenTwoPointsMovesOnAnEllipse) {
  const Vec3 focus(0.3, 0, 0), start(0.5 * std::cos(-0.4), 0.4 * std::sin(-0.4), 0);
  Model roped;
  roped.gravity = Vec3(0, -9.81, 0);
  roped.add_body(load("load", 0.1, start));
  add_joint(roped, "pulley", "rope", rope_frames(roped, -focus, 0, focus, 0));
  Model on_wire = bead_on(bead(start), fields_of({{"x", text("0.5*cos(s)")}, {"y", text("0.4*sin(s)")}}), true, -0.4);
  on_wire.gravity = roped.gravity;
  const Ready one(std::move(roped)), two(std::move(on_wire));
  std::vector<Vec3> path;
  problems::run_fixed(one, steps(), 1e-3, 1500, [&](const AlphaMethod& m) { path.push_back(m.state().q.head<3>()); });
  std::size_t i = 0;
  double difference = 0, leftmost = 1;
  problems::run_fixed(two, steps(), 1e-3, 1500, [&](const AlphaMethod& m) {
    leftmost = std::min(leftmost, path[i].x());
    difference = std::max(difference, (m.state().q.head<3>() - path[i++]).norm());
  });
  EXPECT_LT(leftmost, -0.45);  // it ran to the other side
  EXPECT_LT(difference, 1e-9);
}

// A crane: the load swings from the tip of a boom that turns as it is pulled. The sides are exchanged, with the inverse
// ratio.
TEST(Pulley, TheSidesExchangedMoveTheSame) {
  const auto crane = [](bool exchanged) {
    Model m;
    m.gravity = Vec3(0, 0, -9.81);
    m.add_body(load("weight", 2, Vec3(0.1, 0, -1)));
    m.add_body(load("bob", 1, Vec3(1.2, 0.2, -0.8), Vec3(0.4, -0.4, 0)));
    m.add_body(body_of("boom", 0.5, 0.05, Vec3(0.5, 0, 0)));
    add_joint(m, "revolute", "mast", ground, 2, Vec3::Zero(), Vec3::UnitZ());
    const int foot = m.add_frame_at(2, Vec3(0.1, 0, 0)), tip = m.add_frame_at(2, Vec3(1, 0, 0));
    const int weight = m.add_frame(0, {}), bob = m.add_frame(1, {});
    if (exchanged)
      add_joint(m, "pulley", "rope", {bob, tip, weight, foot}, fields_of({{"ratio", 0.5}}));
    else
      add_joint(m, "pulley", "rope", {foot, weight, tip, bob}, fields_of({{"ratio", 2.0}}));
    return m;
  };
  const Ready one(crane(false)), two(crane(true));
  const auto rope = [](const Ready& ready, const State& s) {  // the boom's origin is 0.5 m from the mast
    const Vec3 at = position_of(ready, s, "boom");
    const Quat turned = orientation_of(ready, s, "boom");
    return (position_of(ready, s, "weight") - at - turned * Vec3(-0.4, 0, 0)).norm() +
           2 * (position_of(ready, s, "bob") - at - turned * Vec3(0.5, 0, 0)).norm();
  };
  const problems::End end_one = problems::run_fixed(one, steps(), 1e-3, 600),
                      end_two = problems::run_fixed(two, steps(), 1e-3, 600);
  EXPECT_NEAR(rope(one, end_one.state), rope(one, one.state), 1e-10);
  EXPECT_GT(orientation_of(one, end_one.state, "boom").angularDistance(Quat::Identity()), 0.1);
  EXPECT_LT((end_one.state.q - end_two.state.q).norm(), 1e-8);
}

TEST(Pulley, WrongDescriptionsAreRefused) {
  const auto refusal = [](const std::string& rope) {
    const std::string model =
        "trammel: 1\nbodies:\n"
        "  one: {kind: point, mass: 1, position: [0, 0, -1]}\n"
        "  two: {kind: point, mass: 1, position: [1, 0, -1]}\n"
        "frames:\n"
        "  left: {body: ground, position: [0, 0, 0]}\n"
        "  right: {body: ground, position: [1, 0, 0]}\n"
        "joints:\n"
        "  rope: {type: pulley" +
        rope + "}\nsimulation: {end: 1}\n";
    try {
      const Equations equations(read_model_text(model, "rope.yaml"));
    } catch (const Failure& failure) {
      return std::string(failure.what());
    }
    return std::string("accepted");
  };
  const auto expect = [&](const char* rope, const char* message) {
    const std::string said = refusal(rope);
    EXPECT_NE(said.find(message), std::string::npos) << rope << ": " << said;
  };
  expect(", frames: [left, one, right, two]", "accepted");
  expect("", "rope.yaml:9:3");
  expect("", "a rope over pulleys needs 4 frames, 0 are given");
  expect(", frames: [left, one, right, two, left, one]", "a rope over pulleys needs 4 frames, 6 are given");
  expect(", frames: [left, one]", "'frames' must name two frames for each pair it couples");
  expect(", frames: [left, left, right, two]", "the first load is at its pulley");
  expect(", frames: [left, one, right, right], length: 3", "the second load is at its pulley");
  expect(", frames: [left, one, right, two], ratio: 0", "ratio");
  expect(", frames: [left, one, right, two], length: -1", "length");
  expect(", joints: [left, one]", "joints");
}

TEST(Couplings, WrongDescriptionsAreRefused) {
  const auto make = [](const char* type, Fields fields) {
    Model m;
    m.add_body(body_of("one", 1, 1));
    m.add_body(body_of("two", 1, 1));
    add_joint(m, "revolute", "pin", ground, 0, Vec3::Zero());
    add_joint(m, "translational", "slide", ground, 1, Vec3::Zero());
    add_joint(m, "spherical", "ball", 0, 1, Vec3::Zero());
    add_joint(m, type, "coupling", std::vector<int>{}, std::move(fields));
    const Equations equations(std::move(m));
  };
  EXPECT_NO_THROW(make("rack_and_pinion", fields_of({{"joints", Names{"pin", "slide"}}, {"radius", 0.1}})));
  EXPECT_THROW(make("rack_and_pinion", fields_of({{"joints", Names{"slide", "pin"}}, {"radius", 0.1}})), Failure);
  EXPECT_THROW(make("rack_and_pinion", fields_of({{"joints", Names{"pin", "slide"}}, {"radius", 0.0}})), Failure);
  EXPECT_THROW(make("gear", fields_of({{"joints", Names{"pin", "slide"}}, {"teeth", Numbers{1, 2}}})), Failure);
  EXPECT_THROW(make("gear", fields_of({{"joints", Names{"pin", "nothing"}}, {"teeth", Numbers{1, 2}}})), Failure);
  EXPECT_THROW(make("gear", fields_of({{"joints", Names{"pin"}}, {"teeth", Numbers{1, 2}}})), Failure);
  EXPECT_THROW(make("coupler", fields_of({{"joints", Names{"pin", "ball"}}, {"scales", Numbers{1, 2}}})), Failure);
  EXPECT_THROW(make("coupler", fields_of({{"joints", Names{"pin", "slide"}}, {"scales", Numbers{1}}})), Failure);
  EXPECT_THROW(make("coupler", fields_of({{"joints", Names{"pin", "slide"}},
                                          {"scales", Numbers{1, 2}},
                                          {"of", std::string("angle speed")}})),
               Failure);
}

}  // namespace
}  // namespace trammel::transmissions_test
