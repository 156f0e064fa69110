// The tables and figures of the Rosenbrock-Nystrom paper. The stiff double pendulum: step counts, errors by the paper's
// own procedure, the reference trajectory. The HMMWV over a bump: cost of explicit and implicit integration over the
// tolerance, step sizes, and what other methods and codes make of the same model.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "studies/printed.h"
#include "studies/stepping.h"
#include "studies/study.h"
#include "trammel/base/data_directory.h"
#include "trammel/write/plot.h"

namespace trammel {
namespace rn_study {
namespace {

using Json = nlohmann::json;
using Options = std::vector<std::string>;

std::string label(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

Model load(const std::string& file, const ModelChanges& changes = {}) {
  return load_model((data_directory() / "models" / file).string(), changes);
}

const char* const pendulum_file = "rn_double_pendulum.yaml";
const char* const vehicle_file = "hmmwv_bump.yaml";

// ---- The double pendulum
// ---------------------------------------------------------------------------------------------

void trajectory(const StudyContext& context, std::vector<Row>& rows) {
  const std::string table = "double pendulum, reference trajectory";
  context.note(table);
  guard(rows, table, "tolerance 1e-12", [&] {
    const ModelRun run = run_model(pendulum_file, {.tolerance = 1e-12, .output_step = 0.1});
    const Reference reference = read_reference("data/rn/double_pendulum.csv");
    for (const char* angle : {"theta1", "theta2"})
      rows.push_back(Row::error(table, "tolerance 1e-12", std::string("largest error of ") + angle + ", rad",
                                max_error(run, angle, reference, angle), 1e-9));
    for (const char* angle : {"theta1", "theta2"})
      rows.push_back(Row::error(table, "tolerance 1e-12", std::string("largest error of ") + angle + "', rad/s",
                                max_error(run, std::string(angle) + "_rate", reference, std::string(angle) + "dot"),
                                1e-8));
  });
  guard(rows, table, "Figure 2", [&] {
    const auto file = context.picture("rn_double_pendulum.png");
    if (!file) return;
    const ModelRun run = run_model(pendulum_file, {.tolerance = 1e-6, .output_step = 0.005});
    PlotRequest plot;
    plot.title = "Stiff double pendulum from rest (Figure 2)";
    plot.xlabel = "time, s";
    plot.panels = {{"theta1, rad", {{run.time(), run.column("theta1"), "", {}, false}}, false},
                   {"theta1', rad/s", {{run.time(), run.column("theta1_rate"), "", {}, false}}, false}};
    draw_plot(plot, *file);
  });
}

// How the steps of Table 5 are taken: in which coordinates, and with which settings of the control.
struct Setting {
  const char* name;
  const char* formulation;
  bool named;  // the absolute angles, as the model names them
  Options options;
  std::optional<double> first_step;
  double part, plus;  // allowed difference from the print: a part of it, or a number of steps; 0, 0: none demanded
};

// Accepted steps of a run of the pendulum.
double pendulum_steps(double tolerance, const Setting& setting) {
  Model model =
      load(pendulum_file,
           {.formulation = std::string(setting.formulation), .tolerance = tolerance, .options = setting.options});
  if (setting.first_step) model.simulation.first_step = setting.first_step;
  if (!setting.named) model.simulation.independent.clear();
  const SteppedRun run = step_model(std::move(model));
  if (!run.finished) throw Failure({Severity::error, "run-failed", run.why, "", {}}, ExitCode::failed_run);
  return static_cast<double>(run.steps);
}

void steps_table(const StudyContext& context, std::vector<Row>& rows, const Json& printed) {
  const Setting settings[] = {
      {"absolute angles, defaults", "state-space", true, {}, {}, 0.15, 0},
      {"absolute angles, tuned on this very table: safety 0.84, factors 0.1 to 10, first step 1e-6 s",
       "state-space",
       true,
       {"safety=0.84", "least_factor=0.1", "greatest_factor=10"},
       1e-6,
       0,
       2},
      {"coordinates chosen automatically, defaults", "state-space", false, {}, {}, 0, 0},
      {"all coordinates, defaults", "all-coordinates", false, {}, {}, 0, 0},
      {"absolute angles, scaled estimate", "state-space", true, {"scaled_estimate=true"}, {}, 0, 0},
  };
  for (const Setting& setting : settings) {
    const std::string table = std::string("Table 5, steps of the double pendulum: ") + setting.name;
    context.note(table);
    for (std::size_t i = 0; i < printed["steps"]["steps"].size(); ++i) {
      const double tolerance = printed["steps"]["tolerance"][i].get<double>();
      const double target = printed["steps"]["steps"][i].get<double>();
      const std::string row = label("tolerance %.0e", tolerance);
      guard(rows, table, row, [&] {
        const double steps = pendulum_steps(tolerance, setting);
        const double allowed = setting.part * target + setting.plus;
        rows.push_back((allowed > 0 ? Row::near(table, row, "steps", target, steps, allowed)
                                    : Row::measure(table, row, "steps", steps))
                           .with_printed(target));
      });
    }
  }
}

// The paper's procedure: a reference run, interpolated by the cubic through four neighbours at the times of the run,
// which are those of its steps. The paper's reference has a constant step; one that resolves the first 1e-5 s, where
// the second rod jerks into motion, would take two million of them, so that ours is controlled.
void error_tables(const StudyContext& context, std::vector<Row>& rows, const Json& printed) {
  context.note("Tables 4 and 6, reference run");
  const ModelRun reference = run_model(pendulum_file, {.tolerance = 1e-11, .output_step = 0});
  struct Quantity {
    const char *table, *signal, *key, *unit;
  };
  const Quantity quantities[] = {
      {"Table 4, errors of theta1 of the double pendulum", "theta1", "position", "rad"},
      {"Table 6, errors of theta1' of the double pendulum", "theta1_rate", "velocity", "rad/s"}};
  for (const Quantity& q : quantities) {
    for (const Json& p : printed[q.key]) {
      const double tolerance = p["tolerance"].get<double>();
      const std::string row = label("tolerance %.0e", tolerance), table = q.table;
      guard(rows, table, row, [&] {
        const ModelRun run = run_model(pendulum_file, {.tolerance = tolerance, .output_step = 0});
        const std::vector<double> t = run.time(), ours = run.column(q.signal),
                                  exact = sample(reference, q.signal, t, Between::cubic);
        double largest = 0, sum = 0, at = 0, value = 0;
        for (std::size_t i = 1; i < t.size(); ++i) {
          const double e = std::abs(ours[i] - exact[i]);
          sum += e * e;
          if (e <= largest) continue;
          largest = e;
          at = t[i];
          value = std::abs(exact[i]);
        }
        const double mean = std::sqrt(sum / static_cast<double>(t.size() - 1));
        // "Accuracy of the order of the tolerance": by the sizes of theta1, up to 7, and of its rate, up to 10.
        rows.push_back(Row::at_most(table, row, std::string("largest error, ") + q.unit + " (target: 50 tolerances)",
                                    50 * tolerance, largest)
                           .with_printed(p["largest"].get<double>()));
        rows.push_back(
            Row::measure(table, row, std::string("mean error, ") + q.unit, mean).with_printed(p["mean"].get<double>()));
        rows.push_back(Row::measure(table, row, "relative error there, %", 100 * largest / value));
        rows.push_back(
            Row::measure(table, row, "time of the largest error, s", at).with_printed(p["at"].get<double>()));
      });
    }
  }
}

void pendulum_goal(const StudyContext& context, std::vector<Row>& rows) {
  const std::string table = "double pendulum, cost";
  context.note(table);
  guard(rows, table, "stepping", [&] {
    const int angle = 2;  // of rod1, the first body
    const SteppedRunOptions look{.grid = 0.1, .look = [](const State& s, const Equations&) { return s.q[angle]; }};
    const Reference reference = read_reference("data/rn/double_pendulum.csv");
    double quickest = 1e300;
    for (const char* formulation : {"state-space", "all-coordinates"}) {
      for (const double tolerance : {1e-3, 5e-4, 2.5e-4}) {
        double least = 1e300;
        SteppedRun run;
        for (int i = 0; i < 20; ++i) {  // the least of several: other programs only make it slower
          run =
              step_model(load(pendulum_file, {.formulation = std::string(formulation), .tolerance = tolerance}), look);
          least = std::min(least, run.seconds);
        }
        const std::string row = std::string(formulation) + label(", tolerance %.1e", tolerance);
        const double error = max_error(run.grid, reference.column("theta1"));
        rows.push_back(Row::measure(table, row, "steps", static_cast<double>(run.steps)));
        rows.push_back(Row::measure(table, row, "largest error of theta1, rad", error));
        rows.push_back(Row::measure(table, row, "stepping, ms", 1e3 * least));
        if (error <= 1e-3) quickest = std::min(quickest, 1e3 * least);
      }
    }
    rows.push_back(Row::at_most(table, "the quickest with an error of at most 1e-3", "stepping, ms", 1, quickest));
  });
}

// ---- The vehicle
// -------------------------------------------------------------------------------------------------------

// Height of the chassis' centre of mass: the first body's.
double chassis_height(const State& s, const Equations& e) { return s.q[e.first_coordinate(0) + 2]; }

struct Excursion {
  std::vector<double> height;  // on the grid
  double size = 0;             // between its least and its greatest value
};

constexpr double grid = 0.01;

Excursion tight_vehicle(double tolerance) {
  Model model = load(vehicle_file, {.tolerance = tolerance, .greatest_step = 0.01});
  const SteppedRun run = step_model(std::move(model), {.grid = grid, .look = chassis_height});
  if (!run.finished) throw Failure({Severity::error, "run-failed", run.why, "", {}}, ExitCode::failed_run);
  const auto [low, high] = std::minmax_element(run.grid.begin(), run.grid.end());
  return {run.grid, *high - *low};
}

double part_of_excursion(const SteppedRun& run, const Excursion& exact) {
  double largest = 0;
  for (std::size_t i = 0; i < std::min(run.grid.size(), exact.height.size()); ++i)
    largest = std::max(largest, std::abs(run.grid[i] - exact.height[i]));
  return largest / exact.size;
}

void counts_and_rest(std::vector<Row>& rows) {
  const std::string table = "HMMWV, the model", row = "as drawn and at rest";
  guard(rows, table, row, [&] {
    Simulation simulation(load(vehicle_file));
    simulation.start();
    const Equations& e = simulation.equations();
    const Sizes n = e.sizes();
    const auto bodies = static_cast<double>(e.model().bodies.size());
    rows.push_back(Row::near(table, row, "bodies", 14, bodies, 0));
    rows.push_back(Row::near(table, row, "joint rows", 66, n.ng, 0));
    rows.push_back(
        Row::near(table, row, "constraints with one normalisation a body", 80, n.ng + bodies, 0).with_printed(80));
    rows.push_back(Row::near(table, row, "coordinates", 98, n.nq, 0).with_printed(98));
    rows.push_back(Row::near(table, row, "degrees of freedom", 18, simulation.initial().rank.freedoms_by_rank, 0)
                       .with_printed(18));
    rows.push_back(Row::near(table, row, "height of the chassis at rest, m", 0.7904628,
                             chassis_height(simulation.integrator().state(), e), 1e-6));
  });
}

struct VehicleMethod {
  const char *name, *method, *formulation;  // formulation: empty is the method's own choice
  Options options;
  std::vector<double> tolerances;
  double end;
  const char* printed;  // key of the paper's times; null: it has none
};

// A row of Table 7 or 8 and what it took.
SteppedRun vehicle_run(const VehicleMethod& m, double tolerance, double end) {
  ModelChanges changes{.method = std::string(m.method), .tolerance = tolerance, .end = end, .options = m.options};
  if (*m.formulation != '\0') changes.formulation = m.formulation;
  return step_model(
      load(vehicle_file, changes),
      {.grid = grid, .look = chassis_height, .marks = {1, 2, 3, 4}, .keep_steps = end >= 1, .patience = 1800});
}

void report_vehicle(const std::string& table, const std::string& row, const SteppedRun& run, double end,
                    const Excursion& exact, std::vector<Row>& rows) {
  if (!run.finished) {
    Row failed = Row::measure(table, row, "steps until it was given up", static_cast<double>(run.steps));
    failed.note = run.why;
    rows.push_back(failed);
    return;
  }
  rows.push_back(Row::measure(table, row, "steps", static_cast<double>(run.steps)));
  rows.push_back(Row::measure(table, row, "rejected", static_cast<double>(run.rejected)));
  rows.push_back(Row::measure(table, row, "evaluations", static_cast<double>(run.counts.evaluations)));
  rows.push_back(Row::measure(table, row, "mean step, s", end / static_cast<double>(run.steps)));
  rows.push_back(Row::measure(table, row, "seconds", run.seconds));
  rows.push_back(Row::measure(table, row, "error of the height, part of the excursion", part_of_excursion(run, exact)));
  const auto at_bump = std::count_if(run.t.begin(), run.t.end(),
                                     [](double t) { return (t > 0.5 && t < 0.6) || (t > 1.24 && t < 1.34); });
  if (end > 1.4)
    rows.push_back(Row::measure(table, row, "steps while wheels are on the bump", static_cast<double>(at_bump)));
}

void draw_vehicle(const StudyContext& context, const SteppedRun& run) {
  const auto file = context.picture("rn_hmmwv.png");
  if (!file) return;
  std::vector<double> times;
  for (std::size_t i = 0; i < run.grid.size(); ++i) times.push_back(grid * static_cast<double>(i));
  PlotRequest plot;
  plot.title = "HMMWV at 10 mph over a bump (Figure 4)";
  plot.subtitle = "rosenbrock-nystrom-4, tolerance 1e-3, h at most 0.04 s; tyres that may pull";
  plot.xlabel = "time, s";
  plot.panels = {{"step size, s", {{run.t, run.h, "", PlotStyle::linespoints, false}}, true},
                 {"chassis height, m", {{times, run.grid, "", {}, false}}, false}};
  draw_plot(plot, *file);
}

void vehicle_tables(const StudyContext& context, std::vector<Row>& rows, const Json& printed) {
  context.note("HMMWV, tight run");
  Excursion exact;
  guard(rows, "HMMWV, tight run", "tolerance 1e-8", [&] {
    exact = tight_vehicle(1e-8);
    const Excursion other = tight_vehicle(1e-7);
    double change = 0;
    for (std::size_t i = 0; i < exact.height.size(); ++i)
      change = std::max(change, std::abs(exact.height[i] - other.height[i]));
    rows.push_back(
        Row::measure("HMMWV, tight run", "tolerance 1e-8", "excursion of the chassis' height, m", exact.size));
    rows.push_back(Row::at_most("HMMWV, tight run", "tolerance 1e-8",
                                "largest change against 1e-7, part of the excursion", 1e-4, change / exact.size));
  });
  if (exact.height.empty()) return;
  const std::vector<double> all{1e-2, 1e-3, 1e-4, 1e-5};
  const VehicleMethod methods[] = {
      {"rosenbrock-nystrom-4", "rosenbrock-nystrom-4", "", {}, all, 5, "implicit"},
      {"rosenbrock-nystrom-4, state space", "rosenbrock-nystrom-4", "state-space", {}, all, 5, "implicit"},
      {"hht-i3", "hht-i3", "", {}, all, 5, nullptr},
      {"cvode-bdf", "cvode-bdf", "", {}, all, 5, nullptr},
      {"w-method-2, all derivatives", "w-method-2", "", {}, {1e-2, 1e-3}, 5, nullptr},
      {"w-method-2, without those of tyres and suspension springs",
       "w-method-2",
       "",
       {"forces_without_derivatives=*.tyre,*.spring"},
       {1e-2, 1e-3},
       5,
       nullptr},
      {"w-method-2, without those of the bushings too, 0.01 s only",
       "w-method-2",
       "",
       {"forces_without_derivatives=*.tyre,*.spring,*.bushing"},
       {1e-2},
       0.01,
       nullptr},
  };
  std::vector<Row> goals;
  for (const VehicleMethod& m : methods) {
    const std::string table = std::string("HMMWV over the bump: ") + m.name;
    for (const double tolerance : m.tolerances) {
      const std::string row = label("tolerance %.0e", tolerance);
      context.note(table + ", " + row);
      guard(rows, table, row, [&] {
        const SteppedRun run = vehicle_run(m, tolerance, m.end);
        report_vehicle(table, row, run, m.end, exact, rows);
        if (&m != &methods[0] || tolerance != 1e-3) return;
        const std::string goal = "HMMWV, goals", at = "rosenbrock-nystrom-4, tolerance 1e-3, h <= 0.04";
        goals.push_back(Row::at_most(goal, at, "steps", 200, static_cast<double>(run.steps)));
        goals.push_back(Row::at_most(goal, at, "seconds of one core", 0.15, run.seconds));
        goals.push_back(
            Row::at_most(goal, at, "error of the height, part of the excursion", 2e-3, part_of_excursion(run, exact)));
        draw_vehicle(context, run);
      });
    }
  }
  rows.insert(rows.end(), goals.begin(), goals.end());
  // Tables 7 and 8 by the clock.
  const Json& paper = printed["hmmwv"];
  const VehicleMethod implicit{"rosenbrock-nystrom-4", "rosenbrock-nystrom-4", "", {}, all, 4, "implicit"},
      adams{"adams", "adams", "", {}, all, 4, "explicit"},
      cvode{"cvode-adams", "cvode-adams", "", {}, all, 0.1, nullptr};
  for (std::size_t k = 0; k < all.size(); ++k) {
    const std::string row = label("tolerance %.0e", all[k]);
    context.note("Tables 7 and 8, " + row);
    guard(rows, "Tables 7 and 8", row, [&] {
      const SteppedRun slow = vehicle_run(adams, all[k], adams.end), quick = vehicle_run(implicit, all[k], 4);
      report_vehicle("HMMWV over the bump: adams", row, slow, adams.end, exact, rows);
      for (std::size_t i = 0; i < quick.marked.size(); ++i) {
        const std::string table = "Tables 7 and 8, to t = " + label("%.0f s", static_cast<double>(i + 1));
        const double their_slow = paper["explicit"][i][k].get<double>(),
                     their_quick = paper["implicit"][i][k].get<double>();
        rows.push_back(
            Row::measure(table, row, "seconds, rosenbrock-nystrom-4", quick.marked[i]).with_printed(their_quick));
        if (i >= slow.marked.size()) continue;
        rows.push_back(Row::measure(table, row, "seconds, adams", slow.marked[i]).with_printed(their_slow));
        rows.push_back(
            Row::measure(table, row, "ratio", slow.marked[i] / quick.marked[i]).with_printed(their_slow / their_quick));
      }
    });
    guard(rows, "HMMWV over the bump: cvode-adams, 0.1 s only", row, [&] {
      report_vehicle("HMMWV over the bump: cvode-adams, 0.1 s only", row, vehicle_run(cvode, all[k], 0.1), 0.1, exact,
                     rows);
    });
  }
}

std::vector<Row> run(const StudyContext& context) {
  const Json printed = read_printed("rn.json");
  std::vector<Row> rows;
  trajectory(context, rows);
  steps_table(context, rows, printed);
  guard(rows, "Tables 4 and 6", "reference run", [&] { error_tables(context, rows, printed); });
  pendulum_goal(context, rows);
  counts_and_rest(rows);
  vehicle_tables(context, rows, printed);
  return rows;
}

}  // namespace
}  // namespace rn_study

std::vector<Row> study_rn(const StudyContext& context) { return rn_study::run(context); }

}  // namespace trammel
