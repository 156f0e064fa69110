// The stiff double pendulum from the start that the text of the Rosenbrock-Nystrom paper states, rod 2 turning with 10
// rad/s, beside the start from rest. The column RelErr of Tables 4 and 6 is the largest error by the reference's value
// at its time, so that it tells what the variable was there: seven numbers on the motion itself, whatever made the
// errors. And the paper's reference, steps of one tiny size, beside ours, whose steps are controlled.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "studies/printed.h"
#include "studies/rn_parts.h"
#include "studies/stepping.h"
#include "trammel/base/data_directory.h"
#include "trammel/write/plot.h"

namespace trammel::rn_study {
namespace {

std::string text(const char* format, double a, double b = 0) {
  char out[96];
  std::snprintf(out, sizeof out, format, a, b);
  return out;
}

struct Start {
  const char* name;
  std::vector<std::string> set;
  const char* reference;  // an independent trajectory
};

std::vector<Start> both_starts() {
  return {{"from rest", {}, "data/rn/double_pendulum.csv"},
          {"as stated, rod 2 at 10 rad/s",
           {text("w2=%.17g", printed_number("rn.s31.thetadot2").value)},
           "data/rn/double_pendulum_as_stated.csv"}};
}

// The velocities that the text states belong together: the centre of rod 2 turns about the pin.
void stated_velocities(std::vector<Row>& rows) {
  const std::string table = "double pendulum, the start as stated";
  guard(rows, table, "velocities", [&] {
    const ModelRun run = run_model(pendulum_file, {.set = both_starts()[1].set, .end = 1e-9, .output_step = 1e-9});
    const auto compare = [&](const char* signal, const char* id, double part) {
      const double target = printed_number(id).value;
      rows.push_back(Row::near(table, "rod 2", std::string(signal) + " at the start", target,
                               run.column(std::string("body.rod2.") + signal).front(), part)
                         .with({id, "rn.s31.thetadot2"})
                         .because("the digits printed: the velocities agree with the joints"));
    };
    compare("velocity.x", "rn.s31.xdot2", 1e-5);
    compare("velocity.y", "rn.s31.ydot2", 5e-6);
  });
}

// What a variable was at the time of its largest error: the error by RelErr. The last digit of RelErr may have been cut
// off instead of rounded, so that a whole unit of it is allowed upwards.
struct Told {
  const char *table, *signal;
  int k;
};

void told_by_relative_errors(std::vector<Row>& rows) {
  const std::string table = "double pendulum, what RelErr of Tables 4 and 6 tells of the motion";
  std::vector<ModelRun> runs;
  for (const Start& start : both_starts())
    runs.push_back(run_model(pendulum_file, {.set = start.set, .tolerance = 1e-11, .output_step = 0}));
  for (const Told& t : {Told{"table4", "theta1", 2}, Told{"table4", "theta1", 3}, Told{"table4", "theta1", 5},
                        Told{"table6", "theta1_rate", 2}, Told{"table6", "theta1_rate", 3},
                        Told{"table6", "theta1_rate", 4}, Told{"table6", "theta1_rate", 5}}) {
    const std::string row = text("tolerance 1e-%.0f, ", t.k) + t.signal;
    guard(rows, table, row, [&] {
      const double at = printed_value(cell(t.table, t.k, "t")), largest = printed_value(cell(t.table, t.k, "max")),
                   relative = printed_value(cell(t.table, t.k, "rel")), told = 100 * largest / relative;
      // Half a unit of the error's fourth digit, and a whole one of RelErr's fifth place.
      const double unit = std::pow(10.0, std::floor(std::log10(largest)) - 3),
                   allowed = told * (0.5 * unit / largest + 1e-5 / relative);
      for (std::size_t i = 0; i < runs.size(); ++i) {
        const double ours = std::abs(sample(runs[i], t.signal, {at}, Between::cubic)[0]);
        const std::string quantity =
            text("size at %g s, rad or rad/s, ", at) + (i == 0 ? "from rest" : "from the start as stated");
        rows.push_back(
            (i == 0
                 ? Row::near(table, row, quantity, told, ours, allowed)
                       .because("what the digits of error and RelErr leave open")
                 : Row::measure(table, row, quantity, ours).because("the other start: it is not where the print was"))
                .with({cell(t.table, t.k, "t"), cell(t.table, t.k, "max"), cell(t.table, t.k, "rel")}));
        const bool excludes = allowed < 0.05;  // RelErr of the last row of Table 4 has two digits
        if (i == 1 && excludes)
          rows.push_back(Row::at_least(table, row, "the stated start's distance from it, by what is left open", 3,
                                       std::abs(ours - told) / allowed)
                             .because("a start that the print excludes"));
      }
    });
  }
}

// Both starts with the defaults and the paper's weights: steps of Table 5, errors of Tables 4 and 6.
void tables_from(const Start& start, std::vector<Row>& rows, PlotRequest& plot) {
  const std::string table = std::string("double pendulum, ") + start.name + ", defaults";
  const ModelRun reference = run_model(pendulum_file, {.set = start.set, .tolerance = 1e-11, .output_step = 0});
  plot.panels[0].curves.push_back({reference.time(), reference.column("theta1"), start.name, {}, false});
  plot.panels[1].curves.push_back({reference.time(), reference.column("theta1_rate"), start.name, {}, false});
  guard(rows, table, "reference", [&] {
    const Reference independent = read_reference(start.reference);
    const ModelRun run = run_model(pendulum_file, {.set = start.set, .tolerance = 1e-12, .output_step = 0.1});
    rows.push_back(Row::error(table, "tolerance 1e-12", "largest error of theta1, rad",
                              max_error(run, "theta1", independent, "theta1"), 1e-9)
                       .because("an independent reference with its digits"));
  });
  for (int k = 2; k <= 7; ++k) {
    const std::string row = text("tolerance 1e-%.0f", k);
    guard(rows, table, row, [&] {
      Model model = load_model((data_directory() / "models" / pendulum_file).string(),
                               {.set = start.set, .tolerance = std::pow(10.0, -k), .output_step = 0});
      take_printed_weights(model);
      const ModelRun run = run_model(std::move(model));
      const double target = printed_value(cell("table5", k, "steps"));
      rows.push_back(
          Row::near(table, row, "steps", target, static_cast<double>(run.result.summary.counts.steps), 0.12 * target)
              .printed_as(cell("table5", k, "steps"))
              .because("the print does not tell its control of the step, which moves the count by this much"));
      if (k > 5) return;
      for (const auto& [signal, key] : {std::pair{"theta1", "table4"}, {"theta1_rate", "table6"}}) {
        const StepErrors ours = errors_at_steps(run, reference, signal);
        const std::string of = std::string(signal) + ", rad or rad/s";
        rows.push_back(Row::measure(table, row, "largest error of " + of, ours.largest)
                           .printed_as(cell(key, k, "max"))
                           .because("neither start explains it: see Tables 4 and 6"));
        rows.push_back(Row::measure(table, row, std::string("RelErr of ") + signal + ", %", ours.relative)
                           .printed_as(cell(key, k, "rel"))
                           .because("neither start explains it: see Tables 4 and 6"));
      }
    });
  }
}

// "A reference simulation is first run using a very small constant integration step size": its values at the times of a
// run by the cubic through four neighbours, beside our controlled reference in the same place.
void constant_reference(std::vector<Row>& rows) {
  const std::string table = "double pendulum, the paper's reference: constant steps, a cubic between four of them";
  guard(rows, table, "references", [&] {
    constexpr double h = 2e-5;
    Model model =
        load_model((data_directory() / "models" / pendulum_file).string(), {.tolerance = 1e-5, .output_step = 0});
    take_printed_weights(model);
    const ModelRun run = run_model(std::move(model)),
                   controlled = run_model(pendulum_file, {.tolerance = 1e-11, .output_step = 0}),
                   constant = run_model(pendulum_file, {.step = h, .output_step = 0});
    const std::string row = text("steps of %g s", h);
    const StepErrors a = errors_at_steps(run, controlled, "theta1"), b = errors_at_steps(run, constant, "theta1"),
                     rate = errors_at_steps(run, constant, "theta1_rate");
    rows.push_back(Row::near(table, row,
                             "largest error of theta1 of the run at 1e-5, rad, beside the controlled reference's",
                             a.largest, b.largest, 0.01 * a.largest)
                       .with({"rn.s31.spline.first", "rn.s31.spline.last", cell("table4", 5, "k")})
                       .because("two references for one error: a hundredth of it"));
    rows.push_back(Row::near(table, row, "time of it, s", a.at, b.at, 1e-9).because("the same step is the worst"));
    rows.push_back(Row::at_most(table, row, "time of the largest error of theta1', s", h, rate.at)
                       .because("the second rod jerks into line in 1e-5 s, which constant steps of this size do not "
                                "resolve: for rates ours is the better reference"));
  });
}

}  // namespace

void starts(const StudyContext& context, std::vector<Row>& rows) {
  context.note("double pendulum, both starts");
  stated_velocities(rows);
  guard(rows, "double pendulum, RelErr", "both starts", [&] { told_by_relative_errors(rows); });
  PlotRequest plot;
  plot.title = "Stiff double pendulum from both starts";
  plot.xlabel = "time, s";
  plot.panels = {{"theta1, rad", {}, false}, {"theta1', rad/s", {}, false}};
  for (const Start& start : both_starts())
    guard(rows, "double pendulum, both starts", start.name, [&] { tables_from(start, rows, plot); });
  if (const auto file = context.picture("rn_double_pendulum_starts.png"); file && !plot.panels[0].curves.empty())
    draw_plot(plot, *file);
  constant_reference(rows);
}

}  // namespace trammel::rn_study
