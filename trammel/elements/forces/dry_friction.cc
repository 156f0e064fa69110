#include "trammel/elements/forces/dry_friction.h"

#include <cmath>

#include "trammel/elements/forces/held_coordinate.h"

namespace trammel {

DryFriction::DryFriction(AxialKind kind, const DryFrictionLaw& law, MeasuredExpression load, int frames,
                         std::vector<std::string> mode_names)
    : AxialForce(kind, frames), law_(law), load_(std::move(load)), names_(std::move(mode_names)) {
  use(load_);
}

double DryFriction::load(const ElementInput& in) const {
  double N = 0;
  return load_.evaluate(in, N) && N > 0 ? N : 0.0;
}

// Of sliding; 0: there is no friction force.
double DryFriction::direction(const ElementInput& in, double rate) const {
  switch (mode(in.memory)) {
    case forward: return 1;
    case backward: return -1;
    case undecided: return rate > 0 ? 1 : rate < 0 ? -1 : 0;
    default: return 0;
  }
}

bool DryFriction::force(const ElementInput& in, double, double rate, double& f) const {
  double N = 0;
  if (!load_.evaluate(in, N)) return false;
  f = -direction(in, rate) * law_.radius * (law_.constant + law_.mu_kinetic * std::max(N, 0.0));
  return true;
}

void DryFriction::force_partials(const ElementInput& in, double, double rate, Law& law) const {
  load_.linearise(in, frames(), law.rest);
  const double N = law.rest.value, along = -direction(in, rate) * law_.radius;
  law.force = along * (law_.constant + law_.mu_kinetic * std::max(N, 0.0));
  const double by_load = N > 0 ? along * law_.mu_kinetic : 0.0;
  law.rest.pose *= by_load;
  law.rest.twist *= by_load;
  law.rest.time *= by_load;
}

double DryFriction::dissipated_power(const ElementInput& in) const {
  double s = 0, rate = 0, f = 0;
  return motion(in, s, rate) && force(in, s, rate, f) ? -f * rate : 0;
}

void DryFriction::set(Mode mode, const ElementInput& in, double* memory) const {
  double s = 0, rate = 0;
  motion(in, s, rate);
  memory[AxialForce::memory()] = mode;
  memory[AxialForce::memory() + 1] = mode == sticks ? s : 0.0;
}

void DryFriction::begin_mode(const ElementInput& in, const Rest& rest, double* memory) const {
  double s = 0, rate = 0;
  motion(in, s, rate);
  if (law_.opens && load(in) == 0)
    set(open, in, memory);
  else if (std::abs(rate) <= (kind() == AxialKind::rotation ? rest.rate : rest.speed))
    set(sticks, in, memory);
  else
    set(rate > 0 ? forward : backward, in, memory);
}

// Where sliding ends it sticks, whatever that asks for: if more than it can bear, it goes on in the other direction.
void DryFriction::end_mode(const ElementInput& in, int which, double* memory) const {
  switch (which) {
    case 0: return set(sticks, in, memory);
    case 1: return set(in.held != nullptr && in.held[0] < 0 ? backward : forward, in, memory);
    default: return mode(memory) == open ? begin_mode(in, {}, memory) : set(open, in, memory);
  }
}

std::vector<SwitchInfo> DryFriction::switches() const {
  std::vector<SwitchInfo> all{{.name = law_.opens ? "end of slipping" : "end of sliding", .ends_mode = true},
                              {.name = "limit of its holding force", .ends_mode = true}};
  if (law_.opens)
    all.push_back({.name = "capacity", .ends_mode = true});
  else if (load_varies())
    all.push_back(MeasuredExpression::switch_between("load", {&load_}));
  const std::vector<SwitchInfo> corners = AxialForce::switches();
  all.insert(all.end(), corners.begin(), corners.end());
  return all;
}

// A switch that does not belong to the present mode stays positive.
void DryFriction::switch_values(const ElementInput& in, double* values) const {
  const int now = mode(in.memory);
  const double N = load(in);
  double s = 0, rate = 0;
  motion(in, s, rate);
  values[0] = now == forward ? rate : now == backward ? -rate : 1;
  const bool limited = now == sticks && in.held != nullptr && !(law_.opens && N == 0);
  values[1] = limited ? law_.radius * (law_.constant + law_.mu_static * N) - std::abs(in.held[0]) : 1;
  values += 2;
  if (law_.opens) {
    constexpr double closed = 1e-100;  // a capacity of exactly 0 is open
    const double capacity = N > 0 ? N : -closed;
    *values++ = now == open ? -capacity : capacity;
  } else if (load_varies()) {
    *values = 0;
    load_.evaluate(in, *values++);
  }
  AxialForce::switch_values(in, values);
}

std::vector<Observable> DryFriction::observables() const {
  std::vector<Observable> all = AxialForce::observables();
  all.push_back({"mode", "1"});
  return all;
}

void DryFriction::observe(const ElementInput& in, double* values) const {
  AxialForce::observe(in, values);
  if (mode(in.memory) == sticks && in.held != nullptr) values[2] = -in.held[0];
  values[3] = mode(in.memory);
}

std::unique_ptr<Constraint> DryFriction::make_row() const {
  return std::make_unique<HeldCoordinate>(kind(), HeldCoordinate::Place{AxialForce::memory(), sticks});
}

}  // namespace trammel
