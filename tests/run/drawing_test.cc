// What a result says of itself for viewers: every column of the recorder is described, in its order, for every model.
#include "trammel/run/drawing.h"
#include "trammel/elements/build.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

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
      if (axes.empty()) columns.push_back({entry["name"], ""});
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
