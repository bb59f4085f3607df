// `lockstep distinguish`: the smallest execution that one model allows and the other forbids.
#include "proofs/distinguish/distinguish.hpp"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "checker/support/json_text.hpp"
#include "cli/command.hpp"
#include "cli/common.hpp"

namespace lockstep::cli {

namespace {

struct Options {
  std::array<std::string, 2> models;
  int up_to = 6;
  bool json = false;
  LimitOptions limits;
};

int run(const Options& options) {
  distinguish::Models models;
  for (const std::size_t side : {0U, 1U}) {
    models[side] = std::make_shared<const AxiomaticModel>(options.models[side]);
    fmt::print(stderr, "{}", models[side]->warnings());
    refuse_vacuous(*models[side]);
  }
  ProgressLine progress;
  distinguish::DistinguishOptions how;
  how.up_to = options.up_to;
  how.limits = options.limits.limits();
  how.on_progress = [&](const distinguish::DistinguishProgress& now) {
    progress.show(fmt::format("executions of {} events, {} of {} questions, {:.0f} s", now.events, now.done,
                              now.all, now.seconds));
  };
  const distinguish::DistinguishReport report = distinguish_models(models, how);
  progress.erase();
  print_now(options.json ? json_text(distinguish_json(report), 1) + "\n" : distinguish_text(report));
  return exit_status(report);
}

}  // namespace

Command add_distinguish(CLI::App& lockstep) {
  auto options = std::make_shared<Options>();
  CLI::App* app = lockstep.add_subcommand("distinguish", distinguish_what);
  app->add_option("A", options->models[0], "A model: a name (`lockstep list models`) or a file")->required();
  app->add_option("B", options->models[1], "The other")->required();
  app->add_option("--up-to", options->up_to,
                  "Executions of so many events, an RMW being two and initial writes not counted")
      ->type_name("N")
      ->check(CLI::Range(1, distinguish::most_events))
      ->capture_default_str();
  options->limits.add_to(*app, "all together");
  app->add_flag("--json", options->json, "Print JSON, schema lockstep.distinguish/1");
  app->footer(
      "Examples:\n"
      "  lockstep distinguish tso rmo\n"
      "  lockstep distinguish rc11 mine.cat --up-to 7\n"
      "\n"
      "`lockstep compare A B --events N` asks this, too, and shows why one allows it and the\n"
      "other does not. docs/comparison.md says what is looked at. Exit status: 0 no execution\n"
      "tells them apart, 1 one does, 2 bad input, 3 not all was decided, 130 interrupted.");
  return {app, [options] { return run(*options); }};
}

}  // namespace lockstep::cli
