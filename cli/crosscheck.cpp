// `lockstep crosscheck`: other people's checkers asked to confirm.
#include "checker/export/crosscheck.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>

#include "checker/language/read_tests.hpp"
#include "checker/litmus/runner.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/json_text.hpp"
#include "cli/command.hpp"
#include "cli/common.hpp"

namespace lockstep::cli {

namespace {

struct Options {
  std::string system;
  std::vector<std::string> programs;
  std::vector<std::string> with{"rumur", "spin"};
  std::uint64_t most_states = 0;
  std::uint64_t past_failure = CrosscheckOptions{}.past_failure;
  bool all = false;
  bool json = false;
  SystemChoice choice;
  LimitOptions limits;
};

// Tests that need few states on every system, one of each theme.
constexpr std::array small_tests{"mp-agent", "mp-wg", "corr-agent", "mp-barrier-wg", "host-cpu-cpu"};
// Where the programs are chosen by Lockstep, those that Rumur would be long about are left out.
constexpr std::uint64_t small_enough = 120'000;

struct Case {
  Subject subject;
  std::shared_ptr<const LitmusTest> test;
};

std::vector<Checker> checkers(const Options& options) {
  std::vector<Checker> chosen;
  for (const std::string& name : options.with) {
    const auto found = std::find_if(all_checkers.begin(), all_checkers.end(),
                                    [&](Checker checker) { return word(checker) == name; });
    if (found == all_checkers.end()) {
      std::vector<std::string> known;
      for (const Checker checker : all_checkers) known.emplace_back(word(checker));
      throw BadInput(fmt::format("there is no checker '{}' to ask", name), suggestion(name, known));
    }
    if (std::find(chosen.begin(), chosen.end(), *found) == chosen.end()) chosen.push_back(*found);
  }
  return chosen;
}

// Programs, or of a system that takes them, sequences of launches.
LitmusTests clients(const Options& options, const SystemEntry& system, std::vector<std::string>& errors) {
  const std::string home = litmus_home();
  std::vector<std::string> paths = options.programs;
  if (paths.empty()) {
    paths.push_back((std::filesystem::path(home) / "clients").string());
    paths.insert(paths.end(), small_tests.begin(), small_tests.end());
  }
  SuiteFiles files = read_tests(paths, home, Clients::include);
  errors = std::move(files.errors);
  return tests_for(system, std::move(files));
}

// As it was asked for; with --all, every variant, and the default one with each fault.
std::vector<Subject> subjects(const Options& options) {
  Subject asked = subject_named(options.system);
  apply_shared(options.choice.shared(), std::span(&asked, 1));
  if (!options.all) return {asked};
  if (asked.options.variant != "default" || !asked.options.faults.empty()) {
    throw BadInput("--all means every variant and fault", "leave out --variant and --fault");
  }
  std::vector<Subject> every;
  for (const Variant& variant : asked.system->variants) {
    every.push_back(asked);
    every.back().options.variant = variant.name;
  }
  for (const Fault& fault : asked.system->faults) {
    every.push_back(asked);
    every.back().options.faults = {std::string(fault.name)};
  }
  return every;
}

std::vector<Case> cases(const Options& options, std::vector<std::string>& errors) {
  const std::vector<Subject> all = subjects(options);
  std::vector<Case> cases;
  const SystemEntry& system = *all.front().system;
  if (!system.runs_programs && options.programs.empty()) {
    for (const Subject& subject : all) cases.push_back({subject, nullptr});
    return cases;
  }
  const LitmusTests tests = clients(options, system, errors);
  for (const Subject& subject : all) {
    for (const auto& test : tests) cases.push_back({with_client(subject, *test), test});
  }
  return cases;
}

int run(const Options& options) {
  CrosscheckOptions how;
  how.with = checkers(options);
  how.limits = options.limits.limits();
  std::vector<std::string> errors;
  const std::vector<Case> all = cases(options, errors);
  for (const std::string& error : errors) print_error(error);
  const bool chosen_by_us = all.front().test != nullptr && options.programs.empty();
  how.most_states = options.most_states != 0 ? options.most_states : chosen_by_us ? small_enough : 0;
  how.past_failure = options.past_failure;
  ProgressLine progress;
  how.on_progress = [&](const std::string& now) { progress.show(now); };
  std::vector<CrosscheckRun> runs;
  for (const Case& one : all) {
    runs.push_back(crosscheck(one.subject, one.test, how));
    progress.erase();
    if (!options.json) print_now(crosscheck_text(runs.back()) + "\n");
    if (runs.back().agreement == Agreement::interrupted) break;
  }
  if (options.json) {
    print_now(json_text(crosscheck_json(runs, errors), 1) + "\n");
  } else {
    print_now(crosscheck_summary_text(runs, all.size()));
  }
  return exit_status(runs, !errors.empty());
}

}  // namespace

Command add_crosscheck(CLI::App& lockstep) {
  auto options = std::make_shared<Options>();
  CLI::App* app =
      lockstep.add_subcommand("crosscheck", "Have Rumur and SPIN confirm states, firings and verdicts");
  app->add_option("SYSTEM", options->system, "A system, or SYSTEM/VARIANT (`lockstep list`)")->required();
  add_list(
      *app, "--program", options->programs,
      "What a memory system runs, programs or launches: files, folders or names (default: litmus/clients "
      "and a few small tests; every launch)")
      ->type_name("P,P");
  options->choice.add_to(*app);
  app->add_flag("--all", options->all, "Every variant, and the default one with each fault");
  add_list(
      *app, "--with", options->with,
      "Checkers to ask: rumur, spin, and c++ or cuda, which compile an export with a search of its own for "
      "the processors or the graphics processor (default: rumur,spin)")
      ->type_name("C,C");
  app->add_option("--states", options->most_states,
                  fmt::format("Leave out what has more states (default: {} where no program is named, else "
                              "nothing)",
                              small_enough))
      ->type_name("N");
  app->add_option(
         "--past-failure", options->past_failure,
         "Where states fail, count up to this many; of more, compare verdicts only (default: 300000)")
      ->type_name("N");
  options->limits.add_to(*app, "each search and each compilation");
  app->add_flag("--json", options->json, "Print JSON, schema lockstep.crosscheck/1");
  app->footer(
      "Examples:\n"
      "  lockstep crosscheck german\n"
      "  lockstep crosscheck german --all --size node=3\n"
      "  lockstep crosscheck quick-release --program mp-agent --with spin\n"
      "  lockstep crosscheck cpcoh --program worked-example\n"
      "  lockstep crosscheck german --size node=5 --with c++\n"
      "  lockstep crosscheck write-through --fault early-acknowledgement\n"
      "\n"
      "All checkers explore without reductions and go on past states that fail, so that with a fault, too,\n"
      "every number can be compared: states, firings, and the states in which each property is the first to\n"
      "fail, that deadlock, or that end a litmus test with its condition or without. Where that would be\n"
      "more states than --past-failure, each stops at the first failure, and all have to find one. SPIN "
      "also\n"
      "stores the state before the system's start; what it counts for that is taken off, and said.\n"
      "\n"
      "Needs `rumur` and `spin` (Debian packages) and a C compiler ($CC, else cc); c++ needs a compiler of\n"
      "C++20 ($CXX, else c++), cuda needs nvcc and a graphics processor. Exit status: 0 all agree, 1 counts\n"
      "differ, 2 bad input or a checker that is missing, too old or not understood, 3 a limit was reached,\n"
      "130 interrupted.");
  return {app, [options] { return run(*options); }};
}

}  // namespace lockstep::cli
