// A mechanism as a tree of joints and the constraints that are left: what joint coordinates are made of. Prim's
// algorithm from the ground takes the joints with most rows first, so that cut joints have few, then those nearest to
// the ground, so that paths are short, then those first in the file. Where nothing binds a part, its heaviest body
// moves freely.
#pragma once
#include <string>
#include <vector>

#include "trammel/equations/equations.h"
#include "trammel/recursion/tree.h"

namespace trammel {

class SpanningTree {
 public:
  // Bodies deeper than `most_depth` move freely, and the joints that held them are rows; 0: no limit. The joints of
  // bodies in `inside` are taken first, so that a body without inertia carries others that have it. Throws a Failure
  // where there is a reason why not.
  SpanningTree(const Equations& equations, int most_depth, const std::vector<int>& inside = {});

  // Why the mechanism cannot be written in joint coordinates; empty: it can.
  static std::string why_not(const Equations& equations);

  const recursion::Tree& tree() const { return tree_; }
  struct Branch {
    int constraint, link;  // link: of the body that it carries
    int frame;             // of the constraint, 0 or 1, on that body
  };
  const std::vector<Branch>& branches() const { return branches_; }
  const std::vector<int>& cut() const { return cut_; }        // constraints that are rows, ascending
  int link_of(int body) const { return link_of_[body]; }      // ground: 0
  int body_of(int link) const { return places_[link].body; }  // massless: none
  static constexpr int massless = -2;
  // The body that a link, if massless, helps to move.
  int body_moved_by(int link) const;

  // The link's own axes in the body's, and its point from the centre of mass, body axes.
  const Mat3& axes(int link) const { return places_[link].axes; }
  const Vec3& arm(int link) const { return places_[link].arm; }
  // Sets the constants: a joint whose frames fit together in several ways is taken as it stands in these motions.
  void place(const BodyMotions& motions);
  // Joint coordinates and speeds of these motions, of links one after the other.
  void coordinates(const BodyMotions& motions, Vec& q, Vec& u) const;

  void visit(Archive& archive);

 private:
  struct Place {
    int body = ground;
    Mat3 axes = Mat3::Identity();
    Vec3 arm = Vec3::Zero();
    Mat3 from_axes = Mat3::Identity();  // the joint's frame on the parent: its axes ...
    Vec3 from_arm = Vec3::Zero();       // ... and its point, as above
    Mat3 frame = Mat3::Identity();      // the joint's frame on the body, axes as the kind of joint wants them
  };
  struct Edge;
  struct Grown;
  std::vector<std::vector<Edge>> edges(const std::vector<bool>& inside) const;  // of each body + 1
  void grow(int most_depth, const std::vector<bool>& inside, Grown& grown) const;
  void number(const Grown& grown, int body, int link);
  int add_branch(int constraint, int parent_link, int body);
  int add_free(int body);
  int add_slider(int parent, int body, const Mat3& axes, double height);
  void set_constants();
  void motions_of_links(const BodyMotions& motions, std::vector<BodyState>& out) const;

  const Equations& equations_;
  recursion::Tree tree_;
  std::vector<Place> places_{Place{}};
  std::vector<int> link_of_, cut_;
  std::vector<Branch> branches_;
};

// Conversions between the numbers of the recursion and those of everything else.
inline recursion::Triple<double> to_triple(const Vec3& a) { return {a.x(), a.y(), a.z()}; }
inline Vec3 to_vec3(const recursion::Triple<double>& a) { return {a.x, a.y, a.z}; }
inline Mat3 to_mat3(const recursion::Square<double>& m) {
  return Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(m.a.data());
}

}  // namespace trammel
