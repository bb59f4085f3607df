// Litmus tests on memory systems: outcomes, races, conformance, expectations, and what is printed of them.
#include "checker/litmus/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>

#include "checker/check/check.hpp"
#include "checker/litmus/faults.hpp"
#include "checker/litmus/report.hpp"
#include "checker/litmus/suite.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/jobs.hpp"
#include "checker/support/process.hpp"

using namespace lockstep;

namespace {

namespace fs = std::filesystem;

const std::string home = LOCKSTEP_SOURCE_DIR "/litmus";

std::shared_ptr<const LitmusTest> from_text(const std::string& text) {
  return std::make_shared<const LitmusTest>(parse_litmus(text, "t.litmus"));
}

std::shared_ptr<const LitmusTest> shipped(const std::string& name) {
  const SuiteFiles files = read_tests(std::vector{name}, home);
  REQUIRE(files.errors.empty());
  REQUIRE(files.tests.size() == 1);
  return files.tests.front();
}

// Message passing with a branch, and lines of fields for its header.
std::string message_passing(const std::string& fields) {
  return "HRF mp\n\"doc\"\n" + fields + R"({ x = 0; flag = 0; }
 P0@wg 0,agent 0          | P1@wg 1,agent 0           ;
 st x, 1                  | ld.acquire.agent r0, flag ;
 st.release.agent flag, 1 | bne r0, 1, END            ;
                          | ld r1, x                  ;
                          | END:                      ;
exists (P1:r0 == 1 /\ P1:r1 == 0)
)";
}

// A thread that counts for ever.
const std::string endless_count = R"(HRF count
{ x = 0; P0:r0 = 0; }
 P0@wg 0,agent 0 ;
 L: add r0, r0, 1 ;
 st x, r0 ;
 goto L ;
exists (x == 1)
)";

// Four threads that have much to do, without a race.
const std::string large = R"(HRF large
{ x = 0; y = 0; z = 0; w = 0; }
 P0@wg 0,agent 0 | P1@wg 1,agent 0 | P2@wg 2,agent 1 | P3@wg 3,agent 1 ;
 st.release.system x, 1 | st.release.system y, 1 | st.release.system z, 1 | st.release.system w, 1 ;
 st.release.system y, 2 | st.release.system z, 2 | st.release.system w, 2 | st.release.system x, 2 ;
 st.release.system z, 3 | st.release.system w, 3 | st.release.system x, 3 | st.release.system y, 3 ;
 ld.acquire.system r0, w | ld.acquire.system r0, x | ld.acquire.system r0, y | ld.acquire.system r0, z ;
exists (P0:r0 == 1 /\ x == 1)
)";

SystemRun run_on(const LitmusTest& test, const std::string& system, const RunLimits& limits = {}) {
  return run_on_system(test, subject_named(system), limits);
}

struct SuiteResult {
  std::vector<TestReport> reports;
  SuiteTotals totals;
};

SuiteResult run(const LitmusTests& tests, const std::vector<std::string>& systems, RunLimits limits = {}) {
  SuiteOptions options;
  for (const std::string& name : systems) options.systems.push_back(subject_named(name));
  options.limits = limits;
  SuiteResult result;
  options.on_report = [&](const TestReport& report) { result.reports.push_back(report); };
  result.totals = run_suite(tests, options);
  return result;
}

TestReport run_one(const std::shared_ptr<const LitmusTest>& test, const std::vector<std::string>& systems) {
  SuiteResult result = run({test}, systems);
  REQUIRE(result.reports.size() == 1);
  return result.reports.front();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

class Folder {
 public:
  std::string add(const std::string& name, const std::string& text) const {
    const fs::path file = folder_.path() / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
    return file.string();
  }
  [[nodiscard]] std::string path() const { return folder_.path().string(); }

 private:
  TemporaryFolder folder_;
};

}  // namespace

// ---- one test on one system -------------------------------------------------------------------------------

TEST_CASE("a memory system accesses the element that a register names, and fails where there is none") {
  const auto run_with = [](int last) {
    const auto test = from_text(
        "HRF elements\n{ x[3] = {0, 5, 7}; y = 0; }\n P0@wg 0,agent 0 ;\n ld r0, y ;\n"
        " L: ld r1, x[r0] ;\n st x[r0], 9 ;\n add r0, r0, 1 ;\n blt r0, " +
        std::to_string(last) +
        ", L ;\n atom.relaxed.agent.add r2, x[r0], 1 ;\nexists (P0:r1 == 5 /\\ P0:r2 == 7 /\\"
        " x[0] == 9 /\\ x[1] == 9 /\\ x[2] == 8)\n");
    const SystemRun run = run_on(*test, "write-through");
    return std::pair(run.status, tally(*test, run.outcomes));
  };
  const auto [status, outcomes] = run_with(2);
  CHECK(status == RunStatus::complete);
  CHECK(outcomes.positive == 1);
  CHECK(outcomes.negative == 0);
  CHECK(run_with(3).first == RunStatus::assertion);
}

TEST_CASE("SC reaches every interleaving's outcome and no other") {
  const auto test = from_text(R"(HRF sb
{ x = 0; y = 0; }
 P0@wg 0,agent 0 | P1@wg 1,agent 0 ;
 st x, 1 | st y, 1 ;
 ld r0, y | ld r0, x ;
exists (P0:r0 == 0 /\ P1:r0 == 0)
)");
  const SystemRun run = run_on(*test, "sc");
  CHECK(run.status == RunStatus::complete);
  CHECK(run.outcomes == std::vector<Outcome>{{0, 1}, {1, 0}, {1, 1}});
  CHECK(run.tally.observation() == Observation::never);
}

TEST_CASE("no reduction changes the outcomes") {
  const std::string name =
      GENERATE("mp-agent-unguarded", "sb-agent", "mp-barrier-wg", "corr-plain-agent", "mp-host-reads");
  const std::string system = GENERATE("sc", "write-through", "quick-release");
  const auto test = shipped(name);
  CAPTURE(name, system);
  const SystemRun reduced = run_on_system(*test, subject_named(system), {}, Derive::always);
  Subject plain = subject_named(system);
  plain.options.reductions = Reductions::none();
  const SystemRun full = run_on_system(*test, plain, {});
  REQUIRE(full.status == RunStatus::complete);
  CHECK(reduced.outcomes == full.outcomes);
  CHECK(reduced.exploration.states <= full.exploration.states);
  for (const std::string reduction : {"moves", "stubborn", "dead", "at-once"}) {
    CAPTURE(reduction);
    Subject without = subject_named(system);
    without.options.reductions = reductions_without(std::vector{reduction});
    CHECK(run_on_system(*test, without, {}, Derive::always).outcomes == full.outcomes);
  }
  CHECK(run_on(*test, system).outcomes == full.outcomes);
}

TEST_CASE("what has to be derived is derived where a test turns out to be large") {
  const SystemRun small = run_on(*shipped("corr-wg"), "quick-release");
  CHECK_FALSE(small.subject.options.reductions.stubborn);
  CHECK(small.subject.options.reductions.at_once);
  const auto test = shipped("isa2-agent");
  const SystemRun large = run_on(*test, "quick-release");
  CHECK(large.subject.options.reductions.stubborn);
  CHECK(large.subject.options.reductions.dead);
  CHECK(large.status == RunStatus::complete);
  // More than are visited before that, when nothing is derived.
  Subject subject = subject_named("quick-release");
  subject.options.reductions = reductions_without(std::vector<std::string>{"stubborn", "dead"});
  const SystemRun plain = run_on_system(*test, subject, {});
  CHECK(plain.exploration.states > 4'000);
  CHECK(plain.outcomes == large.outcomes);
}

TEST_CASE("a barrier that a thread of the work-group never reaches is a deadlock with a trace") {
  const auto test = from_text(R"(HRF lonely
{ x = 0; }
 P0@wg 0,agent 0 | P1@wg 0,agent 0 ;
 barrier | st x, 1 ;
exists (x == 1)
)");
  const SystemRun run = run_on(*test, GENERATE("sc", "write-through", "quick-release"));
  CHECK(run.status == RunStatus::deadlock);
  REQUIRE(run.failure);
  CHECK(run.failure->end == TraceEnd::deadlock);
  CHECK(replay(*run.failure).difference.empty());
}

TEST_CASE("an assertion that fails ends the run with a trace") {
  const auto test =
      from_text("HRF a\n{ x = 1; }\n P0@wg 0,agent 0 ;\n ld r0, x ;\n assert r0 == 2 ;\nexists (x == 1)\n");
  const SystemRun run = run_on(*test, GENERATE("sc", "write-through", "quick-release"));
  CHECK(run.status == RunStatus::assertion);
  REQUIRE(run.failure);
  CHECK(run.failure->what == "no assertion of the program fails");
  CHECK(replay(*run.failure).difference.empty());
}

TEST_CASE("a run is held against the same without reductions, and what these leave out or invent is named",
          "[many-states]") {
  const auto test = from_text(R"(HRF sb
{ x = 0; y = 0; }
 P0@wg 0,agent 0 | P1@wg 1,agent 0 ;
 st x, 1 | st y, 1 ;
 ld r0, y | ld r0, x ;
exists (P0:r0 == 0 /\ P1:r0 == 0)
)");
  SystemRun run = run_on(*test, GENERATE("sc", "quick-release"));
  const ReductionCheck agrees = check_reductions(*test, run, {});
  CHECK(agrees.compared);
  CHECK(agrees.difference.empty());
  CHECK(agrees.states > run.exploration.states);

  const Outcome last = run.outcomes.back();
  run.outcomes.pop_back();
  CHECK(check_reductions(*test, run, {}).difference ==
        "the reductions leave out " + outcome_text(*test, last));
  run.outcomes.push_back(last);
  run.outcomes.push_back(Outcome(last.size(), 3));
  CHECK(check_reductions(*test, run, {}).difference ==
        "the reductions invent " + outcome_text(*test, run.outcomes.back()));

  run.status = RunStatus::deadlock;
  CHECK(check_reductions(*test, run, {}).difference == "with reductions: deadlock, without: complete");
  run.status = RunStatus::out_of_time;
  CHECK_FALSE(check_reductions(*test, run, {}).compared);
}

TEST_CASE("a program that counts beyond what a word holds is told so by name") {
  const SystemRun run = run_on(*from_text(endless_count), "sc");
  CHECK(run.status == RunStatus::error);
  CHECK_THAT(run.message, Catch::Contains("'count'") && Catch::Contains("hint: bound"));
}

TEST_CASE("a program larger than the built capacity is an error of its run") {
  std::string header, code;
  for (int i = 0; i < 7; ++i) {
    header += (i > 0 ? " | " : " ") + ("P" + std::to_string(i)) + "@wg 0,agent 0";
    code += std::string(i > 0 ? " |" : "") + " st x, 1";
  }
  const SystemRun run =
      run_on(*from_text("HRF seven\n{ x = 0; }\n" + header + " ;\n" + code + " ;\nexists (x == 1)\n"), "sc");
  CHECK(run.status == RunStatus::error);
  CHECK_THAT(run.message, Catch::Contains("needs 7 threads"));
}

TEST_CASE("a run that stops at a limit says which", "[many-states]") {
  const auto test = from_text(large);
  RunLimits limits;
  limits.time = std::chrono::milliseconds(50);
  CHECK(run_on(*test, "quick-release", limits).status == RunStatus::out_of_time);
  limits = {};
  limits.memory = 4 << 20;
  CHECK(run_on(*test, "quick-release", limits).status == RunStatus::out_of_memory);
  const std::atomic<bool> interrupted{true};
  limits = {};
  limits.interrupted = &interrupted;
  CHECK(run_on(*test, "quick-release", limits).status == RunStatus::interrupted);
}

TEST_CASE("a wanted outcome is found with a shortest execution that replays, an impossible one is not") {
  const auto test = shipped("mp-agent-unguarded");
  const auto trace = find_outcome(*test, subject_named("quick-release"), {}, [&](const Outcome& outcome) {
    return outcome == Outcome{0, 1};
  });
  REQUIRE(trace);
  CHECK(trace->what == "P1:r0=0; P1:r1=1;");
  CHECK(replay(*trace).difference.empty());
  CHECK_FALSE(
      find_outcome(*test, subject_named("sc"), {}, [](const Outcome& outcome) { return outcome[0] == 7; }));
}

// ---- judging ----------------------------------------------------------------------------------------------

TEST_CASE("a guarded message-passing test is race-free and obeyed") {
  const TestReport report =
      run_one(from_text(message_passing("Race=hrf-indirect:no\nExpect=sc:never, quick-release:never\n")),
              {"sc", "write-through", "quick-release"});
  CHECK(report.verdict() == TestVerdict::as_expected);
  CHECK(report.findings.empty());
  for (const Conformance& one : report.conformance) {
    CHECK(one.of(SyncReading::any_location) == Standing::conforms);
    CHECK(one.of(SyncReading::same_location) == Standing::conforms);
  }
}

TEST_CASE("a split S-FIFO violates HRF-indirect with an execution to look at, and obeys HRF-direct") {
  const TestReport report = run_one(shipped("chain-wg-agent"), {"quick-release/split-fifo"});
  CHECK(report.verdict() == TestVerdict::differs);
  REQUIRE_FALSE(report.findings.empty());
  const Finding& finding = report.findings.front();
  CHECK(finding.kind == Finding::Kind::violation);
  CHECK_THAT(finding.text, Catch::StartsWith("violates hrf-indirect with P2:r0=1; P2:r1=0;"));
  REQUIRE(finding.evidence);
  CHECK(finding.evidence->end == TraceEnd::outcome);
  CHECK(replay(*finding.evidence).difference.empty());
  for (const Conformance& one : report.conformance) {
    CAPTURE(name(one.model));
    if (one.model == RaceModel::hrf_direct) CHECK_FALSE(one.violates());
    if (one.model == RaceModel::hrf_indirect) CHECK(one.violates());
  }
}

TEST_CASE("what a system does with a racy program is reported, not judged") {
  const TestReport report = run_one(shipped("scope-wg-sync-across-agent"), {"quick-release"});
  REQUIRE(beyond_sc(report.runs[0], report.sc));
  CHECK(report.verdict() == TestVerdict::as_expected);
  CHECK_THAT(report_text(report), Catch::Contains("Beyond-SC scope-wg-sync-across-agent quick-release"));
}

TEST_CASE("a fault that breaks message passing is a violation") {
  SuiteOptions options;
  options.systems = {subject_named("write-through")};
  options.systems[0].options.faults = {"acquire-keeps-l1"};
  std::vector<TestReport> reports;
  options.on_report = [&](const TestReport& report) { reports.push_back(report); };
  const SuiteTotals totals = run_suite({shipped("mp-stale-agent")}, options);
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].verdict() == TestVerdict::differs);
  CHECK(exit_status(totals) == 1);
}

TEST_CASE("an expected observation that is not met is a finding") {
  SECTION("with an execution where there is an unwanted one") {
    const auto test = from_text(message_passing("Expect=sc:always\n"));
    const TestReport report = run_one(test, {"sc"});
    REQUIRE(report.findings.size() == 1);
    CHECK(report.findings[0].kind == Finding::Kind::unexpected);
    CHECK(report.findings[0].text == "never, expected always");
    CHECK(report.findings[0].evidence);
    CHECK(finding_lines(report) == std::vector<std::string>{"mp on sc: never, expected always"});
  }
  SECTION("without where nothing can be shown") {
    const TestReport report = run_one(from_text(message_passing("Expect=sc:sometimes\n")), {"sc"});
    REQUIRE(report.findings.size() == 1);
    CHECK_FALSE(report.findings[0].evidence);
  }
  SECTION("not where it is about a system that did not run, or another variant") {
    const auto test = from_text(message_passing("Expect=quick-release:always\n"));
    CHECK(run_one(test, {"sc"}).findings.empty());
    CHECK(run_one(test, {"quick-release/as-printed"}).findings.empty());
    CHECK(run_one(test, {"quick-release"}).findings.size() == 1);
  }
}

TEST_CASE("an expected race that is not found, and an unexpected one that is, are findings") {
  const TestReport report = run_one(from_text(message_passing("Race=hrf-direct:yes\n")), {"sc"});
  REQUIRE(report.findings.size() == sync_readings.size());
  CHECK_THAT(report.findings[0].text, Catch::StartsWith("race-free under hrf-direct"));
  const auto racy = from_text(R"(HRF racy
Race=drf:no
{ x = 0; }
 P0@wg 0,agent 0 | P1@wg 1,agent 0 ;
 st x, 1 | ld r0, x ;
exists (P1:r0 == 1)
)");
  const TestReport other = run_one(racy, {"sc"});
  REQUIRE(other.findings.size() == sync_readings.size());
  CHECK_THAT(other.findings[0].text, Catch::StartsWith("races under drf") && Catch::Contains("'st x, 1'"));
}

// ---- many tests -------------------------------------------------------------------------------------------

TEST_CASE("reports come in the order of the tests, whatever ends first") {
  const LitmusTests tests{shipped("chain-wg-agent"), shipped("mp-agent"), shipped("sb-agent"),
                          shipped("mp-wg")};
  RunLimits limits;
  limits.threads = 4;
  const SuiteResult result = run(tests, {"sc", "quick-release"}, limits);
  REQUIRE(result.reports.size() == tests.size());
  for (std::size_t i = 0; i < tests.size(); ++i) CHECK(result.reports[i].test == tests[i]);
  CHECK(result.totals.as_expected == tests.size());
}

TEST_CASE("one test's error leaves the others' verdicts alone") {
  const SuiteResult result = run({shipped("mp-agent"), from_text(endless_count), shipped("mp-wg")}, {"sc"});
  CHECK(result.totals.as_expected == 2);
  CHECK(result.totals.errors == 1);
  REQUIRE(result.reports.size() == 3);
  CHECK(result.reports[1].errors().size() == 1);
  CHECK(exit_status(result.totals) == 2);
}

TEST_CASE("an interrupted suite reports what it began and counts what it did not") {
  const std::atomic<bool> interrupted{true};
  RunLimits limits;
  limits.interrupted = &interrupted;
  const SuiteResult result = run({shipped("mp-agent"), shipped("mp-wg")}, {"sc"}, limits);
  CHECK(result.totals.interrupted);
  CHECK(result.totals.skipped == 2);
  CHECK(exit_status(result.totals) == 130);
}

TEST_CASE("the exit status is the gravest: interruption, bad input, difference, limit") {
  SuiteTotals totals;
  CHECK(exit_status(totals) == 0);
  totals.inconclusive = 1;
  CHECK(exit_status(totals) == 3);
  totals.differing = 1;
  CHECK(exit_status(totals) == 1);
  totals.errors = 1;
  CHECK(exit_status(totals) == 2);
  totals.interrupted = true;
  CHECK(exit_status(totals) == 130);
}

TEST_CASE("a test that hits a limit is inconclusive, and its system is not judged", "[many-states]") {
  RunLimits limits;
  limits.memory = 2 << 20;
  const SuiteResult result = run({from_text(large)}, {"quick-release"}, limits);
  REQUIRE(result.reports.size() == 1);
  const TestReport& report = result.reports[0];
  REQUIRE(report.sc.status == RunStatus::complete);
  REQUIRE(report.runs[0].status == RunStatus::out_of_memory);
  for (const Conformance& one : report.conformance)
    CHECK(one.of(SyncReading::any_location) == Standing::unknown);
  CHECK(result.totals.inconclusive == 1);
  CHECK(exit_status(result.totals) == 3);
  CHECK_THAT(report_text(report), Catch::Contains("\nInconclusive\n") && Catch::Contains("out of memory"));
}

TEST_CASE("jobs run once each, and an exception from one reaches the caller") {
  std::atomic<int> sum{0};
  run_jobs(
      100, 4, [&](std::size_t i) { sum += static_cast<int>(i); }, [] {});
  CHECK(sum == 4950);
  CHECK_THROWS_AS(run_jobs(
                      3, 2,
                      [](std::size_t i) {
                        if (i == 1) throw BadInput("no");
                      },
                      [] {}),
                  BadInput);
}

// ---- faults -----------------------------------------------------------------------------------------------

TEST_CASE("a fault is killed by a test that it breaks and alive where none does") {
  FaultOptions options;
  options.system = subject_named("write-through");
  std::map<std::string, FaultReport> reports;
  options.on_report = [&](const FaultReport& report) { reports[report.fault] = report; };
  const SuiteTotals totals = run_faults({shipped("mp-stale-agent")}, options);
  CHECK(totals.tests == options.system.system->faults.size());
  CHECK(reports.at("acquire-keeps-l1").killers == std::vector<std::string>{"mp-stale-agent (outcome)"});
  CHECK(reports.at("cpu-not-invalidated").alive());
  CHECK(exit_status(totals) == 1);
}

TEST_CASE("a racy test kills no fault, whatever the fault makes of it") {
  const auto racy = from_text(R"(HRF racy-stale
{ x = 0; flag = 0; }
 P0@wg 0,agent 0 | P1@wg 1,agent 0 ;
 st x, 1 | ld r2, x ;
 st.release.agent flag, 1 | ld.acquire.agent r0, flag ;
  | ld r1, x ;
exists (P1:r0 == 1 /\ P1:r1 == 0)
)");
  FaultOptions options;
  options.system = subject_named("write-through");
  Subject faulty = options.system;
  faulty.options.faults = {"acquire-keeps-l1"};
  REQUIRE(run_on_system(*racy, faulty, {}).tally.positive > 0);
  REQUIRE(run_on_system(*racy, options.system, {}).tally.positive == 0);
  std::size_t killed = 0;
  options.on_report = [&](const FaultReport& report) { killed += report.killers.size(); };
  run_faults({racy}, options);
  CHECK(killed == 0);
}

TEST_CASE("a test that fails without the fault kills no fault") {
  FaultOptions options;
  options.system = subject_named("quick-release/split-fifo");
  std::size_t killed = 0;
  options.on_report = [&](const FaultReport& report) { killed += report.killers.size(); };
  run_faults({shipped("chain-wg-agent")}, options);
  CHECK(killed == 0);
}

// ---- reading tests ----------------------------------------------------------------------------------------

TEST_CASE("a file that cannot be read costs none of the others") {
  const Folder folder;
  folder.add("good.litmus", message_passing(""));
  folder.add("empty.litmus", "");
  folder.add("binary.litmus", std::string("\x00\xff\x7f", 3));
  folder.add("truncated.litmus", message_passing("").substr(0, 90));
  folder.add("below/other.litmus", message_passing(""));
  fs::create_directories(folder.path() + "/folder.litmus");
  const SuiteFiles files = read_tests(std::vector{folder.path()}, home);
  CHECK(files.tests.size() == 2);
  CHECK(files.errors.size() == 4);
}

TEST_CASE("a file named twice is read once, and a test may be named without its file") {
  const Folder folder;
  const std::string file = folder.add("a.litmus", message_passing(""));
  CHECK(read_tests(std::vector{file, folder.path(), folder.path() + "/./a.litmus"}, home).tests.size() == 1);
  CHECK(read_tests(std::vector<std::string>{"mp-agent"}, home).tests.at(0)->name == "mp-agent");
}

TEST_CASE("a test that does not exist is named with the nearest that does") {
  const SuiteFiles files = read_tests(std::vector<std::string>{"mp-agnet"}, home);
  REQUIRE(files.errors.size() == 1);
  CHECK_THAT(files.errors[0], Catch::Contains("mp-agnet") && Catch::Contains("did you mean 'mp-agent'?"));
}

TEST_CASE("clients are left out of folders unless they are wanted") {
  const SuiteFiles without = read_tests(std::vector{home + "/clients"}, home);
  CHECK(without.tests.empty());
  REQUIRE(without.errors.size() == 1);
  CHECK_THAT(without.errors[0], Catch::Contains("only clients"));
  CHECK_FALSE(read_tests(std::vector{home + "/clients"}, home, Clients::include).tests.empty());
  CHECK(read_tests(std::vector{home + "/clients/ownership-agent.litmus"}, home).tests.size() == 1);
}

// ---- what is asked of systems -----------------------------------------------------------------------------

TEST_CASE("options go to the systems that know them, and an unknown one is named with the nearest") {
  std::vector<Subject> subjects{subject_named("sc"), subject_named("quick-release")};
  apply_shared({"split-fifo", {"mask-ignored"}, {{"s-fifo1-entries", 3}}}, subjects);
  CHECK(subjects[0].description() == "sc");
  CHECK(subjects[1].description() == "quick-release/split-fifo, fault mask-ignored, s-fifo1-entries=3");
  const auto message = [&](const SharedOptions& options) -> std::string {
    std::vector<Subject> fresh{subject_named("sc"), subject_named("quick-release")};
    try {
      apply_shared(options, fresh);
    } catch (const BadInput& error) {
      return error.what();
    }
    return "";
  };
  CHECK_THAT(message({"split-fifos", {}, {}}), Catch::Contains("did you mean 'split-fifo'?"));
  CHECK_THAT(message({"", {"mask-ignore"}, {}}), Catch::Contains("did you mean 'mask-ignored'?"));
  CHECK_THAT(message({"", {}, {{"s-fifo1-entry", 3}}}), Catch::Contains("did you mean 's-fifo1-entries'?"));
  CHECK_THAT(message({"", {}, {{"s-fifo1-entries", 300}}}), Catch::Contains("above the"));
  CHECK_THROWS_AS(subject_named("quick-relase"), BadInput);
  std::vector<Subject> named{subject_named("quick-release/as-printed")};
  CHECK_THROWS_AS(apply_shared({"split-fifo", {}, {}}, named), BadInput);
}

TEST_CASE("a size is a name, an equals sign and a positive number") {
  CHECK(parse_size("node=4") == std::pair<std::string, int>{"node", 4});
  for (const std::string bad :
       {"node", "node=", "=4", "node=x", "node=4x", "node=0", "node=-1", "node=99999999999"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(parse_size(bad), BadInput);
  }
}

// ---- what is printed --------------------------------------------------------------------------------------

TEST_CASE("a test on a system is printed in herd's block") {
  const SystemRun run = run_on(*from_text(message_passing("")), "sc");
  const std::string block =
      std::regex_replace(herd_block(*from_text(message_passing("")), run), std::regex(R"(\d+\.\d\d)"), "T");
  CHECK(block == fmt::format("Test mp Allowed\n"
                             "States 2\n"
                             "P1:r0=0; P1:r1=0;\n"
                             "P1:r0=1; P1:r1=1;\n"
                             "No\n"
                             "Witnesses\n"
                             "Positive: 0 Negative: 2\n"
                             "Condition exists (P1:r0=1 /\\ P1:r1=0)\n"
                             "Observation mp Never 0 2\n"
                             "System sc {} states, {} transitions, T s\n"
                             "Time mp T\n",
                             run.exploration.states, run.exploration.transitions));
}

TEST_CASE("the summary table fits a page with any number of systems") {
  std::vector<Subject> subjects;
  for (const SystemEntry& system : systems()) {
    if (!system.runs_programs) continue;
    for (const Variant& variant : system.variants) {
      Subject subject{&system, {}, nullptr, nullptr};
      subject.options.variant = variant.name;
      subjects.push_back(subject);
    }
  }
  auto long_name = std::make_shared<LitmusTest>(parse_litmus(message_passing(""), "t.litmus"));
  long_name->name = std::string(60, 'n');
  for (std::size_t count = 1; count <= subjects.size(); count += 1 + count / 2) {
    SuiteOptions options;
    options.systems.assign(subjects.begin(), subjects.begin() + static_cast<std::ptrdiff_t>(count));
    SummaryTable table(options.systems);
    options.on_report = [&](const TestReport& report) { table.add(report); };
    run_suite({long_name}, options);
    for (const std::string& line : lines_of(table.text())) CHECK(line.size() <= page_width);
    for (const Subject& subject : options.systems) CHECK_THAT(table.text(), Catch::Contains(subject.name()));
  }
}

TEST_CASE("the table marks violations, outcomes beyond SC, and what was not expected") {
  SummaryTable table({subject_named("quick-release/split-fifo")});
  table.add(run_one(shipped("chain-wg-agent"), {"quick-release/split-fifo"}));
  CHECK_THAT(table.text(), Catch::Contains("sometimes!"));
  SummaryTable racy({subject_named("quick-release")});
  racy.add(run_one(shipped("scope-wg-sync-across-agent"), {"quick-release"}));
  CHECK_THAT(racy.text(), Catch::Contains("sometimes~"));
  SummaryTable unexpected({subject_named("sc")});
  unexpected.add(run_one(from_text(message_passing("Expect=sc:always\n")), {"sc"}));
  CHECK_THAT(unexpected.text(), Catch::Contains("never*"));
}

TEST_CASE("JSON holds what the text says, and the traces of findings replay from it") {
  const TestReport report = run_one(shipped("chain-wg-agent"), {"quick-release/split-fifo"});
  const nlohmann::json json = suite_json({report_json(report)}, {"an error"}, RuleCoverage{}, SuiteTotals{});
  CHECK(json.at("schema") == "lockstep.litmus/1");
  const nlohmann::json& test = json.at("tests").at(0);
  CHECK(test.at("name") == "chain-wg-agent");
  CHECK(test.at("verdict") == "differs");
  CHECK(test.at("systems").at(0).at("observation") == "sometimes");
  CHECK(test.at("systems").at(0).at("beyond_sc") == true);
  const RecordedTrace trace = parse_trace(test.at("findings").at(0).at("trace").dump(), "finding");
  CHECK(replay(trace).difference.empty());
}

// ---- check ------------------------------------------------------------------------------------------------

TEST_CASE("check verifies German's protocol and finds each of its faults") {
  Subject german = subject_named("german");
  german.options.reductions = Reductions::none();
  german.options.sizes = {{"node", 3}};
  const CheckRun sound = check(german, {});
  CHECK(sound.status == CheckStatus::holds);
  CHECK(coverage_of(std::vector{sound}).never_fired("german").empty());
  for (const Fault& fault : german.system->faults) {
    CAPTURE(fault.name);
    german.options.faults = {std::string(fault.name)};
    const CheckRun faulty = check(german, {});
    CHECK(faulty.status == CheckStatus::violated);
    REQUIRE(faulty.counterexample);
    CHECK(replay(*faulty.counterexample).difference.empty());
    CHECK_THAT(check_text(faulty), Catch::Contains("violated: "));
    CHECK(exit_status(std::vector{faulty}, false) == 1);
  }
}

TEST_CASE("check reports a limit as inconclusive and bad options as an error") {
  Subject german = subject_named("german");
  CheckOptions options;
  options.limits.memory = 1 << 20;
  const CheckRun small = check(german, options);
  CHECK(small.status == CheckStatus::inconclusive);
  CHECK(exit_status(std::vector{small}, false) == 3);
  german.options.variant = "none such";
  const CheckRun bad = check(german, {});
  CHECK(bad.status == CheckStatus::error);
  CHECK(exit_status(std::vector{bad}, false) == 2);
}

TEST_CASE("rules that fire in any of several runs count as fired") {
  RuleCoverage coverage;
  const std::vector<RuleDescription> rules{{"a", "u", "", Fairness::fair, {}, false},
                                           {"b", "u", "", Fairness::fair, {}, false},
                                           {"c", "u", "", Fairness::fair, {}, true}};
  coverage.add("s", rules, std::vector<std::uint64_t>{1, 0, 0});
  REQUIRE(coverage.never_fired("s").size() == 1);
  CHECK(coverage.never_fired("s")[0].name == "b");
  coverage.add("s", rules, std::vector<std::uint64_t>{0, 1, 0});
  CHECK(coverage.never_fired("s").empty());
}

TEST_CASE("the line of progress fits a terminal") {
  const Progress progress{4'000'000'000, 900'000'000, 99'000'000'000, 100'000, 99'999, std::size_t{1} << 40};
  CHECK(progress_text(std::string(100, 'n'), progress).size() <= 79);
  CHECK_THAT(progress_text("mp", Progress{1234567, 5000, 9000000, 12, 2.0, 1 << 20}),
             Catch::StartsWith("mp  1.23 M states  617 k/s  depth 12  5.00 k waiting"));
}
