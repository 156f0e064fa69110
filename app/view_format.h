// The format "TRV1" in which a result travels inside a page of the viewer; viewer/src/trv1.ts reads it.
//
//   gzip( "TRV1", u32 length of the header, header as UTF-8 JSON padded with blanks to 4 bytes, chunks )
//
// all little-endian. A chunk holds `count` columns of `rows` numbers, column by column, as 32-bit words whose first
// bytes all come first, then all second bytes, and so on: equal bytes stand together, and gzip finds them. Its place
// and kind are in the header:
//
//   {"at", "bytes", "rows", "count", "kind": "dd" | "f32", "step": [quantum of each column],
//    "missing": [[column, first row, number of rows], ...]}
//
//   dd   q = round(x / step); the words are q0, q1 - q0, then q - 2 q' + q'', sign folded into the lowest bit. Sums of
//        integers are exact, so errors do not add up: every value comes out to half a quantum.
//   f32  32-bit floats.
//
// On results of a vehicle this is 5 to 12 times smaller than 32-bit floats after gzip.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace trammel {

using Json = nlohmann::ordered_json;

using ViewColumns = std::vector<std::vector<double>>;  // all of one length

class ViewFile {
 public:
  // Both return the chunk's entry for the header. Values that are not finite have no quantum and are listed as missing.
  Json add_quantised(const ViewColumns& columns, const std::vector<double>& steps);
  Json add_floats(const ViewColumns& columns);

  // Can the column be coded with this quantum? Second differences must fit into 32 bits.
  static bool fits(const std::vector<double>& column, double step);

  std::size_t bytes() const { return chunks_.size(); }
  std::string packed(const Json& header) const;

 private:
  Json add_words(const std::vector<std::uint32_t>& words, std::size_t rows, std::size_t count, const char* kind);
  std::string chunks_;
};

std::string gzip(std::string_view bytes);
std::string gunzip(std::string_view bytes);  // throws std::runtime_error where they are damaged
std::string base64(std::string_view bytes);

}  // namespace trammel
