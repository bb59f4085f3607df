// `lockstep litmus`: runs litmus tests on memory systems.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "checker/axiomatic/graph.hpp"
#include "checker/axiomatic/suite.hpp"
#include "checker/generate/matrix.hpp"
#include "checker/litmus/faults.hpp"
#include "checker/litmus/for_ci.hpp"
#include "checker/litmus/record.hpp"
#include "checker/litmus/report.hpp"
#include "checker/litmus/suite.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/digest.hpp"
#include "checker/support/journal.hpp"
#include "checker/support/json_text.hpp"
#include "checker/support/process.hpp"
#include "cli/command.hpp"
#include "cli/common.hpp"

namespace lockstep::cli {

namespace {

bool takes_launches(const SystemEntry& system) {
  return system.build_launched != nullptr;
}
bool takes_tests(const SystemEntry& system) {
  return system.runs_programs || takes_launches(system);
}
std::vector<std::string> all_that_take_tests() {
  std::vector<std::string> names;
  for (const SystemEntry& system : systems()) {
    if (takes_tests(system) && !system.only_if_named) names.emplace_back(system.name);
  }
  return names;
}

struct LitmusOptions {
  std::vector<std::string> paths;
  std::vector<std::string> systems = all_that_take_tests();
  std::vector<std::string> models;                   // to run the tests under
  std::vector<std::string> against{"hrf-indirect"};  // to hold the systems against
  std::vector<std::string> include_path;
  std::string graph_folder;
  int iterations = UnrollLimits{}.iterations;
  bool systems_asked = false;
  std::vector<std::string> unreduced;
  bool check_footprints = false;
  bool check_reductions = false;
  std::string faults_of;
  std::string trace_folder;
  std::string junit;
  std::string sarif;
  std::string shard;
  std::string journal;              // that is kept, and gone on from
  std::vector<std::string> merged;  // journals of others
  bool all = false;
  bool json = false;
  bool summary_only = false;
  bool coverage = false;
  SystemChoice choice;
  LimitOptions limits;
};

std::vector<Subject> subjects(const std::vector<std::string>& names, const LitmusOptions& options) {
  std::vector<Subject> all;
  for (const std::string& name : names) {
    Subject subject = subject_named(name);
    if (!takes_tests(*subject.system)) {
      throw BadInput(fmt::format("{} runs no programs", name),
                     fmt::format("`lockstep check {}` explores it", name));
    }
    subject.options.reductions = reductions_without(options.unreduced);
    subject.options.check_footprints = options.check_footprints;
    const bool twice =
        std::any_of(all.begin(), all.end(), [&](const Subject& s) { return s.name() == subject.name(); });
    if (!twice) all.push_back(std::move(subject));
  }
  apply_shared(options.choice.shared(), all);
  return all;
}

// Besides the systems that are always run: those that the named tests have expectations of.
void add_expected_systems(const LitmusTests& tests, LitmusOptions& options) {
  const auto is_known = [](const std::string& name) {
    try {
      return takes_tests(*subject_named(name).system);
    } catch (const BadInput&) {
      return false;
    }
  };
  for (const auto& test : tests) {
    for (const ExpectedObservation& expected : test->expected) {
      const bool listed = std::count(options.systems.begin(), options.systems.end(), expected.system) > 0;
      if (!listed && is_known(expected.system)) options.systems.push_back(expected.system);
    }
  }
}

// What was asked for by name has to run somewhere.
void refuse_unrunnable(const SuiteFiles& files) {
  const LitmusTests& tests = files.launches.empty() ? files.tests : files.launches;
  if (tests.empty()) return;
  const bool launches = !files.launches.empty();
  std::string able;
  for (const SystemEntry& system : systems()) {
    if (launches ? takes_launches(system) : system.runs_programs)
      able += (able.empty() ? "" : ", ") + std::string(system.name);
  }
  throw BadInput(Diagnostic{tests.front()->file,
                            {},
                            launches ? "is a sequence of launches, which the systems do not take"
                                     : "is a program, which the systems do not run",
                            "choose others with --on: " + able,
                            {}});
}

// Tests of one kind, programs or launches, and the systems that take them.
struct Part {
  LitmusTests tests;
  std::vector<Subject> systems;
};
std::vector<Part> parts_of(const SuiteFiles& files, const LitmusOptions& options) {
  Part programs{files.tests, {}};
  Part launches{files.launches, {}};
  for (Subject& subject : subjects(options.systems, options))
    (subject.system->runs_programs ? programs : launches).systems.push_back(std::move(subject));
  std::vector<Part> parts;
  for (Part& part : std::array{std::move(programs), std::move(launches)}) {
    if (!part.tests.empty() && !part.systems.empty()) parts.push_back(std::move(part));
  }
  if (parts.empty() && !options.paths.empty()) refuse_unrunnable(files);
  return parts;
}

SuiteFiles all_tests_of(const LitmusOptions& options) {
  if (!options.paths.empty()) {
    // A name alone may be a file, or a test that comes with Lockstep.
    std::string home;
    try {
      home = litmus_home();
    } catch (const BadInput&) {
    }
    return read_tests(options.paths, home);
  }
  const std::string home = litmus_home();
  SuiteFiles files = read_tests(std::vector{home}, home);
  if (!options.all) {
    for (LitmusTests* tests : {&files.tests, &files.launches})
      std::erase_if(*tests, [](const auto& test) { return !has_tag(*test, "quick"); });
  }
  return files;
}

// Those of the shard that is asked for.
SuiteFiles shard_of(SuiteFiles files, const LitmusOptions& options) {
  if (options.shard.empty()) return files;
  const generate::Shard shard = generate::parse_shard(options.shard);
  std::size_t next = 0;
  for (LitmusTests* tests : {&files.tests, &files.launches})
    std::erase_if(*tests, [&](const auto&) { return next++ % shard.of != shard.number; });
  return files;
}
// Tests that have been judged before, by their place among all, and a journal of those to come.
class Kept {
 public:
  // All tests, whichever shard runs; under models, if there are any.
  Kept(const SuiteFiles& files, const LitmusOptions& options, const std::vector<Subject>& on,
       const AxiomaticModels& models = {}) {
    if (options.journal.empty() && options.merged.empty()) return;
    std::string texts;
    for (const LitmusTests* tests : {&files.tests, &files.launches}) {
      for (const auto& test : *tests) {
        places_.try_emplace(test.get(), places_.size());
        texts += test->name + "\n";
        if (std::error_code none; std::filesystem::is_regular_file(test->file, none))
          texts += read_file(test->file);
      }
    }
    const auto take = [&](const nlohmann::json& line) {
      records_[line.at("place").get<std::size_t>()] = record_from(line.at("test"));
    };
    nlohmann::json systems = nlohmann::json::array();
    for (const Subject& subject : on) systems.push_back(subject.description());
    nlohmann::json header{{"tests", digest(texts)},
                          {"systems", std::move(systems)},
                          {"no_reduce", options.unreduced},
                          {"check_footprints", options.check_footprints},
                          {"timeout_ms", options.limits.limits().time.count()},
                          {"build", build_identity()}};
    if (models.empty()) {
      header["against"] = options.against;
    } else {
      header["unroll"] = options.iterations;
      for (const auto& model : models)
        header["models"].push_back({model->name(), digest(cat::whole_text(model->source()))});
    }
    Journal::read_all(options.merged, "litmus", header, take);
    if (!options.journal.empty()) journal_.emplace(options.journal, "litmus", header, take);
  }
  [[nodiscard]] const LitmusRecord* find(const LitmusTest& test) const {
    if (records_.empty()) return nullptr;
    const auto found = records_.find(places_.at(&test));
    return found == records_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] bool keeps() const { return journal_.has_value(); }
  void keep(const LitmusTest& test, const LitmusRecord& record) {
    journal_->append({{"place", places_.at(&test)}, {"test", record_json(record)}});
  }

 private:
  std::map<const LitmusTest*, std::size_t> places_;
  std::map<std::size_t, LitmusRecord> records_;
  std::optional<Journal> journal_;
};

// Where a counterexample goes with --trace: FOLDER/TEST.SYSTEM.trace.json, and -2, -3, ... for further ones.
template <class Report>
std::string write_traces(const Report& report, const std::string& folder) {
  std::string text;
  std::map<std::string, int> written;
  for (const Finding& finding : report.findings) {
    if (!finding.evidence) continue;
    std::string name = fmt::format("{}.{}", report.test->name, finding.system);
    std::replace(name.begin(), name.end(), '/', '-');
    const int times = ++written[name];
    if (times > 1) name += fmt::format("-{}", times);
    const std::string file = (std::filesystem::path(folder) / (name + ".trace.json")).string();
    write_trace(*finding.evidence, file);
    text += fmt::format("Trace {} written to {}\n", report.test->name, file);
  }
  return text;
}

// Files for other people's CI.
void write_for_ci(const LitmusOptions& options, const std::vector<JudgedTest>& judged,
                  const std::vector<std::string>& unread) {
  if (!options.junit.empty()) write_file(options.junit, junit_xml(judged, unread));
  if (!options.sarif.empty()) write_file(options.sarif, sarif_json(judged, unread));
}

// What cannot be written is said before the run, not after it.
void prepare_for_ci(const LitmusOptions& options) {
  for (const std::string& file : {options.junit, options.sarif}) {
    if (!file.empty()) ensure_writable(file);
  }
}

// What a run has told of its tests, in their order: those that were judged before among the others.
class Told {
 public:
  Told(const LitmusOptions& options, Kept& kept, std::vector<std::string> unread)
      : options_(options), kept_(kept), errors_(std::move(unread)) {
    for (const std::string& error : errors_) print_error(error);
    unread_ = errors_.size();
  }

  // Of tests that are told next, those that are to be run; of what is merged, none.
  LitmusTests begin(const LitmusTests& tests, SummaryTable table) {
    tables_.push_back(std::move(table));
    end_ = tests.end();
    next_ = tests.begin();
    LitmusTests due = tests;
    std::erase_if(due, [&](const auto& test) { return kept_.find(*test) != nullptr; });
    if (options_.merged.empty()) return due;
    for (const auto& test : due) missing_.push_back(test->name);
    return {};
  }
  void end(const SuiteTotals& totals) {
    totals_.add(totals);
    tell_kept(nullptr);
  }
  // One that has been judged now. What else is written of it is called for first.
  template <class Report, class Write>
  void judged(const Report& report, Write&& write) {
    tell_kept(report.test.get());
    if (next_ != end_) ++next_;
    LitmusRecord record = record_of(report);
    const std::string written = write();
    if (options_.json || kept_.keeps()) record.report = report_json(report);
    if ((!options_.json && !options_.summary_only) || kept_.keeps())
      record.text = report_text(report) + written;
    // One that was stopped short is run again.
    if (kept_.keeps() && !interrupted()) kept_.keep(*report.test, record);
    tell(record);
  }
  void show(const SuiteProgress& now) {
    progress_.show(fmt::format("{} of {} runs, {:.0f} s", now.done, now.all, now.seconds));
  }

  // At the end: files for CI, and the report, of which `as_json` and `last` make what differs from run to
  // run.
  int finish(const std::function<nlohmann::json(Told&)>& as_json,
             const std::function<std::string(Told&)>& last) {
    totals_.errors += unread_;
    progress_.erase();
    write_for_ci(options_, judged_,
                 std::vector(errors_.begin(), errors_.begin() + static_cast<std::ptrdiff_t>(unread_)));
    if (options_.json) {
      print_now(json_text(as_json(*this), 1) + "\n");
    } else {
      std::erase_if(tables_, [](const SummaryTable& table) { return table.empty(); });
      for (const SummaryTable& table : tables_) print_now(table.text() + "\n");
      if (!findings_.empty()) print_now(findings_ + "\n");
      print_now(last(*this));
    }
    if (!missing_.empty()) {
      print_error(fmt::format("{} tests are in none of the journals, {} the first", missing_.size(),
                              missing_.front()));
      return exit_status(totals_) == 0 ? 3 : exit_status(totals_);
    }
    return exit_status(totals_);
  }

  std::vector<nlohmann::json> reports;
  RuleCoverage coverage;
  [[nodiscard]] const SuiteTotals& totals() const { return totals_; }
  [[nodiscard]] const std::vector<std::string>& errors() const { return errors_; }
  [[nodiscard]] bool any_tests() const { return !tables_.empty(); }

 private:
  void tell(const LitmusRecord& record) {
    progress_.erase();
    for (const std::string& error : record.judged.errors) {
      print_error(error);
      errors_.push_back(error);
    }
    tables_.back().add(record.judged.name, record.cells);
    record.add_to(coverage);
    for (const std::string& line : record.findings) findings_ += line + "\n";
    judged_.push_back(record.judged);
    if (options_.json) {
      reports.push_back(record.report);
    } else if (!options_.summary_only) {
      print_now(record.text + "\n");
    }
  }
  void tell_kept(const LitmusTest* up_to) {
    for (; next_ != end_ && next_->get() != up_to; ++next_) {
      const LitmusRecord* const record = kept_.find(**next_);
      if (record == nullptr) continue;
      tell(*record);
      totals_.count(record->judged.verdict);
      totals_.seconds += record->judged.seconds;
    }
  }

  const LitmusOptions& options_;
  Kept& kept_;
  ProgressLine progress_;
  std::vector<SummaryTable> tables_;
  std::vector<JudgedTest> judged_;
  std::string findings_;
  std::vector<std::string> errors_;  // first of files that could not be read
  std::size_t unread_ = 0;
  SuiteTotals totals_;
  LitmusTests::const_iterator next_;
  LitmusTests::const_iterator end_;
  std::vector<std::string> missing_;  // of what is merged
};

int run_tests(LitmusOptions options) {
  SuiteFiles files = all_tests_of(options);
  if (!options.systems_asked && !options.paths.empty()) {
    add_expected_systems(files.tests, options);
    add_expected_systems(files.launches, options);
  }
  Kept kept(files, options, subjects(options.systems, options));
  files = shard_of(std::move(files), options);
  SuiteOptions suite;
  suite.judged.clear();
  for (const std::string& model : options.against) suite.judged.push_back(race_model_named(model).value());
  suite.limits = options.limits.limits();
  if (!options.trace_folder.empty()) std::filesystem::create_directories(options.trace_folder);

  Told told(options, kept, files.errors);
  const std::vector<Part> parts = parts_of(files, options);
  suite.on_progress = [&](const SuiteProgress& now) { told.show(now); };
  suite.on_report = [&](const TestReport& report) {
    told.judged(report, [&] {
      return options.trace_folder.empty() ? std::string() : write_traces(report, options.trace_folder);
    });
  };
  suite.check_reductions = options.check_reductions;
  std::vector<Subject> systems;
  for (const Part& part : parts) {
    suite.systems = part.systems;
    systems.insert(systems.end(), part.systems.begin(), part.systems.end());
    const LitmusTests due = told.begin(part.tests, SummaryTable(suite.systems));
    told.end(run_suite(due, suite));
  }
  return told.finish(
      [](Told& t) { return suite_json(std::move(t.reports), t.errors(), t.coverage, t.totals()); },
      [&](Told& t) {
        return (t.any_tests() ? coverage_text(t.coverage, options.coverage) + "\n" : "") +
               totals_text(t.totals(), systems.size()) + rests_on_text(systems);
      });
}

// ---- under models ----

// Writes a graph of every outcome of a test under a model: those that the model allows, and those that only
// its checks rule out. FOLDER/TEST.MODEL.N.allowed.svg, with the .dot that it is drawn from.
std::string write_graphs(const LitmusTest& test, const AxiomaticModel& model, const ModelRun& run,
                         const JudgeOptions& judging, const std::string& folder) {
  constexpr std::size_t most = 64;
  JudgeOptions unconstrained = judging;
  unconstrained.unconstrained = true;
  const ModelRun all = judge(test, model, unconstrained);
  std::string text;
  std::size_t number = 0;
  for (const AllowedOutcome& one : all.outcomes) {
    if (++number > most) break;
    const auto candidate = find_candidate(test, model, one.outcome, judging);
    if (!candidate) continue;
    const bool allowed = run.allows(one.outcome);
    const std::string name =
        fmt::format("{}.{}.{}.{}", test.name, model.name(), number, allowed ? "allowed" : "forbidden");
    std::string safe = name;
    std::replace(safe.begin(), safe.end(), '/', '-');
    const std::filesystem::path file = std::filesystem::path(folder) / safe;
    const std::string dot =
        candidate_dot(test, *candidate,
                      fmt::format("{}: {} by {}: {}", test.name, allowed ? "allowed" : "forbidden",
                                  model.name(), outcome_text(test, one.outcome)));
    write_file(file.string() + ".dot", dot);
    write_file(file.string() + ".svg", render_svg(dot));
    text += fmt::format("Graph {} of {} written to {}.svg\n", outcome_text(test, one.outcome), test.name,
                        file.string());
  }
  return text;
}

int run_under_models(const LitmusOptions& options) {
  ModelSuiteOptions suite;
  const std::vector<std::string>& names = options.models.empty() ? options.against : options.models;
  for (const std::string& name : names) {
    suite.models.push_back(std::make_shared<const AxiomaticModel>(name, options.include_path));
    fmt::print(stderr, "{}", suite.models.back()->warnings());
    refuse_vacuous(*suite.models.back());
  }
  if (options.models.empty() || options.systems_asked) {
    suite.systems = subjects(options.systems, options);
    // Of those that run by default, one takes launches alone.
    if (!options.systems_asked)
      std::erase_if(suite.systems, [](const Subject& subject) { return !subject.system->runs_programs; });
    for (const Subject& subject : suite.systems) {
      if (!subject.system->runs_programs) throw BadInput(fmt::format("{} runs no programs", subject.name()));
    }
  }
  suite.limits = options.limits.limits();
  suite.unroll.iterations = options.iterations;
  for (const std::string& folder : {options.trace_folder, options.graph_folder}) {
    if (!folder.empty()) std::filesystem::create_directories(folder);
  }
  const JudgeOptions judging{suite.unroll, suite.limits.time, suite.limits.interrupted, false};

  const SuiteFiles all = all_tests_of(options);
  if (!options.paths.empty()) refuse_launches(all, "models judge programs");
  Kept kept(all, options, suite.systems, suite.models);
  const SuiteFiles files = shard_of(all, options);

  Told told(options, kept, files.errors);
  std::vector<std::string> columns;
  for (const auto& model : suite.models) columns.push_back(model->name());
  for (const Subject& subject : suite.systems) columns.push_back(subject.name());
  suite.on_progress = [&](const SuiteProgress& now) { told.show(now); };
  suite.on_report = [&](const ModelReport& report) {
    told.judged(report, [&] {
      std::string written;
      if (!options.trace_folder.empty()) written += write_traces(report, options.trace_folder);
      if (options.graph_folder.empty()) return written;
      for (std::size_t m = 0; m < suite.models.size(); ++m) {
        if (report.models[m].status != RunStatus::complete) continue;
        written +=
            write_graphs(*report.test, *suite.models[m], report.models[m], judging, options.graph_folder);
      }
      return written;
    });
  };
  const LitmusTests due = told.begin(files.tests, SummaryTable(columns));
  told.end(run_model_suite(due, suite));
  return told.finish([](Told& t) { return model_suite_json(std::move(t.reports), t.errors(), t.totals()); },
                     [&](Told& t) {
                       return totals_text(t.totals(), suite.systems.size(), suite.models.size()) +
                              rests_on_text(suite.systems);
                     });
}

int run_faults_of(const LitmusOptions& options) {
  FaultOptions suite;
  suite.system = subjects({options.faults_of}, options).front();
  suite.limits = options.limits.limits();
  const SuiteFiles files = shard_of(all_tests_of(options), options);
  for (const std::string& error : files.errors) print_error(error);

  ProgressLine progress;
  std::vector<FaultReport> reports;
  suite.on_report = [&](const FaultReport& report) { reports.push_back(report); };
  suite.on_progress = [&](const SuiteProgress& now) {
    progress.show(fmt::format("{} of {} faults, {:.0f} s", now.done, now.all, now.seconds));
  };
  SuiteTotals totals = run_faults(takes_launches(*suite.system.system) ? files.launches : files.tests, suite);
  totals.errors += files.errors.size();
  progress.erase();
  if (options.json) {
    print_now(json_text(faults_json(reports, suite.system, totals), 1) + "\n");
  } else {
    print_now(fault_table(reports, suite.system.description(), totals) +
              rests_on_text(std::span(&suite.system, 1)));
  }
  return exit_status(totals);
}

}  // namespace

Command add_litmus(CLI::App& lockstep) {
  auto options = std::make_shared<LitmusOptions>();
  CLI::App* app = lockstep.add_subcommand("litmus", "Run litmus tests on memory systems and under models");
  app->add_option(
      "TESTS", options->paths,
      "Files, folders, or names of tests that come with Lockstep (default: those tagged `quick`)");
  app->add_flag("--all", options->all, "Every test that comes with Lockstep, not only the quick ones");
  CLI::Option* const on = add_list(*app, "--on", options->systems,
                                   "Systems to run on, and those that tests named here expect something of");
  on->type_name("S,S")->capture_default_str();
  add_list(*app, "--model", options->models,
           "Instead, or with --on besides: axiomatic models to run under, names or .cat files")
      ->type_name("M,M");
  add_list(*app, "--against", options->against,
           "Models that the systems are held against; names or .cat files")
      ->type_name("M,M")
      ->capture_default_str();
  add_list(*app, "--include", options->include_path, "Folders where models find what they include")
      ->type_name("FOLDER,FOLDER");
  app->add_option("--unroll", options->iterations,
                  "How often a model's executions run one instruction at most")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app->add_option(
         "--graph", options->graph_folder,
         "Write an execution graph of every outcome under each model to this folder (needs Graphviz)")
      ->type_name("FOLDER");
  options->choice.add_to(*app);
  options->limits.add_to(*app, "each test on each system");
  add_list(*app, "--no-reduce", options->unreduced, no_reduce_what)->type_name("R,R");
  app->add_flag("--check-footprints", options->check_footprints,
                "Hold the trees that stubborn sets follow from against the rules in every state, slowly");
  app->add_flag("--check-reductions", options->check_reductions,
                "Hold every run against the same without reductions, within the limit of time")
      ->needs(app->get_option("--timeout"));
  app->add_option("--faults", options->faults_of, "Instead: which tests kill which faults of a system")
      ->type_name("SYSTEM");
  app->add_option("--trace", options->trace_folder, "Write each counterexample to a file in this folder")
      ->type_name("FOLDER");
  CLI::Option* const faults = app->get_option("--faults");
  app->add_option("--junit", options->junit, "Also write the verdicts to this file, as JUnit's XML")
      ->type_name("FILE")
      ->excludes(faults);
  app->add_option("--sarif", options->sarif, "Also write what is not as it should be, as SARIF 2.1.0")
      ->type_name("FILE")
      ->excludes(faults);
  app->add_option("--shard", options->shard,
                  "Only the Ith of N parts of the tests, for machines that share the work")
      ->type_name("I/N");
  app->add_option("--resume", options->journal, "Keep a journal in this file, and go on from what is in it")
      ->type_name("FILE")
      ->excludes(faults)
      ->excludes(app->get_option("--check-reductions"));
  add_list(*app, "--merge", options->merged, "Run nothing: what these journals of shards have, together")
      ->type_name("FILE,FILE")
      ->excludes(app->get_option("--shard"))
      ->excludes(app->get_option("--resume"))
      ->excludes(app->get_option("--trace"))
      ->excludes(app->get_option("--graph"))
      ->excludes(faults);
  app->add_flag("--summary-only", options->summary_only, "Only the table and what differs");
  app->add_flag("--coverage", options->coverage, "Name the rules that no test fired");
  app->add_flag("--json", options->json, "Print JSON, schema lockstep.litmus/1");
  app->footer(
      "Examples:\n"
      "  lockstep litmus                                        the quick tests, on sc,\n"
      "                                                         write-through, quick-release\n"
      "                                                         and, of launches, on cpcoh\n"
      "  lockstep litmus --all --summary-only                   all tests, only the table\n"
      "  lockstep litmus mp-agent mine.litmus litmus/sb         tests by name, file, folder, also\n"
      "                                                         on the systems they expect things of\n"
      "  lockstep litmus --on quick-release/split-fifo --trace traces\n"
      "  lockstep litmus --model ptx-v6.0,mine.cat tests/       under axiomatic models\n"
      "  lockstep litmus --on quick-release --against rc11      a system against a model\n"
      "  lockstep litmus --faults write-through                 what the suite is worth\n"
      "  lockstep litmus --all --shard 1/2 --resume 1.journal   half of the tests, to be gone on with;\n"
      "  lockstep litmus --all --merge 1.journal,2.journal      both halves\n"
      "\n"
      "Exit status: 0 all as expected, 1 a verdict differs or a system violates a model,\n"
      "2 bad input, 3 a limit was reached, 130 interrupted.");
  return {app, [options, on] {
            options->systems_asked = on->count() > 0;
            prepare_for_ci(*options);
            if (!options->faults_of.empty()) return run_faults_of(*options);
            const bool axiomatic = std::any_of(options->against.begin(), options->against.end(),
                                               [](const auto& one) { return !race_model_named(one); });
            return axiomatic || !options->models.empty() ? run_under_models(*options) : run_tests(*options);
          }};
}

}  // namespace lockstep::cli
