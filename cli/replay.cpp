// `lockstep replay`: fires a recorded counterexample again.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "checker/support/json_text.hpp"
#include "checker/trace/trace.hpp"
#include "cli/command.hpp"
#include "cli/common.hpp"

namespace lockstep::cli {

namespace {

struct Options {
  std::string file;
  bool json = false;
};

int run(const Options& options) {
  const RecordedTrace recorded = read_trace(options.file);
  const Replay replayed = replay(recorded);
  print_now(options.json ? json_text(replay_json(recorded, replayed), 1) + "\n"
                         : replay_text(recorded, replayed));
  return replayed.difference.empty() ? 0 : 1;
}

}  // namespace

Command add_replay(CLI::App& lockstep) {
  auto options = std::make_shared<Options>();
  CLI::App* app = lockstep.add_subcommand("replay", "Fire a counterexample again, step by step");
  app->add_option("TRACE", options->file, "A file that `check --trace` or `litmus --trace` wrote")
      ->required();
  app->add_flag("--json", options->json, "Print JSON, schema lockstep.replay/1");
  app->footer(
      "Examples:\n"
      "  lockstep check quick-release --fault NAME\n"
      "  lockstep replay quick-release.trace.json\n"
      "\n"
      "Exit status: 0 every step leads where it led, 1 the system does otherwise now, 2 bad input.");
  return {app, [options] { return run(*options); }};
}

}  // namespace lockstep::cli
