// Bodies that bend, as a page draws them: points of their beams, how each mode moves them, and the pieces between them.
#pragma once
#include "app/view_format.h"

namespace trammel {

// Of the result's entries "flexible", for the header: [{"body", "points": chunk of x, y, z, "segments": chunk of two
// numbers of points, "radii": chunk, "shapes": chunk of x, y, z for each mode, a row for each point}]. Throws Failure
// where they are damaged.
Json flexible_json(ViewFile& file, const Json& pieces);

}  // namespace trammel
