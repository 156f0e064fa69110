#include "trammel/formulate/chart.h"

#include <algorithm>

#include "trammel/math/rotation.h"

namespace trammel {

void Chart::place(const Vec& z, const Vec& z_dot, Vec& q, Vec& v) const {
  q.resize(origin_.size());
  equations_.retract(origin_, z, q);
  v = z_dot;
  for (const int j : equations_.rotation_columns())
    v.segment<3>(j) = rotation_tangent(z.segment<3>(j)) * z_dot.segment<3>(j);
}

void Chart::locate(const Vec& q, const Vec& v, Vec& z, Vec& z_dot) const {
  z.resize(v.size());
  equations_.local(origin_, q, z);
  z_dot = v;
  for (const int j : equations_.rotation_columns())
    z_dot.segment<3>(j) = rotation_tangent_inverse(z.segment<3>(j)) * v.segment<3>(j);
}

void Chart::second(const Vec& z, const Vec& z_dot, const Vec& a, Vec& z_second) const {
  z_second = a;
  for (const int j : equations_.rotation_columns()) {
    const Vec3 theta = z.segment<3>(j), rate = z_dot.segment<3>(j);
    z_second.segment<3>(j) =
        rotation_tangent_inverse(theta) * (a.segment<3>(j) - rotation_tangent_derivative(theta, rate) * rate);
  }
}

double Chart::turn(const Vec& z) const {
  double most = 0;
  for (const int j : equations_.rotation_columns()) most = std::max(most, z.segment<3>(j).norm());
  return most;
}

void Chart::differentiate(const Vec& z, const Vec& z_dot, const Vec& z_second, Derivatives& out) const {
  const std::vector<int>& columns = equations_.rotation_columns();
  for (std::vector<Mat3>* m : {&out.T, &out.T_inverse, &out.C, &out.A, &out.B}) m->resize(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Vec3 theta = z.segment<3>(columns[i]), rate = z_dot.segment<3>(columns[i]),
               second = z_second.segment<3>(columns[i]);
    out.T[i] = rotation_tangent(theta);
    out.T_inverse[i] = rotation_tangent_inverse(theta);
    out.C[i] = rotation_tangent_derivative(theta, rate);
    const RotationAcceleration acceleration = rotation_acceleration(theta, rate, second);
    out.A[i] = acceleration.by_rate;
    out.B[i] = acceleration.by_theta;
  }
}

}  // namespace trammel
