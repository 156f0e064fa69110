// The only list of what the program may say: every identifier of a Problem, of a failed run and of its likely causes,
// with its explanation and what to do. `trammel help ID` and docs/guide/messages.md are made from it.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace trammel {

struct MessageInfo {
  std::string_view id;      // stable, kebab-case
  std::string_view group;   // where it comes from: "model file", "run", ...
  std::string_view text;    // what it means, one or two sentences
  std::string_view remedy;  // what to do
};

// In groups, alphabetical inside a group.
const std::vector<MessageInfo>& message_registry();
const MessageInfo* find_message(std::string_view id);
// The page of the guide.
std::string messages_as_markdown();

}  // namespace trammel
