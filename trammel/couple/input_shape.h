// How an input behaves over a macro step: u(t) = sum of c_j b_j(s), s = (t - t_k)/H in [0, 1]. Nothing joins the shapes
// of neighbouring steps: inputs may jump at t_k, which keeps the step maps of all schemes free of a memory (see
// docs/theory/8-gluing.md, where continuous shapes turn out unstable).
//
// `shifted` has a constant c_1, and c_2 that acts at t_k on positions alone: they move by H^2 A c_2, A being the
// accelerations by unit wrenches, and velocities stay. It is the additional multiplier of Gear, Gupta and Leimkuhler,
// q' = v + A mu, with mu gathered at the start of the step.
#pragma once
#include <string>
#include <vector>

namespace trammel {

enum class InputShape { constant, halves, linear, quadratic, shifted };
constexpr InputShape all_input_shapes[] = {InputShape::constant, InputShape::halves, InputShape::linear,
                                           InputShape::quadratic, InputShape::shifted};

struct InputShapeInfo {
  InputShape shape;
  const char* key;
  int count;                  // of coefficients
  std::vector<double> nodes;  // s at which b_j is one and the others vanish; of constants the middles of their parts,
                              // of shifts when they happen
};
const InputShapeInfo& info(InputShape shape);

double basis(InputShape shape, int j, double s);
// int_0^s r^p b_j(r) dr and int_0^s (s - r) r^p b_j(r) dr. For p = 0: what a unit coefficient does to a velocity and a
// position after the part s of a step, in units of H and H^2.
double first_moment(InputShape shape, int j, double s, int p = 0);
double second_moment(InputShape shape, int j, double s, int p = 0);
// The input as an expression of `time`, the names of its coefficients and those of t_k and H (of halves: of the
// middle).
std::string shape_expression(InputShape shape, const std::vector<std::string>& coefficients, const std::string& start,
                             const std::string& size, const std::string& middle);

}  // namespace trammel
