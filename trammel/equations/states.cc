// The states of (5), x' = f(t, q, v, x), and what elements remember between steps.
#include "trammel/equations/equations.h"
#include "trammel/equations/state_rate.h"

namespace trammel {

void Equations::add_states() {
  PlaceNames names(model_);
  names.index();
  for (const StateVariable& x : model_.states) {
    StateRecord record;
    std::vector<int> frames;
    record.element = std::make_unique<StateRate>(StateRate{MeasuredExpression::parse(x, names, frames)});
    record.frames = frames;
    record.memory = memory_size_;
    memory_size_ += record.element->rate.memory();
    if (record.element->rate.memory() > 0) with_memory_states_.push_back(static_cast<int>(states_.size()));
    states_.push_back(std::move(record));
  }
}

Eval Equations::state_rates(const State& state, Vec& rates, Workspace& work) const {
  rates.resize(sizes_.nx);
  if (sizes_.nx == 0) return Eval::ok;
  body_states(state.q, state.v, work);
  FrameState frames[max_frames];
  bool good = true;
  for (int i = 0; i < sizes_.nx; ++i) {
    const StateRecord& record = states_[i];
    frame_states(record, work, frames);
    good = record.element->rate.evaluate(element_input(record, state, frames), rates[i]) && good;
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

void Equations::linearise_states(const State& state, StatePartials& out, Workspace& work) const {
  const int nx = sizes_.nx, nv = sizes_.nv;
  out.rate_q.setZero(nx, nv);
  out.rate_v.setZero(nx, nv);
  out.rate_x.setZero(nx, nx);
  out.rate_u.setZero(nx, sizes_.nu);
  out.rate_t.setZero(nx);
  out.force_x.resize(nv, nx);
  if (nx == 0) return;
  Vec column(nv), by_q(nv), by_v(nv);
  for (int k = 0; k < nx; ++k) {
    force_by_input(state, sizes_.nu + k, column, work);
    out.force_x.col(k) = column;
  }
  body_states(state.q, state.v, work);
  FrameState frames[max_frames];
  ExpressionPartials p;
  for (int i = 0; i < nx; ++i) {
    const StateRecord& record = states_[i];
    frame_states(record, work, frames);
    ElementInput in = element_input(record, state, frames);
    const int count = static_cast<int>(record.frames.size());
    for (int k = 0; k < sizes_.nu + nx; ++k) {
      in.by_input = k;
      record.element->rate.linearise(in, count, p);
      (k < sizes_.nu ? out.rate_u(i, k) : out.rate_x(i, k - sizes_.nu)) = p.time;
    }
    in.by_input = -1;
    record.element->rate.linearise(in, count, p);
    out.rate_t[i] = p.time;
    by_q.setZero();
    by_v.setZero();
    for (int k = 0; k < count; ++k)
      add_frame_row(body_frame(record.frames[k]), p.pose.segment<6>(6 * k), p.twist.segment<6>(6 * k), work, by_q,
                    by_v);
    out.rate_q.row(i) = by_q.transpose();
    out.rate_v.row(i) = by_v.transpose();
  }
}

namespace {
template <class Records, class F>
void for_memory(const std::vector<int>& which, const Records& records, F&& f) {
  for (const int i : which) f(records[i]);
}
}  // namespace

void Equations::start(State& state, Workspace& work) const {
  body_states(state.q, state.v, work);
  FrameState frames[max_frames];
  for_memory(with_memory_constraints_, constraints_, [&](const ConstraintRecord& c) {
    frame_states(c, work, frames);
    c.element->start(element_input(c, state, frames), state.memory.data() + c.memory);
  });
  for_memory(with_memory_forces_, forces_, [&](const ForceRecord& f) {
    frame_states(f, work, frames);
    f.element->accept(element_input(f, state, frames), state.memory.data() + f.memory);
  });
  for_memory(with_memory_states_, states_, [&](const StateRecord& x) {
    frame_states(x, work, frames);
    x.element->accept(element_input(x, state, frames), state.memory.data() + x.memory);
  });
}

void Equations::accept(State& state, Workspace& work) const {
  if (memory_size_ == 0) return;
  body_states(state.q, state.v, work);
  FrameState frames[max_frames];
  const auto accept_one = [&](const auto& record) {
    frame_states(record, work, frames);
    double* memory = state.memory.data() + record.memory;
    record.element->accept(element_input(record, state, frames), memory);
  };
  for_memory(with_memory_constraints_, constraints_, accept_one);
  for_memory(with_memory_forces_, forces_, accept_one);
  for_memory(with_memory_states_, states_, accept_one);
}

double Equations::turned(const State& state, double /*h*/, Workspace& work) const {
  if (memory_size_ == 0) return 0;
  body_states(state.q, state.v, work);
  FrameState frames[max_frames];
  double most = 0;
  const auto look = [&](const auto& record) {
    frame_states(record, work, frames);
    most = std::max(most, record.element->turned(element_input(record, state, frames)));
  };
  for_memory(with_memory_constraints_, constraints_, look);
  for_memory(with_memory_forces_, forces_, look);
  for_memory(with_memory_states_, states_, look);
  return most;
}

}  // namespace trammel
