// Constrained systems by every formulation: drift of the constraints, condition of BDF's Newton matrices over the step
// size, spikes of reactions after a change of the step, where BDF of high order pays and where it is not stable.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <stdexcept>

#include "studies/study.h"
#include "trammel/base/data_directory.h"
#include "trammel/equations/saddle.h"
#include "trammel/linalg/eigenvalues.h"
#include "trammel/write/plot.h"

namespace trammel {
namespace constrained_study {
namespace {

std::string model_path(const std::string& file) { return (data_directory() / "models" / file).string(); }

// The model of a file, started and stepped by hand.
struct HandStepped {
  HandStepped(const std::string& file, const ModelChanges& changes)
      : simulation(load_model(model_path(file), changes)) {
    simulation.start();
  }
  void step(double h) {
    const Attempt attempt = simulation.integrator().attempt(h);
    if (attempt.verdict != Verdict::ok) throw std::runtime_error(to_text(attempt.verdict));
    simulation.integrator().accept();
  }
  Simulation simulation;
};

// ---- drift ----------------------------------------------------------------------------------------------------------

// |g| and |G v + g_t| of the method's own states, largest in the last tenth of many steps.
void drift(std::vector<Row>& rows, const StudyContext& context) {
  constexpr double h = 1e-4;
  const long count = context.full ? 1000000 : 100000;
  const double summed = 2.2e-16 * static_cast<double>(count), enforced = 1e-12;
  const char* const round_off = "nothing pulls back: at most a round-off a step, all of one sign";
  const char* const in_each = "enforced in every step, so that it does not grow: some thousand round-offs";
  const char* const pulled =
      "Baumgarte's terms pull back what a step adds, so that it does not grow: some thousand "
      "round-offs";
  // Positions that obey the constraint give velocities an error of the formula that differentiates them, a part of h^2
  // times the third derivative along the rod: 3 g v_z, with v_z up to 1.22 m/s.
  const double third = 3 * 9.81 * 1.25;
  const char* const by_bdf =
      "index 3 leaves velocities free: BDF of order 2 differentiates with an error of h^2/3 of the "
      "third derivative along the rod, 3 g v_z, 37 m/s^3 at most";
  const char* const by_hht =
      "index 3 leaves velocities free: beta + alpha/2 - 1/6 = 0.106 of h^2 times the third "
      "derivative along the rod, 3 g v_z, 37 m/s^3 at most";
  const char* const left =
      "enforced in every step to the corrector's 1e-6 of what changes in it, 0.01 m/s^2 times h, and "
      "ten of them";
  const char* const promised = "what the program promises with a penalty: a thousandth of the length scale";
  const char* const unpromised =
      "springs, or an iteration that stops early, in place of constraints: positions have the "
      "bound";
  struct Cell {
    const char *method, *formulation;
    double position, velocity;  // bounds; 0: none
    const char *why_position, *why_velocity;
  };
  const Cell cells[] = {{"rk4", "index-1", summed, summed, round_off, round_off},
                        {"rk4", "index-1-baumgarte", enforced, enforced, pulled, pulled},
                        {"rk4", "index-1-projected", enforced, enforced, in_each, in_each},
                        {"rk4", "state-space", enforced, enforced, in_each, in_each},
                        {"rk4", "penalty", 1e-3, 0, promised, unpromised},
                        {"hht-i3", "index-3", enforced, 0.10583 * third * h * h, in_each, by_hht},
                        {"hht-si2", "stabilised-index-2", enforced, 1e-11, in_each, left},
                        {"bdf-i3", "index-3", enforced, third / 3 * h * h, in_each, by_bdf},
                        {"bdf-si2", "stabilised-index-2", enforced, 1e-11, in_each, left},
                        {"hht", "augmented-lagrangian", 1e-3, 0, promised, unpromised},
                        {"radau-iia-3", "index-3", enforced, 100 * h * h * h, in_each,
                         "index 3 leaves velocities free: order 3, and a twelfth of the fourth derivative along the "
                         "rod, some 1200 m/s^4"},
                        {"radau-iia-3", "stabilised-index-2", enforced, enforced, in_each, in_each}};
  const std::string table = "drift over " + std::string(context.full ? "1e6" : "1e5") + " steps";
  for (const Cell& cell : cells) {
    const std::string name = std::string(cell.method) + ", " + cell.formulation;
    context.note("drift, " + name);
    guard(rows, table, name, [&] {
      HandStepped run("spherical_pendulum.yaml", {.method = cell.method, .formulation = cell.formulation, .step = h});
      const Equations& e = run.simulation.equations();
      Workspace work = e.make_workspace();
      Residual residual = e.make_residual();
      Vec rate(e.sizes().multipliers());
      double g = 0, gdot = 0;
      for (long i = 0; i < count; ++i) {
        run.step(h);
        if (i < count - count / 10 || i % 100 != 0) continue;
        const Integrator& m = run.simulation.integrator();
        e.residual(m.state(), m.rates(), joints, residual, work);
        e.velocity_residual(m.state(), rate, work);
        g = std::max(g, residual.g.lpNorm<Eigen::Infinity>());
        gdot = std::max(gdot, rate.lpNorm<Eigen::Infinity>());
      }
      const auto report = [&](const char* quantity, double bound, const char* reason, double ours) {
        rows.push_back(
            (bound > 0 ? Row::at_most(table, name, quantity, bound, ours) : Row::measure(table, name, quantity, ours))
                .because(reason));
      };
      report("position constraint, m", cell.position, cell.why_position, g);
      report("velocity constraint, m/s", cell.velocity, cell.why_velocity, gdot);
    });
  }
}

// ---- condition ------------------------------------------------------------------------------------------------------

double condition(const Mat& K) {
  const Eigen::VectorXd s = singular_values(K).values;
  return s(0) / s(s.size() - 1);
}

// Newton matrices of BDF in all its unknowns, c = gamma_k / h:
//
//   index 3  (q, v, lambda)   [ c I  -I       0   ]   index 2: [ (G v)_q  G  0 ] in the last row
//                             [ r_q  c M+r_v  G^T ]   index 1, (q, v, a, lambda):
//                             [ G    0        0   ]     [ c I  -I   0   0 ; 0 c I -I 0 ; r_q r_v M G^T ; s_q s_v G 0 ]
Mat bdf_matrix(const Equations& e, const Partials& p, double c, int index) {
  const int nv = e.sizes().nv, ng = e.sizes().multipliers();
  const auto vv = [&](const Vec& values) { return Mat(e.vv().dense(values)); };
  const auto gv = [&](const Vec& values) { return Mat(e.gv().dense(values)); };
  const Mat I = Mat::Identity(nv, nv), M = vv(p.M), r_q = vv(p.force_q) + vv(p.Ma_q), r_v = vv(p.force_v), G = gv(p.G);
  if (index == 1) {
    Mat K = Mat::Zero(3 * nv + ng, 3 * nv + ng);
    K.block(0, 0, nv, nv) = c * I;
    K.block(0, nv, nv, nv) = -I;
    K.block(nv, nv, nv, nv) = c * I;
    K.block(nv, 2 * nv, nv, nv) = -I;
    K.block(2 * nv, 0, nv, nv) = r_q;
    K.block(2 * nv, nv, nv, nv) = r_v;
    K.block(2 * nv, 2 * nv, nv, nv) = M;
    K.block(2 * nv, 3 * nv, nv, ng) = G.transpose();
    K.block(3 * nv, 0, ng, nv) = gv(p.Ga_q) - gv(p.gamma_q);
    K.block(3 * nv, nv, ng, nv) = -gv(p.gamma_v);
    K.block(3 * nv, 2 * nv, ng, nv) = G;
    return K;
  }
  Mat K = Mat::Zero(2 * nv + ng, 2 * nv + ng);
  K.block(0, 0, nv, nv) = c * I;
  K.block(0, nv, nv, nv) = -I;
  K.block(nv, 0, nv, nv) = r_q;
  K.block(nv, nv, nv, nv) = c * M + r_v;
  K.block(nv, 2 * nv, nv, ng) = G.transpose();
  if (index == 3) {
    K.block(2 * nv, 0, ng, nv) = G;
  } else {
    K.block(2 * nv, 0, ng, nv) = gv(p.Gv_q);
    K.block(2 * nv, nv, ng, nv) = G;
  }
  return K;
}

void conditions(std::vector<Row>& rows, const StudyContext& context) {
  guard(rows, "condition", "spatial_slider_crank", [&] {
    HandStepped run("spatial_slider_crank.yaml", {.step = 1e-3});
    for (int i = 0; i < 300; ++i) run.step(1e-3);
    const Equations& e = run.simulation.equations();
    Workspace work = e.make_workspace();
    Partials p = e.make_partials(Detail::all);
    const Integrator& m = run.simulation.integrator();
    e.linearise(m.state(), m.rates(), Detail::all, p, work);
    PlotRequest plot;
    plot.title = "Condition of Newton's matrix over the step size, spatial slider-crank";
    plot.xlabel = "step size, s";
    plot.logx = true;
    plot.style = PlotStyle::linespoints;
    PlotPanel panel{"condition", {}, true};
    for (int index = 0; index <= 3; ++index) {  // 0: HHT's, as the engine scales it
      std::vector<double> h, y, fit_h, fit_y;
      // The law holds once c = 1.5 / h exceeds what does not depend on h: at index 1 the rows hold (G a)_q - gamma_q,
      // here 811, so that c is the largest below h = 2e-3 only. Above 1e14 round-off rules.
      const double fixed = index == 0 ? 0 : singular_values(bdf_matrix(e, p, 0, index)).values(0);
      for (int k = 4; k <= 12; ++k) {
        h.push_back(std::pow(10.0, -0.5 * k));
        if (index > 0) {
          y.push_back(condition(bdf_matrix(e, p, 1.5 / h.back(), index)));
          if (1.5 / h.back() < 4 * fixed || y.back() > 1e14) continue;
          fit_h.push_back(h.back());
          fit_y.push_back(y.back());
          continue;
        }
        const double b = 0.4225 * h.back() * h.back();
        SaddleSystem saddle(e);
        saddle.combine(p, {1 / 0.7, b, b, 0.8 * h.back()}, nullptr);
        y.push_back(condition(saddle.pattern().dense(saddle.values())));
        fit_h.push_back(h.back());
        fit_y.push_back(y.back());
      }
      const std::string name = index == 0 ? "hht-i3" : "BDF, index " + std::to_string(index);
      char range[64];
      std::snprintf(range, sizeof range, "slope over h, %.1g to %.1g s", fit_h.front(), fit_h.back());
      rows.push_back(Row::near("condition", name, range, -index, fitted_order(fit_h, fit_y), 0.05)
                         .because("theory: a power of 1/h for each order of the index; fitted where the law holds"));
      panel.curves.push_back({h, y, name, {}, false});
    }
    if (const auto file = context.picture("constrained_condition.png")) {
      plot.panels = {panel};
      draw_plot(plot, *file);
    }
  });
}

// ---- spikes ---------------------------------------------------------------------------------------------------------

// A method whose multipliers are watched.
struct Watched {
  const char *method, *option;
  bool projected() const { return *option != 0; }
  std::string name() const { return std::string(method) + (projected() ? ", projection" : ""); }
};

// Errors of the method's own multipliers, by their size, before and after the step size is cut to a third. They are
// compared with those that belong to its state; after a projection, which makes them so, with a run by a method of
// another family.
struct Spike {
  double before = 0, after = 0;
  PlotCurve curve;
};

Spike watch_spike(const Watched& way) {
  ModelChanges changes{.method = way.method, .step = 3e-3};
  if (way.projected()) changes.options.push_back(way.option);
  changes.options.push_back("corrector=1e-9");
  const std::string file = "spatial_slider_crank.yaml";
  HandStepped run(file, changes);
  std::optional<HandStepped> truth;
  if (way.projected())
    truth.emplace(file, ModelChanges{.method = "radau-iia-3", .formulation = "stabilised-index-2", .step = 3e-3 / 4});
  const Equations& e = (truth ? truth->simulation : run.simulation).equations();
  AccelerationSolver solver(e);
  Workspace work = e.make_workspace();
  Rates rates = e.make_rates();
  Spike out;
  out.curve.label = way.name();
  for (int i = 0; i < 140; ++i) {
    const double h = i < 100 ? 3e-3 : 1e-3;
    run.step(h);
    for (int k = 0; truth && k < 4; ++k) truth->step(h / 4);
    const Integrator& m = run.simulation.integrator();
    solver.solve(truth ? truth->simulation.integrator().state() : m.state(), rates, work);
    const double error = (m.rates().lambda - rates.lambda).norm() / rates.lambda.norm();
    if (i < 90) continue;
    double& largest = i < 100 ? out.before : out.after;
    largest = std::max(largest, error);
    out.curve.x.push_back(m.state().t);
    out.curve.y.push_back(std::max(error, 1e-14));
  }
  return out;
}

void spikes(std::vector<Row>& rows, const StudyContext& context) {
  PlotRequest plot;
  plot.title = "Multipliers after the step size is cut to a third, spatial slider-crank";
  plot.subtitle = "error of the method's own multipliers, by their size; after a projection against radau-iia-3";
  plot.xlabel = "time, s";
  plot.style = PlotStyle::linespoints;
  PlotPanel panel{"relative error", {}, true};
  for (const Watched& way : {Watched{"hht-i3", ""}, Watched{"hht-i3", "projection=exact"}, Watched{"hht-si2", ""},
                             Watched{"generalized-alpha-i3", ""}, Watched{"generalized-alpha-i3", "projection=exact"},
                             Watched{"generalized-alpha-si2", ""}, Watched{"bdf-i3", ""}, Watched{"bdf-si2", ""}}) {
    const std::string name = way.name();
    guard(rows, "spikes", name, [&] {
      const Spike found = watch_spike(way);
      const std::string against = way.projected() ? "multipliers against radau-iia-3 " : "multipliers ";
      const char* const effect = "the effect itself, which projection and index 2 remove: their quotient has the bound";
      rows.push_back(Row::measure("spikes", name, "relative error of " + against + "before the change", found.before)
                         .because(effect));
      rows.push_back(
          Row::measure("spikes", name, "relative error of " + against + "after it", found.after).because(effect));
      const double quotient = found.after / std::max(found.before, 1e-13);
      if (way.projected())
        rows.push_back(Row::at_most("spikes", name, "after by before: no spike", 2, quotient)
                           .because("both carry the error of the state, which changes with the motion; without the "
                                    "projection there are spikes of 17 and 27"));
      else if (std::string(way.method).ends_with("-si2"))
        rows.push_back(
            Row::at_most("spikes", name, "after by before: no spike", 1.5, quotient)
                .because("smaller steps must not be worse; half as much again for another part of the motion"));
      else
        rows.push_back(Row::at_least("spikes", name, "after by before: a spike", 2, quotient)
                           .because("index 3 without projection: the claim that there is something to remove"));
      panel.curves.push_back(found.curve);
    });
  }
  if (const auto file = context.picture("constrained_spikes.png"); file && !panel.curves.empty()) {
    plot.panels = {panel};
    plot.width = 1000;
    draw_plot(plot, *file);
  }
}

// ---- the trapezoidal rule -------------------------------------------------------------------------------------------

// TEXT 7.3 recommends the trapezoidal rule with velocities and accelerations brought onto their constraints after each
// step, or with a constraint on the energy; without, its multipliers oscillate, and what Newton leaves in them grows.
void trapezoidal(std::vector<Row>& rows, const StudyContext& context) {
  PlotRequest plot;
  plot.title = "Trapezoidal rule over 1e5 steps of 1 ms, spatial slider-crank";
  plot.xlabel = "time, s";
  PlotPanel energy_panel{"change of energy, J", {}, true}, force_panel{"relative error of multipliers", {}, true};
  const std::pair<const char*, const char*> ways[] = {{"", "plain"},
                                                      {"projection=exact", "velocity constraints"},
                                                      {"projection=iterated", "velocity constraints, iterated"},
                                                      {"energy=true", "velocity and energy constraints"}};
  for (const auto& way : ways) {
    const char* option = way.first;
    const std::string name = way.second;
    const bool projected = *option != 0;
    context.note("trapezoidal rule, " + name);
    guard(rows, "trapezoidal rule, 1e5 steps", name, [&] {
      constexpr long count = 100000;
      ModelChanges changes{.method = "newmark-i3", .step = 1e-3, .options = {"gamma=0.5", "beta=0.25"}};
      if (projected) changes.options.push_back(option);
      PlotCurve energies{{}, {}, name, {}, false}, forces = energies;
      HandStepped run("spatial_slider_crank.yaml", changes);
      const Equations& e = run.simulation.equations();
      AccelerationSolver solver(e);
      Workspace work = e.make_workspace();
      Rates rates = e.make_rates();
      const auto energy = [&] {
        const Energy now = e.energy(run.simulation.integrator().state(), run.simulation.integrator().rates(), work);
        return now.kinetic + now.potential;
      };
      const double first = energy();
      double drift = 0, error = 0;
      long made = 0;
      for (; made < count; ++made) {
        if (run.simulation.integrator().attempt(1e-3).verdict != Verdict::ok) break;
        run.simulation.integrator().accept();
        if (made % 100 != 0) continue;
        const Integrator& m = run.simulation.integrator();
        const double change = std::abs(energy() - first);
        drift = std::max(drift, change);
        solver.solve(m.state(), rates, work);
        const double wrong = (m.rates().lambda - rates.lambda).norm() / rates.lambda.norm();
        error = std::max(error, wrong);
        energies.x.push_back(m.state().t);
        energies.y.push_back(std::max(change, 1e-16));
        forces.x.push_back(m.state().t);
        forces.y.push_back(std::max(wrong, 1e-16));
      }
      energy_panel.curves.push_back(energies);
      force_panel.curves.push_back(forces);
      const std::string table = "trapezoidal rule, 1e5 steps", chosen = option;
      rows.push_back(
          projected
              ? Row::at_least(table, name, "steps made", static_cast<double>(count), static_cast<double>(made))
                    .because("TEXT 7.3: with the projection the rule can be used")
              : Row::at_most(table, name, "steps made", 0.1 * static_cast<double>(count), static_cast<double>(made))
                    .because("TEXT 7.3: without it the rule cannot"));
      if (chosen == "energy=true")
        rows.push_back(Row::error(table, name, "balance of energy, J", drift, 1e-9)
                           .because("a constraint on the energy: what its correction leaves"));
      else
        rows.push_back(Row::measure(table, name, "largest change of energy, J", drift)
                           .because("nothing bounds it but the motion; with the constraint on energy it has a bound"));
      if (chosen == "projection=iterated")  // the exact one solves the equations that it would be compared with
        rows.push_back(Row::at_most(table, name, "largest relative error of multipliers", 1e-9, error)
                           .because("four iterations with penalty 1e7, each a factor of about 1e-7 by (7.64)"));
      if (!projected)
        rows.push_back(Row::measure(table, name, "largest relative error of multipliers", error)
                           .because("the oscillation that projection removes"));
    });
  }
  if (const auto file = context.picture("constrained_trapezoidal.png"); file && !energy_panel.curves.empty()) {
    plot.panels = {energy_panel, force_panel};
    plot.width = 1000;
    draw_plot(plot, *file);
  }
}

// What the projected multipliers are worth: their error against a method of another family falls with h^2.
void projected_multipliers(std::vector<Row>& rows) {
  const std::string table = "trapezoidal rule, multipliers against radau-iia-3";
  for (const char* option : {"projection=exact", "projection=iterated", "energy=true"}) {
    guard(rows, table, option, [&] {
      std::vector<double> steps, errors;
      for (const double h : {4e-3, 2e-3, 1e-3}) {
        HandStepped rule("spatial_slider_crank.yaml",
                         {.method = "newmark-i3", .step = h, .options = {"gamma=0.5", "beta=0.25", option}}),
            truth("spatial_slider_crank.yaml",
                  {.method = "radau-iia-3", .formulation = "stabilised-index-2", .step = h / 4});
        const Equations& e = truth.simulation.equations();
        AccelerationSolver solver(e);
        Workspace work = e.make_workspace();
        Rates rates = e.make_rates();
        double worst = 0, size = 0;
        for (int i = 0; i < static_cast<int>(std::lround(0.4 / h)); ++i) {
          rule.step(h);
          for (int k = 0; k < 4; ++k) truth.step(h / 4);
          solver.solve(truth.simulation.integrator().state(), rates, work);
          worst = std::max(worst, (rule.simulation.integrator().rates().lambda - rates.lambda).norm());
          size = std::max(size, rates.lambda.norm());
        }
        steps.push_back(h);
        errors.push_back(worst / size);
      }
      rows.push_back(
          Row::near(table, option, "order of multipliers, 4 to 1 ms over 0.4 s", 2, fitted_order(steps, errors), 0.2)
              .because("theory: order 2; a fifth for coarse steps"));
    });
  }
}

// ---- where high orders pay ------------------------------------------------------------------------------------------

double error_of(const ModelRun& run, const ModelRun& truth, const std::string& signal) {
  const std::vector<double> a = run.column(signal), b = truth.column(signal);
  double most = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

// Smooth: the loop of the slider-crank. BDF to order 5 beside HHT at about the same error.
void smooth(std::vector<Row>& rows) {
  guard(rows, "smooth motion", "spatial_slider_crank", [&] {
    const auto run = [&](const char* method, double tolerance) {
      return run_model("spatial_slider_crank.yaml",
                       {.method = method, .tolerance = tolerance, .end = 1, .output_step = 0.01});
    };
    const ModelRun truth = run("bdf-si2", 1e-12);
    struct Try {
      const char* method;
      double tolerance;
    };
    double steps[2] = {}, errors[2] = {};
    int i = 0;
    for (const Try& t : {Try{"bdf-i3", 1e-8}, Try{"hht-i3", 1e-8}}) {
      const ModelRun got = run(t.method, t.tolerance);
      errors[i] = error_of(got, truth, "theta");
      steps[i] = static_cast<double>(got.result.summary.steps);
      rows.push_back(Row::measure("smooth motion", t.method, "largest error of theta, rad", errors[i])
                         .because("steps for the same error have the bound, below"));
      const char* const below = "steps for the same error have the bound, below";
      rows.push_back(Row::measure("smooth motion", t.method, "steps", steps[i]).because(below));
      rows.push_back(Row::measure("smooth motion", t.method, "evaluations",
                                  static_cast<double>(got.result.summary.counts.evaluations))
                         .because(below));
      ++i;
    }
    // HHT's error goes with the square of its steps, so equal errors are one root away.
    const double equal = steps[1] * std::sqrt(errors[1] / errors[0]);
    rows.push_back(Row::at_least("smooth motion", "hht-i3 by bdf-i3", "steps for the same error", 3, equal / steps[0])
                       .because("the claim that orders to 5 pay on a smooth motion"));
  });
}

// Lightly damped: a small mass rings on its carriage. Orders above 2 are not stable near the imaginary axis, and BDF
// has to see that: without its watch over the orders it took four times the steps of order 2.
void lightly_damped(std::vector<Row>& rows) {
  guard(rows, "light damping", "ringing_mass", [&] {
    const auto run = [&](const char* method, const char* option) {
      ModelChanges changes{.method = method, .tolerance = 1e-6};
      if (*option != 0) changes.options.push_back(option);
      return run_model("ringing_mass.yaml", changes);
    };
    double steps[3] = {};
    int i = 0;
    const std::pair<const char*, const char*> ways[] = {
        {"bdf-i3", "most_order=5"}, {"bdf-i3", "most_order=2"}, {"hht-i3", ""}};
    for (const auto& [method, option] : ways) {
      const ModelRun got = run(method, option);
      steps[i] = static_cast<double>(got.result.summary.steps);
      const std::string name = std::string(method) + (*option != 0 ? ", " + std::string(option) : "");
      const char* const below = "the steps of both orders have the bound, below";
      rows.push_back(Row::measure("light damping", name, "steps", steps[i]).because(below));
      rows.push_back(Row::measure("light damping", name, "rejected by error",
                                  static_cast<double>(got.result.summary.rejected_error))
                         .because(below));
      ++i;
    }
    rows.push_back(
        Row::at_most("light damping", "orders to 5 by orders to 2", "steps", 1.2, steps[0] / steps[1])
            .because("left to themselves they took four times as many; the watch over the orders must see it"));
  });
}

}  // namespace
}  // namespace constrained_study

std::vector<Row> study_constrained(const StudyContext& context) {
  using namespace constrained_study;
  std::vector<Row> rows;
  conditions(rows, context);
  spikes(rows, context);
  smooth(rows);
  lightly_damped(rows);
  trapezoidal(rows, context);
  projected_multipliers(rows);
  drift(rows, context);
  return rows;
}

}  // namespace trammel
