// Condition of HHT's Newton matrix as the step size goes to zero, for the three choices of unknowns and scaling the
// paper weighs (Negrut, Rampalli, Ottarsson, Sajdak, below equation (14)); b = beta h^2:
//
//   (a) positions, multipliers         (b) accelerations, multipliers      (c) as (b), constraints divided by b
//       [ Mh/b  G^T ]                      [ Mh   G^T ]                        [ Mh  G^T ]
//       [ G     0   ]                      [ b G  0   ]                        [ G   0   ]
//
// (c) is what the engine factors. The condition of (a) grows beyond 1/round-off, so the inverses of (a) and (b) are
// taken from the well-conditioned inverse of (c), whose rows and columns they only scale; norms are then largest
// singular values.
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

#include "studies/study.h"
#include "trammel/base/data_directory.h"
#include "trammel/integrate/alpha/alpha.h"
#include "trammel/linalg/eigenvalues.h"
#include "trammel/write/plot.h"

namespace trammel {
namespace conditioning_study {
namespace {

double norm(const Mat& m) { return singular_values(m).values(0); }

// diag(p, q) K diag(r, s) on the blocks of nv and ng
Mat scaled(const Mat& K, int nv, double p, double q, double r, double s) {
  Mat out = K;
  out.topRows(nv) *= p;
  out.bottomRows(out.rows() - nv) *= q;
  out.leftCols(nv) *= r;
  out.rightCols(out.cols() - nv) *= s;
  return out;
}

struct Conditions {
  double a = 0, b = 0, c = 0;
};

// The Newton matrix of (c) at a state, without the small block -E.
Mat newton_matrix(const Equations& e, const Partials& partials, double h, const AlphaParameters& p) {
  const double bh2 = p.beta * h * h;
  SaddleSystem saddle(e);
  saddle.combine(partials, {(1 - p.alpha_m) / (1 - p.alpha_f), bh2, bh2, p.gamma * h}, nullptr);
  Mat K = saddle.pattern().dense(saddle.values());
  for (int i = 0; i < saddle.multipliers(); ++i) K(saddle.velocities() + i, saddle.velocities() + i) = 0;
  return K;
}

Conditions conditions(const Mat& Kc, int nv, double bh2) {
  const Mat inverse = Kc.fullPivLu().inverse();
  const double root = std::sqrt(bh2);
  Conditions out;
  out.c = norm(Kc) * norm(inverse);
  out.b = norm(scaled(Kc, nv, 1, bh2, 1, 1)) * norm(scaled(inverse, nv, 1, 1, 1, 1 / bh2));
  out.a =
      norm(scaled(Kc, nv, 1 / root, root, 1 / root, root)) * norm(scaled(inverse, nv, root, 1 / root, root, 1 / root));
  return out;
}

// The state after a piece of the run, so that nothing is special about it.
struct Sample {
  std::unique_ptr<Simulation> simulation;
  Partials partials;
};

Sample sample_of(const std::string& file, double end) {
  Sample out;
  out.simulation = std::make_unique<Simulation>(
      load_model((data_directory() / "models" / file).string(), {.step = 1e-3, .end = end}));
  MemoryTrajectory ignored;
  out.simulation->run(ignored);
  const Equations& e = out.simulation->equations();
  Workspace work = e.make_workspace();
  out.partials = e.make_partials(Detail::newton);
  e.linearise(out.simulation->integrator().state(), out.simulation->integrator().rates(), Detail::newton, out.partials,
              work);
  return out;
}

std::vector<Row> run(const StudyContext& context) {
  std::vector<Row> rows;
  const AlphaParameters p = AlphaParameters::hht(-0.3);
  struct Mechanism {
    const char* file;
    double end;
  };
  const char* const by_slope = "a number of this mechanism; its slope over h has the bound, below";
  PlotRequest plot;
  plot.title = "Condition of HHT's Newton matrix over the step size";
  plot.subtitle = "(a) positions, (b) accelerations, (c) accelerations and scaled constraints as unknowns and rows";
  plot.xlabel = "step size, s";
  plot.logx = true;
  for (const Mechanism& m : {Mechanism{"spatial_slider_crank.yaml", 0.3}, Mechanism{"heavy_top.yaml", 0.1},
                             Mechanism{"slider_crank.yaml", 0.2}}) {
    const std::string name = std::string(m.file).substr(0, std::string(m.file).find('.'));
    context.note(name);
    guard(rows, name, name, [&] {
      const Sample at = sample_of(m.file, m.end);
      const Equations& e = at.simulation->equations();
      PlotCurve curves[3];
      std::vector<double> hs;
      for (int k = 1; k <= 8; ++k) {
        const double h = std::pow(10.0, -k);
        hs.push_back(h);
        const Conditions c = conditions(newton_matrix(e, at.partials, h, p), e.sizes().nv, p.beta * h * h);
        char label[32];
        std::snprintf(label, sizeof label, "h = 1e-%d s", k);
        rows.push_back(Row::measure(name, label, "condition, option (a)", c.a).because(by_slope));
        rows.push_back(Row::measure(name, label, "condition, option (b)", c.b).because(by_slope));
        rows.push_back(Row::measure(name, label, "condition, option (c)", c.c).because(by_slope));
        const double values[3] = {c.a, c.b, c.c};
        for (int i = 0; i < 3; ++i) {
          curves[i].x.push_back(h);
          curves[i].y.push_back(values[i]);
        }
      }
      // From h = 1e-2 on the stiffness terms are small beside the masses; at h = 0.1 they need not be.
      const auto spread = [](const std::vector<double>& y) {
        return *std::max_element(y.begin() + 1, y.end()) / *std::min_element(y.begin() + 1, y.end());
      };
      rows.push_back(Row::at_most(name, "h = 1e-2 ... 1e-8 s", "greatest by least condition, option (c): flat", 1.1,
                                  spread(curves[2].y))
                         .because("the paper: bounded as h goes to 0; a tenth for stiffness that is left at 1e-2 s"));
      rows.push_back(Row::near(name, "h = 1e-4 ... 1e-8 s", "slope of the condition over h, option (c)", 0,
                               fitted_order({hs.begin() + 3, hs.end()}, {curves[2].y.begin() + 3, curves[2].y.end()}),
                               0.01)
                         .because("scaled rows and unknowns: it does not depend on h"));
      rows.push_back(Row::near(name, "h = 1e-4 ... 1e-8 s", "slope of the condition over h, option (b)", -2,
                               fitted_order({hs.begin() + 3, hs.end()}, {curves[1].y.begin() + 3, curves[1].y.end()}),
                               0.1)
                         .because("the rows of the constraints fall with h^2"));
      rows.push_back(Row::near(name, "h = 1e-4 ... 1e-8 s", "slope of the condition over h, option (a)", -4,
                               fitted_order({hs.begin() + 3, hs.end()}, {curves[0].y.begin() + 3, curves[0].y.end()}),
                               0.1)
                         .because("masses over h^2 beside constraints of size 1, both ways"));
      PlotPanel panel{name, {}, true};
      const char* const labels[3] = {"(a)", "(b)", "(c)"};
      for (int i = 0; i < 3; ++i) {
        curves[i].label = labels[i];
        curves[i].style = PlotStyle::linespoints;
        panel.curves.push_back(curves[i]);
      }
      plot.panels.push_back(panel);
    });
  }
  if (const auto file = context.picture("conditioning.png"); file && !plot.panels.empty()) draw_plot(plot, *file);
  return rows;
}

}  // namespace
}  // namespace conditioning_study

std::vector<Row> study_conditioning(const StudyContext& context) { return conditioning_study::run(context); }

}  // namespace trammel
