// How renaming members of index types moves and changes the scalars of a packed state.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checker/explore/guard_inputs.hpp"
#include "checker/symmetry/normal_text.hpp"

namespace lockstep::symmetry {

constexpr std::uint32_t nowhere = ~std::uint32_t{0};

// A stored scalar.
struct Scalar {
  BitRange bits;
  std::string holds;   // the index type of which it holds a member; empty where it holds something else
  bool maybe = false;  // or none, which is 0, and members are one more
  // The rows that it lies in: of which index type, which member, and how many scalars on that of the next
  // lies.
  struct Row {
    std::string over;
    std::uint32_t member = 0;
    std::uint32_t stride = 0;
  };
  std::vector<Row> rows;
  // Within a queue: the scalar that counts its entries, and which of them it belongs to. What is behind the
  // last holds nothing, whatever members are called.
  std::uint32_t counted_by = nowhere;
  std::uint32_t slot = 0;
  // Of a message of which it may not be meant: the scalar that holds its kind, and which of those, a bit
  // each.
  std::uint32_t kind = nowhere;
  std::uint64_t not_meant_in = 0;
};

class PackedLayout {
 public:
  // Throws std::logic_error where the scalars are not those of what is described.
  PackedLayout(const recorded::WholeDescription& whole, const std::vector<ScalarBits>& scalars,
               const std::vector<NotMeant>& not_meant);

  [[nodiscard]] const std::vector<Scalar>& scalars() const { return scalars_; }
  // What a scalar's codes become, or none where they stay.
  [[nodiscard]] std::vector<std::uint8_t> codes(std::uint32_t scalar, const Renaming& renaming) const;
  // Where a scalar lies once members are renamed.
  [[nodiscard]] std::uint32_t target(std::uint32_t scalar, const Renaming& renaming) const;
  void unpack(const std::uint64_t* state, std::uint32_t* codes) const;
  // `state` is zeros.
  void pack(const std::uint32_t* codes, std::uint64_t* state) const;
  // A whole state, of that many words.
  void rename(const std::uint64_t* state, const Renaming& renaming, unsigned words, std::uint64_t* out) const;
  // Whether what a scalar holds is meant; `codes` are those of its state.
  [[nodiscard]] static bool is_meant(const Scalar& scalar, const std::uint32_t* codes) {
    return (scalar.counted_by == nowhere || scalar.slot < codes[scalar.counted_by]) &&
           (scalar.kind == nowhere || (scalar.not_meant_in >> codes[scalar.kind] & 1U) == 0);
  }

 private:
  std::vector<Scalar> scalars_;
};

}  // namespace lockstep::symmetry
