// Joints against equivalent combinations of other joints, and with their bodies exchanged: the motion must be the same.
// Angles that go round many times.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <ostream>

#include "tests/problems/mechanisms.h"
#include "tests/problems/stepping.h"
#include "trammel/elements/build.h"
#include "trammel/math/rotation.h"

namespace trammel::joints_test {
namespace {

using problems::converged;
using problems::Ready;

// Where and how the joint under test sits: a point and three axes, neither special.
struct Seat {
  Vec3 p = Vec3(0.6, 0.2, -0.1);
  Mat3 R = rotation_exp(Vec3(0.3, -0.8, 0.5)).toRotationMatrix();
  Vec3 x() const { return R.col(0); }
  Vec3 y() const { return R.col(1); }
  Vec3 z() const { return R.col(2); }
};

const Vec3 spin(0.7, -1.1, 1.9);  // of everything at the start, about the origin

// A body without mass or inertia at the seat: what holds it gives it its motion.
int add_massless(Model& m, const char* name, const Vec3& at, const Mat3& axes) {
  Body body;
  body.name = name;
  body.pose = {at, Quat(axes)};
  body.angular_velocity = spin;
  body.velocity = spin.cross(at);
  return m.add_body(body);
}

using Attach = std::function<void(Model&, int, int, const Seat&)>;

// Two bodies: the first swings about a ball joint on the ground, the second is attached to it by the joints under test.
// Both start turning as one, which every joint permits; springs to the ground pull them apart.
Model arm(const Attach& attach) {
  const Seat seat;
  Model m;
  m.gravity = Vec3(0, 0, -9.81);
  for (int i = 0; i < 2; ++i) {
    Body body;
    body.name = i == 0 ? "upper" : "lower";
    body.mass = i == 0 ? 2 : 1;
    body.inertia = Vec3(0.11, 0.07 + 0.02 * i, 0.09).asDiagonal();
    body.pose = {i == 0 ? Vec3(0.3, 0.1, 0) : Vec3(0.9, 0.3, -0.3),
                 rotation_exp(i == 0 ? Vec3(0.2, 0.1, -0.4) : Vec3(-0.5, 0.9, 0.3))};
    body.center_of_mass = Vec3(0.02, -0.03, 0.01 * i);
    body.angular_velocity = spin;
    body.velocity = spin.cross(body.pose.position);
    m.add_body(body);
  }
  add_joint(m, "spherical", "root", ground, 0, Vec3::Zero());
  Fields spring;
  spring.set("stiffness", 20.0);
  spring.set("damping", 0.5);
  spring.set("free_length", 0.5);
  add_force(m, "translational_spring_damper", "left",
            {m.add_frame_at(ground, Vec3(1.2, -1, 0.4)), m.add_frame_at(1, Vec3(1.0, 0.3, -0.2))}, spring);
  add_force(m, "translational_spring_damper", "right",
            {m.add_frame_at(ground, Vec3(1.5, 1, -0.9)), m.add_frame_at(1, Vec3(0.8, 0.5, -0.3))}, spring);
  attach(m, 0, 1, seat);
  return m;
}

// Frames at p; z along the given axis, x along another.
int frame(Model& m, int body, const Vec3& p, const Vec3& z, const Vec3& x) { return m.add_frame_at(body, p, z, x); }

void add(Model& m, const char* type, int a, int b, const Vec3& at_a, const Vec3& z_a, const Vec3& x_a, const Vec3& at_b,
         const Vec3& z_b, const Vec3& x_b) {
  const int first = frame(m, a, at_a, z_a, x_a), second = frame(m, b, at_b, z_b, x_b);
  add_joint(m, type, std::string(type) + std::to_string(m.joints.size()), {first, second});
}
// Both frames alike.
void add(Model& m, const char* type, int a, int b, const Seat& s) {
  add(m, type, a, b, s.p, s.z(), s.x(), s.p, s.z(), s.x());
}
void add_universal(Model& m, int a, int b, const Seat& s) {
  add(m, "universal", a, b, s.p, s.z(), s.x(), s.p, s.x(), s.y());
}

// The origin of a's frame at p with z along `normal`; the point of b at `point`.
void add_point(Model& m, const char* type, int a, int b, const Vec3& p, const Vec3& z, const Vec3& point) {
  add(m, type, a, b, p, z, Vec3::Zero(), point, z, Vec3::Zero());
}

double difference(Model one, Model two, double h = 1e-3, int count = 1000) {
  const Ready first(std::move(one)), second(std::move(two));
  const AlphaOptions options = converged(AlphaParameters::hht(-0.1));
  std::vector<Vec> path;
  double most = 0, moved = 0;
  problems::run_fixed(first, options, h, count, [&](const AlphaMethod& m) {
    path.push_back(m.state().q);
    moved = std::max(moved, problems::distance(*first.equations, first.state.q, m.state().q));
  });
  std::size_t i = 0;
  problems::run_fixed(second, options, h, count, [&](const AlphaMethod& m) {
    const Eigen::Index common = 14;  // the two bodies; a combination may hold more
    most = std::max(most, (path[i++].head(common) - m.state().q.head(common)).lpNorm<Eigen::Infinity>());
  });
  EXPECT_GT(moved, 0.3) << "it hardly moved, so this shows nothing";
  return most;
}

struct Equivalence {
  std::string name;
  Attach joint, combination;
};
void PrintTo(const Equivalence& which, std::ostream* out) { *out << which.name; }

std::vector<Equivalence> equivalences() {
  return {
      {"revolute_is_spherical_and_point_on_line",
       [](Model& m, int a, int b, const Seat& s) { add(m, "revolute", a, b, s); },
       [](Model& m, int a, int b, const Seat& s) {
         add(m, "spherical", a, b, s);
         add_point(m, "point_on_line", a, b, s.p, s.z(), s.p + 0.4 * s.z());
       }},
      {"revolute_is_cylindrical_and_point_in_plane",
       [](Model& m, int a, int b, const Seat& s) { add(m, "revolute", a, b, s); },
       [](Model& m, int a, int b, const Seat& s) {
         add(m, "cylindrical", a, b, s);
         add_point(m, "point_in_plane", a, b, s.p, s.z(), s.p + 0.3 * s.x());
       }},
      {"cylindrical_is_two_points_on_a_line",
       [](Model& m, int a, int b, const Seat& s) { add(m, "cylindrical", a, b, s); },
       [](Model& m, int a, int b, const Seat& s) {
         add_point(m, "point_on_line", a, b, s.p, s.z(), s.p);
         add_point(m, "point_on_line", a, b, s.p, s.z(), s.p + 0.5 * s.z());
       }},
      {"translational_is_cylindrical_and_point_in_plane",
       [](Model& m, int a, int b, const Seat& s) { add(m, "translational", a, b, s); },
       [](Model& m, int a, int b, const Seat& s) {
         add(m, "cylindrical", a, b, s);
         add_point(m, "point_in_plane", a, b, s.p, s.y(), s.p + 0.5 * s.x());
       }},
      {"fixed_is_translational_and_point_in_plane",
       [](Model& m, int a, int b, const Seat& s) { add(m, "fixed", a, b, s); },
       [](Model& m, int a, int b, const Seat& s) {
         add(m, "translational", a, b, s);
         add_point(m, "point_in_plane", a, b, s.p, s.z(), s.p);
       }},
      {"fixed_is_three_two_one", [](Model& m, int a, int b, const Seat& s) { add(m, "fixed", a, b, s); },
       [](Model& m, int a, int b, const Seat& s) {
         add(m, "spherical", a, b, s);
         add_point(m, "point_on_line", a, b, s.p, s.z(), s.p + 0.5 * s.z());
         add_point(m, "point_in_plane", a, b, s.p, s.y(), s.p + 0.5 * s.x());
       }},
      {"fixed_is_three_spherical_arms", [](Model& m, int a, int b, const Seat& s) { add(m, "fixed", a, b, s); },
       [](Model& m, int a, int b, const Seat& s) {  // nine rows, three of them redundant
         add(m, "spherical", a, b, s);
         for (const Vec3& arm : {Vec3(0.5 * s.z()), Vec3(0.5 * s.x())})
           add_point(m, "spherical", a, b, s.p + arm, s.z(), s.p + arm);
       }},
      {"spherical_is_point_on_line_and_in_plane",
       [](Model& m, int a, int b, const Seat& s) { add(m, "spherical", a, b, s); },
       [](Model& m, int a, int b, const Seat& s) {
         add_point(m, "point_on_line", a, b, s.p, s.z(), s.p);
         add_point(m, "point_in_plane", a, b, s.p, s.z(), s.p);
       }},
      {"universal_is_spherical_and_point_in_plane",
       [](Model& m, int a, int b, const Seat& s) { add_universal(m, a, b, s); },
       [](Model& m, int a, int b, const Seat& s) {
         add(m, "spherical", a, b, s);
         add_point(m, "point_in_plane", a, b, s.p, s.z(), s.p + 0.5 * s.x());
       }},
      {"universal_is_two_revolutes_with_a_cross",
       [](Model& m, int a, int b, const Seat& s) { add_universal(m, a, b, s); },
       [](Model& m, int a, int b, const Seat& s) {  // the cross itself has neither mass nor inertia
         const int c = add_massless(m, "cross", s.p, s.R);
         add(m, "revolute", a, c, s);
         add(m, "revolute", c, b, s.p, s.x(), s.y(), s.p, s.x(), s.y());
       }},
      {"universal_is_spherical_and_perpendicular_axes",
       [](Model& m, int a, int b, const Seat& s) { add_universal(m, a, b, s); },
       [](Model& m, int a, int b, const Seat& s) {
         add(m, "spherical", a, b, s);
         add(m, "perpendicular_axes", a, b, s.p + s.x(), s.z(), s.x(), s.p - s.y(), s.x(), s.y());
       }},
      {"revolute_is_spherical_and_parallel_axes",
       [](Model& m, int a, int b, const Seat& s) { add(m, "revolute", a, b, s); },
       [](Model& m, int a, int b, const Seat& s) {
         add(m, "spherical", a, b, s);
         add(m, "parallel_axes", a, b, s.p + s.x(), s.z(), s.x(), s.p - s.y(), s.z(), s.y());
       }},
      {"planar_is_point_in_plane_and_parallel_axes",
       [](Model& m, int a, int b, const Seat& s) { add(m, "planar", a, b, s); },
       [](Model& m, int a, int b, const Seat& s) {
         add_point(m, "point_in_plane", a, b, s.p, s.z(), s.p);
         add(m, "parallel_axes", a, b, s);
       }},
      {"fixed_is_spherical_and_orientation", [](Model& m, int a, int b, const Seat& s) { add(m, "fixed", a, b, s); },
       [](Model& m, int a, int b, const Seat& s) {
         add(m, "spherical", a, b, s);
         add(m, "orientation", a, b, s);
       }},
      {"translational_is_point_on_line_and_orientation",
       [](Model& m, int a, int b, const Seat& s) { add(m, "translational", a, b, s); },
       [](Model& m, int a, int b, const Seat& s) {
         add_point(m, "point_on_line", a, b, s.p, s.z(), s.p);
         add(m, "orientation", a, b, s);
       }},
      {"screw_is_cylindrical_and_coupler",
       [](Model& m, int a, int b, const Seat& s) {
         Fields pitch;
         pitch.set("pitch", 0.3);
         add_joint(m, "screw", "screw", {m.add_frame_at(a, s.p, s.z(), s.x()), m.add_frame_at(b, s.p, s.z(), s.x())},
                   pitch);
       },
       [](Model& m, int a, int b, const Seat& s) {
         add(m, "cylindrical", a, b, s);
         const std::string name = m.joints.back().name;
         Fields fields;
         fields.set("joints", std::vector<std::string>{name, name});
         fields.set("of", std::string("displacement angle"));
         fields.set("scales", std::vector<double>{1, -0.3 / (2 * std::numbers::pi)});
         add_joint(m, "coupler", "thread", std::vector<int>{}, fields);
       }},
      {"constant_velocity_is_two_universals_with_a_massless_core",
       [](Model& m, int a, int b, const Seat& s) { add(m, "constant_velocity", a, b, s); },
       [](Model& m, int a, int b, const Seat& s) {
         // Two crosses in one point: R_A^T R_B = R_x(t) R_y(u) R_y(u) R_x(t), with the two turns alike on both sides,
         // reads the same backwards, so its axis has no z component.
         const int c = add_massless(m, "core", s.p, s.R);
         add(m, "universal", a, c, s.p, s.x(), s.y(), s.p, s.y(), s.z());
         add(m, "universal", c, b, s.p, s.y(), s.z(), s.p, s.x(), s.y());
         const auto about = [&](int body, const Vec3& z, const Vec3& x) { return frame(m, body, s.p, z, x); };
         Fields alike;
         alike.set("scales", std::vector<double>{1, 1});
         add_joint(m, "coupler", "outer arms",
                   {about(a, s.x(), s.z()), about(c, s.x(), s.z()), about(b, s.x(), s.z()), about(c, s.x(), s.z())},
                   alike);
         add_joint(m, "coupler", "inner arms",
                   {about(c, s.y(), s.x()), about(a, s.y(), s.x()), about(c, s.y(), s.x()), about(b, s.y(), s.x())},
                   alike);
       }},
      {"planar_is_three_points_in_a_plane", [](Model& m, int a, int b, const Seat& s) { add(m, "planar", a, b, s); },
       [](Model& m, int a, int b, const Seat& s) {
         for (const Vec3& arm : {Vec3(Vec3::Zero()), Vec3(0.5 * s.x()), Vec3(0.4 * s.y())})
           add_point(m, "point_in_plane", a, b, s.p, s.z(), s.p + arm);
       }},
      {"point_on_line_is_two_planes",
       [](Model& m, int a, int b, const Seat& s) { add_point(m, "point_on_line", a, b, s.p, s.z(), s.p); },
       [](Model& m, int a, int b, const Seat& s) {
         add_point(m, "point_in_plane", a, b, s.p, s.x(), s.p);
         add_point(m, "point_in_plane", a, b, s.p, s.y(), s.p);
       }},
      {"distance_is_a_massless_rod",
       [](Model& m, int a, int b, const Seat& s) {
         add_joint(m, "distance", "rod", {m.add_frame_at(a, s.p), m.add_frame_at(b, s.p + 0.4 * s.z())});
       },
       [](Model& m, int a, int b, const Seat& s) {
         const int c = add_massless(m, "rod", s.p + 0.2 * s.z(), s.R);
         add(m, "universal", a, c, s.p, s.x(), s.y(), s.p, s.y(), s.z());  // holds its turn about its own axis
         add_point(m, "spherical", c, b, s.p + 0.4 * s.z(), s.z(), s.p + 0.4 * s.z());
       }},
  };
}

class Equivalents : public testing::TestWithParam<Equivalence> {};

TEST_P(Equivalents, MoveTheSame) { EXPECT_LT(difference(arm(GetParam().joint), arm(GetParam().combination)), 1e-9); }

INSTANTIATE_TEST_SUITE_P(All, Equivalents, testing::ValuesIn(equivalences()),
                         [](const auto& which) { return which.param.name; });

// ---- bodies exchanged -----------------------------------------------------------------------------------------------

class Exchanged : public testing::TestWithParam<std::string> {};

TEST_P(Exchanged, MoveTheSame) {
  const std::string type = GetParam();
  const auto attach = [&](bool exchanged) -> Attach {
    return [=](Model& m, int a, int b, const Seat& s) {
      int first = frame(m, a, s.p, s.z(), s.x()), second = frame(m, b, s.p, s.z(), s.x());
      if (type == "universal" || type == "perpendicular_axes") second = frame(m, b, s.p, s.x(), s.y());
      if (type == "distance") second = frame(m, b, s.p + 0.4 * s.z(), s.x(), s.y());
      if (exchanged) std::swap(first, second);
      Fields fields;
      if (type == "screw") fields.set("pitch", 0.3);
      add_joint(m, type, "joint", {first, second}, fields);
    };
  };
  EXPECT_LT(difference(arm(attach(false)), arm(attach(true))), 1e-9);
}

INSTANTIATE_TEST_SUITE_P(All, Exchanged,
                         testing::Values("fixed", "revolute", "translational", "cylindrical", "spherical", "universal",
                                         "planar", "distance", "parallel_axes", "perpendicular_axes", "orientation",
                                         "constant_velocity", "screw"),
                         [](const auto& type) { return type.param; });

Fields expression(const char* field, const std::string& text) {
  Fields fields;
  fields.set(field, ExpressionText{text, {}});
  return fields;
}

TEST(ExchangedMotions, MoveTheSame) {
  const auto rotation = [](bool exchanged) -> Attach {
    return [=](Model& m, int a, int b, const Seat& s) {
      add(m, "revolute", a, b, s);
      std::vector<int> frames = m.joints.back().frames;
      if (exchanged) std::swap(frames[0], frames[1]);
      add_motion(m, "rotation", "drive", frames, expression("angle", exchanged ? "-6*time^2" : "6*time^2"));
    };
  };
  EXPECT_LT(difference(arm(rotation(false)), arm(rotation(true))), 1e-9);
  const auto translation = [](bool exchanged) -> Attach {
    return [=](Model& m, int a, int b, const Seat& s) {
      add(m, "translational", a, b, s);
      std::vector<int> frames = m.joints.back().frames;
      if (exchanged) std::swap(frames[0], frames[1]);
      add_motion(m, "translation", "drive", frames,
                 expression("displacement", exchanged ? "-0.2*(1-cos(5*time))" : "0.2*(1-cos(5*time))"));
    };
  };
  EXPECT_LT(difference(arm(translation(false)), arm(translation(true))), 1e-9);
}

// Driving a cylindrical joint's displacement at zero and its angle at zero fixes it.
TEST(ExchangedMotions, AtRestHoldAJoint) {
  const Attach held = [](Model& m, int a, int b, const Seat& s) {
    add(m, "cylindrical", a, b, s);
    add_motion(m, "rotation", "angle", m.joints.back().frames, expression("angle", "0"));
    add_motion(m, "translation", "displacement", m.joints.back().frames, expression("displacement", "0"));
  };
  const Attach fixed = [](Model& m, int a, int b, const Seat& s) { add(m, "fixed", a, b, s); };
  EXPECT_LT(difference(arm(held), arm(fixed)), 1e-9);
}

// ---- many turns -----------------------------------------------------------------------------------------------------

Model driven_pendulum(const char* angle) {
  Model m = problems::pendulum();
  add_motion(m, "rotation", "drive", m.joints[0].frames, expression("angle", angle));
  return m;
}

TEST(ManyTurns, AMotionIsFollowedForwardAndBack) {
  const Ready ready(driven_pendulum("30*sin(time)"));  // five turns each way
  double error = 0, most = 0;
  problems::run_fixed(ready, problems::fixed(AlphaParameters::hht(-0.1)), 5e-3, 1300, [&](const AlphaMethod& m) {
    const State& s = m.state();
    error = std::max(error, std::abs(s.memory[0] - 30 * std::sin(s.t)));
    most = std::max(most, std::abs(s.memory[0]));
    // and the body is where the angle says: it turns about y
    const Quat q(s.q[3], s.q[4], s.q[5], s.q[6]);
    error = std::max(error,
                     std::abs(std::remainder(rotation_log(q).dot(Vec3::UnitY()) - s.memory[0], 2 * std::numbers::pi)));
  });
  EXPECT_LT(error, 1e-9);
  EXPECT_GT(most, 29);
}

TEST(ManyTurns, AMotionThatStartsTurnsAwayIsMet) {
  const Ready ready(driven_pendulum("100 + 5*time"));
  EXPECT_NEAR(ready.state.memory[0], 100, 1e-9);
  const problems::End end = problems::run_fixed(ready, problems::fixed(AlphaParameters::hht(-0.1)), 5e-3, 1000);
  EXPECT_NEAR(end.state.memory[0], 125, 1e-9);
}

// Turns are counted from the rate: at constant speed a step may take several.
TEST(ManyTurns, AStepOfThreeTurnsIsCounted) {
  const Ready ready(driven_pendulum("20*time"));
  AlphaMethod method(*ready.equations, problems::fixed(AlphaParameters::hht(-0.1)));
  method.start(ready.state, ready.rates);
  ASSERT_EQ(method.attempt(1).verdict, Verdict::ok);
  method.accept();
  EXPECT_NEAR(method.state().memory[0], 20, 1e-4);  // what Newton leaves, seen through h^2
}

// A step that leads a quarter turn or more from where the rate led could miscount: it is refused and changes nothing.
TEST(ManyTurns, StepsWhoseTurnsAreInDoubtAreRefused) {
  const Ready ready(driven_pendulum("200*time^2"));
  AlphaMethod method(*ready.equations, problems::fixed(AlphaParameters::hht(-0.1)));
  method.start(ready.state, ready.rates);
  const Attempt far = method.attempt(0.1);
  EXPECT_EQ(far.verdict, Verdict::angle_too_large);
  EXPECT_EQ(method.state().t, 0);
  EXPECT_EQ(method.state().q, ready.state.q);
  EXPECT_EQ(method.attempt(0.07).verdict, Verdict::ok);
}

// A torsion spring wound over several turns and back: angle = 20 sin(2 t).
TEST(ManyTurns, ATorsionSpringCountsThem) {
  Model m;
  Body rotor;
  rotor.name = "rotor";
  rotor.mass = 1;
  rotor.inertia = Vec3(0.3, 0.3, 0.5).asDiagonal();
  rotor.angular_velocity = Vec3(0, 0, 40);
  m.add_body(rotor);
  add_joint(m, "revolute", "shaft", ground, 0, Vec3::Zero());
  Fields spring;
  spring.set("stiffness", 2.0);
  add_force(m, "rotational_spring_damper", "spring", m.joints[0].frames, spring);
  const Ready ready(std::move(m));
  std::vector<double> hs, errors;
  for (const int count : {500, 1000, 2000, 4000}) {
    double error = 0;
    problems::run_fixed(
        ready, problems::fixed(AlphaParameters::hht(-0.05)), 4.0 / count, count, [&](const AlphaMethod& method) {
          error = std::max(error, std::abs(method.state().memory[0] - 20 * std::sin(2 * method.state().t)));
        });
    hs.push_back(4.0 / count);
    errors.push_back(error);
  }
  EXPECT_LT(errors.back(), 1e-3);
  EXPECT_NEAR(problems::fitted_slope(hs, errors), 2, 0.1);
}

}  // namespace
}  // namespace trammel::joints_test
