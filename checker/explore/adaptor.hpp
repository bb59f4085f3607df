// From a protocol's header, read with the Concrete kind, to a Model: the one template of the checker.
//
// A System offers
//   Kind, State            the value kind and the whole state
//   kind()                 the kind's instance, with the sizes of the run
//   start(s)               calls s.start(over(...), action) for each family of initial states
//   rules(r)               the rules (spec/kernel/rules.hpp)
//   invariants(v)          calls v.invariant(name, predicate)
//   assertions(v)          likewise, optional: what is judged under every reduction
//   restore(state)         recomputes derived fields after unpacking
//   normalise(state)       resets what no continuation reads (only if Reductions::dead)
//   proper_end(state)      whether a state without enabled fair rules is an end rather than a deadlock
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <new>
#include <string>
#include <utility>

#include "checker/explore/model.hpp"
#include "spec/kernel/kind.hpp"
#include "spec/kernel/reflect.hpp"
#include "spec/kernel/rules.hpp"

namespace lockstep {

namespace detail {

// Calls f with every combination of members of the index types.
template <class K, class F, class... Chosen>
inline void combinations(const K&, Over<>, F&& f, Chosen... chosen) {
  f(chosen...);
}
template <class K, class F, class Tag, class... Tags, class... Chosen>
inline void combinations(const K& k, Over<Tag, Tags...>, F&& f, Chosen... chosen) {
  k.for_each(Tag{}, [&](auto i) { combinations(k, Over<Tags...>{}, f, chosen..., i); });
}

template <class... Ix>
Firing firing_of(std::uint16_t rule, Ix... index) {
  static_assert(sizeof...(Ix) <= Firing::max_parameters);
  return Firing{rule, static_cast<std::uint8_t>(sizeof...(Ix)), {index.v...}};
}

}  // namespace detail

// `Base` is Model or an interface derived from it.
template <class System, class Base = Model>
requires ValueKind<typename System::Kind>
class CompiledModel : public Base {
 public:
  using Kind = typename System::Kind;
  using State = typename System::State;

  using Base::words;
  // Renders a program's instruction for people; systems without a program leave it empty.
  using InstructionText = std::function<std::string(const Instruction&, int thread)>;

  CompiledModel(System system, Reductions reductions, InstructionText instruction_text = {})
      : system_(std::move(system)), reductions_(reductions), instruction_text_(std::move(instruction_text)) {
    bits_ = packed_bits<Kind, State>(system_.kind());
    layout_ = layout_of<Kind, State>(system_.kind());
    Describe describe{{}, rules_, invariants_};
    system_.rules(describe);
    if constexpr (requires { system_.assertions(describe); }) system_.assertions(describe);
    system_.invariants(describe);
  }

  [[nodiscard]] const System& system() const { return system_; }
  [[nodiscard]] unsigned state_bits() const override { return bits_; }
  [[nodiscard]] Reductions reductions() const override { return reductions_; }
  [[nodiscard]] const std::vector<RuleDescription>& rules() const override { return rules_; }
  [[nodiscard]] const std::vector<std::string>& invariants() const override { return invariants_; }

  void initial(Successors& out) const override {
    prepare(out);
    Start start{{}, *this, out};
    system_.start(start);
  }

  void expand(const std::uint64_t* words_in, Successors& out) const override {
    prepare(out);
    const State state = load(words_in);
    Check check{{}, state, out};
    if constexpr (requires { system_.assertions(check); }) system_.assertions(check);
    if (judges_invariants()) system_.invariants(check);
    Explore explore{{}, *this, state, words_in, out};
    system_.rules(explore);
    explore.pack_waiting();
  }

  [[nodiscard]] bool proper_end(const std::uint64_t* words_in) const override {
    return system_.proper_end(load(words_in));
  }

  [[nodiscard]] std::vector<std::pair<std::string, std::string>> fields(
      const std::uint64_t* words_in) const override {
    return fields_of(load(words_in));
  }

  [[nodiscard]] std::vector<NarratedStep> narrate(const std::uint64_t* words_in,
                                                  const Firing& firing) const override {
    State state = load(words_in);
    Narration narration{*this, {}, {}};
    narration.before = fields_of(state);
    Fire fire{{}, *this, state, firing, narration};
    system_.rules(fire);
    settle(state, nullptr, &narration);
    return std::move(narration.steps);
  }

  [[nodiscard]] std::vector<NarratedStep> narrate_initial(std::size_t index) const override {
    Narration narration{*this, {}, {}};
    NarrateStart start{{}, *this, narration, index, 0};
    system_.start(start);
    return std::move(narration.steps);
  }

  [[nodiscard]] State load(const std::uint64_t* words_in) const {
    State state{};
    unpack(layout_, words_in, state);
    system_.restore(state);
    return state;
  }

 private:
  using Fields = std::vector<std::pair<std::string, std::string>>;

  // Reductions other than local ones may pass over states, or change fields that only invariants look at.
  [[nodiscard]] bool judges_invariants() const {
    return !reductions_.links && !reductions_.dead && !reductions_.defer;
  }

  void prepare(Successors& out) const {
    out.begin_state();
    if (out.fired.size() < rules_.size()) out.fired.resize(rules_.size());
  }

  [[nodiscard]] Fields fields_of(const State& state) const {
    Fields fields;
    for_each_named_leaf(system_.kind(), state, "", [&](const auto& leaf, const std::string& path) {
      fields.emplace_back(path, leaf.text());
    });
    return fields;
  }

  void finish(State& state, Successors& out) const {
    settle(state, &out, nullptr);
    if (reductions_.dead) system_.normalise(state);
  }

  // What every reader of rules shares: numbering them, and taking one case of a split.
  struct Numbered {
    std::uint16_t next = 0;
    // Rules that stand for one value of a program counter each: only the current value's are visited, the
    // others are numbered. Every case must list at most `rules_per_case` rules.
    static constexpr std::uint16_t rules_per_case = 4;
  };
  template <class Self>
  struct Splitting : Numbered {
    template <class Counter, class Case>
    void split(Counter&& counter, int cases, Case&& one) {
      const auto base = this->next;
      auto& self = static_cast<Self&>(*this);
      const int current = counter(self.current()).v;
      if (current < cases) {
        this->next = static_cast<std::uint16_t>(base + current * Numbered::rules_per_case);
        one(current);
      }
      this->next = static_cast<std::uint16_t>(base + cases * Numbered::rules_per_case);
    }
  };

  // ---- describing ----------------------------------------------------------------------------------------

  struct Describe : Numbered {
    std::vector<RuleDescription>& rules;
    std::vector<std::string>& invariants;
    Describe(Numbered n, std::vector<RuleDescription>& r, std::vector<std::string>& i)
        : Numbered(n), rules(r), invariants(i) {}

    template <class... Tags, class Guard, class Action>
    void rule(const Rule& rule, Over<Tags...>, Guard&&, Action&&) {
      if (rules.size() <= this->next) rules.resize(this->next + 1U);
      rules[this->next++] = {std::string(rule.name),
                             std::string(rule.unit),
                             std::string(rule.source),
                             rule.fairness,
                             {std::string(Tags::name)...},
                             rule.instruction != nullptr,
                             rule.thread};
    }
    template <class... Tags, class Channel, class Guard, class Action, class... Unseen>
    void triggered(const Rule& r, Over<Tags...> parameters, Channel&&, Guard&& guard, Action&& action,
                   Unseen&&...) {
      rule(r, parameters, guard, action);
    }
    template <class... Tags, class Guard, class Matters, class Action>
    void deferrable(const Rule& r, Over<Tags...> parameters, Guard&& guard, Matters&&, Action&& action) {
      rule(r, parameters, guard, action);
    }
    template <class Counter, class Case>
    void split(Counter&&, int cases, Case&& one) {
      const auto base = this->next;
      for (int i = 0; i < cases; ++i) {
        this->next = static_cast<std::uint16_t>(base + i * Numbered::rules_per_case);
        one(i);
      }
      this->next = static_cast<std::uint16_t>(base + cases * Numbered::rules_per_case);
      rules.resize(this->next);
    }
    template <class Predicate>
    void invariant(std::string_view name, Predicate&&) {
      invariants.emplace_back(name);
    }
  };

  // ---- exploring -----------------------------------------------------------------------------------------

  struct Explore : Splitting<Explore> {
    const CompiledModel& model;
    const State& state;
    const std::uint64_t* packed;  // the same state
    Successors& out;
    // Successors wait for being packed: an action writes single bytes, and reading those back as words at
    // once would hold up the processor. They are few enough to stay in its first cache.
    static constexpr std::size_t cache_line = 64;
    static constexpr std::size_t slot_bytes = (sizeof(State) + cache_line - 1) / cache_line * cache_line;
    static constexpr std::size_t most_waiting = std::clamp<std::size_t>(8192 / slot_bytes, 1, 8);
    alignas(cache_line) std::array<std::byte, most_waiting * slot_bytes> room;
    std::size_t waiting = 0;

    Explore(Numbered, const CompiledModel& m, const State& s, const std::uint64_t* p, Successors& o)
        : model(m), state(s), packed(p), out(o) {}
    [[nodiscard]] const State& current() const { return state; }

    template <class... Tags, class Guard, class Action>
    void rule(const Rule& rule, Over<Tags...> parameters, Guard&& guard, Action&& action) {
      const auto id = this->next++;
      detail::combinations(model.system_.kind(), parameters, [&, &now = state](auto... i) {
        if (!Kind::truth(guard(now, i...))) return;
        State& after = copy_of(now);
        action(after, i...);
        emit(rule, id, after, i...);
      });
    }
    template <class... Tags, class Channel, class Guard, class Action, class... Unseen>
    void triggered(const Rule& rule, Over<Tags...> parameters, Channel&& channel, Guard&& guard,
                   Action&& action, Unseen&&...) {
      const auto id = this->next++;
      detail::combinations(model.system_.kind(), parameters, [&, &now = state](auto... i) {
        const auto& queue = channel(now, i...);
        if (Kind::truth(queue.empty())) return;
        if (!Kind::truth(guard(now, i..., queue.head()))) return;
        State& after = copy_of(now);
        Kind::pop(channel(after, i...));
        action(after, i..., queue.head());
        emit(rule, id, after, i...);
      });
    }
    template <class... Tags, class Guard, class Matters, class Action>
    void deferrable(const Rule& r, Over<Tags...> parameters, Guard&& guard, Matters&& matters,
                    Action&& action) {
      rule(
          r, parameters,
          [&](const State& s, auto... i) {
            return guard(s, i...) && (typename Kind::Bool(!model.reductions_.defer) || matters(s, i...));
          },
          action);
    }
    // Where the next successor waits.
    State& copy_of(const State& s) { return *new (&room[waiting * slot_bytes]) State(s); }
    template <class... Ix>
    void emit(const Rule& rule, std::uint16_t id, State& after, Ix... i) {
      out.add(id, i.v...);
      finish(rule, id, after);
    }
    [[gnu::noinline]] void finish(const Rule& rule, std::uint16_t id, State& after) {
      out.live |= rule.fairness == Fairness::fair;
      ++out.fired[id];
      model.finish(after, out);
      if (++waiting == most_waiting) pack_waiting();
    }
    void pack_waiting() {
      const unsigned words = model.words();
      std::uint64_t* words_out = out.last(waiting);
      for (std::size_t i = 0; i < waiting; ++i, words_out += words) {
        const State& after = *std::launder(reinterpret_cast<const State*>(&room[i * slot_bytes]));
        for (unsigned word = 0; word < words; ++word) words_out[word] = packed[word];
        repack(model.system_.kind(), model.layout_, state, after, words_out);
      }
      waiting = 0;
    }
  };

  struct Start : Numbered {
    const CompiledModel& model;
    Successors& out;
    Start(Numbered n, const CompiledModel& m, Successors& o) : Numbered(n), model(m), out(o) {}
    template <class... Tags, class Action>
    void start(Over<Tags...> parameters, Action&& action) {
      const auto id = this->next++;
      detail::combinations(model.system_.kind(), parameters, [&](auto... i) {
        State state{};
        action(state, i...);
        model.finish(state, out);
        std::uint64_t* words_out = out.add(detail::firing_of(id, i...));
        words_out[model.words() - 1] = 0;
        pack(model.system_.kind(), state, words_out);
      });
    }
  };

  struct Check : Numbered {
    const State& state;
    Successors& out;
    Check(Numbered n, const State& s, Successors& o) : Numbered(n), state(s), out(o) {}
    template <class Predicate>
    void invariant(std::string_view, Predicate&& predicate) {
      const auto id = this->next++;
      if (out.violated < 0 && !Kind::truth(predicate(state))) out.violated = id;
    }
  };

  // ---- urgent rules, taken at once -----------------------------------------------------------------------

  struct Narration {
    const CompiledModel& model;
    Fields before;
    std::vector<NarratedStep> steps;

    void record(const State& after, const Rule& rule, std::string_view parameters) {
      Fields now = model.fields_of(after);
      NarratedStep step{std::string(rule.name), std::string(rule.unit), std::string(rule.source), {}};
      if (!parameters.empty()) step.rule += fmt::format(" ({})", parameters);
      if (rule.instruction != nullptr)
        step.rule += fmt::format(" {}", model.instruction_text_(*rule.instruction, rule.thread));
      for (std::size_t i = 0; i < now.size(); ++i) {
        if (now[i].second != before[i].second)
          step.changes.push_back({now[i].first, before[i].second, now[i].second});
      }
      before = std::move(now);
      steps.push_back(std::move(step));
    }
  };

  template <class... Tags, class... Ix>
  static std::string parameters_text(Over<Tags...>, Ix... i) {
    std::string text;
    ((text += fmt::format("{}{} {}", text.empty() ? "" : ", ", Tags::name, i.text())), ...);
    return text;
  }

  // Fires every enabled urgent rule of one urgency (counting links instead unless told to fire them).
  struct Urgent : Splitting<Urgent> {
    const CompiledModel& model;
    State& state;
    Urgency wanted;
    bool fire;
    Successors* out;
    Narration* narration;
    int enabled = 0;
    Urgent(Numbered, const CompiledModel& m, State& s, Urgency w, bool f, Successors* o, Narration* n)
        : model(m), state(s), wanted(w), fire(f), out(o), narration(n) {}
    [[nodiscard]] const State& current() const { return state; }

    template <class... Tags, class Guard, class Action, class... Unseen>
    [[gnu::always_inline]] void rule(const Rule& rule, Over<Tags...> parameters, Guard&& guard,
                                     Action&& action, Unseen&&... unseen) {
      const auto id = this->next++;
      if (rule.urgency == Urgency::none || rule.urgency != wanted) return;
      if (sizeof...(Unseen) > 0 && !model.reductions_.links) return;
      detail::combinations(model.system_.kind(), parameters, [&](auto... i) {
        if (!Kind::truth(guard(std::as_const(state), i...))) return;
        if (!(Kind::truth(unseen(std::as_const(state), i...)) && ...)) return;
        ++enabled;
        if (!fire) return;
        action(state, i...);
        note(rule, id, parameters, i...);
      });
    }
    template <class... Tags, class Channel, class Guard, class Action, class... Unseen>
    [[gnu::always_inline]] void triggered(const Rule& rule, Over<Tags...> parameters, Channel&& channel,
                                          Guard&& guard, Action&& action, Unseen&&... unseen) {
      const auto id = this->next++;
      if (rule.urgency == Urgency::none || rule.urgency != wanted) return;
      detail::combinations(model.system_.kind(), parameters, [&](auto... i) {
        auto& queue = channel(state, i...);
        if (Kind::truth(queue.empty())) return;
        if (!Kind::truth(guard(std::as_const(state), i..., queue.head()))) return;
        if (!(Kind::truth(unseen(std::as_const(state), i..., queue.head())) && ...)) return;
        ++enabled;
        if (!fire) return;
        const auto message = queue.head();
        Kind::pop(queue);
        action(state, i..., message);
        note(rule, id, parameters, i...);
      });
    }
    template <class... Tags, class Guard, class Matters, class Action>
    void deferrable(const Rule&, Over<Tags...>, Guard&&, Matters&&, Action&&) {
      ++this->next;
    }
    template <class... Tags, class... Ix>
    void note(const Rule& rule, std::uint16_t id, Over<Tags...> parameters, Ix... i) {
      if (out != nullptr) ++out->fired[id];
      if (narration != nullptr) narration->record(state, rule, parameters_text(parameters, i...));
    }
  };

  // Takes urgent rules until none is enabled. Links are taken only while there is no choice between two.
  // The bound keeps a program's loop without memory operations from holding up the run: what is left over
  // is explored like any other rule.
  void settle(State& state, Successors* out, Narration* narration) const {
    if (!reductions_.local && !reductions_.links) return;
    for (int round = 0; round < 256; ++round) {
      int progress = 0;
      if (reductions_.local) {
        Urgent local{{}, *this, state, Urgency::local, true, out, narration};
        system_.rules(local);
        progress += local.enabled;
      }
      if (progress == 0 && reductions_.links) {
        Urgent count{{}, *this, state, Urgency::link, false, nullptr, nullptr};
        system_.rules(count);
        if (count.enabled == 1) {
          Urgent link{{}, *this, state, Urgency::link, true, out, narration};
          system_.rules(link);
          progress += 1;
        }
      }
      if (progress == 0) return;
    }
  }

  // ---- firing one rule, told apart -----------------------------------------------------------------------

  struct Fire : Splitting<Fire> {
    const CompiledModel& model;
    State& state;
    const Firing& wanted;
    Narration& narration;
    bool done = false;
    Fire(Numbered, const CompiledModel& m, State& s, const Firing& w, Narration& n)
        : model(m), state(s), wanted(w), narration(n) {}
    [[nodiscard]] const State& current() const { return state; }

    template <class... Tags, class Guard, class Action>
    void rule(const Rule& rule, Over<Tags...> parameters, Guard&& guard, Action&& action) {
      const auto id = this->next++;
      if (done || id != wanted.rule) return;
      detail::combinations(model.system_.kind(), parameters, [&](auto... i) {
        if (done || detail::firing_of(id, i...) != wanted || !Kind::truth(guard(std::as_const(state), i...)))
          return;
        action(state, i...);
        narration.record(state, rule, parameters_text(parameters, i...));
        done = true;
      });
    }
    template <class... Tags, class Guard, class Matters, class Action>
    void deferrable(const Rule& r, Over<Tags...> parameters, Guard&& guard, Matters&&, Action&& action) {
      rule(r, parameters, guard, action);
    }
    template <class... Tags, class Channel, class Guard, class Action, class... Unseen>
    void triggered(const Rule& rule, Over<Tags...> parameters, Channel&& channel, Guard&& guard,
                   Action&& action, Unseen&&...) {
      const auto id = this->next++;
      if (done || id != wanted.rule) return;
      detail::combinations(model.system_.kind(), parameters, [&](auto... i) {
        auto& queue = channel(state, i...);
        if (done || detail::firing_of(id, i...) != wanted || Kind::truth(queue.empty())) return;
        if (!Kind::truth(guard(std::as_const(state), i..., queue.head()))) return;
        const auto message = queue.head();
        Kind::pop(queue);
        action(state, i..., message);
        narration.record(state, rule, parameters_text(parameters, i...));
        done = true;
      });
    }
  };

  struct NarrateStart {
    Numbered numbered;
    const CompiledModel& model;
    Narration& narration;
    std::size_t wanted;
    std::size_t seen;
    template <class... Tags, class Action>
    void start(Over<Tags...> parameters, Action&& action) {
      detail::combinations(model.system_.kind(), parameters, [&](auto... i) {
        if (seen++ != wanted) return;
        State state{};
        narration.before = model.fields_of(state);
        action(state, i...);
        narration.record(state, Rule{.name = "starts", .unit = "system", .source = ""},
                         parameters_text(parameters, i...));
        model.settle(state, nullptr, &narration);
      });
    }
  };

  System system_;
  Reductions reductions_;
  InstructionText instruction_text_;
  unsigned bits_ = 0;
  Layout layout_;
  std::vector<RuleDescription> rules_;
  std::vector<std::string> invariants_;
};

}  // namespace lockstep
