// A run as pictures, one file for each frame of a film: drawn by the page itself in a browser without a window.
#pragma once
#include <string>

namespace trammel {

struct FrameOptions {
  std::string folder;  // empty: no pictures
  double rate = 30;    // a second of the run
  int width = 1280, height = 720;
};

// Of the text of a page: writes folder/0000.png and so on, and returns how many. The folder must be new or empty.
// Throws Failure.
int write_frames(const std::string& page, const FrameOptions& options);

}  // namespace trammel
