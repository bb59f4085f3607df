// The exact set of visited states' keys, in few bytes each.
//
// A key is scrambled by a permutation, so that where it is found says part of what it is and only the rest is
// stored (Cleary, "Compact hash tables using bidirectional linear probing", 1984): n keys of k bits take
// about k - log2(n) + 8 bits each, rounded up to bytes, in lines of 64 bytes that are filled to seven
// eighths. The set is cut into shards by the first bits of what a key is scrambled to; each grows by itself,
// and several threads may work on one set, each on shards of its own.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "checker/explore/state_tree.hpp"
#include "checker/explore/zeroed.hpp"

namespace lockstep {

class KeySet {
 public:
  KeySet();

  // From now on first and second halves of keys are below these bounds, at most 2^30. Moves everything
  // where they outgrow what was foreseen.
  void admit(std::uint32_t first_halves, std::uint32_t second_halves);
  // Whether these keys' halves are.
  [[nodiscard]] bool admits_all(const std::vector<StateKey>& keys) const {
    StateKey bits = 0;
    for (const StateKey key : keys) bits |= key;
    return bits >> 32 >> first_bits_ == 0 && static_cast<std::uint32_t>(bits) >> second_bits_ == 0;
  }

  [[nodiscard]] std::size_t shards() const { return shards_.size(); }
  // Of as many keys as this in one shard, sets of one shard are cut into many.
  [[nodiscard]] bool wants_shards() const {
    return shards_.size() == 1 && shards_.front().count > one_shard_keys;
  }
  void cut_into_shards();

  // Where a key belongs, until the set admits more or is cut.
  enum class Spot : std::uint64_t {};
  [[nodiscard]] Spot spot_of(StateKey key) const { return Spot{scramble(packed(key))}; }
  [[nodiscard]] StateKey key_of(Spot spot) const {
    return unpacked(unscramble(static_cast<std::uint64_t>(spot)));
  }
  [[nodiscard]] std::size_t shard_of(Spot spot) const {
    return static_cast<std::size_t>(static_cast<std::uint64_t>(spot) >> rest_bits_);
  }
  // Inline, since compilers drop calls of what only prefetches.
  [[gnu::always_inline]] void prefetch(Spot spot) const {
    const Shard& shard = shards_[shard_of(spot)];
    __builtin_prefetch(shard.memory.get() + line_bytes * place(shard, rest_of(spot)).line);
  }
  // Whether the key is new.
  bool insert(Spot spot) { return insert(shards_[shard_of(spot)], rest_of(spot)); }
  bool insert(StateKey key) { return insert(spot_of(key)); }
  // Whether the key is there. Several threads may ask while none inserts.
  [[nodiscard]] bool holds(Spot spot) const {
    const Shard& shard = shards_[shard_of(spot)];
    return holds(shard, place(shard, rest_of(spot)));
  }

  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::size_t memory() const;
  // Forgets all keys.
  void clear();
  // Calls f(key) for each key of a shard.
  template <class F>
  void for_each(std::size_t shard, F&& f) const {
    for_each_rest(shards_[shard], [&](std::uint64_t rest) {
      f(key_of(Spot{static_cast<std::uint64_t>(shard) << rest_bits_ | rest}));
    });
  }

 private:
  static constexpr std::size_t line_bytes = 64;
  static constexpr unsigned distance_bits = 3;
  // How many lines behind its own a key may lie.
  static constexpr unsigned farthest = (1U << distance_bits) - 2;
  static constexpr std::size_t one_shard_keys = std::size_t{1} << 13;
  static constexpr unsigned many_shards_bits = 6;
  static constexpr unsigned least_half_bits = 10;

  // Slots of `width` bytes hold what is left of a key, above 3 bits of the distance from its line plus one;
  // 0: free. Lines are filled from their front, and nothing is ever taken out. A line has the first bytes of
  // all its slots, then the second ones, and so on: so a line's slots are compared all at once.
  struct Shard {
    Zeroed memory;
    std::uint64_t lines = 0;
    unsigned shift = 0;  // lines are at least 2 to this power
    unsigned width = 0;
    std::uint64_t count = 0;
    std::uint64_t most = 0;  // keys, before it grows
  };
  struct Place {
    std::uint64_t line;
    std::uint64_t slot;
  };

  __extension__ using Wide = unsigned __int128;

  [[nodiscard]] std::uint64_t packed(StateKey key) const {
    return (key >> 32) << second_bits_ | static_cast<std::uint32_t>(key);
  }
  [[nodiscard]] StateKey unpacked(std::uint64_t packed) const {
    return (packed >> second_bits_) << 32 | (packed & ((std::uint64_t{1} << second_bits_) - 1));
  }
  [[nodiscard]] std::uint64_t rest_of(Spot spot) const {
    return static_cast<std::uint64_t>(spot) & rest_mask_;
  }
  // Permutations of the numbers of `bits_` bits, each the other's inverse: so are the factors, and a shift by
  // half the bits undoes itself.
  [[nodiscard]] std::uint64_t scramble(std::uint64_t x) const { return permuted(x, multiplier); }
  [[nodiscard]] std::uint64_t unscramble(std::uint64_t x) const { return permuted(x, inverse); }
  [[nodiscard]] std::uint64_t permuted(std::uint64_t x, std::uint64_t factor) const {
    x ^= x >> half_bits_;
    x = x * factor & mask_;
    x ^= x >> half_bits_;
    x = x * factor & mask_;
    return x ^ x >> half_bits_;
  }
  static constexpr std::uint64_t multiplier = 0x9E37'79B9'7F4A'7C15U;
  static constexpr std::uint64_t inverse = [] {
    std::uint64_t x = multiplier;  // right in its last 3 bits; each step doubles them
    for (int i = 0; i < 5; ++i) x *= 2 - multiplier * x;
    return x;
  }();

  // Lines share out the range of `rest` evenly. What is left is where it lies in its line's share, in steps
  // that are no longer than the distance of two.
  [[nodiscard]] Place place(const Shard& shard, std::uint64_t rest) const {
    const Wide product = Wide{rest} * shard.lines;
    const std::uint64_t within = static_cast<std::uint64_t>(product) & rest_mask_;
    return {static_cast<std::uint64_t>(product >> rest_bits_), within >> shard.shift << distance_bits | 1U};
  }

  bool insert(Shard& shard, std::uint64_t rest);
  // Calls f.operator()<width>(), for slots of 2 to 8 bytes.
  template <class F>
  static auto with_width(unsigned width, F&& f) {
    switch (width) {
      case 2:
        return f.template operator()<2>();
      case 3:
        return f.template operator()<3>();
      case 4:
        return f.template operator()<4>();
      case 5:
        return f.template operator()<5>();
      case 6:
        return f.template operator()<6>();
      case 7:
        return f.template operator()<7>();
      default:
        return f.template operator()<8>();
    }
  }
  enum class Found : std::uint8_t { there, absent, added, no_room };
  // Adds the key unless it is there; of a constant shard says whether it is.
  template <unsigned width, class AnyShard>
  static Found look_in(AnyShard& shard, Place place);
  static Found insert_in(Shard& shard, Place place);
  static bool holds(const Shard& shard, Place place);
  [[nodiscard]] unsigned width_of(std::uint64_t lines) const;
  [[nodiscard]] Shard made(std::uint64_t lines) const;
  [[nodiscard]] Shard made_for(std::uint64_t keys) const;
  void grow(Shard& shard) const;
  void move_all(unsigned first_bits, unsigned second_bits, unsigned shard_bits);
  void set_bits(unsigned first_bits, unsigned second_bits, unsigned shard_bits);
  template <class F>
  void for_each_rest(const Shard& shard, F&& f) const;
  template <unsigned width, class F>
  void for_each_rest(const Shard& shard, F& f) const;

  unsigned first_bits_ = 0;  // of the halves of a key
  unsigned second_bits_ = 0;
  unsigned bits_ = 0;
  unsigned half_bits_ = 0;
  std::uint64_t mask_ = 0;
  unsigned shard_bits_ = 0;
  unsigned rest_bits_ = 0;
  std::uint64_t rest_mask_ = 0;
  std::vector<Shard> shards_;
};

template <class F>
void KeySet::for_each_rest(const Shard& shard, F&& f) const {
  if (shard.width != 0) with_width(shard.width, [&]<unsigned width>() { for_each_rest<width>(shard, f); });
}

template <unsigned width, class F>
void KeySet::for_each_rest(const Shard& shard, F& f) const {
  constexpr std::size_t slots = line_bytes / width;
  // The least key of a line, and where it lies in the line's share: of this line and those before it.
  struct Base {
    std::uint64_t key = 0;
    std::uint64_t offset = 0;
  };
  std::array<Base, 1U << distance_bits> bases{};
  // line * 2^rest_bits_ is quotient * lines + remainder.
  const std::uint64_t range = std::uint64_t{1} << rest_bits_;
  std::uint64_t quotient = 0;
  std::uint64_t remainder = 0;
  for (std::uint64_t line = 0; line < shard.lines + farthest; ++line) {
    bases[line % bases.size()] =
        remainder == 0 ? Base{quotient, 0} : Base{quotient + 1, shard.lines - remainder};
    quotient += range / shard.lines;
    remainder += range % shard.lines;
    if (remainder >= shard.lines) {
      ++quotient;
      remainder -= shard.lines;
    }
    const auto* const at = reinterpret_cast<const std::uint8_t*>(shard.memory.get() + line * line_bytes);
    for (std::size_t i = 0; i < slots && at[i] != 0; ++i) {
      std::uint64_t slot = 0;
      for (unsigned byte = 0; byte < width; ++byte) slot |= std::uint64_t{at[byte * slots + i]} << 8 * byte;
      const std::uint64_t distance = (slot & ((1U << distance_bits) - 1)) - 1;
      const Base& base = bases[(line - distance) % bases.size()];
      const std::uint64_t within = slot >> distance_bits << shard.shift;
      f(within <= base.offset ? base.key : base.key + (within - base.offset + shard.lines - 1) / shard.lines);
    }
  }
}

}  // namespace lockstep
