// The states that were found last, so that what is found again soon after costs little: most of what a search
// finds again it has found a moment ago.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "checker/explore/visited.hpp"

namespace lockstep {

class RecentStates {
 public:
  explicit RecentStates(unsigned words) : words_(words) {}

  // Whether the packed state is among them; it is from now on, in the place of another.
  bool again(const std::uint64_t* state) {
    if (asked_++ >= grows_after_) grow();
    const std::uint64_t hash = Visited::hash(state, words_);
    std::uint64_t* const slot = slots_.data() + (hash & mask_) * stride();
    // First its hash, never 0, which a slot begins with that holds nothing yet.
    const std::uint64_t tag = hash | 1;
    std::uint64_t differs = slot[0] ^ tag;
    for (std::size_t i = 0; i < words_; ++i) differs |= slot[i + 1] ^ state[i];
    if (differs == 0) return true;
    slot[0] = tag;
    for (std::size_t i = 0; i < words_; ++i) slot[i + 1] = state[i];
    return false;
  }

 private:
  static constexpr std::size_t least_slots = std::size_t{1} << 6;
  static constexpr std::size_t most_slots = std::size_t{1} << 13;

  [[nodiscard]] std::size_t stride() const { return words_ + 1; }
  [[nodiscard]] std::size_t slots() const { return slots_.size() / stride(); }
  // Small runs are many, and memory has to be cleared.
  void grow() {
    slots_.assign(std::max(least_slots, 4 * slots()) * stride(), 0);
    mask_ = slots() - 1;
    grows_after_ = slots() >= most_slots ? ~std::size_t{0} : 4 * slots();
  }

  unsigned words_;
  std::size_t asked_ = 0;
  std::size_t grows_after_ = 0;
  std::size_t mask_ = 0;
  std::vector<std::uint64_t> slots_;
};

}  // namespace lockstep
