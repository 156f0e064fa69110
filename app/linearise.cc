// trammel linearise MODEL: state-space matrices A, B, C, D about a state.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>
#include <memory>

#include "app/analysis.h"
#include "app/analysis_json.h"
#include "app/around.h"
#include "app/choice.h"
#include "app/verbs.h"
#include "trammel/write/matrix_file.h"
#include "trammel/write/output_path.h"

namespace trammel {
namespace {

struct LineariseArguments : AnalysisArguments {
  std::string around = "initial";
  LinearOutputs outputs = LinearOutputs::automatic;
};

std::vector<std::string> labels(const std::vector<LinearName>& names) {
  std::vector<std::string> out;
  for (const LinearName& name : names)
    out.push_back(name.unit.empty() ? name.name : name.name + " [" + name.unit + "]");
  return out;
}

std::string matrix_text(const char* name, const Mat& m, bool all) {
  if (m.size() == 0) return fmt::format("\n{}  ({} x {}): empty\n", name, m.rows(), m.cols());
  if (!all && (m.rows() > 12 || m.cols() > 12))
    return fmt::format("\n{}  ({} x {}): --all prints it, --output writes it\n", name, m.rows(), m.cols());
  std::vector<std::vector<std::string>> lines;
  for (Eigen::Index i = 0; i < m.rows(); ++i) {
    std::vector<std::string> line;
    for (Eigen::Index j = 0; j < m.cols(); ++j)
      line.push_back(fmt::format("{:>12.6g}", std::abs(m(i, j)) < 1e-14 * m.cwiseAbs().maxCoeff() ? 0.0 : m(i, j)));
    lines.push_back(std::move(line));
  }
  return fmt::format("\n{}  ({} x {})\n{}", name, m.rows(), m.cols(), aligned(lines, 0));
}

int linearise_verb(const LineariseArguments& a) {
  Prepared p = prepare(a);
  if (!a.output.empty()) check_output_path(a.output, OutputKind::matrices);
  const Around around = go_to(p, a.around);
  const LinearSystem s = linearise_system(p.equations(), p.state, p.rates, a.outputs);
  Json summary = {{"around", around.text}, {"time", p.state.t}};
  summary["degrees_of_freedom"] = s.A.rows() - s.positions;
  summary["speed"] = s.speed;
  summary["acceleration"] = s.acceleration;
  summary["smallest_pivot"] = s.worst_pivot;
  const std::vector<std::string> x = labels(s.states), u = labels(s.inputs), y = labels(s.outputs);
  if (!a.output.empty()) {
    Provenance provenance = p.simulation->provenance();
    provenance.set("analysis", "linearise");
    provenance.set("around", around.text);
    write_matrices(a.output,
                   {{"A", "x' = A x + B u", x, x, s.A},
                    {"B", "x' = A x + B u", x, u, s.B},
                    {"C", "y = C x + D u", y, x, s.C},
                    {"D", "y = C x + D u", y, u, s.D},
                    {"x_dot", "rate of the states at the point of linearisation", x, {"value"}, s.x_dot},
                    {"y", "outputs at the point of linearisation", y, {"value"}, s.y}},
                   provenance, summary.dump());
  }
  if (a.json) {
    Json j = {{"exit_code", 0}, {"model", a.file}, {"result", a.output.empty() ? Json() : Json(a.output)}};
    j["warnings"] = to_json(p.warnings);
    j["summary"] = summary;
    j["states"] = to_json(s.states);
    j["inputs"] = to_json(s.inputs);
    j["outputs"] = to_json(s.outputs);
    j["A"] = to_json(s.A);
    j["B"] = to_json(s.B);
    j["C"] = to_json(s.C);
    j["D"] = to_json(s.D);
    j["x_dot"] = std::vector<double>(s.x_dot.data(), s.x_dot.data() + s.x_dot.size());
    j["y"] = std::vector<double>(s.y.data(), s.y.data() + s.y.size());
    print_json(j);
    return 0;
  }
  if (a.quiet) return 0;
  print_title(a, p.equations());
  std::printf("  about           %s, t = %.6g s\n", around.text.c_str(), p.state.t);
  std::printf("  states          %ld: %d displacements, %ld velocities; %zu inputs, %zu outputs\n",
              static_cast<long>(s.A.rows()), s.positions, static_cast<long>(s.A.rows()) - s.positions, u.size(),
              y.size());
  if (s.worst_pivot < 1e-6) std::printf("  note            the constraints nearly lose rank here\n");
  if (s.x_dot.size() > 0 && s.acceleration > 1e-6)
    std::printf("  note            the state accelerates: the system describes deviations from that motion\n");
  if (!a.output.empty()) std::printf("  matrices        %s\n", a.output.c_str());
  const auto list = [](const char* title, const std::vector<std::string>& names) {
    std::printf("\n%s\n", title);
    for (std::size_t i = 0; i < names.size() && i < 40; ++i) std::printf("  %zu  %s\n", i + 1, names[i].c_str());
    if (names.size() > 40) std::printf("  ... and %zu more\n", names.size() - 40);
  };
  list("states x", x);
  if (!u.empty()) list("inputs u", u);
  list("outputs y", y);
  for (const auto& [name, m] : {std::pair<const char*, const Mat*>{"A", &s.A}, {"B", &s.B}, {"C", &s.C}, {"D", &s.D}})
    std::fputs(matrix_text(name, *m, a.all).c_str(), stdout);
  return 0;
}

}  // namespace

Verb add_linearise(CLI::App& app) {
  auto a = std::make_shared<LineariseArguments>();
  CLI::App* verb = app.add_subcommand("linearise", "State-space matrices A, B, C, D near a state");
  add_analysis_arguments(*verb, *a, "Write the matrices: HDF5, or CSV if it ends in .csv");
  verb->add_option("--around", a->around, "initial, equilibrium, or a time up to which the model is simulated first")
      ->capture_default_str()
      ->type_name("WHERE");
  add_choice<LinearOutputs>(*verb, "--outputs", a->outputs, "Rows of C; automatic: the model's outputs, if it has any",
                            {{"automatic", LinearOutputs::automatic},
                             {"model", LinearOutputs::model},
                             {"bodies", LinearOutputs::bodies},
                             {"all", LinearOutputs::all}});
  verb->add_flag("--all", a->all, "Print large matrices too");
  verb->footer(
      "Examples:\n"
      "  trammel linearise cart_pole.yaml -o cart_pole.lin.h5\n"
      "  trammel linearise model.yaml --around equilibrium --json\n"
      "  trammel linearise model.yaml --around 2.5          about the state at t = 2.5 s\n"
      "\n"
      "x are deviations of independent displacements and velocities, chosen among those of the bodies; u are the\n"
      "`inputs:` of the model, y its outputs.");
  return {verb, [a] { return linearise_verb(*a); }};
}

}  // namespace trammel
