#include "trammel/formulate/formulations.h"

namespace trammel {

const std::vector<FormulationInfo>& formulation_registry() {
  static const std::vector<FormulationInfo> table{
      {"index-3", "index 3", "The constraints themselves, at position level, with multipliers as unknowns.", {}},
      {"all-coordinates",
       "index 1, returned to the constraints",
       "Accelerations from the equations at index 1 in all coordinates; a step ends with a return to the constraints.",
       {}},
      {"state-space",
       "state space",
       "Independent coordinates only, chosen by pivoting or named by the user; the others follow from the constraints.",
       {}},
      {"index-1",
       "index 1, drifting",
       "Accelerations from the equations at index 1 in all coordinates, and nothing else: positions and velocities "
       "drift off the constraints.",
       {}},
  };
  return table;
}

const FormulationInfo* find_formulation(std::string_view key) {
  for (const FormulationInfo& f : formulation_registry())
    if (f.key == key) return &f;
  return nullptr;
}

}  // namespace trammel
