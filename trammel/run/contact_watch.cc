#include "trammel/run/contact_watch.h"
#include "trammel/formulate/formulation_keys.h"

#include <algorithm>
#include <cmath>

#include "trammel/base/numbers.h"
#include "trammel/elements/registry.h"

namespace trammel {
namespace {

// In errors that the tolerance allows: from where on a gap and the depth of an impact count, and below which depth the
// rebound is in doubt.
constexpr double least_gap = 10, least_depth = 100, least_trusted = 400;

// 3.7e-6: 3e-6
double one_digit_below(double x) {
  const double power = std::pow(10, std::floor(std::log10(x)));
  return std::floor(x / power) * power;
}

}  // namespace

ContactWatch::ContactWatch(const Equations& equations, double tolerance)
    : equations_(equations), tolerance_(tolerance) {
  const std::vector<Item>& forces = equations.model().forces;
  const auto judged = [](const Item& item) {
    const ElementDescription* description = find_element(Category::force, item.type);
    return description != nullptr && description->meets_in_flight;
  };
  if (std::none_of(forces.begin(), forces.end(), judged)) return;
  Workspace work = equations.make_workspace();
  const State state = equations.initial_state();
  equations.update(state, work);
  watched_of_.assign(forces.size(), -1);
  for (int i = 0; i < equations.force_count(); ++i) {
    Force::Approach unused;
    if (!equations.approach(i, state, nullptr, unused, work)) continue;
    watched_of_[i] = static_cast<int>(watched_.size());
    watched_.emplace_back();
    watched_.back().force = i;
    watched_.back().judged = judged(forces[i]);
  }
}

double ContactWatch::limit(const State& state, const Rates& rates, double h, Workspace& work) {
  equations_.update(state, work);
  double allowed = h;
  for (const int force : equations_.forces_in_play()) {
    if (watched_of_[force] < 0) continue;
    Watched& watched = watched_[watched_of_[force]];
    Force::Approach next;
    equations_.approach(watched.force, state, &rates, next, work);
    const double e = next.time < 2 * h ? depth_of_impact(watched.force, next) : 0, seen = errors(next.rotation);
    follow(watched, next.depth, e);
    if (!(next.time < h)) continue;
    const bool felt = next.gap > least_gap * seen && e > least_depth * seen, through = next.speed * h > next.size;
    if (!felt && !through) continue;
    // Impacts that the tolerance hardly sees are not resolved: they are met, and no more.
    const double into = std::min(std::max(e, least_depth * seen), next.size);
    allowed = std::min(allowed, std::max(0.9 * next.time, 0.3 * into / next.speed));
  }
  return allowed;
}

double ContactWatch::depth_of_impact(int force, const Force::Approach& next) const {
  const double m = equations_.mass_between(force, next.rotation), p = next.exponent;
  return std::pow(0.5 * (p + 1) * m * next.speed * next.speed / next.stiffness, 1 / (p + 1));
}

// What closes so slowly that the impact would not be seen lies down or rolls, and has no rebound to be wrong.
void ContactWatch::follow(Watched& watched, double depth, double expected) const {
  if (!watched.judged) return;
  if (!(depth > 0)) {
    watched.rebounded = watched.rebounded || (watched.touches && watched.struck);
    watched.touches = watched.struck = false;
    watched.expected = expected;
    return;
  }
  if (!watched.touches) watched.struck = watched.expected > least_gap * errors(false);
  watched.touches = true;
  if (watched.struck) watched.deepest = std::max(watched.deepest, depth);
}

// A ball that hits 4 mm deep and should rise to 0.1337 m rose to 0.129 with hht-i3 at 1/400 of the depth, to 0.1347 at
// 1/4000: such methods see the impact, but too few of its steps. Methods that test velocities are right in both.
std::optional<Problem> ContactWatch::doubt(const MethodInfo& method) const {
  if (method.formulations != std::vector<std::string>{formulation::index_3}) return std::nullopt;
  const double seen = errors(false);
  const Watched* deepest = nullptr;
  int doubtful = 0;
  for (const Watched& watched : watched_) {
    if (!watched.rebounded || watched.deepest > least_trusted * seen) continue;
    ++doubtful;
    if (deepest == nullptr || watched.deepest > deepest->deepest) deepest = &watched;
  }
  if (deepest == nullptr) return std::nullopt;
  const Item& item = equations_.model().forces[deepest->force];
  const std::string others =
      doubtful > 1 ? " (the deepest of " + std::to_string(doubtful) + " contacts of which this is true)" : "";
  return Problem{Severity::warning, "shallow-impacts",
                 "force '" + item.name + "': its impacts were at most " + digits(deepest->deepest, 3) + " m deep, " +
                     digits(deepest->deepest / seen, 3) + " times the error that '" + method.key +
                     "' allows in positions: rebounds may be wrong by percents" + others,
                 "take a tolerance of " +
                     digits(one_digit_below(deepest->deepest / (least_trusted * equations_.length())), 1) +
                     " or less, or a method that tests velocities: radau-iia-3, bdf-si2",
                 item.where};
}

void ContactWatch::visit(Archive& archive) {
  const std::size_t count = watched_.size();
  archive(watched_);
  archive.expect(watched_.size() == count);
}

}  // namespace trammel
