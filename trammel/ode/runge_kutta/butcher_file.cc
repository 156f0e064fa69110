// Tableaus from files.
#include <cmath>
#include <cstdlib>

#include "trammel/base/document.h"
#include "trammel/base/input_file.h"
#include "trammel/ode/runge_kutta/butcher.h"

namespace trammel {
namespace {

class TableauReader {
 public:
  TableauReader(std::string_view text, std::string_view file) : document_(text, file, problems_) {}

  ButcherTableau read() {
    const Node& root = document_.root();
    if (!root.is_mapping()) {
      say(root, "wrong-type", "a tableau is a mapping with the keys A and b",
          "for example {A: [[], [1]], b: [1/2, 1/2]}");
      problems_.fail_if_any();
    }
    ButcherTableau t;
    const std::vector<std::string> keys{"key", "title", "source", "A", "b", "c", "b_hat", "dense"};
    for (std::size_t i = 0; i < root.count; ++i) {
      const std::string key(root.key(i).text);
      const Node& value = root.value(i);
      if (key == "key" || key == "title" || key == "source") {
        (key == "key" ? t.key : key == "title" ? t.title : t.source) = value.text;
      } else if (key == "A") {
        t.A = matrix(value, true);
      } else if (key == "b") {
        t.b = row(value);
      } else if (key == "c") {
        t.c = row(value);
      } else if (key == "b_hat") {
        t.b_hat = row(value);
      } else if (key == "dense") {
        t.dense = matrix(value, false);
      } else {
        const std::string near = nearest_name(key, keys);
        say(root.key(i), "unknown-key", "a tableau has no key '" + key + "'",
            near.empty() ? "keys: key, title, source, A, b, c, b_hat, dense" : "did you mean '" + near + "'?");
      }
    }
    for (const char* key : {"A", "b"}) {
      if (root.find(key) == nullptr) say(root, "missing-key", std::string("the tableau has no ") + key, "");
    }
    problems_.fail_if_any();
    t.complete(*document_.file());
    return t;
  }

 private:
  void say(const Node& node, const char* id, const std::string& message, const std::string& hint) {
    problems_.add({Severity::error, id, message, hint, document_.where(node)});
  }

  double plain(const std::string& text, const Node& node) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0' || !std::isfinite(value)) {
      say(node, "wrong-type", "'" + std::string(node.text) + "' is not a number", "write 0.25 or 1/4");
      return 0;
    }
    return value;
  }

  double number(const Node& node) {
    if (!node.is_scalar()) {
      say(node, "wrong-type", "a number is expected here", "write 0.25 or 1/4");
      return 0;
    }
    const std::string text(node.text);
    const std::size_t slash = text.find('/');
    if (slash == std::string::npos) return plain(text, node);
    const double below = plain(text.substr(slash + 1), node);
    if (below == 0) {
      say(node, "wrong-type", "'" + text + "' is not a number", "");
      return 0;
    }
    return plain(text.substr(0, slash), node) / below;
  }

  Vec row(const Node& node) {
    if (!node.is_sequence()) {
      say(node, "wrong-type", "a list of numbers is expected here", "");
      return {};
    }
    Vec out(static_cast<Eigen::Index>(node.count));
    for (std::size_t i = 0; i < node.count; ++i) out[static_cast<Eigen::Index>(i)] = number(node.item(i));
    return out;
  }

  // Rows may be shorter than the longest; a square matrix is as wide as it is high.
  Mat matrix(const Node& node, bool square) {
    if (!node.is_sequence()) {
      say(node, "wrong-type", "a list of rows is expected here", "");
      return {};
    }
    std::vector<Vec> rows;
    Eigen::Index width = square ? static_cast<Eigen::Index>(node.count) : 0;
    for (std::size_t i = 0; i < node.count; ++i) {
      rows.push_back(row(node.item(i)));
      if (square && rows.back().size() > width)
        say(node.item(i), "wrong-type", "this row of A is longer than A has rows", "A is square");
      if (!square) width = std::max(width, rows.back().size());
    }
    Mat out = Mat::Zero(static_cast<Eigen::Index>(rows.size()), width);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Eigen::Index n = std::min(width, rows[i].size());
      out.row(static_cast<Eigen::Index>(i)).head(n) = rows[i].head(n);
    }
    return out;
  }

  ProblemList problems_;
  Document document_;
};

}  // namespace

ButcherTableau read_tableau_text(std::string_view text, std::string_view file_name) {
  return TableauReader(text, file_name).read();
}

ButcherTableau read_tableau(const std::string& path) {
  const std::string text = read_whole_file(path);
  note_input(path);
  return read_tableau_text(text, path);
}

}  // namespace trammel
