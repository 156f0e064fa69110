// The parts of the study of SPLIT, and what they share.
#pragma once

#include <Eigen/Core>
#include <cstdio>
#include <string>
#include <vector>

#include "studies/study.h"

namespace trammel::split_study {

inline std::string text(const char* format, double a, double b = 0) {
  char out[96];
  std::snprintf(out, sizeof out, format, a, b);
  return out;
}

// A mass of 1 at q with the speed v, pushed along x by A and by B, expressions of dx(p), vx(p) and time; empty: not.
Model pushed_mass(const std::string& A, const std::string& B, double q, double v);
// Its q and v after the time `end`, in steps of h by split, or exactly for h = 0.
Eigen::Vector2d end_of_mass(Model model, double end, double h, const std::vector<std::string>& options);

// split_steps.cc: the estimates of section 2.2, the table of section 3, and section 5: (14) and (15).
void estimates_and_special_cases(const StudyContext& context, std::vector<Row>& rows);
void scaled_steps(const StudyContext& context, std::vector<Row>& rows);
// split_bearing.cc: 6.3 against closed forms and beside CVODE and HHT.
void bearing_study(const StudyContext& context, std::vector<Row>& rows);
// split_map.cc: where `split` needs fewer evaluations of the contacts than BDF.
void map_of_gain(const StudyContext& context, std::vector<Row>& rows);

}  // namespace trammel::split_study
