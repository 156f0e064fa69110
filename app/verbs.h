// The verbs of the command, one file each. Every verb adds its subcommand; main runs the one the user chose.
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace trammel {

// What main calls after parsing: returns the exit code.
using Action = std::function<int()>;

Action add_run(CLI::App& app);

}  // namespace trammel
