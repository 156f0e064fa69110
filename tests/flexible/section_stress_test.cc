// Stress of frames of beams: closed forms of sections against points on their outline and tables, and a cantilever
// under tension, bending and torsion.
#include "trammel/flexible/section_stress.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace trammel::section_stress_test {
namespace {

constexpr double pi = std::numbers::pi;
const BeamMaterial steel{210e9, 210e9 / 2.6, 7850};

// Around a tube, point by point.
TEST(SectionStress, OfATubeIsTheGreatestOnItsOutline) {
  const BeamSection tube = tube_section(0.0254, 0.0032);
  Vec6 r;
  r << -800, 30, -70, 12, 25, -40;
  const double closed = von_mises(*stress_section(tube), r), radius = 0.0127, tau = r[3] * radius / tube.torsion;
  double greatest = 0;
  for (int i = 0; i < 3600; ++i) {
    const double angle = i * pi / 1800, y = radius * std::cos(angle), z = radius * std::sin(angle),
                 sigma = r[0] / tube.area + r[4] * z / tube.Iy - r[5] * y / tube.Iz;
    greatest = std::max(greatest, std::sqrt(sigma * sigma + 3 * tau * tau));
  }
  EXPECT_GE(closed, greatest * (1 - 1e-12));
  EXPECT_LT(closed, greatest * (1 + 1e-5));
}

TEST(SectionStress, OfARectangleIsThatOfItsCornersOrSides) {
  const BeamSection flat = rectangle_section(0.03, 0.01);
  const StressSection s = *stress_section(flat);
  Vec6 bent;
  bent << 500, 0, 0, 0, 4, -7;
  EXPECT_NEAR(von_mises(s, bent), 500 / 3e-4 + 4 * 0.005 / flat.Iy + 7 * 0.015 / flat.Iz, 1e-6);
  // S. P. Timoshenko, J. N. Goodier, Theory of Elasticity, table of torsion: tau = T/(k2 a b^2) in three digits.
  const double table[][2] = {{1, 0.208}, {1.5, 0.231}, {2, 0.246}, {3, 0.267}, {4, 0.282}, {10, 0.312}};
  for (const auto& [ratio, k2] : table) {
    for (const bool wide : {true, false}) {
      const double a = 0.01 * ratio, b = 0.01;
      const StressSection bar = *stress_section(wide ? rectangle_section(a, b) : rectangle_section(b, a));
      Vec6 twisted = Vec6::Zero();
      twisted[3] = -2;
      EXPECT_NEAR(von_mises(bar, twisted) / (std::sqrt(3.0) * 2 / (k2 * a * b * b)), 1, 3e-3) << ratio;
      EXPECT_LE(wide ? bar.torsion_z : bar.torsion_y, (wide ? bar.torsion_y : bar.torsion_z) * (1 + 1e-12)) << ratio;
    }
  }
  const StressSection square = *stress_section(rectangle_section(0.01, 0.01));
  EXPECT_NEAR(square.torsion_y / square.torsion_z, 1, 1e-12);
}

TEST(SectionStress, NeedsAnOutline) {
  BeamSection general;
  general.area = general.Iy = general.Iz = general.torsion = 1;
  EXPECT_FALSE(stress_section(general));
}

// N/A + M r/I and T r/J at every point of a cantilever, by modes that hold the statics of its ends.
TEST(SectionStress, OfACantilever) {
  BeamFrame f;
  f.nodes = {{"root", Vec3::Zero()}, {"tip", Vec3::UnitX()}};
  f.sections = {tube_section(0.02, 0.002)};
  f.materials = {steel};
  f.beams = {{0, 1, 0, 0, Vec3::Zero()}};
  f.element_length = 0.25;
  const FiniteElements e = mesh(f);
  Reduction r = reduce(f, e, {{0, 1}, 3, {}, {}});
  add_stress_points(f, e, r.shapes, r.data);
  ASSERT_EQ(r.data.stress_points.size(), 8u);
  const Vec3 force(500, 0, -20), moment(3, 0, 0), at_root = -(moment + Vec3::UnitX().cross(force));
  const ModalNode &root = r.data.nodes[0], &tip = r.data.nodes[1];
  const Vec load = tip.translation.transpose() * force + tip.rotation.transpose() * moment -
                   root.translation.transpose() * force + root.rotation.transpose() * at_root;
  const Vec resultants = r.data.stress_resultants * load.cwiseQuotient(r.data.stiffness.diagonal());
  const BeamSection& s = f.sections[0];
  for (std::size_t i = 0; i < 8; ++i) {
    const StressPoint& point = r.data.stress_points[i];
    const double x = point.position.x(), M = 20 * (1 - x);
    const Vec6 found = resultants.segment<6>(static_cast<Eigen::Index>(6 * i));
    Vec6 expected;
    expected << 500, 0, -20, 3, M, 0;
    EXPECT_LT((found - expected).norm(), 1e-7 * expected.norm()) << x << ": " << found.transpose();
    const double sigma = 500 / s.area + M * 0.01 / s.Iy, tau = 3 * 0.01 / s.torsion;
    EXPECT_NEAR(von_mises(point.section, found), std::sqrt(sigma * sigma + 3 * tau * tau), 1e-6 * sigma) << x;
    EXPECT_EQ(point.region, x > 0.5 ? 1 : 0);
  }
  EXPECT_EQ(r.data.stress_points[0].place, "beam 'root' - 'tip', at 'root'");
  EXPECT_EQ(r.data.stress_points[5].place, "beam 'root' - 'tip', 0.25 m from 'tip'");
}

}  // namespace
}  // namespace trammel::section_stress_test
