// The description of each method that takes a mechanism's constraints itself; registry.cc lists them.
#pragma once
#include "trammel/integrate/registry.h"
#include "trammel/ode/rosenbrock/rosenbrock_options.h"
#include "trammel/ode/runge_kutta/implicit_tableau.h"

namespace trammel::methods {

MethodInfo hht_i3();
MethodInfo generalized_alpha_i3();
MethodInfo newmark_i3();
MethodInfo hht_si2();
MethodInfo generalized_alpha_si2();
MethodInfo newmark_si2();
MethodInfo bdf_i3();
MethodInfo bdf_si2();
MethodInfo split();
MethodInfo theta();

// What methods for differential equations do with constraints beside them, on top of their formulations for those.
void add_constrained_runge_kutta(MethodInfo& method, const ImplicitTableau& tableau);
void add_all_coordinates(MethodInfo& method, ReadRosenbrockOptions read);

// Of methods whose corrector can have a fixed cost, for real time.
Field iterations_option();

}  // namespace trammel::methods
