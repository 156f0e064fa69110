// What the verbs share: options that change a model, JSON of problems and analyses, aligned text.
#pragma once
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "trammel/base/diagnosis.h"
#include "trammel/base/numbers.h"
#include "trammel/initial/consistent.h"
#include "trammel/model/fields.h"
#include "trammel/run/load_model.h"
#include "trammel/write/trajectory.h"

namespace CLI {
class App;
}

namespace trammel {

using Json = nlohmann::ordered_json;

// A model file and what is changed of it.
struct ModelArguments {
  std::string file;
  ModelChanges changes;
};
// Adds MODEL, --set, --method, --option, --tolerance and --step.
void add_model_arguments(CLI::App& verb, ModelArguments& arguments);

Json to_json(const Problem& problem);
Json to_json(const std::vector<Problem>& problems);
// {"exit_code": ..., "problems": [...]}
Json failure_json(const std::vector<Problem>& problems, ExitCode code);
void print_json(const Json& json);  // to standard output

// The stages of the start and the rank analysis.
Json start_json(const InitialReport& report);
Json rank_json(const InitialReport& report, const std::vector<std::string>& names);
std::vector<std::string> rank_lines(const InitialReport& report, const std::vector<std::string>& names);
std::vector<std::string> item_names(const Equations& equations);  // of joints and motions, in the order of the analysis

// Fields of an element or options of a method.
Json to_json(const Field& field);
std::string fields_text(const std::vector<Field>& fields);

// A result file: HDF5, or CSV if the name says so.
std::unique_ptr<TrajectorySink> make_sink(const std::string& path);

// Columns set flush left, two blanks between them, each line indented by `indent`.
std::string aligned(const std::vector<std::vector<std::string>>& lines, int indent);
// Words broken into lines of at most `width`, each indented.
std::string wrapped(const std::string& text, int indent, int width = 100);
std::string counted(long count, const std::string& noun);  // "1 joint", "2 joints", "no joints"

}  // namespace trammel
