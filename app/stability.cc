// trammel stability METHOD...: linear stability of methods, as numbers and as a picture.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <memory>
#include <numbers>

#include "app/common.h"
#include "app/verbs.h"
#include "trammel/ode/stability.h"
#include "trammel/write/gnuplot.h"
#include "trammel/write/output_path.h"

namespace trammel {
namespace {

struct StabilityArguments {
  std::vector<std::string> names, options;
  std::string output, oscillation;
  std::vector<double> window;
  bool json = false;
};

Fields stability_options(const std::vector<std::string>& given) {
  Fields fields;
  for (const std::string& text : given) {
    const std::size_t equals = text.find('=');
    const std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
    char* end = nullptr;
    const double number = std::strtod(value.c_str(), &end);
    if (value == "true" || value == "false") {
      fields.set(text.substr(0, equals), value == "true");
    } else if (!value.empty() && *end == '\0') {
      fields.set(text.substr(0, equals), number);
    } else {
      throw Failure({Severity::error,
                     "bad-usage",
                     "'" + text + "' is no option of the form NAME=VALUE",
                     "the value is a number, true or false",
                     {}},
                    ExitCode::bad_usage);
    }
  }
  return fields;
}

std::string length_text(double x) { return std::isinf(x) ? "all" : digits(x); }
Json length_json(double x) { return std::isinf(x) ? Json("all") : Json(x); }

std::string stability_terminal(const std::string& file, int width, int height) {
  if (file.ends_with(".svg")) return fmt::format("svg size {},{} dynamic background rgb 'white'", width, height);
  if (file.ends_with(".png")) return fmt::format("pngcairo size {},{}", width, height);
  throw Failure({Severity::error, "bad-usage", "a picture ends in .png or .svg, not '" + file + "'", "", {}},
                ExitCode::bad_usage);
}

// What is computed for the methods named.
struct StabilityResults {
  std::vector<StabilityCurve> curves;
  std::vector<std::pair<std::string, StructuralParameters>> structural;
  std::vector<std::vector<std::string>> lines{
      {"method", "real axis", "imaginary axis", "A(alpha)", "at infinity", "stability"}};
  Json list = Json::array();
};

Json oscillation_rows(const StructuralParameters& parameters) {
  Json rows = Json::array();
  for (const double Omega : {0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 100.0}) {
    const OscillationErrors e = oscillation_errors(parameters, Omega);
    rows.push_back({{"omega_h", Omega},
                    {"spectral_radius", e.radius},
                    {"damping_ratio", e.oscillates ? Json(e.damping_ratio) : Json()},
                    {"amplitude_decay", e.oscillates ? Json(e.decay) : Json()},
                    {"period_elongation", e.oscillates ? Json(e.period_elongation) : Json()},
                    {"overshoot", e.overshoot}});
  }
  return rows;
}

// Methods of structural dynamics, on the free oscillation.
void add_oscillation(const std::string& name, const Fields& options, Json& entry, StabilityResults& results) {
  for (const OdeMethodInfo& method : ode_method_registry()) {
    if (method.key != name || method.structural == nullptr) continue;
    OdeSettings settings;
    settings.fixed_step = true;
    settings.options = options;
    settings = resolve_settings(method, settings, {});
    const StructuralParameters parameters = method.structural(settings);
    results.structural.emplace_back(name, parameters);
    entry["oscillation"] = oscillation_rows(parameters);
  }
}

void add_method(const std::string& name, const Fields& options, StabilityResults& results) {
  results.curves.push_back({name, growth_of(name, options, {})});
  const StabilitySummary s = summarise_stability(results.curves.back().growth);
  results.lines.push_back({name, length_text(s.real_interval), length_text(s.imaginary_interval),
                           fmt::format("{:.2f}", s.angle), digits(s.at_infinity, 4),
                           s.l_stable    ? "L-stable"
                           : s.a_stable  ? "A-stable"
                           : s.angle > 0 ? "A(alpha)-stable"
                                         : "conditionally stable"});
  Json entry{{"method", name},
             {"real_interval", length_json(s.real_interval)},
             {"imaginary_interval", length_json(s.imaginary_interval)},
             {"alpha_degrees", s.angle},
             {"growth_at_infinity", s.at_infinity},
             {"a_stable", s.a_stable},
             {"l_stable", s.l_stable}};
  add_oscillation(name, options, entry, results);
  results.list.push_back(entry);
}

void draw_stability(const StabilityArguments& a, const StabilityResults& results) {
  if (!a.output.empty()) {
    StabilityWindow window;
    if (a.window.size() == 3) window = {a.window[0], a.window[1], a.window[2]};
    write_whole_file(a.output,
                     run_gnuplot(stability_picture(results.curves, window, stability_terminal(a.output, 720, 720))),
                     OutputKind::picture);
  }
  if (!a.oscillation.empty()) {
    if (results.structural.empty())
      throw Failure({Severity::error,
                     "bad-usage",
                     "none of these methods is one of structural dynamics",
                     "newmark, hht, generalized-alpha, wilson-theta, collocation, midpoint",
                     {}},
                    ExitCode::bad_usage);
    write_whole_file(a.oscillation,
                     run_gnuplot(oscillation_picture(results.structural, stability_terminal(a.oscillation, 1100, 900))),
                     OutputKind::picture);
  }
}

void print_oscillation(const Json& entry) {
  std::vector<std::vector<std::string>> table{
      {"omega h", "spectral radius", "damping ratio", "amplitude decay", "period elongation", "overshoot"}};
  for (const Json& row : entry["oscillation"]) {
    const auto text = [&](const char* key) {
      return row[key].is_null() ? std::string("-") : digits(row[key].get<double>(), 5);
    };
    table.push_back({text("omega_h"), text("spectral_radius"), text("damping_ratio"), text("amplitude_decay"),
                     text("period_elongation"), text("overshoot")});
  }
  std::printf("\n%s on a free oscillation, decay a period:\n%s", entry["method"].get<std::string>().c_str(),
              aligned(table, 2).c_str());
}

int stability_verb(const StabilityArguments& a) {
  const Fields options = stability_options(a.options);
  StabilityResults results;
  for (const std::string& name : a.names) add_method(name, options, results);
  draw_stability(a, results);
  if (a.json) {
    print_json(results.list);
    return 0;
  }
  std::fputs(aligned(results.lines, 0).c_str(), stdout);
  for (const Json& entry : results.list) {
    if (entry.contains("oscillation")) print_oscillation(entry);
  }
  return 0;
}

}  // namespace

Verb add_stability(CLI::App& app) {
  auto a = std::make_shared<StabilityArguments>();
  CLI::App* verb = app.add_subcommand("stability", "Linear stability of methods: intervals, angles, a picture");
  verb->add_option("METHOD", a->names,
                   "Keys of `trammel methods`; adams-bashforth-K, adams-moulton-K, bdf-K for one formula; or a file "
                   "with a tableau (.yaml, .json)")
      ->required();
  verb->add_option("--option", a->options, "Option of the method, NAME=VALUE; may be repeated")
      ->type_name("NAME=VALUE")
      ->expected(1)
      ->take_all();
  verb->add_option("-o,--output", a->output, "Picture of the regions of absolute stability: .png or .svg")
      ->type_name("FILE");
  verb->add_option("--oscillation", a->oscillation,
                   "Picture of spectral radius, damping, period elongation and overshoot of structural methods")
      ->type_name("FILE");
  verb->add_option("--window", a->window, "Left and right end and half height of the picture")
      ->expected(3)
      ->type_name("LEFT RIGHT HEIGHT");
  verb->add_flag("--json", a->json, "Print as JSON");
  verb->footer(
      "Examples:\n"
      "  trammel stability radau-iia-3 -o radau.png\n"
      "  trammel stability hht --option alpha=-0.3 --oscillation hht.png\n"
      "  trammel stability rk4 adams-bashforth-4 adams-moulton-4 -o figure_7_1.png --window -4 1 4");
  return {verb, [a] { return stability_verb(*a); }};
}

}  // namespace trammel
