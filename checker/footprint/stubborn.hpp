// Partial-order reduction by stubborn sets, over footprints.
//
// In a state, a *stubborn set* holds some of the enabled instances such that whatever else may happen first,
// they can still happen, and it makes no difference which comes first; exploring only them leaves out no
// state without enabled fair rules, hence no outcome and no deadlock, and no state that breaks a claim which
// is *watched*.
//
// Sources: Valmari, "Stubborn sets for reduced state space generation", 1990; Laarman, Pater, van de Pol and
// Weber, "Guard-based partial-order reduction", SPIN 2013, whose necessary enabling sets these are, taken of
// single accesses under their conditions instead of whole transitions. docs/engine.md has the argument.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "checker/footprint/footprint.hpp"
#include "checker/footprint/truths.hpp"

namespace lockstep::footprint {

class StubbornSets {
 public:
  // `initial`: the states that a run starts from. `fair`: by instance. `watched`: what has to hold; every
  // state that is the first to break one is kept.
  // `reset`: by location, whether it may be set at any time to what it holds at first (dead.hpp); none are
  // where it is empty.
  StubbornSets(std::shared_ptr<const Footprints> footprints, std::vector<bool> fair,
               const std::vector<TermId>& watched, const std::vector<const std::byte*>& initial,
               const std::vector<bool>& reset = {});

  // Room to work in, one for each thread that explores, and what it has learned.
  //
  // Building a set asks atoms, one after the other, and which one comes next follows from the answers so far:
  // what was asked is kept as a tree for each seed, so that a set that was built before is found by its
  // answers. Stretches of the tree without a branch lie next to each other.
  struct Room {
    static constexpr std::uint32_t unknown = ~std::uint32_t{0};
    // Answers that have to be given, `count` from `first` on; then either one more question, whose answer
    // chooses the stretch that comes next, or the end: the set, or none where it was given up.
    struct Stretch {
      std::uint32_t first = 0;
      std::uint32_t count = 0;
      std::uint32_t asks = unknown;  // a signal; unknown at the end
      std::array<std::uint32_t, 2> next{unknown,
                                        unknown};  // by answer; at the end next[0] is the set, if any
      std::uint32_t size = 0;                      // instances of the set behind the answers
    };
    std::vector<Stretch> stretches;
    std::vector<std::uint32_t> given;    // answers
    std::vector<std::uint32_t> roots;    // by case: a stretch
    std::vector<std::uint32_t> kept;     // sets, one after the other
    std::vector<std::uint32_t> asked;    // by atom: the number of the set that asked it
    std::vector<std::uint32_t> answers;  // of the set that is being built, as those given
    std::vector<std::uint64_t> members;  // of the set that is being built: nodes, a bit each
    std::vector<std::uint64_t> settled;  // likewise; they lack an atom whose enablers all are members
    std::vector<std::uint32_t> waiting;  // members that are still to be looked at, unless settled
    std::vector<std::uint32_t> costs;    // of a node's atoms: how many nodes each would bring along
    std::vector<std::uint32_t> chosen;   // by case: the number of the set that took it
    std::uint32_t now = 0;               // of the set
    std::vector<std::uint32_t> enabled;  // instances of the set
    std::vector<std::uint32_t> best;
    Truths::Room of_atoms;
  };

  // Leaves in `enabled`, all that is enabled in the state, those instances that have to be explored; returns
  // how many. Their order is kept.
  std::size_t choose(const std::byte* state, std::span<std::uint32_t> enabled, Room& room) const;

  [[nodiscard]] const Footprints& footprints() const { return *footprints_; }
  // By case: whether some run comes to it.
  [[nodiscard]] std::vector<bool> possible() const {
    return {live_.begin(), live_.begin() + static_cast<std::ptrdiff_t>(guards_.size())};
  }

 private:
  using NodeId = std::uint32_t;
  using AtomId = std::uint32_t;
  // A case, where what one of its accesses asks for holds as well.
  struct Node {
    std::uint32_t of_case = 0;
    std::vector<AtomId> atoms;
  };
  // Accesses that conflict with the same nodes.
  struct AccessClass {
    AccessKind kind;
    Location location;
    bool is_constant;
    std::int64_t constant;
    Row row;
    [[nodiscard]] auto all() const { return std::tie(kind, location, is_constant, constant, row); }
    bool operator==(const AccessClass& other) const { return all() == other.all(); }
    bool operator<(const AccessClass& other) const { return all() < other.all(); }
  };
  struct ClassifiedAccess {
    std::uint32_t conflicts = 0;  // index into conflicts_
    bool changes = false;         // is no read
    std::vector<AtomId> conditions;
  };

  AtomId atom(TermId term);
  NodeId node(std::uint32_t of_case, const std::vector<TermId>& conditions);
  [[nodiscard]] bool may_make(TermId term, bool truth, const Access& by, bool enabling) const;
  [[nodiscard]] bool may_hold(TermId term, const Access& push) const;
  [[nodiscard]] bool conflict(const Access& x, const Access& y) const;
  std::uint32_t conflicts_of(const Access& access);
  void note_accessors();
  void note_truths();
  void keep_what_may_happen(const std::vector<const std::byte*>& initial, const std::vector<bool>& reset);
  void note_loose_heads();

  [[nodiscard]] bool holds(AtomId atom, const Room& room) const {
    return room.of_atoms.truths[signal_of_[atom]] != 0;
  }
  // Builds the set of one seed; gives up where it has `limit` enabled instances.
  bool build(std::uint32_t seed, std::size_t limit, Room& room) const;
  // The same, from what was built before where that is known.
  bool find(std::uint32_t seed, std::size_t limit, Room& room) const;
  void remember(std::uint32_t seed, bool whole, Room& room) const;
  void forget(Room& room) const;
  bool ask(AtomId atom, Room& room) const;
  void add(const std::uint64_t* nodes, Room& room) const;
  // Adds whatever makes the atom true: what lacks it brings nothing more along from now on.
  void settle(AtomId lacking, Room& room) const;
  void pack_sets(const std::vector<NodeId>& breakers);

  std::shared_ptr<const Footprints> footprints_;
  std::vector<bool> fair_;
  std::vector<bool> loose_;  // by location, of a queue
  std::vector<TermId> atoms_;
  std::unique_ptr<const Truths> truths_;         // of the atoms that a set may ask
  std::vector<Truths::Signal> signal_of_;        // by atom, of those
  std::vector<std::vector<NodeId>> enablers_;    // by atom: what may make it true
  std::vector<std::vector<NodeId>> falsifiers_;  // by atom: what may make it false
  std::vector<Node> nodes_;
  std::vector<bool> live_;  // by node: some run may realise it
  // Of the live ones, by bit: the case, and where the atoms of one begin and those of the one before end.
  std::vector<std::uint32_t> case_of_bit_;
  std::vector<std::uint32_t> first_atom_;
  std::vector<AtomId> atoms_of_bits_;
  std::vector<std::vector<AtomId>> guards_;              // by case
  std::vector<std::vector<ClassifiedAccess>> accesses_;  // by case
  std::vector<std::vector<NodeId>> conflicts_;           // by class of access
  // The same lists as sets, a bit a node, and `words_` words a set.
  std::size_t words_ = 0;
  std::vector<std::uint64_t> enabling_;     // by atom
  std::vector<std::uint64_t> having_;       // by atom: the nodes that have it
  std::vector<std::uint64_t> falsifying_;   // by atom
  std::vector<std::uint64_t> disabling_;    // by case: what may make some atom of its guard false
  std::vector<std::uint64_t> conflicting_;  // by class of access
  std::vector<std::uint64_t> watched_;      // always part of the set
  // While being built:
  struct Accessor {
    NodeId node;
    const Access* access;
  };
  std::vector<std::vector<Accessor>> accessors_;  // by location; of a queue, by its first
  std::vector<std::vector<std::pair<std::uint32_t, TermId>>>
      guarding_;  // by location: cases whose guard reads it
  std::vector<std::pair<TermId, AtomId>> atom_ids_;
  std::vector<std::pair<AccessClass, std::uint32_t>> class_ids_;
};

}  // namespace lockstep::footprint
