#include "trammel/formulate/formulation_keys.h"
#include "trammel/integrate/alpha/alpha_description.h"

namespace trammel::methods {

MethodInfo generalized_alpha_i3() {
  MethodInfo m;
  m.key = "generalized-alpha-i3";
  m.title = "Generalized-alpha, index 3";
  m.formulations = {formulation::index_3};
  m.source = "Chung, Hulbert 1993; on the rotation group: Bruels, Cardona, Arnold 2012";
  m.stiff = m.steps_to_outputs = true;
  m.stability = "A-stable; spectral radius rho_inf at infinite frequency";
  m.options = with_alpha_options(
      {{"rho_inf", FieldKind::number, Quantity::none, 0.6,
        "Spectral radius at infinite frequency: 0 kills high frequencies in one step, 1 keeps them.", 0, 1}});
  m.refuses = [](const OdeSettings& s) -> std::string {
    if (std::string wrong = wrong_option(s); !wrong.empty()) return wrong;
    if (!s.fixed_step && s.options.number("rho_inf") == 1) {
      return "rho_inf = 1 leaves the oscillation of multipliers undamped; it enters the error estimate and drives a "
             "controlled step size to zero";
    }
    return "";
  };
  m.caveat = [](const OdeSettings& s) -> std::string {
    return s.options.number("rho_inf") == 1 && !has_projection(s)
               ? "rho_inf = 1: the multipliers' oscillation is undamped, reactions of the method are not convergent"
               : "";
  };
  m.reactions_doubtful = [](const OdeSettings& s) { return s.options.number("rho_inf") == 1 && !has_projection(s); };
  m.make = [](const Equations& e, const MethodSettings& s) {
    return make_alpha(e, s, AlphaParameters::generalized(s.options.number("rho_inf")));
  };
  return m;
}

}  // namespace trammel::methods
