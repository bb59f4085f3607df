// Programs that memory systems run, of those that only models know. An access to an element that a register
// names becomes an access to each, behind a branch, and the run fails where there is no such element: threads
// of memory systems execute in order, so that what an address depends on makes no difference to them. And
// where a compare-and-swap that may fail without cause tells whether it did, here it does so for cause alone,
// as any machine may, and the value that it read tells.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "spec/program/lowering.hpp"

namespace lockstep {

inline bool needs_lowering(const Program& program) {
  return std::any_of(program.threads.begin(), program.threads.end(), [](const Thread& thread) {
    return std::any_of(thread.code.begin(), thread.code.end(),
                       [](const Instruction& i) { return i.index.is_register || i.status >= 0; });
  });
}

namespace lowering {

inline void tell_success(const Instruction& swap, std::vector<Instruction>& code) {
  if (swap.status < 0) return;
  Instruction compare;
  compare.opcode = Opcode::arithmetic;
  compare.arithmetic = ArithmeticFunction::equal;
  compare.destination = swap.status;
  compare.a = {true, swap.destination};
  compare.b = swap.a;
  compare.place = swap.place;
  code.push_back(compare);
}

}  // namespace lowering

// The same program, claims included; registers keep their numbers.
inline Program lowered_for_systems(Program program, lowering::Origins* origins = nullptr) {
  const std::vector<Location> locations = program.locations;
  return lowering::rewritten(
      std::move(program),
      [&](const lowering::Place&, const Instruction& old, std::vector<Instruction>& code) {
        Instruction access = old;
        access.status = -1;
        if (!old.index.is_register) {
          code.push_back(access);
          lowering::tell_success(old, code);
          return;
        }
        const std::int32_t elements = std::max(1, locations[static_cast<std::size_t>(old.location)].array);
        std::vector<std::size_t> ends;
        for (std::int32_t element = 0; element < elements; ++element) {
          const bool last = element + 1 == elements;
          Instruction test;
          test.opcode = last ? Opcode::assertion : Opcode::branch;
          test.comparison = last ? Comparison::equal : Comparison::not_equal;
          test.a = old.index;
          test.b = {false, element};
          test.place = old.place;
          const std::size_t behind = code.size() + 3;  // the access and a jump
          if (!last) test.target = lowering::written_place(behind);
          code.push_back(test);
          access.index = {};
          access.location = old.location + element;
          code.push_back(access);
          if (last) continue;
          Instruction leave;
          leave.opcode = Opcode::jump;
          leave.place = old.place;
          ends.push_back(code.size());
          code.push_back(leave);
        }
        for (const std::size_t jump : ends) code[jump].target = lowering::written_place(code.size());
        lowering::tell_success(old, code);
      },
      origins);
}

}  // namespace lockstep
