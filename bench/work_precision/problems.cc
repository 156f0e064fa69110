#include "bench/work_precision/problems.h"

#include <cmath>
#include <numbers>
#include <stdexcept>

#include "trammel/formulate/named_coordinates.h"
#include "trammel/formulate/state_space.h"
#include "trammel/initial/consistent.h"
#include "trammel/ode/functor_problem.h"
#include "trammel/ode/solve.h"
#include "trammel/run/load_model.h"
#include "trammel/run/simulation.h"

namespace trammel::bench {
namespace {

template <class F>
std::function<std::unique_ptr<FirstOrderProblem>()> equations(int n, F f) {
  return [n, f] { return std::make_unique<FirstOrderFunctor<F>>(n, f); };
}

Vec values(std::initializer_list<double> list) {
  Vec out(static_cast<Eigen::Index>(list.size()));
  Eigen::Index i = 0;
  for (const double x : list) out[i++] = x;
  return out;
}

// Two bodies, ten turns: the solution is where it started.
Problem kepler() {
  const Vec start = values({0.4, 0, 0, 2});
  return {"kepler",
          "Kepler's ellipse, e = 0.6, ten turns",
          false,
          equations(4,
                    [](auto, auto y, auto f) {
                      using std::sqrt;
                      const auto r2 = y[0] * y[0] + y[1] * y[1];
                      const auto r3 = r2 * sqrt(r2);
                      f[0] = y[2];
                      f[1] = y[3];
                      f[2] = -y[0] / r3;
                      f[3] = -y[1] / r3;
                    }),
          start,
          20 * std::numbers::pi,
          start};
}

Problem brusselator() {
  return {"brusselator",
          "Brusselator, A = 1, B = 3",
          false,
          equations(2,
                    [](auto, auto y, auto f) {
                      f[0] = 1.0 + y[0] * y[0] * y[1] - 4.0 * y[0];
                      f[1] = 3.0 * y[0] - y[0] * y[0] * y[1];
                    }),
          values({1.5, 3}),
          20,
          {}};
}

// A mass on a spring of rest length 1 that swings in a plane: about ten vibrations of the spring in a swing.
Problem spring_pendulum() {
  return {"spring_pendulum",
          "pendulum on a spring, oscillatory",
          false,
          equations(4,
                    [](auto, auto y, auto f) {
                      using std::sqrt;
                      const auto r = sqrt(y[0] * y[0] + y[1] * y[1]);
                      const auto pull = -1000.0 * (r - 1.0) / r;
                      f[0] = y[2];
                      f[1] = y[3];
                      f[2] = pull * y[0];
                      f[3] = pull * y[1] - 9.81;
                    }),
          values({1.02, 0, 0, 0}),
          10,
          {}};
}

// Hairer and Wanner II, (1.5'): epsilon = 1e-6.
Problem van_der_pol() {
  return {"van_der_pol",
          "van der Pol, epsilon = 1e-6",
          true,
          equations(2,
                    [](auto, auto y, auto f) {
                      f[0] = y[1];
                      f[1] = ((1.0 - y[0] * y[0]) * y[1] - y[0]) / 1e-6;
                    }),
          values({2, -0.66}),
          2,
          {}};
}

// The growth of a plant under light: Schaefer 1975.
Problem hires() {
  return {"hires",
          "HIRES, eight reactions",
          true,
          equations(8,
                    [](auto, auto y, auto f) {
                      f[0] = -1.71 * y[0] + 0.43 * y[1] + 8.32 * y[2] + 0.0007;
                      f[1] = 1.71 * y[0] - 8.75 * y[1];
                      f[2] = -10.03 * y[2] + 0.43 * y[3] + 0.035 * y[4];
                      f[3] = 8.32 * y[1] + 1.71 * y[2] - 1.12 * y[3];
                      f[4] = -1.745 * y[4] + 0.43 * y[5] + 0.43 * y[6];
                      f[5] = -280.0 * y[5] * y[7] + 0.69 * y[3] + 1.71 * y[4] - 0.43 * y[5] + 0.69 * y[6];
                      f[6] = 280.0 * y[5] * y[7] - 1.81 * y[6];
                      f[7] = -280.0 * y[5] * y[7] + 1.81 * y[6];
                    }),
          values({1, 0, 0, 0, 0, 0, 0, 0.0057}),
          321.8122,
          {}};
}

// u_t = u_xx + 20 u (1 - u) on 40 points between u = 1 and u' = 0: a front that runs to the right.
Problem front() {
  constexpr int n = 40;
  Vec start(n);
  for (int i = 0; i < n; ++i) start[i] = std::exp(-20.0 * (i + 1) / n);
  return {"front",
          "travelling front, 40 points",
          true,
          equations(n,
                    [](auto, auto y, auto f) {
                      constexpr double scale = n * n;
                      for (std::size_t i = 0; i < n; ++i) {
                        const auto left = i == 0 ? y[0] * 0.0 + 1.0 : y[i - 1];
                        const auto right = i + 1 == n ? y[i] : y[i + 1];
                        f[i] = scale * (left - 2.0 * y[i] + right) + 20.0 * y[i] * (1.0 - y[i]);
                      }
                    }),
          start,
          0.3,
          {}};
}

// A planar mechanism in independent coordinates. The last point evaluated is where the dependent ones are sought from,
// whoever integrates.
class Mechanism final : public FirstOrderProblem {
 public:
  Mechanism(const std::string& file, const std::vector<std::string>& names) {
    Model model = load_model(std::string(TRAMMEL_SOURCE_DIR) + "/models/" + file);
    simulation_ = std::make_unique<Simulation>(std::move(model));
    simulation_->start();
    const Equations& equations = simulation_->equations();
    StateSpaceOptions options;
    options.tolerance = 1e-12;
    options.named = named_coordinates(equations, names, {});
    space_ = std::make_unique<StateSpace>(equations, options);
    state_ = simulation_->integrator().state();
    rates_ = simulation_->integrator().rates();
    first_ = state_;
    first_rates_ = rates_;
    space_->set_base(state_, rates_);
    space_->project(state_, rates_, start_, rate_);
  }
  const Vec& start() const { return start_; }
  int size() const override { return space_->size(); }
  Eval f(double t, const Vec& y, Vec& dydt) override {
    if (t == 0) space_->set_base(first_, first_rates_);  // another run
    if (space_->evaluate(t, y, state_, rates_) != Eval::ok) return Eval::rejected;
    space_->f(t, y, dydt);
    space_->set_base(state_, rates_);
    return Eval::ok;
  }
  bool has_jacobian() const override { return true; }
  Eval jacobian(double t, const Vec& y, Jacobian& J, Vec& f_t) override { return space_->jacobian(t, y, J, f_t); }

 private:
  std::unique_ptr<Simulation> simulation_;
  std::unique_ptr<StateSpace> space_;
  State first_, state_;
  Rates first_rates_, rates_;
  Vec start_, rate_;
};

Problem mechanism(const char* key, const char* title, bool stiff, const char* file,
                  const std::vector<std::string>& names, double end) {
  const std::string path = file;
  return {key,
          title,
          stiff,
          [path, names] { return std::make_unique<Mechanism>(path, names); },
          Mechanism(path, names).start(),
          end,
          {}};
}

}  // namespace

std::vector<Problem> work_precision_problems() {
  std::vector<Problem> all{
      kepler(),
      brusselator(),
      spring_pendulum(),
      mechanism("andrews", "Andrews' squeezer, state space", false, "andrews_squeezer.yaml", {"K1.angle"}, 0.03),
      van_der_pol(),
      hires(),
      front(),
      mechanism("double_pendulum", "stiff double pendulum, state space", true, "rn_double_pendulum.yaml",
                {"rod1.angle", "rod2.angle"}, 2),
  };
  for (Problem& p : all) {
    if (p.reference.size() > 0) continue;
    const auto problem = p.make();
    const SolveResult fine =
        solve(*problem, p.stiff ? "radau-iia-3" : "dormand-prince-853", 0, p.start, p.end, {.tolerance = 1e-13});
    if (fine.status != SolveStatus::finished) throw std::runtime_error(p.key + ": " + fine.message);
    p.reference = fine.y;
  }
  return all;
}

}  // namespace trammel::bench
