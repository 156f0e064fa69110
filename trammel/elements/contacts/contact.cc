#include "trammel/elements/contacts/contact.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "trammel/elements/contacts/hertz.h"
#include "trammel/elements/forces/force_fields.h"
#include "trammel/math/rotation.h"

namespace trammel {

namespace {

// Of B's material at the place, against A's.
Vec3 velocity_at(const FrameState& a, const FrameState& b, const Vec3& from_a, const Vec3& from_b) {
  return b.v + b.w.cross(from_b) - a.v - a.w.cross(from_a);
}

// depth' of velocities; of accelerations depth'', but for the squares of velocities between frames and place.
double closing(const FrameState* frames, const ContactPoint& point) {
  return point.normal.dot(velocity_at(frames[0], frames[1], point.place - frames[0].p, point.place - frames[1].p));
}

}  // namespace

struct Contact::Meeting {
  Vec3 from_a, from_b, velocity, sliding;
  double rate = 0;  // of depth
  NormalForce normal;
  Friction friction;
  Vec3 force;  // on B

  double heat() const {
    return (normal.Q - normal.elastic) * rate + friction.coefficient * normal.Q * friction.phi * sliding.squaredNorm();
  }
};

Contact::Meeting Contact::meet(const FrameState& a, const FrameState& b, const ContactPoint& point) const {
  Meeting m;
  m.from_a = point.place - a.p;
  m.from_b = point.place - b.p;
  m.velocity = velocity_at(a, b, m.from_a, m.from_b);
  m.rate = point.normal.dot(m.velocity);
  m.sliding = m.velocity - m.rate * point.normal;
  m.normal = law_.normal.at(point.depth, m.rate);
  m.friction = law_.friction.at(m.sliding.norm());
  m.force = -m.normal.Q * (point.normal + (m.friction.coefficient * m.friction.phi) * m.sliding);
  return m;
}

bool Contact::evaluate(const ElementInput& in, double* wrench) const {
  Eigen::Map<Eigen::Matrix<double, 12, 1>> out(wrench);
  out.setZero();
  ContactPoint points[ShapePair::most_points];
  const int count = locate(in, points);
  for (int i = 0; i < count; ++i) {
    if (!(points[i].depth > 0)) continue;
    const Meeting m = meet(in.frames[0], in.frames[1], points[i]);
    out.segment<3>(0) -= m.force;
    out.segment<3>(3) -= m.from_a.cross(m.force);
    out.segment<3>(6) += m.force;
    out.segment<3>(9) += m.from_b.cross(m.force);
  }
  return true;
}

void Contact::linearise(const ElementInput& in, ForcePartials& out) const {
  using PointRows = Eigen::Matrix<double, 3, 12>;
  using Row = Eigen::Matrix<double, 1, 12>;
  out.set_zero(2);
  const FrameState &a = in.frames[0], &b = in.frames[1];
  ContactPoint points[ShapePair::most_points];
  out.nothing = true;
  const int facing = locate(in, points);
  if (std::none_of(points, points + facing, [](const ContactPoint& point) { return point.depth > 0; })) return;
  ContactPointPartials partials[ShapePair::most_points];
  const int count = shapes_->locate(a, b, points, partials);
  for (int i = 0; i < count; ++i) {
    const ContactPoint& point = points[i];
    if (!(point.depth > 0)) continue;
    out.nothing = false;
    const ContactPointPartials& d = partials[i];
    const Meeting m = meet(a, b, point);
    PointRows from_a = d.place, from_b = d.place;
    from_a.leftCols<3>() -= Mat3::Identity();
    from_b.middleCols<3>(6) -= Mat3::Identity();
    const PointRows v_pose = skew(b.w) * from_b - skew(a.w) * from_a;
    PointRows v_twist;
    v_twist << -Mat3::Identity(), skew(m.from_a), Mat3::Identity(), -skew(m.from_b);
    const Row rate_pose = m.velocity.transpose() * d.normal + point.normal.transpose() * v_pose,
              rate_twist = point.normal.transpose() * v_twist;
    const PointRows s_pose = v_pose - point.normal * rate_pose - m.rate * d.normal,
                    s_twist = v_twist - point.normal * rate_twist;
    const auto& [Q, Q_depth, Q_rate, elastic] = m.normal;
    const auto& [coefficient, phi, slope] = m.friction;
    const Vec3 direction = point.normal + (coefficient * phi) * m.sliding;
    const Mat3 by_sliding = (-coefficient * Q) * (phi * Mat3::Identity() + slope * m.sliding * m.sliding.transpose());
    const PointRows F_pose = -direction * (Q_depth * d.depth + Q_rate * rate_pose) - Q * d.normal + by_sliding * s_pose;
    const PointRows F_twist = -direction * (Q_rate * rate_twist) + by_sliding * s_twist;
    const Mat3 F = skew(m.force), A = skew(m.from_a), B = skew(m.from_b);
    out.pose.block<3, 12>(0, 0) -= F_pose;
    out.pose.block<3, 12>(3, 0) -= A * F_pose - F * from_a;
    out.pose.block<3, 12>(6, 0) += F_pose;
    out.pose.block<3, 12>(9, 0) += B * F_pose - F * from_b;
    out.twist.block<3, 12>(0, 0) -= F_twist;
    out.twist.block<3, 12>(3, 0) -= A * F_twist;
    out.twist.block<3, 12>(6, 0) += F_twist;
    out.twist.block<3, 12>(9, 0) += B * F_twist;
  }
}

double Contact::potential_energy(const ElementInput& in) const { return energy_terms(in).stored; }
double Contact::dissipated_power(const ElementInput& in) const { return energy_terms(in).heat; }

Force::EnergyTerms Contact::energy_terms(const ElementInput& in) const {
  ContactPoint points[ShapePair::most_points];
  const int count = locate(in, points);
  EnergyTerms sum;
  for (int i = 0; i < count; ++i) {
    if (!(points[i].depth > 0)) continue;
    sum.stored += law_.normal.stored(points[i].depth);
    sum.heat += meet(in.frames[0], in.frames[1], points[i]).heat();
  }
  return sum;
}

bool Contact::approach(const ElementInput& in, const FrameState* rising, Approach& out) const {
  out = {};
  out.stiffness = law_.normal.stiffness;
  out.exponent = law_.normal.exponent;
  out.size = size_;
  ContactPoint points[ShapePair::most_points];
  const int count = locate(in, points);
  for (int i = 0; i < count; ++i) {
    out.depth = std::max(out.depth, points[i].depth);
    if (points[i].depth < 0)
      out.take(-points[i].depth, closing(in.frames, points[i]), rising != nullptr ? closing(rising, points[i]) : 0.0);
  }
  return true;
}

Force::Overlap Contact::overlap(const ElementInput& in) const {
  Overlap out;
  ContactPoint points[ShapePair::most_points];
  const int count = locate(in, points);
  for (int i = 0; i < count; ++i) {
    if (!(points[i].depth > out.depth)) continue;
    out = {points[i].depth, points[i].depth / size_, law_.normal.at(points[i].depth, 0).Q};
  }
  return out;
}

double Contact::gap(const ElementInput& in) const {
  ContactPoint points[ShapePair::most_points];
  const int count = locate(in, points);
  double gap = std::numeric_limits<double>::infinity();
  for (int i = 0; i < count; ++i) gap = std::min(gap, -points[i].depth);
  return gap;
}

std::vector<SwitchInfo> Contact::switches() const {
  if (points_ == 1) return {{"contact"}};
  std::vector<SwitchInfo> all;
  for (int i = 1; i <= points_; ++i) all.push_back({"contact at point " + std::to_string(i)});
  return all;
}

void Contact::switch_values(const ElementInput& in, double* values) const {
  ContactPoint points[ShapePair::most_points];
  const int count = locate(in, points);
  for (int i = 0; i < points_; ++i) values[i] = i < count ? -points[i].depth : 1;
}

std::vector<Observable> Contact::observables() const {
  return {{"penetration", "m"},     {"approach_speed", "m/s"}, {"normal_force", "N"},
          {"sliding_speed", "m/s"}, {"traction", "N"},         {"dissipation", "W"},
          {"place.x", "m"},         {"place.y", "m"},          {"place.z", "m"}};
}

// Forces and heat of all places together, the rest of the deepest; where nothing touches, the penetration is minus the
// gap. The force acts at sum Q x / sum Q; while there is none, that is the place where the surfaces are nearest.
void Contact::observe(const ElementInput& in, double* values) const {
  Eigen::Map<Eigen::Matrix<double, observed, 1>> out(values);
  out.setZero();
  ContactPoint points[ShapePair::most_points];
  const int count = locate(in, points);
  Vec3 nearest = in.frames[1].p, pressed = Vec3::Zero();
  int deepest = 0;
  for (int i = 1; i < count; ++i)
    if (points[i].depth > points[deepest].depth) deepest = i;
  for (int i = 0; i < count; ++i) {
    if (!(points[i].depth > 0) && i != deepest) continue;
    const Meeting m = meet(in.frames[0], in.frames[1], points[i]);
    const double slide = m.sliding.norm();
    if (i == deepest) {
      out[penetration] = points[i].depth;
      out[approach_speed] = m.rate;
      out[sliding_speed] = slide;
      nearest = points[i].place;
    }
    out[normal_force] += m.normal.Q;
    pressed += m.normal.Q * points[i].place;
    out[traction] += m.friction.coefficient * m.normal.Q * m.friction.phi * slide;
    out[dissipation] += m.heat();
  }
  out.tail<3>() = out[normal_force] > 0 ? Vec3(pressed / out[normal_force]) : nearest;
}

std::vector<Field> bearing_fields() {
  return {
      {"stiffness", FieldKind::number, Quantity::none, 0.0,
       "K of the normal force K depth^1.5, N/m^1.5; 0: Hertz's, from the geometry and the moduli.", 0},
      {"modulus_a", FieldKind::number, Quantity::pressure, 206e9, "Young's modulus on the first frame's side.", 1},
      {"poisson_a", FieldKind::number, Quantity::none, 0.3, "Poisson's ratio there.", 0, 0.5},
      {"modulus_b", FieldKind::number, Quantity::pressure, 206e9, "Young's modulus of the ball.", 1},
      {"poisson_b", FieldKind::number, Quantity::none, 0.3, "Poisson's ratio of the ball.", 0, 0.5},
      {"damping", FieldKind::number, Quantity::none, 0.0,
       "c of Hunt and Crossley, s/m: the force is 1 + c times approach speed of the elastic one.", 0},
      {"friction", FieldKind::number, Quantity::none, 0.0, "Coefficient of friction.", 0},
      {"slip_speed", FieldKind::number, Quantity::speed, 0.1,
       "Sliding speed below which sticking is replaced by creep; smaller is stiffer.", 1e-12},
  };
}

ContactLaw bearing_law(const Item& item, double curvature_sum, double curvature_difference) {
  const Fields& f = item.fields;
  ContactLaw law;
  law.normal.stiffness = f.number("stiffness");
  law.normal.damping = f.number("damping");
  law.friction.kinetic = f.number("friction");
  law.friction.slip_speed = f.number("slip_speed");
  if (!(law.normal.stiffness > 0)) law.normal.stiffness = hertz_stiffness(item, curvature_sum, curvature_difference);
  return law;
}

double hertz_stiffness(const Item& item, double curvature_sum, double curvature_difference) {
  const Fields& f = item.fields;
  if (!(curvature_sum > 0 && std::abs(curvature_difference) < curvature_sum)) {
    throw Failure({Severity::error, "conforming-surfaces",
                   "force '" + item.name + "': the surfaces conform; Hertz's contact needs a ball that fits loosely",
                   "make the ball smaller than what it lies in, or give 'stiffness'", item.where});
  }
  const auto softness = [&](const char* modulus, const char* poisson) {
    const double nu = f.number(poisson);
    return (1 - nu * nu) / f.number(modulus);
  };
  return hertz_contact(curvature_sum, curvature_difference,
                       softness("modulus_a", "poisson_a") + softness("modulus_b", "poisson_b"))
      .stiffness;
}

Fields random_bearing_fields(std::mt19937& random) {
  Fields fields;
  fields.set("stiffness", random_between(1, 3, random));
  fields.set("damping", random_between(0.02, 0.1, random));
  fields.set("friction", random_between(0.1, 0.5, random));
  fields.set("slip_speed", random_between(0.5, 2, random));
  return fields;
}

}  // namespace trammel
