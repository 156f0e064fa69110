// Plots: scripts, pictures, patterns, awkward names, missing gnuplot.
#include "trammel/write/plot.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>

#include "tests/write/sample.h"
#include "trammel/write/gnuplot.h"

namespace trammel::plot_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const char* const odd_name = "body.it's `touch pwned` \"x\" {/:Bold y}_z^2 <&> $PATH @x %d \\n | # ' caf\xc3\xa9.angle";

MemoryTrajectory wave(std::size_t rows = 200, RunStatus status = RunStatus::finished) {
  std::vector<Table> tables(2);
  tables[0].name = "output";
  tables[0].signals = {{"time", "s", "", "", false, ""},
                       {"body.crank.position.x", "m", "world", "", false, ""},
                       {"body.rod.position.x", "m", "world", "", false, ""},
                       {"joint.pin.force.z", "N", "world", "", true, "least-norm reaction, L = 0.5 m"},
                       {"energy.total", "J", "", "", false, ""},
                       {odd_name, "rad/s^2", "", "", false, ""},
                       {"force.gap.value", "", "", "", false, ""}};
  tables[1].name = "steps";
  tables[1].signals = {{"time", "s", "", "", false, ""}, {"solver.step_size", "s", "", "", false, ""}};
  Provenance provenance;
  provenance.set("title", "Slider-crank");
  provenance.set("method", "hht-i3");
  MemoryTrajectory memory;
  memory.begin(tables, provenance);
  for (std::size_t i = 0; i < rows; ++i) {
    const double t = 0.01 * static_cast<double>(i);
    const double nothing = std::numeric_limits<double>::quiet_NaN();
    const std::vector<double> row{t, std::sin(3 * t), std::cos(3 * t), 1e3 * std::sin(t), 5 + 1e-9 * t, t * t, nothing};
    EXPECT_TRUE(memory.append(0, row));
    EXPECT_TRUE(memory.append(1, std::vector<double>{t + 0.01, 1e-3 * (1 + t)}));
  }
  memory.finish(status, "", "");
  return memory;
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(PlotOfSignals, OnePanelPerUnit) {
  const auto request = plot_of_signals(wave(), {"body.*.position.x", "joint.pin.force", "energy.total"});
  ASSERT_EQ(request.panels.size(), 3u);
  EXPECT_EQ(request.panels[0].curves.size(), 2u);
  EXPECT_EQ(request.panels[0].ylabel, "position [m]");
  EXPECT_EQ(request.panels[1].ylabel, "force [N]");
  EXPECT_EQ(request.panels[2].ylabel, "energy [J]");
  EXPECT_EQ(request.panels[0].curves[1].label, "body.rod.position.x");
  EXPECT_EQ(request.xlabel, "time [s]");
  EXPECT_EQ(request.title, "Slider-crank");
  EXPECT_EQ(request.subtitle, "hht-i3");
}

TEST(PlotOfSignals, CaveatsAreShown) {
  const auto request = plot_of_signals(wave(50, RunStatus::interrupted), {"joint.*"});
  EXPECT_EQ(request.panels[0].curves[0].label, "joint.pin.force.z *");
  ASSERT_EQ(request.notes.size(), 2u);
  EXPECT_EQ(request.notes[0], "* least-norm reaction, L = 0.5 m");
  EXPECT_EQ(request.notes[1], "The run was interrupted; recorded up to 0.49 s.");
}

TEST(PlotOfSignals, PhasePlotAndWindow) {
  PlotOptions options;
  options.x = "body.crank.position.x";
  options.from = 0.5;
  options.to = 1.0;
  options.one_panel = true;
  const auto request = plot_of_signals(wave(), {"body.rod.position.x", "energy.total"}, options);
  ASSERT_EQ(request.panels.size(), 1u);
  EXPECT_EQ(request.xlabel, "body.crank.position.x [m]");
  EXPECT_EQ(request.panels[0].curves[0].x.size(), 51u);
  EXPECT_DOUBLE_EQ(request.panels[0].curves[0].x[0], std::sin(1.5));
  EXPECT_DOUBLE_EQ(request.panels[0].curves[0].y[0], std::cos(1.5));
}

TEST(PlotOfSignals, Refusals) {
  const auto memory = wave();
  const auto refused = [&](const std::vector<std::string>& patterns, const PlotOptions& options,
                           const std::string& id) {
    return sample::expect_failure([&] { plot_of_signals(memory, patterns, options); }, id, ExitCode::bad_usage);
  };
  EXPECT_THAT(refused({"energy.totl"}, {}, "unknown-signal"), HasSubstr("energy.total"));
  refused({}, {}, "nothing-to-draw");
  PlotOptions other_table;
  other_table.x = "solver.step_size";
  refused({"energy.total"}, other_table, "different-times");
  PlotOptions unknown_x;
  unknown_x.x = "none";
  refused({"energy.total"}, unknown_x, "unknown-signal");
  PlotOptions late;
  late.from = 100;
  refused({"energy.total"}, late, "nothing-to-draw");
  sample::expect_failure([&] { plot_of_signals(wave(0), {"energy.total"}); }, "nothing-to-draw", ExitCode::bad_usage);
}

TEST(PlotOfSignals, TooManyAreRefused) {
  std::vector<Table> tables(1);
  tables[0].name = "output";
  tables[0].signals.push_back({"time", "s", "", "", false, ""});
  for (int i = 0; i < 1000; ++i)
    tables[0].signals.push_back({"chain.link_" + std::to_string(i), "", "", "", false, ""});
  MemoryTrajectory memory;
  memory.begin(tables, {});
  sample::expect_failure([&] { plot_of_signals(memory, {"*"}); }, "too-many-signals", ExitCode::bad_usage);
}

TEST(GnuplotScript, LongCurvesAreReducedButKeepTheirPeaks) {
  PlotCurve curve;
  for (int i = 0; i < 1000000; ++i) {
    curve.x.push_back(i);
    curve.y.push_back(i == 777777 ? 5.0 : std::sin(0.1 * i));
  }
  PlotRequest request;
  request.panels.push_back({"y", {curve}, false});
  const std::string script = gnuplot_script(request, "png");
  EXPECT_LT(script.size(), 300000u);
  EXPECT_THAT(script, HasSubstr("\n777777 5\n"));
}

TEST(GnuplotScript, SmallChangesOfLargeNumbersAreVisible) {
  PlotRequest request;
  request.panels.push_back({"energy [J]", {{{0, 1, 2}, {9.81, 9.81 + 1e-9, 9.81 + 2e-9}, "", {}, false}}, false});
  const std::string script = gnuplot_script(request, "png");
  EXPECT_THAT(script, HasSubstr("\xc3\x97"
                                "10\xe2\x81\xbb\xe2\x81\xb9 + 9.81"));
  EXPECT_THAT(script, HasSubstr("\n0 0\n1 "));
}

TEST(GnuplotScript, NothingToDraw) {
  PlotRequest request;
  sample::expect_failure([&] { gnuplot_script(request, "png"); }, "nothing-to-draw", ExitCode::cannot_write);
  const double nan = std::nan("");
  request.panels.push_back({"y", {{{0, 1}, {nan, nan}, "", {}, false}}, false});
  sample::expect_failure([&] { gnuplot_script(request, "png"); }, "nothing-to-draw", ExitCode::cannot_write);
  request.panels[0] = {"y", {{{0, 1}, {-1, -2}, "", {}, false}}, true};
  const auto text =
      sample::expect_failure([&] { gnuplot_script(request, "png"); }, "nothing-to-draw", ExitCode::cannot_write);
  EXPECT_THAT(text, HasSubstr("no positive values"));
}

class Gnuplot : public ::testing::Test {
 protected:
  sample::TemporaryFolder folder_;
};

TEST_F(Gnuplot, DrawsPng) {
  const std::string path = folder_ / "a.png";
  plot_signals(wave(), {"body.*.position.x", "joint.pin.force.z"}, path);
  const std::string png = bytes_of(path);
  EXPECT_THAT(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
  EXPECT_GT(png.size(), 5000u);
  EXPECT_EQ(png.substr(png.size() - 8, 4), "IEND");
}

TEST_F(Gnuplot, OddNamesAreOnlyText) {
  // In the name of the file as well: nothing is run, nothing is interpreted.
  const std::string path = folder_ / "|touch pwned; 'x` $(y).svg";
  const auto here = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  PlotOptions options;
  options.title = std::string(odd_name) + "\nset output 'pwned'\n!touch pwned";
  plot_signals(wave(), {odd_name, "energy.total"}, path, options);
  std::filesystem::current_path(here);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "pwned"));
  const std::string svg = bytes_of(path);
  EXPECT_THAT(svg, HasSubstr("</svg>"));
  EXPECT_THAT(
      svg,
      HasSubstr("body.it's `touch pwned` \"x\" {/:Bold y}_z^2 &lt;&amp;> $PATH @x %d \\n | # ' caf\xc3\xa9.angle"));
}

TEST_F(Gnuplot, DrawsEveryOption) {
  PlotOptions options;
  options.logy = options.logx = true;
  options.from = 0.1;
  options.style = PlotStyle::linespoints;
  options.width = 700;
  options.height = 500;
  plot_signals(wave(), {"solver.step_size", "energy.total"}, folder_ / "log.png", options);
  EXPECT_GT(bytes_of(folder_ / "log.png").size(), 3000u);

  PlotOptions path;
  path.x = "body.crank.position.x";
  path.equal_axes = true;
  path.style = PlotStyle::points;
  plot_signals(wave(), {"body.rod.position.x"}, folder_ / "path.svg", path);
  EXPECT_GT(bytes_of(folder_ / "path.svg").size(), 3000u);
}

TEST_F(Gnuplot, CurvesWithoutValuesStayInTheLegend) {
  PlotOptions options;
  options.one_panel = true;
  plot_signals(wave(), {"body.crank.position.x", "force.gap.value"}, folder_ / "gap.svg", options);
  EXPECT_THAT(bytes_of(folder_ / "gap.svg"), HasSubstr("force.gap.value"));
}

TEST_F(Gnuplot, SinglePointsAndManyCurves) {
  PlotRequest request;
  PlotPanel panel{"many", {}, false};
  for (int i = 0; i < 60; ++i) panel.curves.push_back({{1}, {1.0 * i}, "curve_" + std::to_string(i), {}, i % 2 == 0});
  request.panels.assign(2, panel);
  draw_plot(request, folder_ / "many.svg");
  const std::string svg = bytes_of(folder_ / "many.svg");
  EXPECT_THAT(svg, HasSubstr("curve_3"));
  EXPECT_THAT(svg, HasSubstr("curve_22"));
  EXPECT_THAT(svg, HasSubstr("... and 37 more"));
}

TEST_F(Gnuplot, DrawsText) {
  const std::string text = draw_plot_text(plot_of_signals(wave(), {"body.crank.position.x"}), 80, 20);
  EXPECT_THAT(text, StartsWith("Slider-crank\nhht-i3\n"));
  EXPECT_THAT(text, HasSubstr("body.crank.position.x ***"));
  EXPECT_THAT(text, HasSubstr("time [s]"));
  EXPECT_THAT(text, Not(HasSubstr("\f")));
  plot_signals(wave(), {"energy.total"}, folder_ / "a.txt");
  EXPECT_THAT(bytes_of(folder_ / "a.txt"), HasSubstr("energy.total"));
}

TEST_F(Gnuplot, ErrorsAreShown) {
  const auto text = sample::expect_failure([] { run_gnuplot("set terminal dumb\nplot sin(\n"); }, "cannot-plot",
                                           ExitCode::cannot_write);
  EXPECT_THAT(text, HasSubstr("gnuplot says: invalid expression"));
  sample::expect_failure([] { run_gnuplot("x = 1\n"); }, "cannot-plot", ExitCode::cannot_write);
  // it stops at once and leaves a long script unread
  sample::expect_failure([] { run_gnuplot("exit\n" + std::string(5000000, '#')); }, "cannot-plot",
                         ExitCode::cannot_write);
}

TEST_F(Gnuplot, MissingProgramAndBadOutput) {
  const auto unknown = sample::expect_failure([&] { plot_signals(wave(), {"energy.total"}, folder_ / "a.gif"); },
                                              "unknown-format", ExitCode::cannot_write);
  EXPECT_THAT(unknown, HasSubstr(".png, .svg or .txt"));
  const auto no_folder = sample::expect_failure([&] { plot_signals(wave(), {"energy.total"}, folder_ / "no/a.png"); },
                                                "cannot-write", ExitCode::cannot_write);
  EXPECT_THAT(no_folder, HasSubstr("No such file or directory"));

  const std::string path = std::getenv("PATH") == nullptr ? "" : std::getenv("PATH");
  setenv("PATH", folder_.path().c_str(), 1);
  const auto missing = sample::expect_failure([&] { plot_signals(wave(), {"energy.total"}, folder_ / "a.png"); },
                                              "cannot-plot", ExitCode::cannot_write);
  setenv("PATH", path.c_str(), 1);
  EXPECT_THAT(missing, HasSubstr("apt install gnuplot-nox"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.png"));
}

}  // namespace
}  // namespace trammel::plot_test
