// Controller with proportional, integral and derivative action on an error e, limits and back-calculation against
// windup (Astrom, Hagglund: PID Controllers, 2nd ed., 1995, section 3.5):
//
//   u = p e + I + d e_d,    y = u within the limits,    I' = i e + (y - u) / T_t
//   e_d = (e - z) / T_f,  z' = e_d,  or the rate of the error itself where the model knows it
#include <algorithm>
#include <cmath>

#include "trammel/elements/blocks/block.h"

namespace trammel {
namespace {

void write_pid(BlockWriter& block) {
  const double p = block.number("p"), i = block.number("i"), d = block.number("d"), filter = block.number("filter");
  const bool upper = block.has("upper"), lower = block.has("lower");
  if (upper && lower && block.number("upper") <= block.number("lower"))
    block.refuse("'upper' does not lie above 'lower'", "exchange them");
  const std::string e = block.input();
  std::vector<std::string> terms{product(p, e)};
  if (d != 0 && block.has("rate")) {
    terms.push_back(product(d, block.variable("rate", block.item().fields.get<ExpressionText>("rate").text)));
  } else if (d != 0) {
    if (!(filter > 0))
      block.refuse("a derivative needs the `rate` of the error, or a `filter` time",
                   "for an error in an angle give the rate of the angle; a filter of a tenth of d/p is usual");
    const std::string z = block.name_of("filtered"),
                      slope = block.variable("slope", "(" + e + " - " + z + ")/" + in_text(filter));
    block.state("filtered", slope, block.number("initial_error"));
    terms.push_back(product(d, slope));
  }
  const std::string integral = block.name_of("integral");
  if (i != 0) terms.push_back(integral);
  const std::string asked = block.variable("asked", sum(terms));
  std::string given = asked;
  if (upper) given = "min(" + given + ", " + in_text(block.number("upper")) + ")";
  if (lower) given = "max(" + given + ", " + in_text(block.number("lower")) + ")";
  block.output(given);
  if (i == 0) return;
  std::string rate = product(i, e);
  if (upper || lower) {
    // The rules of the book: T_i = p/i without derivative action, sqrt(T_i T_d) = sqrt(d/i) with it.
    const double usual = d != 0 ? std::sqrt(std::abs(d / i)) : p != 0 ? std::abs(p / i) : 1 / std::abs(i);
    const double tracking = block.has("tracking") ? block.number("tracking") : usual;
    rate += " + (" + block.item().name + " - " + asked + ")/" + in_text(tracking);
  }
  block.state("integral", rate, block.number("initial_integral"));
}

}  // namespace

BlockDescription describe_pid() {
  Field tracking = optional_field("tracking", FieldKind::number, Quantity::time,
                                  "How fast the integral follows where a limit holds the output; p/i if left out, "
                                  "sqrt(d/i) with derivative action, 1/i without both.");
  tracking.least = 1e-12;
  return {"pid",
          "A controller with proportional, integral and derivative action, limits and anti-windup.",
          {{"input", FieldKind::expression, Quantity::none, {}, "The error: what is wanted less what is."},
           {"p", FieldKind::number, Quantity::none, 0.0, "Gain of the error."},
           {"i", FieldKind::number, Quantity::none, 0.0, "Gain of its integral."},
           {"d", FieldKind::number, Quantity::none, 0.0, "Gain of its rate."},
           optional_field("rate", FieldKind::expression, Quantity::none,
                          "The rate of the error, where measures give it exactly; otherwise it is filtered."),
           {"filter", FieldKind::number, Quantity::time, 0.0, "Time constant of the derivative without a `rate`.", 0},
           optional_field("upper", FieldKind::number, Quantity::none, "The output is not greater."),
           optional_field("lower", FieldKind::number, Quantity::none, "The output is not less."),
           std::move(tracking),
           {"initial_integral", FieldKind::number, Quantity::none, 0.0, "Integral part of the output at the start."},
           {"initial_error", FieldKind::number, Quantity::none, 0.0,
            "The error that the filter of the derivative starts with: the true one avoids a kick."},
           unit_field()},
          write_pid};
}

}  // namespace trammel
