#include "trammel/formulate/chart.h"

#include <algorithm>

#include "trammel/math/rotation.h"

namespace trammel {

void Chart::move_to(const Vec& q) {
  origin_ = q;
  rate_.setZero();
  turning_ = false;
}

void Chart::move_to(const Vec& q, double t, const Vec& v, double window) {
  turned_ = rate_;
  move_to(q);
  since_ = t;
  for (const int j : equations_.rotation_columns()) {
    const bool turned = !turned_.segment<3>(j).isZero(0);
    if (!(v.segment<3>(j).norm() * window > (turned ? far / 3 : far))) continue;
    rate_.segment<3>(j) = v.segment<3>(j);
    turning_ = true;
  }
}

Vec3 Chart::drift(int column, const Vec3& theta) const {
  if (!turning_) return Vec3::Zero();
  return rotation_exp(-theta) * Vec3(rate_.segment<3>(column));
}

void Chart::place(double t, const Vec& z, Vec& q) const {
  q.resize(origin_.size());
  if (!turning_) {
    equations_.retract(origin_, z, q);
    return;
  }
  turned_ = (t - since_) * rate_;
  equations_.retract(origin_, turned_, here_);
  equations_.retract(here_, z, q);
}

void Chart::place(double t, const Vec& z, const Vec& z_dot, Vec& q, Vec& v) const {
  place(t, z, q);
  v = z_dot;
  for (const int j : equations_.rotation_columns()) {
    const Vec3 theta = z.segment<3>(j);
    v.segment<3>(j) = rotation_tangent(theta) * z_dot.segment<3>(j);
    if (turning_) v.segment<3>(j) += drift(j, theta);
  }
}

void Chart::locate(double t, const Vec& q, const Vec& v, Vec& z, Vec& z_dot) const {
  z.resize(v.size());
  if (turning_) {
    turned_ = (t - since_) * rate_;
    equations_.retract(origin_, turned_, here_);
    equations_.local(here_, q, z);
  } else {
    equations_.local(origin_, q, z);
  }
  z_dot = v;
  for (const int j : equations_.rotation_columns()) {
    const Vec3 theta = z.segment<3>(j);
    z_dot.segment<3>(j) = rotation_tangent_inverse(theta) * (v.segment<3>(j) - drift(j, theta));
  }
}

bool Chart::follows(const Vec& z, const Vec& z_dot, const Vec& later, const Vec& later_dot, double dt) const {
  for (const int j : equations_.rotation_columns()) {
    const Vec3 expected = later.segment<3>(j) - (0.5 * dt) * (z_dot.segment<3>(j) + later_dot.segment<3>(j));
    if (!((z.segment<3>(j) - expected).norm() < 1 && z.segment<3>(j).norm() < far)) return false;
  }
  return true;
}

void Chart::second(const Vec& z, const Vec& z_dot, const Vec& a, Vec& z_second) const {
  z_second = a;
  for (const int j : equations_.rotation_columns()) {
    const Vec3 theta = z.segment<3>(j), rate = z_dot.segment<3>(j);
    Vec3 rest = a.segment<3>(j) - rotation_tangent_derivative(theta, rate) * rate;
    if (turning_) rest -= drift(j, theta).cross(rotation_tangent(theta) * rate);
    z_second.segment<3>(j) = rotation_tangent_inverse(theta) * rest;
  }
}

double Chart::turn(const Vec& z) const {
  double most = 0;
  for (const int j : equations_.rotation_columns()) most = std::max(most, z.segment<3>(j).norm());
  return most;
}

double Chart::turn_ahead(const Vec& z, const Vec& z_dot, double h) const {
  double most = 0;
  for (const int j : equations_.rotation_columns())
    most = std::max(most, (z.segment<3>(j) + h * z_dot.segment<3>(j)).norm());
  return most;
}

void Chart::differentiate(const Vec& z, const Vec& z_dot, const Vec& z_second, Derivatives& out) const {
  const std::vector<int>& columns = equations_.rotation_columns();
  for (std::vector<Mat3>* m : {&out.T, &out.T_inverse, &out.C, &out.A, &out.B}) m->resize(columns.size());
  out.b.resize(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Vec3 theta = z.segment<3>(columns[i]), rate = z_dot.segment<3>(columns[i]),
               second = z_second.segment<3>(columns[i]);
    out.T[i] = rotation_tangent(theta);
    out.T_inverse[i] = rotation_tangent_inverse(theta);
    out.C[i] = rotation_tangent_derivative(theta, rate);
    const RotationAcceleration acceleration = rotation_acceleration(theta, rate, second);
    out.A[i] = acceleration.by_rate;
    out.B[i] = acceleration.by_theta;
    // db = b x T dz
    out.b[i] = drift(columns[i], theta);
    if (!turning_) continue;
    const Mat3 b = skew(out.b[i]), bT = b * out.T[i];
    out.B[i] += b * out.C[i] - skew(out.T[i] * rate) * bT;
    out.A[i] += bT;
    out.C[i] += bT;
  }
}

void Chart::visit(Archive& archive) {
  archive(origin_, rate_, since_);
  if (archive.reading()) turning_ = !rate_.isZero(0);
}

}  // namespace trammel
