// What HHT at index 3 does, measured: orders of positions, velocities and multipliers; the error estimate's slope;
// steps over the tolerance; the work of Newton's corrector with start values of degree 0 and adaptive, with kept
// derivatives and other constants c; rejections and noise of multipliers when the step size changes.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>

#include "studies/hht_atv.h"
#include "studies/hht_machines.h"
#include "studies/printed.h"
#include "studies/study.h"
#include "trammel/base/data_directory.h"
#include "trammel/initial/accelerations.h"
#include "trammel/ode/control/step_controller.h"
#include "trammel/write/plot.h"

namespace trammel {
namespace hht_study {
namespace {

using Json = nlohmann::json;

const char* const prototype =
    "a prototype in x, y and lambda with the paper's formulas (43), (45), (47), c = 1e-3, s = 0.9, growth at most 5";
using Options = std::vector<std::string>;

std::string label(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

Model load(const std::string& file, const ModelChanges& changes = {}) {
  return load_model((data_directory() / "models" / file).string(), changes);
}

// The default of an option of HHT.
double default_of(std::string_view option) {
  for (const Field& field : find_method("hht-i3", {}).options) {
    if (field.name == option) return std::get<double>(*field.fallback);
  }
  throw Failure({Severity::error, "unknown-option", "hht-i3 has no option " + std::string(option), "", {}});
}

double per_step(long count, const RunSummary& s) {
  return static_cast<double>(count) / static_cast<double>(std::max(1L, s.steps));
}
double rejected(const RunSummary& s) {
  return static_cast<double>(s.rejected_error + s.rejected_newton + s.rejected_evaluation + s.rejected_angle);
}

// ---- Orders -------------------------------------------------------------------------------------------------------

// Positions, velocities and multipliers on a grid: those of the method itself at accepted steps, and the multipliers
// that satisfy the equations of motion at these states (as in every output).
struct Grid {
  std::vector<Vec> q, v, lambda, reported;
};

Grid fixed_run(const std::string& file, const std::string& method, const Options& options, double h, double end,
               double grid) {
  Options all = options;
  all.push_back("corrector=1e-8");
  Simulation simulation(load(file, {.method = method, .step = h, .end = end, .options = all}));
  simulation.start();
  Integrator& integrator = simulation.integrator();
  const Equations& e = simulation.equations();
  AccelerationSolver accelerations(e);
  Workspace work = e.make_workspace();
  Rates rates = e.make_rates();
  Grid out;
  const auto every = static_cast<long>(std::lround(grid / h)), steps = static_cast<long>(std::lround(end / h));
  for (long n = 1; n <= steps; ++n) {
    if (integrator.attempt(h).verdict != Verdict::ok) {
      throw Failure({Severity::error, "run-failed", file + ": a fixed step of " + label("%g s fails", h), "", {}},
                    ExitCode::failed_run);
    }
    integrator.accept();
    if (n % every != 0) continue;
    out.q.push_back(integrator.state().q);
    out.v.push_back(integrator.state().v);
    out.lambda.push_back(integrator.rates().lambda);
    State projected = integrator.state();
    accelerations.project(projected, work);
    accelerations.solve(projected, rates, work);
    out.reported.push_back(rates.lambda);
  }
  return out;
}

double grid_error(const std::vector<Vec>& ours, const std::vector<Vec>& exact, std::size_t from) {
  double largest = 0;
  for (std::size_t i = from; i < ours.size(); ++i)
    largest = std::max(largest, (ours[i] - exact[i]).lpNorm<Eigen::Infinity>());
  return largest;
}

struct OrderCase {
  const char* file;
  double end, grid, coarsest, finest;  // the reference takes the finest step
};

void orders(const StudyContext& context, std::vector<Row>& rows) {
  struct Variant {
    const char* method;
    const char* option;
    bool multipliers;  // do they converge?
  };
  const Variant variants[] = {{"hht-i3", "alpha=-0.05", true},
                              {"hht-i3", "alpha=-0.1", true},
                              {"hht-i3", "alpha=-0.3", true},
                              {"hht-i3", "alpha=-0.333333333333333", true},
                              {"generalized-alpha-i3", "rho_inf=0.6", true},
                              {"generalized-alpha-i3", "rho_inf=0.9", true}};
  PlotRequest plot;
  plot.title = "HHT (alpha = -0.3) with fixed steps: errors over the step size";
  plot.xlabel = "step size, s";
  plot.logx = true;
  for (const OrderCase& c : {OrderCase{"spatial_slider_crank.yaml", 1.0, 0.02, 5e-4, 1e-5},
                             OrderCase{"heavy_top.yaml", 0.4, 0.02, 1e-3, 1e-5}}) {
    const std::string table = "orders: " + std::string(c.file).substr(0, std::string(c.file).find('.'));
    context.note(table);
    const Grid exact = fixed_run(c.file, "hht-i3", {"alpha=-0.05"}, c.finest, c.end, c.grid);
    for (const Variant& variant : variants) {
      const std::string row = std::string(variant.method) + ", " + std::string(variant.option).substr(0, 11);
      guard(rows, table, row, [&] {
        std::vector<double> hs, eq, ev, el, er;
        for (double h = c.coarsest; h > 0.1 * c.coarsest; h /= 2) {
          const Grid g = fixed_run(c.file, variant.method, {variant.option}, h, c.end, c.grid);
          hs.push_back(h);
          eq.push_back(grid_error(g.q, exact.q, 0));
          ev.push_back(grid_error(g.v, exact.v, 0));
          el.push_back(grid_error(g.lambda, exact.reported, g.q.size() / 2));
          er.push_back(grid_error(g.reported, exact.reported, 0));
        }
        const auto order = [&](const char* quantity, const std::vector<double>& errors) {
          rows.push_back(Row::near(table, row, quantity, 2, fitted_order(hs, errors), 0.1)
                             .because("theory; a tenth for a fit over four halvings"));
        };
        order("order of positions", eq);
        order("order of velocities", ev);
        order("order of the method's multipliers, second half", el);
        order("order of reported multipliers", er);
        if (std::string(variant.option) != "alpha=-0.3") return;
        PlotPanel panel{std::string(c.file).substr(0, std::string(c.file).find('.')), {}, true};
        panel.curves.push_back({hs, eq, "positions, m or 1", PlotStyle::linespoints, false});
        panel.curves.push_back({hs, ev, "velocities, m/s or rad/s", PlotStyle::linespoints, false});
        panel.curves.push_back(
            {hs, el, "the method's multipliers, second half, N or N m", PlotStyle::linespoints, false});
        panel.curves.push_back({hs, er, "reported multipliers, N or N m", PlotStyle::linespoints, false});
        std::vector<double> second;
        for (const double h : hs) second.push_back(0.3 * eq[0] * h * h / (hs[0] * hs[0]));
        panel.curves.push_back({hs, second, "slope 2", PlotStyle::lines, true});
        plot.panels.push_back(panel);
      });
    }
  }
  if (const auto file = context.picture("hht_orders.png"); file && !plot.panels.empty()) draw_plot(plot, *file);
}

void error_estimate(std::vector<Row>& rows) {
  const std::string table = "error estimate (25)";
  struct Case {
    const char* file;
    double coarsest, end;
  };
  for (const Case& c : {Case{"spatial_slider_crank.yaml", 2e-3, 1}, Case{"heavy_top.yaml", 1e-3, 0.4},
                        Case{"hht_pendulum.yaml", 1e-2, 5}}) {
    const std::string name = std::string(c.file).substr(0, std::string(c.file).find('.'));
    for (const double alpha : {-0.3, -0.1}) {
      guard(rows, table, name, [&] {
        std::vector<double> hs, es;
        for (double h = c.coarsest; h > 0.1 * c.coarsest; h /= 2) {
          const ModelRun run =
              run_model(c.file, {.step = h, .end = c.end, .options = {label("alpha=%.1f", alpha), "corrector=1e-8"}});
          const std::vector<double> e = run.column("solver.error");
          double sum = 0;  // root mean square in the second half, after the start-up
          const std::size_t half = e.size() / 2;
          for (std::size_t i = half; i < e.size(); ++i) sum += e[i] * e[i];
          hs.push_back(h);
          es.push_back(std::sqrt(sum / static_cast<double>(e.size() - half)));
        }
        rows.push_back(Row::near(table, name + label(", alpha %.1f", alpha), "slope of the estimate over h", 3,
                                 fitted_order(hs, es), 0.1)
                           .because("(25): the estimate is of the order h^3; a tenth for a fit over four halvings"));
      });
    }
  }
}

// ---- Variable steps -----------------------------------------------------------------------------------------------

struct Benchmark {
  const char* file;
  const char* reference;
  std::vector<std::pair<const char*, const char*>> compare;  // signal, column
  bool typical;                                              // also in the tables of the corrector's constants
};

const std::vector<Benchmark>& benchmarks() {
  static const std::vector<Benchmark> list{
      {"iftomm_a01_pendulum", "iftomm_a01_pendulum", {{"x", "x"}, {"y", "y"}}, true},
      {"spatial_slider_crank", "spatial_slider_crank", {{"theta", "theta"}}, true},
      {"andrews_squeezer", "andrews_squeezer", {{"beta", "beta"}}, false},
      {"iftomm_a02_nfourbar_N2", "iftomm_a02_nfourbar_N2", {{"x_B0", "x_B0"}, {"y_B0", "y_B0"}}, true},
      {"iftomm_a05_flyball", "iftomm_a05_flyball", {{"s", "s"}}, false},
      {"heavy_top", "heavy_top", {{"x", "x"}, {"y", "y"}, {"z", "z"}}, true}};
  return list;
}

double error_of(const Benchmark& p, const ModelRun& run) {
  const Reference reference = read_reference(std::string("data/cases/") + p.reference + ".csv");
  double largest = 0;
  for (const auto& pair : p.compare) largest = std::max(largest, max_error(run, pair.first, reference, pair.second));
  return largest;
}

void work_and_precision(const StudyContext& context, std::vector<Row>& rows) {
  const std::string table = "steps and error over the tolerance";
  PlotRequest plot;
  plot.title = "Work and precision of HHT with controlled steps (alpha = -0.3)";
  plot.xlabel = "evaluations of the equations";
  plot.logx = true;
  PlotPanel panel{"largest error", {}, true};
  for (const Benchmark& p : benchmarks()) {
    context.note(std::string("work and precision: ") + p.file);
    guard(rows, table, p.file, [&] {
      std::vector<double> tolerances, steps, errors, work;
      for (int k = 4; k <= 9; ++k) {
        const double tolerance = std::pow(10.0, -k);
        const ModelRun run = run_model(std::string(p.file) + ".yaml", {.tolerance = tolerance});
        tolerances.push_back(tolerance);
        steps.push_back(static_cast<double>(run.result.summary.steps));
        work.push_back(static_cast<double>(run.result.summary.counts.evaluations));
        errors.push_back(error_of(p, run));
        const std::string row = p.file + label(", tolerance %.0e", tolerance);
        rows.push_back(Row::measure(table, row, "steps", steps.back())
                           .because("their slope over the tolerance has the bound, below"));
        rows.push_back(Row::measure(table, row, "rejected", rejected(run.result.summary))
                           .because("at one of the tolerances it has a bound: the table of changes of the step size"));
        rows.push_back(Row::measure(table, row, "largest error", errors.back())
                           .because("its slope over the tolerance has the bound, below"));
      }
      const auto tail = [](const std::vector<double>& y) { return std::vector<double>(y.begin() + 2, y.end()); };
      rows.push_back(Row::near(table, std::string(p.file) + ", 1e-6 ... 1e-9", "slope of steps over tolerance",
                               -1.0 / 3, fitted_order(tail(tolerances), tail(steps)), 0.02)
                         .because("theory: the error of a step goes with h^3"));
      rows.push_back(
          Row::at_least(table, std::string(p.file) + ", 1e-6 ... 1e-9", "slope of the error over tolerance",
                        2.0 / 3 - 0.1, fitted_order(tail(tolerances), tail(errors)))
              .because("theory: order 2 with steps that go with the third root of the tolerance; a tenth for "
                       "the fit, and more where coarse runs are worse than that"));
      panel.curves.push_back({work, errors, p.file, PlotStyle::linespoints, false});
    });
  }
  plot.panels = {panel};
  plot.width = 1000;
  plot.height = 650;
  if (const auto file = context.picture("hht_work_precision.png"); file && !panel.curves.empty())
    draw_plot(plot, *file);
}

// The constants of Newton's corrector: what they cost and what they spoil. `variants` are options; the first is the
// reference.
void corrector(const StudyContext& context, std::vector<Row>& rows, const std::string& table,
               const std::vector<Options>& variants, const std::vector<std::string>& names) {
  for (const Benchmark& p : benchmarks()) {
    if (!p.typical) continue;
    context.note(table + ": " + p.file);
    double first = 0;
    for (std::size_t i = 0; i < variants.size(); ++i) {
      const std::string row = std::string(p.file) + ", " + names[i];
      guard(rows, table, row, [&] {
        const ModelRun run = run_model(std::string(p.file) + ".yaml", {.tolerance = 1e-7, .options = variants[i]});
        const RunSummary& s = run.result.summary;
        const char* const worth = "what the constant buys, for comparison; that it spoils no accuracy has the bound";
        rows.push_back(Row::measure(table, row, "Newton iterations a step", per_step(s.counts.newton_iterations, s))
                           .because(worth));
        rows.push_back(
            Row::measure(table, row, "linearisations a step", per_step(s.counts.linearisations, s)).because(worth));
        const double error = error_of(p, run);
        if (i == 0) first = error;
        if (i == 0 || names[i] == "c 1e-2") {
          rows.push_back(Row::measure(table, row, "largest error", error)
                             .because(i == 0 ? "the first of the variants: the others are compared with it"
                                             : "looser than the paper's c: why it is not taken"));
          return;
        }
        // What the default corrector leaves shows where the cranks of this ladder lie flat; with c = 1e-4 it is gone.
        const bool ladder =
            p.file == std::string("iftomm_a02_nfourbar_N2") && (names[i] == "keep_rate 0.3" || names[i] == "c 1e-3");
        rows.push_back(
            Row::near(table, row, "largest error (target: the first variant's)", first, error, 0.25 * first)
                .because("constants of the corrector must cost work, not accuracy; a quarter, because other "
                         "corrections end steps elsewhere")
                .missed_for(ladder ? "at the singular positions of this ladder the thousandth of a step's error "
                                     "that the default corrector leaves shows; with c = 1e-4 it is gone"
                                   : ""));
      });
    }
  }
}

void predictor(const StudyContext& context, std::vector<Row>& rows) {
  const std::string table = "start values of degree 0 and adaptive, tolerance 1e-7";
  for (const Benchmark& p : benchmarks()) {
    context.note(table + ": " + p.file);
    guard(rows, table, p.file, [&] {
      double iterations[2] = {0, 0};
      for (const int degree : {0, 3}) {
        const ModelRun run = run_model(std::string(p.file) + ".yaml",
                                       {.tolerance = 1e-7, .options = {"predictor_degree=" + std::to_string(degree)}});
        iterations[degree / 3] = per_step(run.result.summary.counts.newton_iterations, run.result.summary);
      }
      rows.push_back(Row::measure(table, p.file, "Newton iterations a step, degree 0", iterations[0])
                         .because("what the adaptive ones are compared with"));
      rows.push_back(Row::at_most(table, p.file, "Newton iterations a step, adaptive (target: degree 0)", iterations[0],
                                  iterations[1])
                         .because("start values that are extrapolated must not cost more than the last ones"));
    });
  }
}

// ---- The pendulum of the tables -----------------------------------------------------------------------------------

// Jacobi's sn, cn, dn of parameter m by the arithmetic-geometric mean (Abramowitz, Stegun 16.4).
struct Elliptic {
  double sn, cn, dn;
};

Elliptic jacobi(double u, double m) {
  double a[20], c[20];
  a[0] = 1;
  c[0] = std::sqrt(m);
  double b = std::sqrt(1 - m);
  int n = 0;
  while (std::abs(c[n]) > 1e-16 && n < 19) {
    a[n + 1] = 0.5 * (a[n] + b);
    c[n + 1] = 0.5 * (a[n] - b);
    b = std::sqrt(a[n] * b);
    ++n;
  }
  double phi = std::ldexp(a[n] * u, n);
  for (int i = n; i > 0; --i) phi = 0.5 * (phi + std::asin(c[i] / a[i] * std::sin(phi)));
  const double sn = std::sin(phi);
  return {sn, std::cos(phi), std::sqrt(1 - m * sn * sn)};
}

// Released from the horizontal at x = -1: sin(theta/2) = -k sn(K - w t), theta from the downward vertical.
struct PendulumState {
  double x, y, vx, vy, tension;
};

PendulumState pendulum(double t) {
  const double g = 9.81, w = std::sqrt(g), m = 0.5, k = std::sqrt(m);
  const double K = std::comp_ellint_1(k);
  const Elliptic e = jacobi(K - w * t, m);
  const double half = -k * e.sn, theta = 2 * std::asin(half), rate = 2 * k * w * e.cn;
  return {std::sin(theta), -std::cos(theta), rate * std::cos(theta), rate * std::sin(theta),
          rate * rate + g * std::cos(theta)};
}

struct PendulumRun {
  double steps = 0, rejected = 0, newton = 0, position = 0, velocity = 0, lambda = 0, reported = 0;
  std::vector<double> t, noise;
};

// The time loop of a run with its own eyes on the method's multiplier after every step.
PendulumRun pendulum_run(double tolerance, double gain, Options options) {
  options.push_back(label("step_gain=%.17g", gain));
  Simulation simulation(load("hht_pendulum.yaml", {.tolerance = tolerance, .options = options}));
  simulation.start();
  Integrator& integrator = simulation.integrator();
  const Equations& e = simulation.equations();
  AccelerationSolver accelerations(e);
  Workspace work = e.make_workspace();
  Rates rates = e.make_rates();
  Stepper& stepper = simulation.stepper();
  const double end = e.model().simulation.end;
  PendulumRun out;
  std::vector<double> lambda_error, reported_error;
  long iterations = 0;
  while (stepper.t() < end) {
    stepper.plan(end);
    const bool good = stepper.attempt();
    iterations += stepper.last_attempt().newton_iterations;
    if (!good) {
      out.rejected += 1;
      stepper.refuse();
      if (stepper.rule().next() < 1e-12)
        throw Failure({Severity::error, "run-failed", "the step size falls to nothing", "", {}}, ExitCode::failed_run);
      continue;
    }
    stepper.accept();
    out.steps += 1;
    const State& s = integrator.state();
    const PendulumState exact = pendulum(s.t);
    out.position = std::max({out.position, std::abs(s.q[0] - exact.x), std::abs(s.q[1] - exact.y)});
    out.velocity = std::max({out.velocity, std::abs(s.v[0] - exact.vx), std::abs(s.v[1] - exact.vy)});
    State projected = s;
    accelerations.project(projected, work);
    accelerations.solve(projected, rates, work);
    lambda_error.push_back(std::abs(std::abs(integrator.rates().lambda[0]) - std::abs(exact.tension)));
    reported_error.push_back(std::abs(std::abs(rates.lambda[0]) - std::abs(exact.tension)));
    out.t.push_back(s.t);
    out.noise.push_back(std::max(1e-9, lambda_error.back()));
  }
  out.newton = static_cast<double>(iterations) / out.steps;
  for (std::size_t i = lambda_error.size() / 10; i < lambda_error.size(); ++i) {
    out.lambda = std::max(out.lambda, lambda_error[i]);
    out.reported = std::max(out.reported, reported_error[i]);
  }
  return out;
}

// With the paper's formulas: what the prototype gives with them.
void published_rows(std::vector<Row>& rows, const std::string& table, const std::string& row, const PendulumRun& run,
                    const Json& p) {
  const auto number = [&](const char* key) { return p[key].get<double>(); };
  rows.push_back(
      Row::near(table, row, "steps", number("steps"), run.steps, 2)
          .with({"hht.sec32.weight.floor"})
          .because("the same formulas on the same problem: a step or two where round-off decides a rejection")
          .beside(number("steps"), prototype));
  const auto error = [&](const char* quantity, const char* key, double ours) {
    const double unit = std::pow(10.0, std::floor(std::log10(number(key))) - 1);
    rows.push_back(Row::near(table, row, quantity, number(key), ours, 1.01 * unit)
                       .because("the prototype's errors have two digits: a unit of the second")
                       .beside(number(key), prototype));
  };
  error("largest error of positions, m", "position", run.position);
  error("largest error of velocities, m/s", "velocity", run.velocity);
  rows.push_back(
      Row::measure(table, row, "rejected", run.rejected).because(why::work).beside(number("rejected"), prototype));
  rows.push_back(
      Row::at_least(table, row, "Newton iterations a step", printed_value("hht.sec34.iterations.least"), run.newton)
          .printed_as("hht.sec34.iterations.least")
          .because("(45) needs two corrections to know a rate")
          .beside(number("newton"), prototype));
}

// With other gains and defaults: not worse than the prototype.
void variant_rows(std::vector<Row>& rows, const std::string& table, const std::string& row, const PendulumRun& run,
                  const Json& p, double gain) {
  const auto number = [&](const char* key) { return p[key].get<double>(); };
  rows.push_back(Row::measure(table, row, "steps", run.steps).because(why::work).beside(number("steps"), prototype));
  rows.push_back(Row::at_most(table, row, "largest error of positions, m", 1.2 * number("position"), run.position)
                     .because("the prototype's and a fifth: other steps, the same tolerance")
                     .beside(number("position"), prototype));
  rows.push_back((gain < 1 ? Row::at_most(table, row, "rejected", number("rejected"), run.rejected)
                                 .because("a gain below 1 is there to reject less than the rule as published")
                           : Row::measure(table, row, "rejected", run.rejected).because(why::work))
                     .beside(number("rejected"), prototype));
  rows.push_back(Row::at_most(table, row, "largest error of the reported multiplier, N", run.lambda, run.reported)
                     .because("multipliers are reported from the state because they are better than the method's own"));
  rows.push_back(Row::measure(table, row, "Newton iterations a step", run.newton)
                     .because(why::work)
                     .beside(number("newton"), prototype));
}

void pendulum_table(const StudyContext& context, std::vector<Row>& rows) {
  const Json prototypes = read_data("hht.json");
  PlotRequest plot;
  plot.title = "Pendulum with controlled steps: error of the rod's force";
  plot.subtitle = "HHT, alpha = -0.3, tolerance 1e-5; the multiplier of the method itself, not the reported one";
  plot.xlabel = "time, s";
  plot.style = PlotStyle::linespoints;
  PlotPanel panel{"error of the method's multiplier, N", {}, true};
  // The prototype's norm averages over x and y, ours over the three coordinates of a point: the same test at sqrt(2/3)
  // of the tolerance. Rows name the tolerance that is run.
  const double same_test = std::sqrt(2.0 / 3);
  struct Variant {
    const char* name;
    Options options;
    double gain;
    bool published;
  };
  const Options simple{"predictor_degree=0", "keep_rate=0"};
  const Variant variants[] = {{"as published", simple, 1, true},
                              {"gain 0.4", simple, 0.4, false},
                              {"our defaults", {}, default_of("step_gain"), false}};
  for (const Variant& variant : variants) {
    const std::string table = std::string("pendulum with controlled steps, ") + variant.name;
    for (const Json& p : prototypes["variable"]) {
      const double tolerance = p["tolerance"].get<double>(), alpha = p["alpha"].get<double>();
      const std::string row = label("alpha %.1f, ", alpha) + label("tolerance %.3g", same_test * tolerance) +
                              label(" (the prototype's %.0e)", tolerance);
      context.note(table + ", " + row);
      guard(rows, table, row, [&] {
        Options options = variant.options;
        options.push_back(label("alpha=%.1f", alpha));
        const PendulumRun run = pendulum_run(same_test * tolerance, variant.gain, options);
        if (variant.published)
          published_rows(rows, table, row, run, p);
        else
          variant_rows(rows, table, row, run, p, variant.gain);
        rows.push_back(Row::measure(table, row, "largest error of the method's multiplier, N", run.lambda)
                           .because("noise of step changes, by luck of the last of them")
                           .beside(p["lambda"].get<double>(), prototype));
        const bool drawn = variant.published || variant.options.empty();
        if (drawn && alpha == -0.3 && tolerance == 1e-5)
          panel.curves.push_back({run.t, run.noise, variant.name, {}, false});
      });
    }
  }
  plot.panels = {panel};
  plot.width = 1000;
  plot.height = 600;
  if (const auto file = context.picture("hht_multiplier_noise.png"); file && !panel.curves.empty())
    draw_plot(plot, *file);
}

// A change of the step size disturbs the acceleration variable, which the error estimate sees: how much of a change is
// made at once.
void step_changes(const StudyContext& context, std::vector<Row>& rows) {
  const std::string table = "changes of the step size, tolerance 1e-7";
  for (const Benchmark& p : benchmarks()) {
    context.note(table + ": " + p.file);
    const Options variants[] = {{"step_gain=1"}, {"step_gain=0.4"}};
    double full_gain = 0;
    for (const Options& options : variants) {
      const std::string row = std::string(p.file) + ", " + options[0];
      guard(rows, table, row, [&] {
        const ModelRun run = run_model(std::string(p.file) + ".yaml", {.tolerance = 1e-7, .options = options});
        const RunSummary& s = run.result.summary;
        const char* const compared = "a comparison of both gains; those of the defaults have a bound, below";
        rows.push_back(
            Row::measure(table, row, "rejected, part of the steps", rejected(s) / static_cast<double>(s.steps))
                .because(compared));
        rows.push_back(Row::measure(table, row, "Newton iterations a step", per_step(s.counts.newton_iterations, s))
                           .because("a comparison of both gains; the error beside it has the bound"));
        const double error = error_of(p, run);
        if (&options == variants) full_gain = error;
        rows.push_back(
            &options == variants
                ? Row::measure(table, row, "largest error", error)
                      .because("the rule as published: the other gain is compared with it")
                : Row::at_most(table, row, "largest error (target: twice that of gain 1)", 2 * full_gain, error)
                      .because("smoother steps must not cost accuracy at the same tolerance"));
      });
    }
    guard(rows, table, p.file, [&] {
      const ModelRun run = run_model(std::string(p.file) + ".yaml", {.tolerance = 1e-7});
      const auto steps = static_cast<double>(run.result.summary.steps);
      rows.push_back(Row::at_most(table, std::string(p.file) + ", defaults", "rejected, part of the steps", 0.02,
                                  rejected(run.result.summary) / steps)
                         .because("a goal: what is rejected is work for nothing"));
    });
  }
}

std::vector<Row> run(const StudyContext& context) {
  std::vector<Row> rows;
  orders(context, rows);
  error_estimate(rows);
  work_and_precision(context, rows);
  predictor(context, rows);
  corrector(context, rows, "kept derivatives, tolerance 1e-7",
            {{"keep_rate=0"}, {"keep_rate=0.1"}, {"keep_rate=0.3"}, {"keep_rate=0.5"}},
            {"keep_rate 0", "keep_rate 0.1", "keep_rate 0.3", "keep_rate 0.5"});
  corrector(context, rows, "corrector's constant c, tolerance 1e-7",
            {{"corrector=1e-5"}, {"corrector=1e-4"}, {"corrector=1e-3"}, {"corrector=1e-2"}},
            {"c 1e-5", "c 1e-4", "c 1e-3", "c 1e-2"});
  step_changes(context, rows);
  pendulum_table(context, rows);
  add_atv_rows(context, rows);
  belt_rows(context, rows);
  track_rows(context, rows);
  return rows;
}

}  // namespace
}  // namespace hht_study

std::vector<Row> study_hht(const StudyContext& context) { return hht_study::run(context); }

}  // namespace trammel
