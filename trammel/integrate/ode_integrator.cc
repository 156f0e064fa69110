#include "trammel/integrate/ode_integrator.h"

#include <algorithm>
#include <cmath>

#include "trammel/base/archive.h"
#include "trammel/integrate/method_report.h"

namespace trammel {

OdeIntegrator::OdeIntegrator(const Equations& equations, const Options& options, MakeMethod make)
    : MotionIntegrator(equations, options.form.tolerance),
      fixed_step_(options.fixed_step),
      all_coordinates_(options.form.all_coordinates),
      projector_(options.form.project ? std::make_unique<AccelerationSolver>(equations, SaddleSystem::Keep::resumable)
                                      : nullptr),
      make_(std::move(make)),
      space_(equations, options.form) {}

void OdeIntegrator::started() {
  space_.set_base(now_, rates_);
  good_strain_ = space_.strain();
  if (method_ && method_->y().size() != space_.size()) drop_method();
  if (space_.size() > 0) {
    if (!method_) method_ = make_(space_);  // behind an event it goes on counting
    past_.assign(method_->memory(), {now_.t, now_.q, now_.v, now_.u, rates_.a, rates_.xdot});
    points_.resize(past_.size());
  }
  later_ = later_rate_ = now_.v;
  pending_ = true;
}

void OdeIntegrator::forget() {
  space_.forget();
  locked_ = false;
}

void OdeIntegrator::drop_method() {
  add_work_of_dropped(method_->counts(), dropped_);
  method_.reset();
}

void OdeIntegrator::restart(std::string_view /*why*/) {
  past_count_ = past_next_ = 0;
  if (pending_) follow(0);
  if (!method_) return;
  space_.project(now_, rates_, y_, dydt_);
  method_->start(now_.t, y_);
}

void OdeIntegrator::follow(double h) {
  space_.set_base(now_, rates_);
  pending_ = false;
  bool changed = false;
  // Coordinates that steer the others badly: dead points, folded limbs. The choice stands until it is much worse than
  // when it was made.
  if (method_) {
    const double strain = space_.strain();
    if (!(strain < 3 * std::max(1.0, good_strain_))) {
      if (choose_anew(0.05))
        changed = true;
      else
        good_strain_ = strain;  // there is no better choice
    } else if (!space_.named_in_use()) {
      // Back to the user's coordinates, well after the place where they were left.
      changed = choose_anew(0.1) || changed;
    } else {
      good_strain_ = std::min(good_strain_, strain);
    }
  }
  if (!method_ || method_->memory() == 1 || space_.base_turn() > 0.5) {
    space_.move_chart(window(h));
    changed = true;
  }
  if (changed)
    rebase();
  else if (projector_)
    rebase(true);
}

bool OdeIntegrator::choose_anew(double least) {
  if (!space_.repartition(least)) return false;
  ++repartitions_;
  good_strain_ = space_.strain();
  if (space_.size() == method_->y().size()) return true;
  // Freedoms that a singular position had are gone: another problem, and another method with it. The motion that led
  // here must be one of those left.
  locked_ = !space_.moves_on();
  past_count_ = past_next_ = 0;
  make_method();
  if (method_) method_->start(now_.t, y_);
  return true;
}

void OdeIntegrator::make_method() {
  method_ = space_.size() > 0 ? make_(space_) : nullptr;
  if (method_) space_.project(now_, rates_, y_, dydt_);
}

// From the oldest point that the method remembers to the end of the step.
double OdeIntegrator::window(double h) const {
  return past_count_ < 2 ? h : now_.t + h - past_[(past_next_ + past_.size() - past_count_) % past_.size()].t;
}

void OdeIntegrator::rebase(bool same_coordinates) {
  if (!method_) return;
  std::size_t count = 0;
  points_[0].t = now_.t;
  space_.project(now_, rates_, points_[0].y, points_[0].dydt);
  ++count;
  for (std::size_t k = 1; k < past_count_ && k < points_.size(); ++k) {
    const Past& p = past_[(past_next_ + past_.size() - k) % past_.size()];
    points_[count].t = p.t;
    later_ = space_.projected();
    later_rate_ = space_.projected_rate();
    space_.project(p.t, p.q, p.v, p.u, p.a, p.xdot, points_[count].y, points_[count].dydt);
    // What lies behind half a turn of unsteady rotation is forgotten.
    if (!space_.chart().follows(space_.projected(), space_.projected_rate(), later_, later_rate_,
                                points_[count - 1].t - p.t)) {
      past_count_ = count;
      ++cut_;
      break;
    }
    ++count;
  }
  const std::span<const OdeMethod::Point> past(points_.data(), count);
  if (same_coordinates)
    method_->moved(past);
  else
    method_->rebase(past);
}

Attempt OdeIntegrator::try_step(double h) {
  Attempt result;
  if (locked_) {
    result.verdict = Verdict::newton_diverged;
    result.worst_row = space_.worst_row();
    return result;
  }
  if (method_) {
    result = method_->attempt(h);
    if (result.worst_velocity >= 0) {
      const auto c = static_cast<std::size_t>(result.worst_velocity), n = space_.positions().size(),
                 m = space_.velocities().size();
      result.worst_velocity = c < n ? space_.positions()[c] : c < n + m ? space_.velocities()[c - n] : -1;
    }
    if (result.verdict != Verdict::ok) {
      if (space_.recovery_failed()) result.worst_row = space_.worst_row();
      return result;
    }
    if (!fixed_step_ && result.error > 1) return result;
  }
  static const Vec none;
  const bool evaluated =
      space_.evaluate(now_.t + h, method_ ? method_->trial() : none, trial_, trial_rates_) == Eval::ok;
  // Without freedoms every point is exact; steps follow how far a parabola through the last one goes astray.
  if (evaluated && !method_) result.error = space_.surprise() / tolerance_;
  if (!evaluated) {
    result.verdict = space_.recovery_failed() ? Verdict::newton_diverged : Verdict::evaluation_rejected;
    result.worst_row = space_.worst_row();
    return result;
  }
  if (projector_) {
    // Accelerations belong to the projected state.
    if (!projector_->project(trial_, work_) || !projector_->solve(trial_, trial_rates_, work_) ||
        equations_.state_rates(trial_, trial_rates_.xdot, work_, &trial_rates_) != Eval::ok)
      result.verdict = Verdict::newton_diverged;
    ++projections_;
  }
  return result;
}

Attempt OdeIntegrator::attempt(double h) {
  if (pending_) follow(h);
  // A step farther than the chart's origin can see.
  if (space_.turn_ahead(h) > 2) {
    space_.move_chart(window(h));
    rebase();
  }
  space_.set_step(h);
  trial_h_ = h;
  trial_.t = now_.t + h;
  Attempt result = try_step(h);
  // Where the others cannot be found from these coordinates, others may serve; only then a smaller step.
  if (result.verdict != Verdict::ok && method_ && space_.recovery_failed() && choose_anew(0.05)) {
    space_.move_chart(window(h));
    rebase();
    result = try_step(h);
  }
  if (result.verdict == Verdict::ok && (fixed_step_ || result.error <= 1) &&
      (space_.point_turn() > Chart::far || turns_in_doubt(h)))
    result.verdict = Verdict::angle_too_large;
  return result;
}

void OdeIntegrator::leaving() {
  if (!method_) return;
  if (past_.size() > 1) {
    Past& p = past_[past_next_];
    p.t = now_.t;
    p.q = now_.q;
    p.v = now_.v;
    p.u = now_.u;
    p.a = rates_.a;
    p.xdot = rates_.xdot;
    past_next_ = (past_next_ + 1) % past_.size();
    past_count_ = std::min(past_count_ + 1, past_.size());
  }
  method_->accept();
}

void OdeIntegrator::interpolate_inside(double t, double /*s*/, State& out) const {
  if (method_) method_->interpolate(t, y_);
  recover(t, out);
}

void OdeIntegrator::interpolate_cheaply(double t, State& out) const {
  out = now_;
  out.t = t;
  if (t == now_.t || !(last_step_ > 0)) return;
  if (method_) method_->interpolate_cheaply(t, y_);
  recover(t, out);
}

void OdeIntegrator::recover(double t, State& out) const {
  if (!method_) y_.resize(0);
  if (space_.recover(t, y_, out)) return;
  // Between two good points the nearer one serves better than none; outputs are brought to the constraints.
  out.q = now_.q;
  out.v = now_.v;
}

std::string OdeIntegrator::remark() const {
  std::string text;
  if (!all_coordinates_) {
    const std::vector<int>& chosen = space_.positions();
    text = std::to_string(chosen.size()) + " independent coordinates";
    if (chosen.size() <= 3) {
      text.clear();
      for (const int i : chosen) text += (text.empty() ? "" : ", ") + equations_.name_of_velocity(i);
    }
    text += repartitions_ == 0 ? "" : "; chosen anew " + std::to_string(repartitions_) + " times";
  }
  if (cut_ > 0)
    text += (text.empty() ? "" : "; ") + std::string("past shortened ") + std::to_string(cut_) +
            " times, where rotation was fast and unsteady";
  if (method_) append_remark(*method_, text);
  return text;
}

const Counts& OdeIntegrator::counts() const {
  all_counts_ = space_.counts();
  if (method_) {
    const Counts& own = method_->counts();
    add_work(own, all_counts_);
    all_counts_.newton_iterations = own.newton_iterations;
    all_counts_.predictor_degree = own.predictor_degree;
  }
  add_work_of_dropped(dropped_, all_counts_);
  all_counts_.evaluations += projections_;
  all_counts_.factorisations += 3 * projections_;
  all_counts_.steps = counts_.steps;
  return all_counts_;
}

void OdeIntegrator::visit_method(Archive& archive) {
  archive(pending_, good_strain_, repartitions_, locked_, past_count_, past_next_, past_, projections_, cut_, dropped_);
  points_.resize(past_.size());
  if (projector_) archive(projector_->saddle());
  archive(space_);
  if (archive.reading() && space_.size() != (method_ ? method_->y().size() : 0)) make_method();
  if (method_) archive(*method_);
}

}  // namespace trammel
