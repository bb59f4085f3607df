#include "checker/explore/guard_inputs.hpp"

#include <bit>
#include <cstring>

namespace lockstep {

namespace {

constexpr unsigned word_bits = 64;
constexpr std::size_t first_cache_share = 16384;  // bytes of a table, so that it stays in it

}  // namespace

GuardInputs::GuardInputs(const std::vector<std::vector<BitRange>>& of_guards, std::size_t words)
    : words_(words), set_words_(static_cast<unsigned>((of_guards.size() + word_bits - 1) / word_bits)) {
  const auto groups = [&] { return ((words * word_bits - 1) >> shift_) + 1; };
  while (groups() * set_words_ * sizeof(std::uint64_t) > first_cache_share && groups() > 1) ++shift_;
  readers_.assign(groups() * set_words_, 0);
  for (std::size_t guard = 0; guard < of_guards.size(); ++guard) {
    for (const BitRange& range : of_guards[guard]) {
      if (range.count == 0) continue;
      for (std::size_t group = range.first >> shift_; group <= (range.first + range.count - 1) >> shift_;
           ++group)
        readers_[group * set_words_ + guard / word_bits] |= std::uint64_t{1} << guard % word_bits;
    }
  }
}

void GuardInputs::add_touched(const void* before, const void* now, std::uint64_t* set) const {
  const auto word = [](const void* state, std::size_t w) {
    std::uint64_t value = 0;
    std::memcpy(&value, static_cast<const std::byte*>(state) + w * sizeof value, sizeof value);
    return value;
  };
  const std::uint64_t group_bits = shift_ >= 6 ? ~std::uint64_t{0} : (std::uint64_t{1} << (1U << shift_)) - 1;
  for (std::size_t w = 0; w < words_; ++w) {
    for (std::uint64_t left = word(before, w) ^ word(now, w); left != 0;) {
      const std::size_t bit = w * word_bits + static_cast<std::size_t>(std::countr_zero(left));
      const std::size_t group = bit >> shift_;
      const std::uint64_t* const readers = &readers_[group * set_words_];
      for (unsigned i = 0; i < set_words_; ++i) set[i] |= readers[i];
      left = shift_ >= 6 ? 0 : left & ~(group_bits << ((group << shift_) % word_bits));
    }
  }
}

}  // namespace lockstep
