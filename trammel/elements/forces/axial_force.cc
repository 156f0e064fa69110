#include "trammel/elements/forces/axial_force.h"

#include <algorithm>
#include <cmath>

namespace trammel {

void AxialForce::use(const MeasuredExpression& expression) {
  expressions_.push_back(&expression);
  expressions_memory_ += expression.memory();
}

namespace {
Scalar coordinate_of(AxialKind kind) {
  switch (kind) {
    case AxialKind::rotation: return {Primitive::angle};
    case AxialKind::translation: return {Primitive::in_plane, 2};
    case AxialKind::distance: break;
  }
  return {Primitive::distance};
}
}  // namespace

AxialForce::AxialForce(AxialKind kind, int frames) : kind_(kind), scalar_(coordinate_of(kind)), frames_(frames) {}

FrameNeed AxialForce::needs(int frame) const {
  FrameNeed most = frame > 1 ? FrameNeed::point : scalar_.needs(frame);
  for (const MeasuredExpression* each : expressions_) most = std::max(most, each->needs(frame));
  return most;
}

std::vector<SwitchInfo> AxialForce::switches() const {
  std::vector<SwitchInfo> all;
  for (const MeasuredExpression* each : expressions_) each->list_switches(all);
  return all;
}

void AxialForce::switch_values(const ElementInput& in, double* values) const {
  for (const MeasuredExpression* each : expressions_) values = each->switch_values(in, values);
}

bool AxialForce::sets_in_unseen() const {
  return std::any_of(expressions_.begin(), expressions_.end(),
                     [](const MeasuredExpression* each) { return each->expression().sets_in(); });
}

PairScalar AxialForce::coordinate(const ElementInput& in, int order) const {
  PairScalar s(scalar_, in.frames[0], in.frames[1], order);
  if (kind_ == AxialKind::rotation) s.unwrap(RememberedAngle(in.memory).near(in.t));
  return s;
}

bool AxialForce::motion(const ElementInput& in, double& value, double& rate) const {
  const PairScalar s = coordinate(in, 1);
  value = s.good() || kind_ != AxialKind::rotation ? s.value() : RememberedAngle(in.memory).value;
  rate = s.good() ? s.rate(PairTwist(in.frames[0], in.frames[1])) : 0;
  return s.good();
}

bool AxialForce::evaluate(const ElementInput& in, double* wrench) const {
  const PairScalar s = coordinate(in, 1);
  double f = 0;
  if (!s.good() || !force(in, s.value(), s.rate(PairTwist(in.frames[0], in.frames[1])), f) || !std::isfinite(f))
    return false;
  Eigen::Map<FrameVector> out(wrench, 6 * frames_);
  out.setZero();
  s.gradient().scatter(f, 0, 1, out.transpose());
  return true;
}

void AxialForce::linearise(const ElementInput& in, ForcePartials& out) const {
  out.set_zero(frames_);
  const PairScalar s = coordinate(in, 2);
  if (!s.good()) return;
  const PairTwist u(in.frames[0], in.frames[1]);
  Law law;
  law.rest.pose.setZero(6 * frames_);
  law.rest.twist.setZero(6 * frames_);
  force_partials(in, s.value(), s.rate(u), law);
  const PairSlope gradient = s.gradient();
  gradient.scatter(law.by_value, 0, 1, law.rest.pose);
  s.contracted(u).scatter(law.by_rate, 0, 1, law.rest.pose);
  gradient.scatter(law.by_rate, 0, 1, law.rest.twist);
  const PairRow J = gradient.row();
  out.pose.topRows<12>() = J.transpose() * law.rest.pose;
  s.add_hessian(law.force, out.pose.topLeftCorner<12, 12>());
  out.twist.topRows<12>() = J.transpose() * law.rest.twist;
  out.time.head<12>() = law.rest.time * J.transpose();
}

std::vector<Observable> AxialForce::observables() const {
  if (kind_ == AxialKind::rotation) return {{"angle", "rad"}, {"rate", "rad/s"}, {"torque", "N m"}};
  return {{kind_ == AxialKind::distance ? "length" : "displacement", "m"}, {"speed", "m/s"}, {"force", "N"}};
}

void AxialForce::observe(const ElementInput& in, double* values) const {
  motion(in, values[0], values[1]);
  values[2] = 0;
  force(in, values[0], values[1], values[2]);
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
