# cmake -DINPUT=FILE -DOUTPUT=FILE.cc -P EmbedFile.cmake: the bytes of INPUT as embedded_page(); none without INPUT.
set(bytes "")
if(INPUT)
  file(READ "${INPUT}" hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "((0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,))" "\\1\n" bytes "${bytes}")
endif()
file(WRITE "${OUTPUT}" "// Made by cmake/EmbedFile.cmake.
#include \"app/view_page.h\"
namespace trammel {
static const unsigned char bytes[] = {
${bytes}0};
std::string_view embedded_page() { return {reinterpret_cast<const char*>(bytes), sizeof bytes - 1}; }
}  // namespace trammel
")
