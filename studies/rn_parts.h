// The parts of the study of the Rosenbrock-Nystrom paper, and what they share.
#pragma once

#include <string>
#include <vector>

#include "studies/study.h"

namespace trammel::rn_study {

inline constexpr const char* pendulum_file = "rn_double_pendulum.yaml";

// The id of a cell of the printed tables of the pendulum.
std::string cell(const char* table, int k, const char* column);
// The paper's weights of the error (4): 1 m, 1 rad and 1 of each per second, added to the coordinate itself.
void take_printed_weights(Model& model);

// Errors of one variable at the ends of steps: the print's three measures, and where the largest is.
struct StepErrors {
  double largest = 0, mean = 0, relative = 0, at = 0;  // relative: in per cent
};
StepErrors errors_at_steps(const ModelRun& run, const ModelRun& reference, const char* signal);

// rn_starts.cc: the start that the text states beside the one that the tables point to, and the paper's reference.
void starts(const StudyContext& context, std::vector<Row>& rows);
// rn_as_stated.cc: the HMMWV with what the text says of it.
void as_stated(const StudyContext& context, std::vector<Row>& rows);

}  // namespace trammel::rn_study
