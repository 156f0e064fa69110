// Do joints and motions hold? After every step each row's residual is measured against what the formulation promises:
//
//   hard forms: ten times the tolerance, by the length scale for rows that are lengths, by 1 rad for angles, and by the
//               speeds for rows at velocity level; where loops did not close at the start, ten times that misfit more.
//               A row that stays beyond it for three steps ends the run: what moves then is not the model.
//   soft forms: a thousandth instead (ten times the tolerance, if that is more). Beyond it the run is warned about, and
//               three steps beyond ten times that end it, except where drift, softer penalties or a fixed number of
//               corrections were asked for.
#pragma once
#include "trammel/base/archive.h"
#include "trammel/equations/equations.h"
#include "trammel/integrate/registry.h"

namespace trammel {

// Penalties, drift and relaxation are chosen; so is a fixed number of corrections, whatever they leave.
bool holds_softly(const MethodSettings& settings);

struct ConstraintViolation {
  double since = 0;                 // start of the step in which it began, s
  double largest = 0;               // m or rad (m/s or rad/s of rows at velocity level)
  std::vector<std::string> parts;   // "motion 'm1'", the largest first: those that share it
  std::vector<std::string> values;  // "0.0625 rad", of each
};

class ConstraintWatch {
 public:
  // `rate`: of the model, Equations::rate.
  ConstraintWatch(const Equations& equations, const MethodSettings& settings, double rate);

  // After a step that began at `from`.
  void look(double from, const State& state, const Rates& rates, Workspace& work);
  bool soft() const { return soft_; }
  bool beyond() const { return record_.steps > 0; }  // at the last step
  bool gave_way() const { return record_.steps_lost >= patience; }
  bool ever_beyond() const { return record_.worst > 1; }
  double promised() const { return promised_; }

  // At the last step, and where it was largest.
  ConstraintViolation now() const { return describe(rows_, record_.since); }
  ConstraintViolation worst() const { return describe(worst_rows_, record_.first); }

  void visit(Archive& archive);

 private:
  static constexpr int patience = 3;
  void take_up_slip(double h, double rate);
  ConstraintViolation describe(const Vec& rows, double since) const;
  std::string value_of(int row, double residual) const;

  const Equations& equations_;
  bool soft_;
  double lost_;      // times the bound, from where on a run is not the model's
  double promised_;  // relative to the length scale or 1 rad
  double rate_;
  Vec scales_;
  Vec bounds_;  // of each row
  Residual residual_;
  Vec rows_, worst_rows_;  // residuals of the last step, and of that with the largest
  Vec slip_;               // of each row at velocity level, m or rad
  struct Record {
    long steps = 0, steps_lost = 0;          // in a row, beyond the bounds and beyond lost_ times them
    double since = 0, first = 0, worst = 0;  // since: of this series, first: of all; worst: by the bound
  } record_;
};

}  // namespace trammel
