// Newton's method for (7.1) with the constraints kept: at a position on g = 0
//
//   [ K + mu D   G^T ] [ delta  ]   [ -f ]      K = (f + G^T lambda)_q,  D: weights of the size of K          (7.3)
//   [ G           0  ] [ lambda ] = [  0 ]
//
// then q := retract(q, t delta) and back to g = 0 with the least change. mu = 0 is Newton's step; a larger mu turns it
// into a short step against the unbalanced force. mu grows while a step does not descend and falls after one that does.
// Descent is in the potential if all forces have one at rest, dead loads too, else in the unbalanced force.
#include "trammel/analyse/statics.h"

#include <algorithm>
#include <cmath>

#include "trammel/base/interruption.h"
#include "trammel/base/numbers.h"
#include "trammel/elements/forces/applied_wrench.h"
#include "trammel/initial/consistent.h"
#include "trammel/linalg/eigenvalues.h"
#include "trammel/rank/reduction.h"

namespace trammel {
namespace {

constexpr double least_mu = 1e-11;     // keeps a neutral direction from a zero pivot; moves it by round-off at most
constexpr double greatest_move = 0.5;  // of L or 1 rad in one iteration: angles of joints are followed
constexpr double greatest_load_move = 0.3;  // the same for the first iteration of a load step
constexpr int most_plain_iterations = 20;   // of Newton's method without safeguards
constexpr double least_plain_part = 0.02;   // of the load, which plain steps are given up for a damped descent below
constexpr int most_quick_iterations = 25;   // most mechanisms need fewer than 15
constexpr int most_dense = 1200;            // velocities up to which stability is judged by all eigenvalues

std::string with_unit(double value, const std::string& unit) {
  return digits(value, 4) + (unit.empty() ? "" : " " + unit);
}

// The model with its given forces and torques times an input more, the last: the part of them that acts. Nothing if it
// has none.
std::optional<Model> with_growing_loads(const Equations& equations) {
  Model grown = equations.model();
  std::string part = "part_of_loads";
  while (grown.find_input(part) >= 0) part += "_";
  bool any = false;
  for (int i = 0; i < equations.force_count(); ++i) {
    const auto* wrench = dynamic_cast<const AppliedWrench*>(&equations.force(i));
    if (wrench == nullptr || !wrench->is_load()) continue;
    any = true;
    Fields& fields = grown.forces[i].fields;
    for (const char* component : {"fx", "fy", "fz", "tx", "ty", "tz"}) {
      const Value* value = fields.find(component);
      if (value == nullptr) continue;
      if (const auto* number = std::get_if<double>(value)) {
        fields.set(component, ExpressionText{"(" + shortest(*number) + ")*" + part, {}});
      } else {
        const ExpressionText text = std::get<ExpressionText>(*value);
        fields.set(component, ExpressionText{"(" + text.text + ")*" + part, text.where});
      }
    }
  }
  if (!any) return std::nullopt;
  grown.inputs.push_back({part, "", 1, {}});
  return grown;
}

}  // namespace

const char* FreeDirection::force_unit() const {
  return quantity == Quantity::angle ? "N m" : quantity == Quantity::length ? "N" : "";
}

const char* FreeDirection::stiffness_unit() const {
  return quantity == Quantity::angle ? "N m/rad" : quantity == Quantity::length ? "N/m" : "";
}

const char* to_text(StaticWay way) {
  switch (way) {
    case StaticWay::automatic: return "automatic";
    case StaticWay::newton: return "newton";
    case StaticWay::load_steps: return "load-steps";
    case StaticWay::relaxation: return "relaxation";
  }
  return "";
}

const char* to_text(Stability stability) {
  switch (stability) {
    case Stability::unknown: return "unknown";
    case Stability::stable: return "stable";
    case Stability::neutral: return "neutral";
    case Stability::unstable: return "unstable";
  }
  return "";
}

std::vector<std::string> moving_parts(const Equations& equations, const Vec& direction, int most) {
  const Vec sizes = direction.cwiseQuotient(equations.scales()).cwiseAbs();
  std::vector<int> order;
  for (int i = 0; i < sizes.size(); ++i) order.push_back(i);
  const auto count = std::min(static_cast<std::size_t>(most), order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                    [&](int a, int b) { return sizes[a] > sizes[b] || (sizes[a] == sizes[b] && a < b); });
  std::vector<std::string> parts;
  for (std::size_t k = 0; k < count; ++k) {
    if (sizes[order[k]] < 0.2 * sizes[order[0]] || sizes[order[k]] == 0) break;
    parts.push_back(equations.name_of_velocity(order[k]));
  }
  return parts;
}

struct StaticSolver::Point {
  Vec f, r, lambda, d;  // f + G^T lambda = r with the lambda that leaves least of it; d = -D^-1 r, what would move
  double phi = 0;       // |r|, N (torques by L)
  double energy = 0;
};

struct StaticSolver::Search {
  State& state;
  Rates& rates;
  Workspace& work;
  const StaticOptions& options;
  StaticReport report;
  State start, best;
  Point first, at, best_at;  // at `start`, `state` and `best`
};

StaticSolver::StaticSolver(const Equations& equations)
    : equations_(equations),
      saddle_(equations, 1e-8, SaddleSystem::Keep::factors_only),
      tangent_(equations),
      partials_(equations.make_partials(Detail::newton)),
      residual_(equations.make_residual()),
      rates_(equations.make_rates()),
      weights_(equations.scales()),
      scales_(equations.scales()),
      hold_(Vec::Zero(equations.sizes().nv)),
      b_(Vec::Zero(saddle_.size())),
      z_(b_) {
  const double length = equations.length();
  for (double& w : weights_) w = equations.greatest_mass() * (length / w) * (length / w);
  for (int i = 0; i < equations.sizes().nv; ++i) diagonal_.push_back(equations.vv().slot(i, i));
}

// Sizes of the forces that act, before they cancel: weights and wrenches of elements.
double StaticSolver::force_scale(const State& state, Workspace& work) {
  const Model& model = equations_.model();
  const double length = equations_.length();
  double sum = 0;
  for (const Body& body : model.bodies) {
    if (kind_of(body).is_place) sum += std::pow(body.mass * model.gravity.norm(), 2);
  }
  equations_.update(state, work);
  std::vector<double> observed;
  for (int i = 0; i < equations_.force_count(); ++i) {
    double wrench[6 * max_frames] = {};
    const Force& force = equations_.force(i);
    observed.assign(force.observables().size() + 1, 0);
    equations_.observe_force(i, state, work, wrench, observed.data());
    for (int k = 0; k < 6 * force.frames() && k < 6 * max_frames; ++k)
      sum += std::pow(wrench[k] / (k % 6 < 3 ? 1.0 : length), 2);
  }
  return std::sqrt(sum);
}

bool StaticSolver::evaluate(const State& state, Workspace& work, Point& out) {
  const int nv = saddle_.velocities(), rows = saddle_.multipliers();
  rates_.a.setZero();
  rates_.lambda.setZero();
  if (equations_.residual(state, rates_, everything, residual_, work) != Eval::ok) return false;
  out.f = residual_.force - hold_;
  if (!std::isfinite(out.f.sum())) return false;
  equations_.jacobian(state, partials_, work);
  saddle_.combine_projection(weights_, partials_.G, Level::velocity);
  if (!saddle_.factor()) return false;
  b_.head(nv) = -out.f;
  b_.tail(rows).setZero();
  saddle_.solve_refined(b_, z_);
  if (!std::isfinite(z_.sum())) return false;
  out.d = z_.head(nv);
  out.lambda = z_.tail(rows);
  out.r = out.f;
  equations_.gv().transpose_multiply_add(partials_.G, 1, out.lambda.data(), out.r.data());
  out.phi = out.r.cwiseProduct(scales_).norm() / equations_.length();
  out.energy = 0;
  if (!conservative_) return true;
  const std::optional<double> potential = equations_.potential_at_rest(state, work);
  out.energy = potential.value_or(0);
  return potential.has_value();
}

bool StaticSolver::return_to_constraints(State& state, Workspace& work) {
  const int nv = saddle_.velocities(), rows = saddle_.multipliers();
  if (rows == 0) return true;
  const double small = 1e-14 * equations_.length(), enough = std::max(1e-10 * equations_.length(), 2 * misfit_);
  double before = 0;
  for (int i = 0; i < 12; ++i) {
    if (equations_.residual(state, rates_, joints, residual_, work) != Eval::ok) return false;
    for (const int row : equations_.velocity_rows()) residual_.g[row] = 0;
    const double size = residual_.g.size() > 0 ? residual_.g.lpNorm<Eigen::Infinity>() : 0;
    if (!std::isfinite(size)) return false;
    if (size <= small || (i > 0 && size <= enough && size > 0.3 * before)) return true;
    if (i > 6 && size > before) return false;
    before = size;
    equations_.jacobian(state, partials_, work);
    saddle_.combine_projection(weights_, partials_.G, Level::velocity);
    if (!saddle_.factor()) return false;
    b_.setZero();
    b_.tail(rows) = -residual_.g;
    saddle_.solve_refined(b_, z_, 2);
    if (!std::isfinite(z_.sum())) return false;
    q_ = state.q;
    equations_.retract(q_, z_.head(nv), state.q);
  }
  return before <= enough;
}

bool StaticSolver::factor_tangent(const State& state, const Point& at, double mu, Workspace& work) {
  const int nv = saddle_.velocities();
  rates_.a.setZero();
  rates_.lambda = at.lambda;
  if (equations_.linearise(state, rates_, Detail::newton, partials_, work) != Eval::ok) return false;
  const Pattern& vv = equations_.vv();
  const double length = equations_.length();
  stiffness_ = 0;
  for (int j = 0; j < nv; ++j) {
    for (int p = vv.start()[j]; p < vv.start()[j + 1]; ++p) {
      stiffness_ =
          std::max(stiffness_, std::abs(partials_.force_q[p]) * scales_[j] * scales_[vv.row()[p]] / (length * length));
    }
  }
  if (!std::isfinite(stiffness_)) return false;
  // mu is relative to the stiffness, or to what the forces over L would be if there is none.
  mu_unit_ = std::max(stiffness_, 1e-6 * scale_ / length + 1e-300) / equations_.greatest_mass();
  A_ = partials_.force_q;
  for (int i = 0; i < nv; ++i) A_[diagonal_[i]] += mu * mu_unit_ * weights_[i];
  return tangent_.factor(A_, partials_.G);
}

bool StaticSolver::newton_step(const State& state, const Point& at, double mu, Workspace& work, Vec& step) {
  const int nv = saddle_.velocities(), rows = saddle_.multipliers();
  if (!factor_tangent(state, at, mu, work)) return false;
  b_.head(nv) = -at.f;
  b_.tail(rows).setZero();
  if (!tangent_.solve(b_, z_)) return false;
  step = z_.head(nv);
  return true;
}

bool StaticSolver::balanced(const Point& at, const StaticOptions& options) const {
  return at.phi <= options.tolerance * scale_ || at.phi == 0;
}

bool StaticSolver::descend(State& state, Point& at, Workspace& work, const StaticOptions& options, bool by_energy,
                           StaticReport& report) {
  Vec step;
  Point next;
  double mu = least_mu;
  const double noise = 1e-13 * (scale_ * equations_.length() + std::abs(at.energy));
  for (int i = 0; i < options.most_iterations; ++i) {
    if (balanced(at, options)) return true;
    if (interruption_asked()) return false;
    bool moved = false;
    double largest = 0;
    for (int attempt = 0; attempt < 40 && !moved; ++attempt) {
      if (attempt > 0) mu = std::max(8 * mu, 1e-9);
      if (!newton_step(state, at, mu, work, step)) continue;
      const double slope = step.dot(at.r);
      if (!(slope < 0)) continue;
      largest = step.cwiseQuotient(scales_).lpNorm<Eigen::Infinity>();
      const double fraction = std::min(1.0, greatest_move / largest);
      State trial = state;
      equations_.retract(state.q, fraction * step, trial.q);
      if (!return_to_constraints(trial, work) || !evaluate(trial, work, next)) continue;
      ++report.iterations;
      if (by_energy) {
        const double gain = at.energy - next.energy;
        moved = gain >= -1e-4 * fraction * slope || (gain > -noise && -slope < 100 * noise && next.phi < at.phi);
      } else {
        moved = next.phi < (1 - 1e-4 * fraction) * at.phi;
      }
      if (!moved) {
        if (largest < 1e-13) break;
        continue;
      }
      equations_.accept(trial, work);
      state = trial;
      std::swap(at, next);
      mu = std::max(mu / 10, least_mu);
    }
    // Steps of round-off size that no longer help: as good as it gets.
    if (!moved) return at.phi <= std::max(options.tolerance, 1e-7) * scale_ && largest < 1e-8;
  }
  return balanced(at, options);
}

// Newton's method as it is, for a start close to the solution. On the way to a bent position the unbalanced force may
// rise by powers of ten (a step along the tangent stretches what is stiff), so no merit function may forbid that.
bool StaticSolver::converge(State& state, Point& at, Workspace& work, const StaticOptions& options,
                            StaticReport& report) {
  Vec step;
  for (int i = 0; i < most_plain_iterations; ++i) {
    if (balanced(at, options)) return true;
    if (interruption_asked()) return false;
    if (!newton_step(state, at, least_mu, work, step)) return false;
    const double largest = step.cwiseQuotient(scales_).lpNorm<Eigen::Infinity>();
    State trial = state;
    equations_.retract(state.q, std::min(1.0, greatest_move / largest) * step, trial.q);
    Point next;
    if (!return_to_constraints(trial, work) || !evaluate(trial, work, next)) return false;
    ++report.iterations;
    equations_.accept(trial, work);
    state = trial;
    // Steps of round-off size that no longer help: as good as it gets.
    const bool stands = largest < 1e-13 || (largest < 1e-8 && next.phi > 0.5 * at.phi);
    std::swap(at, next);
    if (stands) return at.phi <= std::max(options.tolerance, 1e-7) * scale_;
  }
  return balanced(at, options);
}

// Given forces and torques grow from nothing, in the directions that they have where the mechanism is: followers stay
// on the way of their equilibria.
bool StaticSolver::step_loads(State& state, Point& at, Workspace& work, const StaticOptions& options,
                              StaticReport& report) {
  const std::optional<Model> growing = with_growing_loads(equations_);
  if (!growing) return release(state, at, work, -1, options, report);
  const Equations grown(*growing);
  Workspace grown_work = grown.make_workspace();
  StaticSolver solver(grown);
  solver.scale_ = scale_;
  solver.misfit_ = misfit_;
  State grown_state = state;
  const int load = static_cast<int>(state.u.size());
  grown_state.u.conservativeResize(load + 1);
  Point grown_at;
  const bool reached = solver.release(grown_state, grown_at, grown_work, load, options, report);
  state.q = grown_state.q;
  state.memory = grown_state.memory;
  return evaluate(state, work, at) && reached;
}

// What is unbalanced at the start without the loads is carried by a hold: at part s of the loads, which the input
// `load` gives, the mechanism is in balance under (1 - s) of it.
bool StaticSolver::release(State& state, Point& at, Workspace& work, int load, const StaticOptions& options,
                           StaticReport& report) {
  const auto set_load = [load](State& of, double part) {
    if (load >= 0) of.u[load] = part;
  };
  set_load(state, 0);
  if (!evaluate(state, work, at)) return false;
  const Vec first = at.r;
  StaticOptions inner = options;
  inner.most_iterations = std::min(options.most_iterations, 40);
  Vec step;
  double s = 0, ds = 1;
  while (s < 1 && !interruption_asked()) {
    const double next = std::min(1.0, s + ds);
    hold_ = (1 - next) * first;
    State trial = state;
    set_load(trial, next);
    Point point;
    inner.tolerance = next < 1 ? std::max(options.tolerance, 1e-6) : options.tolerance;
    bool fine = evaluate(trial, work, point);
    // The first step tells how far the load would lead: beyond a third of a radian the way back is long.
    if (fine && ds > least_plain_part && newton_step(trial, point, least_mu, work, step)) {
      const double largest = step.cwiseQuotient(scales_).lpNorm<Eigen::Infinity>();
      if (largest > greatest_load_move) {
        ds = std::max(0.9 * greatest_load_move / largest * (next - s), 0.5 * least_plain_part);
        continue;
      }
    }
    fine = fine && converge(trial, point, work, inner, report);
    if (!fine && ds < least_plain_part) {  // where nothing is stiff, a pendulum held level, a plain step leads nowhere
      trial = state;
      set_load(trial, next);
      fine = evaluate(trial, work, point) && descend(trial, point, work, inner, false, report);
    }
    if (fine) {
      state = trial;
      at = point;
      s = next;
      ds *= 1.6;
      ++report.load_steps;
    } else {
      ds /= 3;
      if (ds < 1e-3) break;
    }
  }
  hold_.setZero();
  const bool reached = s >= 1;
  if (!reached) evaluate(state, work, at);
  return reached;
}

// Backward Euler on D q' = -(f + G^T lambda), the step size 1/mu growing as the unbalanced force falls:
// pseudo-transient continuation. No merit function, so it climbs out of what stops the others; it moves away from
// unstable positions.
bool StaticSolver::relax(State& state, Point& at, Workspace& work, const StaticOptions& options, StaticReport& report) {
  Vec step;
  Point next;
  double mu = 0.1;
  for (int i = 0; i < 3 * options.most_iterations; ++i) {
    if (balanced(at, options)) return true;
    if (interruption_asked()) return false;
    bool moved = false;
    for (int attempt = 0; attempt < 20 && !moved; ++attempt) {
      if (attempt > 0) mu *= 5;
      if (!newton_step(state, at, mu, work, step) || !(step.dot(at.r) < 0)) continue;
      const double largest = step.cwiseQuotient(scales_).lpNorm<Eigen::Infinity>();
      State trial = state;
      equations_.retract(state.q, std::min(1.0, 0.5 * greatest_move / largest) * step, trial.q);
      if (!return_to_constraints(trial, work) || !evaluate(trial, work, next)) continue;
      equations_.accept(trial, work);
      state = trial;
      moved = true;
      ++report.iterations;
    }
    if (!moved) return false;
    mu = std::max(least_mu, mu * std::clamp(next.phi / std::max(at.phi, 1e-300), 0.2, 3.0));
    std::swap(at, next);
  }
  return balanced(at, options);
}

FreeDirection StaticSolver::describe_direction(const Vec& direction, const Vec& unbalanced) const {
  FreeDirection out;
  Eigen::Index at = 0;
  direction.cwiseQuotient(scales_).cwiseAbs().maxCoeff(&at);
  if (direction[at] == 0) return out;
  const Vec u = direction / direction[at];
  Vec Ku = Vec::Zero(u.size());
  equations_.vv().multiply_add(partials_.force_q, 1, u.data(), Ku.data());
  out.stiffness = u.dot(Ku);
  out.unbalanced = -u.dot(unbalanced);
  out.parts = moving_parts(equations_, u);
  out.quantity = equations_.quantity_of_velocity(static_cast<int>(at));
  return out;
}

// What a model writes to hold a direction: "initial: {bodies: {stone: {keep: [position.z]}}}".
std::string StaticSolver::text_of_keep(int velocity) const {
  const int index = equations_.body_of_velocity(velocity);
  const Body& body = equations_.model().bodies[index];
  const BodyDescription& kind = kind_of(body);
  if (!kind.is_place) return "initial: {coordinates: {" + body.name + ": {keep: [value]}}}";
  const int part = std::max(0, equations_.velocity(velocity).part);
  const std::string axis(1, "xyz"[part % 3]);
  return "initial: {bodies: {" + body.name + ": {keep: [" +
         (part < 3 ? "position." + axis : "orientation" + (kind.is_planar ? "" : "." + axis)) + "]}}}";
}

void StaticSolver::name_runaway(const State& state, const Point& at, Workspace& work, StaticReport& report) {
  Vec step;
  newton_step(state, at, 1, work, step);  // for the stiffness
  report.weak.assign(1, describe_direction(at.d, at.r));
  const FreeDirection& way = report.weak[0];
  if (way.parts.empty()) return;
  const bool turns = way.quantity == Quantity::angle;
  report.why = way.parts[0] + " is left with an unbalanced " + (turns ? "torque" : "force") + " of " +
               digits(std::abs(way.unbalanced), 4) + " " + way.force_unit();
  const double none = 1e-9 * std::max(stiffness_, scale_ / equations_.length());
  if (std::abs(way.stiffness) <= none * (turns ? equations_.length() * equations_.length() : 1.0)) {
    report.why += ", and nothing holds it in that direction";
    Eigen::Index most = 0;
    at.d.cwiseQuotient(scales_).cwiseAbs().maxCoeff(&most);
    report.advice = "hold it by a joint or a spring; or, if it may stay where it is, by `" +
                    text_of_keep(static_cast<int>(most)) + "`";
    return;
  }
  report.advice =
      "draw the model nearer to the position meant; or let the loads grow with time, `fz: \"-500*time\"`, and follow "
      "them "
      "with `trammel quasi-static`";
  if (way.stiffness < 0) {
    report.why += ", and moving away from there makes it grow";
  } else {
    report.why += ", and the iteration does not get closer";
  }
}

// Along directions that nothing holds Newton's steps are round-off divided by least_mu. The change since the start
// gives back its part in them, d, from
//
//   [ K + mu D   G^T ] [ d ]   [ mu D change ]
//   [ G           0  ] [ . ] = [      0      ]
//
// which keeps what nothing holds and divides what a stiffness k holds by 1 + k/mu; taken eight times. mu = 1e-10 left a
// vehicle on bushings 2e-10 rad of yaw, 1e-7 leaves nothing.
void StaticSolver::take_back_drift(const State& start, State& state, Point& at, Workspace& work,
                                   const StaticOptions& options) {
  const int nv = saddle_.velocities();
  if (nv == 0) return;
  Vec d(nv);
  Point next;
  // The part of the change in neutral directions; a larger mu where a smaller one leaves the matrix too near singular.
  const auto drift = [&] {
    for (const double mu : {1e-7, 1e-5}) {
      equations_.local(start.q, state.q, d);
      b_.setZero();
      bool solved = factor_tangent(state, at, mu, work);
      for (int k = 0; k < 8 && solved; ++k) {
        b_.head(nv) = mu * mu_unit_ * weights_.cwiseProduct(d);
        solved = tangent_.solve(b_, z_);
        d = z_.head(nv);
      }
      if (solved) return true;
    }
    return false;
  };
  for (int round = 0; round < 12; ++round) {
    if (!drift() || d.cwiseQuotient(scales_).lpNorm<Eigen::Infinity>() < 1e-16) return;
    State trial = state;
    equations_.retract(state.q, -d, trial.q);
    if (!return_to_constraints(trial, work) || !evaluate(trial, work, next)) return;
    if (next.phi > at.phi && !balanced(next, options)) return;  // a weak stiffness does hold it
    equations_.accept(trial, work);
    state = trial;
    std::swap(at, next);
  }
}

namespace {

// The first force that cannot be evaluated, by name.
std::string unusable_force(const Equations& equations, const State& state, const Workspace& work) {
  std::vector<double> observed;
  for (int i = 0; i < equations.force_count(); ++i) {
    double wrench[6 * max_frames] = {};
    observed.assign(equations.force(i).observables().size() + 1, 0);
    if (!equations.observe_force(i, state, work, wrench, observed.data()))
      return "force '" + equations.model().forces[i].name + "'";
  }
  return "a force";
}

}  // namespace

// The forces that act at the start, which all tolerances refer to. False: a force cannot be evaluated there.
bool StaticSolver::begin(Search& s) {
  s.state.v.setZero();
  hold_.setZero();
  s.start = s.state;
  rates_.lambda.setZero();
  misfit_ = 0;
  conservative_ = equations_.potential_at_rest(s.state, s.work).has_value();
  const bool evaluated = equations_.residual(s.state, rates_, joints, residual_, s.work) == Eval::ok;
  for (const int row : equations_.velocity_rows()) residual_.g[row] = 0;
  if (evaluated && residual_.g.size() > 0) misfit_ = residual_.g.lpNorm<Eigen::Infinity>();
  scale_ = s.report.scale = force_scale(s.state, s.work);
  if (!evaluate(s.state, s.work, s.at)) {
    s.report.why = unusable_force(equations_, s.state, s.work) +
                   " cannot be evaluated at the start (ends that coincide, or a turn by half a revolution?)";
    return false;
  }
  scale_ = s.report.scale = std::max(scale_, s.at.f.cwiseProduct(scales_).norm() / equations_.length());
  s.first = s.at;
  s.best = s.state;
  s.best_at = s.at;
  return true;
}

void StaticSolver::return_to_start(Search& s) {
  s.state = s.start;
  s.at = s.first;
  scale_ = s.report.scale;
}

// Notes how a way went, and keeps its position if it is the best so far; returns `found`.
bool StaticSolver::note(Search& s, StaticWay way, bool found) {
  s.report.way = way;
  s.report.attempts.push_back(std::string(to_text(way)) + ": " + (found ? "found" : "not found") + ", " +
                              std::to_string(s.report.iterations) + " iterations so far, unbalanced force " +
                              digits(s.at.phi, 4) + " of " + digits(scale_, 4) + " N");
  if (s.at.phi <= s.best_at.phi || s.best.q == s.start.q) {
    s.best = s.state;
    s.best_at = s.at;
  }
  return found;
}

bool StaticSolver::try_ways(Search& s) {
  const StaticOptions& options = s.options;
  const bool any = options.way == StaticWay::automatic;
  bool found = false;
  // Descent along a curved valley (a beam that bends far) is safe and slow; before that many steps, load steps are
  // tried.
  StaticOptions quick = options;
  quick.most_iterations = std::min(options.most_iterations, most_quick_iterations);
  if (any || options.way == StaticWay::newton) {
    found = note(s, StaticWay::newton, descend(s.state, s.at, s.work, any ? quick : options, conservative_, s.report));
  }
  if (!found && (any || options.way == StaticWay::load_steps)) {
    return_to_start(s);
    found = note(s, StaticWay::load_steps, step_loads(s.state, s.at, s.work, options, s.report));
  }
  if (!found && any) {
    return_to_start(s);
    found = note(s, StaticWay::newton, descend(s.state, s.at, s.work, options, conservative_, s.report));
  }
  if (!found && (any || options.way == StaticWay::relaxation)) {
    return_to_start(s);
    found = note(s, StaticWay::relaxation, relax(s.state, s.at, s.work, options, s.report));
  }
  return found;
}

// Multipliers, residuals and the way from the start, of the position at which the search ends.
void StaticSolver::finish(Search& s) {
  StaticReport& report = s.report;
  if (report.found) take_back_drift(s.start, s.state, s.at, s.work, s.options);
  s.rates.a.setZero();
  s.rates.lambda = s.at.lambda;
  report.residual = s.at.phi;
  rates_.lambda = s.at.lambda;
  equations_.residual(s.state, rates_, joints, residual_, s.work);
  for (const int row : equations_.velocity_rows()) residual_.g[row] = 0;
  report.position_residual = residual_.g.size() > 0 ? residual_.g.lpNorm<Eigen::Infinity>() : 0;
  Vec change(s.state.v.size());
  equations_.local(s.start.q, s.state.q, change);
  report.moved = change.size() > 0 ? change.lpNorm<Eigen::Infinity>() : 0;
  Eigen::Index most = 0;
  if (change.size() == 0) return;
  change.cwiseAbs().maxCoeff(&most);
  report.moved_most = equations_.name_of_velocity(static_cast<int>(most));
  report.moved_unit = si_unit(equations_.quantity_of_velocity(static_cast<int>(most)));
}

// None of the ways led to an equilibrium: the report tells of the best position, and of what runs away there.
void StaticSolver::give_up(Search& s) {
  s.state = s.best;
  s.at = s.best_at;
  finish(s);
  if (interruption_asked()) {
    s.report.why = "the search was interrupted";
    return;
  }
  name_runaway(s.state, s.at, s.work, s.report);
  if (s.report.moved > 20 * equations_.length())
    s.report.why += "; " + s.report.moved_most + " has changed by " + with_unit(s.report.moved, s.report.moved_unit) +
                    " and would go on";
}

// An unstable position was found: where would the mechanism settle? If that is unstable too, the first one stays.
void StaticSolver::settle_elsewhere(Search& s) {
  const State unstable = s.state;
  const Rates unstable_rates = s.rates;
  const StaticReport unstable_report = s.report;
  return_to_start(s);
  s.report.weak.clear();
  if (relax(s.state, s.at, s.work, s.options, s.report)) {
    note(s, StaticWay::relaxation, true);
    s.report.attempts.back() += "; taken, because the position found before is unstable";
    finish(s);
    judge(s.state, s.rates, s.work, s.report);
    if (s.report.stability != Stability::unstable) return;
  }
  s.state = unstable;
  s.rates = unstable_rates;
  s.report = unstable_report;
}

StaticReport StaticSolver::solve(State& state, Rates& rates, Workspace& work, const StaticOptions& options) {
  if (equations_.sizes().nx > 0) {
    throw Failure({Severity::error, "states-in-statics",
                   "an equilibrium also asks the states to rest, and this analysis does not solve for them",
                   "give states their values at rest as constants, or let `trammel run` come to rest",
                   equations_.model().states[0].where},
                  ExitCode::bad_model);
  }
  if (!equations_.reactions_seen().empty())
    equations_.refuse_seen_rates("statics", "it evaluates all forces before it solves for reactions");
  Search s{state, rates, work, options, {}, {}, {}, {}, {}, {}};
  if (!begin(s)) return s.report;
  s.report.found = try_ways(s);
  if (!s.report.found) {
    give_up(s);
    return s.report;
  }
  finish(s);
  if (!options.judge_stability) return s.report;
  judge(state, rates, work, s.report);
  const bool others_left = options.way == StaticWay::automatic && s.report.way != StaticWay::relaxation;
  if (s.report.stability == Stability::unstable && others_left) settle_elsewhere(s);
  return s.report;
}

StaticReport find_equilibrium(const Equations& equations, State& state, Rates& rates, Workspace& work,
                              const StaticOptions& options) {
  if (!keeps_positions(equations.model())) return StaticSolver(equations).solve(state, rates, work, options);
  const Equations held(with_kept_positions(equations, state, work));
  Workspace held_work = held.make_workspace();
  State held_state = held.initial_state();
  held_state.t = state.t;
  held_state.q = state.q;
  held_state.u = state.u;
  held.start(held_state, held_work);
  Rates held_rates = held.make_rates();
  StaticReport report = StaticSolver(held).solve(held_state, held_rates, held_work, options);
  held.update(held_state, held_work);
  for (int c = equations.constraint_count(); c < held.constraint_count(); ++c) {
    Vec3 force, torque;
    held.reaction(c, held_state, held_rates, held_work, force, torque);
    const Item& motion = *held.constraint_info(c).item;
    const int body = held.model().frames[motion.frames[1]].body;
    report.kept.push_back("body '" + held.model().bodies[body].name + "': " +
                          (held.constraint(c).row_unit(0) == RowUnit::force ? digits(force.norm(), 4) + " N"
                                                                            : digits(torque.norm(), 4) + " N m"));
  }
  state.q = held_state.q;
  state.v.setZero();
  equations.start(state, work);
  rates.a.setZero();
  rates.lambda = held_rates.lambda.head(rates.lambda.size());
  return report;
}

void StaticSolver::judge(const State& state, const Rates& rates, Workspace& work, StaticReport& report) {
  rates_.a.setZero();
  rates_.lambda = rates.lambda;
  State rest = state;
  rest.v.setZero();
  if (equations_.linearise(rest, rates_, Detail::newton, partials_, work) != Eval::ok) return;
  if (scale_ <= 0) scale_ = 1;
  report.weak.clear();
  report.unstable_directions = report.neutral_directions = 0;
  if (equations_.sizes().nv > most_dense) {
    judge_large(report);
    return;
  }
  const Mat null = scaled_null_space(equations_.gv().dense(partials_.G), scales_);
  report.freedoms = static_cast<int>(null.cols());
  report.stability = Stability::stable;
  if (null.cols() == 0) return;
  const Mat basis = scales_.asDiagonal() * null;
  const Mat K = basis.transpose() * equations_.vv().dense(partials_.force_q) * basis;
  report.symmetric = (K - K.transpose()).norm() <= 1e-12 * K.norm() + 1e-6 * scale_ * equations_.length();
  const SymmetricEigen<Mat> eigen = symmetric_eigen(Mat(0.5 * (K + K.transpose())));
  const Vec& values = eigen.values;
  report.least_stiffness = values[0];
  const double none = 1e-12 * values.cwiseAbs().maxCoeff() + 1e-8 * scale_ * equations_.length();
  const Vec zero = Vec::Zero(basis.rows());
  for (Eigen::Index k = 0; k < values.size(); ++k) {
    if (values[k] > none) break;
    (values[k] < -none ? report.unstable_directions : report.neutral_directions) += 1;
    if (report.weak.size() < 5) report.weak.push_back(describe_direction(basis * eigen.vectors.col(k), zero));
  }
  if (report.neutral_directions > 0) report.stability = Stability::neutral;
  if (report.unstable_directions > 0) report.stability = Stability::unstable;
}

// By the signs of pivots; a shift of round-off size keeps neutral directions from zero ones.
void StaticSolver::judge_large(StaticReport& report) {
  A_ = partials_.force_q;
  const double shift = 1e-12 * std::max(stiffness_, scale_ / equations_.length()) / equations_.greatest_mass();
  for (int i = 0; i < saddle_.velocities(); ++i) A_[diagonal_[i]] += shift * weights_[i];
  const int negative = tangent_.factor(A_, partials_.G) ? tangent_.negative_directions() : -1;
  if (negative < 0) return;
  report.unstable_directions = negative;
  report.stability = negative > 0 ? Stability::unstable : Stability::stable;
}

std::string to_text(const StaticReport& r) {
  std::string out;
  const auto line = [&out](const std::string& name, const std::string& text) {
    out += "  " + name + std::string(name.size() < 16 ? 16 - name.size() : 1, ' ') + text + "\n";
  };
  const std::string force = digits(r.residual, 4) + " N of " + digits(r.scale, 4) + " N";
  if (!r.found) {
    line("equilibrium", "none found: " + r.why);
    for (const std::string& attempt : r.attempts) line("tried", attempt);
    for (const FreeDirection& way : r.weak) {
      std::string text;
      for (const std::string& part : way.parts) text += (text.empty() ? "" : ", ") + part;
      if (!text.empty()) line("free motion", text);
    }
    return out;
  }
  line("equilibrium",
       std::string("found by ") + to_text(r.way) + " in " + std::to_string(r.iterations) + " iterations");
  line("unbalanced", force);
  line("moved", r.moved > 0 ? with_unit(r.moved, r.moved_unit) + " at most (" + r.moved_most + ")" : "nothing");
  for (const std::string& kept : r.kept) line("kept", "by a hold on " + kept);
  if (r.stability != Stability::unknown) {
    std::string text = to_text(r.stability);
    if (r.freedoms == 0) text += ": no degrees of freedom";
    if (r.unstable_directions > 0) text += ", in " + std::to_string(r.unstable_directions) + " directions";
    if (r.neutral_directions > 0) text += ", nothing holds " + std::to_string(r.neutral_directions) + " directions";
    if (!r.symmetric) text += " (the stiffness is not symmetric: `trammel modes` decides)";
    line("stability", text);
  }
  for (const FreeDirection& way : r.weak) {
    std::string text;
    for (const std::string& part : way.parts) text += (text.empty() ? "" : ", ") + part;
    line(way.stiffness < -1e-9 * r.scale ? "unstable" : "neutral",
         text + " (" + with_unit(way.stiffness, way.stiffness_unit()) + ")");
  }
  return out;
}

}  // namespace trammel
