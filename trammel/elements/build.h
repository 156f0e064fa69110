// Joints, motions and forces for a model that is built in C++. Each function returns the index of what it added; fields
// left out take their defaults.
#pragma once
#include "trammel/model/model.h"

namespace trammel {

// The joint's two frames coincide at `point`, given in the world while the bodies stand as drawn, with z along `axis`.
int add_joint(Model& model, std::string type, std::string name, int body_a, int body_b, const Vec3& point,
              const Vec3& axis = Vec3::UnitZ(), Fields fields = {});
int add_joint(Model& model, std::string type, std::string name, std::vector<int> frames, Fields fields = {});
int add_motion(Model& model, std::string type, std::string name, std::vector<int> frames, Fields fields = {});
int add_force(Model& model, std::string type, std::string name, std::vector<int> frames, Fields fields = {});

}  // namespace trammel
