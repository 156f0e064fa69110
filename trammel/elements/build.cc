#include "trammel/elements/build.h"

#include "trammel/elements/registry.h"

namespace trammel {

namespace {
int add_item(Model& model, std::vector<Item>& items, Category category, std::string type, std::string name,
             std::vector<int> frames, Fields fields) {
  Item item{std::move(type), std::move(name), std::move(frames), std::move(fields), {}};
  const ElementDescription& description = find_element(category, item.type, item.where);
  complete_fields(description, item);
  if (description.attach) description.attach(model, item);
  items.push_back(std::move(item));
  return static_cast<int>(items.size()) - 1;
}
}  // namespace

int add_joint(Model& model, std::string type, std::string name, int body_a, int body_b, const Vec3& point,
              const Vec3& axis, Fields fields) {
  const int a = model.add_frame_at(body_a, point, axis);
  const int b = model.add_frame_at(body_b, point, axis);
  return add_joint(model, std::move(type), std::move(name), {a, b}, std::move(fields));
}

int add_joint(Model& model, std::string type, std::string name, std::vector<int> on, Fields fields) {
  return add_item(model, model.joints, Category::joint, std::move(type), std::move(name), std::move(on),
                  std::move(fields));
}

int add_motion(Model& model, std::string type, std::string name, std::vector<int> on, Fields fields) {
  return add_item(model, model.motions, Category::motion, std::move(type), std::move(name), std::move(on),
                  std::move(fields));
}

int add_force(Model& model, std::string type, std::string name, std::vector<int> on, Fields fields) {
  return add_item(model, model.forces, Category::force, std::move(type), std::move(name), std::move(on),
                  std::move(fields));
}

}  // namespace trammel
