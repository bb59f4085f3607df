// The truths of many terms on one state, all at once.
//
// What terms ask of single bytes is looked up, a row of answers for each value of a byte. The rest is
// computed as a list of numbers, each from those before it, and what terms are made of by and, or and not as
// a circuit: in both, equal parts stand once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "checker/footprint/terms.hpp"

namespace lockstep::footprint {

class Truths {
 public:
  using Signal = std::uint32_t;

  // Of terms of `terms`, which is to stay as it is.
  Truths(const Terms& terms, const std::vector<TermId>& asked);

  // Where the truth of the term that was asked for as the `i`th lies.
  [[nodiscard]] Signal signal(std::size_t i) const { return signal_of_[i]; }
  [[nodiscard]] std::size_t size() const { return size_; }

  // Room to work in: the truths, 0 or 1, by signal, and the numbers on the way.
  struct Room {
    std::vector<std::uint8_t> truths;
    std::vector<std::int64_t> numbers;
  };
  // Fills in every truth.
  void evaluate(const std::byte* state, Room& room) const;

 private:
  // Questions about one byte: `count` signals from `first` on. Row v of the answers, which are at `answers`,
  // is for value v, the last row for that and whatever is above.
  struct Table {
    std::uint32_t offset = 0;
    std::uint32_t last = 0;
    Signal first = 0;
    std::uint32_t count = 0;
    std::uint32_t answers = 0;
  };
  struct Gate {
    Signal a = 0;
    Signal b = 0;             // of a negation a again
    std::uint8_t any = 0;     // or, rather than and
    std::uint8_t turned = 0;  // and the other way round
  };
  // Its operands are numbers before it.
  struct Number {
    Term term;
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    std::uint32_t c = 0;
  };
  struct Other {
    Signal to = 0;
    std::uint32_t number = 0;
  };
  // While being built: what is asked of a byte, by its place.
  struct Asked {
    TermId term = 0;
    std::uint32_t highest = 0;  // constant that it is compared with
  };
  class Builder;

  const Terms* terms_;
  std::vector<Table> tables_;
  std::vector<std::uint8_t> answers_;
  std::vector<Number> numbers_;
  std::vector<Other> others_;
  std::vector<Gate> gates_;  // one after the other, from first_gate_ on
  Signal first_gate_ = 0;
  std::size_t size_ = 0;
  std::vector<Signal> signal_of_;
};

}  // namespace lockstep::footprint
