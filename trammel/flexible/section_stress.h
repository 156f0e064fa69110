// Stress in frames of beams: the resultants of a section N, Vy, Vz, T, My, Mz at the ends of the finite elements by the
// modal coordinates, and the greatest von Mises stress that they make on the outline of the section.
//
//   sigma = N/A + My z/Iy - Mz y/Iz,   tau of torsion,   von Mises: sqrt(sigma^2 + 3 tau^2)
//
// Shear of the transverse forces is left out: it is greatest where that of bending vanishes, and small beside it in
// slender beams.
#pragma once
#include <optional>

#include "trammel/flexible/reduction.h"

namespace trammel {

// Of a section with an outline; none: the stress of this section cannot be found.
std::optional<StressSection> stress_section(const BeamSection& section);

// The greatest over the outline, in closed form for round sections; of rectangles that of corners and of the middles of
// the sides.
double von_mises(const StressSection& section, const Vec6& resultants);

// Fills data.stress: two points for each element of the frame. All sections must have an outline.
void add_stress_points(const BeamFrame& frame, const FiniteElements& elements, const Mat& shapes, ModalData& data);

}  // namespace trammel
