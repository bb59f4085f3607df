// `lockstep compare`: what does a change do?
#include "checker/compare/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "checker/axiomatic/cat_compiler.hpp"
#include "checker/compare/counters.hpp"
#include "checker/compare/executions.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/json_text.hpp"
#include "checker/support/process.hpp"
#include "cli/command.hpp"
#include "cli/common.hpp"

namespace lockstep::cli {

namespace {

using compare::Both;
using compare::CompareOptions;
using compare::CompareProgress;

struct Options {
  Both<std::string> sides;
  std::vector<std::string> tests;
  std::string model = "hrf-indirect";
  generate::GenerateOptions generate;
  std::string trace_file;
  bool race_free = false;
  bool no_check = false;
  bool no_faults = false;
  std::string workload;                      // to be simulated; "": none
  std::vector<std::string> machine_entries;  // said otherwise, PATH=VALUE
  int events = 0;                            // of executions that Z3 looks at; 0: it is not asked
  bool json = false;
  LimitOptions limits;
};

// ---- sides
// -------------------------------------------------------------------------------------------------

// "quick-release/split-fifo+no-broadcast,s-fifo1-entries=2" in its parts.
struct Named {
  std::string system;  // with its variant
  SharedOptions options;
};

Named parts_of(const std::string& side) {
  Named named;
  std::size_t at = std::min(side.find_first_of("+,"), side.size());
  named.system = side.substr(0, at);
  while (at < side.size()) {
    const char mark = side[at];
    const std::size_t end = std::min(side.find_first_of("+,", at + 1), side.size());
    const std::string part = side.substr(at + 1, end - at - 1);
    if (part.empty())
      throw BadInput(fmt::format("'{}' lacks something behind a '{}'", side, mark),
                     "say SYSTEM/VARIANT+FAULT,SIZE=N");
    if (mark == '+') {
      named.options.faults.push_back(part);
    } else {
      named.options.sizes.insert(parse_size(part));
    }
    at = end;
  }
  return named;
}

bool names_model(const std::string& side) {
  const std::vector<std::string> names = cat::model_names();
  return side.ends_with(".cat") || std::find(names.begin(), names.end(), side) != names.end();
}
bool names_system(const std::string& side) {
  const std::string name = side.substr(0, side.find_first_of("/+,"));
  return std::any_of(systems().begin(), systems().end(), [&](const auto& one) { return one.name == name; });
}

Subject subject_of(const std::string& side) {
  const Named named = parts_of(side);
  Subject subject = subject_named(named.system);
  apply_shared(named.options, std::span(&subject, 1));
  return subject;
}

// Whether both are models; throws BadInput where they are nothing of one kind.
bool are_models(const Both<std::string>& sides) {
  for (const std::string& side : sides) {
    if (names_model(side) || names_system(side)) continue;
    if (side.find('@') != std::string::npos)
      throw BadInput(fmt::format("there is no version '{}' here", side),
                     "the script of a clone builds versions: ./lockstep compare SYSTEM@COMMIT SYSTEM");
    std::vector<std::string> names = cat::model_names();
    for (const SystemEntry& entry : systems()) names.emplace_back(entry.name);
    std::sort(names.begin(), names.end());
    throw BadInput(fmt::format("'{}' is neither a system nor a model", side),
                   suggestion(side.substr(0, side.find_first_of("/+,")), names));
  }
  const bool systems = names_system(sides[0]) && names_system(sides[1]);
  const bool models = names_model(sides[0]) && names_model(sides[1]);
  if (!systems && !models) {
    const std::size_t system = names_system(sides[0]) ? 0 : 1;
    throw BadInput(fmt::format("{} is a system, and {} a model", sides[system], sides[1 - system]),
                   fmt::format("`lockstep conform {} --model {}` holds one against the other", sides[system],
                               sides[1 - system]));
  }
  return models;
}

// ---- tests
// -------------------------------------------------------------------------------------------------

SuiteFiles tests_of(const Options& options) {
  const std::string home = litmus_home();
  if (!options.tests.empty()) {
    SuiteFiles named = read_tests(options.tests, home);
    for (const std::string& error : named.errors) print_error(error);
    if (!named.errors.empty()) throw BadInput("not all tests could be read", "mend those, or name others");
    return named;
  }
  SuiteFiles files = read_tests(std::vector{home}, home);
  for (LitmusTests* tests : {&files.tests, &files.launches})
    std::erase_if(*tests, [](const auto& test) { return !has_tag(*test, "quick"); });
  return files;
}

SuiteFiles clients() {
  const std::string folder = (std::filesystem::path(litmus_home()) / "clients").string();
  return read_tests(std::vector{folder}, "", Clients::include);
}

// Those that the system takes. Of the tests that come with Lockstep some are of the other kind.
LitmusTests taken_by(const SystemEntry& system, SuiteFiles files) {
  return system.runs_programs ? std::move(files.tests) : std::move(files.launches);
}

// What another command said instead of a document.
BadInput refused(const std::string& what, std::string said) {
  constexpr std::string_view error = "error: ";
  constexpr std::string_view hint = "\nhint: ";
  if (said.starts_with(error)) said.erase(0, error.size());
  while (said.ends_with('\n')) said.pop_back();
  const std::size_t at = said.find(hint);
  return BadInput(fmt::format("{}: {}", what, said.substr(0, at)),
                  at == std::string::npos ? "" : said.substr(at + hint.size()));
}

// The JSON that a command of the executable `executable` beside this one prints; null when interrupted.
// `what` cannot be done where it prints none.
nlohmann::json printed_by(const char* executable, std::vector<std::string> arguments,
                          const std::string& what) {
  const TemporaryFolder folder;
  Process process;
  process.command = {path_of_executable(executable)};
  process.command.insert(process.command.end(), arguments.begin(), arguments.end());
  process.folder = folder.path();
  process.interrupted = &interrupted();
  const ProcessResult result = run_process(process);
  if (result.end == ProcessResult::End::interrupted || interrupted()) return nullptr;
  if (result.end == ProcessResult::End::missing)
    throw BadInput(fmt::format("cannot run {}", process.command.front()),
                   fmt::format("`./lockstep {} --help` builds it", arguments.front()));
  auto document = nlohmann::json::parse(read_file(folder.path() / "stdout"), nullptr, false);
  if (document.is_discarded()) throw refused(what, read_file(folder.path() / "stderr"));
  return document;
}

// The figures of workloads on one side, as `lockstep sim` prints them; null when interrupted.
nlohmann::json simulated(const Options& options, const std::string& side) {
  const Named named = parts_of(side);
  std::vector<std::string> arguments{"sim", options.workload, "--on", named.system, "--json"};
  const auto add = [&](const char* option, const std::string& value) {
    arguments.emplace_back(option);
    arguments.push_back(value);
  };
  for (const std::string& fault : named.options.faults) add("--fault", fault);
  for (const auto& [size, value] : named.options.sizes) add("--size", fmt::format("{}={}", size, value));
  for (const std::string& entry : options.machine_entries) add("--set", entry);
  return printed_by("sim", std::move(arguments), fmt::format("'{}' cannot be simulated", side));
}

// Nothing when interrupted.
std::optional<compare::ExecutionReport> executions_of(const Options& options, ProgressLine& progress) {
  progress.show(fmt::format("looking for an execution of up to {} events", options.events));
  // It is run in a folder of its own.
  const auto found = [](const std::string& side) {
    return side.ends_with(".cat") ? std::filesystem::absolute(side).string() : side;
  };
  const nlohmann::json document = printed_by("prove",
                                             {"distinguish", found(options.sides[0]), found(options.sides[1]),
                                              "--up-to", fmt::format("{}", options.events), "--threads",
                                              fmt::format("{}", options.limits.limits().threads), "--json"},
                                             "executions cannot be looked for");
  if (document.is_null()) return std::nullopt;
  return compare::read_executions(document);
}

// Nothing when interrupted.
std::optional<compare::CounterReport> counters_of(const Options& options, ProgressLine& progress) {
  const Both<std::string>& sides = options.sides;
  Both<nlohmann::json> documents;
  Both<std::string> systems;
  for (const std::size_t side : {0U, 1U}) {
    progress.show(fmt::format("simulating {}", sides[side]));
    documents[side] = simulated(options, sides[side]);
    if (documents[side].is_null()) return std::nullopt;
    systems[side] = parts_of(sides[side]).system;
  }
  compare::CounterReport report = compare::compare_counters(documents, systems);
  report.names = sides;
  return report;
}

std::string progress_text(const CompareProgress& now) {
  using compare::Phase;
  switch (now.phase) {
    case Phase::generating:
      return fmt::format("generating, {} of {} families, {:.0f} s", now.done, now.all, now.seconds);
    case Phase::running: {
      const double each = now.seconds / static_cast<double>(std::max<std::size_t>(1, now.done));
      return fmt::format("{} of {} tests, {} differ, {:.0f} s, {:.0f} s to go", now.done, now.all,
                         now.differing, now.seconds, each * static_cast<double>(now.all - now.done));
    }
    case Phase::checking:
      return fmt::format("invariants, {} of {} runs, {:.0f} s", now.done, now.all, now.seconds);
    case Phase::breaking:
      return fmt::format("faults, {} of {}, {:.0f} s", now.done, now.all, now.seconds);
    case Phase::explaining:
      return "looking for a shortest execution";
  }
  return {};
}

int run(const Options& options) {
  const bool models = are_models(options.sides);
  CompareOptions compare;
  compare.generate = options.generate;
  compare.model = find_race_model(options.model);
  compare.race_free = options.race_free;
  compare.limits = options.limits.limits();
  if (options.limits.seconds == 0) compare.limits.time = std::chrono::seconds(10);
  ProgressLine progress;
  compare.on_progress = [&](const CompareProgress& now) { progress.show(progress_text(now)); };

  compare::CompareReport report;
  std::optional<compare::ExecutionReport> executions;
  std::string rests_on;
  if (models) {
    if (!options.workload.empty()) throw BadInput("--sim is for systems", "models know no time");
    if (options.race_free)
      throw BadInput("--race-free is for systems", "a model says itself what it leaves undefined");
    SuiteFiles files = tests_of(options);
    compare.tests = std::move(files.tests);
    Both<std::shared_ptr<const AxiomaticModel>> both;
    for (const std::size_t side : {0U, 1U}) {
      both[side] = std::make_shared<const AxiomaticModel>(options.sides[side]);
      fmt::print(stderr, "{}", both[side]->warnings());
      refuse_vacuous(*both[side]);
    }
    if (options.events > 0) executions = executions_of(options, progress);
    if (executions) {
      // In front: of tests with equally many instructions the first is shown.
      for (const compare::FoundExecution& one : executions->found) {
        if (one.test != nullptr) compare.tests.insert(compare.tests.begin(), one.test);
      }
    }
    report = compare_models(both, compare);
  } else {
    if (options.events > 0)
      throw BadInput("--events is for models", "--up-to has larger tests run on systems");
    const Both<Subject> both{subject_of(options.sides[0]), subject_of(options.sides[1])};
    const SystemEntry& system = *both[0].system;
    if (system.runs_programs || system.build_launched != nullptr) {
      SuiteFiles files = tests_of(options);
      if (!options.tests.empty()) {
        compare.tests = tests_for(system, std::move(files));
      } else {
        compare.tests = taken_by(system, std::move(files));
      }
      compare.clients = taken_by(system, clients());
    }
    compare.invariants = !options.no_check;
    compare.faults = !options.no_faults;
    if (!system.runs_programs) compare.generate = {0, false};
    rests_on = rests_on_text(both);
    report = compare_systems(both, compare);
  }
  std::optional<compare::CounterReport> counters;
  if (!options.workload.empty() && !report.interrupted) {
    counters = counters_of(options, progress);
    report.interrupted = !counters;
  }
  progress.erase();
  if (options.json) {
    nlohmann::json document = compare_json(report);
    if (counters) document["counters"] = compare::counters_json(*counters);
    if (executions) document["executions"] = compare::executions_json(*executions);
    print_now(json_text(document, 1) + "\n");
  } else {
    print_now(compare_text(report) + (executions ? compare::executions_text(*executions) : "") +
              (counters ? compare::counters_text(*counters) : "") + rests_on);
  }
  if (!options.trace_file.empty() && report.outcomes.evidence && report.outcomes.evidence->trace) {
    write_trace(*report.outcomes.evidence->trace, options.trace_file);
    if (!options.json) print_now(fmt::format("Trace written to {}\n", options.trace_file));
  }
  if (!report.interrupted && counters && counters->differ()) return 1;
  const int status = exit_status(report);
  return status == 0 && executions && executions->open() ? 3 : status;
}

}  // namespace

Command add_compare(CLI::App& lockstep) {
  auto options = std::make_shared<Options>();
  CLI::App* app = lockstep.add_subcommand("compare", "What tells two systems apart, or two models?");
  constexpr const char* what =
      "SYSTEM/VARIANT+FAULT,SIZE=N, where all but the system may be left out; SYSTEM@COMMIT, as the header "
      "was "
      "then; or a model";
  app->add_option("A", options->sides[0], what)->required();
  app->add_option("B", options->sides[1], "The other")->required();
  add_list(*app, "--tests", options->tests,
           "Tests besides the generated: files, folders or names (default: those tagged `quick`)")
      ->type_name("T,T");
  add_generated(*app, options->generate);
  app->add_option("--model", options->model,
                  "Under which a difference matters: a program that races is owed nothing")
      ->type_name("M")
      ->capture_default_str();
  app->add_flag("--race-free", options->race_free, "Only tests without a race under that model");
  app->add_flag("--no-check", options->no_check, "Leave out the invariants, under programs that never end");
  app->add_flag("--no-faults", options->no_faults, "Leave out which faults the tests notice on either side");
  app->add_flag("--sim{all}", options->workload,
                "Also simulate on both, all workloads or --sim=WORKLOAD: which counters move, by how much");
  app->add_option("--set", options->machine_entries,
                  "With --sim: an entry of the machine file, said otherwise: accesses_per_wave=1")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false)
      ->needs("--sim");
  app->add_option(
         "--events", options->events,
         "Of models: also look with Z3 for the smallest execution that tells them apart, of up to so "
         "many events (`lockstep distinguish`)")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  options->limits.add_to(*app, "each run; without it 10 s");
  app->add_option("--trace", options->trace_file, "Write the execution that one side alone has to a file")
      ->type_name("FILE");
  app->add_flag("--json", options->json, "Print JSON, schema lockstep.compare/1");
  app->footer(
      "Examples:\n"
      "  lockstep compare quick-release quick-release/split-fifo\n"
      "  lockstep compare write-through write-through+early-acknowledgement --race-free\n"
      "  lockstep compare quick-release@HEAD quick-release --race-free --warm\n"
      "                                                             what you have changed\n"
      "  lockstep compare quick-release quick-release,s-fifo1-entries=1 --up-to 5\n"
      "  lockstep compare tso rmo --events 6\n"
      "  lockstep compare rc11 mine.cat --tests mytests/ --up-to 5\n"
      "\n"
      "docs/comparison.md says what is compared. Exit status: 0 no difference was found, 1 they\n"
      "differ, 2 bad input, 3 a limit was reached, 130 interrupted.");
  return {app, [options] { return run(*options); }};
}

}  // namespace lockstep::cli
