// The ranges of a mechanism: each freedom moved by itself from where the model is drawn, the others held. Computed when
// the page is written, since a page cannot assemble anything.
#pragma once
#include <string>
#include <vector>

#include "app/view_format.h"
#include "trammel/equations/equations.h"

namespace trammel {

struct Sweep {
  std::string of, element, quantity;  // "joint", its name, "angle"; "body", its name, "x"; "coordinate", its name, ""
  std::string unit;                   // "rad", "m", or none
  std::vector<double> values;         // ascending
  std::size_t drawn = 0;              // row in which the mechanism is as drawn
  bool ends_low = false, ends_high = false;  // it cannot be assembled beyond
  ViewColumns poses;                         // x y z w x y z of each body that has a place, in the model's order
  ViewColumns modal;                         // modal coordinates of all that bend, in the model's order
};

// `state` is assembled. Motions are left out: what they drive is a freedom to be tried. Rows that bind velocities only,
// such as rolling, do not count: they close no way. At most `most` of them; empty for models too large to try.
std::vector<Sweep> sweep_freedoms(const Equations& equations, const State& state, std::size_t most = 60);

}  // namespace trammel
