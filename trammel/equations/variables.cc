// The variables of (6), V = v(t, q, v, u, x, V). They are eliminated: each is evaluated once, behind those that it
// uses, and expressions read its value as they read inputs and states. Derivatives follow the chain,
//
//   V_q = v_q + sum_k v_Vk Vk_q,      Q_q = ... + sum_k Q_Vk Vk_q,     and so for v, t, u and x.
//
// A row of V has the columns of the bodies that it, or one that it uses, looks at; the pattern of the equations has the
// products of those and of the bodies that forces with V act on. Sensors stand among the variables, sensors.cc.
#include <algorithm>
#include <cmath>
#include <utility>

#include "trammel/elements/measure.h"
#include "trammel/equations/equations.h"

namespace trammel {

void Equations::remember(ExpressionRecord& record, std::size_t index, std::vector<int>& with_memory) {
  record.memory = memory_size_;
  memory_size_ += record.element->memory();
  if (record.element->memory() > 0) with_memory.push_back(static_cast<int>(index));
}

void Equations::add_variables() {
  PlaceNames names(model_);
  names.index();
  for (const Variable& variable : model_.variables) {
    VariableRecord record;
    record.element = std::make_unique<MeasuredExpression>(MeasuredExpression::parse(variable, names, record.frames));
    remember(record, variables_.size(), with_memory_variables_);
    variables_.push_back(std::move(record));
  }
  add_sensors();
  users_.resize(static_cast<std::size_t>(first_variable()) + variables_.size());
  for (std::size_t f = 0; f < forces_.size(); ++f)
    for (const int signal : forces_[f].item->signals) users_[signal].push_back(static_cast<int>(f));
  sort_variables();
  find_dependencies();
}

const std::string& Equations::name_of_variable(int variable) const {
  return model_.name_of_signal(first_variable() + variable);
}

const std::vector<int>& Equations::signals_of_variable(int variable) const {
  static const std::vector<int> none;
  const auto& element = variables_[variable].element;
  return element ? element->signals() : none;
}

// Each behind those that it uses; those that depend on each other side by side (Tarjan's strongly connected groups).
void Equations::sort_variables() {
  const std::size_t count = variables_.size();
  std::vector<int> number(count, -1), low(count, 0), path;
  std::vector<bool> on_path(count, false);
  struct Visit {
    int variable;
    std::size_t next;
  };
  std::vector<Visit> open;  // by hand: chains of thousands of variables would overflow the stack
  int numbered = 0;
  const auto begin = [&](int variable) {
    open.push_back({variable, 0});
    number[variable] = low[variable] = numbered++;
    path.push_back(variable);
    on_path[variable] = true;
  };
  for (std::size_t start = 0; start < count; ++start) {
    if (number[start] < 0) begin(static_cast<int>(start));
    while (!open.empty()) {
      const int variable = open.back().variable;
      const std::vector<int>& signals = signals_of_variable(variable);
      if (open.back().next < signals.size()) {
        const int used = signals[open.back().next++] - first_variable();
        if (used < 0) continue;
        if (number[used] < 0)
          begin(used);
        else if (on_path[used])
          low[variable] = std::min(low[variable], number[used]);
        continue;
      }
      open.pop_back();
      if (!open.empty()) low[open.back().variable] = std::min(low[open.back().variable], low[variable]);
      if (low[variable] < number[variable]) continue;
      const auto first = std::find(path.begin(), path.end(), variable);
      std::vector<int> members(first, path.end());
      path.erase(first, path.end());
      for (const int each : members) on_path[each] = false;
      add_unit(std::move(members));
    }
  }
}

void Equations::find_dependencies() {
  const auto unite = [](std::vector<int>& all, const std::vector<int>& more) {
    all.insert(all.end(), more.begin(), more.end());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
  };
  for (std::size_t next = 0; next < variable_order_.size();) {
    const std::span<const int> unit = unit_of(variable_order_[next]);
    next += unit.size();
    VariableRecord all;
    for (const int i : unit) {
      const VariableRecord& variable = variables_[i];
      all.sets_in = all.sets_in || (variable.element && variable.element->expression().sets_in());
      all.sees_rates = all.sees_rates || !variable.element;
      std::vector<int> own;
      for (const int frame : variable.frames) {
        const int body = frames_[frame].body;
        if (body == ground) continue;
        const BodyElement& b = *bodies_[body];
        for (int k = 0; k < std::ssize(b.velocities()); ++k) own.push_back(b.at().v + k);
      }
      unite(all.velocities, own);
      for (const int signal : signals_of_variable(i)) {
        if (signal < first_variable()) {
          unite(all.base, {signal});
          continue;
        }
        const VariableRecord& used = variables_[signal - first_variable()];
        all.sets_in = all.sets_in || used.sets_in;
        all.sees_rates = all.sees_rates || used.sees_rates;
        unite(all.velocities, used.velocities);
        unite(all.base, used.base);
      }
    }
    for (const int i : unit) {
      variables_[i].sets_in = all.sets_in;
      variables_[i].sees_rates = all.sees_rates;
      variables_[i].velocities = all.velocities;
      variables_[i].base = all.base;
    }
  }
  int velocities = 0, base = 0;
  for (VariableRecord& variable : variables_) {
    variable.first_velocity = velocities;
    variable.first_base = base;
    velocities += static_cast<int>(variable.velocities.size());
    base += static_cast<int>(variable.base.size());
  }
}

void Equations::size_variables(Workspace& work) const {
  work.signals.assign(static_cast<std::size_t>(first_variable()) + variables_.size(), 0.0);
  int velocities = 0, base = 0, multipliers = 0;
  for (const VariableRecord& variable : variables_) {
    velocities += static_cast<int>(variable.velocities.size());
    base += static_cast<int>(variable.base.size());
    multipliers += static_cast<int>(variable.multipliers.size());
  }
  VariableDerivatives& d = work.variables;
  d.q.setZero(velocities);
  d.v.setZero(velocities);
  d.u.setZero(base);
  d.t.setZero(std::ssize(variables_));
  for (Vec* row : {&d.row_q, &d.row_v, &d.force}) row->setZero(sizes_.nv);
  d.row_u.setZero(first_variable());
  d.groups.resize(variable_groups_.size());
  if (!has_sensors()) return;
  d.a.setZero(velocities);
  d.lambda.setZero(multipliers);
  d.row_a.setZero(sizes_.nv);
  d.row_lambda.setZero(sizes_.multipliers());
  d.frames.resize(model_.sensors.size());
}

void Equations::evaluate_variables(const State& state, Workspace& work, const Rates* seen) const {
  std::copy(state.u.data(), state.u.data() + state.u.size(), work.signals.begin());
  FrameState frames[max_frames];
  for (const int i : variable_order_) {
    const VariableRecord& variable = variables_[i];
    double& value = work.signals[static_cast<std::size_t>(first_variable() + i)];
    bool good = false;
    if (variable.group >= 0) {
      const VariableGroup& group = variable_groups_[variable.group];
      good = i != group.members.front() ? !std::isnan(value) : evaluate_group(group, state, work);
    } else if (variable.element) {
      frame_states(variable, work, frames);
      good = variable.element->evaluate(element_input(variable, state, frames, work), value);
    } else if (seen != nullptr) {
      good = evaluate_sensor(i - sizes_.nV, state, *seen, work, value);
    }
    // What cannot be evaluated becomes not a number, and so does every force that uses it.
    if (!good) value = std::nan("");
  }
}

std::span<const double> Equations::variables_of(const Workspace& work) const {
  if (sizes_.nV == 0) return {};
  return std::span(work.signals)
      .subspan(static_cast<std::size_t>(first_variable()), static_cast<std::size_t>(sizes_.nV));
}

// Adds the derivatives of an expression to the scratch rows; those of the variables in it must be known.
void Equations::add_slopes(const MeasuredExpression& expression, const std::vector<int>& frames, const double* memory,
                           const State& state, Workspace& work, double& value, double& t, int but_of_group) const {
  VariableDerivatives& d = work.variables;
  FrameState seen[max_frames];
  for (std::size_t k = 0; k < frames.size(); ++k) seen[k] = frame(frames_[frames[k]], work);
  ExpressionPartials p;
  expression.linearise(expression_input(state, seen, memory, work), static_cast<int>(frames.size()), p);
  value = p.value;
  t = p.time;
  for (std::size_t k = 0; k < frames.size(); ++k) {
    const auto at = static_cast<Eigen::Index>(6 * k);
    add_frame_row(frames_[frames[k]], p.pose.segment<6>(at), p.twist.segment<6>(at), work, d.row_q, d.row_v);
  }
  const std::vector<int>& signals = expression.signals();
  for (std::size_t k = 0; k < signals.size(); ++k) {
    const double slope = p.signals[static_cast<Eigen::Index>(k)];
    if (signals[k] < first_variable()) {
      d.row_u[signals[k]] += slope;
      continue;
    }
    const int used = signals[k] - first_variable();
    const VariableRecord& variable = variables_[used];
    if (but_of_group >= 0 && variable.group == but_of_group) continue;
    for (int c = 0; c < std::ssize(variable.velocities); ++c) {
      d.row_q[variable.velocities[c]] += slope * d.q[variable.first_velocity + c];
      d.row_v[variable.velocities[c]] += slope * d.v[variable.first_velocity + c];
    }
    if (variable.sees_rates) {
      for (int c = 0; c < std::ssize(variable.velocities); ++c)
        d.row_a[variable.velocities[c]] += slope * d.a[variable.first_velocity + c];
      for (int c = 0; c < std::ssize(variable.multipliers); ++c)
        d.row_lambda[variable.multipliers[c]] += slope * d.lambda[variable.first_multiplier + c];
    }
    for (int c = 0; c < std::ssize(variable.base); ++c)
      d.row_u[variable.base[c]] += slope * d.u[variable.first_base + c];
    t += slope * d.t[used];
  }
}

// The scratch rows become those of the variable.
void Equations::store_slopes(const VariableRecord& variable, VariableDerivatives& d) const {
  for (int c = 0; c < std::ssize(variable.velocities); ++c) {
    const int column = variable.velocities[c];
    d.q[variable.first_velocity + c] = std::exchange(d.row_q[column], 0.0);
    d.v[variable.first_velocity + c] = std::exchange(d.row_v[column], 0.0);
  }
  for (int c = 0; c < std::ssize(variable.base); ++c)
    d.u[variable.first_base + c] = std::exchange(d.row_u[variable.base[c]], 0.0);
  if (!variable.sees_rates) return;
  for (int c = 0; c < std::ssize(variable.velocities); ++c)
    d.a[variable.first_velocity + c] = std::exchange(d.row_a[variable.velocities[c]], 0.0);
  for (int c = 0; c < std::ssize(variable.multipliers); ++c)
    d.lambda[variable.first_multiplier + c] = std::exchange(d.row_lambda[variable.multipliers[c]], 0.0);
}

void Equations::linearise_variables(const State& state, Workspace& work, const Rates* seen) const {
  VariableDerivatives& d = work.variables;
  for (const int i : variable_order_) {
    const VariableRecord& variable = variables_[i];
    double value = 0, t = 0;
    if (variable.element)
      add_slopes(*variable.element, variable.frames, state.memory.data() + variable.memory, state, work, value, t,
                 variable.group);
    else if (seen != nullptr)
      add_sensor_slopes(i - sizes_.nV, state, *seen, work, t);
    d.t[i] = t;
    store_slopes(variable, d);
    if (variable.group >= 0 && i == variable_groups_[variable.group].members.back())
      linearise_group(variable_groups_[variable.group], state, work);
  }
}

void Equations::linearise_expression(const MeasuredExpression& expression, const std::vector<int>& frames,
                                     const double* memory, const State& state, Workspace& work,
                                     ExpressionRow& out) const {
  VariableDerivatives& d = work.variables;
  for (Vec* row : {&d.row_q, &d.row_v}) row->setZero(sizes_.nv);
  d.row_u.setZero(first_variable());
  add_slopes(expression, frames, memory, state, work, out.value, out.t);
  out.q = d.row_q;
  out.v = d.row_v;
  out.u = d.row_u;
  for (Vec* row : {&d.row_q, &d.row_v, &d.row_u}) row->setZero();
  if (!has_sensors()) return;
  out.a = d.row_a;
  out.lambda = d.row_lambda;
  for (Vec* row : {&d.row_a, &d.row_lambda}) row->setZero();
}

// ---- forces that use signals ----------------------------------------------------------------------------------------

// -Q by one signal as it stands in the expressions of forces, not through other variables.
void Equations::add_force_by_signal(const State& state, int signal, Vec& force_u, Workspace& work) const {
  FrameState frames[max_frames];
  ForcePartials p;
  const auto add = [&](int of, double weight) {
    for (const int i : users_[of]) {
      const ForceRecord& force = forces_[i];
      frame_states(force, work, frames);
      ElementInput in = element_input(force, state, frames, work);
      in.by_signal = of;
      force.element->linearise(in, p);
      for (std::size_t k = 0; k < force.frames.size(); ++k)
        add_wrench(frames_[force.frames[k]], work, p.time.data() + 6 * k, -weight, force_u);
    }
  };
  add(signal, 1);
  for (int i = 0; i < std::ssize(variables_); ++i) {
    const std::vector<int>& base = variables_[i].base;
    const auto found = std::lower_bound(base.begin(), base.end(), signal);
    if (found == base.end() || *found != signal || users_[first_variable() + i].empty()) continue;
    add(first_variable() + i, work.variables.u[variables_[i].first_base + (found - base.begin())]);
  }
}

void Equations::force_by_input(const State& state, int input, Vec& force_u, Workspace& work, const Rates* seen) const {
  update(state, work, seen);
  if (!variables_.empty()) linearise_variables(state, work, seen);
  force_u.setZero(sizes_.nv);
  add_force_by_signal(state, input, force_u, work);
}

void Equations::wire_chains(std::vector<Pattern::Entry>& vv, std::vector<Pattern::Entry>& vl) {
  for (std::size_t f = 0; f < forces_.size(); ++f) {
    for (const int signal : forces_[f].item->signals) {
      if (signal < first_variable()) continue;
      Chain chain{static_cast<int>(f), signal - first_variable(), {}};
      for (const int frame : forces_[f].frames) {
        const int body = frames_[frame].body;
        if (body == ground) continue;
        const BodyElement& b = *bodies_[body];
        for (int k = 0; k < std::ssize(b.velocities()); ++k) chain.rows.push_back(b.at().v + k);
      }
      std::sort(chain.rows.begin(), chain.rows.end());
      chain.rows.erase(std::unique(chain.rows.begin(), chain.rows.end()), chain.rows.end());
      for (const int row : chain.rows) {
        for (const int column : variables_[chain.variable].velocities) vv.push_back({row, column});
        for (const int column : variables_[chain.variable].multipliers) vl.push_back({row, column});
      }
      chains_.push_back(std::move(chain));
    }
  }
}

void Equations::find_chain_slots() {
  chain_slots_.clear();
  seen_slots_.clear();
  for (Chain& chain : chains_) {
    chain.slots_begin = static_cast<int>(chain_slots_.size());
    for (const int row : chain.rows)
      for (const int column : variables_[chain.variable].velocities) chain_slots_.push_back(vv_->slot(row, column));
    chain.slots_end = static_cast<int>(chain_slots_.size());
    chain.seen_begin = static_cast<int>(seen_slots_.size());
    for (const int row : chain.rows)
      for (const int column : variables_[chain.variable].multipliers) seen_slots_.push_back(vl_.slot(row, column));
  }
}

// force_q, force_v and force_t of what forces owe to variables, and force_a and force_lambda.
void Equations::add_chains(const State& state, const Rates& rates, Detail detail, Partials& out,
                           Workspace& work) const {
  linearise_variables(state, work, &rates);
  VariableDerivatives& d = work.variables;
  FrameState frames[max_frames];
  ForcePartials p;
  for (const Chain& chain : chains_) {
    if (!work.without_derivatives.empty() && work.without_derivatives[chain.force]) continue;
    const VariableRecord& variable = variables_[chain.variable];
    if (detail != Detail::all && chain.slots_begin == chain.slots_end && variable.multipliers.empty())
      continue;  // it depends on time and states alone
    const ForceRecord& force = forces_[chain.force];
    frame_states(force, work, frames);
    ElementInput in = element_input(force, state, frames, work);
    in.by_signal = first_variable() + chain.variable;
    force.element->linearise(in, p);
    for (std::size_t k = 0; k < force.frames.size(); ++k)
      add_wrench(frames_[force.frames[k]], work, p.time.data() + 6 * k, 1, d.force);
    const int *slot = chain_slots_.data() + chain.slots_begin, *seen = seen_slots_.data() + chain.seen_begin;
    for (const int row : chain.rows) {
      const double slope = std::exchange(d.force[row], 0.0);
      for (int c = 0; c < std::ssize(variable.velocities); ++c, ++slot) {  // out holds -Q
        out.force_q[*slot] -= slope * d.q[variable.first_velocity + c];
        out.force_v[*slot] -= slope * d.v[variable.first_velocity + c];
        if (variable.sees_rates) out.force_a[*slot] -= slope * d.a[variable.first_velocity + c];
      }
      for (int c = 0; c < std::ssize(variable.multipliers); ++c, ++seen)
        out.force_lambda[*seen] -= slope * d.lambda[variable.first_multiplier + c];
      if (detail == Detail::all) out.force_t[row] -= slope * d.t[chain.variable];
    }
  }
}

}  // namespace trammel
