// PHI: programs see what SC shows, updates included, where L2 asks for them; each mistake is noticed; and
// what becomes of it where nobody asks (docs/findings.md).
#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "tests/noticed.hpp"

using namespace lockstep;

namespace {

const Themes& suite() {
  static const Themes themes(
      {"phi", "lab", "mp", "2+2w", "barrier", "coherence", "false-sharing", "g-tsc", "hmg", "kernel", "rmw"});
  return themes;
}

const std::map<std::string, std::string> noticed{
    {"update-unregistered", "lab-mp-release-agent"},
    {"read-unreduced", "lab-mp-release-agent"},
    {"atomic-unreduced", "phi-atomic-after-update-agent"},
    {"write-back-unreduced", "phi-store-after-update-agent"},
    {"recall-loses-updates", "phi-words-both-ways-agent"},
    {"replaced-updates-lost", "lab-add"},
    {"operation-ignored", "lab-add-sub-own"},
    {"first-update-lost", "lab-add"},
    {"hit-overwrites", "phi-own-neighbour-agent"},
    {"updates-overwrite", "lab-add"},
    {"mask-ignored", "phi-own-neighbour-agent"},
    {"updates-read", "phi-own-load-agent"},
    {"result-buffered", "lab-result"},
    {"fill-covers-updates", "phi-own-neighbour-agent"},
    {"acquire-drops-updates", "phi-acquire-keeps-updates-agent"},
    {"atomic-overtakes-own-words", "rmw-after-own-store-agent"},
    {"atomic-keeps-l1-copy", "cowr-atomic-agent"},
    {"acquire-keeps-l1", "g-tsc-later-copy-agent"},
    {"acquire-drops-dirty-words", "fs-hand-over-agent"},
    {"acquire-fence-keeps-l1", "g-tsc-copy-behind-kernel-agent"},
    {"release-keeps-dirty", "coww-agent"},
    {"release-fence-keeps-dirty", "g-tsc-copy-behind-kernel-agent"},
    {"release-does-not-wait", "coww-agent"},
    {"fill-survives-acquire", "g-tsc-later-copy-agent"},
    {"fill-survives-write", "fs-hand-over-agent"},
    {"fill-covers-dirty-words", "fs-hand-over-agent"},
    {"whole-block-written-back", "fs-read-first-agent"},
    {"dirty-block-dropped", "2+2w-agent"},
};

bool shows_sc(const std::string& name, const std::string& system) {
  const auto test = suite().named(name);
  return run_to_end(*test, system).outcomes == run_to_end(*test, "sc").outcomes;
}

}  // namespace

TEST_CASE("PHI: each of its faults is noticed by the test beside it") {
  CHECK(find_system("phi").faults.size() == noticed.size());
  check_noticed(suite(), "phi", noticed);
}

TEST_CASE("PHI: without reductions nothing published is seen, unless releases send updates as well") {
  for (const std::string name : {"lab-mp-release-agent", "lab-mp-fence-agent", "lab-kernel-sum", "lab-lock",
                                 "phi-store-after-update-agent", "phi-atomic-after-update-agent"}) {
    INFO(name);
    CHECK(shows_sc(name, "phi"));
    CHECK(shows_sc(name, "phi/fetch-on-write"));
    CHECK(shows_sc(name, "phi/flush-at-release"));
    CHECK_FALSE(shows_sc(name, "phi/optimistic"));
  }
}

TEST_CASE("PHI: an update that brings its block brings neighbours that others are updating") {
  CHECK(shows_sc("phi-neighbour-fetched-agent", "phi"));
  CHECK(shows_sc("phi-neighbour-fetched-agent", "phi/flush-at-release"));
  CHECK_FALSE(shows_sc("phi-neighbour-fetched-agent", "phi/fetch-on-write"));
}

TEST_CASE("PHI: who has updates and stored words of a block waits for nobody for ever") {
  for (const std::string name : {"phi-words-both-ways-agent", "phi-right-while-due-agent"}) {
    INFO(name);
    for (const std::string system : {"phi", "phi/fetch-on-write", "phi/optimistic", "phi/flush-at-release"})
      CHECK(shows_sc(name, system));
  }
}
