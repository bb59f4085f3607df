// What a protocol is built with: which of its variants, and which of its faults. Each is one list, whose
// entries are known by their names and by nothing else:
//   inline constexpr std::array faults{Fault{"keep-copy", "..."}, ...};
//   inline constexpr std::array variants{Variant{"default", "..."}, ...};
// A protocol derives from what takes a choice of them, and asks `fault("keep-copy")` or `is("default")`. The
// name is looked up when the protocol is compiled, so that one that is not in the list does not compile; what
// runs is a test of a bit, or of a number, that is constant.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "spec/kernel/rules.hpp"

namespace lockstep {

namespace detail {
// Not to be called when the program runs, so that a call ends the compilation with this name and `name`.
void this_name_is_not_in_the_list(const char* name);
}  // namespace detail

// The name of an entry of `list`, or of the list that follows `first` others.
template <const auto& list, unsigned first = 0>
struct NameIn {
  unsigned position = first;

  consteval NameIn(const char* name) {
    for (const auto& entry : list) {
      if (entry.name == std::string_view(name)) return;
      ++position;
    }
    detail::this_name_is_not_in_the_list(name);
  }
  friend constexpr bool operator==(int number, NameIn name) {
    return number == static_cast<int>(name.position);
  }
};

// The faults of a system with a front: the front's own, then those of what stands behind it.
template <std::size_t Own, std::size_t Behind>
constexpr auto faults_with(const std::array<Fault, Own>& own, const std::array<Fault, Behind>& behind) {
  std::array<Fault, Own + Behind> all{};
  std::copy(own.begin(), own.end(), all.begin());
  std::copy(behind.begin(), behind.end(), all.begin() + Own);
  return all;
}

// For protocols that have none of the one and the standard of the other.
inline constexpr std::array<Fault, 0> no_faults{};
inline constexpr std::array only_variant{Variant{"default", "the only one"}};

// `first_fault`: how many faults of others come ahead of these.
template <const auto& faults, const auto& variants = only_variant, unsigned first_fault = 0>
struct Choice {
  using FaultName = NameIn<faults, first_fault>;
  using VariantName = NameIn<variants>;

  std::uint64_t fault_bits = 0;
  int variant = 0;

  [[nodiscard]] bool fault(FaultName name) const { return ((fault_bits >> name.position) & 1U) != 0; }
  [[nodiscard]] bool is(VariantName name) const { return variant == name; }
};

// A system that is closed, its clients being part of it.
template <class KindType, const auto& faults, const auto& variants = only_variant>
struct ClosedSystem : Choice<faults, variants> {
  using Kind = KindType;

  Kind k;

  explicit ClosedSystem(Kind kind = {}, std::uint64_t fault_bits = 0, int variant = 0)
      : Choice<faults, variants>{fault_bits, variant}, k(std::move(kind)) {}

  [[nodiscard]] const Kind& kind() const { return k; }
};

// What readers ask of a system's description.
template <const auto& its_faults, const auto& its_variants = only_variant>
struct SystemInfo {
  static constexpr auto& faults = its_faults;
  static constexpr auto& variants = its_variants;
};

}  // namespace lockstep
