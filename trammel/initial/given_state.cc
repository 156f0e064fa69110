#include "trammel/initial/given_state.h"

#include <cmath>
#include <limits>

#include "trammel/base/diagnosis.h"
#include "trammel/base/numbers.h"

namespace trammel {
namespace {

constexpr double unit_slack = 1e-6;  // that of model files

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

void check_body(const Equations& equations, int b, Vec& q) {
  const BodyElement& body = equations.body(b);
  const int first = body.at().q;
  for (int i = 0; i < body.coordinates(); ++i) {
    if (!std::isfinite(q[first + i])) refuse_number(name_of_body(equations, b), "position", q[first + i]);
  }
  if (!body.rotation()) return;
  auto quaternion = q.segment<4>(first + *body.rotation());
  const double norm = quaternion.norm();
  if (std::abs(norm - 1) > unit_slack) {
    throw Failure(
        {Severity::error,
         "quaternion-norm",
         name_of_body(equations, b) + ": the quaternion that was set has length " + shortest(norm) + ", not 1",
         "normalise it; the order is (w, x, y, z)",
         {}},
        ExitCode::bad_usage);
  }
  // One that was computed keeps its bits.
  if (std::abs(norm - 1) > 16 * std::numeric_limits<double>::epsilon()) quaternion /= norm;
}

}  // namespace

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
