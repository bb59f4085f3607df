// Which tests kill which faults of a system: the measure of a suite.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "checker/litmus/suite.hpp"

namespace lockstep {

struct FaultReport {
  std::string fault;
  std::string what;
  std::vector<std::string> killers;  // "mp-agent (outcome)", up to as many as are enough
  bool enough = false;               // there may be more: the search ended there
  std::size_t tests = 0;             // that were run
  std::size_t inconclusive = 0;      // of these
  std::vector<std::string> errors;
  double seconds = 0;
  [[nodiscard]] bool alive() const { return killers.empty(); }
};

struct FaultOptions {
  Subject system;  // with variant and sizes, and faults that are on beside the one in question
  std::size_t enough = 3;
  RunLimits limits;                                       // threads and memory are for all runs together
  std::function<void(const FaultReport&)> on_report;      // in the faults' order, from the calling thread
  std::function<void(const SuiteProgress&)> on_progress;  // counts faults
};

// A test kills a fault with a deadlock, a failed assertion, or an outcome that SC does not have although the
// program is race-free under HRF-indirect, or a verdict that the test does not expect; and only if it finds
// nothing of the kind without the fault.
//
// The totals count faults: as expected when killed, differing when alive after every test.
SuiteTotals run_faults(const LitmusTests& tests, const FaultOptions& options);

}  // namespace lockstep
