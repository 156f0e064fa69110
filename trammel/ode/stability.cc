#include "trammel/ode/stability.h"

#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "trammel/base/numbers.h"
#include "trammel/linalg/eigenvalues.h"
#include "trammel/ode/multistep/multistep_formula.h"
#include "trammel/ode/runge_kutta/butcher.h"
#include "trammel/write/gnuplot.h"

namespace trammel {
namespace {

constexpr double slack = 1e-9;  // round-off of growth on the boundary
constexpr double infinite = std::numeric_limits<double>::infinity();

// y' = lambda y in real numbers, and as a second-order equation with the same roots.
class TestEquation final : public FirstOrderProblem {
 public:
  explicit TestEquation(Complex lambda) : lambda_(lambda) {}
  int size() const override { return 2; }
  Eval f(double /*t*/, const Vec& y, Vec& dydt) override {
    dydt.resize(2);
    dydt << lambda_.real() * y[0] - lambda_.imag() * y[1], lambda_.imag() * y[0] + lambda_.real() * y[1];
    return Eval::ok;
  }
  bool has_jacobian() const override { return true; }
  Eval jacobian(double /*t*/, const Vec& /*y*/, Jacobian& J, Vec& f_t) override {
    J.dense.resize(2, 2);
    J.dense << lambda_.real(), -lambda_.imag(), lambda_.imag(), lambda_.real();
    f_t.setZero(2);
    return Eval::ok;
  }

 private:
  Complex lambda_;
};

class TestOscillator final : public SecondOrderProblem {
 public:
  TestOscillator(double omega, double xi) : stiffness_(omega * omega), damping_(2 * xi * omega) {}
  int freedoms() const override { return 1; }
  Eval acceleration(double /*t*/, const Vec& y, const Vec& v, Vec& a) override {
    a.resize(1);
    a[0] = -stiffness_ * y[0] - damping_ * v[0];
    return Eval::ok;
  }
  bool has_jacobian() const override { return true; }
  Eval acceleration_jacobian(double /*t*/, const Vec& /*y*/, const Vec& /*v*/, Mat& J1, Mat& J2, Vec& f_t) override {
    J1.setConstant(1, 1, -stiffness_);
    J2.setConstant(1, 1, -damping_);
    f_t.setZero(1);
    return Eval::ok;
  }

 private:
  double stiffness_, damping_;
};

[[noreturn]] void refuse_stability(const std::string& why) {
  throw Failure(
      {Severity::error, "no-stability-function", why, "name a method with a fixed formula: see `trammel methods`", {}},
      ExitCode::bad_usage);
}

// Where growth first exceeds 1 along start + r direction, r from 1e-3 to 1e6.
double stable_length(const Growth& growth, Complex direction) {
  const auto stable = [&](double r) { return growth(r * direction) <= 1 + slack; };
  double inside = 0;
  const int steps = 900;
  for (int i = 0; i <= steps; ++i) {
    const double r = std::pow(10.0, -3 + 9.0 * i / steps);
    if (!stable(r)) {
      double low = inside, high = r;
      for (int k = 0; k < 60; ++k) (stable(0.5 * (low + high)) ? low : high) = 0.5 * (low + high);
      return low < 0.02 ? 0 : low;  // below it round-off cannot tell
    }
    inside = r;
  }
  return infinite;
}

}  // namespace

Complex stability_function(const Mat& A, const Vec& b, Complex z) {
  const auto s = b.size();
  Eigen::MatrixXcd matrix = Eigen::MatrixXcd::Identity(s, s) - z * A.cast<Complex>();
  const CVec ones = CVec::Ones(s);
  const CVec stages = matrix.partialPivLu().solve(ones);
  Complex sum = 0;
  for (Eigen::Index i = 0; i < s; ++i) sum += b[i] * stages[i];
  return 1.0 + z * sum;
}

// A Rosenbrock method on a linear equation is the Runge-Kutta method with A + Gamma.
Complex stability_function(const RosenbrockTableau& tableau, Complex z) {
  const int s = tableau.stages;
  Mat B(s, s);
  Vec b(s);
  for (int i = 0; i < s; ++i) {
    const auto at = static_cast<std::size_t>(i);
    b[i] = tableau.b[at];
    for (int j = 0; j < s; ++j) B(i, j) = tableau.A[at][j] + tableau.G[at][j];
  }
  return stability_function(B, b, z);
}

// One step with h = 1: the unknown x from the balance, then positions, velocity and the method's acceleration.
Eigen::Matrix3d amplification(const StructuralParameters& p, double Omega, double xi) {
  using Balance = StructuralParameters::Balance;
  const double k = Omega * Omega, d = 2 * xi * Omega, H = p.theta;
  Eigen::Matrix3d out;
  for (int column = 0; column < 3; ++column) {
    const Eigen::Vector3d e = Eigen::Vector3d::Unit(column);
    const double y = e[0], v = e[1], a = e[2], f = -k * y - d * v;
    double base_y = y + H * v, base_v = v;
    if (p.balance != Balance::midpoint) {
      base_y += H * H * (0.5 - p.beta) * a;
      base_v += H * (1 - p.gamma) * a;
    }
    const double cy = p.beta * H * H, cv = p.gamma * H;
    // (1 - am) x + am a = (1 - af) (-k (base_y + cy x) - d (base_v + cv x)) + af f
    const double x = ((1 - p.alpha_f) * (-k * base_y - d * base_v) + p.alpha_f * f - p.alpha_m * a) /
                     (1 - p.alpha_m + (1 - p.alpha_f) * (k * cy + d * cv));
    double a_new = x, y_new = base_y + cy * x, v_new = base_v + cv * x;
    if (p.balance == Balance::collocation) {
      a_new = a + (x - a) / p.theta;
      y_new = y + v + (0.5 - p.beta) * a + p.beta * a_new;
      v_new = v + (1 - p.gamma) * a + p.gamma * a_new;
    } else if (p.balance == Balance::midpoint) {
      y_new = y + v + 0.5 * x;
      v_new = v + x;
      a_new = 0;  // does not enter the next step
    }
    out.col(column) << y_new, v_new, a_new;
  }
  return out;
}

double growth_of(const StructuralParameters& parameters, Complex z) {
  const double Omega = std::abs(z), xi = Omega > 0 ? -z.real() / Omega : 0;
  return general_eigenvalues(amplification(parameters, Omega, xi)).cwiseAbs().maxCoeff();
}

Growth growth_by_running(const OdeMethodInfo& method, const OdeSettings& settings) {
  if (!method.make_first_order) refuse_stability("method '" + method.key + "' does not integrate y' = f");
  TestEquation probe(Complex(-1, 0));
  if (method.make_first_order(probe, settings)->memory() > 1)
    refuse_stability("method '" + method.key + "' remembers earlier steps or chooses its order: no single function");
  return [&method, settings](Complex z) {
    TestEquation problem(z);
    const std::unique_ptr<OdeMethod> one = method.make_first_order(problem, settings);
    one->start(0, Vec::Unit(2, 0));
    if (one->attempt(1).verdict != Verdict::ok) return infinite;
    return std::hypot(one->trial()[0], one->trial()[1]);
  };
}

Growth growth_of(const std::string& name, const Fields& options, const Location& where) {
  if (name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with(".json")) {
    const ButcherTableau table = read_tableau(name);
    return [table](Complex z) { return std::abs(table.stability(z)); };
  }
  for (const std::string family : {"adams-bashforth", "adams-moulton", "bdf"}) {
    if (name.size() != family.size() + 2 || !name.starts_with(family + "-")) continue;
    const int k = name.back() - '0';
    if (k < 1 || k > (family == "bdf" ? 6 : 5)) break;
    const MultistepFormula formula = family == "bdf"             ? MultistepFormula::bdf(k)
                                     : family == "adams-moulton" ? MultistepFormula::adams_moulton(k)
                                                                 : MultistepFormula::adams_bashforth(k);
    return [formula](Complex z) { return formula.growth(z); };
  }
  const OdeMethodInfo& method = find_ode_method(name, where);
  OdeSettings settings;
  settings.fixed_step = true;
  settings.options = options;
  settings = resolve_settings(method, settings, where);
  if (method.formula != nullptr) return [formula = method.formula(settings)](Complex z) { return formula.growth(z); };
  if (method.structural != nullptr)
    return [parameters = method.structural(settings)](Complex z) { return growth_of(parameters, z); };
  return growth_by_running(method, settings);
}

StabilitySummary summarise_stability(const Growth& growth) {
  StabilitySummary s;
  s.real_interval = stable_length(growth, {-1, 0});
  s.imaginary_interval = stable_length(growth, {0, 1});
  s.at_infinity = growth({-1e8, 0});
  const auto ray = [&](double degrees) {  // stable all along it?
    const double angle = degrees * std::numbers::pi / 180;
    const Complex direction(-std::cos(angle), std::sin(angle));
    for (int i = 0; i <= 700; ++i) {
      if (growth(std::pow(10.0, -3 + 8.0 * i / 700) * direction) > 1 + slack) return false;
    }
    return true;
  };
  s.a_stable = std::isinf(s.imaginary_interval) && std::isinf(s.real_interval) && ray(60) && ray(30);
  if (s.a_stable) {
    s.angle = 90;
  } else if (std::isinf(s.real_interval)) {
    double low = 0, high = 90;
    for (int k = 0; k < 14; ++k) (ray(0.5 * (low + high)) ? low : high) = 0.5 * (low + high);
    s.angle = low;
  }
  s.l_stable = s.a_stable && s.at_infinity < 1e-6;
  return s;
}

namespace {

// Principal roots and free motion from the amplification matrix of (y, h v[, ...]).
OscillationErrors from_matrix(const Mat& A, double Omega) {
  OscillationErrors out;
  const CVec roots = general_eigenvalues(A);
  out.radius = roots.cwiseAbs().maxCoeff();
  Complex principal = 0;
  for (Eigen::Index i = 0; i < roots.size(); ++i) {
    if (roots[i].imag() > 1e-12 && std::abs(roots[i]) > std::abs(principal)) principal = roots[i];
  }
  out.oscillates = principal != Complex(0);
  if (out.oscillates) {
    const double phase = std::arg(principal), size = std::log(std::abs(principal));
    out.damping_ratio = -size / std::hypot(phase, size);
    out.decay = 1 - std::exp(size * 2 * std::numbers::pi / phase);
    out.period_elongation = Omega / phase - 1;
  }
  Vec state = Vec::Zero(A.rows());
  state[0] = 1;
  if (A.rows() > 2) state[2] = -Omega * Omega;
  for (int i = 0; i < 10; ++i) {
    state = A * state;
    out.overshoot = std::max(out.overshoot, std::abs(state[0]) - 1);
  }
  return out;
}

}  // namespace

OscillationErrors oscillation_errors(const StructuralParameters& parameters, double Omega) {
  return from_matrix(amplification(parameters, Omega), Omega);
}

OscillationErrors oscillation_errors(const OdeMethodInfo& method, const OdeSettings& settings, double Omega) {
  if (method.structural != nullptr) return oscillation_errors(method.structural(settings), Omega);
  Mat A(2, 2);
  for (int column = 0; column < 2; ++column) {
    TestOscillator problem(Omega, 0);
    const std::unique_ptr<OdeMethod> one = method.make_second_order  ? method.make_second_order(problem, settings)
                                           : method.make_first_order ? method.make_first_order(problem, settings)
                                                                     : nullptr;
    if (!one || one->memory() > 1)
      refuse_stability("method '" + method.key + "' is not a one-step method for y' = f or y'' = f");
    one->start(0, Vec::Unit(2, column));
    if (one->attempt(1).verdict != Verdict::ok) refuse_stability("the test oscillator cannot be integrated");
    A.col(column) = one->trial();
  }
  return from_matrix(A, Omega);
}

// ---- Pictures
// --------------------------------------------------------------------------------------------------------

std::string stability_picture(const std::vector<StabilityCurve>& curves, const StabilityWindow& w,
                              const std::string& terminal, int points) {
  static constexpr const char* colours[] = {"#1f4e79", "#c0392b", "#1e8449", "#8e44ad", "#b9770e", "#555555"};
  std::string script = fmt::format(
      "set terminal {}\nset termoption noenhanced\nset xlabel 'Re(h lambda)'\nset ylabel 'Im(h lambda)'\n"
      "set xrange [{}:{}]\nset yrange [{}:{}]\nset size ratio -1\nset xzeroaxis lt -1 lc '#999999'\n"
      "set yzeroaxis lt -1 lc '#999999'\nset key top right\nset grid lc '#dddddd'\n",
      terminal, w.left, w.right, -w.height, w.height);
  for (std::size_t i = 0; i < curves.size(); ++i) {
    script += fmt::format("$map{} << EOD\n", i);
    for (int row = 0; row <= points; ++row) {
      const double y = w.height * (2.0 * row / points - 1);
      for (int column = 0; column <= points; ++column) {
        const double x = w.left + (w.right - w.left) * column / points;
        // Symmetric about the real axis; capped, so that poles do not spoil the contour's neighbourhood.
        const double g = std::min(curves[i].growth({x, std::abs(y)}), 4.0);
        script += fmt::format("{:.5g} {:.5g} {:.6g}\n", x, y, std::isfinite(g) ? g : 4.0);
      }
      script += "\n";
    }
    script += "EOD\n";
  }
  for (std::size_t i = 0; i < curves.size(); ++i)
    script += fmt::format(
        "set contour base\nset cntrparam levels discrete 1.000001\nunset surface\nset table $line{0}\n"
        "splot $map{0} using 1:2:3\nunset table\nset surface\nunset contour\n",
        i);
  script += "set palette defined (0 '#dbe9f6', 1 '#dbe9f6')\nunset colorbox\nplot ";
  script += fmt::format("$map0 using 1:2:($3 <= 1.000001 ? 0 : NaN) with image notitle");
  for (std::size_t i = 0; i < curves.size(); ++i)
    script += fmt::format(", $line{} using 1:2 with lines lw 2 lc rgb '{}' title {}", i, colours[i % 6],
                          gnuplot_string(curves[i].title));
  return script + "\n";
}

std::string oscillation_picture(const std::vector<std::pair<std::string, StructuralParameters>>& methods,
                                const std::string& terminal) {
  static constexpr const char* colours[] = {"#1f4e79", "#c0392b", "#1e8449", "#8e44ad", "#b9770e", "#555555"};
  std::string script = fmt::format(
      "set terminal {}\nset termoption noenhanced\nset multiplot layout 2,2\nset xlabel 'omega h / (2 pi)'\n"
      "set grid lc '#dddddd'\nset key top left\n",
      terminal);
  for (std::size_t i = 0; i < methods.size(); ++i) {
    script += fmt::format("$m{} << EOD\n", i);
    for (int k = 0; k <= 240; ++k) {
      const double x = std::pow(10.0, -2 + 4.0 * k / 240);
      const OscillationErrors e = oscillation_errors(methods[i].second, 2 * std::numbers::pi * x);
      script +=
          fmt::format("{:.6g} {:.8g} {} {} {:.8g}\n", x, e.radius, e.oscillates ? digits(e.damping_ratio, 8) : "NaN",
                      e.oscillates ? digits(e.period_elongation, 8) : "NaN", e.overshoot);
    }
    script += "EOD\n";
  }
  struct Panel {
    const char *title, *range, *column;
  };
  for (const Panel& panel :
       {Panel{"spectral radius", "set logscale x\nset xrange [0.01:100]\nset yrange [0:1.1]", "2"},
        Panel{"numerical damping ratio", "unset logscale\nset xrange [0:0.4]\nset yrange [0:*]", "3"},
        Panel{"period elongation", "set xrange [0:0.4]\nset yrange [0:*]", "4"},
        Panel{"overshoot of the first ten steps from rest at y = 1",
              "set logscale x\nset xrange [0.01:100]\nset yrange [0:*]", "5"}}) {
    script += fmt::format("{}\nset title {}\nplot ", panel.range, gnuplot_string(panel.title));
    for (std::size_t i = 0; i < methods.size(); ++i)
      script += fmt::format("{}$m{} using 1:{} with lines lw 2 lc rgb '{}' title {}", i > 0 ? ", " : "", i,
                            panel.column, colours[i % 6], gnuplot_string(methods[i].first));
    script += "\n";
  }
  return script + "unset multiplot\n";
}

}  // namespace trammel
