#include "app/ball_bearing.h"

#include <Eigen/LU>
#include <cmath>
#include <cstdio>

#include "trammel/base/diagnosis.h"
#include "trammel/base/types.h"
#include "trammel/elements/contacts/hertz.h"

namespace trammel {
namespace {

constexpr double bearing_degree = std::numbers::pi / 180;

// Radius of the circle on which the groove's profile has its centre; side 1: outer ring, -1: inner ring.
double groove_center(const BallBearing& b, double side) {
  return b.pitch_diameter / 2 - side * ((b.conformity - 0.5) * b.ball_diameter - b.clearance / 4);
}

double groove_stiffness(const BallBearing& b, double side, double alpha) {
  const double groove = b.conformity * b.ball_diameter, ball = b.ball_diameter / 2,
               along = side * std::cos(alpha) / (groove_center(b, side) + side * groove * std::cos(alpha));
  return hertz_contact(2 / ball - 1 / groove - along, 1 / groove - along, 2 * (1 - 0.09) / 206e9).stiffness;
}

// Three equations (ball radially and axially, inner ring axially) for r, z and z_inner by Newton's method.
BearingEquilibrium solve_bearing(const BallBearing& b, double speed, double alpha, bool gyroscopic = false) {
  const double D = b.ball_diameter, mass = 7850 * std::numbers::pi * D * D * D / 6, center_o = groove_center(b, 1),
               center_i = groove_center(b, -1), K_i = groove_stiffness(b, -1, alpha),
               K_o = groove_stiffness(b, 1, alpha), play = (b.conformity - 0.5) * D;
  BearingEquilibrium e;
  const auto residual = [&](const Vec3& x) {
    e.r = x[0];
    e.z = x[1];
    e.z_inner = x[2];
    const Eigen::Vector2d outer(x[0] - center_o, x[1]), inner(x[0] - center_i, x[1] - x[2]);
    const auto load = [&](const Eigen::Vector2d& w, double K) {
      return K * std::pow(std::max(0.0, w.norm() - play), 1.5);
    };
    e.Q_o = load(outer, K_o);
    e.Q_i = load(inner, K_i);
    e.alpha_o = std::atan2(outer[1], outer[0]);
    e.alpha_i = std::atan2(-inner[1], -inner[0]);
    e.orbit = speed * (1 - D * std::cos(e.alpha_i) / (2 * e.r)) / (1 + std::cos(e.alpha_i - e.alpha_o));
    e.tilt = std::atan2(std::sin(e.alpha_o), std::cos(e.alpha_o) + D / (2 * e.r));
    e.spin = e.orbit * (e.r + D / 2 * std::cos(e.alpha_o)) / (D / 2 * std::cos(e.alpha_o - e.tilt));
    // The moment J orbit spin sin(tilt) about the direction of motion, by tractions T across the normals (er, z):
    // T (-sin, cos) at the outer race, the opposite at the inner one.
    const double T = gyroscopic ? -0.1 * mass * D * e.orbit * e.spin * std::sin(e.tilt) : 0;
    const Eigen::Vector2d n_o = outer.normalized(), n_i = -inner.normalized(), t_o(-n_o[1], n_o[0]),
                          t_i(-n_i[1], n_i[0]);
    const Eigen::Vector2d from_inner = e.Q_i * n_i - T * t_i, on_ball = -e.Q_o * n_o + T * t_o + from_inner;
    return Vec3(on_ball[0] + mass * e.r * e.orbit * e.orbit, on_ball[1], b.load - b.balls * from_inner[1]);
  };
  // From a place pressed in by 10 um; the steps are bounded by a fifth of that.
  const double reach = play + 1e-5;
  Vec3 x(center_o + reach * std::cos(alpha), reach * std::sin(alpha), 2 * reach * std::sin(alpha));
  for (int i = 0; i < 500; ++i) {
    const Vec3 now = residual(x);
    Mat3 J;
    for (int k = 0; k < 3; ++k) {
      const double step = 1e-10;
      J.col(k) = (residual(x + step * Vec3::Unit(k)) - residual(x - step * Vec3::Unit(k))) / (2 * step);
    }
    Vec3 dx = J.fullPivLu().solve(now);
    const double size = dx.lpNorm<Eigen::Infinity>();
    if (size > 2e-6) dx *= 2e-6 / size;
    x -= dx;
    if (size < 1e-16) break;
  }
  if (!(residual(x).lpNorm<Eigen::Infinity>() < 1e-6 * b.load)) {
    throw Failure({Severity::error,
                   "no-equilibrium",
                   "the balls of this bearing find no equilibrium",
                   "check load, clearance and conformity",
                   {}},
                  ExitCode::bad_usage);
  }
  return e;
}

}  // namespace

double bearing_angle(const BallBearing& bearing) {
  double alpha = 15 * bearing_degree;
  for (int i = 0; i < 5; ++i) alpha = solve_bearing(bearing, 0, alpha).alpha_i;  // the curvatures depend on it little
  return alpha;
}

BearingEquilibrium bearing_equilibrium(const BallBearing& bearing, bool with_gyroscopic) {
  return solve_bearing(bearing, bearing.speed, bearing_angle(bearing), with_gyroscopic);
}

std::vector<std::string> bearing_parameters(const BallBearing& b) {
  const auto entry = [](const char* name, double value, const char* unit) {
    char out[64];
    std::snprintf(out, sizeof out, "%s=%.10g%s", name, value, unit);
    return std::string(out);
  };
  const BearingEquilibrium e = bearing_equilibrium(b);
  return {entry("Z", b.balls, ""),
          entry("D", b.ball_diameter * 1e3, " mm"),
          entry("dm", b.pitch_diameter * 1e3, " mm"),
          entry("f", b.conformity, ""),
          entry("Pd", b.clearance * 1e6, " um"),
          entry("load", b.load, " N"),
          entry("omega", b.speed * 30 / std::numbers::pi, " rpm"),
          entry("alpha", bearing_angle(b) / bearing_degree, " deg"),
          entry("z_inner", e.z_inner * 1e3, " mm"),
          entry("r_ball", e.r * 1e3, " mm"),
          entry("z_ball", e.z * 1e3, " mm"),
          entry("orbit", e.orbit, " rad/s"),
          entry("spin", e.spin, " rad/s"),
          entry("tilt_of_spin", e.tilt / bearing_degree, " deg")};
}

}  // namespace trammel
