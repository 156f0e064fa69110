// The verbs of the command, one file each. Every verb adds its subcommand; main runs the one the user chose.
#pragma once
#include <functional>

namespace CLI {
class App;
}

namespace trammel {

struct Verb {
  CLI::App* command = nullptr;  // with the flag --json, failures are printed as JSON too
  std::function<int()> run;     // after parsing; returns the exit code
};

Verb add_run(CLI::App& app);
Verb add_check(CLI::App& app);
Verb add_info(CLI::App& app);
Verb add_plot(CLI::App& app);
Verb add_compare(CLI::App& app);
Verb add_methods(CLI::App& app);
Verb add_stability(CLI::App& app);
Verb add_elements(CLI::App& app);
Verb add_study(CLI::App& app);
Verb add_help(CLI::App& app);
Verb add_new(CLI::App& app);
Verb add_make(CLI::App& app);
Verb add_fmt(CLI::App& app);
Verb add_schema(CLI::App& app);
Verb add_static(CLI::App& app);
Verb add_quasi_static(CLI::App& app);
Verb add_kinematic(CLI::App& app);
Verb add_inverse(CLI::App& app);
Verb add_linearise(CLI::App& app);
Verb add_modes(CLI::App& app);
Verb add_couple(CLI::App& app);
Verb add_sweep(CLI::App& app);
Verb add_participate(CLI::App& app);
Verb add_cut(CLI::App& app);
Verb add_view(CLI::App& app);

}  // namespace trammel
