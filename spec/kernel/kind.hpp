// What a value kind offers to protocol code: the one list of what every reading has to mean something by.
// docs/kernel.md tells what each kind makes of it.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

#include "spec/kernel/index.hpp"

namespace lockstep {

namespace detail {

// Stand for any index type and any enumeration.
struct AnyTag {
  static constexpr std::string_view name = "any";
  static constexpr int capacity = 1;
  static constexpr bool interchangeable = true;
  static constexpr bool fixed = true;
};
enum class AnyEnum : std::uint8_t { only };

template <class T, class Bool>
concept ComparedFor = requires(const T& a, const T& b) {
  { a == b } -> std::same_as<Bool>;
  { a != b } -> std::same_as<Bool>;
};

}  // namespace detail

template <class K>
concept ValueKind = requires {
  typename K::Sizes;
  typename K::Bool;
  typename K::Number;
  typename K::Value;
  typename K::template Int<0, 1>;
  typename K::template Enum<detail::AnyEnum>;
  typename K::template Ix<detail::AnyTag>;
  typename K::template Maybe<detail::AnyTag>;
  typename K::template Table<typename K::Bool, detail::AnyTag>;
  typename K::template Array<typename K::Bool, detail::AnyTag>;
  typename K::template Fifo<typename K::Bool, detail::AnyTag>;
  typename K::template Map<detail::AnyTag, detail::AnyTag>;
  typename K::template Set<detail::AnyTag>;
}
&&requires(const K& k, const typename K::Bool& b, const typename K::Value& v, const typename K::Number& n,
           const typename K::template Ix<detail::AnyTag>& i) {
  // A Bool is combined and asked for with when and select; it is no bool, so that a bare `if` on state does
  // not compile.
  { b&& b } -> std::same_as<typename K::Bool>;
  { b || b } -> std::same_as<typename K::Bool>;
  { !b } -> std::same_as<typename K::Bool>;
  k.when(b, [] {});
  k.when(
      b, [] {}, [] {});
  { k.select(b, v, v) } -> std::same_as<typename K::Value>;
  { v + v } -> std::same_as<typename K::Value>;
  { v - v } -> std::same_as<typename K::Value>;
  { v* v } -> std::same_as<typename K::Value>;
  { v& v } -> std::same_as<typename K::Value>;
  { v | v } -> std::same_as<typename K::Value>;
  { v ^ v } -> std::same_as<typename K::Value>;
  { v < v } -> std::same_as<typename K::Bool>;
  { n + n } -> std::same_as<typename K::Number>;
  { n < n } -> std::same_as<typename K::Bool>;
  { k.template extent<detail::AnyTag>() } -> std::same_as<int>;
  { k.template constant<detail::AnyTag>(0) } -> std::same_as<typename K::template Ix<detail::AnyTag>>;
  { k.template same<detail::AnyTag>(i) } -> std::same_as<typename K::template Ix<detail::AnyTag>>;
  // Loops are pointwise, questions are quantified.
  k.for_each(detail::AnyTag{}, [](const auto&) {});
  {
    k.forall(detail::AnyTag{}, [](const auto&) { return typename K::Bool(true); })
    } -> std::same_as<typename K::Bool>;
  {
    k.exists(detail::AnyTag{}, [](const auto&) { return typename K::Bool(true); })
    } -> std::same_as<typename K::Bool>;
  k.at(detail::AnyTag{}, i, [](const auto&) {});
}
&&detail::ComparedFor<typename K::Bool, typename K::Bool>&& detail::ComparedFor<
    typename K::Value, typename K::Bool>&& detail::ComparedFor<typename K::Number, typename K::Bool>&&
        detail::ComparedFor<typename K::template Enum<detail::AnyEnum>, typename K::Bool>&&
            detail::ComparedFor<typename K::template Ix<detail::AnyTag>, typename K::Bool>&&
                detail::ComparedFor<typename K::template Maybe<detail::AnyTag>, typename K::Bool> &&
    !std::convertible_to<typename K::Bool, bool>;

}  // namespace lockstep
