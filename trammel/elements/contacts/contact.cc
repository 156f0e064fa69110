#include "trammel/elements/contacts/contact.h"

#include <cmath>

#include "trammel/elements/contacts/hertz.h"
#include "trammel/elements/forces/force_fields.h"
#include "trammel/math/rotation.h"

namespace trammel {

struct Contact::Meeting {
  Vec3 from_a, from_b, velocity, sliding;
  double rate = 0;  // of depth
  double Q = 0, Q_depth = 0, Q_rate = 0;
  double elastic = 0;             // K depth^(3/2)
  double phi = 0, phi_slope = 0;  // d phi = phi_slope s . ds
  Vec3 force;                     // on B
};

Contact::Meeting Contact::meet(const FrameState& a, const FrameState& b, const ContactPoint& point) const {
  Meeting m;
  m.from_a = point.place - a.p;
  m.from_b = point.place - b.p;
  m.velocity = b.v + b.w.cross(m.from_b) - a.v - a.w.cross(m.from_a);
  m.rate = point.normal.dot(m.velocity);
  m.sliding = m.velocity - m.rate * point.normal;
  const double depth = point.depth > 0 ? point.depth : 0, root = std::sqrt(depth);
  const double damped = 1 + law_.damping * m.rate;
  m.elastic = law_.stiffness * depth * root;
  if (damped > 0) {
    m.Q = m.elastic * damped;
    m.Q_depth = 1.5 * law_.stiffness * root * damped;
    m.Q_rate = m.elastic * law_.damping;
  }
  // tanh(x)/x and its slope over x, by their series near 0
  const double x = m.sliding.norm() / law_.slip_speed, x2 = x * x;
  double ratio = 0, slope = 0;
  if (x < 1e-2) {
    ratio = 1 - x2 / 3 + 2 * x2 * x2 / 15;
    slope = -2.0 / 3 + 8 * x2 / 15 - 34 * x2 * x2 / 105;
  } else {
    const double t = std::tanh(x);
    ratio = t / x;
    slope = ((1 - t) * (1 + t) - ratio) / x2;
  }
  m.phi = ratio / law_.slip_speed;
  m.phi_slope = slope / (law_.slip_speed * law_.slip_speed * law_.slip_speed);
  m.force = -m.Q * (point.normal + (law_.friction * m.phi) * m.sliding);
  return m;
}

bool Contact::evaluate(const ElementInput& in, double* wrench) const {
  Eigen::Map<Eigen::Matrix<double, 12, 1>> out(wrench);
  out.setZero();
  ContactPoint points[most_points];
  const int count = locate(in.frames[0], in.frames[1], points, nullptr);
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
  using Rows = Eigen::Matrix<double, 3, 12>;
  using Row = Eigen::Matrix<double, 1, 12>;
  out.set_zero(2);
  const FrameState &a = in.frames[0], &b = in.frames[1];
  ContactPoint points[most_points];
  ContactPointPartials partials[most_points];
  const int count = locate(a, b, points, partials);
  for (int i = 0; i < count; ++i) {
    const ContactPoint& point = points[i];
    if (!(point.depth > 0)) continue;
    const ContactPointPartials& d = partials[i];
    const Meeting m = meet(a, b, point);
    Rows from_a = d.place, from_b = d.place;
    from_a.leftCols<3>() -= Mat3::Identity();
    from_b.middleCols<3>(6) -= Mat3::Identity();
    const Rows v_pose = skew(b.w) * from_b - skew(a.w) * from_a;
    Rows v_twist;
    v_twist << -Mat3::Identity(), skew(m.from_a), Mat3::Identity(), -skew(m.from_b);
    const Row rate_pose = m.velocity.transpose() * d.normal + point.normal.transpose() * v_pose,
              rate_twist = point.normal.transpose() * v_twist;
    const Rows s_pose = v_pose - point.normal * rate_pose - m.rate * d.normal,
               s_twist = v_twist - point.normal * rate_twist;
    const Vec3 direction = point.normal + (law_.friction * m.phi) * m.sliding;
    const Mat3 by_sliding =
        (-law_.friction * m.Q) * (m.phi * Mat3::Identity() + m.phi_slope * m.sliding * m.sliding.transpose());
    const Rows F_pose =
        -direction * (m.Q_depth * d.depth + m.Q_rate * rate_pose) - m.Q * d.normal + by_sliding * s_pose;
    const Rows F_twist = -direction * (m.Q_rate * rate_twist) + by_sliding * s_twist;
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

double Contact::potential_energy(const ElementInput& in) const {
  ContactPoint points[most_points];
  const int count = locate(in.frames[0], in.frames[1], points, nullptr);
  double sum = 0;
  for (int i = 0; i < count; ++i) {
    const double depth = points[i].depth;
    if (depth > 0) sum += 0.4 * law_.stiffness * depth * depth * std::sqrt(depth);
  }
  return sum;
}

double Contact::dissipated_power(const ElementInput& in) const {
  ContactPoint points[most_points];
  const int count = locate(in.frames[0], in.frames[1], points, nullptr);
  double sum = 0;
  for (int i = 0; i < count; ++i) {
    if (!(points[i].depth > 0)) continue;
    const Meeting m = meet(in.frames[0], in.frames[1], points[i]);
    sum += (m.Q - m.elastic) * m.rate + law_.friction * m.Q * m.phi * m.sliding.squaredNorm();
  }
  return sum;
}

bool Contact::approach(const ElementInput& in, Approach& out) const {
  out = {};
  ContactPoint points[most_points];
  const int count = locate(in.frames[0], in.frames[1], points, nullptr);
  for (int i = 0; i < count; ++i) {
    const double speed = meet(in.frames[0], in.frames[1], points[i]).rate, gap = -points[i].depth;
    if (gap > 0 && speed > 0 && gap < out.time * speed) out = {gap / speed, speed, law_.stiffness, 1.5, false};
  }
  return true;
}

void Contact::switch_values(const ElementInput& in, double* values) const {
  ContactPoint points[most_points];
  const int count = locate(in.frames[0], in.frames[1], points, nullptr);
  values[0] = 1;
  for (int i = 0; i < count; ++i) values[0] = i == 0 ? -points[i].depth : std::min(values[0], -points[i].depth);
}

std::vector<Observable> Contact::observables() const {
  return {{"penetration", "m"},     {"approach_speed", "m/s"}, {"normal_force", "N"},
          {"sliding_speed", "m/s"}, {"traction", "N"},         {"dissipation", "W"}};
}

// Of the deepest place; where nothing touches, the penetration is minus the gap.
void Contact::observe(const ElementInput& in, double* values) const {
  Eigen::Map<Vec6> out(values);
  out.setZero();
  ContactPoint points[most_points];
  const int count = locate(in.frames[0], in.frames[1], points, nullptr);
  int deepest = -1;
  for (int i = 0; i < count; ++i)
    if (deepest < 0 || points[i].depth > points[deepest].depth) deepest = i;
  if (deepest < 0) return;
  const Meeting m = meet(in.frames[0], in.frames[1], points[deepest]);
  const double slide = m.sliding.norm();
  out << points[deepest].depth, m.rate, m.Q, slide, law_.friction * m.Q * m.phi * slide, dissipated_power(in);
}

bool locate_in_hollow(const Vec3& ball_center, const Vec3& w, double ball, double hollow, ContactPoint& out) {
  const double length = w.norm();
  if (!(length > 0)) return false;
  out.normal = w / length;
  out.depth = length + ball - hollow;
  out.place = ball_center + (ball - 0.5 * out.depth) * out.normal;
  return true;
}

void linearise_in_hollow(const ContactPoint& point, double length_of_w, const Eigen::Matrix<double, 3, 12>& dw,
                         double ball, ContactPointPartials& out) {
  out.depth = point.normal.transpose() * dw;
  out.normal = (dw - point.normal * out.depth) / length_of_w;
  out.place = (ball - 0.5 * point.depth) * out.normal - 0.5 * point.normal * out.depth;
  out.place.middleCols<3>(6) += Mat3::Identity();
}

std::vector<Field> contact_fields() {
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

ContactLaw contact_law(const Item& item, double curvature_sum, double curvature_difference) {
  const Fields& f = item.fields;
  ContactLaw law{f.number("stiffness"), f.number("damping"), f.number("friction"), f.number("slip_speed")};
  if (law.stiffness > 0) return law;
  if (!(curvature_sum > 0 && std::abs(curvature_difference) < curvature_sum)) {
    throw Failure({Severity::error, "conforming-surfaces",
                   "force '" + item.name + "': the surfaces conform; Hertz's contact needs a ball that fits loosely",
                   "make the ball smaller than what it lies in, or give 'stiffness'", item.where});
  }
  const auto softness = [&](const char* modulus, const char* poisson) {
    const double nu = f.number(poisson);
    return (1 - nu * nu) / f.number(modulus);
  };
  law.stiffness = hertz_contact(curvature_sum, curvature_difference,
                                softness("modulus_a", "poisson_a") + softness("modulus_b", "poisson_b"))
                      .stiffness;
  return law;
}

Fields random_contact_fields(std::mt19937& random) {
  Fields fields;
  fields.set("stiffness", random_between(1, 3, random));
  fields.set("damping", random_between(0.02, 0.1, random));
  fields.set("friction", random_between(0.1, 0.5, random));
  fields.set("slip_speed", random_between(0.5, 2, random));
  return fields;
}

}  // namespace trammel
