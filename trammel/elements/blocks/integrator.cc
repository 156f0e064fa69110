// Integrator,  y' = k u,  that stops at its limits and leaves them as soon as the input points back.
#include "trammel/elements/blocks/block.h"

namespace trammel {

BlockDescription describe_integrator() {
  return {"integrator",
          "The integral of its input, within limits.",
          {input_field(),
           {"gain", FieldKind::number, Quantity::none, 1.0, "k."},
           optional_field("upper", FieldKind::number, Quantity::none, "The output is not greater."),
           optional_field("lower", FieldKind::number, Quantity::none, "The output is not less."),
           {"initial", FieldKind::number, Quantity::none, 0.0, "Output at the start."},
           unit_field()},
          [](BlockWriter& block) {
            const bool upper = block.has("upper"), lower = block.has("lower");
            const double initial = block.number("initial");
            if (upper && lower && block.number("upper") <= block.number("lower"))
              block.refuse("'upper' does not lie above 'lower'", "exchange them");
            if ((upper && initial > block.number("upper")) || (lower && initial < block.number("lower")))
              block.refuse("'initial' lies outside of the limits", "start within them");
            const std::string u = block.input(), y = block.name_of("x1");
            const std::string rate = sum({product(block.number("gain"), u)});
            std::string held, output = y;
            if (upper) {
              const std::string limit = in_text(block.number("upper"));
              held = "(" + y + " >= " + limit + " and " + rate + " > 0)";
              output = "min(" + output + ", " + limit + ")";
            }
            if (lower) {
              const std::string limit = in_text(block.number("lower"));
              held += (held.empty() ? "(" : " or (") + y + " <= " + limit + " and " + rate + " < 0)";
              output = "max(" + output + ", " + limit + ")";
            }
            block.state("x1", held.empty() ? rate : "if(" + held + ", 0, " + rate + ")", initial);
            block.output(output);
          }};
}

}  // namespace trammel
