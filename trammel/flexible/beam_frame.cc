// Timoshenko elements: J. S. Przemieniecki, Theory of Matrix Structural Analysis, 1968, with P = 12 E I k / (G A L^2)
// and c = 1 / (1 + P). Shape functions of bending, xi = x/L:
//
//   u     = c (2 xi^3 - 3 xi^2 - P xi + 1 + P),       c L (xi^3 - (2 + P/2) xi^2 + (1 + P/2) xi),
//          -c (2 xi^3 - 3 xi^2 - P xi),               c L (xi^3 - (1 - P/2) xi^2 - P/2 xi)
//   theta = 6 c / L (xi^2 - xi),                      c (3 xi^2 - (4 + P) xi + 1 + P),
//          -6 c / L (xi^2 - xi),                      c (3 xi^2 - (2 - P) xi)
//
// on (u_y, theta_z) of both ends; on (u_z, theta_y) rotations have the opposite sign.
#include "trammel/flexible/beam_frame.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "trammel/math/rotation.h"

namespace trammel {
namespace {

using Matrix12 = Eigen::Matrix<double, 12, 12>;
using Shape = Eigen::Matrix<double, 6, 12>;
constexpr std::array<int, 4> along_y = {1, 5, 7, 11}, along_z = {2, 4, 8, 10};
constexpr std::array<double, 4> signs = {1, -1, 1, -1};

struct Element {
  BeamSection section;
  BeamMaterial material;
  double length = 0;
  double shear_y() const { return shear(section.Iz, section.shear_coefficient_y(material)); }
  double shear_z() const { return shear(section.Iy, section.shear_coefficient_z(material)); }
  double shear(double I, double k) const {
    return 12 * material.youngs_modulus * I * k / (material.shear_modulus * section.area * length * length);
  }
};

Eigen::Matrix4d bending_stiffness(double EI, double P, double L) {
  Eigen::Matrix4d k;
  k << 12, 6 * L, -12, 6 * L,                           //
      6 * L, (4 + P) * L * L, -6 * L, (2 - P) * L * L,  //
      -12, -6 * L, 12, -6 * L,                          //
      6 * L, (2 - P) * L * L, -6 * L, (4 + P) * L * L;
  return EI / (L * L * L * (1 + P)) * k;
}

Matrix12 local_stiffness(const Element& e) {
  Matrix12 K = Matrix12::Zero();
  const auto add_spring = [&K](int i, double k) {
    K(i, i) += k;
    K(i + 6, i + 6) += k;
    K(i, i + 6) -= k;
    K(i + 6, i) -= k;
  };
  const double E = e.material.youngs_modulus;
  add_spring(0, E * e.section.area / e.length);
  add_spring(3, e.material.shear_modulus * e.section.torsion / e.length);
  const Eigen::Matrix4d y = bending_stiffness(E * e.section.Iz, e.shear_y(), e.length),
                        z = bending_stiffness(E * e.section.Iy, e.shear_z(), e.length);
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      K(along_y[i], along_y[j]) += y(i, j);
      K(along_z[i], along_z[j]) += signs[i] * signs[j] * z(i, j);
    }
  }
  return K;
}

Shape local_shape(const Element& e, double xi) {
  Shape N = Shape::Zero();
  for (const int i : {0, 3}) {
    N(i, i) = 1 - xi;
    N(i, i + 6) = xi;
  }
  const double L = e.length, x2 = xi * xi, x3 = x2 * xi;
  const auto put = [&](double P, const std::array<int, 4>& at, int u, int theta, bool turned) {
    const double c = 1 / (1 + P);
    const std::array<double, 4> of_u = {c * (2 * x3 - 3 * x2 - P * xi + 1 + P),
                                        c * L * (x3 - (2 + P / 2) * x2 + (1 + P / 2) * xi),
                                        -c * (2 * x3 - 3 * x2 - P * xi), c * L * (x3 - (1 - P / 2) * x2 - P / 2 * xi)};
    const std::array<double, 4> of_theta = {6 * c / L * (x2 - xi), c * (3 * x2 - (4 + P) * xi + 1 + P),
                                            -6 * c / L * (x2 - xi), c * (3 * x2 - (2 - P) * xi)};
    for (int i = 0; i < 4; ++i) {
      const double sign = turned ? signs[i] : 1;
      N(u, at[i]) = sign * of_u[i];
      N(theta, at[i]) = (turned ? -sign : sign) * of_theta[i];
    }
  };
  put(e.shear_y(), along_y, 1, 5, false);
  put(e.shear_z(), along_z, 2, 4, true);
  return N;
}

Shape in_frame(const Shape& local, const Mat3& axes) {
  Shape out;
  for (int j = 0; j < 4; ++j)
    for (int i = 0; i < 2; ++i)
      out.block<3, 3>(3 * i, 3 * j) = axes * local.block<3, 3>(3 * i, 3 * j) * axes.transpose();
  return out;
}

Matrix12 in_frame(const Matrix12& local, const Mat3& axes) {
  Matrix12 out;
  for (int j = 0; j < 4; ++j)
    for (int i = 0; i < 4; ++i)
      out.block<3, 3>(3 * i, 3 * j) = axes * local.block<3, 3>(3 * i, 3 * j) * axes.transpose();
  return out;
}

Matrix12 mass_of(const MassPoint& p) {
  Mat6 D = Mat6::Zero();
  D.topLeftCorner<3, 3>().diagonal().setConstant(p.mass);
  D.bottomRightCorner<3, 3>() = p.inertia;
  return p.shape.transpose() * D * p.shape;
}

class Mesher {
 public:
  explicit Mesher(const BeamFrame& frame) : frame_(frame) {}

  FiniteElements make() {
    for (const BeamFrame::Node& node : frame_.nodes) out_.nodes.push_back(node.position);
    for (const BeamFrame::Beam& beam : frame_.beams) add(beam);
    for (const BeamFrame::Lump& lump : frame_.lumps) {
      MassPoint p{frame_.nodes[lump.node].position, lump.mass, lump.inertia, lump.node, lump.node, {}};
      p.shape.setZero();
      p.shape.leftCols<6>().setIdentity();
      add(p);
    }
    out_.stiffness.resize(out_.freedoms(), out_.freedoms());
    out_.mass.resize(out_.freedoms(), out_.freedoms());
    out_.stiffness.setFromTriplets(stiffness_.begin(), stiffness_.end());
    out_.mass.setFromTriplets(mass_.begin(), mass_.end());
    return std::move(out_);
  }

 private:
  void add(const BeamFrame::Beam& beam) {
    const Mat3 axes = frame_.axes(beam);
    const Vec3 from = frame_.nodes[beam.first].position, along = frame_.nodes[beam.second].position - from;
    const int count = frame_.element_length > 0
                          ? std::max(1, static_cast<int>(std::ceil(along.norm() / frame_.element_length - 1e-9)))
                          : 1;
    const Element e{frame_.sections[beam.section], frame_.materials[beam.material], along.norm() / count};
    const Matrix12 K = in_frame(local_stiffness(e), axes);
    for (int i = 0, first = beam.first; i < count; ++i) {
      int second = beam.second;
      if (i + 1 < count) {
        second = static_cast<int>(out_.nodes.size());
        out_.nodes.emplace_back(from + along * (i + 1.0) / count);
      }
      put(first, second, K, stiffness_);
      add_points(e, axes, first, second);
      out_.pieces.push_back({first, second, e.section.area});
      first = second;
    }
  }
  void add_points(const Element& e, const Mat3& axes, int first, int second) {
    const double inner = std::sqrt(3.0 / 7 - 2.0 / 7 * std::sqrt(1.2)),
                 outer = std::sqrt(3.0 / 7 + 2.0 / 7 * std::sqrt(1.2)), more = (18 + std::sqrt(30.0)) / 72,
                 less = (18 - std::sqrt(30.0)) / 72;
    const std::array<std::array<double, 2>, 4> gauss = {{{-outer, less}, {-inner, more}, {inner, more}, {outer, less}}};
    const Vec3 from = out_.nodes[first], along = out_.nodes[second] - from;
    for (const auto& [place, weight] : gauss) {
      const double xi = 0.5 * (1 + place), mass = e.material.density * e.length * weight;
      const Vec3 moments(e.section.Iy + e.section.Iz, e.section.Iy, e.section.Iz);
      add({from + xi * along, mass * e.section.area, axes * (mass * moments).asDiagonal() * axes.transpose(), first,
           second, in_frame(local_shape(e, xi), axes)});
    }
  }
  void add(const MassPoint& p) {
    if (p.first == p.second) {
      const Matrix12 M = mass_of(p);
      for (int j = 0; j < 6; ++j)
        for (int i = 0; i < 6; ++i) mass_.emplace_back(6 * p.first + i, 6 * p.first + j, M(i, j));
    } else {
      put(p.first, p.second, mass_of(p), mass_);
    }
    out_.points.push_back(p);
  }
  using Triplets = std::vector<Eigen::Triplet<double>>;
  static void put(int first, int second, const Matrix12& matrix, Triplets& to) {
    const auto freedom = [&](int i) { return i < 6 ? 6 * first + i : 6 * second + i - 6; };
    for (int j = 0; j < 12; ++j)
      for (int i = 0; i < 12; ++i) to.emplace_back(freedom(i), freedom(j), matrix(i, j));
  }

  const BeamFrame& frame_;
  FiniteElements out_;
  Triplets stiffness_, mass_;
};

}  // namespace

int BeamFrame::loose_node() const {
  std::vector<int> group(nodes.size());
  std::iota(group.begin(), group.end(), 0);
  const auto root = [&group](int i) {
    while (group[i] != i) i = group[i] = group[group[i]];
    return i;
  };
  for (const Beam& beam : beams) group[root(beam.second)] = root(beam.first);
  for (int i = 1; i < std::ssize(nodes); ++i)
    if (root(i) != root(0)) return i;
  return -1;
}

Mat3 BeamFrame::axes(const Beam& beam) const {
  const Vec3 x = (nodes[beam.second].position - nodes[beam.first].position).normalized();
  Vec3 up = beam.up.isZero(0) ? Vec3(Vec3::UnitZ()) : beam.up;
  if (x.cross(up).norm() < 1e-3 * up.norm()) up = Vec3::UnitY();
  const Vec3 z = (up - x * x.dot(up)).normalized();
  Mat3 out;
  out << x, z.cross(x), z;
  return out;
}

Mat FiniteElements::rigid_motions(const Vec3& center) const {
  Mat Z = Mat::Zero(freedoms(), 6);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto at = static_cast<Eigen::Index>(6 * i);
    Z.block<3, 3>(at, 0).setIdentity();
    Z.block<3, 3>(at, 3) = -skew(nodes[i] - center);
    Z.block<3, 3>(at + 3, 3).setIdentity();
  }
  return Z;
}

FiniteElements mesh(const BeamFrame& frame) { return Mesher(frame).make(); }

}  // namespace trammel
