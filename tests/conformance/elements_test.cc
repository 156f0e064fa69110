// Every joint, motion and force of the registry: exact derivatives, objectivity, action = reaction, power balance,
// remembered angles; at random states with large rotations. An element left without one of its derivatives fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <set>

#include "tests/conformance/element_checks.h"

namespace trammel::conformance::elements_test {
namespace {

constexpr int situations = 25;

class Elements : public testing::TestWithParam<const ElementDescription*> {
 protected:
  std::mt19937 random{20240607};
  int acting = 0;  // forces that were checked while they touch, or always act

  // Runs `check(instance, situation)` at random instances and states.
  template <class OnConstraint, class OnForce>
  void everywhere(OnConstraint&& on_constraint, OnForce&& on_force) {
    for (int i = 0; i < situations; ++i) {
      Instance instance = make_random(*GetParam(), random);
      if (instance.constraint) {
        on_constraint(*instance.constraint, random_situation(*instance.constraint, random));
      } else {
        ASSERT_TRUE(instance.force);
        Situation s = random_situation(*instance.force, random);
        // A contact that is open has no derivatives to be wrong.
        for (int tries = 1; tries < 200 && !acts(*instance.force, s); ++tries) {
          instance = make_random(*GetParam(), random);
          s = random_situation(*instance.force, random);
        }
        acting += acts(*instance.force, s);
        on_force(*instance.force, s);
      }
      if (HasFailure()) return;  // one report is enough
    }
  }
  static void expect_none(const Complaints& complaints) { EXPECT_TRUE(complaints.empty()) << join(complaints); }
};

TEST_P(Elements, HasExactDerivatives) {
  int used = 0;
  everywhere(
      [&](const Constraint& c, const Situation& s) {
        bool usable = false;
        expect_none(check_derivatives(c, s, random, usable));
        used += usable;
      },
      [&](const Force& f, const Situation& s) {
        bool usable = false;
        expect_none(check_derivatives(f, s, usable));
        used += usable;
      });
  EXPECT_GE(used, situations * 8 / 10);
  if (GetParam()->category == Category::force) {
    EXPECT_GE(acting, situations * 8 / 10);
  }
}

TEST_P(Elements, DoesNotKnowWhereTheWorldIs) {
  everywhere([&](const Constraint& c, const Situation& s) { expect_none(check_objectivity(c, s, random)); },
             [&](const Force& f, const Situation& s) { expect_none(check_objectivity(f, s, random)); });
}

TEST_P(Elements, ReactsAsItActs) {
  int used = 0;
  everywhere(
      [&](const Constraint& c, const Situation& s) {
        bool usable = false;
        expect_none(check_reaction(c, s, random, usable));
        used += usable;
      },
      [&](const Force& f, const Situation& s) {
        expect_none(check_reaction(f, s));
        ++used;
      });
  EXPECT_GE(used, situations * 8 / 10);
}

TEST_P(Elements, BalancesPower) {
  everywhere([](const Constraint&, const Situation&) {},
             [](const Force& f, const Situation& s) { expect_none(check_power(f, s)); });
}

TEST_P(Elements, RemembersTurns) {
  everywhere([](const Constraint& c, const Situation& s) { expect_none(check_memory(c, s)); },
             [](const Force& f, const Situation& s) { expect_none(check_memory(f, s)); });
}

TEST_P(Elements, IsDescribed) {
  const ElementDescription& d = *GetParam();
  EXPECT_FALSE(d.summary.empty());
  EXPECT_EQ(d.category == Category::force, static_cast<bool>(d.make_force));
  EXPECT_EQ(d.category != Category::force, static_cast<bool>(d.make_constraint));
  bool must_be_given = false;
  for (const Field& field : d.fields) {
    EXPECT_FALSE(field.text.empty()) << field.name;
    must_be_given = must_be_given || !field.fallback;
  }
  EXPECT_TRUE(d.random_fields || !must_be_given);

  std::ifstream page(std::string(TRAMMEL_SOURCE_DIR) + "/docs/elements/" + d.key + ".md");
  ASSERT_TRUE(page) << "docs/elements/" << d.key << ".md is missing";
  const std::string text((std::istreambuf_iterator<char>(page)), {});
  for (const Field& field : d.fields) {
    EXPECT_NE(text.find("`" + field.name + "`"), std::string::npos)
        << "the page does not mention `" << field.name << "`";
  }
}

TEST_P(Elements, NamesItsRowsAndNumbers) {
  const Instance instance = make_random(*GetParam(), random);
  if (instance.constraint) {
    EXPECT_GE(instance.constraint->rows(), 1);
    EXPECT_LE(instance.constraint->rows(), max_rows);
    EXPECT_LE(instance.constraint->frames(), max_frames);
    for (int row = 0; row < instance.constraint->rows(); ++row)
      EXPECT_FALSE(instance.constraint->row_name(row).empty());
  } else {
    EXPECT_LE(instance.force->frames(), max_frames);
    EXPECT_FALSE(instance.force->observables().empty());
    for (const Observable& o : instance.force->observables()) {
      EXPECT_FALSE(o.name.empty());
      EXPECT_FALSE(o.unit.empty());
    }
  }
}

std::vector<const ElementDescription*> all_elements() {
  std::vector<const ElementDescription*> out;
  for (const ElementDescription& d : element_registry()) out.push_back(&d);
  return out;
}

INSTANTIATE_TEST_SUITE_P(All, Elements, testing::ValuesIn(all_elements()), [](const auto& element) {
  return std::string(to_text(element.param->category)) + "_" + element.param->key;
});

// ---- every pair of shapes, which random fields choose by chance
// -------------------------------------------------------

TEST(ContactShapes, AllPairsAreExactAndKeepEnergyWhileTheyTouch) {
  const ElementDescription& d = *find_element(Category::force, "contact");
  std::mt19937 random(11);
  std::map<std::set<std::string>, int> checked;
  constexpr int each = 3;
  for (int i = 0; i < 3000; ++i) {
    Item item;
    item.type = d.key;
    item.name = "pair";
    item.fields = d.random_fields(random);
    const std::string a = item.fields.get<std::string>("shape_a"), b = item.fields.get<std::string>("shape_b");
    int& count = checked[{a, b}];
    if (count >= each) continue;
    complete_fields(d, item);
    const Instance instance = make(d, item, Model());
    const Situation s = random_situation(*instance.force, random);
    if (!acts(*instance.force, s)) continue;
    ++count;
    SCOPED_TRACE(a + " against " + b);
    bool usable = false;
    const Complaints derivatives = check_derivatives(*instance.force, s, usable);
    EXPECT_TRUE(usable);
    EXPECT_TRUE(derivatives.empty()) << join(derivatives);
    const Complaints power = check_power(*instance.force, s);
    EXPECT_TRUE(power.empty()) << join(power);
    const Complaints reaction = check_reaction(*instance.force, s);
    EXPECT_TRUE(reaction.empty()) << join(reaction);
  }
  EXPECT_EQ(checked.size(), 11U);
  for (const auto& [pair, count] : checked) EXPECT_EQ(count, each) << *pair.begin();
}

// ---- the suite itself: an element that lacks a derivative is found out ----------------------------------------------

// A constraint as it is, but for one result.
class Spoilt final : public Constraint {
 public:
  using Spoil = std::function<void(ConstraintPartials&)>;
  Spoilt(const Constraint& honest, Spoil spoil) : honest_(honest), spoil_(std::move(spoil)) {}
  int rows() const override { return honest_.rows(); }
  int frames() const override { return honest_.frames(); }
  int memory() const override { return honest_.memory(); }
  RowUnit row_unit(int row) const override { return honest_.row_unit(row); }
  std::string row_name(int row) const override { return honest_.row_name(row); }
  bool evaluate(const ElementInput& in, const double* lambda, double* g, double* wrench) const override {
    return honest_.evaluate(in, lambda, g, wrench);
  }
  void rate(const ElementInput& in, double* g_dot) const override { honest_.rate(in, g_dot); }
  void curvature(const ElementInput& in, double* c) const override { honest_.curvature(in, c); }
  void jacobian(const ElementInput& in, RowMatrix& C) const override { honest_.jacobian(in, C); }
  void linearise(const ElementInput& in, const double* lambda, RowMatrix& C, FrameMatrix& wrench_pose) const override {
    honest_.linearise(in, lambda, C, wrench_pose);
  }
  void linearise_all(const ElementInput& in, const double* lambda, const double* rate, const double* bias,
                     ConstraintPartials& out) const override {
    honest_.linearise_all(in, lambda, rate, bias, out);
    spoil_(out);
  }
  void accept(const ElementInput& in, double* memory) const override { honest_.accept(in, memory); }
  double turned(const ElementInput& in) const override { return honest_.turned(in); }

 private:
  const Constraint& honest_;
  Spoil spoil_;
};

TEST(ConformanceSuite, FindsEveryMissingDerivativeOfAConstraint) {
  std::mt19937 random(3);
  const Instance instance = make_random(*find_element(Category::motion, "rotation"), random);
  const Situation s = random_situation(*instance.constraint, random);
  const std::vector<std::pair<std::string, Spoilt::Spoil>> missing = {
      {"C", [](ConstraintPartials& p) { p.C.setZero(); }},
      {"wrench_pose", [](ConstraintPartials& p) { p.wrench_pose.setZero(); }},
      {"Ctwist_pose", [](ConstraintPartials& p) { p.Ctwist_pose.setZero(); }},
      {"Crate_pose", [](ConstraintPartials& p) { p.Crate_pose.setZero(); }},
      {"Cbias_pose", [](ConstraintPartials& p) { p.Cbias_pose.setZero(); }},
      {"g_t", [](ConstraintPartials& p) { p.g_t.setZero(); }},
      {"curvature", [](ConstraintPartials& p) { p.curvature.setZero(); }},
      {"curvature_pose", [](ConstraintPartials& p) { p.curvature_pose.setZero(); }},
      {"curvature_twist", [](ConstraintPartials& p) { p.curvature_twist.setZero(); }},
      {"curvature_t", [](ConstraintPartials& p) { p.curvature_t.setZero(); }},
      {"wrench_t", [](ConstraintPartials& p) { p.wrench_t.setOnes(); }},
      {"Crate_t", [](ConstraintPartials& p) { p.Crate_t.setOnes(); }},
  };
  for (const auto& [name, spoil] : missing) {
    bool usable = false;
    const Complaints complaints = check_derivatives(Spoilt(*instance.constraint, spoil), s, random, usable);
    ASSERT_TRUE(usable);
    const bool found = std::any_of(complaints.begin(), complaints.end(), [&n = name](const std::string& complaint) {
      return complaint.rfind(n + ":", 0) == 0;
    });
    EXPECT_TRUE(found) << name << " was spoilt; complaints:\n" << join(complaints);
  }
}

// A force that acts on one frame only, without derivatives, and hides what it dissipates.
class Careless final : public Force {
 public:
  int frames() const override { return 2; }
  bool evaluate(const ElementInput& in, double* wrench) const override {
    Eigen::Map<Eigen::Matrix<double, 12, 1>> out(wrench);
    out.setZero();
    out.head<3>() = Vec3(0, 0, -1) - in.frames[0].v - in.t * in.frames[0].p;
    return true;
  }
  void linearise(const ElementInput&, ForcePartials& out) const override { out.set_zero(2); }
  bool energy_is_complete() const override { return true; }
};

TEST(ConformanceSuite, FindsEveryFaultOfAForce) {
  std::mt19937 random(4);
  const Careless force;
  const Situation s = random_situation(force, random);
  bool usable = false;
  EXPECT_EQ(check_derivatives(force, s, usable).size(), 3u);  // pose, twist, time
  EXPECT_TRUE(usable);
  EXPECT_FALSE(check_objectivity(force, s, random).empty());
  EXPECT_FALSE(check_reaction(force, s).empty());
  EXPECT_FALSE(check_power(force, s).empty());
}

}  // namespace
}  // namespace trammel::conformance::elements_test
