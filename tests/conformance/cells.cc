#include "tests/conformance/cells.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <string_view>

#include "trammel/integrate/registry.h"

namespace trammel {
namespace {

// One method of each family that takes several formulations.
constexpr std::array<std::string_view, 7> representatives{
    "dormand-prince-54", "adams", "bdf", "sdirk-4", "radau-iia-3", "rosenbrock-nystrom-4", "generalized-alpha"};

}  // namespace

std::ostream& operator<<(std::ostream& out, const Cell& cell) {
  return out << cell.method << " on " << cell.formulation;
}

std::vector<Cell> cells_to_try() {
  const char* asked = std::getenv("TRAMMEL_ALL_CELLS");
  const bool all = asked != nullptr && std::string_view(asked) != "0";
  std::vector<Cell> cells;
  for (const MethodInfo& method : method_registry()) {
    if (!method.make) continue;
    const bool stands_for_family =
        std::find(representatives.begin(), representatives.end(), method.key) != representatives.end();
    for (const std::string& formulation : method.formulations) {
      // refused for joints and bodies that turn in space, which most rules are tried on: methods_test.cc
      if (formulation == "joint-coordinates" && method.make_second_order) continue;
      if (all || stands_for_family || formulation == method.formulations.front())
        cells.push_back({method.key, formulation});
    }
  }
  return cells;
}

std::string name_of_cell(const testing::TestParamInfo<Cell>& info) {
  std::string name = info.param.method + "_on_" + info.param.formulation;
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

CellRun run_cell(const Cell& cell, Model model) {
  model.simulation.method = cell.method;
  model.simulation.formulation = cell.formulation;
  CellRun run;
  Simulation simulation(std::move(model));
  run.result = simulation.run(run.trajectory);
  return run;
}

}  // namespace trammel
