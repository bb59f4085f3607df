// `lockstep progress`: does synchronization code terminate, on this scheduler, on this memory system?
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "checker/axiomatic/cat_compiler.hpp"
#include "checker/language/read_tests.hpp"
#include "checker/liveness/confirm.hpp"
#include "checker/liveness/model_progress.hpp"
#include "checker/liveness/table.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/json_text.hpp"
#include "checker/systems/scheduled_registry.hpp"
#include "cli/command.hpp"
#include "cli/common.hpp"
#include "spec/sync/catalogue.hpp"

namespace lockstep::cli {

namespace {

struct Options {
  std::vector<std::string> programs;
  std::vector<std::string> parameters;
  std::string program_fault;
  std::string system = "sc";
  std::vector<std::string> models;
  int unroll = UnrollLimits().iterations;
  std::vector<std::string> schedulers;
  std::vector<std::string> settings;
  std::vector<std::string> situations;
  std::string fairness = "weak";
  std::vector<std::string> unreduced;
  std::vector<std::string> symmetry;
  std::string trace_file;
  bool confirm = false;
  bool despite_unsafe = false;
  bool json = false;
  SystemChoice choice;
  LimitOptions limits;
};

// A program, and what its file expects of it.
struct Asked {
  std::vector<std::shared_ptr<const Program>> programs;
  std::vector<std::vector<ExpectedProgress>> expected;
  LitmusTests tests;  // the same, as models read them
  void add(Program program, const std::shared_ptr<const LitmusTest>& test) {
    programs.push_back(std::make_shared<const Program>(std::move(program)));
    expected.push_back(test->expected_progress);
    tests.push_back(test);
  }
  void add(Program program) {
    LitmusTest test;
    test.dialect = "HRF";
    test.name = program.name;
    test.program = program;
    add(std::move(program), std::make_shared<const LitmusTest>(std::move(test)));
  }
};

bool is_sync_program(const std::string& name) {
  const auto all = sync_programs();
  return std::any_of(all.begin(), all.end(),
                     [&](const SyncProgram& one) { return one.name == name.substr(0, name.find('/')); });
}

Program build_sync_program(const std::string& name, const Options& options) {
  const auto slash = name.find('/');
  SyncParameters parameters;
  if (slash != std::string::npos) parameters.variant = name.substr(slash + 1);
  parameters.fault = options.program_fault;
  for (const std::string& text : options.parameters) {
    const auto equals = text.find('=');
    int value = 0;
    const char* const end = text.data() + text.size();
    const char* const from = equals == std::string::npos ? end : text.data() + equals + 1;
    const auto read = std::from_chars(from, end, value);
    if (from == end || read.ec != std::errc{} || read.ptr != end)
      throw BadInput(fmt::format("'{}' is not a parameter", text), "write NAME=NUMBER, such as threads=3");
    parameters.values.emplace(text.substr(0, equals), value);
  }
  try {
    return sync_program(name.substr(0, slash)).build(parameters);
  } catch (const std::invalid_argument& error) {
    throw BadInput(error.what());
  }
}

Asked programs_of(const Options& options, std::vector<std::string>& errors) {
  std::string home;
  try {
    home = litmus_home();
  } catch (const BadInput&) {
  }
  Asked asked;
  std::vector<std::string> files;
  for (const std::string& name : options.programs) {
    if (is_sync_program(name) && !std::filesystem::exists(name)) {
      asked.add(build_sync_program(name, options));
    } else {
      files.push_back(name);
    }
  }
  if ((!options.parameters.empty() || !options.program_fault.empty()) && asked.programs.empty())
    throw BadInput("--with and --program-fault are for synchronization programs",
                   "`lockstep list programs` names them");
  if (options.programs.empty()) files.push_back((std::filesystem::path(litmus_home()) / "sync").string());
  if (files.empty()) return asked;
  SuiteFiles read = read_tests(files, home, Clients::include);
  refuse_launches(read, "schedulers run programs");
  errors = std::move(read.errors);
  for (const auto& test : read.tests) asked.add(for_memory_systems(*test), test);
  return asked;
}

const ScheduledEntry& entry_of(const Options& options) {
  return scheduled_entry(*subject_named(options.system).system);
}

// Unless some are named, those that the memory system can have, and of which symmetry is known.
std::vector<SchedulerSetup> schedulers_of(const Options& options) {
  std::vector<SchedulerSetup> setups;
  const std::vector<std::string> names = options.schedulers.empty() ? scheduler_names() : options.schedulers;
  for (const std::string& name : names) {
    SchedulerSetup setup = scheduler_named(name);
    const bool can_be = !setup.is_policy || (!entry_of(options).monitor.empty() && options.symmetry.empty());
    if (options.schedulers.empty() && !can_be) continue;
    for (const std::string& setting : options.settings) apply_setting(setup, setting);
    setups.push_back(setup);
  }
  return setups;
}

std::vector<Situation> situations_of(const Options& options) {
  // Whoever gives slots has said what there is room for; and memory that takes many steps takes many states.
  const bool is_small = entry_of(options).performs_at_once;
  const bool resident = !options.settings.empty() || !is_small || !options.symmetry.empty();
  if (options.situations.empty() && resident) return {Situation::resident};
  if (options.situations.empty()) return {situations.begin(), situations.end()};
  std::vector<Situation> all;
  for (const std::string& name : options.situations) all.push_back(situation_named(name));
  return all;
}

LivenessOptions liveness_options(const Options& options) {
  LivenessOptions liveness;
  liveness.limits = options.limits.limits();
  set_fairness(liveness, options.fairness);
  liveness.despite_unsafe = options.despite_unsafe;
  liveness.symmetry = symmetry_of(options.symmetry);
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
  print_now(options.json ? json_text(confirmation_json(all), 1) + "\n" : confirmation_text(all));
  const auto any = [&](Agreement agreement) {
    return std::any_of(all.begin(), all.end(),
                       [&](const Confirmation& c) { return c.agreement == agreement; });
  };
  if (any(Agreement::interrupted)) return 130;
  if (any(Agreement::error)) return 2;
  if (any(Agreement::differ)) return 1;
  return any(Agreement::inconclusive) ? 3 : 0;
}

// Where a verdict, with a slot for everybody and nothing set, is not the file's.
std::vector<std::string> unexpected(const ProgressTable& table,
                                    const std::vector<std::vector<ExpectedProgress>>& expected) {
  std::vector<std::string> differing;
  for (const ProgressCell& cell : table.cells) {
    if (!cell.asked || cell.situation != Situation::resident || cell.run.termination == Termination::error)
      continue;
    for (const ExpectedProgress& one : expected[cell.program]) {
      if (one.scheduler != cell.scheduler || one.verdict == word(cell.run.termination)) continue;
      if (one.verdict == word(Termination::unsafe) && !cell.run.unsafe.empty()) continue;
      differing.push_back(fmt::format("{} under {}: {}, expected {} (line {})",
                                      table.programs[cell.program]->name, cell.scheduler,
                                      word(cell.run.termination), one.verdict, one.place.line));
    }
  }
  return differing;
}

// Under axiomatic models instead of on a memory system.
int run_models(const Options& options, const Asked& asked, bool errors) {
  std::vector<ProgressModel> schedulers;
  for (const std::string& name : options.schedulers) {
    const SchedulerSetup setup = scheduler_named(name);
    if (setup.is_policy)
      throw BadInput(fmt::format("'{}' is a waiting policy, and models know none", name),
                     "with --model: unfair hsa obe hsa-obe lobe fair");
    schedulers.push_back(setup.model);
  }
  if (schedulers.empty()) {
    for (const NamedProgressModel& one : progress_models) schedulers.push_back(one.model);
  }
  std::vector<AxiomaticModel> models;
  for (const std::string& name : options.models) {
    fmt::print(stderr, "{}", models.emplace_back(name).warnings());
    refuse_vacuous(models.back());
  }
  JudgeOptions judging;
  const RunLimits limits = options.limits.limits();
  judging.time = limits.time;
  judging.interrupted = limits.interrupted;
  judging.unroll.iterations = options.unroll;
  std::vector<ModelProgress> all;
  ProgressLine progress;
  for (const auto& test : asked.tests) {
    for (const AxiomaticModel& model : models) {
      progress.show(fmt::format("{} of {}: {} under {}", all.size(), asked.tests.size() * models.size(),
                                test->name, model.name()));
      if (!interrupted()) all.push_back(judge_progress(*test, model, schedulers, judging));
    }
  }
  progress.erase();
  print_now(options.json ? json_text(progress_json(all), 1) + "\n" : progress_text(all));
  bool no = false;
  bool open = false;
  bool differs = false;
  std::set<std::string> messages;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const ModelProgress& one = all[i];
    if (one.status == RunStatus::error && messages.insert(one.message).second) print_error(one.message);
    errors = errors || one.status == RunStatus::error;
    const auto& expected = asked.expected[i / models.size()];
    for (const ModelProgress::Verdict& verdict : one.verdicts) {
      const std::string_view said = word(verdict.termination);
      open = open || verdict.termination == Termination::inconclusive;
      bool judged = false;
      for (const ExpectedProgress& line : expected) {
        if (line.scheduler != name_of(verdict.scheduler)) continue;
        judged = true;
        // A run that cannot be left is none of its own to a model.
        const std::string_view wanted = line.verdict == "trap" ? "livelock" : std::string_view(line.verdict);
        if (wanted == said || verdict.termination == Termination::inconclusive) continue;
        differs = true;
        print_error(fmt::format("{} under {} with {}: {}, expected {} (line {})", one.program, one.model,
                                line.scheduler, said, line.verdict, line.place.line));
      }
      no = no || (!judged && verdict.termination != Termination::terminates &&
                  verdict.termination != Termination::inconclusive);
    }
  }
  if (interrupted()) return 130;
  if (errors) return 2;
  if (no || differs) return 1;
  return open ? 3 : 0;
}

int run(const Options& options) {
  std::vector<std::string> errors;
  Asked asked = programs_of(options, errors);
  for (const std::string& error : errors) print_error(error);
  if (asked.programs.empty()) return 2;
  if (!options.models.empty()) return run_models(options, asked, !errors.empty());
  if (options.confirm) return confirm(asked.programs, options);
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
      fill(std::move(asked.programs), schedulers_of(options), situations_of(options), table_options);
  progress.erase();
  const std::vector<std::string> differing = unexpected(table, asked.expected);
  std::vector<const LivenessRun*> runs;
  for (const ProgressCell& cell : table.cells) {
    if (cell.asked) runs.push_back(&cell.run);
  }
  if (options.json) {
    print_now(json_text(table_json(table), 1) + "\n");
  } else if (runs.size() == 1) {
    print_now(liveness_text(*runs.front()));
  } else {
    print_now(table_text(table));
  }
  std::set<std::string> errors_of_runs;
  for (const LivenessRun* one : runs) {
    if (one->termination == Termination::error && errors_of_runs.insert(one->message).second)
      print_error(one->message);
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
  for (const std::string& text : differing) print_error(text);
  if (!errors.empty()) return 2;
  // Files that say what they expect are judged by that.
  const bool judged = std::all_of(asked.expected.begin(), asked.expected.end(),
                                  [](const auto& expected) { return !expected.empty(); });
  const int status = exit_status(runs, table.interrupted);
  if (status == 1 && judged) return differing.empty() ? 0 : 1;
  return status == 0 && !differing.empty() ? 1 : status;
}

}  // namespace

Command add_progress(CLI::App& lockstep) {
  auto options = std::make_shared<Options>();
  CLI::App* app = lockstep.add_subcommand("progress", "Ask whether programs terminate under schedulers");
  app->add_option(
      "PROGRAMS", options->programs,
      "Files, folders, names of tests, or of programs (`lockstep list programs`); default: litmus/sync");
  add_list(*app, "--with", options->parameters, "Parameters of synchronization programs")->type_name("P=N");
  app->add_option("--program-fault", options->program_fault, "A deliberate mistake of theirs");
  app->add_option("--on", options->system, "Memory system, or SYSTEM/VARIANT")->capture_default_str();
  add_list(*app, "--model", options->models,
           "Instead of a memory system: axiomatic models, by name or file; tests whose loops wait")
      ->type_name("M,M")
      ->excludes("--on");
  app->add_option("--unroll", options->unroll, "With --model: how often a path executes one instruction")
      ->type_name("N")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  add_list(*app, "--scheduler", options->schedulers,
           "unfair hsa obe hsa-obe lobe fair; busy-waiting timeout monrs-all monr-all monnr-all monnr-one "
           "awg min-resume "
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
  app->add_flag("--despite-unsafe", options->despite_unsafe,
                "Judge progress although a claim or an invariant fails on the way, and say which");
  add_list(*app, "--symmetry", options->symmetry,
           "Visit one of the states that differ in the names of members of these index types, or of `all`; "
           "under weak fairness")
      ->type_name("T,T");
  options->choice.add_to(*app);
  options->limits.add_to(*app, "each question");
  for (const char* const other : {"--set", "--situation", "--fairness", "--despite-unsafe", "--symmetry"})
    app->get_option("--model")->excludes(other);
  add_list(*app, "--no-reduce", options->unreduced,
           "`moves`: also see the states between a thread's own moves")
      ->type_name("R");
  app->add_option("--trace", options->trace_file, "File for the first lasso or path that says no")
      ->type_name("FILE");
  app->add_flag("--confirm", options->confirm,
                "Instead ask SPIN, under weak fairness, what it says of the fair model");
  app->add_flag("--json", options->json, "Print JSON, schema lockstep.progress/1");
  app->footer(
      "Examples:\n"
      "  lockstep progress                                     the tables\n"
      "  lockstep progress ticket-lock --with threads=3,rounds=0 --scheduler obe,fair\n"
      "  lockstep progress prior-sem --with readers=3,writers=3 --scheduler fair --symmetry all\n"
      "  lockstep progress one-waits --model ptx-v6.0 --scheduler obe\n"
      "  lockstep progress FILE --scheduler awg --set slots=2 --trace hang.json\n"
      "\n"
      "One question prints its lasso; several print a table. Exit status: 0 all end,\n"
      "1 some do not, 2 bad input, 3 a limit was reached, 130 interrupted.");
  return {app, [options] { return run(*options); }};
}

}  // namespace lockstep::cli
