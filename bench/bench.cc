// trammel-bench: what a step costs, beside its error. Every model runs with a fixed step of 1e-3 s for one second with
// default settings, again with Newton a thousand times tighter (fresh derivatives every step), and once more with half
// the step; from the last two the solution is extrapolated, so that errors of both runs can be told. Times are process
// CPU time, measured side by side.
#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>

#include "bench/evaluations.h"
#include "bench/mechanisms.h"
#include "trammel/read/read_model.h"
#include "trammel/run/simulation.h"

namespace trammel::bench {
namespace {

double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Memory in use: of the heap and of large blocks outside it.
double used_kilobytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd) / 1024;
}

struct Outcome {
  bool good = false;
  Vec q;               // at the end
  double seconds = 0;  // of stepping
  double setup = 0;    // built Model to the end of the first step
  Counts counts;
  double equations_kb = 0, method_kb = 0, all_kb = 0;
  long fill = 0;
  int tip = 0;  // coordinate of the last body
  std::string failure;
};

Outcome run(const Model& given, double h, double end, bool converged) {
  Outcome out;
  const double before_kb = used_kilobytes();  // the copy counts: a built model is part of what a user holds
  Model model = given;
  model.simulation.step = h;
  model.simulation.end = end;
  if (converged) {
    model.simulation.options.set("corrector", 1e-6);
    model.simulation.options.set("keep_rate", 0.0);
    model.simulation.options.set("most_iterations", 20.0);
  }
  const int bodies = static_cast<int>(model.bodies.size());
  const double begin = cpu_seconds();
  Simulation simulation(std::move(model));
  simulation.start();
  Integrator& method = simulation.integrator();
  const long steps = std::lround(end / h);
  double first = 0;
  for (long i = 0; i < steps; ++i) {
    const Attempt attempt = method.attempt(h);
    if (attempt.verdict != Verdict::ok) {
      out.failure = std::string(to_text(attempt.verdict)) + " at t = " + std::to_string(method.state().t);
      return out;
    }
    method.accept();
    if (i == 0) first = cpu_seconds();
  }
  out.seconds = cpu_seconds() - first;
  out.setup = first - begin;
  out.counts = method.counts();
  out.equations_kb = static_cast<double>(simulation.equations().memory_bytes()) / 1024;
  out.method_kb = static_cast<double>(method.memory_bytes()) / 1024;
  out.all_kb = used_kilobytes() - before_kb;
  out.q = method.state().q;
  out.tip = simulation.equations().first_coordinate(bodies - 1);
  out.good = true;
  return out;
}

// Largest difference of positions of all bodies, and of the last one.
struct Difference {
  double all = 0, tip = 0;
};
Difference difference(const Vec& p, const Vec& q, int tip) {
  return {(p - q).lpNorm<Eigen::Infinity>(), (p.segment<3>(tip) - q.segment<3>(tip)).norm()};
}

void measure(const char* name, int size, const Model& model, bool with_error) {
  constexpr double h = 1e-3, end = 1;
  const auto bodies = static_cast<double>(model.bodies.size());
  const Outcome ours = run(model, h, end, false);
  if (!ours.good) {
    std::printf("%-10s %6d  %s\n", name, size, ours.failure.c_str());
    return;
  }
  const double steps = static_cast<double>(ours.counts.steps);
  std::printf("%-10s %6d %7.0f %8.3f %6.2f %6ld %6ld %8.1f %8.1f %8.1f %9.3f", name, size, bodies,
              1e6 * ours.seconds / (bodies * (steps - 1)), static_cast<double>(ours.counts.newton_iterations) / steps,
              ours.counts.linearisations, ours.counts.factorisations + ours.counts.refactorisations,
              ours.equations_kb / bodies, ours.method_kb / bodies, ours.all_kb / bodies, ours.setup);
  if (with_error) {
    const Outcome coarse = run(model, h, end, true), fine = run(model, h / 2, end, true);
    if (coarse.good && fine.good) {
      const Vec reference = fine.q + (fine.q - coarse.q) / 3;  // order 2
      const Difference e = difference(ours.q, reference, ours.tip), c = difference(coarse.q, reference, ours.tip);
      std::printf("  %.3e %.3e %.3e %.3e %6.2f", e.tip, c.tip, e.all, c.all, coarse.seconds / ours.seconds);
    } else {
      std::printf("  converged run: %s", (coarse.good ? fine : coarse).failure.c_str());
    }
  }
  std::printf("\n");
  std::fflush(stdout);
}

// A chain as a model file, read back: what a large file costs.
void measure_reading(int links) {
  const std::string path = "chain_" + std::to_string(links) + ".yaml";
  {
    std::ofstream file(path);
    file << "trammel: 1\ntitle: chain\ngravity: [0, 0, -9.81]\nbodies:\n";
    for (int i = 0; i < links; ++i) {
      file << "  link" << i
           << ": {mass: 1, inertia: [8.333333333333333e-05, 0.08333333333333333, 0.08333333333333333], position: ["
           << i + 0.5 << ", 0, 0]}\n";
    }
    file << "joints:\n";
    for (int i = 0; i < links; ++i) {
      file << "  pin" << i << ": {type: revolute, between: ["
           << (i == 0 ? std::string("ground") : "link" + std::to_string(i - 1)) << ", link" << i << "], at: [" << i
           << ", 0, 0], axis: [0, 1, 0]}\n";
    }
    file << "simulation: {end: 1, step: 1e-3}\n";
  }
  const double begin = cpu_seconds();
  const Model model = read_model(path);
  std::printf("reading a file of %d links: %.3f s\n", static_cast<int>(model.bodies.size()), cpu_seconds() - begin);
  std::remove(path.c_str());
}

// The same chain made by repetition.
void measure_repetition(int links) {
  const std::string text =
      "trammel: 1\nparameters: {n: " + std::to_string(links) +
      "}\nrepeat:\n  - index: i\n    to: n\n    bodies:\n      link$(i): {mass: 1, inertia: [1e-4, 1/12, 1/12], "
      "position: [i - 0.5, 0, 0]}\n    joints:\n      pin$(i): {type: revolute, between: [\"$(i > 1 ? 'link$(i-1)' : "
      "'ground')\", link$(i)], at: [i - 1, 0, 0], axis: [0, 1, 0]}\n";
  const double begin = cpu_seconds();
  const Model model = read_model_text(text, "repeat.yaml");
  std::printf("making %d links by repetition: %.3f s\n", static_cast<int>(model.bodies.size()), cpu_seconds() - begin);
}

}  // namespace
}  // namespace trammel::bench

int main(int argc, char** argv) {
  using namespace trammel;
  using namespace trammel::bench;
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  try {
    measure_evaluations();
    if (argc > 1 && std::strcmp(argv[1], "--evaluations") == 0) return 0;
    std::printf(
        "hht-i3, defaults, h = 1e-3 s, 1 s of motion; errors in m against the extrapolated solution, ours and fully "
        "converged\n");
    std::printf("%-10s %6s %7s %8s %6s %6s %6s %8s %8s %8s %9s  %9s %9s %9s %9s %6s\n", "model", "size", "bodies",
                "us/b/st", "it/st", "linear", "factor", "eqs kB/b", "meth kB/b", "all kB/b", "setup s", "tip ours",
                "tip conv", "all ours", "all conv", "ratio");
    for (const int n : {1, 10, 100, 1000, 10000}) {
      if (!(quick && n > 1000)) measure("chain", n, chain(n), true);
    }
    for (const int n : {10, 40}) measure("four-bar", n, four_bars(n), true);
    for (const int n : {1, 10}) measure("convoy", n, convoy(n), true);
    measure_reading(quick ? 1000 : 10000);
    measure_repetition(quick ? 1000 : 10000);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}
