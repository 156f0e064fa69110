#include "tests/problems/ode_problems.h"

#include <cmath>

namespace trammel::problems {
namespace {

// f and its derivatives as lambdas.
class Written final : public FirstOrderProblem {
 public:
  using F = void (*)(double, const Vec&, Vec&);
  using D = void (*)(double, const Vec&, Mat&, Vec&);
  Written(int n, F f, D d) : n_(n), f_(f), d_(d) {}
  int size() const override { return n_; }
  Eval f(double t, const Vec& y, Vec& dydt) override {
    dydt.resize(n_);
    f_(t, y, dydt);
    return Eval::ok;
  }
  bool has_jacobian() const override { return d_ != nullptr; }
  Eval jacobian(double t, const Vec& y, Jacobian& J, Vec& f_t) override {
    J.dense.setZero(n_, n_);
    f_t.setZero(n_);
    d_(t, y, J.dense, f_t);
    return Eval::ok;
  }

 private:
  int n_;
  F f_;
  D d_;
};

class WrittenSecond final : public SecondOrderProblem {
 public:
  using F = void (*)(double, const Vec&, const Vec&, Vec&);
  using D = void (*)(double, const Vec&, const Vec&, Mat&, Mat&, Vec&);
  WrittenSecond(int n, F f, D d) : n_(n), f_(f), d_(d) {}
  int freedoms() const override { return n_; }
  Eval acceleration(double t, const Vec& y, const Vec& v, Vec& a) override {
    a.resize(n_);
    f_(t, y, v, a);
    return Eval::ok;
  }
  bool has_jacobian() const override { return true; }
  Eval acceleration_jacobian(double t, const Vec& y, const Vec& v, Mat& J1, Mat& J2, Vec& f_t) override {
    J1.setZero(n_, n_);
    J2.setZero(n_, n_);
    f_t.setZero(n_);
    d_(t, y, v, J1, J2, f_t);
    return Eval::ok;
  }

 private:
  int n_;
  F f_;
  D d_;
};

OdeCase first_case(const char* name, int n, Written::F f, Written::D d, double end,
                   std::function<Vec(double)> solution) {
  OdeCase c;
  c.name = name;
  c.first = [=] { return std::make_unique<Written>(n, f, d); };
  c.solution = std::move(solution);
  c.end = end;
  return c;
}

OdeCase second_case(const char* name, int n, WrittenSecond::F f, WrittenSecond::D d, double end,
                    std::function<Vec(double)> solution) {
  OdeCase c;
  c.name = name;
  c.second = [=] { return std::make_unique<WrittenSecond>(n, f, d); };
  c.solution = std::move(solution);
  c.end = end;
  return c;
}

Vec vec(std::initializer_list<double> values) {
  Vec v(static_cast<Eigen::Index>(values.size()));
  std::copy(values.begin(), values.end(), v.data());
  return v;
}

// ---- a symmetric top without torque: quaternion (w, x, y, z) and angular velocity in the body ----------------------

const Vec3 top_inertia(1, 1, 1.8), top_spin(0.6, 0, 1.1);

void top_f(double, const Vec& y, Vec& dydt) {
  const Quat q(y[0], y[1], y[2], y[3]);
  const Vec3 w = y.tail(3);
  const Quat rate = q * Quat(0, w[0], w[1], w[2]);
  const Vec3 momentum = top_inertia.cwiseProduct(w), a = momentum.cross(w).cwiseQuotient(top_inertia);
  dydt << 0.5 * rate.w(), 0.5 * rate.vec(), a;
}

void top_d(double, const Vec& y, Mat& J, Vec&) {
  const Vec3 w = y.tail(3), I = top_inertia;
  // q' = q (0, w) / 2
  J.block(0, 0, 4, 4) << 0, -w[0], -w[1], -w[2], w[0], 0, w[2], -w[1], w[1], -w[2], 0, w[0], w[2], w[1], -w[0], 0;
  J.block(0, 4, 4, 3) << -y[1], -y[2], -y[3], y[0], -y[3], y[2], y[3], y[0], -y[1], -y[2], y[1], y[0];
  J.topRows(4) *= 0.5;
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const double factor = (I[j] - I[k]) / I[i];
    J(4 + i, 4 + j) = factor * w[k];
    J(4 + i, 4 + k) = factor * w[j];
  }
}

// The body turns about the fixed momentum and, against it, about its own axis.
Vec top_solution(double t) {
  const Vec3 momentum = top_inertia.cwiseProduct(top_spin);
  const double precession = momentum.norm() / top_inertia[0],
               rate = (top_inertia[0] - top_inertia[2]) / top_inertia[0] * top_spin[2];
  const Quat q =
      Quat(Eigen::AngleAxisd(precession * t, momentum.normalized())) * Quat(Eigen::AngleAxisd(rate * t, Vec3::UnitZ()));
  const Vec3 w = Eigen::AngleAxisd(-rate * t, Vec3::UnitZ()) * top_spin;
  return vec({q.w(), q.x(), q.y(), q.z(), w[0], w[1], w[2]});
}

// ---- a rotation vector, the angular velocity of the body given such that the motion is known -----------------------

Vec vector_solution(double t) { return vec({0.5 + 0.9 * std::sin(1.5 * t), 0.7 * std::cos(t), -0.4 + 0.6 * t}); }

// w = x' - (1 - cos n) / n^2 x cross x' + (n - sin n) / n^3 x cross (x cross x'), n = |x|
Vec3 vector_spin(double t) {
  const Vec3 x = vector_solution(t), v(1.35 * std::cos(1.5 * t), -0.7 * std::sin(t), 0.6), cross = x.cross(v);
  const double n = x.norm();
  return v - (1 - std::cos(n)) / (n * n) * cross + (n - std::sin(n)) / (n * n * n) * x.cross(cross);
}

// x' = w + x cross w / 2 + (1 - (n/2) cot(n/2)) / n^2 x cross (x cross w)
void vector_f(double t, const Vec& y, Vec& dydt) {
  const Vec3 x = y, w = vector_spin(t), cross = x.cross(w);
  const double n = x.norm(), factor = (1 - 0.5 * n / std::tan(0.5 * n)) / (n * n);
  dydt = w + 0.5 * cross + factor * x.cross(cross);
}

// ---- two bodies under gravity, eccentricity 0.3 ---------------------------------------------------------------------

Vec kepler_solution(double t) {
  const double e = 0.3;
  double E = t;
  for (int i = 0; i < 50; ++i) E -= (E - e * std::sin(E) - t) / (1 - e * std::cos(E));
  const double root = std::sqrt(1 - e * e), rate = 1 / (1 - e * std::cos(E));
  return vec({std::cos(E) - e, root * std::sin(E), -std::sin(E) * rate, root * std::cos(E) * rate});
}

// ---- one freedom whose inertia depends on the position, as of a closed loop, driven so that the motion is known -----

struct LoopMotion {
  double y, v, a;
};
LoopMotion loop_motion(double t) {
  return {std::sin(t) + 0.3 * std::sin(2 * t), std::cos(t) + 0.6 * std::cos(2 * t),
          -std::sin(t) - 1.2 * std::sin(2 * t)};
}
// (1 + cos^2(y)/2) a = cos(y) sin(y) v^2 / 2 - sin(y)
double loop_free(double y, double v) {
  return (0.5 * std::cos(y) * std::sin(y) * v * v - std::sin(y)) / (1 + 0.5 * std::cos(y) * std::cos(y));
}
void loop_slopes(double y, double v, double& by_y, double& by_v) {
  const double s = std::sin(y), c = std::cos(y), m = 1 + 0.5 * c * c, force = 0.5 * c * s * v * v - s;
  by_y = (0.5 * (c * c - s * s) * v * v - c) / m + force * c * s / (m * m);
  by_v = c * s * v / m;
}

// ---- a driven damped oscillator: y'' = -0.4 y' - 4 y + cos(3 t) -----------------------------------------------------

Vec driven_solution(double t) {
  // particular A cos 3t + B sin 3t; free part decays with 0.2 at sqrt(3.96)
  const double D = 25 + 1.44, A = -5 / D, B = 1.2 / D, w = std::sqrt(3.96), y0 = 1, v0 = 0;
  const double P = y0 - A, Q = (v0 - 3 * B + 0.2 * P) / w, decay = std::exp(-0.2 * t);
  const double y = decay * (P * std::cos(w * t) + Q * std::sin(w * t)) + A * std::cos(3 * t) + B * std::sin(3 * t);
  const double v =
      decay * (-0.2 * (P * std::cos(w * t) + Q * std::sin(w * t)) + w * (-P * std::sin(w * t) + Q * std::cos(w * t))) -
      3 * A * std::sin(3 * t) + 3 * B * std::cos(3 * t);
  return vec({y, v});
}

}  // namespace

const std::vector<OdeCase>& ode_cases() {
  static const std::vector<OdeCase> cases = [] {
    std::vector<OdeCase> all;
    all.push_back(first_case(
        "linear", 3,
        [](double, const Vec& y, Vec& d) { d << -0.5 * y[0] + 2 * y[1], -2 * y[0] - 0.5 * y[1], y[0] - y[2]; },
        [](double, const Vec&, Mat& J, Vec&) { J << -0.5, 2, 0, -2, -0.5, 0, 1, 0, -1; }, 2,
        [](double t) {
          // z' = -z + Re exp((-1/2 - 2 i) t)
          const double c = std::cos(2 * t), s = std::sin(2 * t), e = std::exp(-0.5 * t);
          const double re = e * c, im = -e * s, den = 0.25 + 4;
          const double z = (0.5 * re - 2 * im * 1.0) / den;  // Re(exp / (1/2 - 2 i))
          return vec({re, im, z + (1 - 0.5 / den) * std::exp(-t)});
        }));
    all.back().linear = true;
    all.push_back(first_case(
        "logistic", 1, [](double, const Vec& y, Vec& d) { d[0] = y[0] * (1 - y[0]); },
        [](double, const Vec& y, Mat& J, Vec&) { J(0, 0) = 1 - 2 * y[0]; }, 4,
        [](double t) { return vec({1 / (1 + 9 * std::exp(-t))}); }));
    all.push_back(first_case(
        "modulated", 1, [](double t, const Vec& y, Vec& d) { d[0] = y[0] * std::cos(t); },
        [](double t, const Vec& y, Mat& J, Vec& f_t) {
          J(0, 0) = std::cos(t);
          f_t[0] = -y[0] * std::sin(t);
        },
        3, [](double t) { return vec({std::exp(std::sin(t))}); }));
    all.back().linear = true;
    all.push_back(first_case(
        "rational", 1, [](double t, const Vec& y, Vec& d) { d[0] = -2 * t * y[0] * y[0]; },
        [](double t, const Vec& y, Mat& J, Vec& f_t) {
          J(0, 0) = -4 * t * y[0];
          f_t[0] = -2 * y[0] * y[0];
        },
        2, [](double t) { return vec({1 / (1 + t * t)}); }));
    all.push_back(first_case("symmetric top, quaternion", 7, top_f, top_d, 3, top_solution));
    all.push_back(first_case("rotation vector", 3, vector_f, nullptr, 2, vector_solution));
    all.push_back(second_case(
        "driven oscillator", 1,
        [](double t, const Vec& y, const Vec& v, Vec& a) { a[0] = -0.4 * v[0] - 4 * y[0] + std::cos(3 * t); },
        [](double t, const Vec&, const Vec&, Mat& J1, Mat& J2, Vec& f_t) {
          J1(0, 0) = -4;
          J2(0, 0) = -0.4;
          f_t[0] = -3 * std::sin(3 * t);
        },
        3, driven_solution));
    all.back().linear = true;
    all.push_back(second_case(
        "kepler", 2, [](double, const Vec& y, const Vec&, Vec& a) { a = -y / std::pow(y.squaredNorm(), 1.5); },
        [](double, const Vec& y, const Vec&, Mat& J1, Mat&, Vec&) {
          const double r = y.norm();
          J1 = -Mat::Identity(2, 2) / (r * r * r) + 3 / std::pow(r, 5) * y * y.transpose();
        },
        2, kepler_solution));
    all.push_back(second_case(
        "closed loop", 1,
        [](double t, const Vec& y, const Vec& v, Vec& a) {
          const LoopMotion m = loop_motion(t);
          a[0] = loop_free(y[0], v[0]) - loop_free(m.y, m.v) + m.a;
        },
        [](double t, const Vec& y, const Vec& v, Mat& J1, Mat& J2, Vec& f_t) {
          loop_slopes(y[0], v[0], J1(0, 0), J2(0, 0));
          const LoopMotion m = loop_motion(t);
          double by_y = 0, by_v = 0;
          loop_slopes(m.y, m.v, by_y, by_v);
          f_t[0] = -by_y * m.v - by_v * m.a - std::cos(t) - 2.4 * std::cos(2 * t);
        },
        2,
        [](double t) {
          const LoopMotion m = loop_motion(t);
          return vec({m.y, m.v});
        }));
    // Kaps: y1 = y2^2 = exp(-2 t) whatever the stiffness
    all.push_back(first_case(
        "kaps, stiff", 2,
        [](double, const Vec& y, Vec& d) { d << -1002 * y[0] + 1000 * y[1] * y[1], y[0] - y[1] * (1 + y[1]); },
        [](double, const Vec& y, Mat& J, Vec&) { J << -1002, 2000 * y[1], 1, -1 - 2 * y[1]; }, 1,
        [](double t) {
          return vec({std::exp(-2 * t), std::exp(-t)});
        }));
    all.back().stiff = true;
    return all;
  }();
  return cases;
}

const OdeCase& ode_case(const std::string& name) {
  for (const OdeCase& c : ode_cases()) {
    if (c.name == name) return c;
  }
  throw std::runtime_error("no problem '" + name + "'");
}

TurnedOscillators::TurnedOscillators() {
  skew_.setZero(4, 4);
  skew_ << 0, 1, 0.2, 0, -1, 0, 0, 0.3, -0.2, 0, 0, 1.5, 0, -0.3, -1.5, 0;
  matrix_ = skew_;
}

Eval TurnedOscillators::f(double, const Vec& y, Vec& dydt) {
  dydt.resize(4);
  dydt.noalias() = matrix_ * y;
  return Eval::ok;
}

Eval TurnedOscillators::jacobian(double, const Vec&, Jacobian& J, Vec& f_t) {
  J.dense = matrix_;
  f_t.setZero(4);
  return Eval::ok;
}

void TurnedOscillators::error_scales(const Vec&, const Vec&, Vec& scales) const { scales.setOnes(4); }

Eval EndsAtOne::f(double t, const Vec&, Vec& dydt) {
  dydt.resize(1);
  if (rejects_ && t >= 1) return Eval::rejected;
  dydt[0] = 0.5 / std::sqrt(1 - t);
  return Eval::ok;
}

}  // namespace trammel::problems
