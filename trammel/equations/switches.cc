// Switches of all elements: what run/events watches.
#include <algorithm>

#include "trammel/elements/measure.h"
#include "trammel/equations/equations.h"

namespace trammel {

void Equations::add_switches() {
  // Inputs and states may change at any time; a variable that uses none, and no moving frame, is a function of time, or
  // constant.
  std::vector<bool> changes(variables_.size(), false);
  for (std::size_t next = 0; next < variable_order_.size();) {
    const std::span<const int> unit = unit_of(variable_order_[next]);
    next += unit.size();
    bool any = false;
    for (const int i : unit) {
      if (const auto& element = variables_[i].element) any = any || element->expression().depends_on_time();
      for (const int signal : signals_of_variable(i))
        if (signal >= first_variable() && changes[signal - first_variable()]) any = true;
    }
    for (const int i : unit) changes[i] = any;
  }
  const auto of_time = [&](int signal) {
    if (signal < first_variable()) return false;
    const VariableRecord& variable = variables_[signal - first_variable()];
    return variable.velocities.empty() && variable.base.empty();
  };
  const auto changes_with_time = [&](int signal) {
    return signal >= first_variable() && changes[signal - first_variable()];
  };
  const auto add = [&](SwitchRecord::Of of, std::size_t element, std::vector<SwitchInfo> infos) {
    for (SwitchInfo& info : infos) {
      const std::vector<int>& by = info.signals;
      info.timed = (info.timed || std::any_of(by.begin(), by.end(), changes_with_time)) &&
                   std::all_of(by.begin(), by.end(), of_time);
    }
    const bool timed = std::any_of(infos.begin(), infos.end(), [](const SwitchInfo& info) { return info.timed; });
    for (std::size_t i = 0; i < infos.size(); ++i)
      switches_.push_back({of, static_cast<int>(element), static_cast<int>(i), infos[i], timed});
  };
  for (std::size_t c = 0; c < constraints_.size(); ++c)
    add(SwitchRecord::Of::constraint, c, constraints_[c].element->switches());
  for (std::size_t f = 0; f < forces_.size(); ++f) add(SwitchRecord::Of::force, f, forces_[f].element->switches());
  for (std::size_t x = 0; x < states_.size(); ++x) {
    std::vector<SwitchInfo> infos;
    states_[x].element->list_switches(infos);
    add(SwitchRecord::Of::state, x, infos);
  }
  for (std::size_t i = 0; i < model_.variables.size(); ++i) {  // rates that are seen have those of their states
    std::vector<SwitchInfo> infos;
    variables_[i].element->list_switches(infos);
    add(SwitchRecord::Of::variable, i, infos);
  }
}

std::string Equations::name_of_switch(int i) const {
  const SwitchRecord& record = switches_[i];
  switch (record.of) {
    case SwitchRecord::Of::constraint: {
      const ConstraintRecord& c = constraints_[record.element];
      return (c.is_motion ? "motion '" : "joint '") + c.item->name + "': " + record.info.name;
    }
    case SwitchRecord::Of::force: return "force '" + forces_[record.element].item->name + "': " + record.info.name;
    case SwitchRecord::Of::state: return "state '" + model_.states[record.element].name + "': " + record.info.name;
    case SwitchRecord::Of::variable:
      return "variable '" + model_.variables[record.element].name + "': " + record.info.name;
  }
  return "";
}

Location Equations::place_of_switch(int i) const {
  const SwitchRecord& record = switches_[i];
  switch (record.of) {
    case SwitchRecord::Of::constraint: return constraints_[record.element].item->where;
    case SwitchRecord::Of::force: return forces_[record.element].item->where;
    case SwitchRecord::Of::state: return model_.states[record.element].where;
    case SwitchRecord::Of::variable: return model_.variables[record.element].where;
  }
  return {};
}

void Equations::switch_values(const State& state, Vec& values, Workspace& work, bool timed_only,
                              const Rates* rates) const {
  values.resize(switch_count());
  const auto uses_variables = [](const SwitchRecord& record) {
    return record.info.timed && !record.info.signals.empty();
  };
  if (!timed_only)
    update(state, work, rates);
  else if (std::any_of(switches_.begin(), switches_.end(), uses_variables))
    evaluate_variables(state, work, rates);
  FrameState frames[max_frames];
  for (std::size_t i = 0; i < switches_.size(); ++i) {
    const SwitchRecord& record = switches_[i];
    if (record.which != 0 || (timed_only && !record.element_is_timed)) continue;  // all of an element at once
    const auto evaluate = [&](const auto& of) {
      frame_states(of, work, frames);
      return element_input(of, state, frames, work);
    };
    double* out = values.data() + i;
    switch (record.of) {
      case SwitchRecord::Of::constraint: {
        const ConstraintRecord& c = constraints_[record.element];
        c.element->switch_values(evaluate(c), out);
        break;
      }
      case SwitchRecord::Of::force: {
        const ForceRecord& f = forces_[record.element];
        frame_states(f, work, frames);
        f.element->switch_values(held_input(f, state, frames, work, rates), out);
        break;
      }
      case SwitchRecord::Of::state: {
        const ExpressionRecord& x = states_[record.element];
        x.element->switch_values(evaluate(x), out);
        break;
      }
      case SwitchRecord::Of::variable: {
        const VariableRecord& variable = variables_[record.element];
        variable.element->switch_values(evaluate(variable), out);
        break;
      }
    }
  }
}

Equations::StrikeRow Equations::strike(int i, const State& state, Workspace& work) const {
  const ForceRecord& f = forces_[switches_[i].element];
  update(state, work);
  FrameState frames[max_frames];
  frame_states(f, work, frames);
  const Force::Strike strike = f.element->strike(element_input(f, state, frames, work), switches_[i].which);
  StrikeRow out{Vec::Zero(sizes_.nv), strike.restitution};
  for (std::size_t k = 0; k < f.frames.size(); ++k)
    add_wrench(frames_[f.frames[k]], work, strike.row.data() + 6 * k, 1, out.row);
  return out;
}

// ---- Modes
// -----------------------------------------------------------------------------------------------------------

ElementInput Equations::held_input(const ForceRecord& f, const State& state, const FrameState* frames,
                                   const BodyMotions& motions, const Rates* rates) const {
  ElementInput in = element_input(f, state, frames, motions);
  if (rates != nullptr && f.held >= 0 && constraints_[f.held].rows > 0)
    in.held = rates->lambda.data() + constraints_[f.held].first_row;
  return in;
}

int Equations::mode(int force, const State& state) const {
  const ForceRecord& f = forces_[force];
  return f.element->mode(state.memory.data() + f.memory);
}

std::string Equations::name_of_mode(int force, const State& state) const {
  const ForceRecord& f = forces_[force];
  return "force '" + f.item->name + "': " + f.element->modes()[mode(force, state)];
}

bool Equations::holds(int constraint, const State& state) const {
  const ConstraintRecord& c = constraints_[constraint];
  return c.element->holds(state.memory.data() + c.memory);
}

int Equations::rows_held(int force, const State& state) const {
  const int held = forces_[force].held;
  return held >= 0 && holds(held, state) ? constraints_[held].rows : 0;
}

int Equations::held_row(int force) const {
  const int held = forces_[force].held;
  return held >= 0 && constraints_[held].rows > 0 ? constraints_[held].first_row : -1;
}

void Equations::begin_mode(int force, State& state, const Force::Rest& rest, Workspace& work) const {
  const ForceRecord& f = forces_[force];
  update(state, work);
  FrameState frames[max_frames];
  frame_states(f, work, frames);
  f.element->begin_mode(element_input(f, state, frames, work), rest, state.memory.data() + f.memory);
}

void Equations::end_mode(int i, State& state, const Rates& rates, Workspace& work) const {
  const ForceRecord& f = forces_[switches_[i].element];
  update(state, work, &rates);
  FrameState frames[max_frames];
  frame_states(f, work, frames);
  f.element->end_mode(held_input(f, state, frames, work, &rates), switches_[i].which, state.memory.data() + f.memory);
}

}  // namespace trammel
