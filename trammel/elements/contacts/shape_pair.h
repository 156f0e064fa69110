// Where a shape on frame A and a shape on frame B face each other: depth, normal and place of each contact point, with
// exact derivatives. What happens there is the business of the laws (contact.h).
//
// Every pair is a smooth function of the two poses, continuously differentiable where touching begins, and keeps
//
//   depth' = n . v          v: velocity of B's material at the place against A's
//
// so that the normal force has a potential.
#pragma once
#include <memory>
#include <vector>

#include "trammel/elements/frame.h"

namespace trammel {

// Where the shape on a frame is, for lists of what is near. In a ball about the frame's origin, or so near to its
// surface is all that bounds a tube about its z axis, or it has no end.
struct ShapeExtent {
  enum Bound { ball, tube, none };
  Bound bound = none;
  double radius = 0;
};

struct ContactPoint {
  double depth = 0;  // of penetration; negative: the gap
  Vec3 normal;       // unit, from B's surface into A's
  Vec3 place;        // world; the middle of the overlap
};

// Of a ContactPoint against small motions of A and B, (p, phi) each.
struct ContactPointPartials {
  Eigen::Matrix<double, 1, 12> depth;
  Eigen::Matrix<double, 3, 12> normal, place;
};

class ShapePair {
 public:
  static constexpr int most_points = 8;

  virtual ~ShapePair() = default;
  // At most `most_points` places; returns how many. `partials` may be null, and is written where the depth is positive.
  virtual int locate(const FrameState& a, const FrameState& b, ContactPoint* points,
                     ContactPointPartials* partials) const = 0;
};

// ---- round surfaces: a ball about the origin of B against the points at a distance `radius` from a core on A
// With w from the nearest point of the core to the ball's centre, side = 1 for a hollow (A is around the ball), -1 for
// a solid:
//   n = side w/|w|,   depth = side (|w| - radius) + ball
enum class Core {
  point,    // the origin of A: a sphere
  axis,     // the z axis: a cylinder without ends
  segment,  // of the z axis, from -size to size: a capsule
  circle,   // about the z axis, of radius `size`: a torus
};
struct RoundSurface {
  Core core = Core::point;
  double size = 0, radius = 0;
  bool hollow = false;
};
std::unique_ptr<const ShapePair> ball_against(const RoundSurface& surface, double ball);

// ---- the half space below the xy plane of A, against the convex hull on B of several equal parts
// Each part is a spheroid about the z axis of B with half axes `rim` across and `crown` along it, thickened by
// `radius`: a sphere (0, 0), or a disc with rounded rim and domed faces. Each bears by its lowest point.
struct SupportingParts {
  std::vector<Vec3> centers;  // in the axes of B
  double radius = 0, rim = 0, crown = 0;
};
std::unique_ptr<const ShapePair> plane_against(const SupportingParts& parts);

// ---- two rounded bars along the z axes: spheres about the points s of a segment, -half_length <= s <= half_length, of
// the radius r(s) = radius - crown (s/half_length)^2. With a crown their nearest points are unique, parallel or not.
struct Bar {
  double half_length = 0, radius = 0, crown = 0;
};
std::unique_ptr<const ShapePair> bar_against(const Bar& a, const Bar& b);

// ---- an outline in the xy plane of A, drawn along z (profile.h), against a roller: discs about the two ends of a part
// of the z axis of B, or about its origin if the length is 0
class Profile;
std::unique_ptr<const ShapePair> profile_against(std::unique_ptr<const Profile> profile, double roller, double length);

// A pair with its sides exchanged: its A is our B.
std::unique_ptr<const ShapePair> exchanged(std::unique_ptr<const ShapePair> pair);

}  // namespace trammel
