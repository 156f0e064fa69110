// The variables of (6), V = v(t, q, v, u, x, V). They are eliminated: each is evaluated once, behind those that it
// uses, and expressions read its value as they read inputs and states. Derivatives follow the chain,
//
//   V_q = v_q + sum_k v_Vk Vk_q,      Q_q = ... + sum_k Q_Vk Vk_q,     and so for v, t, u and x.
//
// A row of V has the columns of the bodies that it, or one that it uses, looks at; the pattern of the equations has the
// products of those and of the bodies that forces with V act on.
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
  users_.resize(static_cast<std::size_t>(first_variable() + sizes_.nV));
  for (std::size_t f = 0; f < forces_.size(); ++f)
    for (const int signal : forces_[f].item->signals) users_[signal].push_back(static_cast<int>(f));
  sort_variables();
  find_dependencies();
}

// Each behind those that it uses, by depth-first search; a cycle is refused with the names in it.
void Equations::sort_variables() {
  enum class Mark { unseen, open, done };
  std::vector<Mark> marks(variables_.size(), Mark::unseen);
  std::vector<int> path;
  const auto refuse = [&](int again) {
    std::string names;
    for (auto each = std::find(path.begin(), path.end(), again); each != path.end(); ++each)
      names += "'" + model_.variables[*each].name + "' -> ";
    const Variable& first = model_.variables[again];
    throw Failure({Severity::error, "algebraic-loop",
                   "variable '" + first.name + "' depends on itself: " + names + "'" + first.name + "'",
                   "write one of them without the others, or let one follow as a state: its rate may use them all",
                   first.where});
  };
  struct Visit {
    int variable;
    std::size_t next;
  };
  std::vector<Visit> open;  // by hand: chains of thousands of variables would overflow the stack
  for (int start = 0; start < sizes_.nV; ++start) {
    if (marks[start] != Mark::unseen) continue;
    open.push_back({start, 0});
    while (!open.empty()) {
      Visit& top = open.back();
      const int variable = top.variable;
      if (top.next == 0) {
        marks[variable] = Mark::open;
        path.push_back(variable);
      }
      const std::vector<int>& signals = variables_[variable].element->signals();
      while (top.next < signals.size() && signals[top.next] < first_variable()) ++top.next;
      if (top.next == signals.size()) {
        marks[variable] = Mark::done;
        variable_order_.push_back(variable);
        path.pop_back();
        open.pop_back();
        continue;
      }
      const int used = signals[top.next++] - first_variable();
      if (marks[used] == Mark::open) refuse(used);
      if (marks[used] == Mark::unseen) open.push_back({used, 0});
    }
  }
}

void Equations::find_dependencies() {
  const auto unite = [](std::vector<int>& all, const std::vector<int>& more) {
    all.insert(all.end(), more.begin(), more.end());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
  };
  for (const int i : variable_order_) {
    VariableRecord& variable = variables_[i];
    variable.sets_in = variable.element->expression().sets_in();
    std::vector<int> own;
    for (const int frame : variable.frames) {
      const int body = frames_[frame].body;
      if (body == ground) continue;
      const BodyElement& b = *bodies_[body];
      for (int k = 0; k < std::ssize(b.velocities()); ++k) own.push_back(b.at().v + k);
    }
    unite(variable.velocities, own);
    for (const int signal : variable.element->signals()) {
      if (signal < first_variable()) {
        unite(variable.base, {signal});
        continue;
      }
      const VariableRecord& used = variables_[signal - first_variable()];
      variable.sets_in = variable.sets_in || used.sets_in;
      unite(variable.velocities, used.velocities);
      unite(variable.base, used.base);
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
  work.signals.assign(static_cast<std::size_t>(first_variable() + sizes_.nV), 0.0);
  int velocities = 0, base = 0;
  for (const VariableRecord& variable : variables_) {
    velocities += static_cast<int>(variable.velocities.size());
    base += static_cast<int>(variable.base.size());
  }
  VariableDerivatives& d = work.variables;
  d.q.setZero(velocities);
  d.v.setZero(velocities);
  d.u.setZero(base);
  d.t.setZero(sizes_.nV);
  for (Vec* row : {&d.row_q, &d.row_v, &d.force}) row->setZero(sizes_.nv);
  d.row_u.setZero(first_variable());
}

void Equations::evaluate_variables(const State& state, BodyMotions& motions) const {
  std::copy(state.u.data(), state.u.data() + state.u.size(), motions.signals.begin());
  FrameState frames[max_frames];
  for (const int i : variable_order_) {
    const VariableRecord& variable = variables_[i];
    frame_states(variable, motions, frames);
    double& value = motions.signals[static_cast<std::size_t>(first_variable() + i)];
    // What cannot be evaluated becomes not a number, and so does every force that uses it.
    if (!variable.element->evaluate(element_input(variable, state, frames, motions), value)) value = std::nan("");
  }
}

std::span<const double> Equations::variables_of(const Workspace& work) const {
  return std::span(work.signals).last(static_cast<std::size_t>(sizes_.nV));
}

// Adds the derivatives of an expression to the scratch rows; those of the variables in it must be known.
void Equations::add_slopes(const MeasuredExpression& expression, const std::vector<int>& frames, const double* memory,
                           const State& state, Workspace& work, double& value, double& t) const {
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
    for (int c = 0; c < std::ssize(variable.velocities); ++c) {
      d.row_q[variable.velocities[c]] += slope * d.q[variable.first_velocity + c];
      d.row_v[variable.velocities[c]] += slope * d.v[variable.first_velocity + c];
    }
    for (int c = 0; c < std::ssize(variable.base); ++c)
      d.row_u[variable.base[c]] += slope * d.u[variable.first_base + c];
    t += slope * d.t[used];
  }
}

void Equations::linearise_variables(const State& state, Workspace& work) const {
  VariableDerivatives& d = work.variables;
  for (const int i : variable_order_) {
    const VariableRecord& variable = variables_[i];
    double value = 0, t = 0;
    add_slopes(*variable.element, variable.frames, state.memory.data() + variable.memory, state, work, value, t);
    d.t[i] = t;
    for (int c = 0; c < std::ssize(variable.velocities); ++c) {
      const int column = variable.velocities[c];
      d.q[variable.first_velocity + c] = std::exchange(d.row_q[column], 0.0);
      d.v[variable.first_velocity + c] = std::exchange(d.row_v[column], 0.0);
    }
    for (int c = 0; c < std::ssize(variable.base); ++c)
      d.u[variable.first_base + c] = std::exchange(d.row_u[variable.base[c]], 0.0);
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
  for (int i = 0; i < sizes_.nV; ++i) {
    const std::vector<int>& base = variables_[i].base;
    const auto found = std::lower_bound(base.begin(), base.end(), signal);
    if (found == base.end() || *found != signal || users_[first_variable() + i].empty()) continue;
    add(first_variable() + i, work.variables.u[variables_[i].first_base + (found - base.begin())]);
  }
}

void Equations::force_by_input(const State& state, int input, Vec& force_u, Workspace& work) const {
  update(state, work);
  if (sizes_.nV > 0) linearise_variables(state, work);
  force_u.setZero(sizes_.nv);
  add_force_by_signal(state, input, force_u, work);
}

void Equations::wire_chains(std::vector<Pattern::Entry>& vv) {
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
      for (const int row : chain.rows)
        for (const int column : variables_[chain.variable].velocities) vv.push_back({row, column});
      chains_.push_back(std::move(chain));
    }
  }
}

void Equations::find_chain_slots() {
  chain_slots_.clear();
  for (Chain& chain : chains_) {
    chain.slots_begin = static_cast<int>(chain_slots_.size());
    for (const int row : chain.rows)
      for (const int column : variables_[chain.variable].velocities) chain_slots_.push_back(vv_->slot(row, column));
    chain.slots_end = static_cast<int>(chain_slots_.size());
  }
}

// force_q, force_v and force_t of what forces owe to variables.
void Equations::add_chains(const State& state, Detail detail, Partials& out, Workspace& work) const {
  linearise_variables(state, work);
  VariableDerivatives& d = work.variables;
  FrameState frames[max_frames];
  ForcePartials p;
  for (const Chain& chain : chains_) {
    if (!work.without_derivatives.empty() && work.without_derivatives[chain.force]) continue;
    if (detail != Detail::all && chain.slots_begin == chain.slots_end) continue;  // it depends on time and states alone
    const ForceRecord& force = forces_[chain.force];
    frame_states(force, work, frames);
    ElementInput in = element_input(force, state, frames, work);
    in.by_signal = first_variable() + chain.variable;
    force.element->linearise(in, p);
    for (std::size_t k = 0; k < force.frames.size(); ++k)
      add_wrench(frames_[force.frames[k]], work, p.time.data() + 6 * k, 1, d.force);
    const VariableRecord& variable = variables_[chain.variable];
    const int* slot = chain_slots_.data() + chain.slots_begin;
    for (const int row : chain.rows) {
      const double slope = std::exchange(d.force[row], 0.0);
      for (int c = 0; c < std::ssize(variable.velocities); ++c, ++slot) {  // out holds -Q
        out.force_q[*slot] -= slope * d.q[variable.first_velocity + c];
        out.force_v[*slot] -= slope * d.v[variable.first_velocity + c];
      }
      if (detail == Detail::all) out.force_t[row] -= slope * d.t[chain.variable];
    }
  }
}

}  // namespace trammel
