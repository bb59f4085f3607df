// What a reader may take at once: a claim about a protocol's rules, stated in a file beside the protocol.
//
// A claim names a rule and says where firing it at once, instead of at any later time, is something that
// nobody can tell. It rests on an order of states, `keeps_up(behind, ahead)`: whatever `behind` may still do,
// `ahead` may do in no more steps, and nobody sees a difference meanwhile. `lockstep prove` discharges what
// makes that so (proofs/at_once.hpp); docs/engine.md has the argument.
//
// The file X.claims.hpp beside X.hpp has, in the namespace of X,
//   template <class K> struct Claims {
//     const Protocol<K>& memory;
//     // Fields, by their names in State, that may differ between the two states of keeps_up. All others are
//     // equal.
//     static constexpr std::array differ{...};
//     void at_once(AtOnceList<K, State>& list) const;
//     Bool keeps_up(const State& behind, const State& ahead) const;
//   };
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "spec/kernel/rules.hpp"

namespace lockstep {

template <class Erased>
struct AtOnceValue {
  std::string_view rule;
  std::vector<RuleParameter<Erased>> parameters;  // the rule's own
  ErasedGuard<Erased> where;
};

template <class KindType, class StateType>
class AtOnceList : public Keeper {
 public:
  using K = KindType;
  using State = StateType;
  using Erased = typename K::Erased;

  explicit AtOnceList(const K& k) : k_(&k) {}

  // The rule over these parameters is taken at once where it is enabled and `where(state, members...)` holds.
  template <class... Tags, class Where>
  void at_once(std::string_view rule, Over<Tags...>, Where where) {
    values_.push_back({rule, detail::parameters_of<K, Tags...>(*k_),
                       ErasedGuard<Erased>::template of<K, State>(
                           [where = std::move(where)](const State& s, const typename Erased::Member* m) {
                             return typename K::Bool(detail::with_members<K, Tags...>(where, s, m));
                           })});
  }
  // The claims of a part of this state.
  template <class Part>
  void part(const AtOnceList<K, Part>& claims, Part State::*member) {
    const std::size_t offset = detail::offset_of(member);
    for (AtOnceValue<Erased> value : claims.values()) {
      value.where = value.where.within(offset);
      values_.push_back(std::move(value));
    }
    this->keep(claims.kept());
  }

  [[nodiscard]] const std::vector<AtOnceValue<Erased>>& values() const { return values_; }

 private:
  const K* k_;
  std::vector<AtOnceValue<Erased>> values_;
};

// Of a protocol beside which nothing is claimed.
template <class K>
struct NoClaims {};

template <template <class> class Claims, class K>
inline constexpr bool has_claims = !std::is_same_v<Claims<K>, NoClaims<K>>;

}  // namespace lockstep
