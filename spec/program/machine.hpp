// The machine that a program runs on: its index types, and who sits where.
//
// Capacities bound what one built state can hold; the sizes of a run are the smallest that its program and
// its memory system need.
#pragma once

#include <algorithm>
#include <string_view>
#include <type_traits>

#include "spec/kernel/index.hpp"

namespace lockstep {

struct ThreadTag : Indices<"thread", 6> {};
struct RegisterTag : FixedIndices<"register", 8> {};
struct WorkGroupTag : Indices<"wg", 6> {};
// Each work-group of a program has a CU of its own.
struct CuTag : Indices<"cu", 6> {};
struct AgentTag : Indices<"agent", 4> {};
struct BlockTag : Indices<"block", 5> {};
struct WordTag : FixedIndices<"word", 4> {};
inline constexpr ThreadTag threads{};
inline constexpr RegisterTag registers{};
inline constexpr WorkGroupTag work_groups{};
inline constexpr CuTag cus{};
inline constexpr AgentTag agents{};
inline constexpr BlockTag blocks{};
inline constexpr WordTag words{};

constexpr int max_instructions = 64;  // of one thread

// The sizes of a machine together with those that its memory system has beside them.
template <class Capacities, class... Tags>
using MachineSizes = SizesWithin<Capacities, ThreadTag, RegisterTag, WorkGroupTag, CuTag, AgentTag, BlockTag,
                                 WordTag, Tags...>;

// A size that no table is laid out over, only counted to or computed with: a lease, a limit.
template <class Tag>
concept Amount = requires {
  requires Tag::is_amount;
};

// What nearly every litmus test fits in; a state of these capacities is a third as large and copied as fast.
struct SmallCapacities {
  template <class Tag>
  static constexpr int of = Amount<Tag> ? Tag::capacity
                                        : std::min(Tag::capacity, std::is_same_v<Tag, AgentTag> ||
                                                                          std::is_same_v<Tag, WordTag> ||
                                                                          !Tag::interchangeable
                                                                      ? 2
                                                                      : 4);
};

// Who sits where; rigid during a run. A host thread's CU, agent and work-group mean nothing.
template <class K>
struct Machine {
  typename K::template Map<ThreadTag, CuTag> cu_of;
  typename K::template Map<ThreadTag, WorkGroupTag> work_group_of;
  typename K::template Map<CuTag, AgentTag> agent_of;
  typename K::template Set<ThreadTag> is_host;
  // The port of the same thread whose accesses come before those of this one, in program order (program.hpp,
  // Thread::slot_of); itself where there is none. A thread's own port comes after its slots.
  typename K::template Map<ThreadTag, ThreadTag> predecessor_of;
};

// For kinds in which nobody in particular sits anywhere: rigid functions that have a name and nothing else.
template <class K>
Machine<K> named_machine() {
  Machine<K> machine;
  machine.cu_of.name = "cu_of";
  machine.work_group_of.name = "work_group_of";
  machine.agent_of.name = "agent_of";
  machine.is_host.name = "is_host";
  machine.predecessor_of.name = "predecessor_of";
  return machine;
}

}  // namespace lockstep
