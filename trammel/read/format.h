// The layout of model files: sections in the order of the grammar, two blanks for each level, one blank after a colon
// and a comma, numbers in their shortest decimal spelling, no blanks at the ends of lines. Comments, line breaks and
// the choice between { } and indented lines stay the writer's. The text means the same afterwards; this is checked.
#pragma once
#include <string>
#include <string_view>

namespace trammel {

// Throws a Failure if the text is not YAML, or if it cannot be laid out without changing its meaning.
std::string format_model_text(std::string_view text, const std::string& name);

// A decimal number, "+01.50E-03" -> "1.5e-3"; other texts come back as they are.
std::string shortest_spelling(std::string_view number);

}  // namespace trammel
