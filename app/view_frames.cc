#include "app/view_frames.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "app/view_browser.h"
#include "trammel/base/diagnosis.h"
#include "trammel/base/numbers.h"
#include "trammel/write/output_path.h"

namespace trammel {
namespace {

constexpr int most_frames = 100'000;

std::string from_base64(std::string_view text) {
  std::string out;
  unsigned word = 0, bits = 0;
  for (const char c : text) {
    unsigned digit = 0;
    if (c >= 'A' && c <= 'Z')
      digit = static_cast<unsigned>(c - 'A');
    else if (c >= 'a' && c <= 'z')
      digit = static_cast<unsigned>(c - 'a') + 26;
    else if (c >= '0' && c <= '9')
      digit = static_cast<unsigned>(c - '0') + 52;
    else if (c == '+' || c == '/')
      digit = c == '+' ? 62 : 63;
    else
      break;
    word = word << 6 | digit;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    out += static_cast<char>(word >> bits & 0xff);
  }
  return out;
}

void make_empty_folder(const std::string& folder) {
  std::error_code trouble;
  std::filesystem::create_directories(folder, trouble);
  if (trouble || !std::filesystem::is_directory(folder, trouble))
    throw write_failure("cannot-write", "the folder '" + folder + "' cannot be made", "choose another one");
  if (!std::filesystem::is_empty(folder, trouble)) {
    throw write_failure("will-not-overwrite", "the folder '" + folder + "' is not empty: it is left as it is",
                        "choose a new one, or empty it first");
  }
}

std::string frame_name(const std::string& folder, int frame) {
  char name[16];
  std::snprintf(name, sizeof name, "%04d.png", frame);
  return (std::filesystem::path(folder) / name).string();
}

}  // namespace

int write_frames(const std::string& page, const FrameOptions& options) {
  make_empty_folder(options.folder);
  Browser browser(page, options.width, options.height);
  const Json span = browser.evaluate("[trammel.run.time[0], trammel.run.end]");
  const double begin = span.at(0).get<double>(), end = span.at(1).get<double>();
  const double wanted = std::floor((end - begin) * options.rate * (1 + 1e-9)) + 1;
  if (wanted > most_frames) {
    throw write_failure("too-large", "the film would have more than " + std::to_string(most_frames) + " pictures",
                        "take a lower --frame-rate");
  }
  const int frames = static_cast<int>(wanted);
  for (int frame = 0; frame < frames; ++frame) {
    const Json address = browser.evaluate("trammel.picture(" + shortest(begin + frame / options.rate) + ")");
    constexpr std::string_view head = "data:image/png;base64,";
    const std::string text = address.is_string() ? address.get<std::string>() : "";
    if (!text.starts_with(head))
      throw write_failure("cannot-draw", "the browser did not draw picture " + std::to_string(frame), "");
    write_whole_file(frame_name(options.folder, frame), from_base64(std::string_view(text).substr(head.size())),
                     OutputKind::picture);
  }
  return frames;
}

}  // namespace trammel
