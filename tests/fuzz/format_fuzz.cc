// Any bytes are laid out to a text that is laid out already, or refused with a Failure; nothing else.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "trammel/base/diagnosis.h"
#include "trammel/read/format.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trammel;
  std::string once;
  try {
    once = format_model_text({reinterpret_cast<const char*>(data), size}, "fuzz.yaml");
  } catch (const Failure&) {
    return 0;
  }
  try {
    (void)format_model_text(once, "fuzz.yaml");
  } catch (const Failure&) {
    std::abort();  // what was laid out once can be laid out again
  }
  return 0;
}
