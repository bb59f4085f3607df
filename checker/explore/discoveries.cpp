#include "checker/explore/discoveries.hpp"

#include <algorithm>

namespace lockstep {

void Discoveries::add(Discovery discovery) {
  if (count_ % states_a_mark == 0) marks_.push_back({bytes_, last_parent_});
  const std::uint64_t growth = discovery.parent - last_parent_;
  const std::uint64_t small_growth = std::min(growth, large_growth);
  const std::uint64_t small_successor = std::min<std::uint64_t>(discovery.successor, large_successor);
  put(static_cast<std::uint8_t>(small_growth << successor_bits | small_successor));
  if (small_growth == large_growth) put_long(growth - large_growth);
  if (small_successor == large_successor) put_long(discovery.successor - large_successor);
  last_parent_ = discovery.parent;
  ++count_;
}

Discovery Discoveries::of(std::uint64_t state) const {
  const Mark& mark = marks_[static_cast<std::size_t>(state / states_a_mark)];
  Cursor cursor(*this);
  cursor.at_ = mark.at;
  cursor.parent_ = mark.parent;
  cursor.skip(state % states_a_mark);
  return cursor.next();
}

void Discoveries::put_long(std::uint64_t number) {
  for (; number >= 128; number >>= 7) put(static_cast<std::uint8_t>(number | 128));
  put(static_cast<std::uint8_t>(number));
}

std::size_t Discoveries::memory() const {
  return chunks_.size() * chunk_bytes + marks_.size() * sizeof(Mark);
}

}  // namespace lockstep
