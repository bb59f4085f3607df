// `lockstep progress`: does synchronization code terminate, on this scheduler, on this memory system?
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "checker/litmus/suite.hpp"
#include "checker/liveness/confirm.hpp"
#include "checker/liveness/table.hpp"
#include "checker/support/diagnostic.hpp"
#include "cli/command.hpp"
#include "cli/common.hpp"

namespace lockstep::cli {

namespace {

struct Options {
  std::vector<std::string> programs;
  std::string system = "sc";
  std::vector<std::string> schedulers;
  std::vector<std::string> settings;
  std::vector<std::string> situations;
  std::string fairness = "weak";
  std::vector<std::string> unreduced;
  std::string trace_file;
  bool confirm = false;
  bool json = false;
  SystemChoice choice;
  LimitOptions limits;
};

std::vector<std::shared_ptr<const Program>> programs_of(const Options& options,
                                                        std::vector<std::string>& errors) {
  std::string home;
  try {
    home = litmus_home();
  } catch (const BadInput&) {
  }
  std::vector<std::string> names = options.programs;
  if (names.empty()) names.push_back((std::filesystem::path(litmus_home()) / "sync").string());
  SuiteFiles files = read_tests(names, home, Clients::include);
  errors = std::move(files.errors);
  std::vector<std::shared_ptr<const Program>> programs;
  for (const auto& test : files.tests) programs.push_back(std::make_shared<const Program>(test->program));
  return programs;
}

std::vector<SchedulerSetup> schedulers_of(const Options& options) {
  std::vector<SchedulerSetup> setups;
  const std::vector<std::string> names = options.schedulers.empty() ? scheduler_names() : options.schedulers;
  for (const std::string& name : names) {
    SchedulerSetup& setup = setups.emplace_back(scheduler_named(name));
    for (const std::string& setting : options.settings) apply_setting(setup, setting);
  }
  return setups;
}

std::vector<Situation> situations_of(const Options& options) {
  // Whoever gives slots has said what there is room for.
  if (options.situations.empty() && !options.settings.empty()) return {Situation::resident};
  if (options.situations.empty()) return {situations.begin(), situations.end()};
  std::vector<Situation> all;
  for (const std::string& name : options.situations) all.push_back(situation_named(name));
  return all;
}

LivenessOptions liveness_options(const Options& options) {
  LivenessOptions liveness;
  liveness.limits = options.limits.limits();
  const std::vector<std::string> words{"weak", "strong", "paths"};
  if (std::find(words.begin(), words.end(), options.fairness) == words.end())
    throw BadInput(fmt::format("unknown fairness '{}'", options.fairness),
                   suggestion(options.fairness, words));
  liveness.fairness = options.fairness == "strong" ? CycleFairness::strong : CycleFairness::weak;
  liveness.by_paths = options.fairness == "paths";
  return liveness;
}

// SPIN's word on each program.
int confirm(const std::vector<std::shared_ptr<const Program>>& programs, const Options& options) {
  const RunLimits limits = options.limits.limits();
  std::vector<Confirmation> all;
  ProgressLine progress;
  for (const auto& program : programs) {
    progress.show(fmt::format("spin: {}", program->name));
    Subject subject = subject_named(options.system);
    apply_shared(options.choice.shared(), std::span(&subject, 1));
    subject.program = program;
    all.push_back(confirm_with_spin(subject, limits));
    if (all.back().agreement == Agreement::interrupted) break;
  }
  progress.erase();
  print_now(options.json ? confirmation_json(all).dump(1) + "\n" : confirmation_text(all));
  const auto any = [&](Agreement agreement) {
    return std::any_of(all.begin(), all.end(),
                       [&](const Confirmation& c) { return c.agreement == agreement; });
  };
  if (any(Agreement::interrupted)) return 130;
  if (any(Agreement::error)) return 2;
  if (any(Agreement::differ)) return 1;
  return any(Agreement::inconclusive) ? 3 : 0;
}

int run(const Options& options) {
  std::vector<std::string> errors;
  auto programs = programs_of(options, errors);
  for (const std::string& error : errors) print_error(error);
  if (options.confirm) return confirm(programs, options);
  TableOptions table_options;
  table_options.system = subject_named(options.system);
  table_options.system.options.reductions = reductions_without(options.unreduced);
  apply_shared(options.choice.shared(), std::span(&table_options.system, 1));
  table_options.liveness = liveness_options(options);
  table_options.threads = table_options.liveness.limits.threads;
  ProgressLine progress;
  table_options.on_progress = [&](std::size_t done, std::size_t all) {
    progress.show(fmt::format("{} of {} questions", done, all));
  };
  const ProgressTable table =
      fill(std::move(programs), schedulers_of(options), situations_of(options), table_options);
  progress.erase();
  std::vector<const LivenessRun*> runs;
  for (const ProgressCell& cell : table.cells) {
    if (cell.asked) runs.push_back(&cell.run);
  }
  if (options.json) {
    print_now(table_json(table).dump(1) + "\n");
  } else if (runs.size() == 1) {
    print_now(liveness_text(*runs.front()));
  } else {
    print_now(table_text(table));
    for (const LivenessRun* one : runs) {
      if (one->termination == Termination::error) print_error(one->message);
    }
  }
  if (!options.trace_file.empty()) {
    const auto shown = std::find_if(runs.begin(), runs.end(),
                                    [](const LivenessRun* one) { return one->counterexample.has_value(); });
    if (shown != runs.end()) {
      write_trace(*(*shown)->counterexample, options.trace_file);
      print_error(
          fmt::format("Trace written to {0}: `lockstep replay {0}` fires it again.", options.trace_file));
    }
  }
  if (!errors.empty()) return 2;
  return exit_status(runs, table.interrupted);
}

}  // namespace

Command add_progress(CLI::App& lockstep) {
  auto options = std::make_shared<Options>();
  CLI::App* app = lockstep.add_subcommand("progress", "Ask whether programs terminate under schedulers");
  add_list(*app, "PROGRAMS", options->programs, "Files, folders or names (default: litmus/sync)");
  app->add_option("--on", options->system, "Memory system, or SYSTEM/VARIANT")->capture_default_str();
  add_list(
      *app, "--scheduler", options->schedulers,
      "unfair hsa obe hsa-obe lobe fair; busy-waiting timeout monrs-all monr-all monnr-all monnr-one awg "
      "(default: all)")
      ->type_name("S,S");
  add_list(*app, "--set", options->settings,
           "slots=N|any taken=N conditions=N waiters=N log=N timeouts=none|stalled|all reading=R fault=F")
      ->type_name("K=V");
  add_list(*app, "--situation", options->situations, "resident, oversubscribed, taken (default: each)")
      ->type_name("S,S");
  app->add_option("--fairness", options->fairness,
                  "weak; strong; or paths: from everywhere some path of owed steps ends")
      ->capture_default_str();
  options->choice.add_to(*app);
  options->limits.add_to(*app, "each question");
  add_list(*app, "--no-reduce", options->unreduced,
           "`local`: also see the states between a thread's own steps")
      ->type_name("R");
  app->add_option("--trace", options->trace_file, "File for the first lasso or path that says no")
      ->type_name("FILE");
  app->add_flag("--confirm", options->confirm,
                "Instead ask SPIN, under weak fairness, what it says of the fair model");
  app->add_flag("--json", options->json, "Print JSON, schema lockstep.progress/1");
  app->footer(
      "Examples:\n"
      "  lockstep progress                                     the tables\n"
      "  lockstep progress ticket-lock --scheduler obe,fair\n"
      "  lockstep progress FILE --scheduler awg --set slots=2 --trace hang.json\n"
      "\n"
      "One question prints its lasso; several print a table. Exit status: 0 all end,\n"
      "1 some do not, 2 bad input, 3 a limit was reached, 130 interrupted.");
  return {app, [options] { return run(*options); }};
}

}  // namespace lockstep::cli
