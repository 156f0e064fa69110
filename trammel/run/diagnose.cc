#include "trammel/run/diagnose.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "trammel/base/messages.h"
#include "trammel/elements/registry.h"
#include "trammel/rank/mechanism.h"

namespace trammel {

std::size_t AttemptLog::rejected_since_accept() const {
  std::size_t count = 0;
  while (count < size() && !back(count).accepted) ++count;
  return count;
}

// ---- Elements that give no value ------------------------------------------------------------------------------------

namespace {

bool all_finite(const double* values, std::size_t count) {
  return std::all_of(values, values + count, [](double x) { return std::isfinite(x); });
}

std::string constraint_name(const Equations& equations, int i) { return equations.name_of_constraint(i); }

// An element with an expression, whose frames stand apart: then it is the expression that has no value.
bool expression_to_blame(const Equations& equations, const Item& item, const Workspace& work) {
  const auto& fields = item.fields.all();
  const bool has_one = std::any_of(fields.begin(), fields.end(), [](const auto& field) {
    const ExpressionText* expression = std::get_if<ExpressionText>(&field.second);
    return expression != nullptr && !expression->text.empty();
  });
  if (!has_one || item.frames.size() < 2) return has_one;
  const Vec3 apart = equations.frame(item.frames[1], work).p - equations.frame(item.frames[0], work).p;
  const ElementDescription* force = find_element(Category::force, item.type);
  const bool along_line = force != nullptr && force->attachment == Attachment::two_points;
  return !along_line || apart.norm() > 1e-9 * equations.length();
}

std::string body_name(const Equations& equations, int velocity) {
  const int body = equations.body_of_velocity(velocity);
  return "body '" + equations.model().bodies[body].name + "'";
}

// A variable without a value that an element reads: what then cannot be evaluated is not to blame itself.
std::optional<Culprit> variable_behind(const Equations& equations, const Item& item, const State& state,
                                       const Workspace& work) {
  const std::span<const double> values = equations.variables_of(work);
  const int first = equations.sizes().nu + equations.sizes().nx;
  for (const int signal : item.signals) {
    if (signal < first || signal >= first + static_cast<int>(values.size()) ||
        !std::isnan(values[static_cast<std::size_t>(signal - first)]))
      continue;
    const Variable& variable = equations.model().variables[static_cast<std::size_t>(signal - first)];
    return Culprit{"variable '" + variable.name + "'", "has no finite value", true, state.t, variable.where};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Culprit> find_culprit(const Equations& equations, const State& state, const Rates& rates,
                                    Workspace& work) {
  const Model& model = equations.model();
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const int q0 = equations.first_coordinate(static_cast<int>(b)), v0 = equations.first_velocity(static_cast<int>(b));
    const bool last = b + 1 == model.bodies.size();
    const auto q1 = last ? state.q.size() : equations.first_coordinate(static_cast<int>(b) + 1);
    const auto v1 = last ? state.v.size() : equations.first_velocity(static_cast<int>(b) + 1);
    const Body& body = model.bodies[b];
    if (!state.q.segment(q0, q1 - q0).allFinite())
      return Culprit{"body '" + body.name + "'", "has a position that is not finite", true, state.t, body.where};
    if (!state.v.segment(v0, v1 - v0).allFinite())
      return Culprit{"body '" + body.name + "'", "has a velocity that is not finite", true, state.t, body.where};
  }
  equations.update(state, work, &rates);
  for (int c = 0; c < equations.constraint_count(); ++c) {
    const Equations::ConstraintInfo info = equations.constraint_info(c);
    double g[max_rows] = {};
    const bool good = equations.observe_constraint(c, state, work, g);
    const auto rows = static_cast<std::size_t>(equations.constraint(c).rows());
    if (!all_finite(g, rows)) {
      const char* what = info.is_motion ? "asks for a position that is not finite" : "gives a value that is not finite";
      return Culprit{constraint_name(equations, c), what, true, state.t, info.item->where};
    }
    if (!good && expression_to_blame(equations, *info.item, work))
      return Culprit{constraint_name(equations, c), "has an expression without a finite value", true, state.t,
                     info.item->where};
    if (!good)
      return Culprit{constraint_name(equations, c), "cannot be evaluated where its frames stand", false, state.t,
                     info.item->where};
  }
  std::vector<double> observables(64);
  for (int f = 0; f < equations.force_count(); ++f) {
    const Item& item = model.forces[f];
    observables.assign(std::max(observables.size(), equations.force(f).observables().size()), 0.0);
    double wrench[6 * max_frames] = {};
    const bool good = equations.observe_force(f, state, work, wrench, observables.data());
    if (std::optional<Culprit> behind = variable_behind(equations, item, state, work)) return behind;
    if (!all_finite(wrench, 6 * static_cast<std::size_t>(equations.force(f).frames()))) {
      return Culprit{"force '" + item.name + "'", "gives a force or torque that is not finite", true, state.t,
                     item.where};
    }
    if (!good && expression_to_blame(equations, item, work))
      return Culprit{"force '" + item.name + "'", "has an expression without a finite value", true, state.t,
                     item.where};
    if (!good) {
      return Culprit{"force '" + item.name + "'",
                     "cannot be evaluated where its frames stand: ends that coincide, or a turn by half a revolution",
                     false, state.t, item.where};
    }
  }
  // Each element gives numbers: then velocities or multipliers have grown until a product overflowed.
  for (const Vec* x : {&rates.a, &rates.lambda}) {
    for (Eigen::Index i = 0; i < x->size(); ++i) {
      if (std::isfinite((*x)[i])) continue;
      const int at = static_cast<int>(i);
      if (x == &rates.a)
        return Culprit{body_name(equations, at), "has an acceleration that is not finite", true, state.t, {}};
      return Culprit{equations.name_of_row(at), "has a reaction that is not finite", true, state.t, {}};
    }
  }
  Partials partials = equations.make_partials(Detail::newton);
  if (equations.linearise(state, rates, Detail::newton, partials, work) == Eval::ok) {
    for (const Vec* x : {&partials.force_q, &partials.force_v}) {
      for (int j = 0; j < equations.sizes().nv; ++j) {
        const auto column = static_cast<std::size_t>(j);
        for (int p = equations.vv().start()[column]; p < equations.vv().start()[column + 1]; ++p) {
          if (std::isfinite((*x)[p])) continue;
          const int row = equations.vv().row()[p];
          return Culprit{body_name(equations, row), "feels a force whose derivative is not finite", true, state.t, {}};
        }
      }
    }
  }
  return std::nullopt;
}

// ---- Questions asked after a failure --------------------------------------------------------------------------------

namespace {

class Inquest {
 public:
  explicit Inquest(const FailureContext& context)
      : c_(context), e_(context.equations), work_(e_.make_workspace()), here_(context.integrator.state()) {
    for (std::size_t i = 0; i < c_.log.size(); ++i) reach_ = std::max(reach_, c_.log.back(i).h);
    reach_ = std::max(reach_, c_.h);
  }

  void ask() {
    blame_culprit();
    blame_constraints();
    blame_energy();
    const bool newton = failed_by(Verdict::newton_diverged) || failed_by(Verdict::singular_matrix);
    const bool unexplained = causes_.empty();
    if (unexplained) look_for_jumps();  // what jumps makes large accelerations too
    look_for_runaway();
    if (!c_.culprit && (newton || !unexplained)) try_without_each_motion();
    if (unexplained || c_.energy) {
      compare_rank();
      compare_rows();
    }
    if (!failed_by(Verdict::newton_diverged)) look_at_error();
    look_for_chatter();
    if (c_.settings.fixed_step && c_.reason == StopReason::attempt_failed) try_smaller_steps();
    if (c_.reason == StopReason::time_stalled) note_stall();
    if (c_.reason == StopReason::chatter) {
      // "force 'floor': impact" without the name of the switch
      const std::size_t switch_and_colon = e_.switch_info(c_.chattering).name.size() + 2;
      std::string part = e_.name_of_switch(c_.chattering);
      part.resize(part.size() - switch_and_colon);
      if (c_.in_vain) {
        add(1, "events-chatter", part,
            "it drives the mechanism back over its own corner, so that no step can end behind it",
            "200 steps were cut short at the corner within a ten-thousandth of the run, and it never changed");
      } else {
        add(1, "events-chatter", part, "it switches again and again in a very short time",
            "100 events within a millionth of the run, or an impact on something that cannot yield");
      }
    }
    add_verdict();
    std::stable_sort(causes_.begin(), causes_.end(),
                     [](const Cause& a, const Cause& b) { return a.weight > b.weight; });
  }
  std::vector<Cause> take_causes() { return std::move(causes_); }

 private:
  bool failed_by(Verdict verdict) const { return c_.last.verdict == verdict; }
  void add(double weight, const char* id, std::string part, std::string text, std::string evidence) {
    causes_.push_back({id, std::move(part), std::move(text), std::move(evidence), weight});
  }

  void blame_culprit() {
    if (!c_.culprit) return;
    const Culprit& x = *c_.culprit;
    add(1, x.not_finite ? "value-not-finite" : "cannot-evaluate", x.part, x.part + " " + x.what,
        fmt::format("seen first at t = {:.9g} s", x.t));
  }

  void blame_constraints() {
    if (!c_.violation) return;
    const ConstraintViolation& x = *c_.violation;
    std::string list, parts;
    for (std::size_t i = 0; i < x.parts.size(); ++i) {
      list += fmt::format("{}{} ({})", i == 0 ? "" : ", ", x.parts[i], x.values[i]);
      parts += (i == 0 ? "" : ", ") + x.parts[i];
    }
    // Soft formulations also give way to loads and speeds; then a position that satisfies all constraints is close by.
    State closed = here_;
    if (holds_softly(c_.settings) && assemble(e_, c_.accelerations.saddle(), closed, work_) < 1e-6 * e_.length()) {
      add(0.99, "joints-give-way", parts,
          fmt::format("the formulation '{}' holds joints and motions softly, and gives way at these forces, speeds and "
                      "steps: {}",
                      c_.settings.formulation, parts),
          fmt::format("since t = {:.6g} s they are violated, now by {}, and a position nearby satisfies them all",
                      x.since, list));
      return;
    }
    add(0.99, "mechanism-locked", parts, "joints and motions contradict one another: " + parts,
        fmt::format("since t = {:.6g} s no position satisfies them all; they are violated by {}", x.since, list));
  }

  void blame_energy() {
    if (!c_.energy) return;
    const UnexplainedEnergy& x = *c_.energy;
    add(0.96, "energy-unexplained", x.part,
        fmt::format("steps bring energy that nothing explains: {} changes faster than they can follow", x.part),
        fmt::format("{:.3g} J in a step of {:.3g} s from t = {:.9g} s, where the mechanism holds {:.3g} J; its power "
                    "goes from {:.3g} to {:.3g} W",
                    x.amount, x.h, x.t, x.held, x.power_before, x.power_after));
  }

  // Has the motion become so fast that the run is too long for it by eight powers of ten, or its acceleration so large
  // that it would be within the run? Toward a pole in finite time speeds may stay moderate, as with exp(rate).
  void look_for_runaway() {
    const Vec scales = e_.scales();
    const Vec speed = here_.v.cwiseQuotient(scales).cwiseAbs(), rate = c_.integrator.rates().a.cwiseQuotient(scales);
    if (speed.size() == 0) return;
    Eigen::Index fastest = 0, hardest = 0;
    const double v = speed.maxCoeff(&fastest), a = std::sqrt(rate.cwiseAbs().maxCoeff(&hardest));
    const double end = e_.model().simulation.end;
    if (!(v * end > 1e8 || a * end > 3e5)) return;
    const int at = static_cast<int>(v > a ? fastest : hardest);
    const std::string feeds = fastest_force();
    const bool by_force = !feeds.empty();
    add(0.93, "solution-runs-away", by_force ? feeds : body_name(e_, at),
        "speeds or accelerations have grown beyond all measure: " + e_.name_of_velocity(at) +
            (by_force ? ", driven by " + feeds : ""),
        fmt::format("speed {:.3g}, acceleration {:.3g} (m or rad, s)", here_.v[at], c_.integrator.rates().a[at]));
  }

  // The force whose power changes most over the step that was tried last; empty: none changes.
  std::string fastest_force() {
    State ahead;
    on_the_way(c_.h, false, ahead);
    const UnexplainedEnergy blamed = blame_for_energy(e_, here_, ahead, 0, work_);
    return blamed.by_force ? blamed.part : "";
  }

  // A state on the way of the last accepted one, dt ahead or behind; `frozen` moves the time only.
  void on_the_way(double dt, bool frozen, State& out) const {
    out = here_;
    out.t = here_.t + dt;
    if (frozen) return;
    const Vec delta = dt * here_.v + 0.5 * dt * dt * c_.integrator.rates().a;
    e_.retract(here_.q, delta, out.q);
    out.v = here_.v + dt * c_.integrator.rates().a;
  }

  // Values of a force, or of a motion's rows and their rates, at a state.
  void values_at(bool force, int i, double dt, bool frozen, Vec& out) {
    on_the_way(dt, frozen, state_);
    e_.update(state_, work_);
    if (force) {
      double wrench[6 * max_frames] = {};
      observables_.resize(std::max<std::size_t>(64, e_.force(i).observables().size()));
      e_.observe_force(i, state_, work_, wrench, observables_.data());
      out = Eigen::Map<const Vec>(wrench, 6 * e_.force(i).frames());
      return;
    }
    const Equations::ConstraintInfo info = e_.constraint_info(i);
    double g[max_rows] = {};
    e_.observe_constraint(i, state_, work_, g);
    gdot_.resize(e_.sizes().multipliers());
    e_.velocity_residual(state_, gdot_, work_);
    const int rows = e_.constraint(i).rows();
    out.resize(rows + info.rows);
    out.head(rows) = Eigen::Map<const Vec>(g, rows);
    out.tail(info.rows) = reach_ * gdot_.segment(info.first_row, info.rows);  // as far as it moves in a step
  }

  // Halves the stretch [-reach, reach] around the last good state, keeping the half in which the values change more.
  // What is left of the change over a stretch of round-off is a jump.
  void look_for_jumps() {
    struct Found {
      double jump, at;
      bool force, in_time;
      int i;
    };
    std::vector<Found> found;
    Vec low, high, middle;
    const auto search = [&](bool force, int i, double scale) {
      for (const bool frozen : {true, false}) {
        double a = -reach_, b = reach_;
        values_at(force, i, a, frozen, low);
        values_at(force, i, b, frozen, high);
        const double whole = (high - low).lpNorm<Eigen::Infinity>();
        if (!(whole > 1e-6 * scale) || !std::isfinite(whole)) continue;
        const double narrow = std::max(1e-11 * reach_, 4 * std::numeric_limits<double>::epsilon() * std::abs(here_.t));
        while (b - a > narrow) {
          const double m = 0.5 * (a + b);
          if (m == a || m == b) break;
          values_at(force, i, m, frozen, middle);
          if ((middle - low).lpNorm<Eigen::Infinity>() >= (high - middle).lpNorm<Eigen::Infinity>()) {
            b = m;
            high = middle;
          } else {
            a = m;
            low = middle;
          }
        }
        const double left = (high - low).lpNorm<Eigen::Infinity>();
        // A smooth change of `whole` over the stretch leaves 1e-9 of itself, a square root at its end 1e-5.
        if (left > 1e-3 * whole && left > 1e-6 * scale) {
          found.push_back({left, here_.t + b, force, frozen, i});
          return;
        }
      }
    };
    constexpr int most_looked_at = 2000;  // of each kind: this is a report, not a computation
    for (int f = 0; f < std::min(e_.force_count(), most_looked_at); ++f) {
      values_at(true, f, 0, true, low);
      const double size = low.lpNorm<Eigen::Infinity>();
      search(true, f, std::isfinite(size) ? std::max(size, 1e-6 * e_.greatest_mass()) : 1.0);
    }
    for (int k = 0; k < std::min(e_.constraint_count(), most_looked_at); ++k) {
      if (e_.constraint_info(k).is_motion) search(false, k, e_.length());
    }
    std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.jump > b.jump; });
    if (found.size() > 3) found.resize(3);
    for (const Found& x : found) {
      const std::string part = x.force ? "force '" + e_.model().forces[x.i].name + "'" : constraint_name(e_, x.i);
      const char* where = x.in_time ? "in time" : "where the mechanism passes";
      if (x.force) {
        add(0.9, "force-jumps", part, part + " jumps " + where,
            fmt::format("by {:.3g} N or N m at t = {:.9g} s", x.jump, x.at));
      } else {
        add(0.97, "motion-jumps", part, part + " jumps, or its speed does",
            fmt::format("at t = {:.9g} s; no finite force follows it", x.at));
      }
    }
  }

  // Can the mechanism be assembled a little later, and can it without one of its motions?
  void try_without_each_motion() {
    const Model& model = e_.model();
    if (model.motions.empty() || model.motions.size() > 30 || model.bodies.size() > 3000) return;
    const double end = model.simulation.end;
    for (const double ahead : {4 * reach_, 40 * reach_, 400 * reach_, 1e-3 * end}) {
      // In parts, so that angles over several turns are followed.
      constexpr int parts = 16;
      State good = here_, later = here_;
      double missed = 0;
      for (int part = 1; part <= parts && missed < 1e-6 * e_.length(); ++part) {
        good = later;
        later.t = std::min(here_.t + ahead * part / parts, end);
        missed = assemble(e_, c_.accelerations.saddle(), later, work_);
        e_.accept(later, work_);
      }
      if (missed < 1e-6 * e_.length()) continue;
      for (std::size_t k = 0; k < model.motions.size(); ++k) {
        Model fewer = model;
        fewer.motions.erase(fewer.motions.begin() + static_cast<std::ptrdiff_t>(k));
        const Equations reduced(fewer);
        Workspace work = reduced.make_workspace();
        State state = reduced.initial_state();
        state.q = good.q;
        state.v = good.v;
        state.t = good.t;
        reduced.start(state, work);
        state.t = later.t;
        SaddleSystem saddle(reduced);
        if (assemble(reduced, saddle, state, work) > 1e-7 * e_.length()) continue;
        const std::string part = "motion '" + model.motions[k].name + "'";
        add(0.98, "motion-out-of-reach", part, part + " asks for what the mechanism cannot reach",
            fmt::format("at t = {:.6g} s the joints miss by {:.3g} (m or rad) with it, and close without it", later.t,
                        missed));
      }
      return;
    }
  }
  static double assemble(const Equations& equations, SaddleSystem& saddle, State& state, Workspace& work) {
    const std::vector<bool> none(static_cast<std::size_t>(equations.sizes().nv), false);
    return assemble_positions(equations, state, saddle, work, none).after;
  }

  // Have the constraints lost rank since the start, or nearly?
  void compare_rank() {
    if (c_.initial.rank.rows == 0 || !c_.initial.rank.analysed || e_.sizes().multipliers() > 3000) return;
    const LoopAnalysis now = analyse_loops(constraint_graph(e_, here_, work_));
    const LoopAnalysis& then = c_.initial.rank;
    const LoopGroup* worst = nullptr;
    for (const LoopGroup& group : now.groups) {
      if (worst == nullptr || group.smallest_nonzero < worst->smallest_nonzero) worst = &group;
    }
    const bool lost = now.redundant > then.redundant;
    const bool near = now.smallest_nonzero < 1e-2 * then.smallest_nonzero;
    if (worst == nullptr || (!lost && !near)) return;
    const std::vector<std::string> names = constraint_names(e_);
    std::string parts;
    for (std::size_t i = 0; i < worst->edges.size() && i < 6; ++i)
      parts += (i > 0 ? ", " : "") + names[worst->edges[i]];
    if (worst->edges.size() > 6) parts += ", ...";
    add(lost || now.smallest_nonzero < 1e-4 * then.smallest_nonzero ? 0.8 : 0.6, "singular-position", parts,
        "the mechanism is at, or very near, a singular position (a dead point): " + parts,
        lost ? fmt::format("{} constraint rows are redundant here, {} were at the start", now.redundant, then.redundant)
             : fmt::format("the smallest singular value of the loops is {:.2g}, it was {:.2g} at the start",
                           now.smallest_nonzero, then.smallest_nonzero));
  }

  // Has a row of its own become flat, as that of a joint which is folded? Loops do not show that.
  void compare_rows() {
    const Vec now = sizes_of_rows(here_), then = sizes_of_rows(e_.initial_state());
    int worst = -1;
    double least = 1e-3;
    for (int i = 0; i < now.size(); ++i) {
      if (!(then[i] > 0 && now[i] > 0) || !(now[i] / then[i] < least)) continue;  // zero: not in force
      worst = i;
      least = now[i] / then[i];
    }
    if (worst < 0) return;
    add(0.95, "singular-position", e_.name_of_row(worst),
        "the mechanism is at, or very near, a singular position: where it is now, small motions do not change " +
            e_.name_of_row(worst),
        fmt::format("the gradient of this row is {:.2g} of what it was at the start", least));
  }
  // Of the gradients, in error scales.
  Vec sizes_of_rows(const State& state) {
    Vec sizes = Vec::Zero(e_.sizes().multipliers());
    Partials partials = e_.make_partials(Detail::projection);
    e_.update(state, work_);
    e_.jacobian(state, partials, work_);
    const Vec scales = e_.scales();
    for (int j = 0; j < e_.sizes().nv; ++j) {
      const auto column = static_cast<std::size_t>(j);
      for (int p = e_.gv().start()[column]; p < e_.gv().start()[column + 1]; ++p)
        sizes[e_.gv().row()[p]] += std::pow(partials.G[p] * scales[j], 2);
    }
    return sizes.cwiseSqrt();
  }

  // Does the error fall with the step size? It should, with its third power.
  void look_at_error() {
    const std::size_t rejected = c_.log.rejected_since_accept();
    double first_h = 0, last_h = 0, first_error = 0, last_error = 0;
    for (std::size_t i = 0; i < rejected; ++i) {
      const AttemptRecord& r = c_.log.back(i);
      if (r.verdict != Verdict::ok || !(r.error > 0)) continue;
      if (last_h == 0) {
        last_h = r.h;
        last_error = r.error;
      }
      first_h = r.h;
      first_error = r.error;
    }
    if (!(first_h > 4 * last_h) || last_h == 0) return;
    const double slope = std::log(first_error / last_error) / std::log(first_h / last_h);
    const double round_off = 1e3 * std::numeric_limits<double>::epsilon() * e_.reach(here_.q) / e_.length();
    if (slope > 1) return;
    const bool tight = c_.settings.tolerance < round_off;
    add(tight ? 0.95 : 0.5, "tolerance-below-round-off", "",
        fmt::format("the tolerance {:.3g} asks for less than the round-off of this model", c_.settings.tolerance),
        fmt::format(
            "the error went from {:.3g} to {:.3g} times the tolerance while the step fell from {:.3g} to {:.3g} "
            "s; round-off is about {:.2g} of the length scale",
            first_error, last_error, first_h, last_h, round_off));
  }

  // Steps accepted and rejected in turn, and time hardly moves.
  void look_for_chatter() {
    std::size_t accepted = 0, rejected = 0;
    double earliest = here_.t;
    for (std::size_t i = c_.log.rejected_since_accept(); i < c_.log.size(); ++i) {  // before the last series
      const AttemptRecord& r = c_.log.back(i);
      (r.accepted ? accepted : rejected) += 1;
      earliest = r.t;
    }
    const double moved = here_.t - earliest, average = here_.t / std::max<double>(1, steps());
    if (accepted < 8 || rejected * 3 < accepted || moved > average) return;
    add(0.55, "event-storm", "", "something switches again and again: a contact or a stop that chatters",
        fmt::format("{} of the last {} attempts were rejected, and time moved by {:.3g} s", rejected,
                    accepted + rejected, moved));
  }
  double steps() const { return static_cast<double>(c_.integrator.counts().steps); }

  // With a fixed step: does a smaller one succeed from here?
  void try_smaller_steps() {
    for (const double part : {0.5, 0.25, 0.125, 0.03125}) {
      if (c_.integrator.attempt(part * c_.h).verdict != Verdict::ok) continue;
      const std::string fastest = fastest_force();
      add(0.7, "fixed-step-too-large", fastest, fmt::format("the fixed step of {:.3g} s is too large here", c_.h),
          fmt::format("a step of {:.3g} s succeeds{}", part * c_.h,
                      fastest.empty() ? "" : "; " + fastest + " changes most"));
      return;
    }
  }

  void note_stall() {
    const bool fixed = c_.settings.fixed_step;
    add(fixed ? 0.9 : 0.5, "time-stalled", "",
        fixed ? "the fixed step is too small for the length of the run" : "the steps that succeed are far too small",
        fmt::format("the run would take {:.2g} steps of {:.3g} s", e_.model().simulation.end / c_.h, c_.h));
  }

  void add_verdict() {
    const std::string body = c_.last.worst_velocity >= 0 ? body_name(e_, c_.last.worst_velocity) : "";
    switch (c_.last.verdict) {
      case Verdict::singular_matrix:
        add(0.75, "massless-direction", body, "a direction without mass or inertia that no joint or force holds",
            "the matrix of the equations of motion is singular");
        break;
      case Verdict::angle_too_large:
        add(0.75, "angle-too-fast", body,
            "a rotation changes so much within one step that its turns could be miscounted",
            "it ends a quarter turn or more from where its rate led, or farther than the method can follow");
        break;
      case Verdict::newton_diverged:
        add(0.3, "force-too-stiff", body,
            "a force is far stiffer, or changes faster, than Newton's corrections can follow",
            fmt::format("{} corrections, contracting by {:.2g}, still left {} moving", c_.last.newton_iterations,
                        c_.last.newton_rate, body.empty() ? std::string("it") : body));
        add(0.2, "mechanism-locked", c_.last.worst_row >= 0 ? e_.name_of_row(c_.last.worst_row) : "",
            "the mechanism is locked: joints and motions contradict one another",
            c_.last.worst_row >= 0 ? "largest violation: " + e_.name_of_row(c_.last.worst_row) : "");
        break;
      case Verdict::not_finite:
      case Verdict::evaluation_rejected:
        if (!c_.culprit) {
          const std::string fastest = fastest_force();
          add(0.4, failed_by(Verdict::not_finite) ? "value-not-finite" : "cannot-evaluate",
              fastest.empty() ? body : fastest,
              failed_by(Verdict::not_finite) ? "a force or expression gives infinity or not-a-number"
                                             : "an element cannot be evaluated",
              "it could not be found again at the place where the step failed" +
                  (fastest.empty() ? "" : "; " + fastest + " changes most over it"));
        }
        break;
      case Verdict::ok:
        if (causes_.empty())
          add(0.3, "error-test-fails", body, "the solution is not smooth here, so that no step size is small enough",
              fmt::format("the error is {:.3g} times the tolerance, most of it in {}", c_.last.error,
                          body.empty() ? std::string("no body in particular") : body));
        break;
    }
  }

  const FailureContext& c_;
  const Equations& e_;
  Workspace work_;
  State here_, state_;  // a copy: attempts leave the accepted state alone, but it is asked for often
  Vec gdot_;
  std::vector<double> observables_;
  double reach_ = 0;  // the longest of the last attempts
  std::vector<Cause> causes_;
};

const char* report_id(const FailureContext& c) {
  switch (c.reason) {
    case StopReason::step_at_round_off: return "step-at-round-off";
    case StopReason::step_below_least: return "step-below-least";
    case StopReason::time_stalled: return "time-stalled";
    case StopReason::constraints_violated: return "constraints-violated";
    case StopReason::energy_unexplained: return "energy-unexplained";
    case StopReason::chatter: return "events-chatter";
    case StopReason::attempt_failed: break;
  }
  switch (c.last.verdict) {
    case Verdict::newton_diverged: return "newton-diverges";
    case Verdict::singular_matrix: return "matrix-singular";
    case Verdict::evaluation_rejected: return "cannot-evaluate";
    case Verdict::not_finite: return "value-not-finite";
    case Verdict::angle_too_large: return "angle-too-fast";
    case Verdict::ok: break;
  }
  return c.energy ? "energy-unexplained" : "error-test-fails";
}

std::string what_happened(const FailureContext& c) {
  const std::string last = c.last.verdict != Verdict::ok ? to_text(c.last.verdict)
                           : c.energy                    ? "the energies of the steps did not add up"
                                                         : "the error test failed";
  switch (c.reason) {
    case StopReason::attempt_failed: return last + " with the fixed step";
    case StopReason::step_below_least:
      return last + fmt::format(" until the step was below the least step of {:.3g} s", c.least_step);
    case StopReason::step_at_round_off:
      return last + fmt::format(" until the step ({:.2g} s) was lost in the round-off of the time", c.h);
    case StopReason::time_stalled: return "the time no longer moves: steps are too small for the run ever to end";
    case StopReason::constraints_violated: {
      std::string parts;
      for (const std::string& part : c.violation->parts) parts += (parts.empty() ? "" : ", ") + part;
      return fmt::format("the constraints are violated by {:.3g} (m or rad), since t = {:.6g} s: {}",
                         c.violation->largest, c.violation->since, parts);
    }
    case StopReason::energy_unexplained:
      return "steps bring energy that no force or motion explains, at " + c.energy->part;
    case StopReason::chatter:
      return "events follow each other without end: " + c.equations.name_of_switch(c.chattering);
  }
  return last;
}

}  // namespace

FailureReport diagnose(const FailureContext& context) {
  FailureReport report;
  report.id = report_id(context);
  report.t = context.integrator.state().t;
  report.h = context.h;
  report.what = what_happened(context);
  const Equations& e = context.equations;
  if (context.last.worst_velocity >= 0) report.body = e.name_of_velocity(context.last.worst_velocity);
  if (context.last.worst_row >= 0) report.constraint = e.name_of_row(context.last.worst_row);
  for (std::size_t i = 0; i < context.log.size() && i < 16; ++i) report.attempts.push_back(context.log.back(i));
  Inquest inquest(context);
  try {
    inquest.ask();
  } catch (const Failure&) {
    // A question that cannot be answered leaves the others.
  }
  report.causes = inquest.take_causes();
  for (const Cause& cause : report.causes) {
    if (report.part.empty() && !cause.part.empty()) report.part = cause.part;
    const MessageInfo* info = find_message(cause.id);
    if (info != nullptr && !info->remedy.empty() && report.try_next.size() < 4) {
      const std::string remedy(info->remedy);
      if (std::find(report.try_next.begin(), report.try_next.end(), remedy) == report.try_next.end())
        report.try_next.push_back(remedy);
    }
  }
  report.try_next.push_back(fmt::format("plot the solution just before t = {:.6g} s", report.t));
  return report;
}

}  // namespace trammel
