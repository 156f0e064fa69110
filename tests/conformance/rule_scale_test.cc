// The units of a model are of no consequence: a watch, a bridge and a device of micrometres, light or heavy, take the
// same steps, iterations and factorisations, with the same fill, and give the same results after scaling back. Lengths
// times s, times times sqrt(s), so that gravity stays, and masses times any factor, over twelve decades of each.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/conformance/cells.h"
#include "tests/conformance/scaled_model.h"
#include "tests/problems/stepping.h"

namespace trammel::rule_scale_test {
namespace {

// Options that are frequencies or times are given in the units of the model, like everything else.
void set_frequencies(const Cell& cell, double T, Model& model) {
  const std::string& f = cell.formulation;
  if (f == "index-1-baumgarte" || f == "penalty" || f == "augmented-lagrangian")
    model.simulation.options.set("frequency", 20 / T);
  if (f == "penalty-joints") {
    model.simulation.options.set("penalty_frequency", 100 / T);
    model.simulation.options.set("penalty_time", 0.003 * T);
  }
}

CellRun run_scaled(const Cell& cell, const Units& units) {
  Model model = scaled_model(units);
  set_frequencies(cell, units.T, model);
  return run_cell(cell, std::move(model));
}

// 1 in the units of a signal.
double unit_of(const std::string& unit, const Units& u) {
  if (unit == "m") return u.S;
  if (unit == "m/s") return u.S / u.T;
  if (unit == "rad/s") return 1 / u.T;
  if (unit == "m/s^2") return u.S / u.T / u.T;
  if (unit == "rad/s^2") return 1 / u.T / u.T;
  if (unit == "N") return u.M * u.S / u.T / u.T;
  if (unit == "N m") return u.M * u.S * u.S / u.T / u.T;
  if (unit == "J") return u.M * u.S * u.S / u.T / u.T;
  if (unit == "W") return u.M * u.S * u.S / u.T / u.T / u.T;
  if (unit == "s") return u.T;
  return 1;
}

// Entries of L + U: of the mass matrix with the constraints, and of the matrices of steps from far below to far above
// the periods of the model.
std::vector<long> fills(const Units& units) {
  const problems::Ready ready(scaled_model(units));
  const Equations& e = *ready.equations;
  Workspace work = e.make_workspace();
  Partials partials = e.make_partials(Detail::all);
  EXPECT_EQ(e.linearise(ready.state, ready.rates, Detail::all, partials, work), Eval::ok);
  std::vector<long> out;
  const auto add = [&out](SaddleSystem& saddle) {
    EXPECT_TRUE(saddle.factor());
    out.push_back(saddle.solver().fill());
  };
  SaddleSystem mass(e);
  mass.combine_mass(partials);
  add(mass);
  for (const Blend::Rows rows : {Blend::Rows::own, Blend::Rows::velocity}) {
    for (int k = -20; k <= 4; k += 4) {
      const double h = std::ldexp(units.T, k);
      SaddleSystem step(e);  // pivots of its own
      step.combine(partials, {1, h * h, h * h, h, h, rows}, nullptr);
      add(step);
    }
  }
  return out;
}

TEST(RuleScaleFill, UnitsDoNotChangeThePivots) {
  const std::vector<long> usual = fills({});
  for (const long fill : usual) EXPECT_GT(fill, 0);
  for (const double S : {std::ldexp(1.0, -20), 1.0, std::ldexp(1.0, 20)}) {
    for (const double M : {std::ldexp(1.0, -20), 1.0, std::ldexp(1.0, 20)})
      EXPECT_EQ(fills({S, std::sqrt(S), M}), usual) << "S = " << S << ", M = " << M;
  }
}

class RuleScale : public testing::TestWithParam<Cell> {};

TEST_P(RuleScale, UnitsChangeNeitherWorkNorResults) {
  // CVODE chooses pivots of dense matrices in the units of the states, and from there its steps and orders.
  const bool foreign = GetParam().method.substr(0, 5) == "cvode";
  // Newton's corrections end at 1e-10 of the length scale here: where that is met to the last digits, round-off
  // decides.
  const double exact = foreign ? 1e-3 : GetParam().formulation == "index-2-relaxed" ? 1e-8 : 1e-9;
  const CellRun usual = run_scaled(GetParam(), {});
  ASSERT_EQ(usual.result.status, RunStatus::finished);
  const double small = std::ldexp(1.0, -20), large = std::ldexp(1.0, 20), root = std::ldexp(1.0, 10);
  for (const Units& units : {Units{small, 1 / root, 1}, Units{large, root, 1}, Units{1, 1, small}, Units{1, 1, large},
                             Units{small, 1 / root, large}}) {
    SCOPED_TRACE(testing::Message() << "S = " << units.S << ", T = " << units.T << ", M = " << units.M);
    const CellRun scaled = run_scaled(GetParam(), units);
    ASSERT_EQ(scaled.result.status, RunStatus::finished);
    const RunSummary &a = usual.result.summary, &b = scaled.result.summary;
    EXPECT_NEAR(static_cast<double>(a.steps), static_cast<double>(b.steps), foreign ? 5 : 0);
    EXPECT_EQ(a.rejected_error, b.rejected_error);
    EXPECT_EQ(a.rejected_newton + a.rejected_evaluation, b.rejected_newton + b.rejected_evaluation);
    // Pivots of dense matrices are chosen in the units of the states: a correction that is round-off only may be one
    // more.
    const auto alike = [foreign](long x, long y) {
      const double size = static_cast<double>(x);
      EXPECT_NEAR(size, static_cast<double>(y), 1 + (foreign ? 0.2 : 0.01) * size);
    };
    alike(a.counts.evaluations, b.counts.evaluations);
    alike(a.counts.newton_iterations, b.counts.newton_iterations);
    alike(a.counts.factorisations, b.counts.factorisations);
    alike(a.counts.refactorisations, b.counts.refactorisations);
    alike(a.counts.solves, b.counts.solves);
    const MemoryTrajectory &p = usual.trajectory, &q = scaled.trajectory;
    ASSERT_EQ(p.rows(0), q.rows(0));
    for (std::size_t c = 0; c < p.tables()[0].signals.size(); ++c) {
      const Signal& signal = p.tables()[0].signals[c];
      if (signal.name.find("residual") != std::string::npos) continue;  // round-off
      const double unit = unit_of(signal.unit, units);
      double size = 0, apart = 0;
      for (std::size_t row = 0; row < p.rows(0); ++row) {
        const double value = p.value({0, c}, row);
        size = std::max(size, std::abs(value));
        apart = std::max(apart, std::abs(q.value({0, c}, row) / unit - value));
      }
      EXPECT_LE(apart, exact * std::max(size, 1.0)) << signal.name << " [" << signal.unit << "]";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, RuleScale, testing::ValuesIn(cells_to_try()), name_of_cell);

}  // namespace
}  // namespace trammel::rule_scale_test
