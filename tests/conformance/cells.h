// The cells method x formulation on which the rules of tests/conformance/rule_*_test.cc are tried, and runs in them.
//
// `make test` tries the quick cells: every method in the formulation it takes by itself, and one method of each family
// in all its formulations. With TRAMMEL_ALL_CELLS=1 in the environment, as in `make check-all`, all cells of the
// registry are tried.
#pragma once
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "trammel/run/simulation.h"

namespace trammel {

struct Cell {
  std::string method, formulation;
};
std::ostream& operator<<(std::ostream& out, const Cell& cell);

std::vector<Cell> cells_to_try();
// For INSTANTIATE_TEST_SUITE_P.
std::string name_of_cell(const testing::TestParamInfo<Cell>& info);

// A run from start to end, kept in memory. A run that fails does not throw: `result` says why.
struct CellRun {
  MemoryTrajectory trajectory;
  RunResult result;
};
// `model` with the method and formulation of the cell.
CellRun run_cell(const Cell& cell, Model model);

}  // namespace trammel
