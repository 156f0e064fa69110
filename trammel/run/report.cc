// The summary of a run and the report of a failure, for people and as JSON.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "trammel/run/simulation.h"

namespace trammel {
namespace {

// "1 solve", "2 solves"
std::string counted(long count, const char* noun) { return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s"); }

nlohmann::ordered_json real_time_json(const RealTimeReport& r) {
  nlohmann::ordered_json j = {{"budget", r.budget},
                              {"mean", r.mean},
                              {"mean_with_output", r.with_output},
                              {"percentile_99.9", r.percentile},
                              {"worst", r.worst},
                              {"worst_by_processor", r.worst_computing},
                              {"memory_locked", r.locked},
                              {"others_give_way", r.first},
                              {"processor_away", r.away},
                              {"steps", r.steps},
                              {"late", r.overruns},
                              {"latest", r.latest}};
  if (r.given_up) j["given_up"] = {{"distance", *r.given_up}, {"t", r.given_up_at}};
  return j;
}

}  // namespace

std::string to_text(const RunSummary& s) {
  std::string out;
  const auto line = [&out](const std::string& name, const std::string& value) {
    out += fmt::format("  {:<15} {}\n", name, value);
  };
  const Counts& c = s.counts;
  const double steps = s.steps > 0 ? static_cast<double>(s.steps) : 1;
  line("time", fmt::format("{:.6g} of {:.6g} s with {}", s.reached, s.end, s.method));
  if (!s.remark.empty()) line(s.formulation, s.remark);
  line("system", fmt::format("{} velocities, {}, {} of freedom{}", s.sizes.nv,
                             counted(s.sizes.multipliers(), "constraint row"), counted(s.freedoms, "degree"),
                             s.redundant > 0 ? fmt::format(", {} redundant rows: reactions of least norm, L = {:.4g} m",
                                                           s.redundant, s.length)
                                             : ""));
  line("steps",
       fmt::format("{} accepted, {:.3g} to {:.3g} s", s.steps, s.steps > 0 ? s.least_step : 0.0, s.greatest_step));
  line("rejected", fmt::format("{} by error, {} by Newton, {} by evaluation, {} by angle{}", s.rejected_error,
                               s.rejected_newton, s.rejected_evaluation, s.rejected_angle,
                               s.rejected_energy > 0 ? fmt::format(", {} by energy", s.rejected_energy) : ""));
  line("work", fmt::format("{}, {}, {}, {}, {}", counted(c.evaluations, "evaluation"),
                           counted(c.linearisations, "linearisation"), counted(c.factorisations, "factorisation"),
                           counted(c.refactorisations, "refactorisation"), counted(c.solves, "solve")));
  if (const Counts& o = s.output_work; o.steps > 0)
    line("for outputs",
         fmt::format("{}: {}, {}, {}, {}, {}", counted(o.steps, "step"), counted(o.evaluations, "evaluation"),
                     counted(o.linearisations, "linearisation"), counted(o.factorisations, "factorisation"),
                     counted(o.refactorisations, "refactorisation"), counted(o.solves, "solve")));
  if (s.outputs_interpolated > 0)
    line("for outputs", fmt::format("{} interpolated: no step led to them", counted(s.outputs_interpolated, "row")));
  line("Newton", fmt::format("{:.2f} iterations a step; start values of degree 0/1/2/3 in {}/{}/{}/{} steps",
                             static_cast<double>(c.newton_iterations) / steps, c.predictor_degree[0],
                             c.predictor_degree[1], c.predictor_degree[2], c.predictor_degree[3]));
  if (c.unrefined > 0)
    line("accelerations", fmt::format("{} ended after {} sweeps of refinement", counted(c.unrefined, "solve"),
                                      SaddleSystem::most_sweeps));
  if (s.pairs > 0)
    line("contacts",
         fmt::format("{} in sets; near and evaluated {:.1f} in the mean, {} at most; {}", counted(s.pairs, "pair"),
                     s.mean_pairs_near, s.most_pairs_near, counted(s.pair_lists, "list")));
  if (!s.limiting.empty())
    line("step limited", fmt::format("most often by {} ({:.0f} % of the steps)", s.limiting,
                                     100.0 * static_cast<double>(s.limiting_steps) / steps));
  line("constraints", fmt::format("largest residual {:.2g} in positions, {:.2g} in velocities", s.position_residual,
                                  s.velocity_residual));
  line("energy", fmt::format("{:.6g} J at the start; kinetic {:.6g}, potential {:.6g}, dissipated {:.6g}, external "
                             "{:.6g}; largest imbalance {:.2g} J",
                             s.energy.first, s.energy.kinetic, s.energy.potential, s.energy.dissipated,
                             s.energy.external, s.energy.largest_imbalance));
  for (std::size_t i = 0; i < s.hot_spots.size(); ++i) {
    const HotSpot& spot = s.hot_spots[i];
    line(i == 0 ? "stress" : "", fmt::format("{:.5g} MPa in body '{}', {}, at t = {:.6g} s", 1e-6 * spot.von_mises,
                                             spot.body, spot.place, spot.t));
  }
  if (s.events > 0) line("events", std::to_string(s.events));
  if (s.values_missing > 0)
    line("outputs", fmt::format("{} could not be evaluated: recorded as nan", counted(s.values_missing, "value")));
  if (s.outputs_as_stepped > 0)
    line("outputs",
         fmt::format("{} with accelerations and reactions of the method itself", counted(s.outputs_as_stepped, "row")));
  line("wall time",
       fmt::format("{:.3g} s start, {:.3g} s steps, {:.3g} s output", s.times.start, s.times.steps, s.times.output));
  if (s.real_time) {
    const RealTimeReport& r = *s.real_time;
    line("real time",
         fmt::format("a step takes {:.3g} us in the mean ({:.3g} with what is recorded), 99.9 % at most "
                     "{:.3g}, worst {:.3g}, of {:.3g} us",
                     1e6 * r.mean, 1e6 * r.with_output, 1e6 * r.percentile, 1e6 * r.worst, 1e6 * r.budget));
    line("",
         fmt::format("worst by the processor's clock, without waiting for a core: {:.3g} us", 1e6 * r.worst_computing));
    line("", fmt::format("the machine took the processor away for up to {:.3g} us while the run only waited",
                         1e6 * r.away));
    line("", fmt::format("memory {}, other programs {}", r.locked ? "locked" : "not locked, for want of the right to",
                         r.first ? "give way" : "do not give way, for want of the right to ask"));
    line("", r.overruns == 0
                 ? "no step was late"
                 : fmt::format("{} late, by at most {:.3g} ms", counted(r.overruns, "step"), 1e3 * r.latest));
    if (r.given_up)
      line("", fmt::format("{:.2g} m or rad (L = {:.4g} m) from the same steps converged, at most, at t = {:.4g} s",
                           *r.given_up, s.length, r.given_up_at));
  }
  return out;
}

std::string to_json(const RunSummary& s) {
  const Counts& c = s.counts;
  nlohmann::ordered_json j = {
      {"method", s.method},
      {"formulation", s.formulation},
      {"remark", s.remark},
      {"title", s.title},
      {"end", s.end},
      {"reached", s.reached},
      {"outputs", s.outputs},
      {"values_missing", s.values_missing},
      {"events", s.events},
      {"outputs_as_stepped", s.outputs_as_stepped},
      {"sizes",
       {{"nq", s.sizes.nq},
        {"nv", s.sizes.nv},
        {"ng", s.sizes.ng},
        {"nk", s.sizes.nk},
        {"nx", s.sizes.nx},
        {"nV", s.sizes.nV},
        {"nF", s.sizes.nF},
        {"nu", s.sizes.nu}}},
      {"degrees_of_freedom", s.freedoms},
      {"redundant_rows", s.redundant},
      {"length_scale", s.length},
      {"steps", s.steps},
      {"least_step", s.steps > 0 ? s.least_step : 0.0},
      {"greatest_step", s.greatest_step},
      {"rejected",
       {{"error", s.rejected_error},
        {"newton", s.rejected_newton},
        {"evaluation", s.rejected_evaluation},
        {"angle", s.rejected_angle},
        {"energy", s.rejected_energy}}},
      {"counts",
       {{"evaluations", c.evaluations},
        {"linearisations", c.linearisations},
        {"combinations", c.combinations},
        {"factorisations", c.factorisations},
        {"refactorisations", c.refactorisations},
        {"solves", c.solves},
        {"newton_iterations", c.newton_iterations},
        {"unrefined", c.unrefined},
        {"predictor_degree", c.predictor_degree}}},
      {"output_steps",
       {{"steps", s.output_work.steps},
        {"evaluations", s.output_work.evaluations},
        {"linearisations", s.output_work.linearisations},
        {"factorisations", s.output_work.factorisations},
        {"refactorisations", s.output_work.refactorisations},
        {"solves", s.output_work.solves},
        {"newton_iterations", s.output_work.newton_iterations}}},
      {"outputs_interpolated", s.outputs_interpolated},
      {"limiting", s.limiting},
      {"limiting_steps", s.limiting_steps},
      {"residual", {{"position", s.position_residual}, {"velocity", s.velocity_residual}}},
      {"energy",
       {{"first", s.energy.first},
        {"kinetic", s.energy.kinetic},
        {"potential", s.energy.potential},
        {"dissipated", s.energy.dissipated},
        {"external", s.energy.external},
        {"largest_imbalance", s.energy.largest_imbalance},
        {"exchanged", s.energy.exchanged()}}},
      {"seconds", {{"start", s.times.start}, {"steps", s.times.steps}, {"output", s.times.output}}},
  };
  if (s.real_time) j["real_time"] = real_time_json(*s.real_time);
  if (s.pairs > 0)
    j["contacts"] = {{"pairs", s.pairs},
                     {"lists", s.pair_lists},
                     {"mean_near", s.mean_pairs_near},
                     {"most_near", s.most_pairs_near}};
  for (const HotSpot& spot : s.hot_spots)
    j["stress"].push_back({{"body", spot.body},
                           {"place", spot.place},
                           {"position", {spot.position.x(), spot.position.y(), spot.position.z()}},
                           {"von_mises", spot.von_mises},
                           {"t", spot.t}});
  return j.dump(2);
}

std::string to_text(const FailureReport& f) {
  std::string out = fmt::format("the run stopped at t = {:.9g} s (step {:.3g} s): {} [{}]\n", f.t, f.h, f.what, f.id);
  if (!f.part.empty()) out += fmt::format("  part of the model: {}\n", f.part);
  if (!f.causes.empty()) out += "  likely causes:\n";
  for (std::size_t i = 0; i < f.causes.size(); ++i) {
    const Cause& cause = f.causes[i];
    out += fmt::format("    {}. {} [{}]\n", i + 1, cause.text, cause.id);
    if (!cause.evidence.empty()) out += fmt::format("       {}\n", cause.evidence);
  }
  if (!f.constraint.empty()) out += fmt::format("  largest violation: {}\n", f.constraint);
  if (!f.body.empty()) out += fmt::format("  moving most: {}\n", f.body);
  if (!f.try_next.empty()) out += "  what to try:\n";
  for (const std::string& text : f.try_next) out += "    - " + text + "\n";
  if (!f.causes.empty()) out += fmt::format("  more: trammel help {}\n", f.causes.front().id);
  if (!f.state_file.empty()) out += "  last good state: " + f.state_file + "\n";
  return out;
}

std::string to_json(const FailureReport& f) {
  nlohmann::ordered_json causes = nlohmann::ordered_json::array(), attempts = nlohmann::ordered_json::array();
  for (const Cause& cause : f.causes) {
    causes.push_back({{"id", cause.id},
                      {"part", cause.part},
                      {"text", cause.text},
                      {"evidence", cause.evidence},
                      {"weight", cause.weight}});
  }
  for (const AttemptRecord& a : f.attempts) {
    attempts.push_back({{"t", a.t},
                        {"h", a.h},
                        {"accepted", a.accepted},
                        {"verdict", to_text(a.verdict)},
                        {"error", a.error},
                        {"newton_iterations", a.iterations}});
  }
  const nlohmann::ordered_json j = {{"id", f.id},
                                    {"t", f.t},
                                    {"h", f.h},
                                    {"what", f.what},
                                    {"part", f.part},
                                    {"constraint", f.constraint},
                                    {"body", f.body},
                                    {"causes", causes},
                                    {"try", f.try_next},
                                    {"attempts", attempts},
                                    {"state_file", f.state_file}};
  return j.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace trammel
