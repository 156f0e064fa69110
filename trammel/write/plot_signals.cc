// From the signals of a result to the panels of a plot; see plot.h.
#include <algorithm>
#include <cmath>

#include "trammel/base/numbers.h"
#include "trammel/write/output_path.h"
#include "trammel/write/plot.h"

namespace trammel {

namespace {

constexpr std::size_t most_curves = 150;  // more cannot be told apart, and '*' may stand for 100,000

// "kg*m^2" as people write it.
std::string unit_for_people(const std::string& unit) {
  std::string out;
  for (std::size_t i = 0; i < unit.size(); ++i) {
    const std::string_view rest = std::string_view(unit).substr(i);
    if (rest.substr(0, 2) == "^2") {
      out += "\xc2\xb2";
      ++i;
    } else if (rest.substr(0, 2) == "^3") {
      out += "\xc2\xb3";
      ++i;
    } else if (unit[i] == '*') {
      out += "\xc2\xb7";
    } else {
      out += unit[i];
    }
  }
  return out;
}

std::string with_unit(const std::string& text, const std::string& unit) {
  if (unit.empty() || unit == "1") return text;
  return text + (text.empty() ? "[" : " [") + unit_for_people(unit) + "]";
}

// What is measured: "position" of body.crank.position.x, "step size" of solver.step_size, "energy" of energy.total.
std::string quantity_of(const std::string& name) {
  std::vector<std::string> parts(1);
  for (const char c : name) {
    if (c == '.') {
      parts.emplace_back();
    } else {
      parts.back() += c == '_' ? ' ' : c;
    }
  }
  if (parts.size() > 2) return parts[2];
  if (parts.size() == 2 && parts[0] == "solver") return parts[1];
  return parts[0];
}

std::string panel_label(const std::vector<const Signal*>& signals) {
  std::vector<std::string> quantities;
  for (const Signal* signal : signals) {
    const std::string quantity = quantity_of(signal->name);
    if (std::find(quantities.begin(), quantities.end(), quantity) == quantities.end()) quantities.push_back(quantity);
  }
  std::string text;
  for (const std::string& quantity : quantities) text += (text.empty() ? "" : ", ") + quantity;
  const std::string& unit = signals.front()->unit;
  const bool one_unit = std::all_of(signals.begin(), signals.end(), [&](const Signal* s) { return s->unit == unit; });
  if (quantities.size() > 2 || text.size() > 24) text.clear();
  return one_unit ? with_unit(text, unit) : text;
}

std::string run_subtitle(const Provenance& provenance) {
  std::string text = provenance.get("method");
  const auto add = [&](const std::string& key, const std::string& before) {
    const std::string value = provenance.get(key);
    if (!value.empty()) text += (text.empty() ? "" : ", ") + before + value;
  };
  add("formulation", "");
  add("tolerance", "tolerance ");
  add("step", "step ");
  return text;
}

}  // namespace

PlotRequest plot_of_signals(const MemoryTrajectory& result, const std::vector<std::string>& patterns,
                            const PlotOptions& options) {
  std::vector<SignalRef> wanted;
  for (const std::string& pattern : patterns) {
    for (const SignalRef ref : result.match(pattern)) {
      if (std::find(wanted.begin(), wanted.end(), ref) == wanted.end()) wanted.push_back(ref);
      if (wanted.size() > most_curves) {
        throw read_failure(
            "too-many-signals",
            "'" + pattern + "' and what is before it stand for more than " + std::to_string(most_curves) + " signals",
            "name fewer of them");
      }
    }
  }
  if (wanted.empty()) throw read_failure("nothing-to-draw", "no signal to draw is named", "name one: energy.total");
  const bool over_time = options.x.empty();
  const SignalRef x_signal = over_time ? SignalRef{wanted.front().table, 0} : result.at(options.x);

  PlotRequest request;
  request.logx = options.logx;
  request.equal_axes = options.equal_axes;
  request.style = options.style;
  request.width = options.width;
  request.height = options.height;
  const Provenance& provenance = result.provenance();
  request.title = options.title;
  if (request.title.empty()) request.title = provenance.get("title");
  if (request.title.empty()) request.title = provenance.get("model_file");
  request.subtitle = run_subtitle(provenance);
  const Signal& x = result.signal(x_signal);
  request.xlabel = with_unit(x.name, x.unit);

  // Signals of one unit share a panel, in the order in which the units appear.
  std::vector<std::vector<const Signal*>> in_panel;
  std::vector<std::string> caveats;
  double end_time = -std::numeric_limits<double>::infinity();
  for (const SignalRef ref : wanted) {
    const Signal& signal = result.signal(ref);
    if (!over_time && x_signal.table != ref.table) {
      throw read_failure("different-times",
                         "'" + signal.name + "' and '" + x.name + "' are not recorded at the same times",
                         "draw signals of one table against each other");
    }
    PlotCurve curve;
    curve.label = signal.name;
    const std::size_t rows = result.rows(ref.table);
    for (std::size_t i = 0; i < rows; ++i) {
      const double time = result.value({ref.table, 0}, i);
      end_time = std::max(end_time, time);
      if (!(time >= options.from && time <= options.to)) continue;
      curve.x.push_back(over_time ? time : result.value(x_signal, i));
      curve.y.push_back(result.value(ref, i));
    }
    if (curve.x.empty()) {
      throw read_failure("nothing-to-draw",
                         "'" + signal.name + "' has no values" +
                             (rows > 0 ? " between the times asked for" : ": the run recorded nothing"));
    }
    if (signal.flagged) {
      const std::string caveat = signal.flag_text.empty() ? "see the report of the run" : signal.flag_text;
      auto found = std::find(caveats.begin(), caveats.end(), caveat);
      if (found == caveats.end()) found = caveats.insert(caveats.end(), caveat);
      curve.label += ' ';
      curve.label.append(static_cast<std::size_t>(found - caveats.begin()) + 1, '*');
    }
    std::size_t p = 0;
    while (p < in_panel.size() && !options.one_panel && in_panel[p].front()->unit != signal.unit) ++p;
    if (p == in_panel.size()) {
      in_panel.emplace_back();
      request.panels.emplace_back();
      request.panels.back().logy = options.logy;
    }
    in_panel[p].push_back(&signal);
    request.panels[p].curves.push_back(std::move(curve));
  }
  for (std::size_t p = 0; p < in_panel.size(); ++p) request.panels[p].ylabel = panel_label(in_panel[p]);

  for (std::size_t i = 0; i < caveats.size(); ++i) request.notes.push_back(std::string(i + 1, '*') + " " + caveats[i]);
  if (result.status() != RunStatus::finished) {
    const char* what = result.status() == RunStatus::failed        ? "The run failed"
                       : result.status() == RunStatus::interrupted ? "The run was interrupted"
                                                                   : "The run is not finished";
    request.notes.push_back(std::string(what) + "; recorded up to " + digits(end_time) + " s.");
  }
  return request;
}

void plot_signals(const MemoryTrajectory& result, const std::vector<std::string>& patterns, const std::string& output,
                  const PlotOptions& options) {
  draw_plot(plot_of_signals(result, patterns, options), output);
}

}  // namespace trammel
