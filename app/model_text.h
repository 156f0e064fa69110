// Model files that programs write: lines, and numbers to a nanometre and less, so that a file is the same with every
// compiler.
#pragma once
#include <fmt/format.h>

#include <Eigen/Core>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>

namespace trammel {

class ModelText {
 public:
  template <class... Values>
  void line(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
    text_ += '\n';
  }
  const std::string& text() const { return text_; }

  static std::string number(double x) { return fmt::format("{:.9g}", std::abs(x) < 1e-12 ? 0.0 : x); }
  static std::string point(const Eigen::Vector2d& p) { return "[" + number(p.x()) + ", " + number(p.y()) + ", 0]"; }

 private:
  std::string text_;
};

}  // namespace trammel
