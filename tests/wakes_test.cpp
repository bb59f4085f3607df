// After a firing only what it woke is looked at for something to take at once.
#include "checker/systems/wakes.hpp"

#include <catch2/catch.hpp>
#include <string_view>
#include <vector>

using namespace lockstep;

namespace {

std::vector<RuleEngine::RuleOf> rules_named(std::vector<std::string_view> names) {
  std::vector<RuleEngine::RuleOf> rules;
  for (const std::string_view name : names) rules.emplace_back().rule.name = name;
  return rules;
}
std::vector<AtOnceValue<ConcreteErased>> claims_of_rules(std::vector<std::string_view> names) {
  std::vector<AtOnceValue<ConcreteErased>> claims;
  for (const std::string_view name : names) claims.emplace_back().rule = name;
  return claims;
}

}  // namespace

TEST_CASE("a firing wakes the claims that look at what it writes, and no others") {
  const SystemEntry& entry = find_system("quick-release");
  const auto rules = rules_named({"S-FIFO1 passes a marker on", "rL1 replaces a block", "fill reaches L1",
                                  "release is acknowledged", "takes its completion"});
  const auto claims = claims_of_rules({"L2 takes a marker", "fence completes", "invalidation reaches rL1"});
  constexpr RuleEngine::Wakes marker = 1;
  constexpr RuleEngine::Wakes fence = 2;
  constexpr RuleEngine::Wakes invalidation = 4;
  const std::vector<RuleEngine::Wakes> wakes = wakes_of(entry, {}, rules, claims);
  REQUIRE(wakes.size() == rules.size());
  CHECK(wakes[0] == marker);
  CHECK(wakes[1] == invalidation);
  // It completes a load, so that its thread goes on, and holds up no invalidation any more.
  CHECK(wakes[2] == (RuleEngine::wakes_moves | fence | invalidation));
  CHECK(wakes[3] == fence);
  // A thread's own may do anything to the port.
  CHECK(wakes[4] == RuleEngine::wakes_all);
}

TEST_CASE("of a claim that the trees do not know every firing is thought to wake all") {
  const auto wakes = wakes_of(find_system("quick-release"), {}, rules_named({"rL1 replaces a block"}),
                              claims_of_rules({"no such rule"}));
  CHECK(wakes == std::vector<RuleEngine::Wakes>{RuleEngine::wakes_all});
}
