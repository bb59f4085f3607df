// One channel of DRAM, command by command: banks with one open row each, a bounded queue, and a scheduler
// that issues a command as soon as every timing constraint allows it. Time is in cycles of the memory's
// clock.
//
// The names of timings are Ramulator's (Kim et al. 2015, Luo et al. 2023): nX is JEDEC's tX in cycles. The
// constraints between commands are those of its tables for a single rank. A channel has one command bus,
// which takes one command a cycle, and one data bus.
//
// Nothing happens between commands, so whoever drives a channel calls advance() at the cycles that next()
// names and wherever a request has come in. How long a request takes is known when its last column command is
// issued.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace lockstep::dram {

using Cycle = std::uint64_t;
inline constexpr Cycle never = ~Cycle{0};

// Cycles of the memory's clock, but for tCK_ps. "S" is between different bank groups, "L" within one.
struct Timings {
  unsigned tCK_ps = 0;  // one cycle, in picoseconds
  unsigned nBL = 0;     // a burst on the data bus
  unsigned nCL = 0;     // read command to its data
  unsigned nCWL = 0;    // write command to its data
  unsigned nRCDRD = 0;  // activate to read
  unsigned nRCDWR = 0;  // activate to write
  unsigned nRP = 0;     // precharge to activate
  unsigned nRAS = 0;    // activate to precharge
  unsigned nRC = 0;     // activate to activate of one bank
  unsigned nRTP = 0;    // read to precharge
  unsigned nWR = 0;     // end of a write's data to precharge
  unsigned nCCDS = 0;   // column command to column command of the same kind
  unsigned nCCDL = 0;
  unsigned nRRDS = 0;  // activate to activate of another bank
  unsigned nRRDL = 0;
  unsigned nFAW = 0;   // a window that holds at most four activates
  unsigned nWTRS = 0;  // end of a write's data to read
  unsigned nWTRL = 0;
  unsigned nRTW = 0;   // cycles that the data bus rests between a read's data and a write's
  unsigned nRFC = 0;   // refresh to activate
  unsigned nREFI = 0;  // from one refresh to the next; 0: none
};

struct Organization {
  unsigned bus_bits = 0;
  unsigned burst_length = 0;  // transfers
  unsigned bank_groups = 1;
  unsigned banks = 1;          // of each bank group
  unsigned row_bytes = 0;      // of one bank, over all chips of the bus
  unsigned command_buses = 1;  // 2: activates and precharges do not take turns with reads and writes
  bool hashed_banks = false;

  [[nodiscard]] unsigned burst_bytes() const { return bus_bits / 8 * burst_length; }
};

enum class Policy : std::uint8_t {
  fcfs,     // strictly in the order of arrival: no command on behalf of any but the oldest request
  fr_fcfs,  // what is ready first, row hits before others, then the oldest
};
struct Scheduling {
  Policy policy = Policy::fr_fcfs;
  unsigned queue = 32;      // requests, reads and writes together
  unsigned age_cap = 4096;  // cycles after which the oldest request goes before row hits
  // Writes wait for so many, or for want of reads, and are then drained down to so few.
  unsigned write_high = 24;
  unsigned write_low = 8;
};

struct Device {
  Organization organization;
  Timings timings;
  Scheduling scheduling;

  [[nodiscard]] double peak_bytes_per_cycle() const {
    return static_cast<double>(organization.burst_bytes()) / timings.nBL;
  }
};

// Where a block of one channel lies. Blocks behind one another go to different bank groups, then fill a row
// in each, then go on in the next bank. With hashed banks the row's bits permute banks, so that blocks of one
// bank and of rows that are a power of two apart lie in different banks (Zhang, Zhu and Zhang 2000).
struct Place {
  std::uint32_t bank = 0;  // bank % bank_groups is its group
  std::uint32_t row = 0;
};
Place place_of(const Organization& organization, unsigned block_bytes, std::uint64_t block);

enum class Command : std::uint8_t { activate, precharge, precharge_all, refresh, read, write };
struct Issued {
  Command command;
  Cycle at;
  std::uint32_t bank;
  std::uint32_t row;
};
// A request whose last column command has been issued, and when its data has been on the bus.
struct Done {
  std::uint32_t tag;
  bool write;
  Cycle at;
};

struct ChannelCounts {
  std::uint64_t reads = 0;   // requests
  std::uint64_t writes = 0;  // requests
  std::uint64_t row_hits = 0;
  std::uint64_t row_misses = 0;     // the bank had no open row
  std::uint64_t row_conflicts = 0;  // another row was open
  std::uint64_t activates = 0;
  std::uint64_t refreshes = 0;
  std::uint64_t busy = 0;    // cycles of the data bus
  std::uint64_t queued = 0;  // cycles in the queue, summed over requests
  std::size_t most_queued = 0;
};

class Channel {
 public:
  explicit Channel(const Device& device);

  [[nodiscard]] bool full() const { return queue_.size() >= device_.scheduling.queue; }
  [[nodiscard]] std::size_t queued() const { return queue_.size(); }
  // Takes a request of so many bytes, at least one, that arrives now; there has to be room. `block` tells
  // requests apart that have to stay in order.
  void push(Cycle now, std::uint32_t tag, std::uint64_t block, Place place, unsigned bytes, bool write);
  // When something may happen next; never while no request waits.
  [[nodiscard]] Cycle next() const { return queue_.empty() ? never : next_; }
  // Issues all commands up to `now`, and appends the requests that these have brought to an end.
  void advance(Cycle now, std::vector<Done>& done);

  [[nodiscard]] const ChannelCounts& counts() const { return counts_; }
  std::function<void(const Issued&)> on_command;  // for tests

 private:
  static constexpr std::uint32_t closed = ~0U;
  enum class Row : std::uint8_t { untouched, touched };
  struct Request {
    Cycle arrival;
    std::uint64_t block;
    std::uint32_t tag;
    std::uint32_t bank;
    std::uint32_t row;
    std::uint32_t bursts;  // still to come
    std::uint32_t behind;  // older requests for the same block
    bool write;
    Row first;  // whether a command has been issued on its behalf
  };
  // Cycles from which on each command is allowed.
  struct Bank {
    std::uint32_t row = closed;
    Cycle activate = 0;
    Cycle precharge = 0;
    Cycle read = 0;
    Cycle write = 0;
    // Of the decision that is being taken: whether an eligible request hits the open row, and one does not.
    std::uint64_t hit_in = 0;
    std::uint64_t other_in = 0;
  };
  struct Group {
    Cycle activate = 0;
    Cycle read = 0;
    Cycle write = 0;
  };
  struct Decision {
    Cycle at = never;
    int rank = 0;  // among commands that are ready at once
    std::size_t request = 0;
    Command command = Command::activate;
  };

  void choose_direction(bool overdue);
  [[nodiscard]] Decision decide();
  [[nodiscard]] Cycle column_at(const Request& request) const;
  [[nodiscard]] Cycle activate_at(std::uint32_t bank) const;
  void issue(const Decision& decision, std::vector<Done>& done);
  void activate(const Request& request, Cycle at);
  void transfer(Request& request, Cycle at);
  void finish(std::size_t request, Cycle at, std::vector<Done>& done);
  void refresh();
  void report(Command command, Cycle at, std::uint32_t bank = 0, std::uint32_t row = 0) const {
    if (on_command) on_command({command, at, bank, row});
  }
  Group& group_of(std::uint32_t bank) { return groups_[bank % device_.organization.bank_groups]; }
  [[nodiscard]] const Group& group_of(std::uint32_t bank) const {
    return groups_[bank % device_.organization.bank_groups];
  }

  Device device_;
  std::vector<Request> queue_;  // in order of arrival
  std::vector<Bank> banks_;
  std::vector<Group> groups_;
  Group all_;                     // constraints over all banks
  Cycle last_activates_[4] = {};  // the oldest at next_activate_, each plus one; 0: none
  unsigned next_activate_ = 0;
  Cycle clock_ = 0;           // of the last command, or arrival: nothing is decided for what has passed
  Cycle column_command_ = 0;  // from here on the bus is free for a read or write
  Cycle row_command_ = 0;     // and for an activate, a precharge or a refresh
  Cycle refresh_ = 0;         // when the next refresh is due
  Cycle next_ = never;
  std::size_t writes_ = 0;  // in the queue
  bool draining_ = false;   // writes
  std::uint64_t decisions_ = 0;
  ChannelCounts counts_;
};

}  // namespace lockstep::dram
