// Measures: numbers that expressions and outputs read off the motion of a frame B against a frame A,
//
//   distance  l = |d|, d = p_B - p_A        speed  l'
//   dx dy dz  a_i . d, in the axes of A     vx vy vz  their time derivatives
//   angle     of b_x about a_z, multi-turn  rate  its time derivative
//   wx wy wz  a_i . (w_B - w_A)
//
// and the value of a scalar coordinate or of a signal (an external input, a state, a variable), by its name,
//
// each with its exact derivatives against both frames, and MeasuredExpression: an expression of time, parameters and
// measures, with its derivatives against all the frames it looks at.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trammel/elements/frame.h"
#include "trammel/elements/scalars/pair_scalar.h"
#include "trammel/math/expression.h"
#include "trammel/model/model.h"

namespace trammel {

// signal: not of frames but an external input, a state or a variable of the model, written by its name.
enum class MeasureKind { distance, speed, dx, dy, dz, vx, vy, vz, angle, rate, wx, wy, wz, signal };

// What of its scalar: the value, its rate, or for wx, wy, wz the angular velocity along the axis i, which is no rate.
enum class MeasureOf { value, rate, spin };

struct MeasureDescription {
  MeasureKind kind;
  std::string name;
  Quantity quantity;
  MeasureOf of;
  Scalar scalar;
  std::string text;
  bool uses_velocity() const { return of != MeasureOf::value; }
};

// All measures, in the order of the help and the docs.
const std::vector<MeasureDescription>& measure_registry();
const MeasureDescription* find_measure(std::string_view name);

// A number with its derivatives against pose and twist.
struct MeasurePartials {
  double value = 0;
  PairSlope pose, twist;
};

// `near` is the remembered total angle; the other measures do not read it. False where the measure has no derivative:
// distance and speed of coinciding points, angle and rate with b_x along a_z. A distance of 0 is given all the same.
bool evaluate_measure(MeasureKind kind, const FrameState& a, const FrameState& b, double near, double& value);
bool linearise_measure(MeasureKind kind, const FrameState& a, const FrameState& b, double near, MeasurePartials& out);

// What names in measures mean: frames first, then bodies (the frame at the body's origin), then joints (both of their
// frames). A name that is none of these is a problem for the parser to report.
class PlaceNames {
 public:
  explicit PlaceNames(const Model& model) : model_(&model) {}
  explicit PlaceNames(Model& model) : model_(&model), growing_(&model) {}
  void index();  // pays off when many names are looked up

  struct Place {
    enum class Kind { nothing, frame, body, joint } kind = Kind::nothing;
    int index = 0;
  };
  Place find(std::string_view name) const;
  int find_signal(std::string_view name) const;  // as of the model
  // A sensor's number among the signals; it is made if there is none and the model may grow, else -1.
  int signal_of(const Sensor& sensor);
  std::string nearest(std::string_view name) const;
  // The frame at a body's origin, made if there is none and the model may grow, else -1.
  int origin_frame(int body);
  const Model& model() const { return *model_; }

 private:
  const Model* model_;
  Model* growing_ = nullptr;
  bool indexed_ = false;
  std::unordered_map<std::string, Place> places_;
  std::unordered_map<std::string, int> signals_;
  std::unordered_map<int, int> origins_;  // body -> frame
};

using FrameRow = Eigen::Matrix<double, 1, Eigen::Dynamic, Eigen::RowMajor, 1, 6 * max_frames>;
constexpr int max_measures = 64;  // of one expression: their values live on the stack

// Value and derivatives of an expression; 6 columns per frame of the element.
struct ExpressionPartials {
  double value = 0, time = 0;
  FrameRow pose, twist;
  Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::ColMajor, max_measures, 1> signals;  // in the order of signals()
};

class MeasuredExpression {
 public:
  MeasuredExpression() = default;  // constant 0
  static MeasuredExpression constant(double value);
  // `frames` are the model's frames that ElementInput::frames will hold, in that order; those that the measures need
  // besides are appended. With `own_frames`, a measure without arguments is that of the second frame against the first.
  // Remembered angles are kept from memory[first_memory] on. `owner` is named in messages: "force 'bumper'".
  static MeasuredExpression parse(const ExpressionText& text, const std::string& owner, PlaceNames& names,
                                  std::vector<int>& frames, bool own_frames, int first_memory = 0);
  // An output's expression; `frames`, empty before, receives the frames it looks at, at most max_frames.
  static MeasuredExpression parse(const Output& output, PlaceNames& names, std::vector<int>& frames);
  // The rate of a state, or a variable, likewise.
  static MeasuredExpression parse(const StateVariable& x, PlaceNames& names, std::vector<int>& frames);
  static MeasuredExpression parse(const Variable& variable, PlaceNames& names, std::vector<int>& frames);

  bool is_zero() const;  // the constant 0
  bool uses_velocity() const { return uses_velocity_; }
  FrameNeed needs(int frame) const;
  int memory() const { return memory_; }
  const std::vector<int>& signals() const { return signals_; }  // inputs, states, variables, sensors that it uses
  const Expression& expression() const { return expression_; }

  // Numbers that change their sign where its value or slope may jump; NaN where they have no value.
  void list_switches(std::vector<SwitchInfo>& out) const;
  // Of a number that changes its sign with the values of these expressions: whether time alone decides, or which
  // signals.
  static SwitchInfo switch_between(std::string name, std::initializer_list<const MeasuredExpression*> expressions);
  double* switch_values(const ElementInput& in, double* out) const;  // returns the place behind them
  // False: cannot be evaluated here.
  bool evaluate(const ElementInput& in, double& value) const;
  // All of `out`, for an element with `frames` frames.
  void linearise(const ElementInput& in, int frames, ExpressionPartials& out) const;

  void accept(const ElementInput& in, double* memory) const;
  double turned(const ElementInput& in) const;
  // Time derivatives of the remembered angles, each at the place of its value in the memory.
  void angle_rates(const ElementInput& in, double* rates) const;

 private:
  struct Measure {
    MeasureKind kind;
    int a, b;         // places in ElementInput::frames; of a signal a is its number
    int memory = -1;  // of an angle
  };
  // Values of all measures; false: one has none here.
  bool measure(const ElementInput& in, double* measured) const;
  double near(const Measure& measure, const ElementInput& in) const;
  bool looks_at_signals_only(const std::vector<int>& slots) const;
  // Of a remembered angle; false if it is none, or has no value here.
  bool angle(const Measure& measure, const ElementInput& in, double& total, double& rate) const;

  Expression expression_;
  std::vector<Expression::Corner> corners_;
  std::vector<Measure> measures_;
  std::vector<int> signals_;
  bool uses_velocity_ = false;
  int memory_ = 0;
};

// Appends to every force the frames and signals that its expressions look at, and to the model the sensors, and the
// frames of body origins, that measures in forces and outputs name. To be called once before elements are made; a
// second call changes nothing. All wrong names are reported in one Failure.
void wire_measures(Model& model);

}  // namespace trammel
