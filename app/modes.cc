// trammel modes MODEL: eigenvalues and mode shapes.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <memory>
#include <numbers>

#include "app/analysis.h"
#include "app/analysis_json.h"
#include "app/around.h"
#include "app/choice.h"
#include "app/verbs.h"
#include "trammel/rank/reduction.h"
#include "trammel/write/matrix_file.h"
#include "trammel/write/output_path.h"
#include "trammel/write/plot.h"

namespace trammel {
namespace {

struct ModesArguments : AnalysisArguments {
  std::string around = "equilibrium", plot;
  ModeOptions options;
  int animate = 0;
};

std::string body_list(const Mode& mode) {
  std::string text;
  for (const std::string& name : mode.bodies) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string modes_table(const std::vector<Mode>& modes, bool damped, bool all) {
  std::vector<std::vector<std::string>> lines;
  lines.push_back(
      damped ? std::vector<std::string>{"mode", "Hz", "damping ratio", "eigenvalue, rad/s", "", "bodies that move most"}
             : std::vector<std::string>{"mode", "Hz", "rad/s", "", "bodies that move most"});
  const std::size_t most = all ? modes.size() : std::min<std::size_t>(modes.size(), 25);
  for (std::size_t i = 0; i < most; ++i) {
    const Mode& m = modes[i];
    const std::string kind = m.rigid ? "rigid" : !m.stable || (!damped && !m.oscillates) ? "unstable" : "";
    std::vector<std::string> line{std::to_string(i + 1), digits(m.oscillates ? m.frequency : 0.0)};
    if (damped) {
      line.push_back(m.oscillates ? digits(m.damping, 4) : "");
      line.push_back(fmt::format("{:.6g}{}", m.eigenvalue.real(),
                                 m.oscillates ? fmt::format(" +- {:.6g} i", m.eigenvalue.imag()) : ""));
    } else {
      line.push_back(digits(std::abs(m.eigenvalue)));
    }
    line.push_back(kind);
    line.push_back(body_list(m));
    lines.push_back(std::move(line));
  }
  std::string out = aligned(lines, 2);
  if (most < modes.size()) out += fmt::format("  ... and {} more (--all shows them)\n", modes.size() - most);
  return out;
}

// Frequencies, damping and shapes by body, for HDF5.
std::vector<NamedMatrix> modes_matrices(const Equations& equations, const State& state, const Modes& modes) {
  std::vector<NamedMatrix> out;
  std::vector<std::string> shape_columns;
  for (const Body& body : equations.model().bodies) {
    for (const char* part :
         {"displacement.x", "displacement.y", "displacement.z", "rotation.x", "rotation.y", "rotation.z"})
      shape_columns.push_back(body.name + "." + part);
  }
  for (const bool damped : {false, true}) {
    const std::vector<Mode>& list = damped ? modes.damped : modes.undamped;
    if (list.empty()) continue;
    const auto n = static_cast<Eigen::Index>(list.size());
    std::vector<std::string> names;
    Mat values(n, 5), real(n, static_cast<Eigen::Index>(shape_columns.size())), imaginary = real;
    for (Eigen::Index k = 0; k < n; ++k) {
      const Mode& m = list[static_cast<std::size_t>(k)];
      names.push_back("mode " + std::to_string(k + 1) + ": " + body_list(m));
      values.row(k) << m.frequency, m.damping, m.eigenvalue.real(), m.eigenvalue.imag(), m.rigid ? 1.0 : 0.0;
      const Eigen::MatrixXcd shape = shape_of_bodies(equations, state, m);
      for (Eigen::Index b = 0; b < shape.rows(); ++b) {
        real.row(k).segment(6 * b, 6) = shape.row(b).real();
        imaginary.row(k).segment(6 * b, 6) = shape.row(b).imag();
      }
    }
    const std::string prefix = damped ? "damped" : "undamped";
    out.push_back({prefix,
                   "frequency |s|/2 pi, damping ratio, eigenvalue s",
                   names,
                   {"frequency [Hz]", "damping", "real [rad/s]", "imaginary [rad/s]", "rigid"},
                   values});
    out.push_back({prefix + "_shapes",
                   "displacement of each body's origin and rotation, world axes; largest 1 (in L, rad)", names,
                   shape_columns, real});
    if (damped) out.push_back({prefix + "_shapes_imaginary", "imaginary parts", names, shape_columns, imaginary});
  }
  return out;
}

// Shapes over the bodies, in the direction each mode moves most.
void plot_modes(const Equations& equations, const State& state, const Modes& modes, const std::string& around,
                const std::string& path) {
  const bool damped = modes.undamped.empty();
  const std::vector<Mode>& list = damped ? modes.damped : modes.undamped;
  if (list.empty()) return;
  PlotRequest plot;
  plot.title = equations.model().title.empty() ? "Mode shapes" : equations.model().title;
  plot.subtitle = std::string(damped ? "modes" : "undamped modes") + " about the " + around;
  plot.xlabel = "body, in the order of the model";
  plot.style = PlotStyle::linespoints;
  PlotPanel panel;
  panel.ylabel = "displacement, largest 1";
  for (std::size_t k = 0; k < std::min<std::size_t>(list.size(), 6); ++k) {
    const Eigen::MatrixXcd shape = shape_of_bodies(equations, state, list[k]);
    Eigen::Index axis = 0;
    shape.leftCols(3).cwiseAbs().colwise().sum().maxCoeff(&axis);
    if (shape.leftCols(3).cwiseAbs().maxCoeff() < 1e-6 * shape.cwiseAbs().maxCoeff())
      shape.cwiseAbs().colwise().sum().maxCoeff(&axis);
    const double size = shape.col(axis).cwiseAbs().maxCoeff();
    static const char* const axes[] = {"x", "y", "z", "about x", "about y", "about z"};
    PlotCurve curve;
    curve.label = fmt::format("{}: {:.4g} Hz, {}", k + 1, list[k].frequency, axes[axis]);
    if (list[k].oscillates && list[k].damping != 0) curve.label += fmt::format(", damping {:.3g}", list[k].damping);
    for (Eigen::Index b = 0; b < shape.rows(); ++b) {
      curve.x.push_back(static_cast<double>(b + 1));
      curve.y.push_back(size > 0 ? shape(b, axis).real() / size : 0.0);
    }
    panel.curves.push_back(std::move(curve));
  }
  plot.panels.push_back(std::move(panel));
  draw_plot(plot, path);
}

// One period of a mode as a result that is read and drawn like a run; the largest motion is a tenth of L or rad.
std::string animate_mode(Prepared& p, const Modes& modes, int number, const std::string& path) {
  const std::vector<Mode>& list = modes.undamped.empty() ? modes.damped : modes.undamped;
  if (number > static_cast<int>(list.size())) {
    throw Failure({Severity::error,
                   "bad-usage",
                   fmt::format("there is no mode {}: {} were found", number, list.size()),
                   "see the printed list",
                   {}},
                  ExitCode::bad_usage);
  }
  const Mode& mode = list[static_cast<std::size_t>(number - 1)];
  const Equations& equations = p.equations();
  AnalysisResult result(p, path, "mode " + std::to_string(number));
  const double period = mode.frequency > 0 ? 1 / mode.frequency : 1;
  constexpr int frames = 60;
  equations.update(p.state, p.work);
  const Workspace base = p.work;
  for (int k = 0; k <= frames; ++k) {
    const double phase = 2 * std::numbers::pi * k / frames;
    const Vec world = 0.1 * (mode.shape.real() * std::cos(phase) - mode.shape.imag() * std::sin(phase));
    State state = p.state;
    state.t = period * k / frames;
    equations.retract(p.state.q, from_world(equations, base, world), state.q);
    state.v.setZero();
    Rates still = p.rates;
    still.a.setZero();
    result.add(state, still);
  }
  result.finish(RunStatus::finished, "{}");
  return path;
}

int modes_verb(const ModesArguments& a) {
  Prepared p = prepare(a);
  const std::string path = a.output.empty() ? default_output(a.file, ".modes.h5") : a.output;
  check_output_path(path, OutputKind::matrices);
  if (!a.plot.empty()) {
    if (!a.plot.ends_with(".png") && !a.plot.ends_with(".svg"))
      throw Failure({Severity::error, "bad-usage", "a picture ends in .png or .svg, not '" + a.plot + "'", "", {}},
                    ExitCode::bad_usage);
    check_output_path(a.plot, OutputKind::picture);
  }
  const Around around = go_to(p, a.around);
  const Equations& equations = p.equations();
  const Modes modes = find_modes(equations, p.state, p.rates, a.options);
  Json summary = {{"around", around.text},
                  {"solver", modes.sparse ? "sparse" : "dense"},
                  {"degrees_of_freedom", modes.freedoms >= 0 ? Json(modes.freedoms) : Json()},
                  {"displacements", modes.freedoms >= 0 ? Json(modes.displacements) : Json()},
                  {"rigid", modes.rigid},
                  {"at_rest", modes.at_rest},
                  {"equilibrium", modes.equilibrium},
                  {"notes", modes.notes}};
  Provenance provenance = p.simulation->provenance();
  provenance.set("analysis", "modes");
  provenance.set("around", around.text);
  write_matrices(path, modes_matrices(equations, p.state, modes), provenance, summary.dump());
  if (!a.plot.empty()) plot_modes(equations, p.state, modes, around.text, a.plot);
  std::string animation;
  if (a.animate > 0)
    animation = animate_mode(p, modes, a.animate, default_output(a.file, fmt::format(".mode{}.h5", a.animate)));
  if (a.json) {
    Json j = {{"exit_code", 0}, {"model", a.file}, {"result", path}};
    j["animation"] = animation.empty() ? Json() : Json(animation);
    j["warnings"] = to_json(p.warnings);
    j["summary"] = summary;
    for (const bool damped : {false, true}) {
      Json list = Json::array();
      for (const Mode& mode : damped ? modes.damped : modes.undamped) {
        Json m = to_json(mode);
        const Eigen::MatrixXcd shape = shape_of_bodies(equations, p.state, mode);
        Json shapes = Json::object();
        for (std::size_t b = 0; b < equations.model().bodies.size(); ++b) {
          const Eigen::RowVectorXcd row = shape.row(static_cast<Eigen::Index>(b));
          Json body = {{"displacement", {row[0].real(), row[1].real(), row[2].real()}},
                       {"rotation", {row[3].real(), row[4].real(), row[5].real()}}};
          if (damped) {
            body["displacement_imaginary"] = {row[0].imag(), row[1].imag(), row[2].imag()};
            body["rotation_imaginary"] = {row[3].imag(), row[4].imag(), row[5].imag()};
          }
          shapes[equations.model().bodies[b].name] = body;
        }
        m["shape"] = shapes;
        list.push_back(std::move(m));
      }
      j[damped ? "damped" : "undamped"] = list;
    }
    print_json(j);
    return 0;
  }
  if (a.quiet) return 0;
  print_title(a, equations);
  std::printf("  about           %s\n", around.text.c_str());
  if (modes.freedoms >= 0 && modes.displacements == modes.freedoms)
    std::printf("  freedoms        %d, of which %d without stiffness\n", modes.freedoms, modes.rigid);
  if (modes.freedoms >= 0 && modes.displacements != modes.freedoms)
    std::printf("  freedoms        %d of velocities, %d of displacements, of which %d without stiffness\n",
                modes.freedoms, modes.displacements, modes.rigid);
  for (const std::string& note : modes.notes) std::printf("  note            %s\n", note.c_str());
  std::printf("  result          %s\n", path.c_str());
  if (!a.plot.empty()) std::printf("  plot            %s\n", a.plot.c_str());
  if (!animation.empty()) std::printf("  animation       %s\n", animation.c_str());
  if (!modes.undamped.empty()) std::printf("\nundamped modes\n%s", modes_table(modes.undamped, false, a.all).c_str());
  if (!modes.damped.empty())
    std::printf("\n%s\n%s", modes.at_rest ? "damped modes" : "eigenvalues",
                modes_table(modes.damped, true, a.all).c_str());
  return 0;
}

}  // namespace

Verb add_modes(CLI::App& app) {
  auto a = std::make_shared<ModesArguments>();
  CLI::App* verb = app.add_subcommand("modes", "Natural frequencies, damping and mode shapes");
  add_analysis_arguments(*verb, *a,
                         "HDF5 or CSV with eigenvalues and shapes; default: the model's name with .modes.h5");
  verb->add_option("--count", a->options.count,
                   "How many of the lowest modes; default: all of a small model, 10 of a large one")
      ->check(CLI::PositiveNumber);
  verb->add_option("--around", a->around, "equilibrium, initial, or a time up to which the model is simulated first")
      ->capture_default_str()
      ->type_name("WHERE");
  add_choice<ModeSolver>(
      *verb, "--solver", a->options.solver, "dense: all modes; sparse: the lowest of a large model",
      {{"automatic", ModeSolver::automatic}, {"dense", ModeSolver::dense}, {"sparse", ModeSolver::sparse}});
  verb->add_option("--plot", a->plot, "Draw the first shapes: .png, .svg or .txt")->type_name("FILE");
  verb->add_option("--animate", a->animate, "Write one period of mode N as a result, NAME.modeN.h5")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  verb->add_flag("--all", a->all, "List all modes");
  verb->footer(
      "Examples:\n"
      "  trammel modes frame.yaml --count 12 --plot frame.png\n"
      "  trammel modes rotor.yaml --around initial            whirl of a turning rotor\n"
      "\n"
      "About an equilibrium both the undamped modes and, if anything damps, the complex ones are given. A mode is "
      "named\n"
      "by the bodies that move most in it.");
  return {verb, [a] { return modes_verb(*a); }};
}

}  // namespace trammel
