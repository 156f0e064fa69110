#include "trammel/flexible/beam_section.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace trammel {

namespace {

using std::numbers::pi;

// G. R. Cowper, The shear coefficient in Timoshenko's beam theory, 1966, h = (inner / outer radius)^2: 1.13 of a solid
// bar of steel, 1.8 to 1.9 of tubes.
double round_shear_coefficient(double poisson, double h) {
  const double square = (1 + h) * (1 + h);
  return ((7 + 6 * poisson) * square + (20 + 12 * poisson) * h) / (6 * (1 + poisson) * square);
}

}  // namespace

double BeamSection::shear_coefficient_y(const BeamMaterial& material) const {
  return round ? round_shear_coefficient(material.poisson(), hollow) : shear_y;
}

double BeamSection::shear_coefficient_z(const BeamMaterial& material) const {
  return round ? round_shear_coefficient(material.poisson(), hollow) : shear_z;
}

BeamSection tube_section(double diameter, double wall) {
  const double outer = 0.5 * diameter, inner = std::max(0.0, outer - wall), m2 = std::pow(inner / outer, 2);
  BeamSection s;
  s.area = pi * (outer - inner) * (outer + inner);
  s.Iy = s.Iz = pi / 4 * (std::pow(outer, 4) - std::pow(inner, 4));
  s.torsion = 2 * s.Iy;
  s.width = s.height = diameter;
  s.round = true;
  s.hollow = m2;
  return s;
}

// J = a b^3 (1/3 - 64/pi^5 (b/a) sum_{n odd} tanh(n pi a / 2 b) / n^5),  a >= b.  With tanh x = 1 - 2 / (e^2x + 1) and
// sum_{n odd} 1/n^5 = 31/32 zeta(5) what is left falls like e^(-n pi).
BeamSection rectangle_section(double width, double height) {
  const double a = std::max(width, height), b = std::min(width, height);
  double sum = 1.0045237627951398;
  for (int n = 1; n < 12; n += 2) sum -= 2 / (std::pow(n, 5) * (std::exp(n * pi * a / b) + 1));
  BeamSection s;
  s.area = width * height;
  s.Iy = width * std::pow(height, 3) / 12;
  s.Iz = height * std::pow(width, 3) / 12;
  s.torsion = a * std::pow(b, 3) * (1.0 / 3 - 64 / std::pow(pi, 5) * (b / a) * sum);
  s.shear_y = s.shear_z = 1.2;
  s.width = width;
  s.height = height;
  return s;
}

}  // namespace trammel
