// General stiffness matrices against bushings and beams, and the ones that are refused.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "trammel/elements/build.h"
#include "trammel/elements/registry.h"
#include "trammel/math/rotation.h"
#include "trammel/read/read_model.h"

namespace trammel::stiffness_matrix_test {
namespace {

struct Pair {
  Model model;
  int a = 0, b = 0;
  explicit Pair(const Vec3& at = Vec3::Zero(), const Mat3& R = Mat3::Identity()) {
    Body body;
    body.name = "part";
    body.pose = {at, Quat(R)};
    model.add_body(body);
    a = model.add_frame(ground, {});
    b = model.add_frame(0, {});
  }
  std::unique_ptr<Force> make(const std::string& type, Fields fields) {
    add_force(model, type, "sample", {a, b}, std::move(fields));
    return find_element(Category::force, type)->make_force(model.forces.back(), {model});
  }
};

std::vector<double> by_rows(const Mat& m) {
  const Mat t = m.transpose();
  return {t.data(), t.data() + t.size()};
}

Mat random_positive(int size, std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  const Mat a = Mat::NullaryExpr(size, size, [&] { return uniform(random); });
  return a * a.transpose();
}

Vec wrench_of(const Force& force, const std::vector<FrameState>& frames) {
  Vec wrench(6 * force.frames());
  EXPECT_TRUE(force.evaluate({0, frames.data(), nullptr}, wrench.data()));
  return wrench;
}

TEST(StiffnessMatrix, IsTheBushingBetweenTwoFrames) {
  std::mt19937 random(5);
  const Mat6 K = random_positive(6, random), D = random_positive(6, random);
  Fields as_bushing, as_matrix;
  as_bushing.set("stiffness_matrix", K);
  as_bushing.set("damping_matrix", D);
  as_bushing.set("preload_force", Vec3(1, 2, 3));
  as_matrix.set("stiffness", by_rows(K));
  as_matrix.set("damping", by_rows(D));
  as_matrix.set("preload_force", std::vector<double>{1, 2, 3});
  Pair pair;
  const auto bushing = pair.make("bushing", as_bushing), matrix = pair.make("stiffness_matrix", as_matrix);
  const std::vector<FrameState> frames{
      {Vec3(1, 0, 2), rotation_exp(Vec3(1, 0.5, -1)).toRotationMatrix(), Vec3(1, 2, 0), Vec3(0.3, 0, 1)},
      {Vec3(0, 1, 1), rotation_exp(Vec3(0, 0.5, -2)).toRotationMatrix(), Vec3(0, -1, 1), Vec3(1, 1, 0)}};
  EXPECT_LT((wrench_of(*bushing, frames) - wrench_of(*matrix, frames)).cwiseAbs().maxCoeff(), 1e-13);
}

// The complete matrix of a beam, read off it by linearising: the same forces to second order.
TEST(StiffnessMatrix, TakesTheMatrixOfABeam) {
  Fields beam_fields;
  for (const char* name :
       {"youngs_modulus", "shear_modulus", "area", "second_moment_y", "second_moment_z", "torsion_constant"}) {
    beam_fields.set(name, 1.0 + 0.1 * static_cast<double>(std::string(name).size()));
  }
  Pair pair(Vec3(0.8, 0.3, -0.2), rotation_exp(Vec3(0.4, -1, 0.3)).toRotationMatrix());
  const auto beam = pair.make("beam", beam_fields);
  const Pose drawn = pair.model.frame_pose(pair.b);
  const FrameState a{Vec3::Zero(), Mat3::Identity(), Vec3::Zero(), Vec3::Zero()},
      b{drawn.position, drawn.rotation.toRotationMatrix(), Vec3::Zero(), Vec3::Zero()};
  const std::vector<FrameState> rest{a, b};
  ForcePartials partials;
  beam->linearise({0, rest.data(), nullptr}, partials);
  Fields fields;
  fields.set("stiffness", by_rows(-Mat(partials.pose)));
  const auto matrix = pair.make("stiffness_matrix", fields);
  double before = 0;
  for (const double size : {1e-2, 5e-3}) {
    std::vector<FrameState> moved = rest;
    moved[1].p += size * Vec3(1, -0.5, 0.7);
    moved[1].R = rotation_exp(size * Vec3(0.5, 1, -0.4)).toRotationMatrix() * moved[1].R;
    const double error = (wrench_of(*beam, moved) - wrench_of(*matrix, moved)).cwiseAbs().maxCoeff();
    if (before > 0) {
      EXPECT_NEAR(std::log2(before / error), 2, 0.2);
    }
    before = error;
  }
}

TEST(StiffnessMatrix, RefusesMatricesThatMakeNoSense) {
  std::mt19937 random(6);
  const auto id_of = [](Fields fields) -> std::string {
    Pair pair(Vec3(1, 0, 0));
    try {
      pair.make("stiffness_matrix", std::move(fields));
    } catch (const Failure& failure) {
      return failure.problems()[0].id;
    }
    return "";
  };
  Fields fields;
  fields.set("stiffness", by_rows(random_positive(6, random)));
  EXPECT_EQ(id_of(fields), "");
  fields.set("stiffness", by_rows(random_positive(12, random)));
  EXPECT_EQ(id_of(fields), "not-free");
  fields.set("stiffness", by_rows(random_positive(9, random)));
  EXPECT_EQ(id_of(fields), "wrong-length");
  Mat lopsided = random_positive(6, random);
  lopsided(0, 3) += 0.1;
  fields.set("stiffness", by_rows(lopsided));
  EXPECT_EQ(id_of(fields), "not-symmetric");
  fields.set("stiffness", by_rows(-random_positive(6, random)));  // a preloaded part may be so
  EXPECT_EQ(id_of(fields), "");
  fields.set("damping", by_rows(-random_positive(6, random)));
  EXPECT_EQ(id_of(fields), "not-positive");
  fields.set("damping", by_rows(random_positive(6, random)));
  fields.set("preload_torque", std::vector<double>{1, 2});
  EXPECT_EQ(id_of(fields), "wrong-length");
}

TEST(StiffnessMatrix, IsReadWithItsFramesAndUnits) {
  const Model model = read_model_text(R"(trammel: 1
units: {length: mm}
bodies:
  p: {mass: 1, inertia: [1, 1, 1]}
  q: {mass: 1, inertia: [1, 1, 1]}
forces:
  mount:
    type: stiffness_matrix
    frames: [ground, p, q]
    stiffness: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
)",
                                      "test.yaml");
  ASSERT_EQ(model.forces[0].frames.size(), 3u);
  const auto& K = model.forces[0].fields.get<std::vector<double>>("stiffness");
  ASSERT_EQ(K.size(), 144u);
  EXPECT_DOUBLE_EQ(K[0], 1000);           // N/mm
  EXPECT_DOUBLE_EQ(K[3 * 12 + 3], 4e-3);  // N mm/rad
  EXPECT_DOUBLE_EQ(K[8 * 12 + 8], 9000);
  EXPECT_EQ(K[1], 0);
  for (const char* frames : {"[ground]", "[p, q, p, q, p, q, p, q, p]", "p"}) {
    EXPECT_THROW(read_model_text(std::string("trammel: 1\nbodies:\n  p: {mass: 1, inertia: [1, 1, 1]}\n  q: {mass: 1, "
                                             "inertia: [1, 1, 1]}\nforces:\n  m: {type: stiffness_matrix, frames: ") +
                                     frames + ", stiffness: [1, 1, 1, 1, 1, 1]}\n",
                                 "test.yaml"),
                 Failure)
        << frames;
  }
}

}  // namespace
}  // namespace trammel::stiffness_matrix_test
