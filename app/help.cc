// trammel help [ID]: what a message means and what to do about it.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "app/common.h"
#include "app/verbs.h"
#include "trammel/base/messages.h"

namespace trammel {
namespace {

struct HelpArguments {
  std::string id;
  bool json = false, markdown = false;
};

Json message_json(const MessageInfo& m) {
  return {{"id", std::string(m.id)},
          {"group", std::string(m.group)},
          {"text", std::string(m.text)},
          {"remedy", std::string(m.remedy)}};
}

int list_messages(bool json) {
  if (json) {
    Json list = Json::array();
    for (const MessageInfo& m : message_registry()) list.push_back(message_json(m));
    print_json(list);
    return 0;
  }
  std::string_view group;
  for (const MessageInfo& m : message_registry()) {
    if (m.group != group) std::printf("%s%s\n", group.empty() ? "" : "\n", std::string(m.group).c_str());
    group = m.group;
    std::printf("  %-28s%s\n", std::string(m.id).c_str(), std::string(m.text.substr(0, m.text.find('.'))).c_str());
  }
  std::printf("\n`trammel help ID` explains one, `trammel VERB --help` a verb.\n");
  return 0;
}

int help_verb(const HelpArguments& a, const CLI::App& app) {
  if (a.markdown) {
    std::fputs(messages_as_markdown().c_str(), stdout);
    return 0;
  }
  if (a.id.empty()) return list_messages(a.json);
  std::string id = a.id;  // as printed, with its brackets
  if (id.size() > 2 && id.front() == '[' && id.back() == ']') id = id.substr(1, id.size() - 2);
  if (const MessageInfo* m = find_message(id)) {
    if (a.json) {
      print_json(message_json(*m));
    } else {
      std::printf("%s  (%s)\n%s\n  what to do:\n%s", id.c_str(), std::string(m->group).c_str(),
                  wrapped(std::string(m->text), 2).c_str(), wrapped(std::string(m->remedy), 4).c_str());
    }
    return 0;
  }
  for (const CLI::App* verb : app.get_subcommands({})) {
    if (verb->get_name() != id) continue;
    std::fputs(verb->help().c_str(), stdout);
    return 0;
  }
  std::vector<std::string> ids;
  for (const MessageInfo& m : message_registry()) ids.emplace_back(m.id);
  const std::string near = nearest_name(id, ids);
  throw Failure({Severity::error,
                 "unknown-message",
                 "there is no message '" + id + "'",
                 near.empty() ? "`trammel help` lists them" : "did you mean '" + near + "'?",
                 {}},
                ExitCode::bad_usage);
}

}  // namespace

Verb add_help(CLI::App& app) {
  auto a = std::make_shared<HelpArguments>();
  CLI::App* verb = app.add_subcommand("help", "Explain a message by its identifier");
  verb->add_option("ID", a->id, "Identifier as printed behind a message, or the name of a verb; none: list all");
  verb->add_flag("--json", a->json, "Print as JSON");
  verb->add_flag("--markdown", a->markdown, "Print all as the page of the guide");
  verb->footer(
      "Examples:\n"
      "  trammel help                      all messages\n"
      "  trammel help step-at-round-off    what it means, and what to do\n"
      "  trammel help run                  the same as `trammel run --help`");
  return {verb, [a, &app] { return help_verb(*a, app); }};
}

}  // namespace trammel
