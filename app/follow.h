// What analyses share that follow a mechanism through time and record every state they find.
#pragma once
#include <algorithm>
#include <cstdio>

#include "app/analysis.h"
#include "app/analysis_json.h"

namespace trammel {

// `follow(record)` computes the report and calls record(state, rates) for each state; `show(report)` prints it for
// people. The report has `finished` and `why`. Returns the exit code.
template <class Follow, class Show>
int follow_analysis(const AnalysisArguments& a, const Prepared& p, const std::string& name, const Follow& follow,
                    const Show& show) {
  const std::string path = a.output.empty() ? default_output(a.file, "." + name + ".h5") : a.output;
  AnalysisResult result(p, path, name);
  const auto report = follow([&](const State& state, const Rates& rates) { result.add(state, rates); });
  const Json summary = to_json(report);
  result.finish(report.finished ? RunStatus::finished : RunStatus::failed, summary.dump(),
                report.finished ? "" : Json({{"what", report.why}}).dump());
  const ExitCode code = report.finished ? ExitCode::ok : ExitCode::failed_run;
  if (a.json) {
    std::string key = name;
    std::replace(key.begin(), key.end(), '-', '_');
    print_json({{"exit_code", static_cast<int>(code)},
                {"model", a.file},
                {"result", path},
                {"warnings", to_json(p.warnings)},
                {key, summary}});
  } else if (!a.quiet) {
    print_title(a, p.equations());
    show(report);
    std::printf("  result          %s\n", path.c_str());
    std::fflush(stdout);
  }
  if (!report.finished) std::fprintf(stderr, "%s: error: %s\n", a.file.c_str(), report.why.c_str());
  return static_cast<int>(code);
}

}  // namespace trammel
