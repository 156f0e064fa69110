// trammel plot RESULT SIGNAL...: curves of a result as a picture or as text; --list names the signals.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "app/common.h"
#include "app/verbs.h"
#include "trammel/base/input_file.h"
#include "trammel/base/printable.h"
#include "trammel/write/plot.h"
#include "trammel/write/read_trajectory.h"
#include "trammel/write/sweep_table.h"

namespace trammel {
namespace {

struct PlotArguments {
  std::string result, output, style = "lines";
  std::vector<std::string> signals;
  PlotOptions options;
  bool list = false, text = false, json = false;
};

Json signal_json(const MemoryTrajectory& result, SignalRef ref) {
  const Signal& s = result.signal(ref);
  return {{"name", s.name}, {"unit", s.unit},      {"frame", s.frame},
          {"text", s.text}, {"flag", s.flag_text}, {"table", result.tables()[ref.table].name}};
}

// Signals that fit the patterns; all without any.
int list_signals(const PlotArguments& a, const MemoryTrajectory& result) {
  std::vector<SignalRef> found;
  for (const std::string& pattern : a.signals) {
    for (const SignalRef ref : result.match(pattern)) {
      if (std::find(found.begin(), found.end(), ref) == found.end()) found.push_back(ref);
    }
  }
  if (a.signals.empty()) {
    for (std::size_t t = 0; t < result.tables().size(); ++t) {
      for (std::size_t c = 0; c < result.tables()[t].signals.size(); ++c) found.push_back({t, c});
    }
  }
  if (a.json) {
    Json list = Json::array();
    for (const SignalRef ref : found) list.push_back(signal_json(result, ref));
    print_json(list);
    return 0;
  }
  std::vector<std::vector<std::string>> lines;
  for (const SignalRef ref : found) {
    const Signal& s = result.signal(ref);
    // The time is the one name that more than one table has.
    const std::string name = s.name == "time" && ref.table > 0 ? result.tables()[ref.table].name + "/time" : s.name;
    lines.push_back({printable(name), s.unit.empty() ? "-" : printable(s.unit),
                     printable(s.text + (s.flagged ? " [" + s.flag_text + "]" : ""))});
  }
  std::fputs(aligned(lines, 0).c_str(), stdout);
  return 0;
}

// Over the first parameter; as points where that does not grow from run to run.
void show_over_parameter(const MemoryTrajectory& sweep, PlotArguments& a) {
  if (a.options.x.empty() && sweep.tables()[0].signals.size() > 1) a.options.x = sweep.tables()[0].signals[1].name;
  const std::vector<double> x = sweep.column(a.options.x.empty() ? "time" : a.options.x);
  if (!std::is_sorted(x.begin(), x.end())) a.style = "points";
}

int plot_verb(PlotArguments a) {
  if (!a.list && a.signals.empty()) {
    throw Failure({Severity::error,
                   "bad-usage",
                   "no signal is named",
                   "`trammel plot " + a.result + " --list` shows those there are",
                   {}},
                  ExitCode::bad_usage);
  }
  if (a.json && !a.list && a.output.empty()) {
    throw Failure({Severity::error,
                   "bad-usage",
                   "--json tells of a list or a picture, not of a drawing on the terminal",
                   "add --list or --output FILE",
                   {}},
                  ExitCode::bad_usage);
  }
  std::vector<Problem> notes;
  const bool sweep = std::filesystem::is_regular_file(a.result) && is_sweep_table(a.result);
  const MemoryTrajectory result = sweep ? read_sweep_table(a.result) : read_trajectory(a.result, {}, &notes);
  note_input(a.result);
  if (sweep) show_over_parameter(result, a);
  for (const Problem& note : notes) std::fprintf(stderr, "%s\n", to_text(note).c_str());
  if (a.list) return list_signals(a, result);
  a.options.style = plot_style(a.style).value_or(PlotStyle::lines);
  if (!a.output.empty()) plot_signals(result, a.signals, a.output, a.options);
  if (a.output.empty() || a.text) {
    const int columns = a.options.width > 0 ? a.options.width : 100;
    const int rows = a.options.height;
    std::fputs(draw_plot_text(plot_of_signals(result, a.signals, a.options), columns, rows).c_str(), stdout);
  }
  if (a.json) print_json({{"exit_code", 0}, {"picture", a.output.empty() ? Json() : Json(a.output)}});
  return 0;
}

}  // namespace

Verb add_plot(CLI::App& app) {
  auto a = std::make_shared<PlotArguments>();
  PlotOptions& o = a->options;
  CLI::App* verb = app.add_subcommand("plot", "Draw signals of a result, or list them");
  verb->add_option("RESULT", a->result, "Result file of `trammel run`, HDF5 or CSV, or table of `trammel sweep`")
      ->required();
  verb->add_option("SIGNAL", a->signals, "Names, groups (joint.pin.force) or patterns (body.*.position.z)");
  verb->add_option("-o,--output", a->output, "Picture to write: .png, .svg or .txt; without it, text on the terminal")
      ->type_name("FILE");
  verb->add_option("-x,--x", o.x, "Signal of the horizontal axis instead of the time")->type_name("SIGNAL");
  verb->add_option("--title", o.title, "Title; default: that of the model")->type_name("TEXT");
  verb->add_option("--from", o.from, "Start of the time shown")->type_name("SECONDS");
  verb->add_option("--to", o.to, "End of the time shown")->type_name("SECONDS");
  verb->add_option("--style", a->style, "lines, points or linespoints")
      ->check(CLI::IsMember({"lines", "points", "linespoints"}))
      ->type_name("STYLE");
  verb->add_flag("--logx", o.logx, "Logarithmic horizontal axis");
  verb->add_flag("--logy", o.logy, "Logarithmic vertical axis");
  verb->add_flag("--equal", o.equal_axes, "One unit equally long on both axes: for paths in space");
  verb->add_flag("--one-panel", o.one_panel, "All units in one panel");
  verb->add_option("--width", o.width, "In pixels, or characters for text")->check(CLI::Range(1, 20000));
  verb->add_option("--height", o.height, "In pixels, or lines for text")->check(CLI::Range(1, 20000));
  verb->add_flag("--text", a->text, "Draw on the terminal too when a picture is written");
  verb->add_flag("--list", a->list, "List the signals (that fit SIGNAL) with unit and meaning, and draw nothing");
  verb->add_flag("--json", a->json, "Print the list or the outcome as JSON")->excludes("--text");
  verb->footer(
      "Examples:\n"
      "  trammel plot run.h5 --list\n"
      "  trammel plot run.h5 --list 'joint.*.force.z'\n"
      "  trammel plot run.h5 body.slider.position.x energy.total -o slider.png\n"
      "  trammel plot run.h5 tip_z --x tip_x --equal -o path.svg\n"
      "  trammel plot pendulum.sweep.csv swing.max --x L      the table of a sweep, over a parameter\n"
      "\n"
      "Signals of different units are drawn in panels of their own. Drawing needs gnuplot (package gnuplot-nox).");
  return {verb, [a] { return plot_verb(*a); }};
}

}  // namespace trammel
