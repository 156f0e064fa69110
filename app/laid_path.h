// A closed path round circles, as of a belt or a track, and nodes on it at equal chords.
#pragma once
#include <Eigen/Core>
#include <vector>

namespace trammel {

struct PathCircle {
  Eigen::Vector2d center;
  double radius = 0;  // negative where the path turns to the right
};

class LaidPath {
 public:
  // In the order in which the path goes round them.
  explicit LaidPath(const std::vector<PathCircle>& circles);

  double length() const { return length_; }
  // Arc length 0 is where the path meets the first circle.
  Eigen::Vector2d at(double s) const;
  // Of the straight part behind a circle.
  Eigen::Vector2d heading(int circle) const;
  // Where the path on the first circle has this direction from the centre, rad.
  double on_first(double angle) const;

 private:
  struct Piece {  // an arc, or with radius 0 a straight line
    Eigen::Vector2d from, to;
    double radius = 0, angle = 0, turn = 0, length = 0;
    Eigen::Vector2d center = Eigen::Vector2d::Zero();
  };
  std::vector<Piece> pieces_;
  double length_ = 0;
};

struct Chords {
  std::vector<Eigen::Vector2d> nodes;  // one more than chords
  double excess = 0;                   // how far the last is beyond the first, along the path
};
Chords lay_chords(const LaidPath& path, double start, double chord, int count);

// The x between `low` and `high` where `excess` of it, which falls, is 0.
template <class Function>
double bisect(double low, double high, const Function& excess) {
  for (int i = 0; i < 80; ++i) {
    const double middle = 0.5 * (low + high);
    (excess(middle) > 0 ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace trammel
