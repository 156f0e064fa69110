#include "trammel/elements/forces/axial_force.h"

#include <algorithm>
#include <cmath>

#include "trammel/math/rotation.h"

namespace trammel {

void AxialForce::use(const MeasuredExpression& expression) {
  expressions_.push_back(&expression);
  expressions_memory_ += expression.memory();
}

FrameNeed AxialForce::needs(int frame) const {
  FrameNeed most = frame > 1                      ? FrameNeed::point
                   : kind_ == AxialKind::rotation ? FrameNeed::orientation
                   : frame == 0                   ? FrameNeed::z_axis
                                                  : FrameNeed::point;
  for (const MeasuredExpression* each : expressions_) most = std::max(most, each->needs(frame));
  return most;
}

bool AxialForce::sets_in_unseen() const {
  return std::any_of(expressions_.begin(), expressions_.end(),
                     [](const MeasuredExpression* each) { return each->expression().sets_in(); });
}

double AxialForce::near(const ElementInput& in) const {
  return kind_ == AxialKind::rotation ? RememberedAngle(in.memory).near(in.t) : 0.0;
}

bool AxialForce::motion(const ElementInput& in, double& value, double& rate) const {
  const FrameState &a = in.frames[0], &b = in.frames[1];
  using K = MeasureKind;
  if (kind_ == AxialKind::rotation) {
    return evaluate_measure(K::angle, a, b, near(in), value) && evaluate_measure(K::rate, a, b, 0, rate);
  }
  return evaluate_measure(K::dz, a, b, 0, value) && evaluate_measure(K::vz, a, b, 0, rate);
}

bool AxialForce::linearise_motion(const ElementInput& in, AxialMotion& out) const {
  const FrameState &a = in.frames[0], &b = in.frames[1];
  const bool turns = kind_ == AxialKind::rotation;
  PairScalar value, rate;
  if (!linearise_measure(turns ? MeasureKind::angle : MeasureKind::dz, a, b, near(in), value) ||
      !linearise_measure(turns ? MeasureKind::rate : MeasureKind::vz, a, b, 0, rate)) {
    return false;
  }
  out.value = value.value;
  out.rate = rate.value;
  out.gradient = value.pose;
  out.rate_pose = rate.pose;
  if (!turns) {
    out.hessian = Invariant{{Owner::a, a.R.col(2)}, {Owner::line, b.p - a.p}}.hessian();
    return true;
  }
  // dn = phi_A x n + N (phi_B - phi_A)
  AxialAngle axis;
  if (!axial_angle(a.R, b.R, axis)) return false;
  out.hessian.setZero();
  out.hessian.block<3, 3>(9, 9) = axis.N;
  out.hessian.block<3, 3>(9, 3) = -axis.N - skew(axis.n);
  out.hessian.middleRows<3>(3) = -out.hessian.middleRows<3>(9);
  return true;
}

bool AxialForce::evaluate(const ElementInput& in, double* wrench) const {
  const bool turns = kind_ == AxialKind::rotation;
  PairScalar now;
  double f = 0, rate = 0;
  if (!linearise_measure(turns ? MeasureKind::angle : MeasureKind::dz, in.frames[0], in.frames[1], near(in), now) ||
      !evaluate_measure(turns ? MeasureKind::rate : MeasureKind::vz, in.frames[0], in.frames[1], 0, rate) ||
      !force(in, now.value, rate, f) || !std::isfinite(f)) {
    return false;
  }
  Eigen::Map<FrameVector> out(wrench, 6 * frames_);
  out.setZero();
  out.head<12>() = f * now.pose.transpose();
  return true;
}

void AxialForce::linearise(const ElementInput& in, ForcePartials& out) const {
  out.set_zero(frames_);
  AxialMotion now;
  if (!linearise_motion(in, now)) return;
  Law law;
  law.rest.pose.setZero(6 * frames_);
  law.rest.twist.setZero(6 * frames_);
  force_partials(in, now.value, now.rate, law);
  FrameRow pose = law.rest.pose, twist = law.rest.twist;
  pose.head<12>() += law.by_value * now.gradient + law.by_rate * now.rate_pose;
  twist.head<12>() += law.by_rate * now.gradient;
  out.pose.topRows<12>() = now.gradient.transpose() * pose;
  out.pose.topLeftCorner<12, 12>() += law.force * now.hessian;
  out.twist.topRows<12>() = now.gradient.transpose() * twist;
  out.time.head<12>() = law.rest.time * now.gradient.transpose();
}

std::vector<Observable> AxialForce::observables() const {
  if (kind_ == AxialKind::rotation) return {{"angle", "rad"}, {"rate", "rad/s"}, {"torque", "N m"}};
  return {{"displacement", "m"}, {"speed", "m/s"}, {"force", "N"}};
}

void AxialForce::observe(const ElementInput& in, double* values) const {
  std::fill_n(values, 3, 0.0);
  if (motion(in, values[0], values[1])) force(in, values[0], values[1], values[2]);
}

void AxialForce::accept(const ElementInput& in, double* memory) const {
  double value = 0, rate = 0;
  if (kind_ == AxialKind::rotation && motion(in, value, rate)) RememberedAngle::keep(value, rate, in.t, memory);
  for (const MeasuredExpression* each : expressions_) each->accept(in, memory);
}

double AxialForce::turned(const ElementInput& in) const {
  double most = 0, value = 0, rate = 0;
  if (kind_ == AxialKind::rotation && motion(in, value, rate))
    most = RememberedAngle(in.memory).doubt(value, rate, in.t);
  for (const MeasuredExpression* each : expressions_) most = std::max(most, each->turned(in));
  return most;
}

}  // namespace trammel
