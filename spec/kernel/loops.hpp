// Loops over what is present: the rows of a table that differ from the default row.
//
//   for_each_present(k, slice(s.l1, c, blocks), [&](Block b) { ... });
//
// visits the blocks of CU c in l1. A kind that keeps its tables sparse visits only those; every other kind
// visits all, so the body has to do nothing (or be false) where the row is absent.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "spec/kernel/index.hpp"

namespace lockstep {

// Part of a table: for each of its index types either one member, or the tag, which stands for all.
template <class Table, class... Where>
struct Slice {
  const Table& table;
  std::tuple<Where...> where;
};
template <class Table, class... Where>
Slice<Table, Where...> slice(const Table& table, const Where&... where) {
  return {table, {where...}};
}

namespace detail {

template <class K, class F>
constexpr void for_each_of(const K&, F&& f, std::tuple<>) {
  f();
}
template <class K, class F, class First, class... Rest>
constexpr void for_each_of(const K& k, F&& f, const std::tuple<First, Rest...>& where) {
  const auto rest = std::apply([](const auto&, const auto&... r) { return std::tuple(r...); }, where);
  if constexpr (IndexTag<First>) {
    k.for_each(First{}, [&](const auto& i) {
      for_each_of(
          k, [&](const auto&... others) { f(i, others...); }, rest);
    });
  } else {
    for_each_of(k, f, rest);
  }
}
template <class K, class F>
constexpr auto exists_of(const K&, F&& f, std::tuple<>) {
  return f();
}
template <class K, class F, class First, class... Rest>
constexpr typename K::Bool exists_of(const K& k, F&& f, const std::tuple<First, Rest...>& where) {
  const auto rest = std::apply([](const auto&, const auto&... r) { return std::tuple(r...); }, where);
  if constexpr (IndexTag<First>) {
    return k.exists(First{}, [&](const auto& i) {
      return exists_of(
          k, [&](const auto&... others) { return f(i, others...); }, rest);
    });
  } else {
    return exists_of(k, f, rest);
  }
}

}  // namespace detail

template <class K, class Table, class... Where, class F>
constexpr void for_each_present(const K& k, const Slice<Table, Where...>& s, F&& f) {
  if constexpr (requires { s.table.for_each_present(f, std::declval<const Where&>()...); }) {
    std::apply([&](const auto&... w) { s.table.for_each_present(f, w...); }, s.where);
  } else {
    detail::for_each_of(k, f, s.where);
  }
}
template <class K, class Table, class... Where, class F>
constexpr typename K::Bool exists_present(const K& k, const Slice<Table, Where...>& s, F&& f) {
  if constexpr (requires { s.table.exists_present(f, std::declval<const Where&>()...); }) {
    return std::apply([&](const auto&... w) { return s.table.exists_present(f, w...); }, s.where);
  } else {
    return detail::exists_of(k, f, s.where);
  }
}

}  // namespace lockstep
