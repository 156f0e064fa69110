// Finds the data from the place of the library on the disk. The build defines TRAMMEL_SOURCE_DATA_DIR (absolute) and
// TRAMMEL_INSTALLED_DATA_DIR (relative to the folder of the installed library).
#include "trammel/base/data_directory.h"

#include <dlfcn.h>

#include <cstdlib>

namespace trammel {

namespace {
const char in_this_library = 0;
}

std::filesystem::path data_directory() {
  if (const char* chosen = std::getenv("TRAMMEL_DATA"); chosen != nullptr && *chosen != '\0') return chosen;

  Dl_info library;
  if (dladdr(&in_this_library, &library) != 0 && library.dli_fname != nullptr) {
    std::error_code failed;
    const auto folder = std::filesystem::absolute(library.dli_fname, failed).parent_path();
    const auto installed = std::filesystem::weakly_canonical(folder / TRAMMEL_INSTALLED_DATA_DIR, failed);
    if (!failed && std::filesystem::is_directory(installed, failed)) return installed;
  }
  return TRAMMEL_SOURCE_DATA_DIR;
}

}  // namespace trammel
