// The layout of model files: same meaning, all comments, and nothing to do the second time.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "trammel/read/format.h"
#include "trammel/read/read_model.h"

namespace trammel::format_test {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<fs::path> models() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(TRAMMEL_SOURCE_DIR) / "models")) {
    if (entry.path().extension() == ".yaml") found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

// Whatever follows a # in a line, in any order; none of our models has a # in a text.
std::vector<std::string> comments_of(const std::string& text) {
  std::vector<std::string> found;
  for (std::size_t at = text.find('#'); at != std::string::npos;) {
    std::size_t end = std::min(text.find('\n', at), text.size());
    std::string comment = text.substr(at, end - at);
    while (!comment.empty() && comment.back() == ' ') comment.pop_back();
    found.push_back(comment);
    at = text.find('#', end);
  }
  std::sort(found.begin(), found.end());
  return found;
}

// The numbers of a model as one text, to the last bit.
std::string digest(const Model& model) {
  std::string out = model.title;
  const auto put = [&out](double x) {
    char text[40];
    std::snprintf(text, sizeof text, " %a", x);
    out += text;
  };
  const auto put_pose = [&](const Pose& pose) {
    for (int i = 0; i < 3; ++i) put(pose.position[i]);
    for (int i = 0; i < 4; ++i) put(pose.rotation.coeffs()[i]);
  };
  for (int i = 0; i < 3; ++i) put(model.gravity[i]);
  for (const Parameter& p : model.parameters) {
    out += p.name;
    put(p.value);
  }
  for (const Body& b : model.bodies) {
    out += "\n" + b.name;
    put(b.mass);
    put_pose(b.pose);
    for (int i = 0; i < 9; ++i) put(b.inertia.data()[i]);
    for (int i = 0; i < 3; ++i) {
      put(b.center_of_mass[i]);
      put(b.velocity[i]);
      put(b.angular_velocity[i]);
    }
  }
  for (const Frame& f : model.frames) {
    out += "\n" + f.name + std::to_string(f.body);
    put_pose(f.local);
  }
  for (const auto* items : {&model.joints, &model.motions, &model.forces}) {
    for (const Item& item : *items) {
      out += "\n" + item.name + item.type;
      for (const int f : item.frames) out += " " + std::to_string(f);
      for (const auto& [name, value] : item.fields.all()) {
        out += " " + name;
        if (const auto* x = std::get_if<double>(&value)) put(*x);
        if (const auto* e = std::get_if<ExpressionText>(&value)) out += e->text;
        if (const auto* s = std::get_if<std::string>(&value)) out += *s;
      }
    }
  }
  for (const Output& o : model.outputs) out += "\n" + o.name + o.unit + o.expression.text;
  put(model.simulation.end);
  put(model.simulation.tolerance.value_or(-1));
  out += model.simulation.method;
  return out;
}

TEST(Format, ModelsKeepTheirMeaningAndComments) {
  for (const fs::path& path : models()) {
    SCOPED_TRACE(path.string());
    const std::string before = text_of(path);
    const std::string after = format_model_text(before, path.string());
    // what needs something from outside is read as a part of the models that use it
    if (before.find("\nneeds:") == std::string::npos) {
      EXPECT_EQ(digest(read_model_text(before, path.string())), digest(read_model_text(after, path.string())));
    }
    EXPECT_EQ(comments_of(before), comments_of(after));
    EXPECT_EQ(format_model_text(after, path.string()), after) << "not the same the second time";
  }
}

TEST(Format, LaysOut) {
  const std::string before =
      "# a model\n"
      "title:   Test\n"
      "trammel: 1\n"
      "\n"
      "\n"
      "simulation: {end: 1.0,tolerance: 1.0E-06 }   # run\n"
      "# the bodies\n"
      "bodies:\n"
      "      b:      # one\n"
      "            mass:  +01.50   \n"
      "            inertia: [ 1.00,.5,  5. ]\n"
      "            # own comment\n"
      "            position:\n"
      "            - 30.0 mm\n"
      "            - 0\n"
      "            - -0.10\n"
      "      c: {mass: 2,\n"
      "          inertia: [1, 1, 1]}\n"
      "gravity: [0,0,-9.810]\n";
  const std::string after =
      "# a model\n"
      "trammel: 1\n"
      "title: Test\n"
      "gravity: [0, 0, -9.81]\n"
      "\n"
      "# the bodies\n"
      "bodies:\n"
      "  b:      # one\n"
      "    mass: 1.5\n"
      "    inertia: [1, 0.5, 5]\n"
      "    # own comment\n"
      "    position:\n"
      "      - 30 mm\n"
      "      - 0\n"
      "      - -0.1\n"
      "  c: {mass: 2,\n"
      "      inertia: [1, 1, 1]}\n"
      "\n"
      "simulation: {end: 1, tolerance: 1e-6}        # run\n";
  EXPECT_EQ(format_model_text(before, "t.yaml"), after);
  EXPECT_EQ(format_model_text(after, "t.yaml"), after);
}

TEST(Format, OurOwnFilesAreLaidOut) {
  std::vector<fs::path> files = models();
  for (const auto& entry : fs::directory_iterator(fs::path(TRAMMEL_SOURCE_DIR) / "studies/elements"))
    files.push_back(entry.path());
  for (const fs::path& file : files) {
    const std::string text = text_of(file);
    EXPECT_EQ(format_model_text(text, file.string()), text) << "trammel fmt " << file;
  }
}

TEST(Format, RefusesLineEndsThatOnlyYamlKnows) {
  for (const char* end : {"\r", "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"})
    EXPECT_THROW(format_model_text(std::string("trammel: 1\ntitle: a") + end + "gravity: [0, 0, 1]\n", "t.yaml"),
                 Failure);
  EXPECT_NO_THROW(format_model_text("trammel: 1\r\ntitle: a\r\n", "t.yaml"));
}

TEST(Format, TextsStay) {
  for (const char* text : {
           "trammel: 1\ntitle: 1.0\n",
           "trammel: 1\ntitle: \"a # b: 1.0\"\n",
           "trammel: 1\ntitle: 'it''s {x,y}'\n",
           "trammel: 1\ntitle: |\n  two\n   lines\nsimulation: {end: 3}\n",
           "trammel: 1\noutputs:\n  o: {expression: time, unit: 1.0}\n",
           "trammel: 1\nbodies:\n  b: &one {mass: 1, inertia: [1, 1, 1]}\n  c: *one\n",
           "{\"trammel\": 1, \"title\": \"json\"}\n",
       }) {
    EXPECT_EQ(format_model_text(text, "t.yaml"), text);
  }
  EXPECT_THROW(format_model_text("a: [1", "t.yaml"), Failure);
}

TEST(Format, ShortestSpelling) {
  const std::pair<const char*, const char*> spellings[] = {
      {"1.0", "1"},   {"+3", "3"},          {".5", "0.5"},  {"5.", "5"},      {"1E-03", "1e-3"}, {"1e+05", "1e5"},
      {"100", "100"}, {"100.10", "100.1"},  {"-0.0", "-0"}, {"1e0", "1"},     {"007", "7"},      {"abc", "abc"},
      {"1e", "1e"},   {"0.0001", "0.0001"}, {"12e", "12e"}, {"1.5e00", "1.5"}};
  for (const auto& [before, after] : spellings) EXPECT_EQ(shortest_spelling(before), after);
}

}  // namespace
}  // namespace trammel::format_test
