#include "trammel/read/grammar.h"

#include <array>

namespace trammel {
namespace {

using Keys = std::vector<Key>;
constexpr Quantity none = Quantity::none;

Keys joined(Keys first, const Keys& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Keys sections() {
  return {
      {"splines", Form::named, "Functions given by points, for expressions.", none, Rule::spline},
      {"tables", Form::named, "Functions of two variables given on a grid.", none, Rule::table},
      {"bodies", Form::named, "The moving parts.", none, Rule::body},
      {"coordinates", Form::named, "Scalar coordinates without a place in space.", none, Rule::coordinate},
      {"lines", Form::lines, "Leaves, tubes, ropes and cables between two ends."},
      {"use", Form::named, "Subsystems put into the model, each under a name.", none, Rule::use},
      {"repeat", Form::mappings, "Sections read once for each value of an index.", none, Rule::repeat},
      {"frames", Form::named, "Named places on bodies.", none, Rule::frame},
      {"joints", Form::elements, "What holds the bodies together.", none, Rule::item, false, {}, Category::joint},
      {"motions", Form::elements, "What drives joints.", none, Rule::item, false, {}, Category::motion},
      {"forces", Form::elements, "What loads the bodies.", none, Rule::item, false, {}, Category::force},
      {"contacts", Form::named, "Sets of shapes that touch: each of one side with each of the other.", none,
       Rule::contact_set},
      {"initial", Form::mapping, "Where and how fast it starts.", none, Rule::initial},
      {"simulation", Form::mapping, "What to run.", none, Rule::simulation},
      {"states", Form::named, "Quantities of your own with a rate: filters, controllers.", none, Rule::state},
      {"variables", Form::named, "Named expressions of the motion, for use in others.", none, Rule::variable},
      {"blocks", Form::blocks, "Parts of controllers: filters, PID, transfer functions."},
      {"outputs", Form::named, "Results of your own.", none, Rule::output},
      {"shapes", Form::named, "What it looks like.", none, Rule::drawn_shape},
  };
}

// Of a part of a model: what to run is said once.
Keys part_sections() {
  Keys keys = sections();
  std::erase_if(keys, [](const Key& key) { return key.name == "simulation"; });
  return keys;
}

Keys shape_keys() {
  return {
      {"type", Form::text, "The form.", none, Rule::none, true, "shape"},
      {"size", Form::numbers, "Measures of the form: see the types.", Quantity::length},
      {"file", Form::text, "STL or OBJ file of a mesh, relative to this file."},
      {"scale", Form::number, "Factor of the numbers in a mesh file, on top of the file's unit of length."},
      {"position", Form::vector, "In the axes of the body.", Quantity::length},
      {"orientation", Form::orientation, "In the axes of the body."},
      {"color", Form::text, "A name such as steel, or #rrggbb."},
  };
}

Keys motion_keys() {
  return {
      {"position", Form::vector, "Of the body's origin, in the world.", Quantity::length},
      {"velocity", Form::vector, "Of the body's origin, in the world.", Quantity::speed},
      {"angle", Form::number, "Of a planar body, about z.", Quantity::angle},
      {"orientation", Form::orientation, "Of the body's axes, in the world."},
      {"angular_velocity", Form::vector_or_number, "In the world; of a planar body a number.", Quantity::angular_speed},
      {"ends", Form::points, "Of a rod, in the world: instead of position and orientation.", Quantity::length},
      {"end_velocities", Form::points, "Of a rod: instead of velocity and angular velocity.", Quantity::speed},
  };
}

Keys flexible_keys(Rule rule) {
  switch (rule) {
    case Rule::flexible:
      return {
          {"materials", Form::named, "What the beams are made of.", none, Rule::flexible_material, true},
          {"sections", Form::named, "Their cross sections.", none, Rule::flexible_section, true},
          {"nodes", Form::places, "Where beams end or meet, in the body's axes.", Quantity::length, Rule::none, true},
          {"beams", Form::mappings, "Straight beams between nodes, rigidly joined.", none, Rule::flexible_beam, true},
          {"lumped_masses", Form::mappings, "Masses at nodes.", none, Rule::flexible_mass},
          {"element_length", Form::number, "Of the finite elements, at most; one for each beam if left out.",
           Quantity::length},
          {"interfaces", Form::names, "The nodes that joints and forces attach to.", none, Rule::none, true},
          {"normal_modes", Form::number, "How many modes besides those of the interfaces; 0 if left out."},
          {"damping_ratios", Form::numbers,
           "Of the modes from the lowest, the last for all others, or one for each band; 0 if left out."},
          {"damping_bands", Form::numbers, "Upper ends of bands of frequency.", Quantity::frequency},
          {"stress", Form::mapping, "Watches the stress of all beams over the run; none if left out.", none,
           Rule::flexible_stress},
      };
    case Rule::flexible_material:
      return {
          {"youngs_modulus", Form::number, "E.", Quantity::pressure, Rule::none, true},
          {"shear_modulus", Form::number, "G, instead of Poisson's ratio.", Quantity::pressure},
          {"poisson_ratio", Form::number, "E/(2 G) - 1."},
          {"density", Form::number, "", Quantity::density, Rule::none, true},
      };
    case Rule::flexible_section:
      return {
          {"type", Form::text, "The form.", none, Rule::none, true, "tube round rectangle general"},
          {"diameter", Form::number, "Outer, of a tube or a round bar.", Quantity::length},
          {"wall", Form::number, "Thickness of a tube.", Quantity::length},
          {"width", Form::number, "Of a rectangle, across `up`.", Quantity::length},
          {"height", Form::number, "Of a rectangle, along `up`.", Quantity::length},
          {"area", Form::number, "Of a general section.", Quantity::area},
          {"second_moment_y", Form::number, "Of bending along z, which is `up`.", Quantity::second_moment},
          {"second_moment_z", Form::number, "Of bending along y.", Quantity::second_moment},
          {"torsion_constant", Form::number, "J of the torsional stiffness G J.", Quantity::second_moment},
          {"shear_coefficient_y", Form::number, "Area by shear area along y; 0 if left out: rigid in shear."},
          {"shear_coefficient_z", Form::number, "The same along z."},
      };
    case Rule::flexible_beam:
      return {
          {"nodes", Form::names, "Two or more: a straight beam from each to the next.", none, Rule::none, true},
          {"section", Form::name, "May be left out where there is one only."},
          {"material", Form::name, "May be left out where there is one only."},
          {"up", Form::direction, "z of the section as far as perpendicular, in the body's axes; z if left out."},
      };
    case Rule::flexible_stress:
      return {
          {"hot_spots", Form::number, "Of how many places the greatest stress is told; 10 if left out."},
      };
    case Rule::flexible_mass:
      return {
          {"node", Form::name, "Where it is.", none, Rule::none, true},
          {"mass", Form::number, "", Quantity::mass, Rule::none, true},
          {"inertia", Form::tensor, "About the node, in the body's axes; 0 if left out.", Quantity::inertia},
      };
    default: return {};
  }
}

std::string_view kinds_in_files() {
  static const std::string text = [] {
    std::string all;
    for (const BodyDescription& kind : body_registry())
      if (kind.is_place) all += (all.empty() ? "" : " ") + kind.key;
    return all;
  }();
  return text;
}

Keys make(Rule rule) {
  switch (rule) {
    case Rule::none: return {};
    case Rule::file:
      return joined(
          {
              {"trammel", Form::version, "Version of the format: 1.", none, Rule::none, true},
              {"title", Form::text, "A text for results and plots."},
              {"include", Form::texts, "Other files whose sections are added; relative to this file."},
              {"units", Form::units, "Units of the plain numbers in this file; SI if left out."},
              {"parameters", Form::parameters, "Named numbers, expressions of each other, or lists."},
              {"inputs", Form::named, "Values that come from outside.", none, Rule::input},
              {"interface", Form::names, "As a subsystem: what others may attach to; everything if left out."},
              {"needs", Form::names, "As a subsystem: names that its user connects to bodies or frames."},
              {"gravity", Form::vector, "Acceleration; none if left out.", Quantity::acceleration},
              {"subsystems", Form::named, "Parts of models to be used several times.", none, Rule::subsystem},
          },
          sections());
    case Rule::subsystem:
      return joined(
          {
              {"file", Form::text, "A file that holds the subsystem, instead of all that follows."},
              {"parameters", Form::parameters, "Named numbers, which a use can change."},
              {"inputs", Form::named, "Values that a use can give as expressions.", none, Rule::input},
              {"interface", Form::names, "What others may attach to; everything if left out."},
              {"needs", Form::names, "Names that a use connects to bodies or frames."},
              {"subsystems", Form::named, "Parts of its own.", none, Rule::subsystem},
          },
          part_sections());
    case Rule::use:
      return {
          {"subsystem", Form::name, "The name of a subsystem."},
          {"file", Form::text, "A file that holds the subsystem, instead of its name."},
          {"parameters", Form::parameters, "Parameters of the subsystem to change."},
          {"inputs", Form::expressions, "Expressions of the run for its inputs."},
          {"connect", Form::references, "What the names that it needs stand for."},
          {"position", Form::vector, "Where its origin is.", Quantity::length},
          {"orientation", Form::orientation, "How its axes are turned."},
      };
    case Rule::repeat:
      return joined(
          {
              {"index", Form::name, "The name of the index.", none, Rule::none, true},
              {"from", Form::number, "First value; 1 if left out."},
              {"to", Form::number, "Last value."},
              {"step", Form::number, "From one value to the next; 1 if left out."},
              {"values", Form::values, "The values themselves, numbers or texts, instead of `to`."},
              {"when", Form::condition, "Left out where this is 0."},
              {"parameters", Form::parameters, "Named numbers that use the index."},
              {"inputs", Form::named, "Values that come from outside.", none, Rule::input},
          },
          part_sections());
    case Rule::spline:
      return {
          {"type", Form::text, "akima if left out.", none, Rule::none, false, "akima cubic linear"},
          {"ends", Form::text, "Of a cubic spline; natural if left out.", none, Rule::none, false,
           "natural clamped periodic not_a_knot"},
          {"slopes", Form::numbers, "At the ends of a clamped spline."},
          {"extrapolation", Form::text, "Beyond the points; linear if left out.", none, Rule::none, false,
           "linear constant none"},
          {"points", Form::rows, "Pairs [x, y]."},
          {"x", Form::numbers, "Where the points are, rising."},
          {"y", Form::numbers, "The values there."},
          {"file", Form::text, "A CSV file instead, relative to this file."},
          {"columns", Form::values, "Of the CSV file: numbers from 1 or names of its header."},
          {"units", Form::texts, "Of x and y."},
      };
    case Rule::table:
      return {
          {"type", Form::text, "cubic if left out.", none, Rule::none, false, "akima cubic"},
          {"extrapolation", Form::text, "Beyond the grid; linear if left out.", none, Rule::none, false,
           "linear constant none"},
          {"x", Form::numbers, "The grid, rising."},
          {"y", Form::numbers, "The grid, rising."},
          {"values", Form::rows, "A row for each x, in it a number for each y."},
          {"file", Form::text, "A CSV file instead, relative to this file."},
          {"units", Form::texts, "Of x, y and the values."},
      };
    case Rule::body:
      return joined(
          {
              {"kind", Form::text, "spatial if left out.", none, Rule::none, false, kinds_in_files()},
              {"mass", Form::number, "Of the whole body.", Quantity::mass},
              {"density", Form::number, "Of its shape and of parts that give none.", Quantity::density},
              {"inertia", Form::inertia, "About the centre of mass, in the body's axes.", Quantity::inertia,
               Rule::inertia},
              {"center_of_mass", Form::vector, "In the body's axes, from its origin.", Quantity::length},
              {"shape", Form::mapping, "A solid: gives look, mass and inertia.", none, Rule::shape},
              {"parts", Form::mappings, "Solids and masses that the body is made of.", none, Rule::part},
              {"flexible", Form::mapping, "Of a modal body: the beams that it is made of, and its modes.", none,
               Rule::flexible},
          },
          motion_keys());
    case Rule::inertia:
      return {
          {"tensor", Form::tensor, "The entries of the matrix.", Quantity::inertia},
          {"principal", Form::vector, "Principal values, in the directions of `axes`.", Quantity::inertia},
          {"gyration", Form::vector, "Radii of gyration about `axes`.", Quantity::length},
          {"about", Form::vector, "The point it is taken about, in the body's axes; the centre of mass if left out.",
           Quantity::length},
          {"axes", Form::orientation, "Its axes as turned against those of the body."},
      };
    case Rule::shape:
      return joined(shape_keys(), {{"density", Form::number, "", Quantity::density},
                                   {"mass", Form::number, "Instead of a density.", Quantity::mass}});
    case Rule::part: {
      Keys keys = shape_keys();
      keys[0].required = false;
      return joined(keys, {{"density", Form::number, "Negative for a hole.", Quantity::density},
                           {"mass", Form::number, "Instead of a density.", Quantity::mass},
                           {"inertia", Form::inertia, "Of a part without a shape, about its position.",
                            Quantity::inertia, Rule::inertia}});
    }
    case Rule::drawn_shape:
      return joined({{"body", Form::name, "The body it moves with.", none, Rule::none, true}}, shape_keys());
    case Rule::flexible:
    case Rule::flexible_material:
    case Rule::flexible_section:
    case Rule::flexible_beam:
    case Rule::flexible_mass:
    case Rule::flexible_stress: return flexible_keys(rule);
    case Rule::coordinate:
      return {
          {"quantity", Form::text, "What it counts, for its units; a plain number if left out.", none, Rule::none,
           false, "angle length"},
          {"mass", Form::number, "0 if left out."},
          {"value", Form::number, "At the start."},
          {"speed", Form::number, "At the start."},
          {"keep", Form::names, "value, speed: what assembly must not move.", none, Rule::none, false, "value speed"},
      };
    case Rule::frame:
      return {
          {"body", Form::name, "The body it is on, or ground.", none, Rule::none, true},
          {"position", Form::vector, "In the body's axes.", Quantity::length},
          {"at", Form::vector, "In the world, the bodies as drawn.", Quantity::length},
          {"node", Form::name, "An interface node of a modal body, instead of a position."},
          {"orientation", Form::orientation, "In the same axes as the position."},
          {"axis", Form::direction, "The direction of z."},
          {"x_axis", Form::direction, "The direction of x, as far as perpendicular."},
      };
    case Rule::contact_set:
      return {
          {"frames_a", Form::texts, "Frames or bodies with the first shape; * stands for any part of a name.", none,
           Rule::none, true},
          {"frames_b", Form::texts, "Those with the second shape.", none, Rule::none, true},
          {"joined", Form::condition, "Also pairs of bodies that a joint holds together; they are left out otherwise."},
          {"part", Form::text, "Which methods that split forces treat them how.", none, Rule::none, false,
           "explicit implicit"},
      };
    case Rule::item:
      return {
          {"type", Form::text, "The kind of element.", none, Rule::none, true},
          {"frames", Form::names, "The two frames it acts between."},
          {"between", Form::names, "The two bodies it acts between, with `at`."},
          {"at", Form::points, "In the world, the bodies as drawn.", Quantity::length},
          {"axis", Form::direction, "The direction of z of its frames."},
          {"axis_b", Form::direction, "The direction of z of its second frame, where it differs."},
          {"x_axis", Form::direction, "The direction of x of its frames, as far as perpendicular."},
          {"joint", Form::name, "The joint whose frames it acts between; motions and forces only."},
          {"part", Form::text, "Of a force, for methods that split: explicit (A, if left out) or implicit (B).", none,
           Rule::none, false, "explicit implicit"},
      };
    case Rule::initial:
      return {
          {"joints", Form::named, "Values of joints.", none, Rule::initial_joint},
          {"bodies", Form::named, "Values of bodies.", none, Rule::initial_body},
          {"coordinates", Form::named, "Values of scalar coordinates.", none, Rule::initial_coordinate},
          {"equilibrium", Form::condition, "Start in the static equilibrium near these positions."},
      };
    case Rule::initial_joint:
      return {
          {"angle", Form::number, "", Quantity::angle},
          {"displacement", Form::number, "", Quantity::length},
          {"angular_speed", Form::number, "", Quantity::angular_speed},
          {"speed", Form::number, "", Quantity::speed},
      };
    case Rule::initial_body:
      return joined(motion_keys(),
                    {{"keep", Form::names, "What assembly and statics must not move.", none, Rule::none, false,
                      "position position.x position.y position.z orientation orientation.x "
                      "orientation.y orientation.z angle velocity velocity.x velocity.y velocity.z "
                      "angular_velocity angular_velocity.x angular_velocity.y angular_velocity.z"}});
    case Rule::initial_coordinate:
      return {
          {"value", Form::number, ""},
          {"speed", Form::number, ""},
          {"keep", Form::names, "What assembly must not move.", none, Rule::none, false, "value speed"},
      };
    case Rule::simulation:
      return {
          {"end", Form::number, "Time to run, from 0; 1 s if left out.", Quantity::time},
          {"method", Form::text, "Key of a method: see `trammel methods`."},
          {"formulation", Form::text, "How the method sees the constraints; left out: its own choice."},
          {"events", Form::text,
           "located: steps end where forces set in or have corners; at_steps: impacts and modes wait for a step's end.",
           none, Rule::none, false, "located at_steps"},
          {"independent", Form::texts, "Coordinates of the state-space form: BODY.x, .y, .z, .angle, or a coordinate."},
          {"tolerance", Form::number, "Error allowed per step, relative to `length` and to 1 rad."},
          {"step", Form::number, "A fixed step size; without it the step is controlled.", Quantity::time},
          {"first_step", Form::number, "Of a controlled step.", Quantity::time},
          {"least_step", Form::number, "Of a controlled step.", Quantity::time},
          {"greatest_step", Form::number, "Of a controlled step.", Quantity::time},
          {"output_step", Form::number, "Results on this grid; without it at every step.", Quantity::time},
          {"length", Form::number, "Length scale of the model, for norms.", Quantity::length},
          {"time_scale", Form::number, "Time in which a velocity counts as a position, for norms.", Quantity::time},
          {"options", Form::settings, "Of the method."},
      };
    case Rule::input:
      return {
          {"value", Form::number, "At the start; 0 if left out."},
          {"unit", Form::text, "An SI unit: a label for results and connections."},
      };
    case Rule::state:
      return {
          {"rate", Form::expression, "Its time derivative: of time, measures, inputs, states and variables."},
          {"equation", Form::expression, "In place of a rate: what shall vanish; it contains der(NAME)."},
          {"value", Form::number, "At the start; 0 if left out."},
          {"unit", Form::text, "An SI unit: a label for results."},
      };
    case Rule::variable:
      return {
          {"expression", Form::expression, "Of time, measures, inputs, states and variables.", none, Rule::none, true},
          {"unit", Form::text, "An SI unit: a label for results."},
      };
    case Rule::output:
      return {
          {"expression", Form::expression, "Of time and measures.", none, Rule::none, true},
          {"unit", Form::text, "A label; the value is in SI."},
      };
  }
  return {};
}

constexpr std::size_t rules = static_cast<std::size_t>(Rule::output) + 1;

}  // namespace

const std::vector<Key>& keys_of(Rule rule) {
  static const std::array<Keys, rules> tables = [] {
    std::array<Keys, rules> all;
    for (std::size_t i = 0; i < rules; ++i) all[i] = make(static_cast<Rule>(i));
    return all;
  }();
  return tables[static_cast<std::size_t>(rule)];
}

const Key* find_key(Rule rule, std::string_view name) {
  for (const Key& key : keys_of(rule)) {
    if (key.name == name) return &key;
  }
  return nullptr;
}

std::string_view name_of(Rule rule) {
  constexpr std::array<std::string_view, rules> names = {"none",
                                                         "file",
                                                         "subsystem",
                                                         "use",
                                                         "repeat",
                                                         "body",
                                                         "inertia",
                                                         "shape",
                                                         "part",
                                                         "drawn_shape",
                                                         "flexible",
                                                         "flexible_material",
                                                         "flexible_section",
                                                         "flexible_beam",
                                                         "flexible_mass",
                                                         "flexible_stress",
                                                         "coordinate",
                                                         "spline",
                                                         "table",
                                                         "frame",
                                                         "item",
                                                         "contact_set",
                                                         "initial",
                                                         "initial_joint",
                                                         "initial_body",
                                                         "initial_coordinate",
                                                         "simulation",
                                                         "input",
                                                         "state",
                                                         "variable",
                                                         "output"};
  return names[static_cast<std::size_t>(rule)];
}

}  // namespace trammel
