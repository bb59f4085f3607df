// A set of states that keeps bits of each and nothing else: it may say of a new one that it was there before.
//
// Each state has three bits of a table, by its hash (Holzmann, "An analysis of bitstate hashing", 1998).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "checker/explore/visited.hpp"
#include "checker/explore/zeroed.hpp"

namespace lockstep {

class BitTable {
 public:
  // At most so many bytes: the power of two below.
  explicit BitTable(std::size_t bytes)
      : bits_(8 * std::bit_floor(bytes)), shift_(64 - std::countr_zero(bits_)), table_(zeroed(bits_ / 8)) {}

  // Whether a packed state of so many words is new; from now on it is not.
  bool insert(const std::uint64_t* state, unsigned words) {
    std::uint64_t hash = Visited::hash(state, words);
    bool is_new = false;
    for (std::uint64_t i = 0; i < bits_each; ++i) {
      const std::uint64_t bit = hash >> shift_;
      hash *= 0x9e37'79b9'7f4a'7c15U;
      hash ^= hash >> 32;
      std::byte& at = table_[bit / 8];
      const auto mask = static_cast<std::byte>(1U << bit % 8);
      if ((at & mask) != std::byte{0}) continue;
      at |= mask;
      ++set_;
      is_new = true;
    }
    states_ += is_new ? 1 : 0;
    return is_new;
  }
  [[nodiscard]] std::size_t size() const { return states_; }
  // More would be taken for known too often.
  [[nodiscard]] bool is_full() const { return set_ > bits_ / 2; }
  // The probability that a new state is taken for known now.
  [[nodiscard]] double omission() const {
    const double part = static_cast<double>(set_) / static_cast<double>(bits_);
    return part * part * part;
  }

 private:
  static constexpr std::uint64_t bits_each = 3;
  std::uint64_t bits_;
  int shift_;
  Zeroed table_;
  std::uint64_t set_ = 0;
  std::size_t states_ = 0;
};

}  // namespace lockstep
