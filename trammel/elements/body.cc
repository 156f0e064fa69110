#include "trammel/elements/body.h"

#include <stdexcept>

#include "trammel/elements/bodies/bodies.h"

namespace trammel {

void FramePartials::set_zero(int n) {
  for (Matrix* m : {&B, &Bv_q, &Ba_q, &bias_q, &bias_v}) m->setZero(6, n);
  bias.setZero();
}

void BodyElement::retract(const double* q, const double* delta, double* out) const {
  for (int i = 0; i < coordinates(); ++i) out[i] = q[i] + delta[i];
}

void BodyElement::local(const double* from, const double* to, double* delta) const {
  for (int i = 0; i < coordinates(); ++i) delta[i] = to[i] - from[i];
}

FrameState BodyElement::frame(const BodyFrame&, const BodyState&, const double*) const {
  throw std::logic_error("the frames of a rigid body move by bodies/rigid.h");
}
void BodyElement::frame_partials(const BodyFrame&, const BodyState&, const double*, const double*,
                                 FramePartials&) const {
  throw std::logic_error("the frames of a rigid body move by bodies/rigid.h");
}
void BodyElement::add_wrench_derivative(const BodyFrame&, const BodyState&, const double*, const Vec6&,
                                        Eigen::Ref<Mat>) const {
  throw std::logic_error("the frames of a rigid body move by bodies/rigid.h");
}
void BodyElement::add_wrench(const BodyFrame&, const BodyState&, const double*, const double*, double, double*) const {
  throw std::logic_error("the frames of a rigid body move by bodies/rigid.h");
}

const std::vector<BodyDescription>& body_registry() {
  static const std::vector<BodyDescription> table = {
      describe_spatial_body(), describe_planar_body(), describe_point_body(),        describe_rod(),
      describe_planar_rod(),   describe_modal_body(),  describe_scalar_coordinate(),
  };
  return table;
}

const BodyDescription* find_body_kind(std::string_view key) {
  for (const BodyDescription& d : body_registry())
    if (d.key == key) return &d;
  return nullptr;
}

const BodyDescription& kind_of(const Body& body) {
  const BodyDescription* found = find_body_kind(body.kind);
  if (found != nullptr) return *found;
  std::string list = "kinds:";
  for (const BodyDescription& d : body_registry()) list += " " + d.key;
  throw Failure({Severity::error, "unknown-kind", "body '" + body.name + "': there is no kind '" + body.kind + "'",
                 list, body.where});
}

void add_own_rows(Model& model) {
  std::vector<bool> has(model.bodies.size(), false);
  for (const Item& joint : model.joints)
    if (joint.of_body) has[model.frames[joint.frames[0]].body] = true;
  for (int b = 0; b < static_cast<int>(model.bodies.size()); ++b) {
    const BodyDescription& kind = kind_of(model.bodies[b]);
    if (kind.add_rows == nullptr || has[b]) continue;
    const std::size_t before = model.joints.size();
    kind.add_rows(model, b);
    for (std::size_t i = before; i < model.joints.size(); ++i) model.joints[i].of_body = true;
  }
}

}  // namespace trammel
