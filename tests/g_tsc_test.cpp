// G-TSC: what it shows is what SC shows; each mistake is noticed by a test that is for it; and what is told
// of it is not enough (docs/findings.md).
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>

#include "checker/explore/explorer.hpp"
#include "tests/noticed.hpp"

using namespace lockstep;

namespace {

const Themes& suite() {
  static const Themes themes({"g-tsc", "hmg", "mp", "2+2w", "kernel", "coherence"});
  return themes;
}

const std::map<std::string, std::string> noticed{
    {"write-joins-lease", "hmg-fill-beside-acquire-agent"},
    {"write-before-its-warp", "hmg-fill-beside-acquire-agent"},
    {"read-keeps-clock", "mp-stale-agent"},
    {"write-keeps-clock", "hmg-copy-below-system"},
    {"expired-copy-read", "hmg-atomic-beside-fill-agent"},
    {"later-copy-read", "g-tsc-later-copy-agent"},
    {"lease-not-noted", "hmg-copy-below-system"},
    {"time-forgotten", "hmg-copy-below-system"},
    {"renewed-unseen", "hmg-writer-stays-sharer-system"},
    {"renewal-of-other-copy", "g-tsc-late-renewal-agent"},
    {"hit-keeps-words", "hmg-writer-stays-sharer-system"},
    {"write-not-locked", "g-tsc-store-on-lease-agent"},
    {"fill-ends-lock", "g-tsc-fill-beside-store-wg"},
    {"fence-keeps-clock", "g-tsc-copy-behind-barrier-wg"},
    {"overflow-forgets-leases", "g-tsc-time-overflows-agent"},
    {"dirty-block-dropped", "2+2w-agent"},
};

}  // namespace

TEST_CASE("G-TSC: its tests have the outcomes of SC, neither more nor fewer") {
  for (const std::string system : {"g-tsc", "g-tsc/cu-clock", "g-tsc/polls-leases"}) {
    for (const auto& test : suite().all()) {
      if (test->name.rfind("g-tsc-", 0) != 0) continue;
      INFO(test->name << " on " << system);
      CHECK(run_to_end(*test, system).outcomes == run_to_end(*test, "sc").outcomes);
    }
  }
}

TEST_CASE("G-TSC: timestamps and leases of any number give the same outcomes") {
  for (const std::string name :
       {"g-tsc-copy-behind-kernel-agent", "g-tsc-store-on-lease-agent", "mp-neighbour-agent"}) {
    for (const std::map<std::string, int>& sizes :
         {std::map<std::string, int>{{"timestamps", 6}}, {{"timestamps", 5}, {"lease", 1}}, {{"lease", 5}}}) {
      INFO(name << ", timestamps " << sizes.begin()->second);
      CHECK(run_to_end(*suite().named(name), "g-tsc", {}, sizes).outcomes ==
            run_to_end(*suite().named(name), "sc").outcomes);
    }
  }
}

TEST_CASE("G-TSC: invariants hold in each state of small programs") {
  for (const std::string test :
       {"g-tsc-late-renewal-agent", "g-tsc-fill-beside-store-wg", "mp-host-writes"}) {
    INFO(test);
    Subject subject = subject_named("g-tsc");
    subject.program = std::make_shared<const Program>(suite().named(test)->program);
    subject.options.reductions = reductions_for_invariants(*subject.system, {});
    CHECK(explore(*subject.build(), {}).verdict == Verdict::holds);
  }
}

TEST_CASE("G-TSC: each of its faults is noticed by the test that is for it") {
  CHECK(find_system("g-tsc").faults.size() == noticed.size());
  check_noticed(suite(), "g-tsc", noticed);
}

TEST_CASE(
    "G-TSC: as told, a neighbour's old word is renewed, and clocks do not follow barriers and kernels") {
  for (const std::string test :
       {"mp-neighbour-agent", "g-tsc-copy-behind-barrier-wg", "g-tsc-copy-behind-kernel-agent"}) {
    INFO(test);
    CHECK(run_to_end(*suite().named(test), "g-tsc").tally.observation() == Observation::never);
    CHECK(run_to_end(*suite().named(test), "g-tsc/as-told").tally.observation() == Observation::sometimes);
  }
}
