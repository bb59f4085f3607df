// What the states of one depth have enabled, kept while those of the next are expanded: of a state that
// differs little from its parent fewer guards are asked (guard_inputs.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "checker/explore/model.hpp"

namespace lockstep {

// States are numbered as they were found. For a model without words for sets of enabled instances all of it
// does nothing.
class KeptGuards {
 public:
  explicit KeptGuards(unsigned enabled_words) : words_(enabled_words) {}

  // From now on the `count` states from `first` on are expanded; what was kept last is of their parents. No
  // more is kept than of the first of them, in so many bytes.
  void begin_depth(std::uint64_t first, std::uint64_t count, std::size_t bytes) {
    std::swap(before_, now_);
    now_.first = first;
    if (words_ == 0) return;
    now_.count = std::min<std::uint64_t>(count, bytes / (words_ * sizeof(std::uint64_t)));
    if (now_.sets.size() < now_.count * words_) now_.sets.resize(now_.count * words_);
  }
  // Keeps what the expansion of the state said. Several threads may, of different states.
  void keep(std::uint64_t number, const Successors& expanded) {
    if (number - now_.first < now_.count)
      std::copy_n(expanded.enabled.data(), words_, now_.sets.data() + (number - now_.first) * words_);
  }
  // What a state of the depth before has enabled; none where that was not kept.
  [[nodiscard]] const std::uint64_t* of(std::uint64_t number) const {
    const std::uint64_t at = number - before_.first;
    return at < before_.count ? before_.sets.data() + at * words_ : nullptr;
  }
  [[nodiscard]] std::size_t memory() const {
    return (now_.sets.capacity() + before_.sets.capacity()) * sizeof(std::uint64_t);
  }

 private:
  struct Depth {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    std::vector<std::uint64_t> sets;
  };
  unsigned words_;
  Depth now_;
  Depth before_;
};

}  // namespace lockstep
