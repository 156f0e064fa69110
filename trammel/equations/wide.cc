// Derivatives of elements on bodies that are not all rigid: the formulas of linearise.cc with B of any number of
// columns from the bodies themselves. Slower than the path of fixed sizes, and the same for every kind of body.
#include "trammel/equations/equations.h"

namespace trammel {
namespace {

// B and its derivatives of a frame on a rigid body, against the six rigid velocities.
void rigid_partials(const BodyFrame& f, const BodyState& b, const Vec3& spin_rate, FramePartials& out) {
  out.set_zero(6);
  const FrameMap map = frame_map(f, b);
  out.B.topLeftCorner<3, 3>().setIdentity();
  out.B.topRightCorner<3, 3>() = -map.S;
  out.B.bottomRightCorner<3, 3>() = map.R;
  out.Bv_q.rightCols<3>() = map_times_derivative(f, b, b.w);
  out.Ba_q.rightCols<3>() = map_times_derivative(f, b, spin_rate);
  const Bias bias = frame_bias(f, b);
  out.bias.head<3>() = bias.value;
  out.bias_q.topRightCorner<3, 3>() = bias.by_rotation;
  out.bias_v.topRightCorner<3, 3>() = bias.by_spin;
}

}  // namespace

void Equations::frame_partials(const BodyFrame& f, const BodyMotions& motions, const double* a,
                               FramePartials& out) const {
  if (f.body == ground) {
    out.set_zero(6);
    return;
  }
  const BodyElement& body = *bodies_[f.body];
  const BodyState& motion = motions.bodies[f.body];
  if (!f.rigid) {
    body.frame_partials(f, motion, motions.extra.data() + body.at().extra, a, out);
    return;
  }
  Vec3 linear, spin = Vec3::Zero();
  if (a != nullptr) body.acceleration(motion, nullptr, a, linear, spin);
  rigid_partials(f, motion, spin, out);
}

void Equations::add_wrench_derivative(const BodyFrame& f, const BodyMotions& motions, const Vec6& wrench,
                                      Eigen::Ref<Mat> out) const {
  const BodyElement& body = *bodies_[f.body];
  const BodyState& motion = motions.bodies[f.body];
  if (f.rigid)
    out.bottomRightCorner<3, 3>() += map_derivative(f, motion, wrench.head<3>(), wrench.tail<3>());
  else
    body.add_wrench_derivative(f, motion, motions.extra.data() + body.at().extra, wrench, out);
}

Vec Equations::own_part(int body, const Vec& all) const {
  const BodyElement& b = *bodies_[body];
  const auto own = all.segment(b.at().v, static_cast<Eigen::Index>(b.velocities().size()));
  if (rigid_[body] == nullptr) return own;
  Vec6 six = Vec6::Zero();
  for (int k = 0; k < rigid_[body]->count; ++k) six[rigid_[body]->column[k]] = own[k];
  return six;
}

Vec6 Equations::times_own(const FramePartials::Matrix& B, int body, const Vec& all) const {
  if (rigid_[body] != nullptr) {
    Vec6 six = Vec6::Zero();
    for (int k = 0; k < rigid_[body]->count; ++k) six[rigid_[body]->column[k]] = all[bodies_[body]->at().v + k];
    return B * six;
  }
  return B * all.segment(bodies_[body]->at().v, B.cols());
}

void Equations::localise_wide(const ConstraintRecord& c, const State& state, const Rates& rates,
                              const BodyMotions& motions, WideMatrices& out) const {
  const auto nf = c.frames.size();
  const int rows = c.element->rows(), n = c.columns.back();
  out.product.resize(6, n);  // bodies differ in their columns: one size for all of them
  FrameState frames[max_frames];
  frame_states(c, motions, frames);
  const ElementInput in = element_input(c, state, frames, motions);
  double lambda[max_rows] = {};
  for (int k = 0; k < c.rows; ++k) lambda[c.kept[k]] = rates.lambda[c.first_row + k];
  FrameVector rate = FrameVector::Zero(static_cast<int>(6 * nf)), bias = rate;
  for (std::size_t i = 0; i < nf; ++i) {
    const BodyFrame& f = frames_[c.frames[i]];
    if (f.body == ground) continue;
    frame_partials(f, motions, rates.a.data() + bodies_[f.body]->at().v, out.frames[i]);
    rate.segment<6>(static_cast<int>(6 * i)) = times_own(out.frames[i].B, f.body, rates.a);
    bias.segment<6>(static_cast<int>(6 * i)) = out.frames[i].bias;
  }
  ConstraintPartials p;
  c.element->linearise_all(in, lambda, rate.data(), bias.data(), p);
  const FrameVector wrench = p.C.transpose() * Eigen::Map<const Vec>(lambda, rows);

  for (WideMatrices::Rows* m : {&out.G, &out.Gv_q, &out.Ga_q, &out.gamma_q, &out.gamma_v}) m->setZero(rows, n);
  out.force_q.setZero(n, n);
  out.force_t.setZero(n);
  out.g_t = p.g_t;
  out.gamma = -(p.C * bias + p.curvature);
  out.gamma_t = -p.curvature_t;
  out.Ga_t = p.Crate_t;
  for (std::size_t i = 0; i < nf; ++i) {
    if (frames_[c.frames[i]].body == ground) continue;
    const FramePartials& f = out.frames[i];
    const int from = static_cast<int>(6 * i), at = c.columns[i], count = c.columns[i + 1] - at;
    const auto C = p.C.middleCols<6>(from);
    // Each product goes straight to its place: a sum of products would allocate.
    out.G.middleCols(at, count).noalias() = C * f.B;
    auto Gv_q = out.Gv_q.middleCols(at, count), Ga_q = out.Ga_q.middleCols(at, count),
         gamma_q = out.gamma_q.middleCols(at, count), gamma_v = out.gamma_v.middleCols(at, count);
    Gv_q.noalias() = p.Ctwist_pose.middleCols<6>(from) * f.B;
    Gv_q.noalias() += C * f.Bv_q;
    Ga_q.noalias() = p.Crate_pose.middleCols<6>(from) * f.B;
    Ga_q.noalias() += C * f.Ba_q;
    gamma_q.noalias() -= p.Cbias_pose.middleCols<6>(from) * f.B;
    gamma_q.noalias() -= p.curvature_pose.middleCols<6>(from) * f.B;
    gamma_q.noalias() -= C * f.bias_q;
    gamma_q.noalias() -= p.curvature_twist.middleCols<6>(from) * f.Bv_q;
    gamma_v.noalias() -= C * f.bias_v;
    gamma_v.noalias() -= p.curvature_twist.middleCols<6>(from) * f.B;
    out.force_t.segment(at, count).noalias() = f.B.transpose() * p.wrench_t.segment<6>(from);
    for (std::size_t j = 0; j < nf; ++j) {
      if (frames_[c.frames[j]].body == ground) continue;
      const int to = static_cast<int>(6 * j);
      auto product = out.product.leftCols(count);
      product.noalias() = p.wrench_pose.block<6, 6>(to, from) * f.B;
      out.force_q.block(c.columns[j], at, c.columns[j + 1] - c.columns[j], count).noalias() =
          out.frames[j].B.transpose() * product;
    }
    add_wrench_derivative(frames_[c.frames[i]], motions, wrench.segment<6>(from),
                          out.force_q.block(at, at, count, count));
  }
}

// Of Q = B^T W:  by q  B^T (W_pose B + W_twist (B v)_q) + (B^T w)_q,  by v  B^T W_twist B
void Equations::localise_wide(const ForceRecord& record, const State& state, const BodyMotions& motions,
                              WideMatrices& out) const {
  const auto nf = record.frames.size();
  const int n = record.columns.back();
  FrameState frames[max_frames];
  double wrench[6 * max_frames];
  frame_states(record, motions, frames);
  const ElementInput in = element_input(record, state, frames, motions);
  record.element->evaluate(in, wrench);
  ForcePartials p;
  record.element->linearise(in, p);
  out.product.resize(6, n);
  out.force_q.setZero(n, n);
  out.force_v.setZero(n, n);
  out.force_t.setZero(n);
  for (std::size_t i = 0; i < nf; ++i) frame_partials(frames_[record.frames[i]], motions, nullptr, out.frames[i]);
  for (std::size_t i = 0; i < nf; ++i) {
    if (frames_[record.frames[i]].body == ground) continue;
    const FramePartials& f = out.frames[i];
    const int from = static_cast<int>(6 * i), at = record.columns[i], count = record.columns[i + 1] - at;
    for (std::size_t j = 0; j < nf; ++j) {
      if (frames_[record.frames[j]].body == ground) continue;
      const int to = static_cast<int>(6 * j), row = record.columns[j], rows = record.columns[j + 1] - row;
      const auto Bt = out.frames[j].B.transpose();
      auto product = out.product.leftCols(count);
      product.noalias() = p.pose.block<6, 6>(to, from) * f.B;
      product.noalias() += p.twist.block<6, 6>(to, from) * f.Bv_q;
      out.force_q.block(row, at, rows, count).noalias() = Bt * product;
      product.noalias() = p.twist.block<6, 6>(to, from) * f.B;
      out.force_v.block(row, at, rows, count).noalias() = Bt * product;
    }
    add_wrench_derivative(frames_[record.frames[i]], motions, Eigen::Map<const Vec6>(wrench + from),
                          out.force_q.block(at, at, count, count));
    out.force_t.segment(at, count).noalias() = f.B.transpose() * p.time.segment<6>(from);
  }
}

void Equations::wide_jacobian(const ConstraintRecord& c, const RowMatrix& C, const BodyMotions& motions,
                              double* curvature, WideMatrices& out) const {
  out.G.setZero(C.rows(), c.columns.back());
  for (std::size_t i = 0; i < c.frames.size(); ++i) {
    const BodyFrame& frame = frames_[c.frames[i]];
    if (frame.body == ground) continue;
    FramePartials& f = out.frames[i];
    frame_partials(frame, motions, nullptr, f);
    const auto own = C.middleCols<6>(static_cast<int>(6 * i));
    if (curvature != nullptr) Eigen::Map<Vec>(curvature, C.rows()) += own * f.bias;
    out.G.middleCols(c.columns[i], f.B.cols()).noalias() = own * f.B;
  }
}

}  // namespace trammel
