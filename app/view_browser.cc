#include "app/view_browser.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "trammel/base/diagnosis.h"

namespace trammel {
namespace {

constexpr int patience = 120'000;  // ms for an answer: drawing in software takes 0.2 s a picture
constexpr int read_by_browser = 3, written_by_browser = 4;

[[noreturn]] void fail_browser(const std::string& what, const std::string& hint) {
  throw Failure({Severity::error, "cannot-draw", what, hint, {}}, ExitCode::cannot_write);
}

// In the child: the two ends at the numbers that Chromium expects, and no other file of ours.
[[noreturn]] void become_browser(int input, int output, const std::string& profile) {
  // Both may be at one of the wanted numbers: first out of the way.
  const int in = fcntl(input, F_DUPFD, 10), out = fcntl(output, F_DUPFD, 10);
  dup2(in, read_by_browser);
  dup2(out, written_by_browser);
  close(in);
  close(out);
  const int nowhere = open("/dev/null", O_RDWR);
  for (const int stream : {0, 1, 2}) dup2(nowhere, stream);
  const std::string folder = "--user-data-dir=" + profile;
  for (const char* name : {"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}) {
    std::vector<const char*> words{name,
                                   "--headless",
                                   "--remote-debugging-pipe",
                                   "--use-angle=swiftshader",
                                   "--enable-unsafe-swiftshader",
                                   "--ignore-gpu-blocklist",
                                   "--hide-scrollbars",
                                   "--no-first-run",
                                   folder.c_str()};
    if (geteuid() == 0) words.push_back("--no-sandbox");  // it refuses to start otherwise
    words.push_back(nullptr);
    execvp(name, const_cast<char* const*>(words.data()));
  }
  _exit(127);
}

}  // namespace

Browser::Browser(const std::string& page, int width, int height) {
  try {
    start();
    show(page, width, height);
  } catch (const Json::exception&) {
    end();
    fail_browser("the browser does not answer as a Chromium does", "install one (apt-get install chromium)");
  } catch (...) {  // no destructor runs for what was not made
    end();
    throw;
  }
}

Browser::~Browser() { end(); }

void Browser::show(const std::string& page, int width, int height) {
  const std::string file = profile_ + "/page.html";
  std::ofstream(file, std::ios::binary) << page;
  const Json target = call("Target.createTarget", {{"url", "file://" + file + "#bare"}});
  session_ = call("Target.attachToTarget", {{"targetId", target.at("targetId")}, {"flatten", true}}).at("sessionId");
  call("Emulation.setDeviceMetricsOverride",
       {{"width", width}, {"height", height}, {"deviceScaleFactor", 1}, {"mobile", false}});
  // The page may still be on its way, and what waits in the empty one before it is lost.
  Json ready;
  for (int attempt = 0; attempt < 600 && !ready.is_string(); ++attempt) {
    ready =
        evaluate("new Promise((done) => setTimeout(() => done(document.documentElement.dataset.ready ?? null), 100))");
  }
  if (ready == "1") return;
  const Json refusal = evaluate("document.querySelector('.refusal')?.textContent ?? ''");
  const std::string words = refusal.is_string() ? refusal.get<std::string>() : "";
  fail_browser(!words.empty() ? words : "the page does not come up in the browser",
               "open the page itself in a browser and look");
}

void Browser::end() {
  if (to_ >= 0) close(to_);  // it ends when nobody talks to it
  if (from_ >= 0) close(from_);
  to_ = from_ = -1;
  if (process_ > 0) {
    kill(process_, SIGTERM);
    waitpid(process_, nullptr, 0);
    process_ = -1;
  }
  if (profile_.empty()) return;
  // Its helpers end a moment later and may still write there.
  for (int attempt = 0; attempt < 20; ++attempt) {
    std::error_code trouble;
    std::filesystem::remove_all(profile_, trouble);
    if (!trouble) return;
    usleep(50'000);
  }
}

void Browser::start() {
  std::string folder = (std::filesystem::temp_directory_path() / "trammel-browser-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) fail_browser("no folder for the browser's profile can be made", "");
  profile_ = folder;
  std::array<int, 2> there{}, back{};
  if (pipe2(there.data(), O_CLOEXEC) != 0) fail_browser("no pipe to a browser can be made", "");
  to_ = there[1];
  if (pipe2(back.data(), O_CLOEXEC) != 0) {
    close(there[0]);
    fail_browser("no pipe to a browser can be made", "");
  }
  from_ = back[0];
  process_ = fork();
  if (process_ == 0) become_browser(there[0], back[1], profile_);
  close(there[0]);
  close(back[1]);
  if (process_ < 0) fail_browser("no process for a browser can be made", "");
  std::signal(SIGPIPE, SIG_IGN);  // a browser that is gone is noticed where its answer is awaited
}

std::string Browser::next_message() {
  for (;;) {
    const std::size_t end = unread_.find('\0');
    if (end != std::string::npos) {
      std::string message = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return message;
    }
    pollfd wait{from_, POLLIN, 0};
    std::array<char, 1 << 16> part{};
    const ssize_t count = poll(&wait, 1, patience) > 0 ? read(from_, part.data(), part.size()) : 0;
    if (count <= 0)
      fail_browser("no Chromium answers", "install one (apt-get install chromium), and see that it starts");
    unread_.append(part.data(), static_cast<std::size_t>(count));
  }
}

Json Browser::call(const std::string& method, const Json& parameters) {
  Json request = {{"id", ++calls_}, {"method", method}, {"params", parameters}};
  if (!session_.empty()) request["sessionId"] = session_;
  const std::string text = request.dump();
  for (std::size_t done = 0; done <= text.size();) {  // with the zero that ends it
    const ssize_t count = write(to_, text.c_str() + done, text.size() + 1 - done);
    if (count <= 0) fail_browser("no Chromium takes commands", "install one (apt-get install chromium)");
    done += static_cast<std::size_t>(count);
  }
  for (;;) {
    const Json answer = Json::parse(next_message(), nullptr, false);
    if (!answer.is_object() || answer.value("id", 0) != calls_) continue;  // an event, which nobody asked for
    return answer.value("result", Json::object());
  }
}

Json Browser::evaluate(const std::string& expression) {
  const Json answer =
      call("Runtime.evaluate", {{"expression", expression}, {"awaitPromise", true}, {"returnByValue", true}});
  return answer.value("result", Json::object()).value("value", Json());
}

}  // namespace trammel
