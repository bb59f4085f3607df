// Programs without waiting atomics, for tools that know loops: a waiting atomic becomes the atomic itself and
// a branch back to it, unless it has read what it expects.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "spec/program/program.hpp"

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

// Returns the new place of each old one, the end included.
inline std::vector<int> lower(Thread& thread) {
  std::vector<Instruction> code;
  std::vector<int> now;
  std::int16_t fresh = -1;
  for (const Instruction& old : thread.code) {
    now.push_back(static_cast<int>(code.size()));
    code.push_back(old);
    if (!old.waits) continue;
    // What it reads goes where nobody looks until it is what was expected.
    const bool own = old.destination >= 0 && !uses(old, old.destination);
    if (!own && fresh < 0) fresh = fresh_register(thread);
    Instruction& atomic = code.back();
    atomic.waits = false;
    atomic.destination = own ? old.destination : fresh;
    if (old.opcode == Opcode::load) atomic.a = {};
    if (old.opcode == Opcode::rmw && old.rmw != RmwFunction::compare_swap) atomic.b = {};
    Instruction again;
    again.opcode = Opcode::branch;
    again.comparison = Comparison::not_equal;
    again.a = {true, atomic.destination};
    again.b = expected_value(old);
    again.target = -2 - now.back();  // final already
    again.place = old.place;
    code.push_back(again);
    if (own || old.destination < 0) continue;
    Instruction hand_over;
    hand_over.opcode = Opcode::move;
    hand_over.destination = old.destination;
    hand_over.a = {true, fresh};
    hand_over.place = old.place;
    code.push_back(hand_over);
  }
  now.push_back(static_cast<int>(code.size()));
  for (Instruction& i : code) {
    if (i.target >= 0) {
      i.target = now[static_cast<std::size_t>(i.target)];
    } else if (i.target < -1) {
      i.target = -2 - i.target;
    }
  }
  thread.code = std::move(code);
  return now;
}

}  // namespace lowering

// The same program, claims included. Registers keep their numbers; new ones come after them.
inline Program without_waiting_atomics(Program program) {
  std::vector<std::vector<int>> now;
  now.reserve(program.threads.size());
  for (Thread& thread : program.threads) now.push_back(lowering::lower(thread));
  const auto move = [&](int thread, int& place) {
    place = now[static_cast<std::size_t>(thread)][static_cast<std::size_t>(place)];
  };
  for (Section& section : program.sections) {
    for (Stretch& stretch : section.stretches) {
      move(stretch.thread, stretch.begin);
      move(stretch.thread, stretch.end);
    }
  }
  for (Rendezvous& meeting : program.meetings) {
    for (Rendezvous::Participant& p : meeting.participants) {
      move(p.thread, p.arrive);
      move(p.thread, p.leave);
    }
  }
  return program;
}

}  // namespace lockstep
