// The table of all studies. A new one is a file of its own, its declaration and its line here.
#include "studies/study.h"

namespace trammel {

const std::vector<Study>& study_registry() {
  static const std::vector<Study> table{};
  return table;
}

}  // namespace trammel
