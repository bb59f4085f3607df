// How each state was found, in about a byte a state: states are numbered as they are found, breadth first, so
// the numbers of those that they were found from never decrease, and of each state it is kept by how much
// that number grows, and which successor it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace lockstep {

struct Discovery {
  std::uint64_t parent = 0;
  std::uint32_t successor = 0;  // its number among the parent's successors
};

class Discoveries {
 public:
  // Reads the discoveries of states one after the other.
  class Cursor {
   public:
    explicit Cursor(const Discoveries& discoveries) : discoveries_(&discoveries) {}
    // Of the next state, the first at first.
    Discovery next();
    void skip(std::uint64_t states) {
      for (; states > 0; --states) next();
    }

   private:
    friend class Discoveries;
    const Discoveries* discoveries_;
    std::uint64_t at_ = 0;
    std::uint64_t parent_ = 0;
  };

  // Of the next state; the parent's number is not below the one before.
  void add(Discovery discovery);
  [[nodiscard]] Discovery of(std::uint64_t state) const;
  [[nodiscard]] std::uint64_t size() const { return count_; }
  [[nodiscard]] std::size_t memory() const;

 private:
  // A byte holds the growth of the parent's number and the successor's where both are small; what is not is
  // marked, and follows, 7 bits a byte.
  static constexpr unsigned successor_bits = 5;
  static constexpr std::uint64_t large_growth = (1U << (8 - successor_bits)) - 1;
  static constexpr std::uint64_t large_successor = (1U << successor_bits) - 1;
  static constexpr std::uint64_t states_a_mark = 1U << 10;
  static constexpr std::size_t chunk_bytes = std::size_t{1} << 16;
  struct Mark {
    std::uint64_t at;  // byte
    std::uint64_t parent;
  };

  void put(std::uint8_t byte) {
    if (bytes_ == chunks_.size() * chunk_bytes)
      chunks_.push_back(std::make_unique_for_overwrite<std::uint8_t[]>(chunk_bytes));
    chunks_[bytes_ / chunk_bytes][bytes_ % chunk_bytes] = byte;
    ++bytes_;
  }
  void put_long(std::uint64_t number);
  [[nodiscard]] std::uint8_t get(std::uint64_t& at) const {
    const std::uint8_t byte = chunks_[static_cast<std::size_t>(at / chunk_bytes)][at % chunk_bytes];
    ++at;
    return byte;
  }
  [[nodiscard]] std::uint64_t get_long(std::uint64_t& at) const;

  std::uint64_t count_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t last_parent_ = 0;
  std::vector<std::unique_ptr<std::uint8_t[]>> chunks_;
  std::vector<Mark> marks_;
};

inline Discovery Discoveries::Cursor::next() {
  const std::uint8_t byte = discoveries_->get(at_);
  std::uint64_t growth = byte >> successor_bits;
  std::uint64_t successor = byte & large_successor;
  if (growth == large_growth) growth += discoveries_->get_long(at_);
  if (successor == large_successor) successor += discoveries_->get_long(at_);
  parent_ += growth;
  return {parent_, static_cast<std::uint32_t>(successor)};
}

}  // namespace lockstep
