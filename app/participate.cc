// trammel participate MODEL: a model as participant of a coupling in another process, over standard input and output.
#include <CLI/CLI.hpp>
#include <memory>

#include "app/common.h"
#include "app/verbs.h"
#include "trammel/couple/model_participant.h"
#include "trammel/couple/remote_participant.h"

namespace trammel {

Verb add_participate(CLI::App& app) {
  struct ParticipateArguments : ModelArguments {
    std::string output;
  };
  auto a = std::make_shared<ParticipateArguments>();
  CLI::App* verb = app.add_subcommand("participate", "Serve a model to a coupling in another process");
  add_model_arguments(*verb, *a);
  verb->add_option("-o,--output", a->output, "Record what the model does: HDF5, or CSV if it ends in .csv")
      ->type_name("FILE");
  verb->footer(
      "Reads requests from standard input and answers on standard output, one line of JSON each, as the guide to "
      "coupling\n"
      "describes. In a coupling file:\n"
      "  participants:\n"
      "    rod: {command: [trammel, participate, rod.yaml, -o, rod.h5]}");
  return {verb, [a] {
            const std::unique_ptr<Channel> channel = standard_channel();
            serve(*channel, [&](const Greeting& greeting) {
              Model model = load_model(a->file, a->changes);
              model.simulation.end = greeting.end;
              ModelParticipant::Options options;
              options.name = greeting.name;
              options.frames = greeting.frames;
              options.shape = greeting.shape;
              if (!a->output.empty()) options.sink = make_sink(a->output);
              return std::make_unique<ModelParticipant>(std::move(model), std::move(options));
            });
            return 0;
          }};
}

}  // namespace trammel
