// What a reader may take at once, and what it may leave for later: claims about a protocol's rules, stated in
// a file beside the protocol.
//
// A claim names a rule and says where firing it at once, instead of at any later time, is something that
// nobody can tell, for one of two reasons:
//   at_once   it leads ahead, in an order of states, `keeps_up(behind, ahead)`: whatever `behind` may still
//             do, `ahead` may do in no more steps, and nobody sees a difference meanwhile;
//   commutes  whatever else may happen before it may happen after it and leads to the same state, or to one
//             that is ahead, and leaves it to be taken at once still;
// or where firing it now, instead of later or never, is:
//   waits     it is optional, and whatever may happen after it may happen before it, and leads to the same
//             state then, or to one that it would have led to. What else is claimed is claimed of rules that
//             wait where they may.
// `lockstep prove` discharges what makes that so (proofs/at_once.hpp); docs/engine.md has the argument.
//
// Where invariants are judged a claim is used as long as what it takes at once mends none, and what waits
// breaks none: a state that breaks one may then be passed over for one that breaks it, too. That is proved as
// well, but of a claim to be taken at once that says of itself that it `may_mend` some, which is left alone
// there.
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
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "spec/kernel/rules.hpp"

namespace lockstep {

enum class WhyAtOnce : std::uint8_t { leads_ahead, commutes, waits };
enum class Mending : std::uint8_t { none, may_mend };
inline constexpr Mending may_mend = Mending::may_mend;

template <class Erased>
struct AtOnceValue {
  std::string_view rule;
  WhyAtOnce why = WhyAtOnce::leads_ahead;
  Mending mending = Mending::none;                // of the protocol's invariants
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

  // The rule over these parameters is taken at once, or waits, where it is enabled and
  // `where(state, members...)` holds.
  template <class... Tags, class Where>
  void at_once(std::string_view rule, Over<Tags...>, Where where, Mending mending = Mending::none) {
    add<Tags...>(rule, WhyAtOnce::leads_ahead, std::move(where), mending);
  }
  template <class... Tags, class Where>
  void commutes(std::string_view rule, Over<Tags...>, Where where, Mending mending = Mending::none) {
    add<Tags...>(rule, WhyAtOnce::commutes, std::move(where), mending);
  }
  // Never of one that may break an invariant: everything else that is claimed rests on what waits.
  template <class... Tags, class Where>
  void waits(std::string_view rule, Over<Tags...>, Where where) {
    add<Tags...>(rule, WhyAtOnce::waits, std::move(where), Mending::none);
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
  template <class... Tags, class Where>
  void add(std::string_view rule, WhyAtOnce why, Where where, Mending mending) {
    values_.push_back({rule, why, mending, detail::parameters_of<K, Tags...>(*k_),
                       ErasedGuard<Erased>::template of<K, State>(
                           [where = std::move(where)](const State& s, const typename Erased::Member* m) {
                             return typename K::Bool(detail::with_members<K, Tags...>(where, s, m));
                           })});
  }

  const K* k_;
  std::vector<AtOnceValue<Erased>> values_;
};

// Of a protocol beside which nothing is claimed.
template <class K>
struct NoClaims {};

template <template <class> class Claims, class K>
inline constexpr bool has_claims = !std::is_same_v<Claims<K>, NoClaims<K>>;

}  // namespace lockstep
