// Simulations stepped by hand, and the equations themselves.
#include <pybind11/eigen.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <unordered_map>

#include "app/common.h"
#include "python/src/bindings.h"
#include "python/src/interruption.h"
#include "trammel/base/interruption.h"
#include "trammel/base/literal.h"
#include "trammel/initial/given_state.h"
#include "trammel/run/simulation.h"
#include "trammel/write/sha256.h"

namespace trammel::python {
namespace {

using Array = py::array_t<double, py::array::c_style | py::array::forcecast>;

constexpr std::size_t hash_digits = 64;                    // of SHA-256, behind a saved state
constexpr std::string_view state_head = "trammel-state ";  // before it, with the version, and a new line

[[noreturn]] void refuse(const std::string& message, const std::string& hint) {
  throw Failure({Severity::error, "bad-usage", message, hint, {}}, ExitCode::bad_usage);
}

Vec vector_of(const Array& array, Eigen::Index size, const char* name) {
  if (array.ndim() != 1 || array.shape(0) != size)
    refuse(std::string(name) + " has " + std::to_string(array.size()) + " numbers in " + std::to_string(array.ndim()) +
               " dimensions",
           "it must be a vector of " + std::to_string(size));
  return Eigen::Map<const Vec>(array.data(), size);
}

// Three numbers, or two in a plane: the third is then that of the plane.
std::optional<Vec3> in_space(const py::object& given, double plane, const char* name) {
  if (given.is_none()) return std::nullopt;
  const auto array = given.cast<Array>();
  if (array.ndim() == 1 && array.shape(0) == 2) return Vec3(array.data()[0], array.data()[1], plane);
  return Vec3(vector_of(array, 3, name));
}

// One thread at a time: steps leave the interpreter to others, who must not come in meanwhile.
class Turn {
 public:
  explicit Turn(std::atomic<bool>& busy) : busy_(busy) {
    if (busy_.exchange(true)) refuse("the simulation is being stepped in another thread", "give each thread its own");
  }
  ~Turn() { busy_ = false; }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  std::atomic<bool>& busy_;
};

// What is shown of the present state: it stays where it is in memory while a simulation goes on.
struct Snapshot {
  double t = 0, next_step = 0;
  long steps = 0;
  Vec q, v, a, lambda, x, u;
};

// Keeps what is recorded, or nothing; goes on where it was after a state was restored.
class StepSink final : public TrajectorySink {
 public:
  explicit StepSink(bool keep) : keep_(keep) {}
  // Of a simulation that may go on from a saved state, and then begins nothing.
  void set_provenance(const Provenance& provenance) { provenance_ = provenance; }
  void begin(const std::vector<Table>& tables, const Provenance& provenance) override {
    if (keep_) data_.begin(tables, provenance);
    begun_ = true;
    shown_.reset();
  }
  void resume(const std::vector<Table>& tables, const std::vector<std::uint64_t>&) override {
    if (!begun_) begin(tables, provenance_);
  }
  bool append(std::size_t table, std::span<const double> row) override {
    if (!keep_) return true;
    shown_.reset();
    return data_.append(table, row);
  }
  void flush() override {}
  void finish(RunStatus status, std::string_view summary, std::string_view failure) override {
    status_ = status;
    summary_ = summary;
    failure_ = failure;
    shown_.reset();
  }
  // Forgets the rows behind t; those at t as well if it is the start, which is written again.
  void cut(double t, bool start) {
    if (!keep_ || !begun_) return;
    std::vector<std::uint64_t> rows;
    for (std::size_t k = 0; k < data_.tables().size(); ++k) {
      std::size_t count = start ? 0 : data_.rows(k);
      while (count > 0 && data_.value({k, 0}, count - 1) > t + 1e-12 * std::abs(t)) --count;
      rows.push_back(count);
    }
    data_.resume(data_.tables(), rows);
    shown_.reset();
  }
  // What was recorded so far, as a result of its own that nothing changes any more. It shares its rows.
  Result shown() {
    if (!shown_) {
      shown_ = std::make_shared<MemoryTrajectory>(data_);
      if (begun_ && keep_) shown_->finish(status_, summary_, failure_);
    }
    return Result{shown_};
  }

 private:
  bool keep_, begun_ = false;
  MemoryTrajectory data_;
  std::shared_ptr<MemoryTrajectory> shown_;  // at the last look; null: something came since
  Provenance provenance_;
  RunStatus status_ = RunStatus::running;
  std::string summary_, failure_;
};

// The equations of motion at states of the user's own. Scratch is shared: one thread at a time.
class PyEquations {
 public:
  PyEquations(std::shared_ptr<Simulation> simulation, std::shared_ptr<std::atomic<bool>> busy)
      : simulation_(std::move(simulation)),
        busy_(std::move(busy)),
        e_(simulation_->equations()),
        work_(e_.make_workspace()),
        solver_(e_),
        residual_(e_.make_residual()),
        partials_(e_.make_partials(Detail::all)),
        rates_(e_.make_rates()) {}

  const Equations& equations() const { return e_; }
  Sizes sizes() const { return e_.sizes(); }

  State state(double t, const Array& q, const Array& v, const py::object& u) const {
    const Turn turn(*busy_);
    State s = simulation_->integrator().state();
    s.t = t;
    s.q = vector_of(q, e_.sizes().nq, "q");
    s.v = vector_of(v, e_.sizes().nv, "v");
    if (!u.is_none()) s.u = vector_of(u.cast<Array>(), s.u.size(), "u");
    return s;
  }
  Rates rates(const Array& a, const Array& lambda) const {
    Rates r = e_.make_rates();
    r.a = vector_of(a, e_.sizes().nv, "a");
    r.lambda = vector_of(lambda, e_.sizes().multipliers(), "lam");
    return r;
  }
  void require(bool good) const {
    if (!good)
      throw Failure({Severity::error,
                     "cannot-evaluate",
                     "the equations cannot be evaluated at this state",
                     "an element gives no value there, or a direction has no mass and nothing holds it",
                     {}},
                    ExitCode::failed_run);
  }

  py::tuple accelerations(double t, const Array& q, const Array& v, const py::object& u) {
    const State s = state(t, q, v, u);
    require(solver_.solve(s, rates_, work_));
    return py::make_tuple(rates_.a, rates_.lambda);
  }
  py::tuple project(double t, const Array& q, const Array& v, const py::object& u) {
    State s = state(t, q, v, u);
    require(solver_.project(s, work_));
    return py::make_tuple(s.q, s.v);
  }
  Vec forces(double t, const Array& q, const Array& v, const py::object& u) {
    const State s = state(t, q, v, u);
    rates_.a.setZero();
    rates_.lambda.setZero();
    require(e_.residual(s, rates_, Part::everything, residual_, work_) == Eval::ok);
    return -(residual_.force + residual_.inertia);
  }
  Vec constraints(double t, const Array& q, const Array& v, const py::object& u) {
    const State s = state(t, q, v, u);
    rates_.a.setZero();
    rates_.lambda.setZero();
    require(e_.residual(s, rates_, Part::everything, residual_, work_) == Eval::ok);
    return residual_.g;
  }
  Vec velocity_constraints(double t, const Array& q, const Array& v, const py::object& u) {
    const State s = state(t, q, v, u);
    Vec gdot(e_.sizes().multipliers());
    e_.update(s, work_);
    e_.velocity_residual(s, gdot, work_);
    return gdot;
  }
  Vec gamma(double t, const Array& q, const Array& v, const py::object& u) {
    const State s = state(t, q, v, u);
    Vec out(e_.sizes().multipliers());
    e_.update(s, work_);
    e_.jacobian_and_gamma(s, partials_, out, work_);
    return out;
  }
  Vec residual(double t, const Array& q, const Array& v, const Array& a, const Array& lambda, const py::object& u) {
    const State s = state(t, q, v, u);
    require(e_.residual(s, rates(a, lambda), Part::everything, residual_, work_) == Eval::ok);
    Vec r(e_.sizes().nv + e_.sizes().multipliers());
    r << residual_.inertia + residual_.force, residual_.g;
    return r;
  }
  // Compressed columns: (values, rows, starts, shape), as scipy.sparse takes them.
  static py::tuple compressed(const Pattern& pattern, const Vec& values) {
    return py::make_tuple(values,
                          py::array_t<int>(static_cast<py::ssize_t>(pattern.row().size()), pattern.row().data()),
                          py::array_t<int>(static_cast<py::ssize_t>(pattern.start().size()), pattern.start().data()),
                          py::make_tuple(pattern.rows(), pattern.columns()));
  }
  py::tuple mass(const Array& q) {
    e_.mass(vector_of(q, e_.sizes().nq, "q"), partials_);
    return compressed(e_.vv(), partials_.M);
  }
  py::tuple jacobian(double t, const Array& q, const Array& v, const py::object& u) {
    const State s = state(t, q, v, u);
    e_.update(s, work_);
    e_.jacobian(s, partials_, work_);
    return compressed(e_.gv(), partials_.G);
  }
  py::tuple derivatives(double t, const Array& q, const Array& v, const Array& a, const Array& lambda,
                        const py::object& u) {
    const State s = state(t, q, v, u);
    require(e_.linearise(s, rates(a, lambda), Detail::all, partials_, work_) == Eval::ok);
    return py::make_tuple(compressed(e_.vv(), partials_.Ma_q + partials_.force_q),
                          compressed(e_.vv(), partials_.force_v));
  }
  py::tuple newton_matrix(double t, const Array& q, const Array& v, const Array& a, const Array& lambda, double by_q,
                          double by_v, const py::object& u) {
    const State s = state(t, q, v, u);
    require(e_.linearise(s, rates(a, lambda), Detail::all, partials_, work_) == Eval::ok);
    if (!newton_) newton_ = std::make_unique<SaddleSystem>(e_, 1e-8, SaddleSystem::Keep::factors_only);
    newton_->combine(partials_, {.M = 1, .Ma_q = by_q, .force_q = by_q, .force_v = by_v}, nullptr);
    Vec values = newton_->values();
    // Without the small block that makes redundant rows harmless: users solve the true system.
    const int nv = e_.sizes().nv;
    const Pattern& p = newton_->pattern();
    for (int i = 0; i < e_.sizes().multipliers(); ++i) {
      const int slot = p.slot(nv + i, nv + i);
      if (slot >= 0) values[slot] = 0;
    }
    return compressed(p, values);
  }
  Vec retract(const Array& q, const Array& delta) const {
    Vec out = vector_of(q, e_.sizes().nq, "q");
    const Vec from = out;
    e_.retract(from, vector_of(delta, e_.sizes().nv, "delta"), out);
    return out;
  }
  Vec difference(const Array& from, const Array& to) const {
    Vec delta(e_.sizes().nv);
    e_.local(vector_of(from, e_.sizes().nq, "first"), vector_of(to, e_.sizes().nq, "second"), delta);
    return delta;
  }
  py::tuple energy(double t, const Array& q, const Array& v, const py::object& u) {
    const State s = state(t, q, v, u);
    require(solver_.solve(s, rates_, work_));
    const Energy energy = e_.energy(s, rates_, work_);
    return py::make_tuple(energy.kinetic, energy.potential);
  }
  std::vector<std::string> velocity_names() const {
    std::vector<std::string> names;
    for (int i = 0; i < e_.sizes().nv; ++i) names.push_back(e_.name_of_velocity(i));
    return names;
  }
  std::vector<std::string> row_names() const {
    std::vector<std::string> names;
    for (int i = 0; i < e_.sizes().multipliers(); ++i) names.push_back(e_.name_of_row(i));
    return names;
  }

 private:
  std::shared_ptr<Simulation> simulation_;
  std::shared_ptr<std::atomic<bool>> busy_;
  const Equations& e_;
  Workspace work_;
  AccelerationSolver solver_;
  Residual residual_;
  Partials partials_;
  Rates rates_;
  std::unique_ptr<SaddleSystem> newton_;
};

class Stepper {
 public:
  Stepper(const CoreModel& model, bool record, bool from_static) : sink_(record), record_(record) {
    {
      const CtrlC ctrl_c;
      const InterruptionScope scope(&ctrl_c.flag());
      const py::gil_scoped_release released;
      start(model, from_static, ctrl_c.flag());
    }
    sink_.set_provenance(simulation_->provenance());
    show();
  }

  // Goes on to `until`, over `most_steps` or with one step; (status, id, text, hint) of what came of it.
  py::tuple advance(const std::optional<double>& until, long most_steps, const std::optional<double>& step) {
    const Turn turn(*busy_);
    RunResult result;
    std::exception_ptr thrown;
    {
      const CtrlC ctrl_c;
      const py::gil_scoped_release released;
      RunOptions options;
      options.interrupted = &ctrl_c.flag();
      options.continue_result = begun_;
      options.leg = RunLeg{until, most_steps, step, !record_};
      try {
        result = simulation_->run(sink_, options);
        begun_ = true;
      } catch (...) {
        thrown = std::current_exception();
      }
    }
    show();
    if (thrown) std::rethrow_exception(thrown);
    if (result.status == RunStatus::interrupted) settle_signals();
    std::string hint, id, text;
    if (result.failure) {
      id = result.failure->id;
      text = to_text(*result.failure);
      for (const std::string& advice : result.failure->try_next) hint += (hint.empty() ? "" : "; ") + advice;
    }
    return py::make_tuple(std::string(to_text(result.status)), id, text, hint);
  }

  py::object set_state(const py::object& q, const py::object& v, const py::object& u, bool consistent) {
    const Turn turn(*busy_);
    State state = simulation_->integrator().state();
    if (!q.is_none()) state.q = vector_of(q.cast<Array>(), state.q.size(), "q");
    if (!v.is_none()) state.v = vector_of(v.cast<Array>(), state.v.size(), "v");
    if (!u.is_none()) state.u = vector_of(u.cast<Array>(), state.u.size(), "u");
    InitialReport report;
    {
      const py::gil_scoped_release released;
      report.stages = simulation_->change_state(std::move(state), consistent);
    }
    show();
    return from_json(start_json(report));
  }

  // Origin and axes of a body, in the world; what is None stays.
  py::object set_body(const std::string& name, const py::object& position, const py::object& orientation,
                      const py::object& velocity, const py::object& angular_velocity, bool consistent) {
    const Turn turn(*busy_);
    const Equations& equations = simulation_->equations();
    const int body = number_of_body(name);
    State state = simulation_->integrator().state();
    Workspace work = equations.make_workspace();
    equations.update(state, work);
    const FrameState now = equations.frame(equations.origin(body), work);
    GivenMotion motion{.position = in_space(position, now.p.z(), "position"),
                       .orientation = {},
                       .velocity = in_space(velocity, now.v.z(), "velocity"),
                       .angular_velocity = in_space(angular_velocity, 0, "angular_velocity")};
    if (!orientation.is_none()) {
      const Vec q = vector_of(orientation.cast<Array>(), 4, "orientation");
      motion.orientation = Quat(q[0], q[1], q[2], q[3]);
    }
    place_body(equations, body, motion, state, work);
    InitialReport report;
    {
      const py::gil_scoped_release released;
      report.stages = simulation_->change_state(std::move(state), consistent);
    }
    show();
    return from_json(start_json(report));
  }

  py::bytes save() const {
    const Turn turn(*busy_);
    const Bytes bytes = simulation_->save();
    std::string text = head_of_states() + "\n";
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    text += sha256_hex(text);
    return py::bytes(text);
  }
  // A state that does not fit leaves the simulation where it was.
  void restore(const py::bytes& bytes) {
    const Turn turn(*busy_);
    const std::string_view state = checked(bytes);
    const Bytes before = simulation_->save();
    try {
      simulation_->restore({reinterpret_cast<const std::byte*>(state.data()), state.size()});
      if (!fits()) throw other_version("");
    } catch (...) {
      simulation_->restore(before);
      throw;
    }
    show();
    sink_.cut(t(), snapshot_->steps == 0);
    begun_ = true;
  }

  // One signal of the present state; the row is made once a step.
  double value(const std::string& name) {
    const Turn turn(*busy_);
    if (places_.empty()) {
      const std::vector<Signal>& signals = simulation_->output_signals();
      for (std::size_t i = 0; i < signals.size(); ++i) places_.emplace(signals[i].name, i);
    }
    const auto found = places_.find(name);
    if (found == places_.end()) throw unknown_signal({{"output", "", simulation_->output_signals()}}, name);
    if (row_.empty()) row_ = simulation_->output_row();
    return row_[found->second];
  }

  double t() const { return snapshot_->t; }
  double end() const { return simulation_->equations().model().simulation.end; }
  bool fixed() const { return simulation_->equations().model().simulation.step.has_value(); }
  double next_step() const { return snapshot_->next_step; }
  long steps() const { return snapshot_->steps; }
  const std::shared_ptr<Snapshot>& snapshot() const { return snapshot_; }
  const std::shared_ptr<Simulation>& simulation() const { return simulation_; }
  Result recorded() {
    const Turn turn(*busy_);
    return sink_.shown();
  }
  std::unique_ptr<PyEquations> equations() {
    const Turn turn(*busy_);
    return std::make_unique<PyEquations>(simulation_, busy_);
  }

 private:
  // Ctrl-C during the start is no mistake of the model.
  void start(const CoreModel& model, bool from_static, const std::atomic<bool>& interrupted) {
    try {
      simulation_ = std::make_shared<Simulation>(*model.model);
      RunOptions options;
      options.from_equilibrium = from_static;
      options.interrupted = &interrupted;
      simulation_->start(options);
    } catch (const Failure&) {
      if (interrupted) throw Interruption();
      throw;
    }
  }
  static std::string head_of_states() { return std::string(state_head) + TRAMMEL_VERSION; }
  int number_of_body(const std::string& name) const {
    const std::vector<Body>& bodies = simulation_->equations().model().bodies;
    std::vector<std::string> names;
    for (const Body& body : bodies) names.push_back(body.name);
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) return static_cast<int>(found - names.begin());
    throw Failure({Severity::error, "unknown-body", "there is no body '" + name + "'", did_you_mean(name, names), {}},
                  ExitCode::bad_usage);
  }
  // What stands between the head and the hash of a saved state.
  static std::string_view checked(std::string_view all) {
    const std::string_view text = all.substr(0, all.size() - std::min(all.size(), hash_digits)),
                           hash = all.substr(text.size());
    if (hash.size() < hash_digits || sha256_hex(text) != hash)
      throw Failure({Severity::error,
                     "truncated-state",
                     "the saved state is damaged or cut off",
                     "keep the bytes as save() gave them",
                     {}},
                    ExitCode::failed_run);
    const std::size_t line = text.find('\n');
    const std::string_view head = text.substr(0, line);
    if (head != head_of_states()) throw other_version(head);
    return text.substr(line + 1);
  }
  static Failure other_version(std::string_view head) {
    const bool known = head.starts_with(state_head);
    const std::string by = known ? "trammel " + std::string(head.substr(state_head.size())) : "another version";
    return Failure({Severity::error,
                    "state-of-another-version",
                    "the saved state was written by " + by + ", this is trammel " TRAMMEL_VERSION,
                    "restore it with that version, or go there again",
                    {}},
                   ExitCode::failed_run);
  }
  // Whether the present state has the sizes of the snapshot, which views look at: it may not move then.
  bool fits() const {
    const State& s = simulation_->integrator().state();
    const Rates& r = simulation_->integrator().rates();
    return s.q.size() == snapshot_->q.size() && s.v.size() == snapshot_->v.size() &&
           s.u.size() == snapshot_->u.size() + snapshot_->x.size() && r.a.size() == snapshot_->a.size() &&
           r.lambda.size() == snapshot_->lambda.size();
  }
  // With the interpreter, whose other threads look at it.
  void show() {
    row_.clear();
    if (!fits()) snapshot_ = std::make_shared<Snapshot>();  // views that were taken keep theirs
    const State& s = simulation_->integrator().state();
    const Rates& r = simulation_->integrator().rates();
    const auto nx = simulation_->equations().sizes().nx;
    snapshot_->t = s.t;
    snapshot_->next_step = simulation_->stepper().rule().next();
    snapshot_->steps = simulation_->integrator().counts().steps;
    snapshot_->q = s.q;
    snapshot_->v = s.v;
    snapshot_->u = s.u.head(s.u.size() - nx);
    snapshot_->x = s.u.tail(nx);
    snapshot_->a = r.a;
    snapshot_->lambda = r.lambda;
  }

  std::shared_ptr<Simulation> simulation_;
  std::shared_ptr<std::atomic<bool>> busy_ = std::make_shared<std::atomic<bool>>(false);
  std::shared_ptr<Snapshot> snapshot_ = std::make_shared<Snapshot>();
  StepSink sink_;
  bool record_;
  std::unordered_map<std::string, std::size_t> places_;  // of signals in a row
  std::vector<double> row_;
  bool begun_ = false;
};

template <Vec Snapshot::*member>
py::array shown(const Stepper& s) {
  return view_of((*s.snapshot()).*member, s.snapshot());
}

}  // namespace

void bind_stepping(py::module_& module) {
  const auto none = py::none();
  py::class_<PyEquations>(module, "Equations", "The equations of motion, at states of one's own.")
      .def_property_readonly(
          "nq", [](const PyEquations& e) { return e.sizes().nq; }, "Coordinates.")
      .def_property_readonly(
          "nv", [](const PyEquations& e) { return e.sizes().nv; }, "Velocities.")
      .def_property_readonly(
          "ng", [](const PyEquations& e) { return e.sizes().multipliers(); }, "Rows of constraints.")
      .def_property_readonly(
          "length", [](const PyEquations& e) { return e.equations().length(); }, "Length scale, m.")
      .def_property_readonly(
          "scales", [](const PyEquations& e) { return e.equations().scales(); },
          "Of displacements: the length scale, 1 rad.")
      .def_property_readonly("velocity_names", &PyEquations::velocity_names)
      .def_property_readonly("row_names", &PyEquations::row_names)
      .def("accelerations", &PyEquations::accelerations, py::arg("t"), py::arg("q"), py::arg("v"), py::arg("u") = none,
           "(a, lam) that solve M a + G^T lam = Q, G a = gamma.")
      .def("project", &PyEquations::project, py::arg("t"), py::arg("q"), py::arg("v"), py::arg("u") = none,
           "(q, v) brought onto the constraints, by the least change.")
      .def("forces", &PyEquations::forces, py::arg("t"), py::arg("q"), py::arg("v"), py::arg("u") = none,
           "Q, gyroscopic torques included.")
      .def("constraints", &PyEquations::constraints, py::arg("t"), py::arg("q"), py::arg("v"), py::arg("u") = none,
           "g; in rows at velocity level k.")
      .def("velocity_constraints", &PyEquations::velocity_constraints, py::arg("t"), py::arg("q"), py::arg("v"),
           py::arg("u") = none, "G v + g_t; in rows at velocity level k.")
      .def("gamma", &PyEquations::gamma, py::arg("t"), py::arg("q"), py::arg("v"), py::arg("u") = none,
           "Of the constraints at acceleration level, G a = gamma.")
      .def("residual", &PyEquations::residual, py::arg("t"), py::arg("q"), py::arg("v"), py::arg("a"), py::arg("lam"),
           py::arg("u") = none, "(M a + G^T lam - Q, g).")
      .def("mass", &PyEquations::mass, py::arg("q"), "M in compressed columns: (values, rows, starts, shape).")
      .def("jacobian", &PyEquations::jacobian, py::arg("t"), py::arg("q"), py::arg("v"), py::arg("u") = none,
           "G in compressed columns.")
      .def("derivatives", &PyEquations::derivatives, py::arg("t"), py::arg("q"), py::arg("v"), py::arg("a"),
           py::arg("lam"), py::arg("u") = none, "Of M a + G^T lam - Q by small displacements and by velocities.")
      .def("newton_matrix", &PyEquations::newton_matrix, py::arg("t"), py::arg("q"), py::arg("v"), py::arg("a"),
           py::arg("lam"), py::arg("by_q"), py::arg("by_v"), py::arg("u") = none,
           "[M + by_q K + by_v D, G^T; G, 0] in compressed columns.")
      .def("retract", &PyEquations::retract, py::arg("q"), py::arg("delta"), "q moved by a small displacement.")
      .def("difference", &PyEquations::difference, py::arg("first"), py::arg("second"),
           "The displacement that leads from the first to the second.")
      .def("energy", &PyEquations::energy, py::arg("t"), py::arg("q"), py::arg("v"), py::arg("u") = none,
           "(kinetic, potential), J.");
  py::class_<Stepper>(module, "Stepper", "A simulation that is stepped by hand.")
      .def(py::init<const CoreModel&, bool, bool>(), py::arg("model"), py::arg("record"), py::arg("from_static"))
      .def("advance", &Stepper::advance, py::arg("until"), py::arg("most_steps"), py::arg("step"),
           "(status, id, text, hint) of a part of the run.")
      .def("set_state", &Stepper::set_state, py::arg("q"), py::arg("v"), py::arg("u"), py::arg("consistent"),
           "Goes on from another state; says what was moved to make it consistent.")
      .def("set_body", &Stepper::set_body, py::arg("name"), py::arg("position"), py::arg("orientation"),
           py::arg("velocity"), py::arg("angular_velocity"), py::arg("consistent"),
           "The same with the origin and the axes of one body, in the world; orientation as (w, x, y, z).")
      .def("save", &Stepper::save, "The whole state.")
      .def("restore", &Stepper::restore, py::arg("bytes"), "A state that was saved.")
      .def("value", &Stepper::value, py::arg("name"), "A signal of the present state.")
      .def("recorded", &Stepper::recorded, "What was recorded so far.")
      .def("equations", &Stepper::equations, "The equations of motion.")
      .def_property_readonly("t", &Stepper::t)
      .def_property_readonly("end", &Stepper::end)
      .def_property_readonly("fixed", &Stepper::fixed)
      .def_property_readonly("next_step", &Stepper::next_step)
      .def_property_readonly("steps", &Stepper::steps)
      .def_property_readonly("q", shown<&Snapshot::q>)
      .def_property_readonly("v", shown<&Snapshot::v>)
      .def_property_readonly("a", shown<&Snapshot::a>)
      .def_property_readonly("lam", shown<&Snapshot::lambda>)
      .def_property_readonly("x", shown<&Snapshot::x>)
      .def_property_readonly("u", shown<&Snapshot::u>)
      .def_property_readonly(
          "coordinates",
          [](const Stepper& s) {
            const Equations& e = s.simulation()->equations();
            py::dict out;
            for (std::size_t b = 0; b < e.model().bodies.size(); ++b)
              out[py::str(e.model().bodies[b].name)] =
                  py::make_tuple(e.first_coordinate(static_cast<int>(b)), e.first_velocity(static_cast<int>(b)));
            return out;
          },
          "First coordinate and first velocity of each body.");
}

}  // namespace trammel::python
