// Why a run could not go on. During the run the last attempts are kept in a ring, which costs nothing; when it fails
// the questions that tell causes apart are asked of the model itself: does an element give a value at all, can the
// mechanism be assembled a little later with and without each motion, does a force jump along the path, has the rank of
// the constraints fallen, does the error fall with the step size, does a smaller step succeed.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "trammel/initial/consistent.h"
#include "trammel/integrate/registry.h"
#include "trammel/run/constraint_watch.h"
#include "trammel/run/energy_guard.h"

namespace trammel {

struct AttemptRecord {
  double t = 0, h = 0;  // from t over h
  double error = 0, rate = 0;
  Verdict verdict = Verdict::ok;
  int iterations = 0, worst_velocity = -1, worst_row = -1;
  bool accepted = false;
};

// The last attempts of a run, newest first.
class AttemptLog {
 public:
  static constexpr std::size_t most = 64;
  void add(const AttemptRecord& record) { ring_[added_++ % most] = record; }
  std::size_t size() const { return added_ < most ? added_ : most; }
  const AttemptRecord& back(std::size_t i) const { return ring_[(added_ - 1 - i) % most]; }
  std::size_t rejected_since_accept() const;

 private:
  std::array<AttemptRecord, most> ring_{};
  std::size_t added_ = 0;
};

// An element, or a body, with a value that is not finite, or that cannot be evaluated at all.
struct Culprit {
  std::string part;  // "force 'bumper'"
  std::string what;  // "gives a force that is not finite"
  bool not_finite = false;
  double t = 0;
  Location where;
};
// The first one at this state, in the order bodies, joints and motions, forces; nothing if all is well there.
std::optional<Culprit> find_culprit(const Equations& equations, const State& state, const Rates& rates,
                                    Workspace& work);

// A likely cause with what speaks for it; `id` is a key of the message table.
struct Cause {
  std::string id;
  std::string part;      // of the model; empty if it cannot be told
  std::string text;      // one sentence
  std::string evidence;  // what was found
  double weight = 0;     // 1: proved; causes are sorted by it
};

enum class StopReason {
  attempt_failed,    // with a fixed step
  step_below_least,  // smaller than the model allows
  step_at_round_off,
  time_stalled,
  constraints_violated,  // and they stay so
  energy_unexplained,    // again and again
  chatter,               // events that follow each other without end
};

// Why a run could not go on: parts of the model, likely causes ranked, what to try.
struct FailureReport {
  std::string id;  // of the message table
  double t = 0, h = 0;
  std::string what;
  std::string part;              // of the model, that of the likeliest cause
  std::string body, constraint;  // parts of the model the last attempts point to
  std::vector<Cause> causes;     // most likely first
  std::vector<std::string> try_next;
  std::vector<AttemptRecord> attempts;  // the last ones, newest first
  std::string state_file;               // where the last good state was saved; empty if nowhere
};
std::string to_text(const FailureReport&);
std::string to_json(const FailureReport&);

struct FailureContext {
  const Equations& equations;
  Integrator& integrator;  // at the last accepted state; may be asked for further attempts
  AccelerationSolver& accelerations;
  const MethodSettings& settings;
  const InitialReport& initial;
  const AttemptLog& log;
  StopReason reason = StopReason::attempt_failed;
  Attempt last;
  double h = 0, least_step = 0;
  std::optional<Culprit> culprit;  // found during the last attempts
  std::optional<ConstraintViolation> violation;
  std::optional<UnexplainedEnergy> energy;  // of the last attempt that was refused for it
  int chattering = -1;                      // number of the switch
  bool in_vain = false;                     // it drives the mechanism back over its own corner
};
FailureReport diagnose(const FailureContext& context);

}  // namespace trammel
