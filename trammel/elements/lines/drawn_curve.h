// A curve through points, and frames at even distances along it: x along the tangent, carried from one to the next by
// the smallest turn, so that the section does not spin about the curve.
//
//   two points     a straight line
//   three points   an arc of the circle through them
//   four or more   a cubic spline over the chord lengths, its third derivative continuous next to the ends
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "trammel/model/model.h"

namespace trammel {

struct DrawnCurve {
  std::vector<Pose> nodes;  // one more than elements
  double length = 0;
  std::string fault, hint;  // why there is none
};

// `z`: the direction that z of the first frame is near; left out, the z axis, or the x axis where the curve runs along
// z.
DrawnCurve draw_curve(const std::vector<Vec3>& points, int elements, const std::optional<Vec3>& z);

}  // namespace trammel
