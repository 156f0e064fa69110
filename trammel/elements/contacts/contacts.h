// Descriptions of the contacts, one file each; the registry lists them.
#pragma once
#include "trammel/elements/registry.h"

namespace trammel {

ElementDescription describe_ball_in_groove();
ElementDescription describe_ball_in_pocket();
ElementDescription describe_contact();
ElementDescription describe_impact();

}  // namespace trammel
