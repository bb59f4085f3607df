// What is claimed beside a protocol holds of it, and a claim that does not hold is refuted or refused.
#include "proofs/at_once.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "checker/runs/subject.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/systems/registry.hpp"
#include "proofs/prover.hpp"
#include "spec/memory/halcone.claims.hpp"
#include "spec/memory/quick_release.claims.hpp"

using namespace lockstep;

namespace {

ProveOptions quickly() {
  ProveOptions options;
  options.check_vacuity = false;
  return options;
}

// Counts the systems that something is claimed of.
template <class Choose>
std::size_t check_claims(Choose&& choose) {
  std::size_t claimed = 0;
  for (const SystemEntry& entry : systems()) {
    if (claims_of(entry.name, {}) == nullptr) continue;
    ++claimed;
    for (const SystemOptions& options : choose(entry)) {
      const ProofResult result = prove(*claims_of(entry.name, options), quickly());
      INFO(entry.name << " " << options.variant << (options.faults.empty() ? "" : options.faults.front()));
      CHECK(result.proved());
      CHECK(result.obligations.size() > 20);
    }
  }
  return claimed;
}

template <class Wanted>
std::vector<SystemOptions> variants_of(const SystemEntry& entry, Wanted&& wanted) {
  std::vector<SystemOptions> all;
  for (const Variant& variant : entry.variants) {
    if (wanted(variant.name)) all.emplace_back().variant = variant.name;
  }
  return all;
}

}  // namespace

// Not in an unnamed namespace: templates of named ones are made with them.
namespace wrongly_claimed {

// Every invalidation of an rL1, also one that takes a copy.
template <class K>
struct TooMuch : quick_release::Claims<K> {
  using Base = quick_release::Claims<K>;
  using typename Base::Block, typename Base::Bool, typename Base::Cu, typename Base::State;
  void at_once(AtOnceList<K, State>& list) const {
    list.at_once("invalidation reaches rL1", over(cus, blocks),
                 [](const State&, Cu, Block) { return Bool(true); });
  }
};
template <class K>
struct Misspelt : quick_release::Claims<K> {
  using Base = quick_release::Claims<K>;
  using typename Base::Block, typename Base::Bool, typename Base::Cu, typename Base::State;
  void at_once(AtOnceList<K, State>& list) const {
    list.at_once("invalidation reaches rL0", over(cus, blocks),
                 [](const State&, Cu, Block) { return Bool(true); });
  }
};

template <class K>
struct SeenByThreads : quick_release::Claims<K> {
  static constexpr std::array<std::string_view, 1> differ{"port.result"};
};

// Every store, also where somebody else uses the block.
template <class K>
struct TooSoon : quick_release::Claims<K> {
  using Base = quick_release::Claims<K>;
  using typename Base::Bool, typename Base::State, typename Base::ThreadIx;
  void at_once(AtOnceList<K, State>& list) const {
    list.commutes(
        "store enters wL1", over(threads), [](const State&, ThreadIx) { return Bool(true); }, may_mend);
  }
};

// A store where it commutes, without a word on invariants.
template <class K>
struct SaysNothing : quick_release::Claims<K> {
  using Base = quick_release::Claims<K>;
  using typename Base::Bool, typename Base::State, typename Base::ThreadIx;
  void at_once(AtOnceList<K, State>& list) const {
    list.commutes("store enters wL1", over(threads),
                  [self = *this](const State& s, ThreadIx t) { return self.enters_alone(s, t); });
  }
};

template <class K>
struct OfAnOptionalRule : quick_release::Claims<K> {
  using Base = quick_release::Claims<K>;
  using typename Base::Block, typename Base::Bool, typename Base::Cu, typename Base::State;
  void at_once(AtOnceList<K, State>& list) const {
    list.commutes("rL1 replaces a block", over(cus, blocks),
                  [](const State&, Cu, Block) { return Bool(true); });
  }
};

// Copies that somebody asks for, and entries while another block comes that has none.
template <class K>
struct TooLate : halcone::Claims<K> {
  using Base = halcone::Claims<K>;
  using typename Base::Block, typename Base::Bool, typename Base::Cu, typename Base::P, typename Base::State,
      typename Base::ThreadIx;
  void at_once(AtOnceList<K, State>& list) const {
    list.waits("L1 replaces a block", over(cus, blocks), [](const State&, Cu, Block) { return Bool(true); });
    list.waits("TSU drops an entry", over(blocks), [self = *this](const State& s, Block b) {
      return !self.memory.k.exists(
          threads, [&](const ThreadIx& t) { return self.memory.asks_memory(s, t) && P::block(s, t) == b; });
    });
  }
};

template <class K>
struct LeavesAFairRule : halcone::Claims<K> {
  using Base = halcone::Claims<K>;
  using typename Base::Bool, typename Base::State, typename Base::ThreadIx;
  void at_once(AtOnceList<K, State>& list) const {
    list.waits("load misses L1", over(threads), [](const State&, ThreadIx) { return Bool(true); });
  }
};

template <class K>
struct OfAThread : quick_release::Claims<K> {
  using Base = quick_release::Claims<K>;
  using typename Base::Bool, typename Base::State, typename Base::ThreadIx;
  void at_once(AtOnceList<K, State>& list) const {
    list.commutes("takes its completion", over(threads), [](const State&, ThreadIx) { return Bool(true); });
  }
};

}  // namespace wrongly_claimed

// All variants between them; what is not the default takes long.
TEST_CASE("what is claimed beside a protocol is proved at its default", "[prove]") {
  CHECK(check_claims([](const SystemEntry&) { return std::vector<SystemOptions>(1); }) == 2);
}

TEST_CASE("what is claimed beside a protocol is proved at every other variant", "[.][nightly]") {
  check_claims([](const SystemEntry& entry) {
    return variants_of(entry,
                       [&](std::string_view variant) { return variant != entry.variants.front().name; });
  });
}

TEST_CASE("what is claimed beside a protocol is proved with every fault", "[.][nightly]") {
  check_claims([](const SystemEntry& entry) {
    std::vector<SystemOptions> all;
    for (const Fault& fault : entry.faults) all.emplace_back().faults = {std::string(fault.name)};
    return all;
  });
}

TEST_CASE("a claim of too much is refuted with the rule that shows it", "[prove]") {
  const ProofResult result =
      prove(*build_claims<quick_release::Info, wrongly_claimed::TooMuch>({}), quickly());
  CHECK(result.count(ProofStatus::refuted) > 0);
  for (const Obligation& o : result.obligations) {
    if (o.status != ProofStatus::refuted) continue;
    CHECK(o.lemma == "taken at once, it leads ahead");
    CHECK(o.rule == "invalidation reaches rL1");
    CHECK(o.counterexample);
  }
}

TEST_CASE("a rule that does not commute is refuted with what may happen before it", "[prove]") {
  const ProofResult result =
      prove(*build_claims<quick_release::Info, wrongly_claimed::TooSoon>({}), quickly());
  CHECK(result.count(ProofStatus::refuted) > 0);
  bool by_eviction = false;
  for (const Obligation& o : result.obligations) {
    if (o.status != ProofStatus::refuted) continue;
    CHECK(o.lemma == "may as well come after \"store enters wL1\"");
    CHECK(o.counterexample);
    by_eviction = by_eviction || o.rule == "wL1 replaces a block";
  }
  CHECK(by_eviction);
}

TEST_CASE("a rule that may mend an invariant is refuted with the invariant") {
  const ProofResult result =
      prove(*build_claims<quick_release::Info, wrongly_claimed::SaysNothing>({}), quickly());
  std::set<std::string> mended;
  for (const Obligation& o : result.obligations) {
    if (o.status == ProofStatus::refuted) mended.insert(o.rule + " " + o.lemma);
  }
  const std::string excused = "or newer data waits above it, or its invalidation is on the way\"";
  CHECK(mended ==
        std::set<std::string>{"store enters wL1 mends no breach of \"a copy in rL1 is current, " + excused,
                              "store enters wL1 mends no breach of \"a copy in rL2 is current, " + excused});
}

TEST_CASE("only fair rules of the memory system are claimed to commute", "[prove]") {
  using namespace wrongly_claimed;
  CHECK_THROWS_WITH(prove(*build_claims<quick_release::Info, OfAnOptionalRule>({}), quickly()),
                    Catch::Contains("\"rL1 replaces a block\" is claimed to commute, and is not fair"));
  CHECK_THROWS_WITH(prove(*build_claims<quick_release::Info, OfAThread>({}), quickly()),
                    Catch::Contains("\"takes its completion\", which is a thread's"));
}

TEST_CASE("a rule that may not wait is refuted with what may happen after it", "[prove]") {
  const ProofResult result = prove(*build_claims<halcone::Info, wrongly_claimed::TooLate>({}), quickly());
  std::map<std::string, std::set<std::string>> tell;
  for (const Obligation& o : result.obligations) {
    if (o.status == ProofStatus::refuted) tell[o.lemma].insert(o.rule);
  }
  CHECK(tell["may as well come before \"L1 replaces a block\""].count("load misses L1") == 1);
  CHECK(tell["may as well come before \"TSU drops an entry\""].count("MM performs a write") == 1);
  CHECK(tell.size() == 2);
}

TEST_CASE("only optional rules of the memory system are claimed to wait", "[prove]") {
  CHECK_THROWS_WITH(prove(*build_claims<halcone::Info, wrongly_claimed::LeavesAFairRule>({}), quickly()),
                    Catch::Contains("\"load misses L1\" is claimed to wait, and is fair"));
}

TEST_CASE("a claim about a rule that there is not is refused by its name", "[prove]") {
  CHECK_THROWS_WITH(prove(*build_claims<quick_release::Info, wrongly_claimed::Misspelt>({}), quickly()),
                    Catch::Contains("\"invalidation reaches rL0\", which is no rule over those members"));
}

TEST_CASE("a claim that lets differ what threads see is refused", "[prove]") {
  CHECK_THROWS_WITH(prove(*build_claims<quick_release::Info, wrongly_claimed::SeenByThreads>({}), quickly()),
                    Catch::Contains("\"port.result\" differ, which threads see"));
}
