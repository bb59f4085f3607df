// HMG: what it shows is what SC shows, of GPUs of several modules and of one; each mistake is noticed by a
// test that is for it; and stores that nobody acknowledges are enough for PTX and not for HRF
// (docs/findings.md).
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>

#include "checker/explore/explorer.hpp"
#include "tests/noticed.hpp"
#include "tests/texts.hpp"

using namespace lockstep;

namespace {

const Themes& suite() {
  static const Themes themes({"hmg", "sb", "coherence", "mp"});
  return themes;
}
// A quick one of its own.
bool is_of_hmg(const LitmusTest& test) {
  return test.name.rfind("hmg-", 0) == 0 && std::count(test.tags.begin(), test.tags.end(), "quick") == 1;
}

// Of faults that GPUs of one module have as well, and of those that they do not: the test that is for each.
const std::map<std::string, std::string> noticed_by_both{
    {"release-not-awaited", "mp-neighbour-system"},
    {"invalidations-not-awaited", "hmg-copy-below-system"},
    {"marker-overtakes-writes", "mp-neighbour-system"},
    {"release-stops-at-gpu-home", "hmg-copy-below-system"},
    {"acquire-keeps-l1", "hmg-copy-below-system"},
    {"fill-survives-acquire", "hmg-fill-beside-acquire-agent"},
    {"fill-survives-store", "hmg-store-beside-fill-wg"},
    {"fill-survives-store-at-home", "hmg-store-beside-fill-agent"},
    {"copy-not-updated", "hmg-store-behind-copy-system"},
    {"l2-copy-not-updated", "hmg-store-behind-copy-system"},
    {"gpus-not-invalidated", "hmg-copy-below-system"},
    {"gpu-not-noted", "hmg-copy-below-system"},
    {"atomic-keeps-l1-copy", "cowr-atomic-agent"},
    {"atomic-keeps-home-copy", "hmg-atomic-behind-copy-system"},
    {"system-load-hits-l2", "hmg-sb-neighbour-system"},
    {"entry-forgotten", "hmg-copy-below-system"},
    {"invalidation-overtakes", "hmg-copy-below-system"},
    {"cpu-release-not-awaited", "hmg-host-writes-copy"},
};
const std::map<std::string, std::string> noticed_among_modules{
    {"fill-survives-store-at-module", "hmg-store-beside-fill-module"},
    {"atomic-keeps-module-copy", "hmg-atomic-beside-fill-agent"},
    {"modules-not-invalidated", "hmg-copy-below-system"},
    {"invalidation-not-passed-on", "hmg-copy-below-system"},
    {"module-not-noted", "mp-neighbour-agent"},
    {"module-noted-early", "hmg-copy-below-system"},
    {"agent-load-hits-module", "sb-neighbour-agent"},
};

}  // namespace

TEST_CASE("HMG: its tests have the outcomes of SC, neither more nor fewer") {
  for (const std::string system : {"hmg", "hmg-monolithic", "hmg-monolithic/rdma"}) {
    for (const auto& test : suite().all()) {
      if (!is_of_hmg(*test)) continue;
      INFO(test->name << " on " << system);
      CHECK(run_to_end(*test, system).outcomes == run_to_end(*test, "sc").outcomes);
    }
  }
}

TEST_CASE("HMG: invariants hold in each state of small programs") {
  for (const std::string system : {"hmg", "hmg-monolithic"}) {
    for (const std::string test : {"hmg-copy-below-system", "hmg-add-fetches-agent", "mp-host-writes"}) {
      INFO(test << " on " << system);
      Subject subject = subject_named(system);
      subject.program = std::make_shared<const Program>(suite().named(test)->program);
      subject.options.reductions = reductions_for_invariants(*subject.system, {});
      CHECK(explore(*subject.build(), {}).verdict == Verdict::holds);
    }
  }
}

TEST_CASE("HMG: each of its faults is noticed by the test that is for it") {
  CHECK(find_system("hmg").faults.size() == noticed_by_both.size() + noticed_among_modules.size());
  CHECK(find_system("hmg-monolithic").faults.size() == noticed_by_both.size());
  check_noticed(suite(), "hmg", noticed_among_modules);
  check_noticed(suite(), "hmg-monolithic", noticed_by_both);
}

TEST_CASE("HMG: stores that nobody acknowledges show store buffering, unless fences stand between") {
  for (const std::string system : {"hmg", "hmg-monolithic"}) {
    for (const std::string test : {"sb-system", "hmg-sb-neighbour-system"}) {
      INFO(test << " on " << system);
      CHECK(run_to_end(*suite().named(test), system).tally.observation() == Observation::never);
      CHECK(run_to_end(*suite().named(test), system + "/posted").tally.observation() ==
            Observation::sometimes);
    }
    const LitmusTest fenced = parse(
        "HRF sb-fenced\n"
        "{ x = 0; y = 0; }\n"
        " P0@wg 0,agent 0         | P1@wg 1,agent 1         ;\n"
        " st.relaxed.system x, 1  | st.relaxed.system y, 1  ;\n"
        " fence.sc.system         | fence.sc.system         ;\n"
        " ld.relaxed.system r0, y | ld.relaxed.system r0, x ;\n"
        "exists (P0:r0 == 0 /\\ P1:r0 == 0)\n");
    CHECK(run_to_end(fenced, system + "/posted").tally.observation() == Observation::never);
  }
}

TEST_CASE("HMG: links of any length give the same outcomes") {
  for (const std::string system : {"hmg", "hmg-monolithic"}) {
    for (const std::string name :
         {"hmg-copy-below-system", "hmg-store-beside-fill-agent", "mp-neighbour-system"}) {
      for (const int slots : {1, 2}) {
        INFO(name << " on " << system << ", " << slots);
        const auto test = suite().named(name);
        CHECK(run_to_end(*test, system, {},
                         {{"l1-messages", slots}, {"up-messages", slots}, {"down-messages", slots}})
                  .outcomes == run_to_end(*test, "sc").outcomes);
      }
    }
  }
}
