// What integrators that drive a method for differential equations tell of it.
#pragma once
#include <string>

#include "trammel/ode/ode_method.h"

namespace trammel {

// Adds the linear algebra of a method to what its problem counts.
void add_work(const Counts& of_method, Counts& sum);
// The same with its Newton iterations, of one that is given up.
void add_work_of_dropped(const Counts& of_method, Counts& sum);
// What the summary should say of it, behind what the text says already.
void append_remark(const OdeMethod& method, std::string& text);

}  // namespace trammel
