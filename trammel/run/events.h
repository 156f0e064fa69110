// Events of a run: places where a switch of an element changes its sign. A step ends there and the method starts anew,
// so that no step sees two pieces of a law at once; where bodies strike, velocities jump by an impulse.
//
//   over time alone   always: the step before ends at the last number below the corner, the next starts behind it
//   impacts           always, when a gap closes: located on real steps,
//                     M dv + G^T p = c P,  G dv = 0,  c dv = -(1 + e) c v
//   modes             always, where one ends: located on real steps, then element_modes.h
//   other switches    where the user asks for it (simulation: {events: located}), located on real steps
//
// On real steps: the attempt is repeated with sizes between one that ends before the event and one that ends behind it,
// until the two differ by 1e-12 of the run's length. Dense output would be as good as its order only. Within a step a
// switch is followed by the cubic through its values and rates at both ends, which sees what leaves its side and comes
// back; a step to its extremum decides.
//
// With `events: at_steps` nothing is repeated: impacts and modes wait for the end of the step in which they are found.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trammel/initial/accelerations.h"
#include "trammel/integrate/integrator.h"
#include "trammel/run/element_modes.h"

namespace trammel {

struct Event {
  double t = 0;
  int which = 0;       // number of the switch
  bool rises = false;  // its value was negative before
  double impulse = 0;  // N s; 0: nothing struck
  int mode = -1;       // that its element is in afterwards; -1: it has none
};

class Events {
 public:
  // Which are watched, and how; `end` of the run.
  Events(const Equations& equations, const SimulationSettings& settings, double end);

  bool any() const { return !watched_.empty(); }
  bool watches_motion() const { return untimed_; }  // not only corners over time
  double resolution() const;                        // s; what is nearer than that is one place
  long count() const { return count_; }
  std::vector<std::string> names() const;               // of all switches, by number
  std::string modes() const { return modes_.names(); }  // of all elements; empty: they have none
  // Takes the sides of all switches at a state that is no event; elements with modes choose theirs.
  void start(State& state, Rates& rates, AccelerationSolver& accelerations);

  // How long the step from `state` may be at most: until a corner over time, if one lies within h. 0: it lies here, and
  // handle() goes behind it before any step.
  double limit(const State& state, double h);
  // Whether the attempt over h that `integrator` has just made seems to have passed an event.
  bool passed(const Integrator& integrator, double h);
  // Then repeats the attempt until it ends just behind the first event in it, or where it turned out to have none;
  // `again` makes one attempt and says whether it was good. Returns the step size, or nothing if an attempt was not
  // good: then a smaller step must be tried.
  std::optional<double> locate(const Integrator& integrator, double h, const std::function<bool(double)>& again);
  // An attempt over h was refused; if a switch was about to change in it, that may be why.
  void refused(const Integrator& integrator, double h);
  // After the step that ended at an event was accepted: what happened, and the state and rates to go on from. Empty:
  // the step did not end at one.
  std::vector<Event> handle(State& state, Rates& rates, AccelerationSolver& accelerations);
  // The switch that changes so often in so short a time that the run would never end; -1: none.
  int chattering() const { return chattering_; }
  bool chatters_in_vain() const { return in_vain_; }

  void visit(Archive& archive);

 private:
  struct Watched {
    int which;
    bool timed, strikes, ends_mode;
  };
  // All switches at a state, and their rates along the motion.
  struct Seen {
    Vec values, rates;
  };
  void look(const State& state, const Rates& rates, Seen& seen);
  bool changed(std::size_t i, const Seen& seen) const;
  // Of switches over time alone: their side at t, and the last number before and the first behind the first corner that
  // lies not more than h behind t.
  struct Corner {
    double before, behind;
  };
  double side_at(std::size_t i, double t);
  std::optional<Corner> corner(std::size_t i, double t, double h);
  // The first part of the trial step at whose end a switch seems to have changed; 1: its end, more: none.
  double first_change(const Integrator& integrator, double h);
  // The impulse; 0: the gap is opening; nothing: what would be struck cannot move.
  std::optional<double> strike(int which, State& state, AccelerationSolver& accelerations);
  // Of the element whose mode a switch has ended, and of others that this changes; `jumped`: by an impact.
  void change_mode(int which, State& state, Rates& rates, AccelerationSolver& accelerations, bool jumped,
                   std::vector<Event>& events);
  double least_of(std::size_t i) const { return watched_[i].ends_mode ? moving_ : open_; }
  void note(double t, int which);
  // A step at t was cut short for a change that did not happen: a force that drives back over its own corner lets no
  // step end behind it.
  void note_in_vain(double t, int which);

  const Equations& equations_;
  Workspace work_;
  ElementModes modes_;
  double end_;
  std::vector<Watched> watched_;
  std::vector<double> side_;  // of each watched one: its sign; 0: a gap that was closed and has not opened since, or a
                              // switch over time that is neither positive nor negative for a while
  double open_ = 0;           // a gap that is larger is open
  double moving_ = 0;         // what slides faster has set off
  double behind_ = 0;         // the time just behind a corner that the step in hand ends at; 0: none
  bool at_event_ = false, at_steps_ = false;
  bool timed_ = false, untimed_ = false;  // whether there are such
  Seen start_, end_of_step_, here_;
  Vec moved_values_;
  State moved_;
  std::vector<std::vector<double>> recent_;  // times of the last events of each watched one
  int chattering_ = -1;
  bool in_vain_ = false;  // it drives back over its corner, and is not one that changes too often
  int expected_ = -1;     // the switch that first_change saw change
  // Steps that were cut short for nothing, of each switch, since it last changed.
  struct InVain {
    int steps = 0;
    double from = 0;
    void visit(Archive& archive) { archive(steps, from); }
  };
  std::vector<InVain> vain_;
  long count_ = 0;
};

}  // namespace trammel
