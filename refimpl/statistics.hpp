// What a simulation has counted, as plain numbers, and how people and programs read them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

struct Statistics {
  struct Level {  // of caches, as the machine file names it
    std::uint64_t hits = 0;
    std::uint64_t misses = 0;
  };
  struct Cache {
    std::string table;
    std::uint64_t installed = 0;
    std::uint64_t replaced = 0;  // for want of room
    std::uint64_t dropped = 0;   // by anything else: invalidated, written through
    double stalled = 0;          // cycles without an enabled replacement
    std::uint64_t sets = 0;
    double sets_used = 0;           // that ever held a line, on average over the caches that held any
    std::uint64_t banks = 0;        // 0: as many as it takes
    std::uint64_t look_ups = 0;     // in banks
    std::uint64_t conflicts = 0;    // look-ups that waited for their bank
    double bank_waits = 0;          // for how many cycles in all
    std::uint64_t mshrs = 0;        // 0: as many as it takes
    std::uint64_t merged = 0;       // misses of a block that was being fetched
    std::uint64_t mshr_stalls = 0;  // misses that found none free
    double mshr_waits = 0;          // cycles that both waited, in all
  };
  struct Messages {
    std::string way;  // a link, or "directory to L2"
    std::string kind;
    std::uint64_t messages = 0;
    std::uint64_t header_bytes = 0;
    std::uint64_t data_bytes = 0;
    [[nodiscard]] std::uint64_t bytes() const { return header_bytes + data_bytes; }
  };
  struct RuleFirings {
    std::string name;
    std::string unit;
    std::uint64_t firings = 0;
    double waited = 0;  // cycles for a turn of its unit
  };
  struct Operation {
    std::string name;
    std::uint64_t count = 0;
    double waited = 0;  // cycles from issue to completion, summed
  };
  struct Channel {  // of memory; rows are those of kind dram
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
    std::uint64_t row_hits = 0;
    std::uint64_t row_misses = 0;     // the bank had no open row
    std::uint64_t row_conflicts = 0;  // another row was open
    std::uint64_t activates = 0;
    std::uint64_t refreshes = 0;
    double busy = 0;    // its data bus: a share of the time until drained
    double queued = 0;  // requests in its queue, on average over that time
    std::size_t most_queued = 0;
  };
  struct Memory {
    std::string kind;    // "flat" or "dram"
    std::string preset;  // of the DRAM
    std::vector<Channel> channels;
    std::uint64_t reads = 0;  // requests at DRAM
    std::uint64_t writes = 0;
    std::uint64_t read_bytes = 0;
    std::uint64_t write_bytes = 0;
    std::uint64_t l3_hits = 0;
    std::uint64_t l3_misses = 0;
    double stalled = 0;  // cycles that requests waited for room in its queues
    double peak = 0;     // bytes a cycle, of all channels together
  };

  // What only ever grows, by name: "L1 hits", "bytes, link1", "DRAM reads".
  using Counters = std::map<std::string, double>;
  struct Kernel {
    std::string name;
    double from = 0;  // cycles: when its first wave began, and its last one ended
    double to = 0;
    // Since the kernel before it ended, until it did; what drains later counts for the next one.
    Counters counters;
  };
  struct Epoch {
    double from = 0;  // cycles
    double to = 0;
    Counters counters;
  };
  // Where time went (profile.hpp), and what was counted apart.
  struct Profile {
    struct Station {  // what accesses waited for, or what was done for them
      std::string name;
      std::array<double, 4> cycles{};  // of all loads, stores, RMWs and fences together
    };
    struct Latencies {
      std::string operation;
      // By latency: the least one of a bucket in cycles, and how many accesses took that long or longer,
      // but less than the next bucket's.
      std::vector<std::pair<std::uint64_t, std::uint64_t>> buckets;
      double most = 0;
      // What so large a share of them did not exceed, to an eighth: the end of a bucket.
      [[nodiscard]] double percentile(double share) const;
    };
    struct Unit {
      std::string kind;  // "L1"
      std::size_t number = 0;
      std::uint64_t firings = 0;
      double busy = 0;    // cycles
      double waited = 0;  // cycles, of rules for its turns
      std::map<std::string, Level> levels;
    };
    struct Link {
      std::string name;        // "link1", "L2 to L1", and of a network between nodes, or a node's ends
      std::size_t number = 0;  // of a network: the node that it comes from
      std::uint64_t messages = 0;
      std::uint64_t bytes = 0;
      double busy = 0;  // cycles in which messages took their turns
      double full = 0;  // cycles without room
      int to = -1;      // of a network: the node that it goes to
    };
    std::vector<Station> stations;
    std::vector<Latencies> latencies;
    std::map<std::string, double> activities;  // of waves, in cycles of all of them together
    std::vector<Unit> units;
    std::vector<Link> links;
    std::vector<Kernel> kernels;
    std::vector<Epoch> epochs;
  };

  std::string system;
  double cycles = 0;   // until the last thread ended
  double drained = 0;  // until nothing was under way any more
  std::uint64_t firings = 0;
  std::uint64_t atomics = 0;            // loads, stores and RMWs that are not plain, ended
  std::uint64_t issued = 0;             // turns that CUs have taken for their waves
  double issue_peak = 0;                // of them, a cycle, of all CUs together
  std::uint64_t lines_invalidated = 0;  // by acquires and by invalidations that arrived
  std::map<std::string, Level> levels;
  std::vector<Cache> caches;
  std::vector<Messages> messages;
  std::vector<RuleFirings> rules;
  std::vector<Operation> operations;
  Memory memory;
  std::map<std::string, double> unit_waits;  // cycles, summed over the rules of a unit
  std::map<std::string, double> full;        // cycles that queues of a field were full, summed
  std::vector<std::pair<std::string, double>>
      energy;  // picojoules by what costs them; none: nobody says costs
  std::optional<Profile> profile;

  [[nodiscard]] double picojoules() const;

  [[nodiscard]] std::uint64_t bytes_on(const std::string& way) const;
};

Statistics::Counters counters_of(const Statistics& statistics);
// What has come to `since`.
Statistics::Counters difference(const Statistics::Counters& now, const Statistics::Counters& since);

nlohmann::ordered_json statistics_json(const Statistics& statistics);
// A name that would leave no room for the figures of its line.
std::string clipped(const std::string& text, std::size_t width);
// As a field of a line of CSV.
std::string csv_quoted(const std::string& text);
// What it holds of its profile, which it has.
std::string profile_text(const Statistics& statistics);
std::string statistics_text(const Statistics& statistics, bool rules);

}  // namespace lockstep
