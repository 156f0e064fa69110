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
  bool json = false;
};

std::string joined(const std::vector<std::string>& keys) {
  std::string text;
  for (const std::string& key : keys) text += (text.empty() ? "" : ", ") + key;
  return text;
}

Json method_json(const MethodInfo& m) {
  Json options = Json::array();
  for (const Field& option : m.options) options.push_back(to_json(option));
  return {{"key", m.key},
          {"title", m.title},
          {"formulations", m.formulations},
          {"order", m.order},
          {"error_order", m.error_order},
          {"stability", m.stability},
          {"source", m.source},
          {"options", options}};
}

void print_method(const MethodInfo& m) {
  std::printf("%s: %s\n", m.key.c_str(), m.title.c_str());
  std::fputs(aligned({{"formulations", joined(m.formulations)},
                      {"order", std::to_string(m.order)},
                      {"error estimate", "proportional to h^" + std::to_string(m.error_order)},
                      {"stability", m.stability},
                      {"source", m.source}},
                     2)
                 .c_str(),
             stdout);
  std::printf("options\n%s", fields_text(m.options).c_str());
}

int methods_verb(const MethodsArguments& a) {
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
  std::vector<std::vector<std::string>> lines{{"key", "order", "formulations", "options", "title"}};
  for (const MethodInfo& m : method_registry()) {
    std::string options;  // its own ones come first
    for (std::size_t i = 0; i < m.options.size() && i < 2; ++i) options += (i > 0 ? ", " : "") + m.options[i].name;
    if (m.options.size() > 2) options += ", ...";
    lines.push_back({m.key, std::to_string(m.order), joined(m.formulations), options, m.title});
  }
  std::printf("%s\n`trammel methods KEY` explains one and its options.\n", aligned(lines, 0).c_str());
  return 0;
}

}  // namespace

Verb add_methods(CLI::App& app) {
  auto a = std::make_shared<MethodsArguments>();
  CLI::App* verb = app.add_subcommand("methods", "List the integration methods, or explain one");
  verb->add_option("KEY", a->key, "Method to explain: options with default and range");
  verb->add_flag("--json", a->json, "Print as JSON");
  verb->footer("Examples:\n  trammel methods\n  trammel methods hht-i3");
  return {verb, [a] { return methods_verb(*a); }};
}

}  // namespace trammel
