// `lockstep conform`: generated tests against a memory system and a model.
#include "checker/generate/conform.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "checker/support/diagnostic.hpp"
#include "cli/command.hpp"
#include "cli/common.hpp"

namespace lockstep::cli {

namespace {

struct Options {
  std::string system;
  std::string model = "hrf-indirect";
  generate::GenerateOptions generate;
  std::vector<std::string> unreduced;
  std::string journal;
  std::string trace_file;
  bool hunt = false;
  std::vector<std::string> only;
  bool json = false;
  SystemChoice choice;
  LimitOptions limits;
};

std::string progress_text(const generate::ConformProgress& now, const std::string& what) {
  constexpr std::size_t width = 20;
  using Phase = generate::ConformProgress::Phase;
  if (now.phase == Phase::explaining) return "looking for a shortest execution";
  const std::size_t filled = now.all == 0 ? width : width * now.done / now.all;
  const std::string bar = std::string(filled, '#') + std::string(width - filled, '.');
  if (now.phase == Phase::generating)
    return fmt::format("[{}] generating, {} of {} families, {:.0f} s", bar, now.done, now.all, now.seconds);
  return fmt::format("[{}] {} of {} tests, {} {}, {:.0f} s", bar, now.done, now.all, now.violations, what,
                     now.seconds);
}

int run(const Options& options) {
  generate::ConformOptions conform;
  conform.generate = options.generate;
  conform.system = subject_named(options.system);
  if (!conform.system.system->runs_programs)
    throw BadInput(fmt::format("{} runs no programs", options.system));
  conform.system.options.reductions = reductions_without(options.unreduced);
  apply_shared(options.choice.shared(), std::span(&conform.system, 1));
  conform.limits = options.limits.limits();
  conform.journal = options.journal;
  if (!options.journal.empty()) conform.build = build_identity();
  const auto race_model = race_model_named(options.model);
  const auto model =
      race_model ? generate::race_free_model(*race_model) : generate::axiomatic_model(options.model);
  ProgressLine progress;
  conform.on_progress = [&](const generate::ConformProgress& now) {
    progress.show(progress_text(now, options.hunt ? "faults killed" : "offending"));
  };
  const std::string rests_on = rests_on_text(std::span(&conform.system, 1));
  if (!options.hunt && !options.only.empty()) throw BadInput("--only goes with --faults");
  if (options.hunt) {
    if (!options.journal.empty()) throw BadInput("--faults keeps no journal", "leave out --resume");
    const generate::FaultKills kills = kill_faults(conform, *model, options.only);
    progress.erase();
    print_now(options.json ? fault_kills_json(kills).dump(1) + "\n" : fault_kills_text(kills) + rests_on);
    return exit_status(kills);
  }
  const generate::ConformReport report = generate::conform(conform, *model);
  progress.erase();
  print_now(options.json ? conform_json(report).dump(1) + "\n" : conform_text(report) + rests_on);
  if (report.evidence && !options.trace_file.empty()) {
    write_trace(*report.evidence, options.trace_file);
    if (!options.json) print_now(fmt::format("Trace written to {}\n", options.trace_file));
  }
  return exit_status(report);
}

}  // namespace

Command add_conform(CLI::App& lockstep) {
  auto options = std::make_shared<Options>();
  CLI::App* app =
      lockstep.add_subcommand("conform", "Check a system against a model on every generated test");
  app->add_option("SYSTEM", options->system, "A memory system, or SYSTEM/VARIANT (`lockstep list`)")
      ->required();
  app->add_option("--model", options->model, "The model it ought to obey: a name, or a .cat file")
      ->type_name("M")
      ->capture_default_str();
  app->add_option("--up-to", options->generate.up_to, "Edges of a cycle, with its extras; 0: no cycles")
      ->type_name("N")
      ->capture_default_str();
  app->add_flag("--straight", options->generate.straight,
                "Also the programs of 2 threads with 2 operations each");
  app->add_option("--resume", options->journal, "Keep a journal in this file, and go on from what is in it")
      ->type_name("FILE");
  app->add_flag("--faults", options->hunt,
                "Instead: for each fault of the system the shortest test that kills it");
  add_list(*app, "--only", options->only, "With --faults: none but these")->type_name("F,F");
  app->add_option("--trace", options->trace_file, "Write the counterexample to a file")->type_name("FILE");
  options->choice.add_to(*app);
  options->limits.add_to(*app, "each test");
  add_list(*app, "--no-reduce", options->unreduced, no_reduce_what)->type_name("R,R");
  app->add_flag("--json", options->json, "Print JSON, schema lockstep.conform/1");
  app->footer(
      "Examples:\n"
      "  lockstep conform write-through --model hrf-direct --up-to 5\n"
      "  lockstep conform quick-release --up-to 6 --straight --resume qr.journal\n"
      "  lockstep conform write-through --faults\n"
      "\n"
      "docs/generation.md says what is generated. Exit status: 0 conforms, 1 a violation or a\n"
      "deadlock was found, 2 bad input, 3 a limit was reached, 130 interrupted.");
  return {app, [options] { return run(*options); }};
}

}  // namespace lockstep::cli
