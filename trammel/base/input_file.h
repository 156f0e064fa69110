// Files that are read whole, whatever a name turns out to stand for: folders and devices are refused, a pipe is waited
// for with patience that ends, sizes are bounded. What a run reads is remembered, so that it writes nothing over it.
#pragma once
#include <cstdint>
#include <string>

#include "trammel/base/diagnosis.h"

namespace trammel {

inline constexpr std::uint64_t largest_input_file = std::uint64_t{128} << 20;  // bytes; about 200,000 bodies

// Throws Failure with `code`: not-a-file, cannot-read or too-large.
std::string read_whole_file(const std::string& path, std::uint64_t most_bytes = largest_input_file,
                            ExitCode code = ExitCode::bad_model);

// The file is read by this run, under whatever name. A file that was changed or replaced afterwards is another one.
void note_input(const std::string& path);
bool is_noted_input(const std::string& path);

}  // namespace trammel
