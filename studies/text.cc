// TEXT: J. Garcia de Jalon, E. Bayo, chapter 7. Table 7.4 (the double pendulum of Example 7.2), Example 7.1, problem
// 7/1, the limits of stability and Figure 7.1. The print's errors are repaired: docs of the methods say where.
//
// Example 7.2: two massless links of length 1 with unit masses at their ends, springs k1, k2 at the joints,
//
//   [3 + 2c  1 + c] [p1'']   [-k1 p1 + sin p2 (2 p1' p2' + p2'^2)]
//   [1 + c   1    ] [p2''] = [-k2 p2 - sin p2 p1'^2              ],   c = cos p2,   p1 = p2 = 0, p1' = p2' = 100 rad/s.
//
// It is models/text_pendulum.yaml, run in the angles of its links; these equations stand beside it as reference.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <numbers>
#include <stdexcept>
#include <tuple>

#include "studies/printed.h"
#include "studies/stepping.h"
#include "studies/study.h"
#include "studies/text_parts.h"
#include "trammel/base/data_directory.h"
#include "trammel/initial/accelerations.h"
#include "trammel/ode/functor_problem.h"
#include "trammel/ode/solve.h"
#include "trammel/ode/stability.h"
#include "trammel/run/load_model.h"
#include "trammel/write/gnuplot.h"
#include "trammel/write/plot.h"

namespace trammel {
namespace text_study {
namespace {

using std::cos;
using std::sin;
using std::tanh;

auto spring_pendulum(double k1, double k2, double c1 = 0, double c2 = 0) {
  return second_order(2, [=](auto /*t*/, auto p, auto v, auto a) {
    const auto c = cos(p[1]), s = sin(p[1]);
    const auto r1 = -k1 * p[0] - c1 * v[0] + s * (2.0 * v[0] * v[1] + v[1] * v[1]),
               r2 = -k2 * p[1] - c2 * v[1] - s * v[0] * v[0];
    const auto m11 = 3.0 + 2.0 * c, m12 = 1.0 + c, det = m11 - m12 * m12;
    a[0] = (r1 - m12 * r2) / det;
    a[1] = (m11 * r2 - m12 * r1) / det;
  });
}
double pendulum_energy(const Vec& s, double k1, double k2) {
  const double c = std::cos(s[1]);
  return 0.5 * ((3 + 2 * c) * s[2] * s[2] + 2 * (1 + c) * s[2] * s[3] + s[3] * s[3]) +
         0.5 * (k1 * s[0] * s[0] + k2 * s[1] * s[1]);
}
Vec pendulum_start() {
  Vec s(4);
  s << 0, 0, 100, 100;
  return s;
}

// (p1, p2, p1', p2') of the model file.
Vec joint_angles(const State& state) {
  Vec s(4);
  s << state.q[2], state.q[5] - state.q[2], state.v[2], state.v[5] - state.v[2];
  return s;
}

struct FileRun {
  double last = 0, largest = 0;  // relative energy error at the end and on the way, by size
  double gained = 0;             // at the end, with its sign
  SteppedRun run;
};

// The model file with other springs and dash pots, and with another method if one is named.
FileRun run_file(double k1, double k2, double damping, double end, const char* method = nullptr, double tolerance = 0,
                 double step = 0) {
  ModelChanges changes;
  for (const auto& [name, value] : {std::pair{"k1", k1}, {"k2", k2}, {"c1", damping}, {"c2", damping}}) {
    char text[64];
    std::snprintf(text, sizeof text, "%s=%.17g", name, value);
    changes.set.emplace_back(text);
  }
  changes.end = end;
  if (method != nullptr) {
    changes.method = method;
    changes.tolerance = tolerance;
  }
  if (step > 0) changes.step = step;
  const double E0 = pendulum_energy(pendulum_start(), k1, k2);
  FileRun out;
  out.run = step_model(load_model((data_directory() / "models/text_pendulum.yaml").string(), changes),
                       {.grid = 1e-3, .look = [&](const State& state, const Equations&) {
                          const double error = std::abs(pendulum_energy(joint_angles(state), k1, k2) - E0) / E0;
                          out.largest = std::max(out.largest, error);
                          return error;
                        }});
  if (!out.run.finished) throw std::runtime_error(out.run.why);
  out.gained = (pendulum_energy(joint_angles(out.run.last), k1, k2) - E0) / E0;
  out.last = std::abs(out.gained);
  return out;
}

// A row of Table 7.4, with the largest energy error on the way that an independent code has.
struct Springs {
  const char* key;  // in the printed list
  double largest;
  bool chaotic = false;
  std::string id() const { return std::string("text.table7-4.") + key; }
  double number(const char* column) const { return printed_value(id() + "." + column); }
  std::string name() const {
    char text[64];
    std::snprintf(text, sizeof text, "k = %g, %g", number("k1"), number("k2"));
    return text;
  }
  std::vector<std::string> settings() const { return {id() + ".k1", id() + ".k2", id() + ".h", "text.example7-2.end"}; }
};

const char* const table_7_4_name = "Table 7.4";

// The textbook's equations by the same method, apart from the model file: the relative energy error at the end.
double error_of_equations(double k1, double k2, double h, double end) {
  auto problem = spring_pendulum(k1, k2);
  SolveOptions options;
  options.step = h;
  options.options.set("positions_as_unknowns", true);
  options.options.set("full_newton", true);
  options.options.set("predict_with_acceleration", false);
  const double E0 = pendulum_energy(pendulum_start(), k1, k2);
  const SolveResult reference = solve(problem, "newmark", 0, pendulum_start(), end, options);
  if (reference.status != SolveStatus::finished) throw std::runtime_error(reference.message);
  return std::abs(pendulum_energy(reference.y, k1, k2) - E0) / E0;
}

PlotCurve largest_so_far(const std::string& name, const std::vector<double>& errors) {
  PlotCurve curve{{}, {}, name, {}, false};
  double most = 1e-6;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    most = std::max(most, errors[i]);
    if (i % 50 != 0) continue;
    curve.x.push_back(1e-3 * static_cast<double>(i));
    curve.y.push_back(most);
  }
  return curve;
}

// What the rows of the table cost, in what a computer of any speed counts.
struct TableWork {
  double corrections = std::nan(""), evaluations = std::nan("");  // of the trapezoidal rule, of adams
};

void trapezoidal_rows(std::vector<Row>& rows, const Springs& s, PlotPanel& panel, TableWork& work) {
  const std::string table = table_7_4_name, name = s.name(), id = s.id();
  const double k1 = s.number("k1"), k2 = s.number("k2"), h = s.number("h"), end = printed_value("text.example7-2.end");
  const FileRun file = run_file(k1, k2, 0, end, nullptr, 0, h);
  const char* const quantity = "relative energy error at 20 s, trapezoidal rule";
  if (s.chaotic) {
    rows.push_back(
        Row::measure(table, name, quantity, file.last)
            .printed_as(id + ".error.trapez")
            .with(s.settings())
            .because("the motion is chaotic at this step: the energy at 20 s depends on the last digits of the "
                     "arithmetic, and differs for the textbook's equations; the largest error has a bound"));
    rows.push_back(Row::at_most(table, name, "largest relative energy error, trapezoidal rule", 0.15, file.largest)
                       .because("an independent code has up to 0.08, whatever its Newton's tolerance: twice that")
                       .beside(s.largest, "an independent code"));
  } else {
    const bool loose = s.key == std::string("k0_1e8");
    rows.push_back(Row::reproduce(table, name, quantity, id + ".error.trapez", file.last, 2)
                       .with(s.settings())
                       .missed_for(loose ? "a loosely converged run, it seems: corrections stopped at 1e-6 of the "
                                           "positions give 1.4e-3 and at 1e-5 6.7e-2, on both sides of the print; from "
                                           "1e-8 on they give what the model file gives"
                                         : ""));
    const double beside = error_of_equations(k1, k2, h, end);
    rows.push_back(
        Row::near(table, name, "the same, against the textbook's equations", beside, file.last, 0.01 * beside)
            .beside(beside, "the equations of Example 7.2, integrated apart from the model file")
            .because("two codes for one method: only what Newton leaves differs"));
    rows.push_back(Row::near(table, name, "largest relative energy error, trapezoidal rule", s.largest, file.largest,
                             0.01 * s.largest)
                       .beside(s.largest, "an independent code, three digits; the print has the error at the end only")
                       .because("its digits: a hundredth"));
  }
  rows.push_back(
      Row::measure(table, name, "Newton corrections a step",
                   static_cast<double>(file.run.counts.newton_iterations) / static_cast<double>(file.run.steps))
          .because(why::work));
  work.corrections = static_cast<double>(file.run.counts.newton_iterations);
  rows.push_back(Row::measure(table, name, "seconds, trapezoidal rule", file.run.seconds)
                     .printed_as(id + ".cpu.trapez")
                     .because(why::machine_time));
  panel.curves.push_back(largest_so_far(name, file.run.grid));
}

// Subroutine DE of the print; in the last row it has "No conv.".
void adams_rows_of_table(std::vector<Row>& rows, const Springs& s, TableWork& work) {
  const std::string table = table_7_4_name, name = s.name(), id = s.id();
  const FileRun file = run_file(s.number("k1"), s.number("k2"), 0, printed_value("text.example7-2.end"), "adams", 1e-8);
  const bool converged = std::isfinite(printed_number(id + ".error.de").value);
  const char* const untold = "the print does not tell the tolerance of subroutine DE";
  rows.push_back(Row::measure(table, name, "relative energy error at 20 s, adams, tolerance 1e-8", file.gained)
                     .printed_as(id + ".error.de")
                     .because(converged
                                  ? untold
                                  : "subroutine DE did not converge here, and the print does not tell its tolerance"));
  rows.push_back(Row::measure(table, name, "evaluations, adams", static_cast<double>(file.run.counts.evaluations))
                     .because(untold));
  work.evaluations = static_cast<double>(file.run.counts.evaluations);
  rows.push_back(Row::measure(table, name, "seconds, adams", file.run.seconds)
                     .printed_as(id + ".cpu.de")
                     .because(why::machine_time));
}

// The trapezoidal rule as the textbook writes it, for the row (0, 1e8): Newton's corrections of positions from those
// extrapolated with the acceleration, stopped when one is at or below `tolerance` of the positions. The relative energy
// error at the end.
double loose_trapezoidal(double k1, double k2, double h, double end, double tolerance) {
  Eigen::Vector2d q(0, 0), v(100, 100), a(0, 0);
  const double k[2] = {k1, k2};
  const long steps = std::lround(end / h);
  for (long n = 0; n < steps; ++n) {
    Eigen::Vector2d p = q + h * v + 0.5 * h * h * a, w, b;
    const auto rates = [&] {
      w = 2 / h * (p - q) - v;
      b = 4 / (h * h) * (p - q) - 4 / h * v - a;
    };
    for (int i = 0; i < 30; ++i) {
      rates();
      const double c = std::cos(p[1]), s = std::sin(p[1]);
      const Eigen::Vector2d left(
          (3 + 2 * c) * b[0] + (1 + c) * b[1] + k[0] * p[0] - s * (2 * w[0] * w[1] + w[1] * w[1]),
          (1 + c) * b[0] + b[1] + k[1] * p[1] + s * w[0] * w[0]);
      Eigen::Matrix2d tangent;
      tangent << 4 / (h * h) * (3 + 2 * c) + k[0] - 4 / h * w[1] * s,
          4 / (h * h) * (1 + c) - 4 / h * (w[0] + w[1]) * s - w[1] * (2 * w[0] + w[1]) * c - (2 * b[0] + b[1]) * s,
          4 / (h * h) * (1 + c) + 4 / h * w[0] * s, 4 / (h * h) + k[1] + w[0] * w[0] * c - b[0] * s;
      const Eigen::Vector2d correction = -tangent.inverse() * left;
      p += correction;
      if (correction.norm() <= tolerance * p.norm()) break;
    }
    rates();
    q = p;
    v = w;
    a = b;
  }
  Vec end_state(4);
  end_state << q, v;
  const double E0 = pendulum_energy(pendulum_start(), k1, k2);
  return std::abs(pendulum_energy(end_state, k1, k2) - E0) / E0;
}

// Why the row (0, 1e8) cannot be met: what it prints lies between two runs that stop too early.
void loose_rows(std::vector<Row>& rows) {
  const Springs s{"k0_1e8", 0};
  const std::string table = "Table 7.4, " + s.name() + ": corrections stopped early";
  const char* const code = "an independent code";
  double errors[3] = {};
  int i = 0;
  for (const auto& [tolerance, theirs, part] :
       {std::tuple{1e-5, 6.7e-2, 0.02}, {1e-6, 1.4e-3, 0.04}, {1e-8, 6.56e-4, 0.01}}) {
    char name[48];
    std::snprintf(name, sizeof name, "at %.0e of the positions", tolerance);
    const double error = loose_trapezoidal(s.number("k1"), s.number("k2"), s.number("h"),
                                           printed_value("text.example7-2.end"), tolerance);
    rows.push_back(Row::near(table, name, "relative energy error at 20 s", theirs, error, part * theirs)
                       .with(s.settings())
                       .beside(theirs, code)
                       .because("its digits"));
    errors[i++] = error;
  }
  const double printed = printed_value(s.id() + ".error.trapez");
  rows.push_back(Row::at_most(table, "the print by that at 1e-05", "quotient of errors", 1, printed / errors[0])
                     .because("the print lies between the loose runs"));
  rows.push_back(Row::at_least(table, "the print by that at 1e-06", "quotient of errors", 1, printed / errors[1])
                     .because("the print lies between the loose runs"));
}

// The columns of times as quotients to the row without springs, which no computer's speed enters.
void work_rows(std::vector<Row>& rows, const Springs& s, const Springs& first, const TableWork& work,
               const TableWork& of_first) {
  const auto compare = [&](const char* column, const std::string& quantity, double ours) {
    if (!std::isfinite(ours) || !std::isfinite(printed_number(s.id() + column).value)) return;
    const double printed = printed_value(s.id() + column) / printed_value(first.id() + column);
    Row row = Row::near(table_7_4_name, s.name(), quantity + ", by those of k = 0, 0", printed, ours, 0.2 * printed)
                  .printed_as(s.id() + column)
                  .printed_as(first.id() + column)
                  .because(
                      "the print's times as a quotient; a fifth, because a step costs more than its corrections "
                      "and evaluations, and another code's at that");
    row.printed = printed;
    if (s.key == std::string("k1e8_1e8") && column == std::string(".cpu.de"))
      row = Row(
          std::move(row).missed_for("20.1 % apart: stability decides the steps of both explicit codes here, and theirs "
                                    "is another one"));
    rows.push_back(std::move(row));
  };
  compare(".cpu.trapez", "corrections of the trapezoidal rule", work.corrections / of_first.corrections);
  compare(".cpu.de", "evaluations of adams", work.evaluations / of_first.evaluations);
}

void table_7_4(std::vector<Row>& rows, const StudyContext& context) {
  PlotRequest plot;
  plot.title = "Example 7.2: energy error of the trapezoidal rule, h = 1 ms";
  plot.subtitle = "the largest so far; Table 7.4 prints the one at the end";
  plot.xlabel = "time, s";
  PlotPanel panel{"relative energy error, largest so far", {}, true};
  const Springs table[] = {{"k0_0", 9.43e-4},     {"k100_100", 7.97e-2, true}, {"k1e4_1e4", 2.91e-3},
                           {"k1e6_1e6", 1.38e-3}, {"k1e8_1e8", 1.12e-4},       {"k0_100", 9.43e-4},
                           {"k0_1e4", 9.35e-4},   {"k0_1e6", 1.03e-3},         {"k0_1e8", 9.77e-4}};
  TableWork first;
  for (const Springs& s : table) {
    TableWork work;
    guard(rows, table_7_4_name, s.name(), [&] {
      context.note(std::string("Table 7.4, ") + s.name());
      trapezoidal_rows(rows, s, panel, work);
    });
    guard(rows, table_7_4_name, s.name(), [&] {
      context.note(std::string("Table 7.4, adams, ") + s.name());
      adams_rows_of_table(rows, s, work);
    });
    if (&s == std::begin(table)) first = work;
    if (&s != std::begin(table)) work_rows(rows, s, table[0], work, first);
  }
  guard(rows, table_7_4_name, "corrections stopped early", [&] { loose_rows(rows); });
  plot.panels = {panel};
  plot.width = 1000;
  plot.height = 600;
  if (const auto file = context.picture("text_table_7_4.png"); file && !panel.curves.empty()) draw_plot(plot, *file);
}

// y' + A(y) y = 0 with A falling from 100 to 1 as y changes sign: a step of the trapezoidal rule is stable while
// h <= 4/(A_n - A_{n+1}); at that step y_{n+1} = -y_n.
void example_7_1(std::vector<Row>& rows) {
  auto problem =
      first_order(1, [](auto /*t*/, auto y, auto dydt) { dydt[0] = -(50.5 + 49.5 * tanh(3.0 * y[0])) * y[0]; });
  const auto ratio = [&](const char* key, double h) {
    SolveOptions options;
    options.step = h;
    const SolveResult result = solve(problem, key, 0, Vec::Ones(1), h, options);
    if (result.status != SolveStatus::finished) throw std::runtime_error(result.message);
    return std::abs(result.y[0]);
  };
  guard(rows, "Example 7.1", "trapezoidal", [&] {
    double low = 1e-3, high = 0.1;
    for (int i = 0; i < 45; ++i) (ratio("trapezoidal", 0.5 * (low + high)) <= 1 ? low : high) = 0.5 * (low + high);
    // y_{n+1} = -y_n there, so that A_n - A_{n+1} = 99 tanh 3: the number over it is the printed 4.
    const double difference = 99 * std::tanh(3.0);
    rows.push_back(Row::near("Example 7.1", "trapezoidal", "critical step by bisection times A_n - A_{n+1}",
                             printed_value("text.example7-1.critical.result"), low * difference, 1e-6)
                       .printed_as("text.example7-1.critical.result")
                       .printed_as("text.example7-1.critical.claim")
                       .printed_as("text.sec7-1-5.gourlay.critical")
                       .because("a bisection of 45 halves and the corrector's 1e-10"));
  });
  guard(rows, "Example 7.1", "implicit-midpoint", [&] {
    double worst = 0;
    for (const double h : {0.03, 0.05, 0.1, 0.2, 0.5}) worst = std::max(worst, ratio("implicit-midpoint", h));
    rows.push_back(Row::at_most("Example 7.1", "implicit-midpoint", "largest |y1/y0| for steps up to 0.5 s",
                                printed_value("text.example7-1.ratio.bound"), worst)
                       .printed_as("text.example7-1.ratio.bound")
                       .because("the midpoint rule is stable for every A(y) > 0"));
  });
}

// y'' + y = 0, y = 1, v = 0, h = 0.1, a hundred steps.
void problem_7_1(std::vector<Row>& rows) {
  struct Answer {
    const char *key, *name;
    std::vector<std::pair<std::string, std::string>> options;  // and the printed number of each
    double y, v;
    bool closed = true;  // by a formula; else by an independent computation
  };
  const double h = printed_value("text.problem7-1.step"), angle = std::atan(h / 2), be = std::atan(h);
  const Answer answers[] = {
      {"newmark",
       "trapezoidal rule",
       {{"gamma", "text.problem7-1.a.gamma"}, {"beta", "text.problem7-1.a.beta"}},
       std::cos(200 * angle),
       -std::sin(200 * angle)},
      {"trapezoidal", "trapezoidal rule, first order", {}, std::cos(200 * angle), -std::sin(200 * angle)},
      {"hht", "HHT, alpha = -0.1", {{"alpha", "text.problem7-1.b.alpha"}}, -0.844612975976, 0.535099471779, false},
      {"newmark",
       "Newmark, gamma = 1, beta = 1/2",
       {{"gamma", "text.problem7-1.c.gamma"}, {"beta", "text.problem7-1.c.beta"}},
       -0.669091288863,
       0.416581537306,
       false},
      {"radau-iia-1",
       "backward Euler (BDF 1)",
       {},
       std::pow(1 + h * h, -50) * std::cos(100 * be),
       -std::pow(1 + h * h, -50) * std::sin(100 * be)}};
  for (const Answer& a : answers) {
    guard(rows, "Problem 7/1", a.name, [&] {
      auto problem =
          second_order(1, [](auto /*t*/, auto y, auto /*v*/, auto acceleration) { acceleration[0] = -y[0]; });
      SolveOptions options;
      options.step = h;
      std::vector<std::string> settings{"text.problem7-1.position", "text.problem7-1.velocity", "text.problem7-1.start",
                                        "text.problem7-1.end", "text.problem7-1.step"};
      for (const auto& [name, id] : a.options) {
        options.options.set(name, printed_number(id).value);
        settings.push_back(id);
      }
      Vec start(2);
      start << printed_value("text.problem7-1.position"), printed_value("text.problem7-1.velocity");
      const SolveResult result = solve(problem, a.key, printed_value("text.problem7-1.start"), start,
                                       printed_value("text.problem7-1.end"), options);
      if (result.status != SolveStatus::finished) throw std::runtime_error(result.message);
      const auto compare = [&](const char* quantity, double target, double ours) {
        rows.push_back(Row::near("Problem 7/1", a.name, quantity, target, ours, 1e-10)
                           .with(settings)
                           .because(a.closed
                                        ? "the closed solution of the difference equation; round-off of a hundred steps"
                                        : "twelve digits of it; round-off of a hundred steps"));
        if (a.closed) return;
        rows.back().own = target;
        rows.back().origin = "an independent computation: the method's matrix of a step to the power 100";
      };
      compare("y(10)", a.y, result.y[0]);
      compare("v(10)", a.v, result.y[1]);
    });
  }
}

// What the trapezoidal rule may lose of its phase in the time `end`: h^2 w^2 / 12 of it, with the faster frequency of
// both springs of stiffness k, links in line, and nothing taken off for damping.
double phase_error(double k, double h, double end) {
  const double w = std::sqrt((3 + 2 * std::sqrt(2.0)) * k);
  return h * h * w * w / 12 * w * end;
}
const char* const phase_is_lost =
    "a method of order 2: h^2 w^2 / 12 of the phase w t, with w = 241 rad/s and t the end of the run; a hundredth at "
    "most";

// 7/2: problem 7/1 by the predictor-corrector pair of order 4; 7/3: the pendulum with dash pots.
void problems_7_2_and_7_3(std::vector<Row>& rows) {
  guard(rows, "Problem 7/2", "adams-moulton", [&] {
    std::vector<double> steps, errors;
    for (const double h : {0.1, 0.05, 0.025}) {
      auto problem = first_order(2, [](auto /*t*/, auto y, auto dydt) {
        dydt[0] = y[1];
        dydt[1] = -y[0];
      });
      Vec start(2);
      start << 1, 0;
      SolveOptions options;
      options.step = h;
      const SolveResult result = solve(problem, "adams-moulton", 0, start, 10, options);
      if (result.status != SolveStatus::finished) throw std::runtime_error(result.message);
      steps.push_back(h);
      errors.push_back(std::hypot(result.y[0] - std::cos(10.0), result.y[1] + std::sin(10.0)));
    }
    rows.push_back(Row::near("Problem 7/2", "adams-moulton", "order of (y, v) at 10",
                             printed_value("text.problem7-2.order"), fitted_order(steps, errors), 0.4)
                       .printed_as("text.problem7-2.order")
                       .with({"text.problem7-2.equations"})
                       .because("fitted over two halvings of a step that is not yet small"));
    rows.push_back(
        Row::at_most("Problem 7/2", "adams-moulton", "error of y(10) at h = 0.1, below 7/1's 4.5e-3", 4.5e-3, errors[0])
            .because("a method of order 4 against one of order 2 at the same step"));
  });
  for (const double damping : {1.0, 100.0}) {
    char name[64];
    std::snprintf(name, sizeof name, "k = 1e4, dash pots %g", damping);
    guard(rows, "Problem 7/3", name, [&] {
      const double end = damping > 10 ? 0.1 : 2;
      const std::string when = damping > 10 ? "at 0.1 s, " : "at 2 s, ";
      const auto motion = [](const Vec& d, double s) {
        return std::max({std::abs(d[0]), std::abs(d[1]), std::abs(d[2]) / s, std::abs(d[3]) / s});
      };
      const FileRun fine = run_file(1e4, 1e4, damping, end, "adams", 1e-11),
                    rule = run_file(1e4, 1e4, damping, end, nullptr, 0, 1e-4);
      auto problem = spring_pendulum(1e4, 1e4, damping, damping);
      const SolveResult reference = solve(problem, "adams", 0, pendulum_start(), end, {.tolerance = 1e-11});
      const double scale = pendulum_energy(pendulum_start(), 1e4, 1e4);
      const auto energy = [](const FileRun& run) { return pendulum_energy(joint_angles(run.run.last), 1e4, 1e4); };
      // Motions at 2 s: energies of 1e-19 of the start would agree whatever the pendulum did. With strong dash pots it
      // rests long before, so that the end of the run is compared earlier.
      const double speed = 100;
      rows.push_back(Row::error("Problem 7/3", name,
                                when + "joint angles and speeds, adams less the textbook's equations",
                                motion(joint_angles(fine.run.last) - reference.y, speed), 1e-6)
                         .because("two codes at tolerance 1e-11, relative to the speeds at the start"));
      rows.push_back(Row::error("Problem 7/3", name,
                                when + "joint angles and speeds, trapezoidal rule, h = 1e-4, less adams",
                                motion(joint_angles(rule.run.last) - joint_angles(fine.run.last), speed),
                                std::min(1e-2, phase_error(1e4, 1e-4, end)))
                         .because(phase_is_lost));
      rows.push_back(Row::at_least("Problem 7/3", name, when + "energy by its start, adams", 1e-4, energy(fine) / scale)
                         .because("there must be a motion left to compare"));
      rows.push_back(Row::measure("Problem 7/3", name, "evaluations, trapezoidal rule",
                                  static_cast<double>(rule.run.counts.evaluations))
                         .because(why::work));
      rows.push_back(
          Row::measure("Problem 7/3", name, "evaluations, adams", static_cast<double>(fine.run.counts.evaluations))
              .because(why::work));
    });
  }
}

// 7/4: the pendulum with dash pots in the coordinates of its ends, by penalty and the trapezoidal rule; 7/5: the same
// by Lagrange's multipliers and BDF of order 1, on (7.54)-(7.56). Both run the model file.
// The pendulum with dash pots over 2 s; at 1e-10 without a step.
ModelRun damped_pendulum(double damping, const char* method, const char* formulation, std::optional<double> step,
                         std::vector<std::string> options) {
  char c1[32], c2[32];
  std::snprintf(c1, sizeof c1, "c1=%g", damping);
  std::snprintf(c2, sizeof c2, "c2=%g", damping);
  return run_model("text_pendulum.yaml", {.set = {"k1=1e4", "k2=1e4", c1, c2},
                                          .method = method,
                                          .formulation = formulation,
                                          .tolerance = step ? std::optional<double>() : 1e-10,
                                          .step = step,
                                          .end = 2,
                                          .output_step = 0.002,
                                          .options = std::move(options)});
}

// Energy at the end, by that at the start, less that of another run.
double energy_error(const ModelRun& run, const ModelRun& exact) {
  const auto energy = [](const ModelRun& r) {
    return r.result.summary.energy.kinetic + r.result.summary.energy.potential;
  };
  return (energy(run) - energy(exact)) / exact.result.summary.energy.first;
}

void problem_7_4(std::vector<Row>& rows, const std::string& name, double damping, const ModelRun& exact,
                 PlotPanel& panel) {
  char alpha[32];
  std::snprintf(alpha, sizeof alpha, "penalty=%g", printed_value("text.problem7-4.penalty"));
  const ModelRun penalty = damped_pendulum(damping, "newmark", "penalty", 1e-4, {alpha, "gamma=0.5", "beta=0.25"});
  rows.push_back(Row::error("Problem 7/4", name,
                            "largest error of the first joint, of its swing: penalty 1e7, trapezoidal rule, h = 1e-4",
                            max_error(penalty.column("p1"), exact.column("p1")) / max_abs(exact.column("p1")),
                            std::min(1e-2, phase_error(1e4, 1e-4, 2)))
                     .with({"text.problem7-4.penalty"})
                     .because(phase_is_lost));
  rows.push_back(
      Row::measure("Problem 7/4", name, "energy at 2 s by its start, less adams", energy_error(penalty, exact))
          .because("with strong dash pots nothing is left of it; the motion has the bound"));
  rows.push_back(
      Row::measure("Problem 7/4", name, "evaluations", static_cast<double>(penalty.result.summary.counts.evaluations))
          .because(why::work));
  panel.curves.push_back({penalty.time(), penalty.column("p1"), "penalty, trapezoidal rule", {}, false});
}

void problem_7_5(std::vector<Row>& rows, const std::string& name, double damping, const ModelRun& exact,
                 PlotPanel& panel) {
  std::vector<double> errors;
  char order[32];
  std::snprintf(order, sizeof order, "order=%g", printed_value("text.problem7-5.p"));
  for (const double h : {1e-4, 5e-5, 2.5e-5}) {
    const ModelRun bdf = damped_pendulum(damping, "bdf-i3", "index-3", h, {order});
    const std::vector<double> ours = bdf.column("p1"), truth = exact.column("p1");
    double most = 0;
    // over a tenth of a second: later BDF 1 has damped most of the swing away, and the error is the swing itself
    for (std::size_t i = 0; i < std::min(ours.size(), truth.size()) && exact.time()[i] <= 0.1; ++i)
      most = std::max(most, std::abs(ours[i] - truth[i]));
    errors.push_back(most);
    if (h < 9e-5) continue;
    rows.push_back(Row::measure("Problem 7/5", name,
                                "energy at 2 s by its start: multipliers, BDF 1, h = 1e-4, less adams",
                                energy_error(bdf, exact))
                       .because("BDF 1 damps: how much is what the problem shows; its order has the bound"));
    panel.curves.push_back({bdf.time(), bdf.column("p1"), "multipliers, BDF 1", {}, false});
  }
  rows.push_back(
      Row::measure("Problem 7/5", name, "largest error of the first joint in 0.1 s, h = 2.5e-5, rad", errors.back())
          .because("its order has the bound"));
  rows.push_back(Row::near("Problem 7/5", name, "order of the first joint's error in 0.1 s, from the last halving",
                           printed_value("text.problem7-5.p"), std::log2(errors[1] / errors[2]), 0.2)
                     .printed_as("text.problem7-5.p")
                     .because("theory: order 1; a fifth, because BDF 1 takes a tenth of the swing in that time"));
}

void problems_7_4_and_7_5(std::vector<Row>& rows, const StudyContext& context) {
  for (const double damping : {1.0, 100.0}) {
    char name[64];
    std::snprintf(name, sizeof name, "k = 1e4, dash pots %g", damping);
    context.note(std::string("Problems 7/4 and 7/5, ") + name);
    guard(rows, "Problems 7/4 and 7/5", name, [&] {
      const ModelRun exact = damped_pendulum(damping, "adams", "state-space", {}, {});
      PlotPanel panel{
          "first joint, rad", {{exact.time(), exact.column("p1"), "joint angles, adams 1e-10", {}, false}}, false};
      problem_7_4(rows, name, damping, exact, panel);
      problem_7_5(rows, name, damping, exact, panel);
      char file[64];
      std::snprintf(file, sizeof file, "text_problems_7_4_7_5_c%g.png", damping);
      if (const auto picture = context.picture(file)) {
        PlotRequest plot;
        plot.title = std::string("Problems 7/4 and 7/5: ") + name;
        plot.xlabel = "time, s";
        plot.panels = {panel};
        draw_plot(plot, *picture);
      }
    });
  }
}

// The mass matrix and the velocity terms of Example 7.2, from the model file: accelerations of the joints at given
// angles and speeds, put into the printed equations, must leave nothing; each coefficient is found from them.
void example_7_2(std::vector<Row>& rows) {
  const std::string table = "Example 7.2";
  guard(rows, table, "equations of motion", [&] {
    Model model = load_model((data_directory() / "models/text_pendulum.yaml").string());
    Simulation simulation(std::move(model));
    simulation.start();
    const Equations& e = simulation.equations();
    Workspace work = e.make_workspace();
    Rates rates = e.make_rates();
    AccelerationSolver solver(e);
    State state = simulation.integrator().state();
    // Both links at angles a and a + p2, speeds w1 and w1 + w2.
    const auto place = [&](double p1, double p2, double w1, double w2) {
      const double a = p1, b = p1 + p2, wa = w1, wb = w1 + w2;
      state.q << std::cos(a), std::sin(a), a, std::cos(a) + std::cos(b), std::sin(a) + std::sin(b), b;
      state.v << -std::sin(a) * wa, std::cos(a) * wa, wa, -std::sin(a) * wa - std::sin(b) * wb,
          std::cos(a) * wa + std::cos(b) * wb, wb;
    };
    const auto kinetic = [&](double p2, double w1, double w2) {
      place(0.3, p2, w1, w2);
      return e.energy(state, rates, work).kinetic;
    };
    const double half = printed_value("text.example7-2.energy.factor");
    // T = 1/2 w^T M w at p2 = 90 and 0 degrees.
    const double right = std::numbers::pi / 2, m11 = kinetic(right, 1, 0) / half, m22 = kinetic(right, 0, 1) / half,
                 m12 = (kinetic(right, 1, 1) / half - m11 - m22) / 2, cosine = kinetic(0, 1, 0) / half - m11;
    const char* const reason = "round-off";
    const auto same = [&](const std::vector<std::string>& ids, const char* quantity, double ours) {
      Row row = Row::near(table, "mass matrix", quantity, printed_value(ids[0]), ours, 1e-12).because(reason);
      for (const std::string& id : ids) row = Row(std::move(row).printed_as(id));
      rows.push_back(row);
    };
    same({"text.example7-2.energy.m11.constant", "text.example7-2.motion.m11.constant"}, "element 11, constant", m11);
    same({"text.example7-2.energy.m11.cosine", "text.example7-2.motion.m11.cosine"}, "element 11, of cos p2", cosine);
    same({"text.example7-2.energy.m12.constant", "text.example7-2.energy.m21.constant",
          "text.example7-2.motion.m12.constant", "text.example7-2.motion.m21.constant"},
         "element 12, constant", m12);
    same({"text.example7-2.energy.m22", "text.example7-2.motion.m22"}, "element 22", m22);
    rows.push_back(
        Row::near(table, "kinetic energy", "factor: energy of element 22 at 1 rad/s", half, kinetic(right, 0, 1), 1e-12)
            .printed_as("text.example7-2.energy.factor")
            .because(reason));
    // -sin p2 (c p2' p1' + p2'^2) in the first equation: c from the accelerations at p2 = 90 degrees, without springs.
    place(0.3, right, 2, 3);
    solver.solve(state, rates, work);
    const double a1 = rates.a[2], a2 = rates.a[5] - rates.a[2];
    const double force = m11 * a1 + m12 * a2;  // = c p1' p2' + p2'^2
    rows.push_back(Row::near(table, "velocity terms", "coefficient of p1' p2' in the first equation",
                             printed_value("text.example7-2.motion.velocity11"), (force - 9) / 6, 1e-11)
                       .printed_as("text.example7-2.motion.velocity11")
                       .because(reason));
  });
}

void limits(std::vector<Row>& rows) {
  const auto real = [](const std::string& name) { return summarise_stability(growth_of(name, {}, {})).real_interval; };
  const std::pair<const char*, double> intervals[] = {
      {"adams-bashforth-1", 2},   {"adams-bashforth-2", 1},          {"adams-bashforth-3", 6.0 / 11},
      {"adams-bashforth-4", 0.3}, {"adams-bashforth-5", 90.0 / 551}, {"adams-moulton-3", 6},
      {"adams-moulton-4", 3},     {"adams-moulton-5", 90.0 / 49},    {"euler", 2}};
  for (const auto& [name, expected] : intervals)
    guard(rows, "Stability", name, [&rows, &real, name = name, expected = expected] {
      rows.push_back(Row::near("Stability", name, "real interval", expected, real(name), 1e-6)
                         .because("closed forms; the bisection of the interval"));
    });
  const double angles[] = {90, 90, 86.03, 73.35, 51.84, 17.84};
  for (int k = 1; k <= 6; ++k)
    guard(rows, "Stability", "bdf-" + std::to_string(k), [&] {
      const std::string name = "bdf-" + std::to_string(k);
      rows.push_back(Row::near("Stability", name, "A(alpha), degrees", angles[k - 1],
                               summarise_stability(growth_of(name, {}, {})).angle, 0.02)
                         .beside(angles[k - 1], "the literature, in hundredths of a degree")
                         .because("its digits, and the grid of angles"));
    });
}

}  // namespace
}  // namespace text_study

std::vector<Row> study_text(const StudyContext& context) {
  using namespace text_study;
  std::vector<Row> rows;
  problem_7_1(rows);
  example_7_1(rows);
  problems_7_2_and_7_3(rows);
  problems_7_4_and_7_5(rows, context);
  example_7_2(rows);
  limits(rows);
  barriers(context, rows);
  table_7_4(rows, context);
  real_time(context, rows);
  if (const auto file = context.picture("text_figure_7_1.png")) {
    guard(rows, "Figure 7.1", "picture", [&] {
      std::vector<StabilityCurve> curves;
      for (const char* name : {"rk4", "adams-bashforth-4", "adams-moulton-4"})
        curves.push_back({name, growth_of(name, {}, {})});
      std::ofstream(*file, std::ios::binary)
          << run_gnuplot(stability_picture(curves, {-4, 1, 4}, "pngcairo size 560,720"));
    });
  }
  return rows;
}

}  // namespace trammel
