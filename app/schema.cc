// trammel schema: the JSON Schema of model files, for editors.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "app/common.h"
#include "app/verbs.h"
#include "trammel/read/schema.h"
#include "trammel/write/output_path.h"

namespace trammel {

Verb add_schema(CLI::App& app) {
  auto output = std::make_shared<std::string>();
  CLI::App* verb =
      app.add_subcommand("schema", "Print the JSON Schema of model files, for editors that complete and check");
  verb->add_option("-o,--output", *output, "Write it to this file instead");
  verb->footer(
      "Example:\n"
      "  trammel schema -o model.schema.json\n"
      "\n"
      "An editor with YAML support uses it for files that start with the line\n"
      "  # yaml-language-server: $schema=model.schema.json\n"
      "It is also installed as share/trammel/model.schema.json.");
  return {verb, [output] {
            const std::string text = model_schema();
            if (output->empty()) {
              std::fputs(text.c_str(), stdout);
            } else {
              write_whole_file(*output, text, OutputKind::schema);
            }
            return 0;
          }};
}

}  // namespace trammel
