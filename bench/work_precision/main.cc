// trammel-work-precision [FOLDER]: error over evaluations and error over time, our methods beside CVODE and ARKODE of
// SUNDIALS on the same right sides, with exact derivatives and the same error norm. Prints what ours cost at equal
// error by the best of theirs of the same kind, and draws a picture for every problem.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>

#include "bench/work_precision/peers.h"
#include "bench/work_precision/problems.h"
#include "trammel/ode/solve.h"
#include "trammel/write/plot.h"

namespace trammel::bench {
namespace {

double seconds_now() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

class Counting final : public FirstOrderProblem {
 public:
  explicit Counting(FirstOrderProblem& inner) : inner_(inner) {}
  int size() const override { return inner_.size(); }
  Eval f(double t, const Vec& y, Vec& dydt) override {
    ++evaluations;
    return inner_.f(t, y, dydt);
  }
  bool has_jacobian() const override { return inner_.has_jacobian(); }
  Eval jacobian(double t, const Vec& y, Jacobian& J, Vec& f_t) override {
    ++jacobians;
    return inner_.jacobian(t, y, J, f_t);
  }
  const Pattern* sparsity() const override { return inner_.sparsity(); }
  void error_scales(const Vec& before, const Vec& after, Vec& scales) const override {
    inner_.error_scales(before, after, scales);
  }
  long evaluations = 0, jacobians = 0;

 private:
  FirstOrderProblem& inner_;
};

struct Sample {
  double tolerance, error;
  double evaluations, jacobians, seconds;
};
using Curve = std::vector<Sample>;

// The least time of a few runs: other programs only make it longer.
template <class Run>
double least_seconds(const Run& run) {
  double least = 1e300;
  double spent = 0;
  for (int i = 0; i < 20 && (i < 2 || spent < 0.2); ++i) {
    const double begin = seconds_now();
    run();
    const double used = seconds_now() - begin;
    least = std::min(least, used);
    spent += used;
  }
  return least;
}

double error_of(const Problem& p, const Vec& y) {
  const Vec scales = p.reference.cwiseAbs().cwiseMax(1.0);
  return std::sqrt((y - p.reference).cwiseQuotient(scales).squaredNorm() / static_cast<double>(y.size()));
}

std::vector<double> tolerances() {
  std::vector<double> out;
  for (int i = 0; i <= 16; ++i) out.push_back(std::pow(10, -3 - 0.5 * i));
  return out;
}

Curve our_curve(const Problem& p, const std::string& method) {
  Curve out;
  const auto problem = p.make();
  for (const double tolerance : tolerances()) {
    Counting counting(*problem);
    const SolveResult result = solve(counting, method, 0, p.start, p.end, {.tolerance = tolerance});
    if (result.status != SolveStatus::finished) continue;
    const double seconds = least_seconds([&] { solve(*problem, method, 0, p.start, p.end, {.tolerance = tolerance}); });
    out.push_back({tolerance, error_of(p, result.y), static_cast<double>(counting.evaluations),
                   static_cast<double>(counting.jacobians), seconds});
  }
  return out;
}

Curve peer_curve(const Problem& p, Peer peer, bool tuned) {
  Curve out;
  const auto problem = p.make();
  for (const double tolerance : tolerances()) {
    const PeerRun run = run_peer(peer, *problem, 0, p.start, p.end, tolerance, tuned);
    if (!run.good) continue;
    const double seconds = least_seconds([&] { run_peer(peer, *problem, 0, p.start, p.end, tolerance, tuned); });
    out.push_back({tolerance, error_of(p, run.y), static_cast<double>(run.evaluations),
                   static_cast<double>(run.jacobians), seconds});
  }
  return out;
}

// What an error costs at most when the tolerance is chosen well: the least cost among runs that are at least as good,
// between neighbouring runs by a line in logarithms.
double cost_at(const Curve& curve, double error, double Sample::*cost) {
  double best = 1e300;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    if (curve[i].error <= error) best = std::min(best, curve[i].*cost);
    if (i == 0) continue;
    const Sample &a = curve[i - 1], &b = curve[i];
    if (!((a.error > error) != (b.error > error))) continue;
    const double s = std::log(error / a.error) / std::log(b.error / a.error);
    best = std::min(best, a.*cost * std::pow(b.*cost / a.*cost, s));
  }
  return best;
}

struct Pair {
  std::string ours;
  std::vector<Peer> theirs;
};

void compare(const Problem& p, const Pair& pair, const Curve& ours, const std::vector<Curve>& theirs) {
  for (const auto& [name, cost] : {std::pair{"evaluations", &Sample::evaluations}, {"seconds", &Sample::seconds}}) {
    double sum = 0, worst = 0, at = 0;
    int count = 0;
    for (double e = -3; e >= -9.01; e -= 0.5) {
      const double error = std::pow(10, e), mine = cost_at(ours, error, cost);
      double other = 1e300;
      for (const Curve& c : theirs) other = std::min(other, cost_at(c, error, cost));
      if (mine > 1e299 || other > 1e299) continue;
      const double ratio = mine / other;
      sum += std::log(ratio);
      ++count;
      if (ratio > worst) {
        worst = ratio;
        at = error;
      }
    }
    if (count == 0) {
      fmt::print("{:16} {:22} {:12} no common errors\n", p.key, pair.ours, name);
      continue;
    }
    const double mean = std::exp(sum / count), goal = name[0] == 'e' ? 1.3 : 1.5;
    fmt::print("{:16} {:22} {:12} mean {:5.2f}   worst {:5.2f} at error {:.0e}   goal {:.1f} {}\n", p.key, pair.ours,
               name, mean, worst, at, goal, mean <= goal ? "met" : "MISSED");
  }
}

void draw(const Problem& p, const std::vector<std::pair<std::string, Curve>>& curves, const std::string& file) {
  PlotRequest plot;
  plot.title = p.title;
  plot.subtitle = "cost over error at the end; dashed: SUNDIALS";
  plot.xlabel = "error";
  plot.logx = true;
  plot.width = 1000;
  plot.height = 900;
  for (const auto& [label, cost] :
       {std::pair{"evaluations of f", &Sample::evaluations}, {"seconds", &Sample::seconds}}) {
    PlotPanel panel{label, {}, true};
    for (const auto& [name, curve] : curves) {
      PlotCurve line;
      for (const Sample& s : curve) {
        line.x.push_back(std::max(s.error, 1e-16));
        line.y.push_back(s.*cost);
      }
      line.label = name;
      line.dashed = name.find("ODE,") != std::string::npos;
      line.style = PlotStyle::linespoints;
      panel.curves.push_back(line);
    }
    plot.panels.push_back(panel);
  }
  draw_plot(plot, file);
}

int main_of(const std::string& folder, const std::string& only) {
  const std::vector<Pair> easy{
      {"adams", {Peer::cvode_adams}},
      {"dormand-prince-54", {Peer::arkode_explicit_5}},
      {"dormand-prince-853", {Peer::arkode_explicit_8}},
  };
  const std::vector<Pair> stiff{
      {"radau-iia-3", {}},
      {"bdf", {Peer::cvode_bdf}},
      {"norsett-sdirk", {Peer::arkode_implicit_3}},
      {"sdirk-4", {Peer::arkode_implicit_4, Peer::arkode_explicit_first_4}},
  };
  std::filesystem::create_directories(folder);
  for (const Problem& p : work_precision_problems()) {
    if (!only.empty() && p.key != only) continue;
    {
      const auto problem = p.make();
      const PeerRun check = run_peer(p.stiff ? Peer::cvode_bdf : Peer::cvode_adams, *problem, 0, p.start, p.end, 1e-12);
      fmt::print("{}: {}; reference and CVODE at 1e-12 differ by {:.1e}\n", p.key, p.title, error_of(p, check.y));
    }
    std::vector<std::pair<std::string, Curve>> curves;
    for (const Pair& pair : p.stiff ? stiff : easy) {
      const Curve ours = our_curve(p, pair.ours);
      curves.emplace_back(pair.ours, ours);
      std::vector<Curve> theirs;
      for (const Peer peer : pair.theirs) {
        for (const bool tuned : {false, true}) {
          if (tuned && peer < Peer::arkode_implicit_3) continue;
          theirs.push_back(peer_curve(p, peer, tuned));
          if (!theirs.back().empty())
            curves.emplace_back(std::string(to_text(peer)) + (tuned ? ", tuned" : ""), theirs.back());
        }
      }
      if (!theirs.empty()) compare(p, pair, ours, theirs);
    }
    draw(p, curves, folder + "/" + p.key + ".png");
  }
  fmt::print("pictures: {}\n", folder);
  return 0;
}

}  // namespace
}  // namespace trammel::bench

int main(int argc, char** argv) {
  return trammel::bench::main_of(argc > 1 ? argv[1] : "build/work_precision", argc > 2 ? argv[2] : "");
}
