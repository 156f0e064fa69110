// trammel make: models too large to be written by hand. A bearing of another size, from models/ball_bearing.yaml with
// its parameters replaced and started where the load holds the balls; the track of an excavator (app/track.h); the belt
// of an engine (app/belt.h).
#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "app/ball_bearing.h"
#include "app/belt.h"
#include "app/common.h"
#include "app/track.h"
#include "app/verbs.h"
#include "trammel/base/data_directory.h"
#include "trammel/write/output_path.h"

namespace trammel {
namespace {

struct MakeArguments {
  std::string kind, name;
  int balls = 9;
  double ball = 9.525, pitch = 46, conformity = 0.52, clearance = 12, load = 1000, speed = 10000;
  bool small = false;
};

[[noreturn]] void refuse_to_make(const char* id, const std::string& message, const std::string& hint) {
  throw Failure({Severity::error, id, message, hint, {}}, ExitCode::bad_usage);
}

// The line "  name: value   # comment" with another value; the comment stays where it was if there is room.
void replace_parameter(std::string& text, const std::string& name, const std::string& value) {
  const std::string head = "\n  " + name + ": ";
  const std::size_t at = text.find(head);
  if (at == std::string::npos) throw std::logic_error("models/ball_bearing.yaml has no parameter " + name);
  const std::size_t begin = at + head.size(), end = text.find('\n', begin), comment = text.find('#', begin);
  std::string line = value;
  if (comment < end) {
    line.resize(std::max(line.size() + 2, comment - begin), ' ');
    line += text.substr(comment, end - comment);
  }
  text.replace(begin, end - begin, line);
}

// The file to be made; it must not exist.
std::string new_file(const std::string& name) {
  std::filesystem::path path(name);
  if (path.extension() != ".yaml" && path.extension() != ".yml") path += ".yaml";
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored))
    refuse_to_make("file-exists", path.string() + " exists", "choose another name, or remove the file first");
  return path.string();
}

int make_track(const MakeArguments& a) {
  const std::string path = new_file(a.name);
  const Track track = a.small ? small_track() : Track{};
  write_whole_file(path, track_model(track), OutputKind::fresh);
  std::printf("%s: a track of %d links. Next: trammel run %s\n", path.c_str(), track.links, path.c_str());
  return 0;
}

int make_belt(const MakeArguments& a) {
  const std::string path = new_file(a.name);
  const Belt belt;
  write_whole_file(path, belt_model(belt), OutputKind::fresh);
  std::printf("%s: a belt of %d segments. Next: trammel run %s\n", path.c_str(), belt.segments, path.c_str());
  return 0;
}

int make_bearing(const MakeArguments& a) {
  if (a.balls < 3 || a.ball <= 0 || a.pitch <= a.ball || a.load <= 0 || a.clearance < 0 || a.conformity <= 0.5 ||
      a.conformity > 0.6)
    refuse_to_make("out-of-range", "this is no ball bearing",
                   "at least 3 balls, smaller than the pitch diameter; conformity above 0.5, at most 0.6; a load");
  if (a.balls * a.ball >= 3.14 * a.pitch)
    refuse_to_make("out-of-range", "the balls do not fit on the pitch diameter", "fewer or smaller balls");
  const std::string path = new_file(a.name);
  const std::filesystem::path model = data_directory() / "models" / "ball_bearing.yaml";
  std::ifstream file(model);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  if (text.empty())
    throw Failure({Severity::error, "cannot-read", "cannot read " + model.string(), "", {}}, ExitCode::bad_model);
  BallBearing b;
  b.balls = a.balls;
  b.ball_diameter = a.ball * 1e-3;
  b.pitch_diameter = a.pitch * 1e-3;
  b.conformity = a.conformity;
  b.clearance = a.clearance * 1e-6;
  b.load = a.load;
  b.speed = a.speed * std::numbers::pi / 30;
  for (const std::string& entry : bearing_parameters(b)) {
    const std::size_t equals = entry.find('=');
    replace_parameter(text, entry.substr(0, equals), entry.substr(equals + 1));
  }
  // Rings around the balls, as thick as those of the 6206.
  const double wall = 0.5 * a.ball;
  std::ostringstream bore, outside;
  bore << a.pitch - 1.6 * a.ball - wall * 0.2 << " mm";
  outside << a.pitch + 1.7 * a.ball << " mm";
  replace_parameter(text, "bore", bore.str());
  replace_parameter(text, "outside", outside.str());
  std::ostringstream inner, outer;
  inner << "dm - " << 0.79e-3 * a.ball;
  outer << "dm + " << 0.79e-3 * a.ball;
  replace_parameter(text, "inner_land", inner.str());
  replace_parameter(text, "outer_land", outer.str());
  // The first comment tells of the 6206.
  const std::size_t body = text.find("trammel: 1");
  text = "# A ball bearing made by `trammel make bearing`; see models/ball_bearing.yaml.\n" + text.substr(body);
  write_whole_file(path, text, OutputKind::fresh);
  std::printf("%s: %d balls. Next: trammel run %s\n", path.c_str(), a.balls, path.c_str());
  return 0;
}

int make_verb(const MakeArguments& a) {
  if (a.kind == "bearing") return make_bearing(a);
  if (a.kind == "track") return make_track(a);
  if (a.kind == "belt") return make_belt(a);
  refuse_to_make("unknown-template", "there is nothing called '" + a.kind + "' to make",
                 "bearing, track or belt: `trammel make track NAME`");
}

}  // namespace

Verb add_make(CLI::App& app) {
  auto a = std::make_shared<MakeArguments>();
  CLI::App* verb = app.add_subcommand("make", "Write the model of a machine element of a given size");
  verb->add_option("KIND", a->kind,
                   "bearing: a deep-groove ball bearing; track: that of an excavator; belt: that of an engine")
      ->required();
  verb->add_option("NAME", a->name, "Name of the model; the file is NAME.yaml and must not exist")->required();
  verb->add_option("--balls", a->balls, "Number of balls; 9 if left out");
  verb->add_option("--ball-diameter", a->ball, "mm; 9.525 if left out");
  verb->add_option("--pitch-diameter", a->pitch, "mm; 46 if left out");
  verb->add_option("--conformity", a->conformity, "Radius of the grooves by the ball's diameter; 0.52 if left out");
  verb->add_option("--clearance", a->clearance, "Diametral, um; 12 if left out");
  verb->add_option("--load", a->load, "Along the axis, N; 1000 if left out");
  verb->add_option("--speed", a->speed, "Of the inner ring, rpm; 10000 if left out");
  verb->add_flag("--small", a->small, "Of a track: one of 25 links instead of 45");
  verb->footer(
      "Examples:\n"
      "  trammel make bearing small --balls 8 --ball-diameter 7.938 --pitch-diameter 38.5 --load 600\n"
      "  trammel make track excavator");
  return {verb, [a] { return make_verb(*a); }};
}

}  // namespace trammel
