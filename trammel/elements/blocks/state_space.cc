// Linear system  x' = A x + B u,  y = C x + D u,  with several inputs and outputs. Outputs are the variables NAME.1,
// NAME.2, ...; NAME is the first.
#include <cmath>

#include "trammel/elements/blocks/block.h"

namespace trammel {
namespace {

struct BlockMatrix {
  const std::vector<double>& by_rows;
  int rows, columns;
  double operator()(int i, int j) const {
    return by_rows.empty() ? 0.0 : by_rows[static_cast<std::size_t>(i * columns + j)];
  }
};

BlockMatrix block_matrix(const BlockWriter& block, const char* name, int rows, int columns,
                         bool may_be_left_out = false) {
  const auto& numbers = block.item().fields.get<std::vector<double>>(name);
  if (std::ssize(numbers) != rows * columns && !(may_be_left_out && numbers.empty())) {
    block.refuse("'" + std::string(name) + "' has " + std::to_string(numbers.size()) + " numbers, but " +
                     std::to_string(rows) + " rows of " + std::to_string(columns) + " are needed",
                 "A has as many rows and columns as there are states, B a column for each input, C a row for each "
                 "output");
  }
  return {numbers, rows, columns};
}

void write_state_space(BlockWriter& block) {
  const Fields& fields = block.item().fields;
  const auto& inputs = fields.get<std::vector<std::string>>("inputs");
  const int nu = static_cast<int>(inputs.size());
  const auto count = [&](const char* name) { return static_cast<int>(fields.get<std::vector<double>>(name).size()); };
  const int nx = static_cast<int>(std::lround(std::sqrt(static_cast<double>(count("A")))));
  const BlockMatrix A = block_matrix(block, "A", nx, nx);
  if (nu == 0 || nx == 0) block.refuse("it needs at least one input and one state", "give `inputs` and `A`");
  if (count("C") == 0) block.refuse("it has no output", "give C a row for each output");
  if (count("C") % nx != 0)
    block.refuse("'C' has " + std::to_string(count("C")) + " numbers, which is no multiple of the " +
                     std::to_string(nx) + " states",
                 "give it a row for each output, with a column for each state");
  const int ny = count("C") / nx;
  const BlockMatrix B = block_matrix(block, "B", nx, nu), C = block_matrix(block, "C", ny, nx),
                    D = block_matrix(block, "D", ny, nu, true);
  std::vector<double> start(nx, 0.0);
  if (block.has("initial")) start = fields.get<std::vector<double>>("initial");
  if (std::ssize(start) != nx)
    block.refuse("'initial' has " + std::to_string(start.size()) + " values for " + std::to_string(nx) + " states",
                 "give one for each state, or leave it out to start at 0");
  const auto x = [&](int i) { return "x" + std::to_string(i + 1); };
  for (int i = 0; i < nx; ++i) {
    std::vector<std::string> rate;
    for (int j = 0; j < nx; ++j) rate.push_back(product(A(i, j), block.name_of(x(j))));
    for (int j = 0; j < nu; ++j) rate.push_back(product(B(i, j), "(" + inputs[static_cast<std::size_t>(j)] + ")"));
    block.state(x(i), sum(rate), start[static_cast<std::size_t>(i)]);
  }
  for (int i = 0; i < ny; ++i) {
    std::vector<std::string> output;
    for (int j = 0; j < nx; ++j) output.push_back(product(C(i, j), block.name_of(x(j))));
    for (int j = 0; j < nu; ++j) output.push_back(product(D(i, j), "(" + inputs[static_cast<std::size_t>(j)] + ")"));
    block.variable(std::to_string(i + 1), sum(output));
  }
  block.output(block.name_of("1"));
}

}  // namespace

BlockDescription describe_state_space() {
  return {"state_space",
          "A linear system x' = A x + B u, y = C x + D u.",
          {{"inputs", FieldKind::names, Quantity::none, {}, "Names of inputs, states, variables or blocks: u."},
           {"A", FieldKind::table, Quantity::none, {}, "As many rows and columns as there are states."},
           {"B", FieldKind::table, Quantity::none, {}, "A row for each state, a column for each input."},
           {"C", FieldKind::table, Quantity::none, {}, "A row for each output, a column for each state."},
           {"D", FieldKind::table, Quantity::none, std::vector<double>{},
            "A row for each output, a column for each input; left out, it is 0."},
           optional_field("initial", FieldKind::numbers, Quantity::none,
                          "Values of the states at the start; left out, they are 0."),
           unit_field()},
          write_state_space};
}

}  // namespace trammel
