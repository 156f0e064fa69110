#include "trammel/integrate/split/split.h"
#include "trammel/formulate/formulation_keys.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "trammel/base/archive.h"
#include "trammel/base/team.h"
#include "trammel/equations/row_masses.h"
#include "trammel/integrate/count_factors.h"
#include "trammel/integrate/hermite_motion.h"
#include "trammel/integrate/methods.h"

namespace trammel {
namespace {

NewtonMonitor::Options newton_options(const SplitOptions& options) {
  NewtonMonitor::Options newton;
  newton.c = 1;
  newton.most_iterations = 25;
  newton.keep_rate = options.keep_rate;
  newton.trust_rate = false;
  return newton;
}

}  // namespace

SplitMethod::SplitMethod(const Equations& equations, const SplitOptions& options)
    : MotionIntegrator(equations, options.tolerance),
      options_(options),
      monitor_(newton_options(options)),
      saddle_(options.all_implicit ? SaddleSystem(equations) : SaddleSystem(equations, equations.implicit_slots())),
      partials_(equations.make_partials(Detail::all)),
      residual_(equations.make_residual()),
      explicit_work_(equations.make_workspace()) {
  if (const int bends = equations.body_with_varying_mass(); bends >= 0)
    throw Failure({Severity::error,
                   "method-refuses",
                   "split methods need a constant mass matrix and no stiffness outside of forces: body '" +
                       equations.model().bodies[bends].name + "' bends",
                   "take hht-i3, bdf-si2, radau-iia-3 or rosenbrock-nystrom-4",
                   {}});
  if (!options_.all_implicit) {
    work_.without_gyroscopic = true;
    work_.without_derivatives.resize(equations.force_count());
    for (int i = 0; i < equations.force_count(); ++i) work_.without_derivatives[i] = !equations.is_implicit(i);
  }
  if (options_.threads > 1) {
    explicit_work_.team = std::make_shared<Team>(options_.threads);
    if (options_.all_implicit) work_.team = explicit_work_.team;
  }
  for (Vec* v : {&force_a_, &delta_, &part_delta_, &Ma_, &explicit_a_, &trial_explicit_a_}) v->setZero(nv_);
  z_.setZero(nv_ + ng_);
  gdot_.setZero(ng_);
  softness_.setZero(ng_);
  T_.resize(equations.rotation_columns().size());
  still_ = equations.make_rates();
  const bool by_stiffness = options_.control == SplitControl::stability || options_.control == SplitControl::printed;
  if (options_.composition != Composition::none || (!options_.fixed_step && by_stiffness)) {
    mass_ = std::make_unique<SaddleSystem>(equations, equations.mass_slots());
    mass_partials_ = equations.make_partials(Detail::projection);
    equations.mass(equations.initial_state().q, mass_partials_);
    mass_->combine_mass(mass_partials_);  // G is left at zero
    mass_->factor();
  }
}

void SplitMethod::started() {
  part_ = now_;
  middle_q_ = explicit_q_ = trial_explicit_q_ = now_.q;
  middle_v_ = now_.v;
  last_step_ = matrix_h_ = 0;
  row_mass_ = row_masses(equations_, now_, work_);
  Force::Approach unused;
  sets_in_ = !equations_.force_that_sets_in_unseen().empty() || equations_.next_contact(now_, unused, work_);
  for (int i = 0; i < equations_.force_count(); ++i) sets_in_ = sets_in_ || equations_.is_implicit(i);
  if (!scales_steps()) return;
  wanted_ = scaled_step(now_);
  if (!(wanted_ > 0) || !std::isfinite(wanted_))
    throw Failure({Severity::error, "method-refuses",
                   "variable '" + equations_.model().variables[options_.scaling].name +
                       "' cannot scale the steps: it is not above 0 at the start",
                   "give it a form that is positive everywhere, as 1e-3 + dx(a)^2",
                   equations_.model().variables[options_.scaling].where});
}

// Rows are divided by s, the weight of G a in them; for beta = 0, where a has none, by that of beta = 1.
void SplitMethod::set_rows(double h) {
  tau_ = options_.time > 0 ? options_.time : 0.5 * h;
  row_scale_ = (options_.beta > 0 ? options_.beta : 1) * (options_.bend * h * h + tau_ * h);
  if (!options_.penalty) {
    softness_ = saddle_.E();
    return;
  }
  const double frequency = options_.frequency > 0 ? options_.frequency : 10 / h, w = 2 * std::numbers::pi * frequency;
  for (int i = 0; i < ng_; ++i) softness_[i] = 1 / (w * w * row_mass_[i] * row_scale_);
}

Verdict SplitMethod::evaluate_explicit(double t, const Vec& q, const Vec& v) {
  part_.t = t;
  part_.q = q;
  part_.v = v;
  if (equations_.residual(part_, still_, inertia | forces_explicit, residual_, explicit_work_) != Eval::ok)
    return Verdict::evaluation_rejected;
  force_a_ = residual_.force;
  ++counts_.explicit_evaluations;
  return std::isfinite(force_a_.sum()) ? Verdict::ok : Verdict::not_finite;
}

Verdict SplitMethod::kick(double h) {
  const Verdict verdict = evaluate_explicit(part_.t, middle_q_, middle_v_);
  if (verdict != Verdict::ok) return verdict;
  z_.setZero();
  z_.head(nv_) = -force_a_;
  mass_->solve(z_);
  middle_v_ += h * z_.head(nv_);
  force_a_.setZero();
  return Verdict::ok;
}

// Matrix drawn at SaddleSystem::combine_step.
Verdict SplitMethod::prepare_matrix(double h) {
  const double position = options_.beta * options_.bend * h * h, velocity = options_.beta * h;
  if (equations_.linearise(part_, trial_rates_, ng_ > 0 ? Detail::all : Detail::newton, partials_, work_) != Eval::ok)
    return Verdict::evaluation_rejected;
  ++counts_.linearisations;
  equations_.retract_derivative(part_delta_, T_);
  saddle_.combine_step(
      partials_,
      {position, velocity, position / row_scale_, tau_ * velocity / row_scale_, tau_ * position / row_scale_}, T_,
      softness_);
  ++counts_.combinations;
  const bool good = count_factors(saddle_, counts_);
  matrix_h_ = h;
  if (options_.keep_rate > 0) monitor_.forget_rate();
  if (good) return Verdict::ok;
  return std::isfinite(saddle_.values().sum()) ? Verdict::singular_matrix : Verdict::not_finite;
}

Verdict SplitMethod::step_implicit(double t, const Vec& q, const Vec& v, double h, Attempt& result) {
  const unsigned parts = options_.all_implicit ? static_cast<unsigned>(everything)
                                               : static_cast<unsigned>(joints) | static_cast<unsigned>(forces_implicit);
  const double bend = options_.bend * h * h, noise = 4 * equations_.round_off(q, scales_);
  set_rows(h);
  const bool keep = options_.keep_rate > 0 && matrix_h_ == h && !monitor_.slow();
  bool fresh = !keep, made_here = fresh;  // the next matrix; the last one
  trial_rates_.a = rates_.a;
  trial_rates_.lambda = rates_.lambda;
  part_.t = t + options_.beta * h;
  monitor_.begin(fresh);
  for (;;) {
    delta_ = h * v + bend * trial_rates_.a;
    part_delta_ = options_.beta * delta_;
    equations_.retract(q, part_delta_, part_.q);
    part_.v = v + (options_.beta * h) * trial_rates_.a;
    if (equations_.residual(part_, trial_rates_, parts, residual_, work_) != Eval::ok)
      return Verdict::evaluation_rejected;
    ++counts_.evaluations;
    if (!options_.all_implicit) equations_.multiply_mass(part_.q, trial_rates_.a, residual_.inertia);
    z_.head(nv_) = -(residual_.inertia + residual_.force + force_a_);
    if (ng_ > 0) {
      equations_.velocity_residual(part_, gdot_, work_);
      for (const int row : equations_.velocity_rows()) residual_.g[row] = 0;
      z_.tail(ng_) = softness_.cwiseProduct(trial_rates_.lambda) - (residual_.g + tau_ * gdot_) / row_scale_;
    }
    if (fresh) {
      const Verdict verdict = prepare_matrix(h);
      if (verdict != Verdict::ok) return verdict;
    }
    saddle_.solve(z_);
    ++counts_.solves;
    ++counts_.newton_iterations;
    trial_rates_.a += z_.head(nv_);
    trial_rates_.lambda += z_.tail(ng_);
    const double correction = 0.5 * h * h * z_.head(nv_).cwiseQuotient(scales_).lpNorm<Eigen::Infinity>();
    if (!std::isfinite(correction)) return Verdict::not_finite;
    const NewtonMonitor::Decision decision = monitor_.next(correction, options_.corrector, noise);
    ++result.newton_iterations;
    result.newton_rate = monitor_.rate();
    if (decision == NewtonMonitor::Decision::converged) break;
    if (decision == NewtonMonitor::Decision::diverged) {
      if (!made_here) {  // an old matrix may be to blame
        fresh = made_here = true;
        trial_rates_.a = rates_.a;
        trial_rates_.lambda = rates_.lambda;
        monitor_.begin(true);
        continue;
      }
      z_.head(nv_).cwiseQuotient(scales_).cwiseAbs().maxCoeff(&result.worst_velocity);
      if (ng_ > 0) residual_.g.cwiseAbs().maxCoeff(&result.worst_row);
      return Verdict::newton_diverged;
    }
    if (options_.keep_rate > 0 && fresh) fresh = false;
  }
  delta_ = h * v + bend * trial_rates_.a;
  trial_.v = v + h * trial_rates_.a;
  equations_.retract(q, delta_, trial_.q);
  return Verdict::ok;
}

Verdict SplitMethod::take_step(double h, Attempt& result) {
  force_a_.setZero();
  Verdict verdict = Verdict::ok;
  if (options_.composition == Composition::none) {
    if (!options_.all_implicit) {
      part_delta_ = (h * options_.alpha) * now_.v;
      equations_.retract(now_.q, part_delta_, trial_explicit_q_);
      middle_v_ = now_.v;
      if (options_.extrapolate_velocity && history_) middle_v_ += (options_.alpha * h) * rates_.a;
      verdict = evaluate_explicit(now_.t + options_.alpha * h, trial_explicit_q_, middle_v_);
      if (verdict != Verdict::ok) return verdict;
    }
    return step_implicit(now_.t, now_.q, now_.v, h, result);
  }
  const double part = options_.composition == Composition::bab ? 0.5 * h : h;
  verdict = step_implicit(now_.t, now_.q, now_.v, part, result);
  if (verdict != Verdict::ok) return verdict;
  middle_q_ = trial_.q;
  middle_v_ = trial_.v;
  part_.t = now_.t + part;
  verdict = kick(h);
  if (verdict != Verdict::ok) return verdict;
  if (options_.composition == Composition::bab) {
    verdict = step_implicit(now_.t + part, middle_q_, middle_v_, part, result);
    if (verdict != Verdict::ok) return verdict;
  } else {
    trial_.v = middle_v_;
  }
  return verdict;
}

Attempt SplitMethod::attempt(double h) {
  Attempt result;
  trial_h_ = h;
  trial_.t = now_.t + h;
  result.verdict = take_step(h, result);
  if (result.verdict != Verdict::ok) {
    matrix_h_ = 0;
    return result;
  }
  if (nx_ > 0) {
    // x' = f explicitly, as A: where and when A is evaluated.
    part_.t = now_.t + options_.alpha * h;
    part_delta_ = (h * options_.alpha) * now_.v;
    equations_.retract(now_.q, part_delta_, part_.q);
    part_.v = now_.v;
    if (equations_.state_rates(part_, trial_rates_.xdot, work_) != Eval::ok) {
      result.verdict = Verdict::evaluation_rejected;
      return result;
    }
    trial_.u.tail(nx_) = equations_.states_of(now_) + h * trial_rates_.xdot;
  }
  if (options_.fixed_step || options_.control == SplitControl::error)
    judge_error(h, result);
  else if (options_.control == SplitControl::stability)
    judge_stability(h, result);
  else
    result.verdict = options_.control == SplitControl::printed ? judge_printed(h, result) : judge_scaling(h, result);
  if (!std::isfinite(result.error)) result.verdict = Verdict::not_finite;
  const bool may_be_accepted = result.verdict == Verdict::ok && result.error <= 1;
  if (may_be_accepted && sets_in_ && !options_.fixed_step && options_.control == SplitControl::error)
    result.verdict = judge_end(h, result);
  if (turns_in_doubt(h)) result.verdict = Verdict::angle_too_large;
  return result;
}

// By Lemma 1 the local error of velocities is h^2/2 times a weighted a', at most half of h^2 a'; as an error of
// positions over a step h^3 a'/2, with a' from the accelerations of this step and the one before. Positions that bend
// by w h^2 a are (w - 1/2) h^2 a off besides, of one sign in a steady acceleration.
void SplitMethod::judge_error(double h, Attempt& result) const {
  const double apart = history_ ? 0.5 * (h + last_step_) : options_.alpha > 0 ? options_.alpha * h : 0.5 * h;
  double sum = 0, worst = 0;
  for (int i = 0; i < nv_; ++i) {
    const double e = (0.5 * h * h * h / apart * std::abs(trial_rates_.a[i] - rates_.a[i]) +
                      std::abs(options_.bend - 0.5) * h * h * std::abs(trial_rates_.a[i])) /
                     scales_[i];
    sum += e * e;
    if (e * e > worst) {
      worst = e * e;
      result.worst_velocity = i;
    }
  }
  result.error = std::sqrt(sum / std::max(1, nv_)) / options_.tolerance;
}

// Forces are evaluated at parts alpha and beta of the step; one that sets in behind them acts for the rest of it. What
// forces at the end change the accelerations by counts as in judge_error, where half of it is smooth change.
Verdict SplitMethod::judge_end(double h, Attempt& result) {
  if (equations_.residual(trial_, trial_rates_, everything, residual_, work_) != Eval::ok)
    return Verdict::evaluation_rejected;
  ++counts_.evaluations;
  if (!options_.all_implicit) ++counts_.explicit_evaluations;
  z_.setZero();
  z_.head(nv_) = -(residual_.inertia + residual_.force);
  saddle_.solve(z_);
  ++counts_.solves;
  int worst = -1;
  const double unseen = 0.5 * h * h * z_.head(nv_).cwiseQuotient(scales_).norm() /
                        (std::sqrt(static_cast<double>(std::max(1, nv_))) * options_.tolerance);
  if (!std::isfinite(unseen)) return Verdict::not_finite;
  if (unseen <= 1) return Verdict::ok;
  result.error = unseen;
  z_.head(nv_).cwiseQuotient(scales_).cwiseAbs().maxCoeff(&worst);
  result.worst_velocity = worst;
  return Verdict::ok;
}

// SPLIT (14), (15): h = epsilon / sqrt(sigma), sigma the stiffness of A by mass in the direction of the motion, here by
// the secant from the last step, which costs no evaluation of A. A step that went too far is rejected, growth is
// bounded, and a contact that is about to close is met with a small step: while it is open, sigma does not see it.
void SplitMethod::judge_stability(double h, Attempt& result) {
  z_.setZero();
  z_.head(nv_) = -force_a_;
  mass_->solve(z_);
  trial_explicit_a_ = z_.head(nv_);
  double wanted = options_.greatest_step;
  if (history_) {
    equations_.local(explicit_q_, trial_explicit_q_, part_delta_);
    const double moved = part_delta_.cwiseQuotient(scales_).norm(),
                 changed = (trial_explicit_a_ - explicit_a_).cwiseQuotient(scales_).norm();
    if (changed > 0 && moved > 0) wanted = std::min(wanted, options_.epsilon * std::sqrt(moved / changed));
  }
  const bool too_far = h > 1.5 * wanted;
  result.error = too_far ? 2 : 0.5;
  if (!too_far) {
    Force::Approach next;
    if (equations_.next_contact(trial_, next, explicit_work_) && std::isfinite(next.time)) {
      // Met with the step that its stiffness at the greatest depth e asks for: m v^2/2 = K e^(p+1)/(p+1).
      const double m = next.rotation ? equations_.least_nonzero_inertia() : equations_.least_nonzero_mass(),
                   p = next.exponent,
                   e = std::pow(0.5 * (p + 1) * m * next.speed * next.speed / next.stiffness, 1 / (p + 1)),
                   k = p * next.stiffness * std::pow(e, p - 1), least = options_.epsilon * std::sqrt(m / k);
      if (std::isfinite(least)) wanted = std::min(wanted, std::max(0.9 * next.time, least));
    }
    wanted = std::min(wanted, 2 * h);
  }
  result.suggested_h = wanted;
}

// SPLIT (15) to the letter: sigma = |A_{n+alpha} - A_n| / (h |alpha| |v_n|), a second evaluation of A, and the next
// step epsilon / sqrt(sigma), whatever came of this one. A contact that is open has no part in it.
Verdict SplitMethod::judge_printed(double h, Attempt& result) {
  z_.setZero();
  z_.head(nv_) = -force_a_;
  const Verdict verdict = evaluate_explicit(now_.t, now_.q, now_.v);
  if (verdict != Verdict::ok) return verdict;
  z_.head(nv_) += force_a_;
  mass_->solve(z_);
  const double changed = z_.head(nv_).cwiseQuotient(scales_).norm(),
               moved = std::abs(options_.alpha * h) * now_.v.cwiseQuotient(scales_).norm();
  result.suggested_h = options_.greatest_step;
  if (changed > 0 && moved > 0)
    result.suggested_h = std::min(result.suggested_h, options_.epsilon * std::sqrt(moved / changed));
  result.error = 0.5;
  return Verdict::ok;
}

bool SplitMethod::scales_steps() const {
  return !options_.fixed_step &&
         (options_.control == SplitControl::scaling || options_.control == SplitControl::reversible);
}

double SplitMethod::scaled_step(const State& state) {
  equations_.update(state, explicit_work_);
  return options_.epsilon * equations_.variables_of(explicit_work_)[static_cast<std::size_t>(options_.scaling)];
}

// SPLIT (14), h = epsilon s(z_n). The reversible rule is that of Huang and Leimkuhler, explicit: with h_n = epsilon
// s(z_n) the steps before and behind z_n obey
//
//   1/h_{n-1/2} + 1/h_{n+1/2} = 2/h_n,
//
// which reads the same both ways; a run back starts with the last step of the run there. So the first step is taken as
// it comes if it is near h_n. One that somebody else cut counts with what the rule had wanted, and where the rule would
// leave half to twice of h_n it starts anew.
Verdict SplitMethod::judge_scaling(double h, Attempt& result) {
  const bool reversible = options_.control == SplitControl::reversible, first = !history_;
  const double most = reversible && first ? 1.5 : 1 + 1e-9;
  if (h > most * wanted_) {
    result.error = 2;
    result.suggested_h = wanted_;
    return Verdict::ok;
  }
  const double here = scaled_step(trial_);
  if (!(here > 0) || !std::isfinite(here)) return Verdict::evaluation_rejected;
  trial_wanted_ = here;
  if (reversible) {
    const bool own = first ? h > wanted_ / 1.5 : h > wanted_ * (1 - 1e-9);
    const double ratio = 2 - here / (own ? h : wanted_);  // of h_n to the step behind it
    if (ratio > 0.5 && ratio < 2) trial_wanted_ = here / ratio;
  }
  result.error = 0.5;
  result.suggested_h = trial_wanted_;
  return Verdict::ok;
}

void SplitMethod::leaving() {
  if (options_.composition != Composition::none) trial_rates_.a = (trial_.v - now_.v) / trial_h_;
}

void SplitMethod::arrived() {
  explicit_q_.swap(trial_explicit_q_);
  explicit_a_.swap(trial_explicit_a_);
  if (nx_ > 0) part_.u = now_.u;
  part_.memory = now_.memory;
  wanted_ = trial_wanted_;
  history_ = true;
}

void SplitMethod::interpolate_inside(double t, double s, State& out) const {
  hermite_motion(equations_, s, last_step_, previous_q_, previous_v_, now_.q, now_.v, out);
  if (nx_ > 0) out.u.tail(nx_) += (t - now_.t) * rates_.xdot;
}

std::string SplitMethod::remark() const {
  if (options_.all_implicit) return "";
  return "part A " + std::to_string(counts_.explicit_evaluations) + " evaluations, part B " +
         std::to_string(counts_.evaluations);
}

void SplitMethod::visit_method(Archive& archive) {
  archive(row_mass_, explicit_q_, explicit_a_, matrix_h_, wanted_, history_, monitor_, saddle_);
  if (archive.reading()) part_ = now_;
}

long SplitMethod::memory_bytes() const {
  return saddle_.memory_bytes() + (mass_ ? mass_->memory_bytes() : 0) +
         8L * (4 * equations_.vv().size() + 6 * equations_.gv().size() + 30 * nv_ + 6 * ng_);
}

// ---- descriptions

namespace methods {
namespace {

std::vector<Field> common_split_options() {
  return {
      {"corrector", FieldKind::number, Quantity::none, 1e-10,
       "Newton stops when a correction of the positions is this part of the length scale. Smaller if results change "
       "with it.",
       1e-15, 1e-2},
      {"keep_rate", FieldKind::number, Quantity::none, 0.1,
       "Derivatives of B are kept from step to step while corrections contract by this factor or better; 0 evaluates "
       "them for each correction.",
       0, 0.9},
      {"threads", FieldKind::number, Quantity::none, 1.0,
       "That evaluate forces side by side; results do not depend on it. More than 1 if contacts are expensive.", 1, 64},
  };
}

SplitOptions read_split_options(const MethodSettings& s) {
  SplitOptions options;
  options.penalty = s.formulation != formulation::index_2_relaxed;
  if (s.options.has("penalty_frequency")) options.frequency = s.options.number("penalty_frequency");
  if (s.options.has("penalty_time")) options.time = s.options.number("penalty_time");
  options.tolerance = s.tolerance;
  options.fixed_step = s.fixed_step;
  options.corrector = s.options.number("corrector");
  options.keep_rate = s.options.number("keep_rate");
  options.threads = static_cast<int>(s.options.number("threads"));
  return options;
}

// What goes into `control`, in this order.
constexpr const char* controls[] = {"error", "stability", "printed", "scaling", "reversible"};

// The variable that scales steps: the user's own s(q, v).
int scaling_variable(const Equations& e, const std::string& name) {
  const int found = e.model().find_variable(name);
  if (found >= 0) return found;
  throw Failure({Severity::error,
                 "method-refuses",
                 "option 'scaling' of split names variable '" + name + "', which the model does not have",
                 "write it under 'variables', as an expression of positions and velocities",
                 {}});
}

std::string refused_control(const OdeSettings& s) {
  const auto& composition = s.options.get<std::string>("composition");
  const auto& control = s.options.get<std::string>("control");
  const std::string& scaling = s.options.get<std::string>("scaling");
  if (composition != "none" && composition != "ab" && composition != "bab")
    return "composition is '" + composition + "', not none, ab or bab";
  if (std::find(std::begin(controls), std::end(controls), control) == std::end(controls))
    return "control is '" + control + "', not error, stability, printed, scaling or reversible";
  const bool scales = control == "scaling" || control == "reversible";
  if (scaling.empty() == scales)
    return scales ? "control by a scaling needs the name of a variable, option 'scaling'"
                  : "option 'scaling' has a meaning for control scaling and reversible only";
  if (s.fixed_step || control == "error") return "";
  if (composition != "none") return "a composition has no control but by error";
  if (scales) return "";
  if (control == "printed" && s.options.number("alpha") == 0)
    return "control printed compares A at alpha with A at the start, which are the same for alpha = 0";
  if (!(s.options.number("bound") > 0))
    return "control by stability looks at A only and cannot work without a largest step, option 'bound'";
  return "";
}

std::string caveat_of_split(const OdeSettings& s) {
  const auto& control = s.options.get<std::string>("control");
  const double alpha = s.options.number("alpha"), beta = s.options.number("beta");
  if (s.options.get<std::string>("composition") != "none")
    return "a composition leaves the constraints at each kick: velocities oscillate in proportion to h";
  if (beta < 0.5) return "with beta below 1/2 stiff parts of B, joints too, are unstable unless the step resolves them";
  if (!s.fixed_step && control == "printed")
    return "estimator (15) as printed does not see contacts that are open: they are entered at full step";
  if (!s.fixed_step && control == "reversible" &&
      (alpha != 0.5 || beta != 0.5 || s.options.get<bool>("extrapolate_velocity")))
    return "the rule of the step is reversible, the method only with alpha = beta = 1/2 and no extrapolation";
  return "";
}

}  // namespace

MethodInfo split() {
  MethodInfo m;
  m.key = "split";
  m.title = "Splitting: contacts and soft forces explicit, joints and stiff forces implicit";
  m.formulations = {formulation::penalty_joints, formulation::index_2_relaxed};
  m.source = "Modin, Fritzson, Fuehrer: Semiexplicit numerical integration by splitting (2007)";
  m.order = 1;
  m.error_order = 3;
  m.stiff = true;
  m.stability = "explicit in A: h^2 k <= 4 m; A-stable in B for beta >= 1/2";
  m.options = {
      {"alpha", FieldKind::number, Quantity::none, 0.5,
       "Where in the step A is evaluated; 1/2 keeps energy best. -1/2 has the critical damping of the exact motion.",
       -0.5, 1},
      {"beta", FieldKind::number, Quantity::none, 0.8,
       "Where in the step B is evaluated, from 1/2 (second order for A(q), stiff parts of B without damping of its own "
       "ring) to 1. Below 1/2 stiff parts of B grow; 0 takes B explicitly.",
       0, 1},
      {"extrapolate_velocity", FieldKind::boolean, Quantity::none, false,
       "A sees v_n + alpha h a of the step before instead of v_n: second order for alpha = beta = 1/2 if A depends on "
       "velocities too."},
      {"composition", FieldKind::text, Quantity::none, std::string("none"),
       "ab or bab: a kick by A and steps of B one after the other, for comparison; they leave oscillations of the "
       "velocities proportional to h."},
      {"control", FieldKind::text, Quantity::none, std::string("error"),
       "Of the step: error (by the tolerance); stability: h = epsilon / sqrt(stiffness of A by mass), and contacts "
       "about "
       "to close are seen; printed: the same by estimator (15) of the source; scaling: h = epsilon s with a variable s "
       "of "
       "the model; reversible: the same by a rule that runs backwards too."},
      {"epsilon", FieldKind::number, Quantity::none, 0.1, "Of all controls but by error; below 2 for stability.", 1e-6,
       2},
      {"scaling", FieldKind::text, Quantity::none, std::string(),
       "The variable of the model that scales the steps, s(q, v) > 0 in seconds."},
      {"bound", FieldKind::number, Quantity::time, 0.0,
       "Largest step of control by stability, which does not see the errors of B.", 0, 1e6},
  };
  for (Field& field : common_split_options()) m.options.push_back(std::move(field));
  m.refuses = refused_control;
  m.caveat = caveat_of_split;
  m.make = [](const Equations& e, const MethodSettings& s) {
    SplitOptions options = read_split_options(s);
    options.alpha = s.options.number("alpha");
    options.beta = s.options.number("beta");
    options.extrapolate_velocity = s.options.get<bool>("extrapolate_velocity");
    const auto& composition = s.options.get<std::string>("composition");
    options.composition = composition == "ab"    ? Composition::ab
                          : composition == "bab" ? Composition::bab
                                                 : Composition::none;
    options.control = static_cast<SplitControl>(
        std::find(std::begin(controls), std::end(controls), s.options.get<std::string>("control")) -
        std::begin(controls));
    if (const auto& scaling = s.options.get<std::string>("scaling"); !scaling.empty())
      options.scaling = scaling_variable(e, scaling);
    if (options.beta == 0 && !options.penalty && e.sizes().multipliers() > 0)
      throw Failure({Severity::error,
                     "method-refuses",
                     "with beta = 0 the accelerations have no part in true joints",
                     "take beta above 0, or 'formulation: penalty-joints'",
                     {}});
    if (const std::string force = e.force_that_sets_in_unseen();
        options.control == SplitControl::stability && !s.fixed_step && !force.empty())
      throw Failure({Severity::error,
                     "method-refuses",
                     "control by stability cannot see force '" + force +
                         "' coming: its expression may set in suddenly, where the stiffness of the last step was 0",
                     "take 'control: error', a contact or stop in its place, or 'part: implicit' for it",
                     {}});
    options.epsilon = s.options.number("epsilon");
    options.greatest_step = s.options.number("bound");
    return std::make_unique<SplitMethod>(e, options);
  };
  return m;
}

MethodInfo theta() {
  MethodInfo m;
  m.key = "theta";
  m.title = "One-leg theta method, everything implicit; for comparison with split";
  m.formulations = {formulation::penalty_joints, formulation::index_2_relaxed};
  m.source = "Hairer, Wanner: Solving Ordinary Differential Equations II; SPLIT section 6";
  m.order = 1;
  m.error_order = 2;
  m.stiff = true;
  m.stability = "A-stable for theta >= 1/2";
  m.options = {{"theta", FieldKind::number, Quantity::none, 0.6,
                "Where in the step the equations hold: 1/2 is the implicit midpoint rule, of second order, in which "
                "stiff parts ring; 1 damps most.",
                0.5, 1}};
  for (Field& field : common_split_options()) m.options.push_back(std::move(field));
  m.make = [](const Equations& e, const MethodSettings& s) {
    SplitOptions options = read_split_options(s);
    options.all_implicit = true;
    options.beta = options.bend = s.options.number("theta");
    return std::make_unique<SplitMethod>(e, options);
  };
  return m;
}

}  // namespace methods
}  // namespace trammel
