// Values along one way through a thread's code, before it is known what its reads find: numbers, and terms
// over those reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "spec/program/program.hpp"

namespace lockstep {

// A number, or a term by its index.
struct PathValue {
  bool known = true;
  std::int32_t is = 0;
  bool operator==(const PathValue&) const = default;
};

// The terms of a thread. The first are what the events at those positions of a path have read.
class Terms {
 public:
  using Bits = std::uint64_t;  // reads, by their position
  static constexpr std::int32_t positions = 64;

  static PathValue read(std::size_t position) { return {false, static_cast<std::int32_t>(position)}; }
  PathValue arithmetic(ArithmeticFunction function, PathValue a, PathValue b);
  // What an RMW leaves of `old` where it succeeds.
  PathValue rmw(RmwFunction function, PathValue old, PathValue a, PathValue b);

  [[nodiscard]] Bits reads(PathValue v) const {
    if (v.known) return 0;
    return v.is < positions ? Bits{1} << v.is : at(v.is).reads;
  }
  [[nodiscard]] std::size_t size() const { return terms_.size() + static_cast<std::size_t>(positions); }

 private:
  friend class Evaluation;
  struct Term {
    bool is_rmw = false;
    ArithmeticFunction arithmetic = ArithmeticFunction::add;
    RmwFunction rmw = RmwFunction::exchange;
    PathValue first;
    PathValue second;
    Bits reads = 0;

    [[nodiscard]] std::int32_t of(std::int32_t a, std::int32_t b) const;
  };
  [[nodiscard]] const Term& at(std::int32_t index) const {
    return terms_[static_cast<std::size_t>(index - positions)];
  }
  PathValue add(Term term);
  std::vector<Term> terms_;
};

// What terms come to, given what the reads in them found.
class Evaluation {
 public:
  // Nothing is set. To be called again when there are more terms.
  void begin(const Terms& terms);
  void set(int position, std::int32_t value) {
    value_[static_cast<std::size_t>(position)] = value;
    ++now_;
  }
  // All reads of the value have been set.
  std::int32_t operator()(PathValue v);

 private:
  const Terms* terms_ = nullptr;
  std::vector<std::int32_t> value_;
  std::vector<std::uint64_t> known_at_;  // of what is no read: when it was computed
  std::uint64_t now_ = 0;
};

// What a path asks of its reads: that one of some comparisons holds.
struct PathCondition {
  struct Compared {
    Comparison comparison;
    PathValue a;
    PathValue b;
  };
  std::vector<Compared> any;
  Terms::Bits reads = 0;

  bool holds(Evaluation& evaluation) const;
};

}  // namespace lockstep
