// Any bytes are a model that is read and checked, or a Failure; nothing else.
#include <cstdint>
#include <string_view>

#include "trammel/check/check_model.h"
#include "trammel/read/read_model.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trammel;
  ReadOptions options;  // files named inside are not looked for; one of them is a part of the same bytes
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  options.open = [text](const std::string& path) -> std::string {
    if (path.size() % 2 == 0) return std::string(text.substr(text.size() / 2));
    throw Failure({Severity::error, "cannot-read", "the fuzzer has no files", "", {}});
  };
  try {
    check_model(read_model_text(text, "fuzz.yaml", options));
  } catch (const Failure&) {
  }
  return 0;
}
