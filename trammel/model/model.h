// A mechanism as plain data: what a model file says, in SI units, every item with its name and place in the file.
// Readers and C++ programs fill it, `compile` turns it into Equations. Nothing here computes.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trammel/math/spline.h"
#include "trammel/model/fields.h"
#include "trammel/model/modal_data.h"

namespace trammel {

struct Pose {
  Vec3 position = Vec3::Zero();
  Quat rotation = Quat::Identity();
};

constexpr int ground = -1;  // index of the fixed body

// Which components of a vector assembly and statics must not move, world axes.
struct Kept {
  bool x = false, y = false, z = false;
  Kept& operator=(bool all) {
    x = y = z = all;
    return *this;
  }
  bool& operator[](int i) { return i == 0 ? x : i == 1 ? y : z; }
  bool operator[](int i) const { return i == 0 ? x : i == 1 ? y : z; }
  bool any() const { return x || y || z; }
  explicit operator bool() const { return x && y && z; }
};

// A body. Its own axes sit at `pose`; the centre of mass and the inertia are given in them.
struct Body {
  std::string name;
  std::string kind = "spatial";  // a key of the registry of bodies
  double mass = 0;
  Vec3 center_of_mass = Vec3::Zero();    // in body axes, from the body's origin
  Mat3 inertia = Mat3::Zero();           // about the centre of mass, body axes; planar bodies use (2,2)
  Pose pose;                             // at the start, of the body's origin
  std::optional<Pose> drawn;             // where it stands while joints are placed, if it starts elsewhere
  Vec3 velocity = Vec3::Zero();          // of the body's origin, world axes
  Vec3 angular_velocity = Vec3::Zero();  // world axes
  Kept keep_position, keep_orientation;  // of its origin and axes
  Kept keep_velocity, keep_angular_velocity;
  Quantity quantity = Quantity::none;      // of a scalar coordinate: position.x and velocity.x hold its value and rate
  std::shared_ptr<const ModalData> modal;  // of a body that bends; its point of reference is the centre of mass
  Location where;
};

// A place on a body (or on the ground) that joints and forces attach to.
struct Frame {
  std::string name;  // may be empty: made by a joint or a force for itself
  int body = ground;
  Pose local;  // in the body's axes; in the world for ground
  Location where;
  bool floating = false;  // goes with the axes of a body that bends; others stand at its nodes
};

// A joint, motion or force: `type` is a key of the element registry, `frames` index Model::frames.
struct Item {
  std::string type, name;
  std::vector<int> frames;
  Fields fields;
  Location where;
  bool implicit = false;          // of a force: part B of methods that split forces
  bool of_body = false;           // of a joint: belongs to the body of its frames, as the length of a rod
  std::vector<int> signals = {};  // of a force: inputs, states, variables, sensors that its expressions use, ascending
  int of_force = -1;     // of a joint: the rows that this force holds in some of its modes; -1: a joint of its own
  std::string set = {};  // of a force: the set of contacts that it belongs to, which stand together; empty: none
};

// Contacts of everything on one side with everything on the other: forces of type `contact` named after it.
struct ContactSet {
  std::string name;
  int pairs = 0, joined = 0;  // joined: left out, because a joint holds the two bodies together
  Location where;
};

struct Parameter {
  std::string name;
  double value = 0;  // in SI if the file states its unit
  Location where;
  bool used = false;  // by a number of the file; uses in expressions of the run are not counted here
  std::string unit;   // of `value`, in SI, if the file states one; empty: a plain number
};

// A number that comes from outside while the model runs, used by its name in expressions of forces and outputs.
struct Input {
  std::string name, unit;
  double value = 0;  // until somebody changes it
  Location where;
};

// What expressions see of an acceleration, of the reaction of a joint or motion, or of the rate of a state: made where
// they are read, by wire_measures.
struct Sensor {
  int what = 0;            // place in sensor_registry()
  int a = -1, b = -1;      // frames of an acceleration, of b against a
  int of = -1;             // joint or motion of a reaction, or state
  bool of_motion = false;  // of a reaction
  std::string name;        // "accx(tip, ground)"
  Location where;

  bool same(const Sensor& other) const {
    return what == other.what && a == other.a && b == other.b && of == other.of && of_motion == other.of_motion;
  }
};

// Functions given by points, for expressions: spline(name, x) and table(name, x, y), in SI.
struct NamedSpline {
  std::string name;
  std::shared_ptr<const Spline> spline;
  Location where;
};

struct NamedTable {
  std::string name;
  std::shared_ptr<const SurfaceTable> table;
  Location where;
};

// A value the joints' coordinates shall have at the start ("joint 'pin': angle 30 deg").
struct InitialJoint {
  int joint = 0;  // index of Model::joints
  std::optional<double> angle, displacement, angular_speed, speed;
  Location where;
};

// A user-defined output: any expression of time and measures.
struct Output {
  std::string name, unit;
  ExpressionText expression;
};

// How a body looks; drawn, never computed with.
struct Shape {
  std::string name, type;  // a key of shape_forms()
  int body = ground;
  Pose local;
  std::vector<double> size;  // as shape_forms() says, in m; of a mesh the scale of its numbers to m
  std::string color;
  std::string file;  // of a mesh
  Location where;
};

// A state of the user's own, equation (5): x' = rate, an expression of time, measures, inputs, states and variables,
// or, if it is implicit, `rate` = 0, an expression that contains der(x) too.
struct StateVariable {
  std::string name;
  ExpressionText rate;
  double value = 0;  // at the start
  std::string unit;
  Location where;
  bool implicit = false;
};

// A number of the user's own that the motion determines, equation (6): V = expression, of time, measures, inputs,
// states and other variables. It is evaluated once, however many expressions use it.
struct Variable {
  std::string name;
  ExpressionText expression;
  std::string unit;
  Location where;
};

// What to run. An option left out takes the method's default.
struct SimulationSettings {
  double end = 1;
  std::string method = "hht-i3";
  std::string formulation;               // empty: the method's own choice
  std::vector<std::string> independent;  // coordinates of the state-space form, "BODY.angle"; empty: chosen
  std::optional<double> tolerance;       // error allowed per step, relative to the length scale and 1 rad
  std::optional<double> step;            // fixed step; otherwise the step is controlled
  std::optional<double> first_step, least_step, greatest_step;
  std::optional<double> output_step;  // output on a grid; otherwise at every accepted step
  bool locate_events = false;         // steps end at all corners of forces, not only at those over time
  bool events_at_steps = false;       // impacts and changes of modes wait for the end of the step they are found in
  std::optional<double> length;       // length scale L of the model for norms; default from its size
  std::optional<double> time_scale;   // of velocities in norms; default from gravity, or the motion at the start
  Fields options;                     // of the method: alpha, rho_inf, predictor_degree, ...
  Location where;
};

struct Model {
  std::string title;
  std::string file;  // where it was read from; empty if built in C++
  std::string text;  // the texts of all its files, kept for provenance
  Vec3 gravity = Vec3::Zero();
  std::vector<Parameter> parameters;
  std::vector<Input> inputs;
  std::vector<StateVariable> states;
  std::vector<Variable> variables;
  std::vector<NamedSpline> splines;
  std::vector<NamedTable> tables;
  std::vector<Body> bodies;
  std::vector<Frame> frames;
  std::vector<Item> joints, motions, forces;
  std::vector<ContactSet> contact_sets;  // of the forces
  std::vector<InitialJoint> initial_joints;
  bool start_in_equilibrium = false;  // the static one near the start positions; velocities stay as given
  std::vector<Output> outputs;
  std::vector<Shape> shapes;
  SimulationSettings simulation;
  std::vector<Sensor> sensors;  // of all expressions

  // Building in C++; joints, motions and forces are added by elements/build.h. Each returns the index of what it added.
  int add_body(Body body);
  int add_frame(int body, const Pose& local, std::string name = "");
  // One that goes with the axes of the body, even if the body bends: to look at it, or to hold it as a whole.
  int add_floating_frame(int body, const Pose& local);
  // A frame on `body` at a place given in the world while the bodies stand as drawn; z along `axis`, x along
  // `x_axis` as far as it is perpendicular (any perpendicular direction if it is zero).
  int add_frame_at(int body, const Vec3& point, const Vec3& axis = Vec3::UnitZ(), const Vec3& x_axis = Vec3::Zero());

  int find_body(std::string_view name) const;   // `ground` for "ground", -2 if there is none of that name
  int find_frame(std::string_view name) const;  // -1 if none
  int find_joint(std::string_view name) const;  // -1 if none
  int find_input(std::string_view name) const;  // -1 if none
  int find_state(std::string_view name) const;
  int find_variable(std::string_view name) const;
  // Inputs, states and variables in one numbering, in this order, and behind them the sensors; -1: none of the three
  // has this name.
  int find_signal(std::string_view name) const;
  const std::string& name_of_signal(int signal) const;
  Pose frame_pose(int frame) const;  // in the world, bodies as drawn
};

}  // namespace trammel
