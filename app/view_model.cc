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

MemoryTrajectory assembled_model(const std::string& path) {
  std::vector<Problem> warnings;
  Simulation simulation(load_model(path, {}, &warnings));
  for (const Problem& warning : warnings) std::fprintf(stderr, "%s\n", to_text(warning).c_str());
  simulation.start();
  Recorder recorder(simulation.equations(), simulation.initial(), false);
  recorder.note_step(simulation.start_state(), simulation.start_rates());
  Provenance provenance = simulation.provenance();
  provenance.set("method", "as assembled");
  MemoryTrajectory result;
  result.begin({recorder.tables()[0]}, provenance);
  result.append(0, recorder.output_row(simulation.start_state(), simulation.start_rates()));
  result.finish(RunStatus::finished, "", "");
  return result;
}

}  // namespace trammel
