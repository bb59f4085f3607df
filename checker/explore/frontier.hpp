// The keys of the states that are yet to be expanded, and of those that they were found from, in the order in
// which states were found.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include "checker/explore/state_tree.hpp"

namespace lockstep {

class Frontier {
 public:
  // States are numbered from 0 on.
  [[nodiscard]] std::uint64_t size() const { return end_; }
  void add(StateKey key) {
    if (end_ % chunk_states == 0) chunks_.push_back(std::make_unique_for_overwrite<Chunk>());
    (*chunks_.back())[end_ % chunk_states] = key;
    ++end_;
  }
  // Of a state that has not been dropped.
  [[nodiscard]] StateKey operator[](std::uint64_t number) const {
    return (*chunks_[static_cast<std::size_t>(number / chunk_states - first_chunk_)])[number % chunk_states];
  }
  // States below this number will not be asked for.
  void drop_below(std::uint64_t number) {
    for (; first_chunk_ < number / chunk_states; ++first_chunk_) chunks_.pop_front();
  }
  [[nodiscard]] std::size_t memory() const { return chunks_.size() * sizeof(Chunk); }

 private:
  static constexpr std::size_t chunk_states = std::size_t{1} << 12;
  using Chunk = std::array<StateKey, chunk_states>;
  std::deque<std::unique_ptr<Chunk>> chunks_;
  std::uint64_t first_chunk_ = 0;
  std::uint64_t end_ = 0;
};

}  // namespace lockstep
