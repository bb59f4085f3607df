// hLRC: race-free programs see what SC shows whatever the scopes, each mistake is noticed, and so is each of
// the places where its texts are silent (docs/findings.md).
#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "tests/noticed.hpp"

using namespace lockstep;

namespace {

const Themes& suite() {
  static const Themes themes(
      {"hlrc", "mp", "2+2w", "barrier", "coherence", "false-sharing", "g-tsc", "kernel", "scope"});
  return themes;
}

const std::map<std::string, std::string> noticed{
    {"given-up-unflushed", "mp-agent"},
    {"move-unseen", "hlrc-relaxed-move-agent"},
    {"write-back-past-owner", "hlrc-neighbour-of-flag-agent"},
    {"recall-unflushed", "mp-agent"},
    {"yield-overtakes-writes", "mp-agent"},
    {"acquire-keeps-l1", "mp-neighbour-agent"},
    {"acquire-drops-dirty-words", "fs-hand-over-agent"},
    {"acquire-drops-owned", "cowr-agent"},
    {"acquire-fence-keeps-l1", "g-tsc-copy-behind-kernel-agent"},
    {"release-fence-keeps-dirty", "g-tsc-copy-behind-kernel-agent"},
    {"fill-survives-acquire", "g-tsc-late-renewal-agent"},
    {"fill-survives-write", "exchange-block-barrier-wg"},
    {"fill-covers-dirty-words", "exchange-block-barrier-wg"},
    {"whole-block-written-back", "fs-read-first-agent"},
    {"owned-block-read", "g-tsc-store-on-lease-agent"},
    {"ownership-shared", "hlrc-neighbours-across-agent"},
    {"owner-forgotten", "hlrc-neighbours-across-agent"},
    {"dirty-block-dropped", "2+2w-agent"},
};

}  // namespace

TEST_CASE("hLRC: each of its faults is noticed by the test beside it") {
  CHECK(find_system("hlrc").faults.size() == noticed.size());
  check_noticed(suite(), "hlrc", noticed);
}

TEST_CASE("hLRC: scopes are not needed, but by LRCC") {
  for (const std::string name :
       {"scope-mismatch-wg-agent-apart", "scope-mismatch-agent-wg", "scope-mismatch-sb"}) {
    INFO(name);
    const auto test = suite().named(name);
    CHECK(run_to_end(*test, "hlrc").outcomes == run_to_end(*test, "sc").outcomes);
  }
  const auto apart = suite().named("scope-mismatch-wg-agent-apart");
  CHECK(run_to_end(*apart, "hlrc/lrcc").outcomes != run_to_end(*apart, "sc").outcomes);
}

TEST_CASE("hLRC: what its texts are silent on is needed") {
  for (const std::string name : {"mp-agent", "hlrc-relaxed-move-agent", "hlrc-neighbour-of-flag-agent",
                                 "hlrc-flag-initialised-agent"}) {
    INFO(name);
    const auto test = suite().named(name);
    const auto outcomes = run_to_end(*test, "sc").outcomes;
    CHECK(run_to_end(*test, "hlrc").outcomes == outcomes);
    CHECK(run_to_end(*test, "hlrc/lrcc").outcomes == outcomes);
    CHECK(run_to_end(*test, "hlrc/as-told").outcomes != outcomes);
  }
}

TEST_CASE("hLRC: two owners of which each has words of the other's block wait for nobody for ever") {
  const auto test = suite().named("hlrc-neighbours-across-agent");
  for (const std::string system : {"hlrc", "hlrc/lrcc"}) {
    INFO(system);
    CHECK(run_to_end(*test, system).outcomes == run_to_end(*test, "sc").outcomes);
  }
}
