#include "studies/random_models.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>

#include "trammel/elements/build.h"
#include "trammel/elements/registry.h"
#include "trammel/math/rotation.h"
#include "trammel/run/simulation.h"

namespace trammel::problems {
namespace {

enum class Kind { spatial, planar, points, redundant };
const char* kind_name(Kind kind) {
  switch (kind) {
    case Kind::spatial: return "spatial";
    case Kind::planar: return "planar bodies";
    case Kind::points: return "points";
    case Kind::redundant: return "redundant";
  }
  return "";
}
// Most are spatial.
Kind kind_of(unsigned seed) {
  constexpr Kind turns[] = {Kind::spatial, Kind::spatial, Kind::planar,  Kind::spatial, Kind::redundant,
                            Kind::spatial, Kind::points,  Kind::spatial, Kind::planar,  Kind::spatial};
  return turns[seed % 10];
}

class Maker {
 public:
  explicit Maker(unsigned seed) : random_(seed * 2654435761U + 17), kind_(kind_of(seed)) {
    m_.title = std::string("random mechanism ") + std::to_string(seed);
  }

  Model make() {
    const bool flat = kind_ == Kind::planar || kind_ == Kind::redundant;
    m_.gravity = between(0, 1) < 0.2 ? Vec3::Zero() : Vec3(9.81 * direction());
    if (kind_ == Kind::planar) m_.gravity.z() = 0;
    normal_ = kind_ == Kind::redundant ? direction() : Vec3::UnitZ();
    const int count = whole(2, 7);
    for (int i = 0; i < count; ++i) add_body(flat);
    if (kind_ == Kind::points) {
      add_rods();
    } else {
      for (int i = 0; i < count; ++i) {
        const int parent = i == 0 || between(0, 1) < 0.15 ? ground : whole(std::max(0, i - 2), i - 1);
        join(parent, i, flat);
      }
      close_loops(flat);
      if (between(0, 1) < 0.4) drive_some_joint();
    }
    add_forces();
    m_.outputs.push_back({"reach", "m", {"distance(body0, body1)", {}}});
    m_.simulation.end = 0.25;
    return std::move(m_);
  }

 private:
  double between(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }
  int whole(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  Vec3 vector(double size) {
    const double x = between(-size, size), y = between(-size, size), z = between(-size, size);
    return {x, y, z};
  }
  Vec3 direction() {
    for (;;) {
      const Vec3 v = vector(1);
      if (v.norm() > 0.2 && v.norm() < 1) return v.normalized();
    }
  }
  // In the plane of a flat mechanism, anywhere otherwise.
  Vec3 place(double size) {
    const Vec3 v = vector(size);
    return kind_ == Kind::planar || kind_ == Kind::redundant ? Vec3(v - normal_.dot(v) * normal_) : v;
  }

  void add_body(bool flat) {
    Body b;
    b.name = "body" + std::to_string(m_.bodies.size());
    b.kind = kind_ == Kind::points ? "point" : kind_ == Kind::planar ? "planar" : "spatial";
    b.mass = std::exp(between(std::log(0.3), std::log(5.0)));
    b.pose.position = place(1);
    b.velocity = place(0.5);
    if (kind_ != Kind::points) {
      b.pose.rotation = rotation_exp(flat ? Vec3(between(-2, 2) * normal_) : vector(2));
      b.angular_velocity = flat ? Vec3(between(-1, 1) * normal_) : vector(1);
      // A homogeneous box.
      const double x = between(0.1, 0.6), y = between(0.1, 0.6), z = between(0.1, 0.6);
      const Vec3 moments = b.mass / 12 * Vec3(y * y + z * z, z * z + x * x, x * x + y * y);
      const Mat3 axes = flat ? Mat3(Mat3::Identity()) : rotation_exp(vector(2)).toRotationMatrix();
      b.inertia = axes * moments.asDiagonal() * axes.transpose();
      b.center_of_mass = flat ? Vec3(b.pose.rotation.conjugate() * place(0.1)) : vector(0.1);
      if (kind_ == Kind::planar) b.center_of_mass.z() = 0;
    }
    m_.add_body(b);
  }

  // Joints that a random place suits: those between two frames that coincide, or two points.
  std::vector<const ElementDescription*> joints_of(int most_rows, bool flat) {
    std::vector<const ElementDescription*> out;
    for (const ElementDescription& d : element_registry()) {
      if (d.category != Category::joint ||
          (d.attachment != Attachment::joint && d.attachment != Attachment::two_points))
        continue;
      if (flat && d.key != "revolute" && d.key != "fixed" && d.key != "distance" &&
          !(kind_ == Kind::redundant && (d.key == "cylindrical" || d.key == "spherical" || d.key == "planar"))) {
        continue;
      }
      if (rows_of(d) <= most_rows) out.push_back(&d);
    }
    return out;
  }
  static int rows_of(const ElementDescription& d) {
    static const std::map<std::string, int> known = [] {
      std::map<std::string, int> rows;
      for (const ElementDescription& each : element_registry()) {
        if (each.category == Category::joint) rows[each.key] = count_rows(each);
      }
      return rows;
    }();
    return known.at(d.key);
  }
  // By trying: the registry does not say.
  static int count_rows(const ElementDescription& d) {
    Model m;
    Body b;
    b.name = "b";
    b.mass = 1;
    b.inertia = Mat3::Identity();
    m.add_body(b);
    try {
      Fields fields;
      if (d.random_fields) {
        std::mt19937 random(1);
        fields = d.random_fields(random);
      }
      add_joint(m, d.key, "j", {m.add_frame(ground, {}), m.add_frame_at(0, Vec3(0.3, 0.1, 0.2), Vec3(1, 2, 3))},
                fields);
      return Equations(m).sizes().multipliers();
    } catch (const Failure&) {
      return 100;  // needs more than two frames
    }
  }
  void joins(const ElementDescription& d, int a, int b, bool flat) {
    const std::string name = d.key + std::to_string(m_.joints.size());
    const Vec3 axis = flat ? normal_ : direction();
    const auto middle = [&](int body) {
      return body == ground ? Vec3::Zero() : m_.bodies[static_cast<std::size_t>(body)].pose.position;
    };
    const Vec3 point = 0.5 * (middle(a) + middle(b)) + place(0.3);
    Fields fields;
    if (d.key != "distance" && d.random_fields) fields = d.random_fields(random_);
    const Vec3 across = axis.unitOrthogonal();
    const int one = m_.add_frame_at(a, point, axis, across);
    // Every joint is drawn closed, so that any loop of them can be assembled: most with frames that coincide.
    Vec3 other = point, other_axis = axis, other_x = across;
    if (d.key == "universal" || d.key == "perpendicular_axes" || d.key == "rolling_disc") {
      other_axis = across;
      other_x = axis;
    }
    if (d.key == "rolling_sphere" || d.key == "rolling_disc") {
      other += fields.number("radius") * axis;
    } else if (d.attachment == Attachment::two_points || d.key == "distance") {
      other += place(0.4) + 0.3 * side();
    } else if (d.key == "point_on_curve" && fields.has("r")) {
      other += across;  // r = 1 at the angle 0
    }
    add_joint(m_, d.key, name, {one, m_.add_frame_at(b, other, other_axis, other_x)}, fields);
  }
  Vec3 side() {
    for (;;) {
      const Vec3 v = place(1);
      if (v.norm() > 0.3) return v.normalized();
    }
  }

  void join(int a, int b, bool flat) {
    const std::vector<const ElementDescription*> choice = joints_of(6, flat);
    const ElementDescription& d = *choice[static_cast<std::size_t>(whole(0, static_cast<int>(choice.size()) - 1))];
    // Spatial revolute joints are the most common ones.
    const ElementDescription& taken = between(0, 1) < 0.3 ? find_element(Category::joint, "revolute", {}) : d;
    joins(taken, a, b, flat);
    freedoms_ += (kind_ == Kind::planar ? 3 : 6) - rows_in_use(taken);
  }
  int rows_in_use(const ElementDescription& d) const {
    if (kind_ == Kind::planar) return d.key == "revolute" ? 2 : d.key == "fixed" ? 3 : 1;
    return rows_of(d);
  }

  // Loops that leave at least one freedom; flat mechanisms of spatial bodies close theirs with revolute joints, whose
  // rows out of the plane are redundant.
  void close_loops(bool flat) {
    const int count = static_cast<int>(m_.bodies.size());
    for (int loops = whole(0, 2); loops > 0; --loops) {
      const int a = whole(-1, count - 1), b = whole(0, count - 1);
      if (a == b) continue;
      if (kind_ == Kind::redundant) {
        if (freedoms_ < 4) return;
        joins(find_element(Category::joint, "revolute", {}), a, b, flat);
        freedoms_ -= 2;
        continue;
      }
      const std::vector<const ElementDescription*> choice = joints_of(flat ? 6 : freedoms_ - 1, flat);
      if (choice.empty() || freedoms_ < 2) return;
      const ElementDescription& d = *choice[static_cast<std::size_t>(whole(0, static_cast<int>(choice.size()) - 1))];
      if (rows_in_use(d) >= freedoms_) continue;
      joins(d, a, b, flat);
      freedoms_ -= rows_in_use(d);
    }
  }

  void drive_some_joint() {
    for (std::size_t j = 0; j < m_.joints.size() && freedoms_ > 1; ++j) {
      const Item joint = m_.joints[j];
      Fields fields;
      const std::string law = std::to_string(between(-0.3, 0.3)) + "*sin(" + std::to_string(between(1, 6)) + "*time)";
      if (joint.type == "revolute" || joint.type == "cylindrical") {
        fields.set("angle", ExpressionText{law, {}});
        add_motion(m_, "rotation", "motion" + std::to_string(j), joint.frames, fields);
      } else if (joint.type == "translational") {
        fields.set("displacement", ExpressionText{law, {}});
        add_motion(m_, "translation", "motion" + std::to_string(j), joint.frames, fields);
      } else {
        continue;
      }
      --freedoms_;
      if (between(0, 1) < 0.6) return;
    }
  }

  // Points hang on rods and springs.
  void add_rods() {
    for (int i = 0; i < static_cast<int>(m_.bodies.size()); ++i) {
      if (between(0, 1) < 0.3) continue;
      const int a = i == 0 ? ground : whole(-1, i - 1);
      const int one =
          m_.add_frame_at(a, a == ground ? vector(1) : m_.bodies[static_cast<std::size_t>(a)].pose.position);
      const int two = m_.add_frame_at(i, m_.bodies[static_cast<std::size_t>(i)].pose.position);
      if ((m_.frame_pose(one).position - m_.frame_pose(two).position).norm() < 0.1) continue;
      add_joint(m_, "distance", "rod" + std::to_string(i), {one, two});
    }
  }

  void add_forces() {
    std::vector<const ElementDescription*> choice;
    for (const ElementDescription& d : element_registry()) {
      // Bodies that strike must not overlap as drawn, which at random they do.
      const bool suits = d.attachment != Attachment::several && d.attachment != Attachment::joints &&
                         d.key != "impact" && !d.make_held;
      if (d.category == Category::force && suits) choice.push_back(&d);
    }
    const int count = static_cast<int>(m_.bodies.size());
    for (int n = whole(1, 4); n > 0; --n) {
      const ElementDescription& d = *choice[static_cast<std::size_t>(whole(0, static_cast<int>(choice.size()) - 1))];
      const int a = whole(-1, count - 1), b = whole(0, count - 1);
      if (a == b) continue;
      if (kind_ == Kind::points && d.key != "translational_spring_damper") continue;
      Model before = m_;
      try {
        const auto at = [&](int body) {
          return body == ground ? vector(1)
                                : Vec3(m_.bodies[static_cast<std::size_t>(body)].pose.position + place(0.2));
        };
        const Vec3 axis = kind_ == Kind::planar ? Vec3::UnitZ() : direction();
        std::vector<int> frames{m_.add_frame_at(a, at(a), axis), m_.add_frame_at(b, at(b), axis)};
        Fields fields;
        if (d.random_fields) fields = d.random_fields(random_);
        // Ten to a hundred times as stiff as the conformance suite's, so that they matter beside weight.
        const double stronger = std::exp(between(std::log(5.0), std::log(100.0)));
        Fields strong;
        for (const auto& [name, value] : fields.all()) {
          const double* number = std::get_if<double>(&value);
          const bool scaled = number != nullptr && (name == "stiffness" || name == "damping");
          strong.set(name, scaled ? Value(stronger * *number) : value);
        }
        add_force(m_, d.key, d.key + std::to_string(m_.forces.size()), frames, strong);
        // One that starts far inside a stop or stretched beyond reason throws the bodies about: chaos, no test.
        const Equations e(m_);
        Workspace work = e.make_workspace();
        State state = e.initial_state();
        e.start(state, work);
        e.update(state, work);
        double wrench[6 * max_frames] = {};
        std::vector<double> observed(e.force(e.force_count() - 1).observables().size() + 1);
        e.observe_force(e.force_count() - 1, state, work, wrench, observed.data());
        double most = 0;
        for (int i = 0; i < 6 * e.force(e.force_count() - 1).frames(); ++i) most = std::max(most, std::abs(wrench[i]));
        if (!(most < 300)) m_ = std::move(before);
      } catch (const Failure&) {
        m_ = std::move(before);  // an element that needs more than two frames
      }
    }
  }

  std::mt19937 random_;
  Kind kind_;
  Vec3 normal_ = Vec3::UnitZ();
  Model m_;
  int freedoms_ = 0;
};

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

// ---- Judging --------------------------------------------------------------------------------------------------------

Vec random_direction(Eigen::Index n, std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  Vec v(n);
  for (double& x : v) x = uniform(random);
  return v;
}

// Directional derivatives of force, constraints and the curvature term against extrapolated central differences, at a
// state of the model with random velocities, accelerations and multipliers.
double derivative_error(const Equations& e, const State& at, unsigned seed, double width) {
  std::mt19937 random(seed);
  const int nv = e.sizes().nv, ng = e.sizes().multipliers();
  State state = at;
  state.v += random_direction(nv, random);
  Rates rates = e.make_rates();
  rates.a = random_direction(nv, random);
  rates.lambda = random_direction(ng, random);
  Workspace work = e.make_workspace();
  Partials p = e.make_partials(Detail::all), moved = e.make_partials(Detail::all);
  Residual r = e.make_residual();
  if (e.linearise(state, rates, Detail::all, p, work) != Eval::ok) return 0;  // a spring of no length, just here
  const auto values = [&](const State& s) {
    Vec out = Vec::Zero(2 * nv + 3 * ng);
    e.residual(s, rates, everything, r, work);
    e.linearise(s, rates, Detail::all, moved, work);
    out.head(nv) = r.force;
    out.segment(nv, nv) = r.inertia;
    out.segment(2 * nv, ng) = r.g;
    e.gv().multiply_add(moved.G, 1, rates.a.data(), out.data() + 2 * nv + ng);
    out.tail(ng) = moved.gamma;
    return out;
  };
  double worst = 0;
  for (int k = 0; k < 3; ++k) {
    const Vec dq = random_direction(nv, random), dv = random_direction(nv, random);
    const auto along = [&](double h) {
      State s = state;
      e.retract(state.q, h * dq, s.q);
      s.v = state.v + h * dv;
      return values(s);
    };
    const auto central = [&](double h) { return Vec((along(h) - along(-h)) / (2 * h)); };
    // Richardson, twice: the error is of sixth order in h.
    const Vec d0 = central(width), d1 = central(width / 2), d2 = central(width / 4);
    const Vec e0 = (4 * d1 - d0) / 3, e1 = (4 * d2 - d1) / 3;
    const Vec expected = (16 * e1 - e0) / 15;
    Vec given = Vec::Zero(expected.size());
    e.vv().multiply_add(p.force_q, 1, dq.data(), given.data());
    e.vv().multiply_add(p.force_v, 1, dv.data(), given.data());
    e.vv().multiply_add(p.Ma_q, 1, dq.data(), given.data() + nv);
    e.gv().multiply_add(p.G, 1, dq.data(), given.data() + 2 * nv);
    // Rows at velocity level: k_q dq + k_v dv.
    Vec rates_of_rows = Vec::Zero(ng);
    if (p.K_q.size() > 0) e.gv().multiply_add(p.K_q, 1, dq.data(), rates_of_rows.data());
    e.gv().multiply_add(p.G, 1, dv.data(), rates_of_rows.data());
    for (const int row : e.velocity_rows()) given[2 * nv + row] = rates_of_rows[row];
    e.gv().multiply_add(p.Ga_q, 1, dq.data(), given.data() + 2 * nv + ng);
    e.gv().multiply_add(p.gamma_q, 1, dq.data(), given.data() + 2 * nv + 2 * ng);
    e.gv().multiply_add(p.gamma_v, 1, dv.data(), given.data() + 2 * nv + 2 * ng);
    const auto compare = [&](Eigen::Index from, Eigen::Index count) {
      if (count == 0) return;
      const double size = std::max(1.0, expected.segment(from, count).lpNorm<Eigen::Infinity>());
      worst = std::max(worst, (given - expected).segment(from, count).lpNorm<Eigen::Infinity>() / size);
    };
    compare(0, nv);
    compare(nv, nv);
    compare(2 * nv, ng);
    compare(2 * nv + ng, ng);
    compare(2 * nv + 2 * ng, ng);
  }
  return worst;
}

// One seed: its model run at two tolerances, and what must hold of the two runs.
class Judgement {
 public:
  Judgement(unsigned seed, double coarse, double fine) : coarse_(coarse), fine_(fine) {
    report_.seed = seed;
    report_.kind = kind_name(kind_of(seed));
  }
  RandomModelReport judge();

 private:
  struct Ran {
    MemoryTrajectory trajectory;
    RunResult result;
  };
  void complain(const std::string& why) { report_.failure += (report_.failure.empty() ? "" : "; ") + why; }
  Model with_tolerance(double tolerance) const;
  bool run(double tolerance, Ran& ran);
  void look_at(Simulation& simulation);
  static double apart(const MemoryTrajectory& x, const MemoryTrajectory& y, double length);
  static double exchanged_energy(const MemoryTrajectory& run, double length);
  void compare(const Ran& coarse, const Ran& fine);
  void doubt(const Ran& fine, double promise, double balance);
  double growth_of_a_small_change(const Ran& fine) const;

  const double coarse_, fine_;
  RandomModelReport report_;
  Model model_;
};

Model Judgement::with_tolerance(double tolerance) const {
  Model model = model_;
  model.simulation.tolerance = tolerance;
  model.simulation.output_step = model.simulation.end / 10;
  return model;
}

void Judgement::look_at(Simulation& simulation) {
  const Equations& e = simulation.equations();
  report_.rows = e.sizes().multipliers();
  report_.freedoms = simulation.initial().rank.freedoms_by_rank;
  report_.redundant = simulation.initial().rank.redundant;
  const State& at = simulation.integrator().state();
  report_.derivative_error = derivative_error(e, at, report_.seed + 1, 2e-3);
  // Near a bend (the angle of a bushing near half a turn) the sixth derivative times h^6 is what is seen.
  if (!(report_.derivative_error < 1e-6)) report_.derivative_error = derivative_error(e, at, report_.seed + 1, 4e-4);
  if (!(report_.derivative_error < 1e-6)) complain("derivatives differ by " + number(report_.derivative_error));
}

// False: it stopped, and the report says why.
bool Judgement::run(double tolerance, Ran& ran) {
  Simulation simulation(with_tolerance(tolerance));
  simulation.start();
  if (tolerance == coarse_) look_at(simulation);
  ran.result = simulation.run(ran.trajectory);
  if (ran.result.status == RunStatus::finished) return true;
  const FailureReport& f = *ran.result.failure;
  report_.ids.push_back(f.id);
  for (const Cause& cause : f.causes) report_.ids.push_back(cause.id);
  const std::string text = "tolerance " + number(tolerance) + ": " + to_text(f);
  if (!f.causes.empty() && f.causes.front().weight >= 0.9)
    report_.stopped = text;
  else
    complain(text);
  return false;
}

// The largest difference of a place, as part of the length scale.
double Judgement::apart(const MemoryTrajectory& x, const MemoryTrajectory& y, double length) {
  double most = 0;
  for (const SignalRef& ref : x.match("body.*.position.[xyz]")) {
    for (std::size_t i = 0; i < std::min(x.rows(0), y.rows(0)); ++i)
      most = std::max(most, std::abs(x.value(ref, i) - y.value(ref, i)) / length);
  }
  return most;
}

double Judgement::exchanged_energy(const MemoryTrajectory& run, double length) {
  const auto range = [&](const char* name) {
    const std::vector<double> x = run.column(name);
    const auto [low, high] = std::minmax_element(x.begin(), x.end());
    return *high - *low;
  };
  const std::vector<double> kinetic = run.column("energy.kinetic");
  double exchanged = *std::max_element(kinetic.begin(), kinetic.end()) + range("energy.potential") +
                     range("energy.dissipated") + range("energy.external");
  // An error delta of a place costs F delta, so where nothing moves the measure is F L.
  for (const SignalRef& ref : match_signals(run.tables(), "force.*.on_second.*.[xyz]")) {
    const bool torque = run.tables()[ref.table].signals[ref.column].unit == "N m";
    double most = 0;
    for (std::size_t i = 0; i < run.rows(0); ++i) most = std::max(most, std::abs(run.value(ref, i)));
    exchanged += most * (torque ? 1 : length);
  }
  return exchanged;
}

void Judgement::compare(const Ran& coarse, const Ran& fine) {
  const RunSummary& s = fine.result.summary;
  report_.steps = s.steps;
  if (coarse.trajectory.rows(0) != fine.trajectory.rows(0)) complain("the two runs have different numbers of outputs");
  report_.difference = apart(coarse.trajectory, fine.trajectory, s.length);
  report_.imbalance = s.energy.largest_imbalance / std::max(exchanged_energy(fine.trajectory, s.length), 1e-3);
  // What a tolerance promises: the local error is the tolerance, of third order in h, the global one of second order,
  // hence tolerance^(2/3) times a constant that depends on the motion.
  const double promise = std::pow(coarse_, 2.0 / 3), balance = 100 * std::pow(fine_, 2.0 / 3);
  if (!(report_.difference < 30 * promise) || !(report_.imbalance < balance)) doubt(fine, promise, balance);
  if (!(s.position_residual < 1e-8 * std::max(1.0, s.length)))
    complain("constraints are violated by " + number(s.position_residual));
}

// A violent motion has a larger constant: then a hundredth of the tolerance must bring the runs together, and the books
// into balance. In theory by 100^(2/3) = 21; where the promise is not yet kept, steps are too large for it.
void Judgement::doubt(const Ran& fine, double promise, double balance) {
  Simulation simulation(with_tolerance(0.01 * fine_));
  MemoryTrajectory finest;
  const RunResult result = simulation.run(finest);
  const RunSummary& s = fine.result.summary;
  const double still = apart(fine.trajectory, finest, s.length), left = result.summary.energy.largest_imbalance;
  if (result.status != RunStatus::finished) {
    complain("a hundredth of the tolerance: " + to_text(*result.failure));
  } else if (!(report_.difference < 30 * promise) && !(still < 0.5 * report_.difference)) {
    // Or the motion is chaotic: errors grow as any small change does, so the promise is multiplied by its growth.
    const double growth = growth_of_a_small_change(fine);
    if (!(report_.difference < 30 * promise * growth))
      complain("the tolerances differ by " + number(report_.difference) + " of the length scale, and by " +
               number(still) + " with a hundredth; a small change grows by " + number(growth));
  } else if (!(report_.imbalance < balance) && !(left < 0.25 * s.energy.largest_imbalance)) {
    complain("energy is out of balance by " + number(report_.imbalance) + " of what was exchanged, and by " +
             number(report_.imbalance * left / s.energy.largest_imbalance) + " with a hundredth of the tolerance");
  }
}

// Of the start velocities, by a part of 1e-6.
double Judgement::growth_of_a_small_change(const Ran& fine) const {
  const double length = fine.result.summary.length, small = 1e-6 * length;
  Model changed = with_tolerance(fine_);
  for (Body& body : changed.bodies) body.velocity += Vec3::Constant(small / changed.simulation.end);
  Simulation again(std::move(changed));
  MemoryTrajectory moved;
  again.run(moved);
  return std::max(1.0, apart(fine.trajectory, moved, length) * length / small);
}

RandomModelReport Judgement::judge() {
  try {
    model_ = random_model(report_.seed);
    report_.bodies = static_cast<int>(model_.bodies.size());
    Ran coarse, fine;
    if (run(coarse_, coarse) && run(fine_, fine)) compare(coarse, fine);
  } catch (const Failure& failure) {
    for (const Problem& problem : failure.problems()) {
      report_.ids.push_back(problem.id);
      if (problem.id.empty() || problem.message.empty()) complain("a refusal without a diagnosis");
    }
    report_.refused = true;
    if (failure.exit_code() == ExitCode::internal) complain(failure.what());
  } catch (const std::exception& e) {
    complain(std::string("exception: ") + e.what());
  }
  return std::move(report_);
}

}  // namespace

Model random_model(unsigned seed) { return Maker(seed).make(); }

RandomModelReport judge_random_model(unsigned seed, double coarse, double fine) {
  return Judgement(seed, coarse, fine).judge();
}

}  // namespace trammel::problems
