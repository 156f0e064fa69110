// A mechanism as the implicit problem F(t, y, y') = 0 of IDA, y = (q, v, lambda[, mu]), with its sparse derivative.
// Coordinates are those of the equations, quaternions p of spatial bodies among them:
//
//   r' = u,  p' = 1/2 E(p) u,   u = v, or v + G^T mu in the stabilised form;  F takes rotations from p/|p|
//
//            [ -x  -y  -z ]
//   E(p) =   [  w  -z   y ]    p' keeps |p|, and the rotation of p does not depend on it: neither a pull to unit length
//            [  z   w  -x ]    nor a constraint is needed, and none adds stiffness or rows. A small turn theta in body
//            [ -y   x   w ]    axes is theta = B dp,  B = 2/|p|^2 E^T.
#pragma once
#include <array>

#include "trammel/equations/equations.h"

namespace trammel {

enum class IdaForm {
  index_1,     // M v' + G^T lambda = Q,  G v' = gamma
  index_2,     // M v' + G^T lambda = Q,  G v + g_t = 0
  stabilised,  // M v' + G^T lambda = Q,  g = 0,  G v + g_t = 0
};
const char* to_text(IdaForm form);

class IdaProblem {
 public:
  // Throws Failure for what has no place in these forms: states of first order, and at stabilised index 2 rows that
  // have no position level.
  IdaProblem(const Equations& equations, const State& state, const Rates& rates, IdaForm form, double tolerance);

  int size() const { return nq_ + nv_ + m_ + (form_ == IdaForm::stabilised ? m_ : 0); }
  bool is_algebraic(int i) const { return i >= nq_ + nv_; }
  const Pattern& pattern() const { return pattern_; }

  // y and y' of the state and the rates it was made with.
  void start(Eigen::Ref<Vec> y, Eigen::Ref<Vec> ydot);
  bool residual(double t, const Vec& y, const Vec& ydot, Eigen::Ref<Vec> F);
  // F_y + c F_y' on the pattern; mu is zero on the solution, so that the derivative of G^T mu by q is left out.
  bool jacobian(double t, const Vec& y, const Vec& ydot, double c, double* values);
  // Those of our methods: tolerance times the size of the mechanism, and of 1 rad.
  void weigh(const Vec& y, Eigen::Ref<Vec> weights) const;
  // After a step: joints count their turns.
  void accept(double t, const Vec& y);
  const State& state() const { return state_; }  // last evaluated, quaternions of unit length

 private:
  // Entries of a block of vv or gv whose columns, or rows, are coordinates: a quaternion has four for the three of a
  // turn.
  struct Plain {
    int from, slot;
  };
  struct Turned {
    int from, rotation, axis;
    std::array<int, 4> slots;
  };
  struct ByCoordinates {
    std::vector<Plain> plain;
    std::vector<Turned> turned;
  };
  void place_positions(double t, const Vec& y);
  void place(double t, const Vec& y, const Vec& ydot);
  void place_slopes(const Vec& y);
  void make_pattern();
  void put_by_coordinates(const ByCoordinates& block, const Vec& from, double weight, double* values) const;

  const Equations& equations_;
  IdaForm form_;
  double tolerance_;
  int nq_, nv_, m_;
  std::vector<int> coordinate_;   // of each velocity: its place in q, that of the quaternion for rotations
  std::vector<int> quaternions_;  // places in q
  std::vector<int> rotation_;     // of each velocity: which quaternion, -1: none
  State state_;
  Rates rates_;
  Workspace work_;
  Residual residual_;
  Partials partials_;
  Vec gamma_, scales_, u_;
  Pattern pattern_;
  std::vector<Eigen::Matrix<double, 4, 3>> E_;  // of p as it is
  std::vector<double> square_;                  // |p|^2
  std::vector<int> identity_q_, identity_v_, vv_v_, lambda_, last_v_;
  std::vector<std::array<int, 16>> turn_p_;
  std::vector<std::array<int, 12>> turn_v_;
  ByCoordinates vv_q_, last_q_, position_, mu_;
};

}  // namespace trammel
