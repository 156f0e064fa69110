#include "trammel/initial/given_state.h"

#include <cmath>
#include <numbers>

#include "trammel/base/diagnosis.h"
#include "trammel/base/numbers.h"

namespace trammel {
namespace {

constexpr double unit_slack = 1e-6;       // that of model files
constexpr double computed_slack = 1e-12;  // far above what steps leave

[[noreturn]] void refuse_number(const std::string& name, const char* kind, double value) {
  throw Failure({Severity::error,
                 "not-finite",
                 name + ": the " + kind + " that was set is " + (std::isnan(value) ? "not a number" : "infinite"),
                 "give finite numbers",
                 {}},
                ExitCode::bad_usage);
}

std::string name_of_body(const Equations& equations, int body) {
  return "body '" + equations.model().bodies[static_cast<std::size_t>(body)].name + "'";
}

[[noreturn]] void refuse_length(const Equations& equations, int body, double norm) {
  throw Failure(
      {Severity::error,
       "quaternion-norm",
       name_of_body(equations, body) + ": the quaternion that was set has length " + shortest(norm) + ", not 1",
       "normalise it; the order is (w, x, y, z)",
       {}},
      ExitCode::bad_usage);
}

void check_body(const Equations& equations, int b, Vec& q) {
  const BodyElement& body = equations.body(b);
  const int first = body.at().q;
  for (int i = 0; i < body.coordinates(); ++i) {
    if (!std::isfinite(q[first + i])) refuse_number(name_of_body(equations, b), "position", q[first + i]);
  }
  if (!body.rotation()) return;
  auto quaternion = q.segment<4>(first + *body.rotation());
  const double norm = quaternion.norm();
  if (std::abs(norm - 1) > unit_slack) refuse_length(equations, b, norm);
  // One that was computed keeps its bits: events do not start anew where only an input was set.
  if (std::abs(norm - 1) > computed_slack) quaternion /= norm;
}

[[noreturn]] void refuse_motion(const Equations& equations, int body, const std::string& why, const std::string& hint) {
  throw Failure({Severity::error, "bad-usage", name_of_body(equations, body) + " " + why, hint, {}},
                ExitCode::bad_usage);
}

// Angles over any number of turns stay on the turn they are on.
void keep_turns(const BodyElement& body, const Vec& before, State& state) {
  if (body.rotation()) return;
  for (std::size_t i = 0; i < body.velocities().size(); ++i) {
    if (body.velocities()[i].quantity != Quantity::angle) continue;
    const Eigen::Index at = body.at().q + static_cast<Eigen::Index>(i);
    state.q[at] = before[at] + std::remainder(state.q[at] - before[at], 2 * std::numbers::pi);
  }
}

bool apart(const Vec3& a, const Vec3& b, double scale) { return !((a - b).norm() <= 1e-9 * (scale + b.norm())); }

// What a body of this kind made of the motion that was asked for. A rod has no spin about its axis.
void check_place(const Equations& equations, int b, const Body& asked, const State& state, Workspace& work) {
  equations.update(state, work);
  const FrameState is = equations.frame(equations.origin(b), work);
  const BodyDescription& kind = kind_of(asked);
  const Mat3 R = asked.pose.rotation.toRotationMatrix();
  bool fits = !apart(is.p, asked.pose.position, equations.length()) &&
              !apart(is.v, asked.velocity, asked.angular_velocity.norm() * equations.length());
  if (kind.has_axes()) fits = fits && !apart(is.R.col(0), R.col(0), 1);
  if (kind.turns) fits = fits && !apart(is.R.col(1), R.col(1), 1) && !apart(is.w, asked.angular_velocity, 0);
  if (fits) return;
  refuse_motion(equations, b, "cannot be there or move so: it is a body of kind '" + asked.kind + "'",
                kind.is_planar ? "it stays in its plane z = constant and turns about z" : "set what it can do");
}

}  // namespace

void place_body(const Equations& equations, int b, const GivenMotion& given, State& state, Workspace& work) {
  Body body = equations.model().bodies[static_cast<std::size_t>(b)];
  const BodyDescription& kind = kind_of(body);
  if (!kind.is_place)
    refuse_motion(equations, b, "is a coordinate, which has no place in the world", "set its value in q");
  if (!kind.has_axes() && (given.orientation || given.angular_velocity))
    refuse_motion(equations, b, "is a point, which has no orientation", "leave it out");
  for (const std::optional<Vec3>& each : {given.position, given.velocity, given.angular_velocity})
    if (each && !each->allFinite()) refuse_number(name_of_body(equations, b), "motion", each->sum());
  equations.update(state, work);
  const FrameState now = equations.frame(equations.origin(b), work);
  body.pose.position = given.position.value_or(now.p);
  body.pose.rotation = given.orientation.value_or(Quat(now.R));
  body.velocity = given.velocity.value_or(now.v);
  body.angular_velocity = given.angular_velocity.value_or(now.w);
  const double norm = body.pose.rotation.norm();
  if (!(std::abs(norm - 1) <= unit_slack)) refuse_length(equations, b, norm);
  body.pose.rotation.normalize();

  const Vec q = state.q, v = state.v;
  const BodyElement& element = equations.body(b);
  element.start(body, state.q.data() + element.at().q, state.v.data() + element.at().v);
  keep_turns(element, q, state);
  if (kind.is_flexible) {  // it stays bent as it is
    const auto modes = static_cast<Eigen::Index>(element.coordinates()) - 7;
    state.q.segment(element.at().q + 7, modes) = q.segment(element.at().q + 7, modes);
    state.v.segment(element.at().v + 6, modes) = v.segment(element.at().v + 6, modes);
  }
  check_place(equations, b, body, state, work);
}

void check_given_state(const Equations& equations, State& state) {
  for (std::size_t b = 0; b < equations.model().bodies.size(); ++b) check_body(equations, static_cast<int>(b), state.q);
  for (int i = 0; i < equations.sizes().nv; ++i) {
    if (!std::isfinite(state.v[i])) refuse_number(equations.name_of_velocity(i), "velocity", state.v[i]);
  }
  const auto inputs = static_cast<Eigen::Index>(equations.model().inputs.size());
  for (Eigen::Index i = 0; i < state.u.size(); ++i) {
    if (std::isfinite(state.u[i])) continue;
    const bool input = i < inputs;
    const std::string name =
        input ? "input '" + equations.model().inputs[static_cast<std::size_t>(i)].name + "'"
              : "state '" + equations.model().states[static_cast<std::size_t>(i - inputs)].name + "'";
    refuse_number(name, "value", state.u[i]);
  }
}

}  // namespace trammel
