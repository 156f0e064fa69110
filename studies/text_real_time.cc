// TEXT section 7.3: the methods that the chapter takes for real time, with steps of fixed size and two corrections
// each, on independent coordinates and with penalty, on three mechanisms: what a step costs, whether each costs the
// same, and what two corrections lose.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "studies/stepping.h"
#include "studies/text_parts.h"
#include "trammel/base/data_directory.h"
#include "trammel/run/load_model.h"
#include "trammel/write/plot.h"

namespace trammel::text_study {
namespace {

struct Mechanism {
  const char *name, *file;
  const char* independent;  // the form with independent coordinates
  double h, end;
  std::vector<std::string> set{};
};

const Mechanism mechanisms[] = {
    {"double pendulum, k = 1e4", "text_pendulum.yaml", "state-space", 2.5e-4, 0.5, {"k1=1e4", "k2=1e4"}},
    {"six-axis robot arm", "robot_arm.yaml", "joint-coordinates", 1e-3, 0.7},
    {"spatial slider-crank", "spatial_slider_crank.yaml", "state-space", 1e-4, 0.5}};

const char* const methods[] = {"midpoint",    "collocation", "newmark",    "hht",
                               "trapezoidal", "radau-iia-2", "radau-iia-3"};
constexpr int corrections = 2;

Model mechanism_with(const Mechanism& m, ModelChanges changes) {
  changes.set = m.set;
  changes.end = m.end;
  return load_model((data_directory() / "models" / m.file).string(), changes);
}

struct Paced {
  State last;
  long steps = 0, evaluations = 0, least = 0, most = 0;  // the latter of a step
  double seconds = 0;
};

// Steps of fixed size, each with what it cost; the first two, which start the method, are not compared.
Paced pace(const Mechanism& m, const char* method, const char* form, int count) {
  Simulation simulation(mechanism_with(
      m, {.method = method, .formulation = form, .step = m.h, .options = {"corrections=" + std::to_string(count)}}));
  simulation.start();
  Integrator& integrator = simulation.integrator();
  Paced out;
  const long steps = std::lround(m.end / m.h), before = integrator.counts().evaluations;
  long last = before;
  const double begin = cpu_seconds();
  for (long i = 0; i < steps; ++i) {
    const Attempt attempt = integrator.attempt(m.h);
    if (attempt.verdict != Verdict::ok)
      throw std::runtime_error(std::string("a step failed: ") + to_text(attempt.verdict));
    integrator.accept();
    const long now = integrator.counts().evaluations, spent = now - last;
    last = now;
    if (i == 2) out.least = out.most = spent;
    if (i > 2) {
      out.least = std::min(out.least, spent);
      out.most = std::max(out.most, spent);
    }
  }
  out.seconds = cpu_seconds() - begin;
  out.steps = steps;
  out.evaluations = last - before;
  out.last = integrator.state();
  return out;
}

double distance(const Equations& equations, const State& a, const State& b) {
  Vec apart(equations.sizes().nv);
  equations.local(a.q, b.q, apart);
  return apart.cwiseQuotient(equations.scales()).lpNorm<Eigen::Infinity>();
}

void method_rows(std::vector<Row>& rows, const Mechanism& m, const char* method, const char* form,
                 const Equations& equations, const State& exact, PlotPanel& panel) {
  const std::string table = std::string("Section 7.3, ") + m.name + ", two corrections a step",
                    row = std::string(method) + ", " + form;
  guard(rows, table, row, [&] {
    const Paced paced = pace(m, method, form, corrections), converged = pace(m, method, form, 0);
    const double error = distance(equations, paced.last, exact), whole = distance(equations, converged.last, exact);
    const auto steps = static_cast<double>(paced.steps);
    rows.push_back(Row::measure(table, row, "evaluations a step", static_cast<double>(paced.evaluations) / steps)
                       .because("what the error beside it costs: a comparison of methods"));
    rows.push_back(Row::measure(table, row, "error at the end, by length and 1 rad", error)
                       .because("a comparison of methods; beside its converged self it has a bound"));
    rows.push_back(Row::at_most(table, row, "dearest step less the cheapest, evaluations", 0,
                                static_cast<double>(paced.most - paced.least))
                       .because("\"the same computational cost in each integration step\""));
    rows.push_back(Row::at_most(table, row, "error at the end by that of the same steps converged", 1.5,
                                error / std::max(whole, 1e-9))
                       .because("two corrections are to lose less than half of what the step size loses"));
    rows.push_back(Row::measure(table, row, "seconds for each second of motion", paced.seconds / m.end)
                       .because(why::machine_time));
    panel.curves.push_back({{steps / paced.seconds}, {error}, row, PlotStyle::points, false});
  });
}

}  // namespace

void real_time(const StudyContext& context, std::vector<Row>& rows) {
  PlotRequest plot;
  plot.title = "Section 7.3: fixed steps with two corrections";
  plot.subtitle = "each point a method in a form; to the right cheaper, downwards better";
  plot.xlabel = "steps a second, on this machine";
  plot.logx = true;
  for (const Mechanism& m : mechanisms) {
    context.note(std::string("real time: ") + m.name);
    guard(rows, "Section 7.3", m.name, [&] {
      const Equations equations(mechanism_with(m, {}));
      const SteppedRun fine = step_model(
          mechanism_with(m, {.method = "dormand-prince-853", .formulation = m.independent, .tolerance = 1e-11}));
      if (!fine.finished) throw std::runtime_error(fine.why);
      PlotPanel panel{std::string("error at the end, ") + m.name, {}, true};
      for (const char* form : {m.independent, "penalty"})
        for (const char* method : methods) method_rows(rows, m, method, form, equations, fine.last, panel);
      plot.panels.push_back(std::move(panel));
    });
  }
  plot.width = 1000;
  plot.height = 1400;
  if (const auto file = context.picture("text_real_time.png"); file && !plot.panels.empty()) draw_plot(plot, *file);
}

}  // namespace trammel::text_study
