// models/hmmwv_bump.yaml: counts, rest position and eigenvalues against an independent computation in 18 coordinates,
// which gives them with the digits below.
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "tests/problems/stepping.h"
#include "trammel/analyse/linearise.h"
#include "trammel/analyse/statics.h"
#include "trammel/run/load_model.h"
#include "trammel/run/simulation.h"

namespace trammel::vehicle_test {
namespace {

struct Vehicle : problems::Ready {
  StaticReport report;
  explicit Vehicle(bool with_rank = false)
      : Ready(load_model(std::string(TRAMMEL_SOURCE_DIR) + "/models/hmmwv_bump.yaml"), {.analyse_rank = with_rank}) {
    report = StaticSolver(*equations).solve(state, rates, work, {.judge_stability = with_rank});
  }
  Vec3 centre(const char* body) const {
    return state.q.segment<3>(equations->first_coordinate(equations->model().find_body(body)));
  }
  Vec3 frame(const char* name) {
    equations->update(state, work);
    return equations->frame(equations->model().find_frame(name), work).p;
  }
  // The last observable but one of a spring is its length.
  double observed(const char* force, std::string_view what) {
    equations->update(state, work);
    const Model& m = equations->model();
    for (int i = 0; i < equations->force_count(); ++i) {
      if (m.forces[static_cast<std::size_t>(i)].name != force) continue;
      double wrench[6 * max_frames] = {};
      std::vector<double> values(equations->force(i).observables().size() + 1);
      EXPECT_TRUE(equations->observe_force(i, state, work, wrench, values.data()));
      for (std::size_t k = 0; k + 1 < values.size(); ++k) {
        if (equations->force(i).observables()[k].name == what) return values[k];
      }
    }
    ADD_FAILURE() << force << ": " << what;
    return 0;
  }
};

TEST(Vehicle, HasThePapersCounts) {
  const Vehicle car(true);
  const Sizes n = car.equations->sizes();
  EXPECT_EQ(car.equations->model().bodies.size(), 14u);
  EXPECT_EQ(n.nq, 98);
  EXPECT_EQ(n.ng, 66);
  EXPECT_EQ(n.ng + 14, 80);
  EXPECT_EQ(car.initial.rank.freedoms_by_rank, 18);
  EXPECT_EQ(car.initial.rank.redundant, 0);
  EXPECT_LT(car.initial.stages[0].moved, 1e-12) << "the design position meets all joints";
  EXPECT_EQ(car.report.stability, Stability::neutral);
  EXPECT_EQ(car.report.neutral_directions, 3) << "along, across, yaw";
}

TEST(Vehicle, Rests) {
  Vehicle car;
  ASSERT_TRUE(car.report.found) << to_text(car.report);
  EXPECT_NEAR(car.centre("chassis").z(), 0.7904628, 1e-7);
  const Eigen::Map<const Eigen::Vector4d> e(car.state.q.data() + car.equations->first_coordinate(0) + 3);
  EXPECT_NEAR(2 * std::asin(e[2]), 0.0038799, 1e-7) << "nose down";
  EXPECT_NEAR(e[3], 0, 1e-14) << "nothing holds it against yaw, so it does not";
  EXPECT_NEAR(car.centre("chassis").y(), 0, 1e-14);
  EXPECT_NEAR(car.frame("front_left.wheel").z(), 0.4450240, 1e-7);
  EXPECT_NEAR(car.frame("front_right.wheel").z(), 0.4450240, 1e-7);
  EXPECT_NEAR(car.frame("rear_left.wheel").z(), 0.4463208, 1e-7);
  EXPECT_NEAR(car.observed("front_left.tyre", "fz"), 6512.05, 0.01);
  EXPECT_NEAR(car.observed("rear_right.tyre", "fz"), 6127.77, 0.01);
  EXPECT_NEAR(car.observed("front_right.spring", "length"), 0.2931727, 1e-7);
  EXPECT_NEAR(car.observed("rear_left.spring", "length"), 0.3565823, 1e-7);
  // The front wheels touch the bump 0.5 s after the start at constant speed.
  const double reach = std::sqrt(0.517 * 0.517 - 0.467 * 0.467);
  double bump = 0;
  for (const Parameter& p : car.equations->model().parameters) bump = p.name == "bump_at" ? p.value : bump;
  EXPECT_NEAR(bump - reach - car.frame("front_left.wheel").x(), 0.5 * 4.4704, 1e-5);
}

TEST(Vehicle, HasTheKnownEigenvalues) {
  Vehicle car;
  ASSERT_TRUE(car.report.found);
  const LinearSystem system = linearise_system(*car.equations, car.state, car.rates);
  ASSERT_EQ(system.A.rows(), 36);
  const Eigen::VectorXcd values = system.A.eigenvalues();
  std::vector<std::complex<double>> s(values.begin(), values.end());
  const auto take = [&](std::complex<double> wanted, double within) {
    const auto nearest = std::min_element(s.begin(), s.end(),
                                          [&](auto a, auto b) { return std::abs(a - wanted) < std::abs(b - wanted); });
    ASSERT_NE(nearest, s.end());
    EXPECT_LT(std::abs(*nearest - wanted), within) << "nearest to " << wanted << " is " << *nearest;
    s.erase(nearest);
  };
  take(-2.575e5, 50);
  take(-2.575e5, 150);  // pairs of almost equal ones are given by one number
  for (int i = 0; i < 2; ++i) take(-1.80e5, 1000);
  for (const double real : {-1750.0, -1738.0, -567.0, -553.0}) take(real, 1);
  for (const std::complex<double> pair :
       {std::complex<double>(-52.6, 16.0), {-49.6, 3.3}, {-32.8, 43.9}, {-30.9, 42.6}}) {
    take(pair, 0.1);
    take(std::conj(pair), 0.1);
  }
  for (const std::complex<double> pair : {std::complex<double>(-7.33, 16.18), {-5.26, 14.64}, {-3.05, 11.29}}) {
    take(pair, 0.01);
    take(std::conj(pair), 0.01);
  }
  int overdamped = 0, zeros = 0;
  for (const auto& each : s) {
    overdamped += each.real() > -95 && each.real() < -79 ? 1 : 0;
    zeros += std::abs(each) < 1e-2 ? 1 : 0;
  }
  EXPECT_EQ(overdamped, 8);
  EXPECT_EQ(zeros, 6);
}

// The run starts in the equilibrium, and the whole vehicle drives.
TEST(Vehicle, StartsFromRestAtItsSpeed) {
  Simulation simulation(load_model(std::string(TRAMMEL_SOURCE_DIR) + "/models/hmmwv_bump.yaml"));
  RunOptions options;
  options.analyse_rank = false;
  simulation.start(options);
  const State& state = simulation.integrator().state();
  const Equations& equations = simulation.equations();
  EXPECT_NEAR(state.q[equations.first_coordinate(0) + 2], 0.7904628, 1e-7);
  for (int body = 0; body < 14; ++body) {
    const int v = equations.first_velocity(body);
    EXPECT_NEAR(state.v[v], 4.4704, 1e-9);
    EXPECT_LT(state.v.segment(v + 1, 5).cwiseAbs().maxCoeff(), 1e-9);
  }
  EXPECT_LT(simulation.integrator().rates().a.cwiseAbs().maxCoeff(), 1e-3);  // a millionth of the forces that act
}

}  // namespace
}  // namespace trammel::vehicle_test
