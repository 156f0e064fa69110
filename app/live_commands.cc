#include "app/live_commands.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "app/view_format.h"

namespace trammel {
namespace {

constexpr double largest_number = 1e12;  // of an input or a place: more is a slip of the pen
constexpr double least_speed = 1e-3, greatest_speed = 1e3;
constexpr std::size_t longest_value = 100;  // of a parameter

struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

double number_in(const Json& json, double least, double greatest, const char* what) {
  const double x = json.is_number() ? json.get<double>() : std::nan("");
  if (!(x >= least && x <= greatest)) throw Refused(std::string(what) + " is not a number in its range");
  return x;
}

std::size_t place_of(const Json& name, const std::vector<std::string>& known, const char* what) {
  const auto at = std::find(known.begin(), known.end(), name.is_string() ? name.get<std::string>() : std::string());
  if (at == known.end()) throw Refused(std::string("the model has no such ") + what);
  return static_cast<std::size_t>(at - known.begin());
}

// Exactly these keys.
const Json& object_with(const Json& json, std::initializer_list<const char*> keys) {
  if (!json.is_object() || json.size() != keys.size()) throw Refused("not in the form of a command");
  for (const char* key : keys)
    if (!json.contains(key)) throw Refused("not in the form of a command");
  return json;
}

Vec3 place_in(const Json& json) {
  if (!json.is_array() || json.size() != 3) throw Refused("a place has three numbers");
  Vec3 p;
  for (Eigen::Index i = 0; i < 3; ++i)
    p[i] = number_in(json[static_cast<std::size_t>(i)], -largest_number, largest_number, "a place");
  return p;
}

// One line without control characters: it goes the way of --set.
std::string value_of_parameter(const Json& json) {
  const std::string text = json.is_string() ? json.get<std::string>() : "";
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
  if (text.empty() || text.size() > longest_value || !plain) throw Refused("the value of a parameter is a short text");
  return text;
}

LiveCommand command_of(const std::string& key, const Json& value, const LiveNames& names) {
  if (key == "pause" && value.is_boolean()) return PauseRun{value.get<bool>()};
  if (key == "step" && value == true) return StepRun{};
  if (key == "speed") return PaceRun{value.is_null() ? 0 : number_in(value, least_speed, greatest_speed, "the speed")};
  if (key == "set") {
    object_with(value, {"name", "value"});
    return SetInput{place_of(value["name"], names.inputs, "input"),
                    number_in(value["value"], -largest_number, largest_number, "the value")};
  }
  if (key == "push" && value.is_null()) return ReleaseBody{};
  if (key == "push") {
    object_with(value, {"body", "point", "target"});
    return PushBody{place_of(value["body"], names.bodies, "body"), place_in(value["point"]), place_in(value["target"])};
  }
  if (key == "restart" && value.is_object()) {
    RestartRun restart;
    for (const auto& [name, text] : value.items()) {
      (void)place_of(name, names.parameters, "parameter");
      restart.set.push_back(name + "=" + value_of_parameter(text));
    }
    return restart;
  }
  throw Refused("not a command");
}

}  // namespace

std::optional<LiveCommand> parse_command(std::string_view text, const LiveNames& names, std::string& why) try {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || json.size() != 1) throw Refused("not in the form of a command");
  return command_of(json.begin().key(), json.begin().value(), names);
} catch (const Refused& refused) {
  why = refused.what();
  return {};
}

}  // namespace trammel
