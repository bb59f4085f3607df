// `lockstep litmus`: runs litmus tests on memory systems.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "checker/litmus/faults.hpp"
#include "checker/litmus/report.hpp"
#include "checker/litmus/suite.hpp"
#include "checker/support/diagnostic.hpp"
#include "cli/command.hpp"
#include "cli/common.hpp"

namespace lockstep::cli {

namespace {

struct LitmusOptions {
  std::vector<std::string> paths;
  std::vector<std::string> systems{"sc", "write-through", "quick-release"};
  std::vector<std::string> models{"hrf-indirect"};
  std::vector<std::string> unreduced;
  std::string faults_of;
  std::string trace_folder;
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
    if (!subject.system->runs_programs) {
      throw BadInput(fmt::format("{} runs no programs", name),
                     fmt::format("`lockstep check {}` explores it", name));
    }
    subject.options.reductions = reductions_without(options.unreduced);
    const bool twice =
        std::any_of(all.begin(), all.end(), [&](const Subject& s) { return s.name() == subject.name(); });
    if (!twice) all.push_back(std::move(subject));
  }
  apply_shared(options.choice.shared(), all);
  return all;
}

SuiteFiles tests_of(const LitmusOptions& options) {
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
  if (!options.all) std::erase_if(files.tests, [](const auto& test) { return !has_tag(*test, "quick"); });
  return files;
}

std::string suite_progress(const SuiteProgress& progress) {
  return fmt::format("{} of {} runs, {:.0f} s", progress.done, progress.all, progress.seconds);
}

// Where a counterexample goes with --trace: FOLDER/TEST.SYSTEM.trace.json, and -2, -3, ... for further ones.
std::string write_traces(const TestReport& report, const std::string& folder) {
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

int run_tests(const LitmusOptions& options) {
  SuiteOptions suite;
  suite.systems = subjects(options.systems, options);
  suite.judged.clear();
  for (const std::string& model : options.models) suite.judged.push_back(model_named(model));
  suite.limits = options.limits.limits();
  if (!options.trace_folder.empty()) std::filesystem::create_directories(options.trace_folder);

  const SuiteFiles files = tests_of(options);
  for (const std::string& error : files.errors) print_error(error);
  std::vector<std::string> errors = files.errors;

  ProgressLine progress;
  SummaryTable table(suite.systems);
  RuleCoverage coverage;
  std::vector<nlohmann::json> reports;
  std::string findings;
  suite.on_progress = [&](const SuiteProgress& now) { progress.show(suite_progress(now)); };
  suite.on_report = [&](const TestReport& report) {
    progress.erase();
    for (const std::string& error : report.errors()) {
      print_error(error);
      errors.push_back(error);
    }
    table.add(report);
    add_coverage(coverage, report);
    for (const std::string& line : finding_lines(report)) findings += line + "\n";
    std::string traces;
    if (!options.trace_folder.empty()) traces = write_traces(report, options.trace_folder);
    if (options.json) {
      reports.push_back(report_json(report));
    } else if (!options.summary_only) {
      print_now(report_text(report) + traces + "\n");
    }
  };
  SuiteTotals totals = run_suite(files.tests, suite);
  totals.errors += files.errors.size();
  progress.erase();

  if (options.json) {
    print_now(suite_json(std::move(reports), errors, coverage, totals).dump(1) + "\n");
  } else {
    if (!table.empty()) print_now(table.text() + "\n");
    if (!findings.empty()) print_now(findings + "\n");
    if (!table.empty()) print_now(coverage_text(coverage, options.coverage) + "\n");
    print_now(totals_text(totals, suite.systems.size()));
  }
  return exit_status(totals);
}

int run_faults_of(const LitmusOptions& options) {
  FaultOptions suite;
  suite.system = subjects({options.faults_of}, options).front();
  suite.limits = options.limits.limits();
  const SuiteFiles files = tests_of(options);
  for (const std::string& error : files.errors) print_error(error);

  ProgressLine progress;
  std::vector<FaultReport> reports;
  suite.on_report = [&](const FaultReport& report) { reports.push_back(report); };
  suite.on_progress = [&](const SuiteProgress& now) {
    progress.show(fmt::format("{} of {} faults, {:.0f} s", now.done, now.all, now.seconds));
  };
  SuiteTotals totals = run_faults(files.tests, suite);
  totals.errors += files.errors.size();
  progress.erase();
  if (options.json) {
    print_now(faults_json(reports, suite.system, totals).dump(1) + "\n");
  } else {
    print_now(fault_table(reports, suite.system.description(), totals));
  }
  return exit_status(totals);
}

}  // namespace

Command add_litmus(CLI::App& lockstep) {
  auto options = std::make_shared<LitmusOptions>();
  CLI::App* app = lockstep.add_subcommand("litmus", "Run litmus tests on memory systems");
  app->add_option(
      "TESTS", options->paths,
      "Files, folders, or names of tests that come with Lockstep (default: those tagged `quick`)");
  app->add_flag("--all", options->all, "Every test that comes with Lockstep, not only the quick ones");
  add_list(*app, "--on", options->systems, "Systems to run on")->type_name("S,S")->capture_default_str();
  add_list(*app, "--model", options->models, "Models whose violation is a failure")
      ->type_name("M,M")
      ->capture_default_str();
  options->choice.add_to(*app);
  options->limits.add_to(*app, "each test on each system");
  add_list(*app, "--no-reduce", options->unreduced, "Reductions to do without: local, links, dead, defer")
      ->type_name("R,R");
  app->add_option("--faults", options->faults_of, "Instead: which tests kill which faults of a system")
      ->type_name("SYSTEM");
  app->add_option("--trace", options->trace_folder, "Write each counterexample to a file in this folder")
      ->type_name("FOLDER");
  app->add_flag("--summary-only", options->summary_only, "Only the table and what differs");
  app->add_flag("--coverage", options->coverage, "Name the rules that no test fired");
  app->add_flag("--json", options->json, "Print JSON, schema lockstep.litmus/1");
  app->footer(
      "Examples:\n"
      "  lockstep litmus                                        the quick tests, on sc,\n"
      "                                                         write-through, quick-release\n"
      "  lockstep litmus --all --summary-only                   all tests, only the table\n"
      "  lockstep litmus mp-agent mine.litmus litmus/sb         tests by name, file, folder\n"
      "  lockstep litmus --on quick-release/split-fifo --trace traces\n"
      "  lockstep litmus --faults write-through                 what the suite is worth\n"
      "\n"
      "Exit status: 0 all as expected, 1 a verdict differs or a system violates a model,\n"
      "2 bad input, 3 a limit was reached, 130 interrupted.");
  return {app,
          [options] { return options->faults_of.empty() ? run_tests(*options) : run_faults_of(*options); }};
}

}  // namespace lockstep::cli
