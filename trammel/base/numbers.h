// Numbers as text: the one place that says how they look.
#pragma once
#include <string>

namespace trammel {

// The fewest digits that read back to the same number: for files and for what users have written themselves.
std::string shortest(double value);
// At most so many digits, as "%.6g" does: for values in messages.
std::string digits(double value, int count = 6);

}  // namespace trammel
