// A sequence of kernel launches and host accesses, and what is asked about it: a client that is given, for
// memory systems with a port for launches (spec/program/launching.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "spec/program/program.hpp"

namespace lockstep {

// One word of a label: the structure by whose name it goes, and the chiplet that may access it.
struct LaunchLabel {
  int structure = 0;
  bool write = false;  // R/W
  int chiplet = 0;
  int word = 0;  // of all memory
};

struct Launch {
  enum class Kind : std::uint8_t {
    labelled,
    unlabelled,   // a kernel that may access anything
    host_reads,   // the host, a whole structure
    host_writes,  // likewise
  };
  std::string name;
  Kind kind = Kind::labelled;
  std::vector<LaunchLabel> labels;  // of a labelled kernel
  int structure = -1;               // of a host access
  bool goes_on = false;             // while the next is launched, where the memory system has two streams
  SourcePlace place;
};

// What can be asked of a sequence. Without a launch (-1) it is about the whole sequence.
struct LaunchTerm {
  enum class Kind : std::uint8_t {
    stale,     // 0 or 1: a kernel, or the host, may read a stale word
    lost,      // 0 or 1: the last write of a word is nowhere any more
    acquire,   // 0 or 1: issued to the chiplet before the launch
    release,   // likewise
    acquires,  // how many: before the launch; of the sequence, ends of kernels included
    releases,  // likewise
    state,     // what the table has of the structure in the chiplet while the launch runs: a listed_state
  };
  Kind kind = Kind::stale;
  int launch = -1;
  int chiplet = -1;
  int structure = -1;
  bool operator==(const LaunchTerm&) const = default;
};

// The words for a structure's state in a chiplet, in the order of their numbers.
inline constexpr std::array<std::string_view, 5> listed_states{"not_present", "valid", "dirty", "stale",
                                                               "mixed"};

struct Launches {
  std::string name;
  std::string file;
  std::string text;                     // of the whole test, to read it again
  std::vector<std::string> structures;  // laid out one after the other, `words` words each
  int words = 1;
  int line = 1;  // words of a line
  int chiplets = 1;
  int cus = 1;           // of a chiplet
  int tracked = 0;       // structures that a kernel may label before they are coarsened; 0: all
  bool aliases = false;  // a structure's label names words of another
  SourcePlace place;     // of the structures
  std::vector<Launch> launches;
  std::vector<LaunchTerm> observed;
};

}  // namespace lockstep
