#include "checker/needs/slots.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "checker/support/diagnostic.hpp"

namespace lockstep {

namespace {

int slots_of(const Program& program, int thread) {
  const int first = first_slot(program, thread);
  const int threads = static_cast<int>(program.threads.size());
  int end = first;
  while (end < threads && program.threads[static_cast<std::size_t>(end)].slot_of == thread) ++end;
  return end - first;
}

void check_instruction(const Program& program, const Thread& thread, const Instruction& i, int slots) {
  const bool fits = is_memory(i.opcode) && !i.waits && i.slot <= slots;
  if (i.slot < 0 || (i.slot > 0 && !fits))
    throw BadInput(
        fmt::format("'{}' of '{}' hands slot {} what it cannot perform", thread.name, program.name, i.slot),
        fmt::format("its slots are 1 to {}, and perform loads, stores and RMWs that do not wait", slots));
  if (slots > 0 && i.target >= static_cast<std::int32_t>(thread.code.size()))
    throw BadInput(fmt::format("'{}' of '{}' may end before its slots have", thread.name, program.name),
                   "only from its last instruction, which awaits all of them, may it come to its end");
}

void check_end(const Program& program, const Thread& thread, int slots) {
  const std::uint32_t all = (std::uint32_t{1} << slots) - 1;
  const bool awaited = !thread.code.empty() && thread.code.back().opcode == Opcode::await &&
                       (static_cast<std::uint32_t>(thread.code.back().a.value) & all) == all;
  if (!awaited)
    throw BadInput(fmt::format("'{}' of '{}' may end before its slots have", thread.name, program.name),
                   "its last instruction has to await all of them");
}

}  // namespace

void check_slots(const Program& program) {
  for (int t = 0; t < static_cast<int>(program.threads.size()); ++t) {
    const Thread& thread = program.threads[static_cast<std::size_t>(t)];
    if (thread.slot_of >= 0) {
      const int self = thread.slot_of;
      const int first = self < t ? first_slot(program, self) : t + 1;
      const bool its_own = first <= t && t < first + slots_of(program, self);
      if (!its_own || !thread.code.empty())
        throw BadInput(
            fmt::format("'{}' of '{}' is not among the slots of its thread", thread.name, program.name));
      continue;
    }
    const int slots = slots_of(program, t);
    if (slots > most_slots)
      throw BadInput(fmt::format("'{}' of '{}' has {} slots, and at most {} can be awaited", thread.name,
                                 program.name, slots, most_slots));
    for (const Instruction& i : thread.code) check_instruction(program, thread, i, slots);
    if (slots > 0) check_end(program, thread, slots);
  }
}

void refuse_slots(const Program& program, std::string_view why) {
  const auto beyond = [](const Instruction& i) {
    const bool edge = i.opcode == Opcode::kernel_begin || i.opcode == Opcode::kernel_end;
    return i.slot > 0 || i.opcode == Opcode::dispatch || i.opcode == Opcode::await ||
           (edge && i.scope != Scope::system);
  };
  for (const Thread& thread : program.threads) {
    if (thread.slot_of >= 0 || std::any_of(thread.code.begin(), thread.code.end(), beyond))
      throw BadInput(
          fmt::format("'{}' has accesses in slots, or dispatches waves, and {}", program.name, why));
  }
}

}  // namespace lockstep
