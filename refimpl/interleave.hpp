// Which of several takes an index: a channel of memory a unit of interleaving, a set of a cache a block.
#pragma once

#include <bit>
#include <cstdint>

namespace lockstep::timed {

// Modulo, or hashed: an index's remainder is shifted by the exclusive or of the digits above it. Either way
// any `count` indices that begin at a multiple of `count` go to one member each, so that index / count tells
// those of one member apart.
class Interleave {
 public:
  Interleave() = default;
  Interleave(std::uint64_t count, bool hashed)
      : count_(count), digit_(hashed && count > 1 ? static_cast<unsigned>(std::bit_width(count - 1)) : 0) {}

  [[nodiscard]] std::uint64_t member(std::uint64_t index) const {
    const std::uint64_t remainder = index % count_;
    if (digit_ == 0) return remainder;
    std::uint64_t folded = 0;
    for (std::uint64_t rest = index / count_; rest != 0; rest >>= digit_) folded ^= rest;
    return (remainder + folded % (std::uint64_t{1} << digit_)) % count_;
  }
  // The index among those of its member.
  [[nodiscard]] std::uint64_t within(std::uint64_t index) const { return index / count_; }
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  std::uint64_t count_ = 1;
  unsigned digit_ = 0;  // bits; 0: modulo
};

}  // namespace lockstep::timed
