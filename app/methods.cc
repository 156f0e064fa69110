// trammel methods [KEY]: the table of methods, or the options of one.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "app/common.h"
#include "app/verbs.h"
#include "trammel/integrate/registry.h"

namespace trammel {
namespace {

struct MethodsArguments {
  std::string key;
  bool json = false, markdown = false;
};

std::string joined(const std::vector<std::string>& keys) {
  std::string text;
  for (const std::string& key : keys) text += (text.empty() ? "" : ", ") + key;
  return text;
}

// What it integrates, mechanisms apart.
std::vector<std::string> problems_of(const MethodInfo& m) {
  std::vector<std::string> out;
  if (m.make_first_order) out.emplace_back("y' = f(t, y)");
  if (m.make_second_order) out.emplace_back("y'' = f(t, y, y')");
  if (m.make_implicit) out.emplace_back("F(t, y, y') = 0");
  return out;
}

Json method_json(const MethodInfo& m) {
  Json options = Json::array();
  for (const Field& option : m.options) options.push_back(to_json(option));
  return {{"key", m.key},
          {"title", m.title},
          {"formulations", m.formulations},
          {"problems", problems_of(m)},
          {"order", m.order},
          {"variable_order", m.variable_order},
          {"stages", m.stages > 0 ? Json(m.stages) : Json()},
          {"error_order", m.error_order},
          {"stability", m.stability},
          {"source", m.source},
          {"options", options}};
}

void print_method(const MethodInfo& m) {
  std::printf("%s: %s\n", m.key.c_str(), m.title.c_str());
  std::fputs(aligned({{"formulations", joined(m.formulations)},
                      {"problems", problems_of(m).empty() ? "mechanisms alone" : joined(problems_of(m))},
                      {"order", (m.variable_order ? "up to " : "") + std::to_string(m.order)},
                      {"stages", m.stages > 0 ? std::to_string(m.stages) : "-"},
                      {"error estimate", "proportional to h^" + std::to_string(m.error_order)},
                      {"stability", m.stability},
                      {"source", m.source}},
                     2)
                 .c_str(),
             stdout);
  std::printf("options\n%s", fields_text(m.options).c_str());
}

int methods_verb(const MethodsArguments& a) {
  if (a.markdown) {
    std::fputs(methods_as_markdown().c_str(), stdout);
    return 0;
  }
  if (!a.key.empty()) {
    const MethodInfo* method = nullptr;
    try {
      method = &find_method(a.key, {});
    } catch (const Failure& failure) {
      throw Failure(failure.problems(), ExitCode::bad_usage);
    }
    if (a.json)
      print_json(method_json(*method));
    else
      print_method(*method);
    return 0;
  }
  if (a.json) {
    Json list = Json::array();
    for (const MethodInfo& m : method_registry()) list.push_back(method_json(m));
    print_json(list);
    return 0;
  }
  // Long lists of formulations are for `trammel methods KEY`.
  std::vector<std::vector<std::string>> lines{{"key", "order", "stages", "formulations", "stability", "title"}};
  for (const MethodInfo& m : method_registry()) {
    std::string forms = joined(m.formulations);
    if (m.formulations.size() > 3) {
      forms = m.formulations.front() + ", ...";
    }
    const std::string stability = m.stability.substr(0, m.stability.find(';'));
    lines.push_back({m.key, (m.variable_order ? "1-" : "") + std::to_string(m.order),
                     m.stages > 0 ? std::to_string(m.stages) : "-", forms, stability, m.title});
  }
  std::printf("%s\n`trammel methods KEY` explains one: all its formulations, its options and its source.\n",
              aligned(lines, 0).c_str());
  return 0;
}

}  // namespace

Verb add_methods(CLI::App& app) {
  auto a = std::make_shared<MethodsArguments>();
  CLI::App* verb = app.add_subcommand("methods", "List the integration methods, or explain one");
  verb->add_option("KEY", a->key, "Method to explain: options with default and range");
  verb->add_flag("--json", a->json, "Print as JSON");
  verb->add_flag("--markdown", a->markdown, "Print the table of docs/methods/README.md");
  verb->footer("Examples:\n  trammel methods\n  trammel methods hht-i3");
  return {verb, [a] { return methods_verb(*a); }};
}

}  // namespace trammel
