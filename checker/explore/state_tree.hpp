// States as trees of shared parts. A packed state is cut into parts of equal width, equal parts are kept
// once, pairs of them likewise, and so on up (Laarman, van de Pol and Weber, "Parallel recursive state
// compression for free", SPIN 2011): of a state there remains a pair of numbers, its key. Two states are
// equal if their keys are; nothing is lost.
//
// Parts are numbered as they come, so that numbers stay small; keys are as short as they are for that reason.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace lockstep {

// The numbers of a state's halves, the first in the upper 32 bits.
using StateKey = std::uint64_t;

// Different values, numbered as they come. Several threads may add and look up at once.
class NumberedValues {
 public:
  // Beyond it std::length_error is thrown.
  static constexpr std::uint32_t most = std::uint32_t{1} << 30;

  NumberedValues();

  // The value's number; its own from now on, if it is new.
  std::uint32_t number_of(std::uint64_t value) { return number_of(value, hash_of(value)); }
  std::uint32_t number_of(std::uint64_t value, std::uint64_t hash) {
    const std::uint32_t found = find(*index_.load(std::memory_order_acquire), value, hash);
    return found != nowhere ? found : add(value, hash);
  }
  // A permutation: different values have different ones.
  static std::uint64_t hash_of(std::uint64_t value) {
    value ^= value >> 32;
    value *= 0xD6E8'FEB8'6659'FD93U;
    value ^= value >> 29;
    value *= 0x9E37'79B9'7F4A'7C15U;
    return value ^ value >> 32;
  }
  // Of so few that looking one up waits for nothing.
  [[nodiscard]] bool is_small() const { return size() < few; }
  // Before number_of, in this order: where it looks first, and what it finds there. Inline, since compilers
  // drop calls of what only prefetches.
  [[gnu::always_inline]] void prefetch_slot(std::uint64_t hash) const {
    const Index& index = *index_.load(std::memory_order_acquire);
    __builtin_prefetch(&index.slots[hash & index.mask()]);
  }
  [[gnu::always_inline]] void prefetch_value(std::uint64_t hash) const {
    const Index& index = *index_.load(std::memory_order_acquire);
    const std::uint32_t slot = index.slots[hash & index.mask()].load(std::memory_order_acquire);
    if (slot == 0) return;
    prefetch_number((slot & index.mask()) - 1);
  }
  [[nodiscard]] std::uint64_t value(std::uint32_t number) const {
    const unsigned chunk = chunk_of(number);
    return chunks_[chunk][number - first_of(chunk)];
  }
  [[gnu::always_inline]] void prefetch_number(std::uint32_t number) const {
    const unsigned chunk = chunk_of(number);
    __builtin_prefetch(&chunks_[chunk][number - first_of(chunk)]);
  }
  [[nodiscard]] std::uint32_t size() const { return count_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t memory() const;
  // Lets go of what looking up has outgrown; while no other thread is at it.
  void release();

 private:
  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};
  static constexpr unsigned first_chunk_bits = 6;
  static constexpr std::uint32_t few = 1U << 12;
  // A slot holds a number plus one in as many bits as slots are numbered with, and above them part of a hash;
  // 0: free.
  struct Index {
    explicit Index(unsigned bits)
        : bits(bits), slots(std::make_unique<std::atomic<std::uint32_t>[]>(std::size_t{1} << bits)) {}
    unsigned bits;
    std::unique_ptr<std::atomic<std::uint32_t>[]> slots;
    [[nodiscard]] std::uint32_t mask() const { return (std::uint32_t{1} << bits) - 1; }
  };

  // Chunks of 64, 64, 128, 256, ... values, so that none ever moves.
  static unsigned chunk_of(std::uint32_t number) {
    return static_cast<unsigned>(std::bit_width(number >> first_chunk_bits));
  }
  static std::uint32_t first_of(unsigned chunk) {
    return chunk == 0 ? 0 : std::uint32_t{1} << (first_chunk_bits + chunk - 1);
  }
  static std::uint32_t tag_of(const Index& index, std::uint64_t hash) {
    return static_cast<std::uint32_t>(hash >> 32) & ~index.mask();
  }
  [[nodiscard]] std::uint32_t find(const Index& index, std::uint64_t value, std::uint64_t hash) const {
    const std::uint32_t mask = index.mask();
    const std::uint32_t tag = tag_of(index, hash);
    for (auto at = static_cast<std::uint32_t>(hash) & mask;; at = (at + 1) & mask) {
      const std::uint32_t slot = index.slots[at].load(std::memory_order_acquire);
      if (slot == 0) return nowhere;
      if ((slot & ~mask) == tag && this->value((slot & mask) - 1) == value) return (slot & mask) - 1;
    }
  }
  std::uint32_t add(std::uint64_t value, std::uint64_t hash);
  void enlarge();
  static void put(Index& index, std::uint64_t hash, std::uint32_t number);

  std::atomic<Index*> index_;
  std::atomic<std::uint32_t> count_ = 0;
  std::array<std::unique_ptr<std::uint64_t[]>, 32> chunks_;
  std::mutex adding_;
  std::vector<std::unique_ptr<Index>> indices_;  // the last one is in use; others may still be looked at
};

class StateTree {
 public:
  explicit StateTree(unsigned state_bits);

  // States taken apart, and others that differ little from them put together by their parts: a batch at a
  // time, so that what the numbers of one are looked up in is on its way while those of others are.
  class Batch {
   public:
    explicit Batch(const StateTree& tree) : words_(tree.words_), parts_(tree.parts_) {}
    // Forgets all states.
    void clear() { opened_ = 0; }
    // A state of the batch, packed.
    [[nodiscard]] const std::uint64_t* state(std::size_t i) const { return states_.data() + i * words_; }

   private:
    friend class StateTree;
    // A value whose number is asked for.
    struct Question {
      std::uint64_t value;
      std::uint64_t hash;
      std::uint32_t node;
      std::uint32_t at;  // in numbers_of_near_
    };
    // Where a state differs from the one that it is near.
    struct Differing {
      std::uint32_t state;
      std::uint32_t node;
      bool operator==(const Differing&) const = default;
    };
    [[nodiscard]] std::uint32_t* numbers(std::size_t i) { return numbers_.data() + i * 2 * parts_; }
    [[nodiscard]] std::uint64_t* values(std::size_t i) { return values_.data() + i * parts_; }

    std::size_t words_;
    std::size_t parts_;
    std::size_t opened_ = 0;
    std::vector<std::uint64_t> states_;
    std::vector<std::uint64_t> values_;           // of each state's parts
    std::vector<std::uint32_t> numbers_;          // of each state, by node
    std::vector<std::uint32_t> numbers_of_near_;  // of each state near one, by node
    std::vector<Question> questions_;
    std::vector<Differing> differing_;
  };
  // Before open: what it looks at first. Inline, since compilers drop calls of what only prefetches.
  [[gnu::always_inline]] void prefetch(StateKey key) const {
    nodes_[2].prefetch_number(static_cast<std::uint32_t>(key >> 32));
    nodes_[3].prefetch_number(static_cast<std::uint32_t>(key));
  }
  // Adds a state to a batch.
  void open(StateKey key, Batch& batch) const;
  // A packed state among others that lie one after the other, and one of a batch that it is near.
  struct Near {
    std::uint32_t state;
    std::uint32_t of;
  };
  // The keys of states among `states`. Several threads may ask at once, each with its own batch.
  void keys_of(const std::uint64_t* states, const std::vector<Near>& wanted, Batch& batch,
               std::vector<StateKey>& keys);
  // Of any state.
  StateKey key_of(const std::uint64_t* words);

  // How many different first and second halves there are.
  [[nodiscard]] std::uint32_t first_halves() const { return nodes_[2].size(); }
  [[nodiscard]] std::uint32_t second_halves() const { return nodes_[3].size(); }
  [[nodiscard]] std::size_t memory() const;
  void release();

  // Nodes as a heap: the children of n are 2n and 2n + 1; the root is 1 and is no node of its own.
  [[nodiscard]] std::size_t nodes() const { return nodes_.size(); }
  [[nodiscard]] NumberedValues& node(std::size_t n) { return nodes_[n]; }
  [[nodiscard]] const NumberedValues& node(std::size_t n) const { return nodes_[n]; }

 private:
  [[nodiscard]] std::uint64_t part(const std::uint64_t* words, std::size_t i) const {
    const std::size_t at = i * part_bits_;
    const std::size_t word = at / 64;
    const unsigned shift = at % 64;
    if (word >= words_) return 0;
    std::uint64_t value = words[word] >> shift;
    if (shift + part_bits_ > 64 && word + 1 < words_) value |= words[word + 1] << (64 - shift);
    return value & part_mask_;
  }
  static std::uint64_t pair(std::uint32_t first, std::uint32_t second) {
    return std::uint64_t{first} << 32 | second;
  }
  void ask(std::size_t node, std::uint64_t value, std::size_t at, Batch& batch);
  void answer(Batch& batch);

  std::size_t words_;
  std::size_t parts_;
  unsigned part_bits_;
  std::uint64_t part_mask_;
  std::vector<NumberedValues> nodes_;
};

}  // namespace lockstep
