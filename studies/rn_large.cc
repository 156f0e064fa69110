// Large mechanisms with Rosenbrock-Nystrom in all coordinates, beside HHT and IDA of SUNDIALS: steps, time and error
// over the tolerance, on a falling chain of 1000 links and on a ladder of 40 four-bar windows. Bodies are planar, so
// that IDA gets its best: coordinates without conditions of their own, no redundant rows. Errors are those against a
// method that is related to none of these.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <tuple>

#include "studies/ida.h"
#include "studies/stepping.h"
#include "studies/study.h"
#include "trammel/elements/build.h"

namespace trammel {
namespace rn_large_study {
namespace {

std::string label(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

Body rod(const std::string& name, double x, double y, double angle) {
  Body body;
  body.name = name;
  body.kind = "planar";
  body.mass = 1;
  body.inertia(2, 2) = 1.0 / 12;
  body.pose.position = Vec3(x, y, 0);
  body.pose.rotation = Quat(Eigen::AngleAxisd(angle, Vec3::UnitZ()));
  return body;
}

// Links of 1 m, straight and level at the start.
Model chain(int links) {
  Model model;
  model.title = "chain of " + std::to_string(links) + " links";
  model.gravity = Vec3(0, -9.81, 0);
  for (int i = 0; i < links; ++i) {
    const int body = model.add_body(rod("link" + std::to_string(i), i + 0.5, 0, 0));
    add_joint(model, "revolute", "pin" + std::to_string(i), body - 1, body, Vec3(i, 0, 0));
  }
  return model;
}

// Cranks of 1 m side by side, joined by couplers, turning at 1 rad/s: IFToMM A02. At every quarter turn it passes a
// singular position.
Model four_bars(int windows) {
  Model model;
  model.title = std::to_string(windows) + " four-bar windows";
  model.gravity = Vec3(0, -9.81, 0);
  for (int i = 0; i <= windows; ++i) {
    Body crank = rod("crank" + std::to_string(i), i, 0.5, 0.5 * 3.14159265358979323846);
    crank.velocity = Vec3(0.5, 0, 0);
    crank.angular_velocity = Vec3(0, 0, -1);
    model.add_body(crank);
    add_joint(model, "revolute", "A" + std::to_string(i), ground, i, Vec3(i, 0, 0));
  }
  for (int i = 0; i < windows; ++i) {
    Body coupler = rod("coupler" + std::to_string(i), i + 0.5, 1, 0);
    coupler.velocity = Vec3(1, 0, 0);
    const int body = model.add_body(coupler);
    add_joint(model, "revolute", "BL" + std::to_string(i), i, body, Vec3(i, 1, 0));
    add_joint(model, "revolute", "BR" + std::to_string(i), i + 1, body, Vec3(i + 1, 1, 0));
  }
  return model;
}

Model with(Model model, const char* method, double tolerance, double end) {
  model.simulation.method = method;
  if (std::string_view(method) == "rosenbrock-nystrom-4") model.simulation.formulation = "all-coordinates";
  if (std::string_view(method) == "dormand-prince-853") model.simulation.formulation = "index-1-projected";
  model.simulation.tolerance = tolerance;
  model.simulation.end = end;
  model.simulation.length = model.simulation.time_scale = 1;  // the weights of RN (4) and HHT (34)
  return model;
}

struct Case {
  const char* name;
  Model model;
  double end;
  const char* reference;  // a method, at its tolerance
  double tolerance;
};

// Errors of the methods over the tolerance, by method.
struct Errors {
  std::vector<double> tolerances, errors;
};
using ErrorsOfMethods = std::map<std::string, Errors>;

struct Ending {
  double steps, rejected, seconds;
  Vec q;
};

void report(std::vector<Row>& rows, const Case& c, const std::string& method, double tolerance, const Ending& end,
            const Vec& exact, ErrorsOfMethods& all) {
  const std::string table = std::string(c.name) + label(", tolerance %.0e", tolerance);
  const double error = (end.q - exact).lpNorm<Eigen::Infinity>();
  const bool theirs = method.rfind("IDA", 0) == 0;
  const char* const work =
      theirs ? why::comparator
             : "no theory says how much work it is; the error's slope over the tolerance has the bound, below";
  rows.push_back(Row::measure(table, method, "steps", end.steps).because(work));
  rows.push_back(Row::measure(table, method, "rejected", end.rejected).because(work));
  rows.push_back(Row::measure(table, method, "seconds", end.seconds).because(why::machine_time));
  rows.push_back(Row::measure(table, method, "largest error of coordinates, m or rad", error)
                     .because(theirs ? why::comparator : "its slope over the tolerance has the bound, below"));
  all[method].tolerances.push_back(tolerance);
  all[method].errors.push_back(error);
}

void run_ours(const StudyContext& context, std::vector<Row>& rows, const Case& c, double tolerance, const Vec& exact,
              ErrorsOfMethods& all) {
  const std::string table = std::string(c.name) + label(", tolerance %.0e", tolerance);
  for (const char* method : {"rosenbrock-nystrom-4", "hht-i3"}) {
    context.note(table + ", " + method);
    guard(rows, table, method, [&] {
      const SteppedRun run = step_model(with(c.model, method, tolerance, c.end));
      if (!run.finished) throw Failure({Severity::error, "run-failed", run.why, "", {}}, ExitCode::failed_run);
      report(rows, c, method, tolerance,
             {static_cast<double>(run.steps), static_cast<double>(run.rejected), run.seconds, run.last.q}, exact, all);
    });
  }
}

void run_theirs(const StudyContext& context, std::vector<Row>& rows, const Case& c, double tolerance, const Vec& exact,
                ErrorsOfMethods& all) {
  const std::string table = std::string(c.name) + label(", tolerance %.0e", tolerance);
  for (const IdaForm form : {IdaForm::index_1, IdaForm::index_2, IdaForm::stabilised}) {
    const std::string method = std::string("IDA, ") + to_text(form);
    context.note(table + ", " + method);
    guard(rows, table, method, [&] {
      Simulation simulation(with(c.model, "hht-i3", tolerance, c.end));
      RunOptions start;
      start.analyse_rank = false;
      simulation.start(start);
      const IdaRun run = run_ida(simulation.equations(), simulation.integrator().state(),
                                 simulation.integrator().rates(), form, tolerance, c.end);
      if (run.good) {
        report(rows, c, method, tolerance,
               {static_cast<double>(run.steps), static_cast<double>(run.error_failures + run.newton_failures),
                run.seconds, run.last.q},
               exact, all);
        return;
      }
      rows.push_back(Row::measure(table, method, "time at which it gives up, s", run.reached).because(why::comparator));
      rows.back().note = run.why;
    });
  }
}

// What theory says of both methods, and what the paper claims of its own: more for the money than a method of order 2.
void demands(std::vector<Row>& rows, const Case& c, ErrorsOfMethods& all) {
  const std::string table = std::string(c.name) + ", error over tolerance";
  const std::tuple<const char*, double, const char*> slopes[] = {
      {"rosenbrock-nystrom-4", 1.0, "theory: order 4 with steps that go with the fourth root of the tolerance"},
      {"hht-i3", 2.0 / 3, "theory: order 2 with steps that go with the third root of the tolerance"}};
  for (const auto& [method, slope, theory] : slopes) {
    const Errors& errors = all[method];
    if (errors.tolerances.size() < 4) continue;
    rows.push_back(
        Row::near(table, method, "slope from 1e-3 to 1e-6", slope, fitted_order(errors.tolerances, errors.errors), 0.25)
            .because(std::string(theory) + "; a quarter for coarse steps"));
  }
  const std::vector<double>&ours = all["rosenbrock-nystrom-4"].errors, &hht = all["hht-i3"].errors;
  for (std::size_t i = 0; i < std::min(ours.size(), hht.size()); ++i)
    rows.push_back(Row::at_most(table, label("tolerance %.0e", all["hht-i3"].tolerances[i]),
                                "error of rosenbrock-nystrom-4 by that of hht-i3", 1, ours[i] / hht[i])
                       .because("at the same tolerance the method of order 4 must be the more accurate one"));
}

void compare(const StudyContext& context, std::vector<Row>& rows, const Case& c) {
  const std::string table = std::string(c.name) + ", reference";
  context.note(table);
  Vec exact;
  double open = 0;  // what the reference does not know
  guard(rows, table, c.reference, [&] {
    const SteppedRun run = step_model(with(c.model, c.reference, c.tolerance, c.end));
    const SteppedRun other = step_model(with(c.model, "rosenbrock-nystrom-4", 1e-9, c.end));
    if (!run.finished || !other.finished)
      throw Failure({Severity::error, "run-failed", run.why + other.why, "", {}}, ExitCode::failed_run);
    exact = run.last.q;
    open = (exact - other.last.q).lpNorm<Eigen::Infinity>();
    rows.push_back(Row::measure(table, c.reference, "steps", static_cast<double>(run.steps))
                       .because("how well it knows the end has the bound"));
  });
  if (exact.size() == 0) return;
  ErrorsOfMethods all;
  for (const double tolerance : {1e-3, 1e-4, 1e-5, 1e-6}) {
    run_ours(context, rows, c, tolerance, exact, all);
    run_theirs(context, rows, c, tolerance, exact, all);
  }
  double least = 1e300;
  for (const auto& [method, errors] : all) {
    for (const double error : errors.errors) least = std::min(least, error);
  }
  rows.push_back(Row::at_most(table, std::string("rosenbrock-nystrom-4 at 1e-9 against ") + c.reference,
                              "largest difference of coordinates, m or rad", std::min(2e-7, 0.1 * least), open)
                     .because("two unrelated methods: a tenth of the least error that is compared, and 2e-7 at most"));
  demands(rows, c, all);
}

std::vector<Row> run(const StudyContext& context) {
  std::vector<Row> rows;
  compare(context, rows, {"chain of 1000 links", chain(1000), 1, "dormand-prince-853", 1e-9});
  compare(context, rows, {"40 four-bar windows", four_bars(40), 2, "adams", 1e-9});
  return rows;
}

}  // namespace
}  // namespace rn_large_study

std::vector<Row> study_rn_large(const StudyContext& context) { return rn_large_study::run(context); }

}  // namespace trammel
