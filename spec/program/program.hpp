// A program: straight-line or looping code for a few threads, placed on a machine.
//
// Litmus tests, locks, barriers and kernels all become this one form, whatever dialect they were written
// in, and every tool runs it: the checker on each memory system, the race detector on flat memory, the
// simulator with time. It is plain data; what an instruction does is said once, in thread.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

// Where it stands in its source, for messages; lines and columns count from 1, 0 means unknown.
struct SourcePlace {
  int line = 0;
  int column = 0;
  bool operator==(const SourcePlace&) const = default;
};

enum class Opcode : std::uint8_t {
  load,          // destination <- [location]
  store,         // [location] <- a
  rmw,           // destination (if any) <- [location]; [location] <- f([location], a, b)
  fence,         // order and scope only
  barrier,       // work-group barrier: arrival and departure, acquire and release at wg
  kernel_begin,  // waits for every thread of an earlier kernel to end; an acquire, at system unless said
                 // otherwise
  kernel_end,    // a release, likewise
  dispatch,      // waits like kernel_begin, and asks for nothing
  await,         // waits until those slots are free that `a` has as bits, slot 1 as the lowest
  move,          // destination <- a
  arithmetic,    // destination <- a (op) b, on registers, no memory access
  pause,         // takes `a` cycles, at least, where there is time; else nothing
  branch,        // if a (comparison) b, continue at target
  jump,          // continue at target
  assertion,     // fails the run unless a (comparison) b
};

// What an RMW writes, from the old value `m` and its operands. `compare_swap` takes the expected value in
// `a` and the new one in `b`; when it fails it is a load. `increment` wraps: m >= a ? 0 : m + 1, and so does
// `decrement`: m == 0 or m > a ? a : m - 1; both, like the last two, take words for numbers without a sign.
enum class RmwFunction : std::uint8_t {
  exchange,
  compare_swap,
  add,
  subtract,
  increment,
  decrement,
  bit_and,
  bit_or,
  bit_xor,
  minimum,
  maximum,
  minimum_unsigned,
  maximum_unsigned,
};

// The comparisons give 1 where they hold, else 0.
enum class ArithmeticFunction : std::uint8_t {
  add,
  subtract,
  multiply,
  bit_and,
  bit_or,
  bit_xor,
  minimum,
  maximum,
  equal,
  not_equal,
  less,
  less_equal,
};

enum class Comparison : std::uint8_t { equal, not_equal, less, greater_equal, greater, less_equal };

// The memory order of an operation (semantics.md, "Operations"). Everything but plain is atomic. `comm` is
// relaxed and marks an update that commutes with those it races with (memory_order_comm of SC-for-DRFrlx).
enum class Order : std::uint8_t { plain, relaxed, comm, acquire, release, acq_rel, sc };

// Scopes from the narrowest to the widest.
enum class Scope : std::uint8_t { wave, wg, agent, system };

constexpr bool acquires(Order order) {
  return order == Order::acquire || order == Order::acq_rel || order == Order::sc;
}
constexpr bool releases(Order order) {
  return order == Order::release || order == Order::acq_rel || order == Order::sc;
}

// The memories that a fence or a barrier orders, as bits: OpenCL's CLK_GLOBAL_MEM_FENCE and
// CLK_LOCAL_MEM_FENCE. Other dialects order all.
enum class Region : std::uint8_t { global = 1, local = 2, all = 3 };
constexpr bool includes(Region fence, Region region) {
  return (static_cast<unsigned>(fence) & static_cast<unsigned>(region)) != 0;
}

// A register of the instruction's own thread (index into Thread::registers), or a constant.
struct Operand {
  bool is_register = false;
  std::int32_t value = 0;
  bool operator==(const Operand&) const = default;
};

struct Instruction {
  Opcode opcode = Opcode::move;
  RmwFunction rmw = RmwFunction::exchange;
  ArithmeticFunction arithmetic = ArithmeticFunction::add;
  Comparison comparison = Comparison::equal;
  Order order = Order::plain;
  Order failure_order =
      Order::plain;             // of a compare_swap that fails: plain stands for the reading part of `order`
  Scope scope = Scope::system;  // meaningful where order is not plain
  Region region = Region::all;  // of a fence or barrier
  bool spurious = false;        // a compare_swap that may fail though the values are equal
  bool arrives_only = false;    // a barrier that its thread does not wait at
  // A waiting atomic (Dutu et al., 2020, IV.D): a load or RMW that is done again until it has read the value
  // expected, which is `a` of a load or compare_swap, `b` of another RMW. In between its thread may wait.
  bool waits = false;
  std::uint64_t tags = 0;         // what models alone look at, as bits (checker/support/tags.hpp)
  std::int32_t location = -1;     // index into Program::locations, -1 where there is none
  std::int32_t target = -1;       // index into Thread::code; code.size() means the end
  std::int16_t destination = -1;  // index into Thread::registers, -1 where there is none
  // Of a compare_swap that may fail though the values are equal: the register that tells whether it swapped,
  // 1 or 0; not the destination, which `a` is not then, either.
  std::int16_t status = -1;
  // Of a load, store or RMW that is no waiting atomic: 0, and its thread waits for it; or the slot that
  // performs it while the thread goes on. Until an await has found the slot free, nothing may touch its
  // destination.
  std::int16_t slot = 0;
  Operand a = {};  // of a barrier: its number within the work-group
  // Of a barrier: how many threads take part, any so many; 0: all of the work-group; below 0: minus the
  // number of those that have the barrier, all of them (barriers.hpp).
  Operand b = {};
  Operand index = {};  // of an access: this many locations behind `location`
  SourcePlace place = {};
};

// Where a thread runs. Work-groups are numbered within the whole program, not within their agent: two
// threads share a work-group when both `agent` and `wg` are the same. A host thread has neither.
struct Placement {
  bool host = false;
  int wave = 0;  // distinct for every thread of a test
  int wg = 0;
  int agent = 0;
  int kernel = -1;        // -1: not part of a sequence of kernels
  int subgroup = -1;      // within its work-group, and
  int queue_family = -1;  // in Vulkan, for models alone
};

struct Thread {
  std::string name;  // "P0"
  Placement placement;
  std::vector<std::string> registers;        // names, in order of first appearance
  std::vector<std::int32_t> initial_values;  // one for each register, 0 where none was given
  std::vector<Instruction> code;
  // Of a slot, the number of its thread: a port without code, placed like the thread, for one more access
  // under way. A thread awaits all of its slots before it ends.
  int slot_of = -1;
  // Where the thread's slots begin, slot 1 first; -1: right behind it.
  int slots_from = -1;
};

inline constexpr int registers_of_slot = 2;  // that keep an instruction's operands
inline constexpr int most_slots = 31;        // of one thread

// A location is one word of memory. Words with equal `block` share a cache block.
struct Location {
  std::string name;
  std::int32_t initial_value = 0;
  int block = 0;
  int word = 0;                    // within its block
  Region region = Region::global;  // local: each work-group has its own memory, this location lies in one
  bool atomic = true;              // false: its type admits plain accesses only
  int array = 1;                   // at the first location of an array: how many follow it, itself included
  int memory = -1;   // another name: the location whose memory it names, too, -1: its own; for models alone
  int address = -1;  // and the one whose generic address it has, -1: its own
};

// The places of a thread's code from `begin` on, before `end`. A thread is there from the moment at which it
// has completed the instruction in front of `begin`.
struct Stretch {
  int thread = 0;
  int begin = 0;
  int end = 0;
  int weight = 1;
  bool operator==(const Stretch&) const = default;
};

// A claim: threads that are within the stretches never weigh more than `capacity` together. A critical
// section has capacity 1; of a semaphore's, a reader weighs 1 and a writer all that there is. Being there is
// what a thread of endless rounds calls progress.
struct Section {
  std::string name;  // the claim in words: "one is in the critical section"
  int capacity = 1;
  std::vector<Stretch> stretches;
  bool operator==(const Section&) const = default;
};

// A claim: nobody leaves before everybody has arrived. Code in front of `arrive` and of `leave` is not
// returned to from behind.
struct Rendezvous {
  struct Participant {
    int thread = 0;
    int arrive = 0;  // the place behind the instruction with which it makes its arrival known
    int leave = 0;   // the place where it has left
    bool operator==(const Participant&) const = default;
  };
  std::string name;  // the claim in words: "nobody leaves the barrier early"
  std::vector<Participant> participants;
  bool operator==(const Rendezvous&) const = default;
};

// A claim: what is in memory when all threads have ended.
struct FinalValue {
  std::string name;  // "all permits are back"
  std::int32_t location = 0;
  std::int32_t value = 0;
  bool operator==(const FinalValue&) const = default;
};

struct Program {
  std::string name;
  std::string doc;
  std::vector<Location> locations;
  std::vector<Thread> threads;
  std::vector<Section> sections;
  std::vector<Rendezvous> meetings;
  std::vector<FinalValue> final_values;
  std::vector<std::pair<int, int>> system_synchronizes;  // Vulkan: threads, the first before the second
};

// The number of a thread's slot 1, if it has one.
inline int first_slot(const Program& program, int thread) {
  const int from = program.threads[static_cast<std::size_t>(thread)].slots_from;
  return from < 0 ? thread + 1 : from;
}

// The value that a waiting atomic waits to read.
constexpr const Operand& expected_value(const Instruction& i) {
  return i.opcode == Opcode::load || i.rmw == RmwFunction::compare_swap ? i.a : i.b;
}

constexpr bool is_memory(Opcode opcode) {
  return opcode <= Opcode::rmw;
}

}  // namespace lockstep
