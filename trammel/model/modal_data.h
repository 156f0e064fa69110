// What the equations know of a body that bends: mass, first moment, inertia and their change with the modal coordinates
// q, as sums over the mass points of the body, and its interface nodes. With x from the point of reference, phi and psi
// the translation and rotation of a mass point m, J (rotary) in each mode, all in body axes:
//
//   s  = sum m x                   S0 = sum m phi                 Mqq = sum m phi^T phi + psi^T J psi
//   J0 = sum -m x~x~ + J           S1 = sum m x~ phi + J psi
//   A_k      = sum m x~ e_k~ phi + J e_k~ psi                               3 x m
//   Gamma_k  = sum m phi^T e_k~ phi + psi^T J e_k~ psi                      m x m
//   Theta_kl = sum m (e_k~ phi)^T (e_l~ phi) + (e_k~ psi)^T J (e_l~ psi)    m x m
//
//   J(q)_kl = J0_kl + J1_kl q + q^T J2_kl q / 2,   J1_kl = row k of A_l + row l of A_k,   J2_kl = Theta_kl + Theta_lk
#pragma once
#include <array>
#include <string>
#include <vector>

#include "trammel/base/types.h"

namespace trammel {

using ModeShapes = Eigen::Matrix<double, 3, Eigen::Dynamic>;

// A place where joints and forces can attach: a unit of mode j moves it by column j.
struct ModalNode {
  std::string name;
  Vec3 position = Vec3::Zero();  // from the point of reference
  ModeShapes translation, rotation;
};

// Stress on the outline of a section by its resultants: of tension by N, of bending by My and Mz at the outer fibre, of
// torsion by T at the middles of the sides that bending about y and about z pulls.
struct StressSection {
  bool round = false;
  double tension = 0, bending_y = 0, bending_z = 0, torsion_y = 0, torsion_z = 0;
};

// Where stress is looked at, in the body's axes.
struct StressPoint {
  std::string place;  // "beam 'seat' - 'tail', 0.12 m from 'tail'"
  Vec3 position = Vec3::Zero();
  int region = 0;  // of neighbours of which one is told
  StressSection section;
};

// What a viewer draws of it: points of its beams, how far a unit of each mode moves them, and the pieces between them.
struct ModalDrawing {
  struct Segment {
    int first = 0, second = 0;  // points
    double radius = 0;          // of a round section of the same area
  };
  std::vector<Vec3> points;  // from the point of reference
  Mat shapes;                // three rows a point, a column for each mode
  std::vector<Segment> segments;
};

struct ModalData {
  ModalDrawing drawing;  // empty: only its frames are known
  double mass = 0;
  Vec3 first_moment = Vec3::Zero();
  Mat3 inertia = Mat3::Zero();  // J0, about the point of reference
  ModeShapes S0, S1;
  Mat modal_mass;                                  // Mqq
  std::array<Eigen::RowVectorXd, 6> inertia_rate;  // J1: xx, yy, zz, xy, yz, zx
  std::array<Mat, 6> inertia_curvature;            // J2, in the same order
  std::array<Mat, 3> gyration;                     // Gamma
  Mat stiffness, damping;                          // K, D
  // The greatest displacement and rotation that a unit of each mode makes anywhere in the body.
  Vec displacement, turn;
  std::vector<ModalNode> nodes;
  // Of a reduction: how many normal modes were asked for, and the frequencies of those taken, interface nodes held, Hz.
  int normal_modes_asked = 0;
  Vec held_frequencies;

  // Of stress, if it is asked for: N, Vy, Vz, T, My, Mz of each point, six rows, by the modal coordinates.
  std::vector<StressPoint> stress_points;
  Mat stress_resultants;
  int hot_spots = 0;  // to be told of

  int modes() const { return static_cast<int>(modal_mass.rows()); }
};

// The place of component (k, l) in the lists of six.
constexpr int component(int k, int l) { return k == l ? k : k + l == 1 ? 3 : k + l == 3 ? 4 : 5; }

}  // namespace trammel
