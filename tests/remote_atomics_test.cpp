// An L2 that writes back: race-free programs see what SC shows, each mistake is noticed, and without
// coherence between GPUs kernels' edges are what keeps words together (docs/findings.md).
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>

#include "tests/noticed.hpp"

using namespace lockstep;

namespace {

const Themes& suite() {
  static const Themes themes(
      {"hmg", "mp", "kernel", "rmw", "coherence", "false-sharing", "barrier", "host", "sb"});
  return themes;
}

const std::map<std::string, std::string> noticed{
    {"release-does-not-wait", "hmg-copy-below-system"},
    {"early-acknowledgement", "hmg-copy-below-system"},
    {"release-leaves-dirty-words", "hmg-copy-below-system"},
    {"acquire-keeps-l1", "mp-neighbour-agent"},
    {"acquire-keeps-l2", "hmg-copy-below-system"},
    {"acquire-drops-dirty-words", "fs-hand-over-host-writes"},
    {"fill-survives-acquire", "hmg-copy-below-system"},
    {"fill-survives-write", "cowr-atomic-agent"},
    {"read-lacks-dirty-words", "mp-barrier-wg"},
    {"whole-block-written-back", "kernel-neighbour-writers-system"},
    {"l1-copy-not-updated", "fs-read-first-agent"},
    {"atomic-keeps-l1-copy", "cowr-atomic-agent"},
    {"atomic-leaves-dirty-words", "rmw-after-own-store-system"},
    {"atomic-overtakes-writes", "rmw-after-own-store-agent"},
    {"marker-overtakes-writes", "hmg-copy-below-system"},
    {"cpu-not-invalidated", "mp-neighbour-host-reads"},
};

}  // namespace

TEST_CASE("remote atomics: each fault is noticed by the test beside it") {
  CHECK(find_system("remote-atomics").faults.size() == noticed.size());
  check_noticed(suite(), "remote-atomics", noticed);
}

TEST_CASE("remote atomics: links of any length give the same outcomes") {
  for (const std::string name :
       {"hmg-copy-below-system", "mp-neighbour-system", "kernel-neighbour-writers-system"}) {
    for (const int slots : {1, 3}) {
      INFO(name << ", " << slots);
      const auto test = suite().named(name);
      CHECK(run_to_end(*test, "remote-atomics", {}, {{"link1-messages", slots}, {"link2-messages", slots}})
                .outcomes == run_to_end(*test, "sc").outcomes);
    }
  }
}

TEST_CASE("GPUs without coherence: kernels hand on what they have written, and nothing else does") {
  for (const std::string system : {"write-through/sm-wt-nc", "remote-atomics/sm-wb-nc"}) {
    for (const std::string test : {"kernel-neighbour-writers-system", "kernel-neighbour-system"}) {
      INFO(test << " on " << system);
      CHECK(run_to_end(*suite().named(test), system).outcomes ==
            run_to_end(*suite().named(test), "sc").outcomes);
    }
    for (const std::string test : {"mp-neighbour-system", "hmg-sb-neighbour-system", "add-host"}) {
      INFO(test << " on " << system);
      CHECK(run_to_end(*suite().named(test), system).outcomes !=
            run_to_end(*suite().named(test), "sc").outcomes);
    }
    // Within a GPU all is as it was.
    for (const std::string test : {"mp-neighbour-agent", "sb-agent"}) {
      INFO(test << " on " << system);
      CHECK(run_to_end(*suite().named(test), system).tally.observation() == Observation::never);
    }
  }
}
