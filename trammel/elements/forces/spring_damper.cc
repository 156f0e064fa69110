#include "trammel/elements/forces/spring_damper.h"

#include "trammel/elements/forces/force_fields.h"

namespace trammel {
namespace {

class SpringDamper final : public AxialForce {
 public:
  SpringDamper(AxialKind kind, const SpringDamperLaw& law, MeasuredExpression actuator, int frames)
      : AxialForce(kind, frames), law_(law), actuator_(std::move(actuator)) {
    use(actuator_);
  }
  SpringDamper(const SpringDamper&) = delete;  // the base class points at actuator_
  SpringDamper& operator=(const SpringDamper&) = delete;

  bool uses_velocity() const override { return law_.damping != 0 || actuator_.uses_velocity(); }
  double potential_energy(const ElementInput& in) const override {
    double s = 0, rate = 0;
    motion(in, s, rate);
    return 0.5 * law_.stiffness * (s - law_.free) * (s - law_.free);
  }
  double dissipated_power(const ElementInput& in) const override {
    double s = 0, rate = 0;
    motion(in, s, rate);
    return law_.damping * rate * rate;
  }
  double external_power(const ElementInput& in) const override {
    double s = 0, rate = 0, f = 0;
    motion(in, s, rate);
    return actuator_.evaluate(in, f) ? sign() * f * rate : 0.0;
  }
  bool energy_is_complete() const override { return actuator_.is_zero(); }
  void observe(const ElementInput& in, double* values) const override {
    AxialForce::observe(in, values);
    if (sign() < 0) values[2] = 0 - values[2];
  }

 protected:
  bool force(const ElementInput& in, double s, double rate, double& f) const override {
    double actuator = 0;
    const bool good = actuator_.evaluate(in, actuator);
    f = sign() * actuator + passive(s, rate);
    return good;
  }
  void force_partials(const ElementInput& in, double s, double rate, Law& law) const override {
    actuator_.linearise(in, frames(), law.rest);
    law.force = sign() * law.rest.value + passive(s, rate);
    law.by_value = -law_.stiffness;
    law.by_rate = -law_.damping;
    if (sign() > 0) return;
    law.rest.pose = -law.rest.pose;
    law.rest.twist = -law.rest.twist;
    law.rest.time = -law.rest.time;
  }

 private:
  double sign() const { return kind() == AxialKind::distance ? -1 : 1; }
  double passive(double s, double rate) const { return -law_.stiffness * (s - law_.free) - law_.damping * rate; }

  SpringDamperLaw law_;
  MeasuredExpression actuator_;
};

}  // namespace

std::unique_ptr<Force> make_spring_damper(AxialKind kind, const SpringDamperLaw& law, const Item& item,
                                          const char* actuator, const MakeContext& context) {
  return std::make_unique<SpringDamper>(kind, law,
                                        measured_field(item, actuator, context, AxialForce::own_memory(kind)),
                                        static_cast<int>(item.frames.size()));
}

}  // namespace trammel
