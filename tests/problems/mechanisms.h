// Small mechanisms with known behaviour, built in C++: the ground under the tests of equations, start and integrators.
// SI units, gravity 9.81 along -z unless said otherwise.
#pragma once
#include <array>
#include <random>
#include <string_view>

#include "trammel/model/model.h"

namespace trammel::problems {

// A slender rod from `from` to `to`: its x axis lies along it, its z axis along `normal`, its origin in the middle.
// `thickness` gives the small inertia about its own axis.
Body rod(std::string name, const Vec3& from, const Vec3& to, double mass, const Vec3& normal, double thickness = 0.05);

// A bar of 1 m and 2 kg on a hinge along y, released from the horizontal.
Model pendulum();

// A point of 1 kg on a massless rod of 1 m, 60 degrees from the vertical, pushed sideways at 1.5 m/s.
Model spherical_pendulum();

// Heavy top of Bruels, Cardona and Arnold (2012), spinning at 150 rad/s about its y axis, on a spherical joint.
Model heavy_top();
struct HeavyTopSample {
  double t;
  Vec3 position;
  Quat rotation;
  Vec3 spin;  // angular velocity, body axes
};
// Euler's equations integrated to 1e-13; the vertical coordinate agrees with its closed form to 6e-13.
const std::array<HeavyTopSample, 3>& heavy_top_reference();

// Spatial slider-crank of Haug: revolute, spherical, universal and translational joints; the crank starts at 6 rad/s.
Model spatial_slider_crank();
struct SliderCrankSample {
  double t, angle, rate, slider;
};
// From the reduced equation of one degree of freedom, integrated to 1e-13.
const std::array<SliderCrankSample, 2>& slider_crank_reference();
// The same with a spring-damper, a bushing, a multi-turn torsion spring, an expression force and torque.
Model slider_crank_with_forces();

// A closed loop whose crank is driven by a function of time, and a body hung at the slider: constraints depend on time.
Model driven_loop();

// How a mechanism that a planar or overconstrained loop allows in several ways is built.
enum class Build {
  redundant,    // spatial bodies, revolute joints throughout
  independent,  // spatial bodies, joints relaxed until no row is redundant
  planar,       // planar bodies, where the mechanism lies in the xy plane
};

// Four-bar linkage OABD whose crank can turn round. In the xy plane with gravity along -y, or (`tilted`) turned as a
// whole to a general direction. The crank starts at 8 rad/s. `misfit` shifts one frame of joint B along the axis and
// tilts it by the same number of metres and radians: a loop that does not close.
Model four_bar(Build build, bool tilted = false, double misfit = 0);

// IFToMM A02: N windows of unit rods, cranks vertical at first, moving at 1 m/s; in the xy plane, gravity along -y.
// Passes positions where all rods are in line and the constraints lose rank further.
Model ladder(int windows, Build build);
// The angle of its cranks from the vertical: all stay parallel, which leaves  I theta'' = V sin(theta)  with
// I = (N + 1)/3 + N and V = ((N + 1)/2 + N) g; integrated to about 1e-12.
double ladder_angle(int windows, double t);

// Bricard's overconstrained loop on the hexagon of cube edges: 30 rows, one redundant, one degree of freedom.
Model bricard(Build build);

// `links` rods of 0.5 m on revolute joints with alternating axes, hanging off the ground, released from the horizontal.
Model chain(int links);

// Every joint, motion and force of the registry, or those of one type, between random frames of pairs of ground,
// spatial, planar and point bodies. It moves nowhere: random states serve to compare derivatives.
Model every_element(unsigned seed, std::string_view only = {});

// Contacts between ground, a spatial and a planar body and a rod, more than 0.1 m deep wherever these are: differences
// over millimetres stay inside. Nothing holds the bodies.
Model deep_contacts();

// A ball of radius r that rolls on the xy plane, its centre of mass e below its middle, moment J about it; drawn turned
// by `lean` about y. Upright it swings with w^2 = m g e / (J + m (r - e)^2) in both directions.
Model weighted_ball(double mass, double r, double e, double J, double lean);

}  // namespace trammel::problems
