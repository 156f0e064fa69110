// Outlines in a plane, of arcs and lines that join without corners: the signed distance of a place from the surface.
// Its gradient is continuous as far inside as arcs of the outline have their centres; its second derivative jumps where
// two parts join.
//
//   bar        all places nearer than `radius` to the segment |x| <= half_length of the x axis
//   sprocket   `teeth` pockets of radius r_s about places at a distance R_p = pitch/(2 sin(pi/teeth)) from the origin,
//              the first on the x axis, and between them tips of radius r_t about places at
//                R_t = R_p cos(pi/teeth) - sqrt((r_s + r_t)^2 - (pitch/2)^2),
//              so that the arcs touch. With the other root teeth would overhang, and pins would jam.
#pragma once
#include <memory>

#include "trammel/base/types.h"

namespace trammel {

class Profile {
 public:
  virtual ~Profile() = default;
  // Negative inside. The Hessian is curvature t t^T with t across the gradient, which is a unit vector.
  virtual double distance(const Eigen::Vector2d& place, Eigen::Vector2d& gradient, double& curvature) const = 0;
};

std::unique_ptr<const Profile> bar_profile(double half_length, double radius);

struct Sprocket {
  int teeth = 0;
  double pitch = 0, pocket = 0, tip = 0;  // radii r_s and r_t

  double pitch_radius() const;  // R_p
  double tip_center() const;    // R_t; not above 0, or not a number: there is no such sprocket
};
std::unique_ptr<const Profile> sprocket_profile(const Sprocket& sprocket);

}  // namespace trammel
