// Linear stability of time integration methods.
//
// On y' = lambda y a method multiplies its state by a matrix that depends on z = h lambda alone; `growth(z)` is that
// matrix' spectral radius: |R(z)| of a one-step method, the largest root of rho - z sigma of a multistep method, and
// for methods on y'' = -2 xi omega y' - omega^2 y (z = h (-xi omega + i omega sqrt(1 - xi^2))) the radius of the
// amplification matrix. A step is stable where growth <= 1.
#pragma once
#include <complex>
#include <functional>
#include <string>
#include <vector>

#include "trammel/ode/registry.h"
#include "trammel/ode/rosenbrock/rosenbrock_tableau.h"
#include "trammel/ode/runge_kutta/implicit_tableau.h"
#include "trammel/ode/structural/structural.h"

namespace trammel {

using Growth = std::function<double(Complex z)>;

// ---- From data
// ------------------------------------------------------------------------------------------------------- 1 + z b^T (I
// - z A)^-1 1
Complex stability_function(const Mat& A, const Vec& b, Complex z);
Complex stability_function(const RosenbrockTableau& tableau, Complex z);

// (y, h v, h^2 a) after a step on the oscillator with Omega = omega h and damping ratio xi.
Eigen::Matrix3d amplification(const StructuralParameters& parameters, double Omega, double xi = 0);
double growth_of(const StructuralParameters& parameters, Complex z);

// ---- By running the method
// ------------------------------------------------------------------------------------------- A step of size 1 from y =
// 1; methods with memory are refused by a Failure.
Growth growth_by_running(const OdeMethodInfo& method, const OdeSettings& settings);
// From data where there is some, else by running. `name` is a key of the registry, adams-bashforth-K, adams-moulton-K
// or bdf-K for one formula of these families, or a file with a tableau.
Growth growth_of(const std::string& name, const Fields& options, const Location& where);

// ---- What follows from it
// --------------------------------------------------------------------------------------------
struct StabilitySummary {
  double real_interval = 0;       // stable on [-real_interval, 0]; infinite if all of it
  double imaginary_interval = 0;  // stable on the imaginary axis up to here
  double angle = 0;               // A(alpha), degrees; 90: A-stable; 0 if not even the negative axis is
  double at_infinity = 0;         // growth far out on the negative axis
  bool a_stable = false, l_stable = false;
};
StabilitySummary summarise_stability(const Growth& growth);

// What a method does to a free undamped oscillation.
struct OscillationErrors {
  double radius = 1;             // spectral radius
  double damping_ratio = 0;      // xi of the numerical solution
  double decay = 0;              // of the amplitude in a period of the numerical solution, as a part
  double period_elongation = 0;  // (T_num - T)/T
  double overshoot = 0;          // largest |y_n| - 1 of the first ten steps from y = 1, v = 0
  bool oscillates = false;       // the principal roots are a complex pair; else decay and elongation mean nothing
};
OscillationErrors oscillation_errors(const StructuralParameters& parameters, double Omega);
// The same for any method on y' = f or y'' = f, by running it.
OscillationErrors oscillation_errors(const OdeMethodInfo& method, const OdeSettings& settings, double Omega);

// A gnuplot script: the regions of absolute stability of some methods, the first one shaded.
struct StabilityCurve {
  std::string title;
  Growth growth;
};
struct StabilityWindow {
  double left = -6, right = 4, height = 5;
};
std::string stability_picture(const std::vector<StabilityCurve>& curves, const StabilityWindow& window,
                              const std::string& terminal, int points = 200);
std::string oscillation_picture(const std::vector<std::pair<std::string, StructuralParameters>>& methods,
                                const std::string& terminal);

}  // namespace trammel
