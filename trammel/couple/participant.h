// A participant of a coupled simulation: something that moves by itself, has frames on which wrenches may act, and can
// say how these frames move. What the gluing needs to know of a model of ours, of a class written in C++ and of a
// program in another process is the same.
//
// A macro step goes from t_k to t_k + H. Its inputs are the wrenches on the frames as coefficients of an input shape.
// A participant that can roll back repeats the step with other inputs as often as it is asked; `accept` ends that.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trammel/base/types.h"
#include "trammel/couple/input_shape.h"
#include "trammel/elements/frame.h"

namespace trammel {

struct ParticipantInfo {
  std::string name;
  std::vector<std::string> frames;
  bool rolls_back = true;      // can repeat a step
  bool has_compliance = true;  // and says how its frames yield to wrenches
  bool has_sensitivity = true;
};

// What a macro step is to do.
struct MacroStep {
  double t = 0, end = 0;
  bool restart_at_jumps = true;  // integrate the halves of a step one after the other
  // Wrenches (force, torque about the frame's origin; world axes), frame after frame, 6 numbers for each coefficient.
  std::vector<double> inputs;
  std::vector<double> samples;  // times within the step, in order, the last one its end
  std::vector<char> record;     // of each sample: the participant records it; empty: all
  bool keep_path = false;       // a sensitivity may be asked for
};

struct MacroResult {
  bool ok = true;
  std::string message;             // what stopped it
  std::vector<FrameState> frames;  // at the samples: all frames of the first one, then of the second ...
  std::vector<double> step_times;  // ends of the steps that the participant took
};

class Participant {
 public:
  virtual ~Participant() = default;
  virtual const ParticipantInfo& info() const = 0;
  // Frames at the start, after which steps may be made.
  virtual std::vector<FrameState> start() = 0;

  // One try of a step from the last accepted point. Begun on all participants before any is finished, so that they may
  // work side by side.
  virtual void begin(const MacroStep& step) = 0;
  virtual void finish(MacroResult& result) = 0;
  // The last try becomes the state; what it records of the samples is written.
  virtual void accept() = 0;

  // Accelerations of the frames by unit wrenches on them at the accepted state, 6 rows and columns a frame.
  virtual Mat compliance() = 0;
  // d(pose, twist) of all frames at the given samples of the last try by its coefficients: 12 rows a frame, samples one
  // after the other; columns in the order of MacroStep::inputs. Small rotations in world axes.
  virtual Mat sensitivity(std::span<const int> samples) = 0;

  // Complete at accepted points: a run continued from it gives the same bits.
  virtual Bytes save() = 0;
  virtual void restore(std::span<const std::byte> bytes) = 0;
  // Closes what it records.
  virtual void close(bool good) = 0;
};

}  // namespace trammel
