// Where a contact force acts, as results record it.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/elements/run_text.h"

namespace trammel::contact_place_test {
namespace {

std::vector<Vec3> vectors(const TextRun& run, const std::string& name) {
  const std::vector<double> x = run.column(name + ".x"), y = run.column(name + ".y"), z = run.column(name + ".z");
  std::vector<Vec3> all;
  for (std::size_t i = 0; i < x.size(); ++i) all.emplace_back(x[i], y[i], z[i]);
  return all;
}

// A box comes down on a corner, then on an edge, then on a face. Without friction all its forces are along z, and the
// moment of their sum at the mean place is that of all of them. The origin of the box, at which arrows began, is wrong
// by half an edge.
TEST(ContactPlace, TheWholeForceThereHasTheMomentOfAll) {
  const TextRun run(R"(
gravity: [0, 0, -9.81]
bodies:
  box: {mass: 2, inertia: [0.02, 0.03, 0.04], position: [0.3, 0.2, 0.2], orientation: {axis: [1, 2, 0.5], angle: 25 deg}}
forces:
  floor: {type: contact, frames: [ground, box], shape_a: plane, shape_b: box, size_b: [0.4, 0.3, 0.2],
          rounding_b: 0.01, stiffness: 1e5, exponent: 1, damping: 1}
simulation: {end: 0.5, tolerance: 1e-6, output_step: 2e-3}
)");
  const std::vector<Vec3> place = vectors(run, "force.floor.place"),
                          force = vectors(run, "force.floor.on_second.force"),
                          torque = vectors(run, "force.floor.on_second.torque"),
                          origin = vectors(run, "body.box.position");
  int pressed = 0, far = 0;
  for (std::size_t i = 0; i < place.size(); ++i) {
    ASSERT_TRUE(place[i].allFinite()) << i;
    EXPECT_LT((place[i] - origin[i]).norm(), 0.4) << i;
    if (!(force[i].z() > 0)) continue;
    ++pressed;
    const Vec3 moment = (place[i] - origin[i]).cross(force[i]);
    EXPECT_LT((moment - torque[i]).norm(), 1e-9 * force[i].norm()) << i;
    if ((place[i] - origin[i]).head<2>().norm() > 0.1) ++far;
  }
  EXPECT_GT(pressed, 20);
  EXPECT_GT(far, 5);
}

// Nothing touches: the middle of the gap, and no not-a-number.
TEST(ContactPlace, WithoutAForceIsWhereTheSurfacesAreNearest) {
  const TextRun run(R"(
gravity: [0, 0, -9.81]
bodies: {ball: {kind: point, mass: 1, position: [3, 4, 1]}}
forces: {floor: {type: contact, frames: [ground, ball], shape_a: plane, shape_b: sphere, radius_b: 0.05, stiffness: 1e7}}
simulation: {end: 0.2, tolerance: 1e-8, output_step: 0.01}
)");
  const std::vector<Vec3> place = vectors(run, "force.floor.place"), ball = vectors(run, "body.ball.position");
  for (std::size_t i = 0; i < place.size(); ++i)
    EXPECT_LT((place[i] - Vec3(3, 4, 0.5 * (ball[i].z() - 0.05))).norm(), 1e-12) << i;
  ASSERT_GT(place.size(), 10U);
}

}  // namespace
}  // namespace trammel::contact_place_test
