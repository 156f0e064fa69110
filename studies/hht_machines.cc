#include "studies/hht_machines.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "app/belt.h"
#include "app/track.h"
#include "studies/printed.h"
#include "trammel/read/read_model.h"
#include "trammel/write/plot.h"

namespace trammel {
namespace hht_machines {
namespace {

const char* const machine_prototype = "a prototype with all pairs in the matrix";

// The settings of one run, and the printed numbers among them.
struct Setting {
  std::string name, method;
  double tolerance = 0;
  std::vector<std::string> options = {};
  std::vector<std::string> printed = {};
  double own_ratio = 0;  // of its time to that of HHT, a prototype's
};

ModelRun run_with(const Model& model, const Setting& setting) {
  return run_model(
      changed_model(model, {.method = setting.method, .tolerance = setting.tolerance, .options = setting.options}));
}

// Root mean square and greatest difference over the run, by the greatest value of the reference.
struct Difference {
  double rms = 0, greatest = 0;
};
Difference difference(const ModelRun& ours, const ModelRun& reference, const std::string& signal) {
  const std::vector<double> a = ours.column(signal), b = reference.column(signal);
  const double peak = max_abs(b);
  double sum = 0;
  for (std::size_t i = 0; i < b.size(); ++i) sum += (a.at(i) - b[i]) * (a[i] - b[i]);
  return {std::sqrt(sum / static_cast<double>(b.size())) / peak, max_error(a, b) / peak};
}

// "12/340/7 steps of order 1/2/..."
double mean_order(const std::string& remark) {
  double steps = 0, sum = 0;
  const char* at = remark.c_str();
  for (int order = 1;; ++order) {
    char* end = nullptr;
    const double count = std::strtod(at, &end);
    if (end == at) break;
    steps += count;
    sum += order * count;
    if (*end != '/') break;
    at = end + 1;
  }
  return steps > 0 ? sum / steps : 0;
}

void work_rows(const std::string& table, const Setting& setting, const RunSummary& s, std::vector<Row>& rows) {
  const auto count = [&](const char* what, double value) {
    rows.push_back(Row::measure(table, setting.name, what, value).because(why::work).with(setting.printed));
  };
  count("steps", static_cast<double>(s.steps));
  count("steps rejected", static_cast<double>(s.rejected_error + s.rejected_newton + s.rejected_evaluation));
  count("Newton iterations", static_cast<double>(s.counts.newton_iterations));
  count("Jacobians evaluated", static_cast<double>(s.counts.linearisations));
  count("Jacobians factored", static_cast<double>(s.counts.factorisations + s.counts.refactorisations));
  count("pairs near, mean", s.mean_pairs_near);
  if (setting.method.rfind("bdf", 0) == 0) count("order, mean over the steps", mean_order(s.remark));
  rows.push_back(Row::measure(table, setting.name, "seconds of steps", s.times.steps));
}

std::string label_of(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", seconds);
  return text;
}

double count_type(const std::vector<Item>& items, std::string_view type) {
  return static_cast<double>(
      std::count_if(items.begin(), items.end(), [&](const Item& item) { return item.type == type; }));
}

const char* const other_counting = "another counting: which variables of forces are unknowns is not printed";

// ---- the track ------------------------------------------------------------------------------------------------------

void track_counts(const Model& model, std::vector<Row>& rows) {
  const std::string table = "track (section 4.2): the model";
  const auto counted = [&](const char* what, const char* id, double ours) {
    rows.push_back(Row::reproduce(table, "track", what, id, ours, 6).because(why::exact));
  };
  const auto joints = [&](const char* type) { return count_type(model.joints, type); };
  const Equations equations(model, Pairs::near);
  const Sizes sizes = equations.sizes();
  counted("moving parts", "hht.track.parts", static_cast<double>(model.bodies.size()));
  counted("planar joints", "hht.track.joints.planar", joints("planar"));
  counted("revolute joints", "hht.track.joints.revolute", joints("revolute"));
  counted("translational joints", "hht.track.joints.translational", joints("translational"));
  counted("fixed joints", "hht.track.joints.fixed", joints("fixed"));
  counted("inline joint primitives", "hht.track.joints.inline", joints("point_on_line"));
  counted("motions", "hht.track.motions", static_cast<double>(model.motions.size()));
  counted("degrees of freedom", "hht.track.freedoms", sizes.nv - sizes.multipliers());
  const double contacts = count_type(model.forces, "contact") + count_type(model.forces, "translational_stop");
  counted("contacts", "hht.track.contacts", contacts);
  const double own = sizes.nv + sizes.multipliers();
  rows.push_back(Row::measure(table, "track", "equations: velocities and constraints", own)
                     .because(other_counting)
                     .printed_as("hht.track.equations.hht"));
  rows.push_back(Row::measure(table, "track", "equations: six more for each contact", own + 6 * contacts)
                     .because(other_counting)
                     .printed_as("hht.track.equations.hht"));
}

// ---- the belt -------------------------------------------------------------------------------------------------------

void belt_counts(const Model& model, std::vector<Row>& rows) {
  const std::string table = "belt (section 4.1): the model";
  const auto counted = [&](const char* what, const char* id, double ours) {
    rows.push_back(Row::reproduce(table, "belt", what, id, ours, 6).because(why::exact));
  };
  const Equations equations(model, Pairs::near);
  const Sizes sizes = equations.sizes();
  const auto segments = static_cast<double>(std::count_if(
      model.bodies.begin(), model.bodies.end(), [](const Body& body) { return body.name.rfind("s_", 0) == 0; }));
  const double elements = count_type(model.forces, "bushing");
  counted("segments", "hht.belt.segments", segments);
  counted("elements of force between them", "hht.belt.vforces", elements);
  const double own = sizes.nv + sizes.multipliers();
  rows.push_back(Row::measure(table, "belt", "equations: velocities and constraints", own)
                     .because(other_counting)
                     .printed_as("hht.belt.equations"));
  rows.push_back(Row::measure(table, "belt", "equations: three more for each element",
                              own + printed_value("hht.belt.vforce.components") * elements)
                     .because(other_counting)
                     .printed_as("hht.belt.equations")
                     .with({"hht.belt.vforce.components"}));
}

// ---- both -----------------------------------------------------------------------------------------------------------

// A signal of the picture; `bound`: the printed number of per cent that two methods differ by at most.
struct Drawn {
  std::string name, what;
  std::string bound = {};
};

struct Machine {
  std::string table, picture, title;
  std::vector<Drawn> signals;
  std::string speedup = {};  // the printed number; empty: none
};

void draw_machine(const StudyContext& context, const Machine& machine,
                  const std::vector<std::pair<std::string, const ModelRun*>>& runs) {
  const auto file = context.picture(machine.picture);
  if (!file) return;
  PlotRequest plot;
  plot.title = machine.title;
  plot.xlabel = "time, s";
  for (const Drawn& signal : machine.signals) {
    PlotPanel panel{signal.what, {}, false};
    for (const auto& [name, run] : runs)
      panel.curves.push_back({run->time(), run->column(signal.name), name, {}, false});
    plot.panels.push_back(std::move(panel));
  }
  plot.width = 1000;
  plot.height = 800;
  draw_plot(plot, *file);
}

void difference_rows(const Machine& machine, const Setting& setting, const ModelRun& run, const ModelRun& reference,
                     std::vector<Row>& rows) {
  for (const Drawn& signal : machine.signals) {
    const Difference d = difference(run, reference, signal.name);
    const std::string by = signal.what + ": difference from hht-i3, % of its peak, ";
    rows.push_back(Row::measure(machine.table, setting.name, by + "rms", 100 * d.rms)
                       .because("the greatest is beside it; the source prints no rms"));
    if (signal.bound.empty()) {
      rows.push_back(Row::measure(machine.table, setting.name, by + "greatest", 100 * d.greatest)
                         .because("the source shows curves without numbers"));
    } else {
      rows.push_back(
          Row::at_most(machine.table, setting.name, by + "greatest", printed_value(signal.bound), 100 * d.greatest)
              .because("the source: less than this")
              .printed_as(signal.bound));
    }
  }
}

// HHT, and beside it others with what they differ by and cost. The first of them has the printed settings.
void compare_methods(const StudyContext& context, const Model& model, const Machine& machine, const Setting& hht,
                     const std::vector<Setting>& others, std::vector<Row>& rows) {
  context.note(machine.table + ": " + hht.name);
  std::optional<ModelRun> reference;
  guard(rows, machine.table, hht.name, [&] {
    reference = run_with(model, hht);
    work_rows(machine.table, hht, reference->result.summary, rows);
  });
  if (!reference) return;
  const double seconds = reference->result.summary.times.steps;
  std::vector<ModelRun> runs;
  runs.reserve(others.size());
  std::vector<std::pair<std::string, const ModelRun*>> drawn{{hht.name, &*reference}};
  for (const Setting& setting : others) {
    context.note(machine.table + ": " + setting.name);
    guard(rows, machine.table, setting.name, [&] {
      runs.push_back(run_with(model, setting));
      const ModelRun& run = runs.back();
      drawn.emplace_back(setting.name, &run);
      work_rows(machine.table, setting, run.result.summary, rows);
      difference_rows(machine, setting, run, *reference, rows);
      rows.push_back(Row::measure(machine.table, setting.name, "seconds, by those of hht-i3",
                                  run.result.summary.times.steps / seconds));
      if (!setting.printed.empty() && !machine.speedup.empty()) std::move(rows.back()).printed_as(machine.speedup);
      if (setting.own_ratio > 0) std::move(rows.back()).beside(setting.own_ratio, machine_prototype);
    });
  }
  draw_machine(context, machine, drawn);
}

std::string lasting(const std::string& name, double end) { return name + ", " + label_of(end) + " s"; }

void track(const StudyContext& context, std::vector<Row>& rows) {
  Model model = read_model_text(track_model({}), "track.yaml");
  guard(rows, "track (section 4.2): the model", "track", [&] { track_counts(model, rows); });
  // The drive sets in at 0.5 s and has its speed at 1.5 s.
  model.simulation.end = context.full ? printed_value("hht.track.duration") : 2;
  Setting hht{"hht-i3, 1e-5 (paper)",
              "hht-i3",
              printed_value("hht.track.error.hht"),
              {},
              {"hht.track.error.hht", "hht.track.error.hht.again", "hht.track.maxit.hht", "hht.track.index.hht"}};
  if (context.full) hht.printed.emplace_back("hht.track.duration");
  const std::vector<Setting> others = {
      {"bdf-si2, 1e-2, order 1 (paper)",
       "bdf-si2",
       printed_value("hht.track.error.gstiff"),
       {"most_order=1", "most_iterations=10"},
       {"hht.track.error.gstiff", "hht.track.kmax.gstiff", "hht.track.maxit.gstiff", "hht.track.index.gstiff"},
       1.92},
      {"bdf-si2, 1e-3", "bdf-si2", 1e-3},
      {"bdf-i3, 1e-4", "bdf-i3", 1e-4},
  };
  compare_methods(context, model,
                  {lasting("track (section 4.2)", model.simulation.end),
                   "hht_track.png",
                   "Link 8 of the track (the paper's figure 7)",
                   {{"body.link_8.velocity.x", "velocity x, m/s"},
                    {"body.link_8.velocity.y", "velocity y, m/s"},
                    {"body.link_8.acceleration.x", "acceleration x, m/s^2"}},
                   "hht.track.speedup"},
                  hht, others, rows);
}

void belt(const StudyContext& context, std::vector<Row>& rows) {
  Model model = read_model_text(belt_model({}), "belt.yaml");
  guard(rows, "belt (section 4.1): the model", "belt", [&] { belt_counts(model, rows); });
  constexpr double milliseconds = 1e-3;
  model.simulation.end = context.full ? milliseconds * printed_value("hht.belt.duration") : 0.02;
  Setting hht{"hht-i3, 1e-5 (paper)", "hht-i3", printed_value("hht.belt.error.hht"), {}, {"hht.belt.error.hht"}};
  if (context.full) hht.printed.emplace_back("hht.belt.duration");
  const std::vector<Setting> others = {
      {"bdf-i3, 1e-4 (paper)", "bdf-i3", printed_value("hht.belt.error.gstiff"), {}, {"hht.belt.error.gstiff"}, 0.92},
      {"bdf-i3, 1e-4, order 2 at most", "bdf-i3", 1e-4, {"most_order=2"}},
  };
  compare_methods(context, model,
                  {lasting("belt (section 4.1)", model.simulation.end),
                   "hht_belt.png",
                   "Alternator of the belt (the paper's figures 2 and 4)",
                   {{"joint.alternator_axle.force.x", "reaction x, N", "hht.belt.force.difference"},
                    {"body.alternator.angular_velocity.z", "angular velocity, rad/s", "hht.belt.speed.difference"}}},
                  hht, others, rows);
}

}  // namespace
}  // namespace hht_machines

void track_rows(const StudyContext& context, std::vector<Row>& rows) { hht_machines::track(context, rows); }
void belt_rows(const StudyContext& context, std::vector<Row>& rows) { hht_machines::belt(context, rows); }

}  // namespace trammel
