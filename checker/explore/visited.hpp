// The exact set of visited states: packed states in arrival order, their parents, and an open-addressing
// index over them.
//
// A state's number is its place in arrival order, so the arena is also the breadth-first queue. The index
// keeps a 32-bit number and an 8-bit tag a slot; a probe touches the state itself only when the tags agree.
// Whole states are compared: two different states are never taken for one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#define XXH_INLINE_ALL
#define XXH_VECTOR 0  // states are far shorter than what the vector paths are for
#include <xxhash.h>

namespace lockstep {

class Visited {
 public:
  static constexpr std::uint32_t no_parent = 0xFFFF'FFFFU;
  static constexpr std::uint32_t max_states = 0xFFFF'FFFEU;

  // State size in bits; states are handed in and out as little-endian words padded with zeros.
  explicit Visited(unsigned state_bits)
      : state_bytes_(std::max(1U, (state_bits + 7) / 8)), record_bytes_(state_bytes_ + sizeof(std::uint32_t)) {
    resize_index(initial_slots);
  }

  [[nodiscard]] static std::uint64_t hash(const std::uint64_t* words, unsigned count) {
    return XXH3_64bits(words, count * sizeof(std::uint64_t));
  }

  void prefetch(std::uint64_t hash) const {
    const std::size_t slot = hash & mask_;
    __builtin_prefetch(&tags_[slot]);
    __builtin_prefetch(&numbers_[slot]);
  }

  // Adds the state unless it is there; whether it was new.
  bool insert(const std::uint64_t* words, std::uint64_t hash, std::uint32_t parent) {
    if ((count_ + 1) * 4 > slots() * 3) resize_index(slots() * 2);
    const std::uint8_t tag = tag_of(hash);
    for (std::size_t slot = hash & mask_;; slot = (slot + 1) & mask_) {
      if (tags_[slot] == 0) {
        tags_[slot] = tag;
        numbers_[slot] = static_cast<std::uint32_t>(count_);
        append(words, parent);
        return true;
      }
      if (tags_[slot] == tag && std::memcmp(record(numbers_[slot]), words, state_bytes_) == 0) return false;
    }
  }

  [[nodiscard]] std::size_t size() const { return count_; }

  // Copies state `number` into `words` (padded with zeros by the caller once).
  void copy(std::size_t number, std::uint64_t* words) const { std::memcpy(words, record(number), state_bytes_); }

  [[nodiscard]] std::uint32_t parent(std::size_t number) const {
    std::uint32_t parent = 0;
    std::memcpy(&parent, record(number) + state_bytes_, sizeof parent);
    return parent;
  }

  // Bytes of memory in use, index and slack included.
  [[nodiscard]] std::size_t memory() const {
    return chunks_.size() * records_per_chunk * record_bytes_ + slots() * (sizeof(std::uint32_t) + 1);
  }
  [[nodiscard]] unsigned state_bytes() const { return state_bytes_; }

 private:
  static constexpr std::size_t initial_slots = 1U << 10;
  static constexpr std::size_t records_per_chunk = 1U << 14;

  static std::uint8_t tag_of(std::uint64_t hash) { return static_cast<std::uint8_t>((hash >> 56) | 1U); }
  [[nodiscard]] std::size_t slots() const { return mask_ + 1; }

  [[nodiscard]] const std::byte* record(std::size_t number) const {
    return chunks_[number / records_per_chunk].get() + (number % records_per_chunk) * record_bytes_;
  }

  void append(const std::uint64_t* words, std::uint32_t parent) {
    if (count_ == chunks_.size() * records_per_chunk) {
      chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(records_per_chunk * record_bytes_));
    }
    std::byte* at = chunks_.back().get() + (count_ % records_per_chunk) * record_bytes_;
    std::memcpy(at, words, state_bytes_);
    std::memcpy(at + state_bytes_, &parent, sizeof parent);
    ++count_;
  }

  void resize_index(std::size_t slots) {
    tags_.reset();
    numbers_.reset();
    tags_ = std::make_unique<std::uint8_t[]>(slots);
    numbers_ = std::make_unique_for_overwrite<std::uint32_t[]>(slots);
    mask_ = slots - 1;
    const unsigned words = (state_bytes_ + 7) / 8;
    std::vector<std::uint64_t> state(words, 0);
    for (std::size_t number = 0; number < count_; ++number) {
      copy(number, state.data());
      const std::uint64_t h = hash(state.data(), words);
      std::size_t slot = h & mask_;
      while (tags_[slot] != 0) slot = (slot + 1) & mask_;
      tags_[slot] = tag_of(h);
      numbers_[slot] = static_cast<std::uint32_t>(number);
    }
  }

  unsigned state_bytes_;
  std::size_t record_bytes_;
  std::size_t count_ = 0;
  std::size_t mask_ = 0;
  std::unique_ptr<std::uint8_t[]> tags_;
  std::unique_ptr<std::uint32_t[]> numbers_;
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
};

}  // namespace lockstep
