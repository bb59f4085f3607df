// Exports of a system to the languages of other model checkers, from its recorded trees: Murphi, as Rumur
// reads it, and Promela, as SPIN does; and to C++ with a search of its own, which a graphics processor runs.
// Nothing here knows a protocol.
//
// An export has exactly the states and firings of the explorer without reductions. Fields that are not stored
// (a thread's request) are part of the export's state, where they are recomputed after each rule that changes
// what they follow from: being functions of the rest, they add no state.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "checker/language/test.hpp"
#include "spec/kernel/recorded.hpp"

namespace lockstep {

// What is asked of every state. Each claim stands for the states that it names, and checkers are compared by
// their numbers.
struct Claim {
  enum class Kind : std::uint8_t {
    property,  // the states in which this assertion or invariant fails and none before it does
    deadlock,  // no fair rule is enabled, and it is no proper end
    reached,   // the proper ends that satisfy a litmus test's condition
    missed,    // the proper ends that do not
  };
  Kind kind = Kind::property;
  std::string name;
  recorded::Expression predicate;  // of a property; the condition of an end
};

// Assertions, invariants, deadlock; with a test also its condition, asked of the ends that pass its filter.
std::vector<Claim> claims_of(const recorded::WholeDescription& whole, const LitmusTest* test);

enum class Purpose : std::uint8_t {
  verdict,  // the other checker stops where a property fails: for people
  count,    // it goes on, and counts the states of each claim
  // It looks for a run on which each process that can go on does, and which never ends, or on which a thread
  // never gets on (liveness.hpp). Promela only: each thread is a process, the rest of the hardware one more.
  progress,
};

struct ExportOptions {
  std::string title;  // "quick-release, fault no-broadcast running mp-agent"
  Purpose purpose = Purpose::verdict;
  int progress_of = -1;  // of Purpose::progress: a thread, or -1 for the end of all
};

std::string export_murphi(const recorded::WholeDescription& whole, const std::vector<Claim>& claims,
                          const ExportOptions& options);
std::string export_promela(const recorded::WholeDescription& whole, const std::vector<Claim>& claims,
                           const ExportOptions& options);
// A program: `nvcc -x cu` compiles it for a graphics processor, any C++20 compiler for the machine's
// processors.
std::string export_cuda(const recorded::WholeDescription& whole, const std::vector<Claim>& claims,
                        const ExportOptions& options);
// search.cu, the part of it that is the same for every system.
std::string_view search_text();

// SPIN's own state and steps that come before the system's: the choice among the initial states.
struct PromelaStart {
  std::size_t states = 1;  // the one before the choice
  std::size_t starts = 0;  // steps from it, one for each initial state
};
PromelaStart promela_start(const recorded::WholeDescription& whole);

// The line that an export for SPIN prints for each state of a claim, in Purpose::count.
std::string promela_mark(std::size_t claim);

}  // namespace lockstep
