// What the engines know of a system: packed states, and one virtual call a state that yields all successors.
//
// The adaptor (adaptor.hpp) is the only template between a protocol's header and this interface, so engines
// compile once and a change to a protocol rebuilds one translation unit.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "checker/explore/guard_inputs.hpp"
#include "spec/kernel/rules.hpp"

namespace lockstep {

// Which rule fired, and for which members of its parameters' index types.
struct Firing {
  std::uint16_t rule = 0;
  std::uint8_t parameter_count = 0;
  std::array<std::uint8_t, max_parameters> parameters{};  // those that it lacks are 0
  bool operator==(const Firing&) const = default;
};

// Room to work in, which expanding states one after the other takes once.
class Scratch {
 public:
  // Forgets what was in it where it has to grow.
  void reserve(std::size_t bytes, std::size_t numbers) {
    if (bytes > bytes_) {
      room_.resize((bytes + sizeof(Line) - 1) / sizeof(Line));
      bytes_ = bytes;
    }
    if (numbers > numbers_.size()) numbers_.resize(numbers);
  }
  // Aligned as a line of the first cache.
  [[nodiscard]] std::byte* bytes() { return room_.front().bytes.data(); }
  [[nodiscard]] std::uint32_t* numbers() { return numbers_.data(); }

 private:
  struct alignas(64) Line {
    std::array<std::byte, 64> bytes;
  };
  std::size_t bytes_ = 0;
  std::vector<Line> room_;
  std::vector<std::uint32_t> numbers_;
};

// The rule that is being asked, or whose instance is firing.
struct Acting {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::uint32_t rule = none;  // none: a claim is being judged
  std::uint32_t instance = none;
};

// Successors, packed one after the other. Expanding appends, so an engine may gather those of many states.
class Successors {
 public:
  // Forgets all states.
  void clear(unsigned words) {
    words_ = words;
    count_ = 0;
  }
  // Before each expansion.
  void begin_state() {
    violated = -1;
    live = false;
  }
  std::uint64_t* add(const Firing& firing) {
    if (count_ == firings_.size()) grow();
    firings_[count_] = firing;
    return states_.data() + words_ * count_++;
  }
  // Forgets all but the first `n`.
  void keep(std::size_t n) { count_ = n; }
  // The words of the last `n` states added.
  [[nodiscard]] std::uint64_t* last(std::size_t n) { return states_.data() + (count_ - n) * words_; }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] const std::uint64_t* state(std::size_t i) const { return states_.data() + i * words_; }
  [[nodiscard]] const Firing& firing(std::size_t i) const { return firings_[i]; }

  int violated = -1;                 // the first invariant that the last expanded state violates, or -1
  bool live = false;                 // some fair rule is enabled in the last expanded state
  std::vector<std::uint64_t> fired;  // firings by rule, over all expansions
  // Of a model that has words for it (Model::enabled_words): what the last expanded state has enabled, and
  // another state, packed, of which that is known, from which the one to expand next differs little.
  std::vector<std::uint64_t> enabled;
  struct Known {
    const std::uint64_t* state = nullptr;
    const std::uint64_t* enabled = nullptr;  // none: nothing is known
  };
  Known known;
  Acting acting;  // the expander's, as what follows
  Scratch scratch;
  std::shared_ptr<void> room;

 private:
  [[gnu::noinline]] void grow() {
    firings_.resize(std::max<std::size_t>(64, 2 * firings_.size()));
    states_.resize(firings_.size() * words_);
  }
  unsigned words_ = 0;
  std::size_t count_ = 0;
  std::vector<std::uint64_t> states_;
  std::vector<Firing> firings_;
};

struct RuleDescription {
  std::string name;
  std::string unit;
  std::string source;
  Fairness fairness = Fairness::fair;
  std::vector<std::string> parameters;  // names of the index types
  bool of_program = false;              // executes a program's instruction
  int thread = -1;                      // that executes it
  bool own_move = false;                // of a thread's own: nobody can tell when (Rule::own_move)
};

// In a state, a rule does what its types do not allow: "'wL1 evicts' (cu 0, block 1) pushes into a full
// queue". The state is as it was before the rule.
struct BrokenRule : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What liveness asks about a state; bits are threads.
struct StateFacts {
  std::uint32_t owed = ~std::uint32_t{0};  // whose execution the scheduler owes
  std::uint32_t ended = 0;
  std::uint32_t progressing = 0;  // within a section of the program
};

struct FieldChange {
  std::string path;
  std::string before;
  std::string after;
};

// One fired rule as people read it.
struct NarratedStep {
  std::string rule;  // "wL1 evicts (cu 0, block 1)"
  std::string unit;
  std::string source;
  std::vector<FieldChange> changes;
};

// What a run may take at once instead of interleaving, or leave out. All keep the outcomes of every program,
// the assertions that it breaks, and deadlocks (docs/engine.md); `dead` also skips the draining that follows
// the last thread's end when nobody reads memory. Liveness is judged with `moves` alone; invariants with
// these and what is claimed to mend none.
struct Reductions {
  bool moves = true;        // threads' own moves are taken at once (Rule::own_move)
  bool stubborn = true;     // of each state only a stubborn set is fired (checker/footprint/stubborn.hpp)
  bool dead = true;         // fields that no continuation reads are reset (checker/footprint/dead.hpp)
  bool at_once = true;      // what is claimed is taken at once, or left for later (spec/kernel/at_once.hpp)
  bool invariants = false;  // what might pass over the breach of an invariant is not taken at once
  static Reductions none() { return {false, false, false, false}; }
  [[nodiscard]] Reductions only_moves() const { return {moves, false, false, false}; }
  [[nodiscard]] Reductions for_invariants() const { return {moves, false, false, at_once, true}; }
};

class Model {
 public:
  Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  virtual ~Model() = default;

  [[nodiscard]] virtual unsigned state_bits() const = 0;
  [[nodiscard]] unsigned words() const { return (state_bits() + 63) / 64; }

  virtual void initial(Successors& out) const = 0;
  // Appends the successors of `state` to `out`; safe to call from several threads at once. Throws BrokenRule.
  virtual void expand(const std::uint64_t* state, Successors& out) const = 0;

  // Whether a state without enabled fair rules is a proper end (all threads ended, everything drained).
  [[nodiscard]] virtual bool proper_end(const std::uint64_t* state) const = 0;

  // Words of a set of enabled instances, for a model that asks fewer guards of a state if it is told what
  // another has enabled; 0 of all others.
  [[nodiscard]] virtual unsigned enabled_words() const { return 0; }

  [[nodiscard]] virtual StateFacts facts(const std::uint64_t*) const { return {}; }
  [[nodiscard]] virtual Reductions reductions() const { return Reductions::none(); }

  [[nodiscard]] virtual const std::vector<RuleDescription>& rules() const = 0;
  [[nodiscard]] virtual const std::vector<std::string>& invariants() const = 0;

  // The scalars that are stored, in the order in which they lie in a packed state.
  [[nodiscard]] virtual std::vector<ScalarBits> packed_scalars() const { return {}; }
  // Path and value of every stored field.
  [[nodiscard]] virtual std::vector<std::pair<std::string, std::string>> fields(
      const std::uint64_t* state) const = 0;
  // The rules that fire, one after the other, when `firing` is taken from `state`, urgent ones included.
  [[nodiscard]] virtual std::vector<NarratedStep> narrate(const std::uint64_t* state,
                                                          const Firing& firing) const = 0;
  [[nodiscard]] virtual std::vector<NarratedStep> narrate_initial(std::size_t index) const = 0;
};

}  // namespace lockstep
