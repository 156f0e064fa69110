// A body that bends a little: the motion of a floating frame (r, R) and m modal coordinates q, which deform the body in
// the axes of that frame. Velocities: v of the point of reference in the world, w in body axes, q'. A point of the body
// is at r + R (x + phi q), its axes are R exp((psi q)~). With c = s + S0 q and the sums of model/modal_data.h
//
//   M = [ m 1, -R c~, R S0 ;  c~ R^T, J(q), Mwq ;  S0^T R^T, Mwq^T, Mqq ],     row k of Mwq = S1_k + (Gamma_k q)^T
//   T = v'^T M v / 2,   V = q^T K q / 2 - g . (m r + R c),   dissipated: q'^T D q'
//
// Rotation rates of mass points are w + theta' + w x theta, theta = psi q: with w + theta' alone the gyroscopic moments
// of lumped inertias would be missing. Derivation: A. A. Shabana, Dynamics of Multibody Systems, chapter 5, with mass
// points instead of shape integrals, so that T is that of the consistent mass matrix at any speed.
#include <algorithm>
#include <cmath>

#include "trammel/base/literal.h"
#include "trammel/elements/bodies/bodies.h"
#include "trammel/elements/bodies/group.h"
#include "trammel/math/rotation.h"
#include "trammel/model/modal_data.h"

namespace trammel {
namespace {

using Modes = Eigen::Map<const Vec>;

// x^T A y without a temporary
double bilinear(const Mat& A, const Modes& x, const Modes& y) {
  double sum = 0;
  for (Eigen::Index j = 0; j < A.cols(); ++j) sum += y[j] * A.col(j).dot(x);
  return sum;
}

// A(theta) n, which gives the angular velocity of a node from theta' in the axes of the body: A(theta) = T(-theta).
Mat3 node_tangent(const Vec3& theta) { return rotation_tangent(-theta); }
Mat3 node_tangent_derivative(const Vec3& theta, const Vec3& n) { return -rotation_tangent_derivative(-theta, n); }

class ModalBody final : public BodyElement {
 public:
  explicit ModalBody(const Body& body) : body_(body.modal) {
    const ModalData& b = *body_;
    m_ = b.modes();
    n_ = 6 + m_;
    coupled_ = !b.S0.isZero(0) || !b.first_moment.isZero(0);
    diagonal_stiffness_ = b.stiffness.isDiagonal(0);
    diagonal_damping_ = b.damping.isDiagonal(0);
    unit_mass_ = b.modal_mass.isIdentity(0);
    velocities_ = {{"position x", "x", Quantity::length, 0},     {"position y", "y", Quantity::length, 1},
                   {"position z", "z", Quantity::length, 2},     {"rotation about x", "", Quantity::angle, 3},
                   {"rotation about y", "", Quantity::angle, 4}, {"rotation about z", "", Quantity::angle, 5}};
    for (int j = 0; j < m_; ++j) {
      const std::string number = std::to_string(j + 1);
      velocities_.push_back({"mode " + number, "mode" + number, Quantity::none, -1, b.displacement[j], b.turn[j]});
    }
    for (const ModalNode& node : b.nodes) size_ = std::max(size_, node.position.norm());
  }

  // ---- layout
  int coordinates() const override { return 7 + m_; }
  const std::vector<BodyVelocity>& velocities() const override { return velocities_; }
  std::optional<int> rotation() const override { return 3; }
  int extra() const override { return 2 * m_; }  // q and q'
  std::vector<std::pair<int, int>> entries() const override {
    std::vector<std::pair<int, int>> list;
    const int first = coupled_ ? 0 : 3;
    for (int i = 0; i < first_coupled(); ++i) list.emplace_back(i, i);
    for (int j = first; j < n_; ++j)
      for (int i = first; i < n_; ++i) list.emplace_back(i, j);
    return list;
  }
  void start(const Body& body, double* q, double* v) const override {
    const Vec3 arm = body.pose.rotation * body.center_of_mass;
    const Quat turn = body.pose.rotation.normalized();
    Eigen::Map<Vec3>{q} = body.pose.position + arm;
    Eigen::Map<Vec3>{v} = body.velocity + body.angular_velocity.cross(arm);
    Eigen::Map<Eigen::Vector4d>(q + 3) << turn.w(), turn.x(), turn.y(), turn.z();
    Eigen::Map<Vec3>(v + 3) = turn.conjugate() * body.angular_velocity;
    Eigen::Map<Vec>(q + 7, m_).setZero();
    Eigen::Map<Vec>(v + 6, m_).setZero();
  }

  // ---- manifold
  void retract(const double* q, const double* delta, double* out) const override {
    for (int i = 0; i < 3; ++i) out[i] = q[i] + delta[i];
    Quat turned = Quat(q[3], q[4], q[5], q[6]) * rotation_exp(Vec3(delta[3], delta[4], delta[5]));
    turned.coeffs() *= 1.5 - 0.5 * turned.squaredNorm();  // as in spatial.cc
    Eigen::Map<Eigen::Vector4d>(out + 3) << turned.w(), turned.x(), turned.y(), turned.z();
    for (int j = 0; j < m_; ++j) out[7 + j] = q[7 + j] + delta[6 + j];
  }
  void local(const double* p, const double* q, double* delta) const override {
    for (int i = 0; i < 3; ++i) delta[i] = q[i] - p[i];
    Eigen::Map<Vec3>(delta + 3) = rotation_log(Quat(p[3], p[4], p[5], p[6]).conjugate() * Quat(q[3], q[4], q[5], q[6]));
    for (int j = 0; j < m_; ++j) delta[6 + j] = q[7 + j] - p[7 + j];
  }

  // ---- motion of the floating frame
  void motion(const double* q, const double* v, BodyState& out, double* extra) const override {
    out.r = Vec3(q[0], q[1], q[2]);
    out.R = rotation_of(q);
    out.v = Vec3(v[0], v[1], v[2]);
    out.w = out.R * Vec3(v[3], v[4], v[5]);
    for (int j = 0; j < m_; ++j) {
      extra[j] = q[7 + j];
      extra[m_ + j] = v[6 + j];
    }
  }
  Quat orientation(const double* q, const BodyState& /*motion*/) const override { return {q[3], q[4], q[5], q[6]}; }
  void acceleration(const BodyState& motion, const double* /*extra*/, const double* a, Vec3& linear,
                    Vec3& angular) const override {
    linear = Vec3(a[0], a[1], a[2]);
    angular = motion.R * Vec3(a[3], a[4], a[5]);
  }
  Mat twists(const BodyState& /*motion*/) const override { return Mat6::Identity(); }

  // ---- frames, of which those at nodes bend with the body
  int node_at(const Vec3& arm) const override {
    for (std::size_t i = 0; i < body_->nodes.size(); ++i)
      if ((body_->nodes[i].position - arm).norm() <= near()) return static_cast<int>(i);
    return -1;
  }
  std::string refuse(const BodyFrame& f) const override {
    if (f.node >= 0) return "";
    if (body_->nodes.empty()) return "it has no interface nodes";
    const ModalNode* nearest = &body_->nodes.front();
    for (const ModalNode& node : body_->nodes)
      if ((node.position - f.arm).norm() < (nearest->position - f.arm).norm()) nearest = &node;
    return "it stands at none of the interface nodes; the nearest, '" + nearest->name + "', is " +
           digits((nearest->position - f.arm).norm()) + " m away";
  }
  FrameState frame(const BodyFrame& f, const BodyState& motion, const double* extra) const override {
    const Bent b(*this, f, extra);
    const Mat3& R = motion.R;
    const Vec3 w = R.transpose() * motion.w;
    FrameState out;
    out.p = motion.r + R * b.rho;
    out.R = R * rotation_exp(b.theta).toRotationMatrix() * f.R;
    out.v = motion.v + R * (w.cross(b.rho) + b.u_dot);
    out.w = motion.w + R * (node_tangent(b.theta) * b.theta_dot);
    return out;
  }
  void frame_partials(const BodyFrame& f, const BodyState& motion, const double* extra, const double* a,
                      FramePartials& out) const override;
  void add_wrench_derivative(const BodyFrame& f, const BodyState& motion, const double* extra, const Vec6& wrench,
                             Eigen::Ref<Mat> out) const override;
  void add_wrench(const BodyFrame& f, const BodyState& motion, const double* extra, const double* wrench, double sign,
                  double* out) const override {
    const Bent b(*this, f, extra);
    const Vec3 force = sign * motion.R.transpose() * Vec3(wrench[0], wrench[1], wrench[2]),
               torque = sign * motion.R.transpose() * Vec3(wrench[3], wrench[4], wrench[5]);
    for (int i = 0; i < 3; ++i) out[i] += sign * wrench[i];
    Eigen::Map<Vec3>(out + 3) += b.rho.cross(force) + torque;
    if (b.node == nullptr) return;
    const Vec3 turning = rotation_tangent(b.theta) * torque;
    for (int j = 0; j < m_; ++j)
      out[6 + j] += b.node->translation.col(j).dot(force) + b.node->rotation.col(j).dot(turning);
  }

  // ---- inertia
  bool constant_mass() const override { return m_ == 0 && !coupled_; }
  void multiply_mass(const double* q, const double* a, double* Ma) const override;
  void mass(const double* q, const int* slots, double* M) const override;
  void inertial_force(const double* q, const double* v, const Vec3& gravity, double* force) const override;
  void linearise_inertia(const double* q, const double* v, const double* a, const Vec3& gravity, bool gyroscopic,
                         const int* slots, double* Ma_q, double* force_q, double* force_v) const override;
  double kinetic_energy(const BodyState& motion, const double* extra) const override {
    const Modes q(extra, m_), q_dot(extra + m_, m_);
    const Vec3 v = motion.R.transpose() * motion.v, w = motion.R.transpose() * motion.w;
    const Vec3 drift = body_->S0 * q_dot;
    return 0.5 * body_->mass * v.squaredNorm() + v.dot(w.cross(first_moment(q)) + drift) + 0.5 * w.dot(inertia(q) * w) +
           w.dot(coupling_times(q, q_dot)) + 0.5 * bilinear(body_->modal_mass, q_dot, q_dot);
  }
  double potential_energy(const BodyState& motion, const double* extra, const Vec3& gravity) const override {
    const Modes q(extra, m_);
    return -gravity.dot(body_->mass * motion.r + motion.R * first_moment(q)) + 0.5 * bilinear(body_->stiffness, q, q);
  }
  double dissipated_power(const double* extra) const override {
    const Modes q_dot(extra + m_, m_);
    return bilinear(body_->damping, q_dot, q_dot);
  }
  double weight() const override { return body_->mass; }
  Vec3 moments() const override { return body_->inertia.diagonal(); }

 private:
  // Where S0 or s is not zero, the weight turns the body.
  void linearise_weight(const double* q, const Vec3& gravity, const int* slots, double* force_q) const;

  // A frame as the deformation carries it, body axes.
  struct Bent {
    Bent(const ModalBody& body, const BodyFrame& f, const double* extra) : rho(f.arm) {
      if (f.node < 0) return;
      const Modes q(extra, body.m_), q_dot(extra + body.m_, body.m_);
      node = &body.body_->nodes[f.node];
      rho += node->translation * q;
      theta = node->rotation * q;
      u_dot = node->translation * q_dot;
      theta_dot = node->rotation * q_dot;
    }
    const ModalNode* node = nullptr;
    Vec3 rho, theta = Vec3::Zero(), u_dot = Vec3::Zero(), theta_dot = Vec3::Zero();
  };

  static Mat3 rotation_of(const double* q) { return Quat(q[3], q[4], q[5], q[6]).toRotationMatrix(); }
  int first_coupled() const { return coupled_ ? 0 : 3; }
  // In the list of entries; -1: the place is always zero.
  int entry(int i, int j) const {
    const int first = first_coupled();
    if (i < first || j < first) return i == j ? i : -1;
    return first + (i - first) + (n_ - first) * (j - first);
  }
  void add(double* to, const int* slots, int i, int j, double value) const {
    if (const int at = entry(i, j); at >= 0) to[slots[at]] += value;
  }
  void add(double* to, const int* slots, int i, int j, const Mat3& block) const {
    for (int l = 0; l < 3; ++l)
      for (int k = 0; k < 3; ++k) add(to, slots, i + k, j + l, block(k, l));
  }
  void add_modal_block(double* to, const int* slots, const Mat& block, bool diagonal) const {
    for (int j = 0; j < m_; ++j) {
      const int* own = slots + entry(6, 6 + j);
      if (diagonal) {
        to[own[j]] += block(j, j);
        continue;
      }
      for (int i = 0; i < m_; ++i) to[own[i]] += block(i, j);
    }
  }
  void add_modal_blocks(const Vec3& w, const Vec3& alpha, bool gyroscopic, const int* slots, double* Ma_q,
                        double* force_q, double* force_v) const;
  double near() const { return 1e-6 * size_ + 1e-12; }

  Vec3 first_moment(const Modes& q) const { return body_->first_moment + body_->S0 * q; }
  Mat3 inertia(const Modes& q) const {
    return body_->inertia + symmetric([&](int p) {
             return body_->inertia_rate[p].dot(q) + 0.5 * bilinear(body_->inertia_curvature[p], q, q);
           });
  }
  template <class Component>
  static Mat3 symmetric(Component&& of) {
    Mat3 out;
    for (int p = 0; p < 3; ++p) out(p, p) = of(p);
    out(0, 1) = out(1, 0) = of(3);
    out(1, 2) = out(2, 1) = of(4);
    out(2, 0) = out(0, 2) = of(5);
    return out;
  }
  Vec3 coupling_times(const Modes& q, const Modes& s) const {  // Mwq s
    Vec3 out = body_->S1 * s;
    for (int k = 0; k < 3; ++k) out[k] += bilinear(body_->gyration[k], s, q);
    return out;
  }
  // ---- one pass over the columns of J2 and Gamma for each evaluation: they are what takes the time

  // J1 of mode j, and (J2 q)_j, which is column j of J2 times q: components as in the lists of six.
  Vec6 inertia_rate(int j) const {
    Vec6 out;
    for (int p = 0; p < 6; ++p) out[p] = body_->inertia_rate[p][j];
    return out;
  }
  Vec6 curvature_column(const Modes& q, int j) const {
    Vec6 out;
    for (int p = 0; p < 6; ++p) out[p] = body_->inertia_curvature[p].col(j).dot(q);
    return out;
  }
  static Mat3 matrix(const Vec6& components) {
    return symmetric([&](int p) { return components[p]; });
  }
  // Those of a symmetric matrix, times w; and of the weights with which w^T J w / 2 sums them.
  static Vec3 times(const Vec6& J, const Vec3& w) {
    return {J[0] * w[0] + J[3] * w[1] + J[5] * w[2], J[3] * w[0] + J[1] * w[1] + J[4] * w[2],
            J[5] * w[0] + J[4] * w[1] + J[2] * w[2]};
  }
  static Vec6 halved_squares(const Vec3& w) {
    Vec6 out;
    out << 0.5 * w[0] * w[0], 0.5 * w[1] * w[1], 0.5 * w[2] * w[2], w[0] * w[1], w[1] * w[2], w[2] * w[0];
    return out;
  }
  // out += x_j sum_k w_k (column j of Gamma_k)
  template <class Out>
  void add_gyration_columns(const Vec3& w, double x, int j, Out& out) const {
    out += (x * w[0]) * body_->gyration[0].col(j) + (x * w[1]) * body_->gyration[1].col(j) +
           (x * w[2]) * body_->gyration[2].col(j);
  }
  // (Gamma_k x)_j of some j: a row of Gamma is spread over memory, so that several are taken together.
  static constexpr int rows_together = 64;
  using GyrationRows = Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::ColMajor, rows_together, 3>;
  GyrationRows gyration_rows(const Modes& x, int first) const {
    GyrationRows out(std::min(rows_together, m_ - first), 3);
    for (int k = 0; k < 3; ++k) out.col(k).noalias() = body_->gyration[k].middleRows(first, out.rows()) * x;
    return out;
  }
  Vec3 gyration_column(const Modes& q_dot, int j) const {  // (Gamma_k^T q')_j
    return {body_->gyration[0].col(j).dot(q_dot), body_->gyration[1].col(j).dot(q_dot),
            body_->gyration[2].col(j).dot(q_dot)};
  }

  std::shared_ptr<const ModalData> body_;
  std::vector<BodyVelocity> velocities_;
  int m_ = 0, n_ = 6;
  bool coupled_ = false;  // v couples with w and q: S0 or s is not zero
  bool diagonal_stiffness_ = false, diagonal_damping_ = false, unit_mass_ = false;  // as those of a reduction
  double size_ = 0;  // greatest distance of a node from the point of reference
};

// B = [ 1  -R rho~  R phi ;  0  R  R A psi ] and its derivatives; all vectors in body axes.
void ModalBody::frame_partials(const BodyFrame& f, const BodyState& motion, const double* extra, const double* a,
                               FramePartials& out) const {
  const Bent b(*this, f, extra);
  const Mat3& R = motion.R;
  const Vec3 w = R.transpose() * motion.w, lever = w.cross(b.rho);
  const Mat3 W = skew(w), A = node_tangent(b.theta), A_rate = node_tangent_derivative(b.theta, b.theta_dot);
  const Vec3 spin = A * b.theta_dot, linear = w.cross(lever) + 2 * w.cross(b.u_dot),
             angular = w.cross(spin) + A_rate * b.theta_dot;
  out.set_zero(n_);
  out.B.topLeftCorner<3, 3>().setIdentity();
  out.B.block<3, 3>(0, 3) = -R * skew(b.rho);
  out.B.block<3, 3>(3, 3) = R;
  out.Bv_q.block<3, 3>(0, 3) = -R * skew(lever + b.u_dot);
  out.Bv_q.block<3, 3>(3, 3) = -R * skew(w + spin);
  out.bias.head<3>() = R * linear;
  out.bias.tail<3>() = R * angular;
  out.bias_q.block<3, 3>(0, 3) = -R * skew(linear);
  out.bias_q.block<3, 3>(3, 3) = -R * skew(angular);
  out.bias_v.block<3, 3>(0, 3) = -R * (skew(lever) + W * skew(b.rho) + 2 * skew(b.u_dot));
  out.bias_v.block<3, 3>(3, 3) = -R * skew(spin);
  Vec3 u_second = Vec3::Zero(), theta_second = Vec3::Zero();
  if (a != nullptr && b.node != nullptr) {
    u_second = b.node->translation * Modes(a + 6, m_);
    theta_second = b.node->rotation * Modes(a + 6, m_);
  }
  if (a != nullptr) {
    const Vec3 alpha(a[3], a[4], a[5]);
    out.Ba_q.block<3, 3>(0, 3) = -R * skew(alpha.cross(b.rho) + u_second);
    out.Ba_q.block<3, 3>(3, 3) = -R * skew(alpha + A * theta_second);
  }
  if (b.node == nullptr) return;
  // F = A'(theta; theta') theta' is -g(-theta, -theta') of w' = T theta'' + g(theta, theta').
  const RotationAcceleration F = rotation_acceleration(-b.theta, -b.theta_dot, Vec3::Zero());
  const auto put = [&](FramePartials::Matrix& to, const Mat3& by_u, const Mat3& by_theta) {
    to.bottomRightCorner(6, m_).topRows<3>().noalias() = by_u * b.node->translation;
    to.bottomRightCorner(6, m_).bottomRows<3>().noalias() = by_theta * b.node->rotation;
  };
  put(out.B, R, R * A);
  put(out.Bv_q, R * W, R * A_rate);
  put(out.bias_q, R * W * W, R * (W * A_rate + F.by_theta));
  put(out.bias_v, 2 * R * W, R * (W * A + F.by_rate));
  if (a != nullptr) put(out.Ba_q, R * skew(Vec3(a[3], a[4], a[5])), R * node_tangent_derivative(b.theta, theta_second));
}

// Of B^T (f, n) = (f, rho x f_b + n_b, phi^T f_b + psi^T T(theta) n_b).
void ModalBody::add_wrench_derivative(const BodyFrame& f, const BodyState& motion, const double* extra,
                                      const Vec6& wrench, Eigen::Ref<Mat> out) const {
  const Bent b(*this, f, extra);
  const Vec3 force = motion.R.transpose() * wrench.head<3>(), torque = motion.R.transpose() * wrench.tail<3>();
  const Mat3 F = skew(force), N = skew(torque);
  out.block<3, 3>(3, 3) += skew(b.rho) * F + N;
  if (b.node == nullptr) return;
  const Mat3 TN = rotation_tangent(b.theta) * N, dT = rotation_tangent_derivative(b.theta, torque);
  const ModeShapes &phi = b.node->translation, &psi = b.node->rotation;
  for (int j = 0; j < m_; ++j) {
    out.block<3, 1>(3, 6 + j) -= F * phi.col(j);
    const Vec3 by_turn = F.transpose() * phi.col(j) + TN.transpose() * psi.col(j), bent = dT * psi.col(j);
    for (int k = 0; k < 3; ++k) out(6 + j, 3 + k) += by_turn[k];
    for (int i = 0; i < m_; ++i) out(6 + i, 6 + j) += psi.col(i).dot(bent);
  }
}

void ModalBody::multiply_mass(const double* q, const double* a, double* Ma) const {
  const ModalData& b = *body_;
  const Modes modes(q + 7, m_), s(a + 6, m_);
  const Mat3 R = rotation_of(q);
  const Vec3 a_v(a[0], a[1], a[2]), alpha(a[3], a[4], a[5]), a_b = R.transpose() * a_v, c = first_moment(modes);
  const Vec3 of_modes = b.S0 * s;
  Eigen::Map<Vec> out(Ma + 6, m_);
  if (unit_mass_)
    out = s;
  else
    out.noalias() = b.modal_mass * s;
  Vec6 J = Vec6::Zero();
  Vec3 coupled = b.S1 * s;  // Mwq s
  for (int j = 0; j < m_; ++j) {
    J += modes[j] * (inertia_rate(j) + 0.5 * curvature_column(modes, j));
    coupled += modes[j] * gyration_column(s, j);
    out[j] += b.S0.col(j).dot(a_b) + b.S1.col(j).dot(alpha);
    add_gyration_columns(alpha, modes[j], j, out);
  }
  Eigen::Map<Vec3>{Ma} = b.mass * a_v + R * (alpha.cross(c) + of_modes);
  Eigen::Map<Vec3>(Ma + 3) = c.cross(a_b) + b.inertia * alpha + times(J, alpha) + coupled;
}

void ModalBody::mass(const double* q, const int* slots, double* M) const {
  const ModalData& b = *body_;
  const Modes modes(q + 7, m_);
  const Mat3 R = rotation_of(q), by_spin = -R * skew(first_moment(modes));
  const std::size_t count = static_cast<std::size_t>(first_coupled()) +
                            static_cast<std::size_t>(n_ - first_coupled()) * (n_ - first_coupled());
  for (std::size_t i = 0; i < count; ++i) M[slots[i]] = 0;
  add(M, slots, 0, 0, Mat3(b.mass * Mat3::Identity()));
  add(M, slots, 0, 3, by_spin);
  add(M, slots, 3, 0, Mat3(by_spin.transpose()));
  add(M, slots, 3, 3, inertia(modes));
  for (int first = 0; first < m_; first += rows_together) {
    const GyrationRows rows = gyration_rows(modes, first);
    for (int j = first; j < first + rows.rows(); ++j) {
      const Vec3 drift = R * b.S0.col(j), turn = b.S1.col(j) + rows.row(j - first).transpose();
      for (int k = 0; k < 3; ++k) {
        add(M, slots, k, 6 + j, drift[k]);
        add(M, slots, 6 + j, k, drift[k]);
        add(M, slots, 3 + k, 6 + j, turn[k]);
        add(M, slots, 6 + j, 3 + k, turn[k]);
      }
    }
  }
  add_modal_block(M, slots, b.modal_mass, unit_mass_);
}

// h_v = R (2 w x S0 q' + w x (w x c)) - m g
// h_w = J' w + (q'^T Gamma_k q')_k + w x (J w + Mwq q') - c x R^T g
// h_q = sum_k w_k (Gamma_k - Gamma_k^T) q' - (w^T J(q) w)_q / 2 + K q + D q' - S0^T R^T g
void ModalBody::inertial_force(const double* q, const double* v, const Vec3& gravity, double* force) const {
  const ModalData& b = *body_;
  const Modes modes(q + 7, m_), rate(v + 6, m_);
  const Mat3 R = rotation_of(q);
  const Vec3 w(v[3], v[4], v[5]), g = R.transpose() * gravity, c = first_moment(modes), drift = b.S0 * rate;
  Eigen::Map<Vec> h_q(force + 6, m_);
  if (diagonal_stiffness_)
    h_q = b.stiffness.diagonal().cwiseProduct(modes);
  else
    h_q.noalias() = b.stiffness * modes;
  if (diagonal_damping_)
    h_q += b.damping.diagonal().cwiseProduct(rate);
  else
    h_q.noalias() += b.damping * rate;
  const Vec6 ww = halved_squares(w);
  Vec6 J = Vec6::Zero(), J_dot = J;
  Vec3 momentum = b.S1 * rate, squared = Vec3::Zero();  // Mwq q', q'^T Gamma_k q'
  for (int j = 0; j < m_; ++j) {
    const Vec6 by_mode = inertia_rate(j), curvature = curvature_column(modes, j);
    const Vec3 turned = gyration_column(rate, j);
    J += modes[j] * (by_mode + 0.5 * curvature);
    J_dot += rate[j] * (by_mode + curvature);
    momentum += modes[j] * turned;
    squared += rate[j] * turned;
    h_q[j] -= w.dot(turned) + ww.dot(by_mode + curvature) + b.S0.col(j).dot(g);
    add_gyration_columns(w, rate[j], j, h_q);
  }
  momentum += b.inertia * w + times(J, w);
  Eigen::Map<Vec3>{force} = R * (2 * w.cross(drift) + w.cross(w.cross(c))) - b.mass * gravity;
  Eigen::Map<Vec3>(force + 3) = times(J_dot, w) + squared + w.cross(momentum) - c.cross(g);
}

void ModalBody::linearise_inertia(const double* q, const double* v, const double* a, const Vec3& gravity,
                                  bool gyroscopic, const int* slots, double* Ma_q, double* force_q,
                                  double* force_v) const {
  if (coupled_) linearise_weight(q, gravity, slots, force_q);
  const ModalData& b = *body_;
  const Modes modes(q + 7, m_), rate(v + 6, m_), s(a + 6, m_);
  const Mat3 R = rotation_of(q);
  const Vec3 w(v[3], v[4], v[5]), alpha(a[3], a[4], a[5]), a_b = R.transpose() * Vec3(a[0], a[1], a[2]);
  const Vec3 c = first_moment(modes), drift = b.S0 * rate, drift_a = b.S0 * s;
  const Mat3 W = skew(w), C = skew(c);
  Vec6 J_bent = Vec6::Zero(), J_dot = J_bent;
  Vec3 momentum = b.S1 * rate;
  GyrationRows by_rate, by_q;  // (Gamma_k q')_j, (Gamma_k q)_j
  for (int j = 0, first = 0; j < m_; ++j) {
    if (gyroscopic && j % rows_together == 0) {
      first = j;
      by_rate = gyration_rows(rate, first);
      by_q = gyration_rows(modes, first);
    }
    const Vec6 J1 = inertia_rate(j), J2 = curvature_column(modes, j);
    const Vec3 s0 = b.S0.col(j), by_w = times(J1 + J2, w), G_turned = gyration_column(rate, j);
    J_bent += modes[j] * (J1 + 0.5 * J2);
    J_dot += rate[j] * (J1 + J2);
    momentum += modes[j] * G_turned;
    const Vec3 v_by_q = R * w.cross(w.cross(s0)),
               w_by_q = times(curvature_column(rate, j), w) + w.cross(by_w + G_turned);
    const Vec3 Ma_v = R * alpha.cross(s0), Ma_w = -a_b.cross(s0) + gyration_column(s, j) + times(J1 + J2, alpha),
               Ma_turn = -a_b.cross(s0);  // row j of S0^T a_b~
    for (int k = 0; k < 3; ++k) {
      add(Ma_q, slots, k, 6 + j, Ma_v[k]);
      add(Ma_q, slots, 3 + k, 6 + j, Ma_w[k]);
      add(Ma_q, slots, 6 + j, 3 + k, Ma_turn[k]);
      add(force_q, slots, k, 6 + j, v_by_q[k]);
      add(force_q, slots, 3 + k, 6 + j, w_by_q[k]);
    }
    if (!gyroscopic) continue;
    const Vec3 G = by_rate.row(j - first).transpose(), coupled = b.S1.col(j) + by_q.row(j - first).transpose();
    const Vec3 v_by_rate = 2 * R * w.cross(s0), w_by_rate = by_w + G + G_turned + w.cross(coupled),
               q_by_w = G - G_turned - by_w;
    for (int k = 0; k < 3; ++k) {
      add(force_v, slots, k, 6 + j, v_by_rate[k]);
      add(force_v, slots, 3 + k, 6 + j, w_by_rate[k]);
      add(force_v, slots, 6 + j, 3 + k, q_by_w[k]);
    }
  }
  const Mat3 J = b.inertia + matrix(J_bent);
  momentum += J * w;
  add(Ma_q, slots, 0, 3, Mat3(-R * skew(alpha.cross(c) + drift_a)));
  add(Ma_q, slots, 3, 3, Mat3(C * skew(a_b)));
  add(force_q, slots, 0, 3, Mat3(-R * skew(2 * w.cross(drift) + w.cross(w.cross(c)))));
  if (gyroscopic) {
    add(force_v, slots, 0, 3, Mat3(-R * (skew(w.cross(c)) + W * C + 2 * skew(drift))));
    add(force_v, slots, 3, 3, Mat3(matrix(J_dot) + W * J - skew(momentum)));
  }
  add_modal_blocks(w, alpha, gyroscopic, slots, Ma_q, force_q, force_v);
}

// Rows and columns of q: K - sum w_k w_l J2_kl / 2,  D + sum w_k (Gamma_k - Gamma_k^T),  sum alpha_k Gamma_k.
void ModalBody::add_modal_blocks(const Vec3& w, const Vec3& alpha, bool gyroscopic, const int* slots, double* Ma_q,
                                 double* force_q, double* force_v) const {
  const ModalData& b = *body_;
  add_modal_block(force_q, slots, b.stiffness, diagonal_stiffness_);
  add_modal_block(force_v, slots, b.damping, diagonal_damping_);
  const Vec6 ww = halved_squares(w);
  const std::array<Mat, 3>& G = b.gyration;
  const std::array<Mat, 6>& J2 = b.inertia_curvature;
  const bool turns = !w.isZero(0), accelerates = !alpha.isZero(0);
  for (int j = 0; j < m_; ++j) {
    const int* own = slots + entry(6, 6 + j);
    for (int i = 0; i < m_ && accelerates; ++i)
      Ma_q[own[i]] += alpha[0] * G[0](i, j) + alpha[1] * G[1](i, j) + alpha[2] * G[2](i, j);
    for (int i = 0; i < m_ && turns; ++i)
      force_q[own[i]] -= ww[0] * J2[0](i, j) + ww[1] * J2[1](i, j) + ww[2] * J2[2](i, j) + ww[3] * J2[3](i, j) +
                         ww[4] * J2[4](i, j) + ww[5] * J2[5](i, j);
    for (int i = 0; i < m_ && turns && gyroscopic; ++i)
      force_v[own[i]] +=
          w[0] * (G[0](i, j) - G[0](j, i)) + w[1] * (G[1](i, j) - G[1](j, i)) + w[2] * (G[2](i, j) - G[2](j, i));
  }
}

// Of (-m g, -c x R^T g, -S0^T R^T g).
void ModalBody::linearise_weight(const double* q, const Vec3& gravity, const int* slots, double* force_q) const {
  const Vec3 g = rotation_of(q).transpose() * gravity;
  add(force_q, slots, 3, 3, Mat3(-skew(first_moment(Modes(q + 7, m_))) * skew(g)));
  for (int j = 0; j < m_; ++j) {
    const Vec3 turning = g.cross(Vec3(body_->S0.col(j)));
    for (int k = 0; k < 3; ++k) {
      add(force_q, slots, 3 + k, 6 + j, turning[k]);
      add(force_q, slots, 6 + j, 3 + k, turning[k]);
    }
  }
}

std::unique_ptr<BodyElement> make_modal_body(const Body& body) {
  if (body.modal == nullptr)
    throw Failure({Severity::error, "missing-modes", "body '" + body.name + "' bends, but has no modes",
                   "give `flexible` in the file, or Body::modal in C++", body.where});
  return std::make_unique<ModalBody>(body);
}

}  // namespace

BodyDescription describe_modal_body() {
  BodyDescription d;
  d.key = "modal";
  d.summary = "A body that bends a little: rigid motion and modal coordinates, reduced from a frame of beams.";
  d.inertia = InertiaForm::follows;
  d.is_flexible = true;
  d.make = make_modal_body;
  d.make_group = make_group<ModalBody>;
  return d;
}

}  // namespace trammel
