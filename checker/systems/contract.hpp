// What a system's header has to offer to be read, checked first and in words: without it an oversight in a
// struct Info would end deep in the templates that read it.
#pragma once

#include <concepts>
#include <span>
#include <string_view>

#include "spec/kernel/index.hpp"
#include "spec/kernel/rules.hpp"

namespace lockstep {

// A memory system, which runs programs; every other system is its own client.
template <class Info, template <class> class Kind, class Capacities = FullCapacities>
concept RunsPrograms = requires {
  typename Info::template Memory<Kind<typename Info::template Sizes<Capacities>>>;
};

template <class Info, template <class> class Kind>
consteval bool is_described() {
  static_assert(
      requires {
        { Info::name } -> std::convertible_to<std::string_view>;
        { Info::what } -> std::convertible_to<std::string_view>;
      },
      "struct Info needs a name and what the system is, as `static constexpr std::string_view name, what`");
  static_assert(
      requires {
        { Info::place } -> std::convertible_to<int>;
      },
      "struct Info needs its place among the systems, as `static constexpr int place`");
  static_assert(
      requires {
        std::span<const Fault>(Info::faults);
        std::span<const Variant>(Info::variants);
      },
      "struct Info needs `faults` and `variants`, arrays of Fault and of Variant");
  static_assert(
      requires(typename Info::template Sizes<FullCapacities> & sizes) { Info::default_sizes(sizes, 0); },
      "struct Info needs a template Sizes<Capacities> and a function default_sizes(sizes, variant)");
  static_assert(
      RunsPrograms<Info, Kind> ||
          requires { typename Info::template Closed<Kind<typename Info::template Sizes<FullCapacities>>>; },
      "struct Info needs its protocol, as a template Memory<K> (of a memory system) or Closed<K>");
  return true;
}

}  // namespace lockstep
