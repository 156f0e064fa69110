// A macro step of a Coupling: the search of its inputs, or one pass over the participants, and its size.
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <exception>
#include <thread>

#include "trammel/base/numbers.h"
#include "trammel/couple/coupling.h"

namespace trammel {
namespace {

// Conditions on g' alone are in m/s; those on g in m, with g' times H added.
double value_of(const SchemeCondition& c, double H, double g, double rate) {
  return c.position == 0 ? rate : c.position * g + c.rate * H * rate;
}

// The least-norm solution where rows depend on each other, as reactions of redundant joints.
Vec solve_interface(const Mat& J, const Vec& right, const Vec& row_scales) {
  Eigen::CompleteOrthogonalDecomposition<Mat> decomposition;
  decomposition.setThreshold(1e-8);
  decomposition.compute(row_scales.cwiseInverse().asDiagonal() * J);
  return decomposition.solve(right.cwiseQuotient(row_scales));
}

}  // namespace

// ---- one step
// --------------------------------------------------------------------------------------------------------

void Coupling::plan_samples(double H) {
  const CouplingScheme& scheme = settings_.scheme;
  const double end = steps_[0].end;
  const double error_part = scheme.shape == InputShape::quadratic ? 0.25 : 0.5;
  parts_ = {error_part, 0.5, 1};
  for (const double s : info(scheme.shape).nodes) {
    if (s > 0) parts_.push_back(s);
  }
  for (const SchemeCondition& c : scheme.conditions) parts_.push_back(c.s);
  std::vector<double> grid;
  if (settings_.output_step) {
    const double d = *settings_.output_step;
    for (auto i = static_cast<long>(std::floor(t_ / d + 1e-6)) + 1; static_cast<double>(i) * d < end - 1e-6 * H; ++i)
      grid.push_back((static_cast<double>(i) * d - t_) / H);
    parts_.insert(parts_.end(), grid.begin(), grid.end());
  }
  std::sort(parts_.begin(), parts_.end());
  parts_.erase(std::unique(parts_.begin(), parts_.end(), [](double a, double b) { return b - a < 1e-9; }),
               parts_.end());
  const auto place = [&](double s) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (std::abs(parts_[i] - s) < 1e-9) return static_cast<int>(i);
    }
    return -1;
  };
  node_sample_.clear();
  for (const double s : info(scheme.shape).nodes) node_sample_.push_back(place(s));
  condition_sample_.clear();
  for (const SchemeCondition& c : scheme.conditions) condition_sample_.push_back(place(c.s));
  error_sample_ = place(error_part);
  recorded_.assign(parts_.size(), 0);
  recorded_.back() = 1;
  for (const double s : grid) recorded_[place(s)] = 1;
  for (MacroStep& step : steps_) {
    step.samples.clear();
    for (const double s : parts_) step.samples.push_back(s == 1 ? end : t_ + s * H);
    step.record = recorded_;
  }
}

void Coupling::frames_at(int sample, std::vector<FrameState>& out) const {
  out.resize(frames_.size());
  for (std::size_t i = 0; i < frames_.size(); ++i) {
    const auto p = static_cast<std::size_t>(frames_[i].participant);
    const std::size_t each = participants_[p]->info().frames.size();
    out[i] = results_[p].frames[static_cast<std::size_t>(sample) * each + static_cast<std::size_t>(frames_[i].frame)];
  }
}

void Coupling::set_wrenches(const Vec& U, int only) {
  const InputShapeInfo& shape = info(settings_.scheme.shape);
  const int m = gluing_->rows();
  for (std::size_t p = 0; p < participants_.size(); ++p) {
    if (only >= 0 && only != static_cast<int>(p)) continue;
    steps_[p].inputs.assign(participants_[p]->info().frames.size() * 6 * static_cast<std::size_t>(shape.count), 0.0);
  }
  Vec wrench;
  for (int j = 0; j < shape.count; ++j) {
    const auto node = static_cast<std::size_t>(j);
    gluing_->wrenches(t_ + shape.nodes[node] * H_, node_frames_[node], U.data() + j * m, wrench);
    for (std::size_t i = 0; i < frames_.size(); ++i) {
      if (only >= 0 && only != frames_[i].participant) continue;
      const auto p = static_cast<std::size_t>(frames_[i].participant);
      const auto at = static_cast<std::size_t>((frames_[i].frame * shape.count + j) * 6);
      for (std::size_t c = 0; c < 6; ++c) steps_[p].inputs[at + c] += wrench[static_cast<Eigen::Index>(6 * i + c)];
    }
  }
}

bool Coupling::run_participants() {
  if (settings_.threads) {
    std::vector<std::thread> threads;
    std::vector<std::exception_ptr> thrown(participants_.size());
    const auto begin = [&](std::size_t p) {
      try {
        participants_[p]->begin(steps_[p]);
      } catch (...) {
        thrown[p] = std::current_exception();
      }
    };
    for (std::size_t p = 1; p < participants_.size(); ++p) threads.emplace_back(begin, p);
    begin(0);
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& what : thrown) {
      if (what) std::rethrow_exception(what);
    }
  } else {
    for (std::size_t p = 0; p < participants_.size(); ++p) participants_[p]->begin(steps_[p]);
  }
  bool good = true;
  for (std::size_t p = 0; p < participants_.size(); ++p) good = finish_participant(p) && good;
  return good;
}

bool Coupling::finish_participant(std::size_t p) {
  participants_[p]->finish(results_[p]);
  if (!results_[p].ok && summary_.failure.empty())
    fail("participant '" + participants_[p]->info().name + "': " + results_[p].message);
  return results_[p].ok;
}

bool Coupling::co_simulate(const Vec& U) {
  set_wrenches(U);
  ++summary_.co_simulations;
  return run_participants();
}

void Coupling::conditions(Vec& out) {
  const CouplingScheme& scheme = settings_.scheme;
  const int m = gluing_->rows();
  out.resize(m * static_cast<Eigen::Index>(scheme.conditions.size()));
  Vec g, rate;
  for (std::size_t i = 0; i < scheme.conditions.size(); ++i) {
    frames_at(condition_sample_[i], scratch_);
    gluing_->residual(t_ + scheme.conditions[i].s * H_, scratch_, g, &rate);
    for (int r = 0; r < m; ++r)
      out[static_cast<Eigen::Index>(i) * m + r] = value_of(scheme.conditions[i], H_, g[r], rate[r]);
  }
}

void Coupling::update_compliance() {
  A_.setZero(6 * static_cast<Eigen::Index>(frames_.size()), 6 * static_cast<Eigen::Index>(frames_.size()));
  for (std::size_t p = 0; p < participants_.size(); ++p) {
    if (!participants_[p]->info().has_compliance) continue;
    const Mat own = participants_[p]->compliance();
    for (std::size_t i = 0; i < frames_.size(); ++i) {
      if (frames_[i].participant != static_cast<int>(p)) continue;
      for (std::size_t k = 0; k < frames_.size(); ++k) {
        if (frames_[k].participant != static_cast<int>(p)) continue;
        A_.block<6, 6>(6 * static_cast<Eigen::Index>(i), 6 * static_cast<Eigen::Index>(k)) =
            own.block<6, 6>(6 * frames_[i].frame, 6 * frames_[k].frame);
      }
    }
  }
  W_is_current_ = false;
}

double Coupling::stale_wrenches(const Vec& U) {
  const int m = gluing_->rows();
  double most = 0;
  Vec used, now;
  for (std::size_t j = 0; j < node_frames_.size(); ++j) {
    const double t = t_ + info(settings_.scheme.shape).nodes[j] * H_;
    gluing_->wrenches(t, node_frames_[j], U.data() + static_cast<Eigen::Index>(j) * m, used);
    gluing_->wrenches(t, next_nodes_[j], U.data() + static_cast<Eigen::Index>(j) * m, now);
    if (used == now) continue;
    if (!has_compliance_) continue;
    if (!W_is_current_) update_compliance();
    W_is_current_ = true;
    most = std::max(most, 0.5 * H_ * H_ * (A_ * (now - used)).lpNorm<Eigen::Infinity>());
  }
  return most;
}

// J = d(conditions)/dU.
bool Coupling::jacobian(const Vec& U, const Vec& value, Mat& J) {
  const double before = clock_now();
  const CouplingScheme& scheme = settings_.scheme;
  const int m = gluing_->rows(), count = info(scheme.shape).count;
  J.resize(value.size(), U.size());
  bool good = true;
  if (settings_.solver == InterfaceSolver::differences || settings_.solver == InterfaceSolver::chord) {
    Vec at = U, other;
    for (Eigen::Index c = 0; c < U.size() && good; ++c) {
      const double d = settings_.increment * std::max(1.0, std::abs(U[c]));
      at[c] = U[c] + d;
      good = co_simulate(at);
      if (good) {
        conditions(other);
        J.col(c) = (other - value) / (at[c] - U[c]);
      }
      at[c] = U[c];
    }
  } else if (settings_.solver == InterfaceSolver::sensitivity) {
    J.setZero();
    std::vector<int> samples = condition_sample_;
    samples.erase(std::unique(samples.begin(), samples.end()), samples.end());
    std::vector<Mat> by_input;
    for (const auto& participant : participants_) by_input.push_back(participant->sensitivity(samples));
    std::vector<Mat> B;
    for (int j = 0; j < count; ++j)
      B.push_back(gluing_->wrench_matrix(t_ + info(scheme.shape).nodes[j] * H_, node_frames_[j]));
    Mat g_pose, rate_pose;
    for (std::size_t i = 0; i < scheme.conditions.size(); ++i) {
      const SchemeCondition& c = scheme.conditions[i];
      const auto sample =
          static_cast<Eigen::Index>(std::find(samples.begin(), samples.end(), condition_sample_[i]) - samples.begin());
      frames_at(condition_sample_[i], scratch_);
      gluing_->linearise(t_ + c.s * H_, scratch_, g_pose, rate_pose);
      for (int j = 0; j < count; ++j) {
        // Motions of all interface frames by the multipliers of this coefficient.
        Mat pose = Mat::Zero(6 * static_cast<Eigen::Index>(frames_.size()), m), twist = pose;
        for (std::size_t f = 0; f < frames_.size(); ++f) {
          const auto p = static_cast<std::size_t>(frames_[f].participant);
          const auto each = static_cast<Eigen::Index>(participants_[p]->info().frames.size());
          for (std::size_t k = 0; k < frames_.size(); ++k) {
            if (frames_[k].participant != frames_[f].participant) continue;
            const auto block =
                by_input[p].block<12, 6>(12 * (sample * each + frames_[f].frame), (frames_[k].frame * count + j) * 6);
            const auto by_rows = B[j].middleRows<6>(6 * static_cast<Eigen::Index>(k));
            pose.middleRows<6>(6 * static_cast<Eigen::Index>(f)) += block.topRows<6>() * by_rows;
            twist.middleRows<6>(6 * static_cast<Eigen::Index>(f)) += block.bottomRows<6>() * by_rows;
          }
        }
        const Mat g = g_pose * pose, rate = rate_pose * pose + g_pose * twist;
        J.block(static_cast<Eigen::Index>(i) * m, j * m, m, m) =
            c.position == 0 ? rate : Mat(c.position * g + c.rate * H_ * rate);
      }
    }
  } else {
    if (!W_is_current_) update_compliance();
    W_is_current_ = true;
    const Mat B = gluing_->wrench_matrix(t_, frames_now_);
    W_ = B.transpose() * A_ * B;
    // W changes along the step as it did along the last one, half of it by the directions of the wrenches, half of it
    // by those in which g is measured.
    const Mat change = last_W_.size() == W_.size() ? Mat((W_ - last_W_) * (H_ / last_H_)) : Mat::Zero(m, m);
    for (std::size_t i = 0; i < scheme.conditions.size(); ++i) {
      const SchemeCondition& c = scheme.conditions[i];
      for (int j = 0; j < count; ++j) {
        const double m1 = first_moment(scheme.shape, j, c.s), m2 = second_moment(scheme.shape, j, c.s);
        const Mat g = -H_ * H_ * (m2 * W_ + 0.5 * (c.s * m2 + second_moment(scheme.shape, j, c.s, 1)) * change);
        const Mat rate = -H_ * (m1 * W_ + 0.5 * (c.s * m1 + first_moment(scheme.shape, j, c.s, 1) + m2) * change);
        J.block(static_cast<Eigen::Index>(i) * m, j * m, m, m) =
            c.position == 0 ? rate : Mat(c.position * g + c.rate * H_ * rate);
      }
    }
  }
  summary_.jacobian_seconds += clock_now() - before;
  return good;
}

void Coupling::fail(std::string why) { summary_.failure = std::move(why); }

// Everything of a step from t_ of size H_ but its inputs.
void Coupling::begin_step() {
  const CouplingScheme& scheme = settings_.scheme;
  for (MacroStep& step : steps_) {
    step.t = t_;
    step.restart_at_jumps = settings_.restart_at_jumps;
    step.keep_path = scheme.passes == Passes::iterated && settings_.solver == InterfaceSolver::sensitivity;
  }
  plan_samples(H_);
  // Until a co-simulation says better, frames go on as they move.
  for (std::size_t j = 0; j < node_frames_.size(); ++j) {
    const double dt = info(scheme.shape).nodes[j] * H_;
    for (std::size_t i = 0; i < frames_.size(); ++i) {
      node_frames_[j][i] = frames_now_[i];
      node_frames_[j][i].p += dt * frames_now_[i].v;
      const double angle = dt * frames_now_[i].w.norm();
      if (angle > 0) node_frames_[j][i].R = Eigen::AngleAxisd(angle, frames_now_[i].w.normalized()) * frames_now_[i].R;
    }
  }
  summary_.failure.clear();
  last_iterations_ = 0;
}

bool Coupling::try_step() {
  const CouplingScheme& scheme = settings_.scheme;
  const double H = H_;
  begin_step();
  const int m = gluing_->rows();
  const Vec last_end = U_.tail(m);
  predictor_.guess(t_, H, guess_);
  // Of the first step all coefficients are free; least norm.
  const int held = scheme.continuous && t_ > 0 ? m : 0;
  if (held > 0) guess_.head(m) = last_end;
  U_ = guess_;
  W_is_current_ = false;
  Vec row_scales(m * static_cast<Eigen::Index>(scheme.conditions.size()));
  for (std::size_t i = 0; i < scheme.conditions.size(); ++i)
    row_scales.segment(static_cast<Eigen::Index>(i) * m, m).setConstant(scheme.conditions[i].position == 0 ? H : H * H);
  const bool by_compliance =
      settings_.solver == InterfaceSolver::compliance || settings_.solver == InterfaceSolver::broyden;
  Vec last_value, correction;
  double first_size = 0;
  for (int iteration = 0;; ++iteration) {
    if (!co_simulate(U_)) return false;
    for (std::size_t j = 0; j < next_nodes_.size(); ++j) {
      if (node_sample_[j] < 0)
        next_nodes_[j] = frames_now_;
      else
        frames_at(node_sample_[j], next_nodes_[j]);
    }
    conditions(value_);
    const double size = value_.lpNorm<Eigen::Infinity>();
    if (!std::isfinite(size)) {
      fail("the motion of the gluing joints is infinite or not a number");
      return false;
    }
    if (size <= settings_.tolerance && stale_wrenches(U_) <= settings_.tolerance) return true;
    if (iteration == 0) first_size = size;
    if (iteration >= settings_.most_iterations || size > 1e6 * (1 + first_size)) {
      Eigen::Index worst = 0;
      value_.cwiseAbs().maxCoeff(&worst);
      fail("the inputs of the macro step from t = " + digits(t_) + " s are not found in " + std::to_string(iteration) +
           " iterations; " + gluing_->row_name(static_cast<int>(worst) % m) + " is left at " + digits(value_[worst]));
      return false;
    }
    // Rates above a third cost more iterations than derivatives anew.
    const bool slow = iteration > 0 && size > 0.3 * last_value.lpNorm<Eigen::Infinity>();
    if (settings_.solver == InterfaceSolver::broyden && iteration > 0) {
      J_ += (value_ - last_value - J_ * correction) * correction.transpose() / correction.squaredNorm();
    } else if (settings_.solver == InterfaceSolver::chord) {
      const bool kept = J_.rows() == value_.size() && std::abs(J_step_ - H_) < 1e-9 * H_;
      if ((!kept || slow) && !jacobian(U_, value_, J_)) return false;
      J_step_ = H_;
    } else if (!(by_compliance && iteration > 0) && !jacobian(U_, value_, J_)) {
      return false;
    }
    correction = Vec::Zero(U_.size());
    correction.tail(U_.size() - held) = -solve_interface(J_.rightCols(U_.size() - held), value_, row_scales);
    last_value = value_;
    U_ += correction;
    node_frames_ = next_nodes_;
    ++last_iterations_;
    ++summary_.iterations;
  }
}

// ---- steps that are made once
// ----------------------------------------------------------------------------------------

void Coupling::require_one_pass(const std::function<void(const std::string&)>& note) {
  const int degree = info(settings_.scheme.shape).count - 1;
  one_pass_ = OnePass(frames_, *gluing_, static_cast<int>(participants_.size()), degree);
  predictor_ = InputPredictor(settings_.scheme.shape, gluing_->rows(), degree, Prediction::consecutive);
  const Mat B = gluing_->wrench_matrix(0, frames_now_);
  for (int p = 0; p < static_cast<int>(participants_.size()); ++p) {
    const std::vector<int>& rows = one_pass_.rows_of(p);
    if (rows.empty()) continue;
    const std::string who = "participant '" + participants_[p]->info().name + "'";
    const Mat W = one_pass_.own_compliance(p, A_, B)(rows, rows);
    Eigen::CompleteOrthogonalDecomposition<Mat> rank;
    rank.setThreshold(1e-8);
    rank.compute(W);
    if (rank.rank() == W.rows()) continue;
    throw Failure({Severity::error,
                   "participant-cannot",
                   who + " comes after '" + participants_[one_pass_.earlier(rows[0])]->info().name +
                       "' and has to follow its motion, but can follow only " + std::to_string(rank.rank()) + " of " +
                       std::to_string(W.rows()) + " rows (" + gluing_->row_name(rows[0]) + " ...)",
                   "list it before the other, which then follows; or iterate, if participants can roll back",
                   {}});
  }
  if (note)
    note("warning: each step is made once; errors of the reactions grow at any step size where the gain is above " +
         digits(one_pass_limit(settings_.scheme.passes, degree)) + "; it starts at " +
         (has_compliance_ ? digits(one_pass_.gain(A_, B)) : "a value that is not known"));
}

// A participant's own step: the rows that it has to meet by what is known of the others.
bool Coupling::pass_through(std::size_t p, const Vec& extrapolated, const Mat& B) {
  const CouplingScheme& scheme = settings_.scheme;
  const int m = gluing_->rows(), count = info(scheme.shape).count, part = static_cast<int>(p);
  const std::vector<int>& rows = one_pass_.rows_of(part);
  const auto n = static_cast<Eigen::Index>(rows.size());
  Vec own = extrapolated;
  for (int j = 0; j < count; ++j) {
    for (const int r : rows) own[j * m + r] = 0;
  }
  if (n > 0) {
    // Accelerations of all frames by the wrenches that are given.
    std::vector<Vec> given;
    Vec wrench;
    for (int j = 0; j < count; ++j) {
      gluing_->wrenches(t_, frames_now_, own.data() + j * m, wrench);
      given.emplace_back(A_ * wrench);
    }
    const Mat W = one_pass_.own_compliance(part, A_, B)(rows, rows);
    const auto conditions_count = static_cast<Eigen::Index>(scheme.conditions.size());
    Mat J(n * conditions_count, n * count);
    Vec value(n * conditions_count), scales(value.size()), g, rate;
    std::vector<Vec6> by_given(static_cast<std::size_t>(count));
    for (Eigen::Index i = 0; i < conditions_count; ++i) {
      const SchemeCondition& c = scheme.conditions[i];
      scratch_ = frames_now_;
      for (std::size_t f = 0; f < frames_.size(); ++f) {
        const FrameState& now = frames_now_[f];
        const int owner = frames_[f].participant, frame = static_cast<int>(f);
        if (owner == part) {
          for (std::size_t j = 0; j < by_given.size(); ++j) by_given[j] = given[j].segment<6>(6 * frame);
          scratch_[f] = one_pass_.with_wrenches(frame, now, t_, H_, c.s, scheme.shape, by_given);
        } else if (owner < part && scheme.passes == Passes::gauss_seidel) {
          const auto q = static_cast<std::size_t>(owner);
          const std::size_t each = participants_[q]->info().frames.size();
          scratch_[f] = results_[q].frames[static_cast<std::size_t>(condition_sample_[i]) * each +
                                           static_cast<std::size_t>(frames_[f].frame)];
        } else {
          scratch_[f] = one_pass_.as_it_moves(frame, now, t_, H_, c.s);
        }
      }
      gluing_->residual(t_ + c.s * H_, scratch_, g, &rate);
      for (Eigen::Index r = 0; r < n; ++r) {
        const int row = rows[r];
        value[i * n + r] = value_of(c, H_, g[row], rate[row]);
      }
      scales.segment(i * n, n).setConstant(c.position == 0 ? H_ : H_ * H_);
      for (int j = 0; j < count; ++j) {
        const double m1 = first_moment(scheme.shape, j, c.s), m2 = second_moment(scheme.shape, j, c.s);
        J.block(i * n, j * n, n, n) = -(c.position == 0 ? H_ * m1 : H_ * H_ * (c.position * m2 + c.rate * m1)) * W;
      }
    }
    const Vec found = -solve_interface(J, value, scales);
    for (int j = 0; j < count; ++j) {
      for (Eigen::Index r = 0; r < n; ++r) {
        const Eigen::Index at = j * m + rows[r];
        own[at] = U_[at] = found[j * n + r];
      }
    }
  }
  set_wrenches(own, static_cast<int>(p));
  participants_[p]->begin(steps_[p]);
  return scheme.passes == Passes::jacobi || finish_participant(p);
}

bool Coupling::pass_once() {
  begin_step();
  predictor_.guess(t_, H_, guess_);
  U_ = guess_;
  update_compliance();
  const Mat B = gluing_->wrench_matrix(t_, frames_now_);
  if (has_compliance_) {
    const double gain = one_pass_.gain(A_, B);
    summary_.least_gain = std::min(gain, summary_.least_gain.value_or(gain));
    summary_.greatest_gain = std::max(gain, summary_.greatest_gain.value_or(gain));
  }
  ++summary_.co_simulations;
  bool good = true;
  for (std::size_t p = 0; p < participants_.size() && good; ++p) good = pass_through(p, guess_, B);
  for (std::size_t p = 0; settings_.scheme.passes == Passes::jacobi && p < participants_.size(); ++p)
    good = finish_participant(p) && good;
  if (!good) return false;
  // Joints that are open by so much have come apart.
  constexpr double apart = 1;
  Vec g;
  frames_at(static_cast<int>(parts_.size()) - 1, scratch_);
  gluing_->residual(t_ + H_, scratch_, g, nullptr);
  Eigen::Index worst = 0;
  const double size = g.cwiseAbs().maxCoeff(&worst);
  if (g.allFinite() && size <= apart) {
    // Mean accelerations by the wrenches sent.
    Vec mean = Vec::Zero(6 * static_cast<Eigen::Index>(frames_.size()));
    for (std::size_t f = 0; f < frames_.size(); ++f) {
      const MacroStep& step = steps_[frames_[f].participant];
      const int count = info(settings_.scheme.shape).count;
      for (int j = 0; j < count; ++j)
        mean.segment<6>(6 * static_cast<Eigen::Index>(f)) +=
            first_moment(settings_.scheme.shape, j, 1) *
            Eigen::Map<const Vec6>(step.inputs.data() + 6 * (frames_[f].frame * count + j));
    }
    one_pass_.accept(t_, H_, frames_now_, scratch_, A_ * mean);
    return true;
  }
  fail("the participants come apart: " + gluing_->row_name(static_cast<int>(worst)) + " is left at " + digits(size) +
       "; each step is made once, with a gain of " +
       (summary_.greatest_gain ? "up to " + digits(*summary_.greatest_gain) : "unknown size") + " where " +
       digits(one_pass_limit(settings_.scheme.passes, info(settings_.scheme.shape).count - 1)) + " is the most");
  return false;
}

bool Coupling::advance(double H) {
  const long before = summary_.co_simulations;
  for (;;) {
    // On a fixed grid times are multiples of the step: sums would drift. What would be left of the run by a hair goes
    // with the last step.
    double end = settings_.coupling_error ? t_ + H : grid_start_ + static_cast<double>(k_ + 1) * H;
    if (end > settings_.end - 1e-9 * H) end = settings_.end;
    const double size = H_ = end - t_;
    if (!(size > 0)) {
      fail("the end of the run is reached");
      return false;
    }
    for (MacroStep& step : steps_) step.end = end;
    bool good = settings_.scheme.passes == Passes::iterated ? try_step() : pass_once();
    if (!settings_.coupling_error) {
      if (!good) return false;
      break;
    }
    const double least = std::max(settings_.least_step, 1e-9 * settings_.end);
    double factor = 0.25;
    if (good) {
      Vec g;
      frames_at(error_sample_, scratch_);
      gluing_->residual(t_ + parts_[error_sample_] * size, scratch_, g, nullptr);
      const double error = g.lpNorm<Eigen::Infinity>() / *settings_.coupling_error;
      factor = error > 0 ? 0.9 * std::pow(error, -1.0 / settings_.scheme.order) : 2;
      good = error <= 1;
      if (good) {
        next_H_ = size * std::clamp(factor, 0.3, 2.0);
        if (settings_.greatest_step > 0) next_H_ = std::min(next_H_, settings_.greatest_step);
        break;
      }
      summary_.failure = "the coupling error stays above " + digits(*settings_.coupling_error);
    }
    ++summary_.rejected;
    H = size * std::clamp(factor, 0.2, 0.9);
    if (H < least) return false;
  }
  summary_.failure.clear();
  last_co_simulations_ = summary_.co_simulations - before;
  return true;
}

}  // namespace trammel
