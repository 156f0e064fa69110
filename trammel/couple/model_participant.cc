#include "trammel/couple/model_participant.h"
#include "trammel/elements/build.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "trammel/base/archive.h"
#include "trammel/ode/runge_kutta/implicit_tableau.h"

namespace trammel {
namespace {

// Steps over a macro step for sensitivities, by the L-stable method `sdirk-4`: stiff participants have them too. It is
// exact for the moments of all input shapes.
constexpr int sensitivity_steps = 4;

const ImplicitTableau& sensitivity_method() {
  static const ImplicitTableau table = ImplicitTableau::sdirk_4();
  return table;
}

// Where the stages of a step lie in order of time.
const std::vector<int>& stage_order() {
  static const std::vector<int> order = [] {
    const Vec& c = sensitivity_method().c;
    std::vector<int> place(static_cast<std::size_t>(c.size()));
    for (Eigen::Index i = 0; i < c.size(); ++i) place[i] = static_cast<int>((c.array() < c[i]).count());
    return place;
  }();
  return order;
}

const char* const wrench_components[] = {"fx", "fy", "fz", "tx", "ty", "tz"};

}  // namespace

Model ModelParticipant::with_interface(Model model, const Options& options, std::vector<int>& frames,
                                       int& first_input) {
  const InputShapeInfo& shape = trammel::info(options.shape);
  first_input = static_cast<int>(model.inputs.size());
  const Location where = model.simulation.where;
  model.inputs.push_back({"glue_start", "s", 0, where});
  model.inputs.push_back({"glue_size", "s", 1, where});
  model.inputs.push_back({"glue_middle", "s", 0.5, where});
  const int world = model.add_frame(ground, {});
  for (std::size_t f = 0; f < options.frames.size(); ++f) {
    const int frame = model.find_frame(options.frames[f]);
    if (frame < 0) {
      std::vector<std::string> known;
      for (const Frame& k : model.frames) {
        if (!k.name.empty()) known.push_back(k.name);
      }
      const std::string near = nearest_name(options.frames[f], known);
      throw Failure({Severity::error,
                     "unknown-frame",
                     "participant '" + options.name + "': the model has no frame '" + options.frames[f] + "'",
                     near.empty() ? "name a frame of its section `frames`" : "did you mean '" + near + "'?",
                     {intern(model.file), 0, 0}});
    }
    frames.push_back(frame);
    Fields fields;
    fields.set("axes", std::string("world"));
    for (int c = 0; c < 6; ++c) {
      std::vector<std::string> names;
      for (int j = 0; j < shape.count; ++j) {
        names.push_back("glue_" + std::to_string(f + 1) + "_" + wrench_components[c] + "_" + std::to_string(j));
      }
      fields.set(
          wrench_components[c],
          ExpressionText{shape_expression(options.shape, names, "glue_start", "glue_size", "glue_middle"), where});
    }
    // In the order of MacroStep::inputs.
    for (int j = 0; j < shape.count; ++j) {
      for (const char* component : wrench_components) {
        model.inputs.push_back({"glue_" + std::to_string(f + 1) + "_" + component + "_" + std::to_string(j),
                                component[0] == 'f' ? "N" : "N m", 0, where});
      }
    }
    add_force(model, "general_force", "glue." + options.frames[f], {world, frame}, std::move(fields));
  }
  return model;
}

ModelParticipant::ModelParticipant(Model model, Options options)
    : shape_(options.shape),
      sink_(std::move(options.sink)),
      simulation_(with_interface(std::move(model), options, frames_, first_input_), Pairs::all),
      work_(simulation_.equations().make_workspace()),
      saddle_(simulation_.equations()) {
  info_.name = options.name;
  info_.frames = options.frames;
  const Equations& equations = simulation_.equations();
  equations.refuse_seen_rates("a part of a coupled system", "how its frames yield would depend on them");
  for (int i = 0; i < equations.switch_count(); ++i) {
    if (equations.switch_info(i).ends_mode) {
      throw Failure({Severity::error, "modes-not-in-coupling",
                     equations.name_of_switch(i) +
                         ": a part of a coupled system cannot change its modes: how its frames yield would jump",
                     "run the model as a whole, or take joint_friction, whose law is smooth",
                     equations.place_of_switch(i)});
    }
    if (!equations.switch_info(i).strikes) continue;
    throw Failure(
        {Severity::error, "impact-not-in-coupling",
         equations.name_of_switch(i) + ": a part of a coupled system cannot strike: its velocities would jump",
         "run the model as a whole, or give the contact a force in time", equations.place_of_switch(i)});
  }
  // Behind a corner that moves with the inputs the variational equations would have to jump.
  info_.has_sensitivity = equations.sizes().nx == 0 && !simulation_.events().watches_motion();
  const SimulationSettings& s = equations.model().simulation;
  if (s.locate_events && options.shape == InputShape::halves) {
    throw Failure({Severity::error, "located-not-in-coupling",
                   "participant '" + options.name +
                       "': events cannot be located with inputs that jump in the middle of a macro step",
                   "take a scheme with other inputs, such as quadratic, or leave `events: located` out", s.where});
  }
  fixed_ = s.step.has_value();
  const Value* ode45 = s.options.find("ode45");
  ode45_ = ode45 != nullptr && std::get_if<bool>(ode45) != nullptr && *std::get_if<bool>(ode45);
}

ModelParticipant::~ModelParticipant() = default;

std::vector<FrameState> ModelParticipant::start() {
  simulation_.start();
  const Equations& equations = simulation_.equations();
  accepted_ = trial_ = simulation_.integrator().state();
  rates_ = simulation_.integrator().rates();
  save_method();
  if (sink_) {
    recorder_ = std::make_unique<Recorder>(equations, simulation_.initial(), false);
    recorder_->note_step(accepted_, rates_);
    sink_->begin({recorder_->tables()[0]}, simulation_.provenance());
    start_row_ = recorder_->output_row(accepted_, rates_);
  }
  std::vector<FrameState> out(frames_.size());
  frame_states(accepted_, out.data());
  return out;
}

void ModelParticipant::frame_states(const State& state, FrameState* out) {
  simulation_.equations().update(state, work_);
  for (std::size_t f = 0; f < frames_.size(); ++f) out[f] = simulation_.equations().frame(frames_[f], work_);
}

void ModelParticipant::set_inputs(const MacroStep& step, State& state) const {
  state.u[first_input_] = step.t;
  state.u[first_input_ + 1] = step.end - step.t;
  state.u[first_input_ + 2] = step.t + 0.5 * (step.end - step.t);
  for (std::size_t i = 0; i < step.inputs.size(); ++i) state.u[first_input_ + 3 + static_cast<int>(i)] = step.inputs[i];
}

void ModelParticipant::begin(const MacroStep& step) {
  step_ = step;
  result_.ok = true;
  result_.message.clear();
  result_.step_times.clear();
  result_.frames.resize(step.samples.size() * frames_.size());
  states_.resize(step.samples.size());
  const std::size_t stages = stage_order().size();
  path_.resize(step.keep_path ? sensitivity_steps * stages + 1 : 0);
  times_.clear();
  sample_of_.clear();
  path_of_.clear();
  std::size_t sample = 0, node = 0;
  std::vector<double> parts(stages);
  for (std::size_t i = 0; i < stages; ++i)
    parts[stage_order()[i]] = sensitivity_method().c[static_cast<Eigen::Index>(i)];
  const auto node_time = [&](std::size_t k) {
    if (k == 0 || k + 1 == path_.size()) return k == 0 ? step.t : step.end;
    const std::size_t whole = (k - 1) / stages;
    const double s = static_cast<double>(whole) + parts[(k - 1) % stages];
    return step.t + (step.end - step.t) * s / sensitivity_steps;
  };
  while (sample < step.samples.size() || node < path_.size()) {
    const double a = sample < step.samples.size() ? step.samples[sample] : std::numeric_limits<double>::infinity();
    const double b = node < path_.size() ? node_time(node) : std::numeric_limits<double>::infinity();
    const double near = 1e-9 * (step.end - step.t);
    times_.push_back(std::min(a, b) + near > std::max(a, b) ? a : std::min(a, b));
    sample_of_.push_back(a < b + near ? static_cast<int>(sample++) : -1);
    path_of_.push_back(b < a + near ? static_cast<int>(node++) : -1);
  }
  next_time_ = 0;

  // Whatever an earlier try did to the method's coordinates is undone.
  std::span<const std::byte> bytes(method_);
  simulation_.integrator().restore(bytes);
  read_state(simulation_.stepper(), bytes);
  trial_ = accepted_;
  trial_.t = simulation_.events().any() ? std::max(step.t, trial_.t) : step.t;  // it may stand just behind a corner
  set_inputs(step, trial_);
  true_inputs_ = trial_.u;
  if (shape_ == InputShape::shifted && !shift(step)) {
    result_.ok = false;
    result_.message = "positions cannot be shifted";
    return;
  }
  if (shape_ == InputShape::halves && step.restart_at_jumps) {
    const double middle = trial_.u[first_input_ + 2];
    const auto hold = [&](int from, int to) {
      for (std::size_t f = 0; f < frames_.size(); ++f) {
        const int at = first_input_ + 3 + static_cast<int>(f) * 12;
        trial_.u.segment(at + 6 * to, 6) = true_inputs_.segment(at + 6 * from, 6);
        trial_.u.segment(at + 6 * from, 6) = true_inputs_.segment(at + 6 * from, 6);
      }
    };
    hold(0, 1);
    if (integrate(middle)) {
      hold(1, 0);
      integrate(step.end);
    }
  } else {
    integrate(step.end);
  }
  trial_.u.head(true_inputs_.size() - simulation_.equations().sizes().nx) =
      true_inputs_.head(true_inputs_.size() - simulation_.equations().sizes().nx);
}

// Positions of the trial by H^2 A c_2, back onto the model's own joints, velocities with them.
bool ModelParticipant::shift(const MacroStep& step) {
  const Equations& equations = simulation_.equations();
  Mat B;
  wrench_map(accepted_, B);
  Vec wrench(B.cols()), b = Vec::Zero(saddle_.size()), z = b;
  for (Eigen::Index f = 0; f < B.cols() / 6; ++f)
    wrench.segment<6>(6 * f) = Eigen::Map<const Vec6>(step.inputs.data() + 12 * f + 6);
  if (wrench.isZero(0)) return true;
  if (!factor_mass(accepted_)) return false;
  b.head(B.rows()) = B * wrench;
  saddle_.solve_refined(b, z);
  const double H = step.end - step.t;
  equations.retract(accepted_.q, H * H * z.head(B.rows()), trial_.q);
  return simulation_.accelerations().project(trial_, work_);
}

void ModelParticipant::finish(MacroResult& result) { result = result_; }

// The rule of MATLAB's ode45 (facts of the method in its page).
double ModelParticipant::ode45_first_step(double span) const {
  const Equations& equations = simulation_.equations();
  const double tolerance = equations.model().simulation.tolerance.value_or(1e-5);
  double rate = 0;
  for (Eigen::Index i = 0; i < trial_.v.size(); ++i) {
    rate = std::max({rate, std::abs(trial_.v[i]), std::abs(rates_.a[i]) / std::max(1.0, std::abs(trial_.v[i]))});
  }
  const double greatest = 0.1 * span;
  return rate > 0 ? std::min(greatest, 0.8 * std::pow(tolerance, 0.2) / rate) : greatest;
}

bool ModelParticipant::fail(std::string message) {
  result_.ok = false;
  result_.message = std::move(message);
  return false;
}

bool ModelParticipant::chatters() {
  const int which = simulation_.events().chattering();
  return which >= 0 &&
         !fail(simulation_.equations().name_of_switch(which) + " changes again and again in a very short time");
}

bool ModelParticipant::fail_to_step() {
  const Equations& equations = simulation_.equations();
  const Attempt& last = simulation_.stepper().last_attempt();
  std::string where;
  if (last.worst_velocity >= 0) where = ", " + equations.name_of_velocity(last.worst_velocity);
  if (last.worst_row >= 0) where += ", " + equations.name_of_row(last.worst_row);
  return fail("no step of " + std::to_string(simulation_.stepper().size()) + " s can be taken: " +
              (last.verdict == Verdict::ok ? "the error stays too large" : to_text(last.verdict)) + where);
}

bool ModelParticipant::pass_event(double& t) {
  Stepper& stepper = simulation_.stepper();
  const bool passed = !stepper.events_here().empty();
  if (chatters()) return false;
  if (!passed) return true;
  stepper.go_behind_events();
  t = std::max(t, stepper.t());
  take_samples(t, false, true);
  return true;
}

void ModelParticipant::set_step_rule(double to) {
  const SimulationSettings& s = simulation_.equations().model().simulation;
  StepRule& rule = simulation_.stepper().rule();
  const double span = to - trial_.t;
  if (fixed_) rule.set_next(span / std::max(1.0, std::ceil(span / *s.step - 1e-9)));
  rule.set_greatest(ode45_ ? 0.1 * span : s.greatest_step.value_or(span));
  if (!ode45_) return;
  rule.set_stretch(0.1);
  rule.set_next(ode45_first_step(span));
}

bool ModelParticipant::integrate(double to) {
  const Equations& equations = simulation_.equations();
  Integrator& integrator = simulation_.integrator();
  Stepper& stepper = simulation_.stepper();
  if (!simulation_.accelerations().solve(trial_, rates_, work_)) return fail("accelerations cannot be solved for");
  integrator.start(trial_, rates_);
  take_samples(trial_.t, false, true);
  set_step_rule(to);
  const double least = std::max(equations.model().simulation.least_step.value_or(0),
                                16 * std::numeric_limits<double>::epsilon() * std::abs(to));
  double t = trial_.t;
  while (t < to) {
    if (stepper.plan(to) == 0) {
      const double here = t;
      if (!pass_event(t)) return false;
      if (!(t > here)) return fail("time does not go on");
      continue;
    }
    if (!stepper.attempt()) {
      stepper.refuse();
      if (chatters()) return false;
      if (fixed_ || stepper.rule().next() < least) return fail_to_step();
      continue;
    }
    stepper.accept();
    const bool watched = simulation_.events().any(), whole = stepper.ends_at_the_end(),
               at_end = whole || (watched && to - stepper.t() < simulation_.events().resolution());
    t = at_end ? to : stepper.t();
    result_.step_times.push_back(t);
    take_samples(t, at_end);
    if (watched && (whole || !at_end) && !pass_event(t)) return false;
  }
  const Vec inputs = trial_.u;
  trial_ = integrator.state();
  trial_.t = t;
  trial_.u.head(equations.sizes().nu) = inputs.head(equations.sizes().nu);
  return true;
}

void ModelParticipant::take_samples(double t, bool at_end, bool anew) {
  const Equations& equations = simulation_.equations();
  const Integrator& integrator = simulation_.integrator();
  while (next_time_ < times_.size() &&
         (times_[next_time_] <= t || (at_end && times_[next_time_] - t < 1e-12 * std::abs(t)))) {
    const double at = times_[next_time_];
    State& state = sample_of_[next_time_] >= 0 ? states_[sample_of_[next_time_]] : path_[path_of_[next_time_]];
    if (at >= t || anew) {
      state = integrator.state();
      state.t = at;
    } else {
      integrator.interpolate(at, state);
    }
    state.u.head(equations.sizes().nu) = true_inputs_.head(equations.sizes().nu);
    if (sample_of_[next_time_] >= 0) {
      frame_states(state, &result_.frames[static_cast<std::size_t>(sample_of_[next_time_]) * frames_.size()]);
      if (path_of_[next_time_] >= 0) path_[path_of_[next_time_]] = state;
    }
    ++next_time_;
  }
}

void ModelParticipant::save_method() {
  method_.clear();
  simulation_.integrator().save(method_);
  write_state(simulation_.stepper(), method_);
}

void ModelParticipant::accept() {
  accepted_ = trial_;
  save_method();
  if (!recorder_) return;
  if (!start_row_.empty() && !sink_->append(0, start_row_)) sink_->flush();
  start_row_.clear();
  // The books of energy want the middle of the step.
  State middle;
  const double half = step_.t + 0.5 * (step_.end - step_.t);
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (middle.q.size() == 0 || std::abs(states_[i].t - half) < std::abs(middle.t - half)) middle = states_[i];
  }
  if (simulation_.accelerations().solve(accepted_, rates_, work_)) recorder_->note_step(accepted_, rates_, &middle);
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (!step_.record.empty() && step_.record[i] == 0) continue;
    if (!simulation_.accelerations().solve(states_[i], rates_, work_)) continue;
    if (!sink_->append(0, recorder_->output_row(states_[i], rates_))) sink_->flush();
  }
}

void ModelParticipant::close(bool good) {
  if (sink_ && recorder_) sink_->finish(good ? RunStatus::finished : RunStatus::failed, "", "");
}

// ---- how frames yield
// ------------------------------------------------------------------------------------------------

void ModelParticipant::wrench_map(const State& state, Mat& B) {
  const Equations& equations = simulation_.equations();
  equations.update(state, work_);
  Vec column;
  B.setZero(equations.sizes().nv, 6 * static_cast<Eigen::Index>(frames_.size()));
  for (std::size_t f = 0; f < frames_.size(); ++f) {
    for (int i = 0; i < 6; ++i) {
      const Vec6 wrench = Vec6::Unit(i);
      column.setZero(B.rows());
      equations.add_wrench(equations.body_frame(frames_[f]), work_, wrench.data(), 1, column);
      B.col(6 * static_cast<Eigen::Index>(f) + i) = column;
    }
  }
}

bool ModelParticipant::factor_mass(const State& state) {
  const Equations& equations = simulation_.equations();
  Partials partials = equations.make_partials(Detail::projection);
  equations.update(state, work_);
  equations.jacobian(state, partials, work_);
  equations.mass(state.q, partials);
  saddle_.combine_mass(partials);
  return saddle_.factor();
}

Mat ModelParticipant::compliance() {
  Mat B;
  wrench_map(accepted_, B);
  Mat A = Mat::Zero(B.cols(), B.cols());
  if (!factor_mass(accepted_)) return A;
  Vec b = Vec::Zero(saddle_.size()), z = b;
  for (Eigen::Index c = 0; c < B.cols(); ++c) {
    if (B.col(c).isZero(0)) continue;
    b.head(B.rows()) = B.col(c);
    saddle_.solve_refined(b, z);
    A.col(c) = B.transpose() * z.head(B.rows());
  }
  return A;
}

void ModelParticipant::frame_variations(const Vec& dq, const Vec& dv, double* out) const {
  const Equations& equations = simulation_.equations();
  for (std::size_t f = 0; f < frames_.size(); ++f, out += 12)
    Eigen::Map<Eigen::Matrix<double, 12, 1>>{out} =
        equations.frame_variation(equations.body_frame(frames_[f]), dq, dv, work_);
}

// The variational equations along the last try,
//
//   dq' = dv - w x dq (rotations)        [ M  G^T ] [ dv'     ]   [ B b_j - (Ma_q + force_q) dq - force_v dv ]
//                                        [ G   0  ] [ dlambda ] = [ (gamma_q - Ga_q) dq + gamma_v dv         ]
//
// for all coefficients at once by a diagonally implicit method: with dq = q0 + hg dq', dv = v0 + hg dv' in a stage,
//
//   [ M + hg force_v + hg^2 r_q    G^T ] [ dv'     ]   [ B b_j - r_q p - force_v v0 ]    r_q = Ma_q + force_q
//   [ G - hg gamma_v + hg^2 s_q     0  ] [ dlambda ] = [ -s_q p + gamma_v v0        ]    s_q = Ga_q - gamma_q
//
// p = q0 + hg (v0 - w x dq). The spin under it comes from the sweep before: hg |w| is small, the sweeps end when it
// does not matter.
class ModelParticipant::Variation {
 public:
  explicit Variation(ModelParticipant& participant);
  void shift_start();
  void advance(int step);
  // At a state of the path: the column of `out` for each coefficient, in the rows of the sample.
  void write_frames(const State& at, Eigen::Index sample, Mat& out) const;

 private:
  void linearise_at(const State& state, double side);
  void solve_stage(Eigen::Index k, double s, const Vec& q0, const Vec& v0, Eigen::Ref<Vec> dq_dt,
                   Eigen::Ref<Vec> dv_dt);

  ModelParticipant& of_;
  const Equations& equations_;
  const ImplicitTableau& table_;
  const int nv_, ng_, count_, stages_;
  const double H_, h_, hg_;
  Partials partials_;
  Vec r_q_, s_q_;
  const std::vector<Mat3> none_;
  Mat B_;
  std::vector<std::pair<Eigen::Index, int>> columns_;  // of B, and the coefficient: only wrenches that move something
  Mat q_, v_;                                          // a column for each of them
  std::vector<Mat> kq_, kv_;                           // dq' and dv' of the stages
  Vec b_, z_, p_, dq_, turned_;
  State at_;
  double spin_ = 0;  // the fastest one there
};

ModelParticipant::Variation::Variation(ModelParticipant& participant)
    : of_(participant),
      equations_(of_.simulation_.equations()),
      table_(sensitivity_method()),
      nv_(equations_.sizes().nv),
      ng_(equations_.sizes().multipliers()),
      count_(trammel::info(of_.shape_).count),
      stages_(static_cast<int>(table_.c.size())),
      H_(of_.step_.end - of_.step_.t),
      h_(H_ / sensitivity_steps),
      hg_(h_ * table_.A(0, 0)),
      partials_(equations_.make_partials(Detail::all)),
      none_(equations_.rotation_columns().size(), Mat3::Zero()),
      b_(nv_ + ng_),
      z_(nv_ + ng_),
      p_(nv_),
      dq_(nv_),
      turned_(nv_) {
  of_.wrench_map(of_.path_[0], B_);
  for (Eigen::Index c = 0; c < B_.cols(); ++c) {
    for (int j = 0; j < count_ && !B_.col(c).isZero(0); ++j) columns_.emplace_back(c, j);
  }
  q_ = Mat::Zero(nv_, static_cast<Eigen::Index>(columns_.size()));
  v_ = q_;
  kq_.assign(static_cast<std::size_t>(stages_), q_);
  kv_ = kq_;
}

// Where inputs jump, a stage sees the side that it ends.
void ModelParticipant::Variation::linearise_at(const State& state, double side) {
  at_ = state;
  at_.t += side * 1e-9 * H_;
  of_.simulation_.accelerations().solve(at_, of_.rates_, of_.work_);
  equations_.linearise(at_, of_.rates_, Detail::all, partials_, of_.work_);
  r_q_ = partials_.Ma_q + partials_.force_q;
  s_q_ = partials_.Ga_q - partials_.gamma_q;
  of_.wrench_map(at_, B_);
  spin_ = 0;
  for (const int c : equations_.rotation_columns()) spin_ = std::max(spin_, at_.v.segment<3>(c).norm());
}

void ModelParticipant::Variation::solve_stage(Eigen::Index k, double s, const Vec& q0, const Vec& v0,
                                              Eigen::Ref<Vec> dq_dt, Eigen::Ref<Vec> dv_dt) {
  const auto [column, coefficient] = columns_[k];
  const int sweeps = equations_.rotation_columns().empty() ? 1 : 4;
  dq_ = q0;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    turned_.setZero();
    for (const int c : equations_.rotation_columns())
      turned_.segment<3>(c) = Vec3(at_.v.segment<3>(c)).cross(Vec3(dq_.segment<3>(c)));
    p_ = q0 + hg_ * (v0 - turned_);
    b_.setZero();
    b_.head(nv_) = basis(of_.shape_, coefficient, s) * B_.col(column);
    equations_.vv().multiply_add(r_q_, -1, p_.data(), b_.data());
    equations_.vv().multiply_add(partials_.force_v, -1, v0.data(), b_.data());
    equations_.gv().multiply_add(s_q_, -1, p_.data(), b_.data() + nv_);
    equations_.gv().multiply_add(partials_.gamma_v, 1, v0.data(), b_.data() + nv_);
    of_.saddle_.solve_refined(b_, z_);
    const Vec before = dq_;
    dq_ = p_ + hg_ * hg_ * z_.head(nv_);
    if ((dq_ - before).norm() * hg_ * spin_ < 1e-8 * dq_.norm()) break;
  }
  dv_dt = z_.head(nv_);
  dq_dt = (dq_ - q0) / hg_;
}

// A shift moves positions at the start, velocities as the model's joints ask for it: G dv = -(G v)_q dq. Shifts are
// small; what their size changes of this is left out.
void ModelParticipant::Variation::shift_start() {
  linearise_at(of_.path_[0], 1);
  of_.saddle_.combine_mass(partials_);
  of_.saddle_.factor();
  for (Eigen::Index k = 0; k < q_.cols(); ++k) {
    if (columns_[k].second != 1) continue;
    b_.setZero();
    b_.head(nv_) = B_.col(columns_[k].first);
    of_.saddle_.solve_refined(b_, z_);
    q_.col(k) = H_ * H_ * z_.head(nv_);
    b_.setZero();
    equations_.gv().multiply_add(partials_.Gv_q, -1, q_.col(k).data(), b_.data() + nv_);
    of_.saddle_.solve_refined(b_, z_);
    v_.col(k) = z_.head(nv_);
  }
}

void ModelParticipant::Variation::advance(int step) {
  Vec q0(nv_), v0(nv_);
  for (int i = 0; i < stages_; ++i) {
    const bool last = table_.c[i] > 1 - 1e-12;  // sees the side of a jump that it ends
    const double c = table_.c[i], hair = last ? 1e-12 : 0;
    linearise_at(of_.path_[1 + step * stages_ + stage_order()[i]], last ? -1 : 0);
    of_.saddle_.combine_stage(partials_, r_q_, s_q_, hg_, none_, none_);
    of_.saddle_.factor();
    for (Eigen::Index k = 0; k < q_.cols(); ++k) {
      q0 = q_.col(k);
      v0 = v_.col(k);
      for (int j = 0; j < i; ++j) {
        q0 += h_ * table_.A(i, j) * kq_[j].col(k);
        v0 += h_ * table_.A(i, j) * kv_[j].col(k);
      }
      solve_stage(k, (step + c) / sensitivity_steps - hair, q0, v0, kq_[i].col(k), kv_[i].col(k));
    }
  }
  for (int j = 0; j < stages_; ++j) {
    q_ += h_ * table_.b[j] * kq_[j];
    v_ += h_ * table_.b[j] * kv_[j];
  }
}

void ModelParticipant::Variation::write_frames(const State& at, Eigen::Index sample, Mat& out) const {
  equations_.update(at, of_.work_);
  const Eigen::Index rows = 12 * static_cast<Eigen::Index>(of_.frames_.size());
  Vec column(rows);
  for (Eigen::Index k = 0; k < q_.cols(); ++k) {
    of_.frame_variations(q_.col(k), v_.col(k), column.data());
    const auto [c, j] = columns_[k];
    out.block(rows * sample, ((c / 6) * count_ + j) * 6 + c % 6, rows, 1) = column;
  }
}

Mat ModelParticipant::sensitivity(std::span<const int> samples) {
  const auto nf = static_cast<Eigen::Index>(frames_.size());
  Mat out = Mat::Zero(12 * nf * static_cast<Eigen::Index>(samples.size()), 6 * nf * trammel::info(shape_).count);
  Variation variation(*this);
  if (shape_ == InputShape::shifted) variation.shift_start();
  std::size_t next = 0;
  const double near = 1e-9 * (step_.end - step_.t);
  for (int step = 0; step < sensitivity_steps; ++step) {
    variation.advance(step);
    const State& end = path_[(step + 1) * stage_order().size()];
    for (; next < samples.size() && step_.samples[samples[next]] < end.t + near; ++next)
      variation.write_frames(end, static_cast<Eigen::Index>(next), out);
  }
  return out;
}

// ---- save
// ------------------------------------------------------------------------------------------------------------

void ModelParticipant::visit(Archive& archive) {
  State state = accepted_;
  archive(state);
  if (state.q.size() != accepted_.q.size() || state.v.size() != accepted_.v.size() ||
      state.u.size() != accepted_.u.size() || state.memory.size() != accepted_.memory.size()) {
    throw Failure({Severity::error,
                   "checkpoint-of-another-model",
                   "participant '" + info_.name + "': the state belongs to another model",
                   "go on with the model it was saved with",
                   {}},
                  ExitCode::bad_usage);
  }
  accepted_ = state;
  // Pivots: without them results differ in their last bits.
  archive(simulation_.accelerations().saddle(), saddle_, method_);
  bool recorded = recorder_ != nullptr;
  archive(recorded);
  if (recorded && recorder_) archive(*recorder_);
}

Bytes ModelParticipant::save() {
  Bytes out;
  write_state(*this, out);
  return out;
}

void ModelParticipant::restore(std::span<const std::byte> in) {
  read_state(*this, in);
  start_row_.clear();
  trial_ = accepted_;
}

}  // namespace trammel
