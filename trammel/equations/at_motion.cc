// Elements where somebody else knows the motions of the bodies: the recursion in joint coordinates, for which q and v
// of the bodies would be a detour. All bodies are rigid.
#include "trammel/equations/equations.h"

namespace trammel {

void Equations::update_variables(const State& state, Workspace& work) const {
  if (!variables_.empty()) evaluate_variables(state, work, nullptr);
}

Eval Equations::forces_at(const State& state, std::span<Vec6> wrenches, Workspace& work) const {
  for (Vec6& w : wrenches) w.setZero();
  FrameState frames[max_frames];
  double wrench[6 * max_frames];
  bool good = true;
  for (const int k : in_play_) {
    const ForceRecord& f = forces_[k];
    frame_states(f, work, frames);
    good = f.element->evaluate(element_input(f, state, frames, work), wrench) && good;
    for (std::size_t i = 0; i < f.frames.size(); ++i) {
      const int body = frames_[f.frames[i]].body;
      if (body == ground) continue;
      const Vec3 force(wrench[6 * i], wrench[6 * i + 1], wrench[6 * i + 2]),
          torque(wrench[6 * i + 3], wrench[6 * i + 4], wrench[6 * i + 5]);
      wrenches[body].head<3>() += force;
      wrenches[body].tail<3>() += torque + (frames[i].p - work.bodies[body].r).cross(force);
    }
  }
  return good ? Eval::ok : Eval::rejected;
}

bool Equations::rows_at(int constraint, const State& state, RowValues which, RowsAt& out, const Workspace& work) const {
  const ConstraintRecord& c = constraints_[constraint];
  frame_states(c, work, out.frames.data());
  const ElementInput in = element_input(c, state, out.frames.data(), work);
  c.element->jacobian(in, out.C);
  double* values = out.values.data();
  bool good = true;
  if (which == RowValues::position) good = c.element->evaluate(in, nullptr, values, nullptr);
  if (which == RowValues::velocity) c.element->rate(in, values);
  if (which == RowValues::curvature) c.element->curvature(in, values);
  if (c.rows == c.element->rows()) return good;
  for (int k = 0; k < c.rows; ++k) {  // those kept, in their order
    values[k] = values[c.kept[k]];
    if (k != c.kept[k]) out.C.row(k) = out.C.row(c.kept[k]);
  }
  return good;
}

}  // namespace trammel
