#include "trammel/run/recorder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "trammel/base/numbers.h"
#include "trammel/elements/contacts/contact.h"
#include "trammel/elements/registry.h"
#include "trammel/model/modal_data.h"
#include "trammel/run/output_table.h"

namespace trammel {
namespace {

constexpr Scalar angle_about_z{Primitive::angle}, along_z{Primitive::in_plane, 2};

// An output of a subsystem that is used under the name of a part of ours: energy.total.
void refuse_taken_names(const Model& model, const std::vector<Signal>& signals) {
  std::unordered_set<std::string_view> names;
  for (const Output& o : model.outputs) names.insert(o.name);
  for (std::size_t i = 1 + model.outputs.size(); i < signals.size(); ++i) {
    if (names.count(signals[i].name) == 0) continue;
    throw Failure({Severity::error, "duplicate-name",
                   "output '" + signals[i].name + "': every result has a signal of this name", "rename it",
                   model.outputs[0].expression.where});
  }
}

// What must be known of the reactions of a joint or motion; empty: nothing.
std::string caveat_of(const Equations& equations, const InitialReport& initial, std::size_t constraint,
                      bool reactions_doubtful) {
  std::string flag;
  if (constraint < initial.rank.edges.size() && initial.rank.edges[constraint].undetermined.cols() > 0) {
    flag = "not unique: least-norm reaction, L = " + digits(equations.length(), 4) + " m";
    const std::string& text = initial.rank.edges[constraint].text;
    if (!text.empty()) flag += " (" + text + ", world axes at the start)";
  }
  if (reactions_doubtful)
    flag += (flag.empty() ? "" : "; ") + std::string("multipliers oscillate undamped with this method");
  return flag;
}

}  // namespace

Recorder::Recorder(const Equations& equations, const InitialReport& initial, bool reactions_doubtful)
    : equations_(equations),
      work_(equations.make_workspace()),
      residual_(equations.make_residual()),
      gdot_(Vec::Zero(equations.sizes().multipliers())) {
  const Model& model = equations.model();
  for (const Body& body : model.bodies) {
    is_place_.push_back(kind_of(body).is_place);
    modes_.push_back(body.modal == nullptr ? 0 : body.modal->modes());
  }
  for (const Item& joint : model.joints) axes_.push_back(axis_freedoms(joint.type));
  Table output{"output", "at output times; accelerations and reactions satisfy the equations of motion there", {}};
  std::vector<Signal>& s = output.signals;
  for (const OutputGroup& group : output_groups(equations)) {
    const std::string flag =
        group.constraint >= 0 ? caveat_of(equations, initial, group.constraint, reactions_doubtful) : "";
    for (const OutputColumn& column : group.columns)
      add_signals(column, column.shape == OutputShape::vector ? flag : "", s);
  }
  refuse_taken_names(model, s);
  tables_.push_back(std::move(output));
  row_.resize(tables_[0].signals.size());
  recorded_forces_ = recorded_forces(model);

  tables_.push_back({"steps",
                     "one row for every accepted step",
                     {{"time", "s", "", "end of the step", false, ""},
                      {"solver.step_size", "s", "", "step size", false, ""},
                      {"solver.error", "", "", "estimated error by tolerance", false, ""},
                      {"solver.newton_iterations", "", "", "in the accepted attempt", false, ""},
                      {"solver.rejected", "", "", "attempts rejected before it", false, ""}}});
  step_row_.resize(tables_[1].signals.size());

  joint_angles_.assign(model.joints.size(), 0);
  joint_rates_ = joint_angles_;
  middle_rates_ = equations.make_rates();
  last_ = before_worst_ = after_worst_ = equations.initial_state();
  books_multipliers_ = !model.motions.empty();
  for (int c = 0; c < equations.constraint_count(); ++c)
    books_multipliers_ = books_multipliers_ || equations.constraint(c).does_work();
  needs_middle_ = equations.force_count() > 0 || books_multipliers_;
  PlaceNames names(model);
  names.index();
  for (const Output& o : model.outputs) {
    UserOutput user;
    user.expression = MeasuredExpression::parse(o, names, user.frames);
    for (std::size_t i = 0; i < user.frames.size(); ++i)
      equations.require("output '" + o.name + "'", user.frames[i], user.expression.needs(static_cast<int>(i)),
                        o.expression.where);
    user.memory.assign(user.expression.memory(), 0);
    outputs_.push_back(std::move(user));
  }
  output_values_.assign(outputs_.size(), 0);
}

// Angles are taken as the turn nearest to where the mean of their rates leads from the last step: steps and times
// between outputs may be longer than a turn.
void Recorder::evaluate_outputs(const State& state, bool remember) {
  values_missing_ = 0;
  FrameState frames[max_frames];
  const double ahead = started_ ? state.t - last_t_ : 0;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    UserOutput& user = outputs_[i];
    for (std::size_t k = 0; k < user.frames.size(); ++k) frames[k] = equations_.frame(user.frames[k], work_);
    near_.assign(user.memory.begin(), user.memory.end());
    rates_.assign(user.memory.size(), 0);
    const ElementInput in = equations_.expression_input(state, frames, near_.data(), work_);
    user.expression.angle_rates(in, rates_.data());
    for (std::size_t k = 0; k < near_.size(); k += RememberedAngle::size)
      RememberedAngle::keep(near_[k] + 0.5 * ahead * (near_[k + 1] + rates_[k]), rates_[k], state.t, near_.data() + k);
    if (!user.expression.evaluate(in, output_values_[i]) || !std::isfinite(output_values_[i])) {
      output_values_[i] = std::numeric_limits<double>::quiet_NaN();
      ++values_missing_;
    }
    if (!remember) continue;
    user.expression.accept(in, near_.data());
    user.memory = near_;
  }
}

double Recorder::joint_angle(std::size_t joint, double t, double* rate) const {
  const Item& item = equations_.model().joints[joint];
  const FrameState a = equations_.frame(item.frames[0], work_), b = equations_.frame(item.frames[1], work_);
  PairScalar angle(angle_about_z, a, b, 1);
  const double now = angle.good() ? angle.rate(PairTwist(a, b)) : 0, ahead = started_ ? t - last_t_ : 0;
  if (rate != nullptr) *rate = now;
  angle.unwrap(joint_angles_[joint] + 0.5 * ahead * (joint_rates_[joint] + now));
  return angle.value();
}

double Recorder::Power::sum(double s, double h) const {
  return h * s * (first + s * (0.5 * (-3 * first + 4 * middle - last) + s * 2.0 / 3 * (first - 2 * middle + last)));
}

void Recorder::note_step(const State& state, const Rates& rates, const State* middle) {
  if (middle != nullptr) {
    middle_rates_.lambda = 0.5 * (middle_rates_.lambda + rates.lambda);  // of the motions
    if (equations_.has_sensors()) middle_rates_.a = 0.5 * (middle_rates_.a + rates.a);
    const Energy e = equations_.energy(*middle, middle_rates_, work_);
    heat_.middle = e.dissipated_power;
    work_done_.middle = e.external_power;
  }
  middle_rates_.lambda = rates.lambda;
  middle_rates_.a = rates.a;
  const Energy e = equations_.energy(state, rates, work_);  // also updates the body states
  const Model& model = equations_.model();
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    if (!axes_[j].turns) continue;
    double rate = 0;
    joint_angles_[j] = joint_angle(j, state.t, &rate);
    joint_rates_[j] = rate;
  }
  evaluate_outputs(state, true);
  const double before = book_.imbalance();
  book_.kinetic = e.kinetic;
  book_.potential = e.potential;
  const auto book = [&](Power& power, double now, double& sum) {
    power.first = power.last;
    power.last = now;
    if (middle == nullptr) power.middle = 0.5 * (power.first + power.last);
    power.before = sum;
    const double passed = power.sum(1, step_);
    sum += passed;
    book_.passed += std::abs(passed);
  };
  if (!started_) {
    book_.first = e.kinetic + e.potential;
    book_.least_potential = book_.greatest_potential = e.potential;
    started_ = true;
    heat_.last = e.dissipated_power;
    work_done_.last = e.external_power;
  } else {
    step_ = state.t - last_t_;
    book(heat_, e.dissipated_power, book_.dissipated);
    book(work_done_, e.external_power, book_.external);
  }
  last_t_ = state.t;
  book_.greatest_kinetic = std::max(book_.greatest_kinetic, e.kinetic);
  book_.least_potential = std::min(book_.least_potential, e.potential);
  book_.greatest_potential = std::max(book_.greatest_potential, e.potential);
  book_.largest_imbalance = std::max(book_.largest_imbalance, std::abs(book_.imbalance()));
  if (const double share = std::abs(book_.imbalance() - before); step_ > 0 && share > book_.worst_step) {
    book_.worst_step = share;
    before_worst_ = last_;
    after_worst_ = state;
  }
  last_ = state;
}

// Where the next number of a row goes.
struct Recorder::Cursor {
  double* at;
  void add(double value) { *at++ = value; }
  void add(const Vec3& v) {
    for (int i = 0; i < 3; ++i) *at++ = v[i];
  }
};

const std::vector<double>& Recorder::output_row(const State& state, const Rates& rates) {
  equations_.residual(state, rates, everything, residual_, work_);
  equations_.velocity_residual(state, gdot_, work_);
  equations_.update(state, work_, &rates);
  for (const int row : equations_.velocity_rows()) residual_.g[row] = 0;  // these are in gdot
  position_residual_ = residual_.g.size() > 0 ? residual_.g.lpNorm<Eigen::Infinity>() : 0;
  velocity_residual_ = gdot_.size() > 0 ? gdot_.lpNorm<Eigen::Infinity>() : 0;
  Cursor row{row_.data()};
  row.add(state.t);
  evaluate_outputs(state, false);
  for (const double value : output_values_) row.add(value);
  add_bodies(state, rates, row);
  add_constraints(state, rates, row);
  add_forces(state, rates, row);
  for (const double x : equations_.states_of(state)) row.add(x);
  for (const double value : equations_.variables_of(work_)) row.add(value);
  add_energies(state, rates, row);
  row.add(position_residual_);
  row.add(velocity_residual_);
  return row_;
}

void Recorder::add_bodies(const State& state, const Rates& rates, Cursor& row) {
  for (std::size_t b = 0; b < is_place_.size(); ++b) {
    const BodyElement& body = equations_.body(static_cast<int>(b));
    if (!is_place_[b]) {
      row.add(state.q[body.at().q]);
      row.add(state.v[body.at().v]);
      row.add(rates.a[body.at().v]);
      continue;
    }
    const BodyFrame& origin = equations_.origin(static_cast<int>(b));
    const FrameState at_origin = equations_.frame(origin, work_);
    const Quat orientation = body.orientation(state.q.data() + body.at().q, work_.bodies[b]);
    Vec3 angular;
    const Vec3 linear = equations_.frame_acceleration(origin, rates, work_, &angular);
    row.add(at_origin.p);
    row.add(orientation.w());
    row.add(Vec3(orientation.vec()));
    row.add(at_origin.v);
    row.add(at_origin.w);
    row.add(linear);
    row.add(angular);
    const int behind = body.at().q + body.coordinates();
    for (int i = behind - modes_[b]; i < behind; ++i) row.add(state.q[i]);
  }
}

// Reactions, and what a joint lets turn or slide.
void Recorder::add_constraints(const State& state, const Rates& rates, Cursor& row) {
  const Model& model = equations_.model();
  for (int c = 0; c < equations_.constraint_count(); ++c) {
    const Equations::ConstraintInfo info = equations_.constraint_info(c);
    if (info.item->of_force >= 0) continue;
    Vec3 force, torque;
    equations_.reaction(c, state, rates, work_, force, torque);
    row.add(force);
    row.add(torque);
    if (info.is_motion) continue;
    for (const auto& [body, first] : coupled_bodies(model, *info.item)) {
      double wrenches[6 * max_frames];
      equations_.reactions(c, state, rates, work_, wrenches);
      const Vec3 about = equations_.frame(info.item->frames[first], work_).p;
      force.setZero();
      torque.setZero();
      for (std::size_t i = first; i < info.item->frames.size(); ++i) {
        const int frame = info.item->frames[i];
        if (model.frames[frame].body != body) continue;
        const Vec3 f(wrenches[6 * i], wrenches[6 * i + 1], wrenches[6 * i + 2]);
        force += f;
        torque += Vec3(wrenches[6 * i + 3], wrenches[6 * i + 4], wrenches[6 * i + 5]) +
                  (equations_.frame(frame, work_).p - about).cross(f);
      }
      row.add(force);
      row.add(torque);
    }
    const FrameState a = equations_.frame(info.item->frames[0], work_),
                     b = equations_.frame(info.item->frames[1], work_);
    if (axes_[c].turns) row.add(joint_angle(static_cast<std::size_t>(c), state.t, nullptr));
    if (axes_[c].slides) row.add(PairScalar(along_z, a, b, 0).value());
  }
}

void Recorder::add_forces(const State& state, const Rates& rates, Cursor& row) {
  for (const RecordedForces& record : recorded_forces_) {
    if (record.is_set) {
      add_contact_set(record, state, rates, row);
      continue;
    }
    const int f = record.first;
    double wrench[6 * max_frames] = {};
    const std::size_t count = equations_.force(f).observables().size();
    equations_.observe_force(f, state, work_, wrench, row.at, &rates);
    row.at += count;
    row.add(Vec3(wrench[6], wrench[7], wrench[8]));
    row.add(Vec3(wrench[9], wrench[10], wrench[11]));
  }
}

// As the columns of contact_set_group, from what each contact observes.
void Recorder::add_contact_set(const RecordedForces& set, const State& state, const Rates& rates, Cursor& row) {
  double touching = 0, deepest = -std::numeric_limits<double>::infinity(), pair = 0;
  double sum[Contact::observed] = {};
  const auto look = [&](int force) {
    double wrench[6 * max_frames] = {}, own[Contact::observed] = {};
    equations_.observe_force(force, state, work_, wrench, own, &rates);
    for (int k = 0; k < Contact::observed; ++k) sum[k] += own[k];
    if (own[Contact::penetration] > 0) ++touching;
    if (!(own[Contact::penetration] > deepest)) return;
    deepest = own[Contact::penetration];
    pair = force - set.first;
  };
  const std::vector<int>& in_play = equations_.forces_in_play();
  const int end = set.first + set.count;
  for (auto f = std::lower_bound(in_play.begin(), in_play.end(), set.first); f != in_play.end() && *f < end; ++f)
    look(*f);
  // The smallest gap may be one of those that are not in the list.
  if (touching == 0)
    for (int f = set.first; f < end; ++f) look(f);
  for (const double value :
       {touching, deepest, pair, sum[Contact::normal_force], sum[Contact::traction], sum[Contact::dissipation]})
    row.add(value);
}

void Recorder::add_energies(const State& state, const Rates& rates, Cursor& row) {
  const Energy e = equations_.energy(state, rates, work_);
  row.add(e.kinetic);
  row.add(e.potential);
  row.add(e.kinetic + e.potential);
  double dissipated = book_.dissipated, external = book_.external;
  if (state.t < last_t_ && step_ > 0) {
    const double part = 1 + (state.t - last_t_) / step_;
    dissipated = heat_.before + heat_.sum(part, step_);
    external = work_done_.before + work_done_.sum(part, step_);
  }
  row.add(dissipated);
  row.add(external);
  row.add(e.kinetic + e.potential + dissipated - external - book_.first);
}

void Recorder::visit(Archive& archive) {
  archive(joint_angles_, joint_rates_);
  for (UserOutput& user : outputs_) archive(user.memory);
  archive(middle_rates_.lambda, middle_rates_.a, book_, started_, heat_, work_done_, last_t_, step_, last_,
          before_worst_, after_worst_);
}

void Recorder::record_events(const std::vector<std::string>& names, const std::string& modes) {
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) list += (i == 0 ? "" : "; ") + std::to_string(i) + " " + names[i];
  tables_.push_back({"events",
                     "one row for every event",
                     {{"time", "s", "", "when", false, ""},
                      {"event.switch", "", "", "number of the switch: " + list, false, ""},
                      {"event.direction", "", "", "1: its value became positive, -1: negative", false, ""},
                      {"event.impulse", "N s", "", "of an impact; 0 of other events", false, ""}}});
  if (modes.empty()) return;
  std::vector<Signal>& columns = tables_.back().signals;
  columns.back().text = "of an impact, or of what came to be held (N m s about an axis); 0 of other events";
  columns.push_back({"event.mode", "", "", "number of the mode behind it, -1: none; " + modes, false, ""});
  with_modes_ = true;
}

const std::vector<double>& Recorder::event_row(double t, int which, bool rises, double impulse, int mode) {
  step_row_ = {t, static_cast<double>(which), rises ? 1.0 : -1.0, impulse};
  if (with_modes_) step_row_.push_back(mode);
  return step_row_;
}

void Recorder::note_jump(const State& state, const Rates& rates) {
  const Energy e = equations_.energy(state, rates, work_);  // also updates the body states
  const double lost = book_.kinetic + book_.potential - e.kinetic - e.potential;
  (lost > 0 ? book_.dissipated : book_.external) += std::abs(lost);
  book_.passed += std::abs(lost);
  book_.kinetic = e.kinetic;
  book_.potential = e.potential;
  heat_.last = e.dissipated_power;
  work_done_.last = e.external_power;
  middle_rates_.lambda = rates.lambda;
  middle_rates_.a = rates.a;
  const Model& model = equations_.model();
  for (std::size_t j = 0; j < model.joints.size(); ++j)
    if (axes_[j].turns) joint_angle(j, state.t, &joint_rates_[j]);
  last_t_ = state.t;
  last_ = state;
}

const std::vector<double>& Recorder::step_row(const Step& step) {
  step_row_ = {step.t, step.h, step.error, static_cast<double>(step.newton_iterations),
               static_cast<double>(step.rejected)};
  return step_row_;
}

}  // namespace trammel
