// trammel compare A B [SIGNAL...]: how far two results are apart, signal by signal.
//
// Compared are the rows of the table with fewer rows that lie within the times of both. Where the other table has no
// row at such a time t, it is interpolated by the cubic of its two rows around t, with the slopes that parabolas
// through neighbouring rows have there: exact for parabolas, and off by at most h^3 |y'''| / 62 on even rows.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>

#include "app/common.h"
#include "app/verbs.h"
#include "trammel/base/input_file.h"
#include "trammel/base/printable.h"
#include "trammel/math/hermite.h"
#include "trammel/write/plot.h"
#include "trammel/write/read_trajectory.h"

namespace trammel {
namespace {

struct CompareArguments {
  std::string a, b, plot;
  std::vector<std::string> signals;
  std::optional<double> tolerance;
  bool all = false, json = false;
};

// Round-off of output times, of the time span.
constexpr double same_time = 1e-12;
// Noise of signals that ought to be zero is not measured by itself, but by this part of the largest range of its unit;
// that of torques at least by the forces times the length scale, for in a plane mechanism most torques are noise.
constexpr double least_range = 1e-6;
constexpr std::size_t most_shown = 20, most_drawn = 3;

// A value of a table as a combination of up to four rows, from `first` on.
struct Sample {
  std::size_t first = 0;
  std::array<double, 4> weights{};
  bool interpolated = false;
};

// Adds factor times the slope at row i, one of the ends k and k + 1 of the interval at hand: of the parabola through
// the row and its neighbours; at an end, and beside a row of the same time, of the parabola that ends there.
void add_slope(const std::vector<double>& t, std::size_t k, std::size_t i, double factor, Sample& out) {
  const auto weight = [&](std::size_t row) -> double& { return out.weights[row - out.first]; };
  const auto is_inner = [&](std::size_t row) {
    return row > 0 && row + 1 < t.size() && t[row - 1] < t[row] && t[row] < t[row + 1];
  };
  if (is_inner(i)) {
    const double h0 = t[i] - t[i - 1], h1 = t[i + 1] - t[i];
    weight(i - 1) -= factor * h1 / (h0 * (h0 + h1));
    weight(i) += factor * (h1 / h0 - h0 / h1) / (h0 + h1);
    weight(i + 1) += factor * h0 / (h1 * (h0 + h1));
    return;
  }
  const std::size_t other = i == k ? k + 1 : k;
  const double secant = factor * (is_inner(other) ? 2 : 1) / (t[k + 1] - t[k]);
  weight(k) -= secant;
  weight(k + 1) += secant;
  if (is_inner(other)) add_slope(t, k, other, -factor, out);
}

// At `time`; among rows of the same time, as before and after an impact, the one with this number.
Sample sample_at(const std::vector<double>& t, double time, std::size_t number, double slack) {
  Sample out;
  const auto near = std::lower_bound(t.begin(), t.end(), time - slack);
  const auto behind = std::upper_bound(near, t.end(), time + slack);
  if (near != behind) {
    out.first = static_cast<std::size_t>(near - t.begin());
    out.first += std::min(number, static_cast<std::size_t>(behind - near) - 1);
    out.weights[0] = 1;
    return out;
  }
  const auto k = static_cast<std::size_t>(near - t.begin()) - 1;
  out.interpolated = true;
  out.first = k > 0 ? k - 1 : 0;
  const double h = t[k + 1] - t[k];
  const HermiteWeights w = hermite_weights((time - t[k]) / h, h);
  out.weights[k - out.first] += w.y0;
  out.weights[k + 1 - out.first] += w.y1;
  add_slope(t, k, k, w.f0, out);
  add_slope(t, k, k + 1, w.f1, out);
  return out;
}

double value_of(const Sample& sample, const MemoryTrajectory& result, SignalRef signal) {
  double sum = 0;
  for (std::size_t i = 0; i < sample.weights.size(); ++i) {
    if (sample.weights[i] != 0) sum += sample.weights[i] * result.value(signal, sample.first + i);
  }
  return sum;
}

// The times at which two tables are compared, and where each has its values.
struct CommonTimes {
  std::vector<double> t;
  std::array<std::vector<Sample>, 2> samples;  // of A and B
  std::size_t interpolated = 0;
  int interpolated_in = 1;  // A or B
};

std::vector<double> times_of(const MemoryTrajectory& result, const std::string& path, std::size_t table) {
  std::vector<double> t = result.time(table);
  if (!std::is_sorted(t.begin(), t.end())) {
    throw Failure({Severity::error,
                   "damaged-result",
                   "'" + path + "': the times of table '" + result.tables()[table].name + "' go back",
                   "run the model again",
                   {}},
                  ExitCode::bad_usage);
  }
  return t;
}

CommonTimes common_times(const std::array<std::vector<double>, 2>& t, const std::string& table) {
  double from = 1, to = 0;
  if (!t[0].empty() && !t[1].empty()) {
    from = std::max(t[0].front(), t[1].front());
    to = std::min(t[0].back(), t[1].back());
  }
  const double slack = same_time * std::max(std::abs(from), std::abs(to));
  CommonTimes common;
  std::array<std::size_t, 2> begin{}, end{};
  for (const int i : {0, 1}) {
    begin[i] = static_cast<std::size_t>(std::lower_bound(t[i].begin(), t[i].end(), from - slack) - t[i].begin());
    end[i] = static_cast<std::size_t>(std::upper_bound(t[i].begin(), t[i].end(), to + slack) - t[i].begin());
  }
  const int base = end[0] - begin[0] <= end[1] - begin[1] ? 0 : 1, other = 1 - base;
  if (from > to + slack || begin[base] >= end[base]) {
    throw Failure({Severity::error,
                   "no-common-times",
                   "table '" + table + "': no time lies within both results",
                   "compare runs that overlap in time",
                   {}},
                  ExitCode::bad_usage);
  }
  common.interpolated_in = other;
  std::size_t number = 0;
  for (std::size_t i = begin[base]; i < end[base]; ++i) {
    number = i > begin[base] && t[base][i] == t[base][i - 1] ? number + 1 : 0;
    Sample here;
    here.first = i;
    here.weights[0] = 1;
    common.t.push_back(t[base][i]);
    common.samples[base].push_back(here);
    common.samples[other].push_back(sample_at(t[other], t[base][i], number, slack));
    common.interpolated += common.samples[other].back().interpolated ? 1 : 0;
  }
  return common;
}

struct Difference {
  std::string name, unit;
  std::array<SignalRef, 2> refs;
  double largest = 0, at = 0, rms = 0;
  double range = 0, scale = 0;  // of both together; what differences are divided by
  std::size_t lone = 0;         // times at which only one of the two has a value

  double of_range(double difference) const { return scale > 0 ? difference / scale : 0; }
  bool exceeds(double tolerance) const { return lone > 0 || of_range(largest) > tolerance; }
};

// Values of both over the common times.
std::array<std::vector<double>, 2> values_of(const std::array<MemoryTrajectory, 2>& results,
                                             const std::array<SignalRef, 2>& refs, const CommonTimes& common) {
  std::array<std::vector<double>, 2> values;
  for (const int i : {0, 1}) {
    for (const Sample& sample : common.samples[i]) values[i].push_back(value_of(sample, results[i], refs[i]));
  }
  return values;
}

void measure(const std::array<std::vector<double>, 2>& values, const std::vector<double>& t, Difference& d) {
  double least = 0, most = 0, square = 0, before = 0;
  bool any = false;
  for (std::size_t k = 0; k < t.size(); ++k) {
    for (const int i : {0, 1}) {
      if (!std::isfinite(values[i][k])) continue;
      least = any ? std::min(least, values[i][k]) : values[i][k];
      most = any ? std::max(most, values[i][k]) : values[i][k];
      any = true;
    }
    const double difference = std::abs(values[1][k] - values[0][k]);
    if (std::isfinite(values[0][k]) != std::isfinite(values[1][k])) ++d.lone;
    if (difference > d.largest) {
      d.largest = difference;
      d.at = t[k];
    }
    const double now = std::isfinite(difference) ? difference * difference : 0;
    if (k > 0) square += 0.5 * (before + now) * (t[k] - t[k - 1]);
    before = now;
  }
  d.range = most - least;
  d.rms = t.back() > t.front() ? std::sqrt(square / (t.back() - t.front())) : d.largest;
}

// The largest range of all signals of each unit, whether they are compared or not.
std::map<std::string, double> widest_ranges(const std::array<MemoryTrajectory, 2>& results) {
  std::map<std::string, double> widest;
  double length = 0;
  for (const MemoryTrajectory& result : results) {
    length = std::max(length, std::strtod(result.provenance().get("length_scale").c_str(), nullptr));
    for (std::size_t table = 0; table < result.tables().size(); ++table) {
      for (std::size_t c = 1; c < result.tables()[table].signals.size(); ++c) {
        std::vector<double> values = result.column(SignalRef{table, c});
        std::erase_if(values, [](double x) { return !std::isfinite(x); });
        double& known = widest[result.tables()[table].signals[c].unit];
        if (values.empty()) continue;
        const auto [least, most] = std::minmax_element(values.begin(), values.end());
        known = std::max(known, *most - *least);
      }
    }
  }
  widest["N m"] = std::max(widest["N m"], length * widest["N"]);
  return widest;
}

struct Comparison {
  std::vector<Difference> signals;  // the largest, of its range, first
  std::array<std::vector<std::string>, 2> only_in;
  std::vector<std::string> tables_left_out;
  std::map<std::string, CommonTimes> times;  // of each table that is compared
};

// Without names, the table of outputs; the others have a row for each step or event, on times that no two runs share.
std::vector<SignalRef> wanted(const MemoryTrajectory& result, const std::vector<std::string>& patterns) {
  std::vector<SignalRef> found;
  if (patterns.empty()) {
    for (std::size_t c = 1; c < result.tables()[0].signals.size(); ++c) found.push_back({0, c});
  }
  for (const std::string& pattern : patterns) {
    for (const SignalRef ref : match_signals(result.tables(), pattern)) {
      if (ref.column > 0 && std::find(found.begin(), found.end(), ref) == found.end()) found.push_back(ref);
    }
  }
  return found;
}

Comparison compare(const CompareArguments& a, const std::array<MemoryTrajectory, 2>& results) {
  const std::array<std::string, 2> paths{a.a, a.b};
  for (const std::string& pattern : a.signals) {
    if (match_signals(results[0].tables(), pattern).empty() && match_signals(results[1].tables(), pattern).empty())
      throw unknown_signal(results[0].tables(), pattern);
  }
  Comparison c;
  const auto counterpart = [&](int of, SignalRef ref) -> std::optional<SignalRef> {
    const Table& table = results[of].tables()[ref.table];
    return find_signal(results[1 - of].tables(), table.name + "/" + table.signals[ref.column].name);
  };
  std::vector<Problem> units;
  for (const SignalRef ref : wanted(results[0], a.signals)) {
    const Signal& signal = results[0].signal(ref);
    const std::optional<SignalRef> there = counterpart(0, ref);
    if (!there) {
      c.only_in[0].push_back(signal.name);
      continue;
    }
    const std::string& unit = results[1].signal(*there).unit;
    if (unit != signal.unit) {
      units.push_back({Severity::error,
                       "units-differ",
                       "signal '" + signal.name + "' is in '" + signal.unit + "' in '" + a.a + "' and in '" + unit +
                           "' in '" + a.b + "'",
                       "record both in one unit, or name the signals to compare",
                       {}});
      continue;
    }
    c.signals.push_back({signal.name, signal.unit, {ref, *there}});
  }
  if (!units.empty()) throw Failure(units, ExitCode::bad_usage);
  for (const SignalRef ref : wanted(results[1], a.signals)) {
    if (!counterpart(1, ref)) c.only_in[1].push_back(results[1].signal(ref).name);
  }
  if (c.signals.empty()) {
    throw Failure({Severity::error,
                   "bad-usage",
                   "'" + a.a + "' and '" + a.b + "' have no signal in common that could be compared",
                   "`trammel plot RESULT --list` shows those there are",
                   {}},
                  ExitCode::bad_usage);
  }
  const std::map<std::string, double> widest = widest_ranges(results);
  for (Difference& d : c.signals) {
    const std::string& table = results[0].tables()[d.refs[0].table].name;
    auto known = c.times.find(table);
    if (known == c.times.end()) {
      known = c.times
                  .emplace(table, common_times({times_of(results[0], paths[0], d.refs[0].table),
                                                times_of(results[1], paths[1], d.refs[1].table)},
                                               table))
                  .first;
    }
    measure(values_of(results, d.refs, known->second), known->second.t, d);
    d.scale = std::max(d.range, least_range * widest.at(d.unit));
  }
  std::stable_sort(c.signals.begin(), c.signals.end(), [](const Difference& x, const Difference& y) {
    return std::pair(x.lone > 0, x.of_range(x.largest)) > std::pair(y.lone > 0, y.of_range(y.largest));
  });
  for (const MemoryTrajectory& result : results) {
    for (const Table& table : result.tables()) {
      const bool named =
          std::find(c.tables_left_out.begin(), c.tables_left_out.end(), table.name) != c.tables_left_out.end();
      if (a.signals.empty() && !c.times.contains(table.name) && !named) c.tables_left_out.push_back(table.name);
    }
  }
  return c;
}

// The signals with the largest differences: both curves, and below them their difference.
void draw(const CompareArguments& a, const std::array<MemoryTrajectory, 2>& results, const Comparison& c) {
  PlotRequest plot;
  plot.title = results[0].provenance().get("title");
  plot.subtitle = "A: " + a.a + ", B: " + a.b;
  plot.xlabel = "time, s";
  for (std::size_t k = 0; k < std::min(c.signals.size(), most_drawn); ++k) {
    const Difference& d = c.signals[k];
    const CommonTimes& common = c.times.at(results[0].tables()[d.refs[0].table].name);
    const std::array<std::vector<double>, 2> values = values_of(results, d.refs, common);
    PlotPanel both, apart;
    both.ylabel = d.name + (d.unit.empty() ? "" : ", " + d.unit);
    both.curves = {{common.t, values[0], "A", PlotStyle::lines, false},
                   {common.t, values[1], "B", PlotStyle::lines, true}};
    apart.ylabel = "B - A" + (d.unit.empty() ? "" : ", " + d.unit);
    PlotCurve curve{common.t, {}, "", PlotStyle::lines, false};
    for (std::size_t i = 0; i < common.t.size(); ++i) curve.y.push_back(values[1][i] - values[0][i]);
    apart.curves.push_back(std::move(curve));
    plot.panels.push_back(std::move(both));
    plot.panels.push_back(std::move(apart));
  }
  if (c.signals.size() > most_drawn)
    plot.notes.push_back("the " + std::to_string(most_drawn) + " signals of " + std::to_string(c.signals.size()) +
                         " that differ most");
  draw_plot(plot, a.plot);
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

void print_text(const CompareArguments& a, const Comparison& c, std::size_t exceeding) {
  std::printf("A: %s\nB: %s\n", printable(a.a).c_str(), printable(a.b).c_str());
  for (const auto& [table, common] : c.times) {
    std::printf("%s: compared at %s from %s to %s s; ", printable(table).c_str(),
                counted(static_cast<long>(common.t.size()), "time").c_str(), digits(common.t.front()).c_str(),
                digits(common.t.back()).c_str());
    if (common.interpolated == 0)
      std::printf("both have them all\n");
    else
      std::printf("%s is interpolated by cubics at %zu of them\n", common.interpolated_in == 0 ? "A" : "B",
                  common.interpolated);
  }
  std::vector<std::vector<std::string>> lines{
      {"signal", "unit", "largest", "of range", "at, s", "rms", "of range", ""}};
  const std::size_t shown = a.all ? c.signals.size() : std::min(c.signals.size(), most_shown);
  for (std::size_t i = 0; i < shown; ++i) {
    const Difference& d = c.signals[i];
    lines.push_back({printable(d.name), d.unit.empty() ? "-" : printable(d.unit), digits(d.largest, 4),
                     digits(d.of_range(d.largest), 3), digits(d.at), digits(d.rms, 4), digits(d.of_range(d.rms), 3),
                     d.lone > 0 ? "only one has a value at " + counted(static_cast<long>(d.lone), "time") : ""});
  }
  std::fputs(aligned(lines, 2).c_str(), stdout);
  if (shown < c.signals.size())
    std::printf("  and %zu more, which differ less; --all shows them\n", c.signals.size() - shown);
  for (const int i : {0, 1}) {
    if (!c.only_in[i].empty())
      std::fputs(
          wrapped(std::string("only in ") + (i == 0 ? "A: " : "B: ") + printable(joined(c.only_in[i])), 0).c_str(),
          stdout);
  }
  if (!c.tables_left_out.empty())
    std::printf("not compared: table %s, with a row for each step or event; name signals to compare them\n",
                printable(joined(c.tables_left_out)).c_str());
  if (!a.tolerance) return;
  const std::size_t lone = c.only_in[0].size() + c.only_in[1].size();
  if (exceeding + lone == 0) {
    std::printf("all within %s of their range\n", digits(*a.tolerance).c_str());
    return;
  }
  std::printf("%zu of %zu differ by more than %s of their range", exceeding, c.signals.size(),
              digits(*a.tolerance).c_str());
  std::printf("%s\n", lone > 0 ? ("; in one result only: " + std::to_string(lone)).c_str() : "");
}

Json comparison_json(const CompareArguments& a, const Comparison& c, int code) {
  Json tables = Json::array(), signals = Json::array();
  for (const auto& [table, common] : c.times) {
    tables.push_back(
        {{"name", table},
         {"times", common.t.size()},
         {"from", common.t.front()},
         {"to", common.t.back()},
         {"interpolated", common.interpolated},
         {"interpolated_in", common.interpolated == 0 ? Json() : Json(common.interpolated_in == 0 ? "A" : "B")}});
  }
  for (const Difference& d : c.signals) {
    signals.push_back({{"name", d.name},
                       {"unit", d.unit},
                       {"largest", d.largest},
                       {"at", d.at},
                       {"rms", d.rms},
                       {"range", d.range},
                       {"largest_of_range", d.of_range(d.largest)},
                       {"rms_of_range", d.of_range(d.rms)},
                       {"times_with_one_value", d.lone}});
    if (a.tolerance) signals.back()["exceeds"] = d.exceeds(*a.tolerance);
  }
  return {{"exit_code", code},
          {"A", a.a},
          {"B", a.b},
          {"tables", tables},
          {"tables_left_out", c.tables_left_out},
          {"only_in_A", c.only_in[0]},
          {"only_in_B", c.only_in[1]},
          {"tolerance", a.tolerance ? Json(*a.tolerance) : Json()},
          {"picture", a.plot.empty() ? Json() : Json(a.plot)},
          {"signals", signals}};
}

int compare_verb(const CompareArguments& a) {
  std::vector<Problem> notes;
  const std::array<MemoryTrajectory, 2> results{read_trajectory(a.a, {}, &notes), read_trajectory(a.b, {}, &notes)};
  note_input(a.a);
  note_input(a.b);
  for (const Problem& note : notes) std::fprintf(stderr, "%s\n", to_text(note).c_str());
  const Comparison c = compare(a, results);
  std::size_t exceeding = 0;
  for (const Difference& d : c.signals) exceeding += a.tolerance && d.exceeds(*a.tolerance) ? 1 : 0;
  const bool apart = a.tolerance && (exceeding > 0 || !c.only_in[0].empty() || !c.only_in[1].empty());
  const int code = static_cast<int>(apart ? ExitCode::failed_run : ExitCode::ok);
  if (!a.plot.empty()) draw(a, results, c);
  if (a.json)
    print_json(comparison_json(a, c, code));
  else
    print_text(a, c, exceeding);
  return code;
}

}  // namespace

Verb add_compare(CLI::App& app) {
  auto a = std::make_shared<CompareArguments>();
  CLI::App* verb = app.add_subcommand("compare", "Say how far two results are apart, signal by signal");
  verb->add_option("A", a->a, "Result file of `trammel run`, HDF5 or CSV")->required();
  verb->add_option("B", a->b, "The other one")->required();
  verb->add_option("SIGNAL", a->signals,
                   "Names, groups (joint.pin.force) or patterns (body.*.position.z); without them, all outputs");
  verb->add_option("--tolerance", a->tolerance,
                   "Exit code 1 if a difference is larger than this part of its signal's range, or if only one result "
                   "has a signal")
      ->check(CLI::NonNegativeNumber)
      ->check([](const std::string& text) {
        return std::isfinite(std::strtod(text.c_str(), nullptr)) ? std::string() : "'" + text + "' is not finite";
      })
      ->type_name("X");
  verb->add_option("--plot", a->plot, "Draw the signals that differ most: .png, .svg or .txt")->type_name("FILE");
  verb->add_flag("--all", a->all, "Show all signals, not only the 20 that differ most");
  verb->add_flag("--json", a->json, "Print everything as JSON");
  verb->footer(
      "Examples:\n"
      "  trammel compare run.h5 reference.h5\n"
      "  trammel compare run.h5 reference.h5 'body.*.position.*' --tolerance 1e-4\n"
      "  trammel compare hht.h5 radau.h5 joint.pin.force --plot pin.png\n"
      "\n"
      "Compared are the rows of the result with fewer rows that lie within the times of both; where the other one has "
      "no\n"
      "row, it is interpolated by cubics, which is said. Differences are divided by the range that the signal has in "
      "both\n"
      "results together, and at least by a millionth of the largest range among signals of its unit.");
  return {verb, [a] { return compare_verb(*a); }};
}

}  // namespace trammel
