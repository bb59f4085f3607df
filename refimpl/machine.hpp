// A machine: what the protocols leave open. How many of each unit, how long each takes, how wide the links
// are, which tables are caches of which geometry, and what memory can do. Read from an annotated TOML file
// (machines/*.toml says what every entry means) and checked against the system that runs on it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "refimpl/bytes.hpp"
#include "refimpl/dram.hpp"
#include "spec/program/program.hpp"

namespace lockstep {

// Of what there is one unit, cache or path each.
enum class Per : std::uint8_t { thread, cu, agent, system };

// An entry that names something of a protocol remembers where it stands, for messages.
struct UnitTiming {
  SourcePlace place;
  Per per = Per::system;
  double per_cycle = 1;  // rules performed in a cycle
};
struct LinkTiming {
  SourcePlace place;
  double latency = 0;  // cycles
  double bytes_per_cycle = 0;
  std::string network = {};  // that its messages pass behind it; empty: none
};
// How news travels between two units outside the protocol's own queues: fills, acknowledgements,
// invalidations.
struct PathTiming {
  SourcePlace place;
  std::string from;
  std::string to;
  double latency = 0;
  double bytes_per_cycle = 0;
  std::string network = {};
};
// A network (network.hpp), and which nodes the units of a kind are at.
struct NetworkTiming {
  enum class Topology : std::uint8_t { crossbar, ring, mesh, torus };
  struct Seats {
    SourcePlace place;
    std::vector<std::uint32_t> nodes;
    // The nodes of one unit take blocks in turn; else each unit of the kind has one of them, or as many units
    // as it takes share one, neighbours together.
    bool by_block = false;
  };
  SourcePlace place;
  Topology topology = Topology::crossbar;
  std::uint32_t nodes = 1;
  std::uint32_t columns = 1;           // of a mesh or torus; of others, all nodes
  double hop_latency = 0;              // of a router and the wire behind it
  double bytes_per_cycle = 0;          // of each channel
  std::map<std::string, Seats> seats;  // by kind of unit
};
struct CacheGeometry {
  SourcePlace place;
  std::uint64_t bytes = 0;
  unsigned ways = 0;
  unsigned sets = 0;       // follows from the others
  std::string evict;       // the rule that makes room
  std::string level;       // "L1": what hits and misses are counted under
  bool random = false;     // policy: a random victim instead of the least recently used
  bool hashed = false;     // set index: else modulo
  unsigned banks = 0;      // 0: as many as it takes
  double bank_cycles = 1;  // that a look-up keeps its bank busy
  bool hashed_banks = false;
  unsigned mshrs = 0;  // 0: as many as it takes, and none is shared
};
struct RuleTiming {
  SourcePlace place;
  double latency = 0;        // cycles from being enabled to firing
  double occupancy = 1;      // of its unit, in turns; 0 where it needs none
  bool anew = false;         // the latency counts from when it was last found disabled
  std::optional<double> at;  // of one that need not fire: the cycle in which all of its instances do that can
  double every = 0;          // it is looked at every so many cycles, and not between; 0: whenever it may fire
  // Of what a rule leaves open: which member of this index type is meant, by the number of a CU or of a
  // member of another index type, counted round.
  std::string nearest;
  std::string nearest_to;  // "cu", or an index type of the rule
  // Members of this index type take turns, of so many cycles each, and the rule fires in those of its own.
  std::string turns;
  double turn_cycles = 0;
  std::string hit;      // the cache level that it hits
  std::string miss;     // the cache level that it misses
  std::string carries;  // the kind of message whose arrival it is, when another unit enables it
  ByteCount bytes;      // of that message
  std::map<std::string, ByteCount> sends;  // by link
  ByteCount read;                          // from memory, of each block that it accesses there
  ByteCount write;                         // likewise
  std::string fetches;                     // the cache for which it sends for a block
  std::string fills;                       // the cache for which the block has come
};
enum class MemoryKind : std::uint8_t {
  flat,  // channels transfer one request after the other, each after the same latency
  dram   // channels of banks and rows (dram.hpp)
};
struct MemoryTiming {
  std::string table;  // the rows that are memory
  MemoryKind kind = MemoryKind::flat;
  unsigned channels = 1;
  std::uint64_t interleave_bytes = 0;  // that lie in one channel before the next one follows; a power of two
  bool hashed_channels = false;        // else modulo
  // That lie in the memory of one GPU before the next one's follow, of systems that ask where a block is
  // at home; a power of two, or 0: the system says.
  std::uint64_t home_bytes = 0;
  double bytes_per_cycle = 0;  // of one flat channel
  double latency = 0;          // of a read, besides its transfer and what banks take
  unsigned queue = 1;          // requests that wait at a channel
  unsigned sender_queue = 1;   // requests for full channels that a sender holds before it stalls
  std::uint64_t l3_bytes = 0;
  unsigned l3_ways = 1;
  bool l3_hashed = false;
  double l3_latency = 0;
  std::string preset;   // of the DRAM, as named
  dram::Device device;  // of kind dram
};

// What the file says of one system.
struct SystemTiming {
  SourcePlace place;
  std::string borrowed;  // the shipped file that describes it, where this one does not
  using Sizes = std::map<std::string, std::pair<int, SourcePlace>>;
  Sizes sizes;
  std::map<std::string, std::pair<Per, SourcePlace>> index_types;  // of which unit each member is
  std::map<std::string, LinkTiming> links;
  std::map<std::string, CacheGeometry> caches;
  std::map<std::string, RuleTiming> rules;
  MemoryTiming memory;
  std::map<std::string, UnitTiming> units;  // borrowed, besides those of the machine
  std::vector<PathTiming> paths;            // likewise
  // What is otherwise in a variant, by its name.
  struct Variant {
    SourcePlace place;
    Sizes sizes;
    std::map<std::string, RuleTiming> rules;
    std::vector<PathTiming> paths;
  };
  std::map<std::string, Variant> variants;
};

// Something that the machine's sources do not give, and what it might plausibly be: the section [[assumed]].
struct Assumption {
  struct Entry {
    std::string path;  // "memory.queue"
    std::string own;   // the value that the file has, as TOML; empty where it has none
    SourcePlace place;
  };
  enum class Kind : std::uint8_t {
    values,        // each entry is one of these
    range,         // each entry is a number between `least` and `most`
    times,         // each entry is its own value times a factor between `least` and `most`
    alternatives,  // several settings at once
  };
  SourcePlace place;
  std::string name;
  std::string why;  // what makes the range plausible
  Kind kind = Kind::values;
  std::vector<Entry> entries;
  std::vector<std::string> values;                // as TOML; of alternatives their names
  std::vector<std::vector<std::string>> changes;  // of each alternative; one of them has none
  double least = 0;
  double most = 0;
  bool whole = false;  // a range of whole numbers

  // "memory.queue = 64", one for each entry: the settings that make it so much. `choice` is one of `values`,
  // as a position, or a number or a factor within the bounds; whole numbers stay whole.
  [[nodiscard]] std::vector<std::string> settings(double choice) const;
  // How people read a choice: "64", "\"hashed\"", "x0.5".
  [[nodiscard]] std::string text(double choice) const;
  // What the file itself has, as a choice; none where entries differ or have no value.
  [[nodiscard]] std::optional<double> own() const;
};

// Of waiting policies (spec/scheduler/waiting_policies.hpp): what their hardware holds; 0: no bound.
struct SchedulerTiming {
  int slots_per_cu = 0;  // work-groups that a CU has room for
  int conditions = 0;    // that the SyncMon holds
  int waiters = 0;       // work-groups that the SyncMon holds
  int log_entries = 1;   // of the Monitor Log
  int cus_taken = 0;     // that are taken away some time, with who is there
};
// What things cost, in picojoules; what is not said costs nothing.
struct EnergyCosts {
  struct Access {
    double read = 0;
    double write = 0;
  };
  struct Sent {
    double message = 0;
    double byte = 0;
  };
  bool said = false;
  double instruction = 0;  // of a wave that asks for nothing of memory
  std::map<std::string, Access>
      levels;  // of a cache of the level, for a rule that looks a block up, or writes
  std::map<std::string, Sent> messages;  // by link, or path as in "L2 to L1"
  Access dram;                           // of a request
  Access l3;                             // of a hit; of what is brought there
};

struct MachineDescription {
  // A text that it was put together from, and where in `lines` it begins: places count on from text to text.
  struct Part {
    std::string name;  // of the file
    int before = 0;    // lines of others that stand before it
  };
  std::string file;
  std::string name;
  int cus = 0;
  int agents = 1;
  int waves_per_cu = 0;
  int accesses_per_wave = 1;       // under way at once
  double kernel_launch = 0;        // cycles from the end of what a kernel waits for to its begin
  bool waves_end_kernels = false;  // kernel_end_by = "wave"
  unsigned block_bytes = 0;
  unsigned header_bytes = 0;  // of a message: `header` in sums of bytes; 0: not said
  double gigahertz = 1;
  std::map<std::string, UnitTiming> units;
  std::vector<PathTiming> paths;
  std::map<std::string, NetworkTiming> networks;
  std::map<std::string, SystemTiming> systems;
  SchedulerTiming scheduler;
  EnergyCosts energy;
  std::vector<std::string> lines;  // of all its texts, for messages
  std::vector<Part> parts;

  [[nodiscard]] int words_per_block() const;
};

// Entries that are said otherwise than in the file, each as PATH=VALUE: "memory.queue=64",
// "systems.lab.rules.\"executes\".latency=2". A value is one of TOML, or a bare word that stands for itself
// as a string; without a value the entry is taken away. `*` in a path is each key there is.
using MachineSettings = std::vector<std::string>;

// Throws BadInput, with the place, on what is missing, unknown, of the wrong type, negative or inconsistent.
// `shipped` is the folder of the machines that come with Lockstep. DRAM presets are files dram/NAME.toml
// beside the machine file or, where it has none of that name, in that folder. A system that the file does not
// describe is described by the first file there, by name, that does: its section, and the units and paths
// that this machine lacks; memory stays this machine's.
MachineDescription read_machine(const std::string& file, const std::string& shipped = {},
                                const MachineSettings& settings = {});
MachineDescription parse_machine(std::string_view text, const std::string& file,
                                 const std::string& shipped = {}, const MachineSettings& settings = {});

// What a machine file of either kind (launched.hpp has the other) says that it assumes, with the settings'
// values for its own. Throws BadInput where it names what is not there, or has itself a value that it says is
// not plausible.
std::vector<Assumption> read_assumptions(const std::string& file, const std::string& shipped = {},
                                         const MachineSettings& settings = {});
std::vector<Assumption> parse_assumptions(std::string_view text, const std::string& file,
                                          const std::string& shipped = {},
                                          const MachineSettings& settings = {});

// A preset by itself, with the scheduling that the defaults give for a queue of so many. Throws BadInput.
dram::Device read_dram(const std::string& file, unsigned queue);

// Throws BadInput at a place of the machine's texts.
[[noreturn]] void machine_error(const MachineDescription& machine, SourcePlace place, std::string message,
                                std::string hint = {});

}  // namespace lockstep
