// The step map of the paper's double pendulum, of its model files: the eigenvalues of x_k -> x_{k+1}, differenced, are
// those of the scheme in the four directions that the pin binds, and near 1 in those of the motion.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "trammel/couple/coupling_file.h"
#include "trammel/couple/model_participant.h"

namespace trammel::step_map_test {
namespace {

// phi1, x2, y2, phi2, and their rates.
using Eight = Eigen::Matrix<double, 8, 1>;

void place(Body& body, const Vec3& position, double angle, const Vec3& velocity, double rate) {
  body.pose = {position, Quat(Eigen::AngleAxisd(angle, Vec3::UnitZ()))};
  body.velocity = velocity;
  body.angular_velocity = rate * Vec3::UnitZ();
}

Eight one_step(CouplingSpec spec, const CouplingScheme& scheme, const Eight& x) {
  spec.settings.scheme = scheme;
  spec.settings.tolerance = 1e-12;
  spec.settings.fit = 1;  // neighbours of a state that fits
  spec.settings.output_step.reset();
  std::vector<Model> models = participant_models(spec);
  const double s = std::sin(x[0]), c = std::cos(x[0]);
  place(models[0].bodies[0], Vec3(0.5 * s, -0.5 * c, 0), x[0], 0.5 * x[4] * Vec3(c, s, 0), x[4]);
  place(models[1].bodies[0], Vec3(x[1], x[2], 0), x[3], Vec3(x[5], x[6], 0), x[7]);
  std::vector<std::unique_ptr<Participant>> participants;
  for (int p = 0; p < 2; ++p) {
    models[static_cast<std::size_t>(p)].simulation.tolerance = 1e-11;
    participants.push_back(make_participant(spec, p, models[static_cast<std::size_t>(p)], {}));
  }
  Coupling coupling(std::move(participants), spec.frames, spec.joints, spec.settings);
  coupling.start();
  EXPECT_TRUE(coupling.advance(spec.settings.step)) << coupling.summary().failure;
  coupling.accept_step();
  const auto state = [&](int p) { return dynamic_cast<ModelParticipant&>(coupling.participant(p)).state(); };
  Eight out;
  out << state(0).q[2], state(1).q, state(0).v[2], state(1).v;
  return out;
}

std::vector<std::complex<double>> eigenvalues(const CouplingScheme& scheme) {
  const CouplingSpec spec = read_coupling(std::string(TRAMMEL_SOURCE_DIR) + "/couplings/double_pendulum.yaml");
  const double pi = 3.14159265358979323846, phi1 = pi / 12, phi2 = pi / 6;
  Eight x;
  x << phi1, std::sin(phi1) + 0.5 * std::sin(phi2), -std::cos(phi1) - 0.5 * std::cos(phi2), phi2, 0, 0, 0, 0;
  Eigen::Matrix<double, 8, 8> map;
  const double d = 1e-4;
  for (int i = 0; i < 8; ++i)
    map.col(i) =
        (one_step(spec, scheme, x + d * Eight::Unit(i)) - one_step(spec, scheme, x - d * Eight::Unit(i))) / (2 * d);
  const Eigen::VectorXcd values = map.eigenvalues();
  std::vector<std::complex<double>> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end(), [](auto a, auto b) { return a.real() < b.real(); });
  return sorted;
}

TEST(StepMap, OfThePendulumHasTheSchemesEigenvalues) {
  struct Case {
    CouplingScheme scheme;
    double value, near;  // of the two that are not 0 in any case
  };
  const std::vector<Case> cases{{find_scheme("displacement", {}), -1, 1e-3},
                                {theta_scheme(0.1), -2.0 / 3, 3e-3},
                                {theta_scheme(0.5), 0, 4e-3},
                                {theta_scheme(1), 1.0 / 3, 4e-3},
                                {find_scheme("displacement-velocity", {}), 0, 1e-5},
                                {find_scheme("linear", {}), 0, 1e-5},
                                {find_scheme("quadratic", {}), 0, 1e-5},
                                {find_scheme("stabilised", {}), 0, 1e-5}};
  for (const Case& c : cases) {
    std::vector<std::complex<double>> e = eigenvalues(c.scheme);
    // The motion: two oscillations.
    for (std::size_t i = 4; i < 8; ++i) EXPECT_NEAR(std::abs(e[i]), 1, 2e-3) << c.scheme.key;
    EXPECT_NEAR(std::abs(e[4].imag()), 0.065, 2e-3) << c.scheme.key;
    EXPECT_NEAR(std::abs(e[7].imag()), 0.026, 2e-3) << c.scheme.key;
    e.resize(4);
    std::sort(e.begin(), e.end(), [](auto a, auto b) { return std::abs(a) < std::abs(b); });
    for (std::size_t i = 0; i < 2; ++i) EXPECT_LT(std::abs(e[i]), 1e-5) << c.scheme.key;
    for (std::size_t i = 2; i < 4; ++i) EXPECT_LT(std::abs(e[i] - c.value), c.near) << c.scheme.key << " " << e[i];
  }
}

}  // namespace
}  // namespace trammel::step_map_test
