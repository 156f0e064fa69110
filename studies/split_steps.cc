// SPLIT, what its sections 2.2, 3 and 5 say beside the examples: estimates of frequencies by the modes of the masses
// and stiffnesses that they are made of, the special cases of (5) as identities, estimator (15), and Sundman's
// transformation (14) with a scaling of the user's own, as it is and reversible.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "studies/printed.h"
#include "studies/split_parts.h"
#include "studies/stepping.h"
#include "trammel/analyse/modes.h"
#include "trammel/elements/build.h"

namespace trammel::split_study {

Model pushed_mass(const std::string& A, const std::string& B, double q, double v) {
  Model model;
  Body body;
  body.name = "p";
  body.kind = "point";
  body.mass = 1;
  body.pose.position = Vec3(q, 0, 0);
  body.velocity = Vec3(v, 0, 0);
  const int base = model.add_frame(ground, {}), frame = model.add_frame(model.add_body(body), {});
  const auto push = [&](const char* name, const std::string& force) {
    Fields fields;
    fields.set("fx", ExpressionText{force, {}});
    return static_cast<std::size_t>(add_force(model, "force", name, {base, frame}, std::move(fields)));
  };
  if (!A.empty()) push("a", A);
  if (!B.empty()) model.forces[push("b", B)].implicit = true;
  model.simulation.length = 1;
  return model;
}

Eigen::Vector2d end_of_mass(Model model, double end, double h, const std::vector<std::string>& options) {
  ModelChanges changes;
  changes.end = end;
  if (h > 0) {
    changes.method = "split";
    changes.step = h;
    changes.options = options;
    changes.options.emplace_back("corrector=1e-14");
  } else {
    changes.method = "dormand-prince-853";
    changes.tolerance = 3e-14;
  }
  apply_changes(model, changes);
  const SteppedRun run = step_model(std::move(model));
  if (!run.finished) throw std::runtime_error(run.why);
  return {run.last.q[0], run.last.v[0]};
}

namespace {

// ---- Section 2.2
// -----------------------------------------------------------------------------------------------------------------

// The highest frequency of a model at rest, Hz.
double highest_frequency(Model model) {
  model.simulation.length = 1;
  Simulation simulation(std::move(model));
  simulation.start();
  const Modes modes =
      find_modes(simulation.equations(), simulation.integrator().state(), simulation.integrator().rates());
  double most = 0;
  for (const Mode& mode : modes.undamped) most = std::max(most, mode.frequency);
  return most;
}

// A ball, and the outer ring about a diameter, on a contact of the printed stiffness, which is normal to the motion of
// the place where it acts.
Model on_a_contact(bool turns) {
  const double k = printed_value("split.s22.k");
  Model model;
  Body body;
  body.name = "body";
  body.kind = turns ? "planar" : "point";
  body.mass = printed_value("split.s22.m");
  if (turns) body.inertia(2, 2) = printed_value("split.s22.j");
  const int moving = model.add_body(body), base = model.add_frame(ground, {});
  Pose at;
  if (turns) {
    add_joint(model, "revolute", "pivot", ground, moving, Vec3::Zero());
    at.position = Vec3(printed_value("split.s22.r"), 0, 0);
  }
  Fields fields;
  fields.set("fy", ExpressionText{text("-%.17g*dy(contact)", k), {}});
  add_force(model, "force", "spring", {base, model.add_frame(moving, at, "contact")}, std::move(fields));
  return model;
}

void estimates(std::vector<Row>& rows) {
  const std::string table = "Section 2.2, estimates of frequencies, from the modes of the printed masses and stiffness";
  guard(rows, table, "frequencies", [&] {
    const double ball = highest_frequency(on_a_contact(false)), ring = highest_frequency(on_a_contact(true)),
                 h = printed_value("split.s22.h");
    rows.push_back(Row::reproduce(table, "a ball", "frequency, Hz", "split.s22.f.translation", ball, 2));
    rows.push_back(
        Row::reproduce(table, "the outer ring about a diameter", "frequency, Hz", "split.s22.f.rotation", ring, 2)
            .with({"split.s22.j", "split.s22.r"}));
    // An oscillator of this frequency by (5): its phase after a hundred steps.
    const double w = 2 * std::numbers::pi * ball, end = 100 * h;
    const Eigen::Vector2d ours = end_of_mass(pushed_mass(text("-%.17g*dx(p)", w * w), "", 1, 0), end, h, {});
    rows.push_back(
        Row::at_most(
            table, "a ball in steps of 1e-6 s", "error of the phase after 100 steps, by the phase", 1e-3,
            std::abs(std::atan2(ours[1] / w, ours[0]) - std::atan2(-std::sin(w * end), std::cos(w * end))) / (w * end))
            .with({"split.s22.h"})
            .because("\"small enough to fully capture the dynamics of A\": (h w)^2/24 = 4e-4"));
  });
}

// ---- Section 3
// -----------------------------------------------------------------------------------------------------------------

struct Point {
  double t = 0, q = 0.7, v = -0.4;
};

void special_cases(std::vector<Row>& rows) {
  const std::string table = "Table of section 3, 40 steps of (5) beside 40 steps of the method that it is then";
  const double h = 0.1;
  const auto compare = [&](const char* name, const std::string& A, const std::string& B,
                           const std::vector<std::string>& options, const std::vector<std::string>& ids, auto&& step) {
    guard(rows, table, name, [&] {
      Point p;
      for (int i = 0; i < 40; ++i) {
        step(p);
        p.t += h;
      }
      const Eigen::Vector2d ours = end_of_mass(pushed_mass(A, B, Point().q, Point().v), p.t, h, options);
      rows.push_back(Row::error(table, name, "largest difference of q and v at the end",
                                std::max(std::abs(ours[0] - p.q), std::abs(ours[1] - p.v)), 1e-12)
                         .with(ids)
                         .because("the same to round-off, which forty steps add up"));
    });
  };
  compare("Stoermer-Verlet: B = 0, alpha = 1/2, A(q, t)", "-sin(dx(p)) + 0.2*cos(time)", "",
          {text("alpha=%g", printed_value("split.s3.table.verlet.alpha"))},
          {"split.s3.table.verlet.b", "split.s3.table.verlet.alpha"}, [&](Point& p) {
            p.q += 0.5 * h * p.v;
            p.v += h * (-std::sin(p.q) + 0.2 * std::cos(p.t + 0.5 * h));
            p.q += 0.5 * h * p.v;
          });
  compare("explicit Euler for v: B = 0, A(v)", "1 - vx(p)^3", "", {"alpha=1"}, {"split.s3.table.euler.b"},
          [&](Point& p) {
            const double before = p.v;
            p.v += h * (1 - before * before * before);
            p.q += 0.5 * h * (before + p.v);
          });
  // y1 = y0 + h f((y0 + y1)/2) in (q, v), by fixed points
  compare("implicit midpoint rule: A = 0, beta = 1/2", "", "-2*dx(p)^3 - 0.5*vx(p) + 0.4*sin(2*time)",
          {text("beta=%g", printed_value("split.s3.table.midpoint.beta"))},
          {"split.s3.table.midpoint.a", "split.s3.table.midpoint.beta"}, [&](Point& p) {
            Point next = p;
            for (int i = 0; i < 100; ++i) {
              const double q = 0.5 * (p.q + next.q), v = 0.5 * (p.v + next.v);
              next.q = p.q + h * v;
              next.v = p.v + h * (-2 * q * q * q - 0.5 * v + 0.4 * std::sin(2 * (p.t + 0.5 * h)));
            }
            p = next;
          });
}

// ---- Section 5
// -----------------------------------------------------------------------------------------------------------------

const char* const estimator_name = "Section 5.1, estimator (15) as printed";

// On A = -k q the estimate is k, and tol = h^2 sigma = 4 asks for the step at which (5) stops being stable.
void estimator_at_its_limit(std::vector<Row>& rows) {
  const double k = 400, tol = printed_value("split.s51.tol");
  guard(rows, estimator_name, "A = -k q", [&] {
    Model model = pushed_mass(text("-%g*dx(p)", k), "", 1, 0.3);
    ModelChanges changes;
    changes.method = "split";
    changes.tolerance = 1e-3;
    changes.end = 1;
    changes.options = {"control=printed", "bound=1", text("epsilon=%.17g", std::sqrt(tol))};
    apply_changes(model, changes);
    const SteppedRun run = step_model(std::move(model), {.keep_steps = true});
    if (!run.finished) throw std::runtime_error(run.why);
    const double h = run.h.at(run.h.size() / 2);
    rows.push_back(Row::near(estimator_name, "A = -k q", "h^2 k of the steps for tol = 4",
                             printed_value("split.s51.limit"), h * h * k, 1e-9)
                       .printed_as("split.s51.limit")
                       .with({"split.s51.tol"})
                       .because("the estimate is exact on a linear force: round-off"));
    rows.push_back(Row::near(estimator_name, "A = -k q", "evaluations of A a step", 2,
                             static_cast<double>(run.counts.explicit_evaluations) / static_cast<double>(run.steps),
                             1e-12)
                       .because("A at the start and at alpha; the source does not count the first"));
  });
}

// For alpha != 1/2 a step with h^2 sigma = tol leaves the same relative error of velocities wherever it is, |2 alpha -
// 1|/2 of tol by Lemma 1; for alpha = 1/2 the term is zero.
void estimator_and_local_error(std::vector<Row>& rows) {
  guard(rows, estimator_name, "local error", [&] {
    const auto A = [](double q) { return -400 * q - 100 * q * q * q; };
    const char* const force = "-400*dx(p) - 100*dx(p)^3";
    const double tol = 1e-4;
    const auto relative_error = [&](double alpha, double q, double v) {
      double h = 1e-3;
      for (int i = 0; i < 50; ++i) h = std::sqrt(tol * h * alpha * std::abs(v) / std::abs(A(q + h * alpha * v) - A(q)));
      const Eigen::Vector2d E = end_of_mass(pushed_mass(force, "", q, v), h, h, {text("alpha=%.17g", alpha)}) -
                                end_of_mass(pushed_mass(force, "", q, v), h, 0, {});
      return std::abs(E[1]) / (tol * std::abs(v));
    };
    const std::pair<double, double> states[] = {{0.7, -4}, {0.1, 30}, {2, 60}};
    for (const double alpha : {0.25, 0.75, printed_value("split.s51.alpha")}) {
      const bool half = alpha == 0.5;
      for (const auto& [q, v] : states) {
        const std::string row = text("alpha = %g", alpha) + text(", q = %g, v = %g", q, v);
        const char* const quantity = "error of v in a step by h^2 sigma |v|";
        const double ours = relative_error(alpha, q, v), law = std::abs(2 * alpha - 1) / 2;
        if (half)
          rows.push_back(Row::at_most(estimator_name, row, quantity, 0.03, ours)
                             .with({"split.s51.alpha"})
                             .because("the term is zero for alpha = 1/2, and what is left is of the order of h, a "
                                      "hundredth of a period"));
        else
          rows.push_back(Row::near(estimator_name, row, quantity, law, ours, 0.03)
                             .because("|2 alpha - 1|/2, Lemma 1; what is left is of the order of h, a hundredth of a "
                                      "period"));
      }
    }
  });
}

// An orbit of eccentricity 1/2 by Sundman's transformation with s = r^(3/2), forwards and back with the velocities
// turned round. The way back starts with the last step of the way there.
Model orbit(const Eigen::Vector4d& start) {
  Model model;
  Body body;
  body.name = "p";
  body.kind = "point";
  body.mass = 1;
  body.pose.position = Vec3(start[0], start[1], 0);
  body.velocity = Vec3(start[2], start[3], 0);
  const int base = model.add_frame(ground, {}), frame = model.add_frame(model.add_body(body), {});
  Fields fields;
  fields.set("fx", ExpressionText{"-dx(p)*(dx(p)^2 + dy(p)^2)^(-1.5)", {}});
  fields.set("fy", ExpressionText{"-dy(p)*(dx(p)^2 + dy(p)^2)^(-1.5)", {}});
  add_force(model, "force", "sun", {base, frame}, std::move(fields));
  Variable s;
  s.name = "s";
  s.expression = ExpressionText{"(dx(p)^2 + dy(p)^2)^0.75", {}};
  model.variables.push_back(s);
  model.simulation.length = 1;
  return model;
}

struct Leg {
  Eigen::Vector4d end;
  double last = 0, least = 1e300, greatest = 0;  // steps
};

Leg fly(const Eigen::Vector4d& start, const std::string& control, double first, int steps) {
  Model model = orbit(start);
  ModelChanges changes;
  changes.method = "split";
  changes.tolerance = 1e-3;
  changes.options = {"beta=0.5", "epsilon=0.05", "control=" + control, "scaling=s"};
  apply_changes(model, changes);
  Simulation simulation(std::move(model));
  simulation.start();
  Integrator& method = simulation.integrator();
  Leg leg;
  double h = first;
  for (int i = 0; i < steps; ++i) {
    const Attempt attempt = method.attempt(h);
    if (attempt.verdict != Verdict::ok) throw std::runtime_error("a step of the orbit failed");
    if (attempt.error > 1) {  // the first step back, which is longer than s allows here
      h = attempt.suggested_h;
      --i;
      continue;
    }
    method.accept();
    leg.last = h;
    leg.least = std::min(leg.least, h);
    leg.greatest = std::max(leg.greatest, h);
    h = attempt.suggested_h;
  }
  const State& s = method.state();
  leg.end << s.q[0], s.q[1], s.v[0], s.v[1];
  return leg;
}

void there_and_back(std::vector<Row>& rows) {
  const std::string table =
      "Section 5, (14) with s = r^(3/2): an orbit of eccentricity 1/2, 1000 steps and as many back";
  for (const char* control : {"scaling", "reversible"}) {
    guard(rows, table, control, [&] {
      const Eigen::Vector4d start(0.5, 0, 0, std::sqrt(3.0)), turn(1, 1, -1, -1);
      const Leg there = fly(start, control, 0.05 * std::pow(0.5, 1.5), 1000);
      const Leg back = fly(there.end.cwiseProduct(turn), control, there.last, 1000);
      const double error = (back.end - start.cwiseProduct(turn)).lpNorm<Eigen::Infinity>();
      if (control == std::string("reversible"))
        rows.push_back(
            Row::error(table, control, "largest difference from the start", error, 1e-10).because("round-off"));
      else
        rows.push_back(Row::at_least(table, control, "largest difference from the start", 1e-6, error)
                           .because("h = epsilon s(z_n) reads differently on the way back"));
      rows.push_back(Row::at_least(table, control, "longest step by the shortest", 4, there.greatest / there.least)
                         .because("3^(3/2) = 5.2 between the ends of the orbit"));
    });
  }
}

}  // namespace

void estimates_and_special_cases(const StudyContext& context, std::vector<Row>& rows) {
  context.note("sections 2.2 and 3");
  estimates(rows);
  special_cases(rows);
}

void scaled_steps(const StudyContext& context, std::vector<Row>& rows) {
  context.note("section 5");
  estimator_at_its_limit(rows);
  estimator_and_local_error(rows);
  there_and_back(rows);
}

}  // namespace trammel::split_study
