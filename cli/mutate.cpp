// `lockstep mutate`: which small slips in a system's rules would the tests notice?
#include <fmt/format.h>

#include <memory>

#include "checker/litmus/faults.hpp"
#include "checker/litmus/report.hpp"
#include "checker/support/diagnostic.hpp"
#include "cli/command.hpp"
#include "cli/common.hpp"

namespace lockstep::cli {

namespace {

struct Options {
  std::string system;
  std::vector<std::string> paths;
  std::string rule;
  bool all = false;
  bool killed = false;
  bool json = false;
  SystemChoice choice;
  LimitOptions limits;
};

SuiteFiles tests_of(const Options& options) {
  const std::string home = litmus_home();
  if (!options.paths.empty()) return read_tests(options.paths, home);
  SuiteFiles files = read_tests(std::vector{home}, home);
  if (!options.all) {
    for (LitmusTests* tests : {&files.tests, &files.launches})
      std::erase_if(*tests, [](const auto& test) { return !has_tag(*test, "quick"); });
  }
  return files;
}

int run(const Options& options) {
  FaultOptions suite;
  suite.system = subject_named(options.system);
  apply_shared(options.choice.shared(), std::span(&suite.system, 1));
  suite.mistakes = mutants_of(suite.system, options.rule);
  suite.enough = 1;
  suite.limits = options.limits.limits();
  const SystemEntry& system = *suite.system.system;
  const bool own_client = !system.runs_programs && system.build_launched == nullptr;
  SuiteFiles files;
  if (!own_client) files = tests_of(options);
  for (const std::string& error : files.errors) print_error(error);
  const std::size_t unread = files.errors.size();
  if (unread > 0 && files.tests.empty() && files.launches.empty()) return 2;
  const LitmusTests tests = own_client ? LitmusTests{} : tests_for(system, std::move(files));

  ProgressLine progress;
  std::vector<FaultReport> reports;
  suite.on_report = [&](const FaultReport& report) { reports.push_back(report); };
  suite.on_progress = [&](const SuiteProgress& now) {
    progress.show(fmt::format("{} of {} mutants, {:.0f} s", now.done, now.all, now.seconds));
  };
  SuiteTotals totals = run_faults(tests, suite);
  totals.errors += unread;
  progress.erase();
  print_now(options.json ? mutants_json(reports, suite.system, totals).dump(1) + "\n"
                         : mutant_table(reports, suite.system.description(), totals, options.killed));
  return exit_status(totals);
}

}  // namespace

Command add_mutate(CLI::App& lockstep) {
  auto options = std::make_shared<Options>();
  CLI::App* app = lockstep.add_subcommand("mutate", "Which slips in a system's rules do the tests notice?");
  app->add_option("SYSTEM", options->system, "A system, or SYSTEM/VARIANT (`lockstep list`)")->required();
  app->add_option(
      "TESTS", options->paths,
      "Files, folders, or names of tests that come with Lockstep (default: those tagged `quick`); "
      "none for a system that is its own client");
  app->add_flag("--all", options->all, "All tests that come with Lockstep");
  app->add_option("--rule", options->rule, "Mutants of this rule alone")->type_name("RULE");
  options->choice.add_to(*app);
  options->limits.add_to(*app, "each run");
  app->add_flag("--killed", options->killed, "Also list what was killed, and by what");
  app->add_flag("--json", options->json, "Print JSON, schema lockstep.mutants/1");
  app->footer(
      "A mutant is the system with one small change of one rule: an assignment, a push or a\n"
      "condition of its guard left out, a condition taken for its contrary, ... The change is made\n"
      "to the rule's recorded tree, so nothing is compiled.\n"
      "\n"
      "Examples:\n"
      "  lockstep mutate write-through\n"
      "  lockstep mutate quick-release --all --rule \"release queues its marker\"\n"
      "  lockstep mutate german --size node=2 --killed\n"
      "\n"
      "Exit status: 0 all killed, 1 some are alive, 2 bad input, 3 a limit was reached,\n"
      "130 interrupted.");
  return {app, [options] { return run(*options); }};
}

}  // namespace lockstep::cli
