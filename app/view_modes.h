// Mode shapes as a page shows them: each mode with its numbers, and how every body moves in it.
#pragma once
#include <string>
#include <vector>

#include "app/view_format.h"
#include "trammel/analyse/modes.h"

namespace trammel {

// "rigid", "unstable", or nothing.
std::string kind_of_mode(const Mode& mode, bool damped);
std::string bodies_of_mode(const Mode& mode);  // those that move most, as text

// All modes of one sort, by frequency. A page holds at most 400 of them, and 24 MB of shapes: the lowest.
struct ModeSet {
  bool damped = false;
  std::size_t found = 0;
  std::vector<Mode> modes;  // that the page holds
  // Displacement of the origin and rotation, x y z each, of every body that has a place: a column for each component,
  // a row for each mode. Of damped modes six imaginary columns follow the six real ones of each body.
  ViewColumns shapes;
  // Modal coordinates of the bodies that bend, in the model's order; of damped modes the imaginary ones of a body
  // follow its real ones.
  ViewColumns modal;
};

struct ModesOfPage {
  std::string around;
  std::vector<std::string> notes;
  std::vector<ModeSet> sets;  // undamped and damped; none where nothing can move
};
ModesOfPage modes_of_page(const Equations& equations, const State& state, const Modes& modes,
                          const std::string& around);

// For the header: {"around", "notes", "sets": [{"damped", "found", "modes": [{"frequency", "damping", "eigenvalue":
// [re, im], "oscillates", "kind", "bodies": [names]}], "shapes": chunk, "modal": chunk}]}.
Json modes_json(ViewFile& file, const ModesOfPage& modes, std::size_t bodies);

}  // namespace trammel
