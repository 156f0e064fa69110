// SPLIT: semi-explicit integration by splitting. The examples 6.1 and 6.2 with their figures, the local error of Lemma
// 1, the orders of Theorem 2 as they are for whole runs, the regions of Theorems 3 and 6 by search, stiff limits, the
// compositions that the source warns of, steps chosen by stability. The other parts are in split_parts.h.
#include <Eigen/LU>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <stdexcept>

#include "studies/printed.h"
#include "studies/split_parts.h"
#include "studies/stepping.h"
#include "studies/study.h"
#include "trammel/base/data_directory.h"
#include "trammel/elements/build.h"
#include "trammel/linalg/eigenvalues.h"
#include "trammel/write/plot.h"

namespace trammel {
namespace split_study {
namespace {

using Json = nlohmann::json;
using Options = std::vector<std::string>;

// ---- 6.1: two masses
// -----------------------------------------------------------------------------------------------------------------

const char* const independent = "an independent computation from the paper's equations";

struct Variant {
  const char *name, *column, *method;
  Options options;
  std::vector<std::string> settings{};  // printed ones among the options
};

void oscillators(const StudyContext& context, std::vector<Row>& rows, const Json& printed) {
  const Variant variants[] = {
      {"split, beta = 0.8",
       "m5_a0.5_b0.8",
       "split",
       {text("beta=%g", printed_value("split.s61.beta"))},
       {"split.s61.beta"}},
      {"theta = 1/2",
       "theta0.5",
       "theta",
       {text("theta=%g", printed_value("split.s61.theta.half"))},
       {"split.s61.theta.half", "split.s61.theta.half.again", "split.fig3.theta.half"}},
      {"theta = 0.8",
       "theta0.8",
       "theta",
       {text("theta=%g", printed_value("split.s61.theta.damped"))},
       {"split.s61.theta.damped", "split.fig3.theta.damped"}},
      {"split, beta = 1/2", "m5_a0.5_b0.5", "split", {"beta=0.5"}},
      {"split, beta = 1", "m5_a0.5_b1", "split", {"beta=1"}},
  };
  const std::string table = "6.1, two masses, h = 1";
  context.note(table);
  const Reference reference = read_reference("data/split/oscillators.csv");
  PlotRequest plot;
  plot.title = "Two masses, one spring stiff (Figure 3)";
  plot.xlabel = "time, s";
  const auto add_panel = [&](const std::string& name, const std::vector<double>& t, const std::vector<double>& q1,
                             const std::vector<double>& q2, const std::vector<double>& v1,
                             const std::vector<double>& v2) {
    plot.panels.push_back(
        {name,
         {{t, q1, "q1", {}, false}, {t, q2, "q2", {}, false}, {t, v1, "q1'", {}, true}, {t, v2, "q2'", {}, true}},
         false});
  };
  add_panel("exact", reference.time(), reference.column("exact_q1"), reference.column("exact_q2"),
            reference.column("exact_v1"), reference.column("exact_v2"));
  for (const Variant& variant : variants) {
    guard(rows, table, variant.name, [&] {
      const ModelRun run =
          run_model("split_oscillators.yaml", {.method = variant.method, .step = 1, .options = variant.options});
      const Json& facts = printed["oscillators"][variant.column];
      for (const char* signal : {"q1", "q2", "v1", "v2"}) {
        rows.push_back(Row::error(table, variant.name, std::string(signal) + ", largest difference from the table",
                                  max_error(run, signal, reference, std::string(variant.column) + "_" + signal), 1e-9)
                           .with(variant.settings)
                           .because("independent numbers of the same method, to their digits"));
        const double other = facts[signal].get<double>();
        rows.push_back(Row::near(table, variant.name, std::string(signal) + ", largest error against the exact motion",
                                 other, max_error(run, signal, reference, std::string("exact_") + signal), 1e-4)
                           .with(variant.settings)
                           .beside(other, independent)
                           .because("its four digits"));
      }
      if (plot.panels.size() < 4)
        add_panel(variant.name, run.time(), run.column("q1"), run.column("q2"), run.column("v1"), run.column("v2"));
    });
  }
  if (const auto file = context.picture("split_oscillators.png")) draw_plot(plot, *file);
}

// ---- 6.2: the pendulum on a stiff spring
// ---------------------------------------------------------------------------------------------

// x of the rigid pendulum of length 1, g = 1, from the horizontal: phi'' = -cos(phi), by RK4 with 1e-4 s.
std::vector<double> rigid_pendulum(double end, double every) {
  std::vector<double> x{1.0};
  double phi = 0, w = 0;
  const int inner = 100;
  const double h = every / inner;
  for (int i = 0; static_cast<double>(i) * every < end - 0.5 * every; ++i) {
    for (int k = 0; k < inner; ++k) {
      const double k1 = w, l1 = -std::cos(phi), k2 = w + h / 2 * l1, l2 = -std::cos(phi + h / 2 * k1),
                   k3 = w + h / 2 * l2, l3 = -std::cos(phi + h / 2 * k2), k4 = w + h * l3, l4 = -std::cos(phi + h * k3);
      phi += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
      w += h / 6 * (l1 + 2 * l2 + 2 * l3 + l4);
    }
    x.push_back(std::cos(phi));
  }
  return x;
}

void pendulum(const StudyContext& context, std::vector<Row>& rows, const Json& printed) {
  const Variant variants[] = {
      {"split, beta = 0.6", "split", "split", {text("beta=%g", printed_value("split.s62.beta")), "keep_rate=0"}},
      {"theta = 1/2",
       "theta_0.5",
       "theta",
       {text("theta=%g", printed_value("split.s62.theta.half")), "keep_rate=0"},
       {"split.s62.theta.half", "split.s62.theta.half.again", "split.fig4.theta"}},
      {"theta = 0.6",
       "theta_0.6",
       "theta",
       {text("theta=%g", printed_value("split.s62.theta.damped")), "keep_rate=0"},
       {"split.s62.theta.damped"}}};
  PlotRequest error, stretch;
  error.title = "Pendulum on a stiff spring: error of qx (Figure 4)";
  stretch.title = "Pendulum on a stiff spring: |q|^2 - 1 (Figure 5)";
  error.xlabel = stretch.xlabel = "time, s";
  for (const double end : {5.0, 10.0, 20.0}) {
    const std::string table = text("6.2, pendulum on a stiff spring, h = 0.01, to %g s", end);
    context.note(table);
    std::vector<double> exact, rigid = rigid_pendulum(end, 0.01);
    guard(rows, table, "reference", [&] {
      exact = run_model("split_pendulum.yaml",
                        {.method = "dormand-prince-853", .tolerance = 1e-11, .end = end, .output_step = 0.01})
                  .column("qx");
    });
    for (const Variant& variant : variants) {
      guard(rows, table, variant.name, [&] {
        const ModelRun run = run_model(
            "split_pendulum.yaml", {.method = variant.method, .step = 0.01, .end = end, .options = variant.options});
        const std::vector<double> x = run.column("qx"), g = run.column("stretch");
        double mean = 0, later = 0;
        for (std::size_t i = 0; i < g.size(); ++i) {
          mean += std::abs(g[i]) / static_cast<double>(g.size());
          if (run.time()[i] > 0.5 * end) later = std::max(later, std::abs(g[i]));
        }
        const Json& facts = printed["pendulum"][variant.column][text("%g", end)];
        const auto compare = [&](const char* quantity, std::size_t i, double ours, double part) {
          const double target = facts[i].get<double>();
          rows.push_back(Row::near(table, variant.name, quantity, target, ours, part * target)
                             .with(variant.settings)
                             .beside(target, independent)
                             .because("three to four digits, and a last step that ends elsewhere"));
        };
        compare("largest error of qx against the equations", 0, max_error(x, exact), 0.005);
        compare("largest error of qx against the rigid pendulum", 1, max_error(x, rigid), 0.005);
        compare("mean of ||q|^2 - 1|", 2, mean, 0.005);
        compare("largest ||q|^2 - 1| in the second half", 3, later, 0.01);
        compare("Newton corrections", 4, static_cast<double>(run.result.summary.counts.newton_iterations), 0.005);
        if (end == 10.0) {
          std::vector<double> difference(x.size());
          for (std::size_t i = 0; i < x.size(); ++i) difference[i] = x[i] - exact[i];
          error.panels.push_back({variant.name, {{run.time(), difference, "", {}, false}}, false});
          stretch.panels.push_back({variant.name, {{run.time(), g, "", {}, false}}, false});
        }
      });
    }
  }
  if (const auto file = context.picture("split_pendulum_error.png")) draw_plot(error, *file);
  if (const auto file = context.picture("split_pendulum_stretch.png")) draw_plot(stretch, *file);
}

// ---- Linear stability, by running the method
// -----------------------------------------------------------------------------------------------

struct TestPoint {
  double k_A, c_A, k_B, c_B;  // h = 1, m = 1
};

// q'' = -(k_A + k_B) q - (c_A + c_B) q' for many points at once, a mass for each; steps of 1.
Model linear_masses(const std::vector<TestPoint>& points, const Options& options) {
  Model model;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const TestPoint& p = points[i];
    Body body;
    body.name = "mass" + std::to_string(i);
    body.kind = "point";
    body.mass = 1;
    const int frame = model.add_frame(model.add_body(body), {}), base = model.add_frame(ground, {});
    // Expressions, because springs refuse stiffness and damping below zero.
    const auto spring = [&](const char* name, double k, double c) {
      Fields fields;
      fields.set("fx", ExpressionText{text("-(%.17g)*dx - (%.17g)*vx", k, c), {}});
      return static_cast<std::size_t>(
          add_force(model, "force", name + std::to_string(i), {base, frame}, std::move(fields)));
    };
    spring("a", p.k_A, p.c_A);
    model.forces[spring("b", p.k_B, p.c_B)].implicit = true;
  }
  model.simulation.length = 1;
  ModelChanges changes;
  changes.method = "split";
  changes.step = 1;
  changes.options = options;
  apply_changes(model, changes);
  return model;
}

// All masses at (q, v) = (1, 0) or (0, 1).
void start_at_unit(Simulation& simulation, int column) {
  Integrator& method = simulation.integrator();
  State start = method.state();
  start.q.setZero();
  start.v.setZero();
  for (Eigen::Index i = 0; i < start.q.size(); i += 3) (column == 0 ? start.q : start.v)[i] = 1;
  start.t = 0;
  method.start(start, simulation.equations().make_rates());
}

void step_of_one(Integrator& method) {
  if (method.attempt(1).verdict != Verdict::ok) throw std::runtime_error("a step of the linear problem failed");
  method.accept();
}

// The matrices (q, v) -> (q, v) of a step.
std::vector<Eigen::Matrix2d> step_matrices(const std::vector<TestPoint>& points, const Options& options) {
  std::vector<Eigen::Matrix2d> matrices(points.size());
  Simulation simulation(linear_masses(points, options));
  RunOptions plain;
  plain.analyse_rank = false;
  simulation.start(plain);
  Integrator& method = simulation.integrator();
  for (int column = 0; column < 2; ++column) {
    start_at_unit(simulation, column);
    step_of_one(method);
    for (std::size_t i = 0; i < points.size(); ++i) {
      matrices[i](0, column) = method.state().q[static_cast<Eigen::Index>(3 * i)];
      matrices[i](1, column) = method.state().v[static_cast<Eigen::Index>(3 * i)];
    }
  }
  return matrices;
}

std::complex<double> first_eigenvalue(const Eigen::Matrix2d& m) {
  const double half = 0.5 * m.trace(), root = half * half - m.determinant();
  if (root < 0) return {half, std::sqrt(-root)};
  return {half >= 0 ? half + std::sqrt(root) : half - std::sqrt(root), 0.0};
}

double growth_of(const Eigen::Matrix2d& m) { return std::abs(first_eigenvalue(m)); }

constexpr std::size_t batch = 1000;

// Calls judge(point, matrix) for `count` random points.
template <class Draw, class Judge>
void search(int count, const Options& options, Draw&& draw, Judge&& judge) {
  for (int done = 0; done < count; done += static_cast<int>(batch)) {
    std::vector<TestPoint> points(batch);
    for (TestPoint& p : points) p = draw();
    const std::vector<Eigen::Matrix2d> matrices = step_matrices(points, options);
    for (std::size_t i = 0; i < batch; ++i) judge(points[i], matrices[i]);
  }
}

bool in_region(double c, double k, double alpha, double margin) {
  return k >= margin && c + alpha * k <= 2 - margin && c >= (0.5 - alpha) * k + margin;
}

constexpr double growth_slack = 1e-8;

// Random numbers of the searches, in one sequence.
class Draws {
 public:
  double between(double a, double b) { return std::uniform_real_distribution<double>(a, b)(random_); }

 private:
  std::mt19937 random_{20071204};
};

void theorem_3(const StudyContext& context, std::vector<Row>& rows, Draws& draws) {
  const auto between = [&](double a, double b) { return draws.between(a, b); };
  const std::string table = "Theorem 3, A alone: 1e5 random points";
  context.note(table);
  double wrong_inside = 0, wrong_outside = 0;
  for (const double alpha : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    search(
        20000, {text("alpha=%g", alpha)},
        [&] {
          return TestPoint{between(-0.5, 5), between(-1, 3), 0, 0};
        },
        [&](const TestPoint& p, const Eigen::Matrix2d& m) {
          const double growth = growth_of(m);
          if (in_region(p.c_A, p.k_A, alpha, 0) && growth > 1 + growth_slack) wrong_inside += 1;
          if (!in_region(p.c_A, p.k_A, alpha, -1e-6) && growth <= 1) wrong_outside += 1;
        });
  }
  rows.push_back(
      Row::at_most(table, "inside the triangle", "points that grow", 0, wrong_inside).because("the theorem"));
  rows.push_back(Row::at_most(table, "outside", "points that do not grow", 0, wrong_outside).because("the theorem"));
}

void theorem_6(const StudyContext& context, std::vector<Row>& rows, Draws& draws) {
  const auto between = [&](double a, double b) { return draws.between(a, b); };
  const std::string table = "Theorem 6, A and B: random points with (h c_A, h^2 k_A) in the triangle";
  context.note(table);
  for (const double beta : {0.5, 0.6, 0.8, 1.0}) {
    for (const double alpha : {0.0, 0.5, 1.0}) {
      double largest = 0;
      int unstable = 0;
      search(
          9000, {text("alpha=%g", alpha), text("beta=%g", beta)},
          [&] {
            for (;;) {
              const double k = between(0, 4), c = between(0, 2);
              if (in_region(c, k, alpha, 0))
                return TestPoint{k, c, std::pow(10, between(-3, 4)),
                                 between(0, 1) < 0.2 ? 0 : std::pow(10, between(-3, 4))};
            }
          },
          [&](const TestPoint&, const Eigen::Matrix2d& m) {
            largest = std::max(largest, growth_of(m) - 1);
            unstable += growth_of(m) > 1 + growth_slack;
          });
      Row row = Row::at_most(table, text("alpha = %g, beta = %g", alpha, beta), "points of 9000 that grow", 0,
                             static_cast<double>(unstable))
                    .because("the theorem");
      const bool least = beta == printed_value("split.thm6.beta");
      rows.push_back(least ? Row(std::move(row).with({"split.thm6.beta", "split.thm6.beta.ii", "split.thm6.beta.iii"}))
                           : row);
    }
  }
}

void stiff_limit(std::vector<Row>& rows) {
  const std::string table = "Stiff limit, h^2 k_B = (2 pi 10)^2 (1e7 Hz at 1e-6 s), beta = 0.8";
  const double w = 2 * std::numbers::pi * printed_value("split.s22.f.penalty") * printed_value("split.s22.h.again"),
               k = w * w;
  struct Damping {
    const char* name;
    double c, target;
  };
  for (const Damping& d :
       {Damping{"no damping", 0, 0.9966}, Damping{"zeta = 0.1", 0.2 * w, 0.984}, Damping{"zeta = 1", 2 * w, 0.877},
        Damping{"zeta = 2", 4 * w, 0.771}, Damping{"c = (h/2) k", 0.5 * k, 0.248}}) {
    const double ours = growth_of(step_matrices({{0, 0, k, d.c}}, {"beta=0.8"})[0]);
    rows.push_back(Row::near(table, d.name, "spectral radius", d.target, ours, 5.1e-4)
                       .with({"split.s22.f.penalty", "split.s22.h.again"})
                       .beside(d.target, independent)
                       .because("its digits"));
  }
  const std::string limit = "Stiff limit, h^2 k_B = 1e8";
  for (const double beta : {0.6, 0.8, 1.0}) {
    for (const double r : {0.0, 0.1, 0.5}) {
      const Eigen::Matrix2d m = step_matrices({{0, 0, 1e8, r * 1e8}}, {text("beta=%g", beta)})[0];
      const double e1 = -(1 - beta) / beta, e2 = (2 * r - 1) / (2 * r + 1);
      const std::string row = text("beta = %g, c = %g h k", beta, r);
      const char* const law = "-(1 - beta)/beta and (2 r - 1)/(2 r + 1), but for terms of 1/(h^2 k)";
      rows.push_back(Row::near(limit, row, "sum of eigenvalues", e1 + e2, m.trace(), 1e-5).because(law));
      rows.push_back(Row::near(limit, row, "product of eigenvalues", e1 * e2, m.determinant(), 1e-5).because(law));
    }
  }
}

// Where, with alpha = 1/2, the growth of the method passes 1, and where its eigenvalues become real, along rays of
// constant k, by bisection.
struct Edges {
  std::vector<double> edge_c, edge_k, critical_c, critical_k, exact_c, exact_k;
  double worst_edge = 0, worst_critical = 0;
};

Edges find_edges() {
  Edges out;
  for (double k = 0.02; k < 3.99; k += 0.04) {
    const auto bisect = [&](auto&& condition, double low, double high) {
      for (int round = 0; round < 4; ++round) {  // forty parts each
        std::vector<TestPoint> points;
        for (int i = 0; i <= 40; ++i) points.push_back({k, low + (high - low) * i / 40, 0, 0});
        const std::vector<Eigen::Matrix2d> m = step_matrices(points, {});
        int last = 0;
        while (last < 40 && condition(m[static_cast<std::size_t>(last) + 1])) ++last;
        const double width = (high - low) / 40;
        low += width * last;
        high = low + width;
      }
      return 0.5 * (low + high);
    };
    const double edge = bisect([&](const Eigen::Matrix2d& m) { return growth_of(m) <= 1 + growth_slack; }, 1e-6, 2.5);
    const double critical = bisect([&](const Eigen::Matrix2d& m) { return first_eigenvalue(m).imag() != 0; }, -k, 2.5);
    out.edge_c.push_back(edge);
    out.edge_k.push_back(k);
    out.critical_c.push_back(critical);
    out.critical_k.push_back(k);
    if (2 * std::sqrt(k) <= 2) {
      out.exact_c.push_back(2 * std::sqrt(k));
      out.exact_k.push_back(k);
    }
    out.worst_edge = std::max(out.worst_edge, std::abs(edge - (2 - 0.5 * k)));
    out.worst_critical = std::max(out.worst_critical, std::abs(critical - (2 * std::sqrt(k) - k)));
  }
  return out;
}

// The least number for which the point that it makes is stable.
template <class Point>
double first_stable(Point&& point) {
  double low = -0.5, high = 0.5;
  for (int i = 0; i < 30; ++i) {
    const double middle = 0.5 * (low + high);
    (growth_of(step_matrices({point(middle)}, {})[0]) <= 1 + growth_slack ? high : low) = middle;
  }
  return high;
}

const char* const figure_2_name = "Figure 2 and Corollary 4, alpha = 1/2, from the method itself";
const char* const bisected = "four rounds of forty parts, and the threshold of growth";

// Where the found edges meet the axes; the third corner is the origin, where h^2 k and h c change sign.
void corner_rows(std::vector<Row>& rows, const Edges& e) {
  const double slope = (e.edge_c.back() - e.edge_c.front()) / (e.edge_k.back() - e.edge_k.front()),
               at_no_stiffness = e.edge_c.front() - slope * e.edge_k.front(), at_no_damping = -at_no_stiffness / slope;
  const auto corner = [&](const char* quantity, const char* id, double ours) {
    rows.push_back(
        Row::near(figure_2_name, "corners", quantity, printed_value(id), ours, 1e-4).printed_as(id).because(bisected));
  };
  corner("h c where the upper edge meets h^2 k = 0", "split.thm3.corner2.hc", at_no_stiffness);
  corner("h^2 k where the upper edge meets h c = 0", "split.thm3.corner3.h2k", at_no_damping);
  corner("least h^2 k that is stable at h c = 0.5", "split.thm3.corner1.h2k", first_stable([](double k) {
           return TestPoint{k, 0.5, 0, 0};
         }));
  corner("least h c that is stable at h^2 k = 1", "split.thm3.corner1.hc", first_stable([](double c) {
           return TestPoint{1, c, 0, 0};
         }));
}

void figure_2(const StudyContext& context, std::vector<Row>& rows) {
  const std::string table = figure_2_name;
  context.note(table);
  const Edges e = find_edges();
  rows.push_back(
      Row::error(table, "upper edge", "largest distance from h c = 2 - h^2 k/2", e.worst_edge, 1e-5).because(bisected));
  rows.push_back(
      Row::error(table, "critical damping", "largest distance from h c = 2 h sqrt(k) - h^2 k", e.worst_critical, 1e-5)
          .because(bisected));
  corner_rows(rows, e);
  if (const auto file = context.picture("split_stability.png")) {
    PlotRequest plot;
    plot.title = "Stability of split in A, alpha = 1/2 (Figure 2)";
    plot.xlabel = "h c";
    plot.panels = {{"h^2 k",
                    {{e.edge_c, e.edge_k, "edge of stability, found", {}, false},
                     {{0, 0, 2}, {4, 0, 0}, "triangle of Theorem 3", {}, true},
                     {e.critical_c, e.critical_k, "critical damping of the method, found", PlotStyle::points, false},
                     {e.exact_c, e.exact_k, "critical damping of the exact flow", {}, true}},
                    false}};
    draw_plot(plot, *file);
  }
}

// h c at which the eigenvalues become real, at h^2 k = 1, where those of the exact motion do so at 2.
double critical_damping(double alpha) {
  double low = 0, high = 2.5;
  for (int i = 0; i < 45; ++i) {
    const double middle = 0.5 * (low + high);
    const Eigen::Matrix2d m = step_matrices({{1, middle, 0, 0}}, {text("alpha=%.17g", alpha)})[0];
    (first_eigenvalue(m).imag() != 0 ? low : high) = middle;
  }
  return high;
}

// The remark of section 4.2. By Corollary 4 the critical damping is a line in alpha.
void critical_damping_rows(std::vector<Row>& rows) {
  const std::string table = "Section 4.2, critical damping at h^2 k = 1, from the method itself";
  const double exact = 2, at_0 = critical_damping(0), at_half = critical_damping(0.5);
  const char* const doubled = "two eigenvalues that meet are known to the root of round-off";
  rows.push_back(Row::near(table, "alpha = 0 and 1/2", "alpha at which the line through them has that of the motion",
                           printed_value("split.s42.alpha.exact"), 0.5 * (exact - at_0) / (at_half - at_0), 1e-6)
                     .printed_as("split.s42.alpha.exact")
                     .because(doubled));
  rows.push_back(Row::near(table, text("alpha = %g", printed_value("split.s42.alpha.bound")),
                           "h c at which the eigenvalues become real", exact,
                           critical_damping(printed_value("split.s42.alpha.bound")), 1e-6)
                     .with({"split.s42.alpha.bound"})
                     .because(doubled));
  for (const double alpha : {-0.4, 0.0, 1.0})
    rows.push_back(Row::at_most(table, text("alpha = %g", alpha), "h c at which the eigenvalues become real",
                                exact - 1e-3, critical_damping(alpha))
                       .because("the remark: reached too fast above -1/2"));
}

void theorems(const StudyContext& context, std::vector<Row>& rows) {
  Draws draws;
  guard(rows, "Theorem 3", "search", [&] { theorem_3(context, rows, draws); });
  guard(rows, "Theorem 6", "search", [&] { theorem_6(context, rows, draws); });
  guard(rows, "Stiff limit", "eigenvalues", [&] { stiff_limit(rows); });
  guard(rows, "Figure 2", "alpha = 1/2", [&] { figure_2(context, rows); });
  guard(rows, "Section 4.2", "critical damping", [&] { critical_damping_rows(rows); });
}

// ---- Velocities extrapolated
// -----------------------------------------------------------------------------------------------------------------

// With extrapolated velocities the method is one of two steps: its matrix acts on (q_n, v_n, a_{n-1}). Three columns of
// it come from steps after a first one from (1, 0) and (0, 1) and one after that.
std::vector<double> growths_extrapolated(const std::vector<TestPoint>& points, Options options) {
  options.emplace_back("extrapolate_velocity=true");
  Simulation simulation(linear_masses(points, options));
  RunOptions plain;
  plain.analyse_rank = false;
  simulation.start(plain);
  Integrator& method = simulation.integrator();
  std::vector<Mat3> before(points.size()), after(points.size());
  const auto look = [&](std::vector<Mat3>& matrices, int column) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      const auto k = static_cast<Eigen::Index>(3 * i);
      matrices[i].col(column) = Vec3(method.state().q[k], method.state().v[k], method.rates().a[k]);
    }
  };
  for (int column = 0; column < 2; ++column) {
    start_at_unit(simulation, column);
    step_of_one(method);
    look(before, column);
    step_of_one(method);
    look(after, column);
    if (column == 1) {
      look(before, 2);
      step_of_one(method);
      look(after, 2);
    }
  }
  std::vector<double> growths;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Mat3 matrix = before[i].transpose().fullPivLu().solve(after[i].transpose()).transpose();
    growths.push_back(general_eigenvalues(matrix).cwiseAbs().maxCoeff());
  }
  return growths;
}

// Jury's conditions for B = 0 and alpha = 1/2 give the triangle h c >= 0, h^2 k >= 0, h c + h^2 k/4 <= 1: half the
// damping of the method without extrapolation. That B changes nothing is shown by search only.
void extrapolated(const StudyContext& context, std::vector<Row>& rows) {
  const std::string table = "Velocities extrapolated, alpha = 1/2: random points";
  context.note(table);
  std::mt19937 random(20071205);
  const auto between = [&](double a, double b) { return std::uniform_real_distribution<double>(a, b)(random); };
  constexpr int batches = 10;
  constexpr double round_off = 1e-5;  // of matrices found through others that are nearly singular
  const auto count = [&](double beta, auto&& draw, auto&& judge) {
    double number = 0;
    for (int i = 0; i < batches; ++i) {
      std::vector<TestPoint> points(batch);
      for (TestPoint& p : points) p = draw();
      for (const double growth : growths_extrapolated(points, {text("beta=%g", beta)})) number += judge(growth);
    }
    return number;
  };
  for (const double beta : {0.5, 0.8, 1.0}) {
    guard(rows, table, text("beta = %g", beta), [&] {
      const auto inside = [&] {
        const double k = between(0.01, 4);
        return TestPoint{k, between(0.01, 1) * (1 - k / 4), std::pow(10, between(-3, 4)),
                         between(0, 1) < 0.2 ? 0 : std::pow(10, between(-3, 4))};
      };
      rows.push_back(Row::at_most(table, text("beta = %g, h c + h^2 k/4 <= 1, any B", beta),
                                  "points of 10,000 that grow", 0,
                                  count(beta, inside, [](double growth) { return growth > 1 + round_off; }))
                         .because("Jury's conditions for A alone; that B changes nothing is what is searched"));
    });
  }
  guard(rows, table, "outside", [&] {
    const auto outside = [&] {
      const double k = between(0.01, 4);
      return TestPoint{k, 1 - k / 4 + between(0.01, 1), 0, 0};
    };
    rows.push_back(Row::at_most(table, "h c + h^2 k/4 >= 1.01, no B", "points of 10,000 that do not grow", 0,
                                count(0.5, outside, [](double growth) { return growth <= 1 + round_off; }))
                       .because("Jury's conditions"));
  });
}

// ---- Lemma 1 and Theorem 2
// -----------------------------------------------------------------------------------------------------------------

constexpr double q0 = 0.7, v0 = -0.4;

// q and v of a mass with A = -sin q + a v q + 0.2 cos(t + 0.3) and B = -2 q^3 - 0.5 v + 0.4 sin(2 t + 0.6), after the
// time `end`, in steps of h, or exactly for h = 0.
Eigen::Vector2d after(double a, double end, double h, const Options& options) {
  return end_of_mass(pushed_mass("-sin(dx(p)) + " + std::to_string(a) + "*vx(p)*dx(p) + 0.2*cos(time + 0.3)",
                                 "-2*dx(p)^3 - 0.5*vx(p) + 0.4*sin(2*time + 0.6)", q0, v0),
                     end, h, options);
}

void local_error(const StudyContext& context, std::vector<Row>& rows) {
  const std::string table = "Lemma 1, local error of a step over its power of h";
  context.note(table);
  const double a = 0.3, A_q = -std::cos(q0) + a * v0, A_v = a * q0, A_t = -0.2 * std::sin(0.3), B_q = -6 * q0 * q0,
               B_v = -0.5, B_t = 0.8 * std::cos(0.6);
  const double C =
      -std::sin(q0) + a * v0 * q0 + 0.2 * std::cos(0.3) - 2 * q0 * q0 * q0 - 0.5 * v0 + 0.4 * std::sin(0.6);
  const std::pair<double, double> pairs[] = {{0.5, 0.8}, {0.5, 0.5}, {0, 1}, {1, 0.6}, {0.3, 0.7}};
  for (const auto& [alpha, beta] : pairs) {
    const std::string row = text("alpha = %g, beta = %g", alpha, beta);
    guard(rows, table, row, [&, al = alpha, be = beta] {
      const double along_A = A_q * v0 + A_t, along_B = B_q * v0 + B_v * C + B_t;
      const double q = ((3 * al - 1) * along_A - A_v * C + (3 * be - 1) * along_B) / 6,
                   v = ((2 * al - 1) * along_A - A_v * C + (2 * be - 1) * along_B) / 2;
      // extrapolated from three step sizes
      Eigen::Vector2d E[3];
      double h = 0.02;
      for (Eigen::Vector2d& e : E) {
        e = after(a, h, h, {text("alpha=%.17g", al), text("beta=%.17g", be)}) - after(a, h, 0, {});
        e[0] /= h * h * h;
        e[1] /= h * h;
        h /= 2;
      }
      const Eigen::Vector2d first = 2 * E[1] - E[0], second = 2 * E[2] - E[1], limit = (4 * second - first) / 3;
      const char* const lemma = "the lemma; extrapolated from three step sizes";
      rows.push_back(Row::near(table, row, "position", q, limit[0], 2e-4 * std::abs(q)).because(lemma));
      rows.push_back(Row::near(table, row, "velocity", v, limit[1], 2e-5 * std::abs(v)).because(lemma));
      // E is divided by h^3: the error of a step in position has the order 3, of a method of local order 2.
      rows.push_back(Row::near(table, row, "order of the positions, local", printed_value("split.thm2.order.q"),
                               2 + std::log2(std::abs(E[1][0] / E[2][0])), 0.1)
                         .printed_as("split.thm2.order.q")
                         .because("the theorem, read as local; a tenth for a fit over one halving"));
    });
  }
}

void orders(const StudyContext& context, std::vector<Row>& rows) {
  const std::string table = "Theorem 2, order of the error of a run over 1 s";
  context.note(table);
  struct Case {
    double a, alpha, beta, order;
    const char* name;
    bool extrapolate = false;
  };
  for (const Case& c :
       {Case{0, 0.5, 0.5, 2, "alpha = beta = 1/2, A(q, t)"}, Case{0, 0.5, 0.8, 1, "alpha = 1/2, beta = 0.8"},
        Case{0, 0.3, 0.5, 1, "alpha = 0.3, beta = 1/2"}, Case{0.3, 0.5, 0.5, 1, "alpha = beta = 1/2, A(q, v, t)"},
        Case{0.3, 0.5, 0.5, 2, "the same, velocity extrapolated", true}}) {
    guard(rows, table, c.name, [&] {
      const Eigen::Vector2d exact = after(c.a, 1, 0, {});
      std::vector<double> h, q, v;
      for (const int n : {400, 800, 1600, 3200}) {
        const Eigen::Vector2d e = after(c.a, 1, 1.0 / n,
                                        {text("alpha=%g", c.alpha), text("beta=%g", c.beta),
                                         std::string("extrapolate_velocity=") + (c.extrapolate ? "true" : "false")}) -
                                  exact;
        h.push_back(1.0 / n);
        q.push_back(std::abs(e[0]));
        v.push_back(std::abs(e[1]));
      }
      const bool printed = c.alpha == 0.5 && c.beta == 0.5 && c.a == 0;
      const auto order = [&](const char* quantity, double ours) {
        Row row = Row::near(table, c.name, quantity, c.order, ours, 0.05)
                      .because("by Lemma 1 summed over a run; a fit over three halvings");
        rows.push_back(printed ? Row(std::move(row).printed_as("split.thm2.order.all")) : row);
      };
      order("order of q", fitted_order(h, q));
      order("order of v", fitted_order(h, v));
    });
  }
}

// ---- Compositions
// -----------------------------------------------------------------------------------------------------------------

void compositions(const StudyContext& context, std::vector<Row>& rows) {
  const std::string table = "Section 3, compositions on a spherical pendulum: speed along the rod at the ends of steps";
  context.note(table);
  for (const char* composition : {"none", "ab", "bab"}) {
    guard(rows, table, composition, [&] {
      std::vector<double> h, largest;
      for (const double step : {4e-3, 2e-3, 1e-3, 5e-4}) {
        Model model = load_model((data_directory() / "models" / "spherical_pendulum.yaml").string(),
                                 {.method = "split",
                                  .step = step,
                                  .end = 1,
                                  .options = {std::string("composition=") + composition, "beta=1"}});
        SteppedRunOptions look;
        look.grid = step;
        look.look = [](const State& s, const Equations&) { return std::abs(s.q.dot(s.v)) / s.q.norm(); };
        const SteppedRun run = step_model(std::move(model), look);
        if (!run.finished) throw std::runtime_error(run.why);
        h.push_back(step);
        largest.push_back(max_abs(run.grid));
      }
      const double order = fitted_order(h, largest);
      const bool none = composition == std::string("none");
      rows.push_back(
          Row::measure(table, composition, "largest at h = 1 ms, m/s", largest[2]).because("its order has the bound"));
      rows.push_back(none ? Row::at_least(table, composition, "order in h", 1.9, order)
                                .because("the method itself keeps the constraint to second order")
                          : Row::near(table, composition, "order in h", 1, order, 0.1)
                                .because("the source's warning: a kick by A leaves a speed along the rod of order h"));
    });
  }
}

// ---- Steps by stability
// -----------------------------------------------------------------------------------------------------------------

Model dumbbell(const ModelChanges& changes) {
  return load_model((data_directory() / "models" / "dumbbell_in_pocket.yaml").string(), changes);
}

void stability_control(const StudyContext& context, std::vector<Row>& rows) {
  const std::string table = "Section 5, free flight and impacts: dumbbell in a pocket, 80 ms";
  context.note(table);
  std::optional<State> exact;
  double by_stability = 0;  // error of the run before with control by stability
  const Options penalty{"penalty_frequency=1e6", "penalty_time=1e-7"};
  const auto run_it = [&](const std::string& name, const ModelChanges& changes) {
    guard(rows, table, name, [&] {
      const SteppedRun run = step_model(dumbbell(changes));
      if (!run.finished) throw std::runtime_error(run.why);
      if (!exact) {
        exact = run.last;
        return;
      }
      const bool split = changes.method == "split";
      const double evaluations = static_cast<double>(split ? run.counts.explicit_evaluations : run.counts.evaluations);
      const char* const buys = "what the error beside it costs: a comparison of methods";
      rows.push_back(
          Row::measure(table, name, "evaluations of A", evaluations).because(split ? buys : why::comparator));
      if (!split)
        rows.push_back(Row::measure(table, name, "Jacobians", static_cast<double>(run.counts.linearisations))
                           .because(why::comparator));
      const double error = (run.last.q - exact->q).cwiseAbs().maxCoeff();
      rows.push_back(
          Row::measure(table, name, "error of positions, m", error)
              .because(split ? "impacts are not smooth: it falls with the step, without an order" : why::comparator));
      const bool as_printed = name.find("as printed") != std::string::npos;
      const bool coarse = as_printed && (name.ends_with(" 0.1") || name.ends_with(" 0.05"));
      if (coarse)
        rows.push_back(
            Row::at_least(table, name, "error by that of control by stability at the last epsilon", 100,
                          error / by_stability)
                .because("what the source does not tell: an open contact has no part in (15), so that a wall "
                         "is entered at full step"));
      if (split && !changes.step && !as_printed) {
        if (by_stability > 0)
          rows.push_back(Row::at_most(table, name, "error by that of twice the epsilon", 1, error / by_stability)
                             .because("smaller steps must not be worse"));
        by_stability = error;
      }
    });
  };
  run_it("reference", {.method = "cvode-bdf", .formulation = "penalty-joints", .tolerance = 1e-12, .options = penalty});
  for (const double h : {4e-6, 1e-6, 2.5e-7})
    run_it(text("split, h = %g s", h),
           {.method = "split", .step = h, .options = {"penalty_frequency=1e6", "penalty_time=1e-7", "beta=0.5"}});
  for (const double epsilon : {0.1, 0.05, 0.025, 0.0125})
    run_it(text("split, control by stability, epsilon = %g", epsilon),
           {.method = "split",
            .tolerance = 1e-3,
            .options = {"penalty_frequency=1e6", "penalty_time=1e-7", "beta=0.5", "control=stability",
                        text("epsilon=%g", epsilon), text("bound=%g", epsilon * 5e-4)}});
  for (const double epsilon : {0.1, 0.05, 0.025, 0.0125})
    run_it(text("split, estimator (15) as printed, epsilon = %g", epsilon),
           {.method = "split",
            .tolerance = 1e-3,
            .options = {"penalty_frequency=1e6", "penalty_time=1e-7", "beta=0.5", "control=printed",
                        text("epsilon=%g", epsilon), text("bound=%g", epsilon * 5e-4)}});
  for (const double tolerance : {1e-6, 1e-7, 1e-8})
    run_it(text("cvode-bdf, tolerance %.0e", tolerance),
           {.method = "cvode-bdf", .formulation = "penalty-joints", .tolerance = tolerance, .options = penalty});
}

}  // namespace
}  // namespace split_study

std::vector<Row> study_split(const StudyContext& context) {
  using namespace split_study;
  std::vector<Row> rows;
  const nlohmann::json printed = read_data("split.json");
  oscillators(context, rows, printed);
  pendulum(context, rows, printed);
  theorems(context, rows);
  extrapolated(context, rows);
  local_error(context, rows);
  orders(context, rows);
  compositions(context, rows);
  estimates_and_special_cases(context, rows);
  stability_control(context, rows);
  scaled_steps(context, rows);
  bearing_study(context, rows);
  map_of_gain(context, rows);
  return rows;
}

}  // namespace trammel
