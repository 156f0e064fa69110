// Any bytes are a closed mesh with a volume, or a Failure; nothing else. The first byte chooses the kind of file.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "trammel/read/mesh.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trammel;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    const Mesh mesh = read_mesh(bytes, data[0] % 2 == 0 ? "a.stl" : "a.obj");
    if (!(solid(mesh, 1).mass > 0)) std::abort();
  } catch (const Failure&) {
  }
  return 0;
}
