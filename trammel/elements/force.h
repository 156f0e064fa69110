// A force element: wrenches on frames as a function of time, poses and twists, part of Q in equation (2).
#pragma once
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "trammel/elements/frame.h"

namespace trammel {

struct ForcePartials {
  FrameMatrix pose,
      twist;         // d(wrench)/dpose, d(wrench)/dtwist; 6 rows and columns per frame, (force, torque) by (p, phi)
  FrameVector time;  // d(wrench)/dt
  // Wrench and derivatives are all zero, as of a contact that is open: nobody needs to look at them. Who looks at it
  // resets it before; most elements never write it.
  bool nothing = false;
  void set_zero(int frames);
};

// A number the element reports: "length", m.
struct Observable {
  std::string name, unit;
};

class Force {
 public:
  virtual ~Force() = default;
  virtual int frames() const = 0;
  virtual int memory() const { return 0; }
  virtual bool uses_velocity() const { return true; }
  // What it sees of a frame and acts on there. Bodies without a full orientation refuse those that need it.
  virtual FrameNeed needs(int /*frame*/) const { return FrameNeed::orientation; }
  // False: it refers to the axes of the world, so that turning the whole mechanism changes it.
  virtual bool objective() const { return true; }

  // Wrench (force, torque about the frame's origin; world axes) on each frame, 6 per frame. False: cannot be evaluated
  // here.
  virtual bool evaluate(const ElementInput& in, double* wrench) const = 0;
  // Fills `out` as a whole.
  virtual void linearise(const ElementInput& in, ForcePartials& out) const = 0;

  // For the energy balance: what is stored, what is turned into heat per second, and the power of the rest of the
  // wrench (an actuator), which is booked as external work.
  virtual double potential_energy(const ElementInput& /*in*/) const { return 0; }
  virtual double dissipated_power(const ElementInput& /*in*/) const { return 0; }
  virtual double external_power(const ElementInput& in) const { return energy_is_complete() ? 0.0 : power(in); }
  // True if -d(potential)/dpose and the dissipation account for the whole wrench.
  virtual bool energy_is_complete() const { return false; }
  // All three at once, for elements that find them together.
  struct EnergyTerms {
    double stored = 0, heat = 0, external = 0;
  };
  virtual EnergyTerms energy_terms(const ElementInput& in) const {
    return {potential_energy(in), dissipated_power(in), external_power(in)};
  }
  // Of the wrench at a fixed time without velocities, whatever the energy balance books it as; nothing: it has none.
  virtual std::optional<double> potential_at_rest(const ElementInput& in) const {
    return energy_is_complete() ? std::optional(potential_energy(in)) : std::nullopt;
  }
  // Of the whole wrench on the moving frames; 0 where it cannot be evaluated.
  double power(const ElementInput& in) const;

  // Of a contact or stop: the meeting that its surfaces are on their way to, if there is one. False: not a contact.
  // `rising` are its frames with their accelerations in place of velocities; null: speeds stay as they are.
  struct Approach {
    double time = std::numeric_limits<double>::infinity();  // until they touch
    double speed = 0, gap = 0;                              // closing speed then; the gap now
    double stiffness = 0, exponent = 1.5;                   // of the force stiffness depth^exponent
    bool rotation = false;                                  // depth is an angle
    double size = std::numeric_limits<double>::infinity();  // half the width of what may be flown through
    double depth = 0;                                       // the greatest of those that touch

    // Takes the meeting across a gap if it comes before the one that is known. What brakes may cease to: an
    // acceleration counts only where it closes the gap.
    bool take(double across, double rate, double acceleration) {
      if (!(across > 0)) return false;
      const double gain = acceleration > 0 ? acceleration : 0, end = std::sqrt(rate * rate + 2 * gain * across);
      const double when = rate > 0   ? 2 * across / (rate + end)
                          : gain > 0 ? (end - rate) / gain
                                     : std::numeric_limits<double>::infinity();
      if (!(when < time)) return false;
      time = when;
      speed = end;
      gap = across;
      return true;
    }
  };
  virtual bool approach(const ElementInput& /*in*/, const FrameState* /*rising*/, Approach& /*out*/) const {
    return false;
  }
  // Of a contact: how far its shapes reach into each other, also as a share of their size, and how hard they press.
  struct Overlap {
    double depth = 0, share = 0, force = 0;  // m, 1, N
  };
  virtual Overlap overlap(const ElementInput& /*in*/) const { return {}; }
  // True: it may set in suddenly, and approach() does not say when; an expression with max or if.
  virtual bool sets_in_unseen() const { return false; }

  // Where its law has corners, in the order of switch_values(). Steps end there if the user asks for it, and always
  // where time alone decides.
  virtual std::vector<SwitchInfo> switches() const { return {}; }
  virtual void switch_values(const ElementInput& /*in*/, double* /*values*/) const {}
  // Of a switch that strikes: the row C against the twists of its frames along which the impulse acts, and how fast the
  // bodies part afterwards, for the speed C tau at which they approach.
  struct Strike {
    FrameVector row;
    double restitution = 0;
  };
  virtual Strike strike(const ElementInput& /*in*/, int /*which*/) const { return {}; }

  // Modes: laws of which one is in force until one of its switches becomes negative. An element with modes remembers
  // which it is in, and may hold its frames by rows in some of them (ElementDescription::make_held).
  virtual std::vector<std::string> modes() const { return {}; }  // "sticks", by number; empty: it has none
  virtual int mode(const double* /*memory*/) const { return 0; }
  // Chooses a mode by the state alone: at the start, and where velocities have jumped. Speeds up to `rest` (m/s, rad/s)
  // are none.
  struct Rest {
    double speed = 0, rate = 0;
  };
  virtual void begin_mode(const ElementInput& /*in*/, const Rest& /*rest*/, double* /*memory*/) const {}
  // The mode that follows the one which switch `which` has ended. If it turns out not to last, its own switch says so.
  virtual void end_mode(const ElementInput& /*in*/, int /*which*/, double* /*memory*/) const {}

  virtual std::vector<Observable> observables() const { return {}; }
  virtual void observe(const ElementInput& /*in*/, double* /*values*/) const {}

  virtual void accept(const ElementInput& /*in*/, double* /*memory*/) const {}
  virtual double turned(const ElementInput& /*in*/) const { return 0; }
};

}  // namespace trammel
