#include "trammel/model/fields.h"

namespace trammel {

const char* si_unit(Quantity quantity) {
  switch (quantity) {
    case Quantity::none: return "";
    case Quantity::length: return "m";
    case Quantity::mass: return "kg";
    case Quantity::time: return "s";
    case Quantity::angle: return "rad";
    case Quantity::force: return "N";
    case Quantity::torque: return "N m";
    case Quantity::speed: return "m/s";
    case Quantity::acceleration: return "m/s^2";
    case Quantity::angular_speed: return "rad/s";
    case Quantity::angular_acceleration: return "rad/s^2";
    case Quantity::inertia: return "kg m^2";
    case Quantity::stiffness: return "N/m";
    case Quantity::damping: return "N s/m";
    case Quantity::angular_stiffness: return "N m/rad";
    case Quantity::angular_damping: return "N m s/rad";
    case Quantity::energy: return "J";
    case Quantity::power: return "W";
    case Quantity::frequency: return "Hz";
    case Quantity::area: return "m^2";
    case Quantity::second_moment: return "m^4";
    case Quantity::pressure: return "Pa";
    case Quantity::density: return "kg/m^3";
    case Quantity::flexural_rigidity: return "N m^2";
    case Quantity::mass_per_length: return "kg/m";
    case Quantity::curvature: return "1/m";
  }
  return "";
}

std::vector<std::string_view> names_in(const ExpressionText& expression) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
  };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::vector<std::string_view> names;
  const std::string_view text = expression.text;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = at;
    if (letter(text[at])) {
      while (at < text.size() && (letter(text[at]) || digit(text[at]))) ++at;
      names.push_back(text.substr(start, at - start));
      // With '-', and with '.' as in the names of subsystems: 'left.spring'.
      std::size_t end = at;
      while (end < text.size() && (letter(text[end]) || digit(text[end]) || text[end] == '-' || text[end] == '.'))
        ++end;
      if (end > at) names.push_back(text.substr(start, end - start));
    } else if (digit(text[at])) {
      // The e of 1e5 is no name.
      while (at < text.size() && (letter(text[at]) || digit(text[at]) || text[at] == '.')) ++at;
    } else {
      ++at;
    }
  }
  return names;
}

void Fields::set(std::string name, Value value) {
  for (auto& entry : values_) {
    if (entry.first == name) {
      entry.second = std::move(value);
      return;
    }
  }
  values_.emplace_back(std::move(name), std::move(value));
}

const Value* Fields::find(std::string_view name) const {
  for (const auto& entry : values_) {
    if (entry.first == name) return &entry.second;
  }
  return nullptr;
}

void Fields::fail_missing(std::string_view name) {
  throw Failure({Severity::error,
                 "missing-field",
                 "field '" + std::string(name) + "' is missing or of another kind",
                 "see `trammel elements` for the fields of each element",
                 {}});
}

}  // namespace trammel
