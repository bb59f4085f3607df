#include "checker/needs/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "checker/needs/slots.hpp"
#include "checker/support/diagnostic.hpp"

namespace lockstep {

PlacementTable place(const Program& program) {
  PlacementTable table;
  std::map<std::pair<int, int>, int> cu_of_group;
  std::map<int, int> agent_number;
  for (const Thread& thread : program.threads) {
    const Placement& at = thread.placement;
    table.registers = std::max(
        table.registers, thread.slot_of >= 0 ? registers_of_slot : static_cast<int>(thread.registers.size()));
    table.host.push_back(at.host);
    if (at.host) {
      table.cu_of_thread.push_back(0);
      continue;
    }
    const auto agent =
        agent_number.try_emplace(at.agent, static_cast<int>(agent_number.size())).first->second;
    const auto [cu, fresh] = cu_of_group.try_emplace({at.agent, at.wg}, static_cast<int>(cu_of_group.size()));
    if (fresh) table.agent_of_cu.push_back(agent);
    table.cu_of_thread.push_back(cu->second);
  }
  table.cus = std::max(1, static_cast<int>(cu_of_group.size()));
  table.agents = std::max(1, static_cast<int>(agent_number.size()));
  table.agent_of_cu.resize(static_cast<std::size_t>(table.cus), 0);
  table.registers = std::max(1, table.registers);
  table.blocks = 1;
  table.words = 1;
  for (const Location& location : program.locations) {
    table.blocks = std::max(table.blocks, location.block + 1);
    table.words = std::max(table.words, location.word + 1);
  }
  table.words = std::max(2, table.words);
  return table;
}

namespace {

bool is_straight_line(const Thread& thread) {
  return std::none_of(thread.code.begin(), thread.code.end(), [](const Instruction& i) {
    return i.opcode == Opcode::branch || i.opcode == Opcode::jump;
  });
}

// The numbers of a thread's barriers in the order of its code.
std::vector<std::int32_t> barriers_of(const Thread& thread) {
  std::vector<std::int32_t> numbers;
  for (const Instruction& i : thread.code) {
    if (i.opcode == Opcode::barrier) numbers.push_back(i.a.value);
  }
  return numbers;
}

// Whether all of a work-group so large wait at a barrier whose number is known.
bool is_whole(const Instruction& barrier, std::size_t group) {
  const bool all = barrier.b == Operand{} || barrier.b == Operand{false, static_cast<std::int32_t>(group)};
  return all && !barrier.arrives_only && !barrier.a.is_register;
}

// Whether the threads of a work-group wait for each other at one barrier at a time: they have but one, or
// pass the same ones in the same order. Then the barrier of the group stands for each.
bool shares_one_barrier(const std::vector<const Thread*>& group) {
  std::set<std::int32_t> used;
  bool everywhere = true;
  bool in_order = true;
  for (const Thread* const thread : group) {
    for (const Instruction& i : thread->code) {
      if (i.opcode == Opcode::barrier && !is_whole(i, group.size())) return false;
    }
    const std::vector<std::int32_t> numbers = barriers_of(*thread);
    used.insert(numbers.begin(), numbers.end());
    everywhere = everywhere && !numbers.empty();
    in_order = in_order && is_straight_line(*thread) && numbers == barriers_of(*group.front());
  }
  const bool plain = used.empty() || used == std::set<std::int32_t>{0};
  return plain || (used.size() == 1 && everywhere) || in_order;
}

// Refuses what is a program but nothing that Threads (threads.hpp) runs.
void check_supported(const Program& program) {
  std::map<std::pair<int, int>, std::vector<const Thread*>> groups;
  for (const Thread& thread : program.threads) {
    if (!thread.placement.host && thread.slot_of < 0)
      groups[{thread.placement.agent, thread.placement.wg}].push_back(&thread);
    for (const Instruction& i : thread.code) {
      if (!i.index.is_register) continue;
      throw BadInput(
          fmt::format("'{}' computes addresses, and memory systems run no such program", program.name),
          "judge it by an axiomatic model, with --model");
    }
  }
  check_slots(program);
  for (const auto& [place, group] : groups) {
    if (shares_one_barrier(group)) continue;
    throw BadInput(fmt::format("'{}' has barriers that only some threads of a work-group wait at, and memory "
                               "systems have one barrier for each work-group",
                               program.name),
                   "judge it by an axiomatic model, with --model");
  }
}

}  // namespace

void check_capacity(const Program& program, const PlacementTable& placement, int most_threads,
                    int most_work_groups) {
  const auto check = [&](int needed, int capacity, std::string_view what) {
    if (needed > capacity) {
      throw BadInput(
          fmt::format("'{}' needs {} {}, this build holds {}", program.name, needed, what, capacity));
    }
  };
  check(static_cast<int>(program.threads.size()), most_threads, "threads");
  check(placement.registers, RegisterTag::capacity, "registers in one thread");
  check(placement.cus, most_work_groups, "work-groups");
  check(placement.agents, AgentTag::capacity, "agents");
  check(placement.blocks, BlockTag::capacity, "cache blocks");
  check(placement.words, WordTag::capacity, "words in one block");
  for (const Thread& thread : program.threads) {
    check(static_cast<int>(thread.code.size()), max_instructions, "instructions in one thread");
  }
  check_supported(program);
}

std::vector<recorded::RigidFunction> rigid_functions(const PlacementTable& placement) {
  std::vector<int> host(placement.host.begin(), placement.host.end());
  return {{"cu_of", "thread", "cu", placement.cu_of_thread},
          {"work_group_of", "thread", "wg", placement.cu_of_thread},
          {"agent_of", "cu", "agent", placement.agent_of_cu},
          {"is_host", "thread", "", std::move(host)}};
}

}  // namespace lockstep
