#include "checker/needs/slots.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "checker/support/diagnostic.hpp"

namespace lockstep {

namespace {

std::size_t first_slot(const Program& program, std::size_t thread) {
  const int from = program.threads[thread].slots_from;
  return from < 0 ? thread + 1 : static_cast<std::size_t>(from);
}

int slots_of(const Program& program, std::size_t thread) {
  const std::size_t first = first_slot(program, thread);
  std::size_t end = first;
  while (end < program.threads.size() && program.threads[end].slot_of == static_cast<int>(thread)) ++end;
  return static_cast<int>(end - first);
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
  for (std::size_t t = 0; t < program.threads.size(); ++t) {
    const Thread& thread = program.threads[t];
    if (thread.slot_of >= 0) {
      const auto self = static_cast<std::size_t>(thread.slot_of);
      const std::size_t first = self < t ? first_slot(program, self) : t + 1;
      const bool its_own = first <= t && t < first + static_cast<std::size_t>(slots_of(program, self));
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
