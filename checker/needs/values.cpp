#include "checker/needs/values.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <limits>

namespace lockstep {

namespace {

// How an instruction's result may leave the values that the program's text shows.
enum class Growth : std::uint8_t { none, by_constant, bitwise, unbounded };

Growth growth_of(const Instruction& i) {
  const bool constant = !i.a.is_register || !i.b.is_register;
  if (i.opcode == Opcode::arithmetic) {
    switch (i.arithmetic) {
      case ArithmeticFunction::minimum:
      case ArithmeticFunction::maximum:
      case ArithmeticFunction::equal:
      case ArithmeticFunction::not_equal:
      case ArithmeticFunction::less:
      case ArithmeticFunction::less_equal:
        return Growth::none;
      case ArithmeticFunction::bit_and:
      case ArithmeticFunction::bit_or:
      case ArithmeticFunction::bit_xor:
        return Growth::bitwise;
      case ArithmeticFunction::multiply:
        return Growth::unbounded;
      default:
        return constant ? Growth::by_constant : Growth::unbounded;
    }
  }
  if (i.opcode != Opcode::rmw) return Growth::none;
  switch (i.rmw) {
    case RmwFunction::add:
    case RmwFunction::subtract:
      return i.a.is_register ? Growth::unbounded : Growth::by_constant;
    case RmwFunction::increment:
      return Growth::none;  // wraps at its operand
    case RmwFunction::bit_and:
    case RmwFunction::bit_or:
    case RmwFunction::bit_xor:
      return Growth::bitwise;
    default:
      return Growth::none;
  }
}

std::int64_t magnitude(const Operand& o) {
  return o.is_register ? 0 : std::abs(std::int64_t{o.value});
}

constexpr std::int64_t most_arrivals_in_loops = 255;

bool loops(const Thread& thread) {
  for (std::size_t pc = 0; pc < thread.code.size(); ++pc) {
    const Instruction& i = thread.code[pc];
    if (i.target >= 0 && static_cast<std::size_t>(i.target) <= pc) return true;
  }
  return false;
}

}  // namespace

ValueRange values_of(const Program& program) {
  std::int64_t low = 0;
  std::int64_t high = 1;
  std::int64_t growth = 0;   // by sums with constants outside loops
  std::int64_t largest = 0;  // of these
  int sums = 0;
  bool mirrored = false;  // a difference has its constant on the left
  bool bitwise = false;
  bool unbounded = false;
  const auto see = [&](std::int64_t v) {
    low = std::min(low, v);
    high = std::max(high, v);
  };
  for (const Location& location : program.locations) see(location.initial_value);
  for (const Thread& thread : program.threads) {
    for (const std::int32_t v : thread.initial_values) see(v);
    const bool repeats = loops(thread);
    std::int64_t arrivals = 0;  // without waiting: they are counted (barriers.hpp)
    for (const Instruction& i : thread.code) {
      if (i.opcode == Opcode::barrier) {  // its operands are no data
        if (i.arrives_only) see(repeats ? most_arrivals_in_loops : ++arrivals);
        continue;
      }
      if (!i.a.is_register) see(i.a.value);
      if (!i.b.is_register) see(i.b.value);
      const Growth g = growth_of(i);
      bitwise |= g == Growth::bitwise;
      unbounded |= g == Growth::unbounded || (g == Growth::by_constant && repeats);
      if (g != Growth::by_constant) continue;
      const std::int64_t by = std::max(magnitude(i.a), magnitude(i.b));
      growth += by;
      largest = std::max(largest, by);
      ++sums;
      mirrored |=
          i.opcode == Opcode::arithmetic && i.arithmetic == ArithmeticFunction::subtract && i.b.is_register;
    }
  }
  const auto widen = [&](std::int64_t by) {
    if (by == 0 && !mirrored) return;
    const std::int64_t most = std::max(high, -low);
    high = (mirrored ? most : high) + by;
    low = mirrored ? -high : low - by;
  };
  // and, or and xor of values below a power of two stay below it.
  const auto close_under_bits = [&] {
    const auto ceiling =
        static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max(high + 1, -low))));
    high = ceiling - 1;
    if (low < 0) low = -ceiling;
  };
  if (bitwise) {
    close_under_bits();
    // Each sum may follow and precede others of either sort.
    for (int i = 0; i < sums && high < std::numeric_limits<std::int32_t>::max(); ++i) {
      widen(largest);
      close_under_bits();
    }
  } else {
    widen(growth);
  }
  if (unbounded) {
    low = std::min<std::int64_t>(low, std::numeric_limits<std::int16_t>::min());
    high = std::max<std::int64_t>(high, std::numeric_limits<std::int16_t>::max());
    if (bitwise) close_under_bits();
  }
  const auto clamp = [](std::int64_t v) {
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(v, std::numeric_limits<std::int32_t>::min(),
                                                              std::numeric_limits<std::int32_t>::max()));
  };
  return {clamp(low), clamp(high)};
}

}  // namespace lockstep
