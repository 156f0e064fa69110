// Benchmark cases with known solutions: each model file is run at its own settings, and what it gives is compared with
// the reference under data/cases. Tolerances are what an engineer needs (data/cases.json); with --tight what a method
// at its best must reach, by two unrelated methods.
#include <algorithm>
#include <cmath>

#include "studies/printed.h"
#include "studies/study.h"
#include "trammel/write/plot.h"

namespace trammel {
namespace cases_study {
namespace {

using Json = nlohmann::json;

// The reference's value at the one time of comparison.
double value_at(const Reference& reference, const std::string& column, double t) {
  const std::vector<double>& times = reference.time();
  const auto nearest = std::min_element(times.begin(), times.end(),
                                        [t](double a, double b) { return std::abs(a - t) < std::abs(b - t); });
  return reference.column(column)[static_cast<std::size_t>(nearest - times.begin())];
}

void add_work(std::vector<Row>& rows, const std::string& name, const RunSummary& s) {
  const long rejected = s.rejected_error + s.rejected_newton + s.rejected_evaluation + s.rejected_angle;
  const auto steps = static_cast<double>(std::max(1L, s.steps));
  const auto add = [&](const char* quantity, double number) {
    rows.push_back(Row::measure("work", name, quantity, number)
                       .because("no source or theory says how much work it is; the error of the case has a bound"));
  };
  add("steps", static_cast<double>(s.steps));
  add("rejected attempts", static_cast<double>(rejected));
  add("Newton iterations a step", static_cast<double>(s.counts.newton_iterations) / steps);
  add("linearisations a step", static_cast<double>(s.counts.linearisations) / steps);
}

// Largest error so far over time, as a part of what is allowed.
PlotCurve error_curve(const ModelRun& run, const Json& c, const Reference& reference) {
  PlotCurve curve;
  curve.label = c["name"].get<std::string>();
  const double allowed = c["tolerance"].get<double>(), end = run.result.summary.end;
  std::vector<double> largest(reference.rows(), 0.0);
  for (const Json& compare : c["compare"]) {
    const std::vector<double> ours = sample(run, compare["signal"].get<std::string>(), reference.time());
    const std::string column = compare["column"].get<std::string>();
    const std::vector<double>& exact = reference.column(column);
    const double scale =
        c.value("relative", false) ? std::abs(value_at(reference, column, c["at"].get<double>())) : 1.0;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      largest[i] = std::max(largest[i], std::abs(ours[i] - exact[i]) / scale);
    }
  }
  for (std::size_t i = 1; i < largest.size(); ++i) {
    largest[i] = std::max(largest[i], largest[i - 1]);
    curve.x.push_back(reference.time()[i] / end);
    curve.y.push_back(largest[i] / allowed);
  }
  return curve;
}

void compare_case(const Json& c, std::vector<Row>& rows, std::vector<Row>& work, PlotPanel& panel) {
  const std::string name = c["name"].get<std::string>();
  const double allowed = c["tolerance"].get<double>();
  const std::string needed = c["because"].get<std::string>();
  const ModelRun run = run_model(name + ".yaml");
  const Reference reference = read_reference("data/cases/" + name + ".csv");
  for (const Json& compare : c["compare"]) {
    const std::string signal = compare["signal"].get<std::string>(), column = compare["column"].get<std::string>();
    if (c.contains("at")) {
      const double t = c["at"].get<double>();
      const double ours = sample(run, signal, {t}).at(0);
      const double exact = value_at(reference, column, t);
      rows.push_back(Row::near("errors", name,
                               signal + " at " + c["at"].dump() + " s, " + compare["unit"].get<std::string>(), exact,
                               ours, allowed * std::abs(exact))
                         .because(needed));
      if (c.contains("published")) {
        rows.back().own = c["published"].get<double>();
        rows.back().origin = "the IVP test set";
      }
    } else {
      rows.push_back(Row::error("errors", name,
                                "largest error of " + signal + ", " + compare["unit"].get<std::string>(),
                                max_error(run, signal, reference, column), allowed)
                         .because(needed));
    }
  }
  if (c.contains("energy_drift")) {
    rows.push_back(Row::error("errors", name, "largest energy drift, J", run.result.summary.energy.largest_imbalance,
                              c["energy_drift"].get<double>())
                       .because(c["energy_because"].get<std::string>()));
  }
  add_work(work, name, run.result.summary);
  panel.curves.push_back(error_curve(run, c, reference));
}

// The largest error of a run, over all that is compared.
double case_error(const ModelRun& run, const Json& c, const Reference& reference) {
  double largest = 0;
  for (const Json& compare : c["compare"]) {
    const std::string signal = compare["signal"].get<std::string>(), column = compare["column"].get<std::string>();
    if (c.contains("at")) {
      const double t = c["at"].get<double>(), exact = value_at(reference, column, t);
      largest = std::max(largest, std::abs(sample(run, signal, {t}).at(0) - exact) / std::abs(exact));
    } else {
      largest = std::max(largest, max_error(run, signal, reference, column));
    }
  }
  return largest;
}

// The sharpest tolerance of a case, reached by each of its methods.
std::vector<Row> run_tight(const StudyContext& context, const Json& data) {
  std::vector<Row> rows;
  for (const Json& c : data["cases"]) {
    const std::string name = c["name"].get<std::string>();
    const Reference reference = read_reference("data/cases/" + name + ".csv");
    for (const Json& by : c["tight_by"]) {
      const std::string method = by["method"].get<std::string>();
      context.note(name + " by " + method);
      guard(rows, "tight", name, [&] {
        ModelChanges changes;
        changes.method = method;
        if (by.contains("formulation")) changes.formulation = by["formulation"].get<std::string>();
        changes.tolerance = by["tolerance"].get<double>();
        for (const auto& option : by.value("options", std::vector<std::string>{})) changes.options.push_back(option);
        const ModelRun run = run_model(name + ".yaml", changes);
        rows.push_back(Row::error("tight", name, "largest error, " + method, case_error(run, c, reference),
                                  c["tight"].get<double>())
                           .because("what round-off and the digits of the reference leave a method at its best"));
        rows.push_back(Row::measure("tight", name, "steps, " + method, static_cast<double>(run.result.summary.steps))
                           .because(why::work));
        rows.push_back(Row::measure("tight", name, "evaluations, " + method,
                                    static_cast<double>(run.result.summary.counts.evaluations))
                           .because(why::work));
      });
    }
  }
  return rows;
}

// The trajectory between two accepted steps, as the integrator itself interpolates it: the cubic through positions and
// velocities.
struct Arc {
  double t, h, x0, v0, x1, v1;

  double position(double s) const {
    const double s2 = s * s, s3 = s2 * s;
    return (2 * s3 - 3 * s2 + 1) * x0 + (s3 - 2 * s2 + s) * h * v0 + (3 * s2 - 2 * s3) * x1 + (s3 - s2) * h * v1;
  }
  double velocity(double s) const {
    return (6 * s * s - 6 * s) * (x0 - x1) / h + (3 * s * s - 4 * s + 1) * v0 + (3 * s * s - 2 * s) * v1;
  }

  // Where `f` changes its sign, as a part of the step.
  template <class F>
  static double root(F f) {
    double low = 0, high = 1;
    const bool rising = f(0) < 0;
    for (int i = 0; i < 60; ++i) {
      const double middle = 0.5 * (low + high);
      ((f(middle) < 0) == rising ? low : high) = middle;
    }
    return 0.5 * (low + high);
  }
};

void compare_bounce(const Json& c, const StudyContext& context, std::vector<Row>& rows, std::vector<Row>& work) {
  const std::string name = c["name"].get<std::string>();
  const double allowed = c["tolerance"].get<double>();
  const ModelRun run = run_model(name + ".yaml");
  const std::vector<double> t = run.time(), gap = run.column("gap"), velocity = run.column("velocity");
  std::vector<double> touch, leave, speed, depth;  // of each contact
  for (std::size_t i = 0; i + 1 < t.size(); ++i) {
    const Arc arc{t[i], t[i + 1] - t[i], gap[i], velocity[i], gap[i + 1], velocity[i + 1]};
    if ((gap[i] < 0) != (gap[i + 1] < 0)) {
      const double s = Arc::root([&](double at) { return arc.position(at); });
      (gap[i + 1] < 0 ? touch : leave).push_back(arc.t + s * arc.h);
      if (gap[i + 1] >= 0) speed.push_back(arc.velocity(s));
    }
    if (velocity[i] < 0 && velocity[i + 1] >= 0)
      depth.push_back(-arc.position(Arc::root([&](double at) { return arc.velocity(at); })));
  }
  const auto add = [&](const char* quantity, const char* key, double ours) {
    const double exact = c[key].get<double>();
    rows.push_back(
        Row::near("errors", name, quantity, exact, ours, allowed * exact).because(c["because"].get<std::string>()));
  };
  if (touch.size() < 2 || leave.empty() || depth.empty()) {
    rows.push_back(Row::failed("errors", name, "the ball does not touch the floor twice"));
    return;
  }
  add("first contact, s", "first_contact_time", touch[0]);
  add("contact duration, s", "contact_duration", leave[0] - touch[0]);
  add("largest penetration, m", "max_penetration", depth[0]);
  add("rebound speed, m/s", "rebound_speed", speed[0]);
  add("bounce period, s", "bounce_period", touch[1] - touch[0]);
  add_work(work, name, run.result.summary);

  const auto file = context.picture("hertz_bounce.png");
  if (!file) return;
  PlotRequest plot;
  plot.title = "Hertz bounce: the first contact";
  plot.xlabel = "time after contact, ms";
  plot.style = PlotStyle::linespoints;
  PlotCurve x{{}, {}, "penetration at accepted steps", {}, false}, f{{}, {}, "contact force", {}, false};
  const std::vector<double> force = run.column("force.contact.fz");
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (t[i] < touch[0] - 1e-3 || t[i] > leave[0] + 1e-3) continue;
    x.x.push_back(1e3 * (t[i] - touch[0]));
    x.y.push_back(-1e3 * gap[i]);
    f.x.push_back(x.x.back());
    f.y.push_back(1e-3 * force[i]);
  }
  plot.panels = {{"penetration, mm", {x}, false}, {"force, kN", {f}, false}};
  draw_plot(plot, *file);
}

std::vector<Row> run(const StudyContext& context) {
  const Json data = read_data("cases.json");
  if (context.tight) return run_tight(context, data);
  std::vector<Row> rows, work;
  PlotPanel panel{"largest error so far, part of the allowed", {}, true};
  for (const Json& c : data["cases"]) {
    const std::string name = c["name"].get<std::string>();
    context.note(name);
    guard(rows, "errors", name, [&] { compare_case(c, rows, work, panel); });
  }
  const std::string bounce = data["bounce"]["name"].get<std::string>();
  context.note(bounce);
  guard(rows, "errors", bounce, [&] { compare_bounce(data["bounce"], context, rows, work); });
  rows.insert(rows.end(), work.begin(), work.end());
  if (const auto file = context.picture("cases.png"); file && !panel.curves.empty()) {
    PlotRequest plot;
    plot.title = "Benchmark cases, HHT at each file's own settings";
    plot.xlabel = "time, part of the run";
    panel.curves.push_back({{0, 1}, {1, 1}, "allowed", {}, true});
    plot.panels = {panel};
    plot.width = 1100;
    plot.height = 600;
    draw_plot(plot, *file);
  }
  return rows;
}

}  // namespace
}  // namespace cases_study

std::vector<Row> study_cases(const StudyContext& context) { return cases_study::run(context); }

}  // namespace trammel
