// Redundant constraints and singular positions: a mechanism with more conditions than it needs must move as its twin
// without them, and its reactions must be those of least norm. On four-bar, ladder (N-four-bar) and Bricard's loop:
//   motion against the twin; reactions against the pseudo-inverse of a dense solver that knows nothing of the block -E;
//   steps, rejections and Newton iterations against the twin; counts by rank; fill of the factors.
// Numbers beside ours are those of a prototype, data/redundancy.json.
#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "studies/printed.h"
#include "studies/study.h"
#include "trammel/base/data_directory.h"
#include "trammel/elements/build.h"
#include "trammel/initial/accelerations.h"
#include "trammel/linalg/eigenvalues.h"
#include "trammel/rank/mechanism.h"
#include "trammel/write/plot.h"

namespace trammel {
namespace redundancy_study {
namespace {

using Json = nlohmann::json;

const char* const prototype =
    "a prototype of HHT at index 3 with absolute coordinates, the block -E and recovered multipliers";
const char* const four_bar_prototype =
    "a prototype of HHT at index 3 with absolute coordinates, the block -E and recovered multipliers; its four-bar has "
    "other dimensions and masses";
const char* const as_the_twin =
    "redundant rows must not change the motion; rows that differ in the last digits end a step sooner or later, a few "
    "per cent of the steps";

std::string label(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

Model load(const std::string& file, const ModelChanges& changes = {}) {
  return load_model((data_directory() / "models" / file).string(), changes);
}

double newton_per_step(const RunSummary& s) {
  return static_cast<double>(s.counts.newton_iterations) / static_cast<double>(std::max(1L, s.steps));
}
double rejected(const RunSummary& s) {
  return static_cast<double>(s.rejected_error + s.rejected_newton + s.rejected_evaluation + s.rejected_angle);
}

// ---- States of a recorded run -------------------------------------------------------------------------------------

State recorded_state(const Equations& e, const ModelRun& run, std::size_t row) {
  State state = e.initial_state();
  const auto value = [&](const std::string& name) { return run.trajectory.value(run.trajectory.at(name), row); };
  const auto vector = [&](const std::string& name) {
    return Vec3(value(name + ".x"), value(name + ".y"), value(name + ".z"));
  };
  state.t = value("time");
  const std::vector<Body>& bodies = e.model().bodies;
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    const std::string path = "body." + bodies[b].name;
    const Quat turn(value(path + ".orientation.w"), value(path + ".orientation.x"), value(path + ".orientation.y"),
                    value(path + ".orientation.z"));
    const Vec3 arm = turn * bodies[b].center_of_mass, spin = vector(path + ".angular_velocity");
    const int q0 = e.first_coordinate(static_cast<int>(b)), v0 = e.first_velocity(static_cast<int>(b));
    state.q.segment<3>(q0) = vector(path + ".position") + arm;
    state.q.segment<4>(q0 + 3) << turn.w(), turn.x(), turn.y(), turn.z();
    state.v.segment<3>(v0) = vector(path + ".velocity") + spin.cross(arm);
    state.v.segment<3>(v0 + 3) = turn.conjugate() * spin;
  }
  return state;
}

// Largest difference of positions (m) and quaternions between two runs on the same output grid.
double motion_difference(const ModelRun& a, const ModelRun& b) {
  double largest = a.time().size() == b.time().size() ? 0 : std::numeric_limits<double>::infinity();
  for (const char* pattern : {"body.*.position.[xyz]", "body.*.orientation.[wxyz]"}) {
    for (const SignalRef& ref : a.trajectory.match(pattern)) {
      largest = std::max(largest, max_error(a.trajectory.column(ref), b.column(a.trajectory.signal(ref).name)));
    }
  }
  return largest;
}

// ---- A dense solver that needs no regularisation ------------------------------------------------------------------

struct Dense {
  Rates rates;
  Vec sigma;  // singular values of G
  Mat null;   // left null vectors of G: self-stresses
  int rank = 0;
};

// M a + G^T lambda = Q, G a = gamma: a from the null space of G, lambda with least sum of F^2 + T^2/L^2 by the
// pseudo-inverse.
Dense solve_dense(const Equations& e, const State& state, Workspace& work) {
  const int nv = e.sizes().nv, ng = e.sizes().multipliers();
  Rates zero = e.make_rates();
  Residual residual = e.make_residual();
  Partials partials = e.make_partials(Detail::all);
  e.residual(state, zero, everything, residual, work);
  e.linearise(state, zero, Detail::all, partials, work);
  const Mat M = e.vv().dense(partials.M);
  Mat G = e.gv().dense(partials.G);
  Vec weight(ng);
  for (int i = 0; i < ng; ++i) weight[i] = e.row_unit(i) == RowUnit::torque ? e.length() : 1.0;
  Dense out;
  G = weight.asDiagonal() * G;  // lambda = weight * mu, |mu| least
  const SingularValues svd = singular_values(G, Eigen::ComputeFullU | Eigen::ComputeFullV);
  out.sigma = svd.values;
  while (out.rank < out.sigma.size() && out.sigma[out.rank] > 1e-9 * out.sigma[0]) ++out.rank;
  const int r = out.rank;
  const Mat U = svd.u.leftCols(r), V = svd.v.leftCols(r), N = svd.v.rightCols(nv - r);
  const Vec inverse = out.sigma.head(r).cwiseInverse();
  const Vec Q = -residual.force;
  Vec a = V * inverse.asDiagonal() * (U.transpose() * weight.cwiseProduct(partials.gamma));
  a += N * Mat(N.transpose() * M * N).ldlt().solve(Vec(N.transpose() * (Q - M * a)));
  out.rates = zero;
  out.rates.a = a;
  out.rates.lambda = weight.cwiseProduct(U * inverse.asDiagonal() * (V.transpose() * (Q - M * a)));
  out.null = svd.u.rightCols(ng - r);
  return out;
}

// Replaces the multipliers in z by the least ones in the norm of E for the same motion: c = b1 - Mh x = G^T lambda is
// solved again with the constraints' right side zero.
void recover_multipliers(SaddleSystem& saddle, const Vec& b, Vec& z) {
  const int ng = saddle.multipliers();
  Vec motion = z, c(saddle.size()), sum;
  motion.tail(ng).setZero();
  saddle.residual(b, motion, c);
  c.tail(ng).setZero();
  saddle.solve_refined(c, sum);
  z.tail(ng) = sum.tail(ng);
}

struct ReactionCheck {
  double difference = 0, largest = 0;  // N, N m
  double relative() const { return difference / largest; }
};

// Recorded reactions of every joint against those of the dense solver, at every `stride`-th output.
ReactionCheck check_reactions(const Equations& e, const ModelRun& run, std::size_t stride) {
  ReactionCheck out;
  Workspace work = e.make_workspace();
  for (std::size_t row = 0; row < run.time().size(); row += stride) {
    const State state = recorded_state(e, run, row);
    const Dense dense = solve_dense(e, state, work);
    e.update(state, work);
    for (int c = 0; c < e.constraint_count(); ++c) {
      Vec3 force, torque;
      e.reaction(c, state, dense.rates, work, force, torque);
      const std::string path = "joint." + e.constraint_info(c).item->name;
      const char* const axes[3] = {".x", ".y", ".z"};
      for (int i = 0; i < 3; ++i) {
        for (const bool turning : {false, true}) {
          const double exact = turning ? torque[i] : force[i];
          const double ours =
              run.trajectory.value(run.trajectory.at(path + (turning ? ".torque" : ".force") + axes[i]), row);
          out.difference = std::max(out.difference, std::abs(ours - exact));
          out.largest = std::max(out.largest, std::abs(exact));
        }
      }
    }
  }
  return out;
}

// ---- Ladders of four-bars -----------------------------------------------------------------------------------------

// Puts the cranks at the angle theta from the vertical, turning with `speed`.
void place_ladder(Model& model, double theta, double speed) {
  const double s = std::sin(theta), c = std::cos(theta);
  const Vec3 along(c, -s, 0);
  for (Body& body : model.bodies) {
    const bool crank = body.name.rfind("crank", 0) == 0;
    const double number = std::stod(body.name.substr(crank ? 5 : 7));
    body.drawn = body.pose;
    body.pose.position = crank ? Vec3(number + 0.5 * s, 0.5 * c, 0) : Vec3(number + 0.5 + s, c, 0);
    if (crank) body.pose.rotation = Quat(Eigen::AngleAxisd(-theta, Vec3::UnitZ()));
    body.velocity = (crank ? 0.5 : 1.0) * speed * along;
    body.angular_velocity = Vec3(0, 0, crank ? -speed : 0);
  }
}

// How far the cranks are from parallel: largest angle to the first, rad.
double not_parallel(const ModelRun& run) {
  double largest = 0;
  const std::vector<SignalRef> cranks = run.trajectory.match("body.crank*.orientation.z");
  for (const SignalRef& ref : cranks) {
    std::string w = run.trajectory.signal(ref).name;
    w.back() = 'w';
    const std::vector<double> z = run.trajectory.column(ref), u = run.column(w);
    const std::vector<double> z0 = run.trajectory.column(cranks[0]), u0 = run.column("body.crank0.orientation.w");
    for (std::size_t i = 0; i < z.size(); ++i) largest = std::max(largest, std::abs(2 * (z[i] * u0[i] - u[i] * z0[i])));
  }
  return largest;
}

double ladder_error(const ModelRun& run, const Reference& exact) {
  return std::max(max_error(run, "x_B0", exact, "x_B0"), max_error(run, "y_B0", exact, "y_B0"));
}

LoopAnalysis ranks(const Equations& e, const State& state) {
  Workspace work = e.make_workspace();
  return analyse_loops(constraint_graph(e, state, work));
}

void add_counts(std::vector<Row>& rows, const std::string& table, const std::string& row, const LoopAnalysis& rank,
                int conditions, int redundant, int freedoms) {
  rows.push_back(Row::near(table, row, "conditions", conditions, rank.rows, 0).because(why::exact));
  rows.push_back(Row::near(table, row, "redundant conditions", redundant, rank.redundant, 0).because(why::exact));
  rows.push_back(
      Row::near(table, row, "degrees of freedom by rank", freedoms, rank.freedoms_by_rank, 0).because(why::exact));
}

// ---- The same run of a mechanism and of its twin ------------------------------------------------------------------

void compare_variable(std::vector<Row>& rows, const std::string& table, const std::string& file,
                      const std::string& twin_file, const Json& prototypes, const char* whose) {
  const std::string alpha = "-0.3";
  for (const Json& p : prototypes) {
    const double tolerance = p["tolerance"].get<double>();
    const std::string row = label("tolerance %.0e", tolerance) + ", alpha " + alpha;
    const ModelChanges changes{.tolerance = tolerance, .options = {"alpha=" + alpha}};
    const ModelRun run = run_model(file, changes), twin = run_model(twin_file, changes);
    const auto steps = static_cast<double>(run.result.summary.steps),
               twin_steps = static_cast<double>(twin.result.summary.steps);
    rows.push_back(
        Row::near(table, row, "steps (target: the twin)", twin_steps, steps, std::max(2.0, 0.03 * twin_steps))
            .because(as_the_twin)
            .beside(p["steps"].get<double>(), whose));
    const double most = rejected(twin.result.summary) + std::max(5.0, 0.02 * twin_steps);
    rows.push_back(
        Row::at_most(table, row, "rejected (target: the twin and 2 % of the steps)", most, rejected(run.result.summary))
            .because(as_the_twin)
            .beside(p["rejected"].get<double>(), whose));
    rows.push_back(Row::measure(table, row, "rejected by the twin", rejected(twin.result.summary))
                       .because("what the rejections above are compared with"));
    rows.push_back(Row::measure(table, row, "motion against the twin, m or 1", motion_difference(run, twin))
                       .because("steps end elsewhere; with fixed steps it has a bound"));
  }
}

// With Newton taken to the end, so that nothing but the redundancy differs.
const std::vector<std::string> tight = {"corrector=1e-10"};
constexpr double same_motion = 1e-8;     // m; truncation errors are 1e-4
constexpr double same_reactions = 1e-8;  // of the largest
const char* const only_redundancy =
    "with Newton taken to 1e-10 of a step's error of 1e-4 m nothing but the redundancy differs";
const char* const least_norm = "least norm by a dense solver that knows nothing of the block -E, at states of the run";
const char* const no_more_work = "redundant rows must not cost iterations; a tenth for steps that end elsewhere";
const char* const same_branch = "at singular positions the cranks must stay on their branch";

const char* const four_bar_name = "four-bar of revolute joints";

// The block -E at other sizes, on states of the run.
void other_blocks(std::vector<Row>& rows, const Equations& e, const ModelRun& run, const Json& prototypes) {
  const std::string table = four_bar_name;
  for (const Json& p : prototypes["eps"]) {
    const double eps = p["eps"].get<double>();
    SaddleSystem saddle(e, eps);
    Workspace work = e.make_workspace();
    Partials partials = e.make_partials(Detail::all);
    Residual residual = e.make_residual();
    const Rates zero = e.make_rates();
    double refined = 0, recovered = 0, size = 0;
    for (std::size_t i = 0; i < run.time().size(); i += 4) {
      const State state = recorded_state(e, run, i);
      const Dense dense = solve_dense(e, state, work);
      e.residual(state, zero, everything, residual, work);
      e.linearise(state, zero, Detail::all, partials, work);
      saddle.combine(partials, {}, nullptr);
      saddle.factor();
      Vec b(saddle.size()), z(saddle.size());
      b << -residual.force, partials.gamma;
      saddle.solve_refined(b, z);
      refined = std::max(refined, (z.tail(saddle.multipliers()) - dense.rates.lambda).lpNorm<Eigen::Infinity>());
      size = std::max(size, dense.rates.lambda.lpNorm<Eigen::Infinity>());
      recover_multipliers(saddle, b, z);
      recovered = std::max(recovered, (z.tail(saddle.multipliers()) - dense.rates.lambda).lpNorm<Eigen::Infinity>());
    }
    const std::string row = label("eps = %.0e", eps);
    const bool used = eps == 1e-8;  // the engine's
    rows.push_back(Row::measure(table, row, "multipliers of two sweeps against the pseudo-inverse, N", refined)
                       .because("what recovery is for")
                       .beside(p["plain"].get<double>(), four_bar_prototype));
    rows.push_back((used ? Row::at_most(table, row, "recovered multipliers against the pseudo-inverse, N",
                                        same_reactions * size, recovered)
                         : Row::measure(table, row, "recovered multipliers against the pseudo-inverse, N", recovered))
                       .because(used
                                    ? "the block of the engine: of the largest multiplier what is demanded of reactions"
                                    : "blocks that the engine does not take")
                       .beside(p["recovered"].get<double>(), four_bar_prototype));
  }
}

void heavy_couplers(std::vector<Row>& rows) {
  const std::string table = four_bar_name;
  for (const double ratio : {1e3, 1e6}) {
    Model heavy = load("four_bar.yaml", {.options = tight}),
          heavy_twin = load("four_bar_twin.yaml", {.options = tight});
    for (Model* m : {&heavy, &heavy_twin}) {
      Body& coupler = m->bodies[static_cast<std::size_t>(m->find_body("coupler"))];
      coupler.mass *= ratio;
      coupler.inertia *= ratio;
    }
    const std::string row = label("mass ratio %.0e", ratio);
    guard(rows, table, row, [&] {
      const Equations equations(heavy);
      const ModelRun run_heavy = run_model(heavy), run_twin = run_model(heavy_twin);
      rows.push_back(
          Row::error(table, row, "motion against the twin, m or 1", motion_difference(run_heavy, run_twin), same_motion)
              .because(only_redundancy));
      rows.push_back(Row::error(table, row, "reactions against the pseudo-inverse, of the largest",
                                check_reactions(equations, run_heavy, 10).relative(), same_reactions)
                         .because(least_norm));
    });
  }
}

void four_bar(const Json& prototypes, std::vector<Row>& rows) {
  const std::string table = four_bar_name, base = "h = 1e-3 s, alpha -0.1";
  const Simulation simulation(load("four_bar.yaml"));
  const Equations& e = simulation.equations();
  const LoopAnalysis rank = ranks(e, e.initial_state());
  add_counts(rows, table, "counts", rank, prototypes["rows"].get<int>(),
             prototypes["rows"].get<int>() - prototypes["rank"].get<int>(), 1);
  const ModelRun run = run_model("four_bar.yaml", {.options = tight}),
                 twin = run_model("four_bar_twin.yaml", {.options = tight});
  rows.push_back(Row::error(table, base, "motion against the twin, m or 1", motion_difference(run, twin), same_motion)
                     .because(only_redundancy)
                     .beside(prototypes["motion"].get<double>(), four_bar_prototype));
  rows.push_back(Row::at_most(table, base, "Newton iterations a step, converged (target: the twin and 10 %)",
                              1.1 * newton_per_step(twin.result.summary), newton_per_step(run.result.summary))
                     .because(no_more_work)
                     .beside(prototypes["newton"].get<double>(), four_bar_prototype));
  const ModelRun plain = run_model("four_bar.yaml"), plain_twin = run_model("four_bar_twin.yaml");
  rows.push_back(Row::at_most(table, base, "Newton iterations a step (target: the twin and 10 %)",
                              1.1 * newton_per_step(plain_twin.result.summary), newton_per_step(plain.result.summary))
                     .because(no_more_work));
  rows.push_back(Row::measure(table, base, "motion against the twin with the usual corrector, m or 1",
                              motion_difference(plain, plain_twin))
                     .because("what the corrector leaves; taken to the end it has a bound"));
  for (const double length : {e.length(), 0.1, 10.0}) {
    Model model = load("four_bar.yaml");
    model.simulation.length = length;
    const ModelRun scaled = run_model(model);
    const ReactionCheck check = check_reactions(Equations(model), scaled, 4);
    const std::string row = label("L = %.4g m", length);
    rows.push_back(
        Row::error(table, row, "reactions against the pseudo-inverse, of the largest", check.relative(), same_reactions)
            .because(least_norm));
    rows.push_back(Row::measure(table, row, "largest reaction, N", check.largest)
                       .because("the size that the errors above are relative to")
                       .beside(prototypes["largest_reaction"].get<double>(), four_bar_prototype));
  }
  other_blocks(rows, e, run, prototypes);
  compare_variable(rows, table, "four_bar.yaml", "four_bar_twin.yaml", prototypes["variable"], four_bar_prototype);
  heavy_couplers(rows);
}

const char* const ladder_name = "ladder with 2 windows";
const char* const ladder_file = "iftomm_a02_nfourbar_N2.yaml";
const char* const ladder_twin = "nfourbar_twin.yaml";
constexpr double quarter = 1.57079632679489662;

void ladder_counts(std::vector<Row>& rows, const Json& prototypes) {
  const std::string table = ladder_name, file = ladder_file;
  const int conditions = prototypes["rows"].get<int>(), rank = prototypes["rank"].get<int>(),
            singular = prototypes["rank_singular"].get<int>();
  const Equations e(load(file));
  add_counts(rows, table, "cranks upright", ranks(e, e.initial_state()), conditions, conditions - rank, 30 - rank);
  Model flat = load(file);
  place_ladder(flat, quarter, 0);
  const Equations f(flat);
  add_counts(rows, table, "cranks flat", ranks(f, f.initial_state()), conditions, conditions - singular, 30 - singular);
}

void ladder_fixed(const StudyContext& context, std::vector<Row>& rows, const Json& prototypes, const Reference& exact) {
  const std::string table = ladder_name, file = ladder_file;
  for (const Json& p : prototypes["fixed"]) {
    const double h = p["step"].get<double>(), alpha = p["alpha"].get<double>();
    const std::string row = label("h = %.0e s", h) + label(", alpha %.1f", alpha);
    context.note("ladder, " + row);
    guard(rows, table, row, [&] {
      const std::string option = label("alpha=%.1f", alpha);
      const ModelRun converged = run_model(file, {.step = h, .options = {option, "corrector=1e-5"}});
      const double error = p["error"].get<double>(), energy = p["energy"].get<double>(),
                   least = ladder_error(converged, exact);
      rows.push_back(Row::at_most(table, row, "largest error of B0, corrector 1e-5 (target: the prototype and 10 %), m",
                                  1.1 * error, least)
                         .because("the same method on the same mechanism; two digits")
                         .beside(error, prototype));
      const ModelRun run = run_model(file, {.step = h, .options = {option}});
      rows.push_back(Row::at_most(table, row, "largest error of B0 (target: corrector 1e-5 and 10 %), m", 1.1 * least,
                                  ladder_error(run, exact))
                         .because("the usual corrector must not show"));
      rows.push_back(Row::near(table, row, "largest energy drift, J", energy,
                               run.result.summary.energy.largest_imbalance, 0.1 * energy)
                         .because("the same method on the same mechanism; two digits")
                         .beside(energy, prototype));
      rows.push_back(
          Row::measure(table, row, "Newton iterations a step", newton_per_step(run.result.summary)).because(why::work));
      rows.push_back(Row::error(table, row, "cranks parallel, rad", not_parallel(run), 1e-5).because(same_branch));
    });
  }
}

void ladder_variable(const StudyContext& context, std::vector<Row>& rows, const Json& prototypes,
                     const Reference& exact) {
  const std::string table = ladder_name, file = ladder_file, twin_file = ladder_twin;
  for (const Json& p : prototypes["variable"]) {
    const double tolerance = p["tolerance"].get<double>(), alpha = p["alpha"].get<double>();
    const std::string row = label("tolerance %.0e", tolerance) + label(", alpha %.1f", alpha);
    context.note("ladder, " + row);
    guard(rows, table, row, [&] {
      const ModelChanges changes{.tolerance = tolerance, .options = {label("alpha=%.1f", alpha)}};
      const ModelRun run = run_model(file, changes), twin = run_model(twin_file, changes);
      const auto twin_steps = static_cast<double>(twin.result.summary.steps);
      rows.push_back(Row::near(table, row, "steps (target: the twin)", twin_steps,
                               static_cast<double>(run.result.summary.steps), std::max(2.0, 0.03 * twin_steps))
                         .because(as_the_twin)
                         .beside(p["steps"].get<double>(), prototype));
      rows.push_back(Row::at_most(table, row, "rejected (target: the twin and 2 % of the steps)",
                                  rejected(twin.result.summary) + std::max(5.0, 0.02 * twin_steps),
                                  rejected(run.result.summary))
                         .because(as_the_twin)
                         .beside(p["rejected"].get<double>(), prototype));
      rows.push_back(
          Row::at_most(table, row, "largest error of B0, m", 2 * p["error"].get<double>(), ladder_error(run, exact))
              .because("twice the prototype's, whose norm has another length scale")
              .beside(p["error"].get<double>(), prototype));
    });
  }
}

// Through its singular positions it must stay on its branch, as its twin does.
void ladder_branches(std::vector<Row>& rows) {
  const std::string table = ladder_name, file = ladder_file, twin_file = ladder_twin;
  guard(rows, table, "h = 1e-3 s, alpha -0.3", [&] {
    // Tighter than 1e-7 the corrector meets its round-off at the singular positions, with the twin as well.
    const ModelChanges changes{.step = 1e-3, .options = {"corrector=1e-7"}};
    const ModelRun run = run_model(file, changes), twin = run_model(twin_file, changes);
    rows.push_back(Row::error(table, "h = 1e-3 s, alpha -0.3", "motion against the twin, m or 1",
                              motion_difference(run, twin), 1e-6)
                       .because("the corrector's 1e-7 at singular positions, where round-off stops it"));
  });

  Model unequal = load(file, {.step = 1e-3});
  const double masses[] = {1, 2, 0.5, 3, 0.7};
  for (std::size_t i = 0; i < unequal.bodies.size(); ++i) {
    unequal.bodies[i].mass *= masses[i];
    unequal.bodies[i].inertia *= masses[i];
  }
  rows.push_back(
      Row::error(table, "unequal masses, h = 1e-3 s", "cranks parallel, rad", not_parallel(run_model(unequal)), 1e-5)
          .because(same_branch));
  Model flat = load(file, {.step = 1e-3});
  place_ladder(flat, quarter, 4.5);
  guard(rows, table, "start with flat cranks", [&] {
    rows.push_back(Row::error(table, "start with flat cranks, h = 1e-3 s", "cranks parallel, rad",
                              not_parallel(run_model(flat)), 1e-5)
                       .because(same_branch));
  });
}

// Least-norm reactions have a true pole at the singular position.
void ladder_pole(const StudyContext& context, std::vector<Row>& rows, const Json& prototypes) {
  const std::string table = ladder_name, file = ladder_file;
  PlotCurve dense_curve{{}, {}, "pseudo-inverse", PlotStyle::lines, false},
      ours_curve{{}, {}, "with the block -E, eps = 1e-8", PlotStyle::points, false};
  const auto reactions = [&](double distance) {
    Model near = load(file);
    place_ladder(near, quarter - distance, 4.5);
    const Equations e(near);
    const State state = e.initial_state();
    Workspace work = e.make_workspace();
    Rates rates = e.make_rates();
    AccelerationSolver(e).solve(state, rates, work);
    return std::pair(solve_dense(e, state, work).rates.lambda.norm(), rates.lambda.norm());
  };
  for (const Json& p : prototypes["pole"]) {
    const double distance = p["distance"].get<double>(), print = p["exact"].get<double>();
    const auto [dense, ours] = reactions(distance);
    const std::string row = label("%.0e rad before flat, 4.5 rad/s", distance);
    rows.push_back(Row::near(table, row, "norm of the multipliers by the pseudo-inverse, N", print, dense, 0.02 * print)
                       .because("its digits")
                       .beside(print, prototype));
    const bool outside = distance > 5e-4;
    rows.push_back((outside ? Row::near(table, row, "with the block -E", dense, ours, 0.01 * dense)
                            : Row::measure(table, row, "with the block -E", ours))
                       .because(outside ? "the block must not show outside of the pole"
                                        : "inside of the pole the block cuts it off, which is what it is for"));
    if (p.contains("regularised")) {
      rows.back().own = p["regularised"].get<double>();
      rows.back().origin = prototype;
    }
  }
  const auto picture = context.picture("redundancy_pole.png");
  if (!picture) return;
  for (double distance = 1; distance > 5e-6; distance *= 0.8) {
    const auto [dense, ours] = reactions(distance);
    dense_curve.x.push_back(distance);
    dense_curve.y.push_back(dense);
    ours_curve.x.push_back(distance);
    ours_curve.y.push_back(ours);
  }
  PlotRequest plot;
  plot.title = "Ladder with two windows: reactions near its singular position";
  plot.subtitle = "cranks turning with 4.5 rad/s; accelerations stay finite";
  plot.xlabel = "angle before the cranks lie flat, rad";
  plot.logx = true;
  plot.panels = {{"norm of the multipliers, N", {dense_curve, ours_curve}, true}};
  draw_plot(plot, *picture);
}

void ladder(const Json& prototypes, const StudyContext& context, std::vector<Row>& rows) {
  const Reference exact = read_reference("data/cases/iftomm_a02_nfourbar_N2.csv");
  ladder_counts(rows, prototypes);
  ladder_fixed(context, rows, prototypes, exact);
  ladder_variable(context, rows, prototypes, exact);
  ladder_branches(rows);
  ladder_pole(context, rows, prototypes);
}

void ladder40(const Json& prototypes, const StudyContext& context, std::vector<Row>& rows) {
  const std::string table = "ladder with 40 windows", file = "iftomm_a02_nfourbar_N40.yaml";
  const Reference exact = read_reference("data/cases/iftomm_a02_nfourbar_N40.csv");
  const Equations e(load(file));
  add_counts(rows, table, "cranks upright", ranks(e, e.initial_state()), 605, prototypes["redundant"].get<int>(), 1);
  context.note("ladder with 40 windows");
  const ModelRun run = run_model(file, {.step = 1e-3});
  const double error = prototypes["error"].get<double>();
  rows.push_back(
      Row::near(table, "h = 1e-3 s, alpha -0.3", "largest error of B0, m", error, ladder_error(run, exact), 0.1 * error)
          .because("the same method on the same mechanism; two digits")
          .beside(error, prototype));
  rows.push_back(
      Row::measure(table, "h = 1e-3 s, alpha -0.3", "Newton iterations a step", newton_per_step(run.result.summary))
          .because(why::work)
          .beside(prototypes["newton"].get<double>(), prototype));
  rows.push_back(Row::at_most(table, "h = 1e-3 s, alpha -0.3", "factorisations with new pivots", 1,
                              static_cast<double>(run.result.summary.counts.factorisations))
                     .because("the block -E lets one order of pivots serve all positions"));
  double coarse = 0;
  for (const Json& p : prototypes["variable"]) {
    Model model = load(file, {.tolerance = p["tolerance"].get<double>()});
    model.simulation.length = 1;  // the prototype's norm had no length scale
    const std::string row = label("tolerance %.0e for 1 m", p["tolerance"].get<double>());
    context.note("ladder with 40 windows, " + row);
    guard(rows, table, row, [&] {
      const ModelRun variable = run_model(model);
      const auto steps = static_cast<double>(variable.result.summary.steps);
      rows.push_back(Row::measure(table, row, "steps", steps)
                         .because("how many a tolerance takes; that the error falls with it has the bound")
                         .beside(p["steps"].get<double>(), prototype));
      rows.push_back(Row::at_most(table, row, "rejected (target: 10 % of the steps)", 0.1 * steps,
                                  rejected(variable.result.summary))
                         .because("what is rejected is work for nothing")
                         .beside(p["rejected"].get<double>(), prototype));
      const double error_here = ladder_error(variable, exact);
      rows.push_back(coarse > 0 ? Row::at_most(table, row, "largest error of B0, m", 0.4 * coarse, error_here)
                                      .because("a tenth of the tolerance: 0.22 of the error in theory")
                                : Row::measure(table, row, "largest error of B0, m", error_here)
                                      .because("the coarser tolerance: the finer one is compared with it"));
      coarse = error_here;
    });
  }
}

// ---- Fill ---------------------------------------------------------------------------------------------------------

// Links of 1 m and 1 kg, hinged one to the next: a tree.
Model chain(int links) {
  Model model;
  model.gravity = Vec3(0, 0, -9.81);
  for (int i = 0; i < links; ++i) {
    Body body;
    body.name = "link" + std::to_string(i);
    body.mass = 1;
    body.inertia = Vec3(1e-3, 1.0 / 12, 1.0 / 12).asDiagonal();
    body.pose.position = Vec3(i + 0.5, 0, 0);
    model.add_body(body);
    add_joint(model, "revolute", "pin" + std::to_string(i), i - 1, i, Vec3(i, 0, 0), Vec3::UnitY());
  }
  return model;
}

struct Fill {
  double regularised, plain;  // entries of L and U
};

// Rows in an order that leaves no zero on the diagonal, by augmenting paths: without it an ordering of the plain saddle
// matrix, whose lower right block is zero, means nothing. (KLU does the same in its block triangular form.)
class Transversal {
 public:
  explicit Transversal(const Pattern& pattern)
      : pattern_(pattern), column_of_(static_cast<std::size_t>(pattern.rows()), -1), seen_(column_of_.size(), -1) {
    for (int j = 0; j < pattern.columns(); ++j) found_ = found_ && match(j, j);
  }
  bool found() const { return found_; }
  int place_of(int row) const { return column_of_[static_cast<std::size_t>(row)]; }

 private:
  bool match(int column, int stamp) {
    for (int k = pattern_.start()[static_cast<std::size_t>(column)];
         k < pattern_.start()[static_cast<std::size_t>(column) + 1]; ++k) {
      const auto row = static_cast<std::size_t>(pattern_.row()[static_cast<std::size_t>(k)]);
      if (column_of_[row] < 0) {
        column_of_[row] = column;
        return true;
      }
    }
    for (int k = pattern_.start()[static_cast<std::size_t>(column)];
         k < pattern_.start()[static_cast<std::size_t>(column) + 1]; ++k) {
      const auto row = static_cast<std::size_t>(pattern_.row()[static_cast<std::size_t>(k)]);
      if (seen_[row] == stamp) continue;
      seen_[row] = stamp;
      if (!match(column_of_[row], stamp)) continue;
      column_of_[row] = column;
      return true;
    }
    return false;
  }
  const Pattern& pattern_;
  std::vector<int> column_of_, seen_;
  bool found_ = true;
};

// The matrix of `saddle` without the block -E, with KLU's own pivoting; 0 if it is singular.
double plain_fill(const SaddleSystem& saddle) {
  std::vector<Pattern::Entry> entries;
  const auto each = [&](const auto& take) {
    for (int j = 0; j < saddle.size(); ++j) {
      for (int k = saddle.pattern().start()[static_cast<std::size_t>(j)];
           k < saddle.pattern().start()[static_cast<std::size_t>(j) + 1]; ++k) {
        const int i = saddle.pattern().row()[static_cast<std::size_t>(k)];
        if (i != j || i < saddle.velocities()) take(i, j, saddle.values()[k]);
      }
    }
  };
  each([&](int i, int j, double) { entries.push_back({i, j}); });
  const Transversal order(Pattern(saddle.size(), saddle.size(), entries));
  if (!order.found()) return 0;
  for (Pattern::Entry& entry : entries) entry.row = order.place_of(entry.row);
  const Pattern pattern(saddle.size(), saddle.size(), entries);
  Vec values = Vec::Zero(pattern.size());
  each([&](int i, int j, double value) { values[pattern.slot(order.place_of(i), j)] = value; });
  KluSolver solver;
  solver.analyse(pattern, 1e-3);
  return solver.factor(values) ? static_cast<double>(solver.fill()) : 0;
}

Fill fill_of(const Equations& e) {
  const State state = e.initial_state();
  Workspace work = e.make_workspace();
  Partials partials = e.make_partials(Detail::newton);
  Rates rates = e.make_rates();
  rates.lambda.setOnes();
  e.linearise(state, rates, Detail::newton, partials, work);
  const double h = 1e-3;
  SaddleSystem saddle(e);
  saddle.combine(partials, {1, 0.25 * h * h, 0.25 * h * h, 0.5 * h}, nullptr);
  saddle.factor();
  return {static_cast<double>(saddle.solver().fill()), plain_fill(saddle)};
}

void fill(const Json& prototypes, std::vector<Row>& rows) {
  const std::string table = "fill of the factors";
  const Fill tree = fill_of(Equations(chain(1000)));
  rows.push_back(Row::measure(table, "chain of 1000 links", "entries, no block -E, KLU's own pivots", tree.plain)
                     .because("what the block is compared with")
                     .beside(prototypes["chain1000_plain"].get<double>(), prototype));
  rows.push_back(Row::at_most(table, "chain of 1000 links", "entries, with -E on the diagonal (target: without)",
                              tree.plain, tree.regularised)
                     .because("pivots on the diagonal must not cost fill on a tree")
                     .beside(prototypes["chain1000"].get<double>(), prototype));
  const Equations ladder_equations(load("iftomm_a02_nfourbar_N40.yaml"));
  const Fill loops = fill_of(ladder_equations);
  Model twin = load("iftomm_a02_nfourbar_N40.yaml");
  for (Item& joint : twin.joints) {
    if (joint.name.rfind("BR", 0) == 0) joint.type = "point_on_line";
  }
  const Fill loops_twin = fill_of(Equations(twin));
  rows.push_back(
      Row::measure(table, "ladder with 40 windows", "entries, rows dropped, KLU's own pivots", loops_twin.plain)
          .because("what the block is compared with")
          .beside(prototypes["ladder40_twin"].get<double>(), prototype));
  rows.push_back(Row::at_most(table, "ladder with 40 windows",
                              "entries, with -E (target: 1.5 times the rows-dropped twin)", 1.5 * loops_twin.plain,
                              loops.regularised)
                     .because("605 rows in place of 485: a half for a quarter more rows")
                     .beside(prototypes["ladder40"].get<double>(), prototype));
  // Pivots chosen once, then all positions, the singular one included.
  Model posed = load("iftomm_a02_nfourbar_N40.yaml");
  const auto state_at = [&](double theta) {
    place_ladder(posed, theta, 1);
    return Equations(posed).initial_state();
  };
  const Equations& e = ladder_equations;
  Workspace work = e.make_workspace();
  Partials partials = e.make_partials(Detail::newton);
  SaddleSystem saddle(e);
  double worst = 0;
  for (int k = -1; k <= 24; ++k) {
    const double theta = k < 0 ? 0.3 : 6.28318530717958648 * k / 24;
    e.linearise(state_at(theta), e.make_rates(), Detail::newton, partials, work);
    saddle.combine(partials, {}, nullptr);
    saddle.factor();
    Vec z = Vec::LinSpaced(saddle.size(), -1, 1), b = Vec::Zero(saddle.size()), r;
    saddle.residual(b, z, r);
    b = -r;
    saddle.solve_refined(b, z);
    saddle.residual(b, z, r);
    worst = std::max(worst, r.norm() / b.norm());
  }
  rows.push_back(Row::error(table, "ladder, all positions with the pivots of one",
                            "residual after two sweeps, of the right side", worst, 1e-8)
                     .because("what Newton's corrector, which asks for 1e-3 of a step's error, cannot see"));
  rows.push_back(Row::at_most(table, "ladder, all positions with the pivots of one", "factorisations with new pivots",
                              1, saddle.solver().factors())
                     .because("pivots of one position must serve all"));
}

// ---- Bricard's loop -----------------------------------------------------------------------------------------------

const char* const bricard_name = "Bricard's loop";

void bricard_fixed(const StudyContext& context, std::vector<Row>& rows, const Equations& e, const Json& prototypes) {
  const std::string table = bricard_name;
  const char* const converged = "for comparison with the twin; iterations of the usual corrector have the bound";
  for (const Json& p : prototypes["fixed"]) {
    const double h = p["step"].get<double>();
    const std::string row = label("h = %.0e s", h);
    context.note("Bricard, " + row);
    guard(rows, table, row, [&] {
      const ModelRun run = run_model("bricard.yaml", {.step = h, .options = tight}),
                     twin = run_model("bricard_twin.yaml", {.step = h, .options = tight});
      rows.push_back(
          Row::error(table, row, "motion against the twin, m or 1", motion_difference(run, twin), same_motion)
              .because(only_redundancy)
              .beside(p["motion"].get<double>(), prototype));
      rows.push_back(
          Row::measure(table, row, "Newton iterations a step, converged", newton_per_step(run.result.summary))
              .because(converged)
              .beside(p["newton"].get<double>(), prototype));
      rows.push_back(
          Row::measure(table, row, "Newton iterations a step, converged, twin", newton_per_step(twin.result.summary))
              .because(converged)
              .beside(p["newton"].get<double>(), prototype));
      const ModelRun usual = run_model("bricard.yaml", {.step = h}),
                     usual_twin = run_model("bricard_twin.yaml", {.step = h});
      rows.push_back(Row::at_most(table, row, "Newton iterations a step (target: the twin and 10 %)",
                                  1.1 * newton_per_step(usual_twin.result.summary),
                                  newton_per_step(usual.result.summary))
                         .because(no_more_work));
      rows.push_back(
          Row::measure(table, row, "linearisations", static_cast<double>(usual.result.summary.counts.linearisations))
              .because(converged));
      rows.push_back(Row::measure(table, row, "linearisations, twin",
                                  static_cast<double>(usual_twin.result.summary.counts.linearisations))
                         .because(converged));
      const ReactionCheck check = check_reactions(e, run, 5);
      rows.push_back(
          Row::error(table, row, "reactions against the pseudo-inverse, of the largest", check.relative(),
                     same_reactions)
              .because(least_norm)
              .beside(p["reaction"].get<double>() / prototypes["largest_reaction"].get<double>(), prototype));
    });
  }
}

// The self-stress along the motion.
void self_stress(const StudyContext& context, std::vector<Row>& rows, const Equations& e, const Json& prototypes) {
  const std::string table = bricard_name;
  const ModelRun run = run_model("bricard.yaml");
  Workspace work = e.make_workspace();
  Vec last;
  Vec least = Vec::Zero(e.sizes().multipliers()), most = Vec::Zero(e.sizes().multipliers());
  double sigma = std::numeric_limits<double>::infinity();
  PlotCurve gap{{}, {}, "smallest singular value that is not zero", {}, false},
      zero{{}, {}, "the one that is zero", {}, false};
  std::vector<PlotCurve> entries;
  const int shown[3] = {0, 2, 13};
  for (const int row : shown) entries.push_back({{}, {}, e.name_of_row(row), {}, false});
  for (std::size_t i = 0; i < run.time().size(); i += 2) {
    const Dense dense = solve_dense(e, recorded_state(e, run, i), work);
    if (dense.null.cols() != 1) continue;
    sigma = std::min(sigma, dense.sigma[dense.rank - 1]);
    Vec null = dense.null.col(0);
    if (last.size() > 0 && null.dot(last) < 0) null = -null;
    least = least.cwiseMin(null);
    most = most.cwiseMax(null);
    last = null;
    gap.x.push_back(run.time()[i]);
    gap.y.push_back(dense.sigma[dense.rank - 1]);
    zero.x.push_back(run.time()[i]);
    zero.y.push_back(std::max(dense.sigma[dense.rank], 1e-17));
    for (std::size_t k = 0; k < 3; ++k) {
      entries[k].x.push_back(run.time()[i]);
      entries[k].y.push_back(null[shown[k]]);
    }
  }
  rows.push_back(Row::at_least(table, "along the motion", "least singular value of G that is not zero", 0.1, sigma)
                     .because("far from round-off all along: the rank is what it is")
                     .beside(prototypes["sigma"].get<double>(), prototype));
  rows.push_back(
      Row::at_least(table, "along the motion", "entries of the self-stress that change sign", 1,
                    static_cast<double>((least.array() < -1e-6 && most.array() > 1e-6).count()))
          .because("rows that could not be dropped all along the motion exist; how many depends on the axes of "
                   "the joints' rows, which the prototype chose otherwise")
          .beside(prototypes["sign_changes"].get<double>(), prototype));
  const auto picture = context.picture("redundancy_bricard.png");
  if (!picture) return;
  PlotRequest plot;
  plot.title = "Bricard's loop along its motion";
  plot.xlabel = "time, s";
  plot.panels = {{"singular values of G", {gap, zero}, true}, {"entries of the self-stress", entries, false}};
  draw_plot(plot, *picture);
}

void bricard(const Json& prototypes, const StudyContext& context, std::vector<Row>& rows) {
  const std::string table = bricard_name;
  const Equations e(load("bricard.yaml"));
  add_counts(rows, table, "counts", ranks(e, e.initial_state()), prototypes["rows"].get<int>(), 1, 1);
  bricard_fixed(context, rows, e, prototypes);
  self_stress(context, rows, e, prototypes);
  compare_variable(rows, table, "bricard.yaml", "bricard_twin.yaml", prototypes["variable"], prototype);
}

std::vector<Row> run(const StudyContext& context) {
  const Json prototypes = read_data("redundancy.json");
  std::vector<Row> rows;
  context.note("four-bar");
  guard(rows, "four-bar of revolute joints", "the study", [&] { four_bar(prototypes["four_bar"], rows); });
  guard(rows, "ladder with 2 windows", "the study", [&] { ladder(prototypes["ladder"], context, rows); });
  guard(rows, "ladder with 40 windows", "the study", [&] { ladder40(prototypes["ladder40"], context, rows); });
  context.note("fill");
  guard(rows, "fill of the factors", "the study", [&] { fill(prototypes["fill"], rows); });
  guard(rows, "Bricard's loop", "the study", [&] { bricard(prototypes["bricard"], context, rows); });
  return rows;
}

}  // namespace
}  // namespace redundancy_study

std::vector<Row> study_redundancy(const StudyContext& context) { return redundancy_study::run(context); }

}  // namespace trammel
