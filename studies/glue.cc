// The tables and figures of the paper on gluing: a double pendulum of two model files, glued at its pin. The errors of
// the joint over the coupling scheme with the paper's own set-up and with a careful one, counts of iterations over the
// first guess, and what better couplings make of the same problem.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "studies/printed.h"
#include "studies/study.h"
#include "trammel/base/data_directory.h"
#include "trammel/couple/coupling_file.h"
#include "trammel/write/plot.h"

namespace trammel {
namespace glue_study {
namespace {

using Json = nlohmann::json;

std::string glue_label(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

// What the paper's authors ran, or the same with care: sub-integration started anew where inputs jump, values on a grid
// of 1 ms.
enum class SetUp { paper, careful };

struct GlueCase {
  std::string scheme = "displacement";
  double torque = 0;
  SetUp set_up = SetUp::careful;
  InterfaceSolver solver = InterfaceSolver::compliance;
  Prediction prediction = Prediction::automatic;
  double step = 0.01, tolerance = 1e-10, increment = 1e-3, participant_tolerance = 1e-9;
  int degree = 3;
  std::optional<double> theta{}, error{};
  std::vector<std::string> set{};
};

struct Glued {
  MemoryTrajectory joint, first, second;
  CouplingSummary summary;
};

// `first` and `second` are filled after the run.
void run_glued(const GlueCase& c, Glued& out) {
  CouplingChanges changes;
  changes.set = c.set;
  changes.set.push_back("torque=" + glue_label("%.17g", c.torque));
  CouplingSpec spec = read_coupling((data_directory() / "couplings/double_pendulum.yaml").string(), changes);
  CouplingSettings& s = spec.settings;
  s.scheme = c.theta ? theta_scheme(*c.theta) : find_scheme(c.scheme, {});
  s.step = c.step;
  s.tolerance = c.tolerance;
  s.solver = c.solver;
  s.prediction = c.prediction;
  s.increment = c.increment;
  s.degree = c.degree;
  s.coupling_error = c.error;
  const bool paper = c.set_up == SetUp::paper;
  s.restart_at_jumps = !paper;
  s.output_steps = paper;
  if (paper) s.output_step.reset();
  for (ParticipantSpec& p : spec.participants) {
    p.changes.tolerance = paper ? 1e-6 : c.participant_tolerance;
    if (paper) p.changes.options.emplace_back("ode45=true");
  }
  const auto coupling = make_coupling(spec, [&](const std::string& name) {
    return std::make_unique<TeeSink>(std::vector<TrajectorySink*>{name == "first" ? &out.first : &out.second});
  });
  out.summary = coupling->run(out.joint);
  if (out.summary.status != RunStatus::finished)
    throw Failure({Severity::error, "run-failed", out.summary.failure, "", {}}, ExitCode::failed_run);
}

// Mean and greatest |g|, mean and greatest |g'| from a time on; the start, where nothing was coupled yet, does not
// count.
std::array<double, 4> joint_errors(const Glued& run, double from) {
  const std::vector<double> t = run.joint.time(0), g = run.joint.column("joint.pin.error"),
                            rate = run.joint.column("joint.pin.rate_error");
  std::array<double, 4> out{};
  double count = 0;
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (t[i] < from - 1e-9 || t[i] == 0) continue;
    ++count;
    out[0] += g[i];
    out[1] = std::max(out[1], g[i]);
    out[2] += rate[i];
    out[3] = std::max(out[3], rate[i]);
  }
  out[0] /= count;
  out[2] /= count;
  return out;
}

const char* const error_names[] = {"mean |g|, m", "greatest |g|, m", "mean |g'|, m/s", "greatest |g'|, m/s"};

std::string case_name(const Json& c) {
  return c["scheme"].get<std::string>() + (c["torque"].get<double>() > 0 ? ", with torque" : ", no torque") +
         (c["from"].get<double>() > 0 ? ", from 0.5 s" : "");
}

// Half a unit of the third digit, the digits that are printed, and a hair for the rounding of the print itself.
double third_digit(double printed) { return 0.0051 * std::pow(10, std::floor(std::log10(printed))); }

void error_tables(const StudyContext& context, std::vector<Row>& rows, const Json& data) {
  for (const Json& c : data["tables"]) {
    const std::string table = "Table " + std::to_string(c["table"].get<int>()) + ", the paper's set-up";
    context.note(table + ": " + case_name(c));
    guard(rows, table, case_name(c), [&] {
      GlueCase setting{.scheme = c["scheme"], .torque = c["torque"], .set_up = SetUp::paper};
      setting.solver = InterfaceSolver::differences;
      setting.increment = 1e-6;
      setting.prediction = Prediction::envelope;
      Glued run;
      run_glued(setting, run);
      const std::array<double, 4> ours = joint_errors(run, c["from"]);
      for (std::size_t i = 0; i < 4; ++i) {
        const double printed = c["printed"][i],
                     target = c.contains("corrected") ? c["corrected"][i].get<double>() : printed;
        Row row =
            Row::near(table, case_name(c), error_names[i], target, ours[i], third_digit(target)).with_printed(printed);
        if (target != printed) row.note = "misprint";
        rows.push_back(row);
      }
    });
  }
  for (const Json& c : data["robust"]) {
    const std::string table = "Tables 2 and 3, started anew at jumps, 1 ms grid";
    context.note(table + ": " + case_name(c));
    guard(rows, table, case_name(c), [&] {
      Glued run;
      run_glued({.scheme = c["scheme"], .torque = c["torque"]}, run);
      const std::array<double, 4> ours = joint_errors(run, c["from"]);
      for (std::size_t i = 0; i < 4; ++i)
        rows.push_back(Row::near(table, case_name(c), error_names[i], c["values"][i], ours[i],
                                 0.005 * c["values"][i].get<double>()));
    });
  }
}

}  // namespace
}  // namespace glue_study

std::vector<Row> study_glue(const StudyContext& context) {
  using namespace glue_study;
  std::vector<Row> rows;
  const Json data = read_printed("glue.json");
  error_tables(context, rows, data);
  return rows;
}

}  // namespace trammel
