// The states of (5), x' = f(t, q, v, x), and what elements remember between steps.
#include "trammel/elements/measure.h"
#include "trammel/equations/equations.h"

namespace trammel {

void Equations::add_states() {
  PlaceNames names(model_);
  names.index();
  for (const StateVariable& x : model_.states) {
    ExpressionRecord record;
    StateVariable given = x;
    if (x.implicit) given.rate.text = "der(" + x.name + ")";
    record.element = std::make_unique<MeasuredExpression>(MeasuredExpression::parse(given, names, record.frames));
    remember(record, states_.size(), with_memory_states_);
    states_.push_back(std::move(record));
  }
}

Eval Equations::state_rates(const State& state, Vec& rates, Workspace& work, const Rates* seen) const {
  rates.resize(sizes_.nx);
  if (sizes_.nx == 0) return Eval::ok;
  update(state, work, seen);
  return state_rates_at(state, rates, work);
}

Eval Equations::state_rates_at(const State& state, Vec& rates, Workspace& work) const {
  FrameState frames[max_frames];
  bool good = true;
  for (int i = 0; i < sizes_.nx; ++i) {
    const ExpressionRecord& record = states_[i];
    frame_states(record, work, frames);
    good = record.element->evaluate(element_input(record, state, frames, work), rates[i]) && good;
  }
  return good ? Eval::ok : Eval::rejected;
}

void Equations::add_frame_row(const BodyFrame& f, const Eigen::Matrix<double, 1, 6>& pose,
                              const Eigen::Matrix<double, 1, 6>& twist, const Workspace& work, Eigen::Ref<Vec> by_q,
                              Eigen::Ref<Vec> by_v) const {
  if (f.body == ground) return;
  const int v0 = bodies_[f.body]->at().v;
  if (!f.rigid) {
    FramePartials partials;
    frame_partials(f, work, nullptr, partials);
    by_q.segment(v0, partials.B.cols()) += (pose * partials.B + twist * partials.Bv_q).transpose();
    by_v.segment(v0, partials.B.cols()) += (twist * partials.B).transpose();
    return;
  }
  const BodyState& b = work.bodies[f.body];
  Eigen::Matrix<double, 1, 6> q = pose, v = twist;
  const FrameMap map = frame_map(f, b);
  multiply_map(map, q);
  multiply_map(map, v);
  q.tail<3>() += twist * map_times_derivative(f, b, b.w);
  const RigidColumns& columns = *rigid_[f.body];
  for (int k = 0; k < columns.count; ++k) {
    by_q[v0 + k] += q[columns.column[k]];
    by_v[v0 + k] += v[columns.column[k]];
  }
}

void Equations::linearise_states(const State& state, StatePartials& out, Workspace& work, const Rates* seen) const {
  const int nx = sizes_.nx, nv = sizes_.nv, nu = sizes_.nu;
  out.rate_q.setZero(nx, nv);
  out.rate_v.setZero(nx, nv);
  out.rate_x.setZero(nx, nx);
  out.rate_u.setZero(nx, nu);
  out.rate_t.setZero(nx);
  out.force_x.setZero(nv, nx);
  if (sees_rates()) {
    out.rate_a.setZero(nx, nv);
    out.rate_lambda.setZero(nx, sizes_.multipliers());
  }
  if (nx == 0) return;
  update(state, work, seen);
  if (!variables_.empty()) linearise_variables(state, work, seen);
  Vec column(nv);
  for (int k = 0; k < nx; ++k) {
    column.setZero();
    add_force_by_signal(state, nu + k, column, work);
    out.force_x.col(k) = column;
  }
  ExpressionRow row;
  for (int i = 0; i < nx; ++i) {
    const ExpressionRecord& record = states_[i];
    linearise_expression(*record.element, record.frames, state.memory.data() + record.memory, state, work, row);
    out.rate_t[i] = row.t;
    out.rate_u.row(i) = row.u.head(nu).transpose();
    out.rate_x.row(i) = row.u.tail(nx).transpose();
    out.rate_q.row(i) = row.q.transpose();
    out.rate_v.row(i) = row.v.transpose();
    if (!sees_rates()) continue;
    out.rate_a.row(i) = row.a.transpose();
    out.rate_lambda.row(i) = row.lambda.transpose();
  }
}

namespace {
template <class Records, class F>
void for_memory(const std::vector<int>& which, const Records& records, F&& f) {
  for (const int i : which) f(records[i]);
}
}  // namespace

void Equations::start(State& state, Workspace& work) const {
  update(state, work);
  FrameState frames[max_frames];
  for_memory(with_memory_constraints_, constraints_, [&](const ConstraintRecord& c) {
    frame_states(c, work, frames);
    c.element->start(element_input(c, state, frames, work), state.memory.data() + c.memory);
  });
  for_memory(with_memory_forces_, forces_, [&](const ForceRecord& f) {
    frame_states(f, work, frames);
    f.element->accept(element_input(f, state, frames, work), state.memory.data() + f.memory);
  });
  const auto remember = [&](const ExpressionRecord& x) {
    frame_states(x, work, frames);
    x.element->accept(element_input(x, state, frames, work), state.memory.data() + x.memory);
  };
  for_memory(with_memory_states_, states_, remember);
  for_memory(with_memory_variables_, variables_, remember);
  remember_groups(state, work);
}

void Equations::accept(State& state, Workspace& work) const {
  if (memory_size_ == 0) return;
  update(state, work);
  FrameState frames[max_frames];
  const auto accept_one = [&](const auto& record) {
    frame_states(record, work, frames);
    double* memory = state.memory.data() + record.memory;
    record.element->accept(element_input(record, state, frames, work), memory);
  };
  for_memory(with_memory_constraints_, constraints_, accept_one);
  for_memory(with_memory_forces_, forces_, accept_one);
  for_memory(with_memory_states_, states_, accept_one);
  for_memory(with_memory_variables_, variables_, accept_one);
  remember_groups(state, work);
}

double Equations::turned(const State& state, double /*h*/, Workspace& work) const {
  if (memory_size_ == 0) return 0;
  update(state, work);
  FrameState frames[max_frames];
  double most = 0;
  const auto look = [&](const auto& record) {
    frame_states(record, work, frames);
    most = std::max(most, record.element->turned(element_input(record, state, frames, work)));
  };
  for_memory(with_memory_constraints_, constraints_, look);
  for_memory(with_memory_forces_, forces_, look);
  for_memory(with_memory_states_, states_, look);
  for_memory(with_memory_variables_, variables_, look);
  return most;
}

}  // namespace trammel
