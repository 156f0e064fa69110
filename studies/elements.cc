// Every element and block of the registries, and a line, against a closed form, in a model file of its own,
// studies/elements/KEY.yaml: its outputs come in pairs, NAME as the run gives it and NAME_expected as a formula gives
// it. Each pair is a row and a panel of the picture KEY.png, which the element's page shows:
//
//   trammel study elements --output docs/images/elements
#include <algorithm>

#include "studies/study.h"
#include "trammel/elements/blocks/block.h"
#include "trammel/elements/registry.h"
#include "trammel/write/plot.h"

namespace trammel {
namespace elements_study {
namespace {

// Of the largest expected value. Runs are at tolerances of 1e-8 and 1e-9, where the error of a step, relative to the
// length scale, adds up to tolerance^(2/3), some 1e-5, over the few periods shown.
constexpr double most = 1e-4;

const std::string suffix = "_expected";

const char* name_of(Category category) {
  return category == Category::joint ? "joints" : category == Category::motion ? "motions" : "forces";
}

void compare(const std::string& group, const std::string& key, const StudyContext& context, std::vector<Row>& rows) {
  const ModelRun run = run_model(study_file("elements/" + key + ".yaml").string());
  const std::vector<Signal>& signals = run.trajectory.tables()[0].signals;
  PlotRequest plot;
  plot.title = key;
  plot.xlabel = "time, s";
  for (const Signal& signal : signals) {
    const auto expected = std::find_if(signals.begin(), signals.end(),
                                       [&](const Signal& other) { return other.name == signal.name + suffix; });
    if (expected == signals.end()) continue;
    const std::vector<double> ours = run.column(signal.name), theirs = run.column(expected->name);
    rows.push_back(
        Row::error(group, key, signal.name + ", of its largest value", max_error(ours, theirs) / max_abs(theirs), most)
            .because("an error of tolerance^(2/3) of a run at 1e-8, and a few periods of it"));
    PlotPanel panel;
    panel.ylabel = signal.name + ", " + signal.unit;
    panel.curves.push_back({run.time(), ours, "computed", PlotStyle::lines, false});
    PlotCurve marks{{}, {}, "closed form", PlotStyle::points, false};
    const std::size_t every = std::max<std::size_t>(1, theirs.size() / 25);
    for (std::size_t i = 0; i < theirs.size(); i += every) {
      marks.x.push_back(run.time()[i]);
      marks.y.push_back(theirs[i]);
    }
    panel.curves.push_back(std::move(marks));
    plot.panels.push_back(std::move(panel));
  }
  if (plot.panels.empty()) {
    rows.push_back(Row::failed(group, key, "no output has an expected value beside it"));
    return;
  }
  plot.subtitle = run.trajectory.provenance().get("title");
  plot.width = 640;
  plot.height = 140 + 170 * static_cast<int>(plot.panels.size());
  if (const auto file = context.picture(key + ".png")) draw_plot(plot, *file);
}

}  // namespace
}  // namespace elements_study

std::vector<Row> study_elements(const StudyContext& context) {
  std::vector<Row> rows;
  const auto add = [&](const std::string& group, const std::string& key) {
    context.note(key);
    guard(rows, group, key, [&] { elements_study::compare(group, key, context, rows); });
  };
  for (const ElementDescription& element : element_registry())
    add(elements_study::name_of(element.category), element.key);
  for (const BlockDescription& block : block_registry()) add("blocks", block.key);
  add("lines", "line");
  return rows;
}

}  // namespace trammel
