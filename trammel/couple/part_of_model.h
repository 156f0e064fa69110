// Taking a model apart at some of its joints: the bodies that still hang together, and the model of one such part.
#pragma once
#include "trammel/model/model.h"

namespace trammel {

// Groups of bodies, by index, that joints, motions and forces other than `cut` connect. The order is that of the
// bodies.
std::vector<std::vector<int>> connected_parts(const Model& model, const std::vector<int>& cut_joints);

// The part of a model that some of its bodies make up, with the frames, elements and outputs that need no other bodies.
// Throws Failure: an element other than the joints cut connects the part with the rest.
Model part_of_model(const Model& model, const std::vector<int>& bodies, const std::vector<int>& cut_joints);

// The same model with bodies where a consistent start puts them.
Model at_consistent_start(Model model);

}  // namespace trammel
