// trammel info MODEL: what a model holds, its degrees of freedom, sizes, matrices, and how various programs would count
// its equations.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <numbers>
#include <optional>

#include "app/common.h"
#include "app/graph.h"
#include "app/verbs.h"
#include "trammel/elements/registry.h"
#include "trammel/equations/saddle.h"
#include "trammel/run/simulation.h"

namespace trammel {
namespace {

struct InfoArguments : ModelArguments {
  std::string graph;
  bool json = false, all = false;
};

std::string body_name(const Model& model, int body) {
  return body == ground ? "ground" : model.bodies[static_cast<std::size_t>(body)].name;
}

std::vector<std::string> attached_bodies(const Model& model, const Item& item) {
  // The first two; a coupling of joints acts on all its bodies, while a force may only look at further ones.
  const ElementDescription* joint = find_element(Category::joint, item.type);
  const bool coupling = joint != nullptr && joint->attachment == Attachment::joints;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < item.frames.size() && (i < 2 || coupling); ++i) {
    std::string name = body_name(model, model.frames[static_cast<std::size_t>(item.frames[i])].body);
    if (i < 2 || std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

// "2 revolute, 1 spherical", in the order of first appearance.
std::vector<std::pair<std::string, int>> count_types(const std::vector<Item>& items) {
  std::vector<std::pair<std::string, int>> counts;
  for (const Item& item : items) {
    auto found = counts.begin();
    while (found != counts.end() && found->first != item.type) ++found;
    if (found == counts.end())
      counts.emplace_back(item.type, 1);
    else
      ++found->second;
  }
  return counts;
}

std::string types_text(const std::vector<Item>& items) {
  std::string text;
  for (const auto& entry : count_types(items)) {
    text += (text.empty() ? "" : ", ") + std::to_string(entry.second) + " " + entry.first;
  }
  return text.empty() ? "none" : text;
}

Json types_json(const std::vector<Item>& items) {
  Json j = Json::object();
  for (const auto& entry : count_types(items)) j[entry.first] = entry.second;
  return j;
}

// ---- Matrices
// --------------------------------------------------------------------------------------------------------

struct Matrices {
  int size = 0;
  long vv = 0, gv = 0, newton = 0, fill = 0;
  long equations_bytes = 0, newton_bytes = 0;
};

// The Newton matrix of index 3 at the start, for a step of 1 ms: what is zero in it does not depend on the step.
Matrices measure_matrices(const Equations& equations, const State& state, const Rates& rates) {
  constexpr double h = 1e-3, beta = 0.25, gamma = 0.5;
  Workspace work = equations.make_workspace();
  Partials partials = equations.make_partials(Detail::newton);
  SaddleSystem saddle(equations);
  Matrices m;
  m.size = saddle.size();
  m.vv = equations.vv().size();
  m.gv = equations.gv().size();
  m.newton = saddle.pattern().size();
  m.equations_bytes = equations.memory_bytes();
  if (equations.linearise(state, rates, Detail::newton, partials, work) == Eval::ok) {
    saddle.combine(partials, {1, beta * h * h, beta * h * h, gamma * h}, nullptr);
    if (saddle.factor()) m.fill = saddle.solver().fill();
  }
  m.newton_bytes = saddle.memory_bytes();
  return m;
}

// ---- Ways of counting
// ------------------------------------------------------------------------------------------------

struct Counting {
  std::string key, text;
  long equations = 0;
};

// Programs that know only spatial bodies count six freedoms for each and one for each mode, and every row of a joint.
std::vector<Counting> ways_of_counting(const Equations& equations, const std::optional<LoopAnalysis>& rank) {
  const Sizes s = equations.sizes();
  const auto bodies = static_cast<long>(equations.model().bodies.size());
  long rows = 0, modes = 0;
  for (const Body& body : equations.model().bodies) modes += body.modal ? body.modal->modes() : 0;
  for (int c = 0; c < equations.constraint_count(); ++c) rows += equations.constraint(c).rows();
  std::vector<Counting> ways{
      {"trammel_index3", "here, index 3: velocities' increments and multipliers of one Newton system",
       s.nv + s.multipliers()},
      {"adams_hht", "ADAMS with HHT, index 3: 6 a body, 1 a mode and 1 a constraint row", 6 * bodies + modes + rows},
      {"adams_gstiff", "ADAMS with GSTIFF (BDF), index 3: 15 a body, 2 a mode and 1 a constraint row",
       15 * bodies + 2 * modes + rows},
      {"euler_parameters", "Euler parameters, index 3: 7 a body, 1 normalisation each, 1 a mode, 1 a constraint row",
       8 * bodies + modes + rows},
      {"first_order_index2", "stabilised index 2, first order: positions, velocities, two multipliers a constraint row",
       2L * s.nv + 2L * s.multipliers()},
  };
  if (rank) {
    ways.push_back({"state_space", "state space, first order: 2 a degree of freedom", 2L * rank->freedoms_by_rank});
  }
  return ways;
}

// ---- Printing
// --------------------------------------------------------------------------------------------------------

struct Info {
  const Equations& equations;
  const InitialReport* start = nullptr;  // none: the mechanism could not be assembled
  std::optional<Matrices> matrices;
  std::vector<Counting> ways;
  double mass = 0;
};

Json constraint_json(const Equations& equations, int c) {
  const Equations::ConstraintInfo info = equations.constraint_info(c);
  return {{"name", info.item->name},
          {"type", info.item->type},
          {"bodies", attached_bodies(equations.model(), *info.item)},
          {"rows", info.rows}};
}

// Of the free body, Hz.
std::vector<double> frequencies_of(const ModalData& body) {
  std::vector<double> out;
  for (int j = 0; j < body.modes(); ++j)
    out.push_back(std::sqrt(body.stiffness(j, j) / body.modal_mass(j, j)) / (2 * std::numbers::pi));
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<double> held_frequencies_of(const ModalData& body) {
  return {body.held_frequencies.begin(), body.held_frequencies.end()};
}

// The first of them, and how far they reach.
std::string frequencies_text(const std::vector<double>& all) {
  std::string text;
  constexpr std::size_t shown = 6;
  for (std::size_t i = 0; i < std::min(shown, all.size()); ++i)
    text += fmt::format("{} {:.5g}", i > 0 ? "," : "", all[i]);
  if (all.size() > shown) text += fmt::format(" ... {:.5g}", all.back());
  return text + " Hz";
}

std::string modes_text(const ModalData& body) {
  const std::vector<double> all = frequencies_of(body), held = held_frequencies_of(body);
  if (all.empty()) return "no modes: it does not bend";
  std::string text = fmt::format("{}, free{}", counted(body.modes(), "mode"), frequencies_text(all));
  if (held.empty()) return text;
  text += fmt::format("; {}", counted(static_cast<long>(held.size()), "normal mode"));
  if (std::ssize(held) != body.normal_modes_asked) text += fmt::format(" ({} asked for)", body.normal_modes_asked);
  return text + ", interfaces held" + frequencies_text(held);
}

Json info_json(const Info& info, const std::string& file) {
  const Model& model = info.equations.model();
  const Sizes s = info.equations.sizes();
  Json bodies = Json::array(), joints = Json::array(), motions = Json::array(), forces = Json::array();
  for (const Body& body : model.bodies) {
    bodies.push_back({{"name", body.name}, {"kind", body.kind}, {"mass", body.mass}});
    if (!body.modal) continue;
    bodies.back()["frequencies"] = frequencies_of(*body.modal);
    bodies.back()["normal_modes_asked"] = body.modal->normal_modes_asked;
    bodies.back()["held_frequencies"] = held_frequencies_of(*body.modal);
  }
  for (int c = 0; c < info.equations.constraint_count(); ++c) {
    (info.equations.constraint_info(c).is_motion ? motions : joints).push_back(constraint_json(info.equations, c));
  }
  for (const Item& force : model.forces) {
    forces.push_back({{"name", force.name}, {"type", force.type}, {"bodies", attached_bodies(model, force)}});
  }
  Json j = {{"model", file}, {"title", model.title}, {"mass", info.mass}};
  j["bodies"] = bodies;
  j["joints"] = joints;
  j["motions"] = motions;
  j["forces"] = forces;
  j["types"] = {{"joints", types_json(model.joints)},
                {"motions", types_json(model.motions)},
                {"forces", types_json(model.forces)}};
  j["sizes"] = {{"nq", s.nq}, {"nv", s.nv}, {"ng", s.ng}, {"nk", s.nk},
                {"nx", s.nx}, {"nV", s.nV}, {"nF", s.nF}, {"nu", s.nu}};
  j["rank"] = info.start == nullptr ? Json() : rank_json(*info.start, item_names(info.equations));
  if (info.matrices) {
    const Matrices& m = *info.matrices;
    j["pattern"] = {{"vv_entries", m.vv},      {"gv_entries", m.gv},
                    {"newton_size", m.size},   {"newton_entries", m.newton},
                    {"fill_L_plus_U", m.fill}, {"memory_bytes", m.equations_bytes + m.newton_bytes}};
  } else {
    j["pattern"] = Json();
  }
  Json ways = Json::object();
  for (const Counting& way : info.ways) ways[way.key] = {{"equations", way.equations}, {"text", way.text}};
  j["equations"] = ways;
  return j;
}

using TextTable = std::vector<std::vector<std::string>>;

std::string with_limit(TextTable lines, bool all) {
  constexpr std::size_t most = 40;
  if (all || lines.size() <= most + 5) return aligned(lines, 2);
  const std::size_t hidden = lines.size() - most;
  lines.resize(most);
  return aligned(lines, 2) + fmt::format("  ... and {} more (--all shows them)\n", hidden);
}

std::string bodies_text(const Model& model) {
  std::map<std::string_view, int> kinds;
  for (const Body& body : model.bodies) ++kinds[body.kind];
  std::string text;
  for (const BodyDescription& kind : body_registry())
    if (kinds.count(kind.key) != 0)
      text += (text.empty() ? "" : ", ") + fmt::format("{} {}", kinds[kind.key], kind.key);
  return text.empty() ? "none" : text;
}

void print_contents(const Info& info, const std::string& file, bool all) {
  const Model& model = info.equations.model();
  std::printf("%s%s%s\n", file.c_str(), model.title.empty() ? "" : ": ", model.title.c_str());
  TextTable lines{{"bodies", bodies_text(model) + fmt::format("; {:.6g} kg in all", info.mass)},
                  {"joints", types_text(model.joints)},
                  {"motions", types_text(model.motions)},
                  {"forces", types_text(model.forces)},
                  {"outputs", std::to_string(model.outputs.size())},
                  {"parameters", std::to_string(model.parameters.size())}};
  std::fputs(aligned(lines, 2).c_str(), stdout);

  lines.clear();
  for (const Body& body : model.bodies) {
    lines.push_back({body.name, body.kind, fmt::format("{:.6g} kg", body.mass)});
    if (body.modal) lines.back().push_back(modes_text(*body.modal));
  }
  if (!lines.empty()) std::printf("\nbodies\n%s", with_limit(lines, all).c_str());
  lines.clear();
  for (int c = 0; c < info.equations.constraint_count(); ++c) {
    const Equations::ConstraintInfo constraint = info.equations.constraint_info(c);
    const std::vector<std::string> ends = attached_bodies(model, *constraint.item);
    lines.push_back({constraint.item->name, constraint.item->type + (constraint.is_motion ? " (motion)" : ""),
                     ends.empty() ? "" : ends.front() + " - " + ends.back(), counted(constraint.rows, "row")});
  }
  if (!lines.empty()) std::printf("\njoints and motions\n%s", with_limit(lines, all).c_str());
  lines.clear();
  for (const Item& force : model.forces) {
    const std::vector<std::string> ends = attached_bodies(model, force);
    lines.push_back({force.name, force.type, ends.empty() ? "" : ends.front() + " - " + ends.back()});
  }
  if (!lines.empty()) std::printf("\nforces\n%s", with_limit(lines, all).c_str());
}

void print_analysis(const Info& info) {
  const Sizes s = info.equations.sizes();
  if (info.start != nullptr) {
    std::printf("\nmobility\n  %s\n", counted(info.start->rank.loops, "loop").c_str());
    for (const std::string& line : rank_lines(*info.start, item_names(info.equations)))
      std::printf("  %s\n", line.c_str());
  }
  TextTable sizes{{"coordinates q", std::to_string(s.nq)},
                  {"velocities v", std::to_string(s.nv)},
                  {"multipliers", std::to_string(s.multipliers())}};
  const std::vector<std::pair<const char*, int>> rare{{"nonholonomic rows", s.nk},
                                                      {"states x", s.nx},
                                                      {"variables V", s.nV},
                                                      {"force states F", s.nF},
                                                      {"inputs u", s.nu}};
  for (const auto& entry : rare) {
    if (entry.second > 0) sizes.push_back({entry.first, std::to_string(entry.second)});
  }
  std::printf("\nsizes\n%s", aligned(sizes, 2).c_str());
  if (info.matrices) {
    const Matrices& m = *info.matrices;
    TextTable lines{
        {"M, force derivatives", fmt::format("{0} x {0}", s.nv), fmt::format("{} entries", m.vv)},
        {"G", fmt::format("{} x {}", s.multipliers(), s.nv), fmt::format("{} entries", m.gv)},
        {"Newton matrix", fmt::format("{0} x {0}", m.size),
         fmt::format("{} entries, {}", m.newton,
                     m.fill > 0 ? fmt::format("{} in L + U", m.fill) : std::string("singular here"))},
        {"memory", "",
         fmt::format("{:.3g} kB: equations {:.3g}, Newton matrix and factors {:.3g}",
                     1e-3 * static_cast<double>(m.equations_bytes + m.newton_bytes),
                     1e-3 * static_cast<double>(m.equations_bytes), 1e-3 * static_cast<double>(m.newton_bytes))}};
    std::printf("\nmatrices\n%s", aligned(lines, 2).c_str());
  }
  TextTable lines;
  for (const Counting& way : info.ways) lines.push_back({way.text, std::to_string(way.equations)});
  std::printf("\nequations, by different ways of counting\n%s", aligned(lines, 2).c_str());
}

int info_verb(const InfoArguments& a) {
  std::vector<Problem> warnings;
  Simulation simulation(load_model(a.file, a.changes, &warnings));
  const Equations& equations = simulation.equations();
  Info info{equations, nullptr, {}, {}, 0};
  for (const Body& body : equations.model().bodies) info.mass += body.mass;
  if (!a.graph.empty()) draw_topology(equations.model(), a.graph);

  // What cannot be assembled can still be counted.
  std::optional<Failure> failure;
  try {
    simulation.start();
    info.start = &simulation.initial();
    info.matrices = measure_matrices(equations, simulation.integrator().state(), simulation.integrator().rates());
  } catch (const Failure& f) {
    failure = f;
  }
  info.ways = ways_of_counting(equations, info.start == nullptr ? std::nullopt : std::optional(info.start->rank));
  const int code = failure ? static_cast<int>(failure->exit_code()) : 0;
  if (a.json) {
    Json j = info_json(info, a.file);
    j["exit_code"] = code;
    j["problems"] = to_json(failure ? failure->problems() : warnings);
    print_json(j);
  } else {
    print_contents(info, a.file, a.all);
    print_analysis(info);
    if (!a.graph.empty()) std::printf("\ngraph in %s\n", a.graph.c_str());
    std::fflush(stdout);
  }
  if (failure) std::fprintf(stderr, "%s\n", failure->what());
  return code;
}

}  // namespace

Verb add_info(CLI::App& app) {
  auto a = std::make_shared<InfoArguments>();
  CLI::App* verb = app.add_subcommand("info", "Show what a model holds: bodies, joints, degrees of freedom, sizes");
  add_model_arguments(*verb, *a);
  verb->add_flag("--all", a->all, "List every body, joint and force of a large model");
  verb->add_flag("--json", a->json, "Print as JSON");
  verb->add_option("--graph", a->graph, "Draw bodies and joints as a graph: .png or .svg (needs graphviz), or .dot")
      ->type_name("FILE");
  verb->footer(
      "Examples:\n"
      "  trammel info model.yaml\n"
      "  trammel info model.yaml --graph topology.svg\n"
      "\n"
      "Degrees of freedom are counted (bodies' freedoms less constraint rows) and found by rank in the assembled "
      "position;\n"
      "where the two differ, constraints are redundant, and the joints whose reactions are not unique are named.");
  return {verb, [a] { return info_verb(*a); }};
}

}  // namespace trammel
