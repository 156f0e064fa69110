// What the output table of a run holds, column by column, in the order of its rows: the recorder makes the names of its
// signals from it, and a result tells viewers by it what each column means.
#pragma once
#include <string>
#include <vector>

#include "trammel/equations/equations.h"
#include "trammel/write/trajectory.h"

namespace trammel {

enum class OutputOwner { time, output, body, coordinate, joint, motion, force, state, variable, energy, residual };
const char* to_text(OutputOwner);

enum class OutputShape { scalar, vector, quaternion };  // 1, 3 and 4 columns

struct OutputColumn {
  std::string quantity;  // "position", "force"
  OutputShape shape;
  std::string path;  // the signal's name, without .x, .y, .z
  std::string unit, text;
  std::string on = {};    // the body it acts on, where there is a choice
  std::string axis = {};  // of a scalar that is one of many: "3" of mode 3
};

// All columns of one element.
struct OutputGroup {
  OutputOwner of;
  std::string name;
  std::vector<OutputColumn> columns;
  int constraint = -1;  // number of the joint or motion; -1: neither
};

std::vector<OutputGroup> output_groups(const Equations& equations);

// Forces that have one record: one force, or all contacts of a set.
struct RecordedForces {
  int first = 0, count = 1;
  bool is_set = false;
};
std::vector<RecordedForces> recorded_forces(const Model& model);
// The signals of a column; `flag` is empty or the caveat that its values carry.
void add_signals(const OutputColumn& column, const std::string& flag, std::vector<Signal>& out);

// The bodies that a gear or another coupling of joints acts on, each with the place of its first frame in the item;
// none of other joints.
std::vector<std::pair<int, std::size_t>> coupled_bodies(const Model& model, const Item& item);

}  // namespace trammel
