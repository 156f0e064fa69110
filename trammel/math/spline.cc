#include "trammel/math/spline.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "trammel/base/diagnosis.h"

namespace trammel {

const char* to_text(SplineKind kind) {
  switch (kind) {
    case SplineKind::akima: return "akima";
    case SplineKind::natural: return "natural";
    case SplineKind::clamped: return "clamped";
    case SplineKind::periodic: return "periodic";
    case SplineKind::not_a_knot: return "not_a_knot";
    case SplineKind::linear: return "linear";
  }
  return "";
}

const char* to_text(Extrapolation extrapolation) {
  switch (extrapolation) {
    case Extrapolation::linear: return "linear";
    case Extrapolation::constant: return "constant";
    case Extrapolation::none: return "none";
  }
  return "";
}

// ---- slopes --------------------------------------------------------------------------------------------------------

namespace {

std::vector<double> akima_slopes(const std::vector<double>& h, const std::vector<double>& dy) {
  const std::size_t n = h.size() + 1;
  // Mean slopes of the intervals, two more at each end on the parabola through the last three points.
  std::vector<double> m(n + 3);
  for (std::size_t i = 0; i + 1 < n; ++i) m[i + 2] = dy[i] / h[i];
  if (n == 2) return {m[2], m[2]};
  m[1] = 2 * m[2] - m[3];
  m[0] = 2 * m[1] - m[2];
  m[n + 1] = 2 * m[n] - m[n - 1];
  m[n + 2] = 2 * m[n + 1] - m[n];
  std::vector<double> d(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double left = std::abs(m[i + 1] - m[i]), right = std::abs(m[i + 3] - m[i + 2]);
    // No change of slope on either side: both neighbours count alike.
    d[i] = left + right > 0 ? (right * m[i + 1] + left * m[i + 2]) / (left + right) : (m[i + 1] + m[i + 2]) / 2;
  }
  return d;
}

// Solves a tridiagonal system in place: below[i] x[i-1] + middle[i] x[i] + above[i] x[i+1] = right[i].
void solve_tridiagonal(const std::vector<double>& below, std::vector<double> middle, const std::vector<double>& above,
                       std::vector<double>& right) {
  for (std::size_t i = 1; i < middle.size(); ++i) {
    const double factor = below[i] / middle[i - 1];
    middle[i] -= factor * above[i - 1];
    right[i] -= factor * right[i - 1];
  }
  for (std::size_t i = middle.size(); i-- > 0;) {
    if (i + 1 < middle.size()) right[i] -= above[i] * right[i + 1];
    right[i] /= middle[i];
  }
}

// y'' is continuous at point i if
//   d_i-1 / h_i-1 + 2 (1/h_i-1 + 1/h_i) d_i + d_i+1 / h_i = 3 (dy_i-1 / h_i-1^2 + dy_i / h_i^2)
std::vector<double> smooth_slopes(SplineKind kind, const std::vector<double>& h, const std::vector<double>& dy,
                                  double first_slope, double last_slope) {
  const std::size_t n = h.size() + 1;
  const bool periodic = kind == SplineKind::periodic;
  const std::size_t size = periodic ? n - 1 : n;
  std::vector<double> below(size, 0.0), middle(size, 0.0), above(size, 0.0), right(size, 0.0);
  const auto join = [&](std::size_t row, std::size_t before, std::size_t after) {
    below[row] = 1 / h[before];
    above[row] = 1 / h[after];
    middle[row] = 2 * (below[row] + above[row]);
    right[row] = 3 * (dy[before] / (h[before] * h[before]) + dy[after] / (h[after] * h[after]));
  };
  for (std::size_t i = 1; i + 1 < n; ++i) join(i, i - 1, i);
  if (periodic) {
    // The corners of the matrix by Sherman and Morrison: A = B + u v^T with u = (-g, 0, .., c), v = (1, 0, .., -a/g).
    join(0, n - 2, 0);
    const double a = below[0], c = above[size - 1], g = middle[0];
    middle[0] += g;
    middle[size - 1] += a * c / g;
    std::vector<double> corner(size, 0.0);
    corner[0] = -g;
    corner[size - 1] += c;
    if (size == 2) {  // both neighbours of a point are the same one
      const double m00 = g, m01 = a + above[0], m10 = below[1] + c, m11 = middle[1] - a * c / g;
      const double det = m00 * m11 - m01 * m10;
      const double d0 = (right[0] * m11 - m01 * right[1]) / det, d1 = (m00 * right[1] - m10 * right[0]) / det;
      return {d0, d1, d0};
    }
    solve_tridiagonal(below, middle, above, right);
    solve_tridiagonal(below, middle, above, corner);
    const double factor = (right[0] - a / g * right[size - 1]) / (1 + corner[0] - a / g * corner[size - 1]);
    for (std::size_t i = 0; i < size; ++i) right[i] -= factor * corner[i];
    right.push_back(right[0]);
    return right;
  }
  if (kind == SplineKind::clamped) {
    middle[0] = middle[n - 1] = 1;
    right[0] = first_slope;
    right[n - 1] = last_slope;
  } else if (kind == SplineKind::not_a_knot) {
    // (d_0 + d_1 - 2 m_0) / h_0^2 = (d_1 + d_2 - 2 m_1) / h_1^2, with d_2 taken from the row below; the same at the
    // other end.
    const auto end = [&](std::size_t row, std::size_t first, std::size_t second) {
      const double a = h[first], b = h[second], m = dy[first] / a, k = dy[second] / b;
      middle[row] = b;
      (row == 0 ? above : below)[row] = a + b;
      right[row] = ((3 * a + 2 * b) * b * m + a * a * k) / (a + b);
    };
    end(0, 0, 1);
    end(n - 1, n - 2, n - 3);
  } else {
    middle[0] = 2;
    above[0] = 1;
    right[0] = 3 * dy[0] / h[0];
    below[n - 1] = 1;
    middle[n - 1] = 2;
    right[n - 1] = 3 * dy[n - 2] / h[n - 2];
  }
  solve_tridiagonal(below, middle, above, right);
  return right;
}

// The interval that x lies in, of those between points; the last one holds its right end.
std::size_t interval_of(const std::vector<double>& x, double at) {
  const auto after = std::upper_bound(x.begin() + 1, x.end() - 1, at);
  return static_cast<std::size_t>(after - x.begin()) - 1;
}

SplineFault rising_fault(const std::vector<double>& x, const char* name) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i])) {
      return {std::string(name) + " number " + std::to_string(i + 1) + " is not finite", "give ordinary numbers",
              static_cast<int>(i)};
    }
    if (i > 0 && !(x[i] > x[i - 1])) {
      return {
          std::string(name) + " does not rise from number " + std::to_string(i) + " to number " + std::to_string(i + 1),
          "sort the points by " + std::string(name) + ", each value once", static_cast<int>(i)};
    }
  }
  return {};
}

[[noreturn]] void fail_points(const SplineFault& fault, const char* what) {
  throw Failure({Severity::error, "bad-points", std::string(what) + ": " + fault.what, fault.hint, {}});
}

constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

}  // namespace

std::vector<double> spline_slopes(SplineKind kind, const std::vector<double>& x, const std::vector<double>& y,
                                  double first_slope, double last_slope) {
  std::vector<double> h(x.size() - 1), dy(x.size() - 1);
  for (std::size_t i = 0; i < h.size(); ++i) {
    h[i] = x[i + 1] - x[i];
    dy[i] = y[i + 1] - y[i];
  }
  if (kind == SplineKind::akima) return akima_slopes(h, dy);
  return smooth_slopes(kind, h, dy, first_slope, last_slope);
}

// ---- one variable --------------------------------------------------------------------------------------------------

SplineFault Spline::fault(const SplineData& data) {
  const std::size_t least = data.kind == SplineKind::not_a_knot                                   ? 4
                            : data.kind == SplineKind::akima || data.kind == SplineKind::periodic ? 3
                                                                                                  : 2;
  if (data.x.size() != data.y.size()) {
    return {std::to_string(data.x.size()) + " values of x and " + std::to_string(data.y.size()) + " of y",
            "each point has both", -1};
  }
  if (data.x.size() < least) {
    return {std::string("a spline of kind ") + to_text(data.kind) + " needs at least " + std::to_string(least) +
                " points, not " + std::to_string(data.x.size()),
            "add points, or use kind linear", -1};
  }
  if (SplineFault found = rising_fault(data.x, "x"); !found.what.empty()) return found;
  for (std::size_t i = 0; i < data.y.size(); ++i) {
    if (!std::isfinite(data.y[i])) {
      return {"y number " + std::to_string(i + 1) + " is not finite", "give ordinary numbers", static_cast<int>(i)};
    }
  }
  if (data.kind == SplineKind::periodic) {
    const auto [low, high] = std::minmax_element(data.y.begin(), data.y.end());
    if (std::abs(data.y.back() - data.y.front()) > 1e-9 * std::max(*high - *low, 1e-300)) {
      return {"the last y of a periodic spline must be the first one again",
              "close the period: its last point repeats the first", static_cast<int>(data.y.size()) - 1};
    }
  }
  if (!std::isfinite(data.first_slope) || !std::isfinite(data.last_slope)) {
    return {"a slope at an end is not finite", "give ordinary numbers", -1};
  }
  return {};
}

Spline::Spline(SplineData data) : data_(std::move(data)) {
  if (const SplineFault found = fault(data_); !found.what.empty()) fail_points(found, "spline");
  const std::vector<double>&x = data_.x, &y = data_.y;
  std::vector<double> d;
  if (data_.kind != SplineKind::linear) d = spline_slopes(data_.kind, x, y, data_.first_slope, data_.last_slope);
  cubic_.resize(x.size() - 1);
  for (std::size_t i = 0; i < cubic_.size(); ++i) {
    const double h = x[i + 1] - x[i], m = (y[i + 1] - y[i]) / h;
    if (d.empty()) {
      cubic_[i] = {y[i], m, 0, 0};
    } else {
      cubic_[i] = {y[i], d[i], (3 * m - 2 * d[i] - d[i + 1]) / h, (d[i] + d[i + 1] - 2 * m) / (h * h)};
    }
  }
}

std::array<double, 4> Spline::derivatives(double x) const {
  const double first = data_.x.front(), last = data_.x.back();
  if (data_.kind == SplineKind::periodic) {
    x -= (last - first) * std::floor((x - first) / (last - first));
  } else if (x < first || x > last) {
    if (data_.extrapolation == Extrapolation::none) return {no_value, no_value, no_value, no_value};
    const bool before = x < first;
    const std::array<double, 4>& c = before ? cubic_.front() : cubic_.back();
    const double s = before ? 0 : last - data_.x[data_.x.size() - 2];
    const double value = before ? c[0] : data_.y.back();
    if (data_.extrapolation == Extrapolation::constant) return {value, 0, 0, 0};
    const double slope = c[1] + s * (2 * c[2] + s * 3 * c[3]);
    return {value + slope * (x - (before ? first : last)), slope, 0, 0};
  }
  if (std::isnan(x)) return {x, x, x, x};
  const std::size_t i = interval_of(data_.x, x);
  const std::array<double, 4>& c = cubic_[i];
  const double s = x - data_.x[i];
  return {c[0] + s * (c[1] + s * (c[2] + s * c[3])), c[1] + s * (2 * c[2] + s * 3 * c[3]), 2 * c[2] + 6 * s * c[3],
          6 * c[3]};
}

double Spline::value(double x) const { return derivatives(x)[0]; }

// ---- two variables -------------------------------------------------------------------------------------------------

SplineFault SurfaceTable::fault(const SurfaceData& data) {
  if (data.kind != SplineKind::natural && data.kind != SplineKind::akima) {
    return {std::string("a table cannot be of kind ") + to_text(data.kind), "kinds of tables: natural, akima", -1};
  }
  const std::size_t least = data.kind == SplineKind::akima ? 3 : 2;
  for (const auto& [values, name] : {std::pair{&data.x, "x"}, std::pair{&data.y, "y"}}) {
    if (values->size() < least) {
      return {std::string("a table of kind ") + to_text(data.kind) + " needs at least " + std::to_string(least) +
                  " values of " + name + ", not " + std::to_string(values->size()),
              "add rows or columns", -1};
    }
    if (SplineFault found = rising_fault(*values, name); !found.what.empty()) {
      found.point = -1;
      return found;
    }
  }
  if (data.z.size() != data.x.size() * data.y.size()) {
    return {std::to_string(data.x.size()) + " x " + std::to_string(data.y.size()) + " values are needed, " +
                std::to_string(data.z.size()) + " are given",
            "one row for each x, in it one number for each y", -1};
  }
  for (std::size_t i = 0; i < data.z.size(); ++i) {
    if (!std::isfinite(data.z[i])) {
      return {"value number " + std::to_string(i + 1) + " is not finite", "give ordinary numbers", static_cast<int>(i)};
    }
  }
  return {};
}

namespace {

// Powers 1, s, s^2, s^3 of the cubic with values f0, f1 and slopes g0, g1 at s = 0 and 1.
std::array<double, 4> unit_cubic(double f0, double g0, double f1, double g1) {
  return {f0, g0, 3 * (f1 - f0) - 2 * g0 - g1, 2 * (f0 - f1) + g0 + g1};
}

// Place on one axis: the cell, s in it, and whether the powers of s are taken from their tangents at an end.
struct AxisPlace {
  std::size_t cell = 0;
  double s = 0, width = 1;
  int beyond = 0;  // -1 before the first point, 1 behind the last

  AxisPlace(const std::vector<double>& x, double at) {
    if (at < x.front()) beyond = -1;
    if (at > x.back()) beyond = 1;
    cell = interval_of(x, at);
    width = x[cell + 1] - x[cell];
    s = (at - x[cell]) / width;
  }
};

struct AxisPowers {
  std::array<double, 4> power, slope;  // slope: by x, not by s
};

AxisPowers axis_powers(const AxisPlace& place, Extrapolation extrapolation) {
  const double s = place.s, w = 1 / place.width;
  if (place.beyond == 0) return {{1, s, s * s, s * s * s}, {0, w, 2 * s * w, 3 * s * s * w}};
  const double end = place.beyond < 0 ? 0 : 1;
  if (extrapolation == Extrapolation::constant) return {{1, end, end, end}, {0, 0, 0, 0}};
  const double over = s - end;
  return {{1, s, end + 2 * end * over, end + 3 * end * over}, {0, w, 2 * end * w, 3 * end * w}};
}

std::array<Taylor3, 4> axis_series(const AxisPlace& place, const Taylor3& x, double origin,
                                   Extrapolation extrapolation) {
  Taylor3 s = (1 / place.width) * (x - taylor::constant(origin));
  s.c[0] = place.s;
  const Taylor3 one = taylor::constant(1);
  if (place.beyond == 0) return {one, s, s * s, s * s * s};
  const double end = place.beyond < 0 ? 0 : 1;
  const Taylor3 e = taylor::constant(end);
  if (extrapolation == Extrapolation::constant) return {one, e, e, e};
  const Taylor3 over = s - e;
  return {one, s, e + 2 * end * over, e + 3 * end * over};
}

double bilinear_form(const std::array<double, 4>& a, const std::array<double, 16>& m, const std::array<double, 4>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    sum += a[i] * (m[4 * i] * b[0] + m[4 * i + 1] * b[1] + m[4 * i + 2] * b[2] + m[4 * i + 3] * b[3]);
  }
  return sum;
}

}  // namespace

SurfaceTable::SurfaceTable(SurfaceData data) : data_(std::move(data)) {
  if (const SplineFault found = fault(data_); !found.what.empty()) fail_points(found, "table");
  const std::vector<double>&x = data_.x, &y = data_.y, &z = data_.z;
  const std::size_t nx = x.size(), ny = y.size();
  // dz/dx along the lines of constant y, dz/dy along those of constant x, d2z/dxdy along x of the latter.
  std::vector<double> zx(z.size()), zy(z.size()), zxy(z.size());
  for (std::size_t i = 0; i < nx; ++i) {
    const auto begin = z.begin() + static_cast<std::ptrdiff_t>(i * ny);
    const std::vector<double> slopes = spline_slopes(data_.kind, y, {begin, begin + static_cast<std::ptrdiff_t>(ny)});
    std::copy(slopes.begin(), slopes.end(), zy.begin() + static_cast<std::ptrdiff_t>(i * ny));
  }
  std::vector<double> line(nx);
  for (std::size_t j = 0; j < ny; ++j) {
    for (const auto& [from, to] : {std::pair{&z, &zx}, std::pair{&std::as_const(zy), &zxy}}) {
      for (std::size_t i = 0; i < nx; ++i) line[i] = (*from)[i * ny + j];
      const std::vector<double> slopes = spline_slopes(data_.kind, x, line);
      for (std::size_t i = 0; i < nx; ++i) (*to)[i * ny + j] = slopes[i];
    }
  }
  patch_.resize((nx - 1) * (ny - 1));
  for (std::size_t i = 0; i + 1 < nx; ++i) {
    for (std::size_t j = 0; j + 1 < ny; ++j) {
      const double hx = x[i + 1] - x[i], hy = y[j + 1] - y[j];
      const std::size_t near = i * ny + j, far = near + ny;
      // Cubics in x of z and of dz/dy at both ends of the cell in y; then cubics in y of their coefficients.
      std::array<std::array<double, 4>, 4> in_x;
      for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        in_x[2 * side] = unit_cubic(z[near + side], hx * zx[near + side], z[far + side], hx * zx[far + side]);
        in_x[2 * side + 1] = unit_cubic(hy * zy[near + side], hx * hy * zxy[near + side], hy * zy[far + side],
                                        hx * hy * zxy[far + side]);
      }
      std::array<double, 16>& m = patch_[i * (ny - 1) + j];
      for (std::size_t p = 0; p < 4; ++p) {
        const std::array<double, 4> row = unit_cubic(in_x[0][p], in_x[1][p], in_x[2][p], in_x[3][p]);
        std::copy(row.begin(), row.end(), m.begin() + static_cast<std::ptrdiff_t>(4 * p));
      }
    }
  }
}

std::array<double, 3> SurfaceTable::gradient(double x, double y) const {
  if (std::isnan(x) || std::isnan(y)) return {no_value, no_value, no_value};
  const AxisPlace in_x(data_.x, x), in_y(data_.y, y);
  if (data_.extrapolation == Extrapolation::none && (in_x.beyond != 0 || in_y.beyond != 0)) {
    return {no_value, no_value, no_value};
  }
  const std::array<double, 16>& m = patch_[in_x.cell * (data_.y.size() - 1) + in_y.cell];
  const AxisPowers a = axis_powers(in_x, data_.extrapolation), b = axis_powers(in_y, data_.extrapolation);
  return {bilinear_form(a.power, m, b.power), bilinear_form(a.slope, m, b.power), bilinear_form(a.power, m, b.slope)};
}

double SurfaceTable::value(double x, double y) const { return gradient(x, y)[0]; }

Taylor3 SurfaceTable::along(const Taylor3& x, const Taylor3& y) const {
  const double x0 = x.c[0], y0 = y.c[0];
  const Taylor3 nothing{{no_value, no_value, no_value, no_value}};
  if (std::isnan(x0) || std::isnan(y0)) return nothing;
  const AxisPlace in_x(data_.x, x0), in_y(data_.y, y0);
  if (data_.extrapolation == Extrapolation::none && (in_x.beyond != 0 || in_y.beyond != 0)) return nothing;
  const std::array<double, 16>& m = patch_[in_x.cell * (data_.y.size() - 1) + in_y.cell];
  const std::array<Taylor3, 4> a = axis_series(in_x, x, data_.x[in_x.cell], data_.extrapolation);
  const std::array<Taylor3, 4> b = axis_series(in_y, y, data_.y[in_y.cell], data_.extrapolation);
  Taylor3 sum = taylor::constant(0);
  for (std::size_t i = 0; i < 4; ++i) {
    Taylor3 inner = taylor::constant(0);
    for (std::size_t j = 0; j < 4; ++j) inner = inner + m[4 * i + j] * b[j];
    sum = sum + a[i] * inner;
  }
  return sum;
}

}  // namespace trammel
