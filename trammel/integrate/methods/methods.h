// The description of each method, at the end of the method's own file; registry.cc lists them.
#pragma once
#include "trammel/integrate/registry.h"

namespace trammel::methods {

// Of methods whose corrector can have a fixed cost, for real time.
Field iterations_option();

MethodInfo hht_i3();
MethodInfo generalized_alpha_i3();
MethodInfo newmark_i3();
MethodInfo hht_si2();
MethodInfo generalized_alpha_si2();
MethodInfo newmark_si2();
MethodInfo bdf_i3();
MethodInfo bdf_si2();
MethodInfo rosenbrock_nystrom_4();
MethodInfo w_method_2();
MethodInfo split();
MethodInfo theta();
MethodInfo cvode_bdf();
MethodInfo cvode_adams();
MethodInfo adams();
MethodInfo euler();
MethodInfo taylor_2();
MethodInfo heun();
MethodInfo rk4();
MethodInfo runge_kutta_from_file();  // runge-kutta
MethodInfo fehlberg_45();
MethodInfo dormand_prince_54();
MethodInfo dormand_prince_853();
MethodInfo adams_bashforth();
MethodInfo adams_moulton();
MethodInfo bdf_fixed();
MethodInfo bdf();
MethodInfo trapezoidal();
MethodInfo implicit_midpoint();
MethodInfo norsett_sdirk();
MethodInfo sdirk_4();
MethodInfo gauss();
MethodInfo radau_iia_1();
MethodInfo radau_iia_2();
MethodInfo radau_iia_3();
MethodInfo lobatto_iiic();
MethodInfo newmark();
MethodInfo hht();
MethodInfo wilson_theta();
MethodInfo collocation();
MethodInfo generalized_alpha();
MethodInfo midpoint();

}  // namespace trammel::methods
