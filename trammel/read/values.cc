#include "trammel/read/values.h"

#include <algorithm>
#include <cmath>

#include "trammel/base/literal.h"
#include "trammel/math/rotation.h"

namespace trammel {
namespace {

// A rotation about one axis of the moving frame.
std::optional<Quat> turn_about(char axis, double angle) {
  switch (axis) {
    case 'x': return Quat(Eigen::AngleAxisd(angle, Vec3::UnitX()));
    case 'y': return Quat(Eigen::AngleAxisd(angle, Vec3::UnitY()));
    case 'z': return Quat(Eigen::AngleAxisd(angle, Vec3::UnitZ()));
    default: return std::nullopt;
  }
}

// Digits are rounded in files: unit length, right angles and symmetry hold to this, and are then made exact.
constexpr double rounding = 1e-3;

}  // namespace

Location Values::text_start(const Node& node) const {
  Location start = where(node);
  if (node.quoted) ++start.column;
  return start;
}

// ---- Numbers -------------------------------------------------------------------------------------------------------

std::optional<double> Values::scalar(std::string_view text, const Node& node, const Place& place, Quantity quantity,
                                     const Scaled& scaled) {
  text = trim(text);
  double factor_used = scaled.factor, value = 0;
  const Literal literal = read_literal(text);
  if (literal.is_number && (literal.rest.empty() || literal.has_unit())) {
    if (literal.has_unit()) {
      const std::optional<double> own = unit_factor(literal.rest, node, place, quantity);
      if (!own) return std::nullopt;
      factor_used = *own;
    }
    value = literal.value * factor_used;
    if (literal.out_of_range || !std::isfinite(value)) {
      error(node, "not-finite", place.text() + " is " + quote(text) + ", beyond the range of numbers",
            "give a number of ordinary size");
      return std::nullopt;
    }
    return value;
  }
  if (text.empty() || node.is_null()) {
    error(node, "no-value", place.text() + " has no value", "give a number or an expression of parameters");
    return std::nullopt;
  }
  if (is_not_finite_word(text)) {
    error(node, "not-finite", place.text() + " is " + quote(text) + ", not a finite number",
          "give a number of ordinary size");
    return std::nullopt;
  }
  const std::optional<Evaluated> result = evaluate(text, text_start(node), place, false);
  if (!result) return std::nullopt;
  if (scaled.stated && result->any_has_unit) {
    error(node, "wrong-unit", place.text() + " states a unit, but its expression uses parameters that have one",
          "leave the unit out: such an expression is in the file's units");
    return std::nullopt;
  }
  return to_si(*result, node, place, quantity, factor_used, scaled.stated);
}

std::optional<double> Values::number(const Node& node, const Place& place, Quantity quantity) {
  const std::optional<Scaled> scaled = unwrap(node, place, quantity);
  if (!scaled) return std::nullopt;
  if (!scaled->node->is_scalar()) {
    wrong_type(*scaled->node, place, "a number", "write one number: 2.5, 30 deg or L/2");
    return std::nullopt;
  }
  return scalar(scaled->node->text, *scaled->node, place, quantity, *scaled);
}

bool Values::list(const Node& node, const Place& place, Quantity quantity, std::vector<double>& out,
                  const char* wanted) {
  std::optional<Scaled> scaled = unwrap(node, place, quantity);
  if (!scaled) return false;
  const Node& inner = *scaled->node;
  bool good = true;
  const auto take = [&](const std::optional<double>& value) {
    good = good && value.has_value();
    if (value) out.push_back(*value);
  };
  if (inner.is_sequence()) {
    out.reserve(inner.count);
    for (std::size_t i = 0; i < inner.count; ++i) {
      const Node& item = inner.item(i);
      if (item.is_scalar()) {
        take(scalar(item.text, item, place, quantity, *scaled));
      } else if (item.is_mapping()) {
        take(number(item, place, quantity));
      } else {
        wrong_type(item, place, "a list of single numbers", std::string("expected ") + wanted);
        return false;
      }
    }
    return good;
  }
  const std::string_view text = trim(inner.text);
  const std::size_t close = text.rfind(']');
  if (!inner.is_scalar() || text.empty() || text[0] != '[' || close == std::string_view::npos) {
    wrong_type(inner, place, wanted, "write a list in brackets: [1, 2, 3]");
    return false;
  }
  const std::string_view unit_text = trim(text.substr(close + 1));
  if (!unit_text.empty()) {
    const std::optional<double> found = unit_factor(unit_text, inner, place, quantity);
    if (!found) return false;
    scaled->factor = *found;
    scaled->stated = true;
  }
  std::string_view rest = text.substr(1, close - 1);
  for (bool more = true; more;) {
    // A comma inside parentheses belongs to an expression.
    std::size_t end = 0;
    for (int depth = 0; end < rest.size() && (depth > 0 || rest[end] != ','); ++end) {
      depth += rest[end] == '(' ? 1 : rest[end] == ')' ? -1 : 0;
    }
    more = end < rest.size();
    take(scalar(rest.substr(0, end), inner, place, quantity, *scaled));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return good;
}

std::optional<std::vector<double>> Values::numbers(const Node& node, const Place& place, Quantity quantity) {
  std::vector<double> out;
  if (!list(node, place, quantity, out, "a list of numbers")) return std::nullopt;
  return out;
}

std::optional<Vec3> Values::vector(const Node& node, const Place& place, Quantity quantity, bool planar) {
  const char* const wanted = planar ? "a list of two or three numbers" : "a list of three numbers";
  std::vector<double> out;
  if (!list(node, place, quantity, out, wanted)) return std::nullopt;
  if (planar && out.size() == 2) out.push_back(0);
  if (out.size() != 3) {
    error(node, "wrong-length", place.text() + " must be " + wanted + ", but has " + std::to_string(out.size()),
          planar ? "write [x, y] or [x, y, z]" : "write [x, y, z]");
    return std::nullopt;
  }
  return Vec3(out[0], out[1], out[2]);
}

// The items of a square matrix by rows, each multiplied by the factor of the quantity.
bool Values::rows(const Node& node, const Place& place, int size, std::vector<double>& out, Quantity quantity) {
  const std::string wanted = std::to_string(size) + " rows of " + std::to_string(size) + " numbers";
  const auto n = static_cast<std::size_t>(size);
  const std::optional<Scaled> scaled = unwrap(node, place, quantity);
  if (!scaled) return false;
  const Node& inner = *scaled->node;
  if (!inner.is_sequence() || inner.count != n) {
    wrong_type(inner, place, wanted.c_str(), "write [[...], [...], ...]");
    return false;
  }
  bool good = true;
  for (std::size_t i = 0; i < n; ++i) {
    const Node& row = inner.item(i);
    if (!row.is_sequence() || row.count != n) {
      wrong_type(row, place, wanted.c_str(), "each row is a list of " + std::to_string(size) + " numbers");
      return false;
    }
    for (std::size_t j = 0; j < n; ++j) {
      const Node& item = row.item(j);
      if (!item.is_scalar()) {
        wrong_type(item, place, wanted.c_str());
        return false;
      }
      const std::optional<double> value = scalar(item.text, item, place, quantity, *scaled);
      good = good && value.has_value();
      out.push_back(value.value_or(0));
    }
  }
  return good;
}

std::optional<Mat3> Values::inertia(const Node& node, const Place& place) {
  const Node* inner = &node;
  if (node.is_mapping() && node.find("value") != nullptr) inner = node.find("value");
  std::vector<double> n;
  if (inner->is_sequence() && inner->count > 0 && inner->item(0).is_sequence()) {
    if (!rows(node, place, 3, n, Quantity::inertia)) return std::nullopt;
    return Mat3(Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(n.data()));
  }
  const char* const wanted = "[ixx, iyy, izz], [ixx, iyy, izz, ixy, ixz, iyz] or three rows";
  if (!list(node, place, Quantity::inertia, n, wanted)) return std::nullopt;
  if (n.size() != 3 && n.size() != 6) {
    error(node, "wrong-length",
          place.text() + " must be " + wanted + ", but has " + std::to_string(n.size()) + " numbers",
          "three if the body's axes are principal ones, six with the products of inertia");
    return std::nullopt;
  }
  n.resize(6, 0.0);
  Mat3 matrix;
  matrix << n[0], n[3], n[4], n[3], n[1], n[5], n[4], n[5], n[2];
  return matrix;
}

// Forces and torques by rows against displacements and rotations (or their rates) by columns: four units in one matrix.
std::optional<Mat6> Values::matrix6(const Node& node, const Place& place, Quantity quantity) {
  if (node.is_mapping()) {
    error(node, "wrong-type", place.text() + " mixes several units, so no single one can be stated",
          "give the numbers in the file's units");
    return std::nullopt;
  }
  std::vector<double> n;
  Mat6 matrix = Mat6::Zero();
  if (node.is_sequence() && node.count == 6 && node.item(0).is_scalar()) {
    if (!list(node, place, Quantity::none, n, "six numbers or six rows of six")) return std::nullopt;
    for (int i = 0; i < 6; ++i) matrix(i, i) = n[i];
  } else {
    if (!rows(node, place, 6, n, Quantity::none)) return std::nullopt;
    matrix = Eigen::Map<const Eigen::Matrix<double, 6, 6, Eigen::RowMajor>>(n.data());
  }
  if (quantity == Quantity::none) return matrix;
  const double rate =
      quantity == Quantity::damping || quantity == Quantity::angular_damping ? factor(Quantity::time) : 1;
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) {
      const double row = i < 3 ? factor(Quantity::force) : factor(Quantity::torque);
      const double column = j < 3 ? factor(Quantity::length) : factor(Quantity::angle);
      matrix(i, j) *= row / column * rate;
    }
  }
  return matrix;
}

std::optional<std::vector<double>> Values::matrix(const Node& node, const Place& place, Quantity quantity) {
  const std::size_t size = node.is_sequence() ? node.count : 0;
  if (size == 0 || size % 6 != 0 || size > 48) {
    wrong_type(node, place, "6 rows for each frame, or a diagonal",
               "write [[...], [...], ...] with as many numbers in a row as rows; the numbers are in the file's units");
    return std::nullopt;
  }
  std::vector<double> n;
  if (node.item(0).is_scalar()) {
    std::vector<double> diagonal;
    if (!list(node, place, Quantity::none, diagonal, "a diagonal or rows of numbers")) return std::nullopt;
    n.assign(size * size, 0.0);
    for (std::size_t i = 0; i < size; ++i) n[i * size + i] = diagonal[i];
  } else if (!rows(node, place, static_cast<int>(size), n, Quantity::none)) {
    return std::nullopt;
  }
  const double rate = quantity == Quantity::damping ? factor(Quantity::time) : 1;
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      const double row = i % 6 < 3 ? factor(Quantity::force) : factor(Quantity::torque);
      const double column = j % 6 < 3 ? factor(Quantity::length) : factor(Quantity::angle);
      n[i * size + j] *= row / column * rate;
    }
  }
  return n;
}

std::optional<std::vector<double>> Values::table(const Node& node, const Place& place) {
  const bool nested = node.is_sequence() && node.count > 0 && node.item(0).is_sequence();
  std::vector<double> all;
  for (std::size_t i = 0; i < (nested ? node.count : 1); ++i) {
    std::vector<double> row;
    if (!list(nested ? node.item(i) : node, place, Quantity::none, row, "rows of numbers")) return std::nullopt;
    if (i > 0 && row.size() != all.size() / i) {
      error(node.item(i), "wrong-length",
            place.text() + ": this row has " + std::to_string(row.size()) + " numbers, those above it " +
                std::to_string(all.size() / i),
            "give all rows the same length");
      return std::nullopt;
    }
    all.insert(all.end(), row.begin(), row.end());
  }
  return all;
}

std::optional<double> Values::number_in(const Node& node, const Place& place,
                                        const std::optional<double>& unit_factor) {
  if (!node.is_scalar()) {
    wrong_type(node, place, "a number");
    return std::nullopt;
  }
  return scalar(node.text, node, place, Quantity::none, {&node, unit_factor.value_or(1), unit_factor.has_value()});
}

std::optional<double> Values::any_unit(const Node& node, const Place& place) {
  const std::optional<std::string> name = text(node, place);
  if (!name) return std::nullopt;
  const std::optional<Unit> found = unit(*name, node, place);
  if (!found) return std::nullopt;
  return found->factor;
}

// ---- Other kinds ---------------------------------------------------------------------------------------------------

std::optional<bool> Values::condition(const Node& node, const Place& place) {
  if (node.is_scalar() && !node.quoted && (node.text == "true" || node.text == "false")) return node.text == "true";
  const std::optional<double> value = number(node, place, Quantity::none);
  if (!value) return std::nullopt;
  return *value != 0;
}

std::optional<long> Values::whole_number(const Node& node, const Place& place) {
  const std::optional<double> value = number(node, place, Quantity::none);
  if (!value) return std::nullopt;
  if (*value != std::round(*value) || std::abs(*value) > 1e9) {
    error(node, "not-whole", place.text() + " is " + shortest(*value) + ", but must be a whole number",
          "use floor(), ceil() or round()");
    return std::nullopt;
  }
  return static_cast<long>(*value);
}

std::optional<bool> Values::boolean(const Node& node, const Place& place) {
  if (node.is_scalar() && !node.quoted) {
    if (node.text == "true") return true;
    if (node.text == "false") return false;
  }
  error(node, "wrong-type", place.text() + " must be true or false",
        node.is_scalar() && (node.text == "yes" || node.text == "no" || node.text == "on" || node.text == "off")
            ? "yes, no, on and off are not understood"
            : "write true or false");
  return std::nullopt;
}

std::optional<std::string> Values::text(const Node& node, const Place& place) {
  if (!node.is_scalar() || node.is_null()) {
    wrong_type(node, place, "a text");
    return std::nullopt;
  }
  return std::string(node.text);
}

std::optional<Vec3> Values::direction(const Node& node, const Place& place) {
  const std::optional<Vec3> v = vector(node, place, Quantity::none);
  if (!v) return std::nullopt;
  const double length = v->stableNorm();
  if (!(length > 1e-150)) {
    error(node, "zero-axis", place.text() + " is a zero vector, so it has no direction",
          "give a direction such as [0, 0, 1]");
    return std::nullopt;
  }
  return *v / length;
}

std::optional<Quat> Values::by_quaternion(const Node& node, const Place& place) {
  std::vector<double> q;
  if (!list(node, place.at("quaternion"), Quantity::none, q, "[w, x, y, z]")) return std::nullopt;
  if (q.size() != 4) {
    error(node, "wrong-length", place.text() + ": the quaternion must be [w, x, y, z]");
    return std::nullopt;
  }
  const Quat result(q[0], q[1], q[2], q[3]);
  if (!(std::abs(result.norm() - 1) < rounding)) {
    error(node, "quaternion-norm", place.text() + ": the quaternion has length " + shortest(result.norm()) + ", not 1",
          "the order is [w, x, y, z], w first");
    return std::nullopt;
  }
  return result.normalized();
}

std::optional<Quat> Values::by_axis(const Node& axis, const Node& angle, const Place& place) {
  const std::optional<Vec3> direction_of = direction(axis, place.at("axis"));
  const std::optional<double> turn = number(angle, place.at("angle"), Quantity::angle);
  if (!direction_of || !turn) return std::nullopt;
  return Quat(Eigen::AngleAxisd(*turn, *direction_of));
}

std::optional<Quat> Values::by_two_axes(const Node& x_axis, const Node& z_axis, const Place& place) {
  const std::optional<Vec3> x = direction(x_axis, place.at("x_axis")), z = direction(z_axis, place.at("z_axis"));
  if (!x || !z) return std::nullopt;
  if (x->cross(*z).norm() < 1e-9) {
    error(x_axis, "parallel-axes", place.text() + ": x_axis is parallel to z_axis", "give two different directions");
    return std::nullopt;
  }
  return axes_with_z(*z, *x);
}

std::optional<Quat> Values::by_euler_angles(const Node& euler, const Node& sequence, const Place& place) {
  const std::optional<Vec3> angles = vector(euler, place.at("euler"), Quantity::angle);
  const std::optional<std::string> letters = text(sequence, place.at("sequence"));
  if (!angles || !letters) return std::nullopt;
  Quat result = Quat::Identity();
  bool good = letters->size() == 3 && (*letters)[0] != (*letters)[1] && (*letters)[1] != (*letters)[2];
  for (std::size_t i = 0; good && i < 3; ++i) {
    const std::optional<Quat> turn = turn_about((*letters)[i], (*angles)[static_cast<Eigen::Index>(i)]);
    good = turn.has_value();
    if (turn) result = result * *turn;
  }
  if (!good) {
    error(sequence, "wrong-orientation", place.text() + ": " + quote(*letters) + " is not a sequence of axes",
          "write three of x, y, z, neighbours different: zxz, xyz, zyx");
    return std::nullopt;
  }
  return result.normalized();
}

std::optional<Quat> Values::by_matrix(const Node& matrix, const Place& place) {
  std::vector<double> n;
  if (!rows(matrix, place.at("matrix"), 3, n, Quantity::none)) return std::nullopt;
  const Mat3 R = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(n.data());
  if (!((R.transpose() * R - Mat3::Identity()).cwiseAbs().maxCoeff() < rounding) || R.determinant() < 0) {
    error(matrix, "wrong-orientation", place.text() + ": the matrix is not a rotation",
          "its columns are the body's x, y and z axes: of length 1, perpendicular, right-handed");
    return std::nullopt;
  }
  return Quat(R).normalized();
}

std::optional<Quat> Values::orientation(const Node& node, const Place& place) {
  const char* const forms =
      "write {axis: [0, 0, 1], angle: 30 deg}, {x_axis: [..], z_axis: [..]}, {euler: [a, b, c], sequence: zxz}, "
      "{quaternion: [w, x, y, z]} or {matrix: [[..], [..], [..]]}";
  if (!node.is_mapping()) {
    wrong_type(node, place, "a mapping", forms);
    return std::nullopt;
  }
  Entries entries = mapping(node, place);
  const Node* quaternion = entries.find("quaternion");
  const Node* axis = entries.find("axis");
  const Node* angle = entries.find("angle");
  const Node* x_axis = entries.find("x_axis");
  const Node* z_axis = entries.find("z_axis");
  const Node* euler = entries.find("euler");
  const Node* sequence = entries.find("sequence");
  const Node* matrix = entries.find("matrix");
  const std::size_t before = problems_.all().size();
  entries.finish();
  const int given = (quaternion != nullptr) + (axis != nullptr || angle != nullptr) +
                    (x_axis != nullptr || z_axis != nullptr) + (euler != nullptr || sequence != nullptr) +
                    (matrix != nullptr);
  const bool pairs = (axis != nullptr) == (angle != nullptr) && (x_axis != nullptr) == (z_axis != nullptr) &&
                     (euler != nullptr) == (sequence != nullptr);
  if (given != 1 || !pairs) {
    if (problems_.all().size() == before) {
      error(node, "wrong-orientation", place.text() + " must be given in exactly one way", forms);
    }
    return std::nullopt;
  }
  if (quaternion != nullptr) return by_quaternion(*quaternion, place);
  if (axis != nullptr) return by_axis(*axis, *angle, place);
  if (x_axis != nullptr) return by_two_axes(*x_axis, *z_axis, place);
  if (euler != nullptr) return by_euler_angles(*euler, *sequence, place);
  return by_matrix(*matrix, place);
}

std::optional<ExpressionText> Values::expression(const Node& node, const Place& place, Quantity quantity) {
  const std::optional<Scaled> scaled = unwrap(node, place, quantity);
  if (!scaled) return std::nullopt;
  const Node& inner = *scaled->node;
  if (!inner.is_scalar()) {
    wrong_type(inner, place, "a number or an expression",
               "put quotes around an expression with commas or braces in it");
    return std::nullopt;
  }
  const std::string_view content = trim(inner.text);
  ExpressionText result{std::string(content), text_start(inner)};
  const Literal literal = read_literal(content);
  if (content.empty() || is_not_finite_word(content) ||
      (literal.is_number && (literal.rest.empty() || literal.has_unit()))) {
    const std::optional<double> value = scalar(content, inner, place, quantity, *scaled);
    if (!value) return std::nullopt;
    result.text = shortest(*value);
    return result;
  }
  if (!scaled->stated && scaled->factor != 1) {
    const std::string& file_unit = unit_names_[slot(quantity)];
    error(inner, "unit-needed",
          place.text() + " is an expression of the run, which works in SI, but the file's units are not SI",
          std::string("state the unit of its value: {value: \"...\", unit: ") +
              (file_unit.empty() ? "..." : file_unit) + "}");
    return std::nullopt;
  }
  bool rewrite = static_cast<bool>(qualify_);
  for (const std::string_view name : names_in(result)) {
    Known* const found = find_known(name, rewrite);
    if (found == nullptr) continue;
    Known& known = *found;
    known.used = true;
    rewrite = rewrite || known.is_array;
    if (!all_si_ && !known.has_unit && !known.pure && !known.is_text) {
      error(inner, "unit-needed",
            place.text() + " uses parameter " + quote(known.name) +
                ", whose unit is not stated, in an expression that works in SI",
            "state it: " + known.name + ": {value: ..., unit: ...}, with the unit 1 for a pure number");
    }
  }
  if (rewrite) result.text = with_values(result.text, inner, place);
  if (scaled->factor != 1) {
    result.text = "(" + result.text + ")*" + shortest(scaled->factor);
    --result.where.column;  // so that columns of problems inside are right
  }
  return result;
}

bool Values::within_limits(double value, const Node& node, const Place& place, const Field& description) {
  if (value >= description.least && value <= description.most) return true;
  const bool low = description.least > -1e300, high = description.most < 1e300;
  const std::string unit_text =
      *si_unit(description.quantity) == 0 ? "" : std::string(" ") + si_unit(description.quantity);
  std::string range = low && high ? "between " + shortest(description.least) + " and " + shortest(description.most)
                      : low       ? "at least " + shortest(description.least)
                                  : "at most " + shortest(description.most);
  error(node, "out-of-range",
        place.text() + " is " + shortest(value) + unit_text + ", but must be " + range + unit_text, description.text);
  return false;
}

std::optional<std::vector<std::string>> Values::names(const Node& node, const Place& place) {
  if (!node.is_sequence()) {
    wrong_type(node, place, "a list of names", "write [name, name]");
    return std::nullopt;
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < node.count; ++i) {
    auto value = text(node.item(i), place);
    if (!value) return std::nullopt;
    names.push_back(std::move(*value));
  }
  return names;
}

std::optional<std::vector<double>> Values::points(const Node& node, const Place& place, Quantity quantity) {
  if (!node.is_sequence()) {
    wrong_type(node, place, "a list of points", "write [[x, y, z], [x, y, z]]");
    return std::nullopt;
  }
  std::vector<double> all;
  for (std::size_t i = 0; i < node.count; ++i) {
    const auto value = vector(node.item(i), place, quantity);
    if (!value) return std::nullopt;
    all.insert(all.end(), value->begin(), value->end());
  }
  return all;
}

std::optional<Value> Values::field(const Node& node, const Place& place, const Field& description) {
  const Quantity quantity = description.quantity;
  const auto value_of = [](auto read) { return read ? std::optional<Value>(std::move(*read)) : std::nullopt; };
  const auto limited = [&](auto read) -> std::optional<Value> {
    const auto allowed = [&](double value) { return within_limits(value, node, place, description); };
    if (!read || !std::all_of(read->data(), read->data() + read->size(), allowed)) return std::nullopt;
    return Value(std::move(*read));
  };
  switch (description.kind) {
    case FieldKind::number: {
      const auto value = number(node, place, quantity);
      if (!value || !within_limits(*value, node, place, description)) return std::nullopt;
      return Value(*value);
    }
    case FieldKind::boolean: return value_of(boolean(node, place));
    case FieldKind::name:
    case FieldKind::text: return value_of(text(node, place));
    case FieldKind::vector3: return limited(vector(node, place, quantity));
    case FieldKind::matrix6: return limited(matrix6(node, place, quantity));
    case FieldKind::numbers: return limited(numbers(node, place, quantity));
    case FieldKind::expression: return value_of(expression(node, place, quantity));
    case FieldKind::names: return value_of(names(node, place));
    case FieldKind::table: return value_of(table(node, place));
    case FieldKind::points: return value_of(points(node, place, quantity));
    case FieldKind::matrix: return limited(matrix(node, place, quantity));
  }
  return std::nullopt;
}

std::optional<Value> Values::scalar_of_any_kind(const Node& node, const Place& place) {
  if (!node.is_scalar() || node.is_null()) {
    wrong_type(node, place, "a number, true, false or a text");
    return std::nullopt;
  }
  if (!node.quoted && (node.text == "true" || node.text == "false")) return Value(node.text == "true");
  const Literal literal = read_literal(node.text);
  if (!node.quoted && ((literal.is_number && literal.rest.empty()) || is_not_finite_word(node.text))) {
    const auto value = number(node, place, Quantity::none);
    if (!value) return std::nullopt;
    return Value(*value);
  }
  return Value(std::string(node.text));
}

}  // namespace trammel
