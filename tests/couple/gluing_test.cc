// Gluing of models: exact derivatives against differences, glued against whole, continued runs, other processes.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <utility>
#include <vector>

#include "trammel/couple/coupling_file.h"
#include "trammel/couple/model_participant.h"
#include "trammel/couple/part_of_model.h"
#include "trammel/couple/remote_participant.h"
#include "trammel/elements/build.h"
#include "trammel/read/read_model.h"
#include "trammel/run/simulation.h"

namespace trammel::gluing_test {
namespace {

std::string coupling_file(const char* name) { return std::string(TRAMMEL_SOURCE_DIR) + "/couplings/" + name; }
std::string model_path(const char* name) { return std::string(TRAMMEL_SOURCE_DIR) + "/models/" + name; }

MacroStep macro_step(double t, double H, std::vector<double> inputs) {
  MacroStep step;
  step.t = t;
  step.end = t + H;
  step.inputs = std::move(inputs);
  step.samples = {t + 0.5 * H, t + H};
  step.keep_path = true;
  return step;
}

// Of a spatial body that tumbles, and of one on a joint, for every shape: rotations are large, so is the spin.
TEST(Sensitivity, IsTheDerivativeOfTheStep) {
  for (const char* body : {"bar1", "bar4"}) {
    for (const InputShape shape : all_input_shapes) {
      Model whole = load_model(model_path("glue_spatial_chain.yaml"));
      const int index = whole.find_body(body);
      whole.bodies[static_cast<std::size_t>(index)].angular_velocity = Vec3(3, -2, 4);
      std::vector<int> cut{1, 2, 3};
      Model model = part_of_model(whole, {index}, cut);
      model.add_frame(0, {Vec3(1, 0.1, -0.2), Quat(Eigen::AngleAxisd(0.7, Vec3(1, 2, 3).normalized()))}, "end");
      model.simulation.tolerance = 1e-12;
      model.simulation.end = 1;
      ModelParticipant::Options options;
      options.name = "part";
      options.frames = {"end"};
      options.shape = shape;
      ModelParticipant part(std::move(model), std::move(options));
      part.start();
      const auto n = static_cast<std::size_t>(6 * info(shape).count);
      std::vector<double> inputs(n);
      const auto is_shift = [&](std::size_t i) { return shape == InputShape::shifted && i >= 6; };
      for (std::size_t i = 0; i < n; ++i)
        inputs[i] = (is_shift(i) ? 1e-6 : 1) * 3 * std::sin(1.0 + static_cast<double>(i));
      const double H = 0.005;
      MacroResult result;
      part.begin(macro_step(0, H, inputs));
      part.finish(result);
      ASSERT_TRUE(result.ok) << result.message;
      const std::vector<int> samples{0, 1};
      const Mat J = part.sensitivity(samples);
      for (std::size_t c = 0; c < n; ++c) {
        const double d = is_shift(c) ? 3e-3 : 0.3;  // what is differenced is known to 1e-12
        MacroResult more, less;
        std::vector<double> other = inputs;
        other[c] = inputs[c] + d;
        part.begin(macro_step(0, H, other));
        part.finish(more);
        other[c] = inputs[c] - d;
        part.begin(macro_step(0, H, other));
        part.finish(less);
        for (Eigen::Index s = 0; s < 2; ++s) {
          const FrameState &a = more.frames[static_cast<std::size_t>(s)], &b = less.frames[static_cast<std::size_t>(s)];
          const Eigen::AngleAxisd turn(Mat3(a.R * b.R.transpose()));
          Eigen::Matrix<double, 12, 1> difference;
          difference << (a.p - b.p), turn.angle() * turn.axis(), (a.v - b.v), (a.w - b.w);
          difference /= 2 * d;
          const auto exact = J.block<12, 1>(12 * s, static_cast<Eigen::Index>(c));
          const double size = exact.norm() + 1e-3 * J.col(static_cast<Eigen::Index>(c)).norm();
          EXPECT_LT((exact - difference).norm(), 1e-5 * size + 1e-12)
              << body << " " << info(shape).key << " column " << c << " sample " << s;
        }
      }
    }
  }
}

// The largest difference of positions between a glued run and the model in one piece.
double against_whole(CouplingSpec spec, CouplingSummary& summary) {
  std::map<std::string, MemoryTrajectory> parts;
  const auto coupling = make_coupling(spec, [&](const std::string& name) {
    return std::make_unique<TeeSink>(std::vector<TrajectorySink*>{&parts[name]});
  });
  MemoryTrajectory joints;
  summary = coupling->run(joints);
  EXPECT_EQ(summary.status, RunStatus::finished) << summary.failure;
  Simulation simulation(load_model(spec.whole, {.end = spec.settings.end, .output_step = spec.settings.step}));
  MemoryTrajectory whole;
  simulation.run(whole);
  double worst = 0;
  for (const auto& [name, part] : parts) {
    for (const Signal& signal : part.tables()[0].signals) {
      if (signal.name.find(".position.") == std::string::npos) continue;
      const std::vector<double> x = part.column(signal.name), y = whole.column(signal.name);
      EXPECT_EQ(x.size(), y.size());
      for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) worst = std::max(worst, std::abs(x[i] - y[i]));
    }
  }
  return worst;
}

TEST(Glued, DoublePendulumIsTheWholeOne) {
  CouplingSpec spec = read_coupling(coupling_file("double_pendulum.yaml"), {.set = {"L1=1.1", "L2=0.7"}});
  spec.settings.end = 0.5;
  spec.settings.output_step.reset();
  spec.whole_changes.set = {"L1=1.1", "L2=0.7"};
  for (ParticipantSpec& p : spec.participants) p.changes.tolerance = 1e-10;
  CouplingSummary summary;
  const std::unique_ptr<Coupling> coupling = make_coupling(spec);
  MemoryTrajectory joints;
  summary = coupling->run(joints);
  ASSERT_EQ(summary.status, RunStatus::finished) << summary.failure;
  Simulation simulation(load_model(spec.whole, {.set = spec.whole_changes.set, .end = 0.5}));
  MemoryTrajectory whole;
  simulation.run(whole);
  const std::vector<double> glued = joints.column("joint.pin.force.y"), one = whole.column("joint.pin.force.y");
  EXPECT_NEAR(joints.column("frame.second.top.position.x").back(), 1.1 * std::sin(whole.column("phi1").back()), 1e-9);
  EXPECT_NEAR(glued.back(), one.back(), 1e-3 * std::abs(one.back()));
  EXPECT_LT(summary.greatest_error, 1e-9);
}

TEST(Glued, SpatialChainIsTheWholeOne) {
  CouplingSpec spec = read_coupling(coupling_file("spatial_chain.yaml"));
  spec.settings.end = 0.1;
  CouplingSummary summary;
  EXPECT_LT(against_whole(spec, summary), 1e-7);
  spec.settings.threads = true;
  CouplingSummary again;
  EXPECT_LT(against_whole(spec, again), 1e-7);
  EXPECT_EQ(summary.iterations, again.iterations);
  EXPECT_EQ(summary.greatest_error, again.greatest_error);  // the same bits
}

// A participant behind the protocol, answered in this very process.
class Loop final : public Channel {
 public:
  explicit Loop(MakeServed make) : server_(std::move(make)) {}
  void send(const std::string& line) override { server_.answer(line, reply_); }
  std::string receive() override { return reply_; }

 private:
  ParticipantServer server_;
  std::string reply_;
};

TEST(Glued, TheProtocolGivesTheSameBits) {
  CouplingSpec spec = read_coupling(coupling_file("double_pendulum.yaml"));
  spec.settings.end = 0.1;
  MemoryTrajectory here, there;
  make_coupling(spec)->run(here);
  CouplingSpec copy = spec;
  std::vector<Model> models = participant_models(copy);
  const auto elsewhere = [&](int p) -> std::unique_ptr<Channel> {
    return std::make_unique<Loop>(
        [&, p](const Greeting&) { return make_participant(copy, p, models[static_cast<std::size_t>(p)], {}); });
  };
  make_coupling(spec, {}, elsewhere)->run(there);
  ASSERT_EQ(here.rows(0), there.rows(0));
  for (std::size_t r = 0; r < here.rows(0); ++r) {
    for (std::size_t c = 0; c < here.row(0, r).size(); ++c) ASSERT_EQ(here.row(0, r)[c], there.row(0, r)[c]);
  }
}

TEST(Glued, ContinuedRunGivesTheSameBits) {
  CouplingSpec spec = read_coupling(coupling_file("double_pendulum.yaml"));
  spec.settings.end = 0.2;
  MemoryTrajectory through, second;
  make_coupling(spec)->run(through);
  const auto half = make_coupling(spec);
  half->start();
  for (int k = 0; k < 10; ++k) {
    ASSERT_TRUE(half->advance(spec.settings.step));
    half->accept_step();
  }
  const auto rest = make_coupling(spec);
  rest->restore(half->save());
  rest->run(second);
  const std::size_t last = through.rows(0) - 1, end = second.rows(0) - 1;
  for (std::size_t c = 0; c < through.row(0, last).size(); ++c)
    EXPECT_EQ(through.row(0, last)[c], second.row(0, end)[c]) << through.tables()[0].signals[c].name;
}

TEST(Glued, TheLastStepIsCutWhereTheRunEnds) {
  CouplingSpec spec = read_coupling(coupling_file("double_pendulum.yaml"), {.options = {"end=0.025"}});
  spec.settings.output_step.reset();
  MemoryTrajectory joints;
  const CouplingSummary summary = make_coupling(spec)->run(joints);
  EXPECT_EQ(summary.status, RunStatus::finished);
  EXPECT_EQ(summary.reached, 0.025);
  EXPECT_EQ(summary.steps, 3);
  EXPECT_LT(summary.greatest_error, 1e-9);
}

// Bodies first, in the order in which the light one follows: each step once, and as good as its order.
TEST(Glued, StepsMadeOnceMeetTheWholeWhereTheyAreStable) {
  std::vector<double> errors;
  for (const double step : {0.01, 0.0025}) {
    CouplingSpec spec = read_coupling(coupling_file("double_pendulum.yaml"));
    spec.settings.scheme = one_pass_scheme(Passes::gauss_seidel, 0);
    spec.settings.step = step;
    spec.settings.output_step.reset();
    MemoryTrajectory joints;
    const CouplingSummary summary = make_coupling(spec)->run(joints);
    ASSERT_EQ(summary.status, RunStatus::finished) << summary.failure;
    errors.push_back(joints.column("joint.pin.error").back());
  }
  EXPECT_LT(errors[0], 3e-5);
  EXPECT_LT(errors[1], errors[0] / 16);
  // The other way round the pendulum would have to follow in a direction in which it cannot move.
  CouplingSpec spec = read_coupling(coupling_file("double_pendulum.yaml"));
  spec.settings.scheme = one_pass_scheme(Passes::gauss_seidel, 0);
  std::swap(spec.participants[0], spec.participants[1]);
  for (InterfaceFrame& frame : spec.frames) frame.participant = 1 - frame.participant;
  try {
    make_coupling(spec)->start();
    ADD_FAILURE() << "it was started";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.problems()[0].id, "participant-cannot");
  }
}

TEST(Glued, AStateGoesOnOnlyWithItsScheme) {
  CouplingSpec spec = read_coupling(coupling_file("double_pendulum.yaml"), {.options = {"end=0.1"}});
  const auto first = make_coupling(spec);
  first->start();
  ASSERT_TRUE(first->advance(spec.settings.step));
  first->accept_step();
  const Bytes state = first->save();
  CouplingSpec other = spec;
  other.settings.scheme = find_scheme("linear", {});
  EXPECT_THROW(make_coupling(other)->restore(state), Failure);
  // With another macro step it goes on from where it is.
  spec.settings.step = 0.03;
  const auto rest = make_coupling(spec);
  rest->restore(state);
  MemoryTrajectory joints;
  const CouplingSummary summary = rest->run(joints);
  EXPECT_EQ(summary.status, RunStatus::finished) << summary.failure;
  EXPECT_EQ(summary.steps, 3);
  EXPECT_EQ(summary.reached, 0.1);
}

// What a participant makes of a model whose frame `end` nothing acts on, at the middle and end of macro steps. Each is
// first tried with other inputs: switches that turned in that try must be turned back.
std::vector<std::pair<double, Vec3>> path_of_participant(const std::string& text, double H, int steps) {
  ModelParticipant::Options options;
  options.name = "part";
  options.frames = {"end"};
  ModelParticipant part(read_model_text("trammel: 1\n" + text, "part.yaml"), std::move(options));
  part.start();
  std::vector<std::pair<double, Vec3>> path;
  for (int k = 0; k < steps; ++k) {
    MacroStep step = macro_step(k * H, H, {3, 2, 1, 0, 0, 0});
    step.end = (k + 1) * H;
    step.samples.back() = step.end;
    MacroResult result;
    part.begin(step);
    part.finish(result);
    EXPECT_TRUE(result.ok) << result.message;
    step.inputs.assign(6, 0.0);
    part.begin(step);
    part.finish(result);
    EXPECT_TRUE(result.ok) << result.message;
    part.accept();
    for (std::size_t s = 0; s < 2; ++s) path.emplace_back(step.samples[s], result.frames[s].p);
  }
  return path;
}

// A force sets in at 0.3 s: within a macro step, at its end (2*0.15 is 0.3, where `time > 0.3` still says no), and a
// round-off before it (3*0.1). Steps that lie across the corner, or begin at it with the force before it, were off by
// 1e-3 m.
TEST(Participants, EndTheirStepsAtCornersOverTime) {
  for (const double H : {0.08, 0.1, 0.15, 0.5}) {
    for (const char* method : {"method: dormand-prince-54, step: 0.05", "method: radau-iia-3, step: 0.05",
                               "method: dormand-prince-54, tolerance: 1e-10"}) {
      for (const char* when : {"time > 0.3", "time >= 0.3"}) {
        const std::string text = std::string(
                                     "bodies: {block: {mass: 2, inertia: [1, 1, 1]}}\nframes: {end: {body: block}}\n"
                                     "forces: {push: {type: force, frames: [ground, block], axes: world, fx: 'if(") +
                                 when + ", 10, 0)'}}\nsimulation: {end: 1, length: 1, " + method + "}\n";
        for (const auto& [t, p] : path_of_participant(text, H, static_cast<int>(1.001 / H))) {
          const double since = std::max(0.0, t - 0.3);
          EXPECT_NEAR(p.x(), 0.5 * 5 * since * since, 1e-9) << H << " " << method << " " << when << " at " << t;
        }
      }
    }
  }
}

// The block of Events.LocatedStopsAreSharper. Not located, steps of 0.015 s see the stop too late.
TEST(Participants, LocateEventsWhereTheModelAsksForIt) {
  const auto error = [](const char* events) {
    const std::string text =
        std::string(
            "bodies: {block: {mass: 1, inertia: [1, 1, 1], position: [0, 0, -0.1], velocity: [0, 0, 1]}}\n"
            "frames: {end: {body: block}}\n"
            "forces: {stop: {type: translational_stop, frames: [ground, block], upper: 0, stiffness: 100}}\n"
            "simulation: {end: 0.6, length: 1, method: radau-iia-3, tolerance: 1e-6, step: 0.02") +
        events + "}\n";
    const auto path = path_of_participant(text, 0.03, 20);
    return std::abs(path.back().second.z() + 0.6 - (0.1 + std::numbers::pi / 10));
  };
  const double located = error(", events: located");
  EXPECT_LT(located, 1e-6);
  EXPECT_GT(error(""), 20 * located);
}

// The ball of models/bouncing_ball.yaml: a contact of 4.3 ms in macro steps of half a second, and a step in free flight
// has no error that would keep it short.
TEST(Participants, SeeContactsComing) {
  const double period = 0.907347771216546;
  for (const char* method : {"radau-iia-3", "dormand-prince-853", "bdf-si2"}) {
    const std::string text =
        std::string(
            "gravity: [0, 0, -9.81]\n"
            "bodies: {ball: {mass: 4.084070449666731, inertia: [4e-3, 4e-3, 4e-3], position: [0, 0, 1.05]}}\n"
            "frames: {end: {body: ball}}\n"
            "forces: {floor: {type: contact, frames: [ground, ball], shape_a: plane, shape_b: sphere, radius_b: 0.05,\n"
            "  modulus_a: 2e8, modulus_b: 2e8, poisson_a: 0, poisson_b: 0}}\n"
            "simulation: {end: 1, length: 1, tolerance: 1e-8, method: ") +
        method + "}\n";
    const auto path = path_of_participant(text, 0.5 * period, 2);
    EXPECT_NEAR(path.back().second.z(), 1.05, 1e-4) << method;
  }
}

// A torque sets in at the end of a macro step; steps have a fixed size, so that nothing but the event makes up for it.
TEST(Glued, CornersOverTimeMeetTheWhole) {
  CouplingSpec spec = read_coupling(coupling_file("double_pendulum.yaml"));
  spec.settings.end = 0.1;
  spec.settings.output_step.reset();
  for (ParticipantSpec& p : spec.participants) p.changes.step = 0.002;
  const auto add_push = [](Model& model) {
    Fields fields;
    fields.set("axes", std::string("world"));
    fields.set("tz", ExpressionText{"if(time > 0.05, 4, 0)", {}});
    const int world = model.add_frame(ground, {}), rod = model.add_frame(model.find_body("rod"), {});
    add_force(model, "general_force", "push", {world, rod}, std::move(fields));
  };
  CouplingSpec copy = spec;
  std::vector<Model> models = participant_models(copy);
  add_push(models[1]);
  const auto elsewhere = [&](int p) -> std::unique_ptr<Channel> {
    return std::make_unique<Loop>(
        [&, p](const Greeting&) { return make_participant(copy, p, models[static_cast<std::size_t>(p)], {}); });
  };
  MemoryTrajectory joints, one;
  const CouplingSummary summary = make_coupling(spec, {}, elsewhere)->run(joints);
  ASSERT_EQ(summary.status, RunStatus::finished) << summary.failure;
  Model whole = load_model(spec.whole, {.end = 0.1});
  add_push(whole);
  Simulation simulation(std::move(whole));
  simulation.run(one);
  EXPECT_NEAR(joints.column("frame.second.top.position.x").back(), std::sin(one.column("phi1").back()), 1e-7);
}

std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const Failure& failure) {
    return failure.problems()[0].id;
  }
  return "";
}

// With inputs that jump, an event in the middle of every macro step would be that jump.
TEST(Participants, CannotLocateEventsWhereInputsJump) {
  const auto make = [](InputShape shape) {
    ModelParticipant::Options options;
    options.name = "part";
    options.frames = {"end"};
    options.shape = shape;
    ModelParticipant part(read_model_text("trammel: 1\nbodies: {block: {mass: 1, inertia: [1, 1, 1]}}\n"
                                          "frames: {end: {body: block}}\nsimulation: {end: 1, events: located}\n",
                                          "part.yaml"),
                          std::move(options));
  };
  EXPECT_EQ(refusal([&] { make(InputShape::halves); }), "located-not-in-coupling");
  EXPECT_EQ(refusal([&] { make(InputShape::quadratic); }), "");
}

TEST(CouplingFiles, RefuseWhatCannotBe) {
  const std::string file = coupling_file("double_pendulum.yaml");
  EXPECT_EQ(refusal([&] { read_coupling(file, {.options = {"scheme=quadradic"}}); }), "unknown-scheme");
  EXPECT_EQ(refusal([&] { read_coupling(file, {.options = {"skeme=linear"}}); }), "bad-option");
  EXPECT_EQ(refusal([&] { read_coupling(file, {.options = {"step=-1"}}); }), "not-positive");
  EXPECT_EQ(refusal([&] { read_coupling(file, {.set = {"nothing=1"}}); }), "unknown-parameter");
  EXPECT_EQ(refusal([&] { make_coupling(read_coupling(file, {.set = {"second.phi1=1"}}))->start(); }),
            "gluing-does-not-fit");
  CouplingSpec spec = read_coupling(file);
  spec.frames[0].name = "first.tipp";
  EXPECT_EQ(refusal([&] { make_coupling(spec); }), "unknown-frame");
  spec = read_coupling(coupling_file("spatial_chain.yaml"));
  spec.cut = {"hinge", "cardan"};
  EXPECT_EQ(refusal([&] { make_coupling(spec); }), "part-not-separate");
  spec.cut = {"hinge", "cardan", "ball", "base"};
  EXPECT_EQ(refusal([&] { make_coupling(spec); }), "joint-not-gluable");
}

TEST(Parts, HangTogetherWithoutTheJointsCut) {
  const Model model = load_model(model_path("glue_spatial_chain.yaml"));
  EXPECT_EQ(connected_parts(model, {}).size(), 1U);
  EXPECT_EQ(connected_parts(model, {2}).size(), 2U);
  EXPECT_EQ(connected_parts(model, {1, 2, 3}).size(), 4U);
}

}  // namespace
}  // namespace trammel::gluing_test
