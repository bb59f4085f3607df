// The states of a model by definition: whatever rules lead to, without an explorer.
#pragma once

#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <vector>

#include "checker/explore/model.hpp"

namespace lockstep {

using PackedState = std::vector<std::uint64_t>;

// Of several successors.
PackedState packed_state(const Successors& successors, std::size_t i, const Model& model);

class ReachableStates {
 public:
  explicit ReachableStates(const Model& model);

  // By their distance from where runs start.
  [[nodiscard]] const std::vector<PackedState>& all() const& { return all_; }
  void all() && = delete;
  [[nodiscard]] bool contains(const PackedState& state) const;

 private:
  boost::unordered_flat_set<PackedState> known_;
  std::vector<PackedState> all_;
};

}  // namespace lockstep
