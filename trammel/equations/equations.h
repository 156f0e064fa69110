// The equations of motion of a compiled model: residuals, exact partial derivatives on fixed patterns, and the manifold
// its coordinates live on. Immutable after compilation and shared by threads; scratch lives in a Workspace of each
// thread.
//
// What coordinates and velocities a body has, its kind says: elements/bodies.
#pragma once
#include <Eigen/LU>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trammel/elements/bodies/rigid.h"
#include "trammel/elements/constraint.h"
#include "trammel/elements/contacts/shape_pair.h"
#include "trammel/elements/force.h"
#include "trammel/equations/state.h"
#include "trammel/equations/wide.h"
#include "trammel/linalg/pattern.h"
#include "trammel/model/model.h"

namespace trammel {

class Contact;
class MeasuredExpression;
class Team;

// Of all variables and sensors, one after the other: against the velocities, the inputs and states, and the multipliers
// that each depends on, directly or through others.
struct VariableDerivatives {
  Vec q, v, u, t;
  Vec a, lambda;                   // empty: the model has no sensors
  Vec row_q, row_v, row_u, force;  // scratch: a row in all columns, zero between uses
  Vec row_a, row_lambda;
  std::vector<std::array<FramePartials, 2>> frames;  // of each sensor
  struct Group {
    Mat matrix;  // of the equations against their unknowns
    Vec missing, step, last, scale;
    Eigen::PartialPivLU<Mat> factors;
  };
  std::vector<Group> groups;
};

// Derivatives of an expression with the variables in it followed down to q, v, t and u (inputs and states).
struct ExpressionRow {
  double value = 0, t = 0;
  Vec q, v, u;
  Vec a, lambda;  // empty: the model has no sensors
};

class Workspace : public BodyMotions {
 public:
  std::vector<WideMatrices> wide;  // of the elements that need them, sized at their first evaluation
  // Forces whose derivatives `linearise` leaves out, by index; empty: none. For methods that need no exact ones.
  std::vector<bool> without_derivatives;
  // Leaves out the derivatives of gyroscopic torques too.
  bool without_gyroscopic = false;
  // Threads that evaluate forces side by side; null: none. Each writes to its own places and sums run in the order of
  // the elements, so that the number of threads changes no bit.
  std::shared_ptr<Team> team;
  std::vector<double> wrenches;  // of all forces, for the team
  std::vector<char> evaluated;
  VariableDerivatives variables;
};

// Energies of a state, for the balance in the summary.
struct Energy {
  double kinetic = 0, potential = 0;
  double dissipated_power = 0;  // heat per second
  double external_power = 0;    // of forces that declare no energy, and of motions
};

// Pairs of contacts in sets (near.cc): all of them are evaluated and stand in the patterns, or only those that a list
// made for some state calls near.
enum class Pairs { all, near };

class Equations {
 public:
  // Throws Failure if an element cannot be made.
  explicit Equations(Model model, Pairs pairs = Pairs::all);
  Equations(Equations&&) noexcept;
  ~Equations();

  const Model& model() const { return model_; }
  Sizes sizes() const { return sizes_; }
  const Pattern& vv() const { return *vv_; }  // nv x nv
  const Pattern& gv() const { return gv_; }   // (ng + nk) x nv
  const Pattern& vl() const { return vl_; }   // nv x (ng + nk): of forces against the multipliers that they see
  // Rows of the multipliers that are nonholonomic, (4); the others are those of (3).
  const std::vector<int>& velocity_rows() const { return velocity_rows_; }
  Workspace make_workspace() const;
  Residual make_residual() const;
  Partials make_partials(Detail detail) const;
  State initial_state() const;  // as the model says, not yet consistent
  Rates make_rates() const;

  // ---- evaluation
  Eval residual(const State&, const Rates&, unsigned parts, Residual&, Workspace&) const;
  void velocity_residual(const State&, Vec& gdot, Workspace&) const;  // G v + g_t, or k
  Eval linearise(const State&, const Rates&, Detail, Partials&, Workspace&) const;
  void jacobian(const State&, Partials&, Workspace&) const;  // only G
  // The constraints at acceleration level, g'' or k' = G a - gamma.
  void jacobian_and_gamma(const State&, Partials&, Vec& gamma, Workspace&) const;
  // f of the states, (5): x' = f(t, q, v, x). `seen`: the a and lambda that sensors see; without them a rate that uses
  // one cannot be evaluated.
  Eval state_rates(const State&, Vec& rates, Workspace&, const Rates* seen = nullptr) const;
  void linearise_states(const State&, StatePartials&, Workspace&, const Rates* seen = nullptr) const;
  Eigen::Ref<const Vec> states_of(const State& s) const { return s.u.tail(sizes_.nx); }
  // ---- what is seen of a and lambda, sensors.cc
  // True: a force or the rate of a state depends on accelerations or reactions, so that they are solved for together.
  bool sees_rates() const { return !seers_.empty(); }
  // The parts that do, in words: "force 'drag' (force_x(rail))".
  const std::vector<std::string>& seers() const { return seers_; }
  // Throws a Failure if there are any: "statics" cannot have them, because ...
  void refuse_seen_rates(const std::string& who, const std::string& because) const;
  // Sensors of reactions that forces or states depend on, and where one acts.
  const std::vector<int>& reactions_seen() const { return reactions_seen_; }
  struct SeenReaction {
    int constraint = 0;
    bool torque = false;
    Vec3 axis;  // in the world; after `update`
  };
  SeenReaction seen_reaction(int sensor, const Workspace&) const;
  // True: an expression anywhere, of outputs too, does.
  bool has_sensors() const { return !model_.sensors.empty(); }
  // d(force)/du of one external input, or of the states behind them: -Q_u; a and lambda held.
  void force_by_input(const State&, int input, Vec& force_u, Workspace&, const Rates* seen = nullptr) const;
  // Where an expression of the model is evaluated whose frames and memory somebody else holds; after `update`.
  ElementInput expression_input(const State& state, const FrameState* frames, const double* memory,
                                const Workspace& work) const {
    return {state.t, frames, memory, signals_of(state, work)};
  }
  void linearise_expression(const MeasuredExpression&, const std::vector<int>& frames, const double* memory,
                            const State&, Workspace&, ExpressionRow& out) const;
  // Variables and implicit states that depend on each other and allow no solution in this state, groups.cc; after
  // `update`. `without_seen`: only of those that see neither accelerations nor reactions.
  std::optional<Problem> loop_without_solution(const Workspace& work, bool without_seen = false) const;
  // Values of the variables, (6), after `update`.
  std::span<const double> variables_of(const Workspace& work) const;
  void mass(const Vec& q, Partials&) const;  // only M
  // A body whose M depends on its coordinates; -1: M is constant.
  int body_with_varying_mass() const { return varying_mass_; }
  void multiply_mass(const Vec& q, const Vec& a, Vec& Ma) const;
  Energy energy(const State&, const Rates&, Workspace&) const;
  // Of weights and forces at a fixed time without velocities; nothing: a force has none (a follower, a motor).
  std::optional<double> potential_at_rest(const State&, Workspace&) const;

  // ---- elements at motions of the bodies that stand in `work`, whoever put them there; all bodies rigid
  void update_variables(const State&, Workspace&) const;
  // Of all forces on each body: force, torque about the centre of mass; world axes.
  Eval forces_at(const State&, std::span<Vec6> wrenches, Workspace&) const;
  Eval state_rates_at(const State&, Vec& rates, Workspace&) const;
  enum class RowValues { none, position, velocity, curvature };
  struct RowsAt {
    RowMatrix C;                          // against the twists of the frames; of the rows that count, the first
    std::array<double, max_rows> values;  // g, G v + g_t, or c of g'' = C alpha + c; at velocity level k, k, c of k'
    std::array<FrameState, max_frames> frames;
  };
  bool rows_at(int constraint, const State&, RowValues which, RowsAt& out, const Workspace&) const;

  // ---- parts A and B of the forces; constraints belong to B, inertia to A
  bool is_implicit(int force) const { return forces_[force].item->implicit; }
  // Places of vv() that M has, and force_a.
  std::vector<bool> mass_slots() const;
  // Those, and all that constraints and implicit forces write to.
  std::vector<bool> implicit_slots() const;
  // The contact that will close first, if any is about to; false: there are no contacts.
  bool next_contact(const State&, Force::Approach&, Workspace&) const;
  // Of one force, after `update`; with `rates` accelerations count too. False: it is no contact.
  bool approach(int force, const State&, const Rates* rates, Force::Approach&, Workspace&) const;
  // What moves when the bodies of a force meet, as far as it is known without their joints: their reduced mass, or
  // inertia.
  double mass_between(int force, bool rotation) const;
  // The name of an explicit force that may set in without notice to next_contact; empty: none.
  std::string force_that_sets_in_unseen() const;

  // ---- contacts of sets. A list of those that are near belongs to whoever owns the equations, and only between steps
  // another one is made: derivatives evaluated after that stand on another pattern vv(), earlier ones remain on theirs.
  struct PairList {
    Vec q;              // where it was made
    double margin = 0;  // pairs with a smaller gap are in it; negative: all are

    void visit(Archive& archive) { archive(q, margin); }
  };
  // Of a first list, by the length scale; a run makes others, from its speeds.
  static constexpr double first_margin = 0.05;
  int pairs_in_sets() const { return static_cast<int>(of_sets_.size()); }
  const PairList& pair_list() const { return list_; }
  bool lists_pairs() const { return list_.margin >= 0; }
  void list_pairs(const Vec& q, double margin);
  void take_all_pairs();
  // How much nearer any two of their shapes may have come since the list was made, or come in the next h seconds. While
  // the first is at most the margin, no pair that touches is missing.
  double approached(const State& state, Workspace& work) const;
  double approach_within(double h, const State& state, const Rates& rates, Workspace& work) const;
  // Forces that are evaluated: all but the pairs of sets that are not in the list; ascending.
  const std::vector<int>& forces_in_play() const { return in_play_; }
  int pairs_in_play() const { return pairs_in_sets() - force_count() + static_cast<int>(in_play_.size()); }
  // Derivatives and matrices keep the pattern that they were made on.
  void visit_pattern(Archive& archive, std::shared_ptr<const Pattern>& vv) const;
  std::shared_ptr<const Pattern> shared_vv() const { return vv_; }

  // ---- switches: numbers that change their sign where an element's law has a corner
  int switch_count() const { return static_cast<int>(switches_.size()); }
  const SwitchInfo& switch_info(int i) const { return switches_[i].info; }
  std::string name_of_switch(int i) const;  // "force 'bumper': upper stop"
  Location place_of_switch(int i) const;
  // `timed_only`: of the elements that have some over time alone; places and velocities are not looked at. `rates`:
  // with the multipliers of this state, which the limits of held rows ask for; null: such switches stay positive.
  void switch_values(const State&, Vec& values, Workspace&, bool timed_only = false,
                     const Rates* rates = nullptr) const;
  // Of a switch that strikes: its row against the velocities, and how much of the speed comes back.
  struct StrikeRow {
    Vec row;
    double restitution = 0;
  };
  StrikeRow strike(int i, const State&, Workspace&) const;

  // ---- modes: which of its laws an element follows, kept in State::memory and changed at events only
  const std::vector<int>& forces_with_modes() const { return with_modes_; }
  bool has_modes() const { return !with_modes_.empty(); }
  int mode(int force, const State& state) const;
  std::string name_of_mode(int force, const State& state) const;     // "force 'pad': sticks"
  int force_of_switch(int i) const { return switches_[i].element; }  // of one that ends a mode
  // Rows that a force holds in its present mode; 0 if it holds none.
  int rows_held(int force, const State& state) const;
  bool holds(int constraint, const State& state) const;
  void begin_mode(int force, State&, const Force::Rest&, Workspace&) const;
  void end_mode(int i, State&, const Rates&, Workspace&) const;
  // The first of the rows that a force holds in some mode, of all multipliers; -1: it has none.
  int held_row(int force) const;

  // ---- manifold: the only place that knows rotations are not vectors
  void retract(const Vec& q, const Vec& delta, Vec& out) const;
  void local(const Vec& from, const Vec& to, Vec& delta) const;
  // Velocity columns (first of three) in which retract is not addition, and its derivative there: d q = T d delta.
  const std::vector<int>& rotation_columns() const { return rotation_columns_; }
  void retract_derivative(const Vec& delta, std::vector<Mat3>& T) const;
  // ---- scales of norms
  double length() const { return length_; }  // length scale of the model
  // Length for translations, 1 rad for rotations; of a modal coordinate what displaces or turns a point by so much.
  Vec scales() const;
  // The same for errors that must stay below `tolerance`: as much wider as the round-off of coordinates far from the
  // origin demands, (1.18).
  void set_scales(const Vec& q, double tolerance, Vec& scales) const;
  // The greatest coordinate of a place, at least the length scale: positions are known to round-off times this.
  double reach(const Vec& q) const;
  // That round-off in units of the scales of a norm.
  double round_off(const Vec& q, const Vec& scales) const;
  // Rate scale of the model, 1/s, (1.19): given, or that of gravity, else the fastest at the start.
  double rate(const State& start, const Rates& rates) const;
  // Largest of a value for each row of the constraints, as a length: angles count by the length scale.
  double size_of_rows(const Vec& rows, int* worst = nullptr) const;

  // ---- discrete memory
  void start(State&, Workspace&) const;   // at the start of a run
  void accept(State&, Workspace&) const;  // after an accepted step
  // Largest difference, rad, of a remembered angle from where its rate then leads: from pi/2 on its turns could be
  // miscounted.
  double turned(const State&, double h, Workspace&) const;

  // ---- names and numbers for reports
  struct ConstraintInfo {
    const Item* item = nullptr;
    bool is_motion = false;
    int first_row = 0, rows = 0;
  };
  int constraint_count() const { return static_cast<int>(constraints_.size()); }
  ConstraintInfo constraint_info(int i) const;
  int constraint_of_row(int row) const;
  std::string name_of_constraint(int i) const;  // "joint 'crank_pin'"; of held rows "force 'pad'"
  RowUnit row_unit(int row) const;
  Level level(int row) const;
  std::string name_of_row(int row) const;     // "joint 'crank_pin': y"
  std::string name_of_velocity(int i) const;  // "body 'crank': rotation about y"
  int body_of_velocity(int i) const;
  const BodyVelocity& velocity(int i) const;  // as its body describes it
  const BodyElement& body(int b) const { return *bodies_[b]; }
  bool is_angle(int i) const;  // or a component of a rotation
  // What coordinate i of a displacement is: an angle, a length, or none for a scalar coordinate that is neither.
  Quantity quantity_of_velocity(int i) const;
  int first_velocity(int body) const { return bodies_[body]->at().v; }
  int first_coordinate(int body) const { return bodies_[body]->at().q; }
  double greatest_mass() const { return greatest_mass_; }
  double least_nonzero_mass() const { return least_nonzero_mass_; }
  double least_nonzero_inertia() const { return least_nonzero_inertia_; }

  // A Failure that says `who` cannot see so much of a frame's body: "force 'spring'".
  void require(const std::string& who, int model_frame, FrameNeed need, const Location& where) const;

  // The motion of all bodies, and the variables. Poses and twists for outputs, after `update`. Sensors, and what uses
  // them, are not numbers without `seen`.
  void update(const State&, Workspace&, const Rates* seen = nullptr) const;
  FrameState frame(int model_frame, const Workspace& work) const { return frame(frames_[model_frame], work); }
  FrameState frame(const BodyFrame&, const BodyMotions&) const;
  const BodyFrame& body_frame(int model_frame) const { return frames_[model_frame]; }
  const BodyFrame& origin(int body) const { return origins_[body]; }  // the body's own axes
  // Adds a row against pose and twist of a frame as one against velocities: by_q += pose B + twist (B v)_q, by_v +=
  // twist B.
  void add_frame_row(const BodyFrame& f, const Eigen::Matrix<double, 1, 6>& pose,
                     const Eigen::Matrix<double, 1, 6>& twist, const Workspace& work, Eigen::Ref<Vec> by_q,
                     Eigen::Ref<Vec> by_v) const;
  Vec3 frame_acceleration(int model_frame, const Rates& rates, const Workspace& work, Vec3* angular = nullptr) const {
    return frame_acceleration(frames_[model_frame], rates, work, angular);
  }
  Vec3 frame_acceleration(const BodyFrame&, const Rates&, const Workspace&, Vec3* angular = nullptr) const;
  // Small motions (dp, dphi) and twists (dv, dw) of a frame by those of the coordinates and velocities.
  Eigen::Matrix<double, 12, 1> frame_variation(const BodyFrame&, const Vec& dq, const Vec& dv, const Workspace&) const;
  // out += sign B^T wrench: what a wrench on a frame does to the velocities.
  void add_wrench(const BodyFrame&, const BodyMotions&, const double* wrench, double sign, Vec& out) const;
  // Reaction on the second body at the joint's second frame, world axes: -(C^T lambda).
  void reaction(int constraint, const State&, const Rates&, const Workspace&, Vec3& force, Vec3& torque) const;
  // The wrenches -(C^T lambda) on all its frames, six numbers each.
  void reactions(int constraint, const State&, const Rates&, const Workspace&, double* wrenches) const;
  // A constraint's rows against the twists of its frames, 6 columns each: for rank analyses.
  void frame_jacobian(int constraint, const State&, const Workspace&, RowMatrix& C) const;
  const std::vector<int>& constraint_frames(int constraint) const;
  const Constraint& constraint(int i) const { return *constraints_[i].element; }
  const Force& force(int i) const { return *forces_[i].element; }
  int force_count() const { return static_cast<int>(forces_.size()); }
  // False: it cannot be evaluated here.
  // With `rates`, what it holds is observed as well.
  bool observe_force(int i, const State&, const Workspace&, double* wrench, double* observables,
                     const Rates* rates = nullptr) const;
  Force::Overlap overlap(int force, const State&, Workspace&) const;
  // g of all rows of the element, at most max_rows, those left out of the equations too.
  bool observe_constraint(int i, const State&, const Workspace&, double* g) const;
  // g of the rows that no attached body can move (they left the equations): must hold by themselves.
  struct DroppedRow {
    int constraint, row;
    double value;
  };
  std::vector<DroppedRow> dropped_rows(const State&, Workspace&) const;
  long memory_bytes() const;

 private:
  struct ElementRecord {      // wiring common to constraints and forces
    std::vector<int> frames;  // of frames_
    int memory = 0;
    int vv_begin = 0, vv_end = 0;  // of vv_local_, vv_slot_
    int gv_begin = 0, gv_end = 0;
    int wide = -1;             // its place in Workspace::wide; -1: all its bodies are rigid
    std::vector<int> columns;  // of each frame's body in the local matrices, and the end: 6 each if all are rigid
  };
  struct ConstraintRecord : ElementRecord {
    std::unique_ptr<Constraint> element;
    const Item* item = nullptr;
    bool is_motion = false;
    int first_row = 0, rows = 0;
    bool has_velocity_rows = false;
    std::array<int, max_rows> kept{};  // which of the element's rows are in the equations
  };
  struct ForceRecord : ElementRecord {
    std::unique_ptr<Force> element;
    const Item* item = nullptr;
    int held = -1;  // the constraint with the rows that it holds in some of its modes; -1: none
  };
  struct ExpressionRecord : ElementRecord {  // the rate of a state
    std::unique_ptr<MeasuredExpression> element;
  };
  struct VariableRecord : ExpressionRecord {  // sensors too; without an expression unless it is the rate of a state
    bool sets_in = false;                     // it, or one that it uses, may jump in its slope
    bool sees_rates = false;                  // likewise, accelerations or multipliers
    std::vector<int> velocities, base;        // that it depends on, ascending; base: inputs and states
    std::vector<int> multipliers;
    int place = 0;          // in variable_order_
    int group = -1;         // of variable_groups_: those that depend on each other
    bool implicit = false;  // the rate of an implicit state: its expression is to vanish
    int first_velocity = 0, first_base = 0, first_multiplier = 0;  // of its derivatives in VariableDerivatives
  };
  struct VariableGroup {
    std::vector<int> members;  // of variables_, ascending
    int memory = 0;            // of their values at the last accepted step, where the next search begins
  };
  // A force that uses a variable: the product of the force's derivative and the variable's.
  struct Chain {
    int force = 0, variable = 0;
    std::vector<int> rows;               // velocities of the bodies that the force acts on
    int slots_begin = 0, slots_end = 0;  // of chain_slots_, row by row
    int seen_begin = 0;                  // of seen_slots_, row by row: places of vl()
  };
  struct SwitchRecord {
    enum class Of { constraint, force, state, variable } of;
    int element = 0, which = 0;  // of the element's own
    SwitchInfo info;
    bool element_is_timed = false;  // one of the element's switches depends on time alone
  };
  struct Wire {  // which place of an element's matrix goes where
    int local, row, column;
  };
  // A frame with a shape of a set.
  struct SetMember {
    int frame = 0;
    ShapeExtent extent = {};
    double swing = 0;            // of a ball: farthest point that moves with it
    double along = 0, away = 0;  // of those that it may meet, when the list was made: along its axis, and in all
    Vec3 p = Vec3::Zero();       // of the frame then
    Mat3 R = Mat3::Identity();
  };
  struct Local;  // dense matrices of one constraint on rigid bodies

  // compile.cc
  void add_bodies();
  void add_frames();
  void add_constraints();
  void add_forces();
  void add_states();
  void add_variables();
  void add_sensors();
  void remember(ExpressionRecord&, std::size_t index, std::vector<int>& with_memory);
  void make_patterns();
  void find_sets();
  void make_vv();
  static void resolve(const std::vector<Wire>& wires, const Pattern& pattern, std::vector<int>& locals,
                      std::vector<int>& slots);
  std::vector<int> velocities_of(const ElementRecord&) const;
  void seat(Partials&) const;
  void choose_pairs(const Vec& q, double margin);
  bool is_near(std::size_t pair, const State& state, const Workspace& work);
  double displaced(const SetMember& member, double shift, double turn) const;
  void add_switches();
  void find_length();
  struct Wiring;
  struct Column {
    int velocity = -1;  // -1: the body does not have it
    double arm = 1;     // a unit of it moves points by so much
  };
  using Mask = Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic>;
  void set_columns(ElementRecord&);
  std::vector<Column> columns_of(const ElementRecord&) const;
  Wiring start_wiring() const;
  void wire(ConstraintRecord&, Wiring&);
  void wire(ForceRecord&, std::vector<Wire>& wires) const;
  void probe(ConstraintRecord&, Wiring&, const std::vector<Column>&, Mask& g_mask, Mask& v_mask) const;
  void close_rotations(const ElementRecord&, Mask&) const;
  void refuse_frames() const;
  void refuse_spin(const Wiring&) const;
  bool sees_spin(const ConstraintRecord&, std::size_t frame, const Wiring&) const;
  // evaluate.cc
  void body_states(const Vec& q, const Vec& v, BodyMotions& out) const;
  const double* signals_of(const State& state, const BodyMotions& motions) const {
    return motions.signals.empty() ? state.u.data() : motions.signals.data();
  }
  template <class Record>
  ElementInput element_input(const Record& record, const State& state, const FrameState* frames,
                             const BodyMotions& motions) const {
    return {state.t, frames, state.memory.data() + record.memory, signals_of(state, motions)};
  }
  // With the multipliers of the rows that the force holds.
  ElementInput held_input(const ForceRecord&, const State&, const FrameState* frames, const BodyMotions&,
                          const Rates* rates) const;
  template <class Record>
  void frame_states(const Record&, const BodyMotions&, FrameState* out) const;
  bool evaluate_forces(const State&, unsigned parts, Residual&, Workspace&) const;
  // variables.cc
  int first_variable() const { return sizes_.nu + sizes_.nx; }  // of the signals
  void size_variables(Workspace&) const;
  void sort_variables();
  void find_dependencies();
  void add_unit(std::vector<int> members);
  std::span<const int> unit_of(int variable) const;         // it, or its group
  const std::string& name_of_variable(int variable) const;  // or of a sensor
  const std::vector<int>& signals_of_variable(int variable) const;
  void wire_chains(std::vector<Pattern::Entry>& vv, std::vector<Pattern::Entry>& vl);
  void find_chain_slots();
  void evaluate_variables(const State&, Workspace&, const Rates* seen) const;
  void linearise_variables(const State&, Workspace&, const Rates* seen) const;
  void add_slopes(const MeasuredExpression&, const std::vector<int>& frames, const double* memory, const State&,
                  Workspace&, double& value, double& t, int but_of_group = -1) const;
  void store_slopes(const VariableRecord&, VariableDerivatives&) const;
  // groups.cc
  bool evaluate_group(const VariableGroup&, const State&, Workspace&) const;
  bool linearise_members(const VariableGroup&, const State&, Workspace&, VariableDerivatives::Group&) const;
  void linearise_group(const VariableGroup&, const State&, Workspace&) const;
  void remember_groups(State&, const Workspace&) const;
  void add_force_by_signal(const State&, int signal, Vec& force_u, Workspace&) const;
  void add_chains(const State&, const Rates&, Detail, Partials&, Workspace&) const;
  // sensors.cc
  int first_sensor() const { return first_variable() + sizes_.nV; }  // of the signals
  int constraint_sensed(const Sensor&) const;
  void find_multipliers();
  void find_seers();
  bool evaluate_sensor(int sensor, const State&, const Rates&, const Workspace&, double& value) const;
  void add_sensor_slopes(int sensor, const State&, const Rates&, Workspace&, double& t) const;
  void add_acceleration_slopes(int sensor, const Rates&, Workspace&) const;
  void add_reaction_slopes(int sensor, const State&, const Rates&, Workspace&, double& t) const;
  // linearise.cc
  void constraint_jacobians(const State&, Partials&, Vec* gamma, Workspace&) const;
  struct ConstraintValues;  // where the matrices of one constraint stand
  ConstraintValues localise(const ConstraintRecord&, const State&, const Rates&, Detail, Workspace&, Local&) const;
  void localise_rigid(const ConstraintRecord&, const State&, const Rates&, Detail, const BodyMotions&, Local&) const;
  void localise_newton(const ConstraintRecord&, const ElementInput&, const double* lambda, const BodyMotions&,
                       Local&) const;
  void localise_rigid(const ForceRecord&, const State&, const BodyMotions&, ForcePartials&) const;
  void add_local(const ElementRecord&, const double* local, double sign, Vec& out) const;
  // wide.cc: the same for elements on bodies that are not all rigid
  void frame_partials(const BodyFrame&, const BodyMotions&, const double* a, FramePartials&) const;
  void add_wrench_derivative(const BodyFrame&, const BodyMotions&, const Vec6& wrench, Eigen::Ref<Mat> out) const;
  Vec6 times_own(const FramePartials::Matrix& B, int body, const Vec& all) const;  // B own_part
  Vec own_part(int body, const Vec& all) const;  // a body's velocities, of a rigid one all six
  void localise_wide(const ConstraintRecord&, const State&, const Rates&, const BodyMotions&, WideMatrices&) const;
  void localise_wide(const ForceRecord&, const State&, const BodyMotions&, WideMatrices&) const;
  // G = C B, and with it C B' v added to the curvature.
  void wide_jacobian(const ConstraintRecord&, const RowMatrix& C, const BodyMotions&, double* curvature,
                     WideMatrices&) const;

  Model model_;
  Sizes sizes_;
  std::shared_ptr<const Pattern> vv_;
  Pattern gv_, vl_;
  std::vector<SetMember> members_;
  std::vector<int> movers_;   // members that stand for all that move
  std::vector<int> of_sets_;  // forces
  struct SetPair {
    const Contact* contact;
    std::array<int, 2> members;
  };
  std::vector<SetPair> set_pairs_;
  std::vector<int> in_play_;
  PairList list_{{}, -1};
  std::vector<Wire> standing_wires_;              // of all else
  std::vector<Pattern::Entry> standing_entries_;  // of bodies, and of forces that use variables
  std::vector<std::unique_ptr<BodyElement>> bodies_;
  std::vector<const RigidColumns*> rigid_;  // of each body; null: not rigid
  std::vector<std::unique_ptr<BodyGroup>> groups_;
  struct LengthColumn {
    int v, q;
  };
  std::vector<LengthColumn> lengths_;  // velocities that are lengths per time, and their coordinates
  std::vector<int> modal_;             // velocities of modal coordinates
  int varying_mass_ = -1;              // a body whose M depends on q
  std::vector<int> body_slots_;        // of the entries of all bodies in vv
  int extra_size_ = 0, wide_count_ = 0;
  std::vector<BodyFrame> frames_, origins_;
  std::vector<ConstraintRecord> constraints_;
  std::vector<ForceRecord> forces_;
  std::vector<ExpressionRecord> states_;
  std::vector<VariableRecord> variables_;  // and, behind those of the model, its sensors
  std::vector<int> variable_order_;        // each behind those that it uses, or behind others of its group
  std::vector<VariableGroup> variable_groups_;
  std::vector<std::vector<int>> users_;  // forces that use a signal, by its number
  std::vector<Chain> chains_;
  std::vector<int> chain_slots_, seen_slots_;
  std::vector<std::string> seers_;
  std::vector<int> reactions_seen_;
  std::vector<SwitchRecord> switches_;
  std::vector<int> rotation_columns_, velocity_rows_;
  std::vector<int> with_memory_constraints_, with_memory_forces_, with_memory_states_, with_memory_variables_;
  std::vector<int> with_modes_;           // forces
  std::vector<int> vv_local_, gv_local_;  // place in the values of an element's matrix ...
  std::vector<int> vv_slot_, gv_slot_;    // ... and in the value array
  int memory_size_ = 0;
  Vec row_arms_;  // of each row of the constraints: 1, or the length scale if it is an angle
  double length_ = 1, greatest_mass_ = 1, least_nonzero_mass_ = 1, least_nonzero_inertia_ = 1;
};

}  // namespace trammel
