// Elements with modes, mode by mode: exact derivatives of the force and of the rows that it holds, power, and that rows
// that are not in force are zero.
#include <gtest/gtest.h>

#include "tests/conformance/element_checks.h"

namespace trammel::conformance::modes_test {
namespace {

class ElementModes : public testing::TestWithParam<const ElementDescription*> {
 protected:
  std::mt19937 random{42};
  // The item and its model, as the suite makes them.
  struct Made {
    Instance instance;
    std::unique_ptr<Constraint> rows;
    Situation situation;
  };
  Made make_one() {
    const ElementDescription& d = *GetParam();
    Item item;
    item.type = d.key;
    item.name = "pad";
    item.fields = d.random_fields(random);
    // no further frames: the load depends on time and the element's own two frames
    complete_fields(d, item);
    Model model;
    model.add_body({});
    model.add_body({});
    item.frames = {model.add_frame(0, {}), model.add_frame(1, {})};
    Made made{make(d, item, model), d.make_held(item, {model}), {}};
    made.situation = random_situation(*made.instance.force, random);
    return made;
  }
  static void set_mode(const Force& force, Situation& s, int mode) {
    s.memory[s.memory.size() - 2] = mode;
    ASSERT_EQ(force.mode(s.memory.data()), mode);
  }
};

TEST_P(ElementModes, HaveExactDerivatives) {
  for (int trial = 0; trial < 10; ++trial) {
    Made made = make_one();
    const auto modes = static_cast<int>(made.instance.force->modes().size());
    for (int mode = 0; mode < modes; ++mode) {
      set_mode(*made.instance.force, made.situation, mode);
      bool usable = false;
      Complaints complaints = check_derivatives(*made.instance.force, made.situation, usable);
      EXPECT_TRUE(complaints.empty()) << mode << ": " << join(complaints);
      complaints = check_derivatives(*made.rows, made.situation, random, usable);
      EXPECT_TRUE(complaints.empty()) << mode << ": " << join(complaints);
      complaints = check_reaction(*made.instance.force, made.situation);
      EXPECT_TRUE(complaints.empty()) << mode << ": " << join(complaints);
    }
  }
}

TEST_P(ElementModes, HoldTheirRowsInOneModeOnly) {
  Made made = make_one();
  const auto modes = static_cast<int>(made.instance.force->modes().size());
  int holding = 0;
  for (int mode = 0; mode < modes; ++mode) {
    set_mode(*made.instance.force, made.situation, mode);
    const ElementInput in = made.situation.input();
    RowMatrix C;
    made.rows->jacobian(in, C);
    double g = 1, rate = 1, curvature = 1, wrench[12];
    const double lambda = 1;
    made.rows->evaluate(in, &lambda, &g, wrench);
    made.rows->rate(in, &rate);
    made.rows->curvature(in, &curvature);
    double force[6 * max_frames];
    made.instance.force->evaluate(in, force);
    const double size = Eigen::Map<Vec>(force, 12).norm();
    if (made.rows->holds(in.memory)) {
      ++holding;
      EXPECT_GT(C.norm(), 0);
      EXPECT_EQ(size, 0);
    } else {
      EXPECT_EQ(C.norm() + std::abs(g) + std::abs(rate) + std::abs(curvature), 0) << mode;
      EXPECT_EQ(Eigen::Map<Vec>(wrench, 12).norm(), 0) << mode;
    }
  }
  EXPECT_EQ(holding, 1);
}

std::vector<const ElementDescription*> with_modes() {
  std::vector<const ElementDescription*> out;
  for (const ElementDescription& d : element_registry())
    if (d.make_held) out.push_back(&d);
  return out;
}

INSTANTIATE_TEST_SUITE_P(All, ElementModes, testing::ValuesIn(with_modes()),
                         [](const auto& element) { return element.param->key; });

}  // namespace
}  // namespace trammel::conformance::modes_test
