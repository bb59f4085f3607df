// The reductions leave no outcome out and add none: what a program can end in is the same with all of them,
// with each switched off, and with none.
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "checker/explore/explorer.hpp"
#include "checker/language/read_tests.hpp"
#include "checker/runs/subject.hpp"
#include "checker/systems/registry.hpp"
#include "tests/ends.hpp"

using namespace lockstep;

namespace {

Explored explore_with(const Program& program, Subject subject, const Reductions& reductions) {
  subject.options.reductions = reductions;
  subject.options.memory_observed = true;
  Explored explored = explore_ends(program, std::move(subject));
  REQUIRE(explored.complete);
  return explored;
}

struct Choice {
  std::string what;
  Reductions reductions;
};
std::vector<Choice> choices() {
  std::vector<Choice> all{{"all", {}}};
  for (const std::string name : {"moves", "stubborn", "dead", "at-once"}) {
    all.push_back({"all but " + name, reductions_without(std::vector{name})});
  }
  return all;
}

Program program_of(const std::string& test) {
  const SuiteFiles files = read_tests(std::vector{test}, LOCKSTEP_SOURCE_DIR "/litmus");
  INFO(test);
  REQUIRE(files.errors.empty());
  REQUIRE(files.tests.size() == 1);
  return files.tests.front()->program;
}

void check_ends(const std::string& test, const std::string& system,
                const std::vector<std::string>& faults = {}) {
  const Program program = program_of(test);
  Subject subject = subject_named(system);
  subject.options.faults = faults;
  const Explored full = explore_with(program, subject, Reductions::none());
  for (const auto& [what, reductions] : choices()) {
    const Explored reduced = explore_with(program, subject, reductions);
    INFO(test << " on " << subject.description() << ", reductions: " << what);
    CHECK(reduced.ends == full.ends);
    CHECK(reduced.states <= full.states);
  }
}

// Two threads each, small enough to be explored without reductions, from every theme and placement.
const std::vector<std::string> small_tests{"2+2w-host",
                                           "add-store-agent",
                                           "add-store-system",
                                           "barrier-apart-agent",
                                           "coww-host-reads",
                                           "corr-agent",
                                           "corr-neighbour-agent",
                                           "corr-plain-agent",
                                           "corr-wg",
                                           "corw-host",
                                           "corw-wg",
                                           "cowr-add-agent",
                                           "cowr-add-system",
                                           "cowr-wg",
                                           "flag-exchange-agent",
                                           "fs-atomic-beside-data-agent",
                                           "fs-own-words-host",
                                           "fs-read-first-host",
                                           "host-cpu-counter",
                                           "kernel-overwrite-system",
                                           "kernel-same-kernel",
                                           "last-arrival-host",
                                           "lb-data-host-writes",
                                           "lb-host",
                                           "mp-barrier-wg",
                                           "mp-fence-agent",
                                           "mp-flag-in-block-host-reads",
                                           "mp-neighbour-host-reads",
                                           "mp-neighbour-host-writes",
                                           "mp-stale-host-reads",
                                           "phases-barrier-wg",
                                           "rmw-after-own-store-agent",
                                           "scope-mismatch-agent-host",
                                           "scope-promote-wg-host",
                                           "stale-barrier-wg"};

// What most of them are too large for when a sanitizer slows the run.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
const std::vector<std::string> tests{"add-store-system", "corr-plain-agent",    "corr-wg",
                                     "cowr-add-agent",   "flag-exchange-agent", "mp-neighbour-host-reads",
                                     "stale-barrier-wg"};
#else
const std::vector<std::string>& tests = small_tests;
#endif

}  // namespace

TEST_CASE("the reductions keep the ends of every program on QuickRelease") {
  for (const std::string& test : tests) check_ends(test, "quick-release");
}

TEST_CASE("the reductions keep the ends of every program on QuickRelease as printed") {
  for (const std::string& test : tests) check_ends(test, "quick-release/as-printed");
}

TEST_CASE("the reductions keep the ends of every program on QuickRelease with a split S-FIFO1") {
  for (const std::string& test : tests) check_ends(test, "quick-release/split-fifo");
}

TEST_CASE("the reductions keep the ends of every program on lean QuickRelease") {
  for (const std::string& test : tests) check_ends(test, "quick-release/lean");
}

TEST_CASE("the reductions keep the ends of every program on write-through and on flat memory") {
  for (const std::string& test : small_tests) {
    check_ends(test, "write-through");
    check_ends(test, "sc");
  }
}

TEST_CASE("the reductions keep the ends of programs on systems with a mistake, one at a time") {
  // Where a reduction's argument leans on what a mistake breaks, it has to be given up.
  const std::vector<std::pair<std::string, std::vector<std::string>>> chosen{
      {"quick-release", {"cowr-add-agent", "kernel-write-read-system", "corr-host-reads", "corr-wg"}},
      {"write-through",
       {"cowr-add-agent", "kernel-write-read-agent", "corr-host-reads", "fs-swap-agent",
        "rmw-after-own-store-agent", "mp-neighbour-system", "kernel-neighbour-agent"}}};
  for (const auto& [system, names] : chosen) {
    for (const Fault& fault : find_system(system).faults) {
      for (const std::string& test : names) check_ends(test, system, {std::string(fault.name)});
    }
  }
}

TEST_CASE("the reductions keep the ends of the programs that were made to catch them") {
  check_ends("atomic-waits-for-fill", "write-through");
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  check_ends("add-behind-two-stores", "quick-release");
  check_ends("add-behind-two-stores", "quick-release/as-printed");
  check_ends("sibling-sees-old-copy", "write-through");
#endif
  // Too large without any: the reduction that this one is about is switched off alone.
  const Program program = program_of("sibling-sees-old-copy");
  const Subject subject = subject_named("quick-release");
  CHECK(explore_with(program, subject, {}).ends ==
        explore_with(program, subject, reductions_without(std::vector<std::string>{"stubborn"})).ends);
}

TEST_CASE("each reduction makes some program's states fewer") {
  const Program program = program_of("mp-agent");
  const std::vector<std::pair<std::string, std::string>> chosen{{"moves", "quick-release"},
                                                                {"stubborn", "quick-release"},
                                                                {"dead", "halcone"},
                                                                {"at-once", "quick-release"}};
  for (const auto& [reduction, system] : chosen) {
    INFO(reduction << " on " << system);
    const Subject subject = subject_named(system);
    const Reductions without = reductions_without(std::vector{reduction});
    CHECK(explore_with(program, subject, without).states > explore_with(program, subject, {}).states);
  }
}

TEST_CASE("where final memory is not observed only registers are kept, and those of every end") {
  const auto registers = [](const Program& program, Subject subject, bool observed,
                            const Reductions& reductions) {
    subject.program = std::make_shared<const Program>(program);
    subject.options.reductions = reductions;
    subject.options.memory_observed = observed;
    const auto model = subject.build_with_program();
    Ends ends;
    ExploreOptions options;
    options.on_end = [&](const std::uint64_t* state) {
      std::vector<std::int32_t> end;
      for (std::size_t t = 0; t < program.threads.size(); ++t) {
        for (std::size_t r = 0; r < program.threads[t].registers.size(); ++r) {
          end.push_back(model->final_register(state, static_cast<int>(t), static_cast<int>(r)));
        }
      }
      ends.insert(std::move(end));
    };
    options.invariants = false;
    REQUIRE(explore(*model, options).verdict == Verdict::holds);
    return ends;
  };
  for (const std::string system : {"quick-release", "quick-release/as-printed", "write-through", "sc"}) {
    for (const std::string test :
         {"corr-wg", "cowr-add-agent", "mp-neighbour-host-writes", "kernel-write-read-agent"}) {
      INFO(test << " on " << system);
      const Program program = program_of(test);
      CHECK(registers(program, subject_named(system), false, {}) ==
            registers(program, subject_named(system), true, Reductions::none()));
    }
  }
}

namespace {

// How exploring every state of a program ends, invariants judged.
Verdict judged_with(const Program& program, Subject subject, const Reductions& reductions) {
  subject.program = std::make_shared<const Program>(program);
  subject.options.reductions = reductions;
  return explore(*subject.build(), {}).verdict;
}

void check_judged(const std::string& test, const Subject& subject) {
  const Program program = program_of(test);
  INFO(test << " on " << subject.description());
  CHECK(judged_with(program, subject, reductions_for_invariants(*subject.system, {})) ==
        judged_with(program, subject, Reductions::none()));
}

}  // namespace

TEST_CASE("what is claimed to mend some breach is left to be explored where invariants are judged") {
  const auto program = std::make_shared<const Program>(program_of("add-store-agent"));
  for (const auto& [system, variant] :
       {std::pair{"quick-release", "default"}, std::pair{"halcone", "time-carried"}}) {
    INFO(system << ", " << variant);
    Subject subject = subject_named(system);
    subject.options.variant = variant;
    subject.program = program;
    subject.options.reductions = reductions_for_invariants(*subject.system, {});
    const auto judged = explore(*subject.build(), {}).states;
    subject.options.reductions.invariants = false;
    CHECK(judged > explore(*subject.build(), {}).states);
  }
}

TEST_CASE("what is taken at once passes over no breach of an invariant") {
  const std::vector<std::string> programs{"add-store-agent", "corr-wg", "cowr-add-agent",
                                          "mp-neighbour-host-reads", "stale-barrier-wg"};
  std::size_t claimed = 0;
  for (const SystemEntry& entry : systems()) {
    if (!entry.claims) continue;
    ++claimed;
    for (const std::string& test : programs) {
      for (const Variant& variant : entry.variants) {
        Subject subject{&entry, {}, nullptr, nullptr};
        subject.options.variant = variant.name;
        check_judged(test, subject);
      }
      for (const Fault& fault : entry.faults) {
        Subject subject{&entry, {}, nullptr, nullptr};
        subject.options.faults = {std::string(fault.name)};
        check_judged(test, subject);
      }
    }
  }
  CHECK(claimed == 2);
}
