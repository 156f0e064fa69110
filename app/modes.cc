// trammel modes MODEL: eigenvalues and mode shapes.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <memory>

#include "app/analysis.h"
#include "app/analysis_json.h"
#include "app/around.h"
#include "app/choice.h"
#include "app/verbs.h"
#include "app/view_data.h"
#include "app/view_model.h"
#include "app/view_page.h"
#include "trammel/base/printable.h"
#include "trammel/write/matrix_file.h"
#include "trammel/write/output_path.h"
#include "trammel/write/plot.h"

namespace trammel {
namespace {

struct ModesArguments : AnalysisArguments {
  std::string around = "equilibrium", plot, page;
  ModeOptions options;
};

std::string modes_table(const std::vector<Mode>& modes, bool damped, bool all) {
  std::vector<std::vector<std::string>> lines;
  lines.push_back(
      damped ? std::vector<std::string>{"mode", "Hz", "damping ratio", "eigenvalue, rad/s", "", "bodies that move most"}
             : std::vector<std::string>{"mode", "Hz", "rad/s", "", "bodies that move most"});
  const std::size_t most = all ? modes.size() : std::min<std::size_t>(modes.size(), 25);
  for (std::size_t i = 0; i < most; ++i) {
    const Mode& m = modes[i];
    const std::string kind = kind_of_mode(m, damped);
    std::vector<std::string> line{std::to_string(i + 1), digits(m.oscillates ? m.frequency : 0.0)};
    if (damped) {
      line.push_back(m.oscillates ? digits(m.damping, 4) : "");
      line.push_back(fmt::format("{:.6g}{}", m.eigenvalue.real(),
                                 m.oscillates ? fmt::format(" +- {:.6g} i", m.eigenvalue.imag()) : ""));
    } else {
      line.push_back(digits(std::abs(m.eigenvalue)));
    }
    line.push_back(kind);
    line.push_back(bodies_of_mode(m));
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
      names.push_back("mode " + std::to_string(k + 1) + ": " + bodies_of_mode(m));
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

// All modes as a page of the viewer: the mechanism at the state the modes are about, and how it moves in each of them.
// Returns how many of the modes the page leaves out.
std::size_t write_modes_page(const Prepared& p, const Modes& modes, const std::string& around,
                             const std::string& path) {
  const ModesOfPage shown = modes_of_page(p.equations(), p.state, modes, around);
  const MemoryTrajectory result = result_of_one_row(*p.simulation, p.state, p.rates, "modes");
  write_page(path, page_with_data(p.equations().model().title, {view_data(result, {}, {{}, shown})}));
  std::size_t left_out = 0;
  for (const ModeSet& set : shown.sets) left_out += set.found - set.modes.size();
  return left_out;
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
  if (!a.page.empty()) check_page_path(a.page);
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
  const std::size_t left_out = a.page.empty() ? 0 : write_modes_page(p, modes, around.text, a.page);
  if (a.json) {
    Json j = {{"exit_code", 0}, {"model", a.file}, {"result", path}};
    j["page"] = a.page.empty() ? Json() : Json(a.page);
    j["page_left_out"] = left_out;
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
  if (!a.page.empty()) std::printf("  page            %s\n", printable(a.page).c_str());
  if (left_out > 0) std::printf("  note            the page leaves out the highest modes, %zu of them\n", left_out);
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
  verb->add_option("--page", a->page, "Show all modes in motion: a page for the browser")->type_name("FILE");
  verb->add_flag("--all", a->all, "List all modes");
  verb->footer(
      "Examples:\n"
      "  trammel modes frame.yaml --count 12 --plot frame.png\n"
      "  trammel modes rotor.yaml --around initial            whirl of a turning rotor\n"
      "  trammel modes frame.yaml --page modes.html           every mode in motion, in the browser\n"
      "\n"
      "About an equilibrium both the undamped modes and, if anything damps, the complex ones are given. A mode is "
      "named\n"
      "by the bodies that move most in it.");
  return {verb, [a] { return modes_verb(*a); }};
}

}  // namespace trammel
