// Sections of straight beams and what they are made of. Axes of a section: y and z, x along the beam.
#pragma once
#include <string>

namespace trammel {

struct BeamMaterial {
  double youngs_modulus = 0, shear_modulus = 0, density = 0;  // Pa, Pa, kg/m^3
  double poisson() const { return youngs_modulus / (2 * shear_modulus) - 1; }
};

struct BeamSection {
  double area = 0;
  double Iy = 0, Iz = 0;            // second moments: of bending along z and along y
  double torsion = 0;               // J of G J; a round section has Iy + Iz
  double shear_y = 0, shear_z = 0;  // area / shear area, of others than round ones; 0: rigid in shear
  double width = 0, height = 0;     // along y and z, as drawn; 0: a line
  bool round = false;
  double hollow = 0;  // of a round section: squared ratio of its radii, by which its shear coefficient follows

  // Both shear coefficients in this material.
  double shear_coefficient_y(const BeamMaterial& material) const;
  double shear_coefficient_z(const BeamMaterial& material) const;
};

BeamSection tube_section(double diameter, double wall);
// Shear coefficient 6/5; torsion by the series of Saint-Venant.
BeamSection rectangle_section(double width, double height);

}  // namespace trammel
