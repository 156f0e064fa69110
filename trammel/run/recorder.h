// What is recorded of a run: bodies, joints, forces, energies, residuals and the user's outputs at output times, and
// one row of solver statistics for every accepted step.
#pragma once
#include "trammel/base/archive.h"
#include "trammel/elements/measure.h"
#include "trammel/elements/registry.h"
#include "trammel/elements/remembered_angle.h"
#include "trammel/equations/equations.h"
#include "trammel/initial/consistent.h"
#include "trammel/run/output_table.h"
#include "trammel/write/trajectory.h"

namespace trammel {

// Energy booked along the accepted steps: kinetic + potential + dissipated - external should stay at its first value.
struct EnergyBook {
  double first = 0, kinetic = 0, potential = 0, dissipated = 0, external = 0, largest_imbalance = 0;
  double greatest_kinetic = 0, least_potential = 0, greatest_potential = 0;
  double passed = 0;      // sum of |heat| and |work| of all steps
  double worst_step = 0;  // largest share of one step in the imbalance
  double imbalance() const { return kinetic + potential + dissipated - external - first; }
  // What moved between the forms of energy.
  double exchanged() const { return greatest_kinetic + (greatest_potential - least_potential) + passed; }
};

class Recorder {
 public:
  Recorder(const Equations& equations, const InitialReport& initial, bool reactions_doubtful);

  const std::vector<Table>& tables() const { return tables_; }
  // Follows angles of joints and books energy; called once at the start and after every accepted step. Work and heat of
  // a step are summed by Simpson's rule, so `middle`, the state in the middle of the step, is needed if the model has
  // forces or motions.
  void note_step(const State& state, const Rates& rates, const State* middle = nullptr);
  bool needs_middle() const { return needs_middle_; }
  // Work of motions is booked from multipliers: those of `rates` should solve the equations of motion.
  bool books_multipliers() const { return books_multipliers_; }
  const EnergyBook& energy() const { return book_; }
  // Start and end of the step with the largest share in the imbalance.
  const State& before_worst_step() const { return before_worst_; }
  const State& after_worst_step() const { return after_worst_; }
  // A row of the output table: `rates` must satisfy the equations of motion at `state`.
  const std::vector<double>& output_row(const State& state, const Rates& rates);
  // |g| and |G v + g_t| of the last output row.
  double position_residual() const { return position_residual_; }
  double velocity_residual() const { return velocity_residual_; }
  // The user's outputs that could not be evaluated in it: not-a-number stands in their places.
  long values_missing() const { return values_missing_; }

  // Total angles and booked energy, for a continued run.
  void visit(Archive& archive);

  struct Step {
    double t, h, error;
    int newton_iterations, rejected;
  };
  const std::vector<double>& step_row(const Step& step);
  // A third table, with a row for each event; `names` of the switches by number, `modes` in words if there are any.
  void record_events(const std::vector<std::string>& names, const std::string& modes);
  const std::vector<double>& event_row(double t, int which, bool rises, double impulse, int mode);
  // Velocities jumped, or a force did: energy that is lost in no time is booked as heat.
  void note_jump(const State& state, const Rates& rates);

 private:
  struct UserOutput {
    MeasuredExpression expression;
    std::vector<int> frames;
    std::vector<double> memory;  // angles in it at the end of the last step
  };
  void evaluate_outputs(const State& state, bool remember);
  double joint_angle(std::size_t joint, double t, double* rate) const;
  struct Cursor;  // in a row
  void add_bodies(const State& state, const Rates& rates, Cursor& row);
  void add_constraints(const State& state, const Rates& rates, Cursor& row);
  void add_forces(const State& state, const Rates& rates, Cursor& row);
  void add_contact_set(const RecordedForces& set, const State& state, const Rates& rates, Cursor& row);
  void add_energies(const State& state, const Rates& rates, Cursor& row);

  const Equations& equations_;
  Workspace work_;
  Residual residual_;
  Vec gdot_;
  std::vector<Table> tables_;
  std::vector<double> row_, step_row_, output_values_;
  std::vector<bool> is_place_;                      // of each body
  std::vector<int> modes_;                          // of each body: how many modal coordinates, its last ones
  std::vector<AxisFreedoms> axes_;                  // of the joints
  std::vector<double> joint_angles_, joint_rates_;  // multi-turn, of joints that turn about one axis
  std::vector<double> near_, rates_;                // scratch of evaluate_outputs
  std::vector<RecordedForces> recorded_forces_;
  std::vector<UserOutput> outputs_;
  EnergyBook book_;
  bool started_ = false, needs_middle_ = false, books_multipliers_ = false, with_modes_ = false;
  // A power over the last step as a parabola through start, middle and end, and its sum up to the start: inside a step
  // the books are interpolated.
  struct Power {
    double first = 0, middle = 0, last = 0, before = 0;
    double sum(double s, double h) const;  // from the start to the part s of the step
  };
  Power heat_, work_done_;
  double last_t_ = 0, step_ = 0;
  Rates middle_rates_;
  State last_, before_worst_, after_worst_;  // of the last step, and of the one with the largest imbalance
  double position_residual_ = 0, velocity_residual_ = 0;
  long values_missing_ = 0;
};

}  // namespace trammel
