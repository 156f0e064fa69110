// JSON in the provenance of a result, which may come from anywhere: what is missing or of another kind is empty.
#pragma once
#include <string>

#include "app/view_format.h"
#include "trammel/write/trajectory.h"

namespace trammel {

// The array that the run cut into KEY.1, KEY.2, ... Throws Failure where a piece is damaged.
Json joined_pieces(const Provenance& provenance, const std::string& key);
std::string text_at(const Json& list, std::size_t i);
std::string text_in(const Json& object, const char* key);
Json parsed_or_null(const std::string& text);

}  // namespace trammel
