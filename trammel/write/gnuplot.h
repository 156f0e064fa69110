// Runs gnuplot on a script, without a shell, temporary files or the user's start-up file.
#pragma once
#include <string>
#include <string_view>

namespace trammel {

// What gnuplot writes to its standard output (a picture, for a script without "set output"). Throws Failure if gnuplot
// is not installed, or stops with an error, whose text is shown.
std::string run_gnuplot(std::string_view script);

// A string of the script: quoted so that nothing in it is special, control characters made blanks.
std::string gnuplot_string(std::string_view text);

}  // namespace trammel
