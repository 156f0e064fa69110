// The short names for vectors and matrices used everywhere.
#pragma once
#include <Eigen/Core>
#include <Eigen/Geometry>
#include <cstddef>
#include <vector>

namespace trammel {

using Vec = Eigen::VectorXd;
using Mat = Eigen::MatrixXd;
using Vec3 = Eigen::Vector3d;
using Vec6 = Eigen::Matrix<double, 6, 1>;
using Mat3 = Eigen::Matrix3d;
using Mat6 = Eigen::Matrix<double, 6, 6>;
using Quat = Eigen::Quaterniond;
using Bytes = std::vector<std::byte>;

enum class Eval { ok, rejected };  // rejected: cannot be evaluated here (a spring of zero length): take a smaller step

}  // namespace trammel
