// Programs as threads issue them that do not wait for every access: in order, each access to a slot of its
// own, past those that are under way. What may overtake what there is for the memory system to say, which
// knows of each port the one before it (Machine::predecessor_of).
//
// A thread waits for a load where it uses what was read ("until a data dependency", Hechtman, thesis 2014,
// 3.3.4), or writes the register that it goes to, and for acquires and sc accesses, in front of the latter
// for all others as well. It goes back in its code when nothing is under way, and likewise where it has
// issued as many accesses as it may since that was last so. Paths that meet have slots of their own.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "spec/program/lowering.hpp"
#include "spec/program/program.hpp"
#include "spec/program/values.hpp"

namespace lockstep {

// What threads of GPUs do not wait for. Host threads wait for everything.
enum class Outstanding : std::uint8_t { none, stores, accesses };

namespace outstanding {

constexpr bool goes_back(const std::vector<Instruction>& code, std::size_t pc) {
  const Opcode opcode = code[pc].opcode;
  return (opcode == Opcode::branch || opcode == Opcode::jump) && code[pc].target <= static_cast<int>(pc);
}
constexpr bool asks_memory(const Instruction& i) {
  return i.opcode != Opcode::move && i.opcode != Opcode::arithmetic && i.opcode != Opcode::pause &&
         i.opcode != Opcode::branch && i.opcode != Opcode::jump && i.opcode != Opcode::assertion;
}

// Whether its thread may go on while the instruction's access is under way.
constexpr bool may_leave(const Instruction& i, Outstanding which) {
  if (which == Outstanding::none || !is_memory(i.opcode) || i.waits || i.order == Order::sc) return false;
  return i.opcode == Opcode::store || (which == Outstanding::accesses && !acquires(i.order));
}

// Registers as bits.
using Registers = std::uint64_t;
constexpr Registers bit(std::int32_t number) {
  return Registers{1} << (static_cast<unsigned>(number) % 64U);
}
constexpr Registers of_register(const Operand& o) {
  return o.is_register ? bit(o.value) : 0;
}
constexpr Registers written(const Instruction& i) {
  return i.destination < 0 ? 0 : bit(i.destination);
}
constexpr Registers touched(const Instruction& i) {
  return of_register(i.a) | of_register(i.b) | written(i);
}

// What may be under way in front of an instruction, whichever way led there.
struct Standing {
  std::size_t used = 0;                           // slots, in the order of the accesses
  std::array<Registers, most_slots> awaits = {};  // what each is to write
  [[nodiscard]] std::uint32_t all() const { return (std::uint32_t{1} << used) - 1; }
  void join(const Standing& other) {
    used = std::max(used, other.used);
    for (std::size_t s = 0; s < used; ++s) awaits[s] |= other.awaits[s];
  }
};

// Of each instruction: the slots that it waits for, as bits; those that it waits for when it goes back; and
// the one that it is handed to, 0 for none.
struct Issue {
  std::vector<std::uint32_t> awaited;
  std::vector<std::uint32_t> awaited_behind;
  std::vector<std::int16_t> slot;
  std::size_t slots = 0;
};

// An access behind which its thread asks memory for nothing may as well be waited for.
inline std::vector<bool> nothing_follows(const std::vector<Instruction>& code) {
  std::vector<bool> silent(code.size() + 1, true);
  for (std::size_t pc = code.size(); pc-- > 0;) {
    const Instruction& i = code[pc];
    const bool goes_on = i.opcode != Opcode::jump;
    silent[pc] = !asks_memory(i) && !goes_back(code, pc) && (!goes_on || silent[pc + 1]) &&
                 (i.target < 0 || silent[static_cast<std::size_t>(i.target)]);
  }
  return silent;
}

inline Issue issue_of(const std::vector<Instruction>& code, Outstanding which, std::size_t most) {
  Issue issue{std::vector<std::uint32_t>(code.size()), std::vector<std::uint32_t>(code.size()),
              std::vector<std::int16_t>(code.size()), 0};
  std::vector<Standing> standing(code.size() + 1);
  const std::vector<bool> silent = nothing_follows(code);
  std::size_t used = 0;  // ahead in the code, whichever path that is on
  for (std::size_t pc = 0; pc < code.size(); ++pc) {
    const Instruction& i = code[pc];
    Standing at = standing[pc];
    at.used = std::max(at.used, used);
    const bool leaves = may_leave(i, which) && !silent[pc + 1];
    std::uint32_t& awaited = issue.awaited[pc];
    for (std::size_t s = 0; s < at.used; ++s) {
      if ((at.awaits[s] & touched(i)) != 0) awaited |= std::uint32_t{1} << s;
    }
    const bool is_sc = is_memory(i.opcode) && i.order == Order::sc;
    if (is_sc || i.waits || (leaves && at.used == most)) awaited = at.all();
    if (awaited == at.all()) at = Standing{};
    for (std::size_t s = 0; s < at.used; ++s) {
      if (((awaited >> s) & 1U) != 0) at.awaits[s] = 0;
    }
    if (leaves) {
      at.awaits[at.used++] = written(i);
      issue.slot[pc] = static_cast<std::int16_t>(at.used);
      issue.slots = std::max(issue.slots, at.used);
    }
    // It is passed when nothing is under way.
    const bool idle = std::all_of(at.awaits.begin(), at.awaits.end(), [](Registers r) { return r == 0; });
    if (asks_memory(i) && !is_memory(i.opcode) && idle) at = Standing{};
    used = at.used;
    if (goes_back(code, pc)) {
      issue.awaited_behind[pc] = at.all();
    } else if (i.target >= 0) {
      standing[static_cast<std::size_t>(i.target)].join(at);
    }
    if (i.opcode != Opcode::jump) standing[pc + 1].join(at);
  }
  return issue;
}

inline Instruction await(std::uint32_t slots) {
  Instruction i;
  i.opcode = Opcode::await;
  i.a.value = static_cast<std::int32_t>(slots);
  return i;
}

}  // namespace outstanding

inline bool is_issued(const Program& program) {
  return std::any_of(program.threads.begin(), program.threads.end(),
                     [](const Thread& thread) { return thread.slots_from >= 0; });
}

// The same program with accesses handed to slots, at most so many of a thread, behind all threads. It has no
// slots yet.
inline Program with_outstanding(Program program, Outstanding which, int most) {
  std::vector<outstanding::Issue> issues;
  for (const Thread& thread : program.threads) {
    issues.push_back(outstanding::issue_of(thread.code, thread.placement.host ? Outstanding::none : which,
                                           static_cast<std::size_t>(most)));
  }
  const std::size_t threads = program.threads.size();
  program = lowering::rewritten(std::move(program), [&](const lowering::Place& at, const Instruction& old,
                                                        std::vector<Instruction>& code) {
    const outstanding::Issue& issue = issues[at.thread];
    if (issue.awaited[at.pc] != 0) code.push_back(outstanding::await(issue.awaited[at.pc]));
    const std::uint32_t behind = issue.awaited_behind[at.pc];
    if (behind != 0) {
      if (old.opcode == Opcode::branch) {
        Instruction skip = old;
        skip.comparison = opposite(old.comparison);
        skip.target = lowering::written_place(code.size() + 3);
        code.push_back(skip);
      }
      code.push_back(outstanding::await(behind));
      Instruction back;
      back.opcode = Opcode::jump;
      back.target = old.target;
      back.place = old.place;
      code.push_back(back);
      return;
    }
    code.push_back(old);
    code.back().slot = issue.slot[at.pc];
  });
  for (std::size_t t = 0; t < threads; ++t) {
    const std::size_t slots = issues[t].slots;
    if (slots == 0) continue;
    Thread& self = program.threads[t];
    self.code.push_back(outstanding::await((std::uint32_t{1} << slots) - 1));
    self.slots_from = static_cast<int>(program.threads.size());
    Thread slot;
    slot.placement = self.placement;
    slot.placement.kernel = -1;
    slot.slot_of = static_cast<int>(t);
    for (std::size_t n = 1; n <= slots; ++n) {
      slot.name = program.threads[t].name + "." + std::to_string(n);
      program.threads.push_back(slot);
    }
  }
  return program;
}

}  // namespace lockstep
