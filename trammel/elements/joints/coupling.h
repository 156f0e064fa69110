// What gear, coupler and rack share: pairs of frames, each with an angle or a displacement that enters one linear row.
#pragma once
#include "trammel/elements/joints/relation_constraint.h"
#include "trammel/elements/registry.h"

namespace trammel {

enum class Coupled { angle, displacement };  // of the second frame about, along the z axis of the first

Field coupled_joints_field(const char* text);
// ElementDescription::attach: the frames of the joints that `joints` names. Throws Failure.
void attach_coupled_joints(Model& model, Item& item);
// The number of pairs, as many as asked for (0: two to four). Throws Failure.
int coupled_pairs(const Item& item, int wanted);
// What joint i couples: by the type of the named joint; its angle if frames are given. Throws Failure if the type
// leaves it open.
Coupled coupled_by_type(const Item& item, int i, const MakeContext& context);

struct CoupledTerm {
  Coupled what;
  double weight;
};
// sum of weight * what = offset; the multiplier is a force or torque as `unit` says. Weights must not be zero.
std::unique_ptr<Constraint> make_coupling(const Item& item, const std::vector<CoupledTerm>& terms, double offset,
                                          RowUnit unit, std::string row_name);

}  // namespace trammel
