// Walking a state: every scalar field with its access path. Packing, printing and comparing are written once
// over these walks, for every protocol.
#pragma once

#include <boost/describe.hpp>
#include <boost/mp11.hpp>
#include <cstdint>
#include <string>
#include <type_traits>

namespace lockstep {

// Fields that a function of the rest of the state determines say so: they are not stored.
template <class X>
concept DerivedFields = requires { requires X::is_derived; };

template <class X>
concept Leaf = requires { requires X::is_leaf; };

template <class X>
concept Queue = requires(X x) {
  x.count;
  x.slots;
};

template <class X>
concept Described = boost::describe::has_describe_members<std::remove_cv_t<X>>::value;

template <class X, class F>
constexpr void for_each_member(X& x, F&& f) {
  using Members = boost::describe::describe_members<std::remove_cv_t<X>, boost::describe::mod_public>;
  boost::mp11::mp_for_each<Members>([&](auto member) { f(x.*member.pointer, member.name); });
}

// Calls f(leaf) for every stored scalar of x, always in one order.
template <class K, class X, class F>
constexpr void for_each_leaf(const K& k, X& x, F&& f) {
  using Plain = std::remove_cv_t<X>;
  if constexpr (Leaf<Plain>) {
    f(x);
  } else if constexpr (DerivedFields<Plain>) {
    return;
  } else if constexpr (Described<Plain>) {
    for_each_member(x, [&](auto& member, const char*) { for_each_leaf(k, member, f); });
  } else {
    if constexpr (Queue<Plain>) f(x.count);
    Plain::visit(k, x, [&](auto& row, auto...) { for_each_leaf(k, row, f); });
  }
}

// Calls f(leaf, path) for every stored scalar of x; paths read like C++: memory.l1(0,1).present.
template <class K, class X, class F>
void for_each_named_leaf(const K& k, X& x, const std::string& path, F&& f) {
  using Plain = std::remove_cv_t<X>;
  if constexpr (Leaf<Plain>) {
    f(x, path);
  } else if constexpr (DerivedFields<Plain>) {
    return;
  } else if constexpr (Described<Plain>) {
    for_each_member(x, [&](auto& member, const char* name) {
      for_each_named_leaf(k, member, path.empty() ? std::string(name) : path + "." + name, f);
    });
  } else {
    if constexpr (Queue<Plain>) f(x.count, path + ".count");
    Plain::visit(k, x, [&](auto& row, auto... index) {
      std::string at;
      ((at += (at.empty() ? "" : ",") + std::to_string(index.v)), ...);
      for_each_named_leaf(k, row, path + ("(" + at) + ")", f);
    });
  }
}

// ---- packing to the bit ----------------------------------------------------------------------------------

template <class K, class State>
constexpr unsigned packed_bits(const K& k) {
  unsigned bits = 0;
  State state{};
  for_each_leaf(k, state, [&](auto& leaf) { bits += leaf.bits(k); });
  return bits;
}

// Writes the state to consecutive words, lowest bits first; the last word is padded with zeros.
template <class K, class State>
inline void pack(const K& k, const State& state, std::uint64_t* words) {
  std::uint64_t accumulator = 0;
  unsigned used = 0;
  for_each_leaf(k, state, [&](const auto& leaf) {
    const unsigned bits = leaf.bits(k);
    const std::uint64_t code = leaf.encode(k);
    accumulator |= code << used;
    used += bits;
    if (used >= 64) {
      *words++ = accumulator;
      used -= 64;
      accumulator = used == 0 ? 0 : code >> (bits - used);
    }
  });
  if (used > 0) *words = accumulator;
}

template <class K, class State>
inline void unpack(const K& k, const std::uint64_t* words, State& state) {
  std::uint64_t window = *words;
  unsigned used = 0;
  for_each_leaf(k, state, [&](auto& leaf) {
    const unsigned bits = leaf.bits(k);
    std::uint64_t code = used < 64 ? window >> used : 0;
    if (used + bits > 64) {
      window = *++words;
      code |= used < 64 ? window << (64 - used) : window;
      used = used + bits - 64;
    } else {
      used += bits;
    }
    leaf.decode(k, bits == 0 ? 0 : code & (~std::uint64_t{0} >> (64 - bits)));
  });
}

}  // namespace lockstep
