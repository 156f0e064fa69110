// Functions given by points. Spline: y(x), in every interval the cubic with given values and slopes d_i at its ends,
//
//   y = y_i + s (d_i + s (c_2 + s c_3)),  s = x - x_i,  c_2 = (3 m - 2 d_i - d_i+1) / h,  c_3 = (d_i + d_i+1 - 2 m) /
//   h^2
//
// where h is the length of the interval and m its mean slope. The kinds differ in the slopes:
//   akima     a mean of the slopes of four neighbouring intervals (H. Akima, J. ACM 17, 1970): y' is continuous, and a
//             point moves the curve only three intervals away
//   natural, clamped, periodic, not_a_knot   y'' is continuous; at the ends y'' = 0, y' given, all equal at both ends,
//             or y''' continuous at the points next to the ends
//   linear    straight lines: y' jumps
//
// SurfaceTable: z(x, y) on a grid, in every cell the bicubic with values, slopes and mixed derivatives of such splines
// along the lines of the grid; first derivatives are continuous, for natural splines also the second ones.
//
// Beyond the last points a function goes on along its tangent (linear), keeps its value (constant), or has no value
// (none: not a number). At a point where a higher derivative jumps, that of the interval to the right is given.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "trammel/math/taylor.h"

namespace trammel {

enum class SplineKind { akima, natural, clamped, periodic, not_a_knot, linear };
enum class Extrapolation { linear, constant, none };

const char* to_text(SplineKind kind);
const char* to_text(Extrapolation extrapolation);

// As given.
struct SplineData {
  SplineKind kind = SplineKind::akima;
  std::vector<double> x, y;
  Extrapolation extrapolation = Extrapolation::linear;
  double first_slope = 0, last_slope = 0;  // of a clamped one
};

// What is wrong with points: the sentence, and the index of the first point it is about, or -1.
struct SplineFault {
  std::string what, hint;
  int point = -1;
};

class Spline {
 public:
  explicit Spline(SplineData data);  // throws Failure if fault() finds one
  static SplineFault fault(const SplineData& data);

  const SplineData& data() const { return data_; }
  double value(double x) const;
  std::array<double, 4> derivatives(double x) const;  // y, y', y'', y'''

 private:
  SplineData data_;
  std::vector<std::array<double, 4>> cubic_;  // of each interval, rising powers of s
};

struct SurfaceData {
  SplineKind kind = SplineKind::natural;  // or akima
  std::vector<double> x, y, z;            // z[i * y.size() + j] at (x_i, y_j)
  Extrapolation extrapolation = Extrapolation::linear;
};

class SurfaceTable {
 public:
  explicit SurfaceTable(SurfaceData data);  // throws Failure if fault() finds one
  static SplineFault fault(const SurfaceData& data);

  const SurfaceData& data() const { return data_; }
  double value(double x, double y) const;
  std::array<double, 3> gradient(double x, double y) const;  // z, dz/dx, dz/dy
  Taylor3 along(const Taylor3& x, const Taylor3& y) const;   // z on a path

 private:
  SurfaceData data_;
  std::vector<std::array<double, 16>>
      patch_;  // of each cell: powers of (x - x_i)/h_x by rows, of (y - y_j)/h_y by columns
};

// Slopes at the points of a spline.
std::vector<double> spline_slopes(SplineKind kind, const std::vector<double>& x, const std::vector<double>& y,
                                  double first_slope = 0, double last_slope = 0);

}  // namespace trammel
