// A kind of body as the equations see it: its coordinates and velocities, how its frames move with them, its inertia.
//
//   q' = N(q) v,   twist of a frame = B(q) v,   M(q) v' + h(q, v) = forces
//
// A kind is one file of elements/bodies and a line of the registry; nothing else asks what kind a body is. Bodies whose
// frames move with the six velocities of a rigid body (rigid() is given) take a path of fixed sizes through the
// assembly, bodies/rigid.h; all others say themselves how their frames move.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "trammel/base/archive.h"
#include "trammel/elements/frame.h"
#include "trammel/model/model.h"

namespace trammel {

// Motion of the axes of a body; world axes.
struct BodyState {
  Mat3 R;        // body to world
  Vec3 r, v, w;  // centre of mass, its velocity, angular velocity
};

// The motions of all bodies, computed once for each evaluation. `extra` holds what kinds keep beyond a BodyState,
// `signals` the inputs, states and variables that expressions read; empty: the model has no variables.
struct BodyMotions {
  std::vector<BodyState> bodies;
  std::vector<double> extra;
  std::vector<double> signals;
};

// A place on a body: relative to the centre of mass, in body axes (in the world for ground).
struct BodyFrame {
  int body = ground;
  Vec3 arm = Vec3::Zero();
  Mat3 R = Mat3::Identity();
  bool aligned = true;  // R is the identity, as of most: no product then
  bool rigid = true;    // its body is rigid, or ground
  int node = -1;        // of a body that bends: the node it stands at; -1: it goes with the floating frame
};

// How a frame's twist depends on the n velocities of its body; derivatives by q are against increments of retract.
struct FramePartials {
  using Matrix = Eigen::Matrix<double, 6, Eigen::Dynamic>;
  Matrix B;               // twist = B v
  Matrix Bv_q, Ba_q;      // (B v)_q, (B a)_q
  Vec6 bias;              // B' v
  Matrix bias_q, bias_v;  // of the bias

  void set_zero(int n);
};

// One of a body's velocities.
struct BodyVelocity {
  std::string name;  // "position x", completes "body 'crank': "
  std::string key;   // BODY.key names it as an independent coordinate; empty: it cannot be one
  Quantity quantity = Quantity::length;
  int part = -1;  // of the origin along x, y, z (0 to 2), of the axes about x, y, z (3 to 5), or of neither
  // Of a modal coordinate: the greatest displacement and rotation that a unit of it makes in the body. Its errors count
  // by them.
  double displacement = 0, turn = 0;
};

// Where a body's numbers stand among those of the mechanism.
struct BodyPlace {
  int body = 0;
  int q = 0, v = 0;
  int extra = 0;    // in BodyMotions::extra
  int entries = 0;  // in the list of places of M
};

// Which of the six velocities of a rigid body (v in the world, w in the body) a rigid kind has.
struct RigidColumns {
  int count = 0;
  std::array<int, 6> column{};
};

class BodyElement {
 public:
  virtual ~BodyElement() = default;
  const BodyPlace& at() const { return at_; }
  void place(const BodyPlace& at) { at_ = at; }

  // ---- layout
  virtual int coordinates() const = 0;
  virtual const std::vector<BodyVelocity>& velocities() const = 0;
  // Velocities, first of three, in which retract is not addition but a rotation from the right.
  virtual std::optional<int> rotation() const { return std::nullopt; }
  virtual const RigidColumns* rigid() const { return nullptr; }
  virtual int extra() const { return 0; }
  // Places (row, column) that M may have; the diagonal among them.
  virtual std::vector<std::pair<int, int>> entries() const = 0;
  virtual void start(const Body& body, double* q, double* v) const = 0;

  // ---- manifold
  virtual void retract(const double* q, const double* delta, double* out) const;  // adds, unless overridden
  virtual void local(const double* from, const double* to, double* delta) const;

  // ---- motion
  virtual void motion(const double* q, const double* v, BodyState& out, double* extra) const = 0;
  virtual Quat orientation(const double* q, const BodyState& motion) const = 0;
  // Rates of the BodyState's v and w.
  virtual void acceleration(const BodyState& motion, const double* extra, const double* a, Vec3& linear,
                            Vec3& angular) const = 0;
  // Independent twists of the body about r, [v; w] in world axes; 6 x 6: all.
  virtual Mat twists(const BodyState& motion) const = 0;

  // ---- frames of bodies that are not rigid
  virtual FrameState frame(const BodyFrame& f, const BodyState& motion, const double* extra) const;
  virtual void frame_partials(const BodyFrame& f, const BodyState& motion, const double* extra, const double* a,
                              FramePartials& out) const;
  // Adds (B^T w)_q of a held wrench w, n x n.
  virtual void add_wrench_derivative(const BodyFrame& f, const BodyState& motion, const double* extra,
                                     const Vec6& wrench, Eigen::Ref<Mat> out) const;
  // out += sign B^T wrench.
  virtual void add_wrench(const BodyFrame& f, const BodyState& motion, const double* extra, const double* wrench,
                          double sign, double* out) const;
  // The direction, in body axes, about which the body has no orientation; elements that would see it are refused.
  virtual std::optional<Vec3> spin_axis() const { return std::nullopt; }
  // The node of a body that bends at this arm; -1: there is none.
  virtual int node_at(const Vec3& /*arm*/) const { return -1; }
  // Why no frame can stand there; empty: it can.
  virtual std::string refuse(const BodyFrame& /*f*/) const { return ""; }

  // ---- inertia
  virtual bool constant_mass() const { return true; }
  virtual void multiply_mass(const double* q, const double* a, double* Ma) const = 0;
  // M at the places of its entries: M[slots[i]] = entry i.
  virtual void mass(const double* q, const int* slots, double* M) const = 0;
  // -Q of weight and of inertia without accelerations.
  virtual void inertial_force(const double* q, const double* v, const Vec3& gravity, double* force) const = 0;
  // Adds the derivatives of M a and of inertial_force at the places of its entries; `gyroscopic` false leaves those by
  // velocities out.
  virtual void linearise_inertia(const double* /*q*/, const double* /*v*/, const double* /*a*/, const Vec3& /*gravity*/,
                                 bool /*gyroscopic*/, const int* /*slots*/, double* /*Ma_q*/, double* /*force_q*/,
                                 double* /*force_v*/) const {}
  virtual double kinetic_energy(const BodyState& motion, const double* extra) const = 0;
  virtual double potential_energy(const BodyState& motion, const double* extra, const Vec3& gravity) const = 0;
  virtual double dissipated_power(const double* /*extra*/) const { return 0; }
  virtual double weight() const = 0;  // mass that gravity pulls at
  // Moments of inertia about its axes, for scales; zero where it has none.
  virtual Vec3 moments() const { return Vec3::Zero(); }

 private:
  BodyPlace at_;
};

// All bodies of one kind: one call for each evaluation, the loop over them compiled for the kind.
class BodyGroup {
 public:
  virtual ~BodyGroup() = default;
  virtual void motions(const Vec& q, const Vec& v, BodyMotions& out) const = 0;
  virtual void retract(const Vec& q, const Vec& delta, Vec& out) const = 0;
  virtual void local(const Vec& from, const Vec& to, Vec& delta) const = 0;
  virtual void multiply_mass(const Vec& q, const Vec& a, Vec& Ma) const = 0;
  virtual void inertial_force(const Vec& q, const Vec& v, const Vec3& gravity, Vec& force) const = 0;
  // `slots`: places in the values of M of the entries of all bodies.
  virtual void mass(const Vec& q, const std::vector<int>& slots, Vec& M) const = 0;
  virtual void linearise_inertia(const Vec& q, const Vec& v, const Vec& a, const Vec3& gravity, bool gyroscopic,
                                 const std::vector<int>& slots, Vec& Ma_q, Vec& force_q, Vec& force_v) const = 0;
};

// What a file says of a body's inertia: nothing (it has none), a number about z, a tensor, or nothing because it
// follows from mass and shape.
enum class InertiaForm { none, about_z, tensor, follows };

// What a kind's file ends with.
struct BodyDescription {
  std::string key;      // "planar"
  std::string summary;  // one sentence
  InertiaForm inertia = InertiaForm::tensor;
  bool is_place = true;      // false: a number, which has no weight and no place in the world
  bool is_planar = false;    // moves in a plane z = constant: vectors of a file have two components
  bool turns = true;         // has an orientation that a file can give and keep
  bool has_ends = false;     // is given by its two ends
  bool is_flexible = false;  // bends: mass, inertia and modes follow from its parts
  std::unique_ptr<BodyElement> (*make)(const Body&) = nullptr;
  std::unique_ptr<BodyGroup> (*make_group)(const std::vector<const BodyElement*>&) = nullptr;
  // Adds the constraints that belong to the body itself, as joints.
  void (*add_rows)(Model&, int body) = nullptr;

  bool has_axes() const { return turns || has_ends; }  // that turn with it
  bool is_solid() const { return inertia == InertiaForm::about_z || inertia == InertiaForm::tensor; }
};

const std::vector<BodyDescription>& body_registry();
const BodyDescription* find_body_kind(std::string_view key);
// The kind of a body of a model; a Failure if there is none of that name.
const BodyDescription& kind_of(const Body& body);
// Gives bodies the joints that belong to them, where they are missing.
void add_own_rows(Model& model);

}  // namespace trammel
