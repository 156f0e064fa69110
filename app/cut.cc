// trammel cut MODEL --at JOINT...: the parts of a model that hang together without some joints, as a coupling file.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "app/common.h"
#include "app/verbs.h"
#include "trammel/couple/part_of_model.h"
#include "trammel/write/output_path.h"

namespace trammel {
namespace {

struct CutArguments : ModelArguments {
  std::vector<std::string> at;
  std::string output;
  double step = 0;
};

int cut_verb(const CutArguments& a) {
  const Model model = load_model(a.file, a.changes);
  std::vector<int> cut;
  for (const std::string& name : a.at) {
    const int joint = model.find_joint(name);
    if (joint < 0) {
      std::vector<std::string> known;
      for (const Item& item : model.joints) known.push_back(item.name);
      const std::string near = nearest_name(name, known);
      throw Failure({Severity::error,
                     "unknown-joint",
                     "the model has no joint '" + name + "'",
                     near.empty() ? "`trammel info` lists them" : "did you mean '" + near + "'?",
                     {}},
                    ExitCode::bad_usage);
    }
    cut.push_back(joint);
  }
  const std::vector<std::vector<int>> parts = connected_parts(model, cut);
  // A cut inside one part glues nothing.
  for (const int joint : cut) {
    const Item& item = model.joints[static_cast<std::size_t>(joint)];
    int sides[2] = {-1, -1};
    for (std::size_t side = 0; side < 2 && side < item.frames.size(); ++side) {
      const int body = model.frames[static_cast<std::size_t>(item.frames[side])].body;
      for (std::size_t p = 0; p < parts.size(); ++p) {
        if (std::find(parts[p].begin(), parts[p].end(), body) != parts[p].end()) sides[side] = static_cast<int>(p);
      }
    }
    if (sides[0] < 0 || sides[1] < 0 || sides[0] == sides[1]) {
      throw Failure(
          {Severity::error, "nothing-to-glue",
           "joint '" + item.name + "' does not lie between two parts: other joints or forces still connect its sides",
           "cut those as well, or another joint", item.where});
    }
  }
  for (const std::vector<int>& part : parts) (void)part_of_model(model, part, cut);  // throws what does not fit
  const std::string stem = std::filesystem::path(a.file).stem().string();
  const std::string output = a.output.empty() ? stem + ".coupling.yaml" : a.output;
  std::filesystem::path from = std::filesystem::absolute(output).parent_path();
  const std::string whole = std::filesystem::proximate(std::filesystem::absolute(a.file), from).string();
  std::string text = "trammel-coupling: 1\ntitle: " + (model.title.empty() ? stem : model.title) +
                     ", glued\n\nwhole: " + whole + "\n\nparticipants:\n";
  for (const std::vector<int>& part : parts) {
    const auto name_of = [&](int body) { return model.bodies[static_cast<std::size_t>(body)].name; };
    std::string name = name_of(part[0]);
    for (char& c : name) c = c == '.' ? '_' : c;
    text += "  " + name + ":\n    bodies:\n";
    for (const int body : part) text += "      - " + name_of(body) + "\n";
  }
  text += "\ncut:\n";
  for (const std::string& name : a.at) text += "  - " + name + "\n";
  text += "\ncoupling:\n  step: " + shortest(a.step > 0 ? a.step : 1e-2 * model.simulation.end) +
          "\n  end: " + shortest(model.simulation.end) +
          "\n  scheme: quadratic\n  solver: compliance\n  tolerance: 1e-9\n";
  write_whole_file(output, text, OutputKind::fresh);
  std::printf("%zu parts, %zu gluing joints: %s\n", parts.size(), cut.size(), output.c_str());
  return 0;
}

}  // namespace

Verb add_cut(CLI::App& app) {
  auto a = std::make_shared<CutArguments>();
  CLI::App* verb = app.add_subcommand("cut", "Take a model apart at joints: writes a coupling file");
  add_model_arguments(*verb, *a);
  verb->add_option("--at", a->at, "Joints to cut")->type_name("JOINT")->required();
  verb->add_option("--macro-step", a->step, "Macro step of the coupling; default: a hundredth of the run")
      ->type_name("SECONDS");
  verb->add_option("-o,--output", a->output, "Coupling file; default: the model's name with .coupling.yaml")
      ->type_name("FILE");
  verb->footer(
      "Examples:\n"
      "  trammel cut models/glue_double_pendulum.yaml --at pin --macro-step 0.01\n"
      "  trammel couple glue_double_pendulum.coupling.yaml --compare-whole\n"
      "\n"
      "The participants are parts of the model by the names of their bodies; they keep its method and tolerance unless "
      "the\n"
      "coupling file says otherwise.");
  return {verb, [a] { return cut_verb(*a); }};
}

}  // namespace trammel
