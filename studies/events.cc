// Events against closed solutions, by a method of every family: when a ball strikes the floor, when a clutch locks, how
// long a block sticks and slips. Located and at the ends of steps stand side by side, with what both cost.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "studies/study.h"
#include "trammel/base/data_directory.h"
#include "trammel/write/plot.h"

namespace trammel {
namespace events_study {
namespace {

struct Case {
  const char* name;
  std::string file;
  // Times of events that are compared, from the whole list of a run, and what they should be.
  std::vector<double> (*times)(const MemoryTrajectory&);
  std::vector<double> exact;
  double demand;  // s, of located events
  const char* reason;
  bool polynomial, has_modes;  // the motion between events; the element
};

std::vector<double> all_times(const MemoryTrajectory& run) {
  std::vector<double> times = run.time(2);
  times.resize(std::min<std::size_t>(times.size(), 20));
  return times;
}

// The first slip, and the periods from one moment of sticking to the next.
std::vector<double> periods(const MemoryTrajectory& run) {
  const std::vector<double> times = run.time(2), modes = run.column("event.mode");
  std::vector<double> sticks, slides;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (modes[i] == 1) sticks.push_back(times[i]);
    if (modes[i] == 3) slides.push_back(times[i]);
  }
  std::vector<double> out;
  if (!slides.empty()) out.push_back(slides.front());
  for (std::size_t i = 1; i < std::min<std::size_t>(sticks.size(), 3); ++i) out.push_back(sticks[i] - sticks[i - 1]);
  return out;
}

std::vector<double> impacts_of_ball() {
  std::vector<double> out;
  double t = std::sqrt(2 / 9.81), v = std::sqrt(2 * 9.81);
  for (int k = 0; k < 20; ++k) {
    out.push_back(t);
    v *= 0.8;
    t += 2 * v / 9.81;
  }
  return out;
}

// A = (mu_s - mu_k) m g/k, w = sqrt(k/m), v the speed of the belt.
std::vector<double> slips_of_block() {
  const double A = 0.2 * 9.81 / 100, w = 10, v = 0.2, first = 0.5 * 9.81 / 100 / v;
  const double period = 2 * A / v + 2 / w * (std::numbers::pi - std::atan(A * w / v));
  return {first, period, period};
}

struct Way {
  const char *method, *formulation;
  int order;
  bool takes_modes = true, fixes_steps = true;
};

const Way ways[] = {{"hht-i3", "", 2},
                    {"newmark-i3", "", 1},  // its numerical damping costs an order
                    {"generalized-alpha-si2", "", 2},
                    {"bdf-i3", "", 5},
                    {"bdf-si2", "", 5},
                    {"radau-iia-3", "index-3", 5},
                    {"radau-iia-3", "state-space", 5},
                    {"rosenbrock-nystrom-4", "all-coordinates", 4},
                    {"w-method-2", "all-coordinates", 2},
                    {"dormand-prince-54", "state-space", 5},
                    {"dormand-prince-54", "joint-coordinates", 5, false},
                    {"dormand-prince-853", "index-1-projected", 8},
                    {"adams", "state-space", 12},
                    {"bdf", "state-space", 5, true, false},
                    {"cvode-bdf", "state-space", 5, true, false},
                    {"sdirk-4", "state-space", 4},
                    {"gauss", "state-space", 4},
                    {"hht", "state-space", 2}};

std::string name_of(const Way& way) {
  return std::string(way.method) + (*way.formulation != 0 ? std::string(", ") + way.formulation : "");
}

struct Outcome {
  double error = 0, evaluations = 0;
  std::size_t events = 0;
};

Outcome run_case(const Case& c, const Way& way, std::optional<double> tolerance, std::optional<double> step,
                 bool at_steps) {
  ModelChanges changes{.method = way.method, .tolerance = tolerance, .step = step};
  if (*way.formulation != 0) changes.formulation = way.formulation;
  Model model = load_model(c.file, changes);
  model.simulation.events_at_steps = at_steps;
  const ModelRun run = run_model(std::move(model));
  const std::vector<double> times = c.times(run.trajectory);
  Outcome out{0, static_cast<double>(run.result.summary.counts.evaluations), times.size()};
  for (std::size_t i = 0; i < std::min(times.size(), c.exact.size()); ++i)
    out.error = std::max(out.error, std::abs(times[i] - c.exact[i]));
  return out;
}

// Where the motion is not a polynomial: errors of the steps at a tolerance of 1e-13, 1e-10 below order 3.
double located_bound(const Case& c, const Way& way) {
  if (c.polynomial || way.order >= 3) return c.demand;
  return way.order == 2 ? 1e-6 : 1e-4;
}

void located(const Case& c, const Way& way, std::vector<Row>& rows) {
  const std::string table = std::string(c.name) + ", located";
  const Outcome out = run_case(c, way, way.order >= 3 ? 1e-13 : 1e-10, {}, false);
  if (out.events < c.exact.size()) {
    rows.push_back(
        Row::failed(table, name_of(way),
                    "it had " + std::to_string(out.events) + " of its " + std::to_string(c.exact.size()) + " events"));
    return;
  }
  rows.push_back(Row::at_most(table, name_of(way), "largest error of a time, s", located_bound(c, way), out.error)
                     .because(c.reason));
}

void side_by_side(const Case& c, const Way& way, double step, std::vector<Row>& rows) {
  const std::string table = std::string(c.name) + ", fixed steps, located and not";
  const Outcome sharp = run_case(c, way, {}, step, false), blunt = run_case(c, way, {}, step, true);
  const std::string located = "largest error of a time, located, s", waits = "largest error of a time, not located, s";
  if (c.polynomial) {
    rows.push_back(Row::at_most(table, name_of(way), located, c.demand, sharp.error)
                       .because("the motion between events is exact at any step: what is left is the location"));
    rows.push_back(Row::at_least(table, name_of(way), waits, 1e-3 * step, blunt.error)
                       .because("an event that waits for the end of its step comes late by a part of the step"));
  } else {
    const char* const coarse = "the error of the method's own fixed steps is in it; with a tolerance it has a bound";
    rows.push_back(Row::measure(table, name_of(way), located, sharp.error).because(coarse));
    rows.push_back(Row::measure(table, name_of(way), waits, blunt.error).because(coarse));
  }
  rows.push_back(Row::measure(table, name_of(way), "evaluations, located by not", sharp.evaluations / blunt.evaluations)
                     .because("a cost: the errors beside it say what it buys"));
}

void one_case(const StudyContext& context, const Case& c, double step, std::vector<Row>& rows) {
  for (const bool with_tolerance : {true, false}) {
    for (const Way& way : ways) {
      if ((c.has_modes && !way.takes_modes) || (!with_tolerance && !way.fixes_steps)) continue;
      context.note(std::string(c.name) + ", " + name_of(way));
      guard(rows, c.name, name_of(way),
            [&] { with_tolerance ? located(c, way, rows) : side_by_side(c, way, step, rows); });
    }
  }
}

void draw(const StudyContext& context, const Case& c, const char* signal, const char* label, double step,
          const std::string& file) {
  const auto path = context.picture(file);
  if (!path) return;
  PlotRequest plot;
  plot.title = c.name;
  plot.xlabel = "time, s";
  PlotPanel panel{label, {}, false};
  for (const bool at_steps : {false, true}) {
    Model model = load_model(c.file, {.method = "radau-iia-3", .step = step, .output_step = 0.0});
    model.simulation.events_at_steps = at_steps;
    const ModelRun run = run_model(std::move(model));
    panel.curves.push_back({run.time(), run.column(signal), at_steps ? "at the ends of steps" : "located",
                            at_steps ? PlotStyle::linespoints : PlotStyle::lines, false});
  }
  plot.panels = {panel};
  draw_plot(plot, *path);
}

}  // namespace
}  // namespace events_study

std::vector<Row> study_events(const StudyContext& context) {
  using namespace events_study;
  std::vector<Row> rows;
  const Case ball{"ball, twenty impacts",
                  study_file("events/ball.yaml").string(),
                  all_times,
                  impacts_of_ball(),
                  1e-9,
                  "between impacts the motion is a polynomial of degree 2: what is left is the location, 1e-12 of the "
                  "run, and round-off over twenty impacts",
                  true,
                  false};
  const Case clutch{"clutch",  study_file("events/clutch.yaml").string(),
                    all_times, {0.4},
                    1e-9,      "speeds are linear in time: what is left is the location",
                    true,      true};
  const Case slip{"stick-slip",
                  (data_directory() / "models" / "stick_slip.yaml").string(),
                  periods,
                  slips_of_block(),
                  1e-8,
                  "the error of a harmonic motion over one slip, at a tolerance of 1e-13; of order 2 at 1e-10, "
                  "five times tolerance^(2/3); of order 1 ten times its root",
                  false,
                  true};
  one_case(context, ball, 0.013, rows);
  one_case(context, clutch, 0.013, rows);
  one_case(context, slip, 0.013, rows);
  draw(context, ball, "body.ball.position.z", "height, m", 0.013, "events_ball.png");
  draw(context, slip, "body.block.velocity.x", "speed of the block, m/s", 0.013, "events_stick_slip.png");
  return rows;
}

}  // namespace trammel
