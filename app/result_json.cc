#include "app/result_json.h"

#include "trammel/write/output_path.h"

namespace trammel {

Json joined_pieces(const Provenance& provenance, const std::string& key) {
  Json all = Json::array();
  for (int i = 1;; ++i) {
    const std::string text = provenance.get(key + "." + std::to_string(i));
    if (text.empty()) return all;
    const Json piece = Json::parse(text, nullptr, false);
    if (!piece.is_array()) {
      throw read_failure("not-a-result", "the result's entry '" + key + "." + std::to_string(i) + "' is damaged",
                         "run the model again");
    }
    for (const Json& entry : piece) all.push_back(entry);
  }
}

std::string text_at(const Json& list, std::size_t i) {
  return list.is_array() && i < list.size() && list[i].is_string() ? list[i].get<std::string>() : "";
}

std::string text_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

Json parsed_or_null(const std::string& text) {
  Json json = Json::parse(text, nullptr, false);
  return json.is_discarded() ? Json() : json;
}

}  // namespace trammel
