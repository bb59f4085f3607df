// What a kernel does, step by step, on all lanes of a wave at once: C as it was written, with the lanes that
// a branch leaves out masked.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checker/language/kernel_syntax.hpp"
#include "checker/language/text.hpp"
#include "spec/program/program.hpp"

namespace lockstep::kernels {

inline constexpr int wave_lanes = 64;
// A value of each lane.
using Vector = std::array<std::int32_t, wave_lanes>;
using Mask = std::uint64_t;

template <class F>
void for_each_lane(Mask lanes, F&& f) {
  for (; lanes != 0; lanes &= lanes - 1) f(static_cast<std::size_t>(std::countr_zero(lanes)));
}

enum class Act : std::uint8_t {
  constant,  // to <- n
  copy,      // to <- a, where lanes are active
  compute,   // to <- a (calculation) b
  random,    // to <- a number from 0 to below a, another for each lane
  load,      // to <- array n, element a
  store,     // array n, element a <- b
  update,    // to, if any, <- array n, element a; that <- rmw(that, b, c)
  fence,
  barrier,
  pass_time,  // a cycles
  begin_if,   // lanes where a is not 0 go on; where there is none, at n
  otherwise,  // the others of them; likewise
  end_if,
  begin_loop,
  test,        // lanes where a is not 0 stay in the loop; where there is none, go on behind its end at n
  next_round,  // lanes that have gone on to it are back
  repeat,      // at n
  leave,       // break, continue and return
  proceed,
  end,
  launch,  // kernel n, of a work-items in groups of b; further arguments in c, c + 1, ...
};

enum class Calculation : std::uint8_t {
  add,
  subtract,
  multiply,
  divide,
  remainder,
  shift_left,
  shift_right,
  bit_and,
  bit_or,
  bit_xor,
  minimum,
  maximum,
  equal,
  not_equal,
  less,
  less_equal,
};

struct Step {
  Act act = Act::constant;
  Calculation calculation = Calculation::add;
  RmwFunction rmw = RmwFunction::exchange;
  Order order = Order::plain;
  Scope scope = Scope::agent;
  std::int16_t to = -1;  // registers; -1: none
  std::int16_t a = -1;
  std::int16_t b = -1;
  std::int16_t c = -1;
  std::int32_t n = 0;
  SourcePlace place;
};

// An array that kernels name.
struct ArrayName {
  std::string name;
  std::int32_t size = 0;
  bool local = false;   // each work-group has its own
  bool padded = false;  // each element has a word of its own
};

struct Constant {
  std::string name;
  std::int32_t value = 0;
};

// What names mean, and what a function may do.
struct Names {
  std::vector<Constant> constants;
  std::vector<ArrayName> arrays;
  std::vector<std::string> kernels;     // that may be launched
  std::vector<std::size_t> parameters;  // of each of them: how many
  std::vector<std::string_view>
      given;               // of the function at hand: registers that have a value, the first ones
  bool is_kernel = false;  // may access arrays, and asks who it is
  bool may_launch = false;
  bool may_draw = false;  // random numbers
};

// The registers that tell a lane who it is, before those of its parameters.
enum Identity : std::int16_t {
  global_id,
  local_id,
  group_id,
  global_size,
  local_size,
  groups,
  identity_registers
};

struct LaneCode {
  std::string name;
  std::vector<Step> steps;
  int registers = 0;
  std::int16_t result = -1;  // of an expression
  bool meets = false;        // has barriers, or memory of its work-group
};

// Throws BadInput with the place of what is not understood.
LaneCode code_of_function(const litmus::Source& source, std::string name, const litmus::Kernel& kernel,
                          const Names& names);
LaneCode code_of_expression(const litmus::Source& source, const litmus::Kernel& kernel,
                            std::size_t expression, const Names& names);

}  // namespace lockstep::kernels
