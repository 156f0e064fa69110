// Bodies that bend, made of random mass points: nothing in them is symmetric, orthogonal or zero.
#pragma once
#include "trammel/flexible/reduction.h"
#include "trammel/model/model.h"

namespace trammel::problems {

struct RandomModalBody {
  FiniteElements elements;  // mass points on two nodes, no stiffness
  Mat shapes;
  Vec3 reference;
  ModalData data;
};
RandomModalBody random_modal_body(int modes, unsigned seed);

// Makes a spatial body of the model one that bends, with a node wherever a frame stands.
void make_modal(Model& model, int body, int modes, unsigned seed);

}  // namespace trammel::problems
