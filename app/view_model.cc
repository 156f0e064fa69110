#include "app/view_model.h"

#include <cstdio>
#include <filesystem>

#include "trammel/run/load_model.h"
#include "trammel/run/recorder.h"

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

MemoryTrajectory result_of_one_row(const Simulation& simulation, const State& state, const Rates& rates,
                                   const std::string& what) {
  Recorder recorder(simulation.equations(), simulation.initial(), false);
  recorder.note_step(state, rates);
  Provenance provenance = simulation.provenance();
  provenance.set("method", what);
  MemoryTrajectory result;
  result.begin({recorder.tables()[0]}, provenance);
  result.append(0, recorder.output_row(state, rates));
  result.finish(RunStatus::finished, "", "");
  return result;
}

AssembledModel assembled_model(const std::string& path) {
  std::vector<Problem> warnings;
  Simulation simulation(load_model(path, {}, &warnings));
  for (const Problem& warning : warnings) std::fprintf(stderr, "%s\n", to_text(warning).c_str());
  simulation.start();
  return {result_of_one_row(simulation, simulation.start_state(), simulation.start_rates(), "as assembled"),
          sweeps_or_note(simulation)};
}

}  // namespace trammel
