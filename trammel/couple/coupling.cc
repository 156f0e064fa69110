#include "trammel/couple/coupling.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "trammel/base/archive.h"
#include "trammel/base/numbers.h"
#include "trammel/model/signal_names.h"

namespace trammel {
double Coupling::clock_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string to_text(const CouplingSummary& s) {
  return fmt::format(
      "  macro steps     {}{}\n"
      "  iterations      {} ({:.2f} a step)\n"
      "  co-simulations  {}\n"
      "  joint error     mean {:.4g}, greatest {:.4g}\n"
      "  its rate        mean {:.4g}, greatest {:.4g} (at {} points)\n"
      "  time            {:.3g} s, of it {:.3g} s for derivatives\n{}",
      s.steps, s.rejected > 0 ? fmt::format(", {} repeated", s.rejected) : "", s.iterations,
      s.steps > 0 ? static_cast<double>(s.iterations) / static_cast<double>(s.steps) : 0.0, s.co_simulations,
      s.mean_error, s.greatest_error, s.mean_rate_error, s.greatest_rate_error, s.recorded, s.seconds,
      s.jacobian_seconds,
      s.least_gain ? fmt::format("  gain            from {:.3g} to {:.3g}\n", *s.least_gain, *s.greatest_gain) : "");
}

Coupling::Coupling(std::vector<std::unique_ptr<Participant>> participants, std::vector<InterfaceFrame> frames,
                   std::vector<Item> joints, CouplingSettings settings)
    : participants_(std::move(participants)),
      frames_(std::move(frames)),
      joints_(std::move(joints)),
      settings_(std::move(settings)) {
  for (const auto& participant : participants_) {
    const ParticipantInfo& info = participant->info();
    const auto refuse = [&](const std::string& what, const std::string& hint) {
      throw Failure({Severity::error, "participant-cannot", "participant '" + info.name + "' " + what, hint, {}});
    };
    has_compliance_ = has_compliance_ && info.has_compliance;
    rolls_back_ = rolls_back_ && info.rolls_back;
    if (settings_.scheme.passes != Passes::iterated) continue;
    if (!info.rolls_back)
      refuse("cannot repeat a step, which every iterative scheme needs",
             "the schemes `gauss-seidel` and `jacobi` make each step once");
    if (!info.has_compliance &&
        (settings_.solver == InterfaceSolver::compliance || settings_.solver == InterfaceSolver::broyden))
      refuse("does not say how its frames yield to forces", "take the solver `differences`");
    if (!info.has_sensitivity && settings_.solver == InterfaceSolver::sensitivity)
      refuse("gives no sensitivities", "take the solver `compliance` or `differences`");
  }
  if (!rolls_back_ && settings_.output_steps) {
    throw Failure({Severity::error,
                   "participant-cannot",
                   "results at the participants' own steps need every step once more, and one of them cannot repeat it",
                   "take output: ends, and output_step",
                   {}});
  }
  steps_.resize(participants_.size());
  results_.resize(participants_.size());
}

Coupling::~Coupling() = default;

void Coupling::start(const std::function<void(const std::string&)>& note) {
  if (gluing_) return;
  std::vector<std::vector<FrameState>> at;
  for (const auto& participant : participants_) at.push_back(participant->start());
  for (const InterfaceFrame& f : frames_) frames_now_.push_back(at[f.participant][f.frame]);
  gluing_ = std::make_unique<Gluing>(frames_, frames_now_, joints_);
  const bool once = settings_.scheme.passes != Passes::iterated;
  if (has_compliance_ || once) {
    update_compliance();
    for (const std::string& row : gluing_->drop_rows(frames_now_, A_)) {
      if (note) note(row + ": no participant can move there, left out");
    }
  }
  Vec g, rate;
  gluing_->residual(0, frames_now_, g, &rate);
  for (int r = 0; r < gluing_->rows(); ++r) {
    if (std::abs(g[r]) <= settings_.fit && std::abs(rate[r]) <= settings_.fit) continue;
    throw Failure({Severity::error,
                   "gluing-does-not-fit",
                   gluing_->row_name(r) + ": where the participants start the residual is " + digits(g[r]) +
                       " and its rate " + digits(rate[r]),
                   "let the frames start at one place with one velocity",
                   {}});
  }
  if (gluing_->rows() == 0) {
    throw Failure({Severity::error,
                   "nothing-to-glue",
                   "no gluing joint binds anything that can move",
                   "give joints between frames of moving bodies",
                   {}});
  }
  predictor_ = InputPredictor(settings_.scheme.shape, gluing_->rows(), settings_.degree, settings_.prediction);
  if (once) require_one_pass(note);
  const int count = info(settings_.scheme.shape).count;
  U_ = guess_ = Vec::Zero(count * gluing_->rows());
  value_ = U_;
  node_frames_.assign(count, frames_now_);
  next_nodes_ = node_frames_;
  next_H_ = settings_.step;
}

// ---- the run
// ---------------------------------------------------------------------------------------------------------

std::vector<Table> Coupling::tables() const {
  Table output{
      "output", "at the ends of macro steps, and between them where asked for", {{"time", "s", "", "time", false, ""}}};
  Table steps{"steps",
              "one row for each macro step",
              {{"time", "s", "", "end of the step", false, ""},
               {"step", "s", "", "macro step", false, ""},
               {"iterations", "", "", "of the interface solver", false, ""},
               {"co_simulations", "", "", "of all participants", false, ""}}};
  const int count = info(settings_.scheme.shape).count;
  for (std::size_t j = 0; j < joints_.size(); ++j) {
    const ConstraintSignals names(false, joints_[j].name);
    const std::string& path = names.path;
    for (const bool torque : {false, true}) {
      for (const Axis axis : all_axes)
        output.signals.push_back({component(torque ? names.torque() : names.force(), axis), torque ? "N m" : "N",
                                  "world", "reaction on the second frame", false, ""});
    }
    output.signals.push_back({path + ".error", "", "", "norm of the joint's residuals", false, ""});
    output.signals.push_back({path + ".rate_error", "", "", "norm of their rates", false, ""});
    const Gluing::Rows rows = gluing_->rows_of(static_cast<int>(j));
    for (int r = 0; r < rows.count; ++r) {
      const std::string number = std::to_string(r + 1), text = gluing_->row_name(rows.first + r);
      output.signals.push_back({path + ".residual" + number, "", "", text, false, ""});
      output.signals.push_back({path + ".residual_rate" + number, "", "", text, false, ""});
      output.signals.push_back({path + ".multiplier" + number, "", "", text, false, ""});
      for (int c = 0; c < count; ++c) {
        const std::string at = number + "_" + std::to_string(c + 1);
        steps.signals.push_back({path + ".input" + at, "", "", "coefficient found: " + text, false, ""});
        steps.signals.push_back({path + ".guess" + at, "", "", "first guess of it", false, ""});
      }
    }
  }
  for (const InterfaceFrame& f : frames_) {
    for (const auto& [what, unit] : {std::pair(".position", "m"), std::pair(".velocity", "m/s")}) {
      for (const Axis axis : all_axes)
        output.signals.push_back({component("frame." + f.name + what, axis), unit, "world", "of the frame", false, ""});
    }
  }
  return {output, steps};
}

void Coupling::record_row(TrajectorySink& sink, double t, double s, const std::vector<FrameState>& frames) {
  const int m = gluing_->rows(), count = info(settings_.scheme.shape).count;
  Vec g, rate, lambda = Vec::Zero(m), wrench;
  gluing_->residual(t, frames, g, &rate);
  for (int j = 0; j < count; ++j) lambda += basis(settings_.scheme.shape, j, s) * U_.segment(j * m, m);
  gluing_->wrenches(t, frames, lambda.data(), wrench);
  std::vector<double> row{t};
  for (std::size_t j = 0; j < joints_.size(); ++j) {
    const Gluing::Rows rows = gluing_->rows_of(static_cast<int>(j));
    // Of this joint alone: several may share a frame.
    Vec own = Vec::Zero(m);
    own.segment(rows.first, rows.count) = lambda.segment(rows.first, rows.count);
    gluing_->wrenches(t, frames, own.data(), wrench);
    for (int c = 0; c < 6; ++c) row.push_back(wrench[6 * joints_[j].frames[1] + c]);
    row.push_back(g.segment(rows.first, rows.count).norm());
    row.push_back(rate.segment(rows.first, rows.count).norm());
    for (int r = rows.first; r < rows.first + rows.count; ++r) {
      row.push_back(g[r]);
      row.push_back(rate[r]);
      row.push_back(lambda[r]);
    }
  }
  for (const FrameState& f : frames) {
    for (int c = 0; c < 3; ++c) row.push_back(f.p[c]);
    for (int c = 0; c < 3; ++c) row.push_back(f.v[c]);
  }
  const double n = static_cast<double>(++summary_.recorded);
  summary_.mean_error += (g.norm() - summary_.mean_error) / n;
  summary_.mean_rate_error += (rate.norm() - summary_.mean_rate_error) / n;
  summary_.greatest_error = std::max(summary_.greatest_error, g.norm());
  summary_.greatest_rate_error = std::max(summary_.greatest_rate_error, rate.norm());
  if (!sink.append(0, row)) sink.flush();
}

void Coupling::record(TrajectorySink& sink) {
  if (settings_.output_steps) {
    // The same step once more, with samples at everybody's own steps.
    std::vector<double> times;
    for (const MacroResult& result : results_)
      times.insert(times.end(), result.step_times.begin(), result.step_times.end());
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end(), [&](double a, double b) { return b - a < 1e-9 * H_; }),
                times.end());
    times.back() = steps_[0].end;
    parts_.clear();
    for (const double t : times) parts_.push_back(t == steps_[0].end ? 1 : (t - t_) / H_);
    recorded_.assign(parts_.size(), 1);
    for (MacroStep& step : steps_) {
      step.samples = times;
      step.record = recorded_;
      step.keep_path = false;
    }
    set_wrenches(U_);
    run_participants();
  }
  std::vector<FrameState> frames;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (recorded_[i] == 0) continue;
    frames_at(static_cast<int>(i), frames);
    record_row(sink, steps_[0].samples[i], parts_[i], frames);
  }
  std::vector<double> row{steps_[0].end, H_, static_cast<double>(last_iterations_),
                          static_cast<double>(last_co_simulations_)};
  const int m = gluing_->rows(), count = info(settings_.scheme.shape).count;
  for (std::size_t j = 0; j < joints_.size(); ++j) {
    const Gluing::Rows rows = gluing_->rows_of(static_cast<int>(j));
    for (int r = rows.first; r < rows.first + rows.count; ++r) {
      for (int c = 0; c < count; ++c) {
        row.push_back(U_[c * m + r]);
        row.push_back(guess_[c * m + r]);
      }
    }
  }
  if (!sink.append(1, row)) sink.flush();
}

CouplingSummary Coupling::run(TrajectorySink& sink, const Provenance& provenance,
                              const std::atomic<bool>* interrupted) {
  start();
  const double begin = clock_now();
  sink.begin(tables(), provenance);
  const double end = settings_.end;
  try {
    if (t_ == 0) record_row(sink, 0, 0, frames_now_);
    double saved_at = clock_now();
    if (rolls_back_) saved_ = save();
    while (t_ < end * (1 - 1e-12)) {
      if (interrupted != nullptr && *interrupted) {
        summary_.status = RunStatus::interrupted;
        break;
      }
      if (!advance(settings_.coupling_error ? next_H_ : settings_.step)) {
        summary_.status = RunStatus::failed;
        break;
      }
      record(sink);
      accept_step();
      // A participant elsewhere may be lost together with its state.
      if (rolls_back_ && clock_now() - saved_at > settings_.save_every) {
        saved_ = save();
        saved_at = clock_now();
      }
    }
    if (rolls_back_ && summary_.status != RunStatus::finished) saved_ = save();
  } catch (const Failure& failure) {
    summary_.status = RunStatus::failed;
    summary_.failure = failure.problems().front().message;
  }
  for (const auto& participant : participants_) {
    try {
      participant->close(summary_.status == RunStatus::finished);
    } catch (const Failure&) {  // the one that was lost; why is told above
    }
  }
  summary_.reached = t_;
  summary_.seconds = clock_now() - begin;
  sink.finish(summary_.status, "", "");
  return summary_;
}

void Coupling::accept_step() {
  for (const auto& participant : participants_) participant->accept();
  frames_at(static_cast<int>(parts_.size()) - 1, frames_now_);
  gluing_->accept(steps_[0].end, frames_now_);
  predictor_.accept(t_, H_, U_);
  last_W_ = W_;
  last_H_ = H_;
  t_ = steps_[0].end;
  ++k_;
  ++summary_.steps;
}

void Coupling::visit(Archive& archive) {
  double step = settings_.step;
  archive(t_, step, grid_start_, k_, next_H_, U_);
  if (archive.reading() && step != settings_.step) {
    grid_start_ = t_;
    k_ = 0;
  }
  const std::size_t frames = frames_now_.size();
  archive(frames_now_);
  archive.expect(frames_now_.size() == frames);
  Mat J = settings_.solver == InterfaceSolver::chord ? J_ : Mat();
  std::vector<double> memory = gluing_->memory();
  archive(last_W_, last_H_, J, J_step_, memory, predictor_, one_pass_);
  if (archive.reading()) {
    if (last_W_.size() > 0) W_ = last_W_;
    if (J.size() > 0) J_ = J;
    gluing_->set_memory(memory);
  }
  for (const auto& participant : participants_) {
    Bytes own = archive.reading() ? Bytes() : participant->save();
    archive(own);
    if (archive.reading()) participant->restore(own);
  }
}

Bytes Coupling::save() {
  Bytes out;
  write_state(settings_.scheme.key, out);
  write_state(*this, out);
  return out;
}

void Coupling::restore(std::span<const std::byte> in) {
  start();
  std::string scheme;
  read_state(scheme, in);
  if (scheme != settings_.scheme.key) {
    throw Failure({Severity::error,
                   "checkpoint-of-another-model",
                   "the state was saved with the scheme '" + scheme + "', not '" + settings_.scheme.key + "'",
                   "go on with the same scheme",
                   {}},
                  ExitCode::bad_usage);
  }
  read_state(*this, in);
}

}  // namespace trammel
