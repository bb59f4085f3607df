// Programs without waiting atomics, for tools that know loops: a waiting atomic becomes the atomic itself and
// a branch back to it, unless it has read what it expects.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "spec/program/lowering.hpp"

namespace lockstep {

inline bool has_waiting_atomics(const Program& program) {
  return std::any_of(program.threads.begin(), program.threads.end(), [](const Thread& thread) {
    return std::any_of(thread.code.begin(), thread.code.end(), [](const Instruction& i) { return i.waits; });
  });
}

namespace lowering {

inline bool uses(const Instruction& i, std::int16_t r) {
  const auto is = [r](const Operand& o) { return o.is_register && o.value == r; };
  return is(i.a) || is(i.b) || is(i.index);
}

// A register that the thread did not have.
inline std::int16_t fresh_register(Thread& thread) {
  std::string name = "waited";
  while (std::find(thread.registers.begin(), thread.registers.end(), name) != thread.registers.end()) {
    name += "_";
  }
  thread.registers.push_back(name);
  thread.initial_values.push_back(0);
  return static_cast<std::int16_t>(thread.registers.size() - 1);
}

}  // namespace lowering

// The same program, claims included. Registers keep their numbers; new ones come after them.
inline Program without_waiting_atomics(Program program) {
  std::map<const Thread*, std::int16_t> fresh;  // of each thread that needs one
  return lowering::rewritten(std::move(program), [&](const lowering::Place& at, const Instruction& old,
                                                     std::vector<Instruction>& code) {
    code.push_back(old);
    if (!old.waits) return;
    // What it reads goes where nobody looks until it is what was expected.
    const bool own = old.destination >= 0 && !lowering::uses(old, old.destination);
    if (!own && !fresh.contains(&at.self)) fresh[&at.self] = lowering::fresh_register(at.self);
    Instruction& atomic = code.back();
    atomic.waits = false;
    atomic.destination = own ? old.destination : fresh[&at.self];
    if (old.opcode == Opcode::load) atomic.a = {};
    if (old.opcode == Opcode::rmw && old.rmw != RmwFunction::compare_swap) atomic.b = {};
    Instruction again;
    again.opcode = Opcode::branch;
    again.comparison = Comparison::not_equal;
    again.a = {true, atomic.destination};
    again.b = expected_value(old);
    again.target = lowering::written_place(code.size() - 1);
    again.place = old.place;
    code.push_back(again);
    if (own || old.destination < 0) return;
    Instruction hand_over;
    hand_over.opcode = Opcode::move;
    hand_over.destination = old.destination;
    hand_over.a = {true, fresh[&at.self]};
    hand_over.place = old.place;
    code.push_back(hand_over);
  });
}

}  // namespace lockstep
