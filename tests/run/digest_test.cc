// What a saved state belongs to: every setting that changes a number changes the text.
#include <gtest/gtest.h>

#include <cstdio>

#include "trammel/read/read_model.h"
#include "trammel/run/checkpoint.h"

namespace trammel::digest_test {
namespace {

constexpr const char* stone = "trammel: 1\nbodies: {stone: {mass: 1, inertia: [1, 1, 1]}}\n";

TEST(ModelDigest, HasTheSettingsOfStartAndEvents) {
  const Model model = read_model_text(stone, "test.yaml");
  const auto differs = [&](const auto& change) {
    Model other = model;
    change(other);
    return model_digest(other) != model_digest(model);
  };
  EXPECT_FALSE(differs([](Model&) {}));
  EXPECT_TRUE(differs([](Model& m) { m.start_in_equilibrium = true; }));
  EXPECT_TRUE(differs([](Model& m) { m.simulation.locate_events = true; }));
  EXPECT_TRUE(differs([](Model& m) { m.simulation.events_at_steps = true; }));
  EXPECT_TRUE(differs([](Model& m) { m.simulation.time_scale = 2; }));
}

TEST(Parameters, HaveTheUnitThatTheFileStates) {
  const std::string text =
      std::string(stone) + "units: {length: mm}\nparameters: {L: 160 mm, k: 20 N/mm, w: 3 rpm, phi: 30 deg, n: 4}\n";
  const Model model = read_model_text(text, "test.yaml");
  std::vector<std::string> units;
  for (const Parameter& parameter : model.parameters) units.push_back(parameter.unit);
  EXPECT_EQ(units, (std::vector<std::string>{"m", "kg/s^2", "rad/s", "rad", ""}));
  ReadOptions given;
  for (const Parameter& parameter : model.parameters) {
    char number[40];
    std::snprintf(number, sizeof number, "%.17g ", parameter.value);
    given.set(parameter.name + "=" + number + parameter.unit);
  }
  const Model again = read_model_text(text, "test.yaml", given);
  for (std::size_t i = 0; i < model.parameters.size(); ++i)
    EXPECT_EQ(again.parameters[i].value, model.parameters[i].value) << model.parameters[i].name;
}

}  // namespace
}  // namespace trammel::digest_test
