// How each state was found, in about a byte a state: states are numbered as they are found, breadth first, so
// the numbers of those that they were found from never decrease, and of each state it is kept by how much
// that number grows, and which successor it was.
#pragma once

#include <algorithm>
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
  [[nodiscard]] std::size_t memory() const;

  // For files: all of it as bytes, and so many states from the bytes that `get` hands out one after the
  // other.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  template <class F>
  void for_each_stretch(std::uint64_t from, F&& f) const;  // calls f(const std::uint8_t*, std::size_t)
  template <class Get>
  void load(std::uint64_t states, Get&& get);

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
  // Reads one from bytes that `get` hands out, after one that was found from `parent`.
  template <class Get>
  static Discovery decoded(std::uint64_t parent, Get&& get) {
    const auto get_long = [&get] {
      std::uint64_t number = 0;
      for (unsigned shift = 0;; shift += 7) {
        const std::uint8_t byte = get();
        number |= std::uint64_t{byte & 127U} << shift;
        if (byte < 128) return number;
      }
    };
    const std::uint8_t byte = get();
    std::uint64_t growth = byte >> successor_bits;
    std::uint64_t successor = byte & large_successor;
    if (growth == large_growth) growth += get_long();
    if (successor == large_successor) successor += get_long();
    return {parent + growth, static_cast<std::uint32_t>(successor)};
  }

  std::uint64_t count_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t last_parent_ = 0;
  std::vector<std::unique_ptr<std::uint8_t[]>> chunks_;
  std::vector<Mark> marks_;
};

inline Discovery Discoveries::Cursor::next() {
  const Discovery discovery = decoded(parent_, [this] { return discoveries_->get(at_); });
  parent_ = discovery.parent;
  return discovery;
}

template <class Get>
void Discoveries::load(std::uint64_t states, Get&& get) {
  for (; states > 0; --states) add(decoded(last_parent_, get));
}

template <class F>
void Discoveries::for_each_stretch(std::uint64_t from, F&& f) const {
  while (from < bytes_) {
    const std::size_t in_chunk = from % chunk_bytes;
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(chunk_bytes - in_chunk, bytes_ - from));
    f(chunks_[static_cast<std::size_t>(from / chunk_bytes)].get() + in_chunk, n);
    from += n;
  }
}

}  // namespace lockstep
