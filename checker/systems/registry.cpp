// The list of systems, and what all of them share: finding one by name, variants and faults by name, and the
// sizes that follow from a program.
#include "checker/systems/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <map>
#include <set>

#include "checker/support/diagnostic.hpp"
#include "checker/systems/program_system.hpp"

namespace lockstep {

namespace {

Registrations<SystemEntry (*)()>& registered() {
  static Registrations<SystemEntry (*)()> all;
  return all;
}
Registrations<SystemDescriptions>& registered_descriptions() {
  static Registrations<SystemDescriptions> all;
  return all;
}

}  // namespace

RegisteredSystem::RegisteredSystem(const Origin& origin, SystemEntry (*entry)()) {
  registered().add(origin, entry);
}

RegisteredDescriptions::RegisteredDescriptions(const Origin& origin, SystemDescriptions descriptions) {
  registered_descriptions().add(origin, descriptions);
}

std::span<const SystemEntry> systems() {
  static const std::vector<SystemEntry> entries = [] {
    std::vector<SystemEntry> all;
    for (const auto& [name, make] : registered().in_order()) all.push_back(make());
    for (const auto& [name, descriptions] : registered_descriptions().in_order()) {
      for (SystemEntry& entry : all) {
        if (entry.name != name) continue;
        entry.describe = descriptions.describe;
        entry.describe_whole = descriptions.describe_whole;
      }
    }
    return all;
  }();
  return entries;
}

namespace {

template <class Named>
std::vector<std::string> names_of(std::span<const Named> all) {
  std::vector<std::string> names;
  for (const auto& one : all) names.emplace_back(one.name);
  return names;
}

}  // namespace

const SystemEntry& find_system(std::string_view name) {
  for (const SystemEntry& entry : systems()) {
    if (entry.name == name) return entry;
  }
  throw BadInput(fmt::format("unknown system '{}'", name), suggestion(name, names_of(systems())));
}

const SystemEntry& find_system(std::string_view name, SystemOptions& options) {
  const auto slash = name.find('/');
  if (slash == std::string_view::npos) return find_system(name);
  const SystemEntry& entry = find_system(name.substr(0, slash));
  options.variant = std::string(name.substr(slash + 1));
  variant_index(entry, options.variant);
  return entry;
}

int variant_index(const SystemEntry& entry, std::string_view name) {
  for (std::size_t i = 0; i < entry.variants.size(); ++i) {
    if (entry.variants[i].name == name) return static_cast<int>(i);
  }
  throw BadInput(fmt::format("{} has no variant '{}'", entry.name, name),
                 suggestion(name, names_of(entry.variants)));
}

std::uint64_t fault_mask(const SystemEntry& entry, std::span<const std::string> names) {
  std::uint64_t mask = 0;
  for (const std::string& name : names) {
    const auto found = std::find_if(entry.faults.begin(), entry.faults.end(),
                                    [&](const Fault& fault) { return fault.name == name; });
    if (found == entry.faults.end()) {
      throw BadInput(fmt::format("{} has no fault '{}'", entry.name, name),
                     suggestion(name, names_of(entry.faults)));
    }
    mask |= std::uint64_t{1} << (found - entry.faults.begin());
  }
  return mask;
}

bool exposes_links(const SystemEntry& entry, std::span<const std::string> names) {
  const std::uint64_t mask = fault_mask(entry, names);
  for (std::size_t i = 0; i < entry.faults.size(); ++i) {
    if (((mask >> i) & 1U) != 0 && entry.faults[i].exposes_links) return true;
  }
  return false;
}

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
    for (const Instruction& i : thread.code) {
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

Derived derive_reductions(const recorded::WholeDescription& whole, std::vector<footprint::Place> places,
                          const std::vector<bool>& fair, const std::byte* initial, std::size_t bytes,
                          bool memory_observed) {
  const auto footprints = std::make_shared<const footprint::Footprints>(whole, std::move(places));
  Derived derived;
  derived.stubborn = std::make_shared<const footprint::StubbornSets>(
      footprints, fair, footprints->assertions(), std::vector{initial},
      footprint::DeadFields::candidates(*footprints));
  derived.dead = std::make_shared<const footprint::DeadFields>(footprints, derived.stubborn->possible(), fair,
                                                               memory_observed, initial, bytes);
  return derived;
}

PlacementTable place(const Program& program) {
  PlacementTable table;
  std::map<std::pair<int, int>, int> cu_of_group;
  std::map<int, int> agent_number;
  for (const Thread& thread : program.threads) {
    const Placement& at = thread.placement;
    table.registers = std::max(table.registers, static_cast<int>(thread.registers.size()));
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
    if (!thread.placement.host) groups[{thread.placement.agent, thread.placement.wg}].push_back(&thread);
    for (const Instruction& i : thread.code) {
      if (!i.index.is_register) continue;
      throw BadInput(
          fmt::format("'{}' computes addresses, and memory systems run no such program", program.name),
          "judge it by an axiomatic model, with --model");
    }
  }
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
