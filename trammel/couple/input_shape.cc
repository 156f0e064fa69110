#include "trammel/couple/input_shape.h"

#include <algorithm>
#include <array>

namespace trammel {
namespace {

// b_j as polynomials in s on [from, to].
struct Piece {
  double from, to;
  std::array<double, 3> c;
};

Piece piece_of(InputShape shape, int j) {
  switch (shape) {
    case InputShape::constant: return {0, 1, {1, 0, 0}};
    case InputShape::halves: return j == 0 ? Piece{0, 0.5, {1, 0, 0}} : Piece{0.5, 1, {1, 0, 0}};
    case InputShape::linear: return j == 0 ? Piece{0, 1, {1, -1, 0}} : Piece{0, 1, {0, 1, 0}};
    case InputShape::quadratic:
      if (j == 0) return {0, 1, {1, -3, 2}};
      return j == 1 ? Piece{0, 1, {0, 4, -4}} : Piece{0, 1, {0, -1, 2}};
    case InputShape::shifted: return j == 0 ? Piece{0, 1, {1, 0, 0}} : Piece{0, 1, {0, 0, 0}};
  }
  return {0, 0, {0, 0, 0}};
}

double power(double x, int n) {
  double y = 1;
  for (int i = 0; i < n; ++i) y *= x;
  return y;
}

}  // namespace

const InputShapeInfo& info(InputShape shape) {
  static const std::array<InputShapeInfo, 5> table{{{InputShape::constant, "constant", 1, {0.5}},
                                                    {InputShape::halves, "halves", 2, {0.25, 0.75}},
                                                    {InputShape::linear, "linear", 2, {0, 1}},
                                                    {InputShape::quadratic, "quadratic", 3, {0, 0.5, 1}},
                                                    {InputShape::shifted, "shifted", 2, {0.5, 0}}}};
  return table[static_cast<std::size_t>(shape)];
}

double basis(InputShape shape, int j, double s) {
  const Piece p = piece_of(shape, j);
  const bool inside = s >= p.from && (s < p.to || p.to == 1);
  return inside ? p.c[0] + s * (p.c[1] + s * p.c[2]) : 0;
}

double first_moment(InputShape shape, int j, double s, int p) {
  const Piece piece = piece_of(shape, j);
  const double to = std::min(s, piece.to);
  if (to <= piece.from) return 0;
  double sum = 0;
  for (int k = 0; k < 3; ++k) {
    const int n = k + p + 1;
    sum += piece.c[k] * (power(to, n) - power(piece.from, n)) / n;
  }
  return sum;
}

double second_moment(InputShape shape, int j, double s, int p) {
  if (shape == InputShape::shifted && j == 1) return p == 0 && s > 0 ? 1 : 0;
  return s * first_moment(shape, j, s, p) - first_moment(shape, j, s, p + 1);
}

std::string shape_expression(InputShape shape, const std::vector<std::string>& c, const std::string& start,
                             const std::string& size, const std::string& middle) {
  const std::string s = "((time - " + start + ")/" + size + ")";
  switch (shape) {
    case InputShape::constant:
    case InputShape::shifted: return c[0];
    case InputShape::halves: return "if(time >= " + middle + ", " + c[1] + ", " + c[0] + ")";
    case InputShape::linear: return c[0] + " + (" + c[1] + " - " + c[0] + ")*" + s;
    case InputShape::quadratic:
      return c[0] + " + " + s + "*(4*" + c[1] + " - 3*" + c[0] + " - " + c[2] + " + 2*" + s + "*(" + c[0] + " - 2*" +
             c[1] + " + " + c[2] + "))";
  }
  return "0";
}

}  // namespace trammel
