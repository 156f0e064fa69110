// Measures: exact derivatives, rates that are the time derivatives of what they are the rates of, and forces whose
// expressions look at other frames than those they act on.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/conformance/element_checks.h"
#include "trammel/elements/forces/forces.h"
#include "trammel/elements/measure.h"
#include "trammel/elements/remembered_angle.h"

namespace trammel::conformance::measures_test {
namespace {

constexpr int situations = 25;

// A measure dressed as a force, so that the checks apply: its value is the first component of the wrench on A.
class MeasureAsForce final : public Force {
 public:
  explicit MeasureAsForce(const MeasureDescription& measure) : measure_(measure) {}
  int frames() const override { return 2; }
  int memory() const override { return measure_.kind == MeasureKind::angle ? 1 : 0; }
  bool uses_velocity() const override { return measure_.uses_velocity(); }
  bool evaluate(const ElementInput& in, double* wrench) const override {
    std::fill_n(wrench, 12, 0.0);
    return evaluate_measure(measure_.kind, in.frames[0], in.frames[1], near(in), wrench[0]);
  }
  void linearise(const ElementInput& in, ForcePartials& out) const override {
    out.set_zero(2);
    MeasurePartials partials;
    linearise_measure(measure_.kind, in.frames[0], in.frames[1], near(in), partials);
    out.pose.row(0) = partials.pose.row();
    out.twist.row(0) = partials.twist.row();
  }
  void accept(const ElementInput& in, double* memory) const override {
    if (measure_.kind == MeasureKind::angle)
      evaluate_measure(measure_.kind, in.frames[0], in.frames[1], near(in), memory[0]);
  }

 private:
  double near(const ElementInput& in) const { return memory() == 0 ? 0.0 : in.memory[0]; }
  const MeasureDescription& measure_;
};

class Measures : public testing::TestWithParam<const MeasureDescription*> {};

TEST_P(Measures, HasExactDerivatives) {
  std::mt19937 random(11);
  const MeasureAsForce measure(*GetParam());
  for (int i = 0; i < situations; ++i) {
    bool usable = false;
    const Complaints complaints = check_derivatives(measure, random_situation(measure, random), usable);
    EXPECT_TRUE(complaints.empty()) << join(complaints);
    EXPECT_TRUE(usable);
  }
}

std::vector<const MeasureDescription*> all_measures() {
  std::vector<const MeasureDescription*> out;
  for (const MeasureDescription& d : measure_registry()) out.push_back(&d);
  return out;
}

INSTANTIATE_TEST_SUITE_P(All, Measures, testing::ValuesIn(all_measures()),
                         [](const auto& measure) { return measure.param->name; });

TEST(MeasureRates, RatesAreTimeDerivatives) {
  std::mt19937 random(12);
  const std::vector<std::pair<const char*, const char*>> pairs = {
      {"distance", "speed"}, {"dx", "vx"}, {"dy", "vy"}, {"dz", "vz"}, {"angle", "rate"}};
  for (const auto& [name, rate_name] : pairs) {
    const MeasureAsForce measure(*find_measure(name)), rate(*find_measure(rate_name));
    for (int i = 0; i < situations; ++i) {
      const Situation s = random_situation(measure, random);
      const auto slope = derivative([&measure = measure, &s](double e) -> std::optional<Vec> {
        Vec wrench(12);
        if (!measure.evaluate(moved_on(s, e).input(), wrench.data())) return std::nullopt;
        return wrench;
      });
      Vec wrench(12);
      ASSERT_TRUE(slope && rate.evaluate(s.input(), wrench.data()));
      EXPECT_NEAR((*slope)[0], wrench[0], tolerance * std::max(1.0, std::abs(wrench[0]))) << rate_name;
    }
  }
}

// wx, wy, wz are the rates of the rotation of B against A, in the axes of A: R = R_A^T R_B, R' = w~ R.
TEST(MeasureRates, AngularVelocityTurnsTheFrame) {
  std::mt19937 random(13);
  const MeasureAsForce any(*find_measure("wx"));
  const Situation s = random_situation(any, random);
  const auto slope = derivative([&](double e) -> std::optional<Vec> {
    const Situation at = moved_on(s, e);
    const Mat3 R = at.frames[0].R.transpose() * at.frames[1].R;
    return Vec(Eigen::Map<const Vec>(R.data(), 9));
  });
  const Mat3 spin = Eigen::Map<const Mat3>(slope->data()) * (s.frames[0].R.transpose() * s.frames[1].R).transpose();
  double wx = 0, wy = 0, wz = 0;
  evaluate_measure(MeasureKind::wx, s.frames[0], s.frames[1], 0, wx);
  evaluate_measure(MeasureKind::wy, s.frames[0], s.frames[1], 0, wy);
  evaluate_measure(MeasureKind::wz, s.frames[0], s.frames[1], 0, wz);
  EXPECT_NEAR(spin(2, 1), wx, 1e-9);
  EXPECT_NEAR(spin(0, 2), wy, 1e-9);
  EXPECT_NEAR(spin(1, 0), wz, 1e-9);
}

// A force that looks at a frame, two bodies, a joint and the ground besides the two frames it acts on.
TEST(MeasuredForces, PassTheChecksWithFramesOfOthers) {
  Model model;
  for (const char* name : {"first", "second", "third"}) {
    Body body;
    body.name = name;
    model.add_body(body);
  }
  const int a = model.add_frame(0, {Vec3(1, 0, 0), Quat::Identity()}),
            b = model.add_frame(1, {Vec3(0, 1, 0), Quat::Identity()});
  model.add_frame(2, {Vec3(0, 0, 1), Quat::Identity()}, "tip");
  model.joints.push_back(
      {"revolute",
       "pin",
       {model.add_frame(0, {Vec3(0, 2, 0), Quat::Identity()}), model.add_frame(2, {Vec3(3, 0, 0), Quat::Identity()})},
       {},
       {}});

  const ElementDescription description = describe_general_force();
  std::mt19937 random(14);
  for (const char* axes : {"a", "b", "world"}) {
    Item item{"general_force", "thruster", {a, b}, {}, {}};
    item.fields.set("fx", ExpressionText{"angle(pin)*rate + 0.3*distance(tip, second)", {}});
    item.fields.set("fy", ExpressionText{"dx(second)*vy(second, first)", {}});
    item.fields.set("tz", ExpressionText{"sin(angle(pin) - 2*angle)*wx(tip) + time*dz(tip, ground)", {}});
    item.fields.set("axes", std::string(axes));
    complete_fields(description, item);
    model.forces.assign(1, item);
    wire_measures(model);
    const Instance instance = make(description, model.forces[0], model);
    const Force& force = *instance.force;
    EXPECT_EQ(force.frames(), 8);  // a, b, both of the pin, tip, the origins of second, first and the ground
    EXPECT_EQ(force.memory(), 3 * RememberedAngle::size);
    for (int i = 0; i < situations; ++i) {
      const Situation s = random_situation(force, random);
      bool usable = false;
      const Complaints complaints = check_derivatives(force, s, usable);
      EXPECT_TRUE(complaints.empty()) << join(complaints);
      EXPECT_TRUE(usable);
      EXPECT_EQ(join(check_reaction(force, s)), "");
      EXPECT_EQ(join(check_objectivity(force, s, random)), "");
    }
  }
}

// general_force and the others stand on the same code; the registry's suite sees all that are in it.
TEST(MeasuredForces, GeneralForceIsDescribed) {
  std::mt19937 random(15);
  const ElementDescription description = describe_general_force();
  for (int i = 0; i < situations; ++i) {
    const Instance instance = make_random(description, random);
    const Situation s = random_situation(*instance.force, random);
    bool usable = false;
    EXPECT_EQ(join(check_derivatives(*instance.force, s, usable)), "");
    EXPECT_EQ(join(check_reaction(*instance.force, s)), "");
    EXPECT_EQ(join(check_objectivity(*instance.force, s, random)), "");
    EXPECT_EQ(join(check_memory(*instance.force, s)), "");
  }
}

}  // namespace
}  // namespace trammel::conformance::measures_test
