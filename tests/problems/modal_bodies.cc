#include "tests/problems/modal_bodies.h"

#include <random>

namespace trammel::problems {

RandomModalBody random_modal_body(int modes, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto matrix = [&](Eigen::Index rows, Eigen::Index columns) {
    return Mat(Mat::NullaryExpr(rows, columns, [&] { return uniform(random); }));
  };
  const auto positive = [&](Eigen::Index n) {
    const Mat m = matrix(n, n);
    return Mat(m * m.transpose() + 0.1 * Mat::Identity(n, n));
  };
  RandomModalBody out;
  out.elements.nodes = {matrix(3, 1), matrix(3, 1)};
  for (int i = 0; i < 8; ++i) {
    MassPoint p;
    p.position = matrix(3, 1);
    p.mass = 0.2 + 0.1 * uniform(random);
    p.inertia = 0.02 * positive(3);
    p.first = i % 2;
    p.second = i % 3 == 0 ? p.first : 1 - p.first;
    p.shape = 0.3 * matrix(6, 12);
    if (p.first == p.second) p.shape.rightCols<6>().setZero();
    out.elements.points.push_back(p);
  }
  out.shapes = 0.5 * matrix(12, modes);
  out.reference = 0.3 * matrix(3, 1);
  out.data = modal_data(out.elements, out.reference, out.shapes);
  out.data.stiffness = 50 * positive(modes);
  out.data.damping = positive(modes);
  return out;
}

void make_modal(Model& model, int body, int modes, unsigned seed) {
  std::mt19937 random(seed + 1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  ModalData data = random_modal_body(modes, seed).data;
  Body& b = model.bodies[body];
  for (const Frame& frame : model.frames) {
    if (frame.body != body) continue;
    ModalNode node;
    node.name = "node" + std::to_string(data.nodes.size());
    node.position = frame.local.position - b.center_of_mass;
    node.translation = ModeShapes::NullaryExpr(3, modes, [&] { return uniform(random); });
    node.rotation = ModeShapes::NullaryExpr(3, modes, [&] { return uniform(random); });
    data.displacement = data.displacement.cwiseMax(node.translation.colwise().norm().transpose());
    data.turn = data.turn.cwiseMax(node.rotation.colwise().norm().transpose());
    data.nodes.push_back(std::move(node));
  }
  b.kind = "modal";
  b.mass = data.mass;
  b.inertia = data.inertia;
  b.modal = std::make_shared<const ModalData>(std::move(data));
}

}  // namespace trammel::problems
