// The sections `splines` and `tables` of a model file: functions given by points, inline or in a CSV file.
#pragma once
#include <optional>

#include "trammel/model/model.h"
#include "trammel/read/values.h"

namespace trammel {

// What is wrong goes to the problem list and comes out as nothing.
std::optional<NamedSpline> read_spline(const Node& key, const Node& node, Values& values);
std::optional<NamedTable> read_table(const Node& key, const Node& node, Values& values);

}  // namespace trammel
