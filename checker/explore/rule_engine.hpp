// Expands states by a list of rules that are values (spec/kernel/rules.hpp), whatever the state is made of:
// compiled once for all systems.
//
// A rule with its parameters chosen is an instance. Instances are numbered in the order of the rules; a
// rule's guard is asked of all its instances in one call, and each that holds yields a successor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checker/explore/guard_inputs.hpp"
#include "checker/explore/model.hpp"
#include "checker/footprint/terms.hpp"
#include "spec/kernel/at_once.hpp"
#include "spec/kernel/concrete.hpp"
#include "spec/kernel/rules.hpp"

namespace lockstep {

class TreeRule;
namespace footprint {
class DeadFields;
class StubbornSets;
}  // namespace footprint

// What the engine asks of the plain struct that rules act on.
class PlainStates {
 public:
  PlainStates() = default;
  PlainStates(const PlainStates&) = delete;
  PlainStates& operator=(const PlainStates&) = delete;

  // Bytes of a state. One may lie wherever an address is a multiple of the size of a line of the first cache.
  [[nodiscard]] virtual std::size_t state_bytes() const = 0;
  // Makes a default state of raw memory.
  virtual void construct(void* state) const = 0;
  // Derived fields included, into raw memory.
  virtual void unpack_state(const std::uint64_t* words, void* state) const = 0;
  virtual void pack_state(const void* state, std::uint64_t* words) const = 0;
  // Packs `count` states, `stride` bytes apart, one after the other; each differs little from `before`, whose
  // packed form is `packed`.
  virtual void repack_states(const void* before, const std::uint64_t* packed, const std::byte* states,
                             std::size_t stride, std::size_t count, std::uint64_t* words) const = 0;
  // Path and value of every stored field.
  [[nodiscard]] virtual std::vector<std::pair<std::string, std::string>> fields_of_state(
      const void* state) const = 0;

 protected:
  ~PlainStates() = default;
};

class RuleEngine {
 public:
  using RuleOf = RuleValue<ConcreteErased>;
  // Renders a program's instruction for people; systems without a program leave it empty.
  using InstructionText = std::function<std::string(const Instruction&, int thread)>;

  // All that a system lists; `kept` is what its closures refer to. Assertions are judged under every
  // reduction, and number before the invariants.
  struct Lists {
    std::vector<RuleOf> rules;
    std::vector<RuleSplit> splits;
    std::vector<InvariantValue<ConcreteErased>> assertions;
    std::vector<InvariantValue<ConcreteErased>> invariants;
    std::vector<StartValue<ConcreteErased>> starts;
    std::vector<std::shared_ptr<const void>> kept;
  };

  // Throws std::length_error where a rule has more instances than are numbered.
  RuleEngine(Lists lists, const PlainStates& states, Reductions reductions, InstructionText instruction_text);

  [[nodiscard]] const std::vector<RuleDescription>& descriptions() const { return descriptions_; }
  [[nodiscard]] const std::vector<std::string>& invariant_names() const { return invariant_names_; }
  [[nodiscard]] const Lists& lists() const { return lists_; }

  // From now on fires only a stubborn set of each state, and resets dead fields: whichever is given.
  void reduce(std::shared_ptr<const footprint::StubbornSets> stubborn,
              std::shared_ptr<const footprint::DeadFields> dead = nullptr) {
    stubborn_ = std::move(stubborn);
    dead_ = std::move(dead);
  }
  // What a firing may make something to take at once of: a bit for each claim, in their order, and the last
  // one for threads' own moves.
  using Wakes = std::uint64_t;
  static constexpr Wakes wakes_all = ~Wakes{0};
  static constexpr Wakes wakes_moves = Wakes{1} << 63;
  static constexpr std::size_t most_claims = 63;
  // What may be taken at once and what may wait, and the lemmas that this rests on; `kept` is what their
  // closures refer to.
  struct Claims {
    std::vector<AtOnceValue<ConcreteErased>> at_once;
    std::vector<AtOnceValue<ConcreteErased>> waits;
    std::vector<InvariantValue<ConcreteErased>> lemmas;
    std::vector<Wakes> wakes;  // of each rule
    std::vector<Keeper::Kept> kept;
  };
  // From now on takes rules at once, and leaves others for later, where it is claimed that nobody can tell.
  // Throws std::logic_error where a claim names no rule of the system, or there are too many. Whatever
  // reduce() was given has to follow from trees of rules that wait.
  void rest_on(const Claims& claims);
  // From now on asks only those guards again that look at something in which a state differs from one of
  // which is known what it has enabled (Successors::known).
  void ask_again(GuardInputs inputs);
  [[nodiscard]] const GuardInputs& inputs() const { return inputs_; }
  // From now on walks that tree in the rule's place.
  void replace(std::size_t rule, std::shared_ptr<const TreeRule> tree);
  // Where footprints are checked, has every state's expansion hold these trees, by rule, against the rules;
  // the scalars of a plain state lie at `places`.
  void check_trees(std::vector<std::shared_ptr<const TreeRule>> trees, std::vector<footprint::Place> places);
  // Has every state's expansion hold footprints against rules, and ask the guards that need not be asked
  // again, at great cost: of what reduce() and ask_again() gave.
  void check_footprints(bool check) { checks_footprints_ = check; }
  [[nodiscard]] std::vector<bool> fair_instances() const;
  [[nodiscard]] std::uint32_t instances() const { return static_cast<std::uint32_t>(members_.size()); }
  [[nodiscard]] const RuleOf& rule_of(std::uint32_t instance) const {
    return lists_.rules[rule_of_[instance]];
  }
  [[nodiscard]] const std::uint8_t* members_of(std::uint32_t instance) const {
    return members_[instance].data();
  }

  void initial(unsigned words, Successors& out) const;
  void expand(const std::uint64_t* packed, Successors& out) const;
  [[nodiscard]] std::vector<NarratedStep> narrate(const std::uint64_t* packed, const Firing& firing) const;
  [[nodiscard]] std::vector<NarratedStep> narrate_initial(std::size_t index) const;

 private:
  using Members = std::array<std::uint8_t, max_parameters>;
  struct Narration;
  struct Room;

  // The instances of one rule: `count` from `first` on.
  struct Range {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };
  // Consecutive rules that are always looked at, or the cases of a split.
  struct Segment {
    std::size_t first = 0;
    std::size_t last = 0;
    int split = -1;
  };

  void number_instances();
  void find_segments();
  void prepare(Successors& out) const;
  [[nodiscard]] bool judges_invariants() const;
  void judge(const void* state, Successors& out) const;
  // Calls f(first rule, last rule) for the rules that may be enabled.
  [[nodiscard]] std::vector<Segment> own_moves() const;
  template <class F>
  void for_each_range(const std::vector<Segment>& segments, const void* state, F&& f) const;
  // Lists the rule's enabled instances at `to`; returns one behind the last.
  std::uint32_t* scan(std::size_t rule, const void* state, std::uint32_t* to, Successors& out) const;
  [[nodiscard]] std::uint32_t* room_for_enabled(Successors& out) const;
  // Lists the state's enabled instances at `to`; returns one behind the last.
  std::uint32_t* list_enabled(const std::byte* state, const std::uint64_t* packed, std::uint32_t* to,
                              Successors& out) const;
  std::uint32_t* ask_all(const std::byte* state, std::uint32_t* to, Successors& out) const;
  void check_kept(const std::byte* state, const std::uint32_t* enabled, const std::uint32_t* end,
                  Successors& out) const;
  void expand_plain(std::byte* state, const std::uint64_t* packed, Successors& out) const;
  [[nodiscard]] BrokenRule broken_rule(const Acting& acting, Misuse what) const;
  void finish(std::byte* state, Wakes woken, Successors& out) const;
  void go_on(std::byte* state, Wakes woken, Successors& room, Narration* narration) const;
  void settle(void* state, Wakes woken, Successors& out, Narration* narration) const;
  Wakes take_moves(void* state, Successors& out, Narration* narration) const;
  Wakes take_claimed(void* state, Wakes woken, Successors& out, Narration* narration) const;
  // Whether an enabled instance may be left for later.
  [[nodiscard]] bool waits(std::uint32_t instance, const void* state) const;
  // Those of the listed instances that may not; returns one behind the last.
  std::uint32_t* leave_waiting(const void* state, std::uint32_t* enabled, std::uint32_t* end,
                               Successors& out) const;
  [[nodiscard]] Wakes woken_by(std::uint32_t instance) const {
    return wakes_.empty() ? all_woken_ : wakes_[rule_of_[instance]];
  }
  [[nodiscard]] bool lemmas_hold(const void* state) const;
  void follow(std::byte* state, Successors& out, Narration* narration) const;
  void check_footprints(const std::byte* state, const std::uint32_t* enabled, const std::uint32_t* end,
                        std::byte* room) const;
  void check_tree(std::uint32_t instance, bool is_enabled, const std::byte* state, std::byte* room) const;
  [[nodiscard]] static Room& room_of(Successors& out);
  [[nodiscard]] std::size_t choose(const std::byte* state, std::uint32_t* enabled, std::size_t count,
                                   Successors& out) const;
  void fire(std::uint32_t instance, void* state, Successors& out, Narration* narration) const;
  [[nodiscard]] std::string parameters_text(const std::vector<RuleParameter<ConcreteErased>>& parameters,
                                            const Members& members) const;
  template <class F>
  void for_each_start(F&& f) const;

  Lists lists_;
  const PlainStates& states_;
  Reductions reductions_;
  InstructionText instruction_text_;
  std::size_t stride_ = 0;  // bytes between states that wait to be packed
  std::size_t most_waiting_ = 1;
  std::vector<Range> ranges_;           // by rule
  std::vector<Members> members_;        // by instance
  std::vector<std::uint16_t> rule_of_;  // by instance
  std::vector<Segment> segments_;
  std::vector<Segment> own_moves_;
  struct Claim {
    std::size_t rule = 0;
    ErasedGuard<ConcreteErased> where;
  };
  std::vector<Claim> claims_;                           // what is taken at once
  std::vector<Claim> waits_;                            // what is left for later
  std::vector<InvariantValue<ConcreteErased>> lemmas_;  // of the claims
  std::vector<Wakes> wakes_;                            // by rule; where there are none each wakes all
  Wakes all_woken_ = 0;                                 // what there is to wake
  std::vector<RuleDescription> descriptions_;
  std::vector<std::string> invariant_names_;
  std::shared_ptr<const footprint::StubbornSets> stubborn_;
  std::shared_ptr<const footprint::DeadFields> dead_;
  GuardInputs inputs_;
  std::vector<Segment> splits_;           // those segments that are, where there are inputs
  std::vector<std::uint64_t> in_splits_;  // instances of their rules, as a set
  bool checks_footprints_ = false;
  std::vector<std::shared_ptr<const TreeRule>> trees_;  // to hold against the rules
  std::vector<footprint::Place> places_;
};

}  // namespace lockstep
