// A mapping of a model file whose keys are known.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "trammel/base/document.h"
#include "trammel/read/grammar.h"

namespace trammel {

// What a value belongs to: "body 'crank': mass". Cheap to pass; the text is only made for a message.
struct Place {
  std::string_view kind, name, field;
  Place at(std::string_view field_name) const { return {kind, name, field_name}; }
  std::string text() const;
};

// Ask for every key it may have, then finish(): keys nobody asked for are problems, and so are needed ones that are
// absent.
class Entries {
 public:
  // With a rule, only keys of that rule may be asked for.
  Entries(const Document& document, ProblemList& problems, const Node& node, const Place& place,
          Rule rule = Rule::none);
  bool good() const { return node_ != nullptr; }  // it is a mapping; if not, that has been reported
  const Node* find(std::string_view key);
  const Node* need(std::string_view key);
  void finish();

 private:
  void error(const Node& node, const char* id, std::string message, std::string hint);

  const Document& document_;
  ProblemList& problems_;
  const Node* node_ = nullptr;
  Place place_;
  Rule rule_;
  std::vector<std::string_view> asked_, missing_;
};

// "a list", "a single value": for messages.
const char* kind_of(const Node& node);

}  // namespace trammel
