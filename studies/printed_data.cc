// Data and settings that the sources print, against those of the code: coefficients of methods, parameters of models,
// defaults of options. Nothing is run but a linearisation.
#include <cmath>
#include <numbers>

#include "studies/printed.h"
#include "studies/study.h"
#include "trammel/analyse/linearise.h"
#include "trammel/base/data_directory.h"
#include "trammel/couple/coupling_file.h"
#include "trammel/linalg/eigenvalues.h"
#include "trammel/ode/control/newton_monitor.h"
#include "trammel/ode/control/step_controller.h"
#include "trammel/ode/multistep/multistep_formula.h"
#include "trammel/ode/rosenbrock/rosenbrock_tableau.h"
#include "trammel/ode/runge_kutta/butcher.h"
#include "trammel/ode/runge_kutta/implicit_tableau.h"
#include "trammel/ode/stability.h"
#include "trammel/ode/structural/structural.h"

namespace trammel {
namespace printed_data_study {
namespace {

using std::numbers::pi;

class Checks {
 public:
  explicit Checks(std::vector<Row>& rows) : rows_(rows) {}

  // The datum of the code for a printed number, or its correction; `within` of its size, at least of 1.
  void same(const std::string& id, double ours, double within = 1e-14) {
    const PrintedNumber& n = printed_number(id);
    const double size = std::max(1.0, std::abs(n.target()));
    rows_.push_back(Row::near(n.source + ": " + table_of(n.place), id, n.what, n.target(), ours, within * size)
                        .printed_as(id)
                        .because(within > 1e-13 ? "to the digits printed" : "the same number, to round-off"));
  }
  void digits(const std::string& id, double ours, int count, const std::vector<std::string>& from = {}) {
    const PrintedNumber& n = printed_number(id);
    rows_.push_back(Row::reproduce(n.source + ": " + table_of(n.place), id, n.what, id, ours, count).with(from));
  }
  // Of the last row: what was chosen so that it is met.
  void tuned(const char* what) { rows_.back().tuned = what; }
  void all(const std::vector<std::string>& ids, double ours) {
    for (const std::string& id : ids) same(id, ours);
  }

 private:
  static std::string table_of(const std::string& place) { return place.substr(0, place.find(',')); }
  std::vector<Row>& rows_;
};

std::string number(int i) { return std::to_string(i); }

// ---- RN
// -------------------------------------------------------------------------------------------------------------

void rosenbrock_tables(Checks& check) {
  const RosenbrockTableau& t = RosenbrockTableau::rn43_print();
  const NystromTableau n(t);
  const auto at = [](int i) { return static_cast<std::size_t>(i - 1); };
  check.all({"rn.table1.gamma", "rn.s2.gamma"}, t.gamma);
  for (int i = 1; i <= 4; ++i) {
    for (int j = 1; j < i; ++j) {
      const std::string ij = number(i) + number(j);
      check.same("rn.table1.alpha" + ij, t.A[at(i)][at(j)]);
      check.same("rn.table1.gamma" + ij, t.G[at(i)][at(j)]);
      check.same("rn.table2.theta" + ij, n.theta[at(i)][at(j)]);
      check.same("rn.table2.a" + ij, n.a[at(i)][at(j)]);
      check.same("rn.table2.c" + ij, n.c[at(i)][at(j)]);
      check.same("rn.table2.delta" + ij, n.delta[at(i)][at(j)]);
    }
    check.same("rn.table1.b" + number(i), t.b[at(i)]);
    check.same("rn.table1.bhat" + number(i), t.b_hat[at(i)]);
    check.same("rn.table2.m" + number(i), n.m[at(i)]);
    check.same("rn.table2.mhat" + number(i), n.m_hat[at(i)]);
    check.same("rn.table2.mu" + number(i), n.mu[at(i)]);
    check.same("rn.table2.muhat" + number(i), n.mu_hat[at(i)]);
    if (i == 1) continue;
    check.same("rn.table2.gamma" + number(i), n.gamma_sum[at(i)]);
    check.same("rn.table2.alpha" + number(i), n.alpha[at(i)]);
  }
  check.same("rn.eq11.alpha43", t.A[3][2]);
  check.same("rn.eq14.b3", t.b[2]);
  check.same("rn.eq14.alpha2", n.alpha[1] / t.gamma);
  // The W-method: gamma on the diagonals of delta.
  const RosenbrockTableau& w = RosenbrockTableau::w2();
  const NystromTableau wn(w);
  check.all({"rn.table3.gamma", "rn.table3.delta11", "rn.table3.delta22"}, w.gamma);
  for (int i = 1; i <= 2; ++i) {
    check.same("rn.table3.alpha" + number(i), wn.alpha[at(i)]);
    check.same("rn.table3.gamma" + number(i), wn.gamma_sum[at(i)]);
    check.same("rn.table3.m" + number(i), wn.m[at(i)]);
    check.same("rn.table3.mhat" + number(i), wn.m_hat[at(i)]);
    check.same("rn.table3.mu" + number(i), wn.mu[at(i)]);
    check.same("rn.table3.muhat" + number(i), wn.mu_hat[at(i)]);
  }
  check.same("rn.table3.a21", wn.a[1][0]);
  check.same("rn.table3.c21", wn.c[1][0]);
  check.same("rn.table3.delta21", wn.delta[1][0]);
  check.same("rn.table3.theta21", wn.theta[1][0]);
  check.all({"rn.s1.order.w", "rn.s2.w.order"}, w.order);
  // Counts: stages, orders, evaluations that are not saved; coefficients and the conditions on them.
  check.all({"rn.s2.stages", "rn.s4.stages"}, t.stages);
  check.all({"rn.s1.order", "rn.s2.order", "rn.s4.order"}, t.order);
  check.all({"rn.s2.order.embedded", "rn.s4.order.embedded"}, t.embedded_order);
  int saved = 0;
  for (const bool same : n.same_point) saved += same;
  check.same("rn.s2.evaluations", t.stages - saved);
  check.same("rn.s2.evaluations.saved", saved);
  const int below = t.stages * (t.stages - 1) / 2, unknowns = 1 + 2 * below + t.stages;
  check.all({"rn.s2.coefficients.gamma_ij", "rn.s2.coefficients.alpha_ij"}, below);
  check.same("rn.s2.coefficients.b", t.stages);
  check.all({"rn.s2.coefficients", "rn.s2.equations", "rn.s2.unknowns"}, unknowns);
  // Conditions of order 4 are as many as there are rooted trees, and (10) is one more.
  const int conditions = static_cast<int>(rooted_trees(4).size()) + 1;
  check.same("rn.s2.conditions", conditions);
  check.same("rn.s2.freedoms", unknowns - conditions);
  check.same("rn.s2.conditions.order5", static_cast<double>(rooted_trees(5).size() - rooted_trees(4).size()));
  check.same("rn.s2.trapezoidal.order", ImplicitTableau::trapezoidal().order);
}

Model load(const std::string& file, const ModelChanges& changes = {}) {
  return load_model((data_directory() / "models" / file).string(), changes);
}

double parameter(const Model& model, const std::string& name) {
  for (const Parameter& p : model.parameters) {
    if (p.name == name) return p.value;
  }
  throw Failure({Severity::error, "unknown-name", model.file + " has no parameter " + name, "", {}});
}

const Item& force(const Model& model, const std::string& name) {
  for (const Item& item : model.forces) {
    if (item.name == name) return item;
  }
  throw Failure({Severity::error, "unknown-name", model.file + " has no force " + name, "", {}});
}

int of_type(const std::vector<Item>& items, const std::string& type) {
  return static_cast<int>(std::count_if(items.begin(), items.end(), [&](const Item& i) { return i.type == type; }));
}

// The eigenvalue farthest to the left at the start.
double leftmost_eigenvalue(Model model) {
  Simulation simulation(std::move(model));
  simulation.start();
  const LinearSystem system = linearise_system(simulation.equations(), simulation.integrator().state(),
                                               simulation.integrator().rates(), LinearOutputs::bodies);
  return general_eigenvalues(system.A).real().minCoeff();
}

void rosenbrock_models(Checks& check) {
  const Model m = load("rn_double_pendulum.yaml");
  for (const char* name : {"m1", "m2", "l1", "l2", "k1", "k2", "c1", "c2", "alpha1", "theta2"}) {
    std::string upper = name;
    if (upper[0] == 'l') upper[0] = 'L';
    check.same(std::string("rn.s31.") + name, parameter(m, upper));
  }
  check.same("rn.s31.alpha2",
             force(m, "spring2").fields.number("free_angle") + parameter(m, "theta2") - parameter(m, "theta1"));
  check.same("rn.s31.rsda", of_type(m.forces, "rotational_spring_damper"));
  check.same("rn.s31.bodies", static_cast<double>(m.bodies.size()));
  check.same("rn.s31.revolutes", of_type(m.joints, "revolute"));
  check.same("rn.s31.dof", static_cast<double>(m.simulation.independent.size()));
  check.same("rn.s31.length", m.simulation.end);
  const Body &first = m.bodies[0], &second = m.bodies[1];
  check.same("rn.s31.x1", first.pose.position.x());
  check.same("rn.s31.y1", first.pose.position.y());
  check.digits("rn.s31.x2", second.pose.position.x(), 8);
  check.same("rn.s31.y2", second.pose.position.y(), 1e-6);  // its last digit is cut off, not rounded
  check.same("rn.s31.xdot1", first.velocity.x());
  check.same("rn.s31.ydot1", first.velocity.y());
  check.same("rn.s31.thetadot1", first.angular_velocity.z());
  check.same("rn.s31.xdot2", second.velocity.x());
  check.same("rn.s31.ydot2", second.velocity.y());
  check.same("rn.s31.thetadot2", second.angular_velocity.z());
  check.digits("rn.s31.eigenvalue", leftmost_eigenvalue(m), 2);
  const Model v = load("hmmwv_bump.yaml");
  check.digits("rn.s32.eigenvalue", leftmost_eigenvalue(v), 2);
  check.tuned("the damping of the bushings, 2.5e5 N s/m in place of the printed 2e6, was chosen for this number");
  check.digits("rn.s32.speed", parameter(v, "forward") / 0.44704, 2);
  // Parameters of the corners, as the model of the vehicle holds them.
  const auto corner = [&](const std::string& name) { return parameter(v, "front_left." + name); };
  const double tyre_k = corner("k_tyre"), tyre_c = corner("c_tyre"), bushing_k = corner("k_bushing");
  const auto bushings = std::count_if(v.forces.begin(), v.forces.end(),
                                      [](const Item& item) { return item.name.find("bushing") != std::string::npos; });
  check.same("rn.s32.tsda", static_cast<double>(bushings));
  check.same("rn.s32.tsda.k", bushing_k);
  check.same("rn.s32.tire.k", tyre_k);
  check.same("rn.s32.tire.c", tyre_c);
  check.same("rn.s32.length", v.simulation.end);
}

// ---- HHT
// ------------------------------------------------------------------------------------------------------------

const Field& option(const char* method, const std::string& name) {
  for (const Field& field : find_method(method, {}).options) {
    if (field.name == name) return field;
  }
  throw Failure({Severity::error, "unknown-option", std::string(method) + " has no option " + name, "", {}});
}

void hht_settings(Checks& check) {
  const Field& alpha = option("hht-i3", "alpha");
  check.same("hht.sec1.alpha.low", alpha.least, 1e-11);  // the range is closed with a hair
  check.same("hht.sec1.alpha.high", alpha.most);
  const StructuralParameters newmark = StructuralParameters::hht(0);
  check.all({"hht.sec1.gamma", "hht.eq3.gamma"}, newmark.gamma);
  check.same("hht.sec1.beta", newmark.beta);
  check.same("hht.sec1.alpha.trapezoidal", newmark.alpha_f);
  check.all({"hht.sec33.safety.q", "hht.sec33.safety.d", "hht.sec361.safety", "hht.sec362.safety"},
            StepController::Options().safety);
  const double c = NewtonMonitor::Options().c;
  check.all({"hht.sec34.c", "hht.sec34.c.again", "hht.eq47b.c", "hht.eq48b.c"}, c);
  check.same("hht.sec34.c.percent", 100 * c);
  check.same("hht.sec35.predictor.order", std::get<double>(*option("hht-i3", "predictor_degree").fallback));
  check.same("hht.sec35.predictor.zero", option("hht-i3", "predictor_degree").least);
}

// ---- SPLIT
// ----------------------------------------------------------------------------------------------------------

void split_settings(Checks& check) {
  const Model bearing = load("ball_bearing.yaml");
  check.same("split.fig1.balls", parameter(bearing, "Z"));
  check.same("split.s63.speed", parameter(bearing, "omega") * 30 / pi);
  check.same("split.s63.load", parameter(bearing, "load"));
  const auto default_of = [](const char* name) { return std::get<double>(*option("split", name).fallback); };
  check.all({"split.s61.alpha", "split.s61.alpha.again", "split.s62.alpha", "split.s63.alpha", "split.thm2.alpha",
             "split.s41.alpha"},
            default_of("alpha"));
  check.same("split.s3.range.min", option("split", "beta").least);  // alpha goes down to the -1/2 of section 4.2
  check.same("split.s3.range.max", option("split", "alpha").most);
  check.same("split.s63.beta",
             bearing.simulation.options.has("beta") ? bearing.simulation.options.number("beta") : default_of("beta"));
  check.same("split.s63.h", *bearing.simulation.step);
  const double k = printed_value("split.s22.k"), m = printed_value("split.s22.m");
  check.digits("split.s22.f.translation", std::sqrt(k / m) / (2 * pi), 2, {"split.s22.k", "split.s22.m"});

  const Model masses = load("split_oscillators.yaml");
  check.same("split.s61.particles", static_cast<double>(masses.bodies.size()));
  check.same("split.s61.mass", masses.bodies[0].mass);
  const auto stiffness = [&](const char* name) { return force(masses, name).fields.get<Vec3>("stiffness").x(); };
  const auto damping = [&](const char* name) { return force(masses, name).fields.get<Vec3>("damping").x(); };
  check.all({"split.s61.k.stiff", "split.s61.eq.k"}, stiffness("stiff"));
  check.all({"split.s61.c.stiff", "split.s61.eq.c"}, damping("stiff"));
  check.same("split.s61.k.weak", stiffness("weak"));
  check.same("split.s61.c.weak", damping("weak"));
  check.same("split.s61.q1", masses.bodies[0].pose.position.x());
  check.same("split.s61.q2", masses.bodies[1].pose.position.x());
  check.same("split.s61.v1", masses.bodies[0].velocity.x());
  check.same("split.s61.v2", masses.bodies[1].velocity.x());
  check.same("split.s61.h", *masses.simulation.step);
  // Matrices: who is between which bodies.
  Simulation simulation(masses);
  simulation.start();
  const LinearSystem system = linearise_system(simulation.equations(), simulation.integrator().state(),
                                               simulation.integrator().rates(), LinearOutputs::bodies);
  std::vector<int> x, v;  // states along x of both masses
  for (int i = 0; i < static_cast<int>(system.states.size()); ++i) {
    if (system.states[static_cast<std::size_t>(i)].name.find(" x") == std::string::npos) continue;
    (i < system.positions ? x : v).push_back(i);
  }
  if (x.size() == 2 && v.size() == 2) {
    const char* const names[2] = {"1", "2"};
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) {
        const std::string ij = std::string(names[i]) + names[j];
        const double all = -system.A(v[static_cast<std::size_t>(i)], x[static_cast<std::size_t>(j)]),
                     rate = -system.A(v[static_cast<std::size_t>(i)], v[static_cast<std::size_t>(j)]);
        const double weak = i == 0 && j == 0 ? stiffness("weak") : 0;
        check.same("split.s61.eq.weak." + ij, all - stiffness("stiff") * printed_value("split.s61.eq.k." + ij), 1e-9);
        check.same("split.s61.eq.k." + ij, (all - weak) / stiffness("stiff"), 1e-11);
        check.same("split.s61.eq.c." + ij, rate / damping("stiff"), 1e-11);
      }
    }
    // Undamped frequencies: the slow mode of both masses, the fast one against each other.
    check.digits("split.s61.f.weak", std::sqrt(stiffness("weak") / 2) / (2 * pi), 4);
    check.digits("split.s61.f.stiff", std::sqrt(2 * stiffness("stiff")) / (2 * pi), 3);
  }
  const Model swing = load("split_pendulum.yaml");
  check.same("split.s62.mass", swing.bodies[0].mass);
  check.same("split.s62.gx", swing.gravity.x());
  check.same("split.s62.gy", swing.gravity.y());
  check.same("split.s62.qx", swing.bodies[0].pose.position.x());
  check.same("split.s62.qy", swing.bodies[0].pose.position.y());
  check.same("split.s62.vx", swing.bodies[0].velocity.x());
  check.same("split.s62.vy", swing.bodies[0].velocity.y());
  check.same("split.s62.h", *swing.simulation.step);
  check.same("split.s62.beta", swing.simulation.options.number("beta"));
  // The spring's force on the bob at its start, (1.01^2 - 1) 1.01 k: stiffness and length of the print.
  Simulation started(swing);
  started.start();
  const double at = swing.bodies[0].pose.position.x(), a = started.integrator().rates().a[0];
  check.same("split.s62.eq.k", -a / ((at * at - 1) * at), 1e-10);
  check.all({"split.s62.length", "split.s62.constraint", "split.s62.eq.length", "split.s62.constraint.error"},
            at * at + a / (printed_value("split.s62.eq.k") * at));
}

// ---- GLUE
// -----------------------------------------------------------------------------------------------------------

void glue_settings(Checks& check) {
  const Model first = load("glue_pendulum.yaml"), second = load("glue_rod.yaml");
  check.same("glue.table1.l1", parameter(first, "L1"));
  check.same("glue.table1.m1", parameter(first, "m1"));
  check.same("glue.table1.j1", parameter(first, "J1"));
  check.same("glue.table1.l2", parameter(second, "L2"));
  check.same("glue.table1.m2", parameter(second, "m2"));
  check.same("glue.table1.j2", parameter(second, "J2"));
  // The joint of body 2 is half its length from its mass centre, whichever way the body points.
  const auto top = static_cast<std::size_t>(second.find_frame("top"));
  const double arm = second.frames[top].local.position.norm() / parameter(second, "L2");
  check.all({"glue.eq12.x", "glue.eq12.y"}, arm);
  check.same("glue.eq16.tau", parameter(first, "torque"));
  check.same("glue.sec511.tau", parameter(first, "torque"));
  check.same("glue.fig3.tau", parameter(first, "torque"));
  const CouplingSpec spec = read_coupling((data_directory() / "couplings/double_pendulum.yaml").string());
  check.all({"glue.sec4.tolerance", "glue.sec511.tolerance"}, spec.settings.tolerance);
  for (const PrintedNumber& n : printed_list()) {
    if (n.source != "glue" || n.id.size() < 2 || n.id.substr(n.id.size() - 2) != ".h") continue;
    check.same(n.id, spec.settings.step);
  }
  check.all({"glue.eq18.phi.numerator.to", "glue.eq18.phi.denominator.to", "glue.eq18.rate.numerator.to",
             "glue.eq18.rate.denominator.to", "glue.sec53.period.to", "glue.table2.caption.to",
             "glue.table3.caption.to", "glue.sec53.late.to", "glue.sec54.duration"},
            spec.settings.end);
  check.same("glue.sec54.steps", std::round(spec.settings.end / spec.settings.step));
  check.all({"glue.fig18.left.degree", "glue.fig18.right.degree"}, spec.settings.degree);
  // Schemes: coefficients of the inputs of one row and conditions, and of the two rows of the pin.
  const CouplingScheme &plain = find_scheme("displacement", {}), &both = find_scheme("displacement-velocity", {});
  const auto conditions = [](const CouplingScheme& s) { return static_cast<double>(s.conditions.size()); };
  const int pin = Equations(load("glue_double_pendulum.yaml")).sizes().ng / 2;  // rows of one of its two hinges
  check.all({"glue.sec2.left.parameters", "glue.fig1.left.parameters"}, free_coefficients(plain));
  check.all({"glue.sec2.right.parameters", "glue.fig1.right.parameters"}, free_coefficients(both));
  check.same("glue.sec2.growth", conditions(both) / conditions(plain));
  check.same("glue.sec3.conditions.d", pin * conditions(plain));
  check.same("glue.sec3.conditions.dv", pin * conditions(both));
  check.same("glue.sec3.parameters.dv", pin * free_coefficients(both));
  check.same("glue.sec3.inputs", pin);
  check.same("glue.sec3.inputs.ggl", 2 * pin * free_coefficients(plain));
  check.all({"glue.sec512.step"}, free_coefficients(plain) / static_cast<double>(free_coefficients(both)));
  check.all({"glue.sec512.switch"}, static_cast<double>(free_coefficients(both)) / free_coefficients(plain));
  check.same("glue.sec54.half", 1.0 / free_coefficients(both));
}

// ---- TEXT
// -----------------------------------------------------------------------------------------------------------

void textbook_formulas(Checks& check) {
  const auto list = [&](const std::string& table, const char* name, int k, const MultistepFormula& m) {
    const std::string row = "text." + table + "." + name + number(k) + ".";
    check.same(row + name, m.order());
    const auto each = [&](const char* letter, const std::vector<double>& values) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        const std::string id = row + letter + std::to_string(i);
        const bool printed = std::any_of(printed_list().begin(), printed_list().end(),
                                         [&](const PrintedNumber& n) { return n.id == id; });
        if (printed) check.same(id, values[i]);
      }
    };
    each("alpha", m.alpha);
    each("beta", m.beta);
  };
  for (int k = 1; k <= 5; ++k) {
    list("table7-1", "k", k, MultistepFormula::adams_bashforth(k));
    list("table7-2", "k", k, MultistepFormula::adams_moulton(k));
    if (k <= 4) list("table7-3", "p", k, MultistepFormula::bdf(k));
  }
  const MultistepFormula ab = MultistepFormula::adams_bashforth(4), am = MultistepFormula::adams_moulton(4);
  check.same("text.sec7-1-3.ab4.factor", 1 / ab.alpha[0]);
  check.same("text.sec7-1-3.am4.factor", 1 / am.alpha[0]);
  for (int i = 0; i < 4; ++i) check.same("text.sec7-1-3.ab4.f" + number(i), -ab.beta[static_cast<std::size_t>(i) + 1]);
  check.same("text.sec7-1-3.am4.f_next", -am.beta[0]);
  check.same("text.sec7-1-3.am4.f0", -am.beta[1]);
  check.same("text.sec7-1-3.am4.f1", -am.beta[2]);
  check.all({"text.sec7-1-3.ab4.truncation", "text.sec7-1-3.ab4.predictor_error"}, ab.error_constant());
  check.all({"text.sec7-1-3.am4.truncation", "text.sec7-1-3.am4.corrector_error"}, am.error_constant());
  check.same("text.sec7-1-3.milne", milne_factor(ab, am));
  const MultistepFormula rule = MultistepFormula::adams_moulton(2);
  check.same("text.sec7-1-3.trapezoidal.alpha0", -rule.alpha[1] / rule.alpha[0]);
  check.same("text.sec7-1-3.trapezoidal.beta0", rule.beta[1] / rule.alpha[0]);

  const ButcherTableau &euler = ButcherTableau::euler(), &heun = ButcherTableau::heun(), &rk4 = ButcherTableau::rk4();
  check.same("text.sec7-1-1.euler.truncation", euler.error_coefficients(euler.b, 2).cwiseAbs().maxCoeff());
  check.same("text.sec7-1-1.euler.stability", euler.real_interval(), 1e-6);
  check.same("text.sec7-1-2.heun.denominator", 1 / heun.b[0]);
  check.same("text.sec7-1-2.rk4.factor", rk4.b[0]);
  check.same("text.sec7-1-2.rk4.k2.time", 1 / rk4.c[1]);
  check.same("text.sec7-1-2.rk4.k2.state", 1 / rk4.A(1, 0));
  check.same("text.sec7-1-2.rk4.k3.time", 1 / rk4.c[2]);
  check.same("text.sec7-1-2.rk4.k3.state", 1 / rk4.A(2, 1));
  check.same("text.figure7-1.order", rk4.order);
  const ImplicitTableau trapezoidal = ImplicitTableau::trapezoidal();
  check.same("text.sec7-1-2.trapezoidal.a1", std::max(std::abs(trapezoidal.A(0, 0)), std::abs(trapezoidal.A(0, 1))));
  check.same("text.sec7-1-2.trapezoidal.a2", 0.5 * (trapezoidal.A(1, 0) + trapezoidal.A(1, 1)));
  check.same("text.sec7-1-2.trapezoidal.c1", trapezoidal.c[0]);
  check.same("text.sec7-1-2.trapezoidal.c2", trapezoidal.c[1]);
  check.all({"text.sec7-1-2.trapezoidal.b", "text.sec7-1-2.trapezoidal.factor", "text.example7-1.trapezoidal.factor"},
            trapezoidal.b[0]);
  // Norsett's a21 = 1 - 2 alpha and c2 = 1 - alpha, from two values of alpha.
  const ImplicitTableau at0 = ImplicitTableau::norsett(0, 2), at1 = ImplicitTableau::norsett(1, 2);
  check.same("text.sec7-1-2.norsett.a21.constant", at0.A(1, 0));
  check.same("text.sec7-1-2.norsett.a21.alpha", at1.A(1, 0) - at0.A(1, 0));
  check.same("text.sec7-1-2.norsett.a12", at1.A(0, 1));
  check.same("text.sec7-1-2.norsett.b", at1.b[0]);
  check.same("text.sec7-1-2.norsett.c2", at0.c[1]);
  // Alphas by what they are for: R(inf) = 0, and the third condition of order 3.
  const auto root = [](double low, double high, const auto& f) {
    const bool rising = f(high) > f(low);
    for (int i = 0; i < 60; ++i) {
      const double middle = 0.5 * (low + high);
      ((f(middle) < 0) == rising ? low : high) = middle;
    }
    return low;
  };
  check.same("text.sec7-1-2.norsett.alpha.l_stable",
             root(0.2, 0.4,
                  [](double alpha) {
                    const ImplicitTableau t = ImplicitTableau::norsett(alpha, 2);
                    return stability_function(t.A, t.b, Complex(-1e12, 0)).real();
                  }),
             1e-8);
  check.same("text.sec7-1-2.norsett.alpha.order3", root(0.7, 0.9, [](double alpha) {
               const ImplicitTableau t = ImplicitTableau::norsett(alpha, 3);
               return t.b.dot(t.c.cwiseProduct(t.c)) - 1.0 / 3;
             }));
}

void textbook_structural(Checks& check) {
  const StructuralParameters rule = StructuralParameters::hht(0);
  check.all({"text.sec7-1-5.trapezoidal.beta", "text.sec7-1-5.trapezoidal.accurate.beta", "text.example7-2.beta"},
            rule.beta);
  check.all({"text.sec7-1-5.trapezoidal.gamma", "text.sec7-1-5.trapezoidal.accurate.gamma", "text.example7-2.gamma",
             "text.sec7-1-5.newmark.a_stable.gamma"},
            rule.gamma);
  check.all({"text.sec7-1-5.hht.alpha.newmark", "text.sec7-1-5.hht.alpha.undamped"}, rule.alpha_f);
  const Field& alpha = option("hht-i3", "alpha");
  check.same("text.sec7-1-5.hht.alpha.low", alpha.least, 1e-11);
  check.same("text.sec7-1-5.hht.alpha.high", alpha.most);
  // gamma = (1 - 2 alpha)/2 and beta = (1 - alpha)^2/4 from alpha = 0 and -0.1.
  const StructuralParameters damped = StructuralParameters::hht(-0.1);
  check.same("text.sec7-1-5.hht.gamma.factor", rule.gamma);
  check.same("text.sec7-1-5.hht.gamma.constant", rule.gamma / 0.5);
  check.same("text.sec7-1-5.hht.gamma.alpha", (damped.gamma - rule.gamma) / (-0.1 * 0.5), 1e-13);
  check.same("text.sec7-1-5.hht.beta.factor", rule.beta);
  check.same("text.sec7-1-5.hht.beta.constant", std::sqrt(damped.beta / rule.beta) - 0.1, 1e-13);
  // Least theta of an unconditionally stable Wilson method: growth above 1 below it, at large frequencies.
  const auto radius = [](double theta, double b, double g) {
    double largest = 0;
    for (double Omega = 0.1; Omega < 1e4; Omega *= 1.3)
      largest =
          std::max(largest, general_eigenvalues(amplification(StructuralParameters::collocation(theta, b, g), Omega))
                                .cwiseAbs()
                                .maxCoeff());
    return largest;
  };
  double low = 1, high = 2;
  const double beta = printed_value("text.sec7-1-5.wilson.newmark.beta"),
               gamma = printed_value("text.sec7-1-5.wilson.newmark.gamma");
  for (int i = 0; i < 40; ++i) (radius(0.5 * (low + high), beta, gamma) > 1 + 1e-7 ? low : high) = 0.5 * (low + high);
  check.digits("text.sec7-1-5.wilson.theta", high, 3,
               {"text.sec7-1-5.wilson.newmark.beta", "text.sec7-1-5.wilson.newmark.gamma"});
  // Newmark damps above gamma = 1/2 only; it is A-stable from 2 beta = gamma on.
  check.same(
      "text.sec7-1-5.newmark.damping.gamma",
      [&] {
        double from = 0.4, to = 0.7;
        for (int i = 0; i < 40; ++i) {
          const double tried = 0.5 * (from + to), with = 0.25 * (tried + 0.5) * (tried + 0.5);
          const double now =
              general_eigenvalues(amplification(StructuralParameters::newmark(with, tried), 0.5)).cwiseAbs().maxCoeff();
          (now < 1 - 1e-12 ? to : from) = tried;
        }
        return to;
      }(),
      1e-6);
  double least = 0.1, most = 1;  // beta at gamma = 0.6
  for (int i = 0; i < 40; ++i) (radius(1, 0.5 * (least + most), 0.6) > 1 + 1e-7 ? least : most) = 0.5 * (least + most);
  check.same("text.sec7-1-5.newmark.a_stable.beta", 0.6 / most, 1e-3);
  // The double pendulum of Example 7.2: masses, velocities, and its mass matrix from the equations.
  const Model m = load("text_pendulum.yaml");
  check.all({"text.example7-2.elements", "text.problem7-4.links"}, static_cast<double>(m.bodies.size()));
  check.same("text.example7-2.mass", m.bodies[0].mass);
  check.same("text.example7-2.length", m.bodies[0].pose.position.norm());
  check.same("text.example7-2.velocity", m.bodies[0].angular_velocity.z());
  check.all({"text.example7-2.coordinates", "text.problem7-3.coordinates"},
            static_cast<double>(m.simulation.independent.size()));
  check.same("text.example7-2.step", *m.simulation.step);
}

std::vector<Row> run(const StudyContext& context) {
  std::vector<Row> rows;
  Checks check(rows);
  context.note("coefficients and settings");
  guard(rows, "rn", "tables", [&] { rosenbrock_tables(check); });
  guard(rows, "rn", "models", [&] { rosenbrock_models(check); });
  guard(rows, "hht", "settings", [&] { hht_settings(check); });
  guard(rows, "split", "settings", [&] { split_settings(check); });
  guard(rows, "glue", "settings", [&] { glue_settings(check); });
  guard(rows, "text", "formulas", [&] { textbook_formulas(check); });
  guard(rows, "text", "structural methods", [&] { textbook_structural(check); });
  return rows;
}

}  // namespace
}  // namespace printed_data_study

std::vector<Row> study_printed_data(const StudyContext& context) { return printed_data_study::run(context); }

}  // namespace trammel
