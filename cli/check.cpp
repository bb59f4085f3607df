// `lockstep check`: verifies a system in every reachable state.
#include "checker/check/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "checker/cluster/ranks.hpp"
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
  std::string trace_file;
  std::string folder;
  double every = 300;
  double hunt = 0;
  std::uint64_t seed = 1;
  bool bit_state = false;
  bool json = false;
  bool no_deadlock = false;
  std::vector<std::string> unreduced;
  std::vector<std::string> symmetry;
  cluster::Ranks* ranks = nullptr;
  SystemChoice choice;
  LimitOptions limits;
};

SuiteFiles programs_of(const Options& options) {
  if (options.programs.empty()) {
    const std::string clients = (std::filesystem::path(litmus_home()) / "clients").string();
    return read_tests(std::vector{clients}, "", Clients::include);
  }
  std::string home;
  try {
    home = litmus_home();
  } catch (const BadInput&) {
  }
  return read_tests(options.programs, home, Clients::include);
}

// The system alone, or once for each program.
std::vector<Subject> subjects(const Options& options, std::vector<std::string>& errors) {
  Subject subject = subject_named(options.system);
  subject.options.reductions = reductions_for_invariants(*subject.system, options.unreduced);
  apply_shared(options.choice.shared(), std::span(&subject, 1));
  if (!subject.system->runs_programs && options.programs.empty()) return {subject};
  SuiteFiles files = programs_of(options);
  errors = std::move(files.errors);
  std::vector<Subject> all;
  for (const auto& test : tests_for(*subject.system, std::move(files)))
    all.push_back(with_client(subject, *test));
  return all;
}

// Says where the counterexample went.
std::string keep_trace(const CheckRun& run, const Options& options) {
  const std::string file = options.trace_file.empty() ? fmt::format("{}.trace.json", run.subject.system->name)
                                                      : options.trace_file;
  if (options.ranks == nullptr || options.ranks->rank() == 0) write_trace(*run.counterexample, file);
  return fmt::format("Trace written to {}: `lockstep replay {}` fires it again.\n", file, file);
}

// A folder for each run of the command, by what runs in it.
std::string folder_of(const Subject& subject, const Options& options) {
  std::string name = subject.client().empty() ? std::string(subject.system->name) : subject.client();
  std::replace(name.begin(), name.end(), '/', '-');
  return (std::filesystem::path(options.folder) / name).string();
}

int run(const Options& options) {
  if (options.ranks != nullptr && options.hunt != 0)
    throw BadInput("--hunt is for one process", "give each another --seed");
  std::vector<std::string> errors;
  std::vector<Subject> all;
  if (options.ranks == nullptr) {
    all = subjects(options, errors);
  } else {
    cluster::together(*options.ranks, [&] { all = subjects(options, errors); });
    nlohmann::json clients;
    for (const Subject& subject : all) clients.push_back(subject.client());
    cluster::agree_on(*options.ranks, {{"system", options.system}, {"clients", clients}});
  }
  const std::string build = options.folder.empty() ? "" : build_identity();
  for (const std::string& error : errors) print_error(error);
  ProgressLine progress;
  std::vector<CheckRun> runs;
  for (const Subject& subject : all) {
    const std::string client = subject.client();
    const std::string title = client.empty() ? subject.name() : client;
    CheckOptions check_options;
    check_options.limits = options.limits.limits();
    check_options.deadlocks = !options.no_deadlock;
    check_options.hunt = std::chrono::milliseconds(static_cast<std::int64_t>(options.hunt * 1000));
    check_options.seed = options.seed;
    check_options.bit_state = options.bit_state;
    check_options.ranks = options.ranks;
    check_options.symmetry = symmetry_of(options.symmetry);
    if (!options.folder.empty()) {
      check_options.folder = folder_of(subject, options);
      check_options.build = build;
      check_options.every = std::chrono::milliseconds(static_cast<std::int64_t>(options.every * 1000));
    }
    check_options.on_progress = [&](const Progress& now) { progress.show(progress_text(title, now)); };
    runs.push_back(check(subject, check_options));
    progress.erase();
    const CheckRun& run = runs.back();
    if (!options.json) print_now(check_text(run) + "\n");
    if (run.exploration.verdict == Verdict::out_of_memory && options.folder.empty() &&
        options.ranks == nullptr)
      print_error("hint: with --resume FOLDER a run goes on on disk");
    if (run.counterexample) {
      const std::string kept = keep_trace(run, options);
      if (options.json) {
        print_error(kept.substr(0, kept.size() - 1));
      } else {
        print_now(kept);
      }
    }
    // One counterexample is what there is to look at next; an interruption is meant for the whole.
    if (run.status == CheckStatus::violated || run.status == CheckStatus::interrupted) break;
  }
  if (options.json) {
    print_now(json_text(check_json(runs, errors), 1) + "\n");
  } else {
    print_now(check_summary_text(runs, all.size()) + rests_on_text(all));
  }
  return exit_status(runs, !errors.empty());
}

}  // namespace

Command add_check(CLI::App& lockstep, cluster::Ranks* ranks) {
  auto options = std::make_shared<Options>();
  options->ranks = ranks;
  CLI::App* app = lockstep.add_subcommand("check", check_what);
  app->add_option("SYSTEM", options->system, "A system, or SYSTEM/VARIANT (`lockstep list`)")->required();
  add_list(
      *app, "--program", options->programs,
      "What a memory system runs, programs or launches: files, folders or names (default: litmus/clients; "
      "every launch)")
      ->type_name("P,P");
  options->choice.add_to(*app);
  options->limits.add_to(*app, "each program");
  app->add_option("--trace", options->trace_file, "File for a counterexample (default: SYSTEM.trace.json)")
      ->type_name("FILE");
  app->add_option("--resume", options->folder,
                  "Keep checkpoints in this folder, and go on from the last that is in it")
      ->type_name("FOLDER");
  app->add_option("--every", options->every, "With --resume: a checkpoint after so long")
      ->check(CLI::Range(0.001, 1e9).description(""))
      ->type_name("SECONDS")
      ->capture_default_str();
  app->add_option("--hunt", options->hunt,
                  "Where there are too many states: search at random, for so long each; nothing is verified")
      ->check(CLI::Range(0.001, 1e9).description(""))
      ->type_name("SECONDS")
      ->excludes("--resume");
  app->add_option("--seed", options->seed, "With --hunt: another one searches in another order")
      ->type_name("N")
      ->capture_default_str();
  add_list(*app, "--symmetry", options->symmetry,
           "Visit one of the states that differ in the names of members of these index types, or of `all`")
      ->type_name("T,T")
      ->excludes("--hunt");
  app->add_flag(
         "--bit-state", options->bit_state,
         "With --hunt: keep three bits of a state alone, and visit far more; some are left out, and how "
         "many is said")
      ->needs("--hunt");
  app->add_flag("--no-deadlock", options->no_deadlock, "Do not look for deadlocks");
  add_list(*app, "--no-reduce", options->unreduced,
           "`moves`: also see the states between a thread's own moves (registers, branches); `at-once`: "
           "those that what is claimed of the system passes over")
      ->type_name("R");
  app->add_flag("--json", options->json, "Print JSON, schema lockstep.check/1");
  app->footer(
      "Examples:\n"
      "  lockstep check german --size node=4\n"
      "  lockstep check quick-release\n"
      "  lockstep check quick-release/split-fifo --program ring-wg-agent\n"
      "  lockstep check cpcoh/as-printed --program same-ranges\n"
      "  lockstep check write-through --fault early-acknowledgement --trace early.json\n"
      "  lockstep check german --size node=6 --resume german.6\n"
      "  lockstep check german --size node=8 --hunt 60\n"
      "  lockstep check german --size node=7 --symmetry node\n"
      "  mpirun -n 4 lockstep check german --size node=6\n"
      "\n"
      "The first violation ends the run. Exit status: 0 holds, 1 violated, 2 bad input,\n"
      "3 a limit was reached, 130 interrupted.");
  return {app, [options] { return run(*options); }};
}

}  // namespace lockstep::cli
