// The law that Lockstep stands on: every system is one header, and every kind reads every rule of it. A
// system that a kind cannot read fails to compile, with the construct it lacks named by the compiler.
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "checker/systems/registry.hpp"
#include "proofs/symbolic.hpp"
#include "refimpl/timed.hpp"
#include "spec/kernel/concrete.hpp"
#include "spec/kernel/kind.hpp"
#include "spec/kernel/recorded.hpp"
#include "spec/program/machine.hpp"
#include "tests/systems/list.hpp"

namespace lockstep {

Registrations<SystemClaims>& registered_claims() {
  static Registrations<SystemClaims> all;
  return all;
}

const std::vector<std::pair<std::string_view, SystemClaims>>& system_claims() {
  static const auto all = registered_claims().in_order();
  return all;
}

}  // namespace lockstep

using namespace lockstep;

namespace {

using AnySizes = MachineSizes<FullCapacities>;
static_assert(ValueKind<Concrete<AnySizes>>);
static_assert(ValueKind<Recorded<AnySizes>>);
static_assert(ValueKind<Symbolic<AnySizes>>);
static_assert(ValueKind<Timed<AnySizes>>);
static_assert(!ValueKind<AnySizes>);

std::set<std::string> recorded_rules(const SystemEntry& entry, const Variant& variant) {
  SystemOptions options;
  options.variant = variant.name;
  std::set<std::string> names;
  for (const recorded::RecordedRule& rule : entry.describe(options).rules) names.insert(rule.name);
  return names;
}

}  // namespace

TEST_CASE("the Symbolic kind reads every rule of every system, in every variant") {
  for (const auto& [name, claims] : system_claims()) {
    const SystemEntry& entry = find_system(name);
    for (const Variant& variant : entry.variants) {
      for (const bool any_size : {false, true}) {
        INFO(name << "/" << variant.name << (any_size ? " at any size" : ""));
        const SymbolicRules read = claims.read(any_size, variant.name);
        CHECK(read.rules == recorded_rules(entry, variant));
        CHECK(read.never == std::set<std::string>{});
        CHECK(read.starts == 1);
      }
    }
  }
}

TEST_CASE("the systems that are read here are the systems that there are") {
  std::vector<std::string_view> there;
  for (const SystemEntry& entry : systems()) there.push_back(entry.name);
  std::vector<std::string_view> read;
  for (const auto& [name, claims] : system_claims()) read.push_back(name);
  CHECK_FALSE(read.empty());
  CHECK(read == there);
}
