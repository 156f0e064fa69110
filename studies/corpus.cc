// A corpus of 2,000 mechanisms made from seeds, each judged without a reference: assembled derivatives against
// differences, energy balance, HHT at two tolerances against each other. Joints are drawn closed, so every mechanism
// can be assembled; one may be refused before its run if a motion drives a joint that its loop locks
// (velocities-conflict), and stop early for a cause that was proved (a random force may blow up): both are listed. A
// run that fails otherwise, or a number that is off, is a row of its own that is not ok, with its seed:
// `judge_random_model(seed)` makes it again.
#include <algorithm>
#include <cmath>
#include <map>

#include "studies/random_models.h"
#include "studies/study.h"
#include "trammel/write/plot.h"

namespace trammel {
namespace corpus_study {
namespace {

using problems::RandomModelReport;

constexpr unsigned corpus_size = 2000;

double quantile(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))];
}

void draw(const StudyContext& context, const std::vector<PlotPanel>& panels) {
  const auto file = context.picture("corpus.png");
  if (!file) return;
  PlotRequest plot;
  plot.title = std::to_string(corpus_size) + " mechanisms made from seeds";
  plot.subtitle = "of all mechanisms of a kind, the part that is at or below a number";
  plot.xlabel = "part of the mechanisms, %";
  plot.panels = panels;
  plot.width = 900;
  plot.height = 900;
  draw_plot(plot, *file);
}

struct CorpusPanels {
  PlotPanel derivatives{"derivatives against differences", {}, true},
      differences{"tolerances 1e-5 and 1e-7, of the length", {}, true},
      imbalances{"imbalance of energy at 1e-7", {}, true};
};

void rows_of_kind(std::vector<Row>& rows, const std::string& kind, const std::vector<RandomModelReport>& reports,
                  CorpusPanels& panels) {
  std::vector<double> derivative, imbalance, difference;
  double refused = 0, failed = 0, stopped = 0, redundant = 0, steps = 0, loops_driven = 0;
  for (const RandomModelReport& r : reports) {
    refused += r.refused ? 1 : 0;
    failed += r.failure.empty() ? 0 : 1;
    stopped += r.stopped.empty() ? 0 : 1;
    redundant += r.redundant > 0 ? 1 : 0;
    loops_driven += r.freedoms == 0 ? 1 : 0;
    steps += static_cast<double>(r.steps);
    if (r.refused || !r.stopped.empty()) continue;
    derivative.push_back(r.derivative_error);
    imbalance.push_back(r.imbalance);
    difference.push_back(r.difference);
  }
  const std::string table = "mechanisms made from seeds 1 to " + std::to_string(corpus_size);
  const char* const drawn = "what the seeds draw";
  const char* const judged = "each mechanism is judged with its own bound; those beyond it are counted as failed";
  rows.push_back(Row::measure(table, kind, "mechanisms", static_cast<double>(reports.size())).because(drawn));
  rows.push_back(Row::measure(table, kind, "with redundant rows", redundant).because(drawn));
  rows.push_back(Row::measure(table, kind, "without freedoms", loops_driven).because(drawn));
  rows.push_back(
      Row::at_most(table, kind, "failed", 0, failed).because("no mechanism may fail without a proved cause"));
  rows.push_back(Row::at_most(table, kind, "stopped early for a proved cause, part of all", 0.05,
                              stopped / static_cast<double>(reports.size()))
                     .because("else the corpus would judge little"));
  rows.push_back(
      Row::at_most(table, kind, "refused at the start, part of all", 0.1, refused / static_cast<double>(reports.size()))
          .because("else the corpus would judge little"));
  rows.push_back(Row::at_most(table, kind, "derivatives against differences, largest", 1e-6, quantile(derivative, 1))
                     .because("what differences leave: the root of round-off, and two digits"));
  const double typical = quantile(difference, 0.5), balance = quantile(imbalance, 0.5);
  rows.push_back(Row::at_most(table, kind, "tolerances 1e-5 and 1e-7, of the length scale, median",
                              std::pow(1e-5, 2.0 / 3), typical)
                     .because("order 2 under control: tolerance^(2/3) in a period, which is about what a run takes"));
  rows.push_back(
      Row::measure(table, kind, "tolerances 1e-5 and 1e-7, largest", quantile(difference, 1)).because(judged));
  rows.push_back(Row::at_most(table, kind, "imbalance of energy at 1e-7, median", std::pow(1e-7, 2.0 / 3), balance)
                     .because("order 2 under control: tolerance^(2/3) in a period, which is about what a run takes"));
  rows.push_back(
      Row::measure(table, kind, "imbalance of energy at 1e-7, largest", quantile(imbalance, 1)).because(judged));
  rows.push_back(Row::measure(table, kind, "steps at 1e-7, average", steps / static_cast<double>(reports.size()))
                     .because("no theory says how many; the difference of both tolerances has a bound"));
  const std::string title = kind;
  const auto sorted = [&title](std::vector<double> values) {
    std::sort(values.begin(), values.end());
    PlotCurve curve{{}, {}, title, {}, false};
    for (std::size_t i = 0; i < values.size(); ++i) {
      curve.x.push_back(100 * (static_cast<double>(i) + 0.5) / static_cast<double>(values.size()));
      curve.y.push_back(std::max(values[i], 1e-16));
    }
    return curve;
  };
  panels.derivatives.curves.push_back(sorted(derivative));
  panels.differences.curves.push_back(sorted(difference));
  panels.imbalances.curves.push_back(sorted(imbalance));
}

std::vector<Row> run(const StudyContext& context) {
  std::vector<Row> rows;
  CorpusPanels panels;
  std::map<std::string, std::vector<RandomModelReport>> kinds;
  std::map<std::string, int> refusals;
  for (unsigned seed = 1; seed <= corpus_size; ++seed) {
    if (seed % 100 == 1) context.note("random mechanisms from seed " + std::to_string(seed));
    RandomModelReport report = problems::judge_random_model(seed);
    if (report.refused) {
      for (const std::string& id : report.ids) ++refusals[id];
    }
    if (!report.failure.empty())
      rows.push_back(Row::failed("failures", "seed " + std::to_string(seed) + ", " + report.kind, report.failure));
    if (!report.stopped.empty()) {
      const std::string why = report.ids.size() > 1 ? report.ids[1] : report.ids[0];
      rows.push_back(Row::measure("stopped early for a cause that was proved", why, report.kind + ", seed", seed)
                         .because("a list of seeds; how many there may be has a bound, below"));
    }
    kinds[report.kind].push_back(std::move(report));
  }
  for (const auto& [kind, reports] : kinds) rows_of_kind(rows, kind, reports, panels);
  for (const auto& [id, count] : refusals)
    rows.push_back(Row::measure("refusals", id, "times", count).because("how many there may be has a bound, above"));
  draw(context, {panels.derivatives, panels.differences, panels.imbalances});
  return rows;
}

}  // namespace
}  // namespace corpus_study

std::vector<Row> study_corpus(const StudyContext& context) { return corpus_study::run(context); }

}  // namespace trammel
