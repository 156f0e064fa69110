#include "studies/printed.h"

#include <fstream>

#include "studies/study.h"

namespace trammel {

nlohmann::json read_printed(const std::string& file) {
  const std::string path = study_file("data/" + file).string();
  std::ifstream in(path);
  try {
    if (in) return nlohmann::json::parse(in);
  } catch (const nlohmann::json::exception& e) {
    throw Failure({Severity::error,
                   "bad-reference",
                   std::string("the numbers cannot be read: ") + e.what(),
                   "",
                   {intern(path), 0, 0}});
  }
  throw Failure({Severity::error,
                 "bad-reference",
                 "the file cannot be read",
                 "is TRAMMEL_DATA set to another folder?",
                 {intern(path), 0, 0}});
}

}  // namespace trammel
