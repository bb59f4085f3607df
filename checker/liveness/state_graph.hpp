// The whole graph of a model's reachable states, kept for questions about infinite runs.
//
// States are numbered in breadth-first order, edges lie in one array ordered by their source, and every edge
// carries an obligation: what its firing discharges. An obligation is either a thread's (its scheduler owes
// it execution) or that of one instance of a fair rule; a state carries the set of those that are owed in it,
// as a number, for there are far fewer different sets than states.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "checker/explore/explorer.hpp"
#include "checker/explore/kept_guards.hpp"
#include "checker/explore/model.hpp"
#include "checker/explore/state_tree.hpp"
#include "checker/explore/visited.hpp"

namespace lockstep {

using StateNumber = std::uint32_t;
using ObligationNumber = std::uint16_t;

// Bits by ObligationNumber.
using ObligationSet = std::vector<std::uint64_t>;
inline void set_bit(ObligationSet& set, ObligationNumber n) {
  if (set.size() <= n / 64U) set.resize(n / 64U + 1);
  set[n / 64U] |= std::uint64_t{1} << (n % 64U);
}

struct FairnessObligation {
  int thread = -1;  // of a thread
  Firing firing;    // else of this instance of a rule
  bool operator==(const FairnessObligation&) const = default;
};

class StateGraph {
 public:
  // Explores everything. Where a limit ends the exploration, `verdict` says so and the graph is incomplete;
  // a violated invariant or assertion ends it as well. Throws BadInput where the model was built with a
  // reduction that does not keep liveness: all but `local`.
  StateGraph(const Model& model, const ExploreOptions& options);

  static constexpr ObligationNumber nobody = 0xFFFF;  // of an optional rule, or a thread that nobody owes

  [[nodiscard]] const Model& model() const { return model_; }
  [[nodiscard]] Verdict verdict() const { return verdict_; }
  // The first that a state violates: an index into Model::invariants; negative where none does.
  [[nodiscard]] int violated() const { return violated_; }
  [[nodiscard]] const std::string& broken() const { return broken_; }  // where the verdict is broken
  [[nodiscard]] std::size_t states() const { return visited_.size(); }
  [[nodiscard]] std::size_t edges() const { return targets_.size(); }
  [[nodiscard]] std::size_t initial_states() const { return initial_; }

  // Edges of a state: first_edge(s) up to first_edge(s + 1).
  [[nodiscard]] std::size_t first_edge(StateNumber s) const { return first_edge_[s]; }
  [[nodiscard]] StateNumber target(std::size_t edge) const { return targets_[edge]; }
  [[nodiscard]] ObligationNumber label(std::size_t edge) const { return labels_[edge]; }

  [[nodiscard]] const std::vector<FairnessObligation>& obligations() const { return obligations_; }
  // What is owed and enabled in a state: an index into enabled_sets().
  [[nodiscard]] std::uint32_t enabled_set(StateNumber s) const { return enabled_[s]; }
  [[nodiscard]] const std::vector<ObligationSet>& enabled_sets() const { return sets_; }
  [[nodiscard]] const StateFacts& facts(StateNumber s) const { return facts_[fact_[s]]; }
  // Whether a thread is within a section of its program, or has ended.
  [[nodiscard]] bool gets_on(StateNumber s, std::size_t thread) const {
    return (((facts(s).progressing | facts(s).ended) >> thread) & 1U) != 0;
  }

  // Proper ends, and states in which no fair rule is enabled although they are none.
  [[nodiscard]] bool is_end(StateNumber s) const { return kind_[s] == Kind::end; }
  [[nodiscard]] bool is_stuck(StateNumber s) const { return kind_[s] == Kind::stuck; }

  [[nodiscard]] std::vector<std::uint64_t> packed(StateNumber s) const;
  // The shortest path from an initial state, both ends included.
  [[nodiscard]] std::vector<StateNumber> path_to(StateNumber s) const;
  // Fires along consecutive states, then along consecutive edges from the last of these.
  [[nodiscard]] Trace trace(const std::vector<StateNumber>& path,
                            const std::vector<std::size_t>& edges) const;

  [[nodiscard]] double seconds() const { return seconds_; }
  [[nodiscard]] std::size_t memory() const;  // bytes
  [[nodiscard]] unsigned depth() const { return depth_; }
  [[nodiscard]] const std::vector<std::uint64_t>& fired() const { return fired_; }
  // Where the verdict is invariant: the offending state.
  [[nodiscard]] StateNumber bad() const { return bad_; }

 private:
  enum class Kind : std::uint8_t { inner, end, stuck };
  struct Chunk;
  void explore(const ExploreOptions& options);
  void expand(Chunk& chunk, KeptGuards& kept);
  [[nodiscard]] StateKey key(std::size_t state) const {
    StateKey key = 0;
    visited_.copy(state, &key);
    return key;
  }
  void take_in(const Chunk& chunk, bool invariants);
  void note_facts(const StateFacts& facts);
  void note_enabled();
  [[nodiscard]] ObligationNumber owed(const Firing& firing, const StateFacts& facts);
  [[nodiscard]] ObligationNumber obligation_of(const Firing& firing);

  const Model& model_;
  unsigned words_;
  StateTree tree_;
  Visited visited_;  // keys of states
  std::size_t initial_ = 0;
  std::vector<std::size_t> first_edge_;
  std::vector<StateNumber> targets_;
  std::vector<ObligationNumber> labels_;
  std::vector<std::uint32_t> enabled_;
  std::vector<std::uint32_t> fact_;
  std::vector<Kind> kind_;

  std::vector<FairnessObligation> obligations_;
  std::unordered_map<std::uint64_t, ObligationNumber> obligation_numbers_;
  ObligationSet scratch_;
  std::vector<ObligationSet> sets_;
  struct HashOfSet {
    std::size_t operator()(const ObligationSet& set) const {
      return Visited::hash(set.data(), static_cast<unsigned>(set.size()));
    }
  };
  std::unordered_map<ObligationSet, std::uint32_t, HashOfSet> set_numbers_;
  std::vector<StateFacts> facts_;
  std::map<std::array<std::uint32_t, 3>, std::uint32_t> fact_numbers_;

  Verdict verdict_ = Verdict::holds;
  int violated_ = -1;
  std::string broken_;
  StateNumber bad_ = 0;
  unsigned depth_ = 0;
  double seconds_ = 0;
  std::vector<std::uint64_t> fired_;
};

}  // namespace lockstep
