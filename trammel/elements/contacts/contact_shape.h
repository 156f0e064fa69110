// The shapes that a contact can have on each side, as users name them, and the pairs that exist.
//
//   plane             the half space below the xy plane of its frame
//   sphere            about the origin                              hollow_sphere: the body around it
//   cylinder          about the z axis                              hollow_cylinder: likewise
//   disc              about the z axis: rim with rounding, faces domed by `crown`
//   capsule           about the z axis, half balls at its ends      a rounded bar
//   box               with rounded corners, its middle at the origin
//   rail              a rounded bar along the x axis, drawn along z
//   sprocket          about the z axis, drawn along it (profile.h)
//   roller            about the z axis, for outlines: it bears at its ends, or at its middle if it has no length
#pragma once
#include <string>

#include "trammel/elements/contacts/shape_pair.h"
#include "trammel/elements/registry.h"

namespace trammel {

// Two shapes, with what the rest of a contact asks of them.
struct MatchedShapes {
  std::unique_ptr<const ShapePair> pair;
  double curvature_sum = 0, curvature_difference = 0;                     // where they touch, for Hertz's stiffness
  FrameNeed needs[2] = {FrameNeed::orientation, FrameNeed::orientation};  // of a contact without friction
  int points = 1;
  bool line = false;  // they bear along a line: the places share the stiffness, and Hertz's of a point is not theirs
  double size = 0;    // half the width of the smaller
  ShapeExtent extents[2];
};

// Fields `shape_a`, `radius_a` and so on.
std::vector<Field> contact_shape_fields();
// Throws Failure where the shapes have no contact with each other, or lack a dimension.
MatchedShapes match_shapes(const Item& item);
Fields random_contact_shapes(std::mt19937& random);

}  // namespace trammel
