// What a page may ask of a run that it watches. Messages are JSON of one of these forms; everything else is refused:
//
//   {"pause": true}  {"pause": false}  {"step": true}     hold the run, let it go on, one recorded row
//   {"speed": 0.5}   {"speed": null}                      times the clock, or as fast as it can
//   {"set": {"name": "throttle", "value": 3}}             an input of the model
//   {"push": {"body": "crank", "point": [x, y, z], "target": [x, y, z]}}   a point in the axes of a body is drawn to a
//   {"push": null}                                        place in the world; it ends when nothing comes for 0.2 s
//   {"restart": {"L": "0.5", "k": "20 N/mm"}}             from the start, with other values of parameters
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "trammel/base/types.h"

namespace trammel {

struct PauseRun {
  bool held = true;
};
struct StepRun {};
struct PaceRun {
  double speed = 0;  // times the clock; 0: as fast as it can
};
struct SetInput {
  std::size_t input = 0;
  double value = 0;
};
struct PushBody {
  std::size_t body = 0;
  Vec3 point = Vec3::Zero(), target = Vec3::Zero();
};
struct ReleaseBody {};
struct RestartRun {
  std::vector<std::string> set;  // "NAME=VALUE"
};
using LiveCommand = std::variant<PauseRun, StepRun, PaceRun, SetInput, PushBody, ReleaseBody, RestartRun>;

// What commands may name; indices in a command count these.
struct LiveNames {
  std::vector<std::string> inputs, bodies, parameters;
};

// Nothing, and the reason in `why`, for what is no command.
std::optional<LiveCommand> parse_command(std::string_view text, const LiveNames& names, std::string& why);

}  // namespace trammel
