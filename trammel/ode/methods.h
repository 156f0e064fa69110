// The description of each method for differential equations, in a file of its name; registry.cc lists them.
#pragma once
#include "trammel/ode/registry.h"

namespace trammel::methods {

OdeMethodInfo rosenbrock_nystrom_4();
OdeMethodInfo w_method_2();
OdeMethodInfo adams();
OdeMethodInfo euler();
OdeMethodInfo taylor_2();
OdeMethodInfo heun();
OdeMethodInfo rk4();
OdeMethodInfo runge_kutta_from_file();  // runge-kutta
OdeMethodInfo bogacki_shampine_32();
OdeMethodInfo fehlberg_45();
OdeMethodInfo dormand_prince_54();
OdeMethodInfo dormand_prince_853();
OdeMethodInfo adams_bashforth();
OdeMethodInfo adams_moulton();
OdeMethodInfo bdf_fixed();
OdeMethodInfo bdf();
OdeMethodInfo cvode_bdf();
OdeMethodInfo cvode_adams();
OdeMethodInfo trapezoidal();
OdeMethodInfo implicit_midpoint();
OdeMethodInfo norsett_sdirk();
OdeMethodInfo sdirk_4();
OdeMethodInfo gauss();
OdeMethodInfo radau_iia_1();
OdeMethodInfo radau_iia_2();
OdeMethodInfo radau_iia_3();
OdeMethodInfo lobatto_iiic();
OdeMethodInfo newmark();
OdeMethodInfo hht();
OdeMethodInfo wilson_theta();
OdeMethodInfo collocation();
OdeMethodInfo generalized_alpha();
OdeMethodInfo midpoint();

}  // namespace trammel::methods
