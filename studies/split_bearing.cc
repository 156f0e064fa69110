// The bearing of models/ball_bearing.yaml: contact angles, ball loads, displacement and orbit against the equilibrium
// of a ball under Hertz's forces and the centrifugal force, for several loads and another geometry; evaluations of the
// contacts beside CVODE at equal accuracy; what a step costs; HHT with true joints.
#include <cmath>
#include <cstdio>
#include <limits>
#include <numbers>
#include <stdexcept>

#include "app/ball_bearing.h"
#include "studies/printed.h"
#include "studies/split_parts.h"
#include "studies/stepping.h"
#include "trammel/base/data_directory.h"
#include "trammel/write/plot.h"

namespace trammel::split_study {
namespace {

constexpr double degree = std::numbers::pi / 180;
const char* const bearing_file = "ball_bearing.yaml";

// Means over balls and the time from `from` on.
struct Means {
  double alpha_i = 0, alpha_o = 0, Q_i = 0, Q_o = 0, z_inner = 0, orbit = 0, cage = 0;
};

Means means_of(const ModelRun& run, int balls, double from) {
  const std::vector<double> t = run.time();
  const auto mean = [&](const std::string& signal) {
    const std::vector<double> values = run.column(signal);
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < t.size(); ++i) {
      if (t[i] < from) continue;
      sum += values[i];
      count += 1;
    }
    return sum / count;
  };
  Means m;
  for (int i = 1; i <= balls; ++i) {
    const std::string ball = std::to_string(i), body = "body.ball" + ball;
    m.alpha_i += mean("force.inner" + ball + ".contact_angle") / balls;
    m.alpha_o += mean("force.outer" + ball + ".contact_angle") / balls;
    m.Q_i += mean("force.inner" + ball + ".normal_force") / balls;
    m.Q_o += mean("force.outer" + ball + ".normal_force") / balls;
    const std::vector<double> x = run.column(body + ".position.x"), y = run.column(body + ".position.y"),
                              vx = run.column(body + ".velocity.x"), vy = run.column(body + ".velocity.y");
    double sum = 0, count = 0;
    for (std::size_t k = 0; k < t.size(); ++k) {
      if (t[k] < from) continue;
      sum += (x[k] * vy[k] - y[k] * vx[k]) / (x[k] * x[k] + y[k] * y[k]);
      count += 1;
    }
    m.orbit += sum / count / balls;
  }
  m.z_inner = mean("body.inner.position.z");
  m.cage = mean("body.cage.angular_velocity.z");
  return m;
}

// Where a run ends against the equilibrium, and where it started: a tenth of the way there would be missed.
void compare(std::vector<Row>& rows, const std::string& table, const std::string& row, const Means& m,
             const BearingEquilibrium& e, const BearingEquilibrium& start) {
  const auto near = [&](const char* quantity, double target, double from, double ours, double bound, const char* why) {
    char started[32];
    std::snprintf(started, sizeof started, ", from %.5g", from);
    rows.push_back(Row::near(table, row, quantity + std::string(started), target, ours, bound).because(why));
  };
  const char* const leaves =
      "what is left of the oscillation after the start elsewhere, and the tractions that the closed "
      "equilibrium splits evenly";
  near("contact angle inner, deg", e.alpha_i / degree, start.alpha_i / degree, m.alpha_i / degree, 0.1, leaves);
  near("contact angle outer, deg", e.alpha_o / degree, start.alpha_o / degree, m.alpha_o / degree, 0.1, leaves);
  near("ball load inner, N", e.Q_i, start.Q_i, m.Q_i, 0.01 * e.Q_i, leaves);
  near("ball load outer, N", e.Q_o, start.Q_o, m.Q_o, 0.01 * e.Q_o, leaves);
  near("inner ring, axial position, um", e.z_inner * 1e6, start.z_inner * 1e6, m.z_inner * 1e6, 0.3, leaves);
  near("orbit of the balls, rad/s", e.orbit, 0.98 * start.orbit, m.orbit, 1e-3 * e.orbit,
       "rolling without sliding, but for creep");
  near("speed of the cage, rad/s", e.orbit, 0.98 * start.orbit, m.cage, 1e-2 * e.orbit,
       "carried by the balls, with play");
}

// The parameters of a bearing, started in the equilibrium of another one with its balls 2 % slow.
std::vector<std::string> started_elsewhere(const BallBearing& b, const BallBearing& other) {
  std::vector<std::string> parameters = bearing_parameters(b);
  for (std::string entry : bearing_parameters(other)) {
    const std::string name = entry.substr(0, entry.find('=') + 1);
    const bool start = name == "z_inner=" || name == "r_ball=" || name == "z_ball=" || name == "orbit=" ||
                       name == "spin=" || name == "tilt_of_spin=";
    if (!start) continue;
    if (name == "orbit=") {
      char slow[64];
      std::snprintf(slow, sizeof slow, "orbit=%.10g rad/s", 0.98 * bearing_equilibrium(other).orbit);
      entry = slow;
    }
    for (std::string& parameter : parameters) {
      if (parameter.rfind(name, 0) == 0) parameter = entry;
    }
  }
  return parameters;
}

void closed_forms(const StudyContext& context, std::vector<Row>& rows) {
  const Reference reference = read_reference("data/split/bearing_axial.csv");
  const std::string statics = "6.3, bearing at rest, our equilibrium against independent values";
  for (std::size_t i = 0; i < reference.rows(); ++i) {
    BallBearing b;
    b.load = reference.column("Fa_N")[i];
    b.speed = 0;
    char row[32];
    std::snprintf(row, sizeof row, "%g N", b.load);
    guard(rows, statics, row, [&] {
      const double alpha = reference.column("alpha_deg")[i], load = reference.column("Q_N")[i];
      const BearingEquilibrium e = bearing_equilibrium(b);
      const char* const table_of_loads = "an independent table of loads, to its digits";
      rows.push_back(Row::near(statics, row, "contact angle, deg", alpha, e.alpha_i / degree, 5e-3)
                         .beside(alpha, table_of_loads)
                         .because("its digits"));
      rows.push_back(Row::near(statics, row, "ball load, N", load, e.Q_i, 5e-4 * load)
                         .beside(load, table_of_loads)
                         .because("its digits"));
    });
  }
  const std::string table =
      "6.3, bearing at 10,000 rpm, h = 1e-6 s, started in the equilibrium of 0.8 of the load with balls 2 % slow, mean "
      "of the last 10 of "
      "40 ms";
  const BallBearing standard;
  const auto run_and_compare = [&](const std::string& row, const BallBearing& b, ModelChanges changes) {
    context.note(table + ": " + row);
    guard(rows, table, row, [&] {
      BallBearing lighter = b;
      lighter.load *= 0.8;
      const std::vector<std::string> parameters = started_elsewhere(b, lighter);
      changes.set.insert(changes.set.end(), parameters.begin(), parameters.end());
      changes.end = 0.04;
      compare(rows, table, row, means_of(run_model(bearing_file, changes), b.balls, 0.03), bearing_equilibrium(b),
              bearing_equilibrium(lighter));
    });
  };
  BallBearing light = standard, heavy = standard, other = standard;
  light.load = 500;
  heavy.load = 2000;
  other.balls = 8;
  other.ball_diameter = 7.938e-3;
  other.pitch_diameter = 38.5e-3;
  other.conformity = 0.515;
  other.clearance = 10e-6;
  other.load = 600;
  const std::string classic = "6.3, equilibrium at 10,000 rpm without gyroscopic moment, against independent values";
  guard(rows, classic, "6206, 1000 N", [&] {
    const BearingEquilibrium e = bearing_equilibrium(standard, false);
    const auto agree = [&](const char* quantity, double value, double ours, double bound) {
      rows.push_back(Row::near(classic, "6206, 1000 N", quantity, value, ours, bound)
                         .beside(value, "an independent computation of the same equilibrium")
                         .because("its digits"));
    };
    agree("contact angle inner, deg", 17.355, e.alpha_i / degree, 2e-3);
    agree("contact angle outer, deg", 16.718, e.alpha_o / degree, 2e-3);
    agree("ball load inner, N", 372.49, e.Q_i, 0.05);
    agree("ball load outer, N", 386.26, e.Q_o, 0.05);
    agree("inner ring, axial position, um", 114.91, e.z_inner * 1e6, 0.01);
    agree("orbit, rpm", 4011.9, e.orbit * 30 / std::numbers::pi, 0.2);
  });
  run_and_compare("6206, 1000 N", standard, {});
  run_and_compare("6206, 500 N", light, {});
  run_and_compare("6206, 2000 N", heavy, {});
  run_and_compare("8 balls of 7.938 mm on 38.5 mm, f = 0.515, 600 N", other, {});
  run_and_compare("6206, 1000 N, inner ring free to tilt", standard, {.set = {"tilt=1"}});
  run_and_compare("6206, 1000 N, true joints in B", standard,
                  {.method = "split", .formulation = "index-2-relaxed", .step = 1e-6});
  run_and_compare("6206, 1000 N, hht-i3 with true joints, h = 2e-6 s", standard, {.method = "hht-i3", .step = 2e-6});
}

// ---- Evaluations of A at equal accuracy, 0.6 ms
// ---------------------------------------------------------------------------------------------

// The balls and the cage start off their steady motion, so that cage contacts open and close: the cage 3 % slow.
ModelChanges short_run(const std::string& method) {
  ModelChanges c;
  c.method = method;
  c.formulation = "penalty-joints";
  c.end = 6e-4;
  c.set = {"cage_orbit=407.34 rad/s"};
  c.options = {"penalty_frequency=1e7", "penalty_time=5e-7"};
  return c;
}

// Largest error of a position of a body, m.
double position_error(const State& a, const State& b, const Equations& equations) {
  double worst = 0;
  for (std::size_t i = 0; i < equations.model().bodies.size(); ++i) {
    const int q = equations.first_coordinate(static_cast<int>(i));
    worst = std::max(worst, (a.q.segment<3>(q) - b.q.segment<3>(q)).norm());
  }
  return worst;
}

const char* const evaluations_name = "6.3, evaluations of A in 0.6 ms, cage 3 % slow at the start";
const char* const compared = "the error that the evaluations beside it buy: a comparison of methods";
const char* const buys = "what the error beside it costs: a comparison of methods, without a claim for this bearing";

// Runs of 0.6 ms against a tight one.
struct ShortRuns {
  std::string path = (data_directory() / "models" / bearing_file).string();
  State exact;
  std::unique_ptr<Equations> equations;

  ShortRuns() {
    ModelChanges c = short_run("cvode-bdf");
    c.tolerance = 1e-11;
    Model model = load_model(path, c);
    equations = std::make_unique<Equations>(model);
    exact = run_model_file(c).last;
  }
  SteppedRun run_model_file(const ModelChanges& changes) const {
    SteppedRun run = step_model(load_model(path, changes));
    if (!run.finished) throw std::runtime_error(run.why);
    return run;
  }
  double error(const SteppedRun& run) const { return position_error(run.last, exact, *equations); }
};

Row count_row(const std::string& row, const char* quantity, long count, const char* reason) {
  return Row::measure(evaluations_name, row, quantity, static_cast<double>(count)).because(reason);
}

Row compared_error(const std::string& row, double error) {
  return Row::measure(evaluations_name, row, "largest error of a position, m", error).because(compared);
}

void fixed_steps(const ShortRuns& runs, std::vector<Row>& rows) {
  const std::string table = evaluations_name;
  double last_error = 0;
  for (const double h : {4e-6, 2e-6, 1e-6, 5e-7}) {
    char row[48];
    std::snprintf(row, sizeof row, "split, h = %g s", h);
    guard(rows, table, row, [&] {
      ModelChanges c = short_run("split");
      c.step = h;
      const SteppedRun run = runs.run_model_file(c);
      const auto count = static_cast<double>(run.counts.explicit_evaluations);
      if (h == printed_value("split.s63.h"))
        rows.push_back(
            Row::near(table, row, "evaluations of A", printed_value("split.s63.table.split.evaluations"), count, 1)
                .printed_as("split.s63.table.split.evaluations")
                .printed_as("split.s63.gain.split")
                .with({"split.s63.h", "split.s63.table.split.h"})
                .because("one evaluation a step, and one at the start"));
      else
        rows.push_back(Row::measure(table, row, "evaluations of A", count)
                           .because("one a step and one at the start, which has the bound below"));
      const double error = runs.error(run);
      rows.push_back(
          last_error > 0
              ? Row::at_most(table, row, "largest error of a position, m", 0.75 * last_error, error)
                    .because("order 1, and strokes of the cage that are not smooth: less than three quarters "
                             "of the error at twice the step")
              : Row::measure(table, row, "largest error of a position, m", error)
                    .because("the first of the steps: the others are compared with it"));
      last_error = error;
      rows.push_back(Row::near(table, row, "evaluations of A a step", printed_value("split.s3.evaluations"),
                               count / static_cast<double>(run.steps), 2e-2)
                         .printed_as("split.s3.evaluations")
                         .printed_as("split.s7.evaluations")
                         .because("one a step, and one at the start"));
      rows.push_back(Row::measure(table, row, "corrections of B a step",
                                  static_cast<double>(run.counts.newton_iterations) / static_cast<double>(run.steps))
                         .because("the print counts evaluations of A only"));
    });
  }
}

void extrapolated_and_controlled(const ShortRuns& runs, std::vector<Row>& rows) {
  const std::string extrapolated = "split, h = 1e-06 s, velocity extrapolated, beta = 1/2";
  guard(rows, evaluations_name, extrapolated, [&] {
    ModelChanges c = short_run("split");
    c.step = 1e-6;
    c.options.insert(c.options.end(), {"extrapolate_velocity=true", "beta=0.5"});
    rows.push_back(compared_error(extrapolated, runs.error(runs.run_model_file(c))));
  });
  const auto controlled = [&](const std::string& row, double tolerance, const std::vector<std::string>& options) {
    guard(rows, evaluations_name, row, [&] {
      ModelChanges c = short_run("split");
      c.tolerance = tolerance;
      c.options.insert(c.options.end(), options.begin(), options.end());
      const SteppedRun run = runs.run_model_file(c);
      rows.push_back(count_row(row, "evaluations of A", run.counts.explicit_evaluations, buys));
      rows.push_back(compared_error(row, runs.error(run)));
    });
  };
  for (const double tolerance : {1e-6, 1e-7, 1e-8, 1e-9}) {
    char row[64];
    std::snprintf(row, sizeof row, "split, control by error, tolerance %.0e", tolerance);
    controlled(row, tolerance, {});
  }
  for (const char* epsilon : {"0.4", "0.2", "0.1", "0.05"})
    controlled(std::string("split, control by stability, epsilon = ") + epsilon, 1e-5,
               {"control=stability", "bound=4e-6", std::string("epsilon=") + epsilon});
}

// The headline on our bearing: evaluations of BDF, with 12 for each Jacobian, by the 600 of split, at an error that is
// not above that of split.
void gain_row(const ShortRuns& runs, std::vector<Row>& rows) {
  guard(rows, evaluations_name, "gain", [&] {
    ModelChanges c = short_run("split");
    c.step = printed_value("split.s63.h");
    const SteppedRun split = runs.run_model_file(c);
    double least = std::numeric_limits<double>::infinity();
    for (const double tolerance : {1e-3, 1e-4, 1e-5}) {
      ModelChanges b = short_run("cvode-bdf");
      b.tolerance = tolerance;
      const SteppedRun bdf = runs.run_model_file(b);
      if (runs.error(bdf) <= runs.error(split))
        least = std::min(
            least, static_cast<double>(bdf.counts.evaluations) +
                       printed_value("split.s63.jacobian.rigid") * static_cast<double>(bdf.counts.linearisations));
    }
    rows.push_back(Row::measure(evaluations_name, "cvode-bdf, no less accurate than split at 1e-6 s",
                                "evaluations of A, 12 for each Jacobian", least)
                       .printed_as("split.s63.gain.bdf")
                       .because("the print tells neither tolerance nor code of its BDF"));
    rows.push_back(
        Row::near(evaluations_name, "the gain: cvode-bdf by split at equal error", "quotient of evaluations",
                  printed_value("split.s63.gain"), least / static_cast<double>(split.counts.explicit_evaluations), 0.05)
            .printed_as("split.s63.gain")
            .because("two digits")
            .missed_for(
                "on our bearing it is reversed: the balls stay in contact, the motion is smooth, and the higher "
                "orders of BDF pay; the map shows where 2.6 and more are reached"));
  });
}

void beside_cvode(const ShortRuns& runs, std::vector<Row>& rows) {
  for (const double tolerance : {1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8}) {
    char row[48];
    std::snprintf(row, sizeof row, "cvode-bdf, tolerance %.0e", tolerance);
    guard(rows, evaluations_name, row, [&] {
      ModelChanges c = short_run("cvode-bdf");
      c.tolerance = tolerance;
      const SteppedRun run = runs.run_model_file(c);
      const auto f = static_cast<double>(run.counts.evaluations), J = static_cast<double>(run.counts.linearisations);
      rows.push_back(
          count_row(row, "evaluations of A, Jacobians exact and not counted", run.counts.evaluations, why::comparator));
      rows.push_back(count_row(row, "Jacobians", run.counts.linearisations, why::comparator));
      rows.push_back(
          Row::measure(evaluations_name, row, "evaluations of A, 12 for each Jacobian as in the source",
                       f + printed_value("split.s63.jacobian.rigid") * J)
              .printed_as("split.s63.table.bdf.evaluations")
              .with({"split.s63.jacobian.rigid"})
              .because("the print tells neither tolerance nor code of its BDF, and its bearing is not given"));
      rows.push_back(compared_error(row, runs.error(run)));
    });
  }
  for (const double tolerance : {1e-3, 1e-5, 1e-7}) {
    char row[64];
    std::snprintf(row, sizeof row, "cvode-bdf, tolerance %.0e, Jacobians by differences", tolerance);
    guard(rows, evaluations_name, row, [&] {
      ModelChanges c = short_run("cvode-bdf");
      c.tolerance = tolerance;
      c.options.emplace_back("differences=true");
      const SteppedRun run = runs.run_model_file(c);
      rows.push_back(count_row(row, "evaluations of A", run.counts.evaluations, why::comparator));
      rows.push_back(compared_error(row, runs.error(run)));
    });
  }
}

void evaluations(const StudyContext& context, std::vector<Row>& rows) {
  context.note(evaluations_name);
  guard(rows, evaluations_name, "reference", [&] {
    const ShortRuns runs;
    fixed_steps(runs, rows);
    extrapolated_and_controlled(runs, rows);
    beside_cvode(runs, rows);
    gain_row(runs, rows);
  });
}

void figure_6(const StudyContext& context, std::vector<Row>& rows) {
  const auto file = context.picture("split_bearing.png");
  if (!file) return;
  context.note("Figure 6");
  guard(rows, "Figure 6", "bearing", [&] {
    PlotRequest plot;
    plot.title = "Ball bearing, 10,000 rpm, 1000 N, cage 3 % slow at the start (Figure 6)";
    plot.xlabel = "time, s";
    plot.panels = {
        {"ball 1 on the outer ring, N", {}, false}, {"ball 1 on the cage, N", {}, false}, {"cage, rad/s", {}, false}};
    const char* const signals[] = {"force.outer1.normal_force", "force.pocket_of1.normal_force",
                                   "body.cage.angular_velocity.z"};
    for (const char* method : {"split", "cvode-bdf"}) {
      ModelChanges c = short_run(method);
      c.end = 6e-3;
      c.output_step = 1e-5;
      if (method == std::string("split"))
        c.step = 1e-6;
      else
        c.tolerance = 1e-8;
      const ModelRun run = run_model(bearing_file, c);
      for (std::size_t i = 0; i < 3; ++i)
        plot.panels[i].curves.push_back(
            {run.time(), run.column(signals[i]), method, {}, method == std::string("cvode-bdf")});
    }
    draw_plot(plot, *file);
  });
}

// ---- What a step costs
// -----------------------------------------------------------------------------------------------------------------

void cost(const StudyContext& context, std::vector<Row>& rows) {
  const std::string table = "6.3, cost of 10 ms of the bearing on one core";
  context.note(table);
  const std::string path = (data_directory() / "models" / bearing_file).string();
  guard(rows, table, "split, h = 1e-6 s", [&] {
    const SteppedRun run = step_model(load_model(path, {.end = 0.01}));
    if (!run.finished) throw std::runtime_error(run.why);
    const auto steps = static_cast<double>(run.steps);
    Equations equations(load_model(path));
    State state = equations.initial_state();
    Workspace work = equations.make_workspace();
    equations.start(state, work);
    const Rates rates = equations.make_rates();
    Residual residual = equations.make_residual();
    const auto time_of = [&](unsigned parts) {
      const double begin = cpu_seconds();
      constexpr int times = 5000;
      for (int i = 0; i < times; ++i) equations.residual(state, rates, parts, residual, work);
      return (cpu_seconds() - begin) / times;
    };
    const double A = time_of(inertia | forces_explicit), B = time_of(joints | forces_implicit);
    rows.push_back(Row::measure(table, "split, h = 1e-6 s", "seconds", run.seconds));
    rows.push_back(Row::measure(table, "split, h = 1e-6 s", "microseconds a step", run.seconds / steps * 1e6));
    rows.push_back(Row::measure(table, "split, h = 1e-6 s", "of it contacts and the rest of A", A * 1e6)
                       .because(why::machine_time));
    rows.push_back(Row::measure(table, "split, h = 1e-6 s", "of it values of B",
                                B * 1e6 * static_cast<double>(run.counts.evaluations) / steps)
                       .because(why::machine_time));
    rows.push_back(
        Row::measure(table, "split, h = 1e-6 s", "of it derivatives, factors and solves of B, and the rest",
                     (run.seconds / steps - A - B * static_cast<double>(run.counts.evaluations) / steps) * 1e6)
            .because(why::machine_time));
    rows.push_back(Row::measure(table, "split, h = 1e-6 s", "corrections of B a step",
                                static_cast<double>(run.counts.newton_iterations) / steps)
                       .because("how many the seconds beside it are spent on"));
  });
  for (const std::string& method : {std::string("hht-i3"), std::string("split")}) {
    const std::string row = method + ", true joints, h = 1e-6 s";
    guard(rows, table, row, [&] {
      ModelChanges c{.method = method, .step = 1e-6, .end = 0.01};
      if (method == "split") c.formulation = "index-2-relaxed";
      const SteppedRun run = step_model(load_model(path, c));
      if (!run.finished) throw std::runtime_error(run.why);
      rows.push_back(Row::measure(table, row, "seconds", run.seconds));
      rows.push_back(
          Row::measure(table, row, "microseconds a step", run.seconds / static_cast<double>(run.steps) * 1e6));
    });
  }
}

}  // namespace

void bearing_study(const StudyContext& context, std::vector<Row>& rows) {
  closed_forms(context, rows);
  evaluations(context, rows);
  figure_6(context, rows);
  cost(context, rows);
}

}  // namespace trammel::split_study
