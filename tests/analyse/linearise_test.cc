// A, B, C, D: a cart with a pole by hand, and every model against differences of its nonlinear equations, taken on the
// constraints with states prescribed.
#include "trammel/analyse/linearise.h"
#include "trammel/elements/build.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>

#include "tests/problems/mechanisms.h"
#include "tests/problems/stepping.h"
#include "trammel/elements/measure.h"
#include "trammel/rank/reduction.h"

namespace trammel::linearise_test {
namespace {

Fields expression(const char* name, const char* text) {
  Fields fields;
  fields.set(name, ExpressionText{text, {}});
  return fields;
}

// A cart of mass M on a rail along x, pushed by an input, a bar of mass m and length 2 l hinged on it, upright along z.
Model cart_pole(double M, double m, double l, const std::string& kind) {
  Model model;
  const bool planar = kind == "planar";
  const Vec3 up = planar ? Vec3::UnitY() : Vec3::UnitZ(), axis = planar ? Vec3::UnitZ() : Vec3(0, 1, 0);
  model.gravity = -9.81 * up;
  Body cart;
  cart.name = "cart";
  cart.kind = kind;
  cart.mass = M;
  cart.inertia = Mat3::Identity();
  Body pole = problems::rod("pole", Vec3::Zero(), 2 * l * up, m, axis, 0);
  pole.kind = kind;
  model.add_body(cart);
  model.add_body(pole);
  add_joint(model, "translational", "rail", ground, 0, Vec3::Zero(), Vec3::UnitX());
  add_joint(model, "revolute", "hinge", 0, 1, Vec3::Zero(), axis);
  model.inputs.push_back({"push", "N", 0, {}});
  Pose here;
  add_force(model, "force", "motor", {model.add_frame(ground, here), model.add_frame(0, here)},
            expression("fx", "push"));
  model.outputs.push_back({"x", "m", {"dx(cart, ground)", {}}});
  model.outputs.push_back({"angle", "rad", {"angle(hinge)", {}}});
  model.outputs.push_back({"both", "", {"2*push + vx(cart, ground)", {}}});
  return model;
}

// Frequency response C (s 1 - A)^-1 B + D: it does not depend on which coordinates serve as states.
Eigen::MatrixXcd transfer(const LinearSystem& s, std::complex<double> at) {
  const Eigen::MatrixXcd m = at * Eigen::MatrixXcd::Identity(s.A.rows(), s.A.cols()) - s.A;
  return s.C * m.partialPivLu().solve(s.B.cast<std::complex<double>>()) + s.D;
}

TEST(Linearise, CartPoleByHand) {
  const double M = 2, m = 0.7, l = 0.4, g = 9.81, J = m * l * l / 3;
  for (const std::string kind : {"planar", "spatial"}) {
    const problems::Ready ready(cart_pole(M, m, l, kind));
    const LinearSystem s = linearise_system(*ready.equations, ready.state, ready.rates);
    ASSERT_EQ(s.A.rows(), 4);
    ASSERT_EQ(s.inputs.size(), 1u);
    EXPECT_NEAR(s.x_dot.norm(), 0, 1e-12);
    // theta from the upright: (M + m) x'' + sg m l theta'' = u,  sg m l x'' + (J + m l^2) theta'' = m g l theta, where
    // the tip moves to sg theta.
    const double sign = kind == "planar" ? -1 : 1;
    Eigen::Matrix2d mass, stiffness = Eigen::Matrix2d::Zero();
    mass << M + m, sign * m * l, sign * m * l, J + m * l * l;
    stiffness(1, 1) = -m * g * l;
    for (const std::complex<double> at : {std::complex<double>(0.3, 1.7), std::complex<double>(-0.8, 4.0)}) {
      const Eigen::Matrix2cd dynamic = at * at * mass.cast<std::complex<double>>() + stiffness;
      const Eigen::Vector2cd x = dynamic.inverse() * Eigen::Vector2cd(1, 0);
      const Eigen::MatrixXcd y = transfer(s, at);
      EXPECT_NEAR(std::abs(y(0, 0) - x[0]), 0, 1e-12);
      EXPECT_NEAR(std::abs(y(1, 0) - x[1]), 0, 1e-11);
      EXPECT_NEAR(std::abs(y(2, 0) - (2.0 + at * x[0])), 0, 1e-12);
    }
  }
}

// Rolling: five displacements but three velocities, so the states are eight. Two swings, and nothing for the places on
// the plane and the turn about its normal.
TEST(Linearise, ABallThatRolls) {
  const double m = 2, r = 0.3, e = 0.1, J = 0.05;
  const problems::Ready ready(problems::weighted_ball(m, r, e, J, 0));
  const LinearSystem s = linearise_system(*ready.equations, ready.state, ready.rates);
  EXPECT_EQ(s.positions, 5);
  ASSERT_EQ(s.A.rows(), 8);
  const Eigen::VectorXcd values = s.A.eigenvalues();
  const double w = std::sqrt(m * 9.81 * e / (J + m * (r - e) * (r - e)));
  int swings = 0;
  for (const std::complex<double>& value : values) {
    if (std::abs(value) > 0.1 * w) {
      ++swings;
      EXPECT_NEAR(std::abs(value.imag()), w, 1e-6 * w);
    } else {
      EXPECT_LT(std::abs(value), 1e-4 * w);  // a double zero splits by the root of round-off
    }
    EXPECT_NEAR(value.real(), 0, 1e-4 * w);
  }
  EXPECT_EQ(swings, 4);
}

// The nonlinear system in the states of a linear one: positions on the constraints with chosen displacements (world
// axes, from the base), velocities on theirs with chosen values, accelerations.
class Nonlinear {
 public:
  Nonlinear(const problems::Ready& ready, const LinearSystem& linear)
      : ready_(ready),
        e_(*ready.equations),
        linear_(linear),
        work_(e_.make_workspace()),
        accelerations_(e_),
        base_work_(e_.make_workspace()) {
    e_.update(ready.state, base_work_);
    v0_ = to_world(e_, base_work_, ready.state.v);
  }

  // (s', y) for deviations x and inputs' changes u; p' is a kinematic identity.
  Vec operator()(const Vec& x, const Vec& u) {
    State state = ready_.state;
    state.u += u;
    const int nv = e_.sizes().nv, rows = e_.sizes().multipliers();
    const int np = linear_.positions;
    Partials partials = e_.make_partials(Detail::projection);
    Residual residual = e_.make_residual();
    const Rates zero = e_.make_rates();
    // Newton by dense least squares in world displacements Q from the base, R = exp(phi) R_0.
    Vec Q = linear_.displacement * x;
    for (int i = 0; i < 30; ++i) {
      place(Q, state.q);
      e_.residual(state, zero, joints, residual, work_);
      e_.jacobian(state, partials, work_);
      e_.update(state, work_);
      Mat G = e_.gv().dense(partials.G);
      columns_to_world(e_, work_, G);
      for (const int row : e_.velocity_rows()) {
        residual.g[row] = 0;
        G.row(row).setZero();
      }
      Mat all(rows + np, nv);
      Vec right(rows + np);
      all.setZero();
      all.topRows(rows) = G * left_jacobian(Q);
      right.head(rows) = -residual.g;
      for (int k = 0; k < np; ++k) {
        const int at = linear_.position_states[static_cast<std::size_t>(k)];
        all(rows + k, at) = 1;
        right[rows + k] = x[k] - Q[at];
      }
      const Vec dQ = all.completeOrthogonalDecomposition().solve(right);
      Q += dQ;
      if (dQ.norm() < 1e-14) break;
    }
    place(Q, state.q);
    e_.update(state, work_);
    e_.jacobian(state, partials, work_);
    // Velocities: G v + g_t = 0 from velocity_residual, chosen world velocities prescribed.
    const Eigen::Index ns = x.size() - np;
    state.v.setZero();
    Vec gdot(rows);
    e_.velocity_residual(state, gdot, work_);
    Mat G = e_.gv().dense(partials.G);
    e_.update(state, work_);
    columns_to_world(e_, work_, G);
    Mat all(rows + ns, nv);
    Vec right(rows + ns);
    all.setZero();
    all.topRows(rows) = G;
    right.head(rows) = -gdot;
    for (Eigen::Index k = 0; k < ns; ++k) {
      const int at = linear_.velocity_states[static_cast<std::size_t>(k)];
      all(rows + k, at) = 1;
      right[rows + k] = v0_[at] + x[np + k];
    }
    const Vec V = all.completeOrthogonalDecomposition().solve(right);
    state.v = from_world(e_, work_, V);
    Rates rates = e_.make_rates();
    EXPECT_TRUE(accelerations_.solve(state, rates, work_));
    e_.update(state, work_);
    const Vec a = to_world(e_, work_, rates.a);
    Vec out(ns + linear_.C.rows());
    for (Eigen::Index k = 0; k < ns; ++k) out[k] = a[linear_.velocity_states[static_cast<std::size_t>(k)]];
    out.tail(linear_.C.rows()) = linearise_system(e_, state, rates, LinearOutputs::all).y;
    return out;
  }

 private:
  // q = Q beyond the base: translations add, rotations from the left.
  void place(const Vec& Q, Vec& q) {
    Vec delta = from_world(e_, base_work_, Q);
    e_.retract(ready_.state.q, delta, q);  // R_0 exp(R_0^T phi) = exp(phi) R_0
  }
  // d(exp(phi)) = (J d phi)~ exp(phi)
  Mat left_jacobian(const Vec& Q) {
    Mat J = Mat::Identity(Q.size(), Q.size());
    for (const int column : e_.rotation_columns())
      J.block<3, 3>(column, column) = rotation_tangent(Q.segment<3>(column)).transpose();
    return J;
  }

  const problems::Ready& ready_;
  const Equations& e_;
  const LinearSystem& linear_;
  Workspace work_;
  AccelerationSolver accelerations_;
  Workspace base_work_;
  Vec v0_;
};

void expect_differences(Model model, const char* name) {
  const problems::Ready ready(std::move(model));
  const LinearSystem s = linearise_system(*ready.equations, ready.state, ready.rates, LinearOutputs::all);
  Nonlinear f(ready, s);
  const Eigen::Index n = s.A.rows(), np = s.positions, ns = n - np, ny = s.C.rows(), nu = s.B.cols();
  const Vec zero_x = Vec::Zero(n), zero_u = Vec::Zero(nu);
  const double size = s.A.cwiseAbs().maxCoeff();
  for (Eigen::Index k = 0; k < n; ++k) {
    const Vec slope = problems::derivative([&](double h) { return f(zero_x + h * Vec::Unit(n, k), zero_u); }, 2e-3);
    for (Eigen::Index i = 0; i < ns; ++i)
      EXPECT_NEAR(s.A(np + i, k), slope[i], 2e-7 * size) << name << " A " << i << " " << k;
    for (Eigen::Index i = 0; i < ny; ++i) {
      // A rotation is reported from the state itself, as a vector of a small turn: not by its value there.
      if (s.outputs[static_cast<std::size_t>(i)].name.find(".rotation") != std::string::npos) continue;
      EXPECT_NEAR(s.C(i, k), slope[ns + i], 1e-7 * std::max(1.0, s.C.row(i).cwiseAbs().maxCoeff()))
          << name << " C " << s.outputs[static_cast<std::size_t>(i)].name << " " << k;
    }
  }
  for (Eigen::Index k = 0; k < nu; ++k) {
    const Vec slope = problems::derivative([&](double h) { return f(zero_x, h * Vec::Unit(nu, k)); }, 1e-2);
    for (Eigen::Index i = 0; i < ns; ++i) EXPECT_NEAR(s.B(np + i, k), slope[i], 1e-8 * (1 + s.B.cwiseAbs().maxCoeff()));
    for (Eigen::Index i = 0; i < ny; ++i) EXPECT_NEAR(s.D(i, k), slope[ns + i], 1e-8);
  }
}

TEST(Linearise, AgainstDifferences) {
  Model top = problems::heavy_top();
  top.outputs.push_back({"height", "m", {"dz(top, ground)", {}}});
  expect_differences(top, "heavy top");  // spinning fast
  expect_differences(problems::slider_crank_with_forces(), "slider-crank");
  expect_differences(problems::four_bar(problems::Build::redundant, true), "redundant four-bar");
  Model chain = problems::chain(4);
  for (Body& body : chain.bodies) body.angular_velocity = Vec3(0.3, -0.8, 0.5);
  expect_differences(chain, "chain");
  Model cart = cart_pole(2, 0.7, 0.4, "spatial");
  cart.bodies[1].angular_velocity = Vec3(0, 3, 0);
  cart.bodies[0].velocity = Vec3(1, 0, 0);
  cart.inputs[0].value = 4;
  cart.outputs.push_back({"mixed", "", {"push^2*angle(hinge) + rate(hinge)*dx(cart, ground)", {}}});
  expect_differences(cart, "cart with pole");
}

TEST(Linearise, NothingFreeIsRefused) {
  Model m = problems::pendulum();
  add_motion(m, "rotation", "drive", m.joints[0].frames, expression("angle", "time"));
  const problems::Ready ready(m);
  EXPECT_THROW(linearise_system(*ready.equations, ready.state, ready.rates), Failure);
}

}  // namespace
}  // namespace trammel::linearise_test
