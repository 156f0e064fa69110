#include "app/view_page.h"

#include <filesystem>
#include <stdexcept>

#include "app/view_format.h"
#include "trammel/base/diagnosis.h"
#include "trammel/base/input_file.h"
#include "trammel/write/output_path.h"

namespace trammel {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else
      out += c;
  }
  return out;
}

void put(std::string& page, std::string_view place, const std::string& text) {
  const std::size_t at = page.find(place);
  if (at == std::string::npos) throw std::runtime_error("the viewer's page has no place for its data");
  page.replace(at, place.size(), text);
}

void ask_for_the_viewer() {
  if (embedded_page().empty()) {
    throw Failure({Severity::error,
                   "cannot-draw",
                   "this trammel was built without the viewer: npm was not found",
                   "apt-get install npm and build again, or give cmake -DTRAMMEL_VIEWER_BUNDLE=FILE",
                   {}},
                  ExitCode::cannot_write);
  }
}

std::string empty_page() {
  ask_for_the_viewer();
  return gunzip(embedded_page());
}

void refuse_to_replace_others(const std::string& path) {
  if (!std::filesystem::is_regular_file(path) || std::filesystem::file_size(path) == 0) return;
  if (is_noted_input(path)) {
    throw write_failure("output-is-input", "'" + path + "' is read by this very command: it is left as it is",
                        "choose another output name");
  }
  if (!begins_with(path, page_magic)) {
    throw write_failure("will-not-overwrite",
                        "'" + path + "' exists and is not a page of the viewer: it is left as it is",
                        "choose another output name, or remove the file first");
  }
}

}  // namespace

std::string page_with_data(const std::string& title, const std::vector<std::string>& packed) {
  std::string page = empty_page();
  // The data first: a title may say anything, also the name of the other place.
  std::string data;
  for (const std::string& run : packed) data += base64(run) + "\n";
  put(page, "{{trammel-data}}", data);
  put(page, "{{trammel-title}}", escaped(title.empty() ? "Trammel" : title));
  return page;
}

void check_page_path(const std::string& path) {
  refuse_to_replace_others(path);
  ask_for_the_viewer();
}

void write_page(const std::string& path, const std::string& page) {
  refuse_to_replace_others(path);
  write_whole_file(path, page, OutputKind::itself);
}

std::string live_page(const std::string& host) {
  std::string page = empty_page();
  const std::string port = host.substr(host.find(':'));
  put(page, "default-src 'none';",
      "default-src 'none'; connect-src ws://127.0.0.1" + port + " ws://localhost" + port + ";");
  put(page, "{{trammel-data}}", "live");
  put(page, "{{trammel-title}}", "Trammel");
  return page;
}

}  // namespace trammel
