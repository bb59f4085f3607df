// Of all states that a group of renamings turns into one another, one that stands for them.
//
// It is the least of them, scalar by scalar. What is known of the elements is a tree: its levels are
// stretches of scalars, its nodes what elements put there, so that those which put the same there are looked
// at together and those that put more than the least there are not looked at again. Of many that put the same
// there only some are kept: then the one that is found may depend on which of them it is asked of, which
// costs states and never a verdict.
#pragma once

#include <cstdint>
#include <vector>

#include "checker/symmetry/packed_layout.hpp"

namespace lockstep::symmetry {

class Representatives {
 public:
  // `elements` are a group, the first renames nothing.
  Representatives(const PackedLayout& layout, const std::vector<Renaming>& elements, unsigned words);

  struct Room {
    std::vector<std::uint32_t> codes;
    std::vector<std::uint32_t> least;
    std::vector<std::uint32_t> nodes;
    std::vector<std::uint32_t> next;
  };
  // Turns a packed state into the one that stands for it; returns which element did.
  std::uint32_t represent(std::uint64_t* state, Room& room) const;

 private:
  // What an element puts somewhere: the code of which scalar, and what that becomes.
  struct Source {
    std::uint32_t scalar;
    std::uint32_t codes;  // where in codes_; 0: as it is
    bool operator==(const Source&) const = default;
    bool operator<(const Source& other) const {
      return scalar != other.scalar ? scalar < other.scalar : codes < other.codes;
    }
  };
  struct Level {
    std::uint32_t length = 0;  // scalars
    std::uint32_t fan_out = 1;
    std::vector<Source> sources;  // node by node
  };
  static constexpr std::size_t most_kept = 64;

  const PackedLayout& layout_;
  unsigned words_;
  std::vector<std::uint32_t> targets_;  // the scalars that some element changes
  std::vector<Level> levels_;
  std::vector<std::uint32_t> elements_;  // by node of the last level
  std::vector<std::uint8_t> codes_;
};

}  // namespace lockstep::symmetry
