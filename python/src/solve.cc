// Equations of the user's own, written in Python, with every method for differential equations. A function that raises
// makes the rest of the run fail at once, without passing through the method (some are C); the exception follows.
#include <pybind11/eigen.h>
#include <pybind11/stl.h>

#include <exception>

#include "python/src/bindings.h"
#include "python/src/interruption.h"
#include "trammel/ode/solve.h"

namespace trammel::python {
namespace {

using Array = py::array_t<double, py::array::c_style | py::array::forcecast>;

// Functions of Python, called from methods that run without the interpreter.
struct Callbacks {
  py::object f, jac, after_step;
  std::unique_ptr<py::error_already_set> thrown;
  std::string wrong;  // shape
  std::atomic<bool>* interrupted = nullptr;
  long f_calls = 0, jac_calls = 0;

  bool dead() const { return thrown != nullptr || !wrong.empty() || *interrupted; }
  template <class Call>
  bool guarded(const Call& call) {
    if (dead()) return false;
    const py::gil_scoped_acquire held;
    try {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      return call();
    } catch (py::error_already_set& error) {
      thrown = std::make_unique<py::error_already_set>(error);
    } catch (const py::cast_error& error) {
      wrong = error.what();
    }
    return false;
  }
  // False: infinite or not a number.
  bool take(const py::object& value, Vec& out, Eigen::Index n, const char* what) {
    const auto array = Array::ensure(value);
    if (!array) {
      wrong = std::string(what) + " returned something that is no array of numbers";
      return false;
    }
    if (array.ndim() != 1 || array.shape(0) != n) {
      wrong = std::string(what) + " returned shape (" + shape(array) + "), not (" + std::to_string(n) + ",)";
      return false;
    }
    out = Eigen::Map<const Vec>(array.data(), n);
    return std::isfinite(out.sum());
  }
  bool take(const py::object& value, Mat& out, Eigen::Index n, const char* what) {
    const auto array = Array::ensure(value);
    if (!array) {
      wrong = std::string(what) + " returned something that is no array of numbers";
      return false;
    }
    if (array.ndim() != 2 || array.shape(0) != n || array.shape(1) != n) {
      wrong = std::string(what) + " returned shape (" + shape(array) + "), not (" + std::to_string(n) + ", " +
              std::to_string(n) + ")";
      return false;
    }
    out = Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(array.data(), n, n);
    return std::isfinite(out.sum());
  }
  static std::string shape(const Array& array) {
    std::string text;
    for (py::ssize_t i = 0; i < array.ndim(); ++i)
      text += (i == 0 ? "" : ", ") + std::to_string(array.shape(i)) + (array.ndim() == 1 ? "," : "");
    return text;
  }
};

py::array given(const Vec& v) { return Array(v.size(), v.data()); }

// rtol and atol as scipy means them: an error of atol + rtol |y| counts 1.
void scale_errors(const Vec& before, const Vec& after, const Vec& floor, Vec& scales) {
  scales = before.cwiseAbs().cwiseMax(after.cwiseAbs()) + floor;
}

class FirstOrder final : public FirstOrderProblem {
 public:
  FirstOrder(Callbacks& calls, int n, Vec floor) : calls_(calls), n_(n), floor_(std::move(floor)) {}
  int size() const override { return n_; }
  Eval f(double t, const Vec& y, Vec& dydt) override {
    dydt.resize(n_);
    const bool good = calls_.guarded([&] {
      ++calls_.f_calls;
      return calls_.take(calls_.f(t, given(y)), dydt, n_, "f");
    });
    return good ? Eval::ok : Eval::rejected;
  }
  bool has_jacobian() const override { return !calls_.jac.is_none(); }
  bool has_time_derivative() const override { return false; }
  Eval jacobian(double t, const Vec& y, Jacobian& J, Vec& /*f_t*/) override {
    const bool good = calls_.guarded([&] {
      ++calls_.jac_calls;
      return calls_.take(calls_.jac(t, given(y)), J.dense, n_, "jac");
    });
    return good ? Eval::ok : Eval::rejected;
  }
  void error_scales(const Vec& before, const Vec& after, Vec& scales) const override {
    scale_errors(before, after, floor_, scales);
  }

 private:
  Callbacks& calls_;
  int n_;
  Vec floor_;
};

class SecondOrder final : public SecondOrderProblem {
 public:
  SecondOrder(Callbacks& calls, int n, Vec floor) : calls_(calls), n_(n), floor_(std::move(floor)) {}
  int freedoms() const override { return n_; }
  Eval acceleration(double t, const Vec& y, const Vec& v, Vec& a) override {
    a.resize(n_);
    const bool good = calls_.guarded([&] {
      ++calls_.f_calls;
      return calls_.take(calls_.f(t, given(y), given(v)), a, n_, "f");
    });
    return good ? Eval::ok : Eval::rejected;
  }
  bool has_jacobian() const override { return !calls_.jac.is_none(); }
  bool has_time_derivative() const override { return false; }
  Eval acceleration_jacobian(double t, const Vec& y, const Vec& v, Mat& J1, Mat& J2, Vec& /*f_t*/) override {
    const bool good = calls_.guarded([&] {
      ++calls_.jac_calls;
      const py::object both = calls_.jac(t, given(y), given(v));
      if (!py::isinstance<py::tuple>(both) || py::len(both) != 2) {
        calls_.wrong = "jac of a second-order problem returns the pair (df/dy, df/dv)";
        return false;
      }
      const py::tuple pair = both;
      return calls_.take(pair[0], J1, n_, "jac: df/dy") && calls_.take(pair[1], J2, n_, "jac: df/dv");
    });
    return good ? Eval::ok : Eval::rejected;
  }
  void error_scales(const Vec& before, const Vec& after, Vec& scales) const override {
    scale_errors(before, after, floor_, scales);
  }

 private:
  Callbacks& calls_;
  int n_;
  Vec floor_;
};

class Implicit final : public ImplicitProblem {
 public:
  Implicit(Callbacks& calls, int n, Vec floor) : calls_(calls), n_(n), floor_(std::move(floor)) {}
  int size() const override { return n_; }
  Eval residual(double t, const Vec& y, const Vec& dydt, Vec& F) override {
    F.resize(n_);
    const bool good = calls_.guarded([&] {
      ++calls_.f_calls;
      return calls_.take(calls_.f(t, given(y), given(dydt)), F, n_, "f");
    });
    return good ? Eval::ok : Eval::rejected;
  }
  // F_y + c F_y': given, or by forward differences of y_j + d, y'_j + c d.
  Eval jacobian(double t, const Vec& y, const Vec& dydt, double c, Jacobian& J) override {
    if (!calls_.jac.is_none()) {
      const bool good = calls_.guarded([&] {
        ++calls_.jac_calls;
        return calls_.take(calls_.jac(t, given(y), given(dydt), c), J.dense, n_, "jac");
      });
      return good ? Eval::ok : Eval::rejected;
    }
    Vec at(n_), moved(n_), scales(n_), y_moved = y, dydt_moved = dydt;
    if (residual(t, y, dydt, at) != Eval::ok) return Eval::rejected;
    error_scales(y, y, scales);
    J.dense.resize(n_, n_);
    for (int j = 0; j < n_; ++j) {
      y_moved[j] += std::copysign(1.5e-8 * scales[j], y[j]);
      const double d = y_moved[j] - y[j];  // as it was rounded
      dydt_moved[j] += c * d;
      if (residual(t, y_moved, dydt_moved, moved) != Eval::ok) return Eval::rejected;
      J.dense.col(j) = (moved - at) / d;
      y_moved[j] = y[j];
      dydt_moved[j] = dydt[j];
    }
    return Eval::ok;
  }
  void error_scales(const Vec& before, const Vec& after, Vec& scales) const override {
    scale_errors(before, after, floor_, scales);
  }

 private:
  Callbacks& calls_;
  int n_;
  Vec floor_;
};

// The last step, for a function that sees it while it is called.
struct LastStep {
  const OdeMethod* method = nullptr;
  const OdeMethod& now() const {
    if (method == nullptr) throw py::value_error("the step is over: it can be asked only while it is shown");
    return *method;
  }
};

Fields options_of(const py::dict& dict) {
  Fields options;
  for (const auto& [key, value] : dict) {
    const auto name = key.cast<std::string>();
    if (py::isinstance<py::bool_>(value)) {
      options.set(name, value.cast<bool>());
    } else if (py::isinstance<py::str>(value)) {
      options.set(name, value.cast<std::string>());
    } else {
      options.set(name, value.cast<double>());
    }
  }
  return options;
}

template <class Solve>
SolveResult integrate(const std::string& kind, Callbacks& calls, int n, const Vec& floor, const Solve& run) {
  if (kind == "first") {
    FirstOrder problem(calls, n, floor);
    return run(problem);
  }
  if (kind == "second") {
    SecondOrder problem(calls, n / 2, floor);
    return run(problem);
  }
  Implicit problem(calls, n, floor);
  return run(problem);
}

py::dict solve_ode(const std::string& kind, const py::object& f, double t0, double end, const Array& y0,
                   const std::string& method, const py::object& jac, double rtol, const Array& floor,
                   const std::optional<double>& step, double first_step, double greatest_step,
                   const std::vector<double>& t_eval, const py::dict& options, long most_attempts,
                   const py::object& after_step) {
  const CtrlC ctrl_c;
  Callbacks calls{f, jac, after_step, nullptr, "", &ctrl_c.flag()};
  SolveOptions o;
  o.tolerance = rtol;
  o.step = step;
  o.first_step = first_step;
  o.greatest_step = greatest_step;
  o.output_times = t_eval;
  o.options = options_of(options);
  o.most_attempts = most_attempts;
  const Vec start = Eigen::Map<const Vec>(y0.data(), y0.size()),
            least = Eigen::Map<const Vec>(floor.data(), floor.size());
  const auto shown = std::make_shared<LastStep>();
  o.after_step = [&](const OdeMethod& now) {
    if (*calls.interrupted || calls.dead()) return false;
    if (after_step.is_none()) return true;
    shown->method = &now;
    const bool go_on = calls.guarded([&] { return calls.after_step(shown).cast<bool>(); });
    shown->method = nullptr;
    return go_on;
  };
  const int n = static_cast<int>(start.size());
  SolveResult r;
  std::exception_ptr refused;
  {
    const py::gil_scoped_release released;
    try {
      r = integrate(kind, calls, n, least, [&](auto& problem) { return solve(problem, method, t0, start, end, o); });
    } catch (const Failure&) {
      refused = std::current_exception();
    }
  }
  if (calls.thrown) {
    calls.thrown->restore();
    calls.thrown.reset();
    throw py::error_already_set();
  }
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  // In other threads than the first, signals are nobody's: the method was only refused all further calls of f.
  if (*calls.interrupted && r.status != SolveStatus::finished) throw Interruption();
  if (refused) std::rethrow_exception(refused);
  if (!calls.wrong.empty()) throw py::value_error(calls.wrong);
  Mat outputs(n, static_cast<Eigen::Index>(r.outputs.size()));
  for (std::size_t i = 0; i < r.outputs.size(); ++i) outputs.col(static_cast<Eigen::Index>(i)) = r.outputs[i];
  using namespace py::literals;
  return py::dict("finished"_a = r.status == SolveStatus::finished, "stopped"_a = r.status == SolveStatus::stopped,
                  "status"_a = to_text(r.status), "message"_a = r.message, "t"_a = r.t, "y"_a = r.y,
                  "times"_a = r.times, "outputs"_a = outputs, "steps"_a = r.steps, "rejected"_a = r.rejected,
                  "failed"_a = r.failed, "nfev"_a = calls.f_calls, "njev"_a = calls.jac_calls,
                  "nlu"_a = r.counts.factorisations + r.counts.refactorisations, "evaluations"_a = r.counts.evaluations,
                  "stiff_steps"_a = r.stiff_steps, "steps_by_order"_a = r.steps_by_order);
}

}  // namespace

void bind_solve(py::module_& module) {
  py::class_<LastStep, std::shared_ptr<LastStep>>(module, "LastStep", "The last step of a method, while it is shown.")
      .def_property_readonly("t", [](const LastStep& s) { return s.now().t(); })
      .def_property_readonly("h", [](const LastStep& s) { return s.now().last_step(); })
      .def_property_readonly("y", [](const LastStep& s) { return s.now().y(); })
      .def_property_readonly("order", [](const LastStep& s) { return s.now().order(); })
      .def(
          "at",
          [](const LastStep& s, double t) {
            Vec y;
            s.now().interpolate(t, y);
            return y;
          },
          py::arg("t"), "Values inside the step, by the method's own dense output.");
  module.def("solve", solve_ode, py::arg("kind"), py::arg("f"), py::arg("t0"), py::arg("end"), py::arg("y0"),
             py::arg("method"), py::arg("jac"), py::arg("rtol"), py::arg("floor"), py::arg("step"),
             py::arg("first_step"), py::arg("greatest_step"), py::arg("t_eval"), py::arg("options"),
             py::arg("most_attempts"), py::arg("after_step"), "Integrates equations given as a Python function.");
}

}  // namespace trammel::python
