// trammel new NAME: a commented model file to start from. The templates are complete models; tests run each of them.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "app/common.h"
#include "app/verbs.h"
#include "trammel/write/output_path.h"

namespace trammel {
namespace {

struct Template {
  const char* name;
  const char* summary;
  const char* text;  // @TITLE@ becomes the name of the model
};

constexpr Template templates[] = {
    {"pendulum", "one bar on a hinge",
     R"yaml(# Run it:        trammel run @FILE@
# Draw a result: trammel plot @STEM@.h5 angle -o angle.png
# All that can stand in such a file: docs/guide/model-files.md, `trammel elements`, `trammel methods`.
trammel: 1
title: @TITLE@

# Named numbers, in SI units unless they say another one. `trammel run @FILE@ --set L=0.5` changes one of them.
parameters:
  L: 1 m            # length of the bar
  width: 4 cm
  start: 60 deg     # from hanging down

gravity: [0, 0, -9.81]

# The moving parts. A shape with a density gives mass, centre of mass and inertia; or give `mass` and `inertia`.
bodies:
  bar:
    shape: {type: box, size: [width, width, L], position: [0, 0, -L/2], density: 2700}

# What holds the parts together. Points and axes are in the world, the bodies standing as drawn above.
joints:
  hinge: {type: revolute, between: [ground, bar], at: [0, 0, 0], axis: [0, 1, 0]}

forces:
  friction: {type: rotational_spring_damper, joint: hinge, damping: 0.05}

# Where it starts; everything else follows from the joints.
initial:
  joints:
    hinge: {angle: start}

simulation: {end: 5, tolerance: 1e-6, output_step: 0.01}

# Results of your own, on top of positions, reactions and energies, which are always recorded.
outputs:
  angle: angle(hinge)
)yaml"},
    {"chain", "n links, made by repetition",
     R"yaml(# Run it:           trammel run @FILE@
# With 1000 links:  trammel run @FILE@ --set n=1000
trammel: 1
title: @TITLE@

parameters:
  n: 10
  l: 0.1            # length of a link, m
  r: l/10           # its radius

gravity: [0, 0, -9.81]

# What stands here is read once for each value of i. In names, $(...) becomes a number; in other values i is a number
# like any parameter.
repeat:
  - index: i
    from: 1
    to: n
    bodies:
      link$(i):     # own origin in its middle, z along the link
        shape: {type: capsule, size: [r, l], density: 7850, color: steel}
        position: [(i - 1/2)*l, 0, 0]
        orientation: {axis: [0, 1, 0], angle: 90 deg}
    joints:
      pin$(i):      # the first link hangs on the ground, the others on the one before
        type: revolute
        between: ["$(i > 1 ? 'link$(i-1)' : 'ground')", link$(i)]
        at: [(i - 1)*l, 0, 0]
        axis: [0, 1, 0]
    forces:
      friction$(i): {type: rotational_spring_damper, joint: pin$(i), damping: 1e-3}

simulation: {end: 2, tolerance: 1e-5, output_step: 0.01}

outputs:
  tip_height: dz(link$(n), ground)
)yaml"},
    {"vehicle", "a car body on four wheels, made of subsystems",
     R"yaml(# A car body on four sprung wheels that falls on its tyres and then meets a step of the road on the left.
# Run it:  trammel run @FILE@
trammel: 1
title: @TITLE@

parameters:
  base: 2.6 m       # between the axles
  track: 1.5 m      # between left and right
  r: 0.3 m          # of a wheel

gravity: [0, 0, -9.81]

# One corner of the car, used four times below. Its own origin is on the road under the middle of the wheel.
subsystems:
  corner:
    needs: [car]                       # what the user of this part must connect
    parameters: {radius: 0.3, stiffness: 25000, damping: 2000}
    inputs: {road: {unit: m}}          # height of the road; an expression where the part is used
    bodies:
      hub:
        mass: 30
        position: [0, 0, radius]
        shape: {type: cylinder, size: [radius, 0.2], orientation: {axis: [1, 0, 0], angle: 90 deg}, color: black}
    joints:
      strut: {type: translational, between: [car, hub], at: [0, 0, radius], axis: [0, 0, 1]}
    forces:
      spring:
        type: translational_spring_damper
        between: [car, hub]
        at: [[0, 0, 0.8], [0, 0, radius]]
        stiffness: stiffness
        damping: damping
        free_length: 0.65
      tyre:                            # pushes only
        type: force
        frames: [ground, hub]
        fz: "max(0, 2e5*(radius + road - dz(hub, ground)) - 500*vz(hub, ground))"

bodies:
  body:
    position: [0, 0, 0.6]
    parts:
      - {type: box, size: [4, 1.6, 0.5], mass: 900, color: steel}
      - {type: box, size: [2, 1.4, 0.5], position: [-0.2, 0, 0.5], mass: 100}
      - {mass: 150, position: [1.3, 0, 0]}    # engine

repeat:
  - index: side
    values: [1, -1]                           # left, right
    use:
      "front_$(side > 0 ? 'left' : 'right')":
        subsystem: corner
        parameters: {radius: r}
        connect: {car: body}
        position: [base/2, side*track/2, 0]
        inputs: {road: "side > 0 ? step(time, 2, 0, 2.05, 0.05) : 0"}
      "rear_$(side > 0 ? 'left' : 'right')":
        subsystem: corner
        parameters: {radius: r}
        connect: {car: body}
        position: [-base/2, side*track/2, 0]
        inputs: {road: "side > 0 ? step(time, 2.2, 0, 2.25, 0.05) : 0"}

simulation: {end: 4, tolerance: 1e-5, output_step: 0.01}

outputs:
  height: dz(body, ground)
  left_wheel: dz(front_left.hub, ground)
)yaml"},
};

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

struct NewArguments {
  std::string name, kind = "pendulum";
  bool list = false;
};

int new_verb(const NewArguments& a) {
  if (a.list) {
    std::vector<std::vector<std::string>> lines;
    for (const Template& each : templates) lines.push_back({each.name, each.summary});
    std::fputs(aligned(lines, 0).c_str(), stdout);
    return 0;
  }
  const Template* chosen = nullptr;
  std::vector<std::string> names;
  for (const Template& each : templates) {
    names.emplace_back(each.name);
    if (a.kind == each.name) chosen = &each;
  }
  const auto refuse = [](const char* id, const std::string& message, const std::string& hint) {
    throw Failure({Severity::error, id, message, hint, {}}, ExitCode::bad_usage);
  };
  if (a.name.empty()) refuse("bad-usage", "the name of the new file is missing", "see `trammel new --help`");
  if (chosen == nullptr) {
    const std::string near = nearest_name(a.kind, names);
    refuse("unknown-template", "there is no template '" + a.kind + "'",
           near.empty() ? "see `trammel new --list`" : "did you mean '" + near + "'?");
  }
  std::filesystem::path path(a.name);
  if (path.extension() != ".yaml" && path.extension() != ".yml") path += ".yaml";
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) {
    refuse("file-exists", path.string() + " exists", "choose another name, or remove the file first");
  }
  const std::string stem = path.stem().string();
  std::string text = replaced(chosen->text, "@FILE@", path.filename().string());
  // The stem may hold anything: as a YAML text it stands in quotes unless it is a plain word.
  const bool plain =
      !stem.empty() &&
      stem.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-") == std::string::npos &&
      stem.front() != '-';
  text = replaced(text, "@STEM@", stem);
  text = replaced(text, "@TITLE@", plain ? stem : "'" + replaced(stem, "'", "''") + "'");
  write_whole_file(path.string(), text, OutputKind::fresh);
  std::printf("%s: %s. Next: trammel run %s\n", path.string().c_str(), chosen->summary, path.string().c_str());
  return 0;
}

}  // namespace

Verb add_new(CLI::App& app) {
  auto a = std::make_shared<NewArguments>();
  CLI::App* verb = app.add_subcommand("new", "Write a commented model file to start from");
  verb->add_option("NAME", a->name, "Name of the model; the file is NAME.yaml and must not exist");
  verb->add_option("-t,--template", a->kind, "pendulum (if left out), chain, vehicle");
  verb->add_flag("--list", a->list, "List the templates");
  verb->footer(
      "Examples:\n"
      "  trammel new swing\n"
      "  trammel new rope --template chain");
  return {verb, [a] { return new_verb(*a); }};
}

}  // namespace trammel
