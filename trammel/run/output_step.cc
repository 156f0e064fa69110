#include "trammel/run/output_step.h"

namespace trammel {
namespace {

void add_difference(const Counts& from, const Counts& to, Counts& sum) {
  for (long Counts::*count :
       {&Counts::steps, &Counts::evaluations, &Counts::linearisations, &Counts::combinations, &Counts::factorisations,
        &Counts::refactorisations, &Counts::solves, &Counts::newton_iterations})
    sum.*count += to.*count - from.*count;
}

}  // namespace

OutputStep::OutputStep(const MethodInfo& method, const Equations& equations, const MethodSettings& settings,
                       const State& state, const Rates& rates) {
  const auto add = [&](bool fixed_step) {
    MethodSettings own = settings;
    own.fixed_step = fixed_step;
    twins_.push_back({method.make(equations, own), fixed_step});
    twins_.back().integrator->start(state, rates);
  };
  if (!settings.fixed_step && method.stiff && !method.variable_order) add(true);
  add(settings.fixed_step);
}

void OutputStep::note_start(const Integrator& integrator) {
  start_.clear();
  integrator.save(start_);
  start_t_ = integrator.state().t;
  counts_at_start_ = integrator.counts();
}

const State* OutputStep::at(double t, const Integrator& integrator, Counts& work) {
  if (start_.empty() || integrator.counts().steps != counts_at_start_.steps + 1) return nullptr;
  for (const Twin& twin : twins_) {
    std::span<const std::byte> bytes(start_);
    twin.integrator->restore(bytes);
    const Attempt attempt = twin.integrator->attempt(t - start_t_);
    const bool good = attempt.verdict == Verdict::ok && (twin.fixed_step || attempt.error <= 1);
    if (good) twin.integrator->accept();
    add_difference(counts_at_start_, twin.integrator->counts(), work);
    if (good) return &twin.integrator->state();
  }
  return nullptr;
}

}  // namespace trammel
