// The list of formulations: how a method sees a mechanism's constraints. registry.cc of integrate/ says which method
// takes which.
#pragma once
#include <string>
#include <vector>

#include "trammel/model/fields.h"

namespace trammel {

struct FormulationInfo {
  std::string key, title, text;
  std::vector<Field> options;
};

const std::vector<FormulationInfo>& formulation_registry();
// Null if there is none of this key.
const FormulationInfo* find_formulation(std::string_view key);

}  // namespace trammel
