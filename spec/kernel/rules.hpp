// Rules: guarded actions with parameters over index types, performed by a unit of the hardware.
//
// A protocol's rules are a list of values, which every reader walks: name, unit, source, fairness,
// parameters, trigger, guard and action. A variant's or fault's rules are in the list or they are not. A
// closure exists once for each value kind, and what calls it is emitted once, out of line.
//   rule(rule, parameters, guard, action)
//     spontaneous
//   triggered(rule, parameters, channel, guard, action)
//     consumes the head of a channel, which is its message
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "spec/kernel/index.hpp"

namespace lockstep {

struct Instruction;  // spec/program/program.hpp

enum class Fairness : std::uint8_t {
  fair,      // deliveries, drains: if enabled for ever, happens
  optional,  // a replacement, a spurious wake-up: may never happen
};

struct Rule {
  std::string_view name;
  std::string_view unit = {};    // the hardware component that performs it
  std::string_view source = {};  // place in the paper
  Fairness fairness = Fairness::fair;
  // A move of the program's threads themselves: it changes nothing but their own fields and depends on these
  // and the port's answers alone, so that once enabled it stays enabled, only enables others, and no memory
  // system can tell when it happens.
  bool own_move = false;
  const Instruction* instruction = nullptr;  // of a rule that executes one, for narration
  int thread = -1;
  bool asks = false;  // hands a request to the port: the step of a thread that a scheduler may hold back
};

// A named deliberate mistake, off unless asked for.
struct Fault {
  std::string_view name;
  std::string_view what;
};
struct Variant {
  std::string_view name;
  std::string_view what;
};

// The parameters of a rule: one index type each.
template <IndexTag... Tags>
struct Over {};
template <IndexTag... Tags>
constexpr Over<Tags...> over(Tags...) {
  return {};
}

// ---- closures without their types -------------------------------------------------------------------------
//
// A kind K says in K::Erased how its values pass where a closure's own types are forgotten:
//   Member   a member of some index type (K::member<Tag>(m) is the Ix<Tag>)
//   Truth    what a guard yields (K::erased(b) makes it of a Bool)
//   Type     what a reader knows of a parameter's index type (K::parameter_type<Tag>())
//   decides  whether a guard's truth is known at once; its reader then looks at many instances in one call

inline constexpr std::size_t max_parameters = 4;

// A copy of an object that needs no more than its bytes, aligned as a word.
inline std::shared_ptr<const void> shared_copy(const void* object, std::size_t bytes) {
  const auto copy =
      std::make_shared<std::uint64_t[]>((bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
  std::memcpy(copy.get(), object, bytes);
  return copy;
}

// A closure whose type is forgotten, and where in a state what it looks at begins.
template <class Derived>
class ErasedClosure {
 public:
  explicit operator bool() const { return closure_ != nullptr; }
  // The same on a larger state, of which its own is the part at `offset` bytes.
  [[nodiscard]] Derived within(std::size_t offset) const {
    Derived whole = static_cast<const Derived&>(*this);
    whole.ErasedClosure::offset_ += offset;
    return whole;
  }

 protected:
  template <class F>
  void hold(F f) {
    // Nearly every closure, and nothing to compile for each.
    if constexpr (std::is_trivially_copyable_v<F> && alignof(F) <= alignof(std::uint64_t)) {
      closure_ = shared_copy(&f, sizeof f);
    } else {
      closure_ = std::make_shared<const F>(std::move(f));
    }
  }
  [[nodiscard]] const void* closure() const { return closure_.get(); }
  [[nodiscard]] const void* at(const void* state) const {
    return static_cast<const std::byte*>(state) + offset_;
  }
  [[nodiscard]] void* at(void* state) const { return static_cast<std::byte*>(state) + offset_; }

 private:
  std::shared_ptr<const void> closure_;
  std::size_t offset_ = 0;
};

// A predicate on a state, over members of index types.
template <class Erased>
class ErasedGuard : public ErasedClosure<ErasedGuard<Erased>> {
 public:
  using Member = typename Erased::Member;
  using Truth = typename Erased::Truth;
  using Members = std::array<Member, max_parameters>;

  ErasedGuard() = default;
  // `f(state, members)`, with members as in Member*.
  template <class K, class State, class F>
  static ErasedGuard of(F f) {
    ErasedGuard guard;
    guard.hold(std::move(f));
    if constexpr (Erased::decides) {
      guard.scan_ = [](const void* closure, const void* state, const Members* instances, std::uint32_t first,
                       std::uint32_t count, std::uint32_t* out) {
        const F& self = *static_cast<const F*>(closure);
        const State& s = *static_cast<const State*>(state);
        for (std::uint32_t i = 0; i < count; ++i) {
          *out = first + i;
          out += K::erased(self(s, instances[i].data())) ? 1 : 0;
        }
        return out;
      };
    } else {
      guard.holds_ = [](const void* closure, const void* state, const Member* members) -> Truth {
        return K::erased((*static_cast<const F*>(closure))(*static_cast<const State*>(state), members));
      };
    }
    return guard;
  }
  [[nodiscard]] Truth operator()(const void* state, const Member* members) const requires(!Erased::decides) {
    return holds_(this->closure(), this->at(state), members);
  }
  // `members` as many as a rule may have.
  [[nodiscard]] bool operator()(const void* state, const Member* members) const requires(Erased::decides) {
    Members one;
    std::copy_n(members, max_parameters, one.begin());
    std::uint32_t found;
    return scan_(this->closure(), this->at(state), &one, 0, 1, &found) != &found;
  }
  // Writes first + i for each of `count` instances i for which it holds; returns the end of what it wrote.
  // There has to be room for one more than are written.
  std::uint32_t* scan(const void* state, const Members* instances, std::uint32_t first, std::uint32_t count,
                      std::uint32_t* out) const requires(Erased::decides) {
    return scan_(this->closure(), this->at(state), instances, first, count, out);
  }

 private:
  using Scan = std::uint32_t* (*)(const void*, const void*, const Members*, std::uint32_t, std::uint32_t,
                                  std::uint32_t*);
  using Holds = Truth (*)(const void*, const void*, const Member*);
  std::conditional_t<Erased::decides, Scan, std::nullptr_t> scan_{};
  std::conditional_t<Erased::decides, std::nullptr_t, Holds> holds_{};
};

// What is done to a state, over members of index types.
template <class Erased>
class ErasedAction : public ErasedClosure<ErasedAction<Erased>> {
 public:
  using Member = typename Erased::Member;

  ErasedAction() = default;
  template <class State, class F>
  static ErasedAction of(F f) {
    ErasedAction action;
    action.hold(std::move(f));
    action.act_ = [](const void* closure, void* state, const Member* members) {
      (*static_cast<const F*>(closure))(*static_cast<State*>(state), members);
    };
    return action;
  }
  void operator()(void* state, const Member* members) const {
    act_(this->closure(), this->at(state), members);
  }

 private:
  void (*act_)(const void*, void*, const Member*) = nullptr;
};

// The channel whose head a rule consumes, for kinds that want to know (K::Erased::Channel).
template <class Erased>
class ErasedChannel : public ErasedClosure<ErasedChannel<Erased>> {
 public:
  using Member = typename Erased::Member;
  using Channel = typename Erased::Channel;
  ErasedChannel() = default;
  template <class K, class State, class F>
  static ErasedChannel of(F f) {
    ErasedChannel channel;
    channel.hold(std::move(f));
    channel.which_ = [](const void* closure, void* state, const Member* members) -> Channel {
      return K::channel((*static_cast<const F*>(closure))(*static_cast<State*>(state), members));
    };
    return channel;
  }
  [[nodiscard]] Channel operator()(void* state, const Member* members) const {
    return which_(this->closure(), this->at(state), members);
  }

 private:
  Channel (*which_)(const void*, void*, const Member*) = nullptr;
};

template <class Erased>
struct RuleParameter {
  std::string_view name;  // of the index type
  int extent = 0;
  typename Erased::Type type{};
};

// One rule, as a value. Those of its closures that read or change a state take its address.
template <class Erased>
struct RuleValue {
  Rule rule;
  std::vector<RuleParameter<Erased>> parameters;
  ErasedGuard<Erased> guard;
  ErasedAction<Erased> action;
  ErasedChannel<Erased> trigger;  // of a triggered rule

  [[nodiscard]] RuleValue within(std::size_t offset) const {
    RuleValue whole = *this;
    whole.guard = guard.within(offset);
    whole.action = action.within(offset);
    whole.trigger = trigger.within(offset);
    return whole;
  }
};

// A small number read off a state, for kinds that decide.
class ErasedCounter : public ErasedClosure<ErasedCounter> {
 public:
  ErasedCounter() = default;
  template <class K, class State, class F>
  static ErasedCounter of(F f) {
    ErasedCounter counter;
    counter.hold(std::move(f));
    counter.value_ = [](const void* closure, const void* state) {
      return K::erased((*static_cast<const F*>(closure))(*static_cast<const State*>(state)));
    };
    return counter;
  }
  [[nodiscard]] int operator()(const void* state) const { return value_(closure(), at(state)); }

 private:
  int (*value_)(const void*, const void*) = nullptr;
};

// Rules that stand for one value of a program counter each: cases[i] up to cases[i + 1] are the rules, by
// number, of value i.
struct RuleSplit {
  ErasedCounter counter;  // for kinds that decide
  std::vector<std::size_t> cases;

  // The same in a list in which the rules come `later` places later, of a state that this one is a part of.
  [[nodiscard]] RuleSplit within(std::size_t offset, std::size_t later) const {
    RuleSplit whole{counter.within(offset), cases};
    for (std::size_t& at : whole.cases) at += later;
    return whole;
  }
};

template <class Erased>
struct InvariantValue {
  std::string_view name;
  ErasedGuard<Erased> predicate;
};

// A family of initial states: the action starts from the default state.
template <class Erased>
struct StartValue {
  std::vector<RuleParameter<Erased>> parameters;
  ErasedAction<Erased> action;
};

namespace detail {

// Where a part lies in a state. Only addresses are formed: no state is looked at.
template <class State, class Part>
std::size_t offset_of(Part State::*member) {
  alignas(State) static std::byte room[sizeof(State)];
  auto* const state = reinterpret_cast<State*>(room);
  return static_cast<std::size_t>(reinterpret_cast<std::byte*>(&(state->*member)) - room);
}

// Calls f(first..., members as indices..., last...).
template <class K, class... Tags, class F, class S, class... Last>
constexpr decltype(auto) with_members(const F& f, S& state, const typename K::Erased::Member* members,
                                      Last&&... last) {
  return [&]<std::size_t... I>(std::index_sequence<I...>)->decltype(auto) {
    static_cast<void>(members);
    return f(state, K::template member<Tags>(members[I])..., std::forward<Last>(last)...);
  }
  (std::index_sequence_for<Tags...>{});
}

template <class K, class... Tags>
std::vector<RuleParameter<typename K::Erased>> parameters_of(const K& k) {
  static_assert(sizeof...(Tags) <= max_parameters);
  return {RuleParameter<typename K::Erased>{Tags::name, k.template extent<Tags>(),
                                            K::template parameter_type<Tags>()}...};
}

}  // namespace detail

// What the closures of a list refer to, alive as long as the list is.
class Keeper {
 public:
  using Kept = std::vector<std::shared_ptr<const void>>;
  template <class T>
  const T& keep(T protocol) {
    auto kept = std::make_shared<const T>(std::move(protocol));
    kept_.push_back(kept);
    return *kept;
  }
  void keep(const Kept& others) { kept_.insert(kept_.end(), others.begin(), others.end()); }
  [[nodiscard]] const Kept& kept() const { return kept_; }

 private:
  Kept kept_;
};

// The rules of a system, or of a part of one, in the order in which they are told.
template <class KindType, class StateType>
class RuleList : public Keeper {
 public:
  using K = KindType;
  using State = StateType;
  using Erased = typename K::Erased;
  using Value = RuleValue<Erased>;
  using Member = typename Erased::Member;

  // `k` is asked for extents only.
  explicit RuleList(const K& k) : k_(&k) {}

  template <class... Tags, class Guard, class Action>
  void rule(const Rule& rule, Over<Tags...>, Guard guard, Action action) {
    Value value = of<Tags...>(rule);
    value.guard = predicate<Tags...>(std::move(guard));
    value.action =
        ErasedAction<Erased>::template of<State>([action = std::move(action)](State& s, const Member* m) {
          detail::with_members<K, Tags...>(action, s, m);
        });
    values_.push_back(std::move(value));
  }
  // Enabled where the channel has a head and the guard holds of it; firing takes the head away.
  template <class... Tags, class Channel, class Guard, class Action>
  void triggered(const Rule& rule, Over<Tags...>, Channel channel, Guard guard, Action action) {
    Value value = of<Tags...>(rule);
    value.guard = ErasedGuard<Erased>::template of<K, State>([channel, guard = std::move(guard)](
                                                                 const State& s, const Member* m) {
      const auto& queue = detail::with_members<K, Tags...>(channel, s, m);
      if constexpr (Erased::decides) {
        if (!K::erased(!queue.empty())) return typename K::Bool(false);
      }
      return !queue.empty() && typename K::Bool(detail::with_members<K, Tags...>(guard, s, m, queue.head()));
    });
    value.action = ErasedAction<Erased>::template of<State>(
        [channel, action = std::move(action)](State& s, const Member* m) {
          const auto& message = K::consume(detail::with_members<K, Tags...>(channel, s, m));
          detail::with_members<K, Tags...>(action, s, m, message);
        });
    if constexpr (!std::is_void_v<typename Erased::Channel>) {
      value.trigger =
          ErasedChannel<Erased>::template of<K, State>([channel](State & s, const Member* m) -> auto& {
            return detail::with_members<K, Tags...>(channel, s, m);
          });
    }
    values_.push_back(std::move(value));
  }
  // Rules that stand for one value of a counter each: `one(i)` lists those of value i.
  template <class Counter, class Case>
  void split(Counter counter, int cases, Case&& one) {
    RuleSplit split;
    if constexpr (Erased::decides) split.counter = ErasedCounter::of<K, State>(std::move(counter));
    for (int i = 0; i < cases; ++i) {
      split.cases.push_back(values_.size());
      one(i);
    }
    split.cases.push_back(values_.size());
    splits_.push_back(std::move(split));
  }

  // The rules of a part of this state.
  template <class Part>
  void part(const RuleList<K, Part>& rules, Part State::*member) {
    const std::size_t offset = detail::offset_of(member);
    const std::size_t first = values_.size();
    for (const Value& value : rules.values()) values_.push_back(value.within(offset));
    for (const RuleSplit& split : rules.splits()) splits_.push_back(split.within(offset, first));
    this->keep(rules.kept());
  }
  void add(Value value) { values_.push_back(std::move(value)); }
  void add(RuleSplit split) { splits_.push_back(std::move(split)); }

  [[nodiscard]] const K& kind() const { return *k_; }
  [[nodiscard]] const std::vector<Value>& values() const { return values_; }
  [[nodiscard]] const std::vector<RuleSplit>& splits() const { return splits_; }

 private:
  template <class... Tags>
  Value of(const Rule& rule) const {
    Value value;
    value.rule = rule;
    value.parameters = detail::parameters_of<K, Tags...>(*k_);
    return value;
  }
  template <class... Tags, class F>
  static ErasedGuard<Erased> predicate(F f) {
    return ErasedGuard<Erased>::template of<K, State>([f = std::move(f)](const State& s, const Member* m) {
      return typename K::Bool(detail::with_members<K, Tags...>(f, s, m));
    });
  }

  const K* k_;
  std::vector<Value> values_;
  std::vector<RuleSplit> splits_;
};

// What always holds of a state, by name.
template <class KindType, class StateType>
class InvariantList : public Keeper {
 public:
  using K = KindType;
  using State = StateType;
  using Erased = typename K::Erased;

  template <class Predicate>
  void invariant(std::string_view name, Predicate predicate) {
    values_.push_back(
        {name, ErasedGuard<Erased>::template of<K, State>(
                   [predicate = std::move(predicate)](const State& s, const typename Erased::Member*) {
                     return typename K::Bool(predicate(s));
                   })});
  }
  template <class Part>
  void part(const InvariantList<K, Part>& invariants, Part State::*member) {
    const std::size_t offset = detail::offset_of(member);
    for (const InvariantValue<Erased>& value : invariants.values())
      values_.push_back({value.name, value.predicate.within(offset)});
    this->keep(invariants.kept());
  }
  void add(InvariantValue<Erased> value) { values_.push_back(std::move(value)); }
  [[nodiscard]] const std::vector<InvariantValue<Erased>>& values() const { return values_; }

 private:
  std::vector<InvariantValue<Erased>> values_;
};

// The families of initial states.
template <class KindType, class StateType>
class StartList {
 public:
  using K = KindType;
  using State = StateType;
  using Erased = typename K::Erased;

  explicit StartList(const K& k) : k_(&k) {}
  template <class... Tags, class Action>
  void start(Over<Tags...>, Action action) {
    values_.push_back({detail::parameters_of<K, Tags...>(*k_),
                       ErasedAction<Erased>::template of<State>(
                           [action = std::move(action)](State& s, const typename Erased::Member* m) {
                             detail::with_members<K, Tags...>(action, s, m);
                           })});
  }
  void add(StartValue<Erased> value) { values_.push_back(std::move(value)); }
  [[nodiscard]] const K& kind() const { return *k_; }
  [[nodiscard]] const std::vector<StartValue<Erased>>& values() const { return values_; }

 private:
  const K* k_;
  std::vector<StartValue<Erased>> values_;
};

}  // namespace lockstep
