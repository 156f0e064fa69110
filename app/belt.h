// The belt of an engine round crank, water pump and alternator, with a tensioner on a swing arm: rigid segments that
// are tied together by elements of force at their corners, and touch the pulleys with friction. What `trammel make
// belt` writes. With 100 segments it has the counts of the belt in section 4.1 of Negrut, Rampalli, Ottarsson, Sajdak
// (HHT): 400 elements of three components.
#pragma once
#include <string>

namespace trammel {

struct Belt {
  int segments = 100;
  double end = 0.2;
};

// Of the model file. Throws Failure if the segments are too few to go round.
std::string belt_model(const Belt& belt);

}  // namespace trammel
