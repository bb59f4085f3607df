// Expressions of a system at given sizes, with nothing left to choose: no parameters, no loops, every field
// at a known place of the state. Equal terms are one term.
//
// They are what a rule's recorded tree becomes once its parameters are chosen; footprints (footprint.hpp) are
// read off them, and they can be evaluated on a state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

namespace lockstep::footprint {

using TermId = std::uint32_t;
// A scalar of the state, or an aspect of a queue: what accesses name.
using Location = std::uint32_t;

enum class TermOp : std::uint8_t {
  constant,
  scalar,  // the value at a location
  empty,   // of a queue
  full,
  head,        // a scalar of a queue's first slot
  contains,    // children[0] is the predicate, spelt out over the slots
  slot,        // a scalar of some other slot
  lacks_slot,  // no entry at that position
  not_,
  and_,
  or_,
  equal,
  not_equal,
  less,
  less_equal,
  add,
  subtract,
  multiply,
  bit_and,
  bit_or,
  bit_xor,
  select,
};

struct Term {
  TermOp op = TermOp::constant;
  std::int64_t value = 0;    // of a constant; the position of a slot
  Location location = 0;     // of a scalar; of a queue's term the queue
  std::uint32_t place = 0;   // where the scalar, or the queue's count, lies: index into the places
  std::uint32_t extent = 0;  // of a full: the queue's capacity
  TermId a = 0;
  TermId b = 0;
  TermId c = 0;
  bool operator==(const Term&) const = default;
};

// Where a scalar lies in the plain struct.
struct Place {
  std::string path;  // as people read it: memory.l1(0,1).present
  std::size_t offset = 0;
  std::uint8_t bytes = 1;
  bool is_signed = false;
};

class Terms {
 public:
  explicit Terms(std::vector<Place> places) : places_(std::move(places)) {}

  [[nodiscard]] const Term& operator[](TermId id) const { return terms_[id]; }
  [[nodiscard]] std::size_t size() const { return terms_.size(); }
  [[nodiscard]] const std::vector<Place>& places() const { return places_; }

  TermId constant(std::int64_t value) { return intern({.op = TermOp::constant, .value = value}); }
  TermId intern(const Term& term);
  TermId negation(TermId a);
  TermId conjunction(TermId a, TermId b);
  TermId disjunction(TermId a, TermId b);
  TermId choice(TermId condition, TermId a, TermId b);
  TermId binary(TermOp op, TermId a, TermId b);

  [[nodiscard]] bool is_constant(TermId id) const { return terms_[id].op == TermOp::constant; }
  [[nodiscard]] bool is_true(TermId id) const { return is_constant(id) && terms_[id].value != 0; }
  [[nodiscard]] bool is_false(TermId id) const { return is_constant(id) && terms_[id].value == 0; }
  // The conjuncts of a term; none of a true one.
  void conjuncts(TermId id, std::vector<TermId>& out) const;

  // On a state of the run's plain struct.
  [[nodiscard]] std::int64_t evaluate(TermId id, const std::byte* state) const;

  // The value of a term on a state, from those of its operands; those that it lacks may be anything.
  [[nodiscard]] std::int64_t result(const Term& t, const std::byte* state, std::int64_t a, std::int64_t b,
                                    std::int64_t c) const;

  [[nodiscard]] std::int64_t value_at(std::uint32_t place, const std::byte* state) const {
    return read(place, state);
  }

 private:
  struct Hash {
    std::size_t operator()(const Term& t) const noexcept;
  };
  [[nodiscard]] std::int64_t read(std::uint32_t place, const std::byte* state) const;

  std::vector<Place> places_;
  std::vector<Term> terms_;
  std::unordered_map<Term, TermId, Hash> known_;
};

inline std::int64_t value_at(const Place& at, const std::byte* state) {
  switch (at.bytes) {
    case 1: {
      std::uint8_t v;
      std::memcpy(&v, state + at.offset, 1);
      return at.is_signed ? std::int64_t{static_cast<std::int8_t>(v)} : std::int64_t{v};
    }
    case 2: {
      std::uint16_t v;
      std::memcpy(&v, state + at.offset, 2);
      return at.is_signed ? std::int64_t{static_cast<std::int16_t>(v)} : std::int64_t{v};
    }
    default: {
      std::int32_t v;
      std::memcpy(&v, state + at.offset, 4);
      return v;
    }
  }
}

inline std::int64_t Terms::read(std::uint32_t place, const std::byte* state) const {
  return footprint::value_at(places_[place], state);
}

// What an operator makes of two numbers.
inline std::int64_t computed(TermOp op, std::int64_t a, std::int64_t b) {
  const auto wrapped = [](std::int64_t n) {
    return std::int64_t{static_cast<std::int32_t>(static_cast<std::uint32_t>(n))};
  };
  switch (op) {
    case TermOp::and_:
      return a != 0 && b != 0 ? 1 : 0;
    case TermOp::or_:
      return a != 0 || b != 0 ? 1 : 0;
    case TermOp::equal:
      return a == b ? 1 : 0;
    case TermOp::not_equal:
      return a != b ? 1 : 0;
    case TermOp::less:
      return a < b ? 1 : 0;
    case TermOp::less_equal:
      return a <= b ? 1 : 0;
    case TermOp::add:
      return wrapped(a + b);
    case TermOp::subtract:
      return wrapped(a - b);
    case TermOp::multiply:
      return wrapped(a * b);
    case TermOp::bit_and:
      return a & b;
    case TermOp::bit_or:
      return a | b;
    case TermOp::bit_xor:
      return a ^ b;
    default:
      return 0;
  }
}

inline std::int64_t Terms::result(const Term& t, const std::byte* state, std::int64_t a, std::int64_t b,
                                  std::int64_t c) const {
  switch (t.op) {
    case TermOp::constant:
      return t.value;
    case TermOp::scalar:
    case TermOp::head:
    case TermOp::slot:
      return read(t.place, state);
    case TermOp::empty:
      return read(t.place, state) == 0 ? 1 : 0;
    case TermOp::full:
      return read(t.place, state) >= std::int64_t{t.extent} ? 1 : 0;
    case TermOp::lacks_slot:
      return read(t.place, state) <= t.value ? 1 : 0;
    case TermOp::contains:
      return a;
    case TermOp::not_:
      return a == 0 ? 1 : 0;
    case TermOp::select:
      return a != 0 ? b : c;
    default:
      return computed(t.op, a, b);
  }
}

}  // namespace lockstep::footprint
