// Read for ownership: caches that a directory keeps coherent make the machine sequentially consistent, for
// programs that race, too; and each mistake in the protocol is noticed, by a test and by an invariant.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "checker/explore/explorer.hpp"
#include "checker/language/read_tests.hpp"
#include "checker/litmus/runner.hpp"
#include "checker/litmus/suite.hpp"
#include "checker/runs/subject.hpp"
#include "checker/systems/registry.hpp"

using namespace lockstep;

namespace {

LitmusTests shipped(const std::string& test) {
  SuiteFiles files = read_tests(std::vector{test}, LOCKSTEP_SOURCE_DIR "/litmus", Clients::include);
  INFO(test);
  REQUIRE(files.errors.empty());
  return files.tests;
}

SystemRun run(const LitmusTest& test, const std::string& system) {
  SystemRun result = run_on_system(test, subject_named(system), {});
  INFO(test.name << " on " << system << ": " << result.message);
  REQUIRE(result.status == RunStatus::complete);
  return result;
}

ExploreResult check(const std::string& client, const std::vector<std::string>& faults,
                    const Reductions& reductions) {
  Subject subject = subject_named("rfo");
  subject.program = std::make_shared<const Program>(shipped(client).front()->program);
  subject.options.faults = faults;
  subject.options.reductions = reductions;
  return explore(*subject.build(), {});
}
ExploreResult check(const std::string& client, const std::vector<std::string>& faults = {}) {
  return check(client, faults, reductions_for_invariants(*subject_named("rfo").system, {}));
}

struct Noticed {
  std::string test;  // that has an outcome which SC has not, or never ends
  std::string client = "false-sharing-agent";
};
const std::map<std::string, Noticed> noticed{
    {"acknowledgements-not-awaited", {"rfo-both-read-agent"}},
    {"read-not-awaited", {"rfo-neighbour-read-agent"}},
    {"upgrade-of-a-lost-copy", {"mp-ping-pong-agent"}},
    {"write-back-not-probed", {"2+2w-agent", "ownership-agent"}},
    {"late-write-back-taken", {"2+2w-agent"}},
    {"owner-not-probed", {"cowr-agent", "ownership-agent"}},
    {"owner-forgotten", {"cowr-agent"}},
    {"sharer-forgotten", {"rfo-both-read-agent"}},
    {"exclusive-beside-sharers", {"rfo-both-read-agent"}},
    {"recall-keeps-copies", {"rfo-both-read-agent"}},
    {"recall-drops-data", {"2+2w-agent", "ownership-agent"}},
    {"recall-not-awaited", {"2+2w-agent"}},
    {"l2-drops-data", {"2+2w-agent"}},
};

}  // namespace

TEST_CASE("Read for ownership: every quick test has the outcomes of SC, neither more nor fewer") {
  int tests = 0;
  for (const auto& test : shipped(LOCKSTEP_SOURCE_DIR "/litmus")) {
    if (!has_tag(*test, "quick")) continue;
    const SystemRun of_rfo = run(*test, "rfo");
    const SystemRun of_sc = run(*test, "sc");
    INFO(test->name);
    CHECK(of_rfo.outcomes == of_sc.outcomes);
    ++tests;
  }
  CHECK(tests > 100);
}

TEST_CASE(
    "Read for ownership: each fault is noticed by a test, and breaks an invariant or a client's claim") {
  for (const Fault& fault : find_system("rfo").faults) {
    const std::string name(fault.name);
    INFO(name);
    REQUIRE(noticed.contains(name));
    const Noticed& by = noticed.at(name);
    const auto test = shipped(by.test).front();
    Subject faulty = subject_named("rfo");
    faulty.options.faults = {name};
    const SystemRun run_of_fault = run_on_system(*test, faulty, {});
    const bool ends = run_of_fault.exploration.verdict != Verdict::deadlock;
    CHECK((!ends || beyond_sc(run_of_fault, run(*test, "sc"))));
    CHECK(check(by.client, {name}).verdict == Verdict::invariant);
  }
}

TEST_CASE("Read for ownership: invariants hold of CUs and CPUs, with recalls and replacements at any time") {
  for (const std::string client : {"ownership-agent", "ownership-host", "false-sharing-agent"}) {
    INFO(client);
    CHECK(check(client).verdict == Verdict::holds);
  }
}

TEST_CASE("Read for ownership: reductions keep every outcome") {
  for (const std::string name : {"mp-agent", "corr-agent", "cowr-agent", "host-cpu-cpu"}) {
    const auto test = shipped(name).front();
    Subject whole = subject_named("rfo");
    whole.options.reductions = Reductions::none();
    const SystemRun full = run_on_system(*test, std::move(whole), {});
    const SystemRun reduced = run(*test, "rfo");
    INFO(name);
    CHECK(reduced.outcomes == full.outcomes);
    CHECK(reduced.exploration.states < full.exploration.states);
  }
}
