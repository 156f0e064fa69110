#include "trammel/base/numbers.h"

#include <array>
#include <charconv>

namespace trammel {

std::string shortest(double value) {
  std::array<char, 32> buffer;
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr};
}

std::string digits(double value, int count) {
  std::array<char, 64> buffer;
  return {buffer.data(),
          std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::general, count).ptr};
}

}  // namespace trammel
