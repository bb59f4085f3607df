// Litmus tests with time: a test runs again and again, with other seeds, and what comes about is counted.
// Every outcome is one that the checker finds; which of them a machine shows, and how often, is a matter of
// its latencies.
#pragma once

#include <atomic>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "checker/language/condition.hpp"
#include "checker/language/test.hpp"
#include "refimpl/simulator.hpp"

namespace lockstep {

struct TimedTestRequest {
  const LitmusTest* test = nullptr;
  MachineDescription machine;
  std::vector<std::string> systems;
  SimulationOptions options;  // the seed is that of the first run
  std::size_t runs = 100;
};

// Of one system.
struct TimedOutcomes {
  std::string system;
  std::map<Outcome, std::size_t> outcomes;  // of runs that finished
  std::size_t runs = 0;
  std::size_t stuck = 0;
  std::size_t failed = 0;  // an assertion of the program did not hold
  double least = 0;        // cycles
  double most = 0;
  double sum = 0;
  std::string waiting;  // threads of a run that got stuck
  bool interrupted = false;
};
struct TimedTest {
  const LitmusTest* test = nullptr;
  int cus = 0;
  std::uint64_t seed = 0;
  std::vector<TimedOutcomes> systems;
};

// Throws BadInput where a system or the machine does not take the test.
TimedTest run_test(const TimedTestRequest& request, const std::atomic<bool>& interrupted);

// Whether runs showed what the test says (Expect=) that the system never shows, or the contrary of what it
// always does.
bool contradicts(const TimedTest& run, const TimedOutcomes& system);

std::string timed_test_text(const TimedTest& run);
// Schema lockstep.sim/1, one of its tests.
nlohmann::ordered_json timed_test_json(const TimedTest& run);
// 1 where something got stuck, failed or contradicts the test, 130 interrupted, else 0.
int exit_status_of(const TimedTest& run);

}  // namespace lockstep
