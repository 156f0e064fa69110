#include "trammel/formulate/formulation_keys.h"
#include "trammel/integrate/alpha/alpha_description.h"

namespace trammel::methods {

MethodInfo hht_i3() {
  MethodInfo m;
  m.key = "hht-i3";
  m.title = "Hilber-Hughes-Taylor, index 3";
  m.formulations = {formulation::index_3};
  m.source =
      "Negrut, Rampalli, Ottarsson, Sajdak: On the use of the HHT method in the context of index 3 DAE of multibody "
      "dynamics";
  m.stiff = m.steps_to_outputs = true;
  m.stability = "A-stable; damping at high frequency by alpha";
  m.options = with_alpha_options({{"alpha", FieldKind::number, Quantity::none, -0.3,
                                   "Damping of high frequencies, -1/3 (most) to 0 (none). With a fixed step, nearer "
                                   "to 0 keeps more energy; under step control the tolerance decides that, and "
                                   "nearer to 0 only makes reactions noisy.",
                                   -1.0 / 3 - 1e-12, 0}});
  m.refuses = [](const OdeSettings& s) -> std::string {
    if (std::string wrong = wrong_option(s); !wrong.empty()) return wrong;
    if (!s.fixed_step && s.options.number("alpha") == 0) {
      return "alpha = 0 leaves the oscillation of multipliers undamped; it enters the error estimate and drives a "
             "controlled step size to zero";
    }
    return "";
  };
  m.caveat = [](const OdeSettings& s) -> std::string {
    return s.options.number("alpha") == 0 && !has_projection(s)
               ? "alpha = 0: the multipliers' oscillation is undamped, reactions of the method are not convergent"
               : "";
  };
  m.reactions_doubtful = [](const OdeSettings& s) { return s.options.number("alpha") == 0 && !has_projection(s); };
  m.make = [](const Equations& e, const MethodSettings& s) {
    return make_alpha(e, s, AlphaParameters::hht(s.options.number("alpha")));
  };
  return m;
}

}  // namespace trammel::methods
