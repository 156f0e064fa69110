// The greatest von Mises stress of each point of the bodies that bend, over the start and all accepted steps of a run.
#pragma once
#include <string>
#include <vector>

#include "trammel/base/archive.h"
#include "trammel/equations/equations.h"

namespace trammel {

struct HotSpot {
  std::string body, place;       // "frame", "beam 'seat' - 'tail', at 'tail'"
  Vec3 position = Vec3::Zero();  // in the body's axes, undeformed
  double von_mises = 0, t = 0;   // Pa, s
};

class StressWatch {
 public:
  explicit StressWatch(const Equations& equations);

  bool any() const { return !watched_.empty(); }
  void look(const State& state);
  // Of each body as many as it asks for, the greatest first; one of each end of a beam, since its neighbours have
  // nearly the same.
  std::vector<HotSpot> hot_spots() const;

  void visit(Archive& archive);

 private:
  struct Watched {
    int body = 0;
    int first = 0;     // modal coordinate, of the state
    Vec resultants;    // scratch
    Vec greatest, at;  // of each point: stress and its time
  };

  const Equations& equations_;
  std::vector<Watched> watched_;
};

}  // namespace trammel
