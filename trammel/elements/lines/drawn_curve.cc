#include "trammel/elements/lines/drawn_curve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>

#include "trammel/math/spline.h"

namespace trammel {
namespace {

constexpr double farthest = 1e75;  // as of bodies: squares of it are still numbers

struct CurvePoint {
  Vec3 position, tangent;  // the tangent of length 1, or zero where the curve has none
};

Vec3 unit_or_zero(const Vec3& v) {
  const double size = v.norm();
  return size > 0 ? Vec3(v / size) : Vec3(Vec3::Zero());
}

std::vector<CurvePoint> straight(const Vec3& from, const Vec3& to, int elements) {
  std::vector<CurvePoint> out;
  for (int i = 0; i <= elements; ++i) {
    const double part = static_cast<double>(i) / elements;
    out.push_back({(1 - part) * from + part * to, (to - from).normalized()});
  }
  return out;
}

// The circle through a, b, c: with u = a - b, w = c - b, n = u x w its middle is b + ((|u|^2 w - |w|^2 u) x n) / (2
// |n|^2).
std::vector<CurvePoint> arc(const std::array<Vec3, 3>& p, int elements, double& length) {
  const Vec3 u = p[0] - p[1], w = p[2] - p[1], n = u.cross(w);
  if (n.norm() < 1e-9 * u.norm() * w.norm()) {
    length = (p[2] - p[0]).norm();
    return u.dot(w) < 0 ? straight(p[0], p[2], elements) : std::vector<CurvePoint>{};  // it would turn back
  }
  const Vec3 middle = p[1] - n.cross(u.squaredNorm() * w - w.squaredNorm() * u) / (2 * n.squaredNorm());
  const Vec3 radius = p[0] - middle, axis = -n.normalized(), across = axis.cross(radius);
  const auto angle_of = [&](const Vec3& point) {
    const double angle = std::atan2((point - middle).dot(across), (point - middle).dot(radius));
    return angle < 0 ? angle + 2 * std::numbers::pi : angle;
  };
  const double whole = angle_of(p[2]);
  length = whole * radius.norm();
  std::vector<CurvePoint> out;
  for (int i = 0; i <= elements; ++i) {
    const double angle = whole * i / elements, c = std::cos(angle), s = std::sin(angle);
    out.push_back({middle + c * radius + s * across, (c * across - s * radius).normalized()});
  }
  return out;
}

// Three splines over the chord length, and the length of the curve up to `parts` places in each interval.
class SplineCurve {
 public:
  explicit SplineCurve(const std::vector<Vec3>& points) {
    SplineData data[3];
    double chord = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (i > 0) chord += (points[i] - points[i - 1]).norm();
      for (int k = 0; k < 3; ++k) {
        data[k].kind = SplineKind::not_a_knot;
        data[k].x.push_back(chord);
        data[k].y.push_back(points[i][k]);
      }
    }
    for (int k = 0; k < 3; ++k) splines_[k] = std::make_unique<Spline>(data[k]);
    const std::vector<double>& x = data[0].x;
    places_.push_back(x[0]);
    lengths_.push_back(0);
    for (std::size_t i = 1; i < x.size(); ++i) {
      for (int k = 1; k <= parts; ++k) {
        const double to = k == parts ? x[i] : x[i - 1] + (x[i] - x[i - 1]) * k / parts;
        lengths_.push_back(lengths_.back() + length_between(places_.back(), to));
        places_.push_back(to);
      }
    }
  }
  double length() const { return lengths_.back(); }

  // Where the curve is `along` from its start: Newton's method within an interval that holds the place.
  CurvePoint at(double along) const {
    const auto after = std::upper_bound(lengths_.begin() + 1, lengths_.end() - 1, along) - lengths_.begin();
    const double from = places_[after - 1], start = lengths_[after - 1];
    double low = from, high = places_[after], u = low + (high - low) * 0.5;
    for (int pass = 0; pass < 60 && high > low; ++pass) {
      const double misfit = start + length_between(from, u) - along, speed = velocity(u).norm();
      (misfit > 0 ? high : low) = u;
      double next = speed > 0 ? u - misfit / speed : low;
      if (!(next >= low && next <= high)) next = 0.5 * (low + high);
      if (std::abs(next - u) <= 1e-15 * places_.back()) break;
      u = next;
    }
    return {Vec3(splines_[0]->value(u), splines_[1]->value(u), splines_[2]->value(u)), unit_or_zero(velocity(u))};
  }

 private:
  static constexpr int parts = 8;

  Vec3 velocity(double u) const {
    return {splines_[0]->derivatives(u)[1], splines_[1]->derivatives(u)[1], splines_[2]->derivatives(u)[1]};
  }
  // Gauss's formula with five points.
  double length_between(double from, double to) const {
    static constexpr std::array<double, 5> place = {-0.90617984593866399, -0.53846931010568309, 0, 0.53846931010568309,
                                                    0.90617984593866399};
    static constexpr std::array<double, 5> weight = {0.23692688505618909, 0.47862867049936647, 0.56888888888888889,
                                                     0.47862867049936647, 0.23692688505618909};
    double sum = 0;
    for (std::size_t i = 0; i < place.size(); ++i)
      sum += weight[i] * velocity(0.5 * (from + to) + 0.5 * (to - from) * place[i]).norm();
    return 0.5 * (to - from) * sum;
  }

  std::unique_ptr<Spline> splines_[3];
  std::vector<double> places_, lengths_;
};

std::vector<CurvePoint> walk(const std::vector<Vec3>& points, int elements, double& length) {
  if (points.size() == 2) {
    length = (points[1] - points[0]).norm();
    return straight(points[0], points[1], elements);
  }
  if (points.size() == 3) return arc({points[0], points[1], points[2]}, elements, length);
  const SplineCurve curve(points);
  length = curve.length();
  std::vector<CurvePoint> out;
  for (int i = 0; i <= elements; ++i) out.push_back(curve.at(length * i / elements));
  out.front().position = points.front();
  out.back().position = points.back();
  return out;
}

Quat first_axes(const Vec3& tangent, const std::optional<Vec3>& z) {
  Vec3 near = z ? *z : Vec3(Vec3::UnitZ());
  if (!z && near.cross(tangent).norm() < 1e-6) near = Vec3::UnitX();
  Mat3 R;
  R.col(0) = tangent;
  R.col(1) = near.cross(tangent).normalized();
  R.col(2) = tangent.cross(R.col(1));
  return Quat(R).normalized();
}

DrawnCurve faulty(std::string fault, std::string hint) { return {{}, 0, std::move(fault), std::move(hint)}; }

}  // namespace

DrawnCurve draw_curve(const std::vector<Vec3>& points, int elements, const std::optional<Vec3>& z) {
  if (points.size() < 2) return faulty("fewer than two points are given", "give the points it passes through");
  double size = 0;
  for (const Vec3& point : points) {
    if (!(point.cwiseAbs().maxCoeff() < farthest))
      return faulty("a point is farther away than 1e75 m", "give the points in the unit of the file");
    size = std::max(size, (point - points[0]).norm());
  }
  for (std::size_t i = 1; i < points.size(); ++i)
    if (!((points[i] - points[i - 1]).norm() > 1e-9 * size))
      return faulty("points " + std::to_string(i) + " and " + std::to_string(i + 1) + " are at the same place",
                    "leave one of them out");
  DrawnCurve out;
  const std::vector<CurvePoint> walked = walk(points, elements, out.length);
  if (walked.empty())
    return faulty("it would turn back on itself", "three points lie on an arc, or in order on a line");
  if (z && z->normalized().cross(walked[0].tangent).norm() < 1e-6)
    return faulty("z_axis is along the line at its start", "z_axis must have a part across the line");
  for (const CurvePoint& point : walked) {
    // Beyond a right angle between neighbours the drawn points do not show the shape.
    const Vec3 before = out.nodes.empty() ? point.tangent : Vec3(out.nodes.back().rotation * Vec3::UnitX());
    if (!(point.tangent.dot(before) > 0))
      return faulty("it turns by more than a right angle between two of its nodes",
                    "take more elements, or round the corner off by more points");
    const Quat turn = Quat::FromTwoVectors(before, point.tangent);
    const Quat rotation =
        out.nodes.empty() ? first_axes(point.tangent, z) : (turn * out.nodes.back().rotation).normalized();
    out.nodes.push_back({point.position, rotation});
  }
  return out;
}

}  // namespace trammel
