// The list of formulations: how a method sees a mechanism's constraints. registry.cc of integrate/ says which method
// takes which.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "trammel/formulate/state_space.h"
#include "trammel/model/fields.h"

namespace trammel {

struct FormulationInfo {
  std::string key, title, text;
  std::vector<Field> options;
  bool soft = false;  // constraints hold nearly, by choice
  // Makes differential equations of a mechanism; null: the method has the constraints beside them itself.
  std::function<void(const Fields& options, StateSpaceOptions& form)> configure;
  bool in_joint_coordinates = false;  // differential equations too, made by JointSpace
};

const std::vector<FormulationInfo>& formulation_registry();
// Null if there is none of this key.
const FormulationInfo* find_formulation(std::string_view key);

}  // namespace trammel
