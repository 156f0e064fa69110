// Reports of analyses as JSON.
#pragma once
#include "app/common.h"
#include "trammel/analyse/kinematics.h"
#include "trammel/analyse/linearise.h"
#include "trammel/analyse/modes.h"
#include "trammel/analyse/quasi_static.h"
#include "trammel/analyse/statics.h"

namespace trammel {

Json to_json(const StaticReport& report);
Json to_json(const QuasiStaticReport& report);
Json to_json(const KinematicReport& report);
Json to_json(const Mode& mode);
Json to_json(const Mat& matrix);  // rows
Json to_json(const std::vector<LinearName>& names);

}  // namespace trammel
