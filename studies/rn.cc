// The tables and figures of the Rosenbrock-Nystrom paper. The stiff double pendulum: step counts, errors by the paper's
// own procedure, the reference trajectory. The HMMWV over a bump: cost of explicit and implicit integration over the
// tolerance, step sizes, and what other methods and codes make of the same model.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "studies/printed.h"
#include "studies/rn_parts.h"
#include "studies/stepping.h"
#include "studies/study.h"
#include "trammel/base/data_directory.h"
#include "trammel/write/plot.h"

namespace trammel {
namespace rn_study {

void take_printed_weights(Model& model) {
  model.simulation.length = 1;
  model.simulation.time_scale = 1;
}

std::string cell(const char* table, int k, const char* column) {
  return "rn." + std::string(table) + ".k-" + std::to_string(k) + "." + column;
}

StepErrors errors_at_steps(const ModelRun& run, const ModelRun& reference, const char* signal) {
  const std::vector<double> t = run.time(), ours = run.column(signal),
                            exact = sample(reference, signal, t, Between::cubic);
  StepErrors out;
  double sum = 0, value = 0;
  for (std::size_t i = 1; i < t.size(); ++i) {
    const double e = std::abs(ours[i] - exact[i]);
    sum += e * e;
    if (e <= out.largest) continue;
    out.largest = e;
    out.at = t[i];
    value = std::abs(exact[i]);
  }
  out.mean = std::sqrt(sum / static_cast<double>(t.size() - 1));
  out.relative = 100 * out.largest / value;
  return out;
}

namespace {

using Options = std::vector<std::string>;

std::string label(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

Model load(const std::string& file, const ModelChanges& changes = {}) {
  return load_model((data_directory() / "models" / file).string(), changes);
}

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
                                max_error(run, angle, reference, angle), 1e-9)
                         .because("an independent reference with its digits"));
    for (const char* angle : {"theta1", "theta2"})
      rows.push_back(Row::error(table, "tolerance 1e-12", std::string("largest error of ") + angle + "', rad/s",
                                max_error(run, std::string(angle) + "_rate", reference, std::string(angle) + "dot"),
                                1e-8)
                         .because("an independent reference with its digits"));
  });
  guard(rows, table, "ranges named in the text", [&] {
    const ModelRun run = run_model(pendulum_file, {.tolerance = 1e-8, .output_step = 0.001});
    const std::vector<double> angle = run.column("theta1"), rate = run.column("theta1_rate");
    const auto swing = std::minmax_element(angle.begin() + 100, angle.end()),
               speed = std::minmax_element(rate.begin(), rate.end());
    const std::string row = "ranges named in the text";
    const auto compare = [&](const char* quantity, const char* id, double ours) {
      rows.push_back(Row::near(table, row, quantity, printed_value(id), ours, 1)
                         .printed_as(id)
                         .because("whole numbers in the text, some rounded in and some out: a unit"));
    };
    compare("least theta1 after 0.1 s, rad", "rn.s31.theta1.min", *swing.first);
    compare("greatest theta1 after 0.1 s, rad", "rn.s31.theta1.max", *swing.second);
    compare("least theta1', rad/s", "rn.s31.w1.min", *speed.first);
    compare("greatest theta1', rad/s", "rn.s31.w1.max", *speed.second);
    // Both rods hang straight down there, so that gravity does not shift the spring's relaxed angle.
    const ModelRun rest = run_model(pendulum_file, {.tolerance = 1e-6, .end = 20, .output_step = 0.1});
    rows.push_back(
        Row::near(table, row, "theta1 at rest, after 20 s, rad", printed_value("rn.s31.theta1.end"),
                  rest.last("theta1"), 1e-4)
            .printed_as("rn.s31.theta1.end")
            .because("20 s of damping, exp(-0.93 t), leave 1e-8 of the swing; two digits for a run at 1e-6"));
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

// A control of the step that the print does not tell and that makes as many steps as Table 5 has: the best of 2,880
// that an independent code tried on this very table.
const char* const tuned_name = "tuned on Table 5: safety 0.84, factors 0.1 to 10, first step 1e-6 s";
const char* const tuned_on_table_5 =
    "safety factor, limits of the step's factor and first step, which the print does not tell, were chosen on Table 5";
const Options tuned_control{"safety=0.84", "least_factor=0.1", "greatest_factor=10"};
constexpr double tuned_first_step = 1e-6;

// How the steps of Table 5 are taken: in which coordinates, and with which settings of the control.
struct Setting {
  std::string name;
  const char* formulation;
  bool named;            // the absolute angles, as the model names them
  bool printed_weights;  // or those of the model's own scales
  Options options;
  std::optional<double> first_step;
  double part, plus;  // allowed difference from the print: a part of it, or a number of steps; 0, 0: none demanded
  const char* reason;
  const char* tuned = "";
};

// Accepted steps of a run of the pendulum.
double pendulum_steps(double tolerance, const Setting& setting) {
  Model model =
      load(pendulum_file,
           {.formulation = std::string(setting.formulation), .tolerance = tolerance, .options = setting.options});
  if (setting.printed_weights) take_printed_weights(model);
  if (setting.first_step) model.simulation.first_step = setting.first_step;
  if (!setting.named) model.simulation.independent.clear();
  const SteppedRun run = step_model(std::move(model));
  if (!run.finished) throw Failure({Severity::error, "run-failed", run.why, "", {}}, ExitCode::failed_run);
  return static_cast<double>(run.steps);
}

void steps_table(const StudyContext& context, std::vector<Row>& rows) {
  const char* const untold =
      "the print does not tell its safety factor, the limits of the step's factor and its first step, which the tuned "
      "rows show to move the count by this much";
  const char* const other = "other coordinates or weights than the print's: for comparison";
  const Setting settings[] = {
      {"absolute angles, the paper's weights, defaults", "state-space", true, true, {}, {}, 0.12, 0, untold},
      {std::string("absolute angles, the paper's weights, ") + tuned_name, "state-space", true, true, tuned_control,
       tuned_first_step, 0, 1, "settings that the print does not tell, tuned on these six numbers: a step is left",
       tuned_on_table_5},
      {"absolute angles, the model's own scales, defaults", "state-space", true, false, {}, {}, 0, 0, other},
      {"coordinates chosen automatically, the paper's weights, defaults",
       "state-space",
       false,
       true,
       {},
       {},
       0,
       0,
       other},
      {"all coordinates, the paper's weights, defaults", "all-coordinates", false, true, {}, {}, 0, 0, other},
      {"absolute angles, the paper's weights, scaled estimate",
       "state-space",
       true,
       true,
       {"scaled_estimate=true"},
       {},
       0,
       0,
       other},
  };
  for (const Setting& setting : settings) {
    const std::string table = "Table 5, steps of the double pendulum: " + setting.name;
    context.note(table);
    for (int k = 2; k <= 7; ++k) {
      const std::string id = cell("table5", k, "steps");
      const double tolerance = std::pow(10.0, printed_value(cell("table5", k, "k"))), target = printed_value(id);
      const std::string row = label("tolerance %.0e", tolerance);
      guard(rows, table, row, [&] {
        const double steps = pendulum_steps(tolerance, setting);
        const double allowed = setting.part * target + setting.plus;
        rows.push_back((allowed > 0 ? Row::near(table, row, "steps", target, steps, allowed)
                                    : Row::measure(table, row, "steps", steps))
                           .printed_as(id)
                           .with({cell("table5", k, "k")})
                           .because(setting.reason)
                           .tuned_on(setting.tuned));
      });
    }
  }
}

// Tables 4 and 6: a variable, and what the text calls a good error of it.
struct ErrorTable {
  const char *name, *signal, *key, *unit, *bound;
};

const char* const above_the_print =
    "the print is 3 to 7 times smaller, twice at 1e-5, and the coordinates of its authors are not known: an "
    "independent code that takes as many steps as printed stands where ours does, and 800 choices of control "
    "and norm at 4 tolerances do not close the gap";

// Rows of one tolerance, by the defaults or by the tuned control. `theirs` are errors of the independent code with the
// latter.
void error_rows(std::vector<Row>& rows, const std::string& table, const ErrorTable& q, int k, const StepErrors& ours,
                const nlohmann::json* theirs) {
  const bool tuned = theirs != nullptr;
  const char* const tuning = tuned ? tuned_on_table_5 : "";
  const auto id = [&](const char* column) { return cell(q.key, k, column); };
  const double tolerance = std::pow(10.0, printed_value(id("k")));
  const std::string row = label("tolerance %.0e", tolerance);
  const bool rates = q.key == std::string("table6");
  const char* const code = "an independent code of the method with the tuned control";
  const auto compare = [&](const std::string& quantity, const char* column, double number) {
    const bool relative = column == std::string("rel");
    // At 1e-5 the gap closes, but for the relative error, whose worst step is elsewhere: within twice the print for the
    // rates, on the edge of it for the angle with the tuned control.
    const bool edge = k == 5 && !rates && tuned, closed = k == 5 && rates && !relative;
    Row made = edge ? Row::measure(table, row, quantity, number)
                          .because(
                              "an independent code is 1.9 to 2.1 times above the print here: twice the print would "
                              "hang on the last steps")
                    : Row::at_most(table, row, quantity, 2 * printed_value(id(column)), number)
                          .because("another sequence of steps, of about as many: twice the print, or its correction")
                          .missed_for(closed ? "" : above_the_print);
    rows.push_back(std::move(made).printed_as(id(column)).with({id("k")}).tuned_on(tuning));
    if (!tuned || relative) return;
    const double other = theirs->at(column).get<double>();
    rows.back().own = other;
    rows.back().origin = code;
    rows.push_back(Row::near(table, row, quantity + ", against the independent code", other, number, 0.2 * other)
                       .because("a fifth: what its own errors by the tolerance scatter from one tolerance to the next")
                       .beside(other, code));
  };
  compare(std::string("largest error, ") + q.unit, "max", ours.largest);
  compare(std::string("mean error, ") + q.unit, "mean", ours.mean);
  compare("relative error there, %", "rel", ours.relative);
  rows.push_back(Row::measure(table, row, "time of the largest error, s", ours.at)
                     .printed_as(id("t"))
                     .because("which step is the worst depends on the sequence of steps")
                     .tuned_on(tuning));
  rows.push_back(
      Row::at_most(table, row, "largest error by the tolerance", printed_value(q.bound), ours.largest / tolerance)
          .printed_as(q.bound)
          .because("what the text calls the order of the error that the tolerance allows")
          .missed_for(rates ? above_the_print : "")
          .tuned_on(tuning));
}

// The paper's procedure: a reference run, interpolated by the cubic through four neighbours at the times of the run,
// which are those of its steps. The paper's reference has a constant step; one that resolves the first 1e-5 s, where
// the second rod jerks into motion, would take two million of them, so that ours is controlled.
void error_tables(const StudyContext& context, std::vector<Row>& rows) {
  context.note("Tables 4 and 6, reference run");
  const ModelRun reference = run_model(pendulum_file, {.tolerance = 1e-11, .output_step = 0});
  const nlohmann::json others = read_data("rn.json").at("errors");
  const ErrorTable tables[] = {
      {"Table 4, errors of theta1 of the double pendulum", "theta1", "table4", "rad", "rn.s31.bound"},
      {"Table 6, errors of theta1' of the double pendulum", "theta1_rate", "table6", "rad/s", "rn.s31.w1.good"}};
  for (const bool tuned : {false, true}) {
    for (const ErrorTable& q : tables) {
      const std::string table = std::string(q.name) + ": the paper's weights, " + (tuned ? tuned_name : "defaults");
      for (int k = 2; k <= 5; ++k) {
        const double tolerance = std::pow(10.0, printed_value(cell(q.key, k, "k")));
        guard(rows, table, label("tolerance %.0e", tolerance), [&] {
          ModelChanges changes{.tolerance = tolerance, .output_step = 0};
          if (tuned) changes.options = tuned_control;
          Model model = load(pendulum_file, changes);
          take_printed_weights(model);
          if (tuned) model.simulation.first_step = tuned_first_step;
          const StepErrors ours = errors_at_steps(run_model(std::move(model)), reference, q.signal);
          error_rows(rows, table, q, k, ours, tuned ? &others.at(q.key).at(std::to_string(k)) : nullptr);
        });
      }
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
        rows.push_back(Row::measure(table, row, "steps", static_cast<double>(run.steps)).because(why::work));
        rows.push_back(
            Row::at_most(table, row, "largest error of theta1, rad", printed_value("rn.s31.bound") * tolerance, error)
                .because("what the text allows: 7 tolerances"));
        rows.push_back(Row::measure(table, row, "stepping, ms", 1e3 * least).because(why::machine_time));
        if (error <= 1e-3) quickest = std::min(quickest, 1e3 * least);
      }
    }
    rows.push_back(Row::measure(table, "the quickest with an error of at most 1e-3", "stepping, ms (goal: 1)", quickest)
                       .because(why::machine_time));
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
    const auto count = [&](const char* quantity, const std::vector<std::string>& ids, double ours) {
      Row made = Row::near(table, row, quantity, printed_value(ids[0]), ours, 0).because(why::exact);
      for (const std::string& id : ids) made = Row(std::move(made).printed_as(id));
      rows.push_back(made);
    };
    count("bodies", {"rn.s32.bodies", "rn.s4.bodies"}, bodies);
    count("coordinates", {"rn.s32.coordinates"}, n.nq);
    count("degrees of freedom", {"rn.s32.dof", "rn.s4.dof"}, simulation.initial().rank.freedoms_by_rank);
    double of_joints = bodies, of_steering = 0;  // the print has Euler parameters, with a normalisation each
    for (int c = 0; c < e.constraint_count(); ++c)
      (e.constraint_info(c).is_motion ? of_steering : of_joints) += e.constraint_info(c).rows;
    count("rows of joints, with one normalisation a body", {"rn.s32.constraints"}, of_joints);
    count("rows of the steering", {"rn.s32.constraints.steering"}, of_steering);
    double bump_at = 0;
    for (const Parameter& p : e.model().parameters) bump_at = p.name == "bump_at" ? p.value : bump_at;
    Workspace work = e.make_workspace();
    e.update(simulation.integrator().state(), work);
    const Vec3 wheel = e.frame(e.model().find_frame("front_left.wheel"), work).p;
    const double tyre = 0.467, half = 0.5 * printed_value("rn.s32.bump"), speed = 4.4704;
    const double reach = std::sqrt((tyre + half) * (tyre + half) - tyre * tyre);
    rows.push_back(Row::near(table, row, "time at which the front wheels touch the bump, s",
                             printed_value("rn.s32.front"), (bump_at - reach - wheel.x()) / speed, 1e-4)
                       .printed_as("rn.s32.front")
                       .with({"rn.s32.bump"})
                       .because("the model is placed so: tyre of 0.467 m, bump of the printed diameter, 10 mph"));
    rows.push_back(Row::near(table, row, "height of the chassis at rest, m", 0.7904628,
                             chassis_height(simulation.integrator().state(), e), 1e-6)
                       .beside(0.7904628, "an independent computation of the equilibrium")
                       .because("the digits known"));
  });
}

struct VehicleMethod {
  const char *name, *method, *formulation;  // formulation: empty is the method's own choice
  Options options;
  std::vector<double> tolerances;
  double end;
};

// A run, at the model's own scales or with the paper's weights.
SteppedRun vehicle_run(const VehicleMethod& m, double tolerance, double end, bool printed_weights = false) {
  ModelChanges changes{.method = std::string(m.method), .tolerance = tolerance, .end = end, .options = m.options};
  if (*m.formulation != '\0') changes.formulation = m.formulation;
  Model model = load(vehicle_file, changes);
  if (printed_weights) take_printed_weights(model);
  return step_model(
      std::move(model),
      {.grid = grid, .look = chassis_height, .marks = {1, 2, 3, 4}, .keep_steps = end >= 1, .patience = 1800});
}

const char* const work_compared =
    "how much work a method takes is compared, not claimed; how its error falls with the tolerance has the "
    "bound, where it runs at several";

void report_vehicle(const std::string& table, const std::string& row, const SteppedRun& run, double end,
                    const Excursion& exact, std::vector<Row>& rows) {
  if (!run.finished) {
    rows.push_back(
        Row::measure(table, row, "steps until it was given up", static_cast<double>(run.steps)).because(work_compared));
    rows.back().note = run.why;
    return;
  }
  const auto work = [&](const char* quantity, double number) {
    rows.push_back(Row::measure(table, row, quantity, number).because(work_compared));
  };
  work("steps", static_cast<double>(run.steps));
  work("rejected", static_cast<double>(run.rejected));
  work("evaluations", static_cast<double>(run.counts.evaluations));
  work("mean step, s", end / static_cast<double>(run.steps));
  rows.push_back(Row::measure(table, row, "seconds", run.seconds));
  rows.push_back(Row::measure(table, row, "error of the height, part of the excursion", part_of_excursion(run, exact))
                     .because("a comparison of methods; how it falls with the tolerance has the bound"));
  const auto at_bump = std::count_if(run.t.begin(), run.t.end(),
                                     [](double t) { return (t > 0.5 && t < 0.6) || (t > 1.24 && t < 1.34); });
  if (end > 1.4) work("steps while wheels are on the bump", static_cast<double>(at_bump));
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

void vehicle_tables(const StudyContext& context, std::vector<Row>& rows) {
  context.note("HMMWV, tight run");
  Excursion exact;
  guard(rows, "HMMWV, tight run", "tolerance 1e-8", [&] {
    exact = tight_vehicle(1e-8);
    const Excursion other = tight_vehicle(1e-7);
    double change = 0;
    for (std::size_t i = 0; i < exact.height.size(); ++i)
      change = std::max(change, std::abs(exact.height[i] - other.height[i]));
    rows.push_back(Row::measure("HMMWV, tight run", "tolerance 1e-8", "excursion of the chassis' height, m", exact.size)
                       .because("the size that errors are a part of"));
    rows.push_back(Row::at_most("HMMWV, tight run", "tolerance 1e-8",
                                "largest change against 1e-7, part of the excursion", 1e-5, change / exact.size)
                       .because("below all errors that are compared with it"));
  });
  if (exact.height.empty()) return;
  const std::vector<double> all{1e-2, 1e-3, 1e-4, 1e-5};
  const VehicleMethod methods[] = {
      {"rosenbrock-nystrom-4", "rosenbrock-nystrom-4", "", {}, all, 5},
      {"rosenbrock-nystrom-4, state space", "rosenbrock-nystrom-4", "state-space", {}, all, 5},
      {"hht-i3", "hht-i3", "", {}, all, 5},
      {"cvode-bdf", "cvode-bdf", "", {}, all, 5},
      {"w-method-2, all derivatives", "w-method-2", "", {}, {1e-2, 1e-3}, 5},
      {"w-method-2, without those of tyres and suspension springs",
       "w-method-2",
       "",
       {"forces_without_derivatives=*.tyre,*.spring"},
       {1e-2, 1e-3},
       5},
      {"w-method-2, without those of the bushings too, 0.01 s only",
       "w-method-2",
       "",
       {"forces_without_derivatives=*.tyre,*.spring,*.bushing"},
       {1e-2},
       0.01},
  };
  std::vector<Row> goals;
  for (const VehicleMethod& m : methods) {
    const std::string table = std::string("HMMWV over the bump: ") + m.name;
    double coarsest = 0;
    for (const double tolerance : m.tolerances) {
      const std::string row = label("tolerance %.0e", tolerance);
      context.note(table + ", " + row);
      guard(rows, table, row, [&] {
        const SteppedRun run = vehicle_run(m, tolerance, m.end);
        report_vehicle(table, row, run, m.end, exact, rows);
        const double error = part_of_excursion(run, exact);
        if (tolerance == m.tolerances.front()) coarsest = error;
        if (tolerance == m.tolerances.back() && m.tolerances.size() > 1) {
          // Theory has the tolerance itself, or its power 2/3 for methods of order 2. Wheels that meet and leave the
          // bump within a step cost some of it: the root is left, and over one decade not even that can be told.
          const bool one_decade = m.tolerances.size() == 2;
          rows.push_back(
              Row::at_most(table, row, "error by that of the loosest tolerance",
                           (one_decade ? 3 : 1) * std::sqrt(tolerance / m.tolerances.front()), error / coarsest)
                  .because(one_decade
                               ? "one decade, and edges of the bump inside of steps: three times the root of the "
                                 "tolerances' quotient"
                               : "theory: at least the power 2/3 of the tolerance; the edges of the bump inside of "
                                 "steps leave its root"));
        }
        if (&m != &methods[0] || tolerance != printed_value("rn.s32.fig4.tol")) return;
        const std::string goal = "HMMWV, goals", at = "rosenbrock-nystrom-4, tolerance 1e-3, h <= 0.04";
        const char* const aim = "a goal of the project";
        goals.push_back(Row::at_most(goal, at, "steps", 200, static_cast<double>(run.steps)).because(aim));
        goals.push_back(Row::at_most(goal, at, "seconds of one core", 0.15, run.seconds).because(aim));
        goals.push_back(
            Row::at_most(goal, at, "error of the height, part of the excursion", 2e-3, part_of_excursion(run, exact))
                .because(aim));
        goals.push_back(
            Row::at_least("HMMWV, Figure 4", at, "largest by least step", 2,
                          *std::max_element(run.h.begin(), run.h.end()) / *std::min_element(run.h.begin(), run.h.end()))
                .with({"rn.s32.fig4.tol"})
                .because("the figure: steps shorten at the bump"));
        draw_vehicle(context, run);
      });
    }
  }
  rows.insert(rows.end(), goals.begin(), goals.end());
}

// Damping of the bushings, and with it the eigenvalue that limits explicit steps.
const char* const tuned_bushings =
    "damping of the bushings, 2.5e5 N s/m in place of the printed 2e6, was chosen for the printed eigenvalue, which "
    "limits these steps";

// What `adams` does up to `end`; it gives its evaluations for each second.
double adams_rows(std::vector<Row>& rows, const std::string& row, const SteppedRun& run, double end) {
  const std::string table = "HMMWV over the bump, the paper's weights: adams";
  const char* const limited = "stability decides how many: the mean step has bounds, below";
  rows.push_back(Row::measure(table, row, "steps", static_cast<double>(run.steps)).because(limited));
  rows.push_back(Row::measure(table, row, "evaluations", static_cast<double>(run.counts.evaluations)).because(limited));
  const double mean = end / static_cast<double>(run.steps);
  rows.push_back(Row::at_most(table, row, "mean step, s", printed_value("rn.s32.explicit.step.max"), mean)
                     .printed_as("rn.s32.explicit.step.max")
                     .because("the text's upper bound")
                     .tuned_on(tuned_bushings));
  rows.push_back(Row::at_least(table, row, "mean step, s", printed_value("rn.s32.explicit.step.min"), mean)
                     .printed_as("rn.s32.explicit.step.min")
                     .because("the text's lower bound")
                     .tuned_on(tuned_bushings));
  return static_cast<double>(run.counts.evaluations) / end;
}

// Both times to the end of each second. Times of 2003 cannot be met and are compared only; but both of a row were taken
// on one machine, so that their quotient is a floor for ours.
void time_rows(std::vector<Row>& rows, const std::string& row, const std::string& column, const SteppedRun& quick,
               const SteppedRun& slow) {
  for (std::size_t i = 0; i < quick.marked.size(); ++i) {
    const std::string at = std::to_string(i + 1) + "s",
                      table = "Tables 7 and 8, to t = " + std::to_string(i + 1) + " s",
                      slow_id = "rn.table7." + at + "." + column, quick_id = "rn.table8." + at + "." + column;
    const std::vector<std::string> settings{"rn.table7." + at, "rn.table8." + at, "rn.table7." + column,
                                            "rn.table8." + column};
    rows.push_back(Row::measure(table, row, "seconds, rosenbrock-nystrom-4", quick.marked[i])
                       .printed_as(quick_id)
                       .with(settings)
                       .because(why::machine_time));
    if (i >= slow.marked.size()) continue;
    rows.push_back(Row::measure(table, row, "seconds, adams", slow.marked[i])
                       .printed_as(slow_id)
                       .with(settings)
                       .because(why::machine_time));
    const double quotient = slow.marked[i] / quick.marked[i];
    rows.push_back(Row::at_least(table, row, "time of adams by that of rosenbrock-nystrom-4",
                                 printed_value(slow_id) / printed_value(quick_id), quotient)
                       .with(settings)
                       .because("the quotient of the printed times, as a floor: our implicit step is sparse in all "
                                "coordinates and the paper's dense in 18, while both explicit ones recover dependent "
                                "coordinates"));
    if (i != 0 || column != "1e-3") continue;
    const std::string orders = "orders of magnitude between the two, to 1 s";
    rows.push_back(
        Row::measure("Tables 7 and 8", row, orders, std::log10(quotient))
            .printed_as("rn.s4.gain")
            .because("of other computers and another implicit step: a floor is what can be demanded, below"));
    rows.push_back(Row::at_least("Tables 7 and 8", row, orders + ", a floor", 1.9, std::log10(quotient))
                       .because("\"almost two\""));
  }
}

// Tables 7 and 8, by the clock and with the paper's weights. `adams` takes two minutes for 4 s at every tolerance:
// without
// --full it runs to 1 s at 1e-3.
void times_tables(const StudyContext& context, std::vector<Row>& rows) {
  const VehicleMethod implicit{"rosenbrock-nystrom-4", "rosenbrock-nystrom-4", "", {}, {}, 4},
      adams{"adams", "adams", "", {}, {}, 4}, cvode{"cvode-adams", "cvode-adams", "", {}, {}, 0.1};
  std::vector<double> evaluations;
  for (int k = 2; k <= 5; ++k) {
    const std::string column = "1e-" + std::to_string(k);
    const double tolerance = printed_value("rn.table7." + column);
    const std::string row = label("tolerance %.0e", tolerance);
    context.note("Tables 7 and 8, " + row);
    guard(rows, "Tables 7 and 8", row, [&] {
      const double end = context.full ? 4 : k == 3 ? 1 : 0;
      const SteppedRun quick = vehicle_run(implicit, tolerance, 4, true);
      SteppedRun slow;
      if (end > 0) {
        slow = vehicle_run(adams, tolerance, end, true);
        evaluations.push_back(adams_rows(rows, row, slow, end));
      }
      time_rows(rows, row, column, quick, slow);
    });
    guard(rows, "HMMWV over the bump: cvode-adams, 0.1 s only", row, [&] {
      const SteppedRun run = vehicle_run(cvode, tolerance, 0.1, true);
      rows.push_back(Row::measure("HMMWV over the bump: cvode-adams, 0.1 s only", row, "evaluations",
                                  static_cast<double>(run.counts.evaluations))
                         .because(why::comparator));
    });
  }
  if (evaluations.size() > 1) {
    const auto range = std::minmax_element(evaluations.begin(), evaluations.end());
    rows.push_back(
        Row::at_most("Tables 7 and 8", "all tolerances", "evaluations of adams, most by least", 1.1,
                     *range.second / *range.first)
            .because("the text: stiffness, not the tolerance, decides the explicit step; the printed times of a "
                     "column differ by 2 %"));
  }
}

std::vector<Row> run(const StudyContext& context) {
  std::vector<Row> rows;
  trajectory(context, rows);
  steps_table(context, rows);
  guard(rows, "Tables 4 and 6", "reference run", [&] { error_tables(context, rows); });
  starts(context, rows);
  pendulum_goal(context, rows);
  counts_and_rest(rows);
  as_stated(context, rows);
  vehicle_tables(context, rows);
  times_tables(context, rows);
  return rows;
}

}  // namespace
}  // namespace rn_study

std::vector<Row> study_rn(const StudyContext& context) { return rn_study::run(context); }

}  // namespace trammel
