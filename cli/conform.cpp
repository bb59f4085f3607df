// `lockstep conform`: generated tests against a memory system and a model.
#include "checker/generate/conform.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "checker/axiomatic/cat_compiler.hpp"
#include "checker/generate/matrix.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/json_text.hpp"
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
  bool matrix = false;
  std::vector<std::string> systems;
  std::vector<std::string> models;
  std::string shard;
  std::vector<std::string> merged;
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

std::shared_ptr<const generate::ConsistencyModel> consistency_model(const std::string& name) {
  const auto race_model = race_model_named(name);
  return race_model ? generate::race_free_model(*race_model) : generate::axiomatic_model(name);
}

// Every system that runs programs, unless some are named.
std::vector<Subject> systems_of(const Options& options) {
  std::vector<std::string> names = options.systems;
  if (names.empty()) {
    for (const SystemEntry& entry : systems()) {
      if (entry.runs_programs && !entry.only_if_named) names.emplace_back(entry.name);
    }
  }
  std::vector<Subject> subjects;
  for (const std::string& name : names) {
    subjects.push_back(subject_named(name));
    if (!subjects.back().system->runs_programs) throw BadInput(fmt::format("{} runs no programs", name));
    subjects.back().options.reductions = reductions_without(options.unreduced);
  }
  apply_shared(options.choice.shared(), subjects);
  return subjects;
}

int run_matrix(const Options& options) {
  if (!options.system.empty())
    throw BadInput("--matrix takes no SYSTEM", fmt::format("say --on {}", options.system));
  if (options.hunt || !options.trace_file.empty())
    throw BadInput("--matrix goes with neither --faults nor --trace");
  generate::MatrixOptions matrix;
  matrix.generate = options.generate;
  matrix.systems = systems_of(options);
  for (const std::string& name : options.models.empty() ? cat::model_names() : options.models)
    matrix.models.push_back(consistency_model(name));
  matrix.limits = options.limits.limits();
  if (!options.shard.empty()) matrix.shard = generate::parse_shard(options.shard);
  matrix.journal = options.journal;
  matrix.merged = options.merged;
  if (!options.journal.empty() || !options.merged.empty()) matrix.build = build_identity();
  ProgressLine progress;
  matrix.on_progress = [&](const generate::ConformProgress& now) {
    progress.show(progress_text(now, "violations"));
  };
  const generate::MatrixReport report = conform_matrix(matrix);
  progress.erase();
  print_now(options.json ? json_text(matrix_json(report), 1) + "\n"
                         : matrix_text(report) + rests_on_text(matrix.systems));
  return exit_status(report);
}

int run(const Options& options) {
  if (options.matrix) return run_matrix(options);
  if (options.system.empty())
    throw BadInput("which system?", "`lockstep conform SYSTEM`, or --matrix for all of them");
  for (const auto* list : {&options.systems, &options.models, &options.merged}) {
    if (!list->empty()) throw BadInput("--on, --models and --merge go with --matrix");
  }
  if (!options.shard.empty()) throw BadInput("--shard goes with --matrix");
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
  const auto model = consistency_model(options.model);
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
    print_now(options.json ? json_text(fault_kills_json(kills), 1) + "\n"
                           : fault_kills_text(kills) + rests_on);
    return exit_status(kills);
  }
  const generate::ConformReport report = generate::conform(conform, *model);
  progress.erase();
  print_now(options.json ? json_text(conform_json(report), 1) + "\n" : conform_text(report) + rests_on);
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
  app->add_option("SYSTEM", options->system, "A memory system, or SYSTEM/VARIANT (`lockstep list`)");
  app->add_option("--model", options->model, "The model it ought to obey: a name, or a .cat file")
      ->type_name("M")
      ->capture_default_str();
  add_generated(*app, options->generate);
  app->add_option("--resume", options->journal, "Keep a journal in this file, and go on from what is in it")
      ->type_name("FILE");
  app->add_flag("--faults", options->hunt,
                "Instead: for each fault of the system the shortest test that kills it");
  add_list(*app, "--only", options->only, "With --faults: none but these")->type_name("F,F");
  app->add_flag("--matrix", options->matrix,
                "Instead: every system against every model; which conform, which are weaker or stronger");
  add_list(*app, "--on", options->systems, "With --matrix: these systems (default: all that run programs)")
      ->type_name("S,S");
  add_list(*app, "--models", options->models, "With --matrix: these models (default: all that there are)")
      ->type_name("M,M");
  app->add_option("--shard", options->shard,
                  "With --matrix: only a part of the tests, 2/8 the second of eight")
      ->type_name("I/N");
  add_list(*app, "--merge", options->merged, "With --matrix: take results from these journals, too")
      ->type_name("FILE");
  app->add_option("--trace", options->trace_file, "Write the counterexample to a file")->type_name("FILE");
  options->choice.add_to(*app);
  options->limits.add_to(*app, "each test");
  add_list(*app, "--no-reduce", options->unreduced, no_reduce_what)->type_name("R,R");
  app->add_flag("--json", options->json, "Print JSON, schema lockstep.conform/1, -faults/1 or -matrix/1");
  app->footer(
      "Examples:\n"
      "  lockstep conform write-through --model hrf-direct --up-to 5\n"
      "  lockstep conform quick-release --up-to 6 --straight --resume qr.journal\n"
      "  lockstep conform write-through --faults\n"
      "  lockstep conform --matrix --on sc,write-through --models sc,tso,hrf-indirect\n"
      "  lockstep conform --matrix --shard 1/2 --resume 1.journal\n"
      "\n"
      "docs/generation.md says what is generated. Exit status: 0 conforms, 1 a violation or a\n"
      "deadlock was found, 2 bad input, 3 a limit was reached, 130 interrupted. With --matrix a\n"
      "violation is a result like others: 0.");
  return {app, [options] { return run(*options); }};
}

}  // namespace lockstep::cli
