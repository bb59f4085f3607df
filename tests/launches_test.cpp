// Sequences of launches: that they are the system's own transitions and no others, what their questions mean,
// what the suite of CPCoh is worth, and how mistakes in a file are told.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "checker/check/check.hpp"
#include "checker/export/crosscheck.hpp"
#include "checker/language/read_tests.hpp"
#include "checker/litmus/faults.hpp"
#include "checker/litmus/report.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/trace/trace.hpp"
#include "tests/reachable.hpp"

using namespace lockstep;

namespace {

namespace fs = std::filesystem;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

const std::string home = LOCKSTEP_SOURCE_DIR "/litmus";

using Test = std::shared_ptr<const LitmusTest>;

Test from_text(const std::string& text) {
  return std::make_shared<const LitmusTest>(parse_litmus(text, "t.litmus"));
}

// A test of two chiplets with one structure, or as `memory` says.
Test launches(const std::string& rows, const std::string& question, const std::string& memory = "A[1];") {
  return from_text("LAUNCHES t\n{ " + memory + " }\n C0 | C1 ;\n" + rows + question + "\n");
}

LitmusTests suite() {
  const SuiteFiles files = read_tests(std::vector{home + "/cpcoh"}, home);
  REQUIRE(files.errors.empty());
  REQUIRE(files.tests.empty());
  return files.launches;
}

SystemRun run_on(const LitmusTest& test, const std::string& system,
                 const std::vector<std::string>& faults = {}) {
  Subject subject = subject_named(system);
  subject.options.faults = faults;
  return run_on_system(test, subject, RunLimits{});
}

Observation answer(const LitmusTest& test, const std::string& system,
                   const std::vector<std::string>& faults = {}) {
  const SystemRun run = run_on(test, system, faults);
  INFO(run.message);
  REQUIRE(run.status == RunStatus::complete);
  REQUIRE_FALSE(run.outcomes.empty());
  return run.tally.observation();
}

// A part of every reachable state: those fields whose paths begin so, without that beginning.
std::unordered_set<std::string> reachable(const Model& model, const std::string& part) {
  std::unordered_set<std::string> parts;
  const ReachableStates states(model);
  for (const PackedState& state : states.all()) {
    std::string fields;
    for (const auto& [path, value] : model.fields(state.data())) {
      if (path.starts_with(part)) fields += path.substr(part.size()) + "=" + value + " ";
    }
    parts.insert(std::move(fields));
  }
  return parts;
}

std::string refusal(const std::string& text) {
  try {
    parse_litmus(text, "t.litmus");
  } catch (const BadInput& bad) {
    return bad.what();
  }
  return "";
}
std::string refusal_of(const std::string& rows, const std::string& question = "exists (stale)",
                       const std::string& memory = "A[2]; B[2];") {
  return refusal("LAUNCHES t\n{ " + memory + " }\n C0 | C1 ;\n" + rows + "\n" + question + "\n");
}

}  // namespace

TEST_CASE("a sequence of launches reaches states of the system alone, and not all of them") {
  const Test test =
      launches(" K0: R/W A | ;\n H: host reads A ;\n K2: unlabelled ;\n K3: R A | R A ;\n", "exists (stale)");
  Subject alone = subject_named("cpcoh");
  alone.options.reductions = Reductions::none();
  alone.options.sizes = {{"structure", 1}, {"word", 1}, {"line-word", 1}, {"label", 1}, {"cu", 1}};
  Subject given = alone;
  given.options.sizes = {};
  given.launches = test->launches;
  const auto closed = alone.build();
  const auto scripted = given.build();
  const auto every = reachable(*closed, "");
  const auto some = reachable(*scripted, "memory.");
  CHECK(
      std::all_of(some.begin(), some.end(), [&](const std::string& state) { return every.contains(state); }));
  CHECK(some.size() > 50);
  CHECK(some.size() < every.size());
}

TEST_CASE("the suite's verdicts on CPCoh are those that its files expect") {
  const LitmusTests tests = suite();
  REQUIRE(tests.size() >= 30);
  std::set<std::string> systems;
  for (const Test& test : tests) {
    CHECK(fs::path(test->file).stem().string() == test->name);
    for (const ExpectedObservation& expected : test->expected) {
      INFO(test->name << " on " << expected.system);
      systems.insert(expected.system);
      if (sanitized && !has_tag(*test, "quick")) continue;
      CHECK(answer(*test, expected.system) == expected.observation);
    }
  }
  CHECK(systems == std::set<std::string>{"cpcoh", "cpcoh/as-printed", "cpcoh/as-drawn", "cpcoh/keep-dirty",
                                         "cpcoh/baseline", "cpcoh/home-served",
                                         "cpcoh/home-served-as-printed", "cpcoh/overlapping", "cpcoh/l1s"});
}

TEST_CASE("every finding of CPCoh that a sequence shows convicts the print, and not the default") {
  // By number in docs/findings.md; 16 and 17 have no sequence, and 18 and 19 are about what is not printed.
  std::set<int> shown;
  for (const Test& test : suite()) {
    bool convicts = false;
    bool acquits = false;
    for (const ExpectedObservation& expected : test->expected) {
      const bool holds = test->quantifier == Quantifier::forall ? expected.observation == Observation::always
                                                                : expected.observation == Observation::never;
      const bool print = expected.system.find("as-") != std::string::npos;
      if (print && !holds) convicts = true;
      if (expected.system == "cpcoh" && holds) acquits = true;
    }
    if (!convicts || !acquits) continue;
    const std::size_t at = test->doc.rfind("(findings, ");
    if (at == std::string::npos) continue;
    shown.insert(std::stoi(test->doc.substr(at + 11)));
  }
  CHECK(shown == std::set<int>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
}

TEST_CASE("the suite kills the faults of CPCoh") {
  if (sanitized) return;
  FaultOptions options;
  options.system = subject_named("cpcoh");
  options.enough = 1;
  std::set<std::string> alive;
  options.on_report = [&](const FaultReport& report) {
    INFO(report.fault);
    CHECK(report.errors.empty());
    if (report.alive()) alive.insert(report.fault);
  };
  run_faults(suite(), options);
  CHECK(alive == std::set<std::string>{});
}

TEST_CASE("acquires and releases are counted at launches, and of the whole sequence at ends, too") {
  const std::string rows = " K0: R/W A | ;\n K1: | R A ;\n";
  CHECK(answer(*launches(rows, "forall (K0:acquires == 0 /\\ K0:releases == 0)"), "cpcoh") ==
        Observation::always);
  CHECK(answer(*launches(rows, "forall (K1:release@C0 /\\ ~K1:release@C1 /\\ releases == 1)"), "cpcoh") ==
        Observation::always);
  CHECK(answer(*launches(rows, "forall (K1:releases == 0 /\\ releases == 4)"), "cpcoh/baseline") ==
        Observation::always);
  CHECK(answer(*launches(rows, "exists (K1:release@C1)"), "cpcoh") == Observation::never);
}

TEST_CASE("stale and lost are about any launch, or the one that is named") {
  const Test any = launches(" K0: R/W A | ;\n K1: | R A ;\n", "exists (stale)");
  const Test first = launches(" K0: R/W A | ;\n K1: | R A ;\n", "exists (K0:stale)");
  const Test second = launches(" K0: R/W A | ;\n K1: | R A ;\n", "exists (K1:stale)");
  const std::vector<std::string> fault{"no-release-for-reader"};
  CHECK(answer(*any, "cpcoh") == Observation::never);
  CHECK(answer(*any, "cpcoh", fault) == Observation::sometimes);
  CHECK(answer(*first, "cpcoh", fault) == Observation::never);
  CHECK(answer(*second, "cpcoh", fault) == Observation::sometimes);
}

TEST_CASE("a kernel accesses any part of what it is given: a word may be lost or not") {
  const Test test = launches(" K0: R/W A | ;\n K1: unlabelled ;\n", "exists (lost)");
  CHECK(answer(*test, "cpcoh/as-drawn") == Observation::sometimes);
  CHECK(run_on(*test, "cpcoh/as-drawn").outcomes == std::vector<Outcome>{{0}, {1}});
}

TEST_CASE("coarsening happens where a kernel labels more structures than are tracked") {
  const std::string rows = " K0: R/W A, R B | ;\n";
  const std::string question = "forall (K0:A@C0 == dirty /\\ K0:B@C0 == dirty)";
  CHECK(answer(*launches(rows, question, "A[1]; B[1]; labels 1;"), "cpcoh") == Observation::always);
  CHECK(answer(*launches(rows, question, "A[1]; B[1];"), "cpcoh") == Observation::never);
}

TEST_CASE("a sequence explored with reductions has the outcomes that it has without, and footprints hold") {
  const std::string rows = " K0: R A | ;\n K1: R/W A[0] | R/W A[1] ;\n K2: R A | ;\n";
  const Test test = launches(rows, "exists (stale /\\ K2:releases == 1 /\\ K1:A@C0 == dirty)", "A[2];");
  for (const std::string system : {"cpcoh", "cpcoh/as-drawn"}) {
    INFO(system);
    Subject subject = subject_named(system);
    subject.options.check_footprints = true;
    const SystemRun run = run_on_system(*test, subject, RunLimits{});
    INFO(run.message);
    REQUIRE(run.status == RunStatus::complete);
    const ReductionCheck check = check_reductions(*test, run, RunLimits{});
    CHECK(check.compared);
    CHECK(check.difference == "");
    CHECK(run.exploration.states <= check.states);
  }
}

TEST_CASE("what is claimed of every launch can be checked of one sequence") {
  const Test test = launches(" K0: R A | ;\n K1: | R/W A ;\n K2: R A | ;\n", "exists (stale)");
  const auto verdict = [&](const std::string& system) {
    Subject subject = with_client(subject_named(system), *test);
    subject.options.reductions = Reductions::none();
    return check(subject, {});
  };
  CHECK(verdict("cpcoh").status == CheckStatus::holds);
  const CheckRun broken = verdict("cpcoh/as-printed");
  CHECK(broken.status == CheckStatus::violated);
  REQUIRE(broken.counterexample);
  CHECK(broken.counterexample->what == "whatever a running kernel may read is current");
  CHECK(check_text(broken).find("running t") != std::string::npos);
}

TEST_CASE("Rumur and SPIN count a sequence of launches as it is counted here, where they are installed") {
  const Test test = launches(" K0: R A | ;\n K1: | R/W A ;\n K2: R A | ;\n", "exists (stale /\\ lost)");
  CrosscheckOptions options;
  options.limits.time = std::chrono::seconds(240);
  const CrosscheckRun run = crosscheck(with_client(subject_named("cpcoh/as-printed"), *test), test, options);
  REQUIRE(run.ours.status == CountStatus::complete);
  for (const OtherCount& other : run.others) {
    INFO(word(other.checker) << ": " << other.count.message);
    if (other.count.status == CountStatus::missing) continue;
    CHECK(other.count.states == run.ours.states);
    CHECK(other.count.firings == run.ours.firings);
    CHECK(other.count.claims == run.ours.claims);
  }
}

TEST_CASE("an execution of a sequence can be written, read and replayed") {
  const Test test = launches(" K0: R A | ;\n K1: | R/W A ;\n K2: R A | ;\n", "exists (stale)");
  const auto trace = find_outcome(*test, subject_named("cpcoh/as-printed"), RunLimits{},
                                  [](const Outcome& outcome) { return outcome.at(0) == 1; });
  REQUIRE(trace);
  CHECK(trace->what == "stale=1;");
  CHECK(trace_text(*trace).find("labels a chiplet's range R (structure 0, chiplet 0, word 0) for K0") !=
        std::string::npos);
  const RecordedTrace read = parse_trace(trace_json(*trace).dump(), "t.json");
  const Replay replayed = replay(read);
  CHECK(replayed.difference.empty());
  RecordedTrace other = read;
  other.subject.options.variant = "default";
  CHECK_FALSE(replay(other).difference.empty());
}

TEST_CASE("a sequence of launches is reported as a program's test is, without races") {
  SuiteOptions options;
  options.systems = {subject_named("cpcoh"), subject_named("cpcoh/as-printed")};
  std::string text;
  nlohmann::json json;
  options.on_report = [&](const TestReport& report) {
    text = report_text(report);
    json = report_json(report);
  };
  const Test test = from_text(
      "LAUNCHES t\nExpect=cpcoh:never, cpcoh/as-printed:never\n{ A; }\n C0 | C1 ;\n K0: R A | ;\n"
      " K1: | R/W A ;\n K2: R A | ;\nexists (K2:stale /\\ K2:A@C0 != mixed)\n");
  const SuiteTotals totals = run_suite({test}, options);
  CHECK(totals.differing == 1);
  CHECK(text.find("Condition exists (K2:stale /\\ K2:A@C0!=mixed)") != std::string::npos);
  CHECK(text.find("K2:stale=1; K2:A@C0=stale;") != std::string::npos);
  CHECK(text.find("Finding t on cpcoh/as-printed: sometimes, expected never") != std::string::npos);
  CHECK(text.find("Races") == std::string::npos);
  CHECK(json["systems"][0]["observation"] == "never");
  CHECK(json["systems"][0]["outcomes"][0]["values"]["K2:A@C0"] == "valid");
  CHECK(json["systems"][1]["observation"] == "sometimes");
  CHECK_FALSE(json["systems"][0].contains("beyond_sc"));
  CHECK(json["races"]["judged"] == false);
}

TEST_CASE("a chiplet has one CU, or as many as are said") {
  const std::string rows = " K0: R A | ;\n K1: R/W A | ;\n K2: R A | ;\n";
  const std::vector<std::string> fault{"l1s-by-acquires-alone"};
  CHECK(answer(*launches(rows, "exists (stale)", "A[1];"), "cpcoh/l1s", fault) == Observation::never);
  CHECK(answer(*launches(rows, "exists (stale)", "A[1]; cus 2;"), "cpcoh/l1s", fault) ==
        Observation::sometimes);
}

TEST_CASE("a system without such a client, or too small for a sequence, says so") {
  const Test test = launches(" K0: R A | ;\n", "exists (stale)");
  CHECK(run_on(*test, "german").message.find("takes no sequence of launches") != std::string::npos);
  const SystemRun large = run_on(*launches(" K0: R A | ;\n", "exists (stale)", "A[10];"), "cpcoh");
  CHECK(large.status == RunStatus::error);
  CHECK(large.message.find("t.litmus:2:3: error: needs word=10, and cpcoh holds at most 9") !=
        std::string::npos);
  const SystemRun many = run_on(*launches(" K0: R A | ;\n", "exists (stale)", "A[1]; cus 3;"), "cpcoh/l1s");
  CHECK(many.status == RunStatus::error);
  CHECK(many.message.find("needs cu=3, and cpcoh holds at most 2") != std::string::npos);
}

TEST_CASE("a mistake in a sequence is told with its place, a caret and a remedy") {
  const std::string unknown = refusal_of(" K0: R A, R/W C | ;");
  CHECK(unknown.find("t.litmus:4:15: error: unknown structure 'C'") != std::string::npos);
  CHECK(unknown.find(" K0: R A, R/W C | ;\n   | " + std::string(14, ' ') + "^") != std::string::npos);
  CHECK(refusal_of(" K0: W A | ;").find("unknown access 'W'") != std::string::npos);
  CHECK(refusal_of(" K0: R A[2] | ;").find("'A' has no word 2") != std::string::npos);
  CHECK(refusal_of(" K0: R A[1..0] | ;").find("ends before it begins") != std::string::npos);
  CHECK(refusal_of(" K0: R A, R A[1] | ;").find("C0 is given A[1] twice") != std::string::npos);
  CHECK(refusal_of(" K0: R A | R/W A ;").find("'A' is R in C0 and R/W here") != std::string::npos);
  CHECK(refusal_of(" K0: R A | | R B ;").find("at most one cell for each of 2 chiplets") !=
        std::string::npos);
  CHECK(refusal_of(" K0: | ;").find("labels nothing") != std::string::npos);
  CHECK(refusal_of(" K0: R A ;", "exists (stale)", "A[1]; cus 0;").find("one CU at least") !=
        std::string::npos);
  CHECK(refusal_of(" K0: R A ;", "exists (stale)", "A[1]; cus 2; cus 2;").find("said twice") !=
        std::string::npos);
  CHECK(refusal_of(" K0: R A ;", "exists (stale)", "A[1]; cus;").find("expected the number of CUs") !=
        std::string::npos);
  CHECK(refusal_of(" K0: R A | unlabelled ;").find("'unlabelled' is a launch of its own") !=
        std::string::npos);
  CHECK(refusal_of(" K0 goes: R A ;").find("expected 'on' after 'goes'") != std::string::npos);
  CHECK(refusal_of(" K0 goes on: unlabelled ;").find("'K0' cannot go on") != std::string::npos);
  CHECK(refusal_of(" H goes on: host reads A ;").find("'H' cannot go on") != std::string::npos);
  CHECK(refusal_of(" K0: R A ;\n K0: R A ;").find("two launches are called 'K0'") != std::string::npos);
  CHECK(refusal_of(" H: host raeds A ;").find("did you mean 'reads'?") != std::string::npos);
  CHECK(refusal_of(" K0 R A ;").find("expected ':' after the name of a launch") != std::string::npos);
  CHECK(refusal_of(" K0: R A ;", "exists (K1:stale)").find("unknown launch 'K1'") != std::string::npos);
  CHECK(refusal_of(" K0: R A ;", "exists (K0:aquire@C0)").find("did you mean 'acquire'?") !=
        std::string::npos);
  CHECK(refusal_of(" K0: R A ;", "exists (acquire@C0)").find("at which launch?") != std::string::npos);
  CHECK(refusal_of(" K0: R A ;", "exists (K0:acquire)").find("in which chiplet?") != std::string::npos);
  CHECK(refusal_of(" K0: R A ;", "exists (K0:acquire@C2)").find("unknown chiplet 'C2'") != std::string::npos);
  CHECK(refusal_of(" K0: R A ;", "exists (K0:A@C0)").find("compared with what?") != std::string::npos);
  CHECK(refusal_of(" K0: R A ;", "exists (K0:A@C0 == drity)").find("did you mean 'dirty'?") !=
        std::string::npos);
  CHECK(refusal_of(" K0: R A ;", "exists (K0:A@C0 < dirty)").find("states have no order") !=
        std::string::npos);
  CHECK(refusal_of(" K0: R A ;", "exist (stale)").find("did you mean 'exists'?") != std::string::npos);
  CHECK(refusal_of(" K0: R A ;", "").find("expected a launch, or exists") != std::string::npos);
  CHECK(refusal_of(" K0: R A ;", "exists (stale)", "A[2]; B[3];").find("give all structures of a test") !=
        std::string::npos);
  CHECK(refusal_of(" K0: R A ;", "exists (stale)", "A[0];").find("one word at least") != std::string::npos);
  CHECK(refusal("LAUNCHES t\n{ A; }\n C1 ;\n").find("expected chiplet C0, found 'C1'") != std::string::npos);
  CHECK(refusal("LAUNCHES t\nRace=drf:no\n{ A; }\n C0 ;\n").find("has no races to find") !=
        std::string::npos);
  CHECK(refusal("LAUNCH t\n{ A; }\n C0 ;\n").find("did you mean 'LAUNCHES'?") != std::string::npos);
}
