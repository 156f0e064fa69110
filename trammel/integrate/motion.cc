#include "trammel/integrate/motion.h"

#include "trammel/integrate/hermite_motion.h"
#include "trammel/math/hermite.h"

namespace trammel {

MotionIntegrator::MotionIntegrator(const Equations& equations, double tolerance)
    : equations_(equations),
      nv_(equations.sizes().nv),
      ng_(equations.sizes().multipliers()),
      nx_(equations.sizes().nx),
      tolerance_(tolerance),
      scales_(equations.scales()),
      work_(equations.make_workspace()) {}

void MotionIntegrator::start(const State& state, const Rates& rates) {
  now_ = trial_ = state;
  rates_ = rates;
  equations_.state_rates(now_, rates_.xdot, work_, &rates_);
  trial_rates_ = rates_;
  previous_q_ = now_.q;
  previous_v_ = now_.v;
  previous_x_ = equations_.states_of(now_);
  previous_xdot_ = rates_.xdot;
  equations_.set_scales(now_.q, tolerance_, scales_);
  rate_ = equations_.rate(now_, rates_);
  started();
  restart("start");
}

void MotionIntegrator::accept() {
  leaving();
  previous_q_.swap(now_.q);
  previous_v_.swap(now_.v);
  now_.q.swap(trial_.q);
  now_.v.swap(trial_.v);
  now_.t = trial_.t;
  if (nx_ > 0) {
    previous_x_ = equations_.states_of(now_);
    previous_xdot_.swap(rates_.xdot);
    now_.u = trial_.u;
    rates_.xdot = trial_rates_.xdot;
  }
  rates_.a.swap(trial_rates_.a);
  rates_.lambda.swap(trial_rates_.lambda);
  equations_.accept(now_, work_);
  trial_.memory = now_.memory;
  equations_.set_scales(now_.q, tolerance_, scales_);
  last_step_ = trial_h_;
  ++counts_.steps;
  arrived();
}

void MotionIntegrator::interpolate(double t, State& out) const {
  const double s = last_step_ > 0 ? 1 + (t - now_.t) / last_step_ : 1;
  out = now_;
  out.t = t;
  if (s != 1) interpolate_inside(t, s, out);
}

void MotionIntegrator::interpolate_inside(double /*t*/, double s, State& out) const {
  hermite_motion(equations_, s, last_step_, previous_q_, previous_v_, now_.q, now_.v, out);
  if (nx_ > 0)
    hermite(s, last_step_, previous_x_, previous_xdot_, equations_.states_of(now_), rates_.xdot, out.u.tail(nx_));
}

void MotionIntegrator::visit(Archive& archive) {
  archive(now_, rates_, scales_, rate_, previous_q_, previous_v_, previous_x_, previous_xdot_, last_step_);
  if (archive.reading()) {
    trial_ = now_;
    trial_rates_ = rates_;
  }
  visit_method(archive);
  archive(counts_);
}

}  // namespace trammel
