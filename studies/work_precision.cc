// Work against precision of the methods for constrained systems, on five mechanisms: error of the last positions
// against a converged run, over evaluations of the equations and over seconds of one core; a picture for each. IDA of
// SUNDIALS stands beside ours (ida.h), and ours must not cost more at equal error than a little more.
#include <algorithm>
#include <cmath>
#include <map>

#include "studies/ida.h"
#include "studies/stepping.h"
#include "studies/study.h"
#include "trammel/base/data_directory.h"
#include "trammel/write/plot.h"

namespace trammel {
namespace work_precision_study {
namespace {

struct Way {
  const char *method, *formulation;
  std::string name() const { return std::string(method) + (*formulation != 0 ? std::string(", ") + formulation : ""); }
};

struct Case {
  const char *key, *file, *title;
  double end;
  Way reference;
  double tolerance;  // of the reference
  Way second;        // an unrelated method beside it
};

Model load(const Case& c, const Way& way, double tolerance) {
  ModelChanges changes{.method = way.method, .tolerance = tolerance, .end = c.end};
  if (*way.formulation != 0) changes.formulation = way.formulation;
  return load_model((data_directory() / "models" / c.file).string(), changes);
}

// One tolerance of one method.
struct Sample {
  double error, evaluations, seconds;
};
using Samples = std::vector<Sample>;

constexpr double patience = 4;  // seconds for a run; longer ones are left out

// Largest difference of coordinates at the end, m or rad; a chart of the reference makes rotations comparable.
double distance(const Model& model, const State& a, const State& b) {
  const Equations equations(model);
  Vec d(equations.sizes().nv);
  equations.local(a.q, b.q, d);
  return d.lpNorm<Eigen::Infinity>();
}

Samples samples_of(const Case& c, const Way& way, const State& exact, const StudyContext& context) {
  Samples out;
  for (int k = 6; k <= 18; ++k) {
    const double tolerance = std::pow(10, -0.5 * k);
    SteppedRunOptions options;
    options.patience = patience;
    try {
      const Model model = load(c, way, tolerance);
      SteppedRun run = step_model(model, options);
      if (!run.finished) {
        context.note(std::string(c.key) + ", " + way.name() + ", " + std::to_string(tolerance) + ": " + run.why);
        if (run.seconds > patience) break;
        continue;
      }
      double seconds = run.seconds;
      for (int i = 0; i < 2 && seconds < 0.3; ++i) seconds = std::min(seconds, step_model(model, options).seconds);
      out.push_back({distance(model, exact, run.last), static_cast<double>(run.counts.evaluations), seconds});
    } catch (const Failure& failure) {
      context.note(way.name() + ": " + failure.problems().front().message);
    }
  }
  return out;
}

// Where IDA gives up, a row says so.
Samples samples_of_ida(const Case& c, IdaForm form, const State& exact, std::vector<Row>& rows) {
  Samples out;
  int tried = 0, failed = 0;
  std::string why;
  for (int k = 6; k <= 18; ++k) {
    const double tolerance = std::pow(10, -0.5 * k);
    const Model model = load(c, {"hht-i3", ""}, tolerance);
    Simulation simulation(model);
    simulation.start();
    IdaRun run;
    double seconds = 1e300;
    for (int i = 0; i < 3 && (i == 0 || seconds < 0.3); ++i) {
      run = run_ida(simulation.equations(), simulation.integrator().state(), simulation.integrator().rates(), form,
                    tolerance, c.end, model.simulation.greatest_step.value_or(0));
      seconds = std::min(seconds, run.seconds);
    }
    ++tried;
    if (run.good) {
      out.push_back({distance(model, exact, run.last), static_cast<double>(run.evaluations), seconds});
    } else {
      ++failed;
      why = run.why;
    }
    if (run.seconds > patience) break;
  }
  if (failed > 0) {
    Row row =
        Row::measure(c.key, std::string("IDA, ") + to_text(form), "runs given up of " + std::to_string(tried), failed)
            .because(why::comparator);
    row.note = why;
    rows.push_back(row);
  }
  return out;
}

// What an error costs: between the samples around it, straight in logarithms. Negative: outside of them.
double cost_at(const Samples& samples, double error, double Sample::*cost) {
  double best = -1;
  for (std::size_t i = 0; i + 1 < samples.size(); ++i) {
    const Sample &a = samples[i], &b = samples[i + 1];
    if ((a.error - error) * (b.error - error) > 0 || a.error == b.error) continue;
    const double s = std::log(error / a.error) / std::log(b.error / a.error);
    const double value = std::exp((1 - s) * std::log(a.*cost) + s * std::log(b.*cost));
    if (best < 0 || value < best) best = value;
  }
  return best;
}

void compare_with_ida(const Case& c, const std::map<std::string, Samples>& all, std::vector<Row>& rows) {
  const std::string table = std::string(c.key) + ", beside IDA";
  for (const double error : {1e-3, 1e-4, 1e-5, 1e-6}) {
    char label[32];
    std::snprintf(label, sizeof label, "error %.0e", error);
    // the cheapest of ours of the same kind, and the cheapest of theirs
    for (const auto& [quantity, cost, limit] :
         {std::tuple{"evaluations", &Sample::evaluations, 4.0 / 3}, std::tuple{"seconds", &Sample::seconds, 1.5}}) {
      double ours = -1, theirs = -1;
      for (const auto& [name, samples] : all) {
        const double value = cost_at(samples, error, cost);
        if (value < 0) continue;
        double& side = name.starts_with("IDA") ? theirs : ours;
        if (!name.starts_with("IDA") && !name.starts_with("bdf")) continue;
        if (side < 0 || value < side) side = value;
      }
      if (ours < 0) {
        rows.push_back(Row::failed(table, label,
                                   std::string("no run of ours comes near this error, to compare its ") + quantity +
                                       (theirs < 0 ? "; nor does one of IDA's" : "")));
        continue;
      }
      if (theirs < 0) {
        rows.push_back(Row::measure(table, label, std::string(quantity) + " of ours", ours)
                           .because("no run of IDA comes near this error: there is nothing to compare with"));
        continue;
      }
      const bool andrews = c.key == std::string("andrews") && cost == &Sample::evaluations;
      const char* const open = andrews && error == 1e-5
                                   ? "no run of bdf-i3 is near this error, and bdf-si2 needs more than IDA at index 1"
                                   : "";
      rows.push_back(Row::at_most(table, label, std::string(quantity) + ", ours by IDA's", limit, ours / theirs)
                         .beside(theirs, "the cheapest of IDA at index 1 and stabilised index 2")
                         .because("the same family of methods: not more than a third more evaluations, or half as much "
                                  "time again")
                         .cause_open(open));
    }
  }
}

void draw(const Case& c, const std::map<std::string, Samples>& all, const std::string& file) {
  PlotRequest plot;
  plot.title = std::string("Work and precision: ") + c.title;
  plot.xlabel = "largest error of positions at the end, m or rad";
  plot.logx = true;
  plot.style = PlotStyle::linespoints;
  plot.width = 1000;
  plot.height = 800;
  PlotPanel evaluations{"evaluations", {}, true}, seconds{"seconds of one core", {}, true};
  for (const auto& [name, samples] : all) {
    PlotCurve a, b;
    a.label = b.label = name;
    for (const Sample& s : samples) {
      a.x.push_back(s.error);
      a.y.push_back(s.evaluations);
      b.x.push_back(s.error);
      b.y.push_back(s.seconds);
    }
    if (samples.empty()) continue;
    evaluations.curves.push_back(a);
    seconds.curves.push_back(b);
  }
  if (evaluations.curves.empty()) return;
  plot.panels = {evaluations, seconds};
  draw_plot(plot, file);
}

void diagram(const Case& c, std::vector<Row>& rows, const StudyContext& context) {
  context.note(c.key);
  guard(rows, c.key, "reference", [&] {
    const Model model = load(c, c.reference, c.tolerance);
    const SteppedRun best = step_model(model), other = step_model(load(c, c.second, c.tolerance));
    if (!best.finished || !other.finished)
      throw Failure({Severity::error, "run-failed", best.why + other.why, "", {}}, ExitCode::failed_run);
    const double open = distance(model, best.last, other.last);
    rows.push_back(
        Row::at_most(c.key, "reference", c.reference.name() + " against " + c.second.name() + ", m or rad", 1e-6, open)
            .because("two unrelated methods: below all errors that are compared"));
    std::map<std::string, Samples> all;
    for (const Way& way :
         {Way{"hht-i3", ""}, Way{"generalized-alpha-i3", ""}, Way{"bdf-i3", ""}, Way{"bdf-si2", ""},
          Way{"radau-iia-3", "stabilised-index-2"}, Way{"rosenbrock-nystrom-4", "all-coordinates"}, Way{"adams", ""}}) {
      context.note(std::string(c.key) + ", " + way.name());
      all[way.name()] = samples_of(c, way, best.last, context);
    }
    for (const IdaForm form : {IdaForm::index_1, IdaForm::stabilised}) {
      context.note(std::string(c.key) + ", IDA, " + to_text(form));
      all[std::string("IDA, ") + to_text(form)] = samples_of_ida(c, form, best.last, rows);
    }
    // What the reference does not know is no error of a method.
    for (auto& [name, samples] : all)
      std::erase_if(samples, [&](const Sample& s) { return !(s.error > 5 * open && s.error < 1); });
    for (const auto& [name, samples] : all) {
      for (const double error : {1e-3, 1e-5}) {
        const double evaluations = cost_at(samples, error, &Sample::evaluations);
        if (evaluations < 0) continue;
        const std::string at = error == 1e-3 ? " for an error of 1e-3" : " for an error of 1e-5";
        rows.push_back(Row::measure(c.key, name, "evaluations" + at, evaluations)
                           .because("what one error costs, for comparison; beside IDA it has a bound"));
        rows.push_back(Row::measure(c.key, name, "seconds" + at, cost_at(samples, error, &Sample::seconds))
                           .because(why::machine_time));
      }
    }
    compare_with_ida(c, all, rows);
    if (const auto file = context.picture(std::string("work_precision_") + c.key + ".png")) draw(c, all, *file);
  });
}

// ---- goals of time
// ----------------------------------------------------------------------------------------------------

// The least seconds among settings that keep the error below the limit.
void goals(std::vector<Row>& rows, const StudyContext& context) {
  context.note("goals");
  guard(rows, "goals", "andrews_squeezer", [&] {
    const Case c{"andrews", "andrews_squeezer.yaml", "", 0.03, {"bdf-si2", ""}, 1e-11, {"bdf-i3", ""}};
    const State exact = step_model(load(c, c.reference, c.tolerance)).last;
    double least = 1e300, error = 0;
    std::string by;
    for (const Way& way :
         {Way{"bdf-i3", ""}, Way{"bdf-si2", ""}, Way{"hht-i3", ""}, Way{"rosenbrock-nystrom-4", "all-coordinates"}}) {
      for (int k = 6; k <= 16; ++k) {
        const Model model = load(c, way, std::pow(10, -0.5 * k));
        const SteppedRun run = step_model(model);
        const double off = run.finished ? distance(model, exact, run.last) : 1e300;
        if (off > 1e-3) continue;
        double seconds = run.seconds;
        for (int i = 0; i < 4; ++i) seconds = std::min(seconds, step_model(model).seconds);
        if (seconds < least) {
          least = seconds;
          error = off;
          by = way.name();
        }
      }
    }
    rows.push_back(Row::at_most("goals", "Andrews' mechanism, " + by, "seconds to 1e-3 rad", 0.02, least)
                       .because("a goal of the project"));
    rows.push_back(Row::measure("goals", "Andrews' mechanism, " + by, "its error, rad", error)
                       .because("runs beyond 1e-3 rad are left out before: the seconds of the others have the bound"));
  });
  guard(rows, "goals", "nfourbar 40", [&] {
    double least = 1e300, drift = 0;
    std::string by;
    for (const Way& way : {Way{"hht-i3", ""}, Way{"bdf-i3", ""}, Way{"bdf-si2", ""}, Way{"adams", ""},
                           Way{"rosenbrock-nystrom-4", "all-coordinates"}}) {
      for (const double tolerance : {1e-4, 1e-5, 1e-6, 1e-7, 1e-8}) {
        const Case c{"", "iftomm_a02_nfourbar_N40.yaml", "", 10, way, tolerance, way};
        const Model model = load(c, way, tolerance);
        const Equations equations(model);
        Workspace work = equations.make_workspace();
        const Rates rates = equations.make_rates();
        SteppedRunOptions options;
        options.grid = 0.05;
        options.patience = 10;
        options.look = [&](const State& s, const Equations&) {
          const Energy e = equations.energy(s, rates, work);
          return e.kinetic + e.potential;
        };
        const SteppedRun run = step_model(model, options);
        if (!run.finished) continue;
        double most = 0;
        for (const double e : run.grid) most = std::max(most, std::abs(e - run.grid.front()));
        context.note(way.name() + ", tolerance " + std::to_string(tolerance) + ": drift " + std::to_string(most) +
                     " J in " + std::to_string(run.seconds) + " s");
        if (most > 0.1) continue;
        if (run.seconds < least) {
          least = run.seconds;
          drift = most;
          by = way.name();
        }
        break;
      }
    }
    rows.push_back(Row::at_most("goals", "40 four-bars, 10 s, " + by, "seconds with a drift below 0.1 J", 0.5, least)
                       .because("a goal of the project"));
    rows.push_back(Row::measure("goals", "40 four-bars, 10 s, " + by, "its drift, J", drift)
                       .because("runs beyond 0.1 J are left out before: the seconds of the others have the bound"));
  });
}

}  // namespace
}  // namespace work_precision_study

std::vector<Row> study_work_precision(const StudyContext& context) {
  using namespace work_precision_study;
  std::vector<Row> rows;
  const Way stages{"radau-iia-3", "stabilised-index-2"}, projected{"dormand-prince-853", "index-1-projected"};
  for (const Case& c :
       {Case{"andrews", "andrews_squeezer.yaml", "Andrews' mechanism", 0.03, {"bdf-si2", ""}, 1e-11, stages},
        Case{"flyball", "iftomm_a05_flyball.yaml", "flyball governor", 2, {"bdf-si2", ""}, 1e-11, projected},
        Case{"ladder",
             "planar_ladder.yaml",
             "40 four-bars",
             2,
             {"rosenbrock-nystrom-4", "all-coordinates"},
             1e-9,
             {"adams", ""}},
        Case{"hmmwv", "hmmwv_bump.yaml", "HMMWV over a bump", 1, {"bdf-si2", ""}, 1e-10, stages},
        Case{"chain", "planar_chain.yaml", "chain of 100 rods", 1, {"bdf-si2", ""}, 1e-10, projected}})
    diagram(c, rows, context);
  goals(rows, context);
  return rows;
}

}  // namespace trammel
