#include "trammel/formulate/formulation_keys.h"
#include "trammel/integrate/alpha/alpha_description.h"

namespace trammel::methods {

MethodInfo newmark_i3() {
  MethodInfo m;
  m.key = "newmark-i3";
  m.order = 1;  // 2 for gamma = 1/2 only
  m.title = "Newmark, index 3";
  m.formulations = {formulation::index_3};
  m.source = "Newmark 1959; Negrut et al., equations (2a)-(2c)";
  m.stiff = m.steps_to_outputs = true;
  m.stability = "A-stable for 2 beta >= gamma >= 1/2";
  m.options = with_alpha_options({{"gamma", FieldKind::number, Quantity::none, 0.6,
                                   "1/2 is of order 2, fixed step only; above, order 1 with damping.", 0.5, 1.5},
                                  {"beta", FieldKind::number, Quantity::none, 0.0,
                                   "0 takes (gamma + 1/2)^2 / 4, the most damping for this gamma.", 0, 2}});
  const auto beta = [](const OdeSettings& s) {
    const double gamma = s.options.number("gamma"), b = s.options.number("beta");
    return b == 0 ? (gamma + 0.5) * (gamma + 0.5) / 4 : b;
  };
  m.refuses = [beta](const OdeSettings& s) -> std::string {
    if (std::string wrong = wrong_option(s); !wrong.empty()) return wrong;
    const double gamma = s.options.number("gamma");
    if (2 * beta(s) < gamma)
      return "2 beta < gamma is not A-stable, and constraints at index 3 act like infinite stiffness";
    if (!s.fixed_step && gamma == 0.5) {
      return "gamma = 1/2 leaves the oscillation of multipliers undamped; it enters the error estimate and drives a "
             "controlled step size to zero";
    }
    return "";
  };
  m.caveat = [](const OdeSettings& s) -> std::string {
    if (s.options.number("gamma") > 0.5) return "gamma > 1/2: the method is of first order only";
    return has_projection(s)
               ? ""
               : "gamma = 1/2: the multipliers' oscillation is undamped, reactions of the method are not convergent";
  };
  m.reactions_doubtful = [](const OdeSettings& s) { return s.options.number("gamma") == 0.5 && !has_projection(s); };
  m.make = [beta](const Equations& e, const MethodSettings& s) {
    return make_alpha(e, s, AlphaParameters::newmark(s.options.number("gamma"), beta(s)));
  };
  return m;
}

}  // namespace trammel::methods
