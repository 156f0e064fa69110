// The loops over all bodies of one kind, compiled for it.
#pragma once
#include "trammel/elements/body.h"

namespace trammel {

template <class Kind>
class GroupOf final : public BodyGroup {
 public:
  explicit GroupOf(const std::vector<const BodyElement*>& bodies) {
    for (const BodyElement* body : bodies) bodies_.push_back(static_cast<const Kind&>(*body));
  }

  void motions(const Vec& q, const Vec& v, BodyMotions& out) const override {
    for (const Kind& b : bodies_) {
      const BodyPlace& at = b.at();
      b.Kind::motion(q.data() + at.q, v.data() + at.v, out.bodies[at.body], out.extra.data() + at.extra);
    }
  }
  void retract(const Vec& q, const Vec& delta, Vec& out) const override {
    for (const Kind& b : bodies_) b.Kind::retract(q.data() + b.at().q, delta.data() + b.at().v, out.data() + b.at().q);
  }
  void local(const Vec& from, const Vec& to, Vec& delta) const override {
    for (const Kind& b : bodies_) b.Kind::local(from.data() + b.at().q, to.data() + b.at().q, delta.data() + b.at().v);
  }
  void multiply_mass(const Vec& q, const Vec& a, Vec& Ma) const override {
    for (const Kind& b : bodies_) b.Kind::multiply_mass(q.data() + b.at().q, a.data() + b.at().v, Ma.data() + b.at().v);
  }
  void inertial_force(const Vec& q, const Vec& v, const Vec3& gravity, Vec& force) const override {
    for (const Kind& b : bodies_)
      b.Kind::inertial_force(q.data() + b.at().q, v.data() + b.at().v, gravity, force.data() + b.at().v);
  }
  void mass(const Vec& q, const std::vector<int>& slots, Vec& M) const override {
    for (const Kind& b : bodies_) b.Kind::mass(q.data() + b.at().q, slots.data() + b.at().entries, M.data());
  }
  void linearise_inertia(const Vec& q, const Vec& v, const Vec& a, const Vec3& gravity, bool gyroscopic,
                         const std::vector<int>& slots, Vec& Ma_q, Vec& force_q, Vec& force_v) const override {
    for (const Kind& b : bodies_) {
      const BodyPlace& at = b.at();
      b.Kind::linearise_inertia(q.data() + at.q, v.data() + at.v, a.data() + at.v, gravity, gyroscopic,
                                slots.data() + at.entries, Ma_q.data(), force_q.data(), force_v.data());
    }
  }

 private:
  std::vector<Kind> bodies_;
};

template <class Kind>
std::unique_ptr<BodyElement> make_body(const Body& body) {
  return std::make_unique<Kind>(body);
}
template <class Kind>
std::unique_ptr<BodyGroup> make_group(const std::vector<const BodyElement*>& bodies) {
  return std::make_unique<GroupOf<Kind>>(bodies);
}

}  // namespace trammel
