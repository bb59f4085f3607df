// What the states of one depth have enabled, kept while those of the next are expanded: of a state that
// differs little from its parent fewer guards are asked (guard_inputs.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "checker/explore/model.hpp"
#include "checker/explore/visited.hpp"

namespace lockstep {

// Of one table of states, which are numbered as they were found. For a model without words for sets of
// enabled instances all of it does nothing.
class KeptGuards {
 public:
  explicit KeptGuards(unsigned enabled_words) : words_(enabled_words) {}

  // From now on the states from `first` on are expanded, in their order; what was kept last is of their
  // parents.
  void begin_depth(std::size_t first) {
    std::swap(before_, now_);
    now_.first = first;
    now_.sets.clear();
  }
  // Keeps what the expansion of the state said. That is of the first states of a depth, as long as it takes
  // no more than a share of what all states take.
  void keep(std::size_t number, const Successors& expanded, const Visited& visited) {
    if (words_ == 0) return;
    constexpr std::size_t always = std::size_t{1} << 20;
    constexpr std::size_t share = 8;
    const std::size_t bytes = now_.sets.size() * sizeof(std::uint64_t);
    const bool all_so_far = now_.sets.size() == (number - now_.first) * words_;
    if (!all_so_far || bytes > std::max(always, visited.memory() / share)) return;
    const std::uint64_t* const enabled = expanded.enabled.data();
    now_.sets.insert(now_.sets.end(), enabled, enabled + words_);
  }
  // What a state of the depth before has enabled; none where that was not kept.
  [[nodiscard]] const std::uint64_t* of(std::size_t number) const {
    const std::size_t at = (number - before_.first) * words_;
    return at < before_.sets.size() ? before_.sets.data() + at : nullptr;
  }
  [[nodiscard]] std::size_t memory() const {
    return (now_.sets.capacity() + before_.sets.capacity()) * sizeof(std::uint64_t);
  }

 private:
  struct Depth {
    std::size_t first = 0;
    std::vector<std::uint64_t> sets;
  };
  unsigned words_;
  Depth now_;
  Depth before_;
};

// The parent of the states that are expanded one after the other, unpacked no more often than it changes.
class ParentInHand {
 public:
  explicit ParentInHand(unsigned words) : state_(words, 0) {}

  // Tells `successors` what the state to expand next was found from, by the name `parent`, and what that has
  // enabled: it has this number in its table.
  void tell(Successors& successors, std::uint32_t parent, std::size_t number, const Visited& visited,
            const KeptGuards& kept) {
    successors.known = {};
    if (parent == Visited::no_parent) return;
    const std::uint64_t* const enabled = kept.of(number);
    if (enabled == nullptr) return;
    if (parent != in_hand_) visited.copy(number, state_.data());
    in_hand_ = parent;
    successors.known = {state_.data(), enabled};
  }

 private:
  std::uint32_t in_hand_ = Visited::no_parent;
  std::vector<std::uint64_t> state_;
};

}  // namespace lockstep
