// What the translation unit of a system's claims registers. Included by such units only.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <type_traits>

#include "checker/systems/closed_system.hpp"
#include "checker/systems/contract.hpp"
#include "checker/systems/registry.hpp"
#include "proofs/obligations.hpp"
#include "proofs/open_system.hpp"
#include "proofs/symbolic.hpp"
#include "spec/kernel/kind.hpp"
#include "spec/program/client.hpp"
#include "tests/systems/list.hpp"

namespace lockstep {

class ReadNames final : public RuleVisitor {
 public:
  bool wants_start(std::size_t) override { return true; }
  bool wants_rule(std::size_t) override { return true; }
  void start(const ReadRule&) override { ++found.starts; }
  void rule(const ReadRule& rule) override {
    found.rules.insert(rule.name);
    if (rule.guard.is_false()) found.never.insert(rule.name);
  }
  SymbolicRules found;
};

// The rules of a memory system with the most general client.
template <class Info>
SymbolicRules read_memory(bool any_size, std::string_view variant) {
  const symbolic::Session session(any_size);
  using Sizes = ClientSizes<Info, FullCapacities>;
  using K = Symbolic<Sizes>;
  static_assert(ValueKind<K>);
  const int index = variant_index(find_system(Info::name), variant);
  Sizes sizes;
  sizes.visit([]<class Tag>(Tag, int& size) {
    if (!std::is_same_v<Tag, ShapeTag>) size = std::min(size, 2);
  });
  Info::default_sizes(sizes, index);
  const OpenSystem<Info, K> system(K(sizes), named_machine<K>(), 0, index, Watch::nothing);
  ReadNames names;
  symbolic::ReadSystem<OpenSystem<Info, K>>(system, names).read();
  names.found.rules.erase("issues a request");
  names.found.rules.erase("takes its completion");
  return names.found;
}

template <class Info>
SymbolicRules read_closed(bool any_size, std::string_view variant) {
  const symbolic::Session session(any_size);
  using Sizes = typename Info::template Sizes<FullCapacities>;
  using K = Symbolic<Sizes>;
  static_assert(ValueKind<K>);
  SystemOptions options;
  options.variant = variant;
  const SystemEntry& entry = find_system(Info::name);
  Sizes sizes;
  Info::default_sizes(sizes, variant_index(entry, variant));
  if constexpr (requires { Info::sizes_of_every_rule(sizes); }) Info::sizes_of_every_rule(sizes);
  const auto protocol = closed_protocol<Info>(K(sizes), entry, options, PlaceByName{});
  ReadNames names;
  symbolic::ReadSystem<typename Info::template Closed<K>>(protocol, names).read();
  return names.found;
}

template <class Info>
struct RegisteredForTests {
  explicit RegisteredForTests(std::string_view header) {
    SystemClaims claims;
    claims.is_cited_whole = requires {
      requires Info::is_cited_whole;
    };
    claims.is_unread = [](std::string_view field, std::string_view variant, std::string_view fault) {
      if constexpr (requires { Info::is_unread(field, variant, fault); }) {
        return Info::is_unread(field, variant, fault);
      } else {
        return false;
      }
    };
    if constexpr (RunsPrograms<Info, Symbolic>) {
      claims.read = read_memory<Info>;
    } else {
      claims.read = read_closed<Info>;
    }
    registered_claims().add(origin<Info>(header), claims);
  }
};

}  // namespace lockstep
