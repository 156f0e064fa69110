// Mass, centre of mass and inertia of solids of constant density, and of bodies put together from them.
//
//   moved to other axes:  c' = p + R c,  I' = R I R^T                       (I about the centre of mass)
//   about another point:  I_P = I + m (|d|^2 1 - d d^T),  d from P to the centre of mass      (Huygens, Steiner)
//   of a whole:           m = sum m_k,  c = sum m_k c_k / m,  I_O = sum I_O,k  (about one point, then back to c)
//
// A hole is a part of negative density.
#pragma once
#include <string_view>
#include <vector>

#include "trammel/model/model.h"

namespace trammel {

struct MassProperties {
  double mass = 0;
  Vec3 center = Vec3::Zero();
  Mat3 inertia = Mat3::Zero();  // about the centre of mass
};

// m (|d|^2 1 - d d^T)
Mat3 steiner(double mass, const Vec3& d);

MassProperties moved(const MassProperties& part, const Pose& pose);
// Of several parts in the same axes. Parts of mass 0 add their inertia; a whole of mass 0 has its centre at the origin.
MassProperties sum(const std::vector<MassProperties>& parts);

// The shapes that a body can have; reader, schema and docs are made from this list.
struct ShapeForm {
  std::string_view type;
  std::size_t sizes;      // numbers in `size`; 0: given by a file
  std::string_view text;  // what they are
  bool solid;             // has a volume
};
const std::vector<ShapeForm>& shape_forms();
const ShapeForm* find_shape_form(std::string_view type);

// Of a shape at density 1, about its own axes; `size` as in shape_forms(). A mesh has its own (read/mesh.h).
MassProperties solid(std::string_view type, const std::vector<double>& size);

}  // namespace trammel
