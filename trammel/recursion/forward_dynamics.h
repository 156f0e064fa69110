// Accelerations of a tree by articulated bodies, in time proportional to its size (Featherstone 1983, 2008). All
// vectors in world axes about the links' own points, so that nothing is turned from link to link, and no digits are
// lost on long trees, as they are about one common point.
//
//   outward   R, o, w, v, and the accelerations (aw, av) that the speeds alone make, u' = 0, av_0 = -gravity
//             p = inertia forces of these - applied wrench
//   inward    U = I S,  D = S^T U,  e = -D^-1 S^T p
//             I^a = I - U D^-1 U^T,  p^a = p + U e      added to the parent's, about its point
//   outward   x = the parent's acceleration beyond (aw, av), moved;  u' = e - D^-1 U^T x,  a = x + S u'
//
// Massless links are no problem as long as something beyond them has inertia.
#pragma once
#include <span>

#include "trammel/recursion/tree.h"

namespace trammel::recursion {

// What coordinates and speeds determine.
template <class T>
struct LinkMotion {
  Square<T> R;           // own axes to world
  Triple<T> o, d, w, v;  // own point, from the parent's; angular velocity, velocity of o
  Triple<T> aw, av;      // accelerations at u' = 0
};

// The articulated body, after its own pass.
template <class T>
struct Articulated {
  Inertia<T> I;                  // of a spherical joint A^-1 and A^-1 B, of a free one the inverse
  Spatial<T> p;                  // bias force
  std::array<Spatial<T>, 2> UD;  // U D^-1 of one or two freedoms
  Symmetric<T> D;                // inverse of S^T I S of these: xx, xy, yy
  std::array<T, 6> e;            // D^-1 (-S^T p)
  Spatial<T> x;                  // acceleration beyond (aw, av)
};

template <class T>
class ForwardDynamics {
 public:
  explicit ForwardDynamics(const Tree& tree);

  const Tree& tree() const { return tree_; }
  void outward(const T* q, const T* u);
  const LinkMotion<T>& motion(int link) const { return motion_[static_cast<std::size_t>(link)]; }
  // Wrenches about the links' own points (torque, force), read by `inward`.
  std::span<Spatial<T>> applied() { return applied_; }
  // `impulses`: without bias forces, e = 0; rows then set e, and `accelerate` gives what impulses do to the speeds.
  void inward(bool impulses = false);
  // The first link, from the ends on, that `inward` found without inertia where its joint lets it move, but for
  // round-off: what it computed is noise. 0: none.
  int stuck() const { return stuck_; }
  // In between, rows of constraints look at the articulated bodies and change e.
  Articulated<T>& articulated(int link) { return articulated_[static_cast<std::size_t>(link)]; }
  const Articulated<T>& articulated(int link) const { return articulated_[static_cast<std::size_t>(link)]; }
  void accelerate(T* u_dot);
  // After `accelerate`: the acceleration of a point p on a link, gravity not among it, and the angular one.
  Spatial<T> acceleration(int link, const Triple<T>& arm) const;
  // After that too: wrenches that the joints hand to the links, about their points, so that each moves as it does; `f`
  // holds on entry what acts on the links beside gravity and what is applied, reversed.
  void transmitted(std::span<Spatial<T>> f) const;
  // x of the first of the two freedoms of a universal joint.
  Triple<T> first_axis(int link) const;
  // S of one of the freedoms of a joint with at most two.
  Spatial<T> axis(int link, int freedom) const;

 private:
  void place_angles(const T* q);
  void turn(LinkMotion<T>& m, const Square<T>& P, std::size_t i) const;
  void take_over(const LinkMotion<T>& parent, LinkMotion<T>& m, const Triple<T>& turning,
                 const Triple<T>& moving) const;
  void universal(const LinkMotion<T>& parent, LinkMotion<T>& m, const Square<T>& P, const T* q, const T* u) const;
  void load(bool impulses);
  void check(std::size_t i, const T& D, const T& scale);
  void eliminate_one(std::size_t i, const Spatial<T>& S, const Spatial<T>& U);
  void eliminate_two(std::size_t i);
  void eliminate_three(std::size_t i);
  void pass_on(std::size_t i, const Inertia<T>& I, const Spatial<T>& p);

  const Tree& tree_;
  std::vector<LinkMotion<T>> motion_;
  std::vector<Articulated<T>> articulated_;
  std::vector<Spatial<T>> applied_;
  std::vector<T> angle_, sine_, cosine_;
  int stuck_ = 0;
};

extern template class ForwardDynamics<double>;
extern template class ForwardDynamics<long double>;

}  // namespace trammel::recursion
