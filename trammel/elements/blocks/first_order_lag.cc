// First-order lag,  T y' + y = k u.
#include "trammel/elements/blocks/block.h"

namespace trammel {

BlockDescription describe_first_order_lag() {
  return {
      "first_order_lag",
      "A low-pass filter of first order: T y' + y = k u.",
      {input_field(),
       {"time_constant", FieldKind::number, Quantity::time, {}, "T: after it 63 % of a step has come through.", 1e-12},
       {"gain", FieldKind::number, Quantity::none, 1.0, "k: the output for a steady input of 1."},
       {"initial", FieldKind::number, Quantity::none, 0.0, "Output at the start."},
       unit_field()},
      [](BlockWriter& block) {
        const std::string u = block.input(), y = block.name_of("x1");
        block.state(
            "x1",
            "(" + sum({product(block.number("gain"), u), "-" + y}) + ")/" + in_text(block.number("time_constant")),
            block.number("initial"));
        block.output(y);
      }};
}

}  // namespace trammel
