// The sections `splines` and `tables` of a model file: functions given by points, inline or in a CSV file.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "trammel/model/model.h"
#include "trammel/read/values.h"

namespace trammel {

// The text of the file that a node names, and its path; reports what is wrong, and `good` says so.
using CurveFileLoader = std::function<std::string(const Node& node, const Place& place, std::string& path, bool& good)>;

// What is wrong goes to the problem list and comes out as nothing. `name` is the one in the model.
std::optional<NamedSpline> read_spline(std::string_view name, const Node& key, const Node& node, Values& values,
                                       const CurveFileLoader& load);
std::optional<NamedTable> read_table(std::string_view name, const Node& key, const Node& node, Values& values,
                                     const CurveFileLoader& load);

}  // namespace trammel
