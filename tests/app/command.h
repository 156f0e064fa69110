// Runs the real command in a folder of its own, and collects what it prints and how it ends.
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace trammel::testing {

struct Outcome {
  int code = -1;   // exit code; -1: ended by a signal
  int signal = 0;  // which one
  std::string out, err;

  nlohmann::json json() const;  // of `out`; throws if it is none
};

class Command {
 public:
  Command();   // a fresh folder
  ~Command();  // removes it
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  const std::filesystem::path& folder() const { return folder_; }
  std::string path(const std::string& file) const { return (folder_ / file).string(); }
  void write(const std::string& file, const std::string& text) const;
  std::string read(const std::string& file) const;
  bool has(const std::string& file) const { return std::filesystem::exists(folder_ / file); }

  // `trammel ARGUMENTS...` with the folder as working directory; its outputs are files, so not terminals.
  Outcome run(const std::vector<std::string>& arguments) const;
  // The same in two parts, to do something meanwhile. Messages may go to a terminal instead.
  pid_t start(const std::vector<std::string>& arguments, const char* messages = ".stderr") const;
  Outcome wait(pid_t child) const;

 private:
  std::filesystem::path folder_;
};

// A file of models/ or of tests/app/data.
std::string model_file(const std::string& name);
std::string data_file(const std::string& name);

}  // namespace trammel::testing
