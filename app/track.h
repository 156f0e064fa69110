// The track of an excavator: links joined by pins round a sprocket, rollers and an idler that a spring pushes outwards,
// on the ground. What `trammel make track` writes and the study of HHT runs. With 45 links it has the counts of the
// track in section 4.2 of Negrut, Rampalli, Ottarsson, Sajdak (HHT): 61 bodies, 54 revolute joints and one each that is
// planar, translational and inline, 4 fixed ones, a motion, 61 degrees of freedom, 690 contacts.
#pragma once
#include <string>

namespace trammel {

struct Track {
  int links = 45, teeth = 11;
  int rollers = 6, upper_rollers = 2;  // that it runs on, and that carry it above
  int parts = 4;                       // fixed to the frame
  double tip = 0.073;                  // radius of the tips of the teeth, m
  double frame_mass = 20e3;
  double speed = 1.13;  // of the sprocket, rad/s
  double end = 14;
};

// A small one, of 25 links.
Track small_track();
// Of the model file. Throws Failure where the links do not go round.
std::string track_model(const Track& track);

}  // namespace trammel
