// What a result says of itself for viewers: every column of the recorder is described, in its order, for every model.
#include "trammel/run/drawing.h"
#include "trammel/elements/build.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <numbers>

#include "trammel/flexible/section_stress.h"
#include "trammel/model/modal_data.h"
#include "trammel/read/read_model.h"
#include "trammel/run/load_model.h"
#include "trammel/run/recorder.h"

namespace trammel::drawing_test {

using Json = nlohmann::json;

Json joined(const std::vector<std::pair<std::string, std::string>>& entries, const std::string& key) {
  Json all = Json::array();
  for (const auto& [name, text] : entries) {
    if (!name.starts_with(key + ".")) continue;
    for (const Json& entry : Json::parse(text)) all.push_back(entry);
  }
  return all;
}

struct Column {
  std::string element, axis;
};

std::vector<Column> columns_of(const Json& signals) {
  std::vector<Column> columns;
  for (const Json& entry : signals) {
    for (const Json& has : entry["has"]) {
      const std::string axes = has[1];
      const bool is_number = !axes.empty() && axes.find_first_not_of("0123456789") == std::string::npos;
      if (axes.empty() || is_number) columns.push_back({entry["name"], axes});
      if (is_number) continue;  // one of many
      for (const char axis : axes) columns.push_back({entry["name"], std::string(1, axis)});
    }
  }
  return columns;
}

TEST(Drawing, EveryColumnIsDescribedInItsPlace) {
  for (const auto& file : std::filesystem::directory_iterator(std::string(TRAMMEL_SOURCE_DIR) + "/models")) {
    if (file.path().extension() != ".yaml") continue;
    SCOPED_TRACE(file.path().filename());
    const Equations equations(load_model(file.path()));
    const Recorder recorder(equations, {}, false);
    const std::vector<Signal>& signals = recorder.tables()[0].signals;
    const std::vector<Column> columns = columns_of(joined(drawing_as_json(equations), "signals"));
    ASSERT_EQ(columns.size(), signals.size());
    for (std::size_t i = 0; i < columns.size(); ++i) {
      EXPECT_NE(signals[i].name.find(columns[i].element), std::string::npos) << signals[i].name;
      if (!columns[i].axis.empty()) {
        EXPECT_TRUE(signals[i].name.ends_with("." + columns[i].axis)) << signals[i].name;
      }
    }
  }
}

// The strip of models/flexible_pendulum.yaml: eleven points a tenth of a metre apart, ten pieces between them, sixteen
// modes. A unit of a mode moves the points of its interface nodes as it moves the nodes.
TEST(Drawing, ABodyThatBendsSaysWhereItsPointsAre) {
  const Equations equations(load_model(std::string(TRAMMEL_SOURCE_DIR) + "/models/flexible_pendulum.yaml"));
  const auto entries = drawing_as_json(equations);
  EXPECT_EQ(joined(entries, "bodies")[0]["modes"], 16);
  std::map<std::string, std::vector<double>> numbers;
  std::vector<std::vector<double>> modes;
  for (const Json& piece : joined(entries, "flexible")) {
    EXPECT_EQ(piece["body"], "strip");
    std::vector<double>& to = piece["of"] == "mode" ? modes.emplace_back() : numbers[piece["of"]];
    for (const Json& value : piece["values"]) to.push_back(piece["step"].get<double>() * value.get<double>());
  }
  const std::vector<double>& points = numbers["points"];
  ASSERT_EQ(points.size(), 33u);
  for (std::size_t i = 1; i < points.size(); i += 3) EXPECT_EQ(points[i], 0) << "on the x axis";
  std::vector<double> x;
  for (std::size_t i = 0; i < points.size(); i += 3) x.push_back(points[i]);
  std::sort(x.begin(), x.end());
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], 0.1 * static_cast<double>(i), 2e-5);
  ASSERT_EQ(numbers["segments"].size(), 20u);
  for (std::size_t i = 0; i < 20; i += 2) {
    const auto a = static_cast<std::size_t>(numbers["segments"][i]),
               b = static_cast<std::size_t>(numbers["segments"][i + 1]);
    EXPECT_NEAR(std::abs(points[3 * a] - points[3 * b]), 0.1, 4e-5);
  }
  ASSERT_EQ(numbers["radii"].size(), 10u);
  EXPECT_NEAR(numbers["radii"][0], std::sqrt(0.02 * 0.003 / std::numbers::pi), 1e-7);
  ASSERT_EQ(modes.size(), 16u);
  const Body& body = equations.model().bodies[0];
  for (const ModalNode& node : body.modal->nodes) {
    std::size_t at = 0;
    while (std::abs(points[3 * at] - body.center_of_mass.x() - node.position.x()) > 1e-3) at += 1;
    for (Eigen::Index j = 0; j < 16; ++j) {
      const double greatest = body.modal->displacement[j];
      for (Eigen::Index i = 0; i < 3; ++i)
        EXPECT_NEAR(modes[static_cast<std::size_t>(j)][3 * at + static_cast<std::size_t>(i)], node.translation(i, j),
                    2e-5 * greatest);
    }
  }
}

// The stresses of each mode, put together as a page does it, give von Mises' stress of the section.
TEST(Drawing, ABodyWhoseStressIsWatchedSaysWhatTheModesMakeOfIt) {
  const Equations equations(load_model(std::string(TRAMMEL_SOURCE_DIR) + "/models/flexible_pendulum.yaml"));
  const ModalData& data = *equations.model().bodies[0].modal;
  std::vector<double> round;
  std::vector<std::vector<double>> stresses;
  for (const Json& piece : joined(drawing_as_json(equations), "flexible")) {
    if (piece["of"] != "round" && piece["of"] != "stress") continue;
    std::vector<double>& to = piece["of"] == "stress" ? stresses.emplace_back() : round;
    for (const Json& value : piece["values"]) to.push_back(piece["step"].get<double>() * value.get<double>());
  }
  ASSERT_EQ(data.stress_points.size(), 20u);
  EXPECT_EQ(round, std::vector<double>(10, 0.0));
  ASSERT_EQ(stresses.size(), 16u);
  for (Eigen::Index j = 0; j < 16; ++j) {
    const std::vector<double>& of_mode = stresses[static_cast<std::size_t>(j)];
    ASSERT_EQ(of_mode.size(), 100u);
    double largest = 0;
    for (const double s : of_mode) largest = std::max(largest, std::abs(s));
    for (std::size_t i = 0; i < 20; ++i) {
      const Vec6 r = data.stress_resultants.col(j).segment<6>(6 * static_cast<Eigen::Index>(i));
      const double *s = of_mode.data() + 5 * i, n = std::abs(s[0]), y = std::abs(s[3]), z = std::abs(s[4]);
      const auto all = [](double sigma, double tau) { return std::hypot(sigma, std::sqrt(3) * tau); };
      EXPECT_NEAR(std::max({n + y + z, all(n + y, s[1]), all(n + z, s[2])}),
                  von_mises(data.stress_points[i].section, r), 2e-4 * largest);
    }
  }
}

// What a page needs to draw a contact: its shapes, and the place of its force as one vector.
TEST(Drawing, AContactSaysWhatItsShapesAreAndWhereItActs) {
  const Equations equations(read_model_text(R"yaml(trammel: 1
bodies: {box: {mass: 1, inertia: [1, 1, 1], position: [0, 0, 2]}}
forces:
  floor: {type: contact, frames: [ground, box], shape_a: plane, shape_b: box, size_b: [0.4, 0.3, 0.2], rounding_b: 0.01}
simulation: {end: 1, step: 0.1}
)yaml",
                                            "test.yaml"));
  const auto entries = drawing_as_json(equations);
  const Json floor = joined(entries, "elements")[0];
  EXPECT_EQ(floor["words"]["shape_a"], "plane");
  EXPECT_EQ(floor["words"]["shape_b"], "box");
  EXPECT_EQ(floor["numbers"]["size_b"], Json({0.4, 0.3, 0.2}));
  bool found = false;
  for (const Json& entry : joined(entries, "signals"))
    for (const Json& has : entry["has"])
      if (entry["name"] == "floor" && has[0] == "place") found = has[1] == "xyz";
  EXPECT_TRUE(found);
}

TEST(Drawing, PiecesFitIntoAnAttribute) {
  const Equations equations(load_model(std::string(TRAMMEL_SOURCE_DIR) + "/models/hmmwv_bump.yaml"));
  const auto whole = drawing_as_json(equations, 1 << 24), cut = drawing_as_json(equations, 2000);
  for (const auto& [key, text] : cut) EXPECT_LT(text.size(), 4000u) << key;
  for (const char* key : {"bodies", "elements", "signals"}) EXPECT_EQ(joined(whole, key), joined(cut, key)) << key;
  EXPECT_EQ(joined(whole, "bodies").size(), equations.model().bodies.size());
}

TEST(Drawing, FramesAreInTheAxesOfTheirBodies) {
  Model model;
  Body body;
  body.name = "bar";
  body.mass = 1;
  body.inertia = Mat3::Identity();
  body.pose.position = Vec3(1, 2, 3);
  const int bar = model.add_body(body);
  add_joint(model, "revolute", "pin", ground, bar, Vec3(1, 2, 4), Vec3::UnitX());
  model.gravity = Vec3(0, -9.81, 0);
  const auto entries = drawing_as_json(Equations(model));
  EXPECT_EQ(entries[0].first, "gravity");
  EXPECT_EQ(Json::parse(entries[0].second), Json({0.0, -9.81, 0.0}));
  const Json pin = joined(entries, "elements")[0];
  EXPECT_EQ(pin["name"], "pin");
  EXPECT_EQ(pin["of"], "joint");
  EXPECT_EQ(pin["type"], "revolute");
  EXPECT_EQ(pin["frames"][0]["body"], "ground");
  EXPECT_EQ(pin["frames"][0]["position"], Json({1.0, 2.0, 4.0}));
  EXPECT_EQ(pin["frames"][1]["body"], "bar");
  EXPECT_EQ(pin["frames"][1]["position"], Json({0.0, 0.0, 1.0}));
}

}  // namespace trammel::drawing_test
