// trammel view RESULT: the mechanism in motion, as one page for the browser. Of a model without a run, as it is
// assembled; of two results, the second as a ghost in the first.
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "app/common.h"
#include "app/verbs.h"
#include "app/view_data.h"
#include "app/view_frames.h"
#include "app/view_model.h"
#include "app/view_page.h"
#include "trammel/base/input_file.h"
#include "trammel/base/printable.h"
#include "trammel/write/output_path.h"
#include "trammel/write/read_trajectory.h"

namespace trammel {
namespace {

struct ViewArguments {
  std::vector<std::string> results;
  std::string output;
  ViewOptions options;
  FrameOptions frames;
  std::string frame_size = "1280x720";
  bool json = false;
};

// Without a shell in between, so that no name can be taken for a command.
void open_in_browser(const std::string& path) {
  const pid_t child = fork();
  if (child == 0) {
    execlp("xdg-open", "xdg-open", path.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
    std::printf("No browser could be started here: open %s yourself.\n", printable(path).c_str());
}

AssembledModel read_result_or_model(const std::string& path) {
  if (is_model_file(path)) return assembled_model(path);
  std::vector<Problem> notes;
  AssembledModel read{read_trajectory(path, {}, &notes), {}};
  for (const Problem& note : notes) std::fprintf(stderr, "%s\n", to_text(note).c_str());
  return read;
}

// Pixels of "1280x720".
void set_frame_size(const std::string& text, FrameOptions& frames) {
  char rest = 0;
  if (std::sscanf(text.c_str(), "%5dx%5d%c", &frames.width, &frames.height, &rest) == 2 && frames.width >= 16 &&
      frames.height >= 16 && frames.width <= 8192 && frames.height <= 8192)
    return;
  throw read_failure("bad-usage", "--frame-size '" + text + "' is not a size in pixels", "write 1280x720");
}

int frames_verb(const ViewArguments& a, const std::string& page) {
  FrameOptions frames = a.frames;
  set_frame_size(a.frame_size, frames);
  const int count = write_frames(page, frames);
  if (a.json) {
    print_json({{"exit_code", 0}, {"frames", count}, {"folder", frames.folder}});
    return 0;
  }
  const std::string folder = printable(frames.folder);
  std::printf("%s: %d pictures\nA film of them: ffmpeg -framerate %g -i %s/%%04d.png -pix_fmt yuv420p film.mp4\n",
              folder.c_str(), count, frames.rate, folder.c_str());
  return 0;
}

int view_verb(const ViewArguments& a) {
  const std::string output =
      a.output.empty() ? std::filesystem::path(a.results[0]).stem().string() + ".html" : a.output;
  std::vector<std::string> packed;
  std::string title;
  std::size_t data_bytes = 0;
  for (const std::string& path : a.results) {
    const AssembledModel read = read_result_or_model(path);
    note_input(path);
    if (packed.empty()) title = read.result.provenance().get("title");
    packed.push_back(view_data(read.result, a.options, {read.sweeps, {}}));
    data_bytes += packed.back().size();
  }
  const std::string page = page_with_data(title, packed);
  if (!a.frames.folder.empty()) return frames_verb(a, page);
  write_page(output, page);
  if (a.json) {
    print_json({{"exit_code", 0}, {"page", output}, {"bytes", page.size()}, {"data_bytes", data_bytes}});
    return 0;
  }
  std::printf("%s: %.2f MB, of which the data %.0f kB\n", printable(output).c_str(),
              1e-6 * static_cast<double>(page.size()), 1e-3 * static_cast<double>(data_bytes));
  if (a.output.empty()) open_in_browser(output);
  return 0;
}

}  // namespace

Verb add_view(CLI::App& app) {
  auto a = std::make_shared<ViewArguments>();
  CLI::App* verb = app.add_subcommand("view", "Show a result in the browser, as one page without server or network");
  verb->add_option("RESULT", a->results,
                   "Result of `trammel run` or of an analysis, HDF5 or CSV; or a model file, as it is assembled; "
                   "a second one is drawn as a ghost")
      ->required()
      ->expected(1, 2);
  verb->add_option("-o,--output", a->output,
                   "Page to write; without it, RESULT with .html in the current folder, opened in the browser")
      ->type_name("FILE");
  verb->add_option("--signals", a->options.signals, "Only these signals, as in `trammel plot`; may be repeated")
      ->type_name("PATTERN")
      ->expected(1)
      ->take_all();
  verb->add_option("--every", a->options.every, "Only every so many rows")->check(CLI::Range(1, 1000000));
  verb->add_flag("--exact", a->options.exact, "Signals as 32-bit floats, not rounded to a millionth of their range");
  CLI::Option* frames = verb->add_option("--frames", a->frames.folder,
                                         "Write pictures into this folder instead of a page; needs chromium")
                            ->type_name("FOLDER");
  verb->add_option("--frame-rate", a->frames.rate, "Pictures for each second of the run")
      ->check(CLI::Range(1e-3, 1e4))
      ->needs(frames)
      ->capture_default_str();
  verb->add_option("--frame-size", a->frame_size, "Size of the pictures in pixels")
      ->type_name("WxH")
      ->needs(frames)
      ->capture_default_str();
  verb->add_flag("--json", a->json, "Print the outcome as JSON, and open nothing");
  verb->footer(
      "Examples:\n"
      "  trammel view run.h5                                     opens it in the browser\n"
      "  trammel view run.h5 -o run.html                         a page to keep or to send\n"
      "  trammel view run.h5 --signals 'joint.*' --every 2 -o run.html\n"
      "  trammel view model.yaml                                 the mechanism as it is assembled, a slider for each "
      "freedom\n"
      "  trammel view coarse.h5 fine.h5 -o both.html             the second as a ghost, its curves dashed\n"
      "  trammel view run.h5 --frames film --frame-rate 25       pictures film/0000.png, ... for a film\n"
      "\n"
      "Mode shapes have a page of their own: trammel modes model.yaml --page modes.html\n"
      "The page holds everything it shows. It asks nothing of any server and runs in every browser since 2023.");
  return {verb, [a] { return view_verb(*a); }};
}

}  // namespace trammel
