// The recursion against itself in long double, its kinematics against differences, and its accelerations against the
// balance of all bodies: no joint transmits anything along what it leaves free.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <random>

#include "trammel/math/rotation.h"
#include "trammel/recursion/rows.h"
#include "trammel/recursion/sine_cosine.h"

namespace trammel::forward_dynamics_test {
namespace {

using recursion::ForwardDynamics;
using recursion::Kind;
using recursion::Link;
using recursion::Spatial;
using recursion::Tree;
using recursion::Triple;

constexpr Kind kinds[] = {Kind::fixed,     Kind::revolute,  Kind::prismatic, Kind::cylindrical,
                          Kind::universal, Kind::spherical, Kind::free};

recursion::Square<double> square(const Mat3& m) {
  return {{m(0, 0), m(0, 1), m(0, 2), m(1, 0), m(1, 1), m(1, 2), m(2, 0), m(2, 1), m(2, 2)}};
}
Vec3 vector(const Triple<double>& a) { return {a.x, a.y, a.z}; }

class Numbers {
 public:
  explicit Numbers(unsigned seed) : random_(seed) {}
  double operator()() { return uniform_(random_); }
  Triple<double> triple() { return {(*this)(), (*this)(), (*this)()}; }

 private:
  std::mt19937 random_;
  std::uniform_real_distribution<double> uniform_{-1, 1};
};

// Every kind of joint in random places; all links have mass.
Tree random_tree(int links, unsigned seed, const std::vector<Kind>& of = {std::begin(kinds), std::end(kinds)}) {
  Numbers random(seed);
  Tree tree;
  tree.gravity = {0.3, -9.81, 1.2};
  for (int i = 1; i <= links; ++i) {
    Link link;
    link.kind = of[static_cast<std::size_t>(i) % of.size()];
    link.parent = i < 3 ? i - 1 : i - 1 - static_cast<int>(1.49 * (1 + random()));
    if (link.kind == Kind::free) link.parent = 0;
    if (link.kind != Kind::free) {
      link.E = square(rotation_exp(2 * Vec3(random(), random(), random())).toRotationMatrix());
      link.r = random.triple();
    }
    Tree::set_inertia(
        link, 1 + 0.5 * random(), random.triple(),
        {0.5 + 0.1 * random(), 0.1 * random(), 0.1 * random(), 0.6 + 0.1 * random(), 0.1 * random(), 0.7});
    tree.add(link);
  }
  return tree;
}

Tree chain(int links) {
  Tree tree;
  tree.gravity = {0, -9.81, 0};
  for (int i = 1; i <= links; ++i) {
    Link link;
    link.parent = i - 1;
    link.kind = Kind::revolute;
    if (i > 1) {
      link.E = square(rotation_exp(Vec3(-0.5, 0, 0)).toRotationMatrix());
      link.r = {1, 0, 0};
    }
    Tree::set_inertia(link, 1, {0.5, 0, 0}, {0.02 / 12, 0, 0, 1.01 / 12, 0, 1.01 / 12});
    tree.add(link);
  }
  return tree;
}

struct Point {
  Vec q, u;
};
Point random_point(const Tree& tree, unsigned seed) {
  Numbers random(seed);
  Point p{Vec::Zero(tree.nq), Vec::Zero(tree.nu)};
  for (double& x : p.q) x = 2 * random();
  for (double& x : p.u) x = 2 * random();
  return p;
}

// The point after a short time of constant u'.
Point moved(const Tree& tree, const Point& from, const Vec& u_dot, double s) {
  Point p = from;
  for (const Link& link : tree.links) {
    const int at = recursion::quaternion_at(link.kind), n = recursion::freedoms(link.kind);
    for (int k = 0; k < (at < 0 ? n : at); ++k)
      p.q[link.q + k] += s * from.u[link.u + k] + 0.5 * s * s * u_dot[link.u + k];
    if (at < 0) continue;
    const Eigen::Vector4d e = from.q.segment<4>(link.q + at);
    const Vec3 theta = s * from.u.segment<3>(link.u + at) + 0.5 * s * s * u_dot.segment<3>(link.u + at);
    const Quat turned = Quat(e[0], e[1], e[2], e[3]) * rotation_exp(theta);
    p.q.segment<4>(link.q + at) << turned.w(), turned.x(), turned.y(), turned.z();
  }
  p.u += s * u_dot;
  return p;
}

Vec derivative(const std::function<Vec(double)>& f) {
  const double h = 1e-3;
  const auto d = [&](double step) -> Vec { return (f(step) - f(-step)) / (2 * step); };
  const Vec a = (4 * d(h / 2) - d(h)) / 3, b = (4 * d(h / 4) - d(h / 2)) / 3;
  return (16 * b - a) / 15;
}

TEST(SineCosine, IsThatOfTheLibraryToOneUnit) {
  Numbers random(1);
  for (int i = 0; i < 100000; ++i) {
    const double x = std::pow(10.0, 5 * random()) * random();
    double s = 0, c = 0;
    recursion::sine_cosine(x, s, c);
    EXPECT_NEAR(s, std::sin(x), 2.3e-16) << x;
    EXPECT_NEAR(c, std::cos(x), 2.3e-16) << x;
  }
}

// Beside their zeros as well: at the double next to pi the sine is 1.2e-16, of which a reduction by a second part with
// the wrong last bits left eight digits.
TEST(SineCosine, KeepsItsDigitsBesideItsZeros) {
  for (const int k : {1, 2, 3, 4, 5, 6, 11, 22, 100, 355, 6001, 63000, 63661}) {
    for (const double x : {k * (0.5 * std::numbers::pi), -k * (0.5 * std::numbers::pi)}) {
      double s = 0, c = 0;
      recursion::sine_cosine(x, s, c);
      const double ours = k % 2 == 0 ? s : c, truth = k % 2 == 0 ? std::sin(x) : std::cos(x);
      EXPECT_NEAR(ours, truth, 4e-16 * std::abs(truth)) << k;
    }
  }
}

TEST(ForwardDynamics, VelocitiesAndAccelerationsAreDerivatives) {
  const Tree tree = random_tree(21, 3);
  const Point at = random_point(tree, 4);
  Numbers random(5);
  Vec u_dot(tree.nu);
  for (double& x : u_dot) x = random();
  ForwardDynamics<double> dynamics(tree);
  for (int i = 1; i < tree.size(); ++i) {
    const auto part = [&](double s, bool rates) {
      const Point p = moved(tree, at, u_dot, s);
      dynamics.outward(p.q.data(), p.u.data());
      const recursion::LinkMotion<double>& m = dynamics.motion(i);
      Vec out(rates ? 6 : 12);
      if (rates) {
        out << vector(m.v), vector(m.w);
      } else {
        out.head<3>() = vector(m.o);
        for (std::size_t k = 0; k < 9; ++k) out[static_cast<Eigen::Index>(3 + k)] = m.R.a[k];
      }
      return out;
    };
    const Vec moving = derivative([&](double s) { return part(s, false); }),
              rates = derivative([&](double s) { return part(s, true); });
    dynamics.outward(at.q.data(), at.u.data());
    const recursion::LinkMotion<double> m = dynamics.motion(i);
    EXPECT_LT((moving.head<3>() - vector(m.v)).norm(), 1e-9) << i;
    const Vec3 w = vector(m.w);
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_LT((Vec3(moving[static_cast<Eigen::Index>(3 + k)], moving[static_cast<Eigen::Index>(6 + k)],
                      moving[static_cast<Eigen::Index>(9 + k)]) -
                 w.cross(vector(recursion::column(m.R, k))))
                    .norm(),
                1e-9);
    // with these u', not those of the dynamics: x = S u' along the path
    Spatial<double> x{};
    std::vector<int> path;
    for (int l = i; l > 0; l = tree.links[static_cast<std::size_t>(l)].parent) path.insert(path.begin(), l);
    for (const int l : path) {
      const Link& link = tree.links[static_cast<std::size_t>(l)];
      const recursion::LinkMotion<double>& own = dynamics.motion(l);
      x = recursion::motion_moved(x, own.d);
      const double* a = u_dot.data() + link.u;
      if (link.kind == Kind::spherical) x.w += recursion::times(own.R, Triple<double>{a[0], a[1], a[2]});
      if (link.kind == Kind::free) {
        x.w += recursion::times(own.R, Triple<double>{a[3], a[4], a[5]});
        x.v += Triple<double>{a[0], a[1], a[2]};
      }
      if (link.kind == Kind::spherical || link.kind == Kind::free) continue;
      for (int k = 0; k < recursion::freedoms(link.kind); ++k) x += dynamics.axis(l, k) * a[k];
    }
    EXPECT_LT((rates.head<3>() - vector(m.av + tree.gravity + x.v)).norm(), 1e-8) << i;
    EXPECT_LT((rates.tail<3>() - vector(m.aw + x.w)).norm(), 1e-8) << i;
  }
}

// What a joint hands on has no part along its freedoms: the accelerations are those of all bodies in balance.
TEST(ForwardDynamics, LeavesNothingAlongTheFreedoms) {
  for (unsigned seed = 1; seed < 20; ++seed) {
    const Tree tree = random_tree(30, seed);
    const Point at = random_point(tree, seed + 100);
    Numbers random(seed + 200);
    ForwardDynamics<double> dynamics(tree);
    dynamics.outward(at.q.data(), at.u.data());
    for (Spatial<double>& f : dynamics.applied()) f = {random.triple() * 5.0, random.triple() * 5.0};
    dynamics.inward();
    Vec u_dot(tree.nu);
    dynamics.accelerate(u_dot.data());
    std::vector<Spatial<double>> handed(tree.links.size(), Spatial<double>{});
    dynamics.transmitted(handed);
    double most = 0;
    for (const Spatial<double>& f : handed) most = std::max(most, std::sqrt(recursion::dot(f, f)));
    for (int i = 1; i < tree.size(); ++i) {
      const Kind kind = tree.links[static_cast<std::size_t>(i)].kind;
      const Spatial<double>& f = handed[static_cast<std::size_t>(i)];
      double along = 0;
      if (kind == Kind::spherical || kind == Kind::free) along = vector(f.w).norm();
      if (kind == Kind::free) along += vector(f.v).norm();
      if (kind != Kind::spherical && kind != Kind::free)
        for (int k = 0; k < recursion::freedoms(kind); ++k)
          along = std::max(along, std::abs(recursion::dot(dynamics.axis(i, k), f)));
      EXPECT_LT(along, 1e-11 * most) << "link " << i << " of tree " << seed;
    }
  }
}

// Every other link of a chain is without mass and carries the next one, which has it.
TEST(ForwardDynamics, CarriesLinksWithoutMassInside) {
  for (unsigned seed = 1; seed < 10; ++seed) {
    Tree tree = random_tree(24, seed, {Kind::revolute, Kind::prismatic, Kind::universal, Kind::cylindrical});
    for (std::size_t i = 1; i < tree.links.size(); ++i) {
      Link& link = tree.links[i];
      link.parent = static_cast<int>(i) - 1;
      if (i % 2 == 0 || recursion::freedoms(link.kind) > 1) continue;
      link.mass = 0;
      link.moment = {0, 0, 0};
      link.J = {0, 0, 0, 0, 0, 0};
    }
    const Point at = random_point(tree, seed + 300);
    Numbers random(seed + 400);
    ForwardDynamics<double> dynamics(tree);
    dynamics.outward(at.q.data(), at.u.data());
    for (Spatial<double>& f : dynamics.applied()) f = {random.triple() * 5.0, random.triple() * 5.0};
    dynamics.inward();
    EXPECT_EQ(dynamics.stuck(), 0) << seed;
    Vec u_dot(tree.nu);
    dynamics.accelerate(u_dot.data());
    std::vector<Spatial<double>> handed(tree.links.size(), Spatial<double>{});
    dynamics.transmitted(handed);
    double most = 0;
    for (const Spatial<double>& f : handed) most = std::max(most, std::sqrt(recursion::dot(f, f)));
    int without_mass = 0;
    for (int i = 1; i < tree.size(); ++i) {
      const Link& link = tree.links[static_cast<std::size_t>(i)];
      without_mass += link.mass == 0 ? 1 : 0;
      for (int k = 0; k < recursion::freedoms(link.kind); ++k)
        EXPECT_LT(std::abs(recursion::dot(dynamics.axis(i, k), handed[static_cast<std::size_t>(i)])), 1e-9 * most)
            << "link " << i << " of chain " << seed;
    }
    EXPECT_GE(without_mass, 6);
  }
}

TEST(ForwardDynamics, KeepsItsDigitsOnAThousandLinks) {
  const Tree tree = chain(1000);
  Point at{Vec(tree.nq), Vec(tree.nu)};
  for (int i = 0; i < tree.nq; ++i) at.q[i] = 0.1 * std::sin(i + 1.0), at.u[i] = 0.2 * std::cos(1.3 * i);
  ForwardDynamics<double> dynamics(tree);
  dynamics.outward(at.q.data(), at.u.data());
  dynamics.inward();
  Vec u_dot(tree.nu);
  dynamics.accelerate(u_dot.data());
  ForwardDynamics<long double> exact(tree);
  const Eigen::Matrix<long double, Eigen::Dynamic, 1> q = at.q.cast<long double>(), u = at.u.cast<long double>();
  Eigen::Matrix<long double, Eigen::Dynamic, 1> truth(tree.nu);
  exact.outward(q.data(), u.data());
  exact.inward();
  exact.accelerate(truth.data());
  const double most = u_dot.lpNorm<Eigen::Infinity>();
  EXPECT_LT((u_dot - truth.cast<double>()).lpNorm<Eigen::Infinity>(), 1e-12 * most);
}

// A cart without mass carries a point of mass on an arm: while the arm points along the cart's way the point goes with
// it, across it nothing is left to move. The cart then had an acceleration of round-off by round-off.
TEST(ForwardDynamics, SaysThatALinkHasNoInertiaLeft) {
  Tree tree;
  tree.gravity = {0, -9.81, 0};
  Link cart, arm;
  cart.kind = Kind::prismatic;  // along z
  arm.parent = tree.add(cart);
  arm.kind = Kind::revolute;
  arm.E = square((Mat3() << 0, 0, 1, 1, 0, 0, 0, 1, 0).finished());  // its axis along the world's x
  Tree::set_inertia(arm, 2, {1, 0, 0}, {0, 0, 0, 0, 0, 0});
  tree.add(arm);
  ForwardDynamics<double> dynamics(tree);
  const Vec u = Vec::Zero(2);
  // x of the arm lies along y cos q + z sin q, and the cart moves along z: sin^2 q of the mass is left
  for (const double angle : {0.5 * std::numbers::pi, 0.5, 1e-5}) {
    const Vec q = Eigen::Vector2d(0.3, angle);
    dynamics.outward(q.data(), u.data());
    dynamics.inward();
    EXPECT_EQ(dynamics.stuck(), 0) << angle;
  }
  const Vec across = Eigen::Vector2d(0.3, 0);
  dynamics.outward(across.data(), u.data());
  dynamics.inward();
  EXPECT_EQ(dynamics.stuck(), 1);
  dynamics.inward(true);
  EXPECT_EQ(dynamics.stuck(), 1);
}

// Links without mass inside the tree, as those on which planar bodies slide.
TEST(ForwardDynamics, TakesLinksWithoutMassInside) {
  Tree tree;
  tree.gravity = {0, -9.81, 0};
  const double mass = 2, inertia = 0.3;
  for (int k = 0; k < 3; ++k) {
    Link link;
    link.parent = k;
    link.kind = k < 2 ? Kind::prismatic : Kind::revolute;
    // z of the links: the world's x, then y, then z
    Mat3 axes = Mat3::Identity(), before = axes;
    for (int i = 0; i < 3; ++i) axes.col(i) = Vec3::Unit((k + 1 + i) % 3);
    if (k > 0)
      for (int i = 0; i < 3; ++i) before.col(i) = Vec3::Unit((k + i) % 3);
    link.E = square(before.transpose() * axes);
    if (k == 2) Tree::set_inertia(link, mass, {0.4, 0, 0}, {0, 0, 0, 0, 0, inertia});
    tree.add(link);
  }
  ForwardDynamics<double> dynamics(tree);
  const Vec q = Vec3(1, 2, 0.7), u = Vec3(0, 0, 3);
  dynamics.outward(q.data(), u.data());
  dynamics.inward();
  Vec3 a;
  dynamics.accelerate(a.data());
  // no torque: the centre of mass falls, the body keeps its rate
  const Vec3 arm(0.4 * std::cos(0.7), 0.4 * std::sin(0.7), 0);
  EXPECT_NEAR(a.z(), 0, 1e-13);
  EXPECT_NEAR(a.x(), 9 * arm.x(), 1e-13);
  EXPECT_NEAR(a.y(), -9.81 + 9 * arm.y(), 1e-13);
}

// Rows between random links against the dense equations, with M and J from the motions themselves.
TEST(DelassusRows, HoldTheRowsWithTheLeastForce) {
  const Tree tree = random_tree(24, 7);
  const Point at = random_point(tree, 8);
  Numbers random(9);
  std::vector<recursion::RowGroup> groups{{3, {5, 20}}, {6, {11, 0}}, {1, {3, 17, 22}}, {2, {9, 24}}};
  const int rows = 12;
  recursion::DelassusRows closing(tree, groups, Vec::Ones(rows), 1e-8);
  ForwardDynamics<double> dynamics(tree);
  dynamics.outward(at.q.data(), at.u.data());
  for (Spatial<double>& f : dynamics.applied()) f = {random.triple(), random.triple()};
  dynamics.inward();
  struct Entry {
    int row, link;
    Spatial<double> wrench;
  };
  std::vector<Entry> entries;
  closing.clear();
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (int r = 0; r < groups[g].rows; ++r)
      for (std::size_t f = 0; f < groups[g].links.size(); ++f) {
        const Spatial<double> wrench{random.triple(), random.triple()};
        closing.add(static_cast<int>(g), static_cast<int>(f), r, wrench);
        entries.push_back({closing.first_row(static_cast<int>(g)) + r, groups[g].links[f], wrench});
      }
  ASSERT_TRUE(closing.factor(dynamics));
  Vec b(rows);
  for (double& x : b) x = random();
  Vec right = b, lambda(rows), u_dot(tree.nu);
  closing.add_free(dynamics, right);
  closing.solve(right, lambda);
  closing.apply(lambda, dynamics);
  dynamics.accelerate(u_dot.data());
  // J u' = -b, from what the accelerations do at the links
  Vec sum = b;
  for (const Entry& e : entries)
    if (e.link > 0) sum[e.row] += recursion::dot(e.wrench, dynamics.articulated(e.link).x);
  EXPECT_LT(sum.lpNorm<Eigen::Infinity>(), 1e-11);
  // and the joints transmit nothing along what they leave free, the forces of the rows among the loads
  std::vector<Spatial<double>> handed(tree.links.size(), Spatial<double>{});
  for (const Entry& e : entries) handed[static_cast<std::size_t>(e.link)] += e.wrench * lambda[e.row];
  dynamics.transmitted(handed);
  for (int i = 1; i < tree.size(); ++i) {
    const Kind kind = tree.links[static_cast<std::size_t>(i)].kind;
    if (kind == Kind::spherical || kind == Kind::free)
      EXPECT_LT(vector(handed[static_cast<std::size_t>(i)].w).norm(), 1e-9) << i;
    else
      for (int k = 0; k < recursion::freedoms(kind); ++k)
        EXPECT_NEAR(recursion::dot(dynamics.axis(i, k), handed[static_cast<std::size_t>(i)]), 0, 1e-9) << i;
  }
}

// On a chain of ten links with a row from the ground to each, k rows go through the k-th link from the end.
TEST(DelassusRows, CountPairsWithoutMakingThem) {
  const Tree tree = chain(10);
  std::vector<recursion::RowGroup> groups;
  for (int i = 1; i <= 10; ++i) groups.push_back({1, {i, 0}});
  EXPECT_EQ(recursion::DelassusRows::pairs(tree, groups, 1e6), 220);  // sum of k (k + 1) / 2
  EXPECT_EQ(recursion::DelassusRows::pairs(tree, groups, 220), 220);
  EXPECT_TRUE(std::isinf(recursion::DelassusRows::pairs(tree, groups, 219)));
  // two frames on one path go through its links once
  EXPECT_EQ(recursion::DelassusRows::pairs(tree, {{5, {3, 2}}, {1, {2, 3}}}, 1e6), 9);
}

// The same rows twice: half the forces each, the same motion; twice with different right sides, their mean.
TEST(DelassusRows, ShareAmongRedundantRowsAndLeaveOutContradictions) {
  const Tree tree = random_tree(12, 11, {Kind::revolute, Kind::spherical});
  const Point at = random_point(tree, 12);
  Numbers random(13);
  const Spatial<double> wrench{random.triple(), random.triple()};
  const auto accelerate = [&](int copies, const Vec& b, Vec& lambda) {
    recursion::DelassusRows closing(tree, std::vector<recursion::RowGroup>(static_cast<std::size_t>(copies), {1, {9}}),
                                    Vec::Ones(copies), 1e-8);
    ForwardDynamics<double> dynamics(tree);
    dynamics.outward(at.q.data(), at.u.data());
    dynamics.inward();
    closing.clear();
    for (int k = 0; k < copies; ++k) closing.add(k, 0, 0, wrench);
    EXPECT_TRUE(closing.factor(dynamics));
    Vec right = b, u_dot(tree.nu);
    closing.add_free(dynamics, right);
    lambda.resize(copies);
    closing.solve(right, lambda);
    closing.apply(lambda, dynamics);
    dynamics.accelerate(u_dot.data());
    return u_dot;
  };
  Vec one, two, three;
  const Vec single = accelerate(1, Vec::Constant(1, 0.4), one);
  EXPECT_LT((accelerate(2, Vec::Constant(2, 0.4), two) - single).norm(), 1e-9 * single.norm());
  EXPECT_NEAR(two[0], 0.5 * one[0], 1e-8 * std::abs(one[0]));
  EXPECT_LT((accelerate(2, Vec(Eigen::Vector2d(0.1, 0.7)), three) - single).norm(), 1e-7 * single.norm());
  EXPECT_NEAR(three[0], 0.5 * one[0], 1e-6 * std::abs(one[0]));
}

}  // namespace
}  // namespace trammel::forward_dynamics_test
