// From a protocol's header, read with the Concrete kind, to a Model: the one template of the checker. It
// knows what a state is made of; what is done with states is the rule engine's.
//
// A System offers
//   Kind, State            the value kind and the whole state
//   kind()                 the kind's instance, with the sizes of the run
//   start(s)               lists the families of initial states (StartList)
//   rules(r)               lists the rules (RuleList)
//   invariants(v)          lists what always holds (InvariantList)
//   assertions(v)          likewise, optional: what is judged under every reduction
//   restore(state)         recomputes derived fields after unpacking
//   proper_end(state)      whether a state without enabled fair rules is an end rather than a deadlock
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "checker/explore/model.hpp"
#include "checker/explore/rule_engine.hpp"
#include "checker/footprint/terms.hpp"
#include "spec/kernel/kind.hpp"
#include "spec/kernel/reflect.hpp"
#include "spec/kernel/rules.hpp"

namespace lockstep {

// All that a system lists. Its closures refer to the system.
template <class System>
RuleEngine::Lists lists_of(const System& system) {
  using Kind = typename System::Kind;
  using State = typename System::State;
  RuleList<Kind, State> rules(system.kind());
  system.rules(rules);
  StartList<Kind, State> starts(system.kind());
  system.start(starts);
  InvariantList<Kind, State> assertions;
  if constexpr (requires { system.assertions(assertions); }) system.assertions(assertions);
  InvariantList<Kind, State> invariants;
  system.invariants(invariants);
  RuleEngine::Lists lists{rules.values(),      rules.splits(),  assertions.values(),
                          invariants.values(), starts.values(), rules.kept()};
  for (const auto* claims : {&assertions, &invariants})
    lists.kept.insert(lists.kept.end(), claims->kept().begin(), claims->kept().end());
  return lists;
}

// `Base` is Model or an interface derived from it.
template <class System, class Base = Model>
requires ValueKind<typename System::Kind>
class CompiledModel : public Base, private PlainStates {
 public:
  using Kind = typename System::Kind;
  using State = typename System::State;
  using Base::words;
  using InstructionText = RuleEngine::InstructionText;

  CompiledModel(System system, Reductions reductions, InstructionText instruction_text = {})
      : system_(std::move(system)),
        reductions_(reductions),
        bits_(packed_bits<Kind, State>(system_.kind())),
        layout_(layout_of<Kind, State>(system_.kind())),
        engine_(lists_of(system_), *this, reductions, std::move(instruction_text)) {}

  [[nodiscard]] const System& system() const { return system_; }
  [[nodiscard]] const RuleEngine& engine() const { return engine_; }
  [[nodiscard]] unsigned state_bits() const override { return bits_; }
  [[nodiscard]] Reductions reductions() const override { return reductions_; }
  [[nodiscard]] unsigned enabled_words() const override { return engine_.inputs().set_words(); }
  [[nodiscard]] const std::vector<RuleDescription>& rules() const override { return engine_.descriptions(); }
  [[nodiscard]] const std::vector<std::string>& invariants() const override {
    return engine_.invariant_names();
  }
  void initial(Successors& out) const override { engine_.initial(words(), out); }
  void expand(const std::uint64_t* words_in, Successors& out) const override {
    engine_.expand(words_in, out);
  }
  [[nodiscard]] bool proper_end(const std::uint64_t* words_in) const override {
    return system_.proper_end(load(words_in));
  }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> fields(
      const std::uint64_t* words_in) const override {
    const State state = load(words_in);
    return fields_of_state(&state);
  }
  [[nodiscard]] std::vector<NarratedStep> narrate(const std::uint64_t* words_in,
                                                  const Firing& firing) const override {
    return engine_.narrate(words_in, firing);
  }
  [[nodiscard]] std::vector<NarratedStep> narrate_initial(std::size_t index) const override {
    return engine_.narrate_initial(index);
  }

  // From now on fires only a stubborn set of each state, and resets dead fields: whichever is given.
  void reduce(std::shared_ptr<const footprint::StubbornSets> stubborn,
              std::shared_ptr<const footprint::DeadFields> dead = nullptr) {
    engine_.reduce(std::move(stubborn), std::move(dead));
  }
  // From now on takes rules at once, and leaves others for later, where it is claimed that nobody can tell.
  void rest_on(const RuleEngine::Claims& claims) { engine_.rest_on(claims); }
  void check_footprints(bool check) { engine_.check_footprints(check); }
  // From now on walks the tree of that rule in its place; holds the trees of all against them.
  void replace(std::size_t rule, std::shared_ptr<const TreeRule> tree) {
    engine_.replace(rule, std::move(tree));
  }
  void check_trees(std::vector<std::shared_ptr<const TreeRule>> trees) {
    engine_.check_trees(std::move(trees), places());
  }
  // A state in which every field has its default, byte by byte.
  [[nodiscard]] std::vector<std::byte> default_bytes() const {
    const State state{};
    std::vector<std::byte> bytes(sizeof state);
    std::memcpy(bytes.data(), &state, sizeof state);
    return bytes;
  }
  // From now on asks only those guards again that look at something that has changed.
  void ask_again(GuardInputs inputs) { engine_.ask_again(std::move(inputs)); }
  // A state that a run starts from, of a system that has one.
  [[nodiscard]] std::unique_ptr<State> first_state() const {
    auto state = std::make_unique<State>();
    constexpr std::array<std::uint8_t, max_parameters> none{};
    engine_.lists().starts.front().action(state.get(), none.data());
    return state;
  }
  // Where the scalars of a plain state lie.
  [[nodiscard]] std::vector<footprint::Place> places() const {
    std::vector<footprint::Place> places;
    for (NamedScalar& scalar : scalars_of(system_.kind(), State{}))
      places.push_back({std::move(scalar.path), scalar.offset, scalar.bytes, scalar.is_signed});
    return places;
  }

  [[nodiscard]] std::vector<ScalarBits> packed_scalars() const override {
    std::vector<ScalarBits> scalars;
    std::uint32_t at = 0;
    for (NamedScalar& scalar : scalars_of(system_.kind(), State{})) {
      if (!scalar.stored) continue;
      scalars.push_back({std::move(scalar.path), {at, scalar.bits}});
      at += scalar.bits;
    }
    return scalars;
  }

  [[nodiscard]] State load(const std::uint64_t* words_in) const {
    State state;
    unpack_state(words_in, &state);
    return state;
  }

 private:
  [[nodiscard]] std::size_t state_bytes() const override { return sizeof(State); }
  void construct(void* state) const override { new (state) State{}; }
  void unpack_state(const std::uint64_t* words_in, void* state) const override {
    State& s = *static_cast<State*>(state);
    unpack(layout_, words_in, s);
    system_.restore(s);
  }
  void pack_state(const void* state, std::uint64_t* words_out) const override {
    pack(system_.kind(), *static_cast<const State*>(state), words_out);
  }
  void repack_states(const void* before, const std::uint64_t* packed, const std::byte* states,
                     std::size_t stride, std::size_t count, std::uint64_t* words_out) const override {
    const unsigned n = words();
    for (std::size_t i = 0; i < count; ++i, states += stride, words_out += n) {
      for (unsigned word = 0; word < n; ++word) words_out[word] = packed[word];
      repack(system_.kind(), layout_, *static_cast<const State*>(before),
             *reinterpret_cast<const State*>(states), words_out);
    }
  }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> fields_of_state(
      const void* state) const override {
    std::vector<std::pair<std::string, std::string>> fields;
    for (NamedScalar& scalar : scalars_of(system_.kind(), *static_cast<const State*>(state))) {
      const auto* const at = static_cast<const std::byte*>(state) + scalar.offset;
      if (scalar.stored) fields.emplace_back(std::move(scalar.path), scalar.text(at));
    }
    return fields;
  }

  System system_;
  Reductions reductions_;
  unsigned bits_;
  Layout layout_;
  RuleEngine engine_;
};

}  // namespace lockstep
