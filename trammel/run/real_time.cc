#include "trammel/run/real_time.h"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>

#include "trammel/equations/equations.h"

namespace trammel {
namespace {

double wall_clock() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double processor_clock() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace

void StepClock::begin(double t, double h, std::size_t steps) {
  steps_.clear();
  steps_.reserve(steps);
  computing_ = 0;
  // No step waits for a page. Where locking is not allowed the report says so.
  locked_ = mlockall(MCL_CURRENT | MCL_FUTURE) == 0;
  usual_policy_ = sched_getscheduler(0);
  const sched_param before_others{.sched_priority = sched_get_priority_min(SCHED_FIFO)};
  first_ = sched_getparam(0, &usual_) == 0 && sched_setscheduler(0, SCHED_FIFO, &before_others) == 0;
  first_t_ = t;
  h_ = h;
  origin_ = wall_clock();
}

StepClock::~StepClock() {
  if (first_) sched_setscheduler(0, usual_policy_, &usual_);
  if (locked_) munlockall();
}

void StepClock::step_starts() {
  started_ = wall_clock();
  processor_ = processor_clock();
}

void StepClock::step_ends() {
  computing_ = std::max(computing_, processor_clock() - processor_);
  steps_.push_back(wall_clock() - started_);
}

void StepClock::wait_until(double t) {
  const double due = origin_ + (t - first_t_), now = wall_clock();
  output_ += now - started_;
  if (now > due) {
    ++overruns_;
    latest_ = std::max(latest_, now - due);
    return;
  }
  // A processor that sleeps wakes late and slow: the last part of the wait it is kept awake.
  const double asleep = due - now - std::min(0.2 * h_, 2e-4);
  if (asleep > 0) {
    const timespec pause{static_cast<time_t>(asleep), static_cast<long>(1e9 * (asleep - std::floor(asleep)))};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, nullptr);
  }
  // Nothing is computed here: a gap between two looks at the clock is the machine's.
  for (double last = wall_clock(); last < due;) {
    const double next = wall_clock();
    away_ = std::max(away_, next - last);
    last = next;
  }
}

RealTimeReport StepClock::report() const {
  RealTimeReport r;
  r.budget = h_;
  r.steps = static_cast<long>(steps_.size());
  r.overruns = overruns_;
  r.latest = latest_;
  r.worst_computing = computing_;
  r.locked = locked_;
  r.first = first_;
  r.away = away_;
  if (steps_.empty()) return r;
  std::vector<double> sorted = steps_;
  std::sort(sorted.begin(), sorted.end());
  r.worst = sorted.back();
  r.percentile = sorted[static_cast<std::size_t>(std::ceil(0.999 * static_cast<double>(sorted.size()))) - 1];
  for (const double s : sorted) r.mean += s / static_cast<double>(sorted.size());
  r.with_output = output_ / static_cast<double>(sorted.size());
  return r;
}

void compare_paths(const Equations& equations, const Path& fast, const Path& converged, RealTimeReport& report) {
  const Eigen::Index nq = equations.sizes().nq;
  const std::size_t count = std::min(fast.t.size(), converged.t.size());
  const Vec scales = equations.scales();
  Vec a(nq), b(nq), delta(equations.sizes().nv);
  report.given_up = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = static_cast<Eigen::Index>(i) * nq;
    a = Eigen::Map<const Vec>(fast.q.data() + at, nq);
    b = Eigen::Map<const Vec>(converged.q.data() + at, nq);
    equations.local(b, a, delta);
    const double distance = delta.size() == 0 ? 0 : delta.cwiseQuotient(scales).lpNorm<Eigen::Infinity>();
    if (distance <= *report.given_up) continue;
    report.given_up = distance;
    report.given_up_at = fast.t[i];
  }
}

}  // namespace trammel
