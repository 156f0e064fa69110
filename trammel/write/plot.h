// Draws curves with gnuplot: a PNG or SVG picture, or text for a terminal. plot_signals() draws signals of a result,
// those with different units in panels of their own, one above the other over the same x axis.
#pragma once
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trammel/write/trajectory.h"

namespace trammel {

enum class PlotStyle { lines, points, linespoints };
std::optional<PlotStyle> plot_style(std::string_view text);  // "lines", "points", "linespoints"

struct PlotCurve {
  std::vector<double> x, y;  // values that are not finite make gaps
  std::string label;         // in the legend; empty: not listed
  std::optional<PlotStyle> style;
  bool dashed = false;  // for references, asymptotes, limits
};

struct PlotPanel {
  std::string ylabel;
  std::vector<PlotCurve> curves;
  bool logy = false;
};

struct PlotRequest {
  std::string title;
  std::string subtitle;
  std::string xlabel;
  std::vector<PlotPanel> panels;   // from top to bottom
  std::vector<std::string> notes;  // small lines at the bottom
  bool logx = false;
  bool equal_axes = false;  // one unit of x as long as one of y: for paths in space
  PlotStyle style = PlotStyle::lines;
  int width = 0;  // pixels; 0: chosen from the number of panels
  int height = 0;
};

// Draws to a file, .png, .svg or .txt by its ending. Throws Failure (cannot_write): nothing to draw, gnuplot missing or
// in trouble, file not writable.
void draw_plot(const PlotRequest& request, const std::string& output);

// The plot as lines of text, for terminals.
std::string draw_plot_text(const PlotRequest& request, int columns = 100, int rows = 0);

// The script that gnuplot gets, for those who want to change it by hand. `format`: "png", "svg" or "txt".
std::string gnuplot_script(const PlotRequest& request, const std::string& format);

struct PlotOptions {
  std::string x;      // a signal instead of the time: a phase plot
  std::string title;  // empty: from the provenance
  bool logx = false, logy = false;
  bool equal_axes = false;
  bool one_panel = false;  // all units together
  PlotStyle style = PlotStyle::lines;
  int width = 0, height = 0;
  double from = -std::numeric_limits<double>::infinity();  // of the time
  double to = std::numeric_limits<double>::infinity();
};

// The request that shows all signals that fit the patterns (see match_signals). Flagged signals get their caveat as a
// note, unfinished runs theirs. Throws unknown_signal, or Failure (bad_usage) if there is nothing to show.
PlotRequest plot_of_signals(const MemoryTrajectory& result, const std::vector<std::string>& patterns,
                            const PlotOptions& options = {});

// Both steps: what `trammel plot RESULT SIGNAL... -o FILE` does.
void plot_signals(const MemoryTrajectory& result, const std::vector<std::string>& patterns, const std::string& output,
                  const PlotOptions& options = {});

}  // namespace trammel
