// What a simulation has counted, as plain numbers, and how people and programs read them.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
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
  };

  std::string system;
  double cycles = 0;   // until the last thread ended
  double drained = 0;  // until nothing was under way any more
  std::uint64_t firings = 0;
  std::uint64_t atomics = 0;            // loads, stores and RMWs that are not plain, ended
  std::uint64_t lines_invalidated = 0;  // by acquires and by invalidations that arrived
  std::map<std::string, Level> levels;
  std::vector<Cache> caches;
  std::vector<Messages> messages;
  std::vector<RuleFirings> rules;
  std::vector<Operation> operations;
  Memory memory;
  std::map<std::string, double> unit_waits;  // cycles, summed over the rules of a unit
  std::map<std::string, double> full;        // cycles that queues of a field were full, summed

  [[nodiscard]] std::uint64_t bytes_on(const std::string& way) const;
};

nlohmann::ordered_json statistics_json(const Statistics& statistics);
// A name that would leave no room for the figures of its line.
std::string clipped(const std::string& text, std::size_t width);
std::string statistics_text(const Statistics& statistics, bool rules);

}  // namespace lockstep
