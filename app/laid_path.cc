#include "app/laid_path.h"

#include <cmath>
#include <numbers>

namespace trammel {
namespace {

using Eigen::Vector2d;

double direction(const Vector2d& v) { return std::atan2(v.y(), v.x()); }
Vector2d normal_of(double angle) { return {-std::sin(angle), std::cos(angle)}; }

}  // namespace

// The straight part from circle i to j has the direction phi - asin((r_j - r_i)/D), with D and phi those of the line of
// centres; it leaves i at c_i - r_i n and meets j at c_j - r_j n, n to its left.
LaidPath::LaidPath(const std::vector<PathCircle>& circles) {
  const std::size_t n = circles.size();
  std::vector<double> heading(n);
  for (std::size_t i = 0; i < n; ++i) {
    const PathCircle &a = circles[i], &b = circles[(i + 1) % n];
    const Vector2d apart = b.center - a.center;
    heading[i] = direction(apart) - std::asin((b.radius - a.radius) / apart.norm());
  }
  for (std::size_t i = 0; i < n; ++i) {
    const PathCircle &circle = circles[i], &next = circles[(i + 1) % n];
    const double before = heading[(i + n - 1) % n], sign = circle.radius > 0 ? 1 : -1;
    double turn = std::remainder(heading[i] - before, 2 * std::numbers::pi);
    if (sign * turn < 0) turn += sign * 2 * std::numbers::pi;
    Piece arc;
    arc.from = circle.center - circle.radius * normal_of(before);
    arc.to = circle.center - circle.radius * normal_of(heading[i]);
    arc.center = circle.center;
    arc.radius = std::abs(circle.radius);
    arc.angle = direction(arc.from - circle.center);
    arc.turn = turn;
    arc.length = arc.radius * std::abs(turn);
    pieces_.push_back(arc);
    Piece line;
    line.from = arc.to;
    line.to = next.center - next.radius * normal_of(heading[i]);
    line.length = (line.to - line.from).norm();
    pieces_.push_back(line);
    length_ += arc.length + line.length;
  }
}

Vector2d LaidPath::at(double s) const {
  s -= length_ * std::floor(s / length_);
  for (const Piece& piece : pieces_) {
    if (s > piece.length) {
      s -= piece.length;
      continue;
    }
    const double part = piece.length > 0 ? s / piece.length : 0;
    if (piece.radius == 0) return piece.from + part * (piece.to - piece.from);
    const double angle = piece.angle + part * piece.turn;
    return piece.center + piece.radius * Vector2d(std::cos(angle), std::sin(angle));
  }
  return pieces_.front().from;
}

Vector2d LaidPath::heading(int circle) const {
  const Piece& line = pieces_[2 * circle + 1];
  return (line.to - line.from).normalized();
}

double LaidPath::on_first(double angle) const {
  const Piece& first = pieces_.front();
  const double full = 2 * std::numbers::pi, sign = first.turn > 0 ? 1 : -1;
  double turn = sign * (angle - first.angle);
  turn -= full * std::floor(turn / full);
  return first.radius * turn;
}

Chords lay_chords(const LaidPath& path, double start, double chord, int count) {
  Chords out;
  out.nodes.push_back(path.at(start));
  double s = start;
  for (int i = 0; i < count; ++i) {
    const double from = s;
    const Vector2d here = out.nodes.back();
    s = bisect(from + 0.9 * chord, from + 1.6 * chord,
               [&](double end) { return chord - (path.at(end) - here).norm(); });
    out.nodes.push_back(path.at(s));
  }
  out.excess = s - start - path.length();
  return out;
}

}  // namespace trammel
