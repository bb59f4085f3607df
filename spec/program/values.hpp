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

// What holds where the comparison does not.
constexpr Comparison opposite(Comparison c) {
  switch (c) {
    case Comparison::equal:
      return Comparison::not_equal;
    case Comparison::not_equal:
      return Comparison::equal;
    case Comparison::less:
      return Comparison::greater_equal;
    case Comparison::greater_equal:
      return Comparison::less;
    case Comparison::greater:
      return Comparison::less_equal;
    case Comparison::less_equal:
      return Comparison::greater;
  }
  return c;
}

// The order of words without a sign.
template <class Value>
auto unsigned_less(const Value& a, const Value& b) -> decltype(a < b) {
  const auto signs_differ = (a < Value(0)) != (b < Value(0));
  return (a < b) != signs_differ;
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
  result = k.select(is(RmwFunction::increment),
                    k.select(unsigned_less(old, Value(request.a)), old + Value(1), Value(0)), result);
  result = k.select(
      is(RmwFunction::decrement),
      k.select(old == Value(0) || unsigned_less(Value(request.a), old), Value(request.a), old - Value(1)),
      result);
  result = k.select(is(RmwFunction::bit_and), old & request.a, result);
  result = k.select(is(RmwFunction::bit_or), old | request.a, result);
  result = k.select(is(RmwFunction::bit_xor), old ^ request.a, result);
  result = k.select(is(RmwFunction::minimum), k.select(old < request.a, old, request.a), result);
  result = k.select(is(RmwFunction::maximum), k.select(old < request.a, request.a, old), result);
  result = k.select(is(RmwFunction::minimum_unsigned),
                    k.select(unsigned_less(old, Value(request.a)), old, Value(request.a)), result);
  result = k.select(is(RmwFunction::maximum_unsigned),
                    k.select(unsigned_less(old, Value(request.a)), Value(request.a), old), result);
  return result;
}

// ---- Updates that commute ---------------------------------------------------------------------------------

// A run of updates of one word by one function can be held as one value and performed at once. For `inc` and
// `dec`, which have to be of one bound, it is their number beyond the first, counted modulo the bound plus
// one; for `sub` the sum of what is taken off; for the others what the function makes of the operands.
template <class E>
auto commutes(const E& function) {
  return function != RmwFunction::exchange && function != RmwFunction::compare_swap;
}
// Whether the operand is a bound, part of what is done instead of what it is done with.
template <class E>
auto is_bounded(const E& function) {
  return function == RmwFunction::increment || function == RmwFunction::decrement;
}

template <class Function, class Value>
struct Update {
  Function function;
  Value a;
  Value b;
};

// A run of one update.
template <class K, class Request>
typename K::Value first_of_run(const K& k, const Request& request) {
  using Value = typename K::Value;
  return k.select(is_bounded(request.function), Value(0), Value(request.a));
}
// The run with one update more.
template <class K, class Request>
typename K::Value longer_run(const K& k, const Request& request, const typename K::Value& run) {
  using Value = typename K::Value;
  const Value counted = k.select(run == Value(request.a), Value(0), run + Value(1));
  const Value other = k.select(request.function == RmwFunction::subtract, run + Value(request.a),
                               rmw_result(k, request, run));
  return k.select(is_bounded(request.function), counted, other);
}
// What a run leaves in memory; `bound` is that of inc and dec.
template <class K>
typename K::Value run_result(const K& k, const typename K::template Enum<RmwFunction>& function,
                             const typename K::Value& bound, const typename K::Value& run,
                             const typename K::Value& old) {
  using Value = typename K::Value;
  using Function = typename K::template Enum<RmwFunction>;
  const Value once_up = k.select(unsigned_less(old, bound), old + Value(1), Value(0));
  const Value up = k.select(bound - once_up < run, once_up + run - bound - Value(1), once_up + run);
  const Value once_down = k.select(old == Value(0) || unsigned_less(bound, old), bound, old - Value(1));
  const Value down = k.select(once_down < run, once_down - run + bound + Value(1), once_down - run);
  const Value other = rmw_result(k, Update<Function, Value>{function, run, Value(0)}, old);
  return k.select(function == RmwFunction::increment, up,
                  k.select(function == RmwFunction::decrement, down, other));
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
