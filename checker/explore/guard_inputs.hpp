// Which guards may say something else of a state than they said of another: those that look at something in
// which the two differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

// Bits of a state, packed or plain, next to each other.
struct BitRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

// A scalar of a state, memory.l1(0,1).present, and where it lies in it.
struct ScalarBits {
  std::string path;
  BitRange bits;
};

// Guards are numbered; a set of them is a bit each, in words.
class GuardInputs {
 public:
  GuardInputs() = default;
  // What each guard looks at, in states of that many words.
  GuardInputs(const std::vector<std::vector<BitRange>>& of_guards, std::size_t words);

  [[nodiscard]] bool empty() const { return set_words_ == 0; }
  [[nodiscard]] unsigned set_words() const { return set_words_; }
  // Adds the guards that look at something in which the two states differ; these are read as words.
  void add_touched(const void* before, const void* now, std::uint64_t* set) const;

 private:
  std::size_t words_ = 0;
  unsigned shift_ = 0;  // bits of a state are told apart in groups of so many bits' power of two
  unsigned set_words_ = 0;
  std::vector<std::uint64_t> readers_;  // by group: the guards that look at it
};

}  // namespace lockstep
