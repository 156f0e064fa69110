// Mechanisms of any size for cost measurements, built in C++.
#pragma once
#include "trammel/model/model.h"

namespace trammel::bench {

// N slender links of 1 m and 1 kg on revolute joints, hung at one end, starting horizontal and at rest.
Model chain(int links);
// N windows of 1 m rods on spatial revolute joints (IFToMM A02): redundant, passes singular positions.
Model four_bars(int windows);
// A vehicle-like tree with loops: chassis, four corners of two wishbones, upright, tie rod, wheel, spring-damper and
// tyre spring; `vehicles` of them in a convoy, coupled by ball-ended rods.
Model convoy(int vehicles);

}  // namespace trammel::bench
