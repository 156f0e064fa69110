// A model file with changes to its settings, checked and ready for a Simulation: the way `trammel run`, `check`, `info`
// and every study take.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "trammel/model/model.h"

namespace trammel {

struct ModelChanges {
  std::vector<std::string> set{};  // parameters, "NAME=VALUE"
  std::optional<std::string> method{};
  std::optional<std::string> formulation{};
  std::optional<double> tolerance{};  // alone, it also lifts a fixed step of the file
  std::optional<double> step{};       // fixed step
  std::optional<double> end{};
  std::optional<double> output_step{};  // 0: at every accepted step
  std::optional<double> greatest_step{};
  std::vector<std::string> options{};  // of the method, "NAME=VALUE"; a changed method starts from its own defaults
};

// Throws Failure for all errors of the file; `warnings` receives the rest. Settings that were changed are reported as
// coming from the command line.
Model load_model(const std::string& path, const ModelChanges& changes = {}, std::vector<Problem>* warnings = nullptr);
// The same for a model that has been read: all changes except those of parameters, then the checks.
Model changed_model(Model model, const ModelChanges& changes, std::vector<Problem>* warnings = nullptr);

// Makes the changes, except those of parameters, which act while a file is read.
void apply_changes(Model& model, const ModelChanges& changes);

}  // namespace trammel
