#include "tests/app/command.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace trammel::testing {

nlohmann::json Outcome::json() const { return nlohmann::json::parse(out); }

Command::Command() {
  std::string name = (std::filesystem::temp_directory_path() / "trammel-app-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  folder_ = name;
}

Command::~Command() {
  std::error_code none;
  std::filesystem::remove_all(folder_, none);
}

void Command::write(const std::string& file, const std::string& text) const {
  std::ofstream(folder_ / file, std::ios::binary) << text;
}

std::string Command::read(const std::string& file) const {
  std::ostringstream text;
  text << std::ifstream(folder_ / file, std::ios::binary).rdbuf();
  return text.str();
}

pid_t Command::start(const std::vector<std::string>& arguments, const char* messages) const {
  const pid_t child = fork();
  if (child != 0) return child;
  const auto redirect = [](const char* file, int to) {
    const int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY, 0600);
    if (fd < 0 || dup2(fd, to) < 0) _exit(126);
    close(fd);
  };
  if (chdir(folder_.c_str()) != 0) _exit(126);
  redirect(".stdout", STDOUT_FILENO);
  redirect(messages, STDERR_FILENO);
  std::vector<std::string> words{TRAMMEL_COMMAND};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execv(TRAMMEL_COMMAND, pointers.data());
  _exit(127);
}

Outcome Command::wait(pid_t child) const {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  Outcome outcome;
  if (WIFEXITED(status)) outcome.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
  outcome.out = read(".stdout");
  outcome.err = read(".stderr");
  return outcome;
}

Outcome Command::run(const std::vector<std::string>& arguments) const { return wait(start(arguments)); }

std::string model_file(const std::string& name) { return std::string(TRAMMEL_SOURCE_DIR) + "/models/" + name; }
std::string data_file(const std::string& name) { return std::string(TRAMMEL_SOURCE_DIR) + "/tests/app/data/" + name; }

}  // namespace trammel::testing
