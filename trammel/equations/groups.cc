// Variables that depend on each other, and implicit states: unknowns w of equations that are solved within an
// evaluation, group by group,
//
//   r_i(w, z) = v_i(w, z) - w_i = 0     of a variable V_i = v_i
//   r_i(w, z) = d_i(w, z) = 0           of a state's rate w_i = x_i', (5)
//
// z being all else: t, q, v, a, lambda, u, x and other variables. Newton's method begins at the values of the last
// accepted step, so that of several solutions the one that goes on is found, and halves steps that do not make the
// next one smaller. The derivatives follow from r_w dw = -r_z dz.
#include <algorithm>
#include <cmath>

#include "trammel/elements/measure.h"
#include "trammel/equations/equations.h"

namespace trammel {

std::span<const int> Equations::unit_of(int variable) const {
  const int group = variables_[variable].group;
  if (group >= 0) return variable_groups_[group].members;
  return std::span(&variable_order_[variables_[variable].place], 1);
}

// Variables that come next in the order, each of which depends on all of them, or one alone.
void Equations::add_unit(std::vector<int> members) {
  const int first = members.front();
  const std::vector<int>& used = signals_of_variable(first);
  const bool solved = members.size() > 1 || variables_[first].implicit ||
                      std::find(used.begin(), used.end(), first_variable() + first) != used.end();
  std::sort(members.begin(), members.end());
  for (const int i : members) {
    variables_[i].place = static_cast<int>(variable_order_.size());
    if (solved) variables_[i].group = static_cast<int>(variable_groups_.size());
    variable_order_.push_back(i);
  }
  if (!solved) return;
  const int memory = memory_size_;
  memory_size_ += static_cast<int>(members.size());
  variable_groups_.push_back({std::move(members), memory});
}

// r and r_w at the values that stand among the signals. False: it cannot be evaluated.
bool Equations::linearise_members(const VariableGroup& group, const State& state, Workspace& work,
                                  VariableDerivatives::Group& out) const {
  const auto n = static_cast<Eigen::Index>(group.members.size());
  out.matrix.setZero(n, n);
  out.missing.resize(n);
  out.step.resize(n);
  FrameState frames[max_frames];
  ExpressionPartials p;
  for (Eigen::Index i = 0; i < n; ++i) {
    const int member = group.members[static_cast<std::size_t>(i)];
    const VariableRecord& variable = variables_[member];
    frame_states(variable, work, frames);
    const ElementInput in = element_input(variable, state, frames, work);
    double value = 0;
    if (!variable.element->evaluate(in, value)) return false;
    variable.element->linearise(in, static_cast<int>(variable.frames.size()), p);
    const std::vector<int>& signals = variable.element->signals();
    for (std::size_t k = 0; k < signals.size(); ++k) {
      const int used = signals[k] - first_variable();
      if (used < 0 || variables_[used].group != variable.group) continue;
      const auto at = std::lower_bound(group.members.begin(), group.members.end(), used) - group.members.begin();
      out.matrix(i, at) += p.signals[static_cast<Eigen::Index>(k)];
    }
    out.missing[i] = value;
    if (variable.implicit) continue;
    out.missing[i] -= work.signals[static_cast<std::size_t>(first_variable() + member)];
    out.matrix(i, i) -= 1;
  }
  out.factors.compute(out.matrix);
  out.step = out.factors.solve(out.missing);
  return out.step.allFinite();
}

bool Equations::evaluate_group(const VariableGroup& group, const State& state, Workspace& work) const {
  constexpr int most = 50, most_halvings = 12;
  constexpr double round_off = 1e-13, enough = 1e-9;
  VariableDerivatives::Group& scratch =
      work.variables.groups[static_cast<std::size_t>(&group - variable_groups_.data())];
  const auto n = static_cast<Eigen::Index>(group.members.size());
  const auto value = [&](Eigen::Index i) -> double& {
    return work.signals[static_cast<std::size_t>(first_variable() + group.members[static_cast<std::size_t>(i)])];
  };
  // The next step, by the greatest size that the values have had.
  const auto size_of_step = [&] {
    constexpr double none = 1e-18;
    for (Eigen::Index i = 0; i < n; ++i)
      scratch.scale[i] = std::max({scratch.scale[i], std::abs(value(i)), std::abs(scratch.step[i]), none});
    return scratch.step.cwiseQuotient(scratch.scale).lpNorm<Eigen::Infinity>();
  };
  const auto fail = [&] {
    for (Eigen::Index i = 0; i < n; ++i) value(i) = std::nan("");
    return false;
  };
  scratch.scale.setZero(n);
  for (Eigen::Index i = 0; i < n; ++i) value(i) = state.memory[static_cast<std::size_t>(group.memory + i)];
  if (!linearise_members(group, state, work, scratch)) return fail();
  for (int iteration = 0; iteration < most; ++iteration) {
    const double missing = scratch.missing.norm();
    scratch.last = scratch.step;
    double part = 1;
    bool better = missing == 0;
    for (int halvings = 0; !better && halvings < most_halvings; ++halvings, part *= 0.5) {
      for (Eigen::Index i = 0; i < n; ++i) value(i) -= part * scratch.last[i];
      // Smaller residuals, or smaller steps: the one where equations have units of their own, the other near the end.
      better = linearise_members(group, state, work, scratch) &&
               (scratch.missing.norm() < missing || scratch.step.norm() < (1 - 0.25 * part) * scratch.last.norm());
      if (better) break;
      if (part == 1 && scratch.step.allFinite() && size_of_step() <= enough) return true;  // round-off
      for (Eigen::Index i = 0; i < n; ++i) value(i) += part * scratch.last[i];
    }
    if (!better) return fail();
    if (size_of_step() <= round_off) return true;
  }
  return fail();
}

// The slopes of the members' expressions against all but each other stand in VariableDerivatives; they become those of
// the solution.
void Equations::linearise_group(const VariableGroup& group, const State& state, Workspace& work) const {
  VariableDerivatives& d = work.variables;
  VariableDerivatives::Group& scratch = d.groups[static_cast<std::size_t>(&group - variable_groups_.data())];
  linearise_members(group, state, work, scratch);
  const auto solve = [&](Vec& values, int VariableRecord::*first, Eigen::Index count) {
    for (Eigen::Index c = 0; c < count; ++c) {
      for (std::size_t i = 0; i < group.members.size(); ++i)
        scratch.missing[static_cast<Eigen::Index>(i)] = values[variables_[group.members[i]].*first + c];
      scratch.step = scratch.factors.solve(scratch.missing);
      for (std::size_t i = 0; i < group.members.size(); ++i)
        values[variables_[group.members[i]].*first + c] = -scratch.step[static_cast<Eigen::Index>(i)];
    }
  };
  const VariableRecord& any = variables_[group.members.front()];
  solve(d.q, &VariableRecord::first_velocity, std::ssize(any.velocities));
  solve(d.v, &VariableRecord::first_velocity, std::ssize(any.velocities));
  solve(d.u, &VariableRecord::first_base, std::ssize(any.base));
  if (any.sees_rates) {
    solve(d.a, &VariableRecord::first_velocity, std::ssize(any.velocities));
    solve(d.lambda, &VariableRecord::first_multiplier, std::ssize(any.multipliers));
  }
  for (std::size_t i = 0; i < group.members.size(); ++i)
    scratch.missing[static_cast<Eigen::Index>(i)] = d.t[group.members[i]];
  scratch.step = scratch.factors.solve(scratch.missing);
  for (std::size_t i = 0; i < group.members.size(); ++i)
    d.t[group.members[i]] = -scratch.step[static_cast<Eigen::Index>(i)];
}

// Values that are not known, because they depend on accelerations, stay where they were: the next search begins there.
void Equations::remember_groups(State& state, const Workspace& work) const {
  for (const VariableGroup& group : variable_groups_) {
    for (std::size_t i = 0; i < group.members.size(); ++i) {
      const double value = work.signals[static_cast<std::size_t>(first_variable() + group.members[i])];
      if (std::isfinite(value)) state.memory[static_cast<std::size_t>(group.memory) + i] = value;
    }
  }
}

std::optional<Problem> Equations::loop_without_solution(const Workspace& work, bool without_seen) const {
  for (const int i : variable_order_) {
    if (without_seen && variables_[i].sees_rates) continue;
    if (!std::isnan(work.signals[static_cast<std::size_t>(first_variable() + i)])) continue;
    const int group = variables_[i].group;
    if (group < 0) return std::nullopt;  // that one is to blame
    const VariableDerivatives::Group& scratch = work.variables.groups[static_cast<std::size_t>(group)];
    const double least = scratch.factors.matrixLU().diagonal().cwiseAbs().minCoeff();
    const bool singular = !(least > 1e-14 * scratch.matrix.cwiseAbs().maxCoeff());
    std::string names;
    for (const int member : variable_groups_[group].members)
      names += (names.empty() ? "'" : ", '") + name_of_variable(member) + "'";
    const bool alone = variable_groups_[group].members.size() == 1;
    const bool of_state = i >= sizes_.nV;
    return Problem{
        Severity::error, "algebraic-loop",
        names + (alone ? (of_state ? " is given by an equation" : " depends on itself") : " depend on each other") +
            (singular ? ", and these equations do not determine " + std::string(alone ? "it" : "them") +
                            ": their derivative is singular"
                      : ", and no solution was found"),
        "check the equations; where a quantity shall follow another with a delay, make it a state",
        of_state ? model_.sensors[i - sizes_.nV].where : model_.variables[i].where};
  }
  return std::nullopt;
}

}  // namespace trammel
