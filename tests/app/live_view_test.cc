// A run that is watched, seen from within: what pages are told of it, and what becomes of what they ask. No page is
// open here; the server is tested in viewer/tests/live_tests.mjs.
#include "app/live_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <new>

#include "app/view_page.h"
#include "trammel/read/read_model.h"

namespace trammel {

std::string live_page(const std::string&) { return "no bundle is needed here"; }

namespace live_view_test {

using ::testing::HasSubstr;

constexpr const char* ball = R"yaml(trammel: 1
gravity: [0, 0, -9.81]
inputs: {drive: {unit: N}}
bodies: {ball: {kind: point, mass: 2, position: [0, 0, 0.5]}}
forces:
  floor: {type: impact, frames: [ground, ball], restitution: 0.8}
  motor: {type: force, frames: [ground, ball], fx: drive}
simulation: {end: 1, tolerance: 1e-8, greatest_step: 0.02, output_step: 0.01}
)yaml";

using Reload = std::function<Model(const std::vector<std::string>&)>;

// Runs to the end; `before_step` gets the number of the step.
RunStatus watch(LiveView& view, const std::function<void(int)>& before_step) {
  Simulation simulation(view.prepare(read_model_text(ball, "test.yaml")));
  view.attach(simulation);
  MemoryTrajectory rows;
  const std::unique_ptr<TrajectorySink> sink = view.sink(rows);
  RunOptions options;
  int step = 0;
  options.steer = [&](const State& state) {
    before_step(step++);
    return view.steer(state);
  };
  options.inputs_refused = [&](double t) { view.refused(t); };
  return simulation.run(*sink, options).status;
}

LiveView::Options with_reload(Reload reload) { return {{}, false, nullptr, std::move(reload)}; }

Json status_of(LiveView& view) { return Json::parse(*view.status()); }
std::string message_in(LiveView& view) { return status_of(view)["message"].get<std::string>(); }

// Of a message with all rows: its kind, the number of the run, then what a file of the viewer holds.
Json header_in(const std::string& message) {
  const std::string data = gunzip(std::string_view(message).substr(8));
  std::size_t length = 0;
  for (std::size_t i = 0; i < 4; ++i) length |= std::size_t{static_cast<unsigned char>(data.at(4 + i))} << (8 * i);
  return Json::parse(data.substr(8, length));
}

// Only the first table was kept: no page ever showed an event.
TEST(LiveView, TellsEventsWhileTheRunGoesOnAndWithAllRows) {
  LiveView view(with_reload({}));
  Json while_it_ran;
  EXPECT_EQ(watch(view, [&](int) { while_it_ran = status_of(view)["events"]; }), RunStatus::finished);
  const double first = std::sqrt(2 * 0.5 / 9.81), second = first * (1 + 2 * 0.8);  // the next would be at 1.24 s
  ASSERT_EQ(while_it_ran.size(), 2u);
  EXPECT_NEAR(while_it_ran[0]["time"].get<double>(), first, 1e-8);
  EXPECT_NEAR(while_it_ran[1]["time"].get<double>(), second, 1e-7);
  const LiveServer::Message all = view.header();
  ASSERT_TRUE(all);
  const Json header = header_in(*all);
  EXPECT_EQ(header["events"], while_it_ran);
  EXPECT_THAT(header["events"][0]["text"].get<std::string>(), HasSubstr("force 'floor'"));
  EXPECT_EQ(header["tables"].size(), 1u) << "rows that follow one by one are of the first table alone";
  for (const Json& signal : header["signals"]) EXPECT_EQ(signal["table"], 0);
}

// Any command at all wiped the reason out before anybody had read it.
TEST(LiveView, ARefusedStartIsToldUntilAnotherIsAskedFor) {
  int starts = 0;
  LiveView view(with_reload([&](const std::vector<std::string>&) -> Model {
    ++starts;
    throw Failure({Severity::error, "test", "the mass is negative", "", {}});
  }));
  const std::map<int, const char*> asked{{1, R"({"restart": {}})"},
                                         {2, R"({"speed": null})"},
                                         {3, R"({"set": {"name": "drive", "value": 1}})"},
                                         {4, "nonsense"},
                                         {5, R"({"restart": {}})"}};
  std::map<int, std::string> told;
  const RunStatus status = watch(view, [&](int step) {
    if (const auto command = asked.find(step); command != asked.end()) view.receive(command->second);
    told[step] = message_in(view);
  });
  EXPECT_EQ(status, RunStatus::finished);
  EXPECT_EQ(told[1], "") << "it is tried after this";
  for (const int step : {2, 3}) EXPECT_EQ(told[step], "no new start: the mass is negative");
  EXPECT_EQ(told[4], "not in the form of a command; no new start: the mass is negative");
  EXPECT_EQ(told[5], "");
  EXPECT_EQ(starts, 2);
}

// What is no Failure ended the run that could run.
TEST(LiveView, AStartForWhichThereIsNoMemoryEndsNoRun) {
  LiveView view(with_reload([](const std::vector<std::string>&) -> Model { throw std::bad_alloc(); }));
  std::string told;
  const RunStatus status = watch(view, [&](int step) {
    if (step == 1) view.receive(R"({"restart": {}})");
    if (step == 2) told = message_in(view);
  });
  EXPECT_EQ(status, RunStatus::finished);
  EXPECT_EQ(told, "no new start: there is not enough memory for it");
}

}  // namespace live_view_test
}  // namespace trammel
