// FEAR: what atomics under mutexes of a ring show is what SC shows, in each variant that is not a printed
// one; each mistake is noticed; and what the print has, or may be read to have, goes wrong as
// docs/findings.md says.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "checker/explore/explorer.hpp"
#include "checker/language/read_tests.hpp"
#include "checker/litmus/runner.hpp"
#include "checker/runs/subject.hpp"
#include "checker/systems/registry.hpp"

using namespace lockstep;

namespace {

using Texts = std::vector<std::string>;

const LitmusTests& suite() {
  static const LitmusTests tests = [] {
    SuiteFiles files = read_tests(Texts{LOCKSTEP_SOURCE_DIR "/litmus/fear"}, LOCKSTEP_SOURCE_DIR "/litmus",
                                  Clients::leave_out);
    REQUIRE(files.errors.empty());
    return files.tests;
  }();
  return tests;
}
const LitmusTest& named(const std::string& name) {
  const auto found =
      std::find_if(suite().begin(), suite().end(), [&](const auto& test) { return test->name == name; });
  REQUIRE(found != suite().end());
  return **found;
}

SystemRun run(const LitmusTest& test, const std::string& system, const Texts& faults = {}) {
  Subject subject = subject_named(system);
  subject.options.faults = faults;
  return run_on_system(test, std::move(subject), {});
}
SystemRun complete(const LitmusTest& test, const std::string& system) {
  SystemRun result = run(test, system);
  INFO(test.name << " on " << system << ": " << result.message);
  REQUIRE(result.status == RunStatus::complete);
  return result;
}

// The invariant that is violated, or how it ended else.
std::string check(const std::string& system, const std::string& test, bool deadlocks = true) {
  Subject subject = subject_named(system);
  subject.program = std::make_shared<const Program>(named(test).program);
  subject.options.reductions = reductions_for_invariants(*subject.system, {});
  ExploreOptions options;
  options.deadlocks = deadlocks;
  const auto model = subject.build();
  const ExploreResult result = explore(*model, options);
  if (result.verdict == Verdict::holds) return "holds";
  if (result.verdict != Verdict::invariant) return "ends otherwise";
  return model->invariants().at(static_cast<std::size_t>(result.violated));
}

// The quick tests of its own that notice a mistake with atomics.
const std::map<std::string, std::string> noticed{
    {"release-out-of-turn", "fear-two-agent"},     {"busy-ignored", "fear-two-agent"},
    {"grant-not-told", "fear-two-agent"},          {"release-overtakes-write", "fear-two-agent"},
    {"first-not-last", "fear-again-agent"},        {"last-not-told", "fear-again-agent"},
    {"copy-always-used", "fear-again-agent"},      {"block-not-noted", "fear-aliased-agent"},
    {"speculation-always-used", "fear-two-agent"}, {"maturity-ignored", "fear-two-agent"},
    {"staleness-ignored", "fear-two-agent"},       {"epochs-apart", "fear-two-agent"},
    {"store-keeps-copy", "fear-neighbour-agent"},  {"late-fetch-used", "fear-two-agent"},
};

}  // namespace

TEST_CASE("FEAR: its tests have the outcomes of SC, neither more nor fewer") {
  for (const std::string system : {"fear", "fear/no-speculation", "fear/atom-dir"}) {
    for (const auto& test : suite()) {
      INFO(test->name << " on " << system);
      CHECK(complete(*test, system).outcomes == complete(*test, "sc").outcomes);
    }
  }
  for (const std::string test :
       {"fear-two-agent", "fear-again-agent", "fear-load-agent", "fear-neighbour-agent"}) {
    INFO(test);
    CHECK(complete(named(test), "fear/mutex-each").outcomes == complete(named(test), "sc").outcomes);
  }
}

TEST_CASE("FEAR: invariants hold in each state of a small program") {
  for (const std::string system : {"fear", "fear/mutex-each", "fear/no-speculation", "fear/atom-dir"}) {
    INFO(system);
    CHECK(check(system, "fear-two-agent") == "holds");
  }
}

TEST_CASE("FEAR: each of its faults is noticed by the test that is for it") {
  const auto& faults = find_system("fear").faults;
  const auto own = std::find_if(faults.begin(), faults.end(),
                                [](const auto& fault) { return fault.name == "release-does-not-wait"; });
  CHECK(static_cast<std::size_t>(own - faults.begin()) == noticed.size());
  for (const auto& [fault, test] : noticed) {
    const SystemRun broken = run(named(test), "fear", {fault});
    INFO(fault << ", " << test << ": " << broken.message);
    CHECK(
        (broken.status == RunStatus::deadlock ||
         (broken.status == RunStatus::complete && broken.outcomes != complete(named(test), "sc").outcomes)));
  }
}

namespace {

// Of a program in which x and z have one mutex of two, and with one entry y's is noted there as well: whether
// its outcomes are those of SC.
bool has_outcomes_of_sc(std::map<std::string, int> sizes, const Texts& faults) {
  const LitmusTest test = parse_litmus(
      "HRF three-blocks\n{ x = 0; y = 0; z = 0; }\n"
      " P0@wg 0,agent 0 | P1@wg 1,agent 0 ;\n"
      " red.relaxed.agent.add x, 1 | red.relaxed.agent.add x, 1 ;\n"
      " red.relaxed.agent.add y, 1 | ;\n"
      " red.relaxed.agent.add z, 1 | ;\n"
      " red.relaxed.agent.add x, 1 | ;\n"
      "forall (x == 3 /\\ y == 1 /\\ z == 1)\n",
      "three-blocks.litmus");
  Subject fear = subject_named("fear");
  fear.options.sizes = std::move(sizes);
  fear.options.sizes["mutex"] = 2;
  fear.options.faults = faults;
  const SystemRun result = run_on_system(test, std::move(fear), {});
  INFO(result.message);
  REQUIRE(result.status == RunStatus::complete);
  return result.outcomes == complete(test, "sc").outcomes;
}

}  // namespace

TEST_CASE("FEAR: fewer mutexes than blocks, and fewer entries and wires than mutexes, change no outcome") {
  CHECK(has_outcomes_of_sc({{"lookup-entry", 1}, {"busy-wire", 1}}, {}));
  CHECK_FALSE(has_outcomes_of_sc({{"lookup-entry", 1}, {"busy-wire", 1}}, {"block-not-noted"}));
}

TEST_CASE("FEAR: nor do other numbers of entries and wires", "[.][nightly]") {
  for (const int entries : {1, 2}) {
    CHECK(has_outcomes_of_sc({{"lookup-entry", entries}, {"busy-wire", 1}}, {}));
    CHECK(has_outcomes_of_sc({{"lookup-entry", entries}, {"busy-wire", 2}}, {}));
    CHECK_FALSE(has_outcomes_of_sc({{"lookup-entry", entries}, {"busy-wire", 2}}, {"block-not-noted"}));
  }
}

TEST_CASE("FEAR: four nodes, two mutexes and what was fetched ahead lose no update", "[.][nightly]") {
  const auto four = parse_litmus(R"(HRF four-nodes
{ block x; block y; x = 0; y = 0; }
 P0@wg 0,agent 0                 | P1@wg 1,agent 0                 | P2@wg 2,agent 0                 | P3@wg 3,agent 0 ;
 atom.relaxed.agent.add r0, x, 1 | atom.relaxed.agent.add r0, x, 1 | atom.relaxed.agent.add r0, y, 1 | mov r0, 1       ;
 atom.relaxed.agent.add r1, y, 1 |                                 |                                 |                 ;
forall (x == 2 /\ y == 2)
)",
                                 "four-nodes.litmus");
  for (const std::string fault : {"", "release-out-of-turn", "speculation-always-used"}) {
    INFO(fault);
    Subject fear = subject_named("fear");
    fear.options.sizes = {{"mutex", 2}};
    if (!fault.empty()) fear.options.faults = {fault};
    const SystemRun result = run_on_system(four, std::move(fear), {});
    CHECK((result.tally.observation() == Observation::always) == fault.empty());
  }
}

TEST_CASE("FEAR: a busy wire from node to node lets two have one mutex") {
  CHECK(check("fear/wire-by-hop", "fear-one-wire-agent", false) == "a mutex has one holder");
}

TEST_CASE("FEAR: as printed a mutex is lost to some nodes") {
  CHECK(run(named("fear-two-agent"), "fear/as-printed").status == RunStatus::deadlock);
}

TEST_CASE("FEAR: a plain store is lost where acquires keep what atomics have left in L1, and not in L2") {
  const LitmusTest& test = named("fear-plain-between-agent");
  Subject fear = subject_named("fear/mutex-each");
  fear.options.faults = {"acquire-keeps-l1"};
  fear.options.sizes = {{"ring-node", 1}};
  CHECK(run_on_system(test, std::move(fear), {}).tally.observation() == Observation::sometimes);
  CHECK(run(test, "write-through", {"acquire-keeps-l1"}).tally.observation() == Observation::never);
}
