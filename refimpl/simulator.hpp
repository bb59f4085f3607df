// A running machine, whatever system it runs: what the command, the benchmark and the tests see.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checker/support/registration.hpp"
#include "refimpl/machine.hpp"
#include "refimpl/statistics.hpp"
#include "refimpl/workloads/workload.hpp"
#include "spec/scheduler/setup.hpp"

namespace lockstep {

// Somebody who is told of everything that happens, as it happens.
class SimulationObserver {
 public:
  struct Firing {
    double cycle = 0;
    double occupancy = 0;    // cycles that it keeps its unit busy
    std::string_view unit;   // "L1"
    std::size_t number = 0;  // which of them
    std::string_view rule;
    int thread = -1;  // the wave that it is done for, where the rule is over one
  };
  struct Operation {
    std::size_t thread = 0;
    std::string_view wave;  // the thread's name
    std::size_t cu = 0;
    std::string_view name;  // "load"
    double from = 0;        // the cycle in which it was issued
    double to = 0;          // and in which it completed
  };
  SimulationObserver() = default;
  SimulationObserver(const SimulationObserver&) = delete;
  SimulationObserver& operator=(const SimulationObserver&) = delete;
  virtual ~SimulationObserver() = default;
  virtual void fired(const Firing& firing) = 0;
  virtual void completed(const Operation& operation) = 0;
};

struct SimulationOptions {
  int cus = 0;                          // 0: as the machine has
  std::map<std::string, int> sizes;     // of the protocol's queues, in place of the machine's
  std::vector<std::string> size_names;  // that mean something elsewhere, for messages about those that do not
  std::string variant = "default";
  std::optional<WaitingPolicy> policy;  // that runs the work-groups; none: all of them run
  std::vector<std::string> faults;
  std::uint64_t seed = 1;
  int start_spread = 64;     // cycles within which the waves of a kernel start
  std::uint64_t cycles = 0;  // after which it is given up; 0: never
  int jitter = 0;            // cycles, at most, that anything may take longer, at random
  SimulationObserver* observer = nullptr;
  bool profile = false;     // find out where time goes
  std::uint64_t epoch = 0;  // with it: cycles, after each of which counters are noted; 0: never
};

enum class SimulationEnd : std::uint8_t {
  finished,  // every thread has ended and everything has drained
  stuck,     // nothing can happen any more, and some thread has not ended
  failed,    // an assertion of the program failed
  interrupted,
  limit,  // of firings
  late,   // it has taken the cycles that it was given
};

class Simulator {
 public:
  Simulator() = default;
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;
  virtual ~Simulator() = default;

  // Runs until the end, until `interrupted` is set, or for that many firings; may be called again.
  virtual SimulationEnd run(const std::atomic<bool>* interrupted = nullptr,
                            std::uint64_t firings = ~0ULL) = 0;
  [[nodiscard]] virtual Statistics statistics() const = 0;
  // What a location holds, for whoever reads memory.
  [[nodiscard]] virtual Lanes word(int location) const = 0;
  // What a thread's register holds, in the first lane.
  [[nodiscard]] virtual std::int32_t final_register(std::size_t thread, std::size_t index) const = 0;
  // The threads that wait, for messages about a run that is stuck.
  [[nodiscard]] virtual std::string waiting_threads() const = 0;
  // Every enabled instance of a fair rule, found by evaluating all guards, that the simulator does not know
  // to be enabled. Empty unless it is wrong; for tests at small sizes.
  [[nodiscard]] virtual std::vector<std::string> overlooked() = 0;
};

// A system that can be simulated. Throws BadInput on options and machines that do not fit it or the workload.
struct TimedSystem {
  std::string_view name;
  std::unique_ptr<Simulator> (*build)(const Workload&, const MachineDescription&,
                                      const SimulationOptions&) = nullptr;
  bool takes_policies = false;
};
// Before main begins, by the translation units of systems.
void register_timed(const Origin& origin, TimedSystem system);

// By name; throws BadInput with the nearest. "quick-release/lean" sets the variant, "sc/awg" the policy.
TimedSystem find_timed_system(std::string_view name, SimulationOptions& options);
std::vector<std::string> timed_system_names();

}  // namespace lockstep
