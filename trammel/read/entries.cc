#include "trammel/read/entries.h"

#include <algorithm>
#include <stdexcept>

#include "trammel/base/literal.h"

namespace trammel {

const char* kind_of(const Node& node) {
  if (node.is_null()) return "empty";
  switch (node.kind) {
    case Node::Kind::scalar: return "a single value";
    case Node::Kind::sequence: return "a list";
    case Node::Kind::mapping: return "a mapping { }";
  }
  return "";
}

std::string Place::text() const {
  std::string result(kind);
  if (!name.empty()) {
    if (!result.empty()) result += ' ';
    result += quote(name);
  }
  if (!field.empty()) result += (result.empty() ? "" : ": ") + std::string(field);
  return result;
}

Entries::Entries(const Document& document, ProblemList& problems, const Node& node, const Place& place, Rule rule)
    : document_(document), problems_(problems), place_(place), rule_(rule) {
  if (node.is_mapping()) {
    node_ = &node;
  } else {
    error(node, "wrong-type", place.text() + " must be a mapping of keys to values, but is " + kind_of(node),
          "write {key: value, ...}, or indented lines of key: value");
  }
}

void Entries::error(const Node& node, const char* id, std::string message, std::string hint) {
  problems_.add({Severity::error, id, std::move(message), std::move(hint), document_.where(node)});
}

const Node* Entries::find(std::string_view key) {
  if (rule_ != Rule::none && find_key(rule_, key) == nullptr) {
    throw std::logic_error("the grammar of '" + std::string(name_of(rule_)) + "' has no key " + quote(key));
  }
  if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) asked_.push_back(key);
  return node_ == nullptr ? nullptr : node_->find(key);
}

const Node* Entries::need(std::string_view key) {
  const Node* found = find(key);
  if (found == nullptr && node_ != nullptr) missing_.push_back(key);
  return found;
}

void Entries::finish() {
  if (node_ == nullptr) return;
  for (std::size_t i = 0; i < node_->count; ++i) {
    const Node& key = node_->key(i);
    if (!key.is_scalar() || (key.text == "<<" && !key.quoted)) continue;  // reported with the document
    if (std::find(asked_.begin(), asked_.end(), key.text) != asked_.end()) continue;
    std::string near;
    if (key.text.size() < 200) near = nearest_name(key.text, {asked_.begin(), asked_.end()});
    std::string hint = near.empty() ? "allowed here: " + list_of(asked_) : "did you mean " + quote(near) + "?";
    if (node_->value(i).is_null() && key.text.find(')') != std::string_view::npos) {
      hint = "put quotes around an expression with commas: \"dx(tip, ground)\"";
    }
    missing_.erase(std::remove(missing_.begin(), missing_.end(), near), missing_.end());  // misspelt, not missing
    error(key, "unknown-key", place_.text() + ": the key " + quote(key.text) + " is not known here", hint);
  }
  if (node_->find("<<") != nullptr) return;  // reported with the document; what it would have given is not missing
  for (const std::string_view key : missing_) {
    error(*node_, "missing-key", place_.text() + ": " + quote(key) + " is missing", "keys: " + list_of(asked_));
  }
}

}  // namespace trammel
