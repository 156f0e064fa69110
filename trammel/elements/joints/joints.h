// Descriptions of the joints, one file each; the registry lists them.
#pragma once
#include "trammel/elements/registry.h"

namespace trammel {

ElementDescription describe_fixed();
ElementDescription describe_revolute();
ElementDescription describe_translational();
ElementDescription describe_cylindrical();
ElementDescription describe_spherical();
ElementDescription describe_universal();
ElementDescription describe_planar();
ElementDescription describe_distance();
ElementDescription describe_point_on_line();
ElementDescription describe_point_in_plane();
ElementDescription describe_constant_velocity();
ElementDescription describe_screw();
ElementDescription describe_parallel_axes();
ElementDescription describe_perpendicular_axes();
ElementDescription describe_orientation();
ElementDescription describe_gear();
ElementDescription describe_coupler();
ElementDescription describe_rack_and_pinion();
ElementDescription describe_pulley();
ElementDescription describe_point_on_curve();
ElementDescription describe_rolling_disc();
ElementDescription describe_rolling_sphere();
ElementDescription describe_knife_edge();
ElementDescription describe_velocity_condition();

}  // namespace trammel
