// A corpus of 2,000 mechanisms made from seeds, each judged without a reference: assembled derivatives against
// differences, energy balance, HHT at two tolerances against each other. Joints are drawn closed, so every mechanism
// can be assembled; one may be refused before its run if a motion drives a joint that its loop locks
// (velocities-conflict), and stop early for a cause that was proved (a random force may blow up): both are listed. A
// run that fails otherwise, or a number that is off, is a row of its own that is not ok, with its seed:
// `judge_random_model(seed)` makes it again.
#include <algorithm>
#include <map>

#include "studies/random_models.h"
#include "studies/study.h"

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

std::vector<Row> run(const StudyContext& context) {
  std::vector<Row> rows;
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
      rows.push_back(Row::measure("stopped early for a cause that was proved", why, report.kind + ", seed", seed));
    }
    kinds[report.kind].push_back(std::move(report));
  }
  for (const auto& [kind, reports] : kinds) {
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
    rows.push_back(Row::measure(table, kind, "mechanisms", static_cast<double>(reports.size())));
    rows.push_back(Row::measure(table, kind, "with redundant rows", redundant));
    rows.push_back(Row::measure(table, kind, "without freedoms", loops_driven));
    rows.push_back(Row::at_most(table, kind, "failed", 0, failed));
    rows.push_back(Row::at_most(table, kind, "stopped early for a proved cause, part of all", 0.05,
                                stopped / static_cast<double>(reports.size())));
    rows.push_back(Row::at_most(table, kind, "refused at the start, part of all", 0.1,
                                refused / static_cast<double>(reports.size())));
    rows.push_back(
        Row::at_most(table, kind, "derivatives against differences, largest", 1e-6, quantile(derivative, 1)));
    rows.push_back(
        Row::measure(table, kind, "tolerances 1e-5 and 1e-7, of the length scale, median", quantile(difference, 0.5)));
    rows.push_back(Row::measure(table, kind, "tolerances 1e-5 and 1e-7, largest", quantile(difference, 1)));
    rows.push_back(Row::measure(table, kind, "imbalance of energy at 1e-7, median", quantile(imbalance, 0.5)));
    rows.push_back(Row::measure(table, kind, "imbalance of energy at 1e-7, largest", quantile(imbalance, 1)));
    rows.push_back(Row::measure(table, kind, "steps at 1e-7, average", steps / static_cast<double>(reports.size())));
  }
  for (const auto& [id, count] : refusals) rows.push_back(Row::measure("refusals", id, "times", count));
  return rows;
}

}  // namespace
}  // namespace corpus_study

std::vector<Row> study_corpus(const StudyContext& context) { return corpus_study::run(context); }

}  // namespace trammel
