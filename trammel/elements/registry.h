// The explicit table of all joints, motions and forces. Reader, schema, help, docs and conformance tests read it.
#pragma once
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "trammel/elements/body.h"
#include "trammel/elements/constraint.h"
#include "trammel/elements/force.h"
#include "trammel/model/model.h"

namespace trammel {

enum class Category { joint, motion, force };
const char* to_text(Category);

// What making an element may need of the rest of the model: measures name frames and joints.
struct MakeContext {
  const Model& model;
};

// How an element attaches to the model.
enum class Attachment {
  joint,       // two coinciding frames: `between` two bodies, `at` a point, along an `axis`; or two `frames`
  two_points,  // two frames at different places: a spring
  on_joint,    // the frames of a named joint, or two frames of its own: a motion
  joints,      // the frames of the joints that its field `joints` names, or as many pairs of `frames`: a gear
  several,     // two or more `frames`, up to max_frames
};

// What a joint leaves free along or about the z axis of its first frame, as one number: recorded, coupled, driven.
struct AxisFreedoms {
  bool turns = false, slides = false;
};

// What an element file ends with.
struct ElementDescription {
  Category category = Category::joint;
  std::string key;      // "revolute"
  std::string summary;  // one sentence
  Attachment attachment = Attachment::joint;
  AxisFreedoms axis;             // of a joint
  bool axes_cross = false;       // of a joint: `axis` and `axis_b` are given, at right angles
  bool moves_frame = false;      // of a motion: in those of x, y, z, about_x, about_y, about_z that are given
  bool meets_in_flight = false;  // of a force: shapes that fly apart and meet again; steps end before they do
  std::vector<Field> fields;
  // Gives the item the frames that its fields name, once all joints are known; throws Failure. Most need nothing.
  std::function<void(Model&, Item&)> attach;
  // Joints and motions make a Constraint, forces a Force.
  std::function<std::unique_ptr<Constraint>(const Item&, const MakeContext&)> make_constraint;
  std::function<std::unique_ptr<Force>(const Item&, const MakeContext&)> make_force;
  // Of a force with modes: the rows between its first two frames that it holds in some of them. They share its memory.
  std::function<std::unique_ptr<Constraint>(const Item&, const MakeContext&)> make_held;
  // Fields of a random instance for the conformance suite; defaults are filled in afterwards.
  std::function<Fields(std::mt19937&)> random_fields;
  int random_frames = 2;  // that instance acts between
};

const std::vector<ElementDescription>& element_registry();
const ElementDescription* find_element(Category category, std::string_view key);
// The same, or a Failure that names the nearest key.
const ElementDescription& find_element(Category category, std::string_view key, const Location& where);
AxisFreedoms axis_freedoms(std::string_view joint_type);  // none of a type that is not known
// The lists of docs/elements/README.md: a table for each category, a row for each element.
std::string elements_as_markdown();
// Adds a joint for each force that holds rows in some of its modes, behind all others; a second call changes nothing.
void add_held_rows(Model& model);
// Fills in the defaults of the fields that are absent; a field that must be given or is not known is a Failure.
void complete_fields(const ElementDescription& description, Item& item);

}  // namespace trammel
