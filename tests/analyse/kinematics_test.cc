// Kinematic analyses against closed forms, drive forces against power balances, inverse then forward dynamics.
#include "trammel/analyse/kinematics.h"
#include "trammel/elements/build.h"

#include <gmock/gmock.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "tests/problems/mechanisms.h"
#include "tests/problems/stepping.h"
#include "trammel/analyse/inverse_dynamics.h"

namespace trammel::kinematics_test {
namespace {

using ::testing::HasSubstr;

Fields expression(const char* name, const std::string& text) {
  Fields fields;
  fields.set(name, ExpressionText{text, {}});
  return fields;
}

// Coupler and rocker angles of the four-bar O (0,0), A at radius 0.6, D (1.5, 0), by the intersection of two circles;
// velocities and accelerations from the closure a e^{i th} + b e^{i be} - c e^{i ga} = d, differentiated.
struct FourBar {
  double beta, gamma, beta1, gamma1, beta2, gamma2;
};
FourBar four_bar_closed_form(double theta, double omega, double alpha) {
  using C = std::complex<double>;
  const double a = 0.6, b = std::sqrt(3.6), c = std::hypot(0.3, 1.2), d = 1.5;
  const C i(0, 1), A = a * std::exp(i * theta), AD = d - A;
  const double r = std::abs(AD), along = (r * r + b * b - c * c) / (2 * r), up = std::sqrt(b * b - along * along);
  const C B = A + AD / r * C(along, up);
  FourBar f{};
  f.beta = std::arg(B - A);
  f.gamma = std::arg(B - C(d));
  Eigen::Matrix2d m;
  m << -b * std::sin(f.beta), c * std::sin(f.gamma), b * std::cos(f.beta), -c * std::cos(f.gamma);
  const Eigen::Vector2d v = m.inverse() * Eigen::Vector2d(a * std::sin(theta) * omega, -a * std::cos(theta) * omega);
  f.beta1 = v[0];
  f.gamma1 = v[1];
  const C rest = A * (i * alpha - omega * omega) - b * std::exp(i * f.beta) * f.beta1 * f.beta1 +
                 c * std::exp(i * f.gamma) * f.gamma1 * f.gamma1;
  const Eigen::Vector2d w = m.inverse() * Eigen::Vector2d(-rest.real(), -rest.imag());
  f.beta2 = w[0];
  f.gamma2 = w[1];
  return f;
}

Model driven_four_bar(problems::Build build, const std::string& angle) {
  Model m = problems::four_bar(build);
  m.initial_joints.clear();
  add_motion(m, "rotation", "crank_drive", m.joints[0].frames, expression("angle", angle));
  return m;
}

TEST(Kinematics, FourBarAgainstTheClosedForm) {
  for (const problems::Build build : {problems::Build::planar, problems::Build::redundant}) {
    problems::Ready ready(driven_four_bar(build, "3*time + 0.4*sin(2*time)"), {.analyse_rank = true});
    KinematicOptions options;
    options.end = 4;  // about two turns
    options.output_step = 0.05;
    double error = 0, rate_error = 0, acceleration_error = 0, power_error = 0;
    long rows = 0;
    const Equations& e = *ready.equations;
    Workspace work = e.make_workspace();
    const std::vector<Drive> drives = drives_of(e);
    ASSERT_EQ(drives.size(), 1u);
    std::vector<double> torque;
    const KinematicReport report = run_kinematics(
        e, ready.state, ready.rates, *ready.accelerations, ready.initial, ready.work, options,
        [&](const State& state, const Rates& rates) {
          ++rows;
          const double t = state.t, theta = std::numbers::pi / 2 + 3 * t + 0.4 * std::sin(2 * t),
                       omega = 3 + 0.8 * std::cos(2 * t), alpha = -1.6 * std::sin(2 * t);
          const FourBar exact = four_bar_closed_form(theta, omega, alpha);
          e.update(state, work);
          const auto turned = [&](int body, double angle) {
            const Vec3 x = work.bodies[static_cast<std::size_t>(body)].R.col(0);
            return std::abs(std::arg(std::complex<double>(x.x(), x.y()) * std::exp(std::complex<double>(0, -angle))));
          };
          error = std::max({error, turned(0, theta), turned(1, exact.beta), turned(2, exact.gamma)});
          rate_error = std::max({rate_error, std::abs(work.bodies[1].w.z() - exact.beta1),
                                 std::abs(work.bodies[2].w.z() - exact.gamma1)});
          const int n = build == problems::Build::planar ? 2 : 5;
          acceleration_error = std::max({acceleration_error, std::abs(rates.a[e.first_velocity(1) + n] - exact.beta2),
                                         std::abs(rates.a[e.first_velocity(2) + n] - exact.gamma2)});
          // Power of the drive = change of kinetic energy - power of the weight.
          drive_forces(e, drives, state, rates, work, torque);
          Vec Ma(e.sizes().nv);
          e.multiply_mass(state.q, rates.a, Ma);
          double power = state.v.dot(Ma);
          for (int b = 0; b < 3; ++b)
            power -= e.model().bodies[static_cast<std::size_t>(b)].mass *
                     e.model().gravity.dot(work.bodies[static_cast<std::size_t>(b)].v);
          power_error = std::max(power_error, std::abs(torque[0] * omega - power));
        });
    EXPECT_TRUE(report.finished) << report.why;
    EXPECT_EQ(rows, 81);
    EXPECT_LT(error, 1e-11);
    EXPECT_LT(rate_error, 1e-10);
    EXPECT_LT(acceleration_error, 1e-8);
    EXPECT_LT(power_error, 1e-7);
    EXPECT_TRUE(report.singular.empty());
    EXPECT_GT(report.worst_pivot, 1e-3);
  }
}

TEST(Kinematics, FreedomsLeftAreNamed) {
  Model m = problems::chain(3);
  add_motion(m, "rotation", "drive", m.joints[0].frames, expression("angle", "time"));
  problems::Ready ready(m, {.analyse_rank = true});
  try {
    run_kinematics(*ready.equations, ready.state, ready.rates, *ready.accelerations, ready.initial, ready.work, {},
                   [](const State&, const Rates&) {});
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_THAT(failure.problems()[0].message, HasSubstr("2 degrees of freedom"));
    EXPECT_THAT(failure.problems()[0].message, HasSubstr("body '"));
  }
}

// The rocker driven beyond its reach: the crank would have to be longer. The time of the dead point is known.
TEST(Kinematics, DeadPointIsNamed) {
  Model m = problems::four_bar(problems::Build::planar);
  m.initial_joints.clear();
  add_motion(m, "rotation", "rocker_drive", m.joints[3].frames, expression("angle", "-time"));
  problems::Ready ready(m, {.analyse_rank = true});
  KinematicOptions options;
  options.end = 3;
  const KinematicReport report = run_kinematics(*ready.equations, ready.state, ready.rates, *ready.accelerations,
                                                ready.initial, ready.work, options, [](const State&, const Rates&) {});
  EXPECT_FALSE(report.finished);
  EXPECT_THAT(report.why, HasSubstr("dead point"));
  EXPECT_THAT(report.why, HasSubstr("body 'crank'"));
  // Crank and coupler in line: |OB| = a + b (stretched) while the rocker turns clockwise.
  const double a = 0.6, b = std::sqrt(3.6), c = std::hypot(0.3, 1.2), d = 1.5;
  const double now = std::atan2(1.2, 0.3);
  const double cosine = ((a + b) * (a + b) - c * c - d * d) / (2 * c * d);  // of the angle from the x axis
  EXPECT_NEAR(report.reached, now - std::acos(cosine), 0.011);
}

// Inverse then forward: the drive torque of a pendulum on a cart that follows a prescribed swing, as a polynomial of
// time, makes the free pendulum swing the same way.
std::string fitted_polynomial(const std::vector<double>& t, const std::vector<double>& y, double end, int degree) {
  // Chebyshev coefficients by least squares, summed into one expression by Clenshaw-free powers of s = 2 t/T - 1.
  const auto n = static_cast<Eigen::Index>(t.size());
  Mat basis(n, degree + 1);
  for (Eigen::Index i = 0; i < n; ++i) {
    const double s = 2 * t[static_cast<std::size_t>(i)] / end - 1;
    for (int k = 0; k <= degree; ++k) basis(i, k) = std::cos(k * std::acos(std::clamp(s, -1.0, 1.0)));
  }
  const Vec c = basis.colPivHouseholderQr().solve(Eigen::Map<const Vec>(y.data(), n));
  std::string text;
  for (int k = 0; k <= degree; ++k) {
    char term[120];
    std::snprintf(term, sizeof term, "%s(%.17g)*cos(%d*acos(max(-1, min(1, 2*time/%.17g - 1))))", k == 0 ? "" : " + ",
                  c[k], k, end);
    text += term;
  }
  return text;
}

TEST(InverseDynamics, ForwardReturnsTheMotion) {
  const double end = 1.5;
  Model prescribed = problems::four_bar(problems::Build::planar);
  prescribed.initial_joints.clear();
  add_motion(prescribed, "rotation", "drive", prescribed.joints[0].frames,
             expression("angle", "1.2*(1 - cos(2*time))"));
  problems::Ready ready(prescribed, {.analyse_rank = true});
  const State first = ready.state;
  KinematicOptions options;
  options.end = end;
  options.output_step = 0.005;
  DriveHistory history;
  history.drives = drives_of(*ready.equations);
  std::vector<double> torque;
  Workspace work = ready.equations->make_workspace();
  const KinematicReport report =
      run_kinematics(*ready.equations, ready.state, ready.rates, *ready.accelerations, ready.initial, ready.work,
                     options, [&](const State& state, const Rates& rates) {
                       drive_forces(*ready.equations, history.drives, state, rates, work, torque);
                       history.add(state.t, torque);
                     });
  ASSERT_TRUE(report.finished) << report.why;
  const Model free =
      with_drive_forces(prescribed, history.drives, {fitted_polynomial(history.time, history.values[0], end, 24)});
  ASSERT_TRUE(free.motions.empty());
  const problems::Ready forward(free);
  // Second order: the difference falls with h^2.
  std::vector<double> h, error;
  for (const int steps : {750, 1500, 3000}) {
    const problems::End reached =
        problems::run_fixed(forward, problems::converged(AlphaParameters::hht(-0.05)), end / steps, steps);
    Vec difference(first.v.size());
    forward.equations->local(ready.state.q, reached.state.q, difference);
    h.push_back(end / steps);
    error.push_back(difference.norm());
  }
  EXPECT_LT(error.back(), 1e-4);
  EXPECT_NEAR(problems::fitted_slope(h, error), 2, 0.2);
}

TEST(InverseDynamics, CsvAndModelLines) {
  problems::Ready ready(driven_four_bar(problems::Build::planar, "time"));
  DriveHistory history;
  history.drives = drives_of(*ready.equations);
  history.add(0, {1.5});
  history.add(0.1, {-2});
  EXPECT_EQ(to_csv(history), "time,crank_drive\n0,1.5\n0.1,-2\n");
  const std::string yaml = forward_yaml(*ready.equations, history, "d.csv");
  EXPECT_THAT(yaml, HasSubstr("joint: O"));
  EXPECT_THAT(yaml, HasSubstr("type: torque"));
}

}  // namespace
}  // namespace trammel::kinematics_test
