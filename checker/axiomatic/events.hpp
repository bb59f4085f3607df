// The events that a program's threads can give rise to, each thread on its own: its paths, what their values
// and their being taken depend on, and every value that a read may find. Candidate executions are put
// together from these (search.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "checker/axiomatic/terms.hpp"
#include "spec/program/program.hpp"

namespace lockstep {

enum class EventKind : std::uint8_t {
  initial,  // the write of a location's initial value
  read,
  write,
  fence,
  barrier,        // PTX and Vulkan: arrival and departure in one
  barrier_entry,  // HRF and OpenCL: a release at wg on arrival
  barrier_exit,   // and an acquire at wg on departure
  kernel_begin,
  kernel_end,
};

struct ProgramEvent {
  EventKind kind = EventKind::read;
  std::int16_t thread = -1;       // -1: of no thread
  std::int16_t instruction = -1;  // index into the thread's code
  std::int16_t location = -1;
  std::int16_t address = -1;  // the location whose generic address it uses: not that of `location` if aliased
  Order order = Order::plain;
  Scope scope = Scope::system;
  Region region = Region::all;
  std::uint64_t tags = 0;  // of its instruction (checker/support/tags.hpp)
  bool rmw = false;        // half of a read-modify-write that wrote
  bool arrives_only = false;
  std::int32_t barrier = 0;       // its number
  std::int32_t participants = 0;  // 0: see EventStyle; -1: a register says none
  std::int16_t occurrence = 0;    // how many of its thread's events at that barrier came before
  bool operator==(const ProgramEvent&) const = default;
};

constexpr bool reads(EventKind kind) {
  return kind == EventKind::read;
}
constexpr bool writes(EventKind kind) {
  return kind == EventKind::write || kind == EventKind::initial;
}

// Models of PTX order these by choice.
constexpr bool is_sc_fence(const ProgramEvent& e) {
  return e.kind == EventKind::fence && e.order == Order::sc;
}

// How a dialect turns instructions into events. In PTX a barrier is one event, and a fence.sc is acquiring
// and releasing too. In Vulkan a barrier is one event, which may have an order. A barrier that does not say
// how many take part is waited for by the whole work-group in HRF, and by those of its threads that have such
// a barrier in the other dialects.
enum class EventStyle : std::uint8_t { hrf, ptx, opencl, vulkan };
constexpr bool has_one_event_barriers(EventStyle style) {
  return style == EventStyle::ptx || style == EventStyle::vulkan;
}

// Whether it is undefined what a work-group does whose threads come to different barriers.
constexpr bool flags_divergence(EventStyle style) {
  return style == EventStyle::opencl;
}

enum class PathEnd : std::uint8_t {
  ended,
  failed,       // at an assertion that does not hold
  cut,          // abandoned at the limit of iterations: the events are its beginning
  left_behind,  // at a barrier that nobody is left to meet at: with a quorum, or of a group that diverges
  stopped,      // the thread is not scheduled any more: the events are a beginning
  goes_round,   // nothing was written and no register changed since a visit before: may go on for ever
};

// One way through a thread's code: the same events in the same order. Sets of events are bits by position on
// the path.
struct ThreadPath {
  using Bits = Terms::Bits;
  std::vector<ProgramEvent> events;  // at most 64
  std::vector<Bits> addr;            // by event: the reads that its address depends on
  std::vector<Bits> data;            // that its written value depends on
  std::vector<Bits> ctrl;            // that decided whether it is there
  PathEnd end = PathEnd::ended;
  int round = -1;                         // where it goes round: the first event of the round
  std::vector<PathValue> values;          // by event: what it read or wrote, 0 for others
  std::vector<PathValue> registers;       // at the end
  std::vector<PathCondition> conditions;  // all must hold for the thread to come this way
  std::shared_ptr<const Terms> terms;
};

struct UnrollLimits {
  int iterations = 4;           // how often one instruction is executed on a path at most
  std::size_t paths = 200'000;  // of one thread
  std::size_t values = 256;     // of one location
  std::size_t tries = 200'000;  // of values for the reads that one value or branch depends on
  // A path for each value of each read, which is then fixed: what shorter ways must agree with.
  bool each_value = false;
  // Also paths that go round or wait for ever; and of threads that are not scheduled any more.
  bool endless = false;
  bool stopped = false;
};

struct ThreadEvents {
  std::vector<ThreadPath> paths;
};

struct ProgramEvents {
  std::vector<ThreadEvents> threads;
  std::vector<std::set<std::int32_t>> values;  // by location: what a read may find
};

// Reads find initial values, what the text writes, and what follows from these. What is written may also
// follow from itself, in a circle of reads and dependent writes, and then be any value: of these, `guesses`
// are tried. Throws BadInput where a program is beyond the limits on paths, values or events.
ProgramEvents unroll(const Program& program, EventStyle style, const UnrollLimits& limits = {},
                     const std::set<std::int32_t>& guesses = {});

}  // namespace lockstep
