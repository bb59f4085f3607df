// The exact set of visited states: packed states in arrival order, their parents, and an open-addressing
// index over them.
//
// A state's number is its place in arrival order, so the arena is also the breadth-first queue. The index
// keeps a 32-bit number and an 8-bit tag a slot; a probe touches the state itself only when the tags agree.
// Whole states are compared: two different states are never taken for one.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "checker/explore/zeroed.hpp"

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
      : state_bytes_(std::max(1U, (state_bits + 7) / 8)),
        record_bytes_(state_bytes_ + sizeof(std::uint32_t)),
        tail_mask_(state_bytes_ % 8 == 0 ? 0 : (std::uint64_t{1} << (8 * (state_bytes_ % 8))) - 1) {
    resize_index(initial_slots);
  }

  [[nodiscard]] static std::uint64_t hash(const std::uint64_t* words, unsigned count) {
    return XXH3_64bits(words, count * sizeof(std::uint64_t));
  }

  // Two steps ahead of insert: first the slot, later the state that the slot names.
  void prefetch_slot(std::uint64_t hash) const { __builtin_prefetch(slot_at(hash & mask_)); }
  void prefetch_state(std::uint64_t hash) const {
    const Slot slot = load(hash & mask_);
    if (slot.tag == tag_of(hash)) __builtin_prefetch(record(slot.number));
  }

  struct Place {
    std::uint32_t number;
    bool is_new;
  };
  // Adds the state unless it is there; whether it was new.
  bool insert(const std::uint64_t* words, std::uint64_t hash, std::uint32_t parent) {
    return place(words, hash, parent).is_new;
  }
  // The same, with the state's number.
  Place place(const std::uint64_t* words, std::uint64_t hash, std::uint32_t parent) {
    if ((count_ + 1) * 4 > slots() * 3) resize_index(slots() * (slots() < few_slots ? 4 : 2));
    const std::uint8_t tag = tag_of(hash);
    for (std::size_t slot = hash & mask_;; slot = (slot + 1) & mask_) {
      const Slot there = load(slot);
      if (there.tag == 0) {
        save(slot, {tag, static_cast<std::uint32_t>(count_)});
        append(words, parent);
        return {static_cast<std::uint32_t>(count_ - 1), true};
      }
      if (there.tag == tag && equal(record(there.number), words)) return {there.number, false};
    }
  }

  // From now on states that are there may be copied while others are inserted.
  void keep_in_place() { chunks_.reserve(max_states / records_per_chunk + 1); }

  [[nodiscard]] std::size_t size() const { return count_; }

  // Copies state `number` into `words` (padded with zeros by the caller once).
  void copy(std::size_t number, std::uint64_t* words) const {
    std::memcpy(words, record(number), state_bytes_);
  }

  [[nodiscard]] std::uint32_t parent(std::size_t number) const {
    std::uint32_t parent = 0;
    std::memcpy(&parent, record(number) + state_bytes_, sizeof parent);
    return parent;
  }

  // Bytes of memory in use, index and slack included.
  [[nodiscard]] std::size_t memory() const {
    return chunks_.size() * records_per_chunk * record_bytes_ + slots() * slot_bytes;
  }
  [[nodiscard]] unsigned state_bytes() const { return state_bytes_; }

 private:
  static constexpr std::size_t initial_slots = 1U << 10;
  static constexpr std::size_t few_slots = 1U << 18;  // fewer are worth less than hashing all states again
  static constexpr std::size_t records_per_chunk = 1U << 14;

  static constexpr std::size_t slot_bytes = 5;
  struct Slot {
    std::uint8_t tag = 0;  // 0: free
    std::uint32_t number = 0;
  };
  [[nodiscard]] std::byte* slot_at(std::size_t slot) const { return index_.get() + slot * slot_bytes; }
  [[nodiscard]] Slot load(std::size_t slot) const {
    Slot s;
    const std::byte* at = slot_at(slot);
    std::memcpy(&s.number, at, sizeof s.number);
    std::memcpy(&s.tag, at + sizeof s.number, 1);
    return s;
  }
  void save(std::size_t slot, const Slot& s) const {
    std::byte* at = slot_at(slot);
    std::memcpy(at, &s.number, sizeof s.number);
    std::memcpy(at + sizeof s.number, &s.tag, 1);
  }
  // Whole words first: a record is followed by its parent's number, so reading on to the word's end stays
  // inside the chunk, which has a word of slack.
  [[nodiscard]] bool equal(const std::byte* record, const std::uint64_t* words) const {
    const unsigned whole = state_bytes_ / 8;
    std::uint64_t word = 0;
    for (unsigned i = 0; i < whole; ++i) {
      std::memcpy(&word, record + i * sizeof word, sizeof word);
      if (word != words[i]) return false;
    }
    if (tail_mask_ == 0) return true;
    std::memcpy(&word, record + whole * sizeof word, sizeof word);
    return ((word ^ words[whole]) & tail_mask_) == 0;
  }

  static std::uint8_t tag_of(std::uint64_t hash) { return static_cast<std::uint8_t>((hash >> 56) | 1U); }
  [[nodiscard]] std::size_t slots() const { return mask_ + 1; }

  [[nodiscard]] const std::byte* record(std::size_t number) const {
    return chunks_[number / records_per_chunk].get() + (number % records_per_chunk) * record_bytes_;
  }

  void append(const std::uint64_t* words, std::uint32_t parent) {
    if (count_ == chunks_.size() * records_per_chunk) {
      chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(records_per_chunk * record_bytes_ +
                                                                    sizeof(std::uint64_t)));
    }
    std::byte* at = chunks_.back().get() + (count_ % records_per_chunk) * record_bytes_;
    std::memcpy(at, words, state_bytes_);
    std::memcpy(at + state_bytes_, &parent, sizeof parent);
    ++count_;
  }

  void resize_index(std::size_t slots) {
    index_.reset();
    index_ = zeroed(slots * slot_bytes);
    mask_ = slots - 1;
    // In batches, so that the slots of one are on their way while the next is hashed.
    constexpr std::size_t batch = 64;
    const unsigned words = (state_bytes_ + 7) / 8;
    std::vector<std::uint64_t> state(words, 0);
    std::array<std::uint64_t, batch> hashes{};
    for (std::size_t first = 0; first < count_; first += batch) {
      const std::size_t n = std::min(batch, count_ - first);
      for (std::size_t i = 0; i < n; ++i) {
        copy(first + i, state.data());
        hashes[i] = hash(state.data(), words);
        prefetch_slot(hashes[i]);
      }
      for (std::size_t i = 0; i < n; ++i) {
        std::size_t slot = hashes[i] & mask_;
        while (load(slot).tag != 0) slot = (slot + 1) & mask_;
        save(slot, {tag_of(hashes[i]), static_cast<std::uint32_t>(first + i)});
      }
    }
  }

  unsigned state_bytes_;
  std::size_t record_bytes_;
  std::uint64_t tail_mask_;  // of the last, partial word of a state
  std::size_t count_ = 0;
  std::size_t mask_ = 0;
  Zeroed index_;
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
};

}  // namespace lockstep
