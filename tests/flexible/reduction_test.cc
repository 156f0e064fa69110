// Frames of beams: sections, finite elements, and their reduction, against closed forms, dense algebra and the frame of
// an all-terrain vehicle, whose frequencies an independent program of another language found.
#include "trammel/flexible/reduction.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <numbers>

#include "trammel/flexible/lowest_modes.h"
#include "trammel/math/rotation.h"
#include "trammel/read/read_model.h"

namespace trammel::reduction_test {
namespace {

constexpr double pi = std::numbers::pi;
const BeamMaterial steel{210e9, 210e9 / 2.6, 7850};

// A strip of 1 m along x, 20 mm wide and 10 mm high.
BeamFrame strip(int elements) {
  BeamFrame f;
  f.nodes = {{"root", Vec3::Zero()}, {"tip", Vec3::UnitX()}};
  f.sections = {rectangle_section(0.02, 0.01)};
  f.materials = {steel};
  f.beams = {{0, 1, 0, 0, Vec3::Zero()}};
  f.element_length = 1.0 / elements;
  return f;
}

// Three beams in space with a lumped body, no two directions alike.
BeamFrame bent_frame() {
  BeamFrame f;
  f.nodes = {{"a", Vec3(0, 0, 0)}, {"b", Vec3(0.5, 0.1, 0)}, {"c", Vec3(0.6, 0.5, 0.2)}, {"d", Vec3(0.3, 0.2, 0.7)}};
  f.sections = {tube_section(0.03, 0.003), rectangle_section(0.02, 0.01)};
  f.materials = {steel};
  f.beams = {{0, 1, 0, 0, Vec3::Zero()}, {1, 2, 1, 0, Vec3(0, 1, 1)}, {1, 3, 0, 0, Vec3::Zero()}};
  f.lumps = {{2, 0.7, Vec3(1e-3, 2e-3, 2.5e-3).asDiagonal()}};
  f.element_length = 0.2;
  return f;
}

TEST(BeamSections, OfRoundAndRectangularBars) {
  const BeamSection tube = tube_section(0.0254, 0.0032);
  const BeamMaterial of_frame{205e9, 205e9 / 2.58, 7850};
  EXPECT_NEAR(tube.area, pi / 4 * (0.0254 * 0.0254 - 0.019 * 0.019), 1e-12);
  EXPECT_NEAR(tube.Iy, pi / 64 * (std::pow(0.0254, 4) - std::pow(0.019, 4)), 1e-16);
  EXPECT_NEAR(tube.shear_coefficient_y(of_frame), 1.827106, 1e-6);  // Cowper's formula by another program
  const BeamSection full = tube_section(0.02, 0.01);
  EXPECT_NEAR(full.area, pi * 1e-4, 1e-15);
  EXPECT_NEAR(full.shear_coefficient_z(of_frame), (7 + 6 * 0.29) / (6 * 1.29), 1e-12);
  const BeamSection flat = rectangle_section(0.02, 0.01);
  // Saint-Venant's series, 30 digits: 20 terms of it are 2e-8 too large.
  EXPECT_NEAR(flat.torsion, 4.573633542391416e-09, 1e-14 * 4.57e-9);
  EXPECT_NEAR(rectangle_section(1, 1).torsion, 0.14057701495515365, 1e-15);
  EXPECT_EQ(rectangle_section(0.01, 0.02).torsion, flat.torsion);
  EXPECT_NEAR(rectangle_section(1, 1e-4).torsion, 1e-12 / 3 * (1 - 0.63e-4), 1e-18);
}

// Along y, where the direction that replaced `up` was y again: axes of zeros, and a beam without stiffness.
TEST(BeamSections, StandAcrossTheirBeam) {
  BeamFrame f = strip(1);
  for (const Vec3& along : {Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1), Vec3(1, -2, 3)}) {
    f.nodes[1].position = along;
    for (const Vec3& up : {Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, -2), Vec3(2, -4, 6)}) {
      f.beams[0].up = up;
      const bool parallel = !up.isZero() && along.cross(up).norm() < 1e-9;
      EXPECT_EQ(f.up_is_along(f.beams[0]), parallel) << along.transpose() << ", " << up.transpose();
      if (parallel) {
        EXPECT_THROW(f.axes(f.beams[0]), std::invalid_argument);
        continue;
      }
      const Mat3 axes = f.axes(f.beams[0]);
      EXPECT_TRUE((axes.transpose() * axes).isIdentity(1e-14)) << along.transpose() << ", " << up.transpose();
      EXPECT_LT((axes.col(0) - along.normalized()).norm(), 1e-15);
      EXPECT_GE(axes.col(2).dot(up), 0);
    }
  }
}

TEST(FiniteElements, RigidMotionsHaveNoStiffnessAndTheRightInertia) {
  const FiniteElements e = mesh(bent_frame());
  const Vec3 center(0.1, -0.2, 0.3);
  const Mat Z = e.rigid_motions(center);
  EXPECT_LT((e.stiffness * Z).cwiseAbs().maxCoeff(), 1e-12 * Mat(e.stiffness).cwiseAbs().maxCoeff());
  const ModalData sums = modal_data(e, center, Mat(e.freedoms(), 0));
  const Mat M = Z.transpose() * (e.mass * Z);
  EXPECT_NEAR(M(0, 0), sums.mass, 1e-12);
  EXPECT_LT((M.bottomRightCorner<3, 3>() - sums.inertia).norm(), 1e-12);
  EXPECT_LT((M.topRightCorner<3, 3>() + skew(sums.first_moment)).norm(), 1e-12);
}

// A mass matrix of mass points is the consistent one, and the sums of modes are those of it.
TEST(FiniteElements, SumsOverModesAreThoseOfTheMassMatrix) {
  const FiniteElements e = mesh(bent_frame());
  const Mat shapes = Mat::Random(e.freedoms(), 5), Z = e.rigid_motions(Vec3::Zero());
  const ModalData sums = modal_data(e, Vec3::Zero(), shapes);
  const Mat M = shapes.transpose() * (e.mass * shapes), P = Z.transpose() * (e.mass * shapes);
  EXPECT_LT((sums.modal_mass - M).norm(), 1e-12 * M.norm());
  EXPECT_LT((sums.S0 - P.topRows<3>()).norm(), 1e-12 * P.norm());
  EXPECT_LT((sums.S1 - P.bottomRows<3>()).norm(), 1e-12 * P.norm());
}

TEST(LowestModes, SubspaceIterationFindsWhatADenseSolverFinds) {
  BeamFrame f;  // a square tube frame: pairs of equal frequencies
  f.nodes = {{"root", Vec3::Zero()}, {"tip", Vec3(0, 0, 2)}};
  f.sections = {tube_section(0.05, 0.002)};
  f.materials = {steel};
  f.beams = {{0, 1, 0, 0, Vec3::Zero()}};
  f.element_length = 0.04;
  const FiniteElements e = mesh(f);
  const int n = e.freedoms() - 6;
  ASSERT_GT(n, 200);
  std::vector<Eigen::Triplet<double>> k, m;
  const Mat K = Mat(e.stiffness).bottomRightCorner(n, n), M = Mat(e.mass).bottomRightCorner(n, n);  // root held
  const Eigen::SparseMatrix<double> Ks = K.sparseView(), Ms = M.sparseView();
  const LowestModes found = lowest_modes(Ks, Ms, SparseFactors(Ks), 12);
  const Eigen::GeneralizedSelfAdjointEigenSolver<Mat> exact(K, M);
  // Each round gains a factor of (700 Hz / 3100 Hz)^4, so that about ten are enough; never to settle would take all.
  EXPECT_GT(found.rounds, 3);
  EXPECT_LE(found.rounds, 25);
  for (int j = 0; j < 12; ++j) {
    EXPECT_NEAR(found.values[j] / exact.eigenvalues()[j], 1, 1e-7) << j;
    EXPECT_LT((K * found.vectors.col(j) - found.values[j] * M * found.vectors.col(j)).norm(),
              1e-6 * (K * found.vectors.col(j)).norm())
        << j;
  }
}

// Spokes of nearly equal lengths have as many frequencies close together as there are spokes: more than the vectors of
// the first tries, with which the iteration hardly moves.
TEST(LowestModes, OfManyNearlyEqualFrequenciesAreTheLowest) {
  constexpr int spokes = 16;
  const auto length = [](int i) { return 1 + 0.01 * i / spokes; };
  BeamFrame f;
  f.nodes = {{"hub", Vec3::Zero()}};
  f.sections = {tube_section(0.02, 0.002)};
  f.materials = {steel};
  f.element_length = 0.26;
  BeamFrame one = f;
  one.nodes.push_back({"end", Vec3::Zero()});
  one.beams = {{0, 1, 0, 0, Vec3::Zero()}};
  for (int i = 0; i < spokes; ++i) {
    const double angle = 2 * pi * i / spokes;
    f.nodes.push_back({"end", length(i) * Vec3(std::cos(angle), std::sin(angle), 0)});
    f.beams.push_back({0, i + 1, 0, 0, Vec3::Zero()});
  }
  const auto held = [](const Eigen::SparseMatrix<double>& of) {  // at the hub
    return Mat(Mat(of).bottomRightCorner(of.rows() - 6, of.cols() - 6));
  };
  const FiniteElements e = mesh(f);
  const Eigen::SparseMatrix<double> K = held(e.stiffness).sparseView(), M = held(e.mass).sparseView();
  const LowestModes found = lowest_modes(K, M, SparseFactors(K), 4);
  EXPECT_GT(found.rounds, 0);
  for (int j = 0; j < 4; ++j) {
    one.nodes[1].position = length(spokes - 1 - j / 2) * Vec3::UnitX();  // the longest, in two directions
    const FiniteElements spoke = mesh(one);
    const Eigen::GeneralizedSelfAdjointEigenSolver<Mat> exact(held(spoke.stiffness), held(spoke.mass));
    EXPECT_NEAR(found.values[j] / exact.eigenvalues()[0], 1, 1e-8) << j;
  }
}

TEST(Reduction, ModesAreOrthogonalAndFreeOfRigidMotion) {
  const BeamFrame f = bent_frame();
  const FiniteElements e = mesh(f);
  const Reduction r = reduce(f, e, {{0, 3}, 7, {}, {0.02, 0.05}});
  const ModalData& b = r.data;
  ASSERT_EQ(b.modes(), 2 * 6 + 7 - 6);
  EXPECT_TRUE(b.S0.isZero(0) && b.S1.isZero(0) && b.modal_mass.isIdentity(0));
  for (int j = 0; j < b.modes(); ++j) {
    const double w = 2 * pi * r.frequencies[j];
    EXPECT_NEAR(b.stiffness(j, j), w * w, 1e-9 * w * w);
    EXPECT_NEAR(b.damping(j, j), 2 * (j == 0 ? 0.02 : 0.05) * w, 1e-9 * w);
  }
  // Statics of the interface nodes are exact: the work of a pair of opposite forces over their own deflection.
  const Vec3 along = (f.nodes[3].position - f.nodes[0].position).normalized();
  const Vec modal = b.nodes[1].translation.transpose() * along - b.nodes[0].translation.transpose() * along;
  const double reduced = modal.dot(b.stiffness.diagonal().cwiseInverse().asDiagonal() * modal);
  Vec load = Vec::Zero(e.freedoms());
  load.segment<3>(18) = along;
  load.head<3>() = -along;
  const int n = e.freedoms() - 6;
  const Vec u = Mat(e.stiffness).bottomRightCorner(n, n).ldlt().solve(load.tail(n));  // the first node held
  EXPECT_NEAR(reduced, load.tail(n).dot(u), 1e-9 * reduced);
}

// Forces and moments at three interface nodes, one of them between the others, without normal modes.
TEST(Reduction, StaticsOfForcesAndMomentsAreExact) {
  const BeamFrame f = bent_frame();
  const FiniteElements e = mesh(f);
  const std::vector<int> at{0, 1, 3};
  const Reduction r = reduce(f, e, {at, 0, {}, {}});
  Mat wrench(6, 3);  // force and moment at each, in balance
  wrench.col(1) << 3, -2, 5, 0.4, -0.7, 0.2;
  wrench.col(2) << -1, 4, 2, -0.3, 0.5, 0.9;
  Vec6 sum = Vec6::Zero();
  for (const int i : {1, 2}) {
    const Vec3 force = wrench.col(i).head<3>(), moment = wrench.col(i).tail<3>();
    sum.head<3>() += force;
    sum.tail<3>() += moment + (f.nodes[at[i]].position - f.nodes[0].position).cross(force);
  }
  wrench.col(0) = -sum;
  Vec load = Vec::Zero(e.freedoms()), modal = Vec::Zero(r.data.modes());
  for (int i = 0; i < 3; ++i) {
    load.segment<6>(6 * at[i]) = wrench.col(i);
    modal += r.data.nodes[i].translation.transpose() * wrench.col(i).head<3>() +
             r.data.nodes[i].rotation.transpose() * wrench.col(i).tail<3>();
  }
  const int n = e.freedoms() - 6;
  const Vec u = Mat(e.stiffness).bottomRightCorner(n, n).ldlt().solve(load.tail(n));  // the first node held
  const Vec q = modal.cwiseQuotient(r.data.stiffness.diagonal());
  const Vec3 shift = r.data.nodes[0].translation * q, turn = r.data.nodes[0].rotation * q;
  for (const int i : {1, 2}) {
    const Vec3 arm = f.nodes[at[i]].position - f.nodes[0].position,
               moved = r.data.nodes[i].translation * q - shift - turn.cross(arm),
               turned = r.data.nodes[i].rotation * q - turn;
    EXPECT_LT((moved - u.segment<3>(6 * at[i] - 6)).norm(), 1e-9 * u.segment<3>(6 * at[i] - 6).norm()) << i;
    EXPECT_LT((turned - u.segment<3>(6 * at[i] - 3)).norm(), 1e-9 * u.segment<3>(6 * at[i] - 3).norm()) << i;
  }
}

TEST(Reduction, BandsAndEqualFrequencies) {
  BeamFrame f = strip(20);
  f.sections = {tube_section(0.02, 0.002)};
  const FiniteElements e = mesh(f);
  const Reduction r = reduce(f, e, {{0}, 3, {{0.01, 100}, {0.1, 1000}, {1, 1e300}}, {}});
  EXPECT_EQ(r.normal_modes, 4);  // the third bending mode comes as a pair
  EXPECT_EQ(r.data.normal_modes_asked, 3);
  ASSERT_EQ(r.data.held_frequencies.size(), 4);
  EXPECT_NEAR(r.data.held_frequencies[3] / r.data.held_frequencies[2], 1, 1e-9);
  EXPECT_GT(r.data.held_frequencies[2], 1.1 * r.data.held_frequencies[1]);
  for (int j = 0; j < r.data.modes(); ++j) {
    const double frequency = r.frequencies[j], ratio = frequency < 100 ? 0.01 : frequency < 1000 ? 0.1 : 1;
    EXPECT_NEAR(r.data.damping(j, j), 4 * pi * frequency * ratio, 1e-9 * frequency);
  }
}

// 6 freedoms of one node are left when two of three are held.
TEST(Reduction, HasNoMoreNormalModesThanFreedoms) {
  const BeamFrame f = strip(2);
  const FiniteElements e = mesh(f);
  EXPECT_EQ(reduce(f, e, {{0, 1}, 6, {}, {}}).normal_modes, 6);
  EXPECT_THROW(reduce(f, e, {{0, 1}, 7, {}, {}}), ReductionError);
}

// Free in space, against Timoshenko's beam with 64 elements in another program and against Euler and Bernoulli.
TEST(Reduction, FrequenciesOfAFreeBeam) {
  const BeamFrame f = strip(64);
  const Reduction r = reduce(f, mesh(f), {{0, 1}, 80, {}, {}});
  const double expected[] = {53.14657058988157, 106.17681732982773, 146.40038452922389, 286.7152031348533,
                             291.8851397140718};
  for (int j = 0; j < 5; ++j) EXPECT_NEAR(r.frequencies[j] / expected[j], 1, 1e-5) << j;
  EXPECT_NEAR(r.frequencies[0] / 53.166012763259694, 1, 5e-4);
}

// models/parts/atv_frame.yaml; 40 mm elements there.
TEST(Reduction, FrameOfAVehicle) {
  const Model model = read_model(std::string(TRAMMEL_SOURCE_DIR) + "/models/parts/atv_frame.yaml");
  const Body& body = model.bodies[0];
  ASSERT_NE(body.modal, nullptr);
  EXPECT_NEAR(body.mass, 34.395464634743675, 1e-9);
  EXPECT_LT((body.center_of_mass - Vec3(0.012705793898215351, -0.004535481687967097, 0.24666635642271442)).norm(),
            1e-12);
  EXPECT_NEAR(body.inertia(1, 1), 10.113978, 1e-6);
  ASSERT_EQ(body.modal->modes(), 134);
  const std::pair<int, double> expected[] = {{1, 56.795616},      {2, 77.220330},     {10, 185.728380},
                                             {20, 346.663918},    {50, 1132.575224},  {100, 3191.496463},
                                             {133, 12288.449142}, {134, 13134.088175}};
  for (const auto& [number, frequency] : expected)
    EXPECT_NEAR(std::sqrt(body.modal->stiffness(number - 1, number - 1)) / (2 * pi), frequency, 1e-6 * frequency);
  // Gamma would be skew but for the rotation of the sections, which makes about 5 % of it symmetric.
  double symmetric = 0, greatest = 0;
  for (const Mat& gyration : body.modal->gyration) {
    symmetric = std::max(symmetric, 0.5 * (gyration + gyration.transpose()).cwiseAbs().maxCoeff());
    greatest = std::max(greatest, gyration.cwiseAbs().maxCoeff());
  }
  EXPECT_GT(symmetric, 0.02 * greatest);
  EXPECT_LT(symmetric, 0.12 * greatest);
}

// Of translations all sums that depend on q follow from N_ab = sum m phi_a^T phi_b,
//   Gamma_x = N_zy - N_yz and so on,   Theta_kl = delta_kl (N_xx + N_yy + N_zz) - N_lk,
// to which the rotations of the sections add J psi point by point.
TEST(Reduction, SumsFollowFromProductsOfTranslations) {
  const BeamFrame f = bent_frame();
  const FiniteElements e = mesh(f);
  const Reduction r = reduce(f, e, {{0, 3}, 5, {}, {}});
  const Eigen::Index m = r.data.modes();
  Mat N[3][3], turn[3], spread[3][3];
  ModeShapes A[3];
  for (int k = 0; k < 3; ++k) {
    A[k] = ModeShapes::Zero(3, m);
    turn[k] = Mat::Zero(m, m);
    for (int l = 0; l < 3; ++l) N[k][l] = spread[k][l] = Mat::Zero(m, m);
  }
  for (const MassPoint& p : e.points) {
    Mat shape = p.shape.leftCols<6>() * r.shapes.middleRows<6>(6 * p.first);
    if (p.second != p.first) shape += p.shape.rightCols<6>() * r.shapes.middleRows<6>(6 * p.second);
    const Mat phi = shape.topRows<3>(), psi = shape.bottomRows<3>();
    for (int k = 0; k < 3; ++k) {
      const Mat3 ek = skew(Vec3::Unit(k));
      A[k] += p.mass * skew(p.position - r.center) * ek * phi + p.inertia * ek * psi;
      turn[k] += psi.transpose() * p.inertia * ek * psi;
      for (int l = 0; l < 3; ++l) {
        N[k][l] += p.mass * phi.row(k).transpose() * phi.row(l);
        spread[k][l] += (ek * psi).transpose() * p.inertia * (skew(Vec3::Unit(l)) * psi);
      }
    }
  }
  const auto same = [](const Mat& found, const Mat& expected) {
    EXPECT_LT((found - expected).norm(), 1e-12 * expected.norm());
  };
  const auto theta = [&](int k, int l) {
    Mat out = spread[k][l] - N[l][k];
    if (k == l) out += N[0][0] + N[1][1] + N[2][2];
    return out;
  };
  for (int k = 0; k < 3; ++k) {
    const int a = (k + 1) % 3, b = (k + 2) % 3;
    same(r.data.gyration[k], N[b][a] - N[a][b] + turn[k]);
    for (int l = k; l < 3; ++l) {
      same(r.data.inertia_curvature[component(k, l)], theta(k, l) + theta(l, k));
      same(r.data.inertia_rate[component(k, l)], A[l].row(k) + A[k].row(l));
    }
  }
}

}  // namespace
}  // namespace trammel::reduction_test
