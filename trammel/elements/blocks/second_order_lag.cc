// Second-order lag,  y'' + 2 zeta w y' + w^2 y = k w^2 u.
#include <numbers>

#include "trammel/elements/blocks/block.h"

namespace trammel {

BlockDescription describe_second_order_lag() {
  return {"second_order_lag",
          "A low-pass filter of second order: y'' + 2 zeta w y' + w^2 y = k w^2 u.",
          {input_field(),
           {"frequency", FieldKind::number, Quantity::frequency, {}, "w / (2 pi), of the undamped oscillation.", 1e-12},
           {"damping", FieldKind::number, Quantity::none, 0.7, "zeta: 1 is critical damping.", 0},
           {"gain", FieldKind::number, Quantity::none, 1.0, "k: the output for a steady input of 1."},
           {"initial", FieldKind::number, Quantity::none, 0.0, "Output at the start."},
           {"initial_rate", FieldKind::number, Quantity::none, 0.0, "Its rate at the start."},
           unit_field()},
          [](BlockWriter& block) {
            const double w = 2 * std::numbers::pi * block.number("frequency");
            const std::string u = block.input(), y = block.name_of("x1"), rate = block.name_of("x2");
            block.state("x1", rate, block.number("initial"));
            block.state("x2",
                        sum({product(w * w * block.number("gain"), u), product(-w * w, y),
                             product(-2 * block.number("damping") * w, rate)}),
                        block.number("initial_rate"));
            block.output(y);
          }};
}

}  // namespace trammel
