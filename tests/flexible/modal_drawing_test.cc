// What a reduction tells viewers: the nodes of its finite elements, how the modes move them, and the pieces between.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "trammel/flexible/reduction.h"

namespace trammel::modal_drawing_test {

// Two arms at a right angle, of different sections, in three and two elements.
TEST(ModalDrawing, HoldsEveryElementWithItsShapes) {
  BeamFrame frame;
  frame.nodes = {{"root", Vec3(0, 0, 0)}, {"corner", Vec3(0.3, 0, 0)}, {"tip", Vec3(0.3, 0.2, 0)}};
  frame.sections = {rectangle_section(0.02, 0.01), rectangle_section(0.01, 0.01)};
  frame.materials.resize(1);
  frame.materials[0].youngs_modulus = 70e9;
  frame.materials[0].shear_modulus = 26e9;
  frame.materials[0].density = 2700;
  frame.beams = {{0, 1, 0, 0, Vec3::UnitZ()}, {1, 2, 1, 0, Vec3::UnitZ()}};
  frame.element_length = 0.1;
  ReductionOptions options;
  options.interfaces = {0, 2};
  options.normal_modes = 3;
  const Reduction made = reduce(frame, mesh(frame), options);
  const ModalDrawing& drawing = made.data.drawing;
  ASSERT_EQ(drawing.points.size(), 3u + 2 + 1);
  ASSERT_EQ(drawing.segments.size(), 5u);
  ASSERT_EQ(drawing.shapes.rows(), 18);
  ASSERT_EQ(drawing.shapes.cols(), made.data.modes());
  double length = 0;
  for (std::size_t i = 0; i < 5; ++i) {
    const ModalDrawing::Segment& piece = drawing.segments[i];
    length +=
        (drawing.points[static_cast<std::size_t>(piece.second)] - drawing.points[static_cast<std::size_t>(piece.first)])
            .norm();
    EXPECT_NEAR(piece.radius, std::sqrt((i < 3 ? 2e-4 : 1e-4) / std::numbers::pi), 1e-15);
  }
  EXPECT_NEAR(length, 0.5, 1e-14);
  for (std::size_t i = 0; i < 2; ++i) {
    const ModalNode& node = made.data.nodes[i];
    const int at = options.interfaces[i];
    EXPECT_EQ(drawing.points[static_cast<std::size_t>(at)], node.position);
    EXPECT_EQ((drawing.shapes.middleRows<3>(3 * at) - node.translation).norm(), 0);
  }
  // Nothing in it moves further than the body says.
  for (Eigen::Index j = 0; j < drawing.shapes.cols(); ++j)
    for (Eigen::Index i = 0; i < 18; i += 3)
      EXPECT_LE(drawing.shapes.col(j).segment<3>(i).norm(), made.data.displacement[j] * (1 + 1e-12));
}

}  // namespace trammel::modal_drawing_test
