#include "trammel/integrate/joint_integrator.h"

#include <algorithm>

#include "trammel/base/archive.h"
#include "trammel/integrate/method_report.h"

namespace trammel {

JointIntegrator::JointIntegrator(const Equations& equations, const JointSpaceOptions& options, bool fixed_step,
                                 const MakeMethod& make)
    : MotionIntegrator(equations, options.tolerance), fixed_step_(fixed_step), space_(equations, options) {
  if (space_.size() > 0) method_ = make(space_);
  past_.resize(method_ ? static_cast<std::size_t>(std::max(1, method_->memory())) : 1);
  for (Point& point : past_) point.y = point.dydt = Vec::Zero(space_.size());
  points_.resize(past_.size());
  trial_point_ = past_.front();
}

void JointIntegrator::started() {
  space_.start(now_, rates_, past_.front().y);
  past_.front().t = now_.t;
  past_.front().dydt.setZero();
  complete_ = false;  // the rates are those of the start, whatever made them
}

void JointIntegrator::restart(std::string_view /*why*/) {
  space_.set_base(now_);
  past_count_ = 1;
  pending_ = false;
  if (!method_) return;
  method_->start(past_.front().t, past_.front().y);
  past_.front().dydt = method_->dydt();
}

void JointIntegrator::follow() {
  space_.set_base(now_);
  pending_ = false;
  if (!method_) return;
  const bool stretched = space_.stretched(past_.front().y);
  if (!space_.has_rows() && !stretched) return;
  if (stretched) {
    y_ = past_.front().y;
    for (Point& point : past_) {
      space_.shrink(y_, point.y);
      space_.shrink(y_, point.dydt);
    }
  }
  for (std::size_t k = 0; k < past_count_; ++k) {
    points_[k].t = past_[k].t;
    points_[k].y = past_[k].y;
    points_[k].dydt = past_[k].dydt;
  }
  const std::span<const OdeMethod::Point> past(points_.data(), past_count_);
  if (stretched)
    method_->rebase(past);
  else
    method_->moved(past);
}

// Elements are not to blame where nothing resists a joint.
void JointIntegrator::blame_stuck(Attempt& result) const {
  const int velocity = space_.stuck_velocity();
  if (result.verdict == Verdict::ok || velocity < 0) return;
  result.verdict = Verdict::singular_matrix;
  result.worst_velocity = velocity;
}

Attempt JointIntegrator::attempt(double h) {
  if (pending_) follow();
  trial_h_ = h;
  trial_.t = now_.t + h;
  Attempt result;
  if (method_) {
    result = method_->attempt(h);
    result.worst_velocity = space_.velocity_of(result.worst_velocity);
    blame_stuck(result);
    if (result.verdict != Verdict::ok || (!fixed_step_ && result.error > 1)) return result;
    trial_point_.y = method_->trial();
  }
  trial_point_.t = trial_.t;
  trial_.q = now_.q;  // of the two signs of a quaternion the one that is nearer, whatever was tried before
  if (!space_.project(trial_.t, trial_point_.y)) {
    result.verdict = Verdict::newton_diverged;
    result.worst_row = space_.worst_row();
    blame_stuck(result);
  } else if (space_.evaluate(trial_.t, trial_point_.y, trial_, trial_rates_, trial_point_.dydt) != Eval::ok) {
    result.verdict = Verdict::evaluation_rejected;
    blame_stuck(result);
  } else if (turns_in_doubt(h)) {
    result.verdict = Verdict::angle_too_large;
  } else {
    trial_complete_ = space_.rows_independent();
  }
  return result;
}

void JointIntegrator::leaving() {
  if (method_) method_->accept();
  std::rotate(past_.begin(), past_.end() - 1, past_.end());
  std::swap(past_.front(), trial_point_);
  past_count_ = std::min(past_count_ + 1, past_.size());
  complete_ = trial_complete_;
}

void JointIntegrator::arrived() { pending_ = true; }

void JointIntegrator::interpolate_inside(double t, double /*s*/, State& out) const {
  if (method_) method_->interpolate(t, y_);
  space_.place(t, y_, out);
}

void JointIntegrator::interpolate_cheaply(double t, State& out) const {
  out = now_;
  out.t = t;
  if (t == now_.t || !(last_step_ > 0)) return;
  if (method_) method_->interpolate_cheaply(t, y_);
  space_.place(t, y_, out);
}

bool JointIntegrator::complete_at(double t, State& out, Rates& rates) {
  if (!complete_) return false;  // nor will it be inside the step
  out = now_;
  if (t == now_.t) {
    rates = rates_;
    return true;
  }
  if (method_) method_->interpolate(t, y_);
  return space_.project(t, y_) && space_.evaluate(t, y_, out, rates, complete_dydt_) == Eval::ok &&
         space_.rows_independent();
}

std::string JointIntegrator::remark() const {
  std::string text = space_.description();
  if (method_) append_remark(*method_, text);
  return text;
}

const Counts& JointIntegrator::counts() const {
  all_counts_ = space_.counts();
  if (method_) {
    const Counts& own = method_->counts();
    add_work(own, all_counts_);
    all_counts_.newton_iterations = own.newton_iterations;
    all_counts_.predictor_degree = own.predictor_degree;
  }
  all_counts_.steps = counts_.steps;
  return all_counts_;
}

void JointIntegrator::visit_method(Archive& archive) {
  archive(pending_, complete_, past_, past_count_);
  archive.expect(past_.size() == points_.size() && past_count_ <= past_.size());
  for (const Point& point : past_)
    archive.expect(point.y.size() == space_.size() && point.dydt.size() == space_.size());
  archive(space_);
  if (method_) archive(*method_);
}

}  // namespace trammel
