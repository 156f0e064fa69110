// Steps and contacts. A step in free flight knows nothing of what it will meet, and may jump over it: it ends before
// the surfaces meet, and the next one is not longer than a tenth of the impact. With the depth e from
// m v^2/2 = K e^(p+1)/(p+1) an impact takes about 3 e/v. Two meetings count:
//
//   felt      gap above 10 and e above 100 of the errors that the tolerance allows; or what rolls would be held up by
//             every new contact
//   through   the step would go further behind the meeting than half the width of what is met
//
// Only in models with an element `contact`; in these, stops and the contacts of bearings count too.
#pragma once
#include <optional>
#include <vector>

#include "trammel/base/archive.h"
#include "trammel/equations/equations.h"
#include "trammel/integrate/registry.h"

namespace trammel {

class ContactWatch {
 public:
  ContactWatch(const Equations& equations, double tolerance);
  bool any() const { return !watched_.empty(); }

  // What a step of size h from here is shortened to. Also looks at what touches.
  double limit(const State& state, const Rates& rates, double h, Workspace& work);
  // A warning of impacts that the method may have passed in too few steps.
  std::optional<Problem> doubt(const MethodInfo& method) const;

  void visit(Archive& archive);

 private:
  // Of one force along the run.
  struct Watched {
    int force = 0;
    bool judged = false;  // its impacts
    bool touches = false, struck = false, rebounded = false;
    double expected = 0;  // depth of the impact that is about to come
    double deepest = 0;   // of those that struck

    void visit(Archive& archive) { archive(touches, struck, rebounded, expected, deepest); }
  };
  double errors(bool rotation) const { return tolerance_ * (rotation ? 1 : equations_.length()); }
  double depth_of_impact(int force, const Force::Approach& next) const;
  void follow(Watched& watched, double depth, double expected) const;

  const Equations& equations_;
  double tolerance_;
  std::vector<Watched> watched_;
  std::vector<int> watched_of_;  // forces; -1: none
};

}  // namespace trammel
