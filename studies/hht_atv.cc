// The all-terrain vehicle with a frame of 134 modes on four posts (models/atv.yaml): its counts, the ten greatest
// stresses of the frame by HHT at 1e-5 and BDF at 1e-4, pitch rate, work and time of both, and the time that both take
// for the same error. The paper gives counts, settings and results, not the vehicle: ours is another one.
#include "studies/hht_atv.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numbers>
#include <optional>

#include "studies/printed.h"
#include "studies/stepping.h"
#include "trammel/base/data_directory.h"
#include "trammel/model/modal_data.h"
#include "trammel/write/plot.h"

namespace trammel {
namespace hht_atv_study {
namespace {

const char* const file = "atv.yaml";
constexpr int spots = 10;
const char* const tuned = "tubes, masses and attachments of the frame, on the paper's 134 modes, 56.7 Hz and 13.1 kHz";

std::string vehicle_file() { return (data_directory() / "models" / file).string(); }

struct Setting {
  const char* method;
  double tolerance;
  std::vector<std::string> options{};
  double greatest_step = printed_value("hht.atv.hmax");

  std::string name() const {
    char text[32];
    std::snprintf(text, sizeof text, ", tolerance %.0e", tolerance);
    std::string out = method + std::string(text);
    for (const std::string& option : options) out += ", " + option;
    return out;
  }
};

struct VehicleRun {
  MemoryTrajectory trajectory;
  RunSummary summary;
  double seconds = 0;  // of one core, without the start

  std::map<std::string, double> stresses() const {
    std::map<std::string, double> out;
    for (const HotSpot& spot : summary.hot_spots) out[spot.place] = spot.von_mises;
    return out;
  }
};

VehicleRun run_vehicle(const Setting& setting, double end) {
  ModelChanges changes{.method = setting.method, .tolerance = setting.tolerance, .end = end};
  changes.set = {"hot_spots=" + std::to_string(3 * spots)};  // those of two methods may be in another order
  changes.greatest_step = setting.greatest_step;
  changes.options = setting.options;
  Simulation simulation(load_model(vehicle_file(), changes));
  VehicleRun out;
  simulation.start();
  const double begin = cpu_seconds();
  RunResult result = simulation.run(out.trajectory);
  out.seconds = cpu_seconds() - begin;
  out.summary = result.summary;
  if (result.status != RunStatus::finished)
    throw Failure({Severity::error, "run-failed", std::string(file) + ": the run did not finish", "", {}},
                  ExitCode::failed_run);
  return out;
}

// ---- Counts -------------------------------------------------------------------------------------------------------

void count(std::vector<Row>& rows) {
  const std::string table = "vehicle: counts";
  const Model model = load_model(vehicle_file());
  const Equations equations(model);
  const auto is_flexible = [](const Body& body) { return body.modal != nullptr; };
  const auto flexible = std::count_if(model.bodies.begin(), model.bodies.end(), is_flexible);
  const auto parts = std::ssize(model.bodies) - flexible;
  const ModalData& frame = *std::find_if(model.bodies.begin(), model.bodies.end(), is_flexible)->modal;
  const int modes = frame.modes(), rows_of_joints = equations.sizes().ng;
  const auto counted = [&](const char* quantity, const char* id, double ours) {
    rows.push_back(Row::near(table, "models/atv.yaml", quantity, printed_value(id), ours, 0)
                       .printed_as(id)
                       .because(why::exact)
                       .tuned_on("the model, which is built to these counts"));
  };
  counted("posts of the shaker", "hht.atv.shaker.posts",
          static_cast<double>(std::count_if(model.bodies.begin(), model.bodies.end(),
                                            [](const Body& b) { return b.name.ends_with(".post"); })));
  counted("posts with a displacement constraint", "hht.atv.shaker.constraints",
          static_cast<double>(std::count_if(model.motions.begin(), model.motions.end(),
                                            [](const Item& m) { return m.name.ends_with(".post"); })));
  counted("moving parts", "hht.atv.parts", static_cast<double>(parts));
  counted("joints", "hht.atv.joints", static_cast<double>(model.joints.size()));
  counted("motions", "hht.atv.motions", static_cast<double>(model.motions.size()));
  counted("flexible bodies", "hht.atv.flexible", static_cast<double>(flexible));
  counted("modes of the frame", "hht.atv.modes", modes);
  // With HHT 6 equations for each body, one for each mode, and those of joints and motions; with GSTIFF 15 and 2.
  const double bodies = static_cast<double>(parts + flexible);
  counted("equations by HHT's counting, 6 for each body and 1 for each mode", "hht.atv.equations.hht",
          6 * bodies + modes + rows_of_joints);
  counted("equations by GSTIFF's counting, 15 for each body and 2 for each mode", "hht.atv.equations.gstiff",
          15 * bodies + 2 * modes + rows_of_joints);
  const Vec squares = frame.stiffness.diagonal();
  const auto hertz = [](double square) { return std::sqrt(square) / (2 * std::numbers::pi); };
  const auto frequency = [&](const char* quantity, const char* id, double ours) {
    rows.push_back(Row::reproduce_within(table, "models/atv.yaml", quantity, id, ours, 0.005,
                                         "a frame of tubes that was found by trial, not the paper's")
                       .tuned_on(tuned));
  };
  frequency("lowest frequency of the frame's modes, Hz", "hht.atv.modes.lowest", hertz(squares.minCoeff()));
  frequency("highest frequency of the frame's modes, kHz", "hht.atv.modes.highest", 1e-3 * hertz(squares.maxCoeff()));
  const double pound = 0.45359237;
  const auto mass_of = [&](const char* name) {
    return std::find_if(model.bodies.begin(), model.bodies.end(), [&](const Body& b) { return b.name == name; })->mass /
           pound;
  };
  const auto weight = [&](const char* quantity, const char* id, double ours) {
    rows.push_back(Row::reproduce(table, "models/atv.yaml", quantity, id, ours, 4)
                       .tuned_on("the model, which is given these masses"));
  };
  weight("rider, lb", "hht.atv.rider", mass_of("rider") + mass_of("hands"));
  weight("of it on the steering column, lb", "hht.atv.rider.steering", mass_of("hands"));
  weight("of it on the frame, lb", "hht.atv.rider.frame", mass_of("rider"));
}

// ---- Two methods ----------------------------------------------------------------------------------------------------

void work_rows(std::vector<Row>& rows, const std::string& table, const Setting& setting, const VehicleRun& run) {
  const RunSummary& s = run.summary;
  const auto row = [&](const char* quantity, double ours) {
    rows.push_back(Row::measure(table, setting.name(), quantity, ours).because(why::work));
  };
  row("steps", static_cast<double>(s.steps));
  row("rejected", static_cast<double>(s.rejected_error + s.rejected_newton + s.rejected_evaluation + s.rejected_angle));
  row("Newton iterations", static_cast<double>(s.counts.newton_iterations));
  row("Jacobians", static_cast<double>(s.counts.linearisations));
  row("factorisations", static_cast<double>(s.counts.factorisations + s.counts.refactorisations));
  rows.push_back(Row::measure(table, setting.name(), "time, s of one core", run.seconds).because(why::machine_time));
}

void compare_stresses(std::vector<Row>& rows, const std::string& table, const VehicleRun& hht, const VehicleRun& bdf) {
  const std::map<std::string, double> other = bdf.stresses();
  double largest = 0;
  for (int i = 0; i < spots; ++i) {
    const HotSpot& spot = hht.summary.hot_spots.at(static_cast<std::size_t>(i));
    const std::string row = std::to_string(i + 1) + ": " + spot.place;
    const auto found = std::find_if(bdf.summary.hot_spots.begin(), bdf.summary.hot_spots.end(),
                                    [&](const HotSpot& b) { return b.place == spot.place; });
    if (found == bdf.summary.hot_spots.end()) {
      rows.push_back(Row::failed(table, row, "not among the hot spots of bdf-i3"));
      continue;
    }
    const char* const another = "another vehicle than the paper's; the difference below has the bound";
    rows.push_back(Row::measure(table, row, "von Mises stress by hht-i3, MPa", 1e-6 * spot.von_mises).because(another));
    rows.push_back(Row::measure(table, row, "by bdf-i3, MPa", 1e-6 * found->von_mises).because(another));
    rows.push_back(Row::measure(table, row, "time by hht-i3, s", spot.t).because(another));
    rows.push_back(Row::measure(table, row, "time by bdf-i3, s", found->t).because(another));
    largest = std::max(largest, std::abs(found->von_mises / spot.von_mises - 1));
  }
  rows.push_back(Row::at_most(table, "the ten hot spots", "largest difference of stress, %",
                              printed_value("hht.atv.stress.difference"), 100 * largest)
                     .printed_as("hht.atv.stress.difference")
                     .with({"hht.table1.caption.spots"})
                     .because("what the paper says of its own two runs"));
}

void compare_pitch(std::vector<Row>& rows, const std::string& table, const VehicleRun& hht, const VehicleRun& bdf) {
  const std::vector<double> a = hht.trajectory.column("pitch_rate"), b = bdf.trajectory.column("pitch_rate");
  rows.push_back(Row::at_most(table, "engine", "largest difference of the pitch rate, % of the largest rate",
                              printed_value("hht.atv.speed.difference"), 100 * max_error(a, b) / max_abs(a))
                     .printed_as("hht.atv.speed.difference")
                     .because("what the paper says of its own two runs"));
}

void draw(const StudyContext& context, const VehicleRun& hht, const VehicleRun& bdf) {
  const auto picture = context.picture("hht_atv.png");
  if (!picture) return;
  const std::vector<double> t = hht.trajectory.time(0), a = hht.trajectory.column("pitch_rate"),
                            b = bdf.trajectory.column("pitch_rate");
  const std::string force = "joint.pivot_r.force.z";
  std::vector<double> difference(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) difference[i] = 100 * (b[i] - a[i]) / max_abs(a);
  PlotRequest plot;
  plot.title = "Vehicle on four posts: hht-i3 at 1e-5 and bdf-i3 at 1e-4";
  plot.xlabel = "time, s";
  plot.panels = {
      {"force in the right rear ball joint, N",
       {{t, hht.trajectory.column(force), "hht-i3", {}, false}, {t, bdf.trajectory.column(force), "bdf-i3", {}, true}},
       false},
      {"pitch rate of the engine, rad/s", {{t, a, "hht-i3", {}, false}, {t, b, "bdf-i3", {}, true}}, false},
      {"its difference, % of the largest rate", {{t, difference, "", {}, false}}, false}};
  plot.width = 1000;
  plot.height = 900;
  draw_plot(plot, *picture);
}

// ---- The same error -------------------------------------------------------------------------------------------------

// Of the ten greatest stresses of the reference, relative.
std::optional<double> stress_error(const VehicleRun& run, const VehicleRun& reference) {
  const std::map<std::string, double> ours = run.stresses();
  double largest = 0;
  for (int i = 0; i < spots; ++i) {
    const HotSpot& exact = reference.summary.hot_spots.at(static_cast<std::size_t>(i));
    const auto found = ours.find(exact.place);
    if (found == ours.end()) return std::nullopt;
    largest = std::max(largest, std::abs(found->second / exact.von_mises - 1));
  }
  return largest;
}

void cost_over_error(const StudyContext& context, std::vector<Row>& rows, double end) {
  const std::string table = "vehicle: cost over the error of the ten greatest stresses";
  const double fine = printed_value("hht.atv.hmax") / 5;
  const Setting by_hht{"hht-i3", 1e-2 * printed_value("hht.atv.error.hht"), {"alpha=-0.05"}, fine},
      by_bdf{"bdf-i3", 1e-2 * printed_value("hht.atv.error.gstiff"), {"most_order=2"}, fine};
  context.note("vehicle: references");
  const VehicleRun reference = run_vehicle(by_hht, end), other = run_vehicle(by_bdf, end);
  rows.push_back(Row::measure(table, "references, " + by_hht.name() + " and " + by_bdf.name(),
                              "difference of their stresses, %", 100 * stress_error(other, reference).value_or(NAN))
                     .because("below this the errors of this table mean nothing"));
  const double hht = printed_value("hht.atv.error.hht"), bdf = printed_value("hht.atv.error.gstiff");
  const Setting settings[] = {{"hht-i3", hht},
                              {"hht-i3", 0.1 * hht},
                              {"bdf-i3", bdf},
                              {"bdf-i3", 0.1 * bdf},
                              {"bdf-i3", bdf, {"most_order=2"}},
                              {"bdf-i3", 0.1 * bdf, {"most_order=2"}}};
  for (const Setting& setting : settings) {
    context.note("vehicle: " + setting.name());
    guard(rows, table, setting.name(), [&] {
      const VehicleRun run = run_vehicle(setting, end);
      rows.push_back(Row::measure(table, setting.name(), "largest error of the ten greatest stresses, %",
                                  100 * stress_error(run, reference).value_or(NAN))
                         .because("beside the time, for comparison of the methods"));
      work_rows(rows, table, setting, run);
    });
  }
}

void add_rows(const StudyContext& context, std::vector<Row>& rows) {
  guard(rows, "vehicle: counts", file, [&] { count(rows); });
  const double end = context.full ? printed_value("hht.atv.duration") : 0.3;
  char table[64];
  std::snprintf(table, sizeof table, "vehicle: two methods, %g s", end);
  guard(rows, table, file, [&] {
    const Setting by_hht{"hht-i3", printed_value("hht.atv.error.hht")},
        by_bdf{"bdf-i3", printed_value("hht.atv.error.gstiff")};
    context.note("vehicle: hht-i3");
    const VehicleRun hht = run_vehicle(by_hht, end);
    context.note("vehicle: bdf-i3");
    const VehicleRun bdf = run_vehicle(by_bdf, end);
    work_rows(rows, table, by_hht, hht);
    work_rows(rows, table, by_bdf, bdf);
    std::vector<std::string> settings{"hht.atv.error.gstiff", "hht.atv.error.hht", "hht.atv.hmax",
                                      "hht.atv.index.gstiff"};
    if (context.full) settings.emplace_back("hht.atv.duration");
    rows.push_back(Row::measure(table, "both", "time of bdf-i3 by that of hht-i3", bdf.seconds / hht.seconds)
                       .with(settings)
                       .beside(printed_number("hht.atv.cpu.gstiff").value / printed_number("hht.atv.cpu.hht").value,
                               "the paper's two times, one by the other")
                       .because(why::machine_time));
    compare_stresses(rows, table, hht, bdf);
    compare_pitch(rows, table, hht, bdf);
    draw(context, hht, bdf);
  });
  if (context.full)
    guard(rows, "vehicle: cost over the error of the ten greatest stresses", file,
          [&] { cost_over_error(context, rows, end); });
}

}  // namespace
}  // namespace hht_atv_study

void add_atv_rows(const StudyContext& context, std::vector<Row>& rows) { hht_atv_study::add_rows(context, rows); }

}  // namespace trammel
