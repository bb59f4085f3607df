// What a generated test consists of, before it is a program: accesses by a few threads, where each thread
// runs, what stands between its accesses, and which values the question asks for.
//
// A blueprint is small, flat and comparable, so millions can be enumerated, told apart up to renaming, and
// dismissed without building a program. to_test() builds the ones that are worth running.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "checker/language/test.hpp"

namespace lockstep::generate {

enum class Role : std::uint8_t { read, write };

// How an access takes part in synchronization. `synchronizing`: an acquire load or a release store. `strong`:
// the same with order sc, which acquires and releases. `update`: a read-modify-write, which as a read adds 0
// and as a write exchanges, with order acq_rel; the other two have a half of that.
enum class Flavour : std::uint8_t {
  plain,
  synchronizing,
  strong,
  update,
  acquiring_update,
  releasing_update
};
constexpr bool is_update(Flavour flavour) {
  return flavour >= Flavour::update;
}

struct Access {
  Role role = Role::read;
  Flavour flavour = Flavour::plain;
  Scope scope = Scope::system;  // meaningful unless plain
  std::int8_t location = 0;
  std::int8_t value = 0;  // what it writes; what the question wants it to read
  bool operator==(const Access&) const = default;
};
constexpr bool has_register(const Access& access) {
  return access.role == Role::read || is_update(access.flavour);
}
constexpr bool writes(const Access& access) {
  return access.role == Role::write || is_update(access.flavour);
}
constexpr bool acquires(const Access& access) {
  if (access.flavour == Flavour::synchronizing) return access.role == Role::read;
  return access.flavour == Flavour::update || access.flavour == Flavour::acquiring_update ||
         (access.flavour == Flavour::strong && access.role == Role::read);
}
constexpr bool releases(const Access& access) {
  if (access.flavour == Flavour::synchronizing) return access.role == Role::write;
  return access.flavour == Flavour::update || access.flavour == Flavour::releasing_update ||
         (access.flavour == Flavour::strong && access.role == Role::write);
}

// How the second access of a thread depends on the value that the first one read. `guard`: a reader of
// another value than the one expected leaves. `data`: what is stored is computed from it.
enum class Dependency : std::uint8_t { none, guard, data };

// From a thread's first access to its second: a program-order edge.
struct Link {
  Dependency dependency = Dependency::none;
  std::int8_t expected = 0;  // by the guard or the computation
  bool fenced = false;       // a fence with order acq_rel between the two
  Scope fence = Scope::system;
  bool operator==(const Link&) const = default;
};

// Work-groups are numbered across the agents, both in order of first appearance.
struct Seat {
  bool host = false;
  std::int8_t agent = 0;
  std::int8_t group = 0;
  bool operator==(const Seat&) const = default;
};

struct PlannedThread {
  Seat seat;
  std::int8_t count = 0;  // accesses: 1 or 2
  std::array<Access, 2> accesses;
  Link link;  // of two accesses
  // Begins with a plain load of a word that nobody writes, in the block of the location of this access: the
  // thread's caches then hold a copy of the block from before.
  std::int8_t warms = -1;
  // That load is made by a thread of its own in the same place, at whatever time.
  bool bystander = false;
  // In a sequence of kernels: 0 ends before 1 begins. -1: in neither.
  std::int8_t kernel = -1;
  bool operator==(const PlannedThread&) const = default;
};

struct Blueprint {
  static constexpr std::size_t most_threads = 5;
  static constexpr std::size_t most_locations = 5;
  static constexpr std::int8_t unobserved = -1;

  std::int8_t threads = 0;
  std::int8_t locations = 0;
  std::array<PlannedThread, most_threads> thread;
  bool one_block = false;  // all locations are words of one cache block, else each has its own
  bool cycle = true;       // its question asks for the cycle; otherwise for every outcome
  std::array<std::int8_t, most_locations> last{unobserved, unobserved, unobserved, unobserved,
                                               unobserved};  // final value asked for
  std::int8_t edges = 0;                                     // of the cycle; 0 for a straight program
  std::int8_t extras = 0;                                    // what was added to it, one each
  bool operator==(const Blueprint&) const = default;
};

// "W-po-Wag+rf+Rag-guard-R+fr.a0b0": along the cycle, then the seats (see docs/generation.md).
std::string name_of(const Blueprint& blueprint);

// The classical name of the cycle's shape ("MP", "IRIW"), or empty.
std::string shape_of(const Blueprint& blueprint);

// The program, the question that witnesses the cycle, and what it observes: every register that an access
// fills, and the final value of every location that is written twice or more.
std::shared_ptr<const LitmusTest> to_test(const Blueprint& blueprint);

// The file that a test is written to, in the HRF dialect.
std::string print_test(const LitmusTest& test);

// Equal exactly for blueprints whose programs are equal up to renaming threads, work-groups, agents,
// locations and the values of each location.
using Key = std::string;
Key canonical_key(const Blueprint& blueprint);

}  // namespace lockstep::generate
