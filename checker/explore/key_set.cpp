#include "checker/explore/key_set.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

namespace lockstep {

KeySet::KeySet() {
  set_bits(least_half_bits, least_half_bits, 0);
  shards_.resize(1);
  shards_.front() = made(2);
}

void KeySet::set_bits(unsigned first_bits, unsigned second_bits, unsigned shard_bits) {
  first_bits_ = first_bits;
  second_bits_ = second_bits;
  bits_ = first_bits + second_bits;
  half_bits_ = (bits_ + 1) / 2;
  mask_ = (std::uint64_t{1} << bits_) - 1;
  shard_bits_ = shard_bits;
  rest_bits_ = bits_ - shard_bits;
  rest_mask_ = (std::uint64_t{1} << rest_bits_) - 1;
}

unsigned KeySet::width_of(std::uint64_t lines) const {
  const auto shift = static_cast<unsigned>(std::bit_width(lines)) - 1;
  return std::max(2U, (rest_bits_ - shift + distance_bits + 7) / 8);
}

KeySet::Shard KeySet::made(std::uint64_t lines) const {
  Shard shard;
  shard.lines = lines;
  shard.shift = static_cast<unsigned>(std::bit_width(lines)) - 1;
  shard.width = width_of(lines);
  shard.memory = zeroed((lines + farthest) * line_bytes);
  shard.most = lines * (line_bytes / shard.width) * 7 / 8;
  return shard;
}

KeySet::Shard KeySet::made_for(std::uint64_t keys) const {
  std::uint64_t lines = 2;
  while (lines * (line_bytes / width_of(lines)) * 3 / 4 <= keys)
    lines += std::max(lines / 8, std::uint64_t{1});
  return made(lines);
}

namespace {

template <std::size_t bytes>
struct LaneTypes;
template <>
struct LaneTypes<8> {
  using Bytes __attribute__((vector_size(8))) = std::uint8_t;
  using Words __attribute__((vector_size(8))) = std::uint64_t;
};
template <>
struct LaneTypes<16> {
  using Bytes __attribute__((vector_size(16))) = std::uint8_t;
  using Words __attribute__((vector_size(16))) = std::uint64_t;
};

// Bytes of consecutive slots of a line side by side.
template <std::size_t bytes>
struct Lanes {
  using Bytes = typename LaneTypes<bytes>::Bytes;
  using Words = typename LaneTypes<bytes>::Words;

  static Bytes load(const std::byte* at) {
    Bytes lanes;
    std::memcpy(&lanes, at, sizeof lanes);
    return lanes;
  }
  // All bits of the first lanes.
  static Bytes first(std::size_t count) {
    std::array<std::byte, bytes> lanes{};
    std::fill_n(lanes.begin(), count, std::byte{0xFF});
    return load(lanes.data());
  }
  static bool any(Bytes lanes) {
    const Words words = reinterpret_cast<Words>(lanes);
    std::uint64_t together = 0;
    for (std::size_t i = 0; i < bytes / sizeof(std::uint64_t); ++i) together |= words[i];
    return together != 0;
  }
  // The first lane that is not 0; `bytes` if all are.
  static std::size_t find(Bytes lanes) {
    const Words words = reinterpret_cast<Words>(lanes);
    for (std::size_t i = 0; i < bytes / sizeof(std::uint64_t); ++i) {
      if (words[i] != 0)
        return i * sizeof(std::uint64_t) + static_cast<std::size_t>(std::countr_zero(words[i])) / 8;
    }
    return bytes;
  }
};

}  // namespace

// A line is looked at through one window, or through two that overlap: none reaches beyond the line.
template <unsigned width, class AnyShard>
KeySet::Found KeySet::look_in(AnyShard& shard, Place place) {
  constexpr std::size_t slots = line_bytes / width;
  constexpr std::size_t window = slots > 10 ? 16 : 8;
  constexpr std::size_t second = slots > window ? slots - window : 0;
  using Of = Lanes<window>;
  const auto all = Of::first(std::min(slots, window));
  std::byte* line = shard.memory.get() + place.line * line_bytes;
  for (unsigned distance = 0; distance <= farthest; ++distance, ++place.slot, line += line_bytes) {
    const auto same_from = [&](std::size_t first) {
      auto same = Of::load(line + first) == static_cast<std::uint8_t>(place.slot);
      for (unsigned byte = 1; byte < width; ++byte)
        same &= Of::load(line + byte * slots + first) == static_cast<std::uint8_t>(place.slot >> 8 * byte);
      return same;
    };
    auto same = same_from(0) & all;
    if constexpr (second > 0) same |= same_from(second);
    if (Of::any(same)) return Found::there;
    std::size_t free = Of::find((Of::load(line) == 0) & all);
    if constexpr (second > 0) {
      if (free == window) free = second + Of::find(Of::load(line + second) == 0);
    }
    if (free >= slots) continue;
    if constexpr (std::is_const_v<AnyShard>) {
      return Found::absent;
    } else {
      for (unsigned byte = 0; byte < width; ++byte)
        line[byte * slots + free] = static_cast<std::byte>(place.slot >> 8 * byte);
      ++shard.count;
      return Found::added;
    }
  }
  return Found::no_room;
}

KeySet::Found KeySet::insert_in(Shard& shard, Place place) {
  return with_width(shard.width, [&]<unsigned width>() { return look_in<width>(shard, place); });
}

bool KeySet::holds(const Shard& shard, Place place) {
  return with_width(shard.width, [&]<unsigned width>() { return look_in<width>(shard, place); }) ==
         Found::there;
}

bool KeySet::insert(Shard& shard, std::uint64_t rest) {
  for (;; grow(shard)) {
    if (shard.count >= shard.most) continue;
    const Found found = insert_in(shard, place(shard, rest));
    if (found != Found::no_room) return found == Found::added;
  }
}

void KeySet::grow(Shard& shard) const {
  // Small tables double; of large ones, what stays empty matters.
  constexpr std::uint64_t few_lines = std::uint64_t{1} << 8;
  constexpr std::uint64_t many_lines = std::uint64_t{1} << 14;
  for (std::uint64_t lines = shard.lines;;) {
    lines += lines < few_lines ? lines : (lines < many_lines ? lines / 2 : lines / 4);
    Shard larger = made(lines);
    bool fits = true;
    for_each_rest(shard, [&](std::uint64_t rest) {
      fits = fits && insert_in(larger, place(larger, rest)) == Found::added;
    });
    if (!fits) continue;
    shard = std::move(larger);
    return;
  }
}

void KeySet::admit(std::uint32_t first_halves, std::uint32_t second_halves) {
  const auto wanted = [](std::uint32_t halves, unsigned bits) {
    return halves <= std::uint32_t{1} << bits ? bits : static_cast<unsigned>(std::bit_width(halves - 1));
  };
  const unsigned first = wanted(first_halves, first_bits_);
  const unsigned second = wanted(second_halves, second_bits_);
  if (first != first_bits_ || second != second_bits_) move_all(first, second, shard_bits_);
}

void KeySet::cut_into_shards() {
  move_all(first_bits_, second_bits_, many_shards_bits);
}

void KeySet::move_all(unsigned first_bits, unsigned second_bits, unsigned shard_bits) {
  KeySet moved;
  moved.set_bits(first_bits, second_bits, shard_bits);
  const std::size_t count = size();
  const std::size_t shards = std::size_t{1} << shard_bits;
  moved.shards_.clear();
  moved.shards_.resize(shards);
  for (Shard& shard : moved.shards_) shard = moved.made_for(count / shards);
  for (std::size_t shard = 0; shard < shards_.size(); ++shard) {
    for_each(shard, [&](StateKey key) { moved.insert(key); });
    shards_[shard] = {};
  }
  *this = std::move(moved);
}

std::size_t KeySet::size() const {
  std::size_t count = 0;
  for (const Shard& shard : shards_) count += shard.count;
  return count;
}

std::size_t KeySet::memory() const {
  std::size_t bytes = 0;
  for (const Shard& shard : shards_) bytes += (shard.lines + farthest) * line_bytes;
  return bytes;
}

void KeySet::clear() {
  for (Shard& shard : shards_) shard = made(2);
}

}  // namespace lockstep
