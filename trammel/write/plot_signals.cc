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

std::vector<SignalRef> find_signals(const MemoryTrajectory& result, const std::vector<std::string>& patterns) {
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
  return wanted;
}

// A plot while signals are put into it.
class SignalPlot {
 public:
  SignalPlot(const MemoryTrajectory& result, SignalRef x, const PlotOptions& options);
  void add(SignalRef ref);
  PlotRequest finish();

 private:
  bool over_time() const { return options_.x.empty(); }
  PlotCurve curve_of(SignalRef ref);
  std::string stars_of(const Signal& signal);
  std::size_t panel_of(const Signal& signal);

  const MemoryTrajectory& result_;
  const SignalRef x_;
  const PlotOptions& options_;
  PlotRequest request_;
  std::vector<std::vector<const Signal*>> in_panel_;
  std::vector<std::string> caveats_;
  double end_time_ = -std::numeric_limits<double>::infinity();
};

SignalPlot::SignalPlot(const MemoryTrajectory& result, SignalRef x, const PlotOptions& options)
    : result_(result), x_(x), options_(options) {
  request_.logx = options.logx;
  request_.equal_axes = options.equal_axes;
  request_.style = options.style;
  request_.width = options.width;
  request_.height = options.height;
  const Provenance& provenance = result.provenance();
  request_.title = options.title;
  if (request_.title.empty()) request_.title = provenance.get("title");
  if (request_.title.empty()) request_.title = provenance.get("model_file");
  request_.subtitle = run_subtitle(provenance);
  const Signal& signal = result.signal(x);
  request_.xlabel = with_unit(signal.name, signal.unit);
}

PlotCurve SignalPlot::curve_of(SignalRef ref) {
  const Signal& signal = result_.signal(ref);
  if (!over_time() && x_.table != ref.table) {
    throw read_failure("different-times",
                       "'" + signal.name + "' and '" + result_.signal(x_).name + "' are not recorded at the same times",
                       "draw signals of one table against each other");
  }
  PlotCurve curve;
  curve.label = signal.name;
  const std::size_t rows = result_.rows(ref.table);
  for (std::size_t i = 0; i < rows; ++i) {
    const double time = result_.value({ref.table, 0}, i);
    end_time_ = std::max(end_time_, time);
    if (!(time >= options_.from && time <= options_.to)) continue;
    curve.x.push_back(over_time() ? time : result_.value(x_, i));
    curve.y.push_back(result_.value(ref, i));
  }
  if (curve.x.empty()) {
    throw read_failure("nothing-to-draw",
                       "'" + signal.name + "' has no values" +
                           (rows > 0 ? " between the times asked for" : ": the run recorded nothing"));
  }
  return curve;
}

// As many as the number of its note.
std::string SignalPlot::stars_of(const Signal& signal) {
  const std::string caveat = signal.flag_text.empty() ? "see the report of the run" : signal.flag_text;
  auto found = std::find(caveats_.begin(), caveats_.end(), caveat);
  if (found == caveats_.end()) found = caveats_.insert(caveats_.end(), caveat);
  return std::string(static_cast<std::size_t>(found - caveats_.begin()) + 1, '*');
}

// Signals of one unit share a panel, in the order in which the units appear.
std::size_t SignalPlot::panel_of(const Signal& signal) {
  std::size_t p = 0;
  while (p < in_panel_.size() && !options_.one_panel && in_panel_[p].front()->unit != signal.unit) ++p;
  if (p == in_panel_.size()) {
    in_panel_.emplace_back();
    request_.panels.emplace_back();
    request_.panels.back().logy = options_.logy;
  }
  return p;
}

void SignalPlot::add(SignalRef ref) {
  const Signal& signal = result_.signal(ref);
  PlotCurve curve = curve_of(ref);
  if (signal.flagged) curve.label += ' ' + stars_of(signal);
  const std::size_t p = panel_of(signal);
  in_panel_[p].push_back(&signal);
  request_.panels[p].curves.push_back(std::move(curve));
}

PlotRequest SignalPlot::finish() {
  for (std::size_t p = 0; p < in_panel_.size(); ++p) request_.panels[p].ylabel = panel_label(in_panel_[p]);
  for (std::size_t i = 0; i < caveats_.size(); ++i)
    request_.notes.push_back(std::string(i + 1, '*') + " " + caveats_[i]);
  if (result_.status() != RunStatus::finished) {
    const char* what = result_.status() == RunStatus::failed        ? "The run failed"
                       : result_.status() == RunStatus::interrupted ? "The run was interrupted"
                                                                    : "The run is not finished";
    request_.notes.push_back(std::string(what) + "; recorded up to " + digits(end_time_) + " s.");
  }
  return std::move(request_);
}

}  // namespace

PlotRequest plot_of_signals(const MemoryTrajectory& result, const std::vector<std::string>& patterns,
                            const PlotOptions& options) {
  const std::vector<SignalRef> wanted = find_signals(result, patterns);
  const SignalRef x = options.x.empty() ? SignalRef{wanted.front().table, 0} : result.at(options.x);
  SignalPlot plot(result, x, options);
  for (const SignalRef ref : wanted) plot.add(ref);
  return plot.finish();
}

void plot_signals(const MemoryTrajectory& result, const std::vector<std::string>& patterns, const std::string& output,
                  const PlotOptions& options) {
  draw_plot(plot_of_signals(result, patterns, options), output);
}

}  // namespace trammel
