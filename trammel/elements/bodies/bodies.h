// Descriptions of the kinds of bodies, one file each; the registry lists them.
#pragma once
#include "trammel/elements/body.h"

namespace trammel {

BodyDescription describe_spatial_body();
BodyDescription describe_planar_body();
BodyDescription describe_point_body();
BodyDescription describe_scalar_coordinate();
BodyDescription describe_rod();
BodyDescription describe_planar_rod();
BodyDescription describe_modal_body();

}  // namespace trammel
