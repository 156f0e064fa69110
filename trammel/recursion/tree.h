// A tree of bodies in joint coordinates: its constants, and where its numbers stand.
//
// Link 0 is the ground; a link's parent comes before it. A link's own axes are those of its joint frame, its own point
// o is the joint point on it. With E the joint frame in the parent's axes:
//
//   kind          coordinates           speeds u          free motion about o, (angular; linear)
//   fixed         -                     -                 -
//   revolute      angle                 its rate          (z; 0)
//   prismatic     distance              its rate          (0; z)
//   cylindrical   angle, distance       their rates       both
//   universal     two angles            their rates       (x of E; 0), (own y; 0)
//   spherical     quaternion            w in own axes     the axes of the world; u = R^T of that
//   free          place, quaternion     v of the world, w in own axes      likewise; its parent is the ground, E = 1
#pragma once
#include <cstdint>
#include <vector>

#include "trammel/recursion/small.h"

namespace trammel::recursion {

enum class Kind : std::uint8_t { fixed, revolute, prismatic, cylindrical, universal, spherical, free };
inline int freedoms(Kind kind) {
  constexpr std::array<int, 7> count{0, 1, 1, 2, 2, 3, 6};
  return count[static_cast<std::size_t>(kind)];
}
inline int coordinates(Kind kind) {
  constexpr std::array<int, 7> count{0, 1, 1, 2, 2, 4, 7};
  return count[static_cast<std::size_t>(kind)];
}
inline bool turns_by_angle(Kind kind) { return kind == Kind::revolute || kind == Kind::cylindrical; }
// Where the quaternion begins among the coordinates; -1: there is none.
inline int quaternion_at(Kind kind) { return kind == Kind::spherical ? 0 : kind == Kind::free ? 3 : -1; }

struct Link {
  int parent = 0;
  Kind kind = Kind::fixed;
  int q = 0, u = 0;                               // its first coordinate and speed
  Square<double> E{{1, 0, 0, 0, 1, 0, 0, 0, 1}};  // joint frame in the parent's axes
  Triple<double> r{0, 0, 0};                      // from the parent's point to it, parent's axes
  double mass = 0;
  Triple<double> moment{0, 0, 0};         // mass times the centre of mass from o, own axes
  Symmetric<double> J{0, 0, 0, 0, 0, 0};  // about o, own axes
};

struct Tree {
  std::vector<Link> links{Link{}};  // [0] the ground
  int nq = 0, nu = 0;
  Triple<double> gravity{0, 0, 0};

  int size() const { return static_cast<int>(links.size()); }  // with the ground
  // Numbers its coordinates; returns its place.
  int add(Link link);
  // `c`: the centre of mass from o; `inertia`: about it; own axes.
  static void set_inertia(Link& link, double mass, const Triple<double>& c, const Symmetric<double>& inertia);
  int depth() const;
};

}  // namespace trammel::recursion
