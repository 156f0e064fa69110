// Pieces of text in model files: numbers at the start of a text, names, and how messages quote them.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "trammel/base/numbers.h"

namespace trammel {

std::string_view trim(std::string_view text);

// A number at the start of a text and what follows it.
struct Literal {
  bool is_number = false, out_of_range = false;
  double value = 0;
  std::string_view rest;  // without blanks before it

  // The rest of "30 deg" is a unit, that of "2*L" is not.
  bool has_unit() const;
};
Literal read_literal(std::string_view text);

// The words that YAML and C take for infinity or not-a-number.
bool is_not_finite_word(std::string_view text);

// Whether a thing can have this name: a letter or _, then letters, digits, _ and -.
bool is_good_name(std::string_view name);
// Whether a parameter can: the same in ASCII without -, as it stands between operators.
bool is_plain_name(std::string_view name);

// The text in quotes, made short and free of control characters: for messages.
std::string quote(std::string_view text);
// "a, b, c"
std::string list_of(const std::vector<std::string_view>& names);
// "did you mean 'x'?", or empty.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace trammel
