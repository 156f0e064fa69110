#include "trammel/formulate/formulations.h"
#include "trammel/formulate/formulation_keys.h"

#include <numbers>

namespace trammel {
namespace {

Field frequency(double standard) {
  return {"frequency",
          FieldKind::number,
          Quantity::none,
          standard,
          "How fast drift is pulled back, rad/s; large ones make the equations stiff.",
          0,
          1e5};
}
Field damping() { return {"damping", FieldKind::number, Quantity::none, 1.0, "Of the pull; 1 is critical.", 0, 10}; }
Field penalty() {
  return {"penalty",
          FieldKind::number,
          Quantity::none,
          1e7,
          "Stiffness against violations at acceleration level, relative to the largest mass.",
          1,
          1e12};
}

double number(const Fields& options, const char* name, double otherwise) {
  return options.has(name) ? options.number(name) : otherwise;
}

void in_all_coordinates(const Fields& /*options*/, StateSpaceOptions& form) { form.all_coordinates = true; }

void projected(const Fields& /*options*/, StateSpaceOptions& form) { form.all_coordinates = form.project = true; }

void baumgarte(const Fields& options, StateSpaceOptions& form) {
  form.all_coordinates = true;
  form.frequency = number(options, "frequency", 20);
  form.damping = number(options, "damping", 1);
}

void by_penalty(const Fields& options, StateSpaceOptions& form) {
  baumgarte(options, form);
  form.penalty = number(options, "penalty", 1e7);
  form.sweeps = 1;
}

void by_augmented_lagrangian(const Fields& options, StateSpaceOptions& form) {
  by_penalty(options, form);
  form.sweeps = static_cast<int>(number(options, "iterations", 4));
}

void by_springs(const Fields& options, StateSpaceOptions& form) {
  form.all_coordinates = true;
  const double frequency = number(options, "penalty_frequency", 0), time = number(options, "penalty_time", 0);
  form.joint_frequency = frequency > 0 ? frequency : 1e3;
  form.joint_time = time > 0 ? time : 1 / (std::numbers::pi * form.joint_frequency);
}

}  // namespace

const std::vector<FormulationInfo>& formulation_registry() {
  static const std::vector<FormulationInfo> table{
      {formulation::index_3,
       "index 3",
       "The constraints themselves, at position level, with multipliers as unknowns.",
       {},
       false,
       {}},
      {formulation::stabilised_index_2,
       "stabilised index 2",
       "Constraints at position and velocity level together; a second set of multipliers, which vanishes as steps do, "
       "keeps both (Gear, Gupta, Leimkuhler).",
       {},
       false,
       {}},
      {formulation::all_coordinates,
       "index 1, returned to the constraints",
       "Accelerations from the equations at index 1 in all coordinates; a step ends with a return to the constraints.",
       {},
       false,
       {}},
      {formulation::state_space,
       "state space",
       "Independent coordinates only, chosen by pivoting or named by the user; the others follow from the constraints.",
       {},
       false,
       [](const Fields&, StateSpaceOptions&) {}},
      {formulation::joint_coordinates,
       "joint coordinates, by recursion",
       "Coordinates and speeds of a tree of joints, solved in time proportional to its size; all other constraints are "
       "rows on it, to which each step returns. Rigid bodies without modes; forces and outputs as always.",
       {{"depth", FieldKind::number, Quantity::none, 0.0,
         "Most joints between a body and the ground: bodies beyond move freely, and the joints that held them become "
         "rows. Where long loops follow each other up a tree, short ones couple fewer rows. 0: the depth whose "
         "evaluation costs least, by an estimate.",
         0, 1e6}},
       false,
       {},
       true},
      {formulation::index_1,
       "index 1, drifting",
       "Accelerations from the equations at index 1 in all coordinates, and nothing else: positions and velocities "
       "drift off the constraints.",
       {},
       true,
       in_all_coordinates},
      {formulation::index_1_projected,
       "index 1, projected",
       "As index-1; after each step positions and velocities go back onto the constraints, the mass matrix as metric.",
       {},
       false,
       projected},
      {formulation::index_1_baumgarte,
       "index 1, Baumgarte",
       "As index-1 with terms in g and its rate that pull drift back: g'' + 2 damping frequency g' + frequency^2 g = "
       "0.",
       {frequency(20), damping()},
       true,
       baumgarte},
      {formulation::penalty,
       "penalty",
       "Constraint forces in proportion to what the constraints at acceleration level are violated by, with "
       "Baumgarte's "
       "terms: no multipliers, and constraints that hold nearly.",
       {penalty(), frequency(20), damping()},
       true,
       by_penalty},
      {formulation::augmented_lagrangian,
       "augmented Lagrangian",
       "Penalty with multipliers improved by iteration, until the constraints at acceleration level hold.",
       {penalty(),
        frequency(20),
        damping(),
        {"iterations", FieldKind::number, Quantity::none, 4.0, "Of the multipliers, at each evaluation.", 1, 20}},
       true,
       by_augmented_lagrangian},
      {formulation::penalty_joints,
       "joints as stiff springs and dampers",
       "Each row of a joint or motion is a spring with a damper, force = k g + c g', with k from a frequency and the "
       "mass that the row moves: no multipliers, part B of methods that split forces.",
       {{"penalty_frequency", FieldKind::number, Quantity::frequency, 0.0,
         "Of the mass that a row moves on its spring; 0: ten periods a step, or 1 kHz with methods whose step varies "
         "within.",
         0, 1e12},
        {"penalty_time", FieldKind::number, Quantity::time, 0.0,
         "c/k of each row; 0: half the step (split, theta), or critical damping.", 0, 1e3}},
       true,
       by_springs},
      {formulation::index_2_relaxed,
       "true constraints, returned to within a step",
       "The limit of penalty-joints for k to infinity: multipliers are unknowns, and each step ends in g + (h/2) g' = "
       "0.",
       {},
       true,
       {}},
  };
  return table;
}

const FormulationInfo* find_formulation(std::string_view key) {
  for (const FormulationInfo& f : formulation_registry())
    if (f.key == key) return &f;
  return nullptr;
}

}  // namespace trammel
