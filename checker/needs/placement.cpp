#include "checker/needs/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "checker/needs/slots.hpp"
#include "checker/support/diagnostic.hpp"
#include "spec/program/barriers.hpp"

namespace lockstep {

namespace {

std::vector<int> predecessors(const Program& program) {
  std::vector<int> ports(program.threads.size());
  std::iota(ports.begin(), ports.end(), 0);
  for (std::size_t t = 0; t < program.threads.size(); ++t) {
    const int self = program.threads[t].slot_of;
    if (self < 0) continue;
    const bool first = program.threads[t - 1].slot_of != self;
    if (!first) ports[t] = static_cast<int>(t) - 1;
    ports[static_cast<std::size_t>(self)] = static_cast<int>(t);
  }
  return ports;
}

}  // namespace

PlacementTable place(const Program& program) {
  PlacementTable table;
  const CountedBarriers counted(program);
  std::map<std::pair<int, int>, int> cu_of_group;
  std::map<int, int> agent_number;
  for (const Thread& thread : program.threads) {
    const Placement& at = thread.placement;
    table.registers = std::max(table.registers, thread.slot_of >= 0
                                                    ? registers_of_slot
                                                    : counted.registers(static_cast<int>(table.host.size())));
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
  table.predecessor = predecessors(program);
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

// All that meet at a barrier have to say the same of how many they are.
void check_participants(const Program& program) {
  const auto count = [](std::int32_t n) { return n > 0 ? std::to_string(n) : "no number of"; };
  const CountedBarriers counted(program);
  for (const CountedBarriers::Barrier& barrier : counted.all()) {
    std::optional<std::int32_t> first;
    for (const CountedBarriers::Member& member : barrier.members) {
      const std::vector<Instruction>& code = program.threads[static_cast<std::size_t>(member.thread)].code;
      for (std::size_t pc = 0; pc < code.size(); ++pc) {
        if (counted.at(member.thread, static_cast<int>(pc)) != &barrier) continue;
        if (!first) first = code[pc].b.value;
        if (*first == code[pc].b.value) continue;
        throw BadInput(fmt::format("'{}' has a barrier {} with {} participants, and with {}", program.name,
                                   barrier.number, count(*first), count(code[pc].b.value)),
                       "all threads that meet at a barrier say the same of it");
      }
    }
  }
}

// Refuses what is a program but nothing that Threads (threads.hpp) runs.
void check_supported(const Program& program) {
  for (const Thread& thread : program.threads) {
    for (const Instruction& i : thread.code) {
      if (i.status >= 0) throw std::logic_error("a status of a compare-and-swap is lowered before");
      if (i.index.is_register) {
        throw BadInput(
            fmt::format("'{}' computes addresses, and memory systems run no such program", program.name),
            "judge it by an axiomatic model, with --model");
      }
      if (i.opcode == Opcode::barrier && (i.a.is_register || i.b.is_register)) {
        throw BadInput(fmt::format("'{}' has a barrier whose number or participants a register holds, and on "
                                   "memory systems both are known beforehand",
                                   program.name),
                       "judge it by an axiomatic model, with --model");
      }
    }
  }
  check_slots(program);
  check_participants(program);
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
  const int ports = static_cast<int>(program.threads.size());
  const int slots = static_cast<int>(std::count_if(program.threads.begin(), program.threads.end(),
                                                   [](const Thread& t) { return t.slot_of >= 0; }));
  if (ports > most_threads && slots > 0 && ports - slots <= most_threads) {
    throw BadInput(
        fmt::format("'{}' has {} threads that leave {} accesses under way, and this build holds {} "
                    "of both together",
                    program.name, ports - slots, slots, most_threads),
        "--size outstanding=1 leaves one under way of each thread");
  }
  check(ports, most_threads, "threads");
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
          {"is_host", "thread", "", std::move(host)},
          {"predecessor_of", "thread", "thread", placement.predecessor}};
}

}  // namespace lockstep
