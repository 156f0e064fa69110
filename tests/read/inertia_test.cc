// Mass and inertia from shapes, parts, meshes, points and axes: closed forms against surface integrals of fine meshes,
// against each other, and against sums over points.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numbers>
#include <random>

#include "trammel/check/check_model.h"
#include "trammel/read/mesh.h"
#include "trammel/read/read_model.h"
#include "trammel/run/shapes.h"

namespace trammel::inertia_test {
namespace {

Body body_of(const std::string& text, const ReadOptions& options = {}) {
  return read_model_text("trammel: 1\nbodies:\n  b: " + text + "\n", "t.yaml", options).bodies[0];
}

// A surface of revolution about z through the points (r, z), from bottom to top, as OBJ.
std::string revolved(const std::vector<std::pair<double, double>>& outline, int n) {
  std::string obj;
  const auto number = [](double x) {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g ", x);
    return std::string(text);
  };
  for (const auto& [r, z] : outline) {
    for (int k = 0; k < n; ++k) {
      const double phi = 2 * std::numbers::pi * k / n;
      obj += "v " + number(r * std::cos(phi)) + number(r * std::sin(phi)) + number(z) + "\n";
    }
  }
  for (int i = 0; i + 1 < static_cast<int>(outline.size()); ++i) {
    for (int k = 0; k < n; ++k) {
      const int a = i * n + k + 1, b = i * n + (k + 1) % n + 1;
      obj += "f " + std::to_string(a) + " " + std::to_string(b) + " " + std::to_string(b + n) + " " +
             std::to_string(a + n) + "\n";
    }
  }
  return obj;
}

MassProperties of_mesh(const std::string& obj) { return solid(read_mesh(obj, "shape.obj"), 1); }

void expect_near(const MassProperties& a, const MassProperties& b, double relative) {
  EXPECT_NEAR(a.mass, b.mass, relative * b.mass);
  EXPECT_LT((a.center - b.center).norm(), relative);
  EXPECT_LT((a.inertia - b.inertia).norm(), relative * b.inertia.norm());
}

// n-gons instead of circles are wrong by O(1/n^2): two of them extrapolate to O(1/n^4).
TEST(Inertia, ClosedFormsEqualMeshes) {
  const double r = 0.3, l = 0.8;
  std::vector<std::pair<double, double>> ball, capsule;
  const int arc = 120;
  for (int i = 0; i <= arc; ++i) {
    const double angle = std::numbers::pi * (static_cast<double>(i) / arc - 0.5);
    ball.emplace_back(i == 0 || i == arc ? 0 : r * std::cos(angle), r * std::sin(angle));
    if (i == arc / 2) capsule.emplace_back(r, -l / 2);
    capsule.emplace_back(ball.back().first, ball.back().second + (i < arc / 2 ? -l / 2 : l / 2));
  }
  const std::vector<std::tuple<std::string, std::vector<double>, std::vector<std::pair<double, double>>>> forms = {
      {"cylinder", {r, l}, {{0, -l / 2}, {r, -l / 2}, {r, l / 2}, {0, l / 2}}},
      {"cone", {r, l}, {{0, -l / 2}, {r, -l / 2}, {0, l / 2}}},
      {"tube", {r, 0.1, l}, {{0.1, -l / 2}, {r, -l / 2}, {r, l / 2}, {0.1, l / 2}, {0.1, -l / 2}}},
      {"sphere", {r}, ball},
      {"capsule", {r, l}, capsule},
  };
  for (const auto& [type, size, outline] : forms) {
    SCOPED_TRACE(type);
    expect_near(of_mesh(revolved(outline, 240)), solid(type, size), 1e-3);
  }
  // Without curves the mesh is exact.
  const std::string box =
      "v 0 0 0\nv 2 0 0\nv 2 3 0\nv 0 3 0\nv 0 0 4\nv 2 0 4\nv 2 3 4\nv 0 3 4\n"
      "f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";
  MassProperties moved_box = solid("box", {2, 3, 4});
  moved_box.center = Vec3(1, 1.5, 2);
  expect_near(of_mesh(box), moved_box, 1e-14);
}

TEST(Inertia, ATubeIsACylinderWithAHole) {
  const Body tube = body_of("{shape: {type: tube, size: [0.5, 0.2, 3], density: 100}}");
  const Body parts = body_of(
      "{parts: [{type: cylinder, size: [0.5, 3], density: 100}, {type: cylinder, size: [0.2, 3], density: -100}]}");
  EXPECT_NEAR(parts.mass, tube.mass, 1e-12 * tube.mass);
  EXPECT_TRUE(parts.inertia.isApprox(tube.inertia, 1e-12));
}

TEST(Inertia, OfManyPointsAboutAnyPointInAnyAxes) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> in(-1, 1);
  std::string parts;
  std::vector<std::pair<double, Vec3>> points;
  for (int i = 0; i < 12; ++i) {
    const double m = 1.5 + in(random);
    const Vec3 p(in(random), in(random), in(random));
    points.emplace_back(m, p);
    char text[200];
    std::snprintf(text, sizeof text, "%s{mass: %.17g, position: [%.17g, %.17g, %.17g]}", i == 0 ? "" : ", ", m, p.x(),
                  p.y(), p.z());
    parts += text;
  }
  const Body body = body_of("{parts: [" + parts + "]}");
  double mass = 0;
  Vec3 center = Vec3::Zero();
  for (const auto& [m, p] : points) {
    mass += m;
    center += m * p;
  }
  center /= mass;
  const Vec3 about(0.3, -2, 1);
  const Quat turn(Eigen::AngleAxisd(0.7, Vec3(1, 2, 2) / 3));
  Mat3 central = Mat3::Zero(), elsewhere = Mat3::Zero();
  for (const auto& [m, p] : points) {
    const Vec3 c = p - center, d = turn.conjugate() * (p - about);
    central += m * (c.squaredNorm() * Mat3::Identity() - c * c.transpose());
    elsewhere += m * (d.squaredNorm() * Mat3::Identity() - d * d.transpose());
  }
  EXPECT_NEAR(body.mass, mass, 1e-12);
  EXPECT_LT((body.center_of_mass - center).norm(), 1e-13);
  EXPECT_TRUE(body.inertia.isApprox(central, 1e-12));
  // The same matrix given about a point and in axes of its own.
  char text[800];
  std::snprintf(text, sizeof text,
                "{mass: %.17g, center_of_mass: [%.17g, %.17g, %.17g], inertia: {tensor: [%.17g, %.17g, %.17g, %.17g, "
                "%.17g, %.17g], about: [0.3, -2, 1], axes: {axis: [1, 2, 2], angle: 0.7}}}",
                mass, center.x(), center.y(), center.z(), elsewhere(0, 0), elsewhere(1, 1), elsewhere(2, 2),
                elsewhere(0, 1), elsewhere(0, 2), elsewhere(1, 2));
  EXPECT_TRUE(body_of(text).inertia.isApprox(central, 1e-12));
}

TEST(Inertia, PrincipalValuesAndRadiiOfGyration) {
  const Body principal =
      body_of("{mass: 2, inertia: {principal: [1, 2, 2.5], axes: {axis: [0, 0, 1], angle: 90 deg}}}");
  EXPECT_TRUE(principal.inertia.isApprox(Mat3(Vec3(2, 1, 2.5).asDiagonal()), 1e-14));
  const Body gyration = body_of("{mass: 2, inertia: {gyration: [10 cm, 0.2, 0.2]}}");
  EXPECT_TRUE(gyration.inertia.isApprox(Mat3(Vec3(0.02, 0.08, 0.08).asDiagonal()), 1e-14));
}

TEST(Inertia, MassOfTheBodyIsSpread) {
  const Body even = body_of("{mass: 3, shape: {type: box, size: [1, 2, 3]}}");
  EXPECT_NEAR(even.inertia(0, 0), 3.0 / 12 * 13, 1e-14);
  const Body rest = body_of("{mass: 3, parts: [{mass: 1, position: [3, 0, 0]}, {type: sphere, size: [1]}]}");
  EXPECT_NEAR(rest.mass, 3, 1e-15);
  EXPECT_LT((rest.center_of_mass - Vec3(1, 0, 0)).norm(), 1e-15);
  const Body planar = body_of("{kind: planar, density: 10, shape: {type: box, size: [1, 2, 3], position: [1, 0]}}");
  EXPECT_NEAR(planar.mass, 60, 1e-12);
  EXPECT_NEAR(planar.inertia(2, 2), 25, 1e-12);
  EXPECT_EQ(planar.inertia(0, 0), 0);
}

// The weight of a shape may be given as its mass.
TEST(Inertia, MassOfAShape) {
  const auto body = [](const std::string& text) {
    return read_model_text("trammel: 1\nbodies: {b: " + text + "}\n", "test.yaml").bodies[0];
  };
  const Body mass = body("{shape: {type: box, size: [1, 2, 3], mass: 12, position: [1, 0, 0]}}"),
             density = body("{shape: {type: box, size: [1, 2, 3], density: 2, position: [1, 0, 0]}}");
  EXPECT_EQ(mass.mass, 12);
  EXPECT_NEAR((mass.inertia - density.inertia).norm(), 0, 1e-13);
  EXPECT_EQ(mass.center_of_mass, density.center_of_mass);
  EXPECT_THROW(body("{mass: 3, shape: {type: box, size: [1, 2, 3], mass: 12}}"), Failure);
  EXPECT_THROW(body("{shape: {type: box, size: [1, 2, 3], mass: 12, density: 2}}"), Failure);
  EXPECT_THROW(body("{mass: 3, inertia: [1, 1, 1], shape: {type: box, size: [1, 2, 3], mass: 12}}"), Failure);
}

TEST(Inertia, ShapesAreDrawnHolesAreNot) {
  const Model model = read_model_text(
      "trammel: 1\nbodies:\n  b:\n    parts:\n      - {type: box, size: [1, 1, 1], density: 10, color: red}\n"
      "      - {type: sphere, size: [0.1], density: -10}\n  c: {mass: 1, inertia: [1, 1, 1], shape: {type: sphere, "
      "size: [2]}}\n",
      "t.yaml");
  ASSERT_EQ(model.shapes.size(), 2u);
  EXPECT_EQ(model.shapes[0].type, "box");
  EXPECT_EQ(model.shapes[0].color, "red");
  EXPECT_EQ(model.shapes[1].body, 1);
  EXPECT_EQ(model.bodies[1].mass, 1);
  EXPECT_TRUE(check_model(model).empty());
  const std::vector<std::string> pieces = shapes_as_json(model);
  ASSERT_EQ(pieces.size(), 1u);
  const auto json = nlohmann::json::parse(pieces[0]);
  EXPECT_EQ(json[0]["type"], "box");
  EXPECT_EQ(json[1]["body"], "c");
  EXPECT_EQ(json[1]["size"][0], 2.0);
  EXPECT_EQ(shapes_as_json(model, 10).size(), 2u);
}

std::string binary_stl(const Mesh& mesh) {
  std::string bytes(80, 's');
  const auto put = [&bytes](const auto& value) {
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    bytes.append(raw, sizeof value);
  };
  put(static_cast<std::uint32_t>(mesh.triangles.size()));
  for (const auto& t : mesh.triangles) {
    for (int i = 0; i < 3; ++i) put(0.0F);
    for (const int k : t) {
      for (int i = 0; i < 3; ++i) put(static_cast<float>(mesh.points[static_cast<std::size_t>(k)][i]));
    }
    put(std::uint16_t{0});
  }
  return bytes;
}

TEST(Inertia, MeshFilesOfAllKinds) {
  const std::string obj = "v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 1 3 2\nf 1/1 2/2 4/1\nf -4 -1 -2\nf 2 3 4\n";
  const Mesh mesh = read_mesh(obj, "a.obj");
  std::string text = "solid a\n";
  for (const auto& t : mesh.triangles) {
    text += "facet normal 0 0 0\n outer loop\n";
    for (const int k : t) {
      const Vec3& p = mesh.points[static_cast<std::size_t>(k)];
      text += "  vertex " + std::to_string(p.x()) + " " + std::to_string(p.y()) + " " + std::to_string(p.z()) + "\n";
    }
    text += " endloop\nendfacet\n";
  }
  text += "endsolid a\n";
  const MassProperties exact = solid(mesh, 1);
  EXPECT_NEAR(exact.mass, 1, 1e-15);
  EXPECT_LT((exact.center - Vec3(0.25, 0.5, 0.75)).norm(), 1e-15);
  EXPECT_NEAR(exact.inertia(0, 0), 3.0 / 80 * (4 + 9), 1e-15);  // of a right-angled tetrahedron: 3 V (b^2 + c^2)/80
  expect_near(solid(read_mesh(text, "a.STL"), 1), exact, 1e-14);
  expect_near(solid(read_mesh(binary_stl(mesh), "a.stl"), 1), exact, 1e-14);

  ReadOptions options;
  options.open = [&](const std::string& path) {
    EXPECT_EQ(path, "dir/a.obj");
    return obj;
  };
  const Model model = read_model_text(
      "trammel: 1\nunits: {length: mm}\nbodies: {b: {shape: {type: mesh, file: a.obj, scale: 10, density: 8000 "
      "kg/m^3}}}\n",
      "dir/model.yaml", options);
  EXPECT_NEAR(model.bodies[0].mass, 8000e-6, 1e-15);
  EXPECT_LT((model.bodies[0].center_of_mass - Vec3(0.0025, 0.005, 0.0075)).norm(), 1e-16);
  EXPECT_NEAR(model.bodies[0].inertia(0, 0), 8000e-10 * exact.inertia(0, 0), 1e-20);
  EXPECT_EQ(model.shapes[0].file, "dir/a.obj");
}

TEST(Inertia, MeshesThatAreNone) {
  const auto id_of = [](const std::string& bytes, const std::string& name) {
    try {
      read_mesh(bytes, name);
    } catch (const Failure& failure) {
      return failure.problems().front().id;
    }
    return std::string("read");
  };
  const std::string points = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n";
  EXPECT_EQ(id_of(points + "f 1 3 2\nf 1 2 4\nf 1 4 3\n", "a.obj"), "open-mesh");
  EXPECT_EQ(id_of(points + "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 4 3\n", "a.obj"), "open-mesh");
  EXPECT_EQ(id_of(points + "f 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n", "a.obj"), "inverted-mesh");
  EXPECT_EQ(id_of(points + "f 1 2 9\n", "a.obj"), "bad-mesh");
  EXPECT_EQ(id_of("v 0 0 nan\n", "a.obj"), "bad-mesh");
  EXPECT_EQ(id_of("", "a.obj"), "bad-mesh");
  EXPECT_EQ(id_of("", "a.stl"), "bad-mesh");
  EXPECT_EQ(id_of("solid\nfacet\nouter loop\nvertex 0 0 0\n", "a.stl"), "bad-mesh");
  EXPECT_EQ(id_of("x", "a.step"), "bad-mesh");
}

}  // namespace
}  // namespace trammel::inertia_test
