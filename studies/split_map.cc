// Where `split` needs fewer evaluations of the contacts than BDF, at equal error. Two balls on a rod are pressed
// against a wall (models/dumbbell_on_wall.yaml) and let go from `amplitude` times the depth of the load: below 1 the
// contacts stay closed and the motion is smooth, above it they open and strike, from 100 on it is flight with short
// impacts. The rod is a spring of a given frequency with the damping ratio 1/2, beside 9 kHz of the contacts. BDF is
// CVODE's, its Jacobians counted as 12 evaluations each, as the source does for rigid bodies.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

#include "studies/printed.h"
#include "studies/split_parts.h"
#include "studies/stepping.h"
#include "trammel/base/data_directory.h"
#include "trammel/write/plot.h"

namespace trammel::split_study {
namespace {

constexpr double amplitudes[] = {0.3, 1.5, 5, 20, 100, 1000}, frequencies[] = {1e5, 1e6, 1e7},
                 levels[] = {1e-2, 1e-3, 1e-4};
const char* const map_name = "6.3, map: two balls on a rod, pressed against a wall; evaluations at equal error";

// A motion of the map: how high the balls start, and how stiff the rod is.
struct Cell {
  double amplitude, frequency;

  double depth() const { return 4.6416e-6; }
  // Four periods of the closed contact, and some eight falls.
  double end() const { return 4.4e-4 + 8 * std::sqrt(2e-4 * amplitude * depth()); }
  std::string name() const { return text("amplitude %g, rod of %.0e Hz", amplitude, frequency); }
  Model model(ModelChanges changes) const {
    changes.set.push_back(text("amplitude=%.17g", amplitude));
    changes.end = end();
    changes.options.push_back(text("penalty_frequency=%.17g", frequency));
    changes.options.push_back(text("penalty_time=%.17g", 1 / (2 * std::numbers::pi * frequency)));
    if (changes.method != "split") changes.formulation = "penalty-joints";
    return load_model((data_directory() / "models" / "dumbbell_on_wall.yaml").string(), changes);
  }
};

struct Work {
  double evaluations, error;
};

// Evaluations from which on all errors are below the level, between two runs by a line through logarithms; not a number
// if there are none.
double needed(std::vector<Work> runs, double level) {
  std::sort(runs.begin(), runs.end(), [](const Work& a, const Work& b) { return a.evaluations < b.evaluations; });
  auto good = runs.end();
  while (good != runs.begin() && std::prev(good)->error <= level) --good;
  if (good == runs.end()) return std::nan("");
  if (good == runs.begin()) return good->evaluations;
  const Work &below = *std::prev(good), &above = *good;
  if (!std::isfinite(below.error)) return above.evaluations;
  const double part = std::log(below.error / level) / std::log(below.error / above.error);
  return below.evaluations * std::pow(above.evaluations / below.evaluations, part);
}

// Runs of the methods in a cell, with the errors of positions at the end by the height of the start.
struct Runs {
  std::vector<Work> published, second_order, by_stability, as_printed, bdf;

  explicit Runs(const Cell& cell) {
    const SteppedRun fine = step_model(cell.model({.method = "cvode-bdf", .tolerance = 1e-12}));
    if (!fine.finished) throw std::runtime_error(fine.why);
    const State& exact = fine.last;
    const auto run = [&](const ModelChanges& changes) {
      const SteppedRun r = step_model(cell.model(changes), {.patience = 10});
      const bool split = changes.method == "split";
      return Work{split ? static_cast<double>(r.counts.explicit_evaluations)
                        : static_cast<double>(r.counts.evaluations) +
                              printed_value("split.s63.jacobian.rigid") * static_cast<double>(r.counts.linearisations),
                  r.finished ? (r.last.q - exact.q).cwiseAbs().maxCoeff() / (cell.amplitude * cell.depth())
                             : std::numeric_limits<double>::infinity()};
    };
    for (double h = 8e-6; h > 1e-7; h /= 2) {
      published.push_back(run({.method = "split", .step = h, .options = {"beta=0.8"}}));
      second_order.push_back(run({.method = "split", .step = h, .options = {"beta=0.5"}}));
    }
    for (double epsilon = 0.4; epsilon > 5e-3; epsilon /= 2) {
      const auto controlled = [&](const char* control) {
        return run({.method = "split",
                    .tolerance = 1e-3,
                    .options = {"beta=0.5", control, text("epsilon=%g", epsilon), text("bound=%g", epsilon * 5e-4)}});
      };
      by_stability.push_back(controlled("control=stability"));
      as_printed.push_back(controlled("control=printed"));
    }
    for (double tolerance = 1e-3; tolerance > 5e-11; tolerance /= 10)
      bdf.push_back(run({.method = "cvode-bdf", .tolerance = tolerance}));
  }
};

double least(double a, double b) { return std::isnan(a) || b < a ? b : a; }

// What was found at a level of the error, over the amplitudes.
struct Lines {
  std::vector<double> published, best, adaptive;
};

void cell_rows(std::vector<Row>& rows, const Cell& cell, const Runs& runs, Lines (&lines)[std::size(levels)]) {
  const std::string row = cell.name();
  for (std::size_t i = 0; i < std::size(levels); ++i) {
    const double bdf = needed(runs.bdf, levels[i]), published = needed(runs.published, levels[i]),
                 second = needed(runs.second_order, levels[i]), adaptive = needed(runs.by_stability, levels[i]),
                 printed = needed(runs.as_printed, levels[i]), best = least(least(published, second), adaptive);
    lines[i].published.push_back(bdf / published);
    lines[i].best.push_back(bdf / best);
    lines[i].adaptive.push_back(least(published, second) / adaptive);
    const auto add = [&](const std::string& quantity, double value) {
      if (std::isfinite(value))
        rows.push_back(Row::measure(map_name, row, quantity + text(", error %.0e", levels[i]), value)
                           .because("the map: what a user can expect of the method"));
    };
    add("evaluations of cvode-bdf", bdf);
    add("of split, h fixed, beta = 0.8", published);
    add("of split, h fixed, beta = 1/2", second);
    add("of split, control by stability, beta = 1/2", adaptive);
    add("of split, control by (15) as printed, beta = 1/2", printed);
  }
}

// The regions of the map, in words: the largest or the least quotient of all rods and of the amplitudes from one to
// another. Bounds behind which the numbers lie, seen once, for a user to rely on.
void region_rows(std::vector<Row>& rows, const Lines (&lines)[std::size(frequencies)][std::size(levels)]) {
  const auto over = [&](std::size_t level, std::size_t from, std::size_t to, std::vector<double> Lines::*what,
                        bool greatest) {
    double found = greatest ? 0 : std::numeric_limits<double>::infinity();
    for (const auto& rod : lines)
      for (std::size_t i = from; i <= to; ++i) {
        const double value = (rod[level].*what)[i];
        if (std::isfinite(value)) found = greatest ? std::max(found, value) : std::min(found, value);
      }
    return found;
  };
  const char* const read_off = "read off the map: it says when to take `split`";
  rows.push_back(Row::at_least(map_name, "contacts that strike, amplitude 5 to 20, error 1e-2",
                               "BDF by split as published, the largest", printed_value("split.s63.gain"),
                               over(0, 2, 3, &Lines::published, true))
                     .because("the source's 2.6, where contacts open and close and two digits are enough"));
  rows.push_back(Row::at_least(map_name, "contacts that strike, amplitude 5 and more, error 1e-2",
                               "BDF by the best of split, the least", printed_value("split.s63.gain"),
                               over(0, 2, 5, &Lines::best, false))
                     .because(read_off));
  rows.push_back(Row::at_most(map_name, "closed contacts, amplitude 0.3, error 1e-3",
                              "BDF by the best of split, the largest", 1, over(1, 0, 0, &Lines::best, true))
                     .because("closed contacts are smooth, and orders above the second pay"));
  rows.push_back(Row::at_most(map_name, "closed contacts, amplitude 0.3, error 1e-4",
                              "BDF by the best of split, the largest", 0.5, over(2, 0, 0, &Lines::best, true))
                     .because("closed contacts are smooth, and orders above the second pay"));
  rows.push_back(Row::at_least(map_name, "flight and impacts, amplitude 100 and more, error 1e-2",
                               "split with fixed steps by split with control, the least", 1,
                               over(0, 4, 5, &Lines::adaptive, false))
                     .because("adaptive steps raise the gain where contacts are open for long"));
  rows.push_back(Row::at_most(map_name, "closed contacts, amplitude 0.3, error 1e-2",
                              "split with fixed steps by split with control, the largest", 1.05,
                              over(0, 0, 0, &Lines::adaptive, true))
                     .because("and raise nothing where they stay closed: the stiffness is always the same"));
}

void draw_map(const std::string& file, const std::vector<double>& x, const Lines (&lines)[std::size(frequencies)][3]) {
  PlotRequest plot;
  plot.title = "Evaluations of BDF by those of split, at equal error";
  plot.subtitle = "above 1 split needs fewer; the source prints 2.6";
  plot.xlabel = "amplitude by static depth: below 1 contacts stay closed, above they strike";
  plot.logx = true;
  for (std::size_t f = 0; f < std::size(frequencies); ++f) {
    PlotPanel panel{text("rod of %.0e Hz", frequencies[f]), {}, true};
    for (std::size_t i = 0; i < std::size(levels); ++i) {
      panel.curves.push_back(
          {x, lines[f][i].best, text("best of split, error %.0e", levels[i]), PlotStyle::linespoints, false});
      panel.curves.push_back(
          {x, lines[f][i].published, text("as published, error %.0e", levels[i]), PlotStyle::linespoints, true});
    }
    panel.curves.push_back({{x.front(), x.back()}, {1, 1}, "", PlotStyle::lines, true});
    plot.panels.push_back(std::move(panel));
  }
  plot.width = 1000;
  plot.height = 1200;
  draw_plot(plot, file);
}

}  // namespace

void map_of_gain(const StudyContext& context, std::vector<Row>& rows) {
  Lines lines[std::size(frequencies)][std::size(levels)];
  std::vector<double> x(std::begin(amplitudes), std::end(amplitudes));
  for (std::size_t f = 0; f < std::size(frequencies); ++f) {
    for (const double amplitude : amplitudes) {
      const Cell cell{amplitude, frequencies[f]};
      context.note("the map: " + cell.name());
      const std::size_t before = lines[f][0].best.size();
      guard(rows, map_name, cell.name(), [&] { cell_rows(rows, cell, Runs(cell), lines[f]); });
      for (Lines& l : lines[f])
        for (std::vector<double>* values : {&l.published, &l.best, &l.adaptive})
          if (values->size() == before) values->push_back(std::nan(""));
    }
  }
  guard(rows, map_name, "regions", [&] { region_rows(rows, lines); });
  if (const auto file = context.picture("split_map.png"))
    guard(rows, map_name, "picture", [&] { draw_map(*file, x, lines); });
}

}  // namespace trammel::split_study
