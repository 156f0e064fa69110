// A frame of straight Timoshenko beams in space, rigidly joined at its nodes, as plain data; and its finite elements.
//
// The stiffness of an element is exact under loads at its ends. Its mass is that of four Gauss points: mass points with
// rotary inertia, moved by the element's own shape functions. Their sum is the consistent mass matrix, and they also
// say how inertia changes with the deformation, which a mass matrix of nodes cannot: a nodal matrix gives motions that
// depend on the speed of the whole body.
#pragma once
#include <Eigen/SparseCore>
#include <string>
#include <vector>

#include "trammel/base/types.h"
#include "trammel/flexible/beam_section.h"

namespace trammel {

struct BeamFrame {
  struct Node {
    std::string name;
    Vec3 position = Vec3::Zero();
  };
  struct Beam {
    int first = 0, second = 0;  // nodes
    int section = 0, material = 0;
    Vec3 up = Vec3::Zero();  // z of the section as far as perpendicular; zero: chosen
  };
  struct Lump {
    int node = 0;
    double mass = 0;
    Mat3 inertia = Mat3::Zero();  // about the node
  };
  std::vector<Node> nodes;
  std::vector<BeamSection> sections;
  std::vector<BeamMaterial> materials;
  std::vector<Beam> beams;
  std::vector<Lump> lumps;
  double element_length = 0;  // at most; 0: one element a beam

  // A node that no beam connects with the first one; -1: the frame is in one piece.
  int loose_node() const;
  // x along the beam, y, z as columns.
  Mat3 axes(const Beam& beam) const;
  double length(const Beam& beam) const { return (nodes[beam.second].position - nodes[beam.first].position).norm(); }
};

// A mass point with rotary inertia; its translation and small rotation are `shape` times the freedoms of two nodes.
struct MassPoint {
  Vec3 position = Vec3::Zero();
  double mass = 0;
  Mat3 inertia = Mat3::Zero();
  int first = 0, second = 0;  // nodes; equal: the columns of the second are zero
  Eigen::Matrix<double, 6, 12> shape = Eigen::Matrix<double, 6, 12>::Zero();
};

// Six freedoms a node: translation and small rotation, in the axes of the frame.
struct FiniteElements {
  using Sparse = Eigen::SparseMatrix<double>;
  std::vector<Vec3> nodes;  // those of the frame first
  std::vector<MassPoint> points;
  Sparse stiffness, mass;
  struct Piece {
    int first = 0, second = 0;  // nodes
    double area = 0;            // of its section
  };
  std::vector<Piece> pieces;  // one for each element, for drawings

  int freedoms() const { return 6 * static_cast<int>(nodes.size()); }
  // Motions as a rigid body: three translations, three rotations about `center`.
  Mat rigid_motions(const Vec3& center) const;
};

FiniteElements mesh(const BeamFrame& frame);

}  // namespace trammel
