#include "trammel/elements/forces/held_coordinate.h"

#include <algorithm>

namespace trammel {
namespace {

PairRowSpec row_of(AxialKind kind) {
  return kind == AxialKind::rotation ? PairRowSpec{Primitive::angle} : PairRowSpec{Primitive::in_plane, 2};
}

}  // namespace

HeldCoordinate::HeldCoordinate(AxialKind kind, const Place& place)
    : turns_(kind == AxialKind::rotation), place_(place), row_({row_of(kind)}) {}

bool HeldCoordinate::evaluate(const ElementInput& in, const double* lambda, double* g, double* wrench) const {
  if (!holds(in.memory)) {
    g[0] = 0;
    if (wrench != nullptr) std::fill_n(wrench, 12, 0.0);
    return true;
  }
  const bool good = row_.evaluate(in, lambda, g, wrench);
  g[0] -= in.memory[place_.at + 1];
  return good;
}

void HeldCoordinate::rate(const ElementInput& in, double* g_dot) const {
  g_dot[0] = 0;
  if (holds(in.memory)) row_.rate(in, g_dot);
}

void HeldCoordinate::curvature(const ElementInput& in, double* c) const {
  c[0] = 0;
  if (holds(in.memory)) row_.curvature(in, c);
}

void HeldCoordinate::jacobian(const ElementInput& in, RowMatrix& C) const {
  C.setZero(1, 12);
  if (holds(in.memory)) row_.jacobian(in, C);
}

void HeldCoordinate::linearise(const ElementInput& in, const double* lambda, RowMatrix& C,
                               FrameMatrix& wrench_pose) const {
  C.setZero(1, 12);
  wrench_pose.setZero(12, 12);
  if (holds(in.memory)) row_.linearise(in, lambda, C, wrench_pose);
}

void HeldCoordinate::linearise_all(const ElementInput& in, const double* lambda, const double* rate, const double* bias,
                                   ConstraintPartials& out) const {
  out.set_zero(1, 2);
  if (holds(in.memory)) row_.linearise_all(in, lambda, rate, bias, out);
}

std::unique_ptr<Constraint> HeldCoordinate::generic() const {
  return std::make_unique<HeldCoordinate>(turns_ ? AxialKind::rotation : AxialKind::translation,
                                          Place{place_.at, place_.mode, true});
}

}  // namespace trammel
