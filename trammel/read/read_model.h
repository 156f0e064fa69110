// Model files: YAML or JSON text -> Model, in SI. The format is described in docs/guide/model-files.md.
// Everything that is wrong with a file, up to a score of problems, is reported in one Failure with lines and columns.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trammel/model/model.h"

namespace trammel {

struct ReadOptions {
  // Parameters to override, name and value ("0.5", "30 deg", "L/2"), before any expression is evaluated.
  std::vector<std::pair<std::string, std::string>> parameters;
  // How the files that a model names (included ones, subsystems, meshes) are read; from the disk if empty. Throws a
  // Failure.
  std::function<std::string(const std::string& path)> open;

  // Adds one as written on the command line, "NAME=VALUE"; a Failure if it is not.
  void set(std::string_view assignment);
};

// The text of a file of ordinary size; a Failure if it cannot be read.
std::string read_file_text(const std::string& path);

Model read_model(const std::string& path, const ReadOptions& options = {});
// The same from a text; `name` stands for the file in messages.
Model read_model_text(std::string_view text, const std::string& name, const ReadOptions& options = {});

}  // namespace trammel
