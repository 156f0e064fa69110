#include "app/view_model.h"

#include <cstdio>
#include <filesystem>

#include "trammel/run/load_model.h"
#include "trammel/run/recorder.h"
#include "trammel/run/simulation.h"

namespace trammel {

bool is_model_file(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  return ending == ".yaml" || ending == ".yml" || ending == ".json";
}

namespace {

// A mechanism that cannot be moved is still worth seeing: a note instead of an error.
std::vector<Sweep> sweeps_or_note(const Simulation& simulation) {
  try {
    return sweep_freedoms(simulation.equations(), simulation.start_state());
  } catch (const Failure& failure) {
    std::fprintf(stderr, "note: no sliders for the freedoms: %s\n", failure.problems().front().message.c_str());
    return {};
  }
}

}  // namespace

AssembledModel assembled_model(const std::string& path) {
  std::vector<Problem> warnings;
  Simulation simulation(load_model(path, {}, &warnings));
  for (const Problem& warning : warnings) std::fprintf(stderr, "%s\n", to_text(warning).c_str());
  simulation.start();
  Recorder recorder(simulation.equations(), simulation.initial(), false);
  recorder.note_step(simulation.start_state(), simulation.start_rates());
  Provenance provenance = simulation.provenance();
  provenance.set("method", "as assembled");
  AssembledModel assembled;
  MemoryTrajectory& result = assembled.result;
  result.begin({recorder.tables()[0]}, provenance);
  result.append(0, recorder.output_row(simulation.start_state(), simulation.start_rates()));
  result.finish(RunStatus::finished, "", "");
  assembled.sweeps = sweeps_or_note(simulation);
  return assembled;
}

}  // namespace trammel
