// The steps of a mechanism, one after another: how long the next one may be, the attempt, where an event ends it, and
// how the method goes on behind the event. Runs, parts of coupled systems and studies all step with it; what they
// record, what they watch and when they give up is theirs.
//
// Of contacts in sets, those that are near are in play (equations/near.cc): a new list of them is made before a step
// that may bring others to touch.
//
//   while (stepper.t() < end) {
//     if (stepper.plan(end) > 0) {                // 0: a corner over time lies here
//       if (!stepper.attempt()) { stepper.refuse(); continue; }
//       stepper.accept();
//     }
//     if (!stepper.events_here().empty()) stepper.go_behind_events();
//   }
#pragma once
#include <vector>

#include "trammel/integrate/registry.h"
#include "trammel/ode/control/step_rule.h"
#include "trammel/run/contact_watch.h"
#include "trammel/run/events.h"

namespace trammel {

class Stepper {
 public:
  // `integrator` stands at its start, and `events` have been told of it.
  Stepper(Equations& equations, const MethodSettings& settings, Integrator& integrator,
          AccelerationSolver& accelerations, Events& events);

  double t() const { return integrator_.state().t; }
  StepRule& rule() { return rule_; }
  const StepRule& rule() const { return rule_; }
  Events& events() { return events_; }
  const ContactWatch& contacts() const { return contacts_; }

  // Chooses the size of the next step on the way to `end`: not beyond it, nor beyond a corner over time or far into a
  // contact.
  double plan(double end);
  // Tries it, again and again where an event lies in it, until it ends there. False: it was not good.
  bool attempt();
  double size() const { return size_; }  // planned; behind attempt(), tried
  const Attempt& last_attempt() const { return attempt_; }
  bool ends_at_the_end() const { return size_ == left_; }
  void accept();
  void refuse();
  // Refuses an attempt that was good, for a reason of the caller's.
  void distrust();

  // What happened where the last step ended, if anything did. The integrator stays where it is until
  // go_behind_events().
  const std::vector<Event>& events_here();
  const State& state_behind() const { return state_behind_; }
  const Rates& rates_behind() const { return rates_behind_; }
  void go_behind_events();

  long pair_lists() const { return pair_lists_; }  // made so far
  // Goes on from another state.
  void restart(const State& state, const Rates& rates);

  void visit(Archive& archive);

 private:
  double careful_step(const State& state, const Rates& rates) const;
  bool try_step(double h);
  double limit_by_contacts(double h);
  // True: another list was made.
  bool follow_pairs(double h);
  bool list_holds();
  void list_pairs(double margin);

  Equations& equations_;
  const double tolerance_;
  Integrator& integrator_;
  AccelerationSolver& accelerations_;
  Events& events_;
  ContactWatch contacts_;
  Workspace work_;
  StepRule rule_;
  double size_ = 0, left_ = 0;
  long pair_lists_ = 0;
  Attempt attempt_;
  std::vector<Event> here_;
  State state_behind_;
  Rates rates_behind_;
};

}  // namespace trammel
