#include "trammel/run/energy_guard.h"

#include <algorithm>
#include <cmath>

namespace trammel {
namespace {

double power_of(const Equations& equations, int i, const State& state, const Workspace& work,
                std::vector<double>& observables) {
  const Item& item = equations.model().forces[i];
  observables.assign(equations.force(i).observables().size() + 1, 0.0);
  double wrench[6 * max_frames] = {};
  equations.observe_force(i, state, work, wrench, observables.data());
  double power = 0;
  for (std::size_t k = 0; k < item.frames.size(); ++k) {
    const FrameState frame = equations.frame(item.frames[k], work);
    power += frame.v.dot(Vec3(wrench[6 * k], wrench[6 * k + 1], wrench[6 * k + 2])) +
             frame.w.dot(Vec3(wrench[6 * k + 3], wrench[6 * k + 4], wrench[6 * k + 5]));
  }
  return power;
}

// What is left of T + U less work when the heat is taken from it. Where a stiff damper rings from step to step, its
// heat at their ends is more than there is; that is no gain of the mechanism.
double rest_of(double gain, double heat) { return heat > 0 && gain + heat > 0 ? std::max(gain, 0.0) : gain + heat; }

double gain_of(const EnergyBook& book) { return book.kinetic + book.potential - book.external - book.first; }

}  // namespace

UnexplainedEnergy blame_for_energy(const Equations& equations, const State& from, const State& to, double amount,
                                   Workspace& work) {
  const Model& model = equations.model();
  UnexplainedEnergy out;
  out.t = from.t;
  out.h = to.t - from.t;
  out.amount = amount;
  std::vector<double> observables, before;
  equations.update(from, work);
  for (int i = 0; i < equations.force_count(); ++i) before.push_back(power_of(equations, i, from, work, observables));
  equations.update(to, work);
  double largest = 0.1 * amount / out.h;
  for (int i = 0; i < equations.force_count(); ++i) {
    const double old = before[i], now = power_of(equations, i, to, work, observables),
                 share = std::abs(now - old) + 0.1 * (std::abs(now) + std::abs(old));
    if (share <= largest) continue;
    largest = std::isnan(share) ? HUGE_VAL : share;
    out.part = "force '" + model.forces[i].name + "'";
    out.by_force = true;
    out.power_before = old;
    out.power_after = now;
  }
  if (out.by_force || from.v.size() == 0) return out;
  const Vec dv = to.v - from.v;
  Vec Mdv = Vec::Zero(dv.size());
  equations.multiply_mass(to.q, dv, Mdv);
  Eigen::Index at = 0;
  dv.cwiseProduct(Mdv).cwiseAbs().maxCoeff(&at);
  const int body = equations.body_of_velocity(static_cast<int>(at));
  out.part = "body '" + model.bodies[body].name + "'";
  return out;
}

EnergyGuard::EnergyGuard(const Equations& equations, double tolerance)
    : equations_(equations),
      noise_(0.01 * tolerance * equations.length()),  // correctors stop at a thousandth of the tolerance
      scales_(equations.scales()),
      work_(equations.make_workspace()),
      middle_(equations.initial_state()),
      middle_rates_(equations.make_rates()),
      dv_(Vec::Zero(equations.sizes().nv)),
      Mdv_(dv_) {}

double EnergyGuard::noise_of(double h, const State& state, const Rates& rates) {
  const double length = equations_.length(), mass = equations_.greatest_mass();
  const double slow = 1e-3 * length / std::max(equations_.model().simulation.end, 1e-300), noisy = noise_ / h;
  // The work of the largest force or torque over an error of position.
  double hardest = mass * equations_.model().gravity.norm();
  equations_.multiply_mass(state.q, rates.a, Mdv_);
  for (Eigen::Index i = 0; i < Mdv_.size(); ++i) hardest = std::max(hardest, std::abs(Mdv_[i]) * scales_[i] / length);
  return mass * (slow * slow + noisy * noisy) + noise_ * hardest;
}

// What was lost must have been there, at some time; of what was won, the mechanism's own speed is no explanation.
bool EnergyGuard::beyond_belief(const EnergyBook& book, double noise) {
  const double rest = rest_of(gain_of(book), book.dissipated);
  held_ = std::abs(book.first) + book.greatest_potential - book.least_potential + noise;
  if (rest < 0) held_ += book.greatest_kinetic;
  amount_ = std::abs(rest);
  return amount_ > held_ + 0.75 * book.passed;
}

bool EnergyGuard::explains(const EnergyBook& before, const EnergyBook& after, double noise) {
  held_ = std::abs(before.first) + before.greatest_kinetic + after.greatest_potential - after.least_potential + noise;
  amount_ = std::abs(rest_of(gain_of(after) - gain_of(before), after.dissipated - before.dissipated));
  return !(amount_ > held_ + 0.5 * (after.passed - before.passed));
}

bool EnergyGuard::explains(const State& from, const Rates& from_rates, const State& to, const Rates& to_rates,
                           const EnergyBook& book) {
  const auto kinetic = [&](const Vec& v) {
    equations_.multiply_mass(to.q, v, Mdv_);
    return 0.5 * v.dot(Mdv_);
  };
  dv_ = to.v - from.v;
  const double jump = kinetic(dv_), T0 = book.kinetic, T1 = kinetic(to.v);
  if (!(jump > 0.04 * std::max(T0, T1))) return true;

  const double h = to.t - from.t, noise = noise_of(h, from, from_rates);
  if (jump < noise) return true;

  // The mean of both ends lies where the step passed, if not quite on its way.
  equations_.local(from.q, to.q, dv_);
  dv_ *= 0.5;
  equations_.retract(from.q, dv_, middle_.q);
  middle_.t = 0.5 * (from.t + to.t);
  middle_.v = 0.5 * (from.v + to.v);
  middle_.u = 0.5 * (from.u + to.u);
  middle_.memory = from.memory;
  middle_rates_.lambda = 0.5 * (from_rates.lambda + to_rates.lambda);
  if (equations_.has_sensors()) middle_rates_.a = 0.5 * (from_rates.a + to_rates.a);
  const Energy e0 = equations_.energy(from, from_rates, work_), em = equations_.energy(middle_, middle_rates_, work_),
               e1 = equations_.energy(to, to_rates, work_);
  held_ = std::abs(book.first) + std::max(T0, book.greatest_kinetic) + std::max(book.greatest_potential, e1.potential) -
          std::min(book.least_potential, e1.potential) + noise;
  amount_ = HUGE_VAL;
  const auto weigh = [&](double ends, double middle) {
    const double work = h * (ends * (e0.external_power + e1.external_power) + middle * em.external_power),
                 heat = h * (ends * (e0.dissipated_power + e1.dissipated_power) + middle * em.dissipated_power),
                 rest = std::abs(rest_of(e1.kinetic + e1.potential - e0.kinetic - e0.potential - work, heat));
    if (rest < amount_) amount_ = rest;
    return rest <= held_ + 0.5 * (std::abs(work) + std::abs(heat));
  };
  const bool by_trapezoid = weigh(0.5, 0), by_simpson = weigh(1.0 / 6, 4.0 / 6);
  return by_trapezoid || by_simpson;
}

UnexplainedEnergy EnergyGuard::blame(const State& from, const State& to) {
  UnexplainedEnergy out = blame_for_energy(equations_, from, to, 0, work_);  // any force before a body
  out.amount = amount_;
  out.held = held_;
  return out;
}

}  // namespace trammel
