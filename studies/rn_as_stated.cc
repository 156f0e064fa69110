// The HMMWV of the Rosenbrock-Nystrom paper as its text states it, beside the model that gives its eigenvalue: the
// damping of 2e6 N s/m, the height of 0.71 m, the rear wheels on the bump at 1.2 s. What the text leaves free is
// searched: springs shortened until the chassis rests at that height, a wheel base that brings the rear wheels in time.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "studies/printed.h"
#include "studies/rn_parts.h"
#include "studies/stepping.h"
#include "trammel/analyse/modes.h"
#include "trammel/base/data_directory.h"

namespace trammel::rn_study {
namespace {

constexpr double speed = 4.4704, published_half_base = 1.688965, published_bump = 4.1109003;
const char* const as_stated_name = "HMMWV as stated";

std::string set_to(const char* name, double value) {
  char out[64];
  std::snprintf(out, sizeof out, "%s=%.17g", name, value);
  return out;
}

struct Vehicle {
  double c = 2.5e5, shorter = 0, half_base = published_half_base;
  bool possible_inertias = false;

  std::vector<std::string> settings() const {
    std::vector<std::string> all{set_to("c_bushing", c), set_to("shorter", shorter), set_to("half_base", half_base),
                                 set_to("bump_at", published_bump + half_base - published_half_base)};
    if (possible_inertias) all.insert(all.end(), {"j_upper=0.06", "j_lower=0.8"});
    return all;
  }
  Model model(ModelChanges changes = {}) const {
    changes.set = settings();
    return load_model((data_directory() / "models/hmmwv_bump.yaml").string(), changes);
  }
};

double height_of(const State& s, const Equations& e) { return s.q[e.first_coordinate(0) + 2]; }

// At rest.
struct Rest {
  double height = 0, eigenvalue = 0, front = 0, rear = 0;  // eigenvalue: the fastest real part; x of the wheels
};

Rest rest_of(const Vehicle& vehicle, bool with_modes) {
  Simulation simulation(vehicle.model());
  simulation.start();
  const Equations& e = simulation.equations();
  const State& state = simulation.integrator().state();
  Rest out;
  out.height = height_of(state, e);
  Workspace work = e.make_workspace();
  e.update(state, work);
  out.front = e.frame(e.model().find_frame("front_left.wheel"), work).p.x();
  out.rear = e.frame(e.model().find_frame("rear_left.wheel"), work).p.x();
  if (with_modes)
    for (const Mode& mode : find_modes(e, state, simulation.integrator().rates()).damped)
      out.eigenvalue = std::min(out.eigenvalue, mode.eigenvalue.real());
  return out;
}

// By the secant method in the springs' length.
double shortened_to(Vehicle vehicle, double height) {
  double a = 0, b = 0.02, fa = rest_of(vehicle, false).height - height;
  for (int i = 0; i < 20; ++i) {
    vehicle.shorter = b;
    const double fb = rest_of(vehicle, false).height - height;
    if (std::abs(fb) < 1e-7) break;
    const double next = b - fb * (b - a) / (fb - fa);
    a = b;
    fa = fb;
    b = next;
  }
  return b;
}

void damping_rows(std::vector<Row>& rows) {
  guard(rows, as_stated_name, "damping", [&] {
    const double printed = printed_value("rn.s32.tsda.c"), target = printed_value("rn.s32.eigenvalue");
    rows.push_back(Row::near(as_stated_name, "c = 2.5e5 N s/m", "fastest eigenvalue, 1/s", target,
                             rest_of({}, true).eigenvalue, 0.02 * std::abs(target))
                       .because("two digits: the model's damping was chosen for it")
                       .tuned_on("the damping was chosen on this eigenvalue"));
    rows.push_back(Row::near(as_stated_name, "c = 2e6 N s/m, as printed", "fastest eigenvalue, 1/s", target,
                             rest_of({.c = printed}, true).eigenvalue, 0.02 * std::abs(target))
                       .with({"rn.s32.tsda.c"})
                       .because("two digits printed")
                       .missed_for("damping and eigenvalue of the print do not hold together: with arms of 5.8 kg an "
                                   "eigenvalue goes with the damping, and eight times less gives the printed one"));
  });
}

void height_and_base_rows(const StudyContext& context, std::vector<Row>& rows, Vehicle& stated) {
  context.note("HMMWV as stated: height and wheel base");
  guard(rows, as_stated_name, "height and wheel base", [&] {
    stated.c = printed_value("rn.s32.tsda.c");
    stated.half_base = published_half_base;
    // Wheels that are 0.7 s apart at this speed; at rest they stand where the suspension puts them.
    const double apart = speed * (printed_value("rn.s32.rear") - printed_value("rn.s32.front"));
    for (int i = 0; i < 3; ++i) {
      stated.shorter = shortened_to(stated, printed_value("rn.s32.height"));
      const Rest rest = rest_of(stated, false);
      stated.half_base += 0.5 * (apart - (rest.front - rest.rear));
    }
    const Rest rest = rest_of(stated, true);
    rows.push_back(
        Row::reproduce(as_stated_name, "springs shortened", "height at rest, m", "rn.s32.height", rest.height, 2)
            .tuned_on("the springs were shortened until it was met"));
    rows.push_back(Row::measure(as_stated_name, "springs shortened", "by, m", stated.shorter)
                       .because("what the search found: the print gives no spring"));
    const double radius = 0.467, half = 0.5 * printed_value("rn.s32.bump"),
                 reach = std::sqrt((radius + half) * (radius + half) - radius * radius),
                 at = published_bump + stated.half_base - published_half_base;
    rows.push_back(Row::near(as_stated_name, "wheel base shortened", "time at which the rear wheels touch, s",
                             printed_value("rn.s32.rear"), (at - reach - rest.rear) / speed, 0.01)
                       .printed_as("rn.s32.rear")
                       .because("its digits")
                       .tuned_on("the wheel base was shortened until it was met"));
    rows.push_back(Row::measure(as_stated_name, "wheel base shortened", "from 3.378 m to, m", 2 * stated.half_base)
                       .because("the published base brings them 0.74 s behind the front wheels"));
    rows.push_back(
        Row::measure(as_stated_name, "springs and base shortened", "fastest eigenvalue, 1/s", rest.eigenvalue)
            .because("it hangs on the damping, which has a row"));
  });
}

SteppedRun run_of(const Vehicle& vehicle) {
  Model model = vehicle.model({.method = "rosenbrock-nystrom-4", .tolerance = 1e-3, .end = 5});
  take_printed_weights(model);
  SteppedRun run = step_model(std::move(model), {.grid = 0.01, .look = height_of});
  if (!run.finished) throw Failure({Severity::error, "run-failed", run.why, "", {}}, ExitCode::failed_run);
  return run;
}

void run_rows(const StudyContext& context, std::vector<Row>& rows, const Vehicle& stated) {
  context.note("HMMWV as stated: over the bump");
  guard(rows, as_stated_name, "over the bump", [&] {
    const SteppedRun run = run_of(stated), model = run_of({}), possible = run_of({.possible_inertias = true});
    const auto settled = [](const SteppedRun& r) {
      double most = 0;
      for (std::size_t i = 0; i < r.grid.size(); ++i)
        if (0.01 * static_cast<double>(i) >= printed_value("rn.s32.settled"))
          most = std::max(most, std::abs(r.grid[i] - r.grid.front()));
      return most;
    };
    rows.push_back(
        Row::at_most(as_stated_name, "over the bump", "height after 4 s less that at rest, m", 2e-3, settled(run))
            .with({"rn.s32.settled"})
            .because("\"stabilizes\": the line of a figure"));
    rows.push_back(Row::measure(as_stated_name, "over the bump", "steps to 5 s at 1e-3", static_cast<double>(run.steps))
                       .because(why::work));
    rows.push_back(
        Row::measure(as_stated_name, "the model as it is", "steps to 5 s at 1e-3", static_cast<double>(model.steps))
            .because(why::work));
    double apart = 0, swing = 0;
    for (std::size_t i = 0; i < std::min(model.grid.size(), possible.grid.size()); ++i) {
      apart = std::max(apart, std::abs(model.grid[i] - possible.grid[i]));
      swing = std::max(swing, std::abs(model.grid[i] - model.grid.front()));
    }
    rows.push_back(Row::at_most(as_stated_name, "arms with inertias that a body can have",
                                "change of the height by its swing", 0.02, apart / swing)
                       .because("an arm's inertia about the vertical hardly enters: what the tolerance leaves"));
  });
}

}  // namespace

void as_stated(const StudyContext& context, std::vector<Row>& rows) {
  damping_rows(rows);
  Vehicle stated;
  height_and_base_rows(context, rows, stated);
  run_rows(context, rows, stated);
}

}  // namespace trammel::rn_study
