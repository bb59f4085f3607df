// What instructions compute, said once for every kind of value and for plain numbers.
#pragma once

#include <cstdint>

#include "spec/program/program.hpp"

namespace lockstep {

template <class K, class Value>
Value compute(const K& k, ArithmeticFunction f, const Value& a, const Value& b) {
  switch (f) {
    case ArithmeticFunction::add:
      return a + b;
    case ArithmeticFunction::subtract:
      return a - b;
    case ArithmeticFunction::multiply:
      return a * b;
    case ArithmeticFunction::bit_and:
      return a & b;
    case ArithmeticFunction::bit_or:
      return a | b;
    case ArithmeticFunction::bit_xor:
      return a ^ b;
    case ArithmeticFunction::minimum:
      return k.select(a < b, a, b);
    case ArithmeticFunction::maximum:
      return k.select(a < b, b, a);
    case ArithmeticFunction::equal:
      return k.select(a == b, Value(1), Value(0));
    case ArithmeticFunction::not_equal:
      return k.select(a == b, Value(0), Value(1));
    case ArithmeticFunction::less:
      return k.select(a < b, Value(1), Value(0));
    case ArithmeticFunction::less_equal:
      return k.select(b < a, Value(0), Value(1));
  }
  return a;
}

template <class Value>
auto compare(Comparison c, const Value& a, const Value& b) -> decltype(a == b) {
  switch (c) {
    case Comparison::equal:
      return a == b;
    case Comparison::not_equal:
      return a != b;
    case Comparison::less:
      return a < b;
    case Comparison::greater_equal:
      return a >= b;
    case Comparison::greater:
      return b < a;
    case Comparison::less_equal:
      return b >= a;
  }
  return a == b;
}

// What an RMW leaves in memory, given the old value and its operands (program.hpp, RmwFunction).
template <class K, class Request>
typename K::Value rmw_result(const K& k, const Request& request, const typename K::Value& old) {
  using Value = typename K::Value;
  const auto is = [&](RmwFunction f) { return request.function == f; };
  Value result = request.a;
  result = k.select(is(RmwFunction::compare_swap), k.select(old == request.a, request.b, old), result);
  result = k.select(is(RmwFunction::add), old + request.a, result);
  result = k.select(is(RmwFunction::subtract), old - request.a, result);
  result = k.select(is(RmwFunction::increment), k.select(old >= request.a, Value(0), old + Value(1)), result);
  result = k.select(is(RmwFunction::bit_and), old & request.a, result);
  result = k.select(is(RmwFunction::bit_or), old | request.a, result);
  result = k.select(is(RmwFunction::bit_xor), old ^ request.a, result);
  result = k.select(is(RmwFunction::minimum), k.select(old < request.a, old, request.a), result);
  result = k.select(is(RmwFunction::maximum), k.select(old < request.a, request.a, old), result);
  return result;
}

// Plain numbers, for readers that run a program without a memory system. Their results are cut to registers
// by `to_register`.
struct Numbers {
  using Value = std::int64_t;
  static Value select(bool condition, Value a, Value b) { return condition ? a : b; }
};

// Registers have 32 bits and wrap.
constexpr std::int32_t to_register(std::int64_t value) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::uint64_t>(value)));
}

inline std::int32_t compute(ArithmeticFunction f, std::int32_t a, std::int32_t b) {
  return to_register(compute(Numbers{}, f, std::int64_t{a}, std::int64_t{b}));
}

}  // namespace lockstep
