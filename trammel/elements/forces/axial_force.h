// Forces in one coordinate of frame B against frame A: the angle about the z axis of A over any number of turns, the
// displacement along it, or the distance of the origins,
//
//   rotation   s = angle of b_x about a_z     translation   s = a_z . (p_B - p_A)     distance   s = |p_B - p_A|
//
// With J the gradient of s, a force f in s puts the wrenches J^T f on the frames: its power is f s', and it has no
// resultant. d(J^T f) = J^T df + f dJ^T.
#pragma once
#include "trammel/elements/measure.h"
#include "trammel/elements/registry.h"

namespace trammel {

enum class AxialKind { rotation, translation, distance };

class AxialForce : public Force {
 public:
  int frames() const override { return frames_; }
  int memory() const override { return own_memory(kind_) + expressions_memory_; }
  bool evaluate(const ElementInput& in, double* wrench) const override;
  void linearise(const ElementInput& in, ForcePartials& out) const override;
  std::vector<Observable> observables() const override;
  void observe(const ElementInput& in, double* values) const override;
  void accept(const ElementInput& in, double* memory) const override;
  double turned(const ElementInput& in) const override;
  bool sets_in_unseen() const override;
  FrameNeed needs(int frame) const override;
  std::vector<SwitchInfo> switches() const override;
  void switch_values(const ElementInput& in, double* values) const override;

  // The coordinate's own angle comes first; expressions remember behind it.
  static constexpr int own_memory(AxialKind kind) { return kind == AxialKind::rotation ? RememberedAngle::size : 0; }

 protected:
  // f and its derivatives by s and s', and by what expressions look at.
  struct Law {
    double force = 0, by_value = 0, by_rate = 0;
    ExpressionPartials rest;  // value unused
  };

  AxialForce(AxialKind kind, int frames);
  // Expressions of the law, in the order in which their angles are remembered.
  void use(const MeasuredExpression& expression);

  // False: cannot be evaluated here.
  virtual bool force(const ElementInput& in, double value, double rate, double& f) const = 0;
  virtual void force_partials(const ElementInput& in, double value, double rate, Law& law) const = 0;

  // The coordinate and its rate. False where it has no derivatives: the rate is then 0, an angle the remembered one.
  bool motion(const ElementInput& in, double& value, double& rate) const;
  AxialKind kind() const { return kind_; }

 private:
  PairScalar coordinate(const ElementInput& in, int order) const;

  AxialKind kind_;
  Scalar scalar_;
  int frames_, expressions_memory_ = 0;
  std::vector<const MeasuredExpression*> expressions_;  // members of the derived class
};

}  // namespace trammel
