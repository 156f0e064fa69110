// Numbers that a source prints, from JSON files under studies/data.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace trammel {

// A file of studies/data. Throws Failure.
nlohmann::json read_printed(const std::string& file);

}  // namespace trammel
