// Plots as gnuplot scripts with their data inline; see plot.h. The layout is computed here, in pixels, because
// gnuplot's own leaves panels of different widths and legends on top of the curves.
#include "trammel/write/plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "trammel/base/numbers.h"
#include "trammel/base/printable.h"
#include "trammel/write/gnuplot.h"
#include "trammel/write/output_path.h"

namespace trammel {

std::optional<PlotStyle> plot_style(std::string_view text) {
  if (text == "lines") return PlotStyle::lines;
  if (text == "points") return PlotStyle::points;
  if (text == "linespoints") return PlotStyle::linespoints;
  return std::nullopt;
}

namespace {

// Okabe and Ito, "Color Universal Design" (2008), without its yellow, which is lost on white.
constexpr std::array<const char*, 7> plot_colours{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                  "#56B4E9", "#E69F00", "#000000"};
constexpr std::array<int, 7> plot_markers{7, 5, 9, 13, 11, 6, 4};

// Anchors of viridis (van der Walt and Smith, matplotlib), without its pale end: for families of many curves.
constexpr std::array<std::array<int, 3>, 6> family_colours{
    {{68, 1, 84}, {65, 68, 135}, {42, 120, 142}, {34, 168, 132}, {122, 209, 81}, {189, 200, 40}}};

// The colour of curve `index` of `count`.
std::string curve_colour(std::size_t index, std::size_t count) {
  if (count <= 2 * plot_colours.size()) return plot_colours[index % plot_colours.size()];
  const double place = static_cast<double>(index) * (family_colours.size() - 1) / static_cast<double>(count - 1);
  const std::size_t from = std::min<std::size_t>(static_cast<std::size_t>(place), family_colours.size() - 2);
  std::string colour = "#";
  for (std::size_t k = 0; k < 3; ++k) {
    const double part = place - static_cast<double>(from);
    const int value =
        static_cast<int>(std::lround((1 - part) * family_colours[from][k] + part * family_colours[from + 1][k]));
    colour += "0123456789ABCDEF"[value / 16];
    colour += "0123456789ABCDEF"[value % 16];
  }
  return colour;
}

struct PlotRange {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool empty() const { return low > high; }
  double size() const { return high - low; }
  PlotRange grown_to(double new_size) const {
    const double middle = 0.5 * (low + high);
    return {middle - 0.5 * new_size, middle + 0.5 * new_size};
  }
};

bool can_draw(double value, bool logarithmic) { return std::isfinite(value) && (!logarithmic || value > 0); }

struct CurvePoints {
  std::vector<double> x, y;
};

// Long curves, reduced to what can be seen: within each of `columns` strips of x the first, lowest, highest and last
// point. A curve that runs back and forth in x is thinned only where it does not move.
CurvePoints visible_points(const PlotCurve& curve, const PlotRange& xrange, const PlotRange& yrange,
                           std::size_t columns, bool logx) {
  const std::size_t count = std::min(curve.x.size(), curve.y.size());
  CurvePoints points;
  if (count <= 6 * columns) {
    points.x.assign(curve.x.begin(), curve.x.begin() + static_cast<std::ptrdiff_t>(count));
    points.y.assign(curve.y.begin(), curve.y.begin() + static_cast<std::ptrdiff_t>(count));
    return points;
  }
  const auto keep = [&](std::size_t i) {
    points.x.push_back(curve.x[i]);
    points.y.push_back(curve.y[i]);
  };
  const auto finite = [&](std::size_t i) { return std::isfinite(curve.x[i]) && std::isfinite(curve.y[i]); };
  if (!logx && std::is_sorted(curve.x.begin(), curve.x.begin() + static_cast<std::ptrdiff_t>(count))) {
    const double scale = static_cast<double>(columns) / std::max(xrange.size(), std::numeric_limits<double>::min());
    const auto strip = [&](std::size_t i) { return std::floor((curve.x[i] - xrange.low) * scale); };
    for (std::size_t first = 0; first < count;) {
      if (!finite(first)) {
        keep(first++);
        continue;
      }
      std::size_t last = first, low = first, high = first;
      for (std::size_t i = first; i < count && finite(i) && strip(i) == strip(first); ++i) {
        last = i;
        if (curve.y[i] < curve.y[low]) low = i;
        if (curve.y[i] > curve.y[high]) high = i;
      }
      std::array<std::size_t, 4> chosen{first, std::min(low, high), std::max(low, high), last};
      for (std::size_t k = 0; k < chosen.size(); ++k) {
        if (k == 0 || chosen[k] != chosen[k - 1]) keep(chosen[k]);
      }
      first = last + 1;
    }
    return points;
  }
  const double dx = 0.25 * xrange.size() / static_cast<double>(columns);
  const double dy = 0.25 * yrange.size() / static_cast<double>(columns);
  std::size_t previous = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const bool still = i > 0 && i + 1 < count && finite(i) && finite(previous) && !logx &&
                       std::abs(curve.x[i] - curve.x[previous]) < dx && std::abs(curve.y[i] - curve.y[previous]) < dy;
    if (still) continue;
    keep(i);
    previous = i;
  }
  return points;
}

// Characters on the screen, not bytes.
int text_width(std::string_view text, double pixels_per_character) {
  const auto count =
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
  return static_cast<int>(std::ceil(static_cast<double>(count) * pixels_per_character));
}

// Everything about a panel that layout and script need.
struct PreparedPanel {
  const PlotPanel* panel = nullptr;
  std::vector<bool> drawn;  // per curve: has a point that can be drawn
  PlotRange yrange;         // of the values as drawn, with some air; empty: left to gnuplot
  bool counts = false;      // few whole numbers: no ticks between them
  double offset = 0;        // drawn is (value - offset) / scale
  double scale = 1;
  std::string scale_text;  // "×10⁻⁹ + 9.81": what turns a tick into a value
  std::size_t legend = 0;  // entries shown
  std::size_t more = 0;    // entries that found no place
  bool legend_right = false;
  int legend_rows = 0;  // above the panel
  int height = 0;       // of the plot area
};

struct PreparedPlot {
  std::vector<PreparedPanel> panels;
  PlotRange xrange;
  bool equal_axes = false;
};

// "×10⁻⁹"
std::string power_of_ten(int exponent) {
  static const std::array<const char*, 10> digits{"\xe2\x81\xb0", "\xc2\xb9",     "\xc2\xb2",     "\xc2\xb3",
                                                  "\xe2\x81\xb4", "\xe2\x81\xb5", "\xe2\x81\xb6", "\xe2\x81\xb7",
                                                  "\xe2\x81\xb8", "\xe2\x81\xb9"};
  std::string text =
      "\xc3\x97"
      "10";
  for (const char c : std::to_string(exponent)) text += c == '-' ? "\xe2\x81\xbb" : digits[c - '0'];
  return text;
}

PreparedPlot prepare_plot(const PlotRequest& request) {
  PreparedPlot prepared;
  prepared.equal_axes =
      request.equal_axes && !request.logx &&
      std::none_of(request.panels.begin(), request.panels.end(), [](const PlotPanel& q) { return q.logy; });
  bool running_x = true;  // x never goes back, as time does
  for (const PlotPanel& panel : request.panels) {
    PreparedPanel ready;
    ready.panel = &panel;
    PlotRange values;
    double first = 0;
    bool whole = true;
    for (const PlotCurve& curve : panel.curves) {
      bool any = false;
      const std::size_t count = std::min(curve.x.size(), curve.y.size());
      for (std::size_t i = 0; i < count; ++i) {
        if (!can_draw(curve.x[i], request.logx) || !can_draw(curve.y[i], panel.logy)) continue;
        if (values.empty()) first = curve.y[i];
        any = true;
        whole = whole && curve.y[i] == std::floor(curve.y[i]);
        values.add(curve.y[i]);
        prepared.xrange.add(curve.x[i]);
      }
      running_x = running_x && std::is_sorted(curve.x.begin(), curve.x.end());
      ready.drawn.push_back(any);
    }
    if (values.empty()) {
      throw write_failure(
          "nothing-to-draw",
          "nothing to draw" + (panel.ylabel.empty() ? "" : " for '" + panel.ylabel + "'") +
              (panel.logy || request.logx ? ": no positive values for a logarithmic axis" : ": no finite values"));
    }
    if (panel.logy) {
      // With less than a decade gnuplot's own choice has more ticks.
      if (values.high > 10 * values.low) {
        const double air = std::pow(values.high / values.low, 0.05);
        ready.yrange = {values.low / air, values.high * air};
      }
    } else {
      const double largest = std::max(std::abs(values.low), std::abs(values.high));
      const bool constant = values.size() <= 1e-14 * largest;  // but for rounding
      // Ticks of six digits cannot show a change in the seventh: show the difference instead.
      if (!constant && !prepared.equal_axes && values.size() < 1e-5 * largest) {
        ready.offset = first;
        values.low -= first;
        values.high -= first;
      }
      const double shown = std::max(std::abs(values.low), std::abs(values.high));
      if (shown > 0 && (shown < 1e-3 || shown >= 1e5) && !prepared.equal_axes) {  // keeps the ticks short
        const int exponent = 3 * static_cast<int>(std::floor(std::log10(shown) / 3));
        ready.scale = std::pow(10.0, exponent);
        ready.scale_text = power_of_ten(exponent);
      }
      if (ready.offset != 0) {
        ready.scale_text += (ready.scale_text.empty() ? "" : " ") + std::string(first < 0 ? "\xe2\x88\x92 " : "+ ");
        ready.scale_text += shortest(std::abs(first));
      }
      ready.counts = whole && values.size() <= 10;
      double air = 0.06 * values.size();
      if (constant) air = largest > 0 ? 0.1 * largest : 1.0;
      ready.yrange = {(values.low - air) / ready.scale, (values.high + air) / ready.scale};
    }
    prepared.panels.push_back(std::move(ready));
  }
  if (prepared.panels.empty()) throw write_failure("nothing-to-draw", "nothing to draw: no panels");

  PlotRange& x = prepared.xrange;
  if (request.logx) {
    const double air = std::max(1.02, std::pow(x.high / x.low, 0.03));
    x = {x.low / air, x.high * air};
  } else if (x.size() <= 0) {
    const double air = x.low != 0 ? 0.1 * std::abs(x.low) : 1.0;
    x = {x.low - air, x.high + air};
  } else if (!running_x) {
    x = {x.low - 0.04 * x.size(), x.high + 0.04 * x.size()};
  } else if (x.low > 0 && x.low < 0.02 * x.high) {
    x.low = 0;  // steps begin after the first one
  }
  return prepared;
}

void put_data_blocks(std::string& script, const PlotRequest& request, const PreparedPlot& prepared,
                     std::size_t columns) {
  for (std::size_t p = 0; p < prepared.panels.size(); ++p) {
    const PreparedPanel& ready = prepared.panels[p];
    for (std::size_t c = 0; c < ready.panel->curves.size(); ++c) {
      if (!ready.drawn[c]) continue;
      const CurvePoints points =
          visible_points(ready.panel->curves[c], prepared.xrange, ready.yrange, columns, request.logx);
      script += "$p" + std::to_string(p) + "c" + std::to_string(c) + " << END_OF_DATA\n";
      for (std::size_t i = 0; i < points.x.size(); ++i) {
        const double x = points.x[i], y = points.y[i];
        const bool fine = can_draw(x, request.logx) && can_draw(y, ready.panel->logy);
        script += fine ? shortest(x) + " " + shortest((y - ready.offset) / ready.scale) + "\n" : "NaN NaN\n";
      }
      script += "END_OF_DATA\n";
    }
  }
}

std::string range_text(const PlotRange& range) { return "[" + shortest(range.low) + ":" + shortest(range.high) + "]"; }

// "plot ..." with all curves of a panel.
std::string plot_command(const PlotRequest& request, const PreparedPanel& ready, std::size_t index, bool colours) {
  std::string command;
  std::size_t listed = 0;
  for (std::size_t c = 0; c < ready.panel->curves.size(); ++c) {
    const PlotCurve& curve = ready.panel->curves[c];
    const std::size_t points = std::min(curve.x.size(), curve.y.size());
    PlotStyle style = curve.style.value_or(request.style);
    if (points == 1) style = PlotStyle::points;  // a line of one point is invisible
    std::string look = style == PlotStyle::lines    ? " with lines"
                       : style == PlotStyle::points ? " with points"
                                                    : " with linespoints";
    if (colours) {
      const std::size_t count = ready.panel->curves.size();
      const bool second_round = c >= plot_colours.size() && count <= 2 * plot_colours.size();
      look += " lc rgb '" + curve_colour(c, count) + "'";
      if (style != PlotStyle::points) look += second_round || curve.dashed ? " lw 2 dt 2" : " lw 2 dt 1";
      if (style != PlotStyle::lines) {
        look += " pt " + std::to_string(plot_markers[(c + (second_round ? 1 : 0)) % plot_markers.size()]) + " ps 0.8";
        if (style == PlotStyle::linespoints && points > 40) look += " pointinterval " + std::to_string(points / 25);
      }
    }
    const bool in_legend = !curve.label.empty() && listed < ready.legend;
    const std::string title = in_legend ? " title " + gnuplot_string(curve.label) : " notitle";
    if (in_legend) ++listed;
    command += command.empty() ? "plot " : ", \\\n     ";
    command += ready.drawn[c] ? "$p" + std::to_string(index) + "c" + std::to_string(c) + " using 1:2" : "NaN";
    command += look;
    command += title;
  }
  if (ready.more > 0) {
    command += ", \\\n     NaN lc rgb '#ffffff' title ";
    command += gnuplot_string("... and " + std::to_string(ready.more) + " more");
  }
  return command + "\n";
}

constexpr double label_character = 7.6, legend_row = 20;  // pixels of DejaVu Sans as drawn below
constexpr int left_margin = 104, right_margin = 24, legend_sample = 52, tick_row = 26;

// Where things are in a picture, in pixels.
struct PictureLayout {
  int width = 0, height = 0, plot_width = 860, top = 14;
};

// The width: a legend at the right makes an automatic picture wider, so that the curves keep their room.
void lay_out_width(const PlotRequest& request, PreparedPlot& prepared, PictureLayout& layout) {
  int legend_width = 0;
  if (request.width > 0) layout.plot_width = std::max(200, request.width - left_margin - right_margin);
  if (prepared.equal_axes && request.width == 0) {
    for (const PreparedPanel& ready : prepared.panels) {
      const double wide = 640 * prepared.xrange.size() / ready.yrange.size();
      layout.plot_width = static_cast<int>(std::clamp(wide, 460.0, static_cast<double>(layout.plot_width)));
    }
  }
  for (PreparedPanel& ready : prepared.panels) {
    int entries = 0, widest = 0;
    for (const PlotCurve& curve : ready.panel->curves) {
      if (curve.label.empty()) continue;
      ++entries;
      widest = std::max(widest, legend_sample + text_width(curve.label, label_character));
    }
    const int per_row = std::max(1, layout.plot_width / std::max(widest, 1));
    const int rows = (entries + per_row - 1) / per_row;
    ready.legend = static_cast<std::size_t>(entries);
    ready.legend_right = rows > 2;
    ready.legend_rows = ready.legend_right ? 0 : rows;
    if (ready.legend_right) legend_width = std::max(legend_width, widest + 16);
  }
  if (request.width > 0) layout.plot_width = std::max(200, layout.plot_width - legend_width);
  layout.width = request.width > 0 ? request.width : left_margin + layout.plot_width + legend_width + right_margin;
}

// A legend at the right that is higher than its panel loses its last entries.
void fit_legend(const PlotRequest& request, PreparedPanel& ready) {
  const int needed = static_cast<int>(static_cast<double>(ready.legend) * legend_row);
  if (request.height == 0) ready.height = std::max(ready.height, std::min(needed, 24 * 20));
  const auto fitting = static_cast<std::size_t>(std::max(2.0, ready.height / legend_row));
  if (ready.legend <= fitting) return;
  ready.more = ready.legend - (fitting - 1);
  ready.legend = fitting - 1;
}

// The height, from top to bottom.
void lay_out_height(const PlotRequest& request, PreparedPlot& prepared, PictureLayout& layout) {
  const int panels = static_cast<int>(prepared.panels.size());
  if (!request.title.empty()) layout.top += 28;
  if (!request.subtitle.empty()) layout.top += 20;
  const int bottom = tick_row + (request.xlabel.empty() ? 8 : 30) + 19 * static_cast<int>(request.notes.size()) + 8;
  int usual = panels == 1 ? 420 : panels == 2 ? 260 : panels == 3 ? 210 : 180;
  int fixed = layout.top + bottom;
  for (const PreparedPanel& ready : prepared.panels) fixed += static_cast<int>(ready.legend_rows * legend_row) + 18;
  if (request.height > 0) usual = std::max(60, (request.height - fixed) / panels);
  layout.height = fixed;
  for (PreparedPanel& ready : prepared.panels) {
    ready.height = usual;
    if (prepared.equal_axes && request.height == 0) {
      const double high = layout.plot_width * ready.yrange.size() / prepared.xrange.size();
      ready.height = static_cast<int>(std::clamp(high, 160.0, 640.0));
    }
    if (ready.legend_right) fit_legend(request, ready);
    layout.height += ready.height;
  }
  if (request.height > 0) layout.height = request.height;
}

// The ranges grow until a unit is as long in y as in x.
void make_axes_equal(PreparedPlot& prepared, const PictureLayout& layout) {
  double pixels = layout.plot_width / prepared.xrange.size();
  for (const PreparedPanel& ready : prepared.panels) pixels = std::min(pixels, ready.height / ready.yrange.size());
  prepared.xrange = prepared.xrange.grown_to(layout.plot_width / pixels);
  for (PreparedPanel& ready : prepared.panels) ready.yrange = ready.yrange.grown_to(ready.height / pixels);
}

// Writes the script of a picture whose layout is known.
class PictureScript {
 public:
  PictureScript(const PlotRequest& request, const PictureLayout& layout, bool svg)
      : request_(request), layout_(layout), svg_(svg) {}

  std::string write(const PreparedPlot& prepared) {
    set_up();
    put_data_blocks(script_, request_, prepared, static_cast<std::size_t>(layout_.plot_width));
    script_ += "set multiplot\n";
    put_titles();
    script_ += "set lmargin at screen " + from_left(left_margin) + "\nset rmargin at screen " +
               from_left(left_margin + layout_.plot_width) + "\n";
    script_ += "set xrange " + range_text(prepared.xrange) + "\n";
    double y = layout_.top;
    for (std::size_t p = 0; p < prepared.panels.size(); ++p) {
      put_panel(prepared.panels[p], p, p + 1 == prepared.panels.size(), y);
      y += prepared.panels[p].legend_rows * legend_row + 10 + prepared.panels[p].height + 8;
    }
    return script_ + "unset multiplot\n";
  }

 private:
  std::string from_left(double pixels) const { return shortest(pixels / layout_.width); }
  std::string from_top(double pixels) const { return shortest(1 - pixels / layout_.height); }
  std::string font(double points, bool bold = false) const {
    if (svg_) return "'sans-serif," + shortest(std::round(points * 1.34)) + "'";  // in pixels, and never bold
    return std::string("'sans") + (bold ? ":Bold" : "") + "," + shortest(points) + "'";
  }
  std::string in_grey(double points) const { return " font " + font(points) + " textcolor rgb '#555555'"; }
  std::string in_black(double points) const { return " font " + font(points) + " textcolor rgb '#222222'"; }
  void put_label(const std::string& text, const std::string& x, double y, const std::string& look) {
    script_ += "set label " + std::to_string(++labels_) + " " + gnuplot_string(text) + " at screen " + x + "," +
               from_top(y) + " " + look + "\n";
  }

  void set_up() {
    script_ = svg_ ? "set terminal svg" : "set terminal pngcairo";
    script_ += " size " + std::to_string(layout_.width) + "," + std::to_string(layout_.height) + " noenhanced font " +
               font(11) + " background '#ffffff'\n";
    script_ +=
        "set encoding utf8\n"
        "set termoption noenhanced\n"
        "set border 3 lc rgb '#555555' lw 1\n"
        "set tics nomirror out scale 0.6 textcolor rgb '#222222'\n"
        "set grid lt 1 lc rgb '#e2e2e2' lw 1\n"
        "set format '%h'\n";
    if (request_.logx) script_ += "set logscale x\n";
  }

  void put_titles() {
    const std::string x = from_left(left_margin);
    if (!request_.title.empty()) {
      const double length = text_width(request_.title, 10.4);  // in size 14
      const double size = std::clamp(14.0 * (layout_.width - left_margin - 10) / length, 9.0, 14.0);
      put_label(request_.title, x, 24, "left font " + font(size, true));
    }
    if (!request_.subtitle.empty())
      put_label(request_.subtitle, x, request_.title.empty() ? 18 : 48, "left" + in_grey(10));
    for (std::size_t i = 0; i < request_.notes.size(); ++i) {
      const double y = layout_.height - 8 - 19 * static_cast<double>(request_.notes.size() - 1 - i) - 8;
      put_label(request_.notes[i], x, y, "left" + in_grey(9.5));
    }
  }

  void put_key(const PreparedPanel& ready, double legend_top, double y) {
    const std::string spacing = svg_ ? "0.95" : "1.2";  // both 18.5 pixels a row; with more gnuplot drops entries
    const std::string look = " Left reverse samplen 2.5 spacing " + spacing + in_black(10);
    if (ready.legend == 0) {
      script_ += "unset key\n";
    } else if (ready.legend_right) {
      script_ += "set key at screen " + from_left(left_margin + layout_.plot_width + 12) + "," + from_top(y - 4) +
                 " left top vertical maxcols 1" + look + "\n";
    } else {
      script_ += "set key at screen " + from_left(left_margin) + "," + from_top(legend_top + 2) +
                 " left top horizontal maxrows " + std::to_string(ready.legend_rows) + look + "\n";
    }
  }

  // From `legend_top` downwards: the legend, then the curves.
  void put_panel(const PreparedPanel& ready, std::size_t number, bool last, double legend_top) {
    const double y = legend_top + ready.legend_rows * legend_row + 10, middle = y + 0.5 * ready.height;
    script_ += "set tmargin at screen " + from_top(y) + "\nset bmargin at screen " + from_top(y + ready.height) + "\n";
    const double ylabel_length = std::max(1, text_width(ready.panel->ylabel, label_character));  // in size 10
    const double ylabel_size = std::clamp(10 * 1.15 * ready.height / ylabel_length, 8.0, 11.0);
    put_label(ready.panel->ylabel, from_left(18), middle, "center rotate by 90" + in_black(ylabel_size));
    if (!ready.scale_text.empty())
      put_label(ready.scale_text, from_left(38), middle, "center rotate by 90" + in_grey(9));
    script_ += last ? "set format x '%h'\n" : "set format x ''\n";
    if (last && !request_.xlabel.empty())
      put_label(request_.xlabel, from_left(left_margin + 0.5 * layout_.plot_width), y + ready.height + tick_row + 20,
                "center" + in_black(11));
    script_ += ready.panel->logy ? "set logscale y\n" : "unset logscale y\n";
    script_ += ready.counts ? "set ytics 1\n" : "set ytics autofreq\n";
    script_ += "set yrange " + (ready.yrange.empty() ? "[*:*]" : range_text(ready.yrange)) + "\n";
    put_key(ready, legend_top, y);
    script_ += plot_command(request_, ready, number, true);
    for (; labels_ > 0; --labels_) script_ += "unset label " + std::to_string(labels_) + "\n";  // once is enough
  }

  const PlotRequest& request_;
  const PictureLayout& layout_;
  bool svg_;
  std::string script_;
  int labels_ = 0;
};

// A picture of panels that share their left and right edges.
std::string picture_script(const PlotRequest& request, PreparedPlot& prepared, const std::string& format) {
  PictureLayout layout;
  lay_out_width(request, prepared, layout);
  lay_out_height(request, prepared, layout);
  if (prepared.equal_axes) make_axes_equal(prepared, layout);
  return PictureScript(request, layout, format == "svg").write(prepared);
}

std::string text_script(const PlotRequest& request, PreparedPlot& prepared, int columns, int rows) {
  std::string script =
      "set terminal dumb mono size " + std::to_string(columns) + "," + std::to_string(rows) +
      " noenhanced\nset encoding utf8\nset termoption noenhanced\nset format '%h'\nset key top center horizontal\n"
      "set key tmargin\n";
  if (request.logx) script += "set logscale x\n";
  put_data_blocks(script, request, prepared, 2 * static_cast<std::size_t>(columns));
  script += "set xrange " + range_text(prepared.xrange) + "\n";
  script += "set multiplot layout " + std::to_string(prepared.panels.size()) + ",1\n";
  for (std::size_t p = 0; p < prepared.panels.size(); ++p) {
    PreparedPanel& ready = prepared.panels[p];
    for (const PlotCurve& curve : ready.panel->curves) ready.legend += curve.label.empty() ? 0 : 1;
    script += ready.panel->logy ? "set logscale y\n" : "unset logscale y\n";
    script += ready.counts ? "set ytics 1\n" : "set ytics autofreq\n";
    script += "set yrange " + (ready.yrange.empty() ? "[*:*]" : range_text(ready.yrange)) + "\n";
    const std::string scaled = ready.scale_text.empty() ? "" : " (" + ready.scale_text + ")";
    script += "set title " + gnuplot_string(ready.panel->ylabel + scaled) + "\n";
    script += p + 1 == prepared.panels.size() ? "set xlabel " + gnuplot_string(request.xlabel) + "\n"
                                              : std::string("unset xlabel\n");
    script += plot_command(request, ready, p, false);
  }
  return script + "unset multiplot\n";
}

int text_rows(const PlotRequest& request) { return std::max(24, 18 * static_cast<int>(request.panels.size())); }

}  // namespace

std::string gnuplot_script(const PlotRequest& request, const std::string& format) {
  PreparedPlot prepared = prepare_plot(request);
  return format == "txt" ? text_script(request, prepared, 100, text_rows(request))
                         : picture_script(request, prepared, format);
}

std::string draw_plot_text(const PlotRequest& request, int columns, int rows) {
  PreparedPlot prepared = prepare_plot(request);
  const std::string drawing =
      run_gnuplot(text_script(request, prepared, columns, rows > 0 ? rows : text_rows(request)));
  std::string text;
  if (!request.title.empty()) text += printable(request.title) + "\n";
  if (!request.subtitle.empty()) text += printable(request.subtitle) + "\n";
  for (std::size_t begin = 0; begin < drawing.size();) {  // without form feeds, blank ends and blank first lines
    const std::size_t end = std::min(drawing.find('\n', begin), drawing.size());
    std::string line = drawing.substr(begin, end - begin);
    begin = end + 1;
    line.erase(std::remove(line.begin(), line.end(), '\f'), line.end());
    line.erase(line.find_last_not_of(' ') + 1);
    if (!line.empty() || !text.empty()) text += line + "\n";
  }
  while (text.size() > 1 && text[text.size() - 2] == '\n') text.pop_back();
  for (const std::string& note : request.notes) text += printable(note) + "\n";
  return text;
}

void draw_plot(const PlotRequest& request, const std::string& output) {
  const std::string extension = std::filesystem::path(output).extension().string();
  if (extension != ".png" && extension != ".svg" && extension != ".txt") {
    throw write_failure("unknown-format",
                        "cannot draw the plot '" + output + "': unknown kind of file '" + extension + "'",
                        "use a name that ends in .png, .svg or .txt");
  }
  const bool text = extension == ".txt";
  const OutputKind kind = text ? OutputKind::drawing : OutputKind::picture;
  check_output_path(output, kind);  // before the work
  const std::string picture =
      text ? draw_plot_text(request) : run_gnuplot(gnuplot_script(request, extension.substr(1)));
  if (text)
    write_whole_file(output, picture + std::string(drawing_mark), kind);
  else
    write_whole_file(output, picture, kind);
}

}  // namespace trammel
