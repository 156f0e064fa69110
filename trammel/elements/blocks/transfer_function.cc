// Transfer function in the controllable canonical form: with a_n = 1,
//
//   G(s) = (b_n s^n + ... + b_0) / (s^n + a_{n-1} s^{n-1} + ... + a_0)
//   x_i' = x_{i+1},   x_n' = u - a_0 x_1 - ... - a_{n-1} x_n,   y = sum (b_i - b_n a_i) x_{i+1} + b_n u
#include <algorithm>
#include <cmath>

#include "trammel/elements/blocks/block.h"

namespace trammel {
namespace {

void write_transfer_function(BlockWriter& block) {
  std::vector<double> b = block.item().fields.get<std::vector<double>>("numerator"),
                      a = block.item().fields.get<std::vector<double>>("denominator");
  if (a.empty() || a[0] == 0)
    block.refuse("the first coefficient of the denominator is 0", "give them from the highest power of s on");
  if (b.empty()) block.refuse("the numerator has no coefficients", "give at least one");
  while (b.size() > 1 && b[0] == 0) b.erase(b.begin());
  if (b.size() > a.size())
    block.refuse("the numerator is of higher degree than the denominator",
                 "such a block differentiates its input; use the rate of a measure, or add a fast pole");
  const int n = static_cast<int>(a.size()) - 1;
  b.insert(b.begin(), a.size() - b.size(), 0.0);
  const double lead = a[0];
  for (double& each : b) each /= lead;
  for (double& each : a) each /= lead;
  std::reverse(a.begin(), a.end());  // a[i], b[i] belong to s^i
  std::reverse(b.begin(), b.end());
  std::vector<double> start(n, 0.0);
  if (block.has("initial")) {
    start = block.item().fields.get<std::vector<double>>("initial");
    if (std::ssize(start) != n)
      block.refuse("'initial' has " + std::to_string(start.size()) + " values, but the block has " + std::to_string(n) +
                       " states",
                   "give one for each state, or leave it out to start at 0");
  }
  const std::string u = block.input();
  const auto x = [&](int i) { return block.name_of("x" + std::to_string(i + 1)); };
  std::vector<std::string> last{u}, output{product(b[n], u)};
  for (int i = 0; i < n; ++i) {
    last.push_back(product(-a[i], x(i)));
    output.push_back(product(b[i] - b[n] * a[i], x(i)));
  }
  for (int i = 0; i < n; ++i)
    block.state("x" + std::to_string(i + 1), i + 1 < n ? x(i + 1) : sum(last), start[static_cast<std::size_t>(i)]);
  block.output(sum(output));
}

}  // namespace

BlockDescription describe_transfer_function() {
  return {"transfer_function",
          "A proper rational function of s, numerator over denominator.",
          {input_field(),
           {"numerator", FieldKind::numbers, Quantity::none, {}, "Coefficients from the highest power of s to s^0."},
           {"denominator",
            FieldKind::numbers,
            Quantity::none,
            {},
            "Coefficients from the highest power of s to s^0; of the same degree as the numerator, or higher."},
           optional_field("initial", FieldKind::numbers, Quantity::none,
                          "Values of the states at the start; left out, they are 0."),
           unit_field()},
          write_transfer_function};
}

}  // namespace trammel
