// What the memory systems promise, held against litmus tests: each mistake is convicted by a test that the
// system passes without it, the variants do what is said of them, and invariants hold under clients that
// never end.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "checker/explore/explorer.hpp"
#include "checker/litmus/runner.hpp"
#include "checker/litmus/suite.hpp"
#include "checker/runs/subject.hpp"
#include "checker/systems/registry.hpp"

using namespace lockstep;

namespace {

const LitmusTest& shipped(const std::string& name) {
  static std::map<std::string, std::shared_ptr<const LitmusTest>> known;
  std::shared_ptr<const LitmusTest>& test = known[name];
  if (!test) {
    const SuiteFiles files = read_tests(std::vector{name}, LOCKSTEP_SOURCE_DIR "/litmus", Clients::include);
    INFO(name);
    REQUIRE(files.errors.empty());
    REQUIRE(files.tests.size() == 1);
    test = files.tests.front();
  }
  return *test;
}

SystemRun run(const std::string& test, const std::string& system,
              const std::vector<std::string>& faults = {}) {
  Subject subject = subject_named(system);
  subject.options.faults = faults;
  SystemRun result = run_on_system(shipped(test), std::move(subject), {});
  INFO(test << " on " << system << ": " << word(result.status) << " " << result.message);
  const bool may_fail = !faults.empty() && failed(result.status);
  REQUIRE((result.status == RunStatus::complete || may_fail));
  return result;
}

// The system shows an outcome that sequential consistency does not have, or, with a mistake, does not end.
bool strays(const std::string& test, const std::string& system, const std::vector<std::string>& faults = {}) {
  const SystemRun on_system = run(test, system, faults);
  return failed(on_system.status) || beyond_sc(on_system, run(test, "sc")).has_value();
}

bool race_free(const std::string& test, const std::string& model) {
  const auto& races = shipped(test).expected_races;
  return std::any_of(races.begin(), races.end(),
                     [&](const ExpectedRace& expected) { return expected.model == model && !expected.race; });
}

using Kills = std::vector<std::pair<std::string, std::string>>;

void check_kills(const std::string& system, const Kills& kills) {
  std::set<std::string> killed;
  for (const auto& [fault, test] : kills) {
    INFO(fault << ", by " << test);
    CHECK(race_free(test, "hrf-indirect"));
    CHECK_FALSE(strays(test, system));
    CHECK(strays(test, system, {fault}));
    killed.insert(fault);
  }
  std::set<std::string> listed;
  for (const Fault& fault : find_system(system).faults) listed.insert(std::string(fault.name));
  CHECK(killed == listed);
}

// Explores a client with everything but what `lockstep check` takes at once.
ExploreResult check_client(const std::string& client, const std::string& system) {
  Subject subject = subject_named(system);
  subject.program = std::make_shared<const Program>(shipped(client).program);
  subject.options.reductions = reductions_for_invariants(*subject.system, {});
  const auto model = subject.build();
  ExploreResult result = explore(*model, {});
  INFO(client << " on " << system
              << (result.violated < 0
                      ? ""
                      : ": " + model->invariants()[static_cast<std::size_t>(result.violated)]));
  CHECK_FALSE(model->invariants().empty());
  return result;
}

}  // namespace

// ---- faults ----------------------------------------------------------------------------------------------

TEST_CASE("each mistake in QuickRelease is convicted by a test that QuickRelease passes") {
  check_kills("quick-release", {
                                   {"fill-ignores-write", "cowr-atomic-agent"},
                                   {"fill-overtaken", "mp-neighbour-agent"},
                                   {"fill-survives-eviction", "mp-neighbour-agent"},
                                   {"acquire-hits-l1", "rwc-agent-shared-wg"},
                                   {"flush-unacknowledged", "sb-agent"},
                                   {"atomic-overtakes-write", "rmw-after-own-store-agent"},
                                   {"atomic-invalidates-nothing", "scope-plain-after-add-agent"},
                                   {"host-release-does-not-wait", "mp-neighbour-host-writes"},
                                   {"early-acknowledgement", "mp-host-reads"},
                                   {"invalidations-not-awaited", "mp-neighbour-agent"},
                                   {"mask-ignored", "fs-hand-over-agent"},
                                   {"entry-lost", "mp-two-blocks-agent"},
                                   {"no-broadcast", "mp-neighbour-agent"},
                                   {"stale-own-copy", "mp-stale-wg"},
                                   {"written-bit-forgotten", "mp-stale-wg"},
                                   {"cpu-not-invalidated", "mp-neighbour-host-reads"},
                                   {"cpu-write-not-broadcast", "mp-neighbour-host-writes"},
                                   {"partial-hit-served", "fs-hand-over-agent"},
                                   {"marker-overtakes", "fs-hand-over-agent"},
                                   {"no-second-flush", "sb-agent"},
                                   {"agents-not-invalidated", "mp-neighbour-system"},
                                   {"l2-partial-hit-not-written", "corr-neighbour-agent"},
                               });
}

TEST_CASE("each mistake in write-through is convicted by a test that write-through passes") {
  check_kills("write-through", {
                                   {"release-does-not-wait", "kernel-neighbour-system"},
                                   {"early-acknowledgement", "kernel-stale-host-reads"},
                                   {"acquire-keeps-l1", "cowr-copied-agent"},
                                   {"acquire-keeps-l2", "fs-hand-over-read-system"},
                                   {"fill-survives-acquire", "host-agent-copy"},
                                   {"fill-survives-write", "cowr-atomic-agent"},
                                   {"l1-copy-not-updated", "stale-barrier-wg"},
                                   {"l2-copy-not-updated", "cowr-add-agent"},
                                   {"atomic-keeps-l1-copy", "cowr-add-agent"},
                                   {"atomic-overtakes-writes", "rmw-after-own-store-agent"},
                                   {"marker-overtakes-writes", "kernel-overwrite-agent"},
                                   {"cpu-not-invalidated", "mp-neighbour-host-reads"},
                               });
}

TEST_CASE("each mistake in QuickRelease is convicted in its variants as well") {
  // The tests are those of the default; what a variant changes keeps none of the mistakes from showing.
  for (const std::string system : {"quick-release/split-fifo", "quick-release/lean"}) {
    for (const auto& [fault, test] : Kills{{"early-acknowledgement", "mp-host-reads"},
                                           {"invalidations-not-awaited", "mp-neighbour-agent"},
                                           {"mask-ignored", "fs-hand-over-agent"},
                                           {"entry-lost", "mp-two-blocks-agent"},
                                           {"no-broadcast", "mp-neighbour-agent"},
                                           {"marker-overtakes", "fs-hand-over-agent"}}) {
      INFO(system << ", " << fault << ", by " << test);
      CHECK_FALSE(strays(test, system));
      CHECK(strays(test, system, {fault}));
    }
  }
}

// ---- variants --------------------------------------------------------------------------------------------

TEST_CASE("QuickRelease as printed lets race-free programs see what is not sequentially consistent") {
  for (const std::string test : {"sb-agent", "mp-neighbour-wg", "mp-stale-host-writes"}) {
    INFO(test);
    CHECK(race_free(test, "drf"));
    CHECK(strays(test, "quick-release/as-printed"));
    CHECK_FALSE(strays(test, "quick-release"));
  }
}

TEST_CASE("an S-FIFO1 split by wavefront breaks transitivity") {
  for (const std::string test : {"chain-wg-agent", "chain-stale-wg-agent", "chain-wg-system-host"}) {
    INFO(test);
    CHECK(race_free(test, "hrf-indirect"));
    CHECK_FALSE(race_free(test, "hrf-direct"));
    CHECK(strays(test, "quick-release/split-fifo"));
    CHECK_FALSE(strays(test, "quick-release"));
  }
}

TEST_CASE("an S-FIFO1 split by wavefront keeps what HRF-direct orders among three threads") {
  std::size_t ordered = 0;
  for (const std::string folder : {"transitivity", "wrc", "isa2"}) {
    const SuiteFiles files =
        read_tests(std::vector{LOCKSTEP_SOURCE_DIR "/litmus/" + folder}, LOCKSTEP_SOURCE_DIR "/litmus");
    REQUIRE(files.errors.empty());
    for (const auto& test : files.tests) {
      if (test->program.threads.size() != 3 || !race_free(test->name, "hrf-direct")) continue;
      INFO(test->name);
      CHECK_FALSE(strays(test->name, "quick-release/split-fifo"));
      ++ordered;
    }
  }
  CHECK(ordered >= 19);
}

TEST_CASE("the lean variant shows what the default shows") {
  for (const std::string test :
       {"mp-agent", "mp-neighbour-agent", "mp-stale-wg", "cowr-atomic-agent", "fs-hand-over-agent",
        "corr-neighbour-agent", "sb-agent", "chain-wg-agent"}) {
    INFO(test);
    CHECK(run(test, "quick-release/lean").outcomes == run(test, "quick-release").outcomes);
  }
}

// ---- clients ---------------------------------------------------------------------------------------------

TEST_CASE("the invariants of memory systems hold under clients that never end") {
  for (const std::string system :
       {"quick-release", "quick-release/split-fifo", "quick-release/lean", "write-through"}) {
    for (const std::string client : {"barrier-ping-pong-wg", "ownership-host", "ownership-system"}) {
      CHECK(check_client(client, system).verdict == Verdict::holds);
    }
  }
}

TEST_CASE("QuickRelease as printed breaks its own invariants under clients") {
  for (const std::string client : {"ownership-host", "ownership-agent", "ownership-wg", "ownership-system"}) {
    CHECK(check_client(client, "quick-release/as-printed").verdict == Verdict::invariant);
  }
}

TEST_CASE("mistakes break the invariant that speaks of them") {
  const auto broken = [](const std::string& fault, const std::string& client, const std::string& system) {
    Subject subject = subject_named(system);
    subject.options.faults = {fault};
    subject.program = std::make_shared<const Program>(shipped(client).program);
    subject.options.reductions = reductions_for_invariants(*subject.system, {});
    const auto model = subject.build();
    const ExploreResult result = explore(*model, {});
    return result.violated < 0 ? "none" : model->invariants()[static_cast<std::size_t>(result.violated)];
  };
  CHECK(broken("entry-lost", "mp-two-blocks-agent", "quick-release") ==
        "S-FIFO1 lists every dirty block of its wL1");
  CHECK(broken("written-bit-forgotten", "ownership-wg", "quick-release") ==
        "the written bit of rL1 is set while wL1 is newer");
  CHECK(broken("cpu-not-invalidated", "ownership-host", "quick-release") == "a CPU copy is current");
  CHECK(broken("cpu-not-invalidated", "ownership-host", "write-through") == "a CPU copy is current");
  CHECK(broken("l1-copy-not-updated", "ownership-wg", "write-through") ==
        "a copy in L1 has its CU's newest write on the link");
  CHECK(broken("l2-copy-not-updated", "ownership-agent", "write-through") ==
        "a copy in L2 has its agent's newest write on the link");
}
